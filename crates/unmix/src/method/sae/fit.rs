//! Fits to rows that can be read repeatedly.

use super::model::{Order, RowsOf, Trained, parameters_in_units};
use super::start::{BANDWIDTH, Resolved, RowScaling, weight};
use super::{METHOD, Measured, SparseAutoencoder, measured};
use crate::autoencoder::{
    Activation, AutoencoderLearner, AutoencoderState, Parameters, PenaltyControl, Terms, Training,
};
use crate::data::{Batches, Rows, check_n_rows, no_columns};
use crate::error::Result;
use crate::learn::{Optimiser, Schedule, Trainer, TrainerState};
use crate::model::Model;
use crate::num::Real;
use crate::run::Run;

/// Fraction of the steps over which the learning rate increases at the start, and over which it decreases at the end.
const WARM_UP_SHARE: f64 = 0.05;
const DECAY_SHARE: f64 = 0.2;
/// Maximum number of dead units in the auxiliary code.
const MOST_AUXILIARY_UNITS: usize = 512;

/// Options of the gradient, for rows of `p` numbers and initial thresholds of `level`.
pub(super) fn terms_of(activation: Activation, resolved: &Resolved, level: f64, p: usize) -> Terms {
    let auxk = (p / 2).clamp(1, MOST_AUXILIARY_UNITS);
    Terms { activation, l0: resolved.l0, bandwidth: BANDWIDTH * level, auxk }
}

impl SparseAutoencoder {
    /// Fits. Rows that can be read only once, in order, are first read into memory or a temporary file.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, fewer than two rows, no column that varies, `l0` above the number of units, `alpha` with an activation
    /// that has no penalty ('topk', 'batch-topk'), a loss that diverges, errors of the source.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        METHOD.begin_given(self, &[("dict_init", self.dict_init.as_ref())], rows, run)?;
        check_n_rows(METHOD.key, rows.n_counted(), rows.origin(), "give more rows")?;
        let p = rows.n_features();
        if p == 0 {
            return Err(no_columns(METHOD.key, rows.origin()));
        }
        let given = self.given_atoms(p, run)?;
        let resolved = self.resolved(p, given.as_ref().map(crate::num::Matrix::rows))?;
        self.check_size(resolved.m, p, T::DTYPE)?;
        let rows = &*rows;
        rows.pooled(run.threads, || {
            let scaling = self.scaling(rows, run)?;
            let sample = self.sample(rows, &scaling, resolved.m, run)?;
            let init = run.init.filter(|init| init.method() == METHOD.key);
            let numbers = |name: &str| init.and_then(|init| init.parameter(name)).map(|(_, numbers)| numbers);
            let start = match self.continued(&scaling, &resolved, numbers) {
                Some(parameters) => parameters,
                None => {
                    let atoms = self.atoms(resolved.m, p, given.as_ref(), &sample, run.seed);
                    Parameters::start(self.activation, &atoms, 1.0)
                }
            };
            self.trained(rows, scaling, resolved, sample, start, run)
        })
    }

    /// Options of the gradient, initial thresholds and the initial weight of the penalty.
    pub(super) fn terms<T: Real>(
        &self,
        resolved: &Resolved,
        start: &mut Parameters<T>,
        sample: &[T],
        fresh: bool,
    ) -> (Terms, f64, f64) {
        let level = match self.activation.counts() {
            true => 1.0,
            false => self.level(start, sample, resolved.l0),
        };
        if fresh {
            start.log_threshold.fill(T::from_f64(level.ln()));
        }
        let terms = terms_of(self.activation, resolved, level, start.n_features());
        (terms, level, weight(self.activation, self.alpha, level))
    }

    fn trained<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        scaling: RowScaling,
        resolved: Resolved,
        sample: Vec<T>,
        mut start: Parameters<T>,
        run: &Run<'_>,
    ) -> Result<Model> {
        let n = rows.n_rows().unwrap_or(0);
        let batches =
            Batches::new(rows, self.batch_size, run.seed)?.centred(&scaling.mean).divided(scaling.unit, None);
        let steps = batches.per_epoch().saturating_mul(self.max_epochs);
        let fresh = run.init.is_none_or(|init| init.parameter("threshold").is_none());
        let (terms, threshold, alpha) = self.terms(&resolved, &mut start, &sample, fresh);
        let wanted = (self.alpha.is_none() && !self.activation.counts()).then_some(resolved.l0 as f64);
        let signed = self.activation == Activation::Jumprelu;
        let training = Training {
            terms,
            penalty_control: PenaltyControl { l0: wanted, signed, steps: Some(steps) },
            dead: resolved.dead,
            threshold,
            n_rows: n,
            per_epoch: batches.per_epoch(),
            max_epochs: self.max_epochs,
            learning_rate: resolved.rate,
            half_square: scaling.half_square,
            seed: run.seed,
            sample,
        };
        let part = |share: f64| (share * steps as f64).ceil() as u64;
        let trainer = Trainer {
            optimiser: Optimiser::Adam,
            learning_rate: resolved.rate,
            schedule: Schedule::Plateau { rise: part(WARM_UP_SHARE), fall: part(DECAY_SHARE) },
            max_epochs: self.max_epochs,
            patience: None,
        };
        let mut learner = AutoencoderLearner::new(training, &start);
        let mut state = TrainerState::new(AutoencoderState::new(start, alpha));
        run.stage("units")?;
        let outcome = trainer.train(&batches, &mut learner, &mut state, run)?;
        if !state.learner.parameters.finite() {
            return Err(learner.diverged(state.position.epoch, "parameters are not finite"));
        }
        let found = Trained {
            outcome,
            steps: state.steps,
            sweeps: 2 + state.position.epoch,
            history: state.history,
            dead: learner.dead_units(&state.learner),
            state: state.learner,
            more: Vec::new(),
        };
        drop(learner);
        self.measured(rows, scaling, resolved, found, run)
    }

    /// Measures the use of the units on a sample of the rows, and constructs the model.
    fn measured<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        scaling: RowScaling,
        resolved: Resolved,
        mut found: Trained<T>,
        run: &Run<'_>,
    ) -> Result<Model> {
        let tensors = parameters_in_units(&found.state, self.activation, &scaling, &Order::kept(resolved.m));
        let (encoder, atoms, mean) = super::model::encoder(self.activation, resolved.l0, &tensors)?;
        let Measured { used, x, warning } =
            measured(rows, &encoder, (&mean.f64s(), &atoms, &scaling.mean), run)?;
        if Some((x.len() / rows.n_features().max(1)) as u64) == rows.n_rows() {
            // The use on all rows is known: units that were active earlier in the last epoch may be dead now.
            found.dead = (0..resolved.m as u32).collect();
        }
        if warning.is_some() {
            // The model is not that of a run without limits.
            found.outcome = run.early_outcome();
        }
        let (n_samples, n_features, features) = (rows.n_samples(), rows.n_features(), rows.features());
        let of = RowsOf { n_samples, n_features, features, stream: false, warning };
        self.model(of, scaling, resolved, found, &used, run)
    }
}
