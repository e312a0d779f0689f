//! The model of a training, and its encoder and decoder.

use super::{GaussianRbm, METHOD};
use crate::autoencoder::Evaluation;
use crate::data::Rows;
use crate::error::Result;
use crate::method::dae::scaling::{RowScaling, by_use};
use crate::model::{Code, Gate, LinearDecoder, Model, Outcome, Report, Tensor, Tensors, require};
use crate::num::{Matrix, Real};
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
    Ok((Gate::logistic(mean.clone(), weight, bias), components.to_matrix(), mean))
}

/// Encoder and decoder from the parameters of a model.
pub(super) fn code(_: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    let (encoder, components, mean) = encoder(tensors)?;
    Code::new(encoder, LinearDecoder::new(mean, components))
}

impl GaussianRbm {
    /// The model; `binary`: all rows that were examined contain 0 and 1 alone.
    pub(super) fn model<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        scaling: RowScaling,
        found: Trained<T>,
        (used, binary): (&Evaluation, bool),
        run: &Run<'_>,
    ) -> Result<Model> {
        let p = rows.n_features();
        let settings = match serde_json::to_value(self) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        let mut report = Report::closed_form("cd", rows.n_samples(), p, T::DTYPE, run.seed);
        (report.outcome, report.n_iter, report.sweeps) = (found.outcome, found.steps, found.sweeps);
        report.n_constant = scaling.varies.iter().filter(|varies| !**varies).count();
        report.settings = settings.clone();
        report.facts.insert("fvu".to_string(), json!(used.fvu()));
        report.warnings = doubts(binary, report.n_constant, p);
        report.objective = found.history;
        let tensors = scaling.parameters(&found.weights, &by_use(&found.weights, used));
        report.end(run);
        Model::fitted(&METHOD, settings, rows.features().clone(), 0, tensors, report)
    }
}

/// Warnings about a fit.
fn doubts(binary: bool, n_constant: usize, p: usize) -> Vec<String> {
    let mut out = Vec::new();
    if n_constant > 0 {
        let do_not = if n_constant == 1 { "does" } else { "do" };
        out.push(format!(
            "{n_constant} of {p} columns {do_not} not vary; their entries in every component are 0"
        ));
    }
    if binary {
        out.push(
            "the rows contain only 0 and 1: the model has normal visible units, which fit binary columns \
             badly; use counts or measurements, or another method"
                .into(),
        );
    }
    out
}
