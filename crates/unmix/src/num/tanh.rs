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

/// Functions of one number, for both types, to be inlined into loops that `widest` runs.
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
pub(crate) fn tanh<T: Elementary>(values: &mut [T]) {
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
mod tests;
