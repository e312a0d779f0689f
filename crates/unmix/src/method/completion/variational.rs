//! Variational alternating least squares: independent Gaussian posteriors of every row's and every column's factors and offset.
//!
//! Factors and offsets of both sides are in units of their prior standard deviations here, so that every prior is `N(0, I)`: cell `ij` is
//! `sum_a sqrt(g_a) x_ia y_ja + sd_rows x_i0 + sd_columns y_j0 + N(0, noise)`. The step of the rows is then the posterior of a
//! linear-Gaussian model whose loadings are those of the columns, known up to errors ([`Conditional::with_errors`]), and that of the columns
//! the same with both exchanged.

use super::cells::Cells;
use crate::data::Sparse;
use crate::error::Result;
use crate::num::{Matrix, factor, fill, fill_at_once};
use crate::run::{Outcome, Run};
use crate::solve::{Limits, Steps};
use crate::stats::gaps::{
    Conditional, LinePosteriors, LinearGaussian, Precision, cholesky, second_moments, triangle,
    twice_divergence,
};
use serde::{Deserialize, Serialize};

/// Lower bound of the noise variance, as a fraction of the mean square of the cells.
const LEAST_NOISE_SHARE: f64 = 1e-24;

/// Lower bound of the size of a factor during iterations, as a fraction of that of the first factor.
const LEAST_SIZE: f64 = 1e-20;

/// Iterations like the last that a fit with more factors may need to be better than one with fewer. Where more are supported, its bound is
/// the larger one after two or three iterations.
const ITERATIONS_AHEAD: f64 = 10.0;

/// A factor is weak if the mean square of its posterior means is below this share of its second moment, in rows and in columns alike. Without missing
/// cells the factors at the maximum of the bound are either 0 or above a threshold (Nakajima et al. 2013, J. Mach. Learn. Res. 14:1), but the
/// iterations may end before a factor is 0; whether a weak factor is left out is decided by the bound.
const WEAK_FACTOR_SHARE: f64 = 0.75;

/// Share below which a factor has no variance: its posterior is the prior.
const NO_VARIANCE: f64 = 1e-2;

/// Weight of the largest change of a share in the residual: with a tolerance of 1e-3, shares have changed by less than 0.01.
const SHARE_CHANGE_WEIGHT: f64 = 0.1;

/// Maximum number of lines of cells whose posteriors one thread computes at a time.
const LINES_PER_TASK: usize = 64;

/// Scales of the random variables.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sizes {
    /// `g`: mean square of a loading of each factor.
    pub(super) factors: Vec<f64>,
    /// Standard deviations of offsets of rows and of columns, where offsets are fitted.
    pub(super) offsets: Option<(f64, f64)>,
    /// Variance of the noise.
    pub(super) noise: f64,
}

/// Columns and scales, from which the next iteration begins.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) columns: LinePosteriors,
    pub(super) sizes: Sizes,
    pub(super) residual: f64,
    /// For each factor the mean square of its posterior means in the last iteration, as a share of its second moment: the larger one of rows
    /// and columns. They are of the factors before the last rotation, which is the identity at convergence. Empty before the first iteration, and where parameters have no posterior.
    pub(super) shares: Vec<f64>,
    /// Prior precisions of the rows, for penalised least squares, in which columns have no errors.
    pub(super) ridge: Option<Vec<Precision>>,
}

/// Result of the iterations.
pub(super) struct VariationalResult {
    pub(super) state: State,
    pub(super) outcome: Outcome,
    pub(super) n_iter: u64,
    /// Evidence lower bound per cell after each iteration, in nats; for penalised least squares the cost, for `ppca-em` the
    /// log-likelihood.
    pub(super) objective: Vec<f64>,
}

impl VariationalResult {
    /// The bound after the last iteration.
    pub(super) fn bound(&self) -> f64 {
        self.objective.last().copied().unwrap_or(f64::NEG_INFINITY)
    }
}

impl Cells {
    /// Iterates from `start`, leaves out factors of no variance, and then weak ones, if the bound is at least as large after further iterations
    /// without them: first all weak ones, and while the bound is lower, the weaker half of those. A fit that ends early keeps them.
    pub(super) fn selected(
        &self,
        start: impl FnOnce() -> Result<State>,
        least: Option<f64>,
        limits: Limits,
        run: &Run<'_>,
    ) -> Result<VariationalResult> {
        let mut ended = self.iterate(start, least, limits, run)?;
        let below = |ended: &VariationalResult, share: f64| {
            let shares = &ended.state.shares;
            let mut found: Vec<usize> = (0..shares.len()).filter(|a| shares[*a] < share).collect();
            found.sort_by(|a, b| shares[*a].total_cmp(&shares[*b]));
            found
        };
        let none = below(&ended, NO_VARIANCE);
        ended.state = self.without(&ended.state, &none);
        let (mut weak, mut spent) = (below(&ended, WEAK_FACTOR_SHARE), ended.n_iter);
        while ended.outcome == Outcome::Converged && !weak.is_empty() {
            let state = State { residual: f64::INFINITY, ..self.without(&ended.state, &weak) };
            let left = Limits { max_iter: limits.max_iter.saturating_sub(spent), ..limits };
            let mut fewer = self.iterate(|| Ok(state), None, left, run)?;
            spent += fewer.n_iter;
            if fewer.outcome != Outcome::Converged {
                // Iterations that were cut short have not shown that the weak factors are needed.
                ended.outcome = if fewer.outcome.is_early() { fewer.outcome } else { ended.outcome };
                break;
            }
            if fewer.bound() < ended.bound() {
                weak.truncate(weak.len() / 2);
                continue;
            }
            fewer.objective = [ended.objective, fewer.objective].concat();
            weak = below(&fewer, WEAK_FACTOR_SHARE);
            ended = fewer;
        }
        ended.n_iter = spent;
        Ok(ended)
    }

    /// The state without these factors.
    fn without(&self, at: &State, factors: &[usize]) -> State {
        let kept: Vec<_> = (0..at.sizes.factors.len()).filter(|a| !factors.contains(a)).collect();
        let shares = kept.iter().filter_map(|a| at.shares.get(*a).copied()).collect();
        State { shares, ..self.reduced(at, &kept.iter().map(|a| (*a, 1.0)).collect::<Vec<_>>()) }
    }

    /// The shares of the factors, given the posteriors of both sides.
    fn shares(&self, rows: &LinePosteriors, columns: &LinePosteriors, k: usize) -> Vec<f64> {
        let share = |posteriors: &LinePosteriors, a: usize, has_cells: &dyn Fn(usize) -> bool| {
            let seen = || (0..posteriors.len()).filter(|i| has_cells(*i));
            let explained: f64 = seen().map(|i| posteriors.mean(i)[a].powi(2)).sum();
            let variance: f64 = seen().map(|i| posteriors.covariance(i)[triangle(a) + a]).sum();
            explained / (explained + variance).max(f64::MIN_POSITIVE)
        };
        let of_rows = |a| share(rows, a, &|i| !self.by_row.row(i).0.is_empty());
        let of_columns = |a| share(columns, a, &|j| self.of_column[j] > 0);
        (0..k).map(|a| of_rows(a).max(of_columns(a))).collect()
    }

    /// Iterates from `start` until the relative change of the noise variance, and a tenth of the largest change of the share of a factor, are at
    /// most the tolerance; or until a bound of `least`, below which the result is of no use, is more than a few iterations away.
    pub(super) fn iterate(
        &self,
        start: impl FnOnce() -> Result<State>,
        least: Option<f64>,
        limits: Limits,
        run: &Run<'_>,
    ) -> Result<VariationalResult> {
        let by_column = self.by_row.transposed();
        let (mut steps, mut at) = Steps::begin(run, "als", limits, start)?;
        let outcome = loop {
            if let Some(outcome) = steps.ending(at.residual) {
                break outcome;
            }
            if least.is_some_and(|least| is_far(least, steps.objective())) {
                break Outcome::Stalled;
            }
            let rows = self.rows_beside(&at, run)?;
            let (next, bound) = self.next(&by_column, &rows, &at, run)?;
            at = next;
            steps.ended(at.residual, Some(bound), &at)?;
        };
        let n_iter = steps.n_iter();
        Ok(VariationalResult { state: at, outcome, n_iter, objective: steps.into_objective() })
    }

    /// Lower bound of the noise variance in these units.
    pub(super) fn least_noise(&self) -> f64 {
        LEAST_NOISE_SHARE.max(self.dtype.eps().powi(2))
    }

    /// Posteriors of the rows, given those of the columns.
    pub(super) fn rows_beside(&self, at: &State, run: &Run<'_>) -> Result<LinePosteriors> {
        let swapped = at.sizes.offsets.map(|(rows, columns)| (columns, rows));
        let conditional = match &at.ridge {
            None => at.sizes.loadings(&at.columns, swapped, run.threads),
            Some(prior) => Conditional::new(at.sizes.known(&at.columns, swapped)).with_prior(prior.clone()),
        };
        step(&self.by_row, &conditional, false, run)
    }

    /// The columns given the rows, the noise given both, and the sizes; and the bound before the sizes change.
    fn next(
        &self,
        by_column: &Sparse<'_, f64>,
        rows: &LinePosteriors,
        at: &State,
        run: &Run<'_>,
    ) -> Result<(State, f64)> {
        let mut sizes = at.sizes.clone();
        let conditional = sizes.loadings(rows, sizes.offsets, run.threads);
        let mut columns = step(by_column, &conditional, true, run)?;
        let n = self.len() as f64;
        let misfit: f64 = (0..columns.len()).map(|j| columns.misfit(j)).sum();
        sizes.noise = (misfit / n).max(self.least_noise());
        let divergence = |posteriors: &LinePosteriors, lines: &Sparse<'_, f64>| -> f64 {
            let seen = (0..posteriors.len()).filter(|i| !lines.row(*i).0.is_empty());
            seen.map(|i| twice_divergence(posteriors, i)).sum()
        };
        let twice = n * (2.0 * std::f64::consts::PI * sizes.noise).ln()
            + misfit / sizes.noise
            + divergence(rows, &self.by_row)
            + divergence(&columns, by_column);
        let bound = -0.5 * twice / n - self.unit.ln();
        let shares = self.shares(rows, &columns, sizes.factors.len());
        sizes.balance(rows, &mut columns, [&self.by_row, by_column], run.threads)?;
        let noise = (at.sizes.noise - sizes.noise).abs() / at.sizes.noise;
        let changes = shares.iter().zip(&at.shares).map(|(new, old)| (new - old).abs());
        let residual = noise.max(SHARE_CHANGE_WEIGHT * changes.fold(0.0, f64::max));
        Ok((State { columns, sizes, residual, shares, ridge: None }, bound))
    }
}

/// Whether a bound that rises on as in the last iteration needs more than [`ITERATIONS_AHEAD`] iterations to be `least`.
fn is_far(least: f64, bound: &[f64]) -> bool {
    match bound {
        [.., before, last] => least - last > ITERATIONS_AHEAD * (last - before),
        _ => false,
    }
}

/// Posteriors of all lines (rows or columns), given a model of the other side.
pub(super) fn step(
    lines: &Sparse<'_, f64>,
    conditional: &Conditional,
    misfit: bool,
    run: &Run<'_>,
) -> Result<LinePosteriors> {
    let q = conditional.model().n_factors();
    let width = LinePosteriors::width(q);
    let mut table = vec![0.0; lines.n_rows() * width];
    let pace = |_: f64| run.check();
    // Enough groups to balance threads.
    let group = (lines.n_rows() / (8 * run.threads.max(1))).clamp(1, LINES_PER_TASK);
    let some = |number: usize, out: &mut [f64]| {
        let first = number * group;
        let own: Vec<_> = (first..first + out.len() / width).map(|i| lines.row(i)).collect();
        conditional.of_lines(&own, misfit, out);
    };
    fill(run.threads, lines.n_stored(), &pace, &mut table, group * width, some)?;
    Ok(LinePosteriors::new(q, table))
}

impl Sizes {
    /// The lines of one side as loadings and means for the other, without errors. `offsets`: standard deviations of the offsets of
    /// these lines, and of those of the other side.
    pub(super) fn known(&self, posteriors: &LinePosteriors, offsets: Option<(f64, f64)>) -> LinearGaussian {
        let (k, m) = (self.factors.len(), posteriors.len());
        let root: Vec<f64> = self.factors.iter().map(|g| g.sqrt()).collect();
        let (mut mean, mut loadings) = (Vec::with_capacity(m), Vec::with_capacity(m * (k + 1)));
        for i in 0..m {
            let x = posteriors.mean(i);
            loadings.extend(x.iter().zip(&root).map(|(x, r)| x * r));
            // Offsets of the other side have the same loading for all lines here.
            loadings.extend(offsets.map(|(_, other)| other));
            mean.push(offsets.map_or(0.0, |(own, _)| own * x[k]));
        }
        LinearGaussian { mean, loadings, noise: vec![self.noise; m] }
    }

    /// The same, with the posterior errors of loadings and means.
    pub(super) fn loadings(
        &self,
        posteriors: &LinePosteriors,
        offsets: Option<(f64, f64)>,
        threads: usize,
    ) -> Conditional {
        let k = self.factors.len();
        let root: Vec<f64> = self.factors.iter().map(|g| g.sqrt()).collect();
        let width = triangle(k + 1 + usize::from(offsets.is_some()));
        let mut errors = vec![0.0; posteriors.len() * width];
        let line = |i: usize, out: &mut [f64]| {
            let v = posteriors.covariance(i);
            for a in 0..k {
                let own = triangle(a)..=triangle(a) + a;
                let line = out[own.clone()].iter_mut().zip(&v[own]);
                line.zip(&root).for_each(|((out, v), b)| *out = root[a] * b * v);
            }
            // Offsets of the other side have a known loading, and these lines' own are their mean: the last row of the triangle.
            if let Some((own, _)) = offsets {
                let last = &mut out[triangle(k + 1)..];
                last.iter_mut()
                    .zip(&v[triangle(k)..])
                    .zip(&root)
                    .for_each(|((out, v), b)| *out = own * b * v);
                last[k + 1] = own * own * v[triangle(k) + k];
            }
        };
        fill_at_once(threads, posteriors.len() * width, &mut errors, width, line);
        Conditional::with_errors(self.known(posteriors, offsets), errors, threads)
    }

    /// Sets the sizes to those with the largest bound, for factors rotated and scaled so that they are independent: the second moments of
    /// rows become `I`, those of columns diagonal. `columns` are converted to the new units; no fitted cell changes.
    pub(super) fn balance(
        &mut self,
        rows: &LinePosteriors,
        columns: &mut LinePosteriors,
        lines: [&Sparse<'_, f64>; 2],
        threads: usize,
    ) -> Result<()> {
        let k = self.factors.len();
        let [of_rows, of_columns] = [(rows, lines[0]), (&*columns, lines[1])].map(|(posteriors, lines)| {
            let (mut sum, n) = second_moments(posteriors, |i| !lines.row(i).0.is_empty());
            sum.iter_mut().for_each(|s| *s /= n);
            sum
        });
        let mut scale = 1.0;
        if let Some((sd_rows, sd_columns)) = &mut self.offsets {
            let last = triangle(k) + k;
            *sd_rows *= of_rows[last].sqrt();
            *sd_columns *= of_columns[last].sqrt();
            scale = 1.0 / of_columns[last].sqrt();
        }
        let matrix = self.balancing(&of_rows, &of_columns)?;
        columns.transform(&matrix, scale, |j| !lines[1].row(j).0.is_empty(), threads);
        Ok(())
    }

    /// Sets the new sizes of the factors; returns the matrix by which columns are multiplied, `k x k`.
    fn balancing(&mut self, rows: &[f64], columns: &[f64]) -> Result<Matrix<f64>> {
        let k = self.factors.len();
        if k == 0 {
            return Ok(Matrix::zeros(0, 0));
        }
        let mut root = rows[..triangle(k)].to_vec();
        cholesky(&mut root, k);
        let lower = Matrix::from_fn(k, k, |i, j| if j <= i { root[triangle(i) + j] } else { 0.0 });
        let size: Vec<f64> = self.factors.iter().map(|g| g.sqrt()).collect();
        let moment = Matrix::from_fn(k, k, |i, j| size[i] * size[j] * columns[triangle(i.max(j)) + i.min(j)]);
        let upper = lower.transposed();
        let inner = factor::multiply(&factor::multiply(&upper, &moment), &lower);
        let (values, vectors) = factor::eigh(&inner)?;
        let least = (LEAST_SIZE * values[0]).max(f64::MIN_POSITIVE);
        self.factors = values.iter().map(|g| g.max(least)).collect();
        let both = factor::multiply(&vectors, &upper);
        Ok(Matrix::from_fn(k, k, |a, b| both[(a, b)] * size[b] / self.factors[a].sqrt()))
    }
}
