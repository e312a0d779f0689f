//! The scope of a run of the tests: the everyday ones, also those that are slow (`cargo xtask test all`), or also those that take minutes each
//! (`cargo xtask test full`).

use crate::skipped::skipped;

fn is_one_of(scopes: &[&str]) -> bool {
    std::env::var_os("UNMIX_TESTS").is_some_and(|scope| scopes.iter().any(|name| scope == *name))
}

/// Whether slow tests run.
pub(crate) fn all() -> bool {
    is_one_of(&["all", "full"])
}

/// Whether slow tests run; if they do not, reports `test` as skipped.
pub(crate) fn in_all(test: &str) -> bool {
    let all = all();
    if !all {
        skipped(test, "UNMIX_TESTS is not 'all'");
    }
    all
}

/// Whether tests that take minutes run, such as those of the full forms of experiments; if they do not, reports `test` as skipped.
#[allow(dead_code)] // Some of the crates that include this file have no such test.
pub(crate) fn in_full(test: &str) -> bool {
    let full = is_one_of(&["full"]);
    if !full {
        skipped(test, "UNMIX_TESTS is not 'full'");
    }
    full
}
