//! EASI (Cardoso & Laheld 1996): one row at a time, equivariant.
//!
//! ```text
//! y = W z
//! W <- W - m [ (y y' - I) / (1 + m y'y) + (g(y) y' - y g(y)') / (1 + m |y'g(y)|) ] W
//! ```
//!
//! with the step `m = m₀ / (1 + t / 5000)`. `g` is the hyperbolic tangent, with the sign that makes the
//! solution stable: `+` for super-Gaussian sources, `-` for sub-Gaussian ones, from running means of
//! `E g' E y² - E y g`; without `extended` always `+`. Each pass uses a new random order of the rows, because
//! with this step size the estimate depends on the last 200 rows or so: for rows that are sorted, or change
//! slowly, a pass in their order would be biased towards the last ones.

use super::linear::{identity, largest};
use super::view::View;
use super::{Limits, SolverResult, batch};
use crate::data::{Batches, Position, Rows};
use crate::error::Result;
use crate::num::{Matrix, Real, kernel};
use crate::run::{Phase, Run};
use crate::solve::Steps;
use crate::stats::Contrast;
use serde::{Deserialize, Serialize};

/// Initial step size.
const INITIAL_STEP: f64 = 5e-3;

/// Number of rows after which the step size has halved.
const ROWS_TO_HALF_STEP: f64 = 5000.0;

/// Number of rows after which the step is so small that further passes change little: twenty times that.
const ROWS_TO_SHORT_STEPS: u64 = 100_000;

/// Number of rows that are centred and whitened at a time.
const ROWS_PER_BATCH: usize = 1024;

/// An invertible matrix for the coordinates, starting at `start`: by online steps, in at least one pass and at most half of
/// `max_iter`, until [`ROWS_TO_SHORT_STEPS`] rows have been used; then by [`batch::solve`], until the mean step over all rows is at most `tol`.
pub(super) fn solve<T: Real>(
    view: &View<'_, '_, T>,
    moments: Option<&Matrix<f64>>,
    extended: bool,
    start: Matrix<f64>,
    limits: &Limits,
    run: &Run<'_>,
) -> Result<SolverResult> {
    let most = Limits::count(limits.max_iter.div_ceil(2).max(1));
    let (mut steps, mut state) =
        Steps::begin(run, "rows one by one", most, || Ok(State::new(start, extended)))?;
    let finite = |state: &State| largest(&state.w).is_finite();
    while state.seen < ROWS_TO_SHORT_STEPS && finite(&state) && steps.spent().is_none() {
        let number = steps.n_iter();
        view.with_rows("ica with algorithm='easi'", |rows| pass(view, rows, &mut state, number, run))?;
        steps.ended(largest(&state.mean_step), None, &state)?;
    }
    if !finite(&state) {
        return Ok(SolverResult::not_finite(identity(view.k)));
    }
    let passes = steps.n_iter();
    let left = Limits { max_iter: limits.max_iter.saturating_sub(passes), ..*limits };
    let phase = Phase { observer: run.observer, before: passes, max_iter: limits.max_iter };
    let run = &Run { observer: &phase, ..*run };
    let found = batch::solve(view, moments, extended, state.w, &left, run)?;
    Ok(SolverResult { n_iter: found.n_iter + passes, sweeps: found.sweeps + passes, ..found })
}

/// One pass over all rows, in the random order of pass `number`.
fn pass<T: Real>(
    view: &View<'_, '_, T>,
    rows: &Rows<'_, T>,
    state: &mut State,
    number: u64,
    run: &Run<'_>,
) -> Result<()> {
    let (p, k) = (rows.n_features(), view.k);
    let zeros = vec![0.0; p];
    let mean = view.mean.unwrap_or(&zeros);
    let batches = Batches::new(rows, ROWS_PER_BATCH, run.seed)?.mixed();
    let (mut centred, mut white) = (Vec::new(), Vec::new());
    let from = Position { epoch: number, batch: 0 };
    batches.each(from, number + 1, run.threads, |batch| {
        let n = batch.rows.len();
        kernel::centre_wide(batch.x, None, mean, None, &mut centred);
        let coordinates: &[f64] = match view.basis {
            None => &centred,
            Some(basis) => {
                white.resize(n * k, 0.0);
                kernel::product_by_rows(&mut white, &centred, basis.as_slice(), n, k, p);
                &white
            }
        };
        coordinates[..n * k].chunks_exact(k).for_each(|z| state.step(z));
        run.sweep_progress("sources", batch.done, Some(batches.n_rows()))?;
        Ok(true)
    })
}

/// Weight, in rows, of the initial assumption that sources are super-Gaussian.
const ASSUMED_ROWS: f64 = 200.0;

/// A separating matrix, `k x p`, and the running statistics of the rule.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    pub(super) w: Matrix<f64>,
    /// Row counter of the step size.
    pub(super) seen: u64,
    /// Rows since running means of tails began.
    pub(super) since: u64,
    /// Running mean of the relative step.
    pub(super) mean_step: Matrix<f64>,
    /// Whether the signs are estimated.
    pub(super) extended: bool,
    /// Running means of `g'(y)`, `y²` and `y g(y)`, with `g = tanh`, from which signs are estimated.
    pub(super) stable: Vec<[f64; 3]>,
    /// Means of the same quantities over all rows, with weights proportional to the row number `t`, for warnings.
    pub(super) lasting: Vec<[f64; 3]>,
}

impl State {
    pub(super) fn new(w: Matrix<f64>, extended: bool) -> Self {
        let k = w.rows();
        // Initially as for super-Gaussian sources.
        let (stable, lasting) = (vec![[1.0, 1.0, 0.0]; k], vec![[0.0; 3]; k]);
        Self { w, seen: 0, since: 0, mean_step: identity(k), extended, stable, lasting }
    }

    /// Step size for the next row.
    fn step_size(&self) -> f64 {
        INITIAL_STEP / (1.0 + self.seen as f64 / ROWS_TO_HALF_STEP)
    }

    /// Deviation of each source from a Gaussian of its variance, by the means over all rows, in units of its
    /// critical value. With weights proportional to the row number, the effective sample size of `n` rows
    /// is `3 n / 4`.
    pub(super) fn tails(&self) -> Vec<f64> {
        let rows = 0.75 * self.since.max(1) as f64;
        let chance = ((self.w.rows() as f64).sqrt() + 2.0) / rows.sqrt();
        let tail = |&[slope, square, product]: &[f64; 3]| {
            let limit = Contrast::LogCosh(1.0).deviation_of_gaussian(square.max(0.0).sqrt()) * chance;
            (slope * square - product) / limit
        };
        self.lasting.iter().map(tail).collect()
    }

    /// One step on a centred row.
    pub(super) fn step(&mut self, z: &[f64]) {
        let (k, p) = (self.w.rows(), z.len());
        let m = self.step_size();
        self.seen += 1;
        let y: Vec<f64> = (0..k).map(|i| self.w.row(i).iter().zip(z).map(|(w, z)| w * z).sum()).collect();
        let g = self.scores(&y, m);
        let length: f64 = y.iter().map(|y| y * y).sum();
        let along: f64 = y.iter().zip(&g).map(|(y, g)| y * g).sum();
        let (a, b) = (1.0 / (1.0 + m * length), 1.0 / (1.0 + m * along.abs()));
        let (mut yw, mut gw) = (vec![0.0; p], vec![0.0; p]);
        for i in 0..k {
            for (j, w) in self.w.row(i).iter().enumerate() {
                yw[j] += y[i] * w;
                gw[j] += g[i] * w;
            }
        }
        for i in 0..k {
            let (yi, gi) = (y[i], g[i]);
            for (j, w) in self.w.row_mut(i).iter_mut().enumerate() {
                *w -= m * (a * (yi * yw[j] - *w) + b * (gi * yw[j] - yi * gw[j]));
            }
            for (j, h) in self.mean_step.row_mut(i).iter_mut().enumerate() {
                let delta = f64::from(u8::from(i == j));
                *h += m * (a * (yi * y[j] - delta) + b * (gi * y[j] - yi * g[j]) - *h);
            }
        }
    }

    /// `g(y)` with the sign of each source; updates the running means with rate `m`.
    fn scores(&mut self, y: &[f64], m: f64) -> Vec<f64> {
        // Initially over about 200 rows, later over more.
        let m = m.max(1.0 / (ASSUMED_ROWS + self.since as f64));
        let share = 2.0 / (self.since as f64 + 2.0);
        self.since += 1;
        let extended = self.extended;
        let score = |((y, mean), lasting): ((&f64, &mut [f64; 3]), &mut [f64; 3])| {
            let t = y.tanh();
            let now = [1.0 - t * t, y * y, y * t];
            mean.iter_mut().zip(now).for_each(|(s, x)| *s += m * (x - *s));
            lasting.iter_mut().zip(now).for_each(|(s, x)| *s += share * (x - *s));
            let [slope, square, product] = *mean;
            if !extended || slope * square >= product { t } else { -t }
        };
        y.iter().zip(&mut self.stable).zip(&mut self.lasting).map(score).collect()
    }
}
