//! Theorems about PCA and its iterations, checked numerically.

use crate::made::{numbers, pca};
use serde_json::json;
use unmix::internal::num::factor;
use unmix::internal::num::random::Stream;
use unmix::{Matrix, metrics};

/// A random matrix with orthonormal rows.
fn frame(k: usize, p: usize, seed: u64) -> Matrix<f64> {
    let s = Stream::new(seed, 1);
    factor::orthonormal_rows_signed(&Matrix::from_fn(k, p, |i, j| s.normal((i * p + j) as u64)))
}

/// Rows whose covariance has eigenvalues proportional to `values` along the rows of `axes`, exactly.
fn with_covariance(values: &[f64], axes: &Matrix<f64>) -> Vec<f64> {
    let signed = |c: usize, sign: f64| axes.row(c).iter().map(move |x| sign * values[c].sqrt() * x);
    (0..values.len()).flat_map(|c| [1.0, -1.0].map(|sign| signed(c, sign))).flatten().collect()
}

/// Four large eigenvalues, 10, 8, 5, 3; a fifth one apart from the others, so that its rate of convergence shows before rounding errors
/// do; the rest from 0.7 to 0.1.
fn spectrum(p: usize) -> Vec<f64> {
    let rest = (0..p - 5).map(|i| 0.7 - 0.6 * i as f64 / (p - 6) as f64);
    [10.0, 8.0, 5.0, 3.0, 1.0].into_iter().chain(rest).collect()
}

#[test]
fn power_iteration_converges_by_the_ratio_of_the_first_two_variances() {
    let (p, steps) = (40, 60);
    let (values, axes) = (spectrum(p), frame(p, p, 2));
    let x = with_covariance(&values, &axes);
    let at = |rounds: u64| {
        let given = json!({"n_components": 1, "svd_solver": "deflation", "iterated_power": rounds});
        let model = pca(given, &x, p);
        let (v, first) = (numbers(&model, "components"), axes.row(0));
        let along: f64 = v.iter().zip(first).map(|(a, b)| a * b).sum();
        let off: f64 = v.iter().zip(first).map(|(a, b)| (a - along * b).powi(2)).sum::<f64>().sqrt();
        // In the units of the spectrum: the sum over 2p rows, divided by 2p - 1.
        let variance = numbers(&model, "explained_variance")[0] * (2 * p - 1) as f64 / 2.0;
        (off, values[0] - variance)
    };
    let (before, after) = (at(steps), at(steps + 1));
    assert!((after.0 / before.0 / 0.8 - 1.0).abs() < 0.01, "direction: {}", after.0 / before.0);
    assert!((after.1 / before.1 / 0.64 - 1.0).abs() < 0.01, "variance: {}", after.1 / before.1);
}

#[test]
fn orthogonal_iteration_converges_by_the_ratio_of_the_variances_around_the_last_component() {
    let (p, k, steps) = (40, 4, 18);
    let (values, axes) = (spectrum(p), frame(p, p, 3));
    let x = with_covariance(&values, &axes);
    let truth = axes.top_rows(k);
    let at = |rounds: u64| {
        let given =
            json!({"n_components": k, "svd_solver": "power", "n_oversamples": 0, "iterated_power": rounds});
        let found = pca(given, &x, p).tensor("components").unwrap().to_matrix();
        metrics::subspace_angles(&found, &truth).unwrap()[0].sin()
    };
    let rate = at(steps + 1) / at(steps);
    assert!((rate * 3.0 - 1.0).abs() < 0.02, "{rate}");
}

#[test]
fn with_the_exact_covariance_the_span_is_exactly_that_of_the_model() {
    // For U diag(l) U' + s I the eigenvectors with eigenvalues above s span U, whatever l is.
    let (p, k) = (30, 5);
    let axes = frame(p, p, 4);
    let values: Vec<f64> =
        (0..p).map(|i| 0.5 + if i < k { [4.0, 4.0, 2.0, 1.0, 0.2][i] } else { 0.0 }).collect();
    let x = with_covariance(&values, &axes);
    let projector = |u: &Matrix<f64>| factor::multiply(&u.transposed(), u);
    let truth = projector(&axes.top_rows(k));
    for solver in ["full", "covariance_eigh", "krylov"] {
        let model = pca(json!({"n_components": k, "svd_solver": solver}), &x, p);
        let found = projector(&model.tensor("components").unwrap().to_matrix());
        let apart = crate::made::apart(found.as_slice(), truth.as_slice());
        assert!(apart < 1e-12, "{solver}: {apart:e}");
        let noise = numbers(&model, "noise_variance")[0] * (2 * p - 1) as f64 / 2.0;
        assert!((noise - 0.5).abs() < 1e-13, "{solver}: {noise}");
    }
}

#[test]
fn the_residual_of_an_approximate_fit_is_near_the_smallest_possible() {
    // 600 x 400, singular values 1/i, ten components, oversampling by ten: the largest singular value of the residual, divided by the
    // eleventh. Medians of five.
    let (n, p, k) = (600, 400, 10);
    let left = {
        // Orthogonal to the vector of ones, so that centring changes nothing.
        let s = Stream::new(6, 0);
        let random =
            Matrix::from_fn(p + 1, n, |i, j| if i == 0 { 1.0 } else { s.normal((i * n + j) as u64) });
        factor::orthonormal_rows(&random)
    };
    let right = frame(p, p, 7);
    let scaled = Matrix::from_fn(n, p, |i, c| left[(c + 1, i)] / (c + 1) as f64);
    let x = factor::multiply(&scaled, &right);
    let ratio = |given: serde_json::Value, seed: u64| {
        let spec = unmix::Pca::from_settings(&crate::made::settings(given)).unwrap();
        let run = unmix::Run { seed, ..crate::made::on_threads(2) };
        let model = spec.fit(&mut unmix::Rows::from_slice(x.as_slice(), p).unwrap(), &run).unwrap();
        let axes = model.tensor("components").unwrap().to_matrix();
        let kept = factor::multiply(&factor::multiply_transposed(&x, &axes), &axes);
        let rest = Matrix::from_fn(n, p, |i, j| x[(i, j)] - kept[(i, j)]);
        // Singular values from eigenvalues of the Gram matrix have half the digits of double precision relative to the largest, which
        // is enough here.
        let gram = factor::multiply(&rest.transposed(), &rest);
        factor::eigenvalues(&gram).unwrap()[0].sqrt() * (k + 1) as f64
    };
    let median = |given: &dyn Fn() -> serde_json::Value| {
        let mut all: Vec<f64> = (0..5).map(|seed| ratio(given(), seed)).collect();
        all.sort_by(f64::total_cmp);
        all[2]
    };
    for (rounds, most) in [(1, 1e-3), (2, 1e-5), (4, 1e-9)] {
        let found =
            median(&|| json!({"n_components": k, "svd_solver": "randomized", "iterated_power": rounds}));
        assert!(found < 1.0 + most && found > 1.0 - 1e-12, "{rounds} rounds: {found}");
    }
    let found = median(&|| json!({"n_components": k, "svd_solver": "krylov"}));
    assert!((found - 1.0).abs() < 1e-10, "krylov: {found}");
}
