//! Posteriors of the factors of many rows or columns ("lines"), in one table: transformed, selected, and summed.

use super::triangle;
use crate::num::{Matrix, fill_at_once, widest};
use serde::{Deserialize, Serialize};

/// Posteriors of the factors of rows or columns ("lines") of cells: for each line `k` means, the lower triangle of the covariance, the
/// logarithm of its determinant, and the misfit if requested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LinePosteriors {
    k: usize,
    table: Vec<f64>,
}

impl LinePosteriors {
    /// Numbers for each line with `k` factors.
    pub(crate) fn width(k: usize) -> usize {
        k + triangle(k) + 2
    }

    /// From a table of lines of [`width`](Self::width) numbers, each written by [`Conditional::of_line`](super::Conditional::of_line).
    pub(crate) fn new(k: usize, table: Vec<f64>) -> Self {
        Self { k, table }
    }

    /// Number of lines.
    pub(crate) fn len(&self) -> usize {
        self.table.len() / Self::width(self.k)
    }

    /// Number of factors.
    pub(crate) fn n_factors(&self) -> usize {
        self.k
    }

    /// Transforms the lines for which `changes` is true: the first factors `z` become `matrix z`, with `matrix` square, the others are
    /// multiplied by `scale`, and covariances accordingly. Determinants and misfits are unchanged. `O(lines k³)`, in so many threads.
    pub(crate) fn transform(
        &mut self,
        matrix: &Matrix<f64>,
        scale: f64,
        changes: impl Fn(usize) -> bool + Sync,
        threads: usize,
    ) {
        let (q, k) = (self.k, matrix.rows());
        let entry = |a: usize, b: usize| match (a < k, b < k) {
            (true, true) => matrix[(a, b)],
            (false, false) if a == b => scale,
            _ => 0.0,
        };
        let full = Matrix::from_fn(q, q, entry);
        let across = full.transposed();
        let line = |i: usize, line: &mut [f64]| {
            if !changes(i) {
                return;
            }
            let (mean, rest) = line.split_at_mut(q);
            let before = mean.to_vec();
            for (a, mean) in mean.iter_mut().enumerate() {
                *mean = full.row(a).iter().zip(&before).map(|(t, z)| t * z).sum();
            }
            widest(
                #[inline(always)]
                || rotate_covariance(&full, &across, &mut rest[..triangle(q)]),
            );
        };
        let (lines, width) = (self.len(), Self::width(q));
        fill_at_once(threads, lines * q * q, &mut self.table, width, line);
    }

    /// The posteriors of selected factors, in this order, each multiplied by a sign.
    pub(crate) fn chosen(&self, selected: &[(usize, f64)]) -> Self {
        let k = selected.len();
        let mut table = Vec::with_capacity(self.len() * Self::width(k));
        for i in 0..self.len() {
            let (mean, v) = (self.mean(i), self.covariance(i));
            table.extend(selected.iter().map(|(a, s)| s * mean[*a]));
            for (c, (a, s)) in selected.iter().enumerate() {
                table.extend(selected[..=c].iter().map(|(b, t)| s * t * v[triangle(*a.max(b)) + *a.min(b)]));
            }
            table.extend([self.log_determinant(i), self.misfit(i)]);
        }
        Self { k, table }
    }

    fn line(&self, i: usize) -> &[f64] {
        &self.table[i * Self::width(self.k)..(i + 1) * Self::width(self.k)]
    }

    /// Means of the factors of line `i`.
    pub(crate) fn mean(&self, i: usize) -> &[f64] {
        &self.line(i)[..self.k]
    }

    /// Covariance of the factors of line `i`: the lower triangle, row by row.
    pub(crate) fn covariance(&self, i: usize) -> &[f64] {
        &self.line(i)[self.k..self.k + triangle(self.k)]
    }

    /// Logarithm of the determinant of that covariance.
    pub(crate) fn log_determinant(&self, i: usize) -> f64 {
        self.line(i)[self.k + triangle(self.k)]
    }

    /// Expected sum of squared residuals of line `i`, under the posteriors of rows and columns.
    pub(crate) fn misfit(&self, i: usize) -> f64 {
        self.line(i)[self.k + triangle(self.k) + 1]
    }
}

/// Sum over lines with observed cells of `z z' + V`, a lower triangle, and the number of these lines.
pub(crate) fn second_moments(
    posteriors: &LinePosteriors,
    has_cells: impl Fn(usize) -> bool,
) -> (Vec<f64>, f64) {
    let k = posteriors.n_factors();
    let (mut sum, mut n) = (vec![0.0; triangle(k)], 0.0);
    for i in (0..posteriors.len()).filter(|i| has_cells(*i)) {
        n += 1.0;
        widest(
            #[inline(always)]
            || {
                let (z, v) = (posteriors.mean(i), posteriors.covariance(i));
                for a in 0..k {
                    let line = triangle(a)..=triangle(a) + a;
                    let sum = sum[line.clone()].iter_mut();
                    sum.zip(&v[line]).zip(z).for_each(|((s, v), b)| *s += z[a] * b + v);
                }
            },
        );
    }
    (sum, n)
}

/// `2 KL(q || prior)` of a line: `tr V + ||z||² - k - log|V|`.
pub(crate) fn twice_divergence(posteriors: &LinePosteriors, i: usize) -> f64 {
    let (k, z, v) = (posteriors.n_factors(), posteriors.mean(i), posteriors.covariance(i));
    let trace: f64 = (0..k).map(|a| v[triangle(a) + a] - 1.0).sum();
    trace + z.iter().map(|z| z * z).sum::<f64>() - posteriors.log_determinant(i)
}

/// `to += x from`, number by number.
#[inline(always)]
fn add_multiple(to: &mut [f64], x: f64, from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += x * from);
}

/// Replaces the lower triangle of `v` by that of `rotation v rotation'`; `across` is `rotation'`. Sums are over ascending indices, for a whole row of
/// the result at once.
#[inline(always)]
fn rotate_covariance(rotation: &Matrix<f64>, across: &Matrix<f64>, v: &mut [f64]) {
    let q = rotation.rows();
    let mut tables = vec![-0.0; 2 * q * q];
    let (whole, half) = tables.split_at_mut(q * q);
    for a in 0..q {
        for b in 0..=a {
            whole[a * q + b] = v[triangle(a) + b];
            whole[b * q + a] = v[triangle(a) + b];
        }
    }
    for (a, half) in half.chunks_exact_mut(q.max(1)).enumerate() {
        for (x, line) in rotation.row(a).iter().zip(whole.chunks_exact(q)) {
            add_multiple(half, *x, line);
        }
        let out = &mut v[triangle(a)..=triangle(a) + a];
        out.fill(-0.0);
        for (c, x) in half.iter().enumerate() {
            add_multiple(out, *x, &across.row(c)[..=a]);
        }
    }
}

#[cfg(test)]
mod tests;
