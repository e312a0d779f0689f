//! Lengths of blocks and shards.

/// Rows of a shard of sparse rows, unless they are very wide.
const SPARSE_ROWS_PER_SHARD: usize = 1 << 17;

/// Division of rows into blocks, which kernels process, and shards, which threads and workers process. A shard is a whole number of
/// blocks.
///
/// The length of every shard is a power of two and divides [`Plan::alignment`] (for sparse rows, the shard length of [`Plan::for_stored`]):
/// rows that are distributed to several workers in multiples of that are cut into the same shards as in one process, for every kind of sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// Rows of a block, except the last.
    pub block_rows: usize,
    /// Rows of a shard, except the last.
    pub shard_rows: usize,
}

impl Plan {
    /// The plan for rows of `p` numbers.
    ///
    /// A block has 256 rows if those fit in the second-level cache, fewer for wider rows: enough to reuse every number of a product
    /// 256 times. A shard has about a million numbers, so that reading it is one large read and its overhead is negligible.
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
            nearest_power(blocks)
        };
        Self { block_rows, shard_rows: block_rows * blocks }
    }

    /// The plan for rows that are computed one by one, of which there are `n` of `p` numbers: short enough shards that every thread gets several,
    /// unless there are few numbers, and many if they are still long, so that threads end at nearly the same time. Results for a row do not
    /// depend on the plan.
    pub(crate) fn for_each_row(p: usize, n: Option<u64>, threads: usize) -> Self {
        /// Numbers from which a second thread saves more time than it takes to start.
        const LEAST_NUMBERS_TO_SHARE: u64 = 1 << 15;
        /// Shards for each thread, and the least number of rows of such shards.
        const SHARDS: [(u64, usize); 2] = [(4, 32), (16, 512)];
        let Self { mut block_rows, mut shard_rows } = Self::for_width(p);
        let n = n
            .filter(|n| threads > 1 && n.saturating_mul(p as u64) >= LEAST_NUMBERS_TO_SHARE)
            .unwrap_or(u64::MAX);
        for (shards, least) in SHARDS {
            while shard_rows > least && n < shards * threads as u64 * shard_rows as u64 {
                shard_rows /= 2;
            }
        }
        block_rows = block_rows.min(shard_rows);
        Self { block_rows, shard_rows }
    }

    /// The plan for sums that are `p x p` matrices: blocks of up to 512 rows, and at least `2 p` rows in a shard, so that merging the
    /// matrices costs little compared with computing them.
    pub const fn for_gram(p: usize) -> Self {
        let Self { mut block_rows, mut shard_rows } = Self::for_width(p);
        while p >= 512 && block_rows < 512 && 2 * block_rows * p <= 1 << 20 {
            block_rows *= 2;
        }
        if shard_rows < 2 * p {
            shard_rows = (2 * p).next_power_of_two();
        }
        Self { block_rows, shard_rows: if shard_rows < block_rows { block_rows } else { shard_rows } }
    }

    /// The plan for sums over sparse rows from their stored entries: long shards, because the sum over each is a matrix whose size does not
    /// depend on the number of stored entries. All threads work on one shard.
    pub const fn for_stored(p: usize) -> Self {
        let Self { block_rows, shard_rows: dense } = Self::for_gram(p);
        Self {
            block_rows,
            shard_rows: if dense > SPARSE_ROWS_PER_SHARD { dense } else { SPARSE_ROWS_PER_SHARD },
        }
    }

    /// The plan for `k` sources of rows of `p` numbers: a block has as many rows, up to 512, as allow the rows, their sources and the
    /// contrasts of these to fit together in the second-level cache. A shard has about sixty thousand numbers, so that the threads of a
    /// pass over few rows end at about the same time; and at least about eight times as many rows as its sums, up to the alignment.
    pub const fn for_sources(p: usize, k: usize) -> Self {
        let width = if p > k { p } else { k };
        let mut block_rows = 512;
        while block_rows > 64 && block_rows * width > 1 << 15 {
            block_rows /= 2;
        }
        let few = (1 << 16) / if width == 0 { 1 } else { width };
        let shard_rows = nearest_power(if 8 * width > few { 8 * width } else { few });
        Self::within(p, block_rows, shard_rows)
    }

    /// The plan for sums that are `p x k` and `k x k` matrices, over codes of `k` numbers each: blocks of up to 512 rows, or 1024 for wide
    /// ones, because the products of every block are added to the matrices, and shards of about `8 max(p, k)` rows, up to the alignment.
    pub const fn for_codes(p: usize, k: usize) -> Self {
        let width = if p > k { p } else { k };
        let mut block_rows = if p >= 256 && k >= 256 { 1024 } else { 512 };
        while block_rows > 64 && block_rows * width > 1 << 20 {
            block_rows /= 2;
        }
        let few = (1 << 16) / if width == 0 { 1 } else { width };
        let shard_rows = nearest_power(if 8 * width > few { 8 * width } else { few });
        Self::within(p, block_rows, if shard_rows < block_rows { block_rows } else { shard_rows })
    }

    /// A plan of these lengths for rows of `p` numbers; `shard_rows`, a power of two, is limited to the alignment.
    pub(crate) const fn within(p: usize, block_rows: usize, shard_rows: usize) -> Self {
        Self { block_rows, shard_rows }.at_most(Self::alignment(p))
    }

    /// The same with shards of at most `most` rows, a power of two, or of one block.
    pub(crate) const fn at_most(self, most: usize) -> Self {
        let Self { block_rows, mut shard_rows } = self;
        if shard_rows > most {
            shard_rows = most;
        }
        Self { block_rows, shard_rows: if shard_rows < block_rows { block_rows } else { shard_rows } }
    }

    /// The number of rows of `p` numbers at whose multiples rows may be cut between workers: a multiple of the length of every shard of
    /// every plan for them.
    pub const fn alignment(p: usize) -> usize {
        Self::for_gram(p).shard_rows
    }
}

/// The power of two nearest to `n`, by ratio: `n / sqrt(2) < power <= n sqrt(2)`.
const fn nearest_power(n: usize) -> usize {
    let above = n.next_power_of_two();
    // above > n sqrt(2), in integers.
    if above * above > 2 * n * n { above / 2 } else { above }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_computed_one_by_one_are_shared_among_threads_unless_they_are_few() {
        let plan = Plan::for_each_row(500, Some(500), 2);
        assert_eq!((plan.block_rows, plan.shard_rows), (32, 32));
        // 16 for each thread, but no more than 4 of fewer than 512 rows.
        let rows = [100_000, 3000].map(|n| Plan::for_each_row(64, Some(n), 2).shard_rows);
        assert_eq!(rows, [2048, 256]);
        for (p, n, threads) in [(4, Some(150), 8), (500, Some(500), 1), (64, Some(1 << 30), 8), (64, None, 8)]
        {
            assert_eq!(Plan::for_each_row(p, n, threads), Plan::for_width(p), "{p} {n:?}");
        }
    }

    #[test]
    fn shards_are_whole_blocks_and_divide_the_alignment() {
        for p in (1..200).chain([255, 256, 257, 511, 512, 784, 1000, 2048, 4097, 20_000, 1 << 20, 3 << 20]) {
            let alignment = Plan::alignment(p);
            let sources = [1, 2, p, 4 * p].map(|k| Plan::for_sources(p, k));
            assert!(Plan::for_stored(p).shard_rows.is_multiple_of(alignment));
            let codes = [1, 2, p, 4 * p].map(|k| Plan::for_codes(p, k));
            for plan in [Plan::for_width(p), Plan::for_gram(p)].into_iter().chain(sources).chain(codes) {
                let Plan { block_rows, shard_rows } = plan;
                assert!(
                    shard_rows.is_power_of_two() && shard_rows.is_multiple_of(block_rows),
                    "{p}: {plan:?}"
                );
                assert!(alignment.is_multiple_of(shard_rows), "{p}: {plan:?}, {alignment}");
            }
        }
    }

    #[test]
    fn the_nearest_power_is_nearest_by_ratio() {
        for n in 1..5000usize {
            let power = nearest_power(n) as f64 / n as f64;
            assert!(power > 0.7 && power <= 2f64.sqrt(), "{n}");
        }
    }
}
