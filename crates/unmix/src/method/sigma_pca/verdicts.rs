//! Verdicts: whether each component is resolved.

use super::halves::{Halves, block_length};
use super::{SigmaPca, SolverOutput};
use crate::error::Result;
use crate::model::{Outcome, SIGNIFICANCE_LEVEL};
use crate::neural::evidence::Confidence;
use crate::neural::pairs::{Unresolved, Verdict, VerdictInput, verdicts};
use crate::num::Real;
use crate::run::Run;

/// Correction for the search over directions: under the null hypothesis, the largest statistic increases with the square root of
/// the number of directions. Measured on spherical rows, which have no axes, of 4 to 60 columns: the smallest `L_ij` of the best
/// component of a fit exceeds its quantile by about this number times that root, in standard errors.
const SEARCH_CORRECTION: f64 = 0.3;

/// Maximum number of rows from which the autocorrelation is estimated, if there are no halves.
const MOST_CONSECUTIVE_ROWS: usize = 1 << 13;

impl SigmaPca {
    /// A verdict on every component of `ended`.
    pub(super) fn with_verdicts<T: Real>(
        &self,
        ended: &SolverOutput<'_, T>,
        halves: Option<&Halves>,
        run: &Run<'_>,
    ) -> Result<Vec<Verdict>> {
        let (solved, rows) = (&ended.solved, &ended.principal);
        let block_length = match halves {
            Some(halves) => halves.block_length,
            None => block_length(rows, &solved.w, MOST_CONSECUTIVE_ROWS, run)?,
        };
        let converged = solved.outcome == Outcome::Converged;
        let confidence = Confidence {
            level: SIGNIFICANCE_LEVEL,
            // Components that agree between halves are the results of two independent searches.
            search: if halves.is_some() { 0.0 } else { SEARCH_CORRECTION },
            moving: !converged || solved.solver != "gpm",
        };
        let evidence = rows.block_evidence(&solved.w, &ended.h, block_length, run)?;
        let certainty = evidence.map(|evidence| evidence.sampling_errors(solved.alpha, confidence));
        let mut found = verdicts(&VerdictInput {
            sigma: &solved.sigma,
            alpha: solved.alpha,
            own: &solved.own,
            candidates: &solved.candidates,
            certainty: certainty.as_deref(),
            halves: halves.map(|h| &h.all[..]),
            // Training on mini-batches has a fixed number of steps.
            converged: converged || (self.is_trained() && solved.outcome == Outcome::Completed),
        });
        if solved.outcome == Outcome::Completed && !self.is_trained() {
            found.iter_mut().for_each(|verdict| verdict.reason = Some(by_variance(verdict.reason)));
        }
        Ok(found)
    }
}

/// The reason why a component of axes by variance is not resolved. No component was significant, so what one seems to be after a rotation that makes
/// it the least Gaussian is due to chance.
fn by_variance(reason: Option<Unresolved>) -> Unresolved {
    match reason {
        Some(kept @ (Unresolved::LinearRange | Unresolved::NoStandardError)) => kept,
        _ => Unresolved::Gaussian,
    }
}
