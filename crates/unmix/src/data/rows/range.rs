//! Ranges of columns, and the numbers that are not finite.

use super::Rows;
use crate::data::RandomAccess;
use crate::error::{Error, Result};
use crate::num::Real;
use crate::run::{Run, Silent};
use crate::stats::{GatherRange, Range};

impl<T: Real> Rows<'_, T> {
    /// The error that names the first number that is not finite, row by row; if all are finite, their squares overflow.
    pub(crate) fn not_finite(&self, method: &str) -> Error {
        match self.first_not_finite() {
            Err(e) => e,
            Ok(None) => Error::Overflow { method: method.into(), dtype: T::DTYPE.name() },
            Ok(Some((row, column, x))) => self.not_finite_at(method, row, column, x),
        }
    }

    /// The error that names this non-finite number.
    pub(crate) fn not_finite_at(&self, method: &str, row: u64, column: usize, x: f64) -> Error {
        if x.is_nan() && self.missing && self.is_sparse() {
            let remedy = "make the rows dense, or leave such rows out; if the entries that are not stored are missing, too, fit matrix-completion";
            return self.gap_of_sparse(method, row, column, remedy).of_method(method);
        }
        Error::NotFinite {
            method: method.into(),
            row: self.number_of(row),
            column,
            name: self.name(column).map(Into::into),
            what: match x {
                x if x.is_nan() => "NaN",
                x if x > 0.0 => "infinity",
                _ => "-infinity",
            },
        }
    }

    /// The error for a NaN among the stored entries of sparse rows, if dense rows may have missing cells in this request. The advice of
    /// [`Error::NotFinite`], to fill them, would be circular: the methods that fill cells are those that accept missing ones.
    pub(crate) fn gap_of_sparse(&self, request: &str, row: u64, column: usize, remedy: &str) -> Error {
        let (row, name) = (self.number_of(row), self.name(column));
        let named = name.map_or(String::new(), |name| format!(" ('{name}')"));
        Error::unsupported(
            format!("{request} of sparse rows with missing cells"),
            format!("row {row}, column {column}{named} is NaN, which is a missing cell of dense rows only"),
            remedy,
        )
        .with(|d| (d.row, d.column, d.name) = (Some(row), Some(column), name.map(Into::into)))
    }

    fn first_not_finite(&self) -> Result<Option<(u64, usize, f64)>> {
        Ok(self.range()?.not_finite)
    }

    /// Minimum and maximum of each column, and the first number that is not finite, over rows of non-zero weight.
    fn range(&self) -> Result<Range> {
        self.sweep(&Run { observer: &Silent, threads: 1, ..Run::default() }, "range", &GatherRange::new())
    }

    /// Range of each of these columns over rows of non-zero weight. One pass over the rows, or over these columns alone.
    pub(crate) fn spread_of(&self, columns: &[usize]) -> Result<Vec<f64>> {
        match self.source.random() {
            Some(random) if all_constant(random, columns) => Ok(vec![0.0; columns.len()]),
            Some(random) if random.by_columns() => {
                columns.iter().map(|&j| self.spread_of_one(random, j)).collect()
            }
            _ => {
                let all: Vec<f64> = self.range()?.spread().collect();
                Ok(columns.iter().map(|&j| all[j]).collect())
            }
        }
    }

    fn spread_of_one(&self, random: &dyn RandomAccess<T>, column: usize) -> Result<f64> {
        const AT_ONCE: u64 = 4096;
        let (n, mut raw) = (random.n_rows(), Vec::new());
        let mut cells = vec![T::default(); n.min(AT_ONCE) as usize];
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for start in (0..n).step_by(AT_ONCE as usize) {
            let end = n.min(start + AT_ONCE);
            let cells = &mut cells[..(end - start) as usize];
            random.read(start..end, column..column + 1, cells, &mut raw)?;
            // Most of these columns are all zeros, and testing equality first is fast.
            let counted: &[T] = match cells.iter().all(|x| *x == cells[0]) && self.weights().is_none() {
                true => &cells[..1],
                false => cells,
            };
            for (row, x) in (start..).zip(counted) {
                if self.weights().is_none_or(|w| w[row as usize] != 0.0) {
                    (low, high) = (low.min(x.to_f64()), high.max(x.to_f64()));
                }
            }
        }
        Ok((high - low).max(0.0))
    }
}

/// Whether all numbers of each of these columns are equal, if rows can be borrowed; most columns that are examined are all zeros,
/// and nothing has to be copied to see that.
fn all_constant<T: Real>(random: &dyn RandomAccess<T>, columns: &[usize]) -> bool {
    let n = random.n_rows();
    let Some(numbers) = random.lend(0..n).filter(|numbers| !numbers.is_empty()) else { return false };
    let mut rows = numbers.chunks_exact(numbers.len() / n as usize);
    let Some(first) = rows.next() else { return false };
    rows.all(|row| columns.iter().all(|&j| row[j] == first[j]))
}
