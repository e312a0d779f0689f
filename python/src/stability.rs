//! What halves of the rows and other seeds find again, as JSON.

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
        Ok(tried(&model, &rows, Trials { cuts, restarts }, run)?.to_json().to_string())
    })
}
