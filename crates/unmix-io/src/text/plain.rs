//! Lines of numbers without quotes, by all threads: the usual case.
//!
//! Threads take pieces of the text that end with a line, one after the other; a piece's lines are counted as it is read, so that
//! its thread has the position of its rows before it reads a cell. Whatever is unusual (a quote, a cell that is not a number, a line
//! of another length) ends it without a result, and the general reader, which has the error messages, starts again at the first
//! line. Both round every number to the nearest double, so both give the same.

use super::cells::{self, Role};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use unmix::data::{Bytes, Spool};
use unmix::{Result, Run};

/// Bytes of a piece: with what becomes of it, it stays in the second cache.
const PIECE_BYTES: usize = 1 << 18;
/// Bytes of the longest line.
const LONGEST_LINE_BYTES: usize = 8 << 20;
/// Bytes after a piece, so that eight bytes can be examined wherever a number may begin.
const PAD_BYTES: usize = 32;

/// How lines are made of cells.
pub(super) struct Plain<'a> {
    pub(super) bytes: &'a Bytes<'static>,
    pub(super) delimiter: u8,
    /// Whether every line ends in one, after which there is no cell.
    pub(super) ends_in_delimiter: bool,
    /// The role of each column; none is kept as text.
    pub(super) roles: &'a [Role],
    /// Numbers in a row.
    pub(super) width: usize,
    /// Number of rows after which no row is needed.
    pub(super) n_requested: u64,
}

/// Rows of numbers.
pub(super) enum Numbers {
    /// In memory, all of them.
    Held(Vec<f64>),
    /// Written down.
    Spooled(Spool),
}

impl Numbers {
    /// Written down in any case.
    pub(super) fn spooled(self, origin: &Path) -> Result<Spool> {
        match self {
            Numbers::Spooled(spool) => Ok(spool),
            Numbers::Held(numbers) => {
                let mut spool = Spool::new(origin);
                spool.write_numbers(&numbers)?;
                Ok(spool)
            }
        }
    }
}

/// The queue from which threads take pieces of the text.
struct WorkQueue<'r> {
    /// Where the next piece begins.
    at: u64,
    /// Bytes to examine for its end.
    piece: usize,
    /// Unused room for rows, and the number of rows so far.
    room: &'r mut [f64],
    taken: usize,
    /// Number of rows for which pieces are taken, which may have fewer because of blank lines.
    n_wanted: u64,
    /// No further piece is read: the room is used up, or the result is not needed.
    closed: bool,
}

/// Lines, and room for their rows.
struct Piece<'r> {
    /// Bytes of the lines.
    end: usize,
    /// The first row, counted from where the room begins.
    first: usize,
    room: &'r mut [f64],
}

/// Rows that came of a piece: the first one's place, and how many there are.
type ParsedPiece = (usize, usize);

impl Plain<'_> {
    /// Reads the rows from byte `start` on, no more than are requested, and returns how many there are; `None` where something is unusual.
    pub(super) fn read(&self, start: u64, run: &Run<'_>) -> Result<Option<(u64, Numbers)>> {
        let (mut at, mut n_rows, len) = (start, 0, self.bytes.len());
        let mut spool = Spool::new(self.bytes.path());
        // A cell is followed by a byte, or ends the text. Memory that is not needed is never touched.
        let most = ((len - at) / self.roles.len().max(1) as u64 + 1).saturating_mul(self.width as u64);
        let room = most.min((Spool::IN_MEMORY / size_of::<f64>()) as u64) as usize;
        let mut numbers = unmix::zeros::<f64>(room);
        loop {
            let Some((rows, next)) = self.round(at, n_rows, &mut numbers, run)? else { return Ok(None) };
            // A line that is longer than all the room.
            if next == at && at < len {
                return Ok(None);
            }
            let rows = self.n_requested.saturating_sub(n_rows).min(rows as u64) as usize;
            n_rows += rows as u64;
            crate::progress(run, n_rows)?;
            let ended = next == len || n_rows == self.n_requested;
            if ended && spool.written() == 0 {
                numbers.truncate(rows * self.width);
                numbers.shrink_to_fit();
                return Ok(Some((n_rows, Numbers::Held(numbers))));
            }
            spool.write_numbers(&numbers[..rows * self.width])?;
            if ended {
                return Ok(Some((n_rows, Numbers::Spooled(spool))));
            }
            at = next;
        }
    }

    /// Fills `room` with rows from byte `at` on: returns how many, and the byte at which it stopped. `before` rows came before.
    fn round(&self, at: u64, before: u64, room: &mut [f64], run: &Run<'_>) -> Result<Option<(usize, u64)>> {
        let pieces = (self.bytes.len() - at).div_ceil(PIECE_BYTES as u64);
        let threads = run.threads.min(usize::try_from(pieces).unwrap_or(usize::MAX));
        let n_wanted = self.n_requested - before;
        let feed = Mutex::new(WorkQueue {
            at,
            piece: PIECE_BYTES,
            room: &mut *room,
            taken: 0,
            n_wanted,
            closed: false,
        });
        let work = |reports: bool| -> Result<Option<Vec<ParsedPiece>>> {
            let (mut block, mut made) = (Vec::new(), Vec::new());
            while let Some(Piece { end, first, room }) = self.piece(&feed, &mut block)? {
                let Some(rows) = self.rows(&block, end, room) else {
                    close(&feed);
                    return Ok(None);
                };
                made.push((first, rows));
                if reports {
                    crate::progress(run, before + (first + rows) as u64).inspect_err(|_| close(&feed))?;
                }
            }
            Ok(Some(made))
        };
        let made = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| work(false))).collect();
            let mut all = vec![work(true)];
            all.extend(others.into_iter().map(|thread| thread.join().unwrap_or(Ok(None))));
            all.into_iter().collect::<Result<Option<Vec<_>>>>()
        })?;
        let feed = feed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let next = feed.at;
        Ok(made.map(|made| (self.close_gaps(made.concat(), room), next)))
    }

    /// The next piece, read into `block`; `None` where there is none, or no room for it.
    fn piece<'r>(&self, feed: &Mutex<WorkQueue<'r>>, block: &mut Vec<u8>) -> Result<Option<Piece<'r>>> {
        let mut feed = feed.lock().unwrap_or_else(PoisonError::into_inner);
        let left = self.bytes.len() - feed.at;
        if feed.closed || left == 0 || feed.taken as u64 >= feed.n_wanted {
            return Ok(None);
        }
        let (end, lines) = loop {
            let n = (feed.piece as u64).min(left) as usize;
            block.resize(n + PAD_BYTES, 0);
            self.bytes.read_at(feed.at, &mut block[..n])?;
            block[n..].fill(b'\n');
            match block[..n].iter().rposition(|&b| b == b'\n') {
                // The last line may have no end.
                last if n as u64 == left => break (n, lines(&block[..n]) + usize::from(last != Some(n - 1))),
                Some(last) => break (last + 1, lines(&block[..=last])),
                None if feed.piece >= LONGEST_LINE_BYTES => {
                    feed.closed = true;
                    return Ok(None);
                }
                None => feed.piece *= 2,
            }
        };
        // Blank lines are not rows: no more than there are bytes for.
        let rows = lines.min(end / self.roles.len().max(1) + 1);
        if rows * self.width > feed.room.len() {
            feed.closed = true;
            return Ok(None);
        }
        let (own, rest) = std::mem::take(&mut feed.room).split_at_mut(rows * self.width);
        let first = feed.taken;
        (feed.room, feed.taken, feed.at) = (rest, first + rows, feed.at + end as u64);
        Ok(Some(Piece { end, first, room: own }))
    }

    /// Moves rows over room that blank lines were given, and returns how many rows there are.
    fn close_gaps(&self, mut made: Vec<ParsedPiece>, numbers: &mut [f64]) -> usize {
        made.sort_unstable();
        let mut end = 0;
        for (first, rows) in made {
            if first > end {
                numbers.copy_within(first * self.width..(first + rows) * self.width, end * self.width);
            }
            end += rows;
        }
        end
    }

    /// Writes the numbers of the lines in the first `end` bytes over `out`, and returns how many rows they are.
    fn rows(&self, text: &[u8], end: usize, out: &mut [f64]) -> Option<usize> {
        let (mut at, mut n) = (0, 0);
        while at < end {
            if let Some(next) = line_end(text, at) {
                at = next;
                continue;
            }
            let row = out.get_mut(n * self.width..(n + 1) * self.width)?;
            let (next, blank) = self.row(text, at, row)?;
            (at, n) = (next, n + usize::from(!blank));
        }
        Some(n)
    }

    /// The numbers of the line at byte `start`: the byte after it, and whether it was blank.
    fn row(&self, text: &[u8], start: usize, out: &mut [f64]) -> Option<(usize, bool)> {
        let mut at = start;
        let last = self.roles.len().checked_sub(1)?;
        for (column, role) in self.roles.iter().enumerate() {
            at = match *role {
                Role::Feature(i) => {
                    let (x, end) = self.number(text, at)?;
                    *out.get_mut(i)? = x;
                    end
                }
                _ => self.cell(text, at)?,
            };
            if column < last {
                if text[at] != self.delimiter {
                    // A line of blanks is not a row; with a single column it is a missing cell.
                    let blank = column == 0 && text[start..at].trim_ascii().is_empty();
                    return if blank { Some((line_end(text, at)?, true)) } else { None };
                }
                at += 1;
            }
        }
        if last == 0 && text[start..at].trim_ascii().is_empty() {
            return None;
        }
        if self.ends_in_delimiter && text[at] != self.delimiter {
            return None;
        }
        Some((line_end(text, at + usize::from(self.ends_in_delimiter))?, false))
    }

    /// The number at byte `at`, and the byte after its cell.
    #[inline]
    fn number(&self, text: &[u8], at: usize) -> Option<(f64, usize)> {
        if let Ok((x, length)) = fast_float2::parse_partial::<f64, _>(text.get(at..)?)
            && let end = at + length
            && text.get(end).is_some_and(|&b| b == self.delimiter || b == b'\n' || b == b'\r')
        {
            return Some((x, end));
        }
        let end = self.cell(text, at)?;
        cells::number(&text[at..end]).map(|x| (x, end))
    }

    /// The byte after the cell at byte `at`; `None` for cells that only the general reader parses.
    fn cell(&self, text: &[u8], at: usize) -> Option<usize> {
        let special = |&b: &u8| b == self.delimiter || matches!(b, b'\n' | b'\r' | b'"' | 0);
        let end = at + text.get(at..)?.iter().position(special)?;
        (!matches!(text[end], b'"' | 0)).then_some(end)
    }
}

fn close(feed: &Mutex<WorkQueue<'_>>) {
    feed.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
}

/// The byte after the end of a line at byte `at`, if one is there.
#[inline]
fn line_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'\n' => Some(at + 1),
        b'\r' if text.get(at + 1) == Some(&b'\n') => Some(at + 2),
        _ => None,
    }
}

/// How many lines end in `text`. Sums of bytes, which cannot overflow here, are vectorised by the compiler.
fn lines(text: &[u8]) -> usize {
    let ends = |part: &[u8]| part.iter().map(|&b| u8::from(b == b'\n')).sum::<u8>();
    text.chunks(255).map(|part| usize::from(ends(part))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn read(text: &str, roles: &[Role], threads: usize) -> Option<(u64, Vec<f64>)> {
        read_lines(text, roles, threads, false, u64::MAX)
    }

    fn read_lines(
        text: &str,
        roles: &[Role],
        threads: usize,
        ends_in_delimiter: bool,
        n_requested: u64,
    ) -> Option<(u64, Vec<f64>)> {
        let bytes = Bytes::Owned { data: text.as_bytes().to_vec(), path: PathBuf::from("t.csv") };
        let width = roles.iter().filter(|r| matches!(r, Role::Feature(_))).count();
        let plain = Plain { bytes: &bytes, delimiter: b',', ends_in_delimiter, roles, width, n_requested };
        let run = Run { threads, ..Run::default() };
        let (n, numbers) = plain.read(0, &run).unwrap()?;
        let array = match numbers {
            Numbers::Held(numbers) => return Some((n, numbers)),
            Numbers::Spooled(spool) => spool.finish().unwrap(),
        };
        let mut raw = vec![0; array.len() as usize];
        array.read_at(0, &mut raw).unwrap();
        Some((n, raw.as_chunks::<8>().0.iter().map(|b| f64::from_ne_bytes(*b)).collect()))
    }

    const TWO: [Role; 2] = [Role::Feature(0), Role::Feature(1)];

    #[test]
    fn plain_lines_are_parsed_and_others_left_to_the_general_reader() {
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
    fn a_delimiter_at_the_end_of_a_line_makes_no_cell_where_every_line_has_one() {
        let ended = |text: &str, roles: &[Role]| read_lines(text, roles, 1, true, u64::MAX);
        assert_eq!(ended("1,2,\n3,4,\r\n\n5,6,", &TWO), Some((3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])));
        assert_eq!(ended("1,\n2,\n", &TWO[..1]), Some((2, vec![1.0, 2.0])));
        for odd in ["1,2,,\n", "1,2,3\n", "1,2, \n", "1,\n"] {
            assert_eq!(ended(odd, &TWO), None, "{odd:?}");
        }
        assert_eq!(read("1,2,\n3,4,\n", &TWO, 1), None);
    }

    #[test]
    fn what_follows_the_last_requested_row_is_not_read() {
        // Half of the lines are blank; far behind the requested rows is a line of another form.
        let lines: String = (0..100_000).map(|i| format!("{i},{}\n\n", i + 1)).collect();
        let text = lines + "not, a, row\n";
        assert_eq!(read(&text, &TWO, 1), None);
        for n in [1, 2, 1000, 20_000] {
            for threads in [1, 2, 3] {
                let (found, numbers) = read_lines(&text, &TWO, threads, false, n).unwrap();
                assert_eq!((found, numbers.len() as u64), (n, 2 * n));
                assert!(numbers.chunks(2).enumerate().all(|(i, row)| row == [i as f64, i as f64 + 1.0]));
            }
        }
        assert_eq!(read_lines("1,2\n3,4\n", &TWO, 1, false, 5), Some((2, vec![1.0, 2.0, 3.0, 4.0])));
    }

    #[test]
    fn any_number_of_threads_gives_the_same_numbers() {
        let text: String = (0..200_000).map(|i| format!("{},{}.{}\n", i, i % 97, i % 13)).collect();
        let one = read(&text, &TWO, 1).unwrap();
        assert!(text.len() > 8 * PIECE_BYTES && one.0 == 200_000);
        assert_eq!(one, read(&text, &TWO, 2).unwrap());
        assert_eq!(one, read(&text, &TWO, 7).unwrap());
    }

    #[test]
    fn blank_lines_leave_no_gaps_between_pieces() {
        let mut text = "\n \r\n\n".to_string();
        let mut want = Vec::new();
        for i in 0..150_000u32 {
            text += &format!("{i},-{}.5{}", i % 89, if i.is_multiple_of(5) { "\r\n" } else { "\n" });
            // More and less of them from piece to piece.
            (0..i / 10_000 % 4).for_each(|_| text += "\n");
            want.extend([f64::from(i), -(f64::from(i % 89) + 0.5)]);
        }
        assert!(text.len() > 6 * PIECE_BYTES);
        for threads in [1, 2, 3, 8] {
            assert_eq!(read(&text, &TWO, threads), Some((150_000, want.clone())), "{threads} threads");
        }
    }

    #[test]
    fn lines_longer_than_a_piece_are_read() {
        let roles: Vec<Role> = (0..100_000).map(Role::Feature).collect();
        let line = |k: usize| (0..100_000).map(|j| format!("{}", j * k)).collect::<Vec<_>>().join(",");
        let text = [line(1), line(2), line(3)].join("\n");
        assert!(line(1).len() > PIECE_BYTES);
        let want: Vec<f64> = (1..4).flat_map(|k| (0..100_000).map(move |j| (j * k) as f64)).collect();
        assert_eq!(read(&text, &roles, 2), Some((3, want)));
    }

    #[test]
    fn more_numbers_than_are_kept_in_memory_are_written_to_a_file() {
        let n = Spool::IN_MEMORY / 16 + 1000;
        let (n_rows, numbers) = read(&"1,-2\n".repeat(n), &TWO, 2).unwrap();
        assert_eq!((n_rows, numbers.len()), (n as u64, 2 * n));
        assert!(numbers.chunks(2).all(|row| row == [1.0, -2.0]));
    }

    #[test]
    fn lines_with_quotes_or_control_characters_are_left_to_the_general_reader() {
        for odd in
            ["1\r,2\n", "1,2\r\r\n", "1,\"2\"\n", "1,2\n3", "1\0,2\n", "1,2\n,\n\"\",1\n", "\u{e9},1\n"]
        {
            assert_eq!(read(odd, &TWO, 1), None, "{odd:?}");
        }
        let passed = [Role::Feature(0), Role::Passed];
        assert_eq!(read("1,\u{e9}t\u{e9}\n2,\n", &passed, 1), Some((2, vec![1.0, 2.0])));
        for odd in ["1,\"a\nb\"\n", "1,a\0\n", "1,a\rb\n"] {
            assert_eq!(read(odd, &passed, 1), None, "{odd:?}");
        }
        let (n, missing) = read(",\n1,2", &TWO, 1).unwrap();
        assert!(n == 2 && missing[..2].iter().all(|x| x.is_nan()) && missing[2..] == [1.0, 2.0]);
    }
}
