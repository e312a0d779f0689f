//! Rows as the solvers see them: white coordinates, without a second copy of the rows.

use crate::data::{Plan, Rows};
use crate::error::Result;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::stats::{Contrasts, ScoreSums, SourceSums, SourceView};

/// Rows seen in coordinates `z = basis (x - mean)`, of which there are `k`; the basis is folded into whatever is applied to `z`.
pub(super) struct View<'a, 'b, T: Real> {
    pub(super) rows: &'a Rows<'b, T>,
    /// What is subtracted first, unless that is 0 throughout.
    pub(super) mean: Option<&'a [f64]>,
    /// `k x p`; the identity where there is none.
    pub(super) basis: Option<&'a Matrix<f64>>,
    /// Number of coordinates.
    pub(super) k: usize,
}

impl<T: Real> View<'_, '_, T> {
    /// `w` applied to `z` is this applied to `x - mean`.
    pub(super) fn folded(&self, w: &Matrix<f64>) -> Matrix<f64> {
        self.basis.map_or_else(|| w.clone(), |basis| factor::multiply(w, basis))
    }

    /// Means over all rows, of the sources `w z` and of their contrast: one pass. `None` when they are not finite.
    pub(super) fn means<'s>(
        &self,
        w: &Matrix<f64>,
        contrast: impl Into<Contrasts<'s>>,
        run: &Run<'_>,
    ) -> Result<Option<SourceSums>> {
        let contrast: Contrasts<'s> = contrast.into();
        let view = SourceView::new(self.mean, self.folded(w).cast::<T>(), contrast);
        let k = w.rows();
        let plan = Plan::for_sources(self.rows.n_features(), k);
        let mut sums = self.rows.sweep_by(
            plan,
            run,
            "sources",
            || SourceSums::empty(k),
            |sums, block, work| sums.gather(block, &view, work),
        )?;
        let n = sums.n;
        let mean = |values: &mut [f64]| values.iter_mut().for_each(|v| *v /= n);
        mean(sums.cross.as_mut_slice());
        mean(&mut sums.slope);
        mean(&mut sums.loss);
        Ok(sums.finite().then_some(sums))
    }

    /// What contrasts are fitted to the sources `w z` by: one pass.
    pub(super) fn score_sums(&self, w: &Matrix<f64>, run: &Run<'_>) -> Result<ScoreSums> {
        let k = w.rows();
        let view = SourceView::new(self.mean, self.folded(w).cast::<T>(), Contrasts::Each(&[]));
        self.rows.sweep_by(
            Plan::for_sources(self.rows.n_features(), k),
            run,
            "scores",
            || ScoreSums::empty(k),
            |sums, block, work| sums.gather(block, &view, work),
        )
    }
}
