//! A shard of sparse rows, and the loop of sums over it.

use super::Real;
use super::parallel::try_each;
use super::threads::on_pool;
use crate::error::Result;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Matrices smaller than this are filled on the calling thread.
const SMALL_MATRIX_ENTRIES: usize = 1 << 15;

/// Entries by line, where a line is a row or a column: their indices, ascending within a line, and their values.
#[derive(Clone, Copy, Debug)]
pub struct Lines<'a, T> {
    starts: &'a [usize],
    places: &'a [u32],
    values: &'a [T],
}

impl<'a, T> Lines<'a, T> {
    /// Line `i` has entries `starts[i]..starts[i + 1]`.
    pub(crate) fn new(starts: &'a [usize], places: &'a [u32], values: &'a [T]) -> Self {
        Self { starts, places, values }
    }

    /// Start of each line, and the end of the last.
    #[cfg(test)]
    pub(crate) fn starts(self) -> &'a [usize] {
        self.starts
    }

    /// Indices of all entries.
    #[cfg(test)]
    pub(crate) fn places(self) -> &'a [u32] {
        self.places
    }

    /// Values of all entries.
    #[cfg(test)]
    pub(crate) fn values(self) -> &'a [T] {
        self.values
    }

    /// Number of lines.
    pub(crate) fn len(self) -> usize {
        self.starts.len() - 1
    }

    /// Number of entries of a range of lines.
    pub(crate) fn stored(self, lines: Range<usize>) -> usize {
        self.starts[lines.end] - self.starts[lines.start]
    }

    /// Entries of line `i`.
    #[inline]
    pub(crate) fn line(self, i: usize) -> (&'a [u32], &'a [T]) {
        let entries = self.starts[i]..self.starts[i + 1];
        (&self.places[entries.clone()], &self.values[entries])
    }

    /// Entries of line `i` whose indices are in `within`.
    pub(crate) fn part(self, i: usize, within: Range<usize>) -> (&'a [u32], &'a [T]) {
        let (places, values) = self.line(i);
        let start = places.partition_point(|&at| (at as usize) < within.start);
        let n = places[start..].partition_point(|&at| (at as usize) < within.end);
        (&places[start..start + n], &values[start..start + n])
    }
}

/// Progress callback: called with the fraction of a matrix that is filled, from 0 to 1; an error ends the work.
pub(crate) type FillProgress<'a> = &'a (dyn Fn(f64) -> Result<()> + Sync);

/// A shard of sparse rows, as a part of all local rows.
pub struct Stored<'a, T> {
    /// Index in the data of the first local row.
    pub(crate) first_row: u64,
    pub(crate) rows: Range<usize>,
    pub(crate) by_row: Lines<'a, T>,
    pub(crate) by_column: Lines<'a, T>,
    /// Weights of all local rows, not of the shard alone.
    pub(crate) weights: Option<&'a [f64]>,
    pub(crate) threads: usize,
    pub(crate) pace: FillProgress<'a>,
}

impl<'a, T: Real> Stored<'a, T> {
    /// Range of the shard among the local rows.
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// Index in the data of local row `i`; rows before it may be held by other workers.
    pub fn number(&self, i: usize) -> u64 {
        self.first_row + i as u64
    }

    /// Number of columns.
    pub fn n_features(&self) -> usize {
        self.by_column.len()
    }

    /// The stored entries of row `i`: columns and values.
    #[inline]
    pub fn row(&self, i: usize) -> (&'a [u32], &'a [T]) {
        self.by_row.line(i)
    }

    /// The stored entries of column `j` in the shard: rows and values.
    #[inline]
    pub fn column(&self, j: usize) -> (&'a [u32], &'a [T]) {
        self.by_column.part(j, self.rows.clone())
    }

    /// The stored entries of column `j` in some of the rows of the shard.
    pub fn column_within(&self, j: usize, rows: Range<usize>) -> (&'a [u32], &'a [T]) {
        self.by_column.part(j, rows)
    }

    /// Weight of each local row, unless all are 1.
    pub fn weights(&self) -> Option<&'a [f64]> {
        self.weights
    }

    /// Calls `line` with the index and the slice of each line of the row-major matrix `table`, `width` numbers long: on all threads, each
    /// line on one of them. The result for a line must depend on its index alone.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn fill<U: Real>(
        &self,
        table: &mut [U],
        width: usize,
        line: impl Fn(usize, &mut [U]) + Sync,
    ) -> Result<()> {
        fill(self.threads, self.by_row.stored(self.rows.clone()), self.pace, table, width, line)
    }
}

/// Fills the lines of the row-major matrix `table`, `width` numbers each, from `stored` entries: `line` gets the index of a line and the
/// slice to fill.
///
/// A line depends on its index alone and is summed by one thread in a fixed order, so the bits do not depend on the number of threads,
/// and no thread needs a matrix of its own.
pub(crate) fn fill<U: Real>(
    threads: usize,
    stored: usize,
    pace: FillProgress<'_>,
    table: &mut [U],
    width: usize,
    line: impl Fn(usize, &mut [U]) + Sync,
) -> Result<()> {
    if table.is_empty() {
        return Ok(());
    }
    let n_lines = table.len() / width;
    // Enough pieces to balance threads although lines differ in cost, and to react to an interruption soon.
    let piece = (n_lines / 512).max(1);
    let done = AtomicUsize::new(0);
    let one = |(i, lines): (usize, &mut [U])| {
        lines.chunks_mut(width).enumerate().for_each(|(l, out)| line(i * piece + l, out));
        let done = done.fetch_add(lines.len() / width, Relaxed) + lines.len() / width;
        pace(done as f64 / n_lines as f64)
    };
    if threads == 1 || stored + table.len() < SMALL_MATRIX_ENTRIES {
        return table.chunks_mut(piece * width).enumerate().try_for_each(one);
    }
    on_pool(threads, || try_each(table.chunks_mut(piece * width).enumerate(), one))
}

/// [`fill`] of lines of little work, without reports of progress and interruptions.
pub(crate) fn fill_at_once<U: Real>(
    threads: usize,
    work: usize,
    table: &mut [U],
    width: usize,
    line: impl Fn(usize, &mut [U]) + Sync,
) {
    // Only a report can fail.
    let _ = fill(threads, work, &|_| Ok(()), table, width, line);
}
