//! A naive implementation of the iteration, as in the theory, with all codes in memory.

use super::{fit, normal};
use crate::made::{apart, encode, numbers};
use serde_json::json;
use unmix::internal::num::random::Stream;
use unmix::internal::num::{Matrix, factor};

struct Naive {
    w: Matrix<f64>,
    psi: Vec<f64>,
    objective: Vec<f64>,
}

fn inverse(a: &Matrix<f64>) -> Matrix<f64> {
    unmix::internal::num::pseudo_inverse(a).unwrap()
}

/// Codes under parameters, and the covariance of the posterior.
fn codes(x: &Matrix<f64>, w: &Matrix<f64>, psi: &[f64], rms: bool) -> (Matrix<f64>, Matrix<f64>, Vec<f64>) {
    let (n, m, l) = (x.rows(), w.rows(), w.cols());
    let a = Matrix::from_fn(m, l, |k, j| w[(k, j)] / psi[k]);
    let mut g = factor::multiply(&w.transposed(), &a);
    (0..l).for_each(|j| g[(j, j)] += 1.0);
    let sigma = inverse(&g);
    let p = factor::multiply(x, &factor::multiply(&a, &sigma));
    let scale: Vec<f64> = (0..l)
        .map(|j| match rms {
            true => 1.0 / ((0..n).map(|i| p[(i, j)].max(0.0).powi(2)).sum::<f64>() / n as f64).sqrt(),
            false => 1.0,
        })
        .collect();
    (Matrix::from_fn(n, l, |i, j| p[(i, j)].max(0.0) * scale[j]), sigma, scale)
}

/// From loadings of 0.01 standard deviations and noise of a tenth of the variances.
fn naive(x: &Matrix<f64>, l: usize, iterations: usize, rms: bool) -> Naive {
    let (n, m) = (x.rows(), x.cols());
    let c: Vec<f64> = (0..m).map(|k| (0..n).map(|i| x[(i, k)].powi(2)).sum::<f64>() / n as f64).collect();
    let draws = Stream::new(0, 0);
    let mut w = Matrix::from_fn(m, l, |k, j| 0.01 * c[k].sqrt() * draws.normal((k * l + j) as u64));
    let mut psi: Vec<f64> = c.iter().map(|c| 0.1 * c).collect();
    let mut objective = Vec::new();
    for _ in 0..iterations {
        let (mu, sigma, _) = codes(x, &w, &psi, rms);
        let mut s = factor::multiply(&mu.transposed(), &mu);
        let mut u = factor::multiply(&x.transposed(), &mu);
        s.as_mut_slice().iter_mut().zip(sigma.as_slice()).for_each(|(s, v)| *s = *s / n as f64 + v);
        u.as_mut_slice().iter_mut().for_each(|u| *u /= n as f64);
        let ws = factor::multiply(&w, &s);
        let e: Vec<f64> = (0..m)
            .map(|k| c[k] + (0..l).map(|j| (ws[(k, j)] - 2.0 * u[(k, j)]) * w[(k, j)]).sum::<f64>())
            .collect();
        let two_pi = 2.0 * std::f64::consts::PI;
        let error: f64 = (0..m).map(|k| 0.5 * (two_pi.ln() + psi[k].ln() + e[k] / psi[k])).sum();
        let trace: f64 = (0..l).map(|j| s[(j, j)]).sum();
        let log: f64 = factor::eigenvalues(&sigma).unwrap().iter().map(|v| v.ln()).sum();
        objective.push(-error - 0.5 * (trace - l as f64 - log));
        let best = factor::multiply(&u, &inverse(&s));
        w.as_mut_slice().iter_mut().zip(best.as_slice()).for_each(|(w, b)| *w += 0.1 * (b - *w));
        for k in 0..m {
            psi[k] = (psi[k] + 0.1 * (e[k] - psi[k])).min(c[k]).max(0.01 * c[k]);
        }
    }
    Naive { w, psi, objective }
}

#[test]
fn plain_mode_is_the_naive_implementation() {
    for (n, m, l, given) in [
        (50, 8, 5, json!({"n_components": 5, "max_iter": 40})),
        (30, 6, 11, json!({"n_components": 11, "max_iter": 40})),
        (50, 8, 4, json!({"n_components": 4, "max_iter": 40, "normalize": "none"})),
    ] {
        let rms = given.get("normalize").is_none();
        let x = super::centred(normal(n, m, 6));
        let model = fit(x.as_slice(), m, given);
        let own = naive(&x, l, 40, rms);
        assert!(apart(&model.report().objective, &own.objective) < 1e-8, "{:?}", model.report().objective);
        let psi = numbers(&model, "noise_variance");
        assert!(apart(&psi, &own.psi) < 1e-9, "{psi:?} {:?}", own.psi);
        // By falling use.
        let sd: Vec<f64> = (0..m).map(|k| (0..n).map(|i| x[(i, k)].powi(2)).sum::<f64>().sqrt()).collect();
        let (mu, sigma, scale) = codes(&x, &own.w, &own.psi, rms);
        let used = |j: usize| {
            let q: f64 = (0..n).map(|i| mu[(i, j)].powi(2)).sum::<f64>() / n as f64;
            q * (0..m).map(|k| (own.w[(k, j)] / sd[k]).powi(2)).sum::<f64>()
        };
        let mut order: Vec<usize> = (0..l).collect();
        order.sort_by(|&a, &b| used(b).total_cmp(&used(a)));
        let components = model.tensor("components").unwrap().to_matrix();
        let want = Matrix::from_fn(l, m, |i, k| own.w[(k, order[i])]);
        assert!(apart(components.as_slice(), want.as_slice()) < 1e-8);
        // Codes of the fit, from an encoder with its scales.
        let found = encode(&model, x.as_slice());
        let want = Matrix::from_fn(n, l, |i, j| mu[(i, order[j])]);
        assert!(apart(&found, want.as_slice()) < 1e-8);
        // The encoder as weights and biases.
        let a = Matrix::from_fn(m, l, |k, j| own.w[(k, j)] / own.psi[k]);
        let b = factor::multiply(&a, &sigma);
        let weight = Matrix::from_fn(l, m, |i, k| b[(k, order[i])] * scale[order[i]]);
        assert!(apart(&numbers(&model, "encoder_weight"), weight.as_slice()) < 1e-7);
    }
}

#[test]
fn the_exported_encoder_and_the_score_are_those_of_the_formulas() {
    let (n, m, l) = (60, 7, 4);
    let x: Vec<f64> =
        normal(n, m, 3).into_vec().iter().enumerate().map(|(i, x)| x + (i % m) as f64).collect();
    let given = json!({"n_components": l, "max_iter": 60, "prior_mean": -0.3, "prior_cov": 1.5});
    let model = fit(&x, m, given);
    let (weight, bias) =
        (model.tensor("encoder_weight").unwrap().to_matrix(), numbers(&model, "encoder_bias"));
    let found = encode(&model, &x);
    for i in 0..n {
        for j in 0..l {
            let sum: f64 = (0..m).map(|k| weight[(j, k)] * x[i * m + k]).sum::<f64>() + bias[j];
            assert!((found[i * l + j] - sum.max(0.0)).abs() < 1e-10);
        }
    }
    // N(mean + W xi, T W W' + Psi).
    let w = model.tensor("components").unwrap().to_matrix();
    let psi = numbers(&model, "noise_variance");
    let mean: Vec<f64> = numbers(&model, "mean");
    let mean: Vec<f64> = (0..m).map(|k| mean[k] - 0.3 * (0..l).map(|j| w[(j, k)]).sum::<f64>()).collect();
    let k = Matrix::from_fn(m, m, |a, b| {
        1.5 * (0..l).map(|j| w[(j, a)] * w[(j, b)]).sum::<f64>() + if a == b { psi[a] } else { 0.0 }
    });
    let (values, _) = factor::eigh(&k).unwrap();
    let inverse = inverse(&k);
    let logs = crate::made::scores(&model, &x);
    for i in 0..n {
        let d: Vec<f64> = (0..m).map(|a| x[i * m + a] - mean[a]).collect();
        let q: f64 = (0..m).map(|a| (0..m).map(|b| d[a] * inverse[(a, b)] * d[b]).sum::<f64>()).sum();
        let two_pi = 2.0 * std::f64::consts::PI;
        let want = -0.5 * (m as f64 * two_pi.ln() + values.iter().map(|v| v.ln()).sum::<f64>() + q);
        assert!((logs[i] - want).abs() < 1e-9, "{} {want}", logs[i]);
    }
    let covariance = model.density().unwrap().covariance().unwrap();
    assert!(apart(covariance.as_slice(), k.as_slice()) < 1e-10);
}

#[test]
fn the_relative_floor_is_that_of_standardised_rows() {
    let (n, m, l) = (50, 6, 4);
    let x = super::centred(normal(n, m, 7));
    let sd: Vec<f64> = (0..m).map(|k| 0.1 * 4f64.powi(k as i32)).collect();
    let long = |k: usize| ((0..n).map(|i| x[(i, k)].powi(2)).sum::<f64>() / n as f64).sqrt();
    let wide = Matrix::from_fn(n, m, |i, k| x[(i, k)] * sd[k]);
    let unit = Matrix::from_fn(n, m, |i, k| x[(i, k)] / long(k));
    let relative = fit(wide.as_slice(), m, json!({"n_components": l, "max_iter": 100}));
    let absolute =
        fit(unit.as_slice(), m, json!({"n_components": l, "max_iter": 100, "psi_min_unit": "absolute"}));
    let (a, b) = (numbers(&relative, "components"), numbers(&absolute, "components"));
    for j in 0..l {
        for k in 0..m {
            let want = b[j * m + k] * sd[k] * long(k);
            assert!((a[j * m + k] - want).abs() < 1e-9 * sd[k], "{j} {k}");
        }
    }
}
