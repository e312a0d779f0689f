//! The model of the two parts, and its encoder and decoder.

use super::cells::Cells;
use super::l1::{Deviations, GAP_TOL};
use super::stable::OUTLIER_THRESHOLD;
use crate::data::Workspace;
use crate::error::{Error, Result};
use crate::model::{Certificate, Code, Codes, Encoder, LinearDecoder, RowMap, Tensor, Tensors, require};
use crate::num::{Dtype, Matrix, Real, factor};
use serde_json::{Map, Value};

/// The tensors of the model file. `components` are in the units of the data, `noise` is in those of the scaled cells.
pub(super) fn parameters(
    components: &Matrix<f64>,
    singular: &[f64],
    cells: &Cells,
    noise: f64,
    dtype: Dtype,
) -> Tensors {
    let noise_std = match &cells.spread {
        None => Tensor::scalar(noise, dtype),
        Some(spread) => Tensor::vector(&spread.iter().map(|s| noise * s).collect::<Vec<f64>>(), dtype),
    };
    let spread = cells.spread.as_ref().map(|spread| ("spread", Tensor::vector(spread, dtype)));
    let named = [
        ("components", Tensor::matrix(components, dtype)),
        ("mean", Tensor::vector(&cells.center, dtype)),
        ("singular_values", Tensor::vector(singular, dtype)),
        ("noise_std", noise_std),
    ];
    named.into_iter().chain(spread).map(|(name, tensor)| (name.to_string(), tensor)).collect()
}

/// Codes of rows in the row space of the low-rank part, robust to gross errors in some of their cells.
pub(super) fn code(_: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    let components = require(tensors, "components", &[None, None])?;
    let (k, p) = (components.shape()[0], components.shape()[1]);
    let mean = require(tensors, "mean", &[Some(p)])?.clone();
    let spread = match tensors.contains_key("spread") {
        true => Some(require(tensors, "spread", &[Some(p)])?.f64s()),
        false => None,
    };
    let noise = match &spread {
        None => require(tensors, "noise_std", &[])?.f64s()[0],
        Some(spread) => {
            let each = require(tensors, "noise_std", &[Some(p)])?.f64s();
            // The same in all columns up to rounding.
            each.iter().zip(spread).fold(0.0f64, |most, (std, s)| most.max(std / s))
        }
    };
    let valid = spread.iter().flatten().all(|s| *s > 0.0);
    if k > p || noise < 0.0 || !valid {
        return Err(Error::corrupt_model(format!(
            "it has {k} components of {p} features and noise of standard deviation {noise}"
        )));
    }
    let unit = |j: usize| spread.as_ref().map_or(1.0, |s| s[j]);
    let v = components.to_matrix();
    let v = if spread.is_some() { Matrix::from_fn(k, p, |i, j| v[(i, j)] / unit(j)) } else { v };
    // Axes stored in single precision are orthonormal only up to its precision.
    let axes = match (k, components.values().dtype()) {
        (0, _) | (_, Dtype::F64) => v.clone(),
        _ => factor::orthonormal_rows_signed(&v),
    };
    let decoder = match spread.is_some() {
        true => Matrix::from_fn(k, p, |i, j| axes[(i, j)] * unit(j)),
        false => axes.clone(),
    };
    let encoder = Robust { center: mean.f64s(), spread, v: axes, noise };
    Code::new(encoder, LinearDecoder::new(mean, decoder))
}

/// `c` of `min_c ||(x - center) / spread - c V||_1`; with noise, followed by least squares over the cells whose residuals are below 4.5 standard
/// deviations of the noise.
#[derive(Clone, Debug)]
struct Robust {
    center: Vec<f64>,
    /// Divisors of the columns, if they were standardized.
    spread: Option<Vec<f64>>,
    /// `k x p`.
    v: Matrix<f64>,
    noise: f64,
}

impl Robust {
    /// The code of a row, and its duality gap. NaN is a missing cell.
    fn solve(&self, row: &[f64]) -> (Vec<f64>, f64) {
        let mut x: Vec<f64> = row.iter().zip(&self.center).map(|(x, m)| x - m).collect();
        if let Some(spread) = &self.spread {
            x.iter_mut().zip(spread).for_each(|(x, s)| *x /= s);
        }
        if x.iter().all(|x| !x.is_nan()) {
            return self.within(&self.v, &x);
        }
        let observed: Vec<usize> = (0..x.len()).filter(|&j| !x[j].is_nan()).collect();
        let part = Matrix::from_fn(self.v.rows(), observed.len(), |i, a| self.v[(i, observed[a])]);
        let x: Vec<f64> = observed.iter().map(|&j| x[j]).collect();
        let Some(basis) = orthonormalizing(&part) else { return (vec![0.0; self.v.rows()], 0.0) };
        let (code, gap) = self.within(&factor::multiply(&basis, &part), &x);
        let back = |i: usize| code.iter().enumerate().map(|(a, c)| c * basis[(a, i)]).sum();
        ((0..self.v.rows()).map(back).collect(), gap)
    }

    /// The code with respect to orthonormal rows `v`.
    fn within(&self, v: &Matrix<f64>, x: &[f64]) -> (Vec<f64>, f64) {
        if self.noise == 0.0 {
            return Deviations { v, x }.solve();
        }
        let (code, gap) = Deviations { v, x }.solve_noisy();
        if code.is_empty() {
            return (code, gap);
        }
        let left = Deviations { v, x }.residuals(&code);
        let near: Vec<usize> =
            (0..x.len()).filter(|&j| left[j].abs() <= OUTLIER_THRESHOLD * self.noise).collect();
        (least_squares(v, x, &near).unwrap_or(code), gap)
    }
}

/// The least-squares code of the cells `near`, if they determine it.
fn least_squares(v: &Matrix<f64>, x: &[f64], near: &[usize]) -> Option<Vec<f64>> {
    let k = v.rows();
    if near.len() < k {
        return None;
    }
    let kept = Matrix::from_fn(k, near.len(), |a, i| v[(a, near[i])]);
    let gram = factor::multiply_transposed(&kept, &kept);
    let right = Matrix::from_fn(1, k, |_, a| kept.row(a).iter().zip(near).map(|(v, &j)| v * x[j]).sum());
    let (values, _) = factor::eigh(&gram).ok()?;
    // Cells with almost no loading on a direction do not determine the code along it.
    if values.last().is_none_or(|v| *v < 1e-6) {
        return None;
    }
    Some(factor::Cholesky::new(&gram)?.solve_rows(&right).into_vec())
}

/// `W` such that the rows of `W part` are orthonormal and span those of `part`; `None` if this is 0.
fn orthonormalizing(part: &Matrix<f64>) -> Option<Matrix<f64>> {
    if part.cols() == 0 || part.rows() == 0 {
        return None;
    }
    let (values, vectors) = factor::eigh(&factor::multiply_transposed(part, part)).ok()?;
    let kept = values.iter().take_while(|v| **v > 1e-10).count();
    let scaled = |i: usize, j: usize| vectors[(i, j)] / values[i].sqrt();
    (kept > 0).then(|| Matrix::from_fn(kept, part.rows(), scaled))
}

impl Encoder for Robust {
    fn n_features(&self) -> usize {
        self.v.cols()
    }

    fn n_codes(&self) -> usize {
        self.v.rows()
    }

    fn codes(&self) -> Codes {
        Codes { missing: true, ..Codes::default() }
    }

    fn certificate(&self) -> Option<Certificate> {
        Some(Certificate { name: "relative duality gap", tol: GAP_TOL })
    }

    fn in_f32(&self) -> Box<dyn RowMap<f32>> {
        Box::new(self.clone())
    }

    fn in_f64(&self) -> Box<dyn RowMap<f64>> {
        Box::new(self.clone())
    }
}

impl<T: Real> RowMap<T> for Robust {
    fn apply(&self, rows: &[T], out: &mut [T], work: &mut Workspace<T>) {
        let n = rows.len() / self.center.len().max(1);
        self.certified(rows, out, &mut vec![0.0; n], work);
    }

    fn certified(&self, rows: &[T], out: &mut [T], gaps: &mut [f64], _: &mut Workspace<T>) {
        let (p, k) = (self.v.cols(), self.v.rows());
        for (i, (row, gap)) in rows.chunks_exact(p).zip(gaps).enumerate() {
            let wide: Vec<f64> = row.iter().map(|x| x.to_f64()).collect();
            let (code, bound) = self.solve(&wide);
            *gap = bound;
            out[i * k..(i + 1) * k].iter_mut().zip(code).for_each(|(to, c)| *to = T::from_f64(c));
        }
    }
}
