//! The coordinates in which RICA learns: whitened ones, or those of the columns.

use super::cost::lengths;
use crate::data::Rows;
use crate::error::Result;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::spectrum::{Coordinates, PrincipalAxes, WhiteningOptions};
use crate::stats::GatherLengths;

/// Number of rows for each direction that they span, below which rows are few: in `d` whitened directions, a feature that points to a
/// row has on average the fraction `d / n` of the sum of squares of its codes in that row, and the sparsity penalty favours such
/// features.
pub(super) const FEW_ROWS_PER_DIRECTION: usize = 10;

/// Number of whitened directions, of `rank`, for `requested` features: all, unless the `n` rows are few for them. Then as many as there are
/// features (as in ICA), or a tenth of the rows if no number of features is requested.
pub(super) fn whitened(n: f64, rank: usize, requested: Option<usize>) -> usize {
    match n < (FEW_ROWS_PER_DIRECTION * rank) as f64 {
        true => requested.unwrap_or(n as usize / FEW_ROWS_PER_DIRECTION).clamp(1, rank.max(1)),
        false => rank,
    }
}

/// The settings that determine the coordinates.
#[derive(Clone, Copy)]
pub(super) struct Requested {
    pub(super) whiten: bool,
    pub(super) center: bool,
    pub(super) standardize: bool,
    /// Whether all entries are divided by their root mean square, if coordinates are not whitened.
    pub(super) size: bool,
    /// Requested number of features.
    pub(super) features: Option<usize>,
}

/// The coordinates of rows that can be read repeatedly: one sweep, or two if there are fewer rows than columns.
pub(super) fn coordinates<T: Real>(
    rows: &Rows<'_, T>,
    requested: Requested,
    run: &Run<'_>,
) -> Result<Coordinates> {
    let Requested { whiten, center, standardize, size, features } = requested;
    let principal = PrincipalAxes::of(
        rows,
        WhiteningOptions { method: "rica", top: None, center, standardize, weak: whiten },
        run,
    )?;
    let rank = principal.found.axes.rows();
    let size = if size && !whiten { principal.size() } else { 1.0 };
    let kept = if whiten { whitened(principal.found.n, rank, features) } else { rank };
    Ok(Coordinates { rank: Some(rank), ..Coordinates::new(principal, kept, whiten, size) })
}

/// Quantities of the coordinates that RICA uses.
impl Coordinates {
    /// Mean variance of a coordinate.
    pub(super) fn unit(&self) -> f64 {
        match self.white {
            true => 1.0,
            false => self.deviation.iter().map(|s| s * s).sum::<f64>() / self.k() as f64,
        }
    }

    /// Standard deviation of the coordinates along principal direction `i`, or along the last one if there are fewer.
    pub(super) fn deviation_along(&self, i: usize) -> f64 {
        if self.white { 1.0 } else { self.deviation[i.min(self.deviation.len() - 1)] }
    }

    /// `F` with `F'F` the second moments of the coordinates (divisor `n`); `None` is the identity.
    pub(super) fn root_moments(&self) -> Option<Matrix<f64>> {
        let root = |i, j| self.deviation[i] * self.axes[(i, j)];
        (!self.white).then(|| Matrix::from_fn(self.axes.rows(), self.mean.len(), root))
    }

    /// Features projected onto the span of the rows; rounding errors of a search accumulate outside it.
    pub(super) fn in_span(&self, w: Matrix<f64>) -> Matrix<f64> {
        match self.white || self.axes.rows() == self.mean.len() {
            true => w,
            false => factor::multiply(&factor::multiply_transposed(&w, &self.axes), &self.axes),
        }
    }

    /// Lengths of features in the span of the rows, and the standard deviations of their outputs.
    pub(super) fn lengths_and_deviations(&self, w: &Matrix<f64>) -> (Vec<f64>, Vec<f64>) {
        if self.white {
            let lengths = lengths(w);
            return (lengths.clone(), lengths);
        }
        let mut along = factor::multiply_transposed(w, &self.axes);
        let own = lengths(&along);
        for i in 0..along.rows() {
            along.row_mut(i).iter_mut().zip(&self.deviation).for_each(|(x, s)| *x *= s);
        }
        (own, lengths(&along))
    }

    /// The mean length of a row in the coordinates of columns: one pass.
    pub(super) fn mean_length<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<f64> {
        let gather = GatherLengths { about: self.mean.clone(), units: self.units() };
        let lengths = rows.sweep(run, "lengths", &gather)?;
        Ok(lengths.sum / lengths.n)
    }
}
