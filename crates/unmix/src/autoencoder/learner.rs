//! An autoencoder as a learner: state besides the parameters.

use super::dead::{DEAD_AFTER_ROWS, resample};
use super::parameters::{Parameters, norm};
use super::pass::{Pass, Penalty, Terms};
use super::penalty_control::{PenaltyControl, PenaltyController};
use super::{Activation, DeadUnit};
use crate::data::Batch;
use crate::error::{Error, Result};
use crate::learn::{Learner, Updates};
use crate::num::parallel;
use crate::num::{Real, widest};
use serde::{Deserialize, Serialize};

/// Options of the training.
#[derive(Clone, Debug)]
pub(crate) struct Training<T> {
    /// The activation and its options.
    pub terms: Terms,
    /// Control of the weight of the penalty.
    pub penalty_control: PenaltyControl,
    /// Treatment of dead units; not `Auto`.
    pub dead: DeadUnit,
    /// Initial thresholds of `Jumprelu`.
    pub threshold: f64,
    /// Number of rows of an epoch.
    pub n_rows: u64,
    /// Number of batches of an epoch.
    pub per_epoch: u64,
    /// Maximum number of epochs.
    pub max_epochs: u64,
    /// The learning rate, for messages.
    pub learning_rate: f64,
    /// Half the mean squared distance of the rows from their mean: the scale by which divergence of the loss is detected.
    pub half_square: f64,
    /// Seed of the rows for resampled units.
    pub seed: u64,
    /// Rows from which dead units are resampled.
    pub sample: Vec<T>,
}

/// Parameters, and statistics of the batches so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct AutoencoderState<T: Real> {
    /// The parameters.
    pub parameters: Parameters<T>,
    #[serde(rename = "steered")]
    controller: PenaltyController,
    /// Number of rows since each unit was last active.
    pub since: Vec<u64>,
    /// For `BatchTopk`: sum and number of the smallest codes that were kept in this epoch, and their mean in the last.
    kept: (f64, u64),
    threshold: Option<f64>,
    /// Resampled units, whose optimiser state is reset in the next step.
    renewed: Vec<u32>,
    /// Number of units resampled so far.
    pub resampled: u64,
    /// Number of active units, and of rows, in this epoch.
    active: (f64, f64),
    /// Mean number of active units per row in every completed epoch.
    pub l0: Vec<f64>,
    /// Number of dead units at the end of each of them.
    pub dead: Vec<u64>,
}

impl<T: Real> AutoencoderState<T> {
    /// The state before the first batch; `alpha` is the weight of the penalty, or its initial value.
    pub(crate) fn new(parameters: Parameters<T>, alpha: f64) -> Self {
        let m = parameters.n_units();
        Self {
            parameters,
            controller: PenaltyController::new(alpha),
            since: vec![0; m],
            kept: (0.0, 0),
            threshold: None,
            renewed: Vec::new(),
            resampled: 0,
            active: (0.0, 0.0),
            l0: Vec::new(),
            dead: Vec::new(),
        }
    }

    /// The weight of the penalty.
    pub(crate) fn alpha(&self) -> f64 {
        self.controller.alpha
    }

    /// For `BatchTopk`: the threshold of a code, the mean over the batches of the last epoch of the smallest code that was kept.
    pub(crate) fn threshold(&self) -> f64 {
        let now = (self.kept.1 > 0).then(|| self.kept.0 / self.kept.1 as f64);
        self.threshold.or(now).unwrap_or(0.0)
    }
}

/// Learning rate of the log thresholds, relative to that of the other parameters: with the same rate, thresholds change too slowly.
const THRESHOLD_RATE_FACTOR: f64 = 10.0;
/// A loss larger than this multiple of the loss of reconstructing every row by the mean counts as divergence.
const DIVERGED_LOSS_RATIO: f64 = 1e6;
/// Fraction of the epochs after which no unit is resampled.
const RESAMPLED_SHARE_OF_EPOCHS: f64 = 0.7;

/// An autoencoder in training, and buffers of one step.
pub(crate) struct AutoencoderLearner<T: Real> {
    how: Training<T>,
    pass: Pass<T>,
    gradient: Parameters<T>,
    fired: Vec<u64>,
    dead: Vec<bool>,
}

impl<T: Real> AutoencoderLearner<T> {
    /// For parameters of the same sizes as `like`.
    pub(crate) fn new(how: Training<T>, like: &Parameters<T>) -> Self {
        let fired = vec![0; like.n_units()];
        Self { how, pass: Pass::default(), gradient: like.clone(), fired, dead: Vec::new() }
    }

    /// Sets the rows from which dead units are resampled.
    pub(crate) fn begin_anew_at(&mut self, sample: Vec<T>) {
        self.how.sample = sample;
    }

    /// Number of rows without a code after which a unit is dead.
    fn window(&self) -> u64 {
        self.how.n_rows.min(DEAD_AFTER_ROWS)
    }

    /// Dead units, in ascending order.
    pub(crate) fn dead_units(&self, state: &AutoencoderState<T>) -> Vec<u32> {
        let dead = (0..).zip(&state.since).filter(|(_, since)| **since >= self.window());
        dead.map(|(j, _)| j).collect()
    }

    /// The error of a training that diverged.
    pub(crate) fn diverged(&self, epoch: u64, found: &str) -> Error {
        let why = format!("{found} in epoch {}", epoch + 1);
        Error::setting("learning_rate", self.how.learning_rate, why, "choose a smaller value")
    }
}

impl<T: Real> Learner<T> for AutoencoderLearner<T> {
    type State = AutoencoderState<T>;

    fn gradient(&mut self, state: &mut Self::State, batch: &Batch<'_, T>) -> Result<Option<f64>> {
        let how = &self.how;
        let n = batch.rows.len() as u64;
        let coded = self.pass.encode(&state.parameters, &how.terms, batch.x);
        let step = batch.position.epoch * how.per_epoch + batch.position.batch + 1;
        let weight = match how.terms.activation.counts() {
            true => 0.0,
            false => state.controller.weight(&how.penalty_control, step, coded.l0),
        };
        if let Some(least) = coded.least {
            state.kept = (state.kept.0 + least, state.kept.1 + 1);
        }
        self.dead.clear();
        let window = self.window();
        if self.how.dead == DeadUnit::Auxk && state.since.iter().any(|since| *since >= window) {
            self.dead.extend(state.since.iter().map(|since| *since >= window));
        }
        let penalty = Penalty { weight };
        let (parameters, terms) = (&state.parameters, &self.how.terms);
        let (gradient, fired) = (&mut self.gradient, &mut self.fired);
        let loss = self.pass.gradient(parameters, terms, penalty, &self.dead, gradient, fired);
        for (since, fired) in state.since.iter_mut().zip(&self.fired) {
            *since = if *fired > 0 { 0 } else { *since + n };
        }
        state.active = (state.active.0 + coded.l0 * n as f64, state.active.1 + n as f64);
        if loss.is_finite() && loss <= DIVERGED_LOSS_RATIO * self.how.half_square {
            return Ok(Some(loss));
        }
        Err(self.diverged(batch.position.epoch, &format!("the loss grew to {loss:.1e}")))
    }

    fn parameters(&mut self, state: &mut Self::State, updates: &mut Updates<'_, T>) {
        let (to, by) = (&mut state.parameters, &self.gradient);
        let p = to.mean.len();
        let rows: Vec<_> = state.renewed.iter().map(|j| *j as usize * p..(*j as usize + 1) * p).collect();
        let units: Vec<_> = state.renewed.iter().map(|j| *j as usize..*j as usize + 1).collect();
        updates.forget_some(&rows, to.decoder.len());
        updates.take(&mut to.decoder, &by.decoder);
        updates.forget_some(&rows, to.encoder.len());
        updates.take(&mut to.encoder, &by.encoder);
        updates.forget_some(&units, to.bias.len());
        updates.take(&mut to.bias, &by.bias);
        updates.take(&mut to.mean, &by.mean);
        if !to.log_threshold.is_empty() {
            updates.forget_some(&units, to.log_threshold.len());
            updates.take_at(THRESHOLD_RATE_FACTOR, &mut to.log_threshold, &by.log_threshold);
        }
        if !to.magnitude.is_empty() {
            updates.forget_some(&units, to.magnitude.len());
            updates.take(&mut to.magnitude, &by.magnitude);
            updates.forget_some(&units, to.log_scale.len());
            updates.take(&mut to.log_scale, &by.log_scale);
        }
        state.renewed.clear();
    }

    /// Normalises the atoms.
    fn project(&mut self, state: &mut Self::State) -> Result<()> {
        let p = state.parameters.mean.len();
        parallel::each(state.parameters.decoder.chunks_mut(p * 64), |atoms| {
            for atom in atoms.chunks_exact_mut(p) {
                let by = T::from_f64(1.0 / norm(atom));
                widest(
                    #[inline(always)]
                    || atom.iter_mut().for_each(|x| *x *= by),
                );
            }
        });
        Ok(())
    }

    fn epoch_ended(&mut self, state: &mut Self::State) -> Result<()> {
        let epoch = state.l0.len() as u64;
        if !state.parameters.finite() {
            return Err(self.diverged(epoch, "parameters are not finite"));
        }
        let (active, n) = std::mem::take(&mut state.active);
        state.l0.push(active / n.max(1.0));
        if self.how.terms.activation == Activation::BatchTopk {
            let (sum, count) = std::mem::take(&mut state.kept);
            state.threshold = (count > 0).then(|| sum / count as f64).or(state.threshold);
        }
        let dead = self.dead_units(state);
        state.dead.push(dead.len() as u64);
        let early = ((epoch + 1) as f64) < RESAMPLED_SHARE_OF_EPOCHS * self.how.max_epochs as f64;
        if self.how.dead == DeadUnit::Resample && early && !dead.is_empty() {
            let (how, parameters) = (&self.how, &mut state.parameters);
            let of_epoch = (how.seed, epoch);
            state.renewed = resample(parameters, &how.terms, &dead, &how.sample, how.threshold, of_epoch);
            state.resampled += state.renewed.len() as u64;
            state.renewed.iter().for_each(|j| state.since[*j as usize] = 0);
        }
        Ok(())
    }
}
