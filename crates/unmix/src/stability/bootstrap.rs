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

use super::fits::or_else;
use super::refits::HalvesResult;
use super::{Fits, Reference};
use crate::data::splits::resample_in_two;
use crate::data::{AnyRows, Rows};
use crate::error::{Error, Result};
use crate::num::Real;

/// Number of splits of each resample. With fewer, most of the variation between resamples is due to the splits; more cost more fits.
pub(super) const SPLITS_EACH: usize = 4;
/// Offset of the seeds of these fits from those of the halves and restarts.
const BOOTSTRAP_SEED_OFFSET: u64 = 1 << 33;

/// For each component, the agreement of the halves of every split of every resample.
pub(super) struct Resamples {
    /// On the component.
    pub(super) own: Vec<Vec<Vec<f64>>>,
    /// On the subspace of its group.
    pub(super) spaces: Vec<Vec<Vec<f64>>>,
}

/// Fewest blocks of rows that are resampled where no number of resamples is given: of fewer, a half of a resample may consist of copies of one.
pub const FEWEST_RESAMPLED: u64 = 20;
/// Number of resamples where none is given: with fewer, intervals are much wider.
pub const DEFAULT_RESAMPLES: usize = 20;

/// The number of resamples of so many blocks of rows where none is given.
pub(super) fn default_number(blocks: u64) -> usize {
    if blocks >= FEWEST_RESAMPLED { DEFAULT_RESAMPLES } else { 0 }
}

/// Refuses resamples of so few blocks of rows that a half may consist of copies of one of them.
pub(super) fn check(resamples: usize, blocks: u64) -> Result<()> {
    match resamples > 0 && blocks < FEWEST_RESAMPLED {
        true => Err(Error::setting(
            "bootstrap",
            resamples,
            format!(
                "a half of a resample of {blocks} rows, or blocks of autocorrelated rows, may consist of copies of one"
            ),
            format!("choose bootstrap=0, or give at least {FEWEST_RESAMPLED}"),
        )),
        false => Ok(()),
    }
}

impl Resamples {
    /// No resamples, of `k` components.
    pub(super) fn none(k: usize) -> Self {
        Self { own: vec![Vec::new(); k], spaces: vec![Vec::new(); k] }
    }

    /// `number` resamples of blocks of `block_length` rows; at most `readers` fits run concurrently. `whole`: there are as many components as
    /// columns.
    pub(super) fn new<T: Real>(
        number: usize,
        fits: &Fits<'_, '_, T>,
        reference: &Reference<'_, T>,
        (groups, whole): (&[Vec<usize>], bool),
        block_length: u64,
        readers: usize,
    ) -> Result<Self>
    where
        for<'b> AnyRows<'b>: From<Rows<'b, T>>,
    {
        let (n, seed, k) = (fits.source.n_rows(), fits.run.seed, groups.len());
        let mut out = Self::none(k);
        // The models of all halves together may not fit into memory.
        let at_once = (readers / (2 * SPLITS_EACH)).max(1);
        for first in (0..number).step_by(at_once) {
            let jobs = (first..number.min(first + at_once)).flat_map(|resample| {
                let splits = resample_in_two(n, seed, resample, SPLITS_EACH, block_length);
                let halves = splits.into_iter().flat_map(|(left, right)| [left, right]);
                let before = 2 * (SPLITS_EACH * resample) as u64;
                (before..)
                    .zip(halves)
                    .map(move |(i, rows)| (Some(rows), seed.wrapping_add(BOOTSTRAP_SEED_OFFSET + i)))
            });
            let fitted = fits.of(jobs, readers, "a half of a resample of").map_err(of_resample)?;
            for fitted in fitted.chunks(2 * SPLITS_EACH) {
                let halves = HalvesResult::compared(reference, fitted, fits.run)?;
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

/// An error of the fits of a resample, with how to do without; where memory is too small, with what needed it.
fn of_resample(error: Error) -> Error {
    match error {
        Error::Memory { what, need_bytes, have_bytes, remedy } => Error::Memory {
            what: format!("in a fit to half of a resample of the rows, {what}"),
            need_bytes,
            have_bytes,
            remedy: format!("{remedy}, or choose bootstrap=0"),
        },
        error => or_else(error, "choose bootstrap=0"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resamples_are_the_default_where_there_are_enough_blocks() {
        assert_eq!((default_number(20), default_number(19)), (DEFAULT_RESAMPLES, 0));
        let refused = check(7, 19).unwrap_err().to_string();
        assert!(refused.contains("bootstrap") && refused.contains("19 rows"), "{refused}");
        assert!(check(7, 20).is_ok() && check(0, 3).is_ok());
    }
}
