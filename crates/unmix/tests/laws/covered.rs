//! Every word that a setting may have, and that has an effect, is in a case: each selects a path through a solver, which all laws then
//! follow. Published variants are cases of their own, which fewer laws follow.

use super::every_case;
use super::variants::every_variant;
use serde_json::Value;
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
