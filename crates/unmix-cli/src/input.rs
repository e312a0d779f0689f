//! Opening what a verb reads: the file, and the columns of it that a model asks for.

use crate::args::OneInput;
use crate::failure::Failure;
use crate::terminal;
use std::path::Path;
use unmix::{Model, Run};
use unmix_io::{Input, Options};

impl OneInput {
    /// The one file; a second one is a sentence.
    pub(crate) fn one(&self) -> Result<&Path, Failure> {
        match self.more.as_slice() {
            [] => Ok(&self.path),
            more => Err(Failure::Usage(format!(
                "one INPUT is read at a time, but {} were given ({}, {}{}); put their rows into one file",
                more.len() + 1,
                self.path.display(),
                more[0].display(),
                if more.len() > 1 { ", ..." } else { "" }
            ))),
        }
    }
}

/// A column's name as one word of a list of columns.
pub(crate) fn column_word(name: &str) -> String {
    let plain = !name.is_empty() && name.trim() == name && !name.contains([',', '"']);
    if plain { name.into() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// Names of the numbers in a code, as in `pca0`: the class and the index, as scikit-learn has them.
pub(crate) fn component_names(model: &Model) -> Vec<String> {
    let class = model.method().class.to_lowercase();
    (0..model.n_components()).map(|i| format!("{class}{i}")).collect()
}

/// The rows of a file as `model` needs them: by name where both have names, else by position.
pub(crate) fn open_for(
    model: &Model,
    path: &Path,
    options: Options,
    run: &Run<'_>,
    quiet: bool,
) -> Result<Input, Failure> {
    open_wanted(model.features().names.clone(), path, options, run, quiet)
}

/// Codes of `model` in a file: by name where the file has names, else by position.
pub(crate) fn open_codes(
    model: &Model,
    path: &Path,
    options: Options,
    run: &Run<'_>,
    quiet: bool,
) -> Result<Input, Failure> {
    open_wanted(Some(component_names(model)), path, options, run, quiet)
}

fn open_wanted(
    wanted: Option<Vec<String>>,
    path: &Path,
    options: Options,
    run: &Run<'_>,
    quiet: bool,
) -> Result<Input, Failure> {
    let input = unmix_io::open_with(path, &Options { wanted, ..options }, run)?;
    if !quiet && !input.ignored.is_empty() {
        let (n, what) = (input.ignored.len(), if input.ignored.len() == 1 { "column" } else { "columns" });
        terminal::warning(&format!(
            "{n} {what} of {} not in the model, ignored: {}",
            path.display(),
            some(&input.ignored)
        ));
    }
    Ok(input)
}

/// Names, as many as a line has room for.
pub(crate) fn some(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let more = if names.len() > SHOWN { format!(", ... ({} in all)", names.len()) } else { String::new() };
    names[..names.len().min(SHOWN)].join(", ") + &more
}
