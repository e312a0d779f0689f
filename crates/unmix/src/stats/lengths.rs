//! How long rows are, about a point.

use super::{Packer, Partial, Unpacker};
use crate::error::Result;
use crate::num::{Block, Real};

/// Number of rows and the sum of their lengths about a point that all of them know.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lengths {
    /// Rows seen.
    pub n: f64,
    /// Sum of `||x - about||`.
    pub sum: f64,
}

impl Lengths {
    /// Adds a block of rows, each column divided by its unit where there are `units`. `O(b p)`.
    pub fn gather<T: Real>(&mut self, block: Block<'_, T>, about: &[f64], units: Option<&[f64]>) {
        for row in block.rows() {
            let from = row.iter().zip(about).map(|(x, m)| x.to_f64() - m);
            let square: f64 = match units {
                None => from.map(|x| x.powi(2)).sum(),
                Some(units) => from.zip(units).map(|(x, u)| (x / u).powi(2)).sum(),
            };
            self.sum += square.sqrt();
            self.n += 1.0;
        }
    }
}

impl Partial for Lengths {
    fn merge(&mut self, right: Self) {
        self.n += right.n;
        self.sum += right.sum;
    }

    fn pack(&self, out: &mut Packer) {
        out.number(self.n);
        out.number(self.sum);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        Ok(Self { n: from.number()?, sum: from.number()? })
    }

    fn bytes(&self) -> usize {
        16
    }
}
