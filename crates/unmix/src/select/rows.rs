//! Rows in memory, for rules that need the rows and not only their variances.

use crate::data::{Rows, Standardized};
use crate::error::{Error, Result};
use crate::machine::check_memory;
use crate::num::{Matrix, Real};
use crate::run::Run;

/// Prepared rows, as used by the fit.
#[non_exhaustive]
pub struct FittedRows<'a, 'b, T: Real> {
    /// The rows.
    pub rows: &'a Rows<'b, T>,
    /// Centre of the columns: their mean, or zeros.
    pub mean: &'a [f64],
    /// Divisors of the centred columns, if any.
    pub scale: Option<&'a [f64]>,
}

impl<'a, 'b, T: Real> FittedRows<'a, 'b, T> {
    /// Rows whose columns have this centre, and are divided by `scale`, if it is given.
    pub fn new(rows: &'a Rows<'b, T>, mean: &'a [f64], scale: Option<&'a [f64]>) -> Self {
        Self { rows, mean, scale }
    }

    /// The centred and scaled columns that are not 0 in every row, as rows of the result. A row is repeated by its weight, an integer.
    ///
    /// `copies` is the number of tables of this size that the rule needs at the same time.
    pub(super) fn columns(&self, run: &Run<'_>, rule: &str, copies: u64) -> Result<Matrix<f64>> {
        let (rows, p) = (self.rows, self.rows.n_features());
        self.check_weights(rule)?;
        rows.here(&format!("n_components='{rule}'"))?;
        let n = rows.n_samples();
        check_memory(
            &format!("the rule '{rule}', which needs all {n} x {p} numbers in memory,"),
            (n as u64).saturating_mul(p as u64).saturating_mul(8 * copies),
            "fit a random subset of the rows, or choose a rule that needs the variances only, such as 'mle' or 'bic'",
        )?;
        let (n, all) = (n as usize, (0..p).collect::<Vec<usize>>());
        let map = Standardized { columns: &all, mean: self.mean, scale: self.scale };
        let (numbers, weights) = (map.of_all(rows, rule, run)?, rows.weights());
        let often = |i: usize| weights.map_or(1, |w| w[i] as usize);
        let mut out = Vec::with_capacity(n * p);
        for j in 0..p {
            let start = out.len();
            for (i, x) in numbers.iter().skip(j).step_by(p).enumerate() {
                out.extend(std::iter::repeat_n(*x, often(i)));
            }
            if out[start..].iter().all(|x| *x == 0.0) {
                out.truncate(start);
            }
        }
        Ok(Matrix::from_vec(out.len() / n.max(1), n, out))
    }

    /// Refuses fractional weights, with which rows can be neither permuted nor held out.
    fn check_weights(&self, rule: &str) -> Result<()> {
        let broken = |w: &[f64]| w.iter().position(|w| w.fract() != 0.0);
        match self.rows.weights().and_then(|w| Some((broken(w)?, w))) {
            None => Ok(()),
            Some((row, w)) => Err(Error::setting(
                "n_components",
                format!("'{rule}'"),
                format!(
                    "this rule repeats each row by its weight, which must be an integer, and the weight of row {row} is {}",
                    w[row]
                ),
                "give integers as weights, or choose a rule that needs the variances only, such as 'mle' or 'bic'",
            )),
        }
    }
}
