//! RICA on mini-batches: a few steps of the search on each, and the mean of the results of the last epoch's
//! batches.
//!
//! The reconstruction term is that of all rows, which their second moments hold; only the sparsity term is
//! computed on the batch. The features that are optimal for a batch differ from those of all rows by its
//! sampling error. The batches of an epoch partition the rows, so these errors cancel in the mean over an
//! epoch, up to second order: the mean is taken over the last epoch.

use super::cost::Cost;
use crate::data::{Batches, Position, Rows};
use crate::error::Result;
use crate::model::Outcome;
use crate::num::Real;
use crate::run::{Run, WithoutIterations};
use crate::solve::lbfgs::{Lbfgs, Minimum, Objective};
use crate::solve::{Limits, Steps};
use serde::{Deserialize, Serialize};

/// Steps on each batch, the middle one of those that Le et al. tried: with fewer the curvature is estimated
/// too poorly, with more the search overfits to the batch.
const STEPS_PER_BATCH: u64 = 5;

/// Division of the rows into batches.
pub(super) struct ByBatches {
    /// Mini-batch size.
    pub(super) size: usize,
    /// Maximum number of epochs.
    pub(super) epochs: u64,
}

impl ByBatches {
    /// Minimises from the point `x`. `cost` is that of all rows, which the final value and gradient refer to.
    pub(super) fn minimise<T: Real>(
        &self,
        cost: &mut Cost<'_, '_, T>,
        x: Vec<f64>,
        run: &Run<'_>,
    ) -> Result<(Minimum, Outcome)> {
        let (rows, n) = (cost.rows, cost.rows.n_rows().unwrap_or(0));
        rows.here("rica with batch_size")?;
        let (mut steps, mut search) = Steps::begin(run, "batches", Limits::NONE, || {
            Ok(Search { mean: vec![0.0; x.len()], x, ..Search::default() })
        })?;
        let mut outcome = Outcome::Completed;
        let mut ended = |search: &mut Search, cost: &Cost<'_, '_, T>, next: Position| {
            if let Some(early) = steps.spent() {
                outcome = early;
                return Ok(false);
            }
            if next.epoch > search.position.epoch {
                self.epoch_ended(search, cost, run);
            }
            search.position = next;
            steps.counted(search).map(|()| true)
        };
        if n <= self.size as u64 {
            // One batch of all rows: these themselves, without a copy.
            let mut goes_on = true;
            while goes_on && search.position.epoch < self.epochs {
                search.step(cost, rows, n)?;
                let next = Position { epoch: search.position.epoch + 1, batch: 0 };
                goes_on = ended(&mut search, cost, next)?;
            }
        } else {
            // All threads process each batch, so that none of them reads ahead.
            Batches::new(rows, self.size, run.seed)?.each(search.position, self.epochs, 1, |batch| {
                if !batch.rows.is_empty() {
                    search.step(cost, &batch.as_rows(rows)?, batch.rows.len() as u64)?;
                }
                ended(&mut search, cost, batch.next)
            })?;
        }
        let n_iter = steps.n_iter();
        let Search { x, seen, mut objective, .. } = search;
        cost.sweeps += seen.div_ceil(n.max(1));
        let mut gradient = vec![0.0; x.len()];
        let value = cost.at(&x, &mut gradient)?;
        objective.push(value);
        let residual = cost.residual(&gradient);
        Ok((Minimum { x, value, residual, outcome, n_iter, objective }, outcome))
    }

    /// Records the result of an epoch; after the last one, the features become their mean over its batches.
    fn epoch_ended<T: Real>(&self, search: &mut Search, cost: &Cost<'_, '_, T>, run: &Run<'_>) {
        search.objective.push(search.value);
        run.epoch((search.position.epoch + 1, self.epochs), f64::INFINITY, Some(search.value));
        if search.position.epoch + 1 == self.epochs {
            search.x = cost.renewed(search.mean.clone());
        }
        search.mean.fill(0.0);
        search.value = 0.0;
    }
}

/// State of the search.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Search {
    /// The batch that comes next.
    position: Position,
    x: Vec<f64>,
    /// Running means of the results of this epoch's batches, and of the function there.
    mean: Vec<f64>,
    value: f64,
    /// Number of rows processed.
    seen: u64,
    /// The function after each epoch.
    objective: Vec<f64>,
}

impl Search {
    /// A few steps on `batch`, `n` rows.
    fn step<T: Real>(&mut self, cost: &Cost<'_, '_, T>, batch: &Rows<'_, T>, n: u64) -> Result<()> {
        let share = batch.n_samples() / cost.rows.n_samples();
        let observer = WithoutIterations(cost.run.observer);
        let run = Run { observer: &observer, ..*cost.run };
        let mut part = Cost { rows: batch, moments: cost.moments.clone(), sweeps: 0, run: &run, ..*cost };
        let few = Lbfgs { memory: STEPS_PER_BATCH as usize, max_iter: STEPS_PER_BATCH, tol: 0.0 };
        let found = few.minimise(&mut part, std::mem::take(&mut self.x), "features", &run)?;
        self.x = cost.renewed(found.x);
        self.seen += part.sweeps * n;
        self.value += share * found.value;
        self.mean.iter_mut().zip(&self.x).for_each(|(m, x)| *m += share * x);
        Ok(())
    }
}
