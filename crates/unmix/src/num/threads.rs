//! How many threads, and the pool they live in.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

static CHOSEN: AtomicUsize = AtomicUsize::new(0);

/// Sets the number of threads for this process; 0 goes back to the default.
pub fn set_num_threads(n: usize) {
    CHOSEN.store(n, Ordering::Relaxed);
}

/// The number of threads used unless a run says otherwise: what [`set_num_threads`] set, else `UNMIX_NUM_THREADS`, else
/// all that this process may use (affinity and control groups counted).
pub fn num_threads() -> usize {
    match CHOSEN.load(Ordering::Relaxed) {
        0 => std::env::var("UNMIX_NUM_THREADS")
            .ok()
            .and_then(|v| v.trim().parse().ok())
            .filter(|&n| n > 0)
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        n => n,
    }
}

/// A pool belongs to the process that made it: after a fork its threads are gone, so the child makes its own.
struct Pool {
    process: u32,
    threads: usize,
    pool: Arc<rayon::ThreadPool>,
}

static POOL: Mutex<Option<Pool>> = Mutex::new(None);

/// Runs `work` on a pool of `threads` threads, kept for the next call.
pub(crate) fn on_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    let pool = {
        // A fork while another thread held this lock would leave it locked for ever in the child; `try_lock` with a pool
        // of its own is slower and safe.
        match POOL.try_lock() {
            Ok(mut kept) => match &*kept {
                Some(p) if p.process == std::process::id() && p.threads == threads => Some(p.pool.clone()),
                _ => {
                    let made = build(threads);
                    if let (Some(pool), Some(stale)) = (&made, kept.take()) {
                        // The threads of a stale pool do not exist in a forked child; joining them would hang.
                        if stale.process != std::process::id() {
                            std::mem::forget(stale.pool);
                        }
                        let _ = pool;
                    }
                    if let Some(pool) = &made {
                        *kept = Some(Pool { process: std::process::id(), threads, pool: pool.clone() });
                    }
                    made
                }
            },
            Err(_) => build(threads),
        }
    };
    match pool {
        Some(pool) => pool.install(work),
        // The system has no more threads to give: this one does the work alone.
        None => work(),
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
