//! Rotations leave the model covariance unchanged, and are stationary points of their criteria.

use super::{covariance, fit, made};
use crate::made::{apart, numbers, warned};
use serde_json::json;
use unmix::internal::num::factor;
use unmix::{Matrix, Model};

const P: usize = 9;

fn loadings(model: &Model) -> Matrix<f64> {
    model.tensor("components").unwrap().to_matrix()
}

/// The orthomax criterion: the sum over factors of the sum of fourth powers of loadings less `gamma / p` times the squared sum of
/// squares.
fn orthomax(l: &Matrix<f64>, gamma: f64) -> f64 {
    let each = |j: usize| {
        let (four, two) = l.row(j).iter().fold((0.0, 0.0), |(f, t), x| (f + x.powi(4), t + x * x));
        four - gamma / l.cols() as f64 * two * two
    };
    (0..l.rows()).map(each).sum()
}

#[test]
fn every_rotation_keeps_the_covariance_and_the_likelihood() {
    let x = made(300, P, 3, 31);
    let plain = fit(json!({"n_components": 3}), &x, P);
    let want = covariance(&plain);
    for rotation in ["varimax", "quartimax", "equamax", "promax", "oblimin", "geomin"] {
        for normalize in [false, true] {
            let given = json!({"n_components": 3, "rotation": rotation, "rotation_normalize": normalize});
            let model = fit(given.clone(), &x, P);
            let size = want.as_slice().iter().fold(0.0f64, |m, x| m.max(x.abs()));
            assert!(apart(want.as_slice(), covariance(&model).as_slice()) < 1e-10 * size, "{given}");
            assert_eq!(numbers(&model, "noise_variance"), numbers(&plain, "noise_variance"), "{given}");
            assert_eq!(model.report().objective, plain.report().objective, "{given}");
            let phi = model.tensor("factor_correlation").unwrap().to_matrix();
            let oblique = ["promax", "oblimin", "geomin"].contains(&rotation);
            for i in 0..3 {
                assert_eq!(phi[(i, i)], 1.0, "{given}");
                for j in 0..i {
                    assert!(
                        phi[(i, j)] == phi[(j, i)] && (oblique || phi[(i, j)] == 0.0),
                        "{given}: {phi:?}"
                    );
                }
            }
            assert!(factor::eigenvalues(&phi).unwrap()[2] > 0.0, "{given}");
            // Factors are sorted by sums of squared loadings, and the largest loading of each is positive.
            let (l, variance) = (loadings(&model), numbers(&model, "component_variance"));
            assert!(variance.windows(2).all(|w| w[0] >= w[1]), "{given}: {variance:?}");
            let products = factor::multiply_transposed(&l, &l);
            for j in 0..3 {
                let own: f64 = (0..3).map(|i| phi[(j, i)] * products[(i, j)]).sum();
                assert!((own - variance[j]).abs() < 1e-10 * size, "{given}");
                let largest = l.row(j).iter().fold(0.0f64, |m, x| if x.abs() > m.abs() { *x } else { m });
                assert!(largest > 0.0, "{given}");
            }
        }
    }
}

#[test]
fn orthogonal_rotations_maximise_their_criteria() {
    let x = made(300, P, 3, 32);
    for (rotation, gamma) in [("varimax", 1.0), ("quartimax", 0.0), ("equamax", 1.5)] {
        let model = fit(json!({"n_components": 3, "rotation": rotation, "standardize": true}), &x, P);
        let l = loadings(&model);
        let best = orthomax(&l, gamma);
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            for angle in [-0.7f64, -0.1, -1e-3, 1e-3, 0.1, 0.7] {
                let (sin, cos) = angle.sin_cos();
                let turned = Matrix::from_fn(3, P, |i, j| match i {
                    i if i == a => cos * l[(a, j)] + sin * l[(b, j)],
                    i if i == b => cos * l[(b, j)] - sin * l[(a, j)],
                    _ => l[(i, j)],
                });
                assert!(orthomax(&turned, gamma) < best + 1e-12, "{rotation} {a} {b} {angle}");
            }
        }
        let turn = model.tensor("second_rotation").unwrap().to_matrix();
        let identity = Matrix::from_fn(3, 3, |i, j| f64::from(u8::from(i == j)));
        assert!(apart(factor::multiply_transposed(&turn, &turn).as_slice(), identity.as_slice()) < 1e-12);
    }
}

/// Three clusters of columns, each loading on one of three correlated factors: oblique rotations recover factors and correlations.
#[test]
fn oblique_rotations_find_correlated_factors_of_simple_structure() {
    use unmix::internal::num::random::Stream;
    let (n, draws) = (4000, Stream::new(33, 0));
    let mut x = Vec::with_capacity(n * P);
    for i in 0..n {
        let g: Vec<f64> = (0..4).map(|c| draws.normal((i * 20 + c) as u64)).collect();
        // Correlations between factors are 0.36.
        let f: Vec<f64> = (0..3).map(|c| 0.6 * g[3] + 0.8 * g[c]).collect();
        x.extend((0..P).map(|j| 0.8 * f[j / 3] + 0.6 * draws.normal((i * 20 + 4 + j) as u64)));
    }
    for rotation in ["promax", "oblimin", "geomin"] {
        let model = fit(json!({"n_components": 3, "rotation": rotation}), &x, P);
        let (l, phi) = (loadings(&model), model.tensor("factor_correlation").unwrap().to_matrix());
        for c in 0..3 {
            let own = (0..3).max_by(|&a, &b| l[(a, 3 * c)].abs().total_cmp(&l[(b, 3 * c)].abs())).unwrap();
            for j in 0..P {
                for i in 0..3 {
                    let want = if i == own && j / 3 == c {
                        0.8
                    } else if i == own || j / 3 == c {
                        0.0
                    } else {
                        continue;
                    };
                    assert!((l[(i, j)] - want).abs() < 0.1, "{rotation} {i} {j}: {}", l[(i, j)]);
                }
            }
        }
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            assert!((phi[(i, j)] - 0.36).abs() < 0.12, "{rotation}: {phi:?}");
        }
    }
}

#[test]
fn a_rotation_of_columns_with_different_variances_gives_a_warning() {
    let mut x = made(300, P, 3, 35);
    x.chunks_exact_mut(P).for_each(|row| row[4] *= 1000.0);
    let warns = |given: serde_json::Value| warned(&fit(given, &x, P), "of which column 4 has 99 %");
    assert!(warns(json!({"n_components": 3, "rotation": "varimax"})));
    assert!(!warns(json!({"n_components": 3})));
    assert!(!warns(json!({"n_components": 1, "rotation": "varimax"})));
    for setting in ["standardize", "rotation_normalize"] {
        assert!(!warns(json!({"n_components": 3, "rotation": "oblimin", setting: true})), "{setting}");
    }
    // Equal units.
    let equal = |at: usize| [1.0, 1.0 / 3.0, 5.0][at % P % 3];
    let x: Vec<f64> = made(300, P, 3, 35).iter().enumerate().map(|(at, x)| x * equal(at)).collect();
    let model = fit(json!({"n_components": 3, "rotation": "varimax"}), &x, P);
    assert!(!warned(&model, "the rotation weights columns"), "{:?}", model.report().warnings);
}
