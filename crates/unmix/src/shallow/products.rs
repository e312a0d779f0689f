//! Products of matrices whose parts are divided among threads.

use crate::num::{Real, kernel};
use rayon::prelude::*;

/// Rows of a batch that one thread processes at a time.
pub(super) const SLICE: usize = 32;
/// Rows of a gradient that one thread computes at a time.
const PART: usize = 32;
/// Multiplications below which a product stays on one thread: waking the others takes longer.
const SMALL: usize = 1 << 18;

/// The least number of parts of a thread, for products of `work` multiplications.
pub(super) fn least_parts(work: usize) -> usize {
    if work < SMALL { usize::MAX } else { 1 }
}

/// `out = a' b`: `a` is `n x p`, `b` is `n x k`, `out` is `p x k`, row-major, on the threads of the current pool.
pub(super) fn left_transposed<T: Real>(out: &mut [T], a: &[T], b: &[T], n: usize, p: usize, k: usize) {
    let parts = out.par_chunks_mut(PART * k).with_min_len(least_parts(n * p * k)).enumerate();
    parts.for_each(|(number, out)| kernel::rows_of_left_transposed(out, number * PART, (a, b), n, p, k));
}

/// `out += a`.
pub(super) fn add<T: Real>(out: &mut [T], a: &[T]) {
    out.iter_mut().zip(a).for_each(|(s, x)| *s += *x);
}

/// Sums of the columns of `a`, of `k` columns, in double precision.
pub(super) fn column_sums<T: Real>(out: &mut [T], a: &[T], k: usize) {
    let mut sums = vec![0.0f64; k];
    for row in a.chunks_exact(k) {
        sums.iter_mut().zip(row).for_each(|(s, x)| *s += x.to_f64());
    }
    out.iter_mut().zip(sums).for_each(|(to, s)| *to = T::from_f64(s));
}
