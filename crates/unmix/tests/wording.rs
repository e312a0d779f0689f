//! Words: messages, comments and documentation use the terms of the field, read from the code of all parts of the project.

use std::path::{Path, PathBuf};
use unmix::{Caller, METHODS, Method};

/// Phrases that the field has a word for. Beside each, the word.
const PHRASES: &[(&str, &str)] = &[
    ("count for nothing", "are ignored"),
    ("counts for nothing", "is ignored"),
    ("leave open", "uncertainty of"),
    ("leaves open", "uncertainty of"),
    ("going on with", "continuing"),
    ("How often all rows are visited", "number of epochs"),
    ("a residual is 0 or more", "must be non-negative"),
    ("begins somewhere", "must be at least 1"),
    ("cannot be told", "cannot be distinguished"),
    ("cannot count so often", "must be finite and non-negative"),
    ("check what was to write", "check the program that wrote"),
    ("damaged", "corrupt"),
    ("draws begin", "random seed"),
    ("drawn to variance", "selects minor components"),
    ("find again", "reproduce"),
    ("found again", "reproduced"),
    ("from what the model knows", "how well the model explains"),
    ("How much each explains", "explained variance"),
    ("is as small as that", "must be non-negative"),
    ("is no sound", "is not a valid WAV file"),
    ("it takes a whole number", "must be an integer"),
    ("it takes the name of a choice", "must be one of"),
    ("Iterations at most", "maximum number of iterations"),
    ("Length of the first step", "initial learning rate"),
    ("look so unlike a Gaussian", "test of Gaussianity"),
    ("made again", "reproduced"),
    ("make it again", "reproduce it"),
    ("mean off it", "standardise"),
    ("no sound zip", "not a valid zip archive"),
    ("often batches go", "maximum number of epochs"),
    ("one way to be white", "must be 'unit-variance' or false"),
    ("Rows in a batch", "mini-batch size"),
    ("stands its share", "its share of the variance"),
    ("The most iterations", "maximum number of iterations"),
    ("there are no fewer", "must not be negative"),
    ("told apart", "resolved"),
    ("variant's own", "the default"),
    ("Where the first search", "initial unmixing matrix"),
    ("white already", "already whitened"),
    ("white again", "whitened"),
];

/// Phrases of comments and documentation that readers have to translate back into a term. Beside each, the term.
const COMMENT_PHRASES: &[(&str, &str)] = &[
    ("a slip,", "a typing error"),
    ("beside the input", "in addition to the input, additional files"),
    ("costs nothing", "needs no further fits, or the cost"),
    ("put together again", "reassembled"),
    ("puts together again", "reassembles"),
    ("says so", "states it, gives a warning"),
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
    ("a search begins somewhere", "at least one start"),
    ("and are gone", "and cannot be read again"),
    ("anything in them", "arbitrary content"),
    ("behind the last", "after the last"),
    ("cannot be told from", "cannot be distinguished from"),
    ("cannot count so often", "must be finite and non-negative"),
    ("check what was to write", "check the program that wrote"),
    ("damaged", "corrupt"),
    ("drawn to variance", "selects minor components"),
    ("forgets all", "keeps only"),
    ("from what the model knows", "how well the model explains"),
    ("gets up for good", "releases a slot"),
    ("gives up", "stops"),
    ("goes on behind", "has more after"),
    ("happily", "without an error"),
    ("has its turn", "is next"),
    ("how often batches go", "number of epochs"),
    ("it takes the name of a choice", "must be one of"),
    ("knows nothing", "does not depend on"),
    ("look so unlike a gaussian", "test of Gaussianity"),
    ("made again", "reproduced"),
    ("make it again", "reproduce it"),
    ("no sound zip", "not a valid zip archive"),
    ("one behind the other", "one after the other"),
    ("one way to be white", "must be 'unit-variance' or false"),
    ("place of rest", "stationary point"),
    ("rows of codes, bent", "element-wise nonlinearity"),
    ("say what is found again", "test which components are reproducible"),
    ("says nothing", "is not informative"),
    ("sits down", "acquires a slot"),
    ("stands its share", "its share of the variance"),
    ("tells a source from a gaussian", "contrast function"),
    ("the ear that", "progress observer"),
    ("the wall", "linear-algebra backend"),
    ("told apart", "resolved, distinguished"),
    ("variant's own", "the default"),
    ("wants to", "must, requests"),
    ("what rows add up to", "sufficient statistics"),
    ("where random draws begin", "random seed"),
    ("white again", "whitened"),
    ("white already", "already whitened"),
    ("whoever calls", "any caller"),
    ("whoever has", "a caller that has"),
    ("whole vectors leave", "black_box"),
    ("words for the damage", "errors of corrupt files"),
    ("would not hear", "is not notified"),
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

/// Files with one of these extensions in a folder of the repository and in folders within, without those that are built or hidden, the
/// records of measurements, and the tests that list words.
fn files_below(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for path in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_listed = path.extension().is_some_and(|e| extensions.iter().any(|own| e == *own));
        if name.starts_with('.')
            || ["target", "records", "__pycache__", "wording.rs", "test_wording.py"].contains(&&*name)
        {
            continue;
        }
        if path.is_dir() {
            out.extend(files_below(&path, extensions));
        } else if is_listed {
            out.push(path);
        }
    }
    out.sort();
    out
}

/// Sentences of a crate, each with its place.
fn sentences(name: &str) -> Vec<(String, String)> {
    texts(name, 3)
}

/// Texts of a crate of at least so many words, each with its place.
fn texts(name: &str, words: usize) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut out = Vec::new();
    for path in rust_files(&root.join(name).join("src")) {
        let short = path.strip_prefix(root).unwrap().display().to_string();
        let text = std::fs::read_to_string(&path).unwrap();
        let found = literals(&text).into_iter().filter(|(_, text)| text.split_whitespace().count() >= words);
        out.extend(found.map(|(line, text)| (format!("{short}:{line}"), text)));
    }
    assert!(out.len() > 100, "{name}: {} sentences", out.len());
    if name == "unmix" {
        // Those about settings are comments in the code.
        let settings =
            |m: &'static Method| m.settings.iter().map(|s| (format!("{}, {}", m.key, s.name), s.doc.into()));
        out.extend(METHODS.iter().flat_map(settings));
    }
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

/// Commands of the program.
const COMMANDS: [&str; 14] = [
    "biclusters",
    "decode",
    "encode",
    "export",
    "fit",
    "import",
    "impute",
    "merge",
    "methods",
    "reconstruct",
    "report",
    "score",
    "select",
    "show",
];

#[test]
fn messages_of_the_library_name_no_command_and_every_operation_has_a_form_for_each_caller() {
    for (place, text) in sentences("unmix").into_iter().chain(sentences("unmix-io")) {
        // This file has the forms of each caller.
        if place.contains("caller.rs") || place.contains("unmix-io/src/wording.rs") {
            continue;
        }
        assert!(!has_flag(&text), "{place}: a flag of the command line: {text}");
        for verb in COMMANDS {
            assert!(!text.contains(&format!("unmix {verb}")), "{place}: a command: {text}");
        }
        for caller in [Caller::Shell, Caller::Python] {
            let said = caller.message(&text);
            assert!(!said.contains("::"), "{place}: no form for {caller:?}: {said}");
        }
    }
}

/// The names of the options of reading, from their table.
fn reading_options() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let table = std::fs::read_to_string(root.join("unmix-io/src/reading_options.rs")).unwrap();
    let entries = table.match_indices("option(\"").map(|(at, begins)| &table[at + begins.len()..]);
    entries.filter_map(|rest| rest.split('"').next()).map(String::from).collect()
}

/// Whether a text sets an option, as in `rows=(0, 3)`.
fn sets(text: &str, option: &str) -> bool {
    text.match_indices(&format!("{option}=")).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !"_-.".contains(c))
    })
}

/// Options of reading are named in the notation of the caller, by `Wording`, and not in messages themselves.
#[test]
fn messages_of_readers_set_no_option_in_the_notation_of_one_caller() {
    let options = reading_options();
    assert!(options.len() > 20 && options.contains(&"delimiter".to_string()), "{options:?}");
    assert!(sets("give rows=(0, 3)", "rows") && !sets("n_rows=3", "rows"));
    for (place, text) in sentences("unmix-io") {
        // Labels of a page are given as `color`, whose notation in Python this file has.
        if place.contains("unmix-io/src/wording.rs") || place.contains("unmix-io/src/labels.rs") {
            continue;
        }
        let found: Vec<&String> = options.iter().filter(|option| sets(&text, option)).collect();
        assert!(found.is_empty(), "{place}: {found:?}: {text}");
    }
}

#[test]
fn pages_and_summaries_name_commands_in_one_place_by_their_caller() {
    for (place, text) in texts("unmix-report", 1) {
        // Where the command that made a model is read from its record, it is not text of a page.
        let is_record =
            place.contains("/page/") && ["unmix fit ", "--title", "--title="].contains(&text.as_str());
        if place.contains("unmix-report/src/caller.rs") || is_record {
            continue;
        }
        // A variable of a style sheet is not a flag.
        assert!(
            !has_flag(&text.replace("(--", "(")) || text.contains("{--"),
            "{place}: a flag of the command line: {text}"
        );
        for verb in COMMANDS {
            assert!(!text.contains(&format!("unmix {verb}")), "{place}: a command: {text}");
        }
    }
}

#[test]
fn comments_and_pages_use_the_words_of_the_field() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().parent().unwrap();
    let mut files: Vec<PathBuf> =
        ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"].map(|name| root.join(name)).to_vec();
    for folder in ["crates", "python", "bench", "xtask", "docs"] {
        let found = files_below(&root.join(folder), &["rs", "md", "py", "pyi"]);
        assert!(!found.is_empty(), "{folder}");
        files.extend(found);
    }
    assert!(files.len() > 700, "{} files", files.len());
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        // Lines are joined, because a phrase may be broken anywhere.
        let rust = path.extension().is_some_and(|e| e == "rs");
        let lines = text.lines().map(str::trim).filter(|line| !rust || line.starts_with("//"));
        let words: Vec<&str> =
            lines.flat_map(|line| line.trim_start_matches(['/', '!', '#']).split_whitespace()).collect();
        let text = words.join(" ").to_lowercase();
        for (phrase, better) in COMMENT_PHRASES {
            assert!(!text.contains(phrase), "{}: '{phrase}' ({better})", path.display());
        }
    }
}

#[test]
fn sentences_use_the_words_of_the_field() {
    for name in ["unmix", "unmix-io", "unmix-report", "unmix-cli", "unmix-reproduce"] {
        for (place, text) in sentences(name) {
            for (phrase, better) in PHRASES {
                assert!(!text.contains(phrase), "{place}: '{phrase}' ({better}): {text}");
            }
        }
    }
}
