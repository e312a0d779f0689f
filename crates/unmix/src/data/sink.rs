//! Receivers of the rows that a pass computes.

use super::NpyWriter;
use crate::error::Result;
use crate::num::Real;

/// Receiver of mapped rows, in order.
pub trait Sink<U> {
    /// Takes the next rows.
    ///
    /// # Errors
    ///
    /// The rows cannot be kept, as where a file cannot be written: the pass ends.
    fn put(&mut self, rows: &[U]) -> Result<()>;

    /// Whether it keeps all rows in memory: a pass over rows that can be read in any order then passes all of them at once, with
    /// [`put_all`](Self::put_all), and only if it does not fail.
    fn is_in_memory(&self) -> bool {
        false
    }

    /// Takes all rows of a pass.
    ///
    /// # Errors
    ///
    /// As for [`put`](Self::put).
    fn put_all(&mut self, rows: Vec<U>) -> Result<()> {
        self.put(&rows)
    }

    /// The receiver of entries that are not 0, of a sink that keeps no others: a pass then collects them on the threads that compute the rows, and
    /// passes them to it in place of the rows.
    fn entries(&mut self) -> Option<&mut dyn EntrySink<U>> {
        None
    }
}

/// Receiver of the entries of mapped rows that are not 0, in order.
pub trait EntrySink<U> {
    /// Takes the entries of the next rows.
    ///
    /// # Errors
    ///
    /// As for [`Sink::put`].
    fn put_entries(&mut self, rows: RowEntries<U>) -> Result<()>;
}

/// The entries of consecutive rows that are not 0.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RowEntries<U> {
    /// The entries, row by row.
    pub values: Vec<U>,
    /// The column of each.
    pub columns: Vec<u32>,
    /// The number of entries up to the end of each row.
    pub ends: Vec<usize>,
}

impl<U: Real> RowEntries<U> {
    /// Appends rows of `width` numbers.
    pub fn push(&mut self, rows: &[U], width: usize) {
        /// Numbers that are examined at once: most are 0.
        const AT_ONCE: usize = 16;
        for row in rows.chunks_exact(width.max(1)) {
            let (chunks, rest) = row.as_chunks::<AT_ONCE>();
            for (first, chunk) in (0..).step_by(AT_ONCE).zip(chunks) {
                if chunk.iter().fold(false, |any, x| any | (*x != U::default())) {
                    self.push_entries(first, chunk);
                }
            }
            self.push_entries((row.len() - rest.len()) as u32, rest);
            self.ends.push(self.values.len());
        }
    }

    /// Appends those of the numbers of a row from column `first` on that are not 0.
    fn push_entries(&mut self, first: u32, numbers: &[U]) {
        for (j, x) in (first..).zip(numbers).filter(|(_, x)| **x != U::default()) {
            self.values.push(*x);
            self.columns.push(j);
        }
    }
}

/// Keeps mapped rows in memory.
#[derive(Default)]
pub struct VecSink<U>(pub Vec<U>);

impl<U: Copy> Sink<U> for VecSink<U> {
    fn put(&mut self, rows: &[U]) -> Result<()> {
        self.0.extend_from_slice(rows);
        Ok(())
    }

    fn is_in_memory(&self) -> bool {
        true
    }

    fn put_all(&mut self, rows: Vec<U>) -> Result<()> {
        match self.0.is_empty() {
            true => self.0 = rows,
            false => self.0.extend(rows),
        }
        Ok(())
    }
}

impl Sink<f32> for NpyWriter {
    fn put(&mut self, rows: &[f32]) -> Result<()> {
        self.write(rows)
    }
}

impl Sink<f64> for NpyWriter {
    fn put(&mut self, rows: &[f64]) -> Result<()> {
        self.write(rows)
    }
}
