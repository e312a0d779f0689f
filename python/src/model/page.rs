//! A page about a model, and about rows.

use super::Model;
use crate::call::{RunOptions, call};
use crate::input::{Input, Notices, warn, warn_notes};
use pyo3::prelude::*;
use std::path::PathBuf;
use unmix::Run;
use unmix::biclusters::{Biclusters, Refits, biclusters};
use unmix::data::NewFile;

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

/// Writes a page about `model`, and about the rows `x` if given, to the file.
pub(super) fn write(
    py: Python<'_>,
    model: &Model,
    path: PathBuf,
    run_options: RunOptions,
    x: Option<&Bound<'_, PyAny>>,
    color: Option<(String, Vec<String>)>,
    shown: Shown<'_>,
) -> PyResult<()> {
    let (title, beside, rate, positions, row_names, refits, pairs, python_call) = shown;
    let input = x.map(|x| model.input(x)).transpose()?;
    let (model, wanted) = (model.inner.clone(), model.wanted());
    let dtype = input.as_ref().map_or(model.dtype(), Input::dtype);
    let beside = beside.map(|other| ("the other".to_string(), other.inner.as_ref().clone()));
    let mut options = unmix_report::Options {
        title,
        labels: color,
        beside,
        rate,
        positions,
        row_names,
        pairs: pairs.unwrap_or_default(),
        reproduce: python_call.into_iter().collect(),
        ..Default::default()
    };
    options.input_name = input.as_ref().and_then(Input::name);
    let (notices, warning) = call(py, run_options, dtype, None, move |run| {
        let (rows, notices) = match &input {
            None => (None, Notices::default()),
            Some(input) => {
                let (mut rows, mut notices) = input.named_rows(wanted, true, run)?;
                rows.prepare(run)?;
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
