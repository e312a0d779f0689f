//! Statistics of observed cells: number, mean and sum of squares of each column, number of rows without observed cells, infinite
//! values.

use super::{Packer, Unpacker};
use crate::error::Result;
use crate::num::{Block, Real, Workspace};
use crate::stats::{Gather, Partial};

/// Weighted sums over the observed cells of each column.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ObservedCells {
    /// Number of rows.
    pub n: f64,
    /// Number of rows without observed cells.
    pub empty: f64,
    /// Number of observed cells of each column.
    pub count: Vec<f64>,
    /// Their mean; 0 if there are none.
    pub mean: Vec<f64>,
    /// Their sum of squares about the mean; exactly 0 if all are equal.
    pub squares: Vec<f64>,
    /// Number of rows of weight above 0 with `c` observed cells, for `c` from 0 to the number of columns, unweighted.
    pub rows_by_cells: Vec<f64>,
    /// The first infinite number: row, column, value.
    pub infinite: Option<(u64, u64, f64)>,
}

impl ObservedCells {
    fn zero(p: usize) -> Self {
        let none = vec![0.0; p];
        let (mean, squares) = (none.clone(), none.clone());
        let rows_by_cells = vec![0.0; p + 1];
        Self { n: 0.0, empty: 0.0, count: none, mean, squares, rows_by_cells, infinite: None }
    }

    /// Number of rows with an observed cell, unweighted.
    pub fn n_rows(&self) -> u64 {
        self.rows_by_cells[1..].iter().sum::<f64>() as u64
    }

    /// Number of observed cells of all columns.
    pub fn n_cells(&self) -> f64 {
        self.count.iter().sum()
    }

    /// Whether any cell is missing.
    pub fn has_gaps(&self) -> bool {
        self.count.iter().any(|c| *c != self.n)
    }

    /// Adds a cell.
    fn add(&mut self, j: usize, x: f64, weight: f64) {
        let delta = x - self.mean[j];
        self.count[j] += weight;
        self.mean[j] += delta * (weight / self.count[j]);
        self.squares[j] += weight * (delta * (x - self.mean[j]));
    }
}

/// Gathers [`ObservedCells`]. `O(n p)`.
#[derive(Clone, Copy, Debug)]
pub struct GatherObserved;

impl<T: Real> Gather<T> for GatherObserved {
    type Part = ObservedCells;
    const KIND: &'static str = "observed cells";

    fn width(&self) -> Option<usize> {
        None
    }

    fn zero(&self, n_features: usize) -> ObservedCells {
        ObservedCells::zero(n_features)
    }

    fn add(&self, part: &mut ObservedCells, block: Block<'_, T>, _: &mut Workspace<T>) {
        for (i, row) in block.rows().enumerate() {
            let weight = block.weights.map_or(1.0, |w| w[i]);
            if weight == 0.0 {
                continue;
            }
            let mut n_cells = 0;
            for (j, x) in row.iter().map(|x| x.to_f64()).enumerate().filter(|(_, x)| !x.is_nan()) {
                if x.is_infinite() {
                    part.infinite.get_or_insert((block.first_row + i as u64, j as u64, x));
                    continue;
                }
                part.add(j, x, weight);
                n_cells += 1;
            }
            part.rows_by_cells[n_cells] += 1.0;
            part.n += weight;
            part.empty += if n_cells == 0 { weight } else { 0.0 };
        }
    }

    fn pack(&self, _: &mut Packer) {}

    fn unpack(_: &mut Unpacker<'_>) -> Result<Self> {
        Ok(Self)
    }
}

impl Partial for ObservedCells {
    fn merge(&mut self, right: Self) {
        for j in 0..self.count.len() {
            let (a, b) = (self.count[j], right.count[j]);
            if b == 0.0 {
                continue;
            }
            if a == 0.0 {
                (self.count[j], self.mean[j], self.squares[j]) = (b, right.mean[j], right.squares[j]);
                continue;
            }
            let delta = right.mean[j] - self.mean[j];
            self.count[j] = a + b;
            self.mean[j] += delta * (b / (a + b));
            self.squares[j] += right.squares[j] + delta * delta * (a * b / (a + b));
        }
        self.n += right.n;
        self.empty += right.empty;
        self.rows_by_cells.iter_mut().zip(&right.rows_by_cells).for_each(|(a, b)| *a += b);
        // Parts are merged in the order of their rows.
        self.infinite = self.infinite.or(right.infinite);
    }

    fn pack(&self, out: &mut Packer) {
        out.number(self.n);
        out.number(self.empty);
        out.numbers(&self.count);
        out.numbers(&self.mean);
        out.numbers(&self.squares);
        out.numbers(&self.rows_by_cells);
        out.count(u64::from(self.infinite.is_some()));
        if let Some((row, column, x)) = self.infinite {
            out.count(row);
            out.count(column);
            out.number(x);
        }
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (n, empty) = (from.number()?, from.number()?);
        let (count, mean, squares) = (from.numbers()?, from.numbers()?, from.numbers()?);
        let rows_by_cells = from.numbers()?;
        let infinite = match from.flag()? {
            true => Some((from.count()?, from.count()?, from.number()?)),
            false => None,
        };
        from.check(
            [mean.len(), squares.len(), rows_by_cells.len()] == [count.len(), count.len(), count.len() + 1],
        )?;
        Ok(Self { n, empty, count, mean, squares, rows_by_cells, infinite })
    }

    fn bytes(&self) -> usize {
        8 * (4 * self.count.len() + 4)
    }
}
