//! Kernels on a block of codes for a step of Newton's method.

use super::super::nonlinearity::{Nonlinearity, TypedNonlinearity};
use super::super::separation::Rule;
use crate::error::Result;
use crate::num::simd::{SIMD_WIDTH, padded, put};
use crate::num::{Matrix, Real, kernel, widest};
use crate::stats::{Packer, Partial, Unpacker};

/// Number of entries of a column that are summed in their own type before the sum is added in double precision.
const NUMBERS_PER_RUN: usize = 16;

/// Sums of a pass, from which a step is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct NativeSums {
    /// Sum of `e_j x` with `e` the error of the reconstruction times the slope, `k x p`.
    pub gradient: Matrix<f64>,
    /// Sums of `z_i^2 phi'(z_j)`, `z_i h(z_i) h'(z_j)` and `z_i h(z_j)`, `k x k` each, one below the other.
    pub pairs: Matrix<f64>,
    /// Sums of `z phi`, `phi'` and `h'`, one after the other.
    pub alone: Vec<f64>,
}

impl NativeSums {
    /// Sums over no rows, for `k` components and rows of `p` numbers.
    pub fn empty(k: usize, p: usize) -> Self {
        Self { gradient: Matrix::zeros(k, p), pairs: Matrix::zeros(3 * k, k), alone: vec![0.0; 3 * k] }
    }

    /// Adds rows `x` and their standardised codes `z`, which are written over. `O(n k p + n k²)`.
    pub fn gather<T: Real>(
        &mut self,
        pass: &NativePass<T>,
        x: &[T],
        z: &mut [T],
        weights: Option<&[f64]>,
        work: &mut Vec<T>,
    ) {
        Rule::gather(pass, self, x, z, weights, work);
    }
}

impl Partial for NativeSums {
    fn merge(&mut self, right: Self) {
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        add(self.gradient.as_mut_slice(), right.gradient.as_slice());
        add(self.pairs.as_mut_slice(), right.pairs.as_slice());
        add(&mut self.alone, &right.alone);
    }

    fn pack(&self, out: &mut Packer) {
        out.matrix(&self.gradient);
        out.numbers(self.pairs.as_slice());
        out.numbers(&self.alone);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (gradient, pairs, alone) = (from.matrix()?, from.numbers()?, from.numbers()?);
        let k = gradient.rows();
        from.check(alone.len() == 3 * k && pairs.len() == 3 * k * k)?;
        Ok(Self { gradient, pairs: Matrix::from_vec(3 * k, k, pairs), alone })
    }

    fn bytes(&self) -> usize {
        8 * (self.gradient.as_slice().len() + self.pairs.as_slice().len() + self.alone.len())
    }
}

/// A pass of codes through a nonlinearity and back, in the type of the rows.
#[derive(Clone)]
pub struct NativePass<T> {
    /// The arguments of `new`.
    of: (Nonlinearity, Vec<f64>, Matrix<f64>),
    h: TypedNonlinearity<T>,
    k: usize,
    /// Standard deviations of the columns, repeated over the period of `h`.
    sigma: Vec<T>,
    /// `Sigma M`, row-major.
    coupling: Vec<T>,
}

/// Functions of the codes of a block.
struct Codes<'a, T> {
    z: &'a mut [T],
    h: &'a [T],
    slope: &'a [T],
    score_slope: &'a [T],
    /// The reconstruction `U M`, overwritten by its error times the slope.
    error: &'a mut [T],
    /// `z²`.
    square: &'a mut [T],
    /// `z h`.
    both: &'a mut [T],
}

impl<T: Real> NativePass<T> {
    /// The pass for the nonlinearity `h`, columns with standard deviations `sigma`, and `W'W = gram`.
    pub fn new(h: &Nonlinearity, sigma: &[f64], gram: &Matrix<f64>) -> Self {
        let of = (h.clone(), sigma.to_vec(), gram.clone());
        let (k, h) = (sigma.len(), h.ready(sigma.len()));
        let coupling = Matrix::from_fn(k, k, |i, j| sigma[i] * gram[(i, j)]).cast::<T>().into_vec();
        let sigma = (0..h.period()).map(|j| T::from_f64(sigma[j % k])).collect();
        Self { of, h, k, sigma, coupling }
    }

    /// Computes the factors of the products, and adds `z phi`, `phi'` and `h'`, column by column, to `sums`. `WEIGHTED`: numbers of
    /// a row are multiplied by its `weight`.
    #[inline(always)]
    fn columns<const WEIGHTED: bool>(&self, codes: Codes<'_, T>, weight: &[T], sums: &mut [f64]) {
        let Codes { z, h, slope, score_slope, error, square, both } = codes;
        let period = self.sigma.len();
        let mut parts = vec![T::default(); 3 * period];
        for run in (0..z.len()).step_by(NUMBERS_PER_RUN * period) {
            parts.fill(T::default());
            for start in (run..z.len().min(run + NUMBERS_PER_RUN * period)).step_by(period) {
                let end = z.len().min(start + period);
                for at in (start..end).step_by(SIMD_WIDTH) {
                    let mut x = padded(&z[at..end]);
                    let (h, s, mut g) =
                        (padded(&h[at..end]), padded(&slope[at..end]), padded(&score_slope[at..end]));
                    let (mut e, sigma) = (padded(&error[at..end]), padded(&self.sigma[at - start..]));
                    let (mut squares, mut boths, mut slopes) = (x, x, s);
                    for l in 0..SIMD_WIDTH {
                        e[l] = (e[l] - sigma[l] * x[l]) * s[l];
                        squares[l] = x[l] * x[l];
                        boths[l] = x[l] * h[l];
                    }
                    if WEIGHTED {
                        let w = padded(&weight[at..end]);
                        for l in 0..SIMD_WIDTH {
                            for x in [&mut e, &mut squares, &mut boths, &mut x, &mut g, &mut slopes] {
                                x[l] *= w[l];
                            }
                        }
                        put(x, &mut z[at..end]);
                    }
                    put(e, &mut error[at..end]);
                    put(squares, &mut square[at..end]);
                    put(boths, &mut both[at..end]);
                    // Both already include the weights.
                    for l in 0..SIMD_WIDTH {
                        boths[l] = (boths[l] - squares[l]) * s[l];
                    }
                    for (part, new) in parts.chunks_exact_mut(period).zip([&boths, &g, &slopes]) {
                        let mut sum = padded(&part[at - start..]);
                        for l in 0..SIMD_WIDTH {
                            sum[l] += new[l];
                        }
                        put(sum, &mut part[at - start..][..SIMD_WIDTH]);
                    }
                }
            }
            for (sums, part) in sums.chunks_exact_mut(self.k).zip(parts.chunks_exact(period)) {
                for part in part.chunks_exact(self.k) {
                    sums.iter_mut().zip(part).for_each(|(s, x)| *s += x.to_f64());
                }
            }
        }
    }
}

impl<T: Real> Rule<T> for NativePass<T> {
    type Sums = NativeSums;
    const KIND: &'static str = "native forces";

    fn zero(&self, k: usize, p: usize) -> NativeSums {
        NativeSums::empty(k, p)
    }

    fn gather(
        &self,
        sums: &mut NativeSums,
        x: &[T],
        z: &mut [T],
        weights: Option<&[f64]>,
        work: &mut Vec<T>,
    ) {
        let (k, p, size) = (self.k, sums.gradient.cols(), z.len());
        let n = size / k;
        // All of it is overwritten.
        work.resize(6 * size, T::default());
        let (h, rest) = work.split_at_mut(size);
        let (slope, rest) = rest.split_at_mut(size);
        let (score_slope, rest) = rest.split_at_mut(size);
        let (error, rest) = rest.split_at_mut(size);
        let (square, both) = rest.split_at_mut(size);
        self.h.all(z, h, slope, score_slope);
        kernel::product(error, h, &self.coupling, n, k, k);
        let each: Vec<T> =
            weights.iter().flat_map(|w| w.iter()).flat_map(|w| vec![T::from_f64(*w); k]).collect();
        let codes = Codes {
            z: &mut *z,
            h,
            slope,
            score_slope,
            error: &mut *error,
            square: &mut *square,
            both: &mut *both,
        };
        widest(
            #[inline(always)]
            || match weights {
                None => self.columns::<false>(codes, &each, &mut sums.alone),
                Some(_) => self.columns::<true>(codes, &each, &mut sums.alone),
            },
        );
        kernel::add_cross(sums.gradient.as_mut_slice(), error, x, n, k, p);
        let (score_slopes, others) = sums.pairs.as_mut_slice().split_at_mut(k * k);
        let (slopes, crossed) = others.split_at_mut(k * k);
        kernel::add_cross(score_slopes, square, score_slope, n, k, k);
        kernel::add_cross(slopes, both, slope, n, k, k);
        kernel::add_cross(crossed, z, h, n, k, k);
    }

    fn gradient<'s>(&self, sums: &'s mut NativeSums) -> &'s mut Matrix<f64> {
        &mut sums.gradient
    }

    fn pack(&self, out: &mut Packer) {
        let (h, sigma, gram) = &self.of;
        h.pack(out);
        out.numbers(sigma);
        out.matrix(gram);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (h, sigma, gram) = (Nonlinearity::unpack(from)?, from.numbers()?, from.matrix()?);
        let k = sigma.len();
        from.check([gram.rows(), gram.cols()] == [k; 2] && [1, k].contains(&h.a.len()))?;
        Ok(Self::new(&h, &sigma, &gram))
    }

    fn is_for(&self, k: usize) -> bool {
        self.k == k
    }
}
