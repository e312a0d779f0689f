//! Lines of numbers without quotes, by all threads: the usual case, and several times faster than the general one.
//!
//! The text is read in blocks that end with a line, each cut into pieces at line ends, one for each thread. Whatever is unusual (a
//! quote, a cell that is no number, a line of another length) ends it without a result, and the general reader, which knows what
//! to say of it, begins again at the first line. Cells are read by the same function, so both give the same numbers.

use super::cells::{self, Role};
use unmix::data::{Bytes, Spool};
use unmix::{Result, Run};

/// Bytes read at once.
const BLOCK: usize = 8 << 20;
/// Bytes below which a second thread is not worth waking.
const PIECE: usize = 1 << 18;

/// How lines are made of cells.
pub(super) struct Plain<'a> {
    pub(super) bytes: &'a Bytes<'static>,
    pub(super) delimiter: u8,
    /// What becomes of each column; none is kept as text.
    pub(super) roles: &'a [Role],
    /// Numbers in a row.
    pub(super) width: usize,
}

impl Plain<'_> {
    /// Writes the rows from byte `start` on into `spool` and says how many there are; `None` where something is unusual.
    pub(super) fn read(&self, start: u64, spool: &mut Spool, run: &Run<'_>) -> Result<Option<u64>> {
        let (mut at, mut n_rows, len) = (start, 0, self.bytes.len());
        let mut block = Vec::new();
        while at < len {
            block.resize(BLOCK.min((len - at) as usize), 0);
            self.bytes.read_at(at, &mut block)?;
            let end = match block.iter().rposition(|&b| b == b'\n') {
                Some(last) => last + 1,
                None if at + block.len() as u64 == len => block.len(),
                None => return Ok(None),
            };
            // The last line may have no end.
            let end = if at + block.len() as u64 == len { block.len() } else { end };
            for numbers in self.pieces(&block[..end], run.threads) {
                let Some(numbers) = numbers else { return Ok(None) };
                n_rows += (numbers.len() / self.width.max(1)) as u64;
                spool.write_numbers(&numbers)?;
            }
            at += end as u64;
            crate::progress(run, n_rows)?;
        }
        Ok(Some(n_rows))
    }

    /// The numbers of each piece of a block of whole lines.
    fn pieces(&self, block: &[u8], threads: usize) -> Vec<Option<Vec<f64>>> {
        let count = threads.min(block.len() / PIECE).max(1);
        if count == 1 {
            return vec![self.numbers(block)];
        }
        let mut rest = block;
        let mut parts = Vec::new();
        for left in (1..=count).rev() {
            let about = rest.len() / left;
            let cut = if left == 1 {
                rest.len()
            } else {
                rest[about..].iter().position(|&b| b == b'\n').map_or(rest.len(), |i| about + i + 1)
            };
            let (part, more) = rest.split_at(cut);
            parts.push(part);
            rest = more;
        }
        std::thread::scope(|scope| {
            let others: Vec<_> = parts[1..].iter().map(|part| scope.spawn(|| self.numbers(part))).collect();
            let first = self.numbers(parts[0]);
            let others = others.into_iter().map(|thread| thread.join().unwrap_or(None));
            std::iter::once(first).chain(others).collect()
        })
    }

    fn numbers(&self, text: &[u8]) -> Option<Vec<f64>> {
        // What the general reader has rules for.
        if text.iter().any(|&b| b == b'"' || b == 0) {
            return None;
        }
        let mut out = Vec::with_capacity(text.len() / 8);
        for line in text.split(|&b| b == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                continue;
            }
            if line.trim_ascii().is_empty() {
                // With several columns no row; with one, a missing cell.
                if self.roles.len() > 1 {
                    continue;
                }
                return None;
            }
            self.row(line, &mut out)?;
        }
        Some(out)
    }

    /// Appends the numbers of a line.
    fn row(&self, line: &[u8], out: &mut Vec<f64>) -> Option<()> {
        let start = out.len();
        out.resize(start + self.width, f64::NAN);
        let mut rest = line;
        for (column, role) in self.roles.iter().enumerate() {
            let end = match *role {
                Role::Feature(i) => {
                    let (x, end) = self.number(rest)?;
                    out[start + i] = x;
                    end
                }
                _ => self.cell(rest),
            };
            // A delimiter between cells, none after the last.
            match (rest.get(end), column + 1 == self.roles.len()) {
                (None, true) => return Some(()),
                (Some(_), false) => rest = &rest[end + 1..],
                _ => return None,
            }
        }
        None
    }

    /// Length of the cell that `rest` begins with.
    fn cell(&self, rest: &[u8]) -> usize {
        rest.iter().position(|&b| b == self.delimiter).unwrap_or(rest.len())
    }

    /// The number that `rest` begins with, and how long its cell is.
    fn number(&self, rest: &[u8]) -> Option<(f64, usize)> {
        if let Ok((x, n)) = fast_float2::parse_partial::<f64, _>(rest)
            && n > 0
            && rest.get(n).is_none_or(|&b| b == self.delimiter)
        {
            return Some((x, n));
        }
        let end = self.cell(rest);
        cells::number(&rest[..end]).map(|x| (x, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn read(text: &str, roles: &[Role], threads: usize) -> Option<(u64, Vec<f64>)> {
        let bytes = Bytes::Owned { data: text.as_bytes().to_vec(), path: PathBuf::from("t.csv") };
        let width = roles.iter().filter(|r| matches!(r, Role::Feature(_))).count();
        let mut spool = Spool::new("t.csv");
        let plain = Plain { bytes: &bytes, delimiter: b',', roles, width };
        let run = Run { threads, ..Run::default() };
        let n = plain.read(0, &mut spool, &run).unwrap()?;
        let array = spool.finish().unwrap();
        let mut raw = vec![0; array.len() as usize];
        array.read_at(0, &mut raw).unwrap();
        Some((n, raw.as_chunks::<8>().0.iter().map(|b| f64::from_ne_bytes(*b)).collect()))
    }

    const TWO: [Role; 2] = [Role::Feature(0), Role::Feature(1)];

    #[test]
    fn usual_lines_are_numbers_and_unusual_ones_are_left_to_others() {
        assert_eq!(read("1,2\n3,4e1\n", &TWO, 1), Some((2, vec![1.0, 2.0, 3.0, 40.0])));
        assert_eq!(
            read("1,2\r\n\n 3 ,\t4\r\n  \n5,6", &TWO, 2),
            Some((3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
        );
        let (n, missing) = read(",NA\nnan,1\n", &TWO, 1).unwrap();
        assert!(n == 2 && missing[..3].iter().all(|x| x.is_nan()) && missing[3] == 1.0);
        let some = [Role::Feature(1), Role::Passed, Role::Feature(0)];
        assert_eq!(read("1,text,2\n", &some, 1), Some((1, vec![2.0, 1.0])));
        for odd in ["1,2,3\n", "1\n", "a,2\n", "\"1\",2\n", "1\r2,3\n", "1,2,\n", "1 2,3\n"] {
            assert_eq!(read(odd, &TWO, 1), None, "{odd:?}");
        }
        assert_eq!(read(" \n", &TWO[..1], 1), None, "a missing cell of a single column");
    }

    #[test]
    fn any_number_of_threads_gives_the_same_numbers() {
        let text: String = (0..200_000).map(|i| format!("{},{}.{}\n", i, i % 97, i % 13)).collect();
        let one = read(&text, &TWO, 1).unwrap();
        assert!(text.len() > 8 * PIECE && one.0 == 200_000);
        assert_eq!(one, read(&text, &TWO, 2).unwrap());
        assert_eq!(one, read(&text, &TWO, 7).unwrap());
    }
}
