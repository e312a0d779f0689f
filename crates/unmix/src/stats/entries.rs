//! Gather of sparse rows themselves, if there are fewer of them than columns.

use super::sum::{AddShard, GatherSum, Sum};
use super::{Packer, Partial, Unpacker};
use crate::error::Result;
use crate::num::{Block, Real, Workspace};

/// Stored entries by row.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Entries<T> {
    /// Row `i` has entries `starts[i]..starts[i + 1]`.
    pub starts: Vec<u64>,
    /// Column of each entry, ascending within a row.
    pub columns: Vec<u32>,
    /// Value of each entry.
    pub values: Vec<T>,
}

/// Gathers [`Entries`].
pub type GatherEntries<T> = GatherSum<Entries<T>>;

impl<T: Real> Entries<T> {
    fn push(&mut self, row: impl Iterator<Item = (u32, T)>) {
        row.for_each(|(column, value)| {
            self.columns.push(column);
            self.values.push(value);
        });
        self.starts.push(self.columns.len() as u64);
    }
}

impl<T: Real> Sum<T> for Entries<T> {
    const KIND: &'static str = "entries";
    const STORED: Option<AddShard<Self, T>> = Some(|part, shard| {
        for i in shard.rows() {
            let (columns, values) = shard.row(i);
            part.push(columns.iter().copied().zip(values.iter().copied()));
        }
        Ok(())
    });

    fn zero(_: usize) -> Self {
        Self { starts: vec![0], columns: Vec::new(), values: Vec::new() }
    }

    fn add(&mut self, block: Block<'_, T>, _: &mut Workspace<T>) {
        for row in block.rows() {
            self.push((0..).zip(row.iter().copied()).filter(|(_, x)| *x != T::default()));
        }
    }
}

impl<T: Real> Partial for Entries<T> {
    fn merge(&mut self, right: Self) {
        let before = self.columns.len() as u64;
        self.starts.extend(right.starts[1..].iter().map(|start| start + before));
        self.columns.extend(right.columns);
        self.values.extend(right.values);
    }

    fn pack(&self, out: &mut Packer) {
        out.count(self.starts.len() as u64);
        self.starts.iter().for_each(|&start| out.count(start));
        self.columns.iter().for_each(|&column| out.count(u64::from(column)));
        out.numbers_of(&self.values);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let n = from.count()?;
        from.check(n > 0)?;
        let starts = (0..n).map(|_| from.count()).collect::<Result<Vec<u64>>>()?;
        let stored = starts.last().copied().unwrap_or(0);
        from.check(starts[0] == 0 && starts.is_sorted())?;
        let column = |column: u64| u32::try_from(column).ok();
        let columns = (0..stored).map(|_| from.count().map(column)).collect::<Result<Option<Vec<u32>>>>()?;
        let (columns, values) = (columns.unwrap_or_default(), from.numbers_of::<T>()?);
        from.check([columns.len(), values.len()] == [stored as usize; 2])?;
        Ok(Self { starts, columns, values })
    }

    fn bytes(&self) -> usize {
        8 * self.starts.len() + (4 + std::mem::size_of::<T>()) * self.columns.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{from_bytes, to_bytes};

    #[test]
    fn rows_are_concatenated_and_corrupt_bytes_are_refused() {
        let of = |data: &[f64]| {
            let mut part = Entries::zero(3);
            part.add(Block { first_row: 0, data, n_features: 3, weights: None }, &mut Workspace::default());
            part
        };
        let mut left = of(&[1.0, 0.0, 2.0, 0.0, 0.0, 0.0]);
        left.merge(of(&[0.0, 3.0, 0.0]));
        left.merge(Entries::zero(3));
        let want = Entries { starts: vec![0, 2, 2, 3], columns: vec![0, 2, 1], values: vec![1.0, 2.0, 3.0] };
        assert_eq!(left, want);
        let bytes = to_bytes(&want);
        assert_eq!(from_bytes::<Entries<f64>>(&bytes).unwrap(), want);
        for corrupt in [&bytes[..bytes.len() - 8], &bytes[..8], &[]] {
            assert!(from_bytes::<Entries<f64>>(corrupt).is_err());
        }
        for at in [1, 2, 5] {
            let mut other = bytes.clone();
            other[8 * at + 7] = 1;
            assert!(from_bytes::<Entries<f64>>(&other).is_err(), "{at}");
        }
    }
}
