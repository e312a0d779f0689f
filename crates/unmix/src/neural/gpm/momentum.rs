//! Extrapolation of polar steps.
//!
//! Near convergence a step multiplies the error by a factor that may be close to 1 (on photographs .98 to
//! .99, with thousands of steps to 1e-8), and a saddle is left as slowly. Nesterov's extrapolation replaces
//! the factor `1 - e` by about `1 - sqrt(e)`, for contraction and escape alike, without a second pass over
//! the rows. If the extrapolated step reverses direction, extrapolation restarts (adaptive gradient restart,
//! O'Donoghue & Candès 2015). It also restarts if two successive steps have opposite directions: alternating steps
//! multiply the error by a negative factor, and if this is below -1/3, extrapolation makes the error grow.

use crate::error::Result;
use crate::num::{Matrix, factor};
use serde::{Deserialize, Serialize};

/// The last point and step, and the number of extrapolated steps since the last restart.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Momentum {
    before: Option<Matrix<f64>>,
    step: Vec<f64>,
    steps: f64,
    /// Number of the last steps that were opposite to the step before them.
    pub(super) opposite: usize,
}

impl Momentum {
    /// The point from which the next step is taken, where `next` is the result of a polar step from `from`.
    pub(super) fn extrapolated(&mut self, from: &Matrix<f64>, next: Matrix<f64>) -> Result<Matrix<f64>> {
        let step: Vec<f64> = next.as_slice().iter().zip(from.as_slice()).map(|(n, f)| n - f).collect();
        let last = std::mem::replace(&mut self.step, step);
        let alternates = last.iter().zip(&self.step).map(|(l, s)| l * s).sum::<f64>() < 0.0;
        self.opposite = if alternates { self.opposite + 1 } else { 0 };
        let Some(before) = self.before.replace(next.clone()) else { return Ok(next) };
        let along: f64 = self
            .step
            .iter()
            .zip(next.as_slice().iter().zip(before.as_slice()))
            .map(|(s, (n, b))| s * (n - b))
            .sum();
        if along < 0.0 || alternates {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two axes, rotated by `angle` from where they converge.
    fn rotated(angle: f64) -> Matrix<f64> {
        let (sin, cos) = angle.sin_cos();
        Matrix::from_vec(2, 2, vec![cos, sin, -sin, cos])
    }

    fn angle(w: &Matrix<f64>) -> f64 {
        w[(0, 1)].atan2(w[(0, 0)])
    }

    /// Steps that make the angle `factor` times as large, until it is below `small`; and how often extrapolation was restarted.
    fn walk(momentum: Option<Momentum>, factor: f64, small: f64) -> (usize, usize) {
        let (mut momentum, mut w, mut restarts) = (momentum, rotated(0.3), 0);
        for n in 0.. {
            if angle(&w).abs() < small {
                return (n, restarts);
            }
            let next = rotated(factor * angle(&w));
            w = match &mut momentum {
                None => next,
                Some(momentum) => {
                    let before = momentum.steps;
                    let next = momentum.extrapolated(&w, next).unwrap();
                    restarts += usize::from(momentum.steps < before);
                    next
                }
            };
        }
        unreachable!()
    }

    #[test]
    fn steps_in_one_direction_are_extrapolated_and_orthonormal() {
        let mut momentum = Momentum::default();
        let first = momentum.extrapolated(&rotated(0.3), rotated(0.2)).unwrap();
        assert_eq!(first, rotated(0.2), "nothing to extrapolate from");
        let second = momentum.extrapolated(&first, rotated(0.15)).unwrap();
        // A quarter of the step from 0.2 to 0.15, to first order.
        assert!((angle(&second) - (0.15 - 0.25 * 0.05)).abs() < 1e-4, "{}", angle(&second));
        let gram = factor::multiply_transposed(&second, &second);
        assert!((gram[(0, 0)] - 1.0).abs() < 1e-15 && gram[(0, 1)].abs() < 1e-15);
        assert_eq!(momentum.steps, 1.0);
    }

    #[test]
    fn a_step_in_the_opposite_direction_restarts() {
        let mut momentum = Momentum::default();
        let mut w = rotated(0.3);
        for angle in [0.2, 0.15, 0.1] {
            w = momentum.extrapolated(&w, rotated(angle)).unwrap();
        }
        assert_eq!(momentum.steps, 2.0);
        // The last step led to 0.1, its extrapolation to less; the step from there goes back up.
        assert!(angle(&w) < 0.1);
        let back = momentum.extrapolated(&rotated(0.05), rotated(0.08)).unwrap();
        assert_eq!((back, momentum.steps), (rotated(0.08), 0.0), "taken as it is");
        // One that continues from there is the first again.
        momentum.extrapolated(&rotated(0.08), rotated(0.09)).unwrap();
        assert_eq!(momentum.steps, 1.0);
    }

    #[test]
    fn slow_contraction_is_accelerated_with_restarts() {
        let (plain, _) = walk(None, 0.98, 1e-8);
        let (fast, restarts) = walk(Some(Momentum::default()), 0.98, 1e-8);
        // ln(0.3 / 1e-8) / -ln(0.98) = 852 plain steps.
        assert!((850..=855).contains(&plain), "{plain}");
        assert!(4 * fast < plain && restarts > 0, "{fast} steps of {plain}, {restarts} restarts");
        // Steps that lead across are taken as they are.
        let (across, _) = walk(None, -0.5, 1e-8);
        assert_eq!(walk(Some(Momentum::default()), -0.5, 1e-8).0, across);
    }

    #[test]
    fn opposite_steps_are_counted() {
        let mut momentum = Momentum::default();
        let mut w = rotated(0.3);
        for n in 0..6 {
            w = momentum.extrapolated(&w, rotated(-angle(&w))).unwrap();
            assert_eq!(momentum.opposite, n, "the first step has none before it");
        }
        momentum.extrapolated(&w, rotated(1.5 * angle(&w))).unwrap();
        momentum.extrapolated(&rotated(0.5), rotated(0.6)).unwrap();
        assert_eq!(momentum.opposite, 0);
    }
}
