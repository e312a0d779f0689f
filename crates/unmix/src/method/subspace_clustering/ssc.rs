//! Sparse self-representation: the coefficients of every row as a sparse combination of the others, mostly of rows in its own subspace (Elhamifar
//! & Vidal 2013).
//!
//! For rows of length 1, `min_c 1/2 ||x_i - Σ c_j x_j||² + a ||c||_1`, `c_i = 0`, `a` the smallest of the largest inner products of each row with another,
//! divided by `alpha`. Coordinate descent on the Gram matrix of a working set, which is extended by the rows that violate the optimality
//! conditions, until the duality gap is below its tolerance.
//!
//! This is not the solver of `sparse::lasso`, which codes rows by one dictionary: here every row has its own, all rows but itself, and the
//! targets are rows of the same Gram matrix. `sparse::Atoms` would hold that matrix a second time, and would need a set of excluded atoms for
//! each row in its screening and its dual scale.

use super::spectral::Graph;
use crate::error::Result;
use crate::num::parallel;
use crate::num::{Matrix, factor};
use crate::run::Run;

/// Tolerance on the duality gap of a row, as a fraction of its objective without coefficients, 1/2.
const GAP_TOL: f64 = 1e-4;
/// Rows between two checks for a requested stop.
const ROWS_PER_CHECK: usize = 256;
/// Inner product up to which two rows of length 1 are treated as orthogonal.
const ORTHOGONAL_PRODUCT: f64 = 1e-12;
/// Initial size of a working set. At most as many rows as it has are added at a time.
const INITIAL_SET_SIZE: usize = 10;
/// Maximum number of passes over a working set, and of extensions of the set.
const MOST_PASSES: usize = 1000;
const MOST_EXTENSIONS: usize = 60;
/// Maximum number of times that a working set is optimised again without an extension.
const MOST_REPETITIONS: usize = 10;

/// Affinities of the rows.
pub(super) struct Coefficients {
    /// `|C| + |C|'`, each row of `C` divided by its largest entry.
    pub(super) graph: Graph,
    /// Number of rows whose gap is above the tolerance.
    pub(super) unsolved: usize,
    /// Whether the run ended early, so that the last rows have the coefficients of their first working sets.
    pub(super) cut: bool,
}

/// Affinities of rows with this Gram matrix, whose diagonal is 1. Once the run ends early, the working sets of the rows that are left are not
/// extended: without any coefficients, rows would be in no cluster.
///
/// # Errors
///
/// A requested stop.
pub(super) fn coefficients(gram: &Matrix<f64>, alpha: f64, run: &Run<'_>) -> Result<Coefficients> {
    let n = gram.rows();
    let largest = |i: usize| {
        let others = gram.row(i).iter().enumerate().filter(|(j, _)| *j != i);
        others.fold(0.0f64, |m, (_, g)| m.max(g.abs()))
    };
    let largest: Vec<f64> = parallel::map(0..n, largest);
    let least = largest.iter().filter(|g| **g > ORTHOGONAL_PRODUCT).fold(f64::INFINITY, |m, g| m.min(*g));
    let penalty = least / alpha;
    let mut all: Vec<Vec<(usize, f64)>> = Vec::with_capacity(n);
    let (mut unsolved, mut cut) = (0, false);
    for first in (0..n).step_by(ROWS_PER_CHECK) {
        run.sweep_progress("sparse coefficients", first as u64, Some(n as u64))?;
        cut |= run.ends_early();
        let sets = if cut { 1 } else { MOST_EXTENSIONS };
        let part =
            parallel::map(first..n.min(first + ROWS_PER_CHECK), |i| match largest[i] > ORTHOGONAL_PRODUCT {
                true => RowLasso { gram, row: i, penalty }.solve(sets),
                false => (Vec::new(), true),
            });
        for (coefficients, solved) in part {
            unsolved += usize::from(!solved);
            all.push(coefficients);
        }
    }
    Ok(Coefficients { graph: symmetric(&all), unsolved, cut })
}

/// Affinities of the rows of `x`, `n x n`: `|C| + |C|'`, where each row of `C` has the coefficients of a row as a sparse combination of the
/// others (step 1 of [subspace clustering](super)), divided by the largest of them. Rows in the same subspace have positive affinities, rows in
/// well-separated subspaces and rows of zeros have none. `O(n² p)` and a lasso for every row: meant for some hundreds of rows.
///
/// # Errors
///
/// A requested stop.
///
/// # Panics
///
/// If `alpha` is not above 1.
pub fn affinities(x: &Matrix<f64>, alpha: f64, run: &Run<'_>) -> Result<Matrix<f64>> {
    assert!(alpha > 1.0, "alpha must be above 1, got {alpha}");
    let mut unit = x.clone();
    for i in 0..x.rows() {
        // Division by the largest entry first: no square overflows.
        let largest = x.row(i).iter().fold(0.0f64, |m, x| m.max(x.abs())).max(f64::MIN_POSITIVE);
        let row = unit.row_mut(i);
        row.iter_mut().for_each(|x| *x /= largest);
        let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        row.iter_mut().filter(|_| norm > 0.0).for_each(|x| *x /= norm);
    }
    let mut gram = factor::multiply_transposed(&unit, &unit);
    (0..x.rows()).for_each(|i| gram[(i, i)] = 1.0);
    Ok(coefficients(&gram, alpha, run)?.graph.table())
}

/// `|C| + |C|'`, where each row of `C` is divided by its largest entry.
fn symmetric(all: &[Vec<(usize, f64)>]) -> Graph {
    let mut links: Vec<Vec<(usize, f64)>> = vec![Vec::new(); all.len()];
    for (i, row) in all.iter().enumerate() {
        let largest = row.iter().fold(0.0f64, |m, (_, c)| m.max(c.abs()));
        for &(j, c) in row.iter().filter(|(_, c)| *c != 0.0) {
            links[i].push((j, c.abs() / largest));
            links[j].push((i, c.abs() / largest));
        }
    }
    for row in &mut links {
        row.sort_by_key(|(j, _)| *j);
        row.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
    }
    Graph::Sparse(links)
}

/// The lasso of one row on the others.
struct RowLasso<'a> {
    gram: &'a Matrix<f64>,
    row: usize,
    penalty: f64,
}

impl RowLasso<'_> {
    /// The nonzero coefficients after at most `sets` working sets, each with the row that it belongs to, and whether the gap is below its
    /// tolerance.
    fn solve(&self, sets: usize) -> (Vec<(usize, f64)>, bool) {
        let (g, n) = (self.gram.row(self.row), self.gram.rows());
        let mut set = self.worst(g, &vec![false; n], INITIAL_SET_SIZE);
        let mut inside = vec![false; n];
        set.iter().for_each(|&j| inside[j] = true);
        let mut z = vec![0.0; set.len()];
        let (mut solved, mut again) = (false, 0);
        for _ in 0..sets {
            self.descend(&set, &mut z);
            let mut rest = g.to_vec();
            for (&l, &c) in set.iter().zip(&z).filter(|(_, c)| **c != 0.0) {
                rest.iter_mut().zip(self.gram.row(l)).for_each(|(r, g)| *r -= c * g);
            }
            let others = rest.iter().enumerate().filter(|(j, _)| *j != self.row);
            let steepest = others.fold(0.0f64, |m, (_, r)| m.max(r.abs()));
            let inner: Vec<f64> = set.iter().map(|&j| rest[j]).collect();
            if self.gap(&set, &z, &inner, steepest) <= 0.5 * GAP_TOL {
                solved = true;
                break;
            }
            let joined: Vec<usize> = self
                .worst(&rest, &inside, INITIAL_SET_SIZE.max(set.len()))
                .into_iter()
                .filter(|&j| rest[j].abs() > self.penalty)
                .collect();
            if joined.is_empty() {
                // Rows that are nearly parallel take many passes.
                again += 1;
                if again > MOST_REPETITIONS {
                    break;
                }
            }
            joined.iter().for_each(|&j| inside[j] = true);
            set.extend(joined);
            z.resize(set.len(), 0.0);
        }
        (set.into_iter().zip(z).filter(|(_, c)| *c != 0.0).collect(), solved)
    }

    /// Indices of the `count` entries of largest absolute value outside the working set, without that of the row itself.
    fn worst(&self, of: &[f64], inside: &[bool], count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..of.len()).filter(|&j| j != self.row && !inside[j]).collect();
        let before = |a: &usize, b: &usize| of[*b].abs().total_cmp(&of[*a].abs()).then(a.cmp(b));
        if order.len() > count {
            order.select_nth_unstable_by(count, before);
            order.truncate(count);
        }
        order.sort_by(before);
        order
    }

    /// Coordinate descent over a working set.
    fn descend(&self, set: &[usize], z: &mut [f64]) {
        let m = set.len();
        let g = self.gram.row(self.row);
        let small = Matrix::from_fn(m, m, |a, b| self.gram[(set[a], set[b])]);
        let mut rest: Vec<f64> = set.iter().map(|&j| g[j]).collect();
        for (a, &c) in z.iter().enumerate().filter(|(_, c)| **c != 0.0) {
            rest.iter_mut().zip(small.row(a)).for_each(|(r, s)| *r -= c * s);
        }
        let mut active = vec![true; m];
        for pass in 0..MOST_PASSES {
            // Four of five passes visit only the coefficients that are not 0.
            let whole = pass % 5 == 0;
            for a in (0..m).filter(|&a| whole || active[a]) {
                let at = rest[a] + small[(a, a)] * z[a];
                let new = (at - at.clamp(-self.penalty, self.penalty)) / small[(a, a)];
                let change = new - z[a];
                if change != 0.0 {
                    z[a] = new;
                    rest.iter_mut().zip(small.row(a)).for_each(|(r, s)| *r -= change * s);
                }
            }
            if whole {
                active.iter_mut().zip(z.iter()).for_each(|(active, z)| *active = *z != 0.0);
            }
            let steepest = rest.iter().fold(0.0f64, |m, r| m.max(r.abs()));
            if pass % 5 == 4 && self.gap(set, z, &rest, steepest) <= 0.1 * GAP_TOL {
                return;
            }
        }
    }

    /// The duality gap; `rest` has the inner products of the residual with the rows of the set, `steepest` is the largest with any row.
    fn gap(&self, set: &[usize], z: &[f64], rest: &[f64], steepest: f64) -> f64 {
        let g = self.gram.row(self.row);
        let with_row: f64 = set.iter().zip(z).map(|(&j, c)| c * g[j]).sum();
        let with_rest: f64 = z.iter().zip(rest).map(|(c, r)| c * r).sum();
        let residual = (1.0 - with_row - with_rest).max(0.0);
        if residual == 0.0 {
            return self.penalty * z.iter().map(|c| c.abs()).sum::<f64>();
        }
        let bound = if steepest > 0.0 { self.penalty / steepest } else { f64::INFINITY };
        let s = ((1.0 - with_row) / residual).clamp(-bound, bound);
        let terms: f64 = z.iter().zip(rest).map(|(c, r)| self.penalty * c.abs() - s * c * r).sum();
        0.5 * (1.0 - s) * (1.0 - s) * residual + terms
    }
}
