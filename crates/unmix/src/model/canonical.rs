//! The convention for signs and order of components.

use crate::error::Result;
use crate::num::order;
use crate::num::{Matrix, null};

/// Number of the sign rule; stored in every model file.
///
/// Rule 1: in each decoder vector the entry of largest magnitude is positive; entries within a relative distance `sqrt(eps)` of the
/// largest count as equal, and the one of lowest index is used.
pub const SIGN_RULE: u32 = 1;

/// The sign, 1 or -1, by which rule 1 multiplies a decoder vector. `eps` is that of the type in which it was computed.
pub fn sign_of(vector: &[f64], eps: f64) -> f64 {
    // Eight independent maxima, so that the comparisons are not one dependent chain.
    let (eights, rest) = vector.as_chunks::<8>();
    let mut largest = [0.0f64; 8];
    eights.iter().for_each(|eight| largest.iter_mut().zip(eight).for_each(|(m, x)| *m = m.max(x.abs())));
    let largest = largest.iter().chain(rest).fold(0.0f64, |m, x| m.max(x.abs()));
    let near = largest * (1.0 - eps.sqrt());
    match vector.iter().find(|x| x.abs() >= near) {
        Some(x) if *x < 0.0 => -1.0,
        _ => 1.0,
    }
}

/// Applies rule 1 to every row of `vectors`.
pub fn canonical_sign(vectors: &mut Matrix<f64>, eps: f64) {
    for i in 0..vectors.rows() {
        if sign_of(vectors.row(i), eps) < 0.0 {
            vectors.row_mut(i).iter_mut().for_each(|x| *x = -*x);
        }
    }
    // -0 and 0 are equal numbers but not equal bits.
    vectors.as_mut_slice().iter_mut().filter(|x| **x == 0.0).for_each(|x| *x = 0.0);
}

/// The sign of an axis of columns that were divided by `noise`: that of its decoder vector, which is the axis in the units of the
/// columns.
fn sign_in_units(axis: &[f64], noise: Option<&[f64]>, eps: f64) -> f64 {
    match noise {
        None => sign_of(axis, eps),
        Some(noise) => sign_of(&axis.iter().zip(noise).map(|(x, s)| x * s).collect::<Vec<_>>(), eps),
    }
}

/// `k` axes with their canonical signs, as rows: the axes `found`, and, if these are fewer, further directions orthogonal to `known`, all axes
/// along which the rows vary; these directions depend on `known` only. `noise` are the divisors of the columns.
///
/// # Errors
///
/// Those of [`null_directions`](null::null_directions).
pub(crate) fn completed_axes(
    found: &Matrix<f64>,
    known: &Matrix<f64>,
    k: usize,
    noise: Option<&[f64]>,
    eps: f64,
) -> Result<Matrix<f64>> {
    let (kept, p) = (found.rows(), found.cols());
    let mut numbers = Vec::with_capacity(k * p);
    numbers.extend_from_slice(found.as_slice());
    if kept < k {
        numbers.extend_from_slice(null::null_directions(known, k - kept)?.as_slice());
    }
    let mut all = Matrix::from_vec(k, p, numbers);
    for i in 0..k {
        let sign = sign_in_units(all.row(i), noise, eps);
        // -0 and 0 are equal numbers but not equal bits.
        all.row_mut(i).iter_mut().for_each(|x| *x = *x * sign + 0.0);
    }
    Ok(all)
}

/// The order of the components in a model, and the sign of each.
pub(crate) struct Arrangement {
    order: Vec<usize>,
    sign: Vec<f64>,
}

impl Arrangement {
    /// In this order, with the canonical signs of the rows of `decoder`, the decoder vectors.
    pub(crate) fn new(order: Vec<usize>, decoder: &Matrix<f64>, eps: f64) -> Self {
        let sign = order.iter().map(|&i| sign_of(decoder.row(i), eps)).collect();
        Self { order, sign }
    }

    /// By decreasing variance of the components.
    pub(crate) fn by_variance(variance: &[f64], decoder: &Matrix<f64>, eps: f64) -> Self {
        Self::new(order::descending(variance), decoder, eps)
    }

    /// Index of each component before the arrangement.
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    /// Arranges the rows of a matrix, one for each component.
    pub(crate) fn rows(&self, m: &Matrix<f64>) -> Matrix<f64> {
        // -0 and 0 are equal numbers but not equal bits.
        Matrix::from_fn(self.order.len(), m.cols(), |i, j| self.sign[i] * m[(self.order[i], j)] + 0.0)
    }

    /// Arranges numbers, one for each component.
    pub(crate) fn values(&self, of: &[f64]) -> Vec<f64> {
        self.order.iter().map(|&i| of[i]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_entry_is_positive_and_near_ties_go_to_the_lowest_index() {
        assert_eq!(sign_of(&[0.1, -0.9, 0.3], f64::EPSILON), -1.0);
        assert_eq!(sign_of(&[-0.5, 0.5 * (1.0 + 1e-12)], f64::EPSILON), -1.0);
        assert_eq!(sign_of(&[-0.5, 0.5 * (1.0 + 1e-6)], f64::EPSILON), 1.0);
        assert_eq!(sign_of(&[0.0, 0.0], f64::EPSILON), 1.0);
    }
}
