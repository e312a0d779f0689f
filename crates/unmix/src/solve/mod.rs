//! What every iterative solver shares: one type that decides when it stops, keeps its history, reports progress, hears that the
//! user requested a stop, and keeps and restores its state (`Steps`); and limited-memory BFGS, which several methods use.

pub mod lbfgs;
mod steps;

pub(crate) use steps::{Limits, Steps};
