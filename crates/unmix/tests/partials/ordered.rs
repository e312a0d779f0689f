//! Statistics that keep rows or their positions, and those of rectified codes.

use super::statistics::{Statistic, lower, with_gaps};
use unmix::Real;
use unmix::data::Workspace;
use unmix::internal::gaps::{CellLists, GatherCells};
use unmix::internal::num::{Block, Matrix};
use unmix::internal::rectified::cubes::Cubes;
use unmix::internal::rectified::{CodeSums, GatherCodes, GatherCubes};
use unmix::stats::{
    Checksum, Entries, Gather, GatherChecksum, GatherEntries, GatherRange, GatherRows, GatherWeights,
    GatheredRows, Range, RowWeights,
};

/// The numbers of a block in double precision.
fn wide<T: Real>(block: &Block<'_, T>) -> Vec<f64> {
    block.data.iter().map(|x| x.to_f64()).collect()
}

/// Every third row.
fn every_third() -> GatherRows {
    GatherRows::new((0..60).step_by(3).collect())
}

impl Statistic for GatheredRows<f64> {
    const NAME: &'static str = "selected rows";
    fn empty(p: usize) -> Self {
        Gather::<f64>::zero(&every_third(), p)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, _: &mut Workspace<T>) {
        let Block { first_row, n_features, weights, .. } = block;
        let data = &wide(&block)[..];
        let block = Block { first_row, data, n_features, weights };
        every_third().add(self, block, &mut Workspace::default())
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        (self.numbers.clone(), Vec::new(), Vec::new())
    }
}

impl Statistic for Range {
    const NAME: &'static str = "range";
    fn empty(p: usize) -> Self {
        Gather::<f64>::zero(&GatherRange::new(), p)
    }
    /// 3 stands for infinity.
    fn gather<T: Real>(&mut self, block: Block<'_, T>, _: &mut Workspace<T>) {
        let Block { first_row, n_features, weights, .. } = block;
        let data: Vec<f64> =
            wide(&block).into_iter().map(|x| if x == 3.0 { f64::INFINITY } else { x }).collect();
        let block = Block { first_row, data: &data[..], n_features, weights };
        GatherRange::new().add(self, block, &mut Workspace::default())
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let place = self.not_finite.map_or([-1.0; 2], |(row, column, _)| [row as f64, column as f64]);
        let between = self.between.iter().flat_map(|(low, high)| [*low, *high]);
        (between.chain(place).collect(), Vec::new(), Vec::new())
    }
}

impl Statistic for Checksum {
    const NAME: &'static str = "checksum";
    fn empty(_: usize) -> Self {
        Checksum::default()
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        GatherChecksum.add(self, block, work)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        (vec![f64::from(self.checksum())], Vec::new(), Vec::new())
    }
}

impl Statistic for RowWeights {
    const NAME: &'static str = "weights of rows";
    fn empty(p: usize) -> Self {
        Gather::<f64>::zero(&GatherWeights::new(), p)
    }
    /// The size of the first number of a row is its weight.
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        let weights: Vec<f64> = block.rows().map(|row| row[0].to_f64().abs()).collect();
        GatherWeights::new().add(self, Block { weights: Some(&weights[..]), ..block }, work)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        ([&[self.n as f64], &self.weights[..]].concat(), Vec::new(), Vec::new())
    }
}

/// The numbers of rows as lists, which have no means and no sums.
fn of_lists(
    starts: impl Iterator<Item = f64>,
    columns: &[u32],
    values: &[f64],
) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let columns = columns.iter().map(|j| f64::from(*j));
    (starts.chain(columns).chain(values.iter().copied()).collect(), Vec::new(), Vec::new())
}

impl Statistic for CellLists {
    const NAME: &'static str = "lists of cells";
    fn empty(p: usize) -> Self {
        Gather::<f64>::zero(&GatherCells, p)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, _: &mut Workspace<T>) {
        let Block { first_row, n_features, weights, .. } = block;
        let data = &with_gaps(&block)[..];
        let block = Block { first_row, data, n_features, weights };
        GatherCells.add(self, block, &mut Workspace::default())
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        of_lists(self.starts.iter().map(|at| *at as f64), &self.columns, &self.values)
    }
    /// A column has 4 bytes in memory and 8 packed.
    fn extra(&self) -> usize {
        48 + 4 * self.columns.len()
    }
}

impl Statistic for Entries<f64> {
    const NAME: &'static str = "entries";
    fn empty(p: usize) -> Self {
        Gather::<f64>::zero(&GatherEntries::<f64>::new(), p)
    }
    /// 3 stands for an entry that is not stored.
    fn gather<T: Real>(&mut self, block: Block<'_, T>, _: &mut Workspace<T>) {
        let Block { first_row, n_features, weights, .. } = block;
        let data: Vec<f64> = wide(&block).into_iter().map(|x| if x == 3.0 { 0.0 } else { x }).collect();
        let block = Block { first_row, data: &data[..], n_features, weights };
        GatherEntries::<f64>::new().add(self, block, &mut Workspace::default())
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        of_lists(self.starts.iter().map(|at| *at as f64), &self.columns, &self.values)
    }
    /// A column has 4 bytes in memory and 8 packed.
    fn extra(&self) -> usize {
        48 + 4 * self.columns.len()
    }
}

/// A centre below all numbers and two directions, with which all codes are positive, so that sums of their powers do not cancel.
fn positive(p: usize) -> (Vec<f64>, Matrix<f64>) {
    (vec![-2e4; p], Matrix::from_fn(p, 2, |i, j| 1.0 / (1 + i + j) as f64))
}

fn cubes<T: Real>(p: usize) -> GatherCubes<T> {
    let (center, b) = positive(p);
    GatherCubes::new(center, &b)
}

impl Statistic for Cubes {
    const NAME: &'static str = "cubes";
    fn empty(p: usize) -> Self {
        Gather::<f64>::zero(&cubes::<f64>(p), p)
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        cubes::<T>(block.n_features).add(self, block, work)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        (vec![self.n], Vec::new(), self.sums.clone())
    }
}

fn codes<T: Real>(p: usize) -> GatherCodes<T> {
    let (center, b) = positive(p);
    GatherCodes::new(center, &b, vec![0.0; 2]).with_sums().with_largest()
}

impl Statistic for CodeSums {
    const NAME: &'static str = "rectified codes";
    fn empty(p: usize) -> Self {
        codes::<f64>(p).empty()
    }
    fn gather<T: Real>(&mut self, block: Block<'_, T>, work: &mut Workspace<T>) {
        codes::<T>(block.n_features).add(self, block, work)
    }
    fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let largest: Vec<f64> = self.largest.iter().map(|x| x.0).collect();
        let moments = lower(&self.moments);
        let sums = [self.cross.as_slice(), &moments, &self.sums, &self.squares, &largest].concat();
        (vec![self.n], Vec::new(), sums)
    }
    /// Three lengths for each of two matrices, and one for each of three lists.
    fn extra(&self) -> usize {
        72
    }
}
