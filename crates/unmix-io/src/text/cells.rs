//! Cells as numbers.

use super::encoding;

/// How the cells of a column are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Passed over.
    Passed,
    /// The feature of this number.
    Feature(usize),
    /// Kept as text, in the list of this number.
    Kept(usize),
}

/// Puts the cells of a line, one for each role, where they belong. A cell that is text where a number should be is counted
/// in `text` and left as it was in `row`; without `text` its column is the error.
pub(super) fn place(
    record: &csv::ByteRecord,
    roles: &[Role],
    row: &mut [f64],
    kept: &mut [Vec<String>],
    mut text: Option<&mut [u64]>,
) -> Result<(), usize> {
    for (column, (cell, role)) in record.iter().zip(roles).enumerate() {
        match *role {
            Role::Passed => {}
            Role::Feature(i) => match (number(cell), &mut text) {
                (Some(x), _) => row[i] = x,
                (None, Some(text)) => text[i] += 1,
                (None, None) => return Err(column),
            },
            Role::Kept(i) => kept[i].push(encoding::decoded(cell)),
        }
    }
    Ok(())
}

/// Whether the cells that are kept as text are UTF-8.
pub(super) fn are_utf_8(record: &csv::ByteRecord, roles: &[Role]) -> bool {
    let mut kept = record.iter().zip(roles).filter(|(_, role)| matches!(role, Role::Kept(_)));
    kept.all(|(cell, _)| std::str::from_utf8(cell).is_ok())
}

/// The number in a cell; NaN where it is missing, `None` where it is text.
pub(super) fn number(cell: &[u8]) -> Option<f64> {
    if let Ok(x) = fast_float2::parse::<f64, _>(cell) {
        return Some(x);
    }
    let cell = cell.trim_ascii();
    if is_missing(cell) {
        return Some(f64::NAN);
    }
    numeral(cell).or_else(|| truth_value(cell).map(|truth| f64::from(u8::from(truth))))
}

/// The number that is written in a cell without blanks around; a minus may be the sign of that name, U+2212.
pub(super) fn numeral(cell: &[u8]) -> Option<f64> {
    let parsed = fast_float2::parse::<f64, _>(cell).ok();
    parsed.or_else(|| fast_float2::parse::<f64, _>(with_hyphens(cell)?).ok())
}

/// The cell with hyphens in place of minus signs; `None` where it has none.
fn with_hyphens(cell: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(cell).ok().filter(|text| text.contains('\u{2212}'))?;
    Some(text.replace('\u{2212}', "-").into_bytes())
}

/// The truth value in a cell without blanks around, as spreadsheets, R and Python write it. It is read as 1 or 0.
pub(super) fn truth_value(cell: &[u8]) -> Option<bool> {
    match cell {
        b"TRUE" | b"True" | b"true" => Some(true),
        b"FALSE" | b"False" | b"false" => Some(false),
        _ => None,
    }
}

/// Empty, NA, NaN, null, in any case, without blanks around.
pub(super) fn is_missing(cell: &[u8]) -> bool {
    cell.is_empty() || ["na", "nan", "null"].iter().any(|word| cell.eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether a cell would be a number if its comma were a point.
pub(super) fn has_decimal_comma(cell: &[u8]) -> bool {
    let pointed: Vec<u8> = cell.iter().map(|&b| if b == b',' { b'.' } else { b }).collect();
    cell.contains(&b',') && number(&pointed).is_some()
}

/// Whether a cell is a number with separators between groups of three digits, as in 1,234.50, 1.234,50 or 1 234,50.
pub(super) fn has_thousands(cell: &[u8]) -> bool {
    const SEPARATORS: [char; 7] = [',', '.', ' ', '\'', '\u{2019}', '\u{a0}', '\u{202f}'];
    let text = encoding::decoded(cell.trim_ascii());
    let text = text.trim_start_matches(['+', '-', '\u{2212}']);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    SEPARATORS.into_iter().any(|separator| {
        let decimal_mark = |c: char| c != separator && matches!(c, '.' | ',');
        let (whole, decimals) = text.split_once(decimal_mark).unwrap_or((text, "0"));
        let groups: Vec<&str> = whole.split(separator).collect();
        groups.len() > 1
            && digits(decimals)
            && groups.iter().all(|group| digits(group))
            && groups[0].len() <= 3
            && groups[1..].iter().all(|group| group.len() == 3)
    })
}

/// Whether a cell is a number followed by a percent sign.
pub(super) fn has_percent_sign(cell: &[u8]) -> bool {
    let before = cell.trim_ascii().strip_suffix(b"%");
    before.is_some_and(|cell| numeral(cell.trim_ascii()).is_some() || has_decimal_comma(cell))
}

/// Whether a cell is the name of a summary, such as that of a last line with the sums of the columns.
pub(super) fn is_summary(cell: &[u8]) -> bool {
    const NAMES: [&str; 15] = [
        "total",
        "totals",
        "grand total",
        "sum",
        "mean",
        "average",
        "median",
        "count",
        "summe",
        "gesamt",
        "insgesamt",
        "mittelwert",
        "somme",
        "moyenne",
        "suma",
    ];
    let cell = cell.trim_ascii();
    let cell = cell.strip_suffix(b":").unwrap_or(cell);
    NAMES.iter().any(|name| cell.eq_ignore_ascii_case(name.as_bytes()))
}

/// Number of features among the cells of a line that are text and would be numbers if their commas were points.
pub(super) fn n_with_comma(record: &csv::ByteRecord, roles: &[Role]) -> u64 {
    let is_feature = |role: &Role| matches!(role, Role::Feature(_));
    let features = record.iter().zip(roles).filter(|(_, role)| is_feature(role));
    features.filter(|(cell, _)| has_decimal_comma(cell.trim_ascii())).count() as u64
}

/// Whether a cell holds several numbers with blanks between them.
pub(super) fn has_blanks_between_numbers(cell: &[u8]) -> bool {
    let mut words = cell.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).peekable();
    let first = words.next().is_some_and(|word| number(word).is_some());
    first && words.peek().is_some() && words.all(|word| number(word).is_some())
}

/// Whether a cell is one of the marks that are written where a number is missing, in addition to those that are read as such.
pub(super) fn is_mark(cell: &[u8]) -> bool {
    const MARKS: [&str; 14] =
        ["?", "-", "--", ".", "..", "*", "n/a", "#n/a", "<na>", "n.a.", "n.a", "n.d.", "none", "missing"];
    MARKS.iter().any(|mark| cell.trim_ascii().eq_ignore_ascii_case(mark.as_bytes()))
}

/// A cell as a message shows it: on one line, and truncated.
pub(super) fn shown(cell: &[u8]) -> String {
    const SHOWN: usize = 40;
    let text = encoding::decoded(cell.trim_ascii()).replace(char::is_control, " ");
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// As the standard library rounds: to the nearest double, whatever the number of digits, the point and the power.
        #[test]
        fn every_number_of_digits_is_rounded_to_the_nearest_double(
            m in any::<u64>(),
            few in 0u32..=19,
            point in 0usize..=19,
            power in -330i32..=310,
            with_power in any::<bool>(),
            sign in prop::sample::select(vec!["", "-", "+"]),
        ) {
            let digits = format!("{:0few$}", m % 10u64.pow(few), few = few.max(1) as usize);
            let point = point.min(digits.len());
            let text = format!("{sign}{}.{}", &digits[..point], &digits[point..]);
            let text = if with_power { format!("{text}e{power}") } else { text };
            let want: f64 = text.parse().unwrap();
            prop_assert_eq!(number(text.as_bytes()).map(f64::to_bits), Some(want.to_bits()), "{}", text);
        }

        #[test]
        fn shortest_and_seventeen_digits_are_parsed_to_the_same_double(bits in any::<u64>()) {
            let x = f64::from_bits(bits);
            prop_assume!(x.is_finite());
            for text in [format!("{x}"), format!("{x:e}"), format!("{x:.16e}"), format!("{x:.18e}")] {
                prop_assert_eq!(number(text.as_bytes()).map(f64::to_bits), Some(bits), "{}", text);
            }
        }
    }

    #[test]
    fn numbers_missing_cells_and_text_are_distinguished() {
        for (cell, x) in [
            ("1", 1.0),
            (" -2.5\t", -2.5),
            ("+3", 3.0),
            ("1e-3", 1e-3),
            ("6.02E+23", 6.02e23),
            (".5", 0.5),
            ("5.", 5.0),
            ("inf", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            ("0.1000000000000000055511151231257827", 0.1),
            ("1e999", f64::INFINITY),
            ("4.9406564584124654e-324", f64::from_bits(1)),
            ("\u{2212}2.5", -2.5),
            (" 1e\u{2212}3 ", 1e-3),
            ("TRUE", 1.0),
            (" false", 0.0),
            ("True", 1.0),
        ] {
            assert_eq!(number(cell.as_bytes()).map(f64::to_bits), Some(f64::to_bits(x)), "{cell}");
        }
        for cell in ["", "  ", "NA", "na", "NaN", "nan", " NULL ", "null"] {
            assert!(number(cell.as_bytes()).is_some_and(f64::is_nan), "{cell}");
        }
        for cell in
            ["a", "1,5", "1 2", "0x10", "1_000", "12%", "-", "N/A", "1e", "\u{fffd}", "\u{2212}", "tRUE", "T"]
        {
            assert_eq!(number(cell.as_bytes()), None, "{cell}");
        }
        assert!(has_decimal_comma(b"1,5") && !has_decimal_comma(b"a,b") && !has_decimal_comma(b"1.5"));
        assert!(has_blanks_between_numbers(b" 1.5 -2e3\t7") && !has_blanks_between_numbers(b" 1.5 "));
        assert!(!has_blanks_between_numbers(b"1 a") && !has_blanks_between_numbers(b"") && is_mark(b" N/A "));
        assert!(is_mark(b"N.A.") && !is_mark(b"nan.") && !is_mark(b"x"));
        for cell in ["1,234.50", " 1.234,5", "-12'345'678", "\u{2212}1,234", "1 234,50", "12 345 678"] {
            assert!(has_thousands(cell.as_bytes()), "{cell}");
        }
        assert!(has_thousands("1\u{202f}234,5".as_bytes()) && has_thousands("1\u{a0}234,5".as_bytes()));
        assert!(has_thousands(b"1\xa0234,50"), "Windows-1252");
        for cell in
            ["1,5", "1,23,456", "1234,567.5", "1,2345", "a,123", "1.5", ",123", "1,234.", "", "1 2", "1  234"]
        {
            assert!(!has_thousands(cell.as_bytes()), "{cell}");
        }
        assert!(has_percent_sign(b"12.5%") && has_percent_sign(b" 12,5 % ") && !has_percent_sign(b"a%"));
        assert!(!has_percent_sign(b"%") && is_summary(b" Total:") && !is_summary(b"subtotals"));
        assert_eq!(shown("x\ny".as_bytes()), "x y");
        assert_eq!(shown(&[b'a'; 99]), format!("{}...", "a".repeat(40)));
    }
}
