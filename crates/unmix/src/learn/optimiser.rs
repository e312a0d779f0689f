//! Optimisers: stochastic gradient descent with momentum and without, and Adam.

use crate::choices::choices;
use crate::num::parallel;
use crate::num::{Real, widest};
use serde::{Deserialize, Serialize};

choices! {
    /// The update rule of the parameters.
    #[derive(Default)]
    pub enum Optimiser {
        /// Adam (Kingma & Ba 2015), with decay rates 0.9 and 0.999.
        #[default]
        Adam = "adam",
        /// Stochastic gradient descent with momentum 0.9. Not invariant to the scale of the rows.
        Sgd = "sgd",
        /// Stochastic gradient descent without momentum: a step is the learning rate times the gradient.
        PlainSgd = "plain-sgd",
    }
}

const MOMENTUM_DECAY: f64 = 0.9;
const SQUARES_DECAY: f64 = 0.999;
/// The constant epsilon of Adam, as in Keras.
const EPS: f64 = 1e-7;

/// Number of values that one thread updates at a time.
const VALUES_PER_TASK: usize = 1 << 14;

/// State of an optimiser for one parameter: moving averages of gradients and of their squares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct OptimiserState<T: Real> {
    /// Empty for gradient descent without momentum.
    first: Vec<T>,
    /// Empty for gradient descent.
    second: Vec<T>,
    steps: u64,
}

impl<T: Real> OptimiserState<T> {
    /// State for a parameter of `len` numbers, before the first step.
    pub(crate) fn new(how: Optimiser, len: usize) -> Self {
        let [first, second] = match how {
            Optimiser::Adam => [len, len],
            Optimiser::Sgd => [len, 0],
            Optimiser::PlainSgd => [0, 0],
        };
        Self { first: vec![T::default(); first], second: vec![T::default(); second], steps: 0 }
    }

    /// Resets the moving averages of some of the numbers.
    pub(crate) fn forget(&mut self, places: &[std::ops::Range<usize>]) {
        for averages in [&mut self.first, &mut self.second] {
            if !averages.is_empty() {
                places.iter().for_each(|place| averages[place.clone()].fill(T::default()));
            }
        }
    }

    /// One step of `w` with learning rate `rate`, for the gradient `times g`. `w` and `g` have the length of the parameter, and `how` is the
    /// optimiser for which this state was made.
    pub(crate) fn step(&mut self, how: Optimiser, rate: f64, times: f64, w: &mut [T], g: &[T]) {
        let has_averages = how != Optimiser::PlainSgd;
        let len = if has_averages { self.first.len() } else { w.len() };
        assert!(w.len() == len && g.len() == len, "a parameter keeps its length");
        self.steps += 1;
        let t = T::from_f64;
        match how {
            Optimiser::PlainSgd => descend(w, g, t(times * rate)),
            Optimiser::Sgd => {
                let (momentum, rate) = (t(MOMENTUM_DECAY), t(times * rate));
                let step = |w: &mut [T], g: &[T], first: &mut [T], _: &mut [T]| {
                    widest(
                        #[inline(always)]
                        || {
                            for ((w, g), m) in w.iter_mut().zip(g).zip(first) {
                                *m = momentum * *m - rate * *g;
                                *w += *m;
                            }
                        },
                    );
                };
                self.in_parts(w, g, step);
            }
            Optimiser::Adam => {
                // m/(1 - b1^t) over sqrt(v/(1 - b2^t)) + eps, with the factors combined. Both powers underflow to 0 long before the
                // count saturates.
                let steps = i32::try_from(self.steps).unwrap_or(i32::MAX);
                let bias = (1.0 - SQUARES_DECAY.powi(steps)).sqrt();
                let rate = t(rate * bias / (1.0 - MOMENTUM_DECAY.powi(steps)));
                let eps = t(EPS * bias);
                let (b1, b2) = (t(MOMENTUM_DECAY), t(SQUARES_DECAY));
                let (c1, c2) = (t(times * (1.0 - MOMENTUM_DECAY)), t(times * times * (1.0 - SQUARES_DECAY)));
                let step = |w: &mut [T], g: &[T], first: &mut [T], second: &mut [T]| {
                    widest(
                        #[inline(always)]
                        || {
                            for ((w, g), (m, v)) in w.iter_mut().zip(g).zip(first.iter_mut().zip(second)) {
                                *m = b1 * *m + c1 * *g;
                                *v = b2 * *v + c2 * (*g * *g);
                                *w -= rate * *m / (v.root() + eps);
                            }
                        },
                    );
                };
                self.in_parts(w, g, step);
            }
        }
    }

    /// Calls `step` for parts of the parameter, on all threads of the current pool if it is long; entries are independent.
    fn in_parts(&mut self, w: &mut [T], g: &[T], step: impl Fn(&mut [T], &[T], &mut [T], &mut [T]) + Sync) {
        if w.len() <= VALUES_PER_TASK {
            return step(w, g, &mut self.first, &mut self.second);
        }
        let parts = w
            .chunks_mut(VALUES_PER_TASK)
            .zip(g.chunks(VALUES_PER_TASK))
            .zip(self.first.chunks_mut(VALUES_PER_TASK));
        match self.second.is_empty() {
            true => parallel::each(parts, |((w, g), m)| step(w, g, m, &mut [])),
            false => {
                let parts = parts.zip(self.second.chunks_mut(VALUES_PER_TASK));
                parallel::each(parts, |(((w, g), m), v)| step(w, g, m, v));
            }
        }
    }
}

/// `w -= by * g`, on all threads of the current pool if it is long.
pub(super) fn descend<T: Real>(w: &mut [T], g: &[T], by: T) {
    let step = |w: &mut [T], g: &[T]| {
        widest(
            #[inline(always)]
            || w.iter_mut().zip(g).for_each(|(w, g)| *w -= by * *g),
        );
    };
    if w.len() <= VALUES_PER_TASK {
        return step(w, g);
    }
    parallel::each(w.chunks_mut(VALUES_PER_TASK).zip(g.chunks(VALUES_PER_TASK)), |(w, g)| step(w, g));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    /// The published formulas, for one number.
    fn naive(how: Optimiser, rate: f64, gradients: &[f64], mut w: f64) -> f64 {
        let (mut m, mut v) = (0.0, 0.0);
        for (t, g) in (1..).zip(gradients) {
            match how {
                Optimiser::Sgd => {
                    m = 0.9 * m - rate * g;
                    w += m;
                }
                Optimiser::PlainSgd => w -= rate * g,
                Optimiser::Adam => {
                    m = 0.9 * m + 0.1 * g;
                    v = 0.999 * v + 0.001 * g * g;
                    let (unbiased_m, unbiased_v) = (m / (1.0 - 0.9f64.powi(t)), v / (1.0 - 0.999f64.powi(t)));
                    w -= rate * unbiased_m / (unbiased_v.sqrt() + 1e-7);
                }
            }
        }
        w
    }

    #[test]
    fn steps_are_those_of_the_papers() {
        let draws = Stream::new(1, 0);
        let gradients: Vec<f64> = (0..50 * 9).map(|i| draws.normal(i)).collect();
        for how in [Optimiser::Sgd, Optimiser::PlainSgd, Optimiser::Adam] {
            let (mut w, mut memory) = (vec![1.0; 9], OptimiserState::new(how, 9));
            // Half-gradients, half of the gradient.
            for g in gradients.chunks(9) {
                let half: Vec<f64> = g.iter().map(|g| g / 2.0).collect();
                memory.step(how, 0.01, 2.0, &mut w, &half);
            }
            for (j, w) in w.iter().enumerate() {
                let of_one: Vec<f64> = gradients.iter().skip(j).step_by(9).copied().collect();
                let want = naive(how, 0.01, &of_one, 1.0);
                assert!((w - want).abs() < 1e-13, "{how:?}: {w}, not {want}");
            }
        }
    }

    #[test]
    fn averages_of_some_entries_are_reset() {
        for how in [Optimiser::Sgd, Optimiser::PlainSgd, Optimiser::Adam] {
            let mut memory = OptimiserState::<f64>::new(how, 4);
            memory.step(how, 0.1, 1.0, &mut [0.0; 4], &[1.0; 4]);
            memory.forget(&[1..2, 2..3]);
            for averages in [&memory.first, &memory.second].into_iter().filter(|a| !a.is_empty()) {
                assert_eq!(
                    averages.iter().map(|x| *x != 0.0).collect::<Vec<_>>(),
                    [true, false, false, true]
                );
            }
        }
    }

    #[test]
    fn states_are_restored_from_text_to_the_bit() {
        let draws = Stream::new(2, 0);
        for how in [Optimiser::Sgd, Optimiser::PlainSgd, Optimiser::Adam] {
            let (mut w, mut memory) = (vec![0.3f32; 7], OptimiserState::<f32>::new(how, 7));
            let gradient = |step: u64| (0..7).map(|j| draws.normal(7 * step + j) as f32).collect::<Vec<_>>();
            (0..10).for_each(|step| memory.step(how, 0.1, 1.0, &mut w, &gradient(step)));
            let text = serde_json::to_string(&(&w, &memory)).unwrap();
            let (mut again, mut remembered): (Vec<f32>, OptimiserState<f32>) =
                serde_json::from_str(&text).unwrap();
            assert_eq!(remembered, memory);
            memory.step(how, 0.1, 1.0, &mut w, &gradient(10));
            remembered.step(how, 0.1, 1.0, &mut again, &gradient(10));
            assert_eq!(w, again);
        }
    }
}
