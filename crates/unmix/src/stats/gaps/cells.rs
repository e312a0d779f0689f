//! Rows as lists of their observed cells, for rows with few of them.

use super::{Packer, Unpacker};
use crate::error::Result;
use crate::num::{Block, Real, Workspace};
use crate::stats::{Gather, Partial};

/// Rows as compressed lists of their cells: row `i` has cells `starts[i]..starts[i + 1]`.
#[derive(Clone, Debug, PartialEq)]
pub struct CellLists {
    /// Start of each row; one more than the number of rows.
    pub starts: Vec<usize>,
    /// Columns of the cells, ascending within a row.
    pub columns: Vec<u32>,
    /// Their values.
    pub values: Vec<f64>,
    /// The first infinite number: row, column, value.
    pub infinite: Option<(u64, u64, f64)>,
    /// The first row whose weight is neither 1 nor 0, and its weight: a list has every cell once, so that the methods that
    /// use lists refuse such weights.
    pub weighted: Option<(u64, f64)>,
}

impl Default for CellLists {
    fn default() -> Self {
        Self { starts: vec![0], columns: Vec::new(), values: Vec::new(), infinite: None, weighted: None }
    }
}

impl CellLists {
    /// Appends a row of these columns and values; NaN is a missing cell.
    pub fn push(&mut self, row: u64, cells: impl Iterator<Item = (u32, f64)>) {
        for (j, x) in cells.filter(|(_, x)| !x.is_nan()) {
            if x.is_infinite() {
                self.infinite.get_or_insert((row, j as u64, x));
            }
            self.columns.push(j);
            self.values.push(x);
        }
        self.starts.push(self.columns.len());
    }
}

/// Gathers the [`CellLists`] of rows in which NaN is a missing cell. A row of weight 0 has no cells. `O(n p)`.
#[derive(Clone, Copy, Debug)]
pub struct GatherCells;

impl<T: Real> Gather<T> for GatherCells {
    type Part = CellLists;
    const KIND: &'static str = "lists of cells";

    fn width(&self) -> Option<usize> {
        None
    }

    fn zero(&self, _: usize) -> CellLists {
        CellLists::default()
    }

    fn add(&self, part: &mut CellLists, block: Block<'_, T>, _: &mut Workspace<T>) {
        for (i, row) in block.rows().enumerate() {
            let (number, weight) = (block.first_row + i as u64, block.weights.map_or(1.0, |w| w[i]));
            if weight != 0.0 && weight != 1.0 {
                part.weighted.get_or_insert((number, weight));
            }
            let counted = if weight == 0.0 { &row[..0] } else { row };
            part.push(number, counted.iter().enumerate().map(|(j, x)| (j as u32, x.to_f64())));
        }
    }

    fn pack(&self, _: &mut Packer) {}

    fn unpack(_: &mut Unpacker<'_>) -> Result<Self> {
        Ok(Self)
    }
}

impl Partial for CellLists {
    fn merge(&mut self, right: Self) {
        if self.starts.len() == 1 {
            *self = right;
            return;
        }
        let before = self.columns.len();
        self.starts.extend(right.starts[1..].iter().map(|at| before + at));
        self.columns.extend(right.columns);
        self.values.extend(right.values);
        // Parts are merged in the order of their rows.
        self.infinite = self.infinite.or(right.infinite);
        self.weighted = self.weighted.or(right.weighted);
    }

    fn pack(&self, out: &mut Packer) {
        out.count(self.starts.len() as u64);
        self.starts.iter().for_each(|at| out.count(*at as u64));
        self.columns.iter().for_each(|j| out.count(u64::from(*j)));
        out.numbers(&self.values);
        out.count(u64::from(self.infinite.is_some()));
        // Both always take the same room, so that parts of the same size are packed in as many bytes.
        let (row, column, x) = self.infinite.unwrap_or_default();
        out.count(row);
        out.count(column);
        out.number(x);
        out.count(u64::from(self.weighted.is_some()));
        let (row, weight) = self.weighted.unwrap_or_default();
        out.count(row);
        out.number(weight);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let lines = from.count()?;
        let mut part = Self { starts: Vec::new(), ..Self::default() };
        for _ in 0..lines {
            let (at, last) = (from.count()? as usize, part.starts.last().copied());
            from.check(last.map_or(at == 0, |last| at >= last))?;
            part.starts.push(at);
        }
        let cells = part.starts.last().copied();
        from.check(cells.is_some())?;
        for _ in 0..cells.unwrap_or(0) {
            let j = from.count()?;
            from.check(j <= u64::from(u32::MAX))?;
            part.columns.push(j as u32);
        }
        part.values = from.numbers()?;
        from.check(part.values.len() == part.columns.len())?;
        let (there, infinite) = (from.flag()?, (from.count()?, from.count()?, from.number()?));
        part.infinite = there.then_some(infinite);
        let (there, weighted) = (from.flag()?, (from.count()?, from.number()?));
        part.weighted = there.then_some(weighted);
        Ok(part)
    }

    fn bytes(&self) -> usize {
        8 * (self.starts.len() + 7) + 12 * self.values.len()
    }
}
