//! Shuffled mini-batches of rows: the only place where rows are read in random order.
//!
//! *Order.* Two levels (`order.rs`): shards in random order, then rows in random order within a window of several shards. Data that
//! fit in one window, of four million numbers, are shuffled as a whole. An epoch is cut into batches whose sizes differ by at most one
//! row; within a batch rows keep the order of the data, window by window. The order of the rows depends on the seed, the epoch and the
//! shape of the data alone, not on the batch size, the number of threads, or where rows are stored.
//!
//! *Memory.* One window, two if there is a second thread, and a few batches, whatever the number of rows; the batches alone if rows are
//! in memory in the required type and layout.
//!
//! *Reading.* A shard is read by one call. If there is a second thread, it gathers the next batches and reads the shards of the next
//! window one after the other, while the first thread computes.

mod order;
mod read;
#[cfg(test)]
mod tests;

use super::sweep::{no_columns, no_rows};
use super::{Features, RawArray, Rows};
use crate::error::{Error, Result};
use crate::machine::check_memory;
use crate::num::{Real, widest};
use order::Order;
use read::{BatchReader, Group};
use serde::{Deserialize, Serialize};
use std::sync::mpsc;

/// Number of values that are passed between the threads at once; large enough that threads are seldom woken.
const VALUES_PER_MESSAGE: usize = 1 << 16;

/// Maximum number of messages in the channel.
const MOST_MESSAGES: usize = 3;

/// A position in training: an epoch and a batch in it, both counted from 0. Training can be resumed from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Position {
    /// The epoch.
    pub epoch: u64,
    /// The batch within it.
    pub batch: u64,
}

/// The rows of one step.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Batch<'b, T> {
    /// Position of the batch.
    pub position: Position,
    /// Position of the next batch.
    pub next: Position,
    /// The rows, row-major.
    pub x: &'b [T],
    /// Their row indices in the data.
    pub rows: &'b [u64],
    /// Their sample weights, unless all are 1.
    pub weights: Option<&'b [f64]>,
    /// Rows of this epoch up to the end of the batch, including those of weight 0.
    pub done: u64,
}

impl<T> Batch<'_, T> {
    /// Whether the batch is the last of its epoch.
    pub fn ends_epoch(&self) -> bool {
        self.next.epoch > self.position.epoch
    }
}

impl<'b, T: Real> Batch<'b, T> {
    /// The batch as rows, a subset of `all`.
    ///
    /// # Errors
    ///
    /// A batch of rows other than `all`.
    pub(crate) fn as_rows(&self, all: &Rows<'_, T>) -> Result<Rows<'b, T>> {
        let plain =
            Rows::new(RawArray::borrowed(self.x, all.n_features())?, Features::default(), all.origin());
        match self.weights {
            None => Ok(plain),
            Some(weights) => plain.weighted(weights),
        }
    }
}

/// Mini-batches of prepared rows.
///
/// Rows of weight 0 are in no batch, so batches of weighted rows may be smaller than others, or empty.
pub struct Batches<'a, T: Real> {
    rows: &'a Rows<'a, T>,
    p: usize,
    n: u64,
    per_epoch: u64,
    /// Number of batches that are passed between the threads at once.
    together: u64,
    /// Whether rows are in random order within a batch, too.
    mixed: bool,
    order: Order,
    /// The mean as the sum of two numbers of the type of the rows: subtracting them in turn loses no precision.
    mean: Vec<[T; 2]>,
    /// Factors of the columns after centring: one for all, or one for each.
    inverse: Vec<T>,
}

impl<'a, T: Real> Batches<'a, T> {
    /// Batches of at most `size` rows of `rows`, which must be [prepared](Rows::prepare), in an order determined by `seed`.
    ///
    /// # Errors
    ///
    /// A size of 0; remote rows; no rows or no columns; batches that do not fit into memory.
    pub fn new(rows: &'a Rows<'a, T>, size: usize, seed: u64) -> Result<Self> {
        rows.here("training by batches")?;
        let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
        if size == 0 {
            return Err(Error::setting("batch_size", 0, "must be at least 1", "choose a number such as 128"));
        }
        if n == 0 {
            return Err(no_rows("training by batches", rows.origin()));
        }
        if p == 0 {
            return Err(no_columns("training by batches", rows.origin()));
        }
        let held = (size as u64).min(n);
        check_memory(
            &format!("a batch of {held} rows of {p} numbers"),
            held.saturating_mul(p as u64).saturating_mul(std::mem::size_of::<T>() as u64),
            "choose a smaller batch_size",
        )?;
        let (per_epoch, order) = (n.div_ceil(size as u64), Order::new(n, p, seed));
        let together =
            (VALUES_PER_MESSAGE as u64 / n.div_ceil(per_epoch).saturating_mul(p as u64)).clamp(1, 64);
        Ok(Self {
            rows,
            p,
            n,
            per_epoch,
            together,
            mixed: false,
            order,
            mean: Vec::new(),
            inverse: Vec::new(),
        })
    }

    /// Puts rows in random order within a batch, too, for learners that process them one at a time; otherwise they keep the order
    /// of the data.
    pub fn mixed(mut self) -> Self {
        self.mixed = true;
        self
    }

    /// Subtracts `mean`, one number for each column, from every row, in the precision of `mean`.
    pub fn centred(mut self, mean: &[f64]) -> Self {
        assert_eq!(mean.len(), self.p, "a number for each column");
        self.mean = mean.iter().map(|m| T::parts(*m)).map(|(near, rest)| [near, rest]).collect();
        self
    }

    /// Divides every row by `unit`, and every column by its own entry of `units`, after [centring](Self::centred).
    pub fn divided(mut self, unit: f64, units: Option<&[f64]>) -> Self {
        let all = T::from_f64(1.0 / unit);
        self.inverse = match units {
            None if unit == 1.0 => Vec::new(),
            None => vec![all; self.p],
            Some(units) => units.iter().map(|u| T::from_f64(all.to_f64() / u)).collect(),
        };
        self
    }

    /// Number of batches in an epoch.
    pub fn per_epoch(&self) -> u64 {
        self.per_epoch
    }

    /// Number of columns.
    pub fn n_features(&self) -> usize {
        self.p
    }

    /// Number of rows.
    pub fn n_rows(&self) -> u64 {
        self.n
    }

    /// Number of rows of an epoch before a batch.
    fn first_row_of(&self, batch: u64) -> u64 {
        (u128::from(batch) * u128::from(self.n) / u128::from(self.per_epoch)) as u64
    }

    /// Calls `use_it` with the batches from `from` on, until `epochs` epochs have ended or it returns false. A second thread
    /// gathers batches if `threads` allows one.
    ///
    /// # Errors
    ///
    /// A position outside these rows; errors of the source; errors of `use_it`.
    pub fn each(
        &self,
        from: Position,
        epochs: u64,
        threads: usize,
        mut use_it: impl FnMut(&Batch<'_, T>) -> Result<bool>,
    ) -> Result<()> {
        if from.batch >= self.per_epoch {
            return Err(Error::unsupported(
                format!("continuing from batch {} of an epoch", from.batch),
                match self.per_epoch {
                    1 => format!("an epoch of {} has 1 batch", self.rows.origin()),
                    n => format!("an epoch of {} has {n} batches", self.rows.origin()),
                },
                "give the rows and the batch size with which training began",
            ));
        }
        if threads < 2 {
            let (mut group, mut reader) = (Group::default(), BatchReader::new(self, from, epochs, false));
            while reader.gather(&mut group)? {
                if !group.hand_out(self.p, &mut use_it)? {
                    break;
                }
            }
            return Ok(());
        }
        let (send, receive) = mpsc::sync_channel::<Result<Group<T>>>(self.ahead());
        let (give_back, spare) = mpsc::channel::<Group<T>>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut reader = BatchReader::new(self, from, epochs, true);
                loop {
                    let mut group = spare.try_recv().unwrap_or_default();
                    let gathered = match reader.gather(&mut group) {
                        Ok(false) => return,
                        Ok(true) => Ok(group),
                        Err(error) => Err(error),
                    };
                    let failed = gathered.is_err();
                    // The receiver is dropped when training has ended.
                    if send.send(gathered).is_err() || failed {
                        return;
                    }
                    reader.read_ahead();
                }
            });
            // Moved in, so that it is dropped, which ends the gathering thread, on every exit from this loop.
            let receive = receive;
            for group in receive.iter() {
                let group = group?;
                if !group.hand_out(self.p, &mut use_it)? {
                    break;
                }
                let _ = give_back.send(group);
            }
            Ok(())
        })
    }

    /// Capacity of the channel: 1 for large batches.
    fn ahead(&self) -> usize {
        let numbers = self.together * self.n.div_ceil(self.per_epoch) * self.p as u64;
        if numbers > 1 << 20 { 1 } else { MOST_MESSAGES }
    }

    /// Centres and divides the copied rows.
    fn prepare(&self, x: &mut [T]) {
        match (self.mean.is_empty(), self.inverse.is_empty()) {
            (true, true) => {}
            (false, true) => widest(
                #[inline(always)]
                || {
                    for row in x.chunks_exact_mut(self.p) {
                        row.iter_mut().zip(&self.mean).for_each(|(x, m)| *x = (*x - m[0]) - m[1]);
                    }
                },
            ),
            (true, false) => widest(
                #[inline(always)]
                || {
                    for row in x.chunks_exact_mut(self.p) {
                        row.iter_mut().zip(&self.inverse).for_each(|(x, by)| *x *= *by);
                    }
                },
            ),
            (false, false) => widest(
                #[inline(always)]
                || {
                    for row in x.chunks_exact_mut(self.p) {
                        let each = row.iter_mut().zip(&self.mean).zip(&self.inverse);
                        each.for_each(|((x, m), by)| *x = ((*x - m[0]) - m[1]) * *by);
                    }
                },
            ),
        }
    }
}
