//! The parameters of an autoencoder.

use super::Activation;
use crate::num::random::Stream;
use crate::num::{Matrix, Real};
use serde::{Deserialize, Serialize};

/// Parameters in the coordinates of training. Vectors that the activation does not have are empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Parameters<T: Real> {
    /// Atoms, `n_units x n_features`, of norm 1.
    pub decoder: Vec<T>,
    /// Weights of the pre-activations, `n_units x n_features`.
    pub encoder: Vec<T>,
    /// `b_enc`; for `Gated` the bias of the gate.
    pub bias: Vec<T>,
    /// `b`: subtracted before the encoder, added after the decoder.
    pub mean: Vec<T>,
    /// Logarithms of the thresholds of `Jumprelu`.
    pub log_threshold: Vec<T>,
    /// Bias of the magnitudes of `Gated`.
    pub magnitude: Vec<T>,
    /// Logarithms of the scales of the magnitudes of `Gated`.
    pub log_scale: Vec<T>,
}

/// Stream of the random atoms.
const ATOM_STREAM: u64 = 0x7361_6531;

impl<T: Real> Parameters<T> {
    /// Normalised atoms, the transposed atoms as encoder, biases 0, thresholds `threshold`.
    pub(crate) fn start(activation: Activation, atoms: &Matrix<f64>, threshold: f64) -> Self {
        let (m, p) = (atoms.rows(), atoms.cols());
        let mut decoder = Vec::with_capacity(m * p);
        for j in 0..m {
            let norm = norm(atoms.row(j));
            decoder.extend(atoms.row(j).iter().map(|x| T::from_f64(x / norm)));
        }
        let only = |when: bool, value: f64| vec![T::from_f64(value); if when { m } else { 0 }];
        let gated = activation == Activation::Gated;
        Self {
            encoder: decoder.clone(),
            decoder,
            bias: vec![T::default(); m],
            mean: vec![T::default(); p],
            log_threshold: only(activation == Activation::Jumprelu, threshold.ln()),
            magnitude: only(gated, 0.0),
            log_scale: only(gated, 0.0),
        }
    }

    /// Number of units.
    pub(crate) fn n_units(&self) -> usize {
        self.bias.len()
    }

    /// Number of columns.
    pub(crate) fn n_features(&self) -> usize {
        self.mean.len()
    }

    /// The atom of a unit.
    pub(super) fn atom(&self, j: usize) -> &[T] {
        let p = self.mean.len();
        &self.decoder[j * p..(j + 1) * p]
    }

    /// Whether every number is finite.
    pub(crate) fn finite(&self) -> bool {
        let all = [&self.decoder, &self.encoder, &self.bias, &self.mean];
        let some = [&self.log_threshold, &self.magnitude, &self.log_scale];
        all.into_iter().chain(some).all(|v| v.iter().all(|x| x.finite()))
    }
}

/// Euclidean norm in double precision.
pub(super) fn norm<T: Real>(x: &[T]) -> f64 {
    crate::num::kernel::sum_of_squares(x).sqrt()
}

/// `m` atoms: first those `given` that are non-zero, then Gaussian random ones.
pub fn random_atoms(m: usize, p: usize, given: &[f64], seed: u64) -> Matrix<f64> {
    let draws = Stream::new(seed, ATOM_STREAM);
    Matrix::from_vec(
        m,
        p,
        (0..m)
            .flat_map(|j| match given.get(j * p..(j + 1) * p).filter(|row| norm(row) > 0.0) {
                Some(row) => row.to_vec(),
                None => (0..p).map(|c| draws.normal((j * p + c) as u64)).collect(),
            })
            .collect(),
    )
}
