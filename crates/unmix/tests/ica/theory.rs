//! Rates of convergence and asymptotic errors that theory predicts.

use super::made::{fit, gain, mix, mixing};
use crate::made::repetitions;
use serde_json::{Value, json};
use unmix::Matrix;
use unmix::internal::num::random::Stream;

/// Sources of variance 1 that are 0 with probability 0.7 and normal otherwise.
fn sparse_sources(n: usize, k: usize, seed: u64) -> Matrix<f64> {
    let (s, t) = (Stream::new(seed, 1), Stream::new(seed, 2));
    Matrix::from_fn(n, k, |i, j| {
        let at = (i * k + j) as u64;
        if s.uniform(at) < 0.3 { t.normal(at) / 0.3f64.sqrt() } else { 0.0 }
    })
}

/// The expectation `E f(s)` of such a source, by the trapezoid rule.
fn mean(f: impl Fn(f64) -> f64) -> f64 {
    let step = 1.0 / 32.0;
    let density = |y: f64| (-0.5 * y * y).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let normal: f64 =
        (-384..=384).map(|i| f64::from(i) * step).map(|y| step * density(y) * f(y / 0.3f64.sqrt())).sum();
    0.7 * f(0.0) + 0.3 * normal
}

const N: usize = 10_000;
const K: usize = 6;
const MIXTURES: u64 = 30;

/// Mean over mixtures of the squared off-diagonal entries of the gain matrix, times the number of rows, and the standard error of this
/// mean. `mixing` draws the mixing matrix from a seed; `gains` returns the rows of the product of unmixing and mixing matrix.
fn error(
    mixing: impl Fn(u64) -> Matrix<f64>,
    gains: impl Fn(&[f64], &Matrix<f64>) -> Vec<Vec<f64>>,
) -> (f64, f64) {
    let of = |seed: u64| {
        let a = mixing(seed);
        let row = |gain: Vec<f64>| {
            let most = gain.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            gain.iter().map(|x| (x / most).powi(2)).sum::<f64>() - 1.0
        };
        let rows = gains(&mix(&sparse_sources(N, K, seed), &a), &a);
        rows.into_iter().map(row).sum::<f64>() * N as f64 / (K * (K - 1)) as f64
    };
    let each: Vec<f64> = (0..MIXTURES).map(of).collect();
    let n = MIXTURES as f64;
    let mean = each.iter().sum::<f64>() / n;
    let square = each.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (square / n).sqrt())
}

/// The gain matrix where all sources are estimated at once.
fn together(given: &Value, x: &[f64], a: &Matrix<f64>) -> Vec<Vec<f64>> {
    let gain = gain(&fit("ica", given.clone(), x, K), a);
    (0..K).map(|i| gain.row(i).to_vec()).collect()
}

/// The gain matrix where each source is estimated as the first of a deflation, hence by a one-unit search, from the solution of the
/// symmetric one.
fn one_by_one(fun: &str, x: &[f64], a: &Matrix<f64>) -> Vec<Vec<f64>> {
    let begin = fit("ica", json!({"fun": fun, "order": "found"}), x, K)
        .tensor("second_rotation")
        .unwrap()
        .to_matrix();
    let first = |i: usize| {
        // The columns of the second rotation are unmixing vectors in whitened coordinates.
        let start: Vec<Vec<f64>> =
            (0..K).map(|row| (0..K).map(|c| begin[(c, (row + i) % K)]).collect()).collect();
        let given = json!({
            "fun": fun, "algorithm": "fastica", "orthogonalization": "deflation", "order": "found", "w_init": start,
        });
        gain(&fit("ica", given, x, K), a).row(0).to_vec()
    };
    (0..K).map(first).collect()
}

#[test]
fn errors_are_those_of_the_asymptotic_law() {
    type Contrast = (&'static str, fn(f64) -> f64, fn(f64) -> f64);
    let cases: [Contrast; 2] =
        [("cube", |y| y.powi(3), |y| 3.0 * y * y), ("logcosh", f64::tanh, |y| 1.0 - y.tanh().powi(2))];
    let any = |seed| mixing(K, K, seed);
    for (fun, g, slope) in cases.into_iter().take(repetitions(1, 2)) {
        // Asymptotic variances by Tichavský, Koldovský & Oja 2006.
        let along = mean(|s| s * g(s));
        let gamma = mean(|s| g(s).powi(2)) - along * along;
        let tau = (along - mean(slope)).abs();
        // Errors of mixtures are independent. Six comparisons exceed 3.5 standard errors, of at most 8 % each, with probability 0.003; none
        // may be wrong by a quarter.
        let near = |what: &str, (found, se): (f64, f64), law: f64| {
            assert!(se < 0.08 * law, "{fun}, {what}: {se} is the standard error of {law}");
            assert!(
                (found - law).abs() < (3.5 * se).min(0.25 * law),
                "{fun}, {what}: {found} (standard error {se}) instead of {law}"
            );
        };
        let given = json!({"fun": fun});
        let law = (2.0 * gamma + tau * tau) / (4.0 * tau * tau);
        near("symmetric", error(any, |x, a| together(&given, x, a)), law);
        near("one unit", error(any, |x, a| one_by_one(fun, x, a)), gamma / (tau * tau));
        // A mixing matrix that is known to be orthogonal needs no whitening, whose errors add 1 / 4.
        let given = json!({"fun": fun, "whiten": false, "center": false});
        let orthogonal = |seed| unmix::internal::num::factor::orthonormal_rows(&mixing(K, K, seed));
        let law = 2.0 * gamma / (4.0 * tau * tau);
        near("orthogonal mixing", error(orthogonal, |x, a| together(&given, x, a)), law);
    }
}

#[test]
fn the_gain_matrix_of_easi_does_not_depend_on_the_mixing() {
    let (n, k) = (400, 3);
    let s = super::made::laplace(n, k, 1);
    let b = mixing(k, k, 2);
    let eye = Matrix::from_fn(k, k, |i, j| f64::from(u8::from(i == j)));
    let start = Matrix::from_fn(k, k, |i, j| eye[(i, j)] + 0.3 * mixing(k, k, 3)[(i, j)]);
    // The inverse by Cramer's rule, which is accurate enough for 3 x 3.
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
    let moved = run(&mix(&s, &b), &unmix::internal::num::factor::multiply(&start, &inverse));
    let (a, b) = (gain(&plain, &eye), gain(&moved, &b));
    // Signs are canonical for the decoder, which differs between the two fits.
    for i in 0..k {
        let sign = (a[(i, 0)] * b[(i, 0)]).signum();
        let distance = (0..k).map(|j| (a[(i, j)] - sign * b[(i, j)]).abs()).fold(0.0, f64::max);
        assert!(distance < 1e-12, "{distance:e}");
    }
}

/// The factor by which an iteration of the fixed-point algorithm reduces the residual, near the solution.
fn contraction(fun: &str, x: &[f64], k: usize) -> f64 {
    let residual = |steps: u64| {
        let given = json!({"algorithm": "fastica", "fun": fun, "tol": 0.0, "max_iter": steps});
        fit("ica", given, x, k).report().residual.unwrap()
    };
    let mut before = residual(2);
    for steps in 3..60 {
        let now = residual(steps);
        if before < 1e-4 {
            return now / before;
        }
        before = now;
    }
    panic!("no solution is near after 60 steps");
}

#[test]
fn the_fixed_point_contracts_by_about_1_over_the_root_of_the_number_of_rows() {
    // For three sources; with more of them the slowest pair determines the rate.
    for fun in ["cube", "logcosh"] {
        let typical = |n: usize, draws: u64| {
            let of =
                |seed| contraction(fun, &mix(&super::made::mixed_kinds(n, 3, seed), &mixing(3, 3, seed)), 3);
            crate::made::median((0..draws).map(of).collect())
        };
        let found = [typical(1000, 15), typical(10_000, 15), typical(100_000, 9)];
        assert!(found.iter().zip([0.3, 0.088, 0.016]).all(|(f, bar)| f <= &bar), "{fun}: {found:?}");
        // With a hundred times as many rows the factor is a tenth, within a factor of two.
        assert!((0.05..0.2).contains(&(found[2] / found[0])), "{fun}: {found:?}");
    }
}
