//! Singular values above a threshold, with their vectors, of a sequence of matrices that change little: subspace iteration from the last
//! vectors, with additional random rows so that the rank can increase; the full decomposition if a third or more of it is needed.

use crate::error::Result;
use crate::num::random::Stream;
use crate::num::{Matrix, factor};
use serde::{Deserialize, Serialize};

/// Maximum number of rows or columns for which all singular values are computed.
const SMALL_SIZE: usize = 48;
/// Number of vectors in addition to those above the threshold.
const EXTRA_VECTORS: usize = 8;
/// Minimum number of vectors below the threshold for a block to be complete.
const LEAST_SPARE_VECTORS: usize = 4;

/// Minimum threshold, as a fraction of the largest singular value, for which singular values are computed from the Gram matrix: their
/// squares have errors of a rounding error of the largest, so values at the threshold are accurate to eight digits.
const GRAM_THRESHOLD_SHARE: f64 = 1e-4;

/// `left right`, with orthonormal rows `right`: `n x r` and `r x p`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Low {
    pub(super) left: Matrix<f64>,
    pub(super) right: Matrix<f64>,
    /// Singular values, descending.
    pub(super) values: Vec<f64>,
}

impl Low {
    /// The zero matrix.
    pub(super) fn none(n: usize, p: usize) -> Self {
        Self { left: Matrix::zeros(n, 0), right: Matrix::zeros(0, p), values: Vec::new() }
    }

    pub(super) fn rank(&self) -> usize {
        self.values.len()
    }

    /// Drops singular values of at most `least`.
    pub(super) fn keep_above(&mut self, least: f64) {
        let r = above(&self.values, least);
        if r < self.rank() {
            self.values.truncate(r);
            self.left = Matrix::from_fn(self.left.rows(), r, |i, j| self.left[(i, j)]);
            self.right = std::mem::replace(&mut self.right, Matrix::zeros(0, 0)).top_rows(r);
        }
    }

    /// The matrix, `n x p`.
    pub(super) fn full(&self) -> Matrix<f64> {
        match self.rank() {
            0 => Matrix::zeros(self.left.rows(), self.right.cols()),
            _ => factor::multiply(&self.left, &self.right),
        }
    }

    /// Singular values and right singular vectors to rounding errors, as rows.
    pub(super) fn axes(&self) -> Result<(Vec<f64>, Matrix<f64>)> {
        if self.rank() == 0 {
            return Ok((Vec::new(), self.right.clone()));
        }
        let (q, triangle) = factor::orthonormal_rows_and_triangle(&self.right);
        let left = factor::multiply(&self.left, &triangle);
        let (_, small) = factor::orthonormal_rows_and_triangle(&left.transposed());
        let (values, rotation) = factor::svd_right(&small.transposed())?;
        Ok((values, factor::multiply(&rotation, &q)))
    }
}

/// A partial singular value decomposition: right singular vectors of the last matrix are the initial basis for the next one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PartialSvd {
    basis: Matrix<f64>,
    seed: u64,
    drawn: u64,
}

/// Singular values of `q' q z`, where `q` are the vectors of a block: `z` is approximately `left right`.
struct Ritz {
    values: Vec<f64>,
    /// `n x k`: left vectors times singular values.
    left: Matrix<f64>,
    right: Matrix<f64>,
}

impl PartialSvd {
    /// Starts with the rows `basis`, of `p` numbers, of which there may be none.
    pub(super) fn new(basis: Matrix<f64>, seed: u64) -> Self {
        Self { basis, seed, drawn: 0 }
    }

    /// `k` rows: the basis, or its first rows, and random ones.
    fn block(&mut self, k: usize) -> Matrix<f64> {
        let (have, p) = (self.basis.rows().min(k), self.basis.cols());
        self.drawn += 1;
        let draws = Stream::new(self.seed, self.drawn);
        let size = 1.0 / (p as f64).sqrt();
        Matrix::from_fn(k, p, |i, j| match i < have {
            true => self.basis[(i, j)],
            false => size * draws.normal((i * p + j) as u64),
        })
    }

    /// Singular value thresholding: `sum max(s - threshold, 0) u v'` over the singular values `s` of `z`, by `steps` steps of
    /// subspace iteration.
    pub(super) fn shrunk(&mut self, z: &Matrix<f64>, threshold: f64, steps: usize) -> Result<Low> {
        let least = z.rows().min(z.cols());
        let mut k = (self.basis.rows().max(1) + EXTRA_VECTORS).min(least);
        loop {
            if least <= SMALL_SIZE || 3 * k > least {
                let all = match by_products(z, threshold)? {
                    Some(found) => found,
                    None => all_of(z)?,
                };
                let r = above(&all.values, threshold);
                self.basis = all.right.clone().top_rows(r);
                return Ok(first(all, r, threshold));
            }
            let mut found = ritz(z, &self.block(k))?;
            for _ in 1..steps {
                found = ritz(z, &found.right)?;
            }
            let r = above(&found.values, threshold);
            if r + LEAST_SPARE_VECTORS <= k {
                self.basis = found.right.clone().top_rows(r + LEAST_SPARE_VECTORS);
                return Ok(first(found, r, threshold));
            }
            self.basis = found.right;
            k = (2 * k).min(least);
        }
    }

    /// The first `r` singular values, by one step from the last vectors.
    pub(super) fn leading(&mut self, z: &Matrix<f64>, r: usize) -> Result<Low> {
        let least = z.rows().min(z.cols());
        let k = (r + LEAST_SPARE_VECTORS).min(least);
        let found = match least <= SMALL_SIZE || 3 * k > least {
            true => all_of(z)?,
            false => ritz(z, &self.block(k))?,
        };
        self.basis = found.right.clone().top_rows(k.min(found.right.rows()));
        Ok(first(found, r, 0.0))
    }

    /// A lower bound on the largest singular value, accurate to a few digits.
    pub(super) fn norm(&mut self, z: &Matrix<f64>) -> Result<f64> {
        let mut last = 0.0;
        for _ in 0..30 {
            let found = self.leading(z, 1)?;
            let value = found.values.first().copied().unwrap_or(0.0);
            if value <= last * (1.0 + 1e-6) {
                break;
            }
            last = value;
        }
        Ok(last)
    }
}

fn above(values: &[f64], threshold: f64) -> usize {
    values.iter().take_while(|s| **s > threshold).count()
}

/// The first `r` of them, minus the threshold.
fn first(found: Ritz, r: usize, threshold: f64) -> Low {
    let Ritz { values, left, right } = found;
    let r = r.min(above(&values, 0.0));
    let kept = |i: usize| 1.0 - threshold / values[i];
    Low {
        left: Matrix::from_fn(left.rows(), r, |i, j| left[(i, j)] * kept(j)),
        right: right.top_rows(r),
        values: values[..r].iter().map(|s| s - threshold).collect(),
    }
}

/// One step of subspace iteration from the rows of `block`, `k x p`.
fn ritz(z: &Matrix<f64>, block: &Matrix<f64>) -> Result<Ritz> {
    let images = factor::multiply_transposed(block, z);
    let q = factor::orthonormal_rows(&images);
    let seen = factor::multiply(&q, z);
    let (axes, triangle) = factor::orthonormal_rows_and_triangle(&seen);
    let (values, rotation) = factor::svd_right(&triangle)?;
    let scores = factor::multiply_transposed(&triangle, &rotation);
    Ok(Ritz {
        values,
        left: factor::multiply(&q.transposed(), &scores),
        right: factor::multiply(&rotation, &axes),
    })
}

/// Singular values above `threshold`, and some below, from the eigenvalues of the Gram matrix of rows or of columns, whichever is smaller:
/// a tenth of the work if one dimension is large. `None` if the threshold is too small relative to the largest value, or if both dimensions
/// are small.
fn by_products(z: &Matrix<f64>, threshold: f64) -> Result<Option<Ritz>> {
    let (wide, least) = (z.rows() <= z.cols(), z.rows().min(z.cols()));
    if least <= SMALL_SIZE {
        return Ok(None);
    }
    let products = match wide {
        true => factor::multiply_transposed(z, z),
        false => {
            let transposed = z.transposed();
            factor::multiply_transposed(&transposed, &transposed)
        }
    };
    let (squares, vectors) = factor::eigh(&products)?;
    let mut values: Vec<f64> = squares.iter().map(|s| s.max(0.0).sqrt()).collect();
    if threshold < GRAM_THRESHOLD_SHARE * values[0] || values[0] == 0.0 {
        return Ok(None);
    }
    let k = (above(&values, threshold) + LEAST_SPARE_VECTORS)
        .min(above(&values, GRAM_THRESHOLD_SHARE * values[0]));
    values.truncate(k);
    let axes = vectors.top_rows(k);
    if !wide {
        return Ok(Some(Ritz { values, left: factor::multiply_transposed(z, &axes), right: axes }));
    }
    let mut right = factor::multiply(&axes, z);
    for (i, s) in values.iter().enumerate() {
        right.row_mut(i).iter_mut().for_each(|x| *x /= s);
    }
    let left = Matrix::from_fn(z.rows(), k, |i, j| axes[(j, i)] * values[j]);
    Ok(Some(Ritz { values, left, right }))
}

/// All singular values.
fn all_of(z: &Matrix<f64>) -> Result<Ritz> {
    if z.rows() >= z.cols() {
        let (values, right) = factor::svd_right(z)?;
        return Ok(Ritz { values, left: factor::multiply_transposed(z, &right), right });
    }
    let (values, left) = factor::svd_right(&z.transposed())?;
    let mut right = factor::multiply(&left, z);
    for (i, s) in values.iter().enumerate().filter(|(_, s)| **s > 0.0) {
        right.row_mut(i).iter_mut().for_each(|x| *x /= s);
    }
    let left = Matrix::from_fn(z.rows(), values.len(), |i, j| left[(j, i)] * values[j]);
    Ok(Ritz { values, left, right })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An `n x p` matrix with these singular values.
    fn made(n: usize, p: usize, values: &[f64]) -> Matrix<f64> {
        let draws = Stream::new(3, 0);
        let k = values.len();
        let axes = |m: usize, from: u64| {
            factor::orthonormal_rows(&Matrix::from_fn(k, m, |i, j| draws.normal(from + (i * m + j) as u64)))
        };
        let (u, v) = (axes(n, 0), axes(p, 1 << 30));
        let left = Matrix::from_fn(n, k, |i, j| u[(j, i)] * values[j]);
        factor::multiply(&left, &v)
    }

    #[test]
    fn values_above_the_threshold_are_found_whatever_their_number() {
        for (n, p) in [(30, 20), (20, 70), (150, 90), (90, 150)] {
            for r in [0usize, 1, 5, 14] {
                let values: Vec<f64> =
                    (0..18).map(|i| if i < r { 10.0 - 0.5 * i as f64 } else { 0.01 }).collect();
                let z = made(n, p, &values);
                let mut partial = PartialSvd::new(Matrix::zeros(0, p), 1);
                let mut low = partial.shrunk(&z, 1.0, 1).unwrap();
                for _ in 0..3 {
                    low = partial.shrunk(&z, 1.0, 1).unwrap();
                }
                assert_eq!(low.rank(), r, "{n} x {p}");
                let shrunk: Vec<f64> = values.iter().map(|s| (s - 1.0).max(0.0)).collect();
                let want = made(n, p, &shrunk);
                let far = low
                    .full()
                    .as_slice()
                    .iter()
                    .zip(want.as_slice())
                    .fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
                assert!(far < 1e-10, "{n} x {p}, rank {r}: {far:e}");
                let (sizes, axes) = low.axes().unwrap();
                assert!(sizes.iter().zip(&shrunk).all(|(a, b)| (a - b).abs() < 1e-10));
                let products = factor::multiply_transposed(&axes, &axes);
                let off = |i: usize, j: usize| (products[(i, j)] - f64::from(u8::from(i == j))).abs();
                assert!((0..r).all(|i| (0..r).all(|j| off(i, j) < 1e-13)));
            }
        }
        let z = made(80, 120, &[7.0, 3.0]);
        assert!((PartialSvd::new(Matrix::zeros(0, 120), 0).norm(&z).unwrap() / 7.0 - 1.0).abs() < 1e-5);
    }
}
