//! The model of a trained network, and its encoder and decoder.

use super::{DenoisingAutoencoder, METHOD};
use crate::data::Rows;
use crate::error::Result;
use crate::method::layer::{self, RowScaling, Trained, by_use};
use crate::method::sae::Measured;
use crate::model::{Code, Gate, Model, Tensor, Tensors};
use crate::num::{Dtype, Real};
use crate::run::Run;
use serde_json::{Map, Value, json};

/// Encoder and decoder from the parameters of a model.
pub(super) fn code(_: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    layer::code(tensors, Gate::new)
}

impl DenoisingAutoencoder {
    pub(super) fn model<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        scaling: &RowScaling,
        found: &Trained<T>,
        measured: &Measured<T>,
        run: &Run<'_>,
    ) -> Result<Model> {
        let settings = crate::method::as_map(self);
        let solver = settings.get("solver").and_then(Value::as_str).unwrap_or_default();
        let mut report = layer::report(solver, rows, scaling, found, measured, &settings, run);
        let used = &measured.used;
        let dead = used.fired.iter().filter(|fired| **fired == 0.0).count();
        let diagnostics = [("l0", json!(used.l0())), ("fvu", json!(used.fvu())), ("dead_units", json!(dead))];
        report.diagnostics.extend(diagnostics.map(|(name, value)| (name.to_string(), value)));
        report.warnings.extend(dead_units(dead, self.n_components));
        let order = by_use(&found.weights, used);
        let mut tensors = scaling.parameters(&found.weights, &order);
        let density = used.density();
        let density: Vec<f64> = order.iter().map(|&j| density[j]).collect();
        tensors.insert("density".into(), Tensor::vector(&density, Dtype::F64));
        report.end(run);
        Model::fitted(&METHOD, settings, rows.features().clone(), 0, tensors, report)
    }
}

/// A warning about units that no row activates.
fn dead_units(dead: usize, m: usize) -> Option<String> {
    if dead == m {
        return Some(
            "every unit is dead: all codes are 0, and rows are represented by their mean; choose a lower \
             learning_rate"
                .into(),
        );
    }
    let (are, them) = if dead == 1 { ("is", "it") } else { ("are", "them") };
    (dead > 0).then(|| format!("{dead} of {m} units {are} dead: no row activates {them}"))
}
