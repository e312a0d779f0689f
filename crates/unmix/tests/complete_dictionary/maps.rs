//! Maps without data: rates of convergence, and identities.

use super::*;
use unmix::internal::num::random::Stream;
use unmix::power::{Contrast, Contrasted, Image, PowerIteration, PowerMap, Projection, Shift};
use unmix::{Result, Run};

/// `E[y³ x']` of the Bernoulli-Gaussian model, in its own coordinates: `3 (1 - share) / share w³ + 3 w`; without rows, `w³`.
struct Population {
    share: Option<f64>,
}

impl PowerMap for Population {
    fn apply(&mut self, w: &Matrix<f64>) -> Result<Option<Image>> {
        let entry = |w: f64| match self.share {
            Some(share) => 3.0 * (1.0 - share) / share * w.powi(3) + 3.0 * w,
            None => w.powi(3),
        };
        let direction = Matrix::from_fn(w.rows(), w.cols(), |i, j| entry(w[(i, j)]));
        Ok(Some(Image::new(direction, vec![3.0; w.rows()], 0.0)))
    }
}

/// Distances from the identity of a rotation near it, and of each step from there.
fn distances(mut map: Population, size: f64, shift: Shift, steps: u64) -> Vec<f64> {
    let p = 30;
    let draws = Stream::new(2, 0);
    let skew = |i: usize, j: usize| match i.cmp(&j) {
        std::cmp::Ordering::Less => size * draws.normal((i * p + j) as u64),
        std::cmp::Ordering::Greater => -size * draws.normal((j * p + i) as u64),
        std::cmp::Ordering::Equal => 1.0,
    };
    let start = factor::polar_rows(&Matrix::from_fn(p, p, skew)).unwrap();
    let away = |w: &Matrix<f64>| {
        let off = (0..p * p).map(|at| w[(at / p, at % p)] - f64::from(u8::from(at / p == at % p)));
        off.map(|d| d * d).sum::<f64>().sqrt()
    };
    (0..=steps)
        .map(|max_iter| {
            let limits = PowerIteration {
                projection: Projection::Polar,
                shift,
                tol: f64::NEG_INFINITY,
                max_iter,
                eps: 0.0,
            };
            away(&limits.solve(&mut map, &start, &Run::default()).unwrap().a)
        })
        .collect()
}

#[test]
fn plain_steps_contract_by_the_share_of_codes_that_are_not_zero() {
    for share in [0.1, 0.3, 0.5, 0.7] {
        let found = distances(Population { share: Some(share) }, 1e-3, Shift::Constant(0.0), 4);
        for pair in found.windows(2) {
            assert!((pair[1] / pair[0] - share).abs() < 1e-3, "{share}: {found:?}");
        }
    }
}

#[test]
fn steps_by_slopes_and_steps_without_rows_are_of_third_order() {
    for (share, shift) in [(None, Shift::Constant(0.0)), (Some(0.3), Shift::Slope)] {
        let found = distances(Population { share }, 0.01, shift, 2);
        // Each entry off the diagonal becomes its third power, so the norm falls far below its square.
        assert!(found[1] < 0.05 * found[0].powi(2) && found[2] < 1e-9, "{found:?}");
    }
}

/// `expm(t S) W`, by its series.
fn turned(s: &Matrix<f64>, t: f64, w: &Matrix<f64>) -> Matrix<f64> {
    let (mut term, mut sum) = (w.clone(), w.clone());
    for n in 1..20 {
        let next = factor::multiply(s, &term);
        term = Matrix::from_fn(w.rows(), w.cols(), |i, j| next[(i, j)] * t / f64::from(n));
        sum = Matrix::from_fn(w.rows(), w.cols(), |i, j| sum[(i, j)] + term[(i, j)]);
    }
    sum
}

/// On the orthogonal group the derivative of the objective along `expm(t S) W`, `S` antisymmetric, is the inner product of `S` with the antisymmetric
/// part of `E[g(y) x'] W'`: the gradient whose largest entry the search bounds.
#[test]
fn the_gradient_on_the_orthogonal_group_is_that_of_differences_along_geodesics() {
    let (p, h) = (6, 1e-3);
    let (x, run) = (orthogonal(p, 3000, 0.3, 0.1, 5).x, Run::default());
    let rows = Rows::from_slice(x.as_slice(), p).unwrap();
    let normal = |stream: u64| {
        let draws = Stream::new(9, stream);
        Matrix::from_fn(p, p, |i, j| draws.normal((i * p + j) as u64))
    };
    let w = factor::polar_rows(&normal(0)).unwrap();
    for contrast in [Contrast::Cube, Contrast::AbsCube, Contrast::LogCosh(1.0)] {
        let mut map = Contrasted::new(&rows, contrast, &run);
        let image = map.apply(&w).unwrap().unwrap();
        let along = factor::multiply_transposed(&image.direction, &w);
        for stream in 1..6 {
            let a = normal(stream);
            let skew = Matrix::from_fn(p, p, |i, j| 0.1 * (a[(i, j)] - a[(j, i)]));
            let each = (0..p * p).map(|at| (at / p, at % p));
            let want: f64 = each.map(|(i, j)| skew[(i, j)] * 0.5 * (along[(i, j)] - along[(j, i)])).sum();
            let mut at = |t: f64| map.apply(&turned(&skew, t, &w)).unwrap().unwrap().objective;
            // Central differences of fourth order.
            let found = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
            let size = want.abs().max(1e-3 * image.objective.abs());
            assert!((found - want).abs() <= 1e-7 * size, "{contrast:?}: {found:e} and {want:e}");
        }
    }
}

/// `(X'X/n)^(-1/2)` of rows `Z B` is a rotation of that of `Z`: `Q = polar(G B)` with `G = (Z'Z/n)^(1/2)`, to rounding.
#[test]
fn whitened_rows_are_a_rotation_of_whitened_codes() {
    let (n, p) = (4000, 20);
    let made = oblique((n, p, p), 0.2, 3);
    let power = |x: &Matrix<f64>, exponent: f64| {
        let gram = factor::multiply(&x.transposed(), x);
        let moments = Matrix::from_fn(p, p, |i, j| gram[(i, j)] / n as f64);
        let (values, vectors) = factor::eigh(&moments).unwrap();
        let scaled = Matrix::from_fn(p, p, |i, j| values[i].powf(exponent) * vectors[(i, j)]);
        factor::multiply(&vectors.transposed(), &scaled)
    };
    let white = factor::multiply(&made.x, &power(&made.x, -0.5));
    let second = factor::multiply(&white.transposed(), &white);
    let off = |at: usize| second[(at / p, at % p)] / n as f64 - f64::from(u8::from(at / p == at % p));
    assert!((0..p * p).all(|at| off(at).abs() < 1e-11));
    let turn = factor::polar_rows(&factor::multiply(&power(&made.codes, 0.5), &made.atoms)).unwrap();
    let codes = factor::multiply(&factor::multiply(&made.codes, &power(&made.codes, -0.5)), &turn);
    let norm = |m: &[f64]| m.iter().map(|x| x * x).sum::<f64>().sqrt();
    let apart: Vec<f64> = white.as_slice().iter().zip(codes.as_slice()).map(|(a, b)| a - b).collect();
    assert!(norm(&apart) < 1e-12 * norm(white.as_slice()), "{:e}", norm(&apart) / norm(white.as_slice()));
}
