//! Outcome of a command.

use crate::terminal;
use unmix::Error;

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
            Failure::Library(e) => (e.to_string(), 1),
            Failure::Message(message) => (message, 1),
            Failure::Usage(message) => (message, 2),
            Failure::Closed => return 0,
        };
        terminal::error(&message);
        code
    }
}
