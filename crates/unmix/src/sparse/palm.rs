//! Steps of proximal gradient descent on all codes, and of projected gradient descent on all atoms, each with the inverse Lipschitz
//! constant as its step length, so that the objective cannot increase.
//!
//! ```text
//! Z <- S_{t alpha}(Z - t (Z A - X) A'),      t = 1 / ||A||²
//! A <- project(A - s (H A - Q)),             s = 1 / ||H||,    H = Z'Z,  Q = Z'X
//! P = 1/2 (||X||² - 2 <Q, A> + <H A, A>) + alpha ||Z||_1
//! ```
//!
//! Rows are cut into chunks of a fixed length, whose sums are added in order, so that the bits do not depend on the number of
//! threads.

use super::constraint::AtomSet;
use crate::error::Result;
use crate::num::parallel;
use crate::num::{Matrix, Real, factor, kernel};

/// Rows of a chunk.
const ROWS_PER_CHUNK: usize = 256;
/// Chunks whose sums are held at a time.
const CHUNKS_HELD: usize = 8;
/// Codes with a larger fraction of non-zero entries are multiplied as a dense matrix.
const DENSE_SHARE: f64 = 0.15;
/// Factor that makes a computed norm an upper bound.
const NORM_MARGIN: f64 = 1.0 + 1e-10;

/// Rows held in memory, and the penalty.
pub(crate) struct Problem<T> {
    /// `n x p`.
    pub(crate) x: Vec<T>,
    pub(crate) p: usize,
    /// `||X||²`.
    pub(crate) square: f64,
    pub(crate) alpha: f64,
    pub(crate) positive: bool,
}

/// Sums over codes.
pub(crate) struct Sums {
    /// `Z'Z`, `m x m`.
    pub(crate) codes: Matrix<f64>,
    /// `Z'X`, `m x p`.
    pub(crate) rows: Matrix<f64>,
    /// `||Z||_1`.
    pub(crate) size: f64,
    /// Number of codes that use each atom, and the sum of their absolute values.
    pub(crate) used: Vec<u64>,
    pub(crate) sizes: Vec<f64>,
}

impl Sums {
    fn zero(m: usize, p: usize) -> Self {
        let (codes, rows) = (Matrix::zeros(m, m), Matrix::zeros(m, p));
        Self { codes, rows, size: 0.0, used: vec![0; m], sizes: vec![0.0; m] }
    }

    fn merge(&mut self, other: &Self) {
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(t, f)| *t += f);
        add(self.codes.as_mut_slice(), other.codes.as_slice());
        add(self.rows.as_mut_slice(), other.rows.as_slice());
        add(&mut self.sizes, &other.sizes);
        self.used.iter_mut().zip(&other.used).for_each(|(t, f)| *t += f);
        self.size += other.size;
    }
}

/// An upper bound on the largest eigenvalue of `A A'`; for a zero matrix the smallest positive number.
pub(crate) fn square_norm(a: &Matrix<f64>) -> Result<f64> {
    let small = match a.rows() <= a.cols() {
        true => factor::multiply_transposed(a, a),
        false => {
            let transposed = a.transposed();
            factor::multiply_transposed(&transposed, &transposed)
        }
    };
    largest_eigenvalue(&small)
}

/// The same for a symmetric positive semidefinite matrix.
pub(crate) fn largest_eigenvalue(a: &Matrix<f64>) -> Result<f64> {
    let most = factor::eigenvalues(a)?.into_iter().fold(0.0f64, f64::max);
    Ok((most * NORM_MARGIN).max(f64::MIN_POSITIVE))
}

/// Atoms, prepared for steps on codes.
pub(crate) struct PreparedAtoms<T> {
    /// Atoms, `m x p`, their transpose, and their Gram matrix if it has fewer columns than twice those of the atoms.
    atoms: Matrix<T>,
    across: Matrix<T>,
    gram: Option<Matrix<T>>,
    /// Step length.
    pub(crate) step: f64,
}

impl<T: Real> PreparedAtoms<T> {
    pub(crate) fn new(atoms: &Matrix<f64>) -> Result<Self> {
        let gram =
            (atoms.rows() <= 2 * atoms.cols()).then(|| factor::multiply_transposed(atoms, atoms).cast());
        Ok(Self {
            step: 1.0 / square_norm(atoms)?,
            atoms: atoms.cast(),
            across: atoms.transposed().cast(),
            gram,
        })
    }

    /// With a known step length; without the Gram matrix.
    pub(crate) fn with_step(atoms: &Matrix<f64>, step: f64) -> Self {
        Self { step, atoms: atoms.cast(), across: atoms.transposed().cast(), gram: None }
    }

    /// `steps` on the codes `z` of the rows `x` of one chunk; the first starts at `from` if that is given.
    pub(crate) fn descend(
        &self,
        x: &[T],
        z: &mut [T],
        from: Option<&[T]>,
        (alpha, positive): (f64, bool),
        steps: u64,
    ) {
        let (m, p) = (self.atoms.rows(), self.atoms.cols());
        let n = x.len() / p;
        let t = T::from_f64(self.step);
        let threshold = T::from_f64(self.step * alpha);
        let mut products = vec![T::default(); n * m];
        if self.gram.is_some() {
            kernel::product(&mut products, x, self.across.as_slice(), n, p, m);
        }
        let (mut gradient, mut rest) = (vec![T::default(); n * m], vec![T::default(); n * p]);
        for step in 0..steps {
            let at = from.filter(|_| step == 0);
            match &self.gram {
                Some(gram) => {
                    kernel::product(&mut gradient, at.unwrap_or(z), gram.as_slice(), n, m, m);
                    gradient.iter_mut().zip(&products).for_each(|(g, b)| *g -= *b);
                }
                None => {
                    kernel::product(&mut rest, at.unwrap_or(z), self.atoms.as_slice(), n, m, p);
                    rest.iter_mut().zip(x).for_each(|(r, x)| *r -= *x);
                    kernel::product(&mut gradient, &rest, self.across.as_slice(), n, p, m);
                }
            }
            match at {
                Some(from) => {
                    for ((z, y), g) in z.iter_mut().zip(from).zip(&gradient) {
                        *z = shrunk(*y - t * *g, threshold, positive);
                    }
                }
                None => {
                    for (z, g) in z.iter_mut().zip(&gradient) {
                        *z = shrunk(*z - t * *g, threshold, positive);
                    }
                }
            }
        }
    }
}

/// Soft thresholding.
#[inline(always)]
fn shrunk<T: Real>(v: T, threshold: T, positive: bool) -> T {
    let zero = T::default();
    match () {
        () if v > threshold => v - threshold,
        () if !positive && v < zero - threshold => v + threshold,
        () => zero,
    }
}

impl<T: Real> Problem<T> {
    /// Rows `x`, row-major, of `p` numbers.
    pub(crate) fn new(x: Vec<T>, p: usize, alpha: f64, positive: bool) -> Self {
        let square = kernel::sum_of_squares(&x);
        Self { x, p, square, alpha, positive }
    }

    /// Number of rows.
    pub(crate) fn n(&self) -> usize {
        self.x.len() / self.p
    }

    /// Steps on all codes, on the threads of this pool; the first starts at `from`.
    pub(crate) fn code_steps(&self, atoms: &PreparedAtoms<T>, z: &mut [T], from: Option<&[T]>, steps: u64) {
        let m = atoms.atoms.rows();
        let penalty = (self.alpha, self.positive);
        let rows = self.x.chunks(ROWS_PER_CHUNK * self.p).zip(z.chunks_mut(ROWS_PER_CHUNK * m)).enumerate();
        parallel::each(rows, |(i, (x, z))| {
            let at = i * ROWS_PER_CHUNK * m;
            let from = from.map(|from| &from[at..at + z.len()]);
            atoms.descend(x, z, from, penalty, steps);
        });
    }

    /// Sums over the codes `z` on `m` atoms.
    pub(crate) fn sums(&self, z: &[T], m: usize) -> Sums {
        let mut total = Sums::zero(m, self.p);
        let chunks: Vec<(&[T], &[T])> =
            self.x.chunks(ROWS_PER_CHUNK * self.p).zip(z.chunks(ROWS_PER_CHUNK * m)).collect();
        for group in chunks.chunks(CHUNKS_HELD) {
            let parts: Vec<Sums> = parallel::map(group.iter(), |(x, z)| sums_of(x, z, m, self.p));
            parts.iter().for_each(|part| total.merge(part));
        }
        total
    }

    /// The objective of codes with these sums.
    pub(crate) fn objective(&self, sums: &Sums, atoms: &Matrix<f64>) -> f64 {
        let fitted = factor::multiply(&sums.codes, atoms);
        let dot =
            |a: &Matrix<f64>| a.as_slice().iter().zip(atoms.as_slice()).map(|(a, b)| a * b).sum::<f64>();
        let left = self.square - 2.0 * dot(&sums.rows) + dot(&fitted);
        0.5 * left.max(0.0) + self.alpha * sums.size
    }
}

fn sums_of<T: Real>(x: &[T], z: &[T], m: usize, p: usize) -> Sums {
    let zero = T::default();
    let mut out = Sums::zero(m, p);
    for code in z.chunks_exact(m) {
        for (j, z) in code.iter().enumerate().filter(|(_, z)| **z != zero) {
            let size = z.to_f64().abs();
            out.used[j] += 1;
            out.sizes[j] += size;
            out.size += size;
        }
    }
    let share = out.used.iter().sum::<u64>() as f64 / z.len().max(1) as f64;
    if share > DENSE_SHARE {
        let n = x.len() / p;
        kernel::add_cross(out.codes.as_mut_slice(), z, z, n, m, m);
        kernel::add_cross(out.rows.as_mut_slice(), z, x, n, m, p);
        return out;
    }
    let mut active: Vec<(usize, f64)> = Vec::new();
    for (code, row) in z.chunks_exact(m).zip(x.chunks_exact(p)) {
        active.clear();
        active.extend(code.iter().enumerate().filter(|(_, z)| **z != zero).map(|(j, z)| (j, z.to_f64())));
        for &(j, z) in &active {
            let line = out.codes.row_mut(j);
            active.iter().for_each(|&(i, other)| line[i] += z * other);
            out.rows.row_mut(j).iter_mut().zip(row).for_each(|(q, x)| *q += z * x.to_f64());
        }
    }
    out
}

/// One step on the atoms, starting at `at`.
pub(crate) fn atom_step(set: AtomSet, sums: &Sums, at: &Matrix<f64>, step: f64) -> Matrix<f64> {
    let mut next = factor::multiply(&sums.codes, at);
    let gradient = next.as_mut_slice().iter_mut().zip(sums.rows.as_slice()).zip(at.as_slice());
    gradient.for_each(|((g, q), a)| *g = a - step * (*g - q));
    set.project_all(&mut next);
    next
}
