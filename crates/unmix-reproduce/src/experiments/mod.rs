//! The experiments, one per file.

mod dictionaries;
mod filters;
mod latent;
mod lista;
mod mask;
mod panels;
mod points;
mod projection;
pub(crate) mod published;
mod rfn_filters;
mod rfn_modules;
mod rfn_pretraining;
mod rfn_tables;
mod rica;
mod rotation;
mod rules;
mod sae_activations;
mod sae_is_lista;
mod shapes;
mod sigma;
mod signals;
mod solvers;
mod sphere;
mod subspace;
mod sweep;
mod transforms;
mod union;

use crate::Experiment;

/// Every experiment, in the order of the publications.
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
    latent::LATENT,
    latent::ASYMMETRIC,
    rica::EXPERIMENT,
    rules::LINEAR,
    rules::NONLINEAR,
    subspace::EXPERIMENT,
    projection::EXPERIMENT,
    mask::EXPERIMENT,
    union::EXPERIMENT,
    sphere::EXPERIMENT,
    dictionaries::EXPERIMENT,
    solvers::EXPERIMENT,
    sae_is_lista::EXPERIMENT,
    lista::EXPERIMENT,
    sae_activations::EXPERIMENT,
    rfn_tables::EXPERIMENT,
    rfn_pretraining::EXPERIMENT,
    rfn_filters::EXPERIMENT,
    rfn_modules::EXPERIMENT,
];

/// The book chapter on linear structure.
const CHAPTER: &str = "chapter 2 (Learning Linear and Independent Structures) of Learning Deep Representations of Data Distributions";

/// The paper of most experiments.
const PAPER: &str = "sigma-PCA, arXiv 2311.13580v3";
