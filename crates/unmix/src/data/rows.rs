//! Rows: a source, the names of its columns and the shape of a sample, and a plan for cutting it into shards.

mod missing;
mod prepare;
mod range;
mod selected;
pub(super) mod values;

pub use selected::SelectedRows;

use super::raw::RawArray;
use super::source::{RandomAccess, Source, Transposed};
use super::{OwnedRows, Sparse, Subset};
use crate::error::{Error, Result};
use crate::machine::check_memory;
use crate::num::threads::on_pool;
use crate::num::{Plan, Real};
use crate::run::Run;
use crate::stats::GatherRows;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use values::RowValues;

/// The weights of rows, for messages.
const WEIGHTS: RowValues<'static> = RowValues { name: "sample_weight", one: "weight", file: None };

/// Names of the columns and shape of a sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Features {
    /// Names of the columns, in order.
    #[serde(rename = "feature_names")]
    pub names: Option<Vec<String>>,
    /// The shape of one sample before it was flattened in C order.
    #[serde(rename = "feature_shape")]
    pub shape: Option<Vec<usize>>,
}

/// Rows of numbers of type `T`, in memory, in a file, or on remote workers.
pub struct Rows<'a, T: Real> {
    source: Box<dyn Source<T> + 'a>,
    features: Features,
    origin: String,
    weights: Option<Cow<'a, [f64]>>,
    notes: Vec<String>,
    /// Maximum length of a shard, if the rows are coordinates of rows that are cut between workers.
    longest: Option<usize>,
    /// Whether NaN is a missing cell.
    missing: bool,
    /// Which rows of a file these are, where some of its rows were selected.
    selected: Option<SelectedRows>,
}

impl<T: Real> Rows<'static, T> {
    /// Rows of `n_features` numbers each, which are owned; named "the array" in messages. To borrow them, [`from_slice`](Rows::from_slice).
    ///
    /// # Errors
    ///
    /// An incomplete last row.
    ///
    /// ```
    /// let rows = unmix::Rows::from_vec(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2)?;
    /// assert_eq!((rows.n_rows(), rows.n_features()), (Some(3), 2));
    /// # Ok::<(), unmix::Error>(())
    /// ```
    pub fn from_vec(numbers: Vec<T>, n_features: usize) -> Result<Self> {
        Ok(Rows::new(OwnedRows::new(numbers, n_features)?, Features::default(), "the array"))
    }
}

impl<'a, T: Real> Rows<'a, T> {
    /// Rows of `source`; `origin` names them in messages, as in "digits.npy".
    pub fn new(source: impl Source<T> + 'a, features: Features, origin: impl Into<String>) -> Self {
        let (source, origin) = (Box::new(source), origin.into());
        Self {
            source,
            features,
            origin,
            weights: None,
            notes: Vec::new(),
            longest: None,
            missing: false,
            selected: None,
        }
    }

    /// The same rows in shards that are no longer than those of `rows`, whose coordinates they are.
    pub(super) fn cut_as(mut self, rows: &Rows<'_, T>) -> Self {
        let own = Plan::alignment(rows.n_features());
        self.longest = Some(rows.longest.map_or(own, |longest| longest.min(own)));
        self
    }

    /// The cut for a gather that prefers `plan`.
    pub(super) fn cut(&self, plan: Plan) -> Plan {
        self.longest.map_or(plan, |longest| plan.at_most(longest))
    }

    /// Row-major numbers in borrowed memory, `n_features` in a row.
    ///
    /// # Errors
    ///
    /// A length that is not a multiple of `n_features`.
    pub fn from_slice(data: &'a [T], n_features: usize) -> Result<Self> {
        Ok(Self::new(RawArray::borrowed(data, n_features)?, Features::default(), "the array"))
    }

    /// The same rows, each with its sample weight: 2 counts a row twice, 0 leaves it out.
    ///
    /// # Errors
    ///
    /// A weight that is negative or not a finite number, with its row; more or fewer weights than rows, unless they are those of all rows of
    /// the file from which these were [selected](Self::selected).
    pub fn weighted(mut self, weights: impl Into<Cow<'a, [f64]>>) -> Result<Self> {
        let given: Cow<'a, [f64]> = weights.into();
        let weights = match self.used().chosen(given.len() as u64, WEIGHTS)? {
            Some(selected) => Cow::Owned(selected.of(&given)),
            None => given,
        };
        if let Some((row, w)) = weights.iter().enumerate().find(|(_, w)| !(w.is_finite() && **w >= 0.0)) {
            let got = format!("{w} in row {}", self.number_of(row as u64));
            let remedy = "correct that weight; 0 leaves the row out";
            return Err(Error::setting("sample_weight", got, "must be finite and non-negative", remedy));
        }
        self.weights = Some(weights);
        Ok(self)
    }

    /// Sample weights, if they were given.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Number of sample weights, unless all are 1.
    pub(crate) fn weighted_rows(&self) -> Option<u64> {
        self.weights().filter(|w| w.iter().any(|&w| w != 1.0)).map(|w| w.len() as u64)
    }

    /// Number of rows, weighted; 0 if it is not known.
    pub fn n_samples(&self) -> f64 {
        match &self.weights {
            None => self.n_rows().unwrap_or(0) as f64,
            Some(w) => w.iter().sum(),
        }
    }

    /// Upper bound on the rank: the number of rows, or the sum of the weights if that is larger.
    pub(crate) fn n_counted(&self) -> u64 {
        match &self.weights {
            None => self.n_rows().unwrap_or(0),
            Some(w) => (w.iter().filter(|w| **w > 0.0).count() as u64).max(self.n_samples() as u64),
        }
    }

    fn check_weights(&self) -> Result<()> {
        self.n_rows().map_or(Ok(()), |n| self.check_weights_of(n))
    }

    /// Refuses weights whose number differs from the number of rows, `n`.
    pub(crate) fn check_weights_of(&self, n: u64) -> Result<()> {
        let other = self.weights().map(|w| w.len() as u64).filter(|given| *given != n);
        other.map_or(Ok(()), |given| Err(self.used().refused(n, given, WEIGHTS)))
    }

    pub(super) fn with_names(mut self, names: Vec<String>) -> Self {
        self.features.names = Some(names);
        self
    }

    /// Adds notes for the user about how the rows were read, in sentences: a fit puts them before its warnings.
    pub fn with_notes(mut self, notes: Vec<String>) -> Self {
        self.notes = notes;
        self
    }

    /// Notes for the user about how these rows were read, in sentences.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Number of columns.
    pub fn n_features(&self) -> usize {
        self.source.n_features()
    }

    /// Number of rows, if it is known without reading them.
    pub fn n_rows(&self) -> Option<u64> {
        self.source.n_rows()
    }

    /// Names and shape of the columns.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Origin of the rows, for messages.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The name of column `j`, if it has one.
    pub fn name(&self, j: usize) -> Option<&str> {
        self.features.names.as_ref().and_then(|n| n.get(j)).map(String::as_str)
    }

    /// The source itself.
    pub fn source(&self) -> &dyn Source<T> {
        &*self.source
    }

    /// The numbers, row-major and without a copy, if the source owns them in this form.
    ///
    /// # Errors
    ///
    /// These rows, unchanged, if it does not.
    #[allow(clippy::result_large_err, reason = "the rows are returned unchanged")]
    pub fn into_numbers(mut self) -> std::result::Result<Vec<T>, Self> {
        self.source.take().ok_or(self)
    }

    /// The rows as stored entries, if they are sparse and local.
    pub fn sparse(&self) -> Option<&Sparse<'_, T>> {
        self.source.sparse()
    }

    /// Whether only the non-zero numbers are stored, locally or by the workers.
    pub fn is_sparse(&self) -> bool {
        self.source.is_sparse()
    }

    /// Sparse rows as rows with missing cells, whose observed cells are the stored entries; `None` if they are not sparse.
    pub fn as_cells(&self) -> Option<Rows<'_, T>> {
        let sparse = self.sparse()?.as_cells();
        let features = self.features.clone();
        Some(Rows {
            longest: self.longest,
            missing: true,
            ..Rows::new(sparse, features, self.origin.clone())
        })
    }

    /// The plan for cutting the rows.
    pub fn plan(&self) -> Plan {
        Plan::for_width(self.n_features())
    }

    /// Random access to the rows, which must be [prepared](Self::prepare).
    pub(crate) fn prepared(&self) -> &dyn RandomAccess<T> {
        match self.source.random() {
            Some(random) => random,
            None => unreachable!("rows are prepared before random access to them"),
        }
    }

    /// The transposed rows: each row is a feature of these rows, which must be prepared.
    pub(crate) fn transposed(&self) -> Rows<'_, T> {
        let (none, origin) = (Features::default(), self.origin.clone());
        match self.sparse() {
            Some(sparse) => Rows::new(sparse.transposed(), none, origin),
            None => {
                let source = Transposed { samples: self.prepared(), n_features: self.n_features() };
                Rows::new(source, none, origin)
            }
        }
    }

    /// Rows `rows`, row-major, or as many of them as there are. For figures and small tables, not for loops.
    ///
    /// # Errors
    ///
    /// Errors of the source.
    pub fn read_range(&self, rows: std::ops::Range<u64>) -> Result<Vec<T>> {
        let p = self.n_features();
        let end = self.n_rows().map_or(rows.end, |n| rows.end.min(n));
        let mut out = Vec::new();
        if rows.start >= end || p == 0 {
            return Ok(out);
        }
        if let Some(random) = self.source.random() {
            out.resize((end - rows.start) as usize * p, T::default());
            random.read(rows.start..end, 0..p, &mut out, &mut Vec::new())?;
            return Ok(out);
        }
        let (mut stream, step) = (self.source.stream()?, self.plan().shard_rows as u64);
        let mut passed = 0;
        while passed < end {
            // Rows before the first one requested are read and dropped.
            let wanted = if passed < rows.start { rows.start } else { end };
            if passed <= rows.start {
                out.clear();
            }
            match stream.read((wanted - passed).min(step) as usize, &mut out)? {
                0 => break,
                n => passed += n as u64,
            }
        }
        if passed <= rows.start {
            out.clear();
        }
        Ok(out)
    }

    /// Rows `chosen`, in ascending order, row-major; local or remote.
    ///
    /// # Errors
    ///
    /// Errors of the source; numbers that do not fit into memory.
    pub(crate) fn picked(&self, chosen: Vec<u64>, run: &Run<'_>) -> Result<Vec<T>> {
        let p = self.n_features();
        let bytes = (chosen.len() as u64).saturating_mul((p * std::mem::size_of::<T>()) as u64);
        check_memory(
            &format!("{} rows of {p} numbers", chosen.len()),
            bytes,
            "fit fewer rows, or choose fewer columns",
        )?;
        match self.source.random() {
            Some(random) => {
                let mut numbers = vec![T::default(); chosen.len() * p];
                let n = chosen.len() as u64;
                Subset::new(random, p, chosen).read(0..n, 0..p, &mut numbers, &mut Vec::new())?;
                Ok(numbers)
            }
            None if chosen.is_empty() => Ok(Vec::new()),
            None => Ok(self.sweep(run, "rows", &GatherRows::new(chosen))?.numbers),
        }
    }

    /// All rows, row-major: without a copy where they are stored as such in memory.
    ///
    /// # Errors
    ///
    /// As for [`picked`](Self::picked).
    pub(crate) fn whole(&self, run: &Run<'_>) -> Result<Cow<'_, [T]>> {
        let n = self.n_rows().unwrap_or(0);
        match self.source.random().and_then(|random| random.lend(0..n)) {
            Some(lent) => Ok(Cow::Borrowed(lent)),
            None => self.picked((0..n).collect(), run).map(Cow::Owned),
        }
    }

    /// Runs `work` in a pool of `threads` threads; not for remote rows, because a thread that waits for a result must not be one of
    /// the threads on which other code of the same process computes it.
    pub(crate) fn pooled<R: Send>(&self, threads: usize, work: impl FnOnce() -> R + Send) -> R {
        match self.source.remote() {
            Some(_) => work(),
            None => on_pool(threads, work),
        }
    }

    /// Sample weights of the rows `chosen`.
    pub(crate) fn weights_at(&self, chosen: &[u64]) -> Option<Vec<f64>> {
        self.weights().map(|all| chosen.iter().map(|&i| all[i as usize]).collect())
    }
}
