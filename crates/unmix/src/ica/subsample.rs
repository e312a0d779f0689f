//! A subsample for the first steps: far from the solution, steps computed from few rows are as good as from
//! many.

use crate::data::{Map, Rows};
use crate::error::Result;
use crate::num::{Matrix, Real};
use crate::run::Run;

/// Rows of the subsample for each pair of sources. With fewer, overfitting mixes sources, and the search takes many
/// more steps than on all rows (17 times as many with one row for each pair); with 20, about as many.
const ROWS_PER_PAIR: u64 = 20;

/// Minimum number of rows.
const FEWEST_ROWS: u64 = 4096;

/// Minimum ratio of all rows to the subsample for it to be worthwhile: four or five passes over all rows are
/// needed in any case, and nine to eleven without a subsample. With three times as many, 40 sources took 7.7
/// passes in place of 11 (means of 12 starts), with twice as many 9.
const LEAST_ROWS_RATIO: u64 = 3;

/// Maximum number of steps on the subsample, by which most searches have nearly converged.
pub(super) const MOST_STEPS: u64 = 12;

/// Length of a block of consecutive rows.
const ROWS_PER_RUN: u64 = 32;

/// Number of rows, of `n`, for the first steps of a search for `k` sources: as `requested`, or, with `auto`, by the constants above. `None`
/// for all rows: where 0 is requested, or as many as there are. Methods refuse other numbers that are not above `k`.
pub(super) fn size(requested: Option<u64>, n: u64, k: usize, auto: bool) -> Option<u64> {
    let enough = (ROWS_PER_PAIR * (k as u64).pow(2)).max(FEWEST_ROWS);
    match requested {
        Some(m) => Some(m).filter(|&m| m > k as u64 && m < n),
        None => Some(enough).filter(|&m| auto && n / LEAST_ROWS_RATIO >= m),
    }
}

/// Number of rows with positive weight.
pub(super) fn n_rows<T: Real>(rows: &Rows<'_, T>) -> u64 {
    match rows.weights() {
        None => rows.n_rows().unwrap_or(0),
        Some(weights) => weights.iter().filter(|w| **w > 0.0).count() as u64,
    }
}

/// `m` of the rows with positive weight, in evenly spaced blocks of consecutive rows.
pub(super) fn chosen<T: Real>(rows: &Rows<'_, T>, m: u64) -> Vec<u64> {
    among_all_rows(rows, evenly(n_rows(rows), m))
}

/// `m` consecutive rows with positive weight, from the middle; all of them if there are no more.
pub(super) fn consecutive<T: Real>(rows: &Rows<'_, T>, m: u64) -> Vec<u64> {
    let n = n_rows(rows);
    let first = n.saturating_sub(m) / 2;
    among_all_rows(rows, (first..n.min(first + m)).collect())
}

/// From indices among the rows with positive weight to indices among all rows.
fn among_all_rows<T: Real>(rows: &Rows<'_, T>, chosen: Vec<u64>) -> Vec<u64> {
    let Some(weights) = rows.weights() else { return chosen };
    let counted: Vec<u64> = (0u64..).zip(weights).filter(|(_, w)| **w > 0.0).map(|(i, _)| i).collect();
    chosen.into_iter().map(|i| counted[i as usize]).collect()
}

/// The sources `unmixing (x - mean)` of a part of the rows, as one vector each.
///
/// # Errors
///
/// Errors of a pass over the rows.
pub(super) fn columns<T: Real>(
    rows: &Rows<'_, T>,
    chosen: Vec<u64>,
    mean: &[f64],
    unmixing: &Matrix<f64>,
    run: &Run<'_>,
) -> Result<Vec<Vec<f64>>> {
    let codes = Map::new(mean.to_vec(), unmixing).of_picked(rows, chosen, run)?;
    let column = |i: usize| codes.iter().skip(i).step_by(unmixing.rows()).map(|y| y.to_f64()).collect();
    Ok((0..unmixing.rows()).map(column).collect())
}

/// Indices of `m` of `n` rows in evenly spaced blocks; the gaps between them have lengths that differ by at most one.
fn evenly(n: u64, m: u64) -> Vec<u64> {
    let runs = m.div_ceil(ROWS_PER_RUN);
    let first = |i: u64| i * ROWS_PER_RUN + (u128::from(i) * u128::from(n - m) / u128::from(runs)) as u64;
    (0..runs).flat_map(|i| first(i)..first(i) + ROWS_PER_RUN.min(m - i * ROWS_PER_RUN)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requested_number_of_distinct_rows_is_spread_over_the_data() {
        for (n, m) in [(10, 9), (33, 32), (1000, 999), (1000, 50), (100_000, 24_000), (7, 1)] {
            let rows = evenly(n, m);
            assert_eq!(rows.len() as u64, m);
            assert!(rows.windows(2).all(|w| w[0] < w[1]) && rows.iter().all(|&r| r < n), "{n}, {m}");
            assert!(
                rows[0] == 0 && n - rows[rows.len() - 1] <= (n - m).div_ceil(m.div_ceil(ROWS_PER_RUN)) + 1,
                "{n}, {m}"
            );
        }
    }

    #[test]
    fn few_rows_are_all_used() {
        assert_eq!(size(None, 96_000, 40, true), Some(32_000));
        assert_eq!(size(None, 95_999, 40, true), None);
        assert_eq!(size(None, 12_288, 2, true), Some(4096));
        assert_eq!(size(None, 12_287, 2, true), None);
        assert_eq!(size(None, 1_000_000, 2, false), None);
        assert_eq!(size(Some(500), 1000, 4, false), Some(500));
        assert_eq!(size(Some(1000), 1000, 4, true), None);
        assert_eq!(size(Some(0), 1_000_000, 4, true), None);
    }
}
