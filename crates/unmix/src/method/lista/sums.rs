//! Statistics of all rows for a fit.

use super::METHOD;
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::num::Real;
use crate::run::Run;
use crate::sparse::Atoms;
use crate::spectrum::check_total;
use crate::stats::{Correlations, GatherCorrelations};

/// The largest inner product of each row with an atom, and the norms of the rows. Inner products are absolute values, except for non-negative
/// codes (`positive`).
///
/// # Errors
///
/// Numbers that are not finite, or whose squares overflow or underflow to 0; errors of the source.
pub(super) fn correlations<T: Real>(
    rows: &Rows<'_, T>,
    atoms: &Atoms<T>,
    positive: bool,
    run: &Run<'_>,
) -> Result<Correlations> {
    let gather = GatherCorrelations::new(atoms.matrix(), vec![0.0; atoms.n_features()], positive, false);
    let found = rows.sweep(run, "correlations", &gather)?;
    if !found.finite() {
        return Err(rows.not_finite(METHOD.key));
    }
    // Also of single precision, in which layers are trained.
    if !found.squares.is_finite() || found.largest.max(found.square) > T::DTYPE.most() {
        return Err(Error::Overflow { method: METHOD.key.into(), dtype: T::DTYPE.name() });
    }
    // Rows of zeros have codes of zeros.
    if found.entry > 0.0 {
        check_total(METHOD.key, found.square, T::DTYPE)?;
    }
    Ok(found)
}

/// `alpha="auto"`: a tenth of the mean over rows of the largest inner product.
///
/// # Errors
///
/// No row has an inner product above 0 with an atom.
pub(super) fn auto_alpha(found: &Correlations, origin: &str, positive: bool) -> Result<f64> {
    match found.largest > 0.0 {
        true => Ok(0.1 * found.sum / found.n.max(1.0)),
        false => {
            let why = match positive {
                true => format!("no row of {origin} has a positive inner product with an atom"),
                false => format!("every row of {origin} is orthogonal to every atom"),
            };
            Err(Error::setting("alpha", "'auto'", why, "give a number"))
        }
    }
}
