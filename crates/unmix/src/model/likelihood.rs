//! The density of rows under a model, and log-likelihoods of rows.

use super::{Gaussian, Model};
use crate::data::{Rows, Sink, Workspace};
use crate::error::{Error, Needed, Result};
use crate::num::{Block, Real};
use crate::run::Run;
use crate::stats::gaps::Conditional;

impl Model {
    /// Log-likelihood of every row, if the model has one.
    ///
    /// # Errors
    ///
    /// A model without a density; rows of another width; numbers that are not finite; errors of the source.
    pub fn score_samples<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        sink: &mut dyn Sink<f64>,
    ) -> Result<u64> {
        match self.code.encoder().mixture() {
            Some(mixture) => self.score_mixture(mixture, rows, run, sink),
            None => self.score_samples_under(&self.density()?, rows, run, sink),
        }
    }

    /// Log-likelihood of every row under another density of the same features.
    ///
    /// # Errors
    ///
    /// As for [`score_samples`](Self::score_samples).
    pub fn score_samples_under<T: Real>(
        &self,
        density: &Gaussian,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        sink: &mut dyn Sink<f64>,
    ) -> Result<u64> {
        self.check_columns("score", rows)?;
        let factors = self.code.codes().missing.then(|| Conditional::new(density.factors()));
        let step = |block: Block<'_, T>, out: &mut [f64], work: &mut Workspace<T>| {
            match &factors {
                None => {
                    rows.check_finite("scoring", &block)?;
                    density.log_density(block.data, out, work);
                }
                Some(factors) => {
                    rows.check_infinite("scoring", &block)?;
                    density.log_density_of_seen(factors, block.data, out, work);
                }
            }
            Ok(())
        };
        rows.map(run, "scoring", 1, step, sink)
    }

    /// Checks that rows have a log-likelihood under the model, before they are read.
    ///
    /// # Errors
    ///
    /// A model without a density.
    pub fn check_scores(&self) -> Result<()> {
        match self.code.encoder().mixture() {
            Some(_) => Ok(()),
            None => self.density().map(|_| ()),
        }
    }

    /// The Gaussian density of the rows under the model.
    ///
    /// # Errors
    ///
    /// A model without a density.
    pub fn density(&self) -> Result<Gaussian> {
        let make = self.method.density.ok_or_else(|| {
            Error::unsupported(
                format!("log-likelihood under the {} model", self.method.key),
                "it defines no probability density",
                "compare reconstruction errors instead",
            )
            .of_method(self.method.key)
            .needing(Needed::Likelihood)
        })?;
        make(&self.tensors)
    }
}
