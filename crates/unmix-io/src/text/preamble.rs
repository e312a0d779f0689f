//! Where a table begins that has other lines before it: for messages.

use super::cells;
use super::lines::{Dialect, Lines};
use unmix::data::Bytes;

/// Lines that are examined.
const EXAMINED_LINES: usize = 200;

/// Lines of numbers that make a table.
const ROWS_OF_A_TABLE: usize = 3;

/// Lines that are not part of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preamble {
    /// This many lines of the file, counting those that are passed over already, are above the table.
    Above(u64),
    /// They are below its first line, which is as long as its rows: passing over them would lose the names of the columns.
    Below(OddLines),
}

/// Lines by their numbers, the last included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OddLines {
    first: u64,
    last: u64,
}

impl OddLines {
    /// What to do about them.
    pub(super) fn remedy(self) -> String {
        match self {
            Self { first, last } if first == last => {
                format!("delete line {first}, which is not part of the table")
            }
            Self { first, last } => {
                format!("delete lines {first} to {last}, which are not part of the table")
            }
        }
    }
}

/// The lines of the file that are not part of its table: those before the first of some lines of equally many numbers, but for a line of as
/// many names just above, or for a first line of as many cells; `None` where no line is.
pub(super) fn before_table(bytes: &Bytes<'static>, gz: bool, dialect: &Dialect) -> Option<Preamble> {
    let mut lines = Lines::open(bytes, gz, dialect).ok()?;
    let mut record = csv::ByteRecord::new();
    let mut seen = Vec::new();
    while seen.len() < EXAMINED_LINES {
        match lines.next(&mut record) {
            Ok(Some(place)) => seen.push((place, record.len(), is_row(&record))),
            _ => break,
        }
    }
    let is_table = |run: &[(_, usize, bool)]| run.iter().all(|(_, n, row)| *row && *n == run[0].1);
    let table = seen.windows(ROWS_OF_A_TABLE).position(is_table)?;
    let line = |i: usize| lines.line(seen[i].0).ok();
    let width = seen[table].1;
    match table {
        0 => None,
        1 if seen[0].1 == width => None,
        _ if seen[table - 1].1 == width => Some(Preamble::Above(line(table - 1)? - 1)),
        _ if seen[0].1 == width => {
            Some(Preamble::Below(OddLines { first: line(1)?, last: line(table)? - 1 }))
        }
        _ => Some(Preamble::Above(line(table)? - 1)),
    }
}

/// Whether a line holds two numbers or more, and no text.
fn is_row(record: &csv::ByteRecord) -> bool {
    let numbers = record.iter().filter(|cell| cells::number(cell).is_some_and(|x| !x.is_nan())).count();
    numbers > 1 && record.iter().all(|cell| cells::number(cell).is_some())
}
