//! The model of a training, and its encoder and decoder.

use super::{GaussianRbm, METHOD};
use crate::data::Rows;
use crate::error::Result;
use crate::method::as_map;
use crate::method::layer::{self, RowScaling, Trained, by_use};
use crate::method::sae::Measured;
use crate::model::{Code, Gate, Model, Tensors};
use crate::num::Real;
use crate::run::Run;
use serde_json::{Map, Value, json};

/// Encoder and decoder from the parameters of a model.
pub(super) fn code(_: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    layer::code(tensors, Gate::logistic)
}

impl GaussianRbm {
    /// The model.
    pub(super) fn model<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        scaling: &RowScaling,
        found: &Trained<T>,
        measured: &Measured<T>,
        run: &Run<'_>,
    ) -> Result<Model> {
        let settings = as_map(self);
        let mut report = layer::report("cd", rows, scaling, found, measured, &settings, run);
        let used = &measured.used;
        report.diagnostics.insert("fvu".to_string(), json!(used.fvu()));
        if measured.x.iter().all(|x| [0.0, 1.0].contains(&x.to_f64())) {
            report.warnings.push(
                "the rows contain only 0 and 1: the model has normal visible units, which fit binary columns \
                 badly; use counts or measurements, or another method"
                    .into(),
            );
        }
        let tensors = scaling.parameters(&found.weights, &by_use(&found.weights, used));
        report.end(run);
        Model::fitted(&METHOD, settings, rows.features().clone(), 0, tensors, report)
    }
}
