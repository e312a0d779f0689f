//! Running work for Python: without the interpreter lock, on a thread of ours, with an ear for Ctrl-C.

use crate::error::{broken, raised};
use crate::progress::Progress;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use unmix::{Dtype, Run};

/// Facts of a run that Python gives; none of them is a setting.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    /// Where random draws begin.
    pub(crate) seed: u64,
    /// Threads to use; 0 for the default.
    pub(crate) threads: usize,
    /// 0, 1 or 2.
    pub(crate) verbose: u8,
}

/// As Python passes them.
pub(crate) type FactsTuple = (u64, usize, u8);

impl From<FactsTuple> for Facts {
    fn from((seed, threads, verbose): FactsTuple) -> Self {
        Self { seed, threads, verbose }
    }
}

/// Work below this many multiply-adds ends before an interruption would matter; starting a thread and waiting for it would take
/// longer than much of it.
const SMALL: u64 = 20_000_000;
/// How often signals are examined.
const LOOK: Duration = Duration::from_millis(50);
/// How long an interrupted run may take to notice; after that it ends alone and its result is thrown away.
const PATIENCE: Duration = Duration::from_millis(300);

/// Runs `work`, which costs about `cost` multiply-adds (`None`: not known), and returns its result or raises its error.
///
/// # Errors
///
/// Those of `work`, as Python's; what a signal handler raises, which is KeyboardInterrupt for Ctrl-C.
pub(crate) fn call<R: Send + 'static>(
    py: Python<'_>,
    facts: Facts,
    dtype: Dtype,
    cost: Option<u64>,
    work: impl FnOnce(&Run<'_>) -> unmix::Result<R> + Send + 'static,
) -> PyResult<R> {
    let progress = Arc::new(Progress::new(facts.verbose));
    let listener = progress.clone();
    let work = move || {
        let mut run = Run { seed: facts.seed, watch: &*listener, started: Instant::now(), ..Run::default() };
        if facts.threads > 0 {
            run.threads = facts.threads;
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
                    // No one listens any more after an interruption.
                    let _ = send.send(work());
                })
                .map_err(|e| PyOSError::new_err(format!("cannot start a thread: {e}")))?;
            wait(py, &Mutex::new(receive), &progress)?
        }
    };
    progress.show(py, true)?;
    match result {
        Ok(result) => result.map_err(|e| raised(e, dtype)),
        Err(panic) => Err(broken(&*panic)),
    }
}

type Caught<R> = std::thread::Result<unmix::Result<R>>;

/// Waits for the result; every now and then examines signals and shows how far the run is.
fn wait<R: Send>(
    py: Python<'_>,
    receive: &Mutex<Receiver<Caught<R>>>,
    progress: &Progress,
) -> PyResult<Caught<R>> {
    let next = |time| receive.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).recv_timeout(time);
    loop {
        match py.detach(|| next(LOOK)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Ok(Err(Box::new("its thread ended without a result")));
            }
        }
        // Off the main thread this does nothing, as Python has it.
        if let Err(stop) = py.check_signals().and_then(|()| progress.show(py, false)) {
            progress.interrupt();
            let _ = py.detach(|| next(PATIENCE));
            return Err(stop);
        }
    }
}
