//! Opening the input of a command: the files, and the columns that a model needs.

use crate::args::{Inputs, Reading};
use crate::failure::Failure;
use crate::{names, terminal, units};
use std::path::{Path, PathBuf};
use unmix::data::listed;
use unmix::{AnyRows, Error, Model, Run, model};
pub(crate) use unmix_io::is_read_once;
use unmix_io::{Input, Options};

impl Inputs {
    /// The input files, with patterns and folders expanded.
    pub(crate) fn files(&self, reading: &Reading) -> Result<Vec<PathBuf>, Failure> {
        Ok(unmix_io::expand(&self.paths, reading.input_format)?)
    }

    /// The path after which results are named: the first one given, or the first file that it matches.
    pub(crate) fn named<'a>(&'a self, files: &'a [PathBuf]) -> &'a Path {
        let given = &self.paths[0];
        if given.exists() { given } else { files.first().unwrap_or(given) }
    }
}

/// Whether a file is a model. A pipe is not opened: what is read of it here would be missing from the rows.
pub(crate) fn is_model_file(path: &Path) -> bool {
    !is_read_once(path) && model::is_model_file(path)
}

/// Refuses a model and rows given in the wrong order.
pub(crate) fn check_order(model: &Path, files: &[PathBuf]) -> Result<(), Failure> {
    match files {
        [rows] if is_model_file(rows) && model.is_file() && !is_model_file(model) => {
            Err(Failure::Usage(format!(
                "the model must come before the rows: {} is a model and {} is not; swap them",
                rows.display(),
                model.display()
            )))
        }
        _ => Ok(()),
    }
}

/// A column name, quoted for a list of columns.
pub(crate) fn column_word(name: &str) -> String {
    let plain = !name.is_empty() && name.trim() == name && !name.contains([',', '"']);
    if plain { name.into() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// The rows of a file as `model` needs them: columns are matched by name if both have names, else by position. Names of `--names` that the
/// columns cannot have are refused.
pub(crate) fn open_for(
    model: &Model,
    paths: &[impl AsRef<Path>],
    options: Options,
    run: &Run<'_>,
    quiet: bool,
) -> Result<Input, Failure> {
    let names = options.names.clone();
    let input = open_unchecked(model, paths, options, run, quiet)?;
    names.map_or(Ok(()), |names| names::check(&input.rows, &names))?;
    Ok(input)
}

/// [`open_for`], where names that the columns of the file do not have are for another use.
pub(crate) fn open_unchecked(
    model: &Model,
    paths: &[impl AsRef<Path>],
    options: Options,
    run: &Run<'_>,
    quiet: bool,
) -> Result<Input, Failure> {
    let wanted = Options { n_features: Some(model.n_features()), ..options.clone() };
    let input = open_wanted(model.features().names.clone(), paths, wanted, run, quiet)?;
    if let Some(first) = paths.first() {
        let pictures = unmix_io::is_image(first.as_ref(), options.input_format);
        model
            .other_pictures(options.row_of_pictures())
            .filter(|_| pictures && !quiet)
            .iter()
            .for_each(|said| terminal::warning(said));
        match pictures {
            true => {
                if let Some(fitted) = model.report().run.pictures {
                    options.check_size(&input.rows, model.n_features(), fitted)?;
                }
                units::check_pictures(model, first.as_ref())?;
            }
            false => units::check_array(model, &input.rows, quiet)?,
        }
    }
    Ok(input)
}

/// Codes of `model` in a file: matched by name if the file has names, else by position. A name that comes more than once is refused: a column that was
/// kept beside the codes may have it.
pub(crate) fn open_codes(
    model: &Model,
    paths: &[impl AsRef<Path>],
    options: Options,
    run: &Run<'_>,
    quiet: bool,
) -> Result<Input, Failure> {
    let options = Options { wanted_once: true, ..options };
    let opened = open_wanted(Some(model.component_names()), paths, options.clone(), run, quiet);
    match opened {
        Err(Failure::Library(Error::Unsupported { .. })) if are_features(model, paths, &options, run) => {
            let unsupported = Error::unsupported(
                "decoding rows",
                format!(
                    "the input has the features of the model, and codes are needed ({})",
                    listed(&model.component_names())
                ),
                "give codes that 'unmix encode' has written, or use 'unmix reconstruct MODEL INPUT' for rows",
            );
            Err(unsupported.into())
        }
        opened => opened,
    }
}

/// Whether files hold the features of the model, and no codes: by the names of the columns, or by their number where the model has no names.
fn are_features(model: &Model, paths: &[impl AsRef<Path>], options: &Options, run: &Run<'_>) -> bool {
    let names = &model.features().names;
    // A pipe cannot be read again.
    if paths.iter().any(|path| !path.as_ref().is_file())
        || (names.is_none() && model.n_codes() == model.n_features())
    {
        return false;
    }
    let input = unmix_io::open_many(
        paths,
        &Options { wanted: names.clone(), wanted_once: false, ..options.clone() },
        run,
    );
    input.is_ok_and(|input| input.rows.n_features() == model.n_features())
}

fn open_wanted(
    wanted: Option<Vec<String>>,
    paths: &[impl AsRef<Path>],
    options: Options,
    run: &Run<'_>,
    quiet: bool,
) -> Result<Input, Failure> {
    let input = unmix_io::open_many(paths, &Options { wanted, ..options }, run)?;
    if !quiet {
        tell(&input.rows);
    }
    if !quiet && !input.ignored.is_empty() {
        let (n, what) = (input.ignored.len(), if input.ignored.len() == 1 { "column" } else { "columns" });
        terminal::warning(&format!(
            "{n} {what} of {} not in the model, ignored: {}",
            input.rows.origin(),
            listed(&input.ignored)
        ));
    }
    Ok(input)
}

/// Prints the notes about how rows were read.
pub(crate) fn tell(rows: &AnyRows<'_>) {
    rows.notes().iter().for_each(|note| terminal::warning(note));
}
