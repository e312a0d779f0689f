//! The estimating equations of EASI, solved on all rows at once.
//!
//! The accuracy of online steps is limited by their size. They fluctuate about the point at which the mean `H` of
//! the relative step over the rows is 0:
//!
//! ```text
//! H = E[y y'] - I + K M - (K M)' = 0,    M = E[g(y) y'],  K = diag(k), k_i = sign(E g'(y_i) E y_i² - E[g(y_i) y_i])
//! ```
//!
//! Newton's method: `W <- (I + D) W`, where `D` solves the linearised equations for independent sources. With `S` and `A` the symmetric
//! and the antisymmetric part of `H`, those of `D` are `-S / 2` and `-(A_ij - S_ij (b_i - b_j) / 2) / (2 h_ij)`, with
//! `h_ij = (a_i + a_j) / 2`, `a_i = k_i (E g'(y_i) - M_ii)` and `b_i = k_i (E g'(y_i) + M_ii)`. A zero of `H` is the solution of
//! symmetric FastICA and of Picard-O.

use super::linear::{identity, inner, largest, sum};
use super::view::View;
use super::{Limits, Signs, SolverResult};
use crate::error::Result;
use crate::model::Outcome;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::solve::Steps;
use crate::stats::{Contrast, SourceSums};
use serde::{Deserialize, Serialize};

/// Lower bound of slopes, for pairs of sources that are nearly Gaussian or have the wrong sign.
const SLOPE_FLOOR: f64 = 0.01;

/// Maximum absolute entry of a step `D`.
const LARGEST_STEP_ENTRY: f64 = 0.5;

/// Maximum number of halvings of a step.
const MOST_HALVINGS: usize = 12;

const CONTRAST: Contrast = Contrast::LogCosh(1.0);

/// The estimating equations at `w`.
#[derive(Serialize, Deserialize)]
struct Point {
    w: Matrix<f64>,
    sums: SourceSums,
    /// `E[y y']`.
    second: Matrix<f64>,
    signs: Vec<f64>,
    /// `H`.
    mean_step: Matrix<f64>,
}

struct Search<'s, 'a, 'b, T: Real> {
    view: &'s View<'a, 'b, T>,
    /// Second moments of the coordinates, unless they are white.
    moments: Option<&'s Matrix<f64>>,
    /// Estimated signs, and number of sweeps.
    memory: (Signs, u64),
    run: &'s Run<'s>,
}

/// The matrix near `start` at which the mean of EASI's step is 0.
pub(super) fn solve<T: Real>(
    view: &View<'_, '_, T>,
    moments: Option<&Matrix<f64>>,
    extended: bool,
    start: Matrix<f64>,
    limits: &Limits,
    run: &Run<'_>,
) -> Result<SolverResult> {
    let mut search = Search { view, moments, memory: (Signs::new(extended), 0), run };
    let (mut steps, at) = Steps::begin(run, "mean step", *limits, || {
        let first = search.evaluate(start.clone(), None)?;
        Ok(first.map(|first| (first, search.memory.clone())))
    })?;
    let Some((mut at, memory)) = at else { return Ok(SolverResult::not_finite(start)) };
    search.memory = memory;
    let outcome = loop {
        if let Some(outcome) = steps.ending(largest(&at.mean_step)) {
            break outcome;
        }
        let Some(next) = search.step(&at)? else { break Outcome::Stalled };
        at = next;
        steps.ended(largest(&at.mean_step), None, &Some((&at, &search.memory)))?;
    };
    let value = at.sums.loss.iter().map(|l| (l - CONTRAST.of_gaussian()).powi(2)).sum::<f64>();
    Ok(SolverResult {
        residual: largest(&at.mean_step),
        w: at.w,
        outcome,
        n_iter: steps.n_iter(),
        sweeps: search.memory.1,
        objective: Vec::new(),
        sign_changes: Vec::new(),
        // The objective is maximised.
        value: -value,
        sums: Some(at.sums),
    })
}

impl<T: Real> Search<'_, '_, '_, T> {
    /// `H` at `w`, with the given signs, or those estimated from the sources; `None` if sums over the rows are not finite.
    fn evaluate(&mut self, w: Matrix<f64>, signs: Option<&[f64]>) -> Result<Option<Point>> {
        self.memory.1 += 1;
        let Some(sums) = self.view.means(&w, CONTRAST, self.run)? else { return Ok(None) };
        let second = match self.moments {
            None => factor::multiply_transposed(&w, &w),
            Some(c) => factor::multiply_transposed(&factor::multiply(&w, c), &w),
        };
        let signs = match signs {
            Some(signs) => signs.to_vec(),
            None => self.wanted(&sums, &second),
        };
        let mean_step = mean_step(&sums, &second, &signs);
        Ok(Some(Point { w, sums, second, signs, mean_step }))
    }

    fn wanted(&mut self, sums: &SourceSums, second: &Matrix<f64>) -> Vec<f64> {
        let variance: Vec<f64> = (0..second.rows()).map(|i| second[(i, i)]).collect();
        self.memory.0.of_scaled(sums, &variance)
    }

    /// A step that decreases `||H||_F`; `None` if there is none.
    fn step(&mut self, at: &Point) -> Result<Option<Point>> {
        let direction = direction(at);
        let mut size = (LARGEST_STEP_ENTRY / largest(&direction)).min(1.0);
        let before = inner(&at.mean_step, &at.mean_step);
        for _ in 0..MOST_HALVINGS {
            let w = factor::multiply(&sum(&identity(at.w.rows()), size, &direction), &at.w);
            size *= 0.5;
            let Some(mut next) = self.evaluate(w, Some(&at.signs))? else { continue };
            if inner(&next.mean_step, &next.mean_step) < before {
                let wanted = self.wanted(&next.sums, &next.second);
                if wanted != next.signs {
                    next.mean_step = mean_step(&next.sums, &next.second, &wanted);
                    next.signs = wanted;
                }
                return Ok(Some(next));
            }
        }
        Ok(None)
    }
}

/// `H`.
fn mean_step(sums: &SourceSums, second: &Matrix<f64>, signs: &[f64]) -> Matrix<f64> {
    let k = signs.len();
    Matrix::from_fn(k, k, |i, j| {
        let delta = f64::from(u8::from(i == j));
        second[(i, j)] - delta + signs[i] * sums.cross[(i, j)] - signs[j] * sums.cross[(j, i)]
    })
}

/// The step `D` of Newton's method, by the derivative for independent sources.
fn direction(at: &Point) -> Matrix<f64> {
    let k = at.signs.len();
    let of = |i: usize, own: f64| at.signs[i] * (at.sums.slope[i] + own * at.sums.cross[(i, i)]);
    Matrix::from_fn(k, k, |i, j| {
        let symmetric = 0.5 * (at.mean_step[(i, j)] + at.mean_step[(j, i)]);
        if i == j {
            return -0.5 * symmetric;
        }
        let rotated = 0.5 * (at.mean_step[(i, j)] - at.mean_step[(j, i)]);
        let slope = (of(i, -1.0) + of(j, -1.0)).max(2.0 * SLOPE_FLOOR);
        -0.5 * symmetric - (rotated - 0.5 * symmetric * (of(i, 1.0) - of(j, 1.0))) / slope
    })
}
