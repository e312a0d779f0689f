//! Factor analysis with a Laplace prior of the loadings: the mode of their posterior, by expectation-maximisation.
//!
//! ```text
//! maximise  mean log-likelihood of the rows - l1 sum_ij |loading_ij| / sd_i        (Hirose & Yamamoto 2015)
//! E: beta = (I + L Psi^-1 L')^-1 L Psi^-1,   SB = R beta',   Z = I - beta L' + beta SB
//! M: for every column the lasso  min l' Z l / 2 - l' SB + l1 psi |l|_1  by coordinate descent, then  psi = 1 - 2 l' SB + l' Z l  within the bounds,
//!    then for every factor the scale s of its loadings, with  l1 |l|_1 s^3 + s^2 = Z_jj
//! ```
//!
//! in units in which columns have variance 1. Coordinate descent lowers the objective of the lasso. The scale is parameter expansion (Liu, Rubin &
//! Wu 1998): the variance of the factor, which is 1 in the model, is free in this step, `s^2` maximises `-log s^2 / 2 - Z_jj / (2 s^2) - l1 s |l|_1`,
//! and becomes 1 again by `l <- s l`. So the penalised likelihood never decreases. `l1 = 0` is maximum likelihood by expectation-maximisation.
//!
//! Where the likelihood hardly changes, as with the rotation of the factors and with loadings of superfluous factors, the penalty alone moves the
//! parameters, and a step is only about `l1 psi` long: at the same speed for thousands of steps. So one in
//! [`ITERATIONS_BETWEEN_SEARCHES`] iterations, and the last one, searches further along the step, and rotates pairs of factors
//! (`l1_rotation.rs`); both only where the objective rises.

use super::gaps::residual;
use super::l1_rotation::rotate_pairs;
use super::likelihood::Moments;
use super::row_moments::RowMoments;
use super::search::Problem;
use super::settings::FactorAnalysis;
use super::sparse::{PriorResult, ScaledParameters};
use crate::error::{Error, Result};
use crate::num::Matrix;
use crate::num::factor::{self, Cholesky};
use crate::run::Run;
use crate::solve::{Limits, Steps};
use serde::{Deserialize, Serialize};

/// Maximum number of rounds of coordinate descent over the loadings of a column in one step.
const MOST_ROUNDS: usize = 10;

/// Iterations from one search beyond a step to the next. A search computes the expected moments some five times, a step once.
const ITERATIONS_BETWEEN_SEARCHES: u64 = 10;

/// Upper bound of the length of a search, in steps: rounding errors of a step multiplied by it are still small.
const LONGEST_SEARCH_STEPS: f64 = 1e6;

/// State of the iteration.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    start: ScaledParameters,
    value: Option<f64>,
    rise: Option<f64>,
    /// The increase that the last search beyond a step found: more than the tolerance may still remain until the next search.
    gain: f64,
    residual: f64,
}

/// Expected moments of the factors under some parameters.
struct Expected {
    /// `SB'`, `q x p`: cross-moments of factors and columns.
    sb: Matrix<f64>,
    /// Second moments of the factors, `q x q`.
    z: Matrix<f64>,
    /// `-2 log-likelihood / n - p log 2 pi`.
    f: f64,
}

impl FactorAnalysis {
    /// Maximises the penalised likelihood, starting from `start`.
    pub(super) fn searched_lasso(
        &self,
        row_moments: &RowMoments,
        problem: &Problem<'_>,
        start: ScaledParameters,
        run: &Run<'_>,
    ) -> Result<PriorResult> {
        let limits = Limits { tol: self.tol, max_iter: self.max_iter };
        let first = || Ok(State { start, value: None, rise: None, gain: 0.0, residual: f64::INFINITY });
        let (mut steps, mut at) = Steps::begin(run, "sparse loadings", limits, first)?;
        let penalised = Penalised { row_moments, problem, l1: self.l1 };
        let mut expected = expected(&row_moments.moments, &at.start)?;
        let outcome = loop {
            if let Some(outcome) = steps.ending(at.residual) {
                break outcome;
            }
            let before = at.value.unwrap_or_else(|| penalised.value(&at.start, expected.f));
            let mut next = penalised.at(self.maximised(problem, &at.start, &expected))?;
            let mut rise = Some(next.value - before);
            let due = steps.n_iter().is_multiple_of(ITERATIONS_BETWEEN_SEARCHES);
            let mut gain = if due { 0.0 } else { at.gain };
            let mut residual = residual(next.value, rise, at.rise).max(gain);
            if due || residual <= self.tol {
                // A point that is better by less than the tolerance is not needed.
                let least = if residual <= self.tol { self.tol } else { next.value - before };
                gain = 0.0;
                if let Some(further) = penalised.further(&at.start, &next, least)? {
                    gain = further.value - next.value;
                    residual = residual.max(gain);
                    // The next increase has no ratio to that of this step.
                    (next, rise) = (further, None);
                }
            }
            expected = next.expected;
            at = State { start: next.start, value: Some(next.value), rise, gain, residual };
            steps.ended(residual, at.value, &at)?;
        };
        let n_iter = steps.n_iter();
        let mut objective = steps.into_objective();
        if objective.is_empty() {
            objective.push(penalised.value(&at.start, expected.f));
        }
        let log_likelihood = Some(-0.5 * row_moments.n * expected.f - problem.units);
        let second = None;
        Ok(PriorResult {
            at: at.start,
            second,
            outcome,
            n_iter,
            residual: at.residual,
            objective,
            log_likelihood,
        })
    }

    fn maximised(
        &self,
        problem: &Problem<'_>,
        at: &ScaledParameters,
        expected: &Expected,
    ) -> ScaledParameters {
        let Expected { sb, z, .. } = expected;
        let (q, p) = (at.loadings.rows(), at.loadings.cols());
        let (mut loadings, mut log_psi) = (at.loadings.clone(), at.log_psi.clone());
        for i in 0..p {
            let weight = self.l1 * at.log_psi[i].exp();
            let mut l: Vec<f64> = (0..q).map(|j| loadings[(j, i)]).collect();
            for _ in 0..MOST_ROUNDS {
                let mut change = 0.0f64;
                for j in 0..q {
                    if z[(j, j)] <= 0.0 {
                        continue;
                    }
                    let others: f64 = z.row(j).iter().zip(&l).map(|(z, l)| z * l).sum::<f64>();
                    let partial = sb[(j, i)] - others + z[(j, j)] * l[j];
                    let new = partial.signum() * (partial.abs() - weight).max(0.0) / z[(j, j)];
                    change = change.max((new - l[j]).abs());
                    l[j] = new;
                }
                if change <= 1e-15 {
                    break;
                }
            }
            let mut left = 1.0;
            for (j, x) in l.iter().enumerate() {
                let across: f64 = z.row(j).iter().zip(&l).map(|(z, l)| z * l).sum();
                left += x * (across - 2.0 * sb[(j, i)]);
                loadings[(j, i)] = *x;
            }
            log_psi[i] = left.max(f64::MIN_POSITIVE).ln();
        }
        problem.clip(&mut log_psi);
        for j in (0..q).filter(|&j| z[(j, j)] > 0.0) {
            let l = loadings.row_mut(j);
            let scale = scale(z[(j, j)], self.l1 * l.iter().map(|x| x.abs()).sum::<f64>());
            l.iter_mut().for_each(|x| *x *= scale);
        }
        ScaledParameters { loadings, log_psi }
    }
}

/// The positive root of `weight s^3 + s^2 = z`, for positive `z`. The left side is convex and increases, so that Newton's method from above descends
/// to the root.
fn scale(z: f64, weight: f64) -> f64 {
    let mut s = z.sqrt();
    for _ in 0..100 {
        let step = (s * s * (weight * s + 1.0) - z) / (s * (3.0 * weight * s + 2.0));
        s -= step;
        if step <= f64::EPSILON * s {
            break;
        }
    }
    s
}

/// The penalised log-likelihood of all rows.
struct Penalised<'a> {
    row_moments: &'a RowMoments,
    problem: &'a Problem<'a>,
    l1: f64,
}

/// Parameters, the expected moments under them, and their penalised log-likelihood.
struct Evaluated {
    start: ScaledParameters,
    expected: Expected,
    value: f64,
}

impl Penalised<'_> {
    /// The value, for `f` of the [`Expected`] moments.
    fn value(&self, at: &ScaledParameters, f: f64) -> f64 {
        let sum: f64 = at.loadings.as_slice().iter().map(|x| x.abs()).sum();
        -0.5 * self.row_moments.n * f - self.problem.units - self.row_moments.n * self.l1 * sum
    }

    fn at(&self, start: ScaledParameters) -> Result<Evaluated> {
        let expected = expected(&self.row_moments.moments, &start)?;
        let value = self.value(&start, expected.f);
        Ok(Evaluated { start, expected, value })
    }

    /// Parameters that are better than those `at` the end of a step from `before` by more than `least` and more than rounding errors, if they are
    /// found: further along the step, by doubling its length while the objective rises, and from there by rotations of pairs of factors.
    fn further(&self, before: &ScaledParameters, at: &Evaluated, least: f64) -> Result<Option<Evaluated>> {
        let least = least.max(64.0 * f64::EPSILON * at.value.abs());
        let (mut best, mut length): (Option<Evaluated>, f64) = (None, 2.0);
        while length <= LONGEST_SEARCH_STEPS {
            // Far away the precision of the factors may have no factorisation: the search ends there.
            let Ok(found) = self.at(self.along(before, &at.start, length)) else { break };
            match found.value > best.as_ref().unwrap_or(at).value {
                true => best = Some(found),
                false => break,
            }
            length *= 2.0;
        }
        let best = best.filter(|best| best.value - at.value > least);
        let from = best.as_ref().unwrap_or(at);
        let ScaledParameters { mut loadings, log_psi } = from.start.clone();
        if self.row_moments.n * self.l1 * rotate_pairs(&mut loadings) > least {
            let rotated = self.at(ScaledParameters { loadings, log_psi })?;
            if rotated.value > from.value {
                return Ok(Some(rotated));
            }
        }
        Ok(best)
    }

    /// The parameters at `length` times the step from `before` to `at`: a loading that would change its sign is 0, and uniquenesses stay within
    /// their bounds.
    fn along(&self, before: &ScaledParameters, at: &ScaledParameters, length: f64) -> ScaledParameters {
        let beyond = |from: f64, to: f64| from + length * (to - from);
        let loading = |j: usize, i: usize| {
            let to = at.loadings[(j, i)];
            let x = beyond(before.loadings[(j, i)], to);
            if x * to > 0.0 { x } else { 0.0 }
        };
        let loadings = Matrix::from_fn(at.loadings.rows(), at.loadings.cols(), loading);
        let mut log_psi: Vec<f64> =
            before.log_psi.iter().zip(&at.log_psi).map(|(from, to)| beyond(*from, *to)).collect();
        self.problem.clip(&mut log_psi);
        ScaledParameters { loadings, log_psi }
    }
}

fn expected(moments: &Moments, at: &ScaledParameters) -> Result<Expected> {
    let (q, p) = (at.loadings.rows(), at.loadings.cols());
    let scaled = Matrix::from_fn(q, p, |j, i| at.loadings[(j, i)] / at.log_psi[i].exp());
    let mut inner = factor::multiply_transposed(&scaled, &at.loadings);
    (0..q).for_each(|j| inner[(j, j)] += 1.0);
    let what = "the factorisation of the precision of the factors";
    let factor = Cholesky::new(&inner).ok_or(Error::Factorisation { what })?;
    let beta = factor.solve_rows(&scaled.transposed()).transposed();
    let sb = moments.times(&beta);
    let mut z = factor::multiply_transposed(&sb, &beta);
    let explained = factor::multiply_transposed(&beta, &at.loadings);
    for i in 0..q {
        (0..q).for_each(|j| z[(i, j)] -= explained[(i, j)]);
        z[(i, i)] += 1.0;
    }
    let z = Matrix::from_fn(q, q, |i, j| 0.5 * (z[(i, j)] + z[(j, i)]));
    // log|C| = sum log psi + log|inner|;  tr(C^-1 R) = sum 1/psi - tr(beta R loadings' / psi).
    let inside: f64 = sb.as_slice().iter().zip(scaled.as_slice()).map(|(a, b)| a * b).sum();
    let f = at.log_psi.iter().sum::<f64>()
        + factor.log_determinant()
        + at.log_psi.iter().map(|x| (-x).exp()).sum::<f64>()
        - inside;
    Ok(Expected { sb, z, f })
}
