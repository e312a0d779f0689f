//! Whether a method accepts rows, all of them, a batch or sums over them: this is read from its entry in the registry, here only.

use super::Method;
use crate::data::{Rows, check_total_weight};
use crate::error::{Error, Needed, Result};
use crate::num::Real;
use crate::run::Run;

impl Method {
    /// Refuses rows of a kind that the method does not accept, makes the others readable in any order, and sets whether NaN is a missing
    /// cell of them or an error.
    ///
    /// # Errors
    ///
    /// Weights, sparse rows or rows held by remote workers if [`accepts`](Self::accepts) excludes them; weights whose sum is at most 1;
    /// a time limit below 0; errors of the source.
    pub fn check_rows<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<()> {
        self.check_storage(rows)?;
        run.check_limit()?;
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
    pub(crate) fn check_batch<T: Real>(&self, rows: &Rows<'_, T>) -> Result<()> {
        self.check_storage(rows)?;
        self.check_weights(rows.weights().is_some())
    }

    fn check_storage<T: Real>(&self, rows: &Rows<'_, T>) -> Result<()> {
        if !self.accepts.sparse && rows.is_sparse() {
            let found = "it needs all entries of the rows, zeros included";
            return Err(self.refused("sparse rows", found, "make the rows dense").needing(Needed::Sparse));
        }
        if !self.accepts.remote && rows.source().remote().is_some() {
            let (what, found) = ("rows held by remote workers", "it needs the rows themselves");
            let refused = self.refused(what, found, "load the rows on this machine");
            return Err(refused.needing(Needed::Remote));
        }
        Ok(())
    }

    /// Refuses weights, where there are any, if the method does not accept them.
    ///
    /// # Errors
    ///
    /// Weights that [`accepts`](Self::accepts) excludes.
    pub(crate) fn check_weights(&self, weighted: bool) -> Result<()> {
        if self.accepts.weights || !weighted {
            return Ok(());
        }
        let found = "it does not support sample weights";
        let refused = self.refused("rows with weights", found, "leave the weights out, or repeat rows");
        Err(refused.needing(Needed::Weights))
    }

    fn refused(&self, what: &str, found: &str, remedy: &str) -> Error {
        let request = format!("{} of {what}", self.key);
        Error::unsupported(request, found, remedy).of_method(self.key)
    }
}
