//! Many draws of a stream at a time, without branches, so that loops over them are vectorised.
//!
//! Each draw depends on the stream and its own number alone, as elsewhere, and the bits are the same on every processor: only correctly
//! rounded operations of IEEE 754 are used.

use super::random::Stream;
use super::simd::CELL;
use super::{Real, widest};
use std::f64::consts::{FRAC_PI_2, LN_2, SQRT_2};

/// `f(u)` of uniform draws from the open interval (0, 1), for each number of `to`: draws `first`, `first + 1`, ...
#[inline(always)]
fn each_uniform<T: Real>(draws: Stream, first: u64, to: &mut [T], given: &[T], f: impl Fn(f64, T) -> T) {
    widest(
        #[inline(always)]
        || {
            for (number, (to, given)) in to.chunks_mut(CELL).zip(given.chunks(CELL)).enumerate() {
                let u = uniforms(draws, first.wrapping_add((CELL * number) as u64));
                for ((to, given), u) in to.iter_mut().zip(given).zip(u) {
                    *to = f(u, *given);
                }
            }
        },
    );
}

/// Draws of 0 and 1: `to[i]` is 1 with probability `of[i]`, by draw `first + i` of the stream. The slices have the same length.
pub(crate) fn bernoulli<T: Real>(draws: Stream, first: u64, of: &[T], to: &mut [T]) {
    let (zero, one) = (T::default(), T::from_f64(1.0));
    each_uniform(
        draws,
        first,
        to,
        of,
        #[inline(always)]
        |u, p| if u < p.to_f64() { one } else { zero },
    );
}

/// Copies `x` to `to`, but 0 with probability `share`, by draws `first`, `first + 1`, ... of the stream.
pub(crate) fn mask<T: Real>(draws: Stream, first: u64, share: f64, x: &[T], to: &mut [T]) {
    let zero = T::default();
    each_uniform(
        draws,
        first,
        to,
        x,
        #[inline(always)]
        |u, x| if u < share { zero } else { x },
    );
}

/// Number of draws of a stream that [`add_normal`] takes for `n` numbers.
pub(crate) fn draws_of_normal(n: usize) -> u64 {
    n.next_multiple_of(2 * CELL) as u64
}

/// Adds `size` times standard normal numbers to those of `to` whose entry in `where_true` is true, by draws `first` to
/// `first + draws_of_normal(n)` of the stream: the Box-Muller method, both numbers of each pair.
pub(crate) fn add_normal<T: Real>(draws: Stream, first: u64, size: f64, where_true: &[bool], to: &mut [T]) {
    widest(
        #[inline(always)]
        || {
            for (number, (to, varies)) in to.chunks_mut(2 * CELL).zip(where_true.chunks(2 * CELL)).enumerate()
            {
                let (cosine, sine) = normals(draws, first.wrapping_add((2 * CELL * number) as u64));
                let (left, right) = to.split_at_mut(to.len().min(CELL));
                let (on, also_on) = varies.split_at(left.len());
                add(left, on, &cosine, size);
                add(right, also_on, &sine, size);
            }
        },
    );
}

#[inline(always)]
fn add<T: Real>(to: &mut [T], varies: &[bool], z: &[f64; CELL], size: f64) {
    for ((to, varies), z) in to.iter_mut().zip(varies).zip(z) {
        *to += T::from_f64(if *varies { size * z } else { 0.0 });
    }
}

/// Draws `first`, `first + 1`, ..., uniform in the open interval (0, 1): odd multiples of 2^-53.
#[inline(always)]
fn uniforms(draws: Stream, first: u64) -> [f64; CELL] {
    let (mut i, mut out) = ([0u64; CELL], [0.0; CELL]);
    for (l, i) in i.iter_mut().enumerate() {
        *i = draws.bits(first.wrapping_add(l as u64));
    }
    for (u, bits) in out.iter_mut().zip(i) {
        // 52 random bits as the digits of a number from 1 to 2.
        *u = (f64::from_bits(0x3ff0_0000_0000_0000 | (bits >> 12)) - 1.0) + 0.5 * f64::EPSILON;
    }
    out
}

/// `r cos(2 pi v)` and `r sin(2 pi v)` with `r^2 = -2 log u`, of `CELL` pairs.
#[inline(always)]
fn normals(draws: Stream, first: u64) -> ([f64; CELL], [f64; CELL]) {
    let (mut cosine, mut sine) = (uniforms(draws, first), uniforms(draws, first.wrapping_add(CELL as u64)));
    for (u, v) in cosine.iter_mut().zip(&mut sine) {
        let radius = (-2.0 * log(*u)).sqrt();
        let (c, s) = turn(*v);
        (*u, *v) = (radius * c, radius * s);
    }
    (cosine, sine)
}

/// Horner's rule; coefficients in ascending powers.
#[inline(always)]
fn polynomial<const N: usize>(c: [f64; N], x: f64) -> f64 {
    let mut sum = c[N - 1];
    for i in (0..N - 1).rev() {
        sum = sum.mul_add(x, c[i]);
    }
    sum
}

/// Natural logarithm of a normal number between 0 and 1: `u = 2^k m`, `sqrt(1/2) <= m < sqrt(2)`, and
/// `log m = 2 artanh f`, `f = (m - 1) / (m + 1)`, by its series, whose remainder is below 2^-53.
#[inline(always)]
fn log(u: f64) -> f64 {
    const SERIES: [f64; 10] = [
        2.0,
        2.0 / 3.0,
        2.0 / 5.0,
        2.0 / 7.0,
        2.0 / 9.0,
        2.0 / 11.0,
        2.0 / 13.0,
        2.0 / 15.0,
        2.0 / 17.0,
        2.0 / 19.0,
    ];
    /// An integer below 2^52 in the last digits of this number is added to it.
    const INTEGER: u64 = 0x4330_0000_0000_0000;
    let bits = u.to_bits();
    let m = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    let k = f64::from_bits(INTEGER | (bits >> 52)) - f64::from_bits(INTEGER | 1023);
    let large = m >= SQRT_2;
    let (m, k) = (if large { 0.5 * m } else { m }, if large { k + 1.0 } else { k });
    let f = (m - 1.0) / (m + 1.0);
    k.mul_add(LN_2, f * polynomial(SERIES, f * f))
}

/// `cos(2 pi v)` and `sin(2 pi v)` for `0 <= v < 1`: a quarter turn `q` and at most an eighth beside it.
#[inline(always)]
fn turn(v: f64) -> (f64, f64) {
    /// A number added to this is rounded to an integer, the last digits of the sum.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    const COSINE: [f64; 9] = [
        1.0,
        -1.0 / 2.0,
        1.0 / 24.0,
        -1.0 / 720.0,
        1.0 / 40_320.0,
        -1.0 / 3_628_800.0,
        1.0 / 479_001_600.0,
        -1.0 / 87_178_291_200.0,
        1.0 / 20_922_789_888_000.0,
    ];
    const SINE: [f64; 9] = [
        1.0,
        -1.0 / 6.0,
        1.0 / 120.0,
        -1.0 / 5_040.0,
        1.0 / 362_880.0,
        -1.0 / 39_916_800.0,
        1.0 / 6_227_020_800.0,
        -1.0 / 1_307_674_368_000.0,
        1.0 / 355_687_428_096_000.0,
    ];
    let shifted = 4.0 * v + WHOLE;
    let (q, angle) = (shifted.to_bits(), (4.0 * v - (shifted - WHOLE)) * FRAC_PI_2);
    let square = angle * angle;
    let (c, s) = (polynomial(COSINE, square), angle * polynomial(SINE, square));
    let (x, y) = if q & 1 == 0 { (c, s) } else { (s, c) };
    let x = if (q + 1) & 2 == 0 { x } else { -x };
    let y = if q & 2 == 0 { y } else { -y };
    (x, y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_sine_and_cosine_are_those_of_the_standard_library() {
        let draws = Stream::new(5, 3);
        let edges = [
            2f64.powi(-53),
            1.0 - 2f64.powi(-53),
            0.5,
            0.25,
            0.75,
            0.125,
            SQRT_2 / 2.0,
            0.375,
            1e-9,
            0.999_999,
        ];
        let drawn = (0..100_000).map(|i| draws.uniform(i));
        for u in edges.into_iter().chain(drawn) {
            assert!(
                (log(u) - u.ln()).abs() <= 4e-16 * u.ln().abs().max(1e-3),
                "log of {u}: {} and {}",
                log(u),
                u.ln()
            );
            let ((c, s), at) = (turn(u), 2.0 * std::f64::consts::PI * u);
            // The argument of the standard library's functions is rounded: half a unit of a number up to 2 pi.
            assert!(
                (c - at.cos()).abs() < 1e-15 && (s - at.sin()).abs() < 1e-15,
                "turn {u}: {c} {s}, {} {}",
                at.cos(),
                at.sin()
            );
        }
    }

    #[test]
    fn moments_are_those_of_the_named_distributions() {
        let (draws, n) = (Stream::new(4, 9), 200_000);
        let (mut z, on) = (vec![0.0f64; n], vec![true; n]);
        add_normal(draws, 0, 1.0, &on, &mut z);
        let mean = |f: &dyn Fn(f64) -> f64| z.iter().map(|z| f(*z)).sum::<f64>() / n as f64;
        // Standard errors: 0.0022, 0.0032, 0.022, 0.0005 (the tail) and 0.0022; four of them allowed.
        assert!(mean(&|z| z).abs() < 0.009);
        assert!((mean(&|z| z * z) - 1.0).abs() < 0.013);
        assert!((mean(&|z| z.powi(4)) - 3.0).abs() < 0.09);
        assert!((mean(&|z| f64::from(z > 1.959_964)) - 0.025).abs() < 0.0014);
        for lag in [1, CELL, 2 * CELL] {
            let r = z.iter().zip(&z[lag..]).map(|(a, b)| a * b).sum::<f64>() / n as f64;
            assert!(r.abs() < 0.009, "correlation {r} at lag {lag}");
        }
        let (of, mut to) = (vec![0.3f32; n], vec![0.5f32; n]);
        bernoulli(draws, 0, &of, &mut to);
        assert!(to.iter().all(|t| *t == 0.0 || *t == 1.0));
        assert!((to.iter().sum::<f32>() / n as f32 - 0.3).abs() < 0.0041);
    }

    #[test]
    fn a_draw_depends_on_its_number_alone() {
        let draws = Stream::new(8, 2);
        let (on, mut all, mut part) = (vec![true; 100], vec![0.0f64; 100], vec![0.0f64; 36]);
        add_normal(draws, 64, 0.5, &on, &mut all);
        add_normal(draws, 128, 0.5, &on[..36], &mut part);
        assert_eq!(all[64..], part);
        let (ones, mut all, mut part) = (vec![1.0f32; 100], vec![0.0f32; 100], vec![0.0f32; 37]);
        mask(draws, 3, 0.4, &ones, &mut all);
        mask(draws, 66, 0.4, &ones[63..], &mut part);
        assert_eq!(all[63..], part);
        let mut off = vec![7.0f32; 40];
        add_normal(draws, 0, 1.0, &[false; 40], &mut off);
        assert!(off.iter().all(|x| *x == 7.0));
    }
}
