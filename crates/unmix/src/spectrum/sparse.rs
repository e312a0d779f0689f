//! Fewer sparse rows than features: inner products and directions from stored entries.

use super::scatter::deviations;
use super::wide::{Features, Side, carry_over};
use super::{Decomposition, Request};
use crate::data::{Centred, Rows, Sparse};
use crate::error::Result;
use crate::num::Real;
use crate::run::Run;
use crate::stats::Moments;

/// What the columns of sparse rows are seen as.
pub(super) struct Columns {
    /// What is subtracted: their mean, or zeros.
    pub(super) mean: Vec<f64>,
    /// What they are then divided by, where they are.
    pub(super) noise_scale: Option<Vec<f64>>,
    /// Sum of squares of what is then left, before the division.
    pub(super) squares: Vec<f64>,
}

impl Columns {
    /// As a request wants them seen.
    pub(super) fn new(moments: Moments, request: &Request) -> Self {
        let Moments { n, mut mean, mut squares, .. } = moments;
        let noise_scale = request.standardize.then(|| deviations(&squares, n - 1.0));
        if !request.center {
            squares.iter_mut().zip(&mean).for_each(|(s, m)| *s += n * m * m);
            mean.fill(0.0);
        }
        Self { mean, noise_scale, squares }
    }
}

/// By inner products between samples.
pub(super) fn wide<T: Real>(
    rows: &Rows<'_, T>,
    stored: &Sparse<'_, T>,
    run: &Run<'_>,
    request: &Request,
) -> Result<Decomposition> {
    let moments = stored.moments(rows.weights(), run)?;
    if !moments.squares.iter().sum::<f64>().is_finite() {
        return Err(rows.not_finite(request.method));
    }
    let Columns { mean, noise_scale, squares } = Columns::new(moments, request);
    let seen = Centred::new(stored, rows.weights(), &mean);
    let products = seen.inner_products(noise_scale.as_deref(), run)?;
    if products.as_slice().iter().any(|x| !x.is_finite()) {
        return Err(rows.not_finite(request.method));
    }
    let varying = squares.iter().filter(|s| **s > 0.0).count() as u64;
    let side = Side::of_products(rows, run, request, products, varying)?;
    carry_over(rows, side, |samples| {
        let mut axes = seen.carried(samples, run)?;
        for c in 0..axes.rows() {
            let row = axes.row_mut(c);
            // A column that does not vary has loading 0 to the bit.
            row.iter_mut().zip(&squares).filter(|(_, s)| **s == 0.0).for_each(|(x, _)| *x = 0.0);
            if let Some(scale) = &noise_scale {
                row.iter_mut().zip(scale).for_each(|(x, s)| *x /= s);
            }
        }
        Ok(Features { mean, noise_scale, axes })
    })
}
