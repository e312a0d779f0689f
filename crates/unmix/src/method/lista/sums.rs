//! Statistics of all rows for a fit.

use super::METHOD;
use crate::data::{Rows, Sink, Workspace};
use crate::error::{Error, Result};
use crate::num::{Block, Real, kernel};
use crate::run::Run;
use crate::sparse::Atoms;
use crate::spectrum::check_total;

/// The largest inner product of each row with an atom, and the norms of the rows.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) n: u64,
    /// Sum over rows of the largest inner product.
    sum: f64,
    /// Maximum over rows of the largest inner product: for `alpha` of at least this, every code of the lasso is 0.
    pub(super) largest: f64,
    /// Sum of squared norms, and the largest of them.
    pub(super) squares: f64,
    square: f64,
    /// The largest absolute entry.
    entry: f64,
}

impl Sink<f64> for Scan {
    fn put(&mut self, rows: &[f64]) -> Result<()> {
        for row in rows.chunks_exact(3) {
            self.n += 1;
            self.sum += row[0];
            self.largest = self.largest.max(row[0]);
            self.squares += row[1];
            self.square = self.square.max(row[1]);
            self.entry = self.entry.max(row[2]);
        }
        Ok(())
    }
}

impl Scan {
    /// Over all rows. Inner products are absolute values, except for non-negative codes (`positive`).
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, or whose squares overflow or underflow to 0; errors of the source.
    pub(super) fn of<T: Real>(
        rows: &Rows<'_, T>,
        atoms: &Atoms<T>,
        positive: bool,
        run: &Run<'_>,
    ) -> Result<Self> {
        let (m, p) = (atoms.n_atoms(), atoms.n_features());
        let across = atoms.matrix().transposed().cast::<T>();
        let step = |block: Block<'_, T>, out: &mut [f64], _: &mut Workspace<T>| {
            rows.check_finite(METHOD.key, &block)?;
            let mut product = Vec::new();
            // The number of rows at a time is chosen so that the product is small.
            let at_a_time = (1 << 16) / m.max(1) + 1;
            for (rows, out) in block.data.chunks(at_a_time * p).zip(out.chunks_mut(at_a_time * 3)) {
                let n = rows.len() / p;
                product.resize(n * m, T::default());
                kernel::product(&mut product, rows, across.as_slice(), n, p, m);
                let each = product.chunks_exact(m).zip(rows.chunks_exact(p)).zip(out.chunks_exact_mut(3));
                for ((c, row), out) in each {
                    let size = |c: &T| if positive { c.to_f64() } else { c.to_f64().abs() };
                    out[0] = c.iter().map(size).fold(0.0, f64::max);
                    out[1] = kernel::sum_of_squares(row);
                    out[2] = row.iter().fold(0.0, |most: f64, x| most.max(x.to_f64().abs()));
                }
            }
            Ok(())
        };
        let mut found = Self::default();
        rows.map(run, "correlations", 3, step, &mut found)?;
        // Also of single precision, in which layers are trained.
        let fits = found.squares.is_finite() && found.largest.is_finite() && found.square <= T::DTYPE.most();
        if !fits {
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
    pub(super) fn alpha(&self, origin: &str, positive: bool) -> Result<f64> {
        match self.largest > 0.0 {
            true => Ok(0.1 * self.sum / self.n.max(1) as f64),
            false => {
                let why = match positive {
                    true => format!("no row of {origin} has a positive inner product with an atom"),
                    false => format!("every row of {origin} is orthogonal to every atom"),
                };
                Err(Error::setting("alpha", "'auto'", why, "give a number"))
            }
        }
    }
}
