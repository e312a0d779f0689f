//! Formatting of numbers.

/// Four significant digits.
pub(crate) fn number(x: f64) -> String {
    let size = x.abs();
    if size == 0.0 || !x.is_finite() {
        return if size == 0.0 { "0".into() } else { x.to_string() };
    }
    if !(1e-4..1e6).contains(&size) {
        return format!("{x:.3e}");
    }
    let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
    match size >= 1e4 {
        true => format!("{}{}", if x < 0.0 { "-" } else { "" }, count(size.round() as u64)),
        false => format!("{x:.decimals$}"),
    }
}

/// Four significant digits of a number of a column, written in one way down the column.
pub(crate) fn number_in(column: &[f64], x: f64) -> String {
    let most = column.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if (1e-2..1e6).contains(&most) || x == 0.0 { number(x) } else { format!("{x:.3e}") }
}

/// Text in which numbers are not broken at the hyphens of their exponents, which become minus signs: `1e-6` would end a line after `1e-`.
pub(crate) fn unbroken(text: &str) -> String {
    let bytes = text.as_bytes();
    let in_exponent = |i: usize| {
        let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
        i > 0 && bytes[i - 1] == b'e' && digit(i.checked_sub(2)) && digit(Some(i + 1))
    };
    let minus = |(i, c): (usize, char)| if c == '-' && in_exponent(i) { '\u{2212}' } else { c };
    text.char_indices().map(minus).collect()
}

/// A number of rows that may count more or less than once: as [`count`] where it is whole up to rounding, and else to a tenth.
pub(crate) fn amount(n: f64) -> String {
    if !(0.0..9e15).contains(&n) {
        return number(n);
    }
    let tenths = (10.0 * n).round();
    match (n - n.round()).abs() <= 1e-12 * n {
        true => count(n.round() as u64),
        false => format!("{}.{}", count((tenths / 10.0) as u64), tenths as u64 % 10),
    }
}

/// A whole number, its thousands apart.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// [`count`] with a word, "1 row", "2,000 rows"; `one` is the word for one, whose plural ends in s.
pub(crate) fn counted(n: u64, one: &str) -> String {
    format!("{} {one}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A fraction of 1 in percent: three significant digits, and 100 only for all of it.
pub(crate) fn percent(share: f64) -> String {
    let p = 100.0 * share;
    match p {
        // A few roundings away from 100 is 100.
        p if (p - 100.0).abs() < 1e-9 => "100 %".into(),
        p if !(0.0..=100.0).contains(&p) => format!("{} %", fixed(p, 1)),
        p if p > 99.99 => "> 99.99 %".into(),
        p if p >= 99.95 => format!("{p:.2} %"),
        p if p >= 9.995 => format!("{p:.1} %"),
        p if p >= 0.9995 => format!("{p:.2} %"),
        p if p >= 0.01 => format!("{p:.3} %"),
        0.0 => "0 %".into(),
        _ => "< 0.01 %".into(),
    }
}

/// So many decimals, and no sign of a zero.
pub(crate) fn fixed(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    match text.strip_prefix('-') {
        Some(size) if size.bytes().all(|c| matches!(c, b'0' | b'.')) => size.into(),
        _ => text,
    }
}

/// A span of time.
pub(crate) fn seconds(s: f64) -> String {
    match s {
        s if s < 0.9995e-3 => "< 1 ms".into(),
        s if s < 0.9995 => format!("{:.0} ms", 1e3 * s),
        s if s < 9.995 => format!("{s:.2} s"),
        s if s < 119.5 => format!("{s:.1} s"),
        s => format!("{} min {} s", s.round() as u64 / 60, s.round() as u64 % 60),
    }
}

/// Seconds since 1970 as a date, UTC.
pub(crate) fn date(time: u64) -> String {
    let (mut year, mut day) = (1970, time / 86400);
    let leap = |y: u64| (y.is_multiple_of(4) && !y.is_multiple_of(100)) || y.is_multiple_of(400);
    while day >= 365 + leap(year) as u64 {
        day -= 365 + leap(year) as u64;
        year += 1;
    }
    let months = [31, 28 + leap(year) as u64, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while day >= months[month] {
        day -= months[month];
        month += 1;
    }
    let (hour, minute) = (time / 3600 % 24, time / 60 % 60);
    format!("{year}-{:02}-{:02} {hour:02}:{minute:02} UTC", month + 1, day + 1)
}

/// A JSON value as the user would write it.
pub(crate) fn json(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => "none".into(),
        serde_json::Value::Bool(true) => "yes".into(),
        serde_json::Value::Bool(false) => "no".into(),
        serde_json::Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_do_not_break_and_other_hyphens_may() {
        assert_eq!(
            unbroken("one-sided, 1.0e-6 of re-use; e-5, 2e-"),
            "one-sided, 1.0e\u{2212}6 of re-use; e-5, 2e-"
        );
    }

    #[test]
    fn numbers_keep_four_digits() {
        let cases = [
            (0.0, "0"),
            (1.0, "1.000"),
            (-332.7123, "-332.7"),
            (0.012345, "0.01235"),
            (-123456.4, "-123,456"),
            (1.5e7, "1.500e7"),
            (-2e-9, "-2.000e-9"),
        ];
        cases.iter().for_each(|(x, text)| assert_eq!(number(*x), *text));
        assert_eq!(
            (count(7), count(999), count(1000), count(70_000), count(12_345_678)),
            ("7".into(), "999".into(), "1,000".into(), "70,000".into(), "12,345,678".into())
        );
    }

    #[test]
    fn a_share_is_printed_as_100_only_where_it_is() {
        let cases = [
            (1.0, "100 %"),
            (1.0 - 1e-15, "100 %"),
            (0.999999, "> 99.99 %"),
            (0.9996, "99.96 %"),
            (0.825, "82.5 %"),
            (0.099_99, "10.0 %"),
            (0.009_999_6, "1.00 %"),
            (0.0312, "3.12 %"),
            (0.00123, "0.123 %"),
            (1e-7, "< 0.01 %"),
            (0.0, "0 %"),
        ];
        cases.iter().for_each(|(x, text)| assert_eq!(percent(*x), *text));
    }

    #[test]
    fn sums_of_weights_have_a_tenth_where_they_are_not_whole() {
        let cases = [
            (200.0, "200"),
            (2014.223, "2,014.2"),
            (1999.99, "2,000.0"),
            (2000.0 + 2e-13, "2,000"),
            (0.26, "0.3"),
            (1e16, "1.000e16"),
        ];
        cases.iter().for_each(|(n, text)| assert_eq!(amount(*n), *text));
    }

    #[test]
    fn no_zero_has_a_sign() {
        let cases =
            [(-1e-9, "0.0 %"), (-0.0, "0 %"), (-0.0004, "0.0 %"), (-0.02, "-2.0 %"), (1.5, "150.0 %")];
        cases.iter().for_each(|(x, text)| assert_eq!(percent(*x), *text));
        assert_eq!(
            (fixed(-1e-9, 3), fixed(-0.25, 1), fixed(-0.0, 0)),
            ("0.000".into(), "-0.2".into(), "0".into())
        );
        assert_eq!(number(-0.0), "0");
    }

    #[test]
    fn times_and_dates() {
        assert_eq!(
            (seconds(0.0123), seconds(3.146), seconds(243.0)),
            ("12 ms".into(), "3.15 s".into(), "4 min 3 s".into())
        );
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(date(1_735_689_599), "2024-12-31 23:59 UTC");
    }
}
