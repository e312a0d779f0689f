//! A test of Gaussianity of codes. Its level holds because the direction was not estimated from the same
//! rows.
//!
//! It uses two moments that are robust to outliers: `m = mean G(z)` with `G = log cosh`, which measures
//! tails, and `s = mean O(z)` with `O = z exp(-z²/2)`, which measures skewness. `z` are the standardised codes. For
//! Gaussian codes, `sqrt(n) (m - E G)` and `sqrt(n) s` are asymptotically normal and independent, with the variances
//! `Var G - (E z G')² / 2` and `E O² - (E O')²`, where the second terms are due to standardisation by the sample
//! (the covariances follow from Stein's identity). The sum of their squares divided by these variances is
//! chi-square with two degrees of freedom, whose survival function is `exp(-x / 2)`.

use crate::data::splits::{FEWEST_BLOCKS, block_variance_ratios};

/// `E log cosh z`, and the variance of its standardised mean times n.
const EVEN: (f64, f64) = (0.374_567_207_491_420_14, 0.006_327_866_991_178_238);
/// The variance of the mean of `z exp(-z²/2)` times n.
const ODD: f64 = 0.067_450_089_729_857_25;

/// Slopes of the two at a Gaussian: `E z G'(z)`, and `E O'(z)`.
const SLOPES: (f64, f64) = (0.605_705_509_602_159_1, 0.353_553_390_593_273_8);

/// p-values of a test of Gaussianity, for each column of row-major codes; `follow`: whether rows are consecutive and may be
/// autocorrelated.
pub(super) fn p_values(codes: &[f64], k: usize, follow: bool) -> Vec<f64> {
    let n = (codes.len() / k.max(1)) as f64;
    (0..k)
        .map(|j| {
            let column = || codes.iter().skip(j).step_by(k);
            let mean = column().sum::<f64>() / n;
            let deviation = (column().map(|y| (y - mean).powi(2)).sum::<f64>() / n).sqrt();
            // A constant column is not evidence against Gaussianity.
            if !(deviation > 0.0 && n >= 8.0) {
                return 1.0;
            }
            // The contribution of each row to the two moments, minus its part that standardisation removes, whose sum is 0.
            let of_row = |y: &f64| {
                let z = (y - mean) / deviation;
                let even = z.abs() + (-2.0 * z.abs()).exp().ln_1p() - std::f64::consts::LN_2 - EVEN.0;
                let odd = z * (-0.5 * z * z).exp();
                (even - 0.5 * SLOPES.0 * (z * z - 1.0), odd - SLOPES.1 * z)
            };
            let (even, odd): (Vec<f64>, Vec<f64>) = column().map(of_row).unzip();
            let chi2 = standardised_square(even, EVEN.1, follow) + standardised_square(odd, ODD, follow);
            let p = match follow {
                false => (-0.5 * chi2).exp(),
                // The autocorrelation time is estimated from that many blocks: an F distribution with 2 degrees of freedom
                // above.
                true => (1.0 + chi2 / (FEWEST_BLOCKS - 1) as f64).powf(-0.5 * (FEWEST_BLOCKS - 1) as f64),
            };
            // A p-value is never 0: it is at least the smallest positive number.
            p.max(f64::MIN_POSITIVE)
        })
        .collect()
}

/// The square of the mean of `terms` divided by its variance, which is `alone / n`, times the autocorrelation time for consecutive
/// rows.
fn standardised_square(terms: Vec<f64>, alone: f64, follow: bool) -> f64 {
    let (n, sum) = (terms.len() as f64, terms.iter().sum::<f64>());
    // The variance itself depends on the distribution of the column; only the ratio of the variances of blocks to it is used.
    let autocorrelation = if follow {
        block_variance_ratios(terms).iter().fold(1.0f64, |m, (_, ratio)| m.max(*ratio))
    } else {
        1.0
    };
    sum.powi(2) / (n * alone * autocorrelation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datasets::Distribution;
    use crate::num::random::Stream;

    fn codes(distribution: Distribution, n: usize, k: usize, seed: u64) -> Vec<f64> {
        let stream = Stream::new(seed, 7);
        (0..n * k).map(|i| 3.0 + 2.0 * distribution.draw(&stream, i as u64)).collect()
    }

    #[test]
    fn gaussian_codes_are_rejected_at_the_stated_rate() {
        for (n, level) in [(200, 0.05), (200, 0.01), (2000, 0.01)] {
            let k = 2000;
            let p = p_values(&codes(Distribution::Gaussian, n, k, 1), k, false);
            let rate = p.iter().filter(|p| **p < level).count() as f64 / k as f64;
            // Three standard errors, and a fifth for what n = 200 is short of the limit.
            let slack = 3.0 * (level * (1.0 - level) / k as f64).sqrt() + 0.2 * level;
            assert!((rate - level).abs() < slack, "n = {n}: {rate} at {level}");
        }
    }

    /// Stationary Gaussian autoregressive columns of order 1 with coefficient `r`.
    fn autoregressive(n: usize, k: usize, r: f64) -> Vec<f64> {
        let new: Vec<f64> = codes(Distribution::Gaussian, n, k, 5).iter().map(|y| y - 3.0).collect();
        let mut out = new.clone();
        out[..k].iter_mut().for_each(|y| *y /= (1.0 - r * r).sqrt());
        for i in k..n * k {
            out[i] = r * out[i - k] + new[i];
        }
        out
    }

    #[test]
    fn autocorrelated_rows_count_by_their_effective_sample_size() {
        let (n, k) = (4000, 500);
        let codes = autoregressive(n, k, 0.97);
        let rate = |follow: bool, level: f64| {
            p_values(&codes, k, follow).iter().filter(|p| **p < level).count() as f64 / k as f64
        };
        assert!(rate(false, 0.01) > 0.05, "taken for independent rows they are called otherwise too often");
        // Three standard errors above the level.
        assert!(rate(true, 0.01) < 0.01 + 3.0 * (0.01f64 * 0.99 / k as f64).sqrt(), "{}", rate(true, 0.01));
        assert!(rate(true, 0.05) < 0.05 + 3.0 * (0.05f64 * 0.95 / k as f64).sqrt(), "{}", rate(true, 0.05));
        let other: Vec<f64> = autoregressive(n, 50, 0.5).iter().map(|y| y.powi(3)).collect();
        assert!(p_values(&other, 50, true).iter().all(|p| *p < 1e-3), "what is not Gaussian is still seen");
        // A few large events, such as blinks.
        let mut rare = autoregressive(n, 1, 0.9);
        for start in (100..n).step_by(400) {
            rare[start..start + 40].iter_mut().for_each(|y| *y += 60.0);
        }
        assert!(p_values(&rare, 1, true)[0] < 1e-4, "{:?}", p_values(&rare, 1, true));
    }

    #[test]
    fn other_distributions_are_detected_with_enough_rows() {
        for distribution in
            [Distribution::Laplace, Distribution::Uniform, Distribution::Exponential, Distribution::Bimodal]
        {
            let p = p_values(&codes(distribution, 1000, 50, 2), 50, false);
            assert!(p.iter().all(|p| *p < 1e-3), "{distribution:?}: {p:?}");
        }
        assert_eq!(p_values(&[5.0; 40], 1, false), [1.0]);
        // exp(-chi2 / 2) is 0 in double precision here.
        let p = p_values(&codes(Distribution::Bimodal, 200_000, 1, 2), 1, false)[0];
        assert!(p > 0.0 && p < 1e-300, "{p:e}");
    }
}
