//! Generalised power iterations: `A <- P(Φ(A))`, with rows `A`, a map `Φ` and a projection `P`.
//!
//! If `Φ` is the gradient of a convex function and `P` the projection onto a set, no step decreases the
//! function (Journée, Nesterov, Richtárik & Sepulchre 2010). For a function that is not convex, `Φ(A) + c A`
//! with a large enough `c > 0` has the same property, with shorter steps; `Φ(A) - diag(E g') A`, the
//! fixed-point iteration of FastICA, does not have it, but converges cubically near a solution.
//!
//! | algorithm | map | projection | shift |
//! |---|---|---|---|
//! | power iteration, block power iteration | [`Symmetric`] | [`Rows`](Projection::Rows), [`Polar`](Projection::Polar) | 0 |
//! | FastICA with cube: one unit, symmetric, deflation | [`Contrasted`] by `y⁴/4` | `Rows`, `Polar`, [`Rest`](Projection::Rest) | [`Slope`](Shift::Slope), 3 on white rows |
//! | MSP (`l4`), `l3` | [`Contrasted`] by `y⁴/4`, `abs(y)³/3` | `Polar` | 0 |
//! | the hybrid of complete dictionaries | the same | `Polar` | [`Hybrid`](Shift::Hybrid) |
//! | overcomplete `l4` | `y⁴/4` | `Rows` | 0, or `Slope` |
//! | GPower, `l1` and `l0` | [`SparseLoadings`] | `Rows` | 0 |

mod maps;

pub use crate::stats::Contrast;
pub use maps::{Contrasted, SparseLoadings, Symmetric};

use crate::error::Result;
use crate::model::Outcome;
use crate::num::{Matrix, factor};
use crate::run::Run;
use crate::solve::{Limits, Steps};
use serde::{Deserialize, Serialize};

/// The value of a map at rows `A`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Image {
    /// `Φ(A)`, of the shape of `A`.
    pub direction: Matrix<f64>,
    /// The slopes subtracted in FastICA: `E g'` of each row; zeros if the map has none.
    pub slope: Vec<f64>,
    /// The function whose gradient is `Φ`.
    pub objective: f64,
}

impl Image {
    /// The value of a map at `A`: `direction` has the shape of `A`, `slope` a number for each row.
    pub fn new(direction: Matrix<f64>, slope: Vec<f64>, objective: f64) -> Self {
        Self { direction, slope, objective }
    }
}

/// The map of a power iteration.
pub trait PowerMap {
    /// `Φ(A)` and the function at `A`; `None` if they are not finite.
    ///
    /// # Errors
    ///
    /// Errors of a pass over rows, if the map is a sum over them.
    fn apply(&mut self, a: &Matrix<f64>) -> Result<Option<Image>>;
}

/// The projection of a power iteration.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Projection<'a> {
    /// Every row to length 1, separately.
    Rows,
    /// The nearest orthonormal rows.
    Polar,
    /// Orthogonalised against these orthonormal rows, twice, then normalised to length 1.
    Rest(&'a Matrix<f64>),
}

/// The shift subtracted from `Φ(A)`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Shift {
    /// This number times `A`; a negative number shortens steps.
    Constant(f64),
    /// The slope of each row times that row of `A`, as in FastICA.
    Slope,
    /// This number times `A` until no entry changes by 0.05 or more in a step, then the slope. A step that decreases the objective is
    /// rejected, and the slope is not used for some iterations; after the second rejection it is no longer used.
    Hybrid(f64),
}

/// The largest change of an entry at which [`Shift::Hybrid`] begins to subtract slopes.
pub(crate) const HYBRID_FROM_CHANGE: f64 = 0.05;

/// Number of rejected steps after which slopes are no longer used.
const MOST_REJECTED_STEPS: u8 = 2;

/// A change of at most this many machine epsilons of the rows is due to rounding.
const ROUNDING_EPS: f64 = 32.0;

/// A power iteration.
#[derive(Clone, Copy, Debug)]
pub struct PowerIteration<'a> {
    /// The projection.
    pub projection: Projection<'a>,
    /// The shift.
    pub shift: Shift,
    /// Tolerance on the residual: see [`PowerResult::residual`].
    pub tol: f64,
    /// Maximum number of steps.
    pub max_iter: u64,
    /// Machine epsilon of the type of the rows.
    pub eps: f64,
}

/// The result of a power iteration.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PowerResult {
    /// The rows.
    pub a: Matrix<f64>,
    /// Outcome of the iteration.
    pub outcome: Outcome,
    /// Number of steps.
    pub n_iter: u64,
    /// Number of evaluations of the map.
    pub sweeps: u64,
    /// The objective after each step.
    pub objective: Vec<f64>,
    /// The largest entry of the gradient along the set, as a fraction of the mean of `<Φ(a_i), a_i>`: with
    /// orthonormal rows the antisymmetric part of `Φ(A) A'`, and the component of `Φ(A)` outside the span of
    /// the rows.
    pub residual: f64,
    /// The objective at the end.
    pub value: f64,
}

/// State of the iteration.
#[derive(Serialize, Deserialize)]
struct State {
    a: Matrix<f64>,
    image: Image,
    by_slope: bool,
    drops: u8,
    /// The largest change of an entry in the last step; 1 before the first.
    change: f64,
    sweeps: u64,
}

impl PowerIteration<'_> {
    /// Iterates from `start`, whose rows are projected first. One evaluation of the map for each step, and one before. Numbers that are not
    /// finite end the iteration with [`Outcome::Stalled`], an infinite residual, and `start` as the rows.
    ///
    /// # Errors
    ///
    /// Errors of the map; [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn solve(&self, map: &mut dyn PowerMap, start: &Matrix<f64>, run: &Run<'_>) -> Result<PowerResult> {
        let limits = Limits { tol: self.tol, max_iter: self.max_iter };
        let (mut steps, at) = Steps::begin(run, "power iteration", limits, || {
            let a = self.projected(start)?;
            let image = map.apply(&a)?;
            Ok(image.map(|image| State { a, image, by_slope: false, drops: 0, change: 1.0, sweeps: 1 }))
        })?;
        let Some(mut at) = at else { return Ok(PowerResult::not_finite(start.clone())) };
        let outcome = loop {
            let residual = self.residual(&at.a, &at.image);
            if let Some(outcome) = steps.ending(residual) {
                break outcome;
            }
            if at.change <= ROUNDING_EPS * self.eps {
                break Outcome::Converged;
            }
            let Some(next) = self.step(map, at)? else { return Ok(PowerResult::not_finite(start.clone())) };
            at = next;
            steps.ended(residual, Some(at.image.objective), &Some(&at))?;
        };
        Ok(PowerResult {
            residual: self.residual(&at.a, &at.image),
            outcome,
            n_iter: steps.n_iter(),
            sweeps: at.sweeps,
            objective: steps.into_objective(),
            value: at.image.objective,
            a: at.a,
        })
    }

    fn step(&self, map: &mut dyn PowerMap, at: State) -> Result<Option<State>> {
        let a = self.next(&at.a, &at.image, at.by_slope)?;
        let Some(image) = map.apply(&a)? else { return Ok(None) };
        let (change, sweeps) = (change(&a, &at.a), at.sweeps + 1);
        let hybrid = matches!(self.shift, Shift::Hybrid(_));
        let rounding = 2.0 * self.eps * at.image.objective.abs();
        if at.by_slope && image.objective < at.image.objective - rounding {
            return Ok(Some(State { by_slope: false, drops: at.drops + 1, sweeps, ..at }));
        }
        let by_slope =
            hybrid && at.drops < MOST_REJECTED_STEPS && (at.by_slope || change < HYBRID_FROM_CHANGE);
        Ok(Some(State { a, image, by_slope, change, sweeps, drops: at.drops }))
    }

    /// One step: `P(Φ(A) - shift A)`; for a hybrid, with the slope or without.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite.
    pub fn next(&self, a: &Matrix<f64>, image: &Image, by_slope: bool) -> Result<Matrix<f64>> {
        let shift = |i: usize| match self.shift {
            Shift::Constant(c) => c,
            Shift::Hybrid(c) if !by_slope => c,
            Shift::Slope | Shift::Hybrid(_) => image.slope[i],
        };
        let shifted =
            Matrix::from_fn(a.rows(), a.cols(), |i, j| image.direction[(i, j)] - shift(i) * a[(i, j)]);
        self.projected(&shifted)
    }

    fn projected(&self, a: &Matrix<f64>) -> Result<Matrix<f64>> {
        let mut a = match self.projection {
            Projection::Polar if a.rows() == a.cols() => return factor::polar_square(a),
            Projection::Polar => return factor::polar_rows(a),
            Projection::Rows | Projection::Rest(_) => a.clone(),
        };
        if let Projection::Rest(found) = self.projection {
            for _ in 0..2 {
                let along = factor::multiply_transposed(&a, found);
                factor::subtract_product(&mut a, &along, found);
            }
        }
        for i in 0..a.rows() {
            let length = dot(a.row(i), a.row(i)).sqrt();
            a.row_mut(i).iter_mut().for_each(|x| *x /= length);
        }
        Ok(a)
    }

    fn residual(&self, a: &Matrix<f64>, image: &Image) -> f64 {
        let (k, mut rest) = (a.rows(), image.direction.clone());
        let along = factor::multiply_transposed(&rest, a);
        let mean = (0..k).map(|i| along[(i, i)]).sum::<f64>().abs() / k as f64;
        let mut largest = 0.0f64;
        match self.projection {
            Projection::Polar => {
                factor::subtract_product(&mut rest, &along, a);
                for i in 0..k {
                    (0..i).for_each(|j| largest = largest.max(0.5 * (along[(i, j)] - along[(j, i)]).abs()));
                }
            }
            Projection::Rows | Projection::Rest(_) => {
                for i in 0..k {
                    let own = along[(i, i)];
                    rest.row_mut(i).iter_mut().zip(a.row(i)).for_each(|(r, a)| *r -= own * a);
                }
                if let Projection::Rest(found) = self.projection {
                    let along = factor::multiply_transposed(&rest, found);
                    factor::subtract_product(&mut rest, &along, found);
                }
            }
        }
        let outside = rest.as_slice().iter().fold(0.0f64, |m, x| m.max(x.abs()));
        largest.max(outside) / mean
    }
}

impl PowerResult {
    fn not_finite(a: Matrix<f64>) -> Self {
        Self {
            a,
            outcome: Outcome::Stalled,
            n_iter: 0,
            sweeps: 1,
            objective: Vec::new(),
            residual: f64::INFINITY,
            value: f64::NEG_INFINITY,
        }
    }
}

/// The largest entry of the difference of two matrices of unit rows, up to the signs of rows.
pub(crate) fn change(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    let of_row = |i: usize| {
        let sign = if dot(a.row(i), b.row(i)) < 0.0 { -1.0 } else { 1.0 };
        a.row(i).iter().zip(b.row(i)).fold(0.0f64, |m, (a, b)| m.max((a - sign * b).abs()))
    };
    (0..a.rows()).map(of_row).fold(0.0, f64::max)
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
