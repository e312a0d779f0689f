//! Settings of factor analysis: names, allowed values, descriptions.

use crate::model::{Condition, Kind, Setting};
use crate::spectrum::Components;
use serde::{Deserialize, Serialize};

/// Settings of [factor analysis](super): `FactorAnalysis { n_components: 3.into(), ..Default::default() }.fit(&mut rows, &run)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FactorAnalysis {
    /// Number of factors.
    pub n_components: Components,
    /// Convergence tolerance on the predicted remaining increase of the log-likelihood of all rows, in nats.
    pub tol: f64,
    /// Maximum number of iterations.
    pub max_iter: u64,
    /// Initial uniquenesses, one for each column.
    pub noise_variance_init: Option<Vec<f64>>,
    /// Rotation of the factors.
    pub rotation: Option<Rotation>,
    /// Divide the loadings of every column by the root of its communality during the rotation.
    pub rotation_normalize: bool,
    /// Algorithm that maximises the likelihood.
    pub algorithm: FactorAlgorithm,
    /// Prior of the loadings, or of the factors.
    pub prior: FactorPrior,
    /// Weight of the loadings' prior.
    pub l1: f64,
    /// Lower bound of the uniquenesses.
    pub noise_floor: NoiseFloor,
    /// Estimator of the factor scores, which are the codes.
    pub scores: Scores,
    /// Divide every column by its standard deviation first.
    pub standardize: bool,
}

impl Default for FactorAnalysis {
    fn default() -> Self {
        Self {
            n_components: Components::All,
            tol: 1e-2,
            max_iter: 1000,
            noise_variance_init: None,
            rotation: None,
            rotation_normalize: false,
            algorithm: FactorAlgorithm::Newton,
            prior: FactorPrior::None,
            l1: 0.01,
            noise_floor: NoiseFloor::default(),
            scores: Scores::Regression,
            standardize: false,
        }
    }
}

/// Algorithm that maximises the likelihood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FactorAlgorithm {
    /// Newton's method on the likelihood as a function of the uniquenesses alone.
    Newton,
    /// Expectation-maximisation.
    Em,
}

/// Prior that makes loadings or factors sparse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FactorPrior {
    /// Gaussian factors, and maximum-likelihood loadings.
    None,
    /// Gaussian factors, and a Laplace prior of the loadings, at the posterior mode: a lasso of the loadings.
    LaplaceLoadings,
    /// Factors with density `exp(-abs(z)) / 2`.
    Laplace,
    /// Factors with density proportional to `1 / abs(z)`.
    Jeffreys,
}

impl FactorPrior {
    /// Whether it is a prior of the factors.
    pub fn of_factors(self) -> bool {
        matches!(self, FactorPrior::Laplace | FactorPrior::Jeffreys)
    }
}

/// Rotation of the factors, which does not change the likelihood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Rotation {
    /// Orthogonal: maximises the variances of the squared loadings of the factors (Kaiser 1958).
    Varimax,
    /// Orthogonal: maximises the sum of fourth powers of the loadings (Neuhaus & Wrigley 1954).
    Quartimax,
    /// Orthogonal: the orthomax criterion with weight `k / 2`, which gives factors of similar size (Saunders 1962).
    Equamax,
    /// Oblique: least squares towards the fourth powers of the varimax loadings (Hendrickson & White 1964).
    Promax,
    /// Oblique: minimises the products of squared loadings of the same column, oblimin with gamma 0 (Jennrich & Sampson 1966).
    Oblimin,
    /// Oblique: minimises the geometric means of the squared loadings of the columns (Yates 1987).
    Geomin,
}

/// Lower bound of the uniquenesses, as a fraction of the variance of the column.
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

/// The string `"auto"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Automatic {
    /// The string `"auto"`.
    Auto,
}

impl Default for NoiseFloor {
    fn default() -> Self {
        NoiseFloor::Auto(Automatic::Auto)
    }
}

/// Estimator of the factor scores, which are the codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Scores {
    /// Posterior means of the factors (Thomson 1951): shrunk towards 0, with the smallest mean squared error.
    Regression,
    /// Weighted least squares (Bartlett 1937): unbiased, with a larger variance.
    Bartlett,
}

/// Condition of settings that have no effect with a prior, which determines the rotation, the algorithm and the scores.
const WITHOUT_PRIOR: &[&[Condition]] = &[&[("prior", &["\"none\""])]];

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "n_components",
        Kind::AnyOf(&[Kind::at_least(0), Kind::Words(&["aic", "bic", "cells", "parallel"]), Kind::Null]),
        "null",
        "Number of factors: a number; null for `min(n_samples, n_features)`, a saturated model; 'aic' or 'bic' for the number that \
         minimises this criterion; 'cells' for the number that predicts held-out cells best; 'parallel' for parallel analysis of the \
         correlations, which holds the rows in memory.",
    )
    .by_rows(),
    Setting::new(
        "tol",
        Kind::NON_NEGATIVE,
        "0.01",
        "Convergence tolerance on the predicted remaining increase of the log-likelihood of all rows, in nats.",
    )
    .such_as("1e-6"),
    Setting::new(
        "copy",
        Kind::Bool,
        "true",
        "Accepted for compatibility with scikit-learn; arrays are never modified, whatever its value.",
    )
    .python_only(),
    Setting::new("max_iter", Kind::at_least(1), "1000", "Maximum number of iterations."),
    Setting::new(
        "noise_variance_init",
        Kind::AnyOf(&[Kind::PerColumn(&Kind::POSITIVE), Kind::Null]),
        "null",
        "Initial uniqueness (noise variance) of each column; null for a fraction of its residual variance given the other columns.",
    ),
    Setting::new(
        "svd_method",
        Kind::Words(&["lapack", "randomized"]),
        "\"randomized\"",
        "Accepted for compatibility with scikit-learn; eigenvectors are always exact.",
    )
    .python_only(),
    Setting::new(
        "iterated_power",
        Kind::at_least(0),
        "3",
        "Accepted for compatibility with scikit-learn, as 'svd_method' is.",
    )
    .python_only(),
    Setting::new(
        "rotation",
        Kind::AnyOf(&[
            Kind::Words(&["varimax", "quartimax", "equamax", "promax", "oblimin", "geomin"]),
            Kind::Null,
        ]),
        "null",
        "Rotation of the factors: orthogonal ('varimax', 'quartimax', 'equamax') or oblique, with correlated factors ('promax', 'oblimin', \
         'geomin'); null for the unrotated factors, uncorrelated given the rows and in decreasing order of size.",
    )
    .only(WITHOUT_PRIOR),
    Setting::new(
        "rotation_normalize",
        Kind::Bool,
        "false",
        "Divide the loadings of every column by the root of its communality during the rotation (Kaiser normalisation).",
    )
    .only(&[&[("rotation", &["*"]), ("prior", &["\"none\""])]]),
    Setting::new(
        "algorithm",
        Kind::Words(&["newton", "em"]),
        "\"newton\"",
        "Algorithm that maximises the likelihood: 'newton', Newton's method on the uniquenesses alone, or 'em', expectation-maximisation, \
         which needs many more iterations.",
    )
    .only(WITHOUT_PRIOR),
    Setting::new(
        "prior",
        Kind::Words(&["none", "laplace-loadings", "laplace", "jeffreys"]),
        "\"none\"",
        "Prior that makes loadings or factors sparse: 'laplace-loadings', a Laplace prior of the loadings with weight `l1`, for which many of them are \
         0; 'laplace' or 'jeffreys', a prior of the factors with density `exp(-abs(z)) / 2` or proportional to `1 / abs(z)`, with posteriors by a \
         variational bound; 'none' for maximum likelihood.",
    ),
    Setting::new(
        "l1",
        Kind::NON_NEGATIVE,
        "0.01",
        "Weight of the prior of the loadings: the mean log-likelihood of the rows minus `l1` times the sum of the absolute loadings, each in \
         units of the standard deviation of its column, is maximised.",
    )
    .only(&[&[("prior", &["\"laplace-loadings\""])]]),
    Setting::new(
        "noise_floor",
        Kind::AnyOf(&[Kind::Share, Kind::Words(&["auto"])]),
        "\"auto\"",
        "Lower bound of the uniquenesses, as a share of the variance of the column; 'auto' for a hundredth of the residual variance of the \
         column given the others, at least 1e-6, and for 0.01 with a prior of the factors. Columns at this bound are Heywood cases, which \
         are reported.",
    )
    .such_as("0.01"),
    Setting::new(
        "scores",
        Kind::Words(&["regression", "bartlett"]),
        "\"regression\"",
        "Factor scores, which are the codes: 'regression', posterior means of the factors (Thomson), or 'bartlett', weighted least squares.",
    )
    .only(WITHOUT_PRIOR),
    Setting::new(
        "standardize",
        Kind::Bool,
        "false",
        "Divide every column by its standard deviation (divisor `n_samples`) first, so that loadings are the correlations between columns and uncorrelated \
         factors. The likelihood does not change.",
    ),
];
