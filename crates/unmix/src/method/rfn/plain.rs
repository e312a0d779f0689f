//! Plain mode: posterior means, rectified and scaled; one pass over the rows for each iteration.

use super::{CALM_ITERATIONS, Decreases, FitResult, METHOD, Task, in_iteration};
use crate::data::Rows;
use crate::error::Result;
use crate::num::{Matrix, Real};
use crate::rectified::statistics::Expected;
use crate::rectified::{CodeSums, GatherCodes, Noise, Parameters, Posterior, Statistics};
use crate::run::Run;
use crate::solve::Steps;
use serde::{Deserialize, Serialize};

/// State at the beginning of an iteration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) parameters: Parameters,
    pub(super) residual: f64,
    /// Number of successive iterations below the tolerance.
    calm: u32,
    pub(super) falls: Decreases,
    pub(super) jittered: u64,
    pub(super) one_hot: u64,
}

impl State {
    pub(super) fn new(parameters: Parameters) -> Self {
        let falls = Decreases::default();
        Self { parameters, residual: f64::INFINITY, calm: 0, falls, jittered: 0, one_hot: 0 }
    }

    /// The residual for the stopping rule: 0 after enough successive iterations below `tol`.
    pub(super) fn rest(&self) -> f64 {
        if self.calm >= CALM_ITERATIONS { 0.0 } else { f64::INFINITY }
    }
}

/// A row at which dead units are activated, centred and times the square root of its weight, with its code.
struct OneHotRow {
    x: Vec<f64>,
    code: Vec<f64>,
}

impl Task<'_> {
    pub(super) fn iterate_plain<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        start: u64,
        run: &Run<'_>,
    ) -> Result<FitResult> {
        if self.spec.batch_size.is_some_and(|size| rows.n_rows().is_some_and(|n| n > size as u64)) {
            return self.iterate_batches(rows, start, run);
        }
        let first = || Ok(State::new(self.start(rows, start, run)?));
        let (mut steps, mut at) = Steps::begin(run, "rectified factors", self.limits(), first)?;
        let outcome = loop {
            if let Some(outcome) = steps.ending(at.rest()) {
                break outcome;
            }
            let n_iter = steps.n_iter();
            let value = in_iteration(self.iteration(rows, &mut at, n_iter, run), n_iter + 1)?;
            steps.ended(at.residual, Some(value), &at)?;
        };
        let (n_iter, sweeps) = (steps.n_iter(), steps.n_iter() + 1);
        self.finished(rows, at, (outcome, n_iter, sweeps), steps.into_objective(), run)
    }

    /// One iteration, and the objective of its codes.
    fn iteration<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        at: &mut State,
        n_iter: u64,
        run: &Run<'_>,
    ) -> Result<f64> {
        let posterior = at.parameters.posterior(self.prior)?;
        let gather = self.gather::<T>(&posterior).corrupted(self.corruption(run.seed, n_iter));
        let sums = rows.sweep(run, "codes", &gather)?;
        let (stats, one_hot) = self.statistics(rows, &posterior, &sums, run)?;
        at.one_hot += one_hot;
        self.moved(at, &posterior, &stats)
    }

    /// Updates the parameters, and returns the objective before.
    pub(super) fn moved(&self, at: &mut State, posterior: &Posterior, stats: &Statistics) -> Result<f64> {
        let value = self.moved_by(at, posterior, stats, &stats.second_moments(posterior))?;
        self.record_objective(at, value);
        Ok(value)
    }

    /// [`moved`](Self::moved) with these second moments of the codes, without computing the objective.
    pub(super) fn moved_by(
        &self,
        at: &mut State,
        posterior: &Posterior,
        stats: &Statistics,
        s: &Matrix<f64>,
    ) -> Result<f64> {
        let expected = Expected::new(&at.parameters.w, stats, s, &self.row_moments.c);
        let value = stats.objective(&at.parameters, posterior, self.prior, &expected);
        let moved = self.step.take(&at.parameters, stats, s, &expected)?;
        (at.parameters, at.residual) = (moved.parameters, moved.residual);
        at.jittered += u64::from(moved.jittered);
        Ok(value)
    }

    /// Records the objective of an iteration, and whether its residual was below the tolerance.
    pub(super) fn record_objective(&self, at: &mut State, value: f64) {
        at.falls.note(value);
        let below = self.spec.tol.is_some_and(|tol| at.residual < tol);
        at.calm = if below { at.calm + 1 } else { 0 };
    }

    /// The pass of an iteration.
    pub(super) fn gather<T: Real>(&self, posterior: &Posterior) -> GatherCodes<T> {
        let gather = GatherCodes::new(self.row_moments.center.clone(), &posterior.b, posterior.bias.clone());
        let with_sums = self.how == crate::rectified::Normalisation::Std || self.prior.mean != 0.0;
        let gather = if with_sums { gather.with_sums() } else { gather };
        if self.one_hot { gather.with_largest() } else { gather }
    }

    /// Moments of scaled codes, where units that are 0 everywhere are activated at one row if requested, and the number of these.
    pub(super) fn statistics<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        posterior: &Posterior,
        sums: &CodeSums,
        run: &Run<'_>,
    ) -> Result<(Statistics, u64)> {
        let finite = |m: &Matrix<f64>| (0..m.rows()).all(|i| m.row(i).iter().all(|x| x.is_finite()));
        let l = sums.moments.rows();
        let diagonal = (0..l).all(|j| sums.moments[(j, j)].is_finite());
        if !(diagonal && finite(&sums.cross)) {
            return Err(rows.not_finite(METHOD.key));
        }
        let mut stats = Statistics::new(sums, self.how);
        // A unit without loadings is determined by no row.
        let loaded = |j: &usize| (0..posterior.b.rows()).any(|k| posterior.b[(k, *j)] != 0.0);
        let activated: Vec<usize> = match self.one_hot {
            true => stats.dead.iter().copied().filter(loaded).collect(),
            false => Vec::new(),
        };
        if activated.is_empty() {
            return Ok((stats, 0));
        }
        let mut chosen: Vec<u64> = activated.iter().map(|&j| sums.largest[j].1).collect();
        chosen.sort_unstable();
        chosen.dedup();
        let one_hot_rows = self.one_hot_rows(rows, posterior, &stats, &chosen, run)?;
        for &unit in &activated {
            let at = chosen.binary_search(&sums.largest[unit].1).unwrap_or(0);
            let mut code = one_hot_rows[at].code.clone();
            for &other in activated.iter().filter(|other| sums.largest[**other].1 == chosen[at]) {
                code[other] = stats.n.sqrt();
            }
            stats.put_one_hot(unit, &one_hot_rows[at].x, &code);
            if let Some(mean) = stats.means.get_mut(unit) {
                let w = rows.weights_at(&chosen[at..=at]).map_or(1.0, |w| w[0]);
                *mean = (w / stats.n).sqrt();
            }
        }
        Ok((stats, activated.len() as u64))
    }

    fn one_hot_rows<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        posterior: &Posterior,
        stats: &Statistics,
        chosen: &[u64],
        run: &Run<'_>,
    ) -> Result<Vec<OneHotRow>> {
        let (m, l) = (posterior.b.rows(), posterior.b.cols());
        let numbers = rows.picked(chosen.to_vec(), run)?;
        let weights = rows.weights_at(chosen);
        let one = |(i, row): (usize, &[T])| {
            let root = weights.as_ref().map_or(1.0, |w| w[i].sqrt());
            let x: Vec<f64> =
                row.iter().zip(&self.row_moments.center).map(|(x, c)| root * (x.to_f64() - c)).collect();
            let code = |j: usize| {
                let p: f64 =
                    (0..m).map(|k| x[k] * posterior.b[(k, j)]).sum::<f64>() + root * posterior.bias[j];
                p.max(0.0) * stats.scale[j]
            };
            let code = (0..l).map(code).collect();
            OneHotRow { x, code }
        };
        Ok(numbers.chunks_exact(m).enumerate().map(one).collect())
    }

    /// The final codes: one more pass, without dropout and noise, with parameters in the type of the model.
    pub(super) fn finished<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        at: State,
        (outcome, n_iter, sweeps): (crate::Outcome, u64, u64),
        objective: Vec<f64>,
        run: &Run<'_>,
    ) -> Result<FitResult> {
        let parameters = rounded::<T>(&at.parameters);
        let posterior = in_iteration(parameters.posterior(self.prior), n_iter)?;
        let sums = rows.sweep(run, "codes", &self.gather::<T>(&posterior))?;
        let (stats, _) = self.statistics(rows, &posterior, &sums, run)?;
        let s = stats.second_moments(&posterior);
        let expected = Expected::new(&parameters.w, &stats, &s, &self.row_moments.c);
        let value = stats.objective(&parameters, &posterior, self.prior, &expected);
        Ok(FitResult {
            parameters,
            posterior,
            scale: stats.scale.clone(),
            stats,
            objective,
            value,
            outcome: self.outcome(outcome),
            n_iter,
            sweeps: sweeps + self.row_moments.sweeps,
            residual: at.residual,
            falls: at.falls,
            jittered: at.jittered,
            one_hot: at.one_hot,
            more: Default::default(),
        })
    }
}

/// Parameters rounded to the type of the model.
pub(super) fn rounded<T: Real>(of: &Parameters) -> Parameters {
    let round = |m: &Matrix<f64>| m.cast::<T>().cast::<f64>();
    let noise = match &of.noise {
        Noise::Diagonal(psi) => Noise::Diagonal(psi.iter().map(|x| T::from_f64(*x).to_f64()).collect()),
        Noise::Full(psi) => Noise::Full(round(psi)),
    };
    Parameters { w: round(&of.w), noise }
}
