//! Codes that are posterior means of a linear-Gaussian model: of complete rows by one matrix, of incomplete rows given their observed
//! cells.

use super::affine::LinearEncoder;
use super::code::{Codes, Encoder, RowMap};
use super::tensor::Tensor;
use super::{Gaussian, Model};
use crate::data::{Rows, Sink, Workspace};
use crate::error::{Error, Needed, Result};
use crate::num::random::Stream;
use crate::num::{Block, Matrix, Real, factor, kernel};
use crate::run::Run;
use crate::stats::gaps::{Conditional, LinearGaussian, Pattern, Posteriors, symmetric, triangle};
use std::sync::Arc;

/// `E[z | x]` under `x = mean + W z + e`, where NaN is a missing cell. Complete rows are encoded as `(x - mean) B`, with the bits of
/// any linear encoder.
#[derive(Clone, Debug)]
pub struct PosteriorMean {
    whole: LinearEncoder,
    conditional: Arc<Conditional>,
    /// Matrix, `k x k`, that multiplies posterior means from the right, if codes are not the factors of the model.
    rotation: Option<Arc<Matrix<f64>>>,
    /// The number of factors with non-zero loadings, if codes are weighted least-squares estimates instead of posterior means.
    unshrunk: Option<usize>,
}

impl PosteriorMean {
    /// The encoder for the model `density`, whose posterior means for complete rows are `(x - mean) matrix`; `matrix` is
    /// `n_features x n_codes`.
    pub fn new(mean: Tensor, matrix: Matrix<f64>, density: LinearGaussian) -> Self {
        Self {
            whole: LinearEncoder::new(mean, matrix),
            conditional: Arc::new(Conditional::new(density)),
            rotation: None,
            unshrunk: None,
        }
    }

    /// The same with codes `z rotation`; `rotation` is `n_factors x n_codes`, invertible but not orthogonal for correlated factors.
    pub fn rotated(self, rotation: Matrix<f64>) -> Self {
        Self { rotation: Some(Arc::new(rotation)), ..self }
    }

    /// The same with weighted least-squares codes (Bartlett 1937), for a model in which `factors` factors have non-zero loadings: the
    /// shrinkage of posterior means by the prior is undone. Rows need an observed cell for each of these factors.
    pub(crate) fn unshrunk(self, factors: usize) -> Self {
        Self { unshrunk: Some(factors), ..self }
    }

    fn map<T: Real>(&self, whole: Box<dyn RowMap<T>>) -> Box<dyn RowMap<T>> {
        let (p, k) = (self.whole.n_features(), self.whole.n_codes());
        Box::new(Map {
            whole,
            conditional: self.conditional.clone(),
            rotation: self.rotation.clone(),
            unshrunk: self.unshrunk.is_some(),
            p,
            k,
        })
    }
}

impl Encoder for PosteriorMean {
    fn n_features(&self) -> usize {
        self.whole.n_features()
    }

    fn n_codes(&self) -> usize {
        self.whole.n_codes()
    }

    fn codes(&self) -> Codes {
        Codes { missing: true, ..Codes::default() }
    }

    fn in_f32(&self) -> Box<dyn RowMap<f32>> {
        self.map(self.whole.in_f32())
    }

    fn in_f64(&self) -> Box<dyn RowMap<f64>> {
        self.map(self.whole.in_f64())
    }

    fn linear(&self) -> Option<(&Tensor, &Matrix<f64>)> {
        self.whole.linear()
    }

    fn gaussian(&self) -> Option<&Conditional> {
        Some(&self.conditional)
    }

    fn rotation(&self) -> Option<&Matrix<f64>> {
        self.rotation.as_deref()
    }

    fn least_cells(&self) -> usize {
        self.unshrunk.unwrap_or(0)
    }
}

/// Weighted least-squares estimates from posterior means: `(I - V)^-1 z`, in the directions that the observed cells of a row
/// determine.
fn unshrink(found: &mut Posteriors) {
    let n = found.pattern.len();
    let k = found.means.len() / n.max(1);
    let maps: Vec<Option<Matrix<f64>>> = found
        .patterns
        .iter()
        .map(|pattern| {
            let v = &pattern.covariance;
            let covariance = symmetric(k, |i, j| v[triangle(i) + j]);
            let (values, vectors) = factor::eigh(&covariance).ok()?;
            let left = |v: f64| if 1.0 - v > 1e-12 { 1.0 / (1.0 - v) } else { 0.0 };
            let scaled = Matrix::from_fn(k, k, |i, j| vectors[(i, j)] * left(values[i]));
            Some(factor::multiply(&scaled.transposed(), &vectors))
        })
        .collect();
    for (z, pattern) in found.means.chunks_exact_mut(k).zip(&found.pattern) {
        let Some(map) = &maps[*pattern] else { continue };
        let out: Vec<f64> = (0..k).map(|i| map.row(i).iter().zip(&*z).map(|(a, b)| a * b).sum()).collect();
        z.copy_from_slice(&out);
    }
}

/// Posteriors of `z rotation`.
fn rotated(rotation: &Matrix<f64>, means: &mut [f64], patterns: &mut [Pattern]) {
    let k = rotation.rows();
    for z in means.chunks_exact_mut(k.max(1)) {
        let out: Vec<f64> = (0..k).map(|b| (0..k).map(|a| z[a] * rotation[(a, b)]).sum()).collect();
        z.copy_from_slice(&out);
    }
    for pattern in patterns {
        let v = symmetric(k, |i, j| pattern.covariance[triangle(i) + j]);
        let out = factor::multiply(&factor::multiply(&rotation.transposed(), &v), rotation);
        (0..k).for_each(|i| (0..=i).for_each(|j| pattern.covariance[triangle(i) + j] = out[(i, j)]));
    }
}

struct Map<T> {
    whole: Box<dyn RowMap<T>>,
    conditional: Arc<Conditional>,
    rotation: Option<Arc<Matrix<f64>>>,
    unshrunk: bool,
    p: usize,
    k: usize,
}

impl<T: Real> RowMap<T> for Map<T> {
    fn apply(&self, rows: &[T], out: &mut [T], work: &mut Workspace<T>) {
        // Rows are independent: incomplete ones get NaN here, and their codes below.
        self.whole.apply(rows, out, work);
        let (with_gaps, numbers) = gaps_of(rows, self.p);
        if with_gaps.is_empty() || self.k == 0 {
            return;
        }
        let mut found = self.conditional.posteriors(&numbers);
        if self.unshrunk {
            unshrink(&mut found);
        }
        let mut codes = found.means;
        if let Some(rotation) = &self.rotation {
            let mut rotated = vec![0.0; with_gaps.len() * self.k];
            kernel::product(
                &mut rotated,
                &codes,
                rotation.as_slice(),
                with_gaps.len(),
                rotation.rows(),
                self.k,
            );
            codes = rotated;
        }
        for (&i, code) in with_gaps.iter().zip(codes.chunks_exact(self.k)) {
            let out = &mut out[i * self.k..(i + 1) * self.k];
            out.iter_mut().zip(code).for_each(|(to, z)| *to = T::from_f64(*z));
        }
    }
}

/// Indices of the incomplete rows, and these rows.
fn gaps_of<T: Real>(rows: &[T], p: usize) -> (Vec<usize>, Vec<T>) {
    let (mut with_gaps, mut numbers) = (Vec::new(), Vec::new());
    for (i, row) in rows.chunks_exact(p).enumerate() {
        if row.iter().any(|x| x.to_f64().is_nan()) {
            with_gaps.push(i);
            numbers.extend_from_slice(row);
        }
    }
    (with_gaps, numbers)
}

impl Gaussian {
    /// The same distribution in terms of loadings and noise variances of columns.
    pub fn factors(&self) -> LinearGaussian {
        self.factors_of(self.axes.rows())
    }

    /// [`factors`](Self::factors), padded to `n` factors by factors with zero loadings.
    pub(crate) fn factors_of(&self, n: usize) -> LinearGaussian {
        let (k, p) = (self.axes.rows(), self.axes.cols());
        let unit = |j: usize| self.noise_scale.as_ref().map_or(1.0, |s| s[j]);
        let long = |i: usize| (self.variance[i] - self.noise).max(0.0).sqrt();
        let entry = |j: usize, i: usize| if i < k { long(i) * self.axes[(i, j)] * unit(j) } else { 0.0 };
        let loadings = Matrix::from_fn(p, n.max(k), entry);
        let noise = (0..p).map(|j| self.noise * unit(j) * unit(j)).collect();
        LinearGaussian::new(self.mean.clone(), loadings, noise)
    }

    /// [`log_density`](Self::log_density) of incomplete rows (NaN): the marginal density of their observed cells; 0 for a row
    /// without any.
    pub(super) fn log_density_of_seen<T: Real>(
        &self,
        factors: &Conditional,
        rows: &[T],
        out: &mut [f64],
        work: &mut Workspace<T>,
    ) {
        // Rows are independent: incomplete ones get NaN here.
        self.log_density(rows, out, work);
        let (with_gaps, numbers) = gaps_of(rows, self.axes.cols());
        if !with_gaps.is_empty() {
            let found = factors.posteriors(&numbers).log_density;
            with_gaps.iter().zip(found).for_each(|(&i, log_p)| out[i] = log_p);
        }
    }

    /// `n` random draws of rows, row-major: `n x n_features`. `O(n p k)`.
    pub fn sample(&self, n: usize, seed: u64) -> Vec<f64> {
        let LinearGaussian { mean, loadings, noise } = self.factors();
        let (p, k) = (mean.len(), self.axes.rows());
        let (factors, errors) = (Stream::new(seed, 0), Stream::new(seed, 1));
        let mut out = Vec::with_capacity(n * p);
        for i in 0..n {
            let z: Vec<f64> = (0..k).map(|a| factors.normal((i * k + a) as u64)).collect();
            out.extend((0..p).map(|j| {
                let w = &loadings[j * k..(j + 1) * k];
                let fitted: f64 = w.iter().zip(&z).map(|(w, z)| w * z).sum();
                mean[j] + fitted + noise[j].sqrt() * errors.normal((i * p + j) as u64)
            }));
        }
        out
    }
}

impl Model {
    /// The linear-Gaussian model whose posterior means are the codes, prepared for rows.
    ///
    /// # Errors
    ///
    /// A model whose codes are not posterior means of a Gaussian model, as with a prior of the factors.
    pub fn conditional(&self) -> Result<&Conditional> {
        self.code().encoder().gaussian().ok_or_else(|| {
            Error::unsupported(
                format!("posteriors of the codes of the {} model", self.method().key),
                "its codes are not posterior means of a Gaussian model",
                "encode the rows alone",
            )
            .of_method(self.method().key)
            .needing(Needed::Posteriors)
        })
    }

    /// Posterior mean and covariance of the code of every row given its observed cells: `n_codes` numbers, then
    /// `n_codes x n_codes`, row-major.
    ///
    /// # Errors
    ///
    /// As for [`encode`](Self::encode); a model whose codes are not posterior means.
    pub fn posterior<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        sink: &mut dyn Sink<f64>,
    ) -> Result<u64> {
        let conditional = self.conditional()?;
        self.check_columns("posterior", rows)?;
        let cells = self.cells_of(rows);
        let rows = cells.as_ref().unwrap_or(rows);
        let (k, all) = (self.n_codes(), conditional.model().n_factors());
        let rotation = self.code().encoder().rotation();
        let width = k + k * k;
        let step = |block: Block<'_, T>, out: &mut [f64], _: &mut Workspace<T>| {
            rows.check_infinite("computing posteriors", &block)?;
            let Posteriors { mut means, pattern, mut patterns, .. } = conditional.posteriors(block.data);
            if let Some(rotation) = rotation {
                rotated(rotation, &mut means, &mut patterns);
            }
            for (i, out) in out.chunks_exact_mut(width.max(1)).enumerate() {
                out[..k].copy_from_slice(&means[i * all..i * all + k]);
                let covariance = &patterns[pattern[i]].covariance;
                for a in 0..k {
                    for b in 0..=a {
                        let v = covariance[triangle(a) + b];
                        (out[k + a * k + b], out[k + b * k + a]) = (v, v);
                    }
                }
            }
            Ok(())
        };
        rows.map(run, "posteriors", width, step, sink)
    }
}
