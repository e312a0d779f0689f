//! The Gaussian density of the rows under a model.

use crate::data::Workspace;
use crate::error::Result;
use crate::machine::check_square;
use crate::num::{Matrix, Real, factor, kernel};

/// Maximum number of columns for which a covariance is inverted directly, in `O(p^3)`.
const MOST_INVERTED_COLUMNS: usize = 1024;

/// A Gaussian with covariance `D (V' diag(variance - noise) V + noise I) D`, where `V`, the axes, has orthonormal rows, and `D` is the
/// diagonal matrix of `noise_scale`, if there is one, else the identity.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Gaussian {
    /// Mean, `n_features`.
    pub mean: Vec<f64>,
    /// Divisors of the columns before the projection onto the axes, `n_features`; a column with scale 0 is left out of the density.
    pub noise_scale: Option<Vec<f64>>,
    /// `k x n_features`, orthonormal rows.
    pub axes: Matrix<f64>,
    /// Variance along each axis, at least `noise`.
    pub variance: Vec<f64>,
    /// Variance in all directions orthogonal to the axes.
    pub noise: f64,
}

impl Gaussian {
    /// The Gaussian of `mean`, orthonormal `axes` with the `variance` along each, and the variance `noise` in all other directions.
    pub fn new(mean: Vec<f64>, axes: Matrix<f64>, variance: Vec<f64>, noise: f64) -> Self {
        Self { mean, noise_scale: None, axes, variance, noise }
    }

    /// `log p(x)` of every row, in nats.
    ///
    /// The residual part of the quadratic form is computed from the residual itself, not as `||x||² - Σ y²`, which cancels.
    pub fn log_density<T: Real>(&self, rows: &[T], out: &mut [f64], work: &mut Workspace<T>) {
        let (k, p) = (self.axes.rows(), self.axes.cols());
        let left_out = self.noise_scale.iter().flatten().filter(|s| **s == 0.0).count();
        let constant = (p - left_out) as f64 * (2.0 * std::f64::consts::PI).ln() + self.log_determinant();
        let n = rows.len() / p;
        let mut centred = Vec::with_capacity(n * p);
        for row in rows.chunks_exact(p) {
            centred.extend(row.iter().zip(&self.mean).map(|(x, m)| x.to_f64() - m));
        }
        if let Some(scale) = &self.noise_scale {
            for row in centred.chunks_exact_mut(p) {
                row.iter_mut().zip(scale).for_each(|(x, s)| *x = if *s > 0.0 { *x / s } else { 0.0 });
            }
        }
        let mut scores = vec![0.0; n * k];
        work.wide.clear();
        work.wide.resize(n * p, 0.0);
        if k > 0 {
            kernel::product(&mut scores, &centred, self.axes.transposed().as_slice(), n, p, k);
            kernel::product(&mut work.wide, &scores, self.axes.as_slice(), n, k, p);
        }
        for (i, log_p) in out.iter_mut().enumerate() {
            let y = &scores[i * k..(i + 1) * k];
            let along: f64 = y.iter().zip(&self.variance).map(|(y, v)| y * y / v).sum();
            let (x, fitted) = (&centred[i * p..(i + 1) * p], &work.wide[i * p..(i + 1) * p]);
            let across =
                if k == p { 0.0 } else { x.iter().zip(fitted).map(|(x, f)| (x - f) * (x - f)).sum() };
            *log_p = -0.5 * (constant + along + across / self.noise);
        }
    }

    /// The quadratic form of the density, divided by `scale²`, of a row that is divided by `scale`: for rows whose own squares overflow.
    pub(super) fn far_square(&self, divided: &[f64], scale: f64) -> f64 {
        let (k, p) = (self.axes.rows(), self.axes.cols());
        let unit = |j: usize| self.noise_scale.as_ref().map_or(1.0, |units| units[j]);
        let in_units = |j: usize, x: f64| if unit(j) > 0.0 { x / unit(j) } else { 0.0 };
        let centred: Vec<f64> = (0..p).map(|j| in_units(j, divided[j] - self.mean[j] / scale)).collect();
        let (mut rest, mut along) = (centred.clone(), 0.0);
        for a in 0..k {
            let y: f64 = self.axes.row(a).iter().zip(&centred).map(|(u, x)| u * x).sum();
            along += y * y / self.variance[a];
            rest.iter_mut().zip(self.axes.row(a)).for_each(|(r, u)| *r -= y * u);
        }
        let across = if k == p { 0.0 } else { rest.iter().map(|r| r * r).sum() };
        along + across / self.noise
    }

    /// Logarithm of the determinant of the covariance of the columns whose scale is not 0.
    pub fn log_determinant(&self) -> f64 {
        let rest = (self.axes.cols() - self.axes.rows()) as f64;
        let units: f64 = self.noise_scale.iter().flatten().filter(|s| **s > 0.0).map(|s| s.ln()).sum();
        self.variance.iter().map(|v| v.ln()).sum::<f64>()
            + if rest > 0.0 { rest * self.noise.ln() } else { 0.0 }
            + 2.0 * units
    }

    /// The covariance matrix, `n_features x n_features`.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`](crate::Error::Memory) if a table of this size does not fit in memory.
    pub fn covariance(&self) -> Result<Matrix<f64>> {
        self.sandwich(|v| v - self.noise, self.noise, |s| s)
    }

    /// The precision matrix, the inverse of the covariance.
    ///
    /// # Errors
    ///
    /// As [`covariance`](Self::covariance).
    pub fn precision(&self) -> Result<Matrix<f64>> {
        // The pseudo-inverse for columns that are left out.
        let inverse = |s: f64| if s > 0.0 { 1.0 / s } else { 0.0 };
        if self.noise == 1.0 && self.noise_scale.is_some() {
            return self.precision_in_units_of_noise(inverse);
        }
        if self.axes.rows() == self.axes.cols() {
            // The axes span the whole space, so the noise must not enter: 1/v - 1/noise + 1/noise would cancel all digits.
            return self.sandwich(|v| 1.0 / v, 0.0, inverse);
        }
        self.sandwich(|v| 1.0 / v - 1.0 / self.noise, 1.0 / self.noise, inverse)
    }

    /// The precision matrix in units of the noise. Up to [`MOST_INVERTED_COLUMNS`] columns, the inverse of the correlation matrix, whose
    /// condition number does not grow as the noise of a column vanishes: `I - M' (I + M M')^-1 M`, `M = diag(variance - 1)^(1/2) V`, would
    /// cancel as many digits as `variance` has.
    fn precision_in_units_of_noise(&self, unit: impl Fn(f64) -> f64) -> Result<Matrix<f64>> {
        let (k, p) = (self.axes.rows(), self.axes.cols());
        check_square("the precision of a model", p, 4)?;
        let m = Matrix::from_fn(k, p, |i, j| self.axes[(i, j)] * (self.variance[i] - 1.0).max(0.0).sqrt());
        let one = |i: usize, j: usize| f64::from(u8::from(i == j));
        if p <= MOST_INVERTED_COLUMNS {
            let common = factor::multiply(&m.transposed(), &m);
            let scale: Vec<f64> = (0..p).map(|j| 1.0 / (common[(j, j)] + 1.0).sqrt()).collect();
            let entry = |i: usize, j: usize| (common[(i, j)] + one(i, j)) * scale[i] * scale[j];
            if let Some(factor) = factor::Cholesky::new(&Matrix::from_fn(p, p, entry)) {
                let inverse = factor.solve_rows(&Matrix::from_fn(p, p, one));
                let entry =
                    |i: usize, j: usize| 0.5 * (inverse[(i, j)] + inverse[(j, i)]) * scale[i] * scale[j];
                return Ok(self.in_units(Matrix::from_fn(p, p, entry), unit));
            }
        }
        let mut inner = factor::multiply_transposed(&m, &m);
        (0..k).for_each(|i| inner[(i, i)] += 1.0);
        let solved = match factor::Cholesky::new(&inner) {
            Some(factor) => factor.solve_rows(&m.transposed()),
            None => factor::multiply(&m.transposed(), &crate::num::pseudo_inverse(&inner)?),
        };
        let out = factor::multiply(&solved, &m);
        let out = Matrix::from_fn(p, p, |i, j| one(i, j) - 0.5 * (out[(i, j)] + out[(j, i)]));
        Ok(self.in_units(out, unit))
    }

    /// `U (V' diag(f(variance)) V + diagonal I) U` with `U` the diagonal of `unit(noise_scale)`; exactly symmetric.
    fn sandwich(
        &self,
        f: impl Fn(f64) -> f64,
        diagonal: f64,
        unit: impl Fn(f64) -> f64,
    ) -> Result<Matrix<f64>> {
        let (k, p) = (self.axes.rows(), self.axes.cols());
        // Two tables: the result, and the copy of it that is returned.
        check_square("the covariance of a model", p, 2)?;
        let scaled = Matrix::from_fn(k, p, |i, j| self.axes[(i, j)] * f(self.variance[i]));
        let mut out = factor::multiply(&scaled.transposed(), &self.axes);
        for i in 0..p {
            for j in 0..i {
                let mean = 0.5 * (out[(i, j)] + out[(j, i)]);
                (out[(i, j)], out[(j, i)]) = (mean, mean);
            }
            out[(i, i)] += diagonal;
        }
        Ok(self.in_units(out, unit))
    }

    /// Converts a `p x p` matrix to the units of the columns.
    fn in_units(&self, mut table: Matrix<f64>, unit: impl Fn(f64) -> f64) -> Matrix<f64> {
        if let Some(scale) = &self.noise_scale {
            let units: Vec<f64> = scale.iter().map(|s| unit(*s)).collect();
            for i in 0..table.rows() {
                table.row_mut(i).iter_mut().zip(&units).for_each(|(x, u)| *x *= units[i] * u);
            }
        }
        table
    }
}
