//! The first step of every fit, of all rows, of a batch of them or of sums: whether the method accepts them is read from its entry in the
//! registry, here only.

use super::{Method, Sums};
use crate::data::{Rows, check_total_weight};
use crate::error::{Error, Result};
use crate::num::{Matrix, Real};
use crate::run::{Identity, Run, table_checksum};
use crate::stats::GatherChecksum;
use serde::Serialize;

impl Method {
    /// Refuses rows of a kind that the method does not accept, makes the others readable in any order, and sets whether NaN is a missing
    /// cell of them or an error.
    ///
    /// # Errors
    ///
    /// Weights, sparse rows or rows held by remote workers if [`accepts`](Self::accepts) excludes them; weights whose sum is at most 1;
    /// errors of the source.
    pub fn check_rows<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<()> {
        self.check_storage(rows)?;
        rows.prepare(run)?;
        // Only now are the weights of remote rows known.
        self.check_weights(rows.weights().is_some())?;
        rows.accept_missing(self.accepts.missing);
        rows.collect_few_rows(run)?;
        match rows.weights() {
            Some(_) => check_total_weight(rows.n_samples(), rows.origin()),
            None => Ok(()),
        }
    }

    /// Refuses a batch of an incremental fit of a kind that the method does not accept. No row is read.
    ///
    /// # Errors
    ///
    /// Those of [`check_rows`](Self::check_rows) about the kind of the rows. The sum of the weights of a batch may be small.
    pub(super) fn check_batch<T: Real>(&self, rows: &Rows<'_, T>) -> Result<()> {
        self.check_storage(rows)?;
        self.check_weights(rows.weights().is_some())
    }

    fn check_storage<T: Real>(&self, rows: &Rows<'_, T>) -> Result<()> {
        if !self.accepts.sparse && rows.is_sparse() {
            let found = "it needs all entries of the rows, zeros included";
            return Err(self.refused("sparse rows", found, "make the rows dense"));
        }
        if !self.accepts.remote && rows.source().remote().is_some() {
            let what = "rows held by remote workers";
            return Err(self.refused(what, "it needs the rows themselves", "load the rows on this machine"));
        }
        Ok(())
    }

    fn check_weights(&self, weighted: bool) -> Result<()> {
        if self.accepts.weights || !weighted {
            return Ok(());
        }
        let found = "it does not support sample weights";
        Err(self.refused("rows with weights", found, "leave the weights out, or repeat rows"))
    }

    fn refused(&self, what: &str, found: &str, remedy: &str) -> Error {
        let request = format!("{} of {what}", self.key);
        Error::unsupported(request, found, remedy).of_method(self.key)
    }

    /// [`check`](Self::check) and [`check_rows`](Self::check_rows), for a fit with these settings. If there is a checkpoint, the file is created or
    /// read, which takes a pass over the rows for their checksum.
    ///
    /// # Errors
    ///
    /// Errors of both; a checkpoint that is corrupt or of another fit, a file that cannot be written.
    pub fn begin<T: Real>(
        &self,
        settings: &impl Serialize,
        rows: &mut Rows<'_, T>,
        run: &Run<'_>,
    ) -> Result<()> {
        self.begin_given(settings, &[], rows, run)
    }

    /// [`begin`](Self::begin) of a method with [`tensors`](Self::tensors): the tables of this fit by their names, which identify it as its
    /// settings do.
    ///
    /// # Errors
    ///
    /// As for `begin`.
    pub fn begin_given<T: Real>(
        &self,
        settings: &impl Serialize,
        tables: &[(&str, Option<&Matrix<f64>>)],
        rows: &mut Rows<'_, T>,
        run: &Run<'_>,
    ) -> Result<()> {
        self.check(settings)?;
        self.begin_checked(&|| serde_json::to_string(settings).unwrap_or_default(), tables, rows, run)
    }

    /// [`begin`](Self::begin) after the settings are checked; compiled once for all methods.
    fn begin_checked<T: Real>(
        &self,
        settings: &dyn Fn() -> String,
        tables: &[(&str, Option<&Matrix<f64>>)],
        rows: &mut Rows<'_, T>,
        run: &Run<'_>,
    ) -> Result<()> {
        self.check_rows(rows, run)?;
        // Also if the fit has a closed form and takes no start.
        run.check_initial_names(rows.features().names.as_deref())?;
        match run.init.filter(|init| init.method() == self.key && init.parameter("bases").is_some()) {
            Some(_) => run.initial_subspaces(rows.n_features(), None).map(|_| ())?,
            None => run.initial_components(rows.n_features(), 0).map(|_| ())?,
        }
        let Some(checkpoint) = run.checkpoint else { return Ok(()) };
        let sum = rows.pooled(run.threads, || rows.sweep(run, "checksum", &GatherChecksum))?;
        let given = |(name, table): &(&str, Option<&Matrix<f64>>)| {
            table.map(|table| (name.to_string(), table_checksum(table)))
        };
        checkpoint.bind(Identity {
            version: env!("CARGO_PKG_VERSION").into(),
            method: self.key.into(),
            settings: settings(),
            seed: run.seed,
            dtype: T::DTYPE.name().into(),
            n_rows: rows.n_rows().unwrap_or(0),
            n_features: rows.n_features() as u64,
            feature_shape: rows.features().shape.clone().unwrap_or_else(|| vec![rows.n_features()]),
            rows: sum.checksum(),
            init: run.init.map(|init| init.checksum()),
            tables: tables.iter().filter_map(given).collect(),
        })
    }

    /// The first step of an incremental fit with these settings to a batch of rows: what [`begin`](Self::begin) refuses about settings and
    /// the kind of the rows is refused here, with the same messages. NaN is an error, because the rows of a batch are read once.
    ///
    /// # Errors
    ///
    /// Settings out of range; weights, sparse rows or rows held by remote workers if [`accepts`](Self::accepts) excludes them.
    pub fn begin_batch<T: Real>(&self, settings: &impl Serialize, rows: &Rows<'_, T>) -> Result<()> {
        self.check(settings)?;
        self.check_batch(rows)
    }

    /// The first step of a fit with these settings to sums over rows, whose batches were checked when they were [added](Sums::add).
    ///
    /// # Errors
    ///
    /// Settings out of range; sums over rows with weights if [`accepts`](Self::accepts) excludes weights, or if these sum to at most 1.
    pub fn begin_sums(&self, settings: &impl Serialize, sums: &Sums) -> Result<()> {
        self.check(settings)?;
        if !sums.is_weighted() {
            return Ok(());
        }
        self.check_weights(true)?;
        check_total_weight(sums.n_samples(), "the rows")
    }
}
