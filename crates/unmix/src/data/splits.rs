//! Splits of rows into two halves.
//!
//! Independent rows are assigned to the halves one by one. Samples of a time series are autocorrelated: neighbours are nearly
//! equal, so halves assigned sample by sample would be nearly identical, and every component would be found in both. Such halves
//! are therefore drawn in blocks that are long enough to be nearly independent.
//!
//! The block length is estimated from the codes. For long blocks of `l` rows, the variance of a block mean is `time / l` times that
//! of one row, where `time = 1 + 2 (sum of autocorrelations)` is the integrated autocorrelation time, 1 for independent rows (batch
//! means: Conway 1963). The quantities are the squares of the codes and the products of consecutive codes, of which covariances and
//! contrasts are sums. The effective sample size is `n / time`.

use crate::num::random::Stream;

/// First random stream of the splits.
const SPLIT_STREAM: u64 = 1 << 21;
/// First random stream of the resamples.
const RESAMPLE_STREAM: u64 = 1 << 22;
/// Random stream of the rows on which codes are compared.
const SAMPLE_STREAM: u64 = 41;

/// Autocorrelation of consecutive rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Autocorrelation {
    /// Number of consecutive rows that are kept together; 1 for independent rows.
    pub(crate) block_length: u64,
    /// Autocorrelation time of each component: the effective sample size is `n` over this.
    pub(crate) times: Vec<f64>,
}

/// Minimum number of blocks for an estimate of their variance.
pub(crate) const FEWEST_BLOCKS: usize = 32;
/// Significance threshold in standard errors above the value for independent rows; large, because many quantities are tested.
const SIGNIFICANT_ERRORS: f64 = 5.0;

impl Autocorrelation {
    /// From row-major codes of consecutive rows, `k` for each row; `n` is the total number of rows.
    pub(crate) fn of(codes: &[f64], k: usize, n: u64) -> Self {
        let seen = codes.len() / k.max(1);
        let mut times = vec![1.0f64; k];
        let (mut longest, mut most) = (1, 0.0);
        for j in 0..k {
            let own = standardised(codes, k, j);
            let next = standardised(codes, k, (j + 1) % k);
            let squares: Vec<f64> = own.iter().map(|y| y * y).collect();
            let products: Vec<f64> = own.iter().zip(&next).map(|(a, b)| a * b).collect();
            for series in [squares, products] {
                let found = block_variance_ratios(series);
                let Some(top) = clear_time(&found, seen) else { continue };
                times[j] = times[j].max(top);
                if top > most {
                    most = top;
                    longest = found.iter().find(|(_, r)| *r >= 0.8 * top).map_or(1, |f| f.0);
                }
            }
        }
        // Each half needs several blocks.
        let block_length = if most > 1.0 { (4 * longest as u64).min(n / 20).max(1) } else { 1 };
        Self { block_length, times }
    }
}

/// The autocorrelation time estimated from the block variances of a series of `seen` numbers; none if they do not differ
/// significantly from those of independent numbers.
fn clear_time(found: &[(usize, f64)], seen: usize) -> Option<f64> {
    let clear = |&(length, ratio): &(usize, f64)| {
        ratio > 1.0 + SIGNIFICANT_ERRORS * (2.0 * length as f64 / seen as f64).sqrt()
    };
    found.iter().any(clear).then(|| found.iter().fold(1.0f64, |m, (_, ratio)| m.max(*ratio)))
}

/// The autocorrelation time of a series: the variance of its mean is that of the mean of `1 / time` times as many independent numbers.
/// 1 for independent numbers.
pub(crate) fn autocorrelation_time(series: Vec<f64>) -> f64 {
    let seen = series.len();
    clear_time(&block_variance_ratios(series), seen).unwrap_or(1.0)
}

fn standardised(codes: &[f64], k: usize, j: usize) -> Vec<f64> {
    let column: Vec<f64> = codes.iter().skip(j).step_by(k).copied().collect();
    let n = column.len().max(1) as f64;
    let mean = column.iter().sum::<f64>() / n;
    let deviation = (column.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / n).sqrt();
    let scale = if deviation > 0.0 { 1.0 / deviation } else { 0.0 };
    column.iter().map(|y| (y - mean) * scale).collect()
}

/// For blocks of 2, 4, 8, ... rows: the block length, and the variance of block sums over that of sums of as many independent rows.
pub(crate) fn block_variance_ratios(mut series: Vec<f64>) -> Vec<(usize, f64)> {
    let (alone, mut length, mut out) = (variance(&series), 1, Vec::new());
    if alone <= 0.0 {
        return out;
    }
    while series.len() / 2 >= FEWEST_BLOCKS {
        series = series.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
        length *= 2;
        out.push((length, variance(&series) / (alone * length as f64)));
    }
    out
}

fn variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)
}

/// Consecutive rows from the middle, enough for an estimate of autocorrelation times.
pub(crate) fn consecutive(n: u64, k: usize) -> Vec<u64> {
    let most = (1u64 << 16).min((1 << 24) / k.max(1) as u64).min(n);
    let first = (n - most) / 2;
    (first..first + most).collect()
}

/// Splits the rows into two halves, in blocks. Each half is in random order if rows are independent, else in the order of the rows.
pub(crate) fn split_in_halves(n: u64, seed: u64, split: usize, block_length: u64) -> (Vec<u64>, Vec<u64>) {
    let draws = Stream::new(seed, SPLIT_STREAM + split as u64);
    let mut blocks: Vec<u64> = (0..n / block_length).collect();
    draws.shuffle(0, &mut blocks);
    in_two(blocks, n, block_length)
}

/// Draws as many blocks as there are, with replacement, and splits the draws into two halves, once for each of `splits`. Copies of a block are separate
/// draws, so that both halves may have some: they are then two independent samples from the distribution of the given rows.
pub(crate) fn resample_in_two(
    n: u64,
    seed: u64,
    resample: usize,
    splits: usize,
    block_length: u64,
) -> Vec<(Vec<u64>, Vec<u64>)> {
    let draws = Stream::new(seed, RESAMPLE_STREAM + resample as u64);
    let blocks = n / block_length;
    let drawn: Vec<u64> = (0..blocks).map(|i| draws.bits(i) % blocks).collect();
    let one = |split: usize| {
        let mut drawn = drawn.clone();
        draws.shuffle((1 + split as u64) * blocks, &mut drawn);
        in_two(drawn, n, block_length)
    };
    (0..splits).map(one).collect()
}

/// The rows of the first half of the blocks and of the second; the last of all blocks has the remaining rows, too.
fn in_two(mut left: Vec<u64>, n: u64, block_length: u64) -> (Vec<u64>, Vec<u64>) {
    let mut right = left.split_off(left.len() / 2);
    if block_length == 1 {
        return (left, right);
    }
    let last = n / block_length - 1;
    let rows = |pieces: &mut Vec<u64>| {
        pieces.sort_unstable();
        let of =
            |&piece: &u64| piece * block_length..if piece == last { n } else { (piece + 1) * block_length };
        pieces.iter().flat_map(of).collect()
    };
    (rows(&mut left), rows(&mut right))
}

/// The first 65,536 of the rows of a half, which suffice for a test: random ones if rows are independent, else whole blocks in their order.
pub(crate) fn thinned(mut rows: Vec<u64>) -> Vec<u64> {
    rows.truncate(1 << 16);
    rows
}

/// Indices of up to 4096 rows on which codes are compared: all of them, or one at random of each of 4096 blocks of equal length.
pub(crate) fn sample(n: u64, seed: u64) -> Vec<u64> {
    const MOST_ROWS: u64 = 4096;
    if n <= MOST_ROWS {
        return (0..n).collect();
    }
    let draws = Stream::new(seed, SAMPLE_STREAM);
    (0..MOST_ROWS)
        .map(|i| {
            let (a, b) = (i * n / MOST_ROWS, (i + 1) * n / MOST_ROWS);
            a + draws.bits(i) % (b - a)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First-order autoregressive Gaussian columns with coefficient `r`.
    fn autoregressive(n: usize, k: usize, r: f64, seed: u64) -> Vec<f64> {
        let draws = Stream::new(seed, 3);
        let mut out = vec![0.0; n * k];
        for i in 0..n * k {
            let before = if i < k { 0.0 } else { out[i - k] };
            out[i] = r * before + (1.0 - r * r).sqrt() * draws.normal(i as u64);
        }
        out
    }

    #[test]
    fn independent_rows_are_blocks_of_one_and_autocorrelated_rows_longer_ones() {
        for seed in 0..20 {
            let alone = Autocorrelation::of(&autoregressive(2000, 3, 0.0, seed), 3, 2000);
            assert_eq!((alone.block_length, &alone.times[..]), (1, &[1.0; 3][..]));
        }
        let found = Autocorrelation::of(&autoregressive(20_000, 3, 0.95, 1), 3, 20_000);
        // Squares of such a column have autocorrelations r^(2 l): 1 + 2 sum = (1 + r²) / (1 - r²) = 19.5.
        assert!(found.times.iter().all(|m| (12.0..30.0).contains(m)), "{:?}", found.times);
        assert!((40..=1000).contains(&found.block_length), "{}", found.block_length);
    }

    #[test]
    fn the_autocorrelation_time_is_that_of_the_mean() {
        // (1 + r) / (1 - r), and 1 for independent numbers.
        for (r, least, most) in [(0.0, 1.0, 1.0), (0.5, 2.0, 5.0), (0.9, 13.0, 30.0)] {
            for seed in 0..10 {
                let time = autocorrelation_time(autoregressive(8192, 1, r, seed));
                assert!((least..=most).contains(&time), "{r}, seed {seed}: {time}");
            }
        }
        assert_eq!(autocorrelation_time(vec![3.0; 500]), 1.0);
    }

    #[test]
    fn halves_share_no_row_and_leave_none_out() {
        for (n, block_length) in [(10, 1), (11, 1), (1003, 50), (40, 2)] {
            let (left, right) = split_in_halves(n, 3, 1, block_length);
            let mut all: Vec<u64> = left.iter().chain(&right).copied().collect();
            all.sort_unstable();
            assert_eq!(all, (0..n).collect::<Vec<u64>>());
            assert!(
                left.len().abs_diff(right.len()) as u64 <= 2 * block_length,
                "{} {}",
                left.len(),
                right.len()
            );
            let joins = left.windows(2).filter(|w| w[1] != w[0] + 1).count() as u64;
            assert!(block_length == 1 || joins <= n / block_length);
        }
    }

    #[test]
    fn resamples_draw_with_replacement_and_every_split_has_the_same_draws() {
        for (n, block_length) in [(1000u64, 1u64), (1003, 50)] {
            let together = |(left, right): &(Vec<u64>, Vec<u64>)| {
                let mut all: Vec<u64> = left.iter().chain(right).copied().collect();
                all.sort_unstable();
                all
            };
            let splits = resample_in_two(n, 3, 0, 3, block_length);
            assert!(splits.iter().all(|split| together(split) == together(&splits[0])));
            assert!(splits[0].0 != splits[1].0 && splits.iter().flat_map(together_rows).all(|row| row < n));
            let mut distinct = together(&splits[0]);
            distinct.dedup();
            // Of many blocks, a share of 1 - 1/e is drawn.
            let share = distinct.len() as f64 / n as f64;
            assert!((share - 0.632).abs() < if block_length == 1 { 0.05 } else { 0.25 }, "{share}");
            assert_ne!(together(&splits[0]), together(&resample_in_two(n, 3, 1, 1, block_length)[0]));
        }
    }

    fn together_rows(split: &(Vec<u64>, Vec<u64>)) -> Vec<u64> {
        [&split.0[..], &split.1[..]].concat()
    }
}
