//! A page about a model, and about rows.

use super::Model;
use crate::call::{RunOptions, call};
use crate::input::{Input, Notices, warn, warn_notes};
use crate::read::Files;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use unmix::biclusters::{Biclusters, Refits, biclusters};
use unmix::data::{NewFile, RowValues, UsedRows};
use unmix::{Error, Result, Run};
use unmix_io::{LabelFile, Labels, Wording, labels_in_column, labels_of};

/// Options of a page: its title, another model, rows per second, sensor positions, names of rows, the numbers of starts and of permuted copies
/// of modules and the time limit of their fits, pairs of components that are axes, and the call in Python that makes the page.
pub(super) type Shown<'py> = (
    Option<String>,
    Option<PyRef<'py, Model>>,
    Option<f64>,
    Option<Vec<(f64, f64)>>,
    Option<Vec<String>>,
    Option<(usize, usize, Option<f64>)>,
    Option<Vec<(usize, usize)>>,
    Option<String>,
);

/// Labels of rows, as Python passes them: their name and a label for each row, files that were opened, or as text a path with or without a column, or
/// a column of the files of the rows.
#[derive(FromPyObject)]
pub(super) enum Color<'py> {
    Labels(Labels),
    Opened(Bound<'py, Files>),
    Text(String),
}

/// The same without references to Python's objects.
enum LabelSource {
    Labels(Labels),
    Opened(Arc<unmix_io::Files>),
    Text(String),
}

impl From<Color<'_>> for LabelSource {
    fn from(color: Color<'_>) -> Self {
        match color {
            Color::Labels(labels) => LabelSource::Labels(labels),
            Color::Opened(files) => LabelSource::Opened(files.get().inner.clone()),
            Color::Text(text) => LabelSource::Text(text),
        }
    }
}

impl LabelSource {
    /// A label for each of the rows `used` of `input`. Text is the name of a file if one exists, as on the command line.
    fn read(self, used: UsedRows<'_>, input: &Input, run: &Run<'_>) -> Result<Labels> {
        /// The name of labels that have none.
        const NAMELESS: &str = "color";
        match self {
            LabelSource::Labels((name, values)) => {
                let of_array = RowValues { name: "color", one: "value", file: None };
                Ok((name, used.values(values, of_array)?))
            }
            LabelSource::Opened(files) => labels_of(&files, used, NAMELESS, run),
            LabelSource::Text(text) => {
                if let Some(file) = LabelFile::of(&text, Wording::PythonPath)? {
                    return file.read(used, NAMELESS, run);
                }
                if let Some(files) = input.files()? {
                    return labels_in_column(&files, &text, used, run);
                }
                // The system's own error, from which Python chooses the class.
                Err(match std::fs::metadata(&text) {
                    Err(e) => Error::io("cannot read", text, e),
                    Ok(_) => Error::format(text, "it is not a file", "give a file of labels, or an array"),
                })
            }
        }
    }
}

/// Writes a page about `model`, and about the rows `x` if given, to the file.
pub(super) fn write(
    py: Python<'_>,
    model: &Model,
    path: PathBuf,
    run_options: RunOptions,
    x: Option<&Bound<'_, PyAny>>,
    color: Option<Color<'_>>,
    shown: Shown<'_>,
) -> PyResult<()> {
    let (title, beside, rate, positions, row_names, refits, pairs, python_call) = shown;
    let input = x.map(|x| model.input(x)).transpose()?;
    let (model, wanted) = (model.inner.clone(), model.wanted());
    let dtype = input.as_ref().map_or(model.dtype(), Input::dtype);
    let beside = beside.map(|other| ("the other".to_string(), other.inner.as_ref().clone()));
    let mut options = unmix_report::Options {
        caller: unmix::Caller::Python,
        title,
        beside,
        rate,
        positions,
        row_names,
        pairs: pairs.unwrap_or_default(),
        reproduce: python_call.into_iter().collect(),
        ..Default::default()
    };
    options.input_name = input.as_ref().and_then(Input::name);
    let color = color.map(LabelSource::from);
    let (notices, warning) = call(py, run_options, dtype, None, move |run| {
        let (rows, notices) = match &input {
            None => (None, Notices::default()),
            Some(input) => {
                let (mut rows, mut notices) = input.named_rows(wanted, true, run)?;
                rows.prepare(run)?;
                options.labels = color.map(|color| color.read(rows.used(), input, run)).transpose()?;
                options.row_names = options.row_names.take().or(notices.row_names.take());
                (Some(rows), notices)
            }
        };
        if let (Some((starts, permutations, max_seconds)), Some(rows)) = (refits, &rows) {
            let run = &Run { seed: model.report().seed, max_seconds, ..*run };
            options.modules = Some(biclusters(&model, rows, Refits { starts, permutations }, run)?);
        }
        let warning = options.modules.as_ref().and_then(Biclusters::warning);
        let page = unmix_report::page(&model, rows.as_ref(), &options, run)?;
        let mut file = NewFile::create(&path)?;
        file.put(page.as_bytes())?;
        file.finish()?;
        Ok((notices, warning))
    })?;
    warn(py, &notices)?;
    warn_notes(py, warning.as_slice())
}
