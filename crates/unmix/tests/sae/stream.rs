//! Streams: the same result however rows are cut, for any number of threads.

use super::*;
use crate::made::on_threads;
use unmix::AnyRows;
use unmix::method::sae::Activation;

fn added(spec: &SparseAutoencoder, before: Option<&Model>, x: &[f64], threads: usize) -> Model {
    let rows = Rows::from_slice(x, 32).unwrap();
    spec.partial_fit(before, &rows, &on_threads(threads)).unwrap()
}

#[test]
fn a_stream_has_one_result_for_any_cut_and_any_number_of_threads() {
    let (x, _) = toy(1500, 1);
    for activation in [Activation::Topk, Activation::BatchTopk, Activation::Jumprelu] {
        let spec = SparseAutoencoder {
            n_components: Some(40),
            activation,
            batch_size: 100,
            ..SparseAutoencoder::default()
        };
        let whole = added(&spec, None, &x, 1);
        assert_eq!(whole.report().n_iter, 15);
        let first = added(&spec, None, &x[..700 * 32], 3);
        let second = added(&spec, Some(&first), &x[700 * 32..1310 * 32], 2);
        let third = added(&spec, Some(&second), &x[1310 * 32..], 5);
        assert_eq!(third.tensors(), whole.tensors(), "{activation:?}");
        assert_eq!(third.report().diagnostics, whole.report().diagnostics, "{activation:?}");
        // The file of a model has the state of its stream.
        let loaded = Model::from_bytes(&second.to_bytes().unwrap(), "m".as_ref()).unwrap();
        assert_eq!(added(&spec, Some(&loaded), &x[1310 * 32..], 2).tensors(), whole.tensors());
    }
}

#[test]
fn a_stream_may_begin_with_constant_rows() {
    let (x, _) = toy(1000, 1);
    let spec = SparseAutoencoder { n_components: Some(40), ..SparseAutoencoder::default() };
    for value in [0.0, 0.1] {
        let mut all = vec![value; 1100 * 32];
        all.extend(&x);
        let model = added(&spec, None, &all, 2);
        assert_eq!(model.report().n_samples, 2100.0);
        let finite = |name: &str| model.tensor(name).unwrap().f64s().iter().all(|v| v.is_finite());
        assert!(["components", "encoder_weight", "encoder_bias", "mean"].into_iter().all(finite), "{value}");
    }
}

/// No learning rate would help.
#[test]
fn a_stream_of_constant_rows_has_a_warning_with_the_cause() {
    let spec = SparseAutoencoder { n_components: Some(40), ..SparseAutoencoder::default() };
    let model = added(&spec, None, &vec![1.0; 1100 * 32], 2);
    let want = "every unit is dead: the first rows, by which all are centred and scaled, do not vary; begin with rows that vary";
    assert!(crate::made::warned(&model, want), "{:?}", model.report().warnings);
    assert!(!crate::made::warned(&model, "learning_rate"), "{:?}", model.report().warnings);
    // Rows that vary follow: units are active.
    let on = added(&spec, Some(&model), &toy(1000, 1).0, 2);
    assert!(!crate::made::warned(&on, "every unit is dead"), "{:?}", on.report().warnings);
}

/// With a learning rate that hardly moves anything.
#[test]
fn a_stream_continues_from_a_fit() {
    let (x, _) = toy(1500, 1);
    let spec = SparseAutoencoder { n_components: Some(40), max_epochs: 3, ..SparseAutoencoder::default() };
    let fitted = fit(&spec, &x, 32, 0);
    let slow = SparseAutoencoder { learning_rate: unmix::method::sae::LearningRate::Number(1e-9), ..spec };
    let on = added(&slow, Some(&fitted), &x, 2);
    assert_eq!(on.report().n_iter, 5);
    let atoms = |model: &Model| model.tensor("components").unwrap().to_matrix();
    assert!((matched(&on, &atoms(&fitted)) - 1.0).abs() < 1e-9);
    let rows = AnyRows::F64(Rows::from_slice(&x, 32).unwrap());
    assert!(
        unmix::method::continued(
            "sae",
            &Default::default(),
            &Default::default(),
            &fitted,
            &rows,
            &on_threads(1)
        )
        .unwrap()
        .is_none()
    );
    let next =
        unmix::method::continued("sae", &Default::default(), &Default::default(), &on, &rows, &on_threads(1))
            .unwrap();
    assert_eq!(next.unwrap().report().n_samples, 3000.0);
}

#[test]
fn a_time_limit_ends_a_pass_and_the_other_rows_can_be_added() {
    let (x, _) = toy(1500, 1);
    let spec = SparseAutoencoder { n_components: Some(40), batch_size: 100, ..SparseAutoencoder::default() };
    let hurried = unmix::Run { max_seconds: Some(0.0), ..on_threads(2) };
    let cut = spec.partial_fit(None, &Rows::from_slice(&x, 32).unwrap(), &hurried).unwrap();
    assert_eq!((cut.report().outcome, cut.report().n_samples), (unmix::Outcome::Time, 1024.0));
    let on = added(&spec, Some(&cut), &x[1024 * 32..], 2);
    assert_eq!(on.report().outcome, unmix::Outcome::Completed);
    assert_eq!(on.tensors(), added(&spec, None, &x, 1).tensors());
}

#[test]
fn a_stream_that_has_begun_is_not_continued_from_a_table() {
    let (x, _) = toy(1500, 1);
    let spec = SparseAutoencoder { n_components: Some(40), ..SparseAutoencoder::default() };
    let begun = added(&spec, None, &x, 2);
    let atoms = unmix::model::Tensor::new(vec![40, 32], unmix::model::Values::F64(vec![1.0; 40 * 32]));
    let tables = [("dict_init".to_string(), atoms)].into_iter().collect();
    let rows = AnyRows::F64(Rows::from_slice(&x, 32).unwrap());
    let continued =
        unmix::method::continued("sae", &Default::default(), &tables, &begun, &rows, &on_threads(1));
    assert!(continued.unwrap().is_none());
}
