//! Rates and errors that theory predicts.

use super::made::{fit, gain, mix, mixing};
use serde_json::{Value, json};
use unmix::Matrix;
use unmix::num::random::Stream;

/// Zero in seven of ten, else normal: variance 1.
fn sparse_sources(n: usize, k: usize, seed: u64) -> Matrix<f64> {
    let (s, t) = (Stream::new(seed, 1), Stream::new(seed, 2));
    Matrix::from_fn(n, k, |i, j| {
        let at = (i * k + j) as u64;
        if s.uniform(at) < 0.3 { t.normal(at) / 0.3f64.sqrt() } else { 0.0 }
    })
}

/// `E f(s)` of such a source, by the trapezoid rule.
fn mean(f: impl Fn(f64) -> f64) -> f64 {
    let step = 1.0 / 32.0;
    let density = |y: f64| (-0.5 * y * y).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let normal: f64 =
        (-384..=384).map(|i| f64::from(i) * step).map(|y| step * density(y) * f(y / 0.3f64.sqrt())).sum();
    0.7 * f(0.0) + 0.3 * normal
}

/// Mean square, times the number of rows, of what a source found holds of another; for `rows` of its gain.
fn error(given: &Value, rows: usize) -> f64 {
    let (n, k, seeds) = (10_000, 6, 30);
    let mut sum = 0.0;
    for seed in 0..seeds {
        let a = mixing(k, k, seed);
        let gain = gain(&fit("ica", given.clone(), &mix(&sparse_sources(n, k, seed), &a), k), &a);
        for i in 0..rows {
            let most = gain.row(i).iter().fold(0.0f64, |m, x| m.max(x.abs()));
            sum += gain.row(i).iter().map(|x| (x / most).powi(2)).sum::<f64>() - 1.0;
        }
    }
    sum * n as f64 / (seeds as usize * rows * (k - 1)) as f64
}

#[test]
fn errors_are_those_of_the_asymptotic_law() {
    type Contrast = (&'static str, fn(f64) -> f64, fn(f64) -> f64);
    let cases: [Contrast; 2] =
        [("cube", |y| y.powi(3), |y| 3.0 * y * y), ("logcosh", f64::tanh, |y| 1.0 - y.tanh().powi(2))];
    for (fun, g, slope) in cases {
        // Tichavský, Koldovský & Oja 2006.
        let along = mean(|s| s * g(s));
        let gamma = mean(|s| g(s).powi(2)) - along * along;
        let tau = (along - mean(slope)).abs();
        let symmetric = (2.0 * gamma + tau * tau) / (4.0 * tau * tau);
        let found = error(&json!({"fun": fun}), 6);
        assert!((found / symmetric - 1.0).abs() < 0.25, "{fun}: {found} instead of {symmetric}");
        // The first source of several is one that was looked for alone.
        let given =
            json!({"fun": fun, "algorithm": "fastica", "orthogonalization": "deflation", "order": "found"});
        let (alone, want) = (error(&given, 1), gamma / (tau * tau));
        assert!((alone / want - 1.0).abs() < 0.35, "{fun}, alone: {alone} instead of {want}");
    }
}

#[test]
fn what_easi_learns_depends_on_the_sources_alone() {
    let (n, k) = (400, 3);
    let s = super::made::laplace(n, k, 1);
    let b = mixing(k, k, 2);
    let eye = Matrix::from_fn(k, k, |i, j| f64::from(u8::from(i == j)));
    let start = Matrix::from_fn(k, k, |i, j| eye[(i, j)] + 0.3 * mixing(k, k, 3)[(i, j)]);
    // The inverse by Cramer's rule, which is exact enough for three.
    let det = |m: [[f64; 2]; 2]| m[0][0] * m[1][1] - m[0][1] * m[1][0];
    let minor = |i: usize, j: usize| {
        let (r, c) = ([(i + 1) % 3, (i + 2) % 3], [(j + 1) % 3, (j + 2) % 3]);
        det([[b[(r[0], c[0])], b[(r[0], c[1])]], [b[(r[1], c[0])], b[(r[1], c[1])]]])
    };
    let whole: f64 = (0..3).map(|j| b[(0, j)] * minor(0, j)).sum();
    let inverse = Matrix::from_fn(3, 3, |i, j| minor(j, i) / whole);
    let run = |x: &[f64], start: &Matrix<f64>| {
        let rows: Vec<&[f64]> = (0..k).map(|i| start.row(i)).collect();
        let given = json!({
            "algorithm": "easi", "whiten": false, "center": false, "max_iter": 1, "order": "found", "w_init": rows,
        });
        fit("ica", given, x, k)
    };
    let plain = run(&mix(&s, &eye), &start);
    let moved = run(&mix(&s, &b), &unmix::num::factor::multiply(&start, &inverse));
    let (a, b) = (gain(&plain, &eye), gain(&moved, &b));
    // Signs belong to what decodes, which differs.
    for i in 0..k {
        let sign = (a[(i, 0)] * b[(i, 0)]).signum();
        let distance = (0..k).map(|j| (a[(i, j)] - sign * b[(i, j)]).abs()).fold(0.0, f64::max);
        assert!(distance < 1e-12, "{distance:e}");
    }
}

#[test]
fn the_fixed_point_contracts_by_about_the_root_of_the_number_of_rows() {
    // With a pass a step, six of them end where the gradient is far below the tolerance when there are many rows.
    let residual = |n: usize| {
        let x = mix(&super::made::mixed_kinds(n, 5, 4), &mixing(5, 5, 4));
        let near = fit("ica", json!({"algorithm": "fastica", "tol": 1e-3}), &x, 5);
        let steps = near.report().n_iter;
        let further = fit("ica", json!({"algorithm": "fastica", "tol": 0.0, "max_iter": steps + 1}), &x, 5);
        further.report().residual.unwrap() / near.report().residual.unwrap()
    };
    let (few, many) = (residual(1000), residual(60_000));
    assert!(many < 0.1 && many < few, "{few} and {many}");
}
