//! `unmix impute`: imputation of missing cells, with standard errors and draws.

use crate::args::Impute;
use crate::failure::{Done, Failure};
use crate::output::{self, Output, Shape, TableWriter};
use crate::progress::Progress;
use crate::{input, list, terminal};
use std::path::{Path, PathBuf};
use unmix::data::Sink;
use unmix::impute::{ImputeOptions, Imputer, fill_cells, note_on_errors};
use unmix::{Dtype, Error, Model, Real, Run, with_rows};

/// Distributes the parts of every row to several tables, each of `p` columns.
struct PartWriter {
    p: usize,
    dtype: Dtype,
    tables: Vec<TableWriter>,
}

impl Sink<f64> for PartWriter {
    fn put(&mut self, rows: &[f64]) -> unmix::Result<()> {
        let (p, parts) = (self.p, self.tables.len());
        for (i, table) in self.tables.iter_mut().enumerate() {
            let own = rows.chunks_exact(p * parts).flat_map(|row| &row[i * p..(i + 1) * p]);
            match self.dtype {
                Dtype::F64 => table.put(&own.copied().collect::<Vec<f64>>())?,
                Dtype::F32 => table.put(&own.map(|x| *x as f32).collect::<Vec<f32>>())?,
            }
        }
        Ok(())
    }
}

/// The file of draw `m`: the name of the output with the number of the draw before its extension.
fn draw_path(output: &Path, m: usize) -> PathBuf {
    let ending = output.extension().map_or(String::new(), |e| format!(".{}", e.to_string_lossy()));
    output.with_extension(format!("{}{ending}", m + 1))
}

/// Imputes the cells of a list (row, column, value), and writes such a list.
fn listed(args: &Impute) -> Done {
    let apply = &args.apply;
    let files = apply.input.files(&apply.reading)?;
    let never = apply.files_read(&files);
    let output = Output::new(&apply.writing, &never)?;
    check_distinct(args)?;
    let errors = args.std.as_ref().map(|path| Output::at(path, apply.writing.format, &never)).transpose()?;
    input::check_order(&apply.model, &files)?;
    let model = Model::load(&apply.model)?;
    check_lists(&model)?;
    let progress = Progress::new(&apply.running);
    let run = progress.run(&apply.running);
    let input = list::lines(&files, &apply.reading, &run, apply.running.quiet)?;
    let (cells, values, std, filled) = with_rows!(&input.rows, rows => {
        let list = rows.triplets()?;
        list::tell_numbering(&list.cells, apply.running.quiet);
        let (values, std) = fill_cells(&model, &list, errors.is_some())?;
        let known = |known: &Vec<_>| known.iter().filter(|x| !Real::to_f64(**x).is_nan()).count();
        let filled = values.len() - list.values.as_ref().map_or(0, known);
        (list.cells, values, std, filled as u64)
    });
    progress.clear();
    if !apply.running.quiet {
        tell(filled, input.rows.origin());
    }
    // Known cells have no errors.
    if errors.is_some() && filled > 0 {
        note_on_errors(&model).iter().for_each(|note| terminal::warning(note));
    }
    for (output, numbers, name) in [(Some(&output), values, "value"), (errors.as_ref(), std, "std")] {
        let Some(output) = output else { continue };
        list::write(output, &cells, &numbers, name)?;
    }
    Ok(0)
}

/// Refuses a model that cannot impute the cells of a list.
fn check_lists(model: &Model) -> unmix::Result<()> {
    let remedy = "fit matrix-completion, or give rows in which cells are missing";
    model.conditional().map(|_| ()).map_err(|_| cannot("a list of cells", model, remedy.into()))
}

fn cannot(what: &str, model: &Model, remedy: String) -> Error {
    Error::unsupported(
        format!("filling {what} by a model of {}", model.method().key),
        "it has no distribution of them",
        remedy,
    )
    .of_method(model.method().key)
}

/// Prints how many cells were filled.
fn tell(filled: u64, origin: &str) {
    match filled {
        0 => terminal::warning(&format!("no cell of {origin} is missing: nothing was filled")),
        1 => terminal::note(&format!("1 missing cell of {origin} filled")),
        n => terminal::note(&format!("{n} missing cells of {origin} filled")),
    }
}

/// Imputes the missing cells of the input.
pub(crate) fn impute(args: &Impute) -> Done {
    if args.triplets {
        return listed(args);
    }
    let apply = &args.apply;
    let files = apply.input.files(&apply.reading)?;
    let never = apply.files_read(&files);
    check_distinct(args)?;
    let mut outputs = vec![Output::new(&apply.writing, &never)?];
    for path in args.std.iter().cloned().chain(draws(args)?) {
        outputs.push(Output::at(&path, apply.writing.format, &never)?);
    }
    input::check_order(&apply.model, &files)?;
    let model = Model::load(&apply.model)?;
    // Models that cannot impute are refused before any data are read.
    Imputer::check(&model)?;
    let progress = Progress::new(&apply.running);
    let run = Run { max_seconds: args.max_seconds, ..progress.run(&apply.running) };
    let mut input = input::open_for(&model, &files, apply.reading.options()?, &run, apply.running.quiet)?;
    input.rows.prepare(&run)?;
    let wanted = ImputeOptions { std: args.std.is_some(), draws: args.draws, bootstrap: args.bootstrap };
    let imputer = Imputer::new(&model, &input.rows, wanted, &run)?;
    let (p, dtype) = (model.n_features(), input.rows.dtype());
    let numbered = || (0..p).map(|j| format!("x{j}")).collect::<Vec<_>>();
    let names = model.features().names.clone().unwrap_or_else(numbered);
    let trailing = model.features().shape.clone().unwrap_or_else(|| vec![p]);
    let n_rows = input.rows.n_rows().unwrap_or(0);
    let mut tables = Vec::new();
    for output in &outputs {
        let (names, trailing, kept) = (names.clone(), trailing.clone(), input.kept.clone());
        tables.push(TableWriter::create(output, Shape { names, trailing, kept, n_rows }, dtype)?);
    }
    let mut writer = PartWriter { p, dtype, tables };
    with_rows!(&input.rows, rows => imputer.fill(rows, &run, &mut writer))?;
    for table in writer.tables {
        table.finish()?;
    }
    progress.clear();
    if !apply.running.quiet {
        tell(imputer.n_filled(), input.rows.origin());
    }
    imputer.notes().iter().for_each(|note| terminal::warning(note));
    imputer.note_on_unseen().iter().for_each(|note| terminal::warning(note));
    Ok(0)
}

/// Refuses two results in the same file.
fn check_distinct(args: &Impute) -> Result<(), Failure> {
    let draws = draws(args)?;
    let option = |option, path: &'_ Path| (path.as_os_str() != "-").then(|| (option, path.to_path_buf()));
    let all = args.apply.writing.output.iter().map(|path| option("-o", path));
    let all = all.chain(draws.iter().map(|path| option("--draws", path)));
    let all: Vec<_> = all.chain(args.std.iter().map(|path| option("--std", path))).flatten().collect();
    output::check_distinct(&all.iter().map(|(option, path)| (*option, path.as_path())).collect::<Vec<_>>())
}

/// Files of the draws.
fn draws(args: &Impute) -> Result<Vec<PathBuf>, Failure> {
    match &args.apply.writing.output {
        Some(output) if output.as_os_str() != "-" => {
            Ok((0..args.draws).map(|m| draw_path(output, m)).collect())
        }
        _ if args.draws > 0 => Err(Failure::Usage(
            "draws are written to files next to the output: add -o NAME.csv or -o NAME.npy".into(),
        )),
        _ => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_numbers_from_1_before_the_extension() {
        assert_eq!(draw_path(Path::new("a/filled.csv"), 0), Path::new("a/filled.1.csv"));
        assert_eq!(draw_path(Path::new("x.npy"), 11), Path::new("x.12.npy"));
        assert_eq!(draw_path(Path::new("out"), 0), Path::new("out.1"));
    }
}
