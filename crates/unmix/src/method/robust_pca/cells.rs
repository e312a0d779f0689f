//! The rows in memory, the mask of observed cells, and sums over cells.

use super::RobustPca;
use super::pursuit::NOISELESS_RESIDUAL_SHARE;
use super::stable::{DEVIATION_PER_MAD, OUTLIER_THRESHOLD};
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::machine::check_memory;
use crate::num::parallel;
use crate::num::{Matrix, Real};
use crate::run::Run;
use crate::spectrum::check_total;

/// Cells that one thread processes at a time: sums over them are added in order.
pub(super) const CELLS_PER_TASK: usize = 1 << 14;

/// Deviations from the medians of columns, as a fraction of the cells, below which columns count as static, as those of a fixed background.
const STATIC_DEVIATION_SHARE: f64 = 1e-6;

/// Number of tables of the size of the rows in a fit.
const TABLES_IN_MEMORY: u64 = 8;

/// Memory in bytes of a fit of `n x p` cells.
pub(super) fn memory(n: u64, p: usize) -> u64 {
    n.saturating_mul(p as u64).saturating_mul(8 * TABLES_IN_MEMORY)
}

/// The data of a fit.
pub(super) struct Cells {
    /// Centred and scaled rows, 0 for missing cells.
    pub(super) x: Matrix<f64>,
    /// Mask of observed cells; empty if none is missing.
    pub(super) observed: Vec<bool>,
    /// Number of observed cells.
    pub(super) n_observed: usize,
    /// Offset that is subtracted from rows.
    pub(super) center: Vec<f64>,
    /// Divisors of the columns, with `standardize=true`.
    pub(super) spread: Option<Vec<f64>>,
    /// Number of columns whose cells are all 0 after centring.
    pub(super) n_constant: usize,
    /// Number of rows without observed cells.
    pub(super) empty: usize,
    /// `||x||_F`.
    pub(super) norm: f64,
    /// A scale of the observed cells: the median of absolute values, or their mean if most are 0.
    pub(super) size: f64,
    /// Median absolute deviation of the observed cells from the medians of their columns.
    pub(super) deviation: f64,
}

/// `numbers` of the rows, 0 for missing cells, and the mask of observed cells, which is empty if none is missing.
///
/// # Errors
///
/// Infinities.
fn masked<T: Real>(key: &str, rows: &Rows<'_, T>, numbers: Vec<T>) -> Result<(Matrix<f64>, Vec<bool>)> {
    let (n, p) = (rows.n_rows().unwrap_or(0) as usize, rows.n_features());
    let (mut x, mut observed) = (Matrix::zeros(n, p), Vec::new());
    for (at, (to, from)) in x.as_mut_slice().iter_mut().zip(&numbers).enumerate() {
        let value = from.to_f64();
        let missing = rows.is_missing(value);
        if !value.is_finite() && !missing {
            return Err(rows.not_finite_at(key, (at / p) as u64, at % p, value));
        }
        match missing {
            true => {
                if observed.is_empty() {
                    observed = vec![true; numbers.len()];
                }
                observed[at] = false;
            }
            false => *to = value,
        }
    }
    Ok((x, observed))
}

impl Cells {
    /// Reads the rows, and centres and scales them as `how` requires.
    ///
    /// # Errors
    ///
    /// Infinities, columns without observed cells, rows that are constant, squares that overflow, rows that
    /// do not fit into memory.
    pub(super) fn read<T: Real>(
        key: &str,
        rows: &Rows<'_, T>,
        how: &RobustPca,
        run: &Run<'_>,
    ) -> Result<Self> {
        let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
        let need = memory(n, p);
        check_memory(
            &format!("{key} of {n} x {p} cells, which it holds in memory,"),
            need,
            "fit fewer rows or columns",
        )?;
        run.stage("rows")?;
        let (x, observed) = masked(key, rows, rows.picked((0..n).collect(), run)?)?;
        let n_observed =
            if observed.is_empty() { x.as_slice().len() } else { observed.iter().filter(|s| **s).count() };
        let has = |i: usize, j: usize| observed.is_empty() || observed[i * p + j];
        if let Some(j) = (0..p).find(|&j| !(0..n as usize).any(|i| has(i, j))) {
            let name = rows.name(j).map_or(String::new(), |name| format!(" ('{name}')"));
            return Err(Error::unsupported(
                format!("{key} of {}", rows.origin()),
                format!("column {j}{name} has no observed cell"),
                "leave that column out",
            )
            .of_method(key)
            .with(|d| (d.column, d.name) = (Some(j), rows.name(j).map(Into::into))));
        }
        let empty = (0..n as usize).filter(|&i| !(0..p).any(|j| has(i, j))).count();
        let center = vec![0.0; p];
        let mut cells = Self {
            x,
            observed,
            n_observed,
            center,
            spread: None,
            n_constant: 0,
            empty,
            norm: 0.0,
            size: 0.0,
            deviation: 0.0,
        };
        if how.center {
            cells.subtract(&cells.medians());
        }
        if how.standardize {
            cells.divide(cells.spreads(T::DTYPE.eps()));
        }
        cells.measured(key, rows)
    }

    fn measured<T: Real>(mut self, key: &str, rows: &Rows<'_, T>) -> Result<Self> {
        let p = self.x.cols();
        let largest = self.x.as_slice().iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let parts = self.x.as_slice().chunks(CELLS_PER_TASK);
        let squares: Vec<f64> = parallel::map(parts, |c| c.iter().map(|x| x * x).sum());
        let squares: f64 = squares.iter().sum();
        if largest == 0.0 {
            return Err(Error::NoVariance {
                method: key.into(),
                n_features: p,
                n_samples: rows.n_samples() as u64,
            });
        }
        if !squares.is_finite() {
            return Err(Error::Overflow { method: key.into(), dtype: T::DTYPE.name() });
        }
        check_total(key, squares / self.x.rows() as f64, T::DTYPE)?;
        self.norm = squares.sqrt();
        (self.size, self.deviation) = (self.median_size(), self.median_deviation());
        self.n_constant = (0..p).filter(|&j| (0..self.x.rows()).all(|i| self.x[(i, j)] == 0.0)).count();
        Ok(self)
    }

    /// Medians of the columns over the observed cells.
    pub(super) fn medians(&self) -> Vec<f64> {
        let (n, p) = (self.x.rows(), self.x.cols());
        let column = |j: usize| (0..n).filter(|i| self.has(i * p + j)).map(|i| self.x[(i, j)]).collect();
        parallel::map(0..p, |j| median(column(j)))
    }

    /// Median absolute deviations of the columns from their medians, over the observed cells.
    pub(super) fn deviations(&self) -> Vec<f64> {
        let (n, p, medians) = (self.x.rows(), self.x.cols(), self.medians());
        let column = |j: usize| -> Vec<f64> {
            let cells = (0..n).filter(|i| self.has(i * p + j));
            cells.map(|i| (self.x[(i, j)] - medians[j]).abs()).collect()
        };
        parallel::map(0..p, |j| median(column(j)))
    }

    /// Divisors of the columns: robust standard deviations over the observed cells. The median absolute deviation is 0 if half of the cells
    /// are equal: the root mean square deviation from the median is then used, and 1 if all are equal up to rounding errors.
    ///
    /// Not standard deviations in all columns: gross errors 10,000 times the spread made them as much too large, and the estimated ranks
    /// 5 to 18 in place of 4; with the median absolute deviations they were 4.
    fn spreads(&self, eps: f64) -> Vec<f64> {
        let (n, p) = (self.x.rows(), self.x.cols());
        let (medians, deviations) = (self.medians(), self.deviations());
        parallel::map(0..p, |j| {
            let cells: Vec<f64> = (0..n).filter(|i| self.has(i * p + j)).map(|i| self.x[(i, j)]).collect();
            let least = eps * cells.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let squares: f64 = cells.iter().map(|x| (x - medians[j]).powi(2)).sum();
            let root = (squares / cells.len().max(1) as f64).sqrt();
            // Where most cells are equal but for noise, the deviations are of that noise, and the others would exceed all other columns.
            // Gross errors of 10,000 times the spread in a tenth of the cells make the ratio 3e-4.
            let robust = Some(DEVIATION_PER_MAD * deviations[j]).filter(|spread| *spread > 1e-6 * root);
            robust
                .into_iter()
                .chain([root])
                .find(|spread| spread.is_finite() && *spread > least)
                .unwrap_or(1.0)
        })
    }

    fn divide(&mut self, spread: Vec<f64>) {
        for row in self.x.as_mut_slice().chunks_exact_mut(spread.len()) {
            row.iter_mut().zip(&spread).for_each(|(x, s)| *x /= s);
        }
        self.spread = Some(spread);
    }

    /// Rows of numbers in the units of the data in those of the scaled cells; with `back`, the reverse.
    pub(super) fn in_units(&self, mut rows: Matrix<f64>, back: bool) -> Matrix<f64> {
        let Some(spread) = &self.spread else { return rows };
        for row in rows.as_mut_slice().chunks_exact_mut(spread.len()) {
            row.iter_mut().zip(spread).for_each(|(x, s)| if back { *x *= s } else { *x /= s });
        }
        rows
    }

    fn subtract(&mut self, center: &[f64]) {
        let p = center.len();
        for at in 0..self.x.as_slice().len() {
            if self.has(at) {
                self.x.as_mut_slice()[at] -= center[at % p];
            }
        }
        self.center = center.to_vec();
    }

    /// Whether the cell at this position of the matrix is observed.
    pub(super) fn has(&self, at: usize) -> bool {
        self.observed.is_empty() || self.observed[at]
    }

    /// The fraction of observed cells.
    pub(super) fn share(&self) -> f64 {
        self.n_observed as f64 / self.x.as_slice().len() as f64
    }

    /// The fraction of the observed cells that are in the sparse part: farther from `low` than the noise, of standard deviation `noise`, or
    /// than 1e-4 of the root mean square of `low` without noise.
    pub(super) fn sparse_share(&self, low: &Matrix<f64>, noise: f64) -> f64 {
        let low = low.as_slice();
        let size = (low.iter().map(|x| x * x).sum::<f64>() / low.len().max(1) as f64).sqrt();
        let cut = if noise > 0.0 { OUTLIER_THRESHOLD * noise } else { NOISELESS_RESIDUAL_SHARE * size };
        let both = self.x.as_slice().iter().zip(low).enumerate();
        let far = both.filter(|(at, (x, low))| self.has(*at) && (**x - **low).abs() > cut).count();
        far as f64 / self.n_observed.max(1) as f64
    }

    /// The median over observed cells of a function of the cell and of `low` there.
    pub(super) fn median_of(&self, low: &Matrix<f64>, of: impl Fn(f64, f64) -> f64) -> f64 {
        let both = self.x.as_slice().iter().zip(low.as_slice()).enumerate();
        median(both.filter(|(at, _)| self.has(*at)).map(|(_, (x, l))| of(*x, *l)).collect())
    }

    fn median_deviation(&self) -> f64 {
        let (medians, p) = (self.medians(), self.x.cols());
        let away = self.x.as_slice().iter().enumerate().filter(|(at, _)| self.has(*at));
        median(away.map(|(at, x)| (x - medians[at % p]).abs()).collect())
    }

    /// The scale relative to which noise is negligible: that of the deviations of cells from the medians of their columns, unless they are 0 but
    /// for rounding errors and a few columns. Offsets of columns would hide noise.
    pub(super) fn scale(&self) -> f64 {
        if self.deviation > STATIC_DEVIATION_SHARE * self.size { self.deviation } else { self.size }
    }

    fn median_size(&self) -> f64 {
        let numbers = self.x.as_slice().iter().enumerate().filter(|(at, _)| self.has(*at));
        let sizes: Vec<f64> = numbers.map(|(_, x)| x.abs()).collect();
        let mean = sizes.iter().sum::<f64>() / sizes.len().max(1) as f64;
        match median(sizes) {
            0.0 => mean,
            size => size,
        }
    }
}

/// The median; 0 if there are no numbers.
pub(super) fn median(mut of: Vec<f64>) -> f64 {
    let n = of.len();
    if n == 0 {
        return 0.0;
    }
    let (below, middle, _) = of.select_nth_unstable_by(n / 2, f64::total_cmp);
    let middle = *middle;
    match n % 2 {
        1 => middle,
        _ => 0.5 * (middle + below.iter().fold(f64::NEG_INFINITY, |m, x| m.max(*x))),
    }
}

/// Soft thresholding: `max(|x| - t, 0)` with the sign of `x`.
#[inline(always)]
pub(super) fn soft(x: f64, t: f64) -> f64 {
    x - x.max(-t).min(t)
}

/// Sums of parts, in order.
pub(super) fn total<const K: usize>(parts: &[[f64; K]]) -> [f64; K] {
    parts.iter().fold([0.0; K], |mut sum, part| {
        sum.iter_mut().zip(part).for_each(|(s, x)| *s += x);
        sum
    })
}
