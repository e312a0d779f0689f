//! A covariance from a scatter: centred or not, of the columns themselves or divided by their standard deviations.

use super::{
    Decomposition, Request, SolverOutcome, no_variance, power_of_two, scatter_floor, spread, truncated,
};
use crate::error::Result;
use crate::num::{Dtype, Matrix, factor, top};
use crate::stats::Scatter;

/// Second moments of the columns that are not constant, in the form that a request needs.
pub(crate) struct Covariance {
    /// Number of rows, weighted.
    pub n: f64,
    /// Centre of the rows: their mean, or zeros.
    pub mean: Vec<f64>,
    /// Divisors of the columns, if any.
    pub noise_scale: Option<Vec<f64>>,
    /// Indices of the columns that are not constant.
    pub varying: Vec<usize>,
    /// Their covariance (divisor `n - 1`), in the lower triangle.
    pub lower: Matrix<f64>,
    /// Sum of its diagonal.
    pub total: f64,
}

impl Covariance {
    /// From sums over at least two rows.
    pub(crate) fn new(scatter: Scatter, center: bool, standardize: bool) -> Self {
        let Scatter { n, mut mean, mut lower, .. } = scatter;
        let (p, degrees) = (mean.len(), n - 1.0);
        let noise_scale =
            standardize.then(|| deviations(&(0..p).map(|j| lower[(j, j)]).collect::<Vec<_>>(), degrees));
        if !center {
            // The added terms are non-negative: no cancellation.
            for i in 0..p {
                let scaled = n * mean[i];
                lower.row_mut(i)[..=i].iter_mut().zip(&mean).for_each(|(s, m)| *s += scaled * m);
            }
            mean.fill(0.0);
        }
        let varying: Vec<usize> = (0..p).filter(|&j| lower[(j, j)] > 0.0).collect();
        let mut covariance = Matrix::zeros(varying.len(), varying.len());
        for (r, &i) in varying.iter().enumerate() {
            let sums = lower.row(i);
            for (out, &j) in covariance.row_mut(r)[..=r].iter_mut().zip(&varying) {
                *out = sums[j] / degrees;
            }
            if let Some(scale) = &noise_scale {
                let row = covariance.row_mut(r).iter_mut();
                row.zip(&varying).for_each(|(x, &j)| *x = *x / scale[i] / scale[j]);
            }
        }
        let lower = covariance;
        let total = (0..varying.len()).map(|i| lower[(i, i)]).sum();
        Self { n, mean, noise_scale, varying, lower, total }
    }

    /// Its spectrum: all of it, or the first `top`.
    ///
    /// `dtype` is the type in which the rows were multiplied, which determines the level of rounding errors; `counted` is the
    /// maximum number of directions that the rows could span.
    ///
    /// # Errors
    ///
    /// No column that varies.
    pub(crate) fn spectrum(self, request: &Request, dtype: Dtype, counted: u64) -> Result<Decomposition> {
        let p = self.mean.len();
        if self.varying.is_empty() {
            return Err(no_variance(request, self.n as u64, p));
        }
        let floor = scatter_floor(counted, p, dtype.eps());
        let (values, axes) = spectrum(self.lower, request.top)?;
        let (values, axes, rank) =
            truncated(values, axes, floor, counted.min(p as u64) as usize, request.top);
        Ok(Decomposition {
            n: self.n,
            mean: self.mean,
            noise_scale: self.noise_scale,
            values,
            axes: spread(&axes, &self.varying, p),
            total: self.total,
            rank,
            floor,
            n_constant: p - self.varying.len(),
            sweeps: 1,
            solver_outcome: SolverOutcome::closed(),
        })
    }
}

/// Standard deviations from sums of squares; 1 for a constant column, which is not scaled.
pub(crate) fn deviations(squares: &[f64], degrees: f64) -> Vec<f64> {
    squares.iter().map(|&s| if s > 0.0 { (s / degrees).sqrt() } else { 1.0 }).collect()
}

/// Eigenvalues and eigenvectors of a covariance, of which the lower triangle is filled: all, or the first `top`.
pub(crate) fn spectrum(mut a: Matrix<f64>, top: Option<usize>) -> Result<factor::Spectrum> {
    let m = a.rows();
    let unit = power_of_two((0..m).map(|i| a[(i, i)]).sum());
    if unit != 1.0 {
        a.as_mut_slice().iter_mut().for_each(|x| *x /= unit);
    }
    let in_units = |values: Vec<f64>| values.into_iter().map(|v| v * unit).collect();
    if let Some(options) = top.and_then(|k| top::search_options(m, k)) {
        factor::mirror(&mut a);
        if let Some(found) = top::top_eigenpairs(|v| Ok(factor::multiply(v, &a)), m, options)? {
            return Ok((in_units(found.values), found.vectors));
        }
    }
    let (values, vectors) = factor::eigh(&a)?;
    Ok((in_units(values), vectors))
}
