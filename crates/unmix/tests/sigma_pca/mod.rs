//! The deterministic solvers of sigma-PCA: truths found, in how many sweeps, and what they say of themselves.

mod halves;
mod law;
mod model;
mod native;
mod polar;
mod problems;
mod widths;
