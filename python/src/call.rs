//! Running work for Python: without the interpreter lock, on a separate thread, with handling of Ctrl-C.

use crate::error::{broken, raised};
use crate::progress::{CallbackObserver, Progress};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use unmix::{Dtype, Run};

/// Run options given by Python; none of them is a setting.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RunOptions {
    /// Random seed.
    pub(crate) seed: u64,
    /// Threads to use; 0 for the default.
    pub(crate) threads: usize,
    /// Verbosity: 0, 1 or 2.
    pub(crate) verbose: u8,
}

/// The options as Python passes them.
pub(crate) type RunOptionsTuple = (u64, usize, u8);

impl From<RunOptionsTuple> for RunOptions {
    fn from((seed, threads, verbose): RunOptionsTuple) -> Self {
        Self { seed, threads, verbose }
    }
}

/// Work with fewer multiply-adds than this ends before an interruption would matter, and runs without a separate thread, whose
/// start would take a large part of the time.
const SMALL: u64 = 20_000_000;
/// Interval at which signals are examined.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);
/// Time that an interrupted run has to stop; after that it is abandoned and its result is discarded.
const GRACE_PERIOD: Duration = Duration::from_millis(300);

/// Runs `work`, which costs about `cost` multiply-adds (`None`: not known), and returns its result or raises its error.
///
/// # Errors
///
/// Errors of `work`, converted to Python's; exceptions of a signal handler, which is KeyboardInterrupt for Ctrl-C.
pub(crate) fn call<R: Send + 'static>(
    py: Python<'_>,
    run_options: RunOptions,
    dtype: Dtype,
    cost: Option<u64>,
    work: impl FnOnce(&Run<'_>) -> unmix::Result<R> + Send + 'static,
) -> PyResult<R> {
    observed(py, run_options, CallbackObserver::default(), dtype, cost, work)
}

/// [`call`] with an observer of the iterations.
///
/// # Errors
///
/// Those of [`call`]; exceptions of the observer's callback.
pub(crate) fn observed<R: Send + 'static>(
    py: Python<'_>,
    run_options: RunOptions,
    observer: CallbackObserver,
    dtype: Dtype,
    cost: Option<u64>,
    work: impl FnOnce(&Run<'_>) -> unmix::Result<R> + Send + 'static,
) -> PyResult<R> {
    // A fit that keeps its result when it is interrupted needs this thread for signals, however short it is.
    let cost = cost.filter(|_| !observer.keeps_interrupted);
    let progress = Arc::new(Progress::new(run_options.verbose, observer));
    let listener = progress.clone();
    let work = move || {
        let mut run =
            Run { seed: run_options.seed, observer: &*listener, started: Instant::now(), ..Run::default() };
        if run_options.threads > 0 {
            run.threads = run_options.threads;
        }
        catch_unwind(AssertUnwindSafe(|| work(&run)))
    };
    let result = match cost {
        Some(cost) if cost < SMALL => py.detach(work),
        _ => {
            let (send, receive) = channel();
            std::thread::Builder::new()
                .name("unmix".into())
                .spawn(move || {
                    // The receiver is dropped after an interruption.
                    let _ = send.send(work());
                })
                .map_err(|e| PyOSError::new_err(format!("cannot start a thread: {e}")))?;
            wait(py, &Mutex::new(receive), &progress)?
        }
    };
    progress.show(py, true)?;
    if let Some(exception) = progress.exception() {
        return Err(exception);
    }
    match result {
        Ok(result) => result.map_err(|e| raised(e, dtype)),
        Err(panic) => Err(broken(&*panic)),
    }
}

type CallResult<R> = std::thread::Result<unmix::Result<R>>;

/// Waits for the result; periodically examines signals and shows the progress.
fn wait<R: Send>(
    py: Python<'_>,
    receive: &Mutex<Receiver<CallResult<R>>>,
    progress: &Progress,
) -> PyResult<CallResult<R>> {
    let next = |time| receive.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).recv_timeout(time);
    loop {
        match py.detach(|| next(SIGNAL_INTERVAL)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Ok(Err(Box::new("its thread ended without a result")));
            }
        }
        // On other threads than the main thread this does nothing, by Python's rules.
        if let Err(stop) = py.check_signals().and_then(|()| progress.show(py, false)) {
            if stop.is_instance_of::<PyKeyboardInterrupt>(py) && progress.end_early() {
                continue;
            }
            progress.interrupt();
            let _ = py.detach(|| next(GRACE_PERIOD));
            return Err(stop);
        }
    }
}
