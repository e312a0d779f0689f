//! Whether a decomposition would be found again: in each half of the rows, and from another start.
//!
//! A component that half of the data does not find again is a description of these rows, not of where they come from. So the rows
//! are cut into random halves several times, the method is fitted to either half, and what the halves find is compared, component
//! by component ([`Stability::halves`]). That is the test of Meinecke et al. 2002 and of ICASSO (Himberg et al. 2004) without
//! resampling with repetition: halves are disjoint, so they share no row and no luck. The same fit from other seeds
//! ([`Stability::restarts`]) shows whether the solver, rather than the data, is the reason. Consecutive rows, as samples of a
//! recording do, go into halves in blocks ([`Stability::block_length`]): halves of neighbours would be copies of each other. The
//! verdict on a component follows the interval that is given for the agreement, never the estimate alone (`interval.rs`).
//!
//! The model of all rows is the reference: components of every other fit are given to its components by the assignment of the
//! largest sum of similarities. Similarity is the cosine of the axes where these are orthonormal, that of atoms, or of the loadings of units
//! in standard deviations of the columns, where codes are mostly 0; and else the correlation of the codes over a sample of rows, the largest hundredth of them cut down to the next: one enormous row is enormous in every code, and
//! would make all of them alike. What all fits found is clustered besides, without the model, as ICASSO does (`clusters.rs`).
//!
//! Cost: two fits of half the rows for each cut, and one of all for each restart. They run concurrently, each on one thread, and
//! share their passes over the rows (`together.rs`); answers are those of one fit after the other, to the bit.

mod clusters;
mod compare;
mod gaussian;
mod interval;
mod linkage;
mod scaling;
mod together;
mod tried;
mod verdict;

pub use crate::model::LEVEL;
pub use clusters::{Clustering, Clusters, MOST_ESTIMATES, MapPoint};
pub(crate) use compare::{deviations, directions};
pub use verdict::Verdict;

use crate::data::cuts::{Autocorrelation, consecutive, cut_in_two, sample, thinned};
use crate::data::{AnyRows, RandomAccess, RawArray, Rows, Subset};
use crate::error::{Error, Result};
use crate::metrics::pairs;
use crate::model::{Model, fit};
use crate::num::random::Stream as Draws;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use clusters::Fit;
use compare::{Reference, codes};
use serde_json::{Map, Value};
use together::{Reader, SharedScan, side_by_side};
use tried::{HalvesResult, RestartsResult};

/// Numbers of cuts and restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trials {
    /// Cuts into two random halves. With fewer than [`ENOUGH`] intervals are wide, and with one they are all of `[0, 1]`.
    pub cuts: usize,
    /// Fits of all rows from other seeds.
    pub restarts: usize,
}

impl Default for Trials {
    fn default() -> Self {
        Self { cuts: ENOUGH, restarts: 5 }
    }
}

/// So many cuts leave intervals less than a tenth wider than any number of them would.
pub const ENOUGH: usize = 20;

/// Results, for each component of the model, in its order.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stability {
    /// Similarity of what two disjoint halves found, mean over the cuts; 1 is the same twice.
    pub halves: Vec<f64>,
    /// 95 % interval for how well the method would agree on two disjoint samples of half as many rows, of where these rows come from:
    /// what `halves` is an estimate of. It counts what other cuts and what other rows would change.
    pub interval: Vec<(f64, f64)>,
    /// For a component of a group, how well halves agree about the space of the group: the least cosine of its principal angles, mean
    /// over the cuts. That of `halves` for a component that stands alone, or in a group of all there are.
    pub space: Vec<f64>,
    /// The same interval for `space`: where it lies is the verdict.
    pub space_interval: Vec<(f64, f64)>,
    /// Cuts that were made.
    pub cuts: usize,
    /// Similarity with what other seeds found, mean over the restarts; none where every restart gave the same bits, as with a
    /// solver that has one start only.
    pub restarts: Option<Vec<f64>>,
    /// Mean similarity to its own partners less that to all others, over all fits, each assigned to the model: 1 for a component that is
    /// always found and like no other. [`clusters`](Self::clusters) has the index of ICASSO.
    pub index: Vec<f64>,
    /// Components of all fits, clustered as in ICASSO, without using the model: quality index, size and centrotype of the cluster
    /// of each component.
    pub clusters: Clusters,
    /// p-value of a test of Gaussianity of the codes, on rows that the direction was not fitted to: found in one half and tested in the other,
    /// both ways round, the larger one. Autocorrelated rows count by their effective sample size. Empty where codes are mostly 0 or never negative.
    pub gaussian: Vec<f64>,
    /// Mean cosine of as many random directions of as many columns with others, paired in the same way: what atoms that have nothing in common
    /// would have. Where atoms or units are compared; small where there are no more of them than columns.
    pub chance: Option<f64>,
    /// Number of consecutive rows that were kept together when rows were cut into halves; 1 where rows are independent.
    pub block_length: u64,
    /// The verdicts.
    pub verdicts: Vec<Verdict>,
}

/// Components are called stable where the whole interval for the agreement of halves is at least this.
pub const STABLE: f64 = 0.9;

impl Stability {
    /// The verdict on component `j` in words, and whether it depends on initialisation.
    pub fn in_words(&self, j: usize) -> String {
        let start = self.restarts.as_ref().is_some_and(|r| r[j] < STABLE);
        let words = self.verdicts[j].in_words();
        if start { format!("{words}; depends on initialisation") } else { words }
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
            "cuts": self.cuts,
            "restarts": self.restarts,
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
    /// The same model, with what was found of its stability in the report.
    pub fn with_stability(self, found: &Stability) -> Self {
        self.with_stability_found(found.to_json())
    }
}

/// Fits `model`'s method again, to halves of `rows` and from other seeds, and compares. The seed of `run` determines the halves.
///
/// # Errors
///
/// Those of the method: half of the rows may be too few. Rows that cannot be read in any order, sparse rows, weights.
pub fn stability(model: &Model, rows: &AnyRows<'_>, trials: Trials, run: &Run<'_>) -> Result<Stability> {
    crate::with_rows!(rows, rows => tried(model, rows, trials, run))
}

fn tried<T: Real>(model: &Model, rows: &Rows<'_, T>, trials: Trials, run: &Run<'_>) -> Result<Stability>
where
    for<'b> AnyRows<'b>: From<Rows<'b, T>>,
{
    let source = readable(rows)?;
    let (n, p, key) = (source.n_rows(), rows.n_features(), model.method().key);
    let held = match n.saturating_mul((p * size_of::<T>()) as u64) {
        bytes if bytes <= HELD => Some(rows.some(0..n)?),
        _ => None,
    };
    let array = held.as_deref().map(|held| RawArray::lent(held, p)).transpose()?;
    let source = array.as_ref().map_or(source, |array| array as &dyn RandomAccess<T>);
    let of =
        |chosen: Vec<u64>| Rows::new(Subset::new(source, p, chosen), rows.features().clone(), rows.origin());
    let seen = Reference::new(model, of(sample(n, run.seed)), run)?;
    let k = seen.codes.rows();
    let (following, n_codes) = (codes(model, &of(consecutive(n, k)), run)?, model.n_codes());
    let together = Autocorrelation::of(&following, n_codes, n);
    let cuts: Vec<(Vec<u64>, Vec<u64>)> =
        (0..trials.cuts).map(|cut| cut_in_two(n, run.seed, cut, together.block_length)).collect();
    let fits = Fits {
        key,
        settings: model.method().settings_to_compare(model.settings(), model.n_components()),
        rows,
        source,
        run,
    };
    let mut fitted = fits.of(jobs(&cuts, trials.restarts, run.seed), readers(n, k, size_of::<T>()))?;
    let others = fitted.split_off(2 * trials.cuts);

    let halved = HalvesResult::compared(&seen, &fitted, run)?;
    let held_out = |rows: &[u64]| of(thinned(rows.to_vec()));
    let alone = compare::alone(model);
    let gaussian = match alone {
        true => Vec::new(),
        false => halved.gaussian(k, &fitted, cuts.first(), held_out, together.block_length > 1, run)?,
    };
    let restarted = RestartsResult::compared(&seen, model, &others, run)?;
    let variances = variances(model);
    let squares =
        variances.as_ref().filter(|v| v.len() == n_codes).map(|_| verdict::squares(&following, n_codes));
    let evidence = verdict::Evidence {
        variances: variances.as_deref(),
        squares: squares.as_ref(),
        gaussian: model.method().by_independence.then_some(&gaussian),
        n: n as f64,
        times: &together.times,
    };
    // An atom or a unit is told from others by the rows that it is used for, whatever its variance.
    let groups = if alone { vec![Vec::new(); k] } else { verdict::groups(k, &evidence) };
    let itself: Vec<Option<usize>> = (0..k).map(Some).collect();
    let started = restarted.estimates(Fit { model, vectors: &seen.codes, order: &itself }, &others);
    let spaces = halved.spaces(&groups, k == p)?;
    let space_interval: Vec<(f64, f64)> = spaces.iter().map(|cuts| interval::interval(cuts)).collect();
    Ok(Stability {
        clusters: clusters::clusters(&seen.codes, &started, &halved.estimates(&fitted), seen.is_signed()),
        verdicts: verdict::verdicts(groups, &space_interval, k == p),
        interval: (0..k).map(|j| interval::interval(&halved.of(j))).collect(),
        space: spaces.iter().map(|cuts| cuts.iter().sum::<f64>() / cuts.len().max(1) as f64).collect(),
        space_interval,
        cuts: trials.cuts,
        halves: mean(&halved.agreement, k),
        chance: alone.then(|| chance(k, p, run.seed, &seen)),
        gaussian,
        restarts: (!restarted.same && trials.restarts > 0).then(|| mean(&restarted.agreement, k)),
        index: index(&[&halved.to_model[..], &restarted.to_model].concat(), k),
        block_length: together.block_length,
    })
}

/// Draws of random directions.
const DRAWS: u64 = 3;

/// The mean cosine of `k` random directions of `p` columns with `k` others, paired so that it is largest.
fn chance<T: Real>(k: usize, p: usize, seed: u64, seen: &Reference<'_, T>) -> f64 {
    let drawn = |number: u64| {
        let draws = Draws::new(seed, 0x6368_616e ^ number);
        Matrix::from_fn(k, p, |i, j| draws.normal((i * p + j) as u64))
    };
    let unit = |mut m: Matrix<f64>| {
        compare::of_length_one(&mut m);
        m
    };
    let one = |i: u64| {
        let all = seen.likeness(&factor::multiply_transposed(&unit(drawn(2 * i)), &unit(drawn(2 * i + 1))));
        pairs(&all).iter().map(|at| all[*at]).sum::<f64>() / k.max(1) as f64
    };
    (0..DRAWS).map(one).sum::<f64>() / DRAWS as f64
}

/// Rows that halves can be made of.
fn readable<'a, T: Real>(rows: &'a Rows<'_, T>) -> Result<&'a dyn RandomAccess<T>> {
    rows.here("stability of a decomposition")?;
    let source = rows.source().random().filter(|_| !rows.is_sparse() && rows.weights().is_none());
    source.ok_or_else(|| Error::Unsupported {
        asked: "stability of a decomposition".into(),
        found: "these rows are sparse, have weights, or can be read only once, forward".into(),
        remedy: "give dense rows without weights, from memory or a file".into(),
    })
}

/// The rows (`None`: all) and the seed of every fit: of the halves of every cut, then of the restarts.
fn jobs(cuts: &[(Vec<u64>, Vec<u64>)], restarts: usize, seed: u64) -> Vec<(Option<Vec<u64>>, u64)> {
    let mut jobs = Vec::new();
    // Each half has a start of its own: a start that both share would be something that they agree about.
    for (cut, (left, right)) in (0u64..).zip(cuts) {
        let seed = seed.wrapping_add(HALVES + 2 * cut);
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
    /// For each job, the rows (`None`: all) and the seed, what is found; at most `readers` concurrently.
    pub(crate) fn of(&self, jobs: Vec<(Option<Vec<u64>>, u64)>, readers: usize) -> Result<Vec<Model>> {
        let mut out = Vec::new();
        let mut jobs = jobs.into_iter().peekable();
        while jobs.peek().is_some() {
            let some: Vec<_> = jobs.by_ref().take(readers).collect();
            let scan = SharedScan::new(self.source, self.rows.n_features(), some.len(), self.run.threads);
            out.extend(side_by_side(&scan, some, |reader, (chosen, seed)| {
                self.one(Reader::new(&scan, reader, chosen), seed)
            })?);
        }
        Ok(out)
    }

    fn one(&self, reader: Reader<'_, '_, T>, seed: u64) -> Result<Model> {
        let Run { max_seconds, watch, started, .. } = *self.run;
        let run = Run { seed, threads: 1, max_seconds, watch, started, ..Run::default() };
        let rows = Rows::new(reader, self.rows.features().clone(), self.rows.origin());
        fit(self.key, &self.settings, &mut AnyRows::from(rows), &run)
    }
}

/// Fits that run concurrently, where each may hold `k` coordinates of every row.
pub(crate) fn readers(n: u64, k: usize, size: usize) -> usize {
    const MEMORY: u64 = 2 << 30;
    (MEMORY / n.saturating_mul((k * size) as u64).max(1)).clamp(2, 64) as usize
}

/// Rows of no more bytes are read once, not one by one in every pass of every fit.
const HELD: u64 = 1 << 30;

/// Seeds of the halves begin so far from those of the restarts.
const HALVES: u64 = 1 << 32;

/// Variances along the components, where the method distinguishes directions by them: where codes are uncorrelated scores along
/// axes.
fn variances(model: &Model) -> Option<Vec<f64>> {
    if model.tensor("second_rotation").is_some() {
        return None;
    }
    model
        .tensor("explained_variance")
        .map(|t| t.f64s())
        .or_else(|| model.tensor("scale").map(|t| t.f64s().iter().map(|s| s * s).collect()))
}

fn mean(trials: &[Vec<f64>], k: usize) -> Vec<f64> {
    (0..k).map(|j| trials.iter().map(|t| t[j]).sum::<f64>() / trials.len().max(1) as f64).collect()
}

/// Own similarity less the mean of the others', over all fits.
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
