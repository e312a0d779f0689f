//! Held-out cells: the predictive density of cells that were not in the fit, given the other cells of their rows.
//!
//! Every cell is in one of five folds, at random. For each of two folds the model is fitted to the rows with the cells of the fold missing,
//! and each of these cells is scored by its conditional density given the other observed cells of its row:
//!
//! ```text
//! log N(x_j; mean_j + w_j' E[z | x_o], w_j' V w_j + psi_j)
//! ```
//!
//! The number of components with the largest mean has the best predictions. Unlike bi-cross-validation, which uses half of the rows and
//! columns at a time, a fit uses four fifths of the cells. I. Wold (1978), Technometrics 20:397, holds out cells in this way.

use crate::data::{Forward, RandomAccess, Rows, Source, Stream, Workspace};
use crate::error::{Error, Result};
use crate::model::Model;
use crate::num::random::Stream as Draws;
use crate::num::{Block, Plan, Real};
use crate::run::Run;
use crate::stats::gaps::{Conditional, GatherObserved, LinearGaussian, symmetric_product};
use crate::stats::{Gather, Packer, Partial, Unpacker};
use std::borrow::Cow;
use std::ops::Range;

/// Number of folds of the cells.
const FOLDS: u64 = 5;

/// Number of folds that are held out, one after the other.
const HELD_OUT: u64 = 2;

/// Columns with fewer observed cells than this are not held out: a fold could contain all of them.
const FEWEST_CELLS: f64 = 20.0;

/// Maximum number of iterations of a fit to rows with held-out cells: predictions of cells converge long before the likelihood
/// does.
pub(crate) const MOST_ITERATIONS: u64 = 60;

/// Number of successive values without an improvement after which the search ends.
pub(crate) const PATIENCE: usize = 3;

/// Minimum increase of the density of held-out cells for more components, in standard errors: smaller differences depend on which cells
/// were held out.
const LEAST_RISE: f64 = 0.01;

/// The number of components, from 0 to `most`, with the largest mean log density of held-out cells, which `judge` returns; the smallest of
/// several. The search ends after three successive numbers without an improvement.
///
/// # Errors
///
/// Errors of `judge`.
pub(crate) fn best_by_cells(most: usize, mut judge: impl FnMut(usize) -> Result<HeldOut>) -> Result<usize> {
    let mut best: Option<(HeldOut, usize)> = None;
    for k in 0..=most {
        let found = judge(k)?;
        match &best {
            Some((before, least)) if !found.improves_on(before) => {
                if k >= least + PATIENCE {
                    break;
                }
            }
            _ => best = Some((found, k)),
        }
    }
    Ok(best.map_or(0, |(_, k)| k))
}

/// Log density of held-out cells.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct HeldOut {
    /// Mean over the cells.
    pub mean: f64,
    /// Its standard error, from the sums over the cells of each row: cells of one row depend on the same factors.
    pub standard_error: f64,
    /// Number of cells, weighted.
    pub n_cells: f64,
}

impl HeldOut {
    /// Whether it improves sufficiently on `before`, the value for fewer components.
    pub(crate) fn improves_on(&self, before: &HeldOut) -> bool {
        self.mean > before.mean + LEAST_RISE * self.standard_error
    }
}

/// The mask of held-out cells, as a function of row and column.
#[derive(Clone, Debug)]
pub(crate) struct CellMask {
    seed: u64,
    fold: u64,
    /// Whether cells of each column are held out.
    columns: Vec<bool>,
}

impl CellMask {
    /// For prepared rows. One sweep.
    ///
    /// # Errors
    ///
    /// Rows that are sparse or held by remote workers; rows of which no column that varies has enough observed cells; errors of the source;
    /// interruption.
    pub(crate) fn new<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Self> {
        rows.here("the rule 'cells'")?;
        if rows.is_sparse() {
            return Err(Error::unsupported(
                "the rule 'cells' of sparse rows",
                "sparse rows have no missing cells, and this rule holds cells out",
                "choose another rule, or make the rows dense",
            ));
        }
        let observed = rows.sweep(run, "cells", &GatherObserved)?;
        let least = FEWEST_CELLS.min(0.5 * observed.n);
        let enough = |(n, s): (&f64, &f64)| *n >= least && *s > 0.0;
        let columns: Vec<bool> = observed.count.iter().zip(&observed.squares).map(enough).collect();
        // Rows without a column that varies are refused by the fit.
        if !columns.contains(&true) && observed.squares.iter().any(|s| *s > 0.0) {
            return Err(Error::unsupported(
                "the rule 'cells'",
                format!(
                    "no column that varies has at least {} observed cells, of which some are held out",
                    least.ceil()
                ),
                "choose other rules, such as 'bic'",
            ));
        }
        Ok(Self { seed: run.seed, fold: 0, columns })
    }

    /// Whether a cell is held out: independent of the order in which cells are read.
    fn is(&self, row: u64, j: usize) -> bool {
        // One random byte for each of 8 neighbouring columns: folds have 52 or 51 of 256 cells.
        let words = self.columns.len().div_ceil(8) as u64;
        let at = row.wrapping_mul(words).wrapping_add(j as u64 / 8);
        let word = Draws::new(self.seed, 0x6365_6c6c).bits(at);
        self.columns[j] && (((word >> (8 * (j % 8))) & 0xff) * FOLDS) >> 8 == self.fold
    }

    /// The log density of the held-out cells of `rows`, from which this mask was made, under the model that `fit` returns for the
    /// other cells.
    ///
    /// # Errors
    ///
    /// Errors of the fits; a model without a distribution of codes; interruption.
    pub(crate) fn judge<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        mut fit: impl FnMut(Rows<'_, T>, &Run<'_>) -> Result<Model>,
    ) -> Result<HeldOut> {
        let mut found = CellDensities::default();
        // These fits must not use the checkpoint or the initial values of the main fit.
        let run = Run { checkpoint: None, init: None, ..*run };
        for fold in 0..HELD_OUT {
            let hidden = Self { fold, ..self.clone() };
            let source = Masked { source: rows.prepared(), p: rows.n_features(), hidden: hidden.clone() };
            let left = Rows::new(source, rows.features().clone(), rows.origin());
            let left = match rows.weights() {
                Some(weights) => left.weighted(weights.to_vec())?,
                None => left,
            };
            let model = fit(left, &run)?;
            let gather = GatherHeldOut { conditional: Cow::Borrowed(model.conditional()?), hidden };
            found.merge(rows.sweep(&run, "held-out cells", &gather)?);
        }
        Ok(found.held_out())
    }
}

/// Gathers [`CellDensities`] of held-out cells under a model. Rows of weight 0 are left out.
pub struct GatherHeldOut<'a> {
    conditional: Cow<'a, Conditional>,
    hidden: CellMask,
}

impl<'a> GatherHeldOut<'a> {
    /// For the cells of `fold` in these `columns`, by a mask with this seed.
    pub fn new(conditional: &'a Conditional, (seed, fold): (u64, u64), columns: Vec<bool>) -> Self {
        Self { conditional: Cow::Borrowed(conditional), hidden: CellMask { seed, fold, columns } }
    }
}

impl<T: Real> Gather<T> for GatherHeldOut<'_> {
    type Part = CellDensities;
    const KIND: &'static str = "held-out cells";

    fn plan(&self, n_features: usize) -> Plan {
        Plan::for_sources(n_features, self.conditional.model().n_factors())
    }

    fn width(&self) -> Option<usize> {
        Some(self.hidden.columns.len())
    }

    fn zero(&self, _: usize) -> CellDensities {
        CellDensities::default()
    }

    fn add(&self, part: &mut CellDensities, block: Block<'_, T>, _: &mut Workspace<T>) {
        let found = judge_block(&self.conditional, &self.hidden, &block);
        for (i, (log_density, cells)) in found.into_iter().enumerate() {
            part.add(log_density, cells, block.weights.map_or(1.0, |w| w[i]));
        }
    }

    fn pack(&self, out: &mut Packer) {
        self.conditional.pack(out);
        out.count(self.hidden.seed);
        out.count(self.hidden.fold);
        self.hidden.columns.iter().for_each(|held_out| out.count(u64::from(*held_out)));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let conditional = Conditional::unpack(from)?;
        let (seed, fold) = (from.count()?, from.count()?);
        let columns = (0..conditional.model().n_features()).map(|_| from.flag());
        let columns = columns.collect::<Result<Vec<bool>>>()?;
        Ok(Self { conditional: Cow::Owned(conditional), hidden: CellMask { seed, fold, columns } })
    }
}

/// The sum of the log densities of the held-out cells of each row, and their number.
fn judge_block<T: Real>(
    conditional: &Conditional,
    hidden: &CellMask,
    block: &Block<'_, T>,
) -> Vec<(f64, f64)> {
    let p = block.n_features;
    let mut left = block.data.to_vec();
    for (i, row) in left.chunks_exact_mut(p).enumerate() {
        let number = block.first_row + i as u64;
        (0..p).filter(|&j| hidden.is(number, j)).for_each(|j| row[j] = T::from_f64(f64::NAN));
    }
    let found = conditional.posteriors(&left);
    let (model, k) = (conditional.model(), conditional.model().n_factors());
    let mut product = vec![0.0; k];
    let mut out = Vec::with_capacity(block.n_rows());
    for (i, row) in block.rows().enumerate() {
        let (z, v) = (&found.means[i * k..(i + 1) * k], &found.patterns[found.pattern[i]].covariance);
        let (mut sum, mut cells) = (0.0, 0.0);
        for (j, x) in row.iter().map(|x| x.to_f64()).enumerate() {
            // A column that does not vary under the model has no density.
            if !x.is_nan() && left[i * p + j].to_f64().is_nan() && model.noise[j] > 0.0 {
                sum += log_density(model, (j, x), z, v, &mut product);
                cells += 1.0;
            }
        }
        out.push((sum, cells));
    }
    out
}

/// Log density of cell `(j, x)` given the posterior of the factors.
fn log_density(
    model: &LinearGaussian,
    (j, x): (usize, f64),
    z: &[f64],
    v: &[f64],
    product: &mut [f64],
) -> f64 {
    let w = &model.loadings[j * z.len()..(j + 1) * z.len()];
    symmetric_product(v, w, product);
    let variance = model.noise[j] + w.iter().zip(&*product).map(|(a, b)| a * b).sum::<f64>();
    let rest = x - model.mean[j] - w.iter().zip(z).map(|(a, b)| a * b).sum::<f64>();
    -0.5 * ((2.0 * std::f64::consts::PI).ln() + variance.ln() + rest * rest / variance)
}

/// Sums over rows of the log densities of their held-out cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellDensities {
    /// Offset that is subtracted from log densities before they are summed, against cancellation: the mean of the first row with held-out cells.
    centre: f64,
    /// Number of cells, weighted.
    cells: f64,
    /// Sums over rows of `s`, `s²`, `s m` and `m²`, where `s` is the sum of the offset log densities, and `m` the number of cells.
    sums: [f64; 4],
}

impl CellDensities {
    /// Adds a row with this number of cells, and the sum of their log densities.
    fn add(&mut self, log_density: f64, cells: f64, weight: f64) {
        if weight == 0.0 || cells == 0.0 {
            return;
        }
        if self.cells == 0.0 {
            self.centre = log_density / cells;
        }
        let s = log_density - cells * self.centre;
        self.cells += weight * cells;
        let each = [s, s * s, s * cells, cells * cells];
        self.sums.iter_mut().zip(each).for_each(|(sum, x)| *sum += weight * x);
    }

    fn held_out(&self) -> HeldOut {
        let [s, ss, sm, mm] = self.sums;
        let shift = s / self.cells;
        // Of s - shift m, whose sum is 0.
        let squares = (ss - 2.0 * shift * sm + shift * shift * mm).max(0.0);
        HeldOut {
            mean: self.centre + shift,
            standard_error: squares.sqrt() / self.cells,
            n_cells: self.cells,
        }
    }

    /// The number of cells, the offset, and the sums.
    pub fn values(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        (vec![self.cells], vec![self.centre], self.sums.to_vec())
    }
}

impl Partial for CellDensities {
    fn merge(&mut self, right: Self) {
        if right.cells == 0.0 {
            return;
        }
        if self.cells == 0.0 {
            *self = right;
            return;
        }
        // About the offset of the left rows.
        let change = right.centre - self.centre;
        let [s, ss, sm, mm] = right.sums;
        let moved =
            [s + change * right.cells, ss + 2.0 * change * sm + change * change * mm, sm + change * mm, mm];
        self.cells += right.cells;
        self.sums.iter_mut().zip(moved).for_each(|(sum, x)| *sum += x);
    }

    fn pack(&self, out: &mut Packer) {
        [self.centre, self.cells].into_iter().chain(self.sums).for_each(|x| out.number(x));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let (centre, cells) = (from.number()?, from.number()?);
        let sums = [from.number()?, from.number()?, from.number()?, from.number()?];
        Ok(Self { centre, cells, sums })
    }

    fn bytes(&self) -> usize {
        8 * (2 + self.sums.len())
    }
}

/// Rows whose held-out cells are missing.
struct Masked<'a, T: Real> {
    source: &'a dyn RandomAccess<T>,
    p: usize,
    hidden: CellMask,
}

impl<T: Real> Source<T> for Masked<'_, T> {
    fn n_features(&self) -> usize {
        self.p
    }

    fn n_rows(&self) -> Option<u64> {
        Some(self.source.n_rows())
    }

    fn stream(&self) -> Result<Box<dyn Stream<T> + '_>> {
        Ok(Box::new(Forward::new(self, self.p)))
    }

    fn random(&self) -> Option<&dyn RandomAccess<T>> {
        Some(self)
    }
}

impl<T: Real> RandomAccess<T> for Masked<'_, T> {
    fn n_rows(&self) -> u64 {
        self.source.n_rows()
    }

    fn read(&self, rows: Range<u64>, columns: Range<usize>, out: &mut [T], raw: &mut Vec<u8>) -> Result<()> {
        let width = columns.len();
        self.source.read(rows.clone(), columns.clone(), out, raw)?;
        for (row, out) in rows.zip(out.chunks_exact_mut(width.max(1))) {
            for (j, x) in columns.clone().zip(out) {
                if self.hidden.is(row, j) {
                    *x = T::from_f64(f64::NAN);
                }
            }
        }
        Ok(())
    }

    fn by_rows(&self) -> bool {
        self.source.by_rows()
    }
}
