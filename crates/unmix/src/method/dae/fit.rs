//! Fits: the scale of the rows, training, and the use of the units.

use super::model::{Trained, parameters_in_units};
use super::{DenoisingAutoencoder, METHOD};
use crate::autoencoder::evaluate;
use crate::data::{Batches, Rows, check_n_rows, no_columns};
use crate::error::Result;
use crate::learn::{Schedule, Trainer, TrainerState};
use crate::machine::check_memory;
use crate::method::sae::chosen;
use crate::model::{Model, map_of};
use crate::num::{Dtype, Real};
use crate::run::Run;
use crate::shallow::{Corruption, DenoisingLearner, DenoisingTraining, DenoisingWeights};
use crate::spectrum::{check_scales, check_total, no_variance_of};
use crate::stats::GatherMoments;

/// Maximum number of rows on which use and residual of a fitted model are measured.
const MEASURED: u64 = 1 << 15;

/// Centre and scale of the rows of a fit.
pub(super) struct RowScaling {
    pub(super) mean: Vec<f64>,
    /// Divisor of each column; 1 where it does not vary.
    pub(super) scale: Vec<f64>,
    pub(super) varies: Vec<bool>,
}

impl DenoisingAutoencoder {
    /// Fits. Rows that can be read only once, in order, are first read into memory or a temporary file.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, fewer than two rows, no column that is not constant, more units than memory allows, a loss that
    /// diverges, errors of the source.
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
            let scaling = self.scaling(rows, run)?;
            let start = self.start(&scaling, run)?;
            let trained = self.trained(rows, &scaling, start, run)?;
            self.measured(rows, scaling, trained, run)
        })
    }

    /// Refuses tables that do not fit in memory.
    fn check_size(&self, p: usize, dtype: Dtype) -> Result<()> {
        let (m, p, size) = (self.n_components as u64, p as u64, dtype.size() as u64);
        let tables = m.saturating_mul(p).saturating_mul(12 * size);
        let batch = (self.batch_size as u64).saturating_mul(m.saturating_add(p)).saturating_mul(2 * size);
        check_memory(
            &format!("a denoising autoencoder of {m} units of {p} numbers"),
            tables.saturating_add(batch),
            "choose fewer units (n_components), a smaller batch_size, or fewer columns",
        )
    }

    /// Mean and scale of the rows.
    fn scaling<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<RowScaling> {
        let found = rows.sweep(run, "moments", &GatherMoments::new())?;
        let total: f64 = found.squares.iter().sum();
        if !total.is_finite() || !T::from_f64(total).finite() || found.mean.iter().any(|m| !m.is_finite()) {
            return Err(rows.not_finite(METHOD.key));
        }
        if total == 0.0 {
            return Err(no_variance_of(rows, METHOD.key));
        }
        check_total(METHOD.key, total, T::DTYPE)?;
        let varies: Vec<bool> = found.squares.iter().map(|s| *s > 0.0).collect();
        let common = (total / (found.n * varies.len() as f64)).sqrt();
        let of = |squares: &f64| match (*squares > 0.0, self.standardize) {
            (false, _) => 1.0,
            (true, true) => (squares / (found.n - 1.0)).sqrt(),
            (true, false) => common,
        };
        let scale: Vec<f64> = found.squares.iter().map(of).collect();
        if self.standardize {
            check_scales(METHOD.key, Some(&scale), T::DTYPE)?;
        }
        Ok(RowScaling { mean: found.mean, scale, varies })
    }

    /// Initial weights: those of a model of this method, directions of the components of another one, or random ones.
    fn start<T: Real>(&self, scaling: &RowScaling, run: &Run<'_>) -> Result<DenoisingWeights<T>> {
        let (m, p) = (self.n_components, scaling.mean.len());
        let given = run.initial_components(p, m)?;
        let own = run.init.filter(|init| init.method() == METHOD.key);
        if let Some(weights) = own.and_then(|init| self.continued(scaling, init)) {
            return Ok(weights);
        }
        let mut directions = given.map(|given| given.top_rows(m).into_vec()).unwrap_or_default();
        for row in directions.chunks_exact_mut(p) {
            row.iter_mut().zip(&scaling.scale).for_each(|(x, s)| *x /= s);
        }
        Ok(DenoisingWeights::start(m, &scaling.varies, self.tied, &directions, run.seed))
    }

    fn trained<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        scaling: &RowScaling,
        start: DenoisingWeights<T>,
        run: &Run<'_>,
    ) -> Result<Trained<T>> {
        // Rounding errors of a column that does not vary are multiplied by 0.
        let each = scaling.scale.iter().zip(&scaling.varies);
        let units: Vec<f64> = each.map(|(s, varies)| if *varies { *s } else { f64::INFINITY }).collect();
        let batches =
            Batches::new(rows, self.batch_size, run.seed)?.centred(&scaling.mean).divided(1.0, Some(&units));
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
        };
        let mut learner = DenoisingLearner::new(training, &start);
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
        let tensors = parameters_in_units(&found.weights, &scaling, &kept);
        let (encoder, atoms, mean) = super::model::encoder(&tensors)?;
        let x = rows.picked(chosen(rows.n_rows().unwrap_or(0), MEASURED, run.seed), run)?;
        let map = map_of::<T>(&encoder);
        let used = evaluate(&encoder, &*map, &x, (&mean.f64s(), &atoms, &scaling.mean));
        self.model(rows, scaling, found, &used, run)
    }
}
