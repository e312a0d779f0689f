//! Progress of a run on `sys.stderr`, so that notebooks and captured output show it, too; and calls of the user's callback.

use pyo3::exceptions::PyStopIteration;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};
use unmix::{Event, Observer};

/// How Python observes the iterations of a fit.
#[derive(Default)]
pub(crate) struct CallbackObserver {
    /// Called after every iteration with its number, residual, objective, maximum number and tolerance.
    pub(crate) callback: Option<Py<PyAny>>,
    /// Whether the first Ctrl-C ends the iterations and keeps their result.
    pub(crate) keeps_interrupted: bool,
}

/// Receives events on the working threads; the waiting thread displays them.
pub(crate) struct Progress {
    verbose: u8,
    observer: CallbackObserver,
    began: Instant,
    interrupted: AtomicBool,
    /// Whether the iterations are to end with their current result.
    ends_early: AtomicBool,
    /// The callback's exception.
    exception: Mutex<Option<PyErr>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    stage: String,
    done: u64,
    total: Option<u64>,
    /// The last iteration, for an iterative fit: the progress of its passes over the rows does not predict the end.
    iteration: Option<String>,
    /// Finished lines that have not been shown yet.
    lines: Vec<String>,
    /// The text of the last line of the terminal.
    shown: String,
    when: Option<Instant>,
}

/// Minimum interval between lines if there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(2);

impl Progress {
    /// `verbose` 0 prints nothing, 1 shows the progress of a pass over the rows, 2 adds a line for each step and iteration.
    pub(crate) fn new(verbose: u8, observer: CallbackObserver) -> Self {
        Self {
            verbose,
            observer,
            began: Instant::now(),
            interrupted: AtomicBool::new(false),
            ends_early: AtomicBool::new(false),
            exception: Mutex::default(),
            state: Mutex::default(),
        }
    }

    /// Requests that the iterations end with their current result, if the user has enabled that. Returns whether this is the first request.
    pub(crate) fn end_early(&self) -> bool {
        self.observer.keeps_interrupted && !self.ends_early.swap(true, Ordering::Relaxed)
    }

    /// Takes the exception that the callback raised, if any.
    pub(crate) fn exception(&self) -> Option<PyErr> {
        self.exception.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
    }

    /// Calls the callback after an iteration, on the thread of the solver: the next iteration begins when it returns.
    fn call_back(&self, event: &Event<'_>) {
        let (Some(callback), Event::Iteration { n_iter, residual, objective, max_iter, tol, .. }) =
            (&self.observer.callback, event)
        else {
            return;
        };
        if self.interrupted() || self.ends_early() {
            return;
        }
        let residual = Some(residual).filter(|r| r.is_finite());
        Python::attach(|py| match callback.call1(py, (*n_iter, residual, *objective, *max_iter, *tol)) {
            Ok(_) => {}
            Err(stop) if stop.is_instance_of::<PyStopIteration>(py) => {
                self.ends_early.store(true, Ordering::Relaxed);
            }
            Err(exception) => {
                let mut kept = self.exception.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                kept.get_or_insert(exception);
                self.interrupt();
            }
        });
    }

    /// Requests that the run stops without a result.
    pub(crate) fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }

    /// Writes new text to `sys.stderr`; `last` ends the line of a bar.
    pub(crate) fn show(&self, py: Python<'_>, last: bool) -> PyResult<()> {
        if self.verbose == 0 {
            return Ok(());
        }
        let stderr = py.import("sys")?.getattr("stderr")?;
        if stderr.is_none() {
            return Ok(());
        }
        let terminal = stderr.call_method0("isatty").and_then(|t| t.extract::<bool>()).unwrap_or(false);
        let text = self.news(terminal, last);
        if !text.is_empty() {
            stderr.call_method1("write", (text,))?;
            stderr.call_method0("flush")?;
        }
        Ok(())
    }

    fn news(&self, terminal: bool, last: bool) -> String {
        const CLEAR: &str = "\r\x1b[K";
        let mut state = self.lock();
        let mut text = String::new();
        let lines = std::mem::take(&mut state.lines);
        if terminal && !state.shown.is_empty() && (last || !lines.is_empty()) {
            text.push_str(CLEAR);
            state.shown.clear();
        }
        lines.iter().for_each(|line| text.extend([line.as_str(), "\n"]));
        let now = state.describe(terminal);
        if last || now == state.shown {
            return text;
        }
        match terminal {
            true => text.extend([CLEAR, &now]),
            false if state.when.is_none_or(|w| w.elapsed() >= LINE_EVERY) => {
                text.extend([now.as_str(), "\n"]);
                state.when = Some(Instant::now());
            }
            false => return text,
        }
        state.shown = now;
        text
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl State {
    fn describe(&self, bar: bool) -> String {
        const WIDTH: u64 = 30;
        if let Some(iteration) = &self.iteration {
            return iteration.clone();
        }
        match self.total.filter(|&total| total > 0) {
            _ if self.stage.is_empty() => String::new(),
            Some(total) => {
                let done = self.done.min(total);
                let percent = 100 * done / total;
                let full = (WIDTH * done / total) as usize;
                match bar {
                    true => format!("{} [{:<30}] {percent} %", self.stage, "#".repeat(full)),
                    false => format!("{}: {percent} % of {total} rows", self.stage),
                }
            }
            None if self.done > 0 => {
                let (stage, unit) = Event::stage_and_unit(&self.stage);
                format!("{stage}: {} {unit}", self.done)
            }
            None => self.stage.clone(),
        }
    }
}

impl Observer for Progress {
    fn event(&self, event: Event<'_>) {
        self.call_back(&event);
        if self.verbose == 0 {
            return;
        }
        let mut state = self.lock();
        match event {
            Event::Sweep { stage, done, total } => {
                if self.verbose > 1 && state.stage != stage {
                    state.lines.push(stage.to_string());
                }
                // Threads report in any order; the bar must not move backwards within a pass.
                let under_way = state.stage == stage && total.is_some_and(|all| state.done < all);
                let done = if under_way { done.max(state.done) } else { done };
                (state.stage, state.done, state.total) = (stage.to_string(), done, total);
            }
            Event::Stage(stage) => {
                if self.verbose > 1 {
                    state.lines.push(stage.to_string());
                }
                (state.stage, state.done, state.total) = (stage.to_string(), 0, None);
                state.iteration = None;
            }
            Event::Iteration { n_iter, residual, objective, max_iter, tol, is_epoch } => {
                let what = if is_epoch { "epoch" } else { "iteration" };
                let most = max_iter.map_or(String::new(), |most| format!(" of at most {most}"));
                let stops = tol
                    .filter(|tol| *tol > 0.0)
                    .map_or(String::new(), |tol| format!(" (stops at {tol:.1e})"));
                // Solvers on mini-batches have no residual.
                let left = if residual.is_finite() {
                    format!(", residual {residual:.3e}{stops}")
                } else {
                    String::new()
                };
                let trained = objective.filter(|_| !residual.is_finite());
                let short = trained.map(|o| format!(", objective {o:.4e}")).unwrap_or_default();
                let objective = objective.map(|o| format!(", objective {o:.10e}")).unwrap_or_default();
                let seconds = self.began.elapsed().as_secs();
                state.iteration = Some(format!("{what} {n_iter}{most}{left}{short}, {seconds} s"));
                if self.verbose > 1 {
                    state.lines.push(format!("{what} {n_iter}{most}{left}{objective}"));
                }
            }
            _ => {}
        }
    }

    fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn ends_early(&self) -> bool {
        self.ends_early.load(Ordering::Relaxed)
    }
}
