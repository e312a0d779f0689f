//! Sentences and values of the registry in Python's notation.

use std::fmt::Write;

/// Maximum number of characters of a generated line.
pub(crate) const WIDTH: usize = 132;

/// A default value, given as JSON, in Python's notation.
pub(crate) fn value(json: &str) -> String {
    match json {
        "null" => "None".into(),
        "true" => "True".into(),
        "false" => "False".into(),
        // A default of a signature must not be mutable.
        list if list.starts_with('[') => format!("({})", list.trim_matches(['[', ']'])),
        other => other.into(),
    }
}

/// Sentences of the registry as reStructuredText, with values in Python's notation.
pub(crate) fn sentences(doc: &str) -> String {
    let pieces = doc.split('`').enumerate();
    let each = pieces.map(|(i, piece)| match i % 2 {
        0 => in_python(piece, "``"),
        _ => format!("``{}``", in_python(piece, "")),
    });
    each.collect()
}

/// Replaces quoted words between `marks`, and `null`, `true` and `false`, by Python's notation.
fn in_python(text: &str, marks: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        if !word.is_empty() {
            out += &value(word);
            rest = &rest[word.len()..];
            continue;
        }
        rest = &rest[first.len_utf8()..];
        let quoted = rest.split_once('\'').filter(|(inside, _)| {
            // An apostrophe of a genitive or the prime of a derivative is not a quote.
            let opens = !out.chars().last().is_some_and(char::is_alphanumeric);
            first == '\'' && opens && inside.starts_with(char::is_alphanumeric) && !inside.contains(' ')
        });
        match quoted {
            Some((inside, after)) => {
                let _ = write!(out, "{marks}\"{inside}\"{marks}");
                rest = after;
            }
            None => out.push(first),
        }
    }
    out
}

/// Text wrapped into indented lines.
pub(crate) fn filled(text: &str, indent: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && indent + lines[last].chars().count() + 1 + word.chars().count() > WIDTH
        {
            lines.push(String::new());
        }
        let last = lines.len() - 1;
        let space = if lines[last].is_empty() { "" } else { " " };
        lines[last] += &format!("{space}{word}");
    }
    lines.iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
}

#[test]
fn sentences_of_the_registry_read_as_python() {
    let sentence = "'auto' is `0.2 / g''(0)`; null for the variant's own, with `ortho=false` or `sigma='train'`, g'(x), 'true' for itself.";
    let python = "``\"auto\"`` is ``0.2 / g''(0)``; None for the variant's own, with ``ortho=False`` or ``sigma=\"train\"``, g'(x), \
                  ``\"true\"`` for itself.";
    assert_eq!(sentences(sentence), python);
}
