//! Spurious stationary points of pairs of a sub- and a super-Gaussian source, escaped by a rotation of 45 degrees.
//!
//! A sub-Gaussian and a super-Gaussian source of equal variance, mixed half and half, give two codes that are
//! slightly super-Gaussian. Both then get the wide `a`, for which the mixture may be a stationary point,
//! which the curvature of the pair does not show. After a rotation by 45 degrees the two are the sources,
//! which are far less Gaussian than their mixtures. So converged pairs whose variances cannot be
//! distinguished are examined in rotated form, disjoint pairs in the same sweep, each pair once (pairs that both
//! have the wide `a` also after a few sweeps, because convergence to such a point is slow). The rotation is kept
//! if it increases the sum of the squares of the larger `|t|` of the two significantly.
//!
//! A half-and-half mixture of two heavy-tailed sources (Student's t with three degrees of freedom) is another
//! such point: a few outlying rows, which dominate the wide `a`, may be large in both codes. For the narrow
//! `a`, a source has many more small codes than a mixture, with a negative `t` ten times as large. So the
//! criterion is the absolute value of `t`.

use super::auto::{CANDIDATES, SIGNIFICANT_ERRORS, choose, is_significant};
use super::nonlinearity::Nonlinearity;
use super::separation::{Pass, Separation};
use super::start::Principal;
use crate::error::Result;
use crate::num::{Matrix, Real};
use crate::run::Run;

/// Whether the variances of two of `n` codes do not differ significantly.
pub(super) fn tied(a: f64, b: f64, n: f64) -> bool {
    let ratio = (a / b).powi(2);
    ratio.max(1.0 / ratio) < 1.0 + 2.0 * SIGNIFICANT_ERRORS / n.sqrt()
}

/// Result of the examination of rotated pairs.
pub(super) struct RotatedPairs {
    /// Number of full passes over the data.
    pub(super) sweeps: u64,
    /// The rotated components and their widths, if some rotation was accepted.
    pub(super) better: Option<(Matrix<f64>, Vec<f64>)>,
}

/// Whether an early check is worth its cost for component `j`: it has the wide `a`, or no candidate separates it significantly.
fn could_be_mixed(separations: &[Separation], a: &[f64], j: usize) -> bool {
    a[j] == CANDIDATES[1] || !is_significant(separations, j)
}

/// Examines pairs that were not `tried` (`k x k`, `i > j`) since they last changed; `separations` are the statistics of `w` under the
/// candidates. Before convergence (`early`), only those that may be mixed.
#[allow(clippy::too_many_arguments)] // The state of the search.
pub(super) fn compare_rotated<T: Real>(
    rows: &Principal<'_, T>,
    w: &Matrix<f64>,
    sigma: &[f64],
    a: &[f64],
    separations: &[Separation],
    tried: &mut [bool],
    early: bool,
    run: &Run<'_>,
) -> Result<RotatedPairs> {
    let k = w.rows();
    let mut sweeps = 0;
    loop {
        let pairs = next(k, |i, j| {
            // Two components of different kinds, both significant, are separated.
            let unlike = a[i] != a[j] && is_significant(separations, i) && is_significant(separations, j);
            let needs = !early || (could_be_mixed(separations, a, i) && could_be_mixed(separations, a, j));
            !tried[i * k + j] && needs && !unlike && tied(sigma[i], sigma[j], rows.n())
        });
        if pairs.is_empty() {
            return Ok(RotatedPairs { sweeps, better: None });
        }
        let mut other = w.clone();
        for &(i, j) in &pairs {
            tried[i * k + j] = true;
            rotate_by_45_degrees(&mut other, i, j);
        }
        let candidates = CANDIDATES.map(|c| Nonlinearity::tanh(vec![c])).to_vec();
        let seen = rows.pass_means(&other, &Pass::with_separations(candidates), run)?.separations;
        sweeps += 1;
        let evidence = |separations: &[Separation], j: usize| {
            separations.iter().fold(0.0f64, |m, l| m.max(l.t[j].abs())).powi(2)
        };
        let of = |separations: &[Separation], (i, j): (usize, usize)| {
            evidence(separations, i) + evidence(separations, j)
        };
        let gains = |pair: &(usize, usize)| {
            of(&seen, *pair) > of(separations, *pair) + SIGNIFICANT_ERRORS * SIGNIFICANT_ERRORS
        };
        let better: Vec<(usize, usize)> = pairs.into_iter().filter(gains).collect();
        if better.is_empty() {
            continue;
        }
        let (mut w, mut widths) = (w.clone(), a.to_vec());
        let chosen = choose(&seen, k);
        for (i, j) in better {
            rotate_by_45_degrees(&mut w, i, j);
            for c in [i, j] {
                widths[c] = chosen[c];
                // Its pairs are to be examined again.
                (0..k).for_each(|o| tried[c.max(o) * k + c.min(o)] = false);
            }
            tried[i * k + j] = true;
        }
        return Ok(RotatedPairs { sweeps, better: Some((w, widths)) });
    }
}

/// Disjoint pairs `i > j` for which `wanted` holds.
fn next(k: usize, wanted: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
    let (mut used, mut out) = (vec![false; k], Vec::new());
    for i in 0..k {
        for j in 0..i {
            if !used[i] && !used[j] && wanted(i, j) {
                (used[i], used[j]) = (true, true);
                out.push((i, j));
            }
        }
    }
    out
}

/// Rotates two rows by 45 degrees in their plane.
fn rotate_by_45_degrees(w: &mut Matrix<f64>, i: usize, j: usize) {
    for c in 0..w.cols() {
        let (x, y) = (w[(i, c)], w[(j, c)]);
        (w[(i, c)], w[(j, c)]) =
            (std::f64::consts::FRAC_1_SQRT_2 * (x + y), std::f64::consts::FRAC_1_SQRT_2 * (y - x));
    }
}
