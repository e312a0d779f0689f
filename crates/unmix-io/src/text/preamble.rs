//! Where a table begins that has other lines before it: for messages.

use super::cells;
use super::lines::{Dialect, Lines};
use unmix::data::Bytes;

/// Lines that are examined.
const LINES: usize = 200;

/// Lines of numbers that make a table.
const ROWS: usize = 3;

/// How many lines of the file are before its table, counting those that are passed over already: those before the first of some
/// lines of equally many numbers, but for a line of as many names just above; `None` where no line does.
pub(super) fn before_table(bytes: &Bytes<'static>, gz: bool, dialect: &Dialect) -> Option<u64> {
    let mut lines = Lines::open(bytes, gz, dialect).ok()?;
    let mut record = csv::ByteRecord::new();
    let mut seen = Vec::new();
    while seen.len() < LINES {
        match lines.next(&mut record) {
            Ok(Some(place)) => seen.push((place, record.len(), is_row(&record))),
            _ => break,
        }
    }
    let is_table = |run: &[(_, usize, bool)]| run.iter().all(|(_, n, row)| *row && *n == run[0].1);
    let first = seen.windows(ROWS).position(is_table)?;
    let start = match first.checked_sub(1) {
        Some(above) if seen[above].1 == seen[first].1 => above,
        _ => first,
    };
    if start == 0 { None } else { lines.line(seen[start].0).ok().map(|line| line - 1) }
}

/// Whether a line holds two numbers or more, and no text.
fn is_row(record: &csv::ByteRecord) -> bool {
    let numbers = record.iter().filter(|cell| cells::number(cell).is_some_and(|x| !x.is_nan())).count();
    numbers > 1 && record.iter().all(|cell| cells::number(cell).is_some())
}
