//! RICA from batches of rows: a few steps of the search on each, and the mean of where the last epoch's batches ended.
//!
//! The reconstruction term is that of all rows, which their second moments hold; only sparsity is looked at on the batch. The features
//! that a batch asks for differ from those of all rows by what chance put into it. Batches share the rows out among them, so in
//! the mean over an epoch that cancels, up to what is quadratic in it: it is taken over the last epoch.

use super::cost::Cost;
use crate::data::{Features, Rows, Subset};
use crate::error::{Error, Result};
use crate::model::Outcome;
use crate::num::Real;
use crate::num::random::Stream;
use crate::run::Run;
use crate::solve::lbfgs::{Lbfgs, Minimum, Objective};

/// Steps on each batch, of those that Le et al. tried the middle: fewer learn too little of curvature to be worth it, more follow
/// chance.
const STEPS: u64 = 5;

/// Rows that stay together, so that a file is read in pieces.
const RUN: u64 = 16;

/// Streams of random numbers: one for each epoch from here on.
const ORDERS: u64 = 1 << 20;

/// How rows are shared out.
pub(super) struct Batches {
    /// Rows of a batch.
    pub(super) size: usize,
    /// How often all rows are gone through.
    pub(super) epochs: u64,
}

impl Batches {
    /// Refuses what cannot be shared out.
    pub(super) fn check(&self) -> Result<()> {
        let refused = |name: &str, why: &str, remedy: &str| Err(Error::setting(name, 0, why, remedy));
        if self.size == 0 {
            return refused(
                "batch_size",
                "it must be at least 1",
                "give 1 or more, or null for all rows at once",
            );
        }
        if self.epochs == 0 {
            return refused("max_epochs", "nothing would be learnt", "give 1 or more");
        }
        Ok(())
    }

    /// Searches from `x` on. `cost` sees all rows: its function and its gradient at the end are the minimum's.
    pub(super) fn minimise<T: Real>(
        &self,
        cost: &mut Cost<'_, '_, T>,
        mut x: Vec<f64>,
        run: &Run<'_>,
    ) -> Result<(Minimum, Outcome)> {
        let n = cost.rows.n_rows().unwrap_or(0);
        let each = n.div_ceil(self.size as u64).max(1);
        let (mut n_iter, mut seen, mut objective) = (0, 0, Vec::new());
        let mut outcome = Outcome::Completed;
        for epoch in 0..self.epochs {
            let (mut mean, mut value) = (vec![0.0; x.len()], 0.0);
            for chosen in shared_out(n, each, run.seed, epoch) {
                let counted = counted(cost.rows, &chosen);
                if counted == 0.0 {
                    continue;
                }
                let (share, size) = (counted / cost.rows.n_samples(), chosen.len() as u64);
                let (found, looks) = step(cost, chosen, x)?;
                x = cost.renewed(found.x);
                (n_iter, seen) = (n_iter + found.n_iter, seen + looks * size);
                value += share * found.value;
                mean.iter_mut().zip(&x).for_each(|(m, x)| *m += share * x);
                if run.out_of_time() {
                    outcome = Outcome::Time;
                    break;
                }
            }
            if outcome == Outcome::Time {
                break;
            }
            objective.push(value);
            run.iteration(n_iter, f64::INFINITY, Some(value));
            run.check()?;
            if epoch + 1 == self.epochs {
                x = cost.renewed(mean);
            }
        }
        cost.sweeps += seen.div_ceil(n.max(1));
        let mut gradient = vec![0.0; x.len()];
        let value = cost.at(&x, &mut gradient)?;
        objective.push(value);
        let residual = cost.residual(&gradient);
        Ok((Minimum { x, value, residual, outcome, n_iter, objective }, outcome))
    }
}

/// A few steps on some of the rows, and how often these were looked at.
fn step<T: Real>(cost: &Cost<'_, '_, T>, mut chosen: Vec<u64>, x: Vec<f64>) -> Result<(Minimum, u64)> {
    let rows = cost.rows;
    rows.here("rica by batches")?;
    chosen.sort_unstable();
    let weights = rows.weights_at(&chosen);
    let subset = Subset::new(rows.settled(), rows.n_features(), chosen);
    let mut batch = Rows::new(subset, Features::default(), rows.origin());
    if let Some(weights) = weights {
        batch = batch.weighted(weights)?;
    }
    let mut part = Cost { rows: &batch, moments: cost.moments.clone(), sweeps: 0, ..*cost };
    let few = Lbfgs { memory: STEPS as usize, max_iter: STEPS, tol: 0.0 };
    Ok((few.minimise(&mut part, x, "features", cost.run)?, part.sweeps))
}

/// How often the rows `chosen` count together.
fn counted<T: Real>(rows: &Rows<'_, T>, chosen: &[u64]) -> f64 {
    rows.weights().map_or(chosen.len() as f64, |w| chosen.iter().map(|&i| w[i as usize]).sum())
}

/// The rows of each of `each` batches of an epoch: runs of neighbours dealt out in random order.
fn shared_out(n: u64, each: u64, seed: u64, epoch: u64) -> Vec<Vec<u64>> {
    let draws = Stream::new(seed, ORDERS + epoch);
    // Short runs where there are few rows for each batch: batches should be nearly of one size.
    let run = RUN.min((n / (8 * each)).max(1));
    let mut runs: Vec<u64> = (0..n.div_ceil(run)).collect();
    draws.shuffle(0, &mut runs);
    let mut batches = vec![Vec::new(); each as usize];
    for (i, first) in runs.into_iter().enumerate() {
        batches[i % each as usize].extend(first * run..((first + 1) * run).min(n));
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_one_batch_of_each_epoch_and_epochs_differ() {
        for (n, each) in [(1000, 7), (5, 5), (64, 1), (100_003, 20), (10, 3)] {
            let first = shared_out(n, each, 3, 0);
            let mut all: Vec<u64> = first.concat();
            all.sort_unstable();
            assert_eq!(all, (0..n).collect::<Vec<u64>>());
            let sizes: Vec<usize> = first.iter().map(Vec::len).collect();
            let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(*least > 0 && most - least <= 2 * RUN as usize, "{n}, {each}: {sizes:?}");
            assert!(each == 1 || first != shared_out(n, each, 3, 1));
        }
    }
}
