//! Settings of restricted Boltzmann machines: names, allowed values, descriptions.

use crate::model::{Counted, Kind, Setting};
use serde::{Deserialize, Serialize};

/// Settings of a [restricted Boltzmann machine](super): `GaussianRbm { n_components: 100, ..Default::default() }.fit(&mut rows, &run)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GaussianRbm {
    /// Number of hidden units.
    pub n_components: usize,
    /// Learning rate.
    pub learning_rate: f64,
    /// Mini-batch size.
    pub batch_size: usize,
    /// Maximum number of epochs.
    pub max_epochs: u64,
    /// Number of steps of Gibbs sampling.
    pub n_steps: usize,
}

/// Default number of units.
pub(super) const UNITS: usize = 50;

impl Default for GaussianRbm {
    fn default() -> Self {
        Self { n_components: UNITS, learning_rate: 0.01, batch_size: 10, max_epochs: 100, n_steps: 1 }
    }
}

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "n_components",
        Kind::at_least(1),
        "50",
        "Number of hidden units, which may exceed the number of columns.",
    ),
    Setting::new(
        "learning_rate",
        Kind::POSITIVE,
        "0.01",
        "Constant learning rate of stochastic gradient descent without momentum, for the mean over a mini-batch of standardised rows.",
    ),
    Setting::new("batch_size", Kind::at_least(1), "10", "Mini-batch size."),
    Setting::new("max_epochs", Kind::at_least(1), "100", "Maximum number of epochs.")
        .counting(Counted::Batches),
    Setting::new(
        "n_steps",
        Kind::at_least(1),
        "1",
        "Number of steps of Gibbs sampling from every row in contrastive divergence; with more steps, the estimate of the gradient of the \
         likelihood has less bias.",
    ),
];
