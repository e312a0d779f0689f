//! Stable principal component pursuit, for rows that are low rank plus sparse plus noise:
//! `min m (||L||_* + alpha ||S||_1) + 1/2 ||X - L - S||²` by accelerated proximal gradients, followed by a refit without shrinkage
//! of the singular values.
//!
//! The optimal sparse part for a given low-rank one is `S = soft(X - L, m alpha)`. The remaining objective is a function of `L` alone,
//! `m ||L||_*` plus Huber's function of the residuals, whose gradient is `-clip(X - L, ±m alpha)` with Lipschitz constant 1: half of that
//! for both parts together, with half of the memory.

use super::cells::{CELLS_PER_TASK, Cells, soft, total};
use super::svd::{Low, PartialSvd};
use crate::error::Result;
use crate::model::Outcome;
use crate::num::Matrix;
use crate::num::parallel;
use crate::run::Run;
use crate::solve::{Limits, Steps};
use serde::{Deserialize, Serialize};

/// Distance from the low-rank part, in standard deviations of the noise, above which a cell belongs to the sparse part.
pub(super) const OUTLIER_THRESHOLD: f64 = 4.5;
/// The weight of both parts, in units of the spectral norm of the noise: with 1.3 the rank was too large by 1 in 2 of 22 runs.
const NOISE_WEIGHT_FACTOR: f64 = 1.5;
/// Ratio of standard deviation and median absolute deviation of a Gaussian.
pub(super) const DEVIATION_PER_MAD: f64 = 1.4826;
/// Relative change of the estimated noise at which it has converged, and the maximum number of rounds.
pub(super) const NOISE_CHANGE_TOL: f64 = 0.02;
pub(super) const MOST_ROUNDS: u64 = 8;
/// Stopping rule of a refit: relative change, and maximum number of iterations.
const REFIT_LIMITS: Limits = Limits { tol: 1e-9, max_iter: 200 };

/// Result of a fit with noise.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StableResult {
    pub(super) low: Low,
    /// The assumed standard deviation of the noise, and that of the residuals.
    pub(super) used: f64,
    pub(super) std: f64,
    pub(super) outcome: Outcome,
    pub(super) n_iter: u64,
    pub(super) residual: f64,
    pub(super) objective: Vec<f64>,
}

/// The problem.
pub(super) struct Stable<'a> {
    pub(super) cells: &'a Cells,
    pub(super) alpha: f64,
    pub(super) limits: Limits,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    low: Low,
    /// The low-rank part, and the point at which the next gradient is computed.
    now: Matrix<f64>,
    ahead: Matrix<f64>,
    t: f64,
    partial: PartialSvd,
    residual: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Refit {
    low: Low,
    partial: PartialSvd,
    residual: f64,
}

impl Stable<'_> {
    /// For noise of unknown standard deviation: repeated fits, each with the noise estimated from the residuals of the previous
    /// one.
    pub(super) fn with_unknown_noise(
        &self,
        basis: &Matrix<f64>,
        run: &Run<'_>,
    ) -> Result<(StableResult, f64, Outcome)> {
        let limits = Limits { tol: NOISE_CHANGE_TOL, max_iter: MOST_ROUNDS };
        let (mut steps, mut at) =
            Steps::begin(run, "noise", limits, || Ok(None::<(StableResult, Matrix<f64>)>))?;
        let moved = |at: &Option<(StableResult, Matrix<f64>)>| {
            at.as_ref().map_or(f64::INFINITY, |(f, _)| (f.std / f.used - 1.0).abs())
        };
        let outcome = loop {
            if let (Some(outcome), Some(_)) = (steps.ending(moved(&at)), &at) {
                break outcome;
            }
            // Each round starts from the low-rank part of the previous one, which assumed a slightly different noise.
            let (std, before, low) = match at {
                Some((found, low)) => (found.std, found.n_iter, Some(low)),
                None => (self.first_guess(), 0, None),
            };
            let (found, low) = self.fitted(std, basis.clone(), low, run)?;
            let noise_free = found.std == 0.0;
            at = Some((StableResult { n_iter: found.n_iter + before, ..found }, low));
            steps.counted(&at)?;
            if noise_free {
                break Outcome::Stalled;
            }
        };
        let residual = moved(&at);
        // The maximum number of rounds ended them, not the setting max_iter, unless that ended the last round.
        let complete = at.as_ref().is_some_and(|(found, _)| found.outcome == Outcome::Converged);
        let outcome = if outcome == Outcome::MaxIter && complete { Outcome::Stalled } else { outcome };
        match at {
            Some((found, _)) => Ok((found, residual, outcome)),
            None => unreachable!("the loop ends after at least one round"),
        }
    }

    /// Initial estimate of the standard deviation: the median absolute deviation of cells from the medians of their columns.
    pub(super) fn first_guess(&self) -> f64 {
        DEVIATION_PER_MAD * self.cells.deviation
    }

    /// Fits both parts for noise of standard deviation `std`, then refits the low-rank part to the cells that are not in the sparse one.
    pub(super) fn fit(&self, std: f64, basis: Matrix<f64>, run: &Run<'_>) -> Result<StableResult> {
        Ok(self.fitted(std, basis, None, run)?.0)
    }

    /// The same, started from the low-rank part `start` if it is given; also returns the low-rank part of the penalised problem, before
    /// the refit.
    fn fitted(
        &self,
        std: f64,
        basis: Matrix<f64>,
        start: Option<Matrix<f64>>,
        run: &Run<'_>,
    ) -> Result<(StableResult, Matrix<f64>)> {
        let (n, p) = (self.cells.x.rows() as f64, self.cells.x.cols() as f64);
        let weight = NOISE_WEIGHT_FACTOR * (n.sqrt() + p.sqrt()) * self.cells.share().sqrt() * std;
        let (at, outcome, n_iter, objective) = self.penalised(weight, basis, start, run)?;
        let threshold = OUTLIER_THRESHOLD * std;
        let kept: Vec<bool> = {
            let near = self.cells.x.as_slice().iter().zip(at.now.as_slice()).enumerate();
            near.map(|(i, (x, low))| self.cells.has(i) && (x - low).abs() <= threshold).collect()
        };
        let State { low, now, partial, residual, .. } = at;
        let low = self.refit(&kept, low, partial, run)?;
        let free = self.cells.n_observed as f64;
        let r = low.rank() as f64;
        let left = (free - r * (n + p - r)).max(1.0);
        let spread = self.cells.median_of(&low.full(), |x, low| (x - low).abs());
        let std_left = DEVIATION_PER_MAD * spread * (free / left).sqrt();
        Ok((StableResult { low, used: std, std: std_left, outcome, n_iter, residual, objective }, now))
    }

    /// The low-rank part of the penalised problem, with weight `weight` of both parts.
    fn penalised(
        &self,
        weight: f64,
        basis: Matrix<f64>,
        start: Option<Matrix<f64>>,
        run: &Run<'_>,
    ) -> Result<(State, Outcome, u64, Vec<f64>)> {
        let (n, p) = (self.cells.x.rows(), self.cells.x.cols());
        let first = || {
            let partial = PartialSvd::new(basis, run.seed);
            let now = start.unwrap_or_else(|| Matrix::zeros(n, p));
            Ok(State {
                low: Low::none(n, p),
                ahead: now.clone(),
                now,
                t: 1.0,
                partial,
                residual: f64::INFINITY,
            })
        };
        let (mut steps, mut at) = Steps::begin(run, "stable", self.limits, first)?;
        let outcome = loop {
            if let Some(outcome) = steps.ending(at.residual) {
                break outcome;
            }
            let (next, value) = self.next(at, weight)?;
            at = next;
            steps.ended(at.residual, Some(value), &at)?;
        };
        let n_iter = steps.n_iter();
        Ok((at, outcome, n_iter, steps.into_objective()))
    }

    /// One iteration, and the objective after it.
    fn next(&self, at: State, weight: f64) -> Result<(State, f64)> {
        let State { now: before, mut ahead, t, mut partial, .. } = at;
        let bound = weight * self.alpha;
        // A gradient step from `ahead`.
        let mut point = ahead.clone();
        let parts = point
            .as_mut_slice()
            .chunks_mut(CELLS_PER_TASK)
            .zip(self.cells.x.as_slice().chunks(CELLS_PER_TASK));
        parallel::each(parts.enumerate(), |(part, (l, x))| {
            for (i, (l, x)) in l.iter_mut().zip(x).enumerate() {
                if self.cells.has(part * CELLS_PER_TASK + i) {
                    *l += (x - *l).clamp(-bound, bound);
                }
            }
        });
        let low = partial.shrunk(&point, weight, 1)?;
        drop(point);
        let now = low.full();
        let [change, along, misfit, ones] = self.compared(&now, &before, &ahead, bound);
        let next_t = 0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt());
        extrapolate(&mut ahead, &now, &before, (t - 1.0) / next_t);
        // Restart where the momentum opposes the step (O'Donoghue & Candès 2015).
        let t = if along > 0.0 { 1.0 } else { next_t };
        let value = weight * (low.values.iter().sum::<f64>() + self.alpha * ones) + 0.5 * misfit;
        Ok((State { low, now, ahead, t, partial, residual: change.sqrt() / self.cells.norm }, value))
    }

    /// Squared norm of the change of both parts, inner product of that of the low-rank one with the step from `ahead`, squared norm of the
    /// residual, and l1 norm of the sparse part.
    fn compared(&self, now: &Matrix<f64>, before: &Matrix<f64>, ahead: &Matrix<f64>, bound: f64) -> [f64; 4] {
        fn cut(m: &Matrix<f64>, part: usize) -> &[f64] {
            let all = m.as_slice();
            &all[part * CELLS_PER_TASK..((part + 1) * CELLS_PER_TASK).min(all.len())]
        }
        let parts = self.cells.x.as_slice().len().div_ceil(CELLS_PER_TASK);
        let sums = parallel::map(0..parts, |part| {
            let mut sums = [0.0; 4];
            let (l, before, ahead, x) =
                (cut(now, part), cut(before, part), cut(ahead, part), cut(&self.cells.x, part));
            for i in 0..x.len() {
                let change = l[i] - before[i];
                sums[0] += change * change;
                sums[1] += (ahead[i] - l[i]) * change;
                if self.cells.has(part * CELLS_PER_TASK + i) {
                    let sparse = soft(x[i] - l[i], bound);
                    sums[0] += (sparse - soft(x[i] - before[i], bound)).powi(2);
                    sums[2] += (x[i] - l[i] - sparse).powi(2);
                    sums[3] += sparse.abs();
                }
            }
            sums
        });
        total(&sums)
    }

    /// Least-squares fit to the cells `kept` of a matrix with the rank of the low-rank part: the other cells are imputed from the last
    /// iterate.
    fn refit(&self, kept: &[bool], low: Low, partial: PartialSvd, run: &Run<'_>) -> Result<Low> {
        let r = low.rank();
        if r == 0 {
            return Ok(low);
        }
        let first = || Ok(Refit { low, partial, residual: f64::INFINITY });
        let (mut steps, mut at) = Steps::begin(run, "refit", REFIT_LIMITS, first)?;
        while steps.ending(at.residual).is_none() {
            let mut filled = at.low.full();
            let before = filled.clone();
            let parts = filled
                .as_mut_slice()
                .chunks_mut(CELLS_PER_TASK)
                .zip(self.cells.x.as_slice().chunks(CELLS_PER_TASK));
            parallel::each(parts.zip(kept.chunks(CELLS_PER_TASK)), |((f, x), kept)| {
                f.iter_mut().zip(x).zip(kept).filter(|(_, kept)| **kept).for_each(|((f, x), _)| *f = *x);
            });
            let low = at.partial.leading(&filled, r)?;
            let after = low.full();
            let both = after.as_slice().chunks(CELLS_PER_TASK).zip(before.as_slice().chunks(CELLS_PER_TASK));
            let square = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
            let [moved] = total(&parallel::map(both, |(a, b)| [square(a, b)]));
            at = Refit { low, partial: at.partial, residual: moved.sqrt() / self.cells.norm };
            steps.counted(&at)?;
        }
        Ok(at.low)
    }
}

/// `ahead = now + momentum (now - before)`.
fn extrapolate(ahead: &mut Matrix<f64>, now: &Matrix<f64>, before: &Matrix<f64>, momentum: f64) {
    let parts = ahead.as_mut_slice().chunks_mut(CELLS_PER_TASK).zip(now.as_slice().chunks(CELLS_PER_TASK));
    parallel::each(parts.zip(before.as_slice().chunks(CELLS_PER_TASK)), |((a, n), b)| {
        a.iter_mut().zip(n).zip(b).for_each(|((a, n), b)| *a = n + momentum * (n - b));
    });
}
