//! Networks of one dense hidden layer: denoising autoencoders.
//!
//! ```text
//! h = max(0, W x~ + b)         codes of a corrupted row
//! x ~ V' h + c                 reconstruction of the row itself; V = W if weights are tied
//! ```
//!
//! Every unit takes part in every row, so gradients are products of matrices. Work is divided into slices of rows, and into parts of
//! the gradient, whose lengths do not depend on the number of threads, so the bits do not, either.

mod denoise;
mod products;

pub use denoise::{Corruption, DenoisingLearner, DenoisingTraining, DenoisingWeights, Noise};

#[cfg(test)]
mod tests;
