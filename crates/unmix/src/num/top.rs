//! The largest eigenpairs of a symmetric positive semidefinite operator, to rounding errors, without its full spectrum.
//!
//! Block Lanczos with full re-orthogonalisation (Golub & Underwood 1977; Musco & Musco 2015 for the analysis of the block
//! Krylov space).
//!
//! A Krylov space of block size `b` contains `min(multiplicity, b)` vectors of every eigenspace. If applying the operator to a
//! block costs about as much as to one row (an operator that reads data), blocks are wider than the number of pairs requested, so
//! that all copies of a repeated eigenvalue are found. Otherwise (a matrix in memory), narrow blocks reach the same pairs with less
//! than half of the basis; missed copies are searched for before the result is accepted: new random rows are added to the block.

use super::Matrix;
use super::factor;
use super::random::Stream;
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// Rows of a block for `k` pairs.
pub(crate) fn block_size(k: usize) -> usize {
    (k + (k / 8).max(8)).next_multiple_of(8)
}

/// Rows of a narrow block, and number of random rows that are added to it to search for missed copies.
const NARROW_BLOCK_ROWS: usize = 16;
const FRESH_ROWS: usize = 8;

/// Number of blocks after which added rows that have found nothing end the search.
const WATCHED_BLOCKS: u64 = 3;

/// Options for the first `k` pairs of a `p x p` matrix in memory; `None` if the full decomposition is expected to be faster.
///
/// The size of the basis is the one within which the iteration was faster for `p` from 500 to 2000 on spectra `1/j`, `1/sqrt(j)`, and
/// on a few directions above a noise floor; it is abandoned early for a flat spectrum.
pub(crate) fn search_options(p: usize, k: usize) -> Option<SearchOptions> {
    let max_basis = 2 * p / 5;
    let suitable = k > 0 && p >= 512 && 2 * k + 6 * (NARROW_BLOCK_ROWS + FRESH_ROWS) <= max_basis;
    suitable.then_some(SearchOptions { k, tol: 0.0, block: NARROW_BLOCK_ROWS, max_basis, impatient: true })
}

/// Maximum number of blocks of a restarted iteration: about forty fillings of the basis.
const MAX_STEPS: u64 = 1600;

/// Options of the search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchOptions {
    /// Number of pairs.
    pub k: usize,
    /// The largest residual `||A v - theta v||` to accept, as a fraction of the largest eigenvalue; never less than
    /// [`rounding`].
    pub tol: f64,
    /// Rows of a block; if fewer than [`block_size`], missed copies of eigenvalues are searched for.
    pub block: usize,
    /// Maximum number of vectors of the basis; when it is full, the best of them are kept and the iteration continues.
    pub max_basis: usize,
    /// Whether to stop as soon as `max_basis` is predicted to be insufficient.
    pub impatient: bool,
}

/// The eigenpairs at the end of an iteration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Pairs {
    /// Descending.
    pub values: Vec<f64>,
    /// Orthonormal rows.
    pub vectors: Matrix<f64>,
    /// Largest `||A v - theta v||`, as a fraction of the largest value.
    pub residual: f64,
    /// Number of applications of the operator to a block.
    pub steps: u64,
}

/// The residual that a full decomposition of a `p x p` matrix has due to rounding.
pub(crate) fn rounding(p: usize) -> f64 {
    8.0 * f64::EPSILON * (p as f64).sqrt()
}

/// Largest eigenpairs of the operator `apply` on `R^p`, which maps the rows of a block. `None` if `max_basis` or `p` is too small
/// for three blocks, or if the search was abandoned; use the full decomposition then. Memory: `max_basis x p` numbers.
pub(crate) fn top_eigenpairs(
    apply: impl Fn(&Matrix<f64>) -> Result<Matrix<f64>>,
    p: usize,
    options: SearchOptions,
) -> Result<Option<Pairs>> {
    let Some(mut search) = Lanczos::begin(p, options, None) else { return Ok(None) };
    loop {
        match search.add(apply(search.block())?, options, false)? {
            BlockResult::More(_) => {}
            BlockResult::Found(pairs) => return Ok(Some(pairs)),
            BlockResult::GivenUp => return Ok(None),
        }
    }
}

/// State of the iteration: apply the operator to [`block`](Self::block), and pass the image to [`add`](Self::add).
#[derive(Serialize, Deserialize)]
pub(crate) struct Lanczos {
    basis: Basis,
    steps: u64,
    /// Step at which pairs are examined next.
    check_at: u64,
    /// Step at which random rows were added to the block; not needed for a wide block.
    joined: Option<u64>,
}

/// Result of the last block.
pub(crate) enum BlockResult {
    /// More blocks are needed; with the residual, as a fraction of the first value, if pairs were examined.
    More(Option<f64>),
    /// The requested pairs.
    Found(Pairs),
    /// The basis is too small.
    GivenUp,
}

impl Lanczos {
    /// Begins with random rows, or with the rows of `start` and additional random ones; `None` if there is no space for three
    /// blocks.
    pub(crate) fn begin(p: usize, options: SearchOptions, start: Option<&Matrix<f64>>) -> Option<Self> {
        let SearchOptions { k, block, max_basis, .. } = options;
        if k.max(block) + 2 * block > max_basis.min(p) {
            return None;
        }
        let check_at = (2 * k).div_ceil(block).max(3) as u64 + 1;
        let joined = (block >= block_size(k)).then_some(0);
        Some(Self { basis: Basis::new(p, block, start), steps: 0, check_at, joined })
    }

    /// The rows to which the operator is to be applied.
    pub(crate) fn block(&self) -> &Matrix<f64> {
        &self.basis.last
    }

    /// Adds the image of the block; `stop` ends the iteration with the current pairs.
    ///
    /// # Errors
    ///
    /// A factorisation that does not converge.
    pub(crate) fn add(
        &mut self,
        image: Matrix<f64>,
        options: SearchOptions,
        stop: bool,
    ) -> Result<BlockResult> {
        let SearchOptions { k, max_basis, .. } = options;
        let p = image.cols();
        let tol = options.tol.max(rounding(p));
        self.basis.grow(image);
        self.steps += 1;
        let (basis, steps) = (&mut self.basis, self.steps);
        let (m, width) = (basis.rows.rows(), basis.last.rows());
        let full = m + 2 * width > max_basis.min(p);
        if steps < self.check_at && !full && !stop {
            return Ok(BlockResult::More(None));
        }
        if m < k {
            // Only if an iteration is stopped before it has begun.
            self.check_at = steps + 1;
            return Ok(BlockResult::More(None));
        }
        let ritz = Ritz::of(&basis.projected, &basis.coupling, k)?;
        let residual = ritz.residual;
        let ended = stop || (full && steps >= MAX_STEPS);
        let watched = self.joined.is_some_and(|at| at == 0 || steps >= at + WATCHED_BLOCKS);
        if ended || (residual <= tol && (watched || m + width + FRESH_ROWS > p)) {
            return Ok(BlockResult::Found(ritz.pairs(&basis.rows, k, steps)));
        }
        // A check costs as much as several steps. Residuals decrease about geometrically, or faster, so the last one predicts when
        // the next check should succeed.
        let needed = steps as f64 * tol.ln() / residual.clamp(0.1 * tol, 0.5).ln();
        // Measured: if it ended within the budget, early checks had predicted up to twice the steps.
        if options.impatient && (full || 0.45 * needed * width as f64 > max_basis as f64) {
            return Ok(BlockResult::GivenUp);
        }
        if full {
            // A thick restart (Wu & Simon 2000): the best vectors of the basis are kept, and the next block is coupled to them as
            // to any other part of the basis.
            let kept = (k + width).max(max_basis / 3);
            (basis.rows, basis.projected) = ritz.restarted(&basis.rows, kept);
            basis.coupled = 0;
        }
        self.check_at = needed.floor().clamp(steps as f64 + 1.0, steps as f64 + 12.0) as u64;
        if self.joined.is_none() && needed <= steps as f64 + 6.0 {
            basis.join_fresh();
            self.joined = Some(steps);
            self.check_at = self.check_at.max(steps + WATCHED_BLOCKS);
        }
        Ok(BlockResult::More(Some(residual)))
    }
}

/// The orthonormal basis, the operator projected on it, and the next block.
#[derive(Serialize, Deserialize)]
struct Basis {
    rows: Matrix<f64>,
    /// Rows of the projected operator: entries (i, j) for j <= i.
    projected: Vec<Vec<f64>>,
    /// The next block: orthonormal rows, orthogonal to the basis; and the coefficients of the image of the previous block on them.
    last: Matrix<f64>,
    coupling: Matrix<f64>,
    /// First basis vector that is coupled to the next block; the coefficients of those before are rounding errors.
    coupled: usize,
    random: Stream,
    drawn: usize,
}

impl Basis {
    fn new(p: usize, block: usize, start: Option<&Matrix<f64>>) -> Self {
        let rows = Matrix::from_vec(0, p, Vec::new());
        let (last, coupling) = (Matrix::zeros(0, p), Matrix::zeros(0, 0));
        let random = Stream::new(0, 0x746f70);
        let mut basis = Self { rows, projected: Vec::new(), last, coupling, coupled: 0, random, drawn: 0 };
        basis.last = basis.fresh(block);
        if let Some(start) = start {
            let given = start.rows().min(block);
            (0..given).for_each(|i| basis.last.row_mut(i).copy_from_slice(start.row(i)));
            basis.last = factor::orthonormal_rows(&basis.last);
        }
        basis
    }

    /// Random orthonormal rows, orthogonal to the basis and to the next block.
    fn fresh(&mut self, count: usize) -> Matrix<f64> {
        let p = self.rows.cols();
        let at = self.drawn;
        self.drawn += count * p;
        let mut fresh = Matrix::from_fn(count, p, |i, j| self.random.normal((at + i * p + j) as u64));
        for _ in 0..2 {
            subtract_in_place(&mut fresh, &self.rows);
            subtract_in_place(&mut fresh, &self.last);
            fresh = factor::orthonormal_rows(&fresh);
        }
        fresh
    }

    /// Adds new random rows to the next block.
    fn join_fresh(&mut self) {
        let fresh = self.fresh(FRESH_ROWS);
        let (width, earlier) = (self.last.rows(), self.coupling.rows());
        let old = std::mem::replace(&mut self.coupling, Matrix::zeros(0, 0));
        // The image of the previous block has no component along them.
        self.coupling =
            Matrix::from_fn(earlier, width + FRESH_ROWS, |i, j| if j < width { old[(i, j)] } else { 0.0 });
        self.last = stacked(std::mem::replace(&mut self.last, Matrix::zeros(0, 0)), &fresh);
        self.coupled = 0;
    }

    /// Adds the next block to the basis, given its image under the operator.
    fn grow(&mut self, mut image: Matrix<f64>) {
        let width = self.last.rows();
        self.rows = stacked(std::mem::replace(&mut self.rows, Matrix::zeros(0, 0)), &self.last);
        // Twice; the first time only against the vectors to which it is coupled.
        let near = self.rows.rows_from(self.coupled);
        let first = subtract_in_place(&mut image, &near);
        let mut against = subtract_in_place(&mut image, &self.rows);
        for i in 0..width {
            against.row_mut(i)[self.coupled..].iter_mut().zip(first.row(i)).for_each(|(a, b)| *a += b);
        }
        self.coupled = self.rows.rows() - width;
        self.projected.extend((0..width).map(|i| against.row(i).to_vec()));
        let (mut again, mut coupling) = factor::orthonormal_rows_and_triangle(&image);
        let pivots = || (0..width).map(|i| coupling[(i, i)].abs());
        let (least, most) = (pivots().fold(f64::INFINITY, f64::min), pivots().fold(0.0, f64::max));
        let size =
            (0..width).map(|i| against.row(i).iter().map(|x| x * x).sum::<f64>()).fold(0.0, f64::max).sqrt();
        if most <= 1e-13 * size && self.rows.rows() + width <= self.rows.cols() {
            // The basis is an invariant subspace: the remainder is rounding errors, and any other block may follow.
            self.last = Matrix::zeros(0, self.rows.cols());
            self.last = self.fresh(width);
            self.coupling = Matrix::zeros(width, width);
            return;
        }
        // Rows that nearly vanished are rounding errors, which need not be orthogonal to the basis: they are orthogonalised again,
        // as long as a noticeable fraction is removed.
        let mut share = least / most.max(f64::MIN_POSITIVE);
        for _ in 0..4 {
            if share >= 1e-3 {
                break;
            }
            subtract_in_place(&mut again, &self.rows);
            let (fresh, rest) = factor::orthonormal_rows_and_triangle(&again);
            (again, coupling) = (fresh, factor::multiply(&coupling, &rest));
            share = (0..width).map(|i| rest[(i, i)].abs()).fold(f64::INFINITY, f64::min);
        }
        (self.last, self.coupling) = (again, coupling);
    }
}

/// Eigenpairs of the projected operator, with the coefficients of the Ritz vectors in the basis.
struct Ritz {
    values: Vec<f64>,
    rotation: Matrix<f64>,
    /// The largest residual of the requested pairs, as a fraction of the largest value.
    residual: f64,
}

impl Ritz {
    fn of(projected: &[Vec<f64>], coupling: &Matrix<f64>, k: usize) -> Result<Self> {
        let (m, block, next) = (projected.len(), coupling.rows(), coupling.cols());
        let entry = |i: usize, j: usize| projected[i].get(j).copied().unwrap_or(0.0);
        let t = Matrix::from_fn(m, m, |i, j| if j <= i { entry(i, j) } else { 0.0 });
        let (values, rotation) = factor::eigh(&t)?;
        let residual = |i: usize| {
            // A v - theta v = (last block of s)' coupling' . next block, whose rows are orthonormal.
            let s = &rotation.row(i)[m - block..];
            let along = |c: usize| (0..block).map(|r| s[r] * coupling[(r, c)]).sum::<f64>();
            (0..next).map(|c| along(c).powi(2)).sum::<f64>().sqrt()
        };
        let residual = (0..k).map(residual).fold(0.0, f64::max) / values[0].max(f64::MIN_POSITIVE);
        Ok(Self { values, rotation, residual })
    }

    fn pairs(self, basis: &Matrix<f64>, k: usize, steps: u64) -> Pairs {
        let v = factor::multiply(&self.rotation.top_rows(k), basis);
        let values = self.values[..k].to_vec();
        Pairs { values, vectors: factor::orthonormal_rows_signed(&v), residual: self.residual, steps }
    }

    /// A basis of the `kept` best vectors, on which the operator is diagonal.
    fn restarted(self, basis: &Matrix<f64>, kept: usize) -> (Matrix<f64>, Vec<Vec<f64>>) {
        let best = factor::multiply(&self.rotation.top_rows(kept), basis);
        let diagonal = |i: usize| (0..=i).map(|j| if i == j { self.values[i] } else { 0.0 }).collect();
        (factor::orthonormal_rows_signed(&best), (0..kept).map(diagonal).collect())
    }
}

/// Subtracts from `v` its projection onto the orthonormal rows of `along`, and returns the coefficients.
fn subtract_in_place(v: &mut Matrix<f64>, along: &Matrix<f64>) -> Matrix<f64> {
    let part = factor::multiply_transposed(v, along);
    factor::subtract_product(v, &part, along);
    part
}

fn stacked(top: Matrix<f64>, bottom: &Matrix<f64>) -> Matrix<f64> {
    let (rows, p) = (top.rows() + bottom.rows(), bottom.cols());
    let mut data = top.into_vec();
    data.extend_from_slice(bottom.as_slice());
    Matrix::from_vec(rows, p, data)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_spectrum(values: &[f64]) -> Matrix<f64> {
        let p = values.len();
        let s = Stream::new(5, 0);
        let q = factor::orthonormal_rows(&Matrix::from_fn(p, p, |i, j| s.normal((i * p + j) as u64)));
        let scaled = Matrix::from_fn(p, p, |i, j| q[(i, j)] * values[i]);
        let a = factor::multiply(&scaled.transposed(), &q);
        Matrix::from_fn(p, p, |i, j| 0.5 * (a[(i, j)] + a[(j, i)]))
    }

    #[test]
    fn a_basis_too_small_for_the_spectrum_is_restarted() {
        // Eigenvalues that decrease by 1 % each: far more steps are needed than the basis allows.
        let p = 600;
        let values: Vec<f64> = (0..p).map(|i| 0.99f64.powi(i as i32)).collect();
        let a = with_spectrum(&values);
        let (k, block) = (4, block_size(4));
        let options = SearchOptions { k, tol: 0.0, block, max_basis: 6 * block, impatient: false };
        let found = top_eigenpairs(|v| Ok(factor::multiply(v, &a)), p, options).unwrap().unwrap();
        assert!(
            found.steps > 6 && found.residual <= rounding(p),
            "{} steps, {:e}",
            found.steps,
            found.residual
        );
        for (i, v) in found.values.iter().enumerate() {
            assert!((v - values[i]).abs() < 1e-13, "value {i}: {v} instead of {}", values[i]);
        }
    }

    #[test]
    fn pairs_are_those_of_the_full_decomposition_also_for_repeated_values() {
        let p = 400;
        let power_law: Vec<f64> = (1..=p).map(|i| 1.0 / i as f64).collect();
        let repeated: Vec<f64> = (0..p)
            .map(|i| {
                if i == 0 {
                    3.0
                } else if i < 30 {
                    2.0
                } else {
                    1.0
                }
            })
            .collect();
        let identity = vec![1.0; p];
        let low_rank: Vec<f64> = (0..p).map(|i| if i < 5 { 1.0 + i as f64 } else { 0.0 }).collect();
        for values in [power_law, repeated, identity, low_rank] {
            let a = with_spectrum(&values);
            let k = 20;
            for block in [NARROW_BLOCK_ROWS, block_size(k)] {
                let options = SearchOptions { k, tol: 0.0, block, max_basis: p, impatient: false };
                let found =
                    top_eigenpairs(|v| Ok(factor::multiply(v, &a)), p, options).unwrap().expect("in budget");
                let (top, vectors) = (found.values, found.vectors);
                let (all, _) = factor::eigh(&a).unwrap();
                for i in 0..k {
                    assert!(
                        (top[i] - all[i]).abs() < 1e-13 * all[0],
                        "value {i}: {} instead of {}",
                        top[i],
                        all[i]
                    );
                }
                let image = factor::multiply(&vectors, &a);
                for i in 0..k {
                    let residual: f64 = (0..p)
                        .map(|j| (image[(i, j)] - top[i] * vectors[(i, j)]).powi(2))
                        .sum::<f64>()
                        .sqrt();
                    assert!(residual < 1e-12 * all[0], "pair {i}: residual {residual:e}");
                }
            }
        }
    }
}
