//! Rows in coordinates of fewer numbers: `z = (x - mean) B`, of white or of principal directions.
//!
//! Where a search takes many passes, the coordinates of all rows are kept if they fit; where they do not, or where the rows are elsewhere,
//! they are made anew from every block. Either way a gather of coordinates gets the same numbers, cut in the same way: its sums have the
//! same bits.

use super::{Features, Rows, VecSink};
use crate::error::Result;
use crate::machine::check_memory;
use crate::num::{Block, Matrix, Plan, Real, Workspace, kernel};
use crate::run::Run;
use crate::stats::{Gather, Packer, Unpacker};
use std::borrow::Cow;

/// Bytes of coordinates that are kept in memory at most; beyond that they are made anew in every pass. Decided by the shape alone, so that rows
/// in memory and rows in a file take the same path.
pub(crate) const KEPT: u64 = 1 << 30;

/// What makes coordinates of rows.
#[derive(Clone, Debug)]
pub(crate) struct Map<T> {
    /// What is subtracted, a number for each column.
    mean: Vec<f64>,
    /// `p x k`.
    into: Matrix<T>,
}

impl<T: Real> Map<T> {
    /// Coordinates `basis (x - mean)`, `basis` `k x p`.
    pub(crate) fn new(mean: Vec<f64>, basis: &Matrix<f64>) -> Self {
        Self { mean, into: basis.transposed().cast() }
    }

    /// Numbers that it makes of a row.
    pub(crate) fn k(&self) -> usize {
        self.into.cols()
    }

    /// Writes the coordinates of row-major `data` over `out`. A row has the same bits alone and in any block.
    fn apply(&self, data: &[T], out: &mut [T], rows: &mut Vec<T>) {
        let (p, k) = (self.into.rows(), self.into.cols());
        kernel::centre(data, None, &self.mean, rows);
        kernel::product(out, rows, self.into.as_slice(), data.len() / p, p, k);
    }

    /// How rows are cut for a gather of their coordinates.
    fn plan<G: Gather<T>>(&self, gather: &G) -> Plan {
        let Plan { block_rows, shard_rows } = gather.plan(self.k());
        Plan::within(self.mean.len(), block_rows, shard_rows)
    }

    /// The coordinates of every row.
    pub(crate) fn of_all(&self, rows: &Rows<'_, T>, stage: &str, run: &Run<'_>) -> Result<Vec<T>> {
        let mut sink = VecSink(Vec::with_capacity(rows.n_rows().unwrap_or(0) as usize * self.k()));
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

/// A gather of coordinates, as a gather of rows.
pub(crate) struct Through<'a, T: Real, G> {
    map: Cow<'a, Map<T>>,
    gather: G,
}

impl<T: Real, G: Gather<T>> Gather<T> for Through<'_, T, G> {
    type Part = G::Part;
    const KIND: &'static str = G::THROUGH;
    const THROUGH: &'static str = "through through";

    fn plan(&self, _: usize) -> Plan {
        self.map.plan(&self.gather)
    }

    fn width(&self) -> Option<usize> {
        Some(self.map.mean.len())
    }

    fn zero(&self, _: usize) -> G::Part {
        self.gather.zero(self.map.k())
    }

    fn add(&self, part: &mut G::Part, block: Block<'_, T>, work: &mut Workspace<T>) {
        let mut coordinates = std::mem::take(&mut work.coordinates);
        coordinates.resize(block.n_rows() * self.map.k(), T::default());
        self.map.apply(block.data, &mut coordinates, &mut work.rows);
        self.gather.add(part, Block { data: &coordinates, n_features: self.map.k(), ..block }, work);
        work.coordinates = coordinates;
    }

    fn pack(&self, out: &mut Packer) {
        out.numbers(&self.map.mean);
        out.matrix_of(&self.map.into);
        self.gather.pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (mean, into) = (from.numbers()?, from.matrix_of::<T>()?);
        from.check(into.rows() == mean.len())?;
        let gather = G::unpack(from)?;
        from.check(gather.width().is_none_or(|k| k == into.cols()))?;
        Ok(Self { map: Cow::Owned(Map { mean, into }), gather })
    }
}

/// Rows and their coordinates.
pub(crate) struct Projected<'a, 'b, T: Real> {
    rows: &'a Rows<'b, T>,
    map: Map<T>,
    /// The coordinates of all rows, where they are kept.
    copy: Option<Vec<T>>,
}

impl<'a, 'b, T: Real> Projected<'a, 'b, T> {
    /// With a copy of the coordinates unless the rows are elsewhere: one pass.
    ///
    /// # Errors
    ///
    /// Coordinates that do not fit into memory; those of a pass.
    pub(crate) fn new(rows: &'a Rows<'b, T>, map: Map<T>, stage: &str, run: &Run<'_>) -> Result<Self> {
        if rows.source().elsewhere().is_some() {
            return Ok(Self { rows, map, copy: None });
        }
        let n = rows.n_rows().unwrap_or(0);
        let bytes = n.saturating_mul((map.k() * std::mem::size_of::<T>()) as u64);
        check_memory(
            &format!("{n} x {} coordinates", map.k()),
            bytes,
            "fit a random subset of the rows, or ask for fewer components",
        )?;
        let copy = Some(map.of_all(rows, stage, run)?);
        Ok(Self { rows, map, copy })
    }

    /// Numbers of a row.
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
        match &self.copy {
            Some(copy) => {
                let plan = self.map.plan(&gather);
                self.lent(copy)?.sweep_by(plan, run, stage, &gather)
            }
            None => self.rows.sweep(run, stage, &Through { map: Cow::Borrowed(&self.map), gather }),
        }
    }

    fn lent<'c>(&'c self, copy: &'c [T]) -> Result<Rows<'c, T>> {
        let rows = Rows::from_slice(copy, self.k())?;
        match self.rows.weights() {
            Some(weights) => rows.weighted(Cow::Borrowed(weights)),
            None => Ok(rows),
        }
    }

    /// The coordinates of all rows as rows; not where these are elsewhere.
    ///
    /// # Errors
    ///
    /// That `asked` takes rows that are here.
    pub(crate) fn as_rows(&self, asked: &str) -> Result<Rows<'_, T>> {
        match &self.copy {
            Some(copy) => self.lent(copy),
            None => Err(super::elsewhere::not_here(asked)),
        }
    }

    /// The coordinates of the rows `chosen`, in rising order.
    ///
    /// # Errors
    ///
    /// Those of a pass.
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
    /// Numbers of this width as rows with the weights of some of these.
    pub(crate) fn of_picked(
        numbers: Vec<T>,
        width: usize,
        weights: Option<Vec<f64>>,
    ) -> Result<Rows<'static, T>> {
        let rows = Rows::new(super::Held::new(numbers, width), Features::default(), "some of the rows");
        match weights {
            Some(weights) => rows.weighted(weights),
            None => Ok(rows),
        }
    }
}
