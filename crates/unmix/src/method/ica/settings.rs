//! ICA's settings: names, allowed values, descriptions.

use crate::choices::choices;
use crate::ica::Order;
use crate::method::pca::Components;
use crate::model::{Axis, FitKind, Kind, settings};
use crate::stats::Contrast;
use serde::{Deserialize, Serialize};

settings! {
    /// Settings of [ICA](super).
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Ica {
        /// Number of sources: a number; a share of the variance between 0 and 1 (the fewest directions that explain more); or null for the rank of
        /// the rows. Never more than the rank: larger numbers are reduced, with a warning.
        pub n_components: Components = null,
            Kind::AnyOf(&[Kind::at_least(1), Kind::SHARE, Kind::SHARE_NAME, Kind::Null]), by_rows(),
            of_other_words("rules are available in pca only"), null_is_all(), only(&[&[("whiten", &["!false"])]]);
        /// The algorithm: 'picard' (quasi-Newton), 'fastica' (fixed point), 'infomax' (maximum likelihood with the logistic density), 'easi'
        /// (relative gradient, row by row in random orders, then full passes), 'sigma-pca' (two layers of sigma-PCA).
        pub algorithm: IcaAlgorithm = "picard", Kind::Words(IcaAlgorithm::NAMES);
        /// Contrast function G used to measure non-Gaussianity: 'logcosh' (or 'tanh') in general, 'exp' for data with outliers, 'cube' for kurtosis,
        /// 'skew' for skewness; 'adaptive' begins with 'logcosh' and continues with contrasts that are fitted to each source, which is the most
        /// accurate with a few thousand rows, especially with `ortho=false`.
        pub fun: ContrastFunction = "logcosh", Kind::Words(CONTRASTS), only(&[&[("algorithm", &["\"picard\"", "\"fastica\""])]]);
        /// For 'picard': sources are a rotation of whitened coordinates, so exactly uncorrelated; false for maximum likelihood over all invertible
        /// matrices.
        pub ortho: bool = true, Kind::BOOL, only(&[&[("algorithm", &["\"picard\""])]]);
        /// Whether sources may be sub-Gaussian as well as super-Gaussian, the sign of each estimated; null for true where sources are a rotation and
        /// with 'easi', else false.
        pub extended: Option<bool> = null,
            Kind::AnyOf(&[Kind::BOOL, Kind::Null]), only(&[&[("algorithm", &["\"picard\"", "\"infomax\"", "\"easi\""])]]);
        /// For 'fastica': estimate all sources at once ('symmetric'), or one after another ('deflation').
        pub orthogonalization: Orthogonalization = "symmetric", Kind::Words(Orthogonalization::NAMES), only(&[&[("algorithm", &["\"fastica\""])]]);
        /// For 'sigma-pca': the first layer, linear PCA, or sigma-PCA followed by whitening.
        pub first_layer: FirstLayer = "pca", Kind::Words(FirstLayer::NAMES), only(&[&[("algorithm", &["\"sigma-pca\""])]]);
        /// Whiten the data first, and scale sources to unit variance; false for data that are already whitened, and then no direction is dropped.
        pub whiten: Whitening = "unit-variance", Kind::AnyOf(&[Kind::Words(UnitVariance::NAMES), Kind::FALSE]);
        /// Maximum number of iterations; for 'easi', of full passes over the data.
        pub max_iter: u64 = 500, Kind::at_least(0);
        /// Convergence tolerance: the largest entry of the relative gradient, the same for every algorithm; null for 1e-6 in double precision, 1e-4
        /// in single.
        pub tol: Option<f64> = null, Kind::AnyOf(&[Kind::NON_NEGATIVE, Kind::Null]), such_as("1e-6");
        /// Number of random starts; the least Gaussian result is kept, or with maximum likelihood (`ortho=false`, 'infomax') the one of the highest
        /// likelihood.
        pub n_init: u64 = 1, Kind::at_least(1), only(&[&[("algorithm", &["!\"sigma-pca\""])]]);
        /// Initial unmixing matrix, in whitened coordinates; null for a random rotation.
        pub w_init: Option<Vec<Vec<f64>>> = null,
            Kind::AnyOf(&[Kind::table(Axis::Components, Axis::Components), Kind::Null]),
            only(&[&[("algorithm", &["!\"sigma-pca\""])]]);
        /// Number of evenly spaced rows that the first iterations of a search over rotations use, more than there are sources; the last iterations
        /// and the residual use all rows; 0, or at least the number of rows, for all rows from the start; null for a sufficient number with
        /// 'picard' and 'infomax' where there are three times as many rows, else all.
        pub subsample: Option<u64> = null,
            Kind::AnyOf(&[Kind::at_least(0), Kind::Null]),
            only(&[&[("algorithm", &["\"picard\"", "\"infomax\""])], &[("algorithm", &["\"fastica\""]), ("orthogonalization", &["\"symmetric\""])]]);
        /// Subtract the mean of every column.
        pub center: bool = true, Kind::BOOL;
        /// Divide every column by its standard deviation first, so that the directions that whitening drops do not depend on units.
        pub standardize: bool = false,
            Kind::BOOL,
            unless(FitKind::Incremental, "the sources of incremental fits do not depend on the units of the columns");
        /// Order of the sources: by the variance of their back-projection, by kurtosis, or as the solver found them.
        pub order: Order = "variance", Kind::Words(Order::NAMES);
    }
    pub(super) const SETTINGS;
}

choices! {
    /// The algorithm that estimates the sources.
    pub enum IcaAlgorithm {
        /// Limited-memory BFGS, preconditioned by the Hessian for independent sources.
        Picard = "picard",
        /// FastICA's fixed-point iteration.
        FastIca = "fastica",
        /// Maximum likelihood with the logistic density.
        Infomax = "infomax",
        /// The relative gradient, one row at a time.
        Easi = "easi",
        /// Two layers of sigma-PCA.
        SigmaPca = "sigma-pca",
    }
}

choices! {
    /// The first of two layers of sigma-PCA.
    pub enum FirstLayer {
        /// Linear: whitened coordinates.
        Pca = "pca",
        /// sigma-PCA, followed by whitening.
        SigmaPca = "sigma-pca",
    }
}

choices! {
    /// A contrast function.
    pub enum ContrastFunction {
        /// `log cosh`.
        #[serde(alias = "tanh")]
        LogCosh = "logcosh",
        /// `-exp(-y²/2)`.
        Exp = "exp",
        /// `y⁴/4`.
        Cube = "cube",
        /// `y³/3`.
        Skew = "skew",
        /// `log cosh`, then a contrast fitted to each source.
        Adaptive = "adaptive",
    }
}

choices! {
    /// Orthogonalisation of FastICA: symmetric, or by deflation.
    pub enum Orthogonalization {
        /// All at once.
        Symmetric = "symmetric",
        /// One after another.
        Deflation = "deflation",
    }
}

/// Whitening, and the scale of the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Whitening {
    /// Only `false`: for columns that are already whitened.
    Not(bool),
    /// Whitened coordinates, sources of unit variance.
    Whitened(UnitVariance),
}

choices! {
    /// The string `"unit-variance"`.
    pub enum UnitVariance {
        /// Whitened coordinates, sources of unit variance.
        UnitVariance = "unit-variance",
    }
}

/// The contrast functions in the order of the documentation, with the alias of the first.
const CONTRASTS: &[&str] = &[
    ContrastFunction::LogCosh.name(),
    ContrastFunction::Exp.name(),
    ContrastFunction::Cube.name(),
    ContrastFunction::Skew.name(),
    "tanh",
    ContrastFunction::Adaptive.name(),
];

impl ContrastFunction {
    /// The contrast; `a` is FastICA's `alpha`, a parameter of `logcosh` alone.
    pub(in crate::method) fn contrast(self, a: f64) -> Contrast {
        match self {
            ContrastFunction::LogCosh | ContrastFunction::Adaptive => Contrast::LogCosh(a),
            ContrastFunction::Exp => Contrast::Exp,
            ContrastFunction::Cube => Contrast::Cube,
            ContrastFunction::Skew => Contrast::Skew,
        }
    }
}
