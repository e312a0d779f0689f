//! Sums of many vectors, a part of the numbers at a time, whose sums stay in registers.

use super::simd::instructions;
use super::widest;

/// Numbers of a register.
const NUMBERS: usize = 8;

/// Largest number of groups of sums in registers: of the 32 of 64 bytes, and half of it where they are 16 of 32 bytes or 32 of 16 bytes.
const REGISTERS: usize = 12;

/// `sums += Σ a v` over `(a, v)`, where each `v` has at least as many numbers as `sums`: one term after the other, so that bits are those of the plain
/// loop. The terms are listed again for every 40 to 96 numbers.
pub(crate) fn add_multiples<'v>(sums: &mut [f64], terms: impl Iterator<Item = (f64, &'v [f64])> + Clone) {
    widest(
        #[inline(always)]
        || add_to_parts(sums, terms),
    );
}

/// [`add_multiples`], inlined into loops that are compiled for the [widest] vectors.
#[inline(always)]
pub(crate) fn add_to_parts<'v>(sums: &mut [f64], terms: impl Iterator<Item = (f64, &'v [f64])> + Clone) {
    let width = sums.len();
    if width < NUMBERS {
        return terms.for_each(|(a, v)| sums.iter_mut().zip(v).for_each(|(sum, v)| *sum += a * v));
    }
    let most = match instructions() {
        #[cfg(target_arch = "x86_64")]
        super::simd::Instructions::Avx512 => REGISTERS,
        _ => REGISTERS / 2,
    };
    let mut start = 0;
    while start < width {
        // At least a register's numbers are left for the last part.
        let size = match width - start {
            left if left <= most * NUMBERS => left,
            _ => (most - 1) * NUMBERS,
        };
        let (part, terms) = (&mut sums[start..start + size], terms.clone());
        match size.div_ceil(NUMBERS) {
            1 => add_part::<1>(part, terms, start),
            2 => add_part::<2>(part, terms, start),
            3 => add_part::<3>(part, terms, start),
            4 => add_part::<4>(part, terms, start),
            5..=6 => add_part::<6>(part, terms, start),
            7..=8 => add_part::<8>(part, terms, start),
            9..=10 => add_part::<10>(part, terms, start),
            _ => add_part::<REGISTERS>(part, terms, start),
        }
        start += size;
    }
}

/// Adds numbers of the terms from `start` on to at least [`NUMBERS`] sums in `G` registers. The last registers end with the last number, and may overlap
/// others: numbers in several registers have the same sums there.
#[inline(always)]
fn add_part<'v, const G: usize>(
    sums: &mut [f64],
    terms: impl Iterator<Item = (f64, &'v [f64])>,
    start: usize,
) {
    let (size, last) = (sums.len(), sums.len() - NUMBERS);
    let mut registers = [[0.0; NUMBERS]; G];
    for (g, register) in registers.iter_mut().enumerate() {
        let at = (g * NUMBERS).min(last);
        register.copy_from_slice(&sums[at..at + NUMBERS]);
    }
    for (a, v) in terms {
        let v = &v[start..start + size];
        for (g, register) in registers.iter_mut().enumerate() {
            let at = (g * NUMBERS).min(last);
            let v = &v[at..at + NUMBERS];
            for l in 0..NUMBERS {
                register[l] += a * v[l];
            }
        }
    }
    for (g, register) in registers.iter().enumerate() {
        let at = (g * NUMBERS).min(last);
        sums[at..at + NUMBERS].copy_from_slice(register);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    /// Widths around those at which the number of registers and of parts changes.
    #[test]
    fn bits_are_those_of_the_plain_loop() {
        let s = Stream::new(4, 0);
        for width in (0..30).chain([55, 66, 95, 96, 97, 103, 192, 231]) {
            let table: Vec<f64> = (0..50 * width).map(|i| s.normal(i as u64)).collect();
            let terms = (0..50).map(|i| (s.normal(90_000 + i as u64), &table[i * width..][..width]));
            let mut found: Vec<f64> = (0..width).map(|i| s.normal(80_000 + i as u64)).collect();
            let mut expected = found.clone();
            add_multiples(&mut found, terms.clone());
            for (a, v) in terms {
                expected.iter_mut().zip(v).for_each(|(sum, v)| *sum += a * v);
            }
            assert!(found.iter().zip(&expected).all(|(x, y)| x.to_bits() == y.to_bits()), "{width}");
        }
    }
}
