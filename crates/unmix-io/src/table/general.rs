//! Columns of any type and with missing cells, by the reader of the file's own crate.

use super::Table;
use crate::cells;
use crate::columns::Batches;
use arrow_array::RecordBatch;
use unmix::{Error, Real, Result};

/// Where a feature's cells are in a batch of columns.
pub(super) type ColumnPlace = (usize, usize);

/// Some features of a part, of any type.
pub(super) struct General<'a> {
    table: &'a Table,
    columns: Vec<usize>,
    /// Where each feature is in a batch.
    pub(super) places: Vec<ColumnPlace>,
    batches: Option<Batches<'a>>,
    now: Option<RecordBatch>,
    /// The next row of the batch.
    at: usize,
}

impl<'a> General<'a> {
    pub(super) fn new(table: &'a Table, features: Vec<usize>) -> Self {
        let (columns, places) = table.places(&features);
        Self { table, columns, places, batches: None, now: None, at: 0 }
    }

    /// A batch with rows of the part that are not read yet, those from [`at`](Self::at) on; `None` at its end. The first call passes over
    /// `before` rows, which were decoded straight.
    fn next(&mut self, part: usize, before: u64) -> Result<Option<RecordBatch>> {
        let mut before = if self.batches.is_some() { 0 } else { before };
        if self.batches.is_none() {
            self.batches = Some(self.table.file.part(part, &self.columns)?);
        }
        loop {
            if let Some(batch) = self.now.take() {
                let passed = before.min((batch.num_rows() - self.at) as u64);
                (self.at, before) = (self.at + passed as usize, before - passed);
                if self.at < batch.num_rows() {
                    return Ok(Some(batch));
                }
            }
            (self.now, self.at) = (self.batches.as_mut().and_then(Iterator::next).transpose()?, 0);
            if self.now.is_none() {
                return Ok(None);
            }
        }
    }

    /// Writes the part's rows from number `first` on over the features' places in `out`, rows of `p`.
    pub(super) fn read<T: Real>(&mut self, part: usize, first: u64, out: &mut [T], p: usize) -> Result<()> {
        let (mut done, n) = (0, out.len() / p.max(1));
        while done < n {
            let Some(batch) = self.next(part, first)? else {
                return Err(self.other_rows(part, first + done as u64, ""));
            };
            let own = (n - done).min(batch.num_rows() - self.at);
            write(&batch.slice(self.at, own), &self.places, &mut out[done * p..(done + own) * p], p);
            (self.at, done) = (self.at + own, done + own);
            self.now = Some(batch);
        }
        Ok(())
    }

    /// Whether the part has more rows than the first `done`.
    pub(super) fn has_more(&mut self, part: usize, done: u64) -> Result<bool> {
        self.now = self.next(part, done)?;
        Ok(self.now.is_some())
    }

    /// The error of a part that ends after `has` rows, or has more.
    pub(super) fn other_rows(&self, part: usize, has: u64, more: &str) -> Error {
        let single = self.table.file.parts().is_empty();
        let who = if single { "it".into() } else { format!("row group {part}") };
        self.table.other_rows(who, self.table.parts()[part], has, more)
    }
}

/// The numbers of a batch over their features' places in rows of `p`, so few rows at a time that they stay in the first cache
/// until they are whole; missing cells are NaN.
fn write<T: Real>(batch: &RecordBatch, places: &[ColumnPlace], out: &mut [T], p: usize) {
    let rows = ((1 << 12) / p.max(1)).max(1);
    for (i, out) in out.chunks_mut(rows * p.max(1)).enumerate() {
        let (start, n) = (i * rows, out.len() / p.max(1));
        for &(feature, place) in places {
            let column = batch.column(place);
            if !cells::are_whole(column) {
                out[feature..].iter_mut().step_by(p).for_each(|x| *x = T::from_f64(f64::NAN));
            }
            cells::place(&column.slice(start, n), &mut out[feature..], p);
        }
    }
}
