//! Maximum likelihood over all invertible matrices: Picard, Infomax and extended Infomax.
//!
//! ```text
//! L(W) = -log |det W| + Σ k_i E l(y_i) + [extended] ½ E y_i²
//! G_ij = k_i E[ψ(y_i) y_j] + [extended] E[y_i y_j] - δ_ij                    the relative gradient
//! h_ij = (k_i E ψ'(y_i) + [extended] 1) E y_j²                               of independent sources
//! ```
//!
//! `ψ = tanh` is Picard's density (Ablin, Cardoso & Gramfort 2018a), `ψ(y) = tanh(y/2)` the logistic one of Infomax (Bell &
//! Sejnowski 1995); extended Infomax (Lee, Girolami & Sejnowski 1999) is `ψ_i = y + k_i tanh y`. Steps are `W <- (I + a p) W`, with
//! `p` from limited-memory BFGS preconditioned by the approximate Hessian with blocks `[[h_ij, 1], [1, h_ji]]`. `E[ψ'(y_i) y_j²]`
//! is replaced by its value for independent sources, which needs no additional product; the solution is the same.

use super::linear::{identity, largest, log_determinant, sum};
use super::view::View;
use super::{Limits, Signs, SolverResult, descent_direction, no_history, remember};
use crate::error::Result;
use crate::model::Outcome;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::solve::Steps;
use crate::solve::lbfgs::History;
use crate::stats::{Contrasts, SourceSums};
use serde::{Deserialize, Serialize};

/// Lower bound of the eigenvalues of the blocks.
const EIGENVALUE_FLOOR: f64 = 0.01;

/// Maximum number of halvings of a step.
const MOST_HALVINGS: usize = 12;

/// Objective, gradient and signs at an invertible matrix.
#[derive(Serialize, Deserialize)]
struct Point {
    w: Matrix<f64>,
    /// `log |det w|`.
    log_det: f64,
    sums: SourceSums,
    /// `E[y y']`.
    second: Matrix<f64>,
    signs: Vec<f64>,
    gradient: Matrix<f64>,
}

struct Search<'s, 'a, 'b, T: Real> {
    view: &'s View<'a, 'b, T>,
    /// Second moments of the coordinates, unless they are white.
    moments: Option<&'s Matrix<f64>>,
    contrast: Contrasts<'s>,
    extended: bool,
    run: &'s Run<'s>,
    memory: SearchState,
}

/// State of a search besides its current point.
#[derive(Serialize, Deserialize)]
struct SearchState {
    #[serde(rename = "learnt")]
    history: History,
    signs: Signs,
    sweeps: u64,
    /// The iterations that changed signs; see [`SolverResult::sign_changes`].
    sign_changes: Vec<u64>,
}

impl SearchState {
    fn new(extended: bool) -> Self {
        let (history, signs) = (no_history(), Signs::new(extended));
        Self { history, signs, sweeps: 0, sign_changes: Vec::new() }
    }
}

/// The maximum likelihood estimate of the unmixing matrix for the coordinates, from `start`.
pub(super) fn solve<T: Real>(
    view: &View<'_, '_, T>,
    moments: Option<&Matrix<f64>>,
    contrast: Contrasts<'_>,
    extended: bool,
    start: Matrix<f64>,
    limits: &Limits,
    run: &Run<'_>,
) -> Result<SolverResult> {
    let mut search = Search { view, moments, contrast, extended, run, memory: SearchState::new(extended) };
    let (mut steps, at) = Steps::begin(run, "unmixing", *limits, || {
        let first = search.evaluate(start.clone(), log_determinant(&start), None)?;
        Ok(first.map(|first| (first, std::mem::replace(&mut search.memory, SearchState::new(extended)))))
    })?;
    let Some((mut at, memory)) = at else { return Ok(SolverResult::not_finite(start)) };
    search.memory = memory;
    let outcome = loop {
        if let Some(outcome) = steps.ending(largest(&at.gradient)) {
            break outcome;
        }
        let Some(next) = search.step(&at)? else { break Outcome::Stalled };
        if next.signs != at.signs {
            search.memory.sign_changes.push(steps.n_iter() + 1);
        }
        at = next;
        let value = search.objective(&at, &at.signs);
        steps.ended(largest(&at.gradient), Some(value), &Some((&at, &search.memory)))?;
    };
    Ok(SolverResult {
        residual: largest(&at.gradient),
        value: search.minus_log_likelihood(&at),
        w: at.w,
        outcome,
        n_iter: steps.n_iter(),
        sweeps: search.memory.sweeps,
        objective: steps.into_objective(),
        sign_changes: search.memory.sign_changes,
        sums: Some(at.sums),
    })
}

impl<T: Real> Search<'_, '_, '_, T> {
    /// Objective and gradient at `w`; with the given signs, or those estimated from the sources.
    fn evaluate(&mut self, w: Matrix<f64>, log_det: f64, signs: Option<&[f64]>) -> Result<Option<Point>> {
        self.memory.sweeps += 1;
        let Some(sums) = self.view.means(&w, self.contrast, self.run)? else { return Ok(None) };
        let second = match self.moments {
            None => factor::multiply_transposed(&w, &w),
            Some(c) => factor::multiply_transposed(&factor::multiply(&w, c), &w),
        };
        let mut point = Point { gradient: Matrix::zeros(0, 0), signs: Vec::new(), w, log_det, sums, second };
        let signs = signs.map_or_else(|| self.wanted(&point), <[f64]>::to_vec);
        self.set_signs(&mut point, signs);
        Ok(Some(point))
    }

    fn wanted(&mut self, at: &Point) -> Vec<f64> {
        let variance: Vec<f64> = (0..at.w.rows()).map(|i| at.second[(i, i)]).collect();
        self.memory.signs.of_scaled(&at.sums, &variance)
    }

    fn set_signs(&self, point: &mut Point, signs: Vec<f64>) {
        let k = point.w.rows();
        let own = f64::from(u8::from(self.extended));
        point.gradient = Matrix::from_fn(k, k, |i, j| {
            let delta = f64::from(u8::from(i == j));
            signs[i] * point.sums.cross[(i, j)] + own * point.second[(i, j)] - delta
        });
        if self.sizes_stay() {
            (0..k).for_each(|i| point.gradient[(i, i)] = 0.0);
        }
        point.signs = signs;
    }

    /// Fitted contrasts are valid for the scale of the sources that they were fitted to; for other scales there may be no optimum.
    fn sizes_stay(&self) -> bool {
        matches!(self.contrast, Contrasts::Each(_))
    }

    fn objective(&self, at: &Point, signs: &[f64]) -> f64 {
        let own = if self.extended { 0.5 } else { 0.0 };
        let each = |i: usize| signs[i] * at.sums.loss[i] + own * at.second[(i, i)];
        (0..signs.len()).map(each).sum::<f64>() - at.log_det
    }

    /// Minus the log-likelihood per row, including the constants that depend on the signs and that the objective omits, so that results
    /// of several starts can be compared. For fitted contrasts, which have no constants, the objective.
    fn minus_log_likelihood(&self, at: &Point) -> f64 {
        let constant = |sign: &f64| match self.contrast {
            Contrasts::One(contrast) => {
                contrast.log_partition(self.extended.then_some(*sign)).unwrap_or(f64::NAN)
            }
            Contrasts::Each(_) => 0.0,
        };
        self.objective(at, &at.signs) + at.signs.iter().map(constant).sum::<f64>()
    }

    /// The inverse of the Hessian in blocks of two.
    fn precondition(&self, at: &Point, q: &Matrix<f64>) -> Matrix<f64> {
        let k = q.rows();
        let own = f64::from(u8::from(self.extended));
        let h = |i: usize, j: usize| (at.signs[i] * at.sums.slope[i] + own) * at.second[(j, j)];
        let mut out = Matrix::zeros(k, k);
        for i in 0..k {
            out[(i, i)] = q[(i, i)] / (h(i, i) + 1.0).max(EIGENVALUE_FLOOR);
            for j in 0..i {
                let (mut a, mut b) = (h(i, j), h(j, i));
                let least = 0.5 * (a + b - ((a - b) * (a - b) + 4.0).sqrt());
                if least < EIGENVALUE_FLOOR {
                    (a, b) = (a + EIGENVALUE_FLOOR - least, b + EIGENVALUE_FLOOR - least);
                }
                let determinant = a * b - 1.0;
                out[(i, j)] = (b * q[(i, j)] - q[(j, i)]) / determinant;
                out[(j, i)] = (a * q[(j, i)] - q[(i, j)]) / determinant;
            }
        }
        out
    }

    /// A step along the BFGS direction, or, if that fails, along the preconditioned negative gradient; `None` if neither decreases the
    /// objective.
    fn step(&mut self, at: &Point) -> Result<Option<Point>> {
        let before = self.objective(at, &at.signs);
        let rounding = super::rounding::<T>(&at.sums.loss);
        loop {
            let mut history = std::mem::replace(&mut self.memory.history, no_history());
            let direction = descent_direction(&mut history, &at.gradient, |q| self.precondition(at, q));
            self.memory.history = history;
            let mut size = 1.0;
            while self.sizes_stay() && size * largest(&direction) > self.contrast.max_step() {
                size *= 0.5;
            }
            for _ in 0..MOST_HALVINGS {
                let step = sum(&Matrix::zeros(at.w.rows(), at.w.rows()), size, &direction);
                size *= 0.5;
                let factor = sum(&identity(at.w.rows()), 1.0, &step);
                let log_det = at.log_det + log_determinant(&factor);
                if !log_det.is_finite() {
                    continue;
                }
                let w = factor::multiply(&factor, &at.w);
                let Some(mut next) = self.evaluate(w, log_det, Some(&at.signs))? else { continue };
                let after = self.objective(&next, &at.signs);
                let flat = after <= before + rounding && largest(&next.gradient) < largest(&at.gradient);
                if !(after < before - rounding || flat) {
                    continue;
                }
                let wanted = self.wanted(&next);
                if wanted == at.signs {
                    remember(&mut self.memory.history, &step, &next.gradient, &at.gradient);
                } else {
                    // The history belongs to another objective.
                    self.memory.history.clear();
                    self.set_signs(&mut next, wanted);
                }
                return Ok(Some(next));
            }
            if self.memory.history.is_empty() {
                return Ok(None);
            }
            self.memory.history.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::linear::tests::{misleading, mixed};
    use super::*;
    use crate::data::Rows;
    use crate::stats::Contrast;

    fn search<'s, 'a, 'b>(
        view: &'s View<'a, 'b, f64>,
        extended: bool,
        run: &'s Run<'s>,
    ) -> Search<'s, 'a, 'b, f64> {
        let contrast = Contrast::LogCosh(1.0).into();
        Search { view, moments: None, contrast, extended, run, memory: SearchState::new(extended) }
    }

    #[test]
    fn no_step_raises_the_objective_for_its_initial_signs() {
        let (run, k) = (Run::default(), 5);
        let mut changes = 0;
        for seed in 0..20 {
            let x = mixed(200, k, seed);
            let rows = Rows::from_slice(&x, k).unwrap();
            let view = View::already_white(&rows, k);
            for extended in [true, false] {
                let mut search = search(&view, extended, &run);
                let mut at = search.evaluate(identity(k), 0.0, None).unwrap().unwrap();
                for _ in 0..60 {
                    let Some(next) = search.step(&at).unwrap() else { break };
                    let (before, after) =
                        (search.objective(&at, &at.signs), search.objective(&next, &at.signs));
                    assert!(after <= before + 1e-12, "seed {seed}: from {before} to {after}");
                    changes += u64::from(next.signs != at.signs);
                    // The history of other signs is cleared.
                    assert!(next.signs == at.signs || search.memory.history.is_empty());
                    at = next;
                }
            }
        }
        assert!(changes > 0, "no sign ever changed");
    }

    #[test]
    fn a_history_that_fails_is_cleared_and_the_search_continues() {
        let (run, k) = (Run::default(), 4);
        for seed in 0..6 {
            let x = mixed(2000, k, seed);
            let rows = Rows::from_slice(&x, k).unwrap();
            let view = View::already_white(&rows, k);
            let mut search = search(&view, true, &run);
            let mut at = search.evaluate(identity(k), 0.0, None).unwrap().unwrap();
            for _ in 0..5 {
                at = search.step(&at).unwrap().unwrap();
            }
            search.memory.history.clear();
            let (step, change) = misleading(&at.gradient);
            remember(&mut search.memory.history, &step, &change, &Matrix::zeros(k, k));
            let (before, sweeps) = (search.objective(&at, &at.signs), search.memory.sweeps);
            at = search.step(&at).unwrap().expect("downhill there is a step");
            assert!(search.objective(&at, &at.signs) < before, "seed {seed}");
            assert!(search.memory.sweeps - sweeps > 1, "seed {seed}: the wrong way was not tried");
            while let Some(next) = search.step(&at).unwrap() {
                at = next;
            }
            // The negative gradient gave no decrease either.
            assert!(search.memory.history.is_empty() && largest(&at.gradient) < 1e-10, "seed {seed}");
            // A tolerance that rounding allows is met; if rounding does not allow it, the outcome reports it.
            for (tol, outcome) in [(1e-9, Outcome::Converged), (0.0, Outcome::Stalled)] {
                let (contrast, limits) = (Contrast::LogCosh(1.0).into(), Limits { tol, max_iter: 1000 });
                let found = solve(&view, None, contrast, true, identity(k), &limits, &run).unwrap();
                assert_eq!(found.outcome, outcome, "seed {seed}: {:e}", found.residual);
                assert!(found.residual < 1e-9, "seed {seed}: {:e}", found.residual);
            }
        }
    }
}
