//! What an independent component is told from a Gaussian by: a function, its slope, and the slope's slope.
//!
//! ```text
//!             G(y)                    g = G'               g'
//! logcosh     log cosh(a y) / a       tanh(a y)            a (1 - tanh² (a y))
//! exp         -exp(-y²/2)             y exp(-y²/2)         (1 - y²) exp(-y²/2)
//! cube        y⁴ / 4                  y³                   3 y²
//! skew        y³ / 3                  y²                   2 y
//! ```
//!
//! `a = 1` is the default of FastICA and Picard, `a = 1/2` the logistic density of Infomax (up to a constant).

use super::Score;
use crate::num::{Real, widest};

/// A contrast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Contrast {
    /// `log cosh(a y) / a`.
    LogCosh(f64),
    /// `-exp(-y²/2)`: the most robust against outliers.
    Exp,
    /// Kurtosis: sees even small differences, and every outlier.
    Cube,
    /// Skewness: for sources that are not symmetric.
    Skew,
}

/// One contrast for all sources, or one for each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Contrasts<'a> {
    /// The same for all.
    One(Contrast),
    /// Fitted to each.
    Each(&'a [Score]),
}

impl From<Contrast> for Contrasts<'_> {
    fn from(contrast: Contrast) -> Self {
        Contrasts::One(contrast)
    }
}

impl Contrasts<'_> {
    /// [`Contrast::apply`] of source `i`.
    pub fn apply<T: Real>(self, i: usize, y: &[T], out: &mut [T]) -> ContrastSums {
        match self {
            Contrasts::One(contrast) => contrast.apply(y, out),
            Contrasts::Each(scores) => scores[i].apply(y, out),
        }
    }

    /// The longest step of a search, in parts of one source that another takes in. What is fitted to a source is a contrast for it and its
    /// like alone: further away it may be lower for another source.
    pub(crate) fn reach(self) -> f64 {
        match self {
            // A rotation by more than a right angle is no small step of anything.
            Contrasts::One(_) => std::f64::consts::FRAC_PI_2,
            Contrasts::Each(_) => 0.1,
        }
    }

    /// `E G` of a standard normal number; of fitted contrasts, which have no common one, 0.
    pub(crate) fn of_gaussian(self) -> f64 {
        match self {
            Contrasts::One(contrast) => contrast.of_gaussian(),
            Contrasts::Each(_) => 0.0,
        }
    }
}

/// Sums over the numbers of one component.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContrastSums {
    /// Of `g'(y)`.
    pub slope: f64,
    /// Of `G(y)`.
    pub loss: f64,
}

impl Contrast {
    /// `E G` of a standard normal number.
    pub fn of_gaussian(self) -> f64 {
        match self {
            Contrast::LogCosh(1.0) => 0.374_567_207_491_437_6,
            Contrast::LogCosh(a) => by_quadrature(|y| log_cosh(a * y) / a),
            Contrast::Exp => -std::f64::consts::FRAC_1_SQRT_2,
            Contrast::Cube => 0.75,
            Contrast::Skew => 0.0,
        }
    }

    /// Standard deviation, for Gaussian `y` of known mean and variance, of `g'(y) - y g(y)`, whose mean then is 0: what its mean
    /// over rows is compared with to tell whether a source is Gaussian.
    pub fn deviation_of_gaussian(self) -> f64 {
        match self {
            Contrast::LogCosh(a) => {
                let tau = |y: f64| a * (1.0 - (a * y).tanh().powi(2)) - y * (a * y).tanh();
                // What a known variance explains is no chance; tau is even, so the mean explains nothing.
                let slope = by_quadrature(|y| tau(y) * (y * y - 1.0)) / 2.0;
                by_quadrature(|y| (tau(y) - slope * (y * y - 1.0)).powi(2)).sqrt()
            }
            Contrast::Exp => 0.572_1,
            Contrast::Cube => 24f64.sqrt(),
            Contrast::Skew => 6f64.sqrt(),
        }
    }

    /// Writes `g(y)` of every number over `out` and sums up the rest.
    pub fn apply<T: Real>(self, y: &[T], out: &mut [T]) -> ContrastSums {
        let [slope, loss] = self.sums(y, out, 1).map(|s| s[0]);
        ContrastSums { slope, loss }
    }

    /// [`apply`](Self::apply) to a panel of `width` sources, a row of them after the other: adds the sums of each source to `slope` and
    /// `loss`, which say how many of them count. `width` divides 16.
    pub fn apply_to_panel<T: Real>(
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

    /// Writes `g(y)` over `out`; sums of slopes and of losses, for each of `width` sources that take turns.
    fn sums<T: Real>(self, y: &[T], out: &mut [T], width: usize) -> [[f64; LANES]; 2] {
        let (n, one) = ((y.len() / width) as f64, T::from_f64(1.0));
        widest(
            #[inline(always)]
            || match self {
                Contrast::LogCosh(a) => {
                    let factor = T::from_f64(a);
                    let tanh = |y: T, _| (factor * y).tanh_about();
                    let [squares, size] = lanes(y, out, width, tanh, |y, g| (g, g * g, y.absolute()));
                    // log cosh x = |x| - log(1 + tanh |x|): one logarithm for many of them.
                    let logarithm = logarithms(out, width);
                    [squares.map(|s| a * (n - s)), std::array::from_fn(|i| size[i] - logarithm[i] / a)]
                }
                Contrast::Exp => {
                    let half = T::from_f64(-0.5);
                    let exp = |y: T, _| (half * y * y).exp_of();
                    let [slope, loss] = lanes(y, out, width, exp, |y, e| (y * e, (one - y * y) * e, e));
                    [slope, loss.map(|l| -l)]
                }
                Contrast::Cube => {
                    let square = |y: T, _| y * y;
                    let [squares, fourth] = lanes(y, out, width, square, |y, s| (y * s, s, s * s));
                    [squares.map(|s| 3.0 * s), fourth.map(|f| 0.25 * f)]
                }
                Contrast::Skew => {
                    let square = |y: T, _| y * y;
                    let [sum, third] = lanes(y, out, width, square, |y, s| (s, y, y * s));
                    [sum.map(|s| 2.0 * s), third.map(|s| s / 3.0)]
                }
            },
        )
    }
}

/// `E f(y)` of a standard normal `y`, by the trapezoid rule, which is exact to rounding for functions like these.
fn by_quadrature(f: impl Fn(f64) -> f64) -> f64 {
    let step = 1.0 / 16.0;
    let density = |y: f64| (-0.5 * y * y).exp() / (2.0 * std::f64::consts::PI).sqrt();
    (-192..=192).map(|i| step * f64::from(i)).map(|y| step * f(y) * density(y)).sum()
}

fn log_cosh(y: f64) -> f64 {
    y.abs() + (-2.0 * y.abs()).exp().ln_1p() - std::f64::consts::LN_2
}

/// Numbers that are summed beside each other, so that a compiler which may not reorder sums can use whole vectors.
pub(super) const LANES: usize = 16;

/// Numbers of a lane whose sum is formed in their own type before it is added in double precision.
const RUN: usize = 64;

/// Writes over `out` the first of what `f` makes of each number of `y` and of `dear` of both, and sums up the others, for each of `width`
/// sources that take turns; `width` divides [`LANES`].
///
/// What is dear, tanh or exp, has a loop of its own that a compiler turns into whole vectors, over few numbers: they are still in the
/// first cache for the other.
#[inline(always)]
pub(super) fn lanes<T: Real>(
    y: &[T],
    out: &mut [T],
    width: usize,
    dear: impl Fn(T, T) -> T,
    f: impl Fn(T, T) -> (T, T, T),
) -> [[f64; LANES]; 2] {
    assert!(LANES.is_multiple_of(width) && y.len().is_multiple_of(width), "panels of {width} numbers");
    let mut totals = [[0.0; LANES]; 2];
    for (y, out) in y.chunks(RUN * LANES).zip(out.chunks_mut(RUN * LANES)) {
        y.iter().zip(&mut *out).for_each(|(y, out)| *out = dear(*y, *out));
        let (mut first, mut second) = ([T::default(); LANES], [T::default(); LANES]);
        let whole = y.len() - y.len() % LANES;
        let (wide, narrow) = y.split_at(whole);
        let (wide_out, narrow_out) = out.split_at_mut(whole);
        for (y, out) in wide.chunks_exact(LANES).zip(wide_out.chunks_exact_mut(LANES)) {
            for i in 0..LANES {
                let (g, a, b) = f(y[i], out[i]);
                out[i] = g;
                first[i] += a;
                second[i] += b;
            }
        }
        for (i, (y, out)) in narrow.iter().zip(narrow_out).enumerate() {
            let (g, a, b) = f(*y, *out);
            *out = g;
            first[i] += a;
            second[i] += b;
        }
        for i in 0..LANES {
            totals[0][i] += first[i].to_f64();
            totals[1][i] += second[i].to_f64();
        }
    }
    totals.map(|lanes| of_sources(lanes, width, |a, b| a + b))
}

/// Lanes of the same source as one; those of sources from `width` on mean nothing.
#[inline(always)]
fn of_sources(mut lanes: [f64; LANES], width: usize, join: impl Fn(f64, f64) -> f64) -> [f64; LANES] {
    for i in width..LANES {
        lanes[i % width] = join(lanes[i % width], lanes[i]);
    }
    lanes
}

/// `Σ log(1 + |t|)` of each of `width` sources that take turns, by one logarithm for many: a product of 32 factors, each at most 2,
/// stays in the range of single precision, one of 992 in that of double.
#[inline(always)]
pub(super) fn logarithms<T: Real>(t: &[T], width: usize) -> [f64; LANES] {
    const FACTORS: usize = 32;
    let (one, most) = (T::from_f64(1.0), 2 * width - 1);
    let mut totals = [0.0; LANES];
    for t in t.chunks(most * FACTORS * LANES) {
        let mut large = [1.0; LANES];
        for t in t.chunks(FACTORS * LANES) {
            let mut product = [one; LANES];
            let (wide, narrow) = t.split_at(t.len() - t.len() % LANES);
            for t in wide.chunks_exact(LANES) {
                for i in 0..LANES {
                    product[i] *= one + t[i].absolute();
                }
            }
            for (i, t) in narrow.iter().enumerate() {
                product[i] *= one + t.absolute();
            }
            for i in 0..LANES {
                large[i] *= product[i].to_f64();
            }
        }
        let large = of_sources(large, width, |a, b| a * b);
        totals.iter_mut().zip(&large[..width]).for_each(|(total, x)| *total += x.ln());
    }
    totals
}

#[cfg(test)]
mod tests;
