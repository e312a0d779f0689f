//! Settings of denoising autoencoders: names, allowed values, descriptions.

use crate::learn::Optimiser;
use crate::model::{Counted, Kind, Setting};
use crate::shallow::Noise;
use serde::{Deserialize, Serialize};
use std::ops::Bound;

/// Settings of a [denoising autoencoder](super): `DenoisingAutoencoder { n_components: 100, ..Default::default() }.fit(&mut rows, &run)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DenoisingAutoencoder {
    /// Number of units.
    pub n_components: usize,
    /// Share of the entries of a row that are masked, or standard deviation of the noise.
    pub corruption: f64,
    /// How rows are corrupted.
    pub noise: Noise,
    /// Whether the weights are tied: for standardised rows, the decoder has the weights of the encoder.
    pub tied: bool,
    /// Optimiser.
    pub solver: Solver,
    /// Learning rate.
    pub learning_rate: f64,
    /// Mini-batch size.
    pub batch_size: usize,
    /// Number of epochs.
    pub max_epochs: u64,
    /// Whether every column is divided by its standard deviation; otherwise all are divided by one number.
    pub standardize: bool,
}

/// Default number of units.
pub(super) const UNITS: usize = 50;

impl Default for DenoisingAutoencoder {
    fn default() -> Self {
        Self {
            n_components: UNITS,
            corruption: 0.2,
            noise: Noise::default(),
            tied: false,
            solver: Solver::default(),
            learning_rate: 1e-3,
            batch_size: 100,
            max_epochs: 100,
            standardize: true,
        }
    }
}

/// The optimiser.
pub type Solver = Optimiser;

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "n_components",
        Kind::at_least(1),
        "50",
        "Number of units, which may exceed the number of columns.",
    ),
    Setting::new(
        "corruption",
        Kind::Number { from: Bound::Included(0.0), to: Bound::Excluded(1.0) },
        "0.2",
        "Size of the corruption: the share of a row's entries that are masked, or the standard deviation of 'gaussian' noise, relative to that of \
         the column; 0 for a plain autoencoder.",
    ),
    Setting::new(
        "noise",
        Kind::Words(&["mask", "gaussian"]),
        "\"mask\"",
        "How rows are corrupted, anew in every epoch: 'mask' replaces entries by the mean of their column, 'gaussian' adds normal noise.",
    )
    .only(&[&[("corruption", &["!0.0"])]]),
    Setting::new(
        "tied",
        Kind::Bool,
        "false",
        "Tied weights: for standardised rows, the decoder has the weights of the encoder.",
    ),
    Setting::new(
        "solver",
        Kind::Words(&["adam", "sgd"]),
        "\"adam\"",
        "Optimiser: 'adam', or 'sgd', stochastic gradient descent with momentum 0.9.",
    ),
    Setting::new(
        "learning_rate",
        Kind::POSITIVE,
        "0.001",
        "Constant learning rate, for the mean loss over a mini-batch of standardised rows.",
    ),
    Setting::new("batch_size", Kind::at_least(1), "100", "Mini-batch size."),
    Setting::new("max_epochs", Kind::at_least(1), "100", "Number of epochs.").counting(Counted::Batches),
    Setting::new(
        "standardize",
        Kind::Bool,
        "true",
        "Divide every column by its standard deviation for the training; false divides all columns by one number, the root mean square of the \
         centred entries. Components and weights are in the units of the rows all the same.",
    ),
];
