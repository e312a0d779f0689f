//! Number, mean and sum of squares about the mean, column by column.

use super::{Packer, Partial, Unpacker};
use crate::error::Result;
use crate::num::{Block, Real, Workspace, kernel};

/// What `n` rows say about location and spread of each column. `2 p + 1` numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    /// Rows seen, each as often as it counts.
    pub n: f64,
    /// Mean of each column.
    pub mean: Vec<f64>,
    /// Sum of squares about the mean, of each column.
    pub squares: Vec<f64>,
}

impl Moments {
    /// Nothing seen yet, of `p` columns.
    pub fn empty(p: usize) -> Self {
        Self { n: 0.0, mean: vec![0.0; p], squares: vec![0.0; p] }
    }

    /// Adds a block of rows. `O(b p)`.
    pub fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let p = self.mean.len();
        work.wide.resize(p, 0.0);
        let n = kernel::means(block.data, block.weights, p, &mut work.wide);
        let mut squares = vec![0.0; p];
        for (i, row) in block.rows().enumerate() {
            let weight = block.weights.map_or(1.0, |w| w[i]);
            if weight > 0.0 {
                for ((s, x), m) in squares.iter_mut().zip(row).zip(&work.wide) {
                    let d = x.to_f64() - m;
                    *s += weight * d * d;
                }
            }
        }
        self.merge(Self { n, mean: work.wide.clone(), squares });
    }
}

impl Partial for Moments {
    fn merge(&mut self, right: Self) {
        if right.n == 0.0 {
            return;
        }
        if self.n == 0.0 {
            *self = right;
            return;
        }
        let (n1, n2) = (self.n, right.n);
        let (share, weight) = (n2 / (n1 + n2), n1 * n2 / (n1 + n2));
        for j in 0..self.mean.len() {
            let delta = right.mean[j] - self.mean[j];
            self.mean[j] += delta * share;
            self.squares[j] += right.squares[j] + delta * delta * weight;
        }
        self.n += right.n;
    }

    fn pack(&self, out: &mut Packer) {
        out.number(self.n);
        out.numbers(&self.mean);
        out.numbers(&self.squares);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let part = Self { n: from.number()?, mean: from.numbers()?, squares: from.numbers()? };
        from.check(part.squares.len() == part.mean.len())?;
        Ok(part)
    }

    fn bytes(&self) -> usize {
        8 * (1 + 2 * self.mean.len())
    }
}
