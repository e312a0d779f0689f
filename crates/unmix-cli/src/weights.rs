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
        return Ok(Some(from_file(path, run)?));
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
        let missing = |_| {
            let row = input.rows.selection().map_or(row as u64, |selected| selected.in_file(row as u64));
            let why = format!("row {row} of column {name} is '{cell}', which is not a number");
            Error::setting("--weights-column", name, why, "choose a column of non-negative numbers")
        };
        cell.trim().parse::<f64>().map_err(missing)
    };
    Ok(Some(cells.iter().enumerate().map(number).collect::<unmix::Result<_>>()?))
}

/// An error about weights, which names the option that gave them.
pub(crate) fn named_as_given(args: &Fit, mut error: Error) -> Error {
    if let (Error::Setting { name, .. }, true) = (&mut error, args.weights_column.is_some())
        && name == "sample_weight"
    {
        *name = "--weights-column".into();
    }
    error
}

/// Reads one number for each row: a column, or a one-dimensional array.
fn from_file(path: &Path, run: &Run<'_>) -> Result<Vec<f64>, Failure> {
    let mut input = unmix_io::open_with(path, &side_file::options(), run)?;
    input.rows.prepare(run)?;
    let (n, p) = (input.rows.n_rows().unwrap_or(0), input.rows.n_features());
    if p != 1 {
        let why = format!("it has {p} columns");
        let error = Error::setting(
            "--weights",
            path.display(),
            why,
            "give a file of one column, with one weight for each row",
        );
        return Err(error.into());
    }
    Ok(with_rows!(&input.rows, rows => rows.read_range(0..n)?.into_iter().map(unmix::Real::to_f64).collect()))
}
