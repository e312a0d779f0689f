//! Outcome of a command.

use crate::terminal;
use unmix::{Error, METHODS};
use unmix_io::READING_OPTIONS;

/// An exit code, or a failure.
pub(crate) type Done = Result<i32, Failure>;

/// The reason why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The data or the fit: exit code 1.
    Library(Error),
    /// The same, with a message written here.
    Message(String),
    /// Invalid arguments: exit code 2.
    Usage(String),
    /// The reader of the output has closed it, as with `| head`: no message, exit code 0.
    Closed,
}

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        match &e {
            Error::Io { path, source, .. }
                if source.kind() == std::io::ErrorKind::BrokenPipe
                    && path.as_os_str() == terminal::STANDARD_OUTPUT =>
            {
                Failure::Closed
            }
            _ => Failure::Library(unmix::method::with_methods(e)),
        }
    }
}

impl Failure {
    /// Prints the message, one line on standard error, and returns the exit code.
    pub(crate) fn report(self) -> i32 {
        let (message, code) = match self {
            Failure::Library(Error::Interrupted) => ("interrupted".into(), 130),
            Failure::Library(e) => (in_shell(&e), 1),
            Failure::Message(message) => (message, 1),
            Failure::Usage(message) => (message, 2),
            Failure::Closed => return 0,
        };
        terminal::error(&message);
        code
    }
}

/// The message of an error, in which settings that are options of the command line have the form in which they are typed: `--rows 3:9` for
/// `rows=3:9`, `-k 5` for `n_components=5`. Other settings of methods are given as `--set name=value`, in which form messages have them.
pub(crate) fn in_shell(error: &Error) -> String {
    let message = error.to_string();
    let Error::Setting { name, got, .. } = error else { return with_k(&message) };
    // Options that are not settings of the library are named as such.
    let own = [name.as_str()];
    let flags: &[&str] = if name.starts_with("--") { &own } else { flags_of(name).unwrap_or_default() };
    let given = format!("{name}={got}");
    let quoted = match (flags, got.as_str()) {
        ([flag, ..], "true") => flag.to_string(),
        ([_, off, ..], "false") => off.to_string(),
        ([flag, ..], got) => format!("{flag} {got}"),
        ([], _) => return with_k(&message),
    };
    let message = match message.strip_prefix(&given) {
        Some(rest) => format!("{quoted}{rest}"),
        None => message.replacen(name, flags[0], 1),
    };
    with_k(&message)
}

/// The flags of a setting that is an option of the command line.
fn flags_of(name: &str) -> Option<&'static [&'static str]> {
    match name {
        "n_components" => return Some(&["-k"]),
        "sample_weight" => return Some(&["--weights"]),
        "exclude" => return Some(&["--exclude"]),
        "only" => return Some(&["--only"]),
        _ => {}
    }
    // A setting of a method has its own value.
    let is_setting = METHODS.iter().any(|method| method.settings.iter().any(|setting| setting.name == name));
    let option = READING_OPTIONS.iter().find(|option| option.name == name && !is_setting)?;
    Some(option.flags)
}

/// A message in which numbers of components are given by `-k`.
fn with_k(message: &str) -> String {
    // As in `--set n_components=...`, which is a form of its own.
    let kept = "--set n_components\u{0}";
    message
        .replace("--set n_components=", kept)
        .replace(" n_components=", " -k ")
        .replace(kept, "--set n_components=")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_are_options_have_the_form_in_which_they_are_typed() {
        let why = "there are 9 rows";
        let said = |name: &str, got: &str, why: &str| in_shell(&Error::setting(name, got, why, "give fewer"));
        assert_eq!(said("rows", "3:99", why), "--rows 3:99 is not possible: there are 9 rows; give fewer");
        assert_eq!(
            said("skip_rows", "7", "must be below 2"),
            "--skip-rows must be below 2, got 7; give fewer"
        );
        assert!(said("header", "true", why).starts_with("--header is not possible: "));
        assert!(said("header", "false", why).starts_with("--no-header is not possible: "));
        assert!(said("transpose", "true", why).starts_with("--transpose is not possible: "));
        assert!(said("n_components", "9", why).starts_with("-k 9 is not possible: "));
        assert!(
            said("n_components", "-1", "must be at least 0").starts_with("-k must be at least 0, got -1")
        );
        assert!(said("exclude", "'x'", why).starts_with("--exclude 'x' is not possible: "));
        assert!(said("only", "4", why).starts_with("--only 4 is not possible: "));
        assert!(said("--weights-column", "w", why).starts_with("--weights-column w is not possible: "));
        // Settings of methods stay.
        assert!(said("whiten", "zac", why).starts_with("whiten=zac is not possible: "));
        assert!(said("--weights", "w.csv", why).starts_with("--weights w.csv is not possible: "));
        let start =
            Error::unsupported("a fit", "it has 3 components", "choose n_components=3, or another model");
        assert!(in_shell(&start).ends_with("choose -k 3, or another model"));
        assert_eq!(with_k("give --set n_components=[3,2]"), "give --set n_components=[3,2]");
    }

    #[test]
    fn no_option_of_reading_is_a_setting_of_a_method() {
        for option in READING_OPTIONS {
            assert_eq!(flags_of(option.name), Some(option.flags), "{}", option.name);
        }
    }
}
