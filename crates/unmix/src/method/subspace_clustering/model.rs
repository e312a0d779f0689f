//! The model of the clusters, and its encoder: distances to the subspaces.

use super::mixture::Part;
use super::table::squared_distances;
use crate::data::Workspace;
use crate::error::{Error, Result};
use crate::model::{Code, Codes, Encoder, Gaussian, Mixture, RowMap, Tensor, Tensors, require};
use crate::num::{Dtype, Matrix, Real, factor};
use serde_json::{Map, Value};

/// The tensors of the model file; `parts` are those of a mixture, in the same order.
pub(super) fn parameters(
    bases: &[Matrix<f64>],
    parts: Option<&[Part]>,
    labels: &[usize],
    center: &[f64],
    dtype: Dtype,
) -> Tensors {
    let rows: Vec<f64> = bases.iter().flat_map(|b| b.as_slice()).copied().collect();
    let stacked = Matrix::from_vec(bases.iter().map(Matrix::rows).sum(), center.len(), rows);
    let as_numbers = |of: &mut dyn Iterator<Item = usize>| of.map(|i| i as f64).collect::<Vec<f64>>();
    let dimensions = as_numbers(&mut bases.iter().map(Matrix::rows));
    let named = [
        ("bases", Tensor::matrix(&stacked, dtype)),
        ("dimensions", Tensor::vector(&dimensions, Dtype::F64)),
        ("labels", Tensor::vector(&as_numbers(&mut labels.iter().copied()), Dtype::F64)),
        ("mean", Tensor::vector(center, dtype)),
    ];
    let own = parts.map(|parts| {
        let of = |number: fn(&Part) -> f64| parts.iter().map(number).collect::<Vec<f64>>();
        let variance: Vec<f64> = parts.iter().flat_map(|part| part.variance.clone()).collect();
        let mean = |k: usize, j: usize| parts[k].mean[j] + center[j];
        [
            ("weights", Tensor::vector(&of(|part| part.weight), Dtype::F64)),
            ("means", Tensor::matrix(&Matrix::from_fn(parts.len(), center.len(), mean), dtype)),
            ("variances", Tensor::vector(&variance, Dtype::F64)),
            ("noise_variance", Tensor::vector(&of(|part| part.noise), Dtype::F64)),
        ]
    });
    let all = named.into_iter().chain(own.into_iter().flatten());
    all.map(|(name, tensor)| (name.to_string(), tensor)).collect()
}

/// The encoder, which computes the distances of rows to every subspace.
pub(super) fn code(_: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    let stacked = require(tensors, "bases", &[None, None])?;
    let p = stacked.shape()[1];
    let dimensions = require(tensors, "dimensions", &[None])?.f64s();
    let mean = require(tensors, "mean", &[Some(p)])?;
    let whole = |d: &f64| *d >= 0.0 && d.fract() == 0.0 && *d <= p as f64;
    let sum: f64 = dimensions.iter().sum();
    if dimensions.is_empty() || !dimensions.iter().all(whole) || sum != stacked.shape()[0] as f64 {
        return Err(Error::corrupt_model(format!(
            "it has {} basis vectors for dimensions {dimensions:?}",
            stacked.shape()[0]
        )));
    }
    let all = stacked.to_matrix();
    let single = stacked.values().dtype() == Dtype::F32;
    let mut first = 0;
    let bases = dimensions.iter().map(|d| {
        let basis = all.rows_from(first).top_rows(*d as usize);
        first += *d as usize;
        // Axes stored in single precision are orthonormal only up to its precision.
        if single && basis.rows() > 0 { factor::orthonormal_rows_signed(&basis) } else { basis }
    });
    let bases: Vec<Matrix<f64>> = bases.collect();
    let mixture = mixture(tensors, &bases)?;
    let center = match &mixture {
        Some(mixture) => mixture.parts.iter().map(|part| part.mean.clone()).collect(),
        None => vec![mean.f64s(); bases.len()],
    };
    Ok(Code::encoder_only(Distances { p, center, bases, mixture }))
}

/// The mixture, if the model has one.
fn mixture(tensors: &Tensors, bases: &[Matrix<f64>]) -> Result<Option<Mixture>> {
    let (k, d) = (bases.len(), bases.iter().map(Matrix::rows).sum());
    if !tensors.contains_key("weights") {
        return Ok(None);
    }
    let weights = require(tensors, "weights", &[Some(k)])?.f64s();
    let means = require(tensors, "means", &[Some(k), None])?.to_matrix();
    let variances = require(tensors, "variances", &[Some(d)])?.f64s();
    let noises = require(tensors, "noise_variance", &[Some(k)])?.f64s();
    let mut first = 0;
    let parts = bases.iter().enumerate().map(|(c, axes)| {
        let variance = variances[first..first + axes.rows()].to_vec();
        first += axes.rows();
        Gaussian {
            mean: means.row(c).to_vec(),
            noise_scale: None,
            axes: axes.clone(),
            variance,
            noise: noises[c],
        }
    });
    Ok(Some(Mixture { parts: parts.collect(), weights }))
}

/// `||x - m_k - U_k' U_k (x - m_k)||` for every subspace.
#[derive(Clone, Debug)]
struct Distances {
    p: usize,
    /// `m_k`; the same for all subspaces unless there is a mixture.
    center: Vec<Vec<f64>>,
    bases: Vec<Matrix<f64>>,
    mixture: Option<Mixture>,
}

impl Encoder for Distances {
    fn n_features(&self) -> usize {
        self.p
    }

    fn n_codes(&self) -> usize {
        self.bases.len()
    }

    fn codes(&self) -> Codes {
        Codes { non_negative: true, distances: true, ..Codes::default() }
    }

    fn mixture(&self) -> Option<&Mixture> {
        self.mixture.as_ref()
    }

    fn in_f32(&self) -> Box<dyn RowMap<f32>> {
        Box::new(self.clone())
    }

    fn in_f64(&self) -> Box<dyn RowMap<f64>> {
        Box::new(self.clone())
    }
}

impl<T: Real> RowMap<T> for Distances {
    fn apply(&self, rows: &[T], out: &mut [T], _: &mut Workspace<T>) {
        let k = self.bases.len();
        let own = self.mixture.is_some();
        // If all subspaces have the same centre, rows are centred once.
        for (c, basis) in self.bases.iter().enumerate().take(if own { k } else { k.min(1) }) {
            let (wide, scales) = centred(rows, &self.center[c]);
            let bases = if own { std::slice::from_ref(basis) } else { &self.bases[..] };
            let mut squares = vec![0.0; scales.len() * bases.len()];
            squared_distances(&wide, bases, &mut squares);
            for (at, square) in squares.iter().enumerate() {
                let (i, l) = (at / bases.len(), at % bases.len());
                out[i * k + c + l] = T::from_f64(square.sqrt() * scales[i]);
            }
        }
    }
}

/// Rows minus `center`, each divided by a scale such that squares neither overflow nor underflow; and these scales.
fn centred<T: Real>(rows: &[T], center: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let p = center.len();
    let mut wide = Vec::with_capacity(rows.len());
    let mut scales = Vec::with_capacity(rows.len() / p.max(1));
    for row in rows.chunks_exact(p) {
        wide.extend(row.iter().zip(center).map(|(x, m)| x.to_f64() - m));
        let last = wide.len() - p;
        let largest = wide[last..].iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let scale = if (1e-100..1e100).contains(&largest) || largest == 0.0 { 1.0 } else { largest };
        if scale != 1.0 {
            wide[last..].iter_mut().for_each(|x| *x /= scale);
        }
        scales.push(scale);
    }
    (wide, scales)
}
