//! Codes of all rows in memory, for algorithms that need them: in chunks of rows, stored by unit within each chunk.
//!
//! A row of weight `w` is stored multiplied by `sqrt(w)`, so that sums over rows need no weights.

use super::codes::CodeSums;
use crate::data::{Rows, Sink};
use crate::error::{Error, Result};
use crate::num::parallel;
use crate::num::{Block, Matrix, Plan, Real, Workspace, kernel, transpose, widest};
use crate::run::Run;
use crate::stats::{Gather, Packer, Unpacker};
use serde::{Deserialize, Serialize};

/// Rows of a chunk.
pub(super) const ROWS_PER_CHUNK: usize = 512;

/// Minimum number of entries for which work is distributed to threads.
const LEAST_SHARED_ENTRIES: usize = 1 << 16;

/// Codes, `n x l`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Serialize", deserialize = "T: serde::de::DeserializeOwned"))]
pub struct StoredCodes<T> {
    l: usize,
    n: usize,
    /// Chunks of rows, each an `l x n` table of its `n` rows.
    chunks: Vec<Vec<T>>,
}

impl<T: Real> StoredCodes<T> {
    /// Zeros for `n` rows.
    pub fn zeros(n: usize, l: usize) -> Self {
        let chunks = (0..n)
            .step_by(ROWS_PER_CHUNK)
            .map(|at| vec![T::default(); ROWS_PER_CHUNK.min(n - at) * l])
            .collect();
        Self { l, n, chunks }
    }

    /// Number of units.
    pub fn n_units(&self) -> usize {
        self.l
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n
    }

    /// The chunks.
    pub(super) fn chunks(&self) -> &[Vec<T>] {
        &self.chunks
    }

    /// The chunks, mutable.
    pub(super) fn chunks_mut(&mut self) -> &mut [Vec<T>] {
        &mut self.chunks
    }

    /// The code of row `i` and unit `j`.
    pub fn at(&self, i: usize, j: usize) -> T {
        let chunk = &self.chunks[i / ROWS_PER_CHUNK];
        chunk[j * (chunk.len() / self.l) + i % ROWS_PER_CHUNK]
    }

    /// Sets the code of row `i` and unit `j`.
    pub fn set(&mut self, i: usize, j: usize, x: T) {
        let l = self.l;
        let chunk = &mut self.chunks[i / ROWS_PER_CHUNK];
        let n = chunk.len() / l;
        chunk[j * n + i % ROWS_PER_CHUNK] = x;
    }

    /// The codes of `rows`, row-major, instead of what is in `out`.
    fn read(&self, rows: std::ops::Range<usize>, out: &mut Vec<T>) {
        let l = self.l;
        out.resize(rows.len() * l, T::default());
        let mut at = rows.start;
        while at < rows.end {
            let (chunk, i) = (&self.chunks[at / ROWS_PER_CHUNK], at % ROWS_PER_CHUNK);
            let n = chunk.len() / l;
            let some = (n - i).min(rows.end - at);
            transpose(&mut out[(at - rows.start) * l..], l, &chunk[i..], n, [l, some]);
            at += some;
        }
    }

    /// Codes of unit `j` in a chunk.
    pub(super) fn unit(chunk: &[T], l: usize, j: usize) -> &[T] {
        let n = chunk.len() / l;
        &chunk[j * n..(j + 1) * n]
    }

    /// Calls `work` for each chunk with its index: in all threads of the current pool, if there is enough work.
    pub(super) fn each_mut(&mut self, work: impl Fn(usize, &mut [T]) + Sync) {
        let parallel = self.n * self.l >= LEAST_SHARED_ENTRIES;
        parallel::each_if(parallel, self.chunks.iter_mut().enumerate(), |(c, chunk)| work(c, chunk));
    }

    /// Results of `work` for each chunk, in order.
    pub(super) fn each<V: Send>(&self, work: impl Fn(usize, &[T]) -> V + Sync) -> Vec<V> {
        let (chunks, work) = (self.chunks.iter().enumerate(), |(c, chunk): (usize, &Vec<T>)| work(c, chunk));
        if self.n * self.l >= LEAST_SHARED_ENTRIES {
            parallel::map(chunks, work)
        } else {
            chunks.map(work).collect()
        }
    }

    /// Fills the codes with `(x - center) b + bias` of every row, times the square root of its weight.
    ///
    /// # Errors
    ///
    /// Errors of a pass over the rows.
    pub fn fill(
        &mut self,
        rows: &Rows<'_, T>,
        (center, b, bias): (&[f64], &Matrix<f64>, &[f64]),
        run: &Run<'_>,
    ) -> Result<()> {
        let (m, l, weights) = (b.rows(), b.cols(), rows.weights());
        let narrow = b.cast::<T>();
        let shifted = bias.iter().any(|x| *x != 0.0);
        let step = |block: Block<'_, T>, out: &mut [T], work: &mut Workspace<T>| {
            kernel::centre(block.data, None, center, &mut work.rows);
            super::codes::multiply(out, &work.rows, narrow.as_slice(), [block.n_rows(), m, l]);
            for (i, out) in out.chunks_exact_mut(l).enumerate() {
                let root = weights.map_or(1.0, |w| w[block.first_row as usize + i].sqrt());
                if root == 0.0 {
                    // Rows of weight 0 may hold any numbers.
                    out.fill(T::default());
                } else if shifted || root != 1.0 {
                    let each = out.iter_mut().zip(bias);
                    each.for_each(|(h, b)| *h = T::from_f64(root * (h.to_f64() + b)));
                }
            }
            Ok(())
        };
        let mut filler = Filler { to: self, row: 0 };
        rows.map(run, "codes", l, step, &mut filler)?;
        Ok(())
    }
}

/// Statistics of a unit for its projection.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProjectionSums {
    /// Sum of squares of the positive numbers; NaN if one of the numbers is.
    pub(super) squares: f64,
    /// The largest number and its row.
    pub(super) largest: (f64, usize),
    /// The smallest number.
    least: f64,
}

impl ProjectionSums {
    pub(super) const NONE: Self =
        Self { squares: 0.0, largest: (f64::NEG_INFINITY, 0), least: f64::INFINITY };

    /// Adds numbers starting at row `first`; rows of weight 0 are excluded.
    pub(super) fn take<T: Real>(&mut self, numbers: &[T], first: usize, weights: Option<&[f64]>) {
        let found = match weights {
            None => extent(numbers, |_| true),
            Some(w) => extent(numbers, |i| w[first + i] != 0.0),
        };
        let row = |i: usize| numbers[i].to_f64() == found.most && weights.is_none_or(|w| w[first + i] != 0.0);
        if found.most > self.largest.0 {
            self.largest = (found.most, first + (0..numbers.len()).find(|i| row(*i)).unwrap_or(0));
        }
        self.least = self.least.min(found.least);
        self.squares += found.squares;
    }

    /// Merges with the statistics of later rows.
    pub(super) fn and(mut self, later: Self) -> Self {
        self.squares += later.squares;
        self.least = self.least.min(later.least);
        if later.largest.0 > self.largest.0 {
            self.largest = later.largest;
        }
        self
    }

    /// The row of the single non-zero code of a unit without positive numbers; none if a number is positive, or if all are 0, as without
    /// loadings.
    pub(super) fn place(&self) -> Option<usize> {
        let none = self.squares != 0.0 || (self.largest.0 == 0.0 && self.least == 0.0);
        (!none && self.least < f64::INFINITY).then_some(self.largest.1)
    }
}

/// Statistics of numbers: see [`ProjectionSums`].
struct Extent {
    squares: f64,
    most: f64,
    least: f64,
}

/// The statistics of those `numbers` that are `used`, in independent partial sums.
fn extent<T: Real>(numbers: &[T], used: impl Fn(usize) -> bool) -> Extent {
    /// Numbers that are processed at a time.
    const LANES: usize = 8;
    let (mut squares, mut most, mut least) =
        ([0.0; LANES], [f64::NEG_INFINITY; LANES], [f64::INFINITY; LANES]);
    widest(
        #[inline(always)]
        || {
            let mut take = |l: usize, i: usize, x: T| {
                let x = x.to_f64();
                let used = used(i);
                most[l] = if used && x > most[l] { x } else { most[l] };
                least[l] = if used && x < least[l] { x } else { least[l] };
                // A number that is not one makes the sum so, too.
                let positive = if !used || x <= 0.0 { 0.0 } else { x };
                squares[l] += positive * positive;
            };
            let (whole, rest) = numbers.as_chunks::<LANES>();
            for (part, numbers) in whole.iter().enumerate() {
                for l in 0..LANES {
                    take(l, part * LANES + l, numbers[l]);
                }
            }
            rest.iter().enumerate().for_each(|(l, x)| take(l, whole.len() * LANES + l, *x));
        },
    );
    Extent {
        squares: squares.iter().sum(),
        most: most.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        least: least.iter().copied().fold(f64::INFINITY, f64::min),
    }
}

/// Copies rows of codes into chunks.
struct Filler<'h, T> {
    to: &'h mut StoredCodes<T>,
    row: usize,
}

impl<T: Real> Sink<T> for Filler<'_, T> {
    fn put(&mut self, rows: &[T]) -> Result<()> {
        let l = self.to.l;
        let mut rest = rows;
        while !rest.is_empty() {
            let (c, i) = (self.row / ROWS_PER_CHUNK, self.row % ROWS_PER_CHUNK);
            let chunk = &mut self.to.chunks[c];
            let n = chunk.len() / l;
            let some = (n - i).min(rest.len() / l);
            let (rows, after) = rest.split_at(some * l);
            transpose(&mut chunk[i..], n, rows, l, [some, l]);
            (self.row, rest) = (self.row + some, after);
        }
        Ok(())
    }
}

/// Gathers [`CodeSums`] of codes in memory, on the machine that holds the rows.
pub struct GatherStoredCodes<'a, T> {
    /// Offset that is subtracted from rows.
    pub center: &'a [f64],
    /// The codes.
    pub codes: &'a StoredCodes<T>,
}

impl<T: Real> Gather<T> for GatherStoredCodes<'_, T> {
    type Part = CodeSums;
    const KIND: &'static str = "held codes";

    fn plan(&self, n_features: usize) -> Plan {
        Plan::for_codes(n_features, self.codes.l)
    }

    fn width(&self) -> Option<usize> {
        Some(self.center.len())
    }

    fn zero(&self, m: usize) -> CodeSums {
        let l = self.codes.l;
        CodeSums {
            n: 0.0,
            squares: Vec::new(),
            sums: vec![0.0; l],
            cross: Matrix::zeros(m, l),
            moments: Matrix::zeros(l, l),
            largest: Vec::new(),
        }
    }

    fn add(&self, part: &mut CodeSums, block: Block<'_, T>, work: &mut Workspace<T>) {
        let (m, l) = (block.n_features, self.codes.l);
        let first = block.first_row as usize;
        let weight = |i: usize| block.weights.map_or(1.0, |w| w[i]);
        let counted: Vec<usize> = (0..block.n_rows()).filter(|&i| weight(i) > 0.0).collect();
        if counted.is_empty() {
            return;
        }
        let Workspace { rows, product, nonlinear, wide, .. } = work;
        kernel::centre(block.data, block.weights, self.center, rows);
        self.codes.read(first..first + block.n_rows(), product);
        if counted.len() < block.n_rows() {
            for (to, &from) in counted.iter().enumerate() {
                product.copy_within(from * l..(from + 1) * l, to * l);
            }
            product.truncate(counted.len() * l);
        }
        for (&i, codes) in counted.iter().zip(product.chunks_exact(l)) {
            let root = weight(i).sqrt();
            part.sums.iter_mut().zip(codes).for_each(|(s, h)| *s += root * h.to_f64());
        }
        super::codes::add_products(part, rows, product, [counted.len(), m, l], (nonlinear, wide));
        part.n += counted.iter().map(|&i| weight(i)).sum::<f64>();
    }

    fn pack(&self, _: &mut Packer) {}

    fn unpack(_: &mut Unpacker<'_>) -> Result<Self> {
        Err(Error::unsupported(
            "the sum 'held codes' over shards",
            "the codes of all rows are in the memory of the process that fits",
            "choose e_step='plain'",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    #[test]
    fn statistics_of_a_unit_are_those_of_a_loop_over_its_rows() {
        let draws = Stream::new(5, 0);
        for n in [1, 7, 8, 100] {
            // Several rows have the largest number; rows of weight 0 may hold any.
            let mut x: Vec<f64> = (0..n).map(|i| (draws.normal(i) * 2.0).round().min(1.0)).collect();
            let mut weights: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i % 5 != 1))).collect();
            x.iter_mut().zip(&weights).filter(|(_, w)| **w == 0.0).for_each(|(x, _)| *x = f64::NAN);
            for weighted in [true, false] {
                if !weighted {
                    x.iter_mut().for_each(|x| *x = if x.is_nan() { -9.0 } else { *x });
                    weights.fill(1.0);
                }
                let used = || (0..).zip(&x).filter(|(i, _)| weights[*i] != 0.0);
                let all: Vec<f64> = [vec![0.0; 3], weights.clone()].concat();
                let mut found = ProjectionSums::NONE;
                found.take(&x, 3, weighted.then_some(&all[..]));
                let most = used().map(|(_, x)| *x).fold(f64::NEG_INFINITY, f64::max);
                let row = used().find(|(_, x)| **x == most).map_or(0, |(i, _)| i + 3);
                assert_eq!(found.largest, (most, row), "{n}");
                assert_eq!(found.least, used().map(|(_, x)| *x).fold(f64::INFINITY, f64::min));
                assert_eq!(found.squares, used().map(|(_, x)| x.max(0.0).powi(2)).sum::<f64>());
            }
        }
        let mut found = ProjectionSums::NONE;
        found.take(&[1.0, f64::NAN, -1.0], 0, None);
        assert!(found.squares.is_nan());
    }
}
