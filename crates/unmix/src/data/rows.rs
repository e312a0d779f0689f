//! Rows: a source, the names of its columns and the shape of a sample, and a plan for cutting it into shards.

use super::Sparse;
use super::raw::RawArray;
use super::source::{RandomAccess, Source, Transposed};
use super::spool::Spool;
use super::{OwnedRows, Scattered, Subset};
use crate::error::{Error, Result};
use crate::machine::check_memory;
use crate::num::threads::on_pool;
use crate::num::{Plan, Real};
use crate::run::{Run, Silent};
use crate::stats::{Entries, GatherEntries, GatherRange, GatherRows, Range};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

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
}

impl<'a, T: Real> Rows<'a, T> {
    /// Rows of `source`; `origin` names them in messages, as in "digits.npy".
    pub fn new(source: impl Source<T> + 'a, features: Features, origin: impl Into<String>) -> Self {
        let (source, origin) = (Box::new(source), origin.into());
        Self { source, features, origin, weights: None, notes: Vec::new(), longest: None }
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
    /// A weight that is negative or not a finite number, with its row; more or fewer weights than rows.
    pub fn weighted(mut self, weights: impl Into<Cow<'a, [f64]>>) -> Result<Self> {
        let weights = weights.into();
        if let Some((row, w)) = weights.iter().enumerate().find(|(_, w)| !(w.is_finite() && **w >= 0.0)) {
            let got = format!("{w} in row {row}");
            let remedy = "correct that weight; 0 leaves the row out";
            return Err(Error::setting("sample_weight", got, "must be finite and non-negative", remedy));
        }
        self.weights = Some(weights);
        self.check_weights()?;
        Ok(self)
    }

    /// Sample weights, unless all are 1.
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
        let Some(weights) = self.weights.as_ref().filter(|w| w.len() as u64 != n) else { return Ok(()) };
        let why = format!("must have one weight for each of the {n} rows of {}", self.origin);
        let got = format!("{} weight{}", weights.len(), if weights.len() == 1 { "" } else { "s" });
        Err(Error::setting("sample_weight", got, why, ""))
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

    /// The numbers, row-major and without a copy, if the source owns them in this form; else these rows unchanged.
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
        Some(Rows { longest: self.longest, ..Rows::new(sparse, features, self.origin.clone()) })
    }

    /// The plan for cutting the rows.
    pub fn plan(&self) -> Plan {
        Plan::for_width(self.n_features())
    }

    /// For remote rows, collects the sample weights. Else makes the number of rows known and the rows readable in any order: a
    /// source that can be read only once, in order, is decoded once, into memory up to 64 MiB and into a temporary file beyond
    /// that.
    ///
    /// # Errors
    ///
    /// Errors of the source, of the temporary file and of the workers; a number of weights that differs from the number of rows.
    pub fn prepare(&mut self, run: &Run<'_>) -> Result<()> {
        if self.source.remote().is_some() {
            if self.weights.is_none() {
                self.weights = self.remote_weights(run)?.map(Cow::Owned);
            }
            return self.check_weights();
        }
        if self.source.random().is_some() {
            return Ok(());
        }
        let p = self.n_features();
        if let Some(whole) = self.small_whole(run) {
            self.source = Box::new(OwnedRows::new(whole?, p));
            return self.check_weights();
        }
        if let Some(array) = self.scattered(run) {
            self.source = Box::new(array?);
            return self.check_weights();
        }
        let mut spool = Spool::new(&self.origin);
        let mut done = 0;
        {
            let mut stream = self.source.stream()?;
            let (mut buffer, step) = (Vec::new(), self.plan().shard_rows);
            loop {
                buffer.clear();
                match stream.read(step, &mut buffer)? {
                    0 => break,
                    n => done += n as u64,
                }
                spool.write_numbers(&buffer)?;
                run.sweep_progress("reading", done, self.n_rows())?;
            }
        }
        self.source = Box::new(spool.into_rows::<T>(p)?);
        self.check_weights()
    }

    /// All numbers, read by as many threads as the source can use, if it supports that and they take no more memory than a spool.
    fn small_whole(&self, run: &Run<'_>) -> Option<Result<Vec<T>>> {
        let most = Spool::IN_MEMORY / size_of::<T>();
        let n =
            usize::try_from(self.n_rows()?).ok()?.checked_mul(self.n_features()).filter(|n| *n <= most)?;
        let mut whole = crate::machine::zeros(n);
        let filled = self.source.fill(&mut whole, run.threads)?;
        Some(filled.map(|()| whole))
    }

    /// All rows in a temporary file, written by as many threads as the source can use, if it supports that.
    fn scattered(&self, run: &Run<'_>) -> Option<Result<RawArray<'static>>> {
        let (n_rows, p) = (self.n_rows()?, self.n_features());
        let bytes = n_rows.checked_mul((p * size_of::<T>()) as u64)?;
        if run.threads < 2 || bytes <= Spool::IN_MEMORY as u64 {
            return None;
        }
        let spool = match Scattered::<T>::new(&self.origin, n_rows, p) {
            Ok(spool) => spool,
            Err(e) => return Some(Err(e)),
        };
        let done = AtomicU64::new(0);
        let put = |first: u64, rows: &[T]| {
            spool.put(first, rows)?;
            let own = (rows.len() / p) as u64;
            run.sweep_progress("reading", done.fetch_add(own, Ordering::Relaxed) + own, Some(n_rows))
        };
        let read = self.source.scatter(&put, run.threads)?;
        Some(read.and_then(|()| spool.into_rows()))
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

    /// The error that names the first number that is not finite, row by row; if all are finite, their squares overflow.
    pub(crate) fn not_finite(&self, method: &str) -> Error {
        match self.first_not_finite() {
            Err(e) => e,
            Ok(None) => Error::Overflow { method: method.into(), dtype: T::DTYPE.name() },
            Ok(Some((row, column, x))) => self.not_finite_at(method, row, column, x),
        }
    }

    /// The error that names this non-finite number.
    pub(crate) fn not_finite_at(&self, method: &str, row: u64, column: usize, x: f64) -> Error {
        Error::NotFinite {
            method: method.into(),
            row,
            column,
            name: self.name(column).map(Into::into),
            what: match x {
                x if x.is_nan() => "NaN",
                x if x > 0.0 => "infinity",
                _ => "-infinity",
            },
        }
    }

    /// Minimum and maximum of each column, and the first number that is not finite, over rows of non-zero weight.
    fn range(&self) -> Result<Range> {
        self.sweep(&Run { observer: &Silent, threads: 1, ..Run::default() }, "range", &GatherRange::new())
    }

    /// Range of each of these columns over rows of non-zero weight. One pass over the rows, or over these columns alone.
    pub(crate) fn spread_of(&self, columns: &[usize]) -> Result<Vec<f64>> {
        match self.source.random() {
            Some(random) if all_constant(random, columns) => Ok(vec![0.0; columns.len()]),
            Some(random) if random.by_columns() => {
                columns.iter().map(|&j| self.spread_of_one(random, j)).collect()
            }
            _ => {
                let all: Vec<f64> = self.range()?.spread().collect();
                Ok(columns.iter().map(|&j| all[j]).collect())
            }
        }
    }

    fn spread_of_one(&self, random: &dyn RandomAccess<T>, column: usize) -> Result<f64> {
        const AT_ONCE: u64 = 4096;
        let (n, mut raw) = (random.n_rows(), Vec::new());
        let mut cells = vec![T::default(); n.min(AT_ONCE) as usize];
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for start in (0..n).step_by(AT_ONCE as usize) {
            let end = n.min(start + AT_ONCE);
            let cells = &mut cells[..(end - start) as usize];
            random.read(start..end, column..column + 1, cells, &mut raw)?;
            // Most of these columns are all zeros, and testing equality first is fast.
            let counted: &[T] = match cells.iter().all(|x| *x == cells[0]) && self.weights().is_none() {
                true => &cells[..1],
                false => cells,
            };
            for (row, x) in (start..).zip(counted) {
                if self.weights().is_none_or(|w| w[row as usize] != 0.0) {
                    (low, high) = (low.min(x.to_f64()), high.max(x.to_f64()));
                }
            }
        }
        Ok((high - low).max(0.0))
    }

    fn first_not_finite(&self) -> Result<Option<(u64, usize, f64)>> {
        Ok(self.range()?.not_finite)
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

    /// Loads remote rows if there are fewer of them than columns: the matrix of rows is then smaller than that of columns.
    pub(crate) fn collect_few_rows(&mut self, run: &Run<'_>) -> Result<()> {
        let (n, p) = (self.n_rows().unwrap_or(0), self.n_features());
        if self.source.remote().is_none() || n >= p as u64 {
            return Ok(());
        }
        self.source = match self.is_sparse() {
            true => {
                let Entries { starts, columns, values } = self.sweep(run, "rows", &GatherEntries::new())?;
                Box::new(Sparse::from_csr(&starts, &columns, values, p)?)
            }
            false => Box::new(OwnedRows::new(self.picked((0..n).collect(), run)?, p)),
        };
        Ok(())
    }
}

/// Whether all numbers of each of these columns are equal, if rows can be borrowed; most columns that are examined are all zeros,
/// and nothing has to be copied to see that.
fn all_constant<T: Real>(random: &dyn RandomAccess<T>, columns: &[usize]) -> bool {
    let n = random.n_rows();
    let Some(numbers) = random.lend(0..n).filter(|numbers| !numbers.is_empty()) else { return false };
    let mut rows = numbers.chunks_exact(numbers.len() / n as usize);
    let Some(first) = rows.next() else { return false };
    rows.all(|row| columns.iter().all(|&j| row[j] == first[j]))
}
