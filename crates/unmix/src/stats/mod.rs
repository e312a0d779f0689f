//! What rows add up to: one [`Partial`] a file. A statistic never knows where its rows live.

mod contrast;
mod gram;
mod lengths;
mod moments;
mod pack;
pub(crate) mod quantiles;
mod scatter;
mod score;
mod sketch;
mod sources;
mod sparsity;
mod triangle;

pub use contrast::{Contrast, ContrastSums, Contrasts};
pub use gram::{Feature, FeatureView, Gram};
pub use lengths::Lengths;
pub use moments::Moments;
pub use pack::{Packer, Unpacker};
pub use scatter::Scatter;
pub use score::{Score, ScoreSums};
pub use sketch::{Sketch, Viewpoint};
pub use sources::{SourceSums, SourceView, UnitSums};
pub use sparsity::{Filters, Penalty, Sparsity};
pub use triangle::Triangle;

use crate::error::Result;

/// What some rows contribute to a total.
///
/// Three laws, tested for every implementor: a zero merged from either side changes no bit; merging is associative up to
/// rounding; packing and unpacking is the identity, to the bit. So a shard can be gathered by another process and only its
/// bytes need to travel.
pub trait Partial: Send + Sized {
    /// Adds what the rows to the right contribute.
    fn merge(&mut self, right: Self);
    /// As bytes.
    fn pack(&self, out: &mut Packer);
    /// From bytes.
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self>;
    /// Bytes of memory that it holds.
    fn bytes(&self) -> usize;
}

/// `part` as bytes.
pub fn to_bytes<P: Partial>(part: &P) -> Vec<u8> {
    let mut out = Packer::default();
    part.pack(&mut out);
    out.into_bytes()
}

/// The partial that [`to_bytes`] packed.
pub fn from_bytes<P: Partial>(bytes: &[u8]) -> Result<P> {
    let mut from = Unpacker::new(bytes);
    let part = P::unpack(&mut from)?;
    from.end()?;
    Ok(part)
}
