//! RICA's settings: names, allowed values, descriptions.

use crate::choices::Automatic;
use crate::elementwise::Penalty;
use crate::model::{Axis, Counted, Kind, settings};
use serde::{Deserialize, Serialize};

settings! {
    /// Settings of [RICA](super): `Rica { n_components: Some(64), ..Default::default() }.fit(&mut rows, &run)`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Rica {
        /// Number of features, which may exceed the number of columns; null for the rank of the rows.
        pub n_components: Option<usize> = null, Kind::AnyOf(&[Kind::at_least(1), Kind::Null]), by_rows(), null_is_all();
        /// Weight of the sparsity penalty relative to the reconstruction error, `1 / lambda` of Le et al. 'auto' is `0.2 / g''(0)` in whitened
        /// coordinates (0.2 for 'logcosh', 0.02 for 'smooth-l1'); with `whiten=false`, rows are first divided by the root mean square of their
        /// entries, and it is the smaller of 0.1 times the mean length of a row and 0.6 times the standard deviation along principal direction
        /// `n_components`, or along the last one if there are fewer.
        pub beta: Beta = "auto", Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::AUTO]), such_as("0.2");
        /// The penalty g that measures sparsity: `log(cosh(y))`, or `sqrt(y**2 + 0.01)`, which is nearer to the absolute value.
        pub contrast: Penalty = "logcosh", Kind::Words(Penalty::NAMES);
        /// Learn features in whitened coordinates, as many as the rank of the rows; if there are fewer rows than ten times the rank, as many as there
        /// are features, or a tenth of the rows if `n_components` is null. False for the coordinates of the columns.
        pub whiten: bool = true, Kind::BOOL;
        /// Constrain every feature to unit norm, in the coordinates in which it is learned. 'auto' does so if there are more features than
        /// directions: some of them would otherwise collapse to 0.
        pub unit_norm: UnitNorm = "auto", Kind::AnyOf(&[Kind::BOOL, Kind::AUTO]);
        /// Maximum number of iterations, without `batch_size`.
        pub max_iter: u64 = 1000, Kind::at_least(0), only(&[&[("batch_size", &["null"])]]);
        /// Convergence tolerance: the largest entry of the gradient, in units of the mean variance of a coordinate (1 where they are whitened); null
        /// for 1e-6 in double precision, 1e-4 in single.
        pub tol: Option<f64> = null, Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::Null]), such_as("1e-6"), only(&[&[("batch_size", &["null"])]]);
        /// Mini-batch size: five steps are taken on each batch, and the result is the mean over the batches of the last epoch; null for all rows at
        /// once.
        pub batch_size: Option<usize> = null, Kind::AnyOf(&[Kind::at_least(1), Kind::Null]);
        /// Maximum number of epochs; without `batch_size` it has no effect.
        pub max_epochs: u64 = 10, Kind::at_least(1), counting(Counted::Batches), only(&[&[("batch_size", &["*"])]]);
        /// Initial features, in the units of the components, such as those of an earlier fit; null for random orthonormal features, or random ones if
        /// there are more features than directions. Not recorded in the model file.
        pub w_init: Option<Vec<Vec<f64>>> = null, Kind::AnyOf(&[Kind::table(Axis::Components, Axis::Features), Kind::Null]);
        /// Subtract the mean.
        pub center: bool = true, Kind::BOOL;
        /// Divide every column by its standard deviation first, so that results do not depend on units.
        pub standardize: bool = false, Kind::BOOL;
    }
    pub(super) const SETTINGS;
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
