//! Rows that are low rank plus sparse plus noise: `min m (||L||_* + alpha ||S||_1) + 1/2 ||X - L - S||²` by accelerated proximal
//! gradients, and then a refit without shrinkage of the singular values.

use super::cells::{Cells, PART, median, soft, total};
use super::svd::{Low, Partial};
use crate::error::Result;
use crate::model::Outcome;
use crate::num::Matrix;
use crate::run::Run;
use crate::solve::{Limits, Steps};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// A cell further from the low-rank part than so many standard deviations of the noise belongs to the sparse one.
pub(super) const CUT: f64 = 4.5;
/// The weight of both parts, in units of the spectral norm of the noise: with 1.3 the rank was too large by 1 in 2 of 22 runs.
const MARGIN: f64 = 1.5;
/// Standard deviations for each median absolute deviation of a Gaussian.
const MAD: f64 = 1.4826;
/// The change of the estimated noise at which it counts as found, and rounds.
pub(super) const SETTLED: f64 = 0.02;
const ROUNDS: u64 = 8;
/// Iterations of a refit, and the change at which they end, relatively.
const REFIT: Limits = Limits { tol: 1e-9, max_iter: 200 };

/// Result of a fit with noise.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Found {
    pub(super) low: Low,
    /// The standard deviation of the noise that was assumed, and that of the residuals.
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
struct Both {
    low: Matrix<f64>,
    sparse: Matrix<f64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct At {
    low: Low,
    now: Both,
    /// Where the next gradient is taken.
    ahead: Both,
    t: f64,
    partial: Partial,
    residual: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Refit {
    low: Low,
    partial: Partial,
    residual: f64,
}

impl Stable<'_> {
    /// With noise of an unknown standard deviation: rounds of fits, each under the noise that the last one left.
    pub(super) fn with_unknown_noise(
        &self,
        basis: &Matrix<f64>,
        run: &Run<'_>,
    ) -> Result<(Found, f64, Outcome)> {
        let limits = Limits { tol: SETTLED, max_iter: ROUNDS };
        let (mut steps, mut at) = Steps::begin(run, "noise", limits, || Ok(None::<(Found, Both)>))?;
        let moved = |at: &Option<(Found, Both)>| {
            at.as_ref().map_or(f64::INFINITY, |(f, _)| (f.std / f.used - 1.0).abs())
        };
        let outcome = loop {
            if let (Some(outcome), Some(_)) = (steps.ending(moved(&at)), &at) {
                break outcome;
            }
            // A round begins with the parts that the last one ended with, under a little more or less noise.
            let (std, before, parts) = match at {
                Some((found, parts)) => (found.std, found.n_iter, Some(parts)),
                None => (self.first_guess(), 0, None),
            };
            let (found, parts) = self.fitted(std, basis.clone(), parts, run)?;
            let gone = found.std == 0.0;
            at = Some((Found { n_iter: found.n_iter + before, ..found }, parts));
            steps.counted(&at)?;
            if gone {
                break Outcome::Stalled;
            }
        };
        let residual = moved(&at);
        match at {
            Some((found, _)) => Ok((found, residual, outcome)),
            None => unreachable!("there is a round before it ends"),
        }
    }

    /// The median absolute deviation of cells from the medians of their columns, as a standard deviation.
    pub(super) fn first_guess(&self) -> f64 {
        let (medians, p) = (self.cells.medians(), self.cells.x.cols());
        let away = self.cells.x.as_slice().iter().enumerate().filter(|(at, _)| self.cells.has(*at));
        MAD * median(away.map(|(at, x)| (x - medians[at % p]).abs()).collect())
    }

    /// With noise of standard deviation `std`: both parts, and then the low-rank part again by the cells that are not in the sparse one.
    pub(super) fn fit(&self, std: f64, basis: Matrix<f64>, run: &Run<'_>) -> Result<Found> {
        Ok(self.fitted(std, basis, None, run)?.0)
    }

    /// The same from parts of other noise, if there are any, and with the parts that the penalties leave.
    fn fitted(
        &self,
        std: f64,
        basis: Matrix<f64>,
        parts: Option<Both>,
        run: &Run<'_>,
    ) -> Result<(Found, Both)> {
        let (n, p) = (self.cells.x.rows() as f64, self.cells.x.cols() as f64);
        let weight = MARGIN * (n.sqrt() + p.sqrt()) * self.cells.share().sqrt() * std;
        let (at, outcome, n_iter, objective) = self.both(weight, basis, parts, run)?;
        let cut = CUT * std;
        let kept: Vec<bool> = {
            let near = self.cells.x.as_slice().iter().zip(at.now.low.as_slice()).enumerate();
            near.map(|(i, (x, low))| self.cells.has(i) && (x - low).abs() <= cut).collect()
        };
        let At { low, now, partial, residual, .. } = at;
        let low = self.refit(&kept, low, partial, run)?;
        let free = self.cells.n_seen as f64;
        let r = low.rank() as f64;
        let left = (free - r * (n + p - r)).max(1.0);
        let spread = self.cells.median_of(&low.full(), |x, low| (x - low).abs());
        let std_left = MAD * spread * (free / left).sqrt();
        Ok((Found { low, used: std, std: std_left, outcome, n_iter, residual, objective }, now))
    }

    /// Both parts, each with weight `weight`.
    fn both(
        &self,
        weight: f64,
        basis: Matrix<f64>,
        parts: Option<Both>,
        run: &Run<'_>,
    ) -> Result<(At, Outcome, u64, Vec<f64>)> {
        let (n, p) = (self.cells.x.rows(), self.cells.x.cols());
        let first = || {
            let partial = Partial::new(basis, run.seed);
            let now = parts.unwrap_or_else(|| Both { low: Matrix::zeros(n, p), sparse: Matrix::zeros(n, p) });
            Ok(At { low: Low::none(n, p), ahead: now.clone(), now, t: 1.0, partial, residual: f64::INFINITY })
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
    fn next(&self, at: At, weight: f64) -> Result<(At, f64)> {
        let At { now: before, mut ahead, t, mut partial, .. } = at;
        let x = self.cells.x.as_slice();
        // Half a gradient step for both: the smooth part has curvature 2.
        let parts = ahead
            .low
            .as_mut_slice()
            .par_chunks_mut(PART)
            .zip(ahead.sparse.as_mut_slice().par_chunks_mut(PART));
        let mut place = before.clone();
        let places = place
            .low
            .as_mut_slice()
            .par_chunks_mut(PART)
            .zip(place.sparse.as_mut_slice().par_chunks_mut(PART));
        parts.zip(places).zip(x.par_chunks(PART)).enumerate().for_each(|(part, (((l, s), (pl, ps)), x))| {
            for i in 0..x.len() {
                let half = if self.cells.has(part * PART + i) { 0.5 * (l[i] + s[i] - x[i]) } else { 0.0 };
                (pl[i], ps[i]) = (l[i] - half, s[i] - half);
            }
        });
        let low = partial.shrunk(&place.low, 0.5 * weight, 1)?;
        let threshold = 0.5 * weight * self.alpha;
        place.low = low.full();
        place
            .sparse
            .as_mut_slice()
            .par_chunks_mut(PART)
            .for_each(|s| s.iter_mut().for_each(|s| *s = soft(*s, threshold)));
        let now = place;
        let [change, along, misfit, ones] = self.compared(&now, &before, &ahead);
        let next_t = 0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt());
        let momentum = (t - 1.0) / next_t;
        extrapolate(&mut ahead, &now, &before, momentum);
        // Restart where the momentum opposes the step (O'Donoghue & Candès 2015).
        let t = if along > 0.0 { 1.0 } else { next_t };
        let value = weight * (low.values.iter().sum::<f64>() + self.alpha * ones) + 0.5 * misfit;
        Ok((At { low, now, ahead, t, partial, residual: change.sqrt() / self.cells.norm }, value))
    }

    /// Squared norm of the change, its inner product with the step from `ahead`, squared norm of the residual, and l1 norm of the sparse part.
    fn compared(&self, now: &Both, before: &Both, ahead: &Both) -> [f64; 4] {
        fn cut(m: &Matrix<f64>, part: usize) -> &[f64] {
            let all = m.as_slice();
            &all[part * PART..((part + 1) * PART).min(all.len())]
        }
        let x = &self.cells.x;
        let parts = x.as_slice().len().div_ceil(PART);
        let sums = (0..parts).into_par_iter().map(|part| {
            let mut sums = [0.0; 4];
            let (l, s) = (cut(&now.low, part), cut(&now.sparse, part));
            let (l0, s0) = (cut(&before.low, part), cut(&before.sparse, part));
            let (la, sa, x) = (cut(&ahead.low, part), cut(&ahead.sparse, part), cut(x, part));
            for i in 0..x.len() {
                let (dl, ds) = (l[i] - l0[i], s[i] - s0[i]);
                sums[0] += dl * dl + ds * ds;
                sums[1] += (la[i] - l[i]) * dl + (sa[i] - s[i]) * ds;
                if self.cells.has(part * PART + i) {
                    sums[2] += (x[i] - l[i] - s[i]).powi(2);
                    sums[3] += s[i].abs();
                }
            }
            sums
        });
        total(&sums.collect::<Vec<_>>())
    }

    /// The matrix of the rank of the low-rank part nearest to the cells `kept`, in least squares: the others are filled by the last one.
    fn refit(&self, kept: &[bool], low: Low, partial: Partial, run: &Run<'_>) -> Result<Low> {
        let r = low.rank();
        if r == 0 {
            return Ok(low);
        }
        let first = || Ok(Refit { low, partial, residual: f64::INFINITY });
        let (mut steps, mut at) = Steps::begin(run, "refit", REFIT, first)?;
        while steps.ending(at.residual).is_none() {
            let mut filled = at.low.full();
            let before = filled.clone();
            let parts =
                filled.as_mut_slice().par_chunks_mut(PART).zip(self.cells.x.as_slice().par_chunks(PART));
            parts.zip(kept.par_chunks(PART)).for_each(|((f, x), kept)| {
                f.iter_mut().zip(x).zip(kept).filter(|(_, kept)| **kept).for_each(|((f, x), _)| *f = *x);
            });
            let low = at.partial.leading(&filled, r)?;
            let after = low.full();
            let both = after.as_slice().par_chunks(PART).zip(before.as_slice().par_chunks(PART));
            let sums = both.map(|(a, b)| [a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()]);
            let [moved] = total(&sums.collect::<Vec<_>>());
            at = Refit { low, partial: at.partial, residual: moved.sqrt() / self.cells.norm };
            steps.counted(&at)?;
        }
        Ok(at.low)
    }
}

/// `ahead = now + momentum (now - before)`.
fn extrapolate(ahead: &mut Both, now: &Both, before: &Both, momentum: f64) {
    let each = |ahead: &mut Matrix<f64>, now: &Matrix<f64>, before: &Matrix<f64>| {
        let parts = ahead.as_mut_slice().par_chunks_mut(PART).zip(now.as_slice().par_chunks(PART));
        parts.zip(before.as_slice().par_chunks(PART)).for_each(|((a, n), b)| {
            a.iter_mut().zip(n).zip(b).for_each(|((a, n), b)| *a = n + momentum * (n - b));
        });
    };
    each(&mut ahead.low, &now.low, &before.low);
    each(&mut ahead.sparse, &now.sparse, &before.sparse);
}
