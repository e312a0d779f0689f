//! Outcome of a fit.

use serde::{Deserialize, Serialize};

/// Outcome of a fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The stopping criterion was met.
    Converged,
    /// There was no stopping criterion: a closed form, or a fixed number of steps.
    Completed,
    /// The maximum number of iterations (`max_iter`) was reached first.
    MaxIter,
    /// The time limit (`max_seconds`) was reached first.
    Time,
    /// No further step improved the objective.
    Stalled,
    /// The codes of all components are near 0.
    Collapsed,
    /// The observer of the run ended it, and its result was kept ([`Observer::ends_early`](super::Observer::ends_early)).
    Interrupted,
}

impl Outcome {
    /// The word used in files, in Python and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Converged => "converged",
            Outcome::Completed => "completed",
            Outcome::MaxIter => "max_iter",
            Outcome::Time => "time",
            Outcome::Stalled => "stalled",
            Outcome::Collapsed => "collapsed",
            Outcome::Interrupted => "interrupted",
        }
    }

    /// Whether the fit succeeded, rather than ended early.
    pub fn is_success(self) -> bool {
        matches!(self, Outcome::Converged | Outcome::Completed)
    }

    /// Whether the fit ended early, by its time limit or its observer: its checkpoint continues it.
    pub fn is_early(self) -> bool {
        matches!(self, Outcome::Time | Outcome::Interrupted)
    }
}
