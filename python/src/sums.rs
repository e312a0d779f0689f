//! Sums over the rows so far, kept by Python between two calls of `partial_fit`.

use crate::call::{RunOptionsTuple, call};
use crate::error::raised;
use crate::input::{Input, Wanted, warn};
use crate::model::Model;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Arc, Mutex, PoisonError};
use unmix::model::PictureRow;
use unmix::{Dtype, Features};

/// Sums over the rows so far, owned by one estimator.
#[pyclass(frozen, name = "Sums", module = "unmix._unmix")]
pub(crate) struct Sums(Arc<Mutex<SumsState>>);

#[derive(Clone, Default)]
struct SumsState {
    /// None before the first batch, which determines the number of columns and the type.
    sums: Option<unmix::model::Sums>,
    features: Features,
    /// How pictures were read in the first batch of pictures.
    pictures: Option<PictureRow>,
}

impl Sums {
    fn state(&self) -> SumsState {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn of(model: &unmix::Model) -> Option<Self> {
        let (sums, features) = (Some(model.sums()?.clone()), model.features().clone());
        let pictures = model.report().run.pictures;
        Some(Self(Arc::new(Mutex::new(SumsState { sums, features, pictures }))))
    }
}

/// Settings as the package gives them.
fn parsed(settings: &str) -> PyResult<serde_json::Map<String, serde_json::Value>> {
    serde_json::from_str(settings).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

#[pymethods]
impl Sums {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    /// An independent copy.
    fn copy(&self) -> Self {
        Self(Arc::new(Mutex::new(self.state())))
    }

    /// Number of rows, weighted.
    #[getter]
    fn n_samples(&self) -> f64 {
        self.state().sums.map_or(0.0, |s| s.n_samples())
    }

    /// Number and names of the columns, after the first batch.
    #[getter]
    fn columns(&self) -> Option<(usize, Option<Vec<String>>)> {
        let state = self.state();
        Some((state.sums?.n_features(), state.features.names))
    }

    /// Adds rows, for `method` with `settings` (JSON), which must be possible with sums; on an error nothing is added.
    #[pyo3(signature = (method, settings, x, run_options, names=None, weights=None, feature_shape=None))]
    #[allow(clippy::too_many_arguments, reason = "Python's own, by name")]
    fn add(
        &self,
        py: Python<'_>,
        method: String,
        settings: &str,
        x: &Bound<'_, PyAny>,
        run_options: RunOptionsTuple,
        names: Option<Vec<String>>,
        weights: Option<Vec<f64>>,
        feature_shape: Option<Vec<usize>>,
    ) -> PyResult<()> {
        let settings = parsed(settings)?;
        // Another thread that adds rows may hold the lock, and may need the interpreter meanwhile.
        let fitted = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).pictures);
        let input = Input::new(x, fitted)?;
        let (cost, dtype) =
            (input.shape().map(|(n, p)| n.saturating_mul(p).saturating_mul(p)), input.dtype());
        let (shared, pictures) = (self.0.clone(), input.pictures());
        let notices = call(py, run_options.into(), dtype, cost, move |run| {
            // A model that these settings do not allow is refused here, and not when it is first read.
            (unmix::method::find(&method)?.spec)(&settings)?.check_sums()?;
            let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
            let wanted = Wanted {
                names: names.or_else(|| state.features.names.clone()),
                shape: feature_shape,
                n_features: state.sums.as_ref().map(|sums| sums.n_features()),
                pictures: state.pictures,
            };
            let (rows, notices) = input.rows(wanted, run)?;
            let rows = match weights {
                None => rows,
                Some(weights) => rows.weighted(weights)?,
            };
            let first = state.sums.is_none();
            if first {
                // Before anything is added, so that a failed batch has no effect.
                let mut sums = unmix::model::Sums::new(rows.n_features(), rows.dtype())?;
                unmix::with_rows!(&rows, rows => sums.add(&method, rows, run))?;
                let features = rows.features().clone();
                *state = SumsState { sums: Some(sums), features, pictures: None };
            } else if let Some(sums) = &mut state.sums {
                unmix::with_rows!(&rows, rows => sums.add(&method, rows, run))?;
            }
            state.pictures = state.pictures.take().or(pictures);
            Ok(notices)
        })?;
        warn(py, &notices)
    }

    /// The model of `method` with `settings` (JSON) computed from the sums; it records `invocation`.
    #[pyo3(signature = (method, settings, run_options, invocation=None))]
    fn model(
        &self,
        py: Python<'_>,
        method: String,
        settings: &str,
        run_options: RunOptionsTuple,
        invocation: Option<String>,
    ) -> PyResult<Model> {
        let settings = parsed(settings)?;
        let state = self.state();
        let Some(sums) = state.sums else {
            return Err(PyValueError::new_err(format!(
                "{method} has no rows yet; add some with partial_fit"
            )));
        };
        let (dtype, p, pictures) = (sums.dtype(), sums.n_features() as u64, state.pictures);
        let fitted = call(py, run_options.into(), dtype, Some(p.pow(3)), move |run| {
            let run = &unmix::Run { invocation: invocation.as_deref(), ..*run };
            (unmix::method::find(&method)?.spec)(&settings)?.fit_sums(&sums, &state.features, run)
        })?;
        Ok(Model::new(fitted.with_pictures(pictures)))
    }

    /// The sums in the bytes of a pickle.
    #[staticmethod]
    #[pyo3(signature = (bytes, names, pictures=None, shape=None))]
    fn from_bytes(
        bytes: &[u8],
        names: Option<Vec<String>>,
        pictures: Option<String>,
        shape: Option<Vec<usize>>,
    ) -> PyResult<Self> {
        let sums = match bytes.is_empty() {
            true => None,
            false => Some(unmix::model::Sums::from_bytes(bytes).map_err(|e| raised(e, Dtype::F64))?),
        };
        let features = Features { names, shape };
        let pictures = pictures.and_then(|words| PictureRow::try_from(words).ok());
        Ok(Self(Arc::new(Mutex::new(SumsState { sums, features, pictures }))))
    }

    #[allow(clippy::type_complexity)] // Python's protocol: a constructor and its arguments.
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(
        Bound<'py, PyAny>,
        (Bound<'py, PyBytes>, Option<Vec<String>>, Option<String>, Option<Vec<usize>>),
    )> {
        let (py, state) = (slf.py(), slf.get().state());
        let bytes = state.sums.map(|s| s.to_bytes()).unwrap_or_default();
        let Features { names, shape } = state.features;
        let parts = (PyBytes::new(py, &bytes), names, state.pictures.map(String::from), shape);
        Ok((slf.get_type().getattr("from_bytes")?, parts))
    }
}
