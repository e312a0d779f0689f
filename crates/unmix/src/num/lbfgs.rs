//! Limited-memory BFGS: a minimum of a smooth function of many numbers, from its values and gradients.
//!
//! ```text
//! d = -H g                 H by two loops over the last pairs s = Δx, y = Δg (Nocedal 1980)
//! x <- x + t d             f(x + t d) <= f + 1e-4 t g'd,   |g(x + t d)'d| <= 0.9 |g'd|      (Wolfe 1969, strong)
//! ```
//!
//! Nothing depends on the units of the function or of its argument: multiply either by a power of two and the steps are the same
//! ones. No step raises the function by more than its rounding errors, and such a rise counts as none. Where no step along `d` lowers it, what the pairs say is forgotten and the search goes on
//! downhill; where that does not lower it either, the search has stalled at the rounding errors of the function.
//!
//! `O(memory n)` beside the function, and `2 memory n` numbers.
//!
//! J. Nocedal (1980), Math. Comp. 35:773. D. Liu & J. Nocedal (1989), Math. Program. 45:503. Line search: J. Nocedal & S. Wright
//! (2006), Numerical Optimization, algorithms 3.5 and 3.6.

use super::widest;
use crate::error::Result;

mod history;
mod line;

pub(crate) use history::History;
use line::line_search;

/// A function to minimise, and what is to happen on the way.
pub trait Objective {
    /// Its value at `x`, and its gradient there over `gradient`. A value that is not finite means that `x` is too far away.
    fn at(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64>;

    /// What is compared with `tol`: the largest entry of the gradient, unless said otherwise.
    fn residual(&self, gradient: &[f64]) -> f64 {
        gradient.iter().fold(0.0, |m, g| m.max(g.abs()))
    }

    /// By how much `value`, found by [`at`](Self::at), may be off by rounding.
    fn rounding(&self, value: f64) -> f64 {
        ROUNDING * value.abs()
    }

    /// Hears that an iteration ended; `false` ends the search.
    fn iterated(&mut self, n_iter: u64, residual: f64, value: f64) -> Result<bool> {
        let _ = (n_iter, residual, value);
        Ok(true)
    }

    /// Factors for the entries of `x` that change neither the function nor, up to a renaming, its gradient; asked for after every
    /// iteration. What the search remembers is scaled along.
    fn rescaled(&mut self, n_iter: u64, x: &[f64]) -> Option<Vec<f64>> {
        let _ = (n_iter, x);
        None
    }
}

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lbfgs {
    /// Pairs that are remembered.
    pub memory: usize,
    /// Iterations at most.
    pub max_iter: u64,
    /// The residual that ends the search.
    pub tol: f64,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The residual is at most `tol`.
    Converged,
    /// `max_iter` iterations were taken.
    MaxIter,
    /// The function asked for it.
    Asked,
    /// No step lowers the function or its gradient: rounding errors are larger than what is left to gain.
    Stalled,
}

/// Where a search ended.
#[derive(Clone, Debug)]
pub struct Minimum {
    /// The place.
    pub x: Vec<f64>,
    /// The function there.
    pub value: f64,
    /// What was compared with `tol`.
    pub residual: f64,
    /// Why it ended.
    pub ended: Ended,
    /// Iterations.
    pub n_iter: u64,
    /// The function at the start and after each iteration, differences within rounding counted as none; never rises.
    pub objective: Vec<f64>,
}

/// So many iterations that lower the function by no more than this share of it, and the residual by no more than a tenth, are the last ones.
const IDLE: (usize, f64) = (30, 1e-14);

/// Rounding errors of a sum of some thousand numbers, as a share of it.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// The first step ever takes the argument so far, as a share of its length.
const FIRST: f64 = 0.1;

impl Lbfgs {
    /// Searches from `x` on.
    ///
    /// # Errors
    ///
    /// Those of the function.
    pub fn minimise(&self, of: &mut impl Objective, x: Vec<f64>) -> Result<Minimum> {
        let mut gradient = vec![0.0; x.len()];
        let value = of.at(&x, &mut gradient)?;
        let mut here = Point { x, value, gradient };
        let mut history = History::new(self.memory, f64::EPSILON, dot);
        let (mut n_iter, mut objective, mut drop) = (0, vec![value], None);
        let mut least = Least::default();
        let ended = loop {
            let residual = of.residual(&here.gradient);
            if residual <= self.tol {
                break Ended::Converged;
            }
            if !here.value.is_finite() {
                break Ended::Stalled;
            }
            if n_iter == self.max_iter {
                break Ended::MaxIter;
            }
            let direction = history.downhill(&here.gradient, scaled);
            let first = if history.is_empty() { here.first_step(&direction, drop) } else { 1.0 };
            let Some(next) = line_search(of, &here, &direction, first)? else {
                if history.is_empty() {
                    break Ended::Stalled;
                }
                history.clear();
                continue;
            };
            drop = Some(here.value - next.value);
            history.add(differences(&next.x, &here.x), differences(&next.gradient, &here.gradient));
            (here, n_iter) = (next, n_iter + 1);
            objective.push(here.value);
            let before = objective.len().checked_sub(IDLE.0 + 1).map(|i| objective[i]);
            let flat = before.is_some_and(|b| b - here.value <= IDLE.1 * here.value.abs());
            if !least.falls(of.residual(&here.gradient)) && flat {
                break match of.residual(&here.gradient) <= self.tol {
                    true => Ended::Converged,
                    false => Ended::Stalled,
                };
            }
            if let Some(factors) = of.rescaled(n_iter, &here.x) {
                here.rescale(&factors);
                history.rescale(&factors);
            }
            if !of.iterated(n_iter, of.residual(&here.gradient), here.value)? {
                break Ended::Asked;
            }
        };
        let residual = of.residual(&here.gradient);
        Ok(Minimum { residual, x: here.x, value: here.value, ended, n_iter, objective })
    }
}

/// The smallest residual so far, and for how many iterations none was smaller by a tenth.
struct Least {
    residual: f64,
    idle: usize,
}

impl Default for Least {
    fn default() -> Self {
        Self { residual: f64::INFINITY, idle: 0 }
    }
}

impl Least {
    /// Whether residuals still fall, `residual` being the next one.
    fn falls(&mut self, residual: f64) -> bool {
        match residual < 0.9 * self.residual {
            true => (self.residual, self.idle) = (residual, 0),
            false => self.idle += 1,
        }
        self.idle < IDLE.0
    }
}

/// A place, and the function there.
struct Point {
    x: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

impl Point {
    /// The first trial where nothing is known of curvature: as far as would repeat the last decrease, within reason.
    fn first_step(&self, direction: &[f64], drop: Option<f64>) -> f64 {
        let (size, steep) = (dot(&self.x, &self.x).sqrt(), dot(direction, direction).sqrt());
        let far = if size > 0.0 { FIRST * size / steep } else { 1.0 / steep };
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

/// The inverse Hessian as far as the last pair knows its size.
fn scaled(mut d: Vec<f64>, scale: Option<f64>) -> Vec<f64> {
    if let Some(scale) = scale {
        d.iter_mut().for_each(|x| *x *= scale);
    }
    d
}

fn differences(a: &[f64], b: &[f64]) -> impl Iterator<Item = f64> {
    a.iter().zip(b).map(|(a, b)| a - b)
}

/// `Σ a b`, in lanes, so that whole vectors can be used without changing the order of the sum.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 16;
    widest(
        #[inline(always)]
        || {
            let mut sums = [0.0; LANES];
            let (wide_a, rest_a) = a.as_chunks::<LANES>();
            let (wide_b, rest_b) = b.as_chunks::<LANES>();
            for (a, b) in wide_a.iter().zip(wide_b) {
                for i in 0..LANES {
                    sums[i] += a[i] * b[i];
                }
            }
            sums.iter().sum::<f64>() + rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum::<f64>()
        },
    )
}

#[cfg(test)]
mod tests;
