//! Input that is refused, and warnings.

use super::*;
use serde_json::json;
use unmix::method::sae::{Activation, L0, LearningRate};

fn refused(spec: &SparseAutoencoder, x: &[f64], p: usize) -> String {
    let mut rows = Rows::from_slice(x, p).unwrap();
    spec.fit(&mut rows, &Run::default()).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn settings_that_exclude_each_other_are_refused() {
    let (x, _) = toy(60, 1);
    let plain = SparseAutoencoder::default;
    let spec = SparseAutoencoder { n_components: Some(10), l0: L0::Number(11), ..plain() };
    let message = refused(&spec, &x, 32);
    assert!(message.contains("l0 must be at most n_components, which is 10, got 11"), "{message}");
    let atoms = Matrix::from_fn(3, 5, |i, j| (i + j) as f64);
    let message = refused(&SparseAutoencoder { dict_init: Some(atoms), ..plain() }, &x, 32);
    assert!(message.contains("dict_init") && message.contains("the rows have 32 columns"), "{message}");
    let mut atoms = Matrix::from_fn(3, 32, |i, j| (i + j) as f64);
    atoms.row_mut(1).fill(0.0);
    let message = refused(&SparseAutoencoder { dict_init: Some(atoms), ..plain() }, &x, 32);
    assert!(message.contains("atom 1 is 0"), "{message}");
}

/// A weight that is ignored would be taken for what determines the number of active units.
#[test]
fn a_weight_without_a_penalty_is_refused_with_what_would_work() {
    let (x, _) = toy(60, 1);
    for (activation, name) in [(Activation::Topk, "topk"), (Activation::BatchTopk, "batch-topk")] {
        let spec = SparseAutoencoder { activation, alpha: Some(0.1), max_epochs: 1, ..Default::default() };
        let want = format!(
            "alpha=0.1 is not possible: activation='{name}' has no penalty, whose weight alpha is; set l0, the number of active units per row, \
             in its place, or choose activation='relu', 'gated' or 'jumprelu'"
        );
        assert_eq!(refused(&spec, &x, 32), want);
        let batch = Rows::from_slice(&x, 32).unwrap();
        let e = spec.partial_fit(None, &batch, &Run::default()).map(|_| ()).unwrap_err();
        assert_eq!(e.to_string(), want);
    }
    // Each of the three that have a penalty takes the weight.
    for activation in [Activation::Relu, Activation::Gated, Activation::Jumprelu] {
        let spec = SparseAutoencoder { activation, alpha: Some(0.1), max_epochs: 1, ..Default::default() };
        assert!(spec.fit(&mut Rows::from_slice(&x, 32).unwrap(), &Run::default()).is_ok(), "{activation:?}");
    }
}

/// The files of versions that ignored the weight have it among their settings.
#[test]
fn models_of_versions_that_ignored_the_weight_are_read() {
    let (x, _) = toy(60, 1);
    let model = fit(&SparseAutoencoder { max_epochs: 1, ..Default::default() }, &x, 32, 0);
    let mut old = model.settings().clone();
    old.insert("alpha".into(), json!(0.1));
    let method = unmix::method::find("sae").unwrap();
    assert!((method.code)(&old, model.tensors()).is_ok());
}

#[test]
fn a_loss_that_diverges_is_refused_with_the_epoch_and_a_remedy() {
    let (x, _) = toy(300, 1);
    let spec = SparseAutoencoder { learning_rate: LearningRate::Number(1e5), ..Default::default() };
    let message = refused(&spec, &x, 32);
    assert!(
        message.contains("learning_rate")
            && message.contains("in epoch 1")
            && message.contains("smaller value"),
        "{message}"
    );
}

#[test]
fn a_penalty_under_which_every_unit_is_dead_gives_a_warning() {
    let (x, _) = toy(300, 1);
    let spec = SparseAutoencoder {
        activation: Activation::Relu,
        alpha: Some(1e4),
        dead_unit: unmix::method::sae::DeadUnit::Keep,
        learning_rate: LearningRate::Number(0.05),
        max_epochs: 60,
        ..Default::default()
    };
    let model = fit(&spec, &x, 32, 0);
    let all = "every unit is dead: all codes are 0, and every row is reconstructed as the mean; choose a lower alpha";
    assert!(crate::made::warned(&model, all), "{:?}", model.report().warnings);
}

/// New rows are encoded by a threshold from the batches of the last epoch, in which the parameters may still change.
#[test]
fn a_number_of_active_units_that_differs_from_the_request_gives_a_warning() {
    let (x, _) = toy(600, 1);
    for (activation, max_epochs, differs) in [
        (Activation::BatchTopk, 1, true),
        (Activation::BatchTopk, 5, false),
        // At most so many by definition.
        (Activation::Topk, 1, false),
    ] {
        let spec = SparseAutoencoder {
            n_components: Some(128),
            activation,
            l0: L0::Number(4),
            learning_rate: LearningRate::Number(0.03),
            batch_size: 64,
            max_epochs,
            ..Default::default()
        };
        let model = fit(&spec, &x, 32, 0);
        let reached = super::diagnostic(&model, "l0");
        let warnings = &model.report().warnings;
        let said =
            format!("{reached:.1} units are active per row, but l0=4 was requested; choose more epochs");
        assert_eq!(crate::made::warned(&model, &said), differs, "{activation:?} {reached}: {warnings:?}");
        assert!(
            activation == Activation::Topk || ((reached / 4.0 - 1.0).abs() > 0.25) == differs,
            "{reached}"
        );
        assert!(!crate::made::warned(&model, "set alpha"), "{warnings:?}");
    }
}

#[test]
fn codes_that_reconstruct_rows_worse_than_their_mean_give_a_warning() {
    let (x, _) = toy(300, 1);
    // Hardly trained, and many active units.
    let spec = SparseAutoencoder {
        n_components: Some(1024),
        l0: L0::Number(256),
        activation: Activation::Topk,
        learning_rate: LearningRate::Number(1e-9),
        max_epochs: 1,
        ..Default::default()
    };
    let message = "the mean of the rows reconstructs them as well as the codes do, or better";
    let model = fit(&spec, &x, 32, 0);
    assert!(super::diagnostic(&model, "fvu") >= 1.0 && crate::made::warned(&model, message));
    let spec = SparseAutoencoder { n_components: Some(64), l0: L0::Number(4), ..Default::default() };
    let model = fit(&spec, &x, 32, 0);
    assert!(super::diagnostic(&model, "fvu") < 1.0 && !crate::made::warned(&model, message));
}

#[test]
fn rows_that_do_not_vary_one_row_and_gaps_are_refused() {
    let spec = SparseAutoencoder::default();
    let constant = spec.fit(&mut Rows::from_slice(&[3.0; 80], 4).unwrap(), &Run::default());
    assert!(matches!(constant, Err(unmix::Error::NoVariance { .. })));
    let message = refused(&spec, &[1.0, 2.0, 3.0], 3);
    assert!(message.contains("sae needs at least 2 rows, but the array has 1"), "{message}");
    let mut x = toy(60, 1).0;
    x[70] = f64::NAN;
    let message = refused(&spec, &x, 32);
    assert!(message.contains("row 2") && message.contains("column 6"), "{message}");
}

#[test]
fn codes_of_another_width_are_refused() {
    let (x, _) = toy(60, 1);
    let model = fit(&SparseAutoencoder { max_epochs: 1, ..Default::default() }, &x, 32, 0);
    let codes = vec![0.0; 2 * 17];
    let rows = Rows::from_slice(&codes, 17).unwrap();
    let mut sink = unmix::data::VecSink(Vec::new());
    let message = model.decode(&rows, &Run::default(), &mut sink).unwrap_err().to_string();
    assert!(message.contains("17") && message.contains("128"), "{message}");
    let settings = json!({"l0": 0});
    let message = SparseAutoencoder::from_settings(settings.as_object().unwrap()).unwrap_err().to_string();
    assert!(message.contains("l0") && message.contains("got 0"), "{message}");
}
