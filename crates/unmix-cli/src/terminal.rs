//! Printing: results to standard output, everything else to standard error, in colour on a terminal.

use crate::failure::{Done, Failure};
use anstyle::{AnsiColor, Style};
use std::io::{IsTerminal, Write};
use unmix::Caller;
pub(crate) use unmix_io::path_argument;

/// The name of standard output in messages.
pub(crate) const STANDARD_OUTPUT: &str = "standard output";

/// Section titles.
pub(crate) const TITLE: Style = AnsiColor::Cyan.on_default().bold();
/// Text that the user can type.
pub(crate) const TYPED: Style = AnsiColor::Green.on_default();
/// A hint.
pub(crate) const FAINT: Style = Style::new().dimmed();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// `text` in `style`; the style is removed if the output is not a terminal.
pub(crate) fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Prints a result, styled text.
pub(crate) fn text(text: &str) -> Done {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(standard_output)?;
    Ok(0)
}

/// The summary of a model, in the terms of the command line.
pub(crate) fn summary(model: &unmix::Model) -> String {
    Caller::Shell.message(&unmix_report::summary(model))
}

/// Prints a result unmodified.
pub(crate) fn bytes(bytes: &[u8]) -> Done {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(standard_output)?;
    Ok(0)
}

/// Prints a result as JSON.
pub(crate) fn json(value: &serde_json::Value) -> Done {
    let text = serde_json::to_string_pretty(value).map_err(|e| Failure::Message(e.to_string()))?;
    bytes(format!("{text}\n").as_bytes())
}

/// The failure of writing to standard output.
pub(crate) fn standard_output(e: std::io::Error) -> Failure {
    unmix::Error::io("cannot write", STANDARD_OUTPUT, e).into()
}

/// Whether standard output is a terminal.
pub(crate) fn is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// Prints an error, one line on standard error, in the terms of the command line.
pub(crate) fn error(message: &str) {
    line(&format!("{} {}", paint(ERROR, "unmix:"), one_line(message)));
}

/// Prints a warning, one line on standard error.
pub(crate) fn warning(message: &str) {
    line(&format!("{} {}", paint(WARNING, "unmix: warning:"), one_line(message)));
}

/// Prints a note, one line on standard error.
pub(crate) fn note(message: &str) {
    line(&format!("{} {}", paint(FAINT, "unmix:"), one_line(message)));
}

/// Clears the line of a progress bar.
pub(crate) fn clear_line() {
    let mut err = std::io::stderr().lock();
    if err.is_terminal() {
        let _ = err.write_all(b"\r\x1b[2K");
    }
}

fn line(text: &str) {
    // If standard error is closed, there is nowhere to write.
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// A message in the syntax of the command line. File names may contain line breaks, messages must not.
fn one_line(message: &str) -> String {
    Caller::Shell.message(message).replace('\n', " ")
}

/// A command, quoted for a shell.
pub(crate) fn command<S: AsRef<str>>(words: &[S]) -> String {
    words.iter().map(|w| quoted(w.as_ref())).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// A size in bytes with a unit.
pub(crate) fn size(bytes: u64) -> String {
    let (units, mut x, mut unit) = (["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"], bytes as f64, 0);
    while x >= 1024.0 && unit + 1 < units.len() {
        x /= 1024.0;
        unit += 1;
    }
    match unit {
        0 => format!("{bytes} bytes"),
        _ if x < 10.0 => format!("{x:.1} {}", units[unit]),
        _ => format!("{x:.0} {}", units[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_quoted_for_a_shell() {
        let words = ["unmix", "fit", "my data.csv", "it's.npy", "", "a=1,2"];
        let out = std::process::Command::new("sh")
            .args(["-c", &format!("printf '%s|' {}", command(&words))])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(out.stdout).unwrap(), words.map(|w| format!("{w}|")).concat());
    }

    #[test]
    fn sizes_are_rounded_to_two_digits_or_three() {
        assert_eq!(
            [0, 1023, 1536, 300 << 20, 5 << 40].map(size),
            ["0 bytes", "1023 bytes", "1.5 KiB", "300 MiB", "5.0 TiB"]
        );
    }
}
