//! Settings that are documented to have no effect with other settings change no bit, and give a warning.

use super::kinds::Examples;
use crate::made::{falling, settings, try_fit};
use serde_json::{Map, Value, json};
use unmix::method::Setting;
use unmix::model::Counted;
use unmix::{METHODS, Method, Model};

const ROWS: usize = 80;
const COLUMNS: usize = 4;

const VALUES: Examples =
    Examples { columns: COLUMNS, integers: &[7.0, 8.0, 0.0], numbers: &[1.25, 1.5, 0.5] };

#[test]
fn a_setting_without_effect_changes_no_bit_and_gives_a_warning() {
    for method in METHODS {
        for setting in method.settings.iter().filter(|s| !s.only.is_empty() && s.is_json()) {
            let mut compared = 0;
            for base in assignments(method, setting).iter().filter(|base| !setting.has_effect(base)) {
                let Some(plain) = fit(method, base) else { continue };
                assert!(!warned(&plain, setting.name), "{} {base:?}", method.key);
                let mut changed = base.clone();
                changed.insert(setting.name.into(), other_value(setting));
                let model =
                    fit(method, &changed).unwrap_or_else(|| panic!("{} {changed:?} is refused", method.key));
                assert!(warned(&model, setting.name), "{} {changed:?}: no warning", method.key);
                for (name, tensor) in plain.tensors() {
                    assert_eq!(
                        Some(tensor),
                        model.tensor(name),
                        "{} {changed:?}: {name} depends on {}",
                        method.key,
                        setting.name
                    );
                }
                compared += 1;
            }
            assert!(compared > 0, "{} {}: no case without an effect", method.key, setting.name);
        }
    }
}

/// Python warns of other values of these arguments: the information for that is in the registry.
#[test]
fn arguments_that_are_accepted_only_list_the_values_that_give_no_warning() {
    let mut found = Vec::new();
    for method in METHODS {
        let registered = method.to_json();
        for (setting, json) in method.settings.iter().zip(registered["settings"].as_array().unwrap()) {
            let has_effect = !setting.python_only || setting.has_effect(&Map::new());
            if setting.python_only {
                assert_eq!(json["has_effect"], has_effect, "{} {}", method.key, setting.name);
            }
            assert!(
                setting.also_accepts.is_empty() || !has_effect,
                "{} {}: only a setting without an effect can be asked for what is done anyway",
                method.key,
                setting.name
            );
            if !has_effect {
                assert_ne!(json["also_accepts"].as_array().unwrap().first(), Some(&setting.default_value()));
                found.push((method.key, setting.name, json["also_accepts"].clone()));
            }
        }
    }
    let expected = [
        ("pca", "copy", json!([false])),
        ("pca", "power_iteration_normalizer", json!(["QR"])),
        ("factor-analysis", "copy", json!([false])),
        ("factor-analysis", "svd_method", json!(["lapack"])),
        ("factor-analysis", "iterated_power", json!([])),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_setting_with_an_effect_gives_no_warning() {
    let cases = [
        ("ica", json!({"algorithm": "fastica", "orthogonalization": "deflation"})),
        ("ica", json!({"ortho": false})),
        ("rica", json!({"batch_size": 20, "max_epochs": 2})),
        ("neural-pca", json!({"solver": "adam", "max_epochs": 2})),
        ("sigma-pca", json!({"variant": "ema-tanh", "max_epochs": 2})),
        ("pca", json!({"svd_solver": "randomized", "n_oversamples": 3, "n_components": 2})),
    ];
    for (key, given) in cases {
        let x = falling(ROWS, COLUMNS, 7);
        let model = try_fit(key, given.as_object().unwrap(), &x, COLUMNS).unwrap();
        let about: Vec<_> = model.report().warnings.iter().filter(|w| w.contains("has no effect")).collect();
        assert!(about.is_empty(), "{key} {given}: {about:?}");
    }
}

/// "auto" chooses an iterative solver, for which `tol` has an effect, for sparse rows only.
#[test]
fn sentences_about_settings_without_effect_quote_strings_and_shorten_tables() {
    let sentence = |key: &str, name: &str, given: Value| {
        let method = METHODS.iter().find(|method| method.key == key).unwrap();
        let setting = method.settings.iter().find(|s| s.name == name).unwrap();
        setting.without_effect(given.as_object().unwrap()).unwrap()
    };
    let said = sentence("neural-pca", "batch_size", json!({"batch_size": 7, "variant": "svd"}));
    let condition = "used only with solver='sgd' or 'adam' if variant is not 'svd'";
    assert_eq!(said, format!("batch_size=7 has no effect here: batch_size is {condition}"));
    let said = sentence("rica", "max_epochs", json!({"max_epochs": 3, "batch_size": null}));
    assert_eq!(said, "max_epochs=3 has no effect here: max_epochs is used only if batch_size is given");
    let said = sentence("ica", "orthogonalization", json!({"orthogonalization": "deflation"}));
    assert!(said.starts_with("orthogonalization='deflation' has no effect here: "), "{said}");
    assert!(said.ends_with("used only with algorithm='fastica'"), "{said}");
    let table = vec![vec![1.5; 16]; 16];
    let said = sentence("ica", "w_init", json!({"w_init": table, "algorithm": "sigma-pca"}));
    assert!(said.len() < 200 && said.ends_with("if algorithm is not 'sigma-pca'"), "{said}");
}

#[test]
fn warnings_of_settings_without_effect_follow_the_solver_that_auto_chose() {
    let x = falling(ROWS, COLUMNS, 7);
    let given = json!({"tol": 0.5});
    let dense = try_fit("pca", given.as_object().unwrap(), &x, COLUMNS).unwrap();
    assert!(warned(&dense, "tol"), "{:?}", dense.report().warnings);
    assert_eq!(dense.report().settings["svd_solver"], "full");
    let method = METHODS.iter().find(|m| m.key == "pca").unwrap();
    let message = |solver: &str| {
        let resolved = json!({"svd_solver": solver});
        unmix::method::without_effect(method.settings, dense.settings(), resolved.as_object().unwrap())
    };
    assert_eq!((message("krylov").len(), message("covariance_eigh").len()), (0, 1));
}

/// Batches, epochs and iterations are distinguished by the settings that have an effect.
#[test]
fn what_a_fit_counts_follows_its_settings() {
    let batches = |more: Value| {
        let mut given = json!({"batch_size": 20, "max_epochs": 3});
        given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        given
    };
    let cases = [
        ("sae", batches(json!({"n_components": 6, "l0": 2})), (Counted::Batches, Counted::Epochs), Some(12)),
        ("dae", batches(json!({"n_components": 3})), (Counted::Batches, Counted::Epochs), Some(12)),
        ("rbm", batches(json!({"n_components": 3})), (Counted::Batches, Counted::Epochs), Some(12)),
        ("neural-pca", batches(json!({"solver": "sgd"})), (Counted::Batches, Counted::Epochs), Some(12)),
        ("neural-pca", json!({"variant": "svd"}), (Counted::Iterations, Counted::Iterations), Some(1)),
        (
            "neural-pca",
            batches(json!({"variant": "svd", "solver": "adam"})),
            (Counted::Iterations, Counted::Iterations),
            Some(1),
        ),
        ("sigma-pca", batches(json!({"variant": "ema-tanh"})), (Counted::Batches, Counted::Epochs), Some(12)),
        ("sigma-pca", json!({}), (Counted::Iterations, Counted::Iterations), None),
        (
            "dictionary",
            batches(json!({"algorithm": "online", "n_components": 3, "alpha": 0.1})),
            (Counted::Batches, Counted::Epochs),
            Some(12),
        ),
        (
            "rfn",
            json!({"e_step": "plain", "batch_size": 20, "max_iter": 3, "tol": null, "n_components": 3}),
            (Counted::Epochs, Counted::Epochs),
            Some(3),
        ),
        (
            "rfn",
            json!({"max_iter": 3, "tol": null, "n_components": 3}),
            (Counted::Iterations, Counted::Iterations),
            Some(3),
        ),
        ("rica", batches(json!({})), (Counted::Batches, Counted::Epochs), Some(12)),
        ("rica", json!({}), (Counted::Iterations, Counted::Iterations), None),
        ("pca", json!({}), (Counted::Iterations, Counted::Iterations), Some(1)),
    ];
    for (key, given, counted, n_iter) in cases {
        let model = try_fit(key, given.as_object().unwrap(), &falling(ROWS, COLUMNS, 7), COLUMNS).unwrap();
        assert_eq!((model.counted(), model.objective_over()), counted, "{key} {given}");
        assert!(
            n_iter.is_none_or(|n| n == model.report().n_iter),
            "{key} {given}: {}",
            model.report().n_iter
        );
    }
    let batches = |method: &&Method| method.settings.iter().any(|s| s.name == "max_epochs");
    for method in METHODS.iter().filter(batches) {
        let given = json!({"solver": "sgd", "algorithm": "online", "max_epochs": 3, "batch_size": 20});
        let counts = method.settings.iter().any(|s| s.counts(given.as_object().unwrap()) == Counted::Batches);
        assert!(counts, "{} does not say that it counts batches", method.key);
    }
}

fn warned(model: &Model, name: &str) -> bool {
    let beginning = format!("{name}=");
    model.report().warnings.iter().any(|w| w.starts_with(&beginning) && w.contains("has no effect here"))
}

fn fit(method: &Method, given: &Map<String, Value>) -> Option<Model> {
    let mut all = match method.key {
        "rfn" => settings(json!({"n_components": 3, "max_iter": 4})),
        _ => Map::new(),
    };
    all.extend(given.clone());
    try_fit(method.key, &all, &falling(ROWS, COLUMNS, 7), COLUMNS).ok()
}

/// All combinations of values of the settings that the conditions of `setting` name.
fn assignments(method: &Method, setting: &Setting) -> Vec<Map<String, Value>> {
    let mut names: Vec<&str> = setting.only.iter().flat_map(|case| case.iter().map(|c| c.0)).collect();
    names.sort_unstable();
    names.dedup();
    // The conditions of a setting that never has an effect name no other setting.
    names.retain(|name| !name.is_empty());
    let mut all = vec![Map::new()];
    for name in names {
        let other =
            method.settings.iter().find(|s| s.name == name).expect("conditions name settings of the method");
        let values = match name {
            "variant" if method.key == "neural-pca" => vec![json!("gha"), json!("svd")],
            "variant" => vec![Value::Null, json!("ema-scaled-tanh"), json!("rica")],
            "rotation" => vec![Value::Null, json!("varimax")],
            "max_epochs" if method.key == "lista" => vec![json!(0), json!(2)],
            "batch_size" => vec![Value::Null, json!(20)],
            "corruption" | "dropout" | "input_noise" => vec![json!(0), json!(0.25)],
            _ => VALUES.of(&other.kind),
        };
        let with = |base: &Map<String, Value>, v: &Value| {
            let mut map = base.clone();
            map.insert(name.into(), v.clone());
            map
        };
        all = all.iter().flat_map(|base| values.iter().map(move |v| with(base, v))).collect();
    }
    all
}

/// A value of the setting other than its default.
fn other_value(setting: &Setting) -> Value {
    let default = setting.default_value();
    let found = VALUES.of(&setting.kind).into_iter().find(|value| !value.is_null() && *value != default);
    found.unwrap_or_else(|| panic!("{}: no other value is known", setting.name))
}
