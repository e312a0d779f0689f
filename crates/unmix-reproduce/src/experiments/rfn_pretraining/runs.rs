//! Pretraining and fine-tuning, side by side with one thread each.

use super::Plan;
use super::arms::{ARMS, Arm};
use super::data::Parts;
use crate::lab::{Lab, side_by_side};
use unmix::shallow::{ClassifierWeights, FineTuning};
use unmix::{Error, Event, Result, Run};

/// Learning rate and masking noise of the grid.
const GRID: [(f64, f64); 4] = [(0.1, 0.0), (0.1, 0.25), (0.01, 0.0), (0.01, 0.25)];

/// One fine-tuning.
#[derive(Clone, Debug)]
pub(super) struct TunedNetwork {
    pub(super) arm: Arm,
    pub(super) seed: u64,
    pub(super) learning_rate: f64,
    pub(super) masking: f64,
    /// `None`: the loss diverged.
    pub(super) result: Option<Errors>,
}

/// Errors of a fine-tuning, as shares.
#[derive(Clone, Debug)]
pub(super) struct Errors {
    /// The best epoch.
    pub(super) epoch: u64,
    /// On the validation part after every epoch.
    pub(super) curve: Vec<f64>,
    /// On the validation part at the best epoch.
    pub(super) validation: f64,
    pub(super) test: f64,
}

/// Every fine-tuning of a set.
pub(super) fn of(lab: &Lab<'_>, plan: &Plan, set: &Parts) -> Result<Vec<TunedNetwork>> {
    let begins: Vec<(Arm, u64)> =
        ARMS.iter().flat_map(|arm| (0..plan.seeds).map(|seed| (*arm, seed))).collect();
    lab.run.observer.event(Event::Stage(&format!("{}: initial layers", set.spec.name)));
    let layers = side_by_side(lab.run, begins.len(), |at, run| {
        let (arm, seed) = begins[at];
        arm.layer(set, plan.units, plan.quick, &seeded(run, seed))
    })?;
    lab.run.observer.event(Event::Stage(&format!("{}: fine-tuning", set.spec.name)));
    side_by_side(lab.run, begins.len() * GRID.len(), |at, run| {
        let ((arm, seed), (learning_rate, masking)) = (begins[at / GRID.len()], GRID[at % GRID.len()]);
        let how = FineTuning {
            learning_rate,
            masking,
            max_epochs: plan.max_epochs,
            patience: plan.patience,
            ..FineTuning::default()
        };
        let result = tuned(&how, set, layers[at / GRID.len()].clone(), &seeded(run, seed))?;
        Ok(TunedNetwork { arm, seed, learning_rate, masking, result })
    })
}

fn seeded<'r>(run: &Run<'r>, seed: u64) -> Run<'r> {
    Run { seed, threads: 1, observer: run.observer, ..Run::default() }
}

/// `None` where the loss diverges.
fn tuned(
    how: &FineTuning,
    set: &Parts,
    start: ClassifierWeights<f32>,
    run: &Run<'_>,
) -> Result<Option<Errors>> {
    let [train, valid, test] = &set.parts;
    let found = match how.fit(train.labelled(), valid.labelled(), start, run) {
        Ok(found) => found,
        Err(Error::Setting { .. }) => return Ok(None),
        Err(e) => return Err(e),
    };
    let wrong = found.weights.n_errors(&test.x, &test.labels);
    let validation = found.validation.iter().copied().fold(f64::INFINITY, f64::min);
    let test = wrong as f64 / test.labels.len() as f64;
    Ok(Some(Errors { epoch: found.epoch, curve: found.validation, validation, test }))
}

/// For one initial layer and seed, the fine-tuning with the smallest validation error, the first if several are equal.
pub(super) fn chosen(all: &[TunedNetwork], arm: Arm, seed: u64) -> Option<(&TunedNetwork, &Errors)> {
    let own = all.iter().filter(|t| t.arm == arm && t.seed == seed);
    let with = own.filter_map(|t| t.result.as_ref().map(|errors| (t, errors)));
    with.reduce(|best, next| if next.1.validation < best.1.validation { next } else { best })
}
