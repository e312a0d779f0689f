//! Shards of rows, assigned to threads in order, and read piece by piece.

use super::no_columns;
use crate::data::{RandomAccess, RowEntries, Rows, Stream};
use crate::error::{Error, Result};
use crate::num::{Block, Plan, Real, Workspace};
use crate::run::Run;
use std::sync::Mutex;

/// Number of values that are read at once.
pub(super) const VALUES_PER_READ: usize = 1 << 20;

/// Assigns shards to threads in order.
pub(super) struct Shards<'a, T: Real> {
    pub(super) p: usize,
    plan: Plan,
    pub(super) n_rows: Option<u64>,
    pub(super) random: Option<&'a dyn RandomAccess<T>>,
    /// The number of the next shard, and the reader if shards cannot be read by number. `None` at the end of the rows.
    state: Mutex<(Option<u64>, Option<Forward<'a, T>>)>,
    /// The error of the first of the shards that failed, and its number.
    failed: Mutex<Option<(u64, Error)>>,
}

/// What computes the results for a block.
pub(super) type Step<'f, T, U> = dyn Fn(Block<'_, T>, &mut [U], &mut Workspace<T>) -> Result<()> + Sync + 'f;

type Forward<'a, T> = Box<dyn Stream<T> + 'a>;

impl<'a, T: Real> Shards<'a, T> {
    pub(super) fn new(rows: &'a Rows<'_, T>, plan: Plan, stage: &str) -> Result<Self> {
        if rows.n_features() == 0 {
            return Err(no_columns(stage, rows.origin()));
        }
        let random = rows.source().random();
        let stream = if random.is_none() { Some(rows.source().stream()?) } else { None };
        Ok(Self {
            p: rows.n_features(),
            plan,
            n_rows: rows.n_rows(),
            random,
            state: Mutex::new((Some(0), stream)),
            failed: Mutex::new(None),
        })
    }

    /// Keeps the error of a shard, unless an earlier one has failed; after it no further shard is taken.
    pub(super) fn fail(&self, number: u64, error: Error) {
        let mut failed = lock(&self.failed);
        if failed.as_ref().is_none_or(|(first, _)| number < *first) {
            *failed = Some((number, error));
        }
    }

    /// The first shard that failed, and its error. Shards are taken in their order, and one that is taken is completed: the first of those
    /// that fail is the same for any number of threads.
    pub(super) fn failure(&self) -> Option<(u64, Error)> {
        lock(&self.failed).take()
    }

    /// No more threads than shards.
    pub(super) fn threads(&self, run: &Run<'_>) -> usize {
        let shards = self.n_rows.map_or(usize::MAX, |n| n.div_ceil(self.plan.shard_rows as u64) as usize);
        run.threads.clamp(1, shards.max(1))
    }

    /// Takes the next shard, unless one has failed. If rows cannot be read by number, they are read into `buffers` now.
    pub(super) fn take(&self, buffers: &mut Buffers<T>) -> Option<Shard> {
        if lock(&self.failed).is_some() {
            return None;
        }
        let size = self.plan.shard_rows;
        let mut state = lock(&self.state);
        let number = state.0?;
        let start = number * size as u64;
        if let Some(random) = self.random {
            let n = random.n_rows();
            if start >= n {
                return None;
            }
            state.0 = Some(number + 1);
            return Some(Shard { number, rows: start..(start + size as u64).min(n) });
        }
        // A source may return fewer rows than requested; a shard is always filled up.
        buffers.rows.clear();
        let filled = match state.1.as_mut() {
            Some(stream) => fill(&mut **stream, size, self.p, &mut buffers.rows),
            None => Ok(()),
        };
        state.0 = match (&filled, buffers.rows.len() == size * self.p) {
            (Ok(()), true) => Some(number + 1),
            _ => None,
        };
        if let Err(e) = filled {
            self.fail(number, e);
            return None;
        }
        let n = (buffers.rows.len() / self.p) as u64;
        if n == 0 { None } else { Some(Shard { number, rows: start..start + n }) }
    }

    /// Rows of a shard from `first` on, read into `buffers` or borrowed: about `most` numbers, a whole number of blocks unless they
    /// are the last.
    pub(super) fn piece<'b>(
        &'b self,
        shard: &Shard,
        first: u64,
        most: usize,
        buffers: &'b mut Buffers<T>,
    ) -> Result<&'b [T]> {
        let Some(random) = self.random else { return Ok(&buffers.rows) };
        let blocks = (most / (self.p * self.plan.block_rows)).max(1);
        let rows = first..shard.rows.end.min(first + (blocks * self.plan.block_rows) as u64);
        if let Some(lent) = random.lend(rows.clone()) {
            return Ok(lent);
        }
        buffers.rows.resize((rows.end - rows.start) as usize * self.p, T::default());
        random.read(rows, 0..self.p, &mut buffers.rows, &mut buffers.raw)?;
        Ok(&buffers.rows)
    }
}

impl<T: Real> Shards<'_, T> {
    /// Results of `f` on the next shard, `width` numbers for each row: all of them, or the entries that are not 0.
    pub(super) fn mapped<U: Real>(
        &self,
        (width, entries): (usize, bool),
        f: &Step<'_, T, U>,
        buffers: &mut Buffers<T>,
        workspace: &mut Workspace<T>,
    ) -> Option<(u64, Result<MappedShard<U>>)> {
        let taken = self.take(buffers)?;
        let n_rows = (taken.rows.end - taken.rows.start) as usize;
        let rows = match entries {
            true => self.entries_of(&taken, width, f, buffers, workspace).map(MappedRows::Entries),
            false => {
                let mut out = vec![U::default(); n_rows * width];
                self.map_blocks(&taken, (&mut out, width), f, buffers, workspace)
                    .map(|()| MappedRows::All(out))
            }
        };
        Some((taken.number, rows.map(|rows| MappedShard { n_rows, rows })))
    }

    /// The entries that are not 0 of the results for a shard, of which those of one block are in memory at a time.
    fn entries_of<U: Real>(
        &self,
        taken: &Shard,
        width: usize,
        f: &Step<'_, T, U>,
        buffers: &mut Buffers<T>,
        workspace: &mut Workspace<T>,
    ) -> Result<RowEntries<U>> {
        let (mut found, mut out) = (RowEntries::default(), Vec::new());
        self.each_block(taken, buffers, |_, block| {
            out.clear();
            out.resize(block.n_rows() * width, U::default());
            f(block, &mut out, workspace)?;
            found.push(&out, width);
            Ok(())
        })?;
        Ok(found)
    }

    /// The parts of `out`, `width` numbers for every row, that hold the results for the shards, in order.
    pub(super) fn parts<'o, U>(&self, out: &'o mut [U], width: usize) -> std::slice::ChunksMut<'o, U> {
        out.chunks_mut(self.plan.shard_rows * width)
    }

    /// Calls `f` for every block of a shard with its part of the results, of `width` numbers for a row.
    fn map_blocks<U: Real>(
        &self,
        taken: &Shard,
        (out, width): (&mut [U], usize),
        f: &Step<'_, T, U>,
        buffers: &mut Buffers<T>,
        workspace: &mut Workspace<T>,
    ) -> Result<()> {
        self.each_block(taken, buffers, |at, block| {
            let out = &mut out[at * width..(at + block.n_rows()) * width];
            f(block, out, workspace)
        })
    }

    /// Calls `then` for every block of a shard, with the number of the rows of the shard before it.
    pub(super) fn each_block(
        &self,
        taken: &Shard,
        buffers: &mut Buffers<T>,
        mut then: impl FnMut(usize, Block<'_, T>) -> Result<()>,
    ) -> Result<()> {
        let (step, first_of_shard, mut first) = (self.plan.block_rows, taken.rows.start, taken.rows.start);
        while first < taken.rows.end {
            let piece = self.piece(taken, first, VALUES_PER_READ, buffers)?;
            for data in piece.chunks(step * self.p) {
                let block = Block { first_row: first, data, n_features: self.p, weights: None };
                then((first - first_of_shard) as usize, block)?;
                first += (data.len() / self.p) as u64;
            }
        }
        Ok(())
    }
}

/// Consecutive rows that one thread processes.
pub(super) struct Shard {
    pub(super) number: u64,
    pub(super) rows: std::ops::Range<u64>,
}

/// Result of mapping a shard.
pub(super) struct MappedShard<U> {
    pub(super) n_rows: usize,
    pub(super) rows: MappedRows<U>,
}

/// The rows of a mapped shard.
pub(super) enum MappedRows<U> {
    All(Vec<U>),
    Entries(RowEntries<U>),
}

/// Buffers of a thread.
#[derive(Default)]
pub(super) struct Buffers<T> {
    rows: Vec<T>,
    raw: Vec<u8>,
}

/// Reads from `stream` until `out` has `rows` rows, or to the end.
fn fill<T: Real>(stream: &mut dyn Stream<T>, rows: usize, p: usize, out: &mut Vec<T>) -> Result<()> {
    while out.len() < rows * p {
        if stream.read(rows - out.len() / p, out)? == 0 {
            break;
        }
    }
    Ok(())
}

pub(super) fn lock<V>(mutex: &Mutex<V>) -> std::sync::MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
