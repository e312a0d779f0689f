//! A classifier with one hidden layer: its parameters, and the classes that it finds.

use super::denoise::rectify;
use crate::num::random::Stream;
use crate::num::{Real, kernel, parallel};
use serde::{Deserialize, Serialize};

/// Random stream of initial weights.
const WEIGHT_STREAM: u64 = 0x636c_6173;

/// Rows that one thread classifies at a time.
const ROWS_PER_SLICE: usize = 32;

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
        let (draws, deviation) = (Stream::new(seed, WEIGHT_STREAM), (2.0 / p as f64).sqrt());
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
        let slices = x.chunks(ROWS_PER_SLICE * p).zip(labels.chunks(ROWS_PER_SLICE));
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
        let (mut codes, mut scores) =
            (vec![T::default(); ROWS_PER_SLICE * m], vec![T::default(); ROWS_PER_SLICE * c]);
        let squares = x.chunks(ROWS_PER_SLICE * p).map(|x| {
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
