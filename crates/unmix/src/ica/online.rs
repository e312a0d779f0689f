//! EASI (Cardoso & Laheld 1996): one row at a time, equivariant.
//!
//! ```text
//! y = W z
//! W <- W - m [ (y y' - I) / (1 + m y'y) + (g(y) y' - y g(y)') / (1 + m |y'g(y)|) ] W
//! ```
//!
//! with the step `m = m₀ / (1 + t / 5000)`. `g` is the hyperbolic tangent, with the sign that makes the solution stable: `+` for
//! sources with heavy tails, `-` for flat ones, by running means of `E g' E y² - E y g`. Rows are taken in the order they come in.

use super::linear::{identity, largest};
use super::view::View;
use super::{Found, Limits};
use crate::error::Result;
use crate::model::Outcome;
use crate::num::{Matrix, Real, kernel};
use crate::run::Run;
use crate::stats::Contrast;

/// The first step.
const STEP: f64 = 5e-3;

/// Rows after which the step has halved.
const HALF: f64 = 5000.0;

/// Rows after which the step has become so small that more passes change little: twenty times that.
const BUDGET: u64 = 100_000;

/// An invertible matrix for the coordinates, from `start`: at least one pass, at most `max_iter`, until [`BUDGET`] rows were seen.
pub(super) fn solve<T: Real>(
    view: &View<'_, '_, T>,
    start: Matrix<f64>,
    limits: &Limits,
    run: &Run<'_>,
) -> Result<Found> {
    let k = view.k;
    let mut state = State::new(start);
    let (mut passes, mut outcome) = (0, Outcome::Completed);
    while passes < limits.max_iter.max(1) && state.seen < BUDGET {
        pass(view, &mut state, run)?;
        passes += 1;
        let residual = largest(&state.mean_step);
        run.iteration(passes, residual, None)?;
        if !largest(&state.w).is_finite() {
            return Ok(Found::not_finite(identity(k)));
        }
        if residual <= limits.tol {
            outcome = Outcome::Converged;
            break;
        }
        if run.out_of_time() {
            outcome = Outcome::Time;
            break;
        }
    }
    let sums = view.means(&state.w, Contrast::LogCosh(1.0), run)?;
    let value = sums.as_ref().map_or(f64::INFINITY, |s| {
        -s.loss.iter().map(|l| (l - Contrast::LogCosh(1.0).of_gaussian()).powi(2)).sum::<f64>()
    });
    Ok(Found {
        residual: largest(&state.mean_step),
        w: state.w,
        outcome,
        n_iter: passes,
        sweeps: passes + 1,
        objective: Vec::new(),
        value,
        sums,
    })
}

/// Once through all rows, in order.
fn pass<T: Real>(view: &View<'_, '_, T>, state: &mut State, run: &Run<'_>) -> Result<()> {
    let (p, k) = (view.rows.n_features(), view.k);
    let zeros = vec![0.0; p];
    let mean = view.mean.unwrap_or(&zeros);
    let mut stream = view.rows.source().stream()?;
    let (mut rows, mut centred, mut white) = (Vec::new(), Vec::new(), Vec::new());
    let (mut done, total) = (0, view.rows.n_rows());
    loop {
        rows.clear();
        let n = stream.read(1024, &mut rows)?;
        if n == 0 {
            return Ok(());
        }
        kernel::centre_wide(&rows, None, mean, None, &mut centred);
        let coordinates: &[f64] = match view.basis {
            None => &centred,
            Some(basis) => {
                white.resize(n * k, 0.0);
                kernel::product_by_rows(&mut white, &centred, basis.as_slice(), n, k, p);
                &white
            }
        };
        coordinates.chunks_exact(k).for_each(|z| state.step(z));
        done += n as u64;
        run.sweep_progress("sources", done, total)?;
    }
}

struct State {
    w: Matrix<f64>,
    /// Rows seen.
    seen: u64,
    /// Running mean of what `W` is multiplied by.
    mean_step: Matrix<f64>,
    /// Running means of `g'(y)`, `y²` and `y g(y)`, with `g = tanh`.
    stable: Vec<[f64; 3]>,
}

impl State {
    fn new(w: Matrix<f64>) -> Self {
        let k = w.rows();
        // As of heavy tails, until something else has been seen.
        Self { w, seen: 0, mean_step: identity(k), stable: vec![[1.0, 1.0, 0.0]; k] }
    }

    fn step(&mut self, z: &[f64]) {
        let k = z.len();
        let m = STEP / (1.0 + self.seen as f64 / HALF);
        self.seen += 1;
        let y: Vec<f64> = (0..k).map(|i| self.w.row(i).iter().zip(z).map(|(w, z)| w * z).sum()).collect();
        let mut g = vec![0.0; k];
        for i in 0..k {
            let t = y[i].tanh();
            let now = [1.0 - t * t, y[i] * y[i], y[i] * t];
            // Over some 200 rows at first, over more later.
            self.stable[i].iter_mut().zip(now).for_each(|(s, x)| *s += m * (x - *s));
            let [slope, square, product] = self.stable[i];
            g[i] = if slope * square >= product { t } else { -t };
        }
        let length: f64 = y.iter().map(|y| y * y).sum();
        let along: f64 = y.iter().zip(&g).map(|(y, g)| y * g).sum();
        let (a, b) = (1.0 / (1.0 + m * length), 1.0 / (1.0 + m * along.abs()));
        let (mut yw, mut gw) = (vec![0.0; k], vec![0.0; k]);
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
}
