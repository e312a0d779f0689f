//! A denoising autoencoder as a learner: corrupted rows, and the gradient of a batch.

use super::products::{SLICE, add, column_sums, least_parts, left_transposed};
use super::weights::{LayerWeights, bounded};
use crate::data::Batch;
use crate::error::Result;
use crate::learn::{Learner, Updates};
use crate::num::random::Stream;
use crate::num::{Real, draws, kernel, widest};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// How rows are corrupted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Noise {
    /// Entries are replaced by the mean of their column, each with the same probability (Vincent et al. 2008).
    #[default]
    Mask,
    /// Normal noise is added to every entry.
    Gaussian,
}

/// The corruption of rows. Its draws depend on the seed, the epoch, the row and the column alone, not on batches.
#[derive(Clone, Copy, Debug)]
pub struct Corruption {
    /// The kind of noise.
    pub noise: Noise,
    /// Probability that an entry is masked, or standard deviation of the normal noise.
    pub size: f64,
    /// Seed of the draws.
    pub seed: u64,
    /// Number of rows of an epoch.
    pub n_rows: u64,
}

/// Random stream of the corruption.
const CORRUPTED: u64 = 0x6461_6531;

impl Corruption {
    /// Writes the corrupted row `x`, number `row`, of epoch `epoch` into `out`. Constant columns get no normal noise.
    pub(super) fn apply<T: Real>(&self, epoch: u64, row: u64, x: &[T], varies: &[bool], out: &mut [T]) {
        if self.size == 0.0 {
            return out.copy_from_slice(x);
        }
        let (draws, number) =
            (Stream::new(self.seed, CORRUPTED), epoch.wrapping_mul(self.n_rows).wrapping_add(row));
        match self.noise {
            Noise::Mask => draws::mask(draws, number.wrapping_mul(x.len() as u64), self.size, x, out),
            Noise::Gaussian => {
                out.copy_from_slice(x);
                let first = number.wrapping_mul(draws::draws_of_normal(x.len()));
                draws::add_normal(draws, first, self.size, varies, out);
            }
        }
    }
}

/// Options of the training.
#[derive(Clone, Debug)]
pub struct DenoisingTraining {
    /// The corruption of the rows.
    pub corruption: Corruption,
    /// Whether each column varies; the weights of others are 0.
    pub varies: Vec<bool>,
    /// The learning rate, for messages.
    pub learning_rate: f64,
}

/// A denoising autoencoder in training, and buffers of one step. Rows have mean 0, and mean square 1 in each column or over all columns.
pub struct DenoisingLearner<T: Real> {
    how: DenoisingTraining,
    gradient: LayerWeights<T>,
    /// Corrupted rows, codes, residuals and gradients with respect to pre-activations.
    noisy: Vec<T>,
    codes: Vec<T>,
    residual: Vec<T>,
    back: Vec<T>,
    losses: Vec<f64>,
    scratch: Vec<T>,
}

impl<T: Real> DenoisingLearner<T> {
    /// For weights of the same sizes as `like`.
    pub fn new(how: DenoisingTraining, like: &LayerWeights<T>) -> Self {
        let empty = Vec::new;
        let scratch = if like.decoder.is_empty() { like.encoder.clone() } else { Vec::new() };
        Self {
            how,
            gradient: like.clone(),
            noisy: empty(),
            codes: empty(),
            residual: empty(),
            back: empty(),
            losses: Vec::new(),
            scratch,
        }
    }

    /// Half the gradient of the mean loss of the last batch.
    pub fn half_gradient(&self) -> &LayerWeights<T> {
        &self.gradient
    }

    /// Codes of the corrupted rows, residuals divided by the number of rows, and gradients with respect to pre-activations; returns
    /// the mean loss.
    fn pass(&mut self, weights: &LayerWeights<T>, batch: &Batch<'_, T>) -> f64 {
        let (m, p, n) = (weights.n_units(), weights.n_features(), batch.rows.len());
        for (buffer, width) in
            [(&mut self.noisy, p), (&mut self.residual, p), (&mut self.codes, m), (&mut self.back, m)]
        {
            buffer.resize(n * width, T::default());
        }
        self.losses.resize(n.div_ceil(SLICE), 0.0);
        let how = &self.how;
        let rows = self.noisy.par_chunks_mut(SLICE * p).zip(self.residual.par_chunks_mut(SLICE * p));
        let units = self.codes.par_chunks_mut(SLICE * m).zip(self.back.par_chunks_mut(SLICE * m));
        let given = batch.x.par_chunks(SLICE * p).zip(batch.rows.par_chunks(SLICE));
        let slices = rows.zip(units).zip(given).zip(self.losses.par_iter_mut());
        let least = least_parts(3 * n * m * p);
        slices.with_min_len(least).for_each(|((((noisy, residual), (codes, back)), (x, numbers)), loss)| {
            let each = noisy.chunks_exact_mut(p).zip(x.chunks_exact(p)).zip(numbers);
            let epoch = batch.position.epoch;
            each.for_each(|((out, x), row)| how.corruption.apply(epoch, *row, x, &how.varies, out));
            *loss = slice(weights, x, n, Buffers { noisy, codes, residual, back });
        });
        self.losses.iter().sum::<f64>() / n as f64
    }
}

/// Buffers of a slice of rows.
struct Buffers<'b, T> {
    noisy: &'b [T],
    codes: &'b mut [T],
    residual: &'b mut [T],
    back: &'b mut [T],
}

/// The pass over the rows `x` of a batch of `n`; returns the sum of their losses.
fn slice<T: Real>(weights: &LayerWeights<T>, x: &[T], n: usize, to: Buffers<'_, T>) -> f64 {
    let (m, p, zero) = (weights.n_units(), weights.n_features(), T::default());
    let (rows, share, tied) = (x.len() / p, T::from_f64(1.0 / n as f64), weights.decoder.is_empty());
    kernel::product(to.codes, to.noisy, &weights.encoder, rows, p, m);
    widest(
        #[inline(always)]
        || {
            for row in to.codes.chunks_exact_mut(m) {
                for (u, b) in row.iter_mut().zip(&weights.bias) {
                    let sum = *u + *b;
                    *u = if sum > zero { sum } else { zero };
                }
            }
        },
    );
    match tied {
        true => kernel::product_by_rows(to.residual, to.codes, &weights.encoder, rows, p, m),
        false => kernel::product(to.residual, to.codes, &weights.decoder, rows, m, p),
    }
    let mut loss = 0.0;
    for (residual, x) in to.residual.chunks_exact_mut(p).zip(x.chunks_exact(p)) {
        for ((e, c), x) in residual.iter_mut().zip(&weights.offset).zip(x) {
            *e = *e + *c - *x;
        }
        loss += kernel::sum_of_squares(residual);
        residual.iter_mut().for_each(|e| *e *= share);
    }
    match tied {
        true => kernel::product(to.back, to.residual, &weights.encoder, rows, p, m),
        false => kernel::product_by_rows(to.back, to.residual, &weights.decoder, rows, m, p),
    }
    let inactive = to.back.iter_mut().zip(&*to.codes).filter(|(_, h)| **h == zero);
    inactive.for_each(|(g, _)| *g = zero);
    loss
}

impl<T: Real> Learner<T> for DenoisingLearner<T> {
    type State = LayerWeights<T>;

    const TIMES: f64 = 2.0;

    fn gradient(&mut self, state: &mut Self::State, batch: &Batch<'_, T>) -> Result<Option<f64>> {
        let (m, p, n) = (state.n_units(), state.n_features(), batch.rows.len());
        let loss = self.pass(state, batch);
        let to = &mut self.gradient;
        left_transposed(&mut to.encoder, &self.noisy, &self.back, n, p, m);
        match state.decoder.is_empty() {
            true => {
                left_transposed(&mut self.scratch, &self.residual, &self.codes, n, p, m);
                add(&mut to.encoder, &self.scratch);
            }
            false => left_transposed(&mut to.decoder, &self.codes, &self.residual, n, m, p),
        }
        column_sums(&mut to.bias, &self.back, m);
        column_sums(&mut to.offset, &self.residual, p);
        bounded(loss, p as f64, self.how.learning_rate, batch.position.epoch)
    }

    fn parameters(&mut self, state: &mut Self::State, updates: &mut Updates<'_, T>) {
        let by = &self.gradient;
        updates.take(&mut state.encoder, &by.encoder);
        updates.take(&mut state.bias, &by.bias);
        if !state.decoder.is_empty() {
            updates.take(&mut state.decoder, &by.decoder);
        }
        updates.take(&mut state.offset, &by.offset);
    }
}
