//! `unmix report`: one page about a model, and about rows seen through it.

use crate::args::{Reading, Report};
use crate::failure::{Done, Failure};
use crate::progress::Progress;
use crate::terminal::{self, TYPED, paint};
use crate::{input, output, positions};
use std::path::{Path, PathBuf};
use unmix::{AnyRows, Error, Model, Run};
use unmix_report::Options;

/// A label for each row: the name of the column, and the values.
type Labels = (String, Vec<String>);

/// Writes the page, which shows `typed_command`, the command line that requested it.
pub(crate) fn report(args: &Report, typed_command: Option<String>) -> Done {
    let files = unmix_io::expand(&args.input)?;
    let never: Vec<&Path> = [&args.model]
        .into_iter()
        .chain(&args.beside)
        .chain(&args.positions)
        .chain(&files)
        .map(PathBuf::as_path)
        .collect();
    let place = output::place(&args.output, &never)?;
    // A slip of the keyboard must not put a page in place of someone's data.
    let ending = args.output.extension().map(|e| e.to_string_lossy().to_lowercase());
    if matches!(place, output::Destination::File(_)) && !matches!(ending.as_deref(), Some("html" | "htm")) {
        let message = format!(
            "a report is an HTML page, but {} does not end in .html; choose such a name",
            args.output.display()
        );
        return Err(Failure::Usage(message));
    }
    let model = Model::load(&args.model)?;
    let progress = Progress::new(&args.running);
    let run = progress.run(&args.running);
    let mut options = Options {
        title: args.title.clone(),
        model_name: Some(args.model.display().to_string()),
        input_name: (!args.input.is_empty()).then(|| typed(args).join(" ")),
        reproduce: typed_command.into_iter().collect(),
        rate: rate(args, &files)?,
        positions: args.positions.as_deref().map(positions::read).transpose()?,
        beside: match &args.beside {
            None => None,
            Some(path) => Some((path.display().to_string(), Model::load(path)?)),
        },
        ..Options::default()
    };
    let rows = match files.is_empty() {
        true => None,
        false => Some(rows_of(&files, &model, args, &mut options, &run)?),
    };
    let page = unmix_report::page(&model, rows.as_ref(), &options, &run)?;
    progress.clear();
    output::write_whole(&place, page.as_bytes())?;
    if place == output::Destination::StandardOutput {
        return Ok(0);
    }
    terminal::text(&format!("The page is {}; open it in a browser.\n", paint(TYPED, args.output.display())))
}

/// The rows of the page; what they are coloured by, and what they are called, go into its options.
fn rows_of(
    files: &[PathBuf],
    model: &Model,
    args: &Report,
    options: &mut Options,
    run: &Run<'_>,
) -> Result<AnyRows<'static>, Failure> {
    let color = args.color.as_deref().map(Color::of).transpose()?;
    let color = color.map(|c| c.settled(model, files, args, run)).transpose()?;
    let mut input = open(model, files, args, color.as_ref(), run)?;
    input.rows.settle(run)?;
    let n = input.rows.n_rows().unwrap_or(0);
    options.labels = match color {
        None => None,
        Some(Color::File(file)) => Some(labels_of(file, n, run)?),
        Some(Color::Column { name, .. }) => Some(match input.kept.pop() {
            Some(kept) => kept,
            None => column(files, &name, model, args, run)?,
        }),
    };
    // A column that was requested to name the rows wins over an index.
    let named = args.reading.keep.is_some().then(|| input.kept.first()).flatten();
    options.row_names = named.map(|(_, names)| names.clone()).or(input.row_names);
    Ok(input.rows)
}

/// The inputs as they were typed.
fn typed(args: &Report) -> Vec<String> {
    args.input.iter().map(|path| path.display().to_string()).collect()
}

fn from_stdin(files: &[PathBuf]) -> bool {
    files.iter().any(|path| path.as_os_str() == "-")
}

/// Rows per second: as typed, or the sampling rate of sound files. Samples follow each other only where nothing is cut out of them.
fn rate(args: &Report, files: &[PathBuf]) -> Result<Option<f64>, Failure> {
    let Some(first) = files.first().filter(|_| args.rate.is_none() && !from_stdin(files)) else {
        return Ok(args.rate);
    };
    if !first.is_file() {
        return Ok(None);
    }
    Ok(unmix_io::sample_rate(first)?.map(f64::from))
}

/// Where the colours come from.
enum Color<'a> {
    File(&'a Path),
    Column {
        name: String,
        /// Whether the model needs it as well.
        feature: bool,
    },
}

impl<'a> Color<'a> {
    /// A file when there is one; a name that can only be a file's and is not there is an error.
    fn of(text: &'a str) -> Result<Self, Failure> {
        let path = Path::new(text);
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        let like_a_file =
            text.contains('/') || matches!(ending.as_deref(), Some("npy" | "csv" | "tsv" | "txt" | "gz"));
        match std::fs::metadata(path) {
            Ok(meta) if meta.is_file() => Ok(Color::File(path)),
            Err(e) if like_a_file => Err(Error::io("cannot read", path, e).into()),
            _ => Ok(Color::Column { name: text.into(), feature: false }),
        }
    }

    /// A column by the name that the file has for it, where it has names, and whether it is a feature of the model.
    fn settled(
        self,
        model: &Model,
        files: &[PathBuf],
        args: &Report,
        run: &Run<'_>,
    ) -> Result<Self, Failure> {
        let Color::Column { name, .. } = self else { return Ok(self) };
        let features = model.features().names.as_deref();
        let known = features.is_some_and(|names| names.contains(&name));
        // Standard input cannot be read twice.
        let Some(j) = name.parse::<usize>().ok().filter(|_| !known && !from_stdin(files)) else {
            return Ok(Color::Column { name, feature: known });
        };
        let all = unmix_io::Options {
            columns: None,
            drop: None,
            keep: None,
            // Names are read, and other text columns are allowed.
            count_text: true,
            ..args.reading.options()?
        };
        let all = unmix_io::open_many(files, &all, run)?.rows;
        let names = all.features().names.as_deref().filter(|names| !names.contains(&name));
        let named = names.and_then(|names| names.get(j)).cloned();
        let feature = match (features, &named) {
            (Some(features), Some(named)) => features.contains(named),
            // By position: the model takes every column there is.
            _ => j < all.n_features() && all.n_features() == model.n_features(),
        };
        Ok(Color::Column { name: named.unwrap_or(name), feature })
    }
}

/// The rows, with the column that colours them kept beside, unless the model needs it as a feature.
fn open(
    model: &Model,
    files: &[PathBuf],
    args: &Report,
    color: Option<&Color<'_>>,
    run: &Run<'_>,
) -> Result<unmix_io::Input, Failure> {
    let mut reading = unmix_io::Options { row_names: true, ..args.reading.options()? };
    if let Some(Color::Column { name, feature: false }) = color {
        reading.keep = Some(match reading.keep {
            Some(keep) => format!("{keep},{}", input::column_word(name)),
            None => input::column_word(name),
        });
    }
    input::open_for(model, files, reading, run, args.running.quiet)
}

/// A column that is also a feature, read a second time.
fn column(
    files: &[PathBuf],
    name: &str,
    model: &Model,
    args: &Report,
    run: &Run<'_>,
) -> Result<Labels, Failure> {
    // The other features only, so that text in columns that were not requested is not read.
    let others = model.features().names.iter().flatten().filter(|n| *n != name).cloned().collect::<Vec<_>>();
    let wanted = Some(others).filter(|o| !o.is_empty());
    let reading =
        unmix_io::Options { keep: Some(input::column_word(name)), wanted, ..args.reading.options()? };
    let mut input = unmix_io::open_many(files, &reading, run)?;
    let origin = input.rows.origin().to_string();
    input.kept.pop().ok_or_else(|| Failure::Said(format!("{origin} has no column '{name}' to colour by")))
}

/// One value a row from a file of its own.
fn labels_of(path: &Path, n: u64, run: &Run<'_>) -> Result<Labels, Failure> {
    let name = crate::fit::stem(path);
    let text = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    let delimiter = match text.as_deref() {
        Some("tsv") => Some(b'\t'),
        Some("csv" | "txt") => Some(b','),
        _ => None,
    };
    let (name, values) = match delimiter {
        Some(delimiter) => words(path, delimiter, n, name)?,
        None => (name, numbers(path, run)?),
    };
    if values.len() as u64 == n {
        return Ok((name, values));
    }
    Err(Failure::Said(format!(
        "--color {} is not possible: it has {} values, and the input has {n} rows; give one value for each row",
        path.display(),
        values.len()
    )))
}

/// Lines of text; one more than there are rows means that the first is a header.
fn words(path: &Path, delimiter: u8, n: u64, name: String) -> Result<Labels, Failure> {
    let wrong = |found: String| Error::format(path, found, "give a text file with one value per line");
    let reader =
        csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_path(path);
    let mut values = Vec::new();
    for (i, record) in reader.map_err(|e| wrong(e.to_string()))?.into_records().enumerate() {
        let record = record.map_err(|e| wrong(e.to_string()))?;
        match record.len() {
            1 => values.push(record[0].to_string()),
            k => return Err(wrong(format!("line {} has {k} values", i + 1)).into()),
        }
    }
    let header = values.len() as u64 == n + 1;
    let name = if header { values.remove(0) } else { name };
    Ok((name, values))
}

/// Numbers of an array with one column; whole ones are written as such.
fn numbers(path: &Path, run: &Run<'_>) -> Result<Vec<String>, Failure> {
    let mut input = unmix_io::open_with(path, &Reading::default().options()?, run)?;
    if input.rows.n_features() != 1 {
        let found = format!("each of its rows has {} values", input.rows.n_features());
        return Err(Error::format(path, found, "give a file with one value per row").into());
    }
    input.rows.settle(run)?;
    let n = input.rows.n_rows().unwrap_or(0);
    let values: Vec<f64> = match &input.rows {
        unmix::AnyRows::F32(rows) => rows.some(0..n)?.into_iter().map(f64::from).collect(),
        unmix::AnyRows::F64(rows) => rows.some(0..n)?,
    };
    Ok(values.iter().map(f64::to_string).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_with_and_without_a_header() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("kind.csv");
        let labels = |text: &str, n| {
            std::fs::write(&path, text).unwrap();
            labels_of(&path, n, &Run::default())
        };
        let abc = || vec!["a".to_string(), "b, c".into()];
        assert_eq!(labels("a\n\"b, c\"\n", 2).unwrap(), ("kind".to_string(), abc()));
        assert_eq!(labels("group\na\n\"b, c\"\n", 2).unwrap(), ("group".to_string(), abc()));
        let Err(Failure::Said(message)) = labels("a\nb\n", 5) else { panic!("five rows need five labels") };
        assert!(message.contains("it has 2 values, and the input has 5 rows"), "{message}");
        assert!(labels("a,b\nc,d\n", 2).is_err());
    }
}
