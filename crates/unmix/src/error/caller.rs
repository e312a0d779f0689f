//! Messages in the notation of the caller: Rust, the command line, Python.
//!
//! Messages of this crate name operations by their Rust paths and values as JSON has them (`null`, `true`); the command line
//! and the Python package translate them before they show them.

/// The language of the reader of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Caller {
    /// In a program in Rust: messages as they are.
    #[default]
    Rust,
    /// On the command line.
    Shell,
    /// In Python.
    Python,
}

/// How a caller allows that files are replaced.
pub(super) const REPLACE: &str = "set force to replace it";

/// Operations that messages name: the Rust path, the command, and the name in Python.
const OPERATIONS: &[(&str, &str, &str)] = &[
    ("unmix::impute::Imputer", "'unmix impute'", "the method impute of PPCA"),
    (
        "leave such rows out, or fill",
        "leave such rows out with --missing drop, or fill",
        "leave such rows out, as missing='drop' of unmix.open does for files, or fill",
    ),
    ("unmix::method::fit_by_sums", "'unmix fit --sums'", "partial_fit"),
    ("Report::stability", "unmix show MODEL --json", "report_.stability"),
    ("leave stability out", "leave --stability out", "leave stability out"),
    ("Model::load", "'unmix show'", "unmix.load"),
    ("transpose it first", "add --transpose", "give X.T"),
    (
        "make the rows dense",
        "make the rows dense, as in Python by numpy.save('rows.npy', scipy.sparse.load_npz('rows.npz').toarray())",
        "make the rows dense with .toarray()",
    ),
    (
        "give rows in double precision",
        "give rows in double precision, or compute in it with --dtype float64",
        "give rows in double precision, as X.astype(numpy.float64)",
    ),
    // Codes that are given with the rows of a fit.
    ("codes must have", "--codes must have", "y must have"),
    (REPLACE, "add --force to replace it", "give force=True to replace it"),
    (
        "give NaN for such cells, or a list of the observed ones",
        "give NaN for such cells (--na 0 in a text file), or a list of the observed ones with --triplets",
        "give NaN for such cells, or a sparse array of the observed ones",
    ),
];

/// Values of JSON and their form in Python.
const VALUES: &[(&str, &str)] = &[("null", "None"), ("true", "True"), ("false", "False")];

/// Words that may precede a value, besides an equals sign or a bracket.
const BEFORE: &[&str] = &["or", "at", "be", "to", "not", "than", "got", "if", "leaves"];

impl Caller {
    /// The message in the notation of this caller.
    pub fn message(self, text: &str) -> String {
        let mut out = text.to_owned();
        for (rust, shell, python) in OPERATIONS {
            match self {
                Caller::Rust => {}
                Caller::Shell => out = out.replace(rust, shell),
                Caller::Python => out = out.replace(rust, python),
            }
        }
        out = self.given(&out);
        if self == Caller::Python { in_python(&out) } else { out }
    }
}

impl Caller {
    /// Translates the name of an array that a fit takes in addition to its settings, as in `unmix::fit_given(SparseCoder, dictionary)`.
    fn given(self, text: &str) -> String {
        const CALL: &str = "unmix::fit_given(";
        let found = text.split_once(CALL).and_then(|(before, rest)| {
            let (arguments, after) = rest.split_once(')')?;
            let (class, name) = arguments.split_once(", ")?;
            Some((before, class, name, after))
        });
        match (self, found) {
            (Caller::Shell, Some((before, _, name, after))) => {
                format!("{before}--{} FILE{after}", name.replace('_', "-"))
            }
            (Caller::Python, Some((before, class, name, after))) => {
                format!("{before}{class}({name}=...){after}")
            }
            (Caller::Rust, Some((before, class, name, after))) => {
                format!(
                    "{before}the table \"{name}\" of unmix::fit_given, or the field `{name}` of {class}{after}"
                )
            }
            _ => text.into(),
        }
    }
}

/// Values as Python writes them: `whiten=true` becomes `whiten=True`, "a number or null" "a number or None". Quoted text and the words of
/// a sentence, as in "the true mean", stay.
fn in_python(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut quoted = false;
    while let Some(first) = rest.chars().next() {
        let word = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        if word.is_empty() {
            // An apostrophe within a word is none.
            let inside = out.ends_with(char::is_alphanumeric)
                && rest[first.len_utf8()..].starts_with(char::is_alphanumeric);
            quoted ^= first == '\'' && !inside;
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let value = VALUES.iter().find(|(json, _)| !quoted && *json == word && is_value(&out));
        out += value.map_or(word, |(_, python)| python);
        rest = &rest[word.len()..];
    }
    out
}

/// Whether what follows `before` is a value.
fn is_value(before: &str) -> bool {
    let trimmed = before.trim_end();
    let word = trimmed.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    trimmed.is_empty()
        || trimmed.ends_with(['=', '[', '(', ':', ','])
        || BEFORE.contains(&word)
        || VALUES.iter().any(|(_, python)| *python == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_and_values_are_in_the_notation_of_the_caller() {
        let text = "rows have gaps; fill them by unmix::impute::Imputer, or set whiten=false";
        assert_eq!(Caller::Rust.message(text), text);
        assert_eq!(
            Caller::Shell.message(text),
            "rows have gaps; fill them by 'unmix impute', or set whiten=false"
        );
        assert_eq!(
            Caller::Python.message(text),
            "rows have gaps; fill them by the method impute of PPCA, or set whiten=False"
        );
    }

    #[test]
    fn symbols_of_several_bytes_may_follow_letters_and_digits() {
        for text in
            ["column 0 ('Temp\u{b0}C') is NaN", "results\u{2013}2024.csv", "'1\u{a0}500\u{20ac}'", "\u{b0}"]
        {
            assert_eq!(Caller::Python.message(text), text);
        }
    }

    #[test]
    fn rows_with_missing_cells_are_left_out_as_the_caller_can() {
        let text = "row 3 is NaN; leave such rows out, or fill their cells first";
        assert_eq!(Caller::Rust.message(text), text);
        let shell = "row 3 is NaN; leave such rows out with --missing drop, or fill their cells first";
        assert_eq!(Caller::Shell.message(text), shell);
        let python = "row 3 is NaN; leave such rows out, as missing='drop' of unmix.open does for files, or fill their cells first";
        assert_eq!(Caller::Python.message(text), python);
    }

    #[test]
    fn ways_to_mark_missing_cells_are_those_of_the_caller() {
        let text = "most are 0: give NaN for such cells, or a list of the observed ones";
        let shell = "most are 0: give NaN for such cells (--na 0 in a text file), or a list of the observed ones with --triplets";
        assert_eq!([Caller::Rust.message(text), Caller::Shell.message(text)], [text, shell]);
        let python = "most are 0: give NaN for such cells, or a sparse array of the observed ones";
        assert_eq!(Caller::Python.message(text), python);
    }

    #[test]
    fn rows_are_made_dense_as_the_caller_can() {
        let text = "choose another rule, or make the rows dense";
        assert!(Caller::Shell.message(text).ends_with(".toarray())"));
        assert_eq!(
            Caller::Python.message(text),
            "choose another rule, or make the rows dense with .toarray()"
        );
    }

    #[test]
    fn codes_that_are_given_with_the_rows_are_named_as_the_caller_gives_them() {
        let text = "codes must have 9 rows, one for each row of x.npy, got 8 x 20";
        assert_eq!(Caller::Rust.message(text), text);
        assert_eq!(Caller::Shell.message(text), format!("--{text}"));
        assert_eq!(Caller::Python.message(text), text.replace("codes", "y"));
    }

    #[test]
    fn double_precision_is_an_option_of_the_command_line() {
        let text = "to keep such directions, give rows in double precision";
        assert!(Caller::Shell.message(text).ends_with("or compute in it with --dtype float64"));
        assert!(Caller::Python.message(text).ends_with("as X.astype(numpy.float64)"));
    }

    #[test]
    fn an_array_is_an_option_or_an_argument() {
        let text = "give one: unmix::fit_given(SparseCoder, dictionary)";
        let rust = "give one: the table \"dictionary\" of unmix::fit_given, or the field `dictionary` of SparseCoder";
        assert_eq!(Caller::Rust.message(text), rust);
        assert_eq!(Caller::Shell.message(text), "give one: --dictionary FILE");
        assert_eq!(Caller::Python.message(text), "give one: SparseCoder(dictionary=...)");
    }

    #[test]
    fn values_are_translated_and_words_are_not() {
        for (json, python) in [
            ("must be true or false, got null", "must be True or False, got None"),
            ("give a number, a share, or null", "give a number, a share, or None"),
            (
                "the true mean, a false alarm and the null space",
                "the true mean, a false alarm and the null space",
            ),
            ("deriv='true' and column 'null' of column 3's", "deriv='true' and column 'null' of column 3's"),
            ("w=[true, null] at true", "w=[True, None] at True"),
        ] {
            assert_eq!(Caller::Python.message(json), python);
        }
    }
}
