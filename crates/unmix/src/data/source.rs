//! The interface between rows and their storage.

use super::{Sparse, Workers};
use crate::error::Result;
use crate::num::Real;

/// Receives rows, with the number of the first of them.
pub type PutRows<'a, T> = dyn Fn(u64, &[T]) -> Result<()> + Sync + 'a;

/// Rows that can be read from the start, repeatedly.
pub trait Source<T: Real>: Send + Sync {
    /// Number of columns.
    fn n_features(&self) -> usize;

    /// Number of rows, if it is known without reading them.
    fn n_rows(&self) -> Option<u64>;

    /// A reader positioned before the first row.
    ///
    /// # Errors
    ///
    /// The rows cannot be read, as where a file cannot be opened again.
    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>>;

    /// Rows in any order, if the source allows it.
    fn random(&self) -> Option<&dyn RandomAccess<T>> {
        None
    }

    /// Writes all rows into `out`, which has exactly their size, by `threads` threads; `None` if this is not faster than one reader
    /// from the start.
    ///
    /// # Errors
    ///
    /// Errors of reading.
    fn fill(&self, out: &mut [T], threads: usize) -> Option<Result<()>> {
        let _ = (out, threads);
        None
    }

    /// Passes all rows to `put`, block by block, each with the number of its first row, in any order and by `threads` threads; `None` if
    /// this is not faster than one reader from the start.
    ///
    /// # Errors
    ///
    /// Errors of reading, and the first error of `put`, which ends the loop.
    fn scatter(&self, put: &PutRows<'_, T>, threads: usize) -> Option<Result<()>> {
        let _ = (put, threads);
        None
    }

    /// The numbers, row-major, if they are in memory and owned exclusively; afterwards the source is empty.
    fn take(&mut self) -> Option<Vec<T>> {
        None
    }

    /// The workers that hold the rows, if only sums over them are available.
    fn remote(&self) -> Option<&dyn Workers> {
        None
    }

    /// The rows as stored entries, if they are sparse and local.
    fn sparse(&self) -> Option<&Sparse<'_, T>> {
        None
    }

    /// Whether the rows are kept as stored entries, locally or by the workers.
    fn is_sparse(&self) -> bool {
        self.sparse().is_some()
    }
}

/// A forward reader.
pub trait Stream<T: Real>: Send {
    /// Appends up to `max_rows` further rows to `out` and returns their number; 0 at the end, and only there.
    ///
    /// # Errors
    ///
    /// Errors of reading, as a file that ends within a row or was modified.
    fn read(&mut self, max_rows: usize, out: &mut Vec<T>) -> Result<usize>;
}

/// Access to rows and columns in any order, by many threads at once.
pub trait RandomAccess<T: Real>: Send + Sync {
    /// Number of rows.
    fn n_rows(&self) -> u64;

    /// Writes rows `rows`, columns `columns`, row-major, into `out`; `raw` is scratch memory that the caller keeps.
    ///
    /// # Errors
    ///
    /// Errors of reading, as a file that ends early or was modified.
    fn read(
        &self,
        rows: std::ops::Range<u64>,
        columns: std::ops::Range<usize>,
        out: &mut [T],
        raw: &mut Vec<u8>,
    ) -> Result<()>;

    /// Whether rows are contiguous, so that many small reads cost no more than one.
    fn by_rows(&self) -> bool {
        false
    }

    /// Whether a column can be read without reading the others.
    fn by_columns(&self) -> bool {
        false
    }

    /// Whole rows, borrowed without a copy, if they are stored as such in memory.
    fn lend(&self, rows: std::ops::Range<u64>) -> Option<&[T]> {
        let _ = rows;
        None
    }
}

/// A forward reader by random access.
pub struct Forward<'a, T: Real> {
    from: &'a dyn RandomAccess<T>,
    n_features: usize,
    next: u64,
    raw: Vec<u8>,
}

impl<'a, T: Real> Forward<'a, T> {
    /// A reader positioned before the first row of `from`, whose rows have `n_features` numbers.
    pub fn new(from: &'a dyn RandomAccess<T>, n_features: usize) -> Self {
        Self { from, n_features, next: 0, raw: Vec::new() }
    }
}

impl<T: Real> Stream<T> for Forward<'_, T> {
    fn read(&mut self, max_rows: usize, out: &mut Vec<T>) -> Result<usize> {
        let end = self.from.n_rows().min(self.next.saturating_add(max_rows as u64));
        let n = (end - self.next) as usize;
        let start = out.len();
        out.resize(start + n * self.n_features, T::default());
        self.from.read(self.next..end, 0..self.n_features, &mut out[start..], &mut self.raw)?;
        self.next = end;
        Ok(n)
    }
}

/// Exchanges samples and features: a source whose rows are the columns of another.
pub(crate) struct Transposed<'a, T: Real> {
    pub(crate) samples: &'a dyn RandomAccess<T>,
    pub(crate) n_features: usize,
}

impl<T: Real> Source<T> for Transposed<'_, T> {
    fn n_features(&self) -> usize {
        self.samples.n_rows() as usize
    }

    fn n_rows(&self) -> Option<u64> {
        Some(self.n_features as u64)
    }

    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>> {
        Ok(Box::new(Forward::new(self, self.samples.n_rows() as usize)))
    }

    fn random(&self) -> Option<&dyn RandomAccess<T>> {
        Some(self)
    }
}

impl<T: Real> RandomAccess<T> for Transposed<'_, T> {
    fn n_rows(&self) -> u64 {
        self.n_features as u64
    }

    fn read(
        &self,
        rows: std::ops::Range<u64>,
        columns: std::ops::Range<usize>,
        out: &mut [T],
        raw: &mut Vec<u8>,
    ) -> Result<()> {
        let (features, samples) =
            (rows.start as usize..rows.end as usize, columns.start as u64..columns.end as u64);
        let (f, s) = (features.len(), columns.len());
        match self.samples.lend(samples.clone()) {
            Some(lent) => transpose(&lent[features.start..], self.n_features, f, out),
            None => {
                let mut panel = crate::zeros(f * s);
                self.samples.read(samples, features, &mut panel, raw)?;
                transpose(&panel, f, f, out);
            }
        }
        Ok(())
    }
}

/// Writes the transpose of the first `f` columns of rows, which are `step` numbers apart, into `out`.
fn transpose<T: Real>(rows: &[T], step: usize, f: usize, out: &mut [T]) {
    // In tiles, so that reads and writes stay in cache.
    const TILE: usize = 32;
    let s = out.len().checked_div(f).unwrap_or(0);
    for i0 in (0..s).step_by(TILE) {
        for j in 0..f {
            let out = &mut out[j * s..(j + 1) * s][i0..(i0 + TILE).min(s)];
            for (i, x) in (i0..).zip(out) {
                *x = rows[i * step + j];
            }
        }
    }
}
