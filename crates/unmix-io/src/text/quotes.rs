//! Quotations that are still open at the end of a text: the splitter closes them without an error, and the cell has swallowed every row after
//! its own.
//!
//! Whether a quotation is open depends on all that comes before, which the splitter knows and does not tell. So a record of one odd cell is
//! appended to the text: where the splitter finds it, nothing was open, and where it is the end of another record, a quotation was.

use super::lines::line_at;
use std::io::Read;
use std::path::Path;
use unmix::{Error, Result};

/// What is appended to a text: the end of its last line, and a cell that no delimiter, which is a character of ASCII, divides. The byte is
/// in no text in UTF-8.
pub(super) const END: &[u8] = b"\n\xff";

/// Whether a record is the one that is appended.
pub(super) fn is_end(record: &csv::ByteRecord) -> bool {
    record.len() == 1 && record[0] == END[1..]
}

/// The error of a quotation that opens on this line.
pub(super) fn never_closed(path: &Path, line: u64) -> Error {
    let found = format!(
        "a cell that begins on line {line} contains all lines that follow: the quotation mark that opens there is never closed"
    );
    let error = Error::format(path, found, "close the quotation mark that opens there");
    error.with(|details| details.line = Some(line))
}

/// The number of line breaks in a record before its last cell.
pub(super) fn lines_before_last(record: &csv::ByteRecord) -> u64 {
    let before = record.iter().take(record.len().saturating_sub(1));
    before.map(line_breaks).sum()
}

/// The number of line breaks in a cell, which are `\n`, `\r` or `\r\n`.
fn line_breaks(cell: &[u8]) -> u64 {
    let ends =
        |(i, byte): (usize, &u8)| *byte == b'\r' || (*byte == b'\n' && (i == 0 || cell[i - 1] != b'\r'));
    cell.iter().enumerate().filter(|found| ends(*found)).count() as u64
}

/// Refuses a text of cells with this delimiter that ends in an open quotation; for small files that are read in another way than tables.
///
/// # Errors
///
/// [`Error::Format`], which names the line in which the quotation begins.
pub fn check_quotations(path: &Path, text: &[u8], delimiter: u8) -> Result<()> {
    let mut builder = csv::ReaderBuilder::new();
    let builder = builder.delimiter(delimiter).has_headers(false).flexible(true);
    let mut reader = builder.from_reader(text.chain(END));
    let (mut record, mut last, mut at) = (csv::ByteRecord::new(), csv::ByteRecord::new(), 0);
    loop {
        let start = reader.position().byte();
        // The text is in memory, and records are of any length: there is no other error.
        if !reader.read_byte_record(&mut record).unwrap_or(false) {
            break;
        }
        std::mem::swap(&mut record, &mut last);
        at = start;
    }
    if is_end(&last) {
        return Ok(());
    }
    let first = line_at(text, at).map_err(|e| Error::io("cannot read", path, e))?;
    Err(never_closed(path, first + lines_before_last(&last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_that_is_open_at_the_end_is_refused_with_its_line() {
        let line = |text: &str| {
            let checked = check_quotations(Path::new("t.csv"), text.as_bytes(), b',');
            checked.err().map(|e| {
                let message = e.to_string();
                let (_, after) = message.split_once("begins on line ").unwrap();
                after.split(' ').next().unwrap().parse::<u64>().unwrap()
            })
        };
        for closed in [
            "",
            "\n",
            "a,b\n1,2\n",
            "a,\"b\"",
            "a,\"b\"\n",
            "\"x\ny\",1\n",
            "a,5\"\n",
            "\"x\"\"\"\r\n",
            "a\r1\r",
        ] {
            assert_eq!(line(closed), None, "{closed:?}");
        }
        assert_eq!(line("a,b\n1,\"2\n3,4\n"), Some(2));
        assert_eq!(line("a,b\n1,\""), Some(2));
        assert_eq!(line("\"a,b\n1,2"), Some(1));
        assert_eq!(line("a\r\n\r\n\"x\"\"\r\ny"), Some(3));
        // The cell before contains line breaks and is closed.
        assert_eq!(line("a,b\n\"1\r\n2\n\",\"3\n"), Some(4));
    }
}
