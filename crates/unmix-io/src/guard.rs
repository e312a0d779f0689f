//! Catches panics of libraries on corrupt files.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use unmix::{Error, Result};

thread_local! {
    /// How many calls of [`guarded`] this thread is in.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Whether a panic of this thread would be caught by a reader and become an error about its file: a panic hook then prints
/// nothing.
pub fn panic_is_caught() -> bool {
    DEPTH.with(|depth| depth.get() > 0)
}

/// The result of `work`; a panic is an error about a corrupt file. Nothing modified by `work` may be used
/// after an error.
pub(crate) fn guarded<V>(path: &Path, work: impl FnOnce() -> Result<V>) -> Result<V> {
    DEPTH.with(|depth| depth.set(depth.get() + 1));
    let result = catch_unwind(AssertUnwindSafe(work));
    DEPTH.with(|depth| depth.set(depth.get() - 1));
    result.unwrap_or_else(|_| Err(Error::format(path, "it is corrupt", "copy or write it again")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caught_panic_is_flagged_and_becomes_an_error() {
        let inside = guarded(Path::new("x"), || Ok(panic_is_caught()));
        assert!(inside.unwrap() && !panic_is_caught());
        let nested = guarded(Path::new("x"), || {
            let inner: Result<()> = guarded(Path::new("y"), || std::panic::resume_unwind(Box::new("no")));
            Ok((panic_is_caught(), inner.unwrap_err().to_string()))
        });
        let (caught, message) = nested.unwrap();
        assert!(caught && message.contains("y cannot be read: it is corrupt"), "{message}");
        assert!(!panic_is_caught());
    }
}
