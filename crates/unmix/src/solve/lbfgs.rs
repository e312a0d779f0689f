//! Limited-memory BFGS: minimises a smooth function of many variables from its values and gradients.
//!
//! ```text
//! d = -H g                 H by two loops over the last pairs s = Δx, y = Δg (Nocedal 1980)
//! x <- x + t d             f(x + t d) <= f + 1e-4 t g'd,   |g(x + t d)'d| <= 0.9 |g'd|      (Wolfe 1969, strong)
//! ```
//!
//! Steps do not depend on the units of the function or of its argument: multiplying either by a power of two
//! gives the same steps. No step increases the function by more than its rounding errors, and such an
//! increase counts as none. If no step along `d` decreases it, the stored pairs are dropped and the search
//! continues along the negative gradient; if that does not decrease it either, the search has stalled at the
//! rounding errors of the function.
//!
//! `O(memory n)` in addition to the function, and `2 memory n` numbers.
//!
//! J. Nocedal (1980), Math. Comp. 35:773. D. Liu & J. Nocedal (1989), Math. Program. 45:503. Line search: J. Nocedal & S. Wright
//! (2006), Numerical Optimization, algorithms 3.5 and 3.6.

use super::{Limits, Steps};
use crate::error::Result;
use crate::num::dot;
use crate::run::{Outcome, Run};
use serde::{Deserialize, Serialize};

mod history;
mod line;

pub(crate) use history::{History, SummationOrder};
use line::line_search;

/// A function to minimise, and callbacks of the iterations.
pub(crate) trait Objective {
    /// Its value at `x`; writes its gradient there into `gradient`. A value that is not finite means that the step was too long.
    fn at(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64>;

    /// The residual, which is compared with `tol`: by default the largest entry of the gradient.
    fn residual(&self, gradient: &[f64]) -> f64 {
        gradient.iter().fold(0.0, |m, g| m.max(g.abs()))
    }

    /// A bound of the rounding error of `value`, computed by [`at`](Self::at).
    fn rounding(&self, value: f64) -> f64 {
        SUM_ROUNDING * value.abs()
    }

    /// Its own state for a checkpoint: numbers that its values do not depend on, such as its number of evaluations.
    fn counts(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Restores the state returned by [`counts`](Self::counts).
    fn recount(&mut self, counts: &[u64]) {
        let _ = counts;
    }

    /// Factors for the entries of `x` that change neither the function nor, up to the corresponding scaling, its gradient;
    /// requested after every iteration. The stored pairs are scaled accordingly.
    fn rescaled(&mut self, n_iter: u64, x: &[f64]) -> Option<Vec<f64>> {
        let _ = (n_iter, x);
        None
    }
}

/// Options of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lbfgs {
    /// Number of stored pairs.
    pub memory: usize,
    /// Maximum number of iterations.
    pub max_iter: u64,
    /// Tolerance on the residual.
    pub tol: f64,
}

/// Result of a search.
#[derive(Clone, Debug)]
pub(crate) struct Minimum {
    /// The argument.
    pub x: Vec<f64>,
    /// The value of the function.
    pub value: f64,
    /// The residual that was compared with `tol`.
    pub residual: f64,
    /// Reason why the search ended; [`Outcome::Stalled`] if no step decreases the function or its gradient: rounding errors exceed the
    /// remaining decrease.
    pub outcome: Outcome,
    /// Number of iterations.
    pub n_iter: u64,
    /// The function at the start and after each iteration, ignoring differences at rounding level; never
    /// increases.
    pub objective: Vec<f64>,
}

/// Number of successive idle iterations after which the search ends: those that decrease the function by at most [`IDLE_DECREASE`] and the
/// residual by at most a tenth.
const MOST_IDLE_ITERATIONS: usize = 30;
/// The decrease of idle iterations, as a fraction of the function.
const IDLE_DECREASE: f64 = 1e-14;

/// Relative rounding error of a sum of some thousand numbers.
const SUM_ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Length of the first step as a fraction of the norm of the argument.
const FIRST_STEP_SHARE: f64 = 0.1;

impl Lbfgs {
    /// Searches from `x` on; `name` is used for progress and checkpoints.
    ///
    /// # Errors
    ///
    /// Those of the function; [`Error::Interrupted`](crate::Error::Interrupted).
    pub(crate) fn minimise(
        &self,
        objective: &mut impl Objective,
        x: Vec<f64>,
        name: &str,
        run: &Run<'_>,
    ) -> Result<Minimum> {
        let limits = Limits { tol: self.tol, max_iter: self.max_iter };
        let (mut steps, mut at) =
            Steps::begin(run, name, limits, || Search::first(self.memory, objective, x))?;
        objective.recount(&at.counts);
        let outcome = loop {
            if at.ended {
                break match at.residual <= self.tol {
                    true => Outcome::Converged,
                    false => Outcome::Stalled,
                };
            }
            if at.residual <= self.tol {
                break Outcome::Converged;
            }
            if !at.here.value.is_finite() {
                break Outcome::Stalled;
            }
            // At least one iteration is taken, whatever the time limit: the initial point is not a result.
            match steps.spent() {
                Some(outcome) if outcome.is_early() && steps.n_iter() == 0 => {}
                Some(outcome) => break outcome,
                None => {}
            }
            if !at.step(objective, steps.n_iter() + 1)? {
                break Outcome::Stalled;
            }
            at.counts = objective.counts();
            steps.ended(at.residual, Some(at.here.value), &at)?;
        };
        let Search { here, residual, begun, .. } = at;
        let n_iter = steps.n_iter();
        let objective = [&[begun], steps.objective()].concat();
        Ok(Minimum { residual, x: here.x, value: here.value, outcome, n_iter, objective })
    }
}

/// State of a search.
#[derive(Serialize, Deserialize)]
struct Search {
    here: Point,
    residual: f64,
    history: History,
    /// Decrease of the function in the last step.
    drop: Option<f64>,
    least: Stagnation,
    /// The value of the function at the start.
    begun: f64,
    /// Values of the function after the last iterations, enough to detect stagnation.
    last: Vec<f64>,
    /// Whether no further decrease is expected.
    ended: bool,
    counts: Vec<u64>,
}

impl Search {
    fn first(memory: usize, objective: &mut impl Objective, x: Vec<f64>) -> Result<Self> {
        let mut gradient = vec![0.0; x.len()];
        let value = objective.at(&x, &mut gradient)?;
        let here = Point { x, value, gradient };
        Ok(Self {
            residual: objective.residual(&here.gradient),
            here,
            history: History::new(memory, f64::EPSILON, SummationOrder::Lanes),
            drop: None,
            least: Stagnation::default(),
            begun: value,
            last: vec![value],
            ended: false,
            counts: objective.counts(),
        })
    }

    /// Iteration number `n_iter`; `false` if no step decreases the function.
    fn step(&mut self, objective: &mut impl Objective, n_iter: u64) -> Result<bool> {
        let next = loop {
            let direction = self.history.descent_direction(&self.here.gradient, scaled);
            let alone = self.history.is_empty();
            let first = if alone { self.here.first_step(&direction, self.drop) } else { 1.0 };
            match line_search(objective, &self.here, &direction, first)? {
                Some(next) => break next,
                None if alone => return Ok(false),
                None => self.history.clear(),
            }
        };
        let here = std::mem::replace(&mut self.here, next);
        self.drop = Some(here.value - self.here.value);
        let moved = differences(&self.here.x, &here.x);
        self.history.add(moved, differences(&self.here.gradient, &here.gradient));
        self.residual = objective.residual(&self.here.gradient);
        self.last.push(self.here.value);
        let before = (self.last.len() > MOST_IDLE_ITERATIONS).then(|| self.last.remove(0));
        let flat = before.is_some_and(|b| b - self.here.value <= IDLE_DECREASE * self.here.value.abs());
        self.ended = !self.least.still_decreases(self.residual) && flat;
        if self.ended {
            return Ok(true);
        }
        if let Some(factors) = objective.rescaled(n_iter, &self.here.x) {
            self.here.rescale(&factors);
            self.history.rescale(&factors);
            self.residual = objective.residual(&self.here.gradient);
        }
        Ok(true)
    }
}

/// The smallest residual so far, and the number of iterations without a decrease by a tenth.
#[derive(Serialize, Deserialize)]
struct Stagnation {
    residual: f64,
    idle: usize,
}

impl Default for Stagnation {
    fn default() -> Self {
        Self { residual: f64::INFINITY, idle: 0 }
    }
}

impl Stagnation {
    /// Whether residuals still decrease, given the next one.
    fn still_decreases(&mut self, residual: f64) -> bool {
        match residual < 0.9 * self.residual {
            true => (self.residual, self.idle) = (residual, 0),
            false => self.idle += 1,
        }
        self.idle < MOST_IDLE_ITERATIONS
    }
}

/// A point, the value of the function and its gradient.
#[derive(Serialize, Deserialize)]
struct Point {
    x: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

impl Point {
    /// The first trial step without information on curvature: a step predicted to repeat the last decrease,
    /// within bounds.
    fn first_step(&self, direction: &[f64], drop: Option<f64>) -> f64 {
        let (size, steep) = (dot(&self.x, &self.x).sqrt(), dot(direction, direction).sqrt());
        let far = if size > 0.0 { FIRST_STEP_SHARE * size / steep } else { 1.0 / steep };
        match drop.filter(|d| *d > 0.0) {
            Some(drop) => (2.02 * drop / (steep * steep)).min(far),
            None => far,
        }
    }

    fn rescale(&mut self, factors: &[f64]) {
        self.x.iter_mut().zip(factors).for_each(|(x, f)| *x *= f);
        self.gradient.iter_mut().zip(factors).for_each(|(g, f)| *g /= f);
    }
}

/// The inverse Hessian scaled by the last pair.
fn scaled(mut d: Vec<f64>, scale: Option<f64>) -> Vec<f64> {
    if let Some(scale) = scale {
        d.iter_mut().for_each(|x| *x *= scale);
    }
    d
}

fn differences(a: &[f64], b: &[f64]) -> impl Iterator<Item = f64> {
    a.iter().zip(b).map(|(a, b)| a - b)
}

#[cfg(test)]
mod tests;
