//! Gathers of selected rows, such as initial values of a search, and of the range of the columns with the first number that is not finite.

use super::stored::Counts;
use super::sum::{AddShard, GatherSum, Sum};
use super::{Gather, Packer, Partial, Unpacker};
use crate::error::Result;
use crate::num::{Block, Real, Stored, Workspace};

/// Gathers the rows with these indices.
#[derive(Clone, Debug)]
pub struct GatherRows {
    /// Row indices, ascending.
    chosen: Vec<u64>,
}

impl GatherRows {
    /// The rows `chosen`, in ascending order.
    pub fn new(mut chosen: Vec<u64>) -> Self {
        chosen.sort_unstable();
        Self { chosen }
    }
}

/// The selected rows, in ascending order of their indices.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GatheredRows<T> {
    /// The numbers, row-major.
    pub numbers: Vec<T>,
}

impl<T: Real> Gather<T> for GatherRows {
    type Part = GatheredRows<T>;
    const KIND: &'static str = "rows";

    fn width(&self) -> Option<usize> {
        None
    }

    fn zero(&self, _: usize) -> GatheredRows<T> {
        GatheredRows::default()
    }

    fn add(&self, part: &mut GatheredRows<T>, block: Block<'_, T>, _: &mut Workspace<T>) {
        let (p, first) = (block.n_features, block.first_row);
        let from = self.chosen.partition_point(|&row| row < first);
        let until = self.chosen.partition_point(|&row| row < first + block.n_rows() as u64);
        for &row in &self.chosen[from..until] {
            let at = (row - first) as usize * p;
            part.numbers.extend_from_slice(&block.data[at..at + p]);
        }
    }

    fn pack(&self, out: &mut Packer) {
        out.count(self.chosen.len() as u64);
        self.chosen.iter().for_each(|&row| out.count(row));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let n = from.count()?;
        let chosen = (0..n).map(|_| from.count()).collect::<Result<Vec<u64>>>()?;
        from.check(chosen.is_sorted())?;
        Ok(Self { chosen })
    }
}

impl<T: Real> Partial for GatheredRows<T> {
    fn merge(&mut self, right: Self) {
        match self.numbers.is_empty() {
            true => *self = right,
            false => self.numbers.extend_from_slice(&right.numbers),
        }
    }

    fn pack(&self, out: &mut Packer) {
        out.numbers_of(&self.numbers);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        Ok(Self { numbers: from.numbers_of()? })
    }

    fn bytes(&self) -> usize {
        std::mem::size_of_val(self.numbers.as_slice())
    }
}

/// Gathers a [`Range`].
pub type GatherRange = GatherSum<Range>;

/// Minimum and maximum of every column, and the first number that is not finite, over rows of non-zero weight.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Range {
    /// Minimum and maximum of each column; infinite for an empty column.
    pub between: Vec<(f64, f64)>,
    /// Row, column and value of the first number that is not finite, row by row.
    pub not_finite: Option<(u64, usize, f64)>,
}

impl Range {
    /// Range of each column; 0 if it is constant.
    pub fn spread(&self) -> impl Iterator<Item = f64> {
        self.between.iter().map(|(low, high)| (high - low).max(0.0))
    }
}

impl<T: Real> Sum<T> for Range {
    const KIND: &'static str = "range";
    const STORED: Option<AddShard<Self, T>> = Some(add_stored);

    fn zero(n_features: usize) -> Self {
        Self { between: vec![(f64::INFINITY, f64::NEG_INFINITY); n_features], not_finite: None }
    }

    fn add(&mut self, block: Block<'_, T>, _: &mut Workspace<T>) {
        for (i, row) in block.rows().enumerate() {
            if block.weights.is_some_and(|w| w[i] == 0.0) {
                continue;
            }
            for (x, (low, high)) in row.iter().zip(&mut self.between) {
                let x = x.to_f64();
                // Separately, because comparisons with NaN are false.
                (*low, *high) = (low.min(x), high.max(x));
            }
            if self.not_finite.is_none() {
                let at = row.iter().position(|x| !x.finite());
                self.not_finite = at.map(|j| (block.first_row + i as u64, j, row[j].to_f64()));
            }
        }
    }
}

/// `O(stored + p)`.
fn add_stored<T: Real>(part: &mut Range, shard: &Stored<'_, T>) -> Result<()> {
    let (p, counts) = (shard.n_features(), Counts::of_shard(shard));
    if counts.rows == 0 {
        return Ok(());
    }
    let mut table = vec![0.0; 2 * p];
    shard.fill(&mut table, 2, |j, out| {
        let (rows, values) = shard.column(j);
        let unstored = if counts.full(rows) { (f64::INFINITY, f64::NEG_INFINITY) } else { (0.0, 0.0) };
        let entries = rows.iter().zip(values).filter(|(i, _)| counts.of(**i as usize) > 0.0);
        let between =
            entries.fold(unstored, |(low, high), (_, x)| (low.min(x.to_f64()), high.max(x.to_f64())));
        (out[0], out[1]) = between;
    })?;
    let mut of_row = shard.rows().filter(|&i| counts.of(i) > 0.0);
    let not_finite = of_row.find_map(|i| {
        let (columns, values) = shard.row(i);
        let at = values.iter().position(|x| !x.finite())?;
        Some((shard.number(i), columns[at] as usize, values[at].to_f64()))
    });
    let between = table.as_chunks::<2>().0.iter().map(|&[low, high]| (low, high)).collect();
    part.merge(Range { between, not_finite });
    Ok(())
}

impl Partial for Range {
    fn merge(&mut self, right: Self) {
        for (own, other) in self.between.iter_mut().zip(right.between) {
            *own = (own.0.min(other.0), own.1.max(other.1));
        }
        // Rows to the right come later.
        self.not_finite = self.not_finite.or(right.not_finite);
    }

    fn pack(&self, out: &mut Packer) {
        out.numbers(&self.between.iter().flat_map(|(low, high)| [*low, *high]).collect::<Vec<f64>>());
        out.count(u64::from(self.not_finite.is_some()));
        let (row, column, x) = self.not_finite.unwrap_or_default();
        out.count(row);
        out.count(column as u64);
        out.number(x);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let between = from.numbers()?;
        from.check(between.len().is_multiple_of(2))?;
        let between: Vec<(f64, f64)> = between.as_chunks::<2>().0.iter().map(|&[a, b]| (a, b)).collect();
        let (there, row, column, x) = (from.flag()?, from.count()?, from.count()? as usize, from.number()?);
        from.check(!there || column < between.len())?;
        Ok(Self { between, not_finite: there.then_some((row, column, x)) })
    }

    fn bytes(&self) -> usize {
        16 * self.between.len() + 40
    }
}
