//! Sparse codes as a function of the weight of their penalty.

use super::Model;
use crate::data::{Rows, Sink, Workspace};
use crate::error::{Error, Needed, Result};
use crate::num::{Block, Real};
use crate::run::Run;
use crate::stats::GatherCorrelations;

/// The smallest alpha, as a fraction of the largest.
const SMALLEST_ALPHA_SHARE: f64 = 1e-3;

/// Number of alphas of a [path](Model::path) if none is requested.
pub const DEFAULT_ALPHAS: usize = 30;

/// Measures of the code of a row for each alpha: objective, duality gap, number of non-zero entries, squared reconstruction error.
pub const ALONG_ALPHA: [&str; 4] = ["objective", "gap", "n_nonzero", "squared_error"];

/// An encoder with the objective `1/2 ||x - z A||² + alpha ||z||_1`, for any weight `alpha`. Rows are row-major, `n x n_features`, in the units of the
/// data, in double precision; NaN is a missing cell.
pub trait AlongAlpha: Send + Sync {
    /// The weight with which the model encodes rows.
    fn alpha(&self) -> f64;

    /// Gathers the smallest weight for which the codes of all rows are 0: the largest `|A x|`, or `A x` for non-negative codes. NaN is a missing
    /// cell.
    fn correlations(&self) -> GatherCorrelations;

    /// Writes the measures [`ALONG_ALPHA`] of each row for each weight, `4 alphas.len()` numbers for each row. The initial value of a code is
    /// that for the weight before.
    fn measured(&self, rows: &[f64], alphas: &[f64], out: &mut [f64]);
}

impl Model {
    /// Measures of the codes of `rows` for `n_alphas` alphas on a logarithmic grid, from the smallest one for which all codes are 0 down to a
    /// thousandth of it. The initial value of a code is that for the alpha before. `sink` receives the four numbers of [`ALONG_ALPHA`] for every
    /// alpha, one alpha after the other, for one row after the other. Returns the alphas. Two sweeps.
    ///
    /// # Errors
    ///
    /// A model without penalised sparse codes; rows of another width; rows that are all orthogonal to all atoms; errors of the source.
    pub fn path<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        n_alphas: usize,
        run: &Run<'_>,
        sink: &mut dyn Sink<f64>,
    ) -> Result<Vec<f64>> {
        let refused = |found: &str, remedy: &str| {
            Error::unsupported("the path of codes over alpha", found, remedy).of_method(self.method().key)
        };
        let solver = self.code().encoder().along_alpha().ok_or_else(|| {
            refused(
                "the codes of this model have no l1 penalty with a weight alpha",
                "give an algorithm with such a penalty, as algorithm='cd' of sparse-coder",
            )
            .needing(Needed::Path)
        })?;
        self.check_columns("the path of codes", rows)?;
        let wide = |block: &Block<'_, T>| block.data.iter().map(|x| x.to_f64()).collect::<Vec<f64>>();
        let found = rows.sweep(run, "correlations", &solver.correlations())?;
        if !found.finite() {
            return Err(rows.infinite("the path of codes"));
        }
        if found.largest == 0.0 {
            return Err(refused(
                "no row has an inner product with an atom of a sign that codes may have",
                "give other rows",
            ));
        }
        let at = |i: usize| SMALLEST_ALPHA_SHARE.powf(i as f64 / (n_alphas.max(2) - 1) as f64);
        let alphas: Vec<f64> = (0..n_alphas).map(|i| found.largest * at(i)).collect();
        let step = |block: Block<'_, T>, out: &mut [f64], _: &mut Workspace<T>| {
            rows.check_infinite("the path of codes", &block)?;
            solver.measured(&wide(&block), &alphas, out);
            Ok(())
        };
        rows.map(run, "path", ALONG_ALPHA.len() * alphas.len(), step, sink)?;
        Ok(alphas)
    }
}
