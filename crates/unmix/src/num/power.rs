//! Power iteration on an explicit symmetric matrix, which may have eigenvalues of both signs.

use super::Matrix;
use super::factor;
use super::random::Stream;
use super::top::Pairs;

/// The `k` algebraically largest eigenpairs of a symmetric matrix, one at a time.
///
/// Each direction is multiplied by `A + c I` until `||A v - theta v||` is at most `tol` times the norm of the matrix, and is kept
/// orthogonal to those before it by two projections. Without the shift `c`, which makes every eigenvalue non-negative, the
/// iteration would converge to the eigenvalue of largest magnitude, whatever its sign; the maximisers of `tr(U' A U)` are the
/// algebraically largest. `c` is Gershgorin's bound. Errors decrease by the factor `(l_2 + c) / (l_1 + c)` in each step of
/// `O(p^2)`: slow if a large negative eigenvalue requires a large shift. `max_iter` bounds the steps for each direction; the
/// residual is the final one, relative to the norm.
pub fn power_eigenpairs(a: &Matrix<f64>, k: usize, tol: f64, max_iter: u64, seed: u64) -> Pairs {
    let p = a.rows();
    let around = |i: usize| a.row(i).iter().map(|x| x.abs()).sum::<f64>() - a[(i, i)].abs();
    let shift = (0..p).map(|i| around(i) - a[(i, i)]).fold(0.0, f64::max);
    let size = (0..p).map(|i| around(i) + a[(i, i)].abs()).fold(0.0, f64::max);
    let start = Stream::new(seed, 0x706f_7765);
    let mut found = Pairs { values: Vec::new(), vectors: Matrix::zeros(0, p), residual: 0.0, steps: 0 };
    for i in 0..k.min(p) {
        let mut v = Matrix::from_fn(1, p, |_, j| start.normal((i * p + j) as u64));
        let (mut value, mut residual) = (0.0, f64::INFINITY);
        for _ in 0..max_iter.max(1) {
            orthonormalise(&mut v, &found.vectors);
            let image = factor::multiply(&v, a);
            let pairs = || v.as_slice().iter().zip(image.as_slice());
            value = pairs().map(|(x, y)| x * y).sum();
            residual = pairs().map(|(x, y)| (y - value * x).powi(2)).sum::<f64>().sqrt();
            found.steps += 1;
            if residual <= tol * size {
                break;
            }
            v = Matrix::from_fn(1, p, |_, j| image[(0, j)] + shift * v[(0, j)]);
        }
        orthonormalise(&mut v, &found.vectors);
        found.residual = found.residual.max(if size > 0.0 { residual / size } else { 0.0 });
        found.values.push(value);
        let mut rows = found.vectors.into_vec();
        rows.extend_from_slice(v.as_slice());
        found.vectors = Matrix::from_vec(i + 1, p, rows);
    }
    found
}

/// Orthogonalises against orthonormal rows and normalises: twice, because rounding errors of a single pass would be amplified by
/// the iteration.
fn orthonormalise(v: &mut Matrix<f64>, rows: &Matrix<f64>) {
    for _ in 0..2 {
        if rows.rows() > 0 {
            let along = factor::multiply_transposed(v, rows);
            factor::subtract_product(v, &along, rows);
        }
        let norm = v.as_slice().iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm > 0.0 {
            v.as_mut_slice().iter_mut().for_each(|x| *x /= norm);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvalues_of_both_signs_come_in_algebraic_order() {
        let p = 12;
        let s = Stream::new(2, 0);
        let rotation = factor::orthonormal_rows(&Matrix::from_fn(p, p, |i, j| s.normal((i * p + j) as u64)));
        // The eigenvalue of largest magnitude is the smallest: without a shift it would be found first.
        let values: Vec<f64> =
            [4.0, 2.5, 1.0, 0.5].into_iter().chain((0..8).map(|i| -0.7 * i as f64)).collect();
        let scaled = Matrix::from_fn(p, p, |i, j| rotation[(i, j)] * values[i]);
        let a = factor::multiply(&scaled.transposed(), &rotation);
        let found = power_eigenpairs(&a, 3, 1e-12, 100_000, 0);
        assert!(found.residual <= 1e-12, "{}", found.residual);
        for c in 0..3 {
            assert!((found.values[c] - values[c]).abs() < 1e-10, "{:?}", found.values);
            let along: f64 = found.vectors.row(c).iter().zip(rotation.row(c)).map(|(x, y)| x * y).sum();
            assert!(1.0 - along.abs() < 1e-12, "direction {c}: {along}");
        }
        // No orthonormal frame has a larger trace: tr(U' A U) of these is the sum of the largest three eigenvalues.
        let trace = |u: &Matrix<f64>| -> f64 {
            let image = factor::multiply(u, &a);
            u.as_slice().iter().zip(image.as_slice()).map(|(x, y)| x * y).sum()
        };
        assert!((trace(&found.vectors) - 7.5).abs() < 1e-10);
        for t in 0..200 {
            let s = Stream::new(3, t);
            let other = factor::orthonormal_rows(&Matrix::from_fn(3, p, |i, j| {
                found.vectors[(i, j)] + 0.3 * s.normal((i * p + j) as u64)
            }));
            assert!(trace(&other) <= 7.5 + 1e-10);
        }
    }

    #[test]
    fn directions_are_orthogonal_beyond_the_tolerance_and_a_zero_matrix_has_eigenvalues_0() {
        let p = 20;
        let s = Stream::new(5, 0);
        let half = Matrix::from_fn(p, p, |i, j| s.normal((i * p + j) as u64));
        let a = factor::multiply_transposed(&half, &half);
        let found = power_eigenpairs(&a, 4, 1e-6, 100_000, 1);
        let gram = factor::multiply_transposed(&found.vectors, &found.vectors);
        for i in 0..4 {
            for j in 0..4 {
                assert!((gram[(i, j)] - f64::from(u8::from(i == j))).abs() < 1e-14, "{gram:?}");
            }
        }
        let none = power_eigenpairs(&Matrix::zeros(5, 5), 2, 1e-9, 10, 0);
        assert_eq!((none.values, none.residual, none.steps), (vec![0.0, 0.0], 0.0, 2));
    }
}
