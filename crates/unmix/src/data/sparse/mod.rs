//! Sparse rows: only entries that differ from 0 are stored.
//!
//! Stored by row, as rows are read; a copy by column is made the first time that a sum over columns needs it. The matrix is never
//! made dense: readers get the block that they request, and sums over [shards](Stored) use stored entries only.

mod layout;
mod lines;
mod read;
#[cfg(test)]
mod tests;

pub use layout::Index;

use crate::error::{Result, there_are};
use crate::machine::check_memory;
use crate::num::{FillProgress, Real, Stored};
use layout::Layout;
use std::borrow::Cow;
use std::sync::OnceLock;

/// A sparse `n_rows x n_features` matrix.
///
/// Column indices ascend within a row and are distinct; explicit zeros stay stored.
pub struct Sparse<'a, T: Real> {
    n_features: usize,
    by_row: Layout<'a, T>,
    /// The entries by column, if they were given so.
    given: Option<Layout<'a, T>>,
    /// The copy by column, made when it is first needed.
    made: OnceLock<Layout<'static, T>>,
    /// The value of entries that are not stored.
    unstored: T,
}

impl<'a, T: Real> Sparse<'a, T> {
    /// From compressed sparse rows: row `i` has entries `starts[i]..starts[i + 1]` of `columns` and `values`.
    ///
    /// Columns may be in any order and may be repeated (their values are added); `values` are borrowed if they need not be sorted.
    /// `O(stored)`.
    ///
    /// # Errors
    ///
    /// Starts that do not begin at 0, that decrease, or that point beyond the entries; columns outside `0..n_features`; different
    /// numbers of columns and values; more than `u32::MAX` rows or columns.
    pub fn from_csr(
        starts: &[impl Index],
        columns: &[impl Index],
        values: impl Into<Cow<'a, [T]>>,
        n_features: usize,
    ) -> Result<Self> {
        let by_row = Layout::new(["row", "column"], starts, columns, values.into(), n_features)?;
        Ok(Self { n_features, by_row, given: None, made: OnceLock::new(), unstored: T::default() })
    }

    /// From compressed sparse columns: column `j` has entries `starts[j]..starts[j + 1]` of `rows` and `values`.
    ///
    /// # Errors
    ///
    /// As for [`from_csr`](Self::from_csr), with rows and columns exchanged; more rows than fit in memory as lists.
    pub fn from_csc(
        starts: &[impl Index],
        rows: &[impl Index],
        values: impl Into<Cow<'a, [T]>>,
        n_rows: usize,
    ) -> Result<Self> {
        let given = Layout::new(["column", "row"], starts, rows, values.into(), n_rows)?;
        check_list("rows", n_rows)?;
        let by_row = given.exchanged(n_rows);
        let unstored = T::default();
        Ok(Self { n_features: given.len(), by_row, given: Some(given), made: OnceLock::new(), unstored })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.by_row.len()
    }

    /// Number of columns.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Number of stored entries.
    pub fn n_stored(&self) -> usize {
        self.by_row.stored()
    }

    /// The stored entries of row `i`: their columns, ascending, and their values.
    pub fn row(&self, i: usize) -> (&[u32], &[T]) {
        self.by_row.line(i)
    }

    /// The given columns, in the given order; each at most once.
    ///
    /// # Errors
    ///
    /// A column that does not exist; more columns than fit in memory as lists.
    pub fn selected(&self, columns: &[usize]) -> Result<Sparse<'static, T>> {
        self.check_by_column()?;
        let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for &j in columns {
            if j >= self.n_features {
                return Err(layout::wrong(format!(
                    "{}, and column {j} is selected",
                    there_are(self.n_features as u64, "column")
                )));
            }
            let (at, numbers) = self.by_column().line(j);
            rows.extend_from_slice(at);
            values.extend_from_slice(numbers);
            starts.push(rows.len());
        }
        Sparse::from_csc(&starts, &rows, values, self.n_rows())
    }

    /// The first stored number that is not finite: row, column, value.
    pub(crate) fn first_not_finite(&self) -> Option<(u64, usize, f64)> {
        (0..self.n_rows()).find_map(|i| {
            let (columns, values) = self.row(i);
            let at = values.iter().position(|x| !x.finite())?;
            Some((i as u64, columns[at] as usize, values[at].to_f64()))
        })
    }

    /// The transposed matrix. Borrowed, except for the copy by column, which is made if it is not there yet.
    pub(crate) fn transposed(&self) -> Sparse<'_, T> {
        let (by_row, given) = (self.by_column().lent(), Some(self.by_row.lent()));
        Sparse { n_features: self.n_rows(), by_row, given, made: OnceLock::new(), unstored: self.unstored }
    }

    /// The stored entries as the observed cells of rows: readers get NaN for all other cells. Borrowed.
    pub(crate) fn as_cells(&self) -> Sparse<'_, T> {
        let (by_row, given) = (self.by_row.lent(), self.given.as_ref().map(Layout::lent));
        let unstored = T::from_f64(f64::NAN);
        Sparse { n_features: self.n_features, by_row, given, made: OnceLock::new(), unstored }
    }

    /// Rows `rows` as a shard; row 0 is row `first_row` of the data, and `weights` are those of all local rows.
    ///
    /// # Errors
    ///
    /// More columns than fit in memory as lists.
    pub(crate) fn shard<'s>(
        &'s self,
        (first_row, rows): (u64, std::ops::Range<usize>),
        weights: Option<&'s [f64]>,
        threads: usize,
        pace: FillProgress<'s>,
    ) -> Result<Stored<'s, T>> {
        check_list("columns", self.n_features)?;
        let (by_row, by_column) = (self.by_row.lines(), self.by_column().lines());
        Ok(Stored { first_row, rows, by_row, by_column, weights, threads, pace })
    }

    /// Refuses columns that do not fit in memory as lists, if the copy by column is not there yet.
    fn check_by_column(&self) -> Result<()> {
        match self.given.is_some() || self.made.get().is_some() {
            true => Ok(()),
            false => check_list("columns", self.n_features),
        }
    }

    fn by_column(&self) -> &Layout<'_, T> {
        match &self.given {
            Some(given) => given,
            None => self.made.get_or_init(|| self.by_row.exchanged(self.n_features)),
        }
    }
}

/// Refuses `n` rows or columns if eight numbers for each do not fit in memory: a small file can declare any shape.
pub(super) fn check_list(what: &str, n: usize) -> Result<()> {
    let bytes = (n as u64).saturating_mul(8 * 8);
    check_memory(&format!("sparse rows with {n} {what}"), bytes, "check the declared shape")
}
