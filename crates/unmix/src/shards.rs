//! Distributed fits: workers hold the rows and compute sums over them, which are transferred instead of the rows.
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

use crate::biclusters::GatherModules;
use crate::data::{AnyRows, Job, Rows, UnpackGather};
use crate::error::{Error, Result};
use crate::method::sae::GatherEvaluation;
use crate::method::sparse_coder::GatherConvergence;
use crate::neural::native::NativePass;
use crate::neural::separation::{GatherCodes, Pass};
use crate::num::{Dtype, Plan, Real};
use crate::rectified::{GatherCodes as GatherRectified, GatherCubes};
use crate::run::Run;
use crate::select::GatherHeldOut;
use crate::stats::gaps::{
    GatherCells, GatherFactors, GatherFilled, GatherMoments as GatherExpectedMoments, GatherObserved,
};
use crate::stats::{
    Gather, GatherChecksum, GatherCorrelations, GatherDirections, GatherEntries, GatherFeatureTriangle,
    GatherGram, GatherLengths, GatherMoments, GatherRange, GatherReweighted, GatherRows, GatherScatter,
    GatherScores, GatherSketch, GatherSources, GatherSparsity, GatherSpread, GatherTriangle, GatherUnit,
    GatherWeights,
};
use std::any::{Any, TypeId};
use std::sync::RwLock;

/// A gather that was registered at run time.
struct Added {
    kind: &'static str,
    /// The type of the rows that it sums.
    dtype: Dtype,
    gather: TypeId,
    /// An [`UnpackGather`] for rows of that type.
    unpack: Box<dyn Any + Send + Sync>,
}

/// Gathers that were registered at run time.
static ADDED: RwLock<Vec<Added>> = RwLock::new(Vec::new());

/// Registers a custom gather of rows of type `T` in this process: [`gather`] then computes its sums. A worker must register the gathers of
/// custom methods before it gets jobs; the driver need not. Registering the same gather again has no effect.
///
/// # Errors
///
/// A kind that another gather of rows of this type has.
pub fn register<T: Real, G: Gather<T> + 'static>() -> Result<()> {
    let (kind, unpack) = known::<T, G>();
    let taken = |why: &str| Err(Error::setting("kind", format!("'{kind}'"), why, "choose another kind"));
    if kind == WEIGHTS || built_in::<T>().iter().any(|(name, _)| *name == kind) {
        return taken("a gather of this library has this kind");
    }
    let mut added = ADDED.write().unwrap_or_else(|e| e.into_inner());
    match added.iter().find(|other| other.kind == kind && other.dtype == T::DTYPE) {
        None => {
            let (dtype, gather) = (T::DTYPE, TypeId::of::<G>());
            added.push(Added { kind, dtype, gather, unpack: Box::new(unpack) });
            Ok(())
        }
        Some(same) if same.gather == TypeId::of::<G>() => Ok(()),
        Some(_) => taken("another registered gather has this kind"),
    }
}

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
    if job.kind() == WEIGHTS {
        return Ok(job.answer_weights(rows, first_row));
    }
    let built_in = built_in::<T>().into_iter().find(|(kind, _)| *kind == job.kind());
    match built_in.map(|(_, unpack)| unpack).or_else(|| added(job.kind())) {
        Some(unpack) => job.answer(unpack, rows, first_row, run),
        None => Err(Error::unsupported(
            format!("the sum '{}' over shards", job.kind()),
            "the worker cannot compute it",
            "use the same version of unmix everywhere, and register the gathers of custom methods on every worker",
        )),
    }
}

/// The kind of the gather of sample weights, which are not computed from rows.
const WEIGHTS: &str = <GatherWeights as Gather<f64>>::KIND;

/// All gathers of this library that can be sent, by kind. Not among them: sums of the codes that a fit holds in memory
/// (`GatherStoredCodes`), and sample weights.
fn built_in<T: Real>() -> [(&'static str, UnpackGather<T>); 32] {
    [
        known::<T, GatherMoments>(),
        known::<T, GatherScatter>(),
        known::<T, GatherTriangle>(),
        known::<T, GatherGram<'_>>(),
        known::<T, GatherFeatureTriangle<'_>>(),
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
        known::<T, GatherReweighted>(),
        known::<T, GatherSpread<'_, T>>(),
        known::<T, GatherCorrelations>(),
        known::<T, GatherObserved>(),
        known::<T, GatherFilled>(),
        known::<T, GatherFactors>(),
        known::<T, GatherExpectedMoments>(),
        known::<T, GatherCells>(),
        known::<T, GatherRectified<T>>(),
        known::<T, GatherCubes<T>>(),
        known::<T, GatherCodes<T, Pass>>(),
        known::<T, GatherCodes<T, NativePass<T>>>(),
        known::<T, GatherConvergence<'_, T>>(),
        known::<T, GatherModules<'_>>(),
        known::<T, GatherHeldOut<'_>>(),
        known::<T, GatherEvaluation<'_, T>>(),
    ]
}

/// The function that deserialises a gather that was [registered](register).
fn added<T: Real>(kind: &str) -> Option<UnpackGather<T>> {
    let added = ADDED.read().unwrap_or_else(|e| e.into_inner());
    let found = added.iter().find(|other| other.kind == kind && other.dtype == T::DTYPE)?;
    found.unpack.downcast_ref::<UnpackGather<T>>().copied()
}

/// The name of a gather in a job, and the function that deserialises it.
fn known<T: Real, G: Gather<T> + 'static>() -> (&'static str, UnpackGather<T>) {
    (G::KIND, |from| Ok(Box::new(G::unpack(from)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    fn kinds(folder: &Path, found: &mut BTreeSet<String>) {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                kinds(&path, found);
            }
            if path.extension().is_none_or(|e| e != "rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let declared = text.lines().filter_map(|line| line.split_once("const KIND: &'static str = \""));
            found.extend(declared.filter_map(|(_, rest)| Some(rest.strip_suffix("\";")?.to_string())));
        }
    }

    #[test]
    fn every_gather_of_the_library_can_be_sent_but_that_of_codes_in_memory() {
        let mut found = BTreeSet::new();
        kinds(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        let sent = built_in::<f64>().map(|(kind, _)| kind);
        assert_eq!(sent.iter().collect::<BTreeSet<_>>().len(), sent.len(), "a kind is there twice");
        let listed: BTreeSet<String> =
            sent.into_iter().chain([WEIGHTS, "held codes"]).map(str::to_string).collect();
        assert_eq!(found, listed);
    }
}
