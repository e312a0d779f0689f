//! A confidence interval for the expected agreement of halves.
//!
//! The estimand is the expected agreement of two disjoint samples of `n / 2` rows each from the population.
//! The mean over splits of one data set is an unbiased estimate of it, with two errors: the variation between
//! splits, which is estimated by their spread and decreases with their number; and the sampling error of the
//! data set, which does neither, because all splits use the same rows.
//!
//! The interval is computed on Fisher's scale `z = artanh(agreement)`, where the standard deviation over data sets is at most
//! about `agreement² / 2` in all simulations: a pair of components is distinguished by a gap (between variances, or
//! between deviations from a Gaussian), and the angle between their estimates from two samples is inversely
//! proportional to it. The relative errors of gap and angle are of the same order, so that the relative standard
//! deviation of the angle hardly depends on the number of rows. The factor is from simulations
//! (`docs/decisions/0010-stability.md`), not from a theorem.
//!
//! With a bootstrap over rows (`bootstrap.rs`) the standard deviation is estimated instead: from `z` of the mean over the splits of each
//! resample. Its variance between resamples has a part that is due to the splits, which is subtracted, and an error, because there are few
//! resamples: an upper confidence bound is used.
//!
//! Rejected alternative: a jackknife over groups of rows, because ten groups need eleven times the fits.

use super::MIN_AGREEMENT;
use crate::stats::quantiles::student_975 as t;

/// Standard deviation of `artanh(agreement)` over data sets, for an agreement of 1.
const OVER_DATA: f64 = 0.5;
/// The 97.5 % quantile of the standard normal distribution.
const NORMAL_QUANTILE: f64 = 1.959_963_984_540_054;

/// The 10 % quantile of the standard normal distribution: the upper bound of the variance between resamples is one of 90 % confidence.
const TENTH_QUANTILE: f64 = -1.281_551_565_544_6;

/// 95 % interval for the expected agreement, from the agreement in `[0, 1]` of each split, and of each split of each of the `resamples` if there are any.
/// `(0, 1)` for fewer than two splits, or for one resample, from which variation cannot be estimated.
pub(super) fn interval(agreements: &[f64], resamples: &[Vec<f64>]) -> (f64, f64) {
    if resamples.len() == 1 {
        return (0.0, 1.0);
    }
    about_the_mean(agreements, |at| match resamples {
        [] => NORMAL_QUANTILE * OVER_DATA * at * at,
        _ => NORMAL_QUANTILE * between_resamples(resamples).sqrt(),
    })
}

/// 95 % interval for the expected agreement of these rows' fits from other seeds, from that of some of them; it has no sampling error of
/// the rows. `(0, 1)` for fewer than two.
fn over_seeds(agreements: &[f64]) -> (f64, f64) {
    about_the_mean(agreements, |_| 0.0)
}

/// Interval about the mean, from the variation of the agreements and a `sampling` error at the mean that they do not show, on Fisher's scale.
fn about_the_mean(agreements: &[f64], sampling: impl Fn(f64) -> f64) -> (f64, f64) {
    let m = agreements.len() as f64;
    if m < 2.0 {
        return (0.0, 1.0);
    }
    let (mean, variance) = moments(agreements);
    let at = finite(mean);
    let trials = t(m - 1.0) * variance.sqrt() / (m.sqrt() * (1.0 - at * at));
    let half = sampling(at).hypot(trials);
    let z = at.atanh();
    ((z - half).tanh().clamp(0.0, mean), (z + half).tanh().clamp(mean, 1.0))
}

/// The interval for each agreement of halves; [0, 1] if the sampling error is `unknown`, as in a run that ended early.
pub(super) fn intervals(
    agreements: &[Vec<f64>],
    resamples: &[Vec<Vec<f64>>],
    unknown: bool,
) -> Vec<(f64, f64)> {
    let each = agreements.iter().zip(resamples);
    each.map(|(agreements, resamples)| match unknown {
        true => (0.0, 1.0),
        false => interval(agreements, resamples),
    })
    .collect()
}

/// The interval for the agreement of each component with fits from other seeds; [0, 1] if these ended early.
pub(super) fn of_seeds(trials: &[Vec<f64>], k: usize, late: bool) -> Vec<(f64, f64)> {
    let of = |j: usize| trials.iter().map(|fit| fit[j]).collect::<Vec<f64>>();
    (0..k).map(|j| if late { (0.0, 1.0) } else { over_seeds(&of(j)) }).collect()
}

/// An agreement of 1 is infinitely far on Fisher's scale.
fn finite(agreement: f64) -> f64 {
    agreement.clamp(0.0, 1.0 - 1e-12)
}

/// Mean, and variance with divisor `n - 1`.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0))
}

/// Upper 90 % confidence bound for the variance over resamples of `artanh` of the mean agreement of many splits: that of the mean of the given
/// splits, times `(B - 1) / chi²` at the 10 % quantile of `B - 1` degrees of freedom, less the part of the splits, by the delta method.
fn between_resamples(resamples: &[Vec<f64>]) -> f64 {
    let (mut z, mut splits) = (Vec::new(), 0.0);
    for of in resamples {
        let (mean, variance) = moments(of);
        let at = finite(mean);
        z.push(at.atanh());
        splits += variance / (of.len() as f64 * (1.0 - at * at).powi(2));
    }
    // The quantile by Wilson & Hilferty 1931: below the exact one for few degrees of freedom, so that the bound is larger.
    let freedom = (resamples.len() - 1) as f64;
    let share = 2.0 / (9.0 * freedom);
    let chi2_by_freedom = (1.0 - share + TENTH_QUANTILE * share.sqrt()).powi(3);
    (moments(&z).1 / chi2_by_freedom - splits / resamples.len() as f64).max(0.0)
}

/// Positions of an interval relative to a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Above,
    Across,
    Below,
}

/// Position of an interval relative to [`MIN_AGREEMENT`].
pub(super) fn side((low, high): (f64, f64)) -> Side {
    match (low >= MIN_AGREEMENT, high < MIN_AGREEMENT) {
        (true, _) => Side::Above,
        (_, true) => Side::Below,
        _ => Side::Across,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_more_splits_the_interval_narrows_to_that_of_the_sampling_error() {
        let of = |m: usize| -> (f64, f64) {
            let agreements: Vec<f64> = (0..m).map(|i| if i % 2 == 0 { 0.9 } else { 0.96 }).collect();
            interval(&agreements, &[])
        };
        assert_eq!(interval(&[0.99], &[]), (0.0, 1.0));
        let widths: Vec<f64> = [2, 4, 6, 10, 20, 1000].into_iter().map(|m| of(m).1 - of(m).0).collect();
        assert!(widths.windows(2).all(|w| w[1] < w[0]), "{widths:?}");
        // Beyond twenty splits there is little gain; with a thousand the interval has only the sampling error.
        assert!(widths[4] < 1.1 * widths[5], "{widths:?}");
        let half = 1.96 * OVER_DATA * 0.93f64.powi(2);
        let limit = ((0.93f64.atanh() - half).tanh(), (0.93f64.atanh() + half).tanh());
        let found = of(1000);
        assert!(
            (found.0 - limit.0).abs() < 0.003 && (found.1 - limit.1).abs() < 0.003,
            "{found:?} {limit:?}"
        );
    }

    #[test]
    fn the_interval_contains_the_mean_and_is_within_0_and_1() {
        for agreements in
            [vec![1.0; 5], vec![0.0; 5], vec![0.0, 1.0], vec![0.999_999, 1.0, 1.0], vec![0.3, 0.2, 0.9]]
        {
            let mean = agreements.iter().sum::<f64>() / agreements.len() as f64;
            let (low, high) = interval(&agreements, &[]);
            assert!(0.0 <= low && low <= mean && mean <= high && high <= 1.0, "{agreements:?}: {low} {high}");
        }
        assert!(interval(&[1.0; 5], &[]).0 > 1.0 - 1e-9);
    }

    #[test]
    fn seeds_have_no_sampling_error_of_the_rows() {
        assert_eq!(over_seeds(&[0.5]), (0.0, 1.0));
        for (agreements, expected) in [
            (&[1.0; 5][..], Side::Above),
            (&[0.99, 0.98, 1.0, 0.99, 0.99], Side::Above),
            // All equal, and just below the threshold: there is no random variation.
            (&[0.896; 5], Side::Below),
            (&[0.3, 0.2, 0.4, 0.9, 0.3], Side::Below),
            (&[1.0, 1.0, 1.0, 1.0, 0.3], Side::Across),
            (&[0.91, 0.88], Side::Across),
        ] {
            assert_eq!(
                side(over_seeds(agreements)),
                expected,
                "{agreements:?}: {:?}",
                over_seeds(agreements)
            );
        }
        // Student's t interval on Fisher's scale, by hand: mean 0.5, standard deviation 0.1, n = 4, t = 3.182 (3.179 by its expansion).
        let d = 0.1 * (3.0f64 / 4.0).sqrt();
        let (low, high) = over_seeds(&[0.5 - d, 0.5 - d, 0.5 + d, 0.5 + d]);
        let half = 3.182 * 0.1 / (2.0 * 0.75);
        assert!((low - (0.5f64.atanh() - half).tanh()).abs() < 1e-3, "{low}");
        assert!((high - (0.5f64.atanh() + half).tanh()).abs() < 1e-3, "{high}");
    }

    #[test]
    fn twenty_splits_decide_from_985_on_and_below_70() {
        let at = |mean: f64| -> Side {
            // As splits of one data set spread where a pair is rotated: about as much as halves disagree.
            let agreements: Vec<f64> =
                (0..20).map(|i| mean + (1.0 - mean) * if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
            side(interval(&agreements, &[]))
        };
        let found = [0.5, 0.7, 0.75, 0.9, 0.98, 0.986, 0.999].map(at);
        use Side::{Above, Across, Below};
        assert_eq!(found, [Below, Below, Across, Across, Across, Above, Above]);
    }

    #[test]
    fn with_resamples_the_interval_has_their_spread_without_that_of_splits() {
        let agreements: Vec<f64> = (0..1000).map(|i| if i % 2 == 0 { 0.94 } else { 0.96 }).collect();
        // Quantiles of a logistic distribution as z of resamples, and splits about their means.
        let made = |number: usize, sd: f64, split: f64| -> Vec<Vec<f64>> {
            let of = |b: usize| {
                let p = (b as f64 + 0.5) / number as f64;
                let mean =
                    (0.95f64.atanh() + sd * (p / (1.0 - p)).ln() * 3f64.sqrt() / std::f64::consts::PI).tanh();
                (0..4).map(|i| mean + split * if i % 2 == 0 { 1.0 } else { -1.0 }).collect()
            };
            (0..number).map(of).collect()
        };
        let half = |resamples: &[Vec<f64>]| {
            let (low, high) = interval(&agreements, resamples);
            0.5 * (high.atanh() - low.atanh())
        };
        for sd in [0.1, 0.3] {
            let many = half(&made(4000, sd, 0.0));
            assert!((many / (1.96 * sd) - 1.0).abs() < 0.05, "{sd}: {many}");
            // The bound of fewer is larger, and the spread of splits is subtracted.
            assert!(
                half(&made(20, sd, 0.0)) > 1.1 * many && half(&made(5, sd, 0.0)) > half(&made(20, sd, 0.0))
            );
            assert!(half(&made(4000, sd, 0.01)) < many);
        }
        assert!(half(&made(50, 0.0, 0.01)) < 0.02, "splits alone");
        assert_eq!(interval(&agreements, &made(1, 0.1, 0.0)), (0.0, 1.0), "one resample shows no variation");
        let equal = interval(&[1.0; 5], &[vec![1.0; 4], vec![1.0; 4]]);
        assert!(equal.0 > 1.0 - 1e-9 && equal.1 == 1.0, "{equal:?}");
    }
}
