//! Start of deterministic solvers: rows in the coordinates of their principal axes.
//!
//! In these coordinates the covariance is diagonal and the first `k` axes are the first unit vectors. `4 k` coordinates are
//! enough: the part of a solution for `k` components outside of them is at most the square root of that of
//! the data (measured on patches of photographs, `k = 32`: a squared length of 2e-4), and a sweep costs as
//! much as there are coordinates.

use super::separation::{GatherCodes, PassMeans, Rule};
use crate::data::{MOST_BYTES_KEPT, Map, Projected, Rows};
use crate::error::Result;
use crate::model::Linear;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::spectrum::{self, Decomposition, Request, auto_solver};
use crate::stats::GatherMoments;
use std::cell::Cell;

/// Coordinates for each component.
const COORDINATES_PER_COMPONENT: usize = 4;

/// Options of principal coordinates.
#[derive(Clone, Copy, Debug)]
pub struct PrincipalOptions {
    /// Key of the method, for messages.
    pub method: &'static str,
    /// Number of components.
    pub k: usize,
    /// Whether the mean is subtracted.
    pub center: bool,
    /// Whether every column is divided by its standard deviation.
    pub standardize: bool,
    /// Maximum size in bytes of coordinates that are kept, if not the default.
    pub kept: Option<usize>,
}

/// Rows in principal coordinates, divided by a power of two near the largest standard deviation: for rows times a constant the iteration
/// is the same.
pub struct Principal<'a, T: Real> {
    /// Principal axes and variances of the rows.
    pub spectrum: Decomposition,
    /// Diagonal of the matrix of second moments (divisor `n`) of the coordinates; it is a diagonal matrix.
    pub moments: Vec<f64>,
    /// The divisor of the coordinates.
    pub unit: f64,
    /// The mean of the rows in coordinates, unless it was subtracted.
    offset: Option<Vec<f64>>,
    rows: &'a Rows<'a, T>,
    held: PrincipalRows<'a, T>,
    sweeps: Cell<u64>,
}

enum PrincipalRows<'a, T: Real> {
    /// Rows and their coordinates.
    Projected(Projected<'a, 'a, T>),
    /// The mean of the rows, and the map from centred rows to coordinates, `r x p`, which is combined with the matrix applied to them.
    Folded { mean: Vec<f64>, map: Matrix<f64> },
}

impl<'a, T: Real> Principal<'a, T> {
    /// Computes the axes, and the coordinates if they are kept. One sweep for the covariance, one for the coordinates if they are kept, and
    /// one for the mean if it is not subtracted.
    ///
    /// # Errors
    ///
    /// Those of [`spectrum::decompose`].
    pub fn new(rows: &'a Rows<'a, T>, ask: &PrincipalOptions, run: &Run<'_>) -> Result<Self> {
        let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
        let top = COORDINATES_PER_COMPONENT.saturating_mul(ask.k).min((p as u64).min(n) as usize).max(1);
        let request = Request {
            method: ask.method,
            solver: auto_solver(n, p, Some(top), false),
            top: Some(top),
            center: ask.center,
            standardize: ask.standardize,
            tol: 0.0,
            rounds: None,
            n_oversamples: 0,
            start: None,
        };
        let found = spectrum::decompose(rows, run, &request)?;
        Self::over(rows, found, top, ask, run)
    }

    /// The same with a given decomposition of the rows, in at most `top` coordinates.
    pub(crate) fn over(
        rows: &'a Rows<'a, T>,
        found: Decomposition,
        top: usize,
        ask: &PrincipalOptions,
        run: &Run<'_>,
    ) -> Result<Self> {
        let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
        let r = found.axes.rows().min(top);
        let mut sweeps = found.sweeps;
        let unit = found.values[0].sqrt().log2().round().exp2();
        let unit = if unit.is_finite() && unit > 0.0 { unit } else { 1.0 };
        let share = (found.n - 1.0) / found.n;
        let moments = found.values[..r].iter().map(|v| v * share / unit / unit).collect();
        let (axes, units) = (&found.axes.clone().top_rows(r), vec![unit; r]);
        let noise = found.noise_scale.as_deref();
        let map = Linear { noise, axes, scale: Some(&units), rotation: None }.encoder().transposed();
        let mut mean = found.mean.clone();
        let mut offset = None;
        if !ask.center {
            mean = rows.sweep(run, "mean", &GatherMoments::new())?.mean;
            offset =
                Some(factor::multiply(&Matrix::from_vec(1, p, mean.clone()), &map.transposed()).into_vec());
            sweeps += 1;
        }
        let bytes = (n as usize).saturating_mul(r).saturating_mul(std::mem::size_of::<T>());
        let held = match bytes <= ask.kept.unwrap_or(MOST_BYTES_KEPT as usize) {
            true => {
                sweeps += 1;
                PrincipalRows::Projected(Projected::new(
                    rows,
                    Map::new(mean, &map),
                    "principal coordinates",
                    run,
                )?)
            }
            false => PrincipalRows::Folded { mean, map },
        };
        Ok(Self { spectrum: found, moments, unit, offset, rows, held, sweeps: Cell::new(sweeps) })
    }

    /// Number of coordinates.
    pub fn r(&self) -> usize {
        self.moments.len()
    }

    /// Number of rows, weighted.
    pub fn n(&self) -> f64 {
        self.spectrum.n
    }

    /// Full passes over the data so far.
    pub fn sweeps(&self) -> u64 {
        self.sweeps.get()
    }

    /// Adds passes made by other code.
    pub(crate) fn count_sweeps(&self, more: u64) {
        self.sweeps.set(self.sweeps.get() + more);
    }

    /// Directions in the space of the columns (`p x k`) as unit rows in coordinates.
    pub(crate) fn unit_rows(&self, directions: &Matrix<f64>) -> Matrix<f64> {
        let mut w = factor::multiply(&self.spectrum.axes.clone().top_rows(self.r()), directions).transposed();
        for j in 0..w.rows() {
            let length = w.row(j).iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
            w.row_mut(j).iter_mut().for_each(|x| *x /= length);
        }
        w
    }

    /// The mean of the rows in coordinates, unless it was subtracted.
    pub(super) fn offset(&self) -> Option<&[f64]> {
        self.offset.as_deref()
    }

    /// Standard deviations along the rows of `w`, never less than a rounding error of the largest.
    pub fn deviations(&self, w: &Matrix<f64>) -> Vec<f64> {
        let square = |row: &[f64]| {
            let about_zero: f64 = row.iter().zip(&self.moments).map(|(w, m)| w * w * m).sum();
            let mean: f64 = self.offset.iter().flatten().zip(row).map(|(m, w)| m * w).sum();
            (about_zero - mean * mean).max(0.0)
        };
        let squares: Vec<f64> = (0..w.rows()).map(|j| square(w.row(j))).collect();
        let least = squares.iter().fold(f64::MIN_POSITIVE, |m, s| m.max(*s)) * f64::EPSILON * f64::EPSILON;
        squares.iter().map(|s| s.max(least).sqrt()).collect()
    }

    /// Covariance of the codes along the rows of `w`.
    pub(super) fn covariance(&self, w: &Matrix<f64>) -> Matrix<f64> {
        let scaled = Matrix::from_fn(w.rows(), w.cols(), |j, i| w[(j, i)] * self.moments[i]);
        let mean = |j: usize| -> f64 { self.offset.iter().flatten().zip(w.row(j)).map(|(m, w)| m * w).sum() };
        let about_zero = factor::multiply_transposed(&scaled, w);
        Matrix::from_fn(w.rows(), w.rows(), |i, j| about_zero[(i, j)] - mean(i) * mean(j))
    }

    /// The first `k` axes: unit vectors.
    pub fn first(&self, k: usize) -> Matrix<f64> {
        Matrix::from_fn(k, self.r(), |j, i| f64::from(u8::from(i == j)))
    }

    /// Rows of `w`, given in coordinates, as directions in the space of the columns, which are standardised if that was requested.
    pub fn directions(&self, w: &Matrix<f64>) -> Matrix<f64> {
        factor::multiply(w, &self.spectrum.axes.clone().top_rows(self.r()))
    }

    /// Number of rows with positive weight.
    pub(crate) fn n_rows(&self) -> u64 {
        match self.rows.weights() {
            None => self.rows.n_rows().unwrap_or(0),
            Some(weights) => weights.iter().filter(|w| **w > 0.0).count() as u64,
        }
    }

    /// Coordinates of the rows `chosen`, in ascending order, and their weights. The numbers of rows count those with positive weight only.
    pub(crate) fn coordinates_of(
        &self,
        mut chosen: Vec<u64>,
        run: &Run<'_>,
    ) -> Result<(Vec<T>, Option<Vec<f64>>)> {
        chosen.sort_unstable();
        if let Some(all) = self.rows.weights() {
            let counted: Vec<u64> = (0..all.len() as u64).filter(|&i| all[i as usize] > 0.0).collect();
            chosen.iter_mut().for_each(|i| *i = counted[*i as usize]);
        }
        let weights = self.rows.weights_at(&chosen);
        let numbers = match &self.held {
            PrincipalRows::Projected(projected) => projected.picked(chosen, run)?,
            PrincipalRows::Folded { mean, map } => {
                Map::new(mean.clone(), map).of_picked(self.rows, chosen, run)?
            }
        };
        Ok((numbers, weights))
    }

    /// The sums of `rule` over standardised codes along the rows of `w`, `k x r`. One sweep.
    pub(super) fn gather<R: Rule<T>>(
        &self,
        w: &Matrix<f64>,
        rule: &R,
        run: &Run<'_>,
        stage: &str,
    ) -> Result<R::Sums> {
        self.sweeps.set(self.sweeps.get() + 1);
        let (k, sigma) = (w.rows(), self.deviations(w));
        // z = x W Sigma^-1 in one product.
        let scaled = Matrix::from_fn(w.cols(), k, |i, j| w[(j, i)] / sigma[j]);
        let rule = rule.clone();
        match &self.held {
            PrincipalRows::Projected(projected) => {
                projected.sweep(run, stage, GatherCodes { mean: None, into: scaled.cast(), rule })
            }
            PrincipalRows::Folded { mean, map } => {
                let into = factor::multiply(&map.transposed(), &scaled).cast();
                let gather = GatherCodes { mean: Some(mean.clone()), into, rule };
                let mut sums = self.rows.sweep(run, stage, &gather)?;
                let gradient = gather.rule.gradient(&mut sums);
                *gradient = factor::multiply_transposed(gradient, map);
                Ok(sums)
            }
        }
    }

    /// Gradients and separation statistics of the components `w`, `k x r`; see [`PassMeans`]. One sweep.
    ///
    /// # Errors
    ///
    /// Errors of the source; [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn pass_means(
        &self,
        w: &Matrix<f64>,
        rule: &super::separation::Pass,
        run: &Run<'_>,
    ) -> Result<PassMeans> {
        let sums = self.gather(w, rule, run, "nonlinear sums")?;
        Ok(PassMeans::new(sums, w, self.deviations(w), self.n(), self.offset()))
    }
}
