//! Statistics of the rows: means, standard deviations and correlations, or the standardised rows if there are
//! at most as many as columns.

use super::likelihood::Moments;
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::machine::{check_memory, check_square};
use crate::num::{Dtype, Matrix, Real, parallel, widest};
use crate::run::Run;
use crate::spectrum::{check_total, hidden_columns, no_variance_of};
use crate::stats::{FeatureView, GatherScatter, Scatter, root_of_squares};

/// Moments of rows, and the scales of the columns.
pub(super) struct RowMoments {
    /// Number of rows, or sum of their weights.
    pub(super) n: f64,
    /// Mean of every column.
    pub(super) mean: Vec<f64>,
    /// Columns that vary.
    pub(super) varying: Vec<usize>,
    /// Standard deviations of the columns that vary (divisor `n`).
    pub(super) scales: Vec<f64>,
    /// Second moments of the columns that vary, each divided by its standard deviation.
    pub(super) moments: Moments,
    /// Number of constant columns, without those whose squares underflow to 0.
    pub(super) n_constant: usize,
    pub(super) dtype: Dtype,
    /// Set if cells are missing: then there is no table of sample correlations.
    pub(super) gaps: Option<Incomplete>,
}

/// Statistics of rows with missing cells for the report.
pub(super) struct Incomplete {
    /// Checksum of the rows.
    pub(super) checksum: u32,
    /// Number of rows without an observed cell.
    pub(super) empty: f64,
    /// Full passes over the rows.
    pub(super) sweeps: u64,
}

/// Columns that one thread standardises at a time.
const COLUMNS_PER_TASK: usize = 512;

impl RowMoments {
    /// From one sweep if there are more rows than columns, otherwise from the rows in memory.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, no column that varies, a variance that is too small for its type, tables too large for memory.
    pub(super) fn of<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Self> {
        let (p, counted) = (rows.n_features(), rows.n_counted());
        let mut row_moments = match rows.n_samples().max(counted as f64) <= p as f64 {
            true => Self::of_few(rows, run)?,
            false => {
                check_square("factor-analysis", p, 8)?;
                let scatter = rows.sweep(run, "covariance", &GatherScatter::new())?;
                if !scatter.finite() {
                    return Err(rows.not_finite("factor-analysis"));
                }
                Self::of_scatter(&scatter, T::DTYPE)
            }
        };
        if row_moments.varying.is_empty() {
            return Err(no_variance_of(rows, "factor-analysis"));
        }
        row_moments.check()?;
        if row_moments.n_constant > 0 {
            row_moments.n_constant -= hidden_columns(rows, &row_moments.mean)?.len();
        }
        Ok(row_moments)
    }

    /// From sums over rows.
    pub(super) fn of_sums(scatter: &Scatter, dtype: Dtype) -> Result<Self> {
        if !scatter.finite() {
            return Err(Error::Overflow { method: "factor-analysis".into(), dtype: dtype.name() });
        }
        let row_moments = Self::of_scatter(scatter, dtype);
        if row_moments.varying.is_empty() {
            let (n_features, n_samples) = (scatter.mean.len(), scatter.n as u64);
            return Err(Error::NoVariance { method: "factor-analysis".into(), n_features, n_samples });
        }
        row_moments.check()?;
        Ok(row_moments)
    }

    fn of_scatter(scatter: &Scatter, dtype: Dtype) -> Self {
        let (n, lower, varying) = (scatter.n, &scatter.lower, scatter.varying());
        let lengths: Vec<f64> = varying.iter().map(|&j| lower[(j, j)].sqrt()).collect();
        let entry = |i: usize, j: usize| {
            let (i, j) = (i.max(j), i.min(j));
            if i == j { 1.0 } else { lower[(varying[i], varying[j])] / lengths[i] / lengths[j] }
        };
        let table = Matrix::from_fn(varying.len(), varying.len(), entry);
        Self {
            n,
            mean: scatter.mean.clone(),
            n_constant: scatter.mean.len() - varying.len(),
            scales: lengths.iter().map(|l| l / n.sqrt()).collect(),
            varying,
            moments: Moments::Table(table),
            dtype,
            gaps: None,
        }
    }

    /// From at most as many rows as columns.
    fn of_few<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Self> {
        let (n, p) = (rows.n_rows().unwrap_or(0) as usize, rows.n_features());
        let numbers = (n as u64).saturating_mul(p as u64);
        check_memory(
            &format!("{n} rows of {p} numbers in double precision, and a copy divided by their scales,"),
            numbers.saturating_mul(8 * 2),
            "choose fewer columns",
        )?;
        run.stage("rows")?;
        let all = rows.whole(run)?;
        let view = FeatureView::new(rows.n_samples(), rows.weights(), true, false);
        let mut lines = vec![0.0; n * p];
        let blocks = lines.chunks_mut(n * COLUMNS_PER_TASK).enumerate();
        let found = parallel::map(blocks, |(block, lines)| {
            standardized(&all, &view, (n, p, block * COLUMNS_PER_TASK), lines)
        });
        drop(all);
        let (mut mean, mut varying, mut scales) = (Vec::with_capacity(p), Vec::new(), Vec::new());
        for (j, (of_column, length)) in found.into_iter().flatten().enumerate() {
            if !length.is_finite() || !of_column.is_finite() {
                return Err(rows.not_finite("factor-analysis"));
            }
            mean.push(of_column);
            if length == 0.0 {
                continue;
            }
            if varying.len() < j {
                lines.copy_within(j * n..(j + 1) * n, varying.len() * n);
            }
            varying.push(j);
            scales.push(length / rows.n_samples().sqrt());
        }
        lines.truncate(varying.len() * n);
        let moments = Moments::Columns(Matrix::from_vec(varying.len(), n, lines));
        let n_constant = p - varying.len();
        Ok(Self {
            n: rows.n_samples(),
            mean,
            varying,
            scales,
            moments,
            n_constant,
            dtype: T::DTYPE,
            gaps: None,
        })
    }

    /// Sets of collinear columns, as positions among those that vary; none if there are no more rows than columns, all of which are
    /// collinear then.
    pub(super) fn collinear(&self) -> Result<Vec<Vec<usize>>> {
        // Residual variances, as shares, below which the null space is computed; sums over many rows have rounding errors.
        const LEAST_RESIDUAL_SHARE: f64 = 1e-9;
        let left = || self.moments.left_by_others(self.dtype.eps());
        let singular = || left().is_none_or(|left| left.iter().any(|u| *u < LEAST_RESIDUAL_SHARE));
        match self.n > self.varying.len() as f64 && self.gaps.is_none() && singular() {
            true => self.moments.collinear(self.dtype.eps()),
            false => Ok(Vec::new()),
        }
    }

    /// Rejects variances in the subnormal range.
    pub(super) fn check(&self) -> Result<()> {
        let total: f64 = self.scales.iter().map(|s| s * s).sum();
        check_total("factor-analysis", total, self.dtype)?;
        let small = self.scales.iter().position(|s| s * s < self.dtype.least());
        small.map_or(Ok(()), |i| {
            Err(Error::unsupported(
                "factor-analysis of these data",
                format!(
                    "the variance of column {} is below the smallest normal number of {}",
                    self.varying[i], self.dtype
                ),
                "multiply that column by a large constant, or leave it out",
            )
            .of_method(super::METHOD.key)
            .with(|d| d.column = Some(self.varying[i])))
        })
    }

    /// Values for all columns from those of the columns that vary, with `rest` for the others.
    pub(super) fn spread(&self, values: &[f64], rest: f64) -> Vec<f64> {
        let mut all = vec![rest; self.mean.len()];
        self.varying.iter().zip(values).for_each(|(&j, v)| all[j] = *v);
        all
    }
}

/// Writes columns from `first` on of the `n x p` rows as `lines`, each centred and divided by its length, unless that is 0; returns their means
/// and lengths.
fn standardized<T: Real>(
    rows: &[T],
    view: &FeatureView<'_>,
    (n, p, first): (usize, usize, usize),
    lines: &mut [f64],
) -> Vec<(f64, f64)> {
    /// Columns that are transposed at a time: those of a row fill eight lines of a cache.
    const COLUMNS_PER_TRANSPOSE: usize = 64;
    let (mut some, mut line) = (vec![T::default(); COLUMNS_PER_TRANSPOSE * n], Vec::new());
    let mut found = Vec::with_capacity(lines.len() / n);
    for (group, lines) in lines.chunks_mut(COLUMNS_PER_TRANSPOSE * n).enumerate() {
        let from = first + group * COLUMNS_PER_TRANSPOSE;
        let columns = from..from + lines.len() / n;
        for (i, row) in rows.chunks_exact(p).enumerate() {
            for (column, x) in some.chunks_exact_mut(n).zip(&row[columns.clone()]) {
                column[i] = *x;
            }
        }
        for (column, out) in some.chunks_exact(n).zip(lines.chunks_exact_mut(n)) {
            line.clear();
            let feature = view.push(column, &mut line);
            let length = root_of_squares(line.iter().copied()).unwrap_or(0.0);
            let divisor = if length == 0.0 { 1.0 } else { length };
            widest(
                #[inline(always)]
                || out.iter_mut().zip(&line).for_each(|(out, x)| *out = x / divisor),
            );
            found.push((feature.mean, length));
        }
    }
    found
}
