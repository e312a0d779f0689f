//! Lists of cells: tables of row, column and value, and the sparse rows that they define.

use crate::stored::{self, Opener};
use crate::{Input, Options, chosen, paths};
use std::path::{Path, PathBuf};
use unmix::internal::error::counted;
use unmix::{AnyRows, Error, Real, Result, Rows, Run};

/// Columns of a list of cells.
const COLUMNS: usize = 3;

/// Opens a list of cells as it is stored: lines of row, column and value, or of row and column. [`open_many`](crate::open_many) with
/// [`Options::triplets`] opens the sparse rows that it defines.
///
/// # Errors
///
/// Those of [`open_many`](crate::open_many), with the reason where rows or columns are given by text; more than three columns.
pub fn open_triplets(paths: &[impl AsRef<Path>], options: &Options, run: &Run<'_>) -> Result<Input> {
    lines(&paths::expand(paths, options.input_format)?, &stored::open, options, run)
}

/// The lines of a list of cells in files that `open` opens.
pub(crate) fn lines(files: &[PathBuf], open: Opener<'_>, options: &Options, run: &Run<'_>) -> Result<Input> {
    // The columns of a list are not those of a model.
    let options = &Options { wanted: None, row_names: false, triplets: true, ..options.clone() };
    let lines = chosen(files, open, options, run).map_err(of_text)?;
    let (rows, p) = (&lines.rows, lines.rows.n_features());
    if p > COLUMNS {
        let shown: Vec<String> = match &rows.features().names {
            Some(names) => names[..COLUMNS].to_vec(),
            None => (0..COLUMNS).map(|j| j.to_string()).collect(),
        };
        let found =
            format!("it has {}, and a list of cells has row, column and value", counted(p as u64, "column"));
        let remedy = format!("choose three, as in {}", options.wording.columns("columns", &shown));
        let numbers = (Some(COLUMNS as u64), Some(p as u64));
        return Err(
            Error::format(rows.origin(), found, remedy).with(|details| (details.need, details.got) = numbers)
        );
    }
    Ok(lines)
}

/// An error about text in place of the number of a row or a column.
fn of_text(e: Error) -> Error {
    match e {
        Error::Format { path, found, details, .. } if details.column.is_some_and(|j| j < 2) => {
            let remedy = "rows and columns of a list of cells are numbers from 0: replace names by numbers first, as pandas.factorize does";
            Error::Format { path, found, details, remedy: remedy.into() }
        }
        e => e,
    }
}

/// The sparse rows that the lines of a list define, of `n_features` columns, or up to the last one that has a cell.
pub(crate) fn rows(lines: Input, n_features: Option<usize>) -> Result<Input> {
    let mut notes = lines.rows.notes().to_vec();
    let rows = match &lines.rows {
        AnyRows::F32(list) => AnyRows::F32(sparse(list, n_features, &mut notes)?),
        AnyRows::F64(list) => AnyRows::F64(sparse(list, n_features, &mut notes)?),
    };
    Ok(Input {
        shape: vec![rows.n_rows(), Some(rows.n_features() as u64)],
        rows: rows.with_notes(notes),
        kept: Vec::new(),
        row_names: None,
        ignored: Vec::new(),
        text_cells: Vec::new(),
        ..lines
    })
}

fn sparse<T: Real>(
    lines: &Rows<'_, T>,
    n_features: Option<usize>,
    notes: &mut Vec<String>,
) -> Result<Rows<'static, T>> {
    let list = lines.triplets()?;
    let note = note_on_cells(&list.cells);
    notes.extend(note.map(|note| format!("{note}, so row 0 and column 0 of the matrix are empty")));
    list.rows(n_features)
}

/// A note on a list of cells to be predicted, given by row and column, which seems to be numbered from 1: many cells, and none in row
/// 0 and column 0. Few cells may well leave these out; three for each row and column on average do by chance in one of 400 lists.
pub fn note_on_requested_cells(cells: &[(u64, u64)]) -> Option<String> {
    let most = cells.iter().map(|cell| cell.0.max(cell.1)).max()?;
    note_on_cells(cells).filter(|_| cells.len() as u64 / 3 > most)
}

/// A note on a list of cells, given by row and column, without one in row 0 and in column 0, which is usually numbered from 1.
fn note_on_cells(cells: &[(u64, u64)]) -> Option<String> {
    let lowest = |of: fn(&(u64, u64)) -> u64| cells.iter().map(of).min();
    let is_from_one = lowest(|cell| cell.0) == Some(1) && lowest(|cell| cell.1) == Some(1);
    is_from_one.then(|| {
        "no cell is in row 0 or column 0: are rows and columns numbered from 1? They are numbered from 0 here"
            .into()
    })
}
