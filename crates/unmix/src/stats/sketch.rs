//! The scatter of some rows seen from a few directions, without the `p × p` matrix.

use super::{Gather, Packer, Partial, Unpacker};
use crate::error::Result;
use crate::num::{Block, Matrix, Real, Workspace, kernel};
use std::borrow::Cow;

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
#[derive(Clone, Debug)]
pub struct Viewpoint<'a> {
    /// Mean of the rows, `p`.
    mean: Cow<'a, [f64]>,
    /// `p x b`.
    columns: Matrix<f64>,
}

impl<'a> Viewpoint<'a> {
    /// Looks along the rows of `directions`.
    pub fn new(mean: impl Into<Cow<'a, [f64]>>, directions: &Matrix<f64>) -> Self {
        Self { mean: mean.into(), columns: directions.transposed() }
    }
}

/// Gathers a [`Sketch`] from a [`Viewpoint`].
#[derive(Clone, Debug)]
pub struct GatherSketch<'a>(pub Viewpoint<'a>);

impl<T: Real> Gather<T> for GatherSketch<'_> {
    type Part = Sketch;
    const KIND: &'static str = "sketch";

    fn width(&self) -> Option<usize> {
        Some(self.0.mean.len())
    }

    fn zero(&self, n_features: usize) -> Sketch {
        Sketch::empty(self.0.columns.cols(), n_features)
    }

    fn add(&self, part: &mut Sketch, block: Block<'_, T>, work: &mut Workspace<T>) {
        part.gather(block, &self.0, work);
    }

    fn pack(&self, out: &mut Packer) {
        out.numbers(&self.0.mean);
        out.matrix(&self.0.columns);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (mean, columns) = (from.numbers()?, from.matrix()?);
        from.check(columns.rows() == mean.len())?;
        Ok(Self(Viewpoint { mean: mean.into(), columns }))
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
        kernel::centre_wide(block.data, block.weights, &from.mean, None, centred);
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
