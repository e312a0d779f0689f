//! The model of a training, and its encoder and decoder.

use super::scaling::{RowScaling, by_use};
use super::{DenoisingAutoencoder, METHOD};
use crate::autoencoder::Evaluation;
use crate::data::Rows;
use crate::error::Result;
use crate::model::{Code, Gate, LinearDecoder, Model, Outcome, Report, Tensor, Tensors, require};
use crate::num::{Dtype, Matrix, Real};
use crate::run::Run;
use crate::shallow::LayerWeights;
use serde_json::{Map, Value, json};

/// Result of training.
pub(super) struct Trained<T: Real> {
    pub(super) outcome: Outcome,
    pub(super) steps: u64,
    /// Number of passes over the rows.
    pub(super) sweeps: u64,
    pub(super) history: Vec<f64>,
    pub(super) weights: LayerWeights<T>,
}

/// The encoder with these parameters, its decoder and its mean.
pub(super) fn encoder(tensors: &Tensors) -> Result<(Gate, Matrix<f64>, Tensor)> {
    let components = require(tensors, "components", &[None, None])?;
    let (m, p) = (components.shape()[0], components.shape()[1]);
    let mean = require(tensors, "mean", &[Some(p)])?.clone();
    let weight = require(tensors, "encoder_weight", &[Some(m), Some(p)])?.to_matrix().transposed();
    let bias = require(tensors, "encoder_bias", &[Some(m)])?.f64s();
    Ok((Gate::new(mean.clone(), weight, bias), components.to_matrix(), mean))
}

/// Encoder and decoder from the parameters of a model.
pub(super) fn code(_: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    let (encoder, components, mean) = encoder(tensors)?;
    Code::new(encoder, LinearDecoder::new(mean, components))
}

impl DenoisingAutoencoder {
    pub(super) fn model<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        scaling: RowScaling,
        found: Trained<T>,
        used: &Evaluation,
        run: &Run<'_>,
    ) -> Result<Model> {
        let p = rows.n_features();
        let settings = match serde_json::to_value(self) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        let solver = settings.get("solver").and_then(Value::as_str).unwrap_or_default();
        let mut report = Report::closed_form(solver, rows.n_samples(), p, T::DTYPE, run.seed);
        (report.outcome, report.n_iter, report.sweeps) = (found.outcome, found.steps, found.sweeps);
        report.n_constant = scaling.varies.iter().filter(|varies| !**varies).count();
        report.settings = settings.clone();
        let dead = used.fired.iter().filter(|fired| **fired == 0).count();
        let facts = [("l0", json!(used.l0())), ("fvu", json!(used.fvu())), ("dead_units", json!(dead))];
        report.facts.extend(facts.map(|(name, value)| (name.to_string(), value)));
        report.warnings = doubts(dead, self.n_components, report.n_constant, p);
        report.objective = found.history;
        let order = by_use(&found.weights, used);
        let mut tensors = scaling.parameters(&found.weights, &order);
        let density = used.density();
        let density: Vec<f64> = order.iter().map(|&j| density[j]).collect();
        tensors.insert("density".into(), Tensor::vector(&density, Dtype::F64));
        report.end(run);
        Model::fitted(&METHOD, settings, rows.features().clone(), 0, tensors, report)
    }
}

/// Warnings about a fit.
fn doubts(dead: usize, m: usize, n_constant: usize, p: usize) -> Vec<String> {
    let mut out = Vec::new();
    if n_constant > 0 {
        let do_not = if n_constant == 1 { "does" } else { "do" };
        out.push(format!(
            "{n_constant} of {p} columns {do_not} not vary; their entries in every component are 0"
        ));
    }
    if dead == m {
        out.push(
            "every unit is dead: all codes are 0, and rows are represented by their mean; choose a lower \
             learning_rate"
                .into(),
        );
    } else if dead > 0 {
        let units = if dead == 1 { "unit is" } else { "units are" };
        out.push(format!("{dead} of {m} {units} dead: no row activates them"));
    }
    out
}
