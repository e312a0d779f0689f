//! Learning by steps on batches of rows: one trainer, optimisers, and schedules of the learning rate, for every method that is trained.
//!
//! A method supplies a [`Learner`]: its parameters, their gradient on a batch, and what is done to them after a step. The
//! [`Trainer`] owns the rest: epochs, batches in random order ([`Batches`](crate::data::Batches)), optimiser, schedule, history,
//! time limit and interruption. All that changes while it runs is one value, [`TrainerState`], from which training continues with
//! the same bits.

mod optimiser;
mod schedule;
mod trainer;

pub use optimiser::{Optimiser, OptimiserState};
pub use schedule::Schedule;
pub use trainer::{Learner, Trainer, TrainerState, Updates};
