//! Shared parts of iterative solvers: `Steps` for stopping rules, history, progress, interruption and
//! checkpoints; and limited-memory BFGS, which several methods use.

pub(crate) mod lbfgs;
mod starts;
mod steps;

pub(crate) use starts::best_of_starts;
pub(crate) use steps::{Limits, Steps};
