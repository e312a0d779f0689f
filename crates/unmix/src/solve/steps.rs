//! The one loop of iterative solvers.
//!
//! ```text
//! let (mut steps, mut at) = Steps::begin(run, "name", limits, || first state)?;
//! let outcome = loop {
//!     if let Some(outcome) = steps.ending(residual of at) { break outcome }
//!     at = next state, or break Outcome::Stalled;
//!     steps.ended(residual of at, objective, &at)?;
//! };
//! ```
//!
//! The state must contain everything on which later iterations depend, so that a fit resumed from a checkpoint ends with the same
//! bits as one that was not interrupted.

use crate::error::Result;
use crate::run::{LoopPosition, Outcome, Run};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Stopping rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Tolerance on the residual.
    pub(crate) tol: f64,
    /// Maximum number of iterations.
    pub(crate) max_iter: u64,
}

impl Limits {
    /// Neither: the loop ends itself, for reasons that are not a residual or a number of iterations.
    pub(crate) const NONE: Self = Self::count(u64::MAX);

    /// So many iterations, whatever the residual.
    pub(crate) const fn count(max_iter: u64) -> Self {
        Self { tol: f64::NEG_INFINITY, max_iter }
    }
}

/// State of the loop of one solver.
pub(crate) struct Steps<'r> {
    run: &'r Run<'r>,
    limits: Limits,
    n_iter: u64,
    objective: Vec<f64>,
    place: Option<LoopPosition<'r>>,
}

impl<'r> Steps<'r> {
    /// Begins at the state of a checkpoint, or at `first` if there is none.
    ///
    /// # Errors
    ///
    /// Errors of `first`; a checkpoint with different contents at this position.
    pub(crate) fn begin<S: DeserializeOwned>(
        run: &'r Run<'r>,
        name: &str,
        limits: Limits,
        first: impl FnOnce() -> Result<S>,
    ) -> Result<(Self, S)> {
        let mut steps = Self { run, limits, n_iter: 0, objective: Vec::new(), place: None };
        if let Some(checkpoint) = run.checkpoint {
            let (place, kept) = checkpoint.enter::<(u64, Vec<f64>, S)>(name, run)?;
            let place = steps.place.insert(place);
            if let Some((n_iter, objective, state)) = kept {
                place.at(n_iter);
                (steps.n_iter, steps.objective) = (n_iter, objective);
                return Ok((steps, state));
            }
        }
        let state = first()?;
        Ok((steps, state))
    }

    /// The reason to stop before another iteration, if any: the tolerance is met, or the maximum number of
    /// iterations or the time limit is reached.
    pub(crate) fn ending(&self, residual: f64) -> Option<Outcome> {
        match () {
            () if residual <= self.limits.tol => Some(Outcome::Converged),
            () => self.spent(),
        }
    }

    /// Whether the maximum number of iterations or the time limit is reached.
    pub(crate) fn spent(&self) -> Option<Outcome> {
        match () {
            () if self.n_iter >= self.limits.max_iter => Some(Outcome::MaxIter),
            () if self.run.ends_early() => Some(self.run.early_outcome()),
            () => None,
        }
    }

    /// Ends an iteration: counts it, reports it, and writes a checkpoint if the interval has passed.
    ///
    /// # Errors
    ///
    /// A stop that the user requested.
    pub(crate) fn ended<S: Serialize>(
        &mut self,
        residual: f64,
        objective: Option<f64>,
        state: &S,
    ) -> Result<()> {
        self.objective.extend(objective);
        let Limits { tol, max_iter } = self.limits;
        self.run.iteration_of((self.n_iter + 1, max_iter), (residual, tol), objective);
        self.count(residual <= tol, state)
    }

    /// [`ended`](Self::ended) without a progress report: for loops that report their iterations themselves,
    /// or whose inner loops do.
    ///
    /// # Errors
    ///
    /// A stop that the user requested.
    pub(crate) fn counted<S: Serialize>(&mut self, state: &S) -> Result<()> {
        self.count(false, state)
    }

    /// Counts an iteration, which is the last one if the tolerance is `met` or their maximum number is reached.
    fn count<S: Serialize>(&mut self, met: bool, state: &S) -> Result<()> {
        self.n_iter += 1;
        if let Some(place) = &mut self.place {
            let last = met || self.n_iter >= self.limits.max_iter;
            place.ended(self.n_iter, last, self.run, &(self.n_iter, &self.objective, state));
        }
        self.run.check()
    }

    /// Iterations so far.
    pub(crate) fn n_iter(&self) -> u64 {
        self.n_iter
    }

    /// The objective after each iteration, if there is one.
    pub(crate) fn objective(&self) -> &[f64] {
        &self.objective
    }

    /// The objective after each iteration, by value.
    pub(crate) fn into_objective(mut self) -> Vec<f64> {
        std::mem::take(&mut self.objective)
    }
}
