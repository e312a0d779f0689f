//! Canonical directions of zero variance, for components beyond the rank of the data.
//!
//! Any basis of the null space would do, so a unique one is defined: the eigenvectors of `diag(0, 1, ..., p-1)` restricted to the
//! null space, in order of ascending eigenvalues. They depend on the row space alone, not on the basis in which a solver represents
//! it.

mod secular;

use super::Matrix;
use super::factor::{self, Cholesky};
use super::top::{SearchOptions, block_size, top_eigenpairs};
use crate::error::{Error, Result};
use crate::machine::check_memory;

/// Maximum number of features for which a basis of the null space is computed explicitly.
const MOST_DENSE_FEATURES: usize = 1024;

/// The first `m` canonical directions (rows) orthogonal to the orthonormal rows of `found`.
///
/// `O(p^3)` up to 1024 features; beyond that `O(p r^2)` for `r` rows of `found`: for few rows and directions some hundred passes over the rows, otherwise
/// a search through the inverse of the restricted matrix.
pub(crate) fn null_directions(found: &Matrix<f64>, m: usize) -> Result<Matrix<f64>> {
    let (r, p) = (found.rows(), found.cols());
    assert!(r + m <= p, "{m} directions orthogonal to {r} do not exist in {p} dimensions");
    if m == 0 {
        return Ok(Matrix::zeros(0, p));
    }
    if let Some(axes) = unused_columns(found, m) {
        return Ok(axes);
    }
    let few = if p > MOST_DENSE_FEATURES { secular::directions(found, m)? } else { None };
    let directions = match p > MOST_DENSE_FEATURES {
        _ if few.is_some() => few,
        true => {
            check_memory(
                &format!("the search for directions without variance in {p} dimensions"),
                inverse_bytes(p, m),
                "choose no more components than the rank",
            )?;
            by_inverse(found, m)?
        }
        false => None,
    };
    let directions = match directions {
        Some(d) => d,
        None => {
            check_memory(
                &format!("a basis of the null space in {p} dimensions"),
                dense_bytes(p),
                "choose no more components than the rank",
            )?;
            dense(found, m)?
        }
    };
    // Removes the components along `found` that are due to rounding in the factorisations.
    let mut clean = directions;
    let part = factor::multiply_transposed(&clean, found);
    factor::subtract_product(&mut clean, &part, found);
    Ok(factor::orthonormal_rows_signed(&clean))
}

/// The unit vectors of columns that are 0 in all rows of `found`, if there are exactly as many as directions are requested: they
/// are the canonical ones.
fn unused_columns(found: &Matrix<f64>, m: usize) -> Option<Matrix<f64>> {
    let (r, p) = (found.rows(), found.cols());
    let mut used = vec![false; p];
    for i in 0..r {
        used.iter_mut().zip(found.row(i)).for_each(|(used, x)| *used |= *x != 0.0);
    }
    let unused: Vec<usize> = (0..p).filter(|&j| !used[j]).collect();
    (unused.len() + r == p).then(|| Matrix::from_fn(m, p, |i, j| f64::from(u8::from(unused[i] == j))))
}

/// Memory in bytes of the search for one direction orthogonal to `r` rows of `p` numbers.
pub(crate) fn memory_for_one(r: usize, p: usize) -> u64 {
    /// Number of vectors of the search through the inverse, as measured.
    const SEARCHED: u64 = 300;
    match p > MOST_DENSE_FEATURES {
        false => dense_bytes(p),
        true if secular::are_few(r, 1) => 0,
        true => (p as u64).saturating_mul(8 * SEARCHED),
    }
}

/// Memory of the basis, its weighted copy, the restricted matrix and its eigenvectors: nearly `p x p` each.
fn dense_bytes(p: usize) -> u64 {
    (p as u64).saturating_mul(p as u64).saturating_mul(8 * 4)
}

/// Memory of the basis of the search, which typically ends at about half of its maximum size.
fn inverse_bytes(p: usize, m: usize) -> u64 {
    (budget(p, m) as u64 / 2).saturating_mul(p as u64).saturating_mul(8)
}

/// Maximum number of vectors of the search.
fn budget(p: usize, m: usize) -> usize {
    (m + 64).saturating_mul(12).min(p)
}

fn dense(found: &Matrix<f64>, m: usize) -> Result<Matrix<f64>> {
    let basis = factor::complement(found);
    let (q, p) = (basis.rows(), basis.cols());
    let weighted = Matrix::from_fn(q, p, |i, j| basis[(i, j)] * j as f64);
    let restricted = factor::multiply_transposed(&weighted, &basis);
    let (_, vectors) = factor::eigh(&restricted)?;
    let smallest = Matrix::from_fn(m, q, |i, j| vectors[(q - 1 - i, j)]);
    Ok(factor::multiply(&smallest, &basis))
}

/// Largest eigenvectors of the inverse: with `E = diag(1, ..., p)` and `S = V E^-1 V'`, the inverse of `E` restricted to
/// the complement of the rows of `V` maps `b` to `E^-1 (b - V' S^-1 V E^-1 b)`, for `b` in that complement.
fn by_inverse(found: &Matrix<f64>, m: usize) -> Result<Option<Matrix<f64>>> {
    let (r, p) = (found.rows(), found.cols());
    let scaled = Matrix::from_fn(r, p, |i, j| found[(i, j)] / (j + 1) as f64);
    let s = factor::multiply_transposed(&scaled, found);
    let solve = Cholesky::new(&s).ok_or(Error::Factorisation { what: "the basis of the null space" })?;
    let project = |b: &mut Matrix<f64>| {
        let part = factor::multiply_transposed(b, found);
        factor::subtract_product(b, &part, found);
    };
    let apply = |b: &Matrix<f64>| {
        let mut b = b.clone();
        project(&mut b);
        let along = solve.solve_rows(&factor::multiply_transposed(&b, &scaled));
        factor::subtract_product(&mut b, &along, found);
        for i in 0..b.rows() {
            b.row_mut(i).iter_mut().enumerate().for_each(|(j, x)| *x /= (j + 1) as f64);
        }
        project(&mut b);
        Ok(b)
    };
    let options =
        SearchOptions { k: m, tol: 0.0, block: block_size(m), max_basis: budget(p, m), impatient: true };
    Ok(top_eigenpairs(apply, p, options)?.map(|found| found.vectors))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;

    fn orthonormal(r: usize, p: usize) -> Matrix<f64> {
        let s = Stream::new(11, 0);
        factor::orthonormal_rows(&Matrix::from_fn(r, p, |i, j| s.normal((i * p + j) as u64)))
    }

    #[test]
    fn both_algorithms_give_the_same_directions() {
        let (r, p, m) = (17, 300, 5);
        let found = orthonormal(r, p);
        let (a, b) = (dense(&found, m).unwrap(), by_inverse(&found, m).unwrap().expect("in budget"));
        for i in 0..m {
            let cosine: f64 = a.row(i).iter().zip(b.row(i)).map(|(x, y)| x * y).sum();
            assert!((cosine.abs() - 1.0).abs() < 1e-10, "direction {i}: cosine {cosine}");
        }
    }

    #[test]
    fn the_secular_equation_gives_the_same_directions() {
        for (r, m) in [(1, 1), (1, 3), (2, 3), (5, 4), (17, 3)] {
            let mut rows = Matrix::from_fn(r, 300, |i, j| Stream::new(5, 1).normal((i * 300 + j) as u64));
            // Eigenvalues near the first entries, and so near that distances from them are lost.
            for small in [1.0, 0.03, 1e-4] {
                (0..r).for_each(|i| rows.row_mut(i)[..3].iter_mut().for_each(|x| *x *= small));
                let found = factor::orthonormal_rows(&rows);
                let (a, b) =
                    (dense(&found, m).unwrap(), secular::directions(&found, m).unwrap().expect("few"));
                for i in 0..m {
                    let cosine: f64 = a.row(i).iter().zip(b.row(i)).map(|(x, y)| x * y).sum();
                    assert!((cosine.abs() - 1.0).abs() < 1e-12, "{r} {m}: direction {i}: cosine {cosine}");
                }
                // Orthogonal to the rows without a projection.
                let along = factor::multiply_transposed(&b, &found);
                assert!(along.as_slice().iter().all(|x| x.abs() < 1e-10), "{r} {m}: {along:?}");
            }
        }
        // An entry that is an eigenvalue, and many rows.
        let mut found = orthonormal(3, 200);
        (0..3).for_each(|i| found.row_mut(i)[0] = 0.0);
        let first = secular::directions(&factor::orthonormal_rows(&found), 1).unwrap().expect("few");
        assert!(
            first
                .row(0)
                .iter()
                .enumerate()
                .all(|(j, x)| (x.abs() - f64::from(u8::from(j == 0))).abs() < 1e-12)
        );
        assert!(secular::directions(&orthonormal(40, 200), 1).unwrap().is_none());
        // Two eigenvalues next to entry 1: 0.1^2 / (0 - 1) + 0.1^2 / (2 - 1) = 0.
        for factor in [1.0, 1.0 + 1e-12, 1.0 + 1e-10] {
            let mut row = vec![0.0; 1100];
            (row[0], row[2]) = (0.1, 0.1 * factor);
            let found = factor::orthonormal_rows(&Matrix::from_vec(1, 1100, row));
            assert!(secular::directions(&found, 3).unwrap().is_none());
            let directions = null_directions(&found, 3).unwrap();
            let along = factor::multiply_transposed(&directions, &found);
            assert!(along.as_slice().iter().all(|x| x.abs() < 1e-9), "{along:?}");
            let products = factor::multiply_transposed(&directions, &directions);
            let is_unit =
                |(i, j): (usize, usize)| (products[(i, j)] - f64::from(u8::from(i == j))).abs() < 1e-9;
            assert!((0..9).all(|at| is_unit((at / 3, at % 3))), "{products:?}");
        }
    }

    #[test]
    fn one_direction_beside_few_rows_needs_no_memory() {
        let found = orthonormal(2, 300_000);
        let direction = null_directions(&found, 1).unwrap();
        let along = factor::multiply_transposed(&direction, &found);
        assert!(along.as_slice().iter().all(|x| x.abs() < 1e-15), "{along:?}");
    }

    #[test]
    fn the_memory_of_one_direction_grows_with_the_columns() {
        // 12 million pixels of three colours: more memory than most machines have.
        assert!(inverse_bytes(36_000_000, 1) > 100_000_000_000);
        assert!(inverse_bytes(50_000, 1) < 200_000_000);
    }

    #[test]
    fn results_do_not_depend_on_the_basis_of_the_row_space() {
        let (r, p) = (6, 40);
        let found = orthonormal(r, p);
        let rotation = orthonormal(r, r);
        let a = null_directions(&found, 8).unwrap();
        let b = null_directions(&factor::multiply(&rotation, &found), 8).unwrap();
        for i in 0..8 {
            let cosine: f64 = a.row(i).iter().zip(b.row(i)).map(|(x, y)| x * y).sum();
            assert!((cosine.abs() - 1.0).abs() < 1e-12, "direction {i}: cosine {cosine}");
        }
    }

    #[test]
    fn without_given_directions_they_are_the_axes() {
        let d = null_directions(&Matrix::zeros(0, 5), 3).unwrap();
        for i in 0..3 {
            for j in 0..5 {
                assert!((d[(i, j)].abs() - f64::from(u8::from(i == j))).abs() < 1e-15);
            }
        }
    }
}
