//! Codes of sparse rows from their stored entries.

use super::tensor::Tensor;
use crate::data::{Sink, Sparse};
use crate::error::Result;
use crate::num::{Matrix, Real};
use crate::run::Run;

/// `y = (x − μ) B` for rows `x` of which few entries are stored.
///
/// ```text
/// (x − μ) B = Σ_stored (x_j − μ_j) B_j − Σ_unstored μ_j B_j,      Σ_unstored = Σ_all − Σ_stored
/// ```
///
/// The last difference would cancel if a column is far from 0 in every row. So each product `μ_j B_j` is split in two: `high`, an
/// integer multiple of a power of two that is so large that all sums of them are exact, and `low`, of the size of rounding errors.
/// The bits of a code do not depend on the other rows, and agree with those of the dense map up to rounding.
pub(super) struct SparseEncoder<'m> {
    encoder: &'m Matrix<f64>,
    mean: Vec<f64>,
    high: Matrix<f64>,
    low: Matrix<f64>,
    /// Sums of `high` and of `low` over all columns.
    all_high: Vec<f64>,
    all_low: Vec<f64>,
}

impl<'m> SparseEncoder<'m> {
    /// The map `(x - mean) encoder` for rows of type `T`, with the mean rounded to that type.
    pub(super) fn new<T: Real>(mean: &Tensor, encoder: &'m Matrix<f64>) -> Self {
        let mean: Vec<f64> = mean.to::<T>().iter().map(|m| m.to_f64()).collect();
        let (p, k) = (encoder.rows(), encoder.cols());
        let mut size = vec![0.0f64; k];
        for (j, m) in mean.iter().enumerate() {
            size.iter_mut().zip(encoder.row(j)).for_each(|(s, b)| *s += (m * b).abs());
        }
        // Sums of multiples of this are less than 2^52 times it.
        let grain: Vec<f64> =
            size.iter().map(|s| 2f64.powi(s.log2().ceil().max(-960.0) as i32 - 51)).collect();
        let high = Matrix::from_fn(p, k, |j, c| (mean[j] * encoder[(j, c)] / grain[c]).round() * grain[c]);
        let low = Matrix::from_fn(p, k, |j, c| mean[j] * encoder[(j, c)] - high[(j, c)]);
        let sum = |of: &Matrix<f64>| {
            (0..p).fold(vec![0.0; k], |mut sum, j| {
                sum.iter_mut().zip(of.row(j)).for_each(|(s, x)| *s += x);
                sum
            })
        };
        let (all_high, all_low) = (sum(&high), sum(&low));
        Self { encoder, mean, high, low, all_high, all_low }
    }

    /// Codes of all rows, in order. `O(k)` for every stored entry and row.
    pub(super) fn apply<T: Real>(
        &self,
        rows: &Sparse<'_, T>,
        run: &Run<'_>,
        stage: &str,
        sink: &mut dyn Sink<T>,
    ) -> Result<u64> {
        let k = self.encoder.cols();
        let row = |i: usize, out: &mut [T]| {
            let (mut sum, mut high) = (vec![0.0; k], vec![0.0; k]);
            let (columns, values) = rows.row(i);
            for (&j, x) in columns.iter().zip(values) {
                let j = j as usize;
                let d = x.to_f64() - self.mean[j];
                let tables = self.encoder.row(j).iter().zip(self.low.row(j)).zip(self.high.row(j));
                for ((s, h), ((b, low), hi)) in sum.iter_mut().zip(&mut high).zip(tables) {
                    *s += d * b + low;
                    *h += hi;
                }
            }
            for (c, y) in out.iter_mut().enumerate() {
                *y = T::from_f64((sum[c] - self.all_low[c]) + (high[c] - self.all_high[c]));
            }
        };
        rows.map(run, stage, k, row, sink)
    }
}
