//! Denoising autoencoders: the benchmark of biclusters, units of the columns, warm starts, invalid input.

use crate::made::{settings, try_fit};
use serde_json::{Value, json};
use unmix::datasets::biclusters;
use unmix::internal::num::random::Stream;
use unmix::{AnyRows, Model, Rows, Run};

fn fit(x: &[f64], p: usize, given: Value) -> Model {
    try_fit("dae", &settings(given), x, p).unwrap_or_else(|e| panic!("{e}"))
}

fn codes(model: &Model, x: &[f64]) -> Vec<f64> {
    model.encode_to_vec(&Rows::from_slice(x, model.n_features()).unwrap(), &Run::default()).unwrap()
}

/// 200 rows of 6 columns of different scales and means.
fn rows() -> Vec<f64> {
    let draws = Stream::new(4, 0);
    let factor = |i: usize| draws.normal(10_000 + i as u64);
    let cell =
        |i: usize, j: usize| 3f64.powi(j as i32) * (draws.normal((i * 6 + j) as u64) + factor(i) + j as f64);
    (0..200).flat_map(|i| (0..6).map(move |j| cell(i, j))).collect()
}

#[test]
fn sparsity_and_error_on_the_first_data_set_of_biclusters() {
    let made = biclusters("D1", 1, 0).unwrap();
    let (x, p) = (made.x.as_slice(), made.x.cols());
    for tied in [false, true] {
        let given = json!({"solver": "sgd", "learning_rate": 1e-4, "batch_size": 10, "max_epochs": 1000, "tied": tied});
        let (sparsity, error) = sparsity_and_error(x, p, given);
        assert!((45.0..=65.0).contains(&sparsity) && error <= 70.0, "{tied}: SP {sparsity}, ER {error}");
    }
}

/// The percentage of codes below 0.01, and the norm of the residual, of 50 units.
fn sparsity_and_error(x: &[f64], p: usize, given: Value) -> (f64, f64) {
    let model = fit(x, p, given);
    let z = codes(&model, x);
    let sparsity = 100.0 * z.iter().filter(|z| **z < 0.01).count() as f64 / z.len() as f64;
    let rows = Rows::from_slice(&z, 50).unwrap();
    let back: Vec<f64> = model.decode_to_vec(&rows, &Run::default()).unwrap();
    (sparsity, x.iter().zip(&back).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt())
}

/// The published settings: 1000 epochs of gradient descent without momentum, and the rate 1e-4 for the squared error of a row. The learning rate is that
/// of the mean over a batch, so that it is ten times as large for batches of 10 rows; long tests also fit one row at a time.
#[test]
fn plain_gradient_descent_with_the_published_settings_has_the_same_sparsity_and_error() {
    let made = biclusters("D1", 1, 0).unwrap();
    let (x, p) = (made.x.as_slice(), made.x.cols());
    let mut cases = vec![(false, 10, 1e-3), (true, 10, 1e-3)];
    if crate::scope::in_all("denoising autoencoder, one row at a time") {
        cases.push((false, 1, 1e-4));
    }
    for (tied, batch_size, rate) in cases {
        let given = json!({
            "n_components": 50, "corruption": 0.2, "noise": "mask", "solver": "plain-sgd", "learning_rate": rate, "batch_size": batch_size,
            "max_epochs": 1000, "tied": tied
        });
        let (sparsity, error) = sparsity_and_error(x, p, given);
        let what = format!("{tied}, batches of {batch_size}: SP {sparsity}, ER {error}");
        assert!((45.0..=65.0).contains(&sparsity) && error <= 70.0, "{what}");
    }
}

/// Without momentum the first step is the learning rate times the gradient; with momentum a constant gradient moves parameters ten times as far.
#[test]
fn plain_gradient_descent_has_no_momentum() {
    let x = rows();
    let moved = |solver: &str, epochs: u64| {
        // So small a rate that the gradient is the same in every step, of all rows at once.
        let given = json!({
            "n_components": 4, "solver": solver, "learning_rate": 1e-9, "batch_size": 200, "max_epochs": epochs, "corruption": 0.0
        });
        let weights = |epochs: u64| {
            let mut given = given.clone();
            given["max_epochs"] = json!(epochs);
            fit(&x, 6, given).tensor("encoder_weight").unwrap().f64s()
        };
        let (first, last) = (weights(1), weights(epochs));
        first.iter().zip(&last).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let (plain, with_momentum) = (moved("plain-sgd", 201), moved("sgd", 201));
    assert!((with_momentum / plain - 10.0).abs() < 0.6, "{plain:e} {with_momentum:e}");
}

#[test]
fn rows_of_another_scale_have_the_same_codes() {
    let x = rows();
    for given in [json!({"max_epochs": 30}), json!({"max_epochs": 30, "standardize": false, "solver": "sgd"})]
    {
        let want = codes(&fit(&x, 6, given.clone()), &x);
        for by in [1e-3, 1e3] {
            let scaled: Vec<f64> = x.iter().map(|x| by * x).collect();
            let found = codes(&fit(&scaled, 6, given.clone()), &scaled);
            let far = want.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(far < 1e-6, "{given} {by}: {far}");
        }
    }
}

#[test]
fn a_warm_start_keeps_the_codes_of_its_model() {
    let x = rows();
    let first = fit(&x, 6, json!({"n_components": 12, "max_epochs": 60}));
    for tied in [false, true] {
        let given = json!({"n_components": 12, "max_epochs": 1, "learning_rate": 1e-9, "tied": tied});
        let mut rows = AnyRows::F64(Rows::from_slice(&x, 6).unwrap());
        let run = Run { init: Some(&first), ..Run::default() };
        let again = unmix::fit("dae", &settings(given), &mut rows, &run).unwrap();
        // Units may come in another order.
        let (mut a, mut b) = (codes(&first, &x), codes(&again, &x));
        [&mut a, &mut b].into_iter().for_each(|z| z.sort_by(f64::total_cmp));
        let (apart, largest) = (crate::made::apart(&a, &b), a[a.len() - 1]);
        assert!(apart < 1e-4 * largest, "{tied}: {apart:e} of {largest}");
    }
}

#[test]
fn invalid_input_is_refused_and_constant_columns_are_reported() {
    let x = rows();
    let refused = |x: &[f64], p, given: Value| {
        try_fit("dae", &settings(given), x, p).map(|_| ()).unwrap_err().to_string()
    };
    let message = refused(&x[..6], 6, json!({}));
    assert!(message.contains("dae needs at least 2 rows, but the array has 1"), "{message}");
    assert!(refused(&[2.0; 80], 4, json!({})).contains("column that varies"));
    let mut spoiled = x.clone();
    spoiled[20] = f64::NAN;
    assert!(refused(&spoiled, 6, json!({})).contains("row 3, column 2 is NaN"));
    let message = refused(&x, 6, json!({"n_components": 0}));
    assert!(message.contains("n_components") && message.contains("got 0"), "{message}");
    assert!(refused(&x, 6, json!({"n_components": 3_000_000_000_000u64})).contains("choose fewer units"));
    let message = refused(&x, 6, json!({"corruption": 1.0}));
    assert!(message.contains("corruption") && message.contains("got 1.0"), "{message}");
    let message = refused(&x, 6, json!({"solver": "sgd", "learning_rate": 1e6}));
    assert!(message.contains("learning_rate") && message.contains("choose a lower one"), "{message}");
    let mut constant = x.clone();
    constant.chunks_exact_mut(6).for_each(|row| row[4] = 0.1);
    let model = fit(&constant, 6, json!({"n_components": 8, "max_epochs": 5, "noise": "gaussian"}));
    assert_eq!(model.report().n_constant, 1);
    assert!(
        crate::made::warned(&model, "1 of 6 columns does not vary (column 4)"),
        "{:?}",
        model.report().warnings
    );
    let components = model.tensor("components").unwrap().to_matrix();
    assert!((0..8).all(|j| components[(j, 4)] == 0.0));
    let message = model.score_samples(
        &Rows::from_slice(&x, 6).unwrap(),
        &Run::default(),
        &mut unmix::data::VecSink(Vec::new()),
    );
    assert!(message.unwrap_err().to_string().contains("no probability density"));
}
