//! The polar factor of a small square matrix by Newton's iteration, which is faster than singular values for small
//! sizes.

use super::simd::vector_by_vector;
use super::{Matrix, factor, widest};

/// Larger matrices are factored by the multithreaded library.
const SMALL_SIZE: usize = 192;

/// Matrices of larger condition number are decomposed by singular values: inverses lose as many digits.
const LARGEST_CONDITION: f64 = 1e5;

/// Relative change below which the next error, its square, is below rounding errors after one more step.
const LAST_CHANGE: f64 = 1e-5;

/// Maximum number of steps. Six to nine are typical.
const MOST_STEPS: usize = 20;

/// The orthogonal matrix nearest to a square one, `U V'` of `a = U S V'`; `None` if `a` is nearly singular or too large for this algorithm.
///
/// `X <- (g X + X^-T / g) / 2` with Higham's scaling factor `g`, the fourth root of `|X^-1|_1 |X^-1|_inf / (|X|_1 |X|_inf)` (Higham 1986,
/// "Computing the polar decomposition", section 3.3), then one Newton-Schulz step. `O(k³)`: `2 k³` operations for each step.
pub(crate) fn newton(a: &Matrix<f64>) -> Option<Matrix<f64>> {
    let k = a.rows();
    if k == 0 || k >= SMALL_SIZE || a.cols() != k {
        return None;
    }
    let mut x = a.clone();
    for step in 0..MOST_STEPS {
        let inverse = inverted(&x)?;
        let (own, other) = (norms(&x), norms(&inverse));
        let condition = own.0 * other.0;
        if step == 0 && (condition.is_nan() || condition > LARGEST_CONDITION) {
            return None;
        }
        // Two square roots each, so that no product overflows.
        let scale = (other.0.sqrt() * other.1.sqrt()).sqrt() / (own.0.sqrt() * own.1.sqrt()).sqrt();
        let back = inverse.transposed();
        let (mut change, mut size) = (0.0, 0.0);
        for (x, y) in x.as_mut_slice().iter_mut().zip(back.as_slice()) {
            let next = 0.5 * (scale * *x + y / scale);
            (change, size) = (change + (next - *x).powi(2), size + next * next);
            *x = next;
        }
        if !change.is_finite() {
            return None;
        }
        if change <= LAST_CHANGE * LAST_CHANGE * size {
            return Some(nearer_to_orthogonal(&x));
        }
    }
    None
}

/// One Newton-Schulz step: squares the distance from the orthogonal matrices.
pub(crate) fn nearer_to_orthogonal(q: &Matrix<f64>) -> Matrix<f64> {
    let mut error = factor::multiply_transposed(q, q);
    for i in 0..q.rows() {
        error[(i, i)] -= 1.0;
    }
    let mut out = q.clone();
    let step = factor::multiply(&error, q);
    out.as_mut_slice().iter_mut().zip(step.as_slice()).for_each(|(q, s)| *q -= 0.5 * s);
    out
}

/// The 1-norm and the infinity norm.
fn norms(a: &Matrix<f64>) -> (f64, f64) {
    let mut columns = vec![0.0; a.cols()];
    let mut largest = 0.0f64;
    for i in 0..a.rows() {
        let row = a.row(i);
        columns.iter_mut().zip(row).for_each(|(sum, x)| *sum += x.abs());
        largest = largest.max(row.iter().map(|x| x.abs()).sum());
    }
    (columns.into_iter().fold(0.0, f64::max), largest)
}

/// Width of a group of numbers: rows are padded with zeros to a multiple of it.
const NUMBERS_PER_GROUP: usize = 8;

type Numbers = [f64; NUMBERS_PER_GROUP];

/// The inverse by Gauss-Jordan elimination with row pivoting; `None` if there is no pivot.
fn inverted(a: &Matrix<f64>) -> Option<Matrix<f64>> {
    let n = a.rows();
    let width = n.div_ceil(NUMBERS_PER_GROUP);
    let mut x = vec![[0.0; NUMBERS_PER_GROUP]; n * width];
    for (i, row) in x.chunks_exact_mut(width).enumerate() {
        row.as_flattened_mut()[..n].copy_from_slice(a.row(i));
    }
    let mut exchanged = Vec::with_capacity(n);
    for c in 0..n {
        let at = |i: usize| x[i * width + c / NUMBERS_PER_GROUP][c % NUMBERS_PER_GROUP];
        let largest = (c..n).max_by(|&i, &j| at(i).abs().total_cmp(&at(j).abs()))?;
        let pivot = at(largest);
        if pivot == 0.0 || !pivot.is_finite() {
            return None;
        }
        exchanged.push(largest);
        if largest != c {
            let (before, after) = x.split_at_mut(largest * width);
            before[c * width..][..width].swap_with_slice(&mut after[..width]);
        }
        widest(
            #[inline(always)]
            || eliminate(&mut x, width, c, pivot),
        );
    }
    let x = x.as_flattened_mut();
    for (c, largest) in exchanged.into_iter().enumerate().rev().filter(|(c, largest)| c != largest) {
        x.chunks_exact_mut(width * NUMBERS_PER_GROUP).for_each(|row| row.swap(c, largest));
    }
    Some(Matrix::from_fn(n, n, |i, j| x[i * width * NUMBERS_PER_GROUP + j]))
}

/// Step `c` of the elimination, for rows of `width` groups.
#[inline(always)]
fn eliminate(x: &mut [Numbers], width: usize, c: usize, pivot: f64) {
    let (group, place) = (c / NUMBERS_PER_GROUP, c % NUMBERS_PER_GROUP);
    let (above, rest) = x.split_at_mut(c * width);
    let (own, below) = rest.split_at_mut(width);
    own[group][place] = 1.0;
    own.as_flattened_mut().iter_mut().for_each(|x| *x /= pivot);
    let inverse = own[group][place];
    for row in above.chunks_exact_mut(width).chain(below.chunks_exact_mut(width)) {
        let factor = row[group][place];
        for (x, o) in row.iter_mut().zip(&*own) {
            vector_by_vector();
            *x = std::array::from_fn(|l| x[l] - factor * o[l]);
        }
        // Written last: loading a whole vector shortly after a store to one of its entries stalls.
        row[group][place] = -factor * inverse;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    fn normal(k: usize, stream: u64) -> Matrix<f64> {
        let s = Stream::new(16, stream);
        Matrix::from_fn(k, k, |i, j| s.normal((i * k + j) as u64))
    }

    fn apart(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
        a.as_slice().iter().zip(b.as_slice()).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
    }

    /// By eigenvectors of `a'a`: `a (a'a)^-1/2`.
    fn naive(a: &Matrix<f64>) -> Matrix<f64> {
        let (values, vectors) = factor::eigh(&factor::multiply(&a.transposed(), a)).unwrap();
        let scaled = Matrix::from_fn(a.rows(), a.rows(), |i, j| vectors[(i, j)] / values[i].sqrt());
        factor::multiply(a, &factor::multiply(&vectors.transposed(), &scaled))
    }

    #[test]
    fn the_nearest_orthogonal_matrix_follows_its_definition_at_any_scale() {
        for k in [1, 2, 3, 17, 64, 150] {
            let a = normal(k, k as u64);
            let q = newton(&a).unwrap();
            assert!(apart(&q, &naive(&a)) < 1e-9, "{k}");
            assert!(
                apart(
                    &factor::multiply_transposed(&q, &q),
                    &Matrix::from_fn(k, k, |i, j| f64::from(u8::from(i == j)))
                ) < 1e-14 * (k as f64).sqrt()
            );
            for size in [1e-150, 1e150] {
                let scaled = Matrix::from_vec(k, k, a.as_slice().iter().map(|x| x * size).collect());
                assert!(apart(&newton(&scaled).unwrap(), &q) < 1e-10, "{k}, {size}");
            }
        }
    }

    #[test]
    fn the_error_is_at_most_proportional_to_the_condition_number() {
        let (k, q, r) = (12, newton(&normal(12, 1)).unwrap(), newton(&normal(12, 2)).unwrap());
        for condition in [1e1, 1e2, 1e4] {
            let stretched =
                Matrix::from_fn(k, k, |i, j| r[(i, j)] * f64::powf(condition, -(i as f64) / 11.0));
            let a = factor::multiply(&factor::multiply(&q, &r.transposed()), &stretched);
            // The polar factor of U (V S V') is U, which is Q.
            let off =
                apart(&newton(&a).unwrap(), &factor::multiply(&q, &factor::multiply(&r.transposed(), &r)));
            assert!(off < 1e-15 * condition, "{condition}: {off}");
        }
    }

    #[test]
    fn nearly_singular_and_non_finite_matrices_have_no_result() {
        let mut a = normal(6, 3);
        for j in 0..6 {
            a[(4, j)] = a[(0, j)] * (1.0 + 1e-9 * j as f64);
        }
        assert_eq!(newton(&a), None);
        assert_eq!(newton(&Matrix::zeros(3, 3)), None);
        let mut a = normal(6, 3);
        a[(2, 2)] = f64::NAN;
        assert_eq!(newton(&a), None);
        a[(2, 2)] = f64::INFINITY;
        assert_eq!(newton(&a), None);
    }
}
