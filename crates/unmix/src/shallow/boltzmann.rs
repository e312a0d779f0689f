//! A restricted Boltzmann machine as a learner: contrastive divergence.
//!
//! ```text
//! E(x, h) = ||x - c||² / 2 - b' h - h' W x                 x in R^p, h in {0, 1}^m
//! -dlog p(x)/dW ~ P(h | x_t) x_t' - P(h | x) x'            x_t: t steps of Gibbs sampling from x
//! ```

use super::weights::{LayerWeights, bounded};
use crate::data::Batch;
use crate::error::Result;
use crate::learn::{Learner, Updates};
use crate::num::parallel;
use crate::num::products::{
    Slices, Weights, add_differences, both, gradient, multiplies_on_two, pack_slice, packs_on_two,
    shifted_distance, slice_rows, total,
};
use crate::num::random::Stream;
use crate::num::{Real, draws, tanh};

/// Random streams of hidden and of visible units.
const HIDDEN_STREAM: u64 = 0x7262_6d31;
const VISIBLE_STREAM: u64 = 0x7262_6d32;

/// Options of the training.
#[derive(Clone, Debug)]
pub(crate) struct BoltzmannTraining {
    /// Number of steps of Gibbs sampling.
    pub(crate) n_steps: usize,
    /// Seed of the draws, which depend on it, the epoch, the row, the step and the unit alone, not on batches.
    pub(crate) seed: u64,
    /// Number of rows of an epoch.
    pub(crate) n_rows: u64,
    /// Whether each column varies; the weights of others are 0.
    pub(crate) varies: Vec<bool>,
    /// The learning rate, for messages.
    pub(crate) learning_rate: f64,
}

impl BoltzmannTraining {
    /// The number of the draws of a row in a step.
    fn draw(&self, epoch: u64, row: u64, step: usize) -> u64 {
        let row = epoch.wrapping_mul(self.n_rows).wrapping_add(row);
        row.wrapping_mul(self.n_steps as u64).wrapping_add(step as u64)
    }
}

/// A restricted Boltzmann machine in training, and buffers of one step. Rows have mean 0 and variance 1 by columns. Its weights are tied:
/// the encoder holds `W'`, `bias` that of the hidden and `offset` that of the visible units.
pub(crate) struct BoltzmannLearner<T: Real> {
    how: BoltzmannTraining,
    /// Standard deviations of the visible units: 0 in columns that do not vary.
    deviations: Vec<T>,
    gradient: LayerWeights<T>,
    /// `W'`, and its transpose.
    up: Weights<T>,
    down: Weights<T>,
    /// Probabilities of the hidden units given the rows, and given the end of the chain; also packed, the first times `-1 / n`, the
    /// second times `1 / n`.
    given: Vec<T>,
    ended: Vec<T>,
    packed: [Slices<T>; 2],
    hidden: Vec<T>,
    /// The visible units at the end of the chain.
    visible: Vec<T>,
    losses: Vec<f64>,
    /// Sums of the differences of the hidden units, and of the visible units, by slices.
    sums: Vec<f64>,
}

impl<T: Real> BoltzmannLearner<T> {
    /// For weights of the same sizes as `like`.
    pub(crate) fn new(how: BoltzmannTraining, like: &LayerWeights<T>) -> Self {
        let empty = Vec::new;
        let deviations = how.varies.iter().map(|varies| T::from_f64(f64::from(*varies))).collect();
        Self {
            how,
            deviations,
            gradient: like.clone(),
            up: Weights::new(),
            down: Weights::new(),
            given: empty(),
            ended: empty(),
            packed: [Slices::new(), Slices::new()],
            hidden: empty(),
            visible: empty(),
            losses: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// The estimate, by contrastive divergence, of the gradient of the mean negative log-likelihood of the last batch.
    #[cfg(test)]
    pub(super) fn estimate(&self) -> &LayerWeights<T> {
        &self.gradient
    }

    /// Runs the chains of a batch by slices of `rows` rows; returns the mean squared error of the means of their first step.
    fn chains(&mut self, weights: &LayerWeights<T>, batch: &Batch<'_, T>, rows: usize) -> f64 {
        let (m, p, n) = (weights.n_units(), weights.n_features(), batch.rows.len());
        for (buffer, width) in
            [(&mut self.given, m), (&mut self.ended, m), (&mut self.hidden, m), (&mut self.visible, p)]
        {
            buffer.resize(n * width, T::default());
        }
        self.losses.resize(n.div_ceil(rows), 0.0);
        self.sums.clear();
        self.sums.resize(n.div_ceil(rows) * (m + p), 0.0);
        self.packed.iter_mut().for_each(|packed| packed.resize(n, m));
        let (up, down) = (&mut self.up, &mut self.down);
        both(
            packs_on_two(m * p),
            || up.pack(&weights.encoder, m),
            || down.pack_transposed(&weights.encoder, m),
        );
        let chain = Chain {
            how: &self.how,
            weights,
            up: &self.up,
            down: &self.down,
            deviations: &self.deviations,
            epoch: batch.position.epoch,
        };
        let [first, last] = &mut self.packed;
        let units = self.given.chunks_mut(rows * m).zip(self.ended.chunks_mut(rows * m));
        let drawn = self.hidden.chunks_mut(rows * m).zip(self.visible.chunks_mut(rows * p));
        let packed = first.each_mut(rows, m).zip(last.each_mut(rows, m));
        let given = batch.x.chunks(rows * p).zip(batch.rows.chunks(rows));
        let results = self.losses.iter_mut().zip(self.sums.chunks_mut(m + p));
        let slices = units.zip(drawn).zip(packed).zip(given).zip(results);
        let parallel = multiplies_on_two((1 + 2 * self.how.n_steps) * n * m * p);
        parallel::each_if(parallel, slices, |((((units, drawn), packed), (x, numbers)), (loss, sums))| {
            let ((given, ended), (hidden, visible)) = (units, drawn);
            *loss = chain.run(numbers, x, Buffers { given, ended, hidden, visible });
            pack_slice(packed.0, given, m, T::from_f64(-1.0 / n as f64));
            pack_slice(packed.1, ended, m, T::from_f64(1.0 / n as f64));
            let (of_units, of_columns) = sums.split_at_mut(m);
            add_differences(of_units, ended, given);
            add_differences(of_columns, visible, x);
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

/// Inputs common to the chains of all rows of a batch.
struct Chain<'c, T: Real> {
    how: &'c BoltzmannTraining,
    weights: &'c LayerWeights<T>,
    up: &'c Weights<T>,
    down: &'c Weights<T>,
    deviations: &'c [T],
    epoch: u64,
}

impl<T: Real> Chain<'_, T> {
    /// The chains of the rows `x`, which have these numbers in this epoch; returns the sum of their squared errors.
    fn run(&self, numbers: &[u64], x: &[T], to: Buffers<'_, T>) -> f64 {
        let (how, m, p) = (self.how, self.weights.n_units(), self.weights.n_features());
        let (of_hidden, of_visible) =
            (Stream::new(how.seed, HIDDEN_STREAM), Stream::new(how.seed, VISIBLE_STREAM));
        self.probabilities(x, to.given);
        let mut loss = 0.0;
        for step in 0..how.n_steps {
            let probabilities_now = if step == 0 { &*to.given } else { &*to.ended };
            let each = to.hidden.chunks_exact_mut(m).zip(probabilities_now.chunks_exact(m)).zip(numbers);
            each.for_each(|((h, of), row)| {
                draws::bernoulli(of_hidden, how.draw(self.epoch, *row, step), of, h);
            });
            self.down.product(to.visible, to.hidden, p);
            let distance = shifted_distance(to.visible, &self.weights.offset, x);
            loss += if step == 0 { distance } else { 0.0 };
            for (v, row) in to.visible.chunks_exact_mut(p).zip(numbers) {
                draws::add_normal(of_visible, how.draw(self.epoch, *row, step), self.deviations, v);
            }
            self.probabilities(to.visible, to.ended);
        }
        loss
    }

    /// `P(h = 1 | x)` of every row.
    fn probabilities(&self, x: &[T], to: &mut [T]) {
        self.up.product(to, x, self.weights.n_units());
        tanh::logistic(to, &self.weights.bias);
    }
}

impl<T: Real> Learner<T> for BoltzmannLearner<T> {
    type State = LayerWeights<T>;

    fn gradient(&mut self, state: &mut Self::State, batch: &Batch<'_, T>) -> Result<Option<f64>> {
        let (m, p, n) = (state.n_units(), state.n_features(), batch.rows.len());
        let rows = slice_rows(n);
        let loss = self.chains(state, batch, rows);
        let [first, last] = &self.packed;
        let begin = first.terms(batch.x, (rows, p, m));
        let terms: Vec<_> = begin.chain(last.terms(&self.visible, (rows, p, m))).collect();
        let to = &mut self.gradient;
        gradient(&mut to.encoder, &terms, m);
        total(&mut to.bias, &self.sums, (m + p, 0), 1.0 / n as f64);
        total(&mut to.offset, &self.sums, (m + p, m), 1.0 / n as f64);
        bounded(loss, p as f64, self.how.learning_rate, batch.position.epoch)
    }

    fn parameters(&mut self, state: &mut Self::State, updates: &mut Updates<'_, T>) {
        let by = &self.gradient;
        updates.descend(&mut state.encoder, &by.encoder);
        updates.descend(&mut state.bias, &by.bias);
        updates.descend(&mut state.offset, &by.offset);
    }
}
