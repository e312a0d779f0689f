//! Text that is not UTF-8: spreadsheets of Windows write Windows-1252, which has a character for every byte.

/// The characters of bytes 0x80 to 0x9f in Windows-1252, as in the Encoding Standard (WHATWG); the other bytes are those of Unicode.
const CHARACTERS: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2c6}',
    '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}', '\u{2018}',
    '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}',
    '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
];

/// The text of a cell: UTF-8, or else Windows-1252.
pub(super) fn decoded(cell: &[u8]) -> String {
    match std::str::from_utf8(cell) {
        Ok(text) => text.into(),
        Err(_) => cell.iter().map(|&byte| character(byte)).collect(),
    }
}

fn character(byte: u8) -> char {
    match byte {
        0x80..=0x9f => CHARACTERS[usize::from(byte - 0x80)],
        byte => char::from(byte),
    }
}

/// The note that names or labels were not UTF-8.
pub(super) fn note(origin: &str) -> String {
    format!(
        "{origin}: its text is not UTF-8; names and labels are read as Windows-1252, so save it as UTF-8 if they are wrong"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_utf_8_or_else_windows_1252() {
        assert_eq!(decoded("K\u{f6}ln".as_bytes()), "K\u{f6}ln");
        assert_eq!(decoded(b"K\xf6ln, 5 \x80"), "K\u{f6}ln, 5 \u{20ac}");
        assert_eq!(decoded(b"caf\xe9 \x96 \x9f"), "caf\u{e9} \u{2013} \u{178}");
    }
}
