//! What a quasi-Newton method remembers: the last steps and how the gradient changed along them.

use super::linear::{inner, sum};
use crate::num::Matrix;
use std::collections::VecDeque;

/// Steps that are remembered; Picard's number (Ablin, Cardoso & Gramfort 2018).
const LENGTH: usize = 7;

/// The two-loop recursion of limited-memory BFGS (Nocedal 1980).
#[derive(Default)]
pub(super) struct Memory {
    pairs: VecDeque<(Matrix<f64>, Matrix<f64>, f64)>,
}

impl Memory {
    /// Forgets everything: what was learnt belongs to another function.
    pub(super) fn clear(&mut self) {
        self.pairs.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// A step and the change of the gradient along it; those that show no curvature are passed over.
    pub(super) fn push(&mut self, step: Matrix<f64>, change: Matrix<f64>) {
        let curvature = inner(&step, &change);
        if curvature > 1e-12 * (inner(&step, &step) * inner(&change, &change)).sqrt() {
            if self.pairs.len() == LENGTH {
                self.pairs.pop_front();
            }
            self.pairs.push_back((step, change, 1.0 / curvature));
        }
    }

    /// Minus the gradient times the inverse Hessian, as far as it is known; `precondition` is what is known of it without steps.
    pub(super) fn direction(
        &self,
        gradient: &Matrix<f64>,
        precondition: impl Fn(&Matrix<f64>) -> Matrix<f64>,
    ) -> Matrix<f64> {
        let mut q = gradient.clone();
        let mut factors = Vec::with_capacity(self.pairs.len());
        for (step, change, share) in self.pairs.iter().rev() {
            let a = share * inner(step, &q);
            q = sum(&q, -a, change);
            factors.push(a);
        }
        let mut z = precondition(&q);
        for ((step, change, share), a) in self.pairs.iter().zip(factors.into_iter().rev()) {
            z = sum(&z, a - share * inner(change, &z), step);
        }
        sum(&Matrix::zeros(z.rows(), z.cols()), -1.0, &z)
    }
}
