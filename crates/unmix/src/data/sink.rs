//! Receivers of the rows that a pass computes.

use super::NpyWriter;
use crate::error::Result;

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
