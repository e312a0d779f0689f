//! Gradients and separation statistics of a nonlinearity, summed over all rows.
//!
//! ```text
//! gradient_j = E[x phi(z_j)]        b_j = E[z phi] = w_j gradient_j / sigma_j        A_j = E[phi']        psi = phi' - z phi
//! ```
//!
//! `A_j - b_j = E psi` decides whether a nonlinearity separates source `j` from others of equal variance; its standard error
//! decides whether that is significant.

use super::nonlinearity::{Nonlinearity, TypedNonlinearity};
use crate::error::Result;
use crate::num::{Block, Matrix, Real, Workspace, kernel};
use crate::stats::{Gather, Packer, Partial, Unpacker};
use serde::{Deserialize, Serialize};

/// A statistic summed over blocks of codes in a sweep.
pub(crate) trait Rule<T: Real>: Sync + Clone {
    /// The sums.
    type Sums: Partial;
    /// The name of its gather in packed form.
    const KIND: &'static str;
    /// The sums over no rows, for `k` components and rows of `p` numbers.
    fn zero(&self, k: usize, p: usize) -> Self::Sums;
    /// Adds rows `x` and their codes `z`, which may be overwritten.
    fn gather(&self, sums: &mut Self::Sums, x: &[T], z: &mut [T], weights: Option<&[f64]>, work: &mut Vec<T>);
    /// The part of the sums, `k x p`, that depends on the coordinates of rows.
    fn gradient<'s>(&self, sums: &'s mut Self::Sums) -> &'s mut Matrix<f64>;
    /// Serialises the rule.
    fn pack(&self, out: &mut Packer);
    /// Inverse of `pack`.
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self>;
    /// Whether the rule is for `k` components.
    fn is_for(&self, k: usize) -> bool;
}

/// Gathers the sums of a rule over codes `z = (x - mean) into`.
pub(crate) struct GatherCodes<T, R> {
    /// Offset that is subtracted from rows, if any.
    pub(super) mean: Option<Vec<f64>>,
    /// `p x k`.
    pub(super) into: Matrix<T>,
    pub(super) rule: R,
}

impl<T: Real, R: Rule<T>> Gather<T> for GatherCodes<T, R> {
    type Part = R::Sums;
    const KIND: &'static str = R::KIND;

    fn width(&self) -> Option<usize> {
        Some(self.into.rows())
    }

    fn zero(&self, n_features: usize) -> R::Sums {
        self.rule.zero(self.into.cols(), n_features)
    }

    fn add(&self, part: &mut R::Sums, block: Block<'_, T>, work: &mut Workspace<T>) {
        let (p, k) = (self.into.rows(), self.into.cols());
        let Workspace { rows, product, nonlinear, wide, .. } = work;
        let (x, weights) = block.counted(self.mean.as_deref(), rows, wide);
        if x.is_empty() {
            return;
        }
        product.resize(x.len() / p * k, T::default());
        kernel::product(product, x, self.into.as_slice(), x.len() / p, p, k);
        self.rule.gather(part, x, product, weights, nonlinear);
    }

    fn pack(&self, out: &mut Packer) {
        out.maybe(self.mean.as_deref());
        out.matrix_of(&self.into);
        self.rule.pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (mean, into, rule) = (from.maybe()?, from.matrix_of::<T>()?, R::unpack(from)?);
        from.check(mean.as_ref().is_none_or(|m| m.len() == into.rows()) && rule.is_for(into.cols()))?;
        Ok(Self { mean, into, rule })
    }
}

/// A pass through the nonlinearity in use, and through others for comparison.
#[derive(Clone)]
pub struct Pass {
    /// The nonlinearity in use, which determines the gradient.
    pub h: Nonlinearity,
    /// Nonlinearities whose separation statistics are computed; for the first of them also those of every
    /// pair.
    pub separations: Vec<Nonlinearity>,
    /// Whether `phi` is summed, which is needed if rows were not centred.
    pub(super) score_mean: bool,
    /// Whether gradients are computed, or separations only.
    pub(super) gradient: bool,
}

impl Pass {
    /// Gradients for centred rows under `h`, and separation statistics under each of `separations`.
    pub fn new(h: Nonlinearity, separations: Vec<Nonlinearity>) -> Self {
        Self { h, separations, score_mean: false, gradient: true }
    }

    /// Separation statistics under each of `separations`, without gradients.
    pub fn with_separations(separations: Vec<Nonlinearity>) -> Self {
        Self { h: Nonlinearity::tanh(vec![1.0]), separations, score_mean: false, gradient: false }
    }
}

/// Sums of a [`Pass`].
#[derive(Clone, Debug, PartialEq)]
pub struct PassSums {
    /// Sum of `phi(z_j) x`, `k x p`.
    pub gradient: Matrix<f64>,
    /// Sum of `phi(z_j)`.
    pub score_mean: Vec<f64>,
    /// For each nonlinearity of `separations`: sums of `z phi`, `phi'`, `psi` and its square, one after the other.
    pub separations: Vec<f64>,
    /// Sum of `z_i^2 phi'(z_j)` under the first of them, `k x k`; empty if there is none.
    pub pair_slope: Matrix<f64>,
}

impl PassSums {
    /// Sums over no rows, for `k` components, rows of `p` numbers, and this number of nonlinearities in `separations`.
    pub fn empty(k: usize, p: usize, separations: usize) -> Self {
        let pairs = if separations == 0 { 0 } else { k };
        Self {
            gradient: Matrix::zeros(k, p),
            score_mean: vec![0.0; k],
            separations: vec![0.0; 4 * k * separations],
            pair_slope: Matrix::zeros(pairs, pairs),
        }
    }

    /// Adds rows `x` and their standardised codes `z`, which are written over. `O(n k p)`.
    pub fn gather<T: Real>(
        &mut self,
        pass: &Pass,
        x: &[T],
        z: &mut [T],
        weights: Option<&[f64]>,
        work: &mut Vec<T>,
    ) {
        Rule::gather(pass, self, x, z, weights, work);
    }
}

impl Partial for PassSums {
    fn merge(&mut self, right: Self) {
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        add(self.gradient.as_mut_slice(), right.gradient.as_slice());
        add(&mut self.score_mean, &right.score_mean);
        add(&mut self.separations, &right.separations);
        add(self.pair_slope.as_mut_slice(), right.pair_slope.as_slice());
    }

    fn pack(&self, out: &mut Packer) {
        out.matrix(&self.gradient);
        out.numbers(&self.score_mean);
        out.numbers(&self.separations);
        out.numbers(self.pair_slope.as_slice());
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (gradient, score_mean, separations) = (from.matrix()?, from.numbers()?, from.numbers()?);
        let (k, pair_slope) = (gradient.rows(), from.numbers()?);
        let pairs = if separations.is_empty() { 0 } else { k };
        let count = separations.len().checked_div(4 * k).unwrap_or(0);
        from.check(
            score_mean.len() == k && count * 4 * k == separations.len() && pair_slope.len() == pairs * pairs,
        )?;
        Ok(Self { gradient, score_mean, separations, pair_slope: Matrix::from_vec(pairs, pairs, pair_slope) })
    }

    fn bytes(&self) -> usize {
        8 * (self.gradient.as_slice().len()
            + self.score_mean.len()
            + self.separations.len()
            + self.pair_slope.as_slice().len())
    }
}

impl<T: Real> Rule<T> for Pass {
    type Sums = PassSums;
    const KIND: &'static str = "forces";

    fn zero(&self, k: usize, p: usize) -> PassSums {
        PassSums::empty(k, p, self.separations.len())
    }

    fn gather(&self, sums: &mut PassSums, x: &[T], z: &mut [T], weights: Option<&[f64]>, work: &mut Vec<T>) {
        let (k, p) = (sums.score_mean.len(), sums.gradient.cols());
        for (i, (statistics, of_statistics)) in
            self.separations.iter().zip(sums.separations.chunks_exact_mut(4 * k)).enumerate()
        {
            let pair_slope = if i == 0 { Some(&mut sums.pair_slope) } else { None };
            gather_separation(&statistics.ready(k), of_statistics, pair_slope, z, weights, work);
        }
        if !self.gradient {
            return;
        }
        self.h.ready(k).gradient(z);
        if let Some(weights) = weights {
            for (z, w) in z.chunks_exact_mut(k).zip(weights) {
                z.iter_mut().for_each(|z| *z = T::from_f64(z.to_f64() * w));
            }
        }
        if self.score_mean {
            for z in z.chunks_exact(k) {
                sums.score_mean.iter_mut().zip(z).for_each(|(s, z)| *s += z.to_f64());
            }
        }
        kernel::add_cross(sums.gradient.as_mut_slice(), z, x, x.len() / p, k, p);
    }

    fn gradient<'s>(&self, sums: &'s mut PassSums) -> &'s mut Matrix<f64> {
        &mut sums.gradient
    }

    fn pack(&self, out: &mut Packer) {
        self.h.pack(out);
        out.count(self.separations.len() as u64);
        self.separations.iter().for_each(|statistics| statistics.pack(out));
        out.count(u64::from(self.score_mean));
        out.count(u64::from(self.gradient));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let h = Nonlinearity::unpack(from)?;
        let separations =
            (0..from.count()?).map(|_| Nonlinearity::unpack(from)).collect::<Result<Vec<_>>>()?;
        Ok(Self { h, separations, score_mean: from.flag()?, gradient: from.flag()? })
    }

    fn is_for(&self, k: usize) -> bool {
        self.separations.iter().chain([&self.h]).all(|h| [1, k].contains(&h.a.len()))
    }
}

fn gather_separation<T: Real>(
    h: &TypedNonlinearity<T>,
    sums: &mut [f64],
    pair_slope: Option<&mut Matrix<f64>>,
    z: &[T],
    weights: Option<&[f64]>,
    work: &mut Vec<T>,
) {
    let k = sums.len() / 4;
    work.clear();
    work.extend_from_slice(z);
    work.extend_from_slice(z);
    let (gradient, score_slope) = work.split_at_mut(z.len());
    h.score_and_slope(gradient, score_slope);
    if let Some(pair_slope) = pair_slope {
        let mut squares: Vec<T> = z.iter().map(|z| *z * *z).collect();
        for (row, w) in squares.chunks_exact_mut(k).zip(weights.unwrap_or_default()) {
            row.iter_mut().for_each(|x| *x = T::from_f64(x.to_f64() * w));
        }
        kernel::add_cross(pair_slope.as_mut_slice(), &squares, score_slope, z.len() / k, k, k);
    }
    add_separation(sums, z, gradient, score_slope, weights);
}

/// Number of rows that are summed in their own type before the sum is added in double precision.
const ROWS_PER_SUM: usize = 16;

/// Adds `z phi`, `phi'`, `psi` and its square, column by column.
fn add_separation<T: Real>(
    sums: &mut [f64],
    z: &[T],
    gradient: &[T],
    score_slope: &[T],
    weights: Option<&[f64]>,
) {
    let k = sums.len() / 4;
    let mut part = vec![T::default(); 4 * k];
    let groups = z
        .chunks(ROWS_PER_SUM * k)
        .zip(gradient.chunks(ROWS_PER_SUM * k))
        .zip(score_slope.chunks(ROWS_PER_SUM * k));
    crate::num::widest(
        #[inline(always)]
        || {
            for (group, ((z, gradient), score_slope)) in groups.enumerate() {
                part.fill(T::default());
                let (along, rest) = part.split_at_mut(k);
                let (grown, rest) = rest.split_at_mut(k);
                let (gap, square) = rest.split_at_mut(k);
                let rows = z.chunks_exact(k).zip(gradient.chunks_exact(k)).zip(score_slope.chunks_exact(k));
                for (i, ((z, f), g)) in rows.enumerate() {
                    let w = T::from_f64(weights.map_or(1.0, |w| w[group * ROWS_PER_SUM + i]));
                    let sums = along.iter_mut().zip(&mut *grown).zip(&mut *gap).zip(&mut *square);
                    for ((((along, grown), gap), square), ((z, f), g)) in sums.zip(z.iter().zip(f).zip(g)) {
                        let zf = *z * *f;
                        let psi = *g - zf;
                        *along += w * zf;
                        *grown += w * *g;
                        *gap += w * psi;
                        *square += w * psi * psi;
                    }
                }
                sums.iter_mut().zip(&part).for_each(|(s, x)| *s += x.to_f64());
            }
        },
    );
}

/// Means over the codes.
#[derive(Clone, Debug)]
pub struct PassMeans {
    /// Standard deviations of the codes.
    pub sigma: Vec<f64>,
    /// `E[x phi(z_j)]`, a row for each component.
    pub gradient: Matrix<f64>,
    /// Separation statistics, for each nonlinearity of the pass.
    pub separations: Vec<Separation>,
    /// `E[z_i^2 phi'(z_j)]` under the first of them, in row `i`; for independent codes it is `A_j`.
    pub pair_slope: Matrix<f64>,
}

/// Separation statistics of the nonlinearity, component by component.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Separation {
    /// `b = E[z phi]`, which is negative if the nonlinearity selects large variance.
    pub b: Vec<f64>,
    /// `A = E[phi']`.
    pub score_slope: Vec<f64>,
    /// `(A - b) / |b|`, by which nonlinearities are compared.
    pub score_ratio: Vec<f64>,
    /// `A - b` in units of its standard error.
    pub t: Vec<f64>,
    /// The standard error of `A - b`.
    pub error: Vec<f64>,
}

impl PassMeans {
    pub(super) fn new(
        sums: PassSums,
        w: &Matrix<f64>,
        sigma: Vec<f64>,
        n: f64,
        offset: Option<&[f64]>,
    ) -> Self {
        let PassSums { mut gradient, score_mean, separations, mut pair_slope } = sums;
        pair_slope.as_mut_slice().iter_mut().for_each(|x| *x /= n);
        let k = w.rows();
        for j in 0..k {
            let row = gradient.row_mut(j);
            row.iter_mut().for_each(|x| *x /= n);
            // Sums are over centred rows; the term of their mean is added if it was not to be subtracted.
            row.iter_mut().zip(offset.into_iter().flatten()).for_each(|(x, m)| *x += m * score_mean[j] / n);
        }
        Self {
            sigma,
            gradient,
            separations: separations.chunks_exact(4 * k).map(|sums| Separation::new(sums, n)).collect(),
            pair_slope,
        }
    }
}

impl Separation {
    fn new(sums: &[f64], n: f64) -> Self {
        let k = sums.len() / 4;
        let mean = |at: usize, j: usize| sums[at * k + j] / n;
        let each = |f: &dyn Fn(usize) -> f64| (0..k).map(f).collect::<Vec<f64>>();
        let error = |j| ((mean(3, j) - mean(2, j).powi(2)).max(0.0) / n).sqrt();
        // If every code is in the linear range of a nonlinearity the denominator is 0.
        let over = |x: f64, y: f64| if y > 0.0 { x / y } else { 0.0 };
        Self {
            b: each(&|j| mean(0, j)),
            score_slope: each(&|j| mean(1, j)),
            score_ratio: each(&|j| over(mean(2, j), mean(0, j).abs())),
            t: each(&|j| over(mean(2, j), error(j))),
            error: each(&error),
        }
    }
}
