//! The lasso by homotopy in alpha (Osborne, Presnell & Turlach 2000; LARS of Efron et al. 2004): as alpha decreases from the smallest value
//! for which all codes are 0, code and correlations are piecewise linear, with breakpoints where an atom enters or a code becomes 0.
//!
//! ```text
//! dz_S / d(-alpha) = G_SS^-1 sign(c_S),     dc / d(-alpha) = -G_:S G_SS^-1 sign(c_S)
//! ```
//!
//! In double precision, whatever the type of the rows. The inverse of the Gram matrix of the active atoms, divided by their norms, follows each
//! breakpoint in `O(k²)`; where its rounding errors show, and where an atom is nearly dependent on the others, it is computed anew.

use super::Atoms;
use super::lasso::Row;
use super::rows::{self, Work};
use crate::num::{Matrix, Real, as_type, factor, widest};
use std::borrow::Cow;

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

/// Fraction of an atom's square outside the span of the active atoms below which its part there is computed by a factorisation, whose error is
/// that of rounding alone.
const NEARLY_DEPENDENT: f64 = 1e-6;
/// The same fraction below which the atom counts as linearly dependent on them.
const DEPENDENT: f64 = 1e-12;
/// Largest error of the correlations along a direction, relative to alpha, before the inverse is computed anew.
const MOST_DRIFT: f64 = 1e-8;
/// The same, of an inverse that has just been computed: codes are corrected at every breakpoint, so that a few digits are enough.
const MOST_ERROR: f64 = 1e-3;

struct Path<'a, T> {
    atoms: &'a Atoms<T>,
    b: &'a [f64],
    positive: bool,
    active: Vec<usize>,
    sign: Vec<f64>,
    z: Vec<f64>,
    /// Norms of the active atoms, and their inner products with all atoms.
    norms: Vec<f64>,
    gram: Vec<Cow<'a, [f64]>>,
    /// Inverse of the Gram matrix of the active atoms divided by their norms.
    inverse: Vec<f64>,
    /// Whether each atom cannot enter: zero atoms, duplicates, active atoms, and those that depend linearly on the active ones.
    excluded: Vec<bool>,
    /// The atoms that are excluded as dependent, until an atom leaves.
    dependent: Vec<usize>,
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
        rows::blocks(atoms, rows, codes, work, |row: Row<'_, T>, code, _| {
            let b: Cow<'_, [f64]> = match as_type::<T, f64>(row.b) {
                Some(b) => b.into(),
                None => correlations(atoms, row.x).into(),
            };
            self.follow(atoms, &b, &[self.alpha], code)
        })
    }

    /// The codes of a row for each of `alphas`, which descend, one after the other in `codes`; `alpha` of the homotopy itself has no effect.
    pub(crate) fn along<T: Real>(&self, atoms: &Atoms<T>, x: &[T], alphas: &[f64], codes: &mut [T]) {
        self.follow(atoms, &correlations(atoms, x), alphas, codes);
    }

    /// The path of a row with these correlations. Returns the number of breakpoints; where it ends early, the last code is that of the
    /// remaining alphas.
    fn follow<T: Real>(&self, atoms: &Atoms<T>, b: &[f64], alphas: &[f64], codes: &mut [T]) -> u64 {
        codes.fill(T::default());
        let mut path = Path::new(atoms, b, self.positive);
        let Some((first, mut alpha)) = path.largest() else { return 0 };
        let mut targets = alphas.iter().zip(codes.chunks_exact_mut(atoms.n_atoms()));
        let Some((mut target, mut code)) = targets.find(|(target, _)| alpha > **target) else { return 0 };
        path.enter(first);
        let mut just_removed = None;
        let mut step = 0;
        while step < self.max_steps {
            step += 1;
            let Some((direction, slope)) = path.direction() else { break };
            let (by, event) = path.next(&direction, &slope, (alpha, alpha - target), just_removed.take());
            path.z.iter_mut().zip(&direction).for_each(|(z, d)| *z += by * d);
            alpha -= by;
            match event {
                Event::End => {
                    path.correct(alpha);
                    path.write(code);
                    match targets.next() {
                        Some(next) => (target, code) = next,
                        None => return step as u64,
                    }
                }
                Event::Enters(j) => {
                    path.correct(alpha);
                    path.enter(j);
                }
                Event::Leaves(i) => {
                    let sign = path.sign[i];
                    just_removed = Some((path.leave(i), sign));
                    path.correct(alpha);
                }
            }
        }
        std::iter::once(code).chain(targets.map(|(_, code)| code)).for_each(|code| path.write(code));
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

impl<'a, T: Real> Path<'a, T> {
    fn new(atoms: &'a Atoms<T>, b: &'a [f64], positive: bool) -> Self {
        Self {
            atoms,
            b,
            positive,
            active: Vec::new(),
            sign: Vec::new(),
            z: Vec::new(),
            norms: Vec::new(),
            gram: Vec::new(),
            inverse: Vec::new(),
            excluded: (0..atoms.n_atoms()).map(|j| atoms.square[j] == T::default()).collect(),
            dependent: Vec::new(),
            c: b.to_vec(),
        }
    }

    fn size(&self, c: f64) -> f64 {
        if self.positive { c } else { c.abs() }
    }

    /// The atom of the largest correlation, the first in case of ties.
    fn largest(&self) -> Option<(usize, f64)> {
        let sizes =
            (0..self.atoms.n_atoms()).filter(|&j| !self.excluded[j]).map(|j| (j, self.size(self.c[j])));
        sizes.filter(|(_, c)| *c > 0.0).reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    /// Makes an atom active, unless it depends linearly on the others.
    fn enter(&mut self, j: usize) {
        self.excluded[j] = true;
        self.active.push(j);
        let gram = self.atoms.gram_row(j);
        self.norms.push(gram[j].sqrt());
        self.gram.push(gram);
        if !self.border() {
            self.active.pop();
            self.norms.pop();
            self.gram.pop();
            self.dependent.push(j);
            return;
        }
        self.sign.push(if self.c[j] < 0.0 { -1.0 } else { 1.0 });
        self.z.push(0.0);
    }

    /// Inner product of two active atoms divided by their norms.
    fn cosine(&self, i: usize, j: usize) -> f64 {
        self.gram[i][self.active[j]] / (self.norms[i] * self.norms[j])
    }

    /// Extends the inverse by the last active atom; false, and no change, if that depends linearly on the others.
    fn border(&mut self) -> bool {
        let n = self.active.len() - 1;
        let h: Vec<f64> = (0..n).map(|i| self.cosine(n, i)).collect();
        let u = self.times_inverse(&h);
        let outside = 1.0 - h.iter().zip(&u).map(|(h, u)| h * u).sum::<f64>();
        if outside.partial_cmp(&NEARLY_DEPENDENT) != Some(std::cmp::Ordering::Greater) {
            return self.invert();
        }
        let mut next = Vec::with_capacity((n + 1) * (n + 1));
        for (i, ui) in u.iter().enumerate() {
            next.extend(self.inverse[i * n..(i + 1) * n].iter().zip(&u).map(|(x, uj)| x + ui * uj / outside));
            next.push(-ui / outside);
        }
        next.extend(u.iter().map(|u| -u / outside));
        next.push(1.0 / outside);
        self.inverse = next;
        true
    }

    /// Computes the inverse anew; false, and no change, if the last active atom depends linearly on the others.
    fn invert(&mut self) -> bool {
        let n = self.active.len();
        let cosines =
            Matrix::from_fn(n, n, |i, j| if i == j { 1.0 } else { self.cosine(i.max(j), i.min(j)) });
        let Some(inverse) = factor::Cholesky::new(&cosines).map(|of| of.inverse().into_vec()) else {
            return false;
        };
        let independent = inverse.last().is_some_and(|x| *x < 1.0 / DEPENDENT);
        if independent && inverse.iter().all(|x| x.is_finite()) {
            self.inverse = inverse;
            return true;
        }
        false
    }

    /// Removes the active atom at this position, and returns it; those that depended on the active ones may enter again.
    fn leave(&mut self, i: usize) -> usize {
        let n = self.active.len();
        let own: Vec<f64> = self.inverse[i * n..(i + 1) * n].to_vec();
        let mut next = Vec::with_capacity((n - 1) * (n - 1));
        for a in (0..n).filter(|a| *a != i) {
            let by = own[a] / own[i];
            let row = &self.inverse[a * n..(a + 1) * n];
            next.extend((0..n).filter(|b| *b != i).map(|b| row[b] - by * own[b]));
        }
        self.inverse = next;
        self.sign.remove(i);
        self.z.remove(i);
        self.norms.remove(i);
        self.gram.remove(i);
        for j in self.dependent.drain(..) {
            self.excluded[j] = false;
        }
        let left = self.active.remove(i);
        self.excluded[left] = false;
        left
    }

    /// The inverse, which is symmetric, times `v`.
    fn times_inverse(&self, v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; v.len()];
        v.iter().zip(self.inverse.chunks_exact(v.len().max(1))).for_each(|(v, row)| add(&mut out, *v, row));
        out
    }

    /// The solution of a system with the Gram matrix of the active atoms.
    fn solved(&self, right: impl Iterator<Item = f64>) -> Vec<f64> {
        let scaled: Vec<f64> = right.zip(&self.norms).map(|(x, norm)| x / norm).collect();
        let mut out = self.times_inverse(&scaled);
        out.iter_mut().zip(&self.norms).for_each(|(x, norm)| *x /= norm);
        out
    }

    /// `d = G_SS^-1 sign` and `G_:S d`; the last atoms that entered are excluded if these cannot be computed with them.
    fn direction(&mut self) -> Option<(Vec<f64>, Vec<f64>)> {
        let mut most = MOST_DRIFT;
        // Every second round leaves out an atom.
        for _ in 0..2 * self.active.len() + 4 {
            if self.active.is_empty() {
                let (j, _) = self.largest()?;
                self.enter(j);
                continue;
            }
            let d = self.solved(self.sign.iter().copied());
            let slope = self.slope(&d);
            let drift = self.active.iter().zip(&self.sign).map(|(&j, sign)| (slope[j] - sign).abs());
            if drift.fold(0.0, |a: f64, x| if x <= a { a } else { x }) <= most {
                return Some((d, slope));
            }
            if most == MOST_DRIFT && self.invert() {
                most = MOST_ERROR;
                continue;
            }
            let left = self.leave(self.active.len() - 1);
            self.excluded[left] = true;
            self.dependent.push(left);
            most = MOST_DRIFT;
        }
        None
    }

    /// `G_:S d`.
    fn slope(&self, d: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.atoms.stride];
        d.iter().zip(&self.gram).for_each(|(d, row)| add(&mut out, *d, row));
        out
    }

    /// `c = b - G z`, recomputed from the code; then the code is corrected by what the correlations of the active atoms differ from `alpha`.
    fn correct(&mut self, alpha: f64) {
        self.c.copy_from_slice(self.b);
        self.z.iter().zip(&self.gram).for_each(|(z, row)| add(&mut self.c, -z, row));
        let left = self.active.iter().zip(&self.sign).map(|(&j, sign)| self.c[j] - alpha * sign);
        let change = self.solved(left);
        for ((z, change), sign) in self.z.iter_mut().zip(change).zip(&self.sign) {
            let next = *z + change;
            // An atom that has just entered may have a code of rounding errors.
            *z = if next * sign < 0.0 { 0.0 } else { next };
        }
    }

    /// The decrease of alpha to the next event, at most `left`, and that event. The atom `just_removed` cannot enter again with the sign that it had,
    /// at which its correlation still is; with the other sign it can.
    fn next(
        &self,
        d: &[f64],
        slope: &[f64],
        (alpha, left): (f64, f64),
        just_removed: Option<(usize, f64)>,
    ) -> (f64, Event) {
        let (mut by, mut event) = (left, Event::End);
        let signs: &[f64] = if self.positive { &[1.0] } else { &[1.0, -1.0] };
        for j in (0..self.atoms.n_atoms()).filter(|&j| !self.excluded[j]) {
            for sign in signs.iter().filter(|sign| just_removed != Some((j, **sign))) {
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
        // An atom that entered through rounding errors of its correlation has a code of 0 that moves away from its sign: it leaves at once.
        for (i, ((z, d), sign)) in self.z.iter().zip(d).zip(&self.sign).enumerate() {
            let at = (-z / d).max(0.0);
            if d * sign < 0.0 && at < by {
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
