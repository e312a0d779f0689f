//! Gathers batches: windows are read shard by shard, and rows are copied out of them.

use super::order::Window;
use super::{Batch, Batches, Position};
use crate::data::RandomAccess;
use crate::error::Result;
use crate::num::Real;

/// Several consecutive batches.
pub(super) struct Group<T> {
    batches: Vec<Piece>,
    x: Vec<T>,
    rows: Vec<u64>,
    weights: Vec<f64>,
    /// Whether rows have weights.
    weighted: bool,
}

impl<T> Default for Group<T> {
    fn default() -> Self {
        Self { batches: Vec::new(), x: Vec::new(), rows: Vec::new(), weights: Vec::new(), weighted: false }
    }
}

/// One batch of a group.
struct Piece {
    position: Position,
    next: Position,
    done: u64,
    /// Range of its rows among those of the group.
    rows: std::ops::Range<usize>,
}

impl<T> Group<T> {
    /// Passes its batches, rows of `p` numbers, to the callback until that returns false.
    pub(super) fn hand_out(
        &self,
        p: usize,
        use_it: &mut impl FnMut(&Batch<'_, T>) -> Result<bool>,
    ) -> Result<bool> {
        for Piece { position, next, done, rows } in &self.batches {
            let weights = self.weighted.then(|| &self.weights[rows.clone()]);
            let x = &self.x[rows.start * p..rows.end * p];
            let (position, next, done) = (*position, *next, *done);
            if !use_it(&Batch { position, next, x, rows: &self.rows[rows.clone()], weights, done })? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn clear(&mut self) {
        self.batches.clear();
        self.x.clear();
        self.rows.clear();
        self.weights.clear();
    }
}

/// A window, and those of its shards that have been read.
struct HeldWindow<T> {
    window: Window,
    numbers: Vec<T>,
    /// Number of shards read so far.
    read: usize,
    /// Whether a window has been assigned.
    begun: bool,
}

impl<T: Real> HeldWindow<T> {
    fn new() -> Self {
        Self { window: Window::default(), numbers: Vec::new(), read: 0, begun: false }
    }

    fn is(&self, epoch: u64, number: u64) -> bool {
        self.begun && (self.window.epoch, self.window.number) == (epoch, number)
    }

    /// Starts another window, of which nothing has been read; if all rows fit in one window, the shards that were read are kept.
    fn begin(&mut self, batches: &Batches<'_, T>, epoch: u64, number: u64) {
        if batches.order.windows() > 1 {
            self.read = 0;
        }
        batches.order.fill(epoch, number, &mut self.window);
        self.begun = true;
    }

    /// Reads until `shards` of its shards have been read.
    fn read_until(
        &mut self,
        shards: usize,
        batches: &Batches<'_, T>,
        from: &dyn RandomAccess<T>,
        raw: &mut Vec<u8>,
    ) -> Result<()> {
        let len = self.window.order.len() * batches.p;
        if self.read == 0 && self.numbers.len() != len {
            self.numbers.resize(len, T::default());
        }
        // All shards have the same length, except the last of the data, which is the last of its window.
        let step = batches.order.rows_of(0).count() * batches.p;
        while self.read < shards.min(self.window.shards.len()) {
            let (rows, at) = (batches.order.rows_of(self.window.shards[self.read]), self.read * step);
            let out = &mut self.numbers[at..at + (rows.end - rows.start) as usize * batches.p];
            from.read(rows, 0..batches.p, out, raw)?;
            self.read += 1;
        }
        Ok(())
    }
}

/// State of the gathering.
pub(super) struct BatchReader<'b, 'a, T: Real> {
    batches: &'b Batches<'a, T>,
    from: &'b dyn RandomAccess<T>,
    /// All rows, if they are in memory in the required type and layout: then nothing is read.
    lent: Option<&'b [T]>,
    epochs: u64,
    position: Position,
    now: HeldWindow<T>,
    /// The next window, if it is read ahead.
    next: HeldWindow<T>,
    ahead: bool,
    /// Rows of the epoch that were passed on.
    done: u64,
    raw: Vec<u8>,
}

impl<'b, 'a, T: Real> BatchReader<'b, 'a, T> {
    /// Begins before the batch `position`; windows are read `ahead` or when they are needed.
    pub(super) fn new(batches: &'b Batches<'a, T>, position: Position, epochs: u64, ahead: bool) -> Self {
        let from = batches.rows.prepared();
        let lent = from.lend(0..batches.n);
        let ahead = ahead && lent.is_none() && batches.order.windows() > 1;
        let (now, next) = (HeldWindow::new(), HeldWindow::new());
        Self { batches, from, lent, epochs, position, now, next, ahead, done: 0, raw: Vec::new() }
    }

    /// Writes the next batches into `group`; false if there are none.
    pub(super) fn gather(&mut self, group: &mut Group<T>) -> Result<bool> {
        if self.position.epoch >= self.epochs {
            return Ok(false);
        }
        group.clear();
        group.weighted = self.batches.rows.weights().is_some();
        let Position { epoch, batch } = self.position;
        let until = (batch + self.batches.together).min(self.batches.per_epoch);
        for batch in batch..until {
            self.batch(epoch, batch, group)?;
        }
        self.batches.prepare(&mut group.x);
        Ok(true)
    }

    fn batch(&mut self, epoch: u64, batch: u64, group: &mut Group<T>) -> Result<()> {
        let (mut at, end, start) = (self.batches.first_row_of(batch), self.batches.first_row_of(batch + 1), group.rows.len());
        while at < end {
            self.arrive(epoch, at)?;
            let until = end.min(self.now.window.end());
            self.copy(at..until, group);
            at = until;
        }
        let next = match batch + 1 < self.batches.per_epoch {
            true => Position { epoch, batch: batch + 1 },
            false => Position { epoch: epoch + 1, batch: 0 },
        };
        let (position, rows) = (self.position, start..group.rows.len());
        group.batches.push(Piece { position, next, done: end, rows });
        (self.position, self.done) = (next, end);
        Ok(())
    }

    /// Makes the window that holds position `at` of the epoch the current one, and reads it completely.
    fn arrive(&mut self, epoch: u64, at: u64) -> Result<()> {
        let (batches, windows) = (self.batches, self.batches.order.windows());
        let here = &self.now.window;
        if !(self.now.begun && here.epoch == epoch && (here.first..here.end()).contains(&at)) {
            let number = match self.now.begun && here.epoch == epoch && here.end() == at {
                true => here.number + 1,
                false => batches.order.window_at(epoch, at),
            };
            match self.next.is(epoch, number) {
                true => std::mem::swap(&mut self.now, &mut self.next),
                false => self.now.begin(batches, epoch, number),
            }
            if self.ahead {
                let (epoch, number) = if number + 1 < windows { (epoch, number + 1) } else { (epoch + 1, 0) };
                self.next.begin(batches, epoch, number);
            }
        }
        if self.lent.is_none() {
            self.now.read_until(usize::MAX, batches, self.from, &mut self.raw)?;
        }
        Ok(())
    }

    /// Copies the rows at these positions of the epoch, all in the current window, in the order of the data unless they are to be
    /// mixed.
    fn copy(&mut self, places: std::ops::Range<u64>, group: &mut Group<T>) {
        let (p, order, first) = (self.batches.p, &self.batches.order, self.now.window.first);
        let part = (places.start - first) as usize..(places.end - first) as usize;
        if !self.batches.mixed {
            self.now.window.order[part.clone()].sort_unstable();
        }
        let (window, weights) = (&self.now.window, self.batches.rows.weights());
        group.x.reserve(part.len() * p);
        for &place in &window.order[part] {
            let row = order.row(window, place);
            if let Some(weights) = weights {
                let weight = weights[row as usize];
                if weight == 0.0 {
                    continue;
                }
                group.weights.push(weight);
            }
            group.rows.push(row);
            group.x.extend_from_slice(match self.lent {
                Some(all) => &all[row as usize * p..][..p],
                None => &self.now.numbers[place as usize * p..][..p],
            });
        }
    }

    /// Reads as large a fraction of the next window as has been used of the current one. A failed read is repeated when the shard
    /// is needed, and the error is reported then.
    pub(super) fn read_ahead(&mut self) {
        let (here, epochs) = (&self.now.window, self.epochs);
        if !self.ahead || self.next.window.epoch >= epochs || here.order.is_empty() {
            return;
        }
        // A new epoch counts its rows from 0.
        let done = if self.position.epoch > here.epoch { here.end() } else { self.done };
        let (done, all) = (done.saturating_sub(here.first), here.order.len() as u64);
        let shards = (self.next.window.shards.len() as u64 * done).div_ceil(all) as usize;
        let _ = self.next.read_until(shards, self.batches, self.from, &mut self.raw);
    }
}
