//! History of a quasi-Newton method: the last steps, and the changes of the gradient.

use crate::num::widest;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The last pairs of differences, and minus the inverse Hessian times a gradient by two loops over them (Nocedal 1980).
#[derive(Serialize, Deserialize)]
pub(crate) struct History {
    /// Maximum number of pairs.
    length: usize,
    /// Minimum cosine of a pair, below which its curvature is negligible and it is skipped.
    least: f64,
    /// Order of summation of inner products.
    inner: SummationOrder,
    /// Pairs, the newest last.
    pairs: VecDeque<Pair>,
    /// Buffers of a pair that was dropped, for reuse.
    #[serde(skip)]
    spare: (Vec<f64>, Vec<f64>),
}

/// The order of summation of `Σ a b`, which determines its bits.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) enum SummationOrder {
    /// In independent partial sums, for long vectors.
    Lanes,
    /// Sequentially.
    Plain,
}

impl SummationOrder {
    fn of(self, a: &[f64], b: &[f64]) -> f64 {
        match self {
            SummationOrder::Lanes => super::dot(a, b),
            SummationOrder::Plain => a.iter().zip(b).map(|(a, b)| a * b).sum(),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Pair {
    /// Difference of arguments.
    s: Vec<f64>,
    /// Difference of gradients.
    y: Vec<f64>,
    /// `1 / s'y`.
    rho: f64,
}

impl History {
    /// An empty history of at most `length` pairs. `inner` is the order of summation of inner products.
    pub(crate) fn new(length: usize, least: f64, inner: SummationOrder) -> Self {
        Self { length, least, inner, pairs: VecDeque::new(), spare: Default::default() }
    }

    /// Whether nothing is stored.
    pub(crate) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Drops all pairs, when the objective has changed or no step along the direction decreases it.
    pub(crate) fn clear(&mut self) {
        self.pairs.clear();
    }

    /// Stores a step and the change of the gradient along it, unless its curvature is negligible; drops the oldest pair if the
    /// history is full.
    pub(crate) fn add(&mut self, step: impl Iterator<Item = f64>, change: impl Iterator<Item = f64>) {
        let (mut s, mut y) = std::mem::take(&mut self.spare);
        s.clear();
        s.extend(step);
        y.clear();
        y.extend(change);
        let inner = |a: &[f64], b: &[f64]| self.inner.of(a, b);
        let along = inner(&s, &y);
        if self.length == 0 || along.is_nan() || along <= self.least * (inner(&s, &s) * inner(&y, &y)).sqrt()
        {
            self.spare = (s, y);
            return;
        }
        if self.pairs.len() == self.length {
            self.spare = self.pairs.pop_front().map(|old| (old.s, old.y)).unwrap_or_default();
        }
        self.pairs.push_back(Pair { s, y, rho: 1.0 / along });
    }

    /// `-H gradient`, a descent direction: if it is not one because of rounding, all pairs are dropped. `precondition` is the
    /// approximate inverse Hessian without any pair; it is linear, and is multiplied by the scale of the last pair, `s'y / y'y`, if
    /// there is one.
    pub(crate) fn descent_direction(
        &mut self,
        gradient: &[f64],
        precondition: impl Fn(Vec<f64>, Option<f64>) -> Vec<f64>,
    ) -> Vec<f64> {
        let direction = self.direction(gradient, &precondition);
        // NaN is not a descent direction either.
        if self.is_empty() || self.inner.of(&direction, gradient) < 0.0 {
            return direction;
        }
        self.clear();
        self.direction(gradient, &precondition)
    }

    fn direction(
        &self,
        gradient: &[f64],
        precondition: impl Fn(Vec<f64>, Option<f64>) -> Vec<f64>,
    ) -> Vec<f64> {
        let inner = |a: &[f64], b: &[f64]| self.inner.of(a, b);
        let mut d: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut shares = vec![0.0; self.pairs.len()];
        for (share, pair) in shares.iter_mut().zip(&self.pairs).rev() {
            *share = pair.rho * inner(&pair.s, &d);
            add(&mut d, -*share, &pair.y);
        }
        let scale = self.pairs.back().map(|last| 1.0 / (last.rho * inner(&last.y, &last.y)));
        let mut d = precondition(d, scale);
        for (share, pair) in shares.iter().zip(&self.pairs) {
            let back = pair.rho * inner(&pair.y, &d);
            add(&mut d, share - back, &pair.s);
        }
        d
    }

    /// Rescales the pairs for arguments multiplied by these factors.
    pub(crate) fn rescale(&mut self, factors: &[f64]) {
        for pair in &mut self.pairs {
            pair.s.iter_mut().zip(factors).for_each(|(s, f)| *s *= f);
            pair.y.iter_mut().zip(factors).for_each(|(y, f)| *y /= f);
        }
    }
}

/// `to += factor of`.
fn add(to: &mut [f64], factor: f64, of: &[f64]) {
    widest(
        #[inline(always)]
        || to.iter_mut().zip(of).for_each(|(t, x)| *t += factor * x),
    );
}
