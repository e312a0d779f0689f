//! The deterministic solvers of sigma-PCA: accuracy of the axes, number of sweeps, and what reports state.

pub(crate) mod designs;
mod halves;
mod law;
mod model;
mod native;
mod polar;
mod problems;
mod verdicts;
mod widths;
