//! The largest eigenpairs of a symmetric positive semidefinite operator, to rounding level, without its whole spectrum.
//!
//! Block Lanczos with full re-orthogonalisation (Golub & Underwood 1977; Musco & Musco 2015 for the analysis of the block
//! Krylov space). The block is wider than the number of pairs wanted, so that a repeated eigenvalue cannot hide copies of
//! itself: a Krylov space of block `b` holds `min(multiplicity, b)` vectors of every eigenvalue.

use super::Matrix;
use super::factor;
use super::random::Stream;
use crate::error::Result;

/// Rows of a block for `k` pairs.
pub fn block_size(k: usize) -> usize {
    (k + (k / 8).max(8)).next_multiple_of(8)
}

/// Whether the first `k` pairs of a `p x p` matrix come faster this way, and the basis to allow for them.
///
/// Measured for `p` from 600 to 2000 on spectra `1/j` and on ten directions above a sea of noise: spectra that this suits end
/// within 13 blocks, three to ten times sooner than the whole decomposition while those are at most half of `p`, and others
/// are given up at the first check.
pub fn pays(p: usize, k: usize) -> Option<usize> {
    let block = block_size(k);
    (k > 0 && p >= 512 && 26 * block <= p).then_some(14 * block)
}

/// What to look for, and how long.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// How many pairs.
    pub k: usize,
    /// The largest residual `||A v - theta v||` to accept, as a share of the largest eigenvalue; never less than
    /// [`rounding`].
    pub tol: f64,
    /// Vectors to keep at most.
    pub max_basis: usize,
    /// Stop as soon as it is plain that `max_basis` will not do.
    pub impatient: bool,
}

/// Eigenpairs as far as an iteration got.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// Descending.
    pub values: Vec<f64>,
    /// Orthonormal rows.
    pub vectors: Matrix<f64>,
    /// Largest `||A v - theta v||`, as a share of the largest value.
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
    top_eigenpairs_until(apply, p, goal, |_, _| Ok(false))
}

/// As [`top_eigenpairs`]; `enough` hears of every check (steps, and residual as a share of the first value) and may end it
/// there, with the pairs as they are. While it is not yet time for a check it hears of the steps alone.
pub fn top_eigenpairs_until(
    apply: impl Fn(&Matrix<f64>) -> Result<Matrix<f64>>,
    p: usize,
    goal: Goal,
    enough: impl Fn(u64, Option<f64>) -> Result<bool>,
) -> Result<Option<Pairs>> {
    let Goal { k, max_basis, .. } = goal;
    let tol = goal.tol.max(rounding(p));
    let block = block_size(k);
    if 3 * block > max_basis.min(p) {
        return Ok(None);
    }
    let stream = Stream::new(0, 0x746f70);
    let mut last =
        factor::orthonormal_rows(&Matrix::from_fn(block, p, |i, j| stream.normal((i * p + j) as u64)));
    let mut basis = Matrix::from_vec(0, p, Vec::new());
    // Rows of the projected operator, as they become known: entry (i, j) for j <= i.
    let mut projected: Vec<Vec<f64>> = Vec::new();
    let (mut steps, mut check_at) = (0u64, 4u64);
    loop {
        let mut next = apply(&last)?;
        basis = stacked(basis, &last);
        let m = basis.rows();
        let mut against = Matrix::zeros(block, m);
        for _ in 0..2 {
            let part = factor::multiply_transposed(&next, &basis);
            factor::subtract_product(&mut next, &part, &basis);
            against.as_mut_slice().iter_mut().zip(part.as_slice()).for_each(|(a, b)| *a += b);
        }
        projected.extend((0..block).map(|i| against.row(i).to_vec()));
        let (mut fresh, mut coupling) = factor::orthonormal_rows_and_triangle(&next);
        // Columns that vanished came back as rounding noise, which need not be orthogonal to the basis.
        let part = factor::multiply_transposed(&fresh, &basis);
        factor::subtract_product(&mut fresh, &part, &basis);
        let (again, rest) = factor::orthonormal_rows_and_triangle(&fresh);
        coupling = factor::multiply(&coupling, &rest);
        steps += 1;
        let full = m + 2 * block > max_basis.min(p);
        if steps >= check_at || full || enough(steps, None)? {
            let found = ritz(&projected, &basis, &coupling, k)?;
            if found.residual <= tol || enough(steps, Some(found.residual))? {
                return Ok(Some(Pairs { steps, ..found }));
            }
            // A check costs as much as several steps. Residuals fall about geometrically, so this one says when the next
            // can succeed; a little earlier, because they fall faster and faster.
            let needed = steps as f64 * tol.ln() / found.residual.min(0.5).ln();
            // Measured: where it ended within the budget, the first check had foretold up to 1.5 times the steps.
            if goal.impatient && (full || 0.65 * needed * block as f64 > max_basis as f64) {
                return Ok(None);
            }
            if full {
                return Ok(Some(Pairs { steps, ..found }));
            }
            check_at = (0.9 * needed).floor().clamp(steps as f64 + 1.0, steps as f64 + 8.0) as u64;
        }
        last = again;
    }
}

/// Ritz pairs of the basis.
fn ritz(projected: &[Vec<f64>], basis: &Matrix<f64>, coupling: &Matrix<f64>, k: usize) -> Result<Pairs> {
    let (m, block) = (basis.rows(), coupling.rows());
    let entry = |i: usize, j: usize| projected[i].get(j).copied().unwrap_or(0.0);
    let t = Matrix::from_fn(m, m, |i, j| if j <= i { entry(i, j) } else { 0.0 });
    let (mut values, vectors) = factor::eigh(&t)?;
    let residual = |i: usize| {
        // A v - theta v = (last block of s)' coupling' . next block, whose rows are orthonormal.
        let s = &vectors.row(i)[m - block..];
        let along = |c: usize| (0..block).map(|r| s[r] * coupling[(r, c)]).sum::<f64>();
        (0..block).map(|c| along(c).powi(2)).sum::<f64>().sqrt()
    };
    let residual = (0..k).map(residual).fold(0.0, f64::max) / values[0].max(f64::MIN_POSITIVE);
    values.truncate(k);
    let v = factor::multiply(&vectors.top_rows(k), basis);
    Ok(Pairs { values, vectors: factor::orthonormal_rows_signed(&v), residual, steps: 0 })
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
            let goal = Goal { k, tol: 0.0, max_basis: p, impatient: false };
            let found = top_eigenpairs(|v| Ok(factor::multiply(v, &a)), p, goal).unwrap().expect("in budget");
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
                let residual: f64 =
                    (0..p).map(|j| (image[(i, j)] - top[i] * vectors[(i, j)]).powi(2)).sum::<f64>().sqrt();
                assert!(residual < 1e-12 * all[0], "pair {i}: residual {residual:e}");
            }
        }
    }
}
