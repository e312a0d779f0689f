//! T² and Q of rows, and measures of encoders, as arrays.

use crate::call::{RunOptionsTuple, call};
use crate::input::warn;
use crate::model::Model;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use unmix::data::{Sink, VecSink};
use unmix::model::{Parts, Quality};

/// T², Q, and tables of the terms of T² by component, squared cosines, and the terms of Q by column.
type Measured<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
);

/// Splits rows into tables of these widths.
struct Split {
    widths: [usize; 5],
    tables: [Vec<f64>; 5],
}

impl Sink<f64> for Split {
    fn put(&mut self, rows: &[f64]) -> unmix::Result<()> {
        for row in rows.chunks_exact(self.widths.iter().sum()) {
            let mut at = 0;
            for (width, table) in self.widths.iter().zip(&mut self.tables) {
                table.extend_from_slice(&row[at..at + width]);
                at += width;
            }
        }
        Ok(())
    }
}

/// A list of alphas, and the numbers of every row for each of them.
type Alphas<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>);

/// T² and Q of every row and their terms; the table of terms by column is empty unless `columns` is true.
#[pyfunction]
pub(crate) fn quality<'py>(
    py: Python<'py>,
    model: &Model,
    x: &Bound<'py, PyAny>,
    run_options: RunOptionsTuple,
    columns: bool,
) -> PyResult<Measured<'py>> {
    let input = model.input(x)?;
    let (dtype, cost, model, wanted) =
        (input.dtype(), model.cost(&input), model.inner.clone(), model.wanted());
    let p = if columns { model.n_features() } else { 0 };
    let (split, notices) = call(py, run_options.into(), dtype, cost, move |run| {
        let parts = Parts { components: true, columns };
        // Errors of the model are reported before anything is read.
        let k = Quality::of(&model, parts)?.n_components();
        let (rows, notices) = input.rows(wanted, run)?;
        let mut split = Split { widths: [1, 1, k, k, p], tables: Default::default() };
        unmix::with_rows!(&rows, rows => model.quality(rows, parts, run, &mut split)?);
        Ok((split, notices))
    })?;
    warn(py, &notices)?;
    let (n, k) = (split.tables[0].len(), split.widths[2]);
    let [t2, q, shares, cosines, residuals] = split.tables;
    let table = |numbers: Vec<f64>, width: usize| PyArray1::from_vec(py, numbers).reshape([n, width]);
    Ok((
        PyArray1::from_vec(py, t2),
        PyArray1::from_vec(py, q),
        table(shares, k)?,
        table(cosines, k)?,
        table(residuals, p)?,
    ))
}

/// The encoder's measures of every row, `n x n_measures`, with their names.
#[pyfunction]
pub(crate) fn measures<'py>(
    py: Python<'py>,
    model: &Model,
    x: &Bound<'py, PyAny>,
    run_options: RunOptionsTuple,
) -> PyResult<(Vec<&'static str>, Bound<'py, PyArray2<f64>>)> {
    let input = model.input(x)?;
    let (dtype, cost, model, wanted) =
        (input.dtype(), model.cost(&input), model.inner.clone(), model.wanted());
    let names_of = model.code().encoder().measures();
    let (numbers, notices) = call(py, run_options.into(), dtype, cost, move |run| {
        let (rows, notices) = input.rows(wanted, run)?;
        let mut sink = VecSink(Vec::new());
        unmix::with_rows!(&rows, rows => model.quality(rows, Parts::default(), run, &mut sink)?);
        Ok((sink.0, notices))
    })?;
    warn(py, &notices)?;
    let shape = [numbers.len() / names_of.len().max(1), names_of.len()];
    Ok((names_of.to_vec(), PyArray1::from_vec(py, numbers).reshape(shape)?))
}

/// Alphas, and for every row, alpha after alpha, objective, gap, number of atoms and squared error: `n x (4 n_alphas)`.
#[pyfunction]
pub(crate) fn sparse_path<'py>(
    py: Python<'py>,
    model: &Model,
    x: &Bound<'py, PyAny>,
    n_alphas: usize,
    run_options: RunOptionsTuple,
) -> PyResult<Alphas<'py>> {
    let input = model.input(x)?;
    let (dtype, model, wanted) = (input.dtype(), model.inner.clone(), model.wanted());
    let ((alphas, numbers), notices) = call(py, run_options.into(), dtype, None, move |run| {
        let (rows, notices) = input.rows(wanted, run)?;
        let mut sink = VecSink(Vec::new());
        let alphas = unmix::with_rows!(&rows, rows => {
            model.path(rows, n_alphas, run, &mut sink)?
        });
        Ok(((alphas, sink.0), notices))
    })?;
    warn(py, &notices)?;
    let width = 4 * alphas.len();
    let shape = [numbers.len() / width.max(1), width];
    Ok((PyArray1::from_vec(py, alphas), PyArray1::from_vec(py, numbers).reshape(shape)?))
}

/// The duality gap of every code `z` of a row `x` by `atoms`, for a penalty of `alpha`.
#[pyfunction]
pub(crate) fn lasso_gap<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f64>,
    z: PyReadonlyArray2<'py, f64>,
    atoms: PyReadonlyArray2<'py, f64>,
    alpha: f64,
    positive: bool,
) -> Bound<'py, PyArray1<f64>> {
    let owned = |a: &PyReadonlyArray2<'py, f64>| a.as_array().iter().copied().collect::<Vec<f64>>();
    let (m, p) = atoms.as_array().dim();
    let (x, z, atoms) = (owned(&x), owned(&z), unmix::Matrix::from_vec(m, p, owned(&atoms)));
    let gaps = py.detach(|| unmix::internal::sparse::lasso_gap(&x, &z, &atoms, (alpha, positive)));
    PyArray1::from_vec(py, gaps)
}
