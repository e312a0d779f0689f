//! Restricted Boltzmann machines: recovery of binary latent variables, units of the columns, warm starts, invalid input.

use crate::made::{settings, try_fit};
use serde_json::{Value, json};
use unmix::internal::num::random::Stream;
use unmix::{AnyRows, Model, Rows, Run};

fn fit(x: &[f64], p: usize, given: Value) -> Model {
    try_fit("rbm", &settings(given), x, p).unwrap_or_else(|e| panic!("{e}"))
}

fn codes(model: &Model, x: &[f64]) -> Vec<f64> {
    model.encode_to_vec(&Rows::from_slice(x, model.n_features()).unwrap(), &Run::default()).unwrap()
}

/// 600 rows of 8 columns: three binary latent variables of two or three columns each, and noise; means and scales differ by column.
fn rows() -> (Vec<f64>, Vec<[bool; 3]>) {
    let draws = Stream::new(4, 0);
    let causes: Vec<[bool; 3]> =
        (0..600).map(|i| [0, 1, 2].map(|j| draws.uniform(100_000 + 3 * i + j) < 0.4)).collect();
    let mut x = Vec::new();
    for (i, on) in causes.iter().enumerate() {
        for c in 0..8 {
            let signal = if on[c / 3] { 4.0 } else { 0.0 };
            x.push(3f64.powi(c as i32 - 4) * (signal + draws.normal((i * 8 + c) as u64) + c as f64));
        }
    }
    (x, causes)
}

#[test]
fn binary_latent_variables_are_found() {
    let (x, causes) = rows();
    let model = fit(&x, 8, json!({"n_components": 3, "max_epochs": 200}));
    let z = codes(&model, &x);
    assert!(z.iter().all(|z| (0.0..=1.0).contains(z)));
    for j in 0..3 {
        // A unit may represent the absence of a cause.
        let agreement = (0..3).map(|k| {
            let same = causes.iter().zip(z.chunks_exact(3)).filter(|(on, z)| on[j] == (z[k] > 0.5)).count();
            same.max(causes.len() - same)
        });
        let best = agreement.max().unwrap();
        assert!(best >= 580, "cause {j}: {best} of 600");
    }
}

#[test]
fn codes_and_rows_are_those_of_the_formula() {
    let (x, _) = rows();
    let model = fit(&x, 8, json!({"n_components": 5, "max_epochs": 5}));
    let of = |name: &str| model.tensor(name).unwrap().f64s();
    let (atoms, weight, bias, mean) =
        (of("components"), of("encoder_weight"), of("encoder_bias"), of("mean"));
    let z = codes(&model, &x);
    let back: Vec<f64> = model.decode_to_vec(&Rows::from_slice(&z, 5).unwrap(), &Run::default()).unwrap();
    for i in 0..20 {
        let centred: Vec<f64> = (0..8).map(|c| x[i * 8 + c] - mean[c]).collect();
        for j in 0..5 {
            let t = bias[j] + (0..8).map(|c| weight[j * 8 + c] * centred[c]).sum::<f64>();
            assert!((z[i * 5 + j] - 1.0 / (1.0 + (-t).exp())).abs() < 1e-12);
        }
        for c in 0..8 {
            let row = mean[c] + (0..5).map(|j| z[i * 5 + j] * atoms[j * 8 + c]).sum::<f64>();
            assert!((back[i * 8 + c] - row).abs() < 1e-9);
        }
    }
}

#[test]
fn rows_of_another_scale_have_the_same_codes() {
    let (x, _) = rows();
    let want = codes(&fit(&x, 8, json!({"max_epochs": 10})), &x);
    for by in [1e-3, 1e3] {
        let scaled: Vec<f64> = x.iter().map(|x| by * x).collect();
        let found = codes(&fit(&scaled, 8, json!({"max_epochs": 10})), &scaled);
        let far = want.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(far < 1e-6, "{by}: {far}");
    }
}

#[test]
fn a_warm_start_keeps_the_codes_of_its_model() {
    let (x, _) = rows();
    let first = fit(&x, 8, json!({"n_components": 12, "max_epochs": 20}));
    let mut rows = AnyRows::F64(Rows::from_slice(&x, 8).unwrap());
    let run = Run { init: Some(&first), ..Run::default() };
    let given = json!({"n_components": 12, "max_epochs": 1, "learning_rate": 1e-12});
    let again = unmix::fit("rbm", &settings(given), &mut rows, &run).unwrap();
    let far = codes(&first, &x).iter().zip(codes(&again, &x)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(far < 1e-6, "{far}");
}

#[test]
fn invalid_input_is_refused_and_binary_rows_are_reported() {
    let (x, _) = rows();
    let refused = |x: &[f64], p, given: Value| {
        try_fit("rbm", &settings(given), x, p).map(|_| ()).unwrap_err().to_string()
    };
    let message = refused(&x[..8], 8, json!({}));
    assert!(message.contains("rbm needs at least 2 rows, but the array has 1"), "{message}");
    assert!(refused(&[2.0; 80], 4, json!({})).contains("column that varies"));
    let mut spoiled = x.clone();
    spoiled[26] = f64::NAN;
    assert!(refused(&spoiled, 8, json!({})).contains("row 3, column 2 is NaN"));
    for name in ["n_components", "n_steps"] {
        let message = refused(&x, 8, json!({name: 0}));
        assert!(message.contains(name) && message.contains("got 0"), "{message}");
    }
    assert!(refused(&x, 8, json!({"n_components": 3_000_000_000_000u64})).contains("choose fewer units"));
    let message = refused(&x, 8, json!({"learning_rate": 1e6}));
    assert!(message.contains("learning_rate") && message.contains("choose a lower one"), "{message}");
    let draws = Stream::new(1, 0);
    let binary: Vec<f64> = (0..400).map(|i| if draws.uniform(i) < 0.3 { 1.0 } else { 0.0 }).collect();
    let model = fit(&binary, 4, json!({"n_components": 2, "max_epochs": 2}));
    assert!(crate::made::warned(&model, "the rows contain only 0 and 1"), "{:?}", model.report().warnings);
    assert!(!crate::made::warned(&fit(&x, 8, json!({"max_epochs": 1})), "only 0 and 1"));
    let rows = Rows::from_slice(&x, 8).unwrap();
    let message = fit(&x, 8, json!({"max_epochs": 1})).score_samples(
        &rows,
        &Run::default(),
        &mut unmix::data::VecSink(Vec::new()),
    );
    assert!(message.unwrap_err().to_string().contains("no probability density"));
}
