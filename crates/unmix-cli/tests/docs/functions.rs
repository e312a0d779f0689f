//! Functions of the Python package that have the settings of a method as parameters, or defaults of the library: these are written from the
//! registry and from the library.

use super::python::{Parameter, parameters};
use super::wording::filled;
use std::fmt::Write;
use std::ops::Bound;
use unmix::biclusters::Refits;
use unmix::impute::ImputeOptions;
use unmix::method::Method;
use unmix::method::sae::DEFAULT_TOP_ROWS;
use unmix::model::{DEFAULT_ALPHAS, Kind};
use unmix::stability::Trials;

/// A function that fits a class: the key of its method, the file, its name, and the first of its own parameters, which follow the settings.
const FITS: [[&str; 4]; 1] = [["fastica", "_fastica.py", "fastica", "return_X_mean"]];

/// Defaults of functions and methods: the file, the function, the parameter, and the default of the library.
fn defaults() -> [(&'static str, &'static str, &'static str, usize); 7] {
    let (refits, trials) = (Refits::default(), Trials::default());
    [
        ("_biclusters.py", "biclusters", "n_starts", refits.starts),
        ("_biclusters.py", "biclusters", "n_permutations", refits.permutations),
        ("_stability.py", "stability", "splits", trials.splits),
        ("_stability.py", "stability", "restarts", trials.restarts),
        ("_gaps.py", "impute", "bootstrap", ImputeOptions::default().bootstrap),
        ("sparse.py", "path", "n_alphas", DEFAULT_ALPHAS),
        ("autoencoder.py", "top_rows", "n", DEFAULT_TOP_ROWS),
    ]
}

/// The text of a file of the package, in which such functions have the parameters and the defaults of the library.
pub(crate) fn written(path: &str, text: &str, methods: &[Method]) -> String {
    let mut out = text.to_string();
    for [key, file, function, own] in FITS {
        if path.ends_with(&format!("/{file}")) {
            let method = methods.iter().find(|method| method.key == key).unwrap();
            out = fitted(&out, method, function, own);
        }
    }
    for (file, function, parameter, default) in defaults() {
        if path.ends_with(&format!("/{file}")) {
            out = with_default(&out, function, parameter, &default.to_string());
        }
    }
    out
}

/// A text between two others, of which the first is searched for after the position `from`, replaced.
fn between(text: &str, from: usize, (begin, end): (&str, &str), new: &str) -> String {
    let found = text[from..].find(begin).map(|at| from + at + begin.len());
    let range = found.and_then(|start| Some((start, start + text[start..].find(end)?)));
    let (start, stop) = range.unwrap_or_else(|| panic!("no text from {begin:?} to {end:?}"));
    format!("{}{new}{}", &text[..start], &text[stop..])
}

/// A function that fits a class, with its settings in the signature, in the docstring and in the call of the class.
fn fitted(text: &str, method: &Method, function: &str, own: &str) -> String {
    let all = parameters(method);
    let count = all.iter().position(|p| p.name == "random_state").map_or(all.len(), |last| last + 1);
    let (mut signature, mut section, mut call) = (String::new(), String::new(), String::new());
    for (i, Parameter { name, annotation, described, default, doc, .. }) in all[..count].iter().enumerate() {
        let keyword = if i == 1 { "    *,\n" } else { "" };
        let _ = writeln!(signature, "{keyword}    {name}: {annotation} = {default},");
        let _ = writeln!(section, "    {name} : {described}, default={default}");
        section += &filled(doc, 8);
        let _ = writeln!(call, "        {name}={name},");
    }
    let from = |text: &str| {
        let head = format!("\ndef {function}(\n");
        text.find(&head).unwrap_or_else(|| panic!("no function {function}"))
    };
    let text = between(text, from(text), ("    X: Rows,\n", &format!("    {own}: ")), &signature);
    let text = between(&text, from(&text), ("        Rows.\n", &format!("    {own} : ")), &section);
    between(&text, from(&text), (&format!("= {}(\n", method.class), "    )\n"), &call)
}

/// A function with this default of a parameter: in its signature, in those of its overloads, and in its docstring.
fn with_default(text: &str, function: &str, parameter: &str, default: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(&format!("def {function}(")) {
        let end = at + rest[at..].find(") ->").expect("the end of a signature");
        out += &rest[..at];
        let signature = &rest[at..end];
        let found = signature
            .find(&format!(" {parameter}: "))
            .map(|at| at + signature[at..].find(" = ").unwrap() + 3);
        let start = found.unwrap_or_else(|| panic!("{function} has no parameter {parameter}"));
        let stop = signature[start..].find(',').map_or(signature.len(), |length| start + length);
        let _ = write!(out, "{}{default}{}", &signature[..start], &signature[stop..]);
        rest = &rest[end..];
    }
    let start = out.len();
    out += rest;
    let line = out[start..].find(&format!("\n    {}{parameter} : ", indent(&out[start..])));
    let line = start + line.unwrap_or_else(|| panic!("{parameter} of {function} is not in its docstring"));
    between(&out, line, ("default=", "\n"), default)
}

/// The indentation of a docstring beyond that of a function.
fn indent(text: &str) -> &str {
    let quotes = text.find("\"\"\"").unwrap();
    text[..quotes].rsplit('\n').next().unwrap().strip_prefix("    ").unwrap()
}

#[test]
fn defaults_and_settings_are_written_into_signatures_and_docstrings() {
    let text = "def tried(X, splits: int = 3) -> int: ...\ndef tried(\n    splits: int = 3,\n    other: int = 3,\n) -> int:\n    \"\"\"Try.\n\n    \
                splits : int, default=3\n    other : int, default=3\n    \"\"\"\n";
    let new = with_default(text, "tried", "splits", "20");
    assert_eq!(
        new,
        text.replace("splits: int = 3", "splits: int = 20")
            .replace("splits : int, default=3", "splits : int, default=20")
    );
    assert_eq!(with_default(&new, "tried", "splits", "3"), text);
    let text = "\ndef fastica(\n    X: Rows,\n    return_X_mean: bool = False,\n) -> int:\n    \"\"\"Fit.\n\n    X : rows\n        Rows.\n    \
                return_X_mean : bool\n    \"\"\"\n    ica = FastICA(\n    )\n";
    let method = unmix::METHODS.iter().find(|method| method.key == "fastica").unwrap();
    let new = fitted(text, method, "fastica", "return_X_mean");
    for setting in method.settings {
        let name = setting.name;
        for part in
            [format!("\n    {name}: "), format!("\n    {name} : "), format!("\n        {name}={name},\n")]
        {
            assert_eq!(new.matches(&part).count(), 1, "{part}");
        }
    }
    assert_eq!(fitted(&new, method, "fastica", "return_X_mean"), new);
}

#[test]
fn numbers_in_descriptions_are_those_of_the_library() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("python/unmix/_stability.py")).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (resamples, rows) = (unmix::stability::DEFAULT_RESAMPLES, unmix::stability::FEWEST_RESAMPLED);
    for part in [format!("None: {resamples}, with"), format!("if there are {rows} rows, or blocks")] {
        assert!(text.contains(&part), "bootstrap of stability: {part}");
    }
    for method in unmix::METHODS {
        for setting in method.settings {
            for (name, kind) in setting.kind.arguments() {
                let Kind::Number { from: Bound::Included(from), to: Bound::Included(to), .. } = kind else {
                    continue;
                };
                let range = format!("from {from} to {to}");
                assert!(setting.doc.contains(&range), "{} of {}: {name} {range}", setting.name, method.key);
            }
        }
    }
}
