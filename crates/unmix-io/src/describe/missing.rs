//! Missing cells of each column: one number a column and thread, so that they are counted in inputs of any number of columns.

use crate::Input;
use unmix::data::{Sparse, Workspace};
use unmix::internal::num::Block;
use unmix::stats::{Gather, Packer, Partial, Unpacker};
use unmix::{Real, Result, Run, with_rows};

/// Number of missing cells of each column, in one sweep. Text that is read as NaN is not missing.
pub(crate) fn missing(input: &Input, run: &Run<'_>) -> Result<Vec<u64>> {
    let mut counts = with_rows!(&input.rows, rows => match rows.sparse() {
        Some(sparse) => Ok(stored(sparse)),
        None => rows.sweep(run, "counting missing cells", &GatherMissing).map(|counts| counts.0),
    })?;
    for (count, text) in counts.iter_mut().zip(&input.text_cells) {
        *count -= text;
    }
    Ok(counts)
}

/// Those of sparse rows: entries that are not stored are zeros.
fn stored<T: Real>(sparse: &Sparse<'_, T>) -> Vec<u64> {
    let mut counts = vec![0; sparse.n_features()];
    for i in 0..sparse.n_rows() {
        let (columns, values) = sparse.row(i);
        for (&j, x) in columns.iter().zip(values) {
            counts[j as usize] += u64::from(x.to_f64().is_nan());
        }
    }
    counts
}

/// Missing cells of some rows, column by column.
#[derive(Clone, Debug, PartialEq)]
struct Counts(Vec<u64>);

/// Gathers [`Counts`].
struct GatherMissing;

impl<T: Real> Gather<T> for GatherMissing {
    type Part = Counts;
    const KIND: &'static str = "missing";

    fn width(&self) -> Option<usize> {
        None
    }

    fn zero(&self, n_features: usize) -> Counts {
        Counts(vec![0; n_features])
    }

    fn add(&self, part: &mut Counts, block: Block<'_, T>, _: &mut Workspace<T>) {
        for row in block.rows() {
            for (count, x) in part.0.iter_mut().zip(row) {
                *count += u64::from(x.to_f64().is_nan());
            }
        }
    }

    fn pack(&self, _: &mut Packer) {}

    fn unpack(_: &mut Unpacker<'_>) -> Result<Self> {
        Ok(Self)
    }
}

impl Partial for Counts {
    fn merge(&mut self, right: Self) {
        self.0.iter_mut().zip(&right.0).for_each(|(left, right)| *left += right);
    }

    fn pack(&self, out: &mut Packer) {
        out.count(self.0.len() as u64);
        self.0.iter().for_each(|&count| out.count(count));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let n = from.count()?;
        (0..n).map(|_| from.count()).collect::<Result<_>>().map(Self)
    }

    fn bytes(&self) -> usize {
        8 * self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unmix::stats::{from_bytes, to_bytes};

    #[test]
    fn counts_are_serialized() {
        let counts = Counts(vec![0, 3, u64::MAX]);
        let bytes = to_bytes(&counts);
        assert_eq!(from_bytes::<Counts>(&bytes).unwrap(), counts);
        assert!(from_bytes::<Counts>(&bytes[..bytes.len() - 1]).is_err());
    }
}
