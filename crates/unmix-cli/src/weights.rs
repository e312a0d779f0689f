//! Sample weights: from a separate file, or from a column of the input.

use crate::args::Fit;
use crate::failure::Failure;
use crate::input::column_word;
use crate::side_file;
use std::path::Path;
use unmix::{Error, Run, with_rows};
use unmix_io::{Input, Options};

/// The reading options, with the column of weights as one that is copied.
pub(crate) fn options(args: &Fit) -> unmix::Result<Options> {
    let copied = args.weights_column.as_deref().map(column_word);
    Ok(Options { copied, ..args.reading.options()? })
}

/// The requested weights.
pub(crate) fn of(args: &Fit, input: &mut Input, run: &Run<'_>) -> Result<Option<Vec<f64>>, Failure> {
    if let Some(path) = &args.weights {
        return Ok(Some(from_file(path, &args.reading.options()?, run)?));
    }
    let Some(name) = &args.weights_column else { return Ok(None) };
    if args.reading.transpose {
        return Err(Failure::Usage(
            "--weights-column is a column of the file, which --transpose turns into a row; give the weights in a file, with --weights".into(),
        ));
    }
    // The column of weights is the last one copied.
    let Some((_, cells)) = input.kept.pop() else { return Ok(None) };
    let number = |(row, cell): (usize, &String)| {
        cell.trim().parse::<f64>().map_err(|_| {
            let row = input.rows.selection().map_or(row as u64, |selected| selected.in_file(row as u64));
            let (found, remedy) = match cell.trim() {
                // A cell with a mark of missing cells is empty here.
                "" => ("missing".into(), "write a weight in that cell; 0 leaves the row out"),
                cell => {
                    (format!("'{cell}', which is not a number"), "choose a column of non-negative numbers")
                }
            };
            let why = format!("row {row} of column {name} is {found}");
            Error::setting("--weights-column", name, why, remedy)
        })
    };
    Ok(Some(cells.iter().enumerate().map(number).collect::<unmix::Result<_>>()?))
}

/// An error about weights, which names the option that gave them.
pub(crate) fn named_as_given(args: &Fit, mut error: Error) -> Error {
    let Some(column) = &args.weights_column else { return error };
    if let Error::Setting { name, got, .. } = &mut error {
        // The column is one that is copied, as those of `--keep` are.
        let is_column = name == "keep" && *got == column_word(column);
        if is_column || name == "sample_weight" {
            *name = "--weights-column".into();
        }
    }
    error
}

/// Reads one number for each row: a column, or a one-dimensional array.
fn from_file(path: &Path, reading: &Options, run: &Run<'_>) -> Result<Vec<f64>, Failure> {
    let is_column = |input: &Input| input.rows.n_features() == 1;
    let mut input = side_file::open(path, side_file::options(), reading, is_column, run)?;
    input.rows.prepare(run)?;
    let (n, p) = (input.rows.n_rows().unwrap_or(0), input.rows.n_features());
    if p != 1 {
        let remedy = match p == 2 && input.stored == "text" {
            false => "give a file of one column, with one weight for each row",
            true => {
                "give a file of one column, with one weight for each row; if its commas are decimal marks, write points"
            }
        };
        return Err(Error::setting("--weights", path.display(), format!("it has {p} columns"), remedy).into());
    }
    Ok(with_rows!(&input.rows, rows => rows.read_range(0..n)?.into_iter().map(unmix::Real::to_f64).collect()))
}
