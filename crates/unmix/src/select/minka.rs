//! Minka's rule: Laplace's approximation of the evidence of probabilistic PCA.

use std::f64::consts::{LN_2, PI};

/// Variances below this fraction of the first are treated as 0: they cannot be components.
const NEGLIGIBLE_SHARE: f64 = 1e-15;
/// Value of a term of two equal variances, so that its logarithm is finite.
const TERM_OF_TIE: f64 = 1e-300;

/// The number of components, from 1, with the largest evidence; the smallest of several.
///
/// `values` are all variances, descending, of `n` samples with `p` features; with fewer samples than features, those of the
/// directions that the samples can span. The term of two equal variances is taken as `1e-300`. T. Minka (2000), "Automatic choice
/// of dimensionality for PCA", NIPS 13, equation 77. Each pair of variances is used once: `O(d^2)` time, `O(d)` memory. With fewer than
/// two variances the result is 1.
pub fn minka(values: &[f64], n: f64, p: usize) -> usize {
    let d = if n >= p as f64 { p } else { values.len() };
    // Relative to the first variance, so that the threshold for 0 does not depend on units: the same constant is added to every
    // evidence.
    let first = values.first().copied().filter(|v| *v > 0.0).unwrap_or(1.0);
    let values: Vec<f64> = values.iter().map(|v| v / first).collect();
    let evidence = evidence(&values, n, d);
    (1..values.len())
        .map(|k| (evidence[k], k))
        .fold((f64::NEG_INFINITY, 1), |best, candidate| if candidate.0 > best.0 { candidate } else { best })
        .1
}

/// Logarithms of the evidence for `k = 0, 1, ...` components, up to a constant.
fn evidence(values: &[f64], n: f64, d: usize) -> Vec<f64> {
    let (pairs, noise) = (Pairs::new(values, d), noise(values, d));
    let mut out = vec![f64::NEG_INFINITY; values.len()];
    let (mut log_u, mut log_values, mut number) = (0.0, 0.0, 0.0);
    for k in 1..values.len() {
        if values[k - 1] < NEGLIGIBLE_SHARE {
            break;
        }
        let h = (d - k + 1) as f64 / 2.0;
        log_u += ln_gamma(h) - h * PI.ln() - LN_2;
        log_values += values[k - 1].ln();
        number += (values.len() - k) as f64;
        let (df, kf) = (d as f64, k as f64);
        let m = df * kf - kf * (kf + 1.0) / 2.0;
        out[k] = log_u - 0.5 * n * (log_values + (df - kf) * noise[k].ln())
            + 0.5 * (m + kf) * (2.0 * PI).ln()
            - 0.5 * (pairs.log_determinant[k] + number * n.ln())
            - 0.5 * kf * n.ln();
    }
    out
}

/// Mean of the variances after the first `k`, over `d - k` directions, for every `k`: summed from the smallest.
fn noise(values: &[f64], d: usize) -> Vec<f64> {
    let (mut tail, mut out) = (0.0, vec![NEGLIGIBLE_SHARE; values.len()]);
    for k in (1..values.len()).rev() {
        tail += values[k];
        out[k] = (tail / (d - k) as f64).max(NEGLIGIBLE_SHARE);
    }
    out
}

/// `sum_{i < k} sum_{j > i} ln[(1/h_j - 1/h_i)(l_i - l_j)]` for every `k`, where `h_j` is `l_j` for `j < k` and the noise variance
/// otherwise.
///
/// Pairs within the first `k` do not depend on `k`, so they form a running sum. For the others, row by row, the first factor is one
/// number and the second a sum over the indices beyond `k`, which grows as `k` decreases: nothing is ever subtracted from a sum.
struct Pairs {
    log_determinant: Vec<f64>,
}

impl Pairs {
    fn new(values: &[f64], d: usize) -> Self {
        let (r, noise) = (values.len(), noise(values, d));
        let log = |x: f64| x.max(TERM_OF_TIE).ln();
        // For each row, the terms beyond k: the sum of ln(l_i - l_j) over different ones, and the number of equal ones.
        let (mut apart, mut equal) = (vec![0.0; r], vec![0usize; r]);
        // For each column, the terms above the diagonal.
        let (mut within, mut across) = (vec![0.0; r], vec![0.0; r]);
        let components = values.iter().take_while(|&&v| v >= NEGLIGIBLE_SHARE).count();
        for k in (1..r).rev() {
            let beyond = (r - k) as f64;
            for i in 0..k.min(components) {
                let difference = values[i] - values[k];
                match difference > 0.0 {
                    true => apart[i] += difference.ln(),
                    false => equal[i] += 1,
                }
                within[k] += log((1.0 / values[k] - 1.0 / values[i]) * difference);
                let curvature = 1.0 / noise[k] - 1.0 / values[i];
                across[k] += match curvature > 0.0 {
                    true => {
                        (beyond - equal[i] as f64) * curvature.ln()
                            + apart[i]
                            + equal[i] as f64 * TERM_OF_TIE.ln()
                    }
                    false => beyond * TERM_OF_TIE.ln(),
                };
            }
        }
        let mut sum = 0.0;
        let log_determinant = (0..r)
            .map(|k| {
                if k > 0 {
                    sum += within[k - 1];
                }
                sum + across[k]
            })
            .collect();
        Self { log_determinant }
    }
}

/// Logarithm of the gamma function for `x >= 1/2`, to about 15 digits (Lanczos's approximation, g = 7, nine terms).
pub(crate) fn ln_gamma(x: f64) -> f64 {
    const C: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let sum = C[1..].iter().enumerate().fold(C[0], |s, (i, c)| s + c / (x + i as f64 + 1.0));
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    /// Term by term, `O(d^2)` for each number of components.
    fn term_by_term(values: &[f64], k: usize, n: f64, d: usize) -> f64 {
        if values[k - 1] < NEGLIGIBLE_SHARE {
            return f64::NEG_INFINITY;
        }
        let (df, kf) = (d as f64, k as f64);
        let log_u: f64 = -kf * LN_2
            + (1..=k)
                .map(|i| {
                    let h = (df - i as f64 + 1.0) / 2.0;
                    ln_gamma(h) - h * PI.ln()
                })
                .sum::<f64>();
        let log_values: f64 = values[..k].iter().map(|v| v.ln()).sum();
        let rest = &values[k..];
        let noise = (rest.iter().sum::<f64>() / (df - kf)).max(NEGLIGIBLE_SHARE);
        let m = df * kf - kf * (kf + 1.0) / 2.0;
        let hat = |j: usize| if j < k { values[j] } else { noise };
        let mut log_a = 0.0;
        for i in 0..k {
            for j in i + 1..values.len() {
                let product = (1.0 / hat(j) - 1.0 / hat(i)) * (values[i] - values[j]);
                log_a += product.max(1e-300).ln() + n.ln();
            }
        }
        log_u - 0.5 * n * log_values - 0.5 * n * (df - kf) * noise.ln() + 0.5 * (m + kf) * (2.0 * PI).ln()
            - 0.5 * log_a
            - 0.5 * kf * n.ln()
    }

    #[test]
    fn running_sums_give_the_evidence_term_by_term() {
        let s = Stream::new(5, 0);
        let spectra = [
            vec![9.0, 4.0, 1.0, 0.5, 0.25],
            vec![3.0, 3.0, 3.0, 1.0, 1.0, 0.2],
            vec![1.0; 7],
            vec![5.0, 2.0, 1e-5, 0.0, 0.0],
            vec![5.0, 2.0, 2.0, 1e-16, 1e-17, 0.0],
            vec![2.0, 1.0, 1.0 - 2e-16, 1.0 - 4e-16, 0.5],
        ];
        let random = (0..30u64).map(|t| {
            let mut v: Vec<f64> = (0..3 + t).map(|i| s.normal(100 * t + i).abs()).collect();
            v.sort_by(|a, b| b.total_cmp(a));
            v
        });
        for values in spectra.into_iter().chain(random) {
            let first = values[0];
            let values: Vec<f64> = values.iter().map(|v| v / first).collect();
            for (n, d) in [(12.0, values.len()), (37.5, values.len()), (1e6, values.len() + 3)] {
                let found = evidence(&values, n, d);
                for k in 1..values.len() {
                    let want = term_by_term(&values, k, n, d);
                    let close = (found[k] - want).abs() <= 1e-11 * want.abs().max(1.0);
                    assert!(
                        close || found[k] == want,
                        "{values:?}, n = {n}, k = {k}: {} not {want}",
                        found[k]
                    );
                }
            }
        }
    }

    #[test]
    fn ties_zeros_and_units_give_a_number_in_its_range() {
        assert_eq!((minka(&[], 5.0, 3), minka(&[1.0], 5.0, 1), minka(&[0.0; 4], 9.0, 4)), (1, 1, 1));
        let values = [50.0, 20.0, 1.12, 1.06, 1.0, 0.94, 0.88];
        for unit in [1e-300, 1.0, 1e300] {
            let scaled: Vec<f64> = values.iter().map(|v| v * unit).collect();
            assert_eq!(minka(&scaled, 400.0, 7), 2, "{unit}");
        }
    }

    #[test]
    fn the_gamma_function_has_its_known_values() {
        for (x, want) in
            [(0.5, std::f64::consts::PI.sqrt().ln()), (1.0, 0.0), (5.0, 24f64.ln()), (10.0, 362_880f64.ln())]
        {
            assert!(
                (ln_gamma(x) - want).abs() < 1e-13 * want.abs().max(1.0),
                "ln gamma({x}) = {}",
                ln_gamma(x)
            );
        }
    }
}
