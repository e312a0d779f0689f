//! A checksum of rows: fits whose checksums differ are of different rows.

use super::{Gather, Packer, Partial, Unpacker};
use crate::error::Result;
use crate::num::{Block, Real, Workspace};
use crc32fast::Hasher;

/// The CRC-32 of rows and their weights, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checksum {
    sum: u32,
    /// Number of bytes.
    n: u64,
}

impl Checksum {
    /// The checksum.
    pub fn checksum(&self) -> u32 {
        self.sum
    }

    fn add(&mut self, bytes: &[u8]) {
        let mut hasher = Hasher::new_with_initial_len(self.sum, self.n);
        hasher.update(bytes);
        self.n += bytes.len() as u64;
        self.sum = hasher.finalize();
    }
}

/// Gathers the [`Checksum`] of rows. `O(n p)`.
#[derive(Clone, Copy, Debug)]
pub struct GatherChecksum;

impl<T: Real> Gather<T> for GatherChecksum {
    type Part = Checksum;
    const KIND: &'static str = "checksum";

    fn width(&self) -> Option<usize> {
        None
    }

    fn zero(&self, _: usize) -> Checksum {
        Checksum::default()
    }

    fn add(&self, part: &mut Checksum, block: Block<'_, T>, _: &mut Workspace<T>) {
        let mut bytes = Vec::with_capacity(size_of_val(block.data));
        block.data.iter().for_each(|x| x.write_le(&mut bytes));
        part.add(&bytes);
        if let Some(weights) = block.weights {
            bytes.clear();
            weights.iter().for_each(|w| bytes.extend_from_slice(&w.to_le_bytes()));
            part.add(&bytes);
        }
    }

    fn pack(&self, _: &mut Packer) {}

    fn unpack(_: &mut Unpacker<'_>) -> Result<Self> {
        Ok(Self)
    }
}

impl Partial for Checksum {
    fn merge(&mut self, right: Self) {
        let mut hasher = Hasher::new_with_initial_len(self.sum, self.n);
        hasher.combine(&Hasher::new_with_initial_len(right.sum, right.n));
        (self.sum, self.n) = (hasher.finalize(), self.n + right.n);
    }

    fn pack(&self, out: &mut Packer) {
        out.count(u64::from(self.sum));
        out.count(self.n);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (sum, n) = (from.count()?, from.count()?);
        from.check(u32::try_from(sum).is_ok())?;
        Ok(Self { sum: sum as u32, n })
    }

    fn bytes(&self) -> usize {
        16
    }
}
