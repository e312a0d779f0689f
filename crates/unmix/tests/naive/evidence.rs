//! Minka's evidence, term by term (T. Minka 2000, "Automatic choice of dimensionality for PCA", NIPS 13, equation 77).

use super::sum;
use std::f64::consts::PI;

/// `ln gamma(h / 2)` for an integer `h > 0`, by recurrence from `gamma(1/2)` and `gamma(1)`.
fn ln_gamma_of_half(h: usize) -> f64 {
    match h {
        1 => 0.5 * PI.ln(),
        2 => 0.0,
        _ => (h as f64 / 2.0 - 1.0).ln() + ln_gamma_of_half(h - 2),
    }
}

/// `log p(D | k)` up to a constant, for `n` rows with variances `values` (all `d` of them, distinct and positive).
pub(crate) fn minka_log_evidence(values: &[f64], k: usize, n: f64) -> f64 {
    let d = values.len();
    let v = sum(values[k..].iter().copied()) / (d - k) as f64;
    let hat: Vec<f64> = (0..d).map(|j| if j < k { values[j] } else { v }).collect();
    let log_p_u = -(k as f64) * 2f64.ln()
        + sum((1..=k).map(|i| ln_gamma_of_half(d - i + 1) - (d - i + 1) as f64 / 2.0 * PI.ln()));
    let pairs = (0..k).flat_map(|i| (i + 1..d).map(move |j| (i, j)));
    let log_a =
        sum(pairs.map(|(i, j)| (1.0 / hat[j] - 1.0 / hat[i]).ln() + (values[i] - values[j]).ln() + n.ln()));
    let m = (d * k) as f64 - (k * (k + 1)) as f64 / 2.0;
    log_p_u - n / 2.0 * sum(values[..k].iter().map(|x| x.ln())) - n * (d - k) as f64 / 2.0 * v.ln()
        + (m + k as f64) / 2.0 * (2.0 * PI).ln()
        - log_a / 2.0
        - k as f64 / 2.0 * n.ln()
}

/// The number of components from 1 to `d - 1` with the largest evidence; the smallest one in case of ties.
pub(crate) fn minka(values: &[f64], n: f64) -> usize {
    (1..values.len())
        .rev()
        .fold((1, f64::NEG_INFINITY), |best, k| {
            let e = minka_log_evidence(values, k, n);
            if e >= best.1 { (k, e) } else { best }
        })
        .0
}
