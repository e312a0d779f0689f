//! Owned rows in memory.

use super::raw::check_whole_rows;
use super::source::{Forward, RandomAccess, Source, Stream};
use crate::error::Result;
use crate::num::Real;
use std::ops::Range;

/// Owned row-major numbers, which callers can take without a copy ([`Rows::into_numbers`](super::Rows::into_numbers)).
pub struct OwnedRows<T: Real> {
    numbers: Vec<T>,
    n_features: usize,
}

impl<T: Real> OwnedRows<T> {
    /// Rows of `n_features` numbers.
    ///
    /// # Errors
    ///
    /// An incomplete last row.
    pub fn new(numbers: Vec<T>, n_features: usize) -> Result<Self> {
        check_whole_rows(numbers.len(), n_features)?;
        Ok(Self { numbers, n_features })
    }

    fn row_range(&self, rows: Range<u64>) -> Range<usize> {
        rows.start as usize * self.n_features..rows.end as usize * self.n_features
    }
}

impl<T: Real> Source<T> for OwnedRows<T> {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn n_rows(&self) -> Option<u64> {
        Some(RandomAccess::n_rows(self))
    }

    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>> {
        Ok(Box::new(Forward::new(self, self.n_features)))
    }

    fn random(&self) -> Option<&dyn RandomAccess<T>> {
        Some(self)
    }

    fn take(&mut self) -> Option<Vec<T>> {
        Some(std::mem::take(&mut self.numbers))
    }
}

impl<T: Real> RandomAccess<T> for OwnedRows<T> {
    fn n_rows(&self) -> u64 {
        (self.numbers.len() / self.n_features.max(1)) as u64
    }

    fn by_rows(&self) -> bool {
        true
    }

    fn by_columns(&self) -> bool {
        true
    }

    fn lend(&self, rows: Range<u64>) -> Option<&[T]> {
        self.numbers.get(self.row_range(rows))
    }

    fn read(&self, rows: Range<u64>, columns: Range<usize>, out: &mut [T], _: &mut Vec<u8>) -> Result<()> {
        let (from, p) = (&self.numbers[self.row_range(rows)], columns.len());
        if p == self.n_features {
            out.copy_from_slice(from);
            return Ok(());
        }
        if p > 0 {
            let rows = from.chunks_exact(self.n_features).zip(out.chunks_exact_mut(p));
            rows.for_each(|(row, out)| out.copy_from_slice(&row[columns.clone()]));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Features, Rows};

    #[test]
    fn rows_are_borrowed_read_and_moved() {
        let numbers: Vec<f64> = (0..12).map(f64::from).collect();
        let held = OwnedRows::new(numbers.clone(), 3).unwrap();
        assert_eq!(held.lend(1..3), Some(&numbers[3..9]));
        assert_eq!(held.lend(3..5), None);
        let mut some = [0.0; 4];
        held.read(1..3, 1..3, &mut some, &mut Vec::new()).unwrap();
        assert_eq!(some, [4.0, 5.0, 7.0, 8.0]);
        let mut all = [0.0; 12];
        held.read(0..4, 0..3, &mut all, &mut Vec::new()).unwrap();
        assert_eq!(all[..], numbers[..]);
        let rows = Rows::new(held, Features::default(), "here");
        assert_eq!((rows.n_rows(), rows.n_features()), (Some(4), 3));
        assert_eq!(rows.into_numbers().ok(), Some(numbers.clone()));
        for width in [0, 5] {
            let refused = Rows::from_vec(numbers.clone(), width).err().unwrap().to_string();
            assert!(refused.contains("give whole rows"), "{refused}");
        }
        let lent = [1.0, 2.0];
        let rows = Rows::from_slice(&lent, 2).unwrap();
        assert_eq!(rows.into_numbers().err().and_then(|rows| rows.n_rows()), Some(1));
    }
}
