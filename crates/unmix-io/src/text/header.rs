//! Whether the first line holds names.

use super::cells::{has_decimal_comma, is_missing, numeral, shown, truth_value};
use super::{encoding, fixed_width};
use crate::{Wording, transposed};
use unmix::Result;

/// A header when no cell of the line is a number, none when all are. Otherwise it is ambiguous: what was found, and what would
/// work. A missing cell counts as text next to text (a table's index often has no name) and decides nothing next to numbers. A truth value
/// counts as text next to text, and as a number next to numbers. Numbers that touch, have the exponents of Fortran, or decimal commas, are not
/// names.
pub(super) fn is_header(
    record: &csv::ByteRecord,
    line: impl Fn() -> Result<u64>,
    wording: Wording,
) -> std::result::Result<bool, (String, String)> {
    let is_number = |cell: &[u8]| {
        let plain = cell.trim_ascii();
        numeral(plain).is_some() || has_decimal_comma(plain) || fixed_width::remedy(cell).is_some()
    };
    let is_truth = |cell: &[u8]| truth_value(cell.trim_ascii()).is_some();
    let numbers = record.iter().filter(|cell| is_number(cell)).count();
    let truths = record.iter().filter(|cell| is_truth(cell)).count();
    let ambiguous = record.iter().all(|cell| is_missing(cell.trim_ascii()) || is_truth(cell));
    match numbers {
        0 if !ambiguous => return Ok(true),
        n if n > 0 && n + truths == record.len() => return Ok(false),
        _ => {}
    }
    let line = line().map_or("the first line".into(), |n| format!("line {n}"));
    let example = |wanted: bool| {
        let is_such = |cell: &&[u8]| is_number(cell) == wanted && !is_truth(cell);
        let cell = record.iter().find(is_such).map(shown).unwrap_or_default();
        if cell.is_empty() { "an empty cell".into() } else { format!("'{cell}'") }
    };
    let found = match numbers {
        0 if truths > 0 => format!("{line} holds truth values only, so it may or may not be a header"),
        0 => format!("{line} holds missing cells only, so it may or may not be a header"),
        _ => format!(
            "{line} holds numbers ({}) as well as text ({}), so it may or may not be a header",
            example(true),
            example(false)
        ),
    };
    let remedy = format!(
        "add {} if it holds column names, {} if it is a row, or {} to skip it",
        wording.flag("header", true),
        wording.flag("header", false),
        wording.plain("skip_rows", 1, false)
    );
    Err((found, remedy))
}

/// The cells as they are written, without blanks around.
pub(super) fn written(record: &csv::ByteRecord) -> Vec<String> {
    record.iter().map(|cell| encoding::decoded(cell.trim_ascii())).collect()
}

/// Names of columns, each once: a repeated name gets a number appended (`a`, `a.1`), a missing one is its column's number.
pub(super) fn names(record: &csv::ByteRecord) -> Vec<String> {
    transposed::distinct(&written(record))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(cells: &[&str]) -> std::result::Result<bool, String> {
        is_header(&csv::ByteRecord::from(cells.to_vec()), || Ok(1), Wording::Shell)
            .map_err(|(found, _)| found)
    }

    #[test]
    fn a_line_is_a_header_when_no_cell_is_a_number_and_none_when_all_are() {
        assert_eq!(rule(&["a", "b"]), Ok(true));
        assert_eq!(rule(&["", "a"]), Ok(true));
        assert_eq!(rule(&["NA", "a"]), Ok(true));
        assert_eq!(rule(&["1", "2.5", "-3e4"]), Ok(false));
        assert_eq!(rule(&["1", "NaN", "inf"]), Ok(false));
        assert_eq!(rule(&[" 1 "]), Ok(false));
        assert!(
            rule(&["150", "4", "setosa"])
                .unwrap_err()
                .contains("line 1 holds numbers ('150') as well as text ('setosa')")
        );
        assert!(rule(&["1", "", "2"]).unwrap_err().contains("an empty cell"));
        assert!(rule(&["1", "NA"]).is_err());
        assert!(rule(&["", "NA"]).unwrap_err().contains("missing cells only"));
        assert_eq!(rule(&["-1.25-2.25", "3.5"]), Ok(false));
        assert_eq!(rule(&["0.1D+01"]), Ok(false));
        assert_eq!(rule(&["\u{2212}1", "2"]), Ok(false));
        assert_eq!(rule(&["1,5", "2"]), Ok(false));
        assert_eq!(rule(&["1,5", " 2,25"]), Ok(false));
        assert_eq!(rule(&["a,b", "c,1"]), Ok(true));
        assert_eq!(rule(&["TRUE", "2"]), Ok(false));
        assert_eq!(rule(&["id", "true", "false"]), Ok(true));
        assert!(rule(&["TRUE"]).unwrap_err().contains("truth values only"));
        assert!(rule(&["TRUE", "", "False"]).unwrap_err().contains("truth values only"));
        assert!(rule(&["1", "TRUE", "a"]).unwrap_err().contains("numbers ('1') as well as text ('a')"));
    }

    #[test]
    fn every_column_gets_a_name_of_its_own() {
        let record = csv::ByteRecord::from(vec!["", "a", " a ", "a.1", "a", "b"]);
        let names = names(&record);
        assert_eq!(names, ["0", "a", "a.2", "a.1", "a.3", "b"]);
    }
}
