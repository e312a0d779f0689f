//! The error type: details in fields, a sentence when displayed.
//!
//! A message states the request, what was found, and what would work; lower case, no full stop. Rows and
//! columns are counted from 0; lines of text files from 1.

mod caller;
mod details;

pub use caller::Caller;
pub use details::ErrorDetails;

pub(crate) use details::Needed;

use caller::REPLACE;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The result type of every fallible function.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kinds of errors, by what is wrong with the request or the data.
///
/// Bugs are assertions, not errors; a fit that does not converge is an [`Outcome`](crate::Outcome), not an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value that is not a finite number.
    #[error("{method} needs finite numbers, but row {row}, {column} is {what}; {remedy}", remedy = finite_again(.what), column = name_column(*.column, .name.as_deref()))]
    NotFinite {
        /// The method or operation, as in "pca".
        method: String,
        /// Row, from 0; that of the file, where some of its rows were selected.
        row: u64,
        /// Column, from 0.
        column: usize,
        /// The column's name, where it has one.
        name: Option<String>,
        /// "NaN", "infinity" or "-infinity".
        what: &'static str,
    },
    /// Every number is finite, but their squares are not.
    #[error(
        "{method} sums squares of the data, and the sum exceeds the largest number of {dtype}; divide the data by a large \
         constant first"
    )]
    Overflow {
        /// The method or operation.
        method: String,
        /// Number type of the computation.
        dtype: &'static str,
    },
    /// Not enough rows.
    #[error("{method} needs at least {}, but {what} has {got}; {remedy}", rows_in_words(*.need))]
    TooFewRows {
        /// The method or operation.
        method: String,
        /// Minimum number of rows.
        need: u64,
        /// Number of rows found.
        got: u64,
        /// Where the rows come from, as in "the input".
        what: String,
        /// What would work.
        remedy: String,
    },
    /// No column varies.
    #[error(
        "{method} needs a column that varies, but {} over {}; check which columns and rows were read",
        constant_columns(*.n_features),
        rows_in_words(*.n_samples)
    )]
    NoVariance {
        /// The method or operation.
        method: String,
        /// Number of columns.
        n_features: usize,
        /// Number of rows.
        n_samples: u64,
    },
    /// A setting outside its domain.
    #[error("{}", setting_sentence(.name, .got, .why, .remedy))]
    Setting {
        /// Name of the setting.
        name: String,
        /// Value requested.
        got: String,
        /// What the value must be, as in "must be at least 1", or what was found that forbids it.
        why: String,
        /// What would work; empty where `why` contains it.
        remedy: String,
    },
    /// An unknown name.
    #[error("there is no {kind} named '{got}'{}; choose one of: {}", did_you_mean(.suggestion), listed(.known))]
    Unknown {
        /// Kind of name, as in "method".
        kind: String,
        /// Name requested.
        got: String,
        /// The most similar known name, if one is similar.
        suggestion: Option<String>,
        /// The known names.
        known: Vec<String>,
    },
    /// A number of columns that differs from the required one.
    #[error("{what}: {} needed, but {} given; {remedy}", columns_are(*.need), were(*.got))]
    Width {
        /// The request, as in "encode".
        what: String,
        /// Required number of columns.
        need: usize,
        /// Number of columns that were given.
        got: usize,
        /// What would work.
        remedy: String,
    },
    /// A request that this method or model does not support.
    ///
    /// A program that distinguishes cases before a call reads [`Method::accepts`](crate::model::Method::accepts), which states which rows a method
    /// takes, [`Method::density`](crate::model::Method::density), whether it has a likelihood, [`Code::decoder`](crate::model::Code::decoder),
    /// whether codes can be decoded, and [`Model::sums`](crate::Model::sums), whether a model can be merged.
    #[error("{asked} is not possible: {found}; {remedy}")]
    Unsupported {
        /// The request, as a noun phrase with the method, as in "pca of sparse rows".
        asked: String,
        /// What was found that prevents it, as a clause, as in "it does not support sample weights".
        found: String,
        /// What the message names, as values: the method or the setting that is requested, what it works with, and numbers.
        details: Box<ErrorDetails>,
        /// What would work, as an imperative, as in "leave the weights out, or repeat rows".
        remedy: String,
    },
    /// A file that is not what it should be.
    #[error("{} cannot be read: {found}; {remedy}", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What was found, with its row, line or byte.
        found: String,
        /// The same as numbers.
        details: Box<ErrorDetails>,
        /// What would work.
        remedy: String,
    },
    /// The system refused a read or a write.
    #[error("{what} {}: {reason}", .path.display(), reason = reason(.what, .path, .source))]
    Io {
        /// "cannot read", "cannot write", ...
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file that would be replaced, which was not requested.
    #[error("writing {} is not possible: the file already exists; give another folder, or {replace}", .path.display(), replace = REPLACE)]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// An array that does not fit in memory.
    #[error(
        "{what} would need {need_bytes} bytes ({} MiB) of memory, more than the {have_bytes} bytes ({} MiB) that this machine has free; {remedy}",
        .need_bytes >> 20,
        .have_bytes >> 20
    )]
    Memory {
        /// The object or operation that needs the memory.
        what: String,
        /// Bytes needed.
        need_bytes: u64,
        /// Bytes that are available.
        have_bytes: u64,
        /// What would work.
        remedy: String,
    },
    /// A factorisation that did not converge.
    #[error(
        "{what} did not converge; the numbers may span too many orders of magnitude: divide each column by its standard deviation first"
    )]
    Factorisation {
        /// The factorisation.
        what: &'static str,
    },
    /// The user requested a stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// An error of the system about `path`.
    pub fn io(what: &'static str, path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Error::Io { what, path: path.into(), source }
    }

    /// A file that is not what it should be.
    pub fn format(path: impl Into<PathBuf>, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (found, details) = (found.into(), Box::default());
        Error::Format { path: path.into(), found, details, remedy: remedy.into() }
    }

    /// A request that is not supported: a noun phrase, a clause, and an imperative.
    pub fn unsupported(
        asked: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let (asked, found, remedy) = (asked.into(), found.into(), remedy.into());
        Error::Unsupported { asked, found, details: Box::default(), remedy }
    }

    /// The same error with values of what was found, where it is about a file or a request: `Error::format(...).with(|details| details.line =
    /// Some(3))`.
    pub fn with(mut self, change: impl FnOnce(&mut ErrorDetails)) -> Self {
        if let Error::Format { details, .. } | Error::Unsupported { details, .. } = &mut self {
            change(details);
        }
        self
    }

    /// [`with`](Self::with) the key of a method.
    pub fn of_method(self, key: &str) -> Self {
        self.with(|details| details.method = Some(key.into()))
    }

    /// [`with`](Self::with) the keys of the methods with which the request works.
    pub fn working(self, keys: &[&str]) -> Self {
        self.with(|details| details.works = keys.iter().map(ToString::to_string).collect())
    }

    /// [`with`](Self::with) what a method needs so that the request works.
    pub(crate) fn needing(self, needed: Needed) -> Self {
        self.with(|details| details.needed = Some(needed))
    }

    /// [`with`](Self::with) the numbers that are expected and found.
    pub fn with_numbers(self, need: usize, got: usize) -> Self {
        self.with(|details| (details.need, details.got) = (Some(need as u64), Some(got as u64)))
    }

    /// A model whose tensors are those of no fit, which is so only where its file is corrupt.
    pub(crate) fn corrupt_model(found: impl Into<String>) -> Self {
        Error::unsupported("using this model", found, "the file is corrupt: fit the model again")
    }

    /// A model of an incremental fit whose stream cannot be continued, for the same reason.
    pub(crate) fn corrupt_stream() -> Self {
        Error::unsupported(
            "continuing the fit of this model",
            "the state of its stream cannot be read",
            "the file is corrupt, or of another version: fit the model again",
        )
    }

    /// A setting outside its domain.
    pub fn setting(
        name: impl Into<String>,
        got: impl std::fmt::Display,
        why: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Error::Setting { name: name.into(), got: got.to_string(), why: why.into(), remedy: remedy.into() }
    }

    /// An unknown name, with the nearest known one.
    pub fn unknown<'a>(kind: &str, got: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        Error::Unknown {
            kind: kind.into(),
            got: got.into(),
            suggestion: nearest(got, &known).map(Into::into),
            known: known.into_iter().map(Into::into).collect(),
        }
    }
}

/// The known name that is most similar to `got`, if any is similar enough.
pub(crate) fn nearest<'a>(got: &str, known: &[&'a str]) -> Option<&'a str> {
    let likeness = |name: &&str| {
        let (a, b) = (got.to_lowercase(), name.to_lowercase());
        // One typing error is always accepted, even in a short word in which it changes half of the letters.
        let slip = if strsim::osa_distance(&a, &b) <= 1 { 0.9 } else { 0.0 };
        strsim::jaro_winkler(&a, &b).max(slip)
    };
    known
        .iter()
        .map(|name| (likeness(name), *name))
        .filter(|(score, _)| *score > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// "1 row", "2 rows".
pub(crate) fn rows_in_words(n: u64) -> String {
    counted(n, "row")
}

/// A number with a word, "1 column", "2 columns"; `one` is the word for one, whose plural ends in s.
pub fn counted(n: u64, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// [`counted`] as a clause, "there is 1 column", "there are 2 columns".
pub(crate) fn there_are(n: u64, one: &str) -> String {
    format!("there {} {}", if n == 1 { "is" } else { "are" }, counted(n, one))
}

fn constant_columns(n: usize) -> String {
    match n {
        1 => "its only column is constant".into(),
        n => format!("all {n} columns are constant"),
    }
}

fn columns_are(n: usize) -> String {
    format!("{n} {}", if n == 1 { "column is" } else { "columns are" })
}

fn were(n: usize) -> String {
    format!("{n} {}", if n == 1 { "was" } else { "were" })
}

/// "n_init must be at least 1, got 0" where `why` states what a value must be; else "n_init=0 is not possible: why".
fn setting_sentence(name: &str, got: &str, why: &str, remedy: &str) -> String {
    let message = match why.strip_prefix("must ") {
        Some(demand) => format!("{name} must {demand}, got {got}"),
        None => format!("{name}={got} is not possible: {why}"),
    };
    match remedy {
        "" => message,
        _ => format!("{message}; {remedy}"),
    }
}

/// The system's reason, without the path of a temporary file, and what would work.
fn reason(what: &str, path: &Path, source: &std::io::Error) -> String {
    let message = source.to_string();
    let message = message.split(" at path ").next().unwrap_or_default();
    let remedy = match source.kind() {
        ErrorKind::NotFound => match neighbour(path) {
            Some(name) if what == "cannot read" => {
                format!("did you mean '{}'?", path.with_file_name(name).display())
            }
            _ => "check the name and the folder".into(),
        },
        ErrorKind::PermissionDenied => "check its permissions, or choose another file or folder".into(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free some disk space, or choose another folder".into()
        }
        ErrorKind::ReadOnlyFilesystem => "choose a folder on another file system".into(),
        _ => return message.into(),
    };
    format!("{message}; {remedy}")
}

/// The most similar file name in the folder of `path`. A single file whose name is that of `path` with a further ending, as
/// `data.pca.safetensors` for `data.pca`, comes before all others.
fn neighbour(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names = std::fs::read_dir(folder).ok()?.take(10_000);
    let mut names: Vec<String> = names.filter_map(|e| e.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    let requested = path.file_name()?.to_str()?;
    let longer = |name: &&String| name.strip_prefix(requested).is_some_and(|rest| rest.starts_with('.'));
    let mut longer = names.iter().filter(longer);
    if let (Some(only), None) = (longer.next(), longer.next()) {
        return Some(only.clone());
    }
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    nearest(requested, &known).map(Into::into)
}

/// Advice for numbers that are not finite.
fn finite_again(what: &str) -> &'static str {
    match what {
        "NaN" => "leave such rows out, or fill their cells first, as unmix::impute::Imputer does",
        _ => "drop or fill such rows first",
    }
}

fn name_column(column: usize, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("column {column} ('{name}')"),
        None => format!("column {column}"),
    }
}

/// A list of names; if there are too many for a message, the first ones and their number.
fn listed(known: &[String]) -> String {
    const ALL: usize = 40;
    const SHOWN: usize = 8;
    match known.len() {
        n if n > ALL => format!("{}, ... ({n} in all)", known[..SHOWN].join(", ")),
        _ => known.join(", "),
    }
}

fn did_you_mean(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map(|s| format!(" (did you mean '{s}'?)")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_name_a_remedy_and_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("digits.npy"), "").unwrap();
        let message = |what, name: &str, kind, text: &str| {
            Error::io(what, folder.path().join(name), std::io::Error::new(kind, text)).to_string()
        };
        let misspelt = message("cannot read", "digts.npy", ErrorKind::NotFound, "none");
        assert!(misspelt.contains("digts.npy: none; did you mean '"), "{misspelt}");
        assert!(misspelt.ends_with("digits.npy'?"), "{misspelt}");
        let far = message("cannot read", "wages.csv", ErrorKind::NotFound, "none");
        assert!(far.ends_with("wages.csv: none; check the name and the folder"), "{far}");
        let full =
            message("cannot write", "a.npy", ErrorKind::StorageFull, "full at path \"/x/.unmix-1.part\"");
        assert!(full.ends_with("a.npy: full; free some disk space, or choose another folder"), "{full}");
    }

    #[test]
    fn a_file_that_exists_is_replaced_by_the_option_of_the_caller() {
        let message = Error::Exists { path: "a/cfg.json".into() }.to_string();
        let in_words = |caller: Caller| caller.message(&message);
        assert_eq!(
            in_words(Caller::Rust),
            "writing a/cfg.json is not possible: the file already exists; give another folder, or set force to replace it"
        );
        assert!(in_words(Caller::Shell).ends_with("or add --force to replace it"), "{message}");
        assert!(in_words(Caller::Python).ends_with("or give force=True to replace it"), "{message}");
    }

    #[test]
    fn numbers_of_rows_and_columns_have_their_plural() {
        let rows = |need| {
            let [method, what, remedy] = ["pca", "a.csv", "give more rows"].map(String::from);
            Error::TooFewRows { method, need, got: 0, what, remedy }.to_string()
        };
        assert_eq!(rows(1), "pca needs at least 1 row, but a.csv has 0; give more rows");
        assert_eq!(rows(2), "pca needs at least 2 rows, but a.csv has 0; give more rows");
        let still =
            |n_features| Error::NoVariance { method: "pca".into(), n_features, n_samples: 9 }.to_string();
        assert!(still(1).contains("but its only column is constant over 9 rows; check"), "{}", still(1));
        assert!(still(3).contains("but all 3 columns are constant over 9 rows; check"), "{}", still(3));
        assert_eq!([1, 2].map(|n| counted(n, "name")), ["1 name", "2 names"]);
        assert_eq!([1, 2].map(|n| there_are(n, "name")), ["there is 1 name", "there are 2 names"]);
        let width = |need, got| {
            Error::Width { what: "encode".into(), need, got, remedy: "check them".into() }.to_string()
        };
        assert_eq!(width(1, 0), "encode: 1 column is needed, but 0 were given; check them");
        assert_eq!(width(3, 1), "encode: 3 columns are needed, but 1 was given; check them");
    }
}
