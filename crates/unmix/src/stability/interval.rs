//! A confidence interval for the expected agreement of halves.
//!
//! The estimand is the expected agreement of two disjoint samples of `n / 2` rows each from the population.
//! The mean over cuts of one data set is an unbiased estimate of it, with two errors: the variation between
//! cuts, which is estimated by their spread and decreases with their number; and the sampling error of the
//! data set, which does neither, because all cuts use the same rows.
//!
//! The interval is computed on Fisher's scale `z = artanh(agreement)`, where the standard deviation over data sets is at most
//! about `agreement² / 2` in all simulations: a pair of components is distinguished by a gap (between variances, or
//! between deviations from a Gaussian), and the angle between their estimates from two samples is inversely
//! proportional to it. The relative errors of gap and angle are of the same order, so that the relative standard
//! deviation of the angle hardly depends on the number of rows. The factor is from simulations
//! (`docs/decisions/0010-stability.md`), not from a theorem.
//!
//! Rejected alternatives: a bootstrap over rows, because repeated rows double the squared angles between
//! halves; a jackknife over groups of rows, because ten groups need eleven times the fits.

use super::STABLE;
use crate::stats::quantiles::student_975 as t;

/// Standard deviation of `artanh(agreement)` over data sets, for an agreement of 1.
const OVER_DATA: f64 = 0.5;
/// The 97.5 % quantile of the standard normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

/// 95 % interval for the expected agreement, from the agreement in `[0, 1]` of each cut; `(0, 1)` for fewer than two cuts, from which the
/// variation between cuts cannot be estimated.
pub(super) fn interval(agreements: &[f64]) -> (f64, f64) {
    let m = agreements.len() as f64;
    if m < 2.0 {
        return (0.0, 1.0);
    }
    let mean = agreements.iter().sum::<f64>() / m;
    let spread = (agreements.iter().map(|a| (a - mean).powi(2)).sum::<f64>() / (m - 1.0)).sqrt();
    // An agreement of 1 is infinitely far on Fisher's scale.
    let at = mean.clamp(0.0, 1.0 - 1e-12);
    let cuts = t(m - 1.0) * spread / (m.sqrt() * (1.0 - at * at));
    let half = (NORMAL * OVER_DATA * at * at).hypot(cuts);
    let z = at.atanh();
    ((z - half).tanh().clamp(0.0, mean), (z + half).tanh().clamp(mean, 1.0))
}

/// Positions of an interval relative to a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Above,
    Across,
    Below,
}

/// Position of an interval relative to [`STABLE`].
pub(super) fn side((low, high): (f64, f64)) -> Side {
    match (low >= STABLE, high < STABLE) {
        (true, _) => Side::Above,
        (_, true) => Side::Below,
        _ => Side::Across,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_more_cuts_the_interval_narrows_to_that_of_the_sampling_error() {
        let of = |m: usize| -> (f64, f64) {
            let agreements: Vec<f64> = (0..m).map(|i| if i % 2 == 0 { 0.9 } else { 0.96 }).collect();
            interval(&agreements)
        };
        assert_eq!(interval(&[0.99]), (0.0, 1.0));
        let widths: Vec<f64> = [2, 4, 6, 10, 20, 1000].into_iter().map(|m| of(m).1 - of(m).0).collect();
        assert!(widths.windows(2).all(|w| w[1] < w[0]), "{widths:?}");
        // Beyond twenty cuts there is little gain; with a thousand the interval has only the sampling error.
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
    fn it_holds_the_mean_and_stays_between_0_and_1() {
        for agreements in
            [vec![1.0; 5], vec![0.0; 5], vec![0.0, 1.0], vec![0.999_999, 1.0, 1.0], vec![0.3, 0.2, 0.9]]
        {
            let mean = agreements.iter().sum::<f64>() / agreements.len() as f64;
            let (low, high) = interval(&agreements);
            assert!(0.0 <= low && low <= mean && mean <= high && high <= 1.0, "{agreements:?}: {low} {high}");
        }
        assert!(interval(&[1.0; 5]).0 > 1.0 - 1e-9);
    }

    #[test]
    fn twenty_cuts_decide_from_985_on_and_below_70() {
        let at = |mean: f64| -> Side {
            // As cuts of one data set spread where a pair is turned: about as much as halves disagree.
            let agreements: Vec<f64> =
                (0..20).map(|i| mean + (1.0 - mean) * if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
            side(interval(&agreements))
        };
        let found = [0.5, 0.7, 0.75, 0.9, 0.98, 0.986, 0.999].map(at);
        use Side::{Above, Across, Below};
        assert_eq!(found, [Below, Below, Across, Across, Across, Above, Above]);
    }
}
