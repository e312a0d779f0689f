//! How long blocks and shards are.

/// How rows are cut: blocks are what kernels see, shards what threads take. A shard is a whole number of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Rows of a block, except the last.
    pub block_rows: usize,
    /// Rows of a shard, except the last.
    pub shard_rows: usize,
}

impl Plan {
    /// The plan for rows of `p` numbers.
    ///
    /// A block has 256 rows while those fit the second-level cache, fewer for wider ones: enough to reuse every number of a
    /// product 256 times. A shard has about a million numbers, so that reading it is one large read and handing it out costs
    /// nothing.
    pub const fn for_width(p: usize) -> Self {
        let p = if p == 0 { 1 } else { p };
        let mut block_rows = 256;
        while block_rows > 16 && block_rows * p > 1 << 20 {
            block_rows /= 2;
        }
        let blocks = (1 << 20) / (block_rows * p);
        let blocks = if blocks < 1 {
            1
        } else if blocks > 64 {
            64
        } else {
            blocks
        };
        Self { block_rows, shard_rows: block_rows * blocks }
    }

    /// The plan for sums that are tables of `p x p`: blocks of up to 512 rows, and at least twice as many rows in a shard as in
    /// the table, so that adding up tables costs little beside what is added to them.
    pub const fn for_table(p: usize) -> Self {
        let Self { mut block_rows, mut shard_rows } = Self::for_width(p);
        while p >= 512 && block_rows < 512 && 2 * block_rows * p <= 1 << 20 {
            block_rows *= 2;
        }
        if shard_rows < 2 * p {
            shard_rows = 2 * p;
        }
        Self { block_rows, shard_rows: shard_rows.next_multiple_of(block_rows) }
    }

    /// The plan for `k` sources of rows of `p` numbers: as many rows in a block, up to 512, as leave the rows, their sources and the
    /// contrasts of these in the second-level cache together. A shard has some sixty thousand numbers: a pass of a search over few rows has
    /// enough of them for threads to end together; and at least eight times as many rows as there are in its sums.
    pub const fn for_sources(p: usize, k: usize) -> Self {
        let width = if p > k { p } else { k };
        let mut block_rows = 512;
        while block_rows > 64 && block_rows * width > 1 << 15 {
            block_rows /= 2;
        }
        let few = (1 << 16) / if width == 0 { 1 } else { width };
        let shard_rows = if 8 * width > few { 8 * width } else { few };
        Self { block_rows, shard_rows: shard_rows.next_multiple_of(block_rows) }
    }
}
