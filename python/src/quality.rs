//! T² and Q of rows, as arrays.

use crate::call::{FactsTuple, call};
use crate::input::{Input, tell};
use crate::model::Model;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use unmix::data::Sink;
use unmix::model::{Parts, Quality};

/// T², Q, and tables of the terms of T² by component, squared cosines, and the terms of Q by column.
type Measured<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
);

/// Deals every row out to tables of these widths.
struct Deal {
    widths: [usize; 5],
    tables: [Vec<f64>; 5],
}

impl Sink<f64> for Deal {
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

/// T² and Q of every row and their parts; those by column have no columns unless `columns` is true.
#[pyfunction]
pub(crate) fn quality<'py>(
    py: Python<'py>,
    model: &Model,
    x: &Bound<'py, PyAny>,
    facts: FactsTuple,
    columns: bool,
) -> PyResult<Measured<'py>> {
    let input = Input::new(x)?;
    let (dtype, cost, model, names) = (input.dtype(), model.cost(&input), model.inner.clone(), model.names());
    let p = if columns { model.n_features() } else { 0 };
    let (dealt, told) = call(py, facts.into(), dtype, cost, move |run| {
        let parts = Parts { components: true, columns };
        // Said before anything is read.
        let k = Quality::of(&model, parts)?.n_components();
        let (rows, told) = input.rows(names, run)?;
        let mut dealt = Deal { widths: [1, 1, k, k, p], tables: Default::default() };
        unmix::with_rows!(&rows, rows => model.quality(rows, parts, run, &mut dealt)?);
        Ok((dealt, told))
    })?;
    tell(py, &told)?;
    let (n, k) = (dealt.tables[0].len(), dealt.widths[2]);
    let [t2, q, shares, cosines, residuals] = dealt.tables;
    let table = |numbers: Vec<f64>, width: usize| PyArray1::from_vec(py, numbers).reshape([n, width]);
    Ok((
        PyArray1::from_vec(py, t2),
        PyArray1::from_vec(py, q),
        table(shares, k)?,
        table(cosines, k)?,
        table(residuals, p)?,
    ))
}
