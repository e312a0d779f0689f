//! The triangle of a QR factorisation of centred rows: what a covariance would say, without squaring the condition number.
//!
//! Merged as scatters are, with triangles in the place of sums (the rows of `[R₁; R₂; δᵀ√(n₁n₂/n₁₂)]` have the scatter of
//! both parts), by one more factorisation: the tall-and-skinny QR of Demmel et al. (2012), centred as it goes.

use super::{FeatureView, Packer, Partial, Unpacker};
use crate::error::Result;
use crate::num::{Block, Matrix, Real, Workspace, factor, kernel};

/// Number, mean, and a matrix `R` with `RᵀR` the scatter of the rows seen.
///
/// `R` is factored only when it has grown to more than `3 p` rows, back to `p`: a factorisation then costs three operations
/// for every two that are needed, where one after every block would cost many.
#[derive(Clone, Debug, PartialEq)]
pub struct Triangle {
    /// Rows seen, each as often as it counts.
    pub n: f64,
    /// Mean of each column, or 0 where rows are features, each with a mean of its own.
    pub mean: Vec<f64>,
    /// At most `3 p` rows of `p`.
    pub r: Matrix<f64>,
    /// Rows that are not constant, counted where rows are features.
    pub varying: u64,
}

impl Triangle {
    /// Nothing seen yet, of `p` columns.
    pub fn empty(p: usize) -> Self {
        Self { n: 0.0, mean: vec![0.0; p], r: Matrix::zeros(0, p), varying: 0 }
    }

    /// Adds a block of rows, centred on column means. `O(b p²)`.
    pub fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let p = self.mean.len();
        work.wide.resize(p, 0.0);
        let n = kernel::means(block.data, block.weights, p, &mut work.wide);
        let mut centred = Vec::new();
        kernel::centre_wide(block.data, block.weights, &work.wide, &mut centred);
        let r = Matrix::from_vec(centred.len() / p, p, centred);
        self.merge(Self { n, mean: work.wide.clone(), r, varying: 0 });
    }

    /// Adds a block of features (of transposed data), each as `view` sees it over all samples. `O(b p²)`.
    pub fn gather_features<T: Real>(&mut self, block: Block<'_, T>, view: &FeatureView<'_>) {
        let mut seen = Vec::with_capacity(block.data.len());
        for feature in block.rows() {
            self.varying += u64::from(view.push(feature, &mut seen).varies);
        }
        let r = Matrix::from_vec(block.n_rows(), block.n_features, seen);
        self.merge(Self { n: block.n_rows() as f64, mean: vec![0.0; block.n_features], r, varying: 0 });
    }

    /// The triangle of rows that are not centred: what `n mean meanᵀ` adds to their scatter is one more row.
    pub fn about_zero(mut self) -> Self {
        let (p, root) = (self.mean.len(), self.n.sqrt());
        let mut rows = std::mem::replace(&mut self.r, Matrix::zeros(0, p)).into_vec();
        rows.extend(self.mean.iter().map(|m| m * root));
        self.r = Matrix::from_vec(rows.len() / p, p, rows);
        self.mean.fill(0.0);
        self
    }

    /// Whether every number is finite, and the sum of their squares, which is the total variance, too.
    pub fn finite(&self) -> bool {
        self.mean.iter().all(|x| x.is_finite()) && kernel::sum_of_squares(self.r.as_slice()).is_finite()
    }
}

impl Partial for Triangle {
    fn merge(&mut self, right: Self) {
        self.varying += right.varying;
        if right.n == 0.0 {
            return;
        }
        let p = self.mean.len();
        let mut rows = std::mem::replace(&mut self.r, Matrix::zeros(0, p)).into_vec();
        rows.extend_from_slice(right.r.as_slice());
        if self.n == 0.0 {
            self.mean = right.mean;
        } else {
            let (n1, n2) = (self.n, right.n);
            let (share, weight) = (n2 / (n1 + n2), (n1 * n2 / (n1 + n2)).sqrt());
            let delta: Vec<f64> = right.mean.iter().zip(&self.mean).map(|(m2, m1)| m2 - m1).collect();
            rows.extend(delta.iter().map(|d| d * weight));
            self.mean.iter_mut().zip(&delta).for_each(|(m, d)| *m += d * share);
        }
        self.n += right.n;
        let stacked = Matrix::from_vec(rows.len() / p, p, rows);
        self.r = if stacked.rows() > 3 * p { factor::qr_triangle(&stacked) } else { stacked };
    }

    fn pack(&self, out: &mut Packer) {
        out.number(self.n);
        out.count(self.varying);
        out.numbers(&self.mean);
        out.matrix(&self.r);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let part =
            Self { n: from.number()?, varying: from.count()?, mean: from.numbers()?, r: from.matrix()? };
        from.check(!part.mean.is_empty() && part.r.cols() == part.mean.len())?;
        Ok(part)
    }

    fn bytes(&self) -> usize {
        8 * (2 + self.mean.len() + self.r.as_slice().len())
    }
}
