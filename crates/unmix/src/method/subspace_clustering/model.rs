//! From clusters to a model, and from a model's parameters to its codes: distances from the subspaces.

use super::table::squared_distances;
use crate::data::Workspace;
use crate::error::{Error, Result};
use crate::model::{Code, Codes, Encoder, RowMap, Tensor, Tensors, require};
use crate::num::{Dtype, Matrix, Real, factor};
use serde_json::{Map, Value};

/// The tensors of the model file.
pub(super) fn parameters(bases: &[Matrix<f64>], labels: &[usize], center: &[f64], dtype: Dtype) -> Tensors {
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
    named.into_iter().map(|(name, tensor)| (name.to_string(), tensor)).collect()
}

/// Distances of rows from every subspace.
pub(super) fn code(_: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    let stacked = require(tensors, "bases", &[None, None])?;
    let p = stacked.shape()[1];
    let dimensions = require(tensors, "dimensions", &[None])?.f64s();
    let mean = require(tensors, "mean", &[Some(p)])?;
    let whole = |d: &f64| *d >= 0.0 && d.fract() == 0.0 && *d <= p as f64;
    let sum: f64 = dimensions.iter().sum();
    if dimensions.is_empty() || !dimensions.iter().all(whole) || sum != stacked.shape()[0] as f64 {
        return Err(Error::Unsupported {
            asked: "using this model".into(),
            found: format!("it has {} basis vectors for dimensions {dimensions:?}", stacked.shape()[0]),
            remedy: "the file is corrupt: fit the model again".into(),
        });
    }
    let all = stacked.to_matrix();
    let single = stacked.values().dtype() == Dtype::F32;
    let mut first = 0;
    let bases = dimensions.iter().map(|d| {
        let basis = all.rows_from(first).top_rows(*d as usize);
        first += *d as usize;
        // Stored in single precision, axes are orthonormal to its digits alone.
        if single && basis.rows() > 0 { factor::orthonormal_rows_signed(&basis) } else { basis }
    });
    let bases = bases.collect();
    Ok(Code::encoder_only(Distances { center: mean.f64s(), bases }))
}

/// `||x - center - U_k' U_k (x - center)||` for every subspace.
#[derive(Clone, Debug)]
struct Distances {
    center: Vec<f64>,
    bases: Vec<Matrix<f64>>,
}

impl Encoder for Distances {
    fn n_features(&self) -> usize {
        self.center.len()
    }

    fn n_codes(&self) -> usize {
        self.bases.len()
    }

    fn codes(&self) -> Codes {
        Codes { non_negative: true, ..Codes::default() }
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
        let (p, k) = (self.center.len(), self.bases.len());
        let mut wide = Vec::with_capacity(rows.len());
        let mut scales = Vec::with_capacity(rows.len() / p.max(1));
        for row in rows.chunks_exact(p) {
            let centred = row.iter().zip(&self.center).map(|(x, m)| x.to_f64() - m);
            wide.extend(centred);
            let last = wide.len() - p;
            // So that no square overflows, nor vanishes.
            let largest = wide[last..].iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let scale = if (1e-100..1e100).contains(&largest) || largest == 0.0 { 1.0 } else { largest };
            if scale != 1.0 {
                wide[last..].iter_mut().for_each(|x| *x /= scale);
            }
            scales.push(scale);
        }
        let mut squares = vec![0.0; out.len()];
        squared_distances(&wide, &self.bases, &mut squares);
        for (at, to) in out.iter_mut().enumerate() {
            *to = T::from_f64(squares[at].sqrt() * scales[at / k]);
        }
    }
}
