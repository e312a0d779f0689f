//! Few rows: the search for a width for each component is compared with those for one width for all, and axes of equal variance are
//! rotated also where no component is significantly non-Gaussian.
//!
//! With few rows the statistics of a code have the wrong sign for many sources, so that some components get the wrong width, and mix others.
//! A search with the right width for all does not, and its components are then less Gaussian: the search continues from there.
//!
//! Where no component is significantly non-Gaussian, the rows determine axes by variance alone: the principal axes. Those whose
//! variances are equal within their sampling error are not determined at all. With few rows, in which a test may miss sources
//! ([`may_be_missed`]), the least Gaussian rotation of these is then the best estimate, since it often is that of the sources. With more rows
//! there are none, and the principal axes are kept as they are.

use super::super::auto::{CANDIDATES, gaussian_evidence, may_be_missed};
use super::super::nonlinearity::Nonlinearity;
use super::super::separation::{Pass, Separation};
use super::super::start::Principal;
use super::GpmOptions;
use super::held_out::{MOST_STEPS_BEFORE_TEST, TESTED_RESIDUAL};
use crate::error::Result;
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use std::ops::Range;

/// Rows per coordinate up to which searches with one width are made. With 100 they find sources that a search for a width for each does not.
const COMPARED_ROWS_PER_COORDINATE: f64 = 150.0;
/// Maximum product of rows, coordinates and components for that: some hundred sweeps of 0.1 GFlop.
const MOST_PRODUCTS: f64 = (1 << 24) as f64;
/// Factor, and difference, by which the evidence of such a search must be larger.
const LEAST_GAIN_FACTOR: f64 = 1.002;
const LEAST_GAIN: f64 = 0.2;
/// Minimum part of the squared length of a component that lies in the group of axes that it replaces.
const LEAST_SHARE_INSIDE: f64 = 0.5;
/// Standard deviations by which the statistic of equal variances may exceed its mean: 5 % of two equal variances exceed it.
const EQUAL_WITHIN_DEVIATIONS: f64 = 2.0;
/// Width of the nonlinearity whose statistic is that of the fourth moment: `a^2 E[psi] = E[z^4] / 3 - 1` for large `a`.
const LARGE_WIDTH: f64 = 64.0;

impl GpmOptions {
    /// The width and the components of a search by one width for all that are less Gaussian than those with the statistics `now`, if there are few rows.
    pub(super) fn by_one_width<T: Real>(
        &self,
        rows: &Principal<'_, T>,
        start: &Matrix<f64>,
        now: &[Separation],
        run: &Run<'_>,
    ) -> Result<Option<(f64, Matrix<f64>)>> {
        let (n, r, k) = (rows.n(), rows.r() as f64, start.rows());
        if !(may_be_missed(n, k) || n < COMPARED_ROWS_PER_COORDINATE * r) || n * r * k as f64 > MOST_PRODUCTS
        {
            return Ok(None);
        }
        let separations = CANDIDATES.map(|c| Nonlinearity::tanh(vec![c])).to_vec();
        let pass = Pass::with_separations(separations);
        let (mut most, mut best) = (LEAST_GAIN_FACTOR * gaussian_evidence(now, n) + LEAST_GAIN, None);
        for a in CANDIDATES {
            let h = Nonlinearity::tanh(vec![a]);
            let how = Self {
                h,
                auto: false,
                tol: TESTED_RESIDUAL,
                max_iter: MOST_STEPS_BEFORE_TEST,
                ..self.clone()
            };
            let w = how.solve(rows, start.clone(), run, |_, _| ())?.w;
            let evidence = gaussian_evidence(&rows.pass_means(&w, &pass, run)?.separations, n);
            if evidence > most {
                (most, best) = (evidence, Some((a, w)));
            }
        }
        Ok(best)
    }
}

/// The first `k` principal axes. Where sources may have been missed, those of equal variances are replaced by the components `found`, `k x r`.
pub(super) fn axes_by_variance<T: Real>(
    rows: &Principal<'_, T>,
    k: usize,
    found: &Matrix<f64>,
    run: &Run<'_>,
) -> Result<Matrix<f64>> {
    let (axes, n) = (rows.first(k), rows.n());
    if !may_be_missed(n, k) {
        return Ok(axes);
    }
    let all = rows.first(rows.r());
    let variances: Vec<f64> = rows.deviations(&all).iter().map(|s| s * s).collect();
    rotated_in_groups(axes, &groups_of_equal(&variances, n / tails(rows, &all, run)?), found)
}

/// The principal axes of the span of the rows of `found`, `k x r`. Where sources may have been missed, those of equal variances are replaced by
/// the rows of `found`.
pub(super) fn axes_of_span<T: Real>(
    rows: &Principal<'_, T>,
    found: &Matrix<f64>,
    run: &Run<'_>,
) -> Result<Matrix<f64>> {
    let (k, n) = (found.rows(), rows.n());
    let (variances, rotation) = factor::eigh(&rows.covariance(found))?;
    let axes = factor::multiply(&rotation, found);
    if !may_be_missed(n, k) {
        return Ok(axes);
    }
    let groups = groups_of_equal(&variances, n / tails(rows, &axes, run)?);
    let unit = Matrix::from_fn(k, k, |i, j| f64::from(u8::from(i == j)));
    Ok(factor::multiply(&rotated_in_groups(unit, &groups, &rotation.transposed())?, &axes))
}

/// Mean over `axes` of the variance of the square of a code relative to that of a Gaussian one, `(E[z^4] - 1) / 2`; at least 1. Sampling errors of
/// variances grow by its root.
fn tails<T: Real>(rows: &Principal<'_, T>, axes: &Matrix<f64>, run: &Run<'_>) -> Result<f64> {
    let pass = Pass::with_separations(vec![Nonlinearity::tanh(vec![LARGE_WIDTH])]);
    let means = rows.pass_means(axes, &pass, run)?;
    let wide = &means.separations[0];
    let fourth = |j: usize| 3.0 * (1.0 + LARGE_WIDTH * LARGE_WIDTH * wide.t[j] * wide.error[j]);
    let each = (0..axes.rows()).map(|j| ((fourth(j) - 1.0) / 2.0).max(1.0));
    Ok(each.sum::<f64>() / axes.rows() as f64)
}

/// Groups of consecutive axes, whose variances do not increase and are equal within their sampling error: Bartlett's test of sphericity, for so many
/// Gaussian rows.
fn groups_of_equal(variances: &[f64], n: f64) -> Vec<Range<usize>> {
    let equal = |variances: &[f64]| {
        let m = variances.len() as f64;
        let mean = variances.iter().sum::<f64>() / m;
        let statistic = n * variances.iter().map(|v| (mean / v).ln()).sum::<f64>();
        let freedom = 0.5 * (m - 1.0) * (m + 2.0);
        statistic <= freedom + EQUAL_WITHIN_DEVIATIONS * (2.0 * freedom).sqrt()
    };
    let mut groups = Vec::new();
    let mut begin = 0;
    for i in 1..=variances.len() {
        if i == variances.len() || !equal(&variances[begin..=i]) {
            groups.push(begin..i);
            begin = i;
        }
    }
    groups
}

/// `axes` (the first unit vectors) with those of each group replaced by the components that lie in it most, projected and made orthonormal.
fn rotated_in_groups(mut axes: Matrix<f64>, groups: &[Range<usize>], w: &Matrix<f64>) -> Result<Matrix<f64>> {
    let k = axes.rows();
    let mut left: Vec<usize> = (0..w.rows()).collect();
    for group in groups.iter().filter(|group| group.start < k) {
        let inside = |j: usize| w.row(j)[group.clone()].iter().map(|x| x * x).sum::<f64>();
        left.sort_by(|&a, &b| inside(b).total_cmp(&inside(a)));
        let number = group.end.min(k) - group.start;
        let chosen: Vec<usize> = left.drain(..number).collect();
        if group.len() == 1 || chosen.iter().any(|&j| inside(j) < LEAST_SHARE_INSIDE) {
            continue;
        }
        let part = Matrix::from_fn(number, group.len(), |i, c| w[(chosen[i], group.start + c)]);
        let part = factor::polar_rows(&part)?;
        for i in 0..number {
            let row = axes.row_mut(group.start + i);
            row.fill(0.0);
            row[group.clone()].copy_from_slice(part.row(i));
        }
    }
    Ok(axes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::slice::from_ref;

    #[test]
    fn groups_are_of_axes_whose_variances_are_equal_within_their_errors() {
        // For two axes of 400 rows: n (2 ln((v + w) / 2) - ln v - ln w) <= 2 + 2 sqrt(4), a ratio of variances of 1.28.
        assert_eq!(groups_of_equal(&[1.27, 1.0], 400.0), from_ref(&(0..2)));
        assert_eq!(groups_of_equal(&[1.29, 1.0], 400.0), [0..1, 1..2]);
        assert_eq!(groups_of_equal(&[4.0, 3.7, 3.5, 1.4, 1.3, 0.2], 400.0), [0..3, 3..5, 5..6]);
        // Variances along the principal axes of 200 rows of eight Gaussian columns of variance 1.
        let spread = [1.39, 1.29, 1.14, 1.03, 1.02, 0.83, 0.78, 0.66];
        assert_eq!(groups_of_equal(&spread, 200.0), from_ref(&(0..8)));
        assert_eq!(groups_of_equal(&spread, 2000.0), [0..2, 2..5, 5..7, 7..8]);
        assert_eq!(groups_of_equal(&[1.0, 0.0], 10.0), [0..1, 1..2]);
        assert!(groups_of_equal(&[], 10.0).is_empty());
    }

    #[test]
    fn axes_are_rotated_within_their_group_alone() {
        let axes = |k: usize, r: usize| Matrix::from_fn(k, r, |i, j| f64::from(u8::from(i == j)));
        let (c, s) = (0.8, 0.6);
        // A rotation of axes 0 and 1, and a slight one of axes 1 and 2, in another order.
        let w = Matrix::from_vec(3, 3, vec![0.0, 0.1, 0.995, c, s, 0.0, -s, c, -0.1]);
        let found = rotated_in_groups(axes(3, 3), &[0..2, 2..3], &w).unwrap();
        assert_eq!(found.row(2), [0.0, 0.0, 1.0]);
        let rotated: Vec<f64> = found.row(0).iter().chain(found.row(1)).map(|x| x.abs()).collect();
        let close = |expected: [f64; 6]| rotated.iter().zip(expected).all(|(x, e)| (x - e).abs() < 0.01);
        assert!(close([c, s, 0.0, s, c, 0.0]) || close([s, c, 0.0, c, s, 0.0]), "{rotated:?}");
        // Components that lie elsewhere replace nothing.
        let elsewhere = Matrix::from_vec(2, 3, vec![0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
        let found = rotated_in_groups(axes(2, 3), &[0..2, 2..3], &elsewhere).unwrap();
        assert_eq!(found, axes(2, 3));
    }
}
