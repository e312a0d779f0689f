//! The deterministic solvers of sigma-PCA: truths found, in how many sweeps, and what they say of themselves.

pub(crate) mod designs;
mod halves;
mod law;
mod model;
mod native;
mod polar;
mod problems;
mod verdicts;
mod widths;
