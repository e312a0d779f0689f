//! What a model computes of rows: codes, decoded rows, log-likelihoods, clusters.

use super::{Model, density};
use crate::call::{RunOptions, RunOptionsTuple, call};
use crate::codes::{Direction, warn_unconverged};
use crate::input::{Input, Wanted, warn};
use numpy::PyArray1;
use pyo3::prelude::*;
use std::path::PathBuf;
use unmix::data::VecSink;

impl Model {
    /// Codes of rows, or rows of codes, as an array, or written to the file `out`.
    pub(super) fn apply<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        run_options: RunOptions,
        out: Option<PathBuf>,
        way: Direction,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (input, wanted) = match way {
            Direction::Encode { .. } => (self.input(x)?, self.wanted()),
            Direction::Decode => (Input::new(x, None)?, Wanted::default()),
        };
        let (dtype, cost, model) = (input.dtype(), self.cost(&input), self.inner.clone());
        if let Some(out) = out {
            let (encoded, notices) = call(py, run_options, dtype, cost, move |run| {
                let (rows, notices) = input.rows(wanted, run)?;
                Ok((way.write(&model, &rows, &out, run)?, notices))
            })?;
            warn(py, &notices)?;
            warn_unconverged(py, &encoded)?;
            return Ok(None);
        }
        let (table, notices) = call(py, run_options, dtype, cost, move |run| {
            let (rows, notices) = input.rows(wanted, run)?;
            Ok((way.table(&model, &rows, run)?, notices))
        })?;
        warn(py, &notices)?;
        warn_unconverged(py, &table.encoded)?;
        table.into_python(py).map(Some)
    }

    /// Log-likelihood of every row; see [`density`] for `scaled`.
    pub(super) fn scores<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        run_options: RunOptions,
        scaled: bool,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let input = self.input(x)?;
        let (dtype, cost, model, wanted) =
            (input.dtype(), self.cost(&input), self.inner.clone(), self.wanted());
        let (scores, notices) = call(py, run_options, dtype, cost, move |run| {
            let (rows, notices) = input.rows(wanted, run)?;
            let mut sink = VecSink(Vec::with_capacity(rows.n_rows().unwrap_or(0) as usize));
            match model.code().encoder().mixture() {
                Some(_) => unmix::with_rows!(&rows, rows => model.score_samples(rows, run, &mut sink)?),
                None => {
                    let density = density(&model, scaled)?;
                    unmix::with_rows!(&rows, rows => model.score_samples_under(&density, rows, run, &mut sink)?)
                }
            };
            Ok((sink.0, notices))
        })?;
        warn(py, &notices)?;
        Ok(PyArray1::from_vec(py, scores))
    }

    /// Clusters of rows, or the probabilities of all clusters.
    pub(super) fn of_rows(
        &self,
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        run_options: RunOptionsTuple,
        probabilities: bool,
    ) -> PyResult<Vec<f64>> {
        let input = self.input(x)?;
        let (dtype, cost, model, wanted) =
            (input.dtype(), self.cost(&input), self.inner.clone(), self.wanted());
        let (found, notices) = call(py, run_options.into(), dtype, cost, move |run| {
            let (rows, notices) = input.rows(wanted, run)?;
            let mut sink = VecSink(Vec::new());
            match probabilities {
                true => unmix::with_rows!(&rows, rows => model.probabilities(rows, run, &mut sink)?),
                false => unmix::with_rows!(&rows, rows => model.labels(rows, run, &mut sink)?),
            };
            Ok((sink.0, notices))
        })?;
        warn(py, &notices)?;
        Ok(found)
    }
}
