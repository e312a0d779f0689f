//! Rotations of the factors, which do not change the covariance: `loadings_new = M' loadings`, correlations `(M'M)^-1`.
//!
//! Orthogonal rotations by planar rotations in closed form (Kaiser 1958), oblique ones by gradient projection (Bernaards & Jennrich 2005),
//! promax by least squares towards the fourth powers of the varimax loadings.

use super::settings::Rotation;
use crate::error::Result;
use crate::num::random::Stream;
use crate::num::{Matrix, factor, pseudo_inverse};
use crate::run::Run;
use std::cell::Cell;

/// Number of starts of geomin, whose criterion has several minima: the unrotated loadings, and random rotations.
const GEOMIN_STARTS: u64 = 10;
/// Maximum number of rounds of planar rotations, and of steps of gradient projection.
const MAX_STEPS: usize = 2000;
/// The constant that geomin adds to squared loadings, in units of the mean variance of the columns.
const GEOMIN_CONSTANT: f64 = 0.01;

/// A rotation of the factors.
pub(super) struct Rotated {
    /// `M`, `k x k`.
    pub(super) matrix: Matrix<f64>,
    /// Whether it has not converged, because the run ended early.
    pub(super) cut: bool,
}

/// The time that is left for a rotation.
struct Budget<'r> {
    run: &'r Run<'r>,
    cut: Cell<bool>,
}

impl Budget<'_> {
    /// Whether the run ends early, so that a rotation that has not converged ends with its current result.
    ///
    /// # Errors
    ///
    /// A requested stop.
    fn spent(&self) -> Result<bool> {
        self.run.check()?;
        let now = self.run.ends_early();
        self.cut.set(self.cut.get() || now);
        Ok(now)
    }
}

/// The rotation of loadings with factors as rows, `k x p`, in units in which the mean variance of the columns is about 1.
///
/// # Errors
///
/// A factorisation that does not converge, a requested stop.
pub(super) fn rotate(
    loadings: &Matrix<f64>,
    how: Rotation,
    normalize: bool,
    run: &Run<'_>,
) -> Result<Rotated> {
    let (k, p) = (loadings.rows(), loadings.cols());
    if k < 2 {
        return Ok(Rotated { matrix: identity(k), cut: false });
    }
    let budget = &Budget { run, cut: Cell::new(false) };
    let mut a = loadings.clone();
    if normalize {
        for i in 0..p {
            let root = (0..k).map(|j| a[(j, i)].powi(2)).sum::<f64>().sqrt();
            if root > 0.0 {
                (0..k).for_each(|j| a[(j, i)] /= root);
            }
        }
    }
    let matrix = match how {
        Rotation::Varimax => orthomax(&a, 1.0, budget)?,
        Rotation::Quartimax => orthomax(&a, 0.0, budget)?,
        Rotation::Equamax => orthomax(&a, 0.5 * k as f64, budget)?,
        Rotation::Promax => promax(&a, budget)?,
        Rotation::Oblimin => oblique(&a, &quartimin, identity(k), budget)?.0,
        Rotation::Geomin => by_geomin(&a, budget)?,
    };
    Ok(Rotated { matrix, cut: budget.cut.get() })
}

/// The best of several starts of geomin.
fn by_geomin(a: &Matrix<f64>, budget: &Budget<'_>) -> Result<Matrix<f64>> {
    let k = a.rows();
    let mut best = oblique(a, &geomin, identity(k), budget)?;
    for start in 1..GEOMIN_STARTS {
        if budget.spent()? {
            break;
        }
        let draws = Stream::new(budget.run.seed, start);
        let random = Matrix::from_fn(k, k, |i, j| draws.normal((i * k + j) as u64));
        let other = oblique(a, &geomin, factor::orthonormal_rows(&random), budget)?;
        // Starts that end in the same minimum differ by rounding.
        if other.1 < best.1 - 1e-9 * best.1.abs() {
            best = other;
        }
    }
    Ok(best.0)
}

fn identity(k: usize) -> Matrix<f64> {
    Matrix::from_fn(k, k, |i, j| f64::from(u8::from(i == j)))
}

/// The orthogonal `M` that maximises `sum_ij l_ij^4 - (gamma / p) sum_j (sum_i l_ij^2)^2`, factor pairs one after the other.
fn orthomax(loadings: &Matrix<f64>, gamma: f64, budget: &Budget<'_>) -> Result<Matrix<f64>> {
    let (k, p) = (loadings.rows(), loadings.cols());
    let (mut a, mut rotation) = (loadings.clone(), identity(k));
    for _ in 0..MAX_STEPS {
        let mut largest = 0.0f64;
        for first in 0..k {
            for second in first + 1..k {
                let angle = planar_angle(a.row(first), a.row(second), gamma / p as f64);
                if angle.abs() < 1e-14 {
                    continue;
                }
                largest = largest.max(angle.abs());
                let (sin, cos) = angle.sin_cos();
                for m in [&mut a, &mut rotation] {
                    for i in 0..m.cols() {
                        let (x, y) = (m[(first, i)], m[(second, i)]);
                        (m[(first, i)], m[(second, i)]) = (cos * x + sin * y, cos * y - sin * x);
                    }
                }
            }
        }
        if largest < 1e-12 || budget.spent()? {
            break;
        }
    }
    // a = rotation loadings = M' loadings.
    Ok(rotation.transposed())
}

/// The angle between -45 and 45 degrees by which two factors are rotated to the maximum of the criterion in their plane.
fn planar_angle(x: &[f64], y: &[f64], share: f64) -> f64 {
    let (mut a, mut b, mut c, mut d) = (0.0, 0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        let (u, v) = (x * x - y * y, 2.0 * x * y);
        (a, b, c, d) = (a + u, b + v, c + u * u - v * v, d + 2.0 * u * v);
    }
    let (sin, cos) = (d - 2.0 * share * a * b, c - share * (a * a - b * b));
    // The criterion does not depend on the angle, up to rounding errors.
    let size: f64 = x.iter().chain(y).map(|l| l * l).sum();
    match sin.hypot(cos) <= 1e-13 * size * size {
        true => 0.0,
        false => 0.25 * sin.atan2(cos),
    }
}

/// Promax (Hendrickson & White 1964): least squares from the varimax loadings to their fourth powers with their signs.
fn promax(loadings: &Matrix<f64>, budget: &Budget<'_>) -> Result<Matrix<f64>> {
    let rotation = orthomax(loadings, 1.0, budget)?;
    let a = factor::multiply(&rotation.transposed(), loadings);
    let target = Matrix::from_fn(a.rows(), a.cols(), |i, j| a[(i, j)] * a[(i, j)].abs().powi(3));
    // U = (A A')^-1 A target', its columns scaled so that factors have variance 1.
    let inverse = pseudo_inverse(&factor::multiply_transposed(&a, &a))?;
    let u = factor::multiply(&inverse, &factor::multiply_transposed(&a, &target));
    let d = pseudo_inverse(&factor::multiply(&u.transposed(), &u))?;
    let scaled = Matrix::from_fn(u.rows(), u.cols(), |i, j| u[(i, j)] * d[(j, j)].sqrt());
    Ok(factor::multiply(&rotation, &scaled))
}

/// A criterion and its gradient at loadings `k x p`.
type Criterion = dyn Fn(&Matrix<f64>) -> (f64, Matrix<f64>);

/// `sum_i sum_{j != l} l_ij^2 l_il^2 / 4`: oblimin with gamma 0.
fn quartimin(l: &Matrix<f64>) -> (f64, Matrix<f64>) {
    let (k, p) = (l.rows(), l.cols());
    let all: Vec<f64> = (0..p).map(|i| (0..k).map(|j| l[(j, i)].powi(2)).sum()).collect();
    let others = |j: usize, i: usize| all[i] - l[(j, i)].powi(2);
    let value = (0..k)
        .flat_map(|j| (0..p).map(move |i| (j, i)))
        .map(|(j, i)| l[(j, i)].powi(2) * others(j, i))
        .sum::<f64>();
    (0.25 * value, Matrix::from_fn(k, p, |j, i| l[(j, i)] * others(j, i)))
}

/// `sum_i (prod_j (l_ij^2 + eps))^(1/k)`.
fn geomin(l: &Matrix<f64>) -> (f64, Matrix<f64>) {
    let (k, p) = (l.rows(), l.cols());
    let mean_log =
        |i: usize| (0..k).map(|j| (l[(j, i)].powi(2) + GEOMIN_CONSTANT).ln()).sum::<f64>() / k as f64;
    let each: Vec<f64> = (0..p).map(|i| mean_log(i).exp()).collect();
    let slope =
        |j: usize, i: usize| 2.0 / k as f64 * l[(j, i)] / (l[(j, i)].powi(2) + GEOMIN_CONSTANT) * each[i];
    (each.iter().sum(), Matrix::from_fn(k, p, slope))
}

/// The oblique `M = T'^-1` of unit columns of `T` that minimises a criterion from the start `T`, and its value.
fn oblique(
    a: &Matrix<f64>,
    criterion: &Criterion,
    start: Matrix<f64>,
    budget: &Budget<'_>,
) -> Result<(Matrix<f64>, f64)> {
    let k = a.rows();
    // L = T^-1 A with factors as rows.
    let seen = |t: &Matrix<f64>| -> Result<(Matrix<f64>, Matrix<f64>)> {
        let inverse = pseudo_inverse(t)?;
        Ok((factor::multiply(&inverse, a), inverse))
    };
    let mut t = start;
    let (mut l, mut inverse) = seen(&t)?;
    let (mut value, mut slope) = criterion(&l);
    let (mut length, size) = (1.0, a.as_slice().iter().map(|x| x * x).sum::<f64>().max(f64::MIN_POSITIVE));
    for step in 0..MAX_STEPS {
        // df/dT = -(T^-1)' (dQ/dL) L', less its part along the columns of T.
        let raw = factor::multiply(&inverse.transposed(), &factor::multiply_transposed(&slope, &l));
        let along: Vec<f64> = (0..k).map(|j| (0..k).map(|i| t[(i, j)] * raw[(i, j)]).sum()).collect();
        let slide = Matrix::from_fn(k, k, |i, j| raw[(i, j)] - t[(i, j)] * along[j]);
        let square: f64 = slide.as_slice().iter().map(|x| x * x).sum();
        if square.sqrt() <= 1e-10 * size || (step > 0 && budget.spent()?) {
            break;
        }
        length *= 2.0;
        let mut fell = false;
        for _ in 0..40 {
            let moved = Matrix::from_fn(k, k, |i, j| t[(i, j)] + length * slide[(i, j)]);
            let norm: Vec<f64> =
                (0..k).map(|j| (0..k).map(|i| moved[(i, j)].powi(2)).sum::<f64>().sqrt()).collect();
            let next = Matrix::from_fn(k, k, |i, j| moved[(i, j)] / norm[j]);
            let (next_l, next_inverse) = seen(&next)?;
            let (next_value, next_slope) = criterion(&next_l);
            if next_value < value - 0.5 * square * length {
                (t, l, inverse, value, slope) = (next, next_l, next_inverse, next_value, next_slope);
                fell = true;
                break;
            }
            length *= 0.5;
        }
        if !fell {
            break;
        }
    }
    Ok((inverse.transposed(), value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::run::Observer;

    fn random() -> Matrix<f64> {
        let draws = Stream::new(3, 0);
        Matrix::from_fn(3, 9, |i, j| draws.normal((9 * i + j) as u64))
    }

    #[test]
    fn a_rotation_ends_at_the_time_limit() {
        let late = Run { max_seconds: Some(0.0), ..Run::default() };
        for how in [Rotation::Varimax, Rotation::Promax, Rotation::Oblimin, Rotation::Geomin] {
            let whole = rotate(&random(), how, false, &Run::default()).unwrap();
            let short = rotate(&random(), how, false, &late).unwrap();
            assert!(short.cut && !whole.cut, "{how:?}");
            assert!(short.matrix.as_slice().iter().all(|m| m.is_finite()), "{how:?}");
            assert_ne!(short.matrix, whole.matrix, "{how:?}");
        }
    }

    #[test]
    fn a_requested_stop_ends_a_rotation() {
        struct Stop;
        impl Observer for Stop {
            fn interrupted(&self) -> bool {
                true
            }
        }
        let run = Run { observer: &Stop, ..Run::default() };
        for how in [Rotation::Varimax, Rotation::Geomin] {
            assert!(matches!(rotate(&random(), how, false, &run), Err(Error::Interrupted)));
        }
    }
}
