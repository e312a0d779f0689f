//! How many components are kept: all, a number, a share of the variance, or what a rule says.

use serde::{Deserialize, Serialize};

/// How many components to keep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Components {
    /// All, which is `min(n_samples, n_features)`.
    #[default]
    All,
    /// That many.
    Count(usize),
    /// The fewest whose share of the variance is greater than this, between 0 and 1.
    Share(f64),
    /// By a rule.
    Rule(Rule),
}

impl From<usize> for Components {
    fn from(k: usize) -> Self {
        Components::Count(k)
    }
}

/// A rule for the number of components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Laplace's approximation of the evidence (Minka 2000).
    Mle,
    /// The Bayesian information criterion of probabilistic PCA (Schwarz 1978).
    Bic,
    /// Parallel analysis by permutation (Horn 1965); holds the rows in memory.
    Parallel,
    /// The best hard threshold for singular values (Gavish & Donoho 2014).
    GavishDonoho,
    /// Bi-cross-validation (Owen & Perry 2009); holds the rows in memory.
    Cv,
}

impl Rule {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Mle => "mle",
            Rule::Bic => "bic",
            Rule::Parallel => "parallel",
            Rule::GavishDonoho => "gavish-donoho",
            Rule::Cv => "cv",
        }
    }
}

/// The fewest components whose cumulative share of `total` is strictly greater than `share`.
pub fn by_share(values: &[f64], total: f64, share: f64) -> usize {
    let mut sum = 0.0;
    for (i, v) in values.iter().enumerate() {
        sum += v / total;
        if sum > share {
            return i + 1;
        }
    }
    values.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_is_met_exactly_is_not_exceeded() {
        assert_eq!(by_share(&[2.0, 1.0, 1.0], 4.0, 0.5), 2);
        assert_eq!(by_share(&[2.0, 1.0, 1.0], 4.0, 0.49), 1);
    }
}
