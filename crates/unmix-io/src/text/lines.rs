//! Records of a text file, and where they are.

use super::delimiter;
use crate::gz;
use crate::stored::{FromStart, head, read_failed};
use std::cell::Cell;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::rc::Rc;
use unmix::data::Bytes;
use unmix::{Error, Result};

/// Records one after the other.
pub(super) struct Lines<'a> {
    reader: csv::Reader<Guard<Box<dyn Read + 'a>>>,
    bytes: &'a Bytes<'static>,
    gz: bool,
    /// Byte of the text at which the first record begins.
    start: u64,
    record_start: Rc<Cell<u64>>,
    delimiter: u8,
}

/// Where a record begins: a byte of the text, at or before its line's first.
#[derive(Clone, Copy)]
pub(super) struct Place(u64);

impl Place {
    /// That byte.
    pub(super) fn byte(self) -> u64 {
        self.0
    }
}

impl<'a> Lines<'a> {
    /// Passes over a byte-order mark and `skip` lines, and finds out what stands between cells.
    pub(super) fn open(bytes: &'a Bytes<'static>, gz: bool, by_ending: u8, skip: usize) -> Result<Self> {
        let path = bytes.path();
        let mut text = BufReader::with_capacity(1 << 16, text(bytes, gz)?);
        let mark = head(&mut text, 3, path)?;
        let utf16 = mark.starts_with(b"\xff\xfe") || mark.starts_with(b"\xfe\xff");
        let (mut start, mark) = if mark == b"\xef\xbb\xbf" { (3, Vec::new()) } else { (0, mark) };
        let mut text = BufReader::with_capacity(1 << 16, Cursor::new(mark).chain(text));
        for passed in 0..skip {
            match text.skip_until(b'\n').map_err(|e| read_failed(e, path))? {
                0 => {
                    let why = format!("{} has {passed} lines", path.display());
                    return Err(Error::setting("skip_rows", skip, why, "pass over fewer"));
                }
                n => start += n as u64,
            }
        }
        let head = head(&mut text, 1 << 16, path)?;
        if utf16 || head.contains(&0) {
            let found = if utf16 { "it is text in UTF-16" } else { "it holds bytes that no text has" };
            let remedy = "save it as text in UTF-8, or give it the ending of its format";
            return Err(Error::format(path, found, remedy));
        }
        let delimiter = delimiter::sniff(&head, by_ending);
        let record_start = Rc::new(Cell::new(0));
        let text: Box<dyn Read> = Box::new(Cursor::new(head).chain(text));
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .buffer_capacity(1 << 17)
            .from_reader(Guard { text, read: 0, record_start: record_start.clone() });
        Ok(Self { reader, bytes, gz, start, record_start, delimiter })
    }

    /// What stands between cells.
    pub(super) fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Reads the next record and says where it is; `None` at the end.
    pub(super) fn next(&mut self, record: &mut csv::ByteRecord) -> Result<Option<Place>> {
        let at = self.reader.position().byte();
        self.record_start.set(at);
        match self.reader.read_byte_record(record) {
            Ok(more) => Ok(more.then_some(Place(self.start + at))),
            Err(e) => match e.into_kind() {
                csv::ErrorKind::Io(e) if e.get_ref().is_some_and(|e| e.is::<Endless>()) => {
                    let found = format!("{} from line {} on", Endless, self.line(Place(self.start + at))?);
                    Err(Error::format(
                        self.bytes.path(),
                        found,
                        "close the quote, or check that the file is a table",
                    ))
                }
                csv::ErrorKind::Io(e) => Err(read_failed(e, self.bytes.path())),
                kind => Err(Error::format(self.bytes.path(), format!("{kind:?}"), "write it again")),
            },
        }
    }

    /// The number, from 1, of the line in which a record begins. Counted from the start when somebody asks, which is once: for
    /// the message that ends the reading.
    pub(super) fn line(&self, place: Place) -> Result<u64> {
        let failed = |e| read_failed(e, self.bytes.path());
        let mut text = BufReader::with_capacity(1 << 16, text(self.bytes, self.gz)?);
        let (mut line, mut at, mut after_return) = (1, 0, false);
        loop {
            let part = text.fill_buf().map_err(failed)?;
            if part.is_empty() {
                return Ok(line);
            }
            for &byte in part {
                // Line ends at the place itself are blank lines, or the second half of "\r\n".
                if at >= place.0 && !matches!(byte, b'\n' | b'\r') {
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
}

/// The text from its start, decompressed.
fn text<'a>(bytes: &'a Bytes<'static>, gz: bool) -> Result<Box<dyn Read + 'a>> {
    Ok(if gz { Box::new(gz::decoder(bytes)?) } else { Box::new(FromStart::new(bytes)) })
}

/// Refuses records that never end. The splitter holds a record in memory, and after a quote that is not closed, or in a file
/// that is not text, that would be all the rest.
struct Guard<R> {
    text: R,
    read: u64,
    record_start: Rc<Cell<u64>>,
}

/// The longest record: some ten million numbers.
const LONGEST: u64 = 256 << 20;

impl<R: Read> Read for Guard<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.read.saturating_sub(self.record_start.get()) > LONGEST {
            return Err(std::io::Error::other(Endless));
        }
        let n = self.text.read(out)?;
        self.read += n as u64;
        Ok(n)
    }
}

/// A record that never ends.
#[derive(Debug)]
struct Endless;

impl std::fmt::Display for Endless {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "it has a line of more than {} MiB, or a quote that is never closed,", LONGEST >> 20)
    }
}

impl std::error::Error for Endless {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_never_ends_is_refused_and_records_that_end_are_not() {
        let record_start = Rc::new(Cell::new(0));
        let mut guard = Guard { text: std::io::repeat(b'x'), read: 0, record_start: record_start.clone() };
        let mut buffer = vec![0; 1 << 20];
        // Records that end: the start moves on, and a text of twice the length goes through.
        while guard.read < 2 * LONGEST {
            assert!(guard.read(&mut buffer).unwrap() > 0);
            record_start.set(guard.read);
        }
        let refused = loop {
            match guard.read(&mut buffer) {
                Ok(n) => assert!(n > 0 && guard.read <= 3 * LONGEST + (2 << 20)),
                Err(e) => break e,
            }
        };
        assert!(refused.get_ref().is_some_and(|e| e.is::<Endless>()));
    }
}
