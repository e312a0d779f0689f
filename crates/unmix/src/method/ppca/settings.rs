//! PPCA's settings: names, allowed values, descriptions.

use crate::choices::choices;
use crate::model::{Condition, Kind, settings};
use crate::spectrum::{Components, Rule};
use serde::{Deserialize, Serialize};

settings! {
    /// Settings of [PPCA](super): `Ppca { n_components: 5.into(), ..Default::default() }.fit(&mut rows, &run)`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Ppca {
        /// Number of components, less than the numbers of columns and of rows; 0 for noise alone; null to select it by the Bayesian information
        /// criterion, at least 1; 'aic' or 'bic' to compare fits with several numbers by that criterion, 'cells' by the prediction of held-out cells.
        pub n_components: Components = null, Kind::AnyOf(&[Kind::at_least(0), Kind::Words(RULES), Kind::Null]), by_rows();
        /// Algorithm that maximises the likelihood: 'closed-form' from the spectrum of the covariance, for rows without missing cells; 'em' for
        /// expectation-maximisation (PX-EM) over the observed cells; 'auto' for the first, or for the second if cells are missing.
        pub algorithm: Algorithm = "auto", Kind::Words(Algorithm::NAMES);
        /// Lower bound of the noise variance, as a share of the mean variance of a column. With 0, rows without residual variance are refused,
        /// because their likelihood is unbounded; 1e-8 keeps it finite.
        pub noise_floor: f64 = 0.0, Kind::NON_NEGATIVE, such_as("1e-8");
        /// Convergence tolerance of the iterations: the increase of the mean log-likelihood of a row, in nats. The closed form has none.
        pub tol: f64 = 1e-08, Kind::NON_NEGATIVE, such_as("1e-8"), only(ITERATED);
        /// Maximum number of iterations.
        pub max_iter: u64 = 1000, Kind::at_least(1), only(ITERATED);
        /// Divide every column by its standard deviation first, so that results do not depend on units.
        pub standardize: bool = false, Kind::BOOL;
    }
    pub(in crate::method) const SETTINGS;
}

/// The rules for the number of components.
const RULES: &[&str] = &[Rule::Aic.name(), Rule::Bic.name(), Rule::Cells.name()];
/// As resolved: 'auto' is 'em' for rows with missing cells.
const ITERATED: &[&[Condition]] = &[&[("algorithm", &["\"em\""])]];

choices! {
    /// Algorithm that maximises the likelihood.
    #[derive(Default)]
    pub enum Algorithm {
        /// In closed form, by iterations where cells are missing.
        #[default]
        Auto = "auto",
        /// In closed form: by the spectrum of the covariance.
        ClosedForm = "closed-form",
        /// By expectation-maximisation.
        Em = "em",
    }
}
