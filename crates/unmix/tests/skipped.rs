//! Tests that cannot run in the present environment report it in their output, and in the summary of `cargo xtask test`.

/// Reports that `test` is skipped, and `why`; also in the file that `UNMIX_SKIPPED` names, because cargo hides the output of tests that
/// pass.
pub(crate) fn skipped(test: &str, why: &str) {
    println!("skipped: {test}: {why}");
    let Some(path) = std::env::var_os("UNMIX_SKIPPED") else { return };
    if let Ok(mut file) = std::fs::File::options().create(true).append(true).open(path) {
        // A single write, because tests run in parallel.
        let _ = std::io::Write::write_all(&mut file, format!("{test}: {why}\n").as_bytes());
    }
}
