//! The scatter of some rows seen from a few directions, without the `p × p` matrix.

use super::{Packer, Partial, Unpacker};
use crate::error::Result;
use crate::num::{Block, Matrix, Real, Workspace, kernel};

/// `Σ (v·c) c` over centred rows `c`, for each of `b` directions `v`: `b` rows of the scatter applied to directions.
///
/// In double precision whatever the type of the rows: iterations that end at rounding level need an operator that is
/// symmetric to rounding level.
#[derive(Clone, Debug, PartialEq)]
pub struct Sketch {
    /// Rows seen.
    pub n: u64,
    /// `b x p`.
    pub image: Matrix<f64>,
}

/// Directions to look from, and the mean to centre on.
pub struct Viewpoint<'a> {
    /// Mean of the rows, `p`.
    pub mean: &'a [f64],
    /// `b x p`.
    pub directions: &'a Matrix<f64>,
    columns: Matrix<f64>,
}

impl<'a> Viewpoint<'a> {
    /// Looks along the rows of `directions`.
    pub fn new(mean: &'a [f64], directions: &'a Matrix<f64>) -> Self {
        Self { mean, directions, columns: directions.transposed() }
    }
}

impl Sketch {
    /// Nothing seen yet, from `b` directions in `p` dimensions.
    pub fn empty(b: usize, p: usize) -> Self {
        Self { n: 0, image: Matrix::zeros(b, p) }
    }

    /// Adds a block of rows. `O(n b p)`.
    pub fn gather<T: Real>(&mut self, block: Block<'_, T>, from: &Viewpoint<'_>, work: &mut Workspace<T>) {
        let (b, p) = (self.image.rows(), self.image.cols());
        self.n += block.n_rows() as u64;
        let centred = &mut work.wide;
        // Times the root of the weight here, and by the score once more: the weight.
        kernel::centre_wide(block.data, block.weights, from.mean, None, centred);
        let n = centred.len() / p;
        let mut scores = vec![0.0; n * b];
        kernel::product(&mut scores, centred, from.columns.as_slice(), n, p, b);
        kernel::add_cross(self.image.as_mut_slice(), &scores, centred, n, b, p);
    }
}

impl Partial for Sketch {
    fn merge(&mut self, right: Self) {
        if right.n == 0 {
            return;
        }
        if self.n == 0 {
            *self = right;
            return;
        }
        self.n += right.n;
        self.image.as_mut_slice().iter_mut().zip(right.image.as_slice()).for_each(|(a, b)| *a += b);
    }

    fn pack(&self, out: &mut Packer) {
        out.count(self.n);
        out.matrix(&self.image);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        Ok(Self { n: from.count()?, image: from.matrix()? })
    }

    fn bytes(&self) -> usize {
        8 * (1 + self.image.as_slice().len())
    }
}
