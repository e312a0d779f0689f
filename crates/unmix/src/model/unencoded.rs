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

    /// Writes the codes of `rows` and returns the posterior means of all factors given the observed cells, of which codes are the first ones:
    /// the encoder of the model gives the same codes, and would compute the posteriors a second time.
    pub(super) fn encode<T: Real>(&self, rows: &[T], codes: &mut [T]) -> Vec<f64> {
        let means = self.conditional.posteriors(rows).means;
        let each = means.chunks_exact(self.conditional.model().n_factors());
        // There are no codes at all if there are none of a row.
        for (code, z) in codes.chunks_exact_mut(self.n_codes.max(1)).zip(each) {
            code.iter_mut().zip(z).for_each(|(to, z)| *to = T::from_f64(*z));
        }
        means
    }

    /// Adds the factors that codes do not hold, of the posterior means that [`encode`](Self::encode) returned, times their loadings, to the
    /// decoded rows `out`.
    pub(super) fn add<T: Real>(&self, means: &[f64], out: &mut [T]) {
        let model = self.conditional.model();
        let (p, q) = (model.n_features(), model.n_factors());
        for (row, z) in out.chunks_exact_mut(p).zip(means.chunks_exact(q)) {
            for (x, w) in row.iter_mut().zip(model.loadings.chunks_exact(q)) {
                let more: f64 = w.iter().zip(z).skip(self.n_codes).map(|(w, z)| w * z).sum();
                *x = T::from_f64(x.to_f64() + more);
            }
        }
    }
}
