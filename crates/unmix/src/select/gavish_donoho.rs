//! Singular values of a low-rank matrix in white noise: hard thresholding and shrinkage.
//!
//! M. Gavish & D. Donoho (2014), "The optimal hard threshold for singular values is 4/sqrt(3)", IEEE Trans. Inf. Theory 60:5040;
//! the same (2017), "Optimal shrinkage of singular values", IEEE Trans. Inf. Theory 63:2137. Both minimise the squared error of the
//! denoised matrix; neither estimates its rank, and weak components are dropped because they would increase the error.

use std::f64::consts::{FRAC_PI_2, PI};

/// The number of singular values above the optimal hard threshold for unknown noise.
///
/// `values` are the variances above rounding errors, descending, of `n` samples with `p` features. Centring leaves `n - 1` degrees
/// of freedom, so the matrix counts as `(n - 1) x p`. The noise level is estimated from the median singular value, zeros included;
/// so it is overestimated if the rank is a large fraction of `p`.
pub fn gavish_donoho(values: &[f64], n: f64, p: usize) -> usize {
    let (short, long) = ((n - 1.0).min(p as f64), (n - 1.0).max(p as f64));
    if short < 1.0 || values.is_empty() {
        return 0;
    }
    let count = short.round() as usize;
    let singular = |i: usize| values.get(i).copied().unwrap_or(0.0).max(0.0).sqrt();
    let median = 0.5 * (singular((count - 1) / 2) + singular(count / 2));
    let threshold = unknown_noise_threshold(short / long) * median;
    values.iter().take_while(|v| v.sqrt() > threshold).count()
}

/// The optimal threshold in units of `sqrt(larger dimension) * sigma`, for noise of known standard deviation `sigma`:
/// `sqrt(2(b+1) + 8b / (b + 1 + sqrt(b^2 + 14b + 1)))`, with `b` in (0, 1] the smaller dimension over the larger one.
///
/// Gavish & Donoho (2014), equation 11.
pub fn hard_threshold(beta: f64) -> f64 {
    (2.0 * (beta + 1.0) + 8.0 * beta / (beta + 1.0 + (beta * beta + 14.0 * beta + 1.0).sqrt())).sqrt()
}

/// The optimal threshold in units of the median singular value, for unknown noise level.
///
/// Gavish & Donoho (2014), equation 5.
pub fn unknown_noise_threshold(beta: f64) -> f64 {
    hard_threshold(beta) / marchenko_pastur_median(beta).sqrt()
}

/// The median of the Marchenko-Pastur distribution of aspect ratio `beta` in (0, 1] and unit variance.
///
/// The density is `sqrt((hi - x)(x - lo)) / (2 pi beta x)` from `lo = (1 - sqrt(beta))^2` to `hi = (1 + sqrt(beta))^2`. With
/// `x = lo + (hi - lo) sin^2 t` its integral is elementary; the root is found by bisection to full precision.
pub fn marchenko_pastur_median(beta: f64) -> f64 {
    // Below this, the median differs from 1 by less than the rounding error of the integral.
    let beta = beta.clamp(1e-9, 1.0);
    let root = beta.sqrt();
    let (lo, hi, width) = ((1.0 - root).powi(2), (1.0 + root).powi(2), 4.0 * root);
    let below = |t: f64| {
        let angle = (hi.sqrt() * t.sin()).atan2(lo.sqrt() * t.cos());
        let sum = hi * t / width - 0.5 * t + 0.25 * (2.0 * t).sin() - (1.0 - beta) * angle / width;
        16.0 / (PI * width) * sum
    };
    let (mut a, mut b) = (0.0, FRAC_PI_2);
    for _ in 0..60 {
        let middle = 0.5 * (a + b);
        if below(middle) < 0.5 { a = middle } else { b = middle }
    }
    lo + width * a.sin().powi(2)
}

/// The optimal shrinkage of a singular value for squared error: `sqrt((y^2 - b - 1)^2 - 4b) / y` for `y > 1 + sqrt(b)`, else 0.
///
/// `y` is the observed singular value, in units of `sqrt(larger dimension) * sigma`; so is the result. Gavish & Donoho (2017),
/// equation 7.
pub fn shrunk(y: f64, beta: f64) -> f64 {
    if y <= 1.0 + beta.sqrt() {
        return 0.0;
    }
    ((y * y - beta - 1.0).powi(2) - 4.0 * beta).max(0.0).sqrt() / y
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn square_matrices_have_the_published_constants() {
        assert!((hard_threshold(1.0) - 4.0 / 3f64.sqrt()).abs() < 1e-15);
        assert!((unknown_noise_threshold(1.0) - 2.8584).abs() < 1e-4);
    }

    #[test]
    fn half_of_the_density_lies_below_the_median() {
        for beta in [1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999, 1.0] {
            let (root, median) = (f64::sqrt(beta), marchenko_pastur_median(beta));
            let (lo, hi) = ((1.0 - root).powi(2), (1.0 + root).powi(2));
            // Midpoints of x = lo + (hi - lo) t^2, which removes the square root at the lower end.
            let steps = 400_000;
            let end = ((median - lo) / (hi - lo)).sqrt();
            let density = |x: f64| ((hi - x) * (x - lo)).max(0.0).sqrt() / (2.0 * PI * beta * x);
            let below: f64 = (0..steps)
                .map(|i| {
                    let t = end * (i as f64 + 0.5) / steps as f64;
                    density(lo + (hi - lo) * t * t) * 2.0 * (hi - lo) * t * end / steps as f64
                })
                .sum();
            assert!((below - 0.5).abs() < 1e-7, "beta {beta}: {below} lies below {median}");
        }
        // So it tends to 1 for a matrix with many more rows than columns.
        assert!((marchenko_pastur_median(1e-12) - 1.0).abs() < 1e-8);
    }

    #[test]
    fn shrinking_is_continuous_and_takes_less_off_large_values() {
        for beta in [0.1, 0.5, 1.0] {
            let edge = 1.0 + f64::sqrt(beta);
            assert_eq!(shrunk(edge, beta), 0.0);
            assert!(shrunk(edge + 1e-9, beta) < 1e-3);
            let off = |y: f64| y - shrunk(y, beta);
            assert!((1..50).all(|i| off(edge + 0.1 * i as f64) < off(edge + 0.1 * (i - 1) as f64)));
        }
    }

    #[test]
    fn no_noise_keeps_all_and_noise_alone_nothing() {
        assert_eq!(gavish_donoho(&[9.0, 4.0, 1.0], 100.0, 10), 3);
        let noise: Vec<f64> = (0..50).map(|i| 2.0 - 0.03 * i as f64).collect();
        assert_eq!(gavish_donoho(&noise, 200.0, 50), 0);
        for unit in [1e-300, 1e300] {
            let values: Vec<f64> = [900.0, 400.0].iter().chain(&noise).map(|v| v * unit).collect();
            assert_eq!(gavish_donoho(&values, 200.0, 52), 2);
        }
        assert_eq!((gavish_donoho(&[], 100.0, 3), gavish_donoho(&[1.0], 1.5, 3)), (0, 0));
    }
}
