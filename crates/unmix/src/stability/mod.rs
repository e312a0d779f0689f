//! Reproducibility of a decomposition: in random halves of the rows, and from other initial values.
//!
//! A component that is not reproduced by half of the data describes this sample, not the population. So the
//! rows are repeatedly split into random halves, the method is fitted to each half, and the components of the
//! two halves are compared ([`Stability::halves`]). This differs from Meinecke et al. 2002 and ICASSO
//! (Himberg et al. 2004) in that rows are not resampled with replacement: halves are disjoint, so their
//! sampling errors are independent. The same fit from other seeds ([`Stability::restarts`]) shows whether the
//! solver, rather than the data, is the reason. Autocorrelated rows, such as samples of a recording, are
//! assigned to halves in blocks ([`Stability::block_length`]): otherwise the halves would be nearly
//! identical. The verdict on a component depends on the confidence interval of the agreement, not on the
//! estimate alone (`interval.rs`). Its sampling error is estimated by a bootstrap over rows (`bootstrap.rs`),
//! or, where that is not possible or not wanted, a bound from simulations.
//!
//! The model of all rows is the reference: components of every other fit are matched to its components by the
//! assignment with the largest sum of similarities. Similarity is the cosine of the axes where these are
//! orthonormal, that of atoms, or of the loadings of units in standard deviations of the columns, where codes
//! are mostly 0; otherwise the correlation of the codes over a sample of rows, with the largest 1 % clipped,
//! because a single outlying row is large in every code and would make all of them similar. In addition, the
//! components of all fits are clustered, without using the model, as in ICASSO (`clusters.rs`).
//!
//! Cost: two fits of half the rows for each split, eight for each resample, and one of all rows for each
//! restart. They run concurrently, each on one thread, and share their sweeps (`shared_scan.rs`); results
//! have the same bits as those of sequential fits.

mod bootstrap;
mod chance;
mod clusters;
mod compare;
mod fits;
mod gaussian;
mod interval;
mod linkage;
mod refits;
mod scaling;
mod shared_scan;
mod verdict;

pub use crate::model::SIGNIFICANCE_LEVEL;
pub use bootstrap::{DEFAULT_RESAMPLES, FEWEST_RESAMPLED};
pub use chance::chance_agreement;
pub use clusters::{Clustering, Clusters, MOST_ESTIMATES, MapPoint};
pub(crate) use compare::directions;
pub(crate) use fits::{Fits, HALF, readers};
pub use verdict::Verdict;

use crate::data::splits::{Autocorrelation, consecutive, sample, split_in_halves, thinned};
use crate::data::{AnyRows, RandomAccess, RawArray, Rows, Subset};
use crate::error::{Error, Result};
use crate::machine::check_memory;
pub use crate::metrics::similarity;
use crate::model::Model;
use crate::num::{Matrix, Real};
use crate::run::Run;
use bootstrap::Resamples;
use clusters::Fit;
use compare::{Reference, codes};
use fits::{jobs, of_half};
use interval::{Side, side};
use refits::{HalvesResult, RestartsResult};
use serde_json::Value;

/// Numbers of splits, restarts and resamples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trials {
    /// Number of random splits into halves. With fewer than [`DEFAULT_SPLITS`] intervals are wide, and with one they are `[0, 1]`.
    pub splits: usize,
    /// Fits of all rows from other seeds.
    pub restarts: usize,
    /// Number of resamples of the rows, from which the sampling error of the agreement of halves is estimated; each costs eight fits of half as many
    /// rows. `Some(0)` for a bound from simulations instead, which needs no further fits. With one, intervals are `[0, 1]`; fewer than some 20 make them
    /// wide. `None`: 20 if there are 20 rows, or 20 blocks of autocorrelated rows, every resample can be fitted, and rows are not clustered, since
    /// copies of rows would form clusters of their own; otherwise 0. Those of a run that ends early are not used. The intervals of atoms and units
    /// are then `[0, 1]`, since the bound is too narrow for units: it is used for them with `Some(0)` alone.
    pub bootstrap: Option<usize>,
}

impl Default for Trials {
    fn default() -> Self {
        Self { splits: DEFAULT_SPLITS, restarts: 5, bootstrap: None }
    }
}

/// Number of splits for which intervals are less than a tenth wider than in the limit of many splits.
pub const DEFAULT_SPLITS: usize = 20;

/// Results, for each component of the model, in its order.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stability {
    /// Similarity of the components of two disjoint halves, mean over the splits; 1 means identical.
    pub halves: Vec<f64>,
    /// 95 % interval for the expected agreement of fits to two disjoint samples of half as many rows from the
    /// population, which `halves` estimates. It includes the errors due to a finite number of splits and to
    /// sampling of the rows.
    pub interval: Vec<(f64, f64)>,
    /// For a component of a group, agreement of the halves on the subspace of the group: the smallest cosine of
    /// the principal angles, mean over the splits. Equal to `halves` for a component without a group, or in a
    /// group of all components.
    pub space: Vec<f64>,
    /// The interval for `space`, which determines the verdict.
    pub space_interval: Vec<(f64, f64)>,
    /// Number of splits.
    pub splits: usize,
    /// Number of resamples that the intervals' sampling error is estimated from; 0 if it is a bound from simulations.
    pub bootstrap: usize,
    /// Whether a time limit was reached before all halves were fitted; every interval is then `[0, 1]`.
    pub incomplete: bool,
    /// Similarity to the matched components from other seeds, mean over the restarts; none without restarts, or if every
    /// restart gave the same bits, as with a deterministic solver.
    pub restarts: Option<Vec<f64>>,
    /// 95 % interval for the expected similarity to fits of these rows from other seeds, of which `restarts` is the mean over some; [0, 1] for
    /// fewer than two. None where `restarts` is none.
    pub restarts_interval: Option<Vec<(f64, f64)>>,
    /// The smallest of these similarities. None where `restarts` is none.
    pub restarts_least: Option<Vec<f64>>,
    /// Mean similarity to its matches minus that to all other components, over all fits, each matched to the model: 1 for a component that
    /// is found in every fit and orthogonal to all others. [`clusters`](Self::clusters) has the index of ICASSO.
    pub index: Vec<f64>,
    /// Components of all fits, clustered as in ICASSO, without using the model: quality index, size and centrotype of the cluster
    /// of each component.
    pub clusters: Clusters,
    /// p-value of a test of Gaussianity of the codes, on rows that the direction was not fitted to: fitted to
    /// one half and tested on the other, and vice versa; the larger of the two. For autocorrelated rows the
    /// effective sample size is used. Empty where codes are mostly 0 or never negative.
    pub gaussian: Vec<f64>,
    /// Mean cosine between two sets of random directions of the same number and dimension, matched in the
    /// same way: the value for unrelated atoms. For atoms and units only; it is large if there are more of them than
    /// columns.
    pub chance: Option<f64>,
    /// Number of consecutive rows that were kept together when rows were split into halves; 1 where rows are independent.
    pub block_length: u64,
    /// The verdicts.
    pub verdicts: Vec<Verdict>,
}

/// Components are called resolved if the whole interval for the agreement of halves is at least this.
pub const MIN_AGREEMENT: f64 = 0.9;

impl Stability {
    /// The verdict on component `j` in words, and whether it depends on initialisation.
    pub fn in_words(&self, j: usize) -> String {
        let words = self.verdicts[j].in_words();
        let (Some(interval), Some(least)) = (&self.restarts_interval, &self.restarts_least) else {
            return words;
        };
        match (side(interval[j]), least[j] < MIN_AGREEMENT) {
            (Side::Below, _) => format!("{words}; depends on initialisation"),
            // Where every fit agrees there is no sign of it, however few they are.
            (Side::Across, true) => format!("{words}; may depend on initialisation"),
            _ => words,
        }
    }

    /// As JSON, in the form that a report holds.
    pub fn to_json(&self) -> Value {
        let pairs = |of: &[(f64, f64)]| of.iter().map(|(a, b)| [*a, *b]).collect::<Vec<_>>();
        let verdicts: Vec<String> = (0..self.halves.len()).map(|j| self.in_words(j)).collect();
        serde_json::json!({
            "halves": self.halves,
            "interval": pairs(&self.interval),
            "space": self.space,
            "space_interval": pairs(&self.space_interval),
            "splits": self.splits,
            "bootstrap": self.bootstrap,
            "incomplete": self.incomplete,
            "restarts": self.restarts,
            "restarts_least": self.restarts_least,
            "restarts_interval": self.restarts_interval.as_ref().map(|r| pairs(r)),
            "index": self.index,
            "clusters": self.clusters.to_json(),
            "gaussian": self.gaussian,
            "chance": self.chance,
            "block_length": self.block_length,
            "verdict": verdicts,
        })
    }
}

impl Model {
    /// The same model, with the stability results in its report.
    pub fn with_stability(self, found: &Stability) -> Self {
        self.with_stability_found(found.to_json())
    }
}

/// Fits the method of `model` to halves of `rows` and from other seeds, and compares the components. The seed
/// of `run` determines the halves. Rows of at most 1 GiB are copied to memory if they fit, also those that are in memory already; larger ones
/// are read from their source in every pass.
///
/// # Errors
///
/// Errors of the fits: half of the rows may be too few, or memory for a fit too small. Rows that cannot be read in any order, are sparse, or have
/// weights. A model whose components are given, not estimated.
pub fn stability(model: &Model, rows: &AnyRows<'_>, trials: Trials, run: &Run<'_>) -> Result<Stability> {
    check(model)?;
    crate::with_rows!(rows, rows => of_rows(model, rows, trials, run))
}

/// Refuses a model whose components were given to the fit: every refit would have the same ones.
fn check(model: &Model) -> Result<()> {
    let method = model.method();
    method.required_tensors().next().map_or(Ok(()), |given| {
        Err(Error::unsupported(
            format!("stability of {}", method.key),
            format!("its {} is given, not estimated", given.name),
            format!("compute the stability of the model by which the {} was learned", given.name),
        )
        .of_method(method.key)
        .with(|details| details.array = Some(given.name.into())))
    })
}

fn of_rows<T: Real>(model: &Model, rows: &Rows<'_, T>, trials: Trials, run: &Run<'_>) -> Result<Stability>
where
    for<'b> AnyRows<'b>: From<Rows<'b, T>>,
{
    let source = readable(rows)?;
    let (n, p) = (source.n_rows(), rows.n_features());
    let bytes = n.saturating_mul((p * size_of::<T>()) as u64);
    let fit = bytes <= MOST_BYTES_HELD
        && check_memory("a copy of the rows", bytes, "read them in every pass").is_ok();
    let held = fit.then(|| rows.read_range(0..n)).transpose()?;
    let array = held.as_deref().map(|held| RawArray::borrowed(held, p)).transpose()?;
    let source = array.as_ref().map_or(source, |array| array as &dyn RandomAccess<T>);
    of_source(model, rows, source, trials, run)
}

/// [`of_rows`], with the rows read from `source`.
fn of_source<T: Real>(
    model: &Model,
    rows: &Rows<'_, T>,
    source: &dyn RandomAccess<T>,
    trials: Trials,
    run: &Run<'_>,
) -> Result<Stability>
where
    for<'b> AnyRows<'b>: From<Rows<'b, T>>,
{
    let (n, p) = (source.n_rows(), rows.n_features());
    let of =
        |chosen: Vec<u64>| Rows::new(Subset::new(source, p, chosen), rows.features().clone(), rows.origin());
    let reference = Reference::new(model, of(sample(n, run.seed)), run)?;
    let k = reference.codes.rows();
    let (following, n_codes) = (codes(model, &of(consecutive(n, k)), run)?, model.n_codes());
    let together = Autocorrelation::of(&following, n_codes, n);
    let alone = compare::alone(model);
    let number = n_resamples(model, trials, n / together.block_length.max(1))?;
    let halves_of = |split: usize| split_in_halves(n, run.seed, split, together.block_length);
    let fits = Fits {
        key: model.method().key,
        settings: model.method().settings_to_compare(model.settings(), model.n_components()),
        rows,
        source,
        run,
    };
    let readers = readers((n, p), k, size_of::<T>());
    let jobs = jobs(trials.splits, halves_of, trials.restarts, run.seed);
    let mut fitted = fits.of(jobs, readers, HALF).map_err(|error| of_half(error, rows.origin()))?;
    let others = fitted.split_off(2 * trials.splits);

    let halved = HalvesResult::compared(&reference, &fitted, run)?;
    let held_out = |rows: &[u64]| of(thinned(rows.to_vec()));
    let gaussian = match alone {
        true => Vec::new(),
        false => {
            let first = (trials.splits > 0).then(|| halves_of(0));
            halved.gaussian(k, &fitted, first.as_ref(), held_out, together.block_length > 1, run)?
        }
    };
    let restarted = RestartsResult::compared(&reference, model, &others, run)?;
    let groups = groups(model, &following, &gaussian, (n, k), &together.times);
    let spaces = halved.spaces(&groups, k == p)?;
    // Fits that end early are not samples of complete ones: without complete ones of the halves every interval is [0, 1].
    let late = run.ends_early();
    let of = (&groups[..], k == p);
    let (number, resamples) = match late {
        true => (0, Resamples::none(k)),
        false => resampled(number, trials, &fits, &reference, of, together.block_length, readers)?,
    };
    let restarts = !restarted.same && trials.restarts > 0;
    let own: Vec<Vec<f64>> = (0..k).map(|j| halved.of(j)).collect();
    // The bound is from simulations of axes and sources, and too narrow for units: for atoms and units it is used on request alone.
    let unknown = late || (alone && number == 0 && trials.bootstrap.is_none());
    let space_interval = interval::intervals(&spaces, &resamples.spaces, unknown);
    Ok(Stability {
        clusters: clustered(&reference, model, (&restarted, &others[..]), (&halved, &fitted[..])),
        verdicts: verdict::verdicts(groups, &space_interval, k == p),
        interval: interval::intervals(&own, &resamples.own, unknown),
        space: spaces.iter().map(|splits| splits.iter().sum::<f64>() / splits.len().max(1) as f64).collect(),
        space_interval,
        splits: trials.splits,
        bootstrap: number,
        incomplete: late,
        halves: mean(&halved.agreement, k),
        chance: alone.then(|| chance_agreement((k, k), p, reference.is_signed(), run.seed)),
        gaussian,
        restarts: restarts.then(|| mean(&restarted.agreement, k)),
        restarts_least: restarts.then(|| least(&restarted.agreement, k)),
        restarts_interval: restarts.then(|| interval::of_seeds(&restarted.agreement, k, late)),
        index: index(&[&halved.to_model[..], &restarted.to_model].concat(), k),
        block_length: together.block_length,
    })
}

/// The clusters of the components of all fits: of the model and other seeds, and of halves.
fn clustered<T: Real>(
    reference: &Reference<'_, T>,
    model: &Model,
    (restarted, others): (&RestartsResult, &[Model]),
    (halved, fitted): (&HalvesResult, &[Model]),
) -> Clusters {
    let itself: Vec<Option<usize>> = (0..reference.codes.rows()).map(Some).collect();
    let started = restarted.estimates(Fit { model, vectors: &reference.codes, order: &itself }, others);
    clusters::clusters(&reference.codes, &started, &halved.estimates(fitted), reference.is_signed())
}

/// The groups of the `k` components of a model of `n` rows, from its codes of consecutive rows, `following`, and their autocorrelation times. An
/// atom or a unit is identified by the rows that use it, whatever its variance, the subspace of a cluster by its rows, and a rotated factor
/// by the criterion of its rotation: these have no group.
fn groups(
    model: &Model,
    following: &[f64],
    gaussian: &[f64],
    (n, k): (u64, usize),
    times: &[f64],
) -> Vec<Vec<usize>> {
    if compare::alone(model) || model.code().codes().distances || has_rotation(model) {
        return vec![Vec::new(); k];
    }
    let (variances, n_codes) = (variances(model), model.n_codes());
    let squares =
        variances.as_ref().filter(|v| v.len() == n_codes).map(|_| verdict::squares(following, n_codes));
    let evidence = verdict::Evidence {
        variances: variances.as_deref(),
        squares: squares.as_ref(),
        gaussian: model.method().by_independence.then_some(gaussian),
        n: n as f64,
        times,
    };
    verdict::groups(k, &evidence)
}

/// The smallest agreement of each component over the trials.
fn least(trials: &[Vec<f64>], k: usize) -> Vec<f64> {
    (0..k).map(|j| trials.iter().map(|t| t[j]).fold(1.0, f64::min)).collect()
}

/// The number of resamples of so many `blocks` of rows: the one requested, or else the default.
fn n_resamples(model: &Model, trials: Trials, blocks: u64) -> Result<usize> {
    let number = match trials.bootstrap {
        Some(requested) => requested,
        // With one split every interval is [0, 1], whatever the resamples.
        None if trials.splits < 2 => 0,
        // Rows are clustered by what represents them, which for a row with a copy in the resample is the copy alone.
        None if model.code().codes().distances => 0,
        None => bootstrap::default_number(blocks),
    };
    bootstrap::check(number, blocks)?;
    Ok(number)
}

/// The resamples with their number. None if the run ends early during their fits, or if one cannot be fitted and no number was requested: fewer
/// distinct rows than those of the data may not be enough for a fit. Too little memory is an error in either case: results do not depend on what
/// else the machine does.
fn resampled<T: Real>(
    number: usize,
    trials: Trials,
    fits: &Fits<'_, '_, T>,
    reference: &Reference<'_, T>,
    of: (&[Vec<usize>], bool),
    block_length: u64,
    readers: usize,
) -> Result<(usize, Resamples)>
where
    for<'b> AnyRows<'b>: From<Rows<'b, T>>,
{
    let none = || (0, Resamples::none(of.0.len()));
    match Resamples::new(number, fits, reference, of, block_length, readers) {
        Err(error)
            if trials.bootstrap.is_none() && !matches!(error, Error::Interrupted | Error::Memory { .. }) =>
        {
            Ok(none())
        }
        Ok(_) if number > 0 && fits.run.ends_early() => Ok(none()),
        found => Ok((number, found?)),
    }
}

/// Whether the components of a model are compared by their own vectors, not by their codes: atoms, whose codes are mostly 0, and units with
/// non-negative codes.
pub fn by_directions(model: &Model) -> bool {
    compare::alone(model)
}

/// Whether the negative of a component of a model is another one: components that are compared [`by_directions`], with non-negative codes. Two
/// such models are compared by [`similarity`] of `non_negative` codes.
pub fn one_sided(model: &Model) -> bool {
    compare::one_sided(model)
}

/// Random access to the rows, by which they are split into halves.
fn readable<'a, T: Real>(rows: &'a Rows<'_, T>) -> Result<&'a dyn RandomAccess<T>> {
    rows.here("stability of a decomposition")?;
    let source = rows.source().random().filter(|_| !rows.is_sparse() && rows.weights().is_none());
    source.ok_or_else(|| {
        Error::unsupported(
            "stability of a decomposition",
            match (rows.is_sparse(), rows.weights()) {
                (true, _) => "the rows are sparse",
                (_, Some(_)) => "the rows have weights",
                (_, None) => "the rows can be read only once, in order",
            },
            "give dense rows without weights, from memory or a file",
        )
    })
}

/// Rows of at most this number of bytes, if they fit, are copied to memory once, instead of being read in every pass of every fit.
const MOST_BYTES_HELD: u64 = 1 << 30;

/// Variances along the components, for methods that distinguish directions by them: those whose codes are
/// uncorrelated scores along axes.
fn variances(model: &Model) -> Option<Vec<f64>> {
    if model.tensor("second_rotation").is_some() {
        return None;
    }
    model
        .tensor("explained_variance")
        .map(|t| t.f64s())
        .or_else(|| model.tensor("scale").map(|t| t.f64s().iter().map(|s| s * s).collect()))
}

/// Whether axes are rotated by a criterion that identifies each component, other than independence: the criterion of a rotation of
/// factors, a function of the loadings; or the symmetric root of whitening by the coordinates of the columns.
fn has_rotation(model: &Model) -> bool {
    model.tensor("second_rotation").is_some() && !model.method().by_independence
}

/// Mean over the trials, for each component.
fn mean(trials: &[Vec<f64>], k: usize) -> Vec<f64> {
    (0..k).map(|j| trials.iter().map(|t| t[j]).sum::<f64>() / trials.len().max(1) as f64).collect()
}

/// Similarity to the match minus the mean similarity to the others, over all fits.
fn index(fits: &[Matrix<f64>], k: usize) -> Vec<f64> {
    (0..k)
        .map(|j| {
            let (mut own, mut others) = (0.0, 0.0);
            for f in fits {
                own += f[(j, j)];
                others += (0..k).filter(|i| *i != j).map(|i| f[(j, i)]).sum::<f64>() / (k.max(2) - 1) as f64;
            }
            (own - others) / fits.len().max(1) as f64
        })
        .collect()
}

#[cfg(test)]
mod tests;
