//! Reading sparse rows as dense blocks.

use super::Sparse;
use crate::data::source::{Forward, RandomAccess, Source, Stream};
use crate::error::Result;
use crate::num::Real;
use std::ops::Range;

impl<T: Real> Source<T> for Sparse<'_, T> {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn n_rows(&self) -> Option<u64> {
        Some(Sparse::n_rows(self) as u64)
    }

    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>> {
        Ok(Box::new(Forward::new(self, self.n_features)))
    }

    fn random(&self) -> Option<&dyn RandomAccess<T>> {
        Some(self)
    }

    fn sparse(&self) -> Option<&Sparse<'_, T>> {
        // In rows with missing cells, entries that are not stored are missing, not 0.
        if self.unstored == T::default() { Some(self) } else { None }
    }
}

impl<T: Real> RandomAccess<T> for Sparse<'_, T> {
    fn n_rows(&self) -> u64 {
        Sparse::n_rows(self) as u64
    }

    fn read(&self, rows: Range<u64>, columns: Range<usize>, out: &mut [T], _: &mut Vec<u8>) -> Result<()> {
        let (rows, p) = (rows.start as usize..rows.end as usize, columns.len());
        out.fill(self.unstored);
        // Few columns of many rows are read faster by column.
        if p < rows.len() && p < self.n_features {
            self.check_by_column()?;
            for j in columns.clone() {
                let (at, values) = self.by_column().part(j, rows.clone());
                for (&i, &x) in at.iter().zip(values) {
                    out[(i as usize - rows.start) * p + j - columns.start] = x;
                }
            }
        } else {
            for i in rows.clone() {
                let (at, values) = self.by_row.part(i, columns.clone());
                let out = &mut out[(i - rows.start) * p..][..p];
                at.iter().zip(values).for_each(|(&j, &x)| out[j as usize - columns.start] = x);
            }
        }
        Ok(())
    }
}
