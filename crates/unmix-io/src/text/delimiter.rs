//! Delimiters of text files.

use super::{blanks, cells};

/// Characters that may separate cells, besides blanks.
const CANDIDATES: [u8; 4] = [b',', b'\t', b';', b'|'];

/// Lines that are examined.
const EXAMINED_LINES: usize = 50;

/// The delimiter of text that begins with `head`: that of the extension when every line has it equally often, else the candidate that
/// every line has equally often and most, else blanks where these separate equally many cells in every line, else the one that the
/// first line has most, else that of the extension. Commas in numbers are none: those that were requested, and those of [`decimal_commas`].
pub(super) fn sniff(head: &[u8], by_ending: u8, decimal_comma: bool) -> u8 {
    let mut lines = counts(head);
    if decimal_comma {
        lines.iter_mut().for_each(|line| line[0] = 0);
    }
    let [first, rest @ ..] = &lines[..] else { return by_ending };
    let own = CANDIDATES.iter().position(|&c| c == by_ending).unwrap_or(0);
    let even = |c: usize| first[c] > 0 && rest.iter().all(|line| line[c] == first[c]);
    // `max_by_key` takes the last of equals: the order of the candidates reversed.
    let most = |which: &dyn Fn(usize) -> bool| {
        (0..CANDIDATES.len()).rev().filter(|&c| which(c)).max_by_key(|&c| first[c])
    };
    let best = if even(own) { Some(own) } else { most(&even) };
    // A tab in all lines is a delimiter already; blanks are one where nothing else is even, and the first line has not the one of the extension.
    if best.is_none() && first[own] == 0 && blanks::separate(head, decimal_comma) {
        return blanks::DELIMITER;
    }
    let best = best.or_else(|| if first[own] > 0 { Some(own) } else { most(&|c| first[c] > 0) });
    match CANDIDATES[best.unwrap_or(own)] {
        b',' if !decimal_comma && even(2) && decimal_commas(head) => b';',
        found => found,
    }
}

/// Whether lines split at semicolons are numbers, some of them with decimal commas, except that the first may hold names: then a comma is no
/// delimiter, also where every line has equally many.
fn decimal_commas(head: &[u8]) -> bool {
    let lines = head.split(|b| matches!(b, b'\n' | b'\r')).filter(|line| !line.trim_ascii().is_empty());
    let mut lines: Vec<&[u8]> = lines.take(EXAMINED_LINES).collect();
    // The last line may be half a line.
    if lines.len() > 1 && lines.len() < EXAMINED_LINES && !head.ends_with(b"\n") && !head.ends_with(b"\r") {
        lines.pop();
    }
    let below = if lines.len() > 1 { &lines[1..] } else { &lines[..] };
    let is_number = |cell: &[u8]| cells::has_decimal_comma(cell) || cells::number(cell).is_some();
    below.iter().all(|line| parts(line).all(is_number))
        && below.iter().any(|line| parts(line).any(cells::has_decimal_comma))
}

/// The cells of a line that is split at semicolons.
fn parts(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|b| *b == b';').map(<[u8]>::trim_ascii)
}

/// How often every line that is not blank has each candidate outside quotes. A last line without an end may be half a line and
/// is left out unless it is the only one.
fn counts(head: &[u8]) -> Vec<[usize; CANDIDATES.len()]> {
    let (mut lines, mut line, mut quoted, mut blank) = (Vec::new(), [0; CANDIDATES.len()], false, true);
    for &byte in head {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => {
                if !blank {
                    lines.push(line);
                }
                (line, blank) = ([0; CANDIDATES.len()], true);
                if lines.len() == EXAMINED_LINES {
                    return lines;
                }
                continue;
            }
            _ if quoted => {}
            _ => {
                if let Some(c) = CANDIDATES.iter().position(|&c| c == byte) {
                    line[c] += 1;
                }
            }
        }
        blank = false;
    }
    if lines.is_empty() && !blank {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_found() {
        let sniffed = |text: &str, by_ending: u8| sniff(text.as_bytes(), by_ending, false) as char;
        assert_eq!(sniff(b"1,5;2,5\n3,5;4,5\n", b';', true), b';');
        assert_eq!(sniff(b"1,5\t2,5\n3,5\t4,5\n", b';', true), b'\t');
        assert_eq!(sniffed("a,b\n1,2\n", b','), ',');
        assert_eq!(sniffed("a;b\n1,5;2,5\n", b','), ';');
        assert_eq!(sniffed("a\tb\n1\t2\n", b','), '\t');
        assert_eq!(sniffed("a|b|c\n1|2|3\n", b','), '|');
        assert_eq!(sniffed("a,b\n1,2\n", b'\t'), ',');
        assert_eq!(sniffed("a\tb,c\n1\t2,5\n", b'\t'), '\t');
        assert_eq!(sniffed("a\n1\n2\n", b','), ',');
        assert_eq!(sniffed("\"x;y\",b\n\"u;v;w\",2\n", b','), ',');
        assert_eq!(sniffed("1,2,3\n1,2\n", b','), ',');
        assert_eq!(sniffed("1;2;3\n1;2\n", b','), ';');
        assert_eq!(sniffed("a;b\r\n1;2\r\n", b','), ';');
        assert_eq!(sniff(b"1 2\n3 4\n", b',', false), blanks::DELIMITER);
        assert_eq!(sniff(b" 1,5  2,5\n 3,5 14,5\n", b';', true), blanks::DELIMITER);
        assert_eq!(sniffed("a b,c d\n1 2,3 4\n", b','), ',');
        assert_eq!(sniffed("1,5;2\n3,1;4\n7,25;1\n", b','), ';');
        assert_eq!(sniffed("1,5;2,5\n-3,1;4,0\n", b'\t'), ';');
        assert_eq!(sniffed("x,y;z\n3,1;\n;7,25\n", b','), ';');
        assert_eq!(sniffed("1,5;2\n3,1;4\n7,", b','), ';');
        assert_eq!(sniffed("1,5;2", b','), ';');
        assert_eq!(sniffed("1,5;x\n3,1;y\n", b','), ',');
        assert_eq!(sniffed("1,5;2\n3,1;4\n7,2;x\n", b','), ',');
        assert_eq!(sniffed("a;b,1\nc;d,2\n", b','), ',');
        assert_eq!(sniffed("1,5,2;3\n3,1,4;5\n", b','), ',');
        assert_eq!(sniffed("", b'\t'), '\t');
        assert_eq!(sniffed("1;2\n3;4\n5", b','), ';');
    }
}
