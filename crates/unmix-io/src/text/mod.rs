//! Text files: lines of cells, decoded once into doubles. Blank lines are not rows, even with a single
//! column.

mod blanks;
mod cells;
mod delimiter;
mod encoding;
mod fixed_width;
mod guess;
mod header;
mod labelled;
mod limiter;
mod lines;
mod plain;
mod preamble;
mod quotes;
mod refusals;
mod remedy;
mod totals;
mod trailing;
mod unread;

use crate::selection::Selection;
use crate::{CountRows, Input, Options, Wording, index, progress, transposed};
use cells::Role;
use labelled::Labelled;
use lines::{Dialect, Lines, RecordStart};
use plain::{Numbers, Plain};
use unmix::data::{Bytes, Spool};
use unmix::{AnyRows, Error, Result, Run};

pub use quotes::check_quotations;

/// The files that a file is read with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Among {
    /// It is the only one.
    Alone,
    /// It is one of several, whose rows are numbered together.
    Several {
        /// Whether every row of each text file ends in a delimiter: only then the column that this makes is left out, of all of them.
        end_in_delimiter: bool,
    },
}

/// Reads the whole file, once.
pub(crate) fn open(
    bytes: &Bytes<'static>,
    gz: bool,
    by_ending: u8,
    among: Among,
    (options, run): (&Options, &Run<'_>),
) -> Result<Input> {
    let mut dialect = Dialect::new(by_ending, options)?;
    dialect.ends_in_delimiter = match among {
        Among::Alone => ends_in_delimiter(bytes, gz, by_ending, options, run)?,
        Among::Several { end_in_delimiter } => end_in_delimiter,
    };
    let mut lines = Lines::open(bytes, gz, &dialect)?;
    let mut record = csv::ByteRecord::new();
    let place = first_line(&mut lines, &mut record, bytes, options)?;
    let has_header = has_header(&lines, &record, place, bytes, options)?;
    let names = has_header.then(|| header::names(&record));
    let origin = bytes.path().display().to_string();
    let n_columns = record.len();
    let written: Vec<String> = if has_header { header::written(&record) } else { vec![] };
    if !options.transpose {
        transposed::check_once(&origin, &written, options)?;
    }
    // Lines of a transposed table are its columns.
    let names = names.or_else(|| options.names_of(n_columns).filter(|_| !options.transpose));
    let index: Vec<usize> = (0..index::unnamed(written.iter().map(String::as_str))).collect();
    let mut selection = Selection::new(options, names.as_deref(), n_columns, &index)?;
    let (naming, found) = match options.transpose {
        true => naming(&mut selection, bytes, gz, &dialect, has_header)?,
        false => (vec![], false),
    };
    let mut notes =
        Vec::from_iter(index::note(&origin, &selection.index, &written, n_columns, options.wording));
    notes.extend(index::note_on_names(&origin, &written, &selection, options));
    let naming_column = naming.first().copied().filter(|_| found);
    notes.extend(notes_on_names(&origin, names.as_deref(), &written, naming_column));
    notes.extend(dialect.ends_in_delimiter.then(|| trailing::note(&origin)));
    if options.header.is_none() && !has_header {
        notes.extend(guess::note(bytes, gz, &dialect, options.wording)?);
    }
    if has_header {
        lines.forget_marks();
    }
    let index = match (options.transpose, options.row_names) {
        (true, _) => naming,
        (false, true) => selection.index.clone(),
        (false, false) => vec![],
    };
    if record.iter().any(|cell| has_header && std::str::from_utf8(cell).is_err()) {
        notes.push(encoding::note(&origin));
    }
    let table = Table {
        index,
        names,
        n_columns,
        selection,
        count_text: options.count_text,
        n_requested: n_requested(options),
        notes,
        bytes,
        gz,
        dialect,
        among,
        of_input: !options.by_contents,
        wording: options.wording,
    };
    table.opened(&mut lines, record, (!has_header).then_some(place), options, run)
}

/// Whether every row ends in a delimiter, and the column that this makes is not requested.
///
/// # Errors
///
/// Those of the options; an interruption.
pub(crate) fn ends_in_delimiter(
    bytes: &Bytes<'static>,
    gz: bool,
    by_ending: u8,
    options: &Options,
    run: &Run<'_>,
) -> Result<bool> {
    let dialect = Dialect::new(by_ending, options)?;
    trailing::is_on_every_line(bytes, gz, &dialect, n_requested(options), (options, run))
}

/// The number of rows from the start of the file that are needed.
fn n_requested(options: &Options) -> u64 {
    match options.rows {
        Some((start, Some(end))) if start < end && !options.transpose => end,
        _ => u64::MAX,
    }
}

/// Whether the first line has the names of the columns: as requested, or else as detected from its cells.
fn has_header(
    lines: &Lines<'_>,
    record: &csv::ByteRecord,
    place: RecordStart,
    bytes: &Bytes<'static>,
    options: &Options,
) -> Result<bool> {
    match options.header {
        Some(given) => Ok(given),
        None => header::is_header(record, || lines.line(place), options.wording)
            .map_err(|(found, remedy)| Error::format(bytes.path(), found, remedy)),
    }
}

/// Reads the first line of cells.
fn first_line(
    lines: &mut Lines<'_>,
    record: &mut csv::ByteRecord,
    bytes: &Bytes<'static>,
    options: &Options,
) -> Result<RecordStart> {
    if let Some(place) = lines.next(record)? {
        return Ok(place);
    }
    let found = if options.skip_rows > 0 {
        "no lines remain after those that are skipped"
    } else {
        "it holds blank lines only"
    };
    Err(Error::format(bytes.path(), found, "check the program that wrote it"))
}

/// Notes about the column that names the columns of a transposed table, if it was `found`, and about names that occur more than once among
/// those `written` in the file.
fn notes_on_names(
    origin: &str,
    names: Option<&[String]>,
    written: &[String],
    found: Option<usize>,
) -> Vec<String> {
    let naming = found.map(|j| {
        let name = names.map_or_else(|| j.to_string(), |names| names[j].clone());
        transposed::note(origin, j, &name)
    });
    let repeated = names.and_then(|names| transposed::repeated(origin, written, names));
    naming.into_iter().chain(repeated).collect()
}

/// [`transposed::naming`] by the cells of the first row.
fn naming(
    selection: &mut Selection,
    bytes: &Bytes<'static>,
    gz: bool,
    dialect: &Dialect,
    has_header: bool,
) -> Result<(Vec<usize>, bool)> {
    let (mut lines, mut record) = (Lines::open(bytes, gz, dialect)?, csv::ByteRecord::new());
    let mut n_columns = 0;
    for _ in 0..1 + usize::from(has_header) {
        // Without a row there is an error elsewhere.
        let _ = lines.next(&mut record)?;
        n_columns = n_columns.max(record.len());
    }
    let is_text = |j: usize| record.get(j).is_some_and(|cell| cells::number(cell).is_none());
    Ok(transposed::naming(selection, n_columns, is_text))
}

/// Properties of a file, from its first line and the options.
struct Table<'a> {
    names: Option<Vec<String>>,
    n_columns: usize,
    selection: Selection,
    count_text: bool,
    /// Number of rows after which no row is requested: what follows, such as a line of totals, is not read.
    n_requested: u64,
    /// Columns that names of rows as they are stored are read from: of the index, or those that name the features of a transposed table.
    index: Vec<usize>,
    /// Notes for the user about how it is read.
    notes: Vec<String>,
    bytes: &'a Bytes<'static>,
    gz: bool,
    dialect: Dialect,
    among: Among,
    /// Whether it is an input, not an additional file, such as one of weights.
    of_input: bool,
    wording: Wording,
}

/// The layout of the lines below the header.
struct Read {
    numbers: Numbers,
    n_rows: u64,
    /// What counts the rows after the last one that was requested, if there may be some.
    unread: Option<CountRows>,
    kept: Vec<Vec<String>>,
    text_cells: Vec<u64>,
    comma_cells: u64,
    /// Whether commas separate the cells.
    commas_separate: bool,
    /// Whether cells that are kept as text are not UTF-8.
    is_encoded: bool,
}

impl Table<'_> {
    fn n_features(&self) -> usize {
        self.selection.features.as_ref().map_or(self.n_columns, Vec::len)
    }

    /// Reads the lines, and adds notes about their cells. `record` and `first` are as for [`read`](Self::read).
    fn opened(
        mut self,
        lines: &mut Lines<'_>,
        record: csv::ByteRecord,
        first: Option<RecordStart>,
        options: &Options,
        run: &Run<'_>,
    ) -> Result<Input> {
        let read = self.read(lines, record, first, run)?;
        let origin = self.bytes.path().display().to_string();
        if read.is_encoded && !self.notes.contains(&encoding::note(&origin)) {
            self.notes.push(encoding::note(&origin));
        }
        // Of a part of the file nothing is known about the other cells.
        let whole = self.n_requested == u64::MAX;
        self.notes.extend(lines.marks_not_found().filter(|_| whole).map(|mark| {
            let given = options.wording.plain("na", options.na[mark].trim(), true);
            format!("{origin}: no cell is '{}', given as a missing cell by {given}", options.na[mark].trim())
        }));
        self.input(read, options)
    }

    /// How the cells of each column are used.
    fn roles(&self) -> Vec<Role> {
        let mut roles = vec![Role::Passed; self.n_columns];
        match &self.selection.features {
            None => (0..self.n_columns).for_each(|j| roles[j] = Role::Feature(j)),
            Some(features) => features.iter().enumerate().for_each(|(i, &j)| roles[j] = Role::Feature(i)),
        }
        let kept = self.selection.kept.iter().chain(&self.index);
        kept.enumerate().for_each(|(i, &j)| roles[j] = Role::Kept(i));
        roles
    }

    /// Reads every line. `record` holds the first row already when `first` has its position.
    fn read(
        &self,
        lines: &mut Lines<'_>,
        mut record: csv::ByteRecord,
        first: Option<RecordStart>,
        run: &Run<'_>,
    ) -> Result<Read> {
        /// Numbers that are gathered before they are written down.
        const BATCH: usize = 1 << 16;
        let (roles, width) = (self.roles(), self.n_features());
        let mut spool = Spool::new(self.bytes.path());
        let mut n_rows = 0;
        let mut kept = vec![Vec::new(); self.selection.kept.len() + self.index.len()];
        let mut text_cells = vec![0; if self.count_text { width } else { 0 }];
        let (mut comma_cells, commas_separate) = (0, lines.delimiter() == b',');
        let mut place = match first {
            Some(place) => Some(place),
            None => lines.next(&mut record)?,
        };
        let mut is_encoded = false;
        if let Some(at) = place
            && let Some((n_rows, numbers)) = self.read_plain(at, lines.delimiter(), &roles, run)?
        {
            return Ok(Read {
                numbers,
                n_rows,
                unread: self.unread(n_rows, first)?,
                kept,
                text_cells,
                comma_cells,
                commas_separate,
                is_encoded,
            });
        }
        let mut numbers: Vec<f64> = Vec::with_capacity(BATCH + width);
        while let Some(at) = place.filter(|_| n_rows < self.n_requested) {
            // A line of blanks at the end is not a row; blank lines without blanks never get here.
            if !self.is_blank(&record) {
                if record.len() != self.n_columns {
                    return Err(self.ragged(lines.line(at)?, n_rows, &record));
                }
                is_encoded = is_encoded || !cells::are_utf_8(&record, &roles);
                let start = numbers.len();
                numbers.resize(start + width, f64::NAN);
                let text = match self.count_text {
                    true => Some(&mut text_cells[..]),
                    false => None,
                };
                cells::place(&record, &roles, &mut numbers[start..], &mut kept, text)
                    .map_err(|column| self.not_a_number(lines, at, n_rows, column, &record[column]))?;
                if self.count_text {
                    comma_cells += cells::n_with_comma(&record, &roles);
                }
                n_rows += 1;
            }
            if numbers.len() >= BATCH {
                spool.write_numbers(&numbers)?;
                numbers.clear();
                progress(run, n_rows)?;
            }
            // What follows the last requested row is not read: it may be of any form.
            place = if n_rows < self.n_requested { lines.next(&mut record)? } else { None };
        }
        spool.write_numbers(&numbers)?;
        let numbers = Numbers::Spooled(spool);
        let unread = self.unread(n_rows, first)?;
        Ok(Read { numbers, n_rows, unread, kept, text_cells, comma_cells, commas_separate, is_encoded })
    }

    /// What counts the rows after the last one that was requested, if all of these `n_rows` were found. `first` is the position of the first row, if
    /// it was read as one.
    fn unread(&self, n_rows: u64, first: Option<RecordStart>) -> Result<Option<CountRows>> {
        if n_rows < self.n_requested {
            return Ok(None);
        }
        let n_passed = n_rows + u64::from(first.is_none());
        unread::count(self.bytes, self.gz, &self.dialect, self.n_columns, n_passed).map(Some)
    }

    /// Whether a record is a line of blanks, which is not a row.
    fn is_blank(&self, record: &csv::ByteRecord) -> bool {
        unread::is_blank(record, self.n_columns)
    }

    /// The rows from the record `at` on, by the faster reader of numbers alone; none where it does not apply, or where a line is of another form.
    fn read_plain(
        &self,
        at: RecordStart,
        delimiter: u8,
        roles: &[Role],
        run: &Run<'_>,
    ) -> Result<Option<(u64, Numbers)>> {
        let none_kept = self.selection.kept.is_empty() && self.index.is_empty();
        let is_plain = self.dialect.is_plain() && delimiter != blanks::DELIMITER;
        if !none_kept || self.count_text || self.gz || !is_plain {
            return Ok(None);
        }
        let ends_in_delimiter = self.dialect.ends_in_delimiter;
        let (width, n_requested) = (self.n_features(), self.n_requested);
        let plain = Plain { bytes: self.bytes, delimiter, ends_in_delimiter, roles, width, n_requested };
        plain.read(at.byte(), run)
    }

    fn input(self, read: Read, options: &Options) -> Result<Input> {
        let path = self.bytes.path();
        if read.n_rows == 0 {
            let remedy = "check the program that wrote it";
            return Err(Error::format(path, "it has a header but no rows", remedy));
        }
        let empty = match &read.numbers {
            // Rows after the requested ones may have cells in a column that is empty here.
            Numbers::Held(numbers) if read.unread.is_none() => self.empty_columns(numbers),
            _ => vec![],
        };
        let mut kept = read.kept;
        let levels = index::names_of_rows(kept.split_off(self.selection.kept.len()));
        let labelled = match options.transpose {
            true => self.across(read.numbers, levels, options)?,
            false => self.along(read.numbers, kept, levels, options)?,
        };
        let Labelled { rows, kept, row_names, ignored } = labelled;
        let numbering = self.note_on_numbers(&rows, options)?;
        let labels = kept.iter().map(|(_, cells)| cells).chain(&row_names);
        let total = totals::note(&rows, labels, self.among != Among::Alone, options)?;
        let empty = empty.into_iter().map(|j| {
            let (drop, name) = (options.wording.column("drop", None, j), self.name(j));
            format!("{}: column {j} ('{name}') is empty; leave it out with {drop}", path.display())
        });
        let notes = self.notes.iter().cloned().chain(numbering).chain(total).chain(empty).collect();
        Ok(Input {
            rows: rows.with_notes(notes),
            format: String::new(),
            stored: "text".into(),
            shape: vec![Some(read.n_rows), Some(self.n_columns as u64)],
            kept,
            row_names,
            ignored,
            text_cells: if options.transpose { vec![] } else { read.text_cells },
            comma_cells: read.comma_cells,
            commas_separate: read.commas_separate,
            patches: None,
            unread: Vec::from_iter(read.unread),
        })
    }

    /// [`index::note_on_rows`] about the first feature.
    fn note_on_numbers(&self, rows: &AnyRows<'_>, options: &Options) -> Result<Option<String>> {
        let features = self.selection.features.as_ref();
        let first = features.and_then(|features| features.first()).copied().unwrap_or(0);
        let name = self.names.as_ref().map(|names| names[first].as_str());
        index::note_on_rows(rows, name, first, options)
    }

    /// The columns of features without a single cell.
    fn empty_columns(&self, numbers: &[f64]) -> Vec<usize> {
        let width = self.n_features();
        let is_empty = |i: &usize| numbers[*i..].iter().step_by(width).all(|x| x.is_nan());
        let column = |i: usize| self.selection.features.as_ref().map_or(i, |features| features[i]);
        (0..width).filter(is_empty).map(column).collect()
    }
}
