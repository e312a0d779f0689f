//! From posteriors to the tensors of a model, and from these to codes.

use super::cells::Cells;
use super::soft::PathPoint;
use super::unseen;
use super::variational::State;
use crate::data::Workspace;
use crate::error::{Error, Result};
use crate::model::{
    Code, Codes, Encoder, LinearDecoder, LinearParameters, RowMap, Tensor, Tensors, require, sign_of,
};
use crate::num::{Matrix, Real};
use crate::run::Run;
use crate::stats::gaps::{Conditional, LinePosteriors, LinearGaussian, Precision, Unseen, triangle};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Factors whose size is below this fraction of that of the first one are dropped.
const LEAST_SIZE: f64 = 1e-4;

impl Cells {
    /// The factors that the cells support, each with the sign by which its loadings become canonical.
    pub(super) fn supported(&self, at: &State) -> Vec<(usize, f64)> {
        let g = &at.sizes.factors;
        // Penalised least squares keep all requested factors except those at the level of rounding errors.
        let least = if at.ridge.is_some() { self.dtype.eps() } else { LEAST_SIZE };
        let kept = (0..g.len()).filter(|a| g[*a] >= least * g[0] && g[*a] > 1e-300);
        let sign = |a: usize| {
            let line: Vec<f64> = (0..at.columns.len()).map(|j| at.columns.mean(j)[a]).collect();
            sign_of(&line, self.dtype.eps())
        };
        kept.map(|a| (a, sign(a))).collect()
    }

    /// The state reduced to these factors.
    pub(super) fn reduced(&self, at: &State, kept: &[(usize, f64)]) -> State {
        let mut sizes = at.sizes.clone();
        sizes.factors = kept.iter().map(|(a, _)| at.sizes.factors[*a]).collect();
        let mut selected = kept.to_vec();
        if sizes.offsets.is_some() {
            selected.push((at.sizes.factors.len(), 1.0));
        }
        let ridge = at.ridge.as_ref().map(|prior| selected.iter().map(|(a, _)| prior[*a]).collect());
        State {
            columns: at.columns.chosen(&selected),
            sizes,
            residual: at.residual,
            shares: Vec::new(),
            ridge,
        }
    }

    /// The tensors of the model file, in the units of the cells; if parameters were `penalised`, with the moments of lines without cells.
    ///
    /// # Errors
    ///
    /// A stop that was requested.
    pub(super) fn tensors(
        &self,
        at: &State,
        (path, penalised): (Option<&[PathPoint]>, bool),
        run: &Run<'_>,
    ) -> Result<Tensors> {
        let rows = self.rows_beside(at, run)?;
        let (k, dtype) = (at.sizes.factors.len(), self.dtype);
        let (of_rows, of_columns) = at.sizes.offsets.unwrap_or((0.0, 0.0));
        let root: Vec<f64> = at.sizes.factors.iter().map(|g| g.sqrt() * self.unit).collect();
        let (n, p) = self.shape();
        let components = Matrix::from_fn(k, p, |a, j| root[a] * at.columns.mean(j)[a]);
        let codes = Matrix::from_fn(n, k, |i, a| rows.mean(i)[a]);
        let offset = |posteriors: &LinePosteriors, i: usize, sd: f64| {
            posteriors.mean(i).get(k).map_or(0.0, |x| sd * self.unit * x)
        };
        let mean: Vec<f64> = (0..p).map(|j| self.centre + offset(&at.columns, j, of_columns)).collect();
        let row_offsets: Vec<f64> = (0..n).map(|i| offset(&rows, i, of_rows)).collect();
        let noise = (at.sizes.noise * self.unit * self.unit).max(dtype.least());
        let variance: Vec<f64> = (0..k).map(|a| components.row(a).iter().map(|v| v * v).sum()).collect();
        let described = LinearParameters {
            components: &components,
            mean: &mean,
            decoder: None,
            axes: None,
            scale: None,
            noise_scale: None,
            second_rotation: None,
        };
        // With penalised least squares the prior of the rows is that of the penalty.
        let prior = at.ridge.as_ref().map(|prior| {
            let each = |a: usize, b: usize| if b == 0 { prior[a].constant } else { prior[a].per_cell };
            ("row_prior", Tensor::matrix(&Matrix::from_fn(prior.len(), 2, each), dtype))
        });
        let own = [
            ("noise_variance", Tensor::scalar(noise, dtype)),
            ("component_variance", Tensor::vector(&variance, dtype)),
            ("row_codes", Tensor::matrix(&codes, dtype)),
            ("row_offsets", Tensor::vector(&row_offsets, dtype)),
            ("row_offset_scale", Tensor::scalar(of_rows * self.unit, dtype)),
        ];
        let errors = self.errors(at, &rows, penalised);
        let path = path.map(|path| {
            let each = |t: usize, c: usize| [path[t].alpha, path[t].rank as f64, path[t].held_out][c];
            ("path", Tensor::matrix(&Matrix::from_fn(path.len(), 3, each), dtype))
        });
        Ok(described.tensors(dtype, own.into_iter().chain(prior).chain(errors).chain(path)))
    }

    /// The covariances of the parameters of both sides, as tensors. Where parameters were penalised, columns with cells have none, and lines
    /// without cells vary as those with cells do.
    fn errors(&self, at: &State, rows: &LinePosteriors, penalised: bool) -> Vec<(&'static str, Tensor)> {
        let (of_rows, of_columns) = at.sizes.offsets.unwrap_or((0.0, 0.0));
        let offset = |sd: f64| at.sizes.offsets.map(|_| sd * self.unit);
        let row_scale: Vec<f64> = at.sizes.factors.iter().map(|_| 1.0).chain(offset(of_rows)).collect();
        let root = at.sizes.factors.iter().map(|g| g.sqrt() * self.unit);
        let column_scale: Vec<f64> = root.chain(offset(of_columns)).collect();
        let mut row_errors = scaled(rows, &row_scale);
        let mut out = Vec::new();
        if at.ridge.is_none() {
            out.push(("column_errors", Tensor::matrix(&scaled(&at.columns, &column_scale), self.dtype)));
        }
        if penalised && !row_scale.is_empty() {
            let found = self.unseen(at, rows);
            let row = unseen::scaled(&found.row, &row_scale);
            let empty = (0..rows.len()).filter(|i| self.by_row.row(*i).0.is_empty());
            empty.for_each(|i| row_errors.row_mut(i).copy_from_slice(&row));
            out.push(("unseen_row_errors", Tensor::vector(&row, self.dtype)));
            if self.of_column.contains(&0) {
                let column = unseen::scaled(&found.column, &column_scale);
                let own = |j: usize, a: usize| if self.of_column[j] == 0 { column[a] } else { 0.0 };
                let table = Matrix::from_fn(self.of_column.len(), column.len(), own);
                out.push(("column_errors", Tensor::matrix(&table, self.dtype)));
            }
        }
        out.push(("row_errors", Tensor::matrix(&row_errors, self.dtype)));
        out
    }
}

/// Posterior covariances of the factors and the offset of each line, multiplied by `scale`: lower triangles as rows.
fn scaled(posteriors: &LinePosteriors, scale: &[f64]) -> Matrix<f64> {
    let mut out = Vec::with_capacity(posteriors.len() * triangle(scale.len()));
    for i in 0..posteriors.len() {
        let v = posteriors.covariance(i);
        for a in 0..scale.len() {
            out.extend((0..=a).map(|b| scale[a] * scale[b] * v[triangle(a) + b]));
        }
    }
    Matrix::from_vec(posteriors.len(), triangle(scale.len()), out)
}

/// Encoder: posterior means of the factors of a row given the columns of the fit. Decoder: rows from factors.
pub(super) fn code(_: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    let components = require(tensors, "components", &[None, None])?.to_matrix();
    let (k, p) = (components.rows(), components.cols());
    let mean = require(tensors, "mean", &[Some(p)])?;
    let noise = require(tensors, "noise_variance", &[])?.f64s()[0];
    let scale = require(tensors, "row_offset_scale", &[])?.f64s()[0];
    if noise.is_nan() || noise <= 0.0 || scale < 0.0 {
        return Err(Error::corrupt_model(format!(
            "its noise variance is {noise}, and the scale of its row offsets {scale}"
        )));
    }
    if let Some(prior) = tensors.get("row_prior") {
        let prior = prior.to_matrix();
        let q = prior.rows();
        if !(q == k || q == k + 1) || prior.cols() != 2 {
            return Err(Error::corrupt_model(format!("its row_prior has {q} rows for {k} factors")));
        }
        let loadings = Matrix::from_fn(p, q, |j, a| if a < k { components[(a, j)] } else { scale });
        let density = LinearGaussian::new(mean.f64s(), loadings, vec![noise; p]);
        let prior = (0..q).map(|a| Precision { constant: prior[(a, 0)], per_cell: prior[(a, 1)] }).collect();
        let conditional = Conditional::new(density).with_prior(prior);
        let conditional = Arc::new(match unseen_of(tensors, (k, q), scale)? {
            Some(unseen) => conditional.with_unseen(unseen),
            None => conditional,
        });
        return Code::new(Completer { conditional, k }, LinearDecoder::new(mean.clone(), components));
    }
    let errors = require(tensors, "column_errors", &[Some(p), None])?.to_matrix();
    let offsets = match errors.cols() {
        w if w == triangle(k + 1) => true,
        w if w == triangle(k) => false,
        w => return Err(Error::corrupt_model(format!("its column_errors have {w} numbers for {k} factors"))),
    };
    let q = k + usize::from(offsets);
    let mut covariances = Vec::with_capacity(p * triangle(q + 1));
    for j in 0..p {
        let own = errors.row(j);
        covariances.extend_from_slice(&own[..triangle(k)]);
        covariances.extend(std::iter::repeat_n(0.0, if offsets { k + 1 } else { 0 }));
        match offsets {
            true => {
                covariances.extend_from_slice(&own[triangle(k)..triangle(k) + k]);
                covariances.extend([0.0, own[triangle(k) + k]]);
            }
            false => covariances.extend(std::iter::repeat_n(0.0, k + 1)),
        }
    }
    let loadings = Matrix::from_fn(p, q, |j, a| if a < k { components[(a, j)] } else { scale });
    let density = LinearGaussian::new(mean.f64s(), loadings, vec![noise; p]);
    let encoder = Completer { conditional: Arc::new(Conditional::with_errors(density, covariances, 1)), k };
    Code::new(encoder, LinearDecoder::new(mean.clone(), components))
}

/// The moments of rows and columns without cells, in the units of the factors; `None` of a model whose parameters were not penalised.
fn unseen_of(tensors: &Tensors, (k, q): (usize, usize), scale: f64) -> Result<Option<Unseen>> {
    if !tensors.contains_key("unseen_row_errors") {
        return Ok(None);
    }
    let row = require(tensors, "unseen_row_errors", &[Some(triangle(q))])?.f64s();
    let over = if scale > 0.0 { 1.0 / scale } else { 0.0 };
    let units: Vec<f64> = (0..q).map(|a| if a < k { 1.0 } else { over }).collect();
    let row = unseen::scaled(&row, &units);
    let p = require(tensors, "mean", &[None])?.shape()[0];
    let (mut column, mut columns) = (vec![0.0; triangle(q + 1)], vec![false; p]);
    if tensors.contains_key("column_errors") {
        let errors = require(tensors, "column_errors", &[Some(p), Some(triangle(q))])?.to_matrix();
        columns.iter_mut().enumerate().for_each(|(j, c)| *c = errors.row(j).iter().any(|x| *x != 0.0));
        if let Some(j) = columns.iter().position(|unseen| *unseen) {
            let own = errors.row(j);
            column[..triangle(k)].copy_from_slice(&own[..triangle(k)]);
            if q > k {
                // The offset of the row has a known loading: between the factors and the mean there is a line of zeros.
                let last = triangle(q);
                column[last..last + k].copy_from_slice(&own[triangle(k)..triangle(k) + k]);
                column[last + q] = own[triangle(k) + k];
            }
        }
    }
    Ok(Some(Unseen { row, column, columns }))
}

/// `E[a | x]` of the factors of a row, whose offset is treated as an additional factor.
#[derive(Clone, Debug)]
struct Completer {
    conditional: Arc<Conditional>,
    k: usize,
}

impl Completer {
    fn map<T: Real>(&self) -> Box<dyn RowMap<T>> {
        Box::new(self.clone())
    }
}

impl Encoder for Completer {
    fn n_features(&self) -> usize {
        self.conditional.model().n_features()
    }

    fn n_codes(&self) -> usize {
        self.k
    }

    fn codes(&self) -> Codes {
        Codes { missing: true, stored: true, ..Codes::default() }
    }

    fn in_f32(&self) -> Box<dyn RowMap<f32>> {
        self.map()
    }

    fn in_f64(&self) -> Box<dyn RowMap<f64>> {
        self.map()
    }

    fn of_cells(&self, columns: &[u32], values: &[f64], out: &mut [f64]) {
        let mut line = vec![0.0; LinePosteriors::width(self.conditional.model().n_factors())];
        self.conditional.of_line(columns, values, false, &mut line);
        out.copy_from_slice(&line[..self.k]);
    }

    fn gaussian(&self) -> Option<&Conditional> {
        Some(&self.conditional)
    }
}

impl<T: Real> RowMap<T> for Completer {
    fn apply(&self, rows: &[T], out: &mut [T], _: &mut Workspace<T>) {
        let q = self.conditional.model().n_factors();
        if self.k == 0 {
            return;
        }
        let means = self.conditional.posteriors(rows).means;
        for (out, z) in out.chunks_exact_mut(self.k).zip(means.chunks_exact(q)) {
            out.iter_mut().zip(z).for_each(|(to, z)| *to = T::from_f64(*z));
        }
    }
}
