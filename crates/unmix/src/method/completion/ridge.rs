//! Alternating least squares with a ridge penalty of given weight: minimises the sum of squared residuals plus `alpha` times
//! `sum_i n_i ||a_i||² + sum_j n_j ||v_j||²`, with `n_i` and `n_j` the numbers of cells of row `i` and column `j` (Zhou et al. 2008).
//! Cells are in units of their standard deviation, without offsets of their root mean square, so that the same `alpha` suits any unit; in the
//! units of the data its weight is `alpha` times that.
//!
//! Offsets are fitted together with the factors, penalised as by five additional cells with offset 0. With `alpha` 0 nothing is
//! penalised, and the minimum-norm solution is used if the cells do not determine all directions.

use super::METHOD;
use super::cells::Cells;
use super::variational::{Sizes, State, VariationalResult, step};
use crate::data::Sparse;
use crate::error::{Error, Result};
use crate::num::order;
use crate::num::{Matrix, factor};
use crate::run::Run;
use crate::solve::{Limits, Steps};
use crate::stats::gaps::{Conditional, LinePosteriors, Precision, second_moments, triangle};
use serde::{Deserialize, Serialize};

/// The penalty of an offset, as a number of additional cells with offset 0.
pub(super) const OFFSET_PENALTY_CELLS: f64 = 5.0;

/// Mean square of the residuals that counts as 0, as a fraction of that of the cells.
pub(super) const NONE: f64 = 1e-20;

/// The columns, and the mean square of their residuals.
#[derive(Serialize, Deserialize)]
struct Iterate {
    columns: LinePosteriors,
    mean_square: Option<f64>,
    residual: f64,
}

impl Cells {
    /// Factors of penalised least squares, in the units and the order of a model.
    pub(super) fn ridge(
        &self,
        (alpha, k, offsets): (f64, usize, bool),
        limits: Limits,
        run: &Run<'_>,
    ) -> Result<VariationalResult> {
        if alpha == 0.0 {
            self.check_connected()?;
        }
        let by_column = self.by_row.transposed();
        let damping = if alpha > 0.0 { OFFSET_PENALTY_CELLS } else { 0.0 };
        let mut prior = vec![Precision { constant: 0.0, per_cell: alpha }; k];
        prior.extend(offsets.then_some(Precision { constant: damping, per_cell: 0.0 }));
        let sizes = Sizes { factors: vec![1.0; k], offsets: offsets.then_some((1.0, 1.0)), noise: 1.0 };
        let ready = |posteriors: &LinePosteriors| {
            Conditional::new(sizes.known(posteriors, sizes.offsets)).with_prior(prior.clone())
        };
        let first = || {
            let of_rank_one = k == 1 && alpha == 0.0 && !offsets && run.init.is_none();
            if let Some(v) = of_rank_one.then(|| self.propagated()).flatten() {
                let table = v.iter().flat_map(|v| [*v, 0.0, 0.0, 0.0]).collect();
                let columns = LinePosteriors::new(1, table);
                return Ok(Iterate { columns, mean_square: None, residual: f64::INFINITY });
            }
            let start = self.first(k, offsets, run)?;
            let mut columns = start.columns;
            let size = Matrix::from_fn(k, k, |a, b| if a == b { start.sizes.factors[a].sqrt() } else { 0.0 });
            let sd = start.sizes.offsets.map_or(1.0, |(_, sd)| sd);
            columns.transform(&size, sd, |_| true, run.threads);
            Ok(Iterate { columns, mean_square: None, residual: f64::INFINITY })
        };
        let (mut steps, mut at) = Steps::begin(run, "ridge", limits, first)?;
        let outcome = loop {
            if let Some(outcome) = steps.ending(at.residual) {
                break outcome;
            }
            let rows = step(&self.by_row, &ready(&at.columns), false, run)?;
            let columns = step(&by_column, &ready(&rows), true, run)?;
            let squares: f64 = (0..columns.len()).map(|j| columns.misfit(j)).sum();
            let cost = squares + penalty(&rows, &self.by_row, &prior) + penalty(&columns, &by_column, &prior);
            let mean_square = squares / self.len() as f64;
            let residual = match at.mean_square {
                _ if mean_square <= NONE => 0.0,
                Some(before) => (before - mean_square).abs() / before,
                None => f64::INFINITY,
            };
            at = Iterate { columns, mean_square: Some(mean_square), residual };
            steps.ended(residual, Some(cost / self.len() as f64 * self.unit * self.unit), &at)?;
        };
        let n_iter = steps.n_iter();
        let rows = step(&self.by_row, &ready(&at.columns), false, run)?;
        let state = self.canonical(at, (rows, sizes, prior), run)?;
        Ok(VariationalResult { state, outcome, n_iter, objective: steps.into_objective() })
    }

    /// The factors rotated, scaled to mean square 1 over the rows and sorted by size, without changing the fitted cells, and the ridge
    /// penalty in these units.
    fn canonical(
        &self,
        at: Iterate,
        (rows, mut sizes, prior): (LinePosteriors, Sizes, Vec<Precision>),
        run: &Run<'_>,
    ) -> Result<State> {
        let k = sizes.factors.len();
        let mut columns = without_errors(&at.columns);
        let noise = at.mean_square.unwrap_or(1.0).max(self.least_noise());
        let by_column = self.by_row.transposed();
        let seen = |lines: &Sparse<'_, f64>, i: usize| !lines.row(i).0.is_empty();
        let mut ridge: Vec<Precision> = prior;
        if k > 0 {
            // Rotated so that the second moments of the columns, weighted by their numbers of cells, are diagonal: the penalty does not
            // change.
            let mut sum = Matrix::zeros(k, k);
            for j in 0..columns.len() {
                let (v, n) = (columns.mean(j), by_column.row(j).0.len() as f64);
                (0..k).for_each(|a| (0..k).for_each(|b| sum[(a, b)] += n * v[a] * v[b]));
            }
            let (_, rotation) = factor::eigh(&sum)?;
            let (of_rows, n) = second_moments(&without_errors(&rows), |i| seen(&self.by_row, i));
            let long = |a: usize| {
                let u = rotation.row(a);
                let own = |b: usize, c: usize| of_rows[triangle(b.max(c)) + b.min(c)] / n;
                let all: f64 = (0..k).map(|b| (0..k).map(|c| u[b] * own(b, c) * u[c]).sum::<f64>()).sum();
                all.max(f64::MIN_POSITIVE).sqrt()
            };
            let scale: Vec<f64> = (0..k).map(long).collect();
            let both = Matrix::from_fn(k, k, |a, b| scale[a] * rotation[(a, b)]);
            columns.transform(&both, 1.0, |_| true, run.threads);
            let (of_columns, m) = second_moments(&columns, |j| seen(&by_column, j));
            let size: Vec<f64> =
                (0..k).map(|a| (of_columns[triangle(a) + a] / m).max(f64::MIN_POSITIVE)).collect();
            let over = Matrix::from_fn(k, k, |a, b| if a == b { 1.0 / size[a].sqrt() } else { 0.0 });
            columns.transform(&over, 1.0, |_| true, run.threads);
            for a in 0..k {
                ridge[a].per_cell *= scale[a] * scale[a];
            }
            let order = order::descending(&size);
            let mut all: Vec<(usize, f64)> = order.iter().map(|a| (*a, 1.0)).collect();
            all.extend(sizes.offsets.map(|_| (k, 1.0)));
            columns = columns.chosen(&all);
            sizes.factors = order.iter().map(|a| size[*a]).collect();
            ridge = all.iter().map(|(a, _)| ridge[*a]).collect();
        }
        sizes.noise = noise;
        for own in &mut ridge {
            own.constant /= noise;
            own.per_cell /= noise;
        }
        run.check()?;
        Ok(State { columns, sizes, residual: at.residual, shares: Vec::new(), ridge: Some(ridge) })
    }

    /// Refuses cells in several blocks without a common row or column: without a penalty, the scales of the factors of different
    /// blocks are not related to each other.
    fn check_connected(&self) -> Result<()> {
        let (n, p) = self.shape();
        let by_column = self.by_row.transposed();
        let mut block = vec![usize::MAX; n + p];
        let mut blocks: Vec<(usize, usize)> = Vec::new();
        for start in (0..n).filter(|i| !self.by_row.row(*i).0.is_empty()) {
            if block[start] != usize::MAX {
                continue;
            }
            let (own, mut open) = (blocks.len(), vec![start]);
            blocks.push((0, 0));
            block[start] = own;
            while let Some(at) = open.pop() {
                let (lines, shift) = if at < n { (&self.by_row, n) } else { (&by_column, 0) };
                let counts = &mut blocks[own];
                *(if at < n { &mut counts.0 } else { &mut counts.1 }) += 1;
                for &next in lines.row(if at < n { at } else { at - n }).0 {
                    let next = next as usize + shift;
                    if block[next] == usize::MAX {
                        block[next] = own;
                        open.push(next);
                    }
                }
            }
        }
        if blocks.len() <= 1 {
            return Ok(());
        }
        let sizes: Vec<String> = blocks.iter().take(5).map(|(r, c)| format!("{r} x {c}")).collect();
        let first = |own: usize| (0..n).find(|i| block[*i] == own).unwrap_or(0);
        Err(Error::unsupported(format!("{} with alpha=0", METHOD.key), format!(
                "the observed cells form {} blocks without a common row or column ({}{}), for example those of rows {} and {}",
                blocks.len(),
                sizes.join(", "),
                if blocks.len() > 5 { ", ..." } else { "" },
                first(0),
                first(1)
            ), "leave alpha at 'auto', or fit each block separately").of_method(METHOD.key))
    }
}

/// The same means, with covariances of 0.
pub(super) fn without_errors(posteriors: &LinePosteriors) -> LinePosteriors {
    let k = posteriors.n_factors();
    let mut table = Vec::with_capacity(posteriors.len() * LinePosteriors::width(k));
    for i in 0..posteriors.len() {
        table.extend_from_slice(posteriors.mean(i));
        table.extend(std::iter::repeat_n(0.0, triangle(k) + 2));
    }
    LinePosteriors::new(k, table)
}

/// The penalty of the rows, or of the columns.
pub(super) fn penalty(posteriors: &LinePosteriors, lines: &Sparse<'_, f64>, prior: &[Precision]) -> f64 {
    let one = |i: usize| {
        let cells = lines.row(i).0.len();
        posteriors.mean(i).iter().zip(prior).map(|(x, own)| own.of(cells) * x * x).sum::<f64>()
    };
    (0..posteriors.len()).map(one).sum()
}
