//! From a spectrum to a model, and from a model's parameters to its codes and its likelihood.

use super::settings::{Pca, Whiten};
use super::{METHOD, Size, Solver};
use crate::data::Features;
use crate::error::Result;
use crate::machine::check_square;
use crate::model::{
    Code, ComponentRole, Gaussian, LinearParameters, Model, Report, Tensor, Tensors, axes_of, completed_axes,
    constant_columns, require,
};
use crate::num::Dtype;
use crate::run::Run;
use crate::select::Spectrum;
use crate::spectrum::{Components, Decomposition, Rule, check_total};
use serde_json::{Map, Value};

/// The spectrum of the rows, and the shape and type of the data.
pub(super) struct Fitted<'a> {
    pub(super) found: Decomposition,
    pub(super) solver: Solver,
    pub(super) size: Size,
    pub(super) features: &'a Features,
    pub(super) dtype: Dtype,
}

impl Pca {
    /// The model of the first `k` components.
    pub(super) fn model(&self, fitted: Fitted<'_>, run: &Run<'_>, k: usize) -> Result<Model> {
        let Fitted { found, solver, size, features, dtype } = fitted;
        check_total("pca", found.total, dtype)?;
        let mut report = Report::closed_form(solver.name(), found.n, size.p, dtype, run.seed);
        report.sweeps = found.sweeps;
        report.outcome = found.solver_outcome.outcome;
        report.n_iter = found.solver_outcome.n_iter;
        (report.residual, report.tol) = (found.solver_outcome.residual, found.solver_outcome.tol);
        report.rank = found.rank;
        report.n_constant = found.n_constant;
        report.warnings = warnings(&found, solver, k, size.p);
        let few = self.center && found.rank.is_some_and(|rank| rank as u64 + 1 == size.counted);
        let requested = self.number().is_some();
        report.warnings.extend(beyond_the_rank(&found, solver, (k, requested, few), dtype.eps()));
        if let (0, Components::Rule(rule)) = (k, &self.n_components) {
            report
                .warnings
                .push(format!("the rule '{}' selects 0 components, so codes are empty", rule.name()));
        }
        if self.n_components == Components::Rule(Rule::Bic) {
            report.warnings.extend(Spectrum::of(&found, size.p).warning_of_bic());
        }
        let tensors = self.parameters(&found, size, dtype, k)?;
        let settings = crate::method::as_map(self);
        report.settings = settings.clone();
        report.settings.insert("svd_solver".into(), solver.name().into());
        report.settings.insert("n_components".into(), k.into());
        report.end(run);
        Model::fitted(&METHOD, settings, features.clone(), 1, tensors, report)
    }

    fn parameters(&self, found: &Decomposition, size: Size, dtype: Dtype, k: usize) -> Result<Tensors> {
        let noise = match k < size.most() {
            true => found.discarded(k) / (size.p - k) as f64,
            false => 0.0,
        };
        let kept = found.axes.rows().min(k);
        let mut values: Vec<f64> = found.values[..kept].to_vec();
        values.resize(k, 0.0);
        let kept = found.axes.clone().top_rows(kept);
        let noise_scale = found.noise_scale.as_deref();
        let axes = completed_axes(&kept, &kept, k, noise_scale, dtype.eps())?;
        let (total, degrees) = (found.total, found.n - 1.0);
        let each = |f: &dyn Fn(f64) -> f64| values.iter().map(|&v| f(v)).collect::<Vec<f64>>();
        let described = LinearParameters {
            components: &axes,
            mean: &found.mean,
            decoder: None,
            axes: None,
            scale: Some(&each(&|v| v.sqrt())),
            noise_scale,
            second_rotation: Some(&axes).filter(|_| matches!(self.whiten, Whiten::Rotated(_))),
        };
        let own = [
            ("explained_variance", Tensor::vector(&values, dtype)),
            ("explained_variance_ratio", Tensor::vector(&each(&|v| v / total), dtype)),
            ("singular_values", Tensor::vector(&each(&|v| (v * degrees).sqrt()), dtype)),
            ("noise_variance", Tensor::scalar(noise, dtype)),
        ];
        Ok(described.tensors(dtype, own))
    }
}

fn warnings(found: &Decomposition, solver: Solver, k: usize, p: usize) -> Vec<String> {
    let mut out: Vec<String> = constant_columns(found.n_constant, p, "loadings").into_iter().collect();
    // Ten times the uncertainty that sums of squares leave, as a fraction of the first variance: a hundred times their usual rounding errors.
    let bound = 10.0 * found.floor * found.values.first().copied().unwrap_or(0.0);
    let blurred = found.values[..k.min(found.axes.rows())].iter().filter(|v| **v < bound).count();
    if solver != Solver::Full && blurred > 0 {
        let (variances, are) = if blurred == 1 { ("variance", "is") } else { ("variances", "are") };
        out.push(format!(
            "{blurred} {variances} of {k} {are} below {:.0e} of the first, where a scatter matrix leaves fewer than about three \
             digits; svd_solver='full' is more accurate",
            10.0 * found.floor
        ));
    }
    out
}

/// The warning of components of variance 0. Whether they were `requested` by number; `few` if so few centred rows cannot vary along more
/// directions, which is expected unless more components were requested.
fn beyond_the_rank(
    found: &Decomposition,
    solver: Solver,
    (k, requested, few): (usize, bool, bool),
    eps: f64,
) -> Option<String> {
    let rank = found.rank.filter(|&r| r < k && (requested || !few))?;
    let seen = match solver {
        _ if few => String::new(),
        Solver::Full => String::new(),
        _ => format!(
            " (a scatter matrix does not resolve singular values below about {:.0e} of the largest; svd_solver='full' does)",
            found.floor.sqrt().max(eps)
        ),
    };
    let directions = if rank == 1 { "direction" } else { "directions" };
    let requested = if requested { " requested" } else { "" };
    Some(format!(
        "the rows vary along {rank} {directions} only, fewer than the {k} components{requested}{seen}; the others have variance 0"
    ))
}

/// Encoder and decoder.
pub(super) fn code(settings: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    if let Some(rotation) = tensors.get("second_rotation") {
        // Encoder and decoder are square, and there is a copy of each in the type of the rows.
        check_square("pca with whiten='zca'", rotation.shape().last().copied().unwrap_or(0), 4)?;
    }
    Code::of_linear(settings, tensors, ComponentRole::Axes)
}

/// The Gaussian of Tipping & Bishop (1999), with the stored estimate of the noise variance, but at least machine epsilon times the mean
/// variance of a column.
pub(super) fn density(tensors: &Tensors) -> Result<Gaussian> {
    let (axes, noise_scale) = axes_of(tensors)?;
    let (k, p) = (axes.rows(), axes.cols());
    let values = require(tensors, "explained_variance", &[Some(k)])?;
    let eps = values.values().dtype().eps();
    let values = values.f64s();
    let noise = require(tensors, "noise_variance", &[])?.f64s()[0];
    let total = values.iter().sum::<f64>() + noise * (p - k) as f64;
    let noise = noise.max(eps * total / p as f64);
    Ok(Gaussian {
        mean: require(tensors, "mean", &[Some(p)])?.f64s(),
        noise_scale,
        axes,
        variance: values.iter().map(|v| v.max(noise)).collect(),
        noise,
    })
}
