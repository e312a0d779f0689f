//! Which components count as resolved.

use super::halves::{Halves, block_length};
use super::{SigmaPca, SolverOutput};
use crate::error::Result;
use crate::model::{LEVEL, Outcome};
use crate::neural::evidence::Confidence;
use crate::neural::pairs::{Verdict, VerdictInput, verdicts};
use crate::num::Real;
use crate::run::Run;

/// The largest statistic that a search finds under the null hypothesis grows with the square root of the
/// number of directions. Measured on spherical rows, which have no axes, of 4 to 60 columns: the smallest
/// `L_ij` of the best component of a fit, in standard errors, is about this number times that root above its
/// quantile.
const SEARCH: f64 = 0.3;

/// Number of rows from which the autocorrelation is estimated, unless the halves used more.
const FOLLOWING: usize = 1 << 13;

impl SigmaPca {
    /// A verdict on every component that `ended` has.
    pub(super) fn with_verdicts<T: Real>(
        &self,
        ended: &SolverOutput<'_, T>,
        halves: Option<&Halves>,
        run: &Run<'_>,
    ) -> Result<Vec<Verdict>> {
        let (solved, rows) = (&ended.solved, &ended.principal);
        let block_length = match halves {
            Some(halves) => halves.block_length,
            None => block_length(rows, &solved.w, FOLLOWING, run)?,
        };
        let at_rest = solved.outcome == Outcome::Converged;
        let demand = Confidence {
            level: LEVEL,
            // Halves that agree were not found by the same search.
            search: if halves.is_some() { 0.0 } else { SEARCH },
            moving: !at_rest || solved.solver != "gpm",
        };
        let seen = rows.seen(&solved.w, &ended.h, block_length, run)?;
        let certainty = seen.map(|seen| seen.certainty(solved.alpha, demand));
        Ok(verdicts(&VerdictInput {
            sigma: &solved.sigma,
            alpha: solved.alpha,
            own: &solved.own,
            candidates: &solved.candidates,
            certainty: certainty.as_deref(),
            halves: halves.map(|h| &h.all[..]),
            // Training on mini-batches has a fixed number of steps.
            finished: at_rest || (self.is_trained() && solved.outcome == Outcome::Completed),
        }))
    }
}
