//! Sparsity penalties, with their derivatives: functions that are small if most numbers are near 0.

use crate::choices::choices;
use crate::num::{Real, widest};

choices! {
    /// A smooth approximation of `|y|`: its sum over codes approximates their L1 norm.
    #[derive(Default)]
    pub enum Penalty {
        /// `log cosh y`.
        #[default]
        LogCosh = "logcosh",
        /// `sqrt(y² + 0.01)` (Le et al. 2011).
        SmoothL1 = "smooth-l1",
    }
}

/// The constant of [`Penalty::SmoothL1`]: the squared width of its rounded part.
const ROUNDED_WIDTH_SQUARED: f64 = 1e-2;

impl Penalty {
    /// The second derivative at 0.
    pub fn curvature(self) -> f64 {
        match self {
            Penalty::LogCosh => 1.0,
            Penalty::SmoothL1 => 1.0 / ROUNDED_WIDTH_SQUARED.sqrt(),
        }
    }

    /// Approximate size of the variation of the mean penalty under rotations of codes of standard deviation `s`: `s` for large codes; for
    /// small ones a sixth of the fourth derivative at 0 times `s⁴`, because the quadratic term has the same mean after any rotation.
    pub fn variation_under_rotation(self, s: f64) -> f64 {
        let fourth = match self {
            Penalty::LogCosh => 2.0,
            Penalty::SmoothL1 => 3.0 / ROUNDED_WIDTH_SQUARED.powf(1.5),
        };
        s.min(fourth / 6.0 * s.powi(4))
    }

    /// [`differentiate`](Self::differentiate) with weights: replaces every number by `w` times the derivative there, and returns the sum
    /// of `w` times the values.
    pub fn differentiate_weighted<T: Real>(self, y: &mut [T], weights: &[f64]) -> f64 {
        match self {
            Penalty::LogCosh => each_weighted(y, weights, |y| (y.tanh_of(), y.log_cosh_of())),
            Penalty::SmoothL1 => each_weighted(y, weights, smooth_l1),
        }
    }

    /// Replaces every number by the derivative there, and returns the sum of the values.
    pub fn differentiate<T: Real>(self, y: &mut [T]) -> f64 {
        match self {
            Penalty::LogCosh => each(y, |y| (y.tanh_of(), y.log_cosh_of())),
            Penalty::SmoothL1 => each(y, smooth_l1),
        }
    }
}

/// The derivative of [`Penalty::SmoothL1`], and its value.
#[inline(always)]
fn smooth_l1<T: Real>(y: T) -> (T, T) {
    let value = y.times_plus(y, T::from_f64(ROUNDED_WIDTH_SQUARED)).root();
    (y / value, value)
}

/// Number of independent partial sums, so that the compiler can vectorise without reordering sums.
const LANES: usize = 16;
/// Numbers of each lane whose sum is formed in their own type before it is added in double precision.
const NUMBERS_PER_RUN: usize = 32;

/// Replaces `y` by `f(y).0`, and returns the sum of `f(y).1`.
#[inline(always)]
fn each<T: Real>(y: &mut [T], f: impl Fn(T) -> (T, T)) -> f64 {
    widest(
        #[inline(always)]
        || {
            let mut total = 0.0;
            for y in y.chunks_mut(NUMBERS_PER_RUN * LANES) {
                let mut sums = [T::default(); LANES];
                let (wide, rest) = y.as_chunks_mut::<LANES>();
                for y in wide {
                    for i in 0..LANES {
                        let (slope, value) = f(y[i]);
                        y[i] = slope;
                        sums[i] = sums[i].plus(value);
                    }
                }
                for (y, sum) in rest.iter_mut().zip(&mut sums) {
                    let (slope, value) = f(*y);
                    *y = slope;
                    *sum = sum.plus(value);
                }
                total += sums.iter().map(|s| s.to_f64()).sum::<f64>();
            }
            total
        },
    )
}

/// Replaces `y` by `w f(y).0`, and returns the sum of `w f(y).1`.
#[inline(always)]
fn each_weighted<T: Real>(y: &mut [T], weights: &[f64], f: impl Fn(T) -> (T, T)) -> f64 {
    widest(
        #[inline(always)]
        || {
            let mut sums = [0.0; LANES];
            for (y, w) in y.chunks_mut(LANES).zip(weights.chunks(LANES)) {
                for ((y, w), sum) in y.iter_mut().zip(w).zip(&mut sums) {
                    let (slope, value) = f(*y);
                    *y = T::from_f64(w * slope.to_f64());
                    *sum += w * value.to_f64();
                }
            }
            sums.iter().sum()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    #[test]
    fn values_and_slopes_are_those_of_the_formulas_whatever_the_length() {
        let s = Stream::new(4, 0);
        for n in [1usize, 15, 16, 17, 511, 512, 513, 1500] {
            let y: Vec<f64> = (0..n).map(|i| 2.0 * s.normal(i as u64)).collect();
            for (penalty, value, slope) in [
                (Penalty::LogCosh, (|y: f64| y.cosh().ln()) as fn(f64) -> f64, f64::tanh as fn(f64) -> f64),
                (Penalty::SmoothL1, |y| (y * y + 0.01).sqrt(), |y| y / (y * y + 0.01).sqrt()),
            ] {
                let want: f64 = y.iter().map(|&y| value(y)).sum();
                let mut wide = y.clone();
                let mut narrow: Vec<f32> = y.iter().map(|&y| y as f32).collect();
                let (found, single) = (penalty.differentiate(&mut wide), penalty.differentiate(&mut narrow));
                assert!((found - want).abs() < 1e-13 * want, "{penalty:?}, {n}: {found} not {want}");
                assert!((single - want).abs() < 1e-6 * want, "{penalty:?}, {n} in f32: {single} not {want}");
                for ((y, wide), narrow) in y.iter().zip(&wide).zip(&narrow) {
                    assert!((wide - slope(*y)).abs() < 1e-15, "{penalty:?} at {y}");
                    assert!((f64::from(*narrow) - slope(*y)).abs() < 1e-6, "{penalty:?} at {y} in f32");
                }
            }
        }
    }

    #[test]
    fn the_curvature_is_that_at_zero() {
        for penalty in [Penalty::LogCosh, Penalty::SmoothL1] {
            let mut y = [1e-6f64];
            penalty.differentiate(&mut y);
            assert!((y[0] / 1e-6 - penalty.curvature()).abs() < 1e-8, "{penalty:?}");
        }
    }
}
