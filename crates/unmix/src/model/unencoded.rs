//! Factors of rows that codes do not hold.

use super::Model;
use crate::num::Real;
use crate::stats::gaps::Conditional;

/// The factors of a linear-Gaussian model beyond the codes: the offset of each row of a matrix completion. Decoded codes are rows with
/// offset 0; reconstructions of rows have the offset of the row.
pub(super) struct Unencoded<'m> {
    of: &'m Conditional,
    n_codes: usize,
}

impl<'m> Unencoded<'m> {
    /// Those of `model`, if there are any.
    pub(super) fn of(model: &'m Model) -> Option<Self> {
        let encoder = model.code().encoder();
        let (of, n_codes) = (encoder.gaussian()?, model.n_codes());
        (encoder.codes().stored && of.model().n_factors() > n_codes).then_some(Self { of, n_codes })
    }

    /// Adds the posterior means of these factors given the observed cells of `rows`, times their loadings, to the decoded rows `out`.
    pub(super) fn add<T: Real>(&self, rows: &[T], out: &mut [T]) {
        let of = self.of.model();
        let (p, q) = (of.n_features(), of.n_factors());
        let means = self.of.posteriors(rows).means;
        for (row, z) in out.chunks_exact_mut(p).zip(means.chunks_exact(q)) {
            for (x, w) in row.iter_mut().zip(of.loadings.chunks_exact(q)) {
                let more: f64 = w.iter().zip(z).skip(self.n_codes).map(|(w, z)| w * z).sum();
                *x = T::from_f64(x.to_f64() + more);
            }
        }
    }
}
