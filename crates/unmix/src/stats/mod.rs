//! Mergeable sufficient statistics: one [`Partial`] and its [`Gather`] in each file. They do not depend on
//! where rows are stored.

mod checksum;
mod contrast;
mod correlations;
mod directions;
mod entries;
mod erased;
pub(crate) mod gaps;
mod gram;
mod lengths;
mod moments;
mod pack;
pub(crate) mod quantiles;
mod rows;
mod scatter;
mod score;
mod sketch;
mod sources;
mod sparsity;
mod stored;
mod sum;
mod triangle;
mod weights;

// The statistics of this library, for the tests of their laws.
#[doc(hidden)]
pub use checksum::{Checksum, GatherChecksum};
#[doc(hidden)]
pub use contrast::Contrast;
#[doc(hidden)]
pub use correlations::{Correlations, GatherCorrelations};
#[doc(hidden)]
pub use directions::{DirectionSums, GatherReweighted, Reweighted, Spread};
#[doc(hidden)]
pub use entries::{Entries, GatherEntries};
#[doc(hidden)]
pub use gram::{FeatureView, Gram};
#[doc(hidden)]
pub use lengths::Lengths;
#[doc(hidden)]
pub use moments::{GatherMoments, Moments};
pub use pack::{Packer, Unpacker};
#[doc(hidden)]
pub use quantiles::mean_interval;
#[doc(hidden)]
pub use rows::{GatherRange, GatherRows, GatheredRows, Range};
#[doc(hidden)]
pub use scatter::{GatherScatter, Scatter};
#[doc(hidden)]
pub use score::ScoreSums;
#[doc(hidden)]
pub use sketch::{Sketch, SketchView};
#[doc(hidden)]
pub use sources::{SourceSums, SourceView, UnitSums};
#[doc(hidden)]
pub use sparsity::{Filters, Sparsity};
pub use stored::AddStored;
#[doc(hidden)]
pub use triangle::Triangle;
#[doc(hidden)]
pub use weights::{GatherWeights, RowWeights};

pub(crate) use contrast::Contrasts;
pub(crate) use directions::{GatherDirections, GatherSpread, NEAR_ZERO};
pub(crate) use erased::{AnyGather, AnyPartial, Merge, of_type};
pub(crate) use gram::{GatherGram, root_of_squares};
pub(crate) use lengths::GatherLengths;
pub(crate) use score::{GatherScores, ScoreFunction};
pub(crate) use sketch::GatherSketch;
pub(crate) use sources::{GatherSources, GatherUnit};
pub(crate) use sparsity::GatherSparsity;
pub(crate) use triangle::{GatherFeatureTriangle, GatherTriangle};

use crate::error::Result;
use crate::num::{Block, Plan, Real, Workspace};

/// The sum over some of the rows.
///
/// Three laws, tested for every implementation (`tests/partials.rs` compares its list with the source): merging an empty sum on either
/// side changes no bit; merging is associative up to rounding; packing and unpacking is the identity, to the bit. So the sum over a
/// shard can be computed by another process and sent as bytes.
pub trait Partial: Send + Sized + 'static {
    /// Adds the sum over the rows to the right.
    fn merge(&mut self, right: Self);
    /// Serialises the sum.
    fn pack(&self, out: &mut Packer);
    /// Deserialises the sum.
    ///
    /// # Errors
    ///
    /// Bytes that are truncated or of another kind.
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self>;
    /// Memory of the sum in bytes.
    fn bytes(&self) -> usize;
}

/// Returns `right` if both parts have rows (`n` is their number); otherwise `left` becomes the merged sum without a change of bits.
fn both<P>(left: &mut P, right: P, n: impl Fn(&P) -> f64) -> Option<P> {
    if n(&right) == 0.0 {
        return None;
    }
    if n(left) == 0.0 {
        *left = right;
        return None;
    }
    Some(right)
}

/// A description of a sum over rows: everything that it depends on except the rows.
///
/// A gather can be sent as bytes ([`pack`](Self::pack)) to a worker, which computes the sums over its shards and returns them: see
/// [`shards`](crate::shards). [`Rows::sweep`](crate::Rows::sweep) is the one loop that calls it.
pub trait Gather<T: Real>: Sync + Sized {
    /// The sum.
    type Part: Partial;

    /// The name of this gather in serialised form.
    const KIND: &'static str;

    /// The plan for cutting rows of `n_features` numbers.
    fn plan(&self, n_features: usize) -> Plan {
        Plan::for_width(n_features)
    }

    /// Required number of columns; `None` for any number.
    fn width(&self) -> Option<usize>;

    /// The sum over no rows of `n_features` numbers.
    fn zero(&self, n_features: usize) -> Self::Part;

    /// The sum over sparse rows from their stored entries; `None` if blocks are made dense.
    fn stored(&self) -> Option<&dyn AddStored<T, Self::Part>> {
        None
    }

    /// Adds the rows of a block, weighted; the result must depend on nothing else.
    fn add(&self, part: &mut Self::Part, block: Block<'_, T>, work: &mut Workspace<T>);

    /// Serialises the state of the gather.
    fn pack(&self, out: &mut Packer);

    /// Deserialises the state of the gather.
    ///
    /// # Errors
    ///
    /// Bytes that are truncated or of another kind.
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self>;
}

/// Serialises `part`.
pub fn to_bytes<P: Partial>(part: &P) -> Vec<u8> {
    let mut out = Packer::default();
    part.pack(&mut out);
    out.into_bytes()
}

/// Inverse of [`to_bytes`].
///
/// # Errors
///
/// Bytes that are truncated, too long, or of another kind.
pub fn from_bytes<P: Partial>(bytes: &[u8]) -> Result<P> {
    let mut from = Unpacker::new(bytes);
    let part = P::unpack(&mut from)?;
    from.end()?;
    Ok(part)
}
