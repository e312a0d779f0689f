//! Streams of rows: cut anywhere, continued from a file, continued after a fit.

use super::made;
use crate::made::{Known, bits, cast, settings, try_fit};
use serde_json::{Value, json};
use unmix::model::{Tensor, Tensors, Values};
use unmix::{AnyRows, Error, Model, Outcome, Result, Rows, Run};

fn learn<T: Known>(given: &Value, before: Option<&Model>, x: &[T], p: usize) -> Result<Model> {
    let rows: AnyRows<'_> = T::any(Rows::from_slice(x, p)?);
    unmix::partial_fit("dictionary", &settings(given.clone()), before, &rows, &Run::default())
}

fn in_pieces<T: Known>(given: &Value, x: &[T], p: usize, step: usize) -> Model {
    let mut model: Option<Model> = None;
    for batch in x.chunks(step * p) {
        model = Some(learn(given, model.as_ref(), batch, p).unwrap());
    }
    model.unwrap()
}

fn a_stream_may_be_cut_anywhere_in<T: Known>() {
    let p = 20;
    let x: Vec<T> = cast(&made(900, 1).0);
    for given in [
        json!({"batch_size": 32}),
        // More atoms than a batch has rows; replacements after a hundred batches.
        json!({"batch_size": 7, "n_components": 60, "dead_unit": "data"}),
        json!({"batch_size": 7, "n_components": 60, "alpha": 0.9}),
        json!({"batch_size": 64, "positive_code": true, "atom_norm": "sphere", "init": "k-means++"}),
    ] {
        let whole = learn(&given, None, &x, p).unwrap();
        assert_eq!(whole.report().n_samples, 900.0);
        for step in [1, 31, 64, 500] {
            if step == 1 && given["batch_size"] != 32 {
                continue;
            }
            let cut = in_pieces(&given, &x, p, step);
            assert_eq!(bits(&whole), bits(&cut), "{given}, {step} rows at a time");
        }
        // From a file, in the middle of a batch.
        let begun = learn(&given, None, &x[..411 * p], p).unwrap();
        let back = Model::from_bytes(&begun.to_bytes().unwrap(), "the model".as_ref()).unwrap();
        assert_eq!(bits(&learn(&given, Some(&back), &x[411 * p..], p).unwrap()), bits(&whole), "{given}");
    }
}

#[test]
fn a_stream_may_be_cut_anywhere() {
    a_stream_may_be_cut_anywhere_in::<f64>();
    a_stream_may_be_cut_anywhere_in::<f32>();
}

#[test]
fn a_stream_from_given_atoms_may_be_cut_anywhere() {
    let (p, (x, atoms)) = (20, made(300, 4));
    let tensor = Tensor::new(vec![30, p], Values::F64(atoms.as_slice().to_vec()));
    let given = settings(json!({"batch_size": 32}));
    let learn = |first: bool, before: Option<&Model>, x: &[f64]| {
        let tables: Tensors = first.then(|| ("dict_init".to_string(), tensor.clone())).into_iter().collect();
        let rows = AnyRows::F64(Rows::from_slice(x, p).unwrap());
        unmix::partial_fit_given("dictionary", &given, tables, before, &rows, &Run::default()).unwrap()
    };
    let whole = learn(true, None, &x);
    assert_eq!(whole.n_components(), 30);
    // The table is given once, with the first rows, of which there are too few to begin with.
    let begun = learn(true, None, &x[..9 * p]);
    let back = Model::from_bytes(&begun.to_bytes().unwrap(), "the model".as_ref()).unwrap();
    assert_eq!(bits(&learn(false, Some(&back), &x[9 * p..])), bits(&whole));
    assert_ne!(bits(&learn(false, None, &x)), bits(&whole));
}

#[test]
fn a_seed_of_the_first_rows_is_that_of_the_stream() {
    let (p, x) = (20, made(400, 2).0);
    let given = json!({"batch_size": 100});
    let with = |before: Option<&Model>, x: &[f64], seed: u64| {
        let rows = AnyRows::F64(Rows::from_slice(x, p).unwrap());
        let run = Run { seed, ..Run::default() };
        unmix::partial_fit("dictionary", &settings(given.clone()), before, &rows, &run).unwrap()
    };
    let first = with(None, &x[..30 * p], 7);
    let (a, b) = (with(Some(&first), &x[30 * p..], 1), with(None, &x, 7));
    assert_eq!(a.tensors(), b.tensors());
    assert_ne!(a.tensors(), with(None, &x, 8).tensors());
}

#[test]
fn a_fit_is_continued_with_more_rows() {
    let (p, x) = (20, made(1500, 3).0);
    for given in [json!({"batch_size": 50}), json!({"batch_size": 50, "center": true})] {
        let fitted = try_fit("dictionary", &settings(given.clone()), &x[..1000 * p], p).unwrap();
        let steps = fitted.report().n_iter;
        assert_eq!(steps, 5 * 20);
        let whole = learn(&given, Some(&fitted), &x[1000 * p..], p).unwrap();
        assert_eq!((whole.report().n_iter, whole.report().n_samples), (steps + 10, 1500.0));
        assert_eq!(whole.tensor("mean"), fitted.tensor("mean"));
        let mut cut = learn(&given, Some(&fitted), &x[1000 * p..1077 * p], p).unwrap();
        cut = learn(&given, Some(&cut), &x[1077 * p..], p).unwrap();
        assert_eq!(bits(&whole), bits(&cut), "{given}");
        // The parameters of the penalty stay those of the fit.
        assert_eq!(whole.tensor("alpha"), fitted.tensor("alpha"));
    }
}

#[test]
fn a_stream_learns_what_a_fit_does() {
    let (x, atoms) = made(8000, 4);
    let given = json!({"n_components": 30, "alpha": 0.1, "batch_size": 100, "forgetting": 20.0});
    let mut model = learn(&given, None, &x, 20).unwrap();
    for _ in 0..3 {
        model = learn(&given, Some(&model), &x, 20).unwrap();
    }
    let share = super::recovered(&model, &atoms);
    assert!(share >= 0.8, "{share}");
}

#[test]
fn before_the_first_batch_is_full_there_is_a_model_of_the_rows_so_far() {
    let (p, x) = (20, made(300, 5).0);
    for n in [1, 40] {
        let model = learn(&json!({}), None, &x[..n * p], p).unwrap();
        assert_eq!((model.n_components(), model.report().n_iter), (20, 1));
        assert!(!model.tensors().contains_key("stream_atoms"), "no batch is full yet");
    }
    let none = learn(&json!({"n_components": 4}), None, &[0.0; 60], p).unwrap();
    assert_eq!(none.n_components(), 4);
}

#[test]
fn rows_and_settings_that_do_not_fit_a_stream_are_refused() {
    let (p, x) = (20, made(300, 6).0);
    let model = learn(&json!({"n_components": 7}), None, &x, p).unwrap();
    let message = |given: Value, before: Option<&Model>, x: &[f64], p: usize| {
        learn(&given, before, x, p).map(|_| ()).unwrap_err()
    };
    let number = message(json!({"n_components": 8}), Some(&model), &x, p).to_string();
    assert!(number.contains("n_components") && number.contains("7 atoms"), "{number}");
    let centre = message(json!({"center": true}), None, &x, p).to_string();
    assert!(centre.starts_with("center"), "{centre}");
    assert!(matches!(message(json!({}), Some(&model), &x, 10), Error::Width { need: 20, got: 10, .. }));
    let mut broken = x.clone();
    broken[7 * p + 3] = f64::NAN;
    match message(json!({}), Some(&model), &broken, p) {
        Error::NotFinite { row: 7, column: 3, .. } => {}
        other => panic!("{other:?}"),
    }
    let pca = crate::made::pca(json!({}), &x, p);
    let other = message(json!({}), Some(&pca), &x, p).to_string();
    assert!(other.contains("does not hold the state of its stream"), "{other}");
    // Two dictionaries have different atoms, so sums over their codes cannot be added.
    let merged = model.merge(&model, &Run::default()).map(|_| ()).unwrap_err().to_string();
    assert!(merged.contains("merging two models is not possible"), "{merged}");
    assert!(merged.contains("sums over codes of different atoms cannot be added"), "{merged}");
    assert!(pca.check_merge().is_ok() && model.check_merge().is_err());
}

#[test]
fn a_time_limit_ends_a_pass_and_the_other_rows_can_be_added() {
    let (p, x) = (20, made(1500, 5).0);
    let given = json!({"batch_size": 100});
    let hurried = Run { max_seconds: Some(0.0), ..Run::default() };
    let within = |x: &[f64]| {
        let rows = AnyRows::F64(Rows::from_slice(x, p).unwrap());
        unmix::partial_fit("dictionary", &settings(given.clone()), None, &rows, &hurried).unwrap()
    };
    let cut = within(&x);
    assert_eq!((cut.report().outcome, cut.report().n_samples), (Outcome::Time, 1024.0));
    let message = cut.report().warnings.join(" ");
    assert!(message.contains("ended early") && message.contains("1024"), "{message}");
    let on = learn(&given, Some(&cut), &x[1024 * p..], p).unwrap();
    assert_eq!(on.report().outcome, Outcome::Completed);
    assert_eq!(on.tensors(), learn(&given, None, &x, p).unwrap().tensors());
    // Rows that are read at once are added in any case.
    assert_eq!(within(&x[..1024 * p]).report().outcome, Outcome::Completed);
}
