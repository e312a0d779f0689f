//! Factorisations in double precision. Failures of the linear-algebra library are returned as errors.
//!
//! Their bits depend on the *nominal* parallelism that they are called with, not on the number of threads that actually run; so it
//! is a function of the size of the matrix alone (`nominally`).

use super::threads::on_current_pool;
use super::{Matrix, polar, tridiagonal};
use crate::error::{Error, Result};
use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve;
use faer::linalg::{cholesky::llt, evd, householder, qr::no_pivoting::factor as qr, svd};
use faer::{Accum, Conj, Mat, MatMut, MatRef, Par};

/// Eigenvalues or singular values in descending order, and their vectors as the rows of a matrix.
pub type Spectrum = (Vec<f64>, Matrix<f64>);

/// Runs a factorisation of size `n` with the nominal parallelism of this size, whatever the threads of the caller.
fn nominally<R: Send>(n: usize, work: impl FnOnce(Par) -> R + Send) -> R {
    match n < 192 {
        true => work(Par::Seq),
        false => on_current_pool(|| work(Par::rayon(4))),
    }
}

/// All eigenvalues (descending) and eigenvectors (rows) of a symmetric matrix, of which the lower triangle is read.
///
/// `O(n^3)`, about nine times the operations of a matrix product.
///
/// # Errors
///
/// [`Error::Factorisation`] if the iteration does not converge, as with numbers that are not finite.
pub fn eigh(a: &Matrix<f64>) -> Result<Spectrum> {
    let n = a.rows();
    if n <= tridiagonal::SMALL_SIZE {
        return small_eigh(a);
    }
    let lower = Mat::from_fn(n, n, |i, j| if i >= j { a[(i, j)] } else { 0.0 });
    let mut values = vec![0.0; n];
    let mut vectors = Mat::<f64>::zeros(n, n);
    nominally(n, |par| {
        let params = Default::default();
        let need = evd::self_adjoint_evd_scratch::<f64>(n, evd::ComputeEigenvectors::Yes, par, params);
        let mut buffer = MemBuffer::new(need);
        let (values, vectors) = (DiagMut::from_slice_mut(&mut values), Some(vectors.as_mut()));
        evd::self_adjoint_evd(lower.as_ref(), values, vectors, par, MemStack::new(&mut buffer), params)
    })
    .map_err(|_| Error::Factorisation { what: "the symmetric eigendecomposition" })?;
    values.reverse();
    check(&values, "the symmetric eigendecomposition")?;
    Ok((values, Matrix::from_fn(n, n, |i, j| vectors[(j, n - 1 - i)])))
}

/// [`eigh`] by this crate's own loops, which are faster for matrices that fit in cache.
fn small_eigh(a: &Matrix<f64>) -> Result<Spectrum> {
    let n = a.rows();
    let mut full = vec![0.0; n * n];
    for i in 0..n {
        for (j, &x) in a.row(i)[..=i].iter().enumerate() {
            (full[i * n + j], full[j * n + i]) = (x, x);
        }
    }
    let what = "the symmetric eigendecomposition";
    let (mut values, vectors) = tridiagonal::eigh(&mut full, n).ok_or(Error::Factorisation { what })?;
    values.reverse();
    check(&values, what)?;
    let mut descending = Vec::with_capacity(n * n);
    (0..n).rev().for_each(|i| descending.extend_from_slice(&vectors[i * n..(i + 1) * n]));
    Ok((values, Matrix::from_vec(n, n, descending)))
}

/// All eigenvalues (descending) of a symmetric matrix, of which the lower triangle is read: about a sixth of the work of
/// [`eigh`].
///
/// # Errors
///
/// [`Error::Factorisation`] if the iteration does not converge, as with numbers that are not finite.
pub fn eigenvalues(a: &Matrix<f64>) -> Result<Vec<f64>> {
    let n = a.rows();
    let lower = Mat::from_fn(n, n, |i, j| if i >= j { a[(i, j)] } else { 0.0 });
    let mut values = vec![0.0; n];
    nominally(n, |par| {
        let params = Default::default();
        let need = evd::self_adjoint_evd_scratch::<f64>(n, evd::ComputeEigenvectors::No, par, params);
        let mut buffer = MemBuffer::new(need);
        let diagonal = DiagMut::from_slice_mut(&mut values);
        evd::self_adjoint_evd(lower.as_ref(), diagonal, None, par, MemStack::new(&mut buffer), params)
    })
    .map_err(|_| Error::Factorisation { what: "the symmetric eigendecomposition" })?;
    values.reverse();
    check(&values, "the symmetric eigendecomposition")?;
    Ok(values)
}

/// All singular values (descending) and the right singular vectors (rows) of a matrix with at least as many rows as
/// columns. `O(n p^2)`.
///
/// # Errors
///
/// [`Error::Factorisation`] if the iteration does not converge, as with numbers that are not finite.
pub fn svd_right(a: &Matrix<f64>) -> Result<Spectrum> {
    let (n, p) = (a.rows(), a.cols());
    assert!(n >= p, "the right singular vectors of a {n} x {p} matrix are taken through its transpose");
    let a = Mat::from_fn(n, p, |i, j| a[(i, j)]);
    let mut values = vec![0.0; p];
    let mut right = Mat::<f64>::zeros(p, p);
    nominally(p, |par| {
        let params = Default::default();
        let (no, thin) = (svd::ComputeSvdVectors::No, svd::ComputeSvdVectors::Thin);
        let mut buffer = MemBuffer::new(svd::svd_scratch::<f64>(n, p, no, thin, par, params));
        let (values, right) = (DiagMut::from_slice_mut(&mut values), Some(right.as_mut()));
        svd::svd(a.as_ref(), values, None, right, par, MemStack::new(&mut buffer), params)
    })
    .map_err(|_| Error::Factorisation { what: "the singular value decomposition" })?;
    check(&values, "the singular value decomposition")?;
    Ok((values, Matrix::from_fn(p, p, |i, j| right[(j, i)])))
}

/// The orthonormal rows nearest to those of `a` in the Frobenius norm: the polar factor `(a a')^(-1/2) a`.
///
/// Computed from a triangular factor, which has the same condition number, and its polar factor. The null directions of a
/// rank-deficient `a` are completed by an orthonormal basis of the complement.
///
/// # Errors
///
/// Numbers that are not finite.
pub fn polar_rows(a: &Matrix<f64>) -> Result<Matrix<f64>> {
    let (q, triangle) = orthonormal_rows_and_triangle(a);
    Ok(multiply(&polar_square(&triangle)?, &q))
}

/// The orthogonal matrix nearest to a square one, `U V'` of `a = U S V'`: by Newton's iteration, or by singular values if the matrix is
/// large or nearly singular. The null directions of a singular `a` are completed by an orthonormal basis of the complement.
///
/// # Errors
///
/// Numbers that are not finite.
pub(crate) fn polar_square(a: &Matrix<f64>) -> Result<Matrix<f64>> {
    let k = a.rows();
    assert_eq!(k, a.cols(), "a square matrix");
    if let Some(rotation) = polar::newton(a) {
        return Ok(rotation);
    }
    let mut values = vec![0.0; k];
    let (mut left, mut right) = (Mat::<f64>::zeros(k, k), Mat::<f64>::zeros(k, k));
    nominally(k, |par| {
        let params = Default::default();
        let full = svd::ComputeSvdVectors::Full;
        let mut buffer = MemBuffer::new(svd::svd_scratch::<f64>(k, k, full, full, par, params));
        let stack = MemStack::new(&mut buffer);
        let values = DiagMut::from_slice_mut(&mut values);
        svd::svd(a.faer(), values, Some(left.as_mut()), Some(right.as_mut()), par, stack, params)
    })
    .map_err(|_| Error::Factorisation { what: "the singular value decomposition" })?;
    check(&values, "the singular value decomposition")?;
    let mut rotation = Matrix::zeros(k, k);
    product(&mut rotation, Accum::Replace, left.as_ref(), right.transpose(), 1.0);
    Ok(rotation)
}

/// The factor `R` of a QR factorisation: `min(n, p) x p`, zeros below the diagonal. Runs on the calling thread, because sweeps call
/// it.
pub fn qr_triangle(a: &Matrix<f64>) -> Matrix<f64> {
    let (n, p) = (a.rows(), a.cols());
    let (factored, _) = householder(a.faer(), Par::Seq);
    Matrix::from_fn(n.min(p), p, |i, j| if i <= j { factored[(i, j)] } else { 0.0 })
}

/// Gram-Schmidt orthonormalisation of the rows: rows `0..=i` of the result span the same space as rows `0..=i` of `a`.
pub fn orthonormal_rows(a: &Matrix<f64>) -> Matrix<f64> {
    orthonormal_rows_and_triangle(a).0
}

/// As [`orthonormal_rows`], and the lower triangle `L` with `a = L q`.
pub fn orthonormal_rows_and_triangle(a: &Matrix<f64>) -> (Matrix<f64>, Matrix<f64>) {
    let (k, p) = (a.rows(), a.cols());
    assert!(k <= p, "{k} rows of length {p} cannot be orthonormal");
    let mut q = Mat::<f64>::identity(p, k);
    let factored = nominally(k, |par| {
        let (factored, coefficients) = householder(a.faer().transpose(), par);
        apply_householder(&factored, &coefficients, q.as_mut(), par);
        factored
    });
    let triangle = Matrix::from_fn(k, k, |i, j| if j <= i { factored[(j, i)] } else { 0.0 });
    (Matrix::from_fn(k, p, |i, j| q[(j, i)]), triangle)
}

/// As [`orthonormal_rows`], for rows that are nearly orthonormal already: signs are kept, which the factorisation may change.
pub fn orthonormal_rows_signed(a: &Matrix<f64>) -> Matrix<f64> {
    let (mut q, triangle) = orthonormal_rows_and_triangle(a);
    for i in 0..q.rows() {
        if triangle[(i, i)] < 0.0 {
            q.row_mut(i).iter_mut().for_each(|x| *x = -*x);
        }
    }
    q
}

/// An orthonormal basis (rows) of the orthogonal complement of the orthonormal rows of `a`. `O(p^2 k)`, `p x p` numbers.
pub fn complement(a: &Matrix<f64>) -> Matrix<f64> {
    let (k, p) = (a.rows(), a.cols());
    if k == 0 {
        return Matrix::from_fn(p, p, |i, j| f64::from(u8::from(i == j)));
    }
    let mut q = Mat::<f64>::from_fn(p, p - k, |i, j| f64::from(u8::from(i == j + k)));
    nominally(p, |par| {
        let (factored, coefficients) = householder(a.faer().transpose(), par);
        apply_householder(&factored, &coefficients, q.as_mut(), par);
    });
    Matrix::from_fn(p - k, p, |i, j| q[(j, i)])
}

fn householder(a: MatRef<'_, f64>, par: Par) -> (Mat<f64>, Mat<f64>) {
    let (n, p) = a.shape();
    let mut factored = a.to_owned();
    let size = n.min(p);
    let block = qr::recommended_block_size::<f64>(n, p);
    let mut coefficients = Mat::zeros(block, size);
    let mut buffer = MemBuffer::new(qr::qr_in_place_scratch::<f64>(n, p, block, par, Default::default()));
    qr::qr_in_place(
        factored.as_mut(),
        coefficients.as_mut(),
        par,
        MemStack::new(&mut buffer),
        Default::default(),
    );
    (factored, coefficients)
}

fn apply_householder(factored: &Mat<f64>, coefficients: &Mat<f64>, mut to: MatMut<'_, f64>, par: Par) {
    let (p, block) = (factored.nrows(), coefficients.nrows());
    let need = householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(
        p,
        block,
        to.ncols(),
    );
    let mut buffer = MemBuffer::new(need);
    householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
        factored.as_ref().subcols(0, coefficients.ncols()),
        coefficients.as_ref(),
        Conj::No,
        to.as_mut(),
        par,
        MemStack::new(&mut buffer),
    );
}

/// The Cholesky factor of a symmetric positive definite matrix, for solving linear systems.
#[derive(Clone, Debug)]
pub struct Cholesky(Mat<f64>);

impl Cholesky {
    /// Factors `a`, of which the lower triangle is read; `None` if it is not positive definite.
    pub fn new(a: &Matrix<f64>) -> Option<Self> {
        let n = a.rows();
        let mut l = Mat::from_fn(n, n, |i, j| if i >= j { a[(i, j)] } else { 0.0 });
        nominally(n, |par| {
            let params = Default::default();
            let mut buffer = MemBuffer::new(llt::factor::cholesky_in_place_scratch::<f64>(n, par, params));
            llt::factor::cholesky_in_place(
                l.as_mut(),
                Default::default(),
                par,
                MemStack::new(&mut buffer),
                params,
            )
        })
        .ok()?;
        Some(Self(l))
    }

    /// `log |a|`.
    pub fn log_determinant(&self) -> f64 {
        2.0 * (0..self.0.nrows()).map(|i| self.0[(i, i)].ln()).sum::<f64>()
    }

    /// Solves `a x' = b'` for every row of `b`.
    pub fn solve_rows(&self, b: &Matrix<f64>) -> Matrix<f64> {
        let mut x = b.clone();
        nominally(b.cols(), |par| {
            let need = llt::solve::solve_in_place_scratch::<f64>(self.0.nrows(), b.rows(), par);
            let mut buffer = MemBuffer::new(need);
            let stack = MemStack::new(&mut buffer);
            llt::solve::solve_in_place(self.0.as_ref(), x.faer_mut().transpose_mut(), par, stack);
        });
        x
    }
}

impl Cholesky {
    /// Replaces every row `b_i` of `b` by `L⁻¹ b_i'`, the first half of [`solve_rows`](Self::solve_rows). Inner products of such rows are
    /// `b_i S⁻¹ b_j'`, where `S` is the factored matrix.
    pub(crate) fn half_solve_rows(&self, b: &mut Matrix<f64>) {
        nominally(b.cols(), |par| {
            let rows = b.faer_mut().transpose_mut();
            triangular_solve::solve_lower_triangular_in_place(self.0.as_ref(), rows, par);
        });
    }

    /// Replaces every row `b_i` of `b` by `L'⁻¹ b_i'`, the second half of [`solve_rows`](Self::solve_rows).
    pub(crate) fn finish_rows(&self, b: &mut Matrix<f64>) {
        nominally(b.cols(), |par| {
            let rows = b.faer_mut().transpose_mut();
            triangular_solve::solve_upper_triangular_in_place(self.0.transpose(), rows, par);
        });
    }

    /// `a L`: the squared norms of its rows are `a_i S a_i'`, where `S` is the factored matrix.
    pub(crate) fn times(&self, a: &Matrix<f64>) -> Matrix<f64> {
        let mut out = Matrix::zeros(a.rows(), a.cols());
        nominally(a.rows().max(a.cols()), |par| {
            triangular::matmul(
                out.faer_mut(),
                BlockStructure::Rectangular,
                Accum::Replace,
                a.faer(),
                BlockStructure::Rectangular,
                self.0.as_ref(),
                BlockStructure::TriangularLower,
                1.0,
                par,
            );
        });
        out
    }

    /// The inverse of the factored matrix, exactly symmetric.
    pub(crate) fn inverse(&self) -> Matrix<f64> {
        let n = self.0.nrows();
        let mut out = Matrix::zeros(n, n);
        nominally(n, |par| {
            let mut buffer = MemBuffer::new(llt::inverse::inverse_scratch::<f64>(n, par));
            llt::inverse::inverse(out.faer_mut(), self.0.as_ref(), par, MemStack::new(&mut buffer));
        });
        mirror(&mut out);
        out
    }
}

/// Copies the lower triangle onto the upper one.
pub(crate) fn mirror(a: &mut Matrix<f64>) {
    /// Side length of square tiles: the parts of both triangles fit in the first-level cache.
    const TILE_SIDE: usize = 32;
    let n = a.rows();
    for first in (0..n).step_by(TILE_SIDE) {
        for left in (0..=first).step_by(TILE_SIDE) {
            for i in first..n.min(first + TILE_SIDE) {
                for j in left..i.min(left + TILE_SIDE) {
                    a[(j, i)] = a[(i, j)];
                }
            }
        }
    }
}

/// `a b`, which is known to be symmetric: the lower triangle is computed and mirrored. Half of the operations of [`multiply`].
pub(crate) fn multiply_symmetric(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    let mut out = Matrix::zeros(a.rows(), b.cols());
    symmetric(&mut out, a.faer(), b.faer());
    out
}

/// `a a'`.
pub(crate) fn products_of_rows(a: &Matrix<f64>) -> Matrix<f64> {
    let mut out = Matrix::zeros(a.rows(), a.rows());
    symmetric(&mut out, a.faer(), a.faer().transpose());
    out
}

fn symmetric(out: &mut Matrix<f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    let inner = a.ncols();
    nominally(out.rows().max(inner), |par| {
        let (mut at, mut beta) = (0, Accum::Replace);
        loop {
            let terms = TERMS_PER_PRODUCT.min(inner - at);
            let (a, b) = (a.subcols(at, terms), b.subrows(at, terms));
            let whole = BlockStructure::Rectangular;
            let lower = BlockStructure::TriangularLower;
            triangular::matmul(out.faer_mut(), lower, beta, a, whole, b, whole, 1.0, par);
            (at, beta) = (at + terms, Accum::Add);
            if at == inner {
                break;
            }
        }
    });
    mirror(out);
}

/// `a b`.
pub fn multiply(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    let mut out = Matrix::zeros(a.rows(), b.cols());
    product(&mut out, Accum::Replace, a.faer(), b.faer(), 1.0);
    out
}

/// `a b'`.
pub fn multiply_transposed(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    let mut out = Matrix::zeros(a.rows(), b.rows());
    product(&mut out, Accum::Replace, a.faer(), b.faer().transpose(), 1.0);
    out
}

/// `out -= a b`.
pub(crate) fn subtract_product(out: &mut Matrix<f64>, a: &Matrix<f64>, b: &Matrix<f64>) {
    product(out, Accum::Add, a.faer(), b.faer(), -1.0);
}

/// Number of terms of a sum in one call of the library's product: with tens of thousands of terms, shared between threads, it is
/// slower than in panels.
const TERMS_PER_PRODUCT: usize = 1024;

fn product(out: &mut Matrix<f64>, beta: Accum, a: MatRef<'_, f64>, b: MatRef<'_, f64>, alpha: f64) {
    let inner = a.ncols();
    let size = a.nrows().max(inner).max(b.ncols());
    nominally(size, |par| {
        let (mut at, mut beta) = (0, beta);
        loop {
            let terms = TERMS_PER_PRODUCT.min(inner - at);
            matmul(out.faer_mut(), beta, a.subcols(at, terms), b.subrows(at, terms), alpha, par);
            (at, beta) = (at + terms, Accum::Add);
            if at == inner {
                return;
            }
        }
    });
}

fn check(values: &[f64], what: &'static str) -> Result<()> {
    if values.iter().all(|v| v.is_finite()) { Ok(()) } else { Err(Error::Factorisation { what }) }
}
