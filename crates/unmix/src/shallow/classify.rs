//! A classifier with one hidden layer as a learner, for the fine-tuning of a layer that was learned without labels.
//!
//! ```text
//! h = max(0, W x + b),    P(class | x) = softmax(V' h + c),    loss = -log P(label | x)
//! ```

use super::denoise::{Corruption, keep_active, rectify};
use super::weights::bounded;
use crate::data::Batch;
use crate::error::Result;
use crate::learn::{Learner, Updates};
use crate::num::parallel;
use crate::num::products::{
    Slices, Weights, add_columns, gradient, multiplies_on_two, pack_slice, slice_rows, total,
};
use crate::num::random::Stream;
use crate::num::{Real, kernel};
use serde::{Deserialize, Serialize};

/// Random stream of initial weights.
const WEIGHTS: u64 = 0x636c_6173;

/// Rows that one thread classifies at a time.
const SLICE: usize = 32;

/// Parameters of a classifier of one hidden layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
#[non_exhaustive]
pub struct ClassifierWeights<T: Real> {
    /// `W'`, `n_features x n_units`.
    pub encoder: Vec<T>,
    /// `b`.
    pub bias: Vec<T>,
    /// `V`, `n_units x n_classes`.
    pub output: Vec<T>,
    /// `c`.
    pub offset: Vec<T>,
}

impl<T: Real> ClassifierWeights<T> {
    /// A hidden layer of the units `encoder`, by rows, with their biases, and an output layer of zeros: every class is equally likely.
    ///
    /// # Panics
    ///
    /// An encoder whose length is not a multiple of the number of units; no units.
    pub fn of(encoder: &[f64], bias: &[f64], n_classes: usize) -> Self {
        let m = bias.len();
        assert_eq!(encoder.len() % m, 0, "a weight for each unit and column");
        let p = encoder.len() / m;
        let across = (0..p).flat_map(|c| (0..m).map(move |j| T::from_f64(encoder[j * p + c]))).collect();
        Self {
            encoder: across,
            bias: bias.iter().map(|b| T::from_f64(*b)).collect(),
            output: vec![T::default(); m * n_classes],
            offset: vec![T::default(); n_classes],
        }
    }

    /// Random units for rows of `p` numbers: normal weights of variance `2 / p` and biases of 0 (He et al. 2015, equation 10).
    pub fn at_random(m: usize, p: usize, n_classes: usize, seed: u64) -> Self {
        let (draws, deviation) = (Stream::new(seed, WEIGHTS), (2.0 / p as f64).sqrt());
        let encoder: Vec<f64> = (0..m * p).map(|i| deviation * draws.normal(i as u64)).collect();
        Self::of(&encoder, &vec![0.0; m], n_classes)
    }

    /// Number of units.
    pub fn n_units(&self) -> usize {
        self.bias.len()
    }

    /// Number of columns of the rows.
    pub fn n_features(&self) -> usize {
        self.encoder.len() / self.bias.len()
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.offset.len()
    }

    /// Number of rows whose most likely class, the first if several are equally likely, is not their label.
    ///
    /// # Panics
    ///
    /// Rows whose number is not that of the labels.
    pub fn n_errors(&self, x: &[T], labels: &[u32]) -> u64 {
        let (m, p, c) = (self.n_units(), self.n_features(), self.n_classes());
        assert_eq!(x.len(), labels.len() * p, "a label for each row");
        let slices = x.chunks(SLICE * p).zip(labels.chunks(SLICE));
        let wrong: Vec<u64> = parallel::map(slices, |(x, labels)| {
            let (mut codes, mut scores) =
                (vec![T::default(); labels.len() * m], vec![T::default(); labels.len() * c]);
            self.scores(x, &mut codes, &mut scores);
            let found = scores.chunks_exact(c).map(first_largest);
            found.zip(labels).filter(|(found, label)| *found != **label as usize).count() as u64
        });
        wrong.iter().sum()
    }

    /// The mean over rows of the squared length of their codes.
    ///
    /// # Panics
    ///
    /// Numbers that are not a multiple of the number of columns.
    pub fn mean_squared_code(&self, x: &[T]) -> f64 {
        let (m, p, c) = (self.n_units(), self.n_features(), self.n_classes());
        assert_eq!(x.len() % p, 0, "whole rows");
        let (mut codes, mut scores) = (vec![T::default(); SLICE * m], vec![T::default(); SLICE * c]);
        let squares = x.chunks(SLICE * p).map(|x| {
            let n = x.len() / p;
            self.scores(x, &mut codes[..n * m], &mut scores[..n * c]);
            kernel::sum_of_squares(&codes[..n * m])
        });
        squares.sum::<f64>() / (x.len() / p) as f64
    }

    /// Multiplies the codes by a positive number.
    pub fn scale_units(&mut self, by: f64) {
        let by = T::from_f64(by);
        self.encoder.iter_mut().chain(&mut self.bias).for_each(|w| *w *= by);
    }

    /// Codes of the rows, and the logarithms of the class probabilities up to a constant for each row.
    fn scores(&self, x: &[T], codes: &mut [T], scores: &mut [T]) {
        let (m, p) = (self.n_units(), self.n_features());
        kernel::product(codes, x, &self.encoder, x.len() / p, p, m);
        rectify(codes, &self.bias);
        self.outputs(codes, scores);
    }

    /// The scores that belong to these codes.
    fn outputs(&self, codes: &[T], scores: &mut [T]) {
        let (m, c) = (self.n_units(), self.n_classes());
        kernel::product(scores, codes, &self.output, codes.len() / m, m, c);
        for row in scores.chunks_exact_mut(c) {
            row.iter_mut().zip(&self.offset).for_each(|(s, o)| *s += *o);
        }
    }
}

/// The index of the largest number, the first if several are equal.
fn first_largest<T: Real>(of: &[T]) -> usize {
    let better = |best: usize, at: usize| if of[at] > of[best] { at } else { best };
    (1..of.len()).fold(0, better)
}

/// Overwrites the scores of a row by the gradient of its loss with respect to them, times `share`, and returns the loss.
fn softmax<T: Real>(scores: &mut [T], label: usize, share: f64) -> f64 {
    let most = scores.iter().map(|s| s.to_f64()).fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = scores.iter().map(|s| (s.to_f64() - most).exp()).sum();
    let loss = total.ln() + most - scores[label].to_f64();
    for (class, score) in scores.iter_mut().enumerate() {
        let probability = (score.to_f64() - most).exp() / total;
        *score = T::from_f64(share * (probability - f64::from(class == label)));
    }
    loss
}

/// Options of the training.
#[derive(Clone, Debug)]
pub(super) struct ClassifierTraining<'v, T> {
    /// The corruption of the rows.
    pub(super) corruption: Corruption,
    /// The label of every row of the data, by its number, below the number of classes.
    pub(super) labels: &'v [u32],
    /// Rows of the validation part, and their labels.
    pub(super) validation: (&'v [T], &'v [u32]),
    /// The learning rate, for messages.
    pub(super) learning_rate: f64,
}

/// A classifier in training, and buffers of one step.
pub(super) struct ClassifierLearner<'v, T: Real> {
    how: ClassifierTraining<'v, T>,
    gradient: ClassifierWeights<T>,
    /// Standard deviations of the noise of the columns.
    deviations: Vec<T>,
    /// `W'` and `V`.
    up: Weights<T>,
    back_up: Weights<T>,
    /// Corrupted rows, codes, gradients with respect to scores and to pre-activations.
    noisy: Vec<T>,
    codes: Vec<T>,
    scores: Vec<T>,
    back: Vec<T>,
    /// The last two, packed.
    packed: [Slices<T>; 2],
    losses: Vec<f64>,
    /// Sums of the gradients with respect to pre-activations and to scores, by slices.
    sums: Vec<f64>,
}

impl<'v, T: Real> ClassifierLearner<'v, T> {
    /// For weights of the same sizes as `like`.
    pub(super) fn new(how: ClassifierTraining<'v, T>, like: &ClassifierWeights<T>) -> Self {
        let deviations = how.corruption.deviations(&vec![true; like.n_features()]);
        let (noisy, codes, scores, back) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self {
            how,
            gradient: like.clone(),
            deviations,
            up: Weights::new(),
            back_up: Weights::new(),
            noisy,
            codes,
            scores,
            back,
            packed: [Slices::new(), Slices::new()],
            losses: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// The gradient of the mean loss of the last batch.
    #[cfg(test)]
    pub(super) fn last_gradient(&self) -> &ClassifierWeights<T> {
        &self.gradient
    }

    /// Fills the buffers for a batch, by slices of `rows` rows; returns the mean loss.
    fn pass(&mut self, weights: &ClassifierWeights<T>, batch: &Batch<'_, T>, rows: usize) -> f64 {
        let (m, p, c, n) = (weights.n_units(), weights.n_features(), weights.n_classes(), batch.rows.len());
        for (buffer, width) in
            [(&mut self.noisy, p), (&mut self.codes, m), (&mut self.scores, c), (&mut self.back, m)]
        {
            buffer.resize(n * width, T::default());
        }
        self.packed[0].resize(n, c);
        self.packed[1].resize(n, m);
        self.losses.resize(n.div_ceil(rows), 0.0);
        self.sums.clear();
        self.sums.resize(n.div_ceil(rows) * (m + c), 0.0);
        self.up.pack(&weights.encoder, m);
        self.back_up.pack_transposed(&weights.output, c);
        let (up, back_up) = (&self.up, &self.back_up);
        let (how, deviations, share) = (&self.how, &self.deviations, 1.0 / n as f64);
        let [of_scores, of_back] = &mut self.packed;
        let of_rows = self.noisy.chunks_mut(rows * p).zip(self.scores.chunks_mut(rows * c));
        let units = self.codes.chunks_mut(rows * m).zip(self.back.chunks_mut(rows * m));
        let packed = of_scores.each_mut(rows, c).zip(of_back.each_mut(rows, m));
        let given = batch.x.chunks(rows * p).zip(batch.rows.chunks(rows));
        let results = self.losses.iter_mut().zip(self.sums.chunks_mut(m + c));
        let slices = of_rows.zip(units).zip(packed).zip(given).zip(results);
        let parallel = multiplies_on_two(n * m * (p + 2 * c));
        parallel::each_if(parallel, slices, |((((of_rows, units), packed), (x, numbers)), (loss, sums))| {
            let ((noisy, scores), (codes, back)) = (of_rows, units);
            let each = noisy.chunks_exact_mut(p).zip(x.chunks_exact(p)).zip(numbers);
            each.for_each(|((out, x), row)| {
                how.corruption.apply(batch.position.epoch, *row, x, deviations, out);
            });
            up.product(codes, noisy, m);
            rectify(codes, &weights.bias);
            weights.outputs(codes, scores);
            let each = scores.chunks_exact_mut(c).zip(numbers);
            *loss =
                each.map(|(scores, row)| softmax(scores, how.labels[*row as usize] as usize, share)).sum();
            back_up.product(back, scores, m);
            keep_active(back, codes);
            pack_slice(packed.0, scores, c, T::from_f64(1.0));
            pack_slice(packed.1, back, m, T::from_f64(1.0));
            let (of_units, of_classes) = sums.split_at_mut(m);
            add_columns(of_units, back);
            add_columns(of_classes, scores);
        });
        self.losses.iter().sum::<f64>() / n as f64
    }
}

impl<T: Real> Learner<T> for ClassifierLearner<'_, T> {
    type State = ClassifierWeights<T>;

    fn gradient(&mut self, state: &mut Self::State, batch: &Batch<'_, T>) -> Result<Option<f64>> {
        let (m, p, c, n) = (state.n_units(), state.n_features(), state.n_classes(), batch.rows.len());
        let rows = slice_rows(n);
        let loss = self.pass(state, batch, rows);
        let ([scores, back], to) = (&self.packed, &mut self.gradient);
        gradient(&mut to.encoder, &back.terms(&self.noisy, (rows, p, m)).collect::<Vec<_>>(), m);
        gradient(&mut to.output, &scores.terms(&self.codes, (rows, m, c)).collect::<Vec<_>>(), c);
        total(&mut to.bias, &self.sums, (m + c, 0), 1.0);
        total(&mut to.offset, &self.sums, (m + c, m), 1.0);
        bounded(loss, 1.0, self.how.learning_rate, batch.position.epoch)
    }

    fn parameters(&mut self, state: &mut Self::State, updates: &mut Updates<'_, T>) {
        let by = &self.gradient;
        updates.descend(&mut state.encoder, &by.encoder);
        updates.descend(&mut state.bias, &by.bias);
        updates.descend(&mut state.output, &by.output);
        updates.descend(&mut state.offset, &by.offset);
    }

    /// The error rate on the validation rows.
    fn validate(&mut self, state: &Self::State) -> Result<Option<f64>> {
        let (x, labels) = self.how.validation;
        Ok((!labels.is_empty()).then(|| state.n_errors(x, labels) as f64 / labels.len() as f64))
    }
}
