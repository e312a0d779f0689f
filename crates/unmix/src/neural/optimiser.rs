//! From half-gradients to steps: stochastic gradient descent with momentum, and Adam.

use crate::num::{Real, widest};
use serde::{Deserialize, Serialize};

/// How a gradient becomes a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Optimiser {
    /// Gradient descent with momentum 0.9. Not invariant to the scale of rows.
    Sgd,
    /// Kingma & Ba 2015, with 0.9 and 0.999.
    #[default]
    Adam,
}

const MOMENTUM: f64 = 0.9;
const SQUARES: f64 = 0.999;
/// As in Keras.
const EPS: f64 = 1e-7;

/// What an optimiser remembers of a parameter.
#[derive(Clone, Debug)]
pub(super) struct Memory<T> {
    first: Vec<T>,
    second: Vec<T>,
    steps: i32,
}

impl<T: Real> Memory<T> {
    /// Of a parameter of so many numbers.
    pub(super) fn new(len: usize) -> Self {
        Self { first: vec![T::default(); len], second: vec![T::default(); len], steps: 0 }
    }

    /// Moves `w` by the half-gradient `g`, of which the whole gradient is twice as much.
    pub(super) fn step(&mut self, how: Optimiser, rate: f64, w: &mut [T], g: &[T]) {
        self.steps += 1;
        let t = T::from_f64;
        match how {
            Optimiser::Sgd => {
                let (momentum, rate) = (t(MOMENTUM), t(2.0 * rate));
                widest(
                    #[inline(always)]
                    || {
                        for ((w, g), m) in w.iter_mut().zip(g).zip(&mut self.first) {
                            *m = momentum * *m - rate * *g;
                            *w += *m;
                        }
                    },
                );
            }
            Optimiser::Adam => {
                // m/(1 - b1^t) over sqrt(v/(1 - b2^t)) + eps, the factors gathered.
                let bias = (1.0 - SQUARES.powi(self.steps)).sqrt();
                let rate = t(rate * bias / (1.0 - MOMENTUM.powi(self.steps)));
                let eps = t(EPS * bias);
                let (b1, b2) = (t(MOMENTUM), t(SQUARES));
                let (c1, c2) = (t(2.0 * (1.0 - MOMENTUM)), t(4.0 * (1.0 - SQUARES)));
                widest(
                    #[inline(always)]
                    || {
                        let moments = self.first.iter_mut().zip(&mut self.second);
                        for ((w, g), (m, v)) in w.iter_mut().zip(g).zip(moments) {
                            *m = b1 * *m + c1 * *g;
                            *v = b2 * *v + c2 * (*g * *g);
                            *w -= rate * *m / (v.root() + eps);
                        }
                    },
                );
            }
        }
    }
}
