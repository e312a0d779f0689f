//! The rows that decode what given rows encode.

use super::{Matrix, factor};
use crate::error::Result;

/// Rows `d` with `d w' = I` that span what the rows of `w` span: `(w w')⁻¹ w`, the transposed pseudo-inverse of `w`; `w` itself where its
/// rows are orthonormal to rounding.
///
/// # Errors
///
/// An eigenvalue decomposition that does not converge.
pub fn dual(w: &Matrix<f64>) -> Result<Matrix<f64>> {
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
            // Columns that fell together: the pseudo-inverse.
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
