//! Settings of denoising autoencoders: names, allowed values, descriptions.

use crate::learn::Optimiser;
use crate::model::{Counted, Kind, settings};
use crate::shallow::Noise;
use serde::{Deserialize, Serialize};
use std::ops::Bound;

settings! {
    /// Settings of a [denoising autoencoder](super): `DenoisingAutoencoder { n_components: 100, ..Default::default() }.fit(&mut rows, &run)`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct DenoisingAutoencoder {
        /// Number of units, which may exceed the number of columns.
        pub n_components: usize = 50, Kind::at_least(1);
        /// Size of the corruption: the share of a row's entries that are masked, or the standard deviation of 'gaussian' noise, relative to that of
        /// the column; 0 for a plain autoencoder.
        pub corruption: f64 = 0.2, Kind::number(Bound::Included(0.0), Bound::Excluded(1.0));
        /// How rows are corrupted, anew in every epoch: 'mask' replaces entries by the mean of their column, 'gaussian' adds normal noise.
        pub noise: Noise = "mask", Kind::Words(Noise::NAMES), only(&[&[("corruption", &["!0.0"])]]);
        /// Tied weights: for standardised rows, the decoder has the weights of the encoder.
        pub tied: bool = false, Kind::BOOL;
        /// Optimiser: 'adam'; 'sgd', stochastic gradient descent with momentum 0.9, with which a constant gradient moves parameters by ten times the
        /// learning rate per step; or 'plain-sgd', without momentum.
        pub solver: Solver = "adam", Kind::Words(Solver::NAMES);
        /// Constant learning rate, for the mean loss over a mini-batch of standardised rows.
        pub learning_rate: f64 = 0.001, Kind::POSITIVE;
        /// Mini-batch size.
        pub batch_size: usize = 100, Kind::at_least(1);
        /// Number of epochs.
        pub max_epochs: u64 = 100, Kind::at_least(1), counting(Counted::Batches);
        /// Divide every column by its standard deviation for the training; false divides all columns by one number, the root mean square of the
        /// centred entries. Components and weights are in the units of the rows in both cases.
        pub standardize: bool = true, Kind::BOOL;
    }
    pub(super) const SETTINGS;
}

/// The optimiser.
pub type Solver = Optimiser;
