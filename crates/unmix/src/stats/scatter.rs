//! Mean and centred second moments of rows.
//!
//! ```text
//! n₁₂ = n₁ + n₂      δ = μ₂ − μ₁      μ₁₂ = μ₁ + δ n₂/n₁₂
//! S₁₂ = S₁ + S₂ + δδᵀ n₁n₂/n₁₂                       (Chan, Golub & LeVeque 1979)
//! ```
//!
//! Means are sums of two numbers, the nearest number and the remainder: for means of 10⁹ standard deviations, a single number would
//! leave only seven digits in `δ`, and an error in `S` that grows with the similarity of the blocks.
//!
//! Rows are centred from the start: `XᵀX − n μμᵀ` would save a pass, but cancels every digit that the mean and the data have in
//! common (with a mean of 10⁶ standard deviations, all of single precision).

use super::stored::{Counts, shift};
use super::sum::{AddShard, GatherSum, Sum};
use super::{Moments, Packer, Partial, Unpacker, both};
use crate::error::Result;
use crate::num::{Block, Matrix, Plan, Real, Stored, Workspace, kernel};

/// Mean and scatter matrix of `n` rows: sufficient for PCA, whitening and factor analysis.
///
/// Memory: `p² + 2 p + 1` doubles, whatever the number of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// Number of rows so far, weighted.
    pub n: f64,
    /// Mean of each column; exact for a constant column.
    pub mean: Vec<f64>,
    /// Rounding errors of `mean`: the mean is `mean + rest`.
    pub rest: Vec<f64>,
    /// Sum of products about the mean, in the lower triangle; exactly 0 for a constant column.
    pub lower: Matrix<f64>,
}

impl Scatter {
    /// The empty sum, for `p` columns.
    pub fn empty(p: usize) -> Self {
        Self { n: 0.0, mean: vec![0.0; p], rest: vec![0.0; p], lower: Matrix::zeros(p, p) }
    }

    /// The sums of the same rows with column `order[j]` at position `j`, without rounding errors.
    pub(crate) fn reordered(&self, order: &[usize]) -> Self {
        let of = |all: &[f64]| order.iter().map(|&j| all[j]).collect::<Vec<f64>>();
        let entry = |i: usize, j: usize| match j <= i {
            true => self.lower[(order[i].max(order[j]), order[i].min(order[j]))],
            false => 0.0,
        };
        let lower = Matrix::from_fn(order.len(), order.len(), entry);
        Self { n: self.n, mean: of(&self.mean), rest: of(&self.rest), lower }
    }

    /// Adds a block of rows. `O(b p²)`.
    ///
    /// The block is centred on its own mean; the term `δδᵀ n₁n₂/n₁₂` enters as an additional row of the centred block, so that no
    /// separate pass over the `p × p` sums is needed.
    pub fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let p = self.mean.len();
        let Workspace { rows, wide, .. } = work;
        wide.resize(3 * p, 0.0);
        let (mean, others) = wide.split_at_mut(p);
        let (rest, differences) = others.split_at_mut(p);
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
                for ((differences, (m1, r1)), other) in
                    differences.iter_mut().zip(own).zip(mean.iter().zip(&*rest))
                {
                    *differences = kernel::merge_mean(m1, r1, (*other.0, *other.1), share) * weight;
                }
                Some(&*differences)
            }
        };
        self.n += n2;
        let (packed, count) = kernel::pack_centred(block.data, block.weights, (mean, rest), last, rows);
        kernel::add_gram(self.lower.as_mut_slice(), packed, count, p);
    }

    /// Merges the number and the mean of `n` more rows; returns `δ` and the weight of the correction `weight δδᵀ` of the products. `None`
    /// if there were no rows before.
    fn join(&mut self, n: f64, mean: &[f64], rest: &[f64]) -> Option<(Vec<f64>, f64)> {
        let (n1, n2) = (self.n, n);
        self.n += n;
        if n1 == 0.0 {
            self.mean.copy_from_slice(mean);
            self.rest.copy_from_slice(rest);
            return None;
        }
        let (share, weight) = (n2 / (n1 + n2), n1 * n2 / (n1 + n2));
        let own = self.mean.iter_mut().zip(&mut self.rest);
        let differences = own
            .zip(mean.iter().zip(rest))
            .map(|((m1, r1), (m2, r2))| kernel::merge_mean(m1, r1, (*m2, *r2), share))
            .collect();
        Some((differences, weight))
    }

    /// Sum of squares about the mean, over all columns.
    pub fn total(&self) -> f64 {
        (0..self.mean.len()).map(|j| self.lower[(j, j)]).sum()
    }

    /// Indices of the columns that are not constant.
    pub fn varying(&self) -> Vec<usize> {
        (0..self.mean.len()).filter(|&j| self.lower[(j, j)] > 0.0).collect()
    }

    /// Whether every sum is a finite number.
    pub fn finite(&self) -> bool {
        self.mean.iter().chain(self.lower.as_slice()).all(|x| x.is_finite())
    }
}

/// Gathers [`Scatter`].
pub type GatherScatter = GatherSum<Scatter>;

impl<T: Real> Sum<T> for Scatter {
    const KIND: &'static str = "scatter";
    const STORED: Option<AddShard<Self, T>> = Some(add_stored);

    fn plan(n_features: usize) -> Plan {
        Plan::for_gram(n_features)
    }

    fn zero(n_features: usize) -> Self {
        Self::empty(n_features)
    }

    fn add(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        self.gather(block, work);
    }
}

/// Adds line `i` of another part, whose mean differs by `delta`.
fn add_line(line: &mut [f64], other: &[f64], i: usize, delta: &[f64], weight: f64) {
    let scale = delta[i] * weight;
    for ((s, a), d) in line[..=i].iter_mut().zip(&other[..=i]).zip(delta) {
        *s += a + scale * d;
    }
}

/// `Σ_i s_i²/2` multiplications for rows of `s_i` stored entries.
fn add_stored<T: Real>(part: &mut Scatter, shard: &Stored<'_, T>) -> Result<()> {
    let (p, counts) = (shard.n_features(), Counts::of_shard(shard));
    let (Moments { n, mean, rest, squares }, full) = Moments::of_stored(shard)?;
    if n == 0.0 {
        return Ok(());
    }
    let shifts = full.iter().zip(mean.iter().zip(&rest)).map(|(&full, (&m, &r))| shift(full, m, r));
    let (shift, left): (Vec<f64>, Vec<f64>) = shifts.unzip();
    let shifted = shift.iter().any(|&c| c != 0.0);
    let line = |i: usize, out: &mut [f64]| {
        // For a constant column every product is 0, but computed ones have rounding errors.
        if squares[i] == 0.0 {
            return;
        }
        let (rows, values) = shard.column(i);
        for (&r, x) in rows.iter().zip(values) {
            let w = counts.of(r as usize);
            if w == 0.0 {
                continue;
            }
            let a = w * (x.to_f64() - shift[i]);
            let (columns, values) = shard.row(r as usize);
            let entries = columns.iter().zip(values).take_while(|(j, _)| (**j as usize) < i);
            match shifted {
                true => entries.for_each(|(&j, v)| out[j as usize] += a * (v.to_f64() - shift[j as usize])),
                false => entries.for_each(|(&j, v)| out[j as usize] += a * v.to_f64()),
            }
        }
        let rest = counts.total * left[i];
        if rest != 0.0 {
            (0..i).for_each(|j| out[j] -= rest * left[j]);
        }
        (0..i).filter(|&j| squares[j] == 0.0).for_each(|j| out[j] = 0.0);
        out[i] = squares[i];
    };
    match part.join(n, &mean, &rest) {
        None => shard.fill(part.lower.as_mut_slice(), p, line),
        Some((delta, weight)) => shard.fill(part.lower.as_mut_slice(), p, |i, out| {
            let mut other = vec![0.0; i + 1];
            line(i, &mut other);
            add_line(out, &other, i, &delta, weight);
        }),
    }
}

impl Partial for Scatter {
    fn merge(&mut self, right: Self) {
        let Some(right) = both(self, right, |part| part.n) else { return };
        if let Some((delta, weight)) = self.join(right.n, &right.mean, &right.rest) {
            for i in 0..delta.len() {
                add_line(self.lower.row_mut(i), right.lower.row(i), i, &delta, weight);
            }
        }
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
