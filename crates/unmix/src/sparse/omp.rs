//! Orthogonal matching pursuit from inner products (Batch-OMP, Rubinstein, Zibulevsky & Elad 2008), with incremental Cholesky
//! factorisation.
//!
//! ```text
//! repeat:  j = argmax |c_j| / ||a_j||  outside S        c = A r
//!          L w = G_Sj,  pivot² = G_jj - w·w             row of the Cholesky factor of G_SS
//!          q = (b_j - q_S·w) / pivot,  ||r||² -= q²     b = A x
//!          V_n = (G_j - sum w_i V_i) / pivot            L V = G_S:
//!          c -= q V_n                                   not for the last atom
//! z_S = L^-T q
//! ```
//!
//! Factor and code are in double precision, whatever the type of the rows: an atom that depends linearly on the others is detected by its
//! pivot. `c` and `V`, which only select atoms, are in the type of the rows.

use super::Atoms;
use super::lasso::Row;
use super::rows::{self, RowWork, Work};
use crate::num::simd::SIMD_WIDTH;
use crate::num::{Dtype, Real, as_type};

/// Stopping rule of the pursuit of a row: a number of atoms or a squared error, whichever is reached first.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub(crate) struct Omp {
    /// Maximum number of atoms of a code.
    pub n_nonzero: usize,
    /// The pursuit stops when `||x - z A||²` is at most this.
    pub max_squared_error: f64,
}

/// State of the pursuit of a row.
#[derive(Default)]
pub(super) struct Pursuit<T> {
    taken: Vec<usize>,
    /// Rows of the Cholesky factor, consecutive, `i + 1` numbers each; the last is the inverse of the pivot.
    factor: Vec<f64>,
    q: Vec<f64>,
    z: Vec<f64>,
    /// `V`, one row over all atoms for each selected atom.
    v: Vec<T>,
    /// The last row of the factor, without its pivot.
    w: Vec<T>,
    /// Correlations of the residual with the atoms.
    c: Vec<T>,
    /// `1 / ||a||` of the atoms that may be selected, else 0.
    free: Vec<T>,
}

impl Omp {
    /// With at most `n_nonzero` atoms.
    pub(crate) fn of_atoms(n_nonzero: usize) -> Self {
        Self { n_nonzero, max_squared_error: 0.0 }
    }

    /// Down to a squared error, with at most `n_nonzero` atoms.
    pub(crate) fn to_error(max_squared_error: f64, n_nonzero: usize) -> Self {
        Self { n_nonzero, max_squared_error }
    }

    /// Codes `rows` (`n x n_features`, finite) into `codes` (`n x n_atoms`), on this thread. Returns the maximum number of atoms of
    /// a row. `O(n_atoms (n_features + n_nonzero²))` for each row.
    pub(crate) fn code<T: Real>(
        &self,
        atoms: &Atoms<T>,
        rows: &[T],
        codes: &mut [T],
        work: &mut Work<T>,
    ) -> u64 {
        rows::blocks(
            atoms,
            rows,
            codes,
            work,
            #[inline(always)]
            |row, code, work| self.pursue(atoms, row, code, work),
        )
    }

    /// [`code`](Self::code) on the threads of the current pool: the same bits for any number of them.
    pub(crate) fn code_all<T: Real>(&self, atoms: &Atoms<T>, rows: &[T], codes: &mut [T]) -> u64 {
        rows::on_pool(atoms, rows, codes, |rows, codes, work| self.code(atoms, rows, codes, work))
    }

    #[inline(always)]
    fn pursue<T: Real>(
        &self,
        atoms: &Atoms<T>,
        row: Row<'_, T>,
        code: &mut [T],
        work: &mut RowWork<T>,
    ) -> u64 {
        let pursuit = &mut work.pursuit;
        code.fill(T::default());
        pursuit.begin(atoms, row.b);
        // Below this the squared residual consists of rounding errors; correlations are no more accurate than rows.
        let rounding = row.norm * (100.0 * T::DTYPE.eps()).powi(2);
        let cancels = row.norm * if T::DTYPE == Dtype::F32 { 1e-5 } else { 1e-8 };
        let goal = self.max_squared_error.max(rounding);
        // At most as many atoms as features can be linearly independent.
        let most = self.n_nonzero.min(atoms.n_atoms()).min(atoms.n_features());
        let mut error = row.norm;
        if most == 0 || error <= goal {
            return 0;
        }
        let mut best = pursuit.best();
        while let Some(j) = best {
            let Some(q) = pursuit.take(atoms, j, row.b[j].to_f64()) else {
                best = pursuit.best();
                continue;
            };
            error -= q * q;
            // After cancellation it is recomputed from the residual.
            if error < cancels {
                error = pursuit.squared_error(atoms, row.x);
            }
            if pursuit.taken.len() >= most || error <= goal {
                break;
            }
            best = pursuit.project(atoms, j, q);
        }
        pursuit.solve();
        for (&j, z) in pursuit.taken.iter().zip(&pursuit.z) {
            code[j] = T::from_f64(*z);
        }
        pursuit.taken.len() as u64
    }
}

/// Number of cells of `V` and `c` that stay in registers.
const CELLS_IN_REGISTERS: usize = 4;

impl<T: Real> Pursuit<T> {
    #[inline(always)]
    fn begin(&mut self, atoms: &Atoms<T>, b: &[T]) {
        self.taken.clear();
        self.factor.clear();
        self.q.clear();
        self.c.clear();
        self.c.extend_from_slice(b);
        self.free.clear();
        self.free.extend_from_slice(&atoms.inverse_norm);
    }

    /// The atom of the largest normalised correlation among those that may be selected, the first in case of ties.
    #[inline(always)]
    fn best(&self) -> Option<usize> {
        let mut best = LaneMaxima::default();
        let (c, free) = (self.c.as_chunks::<SIMD_WIDTH>().0, self.free.as_chunks::<SIMD_WIDTH>().0);
        for cell in 0..c.len().min(free.len()) {
            best.update_best(&c[cell], &free[cell]);
        }
        best.atom()
    }

    /// Selects atom `j`, whose correlation with the row is `b`; returns `q`, unless the atom depends linearly on the selected ones.
    #[inline(always)]
    fn take(&mut self, atoms: &Atoms<T>, j: usize, b: f64) -> Option<f64> {
        self.free[j] = T::default();
        let (n, at) = (self.taken.len(), self.factor.len());
        self.factor.resize(at + n + 1, 0.0);
        let (before, w) = self.factor.split_at_mut(at);
        match as_type::<T, f64>(&self.v) {
            Some(v) => {
                for i in 0..n {
                    w[i] = v[i * atoms.stride + j];
                }
            }
            None => {
                for i in 0..n {
                    w[i] = atoms.pair(self.taken[i], j);
                }
            }
        }
        let (whole, q) = (atoms.square[j].to_f64(), &self.q[..n]);
        let (mut pivot, mut left) = (whole, b);
        // By columns: a number that is known is subtracted from all later ones at once, whereas sums of rows would be one chain of
        // dependent operations. Each sum has the same terms in the same order. Loops over indices are inlined, adapters of iterators need not be.
        for i in 0..n {
            if T::DTYPE == Dtype::F32 {
                w[i] *= before[row_of(i) + i];
                for k in i + 1..n {
                    w[k] = (-before[row_of(k) + i]).mul_add(w[i], w[k]);
                }
            }
            pivot = (-w[i]).mul_add(w[i], pivot);
            left = (-w[i]).mul_add(q[i], left);
        }
        if pivot <= 1e-12 * whole {
            self.factor.truncate(at);
            return None;
        }
        let inverse = 1.0 / pivot.sqrt();
        self.w.clear();
        self.w.resize(n, T::default());
        for i in 0..n {
            self.w[i] = T::from_f64(-w[i]);
        }
        w[n] = inverse;
        self.taken.push(j);
        self.q.push(inverse * left);
        Some(inverse * left)
    }

    /// Projects the residual onto the orthogonal complement of atom `j`, the last selected: updates `V` and the correlations, and
    /// returns the next atom.
    #[inline(always)]
    fn project(&mut self, atoms: &Atoms<T>, j: usize, q: f64) -> Option<usize> {
        let (n, stride) = (self.w.len(), atoms.stride);
        if self.v.len() < (n + 1) * stride {
            self.v.resize((n + 1) * stride, T::default());
        }
        let gram = atoms.gram_row_of(j);
        let (done, rest) = self.v.split_at_mut(n * stride);
        let (new, inverse) = (&mut rest[..stride], T::from_f64(*self.factor.last().unwrap_or(&0.0)));
        let (q, mut best) = (T::from_f64(-q), LaneMaxima::default());
        let mut at = 0;
        while at < stride {
            let (c, free) = (&mut self.c[at..], &self.free[at..]);
            let of = (&gram[at..], &mut new[at..], done.get(at..).unwrap_or(&[]));
            at += match stride - at >= CELLS_IN_REGISTERS * SIMD_WIDTH {
                true => cells::<T, CELLS_IN_REGISTERS>(of, stride, &self.w, (inverse, q), c, free, &mut best),
                false => cells::<T, 1>(of, stride, &self.w, (inverse, q), c, free, &mut best),
            };
        }
        best.atom()
    }

    /// `L' z = q`.
    #[inline(always)]
    fn solve(&mut self) {
        let z = &mut self.z;
        z.clear();
        z.extend_from_slice(&self.q);
        for i in (0..z.len()).rev() {
            z[i] *= self.factor[row_of(i) + i];
            let (value, w) = (z[i], &self.factor[row_of(i)..row_of(i) + i]);
            for l in 0..i {
                z[l] -= value * w[l];
            }
        }
    }

    #[cold]
    fn squared_error(&mut self, atoms: &Atoms<T>, x: &[T]) -> f64 {
        self.solve();
        let mut r: Vec<f64> = x.iter().map(|x| x.to_f64()).collect();
        for (z, &j) in self.z.iter().zip(&self.taken) {
            r.iter_mut().zip(atoms.wide.row(j)).for_each(|(r, a)| *r -= z * a);
        }
        r.iter().map(|r| r * r).sum()
    }
}

/// Index at which row `i` of the factor begins.
#[inline(always)]
fn row_of(i: usize) -> usize {
    i * (i + 1) / 2
}

/// Computes `N` cells: `V` from the Gram matrix and its earlier rows, the correlations, and the largest of them. Returns the number of
/// entries.
#[inline(always)]
fn cells<T: Real, const N: usize>(
    (gram, new, done): (&[T], &mut [T], &[T]),
    stride: usize,
    w: &[T],
    (inverse, q): (T, T),
    c: &mut [T],
    free: &[T],
    best: &mut LaneMaxima<T>,
) -> usize {
    let mut sums = [[T::default(); SIMD_WIDTH]; N];
    // One loop over arrays of constant length, which the compiler vectorises completely.
    let flat = sums.as_flattened_mut();
    flat.copy_from_slice(&gram[..N * SIMD_WIDTH]);
    for (i, w) in w.iter().enumerate() {
        let (w, v) = (*w, &done[i * stride..i * stride + N * SIMD_WIDTH]);
        for l in 0..N * SIMD_WIDTH {
            flat[l] = w.times_plus(v[l], flat[l]);
        }
    }
    let c = &mut c[..N * SIMD_WIDTH];
    for l in 0..N * SIMD_WIDTH {
        let v = flat[l] * inverse;
        flat[l] = v;
        c[l] = q.times_plus(v, c[l]);
    }
    new[..N * SIMD_WIDTH].copy_from_slice(flat);
    let (c, free) = (c.as_chunks::<SIMD_WIDTH>().0, free[..N * SIMD_WIDTH].as_chunks::<SIMD_WIDTH>().0);
    for cell in 0..N {
        best.update_best(&c[cell], &free[cell]);
    }
    N * SIMD_WIDTH
}

/// The largest number so far in each lane, and the index of its cell.
struct LaneMaxima<T> {
    most: [T; SIMD_WIDTH],
    cell: [T; SIMD_WIDTH],
    /// Number of cells processed: a number of the same type, so that it is selected by the same mask.
    seen: T,
}

impl<T: Real> Default for LaneMaxima<T> {
    fn default() -> Self {
        let zero = T::default();
        Self { most: [zero; SIMD_WIDTH], cell: [zero; SIMD_WIDTH], seen: zero }
    }
}

impl<T: Real> LaneMaxima<T> {
    #[inline(always)]
    fn update_best(&mut self, c: &[T; SIMD_WIDTH], free: &[T; SIMD_WIDTH]) {
        // Values, not indices, are selected: otherwise the compiler selects addresses one by one.
        let (most, cell, seen) = (self.most, self.cell, self.seen);
        for l in 0..SIMD_WIDTH {
            let (before, size) = (most[l], c[l].absolute() * free[l]);
            let more = size > before;
            self.most[l] = if more { size } else { before };
            let at = cell[l];
            self.cell[l] = if more { seen } else { at };
        }
        self.seen = seen.plus(T::from_f64(1.0));
    }

    /// The first atom with the largest number; none if all are 0.
    #[inline(always)]
    fn atom(&self) -> Option<usize> {
        let (zero, beyond) = (T::default(), T::from_f64(f64::INFINITY));
        let top = extreme(self.most, |a, b| a > b);
        if top <= zero {
            return None;
        }
        // The first of its cells, and in it the first lane: whole numbers, which both types represent.
        let mut cells = [beyond; SIMD_WIDTH];
        for l in 0..SIMD_WIDTH {
            let cell = self.cell[l];
            cells[l] = if self.most[l] == top { cell } else { beyond };
        }
        let cell = extreme(cells, |a, b| a < b);
        let mut lanes = [beyond; SIMD_WIDTH];
        for l in 0..SIMD_WIDTH {
            let lane = T::from_f64(l as f64);
            lanes[l] = if cells[l] == cell { lane } else { beyond };
        }
        Some(cell.to_f64() as usize * SIMD_WIDTH + extreme(lanes, |a, b| a < b).to_f64() as usize)
    }
}

/// The first number in an order, of whole vectors that are halved: one after the other would be a chain of sixteen comparisons.
#[inline(always)]
fn extreme<T: Real>(mut x: [T; SIMD_WIDTH], before: impl Fn(T, T) -> bool) -> T {
    let mut width = SIMD_WIDTH / 2;
    while width > 0 {
        for l in 0..width {
            let (a, b) = (x[l], x[l + width]);
            x[l] = if before(b, a) { b } else { a };
        }
        width /= 2;
    }
    x[0]
}
