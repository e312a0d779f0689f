//! Metrics and synthetic data of the library, as functions of arrays.

use numpy::{PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use unmix::{Dtype, Matrix, datasets, metrics};

use crate::error::raised;
use crate::model::matrix;

fn owned(a: &PyReadonlyArray2<'_, f64>) -> Matrix<f64> {
    let view = a.as_array();
    Matrix::from_vec(a.shape()[0], a.shape()[1], view.iter().copied().collect())
}

/// Angles between the subspaces spanned by the rows of `a` and of `b`, largest first.
#[pyfunction]
pub(crate) fn subspace_angles<'py>(
    py: Python<'py>,
    a: PyReadonlyArray2<'py, f64>,
    b: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (a, b) = (owned(&a), owned(&b));
    let angles = py.detach(|| metrics::subspace_angles(&a, &b)).map_err(|e| raised(e, Dtype::F64))?;
    Ok(PyArray1::from_vec(py, angles))
}

/// Distance between the projectors onto the row spaces of `a` and `b`.
#[pyfunction]
pub(crate) fn projection_distance(
    py: Python<'_>,
    a: PyReadonlyArray2<'_, f64>,
    b: PyReadonlyArray2<'_, f64>,
) -> PyResult<f64> {
    let (a, b) = (owned(&a), owned(&b));
    py.detach(|| metrics::projection_distance(&a, &b)).map_err(|e| raised(e, Dtype::F64))
}

/// Mean similarity of the pairs of [`match_rows`].
#[pyfunction]
pub(crate) fn matched_cosine(
    py: Python<'_>,
    a: PyReadonlyArray2<'_, f64>,
    b: PyReadonlyArray2<'_, f64>,
    non_negative: bool,
) -> f64 {
    let (a, b) = (owned(&a), owned(&b));
    py.detach(|| matched(&a, &b, non_negative)).mean()
}

/// Pairs of axes, or of the units of two models with non-negative codes.
fn matched(a: &Matrix<f64>, b: &Matrix<f64>, non_negative: bool) -> metrics::Match {
    if non_negative { metrics::match_units(a, b) } else { metrics::match_rows(a, b) }
}

/// A pairing: for each row of the first matrix the row of the second, the sign and the similarity.
type Paired<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Pairs the rows of `a` with rows of `b`, which must have at least as many; with `non_negative` codes the negative of a row is another one.
#[pyfunction]
pub(crate) fn match_rows<'py>(
    py: Python<'py>,
    a: PyReadonlyArray2<'py, f64>,
    b: PyReadonlyArray2<'py, f64>,
    non_negative: bool,
) -> Paired<'py> {
    let (a, b) = (owned(&a), owned(&b));
    let found = py.detach(|| matched(&a, &b, non_negative));
    let order = found.order.iter().map(|&j| j as i64).collect();
    (PyArray1::from_vec(py, order), PyArray1::from_vec(py, found.sign), PyArray1::from_vec(py, found.cosine))
}

/// Amari distance of a gain matrix.
#[pyfunction]
pub(crate) fn amari_distance(gain: PyReadonlyArray2<'_, f64>) -> PyResult<f64> {
    metrics::amari_distance(&owned(&gain)).map_err(|e| raised(e, Dtype::F64))
}

/// Signal-to-interference ratio of every source of a gain matrix, in decibels.
#[pyfunction]
pub(crate) fn interference<'py>(
    py: Python<'py>,
    gain: PyReadonlyArray2<'py, f64>,
) -> Bound<'py, PyArray1<f64>> {
    PyArray1::from_vec(py, metrics::interference(&owned(&gain)))
}

/// Mutual information between each pair of columns.
#[pyfunction]
pub(crate) fn mutual_information<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let x = owned(&x);
    let found = py.detach(|| metrics::mutual_information(&x)).map_err(|e| raised(e, Dtype::F64))?;
    matrix(py, found)
}

/// The fraction of rows whose labels agree, under the best pairing of labels.
#[pyfunction]
pub(crate) fn clustering_accuracy(py: Python<'_>, a: Vec<usize>, b: Vec<usize>) -> f64 {
    py.detach(|| metrics::clustering_accuracy(&a, &b))
}

/// Normalized mutual information of two lists of labels.
#[pyfunction]
pub(crate) fn nmi(py: Python<'_>, a: Vec<usize>, b: Vec<usize>) -> f64 {
    py.detach(|| metrics::nmi(&a, &b))
}

/// Rows, labels and the axes of each subspace.
type Union<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<i64>>, Vec<Bound<'py, PyArray2<f64>>>);

/// Rows near a union of random subspaces.
#[pyfunction]
pub(crate) fn union_of_subspaces(
    py: Python<'_>,
    sizes: Vec<usize>,
    n_features: usize,
    dimensions: Vec<usize>,
    noise: f64,
    seed: u64,
) -> PyResult<Union<'_>> {
    let made = py
        .detach(|| datasets::union_of_subspaces(&sizes, n_features, &dimensions, noise, seed))
        .map_err(|e| raised(e, Dtype::F64))?;
    let labels = made.labels.iter().map(|&k| k as i64).collect();
    let bases = made.bases.into_iter().map(|basis| matrix(py, basis)).collect::<PyResult<_>>()?;
    Ok((matrix(py, made.x)?, PyArray1::from_vec(py, labels), bases))
}

/// Pictures, and the indices of digits or the labels of shapes.
type Variations<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

/// Pictures of digits with backgrounds, or of shapes.
#[pyfunction]
pub(crate) fn digit_variations<'py>(
    py: Python<'py>,
    name: String,
    digits: PyReadonlyArray2<'py, f64>,
    photos: Vec<PyReadonlyArray2<'py, f64>>,
    seed: u64,
) -> PyResult<Variations<'py>> {
    let (digits, photos) = (owned(&digits), photos.iter().map(owned).collect::<Vec<_>>());
    let made = py
        .detach(|| datasets::digit_variations(&name, &digits, &photos, seed))
        .map_err(|e| raised(e, Dtype::F64))?;
    let numbers = |of: Vec<usize>| PyArray1::from_vec(py, of.into_iter().map(|i| i as i64).collect());
    Ok((matrix(py, made.x)?, numbers(made.rows), numbers(made.labels)))
}

/// Rows, axes, scores and labels.
type LowRank<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<i64>>,
);

/// Pictures composed of a few smooth patterns.
#[pyfunction]
pub(crate) fn patterns(
    py: Python<'_>,
    n_samples: usize,
    side: usize,
    n_patterns: usize,
    noise: f64,
    seed: u64,
) -> PyResult<LowRank<'_>> {
    let columns = side.saturating_mul(side);
    datasets::check_tables(&[(n_samples, columns), (n_samples, n_patterns), (n_patterns, columns)])
        .map_err(|e| raised(e, Dtype::F64))?;
    let made = py.detach(|| datasets::patterns(n_samples, side, n_patterns, noise, seed));
    let labels = made.labels.iter().map(|&g| g as i64).collect();
    Ok((matrix(py, made.x)?, matrix(py, made.axes)?, matrix(py, made.codes)?, PyArray1::from_vec(py, labels)))
}

/// Rows, axes, latent numbers and mean.
type Ppca<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<f64>>,
);

/// Rows of the Gaussian that probabilistic PCA assumes.
#[pyfunction]
pub(crate) fn ppca(
    py: Python<'_>,
    n_samples: usize,
    n_features: usize,
    variances: Vec<f64>,
    noise_variance: f64,
    seed: u64,
) -> PyResult<Ppca<'_>> {
    let made = py
        .detach(|| datasets::ppca(n_samples, n_features, &variances, noise_variance, seed))
        .map_err(|e| raised(e, Dtype::F64))?;
    Ok((
        matrix(py, made.x)?,
        matrix(py, made.axes)?,
        matrix(py, made.latent)?,
        PyArray1::from_vec(py, made.mean),
    ))
}

/// Rows, atoms and codes of the Bernoulli-Gaussian model.
#[pyfunction]
pub(crate) fn bernoulli_gaussian(
    py: Python<'_>,
    sizes: (usize, usize, usize),
    share: f64,
    noise: f64,
    orthogonal: bool,
    seed: u64,
) -> PyResult<Matrices<'_>> {
    let made = py
        .detach(|| datasets::bernoulli_gaussian(sizes, share, noise, orthogonal, seed))
        .map_err(|e| raised(e, Dtype::F64))?;
    Ok((matrix(py, made.x)?, matrix(py, made.atoms)?, matrix(py, made.codes)?))
}

/// Three matrices.
type Matrices<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

/// Random directions in white noise.
#[pyfunction]
pub(crate) fn low_rank_plus_noise(
    py: Python<'_>,
    n_samples: usize,
    n_features: usize,
    n_components: usize,
    signal: f64,
    seed: u64,
) -> PyResult<Matrices<'_>> {
    let shapes = [(n_samples, n_features), (n_samples, n_components), (n_components, n_features)];
    datasets::check_tables(&shapes).map_err(|e| raised(e, Dtype::F64))?;
    let make = || datasets::low_rank_plus_noise(n_samples, n_features, n_components, signal, seed);
    let made = py.detach(make);
    Ok((matrix(py, made.x)?, matrix(py, made.axes)?, matrix(py, made.codes)?))
}
