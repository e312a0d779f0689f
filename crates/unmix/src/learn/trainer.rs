//! The loop over epochs and batches.

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

/// The model that is trained. The value itself holds settings and buffers; whatever changes from one batch to the next is its
/// `State`.
pub trait Learner<T: Real> {
    /// Parameters, and what is stored of the batches so far. With the settings it is all that a learner is.
    type State: Serialize + DeserializeOwned;

    /// What the numbers that [`parameters`](Self::parameters) hands over are multiplied by to be gradients: 2 for half-gradients.
    const TIMES: f64 = 1.0;

    /// Works out the gradient at `state` on a batch that is not empty, and returns the mean loss of its rows, where there is a loss.
    ///
    /// # Errors
    ///
    /// Whatever cannot be worked out.
    fn gradient(&mut self, state: &mut Self::State, batch: &Batch<'_, T>) -> Result<Option<f64>>;

    /// Hands every parameter and its gradient to `updates`, in the same order and of the same lengths each time.
    fn parameters(&mut self, state: &mut Self::State, updates: &mut Updates<'_, T>);

    /// Puts parameters back where they have to be, after a step.
    ///
    /// # Errors
    ///
    /// Parameters that cannot be put back.
    fn project(&mut self, state: &mut Self::State) -> Result<()> {
        let _ = state;
        Ok(())
    }

    /// Whether training ends here, before its last epoch.
    fn done(&self, state: &Self::State) -> bool {
        let _ = state;
        false
    }

    /// After the last step of an epoch.
    ///
    /// # Errors
    ///
    /// Parameters that have grown without bound, those of a pass over the rows.
    fn epoch_ended(&mut self, state: &mut Self::State) -> Result<()> {
        let _ = state;
        Ok(())
    }
}

/// Moves every parameter by one step.
pub struct Updates<'m, T: Real> {
    how: Optimiser,
    rate: f64,
    times: f64,
    memory: &'m mut OptimiserStates<T>,
    /// How many parameters of each type have been moved.
    moved: [usize; 2],
}

impl<T: Real> Updates<'_, T> {
    /// Moves a parameter in the type of the rows against its gradient, as long.
    pub fn take(&mut self, values: &mut [T], gradient: &[T]) {
        let memory = nth(&mut self.memory.own, &mut self.moved[0], self.how, values.len());
        memory.step(self.how, self.rate, self.times, values, gradient);
    }

    /// The same by `share` of the learning rate.
    pub fn take_at(&mut self, share: f64, values: &mut [T], gradient: &[T]) {
        let memory = nth(&mut self.memory.own, &mut self.moved[0], self.how, values.len());
        memory.step(self.how, share * self.rate, self.times, values, gradient);
    }

    /// Moves a parameter in double precision by `share` of the learning rate.
    pub fn take_wide_at(&mut self, share: f64, values: &mut [f64], gradient: &[f64]) {
        let memory = nth(&mut self.memory.wide, &mut self.moved[1], self.how, values.len());
        memory.step(self.how, share * self.rate, self.times, values, gradient);
    }

    /// Forgets the gradients of all parameters, before the first of them is moved: from here on they may be others.
    pub fn forget(&mut self) {
        self.memory.own.clear();
        self.memory.wide.clear();
    }

    /// Forgets the gradients so far of some numbers of the parameter that is handed over next, of `len` numbers in the type of the rows.
    pub fn forget_some(&mut self, places: &[std::ops::Range<usize>], len: usize) {
        if !places.is_empty() {
            let mut moved = self.moved[0];
            nth(&mut self.memory.own, &mut moved, self.how, len).forget(places);
        }
    }

    /// Moves a parameter in double precision.
    pub fn take_wide(&mut self, values: &mut [f64], gradient: &[f64]) {
        let memory = nth(&mut self.memory.wide, &mut self.moved[1], self.how, values.len());
        memory.step(self.how, self.rate, self.times, values, gradient);
    }
}

/// The memory of the parameter that comes next, made at the first step.
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

/// State of the optimiser for all parameters, in the order in which they are handed over.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
struct OptimiserStates<T: Real> {
    own: Vec<OptimiserState<T>>,
    wide: Vec<OptimiserState<f64>>,
}

/// All that changes while a learner is trained: what a checkpoint holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "S: Serialize + DeserializeOwned")]
pub struct TrainerState<S, T: Real> {
    /// The batch that comes next.
    pub position: Position,
    /// Updates taken.
    pub steps: u64,
    /// The learner's own.
    pub learner: S,
    /// Mean loss of the rows in every epoch that has ended, where the learner has a loss.
    pub history: Vec<f64>,
    memory: OptimiserStates<T>,
    /// Loss of the rows of this epoch so far, and how often they count.
    loss: (f64, f64),
}

impl<S, T: Real> TrainerState<S, T> {
    /// Before the first batch.
    pub fn new(learner: S) -> Self {
        let memory = OptimiserStates { own: Vec::new(), wide: Vec::new() };
        Self {
            position: Position::default(),
            steps: 0,
            learner,
            history: Vec::new(),
            memory,
            loss: (0.0, 0.0),
        }
    }
}

/// Options of training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trainer {
    /// The update rule.
    pub optimiser: Optimiser,
    /// The learning rate where the schedule is at its peak.
    pub learning_rate: f64,
    /// How it changes.
    pub schedule: Schedule,
    /// Maximum number of epochs.
    pub max_epochs: u64,
}

/// Number of progress reports within an epoch, where batches allow.
const PACE: Duration = Duration::from_millis(50);

impl Trainer {
    /// Trains `learner` from `state` on, until the last epoch has ended or time is up: [`Outcome::Completed`] or [`Outcome::Time`].
    /// At least one step is taken where one is left. What was reached is in `state`. A run that continues from a checkpoint takes
    /// the state from there.
    ///
    /// # Errors
    ///
    /// Those of the learner and of the source; interruption.
    pub fn train<T: Real, L: Learner<T>>(
        &self,
        batches: &Batches<'_, T>,
        learner: &mut L,
        state: &mut TrainerState<L::State, T>,
        run: &Run<'_>,
    ) -> Result<Outcome> {
        let total = batches.per_epoch() * self.max_epochs;
        let limits = Limits { tol: f64::NEG_INFINITY, max_iter: total };
        let (mut steps, kept) = Steps::begin(run, "training", limits, || Ok(None))?;
        if let Some(kept) = kept {
            *state = kept;
        }
        if learner.done(&state.learner) {
            return Ok(Outcome::Completed);
        }
        let (mut reported, mut outcome) = (Instant::now(), Outcome::Completed);
        batches.each(state.position, self.max_epochs, run.threads, |batch| {
            let number = batch.position.epoch * batches.per_epoch() + batch.position.batch;
            let rate = self.learning_rate * self.schedule.share(number, total);
            self.step(learner, state, batch, rate)?;
            if let Some(loss) = state.history.last().filter(|_| batch.ends_epoch()) {
                run.iteration(state.position.epoch, f64::INFINITY, Some(*loss));
            }
            steps.counted(&Some(&*state))?;
            if batch.ends_epoch() || reported.elapsed() >= PACE {
                reported = Instant::now();
                let stage = format!("epoch {}", batch.position.epoch + 1);
                run.sweep_progress(&stage, batch.done, Some(batches.n_rows()))?;
            }
            let done = learner.done(&state.learner);
            if run.out_of_time() && state.position.epoch < self.max_epochs && !done {
                outcome = Outcome::Time;
            }
            Ok(outcome == Outcome::Completed && !done)
        })?;
        Ok(outcome)
    }

    /// One step by one batch, and what comes after an epoch; a batch without rows has no step.
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
