//! Fitting: scale of the rows, training, use of the units.

use super::{DenoisingAutoencoder, METHOD};
use crate::data::Rows;
use crate::error::Result;
use crate::learn::{Schedule, Trainer};
use crate::method::layer::{self, LayerSize, RowScaling, Trained};
use crate::model::{Gate, Model};
use crate::num::Real;
use crate::run::Run;
use crate::shallow::{Corruption, DenoisingLearner, DenoisingTraining, Initial, LayerWeights};

impl DenoisingAutoencoder {
    /// Fits. Rows from a one-pass source are first read into memory or a temporary file.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, fewer than two rows, no column that varies, more units than memory allows, a loss that
    /// diverges, errors of the source.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        METHOD.begin(self, rows, run)?;
        let size = LayerSize {
            n_units: self.n_components,
            batch_size: self.batch_size,
            per_parameter: 12,
            per_row: 4,
        };
        layer::check(METHOD.key, "a denoising autoencoder", rows, &size)?;
        let rows = &*rows;
        rows.pooled(run.threads, || {
            let scaling = RowScaling::of(METHOD.key, rows, self.standardize, run)?;
            let start = scaling.start(METHOD.key, self.n_components, self.tied, Initial::Uniform, run)?;
            let trained = self.trained(rows, &scaling, start, run)?;
            let measured = layer::measured(rows, &scaling, &trained.weights, Gate::new, run)?;
            self.model(rows, &scaling, &trained, &measured, run)
        })
    }

    fn trained<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        scaling: &RowScaling,
        start: LayerWeights<T>,
        run: &Run<'_>,
    ) -> Result<Trained<T>> {
        let batches = scaling.batches(rows, self.batch_size, run)?;
        let training = DenoisingTraining {
            corruption: Corruption {
                noise: self.noise,
                size: self.corruption,
                seed: run.seed,
                n_rows: batches.n_rows(),
            },
            varies: scaling.varies.clone(),
            learning_rate: self.learning_rate,
        };
        let trainer = Trainer {
            optimiser: self.solver,
            learning_rate: self.learning_rate,
            schedule: Schedule::Constant,
            max_epochs: self.max_epochs,
            patience: None,
        };
        layer::train(&trainer, &batches, &mut DenoisingLearner::new(training, &start), start, run)
    }
}
