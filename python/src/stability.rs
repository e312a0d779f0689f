//! Reproducibility of components on halves of the rows and with other seeds, as JSON.

use crate::call::{RunOptionsTuple, call};
use crate::input::warn;
use crate::model::Model;
use pyo3::prelude::*;
use unmix::Run;
use unmix::stability::{Trials, stability as tried};

/// Fits the model's method to halves of `x` and from other seeds, and compares.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "Python's own, by name")]
pub(crate) fn stability(
    py: Python<'_>,
    model: &Model,
    x: &Bound<'_, PyAny>,
    run_options: RunOptionsTuple,
    splits: usize,
    restarts: usize,
    bootstrap: Option<usize>,
    max_seconds: Option<f64>,
) -> PyResult<String> {
    let input = model.input(x)?;
    let (dtype, model, wanted) = (input.dtype(), model.inner.clone(), model.wanted());
    let (found, notices) = call(py, run_options.into(), dtype, None, move |run| {
        let run = &Run { max_seconds, ..*run };
        let (mut rows, notices) = input.rows(wanted, run)?;
        rows.prepare(run)?;
        let found = tried(&model, &rows, Trials { splits, restarts, bootstrap }, run)?;
        let mut json = found.to_json();
        // Centrotypes are not stored in model files.
        let clusters = [
            ("restarts", &found.clusters.restarts),
            ("halves", &found.clusters.halves),
            ("both", &found.clusters.both),
        ];
        for (name, clustering) in clusters {
            if let Some(centrotypes) = clustering.as_ref().and_then(|c| c.centrotypes.as_ref()) {
                let rows: Vec<&[f64]> = (0..centrotypes.rows()).map(|j| centrotypes.row(j)).collect();
                json["clusters"][name]["centrotypes"] = serde_json::json!(rows);
            }
        }
        Ok((json.to_string(), notices))
    })?;
    warn(py, &notices)?;
    Ok(found)
}
