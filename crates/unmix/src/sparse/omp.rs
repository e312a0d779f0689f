//! Orthogonal matching pursuit from inner products (Batch-OMP, Rubinstein, Zibulevsky & Elad 2008), with a Cholesky factor that grows.
//!
//! ```text
//! repeat:  j = argmax |c_j| / ||a_j||  outside S        c = A r
//!          w_i = V_i[j],  pivot² = G_jj - w·w           row of the Cholesky factor of G_SS
//!          V_n = (G_j - sum w_i V_i) / pivot            L V = G_S:
//!          q = c_j / pivot,   c -= q V_n,   ||r||² -= q²
//! z_S = L^-T q
//! ```
//!
//! All of it is in double precision, whatever the type of the rows: an atom that depends on the others is found by its pivot.

use super::Atoms;
use super::lasso::Row;
use super::rows::{self, RowWork, Work};
use crate::num::simd::CELL;
use crate::num::{Dtype, Real};

/// When the pursuit of a row ends: with so many atoms, or at a squared error, whichever is first.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Omp {
    /// The most atoms that a code uses.
    pub n_nonzero: usize,
    /// The pursuit ends where `||x - z A||²` is at most this.
    pub max_squared_error: f64,
}

/// What is kept of the atoms that were taken.
#[derive(Default)]
pub(super) struct Pursuit {
    /// `V`, a row of all atoms for each that was taken.
    v: Vec<f64>,
    /// Rows of the Cholesky factor, one after the other, `i + 1` numbers each.
    factor: Vec<f64>,
    taken: Vec<usize>,
    q: Vec<f64>,
    free: Vec<f64>,
}

impl Omp {
    /// To at most `n_nonzero` atoms.
    pub fn of_atoms(n_nonzero: usize) -> Self {
        Self { n_nonzero, max_squared_error: 0.0 }
    }

    /// To a squared error, with at most `n_nonzero` atoms.
    pub fn to_error(max_squared_error: f64, n_nonzero: usize) -> Self {
        Self { n_nonzero, max_squared_error }
    }

    /// Codes `rows` (`n x n_features`, finite) into `codes` (`n x n_atoms`), on this thread. Returns the most atoms that a row took.
    /// `O(n_atoms (n_features + n_nonzero²))` a row.
    pub fn code<T: Real>(&self, atoms: &Atoms<T>, rows: &[T], codes: &mut [T], work: &mut Work<T>) -> u64 {
        rows::blocks(
            atoms,
            rows,
            codes,
            work,
            #[inline(always)]
            |row, code, work| self.pursue(atoms, row, code, work),
        )
    }

    /// [`code`](Self::code) on the threads of the pool that this is called on: the same bits for any number of them.
    pub fn code_all<T: Real>(&self, atoms: &Atoms<T>, rows: &[T], codes: &mut [T]) -> u64 {
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
        let stride = atoms.stride;
        let RowWork { wide: c, pursuit, .. } = work;
        code.fill(T::default());
        c.clear();
        c.extend(row.b.iter().map(|b| b.to_f64()));
        pursuit.begin(atoms);
        // Below this the square of the residual is what is left of rounding; correlations are no less rounded than rows are.
        let rounding = row.norm * (100.0 * T::DTYPE.eps()).powi(2);
        let cancels = row.norm * if T::DTYPE == Dtype::F32 { 1e-5 } else { 1e-8 };
        let goal = self.max_squared_error.max(rounding);
        let mut error = row.norm;
        while pursuit.taken.len() < self.n_nonzero.min(atoms.n_atoms()) && error > goal {
            let Some(j) = pursuit.best(c) else { break };
            let drop = pursuit.take(atoms, j, c, stride);
            error -= drop.unwrap_or(0.0);
            // What cancels is formed again, from the residual itself.
            if error < cancels {
                error = pursuit.squared_error(atoms, row.x);
            }
        }
        let z = pursuit.solution();
        pursuit.taken.iter().zip(&z).for_each(|(&j, z)| code[j] = T::from_f64(*z));
        pursuit.taken.len() as u64
    }
}

impl Pursuit {
    #[inline(always)]
    fn begin<T: Real>(&mut self, atoms: &Atoms<T>) {
        self.v.clear();
        self.factor.clear();
        self.taken.clear();
        self.q.clear();
        self.free.clear();
        self.free.extend(atoms.inverse_norm.iter().map(|w| w.to_f64()));
    }

    /// The atom of the largest correlation for its length among those that are free, the first of equal ones.
    #[inline(always)]
    fn best(&self, c: &[f64]) -> Option<usize> {
        let mut most = [0.0; CELL];
        for (c, free) in c.as_chunks::<CELL>().0.iter().zip(self.free.as_chunks::<CELL>().0) {
            for l in 0..CELL {
                let s = c[l].abs() * free[l];
                most[l] = if s > most[l] { s } else { most[l] };
            }
        }
        let top = most.iter().fold(0.0, |a: f64, b| if *b > a { *b } else { a });
        if top <= 0.0 {
            return None;
        }
        c.iter().zip(&self.free).position(|(c, free)| c.abs() * free >= top)
    }

    /// Takes atom `j`: what the squared error falls by, unless the atom depends on those that were taken.
    #[inline(always)]
    fn take<T: Real>(&mut self, atoms: &Atoms<T>, j: usize, c: &mut [f64], stride: usize) -> Option<f64> {
        self.free[j] = 0.0;
        let n = self.taken.len();
        let at = self.factor.len();
        self.factor.extend((0..n).map(|i| self.v[i * stride + j]));
        let w = &self.factor[at..];
        let whole = atoms.square[j].to_f64();
        let pivot = whole - w.iter().map(|w| w * w).sum::<f64>();
        if pivot <= 1e-12 * whole {
            self.factor.truncate(at);
            return None;
        }
        let pivot = pivot.sqrt();
        let (before, gram) = (n * stride, atoms.gram_row(j));
        self.v.extend_from_slice(&gram);
        let (done, new) = self.v.split_at_mut(before);
        for (w, v) in w.iter().zip(done.chunks_exact(stride)) {
            add(new, -w, v);
        }
        let by = 1.0 / pivot;
        new.iter_mut().for_each(|v| *v *= by);
        let q = c[j] * by;
        add(c, -q, new);
        self.factor.push(pivot);
        self.taken.push(j);
        self.q.push(q);
        Some(q * q)
    }

    /// `L' z = q`.
    fn solution(&self) -> Vec<f64> {
        let mut z = self.q.clone();
        let row = |i: usize| i * (i + 1) / 2;
        for i in (0..z.len()).rev() {
            z[i] /= self.factor[row(i) + i];
            let (value, w) = (z[i], &self.factor[row(i)..row(i) + i]);
            z.iter_mut().zip(w).for_each(|(z, w)| *z -= value * w);
        }
        z
    }

    #[cold]
    fn squared_error<T: Real>(&self, atoms: &Atoms<T>, x: &[T]) -> f64 {
        let mut r: Vec<f64> = x.iter().map(|x| x.to_f64()).collect();
        for (z, &j) in self.solution().iter().zip(&self.taken) {
            r.iter_mut().zip(atoms.wide.row(j)).for_each(|(r, a)| *r -= z * a);
        }
        r.iter().map(|r| r * r).sum()
    }
}

/// `to += by * from`.
#[inline(always)]
fn add(to: &mut [f64], by: f64, from: &[f64]) {
    for (to, from) in to.as_chunks_mut::<CELL>().0.iter_mut().zip(from.as_chunks::<CELL>().0) {
        for l in 0..CELL {
            to[l] = by.mul_add(from[l], to[l]);
        }
    }
}
