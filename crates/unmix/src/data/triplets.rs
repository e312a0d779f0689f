//! Lists of cells, (row, column, value), and the sparse rows that they define.

use super::sparse::check_list;
use super::{Features, Rows, Sparse};
use crate::error::{Error, Result, there_are};
use crate::num::Real;

/// Row and column indices of cells, counted from 0, and their values if these are listed; NaN for unknown values.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Triplets<T> {
    /// Row and column of each cell.
    pub cells: Vec<(u64, u64)>,
    /// Values of the cells.
    pub values: Option<Vec<T>>,
    origin: String,
}

/// Maximum row or column index.
const LARGEST_INDEX: f64 = (u32::MAX - 1) as f64;

impl<T: Real> Rows<'_, T> {
    /// Converts these rows to a list of cells: row, column and value of each, or row and column alone. In memory.
    ///
    /// # Errors
    ///
    /// Rows of another width; row and column indices that are not non-negative integers; infinite values; errors of the source.
    pub fn triplets(&self) -> Result<Triplets<T>> {
        let (p, origin) = (self.n_features(), self.origin());
        if p != 2 && p != 3 {
            let remedy = "give a table of row, column and value, or choose these columns".into();
            return Err(Error::Width { what: "a list of cells".into(), need: 3, got: p, remedy });
        }
        let numbers = self.read_range(0..u64::MAX)?;
        let mut cells = Vec::with_capacity(numbers.len() / p);
        for (line, row) in numbers.chunks_exact(p).enumerate() {
            let place = |j: usize, what: &str| {
                let x = row[j].to_f64();
                if (0.0..=LARGEST_INDEX).contains(&x) && x.fract() == 0.0 {
                    return Ok(x as u64);
                }
                let why = format!("line {line} of {origin} (from 0) has {what} {x}");
                let remedy = "number rows and columns from 0: a list of cells has row, column and value";
                Err(Error::setting("triplets", "true", why, remedy))
            };
            cells.push((place(0, "row")?, place(1, "column")?));
            if p == 3 && row[2].to_f64().is_infinite() {
                return Err(self.not_finite_at("a list of cells", line as u64, 2, row[2].to_f64()));
            }
        }
        let values = (p == 3).then(|| numbers.iter().skip(2).step_by(3).copied().collect());
        Ok(Triplets { cells, values, origin: origin.into() })
    }
}

impl<T: Real> Triplets<T> {
    /// The cells of known value as stored entries of sparse rows of `n_features` columns, or up to the largest column index; rows up to
    /// the largest row index. `O(cells log cells)`.
    ///
    /// # Errors
    ///
    /// A list without values, a cell that is listed twice, a column index out of range; more rows than fit in memory as lists.
    pub fn rows(&self, n_features: Option<usize>) -> Result<Rows<'static, T>> {
        let refused = |why: String, remedy: &str| Err(Error::setting("triplets", "true", why, remedy));
        let Some(values) = &self.values else {
            let remedy = "give a table of row, column and value";
            return refused(format!("{} has no column of values", self.origin), remedy);
        };
        let last = |of: fn(&(u64, u64)) -> u64| self.cells.iter().map(of).max().map_or(0, |m| m as usize + 1);
        let (n, p) = (last(|c| c.0), n_features.unwrap_or_else(|| last(|c| c.1)));
        if let Some(at) = self.cells.iter().position(|c| c.1 >= p as u64) {
            let why = format!(
                "line {at} of {} (from 0) has column {}, but {}",
                self.origin,
                self.cells[at].1,
                there_are(p as u64, "column")
            );
            return refused(why, "number columns from 0");
        }
        check_list("rows", n)?;
        let mut order: Vec<usize> = (0..self.cells.len()).collect();
        order.sort_by_key(|at| self.cells[*at]);
        if let Some(pair) = order.windows(2).find(|pair| self.cells[pair[0]] == self.cells[pair[1]]) {
            let (i, j) = self.cells[pair[0]];
            let why = format!(
                "lines {} and {} of {} (from 0) are of the same cell, row {i} and column {j}",
                pair[0], pair[1], self.origin
            );
            return refused(why, "keep one of them, or their mean");
        }
        let (mut starts, mut columns, mut kept) = (vec![0usize; n + 1], Vec::new(), Vec::new());
        for at in order.into_iter().filter(|at| !values[*at].to_f64().is_nan()) {
            let (i, j) = self.cells[at];
            starts[i as usize + 1] += 1;
            columns.push(j as u32);
            kept.push(values[at]);
        }
        (0..n).for_each(|i| starts[i + 1] += starts[i]);
        let sparse = Sparse::from_csr(&starts, &columns, kept, p)?;
        Ok(Rows::new(sparse, Features::default(), self.origin.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(numbers: &[f64], p: usize) -> Result<Triplets<f64>> {
        Rows::from_slice(numbers, p).unwrap().triplets()
    }

    #[test]
    fn cells_in_any_order_become_rows_and_zeros_are_cells() {
        let found = list(&[2.0, 1.0, 5.0, 0.0, 2.0, 0.0, 0.0, 0.0, f64::NAN, 2.0, 0.0, -1.0], 3).unwrap();
        assert_eq!(found.cells, [(2, 1), (0, 2), (0, 0), (2, 0)]);
        let rows = found.rows(None).unwrap();
        let sparse = rows.sparse().unwrap();
        assert_eq!((sparse.n_rows(), sparse.n_features(), sparse.n_stored()), (3, 3, 3));
        assert_eq!(sparse.row(0), (&[2u32][..], &[0.0][..]));
        assert_eq!(sparse.row(1).0.len(), 0);
        assert_eq!(sparse.row(2), (&[0u32, 1][..], &[-1.0, 5.0][..]));
        assert_eq!(found.rows(Some(9)).unwrap().n_features(), 9);
        assert!(list(&[1.0, 2.0], 2).unwrap().values.is_none());
    }

    #[test]
    fn bad_lists_of_cells_are_refused_with_their_line() {
        let refused = |numbers: &[f64], p: usize| match list(numbers, p).and_then(|t| t.rows(Some(4))) {
            Ok(_) => panic!("accepted"),
            Err(e) => e.to_string(),
        };
        assert!(refused(&[0.0; 8], 4).contains("list of cells"), "{}", refused(&[0.0; 8], 4));
        assert!(refused(&[0.0, 0.5, 1.0], 3).contains("line 0 of the array (from 0) has column 0.5"));
        assert!(refused(&[0.0, 0.0, 1.0, -1.0, 0.0, 1.0], 3).contains("line 1"));
        assert!(refused(&[0.0, 4.0, 1.0], 3).contains("has column 4, but there are 4 columns"));
        assert!(refused(&[1.0, 2.0, 1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0], 3).contains("lines 0 and 2"));
        assert!(refused(&[1.0, 2.0, f64::INFINITY], 3).contains("infinity"));
        assert!(refused(&[1.0, 2.0], 2).contains("no column of values"));
        // Eight numbers for each of four billion rows, of which all but one are empty.
        if crate::available_memory().is_some_and(|bytes| bytes < 200 << 30) {
            assert!(refused(&[4e9, 0.0, 1.0], 3).contains("sparse rows with 4000000001 rows would need"));
        }
    }
}
