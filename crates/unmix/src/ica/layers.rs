//! Two layers of sigma-PCA: whitening, then sigma-PCA of the whitened coordinates, in which all variances are
//! equal and the axes depend on independence alone (arXiv 2311.13580, section 3.4).
//!
//! The first layer is linear PCA, or sigma-PCA itself. The sources of the latter are nearly independent if the mixing matrix is
//! nearly orthogonal, and correlated if it is not, which no rotation can correct: they are whitened again by the nearest white
//! coordinates, `z = (MM')^-1/2 M z0` for `y = M z0`. That is `polar(M) z0`: a rotation of PCA's whitened coordinates. So the
//! choice of the first layer only affects the initial value of the second, and both have the same solution.
//!
//! The second layer chooses its widths during the iterations, and the width of a nearly Gaussian source
//! depends on the path. So at convergence widths are chosen again from the current sources, until the choice
//! does not change.

use super::linear::polar;
use super::view::View;
use super::{Limits, SolverResult};
use crate::data::Rows;
use crate::error::Result;
use crate::model::{Linear, Outcome};
use crate::neural::auto::choose;
use crate::neural::gpm::{FixedPoint, GpmOptions};
use crate::neural::nonlinearity::Nonlinearity;
use crate::neural::start::{Principal, PrincipalOptions};
use crate::num::{Matrix, Real, factor};
use crate::run::{Phase, Run};
use crate::spectrum::Coordinates;
use crate::stats::Contrast;

fn principal_options(k: usize, center: bool, standardize: bool) -> PrincipalOptions {
    // No copy of the coordinates: the second layer works on a copy of the whitened rows.
    PrincipalOptions { method: "ica", k, center, standardize, kept: Some(0) }
}

/// The rotation of whitened coordinates from sigma-PCA of the rows, the result of its solver, and the number of sweeps.
pub(super) fn first<T: Real>(
    rows: &Rows<'_, T>,
    coordinates: &Coordinates,
    limits: &Limits,
    run: &Run<'_>,
) -> Result<(Matrix<f64>, FixedPoint, u64)> {
    let k = coordinates.k();
    let center = coordinates.subtracted().is_some();
    let options = principal_options(k, center, coordinates.noise_scale.is_some());
    let principal = Principal::new(rows, &options, run)?;
    let k = k.min(principal.r());
    let solved = GpmOptions::auto(k, limits.tol, limits.max_iter).solve(
        &principal,
        principal.first(k),
        run,
        |_, _| (),
    )?;
    let axes = principal.spectrum.axes.clone().top_rows(solved.w.cols());
    let rows_of = factor::multiply(&solved.w, &axes);
    let noise = coordinates.noise_scale.as_deref();
    let encoder = Linear { noise, axes: &rows_of, scale: Some(&solved.sigma), rotation: None }.encoder();
    let rotation = polar(&factor::multiply_transposed(&encoder.transposed(), &coordinates.back()))?;
    let sweeps = principal.sweeps();
    Ok((rotation, solved, sweeps))
}

/// Maximum number of times that widths are chosen again.
const MOST_RENEWALS: usize = 4;

/// The fixed point of sigma-PCA with widths that are consistent with it.
fn with_chosen_widths<T: Real>(
    white: &Principal<'_, T>,
    begin: Matrix<f64>,
    limits: &Limits,
    run: &Run<'_>,
) -> Result<FixedPoint> {
    let k = begin.rows();
    let how = GpmOptions { white: true, ..GpmOptions::auto(k, limits.tol, limits.max_iter) };
    let mut at = how.solve(white, begin, run, |_, _| ())?;
    for _ in 0..MOST_RENEWALS {
        let widths = choose(&at.candidates, k);
        if widths == at.a || at.outcome != Outcome::Converged || at.n_iter >= limits.max_iter {
            break;
        }
        let max_iter = limits.max_iter - at.n_iter;
        let again = GpmOptions { h: Nonlinearity::tanh(widths), auto: false, max_iter, ..how.clone() };
        let n_iter = at.n_iter;
        let phase = Phase { observer: run.observer, before: n_iter, max_iter: limits.max_iter };
        at = again.solve(white, at.w, &Run { observer: &phase, ..*run }, |_, _| ())?;
        at.n_iter += n_iter;
    }
    Ok(at)
}

/// The rotation of the white rows of `view`, from `start`.
pub(super) fn solve<T: Real>(
    view: &View<'_, '_, T>,
    contrast: Contrast,
    start: &Matrix<f64>,
    limits: &Limits,
    run: &Run<'_>,
) -> Result<SolverResult> {
    view.swept(|rows| on_rows(view, rows, contrast, start, limits, run))
}

fn on_rows<T: Real>(
    view: &View<'_, '_, T>,
    rows: &Rows<'_, T>,
    contrast: Contrast,
    start: &Matrix<f64>,
    limits: &Limits,
    run: &Run<'_>,
) -> Result<SolverResult> {
    let principal = Principal::new(rows, &principal_options(view.k, true, false), run)?;
    let axes = principal.spectrum.axes.clone().top_rows(principal.r());
    // Whitened coordinates, too, have principal axes, determined by rounding errors.
    let mut begin = factor::multiply_transposed(start, &axes);
    if axes.rows() < view.k {
        // In single precision, or with an outlier, the rank may be smaller than the number of coordinates.
        begin = factor::polar_rows(&begin.top_rows(axes.rows()))?;
    }
    let solved = match limits.max_iter {
        0 => None,
        _ => Some(with_chosen_widths(&principal, begin, limits, run)?),
    };
    let w = match &solved {
        None => start.clone(),
        Some(solved) => polar(&factor::multiply(&solved.w, &axes))?,
    };
    let sums = view.means(&w, contrast, run)?;
    let far = |loss: &[f64]| loss.iter().map(|l| (l - contrast.of_gaussian()).powi(2)).sum::<f64>();
    let residual = solved.as_ref().and_then(|s| s.residual).unwrap_or(f64::INFINITY);
    Ok(SolverResult {
        w,
        outcome: solved.as_ref().map_or(Outcome::MaxIter, |s| s.outcome),
        n_iter: solved.as_ref().map_or(0, |s| s.n_iter),
        sweeps: principal.sweeps() + 1,
        objective: Vec::new(),
        sign_changes: Vec::new(),
        residual,
        value: sums.as_ref().map_or(f64::INFINITY, |s| -far(&s.loss)),
        sums,
    })
}
