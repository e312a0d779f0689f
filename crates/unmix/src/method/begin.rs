//! The first step of every fit, of all rows, of a batch of them or of sums.

use super::{Method, with_methods};
use crate::data::{Rows, check_total_weight};
use crate::error::Result;
use crate::model::Sums;
use crate::num::{Matrix, Real};
use crate::run::{Identity, Run, table_checksum};
use crate::stats::GatherChecksum;
use serde::Serialize;

impl Method {
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
        self.check_rows(rows, run).map_err(with_methods)?;
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
        self.check_batch(rows).map_err(with_methods)
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
        self.check_weights(true).map_err(with_methods)?;
        check_total_weight(sums.n_samples(), "the rows")
    }
}
