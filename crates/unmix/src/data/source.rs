//! The seam between rows and where they live.

use super::{GatherAll, Sparse};
use crate::error::Result;
use crate::num::Real;

/// Takes rows, with the number of the first of them.
pub type PutRows<'a, T> = dyn Fn(u64, &[T]) -> Result<()> + Sync + 'a;

/// Rows that can be read from the start, again and again.
pub trait Source<T: Real>: Send + Sync {
    /// Numbers in a row.
    fn n_features(&self) -> usize;

    /// How many rows, when that is known without reading them.
    fn n_rows(&self) -> Option<u64>;

    /// A reader that is before the first row.
    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>>;

    /// Rows in any order, where the source allows it.
    fn random(&self) -> Option<&dyn RandomAccess<T>> {
        None
    }

    /// Writes all rows over `out`, which has room for exactly these, by `threads` threads; `None` where there is no faster way than
    /// one reader from the start.
    fn fill(&self, out: &mut [T], threads: usize) -> Option<Result<()>> {
        let _ = (out, threads);
        None
    }

    /// Hands all rows to `put`, block by block, each with the number of its first row, in any order and by `threads` threads; `None` where the
    /// place knows no faster way than one reader from the start.
    ///
    /// # Errors
    ///
    /// Those of reading, and the first of `put`, which ends it.
    fn scatter(&self, put: &PutRows<'_, T>, threads: usize) -> Option<Result<()>> {
        let _ = (put, threads);
        None
    }

    /// The numbers themselves, row-major, where they are in memory and owned exclusively; afterwards the source is empty.
    fn take(&mut self) -> Option<Vec<T>> {
        None
    }

    /// Who has the rows, where only sums over them are available here.
    fn remote(&self) -> Option<&dyn GatherAll> {
        None
    }

    /// The rows as stored entries, where they are sparse here.
    fn sparse(&self) -> Option<&Sparse<'_, T>> {
        None
    }

    /// Whether they are kept as stored entries, here or elsewhere.
    fn is_sparse(&self) -> bool {
        self.sparse().is_some()
    }
}

/// A forward reader.
pub trait Stream<T: Real>: Send {
    /// Appends up to `max_rows` further rows to `out`, and returns how many; 0 at the end, and only there.
    fn read(&mut self, max_rows: usize, out: &mut Vec<T>) -> Result<usize>;
}

/// Rows and columns in any order, by many threads at once.
pub trait RandomAccess<T: Real>: Send + Sync {
    /// How many rows.
    fn n_rows(&self) -> u64;

    /// Writes rows `rows`, columns `columns`, row-major, over `out`; `raw` is scratch that the caller keeps.
    fn read(
        &self,
        rows: std::ops::Range<u64>,
        columns: std::ops::Range<usize>,
        out: &mut [T],
        raw: &mut Vec<u8>,
    ) -> Result<()>;

    /// Whether whole rows lie one after the other, so that many small reads cost no more than one.
    fn by_rows(&self) -> bool {
        false
    }

    /// Whether a column is read without reading the others.
    fn by_columns(&self) -> bool {
        false
    }

    /// Whole rows, lent without a copy, when they lie in memory as such.
    fn lend(&self, rows: std::ops::Range<u64>) -> Option<&[T]> {
        let _ = rows;
        None
    }
}

/// Reads forward through random access.
pub struct Forward<'a, T: Real> {
    from: &'a dyn RandomAccess<T>,
    n_features: usize,
    next: u64,
    raw: Vec<u8>,
}

impl<'a, T: Real> Forward<'a, T> {
    /// A reader before the first row of `from`, whose rows have `n_features` numbers.
    pub fn new(from: &'a dyn RandomAccess<T>, n_features: usize) -> Self {
        Self { from, n_features, next: 0, raw: Vec::new() }
    }
}

impl<T: Real> Stream<T> for Forward<'_, T> {
    fn read(&mut self, max_rows: usize, out: &mut Vec<T>) -> Result<usize> {
        let end = self.from.n_rows().min(self.next + max_rows as u64);
        let n = (end - self.next) as usize;
        let start = out.len();
        out.resize(start + n * self.n_features, T::default());
        self.from.read(self.next..end, 0..self.n_features, &mut out[start..], &mut self.raw)?;
        self.next = end;
        Ok(n)
    }
}

/// Samples become features: a source whose rows are the columns of another.
pub(crate) struct Transposed<'a, T: Real> {
    pub(crate) of: &'a dyn RandomAccess<T>,
    pub(crate) n_features: usize,
}

impl<T: Real> Source<T> for Transposed<'_, T> {
    fn n_features(&self) -> usize {
        self.of.n_rows() as usize
    }

    fn n_rows(&self) -> Option<u64> {
        Some(self.n_features as u64)
    }

    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>> {
        Ok(Box::new(Forward::new(self, self.of.n_rows() as usize)))
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
        match self.of.lend(samples.clone()) {
            Some(lent) => transpose(&lent[features.start..], self.n_features, f, out),
            None => {
                let mut panel = crate::zeros(f * s);
                self.of.read(samples, features, &mut panel, raw)?;
                transpose(&panel, f, f, out);
            }
        }
        Ok(())
    }
}

/// Writes the first `f` columns of rows that begin `step` numbers apart over `out`, as rows.
fn transpose<T: Real>(rows: &[T], step: usize, f: usize, out: &mut [T]) {
    // In tiles, so that both sides stay in cache.
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
