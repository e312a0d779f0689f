//! A bootstrap over rows: the sampling error of the agreement of halves.
//!
//! As many rows as there are, or blocks of autocorrelated ones, are drawn with replacement (a resample), the draws are split into random halves
//! [`SPLITS_EACH`] times, and the method is fitted to each half. How much the mean agreement differs between resamples shows how much it
//! would differ between data sets; `interval.rs` has the formula.
//!
//! Copies of a row are separate draws, and both halves may have some. Given the rows, the two halves are then independent samples, as halves of
//! data are, and agree as well. With all copies of a row in the same half, the variance of a sum over a half doubles, hence also the squared
//! angles between halves, so that agreements and their spread are those of half as many rows (`docs/decisions/0010-stability.md`).
//!
//! Cost: `2 SPLITS_EACH` fits of half as many draws as rows for each resample.

use super::refits::HalvesResult;
use super::{Fits, Reference};
use crate::data::splits::resample_in_two;
use crate::data::{AnyRows, Rows};
use crate::error::{Error, Result};
use crate::num::Real;

/// Number of splits of each resample. With fewer, most of the variation between resamples is due to the splits; more cost more fits.
pub(super) const SPLITS_EACH: usize = 4;
/// Offset of the seeds of these fits from those of the halves and restarts.
const SEEDS: u64 = 1 << 33;

/// For each component, the agreement of the halves of every split of every resample.
pub(super) struct Resamples {
    /// On the component.
    pub(super) own: Vec<Vec<Vec<f64>>>,
    /// On the subspace of its group.
    pub(super) spaces: Vec<Vec<Vec<f64>>>,
}

/// Fewest blocks of rows that are resampled: of fewer, a half of a resample may consist of copies of one.
const FEWEST: u64 = 20;
/// Number of resamples where none is given: with fewer, intervals are much wider.
const DEFAULT_RESAMPLES: usize = 20;
/// Most cells of rows that are resampled where no number is given; beyond, the fits of the resamples take long.
const MOST_CELLS: u64 = 1 << 18;

/// The number of resamples: `asked`, or, if that is none, [`DEFAULT_RESAMPLES`] of `cells.0` rows of `cells.1` columns where these are enough
/// blocks, not too many cells, and `by_codes`, components are compared by their codes, for which the coverage was measured; otherwise 0.
///
/// # Errors
///
/// Resamples of too few blocks.
pub(super) fn number(
    asked: Option<usize>,
    cells: (u64, usize),
    block_length: u64,
    by_codes: bool,
) -> Result<usize> {
    let blocks = cells.0 / block_length.max(1);
    match asked {
        None if by_codes && blocks >= FEWEST && cells.0.saturating_mul(cells.1 as u64) <= MOST_CELLS => {
            Ok(DEFAULT_RESAMPLES)
        }
        None => Ok(0),
        Some(resamples) if resamples > 0 && blocks < FEWEST => Err(Error::setting(
            "bootstrap",
            resamples,
            format!(
                "a half of a resample of {blocks} rows, or blocks of autocorrelated rows, may consist of copies of one"
            ),
            format!("choose bootstrap=0, or give at least {FEWEST}"),
        )),
        Some(resamples) => Ok(resamples),
    }
}

impl Resamples {
    /// `number` resamples of blocks of `block_length` rows; at most `readers` fits run concurrently. `whole`: there are as many components as
    /// columns.
    pub(super) fn new<T: Real>(
        number: usize,
        fits: &Fits<'_, '_, T>,
        seen: &Reference<'_, T>,
        (groups, whole): (&[Vec<usize>], bool),
        block_length: u64,
        readers: usize,
    ) -> Result<Self>
    where
        for<'b> AnyRows<'b>: From<Rows<'b, T>>,
    {
        let (n, seed, k) = (fits.source.n_rows(), fits.run.seed, groups.len());
        let mut out = Self { own: vec![Vec::new(); k], spaces: vec![Vec::new(); k] };
        // The rows of all halves together may not fit into memory.
        let at_once = (readers / (2 * SPLITS_EACH)).max(1);
        for first in (0..number).step_by(at_once) {
            let jobs = (first..number.min(first + at_once)).flat_map(|resample| {
                let splits = resample_in_two(n, seed, resample, SPLITS_EACH, block_length);
                let halves = splits.into_iter().flat_map(|(left, right)| [left, right]);
                let before = 2 * (SPLITS_EACH * resample) as u64;
                (before..).zip(halves).map(move |(i, rows)| (Some(rows), seed.wrapping_add(SEEDS + i)))
            });
            for fitted in fits.of(jobs.collect(), readers)?.chunks(2 * SPLITS_EACH) {
                let halves = HalvesResult::compared(seen, fitted, fits.run)?;
                (0..k).for_each(|j| out.own[j].push(halves.of(j)));
                halves
                    .spaces(groups, whole)?
                    .into_iter()
                    .zip(&mut out.spaces)
                    .for_each(|(of, all)| all.push(of));
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resamples_are_the_default_where_they_are_quick_and_their_coverage_is_known() {
        assert_eq!(number(None, (400, 4), 1, true).unwrap(), DEFAULT_RESAMPLES);
        assert_eq!(number(None, (400, 4), 20, true).unwrap(), DEFAULT_RESAMPLES, "20 blocks");
        assert_eq!(number(None, (400, 4), 21, true).unwrap(), 0, "19 blocks");
        assert_eq!(number(None, (400, 4), 1, false).unwrap(), 0, "atoms and units");
        assert_eq!(number(None, (1 << 16, 4), 1, true).unwrap(), DEFAULT_RESAMPLES);
        assert_eq!(number(None, ((1 << 16) + 1, 4), 1, true).unwrap(), 0, "many cells");
        assert_eq!(number(None, (u64::MAX, 4), 1, true).unwrap(), 0);
        // Given, the number is used whatever the rows, unless there are too few.
        assert_eq!(number(Some(7), (u64::MAX, 4), 1, false).unwrap(), 7);
        assert_eq!(number(Some(0), (3, 4), 1, true).unwrap(), 0);
        let refused = number(Some(7), (400, 4), 21, true).unwrap_err().to_string();
        assert!(refused.contains("bootstrap") && refused.contains("19 rows"), "{refused}");
    }
}
