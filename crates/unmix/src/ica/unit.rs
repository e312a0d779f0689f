//! FastICA one unit at a time (Hyvärinen 1999): each source is found in what the ones before it leave.
//!
//! ```text
//! w <- E[g(w'z) z] - E[g'(w'z)] w,    made orthogonal to the rows before, twice,    normalised
//! ```
//!
//! Rows are never deflated, only directions: what rounding leaves along a direction that was taken out of the rows grows by
//! `3 / kurtosis` a step, and the same source is found again.

use super::linear::largest;
use super::orthogonal::Guard;
use super::view::View;
use super::{Limits, SolverResult};
use crate::error::Result;
use crate::model::Outcome;
use crate::num::{Matrix, Real};
use crate::run::Run;
use crate::stats::{Contrast, GatherUnit};

/// Rows of a rotation, one after another, from those of `start`.
pub(super) fn solve<T: Real>(
    view: &View<'_, '_, T>,
    contrast: Contrast,
    guard: Guard,
    start: Matrix<f64>,
    limits: &Limits,
    run: &Run<'_>,
) -> Result<SolverResult> {
    let k = view.k;
    let mut search = Search { view, contrast, guard, run, sweeps: 0 };
    let mut found = Matrix::zeros(0, k);
    let (mut n_iter, mut residual, mut outcome) = (0, 0.0f64, Outcome::Converged);
    for i in 0..k {
        let mut w = start.row(i).to_vec();
        if !orthogonal_to(&mut w, &found) {
            w = crate::num::factor::complement(&found).row(0).to_vec();
        }
        // The last direction is what is left.
        if i + 1 < k || k == 1 {
            let unit = search.unit(&mut w, &found, limits)?;
            n_iter = n_iter.max(unit.n_iter);
            residual = residual.max(unit.residual);
            if outcome == Outcome::Converged {
                outcome = unit.outcome;
            }
            run.iteration(i as u64 + 1, unit.residual, None)?;
        }
        let all = [found.into_vec(), w].concat();
        found = Matrix::from_vec(i + 1, k, all);
    }
    let sums = view.means(&found, contrast, run)?;
    let far = |loss: &[f64]| loss.iter().map(|l| (l - contrast.of_gaussian()).powi(2)).sum::<f64>();
    Ok(SolverResult {
        w: found,
        outcome,
        n_iter: n_iter.max(1),
        sweeps: search.sweeps + 1,
        objective: Vec::new(),
        residual,
        value: sums.as_ref().map_or(f64::INFINITY, |s| -far(&s.loss)),
        sums,
    })
}

struct Search<'s, 'a, 'b, 'r, T: Real> {
    view: &'s View<'a, 'b, T>,
    contrast: Contrast,
    guard: Guard,
    run: &'s Run<'r>,
    sweeps: u64,
}

/// How the search for one unit ended.
struct Unit {
    outcome: Outcome,
    n_iter: u64,
    residual: f64,
}

impl<T: Real> Search<'_, '_, '_, '_, T> {
    fn unit(&mut self, w: &mut Vec<f64>, found: &Matrix<f64>, limits: &Limits) -> Result<Unit> {
        let (mut damping, mut before) = (1.0, None::<Vec<f64>>);
        let mut residual = f64::INFINITY;
        for n_iter in 0.. {
            let ended = |outcome, residual| Ok(Unit { outcome, n_iter, residual });
            if n_iter >= limits.max_iter && self.guard == Guard::Change {
                return ended(Outcome::MaxIter, residual);
            }
            let Some((m, slope)) = self.look(w)? else { return ended(Outcome::Stalled, residual) };
            let beta = dot(&m, w);
            if self.guard == Guard::Objective {
                let mut rest = m.clone();
                orthogonalise(&mut rest, found);
                rest.iter_mut().zip(&*w).for_each(|(r, w)| *r -= beta * w);
                residual = dot(&rest, &rest).sqrt();
                if residual <= limits.tol {
                    return ended(Outcome::Converged, residual);
                }
                if n_iter >= limits.max_iter {
                    return ended(Outcome::MaxIter, residual);
                }
            }
            if self.run.out_of_time() {
                return ended(Outcome::Time, residual);
            }
            // With a damping of 1, the fixed point up to a factor.
            let share = damping / (slope - beta);
            let mut next: Vec<f64> = match damping {
                1.0 => m.iter().zip(&*w).map(|(m, w)| m - slope * w).collect(),
                _ => w.iter().zip(&m).map(|(w, m)| w - share * (m - beta * w)).collect(),
            };
            if !orthogonal_to(&mut next, found) {
                return ended(Outcome::Stalled, residual);
            }
            if self.guard == Guard::Change {
                residual = apart(&next, w);
            } else if before.as_ref().is_some_and(|b| apart(&next, b) < apart(&next, w)) {
                // It goes to and fro: nearer to where it was two steps ago.
                damping *= 0.5;
            }
            before = Some(std::mem::replace(w, next));
            if self.guard == Guard::Change && residual < limits.tol {
                return Ok(Unit { outcome: Outcome::Converged, n_iter: n_iter + 1, residual });
            }
        }
        unreachable!("the loop above ends by returning")
    }

    /// `E[g(w'z) z]` and `E g'(w'z)`; `None` when they are not finite.
    fn look(&mut self, w: &[f64]) -> Result<Option<(Vec<f64>, f64)>> {
        self.sweeps += 1;
        let unit = Matrix::from_vec(1, w.len(), w.to_vec());
        let sources = self.view.sources(&unit, self.contrast.into());
        let sums = self.view.sweep(self.run, "sources", GatherUnit::new(sources))?;
        let p = self.view.width();
        let mean = Matrix::from_vec(1, p, sums.cross.iter().map(|c| c / sums.n).collect());
        let image = match self.view.basis {
            None => mean,
            Some(basis) => crate::num::factor::multiply_transposed(&mean, basis),
        };
        let finite = largest(&image).is_finite() && sums.slope.is_finite();
        Ok(finite.then(|| (image.into_vec(), sums.slope / sums.n)))
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `min(||a - b||², ||a + b||²) / 2` of unit vectors.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let sign = if dot(a, b) < 0.0 { -1.0 } else { 1.0 };
    0.5 * a.iter().zip(b).map(|(a, b)| (a - sign * b).powi(2)).sum::<f64>()
}

fn orthogonalise(v: &mut [f64], rows: &Matrix<f64>) {
    for i in 0..rows.rows() {
        let along = dot(v, rows.row(i));
        v.iter_mut().zip(rows.row(i)).for_each(|(v, r)| *v -= along * r);
    }
}

/// Makes `v` orthogonal to the rows, twice, and of length 1; false when nothing is left of it.
fn orthogonal_to(v: &mut [f64], rows: &Matrix<f64>) -> bool {
    let before = dot(v, v).sqrt();
    for _ in 0..2 {
        orthogonalise(v, rows);
    }
    let length = dot(v, v).sqrt();
    if length.is_nan() || length <= 1e-12 * before {
        return false;
    }
    v.iter_mut().for_each(|x| *x /= length);
    true
}
