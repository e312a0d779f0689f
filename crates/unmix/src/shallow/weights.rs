//! Weights of a hidden layer, and of the linear map from it to rows.

use crate::error::{Error, Result};
use crate::num::random::Stream;
use crate::num::{Real, kernel};
use serde::{Deserialize, Serialize};

/// Random stream of initial weights.
const WEIGHT_STREAM: u64 = 0x6461_6532;

/// Distribution of initial weights.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Initial {
    /// Uniform between `± sqrt(6 / (n_features + n_units))` (Glorot & Bengio 2010).
    Uniform,
    /// Normal with this standard deviation.
    Normal(f64),
}

/// Parameters of a hidden layer in the coordinates of training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
#[non_exhaustive]
pub struct LayerWeights<T: Real> {
    /// `W'`, `n_features x n_units`.
    pub encoder: Vec<T>,
    /// `b`.
    pub bias: Vec<T>,
    /// `V`, `n_units x n_features`; empty if it is `W`.
    pub decoder: Vec<T>,
    /// `c`.
    pub offset: Vec<T>,
}

impl<T: Real> LayerWeights<T> {
    /// Initial weights: `W` is drawn from `initial`, and `V = W`; both are 0 in constant columns. The first units are the rows of `given`,
    /// scaled to the expected length of random ones. Biases are 0.
    pub fn start(m: usize, varies: &[bool], tied: bool, initial: Initial, given: &[f64], seed: u64) -> Self {
        let (p, draws) = (varies.len(), Stream::new(seed, WEIGHT_STREAM));
        let bound = (6.0 / (p + m) as f64).sqrt();
        let number = |i: usize| match initial {
            Initial::Uniform => bound * (2.0 * draws.uniform(i as u64) - 1.0),
            Initial::Normal(deviation) => deviation * draws.normal(i as u64),
        };
        let deviation = match initial {
            Initial::Uniform => bound / 3f64.sqrt(),
            Initial::Normal(deviation) => deviation,
        };
        let mut rows: Vec<f64> = (0..m * p).map(number).collect();
        for (row, given) in rows.chunks_exact_mut(p).zip(given.chunks_exact(p)) {
            let norm = kernel::sum_of_squares(given).sqrt();
            if norm > 0.0 {
                let by = deviation * (p as f64).sqrt() / norm;
                row.iter_mut().zip(given).for_each(|(to, x)| *to = by * x);
            }
        }
        for row in rows.chunks_exact_mut(p) {
            row.iter_mut().zip(varies).filter(|(_, varies)| !**varies).for_each(|(x, _)| *x = 0.0);
        }
        Self::of(&rows, if tied { &[] } else { &rows }, &vec![0.0; m], &vec![0.0; p])
    }

    /// Weights from `W` and `V`, both by units, and biases. An empty `V` is `W`.
    pub fn of(encoder: &[f64], decoder: &[f64], bias: &[f64], offset: &[f64]) -> Self {
        let (m, p) = (bias.len(), offset.len());
        let narrow = |x: &[f64]| x.iter().map(|x| T::from_f64(*x)).collect::<Vec<T>>();
        let across = (0..p).flat_map(|c| (0..m).map(move |j| T::from_f64(encoder[j * p + c]))).collect();
        Self { encoder: across, bias: narrow(bias), decoder: narrow(decoder), offset: narrow(offset) }
    }

    /// Number of units.
    pub fn n_units(&self) -> usize {
        self.bias.len()
    }

    /// Number of columns.
    pub fn n_features(&self) -> usize {
        self.offset.len()
    }

    /// `W` and `V`, both by units, in double precision.
    pub fn by_units(&self) -> (Vec<f64>, Vec<f64>) {
        let (m, p) = (self.n_units(), self.n_features());
        let encoder: Vec<f64> =
            (0..m).flat_map(|j| (0..p).map(move |c| self.encoder[c * m + j].to_f64())).collect();
        let decoder = match self.decoder.is_empty() {
            true => encoder.clone(),
            false => self.decoder.iter().map(|x| x.to_f64()).collect(),
        };
        (encoder, decoder)
    }

    /// Whether every number is finite.
    pub fn finite(&self) -> bool {
        let all = [&self.encoder, &self.bias, &self.decoder, &self.offset];
        all.into_iter().all(|v| v.iter().all(|x| x.finite()))
    }
}

/// The loss of a step, after a check that it has not diverged: it is finite and at most [`LARGEST_LOSS`] times `scale`.
///
/// # Errors
///
/// A loss that diverged in this epoch.
pub(super) fn bounded(loss: f64, scale: f64, learning_rate: f64, epoch: u64) -> Result<Option<f64>> {
    if loss.is_finite() && loss <= LARGEST_LOSS * scale {
        return Ok(Some(loss));
    }
    Err(diverged(learning_rate, epoch, &format!("the loss grew to {loss:.1e}")))
}

/// A loss larger than this multiple of its scale, that of the reconstruction by the mean, counts as divergence.
const LARGEST_LOSS: f64 = 1e6;

/// The error of a training that diverged in epoch `epoch`, counted from 0; `found` is what was found, as in "the loss grew to 1e9".
pub(crate) fn diverged(learning_rate: f64, epoch: u64, found: &str) -> Error {
    let why = format!("{found} in epoch {}", epoch + 1);
    Error::setting("learning_rate", learning_rate, why, "choose a lower one")
}
