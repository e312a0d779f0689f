//! The observed cells of a matrix, centred and divided by their root mean square, by row.

use super::METHOD;
use crate::data::{Rows, Sparse, check_n_rows};
use crate::error::{Error, Result};
use crate::num::{Dtype, Real, fill_at_once};
use crate::run::Run;
use crate::spectrum::check_total;
use crate::stats::gaps::{CellLists, GatherCells};

/// Shrinkage of initial offsets: equivalent to this number of additional cells with offset 0.
const DAMPING_CELLS: f64 = 5.0;

/// Number of alternations between rows and columns for these offsets.
const OFFSET_ROUNDS: usize = 10;

/// The observed cells of an `n x p` matrix, as `(y - centre) / unit`.
pub(super) struct Cells {
    pub(super) by_row: Sparse<'static, f64>,
    /// Mean of all cells, 0 without offsets.
    pub(super) centre: f64,
    /// Root mean square of the cells minus the centre.
    pub(super) unit: f64,
    /// Type of the rows.
    pub(super) dtype: Dtype,
    /// Number of cells of each column.
    pub(super) of_column: Vec<usize>,
    /// Number of rows that have a cell.
    pub(super) n_rows_seen: usize,
    /// Number of columns whose cells are all equal, those without a cell included.
    pub(super) n_constant: usize,
}

impl Cells {
    /// The cells of `rows`: numbers that are not NaN, or the stored entries of sparse rows.
    ///
    /// # Errors
    ///
    /// Infinities, fewer than two rows with cells, cells that do not vary.
    pub(super) fn of<T: Real>(rows: &Rows<'_, T>, offsets: bool, run: &Run<'_>) -> Result<Self> {
        check_n_rows(METHOD.key, rows.n_rows().unwrap_or(0), rows.origin(), "give more rows")?;
        let lists = match rows.sparse() {
            Some(sparse) => stored(sparse),
            None => rows.sweep(run, "cells", &GatherCells)?,
        };
        if let Some((row, column, x)) = lists.infinite {
            return Err(rows.not_finite_at(METHOD.key, row, column as usize, x));
        }
        if let Some((row, weight)) = lists.weighted {
            return Err(Error::unsupported(
                format!("{} of rows with weights", METHOD.key),
                format!("row {row} has weight {weight}, and every cell counts once"),
                "leave the weights out, or repeat rows",
            )
            .of_method(METHOD.key)
            .with(|d| d.row = Some(row)));
        }
        let p = rows.n_features();
        let every = rows.n_rows().unwrap_or(0).saturating_mul(p as u64);
        rows.check_missing(METHOD.key, rows.sparse().is_none() && (lists.values.len() as u64) < every)?;
        let CellLists { starts, columns, mut values, .. } = lists;
        let n_rows_seen = starts.windows(2).filter(|ends| ends[1] > ends[0]).count();
        let why = "rows without any observed cell are not counted";
        check_n_rows(METHOD.key, n_rows_seen as u64, rows.origin(), why)?;
        let n = values.len() as f64;
        let first = values[0];
        let constant = match offsets {
            true => values.iter().all(|x| *x == first),
            false => values.iter().all(|x| *x == 0.0),
        };
        if constant {
            let n_samples = rows.n_rows().unwrap_or(0);
            return Err(Error::NoVariance { method: METHOD.key.into(), n_features: p, n_samples });
        }
        let centre = if offsets { values.iter().map(|x| x / n).sum::<f64>() } else { 0.0 };
        let mean_square = values.iter().map(|x| (x - centre).powi(2) / n).sum::<f64>();
        if !mean_square.is_finite() {
            return Err(Error::Overflow { method: METHOD.key.into(), dtype: T::DTYPE.name() });
        }
        check_total(METHOD.key, mean_square, T::DTYPE)?;
        let unit = mean_square.sqrt();
        values.iter_mut().for_each(|x| *x = (*x - centre) / unit);
        let by_row = Sparse::from_csr(&starts, &columns, values, p)?;
        let by_column = by_row.transposed();
        let of_column = (0..p).map(|j| by_column.row(j).0.len()).collect();
        let same = |j: usize| by_column.row(j).1.windows(2).all(|pair| pair[0] == pair[1]);
        let n_constant = (0..p).filter(|j| same(*j)).count();
        drop(by_column);
        Ok(Self { by_row, centre, unit, dtype: T::DTYPE, of_column, n_rows_seen, n_constant })
    }

    /// A part of the cells, in the same units.
    pub(super) fn of_cells(&self, by_row: Sparse<'static, f64>) -> Self {
        let by_column = by_row.transposed();
        let of_column = (0..by_row.n_features()).map(|j| by_column.row(j).0.len()).collect();
        drop(by_column);
        let n_rows_seen = (0..by_row.n_rows()).filter(|i| !by_row.row(*i).0.is_empty()).count();
        let Self { centre, unit, dtype, n_constant, .. } = *self;
        Self { by_row, centre, unit, dtype, of_column, n_rows_seen, n_constant }
    }

    /// Number of cells.
    pub(super) fn len(&self) -> usize {
        self.by_row.n_stored()
    }

    /// Degrees of freedom of a matrix of rank `k`: `k (n + p - k)`, without the rows and columns that have no cell.
    pub(super) fn freedom(&self, k: usize) -> usize {
        let columns = self.of_column.iter().filter(|cells| **cells > 0).count();
        k * (self.n_rows_seen + columns).saturating_sub(k)
    }

    /// The largest number of factors, at most `most` and at least 1, that has no more degrees of freedom than
    /// there are cells.
    pub(super) fn determined(&self, most: usize) -> usize {
        (1..=most).take_while(|k| self.freedom(*k) <= self.len()).last().unwrap_or(1).min(most)
    }

    /// Numbers of rows and of columns.
    pub(super) fn shape(&self) -> (usize, usize) {
        (self.by_row.n_rows(), self.by_row.n_features())
    }

    /// Offsets of rows and of columns, each shrunk as by [`DAMPING_CELLS`] additional cells with offset 0.
    pub(super) fn damped_offsets(&self, threads: usize) -> (Vec<f64>, Vec<f64>) {
        let (n, p) = self.shape();
        let (mut rows, mut columns) = (vec![0.0; n], vec![0.0; p]);
        let by_column = self.by_row.transposed();
        for _ in 0..OFFSET_ROUNDS {
            alternate(&by_column, &rows, &mut columns, threads);
            alternate(&self.by_row, &columns, &mut rows, threads);
        }
        (rows, columns)
    }

    /// The cells minus these offsets.
    pub(super) fn residuals(&self, rows: &[f64], columns: &[f64]) -> Result<Sparse<'static, f64>> {
        let (mut starts, mut places, mut values) = (vec![0usize], Vec::new(), Vec::new());
        for (i, b) in rows.iter().enumerate() {
            let (at, own) = self.by_row.row(i);
            places.extend_from_slice(at);
            values.extend(at.iter().zip(own).map(|(&j, x)| x - b - columns[j as usize]));
            starts.push(places.len());
        }
        Sparse::from_csr(&starts, &places, values, columns.len())
    }
}

/// Offsets of lines (rows or columns), given those of the lines across them.
fn alternate(lines: &Sparse<'_, f64>, across: &[f64], own: &mut [f64], threads: usize) {
    fill_at_once(threads, lines.n_stored(), own, 1, |i, own| {
        let (at, values) = lines.row(i);
        let sum: f64 = at.iter().zip(values).map(|(&j, x)| x - across[j as usize]).sum();
        own[0] = sum / (DAMPING_CELLS + at.len() as f64);
    });
}

/// The stored entries of sparse rows as lists of cells.
fn stored<T: Real>(sparse: &Sparse<'_, T>) -> CellLists {
    let mut lists = CellLists::default();
    for i in 0..sparse.n_rows() {
        let (columns, values) = sparse.row(i);
        lists.push(i as u64, columns.iter().zip(values).map(|(&j, x)| (j, x.to_f64())));
    }
    lists
}
