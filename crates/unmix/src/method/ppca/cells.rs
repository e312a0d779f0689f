//! Fits of rows with gaps: checks, number of components, report.

use super::blocks::bic_blocks;
use super::em::{Cells, EmResult};
use super::model::Estimate;
use super::solution::{FitDetails, Problem, Size, criteria, parameters};
use crate::data::{Rows, check_n_rows};
use crate::error::{Error, Result, counted};
use crate::model::{Report, constant_columns};
use crate::num::Real;
use crate::run::Run;
use crate::solve::Limits;
use crate::spectrum::{check_count, check_total, no_variance_of};
use crate::stats::GatherChecksum;
use crate::stats::gaps::{GatherObserved, ObservedCells};

/// Why the likelihood of a fit to rows with missing cells cannot be compared with those of other numbers of components.
const UNBOUNDED: &str =
    "the fit did not converge, because its likelihood is unbounded as the noise variance tends to 0";

impl Problem {
    /// Parameters and report of iterations over the observed cells, for a method with a model of its own.
    pub(crate) fn of_cells<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<(Estimate, Report)> {
        let size = Size { counted: rows.n_counted(), p: rows.n_features(), origin: rows.origin() };
        self.check(size)?;
        let (estimate, details) = self.by_em(rows, size, run)?;
        Ok((estimate, details.report))
    }

    /// By iterations over the observed cells.
    pub(super) fn by_em<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        size: Size<'_>,
        run: &Run<'_>,
    ) -> Result<(Estimate, FitDetails)> {
        self.check_em(rows)?;
        let observed = self.observed(rows, size, run)?;
        let unit: Vec<f64> = match self.standardize {
            false => vec![1.0; size.p],
            true => observed
                .squares
                .iter()
                .zip(&observed.count)
                .map(|(s, n)| if *s > 0.0 { (s / n).sqrt() } else { 1.0 })
                .collect(),
        };
        let mut cells = Cells { observed: &observed, unit: &unit, floor: 0.0 };
        cells.floor = self.noise_floor * cells.mean_square();
        let (found, sweeps) = self.iterated(rows, &cells, size, run)?;
        let estimate = self.estimate(&found.model, &unit)?;
        let k = estimate.variance.len();
        if self.noise_floor == 0.0 && cells.is_singular(&found, T::DTYPE.eps()) {
            return Err(self.no_noise(k, size, None));
        }
        let n = observed.n - observed.empty;
        let mut report = Report::closed_form("em", n, size.p, T::DTYPE, run.seed);
        report.outcome = found.outcome;
        (report.n_iter, report.sweeps) = (found.n_iter, sweeps);
        (report.residual, report.tol) = (Some(found.residual).filter(|r| r.is_finite()), Some(self.tol));
        let value = found.objective.last().copied().unwrap_or(f64::NAN);
        report.objective.clone_from(&found.objective);
        report.n_constant = n_constant(&observed);
        if observed.has_gaps() {
            report.rows_checksum = Some(rows.sweep(run, "checksum", &GatherChecksum)?.checksum());
            report.sweeps += 1;
        }
        report.warnings.extend(constant_columns(report.n_constant, size.p, "loadings"));
        report.warnings.extend(warning_of_empty_rows(observed.empty));
        if estimate.noise <= cells.floor {
            report.warnings.push("the noise variance is at its lower bound, noise_floor".into());
        }
        if cells.is_unbounded(&found) {
            report.not_comparable = Some(UNBOUNDED);
            let (components, or) = (counted(k as u64, "component"), self.bounded_remedy());
            report.warnings.push(format!("with {components} {UNBOUNDED}: choose fewer{or}"));
        }
        report.fit = Some(criteria(n * value, n, parameters((size.p, report.n_constant), &vec![1; k])));
        let blocks = if self.blocks { bic_blocks(&estimate.variance, k, n) } else { Vec::new() };
        let variances = || observed.squares.iter().zip(&observed.count).map(|(s, n)| s / n).collect();
        let by_bic: Option<Vec<f64>> = self.n_components.is_none().then(variances);
        Ok((estimate, FitDetails { report, blocks, by_bic }))
    }

    /// Refuses rows and settings that iterations over cells do not support.
    fn check_em<T: Real>(&self, rows: &Rows<'_, T>) -> Result<()> {
        if rows.is_sparse() {
            let why = "sparse rows have no missing cells, and the iterations would make them dense";
            return Err(Error::setting(
                "algorithm",
                "'em'",
                why,
                "choose 'closed-form', or make the rows dense",
            ));
        }
        if self.groups.is_some() {
            return Err(Error::unsupported(
                format!("{} with groups of rows with missing cells", self.method.key),
                "blocks of equal variances are fitted in closed form only, which needs every cell",
                "leave groups out, or fill the cells first, as unmix::impute::Imputer does",
            )
            .of_method(self.method.key));
        }
        Ok(())
    }

    /// [`cells_of`], for the number of components of these settings.
    fn observed<T: Real>(&self, rows: &Rows<'_, T>, size: Size<'_>, run: &Run<'_>) -> Result<ObservedCells> {
        let observed = cells_of(self.method.key, rows, run)?;
        let most = (observed.n_rows().min(size.p as u64) as usize).saturating_sub(1);
        if let Some(k) = self.n_components {
            check_count_of_cells(k, most, &observed, size.origin)?;
        }
        Ok(observed)
    }

    /// The parameters for the requested number of components, or for the number selected by the Bayesian information criterion: numbers are
    /// tried from 1 upwards, until two in succession are not better than the best.
    fn iterated<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        cells: &Cells<'_>,
        size: Size<'_>,
        run: &Run<'_>,
    ) -> Result<(EmResult, u64)> {
        let limits = Limits { tol: self.tol, max_iter: self.max_iter };
        let n = cells.observed.n - cells.observed.empty;
        let most = (cells.observed.n_rows().min(size.p as u64) as usize).saturating_sub(1);
        // The sweep over the cells, then one for each start; that for the checksum of a checkpoint is not counted.
        let mut sweeps = 1;
        let mut at = |k: usize| -> Result<EmResult> {
            let found = cells.iterate(rows, || cells.start(rows, k, run), limits, run)?;
            sweeps += found.n_iter + 1;
            Ok(found)
        };
        if let Some(k) = self.n_components {
            let found = at(k)?;
            return Ok((found, sweeps));
        }
        let mut best: Option<(f64, EmResult)> = None;
        let mut worse = 0;
        for k in 1..=most {
            let found = at(k)?;
            let log_likelihood = n * found.objective.last().copied().unwrap_or(f64::NEG_INFINITY);
            // Minus half the Bayesian information criterion: larger is better.
            let criterion =
                log_likelihood - 0.5 * n.ln() * parameters((size.p, n_constant(cells.observed)), &vec![1; k]);
            let singular = cells.is_singular(&found, T::DTYPE.eps());
            let unbounded = singular || cells.is_unbounded(&found);
            if unbounded && self.noise_floor == 0.0 && best.is_some() {
                break;
            }
            match &best {
                Some((before, _)) if criterion <= *before => worse += 1,
                _ => (best, worse) = (Some((criterion, found)), 0),
            }
            if worse == 2 {
                break;
            }
        }
        match best {
            Some((_, found)) => Ok((found, sweeps)),
            None => unreachable!("there is a number of components to try"),
        }
    }
}

/// Number of columns whose observed cells are all equal.
fn n_constant(observed: &ObservedCells) -> usize {
    observed.squares.iter().filter(|s| **s == 0.0).count()
}

fn warning_of_empty_rows(empty: f64) -> Option<String> {
    let have =
        if empty == 1.0 { "row has no observed cell and is" } else { "rows have no observed cell and are" };
    (empty > 0.0).then(|| format!("{empty} {have} ignored"))
}

/// Checks a number of components against the number of rows with an observed cell, which permits at most `most`.
///
/// # Errors
///
/// A larger number.
pub(crate) fn check_count_of_cells(
    k: usize,
    most: usize,
    observed: &ObservedCells,
    origin: &str,
) -> Result<()> {
    check_count(k, 0..=most, || match observed.n_rows() {
        1 => format!("only 1 row of {origin} has an observed cell"),
        n => format!("only {n} rows of {origin} have an observed cell"),
    })
}

/// Counts, means and sums of squares of the observed cells of `rows`, for the method `key`. One sweep.
///
/// # Errors
///
/// Infinities, columns without an observed cell, rows that do not vary, fewer than two rows with an observed cell.
pub(crate) fn cells_of<T: Real>(key: &str, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<ObservedCells> {
    let origin = rows.origin();
    let observed = rows.sweep(run, "cells", &GatherObserved)?;
    if let Some((row, column, x)) = observed.infinite {
        return Err(rows.not_finite_at(key, row, column as usize, x));
    }
    rows.check_missing(key, observed.has_gaps())?;
    if observed.squares.iter().chain(&observed.mean).any(|x| !x.is_finite()) {
        return Err(Error::Overflow { method: key.into(), dtype: T::DTYPE.name() });
    }
    check_n_rows(key, observed.n_rows(), origin, "rows without any observed cell are not counted")?;
    if let Some(j) = observed.count.iter().position(|c| *c == 0.0) {
        let name = rows.name(j).map_or(String::new(), |name| format!(" ('{name}')"));
        return Err(Error::unsupported(
            format!("{key} of {origin}"),
            format!("column {j}{name} has no observed cell"),
            "leave that column out",
        )
        .of_method(key)
        .with(|d| (d.column, d.name) = (Some(j), rows.name(j).map(Into::into))));
    }
    if observed.squares.iter().all(|s| *s == 0.0) {
        return Err(no_variance_of(rows, key));
    }
    check_total(key, observed.squares.iter().zip(&observed.count).map(|(s, n)| s / n).sum(), T::DTYPE)?;
    Ok(observed)
}
