//! Rows distributed to workers: jobs and results as bytes, and a fit to remote rows.

use crate::call::{RunOptionsTuple, call, observed};
use crate::input::{Input, Wanted, warn};
use crate::model::Model;
use crate::options::{self, CheckpointTuple, ObserverTuple, RunOptions};
use crate::{NamedTables, tensors};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Arc, Mutex};
use unmix::shards::Workers;
use unmix::{AnyRows, Dtype, Error, Real, Rows};

/// Number of rows at whose multiples rows of `n_features` columns can be divided between workers: a multiple of the lengths of all shards.
#[pyfunction]
pub(crate) fn shard_rows(n_features: usize, sparse: bool) -> u64 {
    match sparse {
        true => unmix::shards::sparse_shard_rows(n_features),
        false => unmix::shards::shard_rows(n_features),
    }
}

/// The result of `job` for a worker that holds the rows `x`, the first of which is row `first_row` of all.
#[pyfunction]
pub(crate) fn gather_shards<'py>(
    py: Python<'py>,
    job: Vec<u8>,
    x: &Bound<'py, PyAny>,
    first_row: u64,
    weights: Option<Vec<f64>>,
    run_options: RunOptionsTuple,
) -> PyResult<Bound<'py, PyBytes>> {
    let input = Input::new(x, None)?;
    let (answer, notices) = call(py, run_options.into(), input.dtype(), None, move |run| {
        let (mut rows, notices) = input.rows(Wanted::default(), run)?;
        rows.prepare(run)?;
        if let Some(weights) = weights {
            rows = rows.weighted(weights)?;
        }
        Ok((unmix::shards::gather(&job, &rows, first_row, run)?, notices))
    })?;
    warn(py, &notices)?;
    Ok(PyBytes::new(py, &answer))
}

/// Fits `method` with `settings` (JSON) to remote rows of `shape` (rows, columns, whether they are sparse) and `dtype`; `gather_all` sends
/// a job to the workers and returns their results. `given` are the tables that are passed in addition to the settings.
#[pyfunction]
#[pyo3(signature = (method, settings, shape, dtype, gather_all, run_options, max_seconds=None, checkpoint=None, init=None, invocation=None, given=None, observer=None))]
#[allow(clippy::too_many_arguments, reason = "Python's own, by name")]
pub(crate) fn fit_shards(
    py: Python<'_>,
    method: String,
    settings: &str,
    shape: (u64, usize, bool),
    dtype: &str,
    gather_all: Py<PyAny>,
    run_options: RunOptionsTuple,
    max_seconds: Option<f64>,
    checkpoint: Option<CheckpointTuple>,
    init: Option<&Bound<'_, Model>>,
    invocation: Option<String>,
    given: Option<NamedTables<'_>>,
    observer: Option<ObserverTuple>,
) -> PyResult<Model> {
    let given = tensors(given);
    let observer = options::observer(observer);
    let options = RunOptions::new(max_seconds, checkpoint, init, invocation);
    let settings = serde_json::from_str(settings).map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
    let dtype = Dtype::named(dtype)
        .ok_or_else(|| PyRuntimeError::new_err(format!("dtype must be float32 or float64, got {dtype}")))?;
    // Keeps the Python exception, because an error of the library cannot contain it.
    let raised_there = Arc::new(Mutex::new(None));
    let keep = raised_there.clone();
    let everywhere = move |job: &[u8]| {
        let answers = Python::attach(|py| {
            let answers = gather_all.call1(py, (PyBytes::new(py, job),))?;
            let each = answers.bind(py).try_iter()?;
            each.map(|answer| answer?.extract::<Vec<u8>>()).collect::<PyResult<Vec<Vec<u8>>>>()
        });
        answers.map_err(|error: PyErr| {
            keep.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(error);
            Error::Interrupted
        })
    };
    let fitted = observed(py, run_options.into(), observer, dtype, None, move |run| {
        let (n, p, sparse) = shape;
        let fit = |run: &unmix::Run<'_>| {
            let mut rows = match dtype {
                Dtype::F32 => AnyRows::F32(remote(n, p, sparse, &everywhere)),
                Dtype::F64 => AnyRows::F64(remote(n, p, sparse, &everywhere)),
            };
            Ok((unmix::fit_given(&method, &settings, given, &mut rows, run)?, ()))
        };
        options.fit(run, fit).map(|(model, ())| model)
    });
    match raised_there.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take() {
        Some(error) => Err(error),
        None => fitted.map(Model::new),
    }
}

fn remote<T: Real>(n: u64, p: usize, sparse: bool, workers: &dyn Workers) -> Rows<'_, T> {
    match sparse {
        true => Rows::remote_sparse(n, p, workers),
        false => Rows::remote(n, p, workers),
    }
}
