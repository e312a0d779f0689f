//! Contrast functions, measures of non-Gaussianity: a function and its first two derivatives.
//!
//! ```text
//!             G(y)                    g = G'               g'
//! logcosh     log cosh(a y) / a       tanh(a y)            a (1 - tanh² (a y))
//! exp         -exp(-y²/2)             y exp(-y²/2)         (1 - y²) exp(-y²/2)
//! cube        y⁴ / 4                  y³                   3 y²
//! skew        y³ / 3                  y²                   2 y
//! l3          |y|³ / 3                y |y|                2 |y|
//! ```
//!
//! `a = 1` is the default of FastICA and Picard, `a = 1/2` the logistic density of Infomax (up to a constant).

mod lanes;

use super::{Packer, ScoreFunction, Unpacker};
use crate::error::Result;
use crate::num::tanh::tanh;
use crate::num::{Real, widest};
use lanes::LANES;
use std::borrow::Cow;

pub(super) use lanes::{lanes, weighted};

/// A contrast function.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Contrast {
    /// `log cosh(a y) / a`.
    LogCosh(f64),
    /// `-exp(-y²/2)`: the most robust against outliers.
    Exp,
    /// Kurtosis: sensitive to small deviations from Gaussianity, and to every outlier.
    Cube,
    /// Skewness: for sources of asymmetric distribution.
    Skew,
    /// The third absolute moment: like kurtosis, with errors about half as large for sparse sources.
    AbsCube,
}

/// A common contrast of all sources, or one for each.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Contrasts<'a> {
    /// The same for all sources.
    One(Contrast),
    /// Fitted to each source.
    Each(&'a [ScoreFunction]),
}

/// [`Contrasts`], where fitted ones are borrowed or owned.
#[derive(Clone, Debug)]
pub(super) enum HeldContrasts<'a> {
    One(Contrast),
    Each(Cow<'a, [ScoreFunction]>),
}

impl<'a> From<Contrasts<'a>> for HeldContrasts<'a> {
    fn from(contrasts: Contrasts<'a>) -> Self {
        match contrasts {
            Contrasts::One(contrast) => Self::One(contrast),
            Contrasts::Each(scores) => Self::Each(scores.into()),
        }
    }
}

impl HeldContrasts<'_> {
    pub(super) fn lent(&self) -> Contrasts<'_> {
        match self {
            Self::One(contrast) => Contrasts::One(*contrast),
            Self::Each(scores) => Contrasts::Each(scores),
        }
    }

    pub(super) fn pack(&self, out: &mut Packer) {
        let (kind, numbers) = match self {
            Self::One(Contrast::LogCosh(a)) => (0, vec![*a]),
            Self::One(Contrast::Exp) => (1, Vec::new()),
            Self::One(Contrast::Cube) => (2, Vec::new()),
            Self::One(Contrast::Skew) => (3, Vec::new()),
            Self::One(Contrast::AbsCube) => (5, Vec::new()),
            Self::Each(scores) => (4, scores.iter().flat_map(|s| s.0).collect()),
        };
        out.count(kind);
        out.numbers(&numbers);
    }

    pub(super) fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (kind, numbers) = (from.count()?, from.numbers()?);
        from.check(match kind {
            0 => numbers.len() == 1,
            1..=3 | 5 => numbers.is_empty(),
            _ => kind == 4 && numbers.len().is_multiple_of(ScoreFunction::LENGTH),
        })?;
        Ok(match kind {
            0 => Self::One(Contrast::LogCosh(numbers[0])),
            1 => Self::One(Contrast::Exp),
            2 => Self::One(Contrast::Cube),
            3 => Self::One(Contrast::Skew),
            5 => Self::One(Contrast::AbsCube),
            _ => Self::Each(numbers.as_chunks().0.iter().map(|factors| ScoreFunction(*factors)).collect()),
        })
    }
}

impl From<Contrast> for Contrasts<'_> {
    fn from(contrast: Contrast) -> Self {
        Contrasts::One(contrast)
    }
}

impl Contrasts<'_> {
    /// [`Contrast::apply`] of source `i`.
    pub(crate) fn apply<T: Real>(self, i: usize, y: &[T], out: &mut [T]) -> ContrastSums {
        match self {
            Contrasts::One(contrast) => contrast.apply(y, out),
            Contrasts::Each(scores) => scores[i].apply(y, out),
        }
    }

    /// [`Contrast::apply_weighted`] of source `i`.
    pub(crate) fn apply_weighted<T: Real>(
        self,
        i: usize,
        y: &[T],
        weights: &[f64],
        out: &mut [T],
    ) -> ContrastSums {
        match self {
            Contrasts::One(contrast) => contrast.apply_weighted(y, weights, out),
            Contrasts::Each(scores) => scores[i].apply_weighted(y, weights, out),
        }
    }

    /// Maximum step of a search, as the fraction of a source that enters another. A fitted contrast is valid only for sources of nearly
    /// the same distribution: further away it may have a lower value for another source.
    pub(crate) fn max_step(self) -> f64 {
        match self {
            // A rotation by more than a right angle is not a local step.
            Contrasts::One(_) => std::f64::consts::FRAC_PI_2,
            Contrasts::Each(_) => 0.1,
        }
    }

    /// `E G` of a standard normal number; 0 for fitted contrasts, which have no common value.
    pub(crate) fn of_gaussian(self) -> f64 {
        match self {
            Contrasts::One(contrast) => contrast.of_gaussian(),
            Contrasts::Each(_) => 0.0,
        }
    }
}

/// Sums over the values of one component.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ContrastSums {
    /// Sum of `g'(y)`.
    pub(crate) slope: f64,
    /// Sum of `G(y)`.
    pub(crate) loss: f64,
}

impl Contrast {
    /// `E G` of a standard normal number.
    pub(crate) fn of_gaussian(self) -> f64 {
        match self {
            Contrast::LogCosh(1.0) => 0.374_567_207_491_437_6,
            Contrast::LogCosh(a) => by_quadrature(|y| log_cosh(a * y) / a),
            Contrast::Exp => -std::f64::consts::FRAC_1_SQRT_2,
            Contrast::Cube => 0.75,
            Contrast::Skew => 0.0,
            Contrast::AbsCube => 0.531_923_040_535_243_5,
        }
    }

    /// Standard deviation, over Gaussian `y` of mean 0 and standard deviation `size`, of `size² g'(y) - y g(y)`, whose mean is then 0
    /// (Stein's identity): the scale in a test of whether a source is Gaussian. The regression on mean and variance, which are known
    /// for the rows, is subtracted.
    pub(crate) fn deviation_of_gaussian(self, size: f64) -> f64 {
        let departure = self.departure(size);
        self.mean_of(|u| departure(u).powi(2)).sqrt()
    }

    /// `size² g'(y) - y g(y)` at `y = size u`, minus its regression on `u` and `u² - 1` for Gaussian `u`.
    pub(crate) fn departure(self, size: f64) -> impl Fn(f64) -> f64 {
        let [mean, variance] = self.explained(size);
        move |u| self.stein(size, u) - mean * u - variance * (u * u - 1.0)
    }

    /// `size² g'(y) - y g(y)` at `y = size u`.
    fn stein(self, size: f64, u: f64) -> f64 {
        let (g, slope) = self.score(size * u);
        size * (size * slope - u * g)
    }

    /// Regression of `size² g'(y) - y g(y)` for Gaussian `u`: the coefficients of `u` and `u² - 1`.
    fn explained(self, size: f64) -> [f64; 2] {
        let tau = |u: f64| self.stein(size, u);
        [self.mean_of(|u| tau(u) * u), self.mean_of(|u| tau(u) * (u * u - 1.0)) / 2.0]
    }

    /// `E f(u)` of a standard normal `u`, for functions `f` of the same smoothness as this contrast.
    fn mean_of(self, f: impl Fn(f64) -> f64) -> f64 {
        match self {
            Contrast::AbsCube => by_halves(f),
            _ => by_quadrature(f),
        }
    }

    /// [`departure`](Self::departure) of each of `numbers`, in place; hyperbolic tangents are vectorised.
    pub(crate) fn departures(self, size: f64, numbers: &mut [f64]) {
        let Contrast::LogCosh(a) = self else {
            let departure = self.departure(size);
            return numbers.iter_mut().for_each(|u| *u = departure(*u));
        };
        let [mean, variance] = self.explained(size);
        let mut scores: Vec<f64> = numbers.iter().map(|u| a * size * u).collect();
        tanh(&mut scores);
        for (u, t) in numbers.iter_mut().zip(&scores) {
            let tau = size * (size * a * (1.0 - t * t) - *u * t);
            *u = tau - mean * *u - variance * (*u * *u - 1.0);
        }
    }

    /// `g(y)` and `g'(y)` of one number.
    fn score(self, y: f64) -> (f64, f64) {
        match self {
            Contrast::LogCosh(a) => {
                let t = (a * y).tanh();
                (t, a * (1.0 - t * t))
            }
            Contrast::Exp => (y * (-0.5 * y * y).exp(), (1.0 - y * y) * (-0.5 * y * y).exp()),
            Contrast::Cube => (y.powi(3), 3.0 * y * y),
            Contrast::Skew => (y * y, 2.0 * y),
            Contrast::AbsCube => (y * y.abs(), 2.0 * y.abs()),
        }
    }

    /// Log normalising constant: `log ∫ exp(-k G(y) - y² / 2) dy` for the density of extended Infomax with sign `k`;
    /// `log ∫ exp(-G(y)) dy` if `sign` is `None`. Only for `logcosh`, whose integrals are known: other contrasts are not logarithms
    /// of densities, and give `None`.
    pub(crate) fn log_partition(self, sign: Option<f64>) -> Option<f64> {
        let root = (2.0 * std::f64::consts::PI).sqrt();
        match (self, sign) {
            // ∫ cosh(a y)^(-1/a) dy for the density of Picard and for the logistic density.
            (Contrast::LogCosh(1.0), None) => Some(std::f64::consts::PI.ln()),
            (Contrast::LogCosh(0.5), None) => Some(4f64.ln()),
            (Contrast::LogCosh(a), Some(k)) => {
                Some((root * by_quadrature(|y| (-k * log_cosh(a * y) / a).exp())).ln())
            }
            _ => None,
        }
    }

    /// Writes `g(y)` of every number into `out` and returns the sums of `g'` and `G`.
    pub(crate) fn apply<T: Real>(self, y: &[T], out: &mut [T]) -> ContrastSums {
        let [slope, loss] = self.sums(y, out, 1).map(|s| s[0]);
        ContrastSums { slope, loss }
    }

    /// [`apply`](Self::apply) with weights: writes `w g(y)`, and returns the sums of `w g'(y)` and `w G(y)`.
    pub(crate) fn apply_weighted<T: Real>(self, y: &[T], weights: &[f64], out: &mut [T]) -> ContrastSums {
        let one = T::from_f64(1.0);
        match self {
            Contrast::LogCosh(a) => {
                let (factor, inverse) = (T::from_f64(a), T::from_f64(1.0 / a));
                weighted(y, weights, out, |y| {
                    let (u, t) = (factor * y, (factor * y).tanh_of());
                    (t, factor * (one - t * t), inverse * u.log_cosh_of())
                })
            }
            Contrast::Exp => weighted(y, weights, out, |y| {
                let e = (T::from_f64(-0.5) * y * y).exp_of();
                (y * e, (one - y * y) * e, T::default() - e)
            }),
            Contrast::Cube => weighted(y, weights, out, |y| {
                let s = y * y;
                (y * s, T::from_f64(3.0) * s, T::from_f64(0.25) * s * s)
            }),
            Contrast::Skew => weighted(y, weights, out, |y| {
                (y * y, T::from_f64(2.0) * y, T::from_f64(1.0 / 3.0) * y * y * y)
            }),
            Contrast::AbsCube => weighted(y, weights, out, |y| {
                let a = y.absolute();
                (y * a, T::from_f64(2.0) * a, T::from_f64(1.0 / 3.0) * a * a * a)
            }),
        }
    }

    /// [`apply`](Self::apply) to a panel of `width` sources, interleaved: adds the sums of each source to `slope` and `loss`. `width`
    /// divides 16.
    pub(crate) fn apply_to_panel<T: Real>(
        self,
        y: &[T],
        out: &mut [T],
        width: usize,
        slope: &mut [f64],
        loss: &mut [f64],
    ) {
        let [slopes, losses] = self.sums(y, out, width);
        slope.iter_mut().zip(&slopes[..width]).for_each(|(total, s)| *total += s);
        loss.iter_mut().zip(&losses[..width]).for_each(|(total, l)| *total += l);
    }

    /// Writes `g(y)` into `out`; returns the sums of slopes and of losses for each of `width` interleaved sources.
    fn sums<T: Real>(self, y: &[T], out: &mut [T], width: usize) -> [[f64; LANES]; 2] {
        let (n, one) = ((y.len() / width) as f64, T::from_f64(1.0));
        widest(
            #[inline(always)]
            || match self {
                Contrast::LogCosh(a) => {
                    let factor = T::from_f64(a);
                    let tanh = |y: T, _| (factor * y).tanh_about();
                    // log cosh x = |x| - log(1 + tanh |x|).
                    let [squares, size, logarithm] =
                        lanes(y, out, width, tanh, |y, g| (g, [g * g, y.absolute(), one + g.absolute()]));
                    [squares.map(|s| a * (n - s)), std::array::from_fn(|i| size[i] - logarithm[i] / a)]
                }
                Contrast::Exp => {
                    let half = T::from_f64(-0.5);
                    let exp = |y: T, _| (half * y * y).exp_of();
                    let [slope, loss, _] =
                        lanes(y, out, width, exp, |y, e| (y * e, [(one - y * y) * e, e, one]));
                    [slope, loss.map(|l| -l)]
                }
                Contrast::Cube => {
                    let square = |y: T, _| y * y;
                    let [squares, fourth, _] = lanes(y, out, width, square, |y, s| (y * s, [s, s * s, one]));
                    [squares.map(|s| 3.0 * s), fourth.map(|f| 0.25 * f)]
                }
                Contrast::Skew => {
                    let square = |y: T, _| y * y;
                    let [sum, third, _] = lanes(y, out, width, square, |y, s| (s, [y, y * s, one]));
                    [sum.map(|s| 2.0 * s), third.map(|s| s / 3.0)]
                }
                Contrast::AbsCube => {
                    let size = |y: T, _| y.absolute();
                    let [sum, third, _] = lanes(y, out, width, size, |y, a| (y * a, [a, y * y * a, one]));
                    [sum.map(|s| 2.0 * s), third.map(|s| s / 3.0)]
                }
            },
        )
    }
}

/// `E f(y)` of a standard normal `y`, by the trapezoidal rule, which is exact up to rounding for smooth, rapidly decreasing
/// functions.
fn by_quadrature(f: impl Fn(f64) -> f64) -> f64 {
    let step = 1.0 / 16.0;
    let density = |y: f64| (-0.5 * y * y).exp() / (2.0 * std::f64::consts::PI).sqrt();
    (-192..=192).map(|i| step * f64::from(i)).map(|y| step * f(y) * density(y)).sum()
}

/// The same by Simpson's rule on either side of 0, for functions with a kink there.
fn by_halves(f: impl Fn(f64) -> f64) -> f64 {
    let step = 1.0 / 1024.0;
    let last = 12 * 1024;
    let density = |y: f64| (-0.5 * y * y).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let weight = |i: i32| match i {
        0 => 1.0,
        _ if i == last => 1.0,
        _ if i % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let both = |y: f64| (f(y) + f(-y)) * density(y);
    (0..=last).map(|i| weight(i) * both(step * f64::from(i))).sum::<f64>() * step / 3.0
}

fn log_cosh(y: f64) -> f64 {
    y.abs() + (-2.0 * y.abs()).exp().ln_1p() - std::f64::consts::LN_2
}

#[cfg(test)]
mod tests;
