//! Is this column of codes Gaussian? A test whose level holds because codes are of rows that the direction was not chosen on.
//!
//! Two moments that a few large values cannot carry: `m = mean G(z)` with `G = log cosh`, which grows where tails do, and
//! `s = mean z exp(-z²/2)`, which is not 0 where the density is lopsided. `z` are codes less their mean over their standard
//! deviation. Of Gaussian codes, `sqrt(n) (m - E G)` and `sqrt(n) s` are normal and independent in the limit, with the variances
//! `Var G - (E z G')² / 2` and `E O² - (E O')²`: what standardising by the sample takes away (Stein's identity gives the
//! covariances). The sum of their squares in units of these is chi-square with two degrees of freedom, whose tail is an exponential.

/// `E log cosh z`, and the variance of its standardised mean times n.
const EVEN: (f64, f64) = (0.374_567_207_491_420_14, 0.006_327_866_991_178_238);
/// The variance of the mean of `z exp(-z²/2)` times n.
const ODD: f64 = 0.067_450_089_729_857_25;

/// The probability that Gaussian codes would look as unlike a Gaussian as these, for each column of row-major codes.
pub(super) fn p_values(codes: &[f64], k: usize) -> Vec<f64> {
    let n = (codes.len() / k.max(1)) as f64;
    (0..k)
        .map(|j| {
            let column = || codes.iter().skip(j).step_by(k);
            let mean = column().sum::<f64>() / n;
            let deviation = (column().map(|y| (y - mean).powi(2)).sum::<f64>() / n).sqrt();
            // A constant column is no evidence against anything.
            if !(deviation > 0.0 && n >= 8.0) {
                return 1.0;
            }
            let (mut even, mut odd) = (0.0, 0.0);
            for y in column() {
                let z = (y - mean) / deviation;
                even += z.abs() + (-2.0 * z.abs()).exp().ln_1p() - std::f64::consts::LN_2;
                odd += z * (-0.5 * z * z).exp();
            }
            let chi2 = n * ((even / n - EVEN.0).powi(2) / EVEN.1 + (odd / n).powi(2) / ODD);
            (-0.5 * chi2).exp()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datasets::Law;
    use crate::num::random::Stream;

    fn codes(law: Law, n: usize, k: usize, seed: u64) -> Vec<f64> {
        let stream = Stream::new(seed, 7);
        (0..n * k).map(|i| 3.0 + 2.0 * law.draw(&stream, i as u64)).collect()
    }

    #[test]
    fn gaussian_codes_are_called_otherwise_at_the_stated_rate() {
        for (n, level) in [(200, 0.05), (200, 0.01), (2000, 0.01)] {
            let k = 2000;
            let p = p_values(&codes(Law::Gaussian, n, k, 1), k);
            let rate = p.iter().filter(|p| **p < level).count() as f64 / k as f64;
            // Three standard errors, and a fifth for what n = 200 is short of the limit.
            let slack = 3.0 * (level * (1.0 - level) / k as f64).sqrt() + 0.2 * level;
            assert!((rate - level).abs() < slack, "n = {n}: {rate} at {level}");
        }
    }

    #[test]
    fn other_laws_are_seen_with_enough_rows() {
        for law in [Law::Laplace, Law::Uniform, Law::Exponential, Law::Bimodal] {
            let p = p_values(&codes(law, 1000, 50, 2), 50);
            assert!(p.iter().all(|p| *p < 1e-3), "{law:?}: {p:?}");
        }
        assert_eq!(p_values(&[5.0; 40], 1), [1.0]);
    }
}
