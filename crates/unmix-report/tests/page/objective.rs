//! Why the objective on the page rises.

use crate::{fit, ica, made, recording, rows, section};
use serde_json::json;
use unmix::{Features, Matrix, Model, Report, Run};
use unmix_report::Options;

/// The section about the fit, with the objective 3, 2, 2.5, 1.5, 1.75, which rises by rounding once more, and another change of the report.
fn shown(fitted: &Model, change: impl Fn(&mut Report)) -> String {
    let (mut report, settings) = (fitted.report().clone(), fitted.settings().clone());
    report.objective = vec![3.0, 2.0, 2.5, 1.5, 1.75, 1.75 + 1e-15];
    change(&mut report);
    let features = fitted.features().clone();
    let model =
        Model::new(fitted.method(), settings, features, fitted.ddof(), fitted.tensors().clone(), report)
            .unwrap();
    section(&made(&model, None, &Options::default()), "fit").to_string()
}

fn fitted(key: &str, x: &Matrix<f64>, settings: serde_json::Value) -> Model {
    let settings = settings.as_object().cloned().unwrap();
    unmix::fit(key, &settings, &mut rows(x, Features::default()), &Run::default()).unwrap()
}

#[test]
fn rises_of_ica_are_changes_of_signs() {
    let model = ica(&recording(3000), 3);
    assert_eq!(model.report().settings["extended"], json!(true));
    let text = shown(&model, |_| ());
    assert!(
        text.contains("<p class=\"caption\">The objective rises in iterations 3 and 5. In these iterations"),
        "{text}"
    );
    assert!(text.contains("super- or sub-Gaussian"));
    // Without estimated signs every step lowers the objective.
    let fixed = shown(&model, |report| {
        report.settings.insert("extended".into(), json!(false));
    });
    assert!(!fixed.contains("The objective rises"));
    let falling = shown(&model, |report| report.objective.truncate(2));
    assert!(!falling.contains("The objective rises"));
    let fastica = fitted("ica", &recording(3000), json!({"n_components": 3, "algorithm": "fastica"}));
    assert!(shown(&fastica, |_| ()).contains("super- or sub-Gaussian"));
}

/// Active and dead units of every epoch of a sparse autoencoder, beside the objective.
#[test]
fn the_training_of_a_sparse_autoencoder_is_drawn_by_epoch() {
    let x = recording(500);
    let fit_of = |epochs: u64| {
        let settings = json!({"n_components": 24, "activation": "relu", "l0": 3, "batch_size": 100, "max_epochs": epochs});
        fitted("sae", &x, settings)
    };
    let model = fit_of(4);
    let html = made(&model, None, &Options::default());
    let shown = section(&html, "fit");
    for words in [
        "active units per row in each epoch",
        "dead units at the end of each epoch",
        "active units per row over 4 epochs, from ",
        "dead units over 4 epochs, from ",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    // One epoch is no curve, and other methods have none.
    let html = made(&fit_of(1), None, &Options::default());
    assert!(!section(&html, "fit").contains("each epoch"));
    let dae = fitted("dae", &x, json!({"n_components": 4, "max_epochs": 4}));
    assert!(!section(&made(&dae, None, &Options::default()), "fit").contains("each epoch"));
}

#[test]
fn increases_of_other_solvers_have_other_reasons() {
    let x = recording(500);
    let fastica = fitted("fastica", &x, json!({"n_components": 3}));
    assert!(shown(&fastica, |_| ()).contains(
        "The objective rises in iterations 3 and 5. FastICA takes its fixed-point steps without a check"
    ));
    let online = fitted("dictionary", &x, json!({"n_components": 6, "max_epochs": 5, "batch_size": 100}));
    assert!(shown(&online, |_| ()).contains(
        "The objective rises in epochs 3 and 5. Each step is computed from a mini-batch, not from all rows"
    ));
    let ksvd = fitted(
        "dictionary",
        &x,
        json!({"n_components": 4, "algorithm": "ksvd", "n_nonzero_coefs": 1, "max_iter": 3, "coder": "omp"}),
    );
    assert!(shown(&ksvd, |_| ()).contains("rises in iterations 3 and 5. K-SVD computes the codes"));
    // There is no sentence about unknown solvers.
    let pca = fit(&mut rows(&x, Features::default()), 2);
    assert!(!shown(&pca, |_| ()).contains("The objective rises"));
}
