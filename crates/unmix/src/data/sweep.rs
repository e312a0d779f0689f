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
use crate::machine::{check_memory, room};
use crate::num::parallel;
use crate::num::threads::on_pool;
use crate::num::{Block, Plan, Real, Workspace};
use crate::run::Run;
use crate::stats::{AnyGather, AnyPartial, Gather, of_type};
use shards::{Buffers, MappedRows, MappedShard, Shard, Shards, Step, VALUES_PER_READ, lock};
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Nodes of the merge tree of any gather.
pub(super) type Nodes = MergeStack<Box<dyn AnyPartial>>;

/// [`VALUES_PER_READ`] if rows are contiguous, so that small reads cost no more: small enough to be in the second-level cache when they are
/// used.
const VALUES_PER_CONTIGUOUS_READ: usize = 1 << 16;

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
        let most = if shards.random.is_some_and(RandomAccess::by_rows) {
            VALUES_PER_CONTIGUOUS_READ
        } else {
            VALUES_PER_READ
        };
        let (nodes, before) = (Mutex::new(Nodes::default()), first_row / plan.shard_rows as u64);
        let done = AtomicU64::new(0);
        let sum = |shard: &Shard, buffers: &mut Buffers<T>, workspace: &mut Workspace<T>| -> Result<_> {
            let mut part = gather.zero_any(shards.p);
            let mut first = shard.rows.start;
            while first < shard.rows.end {
                let piece = shards.piece(shard, first, most, buffers)?;
                let start = first;
                for data in piece.chunks(plan.block_rows * shards.p) {
                    let n = data.len() / shards.p;
                    let weights = self.weights_of(first, n);
                    let block = Block { first_row: first_row + first, data, n_features: shards.p, weights };
                    gather.add_any(part.as_mut(), block, workspace);
                    first += n as u64;
                }
                // Rows processed by all threads.
                let done = done.fetch_add(first - start, Ordering::Relaxed) + (first - start);
                run.sweep_progress(stage, done, shards.n_rows)?;
            }
            Ok(part)
        };
        let work = || {
            let (mut buffers, mut workspace) = (Buffers::default(), Workspace::default());
            while let Some(shard) = shards.take(&mut buffers) {
                match sum(&shard, &mut buffers, &mut workspace) {
                    Ok(part) => merge_up(before + shard.number, 0, part, |index, height, part| {
                        lock(&nodes).pair(index, height, part)
                    }),
                    Err(e) => shards.fail(shard.number, e),
                }
            }
        };
        on_threads(shards.threads(run), run, &work);
        match shards.failure() {
            Some((_, e)) => Err(e),
            None => Ok(nodes.into_inner().unwrap_or_else(|e| e.into_inner())),
        }
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
    /// `f` gets a block and a buffer for its results, which are 0. Shards are processed by all threads; results are delivered in order, with
    /// memory of two shards for each thread, or all at once, if the sink [keeps them in memory](Sink::is_in_memory), or as their
    /// [entries that are not 0](Sink::entries).
    ///
    /// # Errors
    ///
    /// Errors of the source, of `f` and of `sink`, of which the first ends the pass; [`Error::Interrupted`]; [`Error::Width`] if there are no
    /// columns; [`Error::Memory`] if a block of rows does not fit into memory.
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
        if let Some(random) = shards.random.filter(|_| sink.is_in_memory() && width > 0) {
            let n = random.n_rows();
            sink.put_all(map_to_vec(run, stage, &shards, (n as usize, width), &f)?)?;
            return Ok(n);
        }
        let (threads, entries) = (shards.threads(run), sink.entries().is_some());
        let mut done = 0;
        let mut kept: Vec<(Buffers<T>, Workspace<T>)> = (0..threads).map(|_| Default::default()).collect();
        loop {
            let made = Mutex::new(BTreeMap::new());
            let wave = |(buffers, workspace): &mut (Buffers<T>, Workspace<T>)| {
                for _ in 0..2 {
                    match shards.mapped((width, entries), &f, buffers, workspace) {
                        Some((shard, Ok(mapped))) => drop(lock(&made).insert(shard, mapped)),
                        Some((shard, Err(e))) => shards.fail(shard, e),
                        None => break,
                    }
                }
            };
            match threads {
                1 => wave(&mut kept[0]),
                _ => on_pool(run.threads, || parallel::each(kept.iter_mut(), wave)),
            }
            let (made, failed) = (made.into_inner().unwrap_or_else(|e| e.into_inner()), shards.failure());
            let ended = made.is_empty();
            // Those before the first shard that failed are delivered, for any number of threads.
            let first_failed = failed.as_ref().map_or(u64::MAX, |(number, _)| *number);
            for (_, MappedShard { n_rows, rows }) in
                made.into_iter().filter(|(number, _)| *number < first_failed)
            {
                done += n_rows as u64;
                match (rows, sink.entries()) {
                    (MappedRows::Entries(rows), Some(sink)) => sink.put_entries(rows)?,
                    (MappedRows::All(rows), _) => sink.put(&rows)?,
                    (MappedRows::Entries(_), None) => unreachable!("a sink keeps entries throughout a pass"),
                }
            }
            match failed {
                Some((_, e)) => return Err(e),
                None if ended => return Ok(done),
                None => {}
            }
            run.sweep_progress(stage, done, shards.n_rows)?;
        }
    }
}

/// Results of `f` for all `n` rows, `width` numbers each: every thread writes those of its shards, so that none waits for another or for
/// copies.
fn map_to_vec<T: Real, U: Real>(
    run: &Run<'_>,
    stage: &str,
    shards: &Shards<'_, T>,
    (n, width): (usize, usize),
    f: &Step<'_, T, U>,
) -> Result<Vec<U>> {
    let mut out = room(n * width);
    let parts = Mutex::new(shards.parts(&mut out.spare_capacity_mut()[..n * width], width));
    let done = AtomicU64::new(0);
    let next = |buffers: &mut Buffers<T>| {
        let mut parts = lock(&parts);
        shards.take(buffers).zip(parts.next())
    };
    let fill = |shard: &Shard, out: &mut [_], buffers: &mut Buffers<T>, workspace: &mut Workspace<T>| {
        shards.each_block(shard, buffers, |at, block| {
            // Set to 0 by blocks and not as a whole: the results of a block are then written to the cache.
            let out = zeroed(&mut out[at * width..(at + block.n_rows()) * width]);
            f(block, out, workspace)
        })?;
        let n = shard.rows.end - shard.rows.start;
        let done = done.fetch_add(n, Ordering::Relaxed) + n;
        run.sweep_progress(stage, done, shards.n_rows)
    };
    let work = || {
        let (mut buffers, mut workspace) = (Buffers::default(), Workspace::default());
        while let Some((shard, out)) = next(&mut buffers) {
            if let Err(e) = fill(&shard, out, &mut buffers, &mut workspace) {
                shards.fail(shard.number, e);
            }
        }
    };
    on_threads(shards.threads(run), run, &work);
    if let Some((_, e)) = shards.failure() {
        return Err(e);
    }
    assert_eq!(done.into_inner(), n as u64, "the shards are all rows");
    // SAFETY: no shard failed, and the parts of all of them were set: they have `n` rows together.
    unsafe { out.set_len(n * width) };
    Ok(out)
}

/// The same memory, set to 0.
fn zeroed<U: Real>(out: &mut [MaybeUninit<U>]) -> &mut [U] {
    out.fill(MaybeUninit::new(U::default()));
    // SAFETY: every number has been set.
    unsafe { &mut *(std::ptr::from_mut(out) as *mut [U]) }
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

/// Runs `work` on all threads of the pool at once, or on this one if a single thread has work.
fn on_threads(threads: usize, run: &Run<'_>, work: &(dyn Fn() + Sync)) {
    match threads {
        1 => work(),
        _ => on_pool(run.threads, || parallel::on_every_thread(work)),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{EntrySink, Features, RowEntries, Source, Stream, VecSink};

    /// A sink that is not in memory, as files are not.
    struct InParts(Vec<f64>);

    impl Sink<f64> for InParts {
        fn put(&mut self, rows: &[f64]) -> Result<()> {
            self.0.extend_from_slice(rows);
            Ok(())
        }
    }

    /// Keeps the entries that are not 0.
    #[derive(Default)]
    struct InEntries(RowEntries<f64>);

    impl Sink<f64> for InEntries {
        fn put(&mut self, rows: &[f64]) -> Result<()> {
            panic!("{} numbers are not passed as entries", rows.len());
        }

        fn entries(&mut self) -> Option<&mut dyn EntrySink<f64>> {
            Some(self)
        }
    }

    impl EntrySink<f64> for InEntries {
        fn put_entries(&mut self, rows: RowEntries<f64>) -> Result<()> {
            let before = self.0.values.len();
            self.0.values.extend(rows.values);
            self.0.columns.extend(rows.columns);
            self.0.ends.extend(rows.ends.iter().map(|end| before + end));
            Ok(())
        }
    }

    fn sums(block: Block<'_, f64>, out: &mut [f64], _: &mut Workspace<f64>) -> Result<()> {
        for (row, out) in block.data.chunks_exact(block.n_features).zip(out.chunks_exact_mut(2)) {
            // The results are 0 at first, and this one stays so.
            assert_eq!(out, [0.0; 2]);
            out[0] = row.iter().sum();
        }
        Ok(())
    }

    #[test]
    fn results_are_the_same_all_at_once_and_in_parts() {
        for n in [1, 100, 40_000] {
            let x: Vec<f64> = (0..3 * n).map(|i| (i % 17) as f64).collect();
            let rows = Rows::from_slice(&x, 3).unwrap();
            let want: Vec<f64> = x.chunks_exact(3).flat_map(|row| [row.iter().sum(), 0.0]).collect();
            for threads in [1, 2, 3] {
                let run = Run { threads, ..Run::default() };
                let (mut whole, mut parts) = (VecSink::default(), InParts(Vec::new()));
                for _ in 0..2 {
                    assert_eq!(rows.map(&run, "test", 2, sums, &mut whole).unwrap(), n as u64);
                    assert_eq!(rows.map(&run, "test", 2, sums, &mut parts).unwrap(), n as u64);
                }
                assert_eq!(whole.0, want.repeat(2));
                assert_eq!(parts.0, want.repeat(2));
                let (mut entries, mut found) = (RowEntries::default(), InEntries::default());
                entries.push(&want, 2);
                assert_eq!(rows.map(&run, "test", 2, sums, &mut found).unwrap(), n as u64);
                assert!(found.0.values.iter().all(|x| *x != 0.0));
                assert_eq!(found.0, entries);
            }
        }
    }

    /// Rows 0, 1, 2, ... of one column, of which those from row 100,000 on, in the seventh shard, cannot be read.
    struct EndsEarly(u64);

    impl Source<f64> for EndsEarly {
        fn n_features(&self) -> usize {
            1
        }

        fn n_rows(&self) -> Option<u64> {
            None
        }

        fn stream(&self) -> Result<Box<dyn Stream<f64> + '_>> {
            Ok(Box::new(EndsEarly(0)))
        }
    }

    impl Stream<f64> for EndsEarly {
        fn read(&mut self, _: usize, out: &mut Vec<f64>) -> Result<usize> {
            if self.0 == 100_000 {
                return Err(Error::corrupt_model("the file ends early"));
            }
            out.push(self.0 as f64);
            self.0 += 1;
            Ok(1)
        }
    }

    #[test]
    fn a_row_that_fails_is_reported_before_a_later_one_that_cannot_be_read() {
        let rows = Rows::new(EndsEarly(0), Features::default(), "rows");
        for threads in [1, 2, 3, 7] {
            for fails_at in [10.0, 30_000.0, 1e9] {
                let step = |block: Block<'_, f64>, _: &mut [f64], _: &mut Workspace<f64>| {
                    std::thread::sleep(std::time::Duration::from_micros(200));
                    if block.data.contains(&fails_at) { Err(Error::Interrupted) } else { Ok(()) }
                };
                let run = Run { threads, ..Run::default() };
                let e = rows.map(&run, "test", 1, step, &mut InParts(Vec::new())).unwrap_err();
                assert_eq!(
                    matches!(e, Error::Interrupted),
                    fails_at < 1e9,
                    "{threads} threads, {fails_at}: {e}"
                );
            }
        }
    }

    #[test]
    fn the_first_row_that_fails_is_reported_for_any_number_of_threads() {
        let x: Vec<f64> = (0..60_000).map(f64::from).collect();
        let rows = Rows::from_slice(&x, 2).unwrap();
        let step = |block: Block<'_, f64>, _: &mut [f64], _: &mut Workspace<f64>| match block
            .data
            .iter()
            .find(|x| **x >= 20_001.0)
        {
            Some(x) => Err(rows.not_finite_at("test", (x / 2.0) as u64, 0, f64::NAN)),
            None => Ok(()),
        };
        for threads in [1, 2, 3, 7] {
            let run = Run { threads, ..Run::default() };
            let mut sink = VecSink::<f64>(vec![1.0]);
            let e = rows.map(&run, "test", 1, step, &mut sink).unwrap_err();
            assert!(e.to_string().contains("row 10000,"), "{threads} threads: {e}");
            assert_eq!(sink.0, [1.0]);
        }
    }
}
