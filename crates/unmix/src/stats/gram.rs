//! Inner products between samples, summed over features: the small side of wide data.
//!
//! The rows that are swept are *features* (the data transposed), so that each is centred before it is multiplied, and the
//! `n × n` sum is gathered a panel of features at a time.

use super::{Packer, Partial, Unpacker};
use crate::error::Result;
use crate::num::{Block, Matrix, Real, Workspace, kernel};

/// `Σ_j c_j c_jᵀ` over features `j`, where `c_j` is feature `j` over all samples, less its mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Gram {
    /// Features seen.
    pub features: u64,
    /// Features that vary.
    pub varying: u64,
    /// The sum, in the lower triangle.
    pub lower: Matrix<f64>,
}

impl Gram {
    /// Nothing seen yet, of `n` samples.
    pub fn empty(n: usize) -> Self {
        Self { features: 0, varying: 0, lower: Matrix::zeros(n, n) }
    }

    /// Adds some features. `O(b n²)`.
    pub fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let n = block.n_features;
        let Workspace { rows, product, .. } = work;
        rows.clear();
        for feature in block.rows() {
            let mean = kernel::mean_of(feature);
            let start = rows.len();
            rows.extend(feature.iter().map(|x| T::from_f64(x.to_f64() - mean)));
            self.varying += u64::from(rows[start..].iter().any(|x| *x != T::default()));
        }
        self.features += block.n_rows() as u64;
        kernel::add_gram(self.lower.as_mut_slice(), rows, n, product);
    }
}

impl Partial for Gram {
    fn merge(&mut self, right: Self) {
        if right.features == 0 {
            return;
        }
        if self.features == 0 {
            *self = right;
            return;
        }
        self.features += right.features;
        self.varying += right.varying;
        self.lower.as_mut_slice().iter_mut().zip(right.lower.as_slice()).for_each(|(a, b)| *a += b);
    }

    fn pack(&self, out: &mut Packer) {
        out.count(self.features);
        out.count(self.varying);
        out.matrix(&self.lower);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let part = Self { features: from.count()?, varying: from.count()?, lower: from.matrix()? };
        from.check(part.lower.rows() == part.lower.cols())?;
        Ok(part)
    }

    fn bytes(&self) -> usize {
        16 + 8 * self.lower.as_slice().len()
    }
}
