//! Networks of one dense hidden layer: denoising autoencoders, restricted Boltzmann machines with normal visible units, and classifiers.
//!
//! ```text
//! h = max(0, W x~ + b)         codes of a corrupted row
//! x ~ V' h + c                 reconstruction of the row itself; V = W if weights are tied
//!
//! P(h = 1 | x) = s(W x + b)    binary units of a Boltzmann machine, s(t) = 1 / (1 + exp(-t))
//! x | h ~ N(W' h + c, I)
//!
//! h = max(0, W x + b)
//! P(class | x) = softmax(V' h + c)      a classifier, whose training starts from a layer that was learned without labels
//! ```
//!
//! Every unit takes part in every row, so gradients are products of matrices. Work is divided into slices of rows, and into parts of
//! the gradient, whose lengths do not depend on the number of threads, so the bits do not, either.

mod boltzmann;
mod classifier;
mod classify;
mod denoise;
mod fine_tuning;
mod weights;

pub use classify::ClassifierWeights;
pub use denoise::Noise;
pub use fine_tuning::{FineTuned, FineTuning, Labelled};
pub use weights::{Initial, LayerWeights};

// The learners, with which the methods train layers.
pub(crate) use boltzmann::{BoltzmannLearner, BoltzmannTraining};
pub(crate) use denoise::{Corruption, DenoisingLearner, DenoisingTraining};
pub(crate) use weights::diverged;

#[cfg(test)]
mod classifier_tests;
#[cfg(test)]
mod tests;
