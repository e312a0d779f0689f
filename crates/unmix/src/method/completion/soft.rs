//! Soft-impute: minimises half the sum of squared residuals plus `alpha` times the nuclear norm of the fitted matrix (Mazumder, Hastie &
//! Tibshirani 2010), by the alternation of Hastie et al. (2015) with exact steps.
//!
//! The nuclear norm of a matrix is the minimum of `(||A||² + ||V||²) / 2` over its factorisations `A V'`, so each step is a ridge
//! regression of every row or of every column, with the constant penalty `alpha`. After each iteration the factors are balanced:
//! orthogonal, with equal norms on both sides. The number of factors is not fixed, so that the convex problem is solved: singular
//! vectors of the residuals with singular values above `alpha` are added as factors until there are none, and
//! factors whose singular value falls below `alpha` are removed.
//!
//! With `alpha="auto"`, values from the largest singular value down to a thousandth of it are compared on a
//! held-out tenth of the cells, each fit starting from the previous one. Variational least squares start from
//! the best one, refitted to all cells: they shrink each factor by an amount of its own, instead of all by `alpha`.

use super::cells::Cells;
use super::ridge::{DAMPING, NONE, penalty, without_errors};
use super::start::{InitialColumns, leading};
use super::variational::{Sizes, State, VariationalResult, step};
use crate::data::Sparse;
use crate::error::Result;
use crate::num::random::Stream;
use crate::num::{Matrix, factor};
use crate::run::{Outcome, Run};
use crate::solve::{Limits, Steps};
use crate::stats::gaps::{Conditional, LinePosteriors, Precision, second_moments, triangle};
use serde::{Deserialize, Serialize};

/// Number of values of `alpha` on the path after the first one, for which every factor is 0.
const VALUES: u32 = 19;

/// The first value of `alpha` divided by the last one.
const RATIO: f64 = 1000.0;

/// Share of the cells that is held out.
const HELD_OUT: f64 = 0.1;

/// Number of successive values without improvement after which the path ends.
const PATIENCE: usize = 3;

/// Maximum number of times that factors are added for one value of `alpha`.
const ROUNDS: usize = 20;

/// Number of the random stream that selects the held-out cells.
const DRAWS: u64 = 1 << 21;

/// A point of the path: a value of `alpha` and its solution.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathPoint {
    /// Weight of the nuclear norm, in the units of the cells.
    pub(super) alpha: f64,
    /// Number of factors.
    pub(super) rank: usize,
    /// Root mean square error on the held-out cells.
    pub(super) held_out: f64,
}

/// The optimisation problem.
struct Problem<'c> {
    cells: &'c Cells,
    by_column: Sparse<'c, f64>,
    offsets: bool,
    /// Maximum number of factors.
    most: usize,
    limits: Limits,
    run: &'c Run<'c>,
}

/// The balanced columns, and their cost before balancing.
#[derive(Clone, Serialize, Deserialize)]
struct Iterate {
    columns: LinePosteriors,
    cost: Option<f64>,
    residual: f64,
}

/// A solution: columns as loadings and offsets, and the rows as their ridge regressions.
struct Solution {
    columns: LinePosteriors,
    rows: LinePosteriors,
    /// Singular values of the fitted matrix, without offsets.
    values: Vec<f64>,
    outcome: Outcome,
    n_iter: u64,
    objective: Vec<f64>,
    residual: f64,
}

/// Row, column and value of each held-out cell.
type HeldOutCells = Vec<(usize, usize, f64)>;

impl Cells {
    /// The solution for `alpha`, in the units of the rows.
    pub(super) fn soft(
        &self,
        (alpha, most, offsets): (f64, usize, bool),
        limits: Limits,
        run: &Run<'_>,
    ) -> Result<(VariationalResult, u64)> {
        let of = Problem::new(self, (most, offsets), limits, run);
        let first = match run.init {
            Some(_) => of.given()?,
            None => of.none(),
        };
        let (found, sweeps) = of.solved(alpha / self.unit, first)?;
        let state = of.state(alpha / self.unit, &found);
        let Solution { outcome, n_iter, objective, .. } = found;
        Ok((VariationalResult { state, outcome, n_iter, objective }, sweeps))
    }

    /// The path, and variational least squares that start from its best solution.
    pub(super) fn soft_path(
        &self,
        (most, offsets): (usize, bool),
        limits: Limits,
        run: &Run<'_>,
    ) -> Result<(VariationalResult, Vec<PathPoint>, u64)> {
        let (seen, hidden) = self.held_out(run)?;
        let of = Problem::new(&seen, (most, offsets), limits, run);
        let (path, best, mut sweeps) = of.path(&hidden)?;
        let all = Problem::new(self, (most, offsets), limits, run);
        let (found, more) = all.solved(best.0, best.1)?;
        sweeps += more;
        let held_out = path.iter().map(|at| at.held_out).fold(f64::INFINITY, f64::min) / self.unit;
        let begin = all.beginning(&found, held_out * held_out)?;
        let first = || Ok(State::from(begin, offsets));
        let ended = self.selected(first, None, limits, run)?;
        sweeps += ended.n_iter;
        Ok((ended, path, sweeps))
    }

    /// Nine tenths of the cells, and the held-out ones. If there are so few cells that none or all are drawn, all are used for both.
    fn held_out(&self, run: &Run<'_>) -> Result<(Cells, HeldOutCells)> {
        let draws = Stream::new(run.seed, DRAWS);
        let drawn: Vec<bool> = (0..self.len()).map(|c| draws.uniform(c as u64) < HELD_OUT).collect();
        let any = drawn.iter().any(|d| *d) && drawn.iter().any(|d| !*d);
        let (mut starts, mut places, mut values) = (vec![0usize], Vec::new(), Vec::new());
        let (mut hidden, mut number) = (Vec::new(), 0);
        for i in 0..self.by_row.n_rows() {
            let (at, own) = self.by_row.row(i);
            for (&j, &x) in at.iter().zip(own) {
                if drawn[number] || !any {
                    hidden.push((i, j as usize, x));
                }
                if !drawn[number] || !any {
                    places.push(j);
                    values.push(x);
                }
                number += 1;
            }
            starts.push(places.len());
        }
        let by_row = Sparse::from_csr(&starts, &places, values, self.shape().1)?;
        Ok((self.of_cells(by_row), hidden))
    }
}

impl<'c> Problem<'c> {
    fn new(
        cells: &'c Cells,
        (most, offsets): (usize, bool),
        limits: Limits,
        run: &'c Run<'c>,
    ) -> Problem<'c> {
        Problem { cells, by_column: cells.by_row.transposed(), offsets, most, limits, run }
    }

    /// Columns without factors, with offsets of 0.
    fn none(&self) -> LinePosteriors {
        let (q, p) = (usize::from(self.offsets), self.cells.shape().1);
        LinePosteriors::new(q, vec![0.0; p * LinePosteriors::width(q)])
    }

    /// The columns of a given model, with equal norms of each factor on both sides.
    fn given(&self) -> Result<LinePosteriors> {
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

    fn prior(&self, alpha: f64, k: usize) -> Vec<Precision> {
        let mut prior = vec![Precision { constant: alpha, per_cell: 0.0 }; k];
        prior.extend(self.offsets.then_some(Precision { constant: DAMPING, per_cell: 0.0 }));
        prior
    }

    /// The linear-Gaussian model of one side, given the other.
    fn beside(&self, of: &LinePosteriors, prior: &[Precision]) -> Conditional {
        let sizes = self.sizes(self.n_factors(of));
        Conditional::new(sizes.known(of, sizes.offsets)).with_prior(prior.to_vec())
    }

    fn sizes(&self, k: usize) -> Sizes {
        Sizes { factors: vec![1.0; k], offsets: self.offsets.then_some((1.0, 1.0)), noise: 1.0 }
    }

    /// Iterates from these columns with their number of factors, which decreases only in the last step.
    fn descended(&self, alpha: f64, columns: &LinePosteriors) -> Result<Solution> {
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
        let [of_rows, of_columns] = [&without_errors(rows), &columns].map(|of| square(of, k));
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
        let mut of: Vec<(usize, f64)> = (0..kept).map(|a| (a, 1.0)).collect();
        of.extend(self.offsets.then_some((k, 1.0)));
        let columns = columns.chosen(&of);
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
    fn fitted(&self, column: &[f64], row: &[f64]) -> f64 {
        let k = column.len() - usize::from(self.offsets);
        let shared: f64 = column[..k].iter().zip(&row[..k]).map(|(v, a)| v * a).sum();
        shared + column[k..].iter().zip(&row[k..]).map(|(c, b)| c + b).sum::<f64>()
    }

    /// The columns with additional factors: singular vectors of the residuals with singular values above `alpha`.
    /// `None` if there are none.
    fn widened(
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
    fn singular(
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
    fn solved(&self, alpha: f64, columns: LinePosteriors) -> Result<(Solution, u64)> {
        let last = |of: &Solution| of.objective.last().copied().unwrap_or(f64::INFINITY);
        let mut found = self.descended(alpha, &columns)?;
        let mut sweeps = found.n_iter;
        for _ in 0..ROUNDS {
            if self.run.ends_early() {
                break;
            }
            let Some(wider) = self.widened(alpha, &found.columns, &found.rows)? else { break };
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

    /// The points of the path, the best `alpha` with its columns, and the number of sweeps.
    #[allow(clippy::type_complexity)]
    fn path(&self, hidden: &[(usize, usize, f64)]) -> Result<(Vec<PathPoint>, (f64, LinePosteriors), u64)> {
        let error = |of: &Solution| {
            let square = |&(i, j, x): &(usize, usize, f64)| {
                (x - self.fitted(of.columns.mean(j), of.rows.mean(i))).powi(2)
            };
            (hidden.iter().map(square).sum::<f64>() / hidden.len() as f64).sqrt()
        };
        let unit = self.cells.unit;
        let mut at = self.descended(0.0, &self.none())?;
        let top = self.singular(&at.columns, &at.rows, 1)?.0.first().copied().unwrap_or(0.0);
        let mut sweeps = at.n_iter;
        let mut path = vec![PathPoint { alpha: top * unit, rank: 0, held_out: error(&at) * unit }];
        let mut best = (path[0].held_out, (top, at.columns.clone()), 0);
        for t in 1..=VALUES {
            if top <= 0.0 || self.most == 0 || self.run.ends_early() || best.2 + PATIENCE < path.len() {
                break;
            }
            let alpha = top * RATIO.powf(-f64::from(t) / f64::from(VALUES));
            let columns = self.widened(alpha, &at.columns, &at.rows)?.unwrap_or_else(|| at.columns.clone());
            at = self.descended(alpha, &columns)?;
            sweeps += at.n_iter;
            let held_out = error(&at) * unit;
            if held_out < best.0 {
                best = (held_out, (alpha, at.columns.clone()), path.len());
            }
            path.push(PathPoint { alpha: alpha * unit, rank: at.values.len(), held_out });
        }
        Ok((path, best.1, sweeps))
    }

    /// Initial values of variational least squares: loadings with their scales, for rows of mean square 1.
    /// The penalty moves a part of the offsets into the factors, which is moved back here: factors are centred over
    /// rows and over columns.
    fn beginning(&self, found: &Solution, noise: f64) -> Result<InitialColumns> {
        let (k, n) = (found.values.len(), found.rows.len());
        let mut a = Matrix::from_fn(n, k, |i, c| found.rows.mean(i)[c]);
        let mut v = Matrix::from_fn(found.columns.len(), k, |j, c| found.columns.mean(j)[c]);
        let offset = |of: &LinePosteriors, i: usize| of.mean(i).get(k).copied().unwrap_or(0.0);
        let mut rows: Vec<f64> = (0..n).map(|i| offset(&found.rows, i)).collect();
        let mut columns: Vec<f64> = (0..v.rows()).map(|j| offset(&found.columns, j)).collect();
        if self.offsets && k > 0 {
            centred(&mut v, |j| !self.by_column.row(j).0.is_empty(), &a, &mut rows);
            centred(&mut a, |i| !self.cells.by_row.row(i).0.is_empty(), &v, &mut columns);
        }
        let mut factors = v;
        if k > 0 {
            let products = |of: &Matrix<f64>| factor::multiply(&of.transposed(), of);
            let (both, _) = singular(&products(&a), &products(&factors))?;
            let over = (self.cells.n_rows_seen as f64).sqrt();
            let rotated = factor::multiply_transposed(&factors, &both);
            factors = Matrix::from_fn(factors.rows(), k, |j, c| rotated[(j, c)] / over);
        }
        Ok(InitialColumns { rows, columns, mean_square: noise.clamp(self.cells.least_noise(), 1.0), factors })
    }

    /// The solution in the units of a model: for each factor, codes of mean square 1 over the rows.
    fn state(&self, alpha: f64, found: &Solution) -> State {
        let k = found.values.len();
        let n = self.cells.n_rows_seen as f64;
        let seen: Vec<bool> = self.cells.of_column.iter().map(|cells| *cells > 0).collect();
        let m = seen.iter().filter(|s| **s).count() as f64;
        let mut columns = without_errors(&found.columns);
        let size: Vec<f64> =
            (0..k).map(|a| (0..columns.len()).map(|j| columns.mean(j)[a].powi(2)).sum::<f64>() / m).collect();
        let scale: Vec<f64> = (0..k)
            .map(|a| (0..found.rows.len()).map(|i| found.rows.mean(i)[a].powi(2)).sum::<f64>() / n)
            .map(|square: f64| square.max(f64::MIN_POSITIVE))
            .collect();
        let matrix =
            Matrix::from_fn(
                k,
                k,
                |a, b| {
                    if a == b { 1.0 / size[a].max(f64::MIN_POSITIVE).sqrt() } else { 0.0 }
                },
            );
        columns.transform(&matrix, 1.0, |_| true, self.run.threads);
        let mut sizes = self.sizes(k);
        sizes.factors = (0..k).map(|a| size[a] * scale[a]).collect();
        let by_row = &self.cells.by_row;
        let squares: f64 = (0..by_row.n_rows())
            .map(|i| {
                let (at, own) = by_row.row(i);
                let one = |(&j, x): (&u32, &f64)| {
                    (x - self.fitted(found.columns.mean(j as usize), found.rows.mean(i))).powi(2)
                };
                at.iter().zip(own).map(one).sum::<f64>()
            })
            .sum();
        sizes.noise = (squares / self.cells.len() as f64).max(self.cells.least_noise());
        let mut ridge = self.prior(alpha, k);
        for (a, own) in ridge.iter_mut().enumerate() {
            own.constant *= scale.get(a).copied().unwrap_or(1.0) / sizes.noise;
        }
        State { columns, sizes, residual: found.residual, shares: Vec::new(), ridge: Some(ridge) }
    }
}

/// The matrix that maps the columns `V` to right singular vectors times singular values of `A V'`, and these values, from `A'A` and
/// `V'V`.
fn singular(of_rows: &Matrix<f64>, of_columns: &Matrix<f64>) -> Result<(Matrix<f64>, Vec<f64>)> {
    let k = of_rows.rows();
    let (own, vectors) = factor::eigh(of_rows)?;
    // Rows are `Q diag(own)^1/2 vectors`.
    let root = Matrix::from_fn(k, k, |a, b| own[a].max(0.0).sqrt() * vectors[(a, b)]);
    let inner = factor::multiply(&factor::multiply(&root, of_columns), &root.transposed());
    let (squares, vectors) = factor::eigh(&inner)?;
    Ok((factor::multiply(&vectors, &root), squares.iter().map(|s| s.max(0.0).sqrt()).collect()))
}

/// Subtracts from the factors `of` their mean over the lines with a cell, and adds its contribution to the offsets of the lines `across`.
fn centred(of: &mut Matrix<f64>, seen: impl Fn(usize) -> bool, across: &Matrix<f64>, offsets: &mut [f64]) {
    let lines: Vec<usize> = (0..of.rows()).filter(|i| seen(*i)).collect();
    let mean: Vec<f64> =
        (0..of.cols()).map(|a| lines.iter().map(|i| of[(*i, a)]).sum::<f64>() / lines.len() as f64).collect();
    for i in lines {
        of.row_mut(i).iter_mut().zip(&mean).for_each(|(x, m)| *x -= m);
    }
    for (i, own) in offsets.iter_mut().enumerate() {
        *own += across.row(i).iter().zip(&mean).map(|(x, m)| x * m).sum::<f64>();
    }
}

/// `sum z z'` over the means of all lines, of the first `k` factors.
fn square(of: &LinePosteriors, k: usize) -> Matrix<f64> {
    let (sum, _) = second_moments(of, |_| true);
    Matrix::from_fn(k, k, |a, b| sum[triangle(a.max(b)) + a.min(b)])
}
