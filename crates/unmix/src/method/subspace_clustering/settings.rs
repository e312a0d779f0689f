//! The settings of subspace clustering: what they are called, what they may be, what they mean.

use crate::model::{Kind, Setting};
use serde::{Deserialize, Serialize};

/// Settings of [subspace clustering](super): `SubspaceClustering { n_clusters: Some(3), ..Default::default() }.fit(&mut rows, &run)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SubspaceClustering {
    /// How many clusters; by the eigengap of the affinities when not told.
    pub n_clusters: Option<usize>,
    /// Dimension of every subspace; by the Bayesian information criterion of each cluster when not told.
    pub n_components: Option<Dimensions>,
    /// How clusters are found.
    pub algorithm: Algorithm,
    /// Weight of the fit against sparsity in the coefficients of sparse subspace clustering.
    pub alpha: f64,
    /// Random starts.
    pub n_init: u64,
    /// Convergence tolerance of the iterations.
    pub tol: f64,
    /// Maximum number of iterations, of each start.
    pub max_iter: u64,
    /// Subtract the mean of every column first.
    pub center: bool,
}

impl Default for SubspaceClustering {
    fn default() -> Self {
        Self {
            n_clusters: None,
            n_components: None,
            algorithm: Algorithm::default(),
            alpha: 20.0,
            n_init: 10,
            tol: 1e-8,
            max_iter: 300,
            center: false,
        }
    }
}

/// Dimensions of the subspaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Dimensions {
    /// The same of all.
    Same(usize),
    /// One for each cluster.
    Each(Vec<usize>),
}

/// How clusters are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Algorithm {
    /// Sparse subspace clustering, and from its clusters k-subspaces.
    #[default]
    #[serde(rename = "ssc+k-subspaces")]
    SscKSubspaces,
    /// Sparse subspace clustering: spectral clustering of the coefficients with which rows represent each other.
    #[serde(rename = "ssc")]
    Ssc,
    /// Rows assigned to the nearest subspace and subspaces fitted to their rows, in turn, from random starts.
    #[serde(rename = "k-subspaces")]
    KSubspaces,
    /// Spectral clustering of the squared entries of the shape interaction matrix.
    #[serde(rename = "shape")]
    Shape,
    /// A mixture of probabilistic PCA, from the clusters of the others.
    #[serde(rename = "ppca-mixture")]
    PpcaMixture,
}

impl Algorithm {
    /// Whether clusters are refined by iterations over all rows.
    pub(super) fn iterates(self) -> bool {
        matches!(self, Self::SscKSubspaces | Self::KSubspaces | Self::PpcaMixture)
    }
}

/// Algorithms that iterate.
const ITERATED: &[&str] = &["\"ssc+k-subspaces\"", "\"k-subspaces\"", "\"ppca-mixture\""];

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "n_clusters",
        Kind::AnyOf(&[Kind::at_least(1), Kind::Null]),
        "null",
        "Number of clusters; null for the largest gap between eigenvalues of the normalized affinities, up to 20, or 1 where the \
         Bayesian information \
         criterion of one subspace is better.",
    ),
    Setting::new(
        "n_components",
        Kind::AnyOf(&[Kind::at_least(1), Kind::List(&Kind::at_least(1)), Kind::Null]),
        "null",
        "Dimension of the subspaces: a number for all of them, or a list of one for each cluster; null for the number with the largest \
         Bayesian \
         information criterion in each cluster, at least 1 and, of several clusters, below the number of columns.",
    )
    .by_rows(),
    Setting::new(
        "algorithm",
        Kind::Words(&["ssc+k-subspaces", "ssc", "k-subspaces", "shape", "ppca-mixture"]),
        "\"ssc+k-subspaces\"",
        "The algorithm: 'ssc', spectral clustering of the coefficients of sparse self-representation; 'k-subspaces', alternating \
         between assignment of rows to the nearest subspace and refits of the subspaces; 'ssc+k-subspaces', the second started from the clusters of the first; 'shape', spectral clustering of the shape interaction matrix; 'ppca-mixture', maximum likelihood of a mixture of \
         probabilistic PCA from the clusters of 'ssc+k-subspaces', or of 'k-subspaces' where both numbers are given for more than 2000 rows: \
         rows then have probabilities and a likelihood.",
    ),
    Setting::new(
        "alpha",
        Kind::Number { from: std::ops::Bound::Excluded(1.0), to: std::ops::Bound::Unbounded },
        "20.0",
        "Weight of the squared error against sparsity in sparse subspace clustering, above 1: the penalty is `1 / alpha` times the \
         smallest one at which all coefficients of some row are 0.",
    )
    .such_as("50"),
    Setting::new("n_init", Kind::at_least(1), "10", "Number of random starts; the one with the smallest sum of squared distances is \
    kept.")
        .only(&[&[("algorithm", &["\"k-subspaces\"", "\"ppca-mixture\""])]]),
    Setting::new(
        "tol",
        Kind::NON_NEGATIVE,
        "1e-08",
        "Convergence tolerance: the decrease of the sum of squared distances in an iteration, relative to the sum of squares of the \
         rows; for a mixture, the increase of the mean log-likelihood per row, in nats.",
    )
    .such_as("1e-6")
    .only(&[&[("algorithm", ITERATED)]]),
    Setting::new("max_iter", Kind::at_least(1), "300", "Maximum number of iterations, of each start.")
        .only(&[&[("algorithm", ITERATED)]]),
    Setting::new(
        "center",
        Kind::Bool,
        "false",
        "Subtract the mean of every column; each component of a mixture then has its own mean. By default nothing is subtracted: \
         subspaces pass through the origin.",
    ),
];
