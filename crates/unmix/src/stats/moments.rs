//! Number, mean and sum of squares about the mean, column by column.

use super::stored::{Counts, LineMoments};
use super::sum::{AddShard, GatherSum, Sum};
use super::{Packer, Partial, Unpacker, both};
use crate::error::Result;
use crate::num::{Block, Real, Stored, Workspace, kernel};

/// Mean and sum of squares of each column over `n` rows. `3 p + 1` numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    /// Number of rows so far, weighted.
    pub n: f64,
    /// Mean of each column.
    pub mean: Vec<f64>,
    /// Rounding errors of `mean`: the mean is `mean + rest`.
    pub rest: Vec<f64>,
    /// Sum of squares about the mean, of each column.
    pub squares: Vec<f64>,
}

impl Moments {
    /// The empty sum, for `p` columns.
    pub fn empty(p: usize) -> Self {
        Self { n: 0.0, mean: vec![0.0; p], rest: vec![0.0; p], squares: vec![0.0; p] }
    }

    /// Standard deviation of each column, with divisor `n`.
    pub fn deviations(&self) -> Vec<f64> {
        let n = self.n.max(1.0);
        self.squares.iter().map(|s| (s / n).sqrt()).collect()
    }

    /// Adds a block of rows. `O(b p)`.
    pub fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let p = self.mean.len();
        work.wide.resize(2 * p, 0.0);
        let (mean, rest) = work.wide.split_at_mut(p);
        let n = kernel::means(block.data, block.weights, p, mean, rest);
        let mut squares = vec![0.0; p];
        for (i, row) in block.rows().enumerate() {
            let weight = block.weights.map_or(1.0, |w| w[i]);
            if weight > 0.0 {
                for (((s, x), m), r) in squares.iter_mut().zip(row).zip(&*mean).zip(&*rest) {
                    let d = x.to_f64() - m - r;
                    *s += weight * d * d;
                }
            }
        }
        self.merge(Self { n, mean: mean.to_vec(), rest: rest.to_vec(), squares });
    }

    /// Moments of a shard of sparse rows. `O(stored + p)`.
    pub(super) fn of_stored<T: Real>(shard: &Stored<'_, T>) -> Result<(Self, Vec<bool>)> {
        let (p, counts) = (shard.n_features(), Counts::of_shard(shard));
        let mut sums = Self::empty(p);
        let mut full = vec![false; p];
        if counts.rows == 0 {
            return Ok((sums, full));
        }
        let mut table = vec![0.0; 4 * p];
        shard.fill(&mut table, 4, |j, out| {
            let LineMoments { mean, rest, squares, full } = LineMoments::new(shard.column(j), &counts);
            out.copy_from_slice(&[mean, rest, squares, f64::from(u8::from(full))]);
        })?;
        sums.n = counts.total;
        for (j, line) in table.chunks_exact(4).enumerate() {
            (sums.mean[j], sums.rest[j], sums.squares[j], full[j]) =
                (line[0], line[1], line[2], line[3] != 0.0);
        }
        Ok((sums, full))
    }
}

/// Gathers [`Moments`].
pub type GatherMoments = GatherSum<Moments>;

impl<T: Real> Sum<T> for Moments {
    const KIND: &'static str = "moments";
    const STORED: Option<AddShard<Self, T>> = Some(|part, shard| {
        part.merge(Moments::of_stored(shard)?.0);
        Ok(())
    });

    fn zero(n_features: usize) -> Self {
        Self::empty(n_features)
    }

    fn add(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        self.gather(block, work);
    }
}

impl Partial for Moments {
    fn merge(&mut self, right: Self) {
        let Some(right) = both(self, right, |part| part.n) else { return };
        let (n1, n2) = (self.n, right.n);
        let (share, weight) = (n2 / (n1 + n2), n1 * n2 / (n1 + n2));
        for j in 0..self.mean.len() {
            let other = (right.mean[j], right.rest[j]);
            let delta = kernel::merge_mean(&mut self.mean[j], &mut self.rest[j], other, share);
            self.squares[j] += right.squares[j] + delta * delta * weight;
        }
        self.n += right.n;
    }

    fn pack(&self, out: &mut Packer) {
        out.number(self.n);
        out.numbers(&self.mean);
        out.numbers(&self.rest);
        out.numbers(&self.squares);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let part = Self {
            n: from.number()?,
            mean: from.numbers()?,
            rest: from.numbers()?,
            squares: from.numbers()?,
        };
        from.check([part.squares.len(), part.rest.len()] == [part.mean.len(); 2])?;
        Ok(part)
    }

    fn bytes(&self) -> usize {
        8 * (1 + 3 * self.mean.len())
    }
}
