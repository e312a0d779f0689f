//! Sample weights of remote rows.

use super::sum::{GatherSum, Sum};
use super::{Packer, Partial, Unpacker};
use crate::error::Result;
use crate::num::{Block, Real, Workspace};

/// Gathers [`RowWeights`].
pub type GatherWeights = GatherSum<RowWeights>;

/// Sample weights, in the order of the rows.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RowWeights {
    /// Number of rows.
    pub n: u64,
    /// A weight for each row; empty without weights, where all are 1.
    pub weights: Vec<f64>,
}

impl RowWeights {
    /// For `n` rows, with weights if there are any.
    pub fn new(n: u64, weights: Option<&[f64]>) -> Self {
        Self { n, weights: weights.unwrap_or_default().to_vec() }
    }

    fn written_out(&mut self) {
        self.weights.resize(self.n as usize, 1.0);
    }
}

impl<T: Real> Sum<T> for RowWeights {
    const KIND: &'static str = "weights";

    fn zero(_: usize) -> Self {
        Self::default()
    }

    fn add(&mut self, block: Block<'_, T>, _: &mut Workspace<T>) {
        self.merge(Self::new(block.n_rows() as u64, block.weights));
    }
}

impl Partial for RowWeights {
    fn merge(&mut self, mut right: Self) {
        if !(self.weights.is_empty() && right.weights.is_empty()) {
            self.written_out();
            right.written_out();
            self.weights.append(&mut right.weights);
        }
        self.n += right.n;
    }

    fn pack(&self, out: &mut Packer) {
        out.count(self.n);
        out.numbers(&self.weights);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let part = Self { n: from.count()?, weights: from.numbers()? };
        let sound = part.weights.iter().all(|w| w.is_finite() && *w >= 0.0);
        from.check(sound && (part.weights.is_empty() || part.weights.len() as u64 == part.n))?;
        Ok(part)
    }

    fn bytes(&self) -> usize {
        8 * (1 + self.weights.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{from_bytes, to_bytes};

    #[test]
    fn rows_without_weights_count_once_among_weighted_rows() {
        let mut all = RowWeights::new(2, None);
        all.merge(RowWeights::new(3, None));
        assert_eq!(all, RowWeights::new(5, None));
        all.merge(RowWeights::new(2, Some(&[0.5, 0.0])));
        all.merge(RowWeights::new(1, None));
        assert_eq!(all, RowWeights { n: 8, weights: vec![1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.0, 1.0] });
        assert_eq!(from_bytes::<RowWeights>(&to_bytes(&all)).unwrap(), all);
        let few = RowWeights { n: 9, ..all.clone() };
        assert!(from_bytes::<RowWeights>(&to_bytes(&few)).is_err());
        all.weights[2] = -1.0;
        assert!(from_bytes::<RowWeights>(&to_bytes(&all)).is_err());
    }
}
