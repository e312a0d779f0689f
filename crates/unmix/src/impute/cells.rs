//! Predicted values of cells of the rows that a matrix completion was fitted to: single cells, and all of them.

use super::known;
use crate::data::Triplets;
use crate::error::{Error, Result, counted};
use crate::machine::check_memory;
use crate::model::{Model, Tensor};
use crate::num::{Dtype, Matrix, Real, Values, fill, threads};
use crate::run::Run;
use crate::stats::gaps::{Conditional, LinePosteriors, triangle};

/// The posteriors of the rows of a fit, which the model stores.
struct FittedRows<'m> {
    conditional: &'m Conditional,
    dtype: Dtype,
    codes: Matrix<f64>,
    offsets: Vec<f64>,
    /// Covariances of codes and offset: lower triangles, one a row.
    errors: Matrix<f64>,
    scale: f64,
}

impl<'m> FittedRows<'m> {
    fn of(model: &'m Model, request: &str) -> Result<Self> {
        let tensor = |name: &str| model.tensor(name).ok_or(());
        let parts = || -> std::result::Result<_, ()> {
            let (codes, offsets) = (tensor("row_codes")?, tensor("row_offsets")?);
            Ok((codes, offsets, tensor("row_errors")?, tensor("row_offset_scale")?))
        };
        let (codes, offsets, errors, scale) = parts().map_err(|()| {
            Error::unsupported(
                format!("{request} by the {} model", model.method().key),
                "it does not store the rows that it was fitted to",
                "fit matrix-completion, or impute the cells of given rows",
            )
            .of_method(model.method().key)
        })?;
        let (n, k) = (offsets.shape().first().copied().unwrap_or(0), model.n_components());
        let [codes, errors] = [codes, errors].map(Tensor::to_matrix);
        let conditional = model.conditional()?;
        let width = triangle(conditional.model().n_factors());
        let fits = codes.as_slice().len() == n * k && errors.as_slice().len() == n * width;
        let (true, Some(scale)) = (fits, scale.f64s().first().copied()) else {
            return Err(Error::unsupported(
                request,
                "the shapes of row_codes, row_offsets, row_errors and row_offset_scale do not agree",
                "the file is corrupt: fit the model again",
            ));
        };
        Ok(Self { conditional, dtype: model.dtype(), codes, offsets: offsets.f64s(), errors, scale })
    }

    /// Numbers of rows and of columns.
    fn shape(&self) -> (usize, usize) {
        (self.offsets.len(), self.conditional.model().n_features())
    }

    /// Posterior mean of the factors of row `i`, its offset among them in units of its prior standard deviation.
    fn factors(&self, i: usize) -> Vec<f64> {
        let (k, q) = (self.codes.cols(), self.conditional.model().n_factors());
        let mut z = if k > 0 { self.codes.row(i).to_vec() } else { Vec::new() };
        if q > k {
            z.push(if self.scale > 0.0 { self.offsets[i] / self.scale } else { 0.0 });
        }
        z
    }

    fn value(&self, z: &[f64], j: usize) -> f64 {
        let model = self.conditional.model();
        let w = &model.loadings[j * z.len()..(j + 1) * z.len()];
        model.mean[j] + w.iter().zip(z).map(|(w, z)| w * z).sum::<f64>()
    }

    /// Standard error of a new observation of cell `i, j`.
    fn std(&self, i: usize, j: usize, z: &[f64]) -> f64 {
        let (k, q) = (self.codes.cols(), z.len());
        let mut covariance = self.errors.row(i).to_vec();
        if q > k {
            let last = &mut covariance[triangle(k)..];
            let over = if self.scale > 0.0 { 1.0 / self.scale } else { 0.0 };
            last.iter_mut().for_each(|c| *c *= over);
            last[k] *= over;
        }
        self.conditional.cell_variance(j, z, &covariance).max(0.0).sqrt()
    }
}

/// The note that [`predict_cells`] and [`fill_cells`] treat the parameters of `model` as known in standard errors, because they have no rows to
/// resample; `None` if the model stores the errors of its parameters, which are then included.
pub fn note_on_errors(model: &Model) -> Option<String> {
    let without = model.conditional().is_ok_and(|conditional| !conditional.has_errors());
    without
        .then(|| known("single cells are predicted without the rows of the fit, which refits would resample"))
}

/// Predicted values of cells, each given by row and column, of the rows that a completion was fitted to, and if `std` the standard error of
/// a new observation of each (otherwise an empty list). `O(k)` a cell, `O(k²)` with errors.
///
/// # Errors
///
/// A model that does not store the rows of its fit; a cell outside them.
pub fn predict_cells(model: &Model, cells: &[(u64, u64)], std: bool) -> Result<(Vec<f64>, Vec<f64>)> {
    let rows = FittedRows::of(model, "predicting cells")?;
    let (n, p) = rows.shape();
    let (mut values, mut errors) = (Vec::with_capacity(cells.len()), Vec::new());
    for (at, &(i, j)) in cells.iter().enumerate() {
        if i >= n as u64 || j >= p as u64 {
            let (rows, columns) = (counted(n as u64, "row"), counted(p as u64, "column"));
            let why = format!("cell {at} is outside the matrix of the fit, which has {rows} and {columns}");
            let remedy = "rows and columns are counted from 0; cells of other rows are filled in a table of these rows, in which they are NaN or empty";
            return Err(Error::setting("cells", format!("({i}, {j})"), why, remedy));
        }
        let (i, j) = (i as usize, j as usize);
        let z = rows.factors(i);
        values.push(rows.value(&z, j));
        if std {
            errors.push(rows.std(i, j, &z));
        }
    }
    Ok((values, errors))
}

/// The values of the cells of a list, and if `std` the standard error of a new observation of each (otherwise an empty list), 0 for known
/// values. Cells of known value define the rows, which may differ from those of the fit, and are returned unchanged; cells without a value
/// (NaN) are predicted from the known cells of their row. A list of row and column indices alone refers to the rows of the fit. `O(cells k² + rows k³)`.
///
/// # Errors
///
/// Those of [`predict_cells`]; a model that takes no lists of cells; a cell that is listed twice; a column index out of range.
pub fn fill_cells<T: Real>(model: &Model, list: &Triplets<T>, std: bool) -> Result<(Vec<f64>, Vec<f64>)> {
    let Some(known) = &list.values else { return predict_cells(model, &list.cells, std) };
    let conditional = model.conditional()?;
    if !model.code().codes().stored {
        return Err(Error::unsupported(
            format!("filling a list of cells by the {} model", model.method().key),
            "it takes rows with missing cells, not lists of cells",
            "give rows in which cells are missing, or fit matrix-completion",
        )
        .of_method(model.method().key));
    }
    let rows = list.rows(Some(model.n_features()))?;
    let q = conditional.model().n_factors();
    let mut order: Vec<usize> = (0..known.len()).collect();
    order.sort_by_key(|at| list.cells[*at]);
    let (mut values, mut errors) = (vec![0.0; known.len()], vec![0.0; if std { known.len() } else { 0 }]);
    let mut line = LinePosteriors::new(q, vec![0.0; LinePosteriors::width(q)]);
    for row in order.chunk_by(|a, b| list.cells[*a].0 == list.cells[*b].0) {
        let i = list.cells[row[0]].0 as usize;
        if let Some(sparse) = rows.sparse() {
            let (columns, numbers) = sparse.row(i);
            let numbers: Vec<f64> = numbers.iter().map(|x| x.to_f64()).collect();
            let mut own = vec![0.0; LinePosteriors::width(q)];
            conditional.of_line(columns, &numbers, false, &mut own);
            line = LinePosteriors::new(q, own);
        }
        for &at in row {
            let (x, j) = (known[at].to_f64(), list.cells[at].1 as usize);
            if !x.is_nan() {
                values[at] = x;
                continue;
            }
            let (z, w) = (line.mean(0), &conditional.model().loadings[j * q..(j + 1) * q]);
            values[at] = conditional.model().mean[j] + w.iter().zip(z).map(|(w, z)| w * z).sum::<f64>();
            if std {
                errors[at] = conditional.cell_variance(j, z, line.covariance(0)).max(0.0).sqrt();
            }
        }
    }
    Ok((values, errors))
}

/// Predicted values of all cells of the rows that a completion was fitted to: a row-major matrix of the type of the fit, and its number of
/// columns. `O(n p k)`.
///
/// # Errors
///
/// A model that does not store the rows of its fit; a matrix that does not fit into memory.
pub fn completed(model: &Model, run: &Run<'_>) -> Result<(Values, usize)> {
    let rows = FittedRows::of(model, "the completed matrix")?;
    let (n, p) = rows.shape();
    let size = match rows.dtype {
        Dtype::F32 => 4,
        Dtype::F64 => 8,
    };
    let bytes = (n as u64).saturating_mul(p as u64).saturating_mul(size);
    let what = format!("the completed matrix of {n} rows and {p} columns");
    check_memory(&what, bytes, "predict the cells that are needed, or impute some of the rows at a time")?;
    let pace = |_: f64| run.check();
    let values = match rows.dtype {
        Dtype::F32 => {
            let mut out = vec![0.0f32; n * p];
            let line = |i: usize, out: &mut [f32]| {
                let z = rows.factors(i);
                out.iter_mut().enumerate().for_each(|(j, to)| *to = rows.value(&z, j) as f32);
            };
            threads::on_pool(run.threads, || fill(run.threads, n * p, &pace, &mut out, p.max(1), line))?;
            Values::F32(out)
        }
        Dtype::F64 => {
            let mut out = vec![0.0f64; n * p];
            let line = |i: usize, out: &mut [f64]| {
                let z = rows.factors(i);
                out.iter_mut().enumerate().for_each(|(j, to)| *to = rows.value(&z, j));
            };
            threads::on_pool(run.threads, || fill(run.threads, n * p, &pace, &mut out, p.max(1), line))?;
            Values::F64(out)
        }
    };
    Ok((values, p))
}
