//! Under every word of every other setting, another value of a setting changes bits of the model or gives a warning; it is refused in the
//! cases of [`REFUSED`] only, each for its reason.
//!
//! The other law, of conditions that settings declare, finds no setting whose condition is missing; this one does.

use super::kinds::Examples;
use crate::made::{on_threads, settings, try_fit};
use serde_json::{Map, Value, json};
use unmix::internal::num::random::Stream;
use unmix::method::Setting;
use unmix::{Error, METHODS, Method, Model, Result, Rows};

const ROWS: usize = 80;
const COLUMNS: usize = 4;

/// Small and large values.
const VALUES: Examples =
    Examples { columns: COLUMNS, integers: &[0.0, 1.0, 7.0], numbers: &[0.5, 1.25, 0.01, 3.0, 30.0] };

/// Without `UNMIX_TESTS=all`, one of this many combinations is fitted, and the first of every method.
const SAMPLE: usize = 12;

/// Settings that cannot show on these rows: method, setting, and the beginning of the words under which ("name=word"); "*" for any.
const SKIPPED: &[(&str, &str, &str, &str)] = &[
    ("*", "n_init", "*", "the first start may be the best"),
    ("dictionary", "dead_unit", "*", "no atom stays unused for an epoch"),
    ("dictionary", "atom_norm", "*", "atoms in use have norm 1 in both cases"),
    ("sae", "dead_unit", "*", "no unit is dead after two epochs"),
    ("rfn", "dead_unit", "*", "no unit is 0 in every row"),
    ("stacked-rfn", "dead_unit", "*", "no unit is 0 in every row"),
    ("rfn", "accept", "*", "the first step that is tried may satisfy both criteria"),
    ("lista", "monotone", "*", "no step raises the objective"),
    ("lista", "support_selection", "*", "a tenth of six atoms is less than one"),
    ("sigma-pca", "order", "*", "components may be found in the order of their variances"),
    ("ica", "subsample", "*", "so few rows are not divided"),
    ("subspace-clustering", "alpha", "*", "other affinities may give the same clusters"),
    (
        "factor-analysis",
        "rotation",
        "n_components=",
        "a rule may find a single factor, which has no rotation",
    ),
    ("factor-analysis", "scores", "n_components=", "a rule may find no factor"),
    ("linear-eigengan", "groups", "n_components=", "a rule may find a single component"),
    ("pca", "tol", "svd_solver=", "the first block of directions spans all columns"),
    ("pca", "n_oversamples", "svd_solver=", "the first block of directions spans all columns"),
    ("pca", "iterated_power", "svd_solver=power", "the first block of directions spans all columns"),
];

/// Combinations that contradict each other, rather than being without effect: method, setting, the beginning of the words under which, part
/// of the message, and the reason; "*" for any.
const REFUSED: &[(&str, &str, &str, &str, &str)] = &[
    (
        "pca",
        "center",
        "n_components=parallel",
        "parallel analysis permutes columns",
        "the rule needs centred rows",
    ),
    (
        "linear-eigengan",
        "groups",
        "n_components=cells",
        "blocks of equal variances are fitted in closed form only",
        "the rule hides cells, and groups need all of them",
    ),
    (
        "sigma-pca",
        "reconstruct",
        "variant=",
        "reconstructs rows from the codes themselves",
        "no nonlinearity to decode with",
    ),
    ("sigma-pca", "h", "h=", "only the width of h='tanh'", "a must be a number with other nonlinearities"),
    (
        "sigma-pca",
        "deriv",
        "*",
        "only the width of h='tanh' with deriv='true'",
        "a must be a number with another derivative",
    ),
    (
        "sigma-pca",
        "center",
        "constraint=native",
        "defined for centred rows",
        "the fixed point needs centred rows",
    ),
    (
        "sigma-pca",
        "center",
        "reconstruct=nonlinear",
        "defined for centred rows",
        "the reconstruction needs centred rows",
    ),
    (
        "sigma-pca",
        "variant",
        "solver=gpm",
        "not of a published variant",
        "the solver finds another fixed point",
    ),
    (
        "sigma-pca",
        "constraint",
        "solver=gpm",
        "keeps columns orthonormal",
        "the solver has only one constraint",
    ),
    ("ica", "whiten", "algorithm=sigma-pca", "the first layer", "that layer whitens"),
    ("ica", "ortho", "fun=", "must be a log-density", "a likelihood needs a density"),
    (
        "matrix-completion",
        "offsets",
        "algorithm=ppca-em",
        "estimates the mean of every column",
        "means are part of the model",
    ),
    (
        "rfn",
        "e_step",
        "normalize=std",
        "is not a projection",
        "the mode guarantees an objective that never falls",
    ),
    ("rfn", "e_step", "dead_unit=zero", "cannot be normalised", "the mode normalises every unit"),
    ("rfn", "batch_size", "e_step=c", "leave batch_size out", "a step on a batch can decrease the objective"),
    ("rfn", "dropout", "e_step=c", "leave dropout out", "random codes can decrease the objective"),
    ("rfn", "input_noise", "e_step=c", "leave input_noise out", "random rows can decrease the objective"),
    (
        "stacked-rfn",
        "e_step",
        "*",
        "must be 'plain' in every layer",
        "layers of a network compute plain codes",
    ),
    ("sae", "alpha", "*", "has no penalty", "the activation sets the number of active units"),
    ("stacked-rfn", "l1", "normalize=none", "are 0 in every row", "the penalty is too large for these rows"),
];

/// Settings of which an effect shows only before convergence.
const UNTIL_CONVERGED: [&str; 2] = ["max_iter", "tol"];

#[test]
fn every_setting_changes_the_model_or_gives_a_warning_under_every_word_of_the_others() {
    let all = crate::scope::all();
    let x = &rows()[..];
    let found: Vec<Vec<String>> = std::thread::scope(|scope| {
        let started: Vec<_> =
            METHODS.iter().map(|method| scope.spawn(move || of_method(method, all, x))).collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let wrong: Vec<String> = found.concat();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// The settings of a method that show in no way, each with the words under which they do not, and those that are refused and not listed.
fn of_method(method: &Method, all: bool, x: &[f64]) -> Vec<String> {
    let bases = bases(method);
    let chosen = bases.iter().enumerate().filter(|(i, _)| all || i % SAMPLE == 0);
    let (mut wrong, mut fitted) = (Vec::new(), 0);
    for (_, (under, base)) in chosen {
        let plain = match try_fit(method.key, base, x, COLUMNS) {
            Ok(plain) => plain,
            Err(refusal) => {
                let word = under.split('=').next().unwrap_or_default();
                wrong.extend(unlisted(method, word, under, &refusal));
                continue;
            }
        };
        fitted += 1;
        let before = shown(&plain, x);
        let varied =
            method.settings.iter().filter(|s| s.is_json() && !under.starts_with(&format!("{}=", s.name)));
        for setting in varied.filter(|s| !is_skipped(method, s, under, &plain)) {
            match shows(method, setting, base, &before, x) {
                Ok(true) => {}
                Ok(false) => wrong.push(format!(
                    "{} {} under {under}: changes no bit and gives no warning",
                    method.key, setting.name
                )),
                Err(refusal) => wrong.extend(unlisted(method, setting.name, under, &refusal)),
            }
        }
    }
    assert!(fitted > 0, "{}: no fit", method.key);
    wrong
}

/// Whether an entry of a table is this name, or matches any.
fn is_or_any(pattern: &str, name: &str) -> bool {
    pattern == "*" || pattern == name
}

/// A refusal that [`REFUSED`] does not list, in words.
fn unlisted(method: &Method, setting: &str, under: &str, refusal: &Error) -> Option<String> {
    let message = refusal.to_string();
    let listed = REFUSED.iter().any(|(key, name, words, part, _)| {
        is_or_any(key, method.key)
            && is_or_any(name, setting)
            && (*words == "*" || under.starts_with(*words))
            && message.contains(part)
    });
    (!listed).then(|| format!("{} {setting} under {under}: refused: {message}", method.key))
}

/// Whether some other value of the setting shows; also if no other value is known, as of a function. The error is that of the last value, if
/// some are refused and the others do not show.
fn shows(
    method: &Method,
    setting: &Setting,
    base: &Map<String, Value>,
    before: &(Vec<u64>, String),
    x: &[f64],
) -> Result<bool> {
    let now = base.get(setting.name).cloned().unwrap_or_else(|| setting.default_value());
    let others: Vec<Value> = VALUES.of(&setting.kind).into_iter().filter(|value| *value != now).collect();
    let beginning = format!("{}=", setting.name);
    let mut refused = None;
    for other in &others {
        let mut changed = base.clone();
        changed.insert(setting.name.into(), other.clone());
        match try_fit(method.key, &changed, x, COLUMNS) {
            Err(refusal) => refused = Some(refusal),
            Ok(model) => {
                let warns = |w: &String| w.starts_with(&beginning) && w.contains("no effect");
                if model.report().warnings.iter().any(warns) || shown(&model, x) != *before {
                    return Ok(true);
                }
            }
        }
    }
    refused.map_or(Ok(others.is_empty()), Err)
}

fn is_skipped(method: &Method, setting: &Setting, under: &str, plain: &Model) -> bool {
    let listed = SKIPPED.iter().any(|(key, name, words, _)| {
        is_or_any(key, method.key)
            && is_or_any(name, setting.name)
            && (*words == "*" || under.starts_with(*words))
    });
    listed || (UNTIL_CONVERGED.contains(&setting.name) && plain.report().outcome.is_success())
}

/// The settings with which a method is fitted, by the word under which the others are varied: few components and iterations, and each word
/// of each setting in turn.
fn bases(method: &Method) -> Vec<(String, Map<String, Value>)> {
    let small = small(method.key);
    let mut all = Vec::new();
    for setting in method.settings.iter().filter(|s| s.is_json()) {
        for word in setting.choices() {
            let mut base = small.clone();
            base.insert(setting.name.into(), json!(word));
            all.push((format!("{}={word}", setting.name), base));
        }
    }
    if all.is_empty() {
        all.push(("the defaults".into(), small));
    }
    all
}

/// So few components and iterations that fits are quick, and not converged where they iterate.
fn small(key: &str) -> Map<String, Value> {
    settings(match key {
        "pca" | "ppca" | "linear-eigengan" | "factor-analysis" => json!({"n_components": 2}),
        "neural-pca" => json!({"n_components": 2, "max_iter": 50, "max_epochs": 2}),
        "sigma-pca" => json!({"n_components": 2, "max_iter": 20, "max_epochs": 2}),
        "ica" | "fastica" => json!({"max_iter": 20}),
        "rica" => json!({"max_iter": 10, "max_epochs": 2}),
        "matrix-completion" => json!({"n_components": 1, "max_iter": 5}),
        "lista" => json!({"n_layers": 2, "max_epochs": 2}),
        "dictionary" => json!({"n_components": 3, "max_epochs": 2, "max_iter": 12}),
        "subspace-clustering" => json!({"n_clusters": 2, "n_components": 2}),
        "complete-dictionary" => json!({"max_iter": 100}),
        // The bound on the noise variances is active for some columns.
        "rfn" => json!({"n_components": 3, "max_iter": 4, "psi_min": 0.5}),
        "stacked-rfn" => json!({"n_components": [3, 2], "max_iter": 3, "psi_min": 0.5}),
        "sae" => json!({"n_components": 6, "l0": 2, "max_epochs": 2}),
        "dae" | "rbm" => json!({"n_components": 3, "max_epochs": 2}),
        _ => json!({}),
    })
}

/// Mixtures of two Laplace and two uniform sources, with means.
fn rows() -> Vec<f64> {
    let (sources, mixing) = (Stream::new(3, 0), Stream::new(3, 1));
    let source = |i: usize, c: usize| {
        let at = (i * COLUMNS + c) as u64;
        (4.0 - c as f64)
            * if c.is_multiple_of(2) { sources.laplace(at) } else { 3.0 * (sources.uniform(at) - 0.5) }
    };
    let entry = |at: usize| {
        let (i, j) = (at / COLUMNS, at % COLUMNS);
        let mixed: f64 = (0..COLUMNS).map(|c| source(i, c) * mixing.normal((c * COLUMNS + j) as u64)).sum();
        mixed + j as f64 - 2.0
    };
    (0..ROWS * COLUMNS).map(entry).collect()
}

/// All that a fit shows besides its settings and warnings, as bits and as text: parameters, codes, decoded rows, and the report.
fn shown(model: &Model, x: &[f64]) -> (Vec<u64>, String) {
    let run = on_threads(1);
    let mut numbers: Vec<f64> = model.tensors().values().flat_map(|tensor| tensor.f64s()).collect();
    if let Ok(codes) = model.encode_to_vec(&Rows::from_slice(x, COLUMNS).unwrap(), &run) {
        let decoded =
            Rows::from_slice(&codes, model.n_codes()).and_then(|rows| model.decode_to_vec(&rows, &run));
        numbers.extend(decoded.unwrap_or_default());
        numbers.extend(codes);
    }
    let mut report = serde_json::to_value(model.report()).unwrap();
    let parts = report.as_object_mut().unwrap();
    ["settings", "warnings", "tol"].iter().for_each(|name| drop(parts.remove(*name)));
    let names: Vec<&str> = model.tensors().keys().map(String::as_str).collect();
    (numbers.into_iter().map(f64::to_bits).collect(), format!("{names:?} {report}"))
}
