//! RICA's settings: names, allowed values, descriptions.

use crate::elementwise::Penalty;
use crate::method::pca::Automatic;
use crate::model::{Kind, Setting};
use serde::{Deserialize, Serialize};

/// Settings of [RICA](super): `Rica { n_components: Some(64), ..Default::default() }.fit(&mut rows, &run)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rica {
    /// Number of features; as many as there are directions by default.
    pub n_components: Option<usize>,
    /// Weight of the sparsity penalty against the reconstruction error.
    pub beta: Beta,
    /// The sparsity penalty.
    pub contrast: Penalty,
    /// Whether features are learned in whitened coordinates, or in those of the columns.
    pub whiten: bool,
    /// Constraint of every feature to unit norm.
    pub unit_norm: UnitNorm,
    /// Maximum number of iterations, without batch_size.
    pub max_iter: u64,
    /// Convergence tolerance: the largest entry of the gradient, in units of the mean variance of a coordinate; 1e-6 in double
    /// precision and 1e-4 in single by default.
    pub tol: Option<f64>,
    /// Mini-batch size, with a few steps of the search on each batch; all rows at once by default.
    pub batch_size: Option<usize>,
    /// Maximum number of epochs.
    pub max_epochs: u64,
    /// Initial features, in the units of `components`; random unless given.
    pub w_init: Option<Vec<Vec<f64>>>,
    /// Whether the mean is subtracted.
    pub center: bool,
    /// Whether every column is first divided by its standard deviation.
    pub standardize: bool,
}

impl Default for Rica {
    fn default() -> Self {
        Self {
            n_components: None,
            beta: Beta::default(),
            contrast: Penalty::LogCosh,
            whiten: true,
            unit_norm: UnitNorm::default(),
            max_iter: 1000,
            tol: None,
            batch_size: None,
            max_epochs: 10,
            w_init: None,
            center: true,
            standardize: false,
        }
    }
}

/// Weight of the sparsity penalty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Beta {
    /// A number; 0 for reconstruction alone.
    Weight(f64),
    /// Chosen from the data: `0.2 / g''(0)` in whitened coordinates; in those of the columns the smaller of `0.1 E||x||`
    /// and `0.6` standard deviations along principal direction `n_components`, or along the last one if there are fewer.
    Auto(Automatic),
}

impl Default for Beta {
    fn default() -> Self {
        Beta::Auto(Automatic::Auto)
    }
}

/// Constraint of features to unit norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum UnitNorm {
    /// Unit norm, or free lengths.
    Always(bool),
    /// Unit norm if there are more features than directions, some of which would otherwise become 0.
    Auto(Automatic),
}

impl Default for UnitNorm {
    fn default() -> Self {
        UnitNorm::Auto(Automatic::Auto)
    }
}

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "n_components",
        Kind::AnyOf(&[Kind::at_least(1), Kind::Null]),
        "null",
        "Number of features, which may exceed the number of columns; null for the rank of the rows.",
    )
    .by_rows(),
    Setting::new(
        "beta",
        Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::Words(&["auto"])]),
        "\"auto\"",
        "Weight of the sparsity penalty against the reconstruction error, `1 / lambda` of Le et al. 'auto' is `0.2 / g''(0)` in \
         whitened coordinates (0.2 for 'logcosh', 0.02 for 'smooth-l1'); with `whiten=false`, rows are first divided by the root mean square \
         of their entries, and it is the smaller of 0.1 times the mean length of a row and 0.6 times the standard deviation along principal \
         direction `n_components`, or along the last one if there are fewer.",
    )
    .such_as("0.2"),
    Setting::new(
        "contrast",
        Kind::Words(&["logcosh", "smooth-l1"]),
        "\"logcosh\"",
        "The penalty g that measures sparsity: `log(cosh(y))`, or `sqrt(y**2 + 0.01)`, which is nearer to the absolute value.",
    ),
    Setting::new(
        "whiten",
        Kind::Bool,
        "true",
        "Learn features in whitened coordinates, as many as the rank of the rows; if there are fewer rows than ten times the rank, as many as \
         there are features, or a tenth of the rows if `n_components` is null. False for the coordinates of the columns.",
    ),
    Setting::new(
        "unit_norm",
        Kind::AnyOf(&[Kind::Bool, Kind::Words(&["auto"])]),
        "\"auto\"",
        "Constrain every feature to unit norm, in the coordinates in which it is learned. 'auto' does so if there are more features than \
         directions: some of them would otherwise collapse to 0.",
    ),
    Setting::new("max_iter", Kind::at_least(0), "1000", "Maximum number of iterations, without `batch_size`.")
        .only(&[&[("batch_size", &["null"])]]),
    Setting::new(
        "tol",
        Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::Null]),
        "null",
        "Convergence tolerance: the largest entry of the gradient, in units of the mean variance of a coordinate (1 where they \
         are whitened); null for 1e-6 in double precision, 1e-4 in single.",
    )
    .such_as("1e-6")
    .only(&[&[("batch_size", &["null"])]]),
    Setting::new(
        "batch_size",
        Kind::AnyOf(&[Kind::at_least(1), Kind::Null]),
        "null",
        "Mini-batch size: five steps are taken on each batch, and the result is the mean over the batches of the last epoch; null for \
         all rows at once.",
    ),
    Setting::new(
        "max_epochs",
        Kind::at_least(1),
        "10",
        "Maximum number of epochs; without `batch_size` it has no effect.",
    )
    .only(&[&[("batch_size", &["*"])]]),
    Setting::new(
        "w_init",
        Kind::AnyOf(&[Kind::Table("(n_components, n_features)"), Kind::Null]),
        "null",
        "Initial features, in the units of the components, such as those of an earlier fit; null for random orthonormal features, or random \
         ones if there are more features than directions. Not recorded in the model file.",
    ),
    Setting::new("center", Kind::Bool, "true", "Subtract the mean."),
    Setting::new(
        "standardize",
        Kind::Bool,
        "false",
        "Divide every column by its standard deviation first, so that results do not depend on units.",
    ),
];
