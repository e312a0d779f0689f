//! From converged weights to a model.

use super::{METHOD, NeuralPca, RuleResult};
use crate::error::Result;
use crate::model::{LinearParameters, Model, Report, Tensor, completed_axes, constant_columns};
use crate::num::order;
use crate::num::{Matrix, factor};
use crate::run::Run;

impl NeuralPca {
    pub(super) fn model(&self, found: RuleResult<'_>, run: &Run<'_>) -> Result<Model> {
        let RuleResult { row, axes, flowed, weights, features, dtype, k, epochs } = found;
        let p = axes.mean.len();
        let share = (axes.n - 1.0) / axes.n;
        let canonical = Canonical::of(&flowed.w, &axes.values, &axes.axes, dtype.eps(), true);
        let kept = canonical.axes.rows();
        let components = completed_axes(&canonical.axes, &axes.axes, k, None, dtype.eps())?;
        let mut variances: Vec<f64> = canonical.variances.iter().map(|v| v * share).collect();
        variances.resize(k, 0.0);
        let total = axes.total * share;
        let each = |f: &dyn Fn(f64) -> f64| variances.iter().map(|&v| f(v)).collect::<Vec<f64>>();
        let described = LinearParameters {
            components: &components,
            mean: &axes.mean,
            decoder: None,
            axes: None,
            scale: Some(&each(&|v| v.sqrt())),
            noise_scale: None,
            second_rotation: None,
        };
        let own = [
            ("explained_variance", Tensor::vector(&variances, dtype)),
            ("explained_variance_ratio", Tensor::vector(&each(&|v| v / total), dtype)),
            ("weights", Tensor::matrix(&weights, dtype)),
        ];
        let tensors = described.tensors(dtype, own);
        let solver = match self.optimiser(row) {
            _ if row.spec.is_none() => "closed form",
            None => "full batch",
            Some(optimiser) => optimiser.name(),
        };
        let mut report = Report::closed_form(solver, axes.n, p, dtype, run.seed);
        report.sweeps = axes.sweeps + epochs;
        report.rank = axes.rank;
        report.n_constant = axes.n_constant;
        report.outcome = flowed.outcome;
        report.n_iter = flowed.n_iter;
        if flowed.residual.is_finite() && row.spec.is_some() {
            (report.residual, report.tol) = (Some(flowed.residual), Some(self.tol));
        }
        report.warnings = warnings(axes.n_constant, p, kept, k);
        let settings = crate::method::as_map(self);
        report.settings = settings.clone();
        report.settings.insert("n_components".into(), k.into());
        report.settings.insert("variant".into(), row.key.into());
        report.end(run);
        Model::fitted(&METHOD, settings, features.clone(), 0, tensors, report)
    }
}

/// Weights with unit columns, sorted by the variance along them, signed.
pub(crate) struct Canonical {
    /// `k x p`.
    pub(crate) axes: Matrix<f64>,
    /// Variances along the axes, in the units of `values`.
    pub(crate) variances: Vec<f64>,
}

impl Canonical {
    /// From weights in the coordinates of `basis` (rows), along which rows have variances `values`; by decreasing variance where
    /// `sorted`.
    pub(crate) fn of(w: &Matrix<f64>, values: &[f64], basis: &Matrix<f64>, eps: f64, sorted: bool) -> Self {
        let (r, k) = (w.rows(), w.cols());
        let length = |j: usize| (0..r).map(|i| w[(i, j)].powi(2)).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        let lengths: Vec<f64> = (0..k).map(length).collect();
        let unit = Matrix::from_fn(k, r, |j, i| w[(i, j)] / lengths[j]);
        let along = |j: usize| (0..r).map(|i| values[i] * unit[(j, i)].powi(2)).sum::<f64>();
        let variances: Vec<f64> = (0..k).map(along).collect();
        let order = if sorted { order::descending(&variances) } else { (0..k).collect() };
        let sorted = Matrix::from_fn(k, r, |j, i| unit[(order[j], i)]);
        let mut axes = factor::multiply(&sorted, basis);
        crate::model::canonical_sign(&mut axes, eps);
        Self { axes, variances: order.iter().map(|&j| variances[j]).collect() }
    }
}

pub(crate) fn warnings(n_constant: usize, p: usize, kept: usize, k: usize) -> Vec<String> {
    let mut out: Vec<String> = constant_columns(n_constant, p, "loadings").into_iter().collect();
    if kept < k {
        let directions = if kept == 1 { "direction" } else { "directions" };
        out.push(format!(
            "the rows vary along {kept} {directions} only, fewer than the {k} components requested; the others have variance 0"
        ));
    }
    out
}
