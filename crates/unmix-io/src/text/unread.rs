//! Rows of a text file after the last one that is requested. They are not read, and only counted where values for rows may be those of all rows of
//! the file.

use super::lines::{Dialect, Lines};
use crate::CountRows;
use std::path::Path;
use std::time::SystemTime;
use unmix::data::Bytes;
use unmix::{Error, Result};

/// Counts the rows after the first `n_passed` lines of cells, of a header and of rows. What follows may be of any form: rows end at a line of
/// another number of cells. The file is opened again when they are counted; a copy of what can be read only once is kept.
///
/// # Errors
///
/// The system refuses another handle of that copy.
pub(super) fn count(
    bytes: &Bytes<'static>,
    gz: bool,
    dialect: &Dialect,
    n_columns: usize,
    n_passed: u64,
) -> Result<CountRows> {
    let dialect = dialect.clone();
    Ok(match bytes {
        Bytes::File { len, modified: Some(modified), path, .. } => {
            let (len, modified, path) = (*len, *modified, path.clone());
            Box::new(move || n_rows(&reopened(&path, len, modified)?, gz, &dialect, n_columns, n_passed))
        }
        bytes => {
            let bytes = bytes.try_clone()?;
            Box::new(move || n_rows(&bytes, gz, &dialect, n_columns, n_passed))
        }
    })
}

/// Whether a record is a line of blanks, which is not a row. Where lines end in a delimiter, no cell remains of such a line, and an empty one of a line
/// that is a delimiter alone.
pub(super) fn is_blank(record: &csv::ByteRecord, n_columns: usize) -> bool {
    record.is_empty() || (n_columns > 1 && record.len() == 1 && record[0].trim_ascii().is_empty())
}

/// The file at this path, which is to be the one that was read.
fn reopened(path: &Path, length: u64, time: SystemTime) -> Result<Bytes<'static>> {
    let bytes = Bytes::open(path)?;
    let is_same =
        matches!(&bytes, Bytes::File { len, modified, .. } if *len == length && *modified == Some(time));
    match is_same {
        true => Ok(bytes),
        false => Err(Error::format(path, "it was modified after it was opened", "open it again")),
    }
}

fn n_rows(
    bytes: &Bytes<'static>,
    gz: bool,
    dialect: &Dialect,
    n_columns: usize,
    n_passed: u64,
) -> Result<u64> {
    let (mut lines, mut record) = (Lines::open(bytes, gz, dialect)?, csv::ByteRecord::new());
    let (mut passed, mut n) = (0, 0);
    // A line that cannot be read is of another form.
    while let Ok(Some(_)) = lines.next(&mut record) {
        if is_blank(&record, n_columns) {
            continue;
        }
        if passed < n_passed {
            passed += 1;
            continue;
        }
        if record.len() != n_columns {
            break;
        }
        n += 1;
    }
    Ok(n)
}
