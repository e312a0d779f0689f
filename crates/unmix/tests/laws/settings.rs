//! Values that settings may have are declared once, in the methods' lists; settings by name and typed specifications are both validated
//! against them.

use super::kinds::outside;
use crate::made::{falling, settings};
use serde_json::json;
use unmix::method::{FastIca, Ica, NeuralPca, Pca, Rica, Setting, SigmaPca};
use unmix::method::{fastica::FastIcaWhitening, ica::Whitening, rica::Beta, sigma_pca::Widths};
use unmix::{Error, METHODS, Rows, Run};

fn listed(method: &unmix::Method) -> impl Iterator<Item = &'static Setting> {
    method.settings.iter().filter(|s| s.is_json())
}

#[test]
fn defaults_are_valid_and_values_of_no_kind_are_refused_by_name() {
    for method in METHODS {
        assert!((method.spec)(&settings(json!({}))).is_ok(), "{}", method.key);
        for setting in listed(method) {
            for value in [json!([["a"]]), json!({"a": "b"}), json!("no such word")] {
                let message = (method.spec)(&settings(json!({setting.name: value}))).err().unwrap();
                let right = matches!(&message, Error::Setting { name, .. } if name == setting.name);
                assert!(right, "{} {}: {message}", method.key, setting.name);
            }
        }
    }
}

/// The range of `n_components` depends on the rows and is tested in `laws/bad.rs`.
#[test]
fn numbers_outside_their_range_are_refused_with_the_range() {
    for method in METHODS {
        for setting in listed(method).filter(|s| s.name != "n_components") {
            for value in outside(&setting.kind) {
                let message = (method.spec)(&settings(json!({setting.name: value}))).err();
                let message =
                    message.unwrap_or_else(|| panic!("{} {}={value}", method.key, setting.name)).to_string();
                let must = format!("{} must ", setting.name);
                let got = format!(", got {value}");
                assert!(message.starts_with(&must) && message.contains(&got), "{}: {message}", method.key);
            }
        }
    }
}

#[test]
fn typed_specifications_are_validated_by_the_same_kinds() {
    let x = falling(40, 4, 1);
    let message = |fit: &dyn Fn(&mut Rows<'_, f64>) -> unmix::Result<unmix::Model>| {
        fit(&mut Rows::from_slice(&x, 4).unwrap()).err().map(|e| e.to_string()).unwrap_or_default()
    };
    let run = &Run::default();
    let number = |got: &str| format!("must be finite and non-negative, got {got}; choose a number such as");
    let cases: Vec<(String, String)> = vec![
        (
            message(&|r| Pca { tol: -1.0, ..Pca::default() }.fit(r, run)),
            format!("tol {} 1e-6", number("-1.0")),
        ),
        (
            message(&|r| Pca { tol: f64::NAN, ..Pca::default() }.fit(r, run)),
            format!("tol {} 1e-6", number("NaN")),
        ),
        (
            message(&|r| Ica { n_init: 0, ..Ica::default() }.fit(r, run)),
            "n_init must be at least 1, got 0".into(),
        ),
        (
            message(&|r| Ica { tol: Some(f64::NAN), ..Ica::default() }.fit(r, run)),
            format!("tol {} 1e-6, or null", number("NaN")),
        ),
        (
            message(&|r| Ica { whiten: Whitening::Not(true), ..Ica::default() }.fit(r, run)),
            "whiten must be false, or 'unit-variance', got true".into(),
        ),
        (
            message(&|r| FastIca { whiten: FastIcaWhitening::Not(true), ..FastIca::default() }.fit(r, run)),
            "whiten must be false, or one of unit-variance, arbitrary-variance, got true".into(),
        ),
        (
            message(&|r| {
                FastIca { w_init: Some(vec![vec![f64::INFINITY; 4]; 4]), ..FastIca::default() }.fit(r, run)
            }),
            "w_init must contain finite numbers only, got inf".into(),
        ),
        (
            message(&|r| Ica { w_init: Some(vec![vec![1.0; 4]; 4]), ..Ica::default() }.fit(r, run)),
            "w_init must be invertible, got a 4 x 4 matrix of rank 1".into(),
        ),
        (
            message(&|r| Rica { beta: Beta::Weight(f64::NAN), ..Rica::default() }.fit(r, run)),
            format!("{} 0.2, or 'auto'", number("NaN")),
        ),
        (
            message(&|r| Rica { max_epochs: 0, ..Rica::default() }.fit(r, run)),
            "max_epochs must be at least 1, got 0".into(),
        ),
        (
            message(&|r| NeuralPca { batch_size: 1, ..NeuralPca::default() }.fit(r, run)),
            "batch_size must be at least 2, got 1".into(),
        ),
        (
            message(&|r| NeuralPca { variant: "gah".into(), ..NeuralPca::default() }.fit(r, run)),
            "did you mean 'gha'? choose one of: ".into(),
        ),
        (
            message(&|r| SigmaPca { a: Widths::Each(vec![1.0, 0.0]), ..SigmaPca::default() }.fit(r, run)),
            "a must all be finite and positive, got [1.0,0.0]".into(),
        ),
        (
            message(&|r| SigmaPca { batch_size: Some(1), ..SigmaPca::default() }.fit(r, run)),
            "batch_size must be at least 2, got 1; choose an integer of at least 2, or null".into(),
        ),
    ];
    for (message, must) in cases {
        assert!(message.contains(&must), "{message:?} does not contain {must:?}");
    }
}

#[test]
fn messages_name_all_that_is_possible() {
    for (key, given, message) in [
        ("pca", json!({"tol": "small"}), "tol must be a number, got 'small'"),
        (
            "pca",
            json!({"whiten": "zac"}),
            "whiten must be true, false, or 'zca', got 'zac'; did you mean 'zca'?",
        ),
        ("ica", json!({"first_layer": "fool"}), "first_layer must be one of pca, sigma-pca, got 'fool'"),
        ("pca", json!({"center": 1}), "center must be true or false, got 1"),
        ("ica", json!({"n_components": "bic"}), "or null, got 'bic'; rules are available in pca only"),
        (
            "sigma-pca",
            json!({"variant": 25}),
            "variant must be from 1 to 24, got 25; choose one of: conventional, ",
        ),
        (
            "sigma-pca",
            json!({"variant": []}),
            "variant must be an integer from 1 to 24, one of its choices, or null, got []; choose one of: conventional",
        ),
        (
            "sigma-pca",
            json!({"a": "wide"}),
            "a must be a number, a list of one number for each component, or 'auto', got 'wide'",
        ),
        ("fastica", json!({"fun_args": {"alpha": 3}}), "alpha must be in [1,2]"),
        ("rica", json!({"w_init": vec![vec!["a"; 30]; 30]}), "\"a\",\"a..."),
    ] {
        let method = unmix::method::find(key).unwrap();
        let found = (method.spec)(&settings(given.clone())).err().unwrap().to_string();
        assert!(found.contains(message), "{given}: {found}");
    }
    // A remedy that only repeats the requirement is left out.
    let method = unmix::method::find("neural-pca").unwrap();
    let found = (method.spec)(&settings(json!({"batch_size": 1}))).err().unwrap().to_string();
    assert_eq!(found, "batch_size must be at least 2, got 1");
}
