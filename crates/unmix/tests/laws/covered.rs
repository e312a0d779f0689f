//! Every word that a setting may have, and that has an effect, is in a case: each selects a path through a solver, which all laws then
//! follow; so are settings and shapes that only together select one. Published variants are cases of their own, which fewer laws follow.

use super::variants::every_variant;
use super::{Case, every_case};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use unmix::METHODS;

/// Words without a case: method, setting, words, and the reason; an empty list means all words, and "*" all settings.
const WITHOUT_CASE: &[(&str, &str, &[&str], &str)] = &[
    ("stacked-rfn", "*", &[], "its layers are fits of rfn, whose words have cases"),
    ("ica", "fun", &["tanh"], "another name of 'logcosh', under which it is recorded"),
    ("fastica", "whiten_solver", &[], "accepted for compatibility, without effect"),
    (
        "ppca",
        "n_components",
        &["cells"],
        "a checkpoint does not keep fits of held-out cells: tests/held_out.rs",
    ),
    (
        "linear-eigengan",
        "n_components",
        &["cells"],
        "a checkpoint does not keep fits of held-out cells: tests/held_out.rs",
    ),
    (
        "factor-analysis",
        "n_components",
        &["aic", "cells"],
        "a checkpoint does not keep the fits that are compared: tests/held_out.rs, tests/factor/gaps.rs",
    ),
];

/// Whether a case, of which these are all settings, follows a path.
type Follows = fn(&Case, &Map<String, Value>) -> bool;

/// Paths that several settings, or settings and the rows, select together: method, path, and the cases that follow it.
const TOGETHER: &[(&str, &str, Follows)] = &[
    ("ppca", "gaps, standardized", |case, given| case.has_gaps() && given["standardize"] == true),
    ("ppca", "gaps, number by BIC", |case, given| case.has_gaps() && given["n_components"].is_null()),
    ("ppca", "gaps, at least as many columns as rows", |case, _| case.has_gaps() && case.n <= case.p),
    // Above this number of columns the iterations start from random loadings (method/ppca/em.rs).
    ("ppca", "gaps, more than 2048 columns", |case, _| case.has_gaps() && case.p > 2048),
    ("linear-eigengan", "gaps", |case, _| case.has_gaps()),
    ("factor-analysis", "gaps, Newton's method", |case, given| {
        case.has_gaps() && case.n > case.p && given["algorithm"] == "newton"
    }),
    ("factor-analysis", "gaps, EM over the factors", |case, given| {
        case.has_gaps() && given["algorithm"] == "em"
    }),
    ("factor-analysis", "gaps, at least as many columns as rows", |case, _| {
        case.has_gaps() && case.n <= case.p
    }),
    ("factor-analysis", "gaps, orthogonal rotation", |case, given| {
        case.has_gaps() && given["rotation"] == "varimax"
    }),
    ("factor-analysis", "gaps, oblique rotation, standardized", |case, given| {
        case.has_gaps() && given["rotation"] == "oblimin" && given["standardize"] == true
    }),
    ("factor-analysis", "gaps, scores of Bartlett", |case, given| {
        case.has_gaps() && given["scores"] == "bartlett"
    }),
    ("factor-analysis", "gaps, number by BIC", |case, given| {
        case.has_gaps() && given["n_components"] == "bic"
    }),
    ("factor-analysis", "EM, at least as many columns as rows", |case, given| {
        !case.has_gaps() && case.n <= case.p && given["algorithm"] == "em"
    }),
    ("matrix-completion", "variational, as many factors as there are", |case, given| {
        case.has_gaps() && given["algorithm"] == "als" && given["n_components"].is_null()
    }),
    ("matrix-completion", "ridge", |case, given| {
        case.has_gaps() && given["algorithm"] == "als" && given["alpha"].as_f64() > Some(0.0)
    }),
    ("matrix-completion", "no penalty, from singular vectors", |case, given| {
        case.has_gaps() && given["alpha"] == 0.0 && given["n_components"].as_u64() > Some(1)
    }),
    ("matrix-completion", "no penalty, from a spanning tree", |case, given| {
        case.has_gaps() && given["alpha"] == 0.0 && given["n_components"] == 1 && given["offsets"] == false
    }),
    ("matrix-completion", "nuclear norm of given weight", |case, given| {
        case.has_gaps() && given["algorithm"] == "soft-impute" && given["alpha"].is_number()
    }),
    ("matrix-completion", "nuclear norm by held-out cells", |case, given| {
        case.has_gaps() && given["algorithm"] == "soft-impute" && given["alpha"] == "auto"
    }),
    ("robust-pca", "gaps, exact form", |case, given| case.has_gaps() && given["noise"] == 0.0),
    ("robust-pca", "gaps, noise by the data", |case, given| case.has_gaps() && given["noise"] == "auto"),
    ("robust-pca", "gaps, centred and standardized", |case, given| {
        case.has_gaps() && given["center"] == true && given["standardize"] == true
    }),
    // Up to 2000 rows start from sparse subspace clustering (method/subspace_clustering/mod.rs).
    ("subspace-clustering", "mixture, from sparse subspace clustering", |case, given| {
        is_mixture(given) && case.n <= 2000 && given["n_components"].is_number()
    }),
    ("subspace-clustering", "mixture, from k-subspaces", |case, given| {
        is_mixture(given) && case.n > 2000 && given["n_components"].is_number()
    }),
    ("subspace-clustering", "mixture with means, numbers by the data", |_, given| {
        is_mixture(given) && given["center"] == true && given["n_components"].is_null()
    }),
];

/// Whether the settings are those of a mixture, with both the number of clusters and their dimensions given, or neither.
fn is_mixture(given: &Map<String, Value>) -> bool {
    given["algorithm"] == "ppca-mixture" && given["n_clusters"].is_null() == given["n_components"].is_null()
}

/// The strings of a value, which may be a list with one for each layer.
fn words(value: &Value) -> Vec<&str> {
    match value {
        Value::String(word) => vec![word.as_str()],
        Value::Array(list) => list.iter().flat_map(words).collect(),
        _ => Vec::new(),
    }
}

/// Whether the list excepts a word: true by its name, false with all words of its setting.
fn excepted(method: &str, setting: &str, word: &str) -> Option<bool> {
    let of_setting =
        |(key, name, ..): &(&str, &str, &[&str], &str)| *key == method && (*name == "*" || *name == setting);
    WITHOUT_CASE.iter().filter(|entry| of_setting(entry)).find_map(|(_, _, listed, _)| {
        match listed.is_empty() {
            true => Some(false),
            false => listed.contains(&word).then_some(true),
        }
    })
}

#[test]
fn every_word_with_an_effect_is_in_a_case() {
    let cases: Vec<_> = every_case().into_iter().chain(every_variant()).collect();
    let mut found: BTreeSet<(&str, &str, String)> = BTreeSet::new();
    for case in &cases {
        let resolved = case.resolved();
        for setting in case.method.settings.iter().filter(|s| s.is_json() && s.has_effect(&resolved)) {
            let own = words(&resolved[setting.name]).into_iter();
            found.extend(own.map(|word| (case.method.key, setting.name, word.to_string())));
        }
    }
    let keys: BTreeSet<&str> = cases.iter().map(|case| case.method.key).collect();
    let (mut missing, mut listed) = (Vec::new(), Vec::new());
    for method in METHODS.iter().filter(|method| keys.contains(method.key)) {
        for setting in method.settings.iter().filter(|s| s.is_json()) {
            for word in setting.choices() {
                let name = format!("{} {}={word}", method.key, setting.name);
                let has = found.contains(&(method.key, setting.name, (*word).to_string()));
                match excepted(method.key, setting.name, word) {
                    None if !has => missing.push(name),
                    Some(true) if has => listed.push(name),
                    _ => {}
                }
            }
        }
    }
    assert!(missing.is_empty(), "words without a case, to be added in laws/cases/: {missing:?}");
    assert!(listed.is_empty(), "listed as without a case, but there is one: {listed:?}");
}

#[test]
fn exceptions_name_settings_and_words_that_exist() {
    for (key, name, words, _) in WITHOUT_CASE {
        let method = METHODS.iter().find(|m| m.key == *key).unwrap_or_else(|| panic!("no method {key}"));
        if *name == "*" {
            continue;
        }
        let setting = method.settings.iter().find(|s| s.name == *name);
        let choices = setting.unwrap_or_else(|| panic!("{key} has no setting {name}")).choices();
        assert!(words.iter().all(|word| choices.contains(word)), "{key} {name}: {words:?}");
    }
}

#[test]
fn every_path_that_settings_and_rows_select_together_is_in_a_case() {
    let cases = every_case();
    let has_case = |key: &str, follows: &Follows| {
        let own = || cases.iter().filter(|case| case.method.key == key);
        // With `UNMIX_LAWS`, only one method has cases.
        own().next().is_none() || own().any(|case| follows(case, &case.resolved()))
    };
    let missing: Vec<String> = TOGETHER
        .iter()
        .filter(|(key, _, follows)| !has_case(key, follows))
        .map(|(key, path, _)| format!("{key}: {path}"))
        .collect();
    assert!(missing.is_empty(), "paths without a case, to be added in laws/cases/: {missing:?}");
    for (key, ..) in TOGETHER {
        assert!(METHODS.iter().any(|method| method.key == *key), "no method {key}");
    }
}
