//! tanh, log cosh and exp of many numbers, the building blocks of nonlinearities, without branches, so that loops over them are
//! vectorised.
//!
//! ```text
//! e^a = 2^k e^r,   k = round(a / ln 2),   |r| <= ln 2 / 2         e^r - 1 by the best polynomial there
//! tanh x = x + x s N(s) / D(s),           |x| < 0.6, s = x^2     a convergent of x / (1 + s / (3 + s / (5 + ...)))
//! tanh x = sign(x) (1 - 2 / (e^2|x| + 1)) elsewhere
//! tanh x = h / (h + 1), h = expm1(2x) / 2       the faster form
//! log cosh x = log1p(f^2 / (2 (f + 1))),  f = expm1(-|x|)         from cosh x = 1 + 2 sinh^2(x/2): nothing cancels near 0
//! ```
//!
//! Only correctly rounded operations of IEEE 754 are used, fused multiply-add included, on one number at a time: the result has the
//! same bits wherever a number is in a slice, and on every processor. Largest errors, measured over all magnitudes, in units in the
//! last place of the true value: tanh 1.4 in double precision and 1.4 in single (2.6 and 2.5 in the faster form), log cosh 5.6 and
//! 4.7, exp 1.0 and 1.0. NaN, infinities, -0 and subnormal numbers have the correct results.

use super::{Real, widest};
use std::ops::{Add, Div, Mul, MulAssign, Neg, Sub};

/// Functions of one number, for both types. Inlined into loops that `widest` runs, they take about 1 ns per number in double
/// precision, a third of that in single.
pub trait Elementary:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + MulAssign
{
    /// Hyperbolic tangent.
    fn tanh_of(self) -> Self;
    /// Hyperbolic tangent with half of the operations and an error of up to 2.6 units in the last place: for sums over millions of numbers.
    fn tanh_about(self) -> Self;
    /// `log(cosh(x))`; 0 at 0 and asymptotically `|x| - log 2`, without overflow.
    fn log_cosh_of(self) -> Self;
    /// `e^x`, with underflow to 0 and overflow to infinity.
    fn exp_of(self) -> Self;
}

/// [`tanh`](Elementary::tanh_of) of every number, in place.
pub fn tanh<T: Elementary>(values: &mut [T]) {
    widest(
        #[inline(always)]
        || {
            for x in values.iter_mut() {
                *x = x.tanh_of();
            }
        },
    );
}

/// The logistic function `1 / (1 + e^-x)` of `x + b` for every row of `values` and the number `b` of its column, in place: `(1 + tanh(t / 2)) /
/// 2` by the faster form.
pub(crate) fn logistic<T: Real>(values: &mut [T], bias: &[T]) {
    let half = T::from_f64(0.5);
    widest(
        #[inline(always)]
        || {
            for row in values.chunks_exact_mut(bias.len()) {
                for (x, b) in row.iter_mut().zip(bias) {
                    *x = half + half * (half * (*x + *b)).tanh_about();
                }
            }
        },
    );
}

/// [`log cosh`](Elementary::log_cosh_of) of every number, in place.
pub fn log_cosh<T: Elementary>(values: &mut [T]) {
    widest(
        #[inline(always)]
        || {
            for x in values.iter_mut() {
                *x = x.log_cosh_of();
            }
        },
    );
}

/// [`exp`](Elementary::exp_of) of every number, in place.
pub fn exp<T: Elementary>(values: &mut [T]) {
    widest(
        #[inline(always)]
        || {
            for x in values.iter_mut() {
                *x = x.exp_of();
            }
        },
    );
}

macro_rules! elementary {
    (
        $t:ident, $int:ident, digits $digits:literal, bias $bias:literal, whole $whole:literal, ln2 $ln2_high:literal $ln2_low:literal,
        largest $largest:literal, exp $exp_low:literal $exp_high:literal, expm1 [$($expm1:expr),*], log [$($log:expr),*],
        small [$($n:expr),*] / [$($d:expr),*],
        half_sqrt $half_sqrt:literal
    ) => {
        mod $t {
            use crate::num::polynomial::polynomial;

            /// Coefficients of the polynomial in `expm1(r) = r + r^2 (...)`, about `1/2! + r/3! + ...`. Found by Remez' algorithm, which
            /// minimises the largest error of tanh.
            const EXPM1: &[$t] = &[$($expm1),*];
            /// The same for `expm1(2r) / 2 = r + r^2 (...)`.
            const HALF: [$t; EXPM1.len()] = {
                let (mut half, mut i, mut factor) = ([0.0; EXPM1.len()], 0, 2.0);
                while i < half.len() {
                    half[i] = factor * EXPM1[i];
                    (i, factor) = (i + 1, 2.0 * factor);
                }
                half
            };
            /// A constant whose unit in the last place is 1: a number added to it is rounded to an integer, whose last bits are the
            /// exponent.
            const WHOLE: $t = $whole + $bias as $t;
            /// `2/3 + 2 s/5 + ...`: `log((1+f)/(1-f)) = 2f + f s (...)`, `s = f^2`.
            const LOG: &[$t] = &[$($log),*];

            /// Numerator and denominator of the rational approximation of `(tanh x - x) / (x s)`.
            const N: &[$t] = &[$($n),*];
            const D: &[$t] = &[$($d),*];

            /// `k`, as an exponent in the last bits of a number, and `expm1(r)`, for `a = k ln 2 + r`.
            #[inline(always)]
            fn reduce(a: $t) -> ($int, $t) {
                let shifted = a.mul_add(std::$t::consts::LOG2_E, WHOLE);
                let k = shifted - WHOLE;
                let r = k.mul_add(-$ln2_low, k.mul_add(-$ln2_high, a));
                (shifted.to_bits(), polynomial(EXPM1, r).mul_add(r * r, r))
            }

            #[inline(always)]
            fn power_of_two(exponent: $int) -> $t {
                $t::from_bits(exponent << $digits)
            }

            /// `e^a - 1` and `e^a` for `a` from `-largest` to 0, or NaN.
            #[inline(always)]
            fn expm1_and_exp(a: $t) -> ($t, $t) {
                let (k, p) = reduce(a);
                let power = power_of_two(k);
                (power.mul_add(p, power - 1.0), power.mul_add(p, power))
            }

            /// `log(1 + x)` for non-negative `x`, or NaN.
            #[inline(always)]
            fn log1p(x: $t) -> $t {
                let u = 1.0 + x;
                // The rounding error of the sum, relative to it.
                let lost = if x > 1.0 { 1.0 - (u - x) } else { x - (u - 1.0) };
                // u = 2^k m with m between sqrt(1/2) and sqrt(2).
                let bits = u.to_bits().wrapping_sub($half_sqrt);
                let k = (bits >> $digits) as i32 as $t;
                let m = $t::from_bits((bits & ((1 << $digits) - 1)) + $half_sqrt);
                let near = u < std::$t::consts::SQRT_2;
                // Near 1 the argument has digits that the sum has lost.
                let (k, g, lost) = if near { (0.0, x, 0.0) } else { (k, m - 1.0, lost / u) };
                let f = g / (g + 2.0);
                let s = f * f;
                // log(1+g) = g - g^2/2 + f (g^2/2 + s (...)), with the relative accuracy of g.
                let half = 0.5 * g * g;
                let rest = f.mul_add(half + s * polynomial(LOG, s), k.mul_add($ln2_low, lost));
                k.mul_add($ln2_high, g - (half - rest))
            }

            impl super::Elementary for $t {
                #[inline(always)]
                fn tanh_of(self) -> Self {
                    let x = self.abs();
                    // Comparisons with NaN are false, so NaN is preserved.
                    let a = if x > 0.5 * $largest { $largest } else { 2.0 * x };
                    let (k, p) = reduce(a);
                    let power = power_of_two(k);
                    let s = x * x;
                    // One division serves both branches.
                    let small = x < 0.6;
                    let first = if small { x } else { 1.0 };
                    let over = if small { x * s * polynomial(N, s) } else { -2.0 };
                    let under = if small { polynomial(D, s) } else { power.mul_add(p, power) + 1.0 };
                    (first + over / under).copysign(self)
                }

                #[inline(always)]
                fn tanh_about(self) -> Self {
                    let x = self.abs();
                    let x = if x > 0.5 * $largest { 0.5 * $largest } else { x };
                    let shifted = x.mul_add(2.0 * std::$t::consts::LOG2_E, WHOLE);
                    let r = (shifted - WHOLE).mul_add(-0.5 * std::$t::consts::LN_2, x);
                    let p = polynomial(&HALF, r).mul_add(r * r, r);
                    let power = power_of_two(shifted.to_bits());
                    let h = power.mul_add(p, power.mul_add(0.5, -0.5));
                    (h / (h + 1.0)).copysign(self)
                }

                #[inline(always)]
                fn log_cosh_of(self) -> Self {
                    let a = self.abs();
                    let near = if a > $largest { $largest } else { a };
                    let (f, power) = expm1_and_exp(-near);
                    let y = log1p(0.5 * f * f / power);
                    if a > $largest { a - std::$t::consts::LN_2 } else { y }
                }

                #[inline(always)]
                fn exp_of(self) -> Self {
                    let a = if self > $exp_high { $exp_high } else { self };
                    let a = if a < $exp_low { $exp_low } else { a };
                    let (k, p) = reduce(a);
                    // In two factors: neither overflows or underflows where the product may.
                    let k = k.wrapping_sub($t::to_bits(WHOLE));
                    let first = ((k as i32) >> 1) as $int;
                    let second = k.wrapping_sub(first);
                    let power = |k: $int| power_of_two(k.wrapping_add($bias));
                    (1.0 + p) * power(first) * power(second)
                }
            }
        }
    };
}

elementary!(
    f64, u64, digits 52, bias 1023, whole 6755399441055744.0, ln2 0.6931471803691238 1.9082149292705877e-10,
    largest 40.0, exp -746.0 710.0,
    expm1 [
        0.5, 0.1666666666666668, 0.041666666666666935, 0.008333333333319978, 0.0013888888888824989, 0.00019841269890319007,
        2.480158736098551e-5, 2.7557240090922977e-6, 2.75572870693408e-7, 2.511042573326453e-8, 2.0901361812114977e-9
    ],
    log [2.0 / 3.0, 2.0 / 5.0, 2.0 / 7.0, 2.0 / 9.0, 2.0 / 11.0, 2.0 / 13.0, 2.0 / 15.0, 2.0 / 17.0, 2.0 / 19.0, 2.0 / 21.0],
    small [-675675.0, -45045.0, -594.0, -1.0] / [2027025.0, 945945.0, 51975.0, 630.0, 1.0],
    half_sqrt 0x3fe6a09e00000000
);
elementary!(
    f32, u32, digits 23, bias 127, whole 12582912.0, ln2 0.69314575 1.4286068e-6,
    largest 20.0, exp -104.0 89.0,
    expm1 [0.50000006, 0.16666524, 0.04166602, 0.008368423, 0.0013930985],
    log [2.0 / 3.0, 2.0 / 5.0, 2.0 / 7.0, 2.0 / 9.0, 2.0 / 11.0],
    small [-315.0, -14.0] / [945.0, 420.0, 15.0],
    half_sqrt 0x3f3504f3
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    /// A number of twice the precision, as the sum of two.
    #[derive(Clone, Copy)]
    struct DoubleDouble(f64, f64);

    impl DoubleDouble {
        fn sum(self, b: Self) -> Self {
            let s = self.0 + b.0;
            let t = s - self.0;
            let low = (self.0 - (s - t)) + (b.0 - t) + self.1 + b.1;
            DoubleDouble(s + low, low - ((s + low) - s))
        }
        fn times(self, b: Self) -> Self {
            let p = self.0 * b.0;
            let low = self.0.mul_add(b.0, -p) + self.0 * b.1 + self.1 * b.0;
            DoubleDouble(p + low, low - ((p + low) - p))
        }
        fn over(self, b: Self) -> Self {
            let q = self.0 / b.0;
            let rest = self.sum(b.times(DoubleDouble(-q, 0.0)));
            let more = (rest.0 + rest.1) / b.0;
            DoubleDouble(q + more, more - ((q + more) - q))
        }
        /// `e^x - 1` by Taylor's series at `x / 2^m`, and `expm1(2x) = e (e + 2)`.
        fn expm1(self) -> Self {
            let mut m = 0;
            let mut x = self;
            while x.0.abs() > 0.05 {
                (x, m) = (DoubleDouble(0.5 * x.0, 0.5 * x.1), m + 1);
            }
            let mut sum = DoubleDouble(0.0, 0.0);
            for i in (1..=18).rev() {
                sum = x.over(DoubleDouble(f64::from(i), 0.0)).times(sum.sum(DoubleDouble(1.0, 0.0)));
            }
            (0..m).fold(sum, |e, _| e.times(e.sum(DoubleDouble(2.0, 0.0))))
        }
    }

    fn tanh_wide(x: f64) -> DoubleDouble {
        let e = DoubleDouble(2.0 * x.abs().min(30.0), 0.0).expm1();
        let t = e.over(e.sum(DoubleDouble(2.0, 0.0)));
        DoubleDouble(t.0.copysign(x), t.1 * x.signum())
    }

    fn exp_wide(x: f64) -> DoubleDouble {
        let one = DoubleDouble(1.0, 0.0);
        let far = DoubleDouble(x.abs(), 0.0).expm1().sum(one);
        if x < 0.0 { one.over(far) } else { far }
    }

    /// One step of Halley's method from the logarithm in double precision.
    fn log_cosh_wide(x: f64) -> DoubleDouble {
        let f = DoubleDouble(x.abs(), 0.0).expm1();
        let s = f.times(f).over(f.sum(DoubleDouble(1.0, 0.0)));
        let s = DoubleDouble(0.5 * s.0, 0.5 * s.1);
        let y = DoubleDouble(s.0.ln_1p(), 0.0);
        let e = y.expm1();
        let gap = s.sum(DoubleDouble(-e.0, -e.1)).over(s.sum(e).sum(DoubleDouble(2.0, 0.0)));
        y.sum(DoubleDouble(2.0 * gap.0, 2.0 * gap.1))
    }

    /// Error in units in the last place of the true value, if that is a normal number.
    fn units(got: f64, truth: DoubleDouble, eps: f64) -> f64 {
        let place = 2f64.powi(truth.0.abs().log2().floor() as i32) * eps;
        ((got - truth.0) - truth.1).abs() / place
    }

    /// Numbers of every magnitude and both signs, more of them where the curvature of the functions is large.
    fn of_all_magnitudes(n: u64, low: f64, high: f64) -> Vec<f64> {
        let s = Stream::new(2, 0);
        (0..n)
            .map(|i| {
                let size = match i % 3 {
                    0 => (low.ln() + s.uniform(2 * i) * (high / low).ln()).exp(),
                    _ => 4.0 * s.uniform(2 * i) * if i % 3 == 1 { 1.0 } else { 6.0 },
                };
                if s.uniform(2 * i + 1) < 0.5 { -size } else { size }
            })
            .collect()
    }

    #[test]
    fn errors_are_within_the_stated_bounds() {
        let mut worst = [0.0f64; 8];
        let mut at = [0.0f64; 8];
        let mut see = |i: usize, e: f64, x: f64| {
            if e > worst[i] {
                (worst[i], at[i]) = (e, x)
            }
        };
        for x in of_all_magnitudes(150_000, 1e-300, 1e3) {
            see(0, units(x.tanh_of(), tanh_wide(x), f64::EPSILON), x);
            see(6, units(x.tanh_about(), tanh_wide(x), f64::EPSILON), x);
            if (1e-140..30.0).contains(&x.abs()) {
                see(1, units(x.log_cosh_of(), log_cosh_wide(x), f64::EPSILON), x);
            }
            if (1e-18..700.0).contains(&x.abs()) {
                see(2, units(x.exp_of(), exp_wide(x), f64::EPSILON), x);
            }
        }
        let narrow = f64::from(f32::EPSILON);
        for x in of_all_magnitudes(400_000, 1e-36, 1e2) {
            let (x, w) = (x as f32, f64::from(x as f32));
            see(3, units(f64::from(x.tanh_of()), DoubleDouble(w.tanh(), 0.0), narrow), w);
            see(7, units(f64::from(x.tanh_about()), DoubleDouble(w.tanh(), 0.0), narrow), w);
            if (1e-18..30.0).contains(&w.abs()) {
                see(4, units(f64::from(x.log_cosh_of()), DoubleDouble(w.log_cosh_of(), 0.0), narrow), w);
            }
            if w.abs() < 85.0 {
                see(5, units(f64::from(x.exp_of()), DoubleDouble(w.exp(), 0.0), narrow), w);
            }
        }
        let stated = [1.5, 6.0, 1.2, 1.5, 4.5, 1.2, 2.5, 2.5];
        assert!(worst.iter().zip(stated).all(|(w, p)| *w <= p), "{worst:?} {at:?}");
    }

    macro_rules! edges {
        ($t:ident, $far:expr) => {
            let inf = $t::INFINITY;
            for tiny in [0.0, $t::from_bits(1), 1e3 * $t::from_bits(1), $t::MIN_POSITIVE] {
                for x in [tiny, -tiny] {
                    assert_eq!(x.tanh_of().to_bits(), x.to_bits(), "{x:e}");
                    assert_eq!(x.tanh_about().to_bits(), x.to_bits(), "{x:e}");
                    assert_eq!(x.log_cosh_of().to_bits(), 0, "{x:e}");
                    assert_eq!(x.exp_of(), 1.0);
                }
            }
            for far in [$far, 100.0 * $far, $t::MAX, inf] {
                assert_eq!([far.tanh_of(), (-far).tanh_of()], [1.0, -1.0]);
                assert_eq!([far.tanh_about(), (-far).tanh_about()], [1.0, -1.0]);
                let line = far - std::$t::consts::LN_2;
                assert_eq!([far.log_cosh_of(), (-far).log_cosh_of()], [line, line]);
            }
            assert_eq!(
                [(-inf).exp_of(), $t::MIN.exp_of(), inf.exp_of(), $t::MAX.exp_of()],
                [0.0, 0.0, inf, inf]
            );
            let nan = $t::NAN;
            assert!(
                nan.tanh_of().is_nan()
                    && nan.tanh_about().is_nan()
                    && nan.log_cosh_of().is_nan()
                    && nan.exp_of().is_nan()
            );
        };
    }

    #[test]
    fn extreme_and_special_arguments() {
        edges!(f64, 22.0f64.max(45.0));
        edges!(f32, 21.0f32);
        // Subnormal values of the exponential are rounded once.
        assert!((-740.0f64).exp_of() > 0.0 && ((-740.0f64).exp_of() / (-740.0f64).exp() - 1.0).abs() < 0.3);
        assert_eq!((-800.0f64).exp_of(), 0.0);
    }

    #[test]
    fn a_number_has_the_same_bits_in_any_position() {
        let numbers = of_all_magnitudes(1003, 1e-9, 1e2);
        let whole = [tanh::<f64>, log_cosh, exp].map(|f| {
            let mut all = numbers.clone();
            f(&mut all);
            all
        });
        for (start, len) in [(0, 1), (1, 7), (5, 64), (3, 1000), (1002, 1)] {
            for (f, whole) in [tanh::<f64>, log_cosh, exp].into_iter().zip(&whole) {
                let mut part = numbers[start..start + len].to_vec();
                f(&mut part);
                assert_eq!(part, whole[start..start + len]);
            }
        }
        let narrow: Vec<f32> = numbers.iter().map(|&x| x as f32).collect();
        let mut all = narrow.clone();
        tanh(&mut all);
        assert!(narrow.iter().zip(&all).all(|(x, t)| x.tanh_of().to_bits() == t.to_bits()));
    }
}
