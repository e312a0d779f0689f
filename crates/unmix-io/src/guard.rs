//! A wall around libraries that panic at damaged files.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use unmix::{Error, Result};

/// What `work` gives back; a panic of it is a damaged file. Nothing that `work` has touched may be used after an error.
pub(crate) fn guarded<V>(path: &Path, work: impl FnOnce() -> Result<V>) -> Result<V> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Error::format(path, "it is damaged", "copy or write it again")))
}
