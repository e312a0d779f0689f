//! The lasso of one row by coordinate descent on a working set.
//!
//! ```text
//! set = atoms of the start
//! until gap <= tol ||x||² / 2:
//!     add the atoms whose correlations |c_j| exceed alpha most, of those that are not screened
//!     passes over the set, with steps on the signs of the code between them (`newton.rs`), until its own gap is a third of the row's
//!     c = A x - G z, from the code alone
//! ```
//!
//! An atom is screened if `|s c_j| + ||a_j|| sqrt(2 gap) < alpha`: no solution uses it (Ndiaye et al. 2017). If the Gram matrix is not
//! stored, screened atoms are not visited again.

use super::Atoms;
use super::gap::dual_scale;
use super::rows::{self, Work};
use super::set::{Set, Threshold};
use crate::num::simd::{SIMD_WIDTH, vector_by_vector};
use crate::num::{Real, widest};

/// The problem `min 1/2 ||x - z A||² + alpha ||z||_1`, and its stopping rule.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Lasso {
    /// Weight of the penalty, above 0.
    pub alpha: f64,
    /// Whether codes must be non-negative.
    pub positive: bool,
    /// Stopping rule for a row.
    pub stop: StoppingRule,
}

/// Stopping rule for a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StoppingRule {
    /// Stops when the duality gap is at most `tol ||x||² / 2`, or after `max_passes` passes over the working set.
    UpTo {
        /// Tolerance on the relative gap.
        tol: f64,
        /// Maximum number of passes.
        max_passes: usize,
    },
    /// Stops after this number of passes over all atoms.
    Passes(usize),
}

impl Default for Lasso {
    fn default() -> Self {
        Self { alpha: 1.0, positive: false, stop: StoppingRule::UpTo { tol: 1e-6, max_passes: 1000 } }
    }
}

impl Lasso {
    /// With this alpha, and the defaults of the other options.
    pub fn of(alpha: f64) -> Self {
        Self { alpha, ..Self::default() }
    }

    /// Codes `rows` (`n x n_features`, finite) on this thread; `codes` (`n x n_atoms`) holds the initial codes, which are
    /// overwritten. Returns the maximum number of passes of a row.
    pub fn code<T: Real>(&self, atoms: &Atoms<T>, rows: &[T], codes: &mut [T], work: &mut Work<T>) -> u64 {
        rows::blocks(
            atoms,
            rows,
            codes,
            work,
            // Without this, the loops are compiled for the baseline instruction set, and slower.
            #[inline(always)]
            |row, code, work| match self.stop {
                StoppingRule::UpTo { tol, max_passes } => {
                    self.solve(atoms, row, code, (tol, max_passes), work)
                }
                StoppingRule::Passes(n) => super::passes::passes(self, atoms, row, code, n, work),
            },
        )
    }

    /// [`code`](Self::code) on the threads of the current pool: the same bits for any number of them.
    pub fn code_all<T: Real>(&self, atoms: &Atoms<T>, rows: &[T], codes: &mut [T]) -> u64 {
        rows::on_pool(atoms, rows, codes, |rows, codes, work| self.code(atoms, rows, codes, work))
    }

    #[inline(always)]
    fn solve<T: Real>(
        &self,
        atoms: &Atoms<T>,
        row: Row<'_, T>,
        code: &mut [T],
        limits: (f64, usize),
        work: &mut rows::RowWork<T>,
    ) -> u64 {
        match &atoms.gram {
            Some(gram) => {
                let mut of = WithGram { atoms, gram, b: row.b };
                solve(self, atoms, &mut of, row.norm, code, limits, work)
            }
            None => {
                let mut of = WithoutGram::new(atoms, row);
                solve(self, atoms, &mut of, row.norm, code, limits, work)
            }
        }
    }
}

/// One row to be coded: its numbers, its correlations with the atoms (padded with zeros), and `||x||²`.
#[derive(Clone, Copy)]
pub(super) struct Row<'a, T> {
    pub(super) x: &'a [T],
    pub(super) b: &'a [T],
    pub(super) norm: f64,
}

/// Computation of correlations.
pub(super) trait Correlations<T> {
    /// Inner product of two atoms.
    fn pair(&self, i: usize, j: usize) -> T;
    /// Correlation of the row with an atom.
    fn with_row(&self, j: usize) -> T;
    /// Correlations of the residual with all atoms that are not screened, from the code `z` on `atoms`.
    fn correlations(&mut self, atoms: &[usize], z: &[T], c: &mut [T]);
    /// Screens atoms that no solution uses, for a dual point `s r`: those with `|s c_j| + ||a_j|| radius < alpha`.
    fn screen(&mut self, c: &mut [T], weight: &mut [T], bound: (f64, f64, f64));
}

/// Correlations from the Gram matrix.
pub(super) struct WithGram<'a, T> {
    pub(super) atoms: &'a Atoms<T>,
    pub(super) gram: &'a [T],
    pub(super) b: &'a [T],
}

/// Number of cells whose correlations stay in registers.
const CELLS_IN_REGISTERS: usize = 4;

impl<T: Real> Correlations<T> for WithGram<'_, T> {
    #[inline(always)]
    fn pair(&self, i: usize, j: usize) -> T {
        self.gram[i * self.atoms.stride + j]
    }

    #[inline(always)]
    fn with_row(&self, j: usize) -> T {
        self.b[j]
    }

    #[inline(always)]
    fn correlations(&mut self, atoms: &[usize], z: &[T], c: &mut [T]) {
        let zero = T::default();
        let stride = self.atoms.stride;
        let step = CELLS_IN_REGISTERS * SIMD_WIDTH;
        for at in (0..stride).step_by(step) {
            let width = step.min(stride - at);
            let mut sums = [[zero; SIMD_WIDTH]; CELLS_IN_REGISTERS];
            let (b, _) = self.b[at..at + width].as_chunks::<SIMD_WIDTH>();
            sums.iter_mut().zip(b).for_each(|(s, b)| *s = *b);
            for (z, &j) in z.iter().zip(atoms).filter(|(z, _)| **z != zero) {
                let z = zero - *z;
                let (gram, _) = self.gram[j * stride + at..j * stride + at + width].as_chunks::<SIMD_WIDTH>();
                for (sum, gram) in sums.iter_mut().zip(gram) {
                    vector_by_vector();
                    for l in 0..SIMD_WIDTH {
                        sum[l] = z.times_plus(gram[l], sum[l]);
                    }
                }
            }
            let (c, _) = c[at..at + width].as_chunks_mut::<SIMD_WIDTH>();
            c.iter_mut().zip(&sums).for_each(|(c, s)| *c = *s);
        }
    }

    #[inline(always)]
    fn screen(&mut self, _: &mut [T], _: &mut [T], _: (f64, f64, f64)) {}
}

/// Correlations from residuals, without the Gram matrix, for the atoms that are not screened.
pub(super) struct WithoutGram<'a, T> {
    atoms: &'a Atoms<T>,
    row: Row<'a, T>,
    residual: Vec<T>,
    /// Atoms that are not screened.
    left: Vec<usize>,
}

impl<'a, T: Real> WithoutGram<'a, T> {
    pub(super) fn new(atoms: &'a Atoms<T>, row: Row<'a, T>) -> Self {
        let zero = T::default();
        let left = (0..atoms.n_atoms()).filter(|&j| atoms.square[j] != zero).collect();
        Self { atoms, row, residual: vec![zero; row.x.len()], left }
    }
}

/// Inner product, in independent partial sums.
#[inline(always)]
pub(super) fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let mut sums = [[T::default(); SIMD_WIDTH]; 2];
    let (a, a_end) = a.as_chunks::<SIMD_WIDTH>();
    let (b, b_end) = b.as_chunks::<SIMD_WIDTH>();
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        let sum = &mut sums[i % 2];
        for l in 0..SIMD_WIDTH {
            sum[l] = a[l].times_plus(b[l], sum[l]);
        }
    }
    let mut total = T::default();
    for l in 0..SIMD_WIDTH {
        total += sums[0][l] + sums[1][l];
    }
    a_end.iter().zip(b_end).fold(total, |total, (a, b)| a.times_plus(*b, total))
}

impl<T: Real> Correlations<T> for WithoutGram<'_, T> {
    #[inline(always)]
    fn pair(&self, i: usize, j: usize) -> T {
        dot(self.atoms.narrow.row(i), self.atoms.narrow.row(j))
    }

    #[inline(always)]
    fn with_row(&self, j: usize) -> T {
        self.row.b[j]
    }

    #[inline(always)]
    fn correlations(&mut self, atoms: &[usize], z: &[T], c: &mut [T]) {
        let zero = T::default();
        self.residual.copy_from_slice(self.row.x);
        for (z, &j) in z.iter().zip(atoms).filter(|(z, _)| **z != zero) {
            let z = zero - *z;
            // Loops, because closures that are not inlined are compiled for the baseline instruction set.
            for (r, a) in self.residual.iter_mut().zip(self.atoms.narrow.row(j)) {
                *r = z.times_plus(*a, *r);
            }
        }
        for &j in &self.left {
            c[j] = dot(self.atoms.narrow.row(j), &self.residual);
        }
    }

    fn screen(&mut self, c: &mut [T], weight: &mut [T], (s, radius, alpha): (f64, f64, f64)) {
        let zero = T::default();
        let square = &self.atoms.square;
        self.left.retain(|&j| {
            let size = (s * c[j].to_f64()).abs() + square[j].to_f64().sqrt() * radius;
            // Rounding errors of the correlations are far below this tolerance. Atoms in the set have weight 0.
            let stays = size >= alpha * (1.0 - 1e-6) || weight[j] == zero;
            if !stays {
                (c[j], weight[j]) = (zero, zero);
            }
            stays
        });
    }
}

/// Result of a scan of all correlations.
struct CorrelationScan {
    /// The largest correlation; in absolute value unless codes are positive.
    most: f64,
    /// The largest excess over `alpha`, divided by the norm of its atom, among atoms outside the set.
    worst: f64,
}

#[inline(always)]
fn scan<T: Real>(c: &[T], weight: &[T], threshold: Threshold<T>, positive: bool) -> CorrelationScan {
    let zero = T::default();
    let (mut most, mut worst) = ([zero; SIMD_WIDTH], [zero; SIMD_WIDTH]);
    for (c, weight) in c.as_chunks::<SIMD_WIDTH>().0.iter().zip(weight.as_chunks::<SIMD_WIDTH>().0) {
        for l in 0..SIMD_WIDTH {
            let size = if positive { c[l] } else { c[l].absolute() };
            most[l] = if size > most[l] { size } else { most[l] };
            let excess = threshold.soft(c[l]).absolute() * weight[l];
            worst[l] = if excess > worst[l] { excess } else { worst[l] };
        }
    }
    let top = |x: [T; SIMD_WIDTH]| x.iter().map(|x| x.to_f64()).fold(0.0, |a, b| if b > a { b } else { a });
    CorrelationScan { most: top(most), worst: top(worst) }
}

/// Maximum number of atoms that are added in a round, if the set has fewer.
const MOST_FIRST_ATOMS: usize = 8;
/// Atoms are added whose excess is at least this fraction of the largest.
const ADDED_EXCESS_SHARE: f64 = 0.5;
/// Tolerance for the problem on the set, as a fraction of the gap of the row.
const INNER_TOL_SHARE: f64 = 0.3;
/// In sets with more atoms than this, a step on the signs of the code follows only after several passes.
const NEWTON_AFTER_ATOMS: usize = 48;
/// Safety margin for rounding errors of the gap on the set.
const ROUNDING_MARGIN: f64 = 0.9;

#[inline(always)]
fn solve<T: Real>(
    lasso: &Lasso,
    atoms: &Atoms<T>,
    of: &mut impl Correlations<T>,
    norm: f64,
    code: &mut [T],
    (tol, max_passes): (f64, usize),
    work: &mut rows::RowWork<T>,
) -> u64 {
    let zero = T::default();
    let threshold = Threshold::<T>::new(lasso.alpha, lasso.positive);
    let rows::RowWork { set, newton, c, weight, .. } = work;
    c.clear();
    c.resize(atoms.stride, zero);
    weight.clear();
    weight.extend_from_slice(&atoms.inverse_norm);
    begin(set, lasso, atoms, of, weight, code);
    code.fill(zero);
    let (mut passes, goal) = (0, ROUNDING_MARGIN * tol * 0.5 * norm);
    loop {
        of.correlations(&set.atoms, &set.z, c);
        set.read(c);
        let found = scan(c, weight, threshold, lasso.positive);
        let gap = set.gap(lasso.alpha, norm, found.most);
        if gap <= goal || passes >= max_passes {
            break;
        }
        let s = dual_scale(lasso.alpha, found.most, 1.0);
        of.screen(c, weight, (s, (2.0 * gap).sqrt(), lasso.alpha));
        if set.len() > 2 * SIMD_WIDTH && 2 * set.z.iter().filter(|z| **z == zero).count() > set.len() {
            set.prune(|j| weight[j] = atoms.inverse_norm[j]);
        }
        add(set, atoms, of, (c, weight), threshold, found.worst);
        set.read(c);
        let inner = goal.max(INNER_TOL_SHARE * gap);
        while passes < max_passes {
            set.pass(threshold);
            passes += 1;
            if solved(lasso, set, norm, inner) {
                break;
            }
            // A step costs as much as this number of passes.
            if passes % (1 + set.len() / NEWTON_AFTER_ATOMS) == 0
                && newton.step(set, threshold)
                && solved(lasso, set, norm, inner)
            {
                break;
            }
        }
    }
    set.atoms.iter().zip(&set.z).for_each(|(&j, z)| code[j] = *z);
    passes as u64
}

/// Makes the atoms of the initial code the set; their weights become 0.
#[inline(always)]
fn begin<T: Real>(
    set: &mut Set<T>,
    lasso: &Lasso,
    atoms: &Atoms<T>,
    of: &impl Correlations<T>,
    weight: &mut [T],
    code: &[T],
) {
    let zero = T::default();
    set.clear();
    for (j, z) in code.iter().enumerate().filter(|(_, z)| **z != zero) {
        // A zero atom has code 0; the initial code may violate the constraint.
        if weight[j] != zero && !(lasso.positive && *z < zero) {
            weight[j] = zero;
            let size = (atoms.square[j], atoms.inverse[j]);
            set.insert(
                j,
                (*z, of.with_row(j)),
                size,
                #[inline(always)]
                |i| of.pair(j, i),
            );
        }
    }
}

/// Whether the duality gap on the atoms of the set is at most this.
#[inline(always)]
fn solved<T: Real>(lasso: &Lasso, set: &Set<T>, norm: f64, least: f64) -> bool {
    set.gap(lasso.alpha, norm, set.most(lasso.positive)) <= least
}

/// Adds the atoms with the largest excess over the threshold, the first ones if there are too many.
#[inline(always)]
fn add<T: Real>(
    set: &mut Set<T>,
    atoms: &Atoms<T>,
    of: &mut impl Correlations<T>,
    (c, weight): (&[T], &mut [T]),
    threshold: Threshold<T>,
    worst: f64,
) {
    if worst <= 0.0 {
        return;
    }
    let (zero, least) = (T::default(), T::from_f64(ADDED_EXCESS_SHARE * worst));
    let mut room = MOST_FIRST_ATOMS.max(set.len());
    for at in (0..c.len()).step_by(SIMD_WIDTH) {
        let (c, weights) = (&c[at..at + SIMD_WIDTH], &weight[at..at + SIMD_WIDTH]);
        let mut excess = [zero; SIMD_WIDTH];
        let mut any = false;
        for l in 0..SIMD_WIDTH {
            excess[l] = threshold.soft(c[l]).absolute() * weights[l];
            any |= excess[l] >= least;
        }
        if !any {
            continue;
        }
        for (l, excess) in excess.iter().enumerate() {
            let j = at + l;
            if *excess >= least && *excess > zero && room > 0 {
                room -= 1;
                weight[j] = zero;
                let size = (atoms.square[j], atoms.inverse[j]);
                set.insert(
                    j,
                    (zero, of.with_row(j)),
                    size,
                    #[inline(always)]
                    |i| of.pair(j, i),
                );
            }
        }
    }
}

/// Runs `loops` compiled for the widest instructions.
#[inline(always)]
pub(super) fn fast<R>(loops: impl FnOnce() -> R) -> R {
    widest(loops)
}
