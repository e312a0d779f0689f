//! Shared parts of sums over stored entries: moments of a line, and the shifts subtracted before products.
//!
//! Sums are taken about a shift `c` that leaves unstored entries alone: `c_j` is the mean of columns that are stored in every row of the
//! shard, so that a large offset costs them no digits, and 0 elsewhere. Then
//!
//! ```text
//! Σ w (x − μ)(x − μ)ᵀ = Σ w (x − c)(x − c)ᵀ − W (μ − c)(μ − c)ᵀ
//! ```
//!
//! loses no more than a factor `1/(1 − share stored)` to cancellation, and its diagonal, formed in two passes, nothing. Each line
//! of a table is added up alone (Gustavson 1978, ACM TOMS 4:250), which needs the entries by row and by column.

use crate::error::Result;
use crate::num::{Real, Stored, kernel};

/// Sums of sparse rows from their stored entries alone. [`Gather::stored`](super::Gather::stored) has it for the gathers that
/// support it.
pub trait AddStored<T: Real, P>: Sync {
    /// Adds a shard of sparse rows: what `part` then is has the bits that merging the sum over the shard into it gives.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`](crate::Error::Interrupted); `part` then means nothing.
    fn add_stored(&self, part: &mut P, shard: &Stored<'_, T>) -> Result<()>;
}

/// Sample weights.
#[derive(Clone, Copy)]
pub(super) struct Counts<'w> {
    weights: Option<&'w [f64]>,
    /// Sum of the weights.
    pub(super) total: f64,
    /// Rows that count at all.
    pub(super) rows: usize,
    /// Rows, whether they count or not.
    all: usize,
}

impl<'w> Counts<'w> {
    /// Of the rows of a shard.
    pub(super) fn of_shard<T: Real>(shard: &Stored<'w, T>) -> Self {
        Self::new(shard.weights(), shard.rows())
    }

    /// Of rows `rows` of those that have `weights`.
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

    /// Whether a line with entries in `rows` is stored in every row that counts.
    pub(super) fn full(&self, rows: &[u32]) -> bool {
        match self.weights {
            Some(w) if self.rows < self.all => {
                rows.iter().filter(|&&i| w[i as usize] > 0.0).count() == self.rows
            }
            _ => rows.len() == self.all,
        }
    }
}

/// Mean, in two numbers, and sum of squares about it, of a line of stored entries.
#[derive(Clone, Copy, Default)]
pub(super) struct LineMoments {
    pub(super) mean: f64,
    pub(super) rest: f64,
    pub(super) squares: f64,
    /// Whether it is stored in every row that counts.
    pub(super) full: bool,
}

impl LineMoments {
    /// In two passes: a constant line has exactly its constant as mean and exactly 0 squares. There is a row that counts.
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
        // The sum of deviations is 0 but for rounding, of the mean too: it takes that out of the sum of their squares.
        let (sum, squares) = entries()
            .map(|(w, x)| (w * (x - mean), w * (x - mean) * (x - mean)))
            .fold((-unstored * mean, unstored * mean * mean), |(s, q), (d, e)| (s + d, q + e));
        let squares = squares - sum * sum / counts.total;
        // Not `max`, which makes a number of one that is none.
        Self { mean, rest, squares: if squares < 0.0 { 0.0 } else { squares }, full }
    }

    /// What the line is centred on before products, and what that leaves of its mean.
    pub(super) fn shift(&self) -> (f64, f64) {
        shift(self.full, self.mean, self.rest)
    }
}

/// What a line of this mean is centred on before products, see the head of this file, and what that leaves of the mean; of a mean that is
/// subtracted what is missing from it as one number, which is multiplied by the number of rows.
pub(super) fn shift(full: bool, mean: f64, rest: f64) -> (f64, f64) {
    if full { (mean, rest) } else { (0.0, mean) }
}

/// `out += Σ a v`.
pub(super) fn add_products<'v>(out: &mut [f64], entries: impl Iterator<Item = (f64, &'v [f64])>) {
    for (a, v) in entries {
        out.iter_mut().zip(v).for_each(|(y, v)| *y += a * v);
    }
}
