//! FastICA one unit at a time (Hyvärinen 1999): each source is searched for in the orthogonal complement of
//! the previous ones.
//!
//! ```text
//! w <- E[g(w'z) z] - E[g'(w'z)] w,    orthogonalised against the previous rows, twice,    normalised
//! ```
//!
//! Directions are deflated, not the rows: rounding errors along a direction that was subtracted from the rows
//! would grow by `3 / kurtosis` in each step, and the same source would be found again.

use super::linear::largest;
use super::orthogonal::StepAcceptance;
use super::view::View;
use super::{Limits, SolverResult};
use crate::error::Result;
use crate::model::Outcome;
use crate::num::{Matrix, Real};
use crate::run::Run;
use crate::solve::Steps;
use crate::stats::{Contrast, GatherUnit};
use serde::{Deserialize, Serialize};

/// A rotation, one row at a time; the search for each row starts at that of `start`.
pub(super) fn solve<T: Real>(
    view: &View<'_, '_, T>,
    contrast: Contrast,
    acceptance: StepAcceptance,
    start: Matrix<f64>,
    limits: &Limits,
    run: &Run<'_>,
) -> Result<SolverResult> {
    let k = view.k;
    let search = Search { view, contrast, acceptance, run };
    let all = Limits::count(k as u64);
    let (mut steps, mut at) = Steps::begin(run, "units", all, || Ok(UnitsFound::nothing(k)))?;
    for i in steps.n_iter() as usize..k {
        let mut w = start.row(i).to_vec();
        let independent = orthogonal_to(&mut w, &at.rows);
        if !independent {
            w = crate::num::factor::complement(&at.rows).row(0).to_vec();
        }
        // The last direction is the orthogonal complement of the others.
        if i + 1 < k || k == 1 {
            if acceptance == StepAcceptance::Change && independent {
                // As in other implementations: the initial vector itself is not orthogonalised, only the
                // result of the first step.
                let length = dot(start.row(i), start.row(i)).sqrt();
                w = start.row(i).iter().map(|x| x / length).collect();
            }
            w = at.take(search.unit(w, &at.rows, limits)?);
        }
        at.rows = Matrix::from_vec(i + 1, k, [at.rows.into_vec(), w].concat());
        steps.counted(&at)?;
    }
    let sums = view.means(&at.rows, contrast, run)?;
    let far = |loss: &[f64]| loss.iter().map(|l| (l - contrast.of_gaussian()).powi(2)).sum::<f64>();
    Ok(SolverResult {
        w: at.rows,
        outcome: at.outcome,
        n_iter: at.n_iter.max(1),
        sweeps: at.sweeps + 1,
        objective: Vec::new(),
        sign_changes: Vec::new(),
        residual: at.residual,
        value: sums.as_ref().map_or(f64::INFINITY, |s| -far(&s.loss)),
        sums,
    })
}

/// Units found so far.
#[derive(Serialize, Deserialize)]
struct UnitsFound {
    /// Their vectors.
    rows: Matrix<f64>,
    /// Largest number of iterations of a unit.
    n_iter: u64,
    /// Largest residual of a unit.
    residual: f64,
    /// Outcome of the first unit that did not converge.
    outcome: Outcome,
    sweeps: u64,
}

impl UnitsFound {
    fn nothing(k: usize) -> Self {
        let rows = Matrix::zeros(0, k);
        Self { rows, n_iter: 0, residual: 0.0, outcome: Outcome::Converged, sweeps: 0 }
    }

    fn take(&mut self, unit: Unit) -> Vec<f64> {
        self.n_iter = self.n_iter.max(unit.n_iter);
        self.residual = self.residual.max(unit.at.residual);
        self.sweeps += unit.at.sweeps;
        // A unit that was cut short ends the search early, whatever those before it did.
        if self.outcome == Outcome::Converged || unit.outcome.is_early() {
            self.outcome = unit.outcome;
        }
        unit.at.w
    }
}

struct Search<'s, 'a, 'b, T: Real> {
    view: &'s View<'a, 'b, T>,
    contrast: Contrast,
    acceptance: StepAcceptance,
    run: &'s Run<'s>,
}

/// State of the search for one unit.
#[derive(Serialize, Deserialize)]
struct State {
    w: Vec<f64>,
    /// The vector before the last step.
    before: Option<Vec<f64>>,
    /// Factor of steps, halved when they oscillate.
    damping: f64,
    residual: f64,
    sweeps: u64,
}

/// Result of the search for one unit.
struct Unit {
    at: State,
    outcome: Outcome,
    n_iter: u64,
}

impl<T: Real> Search<'_, '_, '_, T> {
    fn unit(&self, w: Vec<f64>, found: &Matrix<f64>, limits: &Limits) -> Result<Unit> {
        let first = || Ok(State { w, before: None, damping: 1.0, residual: f64::INFINITY, sweeps: 0 });
        let (mut steps, mut at) = Steps::begin(self.run, "unit", *limits, first)?;
        let outcome = loop {
            if let Some(outcome) = self.step(&mut at, found, &steps, limits)? {
                break outcome;
            }
            steps.ended(at.residual, None, &at)?;
        };
        Ok(Unit { at, outcome, n_iter: steps.n_iter() })
    }

    /// A step, unless the search has ended: then its outcome.
    fn step(
        &self,
        at: &mut State,
        found: &Matrix<f64>,
        steps: &Steps<'_>,
        limits: &Limits,
    ) -> Result<Option<Outcome>> {
        if self.acceptance == StepAcceptance::Change {
            if at.residual < limits.tol {
                return Ok(Some(Outcome::Converged));
            }
            if steps.n_iter() >= limits.max_iter {
                return Ok(Some(Outcome::MaxIter));
            }
        }
        at.sweeps += 1;
        let Some((m, slope)) = self.evaluate(&at.w)? else { return Ok(Some(Outcome::Stalled)) };
        let beta = dot(&m, &at.w);
        if self.acceptance == StepAcceptance::Objective {
            let mut rest = m.clone();
            orthogonalise(&mut rest, found);
            rest.iter_mut().zip(&at.w).for_each(|(r, w)| *r -= beta * w);
            at.residual = dot(&rest, &rest).sqrt();
            if at.residual <= limits.tol {
                return Ok(Some(Outcome::Converged));
            }
        }
        if let Some(outcome) = steps.spent() {
            return Ok(Some(outcome));
        }
        // With a damping factor of 1, the fixed-point step up to a factor.
        let share = at.damping / (slope - beta);
        let mut next: Vec<f64> = match at.damping {
            1.0 => m.iter().zip(&at.w).map(|(m, w)| m - slope * w).collect(),
            _ => at.w.iter().zip(&m).map(|(w, m)| w - share * (m - beta * w)).collect(),
        };
        if !orthogonal_to(&mut next, found) {
            return Ok(Some(Outcome::Stalled));
        }
        if self.acceptance == StepAcceptance::Change {
            at.residual = half_squared_distance(&next, &at.w);
        } else if at
            .before
            .as_ref()
            .is_some_and(|b| half_squared_distance(&next, b) < half_squared_distance(&next, &at.w))
        {
            // Oscillation: the new point is nearer to the point two steps ago than to the last one.
            at.damping *= 0.5;
        }
        at.before = Some(std::mem::replace(&mut at.w, next));
        Ok(None)
    }

    /// `E[g(w'z) z]` and `E g'(w'z)`; `None` if they are not finite.
    fn evaluate(&self, w: &[f64]) -> Result<Option<(Vec<f64>, f64)>> {
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
fn half_squared_distance(a: &[f64], b: &[f64]) -> f64 {
    let sign = if dot(a, b) < 0.0 { -1.0 } else { 1.0 };
    0.5 * a.iter().zip(b).map(|(a, b)| (a - sign * b).powi(2)).sum::<f64>()
}

fn orthogonalise(v: &mut [f64], rows: &Matrix<f64>) {
    for i in 0..rows.rows() {
        let along = dot(v, rows.row(i));
        v.iter_mut().zip(rows.row(i)).for_each(|(v, r)| *v -= along * r);
    }
}

/// Orthogonalises `v` against the rows, twice, and normalises it; false if it is in their span.
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
