//! Contrasts that are fitted to the sources: quasi-maximum likelihood (Pham & Garat 1997).
//!
//! A search with a fixed contrast estimates the sources with an accuracy that depends on their distributions.
//! From these estimates, the contrast nearest to the score function of each source is fitted
//! ([`ScoreFunction`]), and the search continues with these contrasts, over rotations or over all invertible
//! matrices. This is repeated a few times, because the distributions change slightly with the estimates. The
//! remaining errors are those of maximum likelihood with known distributions, as far as the basis functions
//! approximate these: near the Cramér-Rao bound.

use super::view::View;
use super::{Limits, SolverResult, free, orthogonal};
use crate::error::Result;
use crate::model::Outcome;
use crate::num::{Matrix, Real, factor};
use crate::run::{Phase, Run};
use crate::stats::{Contrasts, ScoreFunction};

/// Number of times that contrasts are fitted. Changes by the second fit are of second order; a third fit was
/// found to have a negligible effect.
const CONTRAST_FITS: usize = 3;

/// Largest admissible contribution of another source, relative to the result of the fixed contrast. If it is
/// larger, the fitted contrasts of nearly Gaussian sources are not reliable, and the result of the fixed
/// contrast is kept.
const LARGEST_CONTRIBUTION: f64 = 0.5;

/// Continues from the result of a search with a fixed contrast. `ortho`: over rotations; else over all
/// invertible matrices, of coordinates with these second `moments` (`None`: white).
pub(super) fn refine<T: Real>(
    view: &View<'_, '_, T>,
    moments: Option<&Matrix<f64>>,
    ortho: bool,
    found: SolverResult,
    limits: &Limits,
    run: &Run<'_>,
) -> Result<SolverResult> {
    let mut at = found;
    if at.sums.is_none() || limits.max_iter == 0 {
        return Ok(at);
    }
    let begun = at.w.clone();
    for _ in 0..CONTRAST_FITS {
        at.sweeps += 1;
        let Some(scores) = view.score_sums(&at.w, run)?.scores() else { break };
        let left = Limits { max_iter: limits.max_iter.saturating_sub(at.n_iter), ..*limits };
        let phase = Phase { observer: run.observer, before: at.n_iter, max_iter: limits.max_iter };
        let run = &Run { observer: &phase, ..*run };
        let next = search(view, moments, ortho, &scores, at.w.clone(), &left, run)?;
        (at.n_iter, at.sweeps) = (at.n_iter + next.n_iter, at.sweeps + next.sweeps);
        if next.sums.is_none() || moved(&next.w, &begun) > LARGEST_CONTRIBUTION {
            // A search that was cut short has not shown that its contrasts are unreliable.
            at.outcome = if next.outcome.is_early() { next.outcome } else { at.outcome };
            break;
        }
        // Warnings about the sources are computed with the fixed contrast.
        let SolverResult { n_iter, sweeps, value, sums, .. } = at;
        at = SolverResult { n_iter, sweeps, value, sums, ..next };
        if at.outcome.is_early() || at.outcome == Outcome::MaxIter {
            break;
        }
    }
    Ok(at)
}

/// A search with the contrasts `scores`, from `start`.
fn search<T: Real>(
    view: &View<'_, '_, T>,
    moments: Option<&Matrix<f64>>,
    ortho: bool,
    scores: &[ScoreFunction],
    start: Matrix<f64>,
    limits: &Limits,
    run: &Run<'_>,
) -> Result<SolverResult> {
    let (each, how) =
        (Contrasts::Each(scores), (orthogonal::Step::Picard, orthogonal::StepAcceptance::Objective));
    match ortho {
        true => orthogonal::solve(view, each, how, false, start, limits, run),
        false => free::solve(view, moments, each, false, start, limits, run),
    }
}

/// The largest coefficient of a row of `w` on another row of the rotation `begun`, relative to that on its own.
fn moved(w: &Matrix<f64>, begun: &Matrix<f64>) -> f64 {
    let rotation = factor::multiply_transposed(w, begun);
    let of = |i: usize| {
        let others =
            (0..rotation.cols()).filter(|j| *j != i).fold(0.0f64, |m, j| m.max(rotation[(i, j)].abs()));
        others / rotation[(i, i)].abs()
    };
    (0..rotation.rows()).map(of).fold(0.0, |m, x| if x.is_nan() { f64::INFINITY } else { m.max(x) })
}
