//! Training on mini-batches: the trainer, optimisers, and learning rate schedules, for all methods that are
//! trained.
//!
//! A method supplies a [`Learner`]: its parameters, their gradient on a batch, and constraints that are applied after a step. The
//! [`Trainer`] supplies the rest: epochs, batches in random order ([`Batches`](crate::data::Batches)), optimiser, schedule, history, time
//! limit and interruption. Its state is one value, [`TrainerState`], from which training can be resumed with the same bits.

mod optimiser;
mod schedule;
mod trainer;

pub use optimiser::Optimiser;
pub(crate) use optimiser::OptimiserState;
pub(crate) use schedule::Schedule;
pub(crate) use trainer::{Learner, Trainer, TrainerState, Updates};
