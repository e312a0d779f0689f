//! Independent components: the search shared by all ICA methods.
//!
//! Rows are transformed to coordinates (whitened, of the rank of the rows), a solver estimates the sources from these, and sources
//! are given a canonical scale, order and sign. Whitening is combined with the unmixing matrix, so that solvers sweep over the rows
//! without a whitened copy.

mod adaptive;
mod batch;
mod free;
mod layers;
mod linear;
mod online;
mod orthogonal;
mod pair_rotations;
mod search;
mod sources;
mod stream;
mod subsample;
mod unit;
mod view;
mod warnings;
mod whiten;

pub(crate) use search::{Algorithm, Search, solver_name};
pub use sources::Order;
pub(crate) use sources::{Variance, model};
pub(crate) use stream::Stream;
pub(crate) use view::{SweptRows, View};
pub(crate) use whiten::{Preparation, keeps_copy};

use crate::error::Result;
use crate::model::Outcome;
use crate::num::{Matrix, Real};
use crate::run::Run;
pub(crate) use crate::solve::Limits;
use crate::solve::lbfgs::{History, SummationOrder};
use crate::stats::{Contrast, SourceSums};
use serde::{Deserialize, Serialize};

/// The result of a solver.
pub(crate) struct SolverResult {
    /// The unmixing matrix for the coordinates, `k x k`.
    pub(crate) w: Matrix<f64>,
    pub(crate) outcome: Outcome,
    pub(crate) n_iter: u64,
    pub(crate) sweeps: u64,
    /// Objective after each iteration; empty for solvers without one.
    pub(crate) objective: Vec<f64>,
    /// The iterations, counted from 1 as the values of `objective`, after which the estimated signs differ from those before, and with them
    /// the objective.
    pub(crate) sign_changes: Vec<u64>,
    /// The quantity that is compared with the tolerance, at `w`.
    pub(crate) residual: f64,
    /// Value by which the results of several starts are compared: the smallest is kept.
    pub(crate) value: f64,
    /// Means over the rows of the contrast and its derivatives, at `w`.
    pub(crate) sums: Option<SourceSums>,
}

impl SolverResult {
    /// The result of a search that cannot begin, because sums over the rows are not finite.
    fn not_finite(w: Matrix<f64>) -> Self {
        Self {
            w,
            outcome: Outcome::Stalled,
            n_iter: 0,
            sweeps: 1,
            objective: Vec::new(),
            sign_changes: Vec::new(),
            residual: f64::INFINITY,
            value: f64::INFINITY,
            sums: None,
        }
    }
}

/// The rotation of white coordinates near `start` at which `Σ E log cosh` of the sources has a minimum, for
/// sub- and super-Gaussian sources alike: every step decreases it.
pub(crate) fn least_log_cosh<T: Real>(
    view: &View<'_, '_, T>,
    start: Matrix<f64>,
    limits: &Limits,
    run: &Run<'_>,
) -> Result<SolverResult> {
    let by = (orthogonal::Step::Picard, orthogonal::StepAcceptance::Objective);
    orthogonal::solve(view, Contrast::LogCosh(1.0).into(), by, false, start, limits, run)
}

/// Bound of the rounding errors of an objective that is the sum of these terms.
fn rounding<T: Real>(terms: &[f64]) -> f64 {
    2.0 * T::DTYPE.eps() * terms.iter().map(|t| t.abs()).sum::<f64>()
}

/// Number of steps that limited-memory BFGS stores, as in Picard (Ablin, Cardoso & Gramfort 2018).
const STORED_STEPS: usize = 7;

/// An empty history of limited-memory BFGS over matrices.
fn no_history() -> History {
    History::new(STORED_STEPS, 1e-12, SummationOrder::Plain)
}

/// Minus the approximate inverse Hessian times the gradient; `precondition` is the approximation without
/// stored steps.
fn descent_direction(
    history: &mut History,
    gradient: &Matrix<f64>,
    precondition: impl Fn(&Matrix<f64>) -> Matrix<f64>,
) -> Matrix<f64> {
    let (rows, cols) = (gradient.rows(), gradient.cols());
    let of_numbers = |numbers, _| precondition(&Matrix::from_vec(rows, cols, numbers)).into_vec();
    Matrix::from_vec(rows, cols, history.descent_direction(gradient.as_slice(), of_numbers))
}

/// Stores a step and the change of the gradient.
fn remember(history: &mut History, step: &Matrix<f64>, after: &Matrix<f64>, before: &Matrix<f64>) {
    let change = after.as_slice().iter().zip(before.as_slice()).map(|(a, b)| a - b);
    history.add(step.as_slice().iter().copied(), change);
}

/// Estimated signs of the sources (super-Gaussian or not): `k_i = sign(E g'(y_i) E y_i² - E[g(y_i) y_i])`.
#[derive(Clone, Serialize, Deserialize)]
struct Signs {
    /// Whether signs are estimated; otherwise all are 1.
    extended: bool,
    /// The current signs.
    last: Vec<f64>,
    /// Number of changes of each sign.
    changes: Vec<u8>,
}

/// Number of sign changes after which the sign of a source, which must be nearly Gaussian, is kept fixed.
const MOST_SIGN_CHANGES: u8 = 8;

impl Signs {
    fn new(extended: bool) -> Self {
        Self { extended, last: Vec::new(), changes: Vec::new() }
    }

    /// Signs for sources with unit variance.
    fn of(&mut self, sums: &SourceSums) -> Vec<f64> {
        self.of_scaled(sums, &vec![1.0; sums.slope.len()])
    }

    /// Signs for sources with these variances.
    fn of_scaled(&mut self, sums: &SourceSums, variance: &[f64]) -> Vec<f64> {
        let k = sums.slope.len();
        if !self.extended {
            return vec![1.0; k];
        }
        let wanted = |i: usize| match sums.slope[i] * variance[i] - sums.cross[(i, i)] {
            x if x < 0.0 => -1.0,
            _ => 1.0,
        };
        if self.last.is_empty() {
            (self.last, self.changes) = ((0..k).map(wanted).collect(), vec![0; k]);
        }
        for i in 0..k {
            if wanted(i) != self.last[i] && self.changes[i] < MOST_SIGN_CHANGES {
                self.last[i] = wanted(i);
                self.changes[i] += 1;
            }
        }
        self.last.clone()
    }
}
