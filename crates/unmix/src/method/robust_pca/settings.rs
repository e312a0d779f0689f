//! Robust PCA's settings: names, allowed values, descriptions.

use crate::choices::Automatic;
use crate::model::{Kind, settings};
use serde::{Deserialize, Serialize};

settings! {
    /// Settings of [robust PCA](super): `RobustPca { noise: Noise::Std(0.0), ..Default::default() }.fit(&mut rows, &run)`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct RobustPca {
        /// Weight of the l1 norm of the sparse part relative to the nuclear norm of the low-rank part; null for `1 / sqrt(max(n_samples, n_features) f)`,
        /// where `f` is the share of observed cells.
        pub alpha: Option<f64> = null, Kind::AnyOf(&[Kind::POSITIVE, Kind::Null]), such_as("0.05");
        /// Standard deviation of the noise in every cell; 0 for none: rows are then exactly low rank plus sparse. 'auto' is 0 if most cells have no
        /// residual in the exact decomposition, and is estimated otherwise.
        pub noise: Noise = "auto", Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::AUTO]), such_as("0.1");
        /// Convergence tolerance of the form without noise, for the primal residual: the norm of the rows minus both parts, relative to that of the
        /// rows. The relative dual residual must be below 100 times that. With noise, the relative change of both parts must be below 1000 times
        /// that.
        pub tol: f64 = 1e-07, Kind::NON_NEGATIVE, such_as("1e-7");
        /// Maximum number of iterations, of each convex problem that is solved.
        pub max_iter: u64 = 500, Kind::at_least(1);
        /// Subtract the median of every column. By default nothing is subtracted: column offsets then add 1 to the rank of the low-rank part.
        pub center: bool = false, Kind::BOOL;
        /// Divide every column by a robust standard deviation for the fit, so that results do not depend on units: 1.4826 times its median absolute
        /// deviation, or its root mean square deviation if that is 0. `noise` is then in these units; components and both parts are in those of the
        /// data.
        pub standardize: bool = false, Kind::BOOL;
    }
    pub(super) const SETTINGS;
}

/// The noise of the cells, in addition to the two parts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Noise {
    /// Its standard deviation; 0 for none.
    Std(f64),
    /// Estimated from the data.
    Auto(Automatic),
}

impl Default for Noise {
    fn default() -> Self {
        Noise::Auto(Automatic::Auto)
    }
}
