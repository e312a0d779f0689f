//! Extrapolation of polar steps.
//!
//! Near rest a step shortens the error by a factor that may be close to 1 (on photographs .98 to .99, with thousands of steps to 1e-8),
//! and a saddle is left as slowly. Nesterov's extrapolation replaces the factor `1 - e` by about `1 - sqrt(e)`, for contraction and escape
//! alike, without a second pass over the rows. Where the extrapolated step turns back it begins anew (adaptive restart by the
//! gradient's direction, O'Donoghue & Candès 2015).

use crate::error::Result;
use crate::num::{Matrix, factor};

/// Where the last step led, and how many were extrapolated since the last restart.
#[derive(Default)]
pub(super) struct Momentum {
    before: Option<Matrix<f64>>,
    steps: f64,
}

impl Momentum {
    /// `next` is one polar step away from `from`: where the next one begins.
    pub(super) fn extrapolated(&mut self, from: &Matrix<f64>, next: Matrix<f64>) -> Result<Matrix<f64>> {
        let Some(before) = self.before.replace(next.clone()) else { return Ok(next) };
        let step = next.as_slice().iter().zip(from.as_slice()).map(|(n, f)| n - f);
        let along: f64 =
            step.zip(next.as_slice().iter().zip(before.as_slice())).map(|(s, (n, b))| s * (n - b)).sum();
        if along < 0.0 {
            self.steps = 0.0;
            return Ok(next);
        }
        self.steps += 1.0;
        let share = self.steps / (self.steps + 3.0);
        let ahead = Matrix::from_fn(next.rows(), next.cols(), |i, c| {
            next[(i, c)] + share * (next[(i, c)] - before[(i, c)])
        });
        factor::polar_rows(&ahead)
    }
}
