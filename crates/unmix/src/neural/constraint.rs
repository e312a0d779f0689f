//! Constraints on the weights after a step.

use super::Constraint;
use crate::error::Result;
use crate::num::{Matrix, Real, factor, widest};

/// Lengths of the columns of `w`, row-major, `k` wide.
pub(super) fn lengths<T: Real>(w: &[T], k: usize) -> Vec<f64> {
    let mut sums = vec![T::default(); k];
    widest(
        #[inline(always)]
        || {
            for row in w.chunks_exact(k) {
                sums.iter_mut().zip(row).for_each(|(s, w)| *s += *w * *w);
            }
        },
    );
    sums.iter().map(|s| s.to_f64().sqrt().max(f64::MIN_POSITIVE)).collect()
}

/// Divides the columns by these lengths.
pub(super) fn divide<T: Real>(w: &mut [T], by: &[f64]) {
    let inverse: Vec<T> = by.iter().map(|l| T::from_f64(1.0 / l)).collect();
    widest(
        #[inline(always)]
        || {
            for row in w.chunks_exact_mut(by.len()) {
                row.iter_mut().zip(&inverse).for_each(|(w, s)| *w *= *s);
            }
        },
    );
}

/// Projects `w` (`p x k`) onto the constraint set.
pub(super) fn project<T: Real>(constraint: Constraint, w: &mut [T], k: usize) -> Result<()> {
    let wide = |w: &[T]| {
        let numbers = w.iter().map(|x| x.to_f64()).collect();
        Matrix::from_vec(w.len() / k, k, numbers)
    };
    let put = |w: &mut [T], from: &Matrix<f64>| {
        w.iter_mut().zip(from.as_slice()).for_each(|(w, x)| *w = T::from_f64(*x));
    };
    match constraint {
        Constraint::None | Constraint::WeightNorm => {}
        Constraint::Unit => {
            let by = lengths(w, k);
            divide(w, &by);
        }
        Constraint::Polar => {
            let m = factor::polar_rows(&wide(w).transposed())?.transposed();
            put(w, &m);
        }
        Constraint::NewtonSchulz => {
            let m = newton_schulz(&wide(w));
            put(w, &m);
        }
        Constraint::GramSchmidt => {
            let m = factor::orthonormal_rows_signed(&wide(w).transposed()).transposed();
            put(w, &m);
        }
    }
    Ok(())
}

/// The polar factor of `w` with its columns normalised, by the Newton-Schulz iteration `W <- 1.5 W - 0.5 W W'W`. With unit columns, eigenvalues
/// of `W'W` may be as large as `k`, so `W` is divided by the root of a bound of the largest first.
pub(super) fn newton_schulz(w: &Matrix<f64>) -> Matrix<f64> {
    let k = w.cols();
    let mut w = w.clone();
    let by = lengths(w.as_slice(), k);
    divide(w.as_mut_slice(), &by);
    let gram = |w: &Matrix<f64>| factor::multiply(&w.transposed(), w);
    let m = gram(&w);
    let bound = (0..k).map(|i| m.row(i).iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
    w.as_mut_slice().iter_mut().for_each(|x| *x /= bound.sqrt());
    // An eigenvalue of W'W near 0 grows by a factor of 9/4 in each iteration; near 1 convergence is quadratic.
    for _ in 0..60 {
        let m = gram(&w);
        let away = (0..k * k).map(|e| (m.as_slice()[e] - f64::from(u8::from(e / k == e % k))).abs());
        if away.fold(0.0, f64::max) < 1e-14 {
            break;
        }
        let rotated = factor::multiply(&w, &m);
        w.as_mut_slice().iter_mut().zip(rotated.as_slice()).for_each(|(w, t)| *w = 1.5 * *w - 0.5 * t);
    }
    w
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polar(w: &Matrix<f64>) -> Matrix<f64> {
        factor::polar_rows(&w.transposed()).unwrap().transposed()
    }
    use crate::num::random::Stream;

    #[test]
    fn both_algorithms_for_the_nearest_orthonormal_columns_agree_and_gram_schmidt_keeps_the_first() {
        let s = Stream::new(1, 0);
        let (p, k) = (9, 4);
        // Columns that are nearly the same: the Gram matrix of unit columns has an eigenvalue near k.
        let w = Matrix::from_fn(p, k, |i, j| s.normal(i as u64) + 0.3 * s.normal((100 + i * k + j) as u64));
        let (a, b) = (polar(&w), w.clone());
        let away = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0f64, |m, (x, y)| m.max((x - y).abs()));
        let unit = |m: &Matrix<f64>| {
            let g = factor::multiply(&m.transposed(), m);
            away(g.as_slice(), Matrix::from_fn(k, k, |i, j| f64::from(u8::from(i == j))).as_slice())
        };
        assert!(unit(&a) < 1e-12 && unit(&newton_schulz(&w)) < 1e-12);
        // The Newton-Schulz iteration finds the polar factor of its initial value, the normalised columns.
        let mut columns = b.clone();
        let by = lengths(columns.as_slice(), k);
        divide(columns.as_mut_slice(), &by);
        assert!(away(newton_schulz(&w).as_slice(), polar(&columns).as_slice()) < 1e-10);
        let mut gs = w.clone();
        project(Constraint::GramSchmidt, gs.as_mut_slice(), k).unwrap();
        assert!(unit(&gs) < 1e-12);
        let along: f64 = (0..p).map(|i| gs[(i, 0)] * w[(i, 0)]).sum::<f64>() / lengths(w.as_slice(), k)[0];
        assert!((along - 1.0).abs() < 1e-12, "{along}");
    }
}
