//! Stateless gathers: sums that depend on the rows alone.

use super::{AddStored, Gather, Packer, Partial, Unpacker};
use crate::error::Result;
use crate::num::{Block, Plan, Real, Stored, Workspace};
use std::marker::PhantomData;

/// Adds a shard of sparse rows from its stored entries; see [`AddStored`].
pub(crate) type AddShard<P, T> = fn(&mut P, &Stored<'_, T>) -> Result<()>;

/// A sum over rows that depends on nothing else, gathered by [`GatherSum`].
pub trait Sum<T: Real>: Partial {
    /// The name of its gather in serialised form.
    const KIND: &'static str;

    /// Adds a shard of sparse rows from its stored entries; `None` if blocks are made dense.
    const STORED: Option<AddShard<Self, T>> = None;

    /// The plan for cutting rows of `n_features` numbers.
    fn plan(n_features: usize) -> Plan {
        Plan::for_width(n_features)
    }

    /// The sum over no rows of `n_features` numbers.
    fn zero(n_features: usize) -> Self;

    /// Adds the rows of a block, weighted.
    fn add(&mut self, block: Block<'_, T>, work: &mut Workspace<T>);
}

/// Gathers a [`Sum`] over rows of any width.
pub struct GatherSum<P>(PhantomData<fn() -> P>);

impl<P> GatherSum<P> {
    /// The gather.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<P> Default for GatherSum<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real, P: Sum<T>> Gather<T> for GatherSum<P> {
    type Part = P;
    const KIND: &'static str = P::KIND;

    fn plan(&self, n_features: usize) -> Plan {
        P::plan(n_features)
    }

    fn width(&self) -> Option<usize> {
        None
    }

    fn zero(&self, n_features: usize) -> P {
        P::zero(n_features)
    }

    fn stored(&self) -> Option<&dyn AddStored<T, P>> {
        P::STORED.map(|_| self as &dyn AddStored<T, P>)
    }

    fn add(&self, part: &mut P, block: Block<'_, T>, work: &mut Workspace<T>) {
        part.add(block, work);
    }

    fn pack(&self, _: &mut Packer) {}

    fn unpack(_: &mut Unpacker<'_>) -> Result<Self> {
        Ok(Self::new())
    }
}

impl<T: Real, P: Sum<T>> AddStored<T, P> for GatherSum<P> {
    fn add_stored(&self, part: &mut P, shard: &Stored<'_, T>) -> Result<()> {
        match P::STORED {
            Some(add) => add(part, shard),
            None => unreachable!("there is a sum over stored entries where is_stored() is true"),
        }
    }
}
