//! Loops on the threads of the current pool.
//!
//! Items come from an ordinary iterator, such as `a.chunks_mut(s).zip(b.chunks(s))`, and each goes to the next thread that is free: which thread
//! that is must not change a result. Outside a pool of this crate a loop runs on the calling thread. Parallel iterators would be compiled for
//! every loop and each of its adapters; the synchronisation here is compiled once.

use crate::error::{Error, Result};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// Calls `work` for every item.
pub(crate) fn each<I: Send>(items: impl Iterator<Item = I> + Send, work: impl Fn(I) + Sync) {
    each_with(items, || (), |(), item| work(item));
}

/// [`each`], on the calling thread unless `parallel`: not all work is worth waking a thread.
pub(crate) fn each_if<I: Send>(
    parallel: bool,
    items: impl Iterator<Item = I> + Send,
    work: impl Fn(I) + Sync,
) {
    if parallel { each(items, work) } else { items.for_each(work) }
}

/// [`each`], with a value, such as buffers, that is made at most as often as the pool has threads.
pub(crate) fn each_with<I: Send, S>(
    items: impl Iterator<Item = I> + Send,
    own: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, I) + Sync,
) {
    let most = items.size_hint().1.unwrap_or(usize::MAX);
    let items = Mutex::new(items);
    let next = || lock(&items).next();
    on_threads(most, &|| {
        let Some(first) = next() else { return };
        let mut own = own();
        work(&mut own, first);
        while let Some(item) = next() {
            work(&mut own, item);
        }
    });
}

/// Results of `work` for every item, in their order.
pub(crate) fn map<I: Send, R: Send>(
    items: impl ExactSizeIterator<Item = I> + Send,
    work: impl Fn(I) -> R + Sync,
) -> Vec<R> {
    map_with(items, || (), |(), item| work(item))
}

/// [`map`], with a value as in [`each_with`].
pub(crate) fn map_with<I: Send, S, R: Send>(
    items: impl ExactSizeIterator<Item = I> + Send,
    own: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, I) -> R + Sync,
) -> Vec<R> {
    let mut results: Vec<Option<R>> = (0..items.len()).map(|_| None).collect();
    each_with(items.zip(&mut results), own, |own, (item, result)| *result = Some(work(own, item)));
    results.into_iter().map(|result| result.expect("every item is visited")).collect()
}

/// [`each_with`], until an item fails.
///
/// # Errors
///
/// That of the first item that fails, in their order. Items are taken in it, and one that is taken is completed: it is the same for any
/// number of threads.
pub(crate) fn try_each_with<I: Send, S>(
    items: impl Iterator<Item = I> + Send,
    own: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, I) -> Result<()> + Sync,
) -> Result<()> {
    let failed: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    let items = items.enumerate().take_while(|_| lock(&failed).is_none());
    each_with(items, own, |own, (number, item)| {
        if let Err(e) = work(own, item) {
            let mut failed = lock(&failed);
            if failed.as_ref().is_none_or(|(first, _)| number < *first) {
                *failed = Some((number, e));
            }
        }
    });
    let failed = failed.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    failed.map_or(Ok(()), |(_, e)| Err(e))
}

/// [`each`], until an item fails.
///
/// # Errors
///
/// That of the first item that fails, in their order.
pub(crate) fn try_each<I: Send>(
    items: impl Iterator<Item = I> + Send,
    work: impl Fn(I) -> Result<()> + Sync,
) -> Result<()> {
    try_each_with(items, || (), |(), item| work(item))
}

/// Runs `work` as often as the current pool has threads, but no more than `most` times: at once, as far as threads are free.
fn on_threads(most: usize, work: &(dyn Fn() + Sync)) {
    fn divide(threads: usize, work: &(dyn Fn() + Sync)) {
        match threads {
            0 | 1 => work(),
            _ => {
                rayon::join(|| divide(threads - threads / 2, work), || divide(threads / 2, work));
            }
        }
    }
    divide(n_threads().min(most), work);
}

/// Number of threads on which a loop runs: those of the current pool, or the calling thread.
pub(crate) fn n_threads() -> usize {
    rayon::current_thread_index().map_or(1, |_| rayon::current_num_threads())
}

/// Runs `work` once on every thread of the current pool.
pub(crate) fn on_every_thread(work: &(dyn Fn() + Sync)) {
    rayon::broadcast(|_| work());
}

/// The value in `cell`, made if there is none. It is made outside of the lock: a thread that waits for its own loop while it makes the value may
/// begin other work of the pool, which may need the same value.
pub(crate) fn made_once<V>(cell: &OnceLock<V>, make: impl FnOnce() -> V) -> &V {
    if let Some(value) = cell.get() {
        return value;
    }
    let value = make();
    cell.get_or_init(|| value)
}

fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::threads::on_pool;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    #[test]
    fn every_item_is_visited_once_and_results_keep_their_order() {
        for threads in [1, 2, 3, 5] {
            for n in [0, 1, 2, 3, 17, 1000] {
                let mut visits = vec![0; n];
                on_pool(threads, || each(visits.iter_mut(), |visits| *visits += 1));
                assert_eq!(visits, vec![1; n], "{threads} threads");
                assert_eq!(
                    on_pool(threads, || map(0..n, |i| 3 * i)),
                    (0..n).map(|i| 3 * i).collect::<Vec<_>>()
                );
            }
        }
        assert_eq!(map(0..4, |i| i * i), [0, 1, 4, 9], "outside a pool");
    }

    #[test]
    fn all_threads_work_at_once_and_each_has_one_value_of_its_own() {
        let (barrier, made) = (Barrier::new(3), AtomicUsize::new(0));
        let own = || made.fetch_add(1, Relaxed);
        on_pool(3, || {
            assert_eq!(rayon::current_num_threads(), 3, "no pool of three threads");
            each_with(0..3, own, |_, _| {
                barrier.wait();
            });
        });
        assert_eq!(made.into_inner(), 3);
    }

    #[test]
    fn the_first_error_ends_a_loop() {
        let visited = AtomicUsize::new(0);
        let work = |i: usize| {
            visited.fetch_add(1, Relaxed);
            std::thread::sleep(std::time::Duration::from_millis(1));
            if i == 40 { Err(Error::Interrupted) } else { Ok(()) }
        };
        let result = on_pool(2, || try_each(0..1000, work));
        assert!(matches!(result, Err(Error::Interrupted)));
        assert!(visited.into_inner() < 500);
    }

    #[test]
    fn the_error_is_that_of_the_first_item_and_not_the_earliest() {
        let both = Barrier::new(2);
        let work = |i: usize| {
            both.wait();
            std::thread::sleep(std::time::Duration::from_millis(if i == 0 { 20 } else { 0 }));
            Err(if i == 0 { Error::Interrupted } else { Error::corrupt_model("of item 1") })
        };
        assert!(matches!(on_pool(2, || try_each(0..2, work)), Err(Error::Interrupted)));
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let panics = || on_pool(2, || each(0..100, |i| assert!(i != 7)));
        assert!(std::panic::catch_unwind(panics).is_err());
        assert_eq!(on_pool(2, || map(0..3, |i| i)), [0, 1, 2]);
    }
}
