//! Rows of the Gaussian that probabilistic PCA assumes.

use super::check_tables;
use crate::error::{Error, Result, there_are};
use crate::num::random::Stream;
use crate::num::{Matrix, factor};

/// Rows of a Gaussian with given variances along orthonormal axes and the noise variance in all other directions, and the parameters.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PpcaSample {
    /// `n x p`.
    pub x: Matrix<f64>,
    /// `k x p`, orthonormal rows, as many as there are variances and in their order.
    pub axes: Matrix<f64>,
    /// `n x k`: the latent normal numbers, of variance 1.
    pub latent: Matrix<f64>,
    /// `p`.
    pub mean: Vec<f64>,
}

/// `n` rows of `x = mean + W z + e` (Tipping & Bishop 1999, eq. 2) in `p` dimensions: `z` and `e` Gaussian, `e` of variance
/// `noise_variance`, and the columns of `W` the axes times `sqrt(variance - noise_variance)`, so that the covariance has the
/// eigenvalues `variances` and otherwise `noise_variance`. Equal variances make ties; without noise the rows lie in a subspace.
///
/// Axes are uniformly distributed, the mean is standard normal. `O(n p k)`.
///
/// # Errors
///
/// More variances than dimensions; a variance below that of the noise, or one that is not finite and non-negative; tables that do not fit in
/// memory.
pub fn ppca(n: usize, p: usize, variances: &[f64], noise_variance: f64, seed: u64) -> Result<PpcaSample> {
    let k = variances.len();
    if k > p {
        let why = there_are(p as u64, "dimension");
        return Err(Error::setting("variances", format!("{k} of them"), why, format!("give at most {p}")));
    }
    if !(noise_variance >= 0.0 && noise_variance.is_finite()) {
        let why = "must be finite and non-negative";
        return Err(Error::setting("noise_variance", noise_variance, why, "give a number such as 0.25"));
    }
    if let Some(v) = variances.iter().find(|v| !(**v >= noise_variance && v.is_finite())) {
        let why = format!("must be finite and at least noise_variance, {noise_variance}");
        return Err(Error::setting(
            "variances",
            v,
            why,
            "give larger variances, or a smaller noise_variance",
        ));
    }
    check_tables(&[(n, p), (n, k), (k, p), (k, p)])?;
    let [directions, means, codes, errors] = [0, 1, 2, 3].map(|part| Stream::new(seed, part));
    // The QR factor Q of a matrix of normal numbers is uniformly distributed if the diagonal of R is positive.
    let axes =
        factor::orthonormal_rows_signed(&Matrix::from_fn(k, p, |i, j| directions.normal((i * p + j) as u64)));
    let mean: Vec<f64> = (0..p).map(|j| means.normal(j as u64)).collect();
    let latent = Matrix::from_fn(n, k, |i, c| codes.normal((i * k + c) as u64));
    let loadings = Matrix::from_fn(k, p, |c, j| (variances[c] - noise_variance).sqrt() * axes[(c, j)]);
    let mut x = factor::multiply(&latent, &loadings);
    for (i, value) in x.as_mut_slice().iter_mut().enumerate() {
        *value += mean[i % p] + noise_variance.sqrt() * errors.normal(i as u64);
    }
    Ok(PpcaSample { x, axes, latent, mean })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_covariance_has_the_stated_eigenvalues() {
        let (n, p, variances, noise) = (40_000, 6, [9.0, 4.0, 4.0], 0.5);
        let made = ppca(n, p, &variances, noise, 1).unwrap();
        let mut centred = made.x.clone();
        for i in 0..n {
            centred.row_mut(i).iter_mut().zip(&made.mean).for_each(|(x, m)| *x -= m);
        }
        let covariance = factor::multiply(&centred.transposed(), &centred);
        let projector = |i: usize, j: usize, c: usize| made.axes[(c, i)] * made.axes[(c, j)];
        for i in 0..p {
            for j in 0..p {
                let along: f64 = (0..3).map(|c| (variances[c] - noise) * projector(i, j, c)).sum();
                let want = along + if i == j { noise } else { 0.0 };
                // The standard error of a product of two of the largest, 9 sqrt(2 / n), four times.
                assert!((covariance[(i, j)] / n as f64 - want).abs() < 0.26, "{i}, {j}");
            }
        }
        let again = ppca(n, p, &variances, noise, 1).unwrap();
        assert!(again.x.as_slice() == made.x.as_slice());
        assert!(ppca(9, p, &variances, noise, 2).unwrap().x[(0, 0)] != made.x[(0, 0)]);
    }

    #[test]
    fn bad_variances_are_refused() {
        let refused = |p, variances: &[f64], noise| ppca(5, p, variances, noise, 0).unwrap_err().to_string();
        assert!(refused(2, &[3.0, 2.0, 1.0], 0.1).contains("there are 2 dimensions"));
        assert!(
            refused(4, &[3.0, 0.05], 0.1)
                .contains("variances must be finite and at least noise_variance, 0.1, got 0.05")
        );
        assert!(refused(4, &[f64::NAN], 0.1).contains("NaN"));
        assert!(refused(4, &[3.0], -1.0).contains("noise_variance must be finite and non-negative, got -1"));
        let large = ppca(usize::MAX / 16, 1 << 20, &[], 1.0, 0).unwrap_err();
        assert!(matches!(large, Error::Memory { .. }), "{large}");
        assert_eq!(ppca(3, 4, &[], 0.0, 0).unwrap().x.row(2), ppca(3, 4, &[], 0.0, 0).unwrap().mean);
    }
}
