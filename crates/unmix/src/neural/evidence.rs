//! Sampling error of each component, from the scatter over blocks of consecutive rows.
//!
//! Components converge where `g_ij = s_j^(1 + alpha) E[y_i phi(z_j)] - s_i^(1 + alpha) E[y_j phi(z_i)]` is 0 for every pair. A
//! small rotation of the pair by `t` radians changes it by `L_ij t` ([`pairs`](super::pairs)), so sampling rotates the pair by
//! `mean(g_ij) / L_ij`: a standard deviation of `sd(mean(g_ij)) / |L_ij|` radians, the sandwich of an M-estimator (Huber 1967).
//! The standard errors of `L_ij` and `g_ij` are estimated from the scatter of their means over blocks of consecutive rows (batch
//! means, Conway 1963): no higher moments have to be estimated, and rows need not be independent, as long as the
//! autocorrelation is shorter than a block.
//!
//! Unlike in the condition for pairs, `L_ij` here has `E[z_i² phi'(z_j)]`, not its value `E[phi'(z_j)]` for independent codes: for rows
//! of a spherical distribution, which are not Gaussian but have no axes, the first makes `L_ij` 0 in every direction, the second large.
//!
//! Standard deviations of the codes are estimates, too. Their error changes `A - b` and `L_ij` by `-A (mean(z²) - 1)` for Gaussian codes,
//! which is subtracted block by block.

use super::native::orthonormality;
use super::nonlinearity::{Nonlinearity, TypedNonlinearity};
use super::start::Principal;
use crate::error::Result;
use crate::num::parallel;
use crate::num::{Matrix, Real, factor, kernel};
use crate::run::Run;
use crate::stats::quantiles::{student, upper_sum};

/// Number of blocks of consecutive rows.
const BLOCKS: usize = 32;
/// Minimum number of blocks from which the scatter is estimated.
const FEWEST_BLOCKS: usize = 8;
/// Minimum number of rows of a block.
const LEAST_ROWS_PER_BLOCK: usize = 4;
/// Maximum number of entries of the sums of all blocks.
const MOST_ENTRIES: usize = 1 << 23;
/// Maximum number of axes outside of the components that are included, besides the bound of `4 k` axes in all.
const MOST_OTHER_AXES: usize = 256;
/// Maximum numbers of multiplications and of rows: blocks are truncated accordingly.
const MOST_PRODUCTS: usize = 1 << 28;
const MOST_ROWS: usize = 1 << 18;

/// The mean square of the angle over its first-order value `v`, in rad², is about `1 + 7 v`: measured on nine designs of 4 to 60 columns
/// whose axes are known, 1.0 to 1.1 up to `v = 0.01`, 1.3 at 0.04, 1.5 at 0.07.
const SECOND_ORDER_FACTOR: f64 = 7.0;

/// Maximum deviation of components from orthonormality (`||W'W - I||_F`) for which these statistics are computed.
const LARGEST_DEVIATION: f64 = 0.5;

/// Sums over one block of rows, of `r` coordinates along orthonormal axes of which the first `k` are components.
#[derive(Clone, Debug)]
struct Sums {
    /// Number of rows, weighted.
    n: f64,
    /// Sum of `phi(z_j) z_i`, `k x r`.
    cross: Matrix<f64>,
    /// Sum of `phi'(z_j) z_i²`, `k x r`.
    pair_slope: Matrix<f64>,
    /// Sum of `z_i²`, `r`.
    square: Vec<f64>,
    /// Sum of `phi'(z_j)`, `k`.
    score_slope: Vec<f64>,
}

/// Axes, and their statistics over blocks of rows.
#[derive(Clone, Debug)]
pub(crate) struct BlockEvidence {
    /// Standard deviations along all axes, components first.
    sigma: Vec<f64>,
    blocks: Vec<Sums>,
    /// The fraction of the rows that are in the blocks.
    share: f64,
    /// Number of further directions of the rows.
    rest: usize,
}

impl BlockEvidence {
    /// Statistics of coordinates `x`, divided into `count` blocks, along the orthonormal rows of `w`, whose standard deviations are `sigma`;
    /// the first of these, as many as `h` has widths, are components.
    fn new<T: Real>(
        x: &[T],
        weights: Option<&[f64]>,
        count: usize,
        w: &Matrix<f64>,
        sigma: Vec<f64>,
        h: &Nonlinearity,
    ) -> Self {
        let (inner, k) = (w.cols(), h.a.len());
        let m = x.len() / inner;
        let into = Matrix::from_fn(inner, w.rows(), |i, j| w[(j, i)] / sigma[j]).cast::<T>();
        let ready = h.ready::<T>(k);
        let one = |b: usize| {
            let rows = b * m / count..(b + 1) * m / count;
            let x = &x[rows.start * inner..rows.end * inner];
            sums(x, weights.map(|w| &w[rows]), &into, &ready, k)
        };
        Self { sigma, blocks: parallel::map(0..count, one), share: 1.0, rest: 0 }
    }
}

fn sums<T: Real>(
    x: &[T],
    weights: Option<&[f64]>,
    into: &Matrix<T>,
    h: &TypedNonlinearity<T>,
    k: usize,
) -> Sums {
    let (inner, r) = (into.rows(), into.cols());
    let n = x.len() / inner;
    let mut z = vec![T::default(); n * r];
    kernel::product(&mut z, x, into.as_slice(), n, inner, r);
    let mut gradient: Vec<T> = z.chunks_exact(r).flat_map(|z| z[..k].iter().copied()).collect();
    let mut score_slope = vec![T::default(); n * k];
    h.score_and_slope(&mut gradient, &mut score_slope);
    if let Some(weights) = weights {
        for numbers in [&mut gradient, &mut score_slope] {
            for (row, w) in numbers.chunks_exact_mut(k).zip(weights) {
                row.iter_mut().for_each(|x| *x = T::from_f64(x.to_f64() * w));
            }
        }
    }
    let mut out = Sums {
        n: weights.map_or(n as f64, |w| w.iter().sum()),
        cross: Matrix::zeros(k, r),
        pair_slope: Matrix::zeros(k, r),
        square: vec![0.0; r],
        score_slope: vec![0.0; k],
    };
    kernel::add_cross(out.cross.as_mut_slice(), &gradient, &z, n, k, r);
    z.iter_mut().for_each(|z| *z = *z * *z);
    kernel::add_cross(out.pair_slope.as_mut_slice(), &score_slope, &z, n, k, r);
    for (i, z) in z.chunks_exact(r).enumerate() {
        let w = weights.map_or(1.0, |w| w[i]);
        out.square.iter_mut().zip(z).for_each(|(s, z)| *s += w * z.to_f64());
    }
    for g in score_slope.chunks_exact(k) {
        out.score_slope.iter_mut().zip(g).for_each(|(s, g)| *s += g.to_f64());
    }
    out
}

impl<T: Real> Principal<'_, T> {
    /// Statistics of the components, rows of `w` in coordinates, under `h`, over blocks of at least two `block_length`s; none if there are too
    /// few rows, or if components are far from orthonormal.
    pub(crate) fn block_evidence(
        &self,
        w: &Matrix<f64>,
        h: &Nonlinearity,
        block_length: u64,
        run: &Run<'_>,
    ) -> Result<Option<BlockEvidence>> {
        if orthonormality(w) > LARGEST_DEVIATION {
            return Ok(None);
        }
        let frame = self.frame(w)?;
        let n = self.n_rows() as usize;
        // Blocks of twice the block length, beyond which rows are not autocorrelated, are nearly independent.
        let length = if block_length > 1 { 2 * block_length as usize } else { LEAST_ROWS_PER_BLOCK };
        let count =
            (n / length).min(BLOCKS).min((MOST_ENTRIES / (2 * w.rows() * frame.rows())).max(FEWEST_BLOCKS));
        if count < FEWEST_BLOCKS {
            return Ok(None);
        }
        let most = (MOST_PRODUCTS / (frame.rows() * frame.cols())).min(MOST_ROWS).div_ceil(count).max(64);
        let rows = |b: usize| {
            let (first, end) = (b * n / count, (b + 1) * n / count);
            first as u64..end.min(first + most) as u64
        };
        let (x, weights) = self.coordinates_of((0..count).flat_map(rows).collect(), run)?;
        let sigma = self.deviations(&frame);
        let evidence = BlockEvidence::new(&x, weights.as_deref(), count, &frame, sigma, h);
        let share = evidence.blocks.iter().map(|b| b.n).sum::<f64>() / self.n();
        let rest = self.spectrum.rank.unwrap_or(self.spectrum.mean.len()).saturating_sub(frame.rows());
        Ok(Some(BlockEvidence { share, rest, ..evidence }))
    }

    /// The rows of `w`, orthonormalised, and orthogonal axes in the space of the first coordinates, by decreasing variance.
    fn frame(&self, w: &Matrix<f64>) -> Result<Matrix<f64>> {
        let w = factor::polar_rows(w)?;
        let (k, r) = (w.rows(), w.cols());
        let c = r.min(4 * k).min(k + MOST_OTHER_AXES);
        let outside = Matrix::from_fn(c, r, |i, m| {
            f64::from(u8::from(i == m)) - (0..k).map(|j| w[(j, i)] * w[(j, m)]).sum::<f64>()
        });
        let (values, rotation) = factor::eigh(&factor::multiply_transposed(&outside, &outside))?;
        // Coordinates in the span of the components have no orthogonal part.
        let more = values.iter().filter(|v| **v > 1e-3).count().min(r - k);
        if more == 0 {
            return Ok(w);
        }
        let unit = Matrix::from_fn(more, c, |i, m| rotation[(i, m)] / values[i].sqrt());
        let others = factor::multiply(&unit, &outside);
        let others = factor::multiply(&factor::eigh(&self.covariance(&others))?.1, &others);
        let mut numbers = w.into_vec();
        numbers.extend_from_slice(others.as_slice());
        Ok(Matrix::from_vec(k + more, r, numbers))
    }
}

/// Sampling error of a component, from the scatter of blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct SamplingError {
    /// `A - b` in units of its standard error: 0 for a Gaussian.
    pub t: f64,
    /// The smallest `L_ij` over all other axes, in units of its standard error.
    pub least: f64,
    /// The index of that axis: of a component if it is less than their number.
    pub partner: usize,
    /// The critical value that `t` and `least` must exceed.
    pub needed: f64,
    /// An upper bound of the angle between the component and the population axis, in rad.
    pub angle: f64,
}

/// Error rate of a verdict.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Confidence {
    /// The probability that some component of a model exceeds a bound by chance.
    pub(crate) level: f64,
    /// Correction of the critical value for the search, in standard errors, times the square root of the number of directions: a search
    /// among so many finds as much under the null hypothesis.
    pub(crate) search: f64,
    /// Whether components may not have converged, so that the distance to the stationary point is part of the angle.
    pub(crate) moving: bool,
}

impl BlockEvidence {
    /// Statistics of all components over blocks, with weights `s^alpha`.
    pub(crate) fn sampling_errors(&self, alpha: f64, confidence: Confidence) -> Vec<SamplingError> {
        let (r, k) = (self.sigma.len(), self.blocks[0].score_slope.len());
        let n: f64 = self.blocks.iter().map(|b| b.n).sum();
        let score_slope: Vec<f64> =
            (0..k).map(|j| self.blocks.iter().map(|b| b.score_slope[j]).sum::<f64>() / n).collect();
        let quantile = student(confidence.level / k as f64, self.blocks.len() as f64 - 1.0);
        let needed = quantile + confidence.search * ((r + self.rest) as f64).sqrt();
        let one = |j: usize| {
            let gap = |b: &Sums| b.score_slope[j] - b.cross[(j, j)] + score_slope[j] * (b.square[j] - b.n);
            let (mut least, mut angles, mut moved) = ((f64::INFINITY, j), Vec::with_capacity(r), 0.0);
            for i in (0..r).filter(|&i| i != j) {
                let pair = Pair::of(&self.sigma, &score_slope, alpha, i, j);
                let (pair_coefficient, gradient) =
                    (self.mean(&|b| pair.pair_coefficient(b)), self.mean(&|b| pair.gradient(b)));
                if pair_coefficient.t() < least.0 {
                    least = (pair_coefficient.t(), i);
                }
                let slope = (pair_coefficient.value * pair_coefficient.value).max(f64::MIN_POSITIVE);
                angles.push(self.share * gradient.variance / slope);
                moved += if confidence.moving { gradient.value * gradient.value / slope } else { 0.0 };
            }
            // The other directions have at most the variance of the last axis, and directions of small variance rotate a component little.
            let last = angles.last().copied().unwrap_or(0.0);
            angles.resize(angles.len() + self.rest, last);
            let square =
                upper_sum(&angles, quantile) * (1.0 + SECOND_ORDER_FACTOR * angles.iter().sum::<f64>());
            let angle = (moved.sqrt() + square.sqrt()).min(std::f64::consts::FRAC_PI_2);
            SamplingError { t: self.mean(&gap).t(), least: least.0, partner: least.1, needed, angle }
        };
        (0..k).map(one).collect()
    }

    /// The mean over rows of a quantity whose sum over the rows of a block is `sum`.
    fn mean(&self, sum: &dyn Fn(&Sums) -> f64) -> Mean {
        let (mut n, mut total) = (0.0, 0.0);
        for b in &self.blocks {
            n += b.n;
            total += sum(b);
        }
        let value = total / n;
        let squares: f64 = self.blocks.iter().map(|b| (sum(b) - b.n * value).powi(2)).sum();
        let count = self.blocks.len() as f64;
        Mean { value, variance: squares / (n * n) * count / (count - 1.0) }
    }
}

/// A mean, and its sampling variance.
struct Mean {
    value: f64,
    variance: f64,
}

impl Mean {
    /// In units of its standard error.
    fn t(&self) -> f64 {
        if self.variance > 0.0 { self.value / self.variance.sqrt() } else { 0.0 }
    }
}

/// A pair of axes, the second of them a component.
struct Pair {
    i: usize,
    j: usize,
    si: f64,
    sj: f64,
    /// `s^alpha` of both.
    weight: [f64; 2],
    /// `A` of both; none for an axis outside of the components.
    score_slope: [Option<f64>; 2],
}

impl Pair {
    fn of(sigma: &[f64], score_slope: &[f64], alpha: f64, i: usize, j: usize) -> Self {
        let larger = sigma[i].max(sigma[j]);
        let (si, sj) = (sigma[i] / larger, sigma[j] / larger);
        let score_slope = [score_slope.get(i).copied(), score_slope.get(j).copied()];
        Self { i, j, si, sj, weight: [si.powf(alpha), sj.powf(alpha)], score_slope }
    }

    /// `L_ij` summed over the rows of a block, corrected for the variances of the codes in the block.
    fn pair_coefficient(&self, b: &Sums) -> f64 {
        let half = |i: usize, si: f64, j: usize, sj: f64, score_slope: f64| {
            let pair_slope = b.pair_slope[(j, i)] - score_slope * (b.square[i] - b.n);
            let own = b.cross[(j, j)] - score_slope * (b.square[j] - b.n);
            si * si * pair_slope - sj * sj * own
        };
        let of_j =
            self.score_slope[1].map_or(0.0, |a| self.weight[1] * half(self.i, self.si, self.j, self.sj, a));
        let of_i =
            self.score_slope[0].map_or(0.0, |a| self.weight[0] * half(self.j, self.sj, self.i, self.si, a));
        of_j + of_i
    }

    /// `g_ij` summed over the rows of a block.
    fn gradient(&self, b: &Sums) -> f64 {
        let both = self.si * self.sj;
        let of_j = self.weight[1] * b.cross[(self.j, self.i)];
        let of_i = self.score_slope[0].map_or(0.0, |_| self.weight[0] * b.cross[(self.i, self.j)]);
        both * (of_j - of_i)
    }
}
