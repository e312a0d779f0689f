//! The lasso by homotopy in alpha (Osborne, Presnell & Turlach 2000; LARS of Efron et al. 2004): as alpha decreases from the smallest value
//! for which all codes are 0, code and correlations are piecewise linear, with breakpoints where an atom enters or a code becomes 0.
//!
//! ```text
//! dz_S / d(-alpha) = G_SS^-1 sign(c_S),     dc / d(-alpha) = -G_:S G_SS^-1 sign(c_S)
//! ```
//!
//! In double precision, whatever the type of the rows.

use super::Atoms;
use super::lasso::Row;
use super::rows::{self, RowWork, Work};
use crate::num::{Matrix, Real, as_type, factor, widest};

/// The homotopy from the smallest alpha for which all codes are 0 down to `alpha`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub(crate) struct Lars {
    /// Weight of the penalty, above 0.
    pub alpha: f64,
    /// Whether codes must be non-negative.
    pub positive: bool,
    /// Maximum number of breakpoints.
    pub max_steps: usize,
}

/// Event at a breakpoint.
enum Event {
    /// The target alpha is reached.
    End,
    /// This atom becomes active.
    Enters(usize),
    /// The code of the active atom at this position becomes 0.
    Leaves(usize),
}

struct Path<'a, T> {
    atoms: &'a Atoms<T>,
    b: &'a [f64],
    positive: bool,
    active: Vec<usize>,
    sign: Vec<f64>,
    z: Vec<f64>,
    /// Whether each atom is excluded: zero atoms, duplicates, and linearly dependent ones.
    excluded: Vec<bool>,
    c: Vec<f64>,
}

impl Lars {
    /// Down to `alpha`.
    pub(crate) fn of(alpha: f64) -> Self {
        Self { alpha, positive: false, max_steps: 1000 }
    }

    /// Codes `rows` into `codes`. Returns the maximum number of breakpoints of a row. `O(n_atoms n_nonzero)` for each breakpoint.
    pub(crate) fn code<T: Real>(
        &self,
        atoms: &Atoms<T>,
        rows: &[T],
        codes: &mut [T],
        work: &mut Work<T>,
    ) -> u64 {
        rows::blocks(atoms, rows, codes, work, |row, code, work| self.follow(atoms, row, code, work))
    }

    fn follow<T: Real>(&self, atoms: &Atoms<T>, row: Row<'_, T>, code: &mut [T], _: &mut RowWork<T>) -> u64 {
        code.fill(T::default());
        let b: Vec<f64> = match as_type::<T, f64>(row.b) {
            Some(b) => b.to_vec(),
            None => correlations(atoms, row.x),
        };
        let excluded = (0..atoms.n_atoms()).map(|j| atoms.square[j] == T::default()).collect();
        let mut path = Path {
            atoms,
            b: &b,
            positive: self.positive,
            active: Vec::new(),
            sign: Vec::new(),
            z: Vec::new(),
            excluded,
            c: b.clone(),
        };
        let Some((first, mut alpha)) = path.largest() else { return 0 };
        if alpha <= self.alpha {
            return 0;
        }
        path.enter(first);
        let mut just_removed = None;
        for step in 1..=self.max_steps {
            let Some(direction) = path.direction() else { break };
            let slope = path.slope(&direction);
            let (by, event) = path.next(&direction, &slope, (alpha, alpha - self.alpha), just_removed.take());
            path.z.iter_mut().zip(&direction).for_each(|(z, d)| *z += by * d);
            alpha -= by;
            match event {
                Event::End => {
                    path.write(code);
                    return step as u64;
                }
                Event::Enters(j) => {
                    path.correlate();
                    path.enter(j);
                }
                Event::Leaves(i) => {
                    just_removed = Some(path.active.remove(i));
                    path.sign.remove(i);
                    path.z.remove(i);
                    path.correlate();
                }
            }
        }
        path.write(code);
        self.max_steps as u64
    }
}

/// `A x` in double precision.
fn correlations<T: Real>(atoms: &Atoms<T>, x: &[T]) -> Vec<f64> {
    let x: Vec<f64> = x.iter().map(|x| x.to_f64()).collect();
    let mut out = vec![0.0; atoms.stride];
    let (p, m) = (atoms.n_features(), atoms.n_atoms());
    crate::num::kernel::product(&mut out, &x, atoms.across_wide(), 1, p, m);
    out
}

impl<T: Real> Path<'_, T> {
    fn size(&self, c: f64) -> f64 {
        if self.positive { c } else { c.abs() }
    }

    /// The atom of the largest correlation, the first in case of ties.
    fn largest(&self) -> Option<(usize, f64)> {
        let sizes =
            (0..self.atoms.n_atoms()).filter(|&j| !self.excluded[j]).map(|j| (j, self.size(self.c[j])));
        sizes.filter(|(_, c)| *c > 0.0).reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    fn enter(&mut self, j: usize) {
        self.active.push(j);
        self.sign.push(if self.c[j] < 0.0 { -1.0 } else { 1.0 });
        self.z.push(0.0);
    }

    /// `G_SS^-1 sign`. The last atom that entered is excluded permanently if it depends linearly on the others.
    fn direction(&mut self) -> Option<Vec<f64>> {
        loop {
            let n = self.active.len();
            if n == 0 {
                let (j, _) = self.largest()?;
                self.enter(j);
                continue;
            }
            let gram = Matrix::from_fn(n, n, |i, j| self.atoms.pair(self.active[i], self.active[j]));
            let sign = Matrix::from_vec(1, n, self.sign.clone());
            let solved = factor::Cholesky::new(&gram).map(|of| of.solve_rows(&sign).into_vec());
            // A linearly dependent atom gives a direction that is mostly rounding errors.
            let bound = 1e10 / gram.as_slice().iter().fold(f64::MIN_POSITIVE, |a: f64, g| a.max(*g));
            match solved {
                Some(d) if d.iter().all(|d| d.abs() < bound) => return Some(d),
                _ => {
                    let last = self.active.pop()?;
                    self.excluded[last] = true;
                    self.sign.pop();
                    self.z.pop();
                }
            }
        }
    }

    /// `G_:S d`.
    fn slope(&self, d: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.atoms.stride];
        for (d, &j) in d.iter().zip(&self.active) {
            add(&mut out, *d, &self.atoms.gram_row(j));
        }
        out
    }

    /// `c = b - G z`, recomputed from the code.
    fn correlate(&mut self) {
        self.c.copy_from_slice(self.b);
        for (z, &j) in self.z.iter().zip(&self.active) {
            add(&mut self.c, -z, &self.atoms.gram_row(j));
        }
    }

    /// The decrease of alpha to the next event, at most `left`, and that event. The atom `just_removed` cannot enter again.
    fn next(
        &self,
        d: &[f64],
        slope: &[f64],
        (alpha, left): (f64, f64),
        just_removed: Option<usize>,
    ) -> (f64, Event) {
        let (mut by, mut event) = (left, Event::End);
        let signs: &[f64] = if self.positive { &[1.0] } else { &[1.0, -1.0] };
        for j in (0..self.atoms.n_atoms()).filter(|&j| !self.excluded[j] && Some(j) != just_removed) {
            if self.active.contains(&j) {
                continue;
            }
            for sign in signs {
                let closes = 1.0 - sign * slope[j];
                if closes > 1e-10 {
                    // If several atoms enter at once, the others follow within rounding errors.
                    let at = ((alpha - sign * self.c[j]) / closes).max(0.0);
                    if at < by {
                        (by, event) = (at, Event::Enters(j));
                    }
                }
            }
        }
        for (i, (z, d)) in self.z.iter().zip(d).enumerate() {
            let at = -z / d;
            if z * d < 0.0 && at < by {
                (by, event) = (at, Event::Leaves(i));
            }
        }
        (by, event)
    }

    fn write(&self, code: &mut [T]) {
        self.active.iter().zip(&self.z).for_each(|(&j, z)| code[j] = T::from_f64(*z));
    }
}

/// `to += by * row`, each as one rounded operation.
fn add(to: &mut [f64], by: f64, row: &[f64]) {
    widest(
        #[inline(always)]
        || {
            for (to, x) in to.iter_mut().zip(row) {
                *to = by.mul_add(*x, *to);
            }
        },
    );
}
