//! Settings of factor analysis: names, allowed values, descriptions.

use crate::choices::{Automatic, choices};
use crate::model::{Condition, Kind, NEVER, settings};
use crate::spectrum::{Components, Rule};
use serde::{Deserialize, Serialize};

settings! {
    /// Settings of [factor analysis](super): `FactorAnalysis { n_components: 3.into(), ..Default::default() }.fit(&mut rows, &run)`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct FactorAnalysis {
        /// Number of factors: a number; null for `min(n_samples, n_features)`, a saturated model; 'aic' or 'bic' for the number that minimises this
        /// criterion; 'cells' for the number that predicts held-out cells best; 'parallel' for parallel analysis of the correlations, which holds the
        /// rows in memory.
        pub n_components: Components = null, Kind::AnyOf(&[Kind::at_least(0), Kind::Words(RULES), Kind::Null]), by_rows(),
            null_is_all();
        /// Convergence tolerance on the predicted remaining increase of the log-likelihood of all rows, in nats.
        pub tol: f64 = 0.01, Kind::NON_NEGATIVE, such_as("1e-6");
        /// Accepted for compatibility with scikit-learn; arrays are never modified, whatever its value.
        python copy = true, Kind::BOOL, only(NEVER), also_accepts(&["false"]);
        /// Maximum number of iterations.
        pub max_iter: u64 = 1000, Kind::at_least(1);
        /// Initial uniqueness (noise variance) of each column; null for a fraction of its residual variance given the other columns.
        pub noise_variance_init: Option<Vec<f64>> = null, Kind::AnyOf(&[Kind::per_column(&Kind::POSITIVE), Kind::Null]);
        /// Accepted for compatibility with scikit-learn; eigenvectors are always exact.
        python svd_method = "randomized", Kind::Words(&["lapack", "randomized"]), only(NEVER), also_accepts(&["\"lapack\""]);
        /// Accepted for compatibility with scikit-learn, as 'svd_method' is.
        python iterated_power = 3, Kind::at_least(0), only(NEVER);
        /// Rotation of the factors: orthogonal ('varimax', 'quartimax', 'equamax') or oblique, with correlated factors ('promax', 'oblimin',
        /// 'geomin'); null for the unrotated factors, uncorrelated given the rows and in decreasing order of size.
        pub rotation: Option<Rotation> = null, Kind::AnyOf(&[Kind::Words(Rotation::NAMES), Kind::Null]), only(WITHOUT_PRIOR);
        /// Divide the loadings of every column by the root of its communality during the rotation (Kaiser normalisation).
        pub rotation_normalize: bool = false, Kind::BOOL, only(&[&[("rotation", &["*"]), ("prior", &["\"none\""])]]);
        /// Algorithm that maximises the likelihood: 'newton', Newton's method on the uniquenesses alone, or 'em', expectation-maximisation, which
        /// needs many more iterations.
        pub algorithm: FactorAlgorithm = "newton", Kind::Words(FactorAlgorithm::NAMES), only(WITHOUT_PRIOR);
        /// Prior that makes loadings or factors sparse: 'laplace-loadings', a Laplace prior of the loadings with weight `l1`, for which many of them
        /// are 0; 'laplace' or 'jeffreys', a prior of the factors with density `exp(-abs(z)) / 2` or proportional to `1 / abs(z)`, with posteriors by
        /// a variational bound, for which all rows are held in memory; 'none' for maximum likelihood.
        pub prior: FactorPrior = "none", Kind::Words(FactorPrior::NAMES);
        /// Weight of the prior of the loadings: the mean log-likelihood of the rows minus `l1` times the sum of the absolute loadings, each in units
        /// of the standard deviation of its column, is maximised.
        pub l1: f64 = 0.01, Kind::NON_NEGATIVE, only(&[&[("prior", &["\"laplace-loadings\""])]]);
        /// Lower bound of the uniquenesses, as a share of the variance of the column; 'auto' for a hundredth of the residual variance of the column
        /// given the others, at least 1e-6, and for 0.01 with a prior of the factors. Columns at this bound are Heywood cases, which are reported.
        pub noise_floor: NoiseFloor = "auto", Kind::AnyOf(&[Kind::SHARE, Kind::AUTO]), such_as("0.01");
        /// Factor scores, which are the codes: 'regression', posterior means of the factors (Thomson), or 'bartlett', weighted least squares.
        pub scores: Scores = "regression", Kind::Words(Scores::NAMES), only(WITHOUT_PRIOR);
        /// Divide every column by its standard deviation (divisor `n_samples`) first, so that loadings are the correlations between columns and
        /// uncorrelated factors. The likelihood does not change.
        pub standardize: bool = false, Kind::BOOL;
    }
    pub(super) const SETTINGS;
}

choices! {
    /// Algorithm that maximises the likelihood.
    pub enum FactorAlgorithm {
        /// Newton's method on the likelihood as a function of the uniquenesses alone.
        Newton = "newton",
        /// Expectation-maximisation.
        Em = "em",
    }
}

choices! {
    /// Prior that makes loadings or factors sparse.
    pub enum FactorPrior {
        /// Gaussian factors, and maximum-likelihood loadings.
        None = "none",
        /// Gaussian factors, and a Laplace prior of the loadings, at the posterior mode: a lasso of the loadings.
        LaplaceLoadings = "laplace-loadings",
        /// Factors with density `exp(-abs(z)) / 2`.
        Laplace = "laplace",
        /// Factors with density proportional to `1 / abs(z)`.
        Jeffreys = "jeffreys",
    }
}

impl FactorPrior {
    /// Whether it is a prior of the factors.
    pub fn of_factors(self) -> bool {
        matches!(self, FactorPrior::Laplace | FactorPrior::Jeffreys)
    }
}

choices! {
    /// Rotation of the factors, which does not change the likelihood.
    pub enum Rotation {
        /// Orthogonal: maximises the variances of the squared loadings of the factors (Kaiser 1958).
        Varimax = "varimax",
        /// Orthogonal: maximises the sum of fourth powers of the loadings (Neuhaus & Wrigley 1954).
        Quartimax = "quartimax",
        /// Orthogonal: the orthomax criterion with weight `k / 2`, which gives factors of similar size (Saunders 1962).
        Equamax = "equamax",
        /// Oblique: least squares towards the fourth powers of the varimax loadings (Hendrickson & White 1964).
        Promax = "promax",
        /// Oblique: minimises the products of squared loadings of the same column, oblimin with gamma 0 (Jennrich & Sampson 1966).
        Oblimin = "oblimin",
        /// Oblique: minimises the geometric means of the squared loadings of the columns (Yates 1987).
        Geomin = "geomin",
    }
}

/// Lower bound of the uniquenesses, as a share of the variance of the column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum NoiseFloor {
    /// This share.
    Share(f64),
    /// `"auto"`: a hundredth of the residual variance of the column given the others, at least `1e-6`; 0.01 with a prior of the
    /// factors.
    Auto(Automatic),
}

impl Default for NoiseFloor {
    fn default() -> Self {
        NoiseFloor::Auto(Automatic::Auto)
    }
}

choices! {
    /// Estimator of the factor scores, which are the codes.
    pub enum Scores {
        /// Posterior means of the factors (Thomson 1951): shrunk towards 0, with the smallest mean squared error.
        Regression = "regression",
        /// Weighted least squares (Bartlett 1937): unbiased, with a larger variance.
        Bartlett = "bartlett",
    }
}

/// The rules for the number of factors.
const RULES: &[&str] = &[Rule::Aic.name(), Rule::Bic.name(), Rule::Cells.name(), Rule::Parallel.name()];
/// Condition of settings that have no effect with a prior, which determines the rotation, the algorithm and the scores.
const WITHOUT_PRIOR: &[&[Condition]] = &[&[("prior", &["\"none\""])]];
