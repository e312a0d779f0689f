//! Rows that are sparse combinations of atoms.

use super::check_tables;
use crate::error::{Error, Result};
use crate::num::random::Stream;
use crate::num::{Matrix, factor};

/// Rows `z A + e` and the truth.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SparseCombinations {
    /// `n x p`.
    pub x: Matrix<f64>,
    /// The atoms `A`, `k x p`, rows of unit length.
    pub atoms: Matrix<f64>,
    /// The codes `z`, `n x k`.
    pub codes: Matrix<f64>,
}

/// The Bernoulli-Gaussian model: `n` rows `z A + e` of `k` atoms in `p` columns. A code is 0 with probability `1 - share` and else normal with
/// variance `1 / share`, so that its variance is 1 and its excess kurtosis `3 (1 - share) / share`; `e` is normal with standard deviation
/// `noise` in every column. Atoms are uniformly distributed: orthonormal if `orthogonal`, else independent directions. `O(n p k)`.
///
/// # Errors
///
/// A share that is not between 0 and 1, noise that is negative or not finite, more orthogonal atoms than columns, tables that do not fit in
/// memory.
pub fn bernoulli_gaussian(
    (n, p, k): (usize, usize, usize),
    share: f64,
    noise: f64,
    orthogonal: bool,
    seed: u64,
) -> Result<SparseCombinations> {
    if !(share > 0.0 && share <= 1.0) {
        let why = "must be above 0 and at most 1";
        return Err(Error::setting("share", share, why, "give a number such as 0.2"));
    }
    if !(noise >= 0.0 && noise.is_finite()) {
        let why = "must be finite and non-negative";
        return Err(Error::setting("noise", noise, why, "give a number such as 0.1"));
    }
    if orthogonal && k > p {
        let why = format!("must be at most {p}, the number of columns, for orthogonal atoms");
        return Err(Error::setting("n_components", k, why, "choose a smaller number, or orthogonal=false"));
    }
    check_tables(&[(n, p), (n, k), (k, p)])?;
    let [directions, active, sizes, errors] = [30, 31, 32, 33].map(|stream| Stream::new(seed, stream));
    let mut atoms = Matrix::from_fn(k, p, |i, j| directions.normal((i * p + j) as u64));
    if orthogonal {
        atoms = factor::orthonormal_rows_signed(&atoms);
    } else {
        for i in 0..k {
            let length = atoms.row(i).iter().map(|a| a * a).sum::<f64>().sqrt();
            atoms.row_mut(i).iter_mut().for_each(|a| *a /= length);
        }
    }
    let codes = Matrix::from_fn(n, k, |i, j| {
        let at = (i * k + j) as u64;
        if active.uniform(at) < share { sizes.normal(at) / share.sqrt() } else { 0.0 }
    });
    let mut x = factor::multiply(&codes, &atoms);
    if noise > 0.0 {
        let each = x.as_mut_slice().iter_mut().enumerate();
        each.for_each(|(at, x)| *x += noise * errors.normal(at as u64));
    }
    Ok(SparseCombinations { x, atoms, codes })
}

/// [`bernoulli_gaussian`] with atoms that are independent directions, and non-zero codes of variance 1: rows with known codes, as targets of
/// networks. With the same seed, fewer rows are the first of more.
///
/// # Errors
///
/// A share that is not between 0 and 1, noise that is negative or not finite.
pub fn sparse_codes(
    size: (usize, usize, usize),
    share: f64,
    noise: f64,
    seed: u64,
) -> Result<SparseCombinations> {
    let scale = if share > 0.0 { share.sqrt() } else { 1.0 };
    let mut made = bernoulli_gaussian(size, share, noise / scale, false, seed)?;
    let numbers = made.x.as_mut_slice().iter_mut().chain(made.codes.as_mut_slice());
    numbers.for_each(|x| *x *= scale);
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_stated_share_variance_and_kurtosis() {
        let (share, n, k) = (0.2, 40_000, 3);
        let made = bernoulli_gaussian((n, 5, k), share, 0.0, true, 1).unwrap();
        let of =
            |f: fn(f64) -> f64| made.codes.as_slice().iter().map(|z| f(*z)).sum::<f64>() / (n * k) as f64;
        assert!((of(|z| f64::from(u8::from(z != 0.0))) - share).abs() < 0.005);
        assert!((of(|z| z * z) - 1.0).abs() < 0.03);
        assert!((of(|z| z.powi(4)) - 3.0 / share).abs() < 1.0);
        let gram = factor::multiply_transposed(&made.atoms, &made.atoms);
        assert!((0..k).all(|i| (0..k).all(|j| (gram[(i, j)] - f64::from(u8::from(i == j))).abs() < 1e-14)));
        let again = factor::multiply(&made.codes, &made.atoms);
        assert_eq!(again, made.x);
        let noisy = bernoulli_gaussian((n, 5, k), share, 0.5, true, 1).unwrap();
        let errors = noisy.x.as_slice().iter().zip(made.x.as_slice()).map(|(a, b)| (a - b).powi(2));
        assert!((errors.sum::<f64>() / (n * 5) as f64 - 0.25).abs() < 0.005);
    }

    #[test]
    fn atoms_may_be_more_than_columns_and_have_length_1() {
        let made = bernoulli_gaussian((10, 4, 9), 0.5, 0.0, false, 0).unwrap();
        for i in 0..9 {
            assert!((made.atoms.row(i).iter().map(|a| a * a).sum::<f64>() - 1.0).abs() < 1e-14);
        }
        assert!(bernoulli_gaussian((10, 4, 9), 0.5, 0.0, true, 0).is_err());
        for size in [(1 << 40, 1 << 20, 9), (10, 4, 1 << 50), (usize::MAX, usize::MAX, usize::MAX)] {
            assert!(
                matches!(bernoulli_gaussian(size, 0.5, 0.0, false, 0), Err(Error::Memory { .. })),
                "{size:?}"
            );
        }
        for share in [0.0, -0.1, 1.1, f64::NAN] {
            assert!(bernoulli_gaussian((10, 4, 2), share, 0.0, true, 0).is_err());
        }
    }
}
