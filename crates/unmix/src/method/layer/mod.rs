//! Common parts of methods with one dense hidden layer: checks, training in standardised coordinates, and the model in the units of the rows.

mod scaling;

use super::sae::{self, Measured};
use crate::data::{Batches, Rows, check_n_rows, no_columns};
use crate::error::Result;
use crate::learn::{Learner, Trainer, TrainerState};
use crate::machine::check_memory;
use crate::model::{Code, Gate, LinearDecoder, Outcome, Report, Tensor, Tensors, constant_columns, require};
use crate::num::{Matrix, Real};
use crate::run::Run;
use crate::shallow::{LayerWeights, diverged};
use serde_json::{Map, Value};

pub(super) use scaling::{RowScaling, by_use};

/// Size of a fit, for its memory: numbers stored for each parameter, and for each unit and column of each row of a mini-batch.
pub(super) struct LayerSize {
    pub(super) n_units: usize,
    pub(super) batch_size: usize,
    pub(super) per_parameter: u64,
    pub(super) per_row: u64,
}

/// Checks the rows and the memory; `what` names the network in messages.
///
/// # Errors
///
/// Too few rows, rows without columns, layers that do not fit in memory.
pub(super) fn check<T: Real>(key: &str, what: &str, rows: &mut Rows<'_, T>, size: &LayerSize) -> Result<()> {
    check_n_rows(key, rows.n_counted(), rows.origin(), "give more rows")?;
    if rows.n_features() == 0 {
        return Err(no_columns(key, rows.origin()));
    }
    let (m, p, bytes) = (size.n_units as u64, rows.n_features() as u64, T::DTYPE.size() as u64);
    let tables = m.saturating_mul(p).saturating_mul(size.per_parameter * bytes);
    let batch =
        (size.batch_size as u64).saturating_mul(m.saturating_add(p)).saturating_mul(size.per_row * bytes);
    check_memory(
        &format!("{what} of {m} units of {p} numbers"),
        tables.saturating_add(batch),
        "choose fewer units (n_components), a smaller batch_size, or fewer columns",
    )
}

/// Result of training.
pub(super) struct Trained<T: Real> {
    outcome: Outcome,
    steps: u64,
    /// Number of full passes over the rows.
    sweeps: u64,
    history: Vec<f64>,
    pub(super) weights: LayerWeights<T>,
}

/// Trains `learner` from `start`.
///
/// # Errors
///
/// Weights or a loss that diverge, interruption, errors of the source.
pub(super) fn train<T: Real, L: Learner<T, State = LayerWeights<T>>>(
    trainer: &Trainer,
    batches: &Batches<'_, T>,
    learner: &mut L,
    start: LayerWeights<T>,
    run: &Run<'_>,
) -> Result<Trained<T>> {
    let mut state = TrainerState::new(start);
    run.stage("units")?;
    let outcome = trainer.train(batches, learner, &mut state, run)?;
    if !state.learner.finite() {
        return Err(diverged(trainer.learning_rate, state.position.epoch, "parameters are not finite"));
    }
    let (weights, history, sweeps) = (state.learner, state.history, 1 + state.position.epoch);
    Ok(Trained { outcome, steps: state.steps, sweeps, history, weights })
}

/// Constructs an encoder from the mean, the weights, `n_features x n_units`, and the biases of the units: [`Gate::new`] or [`Gate::logistic`].
pub(super) type MakeGate = fn(Tensor, Matrix<f64>, Vec<f64>) -> Gate;

/// The encoder with these parameters, the components and the mean.
fn encoder(tensors: &Tensors, gate: MakeGate) -> Result<(Gate, Matrix<f64>, Tensor)> {
    let components = require(tensors, "components", &[None, None])?;
    let (m, p) = (components.shape()[0], components.shape()[1]);
    let mean = require(tensors, "mean", &[Some(p)])?.clone();
    let weight = require(tensors, "encoder_weight", &[Some(m), Some(p)])?.to_matrix().transposed();
    let bias = require(tensors, "encoder_bias", &[Some(m)])?.f64s();
    Ok((gate(mean.clone(), weight, bias), components.to_matrix(), mean))
}

/// Encoder and decoder from the parameters of a model.
///
/// # Errors
///
/// A parameter that is missing or has another shape.
pub(super) fn code(tensors: &Tensors, gate: MakeGate) -> Result<Code> {
    let (encoder, components, mean) = encoder(tensors, gate)?;
    Code::new(encoder, LinearDecoder::new(mean, components))
}

/// Use of the units and residual on a sample of the rows.
///
/// # Errors
///
/// Interruption, errors of the source.
pub(super) fn measured<T: Real>(
    rows: &Rows<'_, T>,
    scaling: &RowScaling,
    weights: &LayerWeights<T>,
    gate: MakeGate,
    run: &Run<'_>,
) -> Result<Measured<T>> {
    let kept: Vec<usize> = (0..weights.n_units()).collect();
    let (encoder, components, mean) = encoder(&scaling.parameters(weights, &kept), gate)?;
    sae::measured(rows, &encoder, (&mean.f64s(), &components, &scaling.mean), run)
}

/// The report of a training by `solver`, with warnings about columns that do not vary and about the sample in `measured`.
pub(super) fn report<T: Real>(
    solver: &str,
    rows: &Rows<'_, T>,
    scaling: &RowScaling,
    found: &Trained<T>,
    measured: &Measured<T>,
    settings: &Map<String, Value>,
    run: &Run<'_>,
) -> Report {
    let p = rows.n_features();
    let mut report = Report::closed_form(solver, rows.n_samples(), p, T::DTYPE, run.seed);
    (report.outcome, report.n_iter, report.sweeps) = (found.outcome, found.steps, found.sweeps);
    report.n_constant = scaling.varies.iter().filter(|varies| !**varies).count();
    report.settings = settings.clone();
    report.objective = found.history.clone();
    report.warnings.extend(constant_columns(report.n_constant, p, "entries in every component"));
    if let Some(warning) = &measured.warning {
        // The model is not that of a run without limits.
        report.outcome = run.early_outcome();
        report.warnings.push(warning.clone());
    }
    report
}
