//! Lists of cells (`--triplets`): row, column and value of each cell, read from a file of two or three columns.

use crate::args::{Format, Reading};
use crate::failure::Failure;
use crate::output::{Output, Shape, TableWriter};
use crate::terminal;
use std::path::Path;
use unmix::data::Sink;
use unmix::{AnyRows, Dtype, Real, Run, with_rows};
use unmix_io::{Input, Options};

/// Rows of a table that are examined for row and column numbers.
const EXAMINED_ROWS: u64 = 10_000;

/// Reading options of a list of cells.
fn options(reading: &Reading) -> Result<Options, Failure> {
    let options = reading.options()?;
    if options.keep.is_some() {
        return Err(Failure::Usage("a list of cells has no columns to keep; leave --keep out".into()));
    }
    Ok(options)
}

/// The lines of a list of cells: a table of row, column and value, or of row and column.
///
/// # Errors
///
/// Those of [`unmix_io::open_triplets`].
pub(crate) fn lines(
    paths: &[impl AsRef<Path>],
    reading: &Reading,
    run: &Run<'_>,
    quiet: bool,
) -> Result<Input, Failure> {
    let input = unmix_io::open_triplets(paths, &options(reading)?, run)?;
    if !quiet {
        crate::input::tell(&input.rows);
    }
    Ok(input)
}

/// Prints the note on cells that seem to be numbered from 1.
pub(crate) fn tell_numbering(cells: &[(u64, u64)], quiet: bool) {
    unmix_io::note_on_requested_cells(cells)
        .filter(|_| !quiet)
        .iter()
        .for_each(|note| terminal::warning(note));
}

/// The sparse rows given by a list of cells, with as many columns as the model that they are for, if there is one.
///
/// # Errors
///
/// Those of reading, and lists without values or with a cell twice.
pub(crate) fn rows(
    paths: &[impl AsRef<Path>],
    reading: &Reading,
    n_features: Option<usize>,
    run: &Run<'_>,
    quiet: bool,
) -> Result<Input, Failure> {
    let options = Options { triplets: true, n_features, ..options(reading)? };
    let input = unmix_io::open_many(paths, &options, run)?;
    if !quiet {
        crate::input::tell(&input.rows);
    }
    Ok(input)
}

/// Writes a list of cells: row, column, and a number called `name`. In text, rows and columns are integers.
pub(crate) fn write(
    output: &Output,
    cells: &[(u64, u64)],
    numbers: &[f64],
    name: &str,
) -> Result<(), Failure> {
    let n_rows = cells.len() as u64;
    let places = ["row", "column"].map(String::from);
    if matches!(output.format, Format::Npy | Format::Npz) {
        let names = places.into_iter().chain([name.to_string()]).collect();
        let shape = Shape { names, trailing: vec![3], kept: vec![], n_rows };
        let mut table = TableWriter::create(output, shape, Dtype::F64)?;
        let rows = cells.iter().zip(numbers).flat_map(|((i, j), x)| [*i as f64, *j as f64, *x]);
        table.put(&rows.collect::<Vec<f64>>())?;
        return Ok(table.finish()?);
    }
    let [row, column] = places;
    let text = |of: fn(&(u64, u64)) -> u64| cells.iter().map(|cell| of(cell).to_string()).collect();
    let kept = vec![(row, text(|cell| cell.0)), (column, text(|cell| cell.1))];
    let shape = Shape { names: vec![name.into()], trailing: vec![1], kept, n_rows };
    let mut table = TableWriter::create(output, shape, Dtype::F64)?;
    table.put(numbers)?;
    Ok(table.finish()?)
}

/// A hint where rows of three numbers look like a list of cells: the first two are repeating whole numbers, and no pair of them comes
/// twice.
pub(crate) fn hint(rows: &AnyRows<'_>) -> Result<(), Failure> {
    if rows.n_features() != 3 {
        return Ok(());
    }
    let some: Vec<f64> =
        with_rows!(rows, rows => rows.read_range(0..EXAMINED_ROWS)?.iter().map(|x| x.to_f64()).collect());
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
