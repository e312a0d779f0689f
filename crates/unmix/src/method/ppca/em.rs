//! Expectation-maximisation over the observed cells; every iteration ends with the reduction of the expanded parameters (PX-EM).

use super::model::Estimate;
use super::solution::Problem;
use crate::data::Rows;
use crate::error::Result;
use crate::model::Outcome;
use crate::num::random::Stream;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::solve::{Limits, Steps};
use crate::stats::gaps::{FactorSums, GatherFactors, GatherFilled, LinearGaussian, Maximised, ObservedCells};
use serde::{Deserialize, Serialize};

/// Maximum number of columns for which the initial parameters are computed from a covariance matrix.
const MOST_COLUMNS_OF_COVARIANCE: usize = 2048;

/// Lower bound of the noise variance, as a fraction of the mean variance of a column: at this bound, rows count as free of noise.
const LEAST_NOISE_SHARE: f64 = 1e-12;

/// Lower bound of the initial variances, as a fraction of half the mean variance of a column.
const LEAST_VARIANCE_SHARE: f64 = 1e-3;

/// Decrease of the mean log-likelihood of a row, relative to its absolute value or 1, above which it is larger than rounding errors of a regular
/// fit: in exact arithmetic no iteration lowers it. Where the noise tends to 0, the first fall is about 0.01.
const LARGEST_ROUNDING_FALL: f64 = 1e-6;

/// Noise variance, as a fraction of the mean variance of a column, at which posteriors have half of their digits: after a fall of the
/// likelihood, such a noise is singular.
const HALF_OF_DIGITS: f64 = 1.5e-8;

/// Noise variance, as a fraction of the mean variance of a column, below which a fit that has not converged is taken to be on the way to 0:
/// there the likelihood increases without bound, while the noise decreases ever more slowly.
const VANISHING_NOISE_SHARE: f64 = 1e-6;

/// Result of the iterations.
#[derive(Clone, Debug)]
pub(super) struct EmResult {
    pub(super) model: LinearGaussian,
    pub(super) outcome: Outcome,
    pub(super) n_iter: u64,
    pub(super) residual: f64,
    /// Mean log-likelihood of a row under the parameters at the beginning of each iteration; after a fall, under those that are kept.
    pub(super) objective: Vec<f64>,
}

/// Parameters, those before the last iteration, and the log-likelihood of the latter.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    model: LinearGaussian,
    before: Option<LinearGaussian>,
    value: Option<f64>,
    residual: f64,
}

/// The observed cells, and the units of the columns.
pub(super) struct Cells<'a> {
    pub(super) observed: &'a ObservedCells,
    /// Divisor of each column.
    pub(super) unit: &'a [f64],
    /// Lower bound of the noise variance.
    pub(super) floor: f64,
}

impl Cells<'_> {
    /// Mean variance of the columns in their units, over the observed cells.
    pub(super) fn mean_square(&self) -> f64 {
        let each = self.observed.squares.iter().zip(self.unit).map(|(s, u)| s / u / u);
        each.sum::<f64>() / self.observed.n_cells()
    }

    /// Initial parameters with `k` components: the principal axes of the rows, with gaps filled by the means of the columns, for few columns;
    /// random loadings for many. The noise is less than the variance along each axis: iterations make loadings of a smaller variance 0,
    /// where they remain, since that is a stationary point.
    pub(super) fn start<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        k: usize,
        run: &Run<'_>,
    ) -> Result<LinearGaussian> {
        let (p, mut noise) = (self.unit.len(), 0.5 * self.mean_square());
        if let Some(components) = run.initial_components(p, k)? {
            return Ok(self.start_from(components, k, run));
        }
        let in_units = |w: &dyn Fn(usize, usize) -> f64| Matrix::from_fn(p, k, |j, a| w(j, a) * self.unit[j]);
        let loadings = match p <= MOST_COLUMNS_OF_COVARIANCE && k > 0 {
            true => {
                let gather = GatherFilled { mean: self.observed.mean.clone(), unit: self.unit.to_vec() };
                let scatter = rows.sweep(run, "start", &gather)?;
                // Rows without an observed cell add nothing to the sums, and are not counted.
                let n = self.observed.n - self.observed.empty;
                let (values, axes) = factor::eigh(&scatter.lower)?;
                let least = noise * LEAST_VARIANCE_SHARE;
                let variance = |a: usize| (values[a] / n).max(least);
                noise = noise.min(0.5 * variance(k - 1)).max(least).max(self.floor);
                in_units(&|j, a| axes[(a, j)] * variance(a).sqrt())
            }
            false => {
                let draws = Stream::new(run.seed, 0);
                let size = (noise / k.max(1) as f64).sqrt();
                in_units(&|j, a| size * draws.normal((j * k + a) as u64))
            }
        };
        Ok(LinearGaussian::new(self.observed.mean.clone(), loadings, self.noises(noise)))
    }

    /// Parameters of a fitted model, as far as it has them: its components, `m x p`, `m` at least `k`, in the units of these cells.
    fn start_from(&self, components: Matrix<f64>, k: usize, run: &Run<'_>) -> LinearGaussian {
        let p = self.unit.len();
        let numbers = |name: &str, n: usize| {
            let found = run.init.and_then(|init| init.parameter(name)).map(|(_, numbers)| numbers);
            found.filter(|numbers| numbers.len() == n)
        };
        let mean_square = self.mean_square();
        let noise = numbers("noise_variance", 1).map_or(0.5 * mean_square, |v| v[0]);
        let noise = if noise > 0.0 { noise } else { 0.5 * mean_square };
        let latent = numbers("latent_scale", components.rows()).unwrap_or_default();
        // Loadings of 0 would remain 0.
        let length = |a: usize| latent.get(a).copied().filter(|l| *l > 0.0).unwrap_or(mean_square.sqrt());
        let loadings = Matrix::from_fn(p, k, |j, a| length(a) * components[(a, j)] * self.unit[j]);
        let mean = numbers("mean", p).unwrap_or_else(|| self.observed.mean.clone());
        LinearGaussian::new(mean, loadings, self.noises(noise))
    }

    fn noises(&self, noise: f64) -> Vec<f64> {
        self.unit.iter().map(|u| noise * u * u).collect()
    }

    /// Whether the noise of a result is not distinguishable from 0: it is at the lower bound or at the precision `eps` of the rows, or the
    /// iterations ended by a fall of the likelihood with little noise.
    pub(super) fn is_singular(&self, found: &EmResult, eps: f64) -> bool {
        let least = match found.outcome {
            Outcome::Stalled => HALF_OF_DIGITS,
            _ => LEAST_NOISE_SHARE * (1.0 + 1e-9),
        };
        found.model.noise[0] / self.unit[0].powi(2) <= least.max(eps) * self.mean_square()
    }

    /// Whether the iterations ended before they converged, on the way to a noise of 0: the likelihood has no maximum, so that it must not be
    /// compared with those of other numbers of components. A lower bound of the noise bounds the likelihood.
    pub(super) fn is_unbounded(&self, found: &EmResult) -> bool {
        if self.floor > 0.0 || found.outcome.is_success() {
            return false;
        }
        let noise = found.model.noise[0] / self.unit[0].powi(2);
        noise <= VANISHING_NOISE_SHARE * self.mean_square() || self.are_interpolated(found.model.n_factors())
    }

    /// Whether some affine subspace of `k` dimensions contains points with the observed cells of every row, if the cells are in general
    /// position: a row of `c > k` cells is `c - k` conditions on the `(k + 1) (p - k)` parameters of the subspace, one of fewer cells none.
    fn are_interpolated(&self, k: usize) -> bool {
        let p = self.observed.count.len();
        let conditions = |(c, n): (usize, &f64)| n * c.saturating_sub(k) as f64;
        let all: f64 = self.observed.rows_by_cells.iter().enumerate().map(conditions).sum();
        k <= p && all <= ((k + 1) * (p - k)) as f64
    }

    /// Iterates from `start` until the mean log-likelihood of a row increases by at most the tolerance. If rounding errors lower it, the
    /// parameters before that iteration are kept.
    pub(super) fn iterate<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        start: impl FnOnce() -> Result<LinearGaussian>,
        limits: Limits,
        run: &Run<'_>,
    ) -> Result<EmResult> {
        let first = || Ok(State { model: start()?, before: None, value: None, residual: f64::INFINITY });
        let (mut steps, mut at) = Steps::begin(run, "em", limits, first)?;
        let outcome = loop {
            if at.residual < -LARGEST_ROUNDING_FALL * at.value.map_or(1.0, |value| value.abs().max(1.0)) {
                break Outcome::Stalled;
            }
            if let Some(outcome) = steps.ending(at.residual) {
                break outcome;
            }
            let sums = rows.sweep(run, "em", &GatherFactors::new(at.model.clone()))?;
            let value = sums.log_density / sums.n;
            let residual = at.value.map_or(f64::INFINITY, |before| value - before);
            at = match (at.before, at.value) {
                (Some(kept), Some(before)) if value < before => {
                    State { model: kept.clone(), before: Some(kept), value: Some(before), residual }
                }
                _ => {
                    let model = self.maximised(&at.model, &sums);
                    State { model, before: Some(at.model), value: Some(value), residual }
                }
            };
            steps.ended(residual, at.value, &at)?;
        };
        let n_iter = steps.n_iter();
        Ok(EmResult {
            model: at.model,
            outcome,
            n_iter,
            residual: at.residual,
            objective: steps.into_objective(),
        })
    }

    /// The M-step: parameters of maximum likelihood given the posteriors of the factors, after the reduction of the expanded ones.
    fn maximised(&self, before: &LinearGaussian, sums: &FactorSums) -> LinearGaussian {
        let Maximised { mean, loadings, squares, cells } = sums.maximised(before);
        let (mut total, mut n) = (0.0, 0.0);
        for (j, unit) in self.unit.iter().enumerate() {
            total += squares[j] / unit / unit;
            n += cells[j];
        }
        let noise = (total / n).max(self.floor).max(LEAST_NOISE_SHARE * self.mean_square());
        LinearGaussian { mean, loadings, noise: self.noises(noise) }
    }
}

impl Problem {
    /// Axes and variances of the result of the iterations.
    pub(super) fn estimate(&self, found: &LinearGaussian, unit: &[f64]) -> Result<Estimate> {
        let (p, k) = (found.n_features(), found.n_factors());
        let loadings = Matrix::from_fn(p, k, |j, a| found.loadings[j * k + a] / unit[j]);
        let noise = found.noise[0] / unit[0] / unit[0];
        let (values, axes) = match k {
            0 => (Vec::new(), Matrix::zeros(0, p)),
            _ => principal(&loadings)?,
        };
        let kept = values.iter().take_while(|v| **v > 1e-14 * values[0]).count();
        Ok(Estimate {
            mean: found.mean.clone(),
            unit: self.standardize.then(|| unit.to_vec()),
            axes: axes.top_rows(kept),
            variance: values
                .iter()
                .enumerate()
                .map(|(i, v)| if i < kept { v + noise } else { noise })
                .collect(),
            noise,
        })
    }
}

/// Squares of the singular values of `w`, `p x k`, descending, and its left singular vectors as rows.
fn principal(w: &Matrix<f64>) -> Result<(Vec<f64>, Matrix<f64>)> {
    let (axes, triangle) = factor::orthonormal_rows_and_triangle(&w.transposed());
    let (singular, right) = factor::svd_right(&triangle)?;
    Ok((singular.iter().map(|s| s * s).collect(), factor::multiply(&right, &axes)))
}
