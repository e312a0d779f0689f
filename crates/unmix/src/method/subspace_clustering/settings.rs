//! Settings of subspace clustering: names, allowed values, descriptions.

use crate::choices::choices;
use crate::model::{Kind, settings};
use serde::{Deserialize, Serialize};

settings! {
    /// Settings of [subspace clustering](super): `SubspaceClustering { n_clusters: Some(3), ..Default::default() }.fit(&mut rows, &run)`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct SubspaceClustering {
        /// Number of clusters; null for the number of eigenvalues of the normalized affinities before their largest gap, from 2 to 20, or for 1 if
        /// the Bayesian information criterion prefers a single subspace.
        pub n_clusters: Option<usize> = null, Kind::AnyOf(&[Kind::at_least(1), Kind::Null]);
        /// Dimension of the subspaces: a number for all of them, or a list with one for each cluster; null to select that of each cluster by the
        /// Bayesian information criterion, at least 1 and, with several clusters, below the number of columns.
        pub n_components: Option<Dimensions> = null,
            Kind::AnyOf(&[Kind::at_least(1), Kind::per_component(&Kind::at_least(1)), Kind::Null]), by_rows();
        /// Algorithm: 'ssc', spectral clustering of the coefficients of sparse self-representation; 'k-subspaces', alternation between assigning rows
        /// to the nearest subspace and fitting subspaces to their rows; 'ssc+k-subspaces', the second started from the clusters of the first;
        /// 'shape', spectral clustering of the shape interaction matrix; 'ppca-mixture', maximum likelihood of a mixture of probabilistic PCA,
        /// started from the clusters of 'ssc+k-subspaces', or from those of 'k-subspaces' if `n_clusters` and `n_components` are given and there are
        /// more than 2000 rows: rows then have probabilities and a likelihood.
        pub algorithm: Algorithm = "ssc+k-subspaces", Kind::Words(Algorithm::NAMES);
        /// Weight of the squared error relative to the sparsity term in sparse subspace clustering, above 1: the penalty is `1 / alpha` times the smallest one at
        /// which all coefficients of some row are 0.
        pub alpha: f64 = 20.0,
            Kind::number(std::ops::Bound::Excluded(1.0), std::ops::Bound::Unbounded), such_as("50"),
            only(&[&[("algorithm", &["\"ssc+k-subspaces\"", "\"ssc\"", "\"ppca-mixture\""])]]);
        /// Number of random starts; the one with the smallest sum of squared distances is kept.
        pub n_init: u64 = 10, Kind::at_least(1), only(&[&[("algorithm", &["\"k-subspaces\"", "\"ppca-mixture\""])]]), without_init();
        /// Convergence tolerance: the decrease of the sum of squared distances in an iteration, relative to the sum of squares of the rows; for a
        /// mixture, the increase of the mean log-likelihood per row, in nats.
        pub tol: f64 = 1e-08, Kind::NON_NEGATIVE, such_as("1e-6"), only(&[&[("algorithm", &ITERATED)]]);
        /// Maximum number of iterations, of each start.
        pub max_iter: u64 = 300, Kind::at_least(1), only(&[&[("algorithm", &ITERATED)]]);
        /// Subtract the mean of every column; each component of a mixture then has its own mean. By default nothing is subtracted: subspaces pass
        /// through the origin.
        pub center: bool = false, Kind::BOOL;
    }
    pub(super) const SETTINGS;
}

/// Dimensions of the subspaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Dimensions {
    /// The same for all clusters.
    Same(usize),
    /// One for each cluster.
    Each(Vec<usize>),
}

choices! {
    /// Algorithm that finds the clusters.
    #[derive(Default)]
    pub enum Algorithm {
        /// k-subspaces, started from the clusters of sparse subspace clustering.
        #[default]
        SscKSubspaces = "ssc+k-subspaces",
        /// Sparse subspace clustering: spectral clustering of the coefficients with which rows represent each other.
        Ssc = "ssc",
        /// Alternates between assigning rows to the nearest subspace and fitting subspaces to their rows, from random starts.
        KSubspaces = "k-subspaces",
        /// Spectral clustering of the squared entries of the shape interaction matrix.
        Shape = "shape",
        /// A mixture of probabilistic PCA, started from the clusters of another algorithm.
        PpcaMixture = "ppca-mixture",
    }
}

impl Algorithm {
    /// Whether clusters are refined by iterations over all rows.
    pub(super) fn iterates(self) -> bool {
        matches!(self, Self::SscKSubspaces | Self::KSubspaces | Self::PpcaMixture)
    }
}

/// Algorithms that iterate.
const ITERATED: [&str; 3] = ["\"ssc+k-subspaces\"", "\"k-subspaces\"", "\"ppca-mixture\""];
