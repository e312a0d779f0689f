//! Cells that are separated by runs of blanks (spaces and tabs), as numpy.savetxt and programs with columns of fixed width write them.
//!
//! The text keeps its length: of every run of blanks between two cells the last becomes a delimiter, the others stay and are trimmed with
//! the cells. So positions in the text are those of the file, which messages count lines by.

use super::{cells, fixed_width};
use std::io::Read;

/// The delimiter that takes the place of blanks: a control character for this purpose, which no table of numbers has.
pub(super) const DELIMITER: u8 = 0x1f;

/// Lines of text whose first character is this are comments.
pub(super) const COMMENT: u8 = b'#';

/// Lines that are examined.
const EXAMINED_LINES: usize = 50;

/// The layout of a text, detected from its first lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Position of the `#` of the comment with the names of the columns, as numpy.savetxt writes it.
    names: Option<u64>,
}

/// The layout of a text whose cells are separated by blanks.
pub(super) fn layout(head: &[u8]) -> Layout {
    let lines = lines(head);
    let first = lines.iter().position(|(_, line)| !is_comment(line)).unwrap_or(lines.len());
    let width = lines.get(first).map(|(_, line)| words(line).len());
    let names = first.checked_sub(1).filter(|&last| {
        let found = words(&lines[last].1[1..]);
        Some(found.len()) == width && found.iter().all(|word| cells::number(word).is_none())
    });
    // Above a line of text, which then has the names, it is a comment.
    let text = lines.get(first).is_some_and(|(_, line)| !has_number(line));
    Layout { names: names.filter(|_| !text).map(|last| lines[last].0) }
}

/// Whether lines are cells separated by blanks: all have equally many, two or more, and the last has a number, perhaps with a
/// decimal comma. Numbers that touch count as cells, so that their line is what an error is about.
pub(super) fn separate(head: &[u8], decimal_comma: bool) -> bool {
    let lines: Vec<Vec<u8>> =
        lines(head).into_iter().map(|(_, line)| line).filter(|l| !is_comment(l)).collect();
    let n_cells = |line: &Vec<u8>| -> usize {
        words(line).iter().map(|word| fixed_width::touching(word).unwrap_or(1)).sum()
    };
    let Some(width) = lines.first().map(n_cells) else { return false };
    let numeric = |line: &Vec<u8>| match decimal_comma {
        true => has_number(&line.iter().map(|&b| if b == b',' { b'.' } else { b }).collect::<Vec<u8>>()),
        false => has_number(line),
    };
    let separated = lines.iter().any(|line| words(line).len() > 1);
    width > 1 && separated && lines.iter().all(|l| n_cells(l) == width) && lines.last().is_some_and(numeric)
}

/// Lines that are not blank, and where they begin. A last line without an end may be half a line and is left out unless it is the only one.
fn lines(head: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut out = Vec::new();
    let mut start = 0;
    for part in head.split_inclusive(|b| matches!(b, b'\n' | b'\r')) {
        let line = part.trim_ascii();
        let ended = part.ends_with(b"\n") || part.ends_with(b"\r");
        if !line.is_empty() && (ended || out.is_empty()) && out.len() < EXAMINED_LINES {
            let indent = part.len() - part.trim_ascii_start().len();
            out.push(((start + indent) as u64, line.to_vec()));
        }
        start += part.len();
    }
    out
}

fn is_comment(line: &[u8]) -> bool {
    line.first() == Some(&COMMENT)
}

fn has_number(line: &[u8]) -> bool {
    words(line).iter().any(|word| cells::number(word).is_some() || fixed_width::remedy(word).is_some())
}

/// Cells of a line; blanks inside quotes separate none.
fn words(line: &[u8]) -> Vec<&[u8]> {
    let mut quoted = false;
    let between = |b: &u8| {
        quoted ^= *b == b'"';
        !quoted && is_blank(*b)
    };
    line.split(between).filter(|word| !word.is_empty()).collect()
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Reads a text with [`DELIMITER`] between cells.
pub(super) struct Blanks<R> {
    text: R,
    /// Bytes that were read.
    at: u64,
    layout: Layout,
    /// The last byte, where it is a blank that may turn out to be the last before a cell.
    held: Option<u8>,
    /// Whether the line has a cell already.
    in_line: bool,
    quoted: bool,
    comment: bool,
}

impl<R: Read> Blanks<R> {
    pub(super) fn new(text: R, layout: Layout) -> Self {
        Self { text, at: 0, layout, held: None, in_line: false, quoted: false, comment: false }
    }

    /// Inserts delimiters into the next bytes of the text.
    fn separate(&mut self, out: &mut [u8]) {
        for i in 0..out.len() {
            if self.layout.names == Some(self.at) {
                // The line of names: a blank in place of the character that makes it a comment.
                out[i] = b' ';
            }
            self.at += 1;
            let byte = out[i];
            if matches!(byte, b'\n' | b'\r') && !self.quoted {
                (self.in_line, self.comment) = (false, false);
            } else if self.quoted || self.comment || !is_blank(byte) {
                let after_blank = i > 0 && is_blank(out[i - 1]);
                if after_blank && self.in_line && !self.quoted && !self.comment {
                    out[i - 1] = DELIMITER;
                }
                self.comment |= !self.in_line && byte == COMMENT;
                self.quoted ^= byte == b'"' && !self.comment;
                self.in_line = true;
            }
        }
    }
}

impl<R: Read> Read for Blanks<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if out.len() < 2 {
            // Readers of text have buffers; one byte could not be held back.
            return Err(std::io::Error::other("a buffer of at least 2 bytes is needed"));
        }
        let begin = usize::from(self.held.is_some());
        if let Some(held) = self.held.take() {
            out[0] = held;
        }
        let n = self.text.read(&mut out[begin..])?;
        let all = begin + n;
        // The byte that was held back was examined before: the position moves only over what follows it.
        self.follow(&mut out[..all], begin);
        if n > 0 && !self.quoted && is_blank(out[all - 1]) && all > 1 {
            self.held = Some(out[all - 1]);
            return Ok(all - 1);
        }
        if n > 0 && !self.quoted && is_blank(out[all - 1]) {
            // A single blank: the next bytes decide.
            self.held = Some(out[0]);
            return self.read(out);
        }
        Ok(all)
    }
}

impl<R> Blanks<R> {
    /// [`separate`](Blanks::separate) of bytes of which the first `seen` were examined before.
    fn follow(&mut self, out: &mut [u8], seen: usize)
    where
        R: Read,
    {
        match seen {
            0 => self.separate(out),
            _ => {
                // Examined again, a blank changes nothing but the position.
                self.at -= 1;
                self.separate(out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Yields its bytes in pieces of the given size.
    struct Pieces<'a>(&'a [u8], usize);
    impl Read for Pieces<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let n = self.1.min(out.len()).min(self.0.len());
            out[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn read(text: &str) -> String {
        let whole = |size: usize| {
            let mut out = Vec::new();
            let mut reader = Blanks::new(Pieces(text.as_bytes(), size), layout(text.as_bytes()));
            let mut buffer = vec![0; 7.max(size)];
            loop {
                match reader.read(&mut buffer).unwrap() {
                    0 => break,
                    n => out.extend_from_slice(&buffer[..n]),
                }
            }
            String::from_utf8(out).unwrap().replace(DELIMITER as char, ",")
        };
        let all = whole(1000);
        assert_eq!(all.len(), text.len());
        assert!((1..12).all(|size| whole(size) == all), "{text:?}");
        all
    }

    #[test]
    fn the_last_blank_between_two_cells_is_a_delimiter() {
        assert_eq!(read("1 2\n3 4\n"), "1,2\n3,4\n");
        assert_eq!(read("  1   2\t3  \n"), "  1  ,2,3  \n");
        assert_eq!(read(" \n\n 1\t\t2\r\n3 4"), " \n\n 1\t,2\r\n3,4");
        assert_eq!(read("\"a b\"  c\n1 2\n"), "\"a b\" ,c\n1,2\n");
        assert_eq!(read("# made by x\n1 2\n"), "# made by x\n1,2\n");
        assert_eq!(read("# made by a program\n# a b\n1 2\n"), "# made by a program\n  a,b\n1,2\n");
        assert_eq!(read("#a b\n1 2\n"), " a,b\n1,2\n");
        assert_eq!(read("a b\n# c d\n1 2\n"), "a,b\n# c d\n1,2\n");
        assert_eq!(read(""), "");
        assert_eq!(read("   "), "   ");
    }

    #[test]
    fn tables_by_blanks_are_recognised() {
        for text in ["1 2\n3 4\n", "a b\n1 2\n", "1\t 2\n", "# c\n 1  2 \n\n 3 4\n5", "x 1\ny 2\n"] {
            assert!(separate(text.as_bytes(), false), "{text:?}");
        }
        assert!(separate(b"1.5 2.5\n-1.5-2.5\n3.5 4.5\n", false));
        for text in
            ["", "1.5-2.5\n3.5-4.5\n", "1\n2\n", "a b\n1\n", "1 2\n3\n", "John Smith\nJane Doe\n", "# 1 2\n"]
        {
            assert!(!separate(text.as_bytes(), false), "{text:?}");
        }
    }
}
