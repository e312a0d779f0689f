//! `unmix show`: a summary of a model or of a data file.

use crate::args::Show;
use crate::failure::{Done, Failure};
use crate::input::is_model_file;
use crate::names;
use crate::output::{check_csv, place, write_whole};
use crate::progress::Progress;
use crate::terminal::{self, FAINT, TITLE, TYPED, paint, size};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use unmix::data::listed;
use unmix::method;
use unmix::{Error, Model, model};
use unmix_io::{Column, Description};
use unmix_report::FactorTable;

/// Maximum number of columns that are listed.
const MOST_LISTED_COLUMNS: usize = 12;

/// Shows a model or a data file.
pub(crate) fn show(args: &Show) -> Done {
    // Determined from the contents, not the extension: a .safetensors file may hold rows.
    match args.files.as_slice() {
        [file] if is_model_file(file) => show_model(file, args),
        files => match files.iter().find(|file| is_model_file(file)) {
            Some(model) => {
                Err(Failure::Usage(format!("{} is a model; show one model at a time", model.display())))
            }
            None => show_data(args),
        },
    }
}

/// Refuses options of reading, in the words used for data of other formats: a model has no rows.
fn refuse_reading(args: &Show) -> Result<(), Failure> {
    let Some((flag, value)) = args.reading.given().into_iter().next() else { return Ok(()) };
    let name = flag.trim_start_matches('-').replace('-', "_");
    let got = value.unwrap_or_else(|| "true".into());
    let why = "the input is a model, which has no rows";
    Err(Error::setting(name, got, why, "leave it out: it is for data files").into())
}

fn show_model(file: &Path, args: &Show) -> Done {
    refuse_reading(args)?;
    let model = Model::load(file)?;
    if let Some(path) = &args.loadings {
        let place = place(path, &[file])?;
        check_csv(path)?;
        write_whole(&place, &loadings(&model, path)?)?;
        // Standard output holds the file alone.
        if path.as_os_str() == "-" {
            return Ok(0);
        }
    }
    match args.json {
        true => terminal::json(&model_json(file, &model)),
        false => terminal::text(&model_text(file, &model)),
    }
}

/// CSV with a line of loadings for each column.
fn loadings(model: &Model, path: &Path) -> Result<Vec<u8>, Failure> {
    let table = FactorTable::of(model).ok_or_else(|| {
        let why = format!("models of {} have no loadings with uniquenesses", model.method().key);
        Error::setting("--loadings", path.display(), why, "give a model of factor-analysis")
    })?;
    let failed = |e: String| Failure::Message(format!("writing loadings is not possible: {e}"));
    let mut csv = csv::Writer::from_writer(Vec::new());
    for record in table.records() {
        csv.write_record(&record).map_err(|e| failed(e.to_string()))?;
    }
    csv.into_inner().map_err(|e| failed(e.to_string()))
}

fn model_json(file: &Path, model: &Model) -> Value {
    let tensors = model.tensors().iter().map(|(name, tensor)| {
        json!({"name": name, "shape": tensor.shape(), "dtype": tensor.values().dtype().name()})
    });
    let mut out = json!({
        "file": file.display().to_string(),
        "kind": "model",
        "method": model.method().key,
        "class": model.method().class,
        "settings": model.settings(),
        "n_features": model.n_features(),
        "n_components": model.n_components(),
        "feature_names": model.features().names,
        "feature_shape": model.features().shape,
        "dtype": model.dtype().name(),
        "ddof": model.ddof(),
        "sign_rule": model::SIGN_RULE,
        "tensors": tensors.collect::<Vec<_>>(),
        "report": model.report().to_json(),
    });
    if let Some(table) = FactorTable::of(model) {
        out["factors"] = table.to_json();
    }
    out
}

fn model_text(file: &Path, model: &Model) -> String {
    let mut out = format!("{}\n{}", paint(TITLE, file.display()), terminal::summary(model));
    if let Some(table) = FactorTable::of(model) {
        out += &format!(
            "\n{}  {}\n\n{}",
            paint(TITLE, "Factors"),
            paint(FAINT, "loadings in standard deviations of the columns"),
            table.text()
        );
    }
    if let Some(names) = &model.features().names {
        out += &format!("\n{}  {}\n", paint(TITLE, "Columns"), listed(names));
    }
    if let Some(shape) = &model.features().shape {
        out += &format!("\n{}  {}\n", paint(TITLE, "Shape of one sample"), lengths(shape));
    }
    if let Some(row) = &model.report().run.pictures {
        out += &format!("\n{}  {row}\n", paint(TITLE, "Pictures read as"));
    }
    out += &format!("\n{}\n", paint(TITLE, "Settings"));
    for (name, value) in &model.report().settings {
        let given = model.settings().get(name).filter(|given| *given != value);
        let note = given.map(|g| paint(FAINT, format!("  (given as {g})"))).unwrap_or_default();
        out += &format!("  {name:16} {value}{note}\n");
    }
    let report = model.report();
    out += &format!("  {:16} {}\n  {:16} {}\n", "seed", report.seed, "processor", report.processor);
    if let Some(invocation) = &report.run.invocation {
        out += &format!("\n{}\n  {}\n", paint(TITLE, "Command"), paint(TYPED, invocation));
    }
    out += &format!("\n{}\n", paint(TITLE, "Tensors"));
    for (name, tensor) in model.tensors() {
        let shape = if tensor.shape().is_empty() { "single number".into() } else { lengths(tensor.shape()) };
        out += &format!("  {name:26} {shape}  {}\n", paint(FAINT, tensor.values().dtype().name()));
    }
    out
}

fn show_data(args: &Show) -> Done {
    let progress = Progress::new(&args.running);
    let run = progress.run(&args.running);
    let options = unmix_io::Options { count_text: true, ..args.reading.options()? };
    let mut input = unmix_io::open_many(&args.files, &options, &run)?;
    if let Some(path) = &args.loadings {
        let why = format!("{} holds data, not a model", args.files[0].display());
        return Err(
            Error::setting("--loadings", path.display(), why, "give a model of factor-analysis").into()
        );
    }
    input.rows = names::given(input.rows, args.reading.given_names()?)?;
    input.rows.prepare(&run)?;
    let found = unmix_io::describe(&input, &run)?;
    progress.clear();
    if !args.running.quiet {
        found.notes.iter().for_each(|note| terminal::warning(note));
    }
    match args.json {
        true => terminal::json(&data_json(&args.files, &found)?),
        false => terminal::text(&data_text(&args.files, &found)),
    }
}

/// The names of files as they were given.
fn given(files: &[PathBuf]) -> String {
    files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn data_json(files: &[PathBuf], found: &Description) -> Result<Value, Failure> {
    let found_json = serde_json::to_value(found).map_err(|e| Failure::Message(e.to_string()))?;
    let mut out = Map::new();
    out.insert("file".into(), given(files).into());
    out.insert("kind".into(), "data".into());
    if let Value::Object(fields) = found_json {
        out.extend(fields);
    }
    let memory = method::all()
        .into_iter()
        .map(|m| (m.key.to_string(), solvers(m, found).into_iter().collect::<Value>()));
    out.insert("memory".into(), memory.collect::<Value>());
    Ok(out.into())
}

fn solvers(method: &unmix::Method, found: &Description) -> Vec<(&'static str, u64)> {
    (method.memory)(found.n_rows, found.n_features)
}

fn data_text(files: &[PathBuf], found: &Description) -> String {
    let stored: Vec<String> = found.shape.iter().map(|d| d.map_or("?".into(), |d| d.to_string())).collect();
    let mut out = format!("{}\n", paint(TITLE, given(files)));
    let mut line = |name: &str, value: String| out += &format!("  {name:18} {value}\n");
    line("format", format!("{}, {}, {}", found.format, found.stored, stored.join(" x ")));
    line("rows", found.n_rows.to_string());
    let shape = found.feature_shape.as_ref().map(|s| format!(" ({})", lengths(s))).unwrap_or_default();
    line("columns", format!("{}{shape}, computed in {}", found.n_features, found.dtype));
    line("missing cells", found.missing.to_string());
    line("infinite cells", found.infinite.to_string());
    if found.missing + found.infinite > 0 {
        // A column of text, such as names of the rows, makes all of them incomplete.
        let counted = if found.text > 0 { ", rows with cells of text included" } else { "" };
        line("incomplete rows", format!("{}{counted}", found.incomplete_rows));
    }
    line("constant columns", constant(found));
    if found.text > 0 {
        text_lines(found).into_iter().for_each(|(name, value)| line(name, value));
    }
    if let (Some(min), Some(max), Some(mean), Some(std)) = (found.min, found.max, found.mean, found.std) {
        let [min, max, mean, std] = [min, max, mean, std].map(number);
        line("values", format!("{min} to {max}, mean {mean}, standard deviation {std}"));
    }
    out += &columns(&found.columns);
    out += &format!(
        "\n{}\n",
        paint(TITLE, "Memory of a fit of all components, in addition to the rows, which are streamed")
    );
    let width = method::all().iter().map(|method| method.key.len()).max().unwrap_or(0);
    for method in method::all() {
        let each =
            solvers(method, found).into_iter().map(|(solver, bytes)| format!("{solver} {}", size(bytes)));
        out += &format!("  {:width$} {}\n", method.key, each.collect::<Vec<_>>().join(", "));
    }
    out
}

/// Columns with text, and what a fit of them needs.
fn text_lines(found: &Description) -> Vec<(&'static str, String)> {
    let columns = named(found, |c| c.text > 0);
    match found.decimal_commas {
        0 => {}
        // A comma cannot be a delimiter and a decimal mark.
        n if found.commas_separate => {
            return vec![("columns with text", format!("{columns}; {}", with_commas(n, found.text)))];
        }
        n if n == found.text => {
            return vec![(
                "columns with text",
                format!("{columns}; they hold numbers with decimal commas: add --decimal ,"),
            )];
        }
        n => {
            let are = if n == 1 { "is a number" } else { "are numbers" };
            let remedy = format!(
                "{n} of {} cells with text {are} with decimal commas: add --decimal , and then --drop or --keep for the columns that are \
                 still text",
                found.text
            );
            return vec![("columns with text", format!("{columns}; {remedy}"))];
        }
    }
    // Text in few cells of a column of numbers is a marker rather than a name.
    let is_marker = |c: &Column| c.text > 0 && c.min.is_some() && 2 * c.text < found.n_rows;
    let (markers, names) = (named(found, is_marker), named(found, |c| c.text > 0 && !is_marker(c)));
    let mut lines = Vec::new();
    if !names.is_empty() {
        lines.push(("columns with text", format!("{names}; a fit needs --drop or --keep with their names")));
    }
    if !markers.is_empty() {
        let n: u64 = found.columns.iter().filter(|c| is_marker(c)).map(|c| c.text).sum();
        let cells = if n == 1 { "1 cell" } else { &format!("{n} cells") };
        let remedy = "add --na TEXT if the text marks missing cells, or --drop or --keep as for names";
        lines.push(("numbers and text", format!("{markers}; {cells} with text: {remedy}")));
    }
    lines
}

/// What `n` of the `text` cells with text hold, and what works, where commas separate the cells.
fn with_commas(n: u64, text: u64) -> String {
    let which = match n {
        n if n == text => "they hold numbers".into(),
        1 => format!("1 of {text} cells with text is a number"),
        n => format!("{n} of {text} cells with text are numbers"),
    };
    let remedy = "write them without, or leave the columns out with --drop or --keep";
    format!("{which} with commas (separators of thousands?): {remedy}")
}

fn constant(found: &Description) -> String {
    match found.constant {
        0 => "0".into(),
        n if found.columns.is_empty() => n.to_string(),
        n => format!("{n}: {}", named(found, |c| c.constant)),
    }
}

/// Names, or numbers, of the columns that satisfy a condition.
fn named(found: &Description, so: impl Fn(&Column) -> bool) -> String {
    let columns = found.columns.iter().enumerate().filter(|(_, c)| so(c));
    let names: Vec<String> = columns.map(|(j, c)| c.name.clone().unwrap_or_else(|| j.to_string())).collect();
    listed(&names)
}

/// Lists the first columns; if there are many without names, such as pixels, none is listed.
fn columns(columns: &[Column]) -> String {
    if columns.is_empty() || (columns.iter().all(|c| c.name.is_none()) && columns.len() > MOST_LISTED_COLUMNS)
    {
        return String::new();
    }
    let shown = &columns[..columns.len().min(MOST_LISTED_COLUMNS)];
    let name = |j: usize, c: &Column| c.name.clone().unwrap_or_else(|| j.to_string());
    let mut lines = vec![["column", "min", "max", "mean", "std", "missing", "text"].map(String::from)];
    for (j, c) in shown.iter().enumerate() {
        let [min, max, mean, std] = [c.min, c.max, c.mean, c.std].map(|x| x.map_or("-".into(), number));
        lines.push([name(j, c), min, max, mean, std, c.missing.to_string(), c.text.to_string()]);
    }
    let width = |i: usize| lines.iter().map(|l| l[i].chars().count()).max().unwrap_or(0);
    let widths: [usize; 7] = std::array::from_fn(width);
    // Without text columns there is no column for their number.
    let last = if columns.iter().any(|c| c.text > 0) { 7 } else { 6 };
    let mut out = String::from("\n");
    for (row, line) in lines.iter().enumerate() {
        let numbers: String = (1..last).map(|i| format!("  {:>w$}", line[i], w = widths[i])).collect();
        let text = format!("  {:w$}{numbers}", line[0], w = widths[0]);
        out += &format!("{}\n", if row == 0 { paint(FAINT, text) } else { text });
    }
    if columns.len() > shown.len() {
        out +=
            &paint(FAINT, format!("  ... {} more (all of them with --json)\n", columns.len() - shown.len()));
    }
    out
}

/// A number with four significant digits; JSON has all digits.
fn number(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        1e-3..1e6 => {
            let places = (3 - x.abs().log10().floor() as i32).clamp(0, 6) as usize;
            let text = format!("{x:.places$}");
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').into(),
                false => text,
            }
        }
        _ => format!("{x:.3e}"),
    }
}

fn lengths(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_keep_four_digits() {
        let found = [0.0, 1.0, -2.5, 2.34567, 12345.678, 0.0123456, 1e-7, -2.0e9, 100.0].map(number);
        assert_eq!(found, ["0", "1", "-2.5", "2.346", "12346", "0.01235", "1.000e-7", "-2.000e9", "100"]);
    }
}
