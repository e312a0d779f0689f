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
    if separated && !(of_input && cells::has_blanks_between_numbers(cell)) {
        return Some(format!("remove the thousands separators {program}; or {without}"));
    }
    if cells::has_percent_sign(cell) {
        return Some(format!("remove the percent signs {program}; or {without}"));
    }
    if cells::has_blanks_between_numbers(cell) {
        let space = wording.plain("delimiter", "space", true);
        let otherwise = format!("or remove the thousands separators {program}");
        return Some(match of_input {
            true if separated => format!("add {space} if cells are separated by blanks, {otherwise}"),
            true => format!("add {space} if cells are separated by blanks"),
            false => "separate the cells by commas in place of blanks".into(),
        });
    }
    if cells::is_mark(cell) && !of_input {
        return Some(format!("write NA if that marks a missing cell; or {without}"));
    }
    if cells::is_mark(cell) {
        let mark = wording.plain("na", cells::shown(cell), true);
        return Some(format!("add {mark} if that marks a missing cell, or write NA; or {without}"));
    }
    if row > 0 && cells::is_summary(cell) {
        let delete = match of_input {
            true => format!("leave it out with {}", wording.first_rows(row)),
            false => "delete it".into(),
        };
        return Some(format!("if a summary ends the table here, {delete}; or {without}"));
    }
    None
}

/// The remedy for a number with a point where commas are decimal marks. `without` and `of_input` are as for [`of_cell`]: the decimal mark of the
/// input is not to be changed because of an additional file.
pub(super) fn of_point(without: &str, (of_input, wording): (bool, Wording)) -> String {
    let comma = wording.plain("decimal", ",", true);
    let otherwise = match of_input {
        true => format!(" leave {comma} out if points are the decimal marks;"),
        false => String::new(),
    };
    let where_commas = match of_input {
        true => format!("with {comma}"),
        false => "where commas are decimal marks".into(),
    };
    format!(
        "{where_commas} a point may separate thousands: write numbers without points in the program that wrote the file;{otherwise} or {without}"
    )
}

/// The remedy for other text: to leave out the column, or, below cells that are numbers of the input, to read it as a missing cell.
pub(super) fn of_text(
    cell: &[u8],
    row: u64,
    without: String,
    (of_input, wording): (bool, Wording),
) -> String {
    let whole = cells::shown(cell);
    match of_input && row > 0 && whole.as_bytes() == cell.trim_ascii() {
        true => {
            format!("{without}; or add {} if that marks a missing cell", wording.plain("na", &whole, true))
        }
        false => without,
    }
}
