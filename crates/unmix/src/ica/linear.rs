//! Small square matrices: rotations, determinants.

use crate::error::Result;
pub(super) use crate::num::polar::nearer_to_orthogonal;
use crate::num::{Matrix, factor};

/// The identity.
pub(super) fn identity(k: usize) -> Matrix<f64> {
    Matrix::from_fn(k, k, |i, j| f64::from(u8::from(i == j)))
}

/// `a + s b`.
pub(super) fn sum(a: &Matrix<f64>, s: f64, b: &Matrix<f64>) -> Matrix<f64> {
    let both = a.as_slice().iter().zip(b.as_slice());
    Matrix::from_vec(a.rows(), a.cols(), both.map(|(a, b)| a + s * b).collect())
}

/// `Σ a_ij b_ij`.
pub(super) fn inner(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    products(a.as_slice(), b.as_slice())
}

/// `Σ a b`.
pub(super) fn products(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The largest magnitude of an entry; NaN if an entry is NaN.
pub(super) fn largest(a: &Matrix<f64>) -> f64 {
    a.as_slice().iter().fold(0.0, |m: f64, x| if x.is_nan() { f64::NAN } else { m.max(x.abs()) })
}

/// `(a - a') / 2`.
pub(super) fn skew(a: &Matrix<f64>) -> Matrix<f64> {
    Matrix::from_fn(a.rows(), a.rows(), |i, j| 0.5 * (a[(i, j)] - a[(j, i)]))
}

/// The orthogonal matrix nearest to `a`, which has at most as many rows as columns. Null directions of `a`, and the rows that it lacks to be
/// square, are completed by an orthonormal basis of the complement.
pub(super) fn polar(a: &Matrix<f64>) -> Result<Matrix<f64>> {
    if a.rows() < a.cols() {
        let mut rows = a.as_slice().to_vec();
        rows.resize(a.cols() * a.cols(), 0.0);
        return polar(&Matrix::from_vec(a.cols(), a.cols(), rows));
    }
    factor::polar_square(a)
}

/// Matrix exponential of an antisymmetric matrix: a rotation. Taylor series of `a / 2^m`, squared `m` times.
pub(super) fn rotation(a: &Matrix<f64>) -> Matrix<f64> {
    let k = a.rows();
    let norm = (0..k).map(|i| a.row(i).iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
    let halvings = if norm > 0.25 { (4.0 * norm).log2().ceil() as i32 } else { 0 };
    let small = sum(&Matrix::zeros(k, k), 0.5f64.powi(halvings), a);
    // The remainder 0.25^11 / 11! is 6e-15.
    let mut out = identity(k);
    for i in (1..=11).rev() {
        out = sum(&identity(k), 1.0 / f64::from(i), &factor::multiply(&small, &out));
    }
    for _ in 0..halvings {
        out = factor::multiply(&out, &out);
    }
    nearer_to_orthogonal(&out)
}

/// `log |det a|`.
pub(super) fn log_determinant(a: &Matrix<f64>) -> f64 {
    let triangle = factor::qr_triangle(a);
    (0..a.rows()).map(|i| triangle[(i, i)].abs().ln()).sum()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::num::inverse;
    use crate::num::random::Stream;

    fn normal(k: usize, stream: u64) -> Matrix<f64> {
        let s = Stream::new(6, stream);
        Matrix::from_fn(k, k, |i, j| s.normal((i * k + j) as u64))
    }

    /// Rows of Laplace and uniform sources, rotated and exactly whitened.
    pub(in crate::ica) fn mixed(n: usize, k: usize, seed: u64) -> Vec<f64> {
        let s = Stream::new(seed, 50);
        let x = Matrix::from_fn(n, k, |i, j| match j % 2 {
            0 => s.laplace((i * k + j) as u64),
            _ => s.uniform((i * k + j) as u64) - 0.5,
        });
        let rotation = polar(&normal(k, 51 + seed)).unwrap();
        let root = inverse(&factor::qr_triangle(&x)).unwrap();
        let white = factor::multiply(&factor::multiply(&x, &root), &rotation);
        white.as_slice().iter().map(|v| v * (n as f64).sqrt()).collect()
    }

    /// A step and a change of the gradient for which limited-memory BFGS makes a step that is a million times too long and nearly
    /// orthogonal to `gradient`: the function increases everywhere along it.
    pub(in crate::ica) fn misleading(gradient: &Matrix<f64>) -> (Matrix<f64>, Matrix<f64>) {
        let k = gradient.rows();
        let across = skew(&normal(k, 9));
        let along = inner(&across, gradient) / inner(gradient, gradient);
        let step = sum(&across, 1e-9 / inner(gradient, gradient).sqrt() - along, gradient);
        let change = sum(&Matrix::zeros(k, k), 1e-15 / inner(&step, &step), &step);
        (step, change)
    }

    fn from_identity(a: &Matrix<f64>) -> f64 {
        largest(&sum(a, -1.0, &identity(a.rows())))
    }

    #[test]
    fn the_polar_factor_is_orthogonal_and_leaves_a_symmetric_matrix_that_is_not_negative() {
        for k in [1, 2, 7, 40] {
            let a = normal(k, 1);
            let q = polar(&a).unwrap();
            assert!(from_identity(&factor::multiply_transposed(&q, &q)) < 1e-13);
            let h = factor::multiply(&q.transposed(), &a);
            assert!(largest(&skew(&h)) < 1e-12 * (k as f64));
            assert!(factor::eigenvalues(&h).unwrap().iter().all(|v| *v > -1e-12));
        }
    }

    #[test]
    fn null_directions_of_a_singular_matrix_are_completed() {
        let mut a = normal(5, 2);
        for j in 0..5 {
            a[(4, j)] = a[(0, j)] - a[(1, j)];
        }
        for a in [a, Matrix::from_fn(5, 5, |i, j| f64::from(u8::from(i == 0 && j == 2)))] {
            let q = polar(&a).unwrap();
            assert!(from_identity(&factor::multiply_transposed(&q, &q)) < 1e-13);
        }
    }

    #[test]
    fn the_exponential_of_an_antisymmetric_matrix_is_a_rotation_and_has_it_as_its_start() {
        for size in [1e-3, 0.4, 5.0] {
            let a = sum(&Matrix::zeros(6, 6), size, &skew(&normal(6, 3)));
            let q = rotation(&a);
            assert!(from_identity(&factor::multiply_transposed(&q, &q)) < 1e-14);
            let back = rotation(&sum(&Matrix::zeros(6, 6), -1.0, &a));
            assert!(from_identity(&factor::multiply(&q, &back)) < 1e-13);
        }
        let plane = Matrix::from_vec(2, 2, vec![0.0, -2.0, 2.0, 0.0]);
        assert!((rotation(&plane)[(0, 0)] - 2f64.cos()).abs() < 1e-14);
        assert!((rotation(&plane)[(1, 0)] - 2f64.sin()).abs() < 1e-14);
    }

    #[test]
    fn inverses_and_determinants_of_matrices_that_are_far_from_orthogonal() {
        let even = normal(9, 4);
        let mut a = even.clone();
        a.row_mut(3).iter_mut().for_each(|x| *x *= 1e-4);
        assert!(from_identity(&factor::multiply(&a, &inverse(&a).unwrap())) < 1e-10);
        // A factor of a row is one of the determinant, and the determinant of a product is the product of determinants.
        assert!((log_determinant(&a) - log_determinant(&even) - 1e-4f64.ln()).abs() < 1e-12);
        let square = factor::multiply(&even, &even);
        assert!((log_determinant(&square) - 2.0 * log_determinant(&even)).abs() < 1e-10);
    }
}
