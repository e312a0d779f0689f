//! Reproducibility of components on halves of the rows and with other seeds, as JSON.

use crate::call::{FactsTuple, call};
use crate::input::Input;
use crate::model::Model;
use pyo3::prelude::*;
use unmix::stability::{Trials, stability as tried};

/// Fits the model's method to halves of `x` and from other seeds, and compares.
#[pyfunction]
pub(crate) fn stability(
    py: Python<'_>,
    model: &Model,
    x: &Bound<'_, PyAny>,
    facts: FactsTuple,
    cuts: usize,
    restarts: usize,
) -> PyResult<String> {
    let input = Input::new(x)?;
    let (dtype, model, names) = (input.dtype(), model.inner.clone(), model.names());
    call(py, facts.into(), dtype, None, move |run| {
        let mut rows = input.rows(names, run)?.0;
        rows.settle(run)?;
        let found = tried(&model, &rows, Trials { cuts, restarts }, run)?;
        let mut facts = found.to_json();
        // The model file does not store these.
        let clusters = [
            ("restarts", &found.clusters.restarts),
            ("halves", &found.clusters.halves),
            ("both", &found.clusters.both),
        ];
        for (name, clustering) in clusters {
            if let Some(centrotypes) = clustering.as_ref().and_then(|c| c.centrotypes.as_ref()) {
                let rows: Vec<&[f64]> = (0..centrotypes.rows()).map(|j| centrotypes.row(j)).collect();
                facts["clusters"][name]["centrotypes"] = serde_json::json!(rows);
            }
        }
        Ok(facts.to_string())
    })
}
