//! Uniform numbers from random bits, and the two functions of the Box-Muller method, for both types of number.

/// A number type of random draws. The functions have no branches.
pub trait Drawn: Sized {
    /// Uniform in [0, 1): a multiple of 2^-24 (single precision) or 2^-32 (double precision).
    fn uniform_of(bits: u32) -> Self;
    /// `sqrt(-2 log u)` for `u` uniform in (0, 1): an odd multiple of 2^-24 or 2^-33.
    fn radius_of(bits: u32) -> Self;
    /// `cos(2 pi v)` and `sin(2 pi v)` for `0 <= v < 1`.
    fn cos_sin(v: Self) -> (Self, Self);
}

macro_rules! drawn {
    (
        $t:ident, digits $digits:literal, one $one:literal, whole $whole:literal, integer $integer:literal,
        uniform |$from:ident| $uniform:expr, open |$of:ident| $open:expr,
        log [$($log:expr),*], cosine [$($cosine:expr),*], sine [$($sine:expr),*]
    ) => {
        pub(super) mod $t {
            use crate::num::polynomial::polynomial;
            use std::$t::consts::{FRAC_PI_2, LN_2, SQRT_2};

            /// `log m = 2 artanh f`: the series, without the factor `f`.
            const LOG: &[$t] = &[$($log),*];
            const COSINE: &[$t] = &[$($cosine),*];
            const SINE: &[$t] = &[$($sine),*];

            /// Natural logarithm of a normal number between 0 and 1: `u = 2^k m`, `sqrt(1/2) <= m < sqrt(2)`, and
            /// `log m = 2 artanh f`, `f = (m - 1) / (m + 1)`, by its series, whose remainder is below half a unit in the last place.
            #[inline(always)]
            pub(in super::super) fn log(u: $t) -> $t {
                let bits = u.to_bits();
                let m = $t::from_bits((bits & ((1 << $digits) - 1)) | $one);
                // An integer in the last digits of this number is added to it.
                let k = $t::from_bits($integer | (bits >> $digits)) - $t::from_bits($integer | ($one >> $digits));
                let large = m >= SQRT_2;
                let (m, k) = (if large { 0.5 * m } else { m }, if large { k + 1.0 } else { k });
                let f = (m - 1.0) / (m + 1.0);
                k.mul_add(LN_2, f * polynomial(LOG, f * f))
            }

            /// `cos(2 pi v)` and `sin(2 pi v)`, `v` from 0 to 1: `4 v` is an integer `q` and a remainder of at most 1/2, of whose angle polynomials give both.
            #[inline(always)]
            pub(in super::super) fn cos_sin(v: $t) -> ($t, $t) {
                // A number added to `$whole` is rounded to an integer, the last digits of the sum.
                let shifted = 4.0 * v + $whole;
                let (q, angle) = (shifted.to_bits(), (4.0 * v - (shifted - $whole)) * FRAC_PI_2);
                let square = angle * angle;
                let (c, s) = (polynomial(COSINE, square), angle * polynomial(SINE, square));
                let (x, y) = if q & 1 == 0 { (c, s) } else { (s, c) };
                let x = if (q + 1) & 2 == 0 { x } else { -x };
                let y = if q & 2 == 0 { y } else { -y };
                (x, y)
            }

            impl super::Drawn for $t {
                #[inline(always)]
                fn uniform_of($from: u32) -> Self {
                    $uniform
                }
                #[inline(always)]
                fn radius_of($of: u32) -> Self {
                    (-2.0 * log($open)).sqrt()
                }
                #[inline(always)]
                fn cos_sin(v: Self) -> (Self, Self) {
                    cos_sin(v)
                }
            }
        }
    };
}

drawn!(
    f64, digits 52, one 0x3ff0_0000_0000_0000, whole 6_755_399_441_055_744.0, integer 0x4330_0000_0000_0000,
    uniform |bits| f64::from(bits) * (1.0 / 4_294_967_296.0),
    open |bits| (f64::from(bits) + 0.5) * (1.0 / 4_294_967_296.0),
    log [
        2.0, 2.0 / 3.0, 2.0 / 5.0, 2.0 / 7.0, 2.0 / 9.0, 2.0 / 11.0, 2.0 / 13.0, 2.0 / 15.0, 2.0 / 17.0, 2.0 / 19.0
    ],
    cosine [
        1.0, -1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40_320.0, -1.0 / 3_628_800.0, 1.0 / 479_001_600.0,
        -1.0 / 87_178_291_200.0, 1.0 / 20_922_789_888_000.0
    ],
    sine [
        1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5_040.0, 1.0 / 362_880.0, -1.0 / 39_916_800.0, 1.0 / 6_227_020_800.0,
        -1.0 / 1_307_674_368_000.0, 1.0 / 355_687_428_096_000.0
    ]
);
drawn!(
    f32, digits 23, one 0x3f80_0000, whole 12_582_912.0, integer 0x4b00_0000,
    uniform |bits| (bits >> 8) as i32 as f32 * (1.0 / 16_777_216.0),
    open |bits| (f32::from_bits(0x3f80_0000 | (bits >> 9)) - 1.0) + 0.5 * f32::EPSILON,
    log [2.0, 2.0 / 3.0, 2.0 / 5.0, 2.0 / 7.0, 2.0 / 9.0],
    cosine [1.0, -1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40_320.0],
    sine [1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5_040.0, 1.0 / 362_880.0]
);
