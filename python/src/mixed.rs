//! Synthetic mixtures and biclusters, as arrays.

use numpy::{PyArray2, PyArray4, PyArrayMethods};
use pyo3::prelude::*;
use unmix::{Dtype, Matrix, Result, datasets};

use crate::error::raised;
use crate::model::matrix;
use datasets::{Distribution, MixedSources, PlantedBiclusters, RareModules, SignalDesign};

/// Rows, sources and mixing.
type Arrays<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

fn arrays(py: Python<'_>, make: impl FnOnce() -> Result<MixedSources> + Send) -> PyResult<Arrays<'_>> {
    let made = py.detach(make).map_err(|e| raised(e, Dtype::F64))?;
    Ok((matrix(py, made.x)?, matrix(py, made.sources)?, matrix(py, made.mixing)?))
}

/// Independent sources along random orthonormal directions.
#[pyfunction]
pub(crate) fn independent(
    py: Python<'_>,
    n_samples: usize,
    distributions: Vec<String>,
    variances: Vec<f64>,
    seed: u64,
) -> PyResult<Arrays<'_>> {
    arrays(py, || {
        let distributions = distributions
            .iter()
            .map(|name| Distribution::named(name))
            .collect::<Result<Vec<Distribution>>>()?;
        datasets::independent(n_samples, &distributions, &variances, seed)
    })
}

/// Three time signals, mixed.
#[pyfunction]
#[pyo3(signature = (setting, seed=None))]
pub(crate) fn signals(py: Python<'_>, setting: String, seed: Option<u64>) -> PyResult<Arrays<'_>> {
    arrays(py, || Ok(datasets::signals(SignalDesign::named(&setting)?, seed)))
}

/// Points in the plane: two sources, rotated by 45 degrees.
#[pyfunction]
#[pyo3(signature = (distribution, n_samples, seed=None))]
pub(crate) fn points(
    py: Python<'_>,
    distribution: String,
    n_samples: usize,
    seed: Option<u64>,
) -> PyResult<Arrays<'_>> {
    arrays(py, || datasets::points(Distribution::named(&distribution)?, n_samples, seed))
}

/// Pictures of discs that occlude each other (dead leaves model).
#[pyfunction]
pub(crate) fn leaves(py: Python<'_>, n: usize, side: usize, seed: u64) -> PyResult<Bound<'_, PyArray4<f64>>> {
    let columns = side.saturating_mul(side).saturating_mul(3);
    datasets::check_tables(&[(n, columns)]).map_err(|e| raised(e, Dtype::F64))?;
    let made = py.detach(|| datasets::leaves(n, side, seed));
    numpy::PyArray1::from_vec(py, made.values).reshape([made.n, made.height, made.width, made.channels])
}

/// Rows, and which rows and columns are in each bicluster.
fn planted(py: Python<'_>, make: impl FnOnce() -> Result<PlantedBiclusters> + Send) -> PyResult<Arrays<'_>> {
    let made = py.detach(make).map_err(|e| raised(e, Dtype::F64))?;
    let members = |of: &[Vec<bool>], width: usize| {
        matrix(py, Matrix::from_fn(of.len(), width, |b, i| f64::from(u8::from(of[b][i]))))
    };
    let (n, p) = (made.x.rows(), made.x.cols());
    Ok((matrix(py, made.x)?, members(&made.rows, n)?, members(&made.columns, p)?))
}

/// Rows with planted biclusters.
#[pyfunction]
pub(crate) fn biclusters(py: Python<'_>, name: String, set: u64, seed: u64) -> PyResult<Arrays<'_>> {
    planted(py, || datasets::biclusters(&name, set, seed))
}

/// Rows with rare modules; `sizes` are rows, columns, modules, rows and columns of a module, factors.
#[pyfunction]
pub(crate) fn rare_modules(py: Python<'_>, sizes: [usize; 6], shift: f64, seed: u64) -> PyResult<Arrays<'_>> {
    let [n_samples, n_features, n_modules, rows, columns, n_factors] = sizes;
    let of =
        RareModules { n_samples, n_features, n_modules, module_shape: (rows, columns), shift, n_factors };
    planted(py, || datasets::rare_modules(&of, seed))
}
