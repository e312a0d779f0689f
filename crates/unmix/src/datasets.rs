//! Synthetic data from seeded generators, with the ground truth.

mod biclusters;
mod digit_variations;
mod distributions;
mod leaves;
mod mixed;
mod ppca;
mod rare_modules;
mod sparse;
mod subspaces;

pub use biclusters::{BICLUSTERS, PlantedBiclusters, biclusters};
pub use digit_variations::{DIGIT_VARIATIONS, DigitVariations, digit_variations};
pub use distributions::{DISTRIBUTIONS, Distribution};
pub use leaves::{Pictures, leaves};
pub use mixed::{MixedSources, SIGNAL_DESIGNS, SignalDesign, independent, points, signals};
pub use ppca::{PpcaSample, ppca};
pub use rare_modules::{RareModules, rare_modules};
pub use sparse::{SparseCombinations, bernoulli_gaussian, sparse_codes};
pub use subspaces::{UnionOfSubspaces, union_of_subspaces};

use crate::error::Result;
use crate::machine::check_memory;
use crate::num::Matrix;
use crate::num::factor;
use crate::num::random::Stream;

/// Checks that tables of these numbers of rows and columns, in double precision, fit in memory: every generator that returns a `Result` does so
/// before it allocates; for [`patterns`], [`low_rank_plus_noise`] and [`leaves`] it is to be called first.
///
/// # Errors
///
/// [`Error::Memory`](crate::Error::Memory).
pub fn check_tables(tables: &[(usize, usize)]) -> Result<()> {
    let numbers = |(rows, columns): &(usize, usize)| (*rows as u64).saturating_mul(*columns as u64);
    let all = tables.iter().map(numbers).fold(0, u64::saturating_add);
    check_memory("the data set", all.saturating_mul(8), "choose fewer rows, columns or components")
}

/// Rows near a linear subspace, and the true components.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LowRank {
    /// `n x p`.
    pub x: Matrix<f64>,
    /// `k x p`, orthonormal rows, the strongest first.
    pub axes: Matrix<f64>,
    /// `n x k`, what the rows were made of.
    pub codes: Matrix<f64>,
    /// The group of each row, from 0.
    pub labels: Vec<usize>,
}

/// `n` images of `side x side` pixels: linear combinations of `k` smooth patterns with decreasing variances,
/// plus noise of standard deviation `noise`. There are three groups of rows, which differ in the mean coefficients
/// of the first two patterns.
///
/// # Panics
///
/// If `k` is greater than the number of pixels, or if the tables do not fit in memory ([`check_tables`]).
pub fn patterns(n: usize, side: usize, k: usize, noise: f64, seed: u64) -> LowRank {
    let p = side * side;
    let axes =
        factor::orthonormal_rows_signed(&Matrix::from_fn(k, p, |i, j| pattern(i, j % side, j / side, side)));
    let (groups, draws, errors) = (Stream::new(seed, 0), Stream::new(seed, 1), Stream::new(seed, 2));
    let labels: Vec<usize> = (0..n).map(|i| (groups.bits(i as u64) % 3) as usize).collect();
    let centres = [[2.0, 0.0], [-1.0, 1.7], [-1.0, -1.7]];
    let codes = Matrix::from_fn(n, k, |i, c| {
        let spread = 3.0 * 0.8f64.powi(c as i32);
        let shift = if c < 2 { centres[labels[i]][c] } else { 0.0 };
        spread * (shift + 0.6 * draws.normal((i * k + c) as u64))
    });
    let mut x = factor::multiply(&codes, &axes);
    for (i, value) in x.as_mut_slice().iter_mut().enumerate() {
        *value += 0.5 + noise * errors.normal(i as u64);
    }
    LowRank { x, axes, codes, labels }
}

/// `n` rows of a Gaussian signal in a uniformly distributed `k`-dimensional subspace of `p` dimensions, plus white noise
/// of unit variance: the standard deviations of the signal along `k` orthonormal directions decrease in equal steps from
/// `2 signal` to `signal`. Rules for the number of components are compared on these designs.
///
/// # Panics
///
/// If `k` is greater than `p`, or if the tables do not fit in memory ([`check_tables`]).
pub fn low_rank_plus_noise(n: usize, p: usize, k: usize, signal: f64, seed: u64) -> LowRank {
    let [rotation, draws, errors] = [9, 10, 11].map(|stream| Stream::new(seed, stream));
    let random = Matrix::from_fn(k, p, |i, j| rotation.normal((i * p + j) as u64));
    let axes = factor::orthonormal_rows_signed(&random);
    let step = |c: usize| if k > 1 { c as f64 / (k - 1) as f64 } else { 0.0 };
    let codes = Matrix::from_fn(n, k, |i, c| signal * (2.0 - step(c)) * draws.normal((i * k + c) as u64));
    let mut x = factor::multiply(&codes, &axes);
    for (i, value) in x.as_mut_slice().iter_mut().enumerate() {
        *value += errors.normal(i as u64);
    }
    LowRank { x, axes, codes, labels: vec![0; n] }
}

/// Pattern `i` at pixel (x, y): a wave times a Gaussian window, with its own centre and direction.
fn pattern(i: usize, x: usize, y: usize, side: usize) -> f64 {
    let (u, v) = (2.0 * (x as f64 + 0.5) / side as f64 - 1.0, 2.0 * (y as f64 + 0.5) / side as f64 - 1.0);
    let angle = 2.4 * i as f64;
    let (cx, cy) = (0.45 * angle.cos(), 0.45 * angle.sin());
    let bump = (-((u - cx).powi(2) + (v - cy).powi(2)) / 0.18).exp();
    bump * (1.0 + i as f64 * 0.9 * (u * angle.cos() + v * angle.sin())).cos()
}
