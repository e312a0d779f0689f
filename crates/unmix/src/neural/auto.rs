//! The width `a` of `a tanh(z / a)`, chosen for every component from its codes.
//!
//! A small `a` separates sub-Gaussian sources, a large one super-Gaussian sources, and each fails for the
//! other kind: with any fixed `a`, two sources of equal variance stay mixed if they are of the wrong kind. So
//! at every check each component gets the candidate with the larger `(A - b) / |b|`
//! ([`separation`](super::separation)), whether or not that is significant. A significance threshold would be wrong
//! here: the mean of `psi` of a mixture of `m` sources of one kind is about `3 / (m + 2)` of that of a source, so at
//! the principal axes of 20 sources of equal variance no component is significantly of either kind, although its sign
//! is usually correct; and a component with the wrong width converges to the mixture that is nearest to Gaussian, at
//! which it never becomes significant.

use super::nonlinearity::Nonlinearity;
use super::separation::Separation;

/// Candidates of `a`: for sub-Gaussian and for super-Gaussian sources.
pub(crate) const CANDIDATES: [f64; 2] = [0.8, 4.0];

/// Significance threshold for `A - b`, in standard errors.
pub(crate) const SIGNIFICANT_ERRORS: f64 = 4.0;

/// The same for a sum of squares in units of Gaussian standard errors, which has a heavier tail in a few hundred rows.
const HELD_OUT: f64 = 8.0;

/// Mean of `psi`, in standard deviations of that of Gaussian numbers, of components that the test on held-out rows should find. It is 0.11 for
/// logistic sources, 0.25 for Laplace, 0.29 for uniform ones.
const DETECTABLE_PSI: f64 = 0.085;

/// Sweeps in which widths are checked: often at first, rarely later. The first check is at the start, before
/// a wrong `a` can rotate a pair of equal variance to its least separated position.
const CHECKED_SWEEPS: [u64; 9] = [0, 1, 2, 3, 5, 8, 12, 20, 30];

/// The last of these fixed checks; later ones follow at intervals of `SWEEPS_BETWEEN_CHECKS` sweeps while components still become less Gaussian.
pub(crate) const LAST_CHECK: u64 = 30;

/// Sweeps from one later check to the next.
const SWEEPS_BETWEEN_CHECKS: u64 = 10;

/// Whether components are checked after this number of sweeps; `settled` if there are to be no checks after the fixed ones.
pub(super) fn checks_after(sweep: u64, settled: bool) -> bool {
    CHECKED_SWEEPS.contains(&sweep)
        || (!settled && sweep > LAST_CHECK && sweep.is_multiple_of(SWEEPS_BETWEEN_CHECKS))
}

/// The candidate with the larger `score_ratio`, for each of `k` components.
pub(crate) fn choose(separations: &[Separation], k: usize) -> Vec<f64> {
    let best = |j: usize| {
        (0..separations.len())
            .fold(0, |b, c| if separations[c].score_ratio[j] > separations[b].score_ratio[j] { c } else { b })
    };
    (0..k).map(|j| CANDIDATES[best(j)]).collect()
}

/// Joint evidence against Gaussianity: the sum over components of the squares of the larger `t`.
pub(super) fn evidence(separations: &[Separation]) -> f64 {
    let k = separations.first().map_or(0, |statistics| statistics.t.len());
    (0..k).map(|j| separations.iter().fold(0.0f64, |m, statistics| m.max(statistics.t[j])).powi(2)).sum()
}

/// The statistics of the better candidate for each of `k` components.
pub(crate) fn best(separations: &[Separation], k: usize) -> Separation {
    let mut out = Separation::default();
    for j in 0..k {
        let best = separations.iter().fold(&separations[0], |best, statistics| {
            if statistics.score_ratio[j] > best.score_ratio[j] { statistics } else { best }
        });
        out.b.push(best.b[j]);
        out.score_slope.push(best.score_slope[j]);
        out.score_ratio.push(best.score_ratio[j]);
        out.t.push(best.t[j]);
        out.error.push(best.error[j]);
    }
    out
}

/// Upper bound of the largest `t` that a search among `k` Gaussian components of equal variance finds (measured with `k` from 5 to 40
/// and 25 to 1600 rows for each component: 1.0 to 1.25 `sqrt(k)`).
fn null_search_bound(k: usize) -> f64 {
    1.5 * (k as f64).sqrt()
}

/// Components that cannot be distinguished from Gaussian ones, given that the search maximised non-Gaussianity. Among about ten or more
/// Gaussian components such a search finds `t` above [`SIGNIFICANT_ERRORS`], and among `k` an [`evidence`] of 0.3 to 0.67 `k^2`; `k` estimated
/// sources have more than 1.3 `k^2`. So components below [`null_search_bound`] are near Gaussian if their evidence is at most `k^2`.
pub(super) fn near_gaussian(separations: &[Separation]) -> Vec<bool> {
    let k = separations.first().map_or(0, |statistics| statistics.t.len());
    let t = |j: usize| separations.iter().fold(0.0f64, |m, statistics| m.max(statistics.t[j]));
    let mut which: Vec<usize> = (0..k).collect();
    loop {
        let cut = null_search_bound(which.len()).max(SIGNIFICANT_ERRORS);
        let fewer: Vec<usize> = which.iter().copied().filter(|&j| t(j) <= cut).collect();
        if fewer.len() == which.len() {
            break;
        }
        which = fewer;
    }
    let together: f64 = which.iter().map(|&j| t(j).powi(2)).sum();
    let by_search =
        together <= ((which.len() * which.len()) as f64).max(SIGNIFICANT_ERRORS * SIGNIFICANT_ERRORS);
    (0..k).map(|j| by_search && which.contains(&j)).collect()
}

/// Whether the components at the principal axes are jointly non-Gaussian: the sum of the
/// squares of the larger `t` of each has mean `k` there, and standard deviation `sqrt(2 k)`, because the axes
/// were not selected by these statistics. In small samples the joint statistic can be significant when no
/// single one is.
pub(super) fn jointly_non_gaussian(separations: &[Separation]) -> bool {
    let k = separations.first().map_or(0, |statistics| statistics.t.len());
    evidence(separations) > k as f64 + SIGNIFICANT_ERRORS * (2.0 * k as f64).sqrt()
}

/// Whether components of `n` rows that were not used to find them are jointly non-Gaussian. Standard errors are the smaller of those of the rows
/// and those of as many Gaussian numbers: heavy tails make the former large, so that a few hundred rows of sources with such tails would
/// not be significant.
pub(super) fn non_gaussian_on_held_out(separations: &[Separation], n: f64) -> bool {
    let k = separations.first().map_or(0, |statistics| statistics.t.len()) as f64;
    jointly_non_gaussian(separations) || gaussian_evidence(separations, n) > k + HELD_OUT * (2.0 * k).sqrt()
}

/// Whether `k` non-Gaussian components of `n` rows may be missed by the test on held-out rows, half of them: the expected sum of squares of
/// [`DETECTABLE_PSI`] ones is below the threshold.
pub(super) fn may_be_missed(n: f64, k: usize) -> bool {
    0.5 * n * DETECTABLE_PSI.powi(2) < 1.0 + HELD_OUT * (2.0 / k as f64).sqrt()
}

/// [`evidence`] with the standard errors of `n` Gaussian numbers.
pub(super) fn gaussian_evidence(separations: &[Separation], n: f64) -> f64 {
    let k = separations.first().map_or(0, |statistics| statistics.t.len());
    let deviations = CANDIDATES.map(gaussian_deviation);
    let square = |j: usize| {
        let each = separations.iter().zip(deviations).map(|(s, d)| s.t[j] * s.error[j] * n.sqrt() / d);
        each.fold(0.0f64, f64::max).powi(2)
    };
    (0..k).map(square).sum()
}

/// Standard deviation of `psi` of a standard Gaussian variable, whose mean is 0.
fn gaussian_deviation(a: f64) -> f64 {
    const STEP: f64 = 1.0 / 64.0;
    let z: Vec<f64> = (-512..=512).map(|i| f64::from(i) * STEP).collect();
    let (mut score, mut slope) = (z.clone(), z.clone());
    Nonlinearity::tanh(vec![a]).ready::<f64>(1).score_and_slope(&mut score, &mut slope);
    let density = |z: f64| (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let square = |i: usize| (slope[i] - z[i] * score[i]).powi(2) * density(z[i]) * STEP;
    (0..z.len()).map(square).sum::<f64>().sqrt()
}

/// Whether some candidate width separates component `j` from others of equal variance.
pub(super) fn is_significant(separations: &[Separation], j: usize) -> bool {
    separations.iter().any(|statistics| statistics.t[j] > SIGNIFICANT_ERRORS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_of_gaussian_numbers_is_that_of_a_sample() {
        let stream = crate::num::random::Stream::new(5, 0);
        for a in CANDIDATES {
            let z: Vec<f64> = (0..400_000).map(|i| stream.normal(i)).collect();
            let (mut score, mut slope) = (z.clone(), z.clone());
            Nonlinearity::tanh(vec![a]).ready::<f64>(1).score_and_slope(&mut score, &mut slope);
            let psi: Vec<f64> = (0..z.len()).map(|i| slope[i] - z[i] * score[i]).collect();
            let n = psi.len() as f64;
            let (mean, square) = (psi.iter().sum::<f64>() / n, psi.iter().map(|x| x * x).sum::<f64>() / n);
            let deviation = gaussian_deviation(a);
            assert!(mean.abs() < 5.0 * deviation / n.sqrt(), "{a}: {mean}");
            assert!((square.sqrt() / deviation - 1.0).abs() < 0.02, "{a}: {} and {deviation}", square.sqrt());
        }
    }
}
