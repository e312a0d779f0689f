//! Rows in double precision, about a centre and in units of their columns: `(x - mean) / scale`.
//!
//! For methods that hold rows in memory and compute in double precision whatever the type of the rows; searches that sweep use
//! [`Projected`](super::Projected).

use super::{Rows, VecSink};
use crate::error::Result;
use crate::num::{Block, Real, Workspace};
use crate::run::Run;

/// The map from rows to some of their columns, centred and scaled.
pub(crate) struct Standardized<'a> {
    /// The columns that are kept, in this order.
    pub(crate) columns: &'a [usize],
    /// Offset that is subtracted, one number for each column of the rows.
    pub(crate) mean: &'a [f64],
    /// Divisors, one for each column that is kept, if any.
    pub(crate) scale: Option<&'a [f64]>,
}

impl Standardized<'_> {
    fn apply<T: Real>(&self, data: &[T], out: &mut [f64]) {
        let rows = data.chunks_exact(self.mean.len().max(1));
        for (row, out) in rows.zip(out.chunks_exact_mut(self.columns.len().max(1))) {
            for (k, (&j, out)) in self.columns.iter().zip(out).enumerate() {
                *out = (row[j].to_f64() - self.mean[j]) / self.scale.map_or(1.0, |s| s[k]);
            }
        }
    }

    /// All rows, row-major: one pass.
    ///
    /// # Errors
    ///
    /// Errors of the pass.
    pub(crate) fn of_all<T: Real>(&self, rows: &Rows<'_, T>, stage: &str, run: &Run<'_>) -> Result<Vec<f64>> {
        let width = self.columns.len();
        let mut sink = VecSink::default();
        let step = |block: Block<'_, T>, out: &mut [f64], _: &mut Workspace<T>| {
            self.apply(block.data, out);
            Ok(())
        };
        rows.map(run, stage, width, step, &mut sink)?;
        Ok(sink.0)
    }

    /// The rows of row-major `data`.
    pub(crate) fn of_some<T: Real>(&self, data: &[T]) -> Vec<f64> {
        let n = data.len() / self.mean.len().max(1);
        let mut out = vec![0.0; n * self.columns.len()];
        self.apply(data, &mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_chosen_centred_and_divided_in_any_block() {
        let x: Vec<f32> = (0..3000).map(|i| (i * i % 977) as f32).collect();
        let (columns, mean, scale) = ([2, 0], [1.0, 5.0, 10.0], [2.0, 4.0]);
        let map = Standardized { columns: &columns, mean: &mean, scale: Some(&scale) };
        let all = map.of_some(&x);
        let of = |row: &[f32]| [(f64::from(row[2]) - 10.0) / 2.0, (f64::from(row[0]) - 1.0) / 4.0];
        assert_eq!(all, x.chunks_exact(3).flat_map(of).collect::<Vec<f64>>());
        let rows = Rows::from_slice(&x, 3).unwrap();
        assert_eq!(map.of_all(&rows, "rows", &Run::default()).unwrap(), all);
    }
}
