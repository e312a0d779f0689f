//! Sparse rows as an operator: products with a few directions, as if the rows had been centred.

use super::Sparse;
use super::sums::Counts;
use crate::error::Result;
use crate::num::{Matrix, Real};
use crate::run::Run;

/// Scores that are held at a time: 32 MiB.
const HELD: usize = 1 << 22;

/// Sparse rows less their mean, which are not sparse and are never formed.
///
/// With the shift `c` of [`Sparse::scatter`], `(x − μ)·v = Σ (x − c) v − (μ − c)·v`, where the sum has stored entries only.
pub(crate) struct Centred<'s, 'a, T: Real> {
    rows: &'s Sparse<'a, T>,
    counts: Counts<'s>,
    shift: Vec<f64>,
    /// What of the mean the shift leaves.
    rest: Vec<f64>,
}

impl<'s, 'a, T: Real> Centred<'s, 'a, T> {
    /// Rows about `mean`, each as often as `weights` says.
    pub(crate) fn new(rows: &'s Sparse<'a, T>, weights: Option<&'s [f64]>, mean: &[f64]) -> Self {
        let counts = Counts::new(weights, rows.n_rows());
        let (shift, rest) = rows.shift(mean, &counts);
        Self { rows, counts, shift, rest }
    }

    /// `Σ w (v·x) x` over centred rows `x`, for each of the `b` rows `v` of `directions`: `b x p`. `O(stored b + p b)`.
    pub(crate) fn image(&self, directions: &Matrix<f64>, run: &Run<'_>) -> Result<Matrix<f64>> {
        let b = directions.rows();
        let columns = directions.transposed();
        let mut base = vec![0.0; b];
        add_products(&mut base, self.rest.iter().enumerate().map(|(j, &r)| (r, columns.row(j))));
        self.carry(b, run, |i, out| {
            let w = self.counts.of(i);
            if w == 0.0 {
                return;
            }
            let (places, values) = self.rows.row(i);
            let entries = places.iter().zip(values);
            let entries =
                entries.map(|(&j, x)| (x.to_f64() - self.shift[j as usize], columns.row(j as usize)));
            add_products(out, entries);
            out.iter_mut().zip(&base).for_each(|(y, b)| *y = w * (*y - b));
        })
    }

    /// `Σ_i √w s_i x_i` over centred rows `x_i`, for each of the `k` rows `s` of `samples`, which are as long as there are rows.
    pub(crate) fn carried(&self, samples: &Matrix<f64>, run: &Run<'_>) -> Result<Matrix<f64>> {
        self.carry(samples.rows(), run, |i, out| {
            let root = self.counts.of(i).sqrt();
            out.iter_mut().enumerate().for_each(|(c, y)| *y = samples[(c, i)] * root);
        })
    }

    /// Inner products of the centred rows, in the lower triangle, each row times the root of its weight and each column divided
    /// by its scale, where it has one. `Σ_j s_j²/2` multiplications for columns of `s_j` stored entries, and one `n x n` table.
    pub(crate) fn inner_products(&self, scale: Option<&[f64]>, run: &Run<'_>) -> Result<Matrix<f64>> {
        let n = self.rows.n_rows();
        let unit = |j: usize| scale.map_or(1.0, |s| 1.0 / (s[j] * s[j]));
        let (shift, counts) = (&self.shift, &self.counts);
        // (x − c − r)·(y − c − r), with r the rest: the products with r are formed once for each row.
        let constant: f64 = self.rest.iter().enumerate().map(|(j, r)| r * r * unit(j)).sum();
        let along = |i: usize| -> f64 {
            let (columns, values) = self.rows.row(i);
            let entries = columns.iter().zip(values).map(|(&j, x)| (j as usize, x.to_f64()));
            entries.map(|(j, x)| (x - shift[j]) * self.rest[j] * unit(j)).sum()
        };
        let along: Vec<f64> = (0..n).map(|i| if counts.of(i) > 0.0 { along(i) } else { 0.0 }).collect();
        let mut lower = Matrix::zeros(n, n);
        self.rows.by_column();
        self.rows.fill(run, "inner products", lower.as_mut_slice(), n, |i, out| {
            let w = counts.of(i);
            if w == 0.0 {
                return;
            }
            let (columns, values) = self.rows.row(i);
            for (&j, x) in columns.iter().zip(values) {
                let j = j as usize;
                let a = (x.to_f64() - shift[j]) * unit(j);
                let (rows, values) = self.rows.by_column().line(j);
                let entries = rows.iter().zip(values).take_while(|(r, _)| **r as usize <= i);
                entries.for_each(|(&r, v)| out[r as usize] += a * (v.to_f64() - shift[j]));
            }
            for r in 0..=i {
                let v = counts.of(r);
                let centred = out[r] - along[i] - along[r] + constant;
                // Not a product with 0: what is left out may be anything.
                out[r] = if v == 0.0 { 0.0 } else { centred * (w * v).sqrt() };
            }
        })?;
        Ok(lower)
    }

    /// `Σ_i y_i x_iᵀ`, where `scores` adds the `b` numbers `y_i` of row `i` to what it is given.
    fn carry(
        &self,
        b: usize,
        run: &Run<'_>,
        scores: impl Fn(usize, &mut [f64]) + Sync,
    ) -> Result<Matrix<f64>> {
        let (n, p) = (self.rows.n_rows(), self.rows.n_features());
        let (mut image, mut sum, mut held) = (Matrix::zeros(p, b), vec![0.0; b], Vec::new());
        self.rows.by_column();
        let step = (HELD / b.max(1)).max(1);
        for start in (0..n).step_by(step) {
            let rows = start..(start + step).min(n);
            held.clear();
            held.resize(rows.len() * b, 0.0);
            self.rows.fill(run, "iterating", &mut held, b, |i, out| scores(start + i, out))?;
            held.chunks_exact(b.max(1)).for_each(|y| sum.iter_mut().zip(y).for_each(|(s, y)| *s += y));
            self.rows.fill(run, "iterating", image.as_mut_slice(), b, |j, out| {
                let (at, values) = self.rows.by_column().part(j, rows.clone());
                let entries = at.iter().zip(values).filter(|(i, _)| self.counts.of(**i as usize) > 0.0);
                let score = |i: u32| &held[(i as usize - start) * b..][..b];
                add_products(out, entries.map(|(&i, x)| (x.to_f64() - self.shift[j], score(i))));
            })?;
        }
        for (j, &rest) in self.rest.iter().enumerate().filter(|(_, r)| **r != 0.0) {
            image.row_mut(j).iter_mut().zip(&sum).for_each(|(x, s)| *x -= rest * s);
        }
        Ok(image.transposed())
    }
}

/// `out += Σ a v`.
fn add_products<'v>(out: &mut [f64], entries: impl Iterator<Item = (f64, &'v [f64])>) {
    for (a, v) in entries {
        out.iter_mut().zip(v).for_each(|(y, v)| *y += a * v);
    }
}
