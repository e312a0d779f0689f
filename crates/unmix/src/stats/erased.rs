//! Gathers and partials as trait objects, so that the loop over rows, the merge tree and jobs are compiled once, not for each gather.

use super::{AddStored, Gather, Packer, Partial, from_bytes};
use crate::error::Result;
use crate::num::{Block, Plan, Real, Stored, Workspace};
use std::any::Any;

/// A partial of any type.
pub(crate) trait AnyPartial: Send {
    /// Merges the sum over the rows to the right, which must have the same type.
    fn merge_any(&mut self, right: Box<dyn AnyPartial>);
    /// Serialises the partial.
    fn pack_any(&self, out: &mut Packer);
    /// For downcasting.
    fn as_any(&mut self) -> &mut dyn Any;
    /// For downcasting.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<P: Partial> AnyPartial for P {
    fn merge_any(&mut self, right: Box<dyn AnyPartial>) {
        self.merge(of_type(right));
    }

    fn pack_any(&self, out: &mut Packer) {
        self.pack(out);
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// A value that can be merged with that of the rows to its right: a partial, with static type or as a trait object.
pub(crate) trait Merge {
    /// Adds the sum over the rows to the right.
    fn merge_right(&mut self, right: Self);
}

impl<P: Partial> Merge for P {
    fn merge_right(&mut self, right: Self) {
        self.merge(right);
    }
}

impl Merge for Box<dyn AnyPartial> {
    fn merge_right(&mut self, right: Self) {
        self.as_mut().merge_any(right);
    }
}

/// Downcasts the partial of a gather whose partials have type `P`.
pub(crate) fn of_type<P: Partial>(part: Box<dyn AnyPartial>) -> P {
    *part.into_any().downcast().expect("partials of one sweep have one type")
}

fn as_type<P: Partial>(part: &mut dyn AnyPartial) -> &mut P {
    part.as_any().downcast_mut().expect("partials of one sweep have one type")
}

/// A gather as a trait object: the methods of [`Gather`], with partials as trait objects.
pub(crate) trait AnyGather<T: Real>: Sync {
    /// Its name in packed form.
    fn kind(&self) -> &'static str;
    /// The plan for cutting rows.
    fn plan_any(&self, n_features: usize) -> Plan;
    /// Required number of columns.
    fn width_any(&self) -> Option<usize>;
    /// The sum over no rows.
    fn zero_any(&self, n_features: usize) -> Box<dyn AnyPartial>;
    /// Adds the rows of a block.
    fn add_any(&self, part: &mut dyn AnyPartial, block: Block<'_, T>, work: &mut Workspace<T>);
    /// Whether sparse rows are summed from their stored entries.
    fn is_stored(&self) -> bool;
    /// Adds a shard of sparse rows, if [`is_stored`](Self::is_stored).
    fn add_stored_any(&self, part: &mut dyn AnyPartial, shard: &Stored<'_, T>) -> Result<()>;
    /// Serialises its state.
    fn pack_any(&self, out: &mut Packer);
    /// Deserialises a partial.
    fn part_from(&self, bytes: &[u8]) -> Result<Box<dyn AnyPartial>>;
}

impl<T: Real, G: Gather<T>> AnyGather<T> for G {
    fn kind(&self) -> &'static str {
        G::KIND
    }

    fn plan_any(&self, n_features: usize) -> Plan {
        self.plan(n_features)
    }

    fn width_any(&self) -> Option<usize> {
        self.width()
    }

    fn zero_any(&self, n_features: usize) -> Box<dyn AnyPartial> {
        Box::new(self.zero(n_features))
    }

    fn add_any(&self, part: &mut dyn AnyPartial, block: Block<'_, T>, work: &mut Workspace<T>) {
        self.add(as_type(part), block, work);
    }

    fn is_stored(&self) -> bool {
        self.stored().is_some()
    }

    fn add_stored_any(&self, part: &mut dyn AnyPartial, shard: &Stored<'_, T>) -> Result<()> {
        let adds: &dyn AddStored<T, G::Part> = self.stored().expect("only where is_stored() is true");
        adds.add_stored(as_type(part), shard)
    }

    fn pack_any(&self, out: &mut Packer) {
        self.pack(out);
    }

    fn part_from(&self, bytes: &[u8]) -> Result<Box<dyn AnyPartial>> {
        Ok(Box::new(from_bytes::<G::Part>(bytes)?))
    }
}
