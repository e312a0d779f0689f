//! Settings of matrix completion: names, allowed values, descriptions.

use crate::choices::{Automatic, choices};
use crate::model::{Kind, settings};
use serde::{Deserialize, Serialize};

settings! {
    /// Settings of [matrix completion](super): `MatrixCompletion { n_components: Some(8), ..Default::default() }.fit(&mut rows, &run)`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct MatrixCompletion {
        /// Maximum number of factors, not above the number of rows and of columns; factors that the observed cells do not support are left out. 0 for
        /// offsets alone; null to start with 10 and double the number while all of them are supported. With 'soft-impute' the maximum number, null
        /// for as many as the cells determine; with 'ppca-em' fewer than columns and rows, null for the number with the smallest Bayesian information
        /// criterion.
        pub n_components: Option<usize> = null, Kind::AnyOf(&[Kind::at_least(0), Kind::Null]), by_rows();
        /// The algorithm: 'als' for alternating least squares over the observed cells; 'soft-impute' for the convex problem with a nuclear norm
        /// penalty, which selects the number of factors; 'ppca-em' for maximum likelihood of probabilistic PCA, with rows as samples.
        pub algorithm: CompletionAlgorithm = "als", Kind::Words(CompletionAlgorithm::NAMES);
        /// Weight of the penalty on the factors: 'auto' for variational alternating least squares, which estimates the noise, the scales of factors
        /// and offsets, and the errors of all of them from the observed cells; or a number, the ridge penalty for each cell of a row and of a column, for
        /// cells in units of their standard deviation (without offsets, of their root mean square), 0 for none. With 'soft-impute', 'auto' for the one of at most 20 values with the smallest error on a held-out tenth of the cells, whose
        /// solution is the start of variational least squares; or a number, the weight of the nuclear norm relative to half the sum of squared
        /// residuals, in the units of the cells. 'ppca-em' has no penalty.
        pub alpha: Alpha = "auto", Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::AUTO]), such_as("0.1"), only(&[&[("algorithm", &["!\"ppca-em\""])]]);
        /// Fit an offset for every row and every column in addition to the factors; false for a model without mean and offsets.
        pub offsets: bool = true, Kind::BOOL;
        /// Convergence tolerance: the relative change, in an iteration, of the noise variance; with a number for `alpha`, of the mean square of the
        /// residuals; with 'soft-impute', of the penalised cost; with 'ppca-em', the increase of the mean log-likelihood per row, in nats.
        pub tol: f64 = 0.001, Kind::NON_NEGATIVE, such_as("1e-4");
        /// Maximum number of iterations.
        pub max_iter: u64 = 100, Kind::at_least(1);
    }
    pub(super) const SETTINGS;
}

choices! {
    /// The algorithm of the fit.
    pub enum CompletionAlgorithm {
        /// Alternating least squares, variational where `alpha` is `"auto"`.
        Als = "als",
        /// Least squares with a nuclear norm penalty.
        SoftImpute = "soft-impute",
        /// Expectation-maximisation of probabilistic PCA over the observed cells.
        PpcaEm = "ppca-em",
    }
}

/// Weight of the penalty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Alpha {
    /// This weight.
    Weight(f64),
    /// `"auto"`: estimated from the cells.
    Auto(Automatic),
}

impl Default for Alpha {
    fn default() -> Self {
        Alpha::Auto(Automatic::Auto)
    }
}
