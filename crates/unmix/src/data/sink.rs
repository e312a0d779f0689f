//! Receivers of the rows that a pass computes.

use super::NpyWriter;
use crate::error::Result;

/// Receiver of mapped rows, in order.
pub trait Sink<U> {
    /// Takes the next rows.
    fn put(&mut self, rows: &[U]) -> Result<()>;
}

/// Keeps mapped rows in memory.
#[derive(Default)]
pub struct VecSink<U>(pub Vec<U>);

impl<U: Copy> Sink<U> for VecSink<U> {
    fn put(&mut self, rows: &[U]) -> Result<()> {
        self.0.extend_from_slice(rows);
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
