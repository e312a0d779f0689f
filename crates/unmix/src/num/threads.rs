//! How many threads, and the pool they live in.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

static CHOSEN: AtomicUsize = AtomicUsize::new(0);

/// Sets the number of threads for this process; 0 goes back to the default.
pub fn set_num_threads(n: usize) {
    CHOSEN.store(n, Ordering::Relaxed);
}

/// The number of threads used unless a run sets another: what [`set_num_threads`] set, else `UNMIX_NUM_THREADS`, else all that this
/// process may use (affinity and control groups counted).
pub fn num_threads() -> usize {
    match CHOSEN.load(Ordering::Relaxed) {
        0 => std::env::var("UNMIX_NUM_THREADS")
            .ok()
            .and_then(|v| v.trim().parse().ok())
            .filter(|&n| n > 0)
            .unwrap_or_else(allowed),
        n => n,
    }
}

/// Asked once: reading control groups takes as long as a small fit.
fn allowed() -> usize {
    static ALLOWED: OnceLock<usize> = OnceLock::new();
    *ALLOWED.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// A pool belongs to the process that made it: after a fork its threads are gone, so the child makes its own.
struct Pool {
    process: u32,
    threads: usize,
    pool: Arc<rayon::ThreadPool>,
}

static POOL: Mutex<Option<Pool>> = Mutex::new(None);

/// Runs `work` on a pool of `threads` threads, kept for the next call. Work for one thread stays where it is on a thread of a pool.
pub(crate) fn on_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    if threads <= 1 && rayon::current_thread_index().is_some() {
        return work();
    }
    on(pool(threads), work)
}

/// Runs `work` on `pool`. Without one, because the system has no more threads to give, this thread does the work alone.
fn on<R: Send>(pool: Option<Arc<rayon::ThreadPool>>, work: impl FnOnce() -> R + Send) -> R {
    let (mut work, mut result) = (Some(work), None);
    install(pool, &mut || result = work.take().map(|work| work()));
    result.expect("work that is installed is done once")
}

/// Compiled once for all kinds of work: entering a pool is a large part of what a small piece of work compiles to.
fn install(pool: Option<Arc<rayon::ThreadPool>>, work: &mut (dyn FnMut() + Send)) {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

fn pool(threads: usize) -> Option<Arc<rayon::ThreadPool>> {
    // A fork while another thread held this lock leaves it locked for ever in the child; a pool of one's own is slower, and
    // safe.
    let Ok(mut kept) = POOL.try_lock() else { return build(threads) };
    let here = std::process::id();
    if let Some(p) = kept.as_ref().filter(|p| p.process == here && p.threads == threads) {
        return Some(p.pool.clone());
    }
    let pool = build(threads)?;
    let stale = kept.replace(Pool { process: here, threads, pool: pool.clone() });
    // The threads of a pool that was made before a fork do not exist in the child; waiting for them to end would hang.
    if let Some(stale) = stale.filter(|p| p.process != here) {
        std::mem::forget(stale.pool);
    }
    Some(pool)
}

/// Runs `work` on a thread of its own, beside others that do the same: not on the kept pool, where they would wait for each other.
pub(crate) fn alone<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    on(build(1), work)
}

/// Runs `work` on the pool that this thread belongs to, or else on one of the default size: never on the global pool of the
/// threading library, which is gone after a fork and has as many threads as the machine.
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
