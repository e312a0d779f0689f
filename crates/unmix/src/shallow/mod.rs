//! Networks of one dense hidden layer: denoising autoencoders, and restricted Boltzmann machines with normal visible units.
//!
//! ```text
//! h = max(0, W x~ + b)         codes of a corrupted row
//! x ~ V' h + c                 reconstruction of the row itself; V = W if weights are tied
//!
//! P(h = 1 | x) = s(W x + b)    binary units of a Boltzmann machine, s(t) = 1 / (1 + exp(-t))
//! x | h ~ N(W' h + c, I)
//! ```
//!
//! Every unit takes part in every row, so gradients are products of matrices. Work is divided into slices of rows, and into parts of
//! the gradient, whose lengths do not depend on the number of threads, so the bits do not, either.

mod boltzmann;
mod denoise;
mod products;
mod weights;

pub use boltzmann::{BoltzmannLearner, BoltzmannTraining};
pub use denoise::{Corruption, DenoisingLearner, DenoisingTraining, Noise};
pub use weights::{Initial, LayerWeights, diverged};

#[cfg(test)]
mod tests;
