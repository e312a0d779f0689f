//! The objective, its gradient, and exact identities.

use super::{cost, from_identity, normal, plain, squares};
use crate::made::{apart, cast, falling, on_threads, pca};
use crate::naive;
use serde_json::json;
use unmix::internal::num::factor;
use unmix::method::rica::{Beta, Penalty};
use unmix::{Matrix, Rica, Rows};

const BOTH: [Penalty; 2] = [Penalty::LogCosh, Penalty::SmoothL1];

/// The largest absolute difference between `a` and `b`, relative to the largest entry of `b`.
fn off(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    apart(a.as_slice(), b.as_slice()) / b.as_slice().iter().fold(0.0f64, |m, x| m.max(x.abs()))
}

fn identity_less(w: &Matrix<f64>) -> Matrix<f64> {
    let mut b = factor::multiply(&w.transposed(), w);
    (0..b.rows()).for_each(|i| b[(i, i)] -= 1.0);
    b
}

#[test]
fn the_objective_and_its_gradient_are_those_of_the_naive_implementation() {
    for (n, p, k) in [(700, 5, 5), (300, 6, 11), (90, 9, 2), (20, 30, 7), (12, 15, 40)] {
        let x = falling(n, p, 3);
        for penalty in BOTH {
            for unit in [false, true] {
                let w = normal(k, p, 1);
                let (value, gradient) = cost(&plain(0.7, penalty, unit), &x, &w);
                let want = naive::rica(&x, &w, 0.7, penalty, unit);
                let name = format!("{n} x {p}, {k} features, {penalty:?}, unit {unit}");
                assert!((value / want.0 - 1.0).abs() < 1e-12, "{name}: {value} not {}", want.0);
                assert!(off(&gradient, &want.1) < 1e-11, "{name}: {:e}", off(&gradient, &want.1));
            }
        }
    }
}

#[test]
fn white_centred_and_standardized_rows_are_those_of_pca() {
    let (n, p) = (400, 6);
    let x = falling(n, p, 5);
    for (given, spec) in [
        (json!({}), Rica::default()),
        (json!({"standardize": true}), Rica { standardize: true, ..Rica::default() }),
        (json!({"center": false}), Rica { center: false, ..Rica::default() }),
    ] {
        let mut settings = given.clone();
        settings["whiten"] = json!(true);
        settings["svd_solver"] = json!("full");
        let model = pca(settings, &x, p);
        let axes = super::matrix(&model, "components");
        let noise = model.tensor("noise_scale").map_or_else(|| vec![1.0; p], |t| t.f64s());
        // Whitened coordinates have variance 1 with divisor n; the order and the signs of the axes are those of PCA.
        let share = ((n as f64) / (n as f64 - 1.0)).sqrt();
        let scale = crate::made::numbers(&model, "scale");
        let mean = crate::made::numbers(&model, "mean");
        let mut z = Vec::new();
        for row in x.chunks_exact(p) {
            for i in 0..p {
                let sign = unmix::model::sign_of(axes.row(i), f64::EPSILON);
                let along: f64 = (0..p).map(|j| (row[j] - mean[j]) / noise[j] * axes[(i, j)]).sum();
                z.push(sign * along / scale[i] * share);
            }
        }
        let w = normal(9, p, 2);
        let spec =
            Rica { beta: Beta::Weight(0.3), unit_norm: unmix::method::rica::UnitNorm::Always(false), ..spec };
        let (value, gradient) = cost(&spec, &x, &w);
        let want = naive::rica(&z, &w, 0.3, Penalty::LogCosh, false);
        assert!((value / want.0 - 1.0).abs() < 1e-11, "{given}: {value} not {}", want.0);
        assert!(off(&gradient, &want.1) < 1e-10, "{given}");
    }
}

#[test]
fn gradients_are_differences_of_the_function() {
    let (n, p) = (200, 6);
    let x = falling(n, p, 8);
    for k in [3, 6, 10] {
        for penalty in BOTH {
            for unit in [false, true] {
                let spec = plain(0.5, penalty, unit);
                let (w, direction) = (normal(k, p, 4), normal(k, p, 5));
                let at = |t: f64| {
                    let moved = Matrix::from_fn(k, p, |i, j| w[(i, j)] + t * direction[(i, j)]);
                    cost(&spec, &x, &moved).0
                };
                // Differences of fourth order: h^4 and eps / h are both below the tolerance of the test.
                let h = 2e-4;
                let numeric = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
                let gradient = cost(&spec, &x, &w).1;
                let slope: f64 =
                    gradient.as_slice().iter().zip(direction.as_slice()).map(|(g, d)| g * d).sum();
                assert!(
                    (numeric / slope - 1.0).abs() < 1e-9,
                    "{k}, {penalty:?}, {unit}: {numeric} not {slope}"
                );
            }
        }
    }
}

#[test]
fn single_precision_is_near_double() {
    let (n, p, k) = (5000, 12, 20);
    let x: Vec<f32> = cast(&falling(n, p, 2));
    let wide = crate::made::wide(&x);
    let w = normal(k, p, 3);
    let spec = Rica { unit_norm: unmix::method::rica::UnitNorm::Always(true), ..Rica::default() };
    let single = spec.cost(&mut Rows::from_slice(&x, p).unwrap(), &w, &on_threads(2)).unwrap();
    let double = cost(&spec, &wide, &w);
    assert!((single.0 / double.0 - 1.0).abs() < 1e-6, "{} and {}", single.0, double.0);
    assert!(off(&single.1, &double.1) < 1e-5, "{:e}", off(&single.1, &double.1));
}

#[test]
fn lemma_3_1_reconstruction_depends_on_second_moments_only() {
    let (n, p, k) = (300, 7, 10);
    let x = falling(n, p, 6);
    let w = normal(k, p, 6);
    let rec = cost(&plain(0.0, Penalty::LogCosh, false), &x, &w).0;
    // E D^(1/2) from the second moments about 0, by Jacobi rotations.
    let c: Vec<Vec<f64>> = (0..p)
        .map(|i| (0..p).map(|j| naive::sum(x.chunks_exact(p).map(|r| r[i] * r[j])) / n as f64).collect())
        .collect();
    let (d, e) = naive::jacobi(c);
    let root = Matrix::from_fn(p, p, |i, j| e[j][i] * d[j].sqrt());
    let want = squares(&factor::multiply(&identity_less(&w), &root));
    assert!((rec / want - 1.0).abs() < 1e-13, "{rec} not {want}");
    // For white rows the reconstruction error is ||W'W - I||².
    let spec = Rica {
        beta: Beta::Weight(0.0),
        unit_norm: unmix::method::rica::UnitNorm::Always(false),
        ..Rica::default()
    };
    let white = cost(&spec, &x, &w).0;
    assert!((white / squares(&identity_less(&w)) - 1.0).abs() < 1e-13);
    // Lemma 3.2: the penalties for orthonormal columns and for orthonormal rows differ by a constant.
    let other = squares(&identity_less(&w.transposed()));
    assert!(((other - (white + k as f64 - p as f64)) / other).abs() < 1e-13);
}

#[test]
fn lemma_3_3_denoising_is_reconstruction_and_weight_decay() {
    let (n, p, k, delta) = (40, 5, 8, 0.7);
    let x = falling(n, p, 7);
    let w = normal(k, p, 7);
    // Noise along one axis at a time, whose moments over the copies of a row are exactly those of independent noise of variance delta².
    let far = delta * (p as f64).sqrt();
    let (mut noisy, mut lost) = (Vec::new(), Vec::new());
    let used = factor::multiply(&w.transposed(), &w);
    for row in x.chunks_exact(p) {
        for j in 0..p {
            for sign in [-1.0, 1.0] {
                let mut copy = row.to_vec();
                copy[j] += sign * far;
                lost.extend(
                    (0..p).map(|i| ((0..p).map(|l| used[(i, l)] * copy[l]).sum::<f64>() - row[i]).powi(2)),
                );
                noisy.extend(copy);
            }
        }
    }
    let denoising = naive::sum(lost) / (2 * n * p) as f64;
    let rec = cost(&plain(0.0, Penalty::LogCosh, false), &noisy, &w).0;
    let want = rec + 2.0 * delta * delta * squares(&w) - p as f64 * delta * delta;
    assert!((denoising / want - 1.0).abs() < 1e-13, "{denoising} not {want}");
    let without = rec + 2.0 * delta * delta * squares(&w);
    assert!(
        (without - denoising - p as f64 * delta * delta).abs() < 1e-13 * denoising,
        "the constant is -d delta²"
    );
}

#[test]
fn features_of_unit_norm_are_on_the_sphere() {
    let (n, p, k) = (300, 6, 9);
    let x = falling(n, p, 9);
    let spec = plain(0.5, Penalty::LogCosh, true);
    let w = normal(k, p, 8);
    let (value, gradient) = cost(&spec, &x, &w);
    for i in 0..k {
        let along: f64 = gradient.row(i).iter().zip(w.row(i)).map(|(g, w)| g * w).sum();
        assert!(along.abs() < 1e-12 * squares(&gradient).sqrt(), "row {i}: {along:e}");
    }
    // The value does not depend on the norms of the rows of W, whether above or below 1: the constraint is the unit sphere, not the
    // ball.
    let longer = Matrix::from_fn(k, p, |i, j| w[(i, j)] * 2f64.powi(i as i32 - 3));
    let (again, other) = cost(&spec, &x, &longer);
    assert!((again / value - 1.0).abs() < 1e-15);
    for i in 0..k {
        let factor = 2f64.powi(i as i32 - 3);
        assert!(
            gradient
                .row(i)
                .iter()
                .zip(other.row(i))
                .all(|(a, b)| (a - factor * b).abs() < 1e-12 * squares(&gradient).sqrt())
        );
    }
}

#[test]
fn zero_features_are_a_minimum_exactly_above_the_critical_weight() {
    // The critical weight lambda = 1 / beta, tested on both sides of g''(0) / 4, for rows that are not white.
    let (n, p, k) = (3000, 4, 6);
    let (x, _) = super::laplace(n, p, 11);
    for penalty in BOTH {
        let nothing = |beta: f64| cost(&plain(beta, penalty, false), &x, &Matrix::zeros(k, p)).0;
        for (share, rises) in [(0.96, true), (1.04, false)] {
            let beta = 4.0 / (penalty.curvature() * share);
            for seed in 0..10 {
                let direction = normal(k, p, 200 + seed);
                // W is small relative to the rows, so that the second derivative dominates.
                let size = 1e-4 / squares(&direction).sqrt();
                let w = Matrix::from_fn(k, p, |i, j| size * direction[(i, j)]);
                let change = cost(&plain(beta, penalty, false), &x, &w).0 - nothing(beta);
                assert_eq!(change > 0.0, rises, "{penalty:?}, lambda {share} g''/4: {change:e}");
            }
        }
    }
}

#[test]
fn orthonormal_features_minimise_the_reconstruction_error() {
    let q = factor::orthonormal_rows(&normal(6, 6, 1));
    assert!(from_identity(&factor::multiply_transposed(&q, &q)) < 1e-14);
    let (value, gradient) = cost(&plain(0.0, Penalty::LogCosh, false), &falling(100, 6, 1), &q);
    assert!(value < 1e-25 && squares(&gradient).sqrt() < 1e-11, "{value:e}");
}
