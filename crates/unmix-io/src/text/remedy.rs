//! What to do about a cell that is text where a number should be: for messages.

use super::{cells, fixed_width};
use crate::Wording;

/// The remedy that the text of a cell in this row suggests; `None` where it suggests none. `without` is the remedy of leaving the column out.
/// Where commas separate the cells, they cannot be decimal marks too: a cell with a comma is in quotes. In an additional file, such as weights,
/// (`of_input` is false) no option is advised that the input would be read with, too.
pub(super) fn of_cell(
    cell: &[u8],
    row: u64,
    commas_separate: bool,
    without: &str,
    (of_input, wording): (bool, Wording),
) -> Option<String> {
    if cell.contains(&b'\n') {
        return Some(format!(
            "close the quotation mark that opens in this line, if the cell ends there; or {without}"
        ));
    }
    if let Some(otherwise) = fixed_width::remedy(cell) {
        return Some(format!("{otherwise}; or {without}"));
    }
    let (separated, program) = (cells::has_thousands(cell), "in the program that wrote the file");
    if commas_separate && cells::has_decimal_comma(cell) {
        let otherwise = match separated {
            true => "numbers without commas (separators of thousands?)",
            false => "decimal points in place of commas, which separate the cells,",
        };
        return Some(format!("write {otherwise} {program}; or {without}"));
    }
    if cells::has_decimal_comma(cell) {
        let comma = wording.plain("decimal", ",", true);
        let otherwise = if separated { "numbers without thousands separators" } else { "decimal points" };
        return Some(match (of_input, separated) {
            (true, _) => format!("add {comma} if numbers have decimal commas, or write {otherwise}"),
            (false, true) => format!("if its commas are decimal marks, write points, or else {otherwise}"),
            (false, false) => "if its commas are decimal marks, write points".into(),
        });
    }
    if separated {
        return Some(format!("remove the thousands separators {program}; or {without}"));
    }
    if cells::has_percent_sign(cell) {
        return Some(format!("remove the percent signs {program}; or {without}"));
    }
    if cells::has_blanks_between_numbers(cell) {
        let space = wording.plain("delimiter", "space", true);
        return Some(format!("add {space} if cells are separated by blanks"));
    }
    if cells::is_mark(cell) {
        let mark = wording.plain("na", cells::shown(cell), true);
        return Some(format!("add {mark} if that marks a missing cell, or write NA; or {without}"));
    }
    if row > 0 && cells::is_summary(cell) {
        let rows = wording.first_rows(row);
        return Some(format!("if a summary ends the table here, leave it out with {rows}; or {without}"));
    }
    None
}

/// The remedy for a number with a point where commas are decimal marks.
pub(super) fn of_point(without: &str, wording: Wording) -> String {
    let comma = wording.plain("decimal", ",", true);
    format!(
        "with {comma} a point may separate thousands: write numbers without points in the program that wrote the file; leave {comma} out if points are \
         the decimal marks; or {without}"
    )
}

/// The remedy for other text: to leave out the column, or, below cells that are numbers, to read it as a missing cell.
pub(super) fn of_text(cell: &[u8], row: u64, without: String, wording: Wording) -> String {
    let whole = cells::shown(cell);
    match row > 0 && whole.as_bytes() == cell.trim_ascii() {
        true => {
            format!("{without}; or add {} if that marks a missing cell", wording.plain("na", &whole, true))
        }
        false => without,
    }
}
