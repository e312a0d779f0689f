//! Small loops over the columns of a batch of codes, row-major, `k` wide.

use crate::num::{Real, widest};

/// Means of the columns.
pub(super) fn column_means<T: Real>(y: &[T], k: usize) -> Vec<f64> {
    let n = (y.len() / k) as f64;
    let mut sums = vec![T::default(); k];
    widest(
        #[inline(always)]
        || {
            for row in y.chunks_exact(k) {
                sums.iter_mut().zip(row).for_each(|(s, y)| *s += *y);
            }
        },
    );
    sums.iter().map(|s| s.to_f64() / n).collect()
}

/// Variances of the columns, divisor `n`.
pub(super) fn variances<T: Real>(y: &[T], k: usize) -> Vec<f64> {
    let n = (y.len() / k) as f64;
    let means = column_means(y, k);
    column_products(y, y, k).iter().zip(means).map(|(s, m)| (s / n - m * m).max(0.0)).collect()
}

/// `sum a_ij b_ij` over the rows `i`, for each column `j`.
pub(super) fn column_products<T: Real>(a: &[T], b: &[T], k: usize) -> Vec<f64> {
    let mut sums = vec![T::default(); k];
    widest(
        #[inline(always)]
        || {
            for (a, b) in a.chunks_exact(k).zip(b.chunks_exact(k)) {
                sums.iter_mut().zip(a).zip(b).for_each(|((s, a), b)| *s += *a * *b);
            }
        },
    );
    sums.iter().map(|s| s.to_f64()).collect()
}

pub(super) fn subtract_means<T: Real>(y: &mut [T], k: usize) {
    let means = column_means(y, k);
    subtract_columns(y, &means, k);
}

pub(super) fn subtract_columns<T: Real>(y: &mut [T], means: &[f64], k: usize) {
    let means: Vec<T> = means.iter().map(|m| T::from_f64(*m)).collect();
    widest(
        #[inline(always)]
        || {
            for row in y.chunks_exact_mut(k) {
                row.iter_mut().zip(&means).for_each(|(y, m)| *y -= *m);
            }
        },
    );
}

pub(super) fn scale_columns<T: Real>(y: &mut [T], by: &[T]) {
    widest(
        #[inline(always)]
        || {
            for row in y.chunks_exact_mut(by.len()) {
                row.iter_mut().zip(by).for_each(|(y, s)| *y *= *s);
            }
        },
    );
}

pub(super) fn subtract<T: Real>(from: &mut [T], y: &[T]) {
    widest(
        #[inline(always)]
        || from.iter_mut().zip(y).for_each(|(t, y)| *t -= *y),
    );
}

pub(super) fn subtract_scaled<T: Real>(from: &mut [T], y: &[T], by: &[f64], k: usize) {
    let by: Vec<T> = by.iter().map(|b| T::from_f64(*b)).collect();
    for (t, y) in from.chunks_exact_mut(k).zip(y.chunks_exact(k)) {
        t.iter_mut().zip(y).zip(&by).for_each(|((t, y), b)| *t -= *y * *b);
    }
}
