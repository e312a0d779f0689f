//! Row-major matrices: owned, and borrowed by rows.

use super::{Real, kernel};
use crate::machine::{room, zeros};
use faer::{MatMut, MatRef};
use serde::{Deserialize, Serialize};

/// An owned row-major matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Matrix<T> {
    rows: usize,
    cols: usize,
    data: Vec<T>,
}

impl<T: Real> Matrix<T> {
    /// All zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, data: zeros(rows * cols) }
    }

    /// From row-major numbers; `data.len()` must equal `rows * cols`.
    pub fn from_vec(rows: usize, cols: usize, data: Vec<T>) -> Self {
        assert_eq!(data.len(), rows * cols, "a {rows} x {cols} matrix has {} entries", rows * cols);
        Self { rows, cols, data }
    }

    /// From a function of the indices.
    pub fn from_fn(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> T) -> Self {
        let mut data = room(rows * cols);
        for i in 0..rows {
            data.extend((0..cols).map(|j| f(i, j)));
        }
        Self { rows, cols, data }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[T] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Row `i`, mutable.
    pub fn row_mut(&mut self, i: usize) -> &mut [T] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// All entries, row-major.
    pub fn as_slice(&self) -> &[T] {
        &self.data
    }

    /// All entries, row-major, mutable.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// The entries, row-major.
    pub fn into_vec(self) -> Vec<T> {
        self.data
    }

    /// The transpose.
    pub fn transposed(&self) -> Self {
        let mut out = Self::zeros(self.cols, self.rows);
        transpose(&mut out.data, self.rows, &self.data, self.cols, [self.rows, self.cols]);
        out
    }

    /// The first `rows` rows.
    pub fn top_rows(mut self, rows: usize) -> Self {
        self.data.truncate(rows * self.cols);
        self.rows = rows;
        self
    }

    /// The rows starting at `first`.
    pub fn rows_from(&self, first: usize) -> Self {
        Self { rows: self.rows - first, cols: self.cols, data: self.data[first * self.cols..].to_vec() }
    }

    /// Converted to another type.
    pub fn cast<U: Real>(&self) -> Matrix<U> {
        Matrix {
            rows: self.rows,
            cols: self.cols,
            data: self.data.iter().map(|x| U::from_f64(x.to_f64())).collect(),
        }
    }

    pub(crate) fn faer(&self) -> MatRef<'_, T> {
        MatRef::from_row_major_slice(&self.data, self.rows, self.cols)
    }

    pub(crate) fn faer_mut(&mut self) -> MatMut<'_, T> {
        MatMut::from_row_major_slice_mut(&mut self.data, self.rows, self.cols)
    }
}

impl<T> std::ops::Index<(usize, usize)> for Matrix<T> {
    type Output = T;
    fn index(&self, (i, j): (usize, usize)) -> &T {
        &self.data[i * self.cols + j]
    }
}

impl<T> std::ops::IndexMut<(usize, usize)> for Matrix<T> {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        &mut self.data[i * self.cols + j]
    }
}

/// Consecutive rows, borrowed, row-major.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a, T> {
    /// Number of its first row in the data.
    pub first_row: u64,
    /// Row-major numbers.
    pub data: &'a [T],
    /// Number of columns.
    pub n_features: usize,
    /// Sample weights, unless all are 1.
    pub weights: Option<&'a [f64]>,
}

impl<'a, T: Real> Block<'a, T> {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.data.len() / self.n_features
    }

    /// Number of missing cells, which are NaN.
    pub(crate) fn n_missing(&self) -> u64 {
        self.data.iter().filter(|x| x.to_f64().is_nan()).count() as u64
    }

    /// The rows, one by one.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &'a [T]> {
        self.data.chunks_exact(self.n_features)
    }

    /// The rows of non-zero weight minus `mean`, if there is one, and the weight of each: borrowed from the block if nothing has to be
    /// done, else in the buffers.
    pub fn counted<'b>(
        &self,
        mean: Option<&[f64]>,
        rows: &'b mut Vec<T>,
        weights: &'b mut Vec<f64>,
    ) -> (&'b [T], Option<&'b [f64]>)
    where
        'a: 'b,
    {
        let Some(all) = self.weights else {
            let Some(mean) = mean else { return (self.data, None) };
            kernel::centre(self.data, None, mean, rows);
            return (rows, None);
        };
        rows.clear();
        weights.clear();
        for (row, w) in self.rows().zip(all).filter(|(_, w)| **w > 0.0) {
            weights.push(*w);
            match mean {
                None => rows.extend_from_slice(row),
                Some(m) => rows.extend(row.iter().zip(m).map(|(x, m)| T::from_f64(x.to_f64() - m))),
            }
        }
        (rows, Some(weights))
    }
}

/// Writes the transpose of an `n x k` matrix, `[n, k]`: number `(i, j)` of `from`, whose rows are `from_width` numbers apart, becomes number
/// `(j, i)` of `to`, whose rows are `to_width` apart.
pub(crate) fn transpose<T: Copy>(
    to: &mut [T],
    to_width: usize,
    from: &[T],
    from_width: usize,
    [n, k]: [usize; 2],
) {
    /// Side length of square tiles, which are read and written by whole cache lines.
    const TILE_SIDE: usize = 16;
    for first in (0..n).step_by(TILE_SIDE) {
        let rows = first..n.min(first + TILE_SIDE);
        for left in (0..k).step_by(TILE_SIDE) {
            for j in left..k.min(left + TILE_SIDE) {
                let to = &mut to[j * to_width + rows.start..j * to_width + rows.end];
                let from = from[rows.start * from_width + j..].iter().step_by(from_width);
                to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            }
        }
    }
}
