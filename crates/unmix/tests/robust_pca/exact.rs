//! Rows that are exactly the sum of a low-rank and a sparse part.

use super::{Made, fit, low_rank, rank, without_noise};
use crate::made::{apart, numbers, pca, repetitions};
use serde_json::json;
use unmix::internal::num::factor;
use unmix::internal::num::random::Stream;
use unmix::{Matrix, Outcome, RobustPca};

/// The published results: at most 55 iterations, relative error at most 1e-5, the exact rank; and as many iterations in other units.
#[test]
fn both_parts_are_recovered_on_the_published_designs() {
    for n in [100, 200] {
        for (r, share) in [(0.05, 0.05), (0.05, 0.1), (0.1, 0.1), (0.05, 0.2)] {
            for seed in 0..repetitions(2, 4) {
                let made = Made::square(n, r, share, seed);
                let x = made.x();
                let model = fit(&RobustPca::default(), &x, n);
                let (name, report) =
                    (format!("n={n}, rank {r}, errors {share}, seed {seed}"), model.report());
                assert_eq!(report.outcome, Outcome::Converged, "{name}");
                assert!(report.n_iter <= 55, "{name}: {} iterations", report.n_iter);
                assert_eq!(rank(&model), (r * n as f64) as usize, "{name}");
                assert_eq!(numbers(&model, "noise_std"), [0.0], "{name}");
                let error = made.error(&low_rank(&model, &x));
                assert!(error <= 1e-5, "{name}: {error:e}");
                let wrong = made.sparse.as_slice().iter().filter(|x| **x != 0.0).count() as f64;
                let found = report.diagnostics["sparse_share"].as_f64().unwrap() * (n * n) as f64;
                assert!((found / wrong - 1.0).abs() < 0.01, "{name}: {found} of {wrong} sparse cells");
                for unit in [1e3, 1e-3] {
                    let y: Vec<f64> = x.iter().map(|x| unit * x).collect();
                    let scaled = fit(&RobustPca::default(), &y, n);
                    assert_eq!(scaled.report().n_iter, report.n_iter, "{name}, times {unit}");
                    assert_eq!(rank(&scaled), rank(&model), "{name}, times {unit}");
                }
            }
        }
    }
}

#[test]
fn wide_and_tall_rows_are_recovered_and_columns_of_one_offset_are_a_rank() {
    for (n, p, r) in [(80, 300, 4), (300, 80, 4)] {
        let made = Made::new((n, p, r), 1.0, (0.1, 10.0), 0.0, 3);
        let model = fit(&without_noise(), &made.x(), p);
        assert_eq!(rank(&model), r, "{n} x {p}");
        assert!(made.error(&low_rank(&model, &made.x())) < 1e-5, "{n} x {p}");
    }
    let made = Made::square(100, 0.05, 0.05, 1);
    let offset = |j: usize| 0.3 * ((j % 7) as f64 - 3.0);
    let x: Vec<f64> = made.x().iter().enumerate().map(|(at, x)| x + offset(at % 100)).collect();
    let model = fit(&RobustPca::default(), &x, 100);
    assert_eq!(rank(&model), 6);
    let low = low_rank(&model, &x);
    let less: Vec<f64> = low.iter().enumerate().map(|(at, x)| x - offset(at % 100)).collect();
    assert!(made.error(&less) < 1e-5);
}

/// `L`, `S` are a solution if there is a `Y` with `Y = U V' + W`, `U'W = 0`, `W V = 0`, `||W|| <= 1`, `|Y| <= alpha`, and `Y = alpha
/// sign S` on the support of `S`. A naive iteration with full decompositions gives both parts and `Y`.
#[test]
fn the_parts_are_those_of_a_naive_iteration_and_meet_the_first_order_conditions() {
    let made = Made::new((40, 60, 3), 1.0, (0.05, 8.0), 0.0, 5);
    let (n, p, x) = (40usize, 60usize, made.x());
    let model = fit(&RobustPca { tol: 1e-10, max_iter: 3000, ..without_noise() }, &x, p);
    let low = low_rank(&model, &x);
    let (naive, dual) = naive_iteration(&Matrix::from_vec(n, p, x.clone()), 4000);
    assert!(apart(&low, naive.as_slice()) < 1e-6, "{:e}", apart(&low, naive.as_slice()));
    let alpha = 1.0 / (p as f64).sqrt();
    let low = Matrix::from_vec(n, p, low);
    for (at, y) in dual.as_slice().iter().enumerate() {
        let sparse = x[at] - low.as_slice()[at];
        assert!(y.abs() <= alpha * (1.0 + 1e-6));
        assert!(sparse.abs() < 1e-5 || (y - alpha * sparse.signum()).abs() < 1e-5, "{sparse} and {y}");
    }
    // Y V = U, and all singular values of Y are at most 1.
    let (values, _) = factor::svd_right(&dual.transposed()).unwrap();
    assert!((values[0] - 1.0).abs() < 1e-5, "{}", values[0]);
    let v = Matrix::from_vec(3, p, numbers(&model, "components"));
    let singular = numbers(&model, "singular_values");
    let scores = factor::multiply_transposed(&low, &v);
    let image = factor::multiply_transposed(&dual, &v);
    for i in 0..n {
        for c in 0..3 {
            assert!((image[(i, c)] - scores[(i, c)] / singular[c]).abs() < 1e-5);
        }
    }
}

/// Augmented Lagrangian with a fixed penalty, alternating shrinkage of singular values and of entries: the low-rank part and the
/// multipliers.
fn naive_iteration(x: &Matrix<f64>, iterations: usize) -> (Matrix<f64>, Matrix<f64>) {
    let (n, p) = (x.rows(), x.cols());
    let alpha = 1.0 / (n.max(p) as f64).sqrt();
    let mu = (n * p) as f64 / (4.0 * x.as_slice().iter().map(|x| x.abs()).sum::<f64>());
    let none = || Matrix::<f64>::zeros(n, p);
    let (mut s, mut y, mut low) = (none(), none(), none());
    for _ in 0..iterations {
        let z = Matrix::from_fn(n, p, |i, j| x[(i, j)] - s[(i, j)] + y[(i, j)] / mu);
        let (values, left) = factor::svd_right(&z.transposed()).unwrap();
        let scale = |i: usize| if values[i] > 1.0 / mu { 1.0 - 1.0 / (mu * values[i]) } else { 0.0 };
        let images = factor::multiply(&left, &z);
        let shrunk = Matrix::from_fn(n, n, |i, j| left[(j, i)] * scale(j));
        low = factor::multiply(&shrunk, &images);
        for at in 0..n * p {
            let v = x.as_slice()[at] - low.as_slice()[at] + y.as_slice()[at] / mu;
            let new = v.signum() * (v.abs() - alpha / mu).max(0.0);
            s.as_mut_slice()[at] = new;
            y.as_mut_slice()[at] = mu * (v - new);
        }
    }
    (low, y)
}

#[test]
fn rows_without_errors_are_pca_about_0() {
    let made = Made::new((60, 20, 3), 1.0, (0.0, 0.0), 0.0, 2);
    let model = fit(&RobustPca::default(), &made.x(), 20);
    let plain = pca(json!({"n_components": 3, "center": false}), &made.x(), 20);
    assert_eq!(rank(&model), 3);
    let (a, b) = (numbers(&model, "singular_values"), numbers(&plain, "singular_values"));
    assert!(apart(&a, &b) < 1e-4 * b[0], "{a:?} and {b:?}");
    assert!(apart(&numbers(&model, "components"), &numbers(&plain, "components")) < 1e-4);
}

#[test]
fn rank_0_is_a_model() {
    // A sparse part alone: the low-rank part is 0.
    let made = Made::new((60, 50, 0), 1.0, (0.05, 1.0), 0.0, 4);
    for spec in [RobustPca::default(), without_noise()] {
        let model = fit(&spec, &made.x(), 50);
        assert_eq!((rank(&model), model.n_codes()), (0, 0));
        assert!(low_rank(&model, &made.x()).iter().all(|l| *l == 0.0));
        let bytes = model.to_bytes().unwrap();
        assert_eq!(unmix::Model::from_bytes(&bytes, "the model".as_ref()).unwrap().n_codes(), 0);
    }
}

#[test]
fn rows_of_mostly_equal_cells_are_fitted_without_noise_until_they_converge() {
    // Most cells are 0, as are the medians of their columns: the noise cannot be estimated, and the test for noise must not end the fit.
    let draws = Stream::new(5, 0);
    let count = |i: u64| match draws.uniform(2 * i) < 0.6 {
        true => 0.0,
        false => (1.0 + 8.0 * draws.uniform(2 * i + 1)).floor(),
    };
    let x: Vec<f64> = (0..60 * 40).map(count).collect();
    let long = |spec| fit(&RobustPca { max_iter: 5000, ..spec }, &x, 40);
    let [auto, exact] = [RobustPca::default(), without_noise()].map(long);
    assert_eq!(numbers(&auto, "noise_std"), [0.0]);
    assert_eq!(auto.report().outcome, Outcome::Converged);
    assert_eq!(auto.report().n_iter, exact.report().n_iter);
    assert_eq!(numbers(&auto, "components"), numbers(&exact, "components"));
}

#[test]
fn iterations_that_do_not_suffice_are_reported() {
    let made = Made::square(100, 0.1, 0.1, 0);
    let model = fit(&RobustPca { max_iter: 5, ..without_noise() }, &made.x(), 100);
    let report = model.report();
    assert_eq!((report.outcome, report.n_iter, report.tol), (Outcome::MaxIter, 5, Some(1e-7)));
    assert!(report.residual.is_some_and(|r| r > 1e-7) && report.objective.len() == 5);
}
