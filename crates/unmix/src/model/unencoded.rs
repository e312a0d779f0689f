//! Factors of rows that codes do not hold.

use super::Model;
use crate::num::Real;
use crate::stats::gaps::Conditional;

/// The factors of a linear-Gaussian model beyond the codes: the offset of each row of a matrix completion. Decoded codes are rows with
/// offset 0; reconstructions of rows have the offset of the row.
pub(super) struct Unencoded<'m> {
    conditional: &'m Conditional,
    n_codes: usize,
}

impl<'m> Unencoded<'m> {
    /// Those of `model`, if there are any.
    pub(super) fn of(model: &'m Model) -> Option<Self> {
        let encoder = model.code().encoder();
        let (conditional, n_codes) = (encoder.gaussian()?, model.n_codes());
        (encoder.codes().stored && conditional.model().n_factors() > n_codes).then_some(Self { conditional, n_codes })
    }

    /// Adds the posterior means of these factors given the observed cells of `rows`, times their loadings, to the decoded rows `out`.
    pub(super) fn add<T: Real>(&self, rows: &[T], out: &mut [T]) {
        let model = self.conditional.model();
        let (p, q) = (model.n_features(), model.n_factors());
        let means = self.conditional.posteriors(rows).means;
        for (row, z) in out.chunks_exact_mut(p).zip(means.chunks_exact(q)) {
            for (x, w) in row.iter_mut().zip(model.loadings.chunks_exact(q)) {
                let more: f64 = w.iter().zip(z).skip(self.n_codes).map(|(w, z)| w * z).sum();
                *x = T::from_f64(x.to_f64() + more);
            }
        }
    }
}
