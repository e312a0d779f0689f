//! Distributed fits: workers hold the rows and compute sums over them; only sums are transferred.
//!
//! A worker holds consecutive rows, cut at multiples of [`shard_rows`], and processes jobs with [`gather`]. The driver fits a model to
//! [`Rows::remote`](crate::Rows::remote), which sends a job for every pass over the rows. Jobs and results
//! are bytes, for any transport: Dask, Spark, Ray, MPI or pipes. The model has the same bits as a fit of all
//! rows in one process.
//!
//! ```
//! use unmix::{AnyRows, Error, Pca, Rows, Run, shards};
//!
//! let (n, p) = (3 * shards::shard_rows(2) as usize, 2);
//! let x: Vec<f64> = (0..n * p).map(|i| (i * i % 1013) as f64).collect();
//! let cut = shards::shard_rows(2) as usize;
//! // Two "workers": the first holds a third of the rows, the second two thirds.
//! let all_workers = |job: &[u8]| {
//!     let worker = |held: std::ops::Range<usize>| -> Result<Vec<u8>, Error> {
//!         let rows = AnyRows::from(Rows::from_slice(&x[held.start * 2..held.end * 2], 2)?);
//!         shards::gather(job, &rows, held.start as u64, &Run::default())
//!     };
//!     Ok(vec![worker(cut..n)?, worker(0..cut)?])
//! };
//! let mut rows = Rows::<f64>::remote(n as u64, 2, &all_workers);
//! let distributed = Pca::default().fit(&mut rows, &Run::default())?;
//! let local = Pca::default().fit(&mut Rows::from_slice(&x, 2)?, &Run::default())?;
//! assert_eq!(distributed.tensor("components"), local.tensor("components"));
//! # Ok::<(), Error>(())
//! ```

pub use crate::data::Workers;

use crate::data::{AnyRows, Job, Rows, UnpackGather};
use crate::error::{Error, Result};
use crate::neural::native::NativePass;
use crate::neural::separation::{GatherCodes, Pass};
use crate::num::{Plan, Real};
use crate::rectified::{GatherCodes as GatherRectified, GatherCubes};
use crate::run::Run;
use crate::stats::gaps::{
    GatherFactors, GatherFilled, GatherMoments as GatherExpectedMoments, GatherObserved,
};
use crate::stats::{
    Gather, GatherChecksum, GatherDirections, GatherEntries, GatherLengths, GatherMoments, GatherRange,
    GatherRows, GatherScatter, GatherScores, GatherSketch, GatherSources, GatherSparsity, GatherSpread,
    GatherTriangle, GatherUnit, GatherWeights,
};

/// The shard length for `n_features` columns: rows may be divided between workers at its multiples.
pub fn shard_rows(n_features: usize) -> u64 {
    Plan::alignment(n_features) as u64
}

/// The shard length for sparse rows of `n_features` columns: longer, because the size of the sum over a shard does not
/// depend on the number of its entries.
pub fn sparse_shard_rows(n_features: usize) -> u64 {
    Plan::for_stored(n_features).shard_rows as u64
}

/// The result of `job` from a worker that holds `rows`, the first of which is row `first_row` of all. The rows may have
/// [weights](crate::Rows::weighted); if other workers have none, their rows count once.
///
/// # Errors
///
/// A job that is truncated, of another version, or of a gather that is not known; rows of another type or width than the job is of,
/// sparse rows for one of dense ones or dense for sparse, rows that do not begin and end at multiples of [`shard_rows`] or
/// [`sparse_shard_rows`]; those of a pass over the rows.
pub fn gather(job: &[u8], rows: &AnyRows<'_>, first_row: u64, run: &Run<'_>) -> Result<Vec<u8>> {
    let job = Job::unpack(job)?;
    job.check(rows, first_row)?;
    if rows.n_rows() == Some(0) {
        return Ok(job.nothing(first_row));
    }
    crate::with_rows!(rows, rows => answer(&job, rows, first_row, run))
}

/// The result of a job over rows of the type of the job.
fn answer<T: Real>(job: &Job, rows: &Rows<'_, T>, first_row: u64, run: &Run<'_>) -> Result<Vec<u8>> {
    let known = [
        known::<T, GatherMoments>(),
        known::<T, GatherScatter>(),
        known::<T, GatherTriangle>(),
        known::<T, GatherSketch<'_>>(),
        known::<T, GatherLengths>(),
        known::<T, GatherRange>(),
        known::<T, GatherEntries<T>>(),
        known::<T, GatherChecksum>(),
        known::<T, GatherRows>(),
        known::<T, GatherSparsity<'_, T>>(),
        known::<T, GatherSources<'_, T>>(),
        known::<T, GatherUnit<'_, T>>(),
        known::<T, GatherScores<'_, T>>(),
        known::<T, GatherDirections<'_, T>>(),
        known::<T, GatherSpread<'_, T>>(),
        known::<T, GatherObserved>(),
        known::<T, GatherFilled>(),
        known::<T, GatherFactors>(),
        known::<T, GatherExpectedMoments>(),
        known::<T, GatherRectified<T>>(),
        known::<T, GatherCubes<T>>(),
        known::<T, GatherCodes<T, Pass>>(),
        known::<T, GatherCodes<T, NativePass<T>>>(),
    ];
    if job.kind() == <GatherWeights as Gather<T>>::KIND {
        return Ok(job.answer_weights(rows, first_row));
    }
    match known.iter().find(|(kind, _)| *kind == job.kind()) {
        Some((_, unpack)) => job.answer(*unpack, rows, first_row, run),
        None => Err(Error::Unsupported {
            asked: format!("the sum '{}' over shards", job.kind()),
            found: "the worker cannot compute it".into(),
            remedy: "use the same version of unmix everywhere; if the versions agree, fit on one machine"
                .into(),
        }),
    }
}

/// The name of a gather in a job, and the function that deserialises it.
fn known<T: Real, G: Gather<T> + 'static>() -> (&'static str, UnpackGather<T>) {
    (G::KIND, |from| Ok(Box::new(G::unpack(from)?)))
}
