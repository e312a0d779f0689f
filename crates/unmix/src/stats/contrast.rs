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
        let (n, one) = (y.len() as f64, T::from_f64(1.0));
        self.prepare(y, out);
        match self {
            Contrast::LogCosh(a) => {
                let ([squares, size], logarithm) = widest(
                    #[inline(always)]
                    || (lanes(y, out, |y, g| (g, g * g, y.absolute())), logarithms(out)),
                );
                // log cosh x = |x| - log(1 + tanh |x|): one logarithm for many of them.
                ContrastSums { slope: a * (n - squares), loss: size - logarithm / a }
            }
            Contrast::Exp => {
                let [slope, loss] = widest(
                    #[inline(always)]
                    || lanes(y, out, |y, e| (y * e, (one - y * y) * e, e)),
                );
                ContrastSums { slope, loss: -loss }
            }
            Contrast::Cube => {
                let [squares, fourth] = widest(
                    #[inline(always)]
                    || lanes(y, out, |y, _| (y * y * y, y * y, y * y * (y * y))),
                );
                ContrastSums { slope: 3.0 * squares, loss: 0.25 * fourth }
            }
            Contrast::Skew => {
                let [sum, third] = widest(
                    #[inline(always)]
                    || lanes(y, out, |y, _| (y * y, y, y * y * y)),
                );
                ContrastSums { slope: 2.0 * sum, loss: third / 3.0 }
            }
        }
    }

    /// Writes over `out` what is dear, number by number: tanh or exp. Cube and skewness need neither.
    fn prepare<T: Real>(self, y: &[T], out: &mut [T]) {
        match self {
            Contrast::LogCosh(a) => {
                let factor = T::from_f64(a);
                widest(
                    #[inline(always)]
                    || y.iter().zip(out).for_each(|(y, g)| *g = (factor * *y).tanh_of()),
                );
            }
            Contrast::Exp => {
                let half = T::from_f64(-0.5);
                widest(
                    #[inline(always)]
                    || y.iter().zip(out).for_each(|(y, e)| *e = (half * *y * *y).exp_of()),
                );
            }
            Contrast::Cube | Contrast::Skew => {}
        }
    }

    /// [`apply`](Self::apply) to rows of sources, `width` wide: adds the sums of each column to `slope` and `loss`, which say how
    /// many columns count.
    pub fn apply_to_columns<T: Real>(
        self,
        y: &[T],
        out: &mut [T],
        width: usize,
        slope: &mut [f64],
        loss: &mut [f64],
    ) {
        let n = (y.len() / width) as f64;
        self.prepare(y, out);
        widest(
            #[inline(always)]
            || match width {
                w if w % 16 == 0 => self.sum_columns::<T, 16>(y, out, w, n, slope, loss),
                w if w % 8 == 0 => self.sum_columns::<T, 8>(y, out, w, n, slope, loss),
                w => self.sum_columns::<T, 4>(y, out, w, n, slope, loss),
            },
        );
    }

    #[inline(always)]
    fn sum_columns<T: Real, const W: usize>(
        self,
        y: &[T],
        out: &mut [T],
        width: usize,
        n: f64,
        slope: &mut [f64],
        loss: &mut [f64],
    ) {
        let one = T::from_f64(1.0);
        for (i, (slope, loss)) in slope.chunks_mut(W).zip(loss.chunks_mut(W)).enumerate() {
            let at = i * W;
            let (slopes, losses): ([f64; W], [f64; W]) = match self {
                Contrast::LogCosh(a) => {
                    let [squares, size] = columns::<T, W>(y, out, width, at, |y, g| (g, g * g, y.absolute()));
                    // log cosh x = |x| - log(1 + tanh |x|).
                    let logarithm = logarithms_of_columns::<T, W>(out, width, at);
                    let loss = |j: usize| size[j] - logarithm[j] / a;
                    (squares.map(|s| a * (n - s)), std::array::from_fn(loss))
                }
                Contrast::Exp => {
                    let [slope, loss] =
                        columns::<T, W>(y, out, width, at, |y, e| (y * e, (one - y * y) * e, e));
                    (slope, loss.map(|l| -l))
                }
                Contrast::Cube => {
                    let [squares, fourth] =
                        columns::<T, W>(y, out, width, at, |y, _| (y * y * y, y * y, y * y * (y * y)));
                    (squares.map(|s| 3.0 * s), fourth.map(|f| 0.25 * f))
                }
                Contrast::Skew => {
                    let [sum, third] = columns::<T, W>(y, out, width, at, |y, _| (y * y, y, y * y * y));
                    (sum.map(|s| 2.0 * s), third.map(|s| s / 3.0))
                }
            };
            slope.iter_mut().zip(slopes).for_each(|(total, s)| *total += s);
            loss.iter_mut().zip(losses).for_each(|(total, l)| *total += l);
        }
    }
}

/// Rows whose sums are formed in their own type before they are added in double precision.
const RUN_OF_ROWS: usize = 96;

/// For columns `at..at + W` of rows `width` wide: replaces what `out` holds by the first of what `f` makes of each number of `y`
/// and of it, and sums up the others.
#[inline(always)]
fn columns<T: Real, const W: usize>(
    y: &[T],
    out: &mut [T],
    width: usize,
    at: usize,
    f: impl Fn(T, T) -> (T, T, T),
) -> [[f64; W]; 2] {
    let mut totals = [[0.0; W]; 2];
    for (y, out) in y.chunks(RUN_OF_ROWS * width).zip(out.chunks_mut(RUN_OF_ROWS * width)) {
        let (mut first, mut second) = ([T::default(); W], [T::default(); W]);
        for (y, out) in y.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
            let (y, out) = (&y[at..at + W], &mut out[at..at + W]);
            for j in 0..W {
                let (g, a, b) = f(y[j], out[j]);
                out[j] = g;
                first[j] += a;
                second[j] += b;
            }
        }
        for j in 0..W {
            totals[0][j] += first[j].to_f64();
            totals[1][j] += second[j].to_f64();
        }
    }
    totals
}

/// `Σ log(1 + |t|)` of each of these columns, by one logarithm for many: a product of 96 factors, each at most 2, stays in the range
/// of single precision, one of ten such in that of double.
#[inline(always)]
fn logarithms_of_columns<T: Real, const W: usize>(t: &[T], width: usize, at: usize) -> [f64; W] {
    let one = T::from_f64(1.0);
    let mut totals = [0.0; W];
    for t in t.chunks(10 * RUN_OF_ROWS * width) {
        let mut large = [1.0; W];
        for t in t.chunks(RUN_OF_ROWS * width) {
            let mut product = [one; W];
            for t in t.chunks_exact(width) {
                let t = &t[at..at + W];
                for j in 0..W {
                    product[j] *= one + t[j].absolute();
                }
            }
            for j in 0..W {
                large[j] *= product[j].to_f64();
            }
        }
        for j in 0..W {
            totals[j] += large[j].ln();
        }
    }
    totals
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
const LANES: usize = 16;

/// Numbers whose sum is formed in their own type before it is added in double precision.
const RUN: usize = 64 * LANES;

/// Sums over `y` and what `out` holds of each, which is then replaced by `g`: the first of what `f` makes
/// of them, and the sums of the others.
///
/// Cheap steps only: what is dear is done before, number by number, in a loop that a compiler turns into whole vectors by itself.
#[inline(always)]
pub(super) fn lanes<T: Real>(y: &[T], out: &mut [T], f: impl Fn(T, T) -> (T, T, T)) -> [f64; 2] {
    let mut totals = [0.0; 2];
    for (y, out) in y.chunks(RUN).zip(out.chunks_mut(RUN)) {
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
        totals[0] += first.iter().map(|x| x.to_f64()).sum::<f64>();
        totals[1] += second.iter().map(|x| x.to_f64()).sum::<f64>();
    }
    totals
}

/// `Σ log(1 + |t|)`, by one logarithm of the product of 512 factors, each of which is at most 2: no lane leaves the range of single
/// precision, nor all of them that of double.
#[inline(always)]
pub(super) fn logarithms<T: Real>(t: &[T]) -> f64 {
    let one = T::from_f64(1.0);
    let mut total = 0.0;
    for t in t.chunks(32 * LANES) {
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
        total += product.iter().map(|x| x.to_f64()).product::<f64>().ln();
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    const ALL: [Contrast; 5] =
        [Contrast::LogCosh(1.0), Contrast::LogCosh(0.5), Contrast::Exp, Contrast::Cube, Contrast::Skew];

    fn naive(c: Contrast, y: f64) -> (f64, f64, f64) {
        match c {
            Contrast::LogCosh(a) => ((a * y).tanh(), a * (1.0 - (a * y).tanh().powi(2)), log_cosh(a * y) / a),
            Contrast::Exp => {
                let e = (-y * y / 2.0).exp();
                (y * e, (1.0 - y * y) * e, -e)
            }
            Contrast::Cube => (y.powi(3), 3.0 * y * y, y.powi(4) / 4.0),
            Contrast::Skew => (y * y, 2.0 * y, y.powi(3) / 3.0),
        }
    }

    #[test]
    fn sums_are_those_of_the_formulas_whatever_the_length() {
        let s = Stream::new(5, 0);
        for n in [1usize, 15, 16, 17, 511, 512, 513, 2000] {
            let y: Vec<f64> = (0..n).map(|i| 3.0 * s.normal(i as u64)).collect();
            let narrow: Vec<f32> = y.iter().map(|&v| v as f32).collect();
            for c in ALL {
                let (mut out, mut small) = (vec![0.0; n], vec![0.0f32; n]);
                let (found, single) = (c.apply(&y, &mut out), c.apply(&narrow, &mut small));
                let (mut slope, mut loss, mut size) = (0.0, 0.0, 1.0);
                for (y, g) in y.iter().zip(&out) {
                    let want = naive(c, *y);
                    assert!((g - want.0).abs() <= 1e-15 * want.0.abs().max(1e-3), "{c:?} of {y}");
                    (slope, loss) = (slope + want.1, loss + want.2);
                    size += want.1.abs() + want.2.abs();
                }
                assert!((found.slope - slope).abs() < 1e-14 * size, "{c:?}, {n}: slope");
                assert!((found.loss - loss).abs() < 1e-14 * size, "{c:?}, {n}: loss");
                assert!((single.slope - slope).abs() < 2e-6 * size, "{c:?}, {n}: slope in f32");
                assert!((single.loss - loss).abs() < 2e-6 * size, "{c:?}, {n}: loss in f32");
            }
        }
    }

    #[test]
    fn columns_are_summed_as_each_by_itself() {
        let s = Stream::new(6, 0);
        for (n, k, width) in [(1, 3, 4), (95, 8, 8), (97, 13, 16), (2000, 21, 24)] {
            let mut y = vec![0.0; n * width];
            for r in 0..n {
                (0..k).for_each(|j| y[r * width + j] = 3.0 * s.normal((r * k + j) as u64));
            }
            let narrow: Vec<f32> = y.iter().map(|&v| v as f32).collect();
            for c in ALL {
                let (mut out, mut slope, mut loss) = (vec![0.0; y.len()], vec![1.0; k], vec![1.0; k]);
                c.apply_to_columns(&y, &mut out, width, &mut slope, &mut loss);
                let (mut small, mut slope32, mut loss32) = (vec![0f32; y.len()], vec![1.0; k], vec![1.0; k]);
                c.apply_to_columns(&narrow, &mut small, width, &mut slope32, &mut loss32);
                for j in 0..k {
                    let column: Vec<f64> = (0..n).map(|r| y[r * width + j]).collect();
                    let mut g = vec![0.0; n];
                    let want = c.apply(&column, &mut g);
                    let size =
                        1.0 + column.iter().map(|&y| naive(c, y).1.abs() + naive(c, y).2.abs()).sum::<f64>();
                    assert!((slope[j] - 1.0 - want.slope).abs() < 1e-13 * size, "{c:?}: slope of column {j}");
                    assert!((loss[j] - 1.0 - want.loss).abs() < 1e-13 * size, "{c:?}: loss of column {j}");
                    assert!((slope32[j] - 1.0 - want.slope).abs() < 2e-6 * size, "{c:?}: slope in f32");
                    assert!((loss32[j] - 1.0 - want.loss).abs() < 2e-6 * size, "{c:?}: loss in f32");
                    assert!((0..n).all(|r| out[r * width + j] == g[r]), "{c:?}: scores of column {j}");
                }
            }
        }
    }

    #[test]
    fn slopes_are_differences_of_the_functions() {
        for c in ALL {
            for y in [-2.3, -0.4, 0.7, 1.9] {
                let h = 1e-5;
                let (up, down) = (naive(c, y + h), naive(c, y - h));
                assert!(((up.2 - down.2) / (2.0 * h) - naive(c, y).0).abs() < 1e-9, "{c:?}");
                assert!(((up.0 - down.0) / (2.0 * h) - naive(c, y).1).abs() < 1e-9, "{c:?}");
            }
        }
    }

    #[test]
    fn what_is_said_of_gaussians_is_so() {
        for c in ALL {
            let mean = by_quadrature(|y| naive(c, y).2);
            assert!((c.of_gaussian() - mean).abs() < 1e-12, "{c:?}: {mean}");
            let tau = |y: f64| naive(c, y).1 - y * naive(c, y).0;
            // What is left when the parts that a known mean and variance explain are taken away.
            let (a, b) = (by_quadrature(|y| tau(y) * y), by_quadrature(|y| tau(y) * (y * y - 1.0)) / 2.0);
            let rest = by_quadrature(|y| (tau(y) - a * y - b * (y * y - 1.0)).powi(2)).sqrt();
            assert!(by_quadrature(tau).abs() < 1e-12, "{c:?}");
            assert!((c.deviation_of_gaussian() / rest - 1.0).abs() < 1e-3, "{c:?}: {rest}");
        }
    }

    #[test]
    #[ignore = "prints times"]
    fn times() {
        fn time<T: Real>(name: &str) {
            let s = Stream::new(1, 0);
            let y: Vec<T> = (0..512).map(|i| T::from_f64(s.normal(i))).collect();
            let mut out = y.clone();
            for c in ALL {
                let begun = std::time::Instant::now();
                for _ in 0..20_000 {
                    std::hint::black_box(c.apply(std::hint::black_box(&y), &mut out));
                }
                println!("{name} {c:?}: {:.3} ns", begun.elapsed().as_secs_f64() * 1e9 / (20_000.0 * 512.0));
            }
        }
        time::<f64>("f64");
        time::<f32>("f32");
    }
}
