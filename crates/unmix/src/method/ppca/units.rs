//! The warning about the units of the columns, where the number of components depends on them.

use super::solution::Problem;
use crate::data::Features;

/// Share of the variance above which a column determines the first component nearly alone.
const DOMINANT_SHARE: f64 = 0.95;

impl Problem {
    /// The warning that one column has nearly all of the variance, on which the number of components selected by the Bayesian information
    /// criterion depends.
    pub(super) fn dominant_column(&self, variances: &[f64], features: &Features) -> Option<String> {
        let total: f64 = variances.iter().sum();
        let j = variances.iter().position(|v| !self.standardize && *v > DOMINANT_SHARE * total)?;
        Some(format!(
            "column {} has {:.0} % of the variance, and determines the first component nearly alone; standardize=true makes the result \
             independent of the units of the columns",
            features.listed(&[j]),
            (100.0 * variances[j] / total).floor()
        ))
    }
}
