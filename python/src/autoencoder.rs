//! Sparse autoencoders: evaluation, the rows with the largest codes, and folders of SAELens.

use crate::call::{RunOptionsTuple, call};
use crate::error::raised;
use crate::input::warn;
use crate::model::Model;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use std::path::PathBuf;
use unmix::method::sae::{
    self,
    saelens::{self, Precision},
};
use unmix::{Dtype, Run};

/// Evaluates the codes of `model` on the rows `x`, as JSON.
#[pyfunction]
pub(crate) fn evaluate(
    py: Python<'_>,
    model: &Model,
    x: &Bound<'_, PyAny>,
    run_options: RunOptionsTuple,
) -> PyResult<String> {
    let input = model.input(x)?;
    let (dtype, model, wanted) = (input.dtype(), model.inner.clone(), model.wanted());
    let (found, notices) = call(py, run_options.into(), dtype, None, move |run| {
        let (mut rows, notices) = input.rows(wanted, run)?;
        let found = unmix::with_rows!(&mut rows, rows => sae::evaluate(&model, rows, run)?);
        Ok((found.to_json().to_string(), notices))
    })?;
    warn(py, &notices)?;
    Ok(found)
}

/// Row indices, and their codes, for every unit: `n_units x n`.
type Top<'py> = (Bound<'py, PyArray2<i64>>, Bound<'py, PyArray2<f64>>);

/// The `n` rows of `x` with the largest codes of each unit of `model`.
#[pyfunction]
pub(crate) fn top_rows<'py>(
    py: Python<'py>,
    model: &Model,
    x: &Bound<'py, PyAny>,
    n: usize,
    run_options: RunOptionsTuple,
) -> PyResult<Top<'py>> {
    let input = model.input(x)?;
    let (dtype, cost, model, wanted) =
        (input.dtype(), model.cost(&input), model.inner.clone(), model.wanted());
    let (top, notices) = call(py, run_options.into(), dtype, cost, move |run| {
        let (mut rows, notices) = input.rows(wanted, run)?;
        let top = unmix::with_rows!(&mut rows, rows => sae::top_rows(&model, rows, n, run)?);
        Ok((top, notices))
    })?;
    warn(py, &notices)?;
    let shape = [top.rows.len() / top.n.max(1), top.n];
    Ok((PyArray1::from_vec(py, top.rows).reshape(shape)?, PyArray1::from_vec(py, top.values).reshape(shape)?))
}

/// Writes `model` as a folder of SAELens.
#[pyfunction]
pub(crate) fn to_saelens(
    py: Python<'_>,
    model: &Model,
    path: PathBuf,
    dtype: Option<&str>,
    force: bool,
) -> PyResult<()> {
    let how = saelens::Export { dtype: dtype.and_then(Precision::named), force };
    let inner = model.inner.clone();
    py.detach(|| saelens::export(&inner, &path, how)).map_err(|e| raised(e, model.inner.dtype()))
}

/// The model in a folder of SAELens.
#[pyfunction]
pub(crate) fn from_saelens(py: Python<'_>, path: PathBuf, invocation: &str) -> PyResult<Model> {
    let read = || saelens::import(&path, &Run { invocation: Some(invocation), ..Run::default() });
    py.detach(read).map(Model::new).map_err(|e| raised(e, Dtype::F64))
}
