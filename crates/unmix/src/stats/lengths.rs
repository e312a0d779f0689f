//! Mean distance of rows from a point.

use super::{Gather, Packer, Partial, Unpacker};
use crate::error::Result;
use crate::num::{Block, Real, Workspace};

/// Number of rows and the sum of their distances from a given point.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Lengths {
    /// Number of rows so far, weighted.
    pub n: f64,
    /// Sum of `||x - about||`.
    pub sum: f64,
}

impl Lengths {
    /// Adds a block of rows; each column is divided by its unit if `units` are given. `O(b p)`.
    pub fn gather<T: Real>(&mut self, block: Block<'_, T>, about: &[f64], units: Option<&[f64]>) {
        for (i, row) in block.rows().enumerate() {
            let weight = block.weights.map_or(1.0, |w| w[i]);
            if weight == 0.0 {
                continue;
            }
            let from = row.iter().zip(about).map(|(x, m)| x.to_f64() - m);
            let square: f64 = match units {
                None => from.map(|x| x.powi(2)).sum(),
                Some(units) => from.zip(units).map(|(x, u)| (x / u).powi(2)).sum(),
            };
            self.sum += weight * square.sqrt();
            self.n += weight;
        }
    }
}

/// Gathers [`Lengths`] for a point.
#[derive(Clone, Debug)]
pub(crate) struct GatherLengths {
    /// The point, a number for each column.
    pub(crate) about: Vec<f64>,
    /// Divisors of the columns, if any.
    pub(crate) units: Option<Vec<f64>>,
}

impl<T: Real> Gather<T> for GatherLengths {
    type Part = Lengths;
    const KIND: &'static str = "lengths";

    fn width(&self) -> Option<usize> {
        Some(self.about.len())
    }

    fn zero(&self, _: usize) -> Lengths {
        Lengths::default()
    }

    fn add(&self, part: &mut Lengths, block: Block<'_, T>, _: &mut Workspace<T>) {
        part.gather(block, &self.about, self.units.as_deref());
    }

    fn pack(&self, out: &mut Packer) {
        out.numbers(&self.about);
        out.maybe(self.units.as_deref());
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (about, units) = (from.numbers()?, from.maybe()?);
        from.check(units.as_ref().is_none_or(|u| u.len() == about.len()))?;
        Ok(Self { about, units })
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
