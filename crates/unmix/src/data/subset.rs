//! A subset of the rows of a source, in ascending order.

use super::source::{Forward, RandomAccess, Source, Stream};
use crate::error::Result;
use crate::num::Real;
use std::ops::Range;

/// The rows `chosen` of a source, as a source.
pub(crate) struct Subset<'a, T: Real> {
    source: &'a dyn RandomAccess<T>,
    n_features: usize,
    /// Row indices in ascending order.
    chosen: Vec<u64>,
}

impl<'a, T: Real> Subset<'a, T> {
    /// Rows `chosen` of `source`, each below its number of rows; they are read in ascending order.
    pub(crate) fn new(source: &'a dyn RandomAccess<T>, n_features: usize, mut chosen: Vec<u64>) -> Self {
        chosen.sort_unstable();
        Self { source, n_features, chosen }
    }
}

impl<T: Real> Source<T> for Subset<'_, T> {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn n_rows(&self) -> Option<u64> {
        Some(self.chosen.len() as u64)
    }

    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>> {
        Ok(Box::new(Forward::new(self, self.n_features)))
    }

    fn random(&self) -> Option<&dyn RandomAccess<T>> {
        Some(self)
    }
}

impl<T: Real> RandomAccess<T> for Subset<'_, T> {
    fn n_rows(&self) -> u64 {
        self.chosen.len() as u64
    }

    fn read(&self, rows: Range<u64>, columns: Range<usize>, out: &mut [T], raw: &mut Vec<u8>) -> Result<()> {
        let (mut wanted, width) = (&self.chosen[rows.start as usize..rows.end as usize], columns.len());
        let mut done = 0;
        while let Some(&first) = wanted.first() {
            // Consecutive rows are read at once.
            let run = wanted.iter().zip(first..).take_while(|(row, next)| **row == *next).count();
            let to = &mut out[done * width..(done + run) * width];
            self.source.read(first..first + run as u64, columns.clone(), to, raw)?;
            (wanted, done) = (&wanted[run..], done + run);
        }
        Ok(())
    }
}
