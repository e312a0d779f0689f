//! Merge tree of the sums over shards.

use crate::stats::Merge;
use std::collections::BTreeMap;

/// Finished nodes whose siblings are not finished, by first shard and height. Node `(first, height)` is the sum over shards
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
    /// Removes and returns the sibling of node `index` of this height, if it is there.
    pub(super) fn sibling(&mut self, index: u64, height: u32) -> Option<P> {
        self.nodes.remove(&((index ^ 1) << height, height))
    }

    /// Removes the sibling of a node and returns both, the left one first; stores the node if its sibling is not there.
    pub(super) fn pair(&mut self, index: u64, height: u32, part: P) -> Option<(P, P)> {
        match self.sibling(index, height) {
            None => {
                self.nodes.insert((index << height, height), part);
                None
            }
            Some(other) if index.is_multiple_of(2) => Some((part, other)),
            Some(other) => Some((other, part)),
        }
    }

    /// Adds a node and merges it with its sibling, the result with its own, and so on, until one is missing.
    pub(super) fn merge_up(&mut self, first: u64, height: u32, part: P) {
        merge_up(first, height, part, |index, height, part| self.pair(index, height, part));
    }

    /// Adds the sum over the next shard; all shards before it must have been added.
    pub(crate) fn push(&mut self, part: P) {
        self.merge_up(self.end(), 0, part);
    }

    /// Appends a node after the others, which cover all shards before it; `false` if its height is not less than that of the last.
    pub(crate) fn append(&mut self, height: u32, part: P) -> bool {
        let lower = self.nodes.last_key_value().is_none_or(|(&(_, last), _)| height < last);
        if lower && height < 63 {
            self.nodes.insert((self.end(), height), part);
        }
        lower && height < 63
    }

    /// The number after the last shard.
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

/// Merges the node that begins at shard `first` with its sibling, the result with its own, and so on, until `pair`, that of the stack, stores
/// it. The stack is not borrowed while sums are merged, so that it can be shared by threads.
pub(super) fn merge_up<P: Merge>(
    first: u64,
    mut height: u32,
    mut part: P,
    mut pair: impl FnMut(u64, u32, P) -> Option<(P, P)>,
) {
    let mut index = first >> height;
    while let Some((mut left, right)) = pair(index, height, part) {
        left.merge_right(right);
        part = left;
        (height, index) = (height + 1, index / 2);
    }
}
