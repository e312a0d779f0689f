//! The Bayesian information criterion of probabilistic PCA.

/// The number of components, from 0, with the largest criterion (`bic_of` below); the smallest of several.
///
/// `values` are the variances above rounding errors, descending, of `n` samples with `p` features. At most `r - 1` components for a
/// rank of `r`: the remaining variances estimate the noise. If the rank is less than that of `n` samples of `p` features in general
/// position, as with columns that are linear combinations of others, the likelihood is unbounded, because the noise has variance 0 in
/// some directions: the model is then restricted to the `r` directions that vary; and if the criterion is largest at `r - 1`, all `r`
/// are kept.
///
/// With more features than samples can span, the likelihood is unbounded: near full rank the residual variance for `p - k` features
/// tends to 0. The number is then the maximiser before the final increase of the criterion, at most half of the rank that the
/// samples can have. `O(r)`.
pub fn bic(values: &[f64], n: f64, p: usize) -> usize {
    let (criteria, empty) = criteria(values, n, p);
    let wide = !empty && (p as f64) > n - 1.0;
    let most = if wide { bounded(&criteria) } else { criteria.len().saturating_sub(1) };
    let first_largest = |best: usize, k: usize| if criteria[k] > criteria[best] { k } else { best };
    let best = (0..criteria.len().min(most + 1)).fold(0, first_largest);
    if empty && best + 1 == criteria.len() { criteria.len() } else { best }
}

/// Whether the criterion has no maximum before its final increase, with more features than samples can span, so that [`bic`] returns half
/// of the rank that the samples can have.
pub(crate) fn has_no_maximum(values: &[f64], n: f64, p: usize) -> bool {
    let (criteria, empty) = criteria(values, n, p);
    !empty && p as f64 > n - 1.0 && criteria.len() > 2 && bic(values, n, p) == criteria.len() / 2
}

/// The criterion for `k = 0, 1, ...` below the rank; and whether the rank is less than that of samples in general position.
fn criteria(values: &[f64], n: f64, p: usize) -> (Vec<f64>, bool) {
    let r = values.iter().take_while(|&&v| v > 0.0).count();
    let (values, empty) = (&values[..r], (r as f64) < (p as f64).min(n - 1.0));
    let p = if empty { r } else { p.max(r) };
    let tails = tails(values);
    let mut log_kept = 0.0;
    let each = (0..r).map(|k| {
        let criterion = criterion(log_kept, tails[k], k, n, p);
        log_kept += (values[k] / values[0]).ln();
        criterion
    });
    (each.collect(), empty)
}

/// The largest number of components to consider if the likelihood is unbounded: the last one before the final increase of the criterion, at
/// most half of all.
pub(crate) fn bounded(criteria: &[f64]) -> usize {
    let half = criteria.len() / 2;
    let falls = |k: &usize| criteria[*k] <= criteria[k - 1];
    (1..criteria.len()).rev().find(falls).map_or(half, |valley| valley.min(half))
}

/// Log-likelihood of probabilistic PCA with `k` components, less half of `ln n` for each of its parameters:
///
/// ```text
/// -n/2 [p ln 2pi + sum_{i<=k} ln l_i + (p-k) ln v_k + p] - 1/2 ln n [p k - k(k-1)/2 + 1 + p],     v_k = sum_{i>k} l_i / (p-k)
/// ```
///
/// `values` are all non-zero variances, descending, of `n` samples with `p` features; the total variance is their sum. G. Schwarz
/// (1978), Ann. Stat. 6:461; M. Tipping & C. Bishop (1999), J. R. Stat. Soc. B 61:611, equation 8.
#[cfg(test)]
pub(crate) fn bic_of(values: &[f64], k: usize, n: f64, p: usize) -> f64 {
    let log_kept: f64 = values[..k].iter().map(|v| (v / values[0]).ln()).sum();
    let constant = p as f64 * ((2.0 * std::f64::consts::PI).ln() + 1.0 + values[0].ln());
    criterion(log_kept, tails(values)[k], k, n, p) - 0.5 * n * constant
}

/// The criterion up to a constant that does not depend on `k`; variances are relative to the first.
fn criterion(log_kept: f64, tail: f64, k: usize, n: f64, p: usize) -> f64 {
    let (p, k) = (p as f64, k as f64);
    let parameters = p * k - k * (k - 1.0) / 2.0 + 1.0 + p;
    -0.5 * n * (log_kept + (p - k) * (tail / (p - k)).ln()) - 0.5 * n.ln() * parameters
}

/// Sums of all but the first `k` variances, relative to the first; added from the smallest.
fn tails(values: &[f64]) -> Vec<f64> {
    let first = values.first().copied().unwrap_or(1.0);
    let mut out: Vec<f64> = values.iter().map(|v| v / first).collect();
    for i in (1..out.len()).rev() {
        out[i - 1] += out[i];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::{Matrix, factor};

    #[test]
    fn the_criterion_is_the_likelihood_written_out_less_its_penalty() {
        let (values, n, p) = ([7.0, 3.0, 1.2, 0.9, 0.4], 40.0, 5usize);
        for k in 0..5 {
            let v = values[k..].iter().sum::<f64>() / (p - k) as f64;
            // The Gaussian with the first k variances and v for the others: ln det, and a trace of p.
            let log_det = values[..k].iter().map(|x: &f64| x.ln()).sum::<f64>() + (p - k) as f64 * v.ln();
            let trace: f64 = k as f64 + values[k..].iter().map(|x| x / v).sum::<f64>();
            let log_likelihood = -0.5 * n * (p as f64 * (2.0 * std::f64::consts::PI).ln() + log_det + trace);
            // Parameters of an orthonormal k-frame in p dimensions, k variances, a noise variance and a mean.
            let frame = (p * k) as f64 - (k * (k + 1)) as f64 / 2.0;
            let want = log_likelihood - 0.5 * n.ln() * (frame + k as f64 + 1.0 + p as f64);
            let found = bic_of(&values, k, n, p);
            assert!((found / want - 1.0).abs() < 1e-13, "k = {k}: {found} not {want}");
        }
        let best = (0..5).max_by(|&a, &b| bic_of(&values, a, n, p).total_cmp(&bic_of(&values, b, n, p)));
        assert_eq!(Some(bic(&values, n, p)), best);
    }

    #[test]
    fn noise_alone_has_no_component_and_units_do_not_matter() {
        let noise: Vec<f64> = (0..20).map(|i| 1.0 + 0.01 * i as f64).rev().collect();
        let signal: Vec<f64> = [90.0, 40.0, 9.0].into_iter().chain(noise.iter().copied()).collect();
        for unit in [1e-300, 1.0, 1e280] {
            let in_unit = |values: &[f64]| values.iter().map(|v| v * unit).collect::<Vec<_>>();
            assert_eq!(bic(&in_unit(&noise), 1000.0, 20), 0, "{unit}");
            assert_eq!(bic(&in_unit(&signal), 1000.0, 23), 3, "{unit}");
        }
    }

    #[test]
    fn directions_without_variance_are_not_selected() {
        let noise = [1.05, 1.04, 1.03, 1.02, 1.01, 1.0, 0.99, 0.98, 0.97];
        let signal: Vec<f64> = [50.0, 20.0].into_iter().chain(noise).collect();
        // Eleven directions vary; four more columns were computed from others.
        assert_eq!(bic(&signal, 500.0, 15), 2);
        // Three directions and no noise: all three.
        assert_eq!(bic(&[9.0, 4.0, 1.0], 500.0, 10), 3);
        assert_eq!((bic(&[], 500.0, 10), bic(&[4.0], 500.0, 10)), (0, 1));
        // Data with more columns than rows have rank n - 1, which counts as full rank.
        let wide: Vec<f64> =
            [400.0, 300.0].into_iter().chain((0..37).map(|i| 5.0 - 0.01 * i as f64)).collect();
        assert_eq!(bic(&wide, 40.0, 200), 2);
    }

    #[test]
    fn few_samples_do_not_select_the_last_increase() {
        let draw = crate::num::random::Stream::new(7, 0);
        for (n, p, k) in [(50, 200, 3), (100, 400, 5), (30, 2000, 0), (40, 40, 2)] {
            let mut at = 0..;
            let mut normal = || draw.normal(at.next().unwrap());
            let (z, w) = (Matrix::from_fn(n, k, |_, _| normal()), Matrix::from_fn(k, p, |_, _| normal()));
            let x =
                Matrix::from_fn(n, p, |i, j| normal() + (0..k).map(|a| z[(i, a)] * w[(a, j)]).sum::<f64>());
            let mean: Vec<f64> = (0..p).map(|j| (0..n).map(|i| x[(i, j)]).sum::<f64>() / n as f64).collect();
            let centred = Matrix::from_fn(n, p, |i, j| x[(i, j)] - mean[j]);
            let (values, _) = factor::eigh(&factor::multiply_transposed(&centred, &centred)).unwrap();
            let values: Vec<f64> = values[..n - 1].iter().map(|v| v / (n - 1) as f64).collect();
            assert_eq!(bic(&values, n as f64, p), k, "{n} x {p}");
            assert!(!has_no_maximum(&values, n as f64, p));
            // Without the bound, the last number has the largest criterion.
            let last = bic_of(&values, n - 2, n as f64, p);
            assert!(n == p || last > bic_of(&values, k, n as f64, p), "{n} x {p}");
        }
        // A geometric spectrum does not determine a number of components.
        let even: Vec<f64> = (0..29).map(|i| 0.8f64.powi(i)).collect();
        assert!(has_no_maximum(&even, 30.0, 500) && bic(&even, 30.0, 500) == 14);
    }
}
