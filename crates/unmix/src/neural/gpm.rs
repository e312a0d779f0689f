//! The deterministic solver for orthonormal components: weighted polar steps.
//!
//! ```text
//! H_j = -sigma_j^(1 + alpha) E[x phi(z_j)]        W <- polar(H)
//! ```
//!
//! A generalised power method (Journée, Nesterov, Richtárik & Sepulchre 2010): no step length, orthonormal at every step. It
//! converges where `F = W'H` is symmetric and `H = W F`. With `alpha = 2` that agrees with the published soft fixed point (unit
//! columns, nearly orthogonal) to first order in `W'W - I`; with `alpha = 0` it is the plain Stiefel condition.
//!
//! *Saddles.* A pair of equal variance may begin, or converge, near the rotation at which it is least
//! separated, and leaves it slowly. The curvature of every pair is among the sums when components are
//! examined; if it is significantly negative, and the next step would rotate the pair by
//! less than 0.1 rad, it is rotated by 0.4 rad instead, five times at most. Another kind of stationary point,
//! of a pair of sources of two kinds, is not visible in the curvature: see `rotated_pairs.rs`.
//!
//! *Few rows.* The search is compared with those with one width for all components, and if no component is significantly non-Gaussian, the
//! principal axes are returned, rotated within groups of equal variance: see `tied.rs`.
//!
//! *Cycles.* The weights `sigma^(1 + alpha)` belong to no objective, and with heavy tails the iteration may alternate between two points: where
//! the residual no longer decreases, steps are halved (towards the mean of `W` and `polar(H)`), which keeps the same fixed points.

mod held_out;
mod momentum;
mod state;
mod step;
mod tied;

use self::state::State;
pub(super) use self::state::{KICK, MOST_CHANGES, MOST_KICKS};
use self::step::Step;
use self::tied::axes_by_variance;
use super::auto::{
    CANDIDATES, LAST_CHECK, SIGNIFICANT_ERRORS, checks_after, jointly_non_gaussian, may_be_missed,
    near_gaussian,
};
use super::nonlinearity::{ActivationFunction, Nonlinearity, Slope};
use super::separation::{Pass, PassMeans, Separation};
use super::start::Principal;
use crate::error::Result;
use crate::model::Outcome;
use crate::num::{Matrix, Real};
use crate::run::Run;
use crate::solve::{Limits, Steps};

/// Objective and stopping rule of the iteration.
#[derive(Clone, Debug)]
pub struct GpmOptions {
    /// The nonlinearity; with `auto` its `a` is the initial value.
    pub h: Nonlinearity,
    /// Whether `a` is chosen for every component.
    pub auto: bool,
    /// Exponent of the weights.
    pub alpha: f64,
    /// Whether the rows are white, so that variances are uninformative: every axis is a principal one. Otherwise components that cannot be
    /// distinguished from Gaussian ones are rotated to their principal axes, and pairs of similar variance are examined in rotated form
    /// also before convergence.
    pub white: bool,
    /// The iteration stops if the residual is at most this.
    pub tol: f64,
    /// Maximum number of steps.
    pub max_iter: u64,
}

/// The fixed point.
#[derive(Clone, Debug)]
pub struct FixedPoint {
    /// The components, as rows in principal coordinates.
    pub w: Matrix<f64>,
    /// The name of the solver.
    pub solver: &'static str,
    /// Exponent of the weights, in the condition for pairs.
    pub alpha: f64,
    /// Standard deviations along the components.
    pub sigma: Vec<f64>,
    /// `a` of each component.
    pub a: Vec<f64>,
    /// Statistics of the components under the nonlinearity in use.
    pub own: Separation,
    /// Statistics of the components under the candidates of `a = "auto"`.
    pub candidates: Vec<Separation>,
    /// A width whose statistic at the start was significantly larger than that of any width now: with the one in use, components
    /// became more Gaussian.
    pub better: Option<f64>,
    /// Outcome.
    pub outcome: Outcome,
    /// Iterations: full passes over the data, including those that compared rotated pairs.
    pub n_iter: u64,
    /// The residual that was compared with `tol`; `None` if the axes are those of variance.
    pub residual: Option<f64>,
    /// The root of the mean square over components of `|R_j| / |H_j|`, `R = H - W (F + F') / 2`.
    pub column_residual: f64,
    /// The residual after each iteration.
    pub history: Vec<f64>,
}

impl GpmOptions {
    /// `a tanh(z / a)` with `a` chosen for each of `k` components.
    pub fn auto(k: usize, tol: f64, max_iter: u64) -> Self {
        let h = Nonlinearity::tanh(vec![CANDIDATES[1]; k]);
        Self { h, auto: true, alpha: 2.0, white: false, tol, max_iter }
    }

    /// Iterates from the orthonormal rows of `start`, in principal coordinates; `on_sweep` receives the components of every iteration.
    ///
    /// # Errors
    ///
    /// Those of the rows; [`Interrupted`](crate::Error::Interrupted).
    pub fn solve<T: Real>(
        &self,
        rows: &Principal<'_, T>,
        start: Matrix<f64>,
        run: &Run<'_>,
        mut on_sweep: impl FnMut(u64, &Matrix<f64>),
    ) -> Result<FixedPoint> {
        let before = rows.sweeps();
        // The outcome depends on the statistics, not on the residual alone: `docs/decisions/0015-one-loop.md`.
        let (mut steps, mut at) =
            Steps::begin(run, "polar steps", Limits::NONE, || Ok(State::new(self, &start)))?;
        rows.count_sweeps(at.sweeps);
        loop {
            match self.iteration(rows, &start, at, run, &mut on_sweep)? {
                NextStep::Ended(solved) => return Ok(*solved),
                NextStep::At(next) => at = *next,
            }
            at.sweeps = rows.sweeps() - before;
            steps.counted(&at)?;
        }
    }

    fn iteration<T: Real>(
        &self,
        rows: &Principal<'_, T>,
        start: &Matrix<f64>,
        mut at: State,
        run: &Run<'_>,
        on_sweep: &mut impl FnMut(u64, &Matrix<f64>),
    ) -> Result<NextStep> {
        let sweep = at.n_iter;
        let ends_early = run.ends_early() && sweep > 0;
        let last = sweep + 1 >= self.max_iter || ends_early;
        let with_separations = at.resting || last || checks_after(sweep, at.settled || !self.auto);
        let means = rows.pass_means(&at.w, &self.pass(&at.a, with_separations, rows), run)?;
        at.n_iter += 1;
        on_sweep(rows.sweeps(), &at.w);
        let step = Step::new(&means, &at.w, self.alpha, &at.chance);
        at.history.push(step.residual);
        run.iteration_of((at.n_iter, self.max_iter), (step.residual, self.tol), None);
        if with_separations {
            match self.inspect(rows, start, &mut at, (&means, &step), (sweep, last), run)? {
                Inspection::GoOn => {}
                Inspection::Changed => return Ok(at.continued()),
                Inspection::Nothing => return Ok(self.principal_axes(rows, start, at, run)?.into()),
            }
        }
        let done = step.residual <= self.tol;
        // A sweep that the limit makes the last leaves out what could change the components; a choice of widths has searches within it.
        let cut = (last || self.auto) && self.is_cut(sweep, run);
        let due = done || (!self.white && (sweep == EARLY_SWEEPS || sweep == LAST_CHECK));
        let rotates =
            self.auto && with_separations && !last && start.rows() <= MOST_ROTATED_COMPONENTS && due;
        if rotates && at.rotate_pairs(&means, rows, !done, run)? {
            return Ok(at.continued());
        }
        if last || (done && with_separations) {
            let outcome = match (cut, done) {
                (true, _) => run.early_outcome(),
                (false, true) => Outcome::Converged,
                (false, false) => Outcome::MaxIter,
            };
            return Ok(at.solved(means, &step, outcome).into());
        }
        // The residual may be that of rounding errors.
        let rounded = step.residual <= ROUNDING_EPS * T::DTYPE.eps();
        // If the search ends there is one more sweep, for the final residual.
        at.stopped_early |= !done && at.makes_no_progress(rounded);
        at.resting = done || at.stopped_early;
        if at.stopped_early && with_separations {
            let outcome = match (cut, rounded) {
                (true, _) => run.early_outcome(),
                (false, true) => Outcome::Converged,
                (false, false) => Outcome::Stalled,
            };
            return Ok(at.solved(means, &step, outcome).into());
        }
        if !at.resting {
            at.step(&step)?;
        }
        Ok(at.continued())
    }

    /// A detailed check of the components: widths, components near Gaussian, and saddles.
    fn inspect<T: Real>(
        &self,
        rows: &Principal<'_, T>,
        start: &Matrix<f64>,
        at: &mut State,
        (means, step): (&PassMeans, &Step),
        (sweep, last): (u64, bool),
        run: &Run<'_>,
    ) -> Result<Inspection> {
        let candidates = &means.separations[1..];
        if self.auto && !self.white && rows.n() < FEW_ROWS_PER_COORDINATE * rows.r() as f64 {
            return Ok(Inspection::Nothing);
        }
        if sweep == 0 {
            at.begun = candidates.to_vec();
        }
        let chance = near_gaussian(candidates);
        let none = !chance.contains(&false);
        at.record_evidence(candidates, sweep);
        at.hopeful |= jointly_non_gaussian(candidates) && sweep == 0;
        let ended = at.settled || step.residual <= self.tol || last;
        // At a limit before that, the search has not shown that there is nothing.
        let nothing = self.auto && none && !at.hopeful && (at.settled || step.residual <= self.tol);
        let missed = !nothing || may_be_missed(rows.n(), start.rows());
        if self.auto
            && ended
            && !last
            && missed
            && !std::mem::replace(&mut at.compared, true)
            && let Some((a, w)) = self.by_one_width(rows, start, candidates, run)?
        {
            if !nothing {
                at.restart_at(a, w);
                return Ok(Inspection::Changed);
            }
            // The best of several searches may look significant by chance, which the test on held-out rows decides.
            at.w = w;
        }
        if nothing {
            return self.by_held_out_rows(rows, start, at, (sweep, last), run);
        }
        at.one_width = at.one_width.filter(|_| !ended);
        // Components that were significant on held-out rows are not near Gaussian by chance.
        let by_chance = !none && !at.held_out;
        let mut changed = !self.white
            && at.settled
            && by_chance
            && !last
            && at.rotate_gaussian_to_principal_axes(chance, rows, run)?;
        changed |= self.auto && at.one_width.is_none() && at.choose_widths(candidates);
        if !last && (changed || at.rotate_near_saddles(means, step, self.alpha, rows.n())) {
            return Ok(Inspection::Changed);
        }
        Ok(Inspection::GoOn)
    }

    /// The result of a check that found no component: the search begins again with a width for which held-out rows show a component, if there is one.
    fn by_held_out_rows<T: Real>(
        &self,
        rows: &Principal<'_, T>,
        start: &Matrix<f64>,
        at: &mut State,
        (sweep, last): (u64, bool),
        run: &Run<'_>,
    ) -> Result<Inspection> {
        let width = if last { None } else { self.held_out_width(rows, start.rows(), run)? };
        Ok(match width {
            Some(a) => {
                at.restart_with(a, start);
                Inspection::Changed
            }
            // A test that was cut short has not shown that there is nothing.
            None if self.is_cut(sweep, run) => Inspection::GoOn,
            None => Inspection::Nothing,
        })
    }

    /// Whether the run ends before the last of `max_iter` sweeps: searches within sweep number `sweep` may have been cut short.
    fn is_cut(&self, sweep: u64, run: &Run<'_>) -> bool {
        sweep + 1 < self.max_iter && run.ends_early()
    }

    fn pass<T: Real>(&self, a: &[f64], with_separations: bool, rows: &Principal<'_, T>) -> Pass {
        let h = Nonlinearity { a: a.to_vec(), ..self.h.clone() };
        let mut separations = Vec::new();
        if with_separations {
            separations.push(h.clone());
            separations.extend(CANDIDATES.map(|c| Nonlinearity {
                function: ActivationFunction::Tanh,
                slope: Slope::True,
                a: vec![c],
            }));
        }
        Pass { score_mean: rows.offset().is_some(), ..Pass::new(h, separations) }
    }

    /// No component is significantly non-Gaussian, so the axes are those of variance.
    fn principal_axes<T: Real>(
        &self,
        rows: &Principal<'_, T>,
        start: &Matrix<f64>,
        mut at: State,
        run: &Run<'_>,
    ) -> Result<FixedPoint> {
        at.w = match at.n_iter > 1 {
            true => axes_by_variance(rows, start.rows(), &at.w, run)?,
            // There are too few rows for a search.
            false => rows.first(start.rows()),
        };
        let means = rows.pass_means(&at.w, &self.pass(&at.a, true, rows), run)?;
        let step = Step::new(&means, &at.w, self.alpha, &at.chance);
        let mut solved = at.solved(means, &step, Outcome::Completed);
        solved.residual = None;
        Ok(solved)
    }
}

/// Result of an iteration.
enum NextStep {
    At(Box<State>),
    Ended(Box<FixedPoint>),
}

impl From<FixedPoint> for NextStep {
    fn from(solved: FixedPoint) -> Self {
        NextStep::Ended(Box::new(solved))
    }
}

impl State {
    /// Whether the residual no longer decreases, and smaller steps were tried.
    fn makes_no_progress(&mut self, rounded: bool) -> bool {
        let residuals = &self.history[self.changed_at..];
        if rounded {
            return stalled(residuals, PATIENCE_AT_REST);
        }
        let alternates = self.momentum.opposite >= PATIENCE_AT_REST && stalled(residuals, PATIENCE_AT_REST);
        let stays = alternates || (stalled(residuals, PATIENCE) && !leaves_saddle(residuals, PATIENCE));
        stays && !self.halve_steps()
    }

    /// Continues with the next iteration.
    fn continued(self) -> NextStep {
        NextStep::At(Box::new(self))
    }
}

/// The result of a detailed check of the components.
enum Inspection {
    /// Take the step: nothing has changed.
    GoOn,
    /// Continue without it: components or widths have changed.
    Changed,
    /// Return the axes of variance: no component is significantly non-Gaussian.
    Nothing,
}

/// Whether none of the last `patience` residuals is smaller than all before them, there are more than `patience` of these, and the last ones
/// do not decrease: after a saddle, near which the residual was small, it decreases again from larger ones.
fn stalled(residuals: &[f64], patience: usize) -> bool {
    let smallest = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
    let n = residuals.len();
    if n <= 2 * patience {
        return false;
    }
    let (before, window) = residuals.split_at(n - patience);
    let (earlier, late) = window.split_at(patience - patience / 5);
    smallest(window) >= smallest(before) && smallest(late) >= DECREASE_FACTOR * smallest(earlier)
}

/// Whether the last of these residuals increase steadily: the residual of a saddle is small, and grows until it is left.
fn leaves_saddle(residuals: &[f64], patience: usize) -> bool {
    let smallest = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
    let window = &residuals[residuals.len().saturating_sub(patience)..];
    let (earlier, late) = window.split_at(window.len() - window.len() / 5);
    smallest(late) > smallest(earlier) / DECREASE_FACTOR
}

/// The candidate whose sum of squares of `t` at the start is significantly larger than that of any candidate now.
fn better(begun: &[Separation], now: &[Separation]) -> Option<f64> {
    let sum = |statistics: &Separation| statistics.t.iter().map(|t| t.max(0.0).powi(2)).sum::<f64>();
    let left = now.iter().map(sum).fold(0.0, f64::max);
    let each = begun.iter().zip(CANDIDATES).map(|(statistics, a)| (sum(statistics), a));
    let (most, a) = each.fold((0.0, 0.0), |m, (sum, a)| if sum > m.0 { (sum, a) } else { m });
    let k = begun.first().map_or(0, |statistics| statistics.t.len()) as f64;
    (jointly_non_gaussian(begun) && most > left + SIGNIFICANT_ERRORS * (2.0 * k).sqrt()).then_some(a)
}

/// Rows per coordinate, below which a search overfits to single rows, whose directions look as non-Gaussian
/// as any source: only variance is then informative.
const FEW_ROWS_PER_COORDINATE: f64 = 4.0;

/// Maximum number of components for which pairs are examined in rotated form. With more there are many pairs whose variances are
/// close, and on photographs (32 components) rotations during the iteration lead to worse solutions: solutions from two samples had a
/// mean cosine of 0.921 instead of 0.950.
const MOST_ROTATED_COMPONENTS: usize = 16;
/// Sweeps after which pairs that may be mixed are examined in rotated form: one of the fixed checks.
const EARLY_SWEEPS: u64 = 5;
/// Number of sweeps without a smaller residual after which the iteration stops. Passing a saddle takes many:
/// the residual is small there, and then larger until the saddle is left (on photographs 80 sweeps and more).
const PATIENCE: usize = 250;
/// The same if the residual is of the size of rounding errors, or steps alternate between two directions.
const PATIENCE_AT_REST: usize = 50;
/// The residual decreases if its smallest value in the last fifth of these sweeps is less than this part of that in the others.
const DECREASE_FACTOR: f64 = 0.9;
/// Residuals of up to this multiple of the machine epsilon may be rounding errors of the sums (measured in single precision on patches
/// of photographs: half of the epsilon).
const ROUNDING_EPS: f64 = 16.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_has_stalled_where_none_of_the_last_residuals_is_the_smallest() {
        let falling: Vec<f64> = (0..40).map(|i| 0.9f64.powi(i)).collect();
        let with = |more: &[f64]| [&falling[..], more].concat();
        let least = falling[39];
        assert!(!stalled(&falling, 10), "it still falls");
        assert!(stalled(&with(&[least; 10]), 10), "ten that are no smaller");
        assert!(!stalled(&with(&[least; 9]), 10), "nine of them are not ten");
        // Past a saddle: larger for some sweeps, then smaller than before.
        assert!(!stalled(&with(&[[2.0 * least; 9].as_slice(), &[0.9 * least]].concat()), 10));
        assert!(!stalled(&[1.0; 20], 10) && stalled(&[1.0; 21], 10), "as many before as after, and one");
        // After a saddle: larger than at the saddle, but smaller from sweep to sweep.
        let behind: Vec<f64> = (0..40).map(|i| 4.0 * 0.9f64.powi(i) * least).collect();
        assert!((2..13).all(|last| !stalled(&with(&behind[..last]), 10)));
    }

    #[test]
    fn growing_residuals_leave_a_saddle_and_a_cycle_does_not() {
        let grows: Vec<f64> = (0..60).map(|i| 1e-8 * 1.02f64.powi(i)).collect();
        let cycles: Vec<f64> = (0..60).map(|i| if i % 2 == 0 { 0.061 } else { 0.062 }).collect();
        assert!(stalled(&grows, 20) && leaves_saddle(&grows, 20));
        assert!(stalled(&cycles, 20) && !leaves_saddle(&cycles, 20));
    }
}
