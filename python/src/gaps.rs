//! Results of models for rows with missing cells: posteriors, imputed cells, random rows.

use crate::call::{RunOptions, RunOptionsTuple, call};
use crate::error::raised;
use crate::input::{Input, warn, warn_notes};
use crate::model::Model;
use numpy::{Element, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use unmix::data::{Sink, VecSink};
use unmix::impute::{ImputeOptions, Imputer, note_on_errors};
use unmix::model::Values;
use unmix::{Dtype, Error, Real, Run};

/// Means and covariances of the codes of rows, `n x k` and `n x k x k`.
type Posteriors<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray3<f64>>);

/// The posterior of the code of each row.
#[pyfunction]
pub(crate) fn posterior<'py>(
    py: Python<'py>,
    model: &Model,
    x: &Bound<'py, PyAny>,
    run_options: RunOptionsTuple,
) -> PyResult<Posteriors<'py>> {
    let input = model.input(x)?;
    let (dtype, cost, wanted) = (input.dtype(), model.cost(&input), model.wanted());
    let (model, k) = (model.inner.clone(), model.inner.n_codes());
    let ((numbers, n), notices) = call(py, run_options.into(), dtype, cost, move |run| {
        let (rows, notices) = input.rows(wanted, run)?;
        let mut sink = VecSink(Vec::new());
        let n = unmix::with_rows!(&rows, rows => model.posterior(rows, run, &mut sink)?);
        Ok(((sink.0, n as usize), notices))
    })?;
    warn(py, &notices)?;
    let (mut means, mut covariances) = (Vec::with_capacity(n * k), Vec::with_capacity(n * k * k));
    for row in numbers.chunks_exact((k + k * k).max(1)) {
        means.extend_from_slice(&row[..k]);
        covariances.extend_from_slice(&row[k..]);
    }
    Ok((
        PyArray1::from_vec(py, means).reshape([n, k])?,
        PyArray1::from_vec(py, covariances).reshape([n, k, k])?,
    ))
}

/// Splits the output of an imputer into completed rows, standard errors and draws.
struct Imputed<T> {
    p: usize,
    std: bool,
    filled: Vec<T>,
    errors: Vec<f64>,
    draws: Vec<Vec<T>>,
}

impl<T: Real> Sink<f64> for Imputed<T> {
    fn put(&mut self, rows: &[f64]) -> unmix::Result<()> {
        let parts = 1 + usize::from(self.std) + self.draws.len();
        for row in rows.chunks_exact(self.p * parts) {
            let mut parts = row.chunks_exact(self.p);
            self.filled.extend(parts.next().into_iter().flatten().map(|x| T::from_f64(*x)));
            if self.std {
                self.errors.extend(parts.next().into_iter().flatten());
            }
            for (draw, part) in self.draws.iter_mut().zip(parts) {
                draw.extend(part.iter().map(|x| T::from_f64(*x)));
            }
        }
        Ok(())
    }
}

/// Rows with their missing cells filled, standard errors, draws, and warnings.
type Filled<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray2<f64>>, Bound<'py, PyAny>, Vec<String>);

/// Imputes missing cells; `wanted`: whether standard errors are requested, number of draws, number of refits, which end after `max_seconds`.
#[pyfunction]
#[pyo3(signature = (model, x, run_options, wanted, max_seconds=None))]
pub(crate) fn impute<'py>(
    py: Python<'py>,
    model: &Model,
    x: &Bound<'py, PyAny>,
    run_options: RunOptionsTuple,
    wanted: (bool, usize, usize),
    max_seconds: Option<f64>,
) -> PyResult<Filled<'py>> {
    let input = model.input(x)?;
    match input.dtype() {
        Dtype::F32 => filled::<f32>(py, model, input, run_options, wanted, max_seconds),
        Dtype::F64 => filled::<f64>(py, model, input, run_options, wanted, max_seconds),
    }
}

fn filled<'py, T: Real + Element>(
    py: Python<'py>,
    model: &Model,
    input: Input,
    run_options: RunOptionsTuple,
    (std, n_draws, bootstrap): (bool, usize, usize),
    max_seconds: Option<f64>,
) -> PyResult<Filled<'py>> {
    let (dtype, wanted, of) = (input.dtype(), model.wanted(), model.inner.clone());
    let p = model.inner.n_features();
    let ((imputed, notes), notices) = call(py, run_options.into(), dtype, None, move |run| {
        let run = &Run { max_seconds, ..*run };
        let (mut rows, notices) = input.rows(wanted, run)?;
        rows.prepare(run)?;
        let imputer = Imputer::new(&of, &rows, ImputeOptions { std, draws: n_draws, bootstrap }, run)?;
        let (filled, errors) = (Vec::new(), Vec::new());
        let mut imputed = Imputed::<T> { p, std, filled, errors, draws: vec![Vec::new(); n_draws] };
        unmix::with_rows!(&rows, rows => imputer.fill(rows, run, &mut imputed)?);
        let notes: Vec<String> = imputer.notes().iter().cloned().chain(imputer.note_on_unseen()).collect();
        Ok(((imputed, notes), notices))
    })?;
    warn(py, &notices)?;
    let n = imputed.filled.len() / p.max(1);
    let rows_of_errors = if std { n } else { 0 };
    let draws: Vec<T> = imputed.draws.concat();
    Ok((
        PyArray1::from_vec(py, imputed.filled).reshape([n, p])?.into_any(),
        PyArray1::from_vec(py, imputed.errors).reshape([rows_of_errors, p])?,
        PyArray1::from_vec(py, draws).reshape([n_draws, n, p])?.into_any(),
        notes,
    ))
}

/// Random rows from the density of a model, `n x n_features`; an error if they do not fit into the available memory.
#[pyfunction]
pub(crate) fn sample<'py>(
    py: Python<'py>,
    model: &Model,
    n: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (inner, p) = (model.inner.clone(), model.inner.n_features());
    let size = (n as u64).saturating_mul(p as u64);
    let need_bytes = size.saturating_mul(8);
    let have_bytes =
        if need_bytes > QUERIED { unmix::available_memory().unwrap_or(u64::MAX) } else { u64::MAX };
    if need_bytes > have_bytes || isize::try_from(need_bytes).is_err() {
        let (what, remedy) = (format!("{n} random rows of {p} columns"), "draw fewer rows".to_string());
        let have_bytes = have_bytes.min(need_bytes);
        return Err(raised(Error::Memory { what, need_bytes, have_bytes, remedy }, Dtype::F64));
    }
    let rows = call(py, RunOptions::default(), Dtype::F64, Some(size), move |_| {
        Ok(inner.density()?.sample(n, seed))
    })?;
    PyArray1::from_vec(py, rows).reshape([n, p])
}

/// Memory is queried before more bytes than this are allocated; the query takes as long as a small computation.
const QUERIED: u64 = 1 << 24;

/// Values, and their standard errors.
type ValuesAndErrors<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Values of single cells of the rows of the fit, and their standard errors if requested.
#[pyfunction]
pub(crate) fn predict_cells<'py>(
    py: Python<'py>,
    model: &Model,
    rows: PyReadonlyArray1<'py, u64>,
    columns: PyReadonlyArray1<'py, u64>,
    std: bool,
) -> PyResult<ValuesAndErrors<'py>> {
    let of = model.inner.clone();
    let (rows, columns) = (rows.as_array(), columns.as_array());
    let cells: Vec<(u64, u64)> = rows.iter().copied().zip(columns.iter().copied()).collect();
    let cost = Some(cells.len() as u64);
    let (values, errors) = call(py, RunOptions::default(), Dtype::F64, cost, move |_| {
        unmix::impute::predict_cells(&of, &cells, std)
    })?;
    if !errors.is_empty() {
        warn_notes(py, note_on_errors(&model.inner).as_slice())?;
    }
    Ok((PyArray1::from_vec(py, values), PyArray1::from_vec(py, errors)))
}

/// The reconstruction of every cell of the rows of the fit.
#[pyfunction]
pub(crate) fn completed<'py>(
    py: Python<'py>,
    model: &Model,
    run_options: RunOptionsTuple,
) -> PyResult<Bound<'py, PyAny>> {
    let (of, dtype) = (model.inner.clone(), model.inner.dtype());
    let (values, p) =
        call(py, run_options.into(), dtype, None, move |run| unmix::impute::completed(&of, run))?;
    let n = values.len().checked_div(p).unwrap_or(0);
    Ok(match values {
        Values::F32(values) => PyArray1::from_vec(py, values).reshape([n, p])?.into_any(),
        Values::F64(values) => PyArray1::from_vec(py, values).reshape([n, p])?.into_any(),
    })
}
