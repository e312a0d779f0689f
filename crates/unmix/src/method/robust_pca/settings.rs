//! Robust PCA's settings: what they are called, what they may be, what they mean.

use crate::method::pca::Automatic;
use crate::model::{Kind, Setting};
use serde::{Deserialize, Serialize};

/// Settings of [robust PCA](super): `RobustPca { noise: Noise::Std(0.0), ..Default::default() }.fit(&mut rows, &run)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RobustPca {
    /// Weight of the sparse part; `1 / sqrt(max(n, p) f)` by default, `f` the share of cells that are there.
    pub alpha: Option<f64>,
    /// Standard deviation of the noise.
    pub noise: Noise,
    /// Convergence tolerance: what the constraint misses, relatively.
    pub tol: f64,
    /// Maximum number of iterations.
    pub max_iter: u64,
    /// Subtract the median of every column first.
    pub center: bool,
}

impl Default for RobustPca {
    fn default() -> Self {
        Self { alpha: None, noise: Noise::default(), tol: 1e-7, max_iter: 500, center: false }
    }
}

/// The noise of the cells beside the two parts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Noise {
    /// Its standard deviation; 0 for none.
    Std(f64),
    /// By the data.
    Auto(Automatic),
}

impl Default for Noise {
    fn default() -> Self {
        Noise::Auto(Automatic::Auto)
    }
}

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "alpha",
        Kind::AnyOf(&[Kind::POSITIVE, Kind::Null]),
        "null",
        "Weight of the sparse part against the nuclear norm of the low-rank part; null for `1 / sqrt(max(n_samples, n_features) f)`, `f` the \
         share of cells that are not missing.",
    )
    .such_as("0.05"),
    Setting::new(
        "noise",
        Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::Words(&["auto"])]),
        "\"auto\"",
        "Standard deviation of the noise in every cell; 0 for none: rows are then low rank plus sparse exactly. 'auto' takes 0 where the \
         exact form leaves nothing in most cells, and else estimates it.",
    )
    .such_as("0.1"),
    Setting::new(
        "tol",
        Kind::NON_NEGATIVE,
        "1e-07",
        "Convergence tolerance of the exact form: the norm of rows less both parts, as a share of that of the rows; the change of the sparse \
         part is bounded by 100 times that. With noise, iterations end at a change of 1000 times that.",
    )
    .such_as("1e-7"),
    Setting::new("max_iter", Kind::at_least(1), "500", "Maximum number of iterations, of each convex problem that is solved."),
    Setting::new(
        "center",
        Kind::Bool,
        "false",
        "Subtract the median of every column. By default nothing is subtracted: offsets of columns are one more rank of the low-rank part.",
    ),
];
