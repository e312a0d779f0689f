//! PPCA's settings: names, allowed values, descriptions.

use crate::model::{Condition, Kind, Setting};
use crate::spectrum::Components;
use serde::{Deserialize, Serialize};

/// Settings of [PPCA](super): `Ppca { n_components: 5.into(), ..Default::default() }.fit(&mut rows, &run)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ppca {
    /// Number of components; by default selected by the Bayesian information criterion, at least 1.
    pub n_components: Components,
    /// Algorithm that maximises the likelihood.
    pub algorithm: Algorithm,
    /// Lower bound of the noise variance, as a fraction of the mean variance of a column.
    pub noise_floor: f64,
    /// Convergence tolerance of the iterations: the increase of the mean log-likelihood of a row, in nats.
    pub tol: f64,
    /// Maximum number of iterations.
    pub max_iter: u64,
    /// Divide every column by its standard deviation first.
    pub standardize: bool,
}

impl Default for Ppca {
    fn default() -> Self {
        Self {
            n_components: Components::All,
            algorithm: Algorithm::Auto,
            noise_floor: 0.0,
            tol: 1e-8,
            max_iter: 1000,
            standardize: false,
        }
    }
}

/// Algorithm that maximises the likelihood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Algorithm {
    /// In closed form, by iterations where cells are missing.
    #[default]
    Auto,
    /// In closed form: by the spectrum of the covariance.
    ClosedForm,
    /// By expectation-maximisation.
    Em,
}

pub(crate) const N_COMPONENTS: Setting = Setting::new(
    "n_components",
    Kind::AnyOf(&[Kind::at_least(0), Kind::Words(&["aic", "bic", "cells"]), Kind::Null]),
    "null",
    "Number of components, less than the numbers of columns and of rows; 0 for noise alone; null to select it by the Bayesian information \
     criterion, at least 1; 'aic' or 'bic' to compare fits with several numbers by that criterion, 'cells' by the prediction of held-out \
     cells.",
)
.by_rows();

pub(crate) const NOISE_FLOOR: Setting = Setting::new(
    "noise_floor",
    Kind::NON_NEGATIVE,
    "0.0",
    "Lower bound of the noise variance, as a share of the mean variance of a column. With 0, rows without residual variance are \
     refused, because their likelihood is unbounded; 1e-8 keeps it finite.",
)
.such_as("1e-8");

pub(crate) const TOL: Setting = Setting::new(
    "tol",
    Kind::NON_NEGATIVE,
    "1e-08",
    "Convergence tolerance of the iterations: the increase of the mean log-likelihood of a row, in nats. The closed form has none.",
)
.such_as("1e-8");

pub(crate) const MAX_ITER: Setting =
    Setting::new("max_iter", Kind::at_least(1), "1000", "Maximum number of iterations.");

pub(crate) const STANDARDIZE: Setting = Setting::new(
    "standardize",
    Kind::Bool,
    "false",
    "Divide every column by its standard deviation first, so that results do not depend on units.",
);

pub(super) const SETTINGS: &[Setting] = &[
    N_COMPONENTS,
    Setting::new(
        "algorithm",
        Kind::Words(&["auto", "closed-form", "em"]),
        "\"auto\"",
        "Algorithm that maximises the likelihood: 'closed-form' from the spectrum of the covariance, for rows without missing cells; \
         'em' for expectation-maximisation (PX-EM) over the observed cells; 'auto' for the first, or for the second if cells are \
         missing.",
    ),
    NOISE_FLOOR,
    TOL.only(ITERATED),
    MAX_ITER.only(ITERATED),
    STANDARDIZE,
];

/// As resolved: 'auto' is 'em' for rows with missing cells.
const ITERATED: &[&[Condition]] = &[&[("algorithm", &["\"em\""])]];
