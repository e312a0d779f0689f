//! Rows that were selected from those of a file: the rows of the file that they are.

use super::Rows;
use crate::error::{Error, Result};
use crate::num::Real;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Which rows of a file were selected.
#[derive(Clone, Debug)]
pub struct SelectedRows {
    /// Runs of consecutive rows, ascending.
    runs: Vec<Range<u64>>,
    /// Number of rows of the file, without those of `rest`.
    n_rows: u64,
    /// Rows of the file that were not read.
    rest: Option<Arc<Rest>>,
}

/// Counts rows of a file that were not read.
type Count = Box<dyn Fn() -> Result<u64> + Send + Sync>;

/// Rows of a file that were not read, which are counted when their number is needed.
struct Rest {
    count: Count,
    /// Their number, once they are counted.
    counted: OnceLock<u64>,
}

impl Rest {
    fn n(&self) -> Result<u64> {
        if let Some(&n) = self.counted.get() {
            return Ok(n);
        }
        let n = (self.count)()?;
        Ok(*self.counted.get_or_init(|| n))
    }
}

impl std::fmt::Debug for Rest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rest").field("counted", &self.counted).finish_non_exhaustive()
    }
}

impl PartialEq for SelectedRows {
    fn eq(&self, other: &Self) -> bool {
        let same_rest = match (&self.rest, &other.rest) {
            (None, None) => true,
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            _ => false,
        };
        same_rest && self.n_rows == other.n_rows && self.runs == other.runs
    }
}

impl Eq for SelectedRows {}

impl SelectedRows {
    /// The rows in `runs` of a file of `n_rows` rows.
    ///
    /// # Errors
    ///
    /// Runs that are not ascending and disjoint, or end after the last row.
    pub fn new(runs: Vec<Range<u64>>, n_rows: u64) -> Result<Self> {
        let mut end = 0;
        for run in &runs {
            if run.start < end || run.end < run.start || run.end > n_rows {
                let got = format!("{}..{}", run.start, run.end);
                let why = format!("must be ascending and disjoint, and end at row {n_rows}");
                return Err(Error::setting("runs", got, why, "give them in the order of the file"));
            }
            end = run.end;
        }
        Ok(Self { runs, n_rows, rest: None })
    }

    /// The same rows of a file that has more rows than were read: `count` counts the others, when values are given for rows and their number is
    /// not that of the selected ones.
    // For the readers.
    #[doc(hidden)]
    pub fn with_rest(self, count: impl Fn() -> Result<u64> + Send + Sync + 'static) -> Self {
        Self { rest: Some(Arc::new(Rest { count: Box::new(count), counted: OnceLock::new() })), ..self }
    }

    /// Number of rows of the file, if it is known without reading more of it.
    pub fn n_rows(&self) -> Option<u64> {
        match &self.rest {
            None => Some(self.n_rows),
            Some(rest) => rest.counted.get().map(|n| self.n_rows + n),
        }
    }

    /// Whether the file has `n` rows. Rows that were not read are counted if there may be so many.
    ///
    /// # Errors
    ///
    /// Those of reading the file again.
    pub(super) fn are_of(&self, n: u64) -> Result<bool> {
        match &self.rest {
            None => Ok(self.n_rows == n),
            Some(_) if n < self.n_rows => Ok(false),
            Some(rest) => Ok(self.n_rows + rest.n()? == n),
        }
    }

    /// The row of the file that is selected row `i`.
    pub fn in_file(&self, i: u64) -> u64 {
        let mut left = i;
        for run in &self.runs {
            let n = run.end - run.start;
            if left < n {
                return run.start + left;
            }
            left -= n;
        }
        i
    }

    /// Those of `values`, one for each row of the file, that belong to selected rows; rows without a value are left out.
    pub fn of<V: Clone>(&self, values: &[V]) -> Vec<V> {
        let place = |row: u64| (row as usize).min(values.len());
        self.runs.iter().flat_map(|run| &values[place(run.start)..place(run.end)]).cloned().collect()
    }
}

impl<'a, T: Real> Rows<'a, T> {
    /// States which rows of a file these are: messages then name rows of the file, and [`weighted`](Self::weighted) takes weights of all its
    /// rows, too.
    pub fn selected(mut self, selected: SelectedRows) -> Self {
        self.selected = Some(selected);
        self
    }

    /// Which rows of a file these are, if some of its rows were [selected](Self::selected).
    pub fn selection(&self) -> Option<&SelectedRows> {
        self.selected.as_ref()
    }

    /// The number that messages give row `i`: that of the file, where some of its rows were selected.
    pub(crate) fn number_of(&self, i: u64) -> u64 {
        self.selected.as_ref().map_or(i, |selected| selected.in_file(i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selected_rows_have_the_numbers_and_weights_of_the_file() {
        let x: Vec<f64> = (0..5).map(f64::from).collect();
        let rows = || {
            let selected = SelectedRows::new(vec![2..4, 6..9], 10).unwrap();
            Rows::from_slice(&x, 1).unwrap().selected(selected)
        };
        assert_eq!((0..5).map(|i| rows().number_of(i)).collect::<Vec<_>>(), [2, 3, 6, 7, 8]);
        assert_eq!(rows().selection().and_then(SelectedRows::n_rows), Some(10));
        let all: Vec<f64> = (0..10).map(f64::from).collect();
        assert_eq!(rows().weighted(&all[..]).unwrap().weights(), Some(&[2.0, 3.0, 6.0, 7.0, 8.0][..]));
        assert_eq!(rows().weighted(&all[..5]).unwrap().weights(), Some(&all[..5]));
        let message = |weights: &[f64]| rows().weighted(weights).err().unwrap().to_string();
        assert!(
            message(&all[..7]).contains(
                "must have one weight for each of the 5 rows selected of the array, or for each of its 10 rows, got 7 weights"
            ),
            "{}",
            message(&all[..7])
        );
        // The weight of a row that is not selected does not matter; that of another one is named by its row in the file.
        let mut bad = all.clone();
        bad[0] = -1.0;
        assert!(rows().weighted(&bad[..]).is_ok());
        bad[6] = f64::NAN;
        assert!(message(&bad).contains("got NaN in row 6"), "{}", message(&bad));
    }

    #[test]
    fn runs_that_are_no_rows_of_the_file_are_refused() {
        let refused = |runs: &[(u64, u64)]| {
            SelectedRows::new(runs.iter().map(|&(start, end)| start..end).collect(), 10)
                .err()
                .map(|e| e.to_string())
        };
        assert_eq!(refused(&[(0, 3), (3, 3), (5, 10)]), None);
        for runs in [[(2, 4), (3, 5)], [(5, 6), (0, 2)], [(0, 1), (7, 11)], [(4, 2), (5, 6)]] {
            assert!(refused(&runs).unwrap().contains("ascending and disjoint"), "{runs:?}");
        }
        let few = SelectedRows::new(vec![0..2, 8..10], 10).unwrap();
        assert_eq!(few.of(&[5, 6, 7]), [5, 6]);
    }
}
