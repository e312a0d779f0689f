//! The model of a maximum-likelihood fit, and its encoder, decoder and density.

use super::goodness::goodness;
use super::rotation::{Rotated, rotate};
use super::row_moments::RowMoments;
use super::search::{Problem, SearchResult};
use super::settings::{FactorAlgorithm, FactorAnalysis};
use super::{METHOD, determined, likelihood::Moments};
use crate::data::Features;
use crate::error::Result;
use crate::model::{
    Arrangement, Code, Gaussian, Linear, LinearDecoder, LinearParameters, Model, PosteriorMean, Report,
    Tensor, Tensors, constant_columns, require,
};
use crate::num::{Matrix, factor, pseudo_inverse};
use crate::run::Run;
use serde_json::{Map, Value};

/// Result of a fit.
pub(super) struct Fitted<'a> {
    pub(super) row_moments: &'a RowMoments,
    pub(super) problem: &'a Problem<'a>,
    pub(super) found: SearchResult,
    /// Number of components requested.
    pub(super) q: usize,
    pub(super) features: &'a Features,
}

/// Factors in the units of the columns that are modelled.
struct Factors {
    /// Loadings, `q x p`.
    loadings: Matrix<f64>,
    /// `M'^-1`, `q x q`, where factors were rotated: codes are multiplied by it.
    rotation: Option<Matrix<f64>>,
    correlation: Matrix<f64>,
    variance: Vec<f64>,
    /// Whether the rotation has not converged, because the run ended early.
    cut: bool,
}

impl FactorAnalysis {
    pub(super) fn model(&self, fitted: &Fitted<'_>, run: &Run<'_>) -> Result<Model> {
        let Fitted { row_moments, found, q, features, .. } = fitted;
        let dtype = row_moments.dtype;
        let settings = crate::method::as_map(self);
        let mut report = Report::closed_form(
            self.solver(row_moments),
            row_moments.n,
            row_moments.mean.len(),
            dtype,
            run.seed,
        );
        report.outcome = found.outcome;
        report.n_iter = found.n_iter.max(1);
        report.objective = found.log_likelihood.clone();
        (report.residual, report.tol) = (Some(found.residual), Some(self.tol));
        report.n_constant = row_moments.n_constant;
        report.tell_rounding();
        let heywood = heywood(row_moments, fitted.problem, &found.point.log_psi);
        report.fit = Some(Value::Object(goodness(row_moments, found, (*q, heywood.len()))?));
        report.not_comparable =
            (!determined(row_moments.varying.len() as f64, *q as f64)).then_some(NOT_DETERMINED);
        report.warnings.extend(warnings(&WarningInput {
            row_moments,
            features,
            heywood: &heywood,
            q: *q,
            k: found.point.k.min(*q),
            by_likelihood: true,
            collinear: &row_moments.collinear()?,
        }));
        let by_variance = self.rotation.is_some() && !self.standardize && !self.rotation_normalize;
        if by_variance && found.point.k.min(*q) > 1 {
            report.warnings.extend(rotation_by_variance(row_moments, features));
        }
        if let Some(gaps) = &row_moments.gaps {
            (report.rows_checksum, report.sweeps) = (Some(gaps.checksum), gaps.sweeps);
            if gaps.empty > 0.0 {
                let (have, are) = if gaps.empty == 1.0 { ("row has", "is") } else { ("rows have", "are") };
                report.warnings.push(format!("{} {have} no observed cell and {are} ignored", gaps.empty));
            }
        }
        report.settings = settings.clone();
        report.settings.insert("n_components".into(), (*q).into());
        let (tensors, cut) = self.tensors(fitted, run)?;
        if cut {
            report.outcome = run.early_outcome();
        }
        report.end(run);
        Model::fitted(&METHOD, settings, (*features).clone(), 0, tensors, report)
    }

    fn solver(&self, row_moments: &RowMoments) -> &'static str {
        match (self.algorithm, &row_moments.moments) {
            _ if row_moments.gaps.is_some() => "em",
            (FactorAlgorithm::Em, _) => "em",
            (_, Moments::Table(_)) => "newton",
            (_, Moments::Columns(_)) => "gram",
        }
    }

    /// The parameters, and whether their rotation was shortened because the run ended early.
    fn tensors(&self, fitted: &Fitted<'_>, run: &Run<'_>) -> Result<(Tensors, bool)> {
        let Fitted { row_moments, problem, found, q, .. } = fitted;
        let (p, q, point, dtype) = (row_moments.mean.len(), *q, &found.point, row_moments.dtype);
        let psi = point.psi();
        // Units of the loadings in those of the data.
        let units: Vec<f64> =
            if self.standardize { vec![1.0; psi.len()] } else { row_moments.scales.clone() };
        let found_loadings = point.loadings();
        let mut axes = Matrix::zeros(q, p);
        let mut loadings = Matrix::zeros(q, p);
        let mut decoder = Matrix::zeros(q, p);
        for j in 0..point.k.min(q) {
            for (i, &column) in row_moments.varying.iter().enumerate() {
                axes[(j, column)] = point.w[(j, i)];
                loadings[(j, column)] = found_loadings[(j, i)] * units[i];
                decoder[(j, column)] = found_loadings[(j, i)] * row_moments.scales[i];
            }
        }
        // Canonical signs of the factors before rotation.
        let still = Arrangement::new((0..q).collect(), &decoder, dtype.eps());
        let (axes, loadings) = (still.rows(&axes), still.rows(&loadings));
        let unit = (units.iter().map(|u| u * u).sum::<f64>() / units.len() as f64).sqrt();
        let scales = row_moments.spread(&row_moments.scales, 1.0);
        let in_units = |loadings: &Matrix<f64>| match self.standardize {
            true => Matrix::from_fn(q, p, |j, i| loadings[(j, i)] * scales[i]),
            false => loadings.clone(),
        };
        let factors = self.rotated(loadings, point.k.min(q), (unit, dtype.eps()), &in_units, run)?;
        let roots: Vec<f64> = psi.iter().zip(&row_moments.scales).map(|(psi, s)| psi.sqrt() * s).collect();
        let scale: Vec<f64> = (0..q).map(|j| if j < point.k { point.theta[j].sqrt() } else { 1.0 }).collect();
        let noise: Vec<f64> = psi.iter().zip(&units).map(|(psi, u)| psi * u * u).collect();
        // The decoder is in the units of the data.
        let in_units = in_units(&factors.loadings);
        let shares: Vec<f64> = psi
            .iter()
            .enumerate()
            .map(|(i, psi)| {
                let common: f64 = (0..found_loadings.rows()).map(|j| found_loadings[(j, i)].powi(2)).sum();
                common / (common + psi)
            })
            .collect();
        let heywood = heywood(row_moments, problem, &point.log_psi);
        let heywood: Vec<f64> = heywood.into_iter().map(|j| j as f64).collect();
        let described = LinearParameters {
            components: &factors.loadings,
            mean: &row_moments.mean,
            decoder: Some(&in_units),
            axes: Some(&axes),
            scale: Some(&scale),
            noise_scale: Some(&row_moments.spread(&roots, 0.0)),
            second_rotation: factors.rotation.as_ref(),
        };
        let own = [
            ("noise_variance", Tensor::vector(&row_moments.spread(&noise, 0.0), dtype)),
            ("communalities", Tensor::vector(&row_moments.spread(&shares, 0.0), dtype)),
            ("factor_correlation", Tensor::matrix(&factors.correlation, dtype)),
            ("component_variance", Tensor::vector(&factors.variance, dtype)),
            ("heywood", Tensor::vector(&heywood, dtype)),
        ];
        Ok((described.tensors(dtype, own), factors.cut))
    }

    /// The factors according to the settings: rotated, ordered by decreasing sum of squared loadings, with the canonical signs of their decoder
    /// vectors, which are `in_units` of the data. Only the first `k` have nonzero loadings.
    fn rotated(
        &self,
        loadings: Matrix<f64>,
        k: usize,
        (unit, eps): (f64, f64),
        in_units: &dyn Fn(&Matrix<f64>) -> Matrix<f64>,
        run: &Run<'_>,
    ) -> Result<Factors> {
        let q = loadings.rows();
        let identity = Matrix::from_fn(q, q, |i, j| f64::from(u8::from(i == j)));
        let squares = |l: &Matrix<f64>, j: usize| l.row(j).iter().map(|x| x * x).sum::<f64>();
        let Some(how) = self.rotation else {
            let variance = (0..q).map(|j| squares(&loadings, j)).collect();
            return Ok(Factors { loadings, rotation: None, correlation: identity, variance, cut: false });
        };
        let scaled = Matrix::from_fn(k, loadings.cols(), |j, i| loadings[(j, i)] / unit);
        let Rotated { matrix: m, cut } = rotate(&scaled, how, self.rotation_normalize, run)?;
        let padded = Matrix::from_fn(q, q, |i, j| if i < k && j < k { m[(i, j)] } else { identity[(i, j)] });
        let rotated = factor::multiply(&padded.transposed(), &loadings);
        // The matrix that codes are multiplied by and the correlations of the factors follow from the inverse, the transpose for a rotation.
        let inverse = if how.is_oblique() { pseudo_inverse(&padded)? } else { padded.transposed() };
        let rotation = inverse.transposed();
        let correlation = match how.is_oblique() {
            true => {
                let phi = factor::multiply_transposed(&inverse, &inverse);
                Matrix::from_fn(q, q, |i, j| if i == j { 1.0 } else { 0.5 * (phi[(i, j)] + phi[(j, i)]) })
            }
            false => identity,
        };
        let products = factor::multiply_transposed(&rotated, &rotated);
        let variance: Vec<f64> =
            (0..q).map(|j| (0..q).map(|l| correlation[(j, l)] * products[(l, j)]).sum()).collect();
        let arranged = Arrangement::by_variance(&variance, &in_units(&rotated), eps);
        let rotation = arranged.rows(&rotation.transposed()).transposed();
        let correlation = arranged.rows(&arranged.rows(&correlation).transposed());
        Ok(Factors {
            loadings: arranged.rows(&rotated),
            rotation: Some(rotation),
            correlation,
            variance: arranged.values(&variance),
            cut,
        })
    }
}

/// Why no rule selects more factors than the Ledermann bound allows.
const NOT_DETERMINED: &str = "they are more than the Ledermann bound allows, so that loadings and uniquenesses are not determined by the covariance";

/// Columns whose uniqueness is at its lower bound.
pub(super) fn heywood(row_moments: &RowMoments, problem: &Problem<'_>, log_psi: &[f64]) -> Vec<usize> {
    let at_floor = |i: &usize| log_psi[*i] <= problem.low[*i];
    (0..row_moments.varying.len()).filter(at_floor).map(|i| row_moments.varying[i]).collect()
}

/// Input of the warnings.
pub(super) struct WarningInput<'a> {
    pub(super) row_moments: &'a RowMoments,
    pub(super) features: &'a Features,
    /// Columns whose uniqueness is at the floor.
    pub(super) heywood: &'a [usize],
    /// Number of factors requested, and of those with nonzero loadings.
    pub(super) q: usize,
    pub(super) k: usize,
    /// Whether the likelihood alone determines the loadings.
    pub(super) by_likelihood: bool,
    /// Sets of collinear columns, as positions among those that vary.
    pub(super) collinear: &'a [Vec<usize>],
}

pub(super) fn warnings(of: &WarningInput<'_>) -> Vec<String> {
    let &WarningInput { row_moments, features, heywood: at_floor, q, k, by_likelihood, collinear } = of;
    let (p, v) = (row_moments.mean.len(), row_moments.varying.len());
    let mut out: Vec<String> = constant_columns(row_moments.n_constant, p, "loadings").into_iter().collect();
    const SETS: usize = 8;
    for set in collinear.iter().take(SETS) {
        let columns: Vec<usize> = set.iter().map(|&i| row_moments.varying[i]).collect();
        out.push(format!(
            "columns {} are collinear: each is a linear combination of the others; leave one of them out",
            features.listed(&columns)
        ));
    }
    if collinear.len() > SETS {
        out.push(format!("{} more sets of columns are collinear", collinear.len() - SETS));
    }
    if !at_floor.is_empty() {
        out.push(format!(
            "Heywood cases: the uniqueness of {} {} is at noise_floor, below which the likelihood rises further; fit fewer \
             factors, or leave out columns that repeat others",
            if at_floor.len() == 1 { "column" } else { "columns" },
            features.listed(at_floor)
        ));
    }
    if k < q {
        let have = if k == 1 { "has" } else { "have" };
        out.push(format!(
            "{k} of {q} factors {have} nonzero loadings: the others would not increase the likelihood"
        ));
    }
    let (free, all) = (v as f64 - q as f64, (v + q) as f64);
    if by_likelihood && q > 0 && free * free < all {
        out.push(format!(
            "{q} factors of {v} columns that vary are more than the Ledermann bound allows: loadings and uniquenesses are not \
             determined by \
             the covariance; fit fewer factors"
        ));
    }
    out
}

/// Share of the variance of all columns above which one determines a rotation of raw loadings.
const DOMINANT_SHARE: f64 = 0.5;

/// The warning that one column determines the rotation by its variance.
fn rotation_by_variance(row_moments: &RowMoments, features: &Features) -> Option<String> {
    let variances: Vec<f64> = row_moments.scales.iter().map(|scale| scale * scale).collect();
    let total: f64 = variances.iter().sum();
    let most = variances.iter().position(|v| variances.len() > 2 && *v > DOMINANT_SHARE * total)?;
    Some(format!(
        "the rotation weights columns by their variance, of which column {} has {:.0} %: choose standardize=true, or \
         rotation_normalize=true",
        features.listed(&[row_moments.varying[most]]),
        (100.0 * variances[most] / total).floor()
    ))
}

/// Encoder `y = (x - mean) diag(1/noise) W diag(1/scale) V` with the scale of the scores; decoder by the loadings.
pub(super) fn code(settings: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    if !tensors.contains_key("rotation") {
        return super::posterior::code(settings, tensors);
    }
    let components = require(tensors, "components", &[None, None])?;
    let (k, p) = (components.shape()[0], components.shape()[1]);
    let mean = require(tensors, "mean", &[Some(p)])?.clone();
    let axes = axes(tensors)?;
    // Axes are 0 in columns that do not vary.
    let noise = require(tensors, "noise_scale", &[Some(p)])?.f64s();
    let noise: Vec<f64> = noise.into_iter().map(|s| if s > 0.0 { s } else { 1.0 }).collect();
    let bartlett = settings.get("scores").and_then(Value::as_str) == Some("bartlett");
    let shrunk = |s: f64| match s * s - 1.0 {
        above if above > 0.0 => {
            if bartlett {
                above.sqrt()
            } else {
                s * s / above.sqrt()
            }
        }
        _ => 0.0,
    };
    let scale: Vec<f64> = require(tensors, "scale", &[Some(k)])?.f64s().into_iter().map(shrunk).collect();
    let rotation = match tensors.contains_key("second_rotation") {
        true => Some(require(tensors, "second_rotation", &[Some(k), Some(k)])?.to_matrix()),
        false => None,
    };
    let encoder =
        Linear { noise: Some(&noise), axes: &axes, scale: Some(&scale), rotation: rotation.as_ref() }
            .encoder();
    let mixing = require(tensors, "mixing", &[Some(p), Some(k)])?.f64s();
    let of = density(tensors)?.factors_of(k);
    let kept = of.n_factors().min(scale.iter().filter(|s| **s != 0.0).count());
    let mut posterior = PosteriorMean::new(mean.clone(), encoder, of);
    if let Some(rotation) = rotation {
        posterior = posterior.rotated(rotation);
    }
    if bartlett {
        posterior = posterior.unshrunk(kept);
    }
    Code::new(posterior, LinearDecoder::new(mean, Matrix::from_vec(p, k, mixing).transposed()))
}

/// The axes before the rotation of the factors, `k x p`; `k` may be 0.
fn axes(tensors: &Tensors) -> Result<Matrix<f64>> {
    let rotation = require(tensors, "rotation", &[None, None])?;
    let (p, k) = (rotation.shape()[0], rotation.shape()[1]);
    Ok(Matrix::from_vec(p, k, rotation.f64s()).transposed())
}

/// The Gaussian of the rows, `loadings' correlation loadings + diag(psi)`, in units in which the noise is 1.
pub(super) fn density(tensors: &Tensors) -> Result<Gaussian> {
    if !tensors.contains_key("rotation") {
        return super::posterior::density(tensors);
    }
    let axes = axes(tensors)?;
    let (k, p) = (axes.rows(), axes.cols());
    let scale = require(tensors, "scale", &[Some(k)])?.f64s();
    let kept = scale.iter().take_while(|s| **s > 1.0).count();
    Ok(Gaussian {
        mean: require(tensors, "mean", &[Some(p)])?.f64s(),
        noise_scale: Some(require(tensors, "noise_scale", &[Some(p)])?.f64s()),
        axes: axes.top_rows(kept),
        variance: scale[..kept].iter().map(|s| s * s).collect(),
        noise: 1.0,
    })
}
