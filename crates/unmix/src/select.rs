//! How many components to keep: rules over a spectrum of variances.

/// The fewest components whose cumulative share of `total` is strictly greater than `share`.
pub fn by_share(values: &[f64], total: f64, share: f64) -> usize {
    let mut sum = 0.0;
    for (i, v) in values.iter().enumerate() {
        sum += v / total;
        if sum > share {
            return i + 1;
        }
    }
    values.len()
}

/// Minka's rule: the number of components with the largest Laplace approximation of the evidence.
///
/// `values` are all variances, descending, of `n` rows with `p` features. Where two variances are equal their term counts as
/// `1e-300`, so that its logarithm is finite. T. Minka (2000), "Automatic choice of dimensionality for PCA", NIPS 13,
/// equation 77.
pub fn minka(values: &[f64], n: u64, p: usize) -> usize {
    let d = if n >= p as u64 { p } else { values.len() };
    // As shares of the first, so that what counts as 0 does not depend on units: those add the same to every evidence.
    let first = values.first().copied().filter(|v| *v > 0.0).unwrap_or(1.0);
    let values: Vec<f64> = values.iter().map(|v| v / first).collect();
    let evidence = |k: usize| minka_evidence(&values, k, n as f64, d);
    (1..values.len())
        .map(|k| (evidence(k), k))
        .fold((f64::NEG_INFINITY, 1), |best, candidate| if candidate.0 > best.0 { candidate } else { best })
        .1
}

fn minka_evidence(values: &[f64], k: usize, n: f64, d: usize) -> f64 {
    const TINY: f64 = 1e-15;
    if values[k - 1] < TINY {
        return f64::NEG_INFINITY;
    }
    let (df, kf) = (d as f64, k as f64);
    let log_u: f64 = -kf * std::f64::consts::LN_2
        + (1..=k)
            .map(|i| {
                let h = (df - i as f64 + 1.0) / 2.0;
                ln_gamma(h) - h * std::f64::consts::PI.ln()
            })
            .sum::<f64>();
    let log_values: f64 = values[..k].iter().map(|v| v.ln()).sum();
    let rest = &values[k..];
    let noise = (rest.iter().sum::<f64>() / (df - kf)).max(TINY);
    let m = df * kf - kf * (kf + 1.0) / 2.0;
    let hat = |j: usize| if j < k { values[j] } else { noise };
    let mut log_a = 0.0;
    for i in 0..k {
        for j in i + 1..values.len() {
            let product = (1.0 / hat(j) - 1.0 / hat(i)) * (values[i] - values[j]);
            log_a += product.max(1e-300).ln() + n.ln();
        }
    }
    log_u - 0.5 * n * log_values - 0.5 * n * (df - kf) * noise.ln()
        + 0.5 * (m + kf) * (2.0 * std::f64::consts::PI).ln()
        - 0.5 * log_a
        - 0.5 * kf * n.ln()
}

/// Logarithm of the gamma function for `x >= 1/2`, to about 15 digits (Lanczos's approximation, g = 7, nine terms).
fn ln_gamma(x: f64) -> f64 {
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

    #[test]
    fn a_share_that_is_met_exactly_is_not_exceeded() {
        assert_eq!(by_share(&[2.0, 1.0, 1.0], 4.0, 0.5), 2);
        assert_eq!(by_share(&[2.0, 1.0, 1.0], 4.0, 0.49), 1);
    }
}
