//! Quantiles of the distributions used for bounds and tests.

/// An upper quantile of a weighted sum of squares of independent standard normal numbers, with weights `variances`: approximated by a
/// scaled chi-square distribution with the same mean and variance (Satterthwaite 1946), whose cube root is approximately normal (Wilson
/// & Hilferty 1931); `quantile` is that of the normal distribution.
pub(crate) fn upper_sum(variances: &[f64], quantile: f64) -> f64 {
    let (sum, squares) = variances.iter().fold((0.0, 0.0), |(s, q), v| (s + v, q + v * v));
    if !(sum.is_finite() && squares > 0.0) {
        return if sum == 0.0 { 0.0 } else { f64::INFINITY };
    }
    let share = 2.0 / 9.0 * squares / (sum * sum);
    sum * (1.0 - share + quantile * share.sqrt()).powi(3).max(1.0)
}

/// Upper quantile of Student's t with `freedom` degrees of freedom, for a tail probability `p` of at most 0.1.
pub(crate) fn student(p: f64, freedom: f64) -> f64 {
    let x = normal(p);
    // Fisher's expansion in powers of 1 / freedom (Fisher & Cornish 1960).
    let powers = [x, x.powi(3), x.powi(5), x.powi(7), x.powi(9)];
    let terms = [
        (4.0, [1.0, 1.0, 0.0, 0.0, 0.0]),
        (96.0, [3.0, 16.0, 5.0, 0.0, 0.0]),
        (384.0, [-15.0, 17.0, 19.0, 3.0, 0.0]),
        (92160.0, [-945.0, -1920.0, 1482.0, 776.0, 79.0]),
    ];
    let mut out = x;
    for (i, (over, of)) in terms.iter().enumerate() {
        let sum: f64 = of.iter().zip(powers).map(|(c, x)| c * x).sum();
        out += sum / over / freedom.powi(i as i32 + 1);
    }
    out
}

/// The 97.5 % quantile of Student's t distribution; the expansion of [`student`] is a tenth too small for one degree of freedom.
pub(crate) fn student_975(freedom: f64) -> f64 {
    if freedom == 1.0 { 12.706 } else { student(0.025, freedom) }
}

/// Mean, and bounds of its 95 % confidence interval by Student's t distribution; `None` for fewer than two values.
pub fn mean_interval(values: &[f64]) -> Option<(f64, f64, f64)> {
    let n = values.len() as f64;
    if n < 2.0 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = student_975(n - 1.0) * (variance / n).sqrt();
    Some((mean, mean - half, mean + half))
}

/// Upper quantile of the normal distribution, for a tail probability `p` of at most 0.1.
pub(crate) fn normal(p: f64) -> f64 {
    // Tail probability over density, as a continued fraction (Laplace 1805).
    let tail = |x: f64| {
        let below = (1..=200).rev().fold(x, |f, m| x + f64::from(m) / f);
        (-0.5 * x * x).exp() / (below * (2.0 * std::f64::consts::PI).sqrt())
    };
    let (mut low, mut high) = (1.0, 40.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if tail(middle) > p {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_published_tables() {
        for (p, x) in [(0.1, 1.281_552), (0.01, 2.326_348), (1e-4, 3.719_016), (1e-6, 4.753_424)] {
            assert!((normal(p) - x).abs() < 1e-6, "{p}");
        }
        for (p, freedom, t) in [(0.01, 7.0, 2.998), (0.0005, 9.0, 4.781), (0.001, 31.0, 3.375)] {
            assert!((student(p, freedom) - t).abs() < 0.01, "{p} {freedom}: {}", student(p, freedom));
        }
        // Deviations -1, 0 and 1: standard error 1 / sqrt 3, two degrees of freedom.
        let (mean, low, high) = mean_interval(&[1.0, 2.0, 3.0]).unwrap();
        assert!(
            (mean - 2.0).abs() < 1e-15 && (high - low - 2.0 * 4.303 / 3f64.sqrt()).abs() < 0.1,
            "{low} {high}"
        );
        assert_eq!((mean_interval(&[4.0, 4.0]), mean_interval(&[4.0])), (Some((4.0, 4.0, 4.0)), None));
        // Chi-square with 1 and with 59 degrees of freedom, at tail probability 0.001.
        for (n, x) in [(1, 10.828), (59, 98.324)] {
            let found = upper_sum(&vec![1.0; n], normal(0.001));
            // The approximation is 3 % above the chi-square of one degree of freedom, which is conservative.
            assert!((-0.001..0.035).contains(&(found / x - 1.0)), "{n}: {found}");
        }
    }
}
