//! Factor analysis with a Laplace or a Jeffreys prior of the factors, by variational expectation-maximisation.
//!
//! ```text
//! E: a round over the variances of the factors of every row (`row_bound.rs`), starting from those of the previous iteration
//! M: S = mean E[z z'],   W = mean (x E[z]') S^-1,   psi = diag(mean x x' - 2 W mean(E[z] x') + W S W')  within the bounds
//! ```
//!
//! Neither step decreases the lower bound of the log-likelihood. Memory `n (p + 2 q)` numbers,
//! `O(n q^3)` operations in an iteration.

use super::gaps::residual;
use super::likelihood::Point;
use super::row_bound::RowBound;
use super::row_moments::RowMoments;
use super::search::Problem;
use super::settings::FactorAnalysis;
use super::sparse::{PriorResult, ScaledParameters};
use crate::data::{Rows, Standardized};
use crate::error::{Error, Result};
use crate::machine::check_memory;
use crate::num::factor::{self, Cholesky};
use crate::num::parallel;
use crate::num::{Matrix, Real, pseudo_inverse};
use crate::run::Run;
use crate::solve::{Limits, Steps};
use serde::{Deserialize, Serialize};

/// State of the iteration, with the variances of the factors from which the E-step begins.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    start: ScaledParameters,
    variances: Matrix<f64>,
    value: Option<f64>,
    rise: Option<f64>,
    residual: f64,
}

/// Centred rows of the columns that vary, divided by their standard deviations, and the weights of the rows.
pub(super) struct ScaledRows {
    x: Matrix<f64>,
    weights: Option<Vec<f64>>,
}

/// Sums over rows.
struct Sums {
    /// `sum E[z z']`, `q x q`.
    second: Matrix<f64>,
    /// `sum x E[z]'`, `p x q`.
    cross: Matrix<f64>,
    /// Sum of the bounds of the rows before the round, without the terms that all rows share.
    value: f64,
}

impl ScaledRows {
    /// Reads the rows into memory.
    ///
    /// # Errors
    ///
    /// More rows than memory allows, errors of the source.
    pub(super) fn of<T: Real>(
        rows: &Rows<'_, T>,
        row_moments: &RowMoments,
        q: usize,
        run: &Run<'_>,
    ) -> Result<Self> {
        let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
        check_memory(
            &format!(
                "{n} rows of {p} columns and {q} factors, with the variances of the factors of each row,"
            ),
            n.saturating_mul(8 * (2 * p + 3 * q) as u64),
            "choose prior='laplace-loadings', fewer rows or fewer factors",
        )?;
        run.stage("rows")?;
        let all = rows.picked((0..n).collect(), run)?;
        let RowMoments { varying, mean, scales, .. } = row_moments;
        let x = Standardized { columns: varying, mean, scale: Some(scales) }.of_some(&all);
        let x = Matrix::from_vec(n as usize, varying.len(), x);
        Ok(Self { x, weights: rows.weights().map(<[f64]>::to_vec) })
    }

    /// Codes along the first axes of the likelihood at a point, each of variance 1, `k x n`; multiplied by the fourth root of the weight of
    /// the row, so that sums of fourth powers are weighted.
    pub(super) fn white(&self, at: &Point) -> Matrix<f64> {
        let over = Matrix::from_fn(at.k, self.x.cols(), |j, i| {
            at.w[(j, i)] * (-0.5 * at.log_psi[i]).exp() / at.theta[j].sqrt()
        });
        let mut codes = factor::multiply_transposed(&over, &self.x);
        if let Some(weights) = &self.weights {
            let roots: Vec<f64> = weights.iter().map(|w| w.sqrt().sqrt()).collect();
            (0..at.k).for_each(|j| codes.row_mut(j).iter_mut().zip(&roots).for_each(|(z, r)| *z *= r));
        }
        codes
    }

    /// Ranges of rows that a thread processes; they depend on the number of rows alone.
    fn chunks(&self) -> Vec<std::ops::Range<usize>> {
        let (n, size) = (self.x.rows(), self.x.rows().div_ceil(64).max(16));
        (0..n).step_by(size).map(|at| at..(at + size).min(n)).collect()
    }
}

impl FactorAnalysis {
    /// Maximises the bound, starting from `start`.
    pub(super) fn searched_factors(
        &self,
        held: &ScaledRows,
        row_moments: &RowMoments,
        problem: &Problem<'_>,
        start: ScaledParameters,
        run: &Run<'_>,
    ) -> Result<PriorResult> {
        let limits = Limits { tol: self.tol, max_iter: self.max_iter };
        let (n, q) = (held.x.rows(), start.loadings.rows());
        let variances = Matrix::from_fn(n, q, |_, _| 1.0);
        let first = || Ok(State { start, variances, value: None, rise: None, residual: f64::INFINITY });
        let (mut steps, mut at) = Steps::begin(run, "sparse factors", limits, first)?;
        let total = |at: &ScaledParameters, sums: &Sums| {
            let logs: f64 = at.log_psi.iter().sum();
            let squares: f64 = at.log_psi.iter().map(|x| (-x).exp()).sum();
            // Columns have variance 1 over the rows.
            sums.value - 0.5 * row_moments.n * (logs + squares) - problem.units
        };
        let (mut sums, mut after) = self.pass(held, &at)?;
        let outcome = loop {
            if let Some(outcome) = steps.ending(at.residual) {
                break outcome;
            }
            let before = at.value.unwrap_or_else(|| total(&at.start, &sums));
            let start = maximised(problem, row_moments.n, &at.start, &sums)?;
            at = State { start, variances: after, ..at };
            (sums, after) = self.pass(held, &at)?;
            let value = total(&at.start, &sums);
            let rise = Some(value - before);
            let residual = residual(value, rise, at.rise);
            at = State { value: Some(value), rise, residual, ..at };
            steps.ended(residual, Some(value), &at)?;
        };
        let n_iter = steps.n_iter();
        let mut objective = steps.into_objective();
        if objective.is_empty() {
            objective.push(total(&at.start, &sums));
        }
        let second = Matrix::from_fn(q, q, |i, j| sums.second[(i, j)] / row_moments.n);
        Ok(PriorResult {
            at: at.start,
            second: Some(second),
            outcome,
            n_iter,
            residual: at.residual,
            objective,
            log_likelihood: None,
        })
    }

    /// A round for every row: the sums, and the variances after it.
    fn pass(&self, held: &ScaledRows, at: &State) -> Result<(Sums, Matrix<f64>)> {
        let chunks = held.chunks();
        let scaled = at.start.scaled();
        let over_psi = at.start.over_psi();
        let bound = RowBound::new(&scaled, self.prior);
        let work = |rows: &std::ops::Range<usize>| self.chunk(held, at, (&bound, &over_psi), rows.clone());
        let done: Vec<Result<(Sums, Vec<f64>)>> = parallel::map(chunks.iter(), work);
        let (p, q) = (held.x.cols(), scaled.rows());
        let mut sums = Sums { second: Matrix::zeros(q, q), cross: Matrix::zeros(p, q), value: 0.0 };
        let mut after = Vec::with_capacity(held.x.rows() * q);
        for chunk in done {
            let (own, variances) = chunk?;
            let pairs = [(&mut sums.second, &own.second), (&mut sums.cross, &own.cross)];
            for (to, from) in pairs {
                to.as_mut_slice().iter_mut().zip(from.as_slice()).for_each(|(a, b)| *a += b);
            }
            sums.value += own.value;
            after.extend(variances);
        }
        Ok((sums, Matrix::from_vec(held.x.rows(), q, after)))
    }

    fn chunk(
        &self,
        held: &ScaledRows,
        at: &State,
        (bound, over_psi): (&RowBound, &Matrix<f64>),
        rows: std::ops::Range<usize>,
    ) -> Result<(Sums, Vec<f64>)> {
        let (p, q) = (held.x.cols(), over_psi.rows());
        let mut sums = Sums { second: Matrix::zeros(q, q), cross: Matrix::zeros(p, q), value: 0.0 };
        let mut after = Vec::with_capacity(rows.len() * q);
        for i in rows {
            let weight = held.weights.as_ref().map_or(1.0, |w| w[i]);
            if weight == 0.0 {
                after.extend_from_slice(at.variances.row(i));
                continue;
            }
            let x = held.x.row(i);
            let b: Vec<f64> =
                (0..q).map(|j| over_psi.row(j).iter().zip(x).map(|(w, x)| w * x).sum()).collect();
            let mut of = bound.posterior(&b, at.variances.row(i).to_vec())?;
            sums.value += weight * bound.value(&b, &of);
            bound.round(&b, &mut of);
            for a in 0..q {
                let line = sums.second.row_mut(a).iter_mut().zip(of.covariance.row(a)).zip(&of.mean);
                line.for_each(|((s, v), z)| *s += weight * (of.mean[a] * z + v));
            }
            for (j, x) in x.iter().enumerate() {
                let line = sums.cross.row_mut(j).iter_mut().zip(&of.mean);
                line.for_each(|(u, z)| *u += weight * x * z);
            }
            after.append(&mut of.prior_variance);
        }
        Ok((sums, after))
    }
}

/// The M-step: the best loadings, and the best uniquenesses for these. A factor that is 0 in every row keeps its loadings.
fn maximised(
    problem: &Problem<'_>,
    n: f64,
    before: &ScaledParameters,
    sums: &Sums,
) -> Result<ScaledParameters> {
    let (q, p) = (before.loadings.rows(), before.loadings.cols());
    let there: Vec<usize> = (0..q).filter(|&j| sums.second[(j, j)] > 0.0).collect();
    let m = there.len();
    let second = Matrix::from_fn(m, m, |a, b| {
        0.5 * (sums.second[(there[a], there[b])] + sums.second[(there[b], there[a])]) / n
    });
    let cross = Matrix::from_fn(p, m, |i, a| sums.cross[(i, there[a])] / n);
    let best = match Cholesky::new(&second) {
        _ if m == 0 => Matrix::zeros(p, 0),
        Some(factor) => factor.solve_rows(&cross),
        None => factor::multiply(&cross, &pseudo_inverse(&second)?),
    };
    if best.as_slice().iter().any(|x| !x.is_finite()) {
        return Err(Error::Factorisation { what: "the second moments of the factors" });
    }
    let mut loadings = before.loadings.clone();
    let mut log_psi = Vec::with_capacity(p);
    for i in 0..p {
        let w = best.row(i);
        let mut left = 1.0;
        for (a, &j) in there.iter().enumerate() {
            let across: f64 = second.row(a).iter().zip(w).map(|(s, w)| s * w).sum();
            left += w[a] * (across - 2.0 * cross[(i, a)]);
            loadings[(j, i)] = w[a];
        }
        log_psi.push(left.max(f64::MIN_POSITIVE).ln());
    }
    problem.clip(&mut log_psi);
    Ok(ScaledParameters { loadings, log_psi })
}
