//! Fits of one method to halves or other subsets of the rows, and from other seeds, several at a time.

use super::shared_scan::{Reader, SharedScan, run_concurrently};
use crate::data::{AnyRows, RandomAccess, Rows};
use crate::error::Result;
use crate::method::fit;
use crate::model::Model;
use crate::num::Real;
use crate::run::Run;
use serde_json::{Map, Value};

/// Offset of the seeds of the halves from those of the restarts.
const HALVES: u64 = 1 << 32;

/// The rows (`None`: all) and the seed of every fit: of the halves of every split, then of the restarts.
pub(super) fn jobs(
    splits: &[(Vec<u64>, Vec<u64>)],
    restarts: usize,
    seed: u64,
) -> Vec<(Option<Vec<u64>>, u64)> {
    let mut jobs = Vec::new();
    // Each half has its own initial values: shared ones would increase the agreement.
    for (split, (left, right)) in (0u64..).zip(splits) {
        let seed = seed.wrapping_add(HALVES + 2 * split);
        jobs.extend([(Some(left.clone()), seed), (Some(right.clone()), seed.wrapping_add(1))]);
    }
    jobs.extend((0..restarts as u64).map(|i| (None, seed.wrapping_add(1 + i))));
    jobs
}

/// Fits of one method to the same rows, or to some of them.
pub(crate) struct Fits<'a, 'b, T: Real> {
    pub(crate) key: &'static str,
    pub(crate) settings: Map<String, Value>,
    pub(crate) rows: &'a Rows<'b, T>,
    pub(crate) source: &'a dyn RandomAccess<T>,
    pub(crate) run: &'a Run<'a>,
}

impl<T: Real> Fits<'_, '_, T>
where
    for<'c> AnyRows<'c>: From<Rows<'c, T>>,
{
    /// The components found for each job, given by rows (`None`: all) and seed; at most `readers`
    /// concurrently.
    pub(crate) fn of(&self, jobs: Vec<(Option<Vec<u64>>, u64)>, readers: usize) -> Result<Vec<Model>> {
        let mut out = Vec::new();
        let mut jobs = jobs.into_iter().peekable();
        while jobs.peek().is_some() {
            let some: Vec<_> = jobs.by_ref().take(readers).collect();
            let scan = SharedScan::new(self.source, self.rows.n_features(), some.len(), self.run.threads);
            out.extend(run_concurrently(&scan, some, |reader, (chosen, seed)| {
                self.one(Reader::new(&scan, reader, chosen), seed)
            })?);
        }
        Ok(out)
    }

    fn one(&self, reader: Reader<'_, '_, T>, seed: u64) -> Result<Model> {
        let Run { max_seconds, observer, started, .. } = *self.run;
        let run = Run { seed, threads: 1, max_seconds, observer, started, ..Run::default() };
        let rows = Rows::new(reader, self.rows.features().clone(), self.rows.origin());
        fit(self.key, &self.settings, &mut AnyRows::from(rows), &run)
    }
}

/// Number of fits that run concurrently, each of which may hold `k` coordinates of every row in memory.
pub(crate) fn readers(n: u64, k: usize, size: usize) -> usize {
    const MEMORY: u64 = 2 << 30;
    (MEMORY / n.saturating_mul((k * size) as u64).max(1)).clamp(2, 64) as usize
}
