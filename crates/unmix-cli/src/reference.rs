//! `unmix score --reference`: correlations of components with recorded reference signals.

use crate::args::{Format, Score};
use crate::failure::{Done, Failure, in_shell};
use crate::input;
use crate::output::{Output, Shape, TableWriter};
use crate::progress::Progress;
use crate::{side_file, terminal};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use unmix::data::{RowValues, Sink, UsedRows, VecSink, Workspace};
use unmix::internal::error::counted;
use unmix::internal::num::Block;
use unmix::{Dtype, Error, Matrix, Model, Rows, Run, metrics, with_rows};
use unmix_io::{Input, Missing, Options};

/// Writes a row for each component: its number, and its correlation with every reference.
pub(crate) fn score(model: &Model, files: &[PathBuf], output: &Output, args: &Score) -> Done {
    check_distinct(&args.reference)?;
    let (apply, quiet) = (&args.apply, args.apply.running.quiet);
    let progress = Progress::new(&apply.running);
    let run = progress.run(&apply.running);
    let input = input::open_for(model, files, apply.reading.options()?, &run, quiet)?;
    let codes = with_rows!(&input.rows, rows => {
        let mut sink = VecSink(Vec::new());
        crate::apply::warn_unsolved(&model.encode(rows, &run, &mut sink)?);
        table(&sink.0, model.n_codes())
    });
    let used = input.rows.used().counted(codes.rows() as u64);
    let (mut names, mut columns, mut partly) = (Vec::new(), Vec::new(), Vec::new());
    for reference in &args.reference {
        let own_column =
            model.features().names.as_ref().and_then(|names| names.iter().position(|n| n == reference));
        let (own, found) = match own_column.filter(|_| !Path::new(reference).is_file()) {
            // Names that the model has, from the file of its rows or given with --names.
            Some(j) => (vec![reference.clone()], with_rows!(&input.rows, rows => column(rows, j, &run)?)),
            None => references(reference, files, &apply.reading.options()?, used, &run)?,
        };
        let from = Path::new(reference).is_file().then_some(reference.as_str());
        let values = RowValues { name: "--reference", one: "row", file: from };
        let found = used.rows_of(Cow::Owned(found), values)?.into_owned();
        names.extend(own);
        let known: Vec<usize> =
            (0..found.rows()).filter(|&i| found.row(i).iter().all(|x| x.is_finite())).collect();
        let left_out = found.rows() - known.len();
        if known.len() < 2 {
            let why = format!("it has numbers in {} of the input", counted(known.len() as u64, "row"));
            let remedy = "give a reference with numbers in at least 2 rows";
            return Err(Error::setting("--reference", reference, why, remedy).into());
        }
        if left_out == 0 {
            columns.push(metrics::correlations(&codes, &found)?);
            continue;
        }
        let are = if left_out == 1 { "has no number of it and is" } else { "have no number of it and are" };
        partly.push(format!(
            "--reference {reference}: {} of {} {are} left out of its correlations",
            left_out,
            counted(found.rows() as u64, "row")
        ));
        columns.push(metrics::correlations(&chosen(&codes, &known), &chosen(&found, &known))?);
    }
    progress.clear();
    partly.iter().filter(|_| !quiet).for_each(|said| terminal::warning(said));
    let numbered = matches!(output.format, Format::Npy | Format::Npz);
    let mut kept = Vec::new();
    match numbered {
        true => names.insert(0, "component".to_string()),
        // As text, so that component numbers are written as integers.
        false => kept.push(("component".to_string(), (0..codes.cols()).map(|i| i.to_string()).collect())),
    }
    let width = names.len();
    let shape = Shape { names, trailing: vec![width], kept, n_rows: codes.cols() as u64 };
    let mut writer = TableWriter::create(output, shape, Dtype::F64)?;
    for i in 0..codes.cols() {
        let mut row = if numbered { vec![i as f64] } else { Vec::new() };
        columns.iter().for_each(|c| row.extend_from_slice(c.row(i)));
        Sink::<f64>::put(&mut writer, &row)?;
    }
    writer.finish()?;
    Ok(0)
}

/// Refuses a reference that is given twice: its column of the output would be there twice.
fn check_distinct(references: &[String]) -> Result<(), Failure> {
    match references.iter().enumerate().find(|(i, reference)| references[..*i].contains(reference)) {
        None => Ok(()),
        Some((_, reference)) => {
            Err(Failure::Usage(format!("--reference {reference} is given twice; name each reference once")))
        }
    }
}

fn table<T: unmix::Real>(numbers: &[T], width: usize) -> Matrix<f64> {
    Matrix::from_vec(numbers.len() / width, width, numbers.iter().map(|x| x.to_f64()).collect())
}

/// These rows of a matrix.
fn chosen(all: &Matrix<f64>, rows: &[usize]) -> Matrix<f64> {
    Matrix::from_fn(rows.len(), all.cols(), |i, j| all[(rows[i], j)])
}

/// Column `j` of rows.
fn column<T: unmix::Real>(rows: &Rows<'_, T>, j: usize, run: &Run<'_>) -> Result<Matrix<f64>, Failure> {
    let (mut sink, p) = (VecSink(Vec::<f64>::new()), rows.n_features());
    let step = |block: Block<'_, T>, out: &mut [f64], _: &mut Workspace<T>| {
        out.iter_mut().zip(block.data.chunks_exact(p)).for_each(|(out, row)| *out = row[j].to_f64());
        Ok(())
    };
    rows.map(run, "reading a reference", 1, step, &mut sink)?;
    Ok(table(&sink.0, 1))
}

/// Names and values of the columns of a file, or of one column of the input, for the rows of the input. A file that has these as columns is
/// transposed.
fn references(
    reference: &str,
    files: &[PathBuf],
    options: &Options,
    used: UsedRows<'_>,
    run: &Run<'_>,
) -> Result<(Vec<String>, Matrix<f64>), Failure> {
    let path = Path::new(reference);
    let mut found: Input = match path.is_file() {
        true => {
            // Rows are samples or channels as in the input; column selections of the input do not apply.
            let own = Options {
                transpose: options.transpose,
                rows_axis: options.rows_axis.clone(),
                ..side_file::options()
            };
            side_file::open(path, own, options, |_| true, run)?
        }
        false if files.iter().any(|file| input::is_read_once(file)) => {
            let found = "it is neither a file nor a column of the model, and the input can be read only once";
            return Err(Failure::Message(format!(
                "--reference {reference} is not possible: {found}; write the input to a file, and give this"
            )));
        }
        false => {
            let columns = Some(input::column_word(reference));
            // All rows of the file: which of them are left out depends on the columns of the model.
            let whole = Options { missing: Missing::Keep, rows: None, ..options.clone() };
            let options = Options { columns, drop: None, keep: None, wanted: None, ..whole };
            unmix_io::open_many(files, &options, run).map_err(|e| missing(reference, e))?
        }
    };
    found.rows.prepare(run)?;
    let (p, n) = (found.rows.n_features(), found.rows.n_rows().unwrap_or(0));
    let numbers = with_rows!(&found.rows, rows => table(&rows.read_range(0..n)?, p));
    // A single signal, or signals whose number is not that of the samples, fit in one way only.
    let transposed = path.is_file() && !used.matches(n) && used.matches(p as u64);
    let (numbers, p) = if transposed { (numbers.transposed(), n as usize) } else { (numbers, p) };
    let stem = crate::fit::stem(path);
    let made = |j: usize| match (path.is_file(), p) {
        (true, 1) => stem.clone(),
        (true, _) => format!("{stem}[{j}]"),
        _ => reference.into(),
    };
    let names = found.rows.features().names.clone().filter(|_| !transposed);
    let names = names.unwrap_or_else(|| (0..p).map(made).collect());
    Ok((names, numbers))
}

/// An error of reading a column of the input. One about the column itself names another option, and only its reason is of use.
fn missing(reference: &str, e: Error) -> Failure {
    let found = format!("--reference {reference} is neither a file nor a column of the input");
    Failure::Message(match &e {
        Error::Setting { name, why, .. } if name == "columns" => {
            format!("{found}: {why}; give a file, or the number of a column, from 0")
        }
        e => format!("{found}: {}", in_shell(e)),
    })
}
