//! Mean and scatter of sparse rows, from their stored entries.
//!
//! Sums are taken about a shift `c` that leaves unstored entries alone: `c_j` is the mean of columns that are stored in every
//! row, so that a large offset costs them no digits, and 0 elsewhere. Then
//!
//! ```text
//! Σ w (x − μ)(x − μ)ᵀ = Σ w (x − c)(x − c)ᵀ − W (μ − c)(μ − c)ᵀ
//! ```
//!
//! loses no more than a factor `1/(1 − share stored)` to cancellation, and its diagonal, formed in two passes, nothing.
//! Each line of the result is added up by itself (Gustavson 1978, ACM TOMS 4:250), which needs the entries by row and by column.

use super::{Sparse, check_list};
use crate::error::Result;
use crate::num::{Matrix, Real};
use crate::run::Run;
use crate::stats::{Moments, Scatter};

/// How often each row counts.
#[derive(Clone, Copy)]
pub(super) struct Counts<'w> {
    weights: Option<&'w [f64]>,
    /// Sum of the weights.
    pub(super) total: f64,
    /// Rows that count at all.
    rows: usize,
}

impl<'w> Counts<'w> {
    pub(super) fn new(weights: Option<&'w [f64]>, n: usize) -> Self {
        match weights {
            None => Self { weights, total: n as f64, rows: n },
            Some(w) => Self { weights, total: w.iter().sum(), rows: w.iter().filter(|w| **w > 0.0).count() },
        }
    }

    /// The weight of row `i`.
    pub(super) fn of(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[i])
    }
}

impl<T: Real> Sparse<'_, T> {
    /// Number, mean and sum of squares about the mean of each column. `O(stored + p)`.
    ///
    /// In two passes. A constant column has exactly its constant as mean and exactly 0 squares. `weights` says how often each
    /// row counts; a row of weight 0 is left out, whatever it holds.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`](crate::Error::Interrupted); more columns than memory has room to list. Numbers that are not finite make sums that are not.
    pub fn moments(&self, weights: Option<&[f64]>, run: &Run<'_>) -> Result<Moments> {
        check_list("columns", self.n_features)?;
        let counts = Counts::new(weights, self.n_rows());
        let mut table = vec![0.0; 2 * self.n_features];
        self.by_column();
        self.fill(run, "moments", &mut table, 2, |j, out| {
            let (mean, squares) = self.column_moments(j, &counts);
            (out[0], out[1]) = (mean, squares);
        })?;
        let (mean, squares): (Vec<f64>, Vec<f64>) =
            table.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip();
        Ok(Moments { n: counts.total, rest: vec![0.0; mean.len()], mean, squares })
    }

    fn column_moments(&self, j: usize, counts: &Counts<'_>) -> (f64, f64) {
        let (rows, values) = self.by_column().line(j);
        let entries = || {
            let weighted = rows.iter().zip(values).map(|(&i, x)| (counts.of(i as usize), x.to_f64()));
            weighted.filter(|(w, _)| *w > 0.0)
        };
        let (stored, weight) = entries().fold((0, 0.0), |(n, sum), (w, _)| (n + 1, sum + w));
        let full = stored == counts.rows;
        let about = entries().next().filter(|_| full).map_or(0.0, |(_, x)| x);
        let mean = about + entries().map(|(w, x)| w * (x - about)).sum::<f64>() / counts.total;
        let unstored = if full { 0.0 } else { (counts.total - weight).max(0.0) };
        // The sum of deviations is 0 but for rounding, of the mean too: it takes that out of the sum of their squares.
        let (sum, squares) = entries()
            .map(|(w, x)| (w * (x - mean), w * (x - mean) * (x - mean)))
            .fold((-unstored * mean, unstored * mean * mean), |(s, q), (d, e)| (s + d, q + e));
        let squares = squares - sum * sum / counts.total;
        // Not `max`, which makes a number of one that is none.
        (mean, if squares < 0.0 { 0.0 } else { squares })
    }

    /// Whether column `j` is stored in every row that counts.
    fn is_full(&self, j: usize, counts: &Counts<'_>) -> bool {
        let rows = self.by_column().line(j).0;
        match counts.weights {
            None => rows.len() == counts.rows,
            Some(w) => rows.iter().filter(|&&i| w[i as usize] > 0.0).count() == counts.rows,
        }
    }

    /// What columns are centred on before products, see the head of this file, and what that leaves of `mean`; of a mean that
    /// is subtracted its rounding error, which is multiplied by the number of rows.
    pub(super) fn shift(&self, mean: &[f64], counts: &Counts<'_>) -> (Vec<f64>, Vec<f64>) {
        let one = |(j, &m): (usize, &f64)| {
            if m == 0.0 || !self.is_full(j, counts) {
                return (0.0, m);
            }
            let (rows, values) = self.by_column().line(j);
            let entries = rows.iter().zip(values).map(|(&i, x)| (counts.of(i as usize), x.to_f64()));
            let sum: f64 = entries.filter(|(w, _)| *w > 0.0).map(|(w, x)| w * (x - m)).sum();
            (m, sum / counts.total)
        };
        mean.iter().enumerate().map(one).unzip()
    }

    /// Mean and scatter. `Σ_i s_i²/2` multiplications for rows of `s_i` stored entries, and one
    /// `p x p` table.
    ///
    /// # Errors
    ///
    /// As [`moments`](Self::moments).
    pub fn scatter(&self, weights: Option<&[f64]>, run: &Run<'_>) -> Result<Scatter> {
        let p = self.n_features;
        let Moments { n, mean, rest, squares } = self.moments(weights, run)?;
        let counts = Counts::new(weights, self.n_rows());
        let (shift, left) = self.shift(&mean, &counts);
        let shifted = shift.iter().any(|&c| c != 0.0);
        let mut lower = Matrix::zeros(p, p);
        self.fill(run, "covariance", lower.as_mut_slice(), p, |i, out| {
            // Of a column that does not vary every product is 0, and its rounding errors are not.
            if squares[i] == 0.0 {
                return;
            }
            let (rows, values) = self.by_column().line(i);
            for (&r, x) in rows.iter().zip(values) {
                let w = counts.of(r as usize);
                if w == 0.0 {
                    continue;
                }
                let a = w * (x.to_f64() - shift[i]);
                let (columns, values) = self.row(r as usize);
                let entries = columns.iter().zip(values).take_while(|(j, _)| (**j as usize) < i);
                match shifted {
                    true => {
                        entries.for_each(|(&j, v)| out[j as usize] += a * (v.to_f64() - shift[j as usize]))
                    }
                    false => entries.for_each(|(&j, v)| out[j as usize] += a * v.to_f64()),
                }
            }
            let rest = counts.total * left[i];
            if rest != 0.0 {
                (0..i).for_each(|j| out[j] -= rest * left[j]);
            }
            (0..i).filter(|&j| squares[j] == 0.0).for_each(|j| out[j] = 0.0);
            out[i] = squares[i];
        })?;
        Ok(Scatter { n, mean, rest, lower })
    }
}
