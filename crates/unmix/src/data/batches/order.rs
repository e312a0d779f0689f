//! Random order of the rows of an epoch: shards in random order, then rows in random order within a window of several shards.
//!
//! ```text
//! shards    0 1 2 3 4 5 6 7 8         runs of neighbouring rows, read by one call
//! shuffled  5 0 7 | 3 8 1 | 6 2 4     cut into windows, whose rows are held together
//! rows      shuffled inside each window
//! ```
//!
//! No list has as many entries as there are rows or shards: the position of a shard is computed from its number, and only the rows
//! of one window are in a list. The order depends on the seed, the epoch and the shape of the data alone, so reading can begin at
//! any position of an epoch. If all rows fit in one window, every permutation is possible.

use crate::num::random::Stream;

/// Numbers of a shard: 128 or 256 KiB, so that the seek time of a disk is small compared with the time to read it.
const NUMBERS_PER_SHARD: usize = 1 << 15;

/// Numbers of a window: 16 or 32 MiB, or 128 shards.
const NUMBERS_PER_WINDOW: usize = 1 << 22;

/// Minimum row length in the calculation of the window: each row has an entry in the list of the window, too.
const LEAST_ROW_LENGTH: usize = 8;

/// First random stream of the orders of rows, one stream for each epoch; a window uses the draws from its first position on.
const ROW_ORDER_STREAM: u64 = 0x7472_6169;

/// First random stream of the orders of shards.
const SHARD_ORDER_STREAM: u64 = 1 << 48;

/// A pseudorandom permutation of the numbers below `n` without a list of them: swap-or-not (Hoang, Morris & Rogaway 2012). Each
/// round pairs numbers whose sum is a random key, and swaps each pair with probability 1/2.
#[derive(Clone, Copy)]
struct Permutation {
    n: u64,
    draws: Stream,
}

/// Number of rounds: each about halves the information about the position of a number, also if `n` is small.
const ROUNDS: u64 = 96;

impl Permutation {
    /// The number at position `i`.
    fn at(&self, i: u64) -> u64 {
        (0..ROUNDS).fold(i, |i, round| self.round(round, i))
    }

    /// The position of number `x`: every round is its own inverse.
    fn place_of(&self, x: u64) -> u64 {
        (0..ROUNDS).rev().fold(x, |x, round| self.round(round, x))
    }

    fn round(&self, round: u64, i: u64) -> u64 {
        let key = (u128::from(self.draws.bits(round)) * u128::from(self.n)) >> 64;
        let other = (key as u64 + self.n - i) % self.n;
        let coin = self.draws.bits(ROUNDS + i.max(other).wrapping_mul(ROUNDS).wrapping_add(round));
        if coin >> 63 == 1 { other } else { i }
    }
}

/// Division of the rows into shards and windows, and their order.
#[derive(Clone, Debug)]
pub(super) struct Order {
    n: u64,
    /// Rows of a shard, a power of two; the last shard may have fewer.
    shard_rows: u64,
    shards: u64,
    windows: u64,
    seed: u64,
}

/// Several shards, and their rows in random order.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    pub(super) epoch: u64,
    pub(super) number: u64,
    /// Number of rows of the epoch before this window.
    pub(super) first: u64,
    /// Shard numbers in ascending order.
    pub(super) shards: Vec<u64>,
    /// Positions of the rows in the window, in which its shards are stored consecutively.
    pub(super) order: Vec<u32>,
}

impl Window {
    /// Number of rows of the epoch up to the end of this window.
    pub(super) fn end(&self) -> u64 {
        self.first + self.order.len() as u64
    }
}

impl Order {
    /// Order of `n` rows of `p` numbers.
    pub(super) fn new(n: u64, p: usize, seed: u64) -> Self {
        let width = p.max(LEAST_ROW_LENGTH);
        let rows = (NUMBERS_PER_SHARD / width).max(1);
        let shard_rows = if rows.is_power_of_two() { rows } else { rows.next_power_of_two() / 2 };
        Self::cut(n, shard_rows as u64, (NUMBERS_PER_WINDOW / (shard_rows * width)).max(1) as u64, seed)
    }

    /// With shards of `shard_rows` rows, a power of two, and windows of at most `most` shards, whose sizes differ by at most one
    /// shard.
    pub(super) fn cut(n: u64, shard_rows: u64, most: u64, seed: u64) -> Self {
        assert!(shard_rows.is_power_of_two());
        let shards = n.div_ceil(shard_rows);
        Self { n, shard_rows, shards, windows: shards.div_ceil(most), seed }
    }

    pub(super) fn windows(&self) -> u64 {
        self.windows
    }

    /// The rows of a shard.
    pub(super) fn rows_of(&self, shard: u64) -> std::ops::Range<u64> {
        let first = shard * self.shard_rows;
        first..(first + self.shard_rows).min(self.n)
    }

    /// The row at a position of a window.
    #[inline]
    pub(super) fn row(&self, window: &Window, place: u32) -> u64 {
        let (place, bits) = (u64::from(place), self.shard_rows.trailing_zeros());
        (window.shards[(place >> bits) as usize] << bits) + (place & (self.shard_rows - 1))
    }

    fn shuffled(&self, epoch: u64) -> Permutation {
        Permutation { n: self.shards, draws: Stream::new(self.seed, SHARD_ORDER_STREAM + epoch) }
    }

    /// Number of shards before those of a window.
    fn first_row_of(&self, window: u64) -> u64 {
        (u128::from(window) * u128::from(self.shards) / u128::from(self.windows)) as u64
    }

    /// Number of rows of an epoch before those of a window.
    fn first(&self, epoch: u64, window: u64) -> u64 {
        let before = self.first_row_of(window);
        if before == 0 {
            return 0;
        }
        // The last shard of the data may be short, wherever it is in the order.
        let lacking = self.shards * self.shard_rows - self.n;
        let short = lacking > 0 && self.shuffled(epoch).place_of(self.shards - 1) < before;
        before * self.shard_rows - if short { lacking } else { 0 }
    }

    /// The window that holds position `at` of an epoch.
    pub(super) fn window_at(&self, epoch: u64, at: u64) -> u64 {
        let (mut low, mut high) = (0, self.windows);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.first(epoch, middle) <= at { low = middle } else { high = middle }
        }
        low
    }

    /// Writes window `number` of an epoch into `window`.
    pub(super) fn fill(&self, epoch: u64, number: u64, window: &mut Window) {
        (window.epoch, window.number, window.first) = (epoch, number, self.first(epoch, number));
        window.shards.clear();
        let places = self.first_row_of(number)..self.first_row_of(number + 1);
        match self.windows {
            1 => window.shards.extend(places),
            _ => {
                let shuffled = self.shuffled(epoch);
                window.shards.extend(places.map(|i| shuffled.at(i)));
                window.shards.sort_unstable();
            }
        }
        // Only the last shard may be short, and it comes last.
        let rows: u64 = window.shards.iter().map(|s| self.rows_of(*s)).map(|r| r.end - r.start).sum();
        window.order.clear();
        window.order.extend(0..rows as u32);
        Stream::new(self.seed, ROW_ORDER_STREAM + epoch).shuffle(window.first, &mut window.order);
    }
}

#[cfg(test)]
mod tests;
