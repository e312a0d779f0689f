//! The largest eigenpairs of a symmetric positive semidefinite operator, to rounding level, without its whole spectrum.
//!
//! Block Lanczos with full re-orthogonalisation (Golub & Underwood 1977; Musco & Musco 2015 for the analysis of the block
//! Krylov space).
//!
//! A Krylov space of block `b` holds `min(multiplicity, b)` vectors of every eigenvalue. Where a block costs about as much as
//! a row (an operator that reads data), blocks are wider than the number of pairs wanted, and a repeated eigenvalue cannot
//! hide copies of itself. Where it does not (a matrix in memory), narrow blocks reach the same pairs within less than half
//! the basis; what they could miss is searched for before an answer counts: fresh random rows join the block.

use super::Matrix;
use super::factor;
use super::random::Stream;
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// Rows of a block for `k` pairs.
pub fn block_size(k: usize) -> usize {
    (k + (k / 8).max(8)).next_multiple_of(8)
}

/// Rows of a narrow block, and of what joins it to look for hidden copies.
const NARROW: usize = 16;
const FRESH: usize = 8;

/// Blocks for which fresh rows are watched before they count as having found nothing.
const WATCHED: u64 = 3;

/// Whether the first `k` pairs of a `p x p` matrix in memory come faster this way, and how to look for them.
///
/// Measured for `p` from 500 to 2000 on spectra `1/j`, `1/sqrt(j)`, and on directions above a sea of noise: what ends within this
/// basis ends three to ten times sooner than the whole decomposition, and a flat spectrum is given up soon.
pub fn pays(p: usize, k: usize) -> Option<Goal> {
    let max_basis = 2 * p / 5;
    let pays = k > 0 && p >= 512 && 2 * k + 6 * (NARROW + FRESH) <= max_basis;
    pays.then_some(Goal { k, tol: 0.0, block: NARROW, max_basis, impatient: true })
}

/// Blocks after which an iteration that restarts ends as it is: some forty fillings of the basis.
const MAX_STEPS: u64 = 1600;

/// What to look for, and how long.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// How many pairs.
    pub k: usize,
    /// The largest residual `||A v - theta v||` to accept, as a fraction of the largest eigenvalue; never less than
    /// [`rounding`].
    pub tol: f64,
    /// Rows of a block; when fewer than [`block_size`], hidden copies are searched for.
    pub block: usize,
    /// Vectors to keep at most; when there are so many the best of them are kept and the iteration continues.
    pub max_basis: usize,
    /// Stop as soon as it is plain that `max_basis` will not do.
    pub impatient: bool,
}

/// Eigenpairs as far as an iteration got.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pairs {
    /// Descending.
    pub values: Vec<f64>,
    /// Orthonormal rows.
    pub vectors: Matrix<f64>,
    /// Largest `||A v - theta v||`, as a fraction of the largest value.
    pub residual: f64,
    /// How often the operator was applied to a block.
    pub steps: u64,
}

/// The residual that a full decomposition of a `p x p` matrix has too.
pub fn rounding(p: usize) -> f64 {
    8.0 * f64::EPSILON * (p as f64).sqrt()
}

/// Largest eigenpairs of the operator `apply` on `R^p`, which maps the rows of a block. `None` when `max_basis` or `p` has
/// no room for three blocks, or when it was given up; take the whole decomposition then. Memory: `max_basis x p` numbers.
pub fn top_eigenpairs(
    apply: impl Fn(&Matrix<f64>) -> Result<Matrix<f64>>,
    p: usize,
    goal: Goal,
) -> Result<Option<Pairs>> {
    let Some(mut search) = Lanczos::begin(p, goal, None) else { return Ok(None) };
    loop {
        match search.add(apply(search.block())?, goal, false)? {
            BlockResult::More(_) => {}
            BlockResult::Found(pairs) => return Ok(Some(pairs)),
            BlockResult::GivenUp => return Ok(None),
        }
    }
}

/// An iteration as far as it has come: apply the operator to [`block`](Self::block), hand the image to [`add`](Self::add).
#[derive(Serialize, Deserialize)]
pub struct Lanczos {
    basis: Basis,
    steps: u64,
    /// When pairs are examined next.
    check_at: u64,
    /// When fresh rows joined the block; a block that is wide needs none.
    joined: Option<u64>,
}

/// What the last block brought.
pub enum BlockResult {
    /// More blocks are needed; with the residual, as a fraction of the first value, where pairs were examined.
    More(Option<f64>),
    /// These are the pairs.
    Found(Pairs),
    /// The basis will not do.
    GivenUp,
}

impl Lanczos {
    /// Begins at random, or at the rows of `start` and random ones beside them; `None` where there is no room for three blocks.
    pub fn begin(p: usize, goal: Goal, start: Option<&Matrix<f64>>) -> Option<Self> {
        let Goal { k, block, max_basis, .. } = goal;
        if k.max(block) + 2 * block > max_basis.min(p) {
            return None;
        }
        let check_at = (2 * k).div_ceil(block).max(3) as u64 + 1;
        let joined = (block >= block_size(k)).then_some(0);
        Some(Self { basis: Basis::new(p, block, start), steps: 0, check_at, joined })
    }

    /// The rows to apply the operator to.
    pub fn block(&self) -> &Matrix<f64> {
        &self.basis.last
    }

    /// Blocks so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Takes in the image of the block; `stop` ends the iteration with the pairs as they are.
    ///
    /// # Errors
    ///
    /// A factorisation that does not come to an end.
    pub fn add(&mut self, image: Matrix<f64>, goal: Goal, stop: bool) -> Result<BlockResult> {
        let Goal { k, max_basis, .. } = goal;
        let p = image.cols();
        let tol = goal.tol.max(rounding(p));
        self.basis.grow(image);
        self.steps += 1;
        let (basis, steps) = (&mut self.basis, self.steps);
        let (m, width) = (basis.rows.rows(), basis.last.rows());
        let full = m + 2 * width > max_basis.min(p);
        if steps < self.check_at && !full && !stop {
            return Ok(BlockResult::More(None));
        }
        if m < k {
            // Only where an iteration is ended before it has begun.
            self.check_at = steps + 1;
            return Ok(BlockResult::More(None));
        }
        let ritz = Ritz::of(&basis.projected, &basis.coupling, k)?;
        let residual = ritz.residual;
        let ended = stop || (full && steps >= MAX_STEPS);
        let watched = self.joined.is_some_and(|at| at == 0 || steps >= at + WATCHED);
        if ended || (residual <= tol && (watched || m + width + FRESH > p)) {
            return Ok(BlockResult::Found(ritz.pairs(&basis.rows, k, steps)));
        }
        // A check costs as much as several steps. Residuals fall about geometrically, or faster, so this one predicts when the next
        // should succeed.
        let needed = steps as f64 * tol.ln() / residual.clamp(0.1 * tol, 0.5).ln();
        // Measured: where it ended within the budget, early checks had foretold up to twice the steps.
        if goal.impatient && (full || 0.45 * needed * width as f64 > max_basis as f64) {
            return Ok(BlockResult::GivenUp);
        }
        if full {
            // A thick restart (Wu & Simon 2000): the best of the basis stays, and what comes next is coupled to it as to
            // any other part of the basis.
            let kept = (k + width).max(max_basis / 3);
            (basis.rows, basis.projected) = ritz.restarted(&basis.rows, kept);
            basis.coupled = 0;
        }
        self.check_at = needed.floor().clamp(steps as f64 + 1.0, steps as f64 + 12.0) as u64;
        if self.joined.is_none() && needed <= steps as f64 + 6.0 {
            basis.join_fresh();
            self.joined = Some(steps);
            self.check_at = self.check_at.max(steps + WATCHED);
        }
        Ok(BlockResult::More(Some(residual)))
    }
}

/// An orthonormal basis as it grows, what the operator is on it, and the block that comes next.
#[derive(Serialize, Deserialize)]
struct Basis {
    rows: Matrix<f64>,
    /// Rows of the projected operator, as they become known: entry (i, j) for j <= i.
    projected: Vec<Vec<f64>>,
    /// Orthonormal rows, orthogonal to the basis; and how much of them the image of the block before them had.
    last: Matrix<f64>,
    coupling: Matrix<f64>,
    /// From where on the basis is coupled to the next block; before that there is rounding only.
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

    /// Random orthonormal rows, orthogonal to the basis and to the block that comes next.
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

    /// Widens the block that comes next by new random rows.
    fn join_fresh(&mut self) {
        let fresh = self.fresh(FRESH);
        let (width, earlier) = (self.last.rows(), self.coupling.rows());
        let old = std::mem::replace(&mut self.coupling, Matrix::zeros(0, 0));
        // The image of the block before has no part in them.
        self.coupling =
            Matrix::from_fn(earlier, width + FRESH, |i, j| if j < width { old[(i, j)] } else { 0.0 });
        self.last = stacked(std::mem::replace(&mut self.last, Matrix::zeros(0, 0)), &fresh);
        self.coupled = 0;
    }

    /// Takes the next block in, given what the operator makes of it.
    fn grow(&mut self, mut image: Matrix<f64>) {
        let width = self.last.rows();
        self.rows = stacked(std::mem::replace(&mut self.rows, Matrix::zeros(0, 0)), &self.last);
        // Twice, the first time only where there is much to take away.
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
            // The basis is closed under the operator: what is left is rounding, and anything else may come next.
            self.last = Matrix::zeros(0, self.rows.cols());
            self.last = self.fresh(width);
            self.coupling = Matrix::zeros(width, width);
            return;
        }
        // Rows that nearly vanished came back as rounding noise, which need not be orthogonal to the basis: what is left of them
        // then is noise again, of which a part is.
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

/// Eigenpairs of the projected operator: how the best vectors are made of the basis.
struct Ritz {
    values: Vec<f64>,
    turn: Matrix<f64>,
    /// The largest residual of the requested pairs, as a fraction of the largest value.
    residual: f64,
}

impl Ritz {
    fn of(projected: &[Vec<f64>], coupling: &Matrix<f64>, k: usize) -> Result<Self> {
        let (m, block, next) = (projected.len(), coupling.rows(), coupling.cols());
        let entry = |i: usize, j: usize| projected[i].get(j).copied().unwrap_or(0.0);
        let t = Matrix::from_fn(m, m, |i, j| if j <= i { entry(i, j) } else { 0.0 });
        let (values, turn) = factor::eigh(&t)?;
        let residual = |i: usize| {
            // A v - theta v = (last block of s)' coupling' . next block, whose rows are orthonormal.
            let s = &turn.row(i)[m - block..];
            let along = |c: usize| (0..block).map(|r| s[r] * coupling[(r, c)]).sum::<f64>();
            (0..next).map(|c| along(c).powi(2)).sum::<f64>().sqrt()
        };
        let residual = (0..k).map(residual).fold(0.0, f64::max) / values[0].max(f64::MIN_POSITIVE);
        Ok(Self { values, turn, residual })
    }

    fn pairs(self, basis: &Matrix<f64>, k: usize, steps: u64) -> Pairs {
        let v = factor::multiply(&self.turn.top_rows(k), basis);
        let values = self.values[..k].to_vec();
        Pairs { values, vectors: factor::orthonormal_rows_signed(&v), residual: self.residual, steps }
    }

    /// A basis of the `kept` best vectors, on which the operator is diagonal.
    fn restarted(self, basis: &Matrix<f64>, kept: usize) -> (Matrix<f64>, Vec<Vec<f64>>) {
        let best = factor::multiply(&self.turn.top_rows(kept), basis);
        let diagonal = |i: usize| (0..=i).map(|j| if i == j { self.values[i] } else { 0.0 }).collect();
        (factor::orthonormal_rows_signed(&best), (0..kept).map(diagonal).collect())
    }
}

/// Takes out of `v` what lies along the orthonormal rows of `along`, and returns how much that was.
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
        // Values that fall by 1 % each: far more steps are needed than the basis has room for.
        let p = 600;
        let values: Vec<f64> = (0..p).map(|i| 0.99f64.powi(i as i32)).collect();
        let a = with_spectrum(&values);
        let (k, block) = (4, block_size(4));
        let goal = Goal { k, tol: 0.0, block, max_basis: 6 * block, impatient: false };
        let found = top_eigenpairs(|v| Ok(factor::multiply(v, &a)), p, goal).unwrap().unwrap();
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
    fn finds_what_the_whole_decomposition_finds_also_when_values_repeat() {
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
            for block in [NARROW, block_size(k)] {
                let goal = Goal { k, tol: 0.0, block, max_basis: p, impatient: false };
                let found =
                    top_eigenpairs(|v| Ok(factor::multiply(v, &a)), p, goal).unwrap().expect("in budget");
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
