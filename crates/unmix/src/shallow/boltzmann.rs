//! A restricted Boltzmann machine as a learner: contrastive divergence.
//!
//! ```text
//! E(x, h) = ||x - c||² / 2 - b' h - h' W x                 x in R^p, h in {0, 1}^m
//! -dlog p(x)/dW ~ P(h | x_t) x_t' - P(h | x) x'            x_t: t steps of Gibbs sampling from x
//! ```

use super::products::{SLICE, column_sums, least_parts, left_transposed};
use super::weights::{LayerWeights, bounded};
use crate::data::Batch;
use crate::error::Result;
use crate::learn::{Learner, Updates};
use crate::num::random::Stream;
use crate::num::{Real, draws, kernel, tanh};
use rayon::prelude::*;

/// Random streams of hidden and of visible units.
const HIDDEN: u64 = 0x7262_6d31;
const VISIBLE: u64 = 0x7262_6d32;

/// Options of the training.
#[derive(Clone, Debug)]
pub struct BoltzmannTraining {
    /// Number of steps of Gibbs sampling.
    pub n_steps: usize,
    /// Seed of the draws, which depend on it, the epoch, the row, the step and the unit alone, not on batches.
    pub seed: u64,
    /// Number of rows of an epoch.
    pub n_rows: u64,
    /// Whether each column varies; the weights of others are 0.
    pub varies: Vec<bool>,
    /// The learning rate, for messages.
    pub learning_rate: f64,
}

impl BoltzmannTraining {
    /// The first number of the draws of a row in a step, which are `width` in number.
    fn first(&self, epoch: u64, row: u64, step: usize, width: u64) -> u64 {
        let row = epoch.wrapping_mul(self.n_rows).wrapping_add(row);
        row.wrapping_mul(self.n_steps as u64).wrapping_add(step as u64).wrapping_mul(width)
    }
}

/// A restricted Boltzmann machine in training, and buffers of one step. Rows have mean 0 and variance 1 by columns. Its weights are tied:
/// the encoder holds `W'`, `bias` that of the hidden and `offset` that of the visible units.
pub struct BoltzmannLearner<T: Real> {
    how: BoltzmannTraining,
    gradient: LayerWeights<T>,
    /// Probabilities of the hidden units given the rows, and given the end of the chain.
    given: Vec<T>,
    ended: Vec<T>,
    hidden: Vec<T>,
    /// The visible units at the end of the chain.
    visible: Vec<T>,
    losses: Vec<f64>,
    scratch: LayerWeights<T>,
}

impl<T: Real> BoltzmannLearner<T> {
    /// For weights of the same sizes as `like`.
    pub fn new(how: BoltzmannTraining, like: &LayerWeights<T>) -> Self {
        let empty = Vec::new;
        Self {
            how,
            gradient: like.clone(),
            given: empty(),
            ended: empty(),
            hidden: empty(),
            visible: empty(),
            losses: Vec::new(),
            scratch: like.clone(),
        }
    }

    /// The estimate, by contrastive divergence, of the gradient of the mean negative log-likelihood of the last batch.
    pub fn estimate(&self) -> &LayerWeights<T> {
        &self.gradient
    }

    /// Runs the chains of a batch; returns the mean squared error of the means of their first step.
    fn chains(&mut self, weights: &LayerWeights<T>, batch: &Batch<'_, T>) -> f64 {
        let (m, p, n) = (weights.n_units(), weights.n_features(), batch.rows.len());
        for (buffer, width) in
            [(&mut self.given, m), (&mut self.ended, m), (&mut self.hidden, m), (&mut self.visible, p)]
        {
            buffer.resize(n * width, T::default());
        }
        self.losses.resize(n.div_ceil(SLICE), 0.0);
        let (how, epoch) = (&self.how, batch.position.epoch);
        let units = self.given.par_chunks_mut(SLICE * m).zip(self.ended.par_chunks_mut(SLICE * m));
        let drawn = self.hidden.par_chunks_mut(SLICE * m).zip(self.visible.par_chunks_mut(SLICE * p));
        let rows = batch.x.par_chunks(SLICE * p).zip(batch.rows.par_chunks(SLICE));
        let slices = units.zip(drawn).zip(rows).zip(self.losses.par_iter_mut());
        let least = least_parts((1 + 2 * how.n_steps) * n * m * p);
        slices.with_min_len(least).for_each(|((((given, ended), (hidden, visible)), (x, numbers)), loss)| {
            *loss = chain(how, weights, (epoch, numbers, x), Buffers { given, ended, hidden, visible });
        });
        self.losses.iter().sum::<f64>() / n as f64
    }
}

/// Buffers of a slice of rows.
struct Buffers<'b, T> {
    given: &'b mut [T],
    ended: &'b mut [T],
    hidden: &'b mut [T],
    visible: &'b mut [T],
}

/// The chains of the rows `x`, which have these numbers in this epoch; returns the sum of their squared errors.
fn chain<T: Real>(
    how: &BoltzmannTraining,
    weights: &LayerWeights<T>,
    (epoch, numbers, x): (u64, &[u64], &[T]),
    to: Buffers<'_, T>,
) -> f64 {
    let (m, p, n) = (weights.n_units(), weights.n_features(), numbers.len());
    let (of_hidden, of_visible) = (Stream::new(how.seed, HIDDEN), Stream::new(how.seed, VISIBLE));
    probabilities(weights, x, to.given);
    let mut loss = 0.0;
    for step in 0..how.n_steps {
        let probabilities_now = if step == 0 { &*to.given } else { &*to.ended };
        let each = to.hidden.chunks_exact_mut(m).zip(probabilities_now.chunks_exact(m)).zip(numbers);
        each.for_each(|((h, of), row)| {
            draws::bernoulli(of_hidden, how.first(epoch, *row, step, m as u64), of, h)
        });
        kernel::product_by_rows(to.visible, to.hidden, &weights.encoder, n, p, m);
        for ((v, x), row) in to.visible.chunks_exact_mut(p).zip(x.chunks_exact(p)).zip(numbers) {
            v.iter_mut().zip(&weights.offset).for_each(|(v, c)| *v += *c);
            if step == 0 {
                loss += v.iter().zip(x).map(|(v, x)| (v.to_f64() - x.to_f64()).powi(2)).sum::<f64>();
            }
            // Columns that do not vary have no noise.
            draws::add_normal(
                of_visible,
                how.first(epoch, *row, step, draws::draws_of_normal(p)),
                1.0,
                &how.varies,
                v,
            );
        }
        probabilities(weights, to.visible, to.ended);
    }
    loss
}

/// `P(h = 1 | x)` of every row: `s(t) = (1 + tanh(t / 2)) / 2`.
fn probabilities<T: Real>(weights: &LayerWeights<T>, x: &[T], to: &mut [T]) {
    let (m, p, half) = (weights.n_units(), weights.n_features(), T::from_f64(0.5));
    kernel::product(to, x, &weights.encoder, x.len() / p, p, m);
    for row in to.chunks_exact_mut(m) {
        row.iter_mut().zip(&weights.bias).for_each(|(t, b)| *t = half * (*t + *b));
        tanh::tanh(row);
        row.iter_mut().for_each(|t| *t = half + half * *t);
    }
}

/// `out = (end - begin) / n`.
fn difference<T: Real>(out: &mut [T], end: &[T], begin: &[T], n: usize) {
    let by = T::from_f64(1.0 / n as f64);
    out.iter_mut().zip(end).zip(begin).for_each(|((to, a), b)| *to = by * (*a - *b));
}

impl<T: Real> Learner<T> for BoltzmannLearner<T> {
    type State = LayerWeights<T>;

    fn gradient(&mut self, state: &mut Self::State, batch: &Batch<'_, T>) -> Result<Option<f64>> {
        let (m, p, n) = (state.n_units(), state.n_features(), batch.rows.len());
        let loss = self.chains(state, batch);
        let (to, end) = (&mut self.gradient, &mut self.scratch);
        left_transposed(&mut end.encoder, &self.visible, &self.ended, n, p, m);
        // The buffer of the result holds what is subtracted.
        let mut begin = std::mem::take(&mut to.encoder);
        left_transposed(&mut begin, batch.x, &self.given, n, p, m);
        let by = T::from_f64(1.0 / n as f64);
        begin.iter_mut().zip(&end.encoder).for_each(|(b, e)| *b = by * (*e - *b));
        to.encoder = begin;
        let mut sums = vec![T::default(); m.max(p)];
        column_sums(&mut end.bias, &self.ended, m);
        column_sums(&mut sums[..m], &self.given, m);
        difference(&mut to.bias, &end.bias, &sums[..m], n);
        column_sums(&mut end.offset, &self.visible, p);
        column_sums(&mut sums[..p], batch.x, p);
        difference(&mut to.offset, &end.offset, &sums[..p], n);
        bounded(loss, p as f64, self.how.learning_rate, batch.position.epoch)
    }

    fn parameters(&mut self, state: &mut Self::State, updates: &mut Updates<'_, T>) {
        let by = &self.gradient;
        updates.descend(&mut state.encoder, &by.encoder);
        updates.descend(&mut state.bias, &by.bias);
        updates.descend(&mut state.offset, &by.offset);
    }
}
