//! The model of a training, and its encoder and decoder.

use super::fit::RowScaling;
use super::{DenoisingAutoencoder, METHOD};
use crate::autoencoder::Evaluation;
use crate::data::Rows;
use crate::error::Result;
use crate::model::{Code, Gate, LinearDecoder, Model, Outcome, Report, Tensor, Tensors, require};
use crate::num::{Dtype, Matrix, Real, kernel};
use crate::run::{Run, Start};
use crate::shallow::DenoisingWeights;
use serde_json::{Map, Value, json};

/// Result of training.
pub(super) struct Trained<T: Real> {
    pub(super) outcome: Outcome,
    pub(super) steps: u64,
    /// Number of passes over the rows.
    pub(super) sweeps: u64,
    pub(super) history: Vec<f64>,
    pub(super) weights: DenoisingWeights<T>,
}

/// Parameters in the units of the rows, for units in this order. With `s` the scale of the columns and `m + s c` as mean, what the decoder
/// adds is subtracted before the encoder, too: `W (x - m) / s + b = (W / s) (x - m - s c) + b + W c`.
pub(super) fn parameters_in_units<T: Real>(
    weights: &DenoisingWeights<T>,
    scaling: &RowScaling,
    order: &[usize],
) -> Tensors {
    let (p, dtype, scale) = (weights.n_features(), T::DTYPE, &scaling.scale);
    let offset: Vec<f64> = weights.offset.iter().map(|c| c.to_f64()).collect();
    let (encoder, decoder) = weights.by_units();
    let mean: Vec<f64> = (0..p).map(|c| scaling.mean[c] + scale[c] * offset[c]).collect();
    let own = |j: usize| encoder[j * p..(j + 1) * p].iter().zip(&offset).map(|(w, c)| w * c).sum::<f64>();
    let bias: Vec<f64> = order.iter().map(|&j| weights.bias[j].to_f64() + own(j)).collect();
    // Adding 0 leaves no negative zeros.
    let rows = |of: &[f64], by: &dyn Fn(usize) -> f64| {
        let rows = Matrix::from_fn(order.len(), p, |i, c| of[order[i] * p + c] * by(c) + 0.0);
        Tensor::matrix(&rows, dtype)
    };
    let named = [
        ("components", rows(&decoder, &|c| scale[c])),
        ("encoder_weight", rows(&encoder, &|c| 1.0 / scale[c])),
        ("encoder_bias", Tensor::vector(&bias, dtype)),
        ("mean", Tensor::vector(&mean, dtype)),
    ];
    named.into_iter().map(|(name, tensor)| (name.to_string(), tensor)).collect()
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
        let mut tensors = parameters_in_units(&found.weights, &scaling, &order);
        let density = used.density();
        let density: Vec<f64> = order.iter().map(|&j| density[j]).collect();
        tensors.insert("density".into(), Tensor::vector(&density, Dtype::F64));
        report.end(run);
        Model::fitted(&METHOD, settings, rows.features().clone(), 0, tensors, report)
    }

    /// Initial weights from a model of this method, in the coordinates of training: the first units, if there are enough.
    pub(super) fn continued<T: Real>(
        &self,
        scaling: &RowScaling,
        init: &dyn Start,
    ) -> Option<DenoisingWeights<T>> {
        let (m, p) = (self.n_components, scaling.mean.len());
        let numbers = |name: &str, len: usize| {
            let found = init.parameter(name).map(|(_, numbers)| numbers).filter(|all| all.len() >= len);
            found.map(|mut all| {
                all.truncate(len);
                all
            })
        };
        let (mut decoder, mut encoder) = (numbers("components", m * p)?, numbers("encoder_weight", m * p)?);
        let (mut bias, mean) = (numbers("encoder_bias", m)?, numbers("mean", p)?);
        let each = |rows: &mut [f64], by: &dyn Fn(usize) -> f64| {
            for row in rows.chunks_exact_mut(p) {
                (0..p).for_each(|c| row[c] *= if scaling.varies[c] { by(c) } else { 0.0 });
            }
        };
        each(&mut decoder, &|c| 1.0 / scaling.scale[c]);
        each(&mut encoder, &|c| scaling.scale[c]);
        let mut offset: Vec<f64> = mean.iter().zip(&scaling.mean).map(|(to, from)| to - from).collect();
        each(&mut offset, &|c| 1.0 / scaling.scale[c]);
        for (b, row) in bias.iter_mut().zip(encoder.chunks_exact(p)) {
            *b -= row.iter().zip(&offset).map(|(w, c)| w * c).sum::<f64>();
        }
        let decoder = if self.tied { Vec::new() } else { decoder };
        Some(DenoisingWeights::of(&encoder, &decoder, &bias, &offset))
    }
}

/// Units by falling size of what they add to rows: the sum of their codes times the length of their decoder vector.
fn by_use<T: Real>(weights: &DenoisingWeights<T>, used: &Evaluation) -> Vec<usize> {
    let p = weights.n_features();
    let (_, decoder) = weights.by_units();
    let sizes = decoder.chunks_exact(p).zip(&used.size);
    let sizes: Vec<f64> = sizes.map(|(row, sum)| sum * kernel::sum_of_squares(row).sqrt()).collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by(|a, b| sizes[*b].total_cmp(&sizes[*a]));
    order
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
