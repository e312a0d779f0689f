//! A test that cannot run here says so: in its output, and in the summary of `cargo xtask test`.

/// Says that `test` is skipped, and `why`. The line goes to the file that `UNMIX_SKIPPED` names, too, since the output of tests
/// that pass is not shown.
pub(crate) fn skipped(test: &str, why: &str) {
    println!("skipped: {test}: {why}");
    let Some(path) = std::env::var_os("UNMIX_SKIPPED") else { return };
    if let Ok(mut file) = std::fs::File::options().create(true).append(true).open(path) {
        // One write, because tests run side by side.
        let _ = std::io::Write::write_all(&mut file, format!("{test}: {why}\n").as_bytes());
    }
}
