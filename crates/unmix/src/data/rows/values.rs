//! Values that are given for rows: weights, labels, references, known codes. They are those of the rows that are used, or of all rows of the file.

use super::{Rows, SelectedRows};
use crate::error::{Error, Result, counted, rows_in_words};
use crate::num::{Matrix, Real};
use std::borrow::Cow;

/// What the values are, for messages.
#[derive(Clone, Copy, Debug)]
pub struct RowValues<'a> {
    /// Name of the setting that gives them.
    pub name: &'a str,
    /// The word for one of them, whose plural ends in s.
    pub one: &'a str,
    /// The file that they were read from, if there is one.
    pub file: Option<&'a str>,
}

/// The rows that are used, of those of a file, as values that are given for rows are matched with them.
#[derive(Clone, Copy, Debug)]
pub struct UsedRows<'a> {
    /// Their number, if it is known without reading them.
    n: Option<u64>,
    /// Which rows of the file they are, if some were selected.
    selected: Option<&'a SelectedRows>,
    /// Origin of the rows, for messages.
    origin: &'a str,
}

impl<'a> UsedRows<'a> {
    /// The same rows, of which reading them has found `n`.
    pub fn counted(self, n: u64) -> Self {
        Self { n: Some(n), ..self }
    }

    /// Whether `n` values are as many as the rows that are used.
    pub fn are(&self, n: u64) -> bool {
        self.n == Some(n)
    }

    /// Whether `n` values are as many as the rows that are used, or as those of the file. They are not where rows of the file that were not read
    /// cannot be counted: [`chosen`](Self::chosen) has the error.
    pub fn matches(&self, n: u64) -> bool {
        self.are(n) || self.selected.is_some_and(|selected| selected.are_of(n).unwrap_or(false))
    }

    /// Which of `n` values, one for each row, belong to the rows that are used: of as many values as rows that are used, all (`None`); of as many
    /// as the file has rows, those of the selected rows.
    ///
    /// # Errors
    ///
    /// Another number of values; a file that cannot be read again, to count its rows. Where the number of rows is known only after they were read,
    /// `n` values are taken as theirs: the pass that reads them compares the numbers.
    pub fn chosen(&self, n: u64, values: RowValues<'_>) -> Result<Option<&'a SelectedRows>> {
        if self.are(n) {
            return Ok(None);
        }
        if let Some(selected) = self.selected
            && selected.are_of(n)?
        {
            return Ok(Some(selected));
        }
        match self.n {
            Some(used) => Err(self.refused(used, n, values)),
            None => Ok(None),
        }
    }

    /// The values of the rows that are used, of those given.
    ///
    /// # Errors
    ///
    /// Those of [`chosen`](Self::chosen).
    pub fn values<V: Clone>(&self, given: Vec<V>, values: RowValues<'_>) -> Result<Vec<V>> {
        Ok(match self.chosen(given.len() as u64, values)? {
            Some(selected) => selected.of(&given),
            None => given,
        })
    }

    /// Those of the values of all rows of the file, or of all up to the last row that is used, that belong to rows that are used.
    pub fn of_file<V: Clone>(&self, values: Vec<V>) -> Vec<V> {
        match self.selected {
            Some(selected) => selected.of(&values),
            None => values,
        }
    }

    /// [`values`](Self::values), each of which is a row of a matrix.
    ///
    /// # Errors
    ///
    /// Those of [`chosen`](Self::chosen).
    pub fn rows_of<'v>(
        &self,
        given: Cow<'v, Matrix<f64>>,
        values: RowValues<'_>,
    ) -> Result<Cow<'v, Matrix<f64>>> {
        let Some(selected) = self.chosen(given.rows() as u64, values)? else { return Ok(given) };
        let rows = selected.of(&(0..given.rows()).collect::<Vec<usize>>());
        Ok(Cow::Owned(Matrix::from_fn(rows.len(), given.cols(), |i, j| given[(rows[i], j)])))
    }

    /// The error for `got` values, where `n` rows are used.
    pub(super) fn refused(&self, n: u64, got: u64, values: RowValues<'_>) -> Error {
        let RowValues { name, one, file } = values;
        let (used, origin) = (rows_in_words(n), self.origin);
        // The rows of a file that is read up to the last one requested may be all of its rows.
        let rows = match self.selected.map(SelectedRows::n_rows) {
            None => format!("{used} of {origin}"),
            Some(Some(all)) if all == n => format!("{used} of {origin}"),
            Some(Some(all)) => {
                format!("{used} selected of {origin}, or for each of its {}", rows_in_words(all))
            }
            Some(None) => format!("{used} selected of {origin}, or for each of its rows"),
        };
        let from = file.map_or(String::new(), |file| format!(" in {file}"));
        let got = format!("{}{from}", counted(got, one));
        let why = format!("must have one {one} for each of the {rows}");
        Error::setting(name, got, why, "give one for each row")
    }
}

impl<T: Real> Rows<'_, T> {
    /// These rows, as values that are given for rows are matched with them.
    // For the readers, the program and the Python package.
    #[doc(hidden)]
    pub fn used(&self) -> UsedRows<'_> {
        UsedRows { n: self.n_rows(), selected: self.selection(), origin: self.origin() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    const LABELS: RowValues<'static> = RowValues { name: "color", one: "value", file: Some("few.txt") };

    #[test]
    fn values_of_all_rows_and_of_those_that_are_used_are_taken_and_others_refused() {
        let x = [0.0; 3];
        let all = Rows::from_slice(&x, 1).unwrap();
        let some = Rows::from_slice(&x, 1).unwrap().selected(SelectedRows::new(vec![1..2, 3..5], 6).unwrap());
        let words = |n: usize| (0..n).map(|i| format!("w{i}")).collect::<Vec<String>>();
        let of =
            |rows: &Rows<'_, f64>, n: usize| rows.used().values(words(n), LABELS).map_err(|e| e.to_string());
        assert_eq!(of(&some, 6).unwrap(), ["w1", "w3", "w4"]);
        assert_eq!(of(&some, 3).unwrap(), words(3));
        assert_eq!(of(&all, 3).unwrap(), words(3));
        assert_eq!(
            of(&some, 5).unwrap_err(),
            "color must have one value for each of the 3 rows selected of the array, or for each of its 6 rows, got 5 values in few.txt; give one for \
             each row"
        );
        assert_eq!(
            of(&all, 1).unwrap_err(),
            "color must have one value for each of the 3 rows of the array, got 1 value in few.txt; give one for each row"
        );
        assert_eq!([2, 3, 5, 6].map(|n| some.used().matches(n)), [false, true, false, true]);
        assert_eq!(some.used().of_file(words(5)), ["w1", "w3", "w4"]);
        assert_eq!(all.used().of_file(words(3)), words(3));
        let matrix = Matrix::from_fn(6, 2, |i, j| (10 * i + j) as f64);
        let rows = some.used().rows_of(Cow::Borrowed(&matrix), LABELS).unwrap().into_owned();
        assert_eq!(rows.as_slice(), [10.0, 11.0, 30.0, 31.0, 40.0, 41.0]);
        assert!(all.used().rows_of(Cow::Owned(matrix), LABELS).is_err());
    }

    #[test]
    fn rows_that_were_not_read_are_counted_once_and_only_where_values_may_be_those_of_all_rows() {
        let passes = Arc::new(AtomicU64::new(0));
        let few = |n_rest: u64| {
            let passes = passes.clone();
            let selected = SelectedRows::new(vec![1..2, 2..3], 3).unwrap().with_rest(move || {
                passes.fetch_add(1, Ordering::Relaxed);
                Ok(n_rest)
            });
            Rows::from_vec(vec![0.0; 2], 1).unwrap().selected(selected)
        };
        let n_passes = || passes.load(Ordering::Relaxed);
        let of = |rows: &Rows<'_, f64>, n: usize| {
            rows.used().values((0..n).collect::<Vec<usize>>(), LABELS).map_err(|e| e.to_string())
        };
        let rows = few(4);
        assert_eq!(of(&rows, 2).unwrap(), [0, 1]);
        assert!(!rows.used().matches(1));
        let refused = of(&rows, 1).unwrap_err();
        assert!(
            refused
                .contains("each of the 2 rows selected of the array, or for each of its rows, got 1 value"),
            "{refused}"
        );
        assert_eq!((n_passes(), rows.selection().unwrap().n_rows()), (0, None));
        assert_eq!(of(&rows, 7).unwrap(), [1, 2]);
        assert_eq!((n_passes(), rows.selection().unwrap().n_rows()), (1, Some(7)));
        let refused = of(&rows, 5).unwrap_err();
        assert!(refused.contains("or for each of its 7 rows, got 5 values"), "{refused}");
        assert!(rows.weighted(vec![1.0; 7]).is_ok());
        assert_eq!(n_passes(), 1);
        // A file that cannot be read again.
        let selected = SelectedRows::new(vec![0..1, 1..2], 2).unwrap();
        let gone = selected.with_rest(|| Err(Error::format("d.csv.gz", "it is gone", "write it again")));
        let rows = Rows::from_vec(vec![0.0; 2], 1).unwrap().selected(gone);
        assert_eq!(of(&rows, 2).unwrap(), [0, 1]);
        assert!(!rows.used().matches(3));
        assert!(of(&rows, 3).unwrap_err().contains("it is gone"));
    }

    #[test]
    fn values_of_rows_that_are_not_counted_are_compared_when_they_are() {
        let rows = UsedRows { n: None, selected: None, origin: "a pipe" };
        let weights = RowValues { name: "sample_weight", one: "weight", file: None };
        assert!(rows.chosen(7, weights).unwrap().is_none());
        let message = rows.counted(1).chosen(2, weights).unwrap_err().to_string();
        assert!(message.contains("each of the 1 row of a pipe, got 2 weights; give"), "{message}");
    }
}
