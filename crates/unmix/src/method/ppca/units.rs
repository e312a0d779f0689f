//! Warnings about the units of the columns, where the number of components depends on them.

use super::solution::Problem;
use crate::data::Features;

/// Share of the variance above which a column determines the components nearly alone.
const DOMINANT: f64 = 0.95;

impl Problem {
    /// Warnings about a number of components that the Bayesian information criterion selected: it is the largest possible one, or one column
    /// has nearly all of the variance.
    pub(super) fn warnings_of_units(
        &self,
        k: usize,
        most: usize,
        variances: &[f64],
        features: &Features,
    ) -> Vec<String> {
        let mut out = Vec::new();
        // Of two columns one component is the only choice.
        if k == most && most > 1 {
            let remedy = if self.standardize {
                ""
            } else {
                ", or standardize=true, if the units of the columns differ"
            };
            out.push(format!(
                "the Bayesian information criterion is best for {k} components, the largest number possible: the rows do not have the same \
                 noise variance in all columns; choose n_components{remedy}"
            ));
        }
        let total: f64 = variances.iter().sum();
        let dominant = variances.iter().position(|v| *v > DOMINANT * total);
        if let Some(j) = dominant.filter(|_| !self.standardize) {
            out.push(format!(
                "column {} has {:.1} % of the variance, and determines the components nearly alone; standardize=true makes the result \
                 independent of the units of the columns",
                features.listed(&[j]),
                100.0 * variances[j] / total
            ));
        }
        out
    }
}
