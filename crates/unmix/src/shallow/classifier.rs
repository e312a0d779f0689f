//! A classifier with one hidden layer as a learner, for the fine-tuning of a layer that was learned without labels.
//!
//! ```text
//! h = max(0, W x + b),    P(class | x) = softmax(V' h + c),    loss = -log P(label | x)
//! ```
//!
//! The hidden layer stays in panels from step to step, and so do the codes of a batch: threads divide the units among them, not the rows.

use super::classify::ClassifierWeights;
use super::denoise::{Corruption, keep_active, rectify};
use super::weights::bounded;
use crate::data::Batch;
use crate::error::Result;
use crate::learn::{Learner, Updates};
use crate::num::packed_weights::PackedWeights;
use crate::num::products::{Slices, Weights, add_columns, multiplies_on_two, pack_slice, slice_rows, total};
use crate::num::{Panels, Real, Terms, parallel};
use serde::{Deserialize, Serialize};

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

/// Parameters in training: those of [`ClassifierWeights`], which files contain.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "", from = "ClassifierWeights<T>", into = "ClassifierWeights<T>")]
pub(super) struct Classifier<T: Real> {
    encoder: PackedWeights<T>,
    bias: Vec<T>,
    output: Vec<T>,
    offset: Vec<T>,
}

impl<T: Real> From<ClassifierWeights<T>> for Classifier<T> {
    fn from(weights: ClassifierWeights<T>) -> Self {
        let ClassifierWeights { encoder, bias, output, offset } = weights;
        Self { encoder: PackedWeights::of(&encoder, bias.len()), bias, output, offset }
    }
}

impl<T: Real> From<Classifier<T>> for ClassifierWeights<T> {
    fn from(classifier: Classifier<T>) -> Self {
        let Classifier { encoder, bias, output, offset } = classifier;
        Self { encoder: encoder.to_rows(), bias, output, offset }
    }
}

/// A classifier in training, and buffers of one step.
pub(super) struct ClassifierLearner<'v, T: Real> {
    how: ClassifierTraining<'v, T>,
    /// Standard deviations of the noise of the columns.
    deviations: Vec<T>,
    /// Corrupted rows; codes, and gradients with respect to pre-activations, in panels of units.
    noisy: Vec<T>,
    codes: Panels<T>,
    back: Panels<T>,
    /// Scores of the classes, then the gradients with respect to them; these in panels.
    scores: Vec<T>,
    packed_scores: Panels<T>,
    /// `b`, with zeros that fill the last panel; `V`, a slice for each panel of units; `V'`.
    bias: Vec<T>,
    output: Slices<T>,
    output_transposed: Weights<T>,
    losses: Vec<f64>,
    /// Gradients of all parameters but the encoder, whose gradient is subtracted while it is computed.
    of_bias: Vec<T>,
    of_output: Vec<T>,
    of_offset: Vec<T>,
}

impl<'v, T: Real> ClassifierLearner<'v, T> {
    pub(super) fn new(how: ClassifierTraining<'v, T>, n_features: usize) -> Self {
        Self {
            deviations: how.corruption.deviations(&vec![true; n_features]),
            how,
            noisy: Vec::new(),
            codes: Panels::default(),
            back: Panels::default(),
            scores: Vec::new(),
            packed_scores: Panels::default(),
            bias: Vec::new(),
            output: Slices::new(),
            output_transposed: Weights::new(),
            losses: Vec::new(),
            of_bias: Vec::new(),
            of_output: Vec::new(),
            of_offset: Vec::new(),
        }
    }

    /// The gradient of the mean loss of the last batch.
    #[cfg(test)]
    pub(super) fn last_gradient(&self) -> ClassifierWeights<T> {
        let (m, p) = (self.of_bias.len(), self.deviations.len());
        let mut encoder = PackedWeights::of(&vec![T::default(); p * m], m);
        encoder.descend(T::from_f64(-1.0), &self.noisy, &self.back);
        let (bias, output, offset) = (self.of_bias.clone(), self.of_output.clone(), self.of_offset.clone());
        Classifier { encoder, bias, output, offset }.into()
    }

    /// Corrupts the rows of a batch.
    fn corrupt(&mut self, batch: &Batch<'_, T>, rows: usize) {
        let p = self.deviations.len();
        self.noisy.resize(batch.x.len(), T::default());
        let (how, deviations) = (&self.how, &self.deviations);
        let given = batch.x.chunks(rows * p).zip(batch.rows.chunks(rows));
        let slices = self.noisy.chunks_mut(rows * p).zip(given);
        parallel::each_if(multiplies_on_two(batch.x.len()), slices, |(noisy, (x, numbers))| {
            let each = noisy.chunks_exact_mut(p).zip(x.chunks_exact(p)).zip(numbers);
            each.for_each(|((out, x), row)| {
                how.corruption.apply(batch.position.epoch, *row, x, deviations, out);
            });
        });
    }

    /// Codes of the corrupted rows.
    fn encode(&mut self, weights: &Classifier<T>) {
        let lanes = T::lanes();
        self.bias.clear();
        self.bias.extend(&weights.bias);
        self.bias.resize(weights.bias.len().next_multiple_of(lanes), T::default());
        let bias = &self.bias;
        weights.encoder.multiply(&mut self.codes, &self.noisy, |panel, codes| {
            rectify(codes, &bias[panel * lanes..][..lanes]);
        });
    }

    /// Gradients of the mean loss with respect to the scores, by slices of `rows` rows; returns the mean loss.
    fn classify(&mut self, weights: &Classifier<T>, numbers: &[u64], rows: usize) -> f64 {
        let (n, m, c, lanes) = (numbers.len(), weights.bias.len(), weights.offset.len(), T::lanes());
        self.scores.resize(n * c, T::default());
        self.losses.resize(n.div_ceil(rows), 0.0);
        self.output.resize(m, c);
        let each = self.output.each_mut(lanes, c).zip(weights.output.chunks(lanes * c));
        each.for_each(|(out, v)| pack_slice(out, v, c, T::from_f64(1.0)));
        let (labels, output, codes) = (self.how.labels, &self.output, &self.codes);
        let slices =
            self.scores.chunks_mut(rows * c).zip(numbers.chunks(rows)).zip(&mut self.losses).enumerate();
        parallel::each_if(multiplies_on_two(n * m * c), slices, |(slice, ((scores, numbers), loss))| {
            let terms: Vec<_> = output
                .slices(lanes, c)
                .zip(codes.numbers().chunks_exact(n * lanes))
                .map(|((b, count), codes)| Terms {
                    a: &codes[slice * rows * lanes..],
                    step: [lanes, 1],
                    b,
                    count,
                })
                .collect();
            T::multiply_packed(scores, &terms, numbers.len(), c);
            *loss = scores
                .chunks_exact_mut(c)
                .zip(numbers)
                .map(|(scores, row)| {
                    scores.iter_mut().zip(&weights.offset).for_each(|(s, o)| *s += *o);
                    softmax(scores, labels[*row as usize] as usize, 1.0 / n as f64)
                })
                .sum();
        });
        self.losses.iter().sum::<f64>() / n as f64
    }

    /// Gradients with respect to pre-activations, biases and the output layer.
    fn propagate(&mut self, weights: &Classifier<T>, n: usize, rows: usize) {
        let (m, c, lanes) = (weights.bias.len(), weights.offset.len(), T::lanes());
        self.back.resize(n, m);
        self.of_bias.resize(m, T::default());
        self.of_output.resize(m * c, T::default());
        self.of_offset.resize(c, T::default());
        self.packed_scores.resize(n, c);
        pack_slice(self.packed_scores.numbers_mut(), &self.scores, c, T::from_f64(1.0));
        self.output_transposed.pack_transposed(&weights.output, c);
        let sums = |of: &[T], width: usize| {
            let mut sums = vec![0.0; n.div_ceil(rows) * width];
            sums.chunks_mut(width).zip(of.chunks(rows * width)).for_each(|(sums, of)| add_columns(sums, of));
            sums
        };
        let (scores, packed_scores, transposed) =
            (&self.scores, self.packed_scores.numbers(), &self.output_transposed);
        let units = self.back.numbers_mut().chunks_exact_mut(n * lanes);
        let given = self.codes.numbers().chunks_exact(n * lanes).zip(transposed.panels(c));
        let found = self.of_bias.chunks_mut(lanes).zip(self.of_output.chunks_mut(lanes * c));
        let panels = units.zip(given).zip(found);
        parallel::each_if(
            multiplies_on_two(2 * n * m * c),
            panels,
            |((back, (codes, b)), (bias, output))| {
                let terms = Terms { a: scores, step: [c, 1], b, count: c };
                T::multiply_to_panels(back, None, &[terms], n, lanes);
                keep_active(back, codes);
                total(bias, &sums(back, lanes), (lanes, 0), 1.0);
                let terms = Terms { a: codes, step: [1, lanes], b: packed_scores, count: n };
                T::multiply_packed(output, &[terms], output.len() / c, c);
            },
        );
        total(&mut self.of_offset, &sums(scores, c), (c, 0), 1.0);
    }
}

impl<T: Real> Learner<T> for ClassifierLearner<'_, T> {
    type State = Classifier<T>;

    fn gradient(&mut self, state: &mut Self::State, batch: &Batch<'_, T>) -> Result<Option<f64>> {
        let n = batch.rows.len();
        let rows = slice_rows(n);
        self.corrupt(batch, rows);
        self.encode(state);
        let loss = self.classify(state, batch.rows, rows);
        self.propagate(state, n, rows);
        bounded(loss, 1.0, self.how.learning_rate, batch.position.epoch)
    }

    fn parameters(&mut self, state: &mut Self::State, updates: &mut Updates<'_, T>) {
        state.encoder.descend(updates.descent_rate(), &self.noisy, &self.back);
        updates.descend(&mut state.bias, &self.of_bias);
        updates.descend(&mut state.output, &self.of_output);
        updates.descend(&mut state.offset, &self.of_offset);
    }

    /// The error rate on the validation rows.
    fn validate(&mut self, state: &Self::State) -> Result<Option<f64>> {
        let (x, labels) = self.how.validation;
        let rate = || ClassifierWeights::from(state.clone()).n_errors(x, labels) as f64 / labels.len() as f64;
        Ok((!labels.is_empty()).then(rate))
    }
}
