//! `unmix methods`: the registry.

use crate::args::Methods;
use crate::failure::{Done, Failure};
use crate::terminal::{self, FAINT, TITLE, TYPED, paint};
use serde_json::Value;
use unmix::method::{Method, Setting, all, find};

/// Lists all methods, or the settings of one.
pub(crate) fn methods(args: &Methods) -> Done {
    let one = match &args.method {
        Some(key) => Some(find(key).map_err(|e| Failure::Usage(e.to_string()))?),
        None => None,
    };
    match (one, args.json) {
        (Some(method), true) => terminal::json(&method.to_json()),
        (None, true) => terminal::json(&all().into_iter().map(Method::to_json).collect::<Value>()),
        (Some(method), false) => terminal::text(&describe(method)),
        (None, false) => terminal::text(&list()),
    }
}

fn list() -> String {
    let all = all();
    let width = all.iter().map(|m| m.key.len()).max().unwrap_or(0);
    let lines = all.iter().map(|m| format!("{}  {}\n", paint(TYPED, format!("{:width$}", m.key)), m.summary));
    let last =
        format!("\n{}\n", paint(FAINT, "'unmix methods METHOD' lists settings, variants and references."));
    lines.collect::<String>() + &last
}

fn describe(method: &Method) -> String {
    let mut out = format!("{}  {}\n", paint(TYPED, method.key), method.summary);
    let section = |title: &str| format!("\n{}\n", paint(TITLE, title));
    out += &section("Settings (--set NAME=VALUE)");
    method.settings.iter().filter(|s| s.is_json()).for_each(|s| out += &setting(s));
    if method.tensors().next().is_some() {
        out += &section("Tables (--NAME FILE|MODEL)");
        method.tensors().for_each(|s| {
            out += &format!("  {}\n{}", paint(TYPED, flag(s)), wrapped(&s.doc.replace('`', ""), 6))
        });
    }
    if !method.variants.is_empty() {
        out += &section("Variants (--set variant=NAME)");
        for v in method.variants {
            out += &format!("  {}  {} ({})\n", paint(TYPED, v.key), v.recovers, v.reference);
        }
    }
    if !method.equals.is_empty() {
        out += &section("Equivalences");
        method.equals.iter().for_each(|e| out += &format!("  {e}\n"));
    }
    out += &section("References");
    method.references.iter().for_each(|r| out += &format!("  {r}\n"));
    out
}

/// The command-line option of a table.
fn flag(s: &Setting) -> String {
    format!("--{}", s.name.replace('_', "-"))
}

fn setting(s: &Setting) -> String {
    let default = s.default_value();
    let default = default.as_str().map_or_else(|| default.to_string(), Into::into);
    let choices = s.choices();
    let choices = if choices.is_empty() { String::new() } else { format!(": {}", choices.join(", ")) };
    let about = paint(FAINT, format!("{}{choices} [default: {default}]", s.type_name()));
    format!("  {}  {about}\n{}", paint(TYPED, s.name), wrapped(&s.doc.replace('`', ""), 6))
}

/// Wraps text to lines of at most 90 characters.
fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        if lines[lines.len() - 1].len() + word.len() > 90 - indent {
            lines.push(String::new());
        }
        let last = lines.len() - 1;
        let space = if lines[last].is_empty() { "" } else { " " };
        lines[last] += &format!("{space}{word}");
    }
    lines.iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
}
