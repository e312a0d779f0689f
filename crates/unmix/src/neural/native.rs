//! The deterministic solver for the published fixed point: unit columns, kept nearly orthogonal by the loss.
//!
//! ```text
//! G = X'[(U M - Y) o h'] / n,   U = h(Z) Sigma,   M = W'W            at the fixed point: every G_j is parallel to w_j, |w_j| = 1
//! ```
//!
//! Polar steps, four to forty, then Newton's method with an approximate Hessian: in the plane of every pair the antisymmetric part
//! (as in the condition for pairs, between 0.3 and 1 times its bound), and, for all pairs together, the derivative with respect to
//! `M - I`; outside of the span of `W` a diagonal matrix. A step needs one pass over the rows, of `4 n r k + 8 n k^2` operations.
//!
//! Alternatives that were tried and rejected: curvatures of pairs without the derivative with respect to `M - I` (diverges on
//! photographs), Anderson mixing and over-relaxation (oscillate, or stay at saddles), quasi-Newton steps on the Stiefel manifold
//! (slow).

use super::auto::{CANDIDATES, checks_after, choose, near_gaussian};
use super::gpm::{FixedPoint, GpmOptions, KICK, MOST_CHANGES, MOST_KICKS};
use super::nonlinearity::{ActivationFunction, Nonlinearity, Slope};
use super::separation::{Pass, Separation};
use super::start::Principal;
use crate::error::Result;
use crate::model::Outcome;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::solve::{Limits, Steps};
use serde::{Deserialize, Serialize};

mod pass;
mod step;

pub use pass::{NativePass, NativeSums};
use step::Step;

/// Number of steps without a decrease of the residual in their second half after which the iteration stops.
const PATIENCE: usize = 100;

/// Number of polar steps before the first Newton step, which increases with the number of components. With many components
/// there are many neighbouring stationary points (on photographs), among which long steps select arbitrarily; polar
/// steps from the principal axes lead to the same point from two samples of the same photographs more often: for six
/// pairs of samples, with 32 components, the mean cosine is 0.890 after 4 steps, 0.910 after 24, 0.926 after 40.
fn n_warm_up(k: usize) -> u64 {
    (5 * k as u64 / 4).clamp(4, 40)
}

/// Iterates to the published fixed point from the rows of `start`, in principal coordinates. The exponent of the
/// weights in `how` is not used; its tolerance applies to the column residual.
///
/// # Errors
///
/// Those of the rows; [`Interrupted`](crate::Error::Interrupted).
pub fn solve<T: Real>(
    how: &GpmOptions,
    rows: &Principal<'_, T>,
    start: Matrix<f64>,
    run: &Run<'_>,
    mut on_sweep: impl FnMut(u64, &Matrix<f64>),
) -> Result<FixedPoint> {
    let before = rows.sweeps();
    // The outcome depends on the statistics, not on the residual alone: `docs/decisions/0015-one-loop.md`.
    let (mut steps, mut at) =
        Steps::begin(run, "native steps", Limits::NONE, || Ok(State::new(how, &start)))?;
    rows.count_sweeps(at.sweeps);
    let (outcome, residual) = loop {
        if let Some(ended) = at.iteration(how, rows, run, &mut on_sweep)? {
            break ended;
        }
        at.sweeps = rows.sweeps() - before;
        steps.counted(&at)?;
    };
    let State { w, a, n_iter, history, .. } = at;
    let (own, candidates) = statistics(how, &a, rows, &w, run)?;
    let nothing = how.auto && !near_gaussian(&candidates).contains(&false);
    let sigma = rows.deviations(&w);
    let solved = FixedPoint {
        w,
        solver: "second-order",
        alpha: 2.0,
        sigma,
        a,
        own,
        candidates,
        better: None,
        outcome,
        n_iter,
        residual: Some(residual),
        column_residual: residual,
        history,
    };
    // A search that ended at a limit has not shown that there is nothing.
    let limited = outcome == Outcome::MaxIter || outcome.is_early();
    if !nothing || outcome == Outcome::Converged || limited {
        return Ok(solved);
    }
    // No component is significantly non-Gaussian: the principal axes are returned.
    let start = rows.first(start.rows());
    let (own, candidates) = statistics(how, &solved.a, rows, &start, run)?;
    let sigma = rows.deviations(&start);
    Ok(FixedPoint { w: start, sigma, own, candidates, outcome: Outcome::Completed, residual: None, ..solved })
}

/// State of the iteration.
#[derive(Serialize, Deserialize)]
struct State {
    w: Matrix<f64>,
    a: Vec<f64>,
    n_iter: u64,
    history: Vec<f64>,
    /// Number of times that widths changed at convergence.
    changes: u32,
    /// Number of times that pairs were rotated away from a saddle at convergence.
    kicks: u32,
    /// The smallest residual since widths changed, and the components that had it.
    smallest: Option<(f64, Matrix<f64>)>,
    /// Number of steps of each pair, `k x k`, that led away from a saddle.
    left: Vec<u32>,
    sweeps: u64,
}

impl State {
    fn new(how: &GpmOptions, start: &Matrix<f64>) -> Self {
        let k = start.rows();
        let a = if how.h.a.len() == 1 { vec![how.h.a[0]; k] } else { how.h.a.clone() };
        let (w, history, left) = (start.clone(), Vec::new(), vec![0; k * k]);
        Self { w, a, n_iter: 0, history, changes: 0, kicks: 0, smallest: None, left, sweeps: 0 }
    }

    /// One pass over the rows and a step; the outcome and the final residual if the iteration ends.
    fn iteration<T: Real>(
        &mut self,
        how: &GpmOptions,
        rows: &Principal<'_, T>,
        run: &Run<'_>,
        on_sweep: &mut impl FnMut(u64, &Matrix<f64>),
    ) -> Result<Option<(Outcome, f64)>> {
        let k = self.w.rows();
        if how.auto && checks_after(self.n_iter, true) {
            self.choose_widths(how, rows, run)?;
        }
        let h = Nonlinearity { a: self.a.clone(), ..how.h.clone() };
        self.n_iter += 1;
        if self.n_iter <= n_warm_up(k) && self.n_iter < how.max_iter {
            let means = rows.pass_means(&self.w, &Pass::new(h, Vec::new()), run)?;
            on_sweep(rows.sweeps(), &self.w);
            let weighted = |j: usize, i: usize| -means.sigma[j].powi(3) * means.gradient[(j, i)];
            self.w = factor::polar_rows(&Matrix::from_fn(k, self.w.cols(), weighted))?;
            return Ok(None);
        }
        let sigma = rows.deviations(&self.w);
        let gram = factor::multiply_transposed(&self.w, &self.w);
        let pass = NativePass::new(&h, &sigma, &gram);
        let sums: NativeSums = rows.gather(&self.w, &pass, run, "nonlinear sums")?;
        on_sweep(rows.sweeps(), &self.w);
        let left = &mut self.left;
        let leave = |i: usize, j: usize| {
            left[i * k + j] += 1;
            left[i * k + j] <= MOST_KICKS
        };
        let step = Step::new(&sums, &self.w, &sigma, &rows.moments, rows.n(), leave)?;
        self.history.push(step.residual);
        run.iteration_of((self.n_iter, how.max_iter), (step.residual, how.tol), None);
        if self.smallest.as_ref().is_none_or(|(r, _)| step.residual < *r) {
            self.smallest = Some((step.residual, self.w.clone()));
        }
        if step.residual <= how.tol {
            return self.at_convergence(how, rows, &step, run);
        }
        if let Some(outcome) = self.stopped_early(how, run) {
            return Ok(Some((outcome, self.best(step.residual))));
        }
        self.w.as_mut_slice().iter_mut().zip(step.step.as_slice()).for_each(|(w, s)| *w += s);
        normalise(&mut self.w);
        if orthonormality(&self.w) > 0.25 * (k as f64).sqrt() {
            self.w = factor::polar_rows(&self.w)?;
        }
        Ok(None)
    }

    /// Chooses the widths again; whether some width changed.
    fn choose_widths<T: Real>(
        &mut self,
        how: &GpmOptions,
        rows: &Principal<'_, T>,
        run: &Run<'_>,
    ) -> Result<bool> {
        let chosen = choose(&statistics(how, &self.a, rows, &self.w, run)?.1, self.w.rows());
        if chosen == self.a {
            return Ok(false);
        }
        (self.a, self.smallest) = (chosen, None);
        self.history.clear();
        Ok(true)
    }

    /// With a residual of at most the tolerance: ends the iteration, unless widths change or pairs are at a saddle.
    fn at_convergence<T: Real>(
        &mut self,
        how: &GpmOptions,
        rows: &Principal<'_, T>,
        step: &Step,
        run: &Run<'_>,
    ) -> Result<Option<(Outcome, f64)>> {
        if how.auto && self.changes < MOST_CHANGES && self.choose_widths(how, rows, run)? {
            self.changes += 1;
            return Ok(None);
        }
        if step.saddles.is_empty() || self.kicks == MOST_KICKS {
            return Ok(Some((Outcome::Converged, step.residual)));
        }
        self.kicks += 1;
        rotate_saddle_pairs(&mut self.w, &step.saddles);
        Ok(None)
    }

    /// The outcome if the iteration ends before convergence.
    fn stopped_early(&self, how: &GpmOptions, run: &Run<'_>) -> Option<Outcome> {
        let n = self.history.len();
        let least = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
        let (early, late) = self.history.split_at(n.saturating_sub(PATIENCE / 2));
        match () {
            () if run.ends_early() => Some(run.early_outcome()),
            () if self.n_iter >= how.max_iter => Some(Outcome::MaxIter),
            () if n > PATIENCE && least(late) >= least(early) => Some(Outcome::Stalled),
            () => None,
        }
    }

    /// Returns to the components of the smallest residual, unless the last one is at most 1.5 times as large, because the
    /// residual need not decrease in every step; the residual of the result.
    fn best(&mut self, residual: f64) -> f64 {
        match self.smallest.take().filter(|(r, _)| residual >= 1.5 * r) {
            Some((r, best)) => {
                self.w = best;
                r
            }
            None => residual,
        }
    }
}

/// Statistics of the components under the nonlinearity in use, and under the candidates.
fn statistics<T: Real>(
    how: &GpmOptions,
    a: &[f64],
    rows: &Principal<'_, T>,
    w: &Matrix<f64>,
    run: &Run<'_>,
) -> Result<(Separation, Vec<Separation>)> {
    let h = Nonlinearity { a: a.to_vec(), ..how.h.clone() };
    let mut separations = vec![h.clone()];
    separations.extend(CANDIDATES.map(|c| Nonlinearity {
        function: ActivationFunction::Tanh,
        slope: Slope::True,
        a: vec![c],
    }));
    let mut separations_of_w =
        rows.pass_means(w, &Pass::with_separations(separations), run)?.separations.into_iter();
    Ok((separations_of_w.next().unwrap_or_default(), separations_of_w.collect()))
}

/// Rotates the pairs by [`KICK`], each component at most once.
fn rotate_saddle_pairs(w: &mut Matrix<f64>, pairs: &[(usize, usize)]) {
    let mut rotated = vec![false; w.rows()];
    let (sin, cos) = KICK.sin_cos();
    for &(i, j) in pairs {
        if rotated[i] || rotated[j] {
            continue;
        }
        (rotated[i], rotated[j]) = (true, true);
        for c in 0..w.cols() {
            let (x, y) = (w[(i, c)], w[(j, c)]);
            (w[(i, c)], w[(j, c)]) = (cos * x + sin * y, cos * y - sin * x);
        }
    }
    normalise(w);
}

/// Divides the rows by their lengths.
fn normalise(w: &mut Matrix<f64>) {
    for j in 0..w.rows() {
        let length = w.row(j).iter().map(|x| x * x).sum::<f64>().sqrt();
        w.row_mut(j).iter_mut().for_each(|x| *x /= length);
    }
}

/// Deviation from orthonormality, `||W'W - I||_F`, of components given as rows.
pub fn orthonormality(w: &Matrix<f64>) -> f64 {
    let gram = factor::multiply_transposed(w, w);
    let entry = |i: usize, j: usize| (gram[(i, j)] - f64::from(u8::from(i == j))).powi(2);
    (0..w.rows()).map(|i| (0..w.rows()).map(|j| entry(i, j)).sum::<f64>()).sum::<f64>().sqrt()
}
