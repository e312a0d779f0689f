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
use super::nuclear_norm::{Problem, Solution, singular};
use super::ridge::without_errors;
use super::start::InitialColumns;
use super::variational::{State, VariationalResult};
use crate::data::Sparse;
use crate::error::Result;
use crate::num::random::Stream;
use crate::num::{Matrix, factor};
use crate::run::Run;
use crate::solve::Limits;
use crate::stats::gaps::LinePosteriors;

/// Number of values of `alpha` on the path after the first one, for which every factor is 0.
const ALPHAS_ON_PATH: u32 = 19;

/// The first value of `alpha` divided by the last one.
const ALPHA_RATIO: f64 = 1000.0;

/// Share of the cells that is held out.
const HELD_OUT: f64 = 0.1;

/// Number of successive values without improvement after which the path ends.
const PATIENCE: usize = 3;

/// Number of the random stream that selects the held-out cells.
const HELD_OUT_STREAM: u64 = 1 << 21;

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
        let problem = Problem::new(self, (most, offsets), limits, run);
        let first = match run.init {
            Some(_) => problem.given()?,
            None => problem.none(),
        };
        let (found, sweeps) = problem.solved(alpha / self.unit, first)?;
        let state = problem.state(alpha / self.unit, &found);
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
        let problem = Problem::new(&seen, (most, offsets), limits, run);
        let (path, best, mut sweeps) = problem.path(&hidden)?;
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
        let draws = Stream::new(run.seed, HELD_OUT_STREAM);
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

impl Problem<'_> {
    /// The points of the path, the best `alpha` with its columns, and the number of sweeps.
    #[allow(clippy::type_complexity)]
    fn path(&self, hidden: &[(usize, usize, f64)]) -> Result<(Vec<PathPoint>, (f64, LinePosteriors), u64)> {
        let error = |solution: &Solution| {
            let square = |&(i, j, x): &(usize, usize, f64)| {
                (x - self.fitted(solution.columns.mean(j), solution.rows.mean(i))).powi(2)
            };
            (hidden.iter().map(square).sum::<f64>() / hidden.len() as f64).sqrt()
        };
        let unit = self.cells.unit;
        let mut at = self.descended(0.0, &self.none())?;
        let top = self.singular(&at.columns, &at.rows, 1)?.0.first().copied().unwrap_or(0.0);
        let mut sweeps = at.n_iter;
        let mut path = vec![PathPoint { alpha: top * unit, rank: 0, held_out: error(&at) * unit }];
        let mut best = (path[0].held_out, (top, at.columns.clone()), 0);
        for t in 1..=ALPHAS_ON_PATH {
            if top <= 0.0 || self.most == 0 || self.run.ends_early() || best.2 + PATIENCE < path.len() {
                break;
            }
            let alpha = top * ALPHA_RATIO.powf(-f64::from(t) / f64::from(ALPHAS_ON_PATH));
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
        let offset =
            |posteriors: &LinePosteriors, i: usize| posteriors.mean(i).get(k).copied().unwrap_or(0.0);
        let mut rows: Vec<f64> = (0..n).map(|i| offset(&found.rows, i)).collect();
        let mut columns: Vec<f64> = (0..v.rows()).map(|j| offset(&found.columns, j)).collect();
        if self.offsets && k > 0 {
            centred(&mut v, |j| !self.by_column.row(j).0.is_empty(), &a, &mut rows);
            centred(&mut a, |i| !self.cells.by_row.row(i).0.is_empty(), &v, &mut columns);
        }
        let mut factors = v;
        if k > 0 {
            let products = |matrix: &Matrix<f64>| factor::multiply(&matrix.transposed(), matrix);
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

/// Subtracts from the factors `factors` their mean over the lines with a cell, and adds its contribution to the offsets of the lines `across`.
fn centred(
    factors: &mut Matrix<f64>,
    seen: impl Fn(usize) -> bool,
    across: &Matrix<f64>,
    offsets: &mut [f64],
) {
    let lines: Vec<usize> = (0..factors.rows()).filter(|i| seen(*i)).collect();
    let mean: Vec<f64> = (0..factors.cols())
        .map(|a| lines.iter().map(|i| factors[(*i, a)]).sum::<f64>() / lines.len() as f64)
        .collect();
    for i in lines {
        factors.row_mut(i).iter_mut().zip(&mean).for_each(|(x, m)| *x -= m);
    }
    for (i, own) in offsets.iter_mut().enumerate() {
        *own += across.row(i).iter().zip(&mean).map(|(x, m)| x * m).sum::<f64>();
    }
}
