//! Mean and centred second moment of some rows.
//!
//! ```text
//! n₁₂ = n₁ + n₂      δ = μ₂ − μ₁      μ₁₂ = μ₁ + δ n₂/n₁₂
//! S₁₂ = S₁ + S₂ + δδᵀ n₁n₂/n₁₂                       (Chan, Golub & LeVeque 1979)
//! ```
//!
//! Means are two numbers each, the nearest and what that leaves: of means of 10⁹ standard deviations, which one number holds to seven
//! digits of these, `δ` would have seven, and `S` as many more as blocks differ little from each other.
//!
//! Centred from the start: `XᵀX − n μμᵀ` would be one pass cheaper and loses every digit that the mean has in common with
//! the data (with a mean of 10⁶ standard deviations, all of single precision).

use super::{Gather, Packer, Partial, Unpacker};
use crate::error::Result;
use crate::num::{Block, Matrix, Plan, Real, Workspace, kernel};

/// What `n` rows say about location and spread: all that PCA, whitening and factor analysis need.
///
/// Memory is `p² + 2 p + 1` doubles, however many rows were seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// Rows seen, each as often as it counts.
    pub n: f64,
    /// Mean of each column; of a constant column, its constant to the bit.
    pub mean: Vec<f64>,
    /// What is missing from `mean` to the mean: the digits that a number of its size has no room for.
    pub rest: Vec<f64>,
    /// Sum of products about the mean, in the lower triangle; of a constant column, exactly 0.
    pub lower: Matrix<f64>,
}

impl Scatter {
    /// Nothing seen yet, of `p` columns.
    pub fn empty(p: usize) -> Self {
        Self { n: 0.0, mean: vec![0.0; p], rest: vec![0.0; p], lower: Matrix::zeros(p, p) }
    }

    /// Adds a block of rows. `O(b p²)`.
    ///
    /// The block is centred on its own mean; the term `δδᵀ n₁n₂/n₁₂` enters as one more row of the centred block, so that
    /// no pass of its own over the `p × p` sums is needed.
    pub fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let p = self.mean.len();
        let Workspace { rows, wide, .. } = work;
        wide.resize(3 * p, 0.0);
        let (mean, others) = wide.split_at_mut(p);
        let (rest, apart) = others.split_at_mut(p);
        let (n1, n2) = (self.n, kernel::means(block.data, block.weights, p, mean, rest));
        if n2 == 0.0 {
            return;
        }
        let last = match n1 == 0.0 {
            true => {
                self.mean.copy_from_slice(mean);
                self.rest.copy_from_slice(rest);
                None
            }
            false => {
                let (weight, share) = ((n1 * n2 / (n1 + n2)).sqrt(), n2 / (n1 + n2));
                let own = self.mean.iter_mut().zip(&mut self.rest);
                for ((apart, (m1, r1)), other) in apart.iter_mut().zip(own).zip(mean.iter().zip(&*rest)) {
                    *apart = kernel::merge_mean(m1, r1, (*other.0, *other.1), share) * weight;
                }
                Some(&*apart)
            }
        };
        self.n += n2;
        let count = kernel::pack_centred(block.data, block.weights, (mean, rest), last, rows);
        kernel::add_gram(self.lower.as_mut_slice(), rows, count, p);
    }

    /// Sum of squares about the mean, over all columns.
    pub fn total(&self) -> f64 {
        (0..self.mean.len()).map(|j| self.lower[(j, j)]).sum()
    }

    /// Columns that vary.
    pub fn varying(&self) -> Vec<usize> {
        (0..self.mean.len()).filter(|&j| self.lower[(j, j)] > 0.0).collect()
    }

    /// Whether every sum is a finite number.
    pub fn finite(&self) -> bool {
        self.mean.iter().chain(self.lower.as_slice()).all(|x| x.is_finite())
    }
}

/// Gathers [`Scatter`].
#[derive(Clone, Copy, Debug)]
pub struct GatherScatter;

impl<T: Real> Gather<T> for GatherScatter {
    type Part = Scatter;
    const KIND: &'static str = "scatter";

    fn plan(&self, n_features: usize) -> Plan {
        Plan::for_table(n_features)
    }

    fn width(&self) -> Option<usize> {
        None
    }

    fn zero(&self, n_features: usize) -> Scatter {
        Scatter::empty(n_features)
    }

    fn add(&self, part: &mut Scatter, block: Block<'_, T>, work: &mut Workspace<T>) {
        part.gather(block, work);
    }

    fn pack(&self, _: &mut Packer) {}

    fn unpack(_: &mut Unpacker<'_>) -> Result<Self> {
        Ok(Self)
    }
}

impl Partial for Scatter {
    fn merge(&mut self, right: Self) {
        if right.n == 0.0 {
            return;
        }
        if self.n == 0.0 {
            *self = right;
            return;
        }
        let p = self.mean.len();
        let (n1, n2) = (self.n, right.n);
        let (share, weight) = (n2 / (n1 + n2), n1 * n2 / (n1 + n2));
        let own = self.mean.iter_mut().zip(&mut self.rest);
        let others = right.mean.iter().zip(&right.rest);
        let delta: Vec<f64> = own
            .zip(others)
            .map(|((m1, r1), (m2, r2))| kernel::merge_mean(m1, r1, (*m2, *r2), share))
            .collect();
        for i in 0..p {
            let scale = delta[i] * weight;
            let add = &right.lower.row(i)[..=i];
            for ((s, a), d) in self.lower.row_mut(i)[..=i].iter_mut().zip(add).zip(&delta) {
                *s += a + scale * d;
            }
        }
        self.n += right.n;
    }

    fn pack(&self, out: &mut Packer) {
        out.number(self.n);
        out.numbers(&self.mean);
        out.numbers(&self.rest);
        out.matrix(&self.lower);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let part =
            Self { n: from.number()?, mean: from.numbers()?, rest: from.numbers()?, lower: from.matrix()? };
        from.check([part.lower.rows(), part.lower.cols(), part.rest.len()] == [part.mean.len(); 3])?;
        Ok(part)
    }

    fn bytes(&self) -> usize {
        let p = self.mean.len();
        8 * (1 + 2 * p + p * p)
    }
}
