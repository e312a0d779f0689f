//! The sparsity penalty of codes, and its gradient with respect to the filters.

use super::{Gather, Packer, Partial, Unpacker, both};
use crate::elementwise::Penalty;
use crate::error::Result;
use crate::num::{Block, Matrix, Plan, Real, Workspace, kernel, widest};
use std::borrow::Cow;

/// Filters, and the penalty of their codes.
#[derive(Clone, Debug)]
pub struct Filters<'a, T> {
    /// Offset that is subtracted from rows first, unless it is 0 throughout.
    pub mean: Option<Cow<'a, [f64]>>,
    /// The filters `V`, `k x p`.
    pub rows: Matrix<T>,
    /// The penalty of the codes.
    pub penalty: Penalty,
}

/// `Σ_x Σ_j g(y_j)` and `Σ_x g'(y) x'` over rows `x`, where `y = V x` are the codes.
///
/// `k p + 2` numbers, whatever the number of rows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sparsity {
    /// Number of rows so far, weighted.
    pub n: f64,
    /// The sum of the penalty.
    pub value: f64,
    /// Its gradient with respect to `V`, `k x p`.
    pub gradient: Matrix<f64>,
}

impl Sparsity {
    /// The empty sum, for `k` filters of `p` numbers.
    pub fn empty(k: usize, p: usize) -> Self {
        Self { n: 0.0, value: 0.0, gradient: Matrix::zeros(k, p) }
    }

    /// Adds a block of rows: two products and a pass over the codes. `4 b k p` operations.
    pub fn gather<T: Real>(
        &mut self,
        block: Block<'_, T>,
        filters: &Filters<'_, T>,
        work: &mut Workspace<T>,
    ) {
        let (p, k) = (block.n_features, self.gradient.rows());
        let Workspace { rows, product, wide, .. } = work;
        let (centred, weights) = block.counted(filters.mean.as_deref(), rows, wide);
        let n = centred.len() / p;
        if n == 0 {
            return;
        }
        product.resize(k * (n + p), T::default());
        let (codes, scratch) = product.split_at_mut(k * n);
        kernel::product_by_rows(codes, filters.rows.as_slice(), centred, k, n, p);
        self.value += match weights {
            None => filters.penalty.differentiate(codes),
            Some(weights) => {
                let of_filter = |y: &mut [T]| filters.penalty.differentiate_weighted(y, weights);
                codes.chunks_exact_mut(n).map(of_filter).sum()
            }
        };
        kernel::product_of_few(scratch, codes, centred, [k, n, p]);
        widest(
            #[inline(always)]
            || {
                let sums = self.gradient.as_mut_slice().iter_mut();
                sums.zip(&*scratch).for_each(|(sum, add)| *sum += add.to_f64());
            },
        );
        self.n += weights.map_or(n as f64, |w| w.iter().sum());
    }
}

/// Gathers [`Sparsity`].
#[derive(Clone, Debug)]
pub(crate) struct GatherSparsity<'a, T>(pub(crate) Filters<'a, T>);

impl<T: Real> Gather<T> for GatherSparsity<'_, T> {
    type Part = Sparsity;
    const KIND: &'static str = "sparsity";

    /// Blocks are short enough for their codes to stay in cache between the two products, and shards short enough to balance
    /// threads.
    fn plan(&self, n_features: usize) -> Plan {
        let width = self.0.rows.rows().max(n_features).max(1);
        let mut block_rows = 512;
        while block_rows > 16 && block_rows * width > 1 << 18 {
            block_rows /= 2;
        }
        let shard_rows = ((1 << 18) / width).max(2 * block_rows).next_power_of_two();
        Plan::within(n_features, block_rows, shard_rows)
    }

    fn width(&self) -> Option<usize> {
        Some(self.0.rows.cols())
    }

    fn zero(&self, n_features: usize) -> Sparsity {
        Sparsity::empty(self.0.rows.rows(), n_features)
    }

    fn add(&self, part: &mut Sparsity, block: Block<'_, T>, work: &mut Workspace<T>) {
        part.gather(block, &self.0, work);
    }

    fn pack(&self, out: &mut Packer) {
        out.maybe(self.0.mean.as_deref());
        out.matrix_of(&self.0.rows);
        out.count(match self.0.penalty {
            Penalty::LogCosh => 0,
            Penalty::SmoothL1 => 1,
        });
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (mean, rows, smooth) = (from.maybe()?, from.matrix_of::<T>()?, from.flag()?);
        from.check(mean.as_ref().is_none_or(|m| m.len() == rows.cols()))?;
        let penalty = if smooth { Penalty::SmoothL1 } else { Penalty::LogCosh };
        Ok(Self(Filters { mean: mean.map(Cow::Owned), rows, penalty }))
    }
}

impl Partial for Sparsity {
    fn merge(&mut self, right: Self) {
        let Some(right) = both(self, right, |part| part.n) else { return };
        self.n += right.n;
        self.value += right.value;
        let sums = self.gradient.as_mut_slice().iter_mut();
        sums.zip(right.gradient.as_slice()).for_each(|(a, b)| *a += b);
    }

    fn pack(&self, out: &mut Packer) {
        out.number(self.n);
        out.number(self.value);
        out.matrix(&self.gradient);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        Ok(Self { n: from.number()?, value: from.number()?, gradient: from.matrix()? })
    }

    fn bytes(&self) -> usize {
        8 * (2 + self.gradient.as_slice().len())
    }
}
