//! Many draws at a time, without branches, so that loops over them are vectorised.
//!
//! A *row* of draws has a number; draw `i` of it depends on the stream, this number and `i` alone, and the bits are the same on every
//! processor: only correctly rounded operations of IEEE 754 are used.
//!
//! ```text
//! (k1, k2) = 64 bits of the stream for the number of the row
//! bits(i)  = mix(mix(i + k1) ^ k2)         mix: a bijection of 32-bit integers, every bit of whose result depends on all of its argument
//! ```
//!
//! Draws are of 32 bits, because a vector has twice as many lanes of 32 bits as of 64, and AVX2 has no product of 64 bits.

mod elementary;

use super::random::Stream;
use super::simd::{SIMD_WIDTH, padded, put};
use super::{Real, widest};

pub(crate) use elementary::Drawn;

/// A row of draws.
#[derive(Clone, Copy)]
struct Row {
    keys: [u32; 2],
}

/// The finaliser of MurmurHash3 (Appleby 2011).
#[inline(always)]
fn mix(mut z: u32) -> u32 {
    z = (z ^ (z >> 16)).wrapping_mul(0x85eb_ca6b);
    z = (z ^ (z >> 13)).wrapping_mul(0xc2b2_ae35);
    z ^ (z >> 16)
}

impl Row {
    fn of(draws: Stream, number: u64) -> Self {
        let bits = draws.bits(number);
        Self { keys: [bits as u32, (bits >> 32) as u32] }
    }

    /// 32 random bits each: draws `first`, `first + 1`, ...
    #[inline(always)]
    fn bits(self, first: u32) -> [u32; SIMD_WIDTH] {
        let mut out = [0; SIMD_WIDTH];
        for (l, bits) in out.iter_mut().enumerate() {
            let i = first.wrapping_add(l as u32);
            *bits = mix(mix(i.wrapping_add(self.keys[0])) ^ self.keys[1]);
        }
        out
    }

    /// Uniform in [0, 1).
    #[inline(always)]
    fn uniforms<T: Real>(self, first: u32) -> [T; SIMD_WIDTH] {
        let (bits, mut out) = (self.bits(first), [T::default(); SIMD_WIDTH]);
        out.iter_mut().zip(bits).for_each(|(u, bits)| *u = T::uniform_of(bits));
        out
    }
}

/// `f(u)` of uniform draws from [0, 1) of row `number`, for each number of `given`.
#[inline(always)]
fn each_uniform<T: Real>(
    draws: Stream,
    number: u64,
    to: &mut [T],
    given: &[T],
    f: impl Fn(T, T) -> T + Copy,
) {
    let row = Row::of(draws, number);
    widest(
        #[inline(always)]
        || {
            let ((to, left), (given, also_left)) = (to.as_chunks_mut(), given.as_chunks());
            for (part, (to, given)) in to.iter_mut().zip(given).enumerate() {
                *to = vector_of(row, part, *given, f);
            }
            if !left.is_empty() {
                put(vector_of(row, to.len(), padded(also_left), f), left);
            }
        },
    );
}

#[inline(always)]
fn vector_of<T: Real>(
    row: Row,
    part: usize,
    given: [T; SIMD_WIDTH],
    f: impl Fn(T, T) -> T,
) -> [T; SIMD_WIDTH] {
    let (u, mut out) = (row.uniforms::<T>((SIMD_WIDTH * part) as u32), [T::default(); SIMD_WIDTH]);
    for l in 0..SIMD_WIDTH {
        out[l] = f(u[l], given[l]);
    }
    out
}

/// Draws of 0 and 1: `to[i]` is 1 with probability `of[i]`, rounded up to a multiple of 2^-24 (single precision) or 2^-32, by draw `i` of
/// row `number`. The slices have the same length.
pub(crate) fn bernoulli<T: Real>(draws: Stream, number: u64, of: &[T], to: &mut [T]) {
    let (zero, one) = (T::default(), T::from_f64(1.0));
    each_uniform(
        draws,
        number,
        to,
        of,
        #[inline(always)]
        move |u, p| if u < p { one } else { zero },
    );
}

/// Copies `x` to `to`, but 0 with probability `share`, by the draws of row `number`.
pub(crate) fn mask<T: Real>(draws: Stream, number: u64, share: f64, x: &[T], to: &mut [T]) {
    let (zero, share) = (T::default(), T::from_f64(share));
    each_uniform(
        draws,
        number,
        to,
        x,
        #[inline(always)]
        move |u, x| if u < share { zero } else { x },
    );
}

/// Adds normal numbers of mean 0 and these standard deviations to the numbers of `to`, by the draws of row `number`: the Box-Muller
/// method, both numbers of each pair. Single precision has 23 random bits for the radius, at most 5.8, double precision 32, at most 6.8.
pub(crate) fn add_normal<T: Real>(draws: Stream, number: u64, deviations: &[T], to: &mut [T]) {
    let row = Row::of(draws, number);
    widest(
        #[inline(always)]
        || {
            let ((to, left), (by, also_left)) =
                (to.as_chunks_mut::<PAIRS>(), deviations.as_chunks::<PAIRS>());
            for (part, (to, by)) in to.iter_mut().zip(by).enumerate() {
                *to = noisy(row, part, by, to);
            }
            if !left.is_empty() {
                let (mut x, mut by) = ([T::default(); PAIRS], [T::default(); PAIRS]);
                x[..left.len()].copy_from_slice(left);
                by[..left.len()].copy_from_slice(also_left);
                left.copy_from_slice(&noisy(row, to.len(), &by, &x)[..left.len()]);
            }
        },
    );
}

/// Numbers of `SIMD_WIDTH` pairs.
const PAIRS: usize = 2 * SIMD_WIDTH;

#[inline(always)]
fn noisy<T: Real>(row: Row, part: usize, by: &[T; PAIRS], x: &[T; PAIRS]) -> [T; PAIRS] {
    let ([cosine, sine], mut out) = (normals::<T>(row, (PAIRS * part) as u32), [T::default(); PAIRS]);
    for l in 0..SIMD_WIDTH {
        out[l] = x[l] + by[l] * cosine[l];
    }
    for l in 0..SIMD_WIDTH {
        out[SIMD_WIDTH + l] = x[SIMD_WIDTH + l] + by[SIMD_WIDTH + l] * sine[l];
    }
    out
}

/// `r cos(2 pi v)` and `r sin(2 pi v)` with `r^2 = -2 log u`, of `SIMD_WIDTH` pairs, by draws `first` and following.
#[inline(always)]
fn normals<T: Real>(row: Row, first: u32) -> [[T; SIMD_WIDTH]; 2] {
    let (u, v) = (row.bits(first), row.uniforms::<T>(first.wrapping_add(SIMD_WIDTH as u32)));
    let (mut cosine, mut sine) = ([T::default(); SIMD_WIDTH], [T::default(); SIMD_WIDTH]);
    let of = u.into_iter().zip(v);
    for ((x, y), (u, v)) in cosine.iter_mut().zip(&mut sine).zip(of) {
        let radius = T::radius_of(u);
        let (c, s) = T::cos_sin(v);
        (*x, *y) = (radius * c, radius * s);
    }
    [cosine, sine]
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
            std::f64::consts::SQRT_2 / 2.0,
            0.375,
            1e-9,
            0.999_999,
        ];
        let drawn = (0..100_000).map(|i| draws.uniform(i));
        for u in edges.into_iter().chain(drawn) {
            let found = elementary::f64::log(u);
            assert!(
                (found - u.ln()).abs() <= 4e-16 * u.ln().abs().max(1e-3),
                "log of {u}: {found} and {}",
                u.ln()
            );
            let ((c, s), at) = (f64::cos_sin(u), 2.0 * std::f64::consts::PI * u);
            // The argument of the standard library's functions is rounded: half a unit of a number up to 2 pi.
            assert!(
                (c - at.cos()).abs() < 1e-15 && (s - at.sin()).abs() < 1e-15,
                "{u}: {c} {s}, {} {}",
                at.cos(),
                at.sin()
            );
        }
    }

    #[test]
    fn those_of_single_precision_are_rounded_in_the_last_places() {
        let draws = Stream::new(6, 3);
        for bits in (0..100_000).map(|i| draws.bits(i) as u32).chain([0, u32::MAX, 1 << 31, 511, 512]) {
            let u = (2.0 * f64::from(bits >> 9) + 1.0) / f64::from(1 << 24);
            let (radius, want) = (f64::from(f32::radius_of(bits)), (-2.0 * u.ln()).sqrt());
            assert!((radius / want - 1.0).abs() < 3e-7, "radius of {u}: {radius}, {want}");
            let v = f32::uniform_of(bits);
            let ((c, s), at) = (f32::cos_sin(v), 2.0 * std::f64::consts::PI * f64::from(v));
            assert!((0.0..1.0).contains(&v) && v == (bits >> 8) as f32 / (1 << 24) as f32);
            assert!((f64::from(c) - at.cos()).abs() < 2e-7 && (f64::from(s) - at.sin()).abs() < 2e-7, "{v}");
        }
        let (least, most) = (f64::uniform_of(0), f64::uniform_of(u32::MAX));
        assert!(least == 0.0 && most < 1.0 && f64::radius_of(0) < 6.8 && f32::radius_of(0) < 5.8);
    }

    fn are_moments<T: Real>(number: u64) {
        let (draws, n) = (Stream::new(4, 9), 200_000);
        let (mut z, on) = (vec![T::default(); n], vec![T::from_f64(1.0); n]);
        add_normal(draws, number, &on, &mut z);
        let z: Vec<f64> = z.iter().map(|z| z.to_f64()).collect();
        let mean = |f: &dyn Fn(f64) -> f64| z.iter().map(|z| f(*z)).sum::<f64>() / n as f64;
        // Standard errors: 0.0022, 0.0032, 0.022, 0.0005 (the tail) and 0.0022; four of them allowed.
        assert!(mean(&|z| z).abs() < 0.009);
        assert!((mean(&|z| z * z) - 1.0).abs() < 0.013);
        assert!((mean(&|z| z.powi(4)) - 3.0).abs() < 0.09);
        assert!((mean(&|z| f64::from(z > 1.959_964)) - 0.025).abs() < 0.0014);
        for lag in [1, SIMD_WIDTH, 2 * SIMD_WIDTH] {
            let r = z.iter().zip(&z[lag..]).map(|(a, b)| a * b).sum::<f64>() / n as f64;
            assert!(r.abs() < 0.009, "correlation {r} at lag {lag}");
        }
        let (of, mut to) = (vec![T::from_f64(0.3); n], vec![T::from_f64(0.5); n]);
        bernoulli(draws, number, &of, &mut to);
        let to: Vec<f64> = to.iter().map(|t| t.to_f64()).collect();
        assert!(to.iter().all(|t| *t == 0.0 || *t == 1.0));
        assert!((to.iter().sum::<f64>() / n as f64 - 0.3).abs() < 0.0041);
    }

    #[test]
    fn moments_are_those_of_the_named_distributions() {
        (0..4).for_each(are_moments::<f32>);
        (0..4).for_each(are_moments::<f64>);
    }

    /// Rows of a few draws each, as in training: column by column, and neighbouring rows.
    #[test]
    fn rows_do_not_correlate() {
        let (draws, n, k) = (Stream::new(9, 1), 100_000u64, 20);
        let (on, mut z) = (vec![1.0f32; k], vec![0.0f32; n as usize * k]);
        for (number, row) in (0..n).zip(z.chunks_exact_mut(k)) {
            add_normal(draws, number, &on, row);
        }
        for c in [0, 7, 16, 19] {
            let column = |shift: usize| z[shift * k + c..].iter().step_by(k).map(|z| f64::from(*z));
            let mean = column(0).sum::<f64>() / n as f64;
            let square = column(0).map(|z| z * z).sum::<f64>() / n as f64;
            let r = column(0).zip(column(1)).map(|(a, b)| a * b).sum::<f64>() / n as f64;
            // Four standard errors.
            assert!(
                mean.abs() < 0.0127 && (square - 1.0).abs() < 0.018 && r.abs() < 0.0127,
                "{c}: {mean} {square} {r}"
            );
        }
    }

    #[test]
    fn a_draw_depends_on_its_row_and_place_alone() {
        let draws = Stream::new(8, 2);
        let (on, mut all, mut part) = (vec![0.5f64; 100], vec![0.0f64; 100], vec![0.0f64; 36]);
        add_normal(draws, 3, &on, &mut all);
        add_normal(draws, 3, &on[..36], &mut part);
        assert_eq!(all[..16], part[..16]);
        assert_eq!(all[..36], part);
        let (ones, mut all, mut part) = (vec![1.0f32; 100], vec![0.0f32; 100], vec![0.0f32; 37]);
        mask(draws, 3, 0.4, &ones, &mut all);
        mask(draws, 3, 0.4, &ones[..37], &mut part);
        assert_eq!(all[..37], part);
        mask(draws, 4, 0.4, &ones[..37], &mut part);
        assert_ne!(all[..37], part);
        let mut off = vec![7.0f32; 40];
        add_normal(draws, 0, &[0.0; 40], &mut off);
        assert!(off.iter().all(|x| *x == 7.0));
        let mut certain = vec![0.5f32; 40];
        bernoulli(draws, 0, &[1.0; 40], &mut certain);
        assert!(certain.iter().all(|x| *x == 1.0));
        bernoulli(draws, 0, &[0.0; 40], &mut certain);
        assert!(certain.iter().all(|x| *x == 0.0));
    }
}
