//! The convex problem of soft-impute for one `alpha`: half the sum of squared residuals plus `alpha` times the nuclear norm.

use super::cells::Cells;
use super::ridge::{NONE, OFFSET_PENALTY_CELLS, penalty, without_errors};
use super::start::leading;
use super::variational::{Sizes, step};
use crate::data::Sparse;
use crate::error::Result;
use crate::num::{Matrix, factor};
use crate::run::{Outcome, Run};
use crate::solve::{Limits, Steps};
use crate::stats::gaps::{Conditional, LinePosteriors, Precision, second_moments, triangle};
use serde::{Deserialize, Serialize};

/// Maximum number of times that factors are added for one value of `alpha`.
const MOST_ROUNDS: usize = 20;

/// The optimisation problem.
pub(super) struct Problem<'c> {
    pub(super) cells: &'c Cells,
    pub(super) by_column: Sparse<'c, f64>,
    pub(super) offsets: bool,
    /// Maximum number of factors.
    pub(super) most: usize,
    limits: Limits,
    pub(super) run: &'c Run<'c>,
}

/// The balanced columns, and their cost before balancing.
#[derive(Clone, Serialize, Deserialize)]
struct Iterate {
    columns: LinePosteriors,
    cost: Option<f64>,
    residual: f64,
}

/// A solution: columns as loadings and offsets, and the rows as their ridge regressions.
pub(super) struct Solution {
    pub(super) columns: LinePosteriors,
    pub(super) rows: LinePosteriors,
    /// Singular values of the fitted matrix, without offsets.
    pub(super) values: Vec<f64>,
    pub(super) outcome: Outcome,
    pub(super) n_iter: u64,
    pub(super) objective: Vec<f64>,
    pub(super) residual: f64,
}

impl<'c> Problem<'c> {
    pub(super) fn new(
        cells: &'c Cells,
        (most, offsets): (usize, bool),
        limits: Limits,
        run: &'c Run<'c>,
    ) -> Problem<'c> {
        Problem { cells, by_column: cells.by_row.transposed(), offsets, most, limits, run }
    }

    /// Columns without factors, with offsets of 0.
    pub(super) fn none(&self) -> LinePosteriors {
        let (q, p) = (usize::from(self.offsets), self.cells.shape().1);
        LinePosteriors::new(q, vec![0.0; p * LinePosteriors::width(q)])
    }

    /// The columns of a given model, with equal norms of each factor on both sides.
    pub(super) fn given(&self) -> Result<LinePosteriors> {
        let k = self.run.initial_components(self.cells.shape().1, 0)?.map_or(0, |start| start.rows());
        let start = self.cells.first(k.min(self.most), self.offsets, self.run)?;
        let sizes = &start.sizes;
        let root = (self.cells.shape().0 as f64 / self.cells.shape().1 as f64).sqrt().sqrt();
        let mut columns = start.columns;
        let size = |a: usize| sizes.factors[a].sqrt() * root;
        let k = sizes.factors.len();
        let matrix = Matrix::from_fn(k, k, |a, b| if a == b { size(a) } else { 0.0 });
        let sd = sizes.offsets.map_or(1.0, |(_, sd)| sd);
        columns.transform(&matrix, sd, |_| true, self.run.threads);
        Ok(without_errors(&columns))
    }

    fn n_factors(&self, columns: &LinePosteriors) -> usize {
        columns.n_factors() - usize::from(self.offsets)
    }

    pub(super) fn prior(&self, alpha: f64, k: usize) -> Vec<Precision> {
        let mut prior = vec![Precision { constant: alpha, per_cell: 0.0 }; k];
        prior.extend(self.offsets.then_some(Precision { constant: OFFSET_PENALTY_CELLS, per_cell: 0.0 }));
        prior
    }

    /// The linear-Gaussian model of one side, given the other.
    fn beside(&self, posteriors: &LinePosteriors, prior: &[Precision]) -> Conditional {
        let sizes = self.sizes(self.n_factors(posteriors));
        Conditional::new(sizes.known(posteriors, sizes.offsets)).with_prior(prior.to_vec())
    }

    pub(super) fn sizes(&self, k: usize) -> Sizes {
        Sizes { factors: vec![1.0; k], offsets: self.offsets.then_some((1.0, 1.0)), noise: 1.0 }
    }

    /// Iterates from these columns with their number of factors, which decreases only in the last step.
    pub(super) fn descended(&self, alpha: f64, columns: &LinePosteriors) -> Result<Solution> {
        let prior = self.prior(alpha, self.n_factors(columns));
        let first = || Ok(Iterate { columns: columns.clone(), cost: None, residual: f64::INFINITY });
        let (mut steps, mut at) = Steps::begin(self.run, "soft-impute", self.limits, first)?;
        let by_row = &self.cells.by_row;
        let scale = self.cells.unit * self.cells.unit / self.cells.len() as f64;
        let outcome = loop {
            if let Some(outcome) = steps.ending(at.residual) {
                break outcome;
            }
            let rows = step(by_row, &self.beside(&at.columns, &prior), false, self.run)?;
            let columns = step(&self.by_column, &self.beside(&rows, &prior), true, self.run)?;
            let squares: f64 = (0..columns.len()).map(|j| columns.misfit(j)).sum();
            let both = penalty(&rows, by_row, &prior) + penalty(&columns, &self.by_column, &prior);
            let cost = 0.5 * (squares + both);
            let residual = match at.cost {
                _ if cost <= NONE * self.cells.len() as f64 => 0.0,
                Some(before) => (before - cost).abs() / before,
                None => f64::INFINITY,
            };
            at = Iterate { columns: self.balanced(&rows, &columns)?.0, cost: Some(cost), residual };
            steps.ended(residual, Some(cost * scale), &at)?;
        };
        let (n_iter, objective, residual) = (steps.n_iter(), steps.into_objective(), at.residual);
        let (columns, rows, values) = self.thresholded(alpha, &at.columns, &prior)?;
        Ok(Solution { columns, rows, values, outcome, n_iter, objective, residual })
    }

    /// Columns orthogonal and with the same norms as the rows: `V diag(s)^1/2` of the singular value decomposition of the fitted matrix;
    /// and `s`.
    fn balanced(
        &self,
        rows: &LinePosteriors,
        columns: &LinePosteriors,
    ) -> Result<(LinePosteriors, Vec<f64>)> {
        let mut columns = without_errors(columns);
        let k = self.n_factors(&columns);
        if k == 0 {
            return Ok((columns, Vec::new()));
        }
        let [of_rows, of_columns] = [&without_errors(rows), &columns].map(|posteriors| square(posteriors, k));
        let (both, values) = singular(&of_rows, &of_columns)?;
        let least = 1e-12 * values[0];
        let over = |a: usize| if values[a] > least { 1.0 / values[a].sqrt() } else { 0.0 };
        let matrix = Matrix::from_fn(k, k, |a, b| over(a) * both[(a, b)]);
        columns.transform(&matrix, 1.0, |_| true, self.run.threads);
        Ok((columns, values))
    }

    /// The last step: the singular values of `(cells - fit) V + U s` are soft-thresholded at `alpha`, and factors of value 0 removed; and
    /// the rows given these columns.
    fn thresholded(
        &self,
        alpha: f64,
        columns: &LinePosteriors,
        prior: &[Precision],
    ) -> Result<(LinePosteriors, LinePosteriors, Vec<f64>)> {
        let (by_row, k) = (&self.cells.by_row, self.n_factors(columns));
        let rows = step(by_row, &self.beside(columns, prior), false, self.run)?;
        if k == 0 {
            return Ok((columns.clone(), rows, Vec::new()));
        }
        let size = square(columns, k);
        // The residual times the columns is alpha times the rows, as these are ridge regressions.
        let root = |a: usize| size[(a, a)].sqrt();
        let long = |a: usize| if size[(a, a)] > 0.0 { (size[(a, a)] + alpha) / root(a) } else { 0.0 };
        let of_rows = square(&without_errors(&rows), k);
        let inner = Matrix::from_fn(k, k, |a, b| long(a) * of_rows[(a, b)] * long(b));
        let (squares, vectors) = factor::eigh(&inner)?;
        let values: Vec<f64> = squares.iter().map(|s| s.max(0.0).sqrt() - alpha).collect();
        let kept = values.iter().take_while(|s| **s > 0.0).count();
        let over = |b: usize| if size[(b, b)] > 0.0 { 1.0 / root(b) } else { 0.0 };
        let matrix = Matrix::from_fn(k, k, |a, b| values[a].max(0.0).sqrt() * vectors[(a, b)] * over(b));
        let mut columns = columns.clone();
        columns.transform(&matrix, 1.0, |_| true, self.run.threads);
        let mut selected: Vec<(usize, f64)> = (0..kept).map(|a| (a, 1.0)).collect();
        selected.extend(self.offsets.then_some((k, 1.0)));
        let columns = columns.chosen(&selected);
        let rows = step(by_row, &self.beside(&columns, &self.prior(alpha, kept)), false, self.run)?;
        Ok((columns, rows, values[..kept].to_vec()))
    }

    /// The residuals of the cells.
    fn residuals(&self, columns: &LinePosteriors, rows: &LinePosteriors) -> Result<Sparse<'static, f64>> {
        let (mut starts, mut places, mut values) = (vec![0usize], Vec::new(), Vec::new());
        for i in 0..self.cells.by_row.n_rows() {
            let (at, own) = self.cells.by_row.row(i);
            places.extend_from_slice(at);
            values.extend(
                at.iter().zip(own).map(|(&j, x)| x - self.fitted(columns.mean(j as usize), rows.mean(i))),
            );
            starts.push(places.len());
        }
        Sparse::from_csr(&starts, &places, values, self.cells.shape().1)
    }

    /// The fitted cell of a column and a row.
    pub(super) fn fitted(&self, column: &[f64], row: &[f64]) -> f64 {
        let k = column.len() - usize::from(self.offsets);
        let shared: f64 = column[..k].iter().zip(&row[..k]).map(|(v, a)| v * a).sum();
        shared + column[k..].iter().zip(&row[k..]).map(|(c, b)| c + b).sum::<f64>()
    }

    /// The columns with additional factors: singular vectors of the residuals with singular values above `alpha`.
    /// `None` if there are none.
    pub(super) fn widened(
        &self,
        alpha: f64,
        columns: &LinePosteriors,
        rows: &LinePosteriors,
    ) -> Result<Option<LinePosteriors>> {
        let k = self.n_factors(columns);
        let top = k.max(5).min(self.most.saturating_sub(k));
        if top == 0 {
            return Ok(None);
        }
        let (values, axes) = self.singular(columns, rows, top)?;
        let new = values.iter().take_while(|s| **s > alpha * (1.0 + 1e-6)).count().min(axes.rows());
        if new == 0 {
            return Ok(None);
        }
        let q = k + new + usize::from(self.offsets);
        let mut table = Vec::with_capacity(columns.len() * LinePosteriors::width(q));
        for j in 0..columns.len() {
            let own = columns.mean(j);
            table.extend_from_slice(&own[..k]);
            table.extend((0..new).map(|a| axes[(a, j)] * (values[a] - alpha).sqrt()));
            table.extend_from_slice(&own[k..]);
            table.extend(std::iter::repeat_n(0.0, triangle(q) + 2));
        }
        Ok(Some(LinePosteriors::new(q, table)))
    }

    /// The first singular values of the residuals, and their right singular vectors.
    pub(super) fn singular(
        &self,
        columns: &LinePosteriors,
        rows: &LinePosteriors,
        top: usize,
    ) -> Result<(Vec<f64>, Matrix<f64>)> {
        let (variances, n, axes) = leading(self.residuals(columns, rows)?, top, self.run)?;
        let values = variances.iter().map(|v| (v.max(0.0) * (n - 1.0)).sqrt()).collect();
        Ok((values, axes))
    }

    /// The solution for `alpha`, in units of the root mean square of the cells, starting from these columns; and the number of sweeps.
    pub(super) fn solved(&self, alpha: f64, columns: LinePosteriors) -> Result<(Solution, u64)> {
        let last = |solution: &Solution| solution.objective.last().copied().unwrap_or(f64::INFINITY);
        let mut found = self.descended(alpha, &columns)?;
        let mut sweeps = found.n_iter;
        for _ in 0..MOST_ROUNDS {
            let wider = self.widened(alpha, &found.columns, &found.rows)?;
            if self.run.ends_early() {
                // Whether more factors are needed is not known: the decomposition may have been cut short.
                found.outcome = self.run.early_outcome();
                break;
            }
            let Some(wider) = wider else { break };
            let before = last(&found);
            let next = self.descended(alpha, &wider)?;
            sweeps += next.n_iter;
            let objective = [std::mem::take(&mut found.objective), next.objective.clone()].concat();
            found = Solution { objective, n_iter: found.n_iter + next.n_iter, ..next };
            // Factors with values at the level of the tolerance would be added and removed repeatedly.
            if last(&found) >= before * (1.0 - self.limits.tol.min(1e-6)) {
                break;
            }
        }
        Ok((found, sweeps))
    }
}

/// The matrix that maps the columns `V` to right singular vectors times singular values of `A V'`, and these values, from `A'A` and
/// `V'V`.
pub(super) fn singular(of_rows: &Matrix<f64>, of_columns: &Matrix<f64>) -> Result<(Matrix<f64>, Vec<f64>)> {
    let k = of_rows.rows();
    let (own, vectors) = factor::eigh(of_rows)?;
    // Rows are `Q diag(own)^1/2 vectors`.
    let root = Matrix::from_fn(k, k, |a, b| own[a].max(0.0).sqrt() * vectors[(a, b)]);
    let inner = factor::multiply(&factor::multiply(&root, of_columns), &root.transposed());
    let (squares, vectors) = factor::eigh(&inner)?;
    Ok((factor::multiply(&vectors, &root), squares.iter().map(|s| s.max(0.0).sqrt()).collect()))
}

/// `sum z z'` over the means of all lines, of the first `k` factors.
fn square(posteriors: &LinePosteriors, k: usize) -> Matrix<f64> {
    let (sum, _) = second_moments(posteriors, |_| true);
    Matrix::from_fn(k, k, |a, b| sum[triangle(a.max(b)) + a.min(b)])
}
