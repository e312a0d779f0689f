//! The fitted model, as Python holds it.

mod arrays;
mod page;
mod rows;

pub(crate) use arrays::matrix;

use crate::call::{RunOptions, RunOptionsTuple, call};
use crate::codes::Direction;
use crate::error::{in_python, raised};
use crate::input::{Input, Wanted, warn_notes};
use crate::sums::Sums;
use arrays::lend;
use numpy::{PyArray1, PyArray2};
use page::{Color, Shown};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use unmix::Dtype;
use unmix::model::ComponentSelection;

/// A fitted model. It is immutable; numpy arrays of its parameters are read-only views of its memory.
#[pyclass(frozen, name = "Model", module = "unmix._unmix")]
pub(crate) struct Model {
    pub(crate) inner: Arc<unmix::Model>,
}

/// A component as selected in Python.
#[derive(FromPyObject)]
enum Selector {
    Number(i64),
    Name(String),
}

impl Selector {
    fn chosen(self) -> ComponentSelection {
        match self {
            Selector::Number(number) => ComponentSelection::Number(number),
            Selector::Name(name) => ComponentSelection::Name(name),
        }
    }
}

impl Model {
    pub(crate) fn new(inner: unmix::Model) -> Self {
        Self { inner: Arc::new(inner) }
    }

    /// Names of the columns, by which those of a file are matched.
    pub(crate) fn names(&self) -> Option<Vec<String>> {
        self.inner.features().names.clone()
    }

    /// The columns that it needs from an input.
    pub(crate) fn wanted(&self) -> Wanted {
        let pictures = self.inner.report().run.pictures;
        Wanted { names: self.names(), n_features: Some(self.inner.n_features()), pictures, shape: None }
    }

    /// Multiply-adds for encoding `input`; None if its shape is not known yet.
    pub(crate) fn cost(&self, input: &Input) -> Option<u64> {
        let per_row = (self.inner.n_features() * self.inner.n_components().max(1)) as u64;
        input.shape().map(|(n, _)| n.saturating_mul(per_row))
    }

    /// The rows `x`, with a warning if they are pictures that are read in another way than those of the fit.
    pub(crate) fn input(&self, x: &Bound<'_, PyAny>) -> PyResult<Input> {
        Input::new(x, self.inner.report().run.pictures)
    }
}

#[pymethods]
impl Model {
    /// The registry's key of the method.
    #[getter]
    fn method(&self) -> &'static str {
        self.inner.method().key
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.inner.n_features()
    }

    #[getter]
    fn n_components(&self) -> usize {
        self.inner.n_components()
    }

    /// Number of codes per row.
    #[getter]
    fn n_codes(&self) -> usize {
        self.inner.n_codes()
    }

    /// Whether the negative of a component is another one.
    #[getter]
    fn one_sided(&self) -> bool {
        unmix::stability::one_sided(&self.inner)
    }

    /// Names of the columns, if they had names.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.names()
    }

    /// Shape of one sample, if it had one.
    #[getter]
    fn feature_shape(&self) -> Option<Vec<usize>> {
        self.inner.features().shape.clone()
    }

    /// Outcome of the fit: (outcome, whether that is a success, rank or None, rows).
    #[getter]
    fn end(&self) -> (&'static str, bool, Option<usize>, f64) {
        let report = self.inner.report();
        (report.outcome.name(), report.outcome.is_success(), report.rank, report.n_samples)
    }

    /// The warnings of the report that concern the validity of the result.
    #[getter]
    fn doubts(&self) -> Vec<String> {
        self.inner.report().doubts().map(in_python).collect()
    }

    /// The word for what `n_iter` counts, in the singular for one.
    #[getter]
    fn counted(&self) -> &'static str {
        self.inner.counted().word(self.inner.report().n_iter)
    }

    /// Sentences about settings that are not at their defaults and have no effect in combination with the others.
    #[getter]
    fn without_effect(&self) -> Vec<String> {
        let (settings, report) = (self.inner.settings(), self.inner.report());
        let all = unmix::method::without_effect(self.inner.method().settings, settings, &report.settings);
        all.iter().map(|sentence| in_python(sentence)).collect()
    }

    /// The same model with the report of a search that ran in Python: number of iterations, whether it converged, the last change, and its
    /// settings as JSON.
    fn searched(
        &self,
        n_iter: u64,
        converged: bool,
        residual: Option<f64>,
        settings: &str,
    ) -> PyResult<Self> {
        let settings = serde_json::from_str(settings).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let outcome = if converged { unmix::Outcome::Converged } else { unmix::Outcome::MaxIter };
        Ok(Self::new(self.inner.as_ref().clone().with_search((outcome, n_iter, residual), settings)))
    }

    /// Random seed.
    #[getter]
    fn seed(&self) -> u64 {
        self.inner.report().seed
    }

    /// Settings as given, as JSON.
    #[getter]
    fn settings(&self) -> PyResult<String> {
        json(self.inner.settings())
    }

    /// The report, as JSON.
    #[getter]
    fn report(&self) -> PyResult<String> {
        json(&crate::error::report(self.inner.report().to_json()))
    }

    /// Every parameter by name: views of the model's memory, read-only.
    #[getter]
    fn tensors<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(slf.py());
        for (name, tensor) in slf.get().inner.tensors() {
            all.set_item(name, lend(slf, tensor)?)?;
        }
        Ok(all)
    }

    /// Names of the parameters.
    #[getter]
    fn tensor_names(&self) -> Vec<&str> {
        self.inner.tensors().keys().map(String::as_str).collect()
    }

    /// Mixing matrix, `n_features x n_components`, in double precision; None if codes cannot be decoded.
    #[getter]
    fn mixing<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        self.inner.code().mixing().map(|mixing| matrix(py, mixing)).transpose()
    }

    /// The matrix of the encoder, `n_components x n_features`, in double precision; None if codes are not linear in the rows.
    #[getter]
    fn filters<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        self.inner.code().encoder().linear().map(|(_, encoder)| matrix(py, encoder.transposed())).transpose()
    }

    /// Standard errors of the variances along the components, if the model has variances.
    #[getter]
    fn explained_variance_std_error<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.inner.explained_variance_std_error().map(|errors| PyArray1::from_vec(py, errors))
    }

    /// The covariance of the model's density, `n_features x n_features`; see [`density`] for `scaled`.
    fn covariance<'py>(&self, py: Python<'py>, scaled: bool) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = self.inner.clone();
        matrix(
            py,
            call(py, RunOptions::default(), Dtype::F64, self.square(), move |_| {
                density(&model, scaled)?.covariance()
            })?,
        )
    }

    /// The inverse of the covariance of the model's density, `n_features x n_features`; see [`density`] for `scaled`.
    fn precision<'py>(&self, py: Python<'py>, scaled: bool) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = self.inner.clone();
        matrix(
            py,
            call(py, RunOptions::default(), Dtype::F64, self.square(), move |_| {
                density(&model, scaled)?.precision()
            })?,
        )
    }

    /// The sums from which the model was computed, if it stores them.
    fn sums(&self) -> Option<Sums> {
        Sums::of(&self.inner)
    }

    /// The model of the union of its rows and those of `right`; it records `invocation`. Warns if both are of pictures that were read in
    /// different ways.
    fn merge(
        &self,
        py: Python<'_>,
        right: &Bound<'_, Self>,
        run_options: RunOptionsTuple,
        invocation: String,
    ) -> PyResult<Self> {
        let (left, right) = (self.inner.clone(), right.get().inner.clone());
        let cost = (left.n_features() as u64).pow(3);
        let other = right.report().run.pictures.and_then(|row| left.other_pictures(row));
        warn_notes(py, other.as_slice())?;
        let merged = call(py, run_options.into(), left.dtype(), Some(cost), move |run| {
            left.merge(&right, &unmix::Run { invocation: Some(&invocation), ..*run })
        })?;
        Ok(Self::new(merged))
    }

    /// Indices of components requested by number or name, ascending, each once; `setting` is the argument's name, for messages.
    fn choose(&self, setting: &str, requested: Vec<Selector>) -> PyResult<Vec<usize>> {
        let chosen: Vec<ComponentSelection> = requested.into_iter().map(Selector::chosen).collect();
        self.inner.choose(setting, &chosen).map_err(|error| raised(error, self.inner.dtype()))
    }

    /// Codes of rows, as an array, or written to the file `out`. Sparse codes are a sparse array unless `dense` is set.
    #[pyo3(signature = (x, run_options, out=None, dense=false))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        run_options: RunOptionsTuple,
        out: Option<PathBuf>,
        dense: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.apply(py, x, run_options.into(), out, Direction::Encode { dense })
    }

    /// Rows decoded from codes, as an array, or written to the file `out`.
    #[pyo3(signature = (codes, run_options, out=None))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        codes: &Bound<'py, PyAny>,
        run_options: RunOptionsTuple,
        out: Option<PathBuf>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.apply(py, codes, run_options.into(), out, Direction::Decode)
    }

    /// Log-likelihood of every row; see [`density`] for `scaled`.
    fn score_samples<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        run_options: RunOptionsTuple,
        scaled: bool,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.scores(py, x, run_options.into(), scaled)
    }

    /// The cluster of every row.
    fn labels<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        run_options: RunOptionsTuple,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let labels = self.of_rows(py, x, run_options, false)?;
        Ok(PyArray1::from_vec(py, labels.into_iter().map(|label| label as i64).collect()))
    }

    /// The probability of every cluster for every row, `n x n_clusters`.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        run_options: RunOptionsTuple,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (k, all) = (self.inner.n_codes(), self.of_rows(py, x, run_options, true)?);
        matrix(py, unmix::Matrix::from_vec(all.len() / k.max(1), k, all))
    }

    /// The summary table that a terminal shows after a fit.
    fn summary(&self) -> String {
        in_python(&unmix_report::summary(&self.inner))
    }

    /// Writes a page about the model, and about the rows `x` if given, to `path`.
    #[pyo3(signature = (path, run_options, x=None, color=None, shown=(None, None, None, None, None, None, None, None)))]
    fn page<'py>(
        &self,
        py: Python<'py>,
        path: PathBuf,
        run_options: RunOptionsTuple,
        x: Option<&Bound<'_, PyAny>>,
        color: Option<Color<'py>>,
        shown: Shown<'py>,
    ) -> PyResult<()> {
        page::write(py, self, path, run_options.into(), x, color, shown)
    }

    /// The layers of a stack, the lowest first.
    fn layers(&self) -> PyResult<Vec<Model>> {
        let found = unmix::method::stacked_rfn::layers(&self.inner);
        Ok(found.map_err(|e| raised(e, self.inner.dtype()))?.into_iter().map(Model::new).collect())
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.inner.to_bytes()).map_err(|e| raised(e, self.inner.dtype()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The model in the bytes of a model file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        unmix::Model::from_bytes(bytes, Path::new("the pickle"))
            .map(Self::new)
            .map_err(|e| raised(e, Dtype::F64))
    }

    /// Writes the model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.inner.save(&path)).map_err(|e| raised(e, self.inner.dtype()))
    }

    /// Whether there is a model file at `path`.
    #[staticmethod]
    fn is_file(py: Python<'_>, path: PathBuf) -> bool {
        py.detach(|| unmix::model::is_model_file(&path))
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| unmix::Model::load(&path)).map(Self::new).map_err(|e| raised(e, Dtype::F64))
    }

    /// Pickles contain the bytes of the model file.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(py)?,)))
    }
}

impl Model {
    /// Multiply-adds of a square matrix product of the size of the data.
    fn square(&self) -> Option<u64> {
        let p = self.inner.n_features() as u64;
        Some(p.saturating_mul(p).saturating_mul(self.inner.n_components().max(1) as u64))
    }
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| pyo3::exceptions::PyRuntimeError::new_err(e.to_string()))
}

/// The density of the model, or, if `scaled`, the one that scikit-learn uses for a whitened PCA: there each axis is multiplied by its
/// standard deviation once more, so that the variance along it is `variance (variance - noise) + noise`.
fn density(model: &unmix::Model, scaled: bool) -> unmix::Result<unmix::model::Gaussian> {
    let mut density = model.density()?;
    if scaled {
        let noise = density.noise;
        density.variance.iter_mut().for_each(|v| *v = *v * (*v - noise) + noise);
    }
    Ok(density)
}
