//! Lists of cells (`--triplets`): row, column and value of each cell, read from a file of two or three columns.

use crate::failure::Failure;
use crate::input::column_word;
use crate::terminal;
use std::path::Path;
use unmix::data::Triplets;
use unmix::{AnyRows, Error, Real, Rows, Run, with_rows};
use unmix_io::{Input, Options};

/// Rows of a table that are examined for row and column numbers.
const ROWS: u64 = 10_000;

/// The lines of a list of cells: a table of row, column and value, or of row and column.
///
/// # Errors
///
/// Those of reading, with the reason where the numbers of rows or columns are text; a table of another width.
pub(crate) fn open(
    paths: &[impl AsRef<Path>],
    options: &Options,
    run: &Run<'_>,
    quiet: bool,
) -> Result<Input, Failure> {
    let input = unmix_io::open_many(paths, options, run).map_err(of_text)?;
    if !quiet {
        crate::input::tell(&input.rows);
    }
    if !input.kept.is_empty() {
        return Err(Failure::Usage("a list of cells has no columns to keep; leave --keep out".into()));
    }
    let (rows, p) = (&input.rows, 3);
    if rows.n_features() > p {
        let shown: Vec<String> = match &rows.features().names {
            Some(names) => names[..p].iter().map(|name| column_word(name)).collect(),
            None => (0..p).map(|j| j.to_string()).collect(),
        };
        return Err(Failure::Message(format!(
            "a list of cells has the columns row, column and value, and {} has {} columns; choose three, as in --columns {}",
            rows.origin(),
            rows.n_features(),
            shown.join(",")
        )));
    }
    Ok(input)
}

/// An error about text in place of the number of a row or a column.
fn of_text(e: Error) -> Failure {
    match &e {
        Error::Format { path, found, details, .. } if details.column.is_some_and(|j| j < 2) => {
            Failure::Message(format!(
                "reading {} as a list of cells is not possible: {found}; rows and columns are given by numbers from 0, so replace names \
                 by numbers first, as pandas.factorize does",
                path.display()
            ))
        }
        _ => e.into(),
    }
}

/// The sparse rows given by a list of cells, with as many columns as the model that they are for, if there is one.
pub(crate) fn rows(
    lines: &AnyRows<'_>,
    n_features: Option<usize>,
    quiet: bool,
) -> Result<AnyRows<'static>, Failure> {
    fn of<T: Real>(
        lines: &Rows<'_, T>,
        n_features: Option<usize>,
        quiet: bool,
    ) -> Result<Rows<'static, T>, Failure> {
        let list = lines.triplets()?;
        if !quiet {
            warn_from_one(&list);
        }
        Ok(list.rows(n_features)?)
    }
    Ok(match lines {
        AnyRows::F32(lines) => AnyRows::F32(of(lines, n_features, quiet)?),
        AnyRows::F64(lines) => AnyRows::F64(of(lines, n_features, quiet)?),
    })
}

/// A list without a cell in row 0 and in column 0 is usually numbered from 1.
fn warn_from_one<T>(list: &Triplets<T>) {
    let lowest = |of: fn(&(u64, u64)) -> u64| list.cells.iter().map(of).min();
    if lowest(|cell| cell.0) == Some(1) && lowest(|cell| cell.1) == Some(1) {
        terminal::warning(
            "no cell is in row 0 or column 0: are rows and columns numbered from 1? They are numbered from 0 here, so row 0 and column 0 of the \
             matrix are empty",
        );
    }
}

/// A hint where rows of three numbers look like a list of cells: the first two are repeating whole numbers, and no pair of them comes
/// twice.
pub(crate) fn hint(rows: &AnyRows<'_>) -> Result<(), Failure> {
    if rows.n_features() != 3 {
        return Ok(());
    }
    let some: Vec<f64> =
        with_rows!(rows, rows => rows.read_range(0..ROWS)?.iter().map(|x| x.to_f64()).collect());
    if looks_like_cells(some.as_chunks::<3>().0) {
        terminal::warning(&format!(
            "the first two columns of {} look like numbers of rows and columns; if each line is a cell (row, column, value) of the matrix, add \
             --triplets",
            rows.origin()
        ));
    }
    Ok(())
}

fn looks_like_cells(lines: &[[f64; 3]]) -> bool {
    let whole = |x: f64| x >= 0.0 && x.fract() == 0.0 && x < 9e15;
    let distinct = |of: fn(&[f64; 3]) -> (u64, u64)| {
        lines.iter().map(of).collect::<std::collections::HashSet<_>>().len()
    };
    let repeats = |n: usize| 1 < n && 2 * n <= lines.len();
    lines.len() > 3
        && lines.iter().all(|l| whole(l[0]) && whole(l[1]))
        && repeats(distinct(|l| (l[0] as u64, 0)))
        && repeats(distinct(|l| (l[1] as u64, 0)))
        && distinct(|l| (l[0] as u64, l[1] as u64)) == lines.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeating_whole_numbers_without_a_pair_twice_look_like_cells() {
        let cells: Vec<[f64; 3]> = (0..20).map(|i| [f64::from(i / 5), f64::from(i % 5), 0.5]).collect();
        assert!(looks_like_cells(&cells));
        assert!(!looks_like_cells(&[&cells[..], &cells[..1]].concat()), "one pair twice");
        let half: Vec<[f64; 3]> = cells.iter().map(|c| [c[0] + 0.5, c[1], c[2]]).collect();
        assert!(!looks_like_cells(&half) && !looks_like_cells(&cells[..3]));
        let ids: Vec<[f64; 3]> = (0..20).map(|i| [f64::from(i), f64::from(i % 5), 0.5]).collect();
        assert!(!looks_like_cells(&ids), "numbers of lines");
    }
}
