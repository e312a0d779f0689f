//! Modules of models with non-negative codes, as JSON, and the consensus score.

use crate::call::{RunOptionsTuple, call};
use crate::input::warn;
use crate::model::Model;
use numpy::PyArray1;
use pyo3::prelude::*;
use unmix::Run;
use unmix::biclusters::{Refits, biclusters as pooled, of_model};
use unmix::metrics;

/// Modules of `model` on `x`, and the code of every row in each of them, one module after the other: pooled over `starts` fits, with
/// `permutations` for q-values; of the model alone if `starts` is 0.
#[pyfunction]
pub(crate) fn modules<'py>(
    py: Python<'py>,
    model: &Model,
    x: &Bound<'py, PyAny>,
    run_options: RunOptionsTuple,
    starts: usize,
    permutations: usize,
    max_seconds: Option<f64>,
) -> PyResult<(String, Bound<'py, PyArray1<f32>>)> {
    let input = model.input(x)?;
    let (dtype, model, wanted) = (input.dtype(), model.inner.clone(), model.wanted());
    let (text, codes, notices) = call(py, run_options.into(), dtype, None, move |run| {
        let run = &Run { max_seconds, ..*run };
        let (mut rows, notices) = input.rows(wanted, run)?;
        rows.prepare(run)?;
        let found = match starts {
            0 => of_model(&model, &rows, run)?,
            _ => pooled(&model, &rows, Refits { starts, permutations }, run)?,
        };
        let codes: Vec<f32> = found.modules.iter().flat_map(|m| m.codes.iter().copied()).collect();
        Ok((found.to_json().to_string(), codes, notices))
    })?;
    warn(py, &notices)?;
    Ok((text, PyArray1::from_vec(py, codes)))
}

/// Rows and columns of biclusters, in ascending order.
type Members = Vec<(Vec<u32>, Vec<u32>)>;

/// Sum of the Jaccard indices of the cells of two sets of biclusters under the best matching, divided by the size of the larger set.
#[pyfunction]
pub(crate) fn consensus_score(a: Members, b: Members) -> f64 {
    fn lent(of: &Members) -> Vec<metrics::Bicluster<'_>> {
        of.iter().map(|(rows, columns)| (rows.as_slice(), columns.as_slice())).collect()
    }
    metrics::consensus_score(&lent(&a), &lent(&b))
}
