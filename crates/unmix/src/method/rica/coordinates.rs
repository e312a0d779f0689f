//! The coordinates in which RICA learns: whitened ones, or those of the columns.

use super::cost::lengths;
use crate::data::Rows;
use crate::error::Result;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::spectrum::{Coordinates, PrincipalAxes, WhiteningOptions};
use crate::stats::GatherLengths;

/// Rows below this many times the directions that they span are few: in `d` whitened directions the codes of
/// a feature that points to a row have on average the fraction `d / n` of their sum of squares in that row,
/// and sparsity favours such features.
pub(super) const FEW: usize = 10;

/// How many of `rank` directions are whitened for `asked` features, or for as many as there are directions: all, unless the `n`
/// rows are few for them. Then as many as there are features (as ICA does), or a tenth of the rows where no number is requested.
pub(super) fn whitened(n: f64, rank: usize, asked: Option<usize>) -> usize {
    match n < (FEW * rank) as f64 {
        true => asked.unwrap_or(n as usize / FEW).clamp(1, rank.max(1)),
        false => rank,
    }
}

/// The request.
#[derive(Clone, Copy)]
pub(super) struct Requested {
    pub(super) whiten: bool,
    pub(super) center: bool,
    pub(super) standardize: bool,
    /// Divide all entries by their root mean square, where coordinates are not white.
    pub(super) size: bool,
    /// Features.
    pub(super) features: Option<usize>,
}

/// Looks at settled rows: one pass, or two where there are fewer rows than columns.
pub(super) fn coordinates<T: Real>(
    rows: &Rows<'_, T>,
    requested: Requested,
    run: &Run<'_>,
) -> Result<Coordinates> {
    let Requested { whiten, center, standardize, size, features } = requested;
    let seen = PrincipalAxes::of(
        rows,
        WhiteningOptions { method: "rica", top: None, center, standardize, weak: whiten },
        run,
    )?;
    let rank = seen.found.axes.rows();
    let size = if size && !whiten { seen.size() } else { 1.0 };
    let kept = if whiten { whitened(seen.found.n, rank, features) } else { rank };
    Ok(Coordinates { rank: Some(rank), ..Coordinates::new(seen, kept, whiten, size) })
}

/// Whitening options of RICA.
impl Coordinates {
    /// Mean variance of a coordinate.
    pub(super) fn unit(&self) -> f64 {
        match self.white {
            true => 1.0,
            false => self.deviation.iter().map(|s| s * s).sum::<f64>() / self.k() as f64,
        }
    }

    /// Standard deviation along principal direction `i`, of those that there are, in the coordinates.
    pub(super) fn deviation_along(&self, i: usize) -> f64 {
        if self.white { 1.0 } else { self.deviation[i.min(self.deviation.len() - 1)] }
    }

    /// `F` with `F'F` the second moments of the coordinates (divisor `n`); `None` stands for the identity.
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
    pub(super) fn reach(&self, w: &Matrix<f64>) -> (Vec<f64>, Vec<f64>) {
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
