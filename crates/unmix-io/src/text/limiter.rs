//! The text of a table as it is given to the splitter of records: no record is longer than a limit, and one more record follows the last.

use super::lines::is_end;
use super::quotes;
use std::cell::Cell;
use std::io::Read;
use std::rc::Rc;

/// Refuses records that never end. The splitter holds a record in memory, with eight bytes or more for each cell, and after a quote
/// that is not closed, or in a file that is not text, that would be all the rest.
pub(super) struct RecordLimiter<R> {
    text: R,
    read: u64,
    /// Where the last line begins, of which bytes have been read.
    line: u64,
    /// What is still to be read after the text: [`quotes::END`].
    end: &'static [u8],
    bounds: Rc<Bounds>,
}

/// Where the current record begins, how long it may be, and where the text ends.
pub(super) struct Bounds {
    pub(super) start: Cell<u64>,
    pub(super) longest: Cell<u64>,
    /// Bytes of the text, once all of it has been read.
    text: Cell<Option<u64>>,
}

impl Bounds {
    pub(super) fn new() -> Self {
        Self { start: Cell::new(0), longest: Cell::new(LONGEST_RECORD_BYTES), text: Cell::new(None) }
    }

    /// Whether a record that ends at this byte includes what is read after the text.
    pub(super) fn is_past(&self, end: u64) -> bool {
        self.text.get().is_some_and(|text| end == text + quotes::END.len() as u64)
    }
}

/// The longest record: some ten million numbers.
pub(super) const LONGEST_RECORD_BYTES: u64 = 64 << 20;

/// The longest of those after a short one. No line of a table is much longer than the first.
pub(super) const LONGEST_LATER_BYTES: u64 = 16 << 20;

impl<R> RecordLimiter<R> {
    /// The text, and after it what is appended to find quotations that are open.
    pub(super) fn new(text: R, bounds: Rc<Bounds>) -> Self {
        Self { text, read: 0, line: 0, end: quotes::END, bounds }
    }
}

impl<R: Read> Read for RecordLimiter<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let (start, longest) = (self.bounds.start.get(), self.bounds.longest.get());
        if self.read.saturating_sub(start) > longest {
            let line = (self.read - self.line > longest).then_some(self.line);
            return Err(std::io::Error::other(RecordTooLong { line, longest }));
        }
        let n = self.text.read(out)?;
        if n == 0 {
            if self.bounds.text.get().is_none() {
                self.bounds.text.set(Some(self.read));
            }
            return self.end.read(out);
        }
        if let Some(end) = out[..n].iter().rposition(|b| is_end(*b)) {
            self.line = self.read + end as u64 + 1;
        }
        self.read += n as u64;
        Ok(n)
    }
}

/// A record that never ends.
#[derive(Debug)]
pub(super) struct RecordTooLong {
    /// Offset of its last line, if this line alone exceeds the limit.
    pub(super) line: Option<u64>,
    pub(super) longest: u64,
}

impl std::fmt::Display for RecordTooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a record of more than {} MiB", self.longest >> 20)
    }
}

impl std::error::Error for RecordTooLong {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_never_ends_is_refused_and_records_that_end_are_not() {
        let bounds = Rc::new(Bounds::new());
        let mut limiter = RecordLimiter::new(std::io::repeat(b'x'), bounds.clone());
        let mut buffer = vec![0; 1 << 20];
        // Records that end: the start moves on, and a text of twice the length goes through.
        while limiter.read < 2 * LONGEST_RECORD_BYTES {
            assert!(limiter.read(&mut buffer).unwrap() > 0);
            bounds.start.set(limiter.read);
        }
        let refused = loop {
            match limiter.read(&mut buffer) {
                Ok(n) => assert!(n > 0 && limiter.read <= 3 * LONGEST_RECORD_BYTES + (2 << 20)),
                Err(e) => break e,
            }
        };
        assert!(refused.get_ref().is_some_and(|e| e.is::<RecordTooLong>()));
    }
}
