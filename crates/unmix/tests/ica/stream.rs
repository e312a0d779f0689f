//! EASI on a stream of rows.

use super::made::{amari, gain, mix, mixed_kinds, mixing};
use crate::made::settings;
use serde_json::{Value, json};
use unmix::internal::num::random::Stream;
use unmix::{AnyRows, Error, Matrix, Model, Outcome, Result, Rows, Run};

fn learn(given: &Value, before: Option<&Model>, x: &[f64], p: usize) -> Result<Model> {
    let mut given = given.clone();
    given["algorithm"] = json!("easi");
    unmix::partial_fit(
        "ica",
        &settings(given),
        before,
        &AnyRows::F64(Rows::from_slice(x, p)?),
        &Run::default(),
    )
}

fn near_identity(k: usize, seed: u64) -> Matrix<f64> {
    Matrix::from_fn(k, k, |i, j| f64::from(u8::from(i == j)) + 0.4 * mixing(k, k, seed)[(i, j)])
}

#[test]
fn a_stream_may_be_cut_anywhere() {
    let (n, k) = (1500, 4);
    let x = mix(&mixed_kinds(n, k, 1), &near_identity(k, 1));
    let whole = learn(&json!({}), None, &x, k).unwrap();
    for step in [1, 7, 63, 64, 65, 1000] {
        let mut model: Option<Model> = None;
        for batch in x.chunks(step * k) {
            model = Some(learn(&json!({}), model.as_ref(), batch, k).unwrap());
        }
        assert_eq!(crate::made::bits(&whole), crate::made::bits(&model.unwrap()), "batches of {step} rows");
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    learn(&json!({}), None, &x[..300 * k], k).unwrap().save(file.path()).unwrap();
    let loaded = Model::load(file.path()).unwrap();
    let on = learn(&json!({}), Some(&loaded), &x[300 * k..], k).unwrap();
    assert_eq!(crate::made::bits(&whole), crate::made::bits(&on), "from a file");
}

#[test]
fn the_wrong_pairing_of_nonlinearity_and_sources_diverges_from_the_solution() {
    let (n, k) = (40_000, 4);
    let mut all = Vec::new();
    for seed in 0..3 {
        let s = Stream::new(seed, 100);
        let flat = Matrix::from_fn(n, k, |i, j| (s.uniform((i * k + j) as u64) - 0.5) * 12f64.sqrt());
        let eye: Vec<Vec<f64>> =
            (0..k).map(|i| (0..k).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        let from_the_solution = |extended: bool| {
            let given = json!({"extended": extended, "w_init": eye});
            learn(&given, None, flat.as_slice(), k).unwrap()
        };
        let far = |model: &Model| amari(&model.tensor("components").unwrap().to_matrix());
        let (wrong, right) = (from_the_solution(false), from_the_solution(true));
        assert!(far(&wrong) > 0.5 && far(&right) < 0.02, "seed {seed}: {} and {}", far(&wrong), far(&right));
        let warned = wrong.report().warnings.iter().any(|w| w.contains("flatter tails"));
        assert!(warned, "seed {seed}: {:?}", wrong.report().warnings);
        assert!(right.report().warnings.is_empty(), "{:?}", right.report().warnings);
        all.push(far(&wrong));
    }
    let typical = crate::made::median(all.clone());
    assert!(typical > 0.7, "{all:?}");
}

#[test]
fn rows_and_methods_that_cannot_be_streamed_are_refused() {
    let (n, k) = (200, 3);
    let mut x = mix(&mixed_kinds(n, k, 2), &near_identity(k, 2));
    let model = learn(&json!({}), None, &x, k).unwrap();
    assert_eq!((model.report().outcome, model.report().n_samples), (Outcome::Completed, 200.0));
    assert!(amari(&gain(&learn(&json!({}), Some(&model), &x, k).unwrap(), &near_identity(k, 2))) < 0.5);
    x[5 * k + 1] = f64::NAN;
    let message = learn(&json!({}), Some(&model), &x, k).unwrap_err().to_string();
    assert!(message.contains("row 5, column 1"), "{message}");
    let narrow = learn(&json!({}), Some(&model), &x[..2 * (k - 1)], k - 1).unwrap_err();
    assert!(matches!(narrow, Error::Width { need: 3, got: 2, .. }), "{narrow:?}");
    let weighted = Rows::from_slice(&x[..2 * k], k).unwrap().weighted(vec![1.0, 2.0]).unwrap();
    let easi = settings(json!({"algorithm": "easi"}));
    let message =
        unmix::partial_fit("ica", &easi, None, &AnyRows::F64(weighted), &Run::default()).unwrap_err();
    assert!(message.to_string().contains("weights"), "{message}");
    for key in ["ica", "rica", "fastica"] {
        let rows = AnyRows::F64(Rows::from_slice(&x[..2 * k], k).unwrap());
        let message = unmix::partial_fit(key, &settings(json!({})), None, &rows, &Run::default())
            .unwrap_err()
            .to_string();
        assert!(message.contains("algorithm='easi'"), "{key}: {message}");
    }
}

#[test]
fn a_time_limit_ends_a_pass_and_the_other_rows_can_be_added() {
    let x = mix(&mixed_kinds(1500, 3, 1), &near_identity(3, 1));
    let rows = AnyRows::F64(Rows::from_slice(&x, 3).unwrap());
    let hurried = Run { max_seconds: Some(0.0), ..Run::default() };
    let easi = settings(json!({"algorithm": "easi"}));
    let cut = unmix::partial_fit("ica", &easi, None, &rows, &hurried).unwrap();
    assert_eq!((cut.report().outcome, cut.report().n_samples), (Outcome::Time, 1024.0));
    let on = learn(&json!({}), Some(&cut), &x[1024 * 3..], 3).unwrap();
    assert_eq!(on.tensors(), learn(&json!({}), None, &x, 3).unwrap().tensors());
}
