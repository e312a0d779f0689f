//! Suggestions for invalid command lines: a method or a file in place of a command, a setting in place of an option, a negative number.

use crate::terminal;
use clap::error::{ContextKind, ContextValue};
use std::ffi::OsString;

/// A suggestion for the command line `args`, which the parser rejected with `error`.
pub(crate) fn hint(args: &[OsString], error: &clap::Error) -> Option<String> {
    let word = |i: usize| args.get(i).and_then(|word| word.to_str());
    let first = word(1)?;
    if unmix::METHODS.iter().any(|method| method.key == first) {
        return Some(format!("to fit a model: unmix fit {first} FILE"));
    }
    if std::path::Path::new(first).is_file() {
        let file = terminal::command(&[terminal::path_argument(std::path::Path::new(first))]);
        return Some(format!("to describe a file: unmix show {file}; to fit a model: unmix fit pca {file}"));
    }
    if first == "stability" {
        return Some("to analyse stability: unmix fit METHOD FILE --stability 10".into());
    }
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else { return None };
    if let Some(hint) = negative(args, unknown) {
        return Some(hint);
    }
    let name = unknown.trim_start_matches('-').replace('-', "_");
    if first != "fit" {
        return None;
    }
    match name.as_str() {
        "k" | "n" | "n_components" | "components" => {
            return Some("for the number of components use -k 10".into());
        }
        _ => {}
    }
    let method = word(2).and_then(|key| unmix::METHODS.iter().find(|method| method.key == key))?;
    method.settings.iter().find(|setting| setting.name == name)?;
    Some(format!("{name} is a setting of {}: use --set {name}=VALUE", method.key))
}

/// The suggestion for a negative number after an option, which the parser takes for an option of its own: `unknown` is its beginning.
fn negative(args: &[OsString], unknown: &str) -> Option<String> {
    let words: Vec<&str> = args.iter().filter_map(|word| word.to_str()).collect();
    let is_value = |pair: &&[&str]| {
        pair[0].starts_with("--") && pair[1].starts_with(unknown) && pair[1].parse::<f64>().is_ok()
    };
    let pair = words.windows(2).find(is_value)?;
    Some(format!("if {} is the value of {}, it must not be negative", pair[1], pair[0]))
}
