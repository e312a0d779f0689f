//! The model of a fit, and its encoder, decoder and density.

use super::{FitResult, METHOD, Task};
use crate::data::Rows;
use crate::error::{Error, Result, counted};
use crate::method::as_map;
use crate::model::{
    Code, Gate, Gaussian, LinearDecoder, Model, NonNegative, Report, Tensor, Tensors, constant_columns,
    require,
};
use crate::num::order;
use crate::num::{Dtype, Matrix, Real, factor};
use crate::rectified::{Noise, Parameters, Prior};
use crate::run::Run;
use serde_json::{Map, Value, json};

impl Task<'_> {
    pub(super) fn model<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        found: FitResult,
        run: &Run<'_>,
    ) -> Result<Model> {
        run.stage("components")?;
        let order = self.order(&found);
        let settings = as_map(self.spec);
        let mut report = Report::closed_form(
            self.solver(),
            self.row_moments.n,
            self.row_moments.center.len(),
            T::DTYPE,
            run.seed,
        );
        (report.outcome, report.n_iter, report.sweeps) = (found.outcome, found.n_iter, found.sweeps);
        report.objective = found.objective.clone();
        report.residual = Some(found.residual).filter(|r| r.is_finite());
        report.tol = self.spec.tol;
        report.n_constant = self.row_moments.n_constant;
        report.warnings = self.fit_warnings(rows, &found);
        report.settings = settings.clone();
        report.settings.insert("learning_rate".into(), self.rate.into());
        report.settings.insert("dead_unit".into(), if self.one_hot { "onehot" } else { "zero" }.into());
        report.diagnostics = self.diagnostics(&found);
        let tensors = self.tensors(&found, &order);
        report.end(run);
        Model::fitted(&METHOD, settings, rows.features().clone(), 0, tensors, report)
    }

    fn solver(&self) -> &'static str {
        match self.spec.e_step {
            super::EStep::Plain if self.spec.batch_size.is_some() => "batches",
            super::EStep::Plain => "plain",
            super::EStep::Cascade => "cascade",
            super::EStep::Coordinate => "coordinate",
        }
    }

    /// Units in descending order of use: the second moment of their codes times their squared relative loadings; dead ones last.
    fn order(&self, found: &FitResult) -> Vec<usize> {
        let (w, l) = (&found.parameters.w, found.scale.len());
        let square = |j: usize| -> f64 {
            let varying = (0..w.rows()).filter(|&k| self.row_moments.variance[k] > 0.0);
            varying.map(|k| (w[(k, j)] / self.step.sd[k]).powi(2)).sum()
        };
        let alive = |j: usize| found.scale[j] > 0.0;
        let used: Vec<f64> =
            (0..l).map(|j| if alive(j) { found.stats.m[(j, j)] * square(j) } else { -1.0 }).collect();
        order::descending(&used)
    }

    fn diagnostics(&self, found: &FitResult) -> Map<String, Value> {
        let mut diagnostics = Map::new();
        diagnostics.insert("final_objective".into(), json!(found.value));
        diagnostics
            .insert("decreases".into(), json!({"count": found.falls.count, "largest": found.falls.largest}));
        diagnostics.insert("dead_units".into(), json!(dead(found)));
        diagnostics.insert("one_hot".into(), json!(found.one_hot));
        diagnostics.extend(found.more.clone());
        diagnostics
    }

    fn fit_warnings<T: Real>(&self, rows: &Rows<'_, T>, found: &FitResult) -> Vec<String> {
        let mut out = Vec::new();
        let (p, l) = (self.row_moments.center.len(), found.scale.len());
        out.extend(constant_columns(self.row_moments.n_constant, p, "loadings"));
        let dead = dead(found);
        if dead > 0 {
            let units = if dead == 1 { "unit is" } else { "units are" };
            out.push(format!("{dead} of {l} {units} 0 in every row"));
        }
        let low = |k: usize, psi: f64| psi <= self.step.bounds[k].0 * (1.0 + 1e-6);
        let varying = (0..p).filter(|&k| self.row_moments.variance[k] > 0.0);
        let psi = found.parameters.noise.diagonal();
        let floor = varying.filter(|&k| low(k, psi[k])).count();
        if floor > 0 {
            out.push(format!("the noise variance of {floor} of {p} columns is at its lower bound, psi_min"));
        }
        if l as f64 >= rows.n_samples() {
            out.push(format!(
                "{l} units for {} rows: there are at least as many units as rows, so that they may fit noise",
                rows.n_samples()
            ));
        }
        out.extend(certificate_warning(found.more.get("certificate")));
        if found.jittered > 0 {
            out.push(format!(
                "the second moments of the codes were numerically singular in {}, and were regularised by at most 1e-6 of \
                 their mean",
                counted(found.jittered, "iteration")
            ));
        }
        out
    }

    fn tensors(&self, found: &FitResult, order: &[usize]) -> Tensors {
        let (p, l, dtype) = (self.row_moments.center.len(), order.len(), self.row_moments.dtype);
        let w = &found.parameters.w;
        let constant = |k: usize| self.row_moments.variance[k] == 0.0;
        let components = Matrix::from_fn(l, p, |i, k| w[(k, order[i])]);
        let s = found.stats.second_moments(&found.posterior);
        let moments = Matrix::from_fn(l, l, |i, j| s[(order[i], order[j])]);
        let scale: Vec<f64> = order.iter().map(|&j| found.scale[j]).collect();
        let mut named = vec![
            ("components", Tensor::matrix(&components, dtype)),
            ("mean", Tensor::vector(&self.row_moments.center, dtype)),
            ("code_moments", Tensor::matrix(&moments, dtype)),
            ("code_scale", Tensor::vector(&scale, Dtype::F64)),
            ("prior", Tensor::vector(&[self.prior.mean, self.prior.variance], Dtype::F64)),
        ];
        named.push(match &found.parameters.noise {
            Noise::Diagonal(psi) => {
                let psi: Vec<f64> = (0..p).map(|k| if constant(k) { 0.0 } else { psi[k] }).collect();
                ("noise_variance", Tensor::vector(&psi, dtype))
            }
            Noise::Full(psi) => {
                let entry = |k: usize, q: usize| if constant(k) || constant(q) { 0.0 } else { psi[(k, q)] };
                ("noise_covariance", Tensor::matrix(&Matrix::from_fn(p, p, entry), dtype))
            }
        });
        if self.spec.e_step == super::EStep::Plain {
            let b = &found.posterior.b;
            let weight = Matrix::from_fn(l, p, |i, k| b[(k, order[i])] * scale[i]);
            let offset: Vec<f64> = (0..l).map(|i| found.posterior.bias[order[i]] * scale[i]).collect();
            let bias: Vec<f64> = (0..l)
                .map(|i| {
                    let about: f64 =
                        weight.row(i).iter().zip(&self.row_moments.center).map(|(w, c)| w * c).sum();
                    offset[i] - about
                })
                .collect();
            named.push(("encoder_weight", Tensor::matrix(&weight, dtype)));
            named.push(("encoder_bias", Tensor::vector(&bias, dtype)));
            named.push(("encoder_offset", Tensor::vector(&offset, dtype)));
        }
        named.into_iter().map(|(name, tensor)| (name.to_string(), tensor)).collect()
    }
}

fn dead(found: &FitResult) -> usize {
    found.scale.iter().filter(|d| **d == 0.0).count()
}

/// Loadings and noise; constant columns have noise 0 in a file, and 1 here.
fn parameters(tensors: &Tensors) -> Result<(Parameters, Prior, Vec<bool>)> {
    let components = require(tensors, "components", &[None, None])?;
    let p = components.shape()[1];
    let prior = require(tensors, "prior", &[Some(2)])?.f64s();
    let prior = Prior { mean: prior[0], variance: prior[1] };
    let (noise, varying) = match tensors.contains_key("noise_covariance") {
        true => {
            let mut psi = require(tensors, "noise_covariance", &[Some(p), Some(p)])?.to_matrix();
            let varying: Vec<bool> = (0..p).map(|k| psi[(k, k)] > 0.0).collect();
            (0..p).filter(|&k| !varying[k]).for_each(|k| psi[(k, k)] = 1.0);
            (Noise::Full(psi), varying)
        }
        false => {
            let mut psi = require(tensors, "noise_variance", &[Some(p)])?.f64s();
            let varying: Vec<bool> = psi.iter().map(|x| *x > 0.0).collect();
            psi.iter_mut().filter(|x| **x <= 0.0).for_each(|x| *x = 1.0);
            (Noise::Diagonal(psi), varying)
        }
    };
    if prior.variance.is_nan() || prior.variance <= 0.0 || !varying.contains(&true) {
        return Err(corrupt());
    }
    Ok((Parameters { w: components.to_matrix().transposed(), noise }, prior, varying))
}

fn corrupt() -> Error {
    Error::corrupt_model("its noise or prior is invalid")
}

/// The encoder of the fit, and the linear decoder.
pub(super) fn code(settings: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    let components = require(tensors, "components", &[None, None])?;
    let (l, p) = (components.shape()[0], components.shape()[1]);
    let mean = require(tensors, "mean", &[Some(p)])?.clone();
    let decoder = LinearDecoder::new(mean.clone(), components.to_matrix());
    if settings.get("e_step").and_then(Value::as_str).unwrap_or("plain") == "plain" {
        let weight = require(tensors, "encoder_weight", &[Some(l), Some(p)])?.to_matrix();
        let offset = require(tensors, "encoder_offset", &[Some(l)])?.f64s();
        return Code::new(Gate::new(mean, weight.transposed(), offset), decoder);
    }
    let (parameters, prior, _) = parameters(tensors)?;
    let scale = require(tensors, "code_scale", &[Some(l)])?.f64s();
    let a = parameters.posterior(prior)?.a;
    let g = parameters.precision(&a, prior);
    let tol = match components.values().dtype() {
        Dtype::F32 => 1e-4,
        Dtype::F64 => 1e-8,
    };
    Code::new(NonNegative::new(mean, a, prior.mean / prior.variance, g, scale, tol), decoder)
}

/// The Gaussian of the rows, `N(mean + W xi, T W W' + Psi)`, without the constant columns.
pub(super) fn density(tensors: &Tensors) -> Result<Gaussian> {
    let (Parameters { w, noise }, prior, varying) = parameters(tensors)?;
    let (p, l) = (w.rows(), w.cols());
    let mean = require(tensors, "mean", &[Some(p)])?.f64s();
    let mean = (0..p).map(|k| mean[k] + prior.mean * w.row(k).iter().sum::<f64>()).collect();
    match noise {
        Noise::Diagonal(psi) => {
            let unit: Vec<f64> = (0..p).map(|k| if varying[k] { psi[k].sqrt() } else { 0.0 }).collect();
            let root = prior.variance.sqrt();
            let scaled =
                Matrix::from_fn(l, p, |j, k| if varying[k] { root * w[(k, j)] / unit[k] } else { 0.0 });
            let (singular, axes) = directions(&scaled)?;
            let variance = singular.iter().map(|s| 1.0 + s * s).collect();
            Ok(Gaussian { mean, noise_scale: Some(unit), axes, variance, noise: 1.0 })
        }
        Noise::Full(psi) => {
            let kept: Vec<usize> = (0..p).filter(|&k| varying[k]).collect();
            let all = factor::multiply_transposed(&w, &w);
            let covariance = Matrix::from_fn(kept.len(), kept.len(), |i, j| {
                let (k, q) = (kept[i], kept[j]);
                prior.variance * all[(k, q)] + psi[(k, q)]
            });
            let (values, vectors) = factor::eigh(&covariance)?;
            let least = values[values.len() - 1];
            if least.is_nan() || least <= 0.0 {
                return Err(corrupt());
            }
            let mut axes = Matrix::zeros(kept.len(), p);
            for i in 0..kept.len() {
                for (j, &k) in kept.iter().enumerate() {
                    axes[(i, k)] = vectors[(i, j)];
                }
            }
            let unit = (0..p).map(|k| if varying[k] { least.sqrt() } else { 0.0 }).collect();
            let variance = values.iter().map(|v| v / least).collect();
            Ok(Gaussian { mean, noise_scale: Some(unit), axes, variance, noise: 1.0 })
        }
    }
}

/// Singular values of `a`, and its right singular vectors as rows: as many as its smaller dimension.
fn directions(a: &Matrix<f64>) -> Result<(Vec<f64>, Matrix<f64>)> {
    if a.rows() >= a.cols() {
        return factor::svd_right(a);
    }
    let (q, triangle) = factor::orthonormal_rows_and_triangle(a);
    let (singular, right) = factor::svd_right(&triangle)?;
    Ok((singular, factor::multiply(&right, &q)))
}

/// The warning of a guaranteed mode that the codes of the fit are not those that a transform of its rows computes.
fn certificate_warning(certificate: Option<&Value>) -> Option<String> {
    let certificate = certificate?;
    let (violation, tol) = (certificate["violation"].as_f64()?, certificate["tol"].as_f64()?);
    let why = match certificate["clipped"].as_bool()? {
        true => "the problem that transform solves is convex only with smaller scales of the codes than those of the fit".into(),
        false => format!("{} final rounds were too few", certificate["rounds"]),
    };
    (violation > tol).then(|| {
        format!(
            "first-order conditions of the final codes hold to {violation:.1e}, not to {tol:.0e}, so transform of the rows of the fit gives other codes: {why}"
        )
    })
}
