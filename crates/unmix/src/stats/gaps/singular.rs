//! Inverses of positive semidefinite matrices, given by their lower triangles, that may be singular up to rounding.

use super::lower::{
    cholesky, cholesky_factors, invert_root, invert_roots, symmetric_product, symmetric_products,
};
use super::triangle;
use crate::num::{Matrix, factor};

/// Replaces the lower triangle of `q`, positive semidefinite, by `V = (I + q)⁻¹`, and `b` by `V b`; returns `log|I + q|`.
///
/// If `q` is so large that the prior is lost in rounding and `q` is singular, as with fewer cells than factors and almost no noise,
/// directions that the cells do not determine keep the prior: mean 0 and variance 1.
pub(super) fn posterior(q: &mut [f64], b: &mut [f64], k: usize) -> f64 {
    let diagonal: Vec<f64> = (0..k).map(|a| q[triangle(a) + a]).collect();
    let level = 16.0 * k as f64 * f64::EPSILON;
    let kept = hides_the_prior(diagonal.iter().copied(), k).then(|| q.to_vec());
    (0..k).for_each(|a| q[triangle(a) + a] += 1.0);
    let log_determinant = cholesky(q, k);
    if let Some(kept) = kept {
        let lost = |a: usize| q[triangle(a) + a].powi(2) <= level * diagonal[a];
        if (0..k).any(lost) {
            return deflated(&kept, q, b, k);
        }
    }
    invert_root(q, k);
    let right = b.to_vec();
    symmetric_product(q, &right, b);
    log_determinant
}

/// Whether the prior may be lost in rounding, given the diagonal of `q`.
#[inline(always)]
fn hides_the_prior(diagonal: impl Iterator<Item = f64>, k: usize) -> bool {
    diagonal.fold(0.0f64, |m, d| m.max(d)) * (16.0 * k as f64 * f64::EPSILON) >= 1e-3
}

/// [`posterior`] for `L` matrices and vectors, entry by entry, with the same bits; `None`, and nothing changed, if one of the matrices must
/// be inverted individually.
#[inline(always)]
pub(super) fn posteriors<const L: usize>(
    q: &mut [[f64; L]],
    b: &mut [[f64; L]],
    k: usize,
) -> Option<[f64; L]> {
    if (0..L).any(|lane| hides_the_prior((0..k).map(|a| q[triangle(a) + a][lane]), k)) {
        return None;
    }
    (0..k).for_each(|a| q[triangle(a) + a] = q[triangle(a) + a].map(|x| x + 1.0));
    let log_determinant = cholesky_factors(q, k);
    invert_roots(q, k);
    let right = b.to_vec();
    symmetric_products(q, &right, b);
    Some(log_determinant)
}

/// Replaces the lower triangle of a positive semidefinite matrix by that of its inverse, or of its pseudo-inverse if it is singular up to
/// rounding; returns the log determinant of the inverted part.
pub(super) fn pseudo_invert(a: &mut [f64], k: usize) -> f64 {
    let kept = a.to_vec();
    let level = 16.0 * k as f64 * f64::EPSILON;
    let log_determinant = cholesky(a, k);
    let lost = |i: usize| a[triangle(i) + i].powi(2) <= level * kept[triangle(i) + i];
    if !(0..k).any(lost) {
        invert_root(a, k);
        return log_determinant;
    }
    a.fill(0.0);
    let full = Matrix::from_fn(k, k, |i, j| kept[triangle(i.max(j)) + i.min(j)]);
    let Ok((values, vectors)) = factor::eigh(&full) else { return 0.0 };
    let above = values.iter().enumerate().filter(|(_, v)| **v > level * values[0] && **v > 0.0);
    let mut log_determinant = 0.0;
    for (c, value) in above {
        let u = vectors.row(c);
        log_determinant += value.ln();
        for i in 0..k {
            (0..=i).for_each(|j| a[triangle(i) + j] += u[i] * u[j] / value);
        }
    }
    log_determinant
}

/// [`posterior`] through the eigenvalues of `q`; those at the level of rounding errors are set to 0.
fn deflated(q: &[f64], out: &mut [f64], b: &mut [f64], k: usize) -> f64 {
    let full = Matrix::from_fn(k, k, |i, j| q[triangle(i.max(j)) + i.min(j)]);
    // The eigenvalue decomposition of a finite matrix converges; if it did not, the prior would be returned.
    let Ok((values, vectors)) = factor::eigh(&full) else {
        out.fill(0.0);
        (0..k).for_each(|a| out[triangle(a) + a] = 1.0);
        b.fill(0.0);
        return 0.0;
    };
    let least = 16.0 * k as f64 * f64::EPSILON * values[0];
    let right = b.to_vec();
    out.fill(0.0);
    b.fill(0.0);
    let mut log_determinant = 0.0;
    for (c, value) in values.iter().enumerate() {
        let u = vectors.row(c);
        let share = if *value > least { 1.0 / (1.0 + value) } else { 1.0 };
        for i in 0..k {
            (0..=i).for_each(|j| out[triangle(i) + j] += share * (u[i] * u[j]));
        }
        if *value > least {
            log_determinant += (1.0 + value).ln();
            let along: f64 = u.iter().zip(&right).map(|(u, b)| u * b).sum();
            b.iter_mut().zip(u).for_each(|(b, u)| *b += share * along * u);
        }
    }
    log_determinant
}
