//! Additional files of a command: labels, names, positions, weights, references, dictionaries. The options of reading are those of the input; of
//! files of numbers that cannot be read without them, those that describe text apply. Their format is detected from their first bytes, whatever
//! their names are.

use std::path::Path;
use unmix::{Error, Result, Run};
use unmix_io::{Input, Options};

/// How a file of numbers is read.
pub(crate) fn options() -> Options {
    Options { by_contents: true, wording: unmix_io::Wording::Shell, ..Options::default() }
}

/// A file of numbers, read with `options`. Text that cannot be read with them, or not to what `accepts` does, may be written as the input is: it is
/// read with the delimiter, the decimal mark and the marks of missing cells of `input`.
pub(crate) fn open(
    path: &Path,
    options: Options,
    input: &Options,
    accepts: impl Fn(&Input) -> bool,
    run: &Run<'_>,
) -> Result<Input> {
    let plain = unmix_io::open_with(path, &options, run);
    let has_marks = input.delimiter.is_some() || input.decimal_comma || !input.na.is_empty();
    // A pipe cannot be read again.
    if !has_marks || unmix_io::is_read_once(path) || plain.as_ref().is_ok_and(&accepts) {
        return plain;
    }
    if !unmix_io::text(path).is_ok_and(|text| text.is_some()) {
        return plain;
    }
    let (delimiter, na) = (input.delimiter, input.na.clone());
    let marked = Options { delimiter, decimal_comma: input.decimal_comma, na, ..options };
    match (unmix_io::open_with(path, &marked, run), plain) {
        (Ok(found), plain) if plain.is_err() || accepts(&found) => Ok(found),
        (Err(error), Err(_)) => Err(error),
        (_, plain) => plain,
    }
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
