//! The loop over epochs and batches.

use super::optimiser::descend;
use super::{Optimiser, OptimiserState, Schedule};
use crate::data::{Batch, Batches, Position};
use crate::error::Result;
use crate::model::Outcome;
use crate::num::Real;
use crate::run::Run;
use crate::solve::{Limits, Steps};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// A model in training. The value itself holds settings and buffers; everything that changes from one batch to the next is in its
/// `State`.
pub(crate) trait Learner<T: Real> {
    /// Parameters, and statistics of the batches so far. Together with the settings it determines the learner.
    type State: Clone + Serialize + DeserializeOwned;

    /// Factor that converts the numbers passed by [`parameters`](Self::parameters) to gradients: 2 for half-gradients.
    const TIMES: f64 = 1.0;

    /// Computes the gradient at `state` on a non-empty batch, and returns the mean loss of its rows, if there is a loss.
    ///
    /// # Errors
    ///
    /// A failure of the computation.
    fn gradient(&mut self, state: &mut Self::State, batch: &Batch<'_, T>) -> Result<Option<f64>>;

    /// Passes every parameter and its gradient to `updates`, in the same order and with the same lengths each time.
    fn parameters(&mut self, state: &mut Self::State, updates: &mut Updates<'_, T>);

    /// Projects the parameters onto their constraint set, after a step.
    ///
    /// # Errors
    ///
    /// Parameters that cannot be projected.
    fn project(&mut self, state: &mut Self::State) -> Result<()> {
        let _ = state;
        Ok(())
    }

    /// Whether training ends before its last epoch.
    fn done(&self, state: &Self::State) -> bool {
        let _ = state;
        false
    }

    /// The loss on the validation rows, if there are any; called at the end of an epoch if the trainer has a [`Trainer::patience`].
    ///
    /// # Errors
    ///
    /// A failure of the computation.
    fn validate(&mut self, state: &Self::State) -> Result<Option<f64>> {
        let _ = state;
        Ok(None)
    }

    /// Called after the last step of an epoch.
    ///
    /// # Errors
    ///
    /// Parameters that have diverged, errors of a pass over the rows.
    fn epoch_ended(&mut self, state: &mut Self::State) -> Result<()> {
        let _ = state;
        Ok(())
    }
}

/// Applies one step of the optimiser to every parameter.
pub(crate) struct Updates<'m, T: Real> {
    how: Optimiser,
    rate: f64,
    times: f64,
    memory: &'m mut OptimiserStates<T>,
    /// Number of parameters of each type that have been updated in this step.
    moved: [usize; 2],
}

impl<T: Real> Updates<'_, T> {
    /// Updates a parameter in the type of the rows; its gradient has the same length.
    pub(crate) fn take(&mut self, values: &mut [T], gradient: &[T]) {
        let memory = nth(&mut self.memory.own, &mut self.moved[0], self.how, values.len());
        memory.step(self.how, self.rate, self.times, values, gradient);
    }

    /// Updates a parameter by a step of the learning rate along the negative gradient, without the optimiser.
    pub(crate) fn descend(&mut self, values: &mut [T], gradient: &[T]) {
        descend(values, gradient, self.descent_rate());
    }

    /// The factor by which [`descend`](Self::descend) multiplies gradients, for a learner whose gradient is not stored.
    pub(crate) fn descent_rate(&self) -> T {
        T::from_f64(self.rate * self.times)
    }

    /// [`take`](Self::take) with the learning rate multiplied by `share`.
    pub(crate) fn take_at(&mut self, share: f64, values: &mut [T], gradient: &[T]) {
        let memory = nth(&mut self.memory.own, &mut self.moved[0], self.how, values.len());
        memory.step(self.how, share * self.rate, self.times, values, gradient);
    }

    /// Updates a parameter in double precision with the learning rate multiplied by `share`.
    pub(crate) fn take_wide_at(&mut self, share: f64, values: &mut [f64], gradient: &[f64]) {
        let memory = nth(&mut self.memory.wide, &mut self.moved[1], self.how, values.len());
        memory.step(self.how, share * self.rate, self.times, values, gradient);
    }

    /// Discards the state of the optimiser for all parameters, before the first of them is updated: their number and lengths may
    /// change.
    pub(crate) fn forget(&mut self) {
        self.memory.own.clear();
        self.memory.wide.clear();
    }

    /// Resets the moving averages of some entries of the next parameter, of `len` numbers in the type of the rows.
    pub(crate) fn forget_some(&mut self, places: &[std::ops::Range<usize>], len: usize) {
        if !places.is_empty() {
            let mut moved = self.moved[0];
            nth(&mut self.memory.own, &mut moved, self.how, len).forget(places);
        }
    }

    /// Updates a parameter in double precision.
    pub(crate) fn take_wide(&mut self, values: &mut [f64], gradient: &[f64]) {
        let memory = nth(&mut self.memory.wide, &mut self.moved[1], self.how, values.len());
        memory.step(self.how, self.rate, self.times, values, gradient);
    }
}

/// The optimiser state of the next parameter, created at the first step.
fn nth<'m, V: Real>(
    all: &'m mut Vec<OptimiserState<V>>,
    moved: &mut usize,
    how: Optimiser,
    len: usize,
) -> &'m mut OptimiserState<V> {
    if *moved == all.len() {
        all.push(OptimiserState::new(how, len));
    }
    *moved += 1;
    &mut all[*moved - 1]
}

/// State of the optimiser for all parameters, in the order in which they are passed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
struct OptimiserStates<T: Real> {
    own: Vec<OptimiserState<T>>,
    wide: Vec<OptimiserState<f64>>,
}

/// Everything that changes while a learner is trained: the contents of a checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "S: Serialize + DeserializeOwned")]
pub(crate) struct TrainerState<S, T: Real> {
    /// The next batch.
    pub position: Position,
    /// Number of steps.
    pub steps: u64,
    /// State of the learner.
    pub learner: S,
    /// Mean loss of the rows in every completed epoch, if the learner has a loss.
    pub history: Vec<f64>,
    /// Loss on the validation rows after every completed epoch, if the trainer has a patience and the learner validation rows.
    pub validation: Vec<f64>,
    /// The state of the learner at the smallest of these losses, the first if several are equal, and the number of epochs up to it.
    pub best: Option<(u64, S)>,
    memory: OptimiserStates<T>,
    /// Sum of the losses of the rows of this epoch so far, and the sum of their weights.
    loss: (f64, f64),
}

impl<S, T: Real> TrainerState<S, T> {
    /// State before the first batch.
    pub(crate) fn new(learner: S) -> Self {
        let memory = OptimiserStates { own: Vec::new(), wide: Vec::new() };
        Self {
            position: Position::default(),
            steps: 0,
            learner,
            history: Vec::new(),
            validation: Vec::new(),
            best: None,
            memory,
            loss: (0.0, 0.0),
        }
    }

    /// Restores the learner at the smallest validation loss, if there is one.
    fn choose_best(&mut self) {
        if let Some((_, best)) = self.best.take() {
            self.learner = best;
        }
    }
}

/// Options of training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trainer {
    /// The update rule.
    pub optimiser: Optimiser,
    /// Peak learning rate of the schedule.
    pub learning_rate: f64,
    /// Learning rate schedule.
    pub schedule: Schedule,
    /// Maximum number of epochs.
    pub max_epochs: u64,
    /// Early stopping: training ends after so many epochs without a smaller validation loss, and its result is the state at the smallest
    /// one. `None`: the result is the state after the last epoch.
    pub patience: Option<u64>,
}

/// Minimum time between progress reports within an epoch.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(50);

impl Trainer {
    /// Trains `learner` starting from `state`, until the last epoch has ended ([`Outcome::Completed`]), the time limit is reached
    /// ([`Outcome::Time`]) or the observer ends the run ([`Outcome::Interrupted`]). At least one step is taken if one is left. The result is
    /// in `state`. A run that resumes from a checkpoint takes the state from it.
    ///
    /// # Errors
    ///
    /// Errors of the learner and of the source; [`Error::Interrupted`](crate::Error::Interrupted).
    pub(crate) fn train<T: Real, L: Learner<T>>(
        &self,
        batches: &Batches<'_, T>,
        learner: &mut L,
        state: &mut TrainerState<L::State, T>,
        run: &Run<'_>,
    ) -> Result<Outcome> {
        let total = batches.per_epoch().saturating_mul(self.max_epochs);
        let (mut steps, kept) = Steps::begin(run, "training", Limits::count(total), || Ok(None))?;
        if let Some(kept) = kept {
            *state = kept;
        }
        if learner.done(&state.learner) || self.is_over(state) {
            state.choose_best();
            return Ok(Outcome::Completed);
        }
        let (mut reported, mut outcome) = (Instant::now(), Outcome::Completed);
        batches.each(state.position, self.max_epochs, run.threads, |batch| {
            let number = batch.position.epoch * batches.per_epoch() + batch.position.batch;
            let rate = self.learning_rate * self.schedule.share(number, total);
            self.step(learner, state, batch, rate)?;
            if batch.ends_epoch() {
                self.validate(learner, state)?;
            }
            if batch.ends_epoch() {
                // Rules without an objective have no history.
                let epoch = (state.position.epoch, self.max_epochs);
                run.epoch(epoch, f64::INFINITY, state.history.last().copied());
            }
            steps.counted(&Some(&*state))?;
            if batch.ends_epoch() || reported.elapsed() >= PROGRESS_INTERVAL {
                reported = Instant::now();
                let stage = format!("epoch {} of at most {}", batch.position.epoch + 1, self.max_epochs);
                run.sweep_progress(&stage, batch.done, Some(batches.n_rows()))?;
            }
            let done = learner.done(&state.learner) || self.is_over(state);
            let left = state.position.epoch < self.max_epochs && !done;
            outcome = steps.spent().filter(|_| left).unwrap_or(outcome);
            Ok(outcome == Outcome::Completed && !done)
        })?;
        state.choose_best();
        Ok(outcome)
    }

    /// Computes the validation loss after an epoch, and keeps the state if it is the best so far.
    fn validate<T: Real, L: Learner<T>>(
        &self,
        learner: &mut L,
        state: &mut TrainerState<L::State, T>,
    ) -> Result<()> {
        let Some(loss) = self.patience.map_or(Ok(None), |_| learner.validate(&state.learner))? else {
            return Ok(());
        };
        let least = state.validation.iter().copied().fold(f64::INFINITY, f64::min);
        state.validation.push(loss);
        if state.best.is_none() || loss < least {
            state.best = Some((state.position.epoch, state.learner.clone()));
        }
        Ok(())
    }

    /// Whether the last epochs, as many as the patience, had no smaller validation loss.
    fn is_over<S, T: Real>(&self, state: &TrainerState<S, T>) -> bool {
        let since = |best: &(u64, S)| state.position.epoch.saturating_sub(best.0);
        self.patience.is_some_and(|patience| state.best.as_ref().is_some_and(|best| since(best) >= patience))
    }

    /// One step on one batch, and the work at the end of an epoch; a batch without rows makes no step.
    pub(crate) fn step<T: Real, L: Learner<T>>(
        &self,
        learner: &mut L,
        state: &mut TrainerState<L::State, T>,
        batch: &Batch<'_, T>,
        rate: f64,
    ) -> Result<()> {
        if !batch.rows.is_empty() {
            if let Some(loss) = learner.gradient(&mut state.learner, batch)? {
                let n = batch.weights.map_or(batch.rows.len() as f64, |w| w.iter().sum());
                state.loss = (state.loss.0 + n * loss, state.loss.1 + n);
            }
            let (how, times, memory) = (self.optimiser, L::TIMES, &mut state.memory);
            learner.parameters(&mut state.learner, &mut Updates { how, rate, times, memory, moved: [0; 2] });
            learner.project(&mut state.learner)?;
            state.steps += 1;
        }
        state.position = batch.next;
        if batch.ends_epoch() {
            let (loss, n) = std::mem::take(&mut state.loss);
            if n > 0.0 {
                state.history.push(loss / n);
            }
            learner.epoch_ended(&mut state.learner)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
