//! The model of a training, and its encoder and decoder.

use super::start::{Resolved, RowScaling};
use super::{Activation, METHOD, SparseAutoencoder};
use crate::autoencoder::{AutoencoderState, Evaluation, Gating, Parameters, SparseGate};
use crate::data::Features;
use crate::error::Result;
use crate::method::as_map;
use crate::model::{
    Code, LinearDecoder, Model, Outcome, Report, Tensor, Tensors, replaced_by_table, require,
};
use crate::num::{Dtype, Matrix, Real};
use crate::run::Run;
use serde_json::{Map, Value, json};

/// Result of training.
pub(super) struct Trained<T: Real> {
    pub(super) outcome: Outcome,
    pub(super) steps: u64,
    /// Number of passes over the rows.
    pub(super) sweeps: u64,
    pub(super) history: Vec<f64>,
    /// Units that no row activates.
    pub(super) dead: Vec<u32>,
    pub(super) state: AutoencoderState<T>,
    /// Tensors of the model besides its parameters.
    pub(super) more: Vec<(&'static str, Tensor)>,
}

/// Diagnostics about the rows of a model.
pub(super) struct RowsOf<'f> {
    pub(super) n_samples: f64,
    pub(super) n_features: usize,
    pub(super) features: &'f Features,
    /// Whether they are a stream, whose length is unknown.
    pub(super) stream: bool,
    /// A warning about the sample on which use was measured.
    pub(super) warning: Option<String>,
}

/// Names of the parameters from which training can start.
pub(super) const NAMES: [&str; 8] = [
    "components",
    "encoder_weight",
    "mean",
    "encoder_bias",
    "gate_bias",
    "threshold",
    "magnitude_bias",
    "magnitude_log_scale",
];

/// Permutation of the units in a model.
pub(super) struct Order(Vec<usize>);

impl Order {
    /// The identity.
    pub(super) fn kept(m: usize) -> Self {
        Self((0..m).collect())
    }

    /// By descending sum of codes, then by the fraction of active rows.
    fn by_use(used: &Evaluation) -> Self {
        let mut order: Vec<usize> = (0..used.size.len()).collect();
        let descending = |a: &usize, b: &usize| {
            used.size[*b].total_cmp(&used.size[*a]).then(used.fired[*b].total_cmp(&used.fired[*a]))
        };
        order.sort_by(descending);
        Self(order)
    }

    fn rows<T: Real>(&self, of: &[T], p: usize, dtype: Dtype) -> Tensor {
        let rows = Matrix::from_fn(self.0.len(), p, |i, c| of[self.0[i] * p + c].to_f64() + 0.0);
        Tensor::matrix(&rows, dtype)
    }

    fn values(&self, of: impl Fn(usize) -> f64, dtype: Dtype) -> Tensor {
        Tensor::vector(&self.0.iter().map(|&j| of(j)).collect::<Vec<f64>>(), dtype)
    }
}

/// Parameters in the units of the rows: scaling rows and codes by `s` leaves `W` and `D` unchanged, and divides `b`, biases and thresholds
/// by `s`.
pub(super) fn parameters_in_units<T: Real>(
    state: &AutoencoderState<T>,
    activation: Activation,
    scaling: &RowScaling,
    order: &Order,
) -> Tensors {
    let Parameters { decoder, encoder, bias, mean, log_threshold, magnitude, log_scale } = &state.parameters;
    let (p, dtype, unit) = (mean.len(), T::DTYPE, scaling.unit);
    let mean: Vec<f64> = mean.iter().zip(&scaling.mean).map(|(b, mean)| mean + unit * b.to_f64()).collect();
    let times = |of: &[T]| order.values(|j| unit * of[j].to_f64(), dtype);
    let mut named = vec![
        ("components", order.rows(decoder, p, dtype)),
        ("encoder_weight", order.rows(encoder, p, dtype)),
        ("mean", Tensor::vector(&mean, dtype)),
    ];
    match activation {
        Activation::Gated => named.extend([
            ("gate_bias", times(bias)),
            ("magnitude_bias", times(magnitude)),
            ("magnitude_log_scale", order.values(|j| log_scale[j].to_f64(), dtype)),
        ]),
        _ => named.push(("encoder_bias", times(bias))),
    }
    match activation {
        Activation::Jumprelu => {
            named.push(("threshold", order.values(|j| unit * log_threshold[j].to_f64().exp(), dtype)));
        }
        Activation::BatchTopk => {
            named.push(("threshold", Tensor::scalar(unit * state.threshold(), dtype)));
        }
        _ => {}
    }
    named.into_iter().map(|(name, tensor)| (name.to_string(), tensor)).collect()
}

/// The encoder with these parameters, its atoms and its mean.
pub(super) fn encoder(
    activation: Activation,
    l0: usize,
    tensors: &Tensors,
) -> Result<(SparseGate, Matrix<f64>, Tensor)> {
    let components = require(tensors, "components", &[None, None])?;
    let (m, p) = (components.shape()[0], components.shape()[1]);
    let mean = require(tensors, "mean", &[Some(p)])?.clone();
    let weight = require(tensors, "encoder_weight", &[Some(m), Some(p)])?.to_matrix().transposed();
    let vector = |name: &str| Ok::<_, crate::Error>(require(tensors, name, &[Some(m)])?.f64s());
    let gating = match activation {
        Activation::Relu => Gating::Relu,
        Activation::Topk => Gating::Largest(l0),
        Activation::BatchTopk => Gating::Above(vec![require(tensors, "threshold", &[])?.f64s()[0]; m]),
        Activation::Jumprelu => Gating::Above(vector("threshold")?),
        Activation::Gated => {
            Gating::Gated { magnitude: vector("magnitude_bias")?, log_scale: vector("magnitude_log_scale")? }
        }
    };
    let bias = vector(if activation == Activation::Gated { "gate_bias" } else { "encoder_bias" })?;
    Ok((SparseGate::new(mean.clone(), weight, bias, gating), components.to_matrix(), mean))
}

/// Encoder and decoder from the parameters of a model.
pub(super) fn code(settings: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    let spec = SparseAutoencoder::from_settings(settings)?;
    let m = require(tensors, "components", &[None, None])?.shape()[0];
    let l0 = spec.active(m)?;
    let (encoder, atoms, mean) = encoder(spec.activation, l0, tensors)?;
    Code::new(encoder, LinearDecoder::new(mean, atoms))
}

impl SparseAutoencoder {
    /// Number of active units per row, of `m` units, if it is a setting; else 1, which has no effect. Without `alpha`, which is in files of versions
    /// that ignored it with these activations: their models are read, although a fit with these settings is refused.
    pub(super) fn active(&self, m: usize) -> Result<usize> {
        match self.activation.counts() {
            true => Ok(Self { n_components: Some(m), alpha: None, ..self.clone() }.resolved(1, None)?.l0),
            false => Ok(1),
        }
    }
}

/// Relative deviation from `l0` above which there is a warning.
const LARGE_L0_DEVIATION: f64 = 0.25;
/// What follows if every unit is dead.
const ALL_CODES_ARE_0: &str = "all codes are 0, and every row is reconstructed as the mean";

impl SparseAutoencoder {
    pub(super) fn model<T: Real>(
        &self,
        rows: RowsOf<'_>,
        scaling: RowScaling,
        resolved: Resolved,
        found: Trained<T>,
        used: &Evaluation,
        run: &Run<'_>,
    ) -> Result<Model> {
        let p = rows.n_features;
        let settings = as_map(self);
        let mut report = Report::closed_form("adam", rows.n_samples, p, T::DTYPE, run.seed);
        (report.outcome, report.n_iter, report.sweeps) = (found.outcome, found.steps, found.sweeps);
        report.n_constant = scaling.n_constant;
        report.settings = settings.clone();
        let alpha = if self.activation.counts() { Value::Null } else { json!(found.state.alpha()) };
        for (name, value) in [
            ("n_components", json!(resolved.m)),
            ("l0", json!(resolved.l0)),
            ("learning_rate", json!(resolved.rate)),
            ("dead_unit", json!(resolved.dead)),
        ] {
            report.settings.insert(name.into(), value);
        }
        // If not all rows were measured, dead units are those that neither the sample of the rows nor the last epoch activated.
        let dead = found.dead.iter().filter(|j| used.fired[**j as usize] == 0.0).count();
        let diagnostics = [
            ("l0", json!(used.l0())),
            ("fvu", json!(used.fvu())),
            ("dead_units", json!(dead)),
            ("resampled", json!(found.state.resampled)),
            ("alpha", alpha),
            ("scale", json!(scaling.unit)),
            ("epochs", json!({"l0": found.state.l0, "dead_units": found.state.dead})),
        ];
        report.diagnostics.extend(diagnostics.map(|(name, value)| (name.to_string(), value)));
        report.warnings = self.fit_warnings(&resolved, used, dead, &scaling, rows.stream);
        report.warnings.extend(rows.warning);
        if self.dict_init.is_some() {
            report.warnings.extend(replaced_by_table(METHOD.settings, &settings, "init", "dict_init"));
        }
        report.objective = found.history.clone();
        report.end(run);
        let order = Order::by_use(used);
        let mut tensors = parameters_in_units(&found.state, self.activation, &scaling, &order);
        let density = used.density();
        tensors.insert("density".into(), order.values(|j| density[j], Dtype::F64));
        tensors.extend(found.more.into_iter().map(|(name, tensor)| (name.to_string(), tensor)));
        Model::fitted(&METHOD, settings, rows.features.clone(), 0, tensors, report)
    }

    /// Warnings about a fit.
    fn fit_warnings(
        &self,
        resolved: &Resolved,
        used: &Evaluation,
        dead: usize,
        scaling: &RowScaling,
        stream: bool,
    ) -> Vec<String> {
        let mut out = Vec::new();
        let (m, l0) = (resolved.m, used.l0());
        if scaling.n_constant > 0 {
            let does = if scaling.n_constant == 1 { "does" } else { "do" };
            out.push(format!("{} of {} columns {does} not vary", scaling.n_constant, scaling.mean.len()));
        }
        if l0 == 0.0 {
            let (why, remedy) = match self.activation.counts() {
                // Only of a stream: fits to such rows are refused.
                _ if scaling.half_square.is_infinite() => (
                    "the first rows, by which all are centred and scaled, do not vary",
                    "begin with rows that vary",
                ),
                true => (ALL_CODES_ARE_0, "choose a lower learning_rate"),
                false => (ALL_CODES_ARE_0, "choose a lower alpha"),
            };
            out.push(format!("every unit is dead: {why}; {remedy}"));
        } else if dead > 0 {
            let (are, them) = if dead == 1 { ("is", "it") } else { ("are", "them") };
            let advice =
                if 2 * dead > m { "; choose fewer units, more epochs, or another dead_unit" } else { "" };
            out.push(format!("{dead} of {m} units {are} dead: no row activates {them}{advice}"));
        }
        let wanted = resolved.l0 as f64;
        // The weight of the penalty of a stream is still being adjusted.
        if stream {
            return out;
        }
        let fvu = used.fvu();
        if l0 > 0.0 && fvu >= 1.0 {
            out.push(format!(
                "the fraction of variance unexplained is {fvu:.2}: the mean of the rows reconstructs them as well as the codes do, or better; \
                 choose more epochs, a lower learning_rate, or fewer active units per row"
            ));
        }
        // Of 'topk' fewer are active only where fewer are positive. The threshold of 'batch-topk' is from the batches of training.
        if self.alpha.is_none()
            && l0 > 0.0
            && (l0 / wanted - 1.0).abs() > LARGE_L0_DEVIATION
            && self.activation != Activation::Topk
        {
            let or = if self.activation.counts() { "activation='topk'" } else { "set alpha" };
            out.push(format!(
                "{l0:.1} units are active per row, but l0={wanted} was requested; choose more epochs, or {or}"
            ));
        }
        out
    }

    /// Initial parameters from a model of this kind, each returned by `parameter`, in the coordinates of training.
    pub(super) fn continued<T: Real>(
        &self,
        scaling: &RowScaling,
        resolved: &Resolved,
        parameter: impl Fn(&str) -> Option<Vec<f64>>,
    ) -> Option<Parameters<T>> {
        let (m, p, unit) = (resolved.m, scaling.mean.len(), scaling.unit);
        let numbers = |name: &str, len: usize| {
            let found = parameter(name);
            found.filter(|numbers| numbers.len() >= len).map(|mut numbers| {
                numbers.truncate(len);
                numbers
            })
        };
        let (Some(atoms), Some(weights), Some(mean)) =
            (numbers("components", m * p), numbers("encoder_weight", m * p), numbers("mean", p))
        else {
            return None;
        };
        let narrow = |of: Vec<f64>| of.into_iter().map(T::from_f64).collect::<Vec<T>>();
        let divided = |of: Vec<f64>| of.into_iter().map(|x| T::from_f64(x / unit)).collect::<Vec<T>>();
        let mut start = Parameters::start(self.activation, &Matrix::from_vec(m, p, atoms), 1.0);
        start.encoder = narrow(weights);
        start.mean = divided(mean.iter().zip(&scaling.mean).map(|(b, mean)| b - mean).collect());
        if let Some(bias) = numbers("encoder_bias", m).or_else(|| numbers("gate_bias", m)) {
            start.bias = divided(bias);
        }
        if self.activation == Activation::Jumprelu
            && let Some(threshold) = numbers("threshold", m)
        {
            let log = |x: f64| (x / unit).max(f64::MIN_POSITIVE).ln();
            start.log_threshold = narrow(threshold.into_iter().map(log).collect());
        }
        if self.activation == Activation::Gated
            && let (Some(magnitude), Some(scale)) =
                (numbers("magnitude_bias", m), numbers("magnitude_log_scale", m))
        {
            (start.magnitude, start.log_scale) = (divided(magnitude), narrow(scale));
        }
        Some(start)
    }
}
