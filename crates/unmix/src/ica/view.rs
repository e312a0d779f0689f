//! The rows in coordinates for the solvers, with or without a copy of the coordinates.

use super::subsample;
use crate::data::{Map, Projected, Rows};
use crate::error::Result;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::stats::{Contrasts, Gather, GatherScores, GatherSources, ScoreSums, SourceSums, SourceView};

/// Input of a sweep.
pub(crate) enum SweptRows<'a, 'b, T: Real> {
    /// The rows; the map to coordinates is combined with the matrix applied to them.
    Rows(&'a Rows<'b, T>),
    /// Coordinates.
    Projected(&'a Projected<'a, 'b, T>),
}

/// Rows in `k` coordinates `z = basis (x - mean)`.
pub(crate) struct View<'a, 'b, T: Real> {
    pub(crate) place: SweptRows<'a, 'b, T>,
    /// Offset that is subtracted from the rows; `None` if it is 0.
    pub(crate) mean: Option<&'a [f64]>,
    /// `k x p`; `None` for the identity.
    pub(crate) basis: Option<&'a Matrix<f64>>,
    /// Number of coordinates.
    pub(crate) k: usize,
}

impl<'a, 'b, T: Real> View<'a, 'b, T> {
    /// Rows that are white: they are their own coordinates.
    #[cfg(test)]
    pub(crate) fn already_white(rows: &'a Rows<'b, T>, k: usize) -> Self {
        Self { place: SweptRows::Rows(rows), mean: None, basis: None, k }
    }

    /// The matrix `w basis`, which gives `w z` from `x - mean`.
    pub(crate) fn folded(&self, w: &Matrix<f64>) -> Matrix<f64> {
        self.basis.map_or_else(|| w.clone(), |basis| factor::multiply(w, basis))
    }

    /// Number of columns of the swept rows.
    pub(crate) fn width(&self) -> usize {
        match self.place {
            SweptRows::Rows(rows) => rows.n_features(),
            SweptRows::Projected(projected) => projected.k(),
        }
    }

    /// The original rows.
    pub(crate) fn rows(&self) -> &'a Rows<'b, T> {
        match self.place {
            SweptRows::Rows(rows) => rows,
            SweptRows::Projected(projected) => projected.rows(),
        }
    }

    /// One pass.
    pub(crate) fn sweep<G: Gather<T>>(&self, run: &Run<'_>, stage: &str, gather: G) -> Result<G::Part> {
        match self.place {
            SweptRows::Rows(rows) => rows.sweep(run, stage, &gather),
            SweptRows::Projected(projected) => projected.sweep(run, stage, gather),
        }
    }

    /// The input of a sweep, as rows.
    pub(crate) fn swept<O>(&self, f: impl FnOnce(&Rows<'_, T>) -> Result<O>) -> Result<O> {
        match self.place {
            SweptRows::Rows(rows) => f(rows),
            SweptRows::Projected(projected) => f(&projected.coordinates()?),
        }
    }

    /// The input of a sweep, as rows that can be read in any order.
    ///
    /// # Errors
    ///
    /// Refuses `request` for rows that are held by remote workers.
    pub(crate) fn with_rows<O>(&self, request: &str, f: impl FnOnce(&Rows<'_, T>) -> Result<O>) -> Result<O> {
        match self.place {
            SweptRows::Rows(rows) => {
                rows.here(request)?;
                f(rows)
            }
            SweptRows::Projected(projected) => f(&projected.as_rows(request)?),
        }
    }

    /// Selected rows of the input of a sweep, with their weights.
    pub(crate) fn picked(&self, chosen: Vec<u64>, run: &Run<'_>) -> Result<Rows<'static, T>> {
        let weights = self.rows().weights_at(&chosen);
        let numbers = match self.place {
            SweptRows::Rows(rows) => rows.picked(chosen, run)?,
            SweptRows::Projected(projected) => projected.picked(chosen, run)?,
        };
        Rows::of_picked(numbers, self.width(), weights)
    }

    /// Coordinates and weights of `m` rows in evenly spaced blocks of consecutive rows; of all rows if there
    /// are no more.
    pub(crate) fn picked_coordinates(&self, m: u64, run: &Run<'_>) -> Result<Rows<'static, T>> {
        let m = m.min(subsample::n_rows(self.rows()));
        let chosen = subsample::chosen(self.rows(), m);
        let weights = self.rows().weights_at(&chosen);
        let numbers = match (&self.place, self.basis) {
            (SweptRows::Projected(projected), _) => projected.picked(chosen, run)?,
            (SweptRows::Rows(rows), basis) => {
                let p = self.width();
                let identity = || Matrix::from_fn(p, p, |i, j| f64::from(u8::from(i == j)));
                let mean = self.mean.map_or_else(|| vec![0.0; p], <[f64]>::to_vec);
                let map = match basis {
                    Some(basis) => Map::new(mean, basis),
                    None => Map::new(mean, &identity()),
                };
                map.of_some(&rows.picked(chosen, run)?)
            }
        };
        Rows::of_picked(numbers, self.k, weights)
    }

    /// The map to the sources `w z`, and their contrast.
    pub(crate) fn sources<'s>(&'s self, w: &Matrix<f64>, contrast: Contrasts<'s>) -> SourceView<'s, T> {
        SourceView::new(self.mean, self.folded(w).cast::<T>(), contrast)
    }

    /// Means over all rows for the sources `w z` and their contrast: one pass. `None` if they are not finite.
    pub(crate) fn means<'s>(
        &'s self,
        w: &Matrix<f64>,
        contrast: impl Into<Contrasts<'s>>,
        run: &Run<'_>,
    ) -> Result<Option<SourceSums>> {
        let mut sums = self.sweep(run, "sources", GatherSources::new(self.sources(w, contrast.into())))?;
        let n = sums.n;
        let mean = |values: &mut [f64]| values.iter_mut().for_each(|v| *v /= n);
        mean(sums.cross.as_mut_slice());
        mean(&mut sums.slope);
        mean(&mut sums.loss);
        Ok(sums.finite().then_some(sums))
    }

    /// The sums from which contrasts are fitted to the sources `w z`: one pass.
    pub(crate) fn score_sums(&self, w: &Matrix<f64>, run: &Run<'_>) -> Result<ScoreSums> {
        self.sweep(run, "scores", GatherScores::new(self.sources(w, Contrasts::Each(&[]))))
    }
}
