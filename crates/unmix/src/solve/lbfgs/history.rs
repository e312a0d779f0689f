//! History of a quasi-Newton method: the last steps, and the changes of the gradient.

use crate::num::widest;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The last pairs of differences, and minus the inverse Hessian times a gradient by two loops over them (Nocedal 1980).
#[derive(Serialize, Deserialize)]
pub(crate) struct History {
    /// Pairs that are remembered.
    length: usize,
    /// Pairs whose cosine is at most this met no curvature, and are passed over.
    least: f64,
    /// How steps are compared.
    inner: SummationOrder,
    /// The newest last.
    pairs: VecDeque<Pair>,
    /// Memory of a pair that has been dropped.
    #[serde(skip)]
    spare: (Vec<f64>, Vec<f64>),
}

/// The order of summation of `Σ a b`, which determines its bits.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) enum SummationOrder {
    /// In lanes, for long vectors.
    Lanes,
    /// One after the other.
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
    /// Of places.
    s: Vec<f64>,
    /// Of gradients.
    y: Vec<f64>,
    /// `1 / s'y`.
    rho: f64,
}

impl History {
    /// Nothing remembered yet, of `length` pairs at most. `inner` is how steps are compared.
    pub(crate) fn new(length: usize, least: f64, inner: SummationOrder) -> Self {
        Self { length, least, inner, pairs: VecDeque::new(), spare: Default::default() }
    }

    /// Whether nothing is stored.
    pub(crate) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Forgets everything: what was learned belongs to another function, or led nowhere.
    pub(crate) fn clear(&mut self) {
        self.pairs.clear();
    }

    /// Remembers a step and the change of the gradient along it, unless it met no curvature; the oldest one is dropped for it.
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

    /// `-H gradient`, which points downhill: where rounding turned it up, everything is dropped. `precondition` is what is known of
    /// the inverse Hessian without any pair; it is linear, and gets the scale of the last pair, `s'y / y'y`, where there is one.
    pub(crate) fn downhill(
        &mut self,
        gradient: &[f64],
        precondition: impl Fn(Vec<f64>, Option<f64>) -> Vec<f64>,
    ) -> Vec<f64> {
        let direction = self.direction(gradient, &precondition);
        // Not a number is no direction either.
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

    /// The same for a function whose arguments are multiplied by these factors.
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
