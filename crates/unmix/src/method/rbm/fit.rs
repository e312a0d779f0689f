//! Fits: the scale of the rows, training, and the use of the units.

use super::model::Trained;
use super::{GaussianRbm, METHOD};
use crate::autoencoder::evaluate;
use crate::data::{Rows, check_n_rows, no_columns};
use crate::error::Result;
use crate::learn::{Optimiser, Schedule, Trainer, TrainerState};
use crate::machine::check_memory;
use crate::method::dae::scaling::RowScaling;
use crate::method::sae::chosen;
use crate::model::{Model, map_of};
use crate::num::{Dtype, Real};
use crate::run::Run;
use crate::shallow::{BoltzmannLearner, BoltzmannTraining, Initial, LayerWeights};

/// Maximum number of rows on which use and residual of a fitted model are measured.
const MEASURED: u64 = 1 << 15;
/// Standard deviation of initial weights.
const INITIAL: f64 = 0.01;

impl GaussianRbm {
    /// Fits. Rows that can be read only once, in order, are first read into memory or a temporary file.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, fewer than two rows, no column that is not constant, more units than memory allows, weights that
    /// diverge, errors of the source.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        METHOD.begin(self, rows, run)?;
        rows.here("training by batches")?;
        check_n_rows(METHOD.key, rows.n_counted(), rows.origin(), "give more rows")?;
        if rows.n_features() == 0 {
            return Err(no_columns(METHOD.key, rows.origin()));
        }
        self.check_size(rows.n_features(), T::DTYPE)?;
        let rows = &*rows;
        rows.pooled(run.threads, || {
            let scaling = RowScaling::of(METHOD.key, rows, true, run)?;
            let start = scaling.start(METHOD.key, self.n_components, true, Initial::Normal(INITIAL), run)?;
            let trained = self.trained(rows, &scaling, start, run)?;
            self.measured(rows, scaling, trained, run)
        })
    }

    /// Refuses tables that do not fit in memory.
    fn check_size(&self, p: usize, dtype: Dtype) -> Result<()> {
        let (m, p, size) = (self.n_components as u64, p as u64, dtype.size() as u64);
        let tables = m.saturating_mul(p).saturating_mul(6 * size);
        let batch = (self.batch_size as u64).saturating_mul(m.saturating_add(p)).saturating_mul(3 * size);
        check_memory(
            &format!("a restricted Boltzmann machine of {m} units of {p} numbers"),
            tables.saturating_add(batch),
            "choose fewer units (n_components), a smaller batch_size, or fewer columns",
        )
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
        let trainer = Trainer {
            optimiser: Optimiser::Sgd,
            learning_rate: self.learning_rate,
            schedule: Schedule::Constant,
            max_epochs: self.max_epochs,
        };
        let mut learner = BoltzmannLearner::new(training, &start);
        let mut state = TrainerState::new(start);
        run.stage("units")?;
        let outcome = trainer.train(&batches, &mut learner, &mut state, run)?;
        if !state.learner.finite() {
            return Err(learner.diverged(state.position.epoch, "parameters are not finite"));
        }
        let (weights, history, sweeps) = (state.learner, state.history, 1 + state.position.epoch);
        Ok(Trained { outcome, steps: state.steps, sweeps, history, weights })
    }

    /// Measures the use of the units on a sample of the rows, and constructs the model.
    fn measured<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        scaling: RowScaling,
        found: Trained<T>,
        run: &Run<'_>,
    ) -> Result<Model> {
        run.stage("use")?;
        let kept: Vec<usize> = (0..self.n_components).collect();
        let tensors = scaling.parameters(&found.weights, &kept);
        let (encoder, atoms, mean) = super::model::encoder(&tensors)?;
        let x = rows.picked(chosen(rows.n_rows().unwrap_or(0), MEASURED, run.seed), run)?;
        let binary = x.iter().all(|x| [0.0, 1.0].contains(&x.to_f64()));
        let map = map_of::<T>(&encoder);
        let used = evaluate(&encoder, &*map, &x, (&mean.f64s(), &atoms, &scaling.mean));
        self.model(rows, scaling, found, (&used, binary), run)
    }
}
