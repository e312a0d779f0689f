//! Incremental sums over a stream of rows, with the same bits however the stream is divided into batches.
//!
//! Rows fill blocks and shards of the same lengths as in a sweep ([`Plan`]). Rows that do not yet fill a block are kept as rows,
//! blocks that do not yet fill a shard as the sums of these blocks, and complete shards are merged as siblings of a binary tree.

mod stored;

use super::Method;
use crate::data::{MergeStack, Plan, Rows, Stream};
use crate::error::{Error, Result};
use crate::machine::check_square;
use crate::num::parallel;
use crate::num::threads::on_pool;
use crate::num::{Block, Dtype, Real, Workspace};
use crate::run::Run;
use crate::stats::{Partial, Scatter};

/// Sums over all rows so far.
///
/// Memory: a `p x p` table for about the logarithm of the number of shards, and one block of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Sums {
    dtype: Dtype,
    plan: Plan,
    /// Sums of the streams that were merged, to which further rows are added.
    base: Option<Scatter>,
    /// Complete shards, in the merge tree.
    tree: MergeStack<Scatter>,
    /// The shard that is being filled, and its number of blocks.
    open: (Scatter, usize),
    /// Rows that do not yet fill a block.
    waiting: Vec<f64>,
    /// Their sample weights.
    weights: Vec<f64>,
    /// Number of rows, whatever their weights; `None` for sums from files that do not record it.
    rows: Option<u64>,
    /// Number of rows whose weight is not 0; `None` for sums from files that do not record it.
    counted: Option<u64>,
    /// Whether any rows had weights.
    weighted: bool,
}

/// The error for a missing cell of a batch, for a method that accepts missing cells only when all rows are fitted at once.
fn of_gap(method: &Method, found: Error) -> Error {
    match found {
        Error::NotFinite { row, column, what: "NaN", .. } if method.accepts.missing => Error::unsupported(format!("an incremental fit of {} to rows with missing cells", method.key), format!(
                "row {row}, column {column} is NaN: maximum likelihood with missing cells takes several passes over the rows, so \
                 sums over a batch are not sufficient"
            ), "fit all rows at once, which allows missing cells and streams files; or fill the cells of each batch first, by \
                unmix::impute::Imputer with a model of some of the rows").of_method(method.key).with(|d| (d.row, d.column) = (Some(row), Some(column))),
        found => found,
    }
}

impl Sums {
    /// Empty sums for `p` columns of type `dtype`: rows of other types are converted to it.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`]: the sums are square tables of `p x p` numbers.
    pub fn new(p: usize, dtype: Dtype) -> Result<Self> {
        // At least four tables: the open shard, a node of the merge tree, the total, and one more while these are merged.
        check_square("sums over rows", p, 4)?;
        Ok(Self::empty(p, dtype))
    }

    fn empty(p: usize, dtype: Dtype) -> Self {
        Self {
            dtype,
            plan: Plan::for_width(p),
            base: None,
            tree: MergeStack::default(),
            open: (Scatter::empty(p), 0),
            waiting: Vec::new(),
            weights: Vec::new(),
            rows: Some(0),
            counted: Some(0),
            weighted: false,
        }
    }

    /// Whether rows had weights; for sums of older files, whether their total is not an integer.
    pub(crate) fn is_weighted(&self) -> bool {
        self.weighted_rows().is_some() || self.n_samples().fract() != 0.0
    }

    /// Number of rows so far, if any of them had weights.
    pub(crate) fn weighted_rows(&self) -> Option<u64> {
        self.rows.filter(|_| self.weighted)
    }

    /// Number of rows so far whose weight is not 0, which bounds the number of directions along which rows vary, whatever their weights sum to.
    pub(crate) fn n_counted(&self) -> u64 {
        self.counted.unwrap_or(self.n_samples() as u64)
    }

    /// Number of columns.
    pub fn n_features(&self) -> usize {
        self.open.0.mean.len()
    }

    /// The type in which rows are multiplied.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Number of rows so far, weighted.
    pub fn n_samples(&self) -> f64 {
        self.parts().map(|s| s.n).sum::<f64>() + self.weights.iter().sum::<f64>()
    }

    /// [`add`](Self::add) for this method.
    pub(crate) fn add_for<T: Real>(
        &mut self,
        method: &Method,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
    ) -> Result<()> {
        method.check_batch(rows)?;
        if rows.n_features() != self.n_features() {
            return Err(Error::Width {
                what: "adding rows to existing sums".into(),
                need: self.n_features(),
                got: rows.n_features(),
                remedy: "give the same columns in every batch".into(),
            });
        }
        let mut stream = rows.source().stream()?;
        let step = self.plan.shard_rows * run.threads.max(1);
        let mut first = self.read(method, rows, &mut *stream, 0, step)?;
        let mut done = first.1.len() as u64;
        let mut next = self.read(method, rows, &mut *stream, done, step)?;
        if next.1.is_empty() {
            rows.check_weights_of(done)?;
            self.append(first, run.threads);
            self.weighted |= rows.weighted_rows().is_some();
            return Ok(());
        }
        let mut grown = self.clone();
        while !first.1.is_empty() {
            grown.append(first, run.threads);
            run.sweep_progress("adding", done, rows.n_rows())?;
            first = next;
            done += first.1.len() as u64;
            next = self.read(method, rows, &mut *stream, done, step)?;
        }
        rows.check_weights_of(done)?;
        grown.weighted |= rows.weighted_rows().is_some();
        *self = grown;
        Ok(())
    }

    /// The next rows, from row `first`, at most `most`, and their sample weights.
    fn read<T: Real>(
        &self,
        method: &Method,
        rows: &Rows<'_, T>,
        stream: &mut dyn Stream<T>,
        first: u64,
        most: usize,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let (p, mut buffer) = (self.n_features(), Vec::new());
        while buffer.len() < most * p && stream.read(most - buffer.len() / p, &mut buffer)? > 0 {}
        let n = buffer.len() / p;
        let weights = match rows.weights() {
            None => vec![1.0; n],
            Some(w) => match w.get(first as usize..first as usize + n) {
                Some(w) => w.to_vec(),
                // There are more rows than weights.
                None => {
                    rows.check_weights_of(first + n as u64)?;
                    vec![1.0; n]
                }
            },
        };
        let mut numbers = Vec::with_capacity(buffer.len());
        for (row, w) in buffer.chunks_exact(p).zip(&weights) {
            match *w > 0.0 {
                true if row.iter().all(|x| x.finite()) => numbers.extend(row.iter().map(|x| x.to_f64())),
                true => return Err(of_gap(method, rows.not_finite(method.key))),
                // A row of weight 0 keeps its position as zeros, so that blocks are those of a sweep.
                false => numbers.resize(numbers.len() + p, 0.0),
            }
        }
        Ok((numbers, weights))
    }

    /// Adds rows and their weights: complete blocks and shards are summed, the other rows buffered.
    fn append(&mut self, (numbers, weights): (Vec<f64>, Vec<f64>), threads: usize) {
        self.waiting.extend(numbers);
        self.rows = self.rows.map(|n| n + weights.len() as u64);
        let counted = weights.iter().filter(|w| **w > 0.0).count() as u64;
        self.counted = self.counted.map(|n| n + counted);
        self.weights.extend(weights);
        let blocks = self.plan.shard_rows / self.plan.block_rows;
        let mut taken = 0;
        while self.weights.len() - taken >= self.plan.block_rows {
            let shards = match self.open.1 {
                0 => (self.weights.len() - taken) / self.plan.shard_rows,
                _ => 0,
            };
            if shards > 0 {
                for whole in self.whole_shards(taken, shards, threads) {
                    self.tree.push(whole);
                }
                taken += shards * self.plan.shard_rows;
                continue;
            }
            let mut open = std::mem::replace(&mut self.open.0, Scatter::empty(0));
            self.gather(&mut open, taken..taken + self.plan.block_rows, &mut Default::default());
            taken += self.plan.block_rows;
            self.open = (open, self.open.1 + 1);
            if self.open.1 == blocks {
                let p = self.open.0.mean.len();
                let (whole, _) = std::mem::replace(&mut self.open, (Scatter::empty(p), 0));
                self.tree.push(whole);
            }
        }
        let p = self.n_features();
        self.waiting.drain(..taken * p);
        self.weights.drain(..taken);
    }

    /// The sums of `shards` complete shards of the buffered rows, from row `first` of the buffer.
    fn whole_shards(&self, first: usize, shards: usize, threads: usize) -> Vec<Scatter> {
        let Plan { block_rows, shard_rows } = self.plan;
        let gathered = |shard: usize| {
            let (mut part, start) = (Scatter::empty(self.n_features()), first + shard * shard_rows);
            let mut work = Workspaces::default();
            for row in (start..start + shard_rows).step_by(block_rows) {
                self.gather(&mut part, row..row + block_rows, &mut work);
            }
            part
        };
        match threads.min(shards) {
            1 => (0..shards).map(gathered).collect(),
            _ => on_pool(threads, || parallel::map(0..shards, gathered)),
        }
    }

    /// Adds a range of the buffered rows to `part`.
    fn gather(&self, part: &mut Scatter, rows: std::ops::Range<usize>, work: &mut Workspaces) {
        let p = part.mean.len();
        let weights = &self.weights[rows.clone()];
        let weights = if weights.iter().all(|&w| w == 1.0) { None } else { Some(weights) };
        let data = &self.waiting[rows.start * p..rows.end * p];
        match self.dtype {
            Dtype::F64 => part.gather(Block { first_row: 0, data, n_features: p, weights }, &mut work.double),
            Dtype::F32 => {
                let data: Vec<f32> = data.iter().map(|&x| x as f32).collect();
                part.gather(Block { first_row: 0, data: &data, n_features: p, weights }, &mut work.single)
            }
        }
    }

    /// The sums over all rows except the buffered ones.
    fn parts(&self) -> impl Iterator<Item = &Scatter> {
        let tree = self.tree.nodes().map(|(_, part)| part);
        self.base.iter().chain(tree).chain([&self.open.0])
    }

    /// The scatter of all rows so far.
    pub fn total(&self) -> Scatter {
        let mut last = self.open.0.clone();
        if !self.weights.is_empty() {
            self.gather(&mut last, 0..self.weights.len(), &mut Default::default());
        }
        let mut total = self.base.clone().unwrap_or_else(|| Scatter::empty(self.n_features()));
        self.tree.nodes().for_each(|(_, part)| total.merge(part.clone()));
        total.merge(last);
        total
    }

    /// The sums of two streams. Equal to the sums of their concatenation, up to rounding.
    ///
    /// # Errors
    ///
    /// Different numbers of columns.
    pub fn merged(&self, right: &Self) -> Result<Self> {
        if self.n_features() != right.n_features() {
            return Err(Error::Width {
                what: "merging sums".into(),
                need: self.n_features(),
                got: right.n_features(),
                remedy: "merge models of the same columns".into(),
            });
        }
        // The type of lower precision determines the threshold for rounding errors.
        let single = [self.dtype, right.dtype].contains(&Dtype::F32);
        let mut merged = Self::empty(self.n_features(), if single { Dtype::F32 } else { Dtype::F64 });
        let mut total = self.total();
        total.merge(right.total());
        merged.base = Some(total);
        merged.rows = self.rows.zip(right.rows).map(|(a, b)| a + b);
        merged.counted = self.counted.zip(right.counted).map(|(a, b)| a + b);
        merged.weighted = self.weighted || right.weighted;
        Ok(merged)
    }

    /// The sums of the same rows with column `order[j]` at position `j`, which are exact.
    pub(super) fn reordered(&self, order: &[usize]) -> Self {
        let base = Some(self.total().reordered(order));
        let (rows, counted, weighted) = (self.rows, self.counted, self.weighted);
        Self { base, rows, counted, weighted, ..Self::empty(order.len(), self.dtype) }
    }
}

/// Workspaces of either type.
#[derive(Default)]
struct Workspaces {
    single: Workspace<f32>,
    double: Workspace<f64>,
}
