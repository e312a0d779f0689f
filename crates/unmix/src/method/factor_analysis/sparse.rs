//! Fits with a prior of the loadings or of the factors: from rows or sums to a model.

use super::goodness;
use super::model::{WarningInput, heywood, warnings};
use super::rotation::rotate;
use super::row_moments::RowMoments;
use super::search::Problem;
use super::settings::{FactorAnalysis, FactorPrior, NoiseFloor, Rotation};
use super::{METHOD, determined, factors::ScaledRows};
use crate::choices::Automatic;
use crate::data::{Features, Rows};
use crate::error::{Error, Result};
use crate::model::{Arrangement, LinearParameters, Model, Report, Tensor, Tensors};
use crate::num::random::Stream;
use crate::num::{Matrix, Real, factor};
use crate::run::{Outcome, Run};
use crate::spectrum::Components;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Parameters in units in which columns have variance 1.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ScaledParameters {
    /// Loadings, `q x p`.
    pub(super) loadings: Matrix<f64>,
    /// Logarithms of the uniquenesses.
    pub(super) log_psi: Vec<f64>,
}

impl ScaledParameters {
    /// Loadings divided by the roots of the uniquenesses.
    pub(super) fn scaled(&self) -> Matrix<f64> {
        let (q, p) = (self.loadings.rows(), self.loadings.cols());
        Matrix::from_fn(q, p, |j, i| self.loadings[(j, i)] * (-0.5 * self.log_psi[i]).exp())
    }

    /// Loadings divided by the uniquenesses.
    pub(super) fn over_psi(&self) -> Matrix<f64> {
        let (q, p) = (self.loadings.rows(), self.loadings.cols());
        Matrix::from_fn(q, p, |j, i| self.loadings[(j, i)] * (-self.log_psi[i]).exp())
    }
}

/// Result of the iterations.
pub(super) struct PriorResult {
    pub(super) at: ScaledParameters,
    /// Mean of `E[z z']` over the rows, with a prior of the factors.
    pub(super) second: Option<Matrix<f64>>,
    pub(super) outcome: Outcome,
    pub(super) n_iter: u64,
    pub(super) residual: f64,
    pub(super) objective: Vec<f64>,
    pub(super) log_likelihood: Option<f64>,
}

impl FactorAnalysis {
    /// The model of `q` factors under the prior of the settings.
    pub(super) fn fit_prior<T: Real>(
        &self,
        row_moments: &RowMoments,
        q: usize,
        rows: Option<&Rows<'_, T>>,
        features: &Features,
        run: &Run<'_>,
    ) -> Result<Model> {
        let plain = match self.noise_floor {
            NoiseFloor::Auto(Automatic::Auto) if self.prior.of_factors() => {
                Self { noise_floor: NoiseFloor::Share(0.01), ..self.clone() }
            }
            _ => self.clone(),
        };
        let left = row_moments.moments.left_by_others(row_moments.dtype.eps());
        let problem = Problem::new(
            &plain,
            &row_moments.moments,
            left.as_deref(),
            row_moments.n,
            q,
            &row_moments.scales,
        );
        let held = match rows.filter(|_| self.prior.of_factors()) {
            Some(rows) => Some(ScaledRows::of(rows, row_moments, q, run)?),
            None => None,
        };
        let start = plain.sparse_start(row_moments, &problem, (q, held.as_ref()), run)?;
        let searched = match &held {
            Some(held) => self.searched_factors(held, row_moments, &problem, start, run)?,
            None => self.searched_lasso(row_moments, &problem, start, run)?,
        };
        self.sparse_model(row_moments, &problem, &searched, features, run)
    }

    /// Initial values: those of a given model; or the maximum-likelihood loadings if the covariance determines them, by varimax for sparse
    /// loadings and, with a prior of the factors, rotated to the largest fourth moments of the codes of the rows `held`; otherwise random
    /// loadings.
    fn sparse_start(
        &self,
        row_moments: &RowMoments,
        problem: &Problem<'_>,
        (q, held): (usize, Option<&ScaledRows>),
        run: &Run<'_>,
    ) -> Result<ScaledParameters> {
        let v = row_moments.varying.len();
        // A number that a rule has chosen may exceed that of the model, whose start is then not used.
        let least = if matches!(self.n_components, Components::Rule(_)) { 0 } else { q };
        let start = run.initial_components(row_moments.mean.len(), least)?;
        let given = start.filter(|components| components.rows() >= q).map(|components| {
            let unit = |i: usize| if self.standardize { 1.0 } else { row_moments.scales[i] };
            Matrix::from_fn(q, v, |j, i| components[(j, row_moments.varying[i])] / unit(i))
        });
        // A factor with density exp(-|z|) / 2 has variance 2.
        let size = if self.prior == FactorPrior::Laplace { 0.5f64.sqrt() } else { 1.0 };
        let draws = Stream::new(run.seed, 0);
        let random = |j: usize, i: usize| 0.3 * draws.normal((j * v + i) as u64);
        let loadings = match given {
            Some(given) => given,
            None if q > 0 && determined(v as f64, q as f64) => {
                let (_, found) = self.searched(row_moments, q, run)?;
                let loadings = found.point.loadings();
                let rotation = match held {
                    Some(held) => rotate(&held.white(&found.point), Rotation::Quartimax, false, run)?,
                    None => rotate(&loadings, Rotation::Varimax, false, run)?,
                };
                let rotated = factor::multiply(&rotation.matrix.transposed(), &loadings);
                let of = |j: usize, i: usize| if j < rotated.rows() { rotated[(j, i)] } else { random(j, i) };
                Matrix::from_fn(q, v, |j, i| size * of(j, i))
            }
            None => Matrix::from_fn(q, v, random),
        };
        let common = |i: usize| (0..q).map(|j| loadings[(j, i)].powi(2)).sum::<f64>() / (size * size);
        let mut log_psi: Vec<f64> = match (&self.noise_variance_init, q) {
            (_, 0) => vec![0.0; v],
            (Some(given), _) => {
                let unit = |i: usize| if self.standardize { 1.0 } else { row_moments.scales[i].powi(2) };
                (0..v)
                    .map(|i| (given[row_moments.varying[i]] / unit(i)).max(f64::MIN_POSITIVE).ln())
                    .collect()
            }
            (None, _) => (0..v).map(|i| (1.0 - common(i)).max(0.2).ln()).collect(),
        };
        problem.clip(&mut log_psi);
        Ok(ScaledParameters { loadings, log_psi })
    }

    fn sparse_model(
        &self,
        row_moments: &RowMoments,
        problem: &Problem<'_>,
        found: &PriorResult,
        features: &Features,
        run: &Run<'_>,
    ) -> Result<Model> {
        let settings = crate::method::as_map(self);
        let q = found.at.loadings.rows();
        let solver = if self.prior.of_factors() { "variational-em" } else { "lasso-em" };
        let mut report =
            Report::closed_form(solver, row_moments.n, row_moments.mean.len(), row_moments.dtype, run.seed);
        report.outcome = found.outcome;
        report.n_iter = found.n_iter.max(1);
        report.objective = found.objective.clone();
        (report.residual, report.tol) = (Some(found.residual), Some(self.tol));
        report.n_constant = row_moments.n_constant;
        report.tell_rounding();
        report.fit = Some(Value::Object(self.fit_of_prior(row_moments, found)));
        let lengths = |j: &usize| found.at.loadings.row(*j).iter().any(|x| *x != 0.0);
        let heywood = heywood(row_moments, problem, &found.at.log_psi);
        report.warnings.extend(warnings(&WarningInput {
            row_moments,
            features,
            heywood: &heywood,
            q,
            k: (0..q).filter(lengths).count(),
            by_likelihood: false,
            collinear: &row_moments.collinear()?,
        }));
        report.settings = settings.clone();
        report.settings.insert("n_components".into(), q.into());
        let tensors = self.sparse_tensors(row_moments, found, &heywood);
        report.end(run);
        Model::fitted(&METHOD, settings, features.clone(), 0, tensors, report)
    }

    /// Statistics of the fit: the likelihood and its criteria, with nonzero loadings, means and uniquenesses as parameters. No tests.
    fn fit_of_prior(&self, row_moments: &RowMoments, found: &PriorResult) -> Map<String, Value> {
        let kept = found.at.loadings.as_slice().iter().filter(|x| **x != 0.0).count();
        let parameters = (kept + 2 * row_moments.varying.len()) as f64;
        let (mut out, likelihood) = (Map::new(), found.log_likelihood);
        let mut put =
            |name: &str, x: Option<f64>| out.insert(name.into(), x.map_or(Value::Null, Value::from));
        put("log_likelihood", likelihood);
        put("aic", likelihood.map(|l| -2.0 * l + 2.0 * parameters));
        put("bic", likelihood.map(|l| -2.0 * l + row_moments.n.ln() * parameters));
        goodness::NAMES.iter().for_each(|name| {
            put(name, None);
        });
        out.insert(
            "tests".into(),
            "none, because the fit maximises a posterior density or a bound, not the likelihood".into(),
        );
        out
    }

    fn sparse_tensors(&self, row_moments: &RowMoments, found: &PriorResult, heywood: &[usize]) -> Tensors {
        let (p, q, dtype) = (row_moments.mean.len(), found.at.loadings.rows(), row_moments.dtype);
        // The scale of a factor under Jeffreys' prior is arbitrary: codes get mean square 1.
        let root = |j: usize| match (&found.second, self.prior) {
            (Some(second), FactorPrior::Jeffreys) if second[(j, j)] > 0.0 => second[(j, j)].sqrt(),
            (Some(_), FactorPrior::Jeffreys) => 0.0,
            _ => 1.0,
        };
        let at = Matrix::from_fn(q, row_moments.varying.len(), |j, i| found.at.loadings[(j, i)] * root(j));
        let second = |i: usize, j: usize| match &found.second {
            Some(second) if root(i) > 0.0 && root(j) > 0.0 => second[(i, j)] / root(i) / root(j),
            Some(_) => 0.0,
            None => f64::from(u8::from(i == j)),
        };
        let (mut loadings, mut decoder) = (Matrix::zeros(q, p), Matrix::zeros(q, p));
        for (i, &column) in row_moments.varying.iter().enumerate() {
            for j in 0..q {
                decoder[(j, column)] = at[(j, i)] * row_moments.scales[i];
                loadings[(j, column)] = if self.standardize { at[(j, i)] } else { decoder[(j, column)] };
            }
        }
        let variance: Vec<f64> =
            (0..q).map(|j| second(j, j) * loadings.row(j).iter().map(|x| x * x).sum::<f64>()).collect();
        let arranged = Arrangement::by_variance(&variance, &decoder, dtype.eps());
        let psi: Vec<f64> = found.at.log_psi.iter().map(|x| x.exp()).collect();
        let share = |i: usize| {
            let across = |j: usize| (0..q).map(|l| second(j, l) * at[(l, i)]).sum::<f64>();
            let common: f64 = (0..q).map(|j| at[(j, i)] * across(j)).sum();
            common / (common + psi[i])
        };
        let shares: Vec<f64> = (0..psi.len()).map(share).collect();
        let unit = |i: usize| if self.standardize { 1.0 } else { row_moments.scales[i] };
        let noise: Vec<f64> = psi.iter().enumerate().map(|(i, psi)| psi * unit(i) * unit(i)).collect();
        let roots: Vec<f64> = psi.iter().zip(&row_moments.scales).map(|(psi, s)| psi.sqrt() * s).collect();
        let (components, decoder) = (arranged.rows(&loadings), arranged.rows(&decoder));
        let identity = Matrix::from_fn(q, q, |i, j| f64::from(u8::from(i == j)));
        let heywood: Vec<f64> = heywood.iter().map(|j| *j as f64).collect();
        let described = LinearParameters {
            components: &components,
            mean: &row_moments.mean,
            decoder: Some(&decoder),
            axes: None,
            scale: None,
            noise_scale: Some(&row_moments.spread(&roots, 0.0)),
            second_rotation: None,
        };
        let own = [
            ("noise_variance", Tensor::vector(&row_moments.spread(&noise, 0.0), dtype)),
            ("communalities", Tensor::vector(&row_moments.spread(&shares, 0.0), dtype)),
            ("factor_correlation", Tensor::matrix(&identity, dtype)),
            ("component_variance", Tensor::vector(&arranged.values(&variance), dtype)),
            ("heywood", Tensor::vector(&heywood, dtype)),
        ];
        let mut tensors = described.tensors(dtype, own);
        if self.prior.of_factors() {
            let variances: Vec<f64> = (0..q).map(|j| second(j, j)).collect();
            tensors.insert("factor_variance".into(), Tensor::vector(&arranged.values(&variances), dtype));
        }
        tensors
    }
}

/// Refuses sums if the factors have a prior, because their posteriors need the rows.
pub(super) fn needs_rows(prior: FactorPrior) -> Result<()> {
    match prior.of_factors() {
        false => Ok(()),
        true => Err(Error::setting(
            "prior",
            serde_json::to_value(prior).unwrap_or_default(),
            "posteriors of the factors need the rows, but the model holds only sums over them, as after incremental fits and merges",
            "fit the rows at once, or choose prior='laplace-loadings' or 'none'",
        )),
    }
}

/// The error for missing cells with a prior.
pub(super) fn needs_cells(prior: FactorPrior, origin: &str) -> Error {
    Error::setting(
        "prior",
        serde_json::to_value(prior).unwrap_or_default(),
        format!("{origin} has missing cells, and a fit with a prior needs complete rows"),
        "choose prior='none', or fill the cells first, as unmix::impute::Imputer does",
    )
}
