//! `unmix fit`: from a file to a model.

mod ending;

pub(crate) use ending::ended;

use crate::args::{Fit, Reading, column_list, json_or_word, lists_column};
use crate::failure::{Done, Failure, in_shell};
use crate::interrupt;
use crate::output::{self, Destination};
use crate::progress::Progress;
use crate::terminal::{self, TITLE, TYPED, paint};
use crate::{choice, input, list, names, picture, side_file, units, weights};
use ending::{finish, keep_existing, summary};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use unmix::internal::error::counted;
use unmix::model::{Tensor, Tensors};
use unmix::stability::{Trials, stability};
use unmix::{AnyRows, Checkpoint, Error, Model, Run, Start, method, model, with_rows};
use unmix_io::InputFormat;

/// Fits, saves, and prints the next steps. The model records `invocation`, the command line.
pub(crate) fn fit(args: &Fit, invocation: Option<&str>) -> Done {
    let settings = settings(args)?;
    let given = given(args)?;
    let files = args.input.files(&args.reading)?;
    let path = args.input.named(&files);
    let to = args.output.clone().unwrap_or_else(|| default_output(path, &args.method));
    let place = destination(&to, &args.files_read(&files), args.force)?;
    check_checkpoint(args, &files, &to)?;
    if args.keep_interrupted {
        interrupt::keep_result();
    }
    let progress = Progress::new(&args.running);
    let init = args.init.as_deref().map(Model::load).transpose()?;
    let checkpoint = checkpoint(args);
    let run = Run {
        checkpoint: checkpoint.as_ref(),
        init: init.as_ref().map(|model| model as &dyn Start),
        invocation,
        ..run_of(args, &progress)
    };
    let quiet = args.running.quiet;
    let (mut rows, n_notes) = rows(args, &files, &run)?;
    let continued = match init.as_ref().filter(|_| !args.sums) {
        Some(before) => method::continued(&args.method, &settings, &given, before, &rows, &run)?,
        None => None,
    };
    let model = match (continued, args.sums) {
        (Some(model), _) => model,
        (None, false) => method::fit_given(&args.method, &settings, given, &mut rows, &run)?,
        (None, true) => method::fit_by_sums(&args.method, &settings, &rows, &run)?,
    };
    let model = match args.stability {
        None => model,
        Some(n) => {
            with_stability(model, n.map_or(Trials::default().splits, usize::from), args, &mut rows, &run)?
        }
    };
    let pictures = files.first().filter(|file| unmix_io::is_image(file, args.reading.input_format));
    let row =
        pictures.map(|_| args.reading.options().map(|options| options.row_of_pictures())).transpose()?;
    let model = model.with_pictures(row);
    progress.clear();
    if !quiet && !args.triplets {
        tell_of_cells(&model, &rows)?;
    }
    keep_existing(&model, args, &to, &place)?;
    save(&model, &place)?;
    if let Some(checkpoint) = &checkpoint {
        finish(checkpoint, model.report().outcome)?;
    }
    if model.n_components() == 0 {
        terminal::warning("the model has 0 components: it keeps only the mean, and codes are empty");
    }
    if !quiet && let Some(note) = units::of_columns(&model) {
        terminal::note(&note);
    }
    let code = ended(&model, n_notes, args.strict);
    let next = next(args, path, &to, &model);
    terminal::text(&format!("{}\n{}{next}", summary(&model, n_notes, args), paint(TITLE, "Next\n")))?;
    Ok(code)
}

/// The run of a fit, without its checkpoint, the model that it starts from, and the command line.
pub(crate) fn run_of<'a>(args: &Fit, progress: &'a Progress) -> Run<'a> {
    Run { seed: args.seed, max_seconds: args.max_seconds, ..progress.run(&args.running) }
}

/// Refuses a checkpoint in a file that the fit reads, or in that of the model, which would be deleted with the checkpoint.
fn check_checkpoint(args: &Fit, files: &[PathBuf], to: &Path) -> Result<(), Failure> {
    let Some(path) = &args.checkpoint else { return Ok(()) };
    output::place(
        path,
        &[args.files_read(files), args.init.iter().map(PathBuf::as_path).collect()].concat(),
    )?;
    output::check_distinct(&[("-o", to), ("--checkpoint", path)])
}

/// The checkpoint of a fit.
pub(crate) fn checkpoint(args: &Fit) -> Option<Checkpoint> {
    args.checkpoint.as_ref().map(|path| Checkpoint::new(path).every(args.every).resume(args.resume))
}

/// The rows of the input, with their names and weights, and how many of their notes were printed.
fn rows(args: &Fit, files: &[PathBuf], run: &Run<'_>) -> Result<(AnyRows<'static>, usize), Failure> {
    let quiet = args.running.quiet;
    let (rows, weights, n_notes) = match args.triplets {
        true => {
            let input = list::rows(files, &args.reading, None, run, quiet)?;
            let n_notes = input.rows.notes().len();
            (input.rows, None, n_notes)
        }
        false => {
            let options = weights::options(args)?;
            let opened = unmix_io::open_many(files, &options, run);
            let mut input = opened.map_err(|e| weights::named_as_given(args, e))?;
            if input.rows.n_rows() == Some(1)
                && options.patches.is_none()
                && picture::is_picture(files, &args.reading)
            {
                return Err(options.one_picture().into());
            }
            // Printed before the fit, because it may explain an error of the fit.
            if !quiet {
                input::tell(&input.rows);
            }
            let n_notes = input.rows.notes().len();
            let weights = weights::of(args, &mut input, run)?;
            if !quiet {
                hint(&input.rows, args.reading.transpose);
                hint_of_one_channel(&input.rows, &args.method);
            }
            (input.rows, weights, n_notes)
        }
    };
    let rows = names::given(rows, args.reading.given_names()?)?;
    let rows = match weights {
        None => rows,
        Some(weights) => rows.weighted(weights).map_err(|e| weights::named_as_given(args, e))?,
    };
    Ok((rows, n_notes))
}

/// The model with its stability over `splits` splits of the rows.
fn with_stability(
    model: Model,
    splits: usize,
    args: &Fit,
    rows: &mut AnyRows<'_>,
    run: &Run<'_>,
) -> Result<Model, Failure> {
    rows.prepare(run)?;
    let restarts = Trials::default().restarts.min(splits);
    let trials = Trials { splits, restarts, bootstrap: args.bootstrap.map(usize::from) };
    let found = stability(&model, rows, trials, run)?;
    Ok(model.with_stability(&found))
}

/// Notes about rows of a method whose cells are the stored entries of sparse rows: how many are taken as missing, and whether rows that are
/// not sparse look like a list of cells.
fn tell_of_cells(model: &Model, rows: &AnyRows<'_>) -> Result<(), Failure> {
    if !model.code().codes().stored {
        return Ok(());
    }
    let (n_rows, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
    let stored = with_rows!(rows, rows => rows.sparse().map(|sparse| sparse.n_stored()));
    let Some(stored) = stored else { return list::hint(rows) };
    let share = 1.0 - stored as f64 / (n_rows as f64 * p as f64).max(1.0);
    terminal::note(&format!(
        "{}: {:.3} % of the cells are not stored and are taken as missing, not as 0",
        rows.origin(),
        100.0 * share
    ));
    Ok(())
}

/// Writes the model file.
pub(crate) fn save(model: &Model, place: &Destination) -> Result<(), Failure> {
    if interrupt::pressed() > 0 {
        return Err(Error::Interrupted.into());
    }
    match place {
        Destination::File(path) => {
            let _guard = interrupt::WritingGuard::new();
            Ok(model.save(path)?)
        }
        place => Ok(output::write_whole(place, &model.to_bytes()?)?),
    }
}

/// The settings of the command line, validated against the method's before any data are read.
fn settings(args: &Fit) -> Result<Map<String, Value>, Failure> {
    let method = choice::method_before(&args.method, &args.input.paths)?;
    let mut settings = typed_settings(&args.set)?;
    if let Some(k) = &args.k {
        choice::takes_k(method)?;
        if k == "all" {
            choice::takes_all(method)?;
        }
        if let Some(note) = choice::k_of_clusters(method, k, &settings).filter(|_| !args.running.quiet) {
            terminal::note(&note);
        }
        let k = if k == "all" { Value::Null } else { json_or_word(k) };
        if settings.insert("n_components".into(), k).is_some() {
            return Err(Failure::Usage(
                "-k and --set n_components=... are both given; keep one of them".into(),
            ));
        }
    }
    (method.spec)(&settings).map_err(|e| match choice::as_list(method, args.k.as_deref(), &settings) {
        Some(list) => Failure::Usage(format!("{}; give a list as in -k '{list}'", in_shell(&e))),
        // `-k all` is n_components=null.
        None if args.k.is_some() => Failure::Usage(in_shell(&e).replace("or null", "or 'all'")),
        None => Failure::Usage(in_shell(&e)),
    })?;
    Ok(settings)
}

/// The tables given in addition to the settings, validated against the method's.
fn given(args: &Fit) -> Result<Tensors, Failure> {
    let usage = |e: Error| Failure::Usage(e.to_string());
    let method = choice::method(&args.method).map_err(usage)?;
    let mut given = Tensors::new();
    let tables = [("dictionary", &args.dictionary), ("dict_init", &args.dict_init), ("codes", &args.codes)];
    for (name, path) in tables {
        if let Some(path) = path {
            choice::takes_table(method, name)?;
            given.insert(name.into(), table(path, &args.reading.options()?)?);
        }
    }
    method.check_tensors(&given).map_err(usage)?;
    Ok(given)
}

/// The components of a model, or the rows of another file; `reading` are the options of the input.
fn table(path: &Path, reading: &unmix_io::Options) -> Result<Tensor, Failure> {
    if input::is_model_file(path) {
        let model = Model::load(path)?;
        let components = model.tensor("components").cloned();
        return components.ok_or_else(|| {
            let found = format!("the {} model in it has no components", model.method().key);
            Error::format(path, found, "give a model with components, or an array").into()
        });
    }
    let run = Run::default();
    let mut input = side_file::open(path, side_file::options(), reading, |_| true, &run)?;
    input.rows.prepare(&run)?;
    let shape = vec![input.rows.n_rows().unwrap_or(0) as usize, input.rows.n_features()];
    let n = shape[0] as u64;
    Ok(unmix::with_rows!(&input.rows, rows => {
        let numbers = rows.read_range(0..n)?.into_iter().map(unmix::Real::to_f64).collect();
        Tensor::new(shape, unmix::model::Values::F64(numbers))
    }))
}

/// Parses the values of `--set`.
pub(crate) fn typed_settings(set: &[(String, Value)]) -> Result<Map<String, Value>, Failure> {
    let mut settings = Map::new();
    for (key, value) in set {
        if settings.insert(key.clone(), value.clone()).is_some() {
            return Err(Failure::Usage(format!("--set {key}=... is given twice; keep one of them")));
        }
    }
    Ok(settings)
}

/// The output file. An existing file that is not a model is not replaced, except with `--force`.
pub(crate) fn destination(to: &Path, inputs: &[&Path], force: bool) -> Result<Destination, Failure> {
    let place = output::place(to, inputs)?;
    match &place {
        Destination::StandardOutput => Err(Failure::Usage(
            "a model cannot be written to standard output; give -o the name of a file".into(),
        )),
        Destination::File(path) if holds_other(path) && !force => Err(Failure::Message(format!(
            "writing the model to {} is not possible: a file that is not an unmix model is there; choose another name, or add --force to replace it",
            to.display()
        ))),
        _ => Ok(place),
    }
}

/// Whether a file has contents that are not a model. Programs that choose a name make an empty file of it.
fn holds_other(path: &Path) -> bool {
    let is_empty = || std::fs::metadata(path).is_ok_and(|file| file.len() == 0);
    path.is_file() && !is_empty() && !model::is_model_file(path)
}

/// The default output: `data.csv.gz` becomes `data.pca.safetensors` in the current folder.
fn default_output(input: &Path, method: &str) -> PathBuf {
    PathBuf::from(format!("{}.{method}.safetensors", stem(input)))
}

/// The name of a file without folder, `.gz` and extension.
pub(crate) fn stem(path: &Path) -> String {
    if path.as_os_str() == "-" {
        return "stdin".into();
    }
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    Path::new(name).file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A hint for few rows and very many columns, which are usually channels, not samples.
fn hint(rows: &AnyRows<'_>, transposed: bool) {
    let (Some(n), p) = (rows.n_rows(), rows.n_features() as u64) else { return };
    if !transposed && n < 64 && p > 20 * n && rows.features().shape.is_none() {
        terminal::note(&format!(
            "{} and {}: if the rows are channels and the columns samples, add --transpose",
            counted(n, "row"),
            counted(p, "column")
        ));
    }
}

/// A hint for a single signal, as a recording of one microphone is: sources are separated by what distinguishes several mixtures of them.
fn hint_of_one_channel(rows: &AnyRows<'_>, key: &str) {
    if method::find(key).is_ok_and(|method| method.of_signals) && rows.n_features() == 1 {
        let origin = rows.origin();
        terminal::warning(&format!(
            "{origin}: one channel: there is nothing to separate; give one file for each microphone, or a table with a column for each channel"
        ));
    }
}

/// Suggested next commands; a model of 0 components has no codes.
fn next(args: &Fit, input: &Path, to: &Path, fitted: &Model) -> String {
    let model = terminal::path_argument(to);
    let reading = reading(args, fitted);
    // Sources of sounds are sounds, each in a file of a folder.
    let ending = match is_text(input, args.reading.input_format) {
        true => ".csv",
        false if is_sound(input, &args.reading) => "/",
        false => ".npy",
    };
    let command = |verb: &str, to: String| {
        let mut words = vec!["unmix".to_string(), verb.into(), model.clone()];
        words.extend(args.input.paths.iter().map(|path| terminal::path_argument(path)));
        words.extend(reading.clone());
        words.extend(args.triplets.then(|| "--triplets".to_string()));
        words.extend(["-o".into(), terminal::path_argument(Path::new(&to))]);
        format!("  {}\n", paint(TYPED, terminal::command(&words)))
    };
    let stem = stem(input);
    let encode = if fitted.n_components() > 0 {
        command("encode", format!("{stem}.codes{ending}"))
    } else {
        String::new()
    };
    encode + &command("report", format!("{stem}.html"))
}

/// The reading options of commands that apply the model. Where columns are matched by position, that of the weights is left out.
fn reading(args: &Fit, fitted: &Model) -> Vec<String> {
    let mut words = args.reading.arguments();
    let by_position = args.reading.names.is_some() || fitted.features().names.is_none();
    // A kept column is not a feature either.
    let is_kept = |name: &str| args.reading.keep.as_deref().is_some_and(|list| lists_column(list, name));
    if let Some(weights) = args.weights_column.as_ref().filter(|name| by_position && !is_kept(name)) {
        match words.iter().position(|word| word == "--drop") {
            Some(at) => words[at + 1] = column_list(Some(&words[at + 1]), weights),
            None => words.extend(["--drop".into(), column_list(None, weights)]),
        }
    }
    words
}

/// Whether the columns are recordings, so that codes can be written as sound.
fn is_sound(path: &Path, reading: &Reading) -> bool {
    let as_columns = !reading.transpose && reading.keep.is_none();
    as_columns && path.is_file() && unmix_io::sample_rate(path).is_ok_and(|rate| rate.is_some())
}

/// Whether a file is read as text: by `format` where it is given, else by the extension of its name.
fn is_text(path: &Path, format: Option<InputFormat>) -> bool {
    let name = format.map(|format| format!(".{}", format.name()));
    let name = name.unwrap_or_else(|| path.to_string_lossy().to_lowercase());
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    [".csv", ".tsv", ".txt", ".dat", ".asc"].iter().any(|e| name.ends_with(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_named_after_the_file_and_the_method() {
        let name = |path: &str| default_output(Path::new(path), "pca").display().to_string();
        assert_eq!(name("../in/data.csv.gz"), "data.pca.safetensors");
        assert_eq!(name("train-images-idx3-ubyte.gz"), "train-images-idx3-ubyte.pca.safetensors");
        assert_eq!(name("a.b.npy"), "a.b.pca.safetensors");
        assert_eq!(name("-"), "stdin.pca.safetensors");
    }
}
