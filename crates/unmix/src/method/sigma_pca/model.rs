//! The model of the components, and its encoder and decoder.

use super::{METHOD, Order, SigmaPca, SolverOutput};
use crate::data::Features;
use crate::error::Result;
use crate::method::as_map;
use crate::method::neural_pca::model::warnings;
use crate::model::{
    Code, ComponentRole, LinearEncoder, LinearParameters, Model, NonlinearDecoder, Nonlinearity, Report,
    StoredAxes, Tensor, Tensors, completed_axes, require, whitens,
};
use crate::neural::native;
use crate::neural::pairs::{Verdict, in_words};
use crate::neural::separation::Separation;
use crate::num::order;
use crate::num::{Dtype, Matrix, Real};
use crate::run::Run;
use serde_json::{Map, Value};

/// Diagnostics for the report that depend on the solver.
#[derive(Default)]
pub(super) struct ReportExtras {
    /// The tolerance.
    pub(super) tol: f64,
    /// Resolved settings.
    pub(super) settings: Vec<(&'static str, Value)>,
    /// Warnings, which come before those of the verdicts.
    pub(super) warnings: Vec<String>,
    /// Standard deviations that were learned, in the units of the rows.
    pub(super) trained_scale: Option<Vec<f64>>,
    /// Norms of the columns, if they were not constrained.
    pub(super) norms: Option<Vec<f64>>,
}

impl<T: Real> SolverOutput<'_, T> {
    /// Variances of the components, in the units of the rows; without centring second moments about 0, as the total is, where `sigma` is about the
    /// mean. They are those of uncorrelated coordinates, weighted by the squares of `w`.
    fn variances(&self, center: bool) -> Vec<f64> {
        let (solved, principal) = (&self.solved, &self.principal);
        if center {
            return solved.sigma.iter().map(|s| (s * principal.unit).powi(2)).collect();
        }
        let found = &principal.spectrum;
        let of_row = |w: &[f64]| w.iter().zip(&found.values).map(|(w, v)| w * w * v).sum::<f64>();
        (0..solved.w.rows()).map(|j| of_row(solved.w.row(j)) * (found.n - 1.0) / found.n).collect()
    }

    /// The same with components in the order that was requested.
    pub(super) fn in_order(mut self, requested: Order, center: bool) -> Self {
        let variances = self.variances(center);
        let solved = &mut self.solved;
        let order = match requested {
            Order::Variance => order::descending(&variances),
            Order::Found => (0..solved.w.rows()).collect(),
        };
        let of = |all: &mut Vec<f64>| *all = order.iter().map(|&j| all[j]).collect();
        solved.w = Matrix::from_fn(order.len(), solved.w.cols(), |j, i| solved.w[(order[j], i)]);
        for statistics in std::iter::once(&mut solved.own).chain(&mut solved.candidates) {
            let Separation { b, score_slope, score_ratio, t, error } = statistics;
            [b, score_slope, score_ratio, t, error].into_iter().for_each(of);
        }
        [&mut solved.sigma, &mut solved.a, &mut self.h.a].into_iter().for_each(of);
        self.extras.trained_scale.iter_mut().chain(&mut self.extras.norms).for_each(of);
        self
    }
}

impl SigmaPca {
    pub(super) fn model<T: Real>(
        &self,
        ended: SolverOutput<'_, T>,
        verdicts: Vec<Verdict>,
        k: usize,
        features: &Features,
        run: &Run<'_>,
    ) -> Result<Model> {
        let components = self.components(&ended, k, T::DTYPE.eps())?;
        let variances = padded(k, ended.variances(self.center).into_iter());
        let SolverOutput { principal: rows, solved, extras, .. } = ended;
        let (dtype, found) = (T::DTYPE, &rows.spectrum);
        let (p, kept) = (found.mean.len(), solved.w.rows());
        let (sigma, mut a) = (solved.sigma, solved.a);

        a.resize(k, a.last().copied().unwrap_or(1.0));
        let mut own =
            of_components(&variances, found.total * (found.n - 1.0) / found.n, &a, &verdicts[..kept], dtype);
        if let Some(trained_scale) = extras.trained_scale {
            own.push((
                "trained_scale",
                Tensor::vector(&padded(k, trained_scale.into_iter().take(kept)), dtype),
            ));
        }
        let scale = padded(k, sigma.iter().map(|s| s * rows.unit));
        let described = LinearParameters {
            components: &components,
            mean: &found.mean,
            decoder: None,
            axes: None,
            scale: Some(&scale),
            noise_scale: found.noise_scale.as_deref(),
            second_rotation: None,
        };
        let tensors = described.tensors(dtype, own);
        let mut report = Report::closed_form(solved.solver, found.n, p, dtype, run.seed);
        report.sweeps = rows.sweeps();
        (report.rank, report.n_constant) = (found.rank, found.n_constant);
        (report.outcome, report.n_iter) = (solved.outcome, solved.n_iter);
        (report.residual, report.tol) = (solved.residual, solved.residual.map(|_| extras.tol));
        report.norms = extras.norms;
        report.orthonormality = Some(native::orthonormality(&components));
        report.warnings = warnings(found.n_constant, p, kept, k);
        report.warnings.extend(extras.warnings);
        report.tell_rounding();
        report.warnings.extend(in_words(&verdicts, &a));
        report.warnings.extend(solved.better.filter(|_| self.has_width()).map(wrong_width));
        let settings = as_map(self);
        report.settings = settings.clone();
        report.settings.insert("n_components".into(), k.into());
        report.settings.insert("solver".into(), solved.solver.into());
        report.settings.extend(extras.settings.into_iter().map(|(name, value)| (name.to_string(), value)));
        report.end(run);
        Model::fitted(&METHOD, settings, features.clone(), 0, tensors, report)
    }

    /// `k` orthonormal axes: those of the solution, in their order, completed if the rows span fewer directions.
    pub(super) fn components<T: Real>(
        &self,
        ended: &SolverOutput<'_, T>,
        k: usize,
        eps: f64,
    ) -> Result<Matrix<f64>> {
        let found = &ended.principal.spectrum;
        let axes = ended.principal.directions(&ended.solved.w);
        completed_axes(&axes, &found.axes, k, found.noise_scale.as_deref(), eps)
    }
}

/// The warning about a width with which components are more Gaussian than the initial ones.
fn wrong_width(better: f64) -> String {
    format!(
        "these components are more Gaussian than the principal axes, so their a may be unsuitable for the data; try a={better} or \
         a='auto'"
    )
}

/// `k` numbers, one for each component; 0 for those beyond the rank of the rows, which are not resolved, either.
fn padded(k: usize, found: impl Iterator<Item = f64>) -> Vec<f64> {
    found.chain(std::iter::repeat(0.0)).take(k).collect()
}

/// Tensors of the components: variances, shares of `total`, widths and verdicts.
fn of_components(
    variances: &[f64],
    total: f64,
    a: &[f64],
    verdicts: &[Verdict],
    dtype: Dtype,
) -> Vec<(&'static str, Tensor)> {
    let k = variances.len();
    let shares: Vec<f64> = variances.iter().map(|v| v / total).collect();
    let of = |f: fn(&Verdict) -> f64| Tensor::vector(&padded(k, verdicts.iter().map(f)), dtype);
    vec![
        ("explained_variance", Tensor::vector(variances, dtype)),
        ("explained_variance_ratio", Tensor::vector(&shares, dtype)),
        ("a", Tensor::vector(a, dtype)),
        ("separation", of(|verdict| verdict.separation)),
        ("seeking", of(|verdict| verdict.variance_seeking)),
        ("resolved", of(|verdict| f64::from(u8::from(verdict.reason.is_none())))),
    ]
}

/// `y = (x - mean) diag(1/noise) W`, divided by `scale` when whitened; back by the least-squares decoder, or by the nonlinear
/// reconstruction of the rule.
pub(super) fn code(settings: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    if settings.get("reconstruct").and_then(Value::as_str) != Some("nonlinear") {
        return Code::of_linear(settings, tensors, ComponentRole::UnitVectors);
    }
    let (stored, whiten) = (StoredAxes::read(tensors)?, whitens(settings));
    let (encoder, decoder) = (stored.parts(whiten).encoder(), stored.parts(false).transposed());
    let of_codes = nonlinearity(settings, tensors, &stored.scale, whiten)?;
    let mean = stored.mean;
    Code::new(LinearEncoder::new(mean.clone(), encoder), NonlinearDecoder::new(of_codes, mean, decoder))
}

/// `sigma h(y / sigma)`, where `sigma` has the standard deviations of the codes, or learned ones, or is 1 for rules without them.
fn nonlinearity(
    settings: &Map<String, Value>,
    tensors: &Tensors,
    scale: &[f64],
    whiten: bool,
) -> Result<Nonlinearity> {
    let spec = SigmaPca::from_settings(settings)?;
    let k = scale.len();
    let a = require(tensors, "a", &[Some(k)])?.f64s();
    let sigma = match tensors.contains_key("trained_scale") {
        true => require(tensors, "trained_scale", &[Some(k)])?.f64s(),
        false if spec.without_sigma()? => vec![1.0; k],
        false => scale.to_vec(),
    };
    let unit = |j: usize| match whiten {
        false => sigma[j],
        true if scale[j] > 0.0 => sigma[j] / scale[j],
        true => 0.0,
    };
    let unit = (0..k).map(unit).collect();
    Ok(Nonlinearity { h: spec.activation_function()?.as_fn(), a, unit, scale: sigma })
}
