//! Sums of finished shards on their way up the merge tree.

use crate::stats::Merge;
use std::collections::BTreeMap;

/// Finished nodes that wait for their siblings, by first shard and height. Node `(first, height)` is the sum over shards
/// `first..first + 2^height`, of which the last may not exist.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MergeStack<P> {
    nodes: BTreeMap<(u64, u32), P>,
}

impl<P> Default for MergeStack<P> {
    fn default() -> Self {
        Self { nodes: BTreeMap::new() }
    }
}

impl<P: Merge> MergeStack<P> {
    /// Takes out the sibling of node `index` of the nodes of this height, where it is there.
    pub(super) fn sibling(&mut self, index: u64, height: u32) -> Option<P> {
        self.nodes.remove(&((index ^ 1) << height, height))
    }

    /// Keeps a node whose sibling is not there.
    pub(super) fn keep(&mut self, index: u64, height: u32, part: P) {
        self.nodes.insert((index << height, height), part);
    }

    /// Node `index` and its sibling as one.
    pub(super) fn merged(index: u64, part: P, sibling: P) -> P {
        let (mut left, right) = if index.is_multiple_of(2) { (part, sibling) } else { (sibling, part) };
        left.merge_right(right);
        left
    }

    /// Adds a node and merges it with its sibling, the result with its own, and so on, until one is missing.
    pub(super) fn climb(&mut self, first: u64, mut height: u32, mut part: P) {
        let mut index = first >> height;
        while let Some(other) = self.sibling(index, height) {
            part = Self::merged(index, part, other);
            (height, index) = (height + 1, index / 2);
        }
        self.keep(index, height, part);
    }

    /// Adds the sum over the next shard, where all before it are there.
    pub(crate) fn push(&mut self, part: P) {
        self.climb(self.end(), 0, part);
    }

    /// Puts a node after the others, which are those of all shards before it; `false` for one that is not lower than they are.
    pub(crate) fn append(&mut self, height: u32, part: P) -> bool {
        let lower = self.nodes.last_key_value().is_none_or(|(&(_, last), _)| height < last);
        if lower && height < 63 {
            self.nodes.insert((self.end(), height), part);
        }
        lower && height < 63
    }

    /// The shard after the last.
    fn end(&self) -> u64 {
        self.nodes.last_key_value().map_or(0, |(&(first, height), _)| first + (1 << height))
    }

    /// The nodes in the order of their shards: height and sum.
    pub(crate) fn nodes(&self) -> impl ExactSizeIterator<Item = (u32, &P)> {
        self.nodes.iter().map(|(&(_, height), part)| (height, part))
    }

    /// The sum over all nodes: complete subtrees of decreasing height, by their first shard, merged from the left.
    pub(crate) fn total(self) -> Option<P> {
        let mut roots = self.nodes.into_values();
        let mut total = roots.next()?;
        roots.for_each(|right| total.merge_right(right));
        Some(total)
    }

    /// The nodes: first shard, height, sum.
    pub(super) fn into_nodes(self) -> impl ExactSizeIterator<Item = (u64, u32, P)> {
        self.nodes.into_iter().map(|((first, height), part)| (first, height, part))
    }
}
