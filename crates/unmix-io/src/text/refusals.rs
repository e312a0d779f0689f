//! Errors of the lines and cells of a table: what was found, where, and what would work.

use super::lines::{self, Lines, RecordStart};
use super::preamble::{self, Preamble};
use super::{Table, cells, fixed_width, remedy};
use unmix::{Error, ErrorDetails};

impl Table<'_> {
    pub(super) fn ragged(&self, line: u64, row: u64, record: &csv::ByteRecord) -> Error {
        let (need, got) = (self.n_columns as u64, record.len() as u64);
        let details = |details: &mut ErrorDetails| {
            (details.line, details.need, details.got) = (Some(line), Some(need), Some(got));
        };
        self.touching(line, row, record).unwrap_or_else(|| self.ragged_in_words(line, record)).with(details)
    }

    /// The error of a line that has too few cells because numbers touch.
    fn touching(&self, line: u64, row: u64, record: &csv::ByteRecord) -> Option<Error> {
        let column = record.iter().position(|cell| fixed_width::touching(cell).is_some())?;
        let cell = record.get(column).filter(|_| record.len() < self.n_columns)?;
        let found = format!(
            "line {line} has {}, but the first line has {}, and row {row}, column {column} is the text '{}'",
            n_cells(record.len()),
            self.n_columns,
            cells::shown(cell)
        );
        Some(Error::format(self.bytes.path(), found, fixed_width::remedy(cell)?))
    }

    fn ragged_in_words(&self, line: u64, record: &csv::ByteRecord) -> Error {
        let (got, text) = (record.len(), has_text(record));
        if record.iter().next_back().is_some_and(|cell| cell.contains(&b'\n')) {
            let found = format!(
                "a cell that contains line breaks begins on line {line}, and the line has {} in place of {}",
                n_cells(got),
                self.n_columns
            );
            return Error::format(self.bytes.path(), found, "close the quotation mark that opens there");
        }
        let last = record.iter().next_back().is_some_and(|cell| cell.trim_ascii().is_empty());
        if last && got == self.n_columns + 1 {
            let found = format!("line {line} ends in a delimiter, and the first line does not");
            let remedy =
                "end all lines in a delimiter, or none; the column that an end in a delimiter makes is empty";
            return Error::format(self.bytes.path(), found, remedy);
        }
        let found = format!("line {line} has {}, but the first line has {}", n_cells(got), self.n_columns);
        if let Some(before) = preamble::before_table(self.bytes, self.gz, &self.dialect) {
            let remedy = match before {
                Preamble::Above(_) if !self.of_input => "delete the lines before the table".into(),
                Preamble::Above(n) => {
                    format!(
                        "skip the lines before the table with {}",
                        self.wording.plain("skip_rows", n, false)
                    )
                }
                Preamble::Below(odd) => odd.remedy(),
            };
            return Error::format(self.bytes.path(), found, remedy);
        }
        let quotes = if text { " put quotes around cells with a delimiter in them," } else { "" };
        let without = match self.of_input {
            true => {
                format!("skip lines that are not part of the table with {}", self.wording.name("skip_rows"))
            }
            false => "delete lines that are not part of the table".into(),
        };
        let remedy = format!("give all lines the same number of cells,{quotes} or {without}");
        Error::format(self.bytes.path(), found, remedy)
    }

    /// The error of a line that is one cell because commas, which separate the cells, were given as those of numbers.
    fn comma_separated(&self, lines: &Lines<'_>, line: u64, cell: &[u8]) -> Option<Error> {
        let given = self.dialect.decimal_comma && self.dialect.delimiter.is_none() && self.n_columns == 1;
        let is_named_so = self.names.as_ref().is_some_and(|names| names[0].contains(','));
        if !given || !cell.contains(&b',') || (cells::has_thousands(cell) && !is_named_so) {
            return None;
        }
        let decimal = self.wording.plain("decimal", ",", true);
        let delimiter = if lines.delimiter() == b'\t' {
            "a tab".into()
        } else {
            format!("'{}'", char::from(lines.delimiter()))
        };
        let found = format!(
            "with {decimal} a comma is no delimiter, the delimiter is taken to be {delimiter}, and line {line} has none: it is the text '{}'",
            cells::shown(cell)
        );
        let remedy = format!(
            "leave {decimal} out if commas separate the cells, or name another delimiter with {}",
            self.wording.name("delimiter")
        );
        let details = |details: &mut ErrorDetails| {
            (details.line, details.cell) = (Some(line), Some(cells::shown(cell)))
        };
        Some(Error::format(self.bytes.path(), found, remedy).with(details))
    }

    pub(super) fn not_a_number(
        &self,
        lines: &Lines<'_>,
        at: RecordStart,
        row: u64,
        column: usize,
        cell: &[u8],
    ) -> Error {
        let line = match lines.line(at) {
            Ok(line) => line,
            Err(e) => return e,
        };
        if let Some(error) = self.comma_separated(lines, line, cell) {
            return error;
        }
        let name = self.names.as_ref().map(|names| names[column].as_str());
        let label = name.map_or(String::new(), |n| format!(" ('{n}')"));
        // Options that select columns apply to the input, not to additional files.
        let out = match self.of_input {
            true => self.wording.without_column(name, column),
            false => "give a file that holds these numbers only".into(),
        };
        let commas_separate = lines.delimiter() == b',';
        // As it is written in the file.
        let original = lines::exchanged(cell);
        let is_pointed = self.dialect.decimal_comma && lines::has_point(&original);
        let (cell, by_cell) = match is_pointed {
            true => (&original[..], Some(remedy::of_point(&out, (self.of_input, self.wording)))),
            false => (cell, remedy::of_cell(cell, row, commas_separate, &out, (self.of_input, self.wording))),
        };
        let remedy =
            by_cell.unwrap_or_else(|| match preamble::before_table(self.bytes, self.gz, &self.dialect) {
                Some(Preamble::Below(odd)) => format!("{}; or {out}", odd.remedy()),
                Some(Preamble::Above(_)) if !self.of_input => {
                    format!("if the table begins below, delete the lines before it; or {out}")
                }
                Some(Preamble::Above(n)) => format!(
                    "if the table begins below, skip the lines before it with {}; or {out}",
                    self.wording.plain("skip_rows", n, false)
                ),
                None => remedy::of_text(cell, row, out, (self.of_input, self.wording)),
            });
        let found =
            format!("row {row}, column {column}{label} is the text '{}' (line {line})", cells::shown(cell));
        Error::format(self.bytes.path(), found, remedy).with(|details| {
            (details.line, details.row, details.column) = (Some(line), Some(row), Some(column));
            details.name = name.map(Into::into);
            details.cell = Some(cells::shown(cell));
        })
    }
}

/// A number of cells in words.
fn n_cells(n: usize) -> String {
    if n == 1 { "1 cell".into() } else { format!("{n} cells") }
}

/// Whether some cell is neither a number nor missing.
fn has_text(record: &csv::ByteRecord) -> bool {
    record.iter().any(|cell| cells::number(cell).is_none())
}
