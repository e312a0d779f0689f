//! Maximum likelihood with rows as a random sample: the Gaussian of probabilistic PCA, fitted by
//! expectation-maximisation to the observed cells.
//!
//! Columns have means, rows have no offsets. Parameters have no posterior errors: their contribution to the standard errors of imputed
//! cells comes from refits.

use super::cells::Cells;
use super::variational::{Sizes, State, VariationalResult};
use super::{METHOD, MatrixCompletion};
use crate::data::{RawArray, Rows, Sparse};
use crate::error::{Error, Result};
use crate::machine::check_memory;
use crate::method::ppca::{Algorithm, Problem};
use crate::num::Real;
use crate::run::Run;
use crate::stats::gaps::{LinePosteriors, Precision, triangle};

impl MatrixCompletion {
    /// Refuses a model without mean.
    pub(super) fn check_likelihood(&self) -> Result<()> {
        if !self.offsets {
            let why = "algorithm='ppca-em' estimates the mean of every column";
            let remedy = "leave offsets at true, or choose another algorithm";
            return Err(Error::setting("offsets", false, why, remedy));
        }
        Ok(())
    }

    /// The Gaussian with the largest likelihood, its warnings, and the number of sweeps.
    pub(super) fn likeliest<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        cells: &Cells,
        run: &Run<'_>,
    ) -> Result<(VariationalResult, Vec<String>, u64)> {
        let problem = Problem {
            method: &METHOD,
            n_components: self.n_components,
            groups: None,
            blocks: false,
            algorithm: Algorithm::Em,
            noise_floor: 0.0,
            tol: self.tol,
            max_iter: self.max_iter,
            standardize: false,
        };
        let (found, report) = match rows.sparse() {
            None => problem.of_cells(rows, run)?,
            Some(sparse) => {
                let dense = filled_in(sparse)?;
                let source = RawArray::borrowed(&dense, sparse.n_features())?;
                let mut with_gaps = Rows::<T>::new(source, rows.features().clone(), rows.origin());
                with_gaps.accept_missing(METHOD.accepts.missing);
                problem.of_cells(&with_gaps, run)?
            }
        };
        let (k, p) = (found.axes.rows(), found.mean.len());
        let long = |a: usize| (found.variance[a] - found.noise).max(0.0).sqrt() / cells.unit;
        let loading = |a: usize, j: usize| long(a) * found.axes[(a, j)];
        let size: Vec<f64> =
            (0..k).map(|a| (0..p).map(|j| loading(a, j).powi(2)).sum::<f64>() / p as f64).collect();
        let mut table = Vec::with_capacity(p * LinePosteriors::width(k + 1));
        for j in 0..p {
            table.extend((0..k).map(|a| loading(a, j) / size[a].max(f64::MIN_POSITIVE).sqrt()));
            table.push((found.mean[j] - cells.centre) / cells.unit);
            table.extend(std::iter::repeat_n(0.0, triangle(k + 1) + 2));
        }
        let noise = found.noise / cells.unit / cells.unit;
        let state = State {
            columns: LinePosteriors::new(k + 1, table),
            sizes: Sizes { factors: size, offsets: Some((0.0, 1.0)), noise },
            residual: report.residual.unwrap_or(f64::INFINITY),
            shares: Vec::new(),
            ridge: Some(vec![Precision { constant: 1.0, per_cell: 0.0 }; k + 1]),
        };
        let (outcome, n_iter, objective) = (report.outcome, report.n_iter, report.objective);
        Ok((VariationalResult { state, outcome, n_iter, objective }, report.warnings, report.sweeps))
    }
}

/// Dense rows with the stored entries as cells, NaN elsewhere.
fn filled_in<T: Real>(sparse: &Sparse<'_, T>) -> Result<Vec<T>> {
    let (n, p) = (sparse.n_rows(), sparse.n_features());
    let bytes = (n as u64).saturating_mul(p as u64).saturating_mul(size_of::<T>() as u64);
    check_memory(
        &format!("a dense copy of {n} x {p} cells"),
        bytes,
        "choose algorithm='als', which needs no dense copy of the rows",
    )?;
    let mut out = vec![T::from_f64(f64::NAN); n * p];
    for i in 0..n {
        let (columns, values) = sparse.row(i);
        columns.iter().zip(values).for_each(|(&j, x)| out[i * p + j as usize] = *x);
    }
    Ok(out)
}
