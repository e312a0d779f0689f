//! Modules of models with non-negative codes, as JSON, and the consensus score.

use crate::call::{FactsTuple, call};
use crate::input::Input;
use crate::model::Model;
use pyo3::prelude::*;
use unmix::Run;
use unmix::biclusters::{Refits, biclusters as pooled, of_model};
use unmix::metrics;

/// Modules of `model` on `x`: pooled over `starts` fits, with `permutations` for q-values; of the model alone where `starts` is 0.
#[pyfunction]
pub(crate) fn modules(
    py: Python<'_>,
    model: &Model,
    x: &Bound<'_, PyAny>,
    facts: FactsTuple,
    starts: usize,
    permutations: usize,
    max_seconds: Option<f64>,
) -> PyResult<String> {
    let input = Input::new(x)?;
    let (dtype, model, names) = (input.dtype(), model.inner.clone(), model.names());
    call(py, facts.into(), dtype, None, move |run| {
        let run = &Run { max_seconds, ..*run };
        let mut rows = input.rows(names, run)?.0;
        rows.settle(run)?;
        let found = match starts {
            0 => of_model(&model, &rows, run)?,
            _ => pooled(&model, &rows, Refits { starts, permutations }, run)?,
        };
        Ok(found.to_json().to_string())
    })
}

/// Rows and columns of biclusters, each rising.
type Members = Vec<(Vec<u32>, Vec<u32>)>;

/// Jaccard indices of the cells of two sets of biclusters under the best pairing, over the number of those of the larger set.
#[pyfunction]
pub(crate) fn consensus_score(a: Members, b: Members) -> f64 {
    fn lent(of: &Members) -> Vec<metrics::Bicluster<'_>> {
        of.iter().map(|(rows, columns)| (rows.as_slice(), columns.as_slice())).collect()
    }
    metrics::consensus_score(&lent(&a), &lent(&b))
}
