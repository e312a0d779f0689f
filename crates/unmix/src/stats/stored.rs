//! Common parts of sums over stored entries: moments of a line, and the shifts that are subtracted before products.
//!
//! Sums are taken about a shift `c` that does not change entries that are not stored: `c_j` is the mean for columns that are stored in
//! every row of the shard, so that a large offset loses no precision, and 0 for the others. Then
//!
//! ```text
//! Σ w (x − μ)(x − μ)ᵀ = Σ w (x − c)(x − c)ᵀ − W (μ − c)(μ − c)ᵀ
//! ```
//!
//! loses no more than a factor `1/(1 − fraction stored)` to cancellation, and its diagonal, computed in two passes, nothing. Each
//! line of a matrix is summed separately (Gustavson 1978, ACM TOMS 4:250), which needs the entries by row and by column.

use crate::error::Result;
use crate::num::{Real, Stored, kernel};

/// Sums over sparse rows from their stored entries alone. Returned by [`Gather::stored`](super::Gather::stored) for gathers that
/// support it.
pub trait AddStored<T: Real, P>: Sync {
    /// Adds a shard of sparse rows: the result has the same bits as merging the sum over the shard into `part`.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`](crate::Error::Interrupted); `part` is then undefined.
    fn add_stored(&self, part: &mut P, shard: &Stored<'_, T>) -> Result<()>;
}

/// Sample weights of some rows, and their sum.
#[derive(Clone, Copy)]
pub(super) struct Counts<'w> {
    weights: Option<&'w [f64]>,
    /// Sum of the weights.
    pub(super) total: f64,
    /// Number of rows of non-zero weight.
    pub(super) rows: usize,
    /// Number of rows, whatever their weights.
    all: usize,
}

impl<'w> Counts<'w> {
    /// Weights of the rows of a shard.
    pub(super) fn of_shard<T: Real>(shard: &Stored<'w, T>) -> Self {
        Self::new(shard.weights(), shard.rows())
    }

    /// Weights of the rows `rows` among those with `weights`.
    pub(super) fn new(weights: Option<&'w [f64]>, rows: std::ops::Range<usize>) -> Self {
        let all = rows.len();
        let Some(own) = weights.map(|w| &w[rows]) else {
            return Self { weights, total: all as f64, rows: all, all };
        };
        Self { weights, total: own.iter().sum(), rows: own.iter().filter(|w| **w > 0.0).count(), all }
    }

    /// The weight of row `i`.
    #[inline]
    pub(super) fn of(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[i])
    }

    /// Whether a line with entries in `rows` is stored in every row of non-zero weight.
    pub(super) fn full(&self, rows: &[u32]) -> bool {
        match self.weights {
            Some(w) if self.rows < self.all => {
                rows.iter().filter(|&&i| w[i as usize] > 0.0).count() == self.rows
            }
            _ => rows.len() == self.all,
        }
    }
}

/// Mean, as the sum of two numbers, and sum of squares about it, of a line of stored entries.
#[derive(Clone, Copy, Default)]
pub(super) struct LineMoments {
    pub(super) mean: f64,
    pub(super) rest: f64,
    pub(super) squares: f64,
    /// Whether it is stored in every row of non-zero weight.
    pub(super) full: bool,
}

impl LineMoments {
    /// In two passes: a constant line has exactly its constant as mean and exactly 0 squares. At least one row must have non-zero
    /// weight.
    pub(super) fn new<T: Real>((rows, values): (&[u32], &[T]), counts: &Counts<'_>) -> Self {
        let entries = || {
            let weighted = rows.iter().zip(values).map(|(&i, x)| (counts.of(i as usize), x.to_f64()));
            weighted.filter(|(w, _)| *w > 0.0)
        };
        let (stored, weight) = entries().fold((0, 0.0), |(n, sum), (w, _)| (n + 1, sum + w));
        let full = stored == counts.rows;
        let about = entries().next().filter(|_| full).map_or(0.0, |(_, x)| x);
        let sum = entries().map(|(w, x)| w * (x - about)).sum::<f64>();
        let (mean, rest) = kernel::two_parts(about, sum / counts.total);
        let unstored = if full { 0.0 } else { (counts.total - weight).max(0.0) };
        // The sum of deviations is 0 up to rounding, including that of the mean: its square is subtracted from the sum of squares.
        let (sum, squares) = entries()
            .map(|(w, x)| (w * (x - mean), w * (x - mean) * (x - mean)))
            .fold((-unstored * mean, unstored * mean * mean), |(s, q), (d, e)| (s + d, q + e));
        let squares = squares - sum * sum / counts.total;
        // Not `max`, which would replace NaN by a number.
        Self { mean, rest, squares: if squares < 0.0 { 0.0 } else { squares }, full }
    }

    /// The shift of the line before products, and the remainder of its mean.
    pub(super) fn shift(&self) -> (f64, f64) {
        shift(self.full, self.mean, self.rest)
    }
}

/// The shift of a line of this mean before products, see the head of this file, and the remainder of the mean, including its rounding
/// errors `rest`, because it is multiplied by the number of rows.
pub(super) fn shift(full: bool, mean: f64, rest: f64) -> (f64, f64) {
    if full { (mean, rest) } else { (0.0, mean) }
}
