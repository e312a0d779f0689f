//! Additional files of a command: labels, names, positions, weights, references, dictionaries. The options of reading are those of the input and do
//! not apply to them; their format is detected from their first bytes, whatever their names are.

use std::path::Path;
use unmix::{Error, Result};
use unmix_io::Options;

/// How a file of numbers is read.
pub(crate) fn options() -> Options {
    Options { by_contents: true, wording: unmix_io::Wording::Shell, ..Options::default() }
}

/// A text file in UTF-8, without a byte-order mark; `remedy` names what is accepted in place of another file.
pub(crate) fn text(path: &Path, remedy: &str) -> Result<String> {
    let not_text = || Error::format(path, "it is not text", remedy);
    let bytes = unmix_io::text(path)?.ok_or_else(not_text)?;
    let text = String::from_utf8(bytes).map_err(|_| not_text())?;
    Ok(text.strip_prefix('\u{feff}').map(String::from).unwrap_or(text))
}

/// The delimiter of a table, by its first line; `None` where that has none.
pub(crate) fn delimiter(text: &str) -> Option<u8> {
    let first = text.lines().next().unwrap_or("").as_bytes();
    [b'\t', b',', b';'].into_iter().find(|d| first.contains(d))
}
