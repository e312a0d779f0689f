//! Run options: seed, threads, time limit, progress observer, checkpoint, and the model that a fit starts from.

mod checkpoint;
mod new_file;
mod options;
mod outcome;
mod start;

pub use checkpoint::Checkpoint;
pub(crate) use checkpoint::{Identity, LoopPosition, table_checksum};
pub use new_file::NewFile;
pub use options::{RUN_OPTIONS, RunOption};
pub use outcome::Outcome;
pub use start::Start;
pub(crate) use start::same_columns;

use crate::error::{Error, Result};
use crate::num::threads;
use std::time::Instant;

/// Events of a run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Progress of a pass over the rows.
    Sweep {
        /// Name of the pass, as in "covariance".
        stage: &'a str,
        /// Number of rows processed, or of files ([`Event::stage_and_unit`]).
        done: u64,
        /// Total number, if it is known.
        total: Option<u64>,
    },
    /// A step that is not a pass over the rows begins, as in "eigenvectors".
    Stage(&'a str),
    /// An iteration ended.
    Iteration {
        /// Its number, from 1.
        n_iter: u64,
        /// The quantity that is compared with `tol`; infinite if there is none.
        residual: f64,
        /// The objective, if there is one.
        objective: Option<f64>,
        /// The maximum number of iterations, if there is one.
        max_iter: Option<u64>,
        /// The tolerance on the residual, if there is one.
        tol: Option<f64>,
        /// Whether it is an epoch.
        is_epoch: bool,
    },
}

impl Event<'_> {
    /// The name of the stage of a sweep for people, and what it counts: rows, but files in a stage such as "reading files".
    pub fn stage_and_unit(stage: &str) -> (&str, &'static str) {
        stage.strip_suffix(" files").map_or((stage, "rows"), |stage| (stage, "files"))
    }
}

/// Observes the progress of a run, and may interrupt it.
pub trait Observer: Sync {
    /// Receives an event. Called from any thread.
    fn event(&self, event: Event<'_>) {
        let _ = event;
    }
    /// Whether the user requested a stop: the run then fails, and its result is lost.
    fn interrupted(&self) -> bool {
        false
    }
    /// Whether iterations should end with their current result, as at the time limit. Once true, it stays true.
    fn ends_early(&self) -> bool {
        false
    }
}

/// Ignores every event, and never interrupts.
pub struct Silent;
impl Observer for Silent {}

/// Passes on everything but iterations: for a solver within an iteration of another one, whose iterations are those of the fit.
pub(crate) struct WithoutIterations<'a>(pub(crate) &'a dyn Observer);

impl Observer for WithoutIterations<'_> {
    fn event(&self, event: Event<'_>) {
        if !matches!(event, Event::Iteration { .. }) {
            self.0.event(event);
        }
    }
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
    fn ends_early(&self) -> bool {
        self.0.ends_early()
    }
}

/// Passes on the iterations of one phase of a solver with the numbers that they have in all of its phases.
pub(crate) struct Phase<'a> {
    pub(crate) observer: &'a dyn Observer,
    /// Iterations of the phases before.
    pub(crate) before: u64,
    /// The maximum number of iterations of all phases.
    pub(crate) max_iter: u64,
}

impl Observer for Phase<'_> {
    fn event(&self, event: Event<'_>) {
        self.observer.event(match event {
            Event::Iteration { n_iter, residual, objective, tol, is_epoch, .. } => Event::Iteration {
                n_iter: self.before + n_iter,
                residual,
                objective,
                max_iter: Some(self.max_iter).filter(|most| *most < u64::MAX),
                tol,
                is_epoch,
            },
            other => other,
        });
    }
    fn interrupted(&self) -> bool {
        self.observer.interrupted()
    }
    fn ends_early(&self) -> bool {
        self.observer.ends_early()
    }
}

/// Options of one run that are not settings of a method: seed, threads, time limit, progress observer, checkpoint, start.
pub struct Run<'a> {
    /// Seed of the random numbers.
    pub seed: u64,
    /// Number of threads; 0 and 1 are one thread. Results do not depend on it.
    pub threads: usize,
    /// Stop iterating after this many seconds; the current model is returned, with outcome "time".
    pub max_seconds: Option<f64>,
    /// The progress observer.
    pub observer: &'a dyn Observer,
    /// Start of the run, from which `max_seconds` is counted.
    pub started: Instant,
    /// The checkpoint file, if any.
    pub checkpoint: Option<&'a Checkpoint>,
    /// The model from whose parameters the fit starts (warm start).
    pub init: Option<&'a dyn Start>,
    /// The invocation (command line or call), recorded in the model for reproducibility.
    pub invocation: Option<&'a str>,
}

impl Default for Run<'_> {
    fn default() -> Self {
        Self {
            seed: 0,
            threads: threads::num_threads(),
            max_seconds: None,
            observer: &Silent,
            started: Instant::now(),
            checkpoint: None,
            init: None,
            invocation: None,
        }
    }
}

impl Run<'_> {
    /// Refuses a time limit that is no number of seconds.
    ///
    /// # Errors
    ///
    /// A limit below 0, or NaN.
    pub(crate) fn check_limit(&self) -> Result<()> {
        match self.max_seconds {
            Some(seconds) if seconds.is_nan() || seconds < 0.0 => {
                let remedy = "give a number of seconds, or no limit";
                Err(Error::setting("max_seconds", seconds, "must be at least 0", remedy))
            }
            _ => Ok(()),
        }
    }

    /// Reports progress of a pass over the rows; an error when the user requested a stop.
    pub(crate) fn sweep_progress(&self, stage: &str, done: u64, total: Option<u64>) -> Result<()> {
        self.observer.event(Event::Sweep { stage, done, total });
        self.check()
    }

    /// Reports a step; an error when the user requested a stop.
    pub(crate) fn stage(&self, stage: &str) -> Result<()> {
        self.observer.event(Event::Stage(stage));
        self.check()
    }

    /// Reports an epoch, in place of its iterations, with the maximum number of epochs.
    pub(crate) fn epoch(&self, (n_iter, max_iter): (u64, u64), residual: f64, objective: Option<f64>) {
        let max_iter = Some(max_iter).filter(|most| *most < u64::MAX);
        let tol = None;
        self.observer.event(Event::Iteration { n_iter, residual, objective, max_iter, tol, is_epoch: true });
    }

    /// Reports an iteration, with what ends them: their maximum number, and the tolerance. A requested stop takes effect after its state has
    /// been stored.
    pub(crate) fn iteration_of(
        &self,
        (n_iter, max_iter): (u64, u64),
        (residual, tol): (f64, f64),
        objective: Option<f64>,
    ) {
        let max_iter = Some(max_iter).filter(|most| *most < u64::MAX);
        let tol = Some(tol).filter(|tol| tol.is_finite());
        self.observer.event(Event::Iteration { n_iter, residual, objective, max_iter, tol, is_epoch: false });
    }

    /// Whether iterations should end with their current result: `max_seconds` have passed, or the observer requests it.
    pub(crate) fn ends_early(&self) -> bool {
        let late = |limit| self.started.elapsed().as_secs_f64() >= limit;
        self.observer.ends_early() || self.max_seconds.is_some_and(late)
    }

    /// The outcome of iterations that ended early.
    pub(crate) fn early_outcome(&self) -> Outcome {
        if self.observer.ends_early() { Outcome::Interrupted } else { Outcome::Time }
    }

    /// An error when the user requested a stop.
    pub(crate) fn check(&self) -> Result<()> {
        if self.observer.interrupted() { Err(Error::Interrupted) } else { Ok(()) }
    }
}
