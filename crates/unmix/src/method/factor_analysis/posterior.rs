//! Codes and likelihood of a model that was fitted with a prior.

use super::row_bound::RowBound;
use super::settings::{FactorAnalysis, FactorPrior};
use crate::data::Workspace;
use crate::error::{Error, Result};
use crate::model::{
    Certificate, Code, Codes, Encoder, Gaussian, LinearDecoder, PosteriorMean, RowMap, Tensor, Tensors,
    require,
};
use crate::num::factor::{self, Cholesky};
use crate::num::{Dtype, Matrix, Real};
use serde_json::{Map, Value};
use std::marker::PhantomData;
use std::sync::Arc;

/// Maximum number of rounds over the factors of a row.
const MOST_ROUNDS: usize = 2000;

/// Parameters of the model: `scaled` are the loadings divided by the noise scale of their column, `q x p`, `decoder` the loadings.
struct Parameters {
    mean: Tensor,
    noise: Vec<f64>,
    scaled: Matrix<f64>,
    decoder: Matrix<f64>,
}

fn parameters(tensors: &Tensors) -> Result<Parameters> {
    let mixing = require(tensors, "mixing", &[None, None])?;
    let (p, q) = (mixing.shape()[0], mixing.shape()[1]);
    let mean = require(tensors, "mean", &[Some(p)])?.clone();
    let noise = require(tensors, "noise_scale", &[Some(p)])?.f64s();
    let decoder = Matrix::from_vec(p, q, mixing.f64s()).transposed();
    // Loadings are 0 in columns that do not vary.
    let noise: Vec<f64> = noise.into_iter().map(|s| if s > 0.0 { s } else { 1.0 }).collect();
    let scaled = Matrix::from_fn(q, p, |j, i| decoder[(j, i)] / noise[i]);
    Ok(Parameters { mean, noise, scaled, decoder })
}

/// Encoder: posterior means. Decoder: the loadings.
pub(super) fn code(settings: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    let prior = FactorAnalysis::from_settings(settings)?.prior;
    let Parameters { mean, noise, scaled, decoder } = parameters(tensors)?;
    let decoding = LinearDecoder::new(mean.clone(), decoder);
    let (q, p) = (scaled.rows(), scaled.cols());
    if prior.of_factors() {
        let over = Matrix::from_fn(q, p, |j, i| scaled[(j, i)] / noise[i]);
        let (bound, dtype) = (RowBound::new(&scaled, prior), mean.values().dtype());
        let encoder = SparsePosterior {
            mean: mean.f64s().into(),
            over: over.into(),
            bound: bound.into(),
            prior,
            dtype,
        };
        return Code::new(encoder, decoding);
    }
    let mut inner = factor::multiply_transposed(&scaled, &scaled);
    (0..q).for_each(|j| inner[(j, j)] += 1.0);
    let what = "the factorisation of the precision of the factors";
    let solved = Cholesky::new(&inner).ok_or(Error::Factorisation { what })?.solve_rows(&scaled.transposed());
    let encoder = Matrix::from_fn(p, q, |i, j| solved[(i, j)] / noise[i]);
    let loadings = Matrix::from_fn(p, q, |i, j| scaled[(j, i)] * noise[i]);
    let density = crate::stats::gaps::LinearGaussian::new(mean.f64s(), loadings, noise_variance(tensors, p)?);
    Code::new(PosteriorMean::new(mean, encoder, density), decoding)
}

/// Variances of the noise of columns in the units of the rows.
fn noise_variance(tensors: &Tensors, p: usize) -> Result<Vec<f64>> {
    Ok(require(tensors, "noise_scale", &[Some(p)])?.f64s().into_iter().map(|s| s * s).collect())
}

/// The Gaussian of the rows where the loadings have a prior.
pub(super) fn density(tensors: &Tensors) -> Result<Gaussian> {
    if tensors.contains_key("factor_variance") {
        return Err(Error::unsupported(
            "a Gaussian density of the rows under a prior of the factors",
            "their likelihood is an integral without closed form, of which the fit maximises a bound",
            "compare the objective of reports, or choose prior='laplace-loadings' or 'none'",
        )
        .of_method(super::METHOD.key));
    }
    let Parameters { mean, scaled, .. } = parameters(tensors)?;
    let p = scaled.cols();
    let (singular, axes) = match scaled.rows() {
        0 => (Vec::new(), Matrix::zeros(0, p)),
        q if q < p => {
            let (axes, triangle) = factor::orthonormal_rows_and_triangle(&scaled);
            let (singular, right) = factor::svd_right(&triangle)?;
            (singular, factor::multiply(&right, &axes))
        }
        _ => factor::svd_right(&scaled)?,
    };
    let kept = singular.iter().take_while(|s| 1.0 + **s * **s > 1.0).count();
    Ok(Gaussian {
        mean: mean.f64s(),
        noise_scale: Some(require(tensors, "noise_scale", &[Some(p)])?.f64s()),
        axes: axes.top_rows(kept),
        variance: singular[..kept].iter().map(|s| 1.0 + s * s).collect(),
        noise: 1.0,
    })
}

/// Posterior means of factors with a Laplace or a Jeffreys prior: rounds over the factors of every row, from variances of 1.
#[derive(Clone, Debug)]
struct SparsePosterior {
    mean: Arc<[f64]>,
    /// `Psi^-1 W`, as rows: `q x p`.
    over: Arc<Matrix<f64>>,
    bound: Arc<RowBound>,
    prior: FactorPrior,
    /// Type of the fit.
    dtype: Dtype,
}

impl SparsePosterior {
    fn tol(&self) -> f64 {
        match self.dtype {
            Dtype::F64 => 1e-8,
            Dtype::F32 => 1e-5,
        }
    }

    /// The code of a row, and the largest change of an entry in the last round, as a fraction of the largest entry.
    fn solve(&self, row: &[f64]) -> Result<(Vec<f64>, f64)> {
        let q = self.over.rows();
        let b: Vec<f64> = (0..q)
            .map(|j| self.over.row(j).iter().zip(row).zip(&*self.mean).map(|((w, x), m)| w * (x - m)).sum())
            .collect();
        let mut at = self.bound.posterior(&b, vec![1.0; q])?;
        let mut moved = f64::INFINITY;
        for _ in 0..MOST_ROUNDS {
            let before = at.mean.clone();
            self.bound.round(&b, &mut at);
            at = self.bound.posterior(&b, at.prior_variance)?;
            let largest = at.mean.iter().chain(&before).fold(0.0f64, |m, x| m.max(x.abs()));
            let step = at.mean.iter().zip(&before).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
            moved = if largest > 0.0 { step / largest } else { 0.0 };
            if moved <= self.tol() {
                break;
            }
        }
        Ok((at.mean, moved))
    }

    fn map<T: Real>(&self) -> Box<dyn RowMap<T>> {
        Box::new(RowSolver { posterior: self.clone(), numbers: PhantomData })
    }
}

impl Encoder for SparsePosterior {
    fn n_features(&self) -> usize {
        self.over.cols()
    }

    fn n_codes(&self) -> usize {
        self.over.rows()
    }

    fn codes(&self) -> Codes {
        Codes { sparse: self.prior == FactorPrior::Jeffreys, ..Codes::default() }
    }

    fn certificate(&self) -> Option<Certificate> {
        Some(Certificate { name: "relative change of the code in a round", tol: self.tol() })
    }

    fn in_f32(&self) -> Box<dyn RowMap<f32>> {
        self.map()
    }

    fn in_f64(&self) -> Box<dyn RowMap<f64>> {
        self.map()
    }
}

struct RowSolver<T> {
    posterior: SparsePosterior,
    numbers: PhantomData<fn(T)>,
}

impl<T: Real> RowMap<T> for RowSolver<T> {
    fn apply(&self, rows: &[T], out: &mut [T], work: &mut Workspace<T>) {
        let mut gaps = vec![0.0; rows.len() / self.posterior.over.cols().max(1)];
        self.certified(rows, out, &mut gaps, work);
    }

    fn certified(&self, rows: &[T], out: &mut [T], gaps: &mut [f64], _: &mut Workspace<T>) {
        let (q, p) = (self.posterior.over.rows(), self.posterior.over.cols());
        for (i, (row, gap)) in rows.chunks_exact(p).zip(gaps).enumerate() {
            let row: Vec<f64> = row.iter().map(|x| x.to_f64()).collect();
            let out = &mut out[i * q..(i + 1) * q];
            match self.posterior.solve(&row) {
                Ok((code, moved)) => {
                    out.iter_mut().zip(&code).for_each(|(to, z)| *to = T::from_f64(*z));
                    *gap = moved;
                }
                // Rows whose squares overflow.
                Err(_) => {
                    out.fill(T::default());
                    *gap = f64::NAN;
                }
            }
        }
    }
}
