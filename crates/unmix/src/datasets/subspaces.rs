//! Rows in a union of subspaces.

use super::check_tables;
use crate::error::{Error, Result, there_are};
use crate::num::random::Stream;
use crate::num::{Matrix, factor};

/// Rows near subspaces through 0, and the truth.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UnionOfSubspaces {
    /// `n x p`, in random order.
    pub x: Matrix<f64>,
    /// The subspace of each row, from 0.
    pub labels: Vec<usize>,
    /// Orthonormal rows of each subspace.
    pub bases: Vec<Matrix<f64>>,
}

/// Rows `U_k' z + e` in `p` dimensions: `sizes[k]` of subspace `k`, which is uniformly distributed among those of `dimensions[k]`
/// dimensions; `z` standard normal, `e` normal with standard deviation `noise` in every column. `O(n p d)`.
///
/// # Errors
///
/// Lists of different lengths, a dimension above `p`, noise that is negative or not finite, tables that do not fit in memory.
pub fn union_of_subspaces(
    sizes: &[usize],
    p: usize,
    dimensions: &[usize],
    noise: f64,
    seed: u64,
) -> Result<UnionOfSubspaces> {
    if sizes.len() != dimensions.len() {
        let why = there_are(dimensions.len() as u64, "dimension");
        let found = format!("{} of them", sizes.len());
        return Err(Error::setting("sizes", found, why, "give one size and one dimension for each subspace"));
    }
    if let Some(d) = dimensions.iter().find(|d| **d > p) {
        let why = format!("the number of columns is {p}");
        return Err(Error::setting("dimensions", d, why, format!("give numbers from 0 to {p}")));
    }
    if !(noise >= 0.0 && noise.is_finite()) {
        let why = "must be finite and non-negative";
        return Err(Error::setting("noise", noise, why, "give a number such as 0.1"));
    }
    let total = |all: &[usize]| all.iter().copied().fold(0, usize::saturating_add);
    check_tables(&[(total(sizes), p), (total(dimensions), p), (total(sizes), 1)])?;
    let [directions, codes, errors, places] = [12, 13, 14, 15].map(|stream| Stream::new(seed, stream));
    let (mut at, mut code) = (0, 0);
    let bases = dimensions.iter().map(|&d| {
        let normal = Matrix::from_fn(d, p, |i, j| directions.normal((at + i * p + j) as u64));
        at += d * p;
        factor::orthonormal_rows_signed(&normal)
    });
    let bases: Vec<Matrix<f64>> = bases.collect();
    let mut order: Vec<usize> = sizes.iter().enumerate().flat_map(|(k, n)| vec![k; *n]).collect();
    places.shuffle(0, &mut order);
    let mut x = Matrix::zeros(order.len(), p);
    for (i, &k) in order.iter().enumerate() {
        for basis in (0..bases[k].rows()).map(|c| bases[k].row(c)) {
            let z = codes.normal(code);
            code += 1;
            x.row_mut(i).iter_mut().zip(basis).for_each(|(x, u)| *x += z * u);
        }
    }
    if noise > 0.0 {
        let each = x.as_mut_slice().iter_mut().enumerate();
        each.for_each(|(at, x)| *x += noise * errors.normal(at as u64));
    }
    Ok(UnionOfSubspaces { x, labels: order, bases })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_their_subspaces_and_noise_has_its_size() {
        let sizes = [400, 300, 200];
        let made = union_of_subspaces(&sizes, 12, &[1, 2, 4], 0.1, 3).unwrap();
        let mut squares = 0.0;
        for (i, &k) in made.labels.iter().enumerate() {
            let row = Matrix::from_vec(1, 12, made.x.row(i).to_vec());
            let along = factor::multiply_transposed(&row, &made.bases[k]);
            let near = factor::multiply(&along, &made.bases[k]);
            squares += row.as_slice().iter().zip(near.as_slice()).map(|(x, f)| (x - f).powi(2)).sum::<f64>();
        }
        let degrees: usize = sizes.iter().zip([1, 2, 4]).map(|(n, d)| n * (12 - d)).sum();
        // The standard error of a variance of 9000 numbers is 1.5 %; four of them allowed.
        assert!((squares / degrees as f64 / 0.01 - 1.0).abs() < 0.06);
        let counts = [0, 1, 2].map(|k| made.labels.iter().filter(|l| **l == k).count());
        assert_eq!(counts, sizes);
        assert!(made.labels[..50].contains(&2), "in random order");
        let again = union_of_subspaces(&sizes, 12, &[1, 2, 4], 0.1, 3).unwrap();
        assert!(again.x.as_slice() == made.x.as_slice());
    }

    #[test]
    fn bad_arguments_are_refused() {
        let refused = |sizes: &[usize], dimensions: &[usize], noise| {
            union_of_subspaces(sizes, 3, dimensions, noise, 0).unwrap_err().to_string()
        };
        assert!(refused(&[3], &[1, 2], 0.0).contains("there are 2 dimensions"));
        assert!(refused(&[3], &[4], 0.0).contains("the number of columns is 3"));
        assert!(refused(&[3], &[1], -1.0).contains("non-negative"));
    }
}
