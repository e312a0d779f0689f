//! The published variants through the public settings.

use super::recover::{Kind, mixed};
use crate::made::{numbers, settings, try_fit};
use serde_json::json;
use std::collections::BTreeMap;
use unmix::internal::neural::{ActivationFunction, NONLINEAR, Orthogonality, Sigma, Slope, Spec};
use unmix::{Matrix, Model, Outcome};

fn fit(x: &[f64], given: serde_json::Value) -> Model {
    try_fit("sigma-pca", &settings(given), x, 10).unwrap_or_else(|e| panic!("{e}"))
}

/// The smallest cosine between a component and the true axis nearest to it.
fn least(model: &Model, axes: &Matrix<f64>) -> f64 {
    let w = numbers(model, "components");
    let cosine = |row: &[f64], a: usize| row.iter().zip(axes.row(a)).map(|(x, y)| x * y).sum::<f64>().abs();
    w.chunks(10).map(|row| (0..5).map(|a| cosine(row, a)).fold(0.0, f64::max)).fold(1.0, f64::min)
}

#[test]
fn every_published_variant_can_be_requested_by_key_and_by_number() {
    let (x, _) = mixed(Kind::Laplace, 1000, 1.0, 1);
    for (i, row) in NONLINEAR.iter().enumerate() {
        let by = |variant: serde_json::Value| {
            fit(&x, json!({"n_components": 3, "variant": variant, "max_epochs": 1}))
        };
        let (a, b) = (by(json!(row.key)), by(json!(i + 1)));
        assert_eq!(numbers(&a, "components"), numbers(&b, "components"), "{}", row.key);
        let report = a.report();
        // Two passes for the covariance and the final check, and one epoch.
        assert_eq!((report.outcome, report.n_iter, report.sweeps), (Outcome::Completed, 8, 3), "{}", row.key);
        assert_eq!(report.settings["variant"], row.key);
    }
}

#[test]
fn a_published_variant_recovers_sources_of_equal_variance_and_its_literal_form_does_not() {
    let (x, axes) = mixed(Kind::Laplace, 8000, 1.0, 1);
    let on = |given| least(&fit(&x, given), &axes);
    assert!(on(json!({"n_components": 5, "variant": "ema-scaled-tanh"})) > 0.999);
    assert!(on(json!({"n_components": 5, "variant": 9, "tangent": false})) < 0.9);
    assert!(on(json!({"n_components": 5, "variant": "ema-tanh"})) < 0.9);
    // Settings given explicitly override those of the variant.
    assert!(on(json!({"n_components": 5, "variant": "ema-tanh", "a": 4.0})) > 0.999);
    assert!(on(json!({"n_components": 5, "solver": "adam", "sigma": "batch"})) > 0.99);
    assert!(on(json!({"n_components": 5, "solver": "adam", "center": false})) > 0.99);
    let (y, axes) = mixed(Kind::Uniform, 8000, 1.0, 1);
    assert!(least(&fit(&y, json!({"n_components": 5, "variant": 8})), &axes) > 0.98);
}

#[test]
fn settings_that_a_published_variant_excludes_are_refused() {
    let (x, _) = mixed(Kind::Laplace, 100, 1.0, 1);
    for (given, word) in [
        (json!({"variant": "ema-tan"}), "did you mean 'ema-tanh'?"),
        (json!({"variant": 25}), "choose one of"),
        (json!({"variant": 9, "solver": "gpm"}), "'gpm'"),
        (
            json!({"variant": 9, "a": [1.0, 4.0], "n_components": 2}),
            "must be one number for a published variant",
        ),
        (json!({"constraint": "native", "solver": "gpm"}), "only nearly orthogonal"),
        (json!({"variant": 9, "batch_size": 1}), "at least 2"),
        (json!({"variant": 9, "max_epochs": 0}), "at least 1"),
        (json!({"variant": 9, "learning_rate": 0.0}), "learning_rate"),
        (json!({"variant": 14, "beta": -1.0}), "finite and non-negative"),
        (json!({"variant": 3, "sigma_l2": -1.0}), "finite and non-negative"),
        (json!({"variant": "rica", "reconstruct": "nonlinear"}), "the codes themselves"),
        (json!({"reconstruct": "nonlinear", "center": false}), "center=true"),
    ] {
        let text = try_fit("sigma-pca", &settings(given.clone()), &x, 10).unwrap_err().to_string();
        assert!(text.contains(word), "{given}: {text}");
    }
}

/// Where the warning is missing, bits change; where it is given, none does.
#[test]
fn settings_have_an_effect_in_a_variant_unless_a_warning_denies_it() {
    let (x, _) = mixed(Kind::Laplace, 100, 1.0, 1);
    let fit = |variant: &str, more: &[(&str, serde_json::Value)]| {
        let mut given =
            settings(json!({"n_components": 3, "variant": variant, "max_epochs": 2, "batch_size": 50}));
        given.extend(more.iter().map(|(name, value)| ((*name).to_string(), value.clone())));
        try_fit("sigma-pca", &given, &x, 10).unwrap_or_else(|e| panic!("{given:?}: {e}"))
    };
    let mut wrong = Vec::new();
    for row in &NONLINEAR {
        let own = row.spec.unwrap();
        let others = [
            ("beta", json!(0.37)),
            ("beta_scale", json!("absolute")),
            ("sigma_l2", json!(0.7)),
            ("a", json!(2.5)),
            ("h", json!(if own.h == ActivationFunction::HardTanh { "tanh" } else { "hard" })),
            ("deriv", json!(if own.slope == Slope::One { "true" } else { "one" })),
            ("sigma", json!(if own.sigma == Sigma::One { "batch" } else { "one" })),
        ];
        for base in
            [vec![], vec![("sigma", json!("train"))], vec![("h", json!("sign"))], vec![("h", json!("tanh"))]]
        {
            let plain = fit(row.key, &base);
            let others = others.iter().filter(|(name, _)| base.iter().all(|(given, _)| given != name));
            // The slope of the sign is 0, so that no weight moves, whatever the other settings are.
            let others =
                others.filter(|(name, _)| base.iter().all(|(given, _)| *given != "h") || *name == "a");
            for other in others {
                let changed = fit(row.key, &[base.as_slice(), std::slice::from_ref(other)].concat());
                let beginning = format!("{}=", other.0);
                let denies = |w: &String| w.starts_with(&beginning) && w.contains("has no effect here");
                let warned = changed.report().warnings.iter().any(denies);
                let same = plain.tensors().iter().all(|(of, tensor)| changed.tensor(of) == Some(tensor));
                if warned != same {
                    wrong.push(format!("{} {base:?} {other:?}: warned {warned}, same bits {same}", row.key));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Values of a variant that settings have as null, or as 'auto': the setting and the value. The weights of sparsity are not among them: they
/// depend on the rows.
fn values_of(own: &Spec) -> Vec<(&'static str, serde_json::Value)> {
    let mut all = Vec::new();
    if own.reconstructs() {
        all.push(("h", json!(own.h.name())));
        all.push(("deriv", json!(own.slope.name())));
        all.push(("sigma", json!(own.sigma.name())));
        all.push(("a", json!(own.a)));
    }
    if own.sigma == Sigma::Trained {
        all.push(("sigma_l2", json!(own.sigma_l2)));
    }
    let weights = [
        (own.orth != Orthogonality::None, own.beta),
        (own.triangle != 0.0, own.triangle),
        (own.nodiag_sigma != 0.0, own.nodiag_sigma),
    ];
    all.extend(weights.into_iter().filter(|(has, _)| *has).map(|(_, beta)| ("beta", json!(beta))));
    all
}

#[test]
fn null_has_the_same_bits_as_the_value_of_the_variant() {
    let (x, _) = mixed(Kind::Laplace, 100, 1.0, 1);
    // The published weights are in the units of the data.
    let base = json!({"n_components": 3, "max_epochs": 2, "batch_size": 50, "beta_scale": "absolute"});
    let fit = |more: &[(&str, serde_json::Value)]| {
        let mut given = settings(base.clone());
        given.extend(more.iter().map(|(name, value)| ((*name).to_string(), value.clone())));
        try_fit("sigma-pca", &given, &x, 10).unwrap_or_else(|e| panic!("{given:?}: {e}"))
    };
    let mut compared: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &NONLINEAR {
        let variant = ("variant", json!(row.key));
        let plain = fit(std::slice::from_ref(&variant));
        for (name, value) in values_of(&row.spec.unwrap()) {
            let given = fit(&[variant.clone(), (name, value.clone())]);
            for (of, tensor) in plain.tensors() {
                assert_eq!(given.tensor(of), Some(tensor), "{} {name}={value}: {of}", row.key);
            }
            *compared.entry(name).or_default() += 1;
        }
    }
    let expected = [("a", 19), ("beta", 7), ("deriv", 19), ("h", 19), ("sigma", 19), ("sigma_l2", 6)];
    assert_eq!(compared, BTreeMap::from(expected));
}

#[test]
fn the_sign_needs_no_width() {
    let (x, _) = mixed(Kind::Laplace, 100, 1.0, 1);
    let found = |given: serde_json::Value| fit(&x, given);
    let plain = found(json!({"h": "sign", "deriv": "one"}));
    let about =
        |model: &Model| model.report().warnings.iter().any(|w| w.starts_with("a=2.5 has no effect here"));
    assert!(!about(&plain), "{:?}", plain.report().warnings);
    for a in [json!(2.5), json!(1.0)] {
        let wide = found(json!({"h": "sign", "deriv": "one", "a": a}));
        assert!(plain.tensors().iter().all(|(name, tensor)| wide.tensor(name) == Some(tensor)), "{a}");
        assert_eq!(about(&wide), a == json!(2.5), "{:?}", wide.report().warnings);
    }
    let refused = try_fit("sigma-pca", &settings(json!({"h": "steep"})), &x, 10).unwrap_err().to_string();
    assert!(refused.contains("give a number"), "{refused}");
    let widths = settings(json!({"variant": "ema-tanh", "a": vec![1.5; 10]}));
    let refused = try_fit("sigma-pca", &widths, &x, 10).unwrap_err().to_string();
    assert!(refused.starts_with("a must be one number for a published variant, got a list; "), "{refused}");
}

#[test]
fn weights_without_a_variant_give_a_warning() {
    let (x, _) = mixed(Kind::Laplace, 100, 1.0, 1);
    for (name, value) in [("beta", json!(1.0)), ("beta_scale", json!("absolute")), ("sigma_l2", json!(1.0))] {
        let model = fit(&x, json!({name: value}));
        let warnings = &model.report().warnings;
        assert!(
            warnings.iter().any(|w| w.starts_with(name) && w.contains("has no effect here")),
            "{name}: {warnings:?}"
        );
    }
}
