//! PCA's settings: names, allowed values, descriptions.

use crate::choices::{Automatic, choices};
use crate::model::{Kind, NEVER, settings};
use crate::spectrum::{Components, RULE_NAMES, Solver};
use serde::{Deserialize, Serialize};

settings! {
    /// Settings of [PCA](super): `Pca { n_components: 10.into(), ..Default::default() }.fit(&mut rows, &run)`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Pca {
        /// Number of components to keep: a number; a share of the variance between 0 and 1 (the fewest components that explain more); null for all,
        /// `min(n_samples, n_features)`; or a rule: 'minka' ('mle' is the same, for at least as many rows as columns), 'bic', 'gavish-donoho' (the
        /// optimal threshold for denoising), 'gap' and 'gap-difference' (the largest ratio and difference of successive variances), 'parallel'
        /// (parallel analysis) or 'cv' (bi-cross-validation); the last two hold the rows in memory. 'share-0.9' is the share 0.9.
        pub n_components: Components = null,
            Kind::AnyOf(&[Kind::at_least(0), Kind::SHARE, Kind::SHARE_NAME, Kind::Words(&RULE_NAMES), Kind::Null]), by_rows(),
            null_is_all();
        /// Accepted for compatibility with scikit-learn; arrays are never modified, whatever its value.
        python copy = true, Kind::BOOL, only(NEVER), also_accepts(&["false"]);
        /// Divide codes by the standard deviation along each component. 'zca' then rotates them back: one whitened number for each column, as close
        /// to the (scaled) column as possible.
        pub whiten: Whiten = false, Kind::AnyOf(&[Kind::BOOL, Kind::Words(Zca::NAMES)]);
        /// Solver of the spectrum: 'full' by singular values (small ones accurate), 'covariance_eigh' by the eigenvalues of a scatter matrix,
        /// 'auto' by one of these two, according to the shape of the data ('krylov' for a few components of large sparse rows), always exact. The
        /// others compute the first components only: 'krylov' (and 'arpack', the same within scikit-learn's limits) by block Lanczos to rounding
        /// level, 'randomized' approximately, 'power' by orthogonal iteration of a block, 'deflation' by power iteration, one component after
        /// another.
        pub svd_solver: Solver = "auto", Kind::Words(Solver::NAMES);
        /// Convergence tolerance of the iterative solvers: the largest residual, as a fraction of the first variance; 0 for rounding level.
        pub tol: f64 = 0.0,
            Kind::NON_NEGATIVE, such_as("1e-6"),
            only(&[&[("svd_solver", &["\"arpack\"", "\"krylov\"", "\"randomized\"", "\"power\"", "\"deflation\""])]]);
        /// Number of iterations of 'randomized' ('auto': 7 for fewer than a tenth of the components, else 4); maximum number of iterations of 'power'
        /// and 'deflation' for a component ('auto': 1000).
        pub iterated_power: Iterations = "auto",
            Kind::AnyOf(&[Kind::at_least(0), Kind::AUTO]),
            only(&[&[("svd_solver", &["\"randomized\"", "\"power\"", "\"deflation\""])]]);
        /// Number of additional directions that 'randomized' and 'power' iterate on.
        pub n_oversamples: usize = 10, Kind::at_least(0), only(&[&[("svd_solver", &["\"randomized\"", "\"power\""])]]);
        /// Accepted for compatibility with scikit-learn; directions are always orthonormalised by QR.
        python power_iteration_normalizer = "auto", Kind::Words(&["auto", "QR", "LU", "none"]), only(NEVER), also_accepts(&["\"QR\""]);
        /// Subtract the mean; false for directions of the largest second moment about 0.
        pub center: bool = true, Kind::BOOL;
        /// Divide every column by its standard deviation first, so that results do not depend on units.
        pub standardize: bool = false, Kind::BOOL;
    }
    pub(super) const SETTINGS;
}

/// Scaling of codes to unit variance, and their rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Whiten {
    /// Codes divided by the standard deviation along each component, or not.
    Scaled(bool),
    /// Then rotated back to the columns: one whitened number for each column, as close to the (scaled) column
    /// as possible.
    Rotated(Zca),
}

choices! {
    /// The string `"zca"`.
    pub enum Zca {
        /// Zero-phase component analysis (Bell & Sejnowski 1997).
        Zca = "zca",
    }
}

impl Default for Whiten {
    fn default() -> Self {
        Whiten::Scaled(false)
    }
}

impl From<bool> for Whiten {
    fn from(scaled: bool) -> Self {
        Whiten::Scaled(scaled)
    }
}

/// Number of iterations of the solvers that iterate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Iterations {
    /// A given number.
    Count(u64),
    /// `"auto"`: for `randomized` 7 if fewer than a tenth of the components are requested, otherwise 4; for `power` and `deflation`
    /// at most 1000.
    Auto(Automatic),
}

impl Default for Iterations {
    fn default() -> Self {
        Iterations::Auto(Automatic::Auto)
    }
}

impl Iterations {
    pub(super) fn count(&self) -> Option<u64> {
        match self {
            Iterations::Count(n) => Some(*n),
            Iterations::Auto(_) => None,
        }
    }
}
