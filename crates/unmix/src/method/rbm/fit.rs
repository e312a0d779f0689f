//! Fits: the scale of the rows, training, and the use of the units.

use super::{GaussianRbm, METHOD};
use crate::data::Rows;
use crate::error::Result;
use crate::learn::{Optimiser, Schedule, Trainer};
use crate::method::layer::{self, LayerSize, RowScaling, Trained};
use crate::model::{Gate, Model};
use crate::num::Real;
use crate::run::Run;
use crate::shallow::{BoltzmannLearner, BoltzmannTraining, Initial, LayerWeights};

/// Standard deviation of initial weights.
const INITIAL_WEIGHT_DEVIATION: f64 = 0.01;

impl GaussianRbm {
    /// Fits. Rows that can be read only once, in order, are first read into memory or a temporary file.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, fewer than two rows, no column that varies, more units than memory allows, weights that
    /// diverge, errors of the source.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        METHOD.begin(self, rows, run)?;
        let size = LayerSize {
            n_units: self.n_components,
            batch_size: self.batch_size,
            per_parameter: 6,
            per_row: 5,
        };
        layer::check(METHOD.key, "a restricted Boltzmann machine", rows, &size)?;
        let rows = &*rows;
        rows.pooled(run.threads, || {
            let scaling = RowScaling::of(METHOD.key, rows, true, run)?;
            let initial = Initial::Normal(INITIAL_WEIGHT_DEVIATION);
            let start = scaling.start(METHOD.key, self.n_components, true, initial, run)?;
            let trained = self.trained(rows, &scaling, start, run)?;
            let measured = layer::measured(rows, &scaling, &trained.weights, Gate::logistic, run)?;
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
        let training = BoltzmannTraining {
            n_steps: self.n_steps,
            seed: run.seed,
            n_rows: batches.n_rows(),
            varies: scaling.varies.clone(),
            learning_rate: self.learning_rate,
        };
        // The learner makes plain gradient steps: the optimiser has no state.
        let trainer = Trainer {
            optimiser: Optimiser::Sgd,
            learning_rate: self.learning_rate,
            schedule: Schedule::Constant,
            max_epochs: self.max_epochs,
            patience: None,
        };
        layer::train(&trainer, &batches, &mut BoltzmannLearner::new(training, &start), start, run)
    }
}
