//! The triangular factor of a QR factorisation of centred rows: the square root of the scatter matrix, with the condition number of
//! the rows instead of its square.
//!
//! Merged as scatters are, with stacking in place of sums (the rows of `[R₁; R₂; δᵀ√(n₁n₂/n₁₂)]` have the scatter of both parts),
//! followed by another factorisation: the tall-and-skinny QR of Demmel et al. (2012), with incremental centring.

use super::sum::{GatherSum, Sum};
use super::{FeatureView, Gather, Packer, Partial, Unpacker};
use crate::error::Result;
use crate::num::{Block, Matrix, Real, Workspace, factor, kernel};

/// Number, mean, and a matrix `R` such that `RᵀR` is the scatter of the rows.
///
/// `R` is factored only when it has grown to more than `3 p` rows, back to `p`: factorisations then need three operations for every
/// two that are necessary, where one after every block would need many.
#[derive(Clone, Debug, PartialEq)]
pub struct Triangle {
    /// Number of rows so far, weighted.
    pub n: f64,
    /// Mean of each column, or 0 if rows are features, each centred on its own mean.
    pub mean: Vec<f64>,
    /// Rounding errors of `mean`: the mean is `mean + rest`.
    pub rest: Vec<f64>,
    /// At most `3 p` rows of `p` numbers.
    pub r: Matrix<f64>,
    /// Number of rows that are not constant, if rows are features.
    pub varying: u64,
}

impl Triangle {
    /// The empty sum, for `p` columns.
    pub fn empty(p: usize) -> Self {
        Self { n: 0.0, mean: vec![0.0; p], rest: vec![0.0; p], r: Matrix::zeros(0, p), varying: 0 }
    }

    /// Adds a block of rows, centred on column means. `O(b p²)`.
    pub fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let p = self.mean.len();
        work.wide.resize(2 * p, 0.0);
        let (mean, rest) = work.wide.split_at_mut(p);
        let n = kernel::means(block.data, block.weights, p, mean, rest);
        let mut centred = Vec::new();
        kernel::centre_wide(block.data, block.weights, mean, Some(rest), &mut centred);
        let r = Matrix::from_vec(centred.len() / p, p, centred);
        self.merge(Self { n, mean: mean.to_vec(), rest: rest.to_vec(), r, varying: 0 });
    }

    /// Adds a block of features (of transposed data), each transformed by `view` over all samples. `O(b p²)`.
    pub(crate) fn gather_features<T: Real>(&mut self, block: Block<'_, T>, view: &FeatureView<'_>) {
        let mut scaled = Vec::with_capacity(block.data.len());
        for feature in block.rows() {
            self.varying += u64::from(view.push(feature, &mut scaled).varies);
        }
        let r = Matrix::from_vec(block.n_rows(), block.n_features, scaled);
        let mean = vec![0.0; block.n_features];
        self.merge(Self { n: block.n_rows() as f64, rest: mean.clone(), mean, r, varying: 0 });
    }

    /// The factor for rows that are not centred: their scatter has the additional term `n mean meanᵀ`, which is one more row.
    pub(crate) fn about_zero(mut self) -> Self {
        let (p, root) = (self.mean.len(), self.n.sqrt());
        let mut rows = std::mem::replace(&mut self.r, Matrix::zeros(0, p)).into_vec();
        rows.extend(self.mean.iter().map(|m| m * root));
        self.r = Matrix::from_vec(rows.len() / p, p, rows);
        self.mean.fill(0.0);
        self.rest.fill(0.0);
        self
    }

    /// Whether every number is finite, and so is the sum of their squares, the total variance.
    pub fn finite(&self) -> bool {
        self.mean.iter().all(|x| x.is_finite()) && kernel::sum_of_squares(self.r.as_slice()).is_finite()
    }
}

/// Gathers the [`Triangle`] of rows.
pub(crate) type GatherTriangle = GatherSum<Triangle>;

impl<T: Real> Sum<T> for Triangle {
    const KIND: &'static str = "triangle";

    fn zero(n_features: usize) -> Self {
        Self::empty(n_features)
    }

    fn add(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        self.gather(block, work);
    }
}

/// Gathers the [`Triangle`] of features; rows are features here.
#[derive(Clone, Debug)]
pub(crate) struct GatherFeatureTriangle<'a>(pub(crate) FeatureView<'a>);

impl<T: Real> Gather<T> for GatherFeatureTriangle<'_> {
    type Part = Triangle;
    const KIND: &'static str = "feature-triangle";

    fn width(&self) -> Option<usize> {
        self.0.samples()
    }

    fn zero(&self, n_features: usize) -> Triangle {
        Triangle::empty(n_features)
    }

    fn add(&self, part: &mut Triangle, block: Block<'_, T>, _: &mut Workspace<T>) {
        part.gather_features(block, &self.0);
    }

    fn pack(&self, out: &mut Packer) {
        self.0.pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        FeatureView::unpack(from).map(Self)
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
            (self.mean, self.rest) = (right.mean, right.rest);
        } else {
            let (n1, n2) = (self.n, right.n);
            let (share, weight) = (n2 / (n1 + n2), (n1 * n2 / (n1 + n2)).sqrt());
            let own = self.mean.iter_mut().zip(&mut self.rest);
            rows.extend(
                own.zip(right.mean.iter().zip(&right.rest))
                    .map(|((m1, r1), (m2, r2))| kernel::merge_mean(m1, r1, (*m2, *r2), share) * weight),
            );
        }
        self.n += right.n;
        let stacked = Matrix::from_vec(rows.len() / p, p, rows);
        self.r = if stacked.rows() > 3 * p { factor::qr_triangle(&stacked) } else { stacked };
    }

    fn pack(&self, out: &mut Packer) {
        out.number(self.n);
        out.count(self.varying);
        out.numbers(&self.mean);
        out.numbers(&self.rest);
        out.matrix(&self.r);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let part = Self {
            n: from.number()?,
            varying: from.count()?,
            mean: from.numbers()?,
            rest: from.numbers()?,
            r: from.matrix()?,
        };
        from.check(!part.mean.is_empty() && [part.r.cols(), part.rest.len()] == [part.mean.len(); 2])?;
        Ok(part)
    }

    fn bytes(&self) -> usize {
        8 * (2 + 2 * self.mean.len() + self.r.as_slice().len())
    }
}
