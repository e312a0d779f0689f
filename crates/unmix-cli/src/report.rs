//! `unmix report`: one page about a model, and about rows.

use crate::args::{Report, lists_column};
use crate::failure::{Done, Failure};
use crate::fit::stem;
use crate::progress::Progress;
use crate::terminal::{self, TYPED, paint};
use crate::{input, list, output, positions};
use std::path::{Path, PathBuf};
use unmix::biclusters::{Refits, biclusters};
use unmix::{AnyRows, Error, Model, Run};
use unmix_io::{Files, LabelFile, Labels, Wording, labels_in_column};
use unmix_report::Options;

/// Writes the page, which shows `invocation`, the command line.
pub(crate) fn report(args: &Report, invocation: Option<String>) -> Done {
    let files = unmix_io::expand(&args.input, args.reading.input_format)?;
    let never: Vec<&Path> = [&args.model]
        .into_iter()
        .chain(&args.beside)
        .chain(&args.positions)
        .chain(&args.reading.names)
        .chain(&files)
        .map(PathBuf::as_path)
        .chain(color_files(args))
        .collect();
    let place = output::place(&args.output, &never)?;
    // So that a typing error does not replace a data file by a page.
    let ending = args.output.extension().map(|e| e.to_string_lossy().to_lowercase());
    if matches!(place, output::Destination::File(_)) && !matches!(ending.as_deref(), Some("html" | "htm")) {
        let message = format!(
            "a report is an HTML page, but {} does not end in .html; choose such a name",
            args.output.display()
        );
        return Err(Failure::Usage(message));
    }
    input::check_order(&args.model, &files)?;
    let model = Model::load(&args.model)?;
    let progress = Progress::new(&args.running);
    let run = progress.run(&args.running);
    let mut options = Options {
        caller: unmix::Caller::Shell,
        title: args.title.clone(),
        model_name: Some(args.model.display().to_string()),
        input_name: (!args.input.is_empty()).then(|| given_inputs(args).join(" ")),
        reproduce: invocation.into_iter().collect(),
        rate: rate(args, &files)?,
        positions: args.positions.as_deref().map(positions::read).transpose()?,
        beside: match &args.beside {
            None => None,
            Some(path) => Some((path.display().to_string(), Model::load(path)?)),
        },
        pairs: args.pair.clone(),
        ..Options::default()
    };
    let rows = match files.is_empty() {
        true => None,
        false => Some(rows_of(&files, &model, args, &mut options, &run)?),
    };
    if let (Some(starts), Some(rows)) = (args.starts, &rows) {
        let refits =
            Refits { starts, permutations: args.permutations.unwrap_or(Refits::default().permutations) };
        let run = Run { seed: model.report().seed, max_seconds: args.max_seconds, ..run };
        let modules = biclusters(&model, rows, refits, &run)?;
        let warnings = [modules.warning(), modules.weights_left_out(), modules.none_above_chance()];
        warnings.iter().flatten().for_each(|said| terminal::warning(said));
        options.modules = Some(modules);
    }
    let page = unmix_report::page(&model, rows.as_ref(), &options, &run)?;
    progress.clear();
    output::write_whole(&place, page.as_bytes())?;
    if place == output::Destination::StandardOutput {
        return Ok(0);
    }
    terminal::text(&format!("The page is {}; open it in a browser.\n", paint(TYPED, args.output.display())))
}

/// The files that the text of `--color` may name.
fn color_files(args: &Report) -> impl Iterator<Item = &Path> {
    let text =
        args.color.iter().flat_map(|text| [Some(&**text), text.rsplit_once(':').map(|(file, _)| file)]);
    text.flatten().map(Path::new)
}

/// The rows of the page; their labels and colours go into its options.
fn rows_of(
    files: &[PathBuf],
    model: &Model,
    args: &Report,
    options: &mut Options,
    run: &Run<'_>,
) -> Result<AnyRows<'static>, Failure> {
    let color = args.color.as_deref().map(Color::of).transpose()?;
    if args.triplets {
        return listed(files, model, args, color, options, run);
    }
    let color = color.map(|c| c.settled(model, files, args, run)).transpose()?;
    let mut input = open(model, files, args, color.as_ref(), run)?;
    input.rows.prepare(run)?;
    options.labels = match color {
        None => None,
        Some(Color::File(file)) => Some(file.read(input.rows.used(), &stem(file.path()), run)?),
        Some(Color::Column { name, feature }) => Some(match (kept_already(args, &name), feature) {
            (true, _) => input.kept.iter().find(|(kept, _)| *kept == name).cloned(),
            (false, true) => None,
            // It stays among the kept ones, of which it may be one by its number.
            (false, false) => input.kept.last().cloned(),
        })
        .map(|kept| kept.map_or_else(|| column(files, &name, args, (&input.rows, run)), Ok))
        .transpose()?,
    };
    // A column that was requested as row labels takes precedence over an index.
    let named = args.reading.keep.is_some().then(|| input.kept.first()).flatten();
    options.row_names = named.map(|(_, names)| names.clone()).or(input.row_names);
    Ok(input.rows)
}

/// The rows given by a list of cells; their labels go into the options of the page.
fn listed(
    files: &[PathBuf],
    model: &Model,
    args: &Report,
    color: Option<Color<'_>>,
    options: &mut Options,
    run: &Run<'_>,
) -> Result<AnyRows<'static>, Failure> {
    let rows = list::rows(files, &args.reading, Some(model.n_features()), run, args.running.quiet)?.rows;
    options.labels = match color {
        None => None,
        Some(Color::File(file)) => Some(file.read(rows.used(), &stem(file.path()), run)?),
        Some(Color::Column { .. }) => {
            let message = "a list of cells has no column to colour rows by; give --color a file with one value for each row";
            return Err(Failure::Usage(message.into()));
        }
    };
    Ok(rows)
}

/// The inputs as given on the command line.
fn given_inputs(args: &Report) -> Vec<String> {
    args.input.iter().map(|path| path.display().to_string()).collect()
}

/// Whether the rows come from the standard input or a pipe, which cannot be read twice.
fn are_read_once(files: &[PathBuf]) -> bool {
    files.iter().any(|path| input::is_read_once(path))
}

/// Rows per second: as given, or the sampling rate of sound files. Samples are consecutive only if no rows are left out.
fn rate(args: &Report, files: &[PathBuf]) -> Result<Option<f64>, Failure> {
    let Some(first) = files.first().filter(|_| args.rate.is_none() && !are_read_once(files)) else {
        return Ok(args.rate);
    };
    if !first.is_file() {
        return Ok(None);
    }
    Ok(unmix_io::sample_rate(first)?.map(f64::from))
}

/// Source of the colours.
enum Color<'a> {
    File(LabelFile<'a>),
    Column {
        name: String,
        /// Whether it is also a feature of the model.
        feature: bool,
    },
}

impl<'a> Color<'a> {
    /// A file if it exists; a text that can only be a file name but does not exist is an error.
    fn of(text: &'a str) -> Result<Self, Failure> {
        let file = LabelFile::of(text, Wording::Shell)?;
        Ok(file.map_or_else(|| Color::Column { name: text.into(), feature: false }, Color::File))
    }

    /// The name of the column in the file, if the file has names, and whether it is a feature of the model.
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
        let Some(j) = name.parse::<usize>().ok().filter(|_| !known && !are_read_once(files)) else {
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
            // By position: the model uses every column.
            _ => j < all.n_features() && all.n_features() == model.n_features(),
        };
        Ok(Color::Column { name: named.unwrap_or(name), feature })
    }
}

/// Opens the rows, and keeps the colour column in addition, unless it is a feature of the model.
fn open(
    model: &Model,
    files: &[PathBuf],
    args: &Report,
    color: Option<&Color<'_>>,
    run: &Run<'_>,
) -> Result<unmix_io::Input, Failure> {
    let mut reading = unmix_io::Options { row_names: true, ..args.reading.options()? };
    if let Some(Color::Column { name, feature: false }) = color
        && !kept_already(args, name)
    {
        reading.copied = Some(input::column_word(name));
        return input::open_for(model, files, reading, run, args.running.quiet)
            .map_err(|failure| named_as_given(failure, name));
    }
    input::open_for(model, files, reading, run, args.running.quiet)
}

/// An error about the colour column, which is copied as those of `--keep` are, with the name of the option that gave it.
fn named_as_given(failure: Failure, column: &str) -> Failure {
    match failure {
        Failure::Library(Error::Setting { name, got, why, .. })
            if name == "keep" && (got == column || got == input::column_word(column)) =>
        {
            let remedy = "give the number of a column, from 0, or a file with one value for each row";
            Error::setting("--color", got, why, remedy).into()
        }
        failure => failure,
    }
}

/// Whether `--keep` has this column, whose cells are also row labels then.
fn kept_already(args: &Report, name: &str) -> bool {
    args.reading.keep.as_deref().is_some_and(|list| lists_column(list, name))
}

/// Reads a column that is also a feature a second time.
fn column(
    files: &[PathBuf],
    name: &str,
    args: &Report,
    (rows, run): (&AnyRows<'_>, &Run<'_>),
) -> Result<Labels, Failure> {
    if are_read_once(files) {
        return Err(Failure::Message(format!(
            "--color {name} is not possible: it is a feature of the model, and is read once more, but the input can be read only once; write the \
             input to a file, and give this"
        )));
    }
    let files = Files::new(files, args.reading.options()?)?;
    Ok(labels_in_column(&files, name, rows.used(), run)?)
}
