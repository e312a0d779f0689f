//! Inverses and pseudo-inverses: decoder vectors for given encoder vectors.

use super::{Matrix, factor};
use crate::error::Result;

/// The dual basis: rows `d` with `d w' = I` in the row space of `w`, `(w w')⁻¹ w`, the transposed pseudo-inverse of `w`; `w` itself if
/// its rows are orthonormal up to rounding.
///
/// # Errors
///
/// An eigenvalue decomposition that does not converge.
pub(crate) fn dual(w: &Matrix<f64>) -> Result<Matrix<f64>> {
    let gram = factor::multiply_transposed(w, w);
    let apart = |i: usize, j: usize| (gram[(i, j)] - f64::from(u8::from(i == j))).abs();
    let k = w.rows();
    let orthonormal = (0..k).all(|i| (0..=i).all(|j| apart(i, j) < 4.0 * f64::EPSILON));
    if orthonormal {
        return Ok(w.clone());
    }
    match factor::Cholesky::new(&gram) {
        Some(factor) => Ok(factor.solve_rows(&w.transposed()).transposed()),
        None => {
            // Linearly dependent rows: the pseudo-inverse.
            let (values, vectors) = factor::eigh(&gram)?;
            let floor = 1e-12 * values.first().copied().unwrap_or(0.0);
            let scaled =
                Matrix::from_fn(
                    k,
                    k,
                    |i, j| if values[i] > floor { vectors[(i, j)] / values[i] } else { 0.0 },
                );
            let inverse = factor::multiply(&vectors.transposed(), &scaled);
            Ok(factor::multiply(&inverse, w))
        }
    }
}

/// The pseudo-inverse, `d x k`, of a `k x d` matrix, for least-squares decoding. By singular values, so that the condition number is not
/// squared; those below `10 max(k, d) eps` of the largest are treated as 0.
///
/// # Errors
///
/// A singular value decomposition that does not converge.
pub fn pseudo_inverse(a: &Matrix<f64>) -> Result<Matrix<f64>> {
    if a.rows() < a.cols() {
        return Ok(pseudo_inverse(&a.transposed())?.transposed());
    }
    let (values, right) = factor::svd_right(a)?;
    // The same criterion of rank as elsewhere.
    let floor = 10.0 * a.rows() as f64 * f64::EPSILON * values.first().copied().unwrap_or(0.0);
    let kept = values.iter().take_while(|s| **s > floor).count();
    let right = right.top_rows(kept);
    let mut image = factor::multiply_transposed(&right, a);
    for (i, s) in values[..kept].iter().enumerate() {
        image.row_mut(i).iter_mut().for_each(|x| *x *= 1.0 / (s * s));
    }
    Ok(factor::multiply(&right.transposed(), &image))
}

/// The inverse of a square matrix of full rank.
///
/// # Errors
///
/// A singular value decomposition that does not converge.
pub(crate) fn inverse(a: &Matrix<f64>) -> Result<Matrix<f64>> {
    let k = a.rows();
    let (values, right) = factor::svd_right(a)?;
    // The relative error of V S^-2 (A V)' is proportional to the condition number, not its square: the columns of A V are S times
    // orthonormal ones.
    let image = factor::multiply_transposed(&right, a);
    let scaled = Matrix::from_fn(k, k, |i, j| image[(i, j)] / (values[i] * values[i]));
    let first = factor::multiply(&right.transposed(), &scaled);
    // One Newton step reduces the errors due to small singular values.
    let image = factor::multiply(a, &first);
    let correction = Matrix::from_fn(k, k, |i, j| 2.0 * f64::from(u8::from(i == j)) - image[(i, j)]);
    Ok(factor::multiply(&first, &correction))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    #[test]
    fn a_pseudo_inverse_satisfies_the_four_conditions_of_penrose() {
        for (k, d, rank) in [(5, 5, 5), (9, 4, 4), (3, 8, 3), (6, 6, 2), (1, 1, 1)] {
            let s = Stream::new(8, (k * d) as u64);
            let left = Matrix::from_fn(k, rank, |i, j| s.normal((i * rank + j) as u64));
            let right = Matrix::from_fn(rank, d, |i, j| s.normal((1000 + i * d + j) as u64));
            let a = factor::multiply(&left, &right);
            let b = pseudo_inverse(&a).unwrap();
            let (ab, ba) = (factor::multiply(&a, &b), factor::multiply(&b, &a));
            let near = |x: &Matrix<f64>, y: &Matrix<f64>| {
                x.as_slice().iter().zip(y.as_slice()).all(|(x, y)| (x - y).abs() < 1e-12)
            };
            assert!(near(&factor::multiply(&ab, &a), &a) && near(&factor::multiply(&ba, &b), &b));
            assert!(near(&ab, &ab.transposed()) && near(&ba, &ba.transposed()), "{k} x {d} of rank {rank}");
        }
    }
}
