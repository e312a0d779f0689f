//! Rows projected to fewer coordinates, whitened or principal: `z = (x - mean) B`.
//!
//! A search that takes many passes keeps the coordinates of all rows in memory; remote workers recompute those of their rows in every
//! pass. In both cases a gather of coordinates gets the same numbers, cut in the same way, so its sums have the same bits.

use super::source::{RandomAccess, Source, Stream};
use super::{Features, Rows, Subset, VecSink};
use crate::error::Result;
use crate::machine::check_memory;
use crate::num::parallel;
use crate::num::{Block, Matrix, Real, Workspace, kernel};
use crate::run::Run;
use crate::stats::{Gather, Packer, Unpacker};
use std::borrow::Cow;
use std::ops::Range;

/// Maximum number of bytes of coordinates for which methods make a [`Projected`], which keeps them in memory; beyond it they compute
/// coordinates in every pass. The decision depends on the shape alone, so that rows in memory and rows in a file take the same path.
pub(crate) const MOST_BYTES_KEPT: u64 = 1 << 30;

/// The affine map from rows to coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Map<T> {
    /// Offset that is subtracted, one number for each column.
    mean: Vec<f64>,
    /// Projection matrix, `p x k`.
    into: Matrix<T>,
}

impl<T: Real> Map<T> {
    /// Coordinates `basis (x - mean)`; `basis` is `k x p`.
    pub(crate) fn new(mean: Vec<f64>, basis: &Matrix<f64>) -> Self {
        Self { mean, into: basis.transposed().cast() }
    }

    /// Number of coordinates.
    pub(crate) fn k(&self) -> usize {
        self.into.cols()
    }

    /// Writes the coordinates of row-major `data` into `out`. The bits of a row do not depend on its block.
    fn apply(&self, data: &[T], out: &mut [T], rows: &mut Vec<T>) {
        let (p, k) = (self.into.rows(), self.into.cols());
        kernel::centre(data, None, &self.mean, rows);
        kernel::product(out, rows, self.into.as_slice(), data.len() / p, p, k);
    }

    /// Number of columns of the rows.
    pub(super) fn n_features(&self) -> usize {
        self.mean.len()
    }

    pub(super) fn pack(&self, out: &mut Packer) {
        out.numbers(&self.mean);
        out.matrix_of(&self.into);
    }

    pub(super) fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (mean, into) = (from.numbers()?, from.matrix_of::<T>()?);
        from.check(into.rows() == mean.len() && into.cols() > 0)?;
        Ok(Self { mean, into })
    }

    /// The coordinates of every row: one pass.
    ///
    /// # Errors
    ///
    /// Errors of the pass.
    pub(crate) fn of_all(&self, rows: &Rows<'_, T>, stage: &str, run: &Run<'_>) -> Result<Vec<T>> {
        let mut sink = VecSink::default();
        let step = |block: Block<'_, T>, out: &mut [T], work: &mut Workspace<T>| {
            self.apply(block.data, out, &mut work.rows);
            Ok(())
        };
        rows.map(run, stage, self.k(), step, &mut sink)?;
        Ok(sink.0)
    }

    /// The coordinates of row-major `data`.
    pub(crate) fn of_some(&self, data: &[T]) -> Vec<T> {
        let n = data.len() / self.mean.len().max(1);
        let mut out = vec![T::default(); n * self.k()];
        self.apply(data, &mut out, &mut Vec::new());
        out
    }
}

impl<T: Real> Map<T> {
    /// The coordinates of the rows `chosen`, in ascending order: by all threads, a block at a time, if rows can be read in any order.
    ///
    /// # Errors
    ///
    /// Errors of the source; coordinates that do not fit into memory.
    pub(crate) fn of_picked(&self, rows: &Rows<'_, T>, chosen: Vec<u64>, run: &Run<'_>) -> Result<Vec<T>> {
        let (p, k, n) = (self.n_features(), self.k(), chosen.len());
        let Some(random) = rows.source().random() else {
            return Ok(self.of_some(&rows.picked(chosen, run)?));
        };
        check_memory(
            &format!("{n} rows of {k} numbers"),
            (n as u64).saturating_mul((k * std::mem::size_of::<T>()) as u64),
            "fit fewer rows, or choose fewer components",
        )?;
        let (picked, step) = (Subset::new(random, p, chosen), rows.plan().block_rows.max(1));
        let mut out = vec![T::default(); n * k];
        let blocks = out.chunks_mut((step * k).max(1)).enumerate();
        parallel::try_each_with(
            blocks,
            Default::default,
            |(block, centred, raw): &mut (Vec<T>, Vec<T>, Vec<u8>), (i, out)| {
                let (first, n) = ((i * step) as u64, out.len() / k);
                block.resize(n * p, T::default());
                picked.read(first..first + n as u64, 0..p, block, raw)?;
                self.apply(block, out, centred);
                Ok(())
            },
        )?;
        Ok(out)
    }
}

/// Coordinates that are computed as rows are read.
struct ProjectedRows<'a, 'b, T: Real> {
    rows: &'a Rows<'b, T>,
    map: &'a Map<T>,
}

impl<T: Real> Source<T> for ProjectedRows<'_, '_, T> {
    fn n_features(&self) -> usize {
        self.map.k()
    }

    fn n_rows(&self) -> Option<u64> {
        self.rows.n_rows()
    }

    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>> {
        Ok(Box::new(MappedStream { stream: self.rows.source().stream()?, map: self.map, rows: Vec::new() }))
    }

    fn random(&self) -> Option<&dyn RandomAccess<T>> {
        self.rows.source().random().map(|_| self as &dyn RandomAccess<T>)
    }
}

impl<T: Real> RandomAccess<T> for ProjectedRows<'_, '_, T> {
    fn n_rows(&self) -> u64 {
        self.rows.prepared().n_rows()
    }

    fn read(&self, rows: Range<u64>, columns: Range<usize>, out: &mut [T], raw: &mut Vec<u8>) -> Result<()> {
        let (p, k, from, step) =
            (self.map.n_features(), self.map.k(), self.rows.prepared(), self.rows.plan().block_rows);
        let (mut block, mut centred, mut made) = (Vec::new(), Vec::new(), Vec::new());
        let blocks = rows.clone().step_by(step).zip(out.chunks_mut((step * columns.len()).max(1)));
        for (first, out) in blocks {
            let within = first..rows.end.min(first + step as u64);
            let n = (within.end - within.start) as usize;
            let data = match from.lend(within.clone()) {
                Some(lent) => lent,
                None => {
                    block.resize(n * p, T::default());
                    from.read(within, 0..p, &mut block, raw)?;
                    &block
                }
            };
            made.resize(n * k, T::default());
            self.map.apply(data, &mut made, &mut centred);
            let each = made.chunks_exact(k).zip(out.chunks_exact_mut(columns.len()));
            each.for_each(|(made, out)| out.copy_from_slice(&made[columns.clone()]));
        }
        Ok(())
    }
}

/// Coordinates of rows that can be read only from the start, in order.
struct MappedStream<'a, T: Real> {
    stream: Box<dyn Stream<T> + 'a>,
    map: &'a Map<T>,
    rows: Vec<T>,
}

impl<T: Real> Stream<T> for MappedStream<'_, T> {
    fn read(&mut self, max_rows: usize, out: &mut Vec<T>) -> Result<usize> {
        self.rows.clear();
        let n = self.stream.read(max_rows, &mut self.rows)?;
        out.extend(self.map.of_some(&self.rows));
        Ok(n)
    }
}

/// Rows and their coordinates.
pub(crate) struct Projected<'a, 'b, T: Real> {
    rows: &'a Rows<'b, T>,
    map: Map<T>,
    /// The coordinates of all rows, if they are kept.
    copy: Option<Vec<T>>,
}

impl<'a, 'b, T: Real> Projected<'a, 'b, T> {
    /// Computes and keeps the coordinates unless the rows are remote: one pass.
    ///
    /// # Errors
    ///
    /// Coordinates that do not fit into memory; errors of the pass.
    pub(crate) fn new(rows: &'a Rows<'b, T>, map: Map<T>, stage: &str, run: &Run<'_>) -> Result<Self> {
        if rows.source().remote().is_some() {
            return Ok(Self { rows, map, copy: None });
        }
        let n = rows.n_rows().unwrap_or(0);
        let bytes = n.saturating_mul((map.k() * std::mem::size_of::<T>()) as u64);
        check_memory(
            &format!("{n} x {} coordinates", map.k()),
            bytes,
            "fit a random subset of the rows, or choose fewer components",
        )?;
        let copy = Some(map.of_all(rows, stage, run)?);
        Ok(Self { rows, map, copy })
    }

    /// Number of coordinates.
    pub(crate) fn k(&self) -> usize {
        self.map.k()
    }

    /// The rows themselves.
    pub(crate) fn rows(&self) -> &'a Rows<'b, T> {
        self.rows
    }

    /// Sums `gather` over the coordinates of all rows: one pass.
    ///
    /// # Errors
    ///
    /// Those of [`Rows::sweep`].
    pub(crate) fn sweep<G: Gather<T>>(&self, run: &Run<'_>, stage: &str, gather: G) -> Result<G::Part> {
        self.coordinates()?.sweep(run, stage, &gather)
    }

    fn lent<'c>(&'c self, copy: &'c [T]) -> Result<Rows<'c, T>> {
        self.with_weights(Rows::from_slice(copy, self.k())?)
    }

    fn with_weights<'c>(&'c self, rows: Rows<'c, T>) -> Result<Rows<'c, T>> {
        match self.rows.weights() {
            Some(weights) => rows.weighted(Cow::Borrowed(weights)),
            None => Ok(rows),
        }
    }

    /// The coordinates of all rows as rows: remote if the rows are, and cut where the rows may be cut between workers.
    ///
    /// # Errors
    ///
    /// None in practice: the weights are those of the rows, which have been checked.
    pub(crate) fn coordinates(&self) -> Result<Rows<'_, T>> {
        let rows = match &self.copy {
            Some(copy) => self.lent(copy)?,
            None => self.with_weights(self.rows.remote_coordinates(&self.map))?,
        };
        Ok(rows.cut_as(self.rows))
    }

    /// The coordinates of all rows as rows; an error for remote rows.
    ///
    /// # Errors
    ///
    /// Refuses `request` for rows that are held by remote workers.
    pub(crate) fn as_rows(&self, request: &str) -> Result<Rows<'_, T>> {
        match &self.copy {
            Some(copy) => self.lent(copy),
            None => Err(super::remote::not_here(request)),
        }
    }

    /// The coordinates of the rows `chosen`, in ascending order.
    ///
    /// # Errors
    ///
    /// Errors of a pass.
    pub(crate) fn picked(&self, mut chosen: Vec<u64>, run: &Run<'_>) -> Result<Vec<T>> {
        match &self.copy {
            Some(copy) => {
                chosen.sort_unstable();
                let row = |&i: &u64| &copy[i as usize * self.k()..(i as usize + 1) * self.k()];
                Ok(chosen.iter().flat_map(row).copied().collect())
            }
            None => Ok(self.map.of_some(&self.rows.picked(chosen, run)?)),
        }
    }
}

impl<T: Real> Rows<'_, T> {
    /// The rows that `map` computes from these local rows, with their weights.
    pub(super) fn mapped<'c>(&'c self, map: &'c Map<T>) -> Result<Rows<'c, T>> {
        let rows = Rows::new(ProjectedRows { rows: self, map }, Features::default(), self.origin());
        match self.weights() {
            Some(weights) => rows.weighted(Cow::Borrowed(weights)),
            None => Ok(rows),
        }
    }

    /// Row-major `numbers` as rows of `width` columns, with `weights` if there are any: for a subset of the rows that has been
    /// [picked](Self::picked).
    pub(crate) fn of_picked(
        numbers: Vec<T>,
        width: usize,
        weights: Option<Vec<f64>>,
    ) -> Result<Rows<'static, T>> {
        let rows = Rows::new(super::OwnedRows::new(numbers, width)?, Features::default(), "some of the rows");
        match weights {
            Some(weights) => rows.weighted(weights),
            None => Ok(rows),
        }
    }
}
