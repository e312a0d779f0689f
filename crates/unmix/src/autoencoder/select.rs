//! Selection of the largest numbers without sorting: a lower bound from maxima of groups, then the few numbers that reach it.

use crate::num::Real;
use crate::num::simd::SIMD_WIDTH;
use std::cmp::Ordering;

/// Numbers of a group: one lane of this many cells.
const NUMBERS_PER_GROUP: usize = 8;

/// Appends the maxima of the groups of `u`.
#[inline(always)]
pub(super) fn maxima<T: Real>(u: &[T], tops: &mut Vec<T>) {
    let mut blocks = u.chunks_exact(NUMBERS_PER_GROUP * SIMD_WIDTH);
    for block in &mut blocks {
        let cells = block.as_chunks::<SIMD_WIDTH>().0;
        let mut top = cells[0];
        for cell in &cells[1..] {
            for l in 0..SIMD_WIDTH {
                top[l] = if cell[l] > top[l] { cell[l] } else { top[l] };
            }
        }
        tops.extend_from_slice(&top);
    }
    tops.extend_from_slice(blocks.remainder());
}

/// Descending order; NaN is last.
#[inline(always)]
fn descending<T: PartialOrd>(a: &T, b: &T) -> Ordering {
    b.partial_cmp(a).unwrap_or(Ordering::Equal)
}

/// A lower bound on the `k`-th largest number, from maxima of groups, which are reordered; 0 if it is not positive.
pub(super) fn bound<T: Real>(tops: &mut [T], k: usize) -> T {
    if k == 0 || tops.len() < k {
        return T::default();
    }
    let (_, kth, _) = tops.select_nth_unstable_by(k - 1, descending);
    if *kth > T::default() { *kth } else { T::default() }
}

/// Appends the positive numbers that are at least `bound`, with their indices.
#[inline(always)]
pub(super) fn reaching<T: Real>(u: &[T], bound: T, found: &mut Vec<(u32, T)>) {
    let mut first = 0;
    for part in u.chunks(SIMD_WIDTH) {
        let any = part.iter().fold(false, |any, x| any | (*x >= bound));
        if any {
            // No branches, which the processor could not predict: every number is written, and replaced by the next unless it is kept.
            let (mut kept, mut n) = ([(0, T::default()); SIMD_WIDTH], 0);
            for (j, x) in (first..).zip(part) {
                kept[n % SIMD_WIDTH] = (j, *x);
                n += usize::from(*x >= bound) & usize::from(*x > T::default());
            }
            found.extend_from_slice(&kept[..n]);
        }
        first += SIMD_WIDTH as u32;
    }
}

/// The `k` largest positive numbers of `u` with their indices, in ascending order of the indices; the first ones in case of ties.
#[inline(always)]
pub(super) fn largest<T: Real>(u: &[T], k: usize, tops: &mut Vec<T>, found: &mut Vec<(u32, T)>) {
    tops.clear();
    maxima(u, tops);
    let bound = bound(tops, k);
    found.clear();
    reaching(u, bound, found);
    if found.len() > k {
        found.select_nth_unstable_by(k - 1, |a, b| descending(&a.1, &b.1).then(a.0.cmp(&b.0)));
        found.truncate(k);
        found.sort_unstable_by_key(|(j, _)| *j);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    #[test]
    fn the_largest_are_those_of_a_sort_ties_included() {
        let draws = Stream::new(3, 0);
        for (m, k, grain) in [(5, 2, 1.0), (700, 32, 0.05), (2048, 32, 1e-9), (300, 290, 0.2), (129, 1, 0.5)]
        {
            let value = |j: u64| (draws.normal(1000 * m as u64 + j) / grain).round() * grain;
            let u: Vec<f64> = (0..m as u64).map(value).collect();
            let mut sorted: Vec<u32> = (0..m as u32).filter(|j| u[*j as usize] > 0.0).collect();
            sorted.sort_by(|a, b| u[*b as usize].total_cmp(&u[*a as usize]).then(a.cmp(b)));
            sorted.truncate(k);
            sorted.sort_unstable();
            let (mut tops, mut found) = (Vec::new(), Vec::new());
            largest(&u, k, &mut tops, &mut found);
            assert_eq!(found.iter().map(|f| f.0).collect::<Vec<_>>(), sorted, "{m} {k}");
            assert!(found.iter().all(|(j, x)| u[*j as usize] == *x));
        }
    }
}
