//! Means of columns and of single rows, with more precision than one number has.

use crate::num::{Real, widest};

/// Column means of `rows` (row-major, `p` columns), computed from the differences to the first row: the mean of a constant column
/// is exact, and a mean that is large relative to the deviations loses no precision. Returns the number of rows, or the sum of
/// their weights; rows of weight 0 are ignored.
///
/// A mean is written as the sum of two numbers: the nearest number to `out`, and the remainder to `rest`. The difference of two means that
/// are large relative to their deviations needs the precision of both.
pub(crate) fn means<T: Real>(
    rows: &[T],
    weights: Option<&[f64]>,
    p: usize,
    out: &mut [f64],
    rest: &mut [f64],
) -> f64 {
    widest(
        #[inline(always)]
        || match weights {
            None => means_of_all(rows, p, out, rest),
            Some(weights) => weighted_means(rows, weights, p, out, rest),
        },
    )
}

/// `a + b` as the nearest number and the remainder (Knuth 1969, volume 2, theorem 4.2.2 B).
#[inline(always)]
pub(crate) fn two_parts(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// Replaces the mean of a part of `n1` rows by that of the union with another of `n2` rows, `share = n2 / (n1 + n2)`; returns the
/// difference of the two means. Means are sums of two numbers each.
#[inline(always)]
pub(crate) fn merge_mean(mean: &mut f64, rest: &mut f64, other: (f64, f64), share: f64) -> f64 {
    let apart = (other.0 - *mean) + (other.1 - *rest);
    let (near, left) = two_parts(*mean, apart * share);
    (*mean, *rest) = two_parts(near, left + *rest);
    apart
}

#[inline(always)]
fn means_of_all<T: Real>(rows: &[T], p: usize, out: &mut [f64], rest: &mut [f64]) -> f64 {
    /// Rows that are added in registers before a sum is written to memory.
    const ROWS_PER_SUM: usize = 4;
    let n = (rows.len() / p) as f64;
    let first: Vec<f64> = rows[..p].iter().map(|x| x.to_f64()).collect();
    let out = &mut out[..p];
    out.fill(0.0);
    let mut fours = rows[p..].chunks_exact(ROWS_PER_SUM * p);
    for four in &mut fours {
        let (a, rest) = four.split_at(p);
        let (b, rest) = rest.split_at(p);
        let (c, d) = rest.split_at(p);
        for j in 0..p {
            let (sum, x0) = (out[j], first[j]);
            let sum = sum + (a[j].to_f64() - x0) + (b[j].to_f64() - x0);
            out[j] = sum + (c[j].to_f64() - x0) + (d[j].to_f64() - x0);
        }
    }
    for row in fours.remainder().chunks_exact(p) {
        for ((sum, x), x0) in out.iter_mut().zip(row).zip(&first) {
            *sum += x.to_f64() - x0;
        }
    }
    let means = out.iter_mut().zip(rest).zip(&first);
    means.for_each(|((mean, rest), x0)| (*mean, *rest) = two_parts(*x0, *mean / n));
    n
}

#[inline(always)]
fn weighted_means<T: Real>(rows: &[T], weights: &[f64], p: usize, out: &mut [f64], rest: &mut [f64]) -> f64 {
    out.fill(0.0);
    rest.fill(0.0);
    let mut weighed = rows.chunks_exact(p).zip(weights).filter(|(_, w)| **w > 0.0);
    let Some((first, w0)) = weighed.next() else { return 0.0 };
    let mut total = *w0;
    for (row, w) in weighed {
        total += w;
        for ((sum, x), x0) in out.iter_mut().zip(row).zip(first) {
            *sum += w * (x.to_f64() - x0.to_f64());
        }
    }
    let means = out.iter_mut().zip(rest).zip(first);
    means.for_each(|((mean, rest), x0)| (*mean, *rest) = two_parts(x0.to_f64(), *mean / total));
    total
}

/// Mean of one row, from the differences to its first entry, as the sum of two numbers; see [`means`]. In as many partial sums as
/// fill several registers.
pub(crate) fn mean_of<T: Real>(row: &[T]) -> (f64, f64) {
    const SUMS: usize = 32;
    widest(
        #[inline(always)]
        || {
            let first = row[0].to_f64();
            let (chunks, rest) = row.as_chunks::<SUMS>();
            let mut sums = [0.0; SUMS];
            for chunk in chunks {
                for (sum, x) in sums.iter_mut().zip(chunk) {
                    *sum += x.to_f64() - first;
                }
            }
            let rest: f64 = rest.iter().map(|x| x.to_f64() - first).sum();
            two_parts(first, (sums.iter().sum::<f64>() + rest) / row.len() as f64)
        },
    )
}
