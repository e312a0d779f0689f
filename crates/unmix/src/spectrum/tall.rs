//! Spectrum of at least as many rows as features: one sweep, and a `p × p` matrix.

use super::{Covariance, Decomposition, Request, SolverOutcome, full_floor, no_variance, spread, truncated};
use crate::data::Rows;
use crate::error::Result;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::stats::{GatherScatter, GatherTriangle, Scatter, root_of_squares};

/// From the scatter matrix of the rows.
pub(super) fn scatter<T: Real>(
    rows: &Rows<'_, T>,
    run: &Run<'_>,
    request: &Request,
) -> Result<Decomposition> {
    let scatter = gathered(rows, run, request.method)?;
    run.stage("eigenvectors")?;
    let covariance = Covariance::new(scatter, request.center, request.standardize);
    covariance.spectrum(request, T::DTYPE, rows.n_counted())
}

/// The scatter; all sums must be finite.
pub(super) fn gathered<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>, method: &'static str) -> Result<Scatter> {
    let scatter = rows.sweep(run, "covariance", &GatherScatter::new())?;
    if !scatter.finite() {
        return Err(rows.not_finite(method));
    }
    Ok(scatter)
}

/// From the triangular factor of the rows.
pub(super) fn full<T: Real>(rows: &Rows<'_, T>, run: &Run<'_>, request: &Request) -> Result<Decomposition> {
    let p = rows.n_features();
    let mut triangle = rows.sweep(run, "factorisation", &GatherTriangle::new())?;
    if !triangle.finite() {
        return Err(rows.not_finite(request.method));
    }
    run.stage("singular values")?;
    let n = triangle.n;
    let noise_scale = request.standardize.then(|| {
        let r = &triangle.r;
        let length = |j: usize| root_of_squares((0..r.rows()).map(move |i| r[(i, j)]));
        (0..p).map(|j| length(j).map_or(1.0, |length| length / (n - 1.0).sqrt())).collect::<Vec<f64>>()
    });
    if !request.center {
        triangle = triangle.about_zero();
    }
    if let Some(scale) = &noise_scale {
        for i in 0..triangle.r.rows() {
            triangle.r.row_mut(i).iter_mut().zip(scale).for_each(|(x, s)| *x /= s);
        }
    }
    // A constant column is exactly 0 after centring, and stays 0 under rotations of rows.
    let varying: Vec<usize> =
        (0..p).filter(|&j| (0..triangle.r.rows()).any(|i| triangle.r[(i, j)] != 0.0)).collect();
    if varying.is_empty() {
        return Err(no_variance(request, n as u64, p));
    }
    let (values, axes) = singular(n, &triangle.r, &varying)?;
    let counted = rows.n_counted();
    let floor = full_floor(counted, p, T::DTYPE.eps());
    let total = values.iter().sum();
    let (values, axes, rank) = truncated(values, axes, floor, counted.min(p as u64) as usize, None);
    Ok(Decomposition {
        n,
        mean: triangle.mean,
        noise_scale,
        values,
        axes: spread(&axes, &varying, p),
        total,
        rank,
        floor,
        n_constant: p - varying.len(),
        sweeps: 1,
        solver_outcome: SolverOutcome::closed(),
    })
}

/// Squared singular values over `n - 1`, and right singular vectors, of the chosen columns of `r`.
pub(super) fn singular(n: f64, r: &Matrix<f64>, columns: &[usize]) -> Result<factor::Spectrum> {
    // Rows of zeros do not change the singular values and make the matrix as tall as it is wide.
    let height = r.rows().max(columns.len());
    let chosen =
        Matrix::from_fn(height, columns.len(), |i, j| if i < r.rows() { r[(i, columns[j])] } else { 0.0 });
    let (values, vectors) = factor::svd_right(&chosen)?;
    Ok((values.iter().map(|s| s * s / (n - 1.0)).collect(), vectors))
}
