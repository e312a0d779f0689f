//! PCA by eigenvectors of the covariance.

use super::{cholesky, covariance, dot, jacobi, mean, sum};

/// PCA with all its components.
pub(crate) struct NaivePca {
    pub(crate) mean: Vec<f64>,
    /// All `p` eigenvalues, descending.
    pub(crate) values: Vec<f64>,
    /// Eigenvectors as rows, with arbitrary signs.
    pub(crate) axes: Vec<Vec<f64>>,
}

impl NaivePca {
    /// Fits `n` rows of `p` columns.
    pub(crate) fn fit(x: &[f64], p: usize) -> Self {
        let (values, axes) = jacobi(covariance(x, p));
        NaivePca { mean: mean(x, p), values, axes }
    }

    /// Noise variance: the mean of the `p - k` last eigenvalues; 0 if `k` is at least `min(n, p)`.
    pub(crate) fn noise(&self, n: usize, k: usize) -> f64 {
        let p = self.values.len();
        if k >= n.min(p) { 0.0 } else { sum(self.values[k..].iter().copied()) / (p - k) as f64 }
    }

    /// The covariance of the probabilistic model with `k` components.
    pub(crate) fn model_covariance(&self, n: usize, k: usize) -> Vec<Vec<f64>> {
        let (p, noise) = (self.values.len(), self.noise(n, k));
        let along = |i: usize, j: usize| {
            sum((0..k).map(|c| (self.values[c] - noise) * self.axes[c][i] * self.axes[c][j]))
        };
        (0..p).map(|i| (0..p).map(|j| along(i, j) + if i == j { noise } else { 0.0 }).collect()).collect()
    }
}

/// `log N(x | mean, c)` of every row, by a Cholesky factor of the dense covariance.
pub(crate) fn log_likelihoods(x: &[f64], mean: &[f64], c: &[Vec<f64>]) -> Vec<f64> {
    let (p, l) = (mean.len(), cholesky(c));
    let log_determinant = 2.0 * sum((0..p).map(|i| l[i][i].ln()));
    let of_row = |row: &[f64]| {
        let mut z = vec![0.0; p];
        for i in 0..p {
            z[i] = (row[i] - mean[i] - dot(&l[i][..i], &z[..i])) / l[i][i];
        }
        -0.5 * (p as f64 * (2.0 * std::f64::consts::PI).ln() + log_determinant + dot(&z, &z))
    };
    x.chunks_exact(p).map(of_row).collect()
}
