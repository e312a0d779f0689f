//! Messages: every text in the source of the crates that any caller can see, read from the code.

use std::path::{Path, PathBuf};
use unmix::Caller;

/// Phrases that the field has a word for. Beside each, the word.
const PHRASES: &[(&str, &str)] = &[
    ("count for nothing", "are ignored"),
    ("counts for nothing", "is ignored"),
    ("leave open", "uncertainty of"),
    ("leaves open", "uncertainty of"),
    ("going on with", "continuing"),
    ("How often all rows are visited", "number of epochs"),
];

/// Phrases of comments and documentation that readers have to translate back into a term. Beside each, the term.
const COMMENT_PHRASES: &[(&str, &str)] = &[
    ("what of them stands", "those in a public signature"),
    ("hears that", "is notified"),
    ("hang together", "are autocorrelated"),
    ("hangs together", "is autocorrelated"),
    ("changes of mind", "changes of sign"),
    ("to and fro", "oscillates"),
    ("led astray", "converge to a worse solution"),
    ("lead astray", "lead to a worse solution"),
    ("where it stood", "from its state"),
    ("creep up", "converge slowly"),
    ("one slip of the finger", "one typing error"),
    ("what of each lies across", "the orthogonal component"),
    ("loud columns", "columns with much noise"),
    ("is one slip away", "is easy to get wrong"),
    ("how far to believe", "reliability"),
];

/// Text literals of Rust code with the numbers of their lines, without comments and unit tests.
fn literals(text: &str) -> Vec<(usize, String)> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let (mut out, mut line, mut chars) = (Vec::new(), 1, text.chars().peekable());
    let mut before = ' ';
    while let Some(c) = chars.next() {
        match c {
            '\n' => line += 1,
            '/' if chars.peek() == Some(&'/') => {
                while chars.peek().is_some_and(|c| *c != '\n') {
                    chars.next();
                }
            }
            // A character, not a lifetime.
            '\'' => {
                let ahead: Vec<char> = chars.clone().take(3).collect();
                match ahead[..] {
                    ['\\', _, '\''] => drop(chars.by_ref().take(3).collect::<String>()),
                    [_, '\'', ..] => drop(chars.by_ref().take(2).collect::<String>()),
                    _ => {}
                }
            }
            '"' => {
                let (start, mut found) = (line, String::new());
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' if before != 'r' => match chars.next() {
                            // The text continues at the next word of the next line.
                            Some('\n') => {
                                line += 1;
                                while chars.peek().is_some_and(|c| c.is_whitespace()) {
                                    line += usize::from(chars.next() == Some('\n'));
                                }
                            }
                            Some(c) => found.push(c),
                            None => {}
                        },
                        c => {
                            line += usize::from(c == '\n');
                            found.push(c);
                        }
                    }
                }
                out.push((start, found));
            }
            _ => {}
        }
        before = c;
    }
    out
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut out: Vec<PathBuf> = entries
        .flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs"))
        .collect();
    out.sort();
    out
}

/// Sentences of a crate, each with its place.
fn sentences(name: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut out = Vec::new();
    for path in rust_files(&root.join(name).join("src")) {
        let short = path.strip_prefix(root).unwrap().display().to_string();
        let text = std::fs::read_to_string(&path).unwrap();
        let found = literals(&text).into_iter().filter(|(_, text)| text.split_whitespace().count() > 2);
        out.extend(found.map(|(line, text)| (format!("{short}:{line}"), text)));
    }
    assert!(out.len() > 100, "{name}: {} sentences", out.len());
    out
}

/// Whether a text has a flag of a command line, as in `--drop`.
fn has_flag(text: &str) -> bool {
    text.match_indices("--").any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + 2..].chars().next();
        before.is_none_or(|c| !c.is_alphanumeric() && c != '-')
            && after.is_some_and(|c| c.is_ascii_lowercase())
    })
}

#[test]
fn messages_of_the_library_name_no_command_and_every_operation_has_a_form_for_each_caller() {
    for (place, text) in sentences("unmix").into_iter().chain(sentences("unmix-io")) {
        // This file has the forms of each caller.
        if place.contains("caller.rs") || place.contains("unmix-io/src/wording.rs") {
            continue;
        }
        assert!(!has_flag(&text), "{place}: a flag of the command line: {text}");
        for verb in
            ["fit", "impute", "methods", "show", "encode", "decode", "merge", "select", "report", "score"]
        {
            assert!(!text.contains(&format!("unmix {verb}")), "{place}: a command: {text}");
        }
        for caller in [Caller::Shell, Caller::Python] {
            let said = caller.message(&text);
            assert!(!said.contains("::"), "{place}: no form for {caller:?}: {said}");
        }
    }
}

#[test]
fn comments_and_pages_use_the_words_of_the_field() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().parent().unwrap();
    let mut files: Vec<PathBuf> = ["unmix", "unmix-io", "unmix-report", "unmix-cli", "unmix-reproduce"]
        .iter()
        .flat_map(|name| rust_files(&root.join("crates").join(name).join("src")))
        .collect();
    for folder in [root.to_path_buf(), root.join("docs"), root.join("docs/decisions")] {
        let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
        files.extend(entries.filter(|path| path.extension().is_some_and(|e| e == "md")));
    }
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        // Lines are joined, because a phrase may be broken anywhere.
        let rust = path.extension().is_some_and(|e| e == "rs");
        let lines = text.lines().map(str::trim).filter(|line| !rust || line.starts_with("//"));
        let words: Vec<&str> =
            lines.flat_map(|line| line.trim_start_matches(['/', '!']).split_whitespace()).collect();
        let text = words.join(" ").to_lowercase();
        for (phrase, better) in COMMENT_PHRASES {
            assert!(!text.contains(phrase), "{}: '{phrase}' ({better})", path.display());
        }
    }
}

#[test]
fn sentences_use_the_words_of_the_field() {
    for name in ["unmix", "unmix-io", "unmix-report", "unmix-cli"] {
        for (place, text) in sentences(name) {
            for (phrase, better) in PHRASES {
                assert!(!text.contains(phrase), "{place}: '{phrase}' ({better}): {text}");
            }
        }
    }
}
