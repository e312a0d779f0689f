//! Number of threads, and the thread pool.

use crate::error::{Error, Result};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// The environment variable with the default number of threads.
const VARIABLE: &str = "UNMIX_NUM_THREADS";

static CHOSEN: AtomicUsize = AtomicUsize::new(0);

/// Sets the number of threads for this process; 0 restores the default.
pub fn set_num_threads(n: usize) {
    CHOSEN.store(n, Ordering::Relaxed);
}

/// The number of threads used unless a run sets another: that of [`set_num_threads`], else `UNMIX_NUM_THREADS`, else the number
/// that this process may use (affinity and control groups included). A variable that is not a positive integer counts as not set: programs refuse
/// it first, by [`check_variable`].
pub fn num_threads() -> usize {
    match CHOSEN.load(Ordering::Relaxed) {
        0 => of_variable(std::env::var_os(VARIABLE)).ok().flatten().unwrap_or_else(allowed),
        n => n,
    }
}

/// Checks the environment variable `UNMIX_NUM_THREADS`.
///
/// # Errors
///
/// [`Error::Setting`] if it is set, and neither empty nor a positive integer.
pub fn check_variable() -> Result<()> {
    of_variable(std::env::var_os(VARIABLE)).map(|_| ())
}

/// The number of threads by the value of the variable; `None` if it is not set, or empty.
fn of_variable(value: Option<std::ffi::OsString>) -> Result<Option<usize>> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(None) };
    let text = value.to_string_lossy();
    match text.trim().parse() {
        Ok(n) if n > 0 => Ok(Some(n)),
        _ => {
            let why = "the environment variable must be a positive integer, the number of threads";
            Err(Error::setting(
                VARIABLE,
                format!("'{text}'"),
                why,
                "change it, or unset it to use all processors",
            ))
        }
    }
}

/// The number of processors that this process may use. Cached: reading control groups takes as long as a small fit.
fn allowed() -> usize {
    static ALLOWED: OnceLock<usize> = OnceLock::new();
    *ALLOWED.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// A pool belongs to the process that created it: after a fork its threads do not exist in the child, which creates its own.
struct Pool {
    process: u32,
    threads: usize,
    pool: Arc<rayon::ThreadPool>,
}

static POOL: Mutex<Option<Pool>> = Mutex::new(None);

/// Pools of one thread that are not in use; at most as many as processors, because each keeps the buffers of its thread (of matrix products, up to
/// a gigabyte of address space), and a process with many gigabytes of address space cannot be forked.
static IDLE: Mutex<Vec<Pool>> = Mutex::new(Vec::new());

/// Runs `work` on a pool of `threads` threads, which is kept for the next call. Work for one thread runs on the calling thread if
/// that belongs to a pool, and on a pool of its own otherwise: on a common one, concurrent calls would wait for each other.
pub(crate) fn on_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    let (mut work, mut result) = (Some(work), None);
    enter(threads, &mut || result = work.take().map(|work| work()));
    result.expect("work that is installed is done once")
}

/// [`on_pool`], compiled once for all kinds of work: the code for entering a pool is a large part of the code of a small piece of work.
fn enter(threads: usize, work: &mut (dyn FnMut() + Send)) {
    if threads > 1 {
        return install(pool(threads), work);
    }
    if rayon::current_thread_index().is_some() {
        return work();
    }
    let pool = idle().or_else(|| build(1));
    install(pool.clone(), work);
    // The lock is only tried, as in `pool`.
    if let (Some(pool), Ok(mut kept)) = (pool, IDLE.try_lock())
        && kept.len() < allowed()
    {
        kept.push(Pool { process: std::process::id(), threads: 1, pool });
    }
}

/// A pool of one thread that is not in use, if there is one of this process.
fn idle() -> Option<Arc<rayon::ThreadPool>> {
    let mut kept = IDLE.try_lock().ok()?;
    let here = std::process::id();
    if kept.last().is_some_and(|p| p.process != here) {
        // As in `pool`: their threads do not exist here.
        kept.drain(..).for_each(|p| std::mem::forget(p.pool));
    }
    kept.pop().map(|p| p.pool)
}

/// Runs `work` on `pool`. Without one, because the system refused to create threads, the work runs on this thread alone.
fn install(pool: Option<Arc<rayon::ThreadPool>>, work: &mut (dyn FnMut() + Send)) {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

fn pool(threads: usize) -> Option<Arc<rayon::ThreadPool>> {
    // A fork while another thread holds this lock leaves it locked in the child for ever; a new pool is slower, and safe.
    let Ok(mut kept) = POOL.try_lock() else { return build(threads) };
    let here = std::process::id();
    if let Some(p) = kept.as_ref().filter(|p| p.process == here && p.threads == threads) {
        return Some(p.pool.clone());
    }
    let pool = build(threads)?;
    let stale = kept.replace(Pool { process: here, threads, pool: pool.clone() });
    // The threads of a pool that was created before a fork do not exist in the child; waiting for them to end would deadlock.
    if let Some(stale) = stale.filter(|p| p.process != here) {
        std::mem::forget(stale.pool);
    }
    Some(pool)
}

/// Runs `work` on the pool of this thread, or else on one of the default size: never on rayon's global pool, whose threads do not
/// exist after a fork and which has one thread per processor.
pub(crate) fn on_current_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    match rayon::current_thread_index() {
        Some(_) => work(),
        None => on_pool(num_threads(), work),
    }
}

fn build(threads: usize) -> Option<Arc<rayon::ThreadPool>> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.max(1))
        .thread_name(|i| format!("unmix-{i}"))
        .build()
        .ok()
        .map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn the_variable_is_a_positive_integer_or_not_set() {
        let of = |text: &str| of_variable(Some(text.into()));
        assert_eq!(of_variable(None).unwrap(), None);
        assert_eq!(of("").unwrap(), None);
        assert_eq!(of(" 3 ").unwrap(), Some(3));
        for wrong in ["0", "-1", "two", "1.5", " "] {
            let message = of(wrong).unwrap_err().to_string();
            assert!(
                message.contains("UNMIX_NUM_THREADS") && message.contains("positive integer"),
                "{message}"
            );
            assert!(message.contains(&format!("'{wrong}'")), "{message}");
        }
    }

    #[test]
    fn concurrent_calls_for_one_thread_do_not_wait_for_each_other() {
        let ((to_second, from_first), (to_first, from_second)) = (channel(), channel());
        let met = |to: std::sync::mpsc::Sender<()>, from: std::sync::mpsc::Receiver<()>| {
            on_pool(1, move || {
                to.send(()).ok();
                from.recv_timeout(Duration::from_secs(20)).is_ok()
            })
        };
        std::thread::scope(|scope| {
            let first = scope.spawn(|| met(to_second, from_second));
            let second = scope.spawn(|| met(to_first, from_first));
            assert!(first.join().unwrap() && second.join().unwrap());
        });
    }

    #[test]
    fn idle_pools_are_at_most_as_many_as_processors() {
        let barrier = std::sync::Barrier::new(3 * allowed());
        std::thread::scope(|scope| {
            for _ in 0..3 * allowed() {
                scope.spawn(|| on_pool(1, || barrier.wait()));
            }
        });
        assert!(IDLE.lock().unwrap().len() <= allowed());
    }

    #[test]
    fn work_for_one_thread_has_a_pool_of_one_thread() {
        for _ in 0..3 {
            assert_eq!(on_pool(1, rayon::current_num_threads), 1);
            assert_eq!(on_pool(1, || on_pool(1, rayon::current_num_threads)), 1);
            assert_eq!(on_pool(2, || on_pool(1, rayon::current_num_threads)), 2);
        }
    }
}
