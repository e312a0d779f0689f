//! Text files: lines of cells, decoded once into doubles. Blank lines are no rows, also where there is one column only.

mod cells;
mod decimal;
mod delimiter;
mod header;
mod lines;
mod plain;

use crate::selection::Selection;
use crate::{Input, Options, array, progress};
use cells::Role;
use lines::{Lines, Place};
use plain::{Numbers, Plain};
use unmix::data::{Bytes, Held, Spool};
use unmix::{AnyRows, Error, Features, Result, Rows, Run};

/// Reads the whole file, once.
pub(crate) fn open(
    bytes: &Bytes<'static>,
    gz: bool,
    by_ending: u8,
    options: &Options,
    run: &Run<'_>,
) -> Result<Input> {
    let mut lines = Lines::open(bytes, gz, by_ending, options.skip_rows)?;
    let mut record = csv::ByteRecord::new();
    let Some(place) = lines.next(&mut record)? else {
        let found = if options.skip_rows > 0 {
            "nothing is left of it after the lines passed over"
        } else {
            "it holds blank lines only"
        };
        return Err(Error::format(bytes.path(), found, "check what was to write it"));
    };
    let has_header = match options.header {
        Some(said) => said,
        None => header::is_header(&record, || lines.line(place))
            .map_err(|(found, remedy)| Error::format(bytes.path(), found, remedy))?,
    };
    let names = has_header.then(|| header::names(&record));
    let n_columns = record.len();
    let selection = Selection::new(options, names.as_deref(), n_columns)?;
    if options.transpose && !selection.kept.is_empty() {
        return Err(Error::Unsupported {
            asked: format!("keep={} together with transpose", options.keep.as_deref().unwrap_or_default()),
            found: "the columns of the file become samples".into(),
            remedy: "drop those columns instead".into(),
        });
    }
    let first = if has_header { None } else { Some(place) };
    let table = Table { names, n_columns, selection, count_text: options.count_text, bytes, gz };
    let read = table.read(&mut lines, record, first, run)?;
    table.input(read, options)
}

/// What the first line and the options say of a file.
struct Table<'a> {
    names: Option<Vec<String>>,
    n_columns: usize,
    selection: Selection,
    count_text: bool,
    bytes: &'a Bytes<'static>,
    gz: bool,
}

/// What its other lines hold.
struct Read {
    numbers: Numbers,
    n_rows: u64,
    kept: Vec<Vec<String>>,
    text_cells: Vec<u64>,
}

impl Table<'_> {
    fn n_features(&self) -> usize {
        self.selection.features.as_ref().map_or(self.n_columns, Vec::len)
    }

    /// What becomes of the cells of each column.
    fn roles(&self) -> Vec<Role> {
        let mut roles = vec![Role::Passed; self.n_columns];
        match &self.selection.features {
            None => (0..self.n_columns).for_each(|j| roles[j] = Role::Feature(j)),
            Some(features) => features.iter().enumerate().for_each(|(i, &j)| roles[j] = Role::Feature(i)),
        }
        self.selection.kept.iter().enumerate().for_each(|(i, &j)| roles[j] = Role::Kept(i));
        roles
    }

    /// Reads every line. `record` holds the first row already when `first` says where it is.
    fn read(
        &self,
        lines: &mut Lines<'_>,
        mut record: csv::ByteRecord,
        first: Option<Place>,
        run: &Run<'_>,
    ) -> Result<Read> {
        /// Numbers that are gathered before they are written down.
        const BATCH: usize = 1 << 16;
        let (roles, width) = (self.roles(), self.n_features());
        let mut spool = Spool::new(self.bytes.path());
        let mut n_rows = 0;
        let mut kept = vec![Vec::new(); self.selection.kept.len()];
        let mut text_cells = vec![0; if self.count_text { width } else { 0 }];
        let mut place = match first {
            Some(place) => Some(place),
            None => lines.next(&mut record)?,
        };
        let only_numbers = kept.is_empty() && !self.count_text && !self.gz;
        if let Some(at) = place.filter(|_| only_numbers) {
            let plain = Plain { bytes: self.bytes, delimiter: lines.delimiter(), roles: &roles, width };
            if let Some((n_rows, numbers)) = plain.read(at.byte(), run)? {
                return Ok(Read { numbers, n_rows, kept, text_cells });
            }
        }
        let mut numbers: Vec<f64> = Vec::with_capacity(BATCH + width);
        while let Some(at) = place {
            // A line of blanks at the end is no row; blank lines without blanks never get here.
            let blank = self.n_columns > 1 && record.len() == 1 && record[0].trim_ascii().is_empty();
            if !blank {
                if record.len() != self.n_columns {
                    return Err(self.ragged(lines.line(at)?, record.len(), has_text(&record)));
                }
                let start = numbers.len();
                numbers.resize(start + width, f64::NAN);
                let text = match self.count_text {
                    true => Some(&mut text_cells[..]),
                    false => None,
                };
                cells::place(&record, &roles, &mut numbers[start..], &mut kept, text)
                    .map_err(|column| self.not_a_number(lines, at, n_rows, column, &record[column]))?;
                n_rows += 1;
            }
            if numbers.len() >= BATCH {
                spool.write_numbers(&numbers)?;
                numbers.clear();
                progress(run, n_rows)?;
            }
            place = lines.next(&mut record)?;
        }
        spool.write_numbers(&numbers)?;
        Ok(Read { numbers: Numbers::Spooled(spool), n_rows, kept, text_cells })
    }

    fn input(self, read: Read, options: &Options) -> Result<Input> {
        let path = self.bytes.path();
        if read.n_rows == 0 {
            return Err(Error::format(path, "it has a header but no rows", "check what was to write it"));
        }
        let width = self.n_features();
        let chosen = |names: &Vec<String>| match &self.selection.features {
            None => names.clone(),
            Some(features) => features.iter().map(|&j| names[j].clone()).collect(),
        };
        let features_names = self.names.as_ref().map(chosen);
        let rows = match (read.numbers, options.transpose) {
            (Numbers::Held(numbers), false) => {
                let shape = array::feature_shape(options, None, width)?;
                let own = Features { names: features_names, shape };
                AnyRows::F64(Rows::new(Held::new(numbers, width), own, path.display().to_string()))
            }
            (numbers, transpose) => {
                let array = numbers.spooled(path)?.into_rows::<f64>(width)?;
                let (array, names) =
                    if transpose { (array.transposed(), None) } else { (array, features_names) };
                let shape = array::feature_shape(options, None, array.features().len() as usize)?;
                array::rows(array, None, Features { names, shape }, path)
            }
        };
        let name = |j: usize| self.names.as_ref().map_or_else(|| j.to_string(), |names| names[j].clone());
        Ok(Input {
            rows,
            format: String::new(),
            stored: "text".into(),
            shape: vec![Some(read.n_rows), Some(self.n_columns as u64)],
            kept: self.selection.kept.iter().map(|&j| name(j)).zip(read.kept).collect(),
            ignored: self.selection.ignored.iter().map(|&j| name(j)).collect(),
            text_cells: if options.transpose { vec![] } else { read.text_cells },
        })
    }

    fn ragged(&self, line: u64, found: usize, text: bool) -> Error {
        let remedy = match text {
            true => {
                "make all lines equally long, put quotes around cells with a delimiter in them, or pass over lines that are not part of the table with --skip-rows"
            }
            false => {
                "make all lines equally long, or pass over lines that are not part of the table with --skip-rows"
            }
        };
        let found = format!("line {line} has {found} cells, but the first line has {}", self.n_columns);
        Error::format(self.bytes.path(), found, remedy)
    }

    fn not_a_number(&self, lines: &Lines<'_>, at: Place, row: u64, column: usize, cell: &[u8]) -> Error {
        let line = match lines.line(at) {
            Ok(line) => line,
            Err(e) => return e,
        };
        let name = self.names.as_ref().map(|names| names[column].as_str());
        let label = name.map_or(String::new(), |n| format!(" ('{n}')"));
        let word = match name {
            Some(n) if n.contains(',') => format!("'\"{n}\"'"),
            Some(n) if n.contains(char::is_whitespace) => format!("'{n}'"),
            Some(n) => n.to_string(),
            None => column.to_string(),
        };
        let remedy = match cells::has_decimal_comma(cell) {
            true => "write decimal points, not commas".into(),
            false => format!(
                "leave the column out with --drop {word}, or carry it beside the codes with --keep {word}"
            ),
        };
        let found =
            format!("row {row}, column {column}{label} is the text '{}' (line {line})", cells::shown(cell));
        Error::format(self.bytes.path(), found, remedy)
    }
}

/// Whether some cell is neither a number nor missing.
fn has_text(record: &csv::ByteRecord) -> bool {
    record.iter().any(|cell| cells::number(cell).is_none())
}
