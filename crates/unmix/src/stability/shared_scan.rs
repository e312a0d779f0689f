//! Concurrent fits with a shared scan of the rows.
//!
//! Fits of halves and from other seeds read mostly the same rows repeatedly. Here all of them use one shared
//! scan, which holds one piece of the rows at a time: a fit that needs this piece processes it and requests
//! the next piece that it needs; once all fits have requested one, the next piece that any of them needs is
//! read, cyclically. So one pass over the rows serves all fits, and a file is read a few times rather than
//! some hundred times.
//!
//! A fit gets the same numbers in the same order as alone, and uses one thread: its result has the same bits.
//! At most as many fits as threads compute at a time; the others wait.

use crate::data::{RandomAccess, Source, Stream};
use crate::error::{Error, Result};
use crate::num::Real;
use crate::num::threads::on_pool;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Numbers in a piece: as many as fit into a cache while several fits process them.
const NUMBERS_PER_PIECE: usize = 1 << 17;

/// A scan of the rows that several fits share.
pub(super) struct SharedScan<'a, T: Real> {
    source: &'a dyn RandomAccess<T>,
    p: usize,
    piece_rows: u64,
    threads: usize,
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    /// Fits that have not ended.
    unfinished: usize,
    /// Fits that compute; the others wait.
    working: usize,
    /// The piece that each waiting fit requested.
    wanted: BTreeMap<usize, u64>,
    /// The piece that was read last.
    served: Option<(u64, Arc<Vec<T>>)>,
    /// Fits that requested it and have not taken it yet.
    ready: BTreeSet<usize>,
    /// Pieces read so far.
    reads: u64,
    /// A read failed: no fit continues.
    failed: bool,
}

impl<'a, T: Real> SharedScan<'a, T> {
    /// A scan over the rows of `source`, of `p` numbers each, for `readers` fits.
    pub(super) fn new(source: &'a dyn RandomAccess<T>, p: usize, readers: usize, threads: usize) -> Self {
        let state = State {
            unfinished: readers,
            working: 0,
            wanted: BTreeMap::new(),
            served: None,
            ready: BTreeSet::new(),
            reads: 0,
            failed: false,
        };
        let piece_rows = (NUMBERS_PER_PIECE / p.max(1)).max(1) as u64;
        Self {
            source,
            p,
            piece_rows,
            threads: threads.max(1),
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn wait<'g>(&self, state: MutexGuard<'g, State<T>>) -> MutexGuard<'g, State<T>> {
        self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Acquires a slot to compute in, once one is free.
    fn acquire(&self) {
        let mut state = self.lock();
        while state.working >= self.threads {
            state = self.wait(state);
        }
        state.working += 1;
    }

    /// Releases the slot: the fit has ended.
    fn release(&self) {
        let mut state = self.lock();
        state.working -= 1;
        state.unfinished -= 1;
        // An error of a read is passed on to the fits that wait for it.
        let _ = self.serve(&mut state);
        self.changed.notify_all();
    }

    /// Piece `piece`, for fit number `reader`, which waits until it is read and a slot is free.
    fn request(&self, reader: usize, piece: u64) -> Result<Arc<Vec<T>>> {
        let mut state = self.lock();
        state.working -= 1;
        state.wanted.insert(reader, piece);
        let served = self.serve(&mut state);
        self.changed.notify_all();
        if served.is_err() {
            state.working += 1;
        }
        served?;
        loop {
            if state.failed {
                state.wanted.remove(&reader);
                state.working += 1;
                return Err(Error::Interrupted);
            }
            if state.working < self.threads && state.ready.remove(&reader) {
                state.working += 1;
                if let Some((_, rows)) = &state.served {
                    return Ok(rows.clone());
                }
            }
            state = self.wait(state);
        }
    }

    /// Reads the next piece that any fit needs, once all have requested one.
    fn serve(&self, state: &mut State<T>) -> Result<()> {
        if state.unfinished == 0 || state.wanted.len() < state.unfinished || state.failed {
            return Ok(());
        }
        let after = state.served.as_ref().map_or(0, |(last, _)| last + 1);
        let next = state.wanted.values().copied().filter(|w| *w >= after).min();
        let Some(piece) = next.or_else(|| state.wanted.values().copied().min()) else { return Ok(()) };
        let rows = piece * self.piece_rows..((piece + 1) * self.piece_rows).min(self.source.n_rows());
        let mut held = vec![T::default(); (rows.end - rows.start) as usize * self.p];
        if let Err(error) = self.source.read(rows, 0..self.p, &mut held, &mut Vec::new()) {
            state.failed = true;
            return Err(error);
        }
        state.reads += 1;
        state.served = Some((piece, Arc::new(held)));
        state.ready.extend(state.wanted.iter().filter(|(_, w)| **w == piece).map(|(reader, _)| *reader));
        state.wanted.retain(|_, w| *w != piece);
        Ok(())
    }

    /// Pieces read so far.
    #[cfg(test)]
    pub(super) fn reads(&self) -> u64 {
        self.lock().reads
    }
}

/// Runs all jobs concurrently, each with its own reader; results in the order of the jobs.
pub(super) fn run_concurrently<T: Real, J: Send, R: Send>(
    scan: &SharedScan<'_, T>,
    jobs: Vec<J>,
    work: impl Fn(usize, J) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    /// Releases its slot even after a panic, so that no other fit waits for ever.
    struct Slot<'t, 'a, T: Real>(&'t SharedScan<'a, T>);
    impl<T: Real> Drop for Slot<'_, '_, T> {
        fn drop(&mut self) {
            self.0.release();
        }
    }
    let one = |reader: usize, job: J| {
        scan.acquire();
        let _slot = Slot(scan);
        on_pool(1, || work(reader, job))
    };
    let mut results: Vec<Result<R>> = std::thread::scope(|scope| {
        let one = &one;
        let begun: Vec<_> =
            jobs.into_iter().enumerate().map(|(reader, job)| scope.spawn(move || one(reader, job))).collect();
        let ended = begun.into_iter().map(|fit| fit.join());
        ended.map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    // A fit that stopped because another one failed has no error of its own.
    let first = results.iter().position(|r| matches!(r, Err(e) if !matches!(e, Error::Interrupted)));
    match first {
        Some(i) => results.swap_remove(i).map(|_| Vec::new()),
        None => results.into_iter().collect(),
    }
}

/// One fit's view of the shared scan: some rows, or all of them.
pub(super) struct Reader<'t, 'a, T: Real> {
    scan: &'t SharedScan<'a, T>,
    reader: usize,
    /// Rising numbers of rows; `None` for all.
    chosen: Option<Vec<u64>>,
    /// The piece that it requested last.
    held: Mutex<Option<(u64, Arc<Vec<T>>)>>,
}

impl<'t, 'a, T: Real> Reader<'t, 'a, T> {
    pub(super) fn new(scan: &'t SharedScan<'a, T>, reader: usize, chosen: Option<Vec<u64>>) -> Self {
        let chosen = chosen.map(|mut rows| {
            rows.sort_unstable();
            rows
        });
        Self { scan, reader, chosen, held: Mutex::new(None) }
    }

    fn number(&self, row: u64) -> u64 {
        self.chosen.as_ref().map_or(row, |chosen| chosen[row as usize])
    }
}

impl<T: Real> Source<T> for Reader<'_, '_, T> {
    fn n_features(&self) -> usize {
        self.scan.p
    }

    fn n_rows(&self) -> Option<u64> {
        Some(RandomAccess::n_rows(self))
    }

    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>> {
        Ok(Box::new(crate::data::Forward::new(self, self.scan.p)))
    }

    fn random(&self) -> Option<&dyn RandomAccess<T>> {
        Some(self)
    }
}

impl<T: Real> RandomAccess<T> for Reader<'_, '_, T> {
    fn n_rows(&self) -> u64 {
        self.chosen.as_ref().map_or(self.scan.source.n_rows(), |chosen| chosen.len() as u64)
    }

    fn read(&self, rows: Range<u64>, columns: Range<usize>, out: &mut [T], _: &mut Vec<u8>) -> Result<()> {
        let (p, size) = (self.scan.p, self.scan.piece_rows);
        let mut held = self.held.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        for (row, out) in rows.zip(out.chunks_exact_mut(columns.len().max(1))) {
            let number = self.number(row);
            let piece = number / size;
            if held.as_ref().is_none_or(|(own, _)| *own != piece) {
                // Release the previous piece first, so that its memory can be reused.
                *held = None;
                *held = Some((piece, self.scan.request(self.reader, piece)?));
            }
            if let Some((_, numbers)) = held.as_ref() {
                let at = (number - piece * size) as usize * p;
                out.copy_from_slice(&numbers[at + columns.start..at + columns.end]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Fits, HALF};
    use super::*;
    use crate::data::splits::split_in_halves;
    use crate::data::{AnyRows, Rows, Subset};
    use crate::datasets::{Distribution, independent};
    use crate::{Run, fit};
    use serde_json::json;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Numbers in memory that count how many of them are read, and fail at a given place.
    struct Counted<'a> {
        data: &'a [f64],
        p: usize,
        read: AtomicU64,
        breaks: u64,
    }

    impl RandomAccess<f64> for Counted<'_> {
        fn n_rows(&self) -> u64 {
            (self.data.len() / self.p) as u64
        }
        fn read(&self, rows: Range<u64>, _: Range<usize>, out: &mut [f64], _: &mut Vec<u8>) -> Result<()> {
            if rows.contains(&self.breaks) {
                return Err(Error::setting("file", self.breaks, "it is truncated here", "mend it"));
            }
            self.read.fetch_add(rows.end - rows.start, Ordering::Relaxed);
            out.copy_from_slice(&self.data[rows.start as usize * self.p..rows.end as usize * self.p]);
            Ok(())
        }
    }

    fn counted(data: &[f64], p: usize, breaks: u64) -> Counted<'_> {
        Counted { data, p, read: AtomicU64::new(0), breaks }
    }

    /// Goes through its rows so many times, in pieces of its own, and adds them up.
    fn read_repeatedly(reader: &Reader<'_, '_, f64>, passes: usize, step: u64) -> Result<f64> {
        let (n, p, mut sum) = (RandomAccess::n_rows(reader), reader.scan.p, 0.0);
        for pass in 0..passes {
            for first in (0..n).step_by(step as usize) {
                let rows = first..(first + step).min(n);
                let mut out = vec![0.0; (rows.end - rows.start) as usize * p];
                reader.read(rows, 0..p, &mut out, &mut Vec::new())?;
                sum += (pass + 1) as f64 * out.iter().sum::<f64>();
            }
        }
        Ok(sum)
    }

    #[test]
    fn all_readers_are_served_by_the_passes_of_the_longest() {
        let (n, p) = (40_000u64, 16);
        let data: Vec<f64> = (0..n as usize * p).map(|i| (i % 1013) as f64).collect();
        let passes = [3, 5, 2, 7, 1, 4];
        for threads in [1, 2, 5] {
            let source = counted(&data, p, u64::MAX);
            let scan = SharedScan::new(&source, p, passes.len(), threads);
            let found = run_concurrently(&scan, passes.to_vec(), |reader, passes| {
                // Half of them see every third row only.
                let some = (reader % 2 == 1).then(|| (0..n).filter(|i| i % 3 == 0).collect());
                read_repeatedly(&Reader::new(&scan, reader, some), passes, 100 + 700 * reader as u64)
            });
            let whole: f64 = data.iter().sum();
            for (reader, (found, passes)) in found.unwrap().into_iter().zip(passes).enumerate() {
                let third: f64 = data.chunks(p).step_by(3).flatten().sum();
                let want = if reader % 2 == 1 { third } else { whole };
                assert_eq!(found, want * (passes * (passes + 1) / 2) as f64);
            }
            assert_eq!(source.read.load(Ordering::Relaxed), 7 * n, "{threads} threads");
            assert_eq!(scan.reads(), 7 * n.div_ceil(scan.piece_rows));
        }
    }

    #[test]
    fn a_failed_read_ends_all_readers_with_its_error() {
        let data = vec![1.0; 100_000 * 4];
        let source = counted(&data, 4, 70_000);
        let scan = SharedScan::new(&source, 4, 3, 2);
        let failed = run_concurrently(&scan, vec![1, 9, 4], |reader, passes| {
            read_repeatedly(&Reader::new(&scan, reader, None), passes, 1000)
        });
        assert!(failed.unwrap_err().to_string().contains("truncated here"));
    }

    #[test]
    fn concurrent_fits_have_the_bits_of_single_fits() {
        let distributions =
            [Distribution::Laplace, Distribution::Uniform, Distribution::Exponential, Distribution::Arcsine]
                .repeat(4);
        let (n, p) = (20_000, 16);
        let x = independent(n, &distributions, &[1.0; 16], 5).unwrap().x;
        let settings = json!({"ortho": false, "extended": true}).as_object().cloned().unwrap();
        let (left, right) = split_in_halves(n as u64, 1, 0, 1);
        let jobs = || vec![(Some(left.clone()), 3), (Some(right.clone()), 4), (None, 5), (None, 6)];
        let rows = Rows::from_slice(x.as_slice(), p).unwrap();
        let source = counted(x.as_slice(), p, u64::MAX);
        let run = Run { threads: 2, ..Run::default() };
        let fits = Fits { key: "ica", settings: settings.clone(), rows: &rows, source: &source, run: &run };
        let beside = fits.of(jobs(), 4, HALF).unwrap();
        let read = source.read.load(Ordering::Relaxed);
        let mut sweeps = 0;
        for ((chosen, seed), beside) in jobs().into_iter().zip(&beside) {
            let chosen = chosen.unwrap_or_else(|| (0..n as u64).collect());
            let own = Rows::new(Subset::new(rows.prepared(), p, chosen), rows.features().clone(), "rows");
            let run = Run { seed, threads: 3, ..Run::default() };
            let alone = fit("ica", &settings, &mut AnyRows::from(own), &run).unwrap();
            for (name, tensor) in alone.tensors() {
                let bits =
                    |t: &crate::model::Tensor| t.f64s().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(Some(bits(tensor)), beside.tensor(name).map(bits), "{name}");
            }
            sweeps += alone.report().sweeps;
        }
        assert!(
            read <= sweeps * n as u64 / 3,
            "{read} rows read for {sweeps} passes over {n} or half of them"
        );
    }
}
