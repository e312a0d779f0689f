//! Rotations of whitened coordinates: Picard-O and symmetric FastICA, which have the same solution.
//!
//! With `Y = W Z`, `M = E[g(y) y']`, `d_i = E g'(y_i)` and `k_i = sign(d_i - M_ii)`, both minimise
//! `Σ k_i E G(y_i)` over rotations, which implies `skew(diag(k) M) = 0`.
//!
//!  * Picard-O (Ablin, Cardoso & Gramfort 2018b) makes steps `W <- exp(p) W`, `p` from limited-memory BFGS around the Hessian that
//!    independent sources would have, `h_ij = (k_i (d_i - M_ii) + k_j (d_j - M_jj)) / 2`.
//!  * FastICA (Hyvärinen 1999) makes steps `W <- polar(M - diag(d)) W`: `E[g(y) z'] = M W` for a rotation `W`, so no product with the
//!    rows themselves is needed.
//!
//! Far from the solution that Hessian is inaccurate, and steps of Picard-O are short; near it the L-BFGS
//! history saves a pass or two. So Picard-O takes steps of FastICA, if these decrease the objective, until
//! they become short. With 40 sources and a random initial rotation that takes 10 to 14 passes instead of 17 to 34.
//!
//! One pass over the rows gives `M`, `d` and the objective together, so a step costs one pass unless it is
//! rejected.

use super::linear::{identity, largest, nearer_to_orthogonal, polar, rotation, skew, sum};
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
use std::cell::OnceCell;

/// Kind of step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// Limited-memory BFGS, after fixed-point steps.
    Picard,
    /// Symmetric fixed-point step.
    FastIca,
}

/// Which steps are accepted, and the stopping criterion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StepAcceptance {
    /// Only steps that do not increase the objective; the largest entry of the gradient is at most `tol`.
    Objective,
    /// All steps, as in other implementations of FastICA; the rotation changes by `max_i ||w_i_new - w_i_old||² / 2 < tol`.
    Change,
}

/// Lower bound of curvatures.
const CURVATURE_FLOOR: f64 = 0.01;

/// Maximum number of halvings of a step.
const MOST_HALVINGS: usize = 12;

/// Largest entry of `rotation - I` of a fixed-point step for which the rotation counts as near the solution.
const NEAR_ROTATION_ENTRY: f64 = 0.1;

/// Number of rejected fixed-point steps after which Picard-O continues without them.
const MOST_REFUSALS: u8 = 3;

/// Objective, gradient and signs at a rotation.
#[derive(Serialize, Deserialize)]
struct Point {
    w: Matrix<f64>,
    sums: SourceSums,
    signs: Vec<f64>,
    gradient: Matrix<f64>,
    /// See [`rotation`](Point::rotation).
    #[serde(skip)]
    rotation: OnceCell<Matrix<f64>>,
}

impl Point {
    fn new(w: Matrix<f64>, sums: SourceSums, signs: Vec<f64>) -> Self {
        let k = w.rows();
        let signed = Matrix::from_fn(k, k, |i, j| signs[i] * sums.cross[(i, j)]);
        Self { w, gradient: skew(&signed), sums, signs, rotation: OnceCell::new() }
    }

    fn residual(&self) -> f64 {
        largest(&self.gradient)
    }

    /// The approximate Hessian for independent sources.
    fn curvature(&self) -> Matrix<f64> {
        let k = self.w.rows();
        let each: Vec<f64> =
            (0..k).map(|i| self.signs[i] * (self.sums.slope[i] - self.sums.cross[(i, i)])).collect();
        Matrix::from_fn(k, k, |i, j| (0.5 * (each[i] + each[j])).max(CURVATURE_FLOOR))
    }

    /// The rotation of a fixed-point step, with the sign of each row kept: even contrasts do not distinguish a source from its
    /// negative.
    fn rotation(&self) -> Result<&Matrix<f64>> {
        if let Some(rotation) = self.rotation.get() {
            return Ok(rotation);
        }
        let mut m = self.sums.cross.clone();
        for i in 0..m.rows() {
            m[(i, i)] -= self.sums.slope[i];
        }
        let mut rotation = polar(&m)?;
        for i in 0..rotation.rows() {
            if rotation[(i, i)] < 0.0 {
                rotation.row_mut(i).iter_mut().for_each(|x| *x = -*x);
            }
        }
        Ok(self.rotation.get_or_init(|| rotation))
    }
}

fn objective(signs: &[f64], sums: &SourceSums) -> f64 {
    signs.iter().zip(&sums.loss).map(|(k, l)| k * l).sum()
}

/// The rotation of whitened coordinates, starting at `start`.
pub(super) fn solve<T: Real>(
    view: &View<'_, '_, T>,
    contrast: Contrasts<'_>,
    (step, acceptance): (Step, StepAcceptance),
    extended: bool,
    start: Matrix<f64>,
    limits: &Limits,
    run: &Run<'_>,
) -> Result<SolverResult> {
    let begun = Search::new(view, contrast, extended, run).begin("rotation", &start, *limits)?;
    let Some((mut search, mut steps, mut at)) = begun else { return Ok(SolverResult::not_finite(start)) };
    let residual = |at: &Point, memory: &SearchState| match acceptance {
        StepAcceptance::Change => memory.change,
        StepAcceptance::Objective => at.residual(),
    };
    let outcome = loop {
        let now = residual(&at, &search.memory);
        // The published criterion is "less than tol".
        let not_yet = acceptance == StepAcceptance::Change && now >= limits.tol;
        if let Some(outcome) = if not_yet { steps.spent() } else { steps.ending(now) } {
            break outcome;
        }
        let next = match (step, acceptance) {
            (Step::FastIca, StepAcceptance::Change) => search.fixed_point(&at)?,
            (Step::FastIca, StepAcceptance::Objective) => match search.along_arc(&at)? {
                Some(next) => Some(next),
                None => search.along_geodesics(&at)?,
            },
            (Step::Picard, _) => search.combined(&at)?,
        };
        let Some(next) = next else { break Outcome::Stalled };
        if next.signs != at.signs {
            search.memory.sign_changes.push(steps.n_iter() + 1);
        }
        at = next;
        let (value, now) = (objective(&at.signs, &at.sums), residual(&at, &search.memory));
        steps.ended(now, Some(value), &Some((&at, &search.memory)))?;
    };
    let (residual, sweeps, n_iter) = (residual(&at, &search.memory), search.memory.sweeps, steps.n_iter());
    let value = at.sums.loss.iter().map(|l| (l - contrast.of_gaussian()).powi(2)).sum::<f64>();
    Ok(SolverResult {
        w: at.w,
        outcome,
        n_iter,
        sweeps,
        objective: steps.into_objective(),
        sign_changes: search.memory.sign_changes,
        residual,
        // The objective is maximised.
        value: -value,
        sums: Some(at.sums),
    })
}

/// A rotation near the solution for these rows, from `start`, in at most `max_iter` steps: if the signs of
/// sources are estimated, the last step is taken without evaluating the result.
///
/// A small gradient is not a sufficient criterion: it is also small at a random rotation of many sources.
pub(super) fn approach<T: Real>(
    view: &View<'_, '_, T>,
    contrast: Contrasts<'_>,
    extended: bool,
    start: Matrix<f64>,
    max_iter: u64,
    run: &Run<'_>,
) -> Result<SolverResult> {
    // The number of steps is limited, the residual is not.
    let limits = Limits::count(max_iter);
    let begun = Search::new(view, contrast, extended, run).begin("approach", &start, limits)?;
    let Some((mut search, mut steps, mut at)) = begun else { return Ok(SolverResult::not_finite(start)) };
    let mut last = 0;
    while steps.spent().is_none() {
        if !extended && steps.n_iter() > 0 && at.residual() <= NEAR_ROTATION_ENTRY * NEAR_ROTATION_ENTRY {
            break;
        }
        let rotation = at.rotation()?;
        if extended && from_identity(rotation) <= NEAR_ROTATION_ENTRY {
            at.w = nearer_to_orthogonal(&factor::multiply(rotation, &at.w));
            last = 1;
            run.iteration_of((steps.n_iter() + last, max_iter), (at.residual(), limits.tol), None);
            break;
        }
        let Some(next) = search.combined(&at)? else { break };
        at = next;
        steps.ended(at.residual(), None, &Some((&at, &search.memory)))?;
    }
    let (n_iter, residual, sweeps) = (steps.n_iter() + last, at.residual(), search.memory.sweeps);
    // The signs are those of a search for initial values, which has no objective in the report.
    Ok(SolverResult {
        w: at.w,
        outcome: Outcome::Completed,
        n_iter,
        sweeps,
        objective: Vec::new(),
        sign_changes: Vec::new(),
        residual,
        value: f64::INFINITY,
        sums: None,
    })
}

/// The largest absolute entry of `rotation - I`.
fn from_identity(rotation: &Matrix<f64>) -> f64 {
    largest(&sum(rotation, -1.0, &identity(rotation.rows())))
}

/// State of a search besides its current point.
#[derive(Serialize, Deserialize)]
struct SearchState {
    #[serde(rename = "learnt")]
    history: History,
    signs: Signs,
    /// Length of the last fixed-point step.
    change: f64,
    sweeps: u64,
    /// Number of fixed-point steps that were rejected because they increased the objective.
    refused: u8,
    /// The gradient when fixed-point steps became short: they are not tried again while it is no larger and
    /// the objective is the same.
    near: f64,
    /// The iterations of [`solve`] that changed signs; see [`SolverResult::sign_changes`].
    sign_changes: Vec<u64>,
}

struct Search<'s, 'a, 'b, T: Real> {
    view: &'s View<'a, 'b, T>,
    contrast: Contrasts<'s>,
    run: &'s Run<'s>,
    memory: SearchState,
}

impl<'s, 'a, 'b, T: Real> Search<'s, 'a, 'b, T> {
    fn new(view: &'s View<'a, 'b, T>, contrast: Contrasts<'s>, extended: bool, run: &'s Run<'s>) -> Self {
        let (history, signs, change) = (no_history(), Signs::new(extended), f64::INFINITY);
        let sign_changes = Vec::new();
        let memory = SearchState { history, signs, change, sweeps: 0, refused: 0, near: 0.0, sign_changes };
        Self { view, contrast, run, memory }
    }

    /// Begins at `start`, or from a checkpoint; `None` if sums over the rows are not finite.
    fn begin(
        mut self,
        name: &str,
        start: &Matrix<f64>,
        limits: Limits,
    ) -> Result<Option<(Self, Steps<'s>, Point)>> {
        let (view, contrast, run) = (self.view, self.contrast, self.run);
        let (steps, at) = Steps::begin(run, name, limits, || {
            let first = self.first(start)?;
            Ok(first.map(|first| (first, self.memory)))
        })?;
        Ok(at.map(|(point, memory)| (Self { view, contrast, run, memory }, steps, point)))
    }

    /// The objective, its gradient and the signs at `start`; `None` if sums over the rows are not finite.
    fn first(&mut self, start: &Matrix<f64>) -> Result<Option<Point>> {
        let Some(sums) = self.evaluate(start)? else { return Ok(None) };
        let signs = self.memory.signs.of(&sums);
        Ok(Some(Point::new(start.clone(), sums, signs)))
    }

    fn evaluate(&mut self, w: &Matrix<f64>) -> Result<Option<SourceSums>> {
        self.memory.sweeps += 1;
        self.view.means(w, self.contrast, self.run)
    }

    /// The point rotated by `rotation`, unless its objective is larger.
    fn try_rotation(&mut self, at: &Point, rotation: &Matrix<f64>) -> Result<Option<Point>> {
        let w = nearer_to_orthogonal(&factor::multiply(rotation, &at.w));
        let Some(sums) = self.evaluate(&w)? else { return Ok(None) };
        let (before, after) = (objective(&at.signs, &at.sums), objective(&at.signs, &sums));
        let next = Point::new(w, sums, at.signs.clone());
        // Near the solution steps change the objective by less than its rounding errors: then the gradient decides.
        let rounding = super::rounding::<T>(&at.sums.loss);
        let lower = after < before - rounding;
        let better = lower || (after <= before + rounding && next.residual() < at.residual());
        if !better {
            return Ok(None);
        }
        let signs = self.memory.signs.of(&next.sums);
        if signs == next.signs {
            return Ok(Some(next));
        }
        self.memory.near = 0.0;
        Ok(Some(Point::new(next.w, next.sums, signs)))
    }

    /// A step of FastICA while these are long, afterwards one of Picard-O; without estimated signs always one of Picard-O, because
    /// then FastICA may have another fixed point.
    fn combined(&mut self, at: &Point) -> Result<Option<Point>> {
        if self.memory.signs.extended
            && self.memory.refused < MOST_REFUSALS
            && at.residual() > self.memory.near
        {
            let rotation = at.rotation()?;
            if from_identity(rotation) <= NEAR_ROTATION_ENTRY {
                self.memory.near = at.residual();
            } else {
                if let Some(next) = self.try_rotation(at, rotation)? {
                    self.memory.history.clear();
                    return Ok(Some(next));
                }
                self.memory.refused += 1;
            }
        }
        self.along_geodesics(at)
    }

    /// A step of Picard-O: along the BFGS direction, or, if that fails, along the negative gradient.
    fn along_geodesics(&mut self, at: &Point) -> Result<Option<Point>> {
        let curvature = at.curvature();
        let divided = |q: &Matrix<f64>| {
            skew(&Matrix::from_fn(q.rows(), q.rows(), |i, j| q[(i, j)] / curvature[(i, j)]))
        };
        loop {
            let direction = descent_direction(&mut self.memory.history, &at.gradient, divided);
            let mut size = 1.0;
            let longest = largest(&direction);
            while size * longest > self.contrast.max_step() {
                size *= 0.5;
            }
            for _ in 0..MOST_HALVINGS {
                let step = sum(&Matrix::zeros(at.w.rows(), at.w.rows()), size, &direction);
                if let Some(next) = self.try_rotation(at, &rotation(&step))? {
                    match next.signs == at.signs {
                        true => remember(&mut self.memory.history, &step, &next.gradient, &at.gradient),
                        // The history belongs to another objective.
                        false => self.memory.history.clear(),
                    }
                    return Ok(Some(next));
                }
                size *= 0.5;
            }
            if self.memory.history.is_empty() {
                return Ok(None);
            }
            self.memory.history.clear();
        }
    }

    /// A step of FastICA, shortened until it does not increase the objective.
    fn along_arc(&mut self, at: &Point) -> Result<Option<Point>> {
        let rotation = at.rotation()?;
        let (mut size, one) = (1.0, identity(rotation.rows()));
        for _ in 0..MOST_HALVINGS / 2 {
            let part = match size {
                1.0 => rotation.clone(),
                _ => polar(&sum(&one, size, &sum(rotation, -1.0, &one)))?,
            };
            if let Some(next) = self.try_rotation(at, &part)? {
                return Ok(Some(next));
            }
            size *= 0.5;
        }
        Ok(None)
    }

    /// An unmodified step of FastICA, and its length.
    fn fixed_point(&mut self, at: &Point) -> Result<Option<Point>> {
        let rotation = at.rotation()?;
        // `||w_i_new - w_i_old||² / 2` in the coordinates of the old rows, without cancellation.
        let moved = sum(rotation, -1.0, &identity(rotation.rows()));
        self.memory.change = (0..moved.rows())
            .map(|i| 0.5 * moved.row(i).iter().map(|x| x * x).sum::<f64>())
            .fold(0.0, f64::max);
        let w = nearer_to_orthogonal(&factor::multiply(rotation, &at.w));
        let Some(sums) = self.evaluate(&w)? else { return Ok(None) };
        let signs = self.memory.signs.of(&sums);
        Ok(Some(Point::new(w, sums, signs)))
    }
}

#[cfg(test)]
mod tests;
