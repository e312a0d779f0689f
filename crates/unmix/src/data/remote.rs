//! Rows whose shards are held by remote workers: sums over them are exchanged as bytes.
//!
//! A sweep over such rows is serialised as a [`Job`]. A worker that holds shards returns the nodes of the merge tree that they
//! cover ([`gather`](crate::shards::gather)), and the nodes of all results are merged as in one process. So the total has the same
//! bits, whichever thread or worker held which shards.

use super::job::Job;
use super::projected::Map;
use super::source::{Source, Stream};
use super::{Features, Rows};
use crate::error::{Error, Result};
use crate::num::Real;
use crate::run::Run;
use crate::stats::{GatherWeights, RowWeights};

/// All workers that hold shards of the rows.
pub trait Workers: Send + Sync {
    /// Sends `job` to all workers that hold rows and returns their results, in any order: each is that of
    /// [`shards::gather`](crate::shards::gather) for the job and the rows of the worker.
    ///
    /// # Errors
    ///
    /// Any failure of the transport or of a worker.
    fn gather_all(&self, job: &[u8]) -> Result<Vec<Vec<u8>>>;
}

impl<F: Fn(&[u8]) -> Result<Vec<Vec<u8>>> + Send + Sync> Workers for F {
    fn gather_all(&self, job: &[u8]) -> Result<Vec<Vec<u8>>> {
        self(job)
    }
}

/// Rows of which only sums are available.
struct RemoteRows<'a> {
    n_rows: u64,
    n_features: usize,
    sparse: bool,
    workers: &'a dyn Workers,
}

impl<T: Real> Source<T> for RemoteRows<'_> {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn n_rows(&self) -> Option<u64> {
        Some(self.n_rows)
    }

    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>> {
        Err(not_here("reading rows one after the other"))
    }

    fn remote(&self) -> Option<&dyn Workers> {
        Some(self.workers)
    }

    fn is_sparse(&self) -> bool {
        self.sparse
    }
}

/// Coordinates of remote rows: they are computed by the workers that hold the rows.
struct Coordinates<'a, 'b, T: Real> {
    rows: &'a Rows<'b, T>,
    map: &'a Map<T>,
}

impl<T: Real> Source<T> for Coordinates<'_, '_, T> {
    fn n_features(&self) -> usize {
        self.map.k()
    }

    fn n_rows(&self) -> Option<u64> {
        self.rows.n_rows()
    }

    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>> {
        self.rows.source().stream()
    }

    fn remote(&self) -> Option<&dyn Workers> {
        Some(self)
    }
}

impl<T: Real> Workers for Coordinates<'_, '_, T> {
    fn gather_all(&self, job: &[u8]) -> Result<Vec<Vec<u8>>> {
        let job = Job::unpack(job)?.through(self.map, self.rows.is_sparse());
        match self.rows.source().remote() {
            Some(workers) => workers.gather_all(&job.pack()),
            None => unreachable!("coordinates of local rows are kept"),
        }
    }
}

/// The error of an operation that needs the rows themselves.
pub(crate) fn not_here(request: &str) -> Error {
    Error::unsupported(
        request,
        "the rows are held by remote workers, which return only sums over them",
        "choose a method that needs only sums over the rows, or load the rows on this machine",
    )
}

impl<'a, T: Real> Rows<'a, T> {
    /// `n_rows` rows of `n_features` numbers whose shards are held by remote workers; only methods that need no more than full
    /// passes can be fitted to them.
    pub fn remote(n_rows: u64, n_features: usize, workers: &'a dyn Workers) -> Self {
        Self::new(
            RemoteRows { n_rows, n_features, sparse: false, workers },
            Features::default(),
            "the shards",
        )
    }

    /// The same for workers that hold sparse rows, in shards cut at multiples of
    /// [`sparse_shard_rows`](crate::shards::sparse_shard_rows): sums are over stored entries, as for local sparse rows.
    pub fn remote_sparse(n_rows: u64, n_features: usize, workers: &'a dyn Workers) -> Self {
        Self::new(RemoteRows { n_rows, n_features, sparse: true, workers }, Features::default(), "the shards")
    }

    /// Coordinates of these remote rows.
    pub(super) fn remote_coordinates<'c>(&'c self, map: &'c Map<T>) -> Rows<'c, T> {
        Rows::new(Coordinates { rows: self, map }, Features::default(), self.origin())
    }

    /// Checks that the rows are local, for an operation that needs the rows themselves.
    ///
    /// # Errors
    ///
    /// Refuses the operation `request` if the rows are held by remote workers.
    pub(crate) fn here(&self, request: &str) -> Result<()> {
        self.source().remote().map_or(Ok(()), |_| Err(not_here(request)))
    }

    /// Sample weights, requested from the workers that hold them; `None` without weights. No row is read.
    pub(super) fn remote_weights(&self, run: &Run<'_>) -> Result<Option<Vec<f64>>> {
        let RowWeights { weights, .. } = self.sweep(run, "weights", &GatherWeights::new())?;
        Ok((!weights.is_empty()).then_some(weights))
    }
}
