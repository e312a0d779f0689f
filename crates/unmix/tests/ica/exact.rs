//! Deterministic designs with exactly independent sources, first-order conditions, and solver iterations against textbook formulas.

use super::made::{fit, laplace, mix, mixed_kinds, mixing, residual, sources};
use crate::naive;
use serde_json::json;
use unmix::Matrix;
use unmix::internal::num::factor;

/// All combinations of three sources that take the values -2, 0 (six times) and 2: exactly independent, exactly white, of excess
/// kurtosis exactly 1.
fn design() -> Vec<f64> {
    let values = [-2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0];
    let all = 0..512;
    all.flat_map(|i| [values[i / 64], values[i / 8 % 8], values[i % 8]]).collect()
}

#[test]
fn the_fixed_point_of_kurtosis_cubes_the_ratios_of_a_row() {
    let length = (1.0f64 + 0.36 + 0.09).sqrt();
    let first: Vec<f64> = [1.0, 0.6, -0.3].iter().map(|x| x / length).collect();
    let start = json!([first, [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    for steps in 1..=3 {
        let given = json!({
            "algorithm": "fastica", "orthogonalization": "deflation", "fun": "cube", "whiten": false, "order": "found",
            "max_iter": steps, "tol": 0.0, "w_init": start,
        });
        let w = super::made::components(&fit("ica", given, &design(), 3));
        let (second, third) = (w[1] / w[0], w[2] / w[0]);
        let (want, small) = (0.6f64.powi(3i32.pow(steps)), -(0.3f64.powi(3i32.pow(steps))));
        assert!((second / want - 1.0).abs() < 1e-9, "{steps}: {second:e} instead of {want:e}");
        match steps {
            3 => assert!((third - small).abs() < 1e-14, "{third:e} instead of {small:e}"),
            _ => assert!((third / small - 1.0).abs() < 1e-9, "{third:e} instead of {small:e}"),
        }
    }
}

#[test]
fn on_the_design_every_solver_finds_the_axes_exactly() {
    let turn = factor::orthonormal_rows(&mixing(3, 3, 5));
    let x = mix(&Matrix::from_vec(512, 3, design()), &turn);
    for given in [
        json!({}),
        json!({"fun": "cube"}),
        json!({"algorithm": "fastica"}),
        json!({"algorithm": "fastica", "fun": "cube"}),
        json!({"algorithm": "fastica", "orthogonalization": "deflation", "fun": "exp"}),
        json!({"ortho": false}),
        json!({"ortho": false, "extended": true}),
        json!({"algorithm": "infomax"}),
    ] {
        let mut given = given;
        given["tol"] = json!(1e-11);
        let model = fit("ica", given.clone(), &x, 3);
        let gain = super::made::gain(&model, &turn);
        assert!(super::made::amari(&gain) < 1e-9, "{given}: {gain:?}");
    }
}

/// The matrix `E[g(y_i) y_j]` by plain sums.
fn cross(y: &Matrix<f64>, g: impl Fn(f64) -> f64) -> Matrix<f64> {
    let (n, k) = (y.rows(), y.cols());
    Matrix::from_fn(k, k, |i, j| (0..n).map(|r| g(y[(r, i)]) * y[(r, j)]).sum::<f64>() / n as f64)
}

fn mean(y: &Matrix<f64>, i: usize, f: impl Fn(f64) -> f64) -> f64 {
    (0..y.rows()).map(|r| f(y[(r, i)])).sum::<f64>() / y.rows() as f64
}

#[test]
fn the_residual_is_the_first_order_condition_of_rotations() {
    let (k, a) = (6, mixing(6, 6, 2));
    let x = mix(&mixed_kinds(3000, k, 2), &a);
    let slope = |y: f64| 1.0 - y.tanh().powi(2);
    for given in [json!({}), json!({"algorithm": "fastica"}), json!({"max_iter": 3}), json!({"tol": 1e-9})] {
        let model = fit("ica", given.clone(), &x, k);
        let y = sources(&model, &x);
        let m = cross(&y, f64::tanh);
        let sign = |i: usize| (mean(&y, i, slope) - m[(i, i)]).signum();
        let mut worst = 0.0f64;
        for i in 0..k {
            for j in 0..k {
                worst = worst.max(0.5 * (sign(i) * m[(i, j)] - sign(j) * m[(j, i)]).abs());
            }
        }
        assert!((worst - residual(&model)).abs() < 1e-11, "{given}: {worst:e}, {:e}", residual(&model));
        let reached = model.report().outcome == unmix::Outcome::Converged;
        assert_eq!(reached, given.get("max_iter").is_none(), "{given}");
        // Codes are white up to rounding errors, whatever the outcome.
        let second = cross(&y, |y| y);
        for i in 0..k {
            for j in 0..k {
                assert!((second[(i, j)] - f64::from(u8::from(i == j))).abs() < 1e-11, "{given}");
            }
        }
    }
}

#[test]
fn a_search_that_no_step_improves_is_stalled_at_the_first_order_condition() {
    // No search reaches a gradient of exactly 0: in the end the line search fails along the quasi-Newton direction, the history is cleared,
    // and it fails along the gradient as well.
    let (k, a) = (5, mixing(5, 5, 4));
    let x = mix(&mixed_kinds(2000, k, 4), &a);
    for given in [json!({}), json!({"algorithm": "fastica"}), json!({"ortho": false, "extended": true})] {
        let mut given = given;
        (given["tol"], given["max_iter"]) = (json!(0.0), json!(2000));
        let model = fit("ica", given.clone(), &x, k);
        let report = model.report();
        assert_eq!(report.outcome, unmix::Outcome::Stalled, "{given}: {:?}", report.residual);
        assert!(report.n_iter < 2000 && residual(&model) < 1e-9, "{given}: {:e}", residual(&model));
        if given.get("ortho").is_none() {
            let y = sources(&model, &x);
            let m = cross(&y, f64::tanh);
            let sign = |i: usize| (mean(&y, i, |y| 1.0 - y.tanh().powi(2)) - m[(i, i)]).signum();
            let skew = |i: usize, j: usize| 0.5 * (sign(i) * m[(i, j)] - sign(j) * m[(j, i)]).abs();
            assert!((0..k).all(|i| (0..i).all(|j| skew(i, j) < 1e-9)), "{given}");
        }
    }
}

#[test]
fn the_residual_is_the_first_order_condition_of_maximum_likelihood() {
    let k = 4;
    let turn = Matrix::from_fn(k, k, |i, j| f64::from(u8::from(i == j)) + 0.3 * mixing(k, k, 3)[(i, j)]);
    let x = mix(&laplace(4000, k, 3), &turn);
    type Density = fn(f64) -> f64;
    let cases: [(_, Density); 3] = [
        (json!({"ortho": false}), f64::tanh),
        (json!({"algorithm": "infomax"}), |y| (0.5 * y).tanh()),
        (json!({"ortho": false, "extended": true}), |y| y + y.tanh()),
    ];
    for (mut given, density) in cases {
        // Without whitening, so that sources keep the scale at which the density has its maximum likelihood.
        given["whiten"] = json!(false);
        let model = fit("ica", given.clone(), &x, k);
        let m = cross(&sources(&model, &x), density);
        let mut worst = 0.0f64;
        for i in 0..k {
            for j in 0..k {
                worst = worst.max((m[(i, j)] - f64::from(u8::from(i == j))).abs());
            }
        }
        assert!((worst - residual(&model)).abs() < 1e-11, "{given}: {worst:e}, {:e}", residual(&model));
        assert!(worst <= 1e-6, "{given}");
    }
}

#[test]
fn with_deflation_only_the_triangular_part_vanishes() {
    let (k, a) = (5, mixing(5, 5, 4));
    let x = mix(&mixed_kinds(4000, k, 4), &a);
    let given = json!({
        "algorithm": "fastica", "orthogonalization": "deflation", "order": "found", "tol": 1e-10, "max_iter": 2000
    });
    let model = fit("ica", given, &x, k);
    let m = cross(&sources(&model, &x), f64::tanh);
    let above =
        (0..k).flat_map(|i| (i + 1..k).map(move |j| (i, j))).map(|at| m[at].abs()).fold(0.0, f64::max);
    let below = (0..k).flat_map(|i| (0..i).map(move |j| (i, j))).map(|at| m[at].abs()).fold(0.0, f64::max);
    assert!(above < 2e-10 && below > 1e-4, "{above:e} above the diagonal, {below:e} below");
}

/// The orthogonal matrix nearest to `m`: `(M M')^(-1/2) M`.
fn nearest_rotation(m: &Matrix<f64>) -> Matrix<f64> {
    let k = m.rows();
    let square = factor::multiply_transposed(m, m);
    let (values, vectors) = naive::jacobi((0..k).map(|i| square.row(i).to_vec()).collect());
    let root = Matrix::from_fn(k, k, |i, j| {
        (0..k).map(|c| vectors[c][i] * vectors[c][j] / values[c].sqrt()).sum::<f64>()
    });
    factor::multiply(&root, m)
}

#[test]
fn a_step_of_fastica_is_that_of_the_textbook() {
    let (n, k) = (900, 4);
    let x = mix(&laplace(n, k, 6), &mixing(k, k, 6));
    let start = factor::orthonormal_rows(&mixing(k, k, 7));
    let rows: Vec<&[f64]> = (0..k).map(|i| start.row(i)).collect();
    let with = |steps: u64| {
        let given = json!({
            "whiten": "unit-variance", "max_iter": steps, "tol": 0.0, "w_init": rows,
        });
        fit("fastica", given, &x, k)
    };
    // With 0 iterations the sources are those of the initial matrix.
    let before = sources(&with(0), &x);
    let after = sources(&with(1), &x);
    let slope = |y: f64| 1.0 - y.tanh().powi(2);
    let mut m = cross(&before, f64::tanh);
    for i in 0..k {
        m[(i, i)] -= mean(&before, i, slope);
    }
    let turned = factor::multiply_transposed(&before, &nearest_rotation(&m));
    let found = unmix::metrics::match_rows(&turned.transposed(), &after.transposed());
    assert!(found.cosine.iter().all(|c| (c - 1.0).abs() < 1e-12), "{:?}", found.cosine);
}
