//! Factor analysis with a Laplace prior of the loadings: the mode of their posterior, by expectation-maximisation.
//!
//! ```text
//! maximise  mean log-likelihood of the rows - l1 sum_ij |loading_ij| / sd_i        (Hirose & Yamamoto 2015)
//! E: beta = (I + L Psi^-1 L')^-1 L Psi^-1,   SB = R beta',   Z = I - beta L' + beta SB
//! M: for every column the lasso  min l' Z l / 2 - l' SB + l1 psi |l|_1  by coordinate descent, then  psi = 1 - 2 l' SB + l' Z l  within the bounds
//! ```
//!
//! in units in which columns have variance 1. Coordinate descent lowers the objective of the lasso, so the penalised likelihood never decreases.
//! `l1 = 0` is maximum likelihood by expectation-maximisation.

use super::gaps::residual;
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
const ROUNDS: usize = 10;

/// State of the iteration.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    start: ScaledParameters,
    value: Option<f64>,
    rise: Option<f64>,
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
        let first = || Ok(State { start, value: None, rise: None, residual: f64::INFINITY });
        let (mut steps, mut at) = Steps::begin(run, "sparse loadings", limits, first)?;
        let penalised = |at: &ScaledParameters, f: f64| {
            let sum: f64 = at.loadings.as_slice().iter().map(|x| x.abs()).sum();
            -0.5 * row_moments.n * f - problem.units - row_moments.n * self.l1 * sum
        };
        let mut expected = expected(&row_moments.moments, &at.start)?;
        let outcome = loop {
            if let Some(outcome) = steps.ending(at.residual) {
                break outcome;
            }
            let before = at.value.unwrap_or_else(|| penalised(&at.start, expected.f));
            let start = self.maximised(problem, &at.start, &expected);
            expected = self::expected(&row_moments.moments, &start)?;
            let value = penalised(&start, expected.f);
            let rise = Some(value - before);
            let residual = residual(value, rise, at.rise);
            at = State { start, value: Some(value), rise, residual };
            steps.ended(residual, Some(value), &at)?;
        };
        let n_iter = steps.n_iter();
        let mut objective = steps.into_objective();
        if objective.is_empty() {
            objective.push(penalised(&at.start, expected.f));
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
            for _ in 0..ROUNDS {
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
