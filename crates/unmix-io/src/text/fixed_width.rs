//! Numbers as programs with columns of fixed width write them, which are not separate cells: numbers that touch where a column is filled, and
//! exponents that only Fortran reads. They are never guessed apart: messages show where they are.

use super::cells;

/// How many numbers with decimals touch in a cell, two or more; `None` for other cells. Whole numbers that touch look like one number, and dates
/// and version numbers like whole numbers, so each must have decimals.
pub(super) fn touching(cell: &[u8]) -> Option<usize> {
    let cell: Vec<u8> =
        cell.trim_ascii().iter().map(|&b| if matches!(b, b'd' | b'D') { b'e' } else { b }).collect();
    let known = |b: &u8| b.is_ascii_digit() || b"+-.eE".contains(b);
    if cell.len() < 4 || !cell.iter().all(known) {
        return None;
    }
    // A sign inside begins a number, unless it is that of an exponent.
    let is_start = |i: &usize| *i == 0 || (b"+-".contains(&cell[*i]) && !b"eE".contains(&cell[*i - 1]));
    let starts: Vec<usize> = (0..cell.len()).filter(is_start).chain([cell.len()]).collect();
    let numbers: Option<Vec<usize>> = starts.windows(2).map(|w| without_signs(&cell[w[0]..w[1]])).collect();
    numbers.map(|numbers| numbers.iter().sum()).filter(|n| *n > 1)
}

/// How many numbers are in text without a sign inside: one for each decimal point, if all have equally many decimals.
fn without_signs(text: &[u8]) -> Option<usize> {
    let segments: Vec<&[u8]> = text.split(|b| *b == b'.').collect();
    let (points, exponent) = (segments.len() - 1, |s: &&[u8]| s.iter().position(|b| b"eE".contains(b)));
    if points < 2 {
        return (points == 1 && cells::numeral(text).is_some()).then_some(1);
    }
    let decimals = segments[points].len();
    let after = &segments[1..];
    let even = match exponent(&segments[0]).is_none() && after.iter().all(|s| exponent(s) > Some(0)) {
        true => after.iter().all(|s| exponent(s) == exponent(&segments[points])),
        // Digits of the next number follow the decimals; with three decimals it is no network address.
        false => {
            decimals > 2 && after[..points - 1].iter().all(|s| s.len() > decimals && exponent(s).is_none())
        }
    };
    even.then_some(points)
}

/// The number of a cell with an exponent as Fortran writes it, `1.5D+03` or `1.5-105`, in the notation that other programs read.
pub(super) fn with_exponent(cell: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(cell.trim_ascii()).ok()?;
    let is_number = |text: &str| cells::numeral(text.as_bytes()).is_some();
    if !text.contains('.') {
        return None;
    }
    if text.contains(['d', 'D']) {
        return Some(text.replace(['d', 'D'], "e")).filter(|text| is_number(text));
    }
    let at = text.rfind(['+', '-']).filter(|at| *at > 0 && text.len() - at == 4)?;
    Some(format!("{}e{}", &text[..at], &text[at..])).filter(|text| is_number(text))
}

/// The remedy for a cell that holds such numbers.
pub(super) fn remedy(cell: &[u8]) -> Option<String> {
    match touching(cell) {
        Some(n) => Some(format!(
            "these are {n} numbers without a separator: write the file again with wider columns, or with a blank or a comma between them"
        )),
        None => with_exponent(cell).map(|number| format!("write exponents with e, as in {number}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_touch_are_counted_and_other_cells_have_none() {
        for (cell, n) in [
            ("-1.234567-2.345678", 2),
            (" 1.5-2.5 ", 2),
            ("12.3456712.34567", 2),
            ("1.000-2.0003.000", 3),
            ("-1.0E+00-2.0E+00", 2),
            ("1.2345E+002.3456E+00", 2),
            ("0.1D-03-0.2D+01", 2),
            ("-.5+.25", 2),
        ] {
            let found = touching(cell.as_bytes());
            assert_eq!(found, Some(n), "{cell}");
        }
        for cell in [
            "",
            "1.5",
            "-1.5",
            "1e-5",
            "1.5e-5",
            "2019-01-02",
            "01.02.2019",
            "1.2.3",
            "192.168.101.12",
            "1.234.567",
            "a-1.5",
            "1-2",
            "1.5-2",
            "--",
            "1.5-",
            "555-1234",
            "e.d.e",
            "1.234-105",
            "-1.5D+03",
        ] {
            assert_eq!(touching(cell.as_bytes()), None, "{cell}");
        }
    }

    #[test]
    fn exponents_of_fortran_are_rewritten() {
        for (cell, number) in
            [("1.5D+03", "1.5e+03"), (" -0.25d-1", "-0.25e-1"), ("0.1234-105", "0.1234e-105")]
        {
            assert_eq!(with_exponent(cell.as_bytes()).as_deref(), Some(number), "{cell}");
        }
        for cell in [
            "1.5",
            "1.5-2",
            "1.5-25",
            "d",
            "D1",
            "100-105",
            "1.5-1000",
            "-105",
            "a.b-105",
            "\u{2212}1.5",
            "1d5",
        ] {
            assert_eq!(with_exponent(cell.as_bytes()), None, "{cell}");
        }
        assert!(remedy(b"1.5D+03").unwrap().ends_with("as in 1.5e+03"));
        assert!(
            remedy(b"1.5-2.5").unwrap().starts_with("these are 2 numbers without a separator")
                && remedy(b"x").is_none()
        );
    }
}
