//! The two loops over rows: [`Rows::sweep`] sums, [`Rows::map`] transforms.
//!
//! *Same bits.* A shard is a run of consecutive rows whose length depends only on the width of the data and on the kind of sum. Each shard
//! is summed by one thread, block by block; finished shards are merged only as siblings of a binary tree over shard numbers, whichever
//! thread or worker finished them and when. So the result does not depend on the number of threads, or on how the source returns its rows.
//! Pairwise merging also bounds the growth of rounding errors. Shards of sparse rows are processed one after the other, each by all
//! threads, where each line of the matrix of sums is computed by one of them.

mod shards;

use super::job::Job;
use super::merge_stack::{MergeStack, merge_up};
use super::rows::Rows;
use super::source::RandomAccess;
use super::{Sink, Sparse};
use crate::error::{Error, Result};
use crate::machine::check_memory;
use crate::num::parallel;
use crate::num::threads::on_pool;
use crate::num::{Block, Plan, Real, Workspace};
use crate::run::Run;
use crate::stats::{AnyGather, AnyPartial, Gather, of_type};
use shards::{Buffers, MappedShard, PIECE, Shards, lock};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Nodes of the merge tree of any gather.
pub(super) type Nodes = MergeStack<Box<dyn AnyPartial>>;

/// [`PIECE`] if rows are contiguous, so that small reads cost no more: small enough to be in the second-level cache when they are
/// used.
const NEAR: usize = 1 << 16;

impl<T: Real> Rows<'_, T> {
    /// Refuses rows that are so long that a block of them does not fit in memory.
    fn check_width(&self) -> Result<()> {
        let p = self.n_features() as u64;
        check_memory(
            &format!("one block of rows of {}, each of {p} numbers,", self.origin()),
            p.saturating_mul(self.plan().block_rows as u64).saturating_mul(std::mem::size_of::<T>() as u64),
            "choose fewer columns; if rows are channels, transpose",
        )
    }

    /// Sums `gather` over every row in one pass, local or remote.
    ///
    /// Each shard is summed separately, a block at a time; results are merged in an order fixed by shard number. The total has the same
    /// bits for any number of threads, from memory and from disk, and for shards that are held by [remote](super::Source::remote) workers.
    ///
    /// # Errors
    ///
    /// Errors of the source; [`Error::Interrupted`]; [`Error::TooFewRows`] if there are none; [`Error::Width`] for a gather of another
    /// width.
    pub fn sweep<G: Gather<T>>(&self, run: &Run<'_>, stage: &str, gather: &G) -> Result<G::Part> {
        self.sweep_any(run, stage, gather).map(of_type)
    }

    fn sweep_any(
        &self,
        run: &Run<'_>,
        stage: &str,
        gather: &dyn AnyGather<T>,
    ) -> Result<Box<dyn AnyPartial>> {
        let p = self.n_features();
        check_gather(gather, p, stage)?;
        let plan = match gather.is_stored() && self.is_sparse() {
            true => Plan::for_stored(p),
            false => self.cut(gather.plan_any(p)),
        };
        if let Some(remote) = self.source().remote() {
            let n = self.n_rows().unwrap_or(0);
            let total = Job::of(gather, plan, self).gathered(gather, remote)?;
            run.sweep_progress(stage, n, Some(n))?;
            return Ok(total);
        }
        let nodes = self.nodes(plan, 0, run, stage, gather)?;
        nodes.total().ok_or_else(|| no_rows(stage, self.origin()))
    }

    /// The nodes of the merge tree that these rows cover; `first_row`, the number of their first row in the data, is a multiple of the
    /// shard length.
    pub(crate) fn nodes(
        &self,
        plan: Plan,
        first_row: u64,
        run: &Run<'_>,
        stage: &str,
        gather: &dyn AnyGather<T>,
    ) -> Result<Nodes> {
        if let (Some(sparse), true) = (self.sparse(), gather.is_stored()) {
            return self.stored_nodes(sparse, plan, first_row, run, stage, gather);
        }
        self.check_width()?;
        let shards = Shards::new(self, plan, stage)?;
        let most = if shards.random.is_some_and(RandomAccess::by_rows) { NEAR } else { PIECE };
        let (nodes, before) = (Mutex::new(Nodes::default()), first_row / plan.shard_rows as u64);
        let done = AtomicU64::new(0);
        let work = || -> Result<()> {
            let (mut buffers, mut workspace) = (Buffers::default(), Workspace::default());
            while let Some(shard) = shards.take(&mut buffers)? {
                let mut part = gather.zero_any(shards.p);
                let mut first = shard.rows.start;
                while first < shard.rows.end {
                    let piece = shards.piece(&shard, first, most, &mut buffers)?;
                    let start = first;
                    for data in piece.chunks(plan.block_rows * shards.p) {
                        let n = data.len() / shards.p;
                        let weights = self.weights_of(first, n);
                        let first_row = first_row + first;
                        gather.add_any(
                            part.as_mut(),
                            Block { first_row, data, n_features: shards.p, weights },
                            &mut workspace,
                        );
                        first += n as u64;
                    }
                    // Rows processed by all threads.
                    let done = done.fetch_add(first - start, Ordering::Relaxed) + (first - start);
                    run.sweep_progress(stage, done, shards.n_rows)?;
                }
                let pair = |index, height, part| lock(&nodes).pair(index, height, part);
                merge_up(before + shard.number, 0, part, pair);
            }
            Ok(())
        };
        match shards.threads(run) {
            1 => work()?,
            _ => on_threads(run.threads, &work)?,
        }
        Ok(nodes.into_inner().unwrap_or_else(|e| e.into_inner()))
    }

    /// [`nodes`](Self::nodes) of sparse rows, one shard after the other, each by all threads. The sum over a right sibling is added to
    /// that over the left one line by line, so that it needs no matrix of its own.
    fn stored_nodes(
        &self,
        sparse: &Sparse<'_, T>,
        plan: Plan,
        first_row: u64,
        run: &Run<'_>,
        stage: &str,
        gather: &dyn AnyGather<T>,
    ) -> Result<Nodes> {
        if self.n_features() == 0 {
            return Err(no_columns(stage, self.origin()));
        }
        let (mut nodes, n, size) = (MergeStack::default(), sparse.n_rows(), plan.shard_rows);
        for (number, start) in (first_row / size as u64..).zip((0..n).step_by(size)) {
            let rows = start..(start + size).min(n);
            let len = rows.len() as f64;
            let pace =
                |share: f64| run.sweep_progress(stage, start as u64 + (share * len) as u64, Some(n as u64));
            let shard = sparse.shard((first_row, rows), self.weights(), run.threads, &pace)?;
            let left = if number.is_multiple_of(2) { None } else { nodes.sibling(number, 0) };
            let height = u32::from(left.is_some());
            let mut part = left.unwrap_or_else(|| gather.zero_any(self.n_features()));
            gather.add_stored_any(part.as_mut(), &shard)?;
            nodes.merge_up(number - u64::from(height), height, part);
        }
        Ok(nodes)
    }

    /// Weights of a range of rows, unless all are 1: the results then have the bits of unweighted rows.
    fn weights_of(&self, first: u64, n: usize) -> Option<&[f64]> {
        let weights = self.weights()?.get(first as usize..first as usize + n)?;
        if weights.iter().all(|&w| w == 1.0) { None } else { Some(weights) }
    }

    /// Computes `width` numbers from every row and passes them to `sink` in the order of the rows.
    ///
    /// `f` gets a block and a buffer for its results. Shards are processed by all threads and delivered in order; memory is that of
    /// two shards for each thread.
    pub fn map<U, F>(
        &self,
        run: &Run<'_>,
        stage: &str,
        width: usize,
        f: F,
        sink: &mut dyn Sink<U>,
    ) -> Result<u64>
    where
        U: Real,
        F: Fn(Block<'_, T>, &mut [U], &mut Workspace<T>) -> Result<()> + Sync,
    {
        self.check_width()?;
        // Cut by the wider of rows and results, which bounds the memory of both.
        let plan = Plan::for_each_row(self.n_features().max(width), self.n_rows(), run.threads);
        let shards = Shards::new(self, plan, stage)?;
        let threads = shards.threads(run);
        let mut done = 0;
        let mut kept: Vec<(Buffers<T>, Workspace<T>)> = (0..threads).map(|_| Default::default()).collect();
        loop {
            let made = Mutex::new(BTreeMap::new());
            // Shards are taken in their order, and one that is taken is completed: the first of those that fail is the same for any threads.
            let wave = |(buffers, workspace): &mut (Buffers<T>, Workspace<T>)| -> Result<()> {
                for _ in 0..2 {
                    let Some((shard, mapped)) = shards.mapped(width, &f, buffers, workspace)? else { break };
                    let failed = mapped.is_err();
                    lock(&made).insert(shard, mapped);
                    if failed {
                        break;
                    }
                }
                Ok(())
            };
            match threads {
                1 => wave(&mut kept[0])?,
                _ => on_pool(run.threads, || parallel::try_each(kept.iter_mut(), wave))?,
            }
            let made = made.into_inner().unwrap_or_else(|e| e.into_inner());
            if made.is_empty() {
                return Ok(done);
            }
            for mapped in made.into_values() {
                let MappedShard { n_rows, out } = mapped?;
                done += n_rows as u64;
                sink.put(&out)?;
            }
            run.sweep_progress(stage, done, shards.n_rows)?;
        }
    }
}

/// The error for a pass over no rows.
pub(crate) fn no_rows(stage: &str, origin: &str) -> Error {
    Error::TooFewRows {
        method: stage.into(),
        need: 1,
        got: 0,
        what: origin.into(),
        remedy: "check that the right file or selection was given".into(),
    }
}

/// The error for a pass over rows without columns.
pub(crate) fn no_columns(stage: &str, origin: &str) -> Error {
    Error::Width {
        what: stage.into(),
        need: 1,
        got: 0,
        remedy: format!("check which columns of {origin} were selected"),
    }
}

/// Runs `work` on `threads` threads at once and returns the first error.
fn on_threads(threads: usize, work: &(dyn Fn() -> Result<()> + Sync)) -> Result<()> {
    on_pool(threads, || parallel::on_every_thread(work))
}

/// Refuses a gather of rows of another width.
pub(super) fn check_gather<T: Real>(gather: &dyn AnyGather<T>, n_features: usize, stage: &str) -> Result<()> {
    match gather.width_any() {
        Some(need) if need != n_features => Err(Error::Width {
            what: stage.into(),
            need,
            got: n_features,
            remedy: "give rows with as many columns as the gather requires".into(),
        }),
        _ => Ok(()),
    }
}
