//! Settings of restricted Boltzmann machines: names, allowed values, descriptions.

use crate::model::{Counted, Kind, settings};
use serde::{Deserialize, Serialize};

settings! {
    /// Settings of a [restricted Boltzmann machine](super): `GaussianRbm { n_components: 100, ..Default::default() }.fit(&mut rows, &run)`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct GaussianRbm {
        /// Number of hidden units, which may exceed the number of columns.
        pub n_components: usize = 50, Kind::at_least(1);
        /// Constant learning rate of stochastic gradient descent without momentum, for the mean over a mini-batch of standardised rows.
        pub learning_rate: f64 = 0.01, Kind::POSITIVE;
        /// Mini-batch size.
        pub batch_size: usize = 10, Kind::at_least(1);
        /// Maximum number of epochs.
        pub max_epochs: u64 = 100, Kind::at_least(1), counting(Counted::Batches);
        /// Number of steps of Gibbs sampling from every row in contrastive divergence; with more steps, the estimate of the gradient of the
        /// likelihood has less bias.
        pub n_steps: usize = 1, Kind::at_least(1);
    }
    pub(super) const SETTINGS;
}
