//! The scope of a run of the tests: the everyday ones, or also those that are heavy (`cargo xtask test all`).

use crate::skipped::skipped;

/// Whether heavy tests run.
pub(crate) fn all() -> bool {
    std::env::var_os("UNMIX_TESTS").is_some_and(|scope| scope == "all")
}

/// Whether heavy tests run; if they do not, reports `test` as skipped.
pub(crate) fn in_all(test: &str) -> bool {
    let all = all();
    if !all {
        skipped(test, "UNMIX_TESTS is not 'all'");
    }
    all
}
