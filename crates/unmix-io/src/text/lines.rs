//! Records of a text file, and where they are.

use super::limiter::{Bounds, LONGEST_LATER_BYTES, LONGEST_RECORD_BYTES, RecordLimiter, RecordTooLong};
use super::{blanks, cells, delimiter, quotes, trailing};
use crate::stored::{FromStart, head, read_failed};
use crate::{Options, gz};
use std::io::{BufRead, BufReader, Cursor, Read};
use std::rc::Rc;
use unmix::data::Bytes;
use unmix::internal::error::counted;
use unmix::{Error, Result};

/// Records one after the other.
pub(super) struct Lines<'a> {
    reader: csv::Reader<RecordLimiter<Box<dyn Read + 'a>>>,
    bytes: &'a Bytes<'static>,
    gz: bool,
    /// Byte of the text at which the first record begins.
    start: u64,
    bounds: Rc<Bounds>,
    dialect: Dialect,
    delimiter: u8,
    /// For each mark of missing cells, whether it was on a cell.
    found: Vec<bool>,
}

/// How the text of a file is read.
#[derive(Clone, Debug)]
pub(super) struct Dialect {
    /// The delimiter by the file extension.
    pub(super) by_ending: u8,
    /// Lines to pass over.
    pub(super) skip: usize,
    /// The delimiter, where it was given.
    pub(super) delimiter: Option<u8>,
    /// Whether numbers have a comma where others have a point.
    pub(super) decimal_comma: bool,
    /// Cells that are missing, in addition to those that always are.
    pub(super) na: Vec<MissingMark>,
    /// Whether every line ends in a delimiter, so that its last cell, which is empty, belongs to no column.
    pub(super) ends_in_delimiter: bool,
    /// What would work for a file that is not text.
    other_format: String,
}

/// A mark of missing cells: those with this text, and where it is a number, those with an equal one.
#[derive(Clone, Debug)]
pub(super) struct MissingMark {
    text: Vec<u8>,
    number: Option<f64>,
}

impl MissingMark {
    fn new(mark: &str, decimal_comma: bool) -> Self {
        let text = mark.trim().as_bytes().to_vec();
        let number = number(&text, decimal_comma).filter(|x| !x.is_nan());
        Self { text, number }
    }

    /// Whether this cell, without blanks around and with the number in it, is marked.
    fn is_on(&self, cell: &[u8], number: Option<f64>) -> bool {
        self.text == cell || (self.number.is_some() && self.number == number)
    }
}

/// The number written in a cell without blanks around. Truth values are none: the mark `0` is not on a cell `FALSE`.
fn number(cell: &[u8], decimal_comma: bool) -> Option<f64> {
    match decimal_comma && cells::has_decimal_comma(cell) {
        true => cells::numeral(&pointed(cell)),
        false => cells::numeral(cell),
    }
}

/// A cell with a decimal point in place of a comma.
fn pointed(cell: &[u8]) -> Vec<u8> {
    cell.iter().map(|&b| if b == b',' { b'.' } else { b }).collect()
}

/// A cell with commas and points exchanged: where commas are decimal marks, as it would be written where points are.
pub(super) fn exchanged(cell: &[u8]) -> Vec<u8> {
    let other = |&b: &u8| match b {
        b',' => b'.',
        b'.' => b',',
        b => b,
    };
    cell.iter().map(other).collect()
}

/// Whether a cell would be read as a number with a decimal point where commas are decimal marks: it may separate thousands.
pub(super) fn has_point(cell: &[u8]) -> bool {
    cell.contains(&b'.') && cells::numeral(cell).is_some()
}

/// Refuses marks of missing cells of which one is given twice: a typing error, such as `?,?` for `?,-`.
fn check_distinct(marks: &[String]) -> Result<()> {
    let marks: Vec<&str> = marks.iter().map(|mark| mark.trim()).collect();
    match marks.iter().enumerate().find(|(i, mark)| marks[..*i].contains(mark)) {
        None => Ok(()),
        Some((_, mark)) => {
            let got = format!("'{mark}' more than once");
            Err(Error::setting("na", got, "must be distinct", "give each mark once"))
        }
    }
}

impl Dialect {
    /// Of a file with the delimiter of this extension.
    pub(super) fn new(by_ending: u8, options: &Options) -> Result<Self> {
        let Options { delimiter, decimal_comma, .. } = *options;
        check_distinct(&options.na)?;
        let na = options.na.iter().map(|mark| MissingMark::new(mark, decimal_comma)).collect();
        if let Some(d) = delimiter.filter(|d| !d.is_ascii() || matches!(d, b'"' | b'\n' | b'\r')) {
            let why = "must be one ASCII character other than a quote or a line break";
            let got = options.wording.text_value(&char::from(d).to_string());
            return Err(Error::setting("delimiter", got, why, "choose one such as ',' or ';'"));
        }
        let by_ending = if decimal_comma && by_ending == b',' { b';' } else { by_ending };
        let other_format = options.other_format();
        let (skip, ends_in_delimiter) = (options.skip_rows, false);
        Ok(Self { by_ending, skip, delimiter, decimal_comma, na, ends_in_delimiter, other_format })
    }

    /// Whether cells are numbers without a conversion.
    pub(super) fn is_plain(&self) -> bool {
        !self.decimal_comma && self.na.is_empty()
    }

    /// The cells as they would be written with decimal points and empty cells where numbers are missing. Marks that are on a cell are
    /// noted in `found`.
    fn rewrite(&self, record: &mut csv::ByteRecord, found: &mut [bool]) {
        let mut plain = |cell: &[u8]| {
            let cell = cell.trim_ascii();
            let x = if self.na.is_empty() { None } else { number(cell, self.decimal_comma) };
            let mut marked = false;
            for (_, found) in self.na.iter().zip(found.iter_mut()).filter(|(mark, _)| mark.is_on(cell, x)) {
                (marked, *found) = (true, true);
            }
            if marked {
                Some(Vec::new())
            } else if self.decimal_comma && (cells::has_decimal_comma(cell) || has_point(cell)) {
                Some(exchanged(cell))
            } else {
                None
            }
        };
        let cells: Vec<Option<Vec<u8>>> = record.iter().map(&mut plain).collect();
        if cells.iter().any(Option::is_some) {
            let before = std::mem::take(record);
            for (cell, was) in cells.iter().zip(&before) {
                record.push_field(cell.as_deref().unwrap_or(was));
            }
        }
    }
}

/// Where a record begins: a byte of the text, at or before its line's first.
#[derive(Clone, Copy)]
pub(super) struct RecordStart(u64);

impl RecordStart {
    /// The position of its first byte in the text.
    pub(super) fn byte(self) -> u64 {
        self.0
    }
}

impl<'a> Lines<'a> {
    /// Skips a byte-order mark and `skip` lines, and detects the delimiter.
    pub(super) fn open(bytes: &'a Bytes<'static>, gz: bool, dialect: &Dialect) -> Result<Self> {
        let skip = dialect.skip;
        let path = bytes.path();
        let mut text = BufReader::with_capacity(1 << 16, text(bytes, gz)?);
        let mark = head(&mut text, 3, path)?;
        let utf16 = mark.starts_with(b"\xff\xfe") || mark.starts_with(b"\xfe\xff");
        let (mut start, mark) = if mark == b"\xef\xbb\xbf" { (3, Vec::new()) } else { (0, mark) };
        let mut text = BufReader::with_capacity(1 << 16, Cursor::new(mark).chain(text));
        for passed in 0..skip {
            match text.skip_until(b'\n').map_err(|e| read_failed(e, path))? {
                0 => {
                    let why = format!("{} has {}", path.display(), counted(passed as u64, "line"));
                    return Err(Error::setting("skip_rows", skip, why, "skip fewer"));
                }
                n => start += n as u64,
            }
        }
        let head = head(&mut text, HEAD as u64, path)?;
        if utf16 || head.contains(&0) {
            let found = if utf16 {
                "it is text in UTF-16"
            } else {
                "it holds null bytes, which text does not contain"
            };
            let remedy = format!("save it as text in UTF-8, or {}", dialect.other_format);
            return Err(Error::format(path, found, remedy));
        }
        if head.len() == HEAD && !head.iter().any(|b| is_end(*b)) && !ends(bytes, gz, start)? {
            return Err(too_long(bytes, gz, start, LONGEST_RECORD_BYTES)?);
        }
        let sniffed = || delimiter::sniff(&head, dialect.by_ending, dialect.decimal_comma);
        let delimiter = match dialect.delimiter {
            Some(b' ') => blanks::DELIMITER,
            Some(given) => given,
            None => sniffed(),
        };
        let by_blanks = delimiter == blanks::DELIMITER;
        let bounds = Rc::new(Bounds::new());
        let layout = blanks::layout(&head);
        let text = Cursor::new(head).chain(text);
        let text: Box<dyn Read> =
            if by_blanks { Box::new(blanks::Blanks::new(text, layout)) } else { Box::new(text) };
        let limiter = RecordLimiter::new(text, bounds.clone());
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .comment(by_blanks.then_some(blanks::COMMENT))
            .buffer_capacity(1 << 17)
            .from_reader(limiter);
        let found = vec![false; dialect.na.len()];
        Ok(Self { reader, bytes, gz, start, bounds, dialect: dialect.clone(), delimiter, found })
    }

    /// The delimiter.
    pub(super) fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Resets the record of the marks of missing cells that were found: those in a header are names.
    pub(super) fn forget_marks(&mut self) {
        self.found.fill(false);
    }

    /// The marks of missing cells, by their places in the options, that were on no cell.
    pub(super) fn marks_not_found(&self) -> impl Iterator<Item = usize> {
        self.found.iter().enumerate().filter(|(_, found)| !**found).map(|(mark, _)| mark)
    }

    /// Reads the next record and returns its position; `None` at the end. A quotation that is open at the end of the text is an error: it
    /// would contain all rows that follow.
    pub(super) fn next(&mut self, record: &mut csv::ByteRecord) -> Result<Option<RecordStart>> {
        let at = self.reader.position().byte();
        self.bounds.start.set(at);
        match self.reader.read_byte_record(record) {
            Ok(more) => {
                let end = self.reader.position().byte();
                let length = end - at;
                if more && self.bounds.is_past(end) {
                    if !quotes::is_end(record) {
                        return Err(self.open_quotation(record, self.start + at)?);
                    }
                    record.clear();
                    return Ok(None);
                }
                if at == 0 {
                    self.bounds.longest.set((4 * length).clamp(LONGEST_LATER_BYTES, LONGEST_RECORD_BYTES));
                }
                if more && self.delimiter == blanks::DELIMITER {
                    record.trim();
                }
                if more && self.dialect.ends_in_delimiter {
                    trailing::leave_out(record);
                }
                if more && !self.dialect.is_plain() {
                    self.dialect.rewrite(record, &mut self.found);
                }
                Ok(more.then_some(RecordStart(self.start + at)))
            }
            Err(e) => match e.into_kind() {
                csv::ErrorKind::Io(e) => match e.get_ref().and_then(|e| e.downcast_ref::<RecordTooLong>()) {
                    Some(endless) => Err(self.endless(endless, self.start + at)?),
                    None => Err(read_failed(e, self.bytes.path())),
                },
                kind => Err(Error::format(self.bytes.path(), format!("{kind:?}"), "write it again")),
            },
        }
    }

    /// The error for a record that begins at byte `at` and never ends.
    fn endless(&self, found: &RecordTooLong, at: u64) -> Result<Error> {
        match found.line {
            Some(start) => too_long(self.bytes, self.gz, self.start + start, found.longest),
            None => {
                let line = line_of(self.bytes, self.gz, at)?;
                let found = format!("a quotation mark that opens on line {line} is never closed");
                let error =
                    Error::format(self.bytes.path(), found, "close it, or check that the file is a table");
                Ok(error.with(|details| details.line = Some(line)))
            }
        }
    }

    /// The error for the last record, which begins at byte `at` of the text and ends in a quotation that is not closed.
    fn open_quotation(&self, record: &csv::ByteRecord, at: u64) -> Result<Error> {
        let first = line_of(self.bytes, self.gz, at)?;
        Ok(quotes::never_closed(self.bytes.path(), first + quotes::lines_before_last(record)))
    }

    /// The number, from 1, of the line in which a record begins. Counted from the start on demand, which is once: for the message
    /// that ends the reading.
    pub(super) fn line(&self, place: RecordStart) -> Result<u64> {
        line_of(self.bytes, self.gz, place.0)
    }
}

/// The number, from 1, of the line that begins at byte `place` of the text, or after blank lines there.
fn line_of(bytes: &Bytes<'static>, gz: bool, place: u64) -> Result<u64> {
    let text = BufReader::with_capacity(1 << 16, text(bytes, gz)?);
    line_at(text, place).map_err(|e| read_failed(e, bytes.path()))
}

/// [`line_of`] in a text that is read from its start.
pub(super) fn line_at(mut text: impl BufRead, place: u64) -> std::io::Result<u64> {
    let (mut line, mut at, mut after_return) = (1, 0, false);
    loop {
        let part = text.fill_buf()?;
        if part.is_empty() {
            return Ok(line);
        }
        for &byte in part {
            // Line ends at the place itself are blank lines, or the second half of "\r\n".
            if at >= place && !is_end(byte) {
                return Ok(line);
            }
            line += u64::from(byte == b'\r' || (byte == b'\n' && !after_return));
            after_return = byte == b'\r';
            at += 1;
        }
        let n = part.len();
        text.consume(n);
    }
}

pub(super) fn is_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Whether the line that begins at byte `start` of the text ends, or the text does, before it is too long: found out without
/// holding it.
fn ends(bytes: &Bytes<'static>, gz: bool, start: u64) -> Result<bool> {
    let failed = |e| read_failed(e, bytes.path());
    let mut text = BufReader::with_capacity(1 << 16, text(bytes, gz)?);
    std::io::copy(&mut text.by_ref().take(start), &mut std::io::sink()).map_err(failed)?;
    let mut read = 0;
    while read <= LONGEST_RECORD_BYTES {
        let part = text.fill_buf().map_err(failed)?;
        if part.is_empty() || part.iter().any(|b| is_end(*b)) {
            return Ok(true);
        }
        let n = part.len();
        text.consume(n);
        read += n as u64;
    }
    Ok(false)
}

/// The error for the line that begins at byte `start` of the text.
fn too_long(bytes: &Bytes<'static>, gz: bool, start: u64, longest: u64) -> Result<Error> {
    let line = line_of(bytes, gz, start)?;
    let found = format!("line {line} is longer than {} MiB, which is too long for one row", longest >> 20);
    let error = Error::format(bytes.path(), found, "check that the file is a table");
    Ok(error.with(|details| details.line = Some(line)))
}

/// The text from its start, decompressed.
fn text<'a>(bytes: &'a Bytes<'static>, gz: bool) -> Result<Box<dyn Read + 'a>> {
    Ok(if gz { Box::new(gz::decoder(bytes)?) } else { Box::new(FromStart::new(bytes)) })
}

/// Bytes that are examined before anything is known.
const HEAD: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: Vec<u8>) -> String {
        let bytes = Bytes::Owned { data: text, path: "t.csv".into() };
        let mut record = csv::ByteRecord::new();
        let mut read = || -> Result<()> {
            let dialect = Dialect::new(b',', &Options::default())?;
            let mut lines = Lines::open(&bytes, false, &dialect)?;
            while lines.next(&mut record)?.is_some() {}
            Ok(())
        };
        read().unwrap_err().to_string()
    }

    #[test]
    fn a_line_that_is_too_long_and_a_quote_that_is_not_closed_are_reported_with_their_lines() {
        let first = message(vec![b'1'; (LONGEST_RECORD_BYTES + (1 << 20)) as usize]);
        assert!(first.contains("line 1 is longer than 64 MiB"), "{first}");
        let later = [&b"a,b\n1,2\n"[..], &vec![b','; (LONGEST_LATER_BYTES + (1 << 20)) as usize]].concat();
        assert!(message(later).contains("line 3 is longer than 16 MiB"));
        let open = [&b"a,b\n1,2\n\"3,"[..], &b"4\n5,".repeat(5 << 20)].concat();
        assert!(message(open).contains("a quotation mark that opens on line 3 is never closed"));
    }
}
