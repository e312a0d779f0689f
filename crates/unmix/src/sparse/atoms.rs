//! A dictionary, prepared for coding rows.

use crate::num::simd::SIMD_WIDTH;
use crate::num::{Matrix, Real, factor, kernel, parallel};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Maximum number of atoms for which the Gram matrix is stored.
const MOST_PAIRS: usize = 4096;

/// Atoms as rows, their norms, and their Gram matrix if it has at most 4096² entries.
#[derive(Clone, Debug)]
pub struct Atoms<T> {
    /// Atoms, `n_atoms x n_features`, in double precision.
    pub(super) wide: Matrix<f64>,
    /// The same in the type of the rows.
    pub(super) narrow: Matrix<T>,
    /// Its transpose, `n_features x n_atoms`.
    pub(super) across: Vec<T>,
    /// The transpose in double precision, where it is needed.
    across_wide: OnceLock<Vec<f64>>,
    /// `||a||²` of each atom, and `1 / ||a||²`: 0 for an atom of zeros and for a duplicate of an earlier atom, whose codes are 0.
    pub(super) square: Vec<T>,
    pub(super) inverse: Vec<T>,
    /// `1 / ||a||`, or 0; padded to the length of a row of `gram`.
    pub(super) inverse_norm: Vec<T>,
    /// Gram matrix, `n_atoms x stride`, padded with zeros.
    pub(super) gram: Option<Vec<T>>,
    /// The same in double precision, for matching pursuit.
    pub(super) gram_wide: Option<Vec<f64>>,
    pub(super) stride: usize,
    /// Every duplicate of an earlier atom, with the first of its copies.
    duplicates: Vec<(usize, usize)>,
    lipschitz: OnceLock<f64>,
}

impl<T: Real> Atoms<T> {
    /// Prepares `atoms`, `n_atoms x n_features`. `O(n_atoms² n_features)`; the Gram matrix is computed in double precision.
    pub fn new(atoms: &Matrix<f64>) -> Self {
        Self::made(atoms, atoms.rows() <= MOST_PAIRS)
    }

    /// Without the Gram matrix, whatever the number of atoms: for a dictionary with which few rows are coded.
    pub fn without_pairs(atoms: &Matrix<f64>) -> Self {
        Self::made(atoms, false)
    }

    fn made(atoms: &Matrix<f64>, pairs: bool) -> Self {
        // Rows are coded with the atoms rounded to their type.
        let narrow: Matrix<T> = atoms.cast();
        let wide: Matrix<f64> = narrow.cast();
        let (m, stride) = (wide.rows(), wide.rows().next_multiple_of(SIMD_WIDTH));
        let squares: Vec<f64> = (0..m).map(|j| wide.row(j).iter().map(|x| x * x).sum::<f64>()).collect();
        let duplicates = duplicates_in(&narrow);
        let mut duplicate = vec![false; m];
        duplicates.iter().for_each(|&(j, _)| duplicate[j] = true);
        let each = |f: fn(f64) -> f64| -> Vec<T> {
            let of = |(s, duplicate): (&f64, &bool)| match *s >= T::DTYPE.least() && !duplicate {
                true => T::from_f64(f(*s)),
                false => T::default(),
            };
            squares.iter().zip(&duplicate).map(of).collect()
        };
        let mut inverse_norm = each(|s| 1.0 / s.sqrt());
        inverse_norm.resize(stride, T::default());
        let gram_wide = pairs.then(|| {
            let all = factor::multiply_transposed(&wide, &wide);
            let mut out = vec![0.0; m * stride];
            (0..m).for_each(|j| out[j * stride..j * stride + m].copy_from_slice(all.row(j)));
            out
        });
        Self {
            across: narrow.transposed().into_vec(),
            across_wide: OnceLock::new(),
            square: each(|s| s),
            inverse: each(|s| 1.0 / s),
            inverse_norm,
            gram: gram_wide.as_ref().map(|g| g.iter().map(|x| T::from_f64(*x)).collect()),
            gram_wide,
            stride,
            duplicates,
            lipschitz: OnceLock::new(),
            narrow,
            wide,
        }
    }

    /// The dictionary restricted to some columns: the observed cells of a row. Without the Gram matrix.
    pub fn restricted(&self, columns: &[usize]) -> Self {
        let wide = &self.wide;
        Self::without_pairs(&Matrix::from_fn(wide.rows(), columns.len(), |j, c| wide[(j, columns[c])]))
    }

    /// Inner products of atom `j` with all atoms in double precision, padded with zeros.
    pub(super) fn gram_row(&self, j: usize) -> Cow<'_, [f64]> {
        if let Some(gram) = &self.gram_wide {
            return gram[j * self.stride..(j + 1) * self.stride].into();
        }
        let mut out = vec![0.0; self.stride];
        kernel::product(&mut out, self.wide.row(j), self.across_wide(), 1, self.n_features(), self.n_atoms());
        out.into()
    }

    /// The transpose in double precision, `n_features x n_atoms`.
    pub(super) fn across_wide(&self) -> &[f64] {
        self.across_wide.get_or_init(|| self.wide.transposed().into_vec())
    }

    /// Inner product of two atoms, in double precision.
    #[inline(always)]
    pub(super) fn pair(&self, i: usize, j: usize) -> f64 {
        match &self.gram_wide {
            Some(gram) => gram[j * self.stride + i],
            None => self.wide.row(i).iter().zip(self.wide.row(j)).map(|(a, b)| a * b).sum(),
        }
    }

    /// Inner products of atom `j` with all atoms in the type of the rows, padded with zeros.
    pub(super) fn gram_row_of(&self, j: usize) -> Cow<'_, [T]> {
        if let Some(gram) = &self.gram {
            return gram[j * self.stride..(j + 1) * self.stride].into();
        }
        let mut out = vec![T::default(); self.stride];
        kernel::product(&mut out, self.narrow.row(j), &self.across, 1, self.n_features(), self.n_atoms());
        out.into()
    }

    /// An upper bound on the largest eigenvalue of `A A'`: exact up to rounding if a dimension is at most 512, else the Frobenius norm of
    /// `A' A` or `A A'`.
    pub fn lipschitz(&self) -> f64 {
        const SMALL_SIZE: usize = 512;
        *parallel::made_once(&self.lipschitz, || {
            let wide = &self.wide;
            let gram = match wide.rows() <= wide.cols() {
                true => factor::multiply_transposed(wide, wide),
                false => {
                    let across = wide.transposed();
                    factor::multiply_transposed(&across, &across)
                }
            };
            let frobenius = kernel::sum_of_squares(gram.as_slice()).sqrt();
            let exact = if gram.rows() <= SMALL_SIZE { factor::eigenvalues(&gram).ok() } else { None };
            let largest = exact.and_then(|values| values.into_iter().reduce(f64::max));
            largest.map_or(frobenius, |l| l * (1.0 + 1e-12))
        })
    }

    /// Number of atoms.
    pub fn n_atoms(&self) -> usize {
        self.wide.rows()
    }

    /// Number of columns.
    pub fn n_features(&self) -> usize {
        self.wide.cols()
    }

    /// The atoms, rounded to type `T`, in double precision, `n_atoms x n_features`.
    pub fn matrix(&self) -> &Matrix<f64> {
        &self.wide
    }

    /// Number of zero atoms.
    pub fn n_zero(&self) -> usize {
        (0..self.n_atoms()).filter(|&j| self.wide.row(j).iter().all(|x| *x == 0.0)).count()
    }

    /// Whether each atom is zero, or a duplicate of an earlier one: its code is 0.
    pub(crate) fn unused(&self) -> Vec<bool> {
        self.inverse.iter().map(|inverse| *inverse == T::default()).collect()
    }

    /// Adds the codes of duplicates to those of their first copies: the product with the atoms stays the same.
    pub(super) fn move_to_first_copies(&self, code: &mut [T]) {
        for &(j, first) in &self.duplicates {
            let z = std::mem::take(&mut code[j]);
            code[first] += z;
        }
    }

    /// Number of duplicates of earlier atoms: their codes are 0.
    pub fn n_duplicates(&self) -> usize {
        self.duplicates.len()
    }
}

/// The atoms that are duplicates of an earlier one and not zero, each with the first of its copies.
fn duplicates_in<T: Real>(atoms: &Matrix<T>) -> Vec<(usize, usize)> {
    let mut first = HashMap::new();
    let bits = |j: usize| atoms.row(j).iter().map(|x| (x.to_f64() + 0.0).to_bits()).collect::<Vec<u64>>();
    (0..atoms.rows())
        .filter(|&j| atoms.row(j).iter().any(|x| *x != T::default()))
        .map(|j| (j, *first.entry(bits(j)).or_insert(j)))
        .filter(|(j, first)| j != first)
        .collect()
}
