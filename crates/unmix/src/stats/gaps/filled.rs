//! The scatter of rows whose missing cells are replaced by the mean of their column: the initial estimate for incomplete rows.

use super::{Packer, Unpacker};
use crate::error::Result;
use crate::num::{Block, Plan, Real, Workspace};
use crate::stats::{Gather, Scatter};

/// Gathers the [`Scatter`] of `x / unit`, with NaN replaced by the mean.
#[derive(Clone, Debug)]
pub(crate) struct GatherFilled {
    /// Replacement for missing cells, a number for each column.
    pub(crate) mean: Vec<f64>,
    /// Divisors of the columns.
    pub(crate) unit: Vec<f64>,
}

impl<T: Real> Gather<T> for GatherFilled {
    type Part = Scatter;
    const KIND: &'static str = "filled scatter";

    fn plan(&self, n_features: usize) -> Plan {
        Plan::for_gram(n_features)
    }

    fn width(&self) -> Option<usize> {
        Some(self.mean.len())
    }

    fn zero(&self, n_features: usize) -> Scatter {
        Scatter::empty(n_features)
    }

    fn add(&self, part: &mut Scatter, block: Block<'_, T>, _: &mut Workspace<T>) {
        let mut filled = Vec::with_capacity(block.data.len());
        for row in block.rows() {
            let cells = row.iter().zip(self.mean.iter().zip(&self.unit));
            filled.extend(cells.map(|(x, (m, u))| {
                let x = x.to_f64();
                if x.is_nan() { m / u } else { x / u }
            }));
        }
        // Rows of weight 0 may hold any numbers: the scatter ignores them.
        let block = Block {
            first_row: block.first_row,
            data: &filled[..],
            n_features: block.n_features,
            weights: block.weights,
        };
        part.gather(block, &mut Workspace::default());
    }

    fn pack(&self, out: &mut Packer) {
        out.numbers(&self.mean);
        out.numbers(&self.unit);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (mean, unit) = (from.numbers()?, from.numbers()?);
        from.check(mean.len() == unit.len())?;
        Ok(Self { mean, unit })
    }
}
