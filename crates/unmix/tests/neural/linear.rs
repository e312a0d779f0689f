//! Fixed points of the linear rules against their closed forms, and the largest stable step.

use crate::made::{apart, numbers, settings, try_fit};
use serde_json::json;
use unmix::internal::neural::{LINEAR, LINEAR_MORE, Lambda, Order, Spec, TableEntry, flow};
use unmix::internal::num::factor;
use unmix::internal::num::random::Stream;
use unmix::{Matrix, Model, NeuralPca, Outcome, Rows, Run, metrics};

const DISTINCT: [f64; 10] = [16.0, 9.0, 5.0, 3.0, 2.0, 1.0, 0.7, 0.5, 0.3, 0.2];
const TIED: [f64; 10] = [16.0, 4.0, 4.0, 4.0, 2.0, 0.5, 0.4, 0.3, 0.2, 0.1];
const P: usize = 10;
const K: usize = 5;

fn orthonormal(rows: usize, cols: usize, seed: u64) -> Matrix<f64> {
    let s = Stream::new(seed, 3);
    factor::orthonormal_rows(&Matrix::from_fn(rows, cols, |i, j| s.normal((i * cols + j) as u64)))
}

/// Rows with exactly these variances (divisor n) along the rows of the returned matrix.
fn exact(variances: &[f64; P], seed: u64) -> (Vec<f64>, Matrix<f64>) {
    let n = 200;
    let s = Stream::new(seed, 4);
    // The constant vector is orthonormalised together with the other directions, so that these have mean 0.
    let z = Matrix::from_fn(P + 1, n, |i, j| if i == 0 { 1.0 } else { s.laplace((i * n + j) as u64) });
    let z = factor::orthonormal_rows(&z).rows_from(1);
    let axes = orthonormal(P, P, seed);
    let scaled = Matrix::from_fn(n, P, |i, j| z[(j, i)] * (n as f64 * variances[j]).sqrt());
    let mut x = factor::multiply(&scaled, &axes).into_vec();
    x.iter_mut().enumerate().for_each(|(i, v)| *v += (i % P) as f64);
    (x, axes)
}

fn fit(x: &[f64], given: serde_json::Value) -> Model {
    try_fit("neural-pca", &settings(given), x, P).unwrap()
}

/// The weights, transposed: one column per row of the result.
fn columns(model: &Model) -> Matrix<f64> {
    model.tensor("weights").unwrap().to_matrix().transposed()
}

fn length(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>().abs() / length(a) / length(b)
}

/// The lengths of the columns at convergence, in closed form.
fn lengths(row: &TableEntry) -> Vec<f64> {
    let weights = |spec: &Spec| spec.lambda.of(K, |_| 1.0);
    match (row.key, &row.spec) {
        ("wsla-inverse" | "wsla", Some(spec)) => weights(spec).iter().map(|l| l.sqrt()).collect(),
        ("weighted-variance" | "variance-nested-dropout", Some(spec)) => {
            weights(spec).iter().map(|l| (1.0 + 0.5 * l).sqrt()).collect()
        }
        _ => vec![1.0; K],
    }
}

#[test]
fn every_rule_converges_to_its_closed_form() {
    let (x, axes) = exact(&DISTINCT, 1);
    for (number, row) in LINEAR.iter().enumerate() {
        for seed in [0, 1] {
            let mut rows = unmix::Rows::from_slice(&x, P).unwrap();
            let rule = unmix::NeuralPca {
                n_components: Some(K),
                variant: row.key.into(),
                max_iter: 200_000,
                tol: 1e-10,
                ..Default::default()
            };
            let model = rule.fit(&mut rows, &Run { seed, ..Run::default() }).unwrap();
            let (report, w) = (model.report(), columns(&model));
            assert!(report.outcome.is_success(), "{}: {:?}", row.key, report);
            let top = Matrix::from_fn(K, P, |i, j| axes[(i, j)]);
            let angle = metrics::subspace_angles(&w, &top).unwrap()[0];
            assert!(angle < 1e-6, "{}: the subspace is {angle:e} off", row.key);
            for (j, want) in lengths(row).into_iter().enumerate() {
                assert!(
                    (length(w.row(j)) - want).abs() < 1e-8,
                    "{}: column {j}: {} and not {want}",
                    row.key,
                    length(w.row(j))
                );
            }
            let cosines: Vec<f64> = (0..K).map(|j| cosine(w.row(j), axes.row(j))).collect();
            let least = cosines.iter().fold(1.0f64, |m, c| m.min(*c));
            match row.recovers.contains("subspace") {
                true => {
                    assert!(
                        least < 0.98,
                        "{}: axes, where only the subspace is claimed: {cosines:?}",
                        row.key
                    );
                    let gram = factor::multiply_transposed(&w, &w);
                    let off = (0..K * K).map(|e| gram[(e / K, e % K)] - f64::from(u8::from(e / K == e % K)));
                    assert!(off.fold(0.0f64, |m, e| m.max(e.abs())) < 1e-8, "{}: not orthonormal", row.key);
                }
                false => {
                    assert!(1.0 - least < 1e-12, "{}: axes: {cosines:?}", row.key);
                    let along = numbers(&model, "explained_variance");
                    assert!(apart(&along, &DISTINCT[..K]) < 1e-7, "{}: {along:?}", row.key);
                }
            }
            // A variant can also be chosen by its number.
            if seed == 0 {
                let again = fit(
                    &x,
                    json!({"n_components": K, "variant": number + 1, "max_iter": 200_000, "tol": 1e-10}),
                );
                assert_eq!(numbers(&again, "weights"), numbers(&model, "weights"), "{}", row.key);
            }
        }
    }
}

#[test]
fn a_rule_cannot_separate_axes_of_equal_variance_but_finds_those_around() {
    let (x, axes) = exact(&TIED, 2);
    for row in LINEAR.iter().filter(|row| row.spec.is_some() && row.order == Order::Descending) {
        let model =
            fit(&x, json!({"n_components": K, "variant": row.key, "max_iter": 400_000, "tol": 1e-10}));
        assert_eq!(model.report().outcome, Outcome::Converged, "{}: {:?}", row.key, model.report());
        let w = columns(&model);
        let tied = |m: &Matrix<f64>| Matrix::from_fn(3, P, |i, j| m[(i + 1, j)]);
        let angle = metrics::subspace_angles(&tied(&w), &tied(&axes)).unwrap()[0];
        assert!(angle < 1e-5, "{}: the tied group is {angle:e} off", row.key);
        for j in [0, 4] {
            assert!(1.0 - cosine(w.row(j), axes.row(j)) < 1e-10, "{}: axis {j}", row.key);
        }
        let least = (1..4).map(|j| cosine(w.row(j), axes.row(j))).fold(1.0, f64::min);
        assert!(least < 0.98, "{}: axes inside the group, {least}", row.key);
    }
}

/// Norm of the update after `steps` steps of size `step`, relative to the largest variance, from random directions; infinite if it
/// diverges.
fn residual(spec: &Spec, step: f64, steps: usize, seed: u64) -> f64 {
    let c: Vec<f64> = DISTINCT.iter().map(|v| v / DISTINCT[0]).collect();
    let mut w = orthonormal(K, P, 20 + seed).transposed();
    let mut left = f64::INFINITY;
    for _ in 0..steps {
        let cw = Matrix::from_fn(P, K, |i, j| c[i] * w[(i, j)]);
        let g = flow::field(spec, &w, &cw);
        left = length(g.as_slice());
        if !left.is_finite() || left > 1e6 {
            return f64::INFINITY;
        }
        w.as_mut_slice().iter_mut().zip(g.as_slice()).for_each(|(w, g)| *w -= step * g);
    }
    left
}

#[test]
fn steps_are_stable_up_to_the_documented_length() {
    for row in LINEAR.iter().chain(&LINEAR_MORE) {
        let Some(spec) = &row.spec else { continue };
        let allowed = row.step_length(spec, K);
        let beyond = match row.key {
            "weighted-variance" | "variance-nested-dropout" => 0.4,
            "autoencoder" | "wsla-unit" | "gha-encoder" | "gha-reconstruction" | "nested-dropout" => 0.6,
            "wsla-inverse" | "wsla-unit-full" | "weighted-unit-inverse" => 0.25,
            "gha-subspace" => 1.0,
            "weighted-variance-rising" => 1.0,
            _ => 1.3,
        };
        for seed in 0..3 {
            let left = residual(spec, allowed, if allowed < 0.1 { 40_000 } else { 3000 }, seed);
            assert!(left < 0.02, "{}: {left:e} is left with steps of {allowed}", row.key);
        }
        let worst = (0..3).map(|seed| residual(spec, beyond, 3000, seed)).fold(0.0, f64::max);
        assert!(worst > 0.02, "{}: steps of {beyond} converge: {worst:e}", row.key);
    }
}

#[test]
fn further_forms_with_unit_columns_find_the_axes_and_the_rising_one_reverses_their_order() {
    for row in &LINEAR_MORE {
        let spec = row.spec.unwrap();
        let how = flow::FlowOptions { k: K, from_axes: false, from: None, max_iter: 400_000, tol: 1e-9 };
        let rest = flow::flow(row, &spec, &DISTINCT, &how, &Run::default()).unwrap();
        assert_eq!(rest.outcome, Outcome::Converged, "{}: {}", row.key, rest.residual);
        let w = rest.w.transposed();
        let lambda = Lambda::Steps(1.0, 0.05).of(K, |_| 1.0);
        for (j, l) in lambda.iter().enumerate() {
            let (axis, want) = match row.key {
                "weighted-variance-rising" => (K - 1 - j, (1.0 - 0.5 * l).sqrt()),
                _ => (j, 1.0),
            };
            assert!((length(w.row(j)) - want).abs() < 1e-7, "{}: column {j}: {}", row.key, length(w.row(j)));
            assert!(w[(j, axis)].abs() / want > 1.0 - 1e-10, "{}: column {j}: {:?}", row.key, w.row(j));
        }
    }
}

#[test]
fn weights_are_those_of_the_rule_and_components_are_canonical() {
    let (x, _) = exact(&DISTINCT, 3);
    let model = fit(&x, json!({"n_components": 3, "variant": "wsla", "tol": 1e-10}));
    let (w, components) = (columns(&model), model.tensor("components").unwrap().to_matrix());
    let signs: Vec<f64> = (0..3)
        .map(|j| {
            let sign = w.row(j).iter().zip(components.row(j)).map(|(a, b)| a * b).sum::<f64>().signum();
            let unit: Vec<f64> = w.row(j).iter().map(|x| sign * x / length(w.row(j))).collect();
            assert!(apart(&unit, components.row(j)) < 1e-14);
            sign
        })
        .collect();
    // The first-order condition, computed from the rows: C W L = W S.
    let c = crate::naive::covariance(&x, P);
    let share = 199.0 / 200.0;
    let c = Matrix::from_fn(P, P, |i, j| c[i][j] * share);
    let cw = factor::multiply(&w, &c);
    let s = factor::multiply_transposed(&cw, &w);
    let lambda = [1.0, 0.525, 0.05];
    for (j, l) in lambda.iter().enumerate() {
        for i in 0..P {
            let ws: f64 = (0..3).map(|m| w[(m, i)] * s[(m, j)]).sum();
            assert!((cw[(j, i)] * l - ws).abs() < 1e-8, "column {j}, row {i}");
        }
    }
    assert!(signs.contains(&-1.0), "all columns have the signs of the components: {signs:?}");
}

#[test]
fn more_components_than_the_rank_have_variance_zero() {
    let (x, _) = exact(&DISTINCT, 4);
    // The last four columns equal the first four.
    let x: Vec<f64> =
        x.chunks(P).flat_map(|r| r[..6].iter().chain(&r[..4]).copied().collect::<Vec<_>>()).collect();
    let model = fit(&x, json!({"n_components": 8, "whiten": true, "tol": 1e-6}));
    let values = numbers(&model, "explained_variance");
    assert!(values[5] > 0.01 && values[6..] == [0.0, 0.0], "{values:?}");
    assert!(model.report().warnings[0].contains("6 directions"), "{:?}", model.report().warnings);
    let codes = crate::made::encode(&model, &x);
    assert!(codes.chunks(8).all(|y| y[6..] == [0.0, 0.0]));
    assert_eq!(model.tensor("weights").unwrap().shape(), [P, 6]);
}

#[test]
fn scaled_rows_have_the_same_axes() {
    let (x, _) = exact(&DISTINCT, 5);
    for row in &LINEAR {
        let given = json!({"n_components": 3, "variant": row.key});
        let want = numbers(&fit(&x, given.clone()), "components");
        for scale in [0.01, 100.0, 1000.0] {
            let y: Vec<f64> = x.iter().map(|v| v * scale).collect();
            let found = numbers(&fit(&y, given.clone()), "components");
            assert!(apart(&found, &want) < 1e-9, "{} x {scale}", row.key);
        }
    }
}

#[test]
fn numbers_and_names_of_no_rule_are_refused() {
    let (x, _) = exact(&DISTINCT, 6);
    for (given, word) in [
        (json!({"variant": 15}), "choose one of"),
        (json!({"variant": 0}), "choose one of"),
        (json!({"variant": "gah"}), "did you mean 'gha'?"),
        (json!({"n_components": 0}), "choose a number from 1 to 10"),
        (json!({"n_components": 11}), "min(200, 10) = 10"),
        (json!({"tol": -1.0}), "tol"),
        (json!({"init": "axes"}), "init"),
    ] {
        let text = try_fit("neural-pca", &settings(given.clone()), &x, P).unwrap_err().to_string();
        assert!(text.contains(word), "{given}: {text}");
    }
}

#[test]
fn a_rule_that_has_not_converged_is_reported() {
    let (x, _) = exact(&DISTINCT, 7);
    let model = fit(&x, json!({"n_components": K, "max_iter": 5}));
    let report = model.report();
    assert_eq!((report.outcome, report.n_iter), (Outcome::MaxIter, 5));
    assert!(report.residual.unwrap() > report.tol.unwrap());
}

#[test]
fn sweeps_of_a_training_that_ends_early_are_those_of_its_epochs() {
    let (x, _) = exact(&DISTINCT, 8);
    let given = json!({"n_components": 3, "solver": "adam", "max_epochs": 7});
    let pca = NeuralPca::from_settings(&settings(given)).unwrap();
    let fitted = |run: &Run<'_>| pca.fit(&mut Rows::from_slice(&x, P).unwrap(), run).unwrap();
    let whole = fitted(&Run::default());
    let cut = fitted(&Run { max_seconds: Some(0.0), ..Run::default() });
    assert_eq!((whole.report().outcome, cut.report().outcome), (Outcome::Completed, Outcome::Time));
    assert_eq!(whole.report().sweeps - cut.report().sweeps, 7);
}
