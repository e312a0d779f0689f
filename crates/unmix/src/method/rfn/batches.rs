//! Plain mode with mini-batches: running averages of the sums, and an update of the parameters after each batch.

use super::plain::State;
use super::{FitResult, Task, in_iteration};
use crate::data::{Batch, Batches, Position, Rows, Workspace};
use crate::error::Result;
use crate::model::Outcome;
use crate::num::Real;
use crate::rectified::{CodeSums, Normalisation, Statistics};
use crate::run::Run;
use crate::solve::{Limits, Steps};
use serde::{Deserialize, Serialize};

/// Rows of a batch whose products are computed at once.
const ROWS_PER_BLOCK: usize = 512;

/// The weight of batch `t` in the averages is `(t + 2)` to this power. Measured on 2000 digits: 50 epochs in batches of 250 reach -152.9
/// nats per row with -0.6 (mean of six starts, the best -151.7), where 200 full passes reach -147.1; with -0.5 they reach -149.8 (mean of
/// two). Above -0.5, the noise of the averages would not decrease (`docs/decisions/0020-rectified-factors.md`).
const FORGETTING_EXPONENT: f64 = -0.5;

/// Averages over batches, each new one with weight `(t + 2)^-0.5` after the first.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Averages {
    /// Moments of codes, with the scales at the time of each batch; `m` includes the covariance of the posterior at that time.
    stats: Statistics,
    /// Second moments and means of unscaled codes.
    squares: Vec<f64>,
    means: Vec<f64>,
    /// Number of batches so far.
    batches: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Search {
    at: State,
    averages: Option<Averages>,
    position: Position,
    /// Sum of the objective over the batches of this epoch, weighted by their rows.
    value: f64,
    /// The objective after each epoch.
    objective: Vec<f64>,
}

fn mixed(old: &mut [f64], new: &[f64], weight: f64) {
    old.iter_mut().zip(new).for_each(|(a, b)| *a += weight * (b - *a));
}

impl Task<'_> {
    pub(super) fn iterate_batches<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        start: u64,
        run: &Run<'_>,
    ) -> Result<FitResult> {
        rows.here("rfn with batch_size")?;
        let size = self.spec.batch_size.unwrap_or(1);
        let first = || {
            let at = State::new(self.start(rows, start, run)?);
            Ok(Search {
                at,
                averages: None,
                position: Position::default(),
                value: 0.0,
                objective: Vec::new(),
            })
        };
        let (mut steps, mut search): (_, Search) =
            Steps::begin(run, "rectified factors", Limits::NONE, first)?;
        let mut outcome = Outcome::MaxIter;
        let epochs = self.spec.max_iter;
        let mut work = Workspace::default();
        if search.position.epoch < epochs && search.at.rest() > 0.0 {
            Batches::new(rows, size, run.seed)?.each(search.position, epochs, run.threads, |batch| {
                if let Some(early) = steps.spent() {
                    outcome = early;
                    return Ok(false);
                }
                in_iteration(self.batch(&mut search, batch, run, &mut work), batch.position.epoch + 1)?;
                search.position = batch.next;
                if !batch.ends_epoch() {
                    return steps.counted(&search).map(|()| true);
                }
                let value = search.value / self.row_moments.n;
                search.value = 0.0;
                self.record_objective(&mut search.at, value);
                run.epoch((batch.next.epoch, epochs), search.at.residual, Some(value));
                search.objective.push(value);
                steps.counted(&search)?;
                Ok(search.at.rest() > 0.0)
            })?;
        }
        if search.at.rest() == 0.0 {
            outcome = Outcome::Converged;
        }
        let epochs = search.position.epoch;
        self.finished(rows, search.at, (outcome, epochs, epochs + 1), search.objective, run)
    }

    /// Updates the averages with the sums of a batch, and the parameters.
    fn batch<T: Real>(
        &self,
        search: &mut Search,
        batch: &Batch<'_, T>,
        run: &Run<'_>,
        work: &mut Workspace<T>,
    ) -> Result<()> {
        let posterior = search.at.parameters.posterior(self.prior)?;
        let gather = self.gather::<T>(&posterior).with_sums();
        let gather = gather.corrupted(self.corruption(run.seed, batch.position.epoch));
        let (mut sums, m) = (gather.empty(), self.row_moments.center.len());
        for (i, x) in batch.x.chunks(ROWS_PER_BLOCK * m).enumerate() {
            let first = i * ROWS_PER_BLOCK;
            let weights = batch.weights.map(|w| &w[first..first + x.len() / m]);
            gather.add_rows(&mut sums, x, weights, |i| batch.rows[first + i], work);
        }
        if sums.n == 0.0 {
            return Ok(());
        }
        let averages = self.averaged(search.averages.take(), &sums, &posterior);
        let stats = averages.stats.clone();
        search.averages = Some(averages);
        let mut means = stats;
        // The average includes the covariance of the posterior already.
        let s = means.m.clone();
        means.m.as_mut_slice().iter_mut().zip(posterior.sigma.as_slice()).for_each(|(m, x)| *m -= x);
        let value = self.moved_by(&mut search.at, &posterior, &means, &s)?;
        search.value += sums.n * value;
        Ok(())
    }

    fn averaged(
        &self,
        before: Option<Averages>,
        sums: &CodeSums,
        posterior: &crate::rectified::Posterior,
    ) -> Averages {
        let (n, l) = (sums.n, sums.moments.rows());
        let own: Vec<f64> = match sums.squares.is_empty() {
            true => (0..l).map(|j| sums.moments[(j, j)] / n).collect(),
            false => sums.squares.iter().map(|s| s / n).collect(),
        };
        let own_means: Vec<f64> = sums.sums.iter().map(|s| s / n).collect();
        let Some(mut all) = before else {
            let mut stats = Statistics::new(sums, self.how);
            stats.m = stats.second_moments(posterior);
            return Averages { stats, squares: own, means: own_means, batches: 1 };
        };
        let weight = (all.batches as f64 + 2.0).powf(FORGETTING_EXPONENT);
        mixed(&mut all.squares, &own, weight);
        mixed(&mut all.means, &own_means, weight);
        let scale = Normalisation::factors(self.how, &all.squares, &all.means);
        let mut stats = Statistics::scaled(sums, scale);
        stats.m = stats.second_moments(posterior);
        mixed(all.stats.u.as_mut_slice(), stats.u.as_slice(), weight);
        mixed(all.stats.m.as_mut_slice(), stats.m.as_slice(), weight);
        mixed(&mut all.stats.means, &stats.means, weight);
        (all.stats.scale, all.stats.dead) = (stats.scale, stats.dead);
        all.batches += 1;
        all
    }
}
