//! The experiments, one a file.

mod filters;
mod losses;
mod points;
mod rotation;
mod shapes;
mod sigma;
mod signals;
mod sweep;
mod transforms;

use crate::Experiment;

/// Every experiment, in the order of the publication.
pub const EXPERIMENTS: &[Experiment] = &[
    shapes::EXPERIMENT,
    transforms::EXPERIMENT,
    signals::EXPERIMENT,
    points::EXPERIMENT,
    filters::EXPERIMENT,
    filters::MORE,
    rotation::EXPERIMENT,
    sigma::EXPERIMENT,
    sweep::SCALING,
    sweep::WIDTH,
    rotation::OUTPUTS,
    losses::LATENT,
    losses::ASYMMETRIC,
    losses::RICA,
    losses::LINEAR,
    losses::NONLINEAR,
];

/// The paper that most experiments are of.
const PAPER: &str = "sigma-PCA, arXiv 2311.13580v3";
