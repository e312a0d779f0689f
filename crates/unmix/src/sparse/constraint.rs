//! Constraint set of the atoms of a dictionary, block coordinate descent over the atoms, and their coherence.

use crate::choices::choices;
use crate::num::{Matrix, kernel, widest};

choices! {
    /// Constraint on the norm of an atom.
    #[derive(Default)]
    pub enum AtomNorm {
        /// At most 1. At a minimum of the objective every atom that is used has norm 1.
        #[default]
        Ball = "ball",
        /// Exactly 1.
        Sphere = "sphere",
    }
}

/// The constraint set of every atom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AtomSet {
    pub(crate) norm: AtomNorm,
    /// Whether entries must be non-negative.
    pub(crate) positive: bool,
}

/// Number of atoms that are updated between two products with all atoms.
const ATOMS_PER_BLOCK: usize = 32;

/// Number of atoms whose cosines with all others are computed at a time.
const ATOMS_PER_PRODUCT: usize = 64;

/// An atom is updated if its fraction of the mean square of all codes exceeds this: below it the quotient is rounding errors.
const LEAST_USE: f64 = 1e-10;

impl AtomSet {
    /// Projects a vector onto the set; false if there is no projection, because the vector is zero and cannot be scaled to norm 1.
    pub(crate) fn project(self, atom: &mut [f64]) -> bool {
        if self.positive {
            atom.iter_mut().for_each(|x| *x = x.max(0.0));
        }
        let norm = norm(atom);
        match self.norm {
            AtomNorm::Ball if norm <= 1.0 => true,
            AtomNorm::Sphere if norm == 0.0 => false,
            _ => {
                atom.iter_mut().for_each(|x| *x /= norm);
                true
            }
        }
    }

    /// [Projects](Self::project) every row.
    pub(crate) fn project_all(self, atoms: &mut Matrix<f64>) {
        for i in 0..atoms.rows() {
            let mut atom = atoms.row(i).to_vec();
            if self.project(&mut atom) {
                atoms.row_mut(i).copy_from_slice(&atom);
            }
        }
    }

    /// One sweep of block coordinate descent over `½ tr(A' P A) - tr(A' Q)`: `a_j <- project(a_j + (q_j - P_j A) / P_jj)`, one atom after
    /// the other (Mairal et al. 2009, algorithm 2). `atoms` is `m x p`, `p` the second moments of codes (`m x m`), `q` the cross moments
    /// of codes and rows (`m x p`). Unused atoms are unchanged. `O(m² p)`.
    pub(crate) fn sweep(self, atoms: &mut Matrix<f64>, p: &Matrix<f64>, q: &Matrix<f64>) {
        let (m, width) = (atoms.rows(), atoms.cols());
        let trace: f64 = (0..m).map(|j| p[(j, j)]).sum();
        let least = LEAST_USE * trace / m.max(1) as f64;
        let mut rest = vec![0.0; ATOMS_PER_BLOCK * width];
        let (mut next, mut step) = (vec![0.0; width], vec![0.0; width]);
        for first in (0..m).step_by(ATOMS_PER_BLOCK) {
            let end = m.min(first + ATOMS_PER_BLOCK);
            let n = end - first;
            // The residuals of Q for the atoms of the block, before any of them is updated.
            kernel::product(
                &mut rest[..n * width],
                &p.as_slice()[first * m..end * m],
                atoms.as_slice(),
                n,
                m,
                width,
            );
            let own = &q.as_slice()[first * width..end * width];
            rest.iter_mut().zip(own).for_each(|(r, q)| *r = q - *r);
            for j in first..end {
                let used = p[(j, j)];
                if used <= least {
                    continue;
                }
                let at = (j - first) * width;
                let atom = atoms.row_mut(j);
                let residual = &rest[at..at + width];
                widest(
                    #[inline(always)]
                    || {
                        let each = next.iter_mut().zip(&*atom).zip(residual);
                        each.for_each(|((next, a), r)| *next = a + r / used);
                    },
                );
                if !self.project(&mut next) || next.iter().any(|x| !x.is_finite()) {
                    continue;
                }
                step.iter_mut().zip(&next).zip(&*atom).for_each(|((s, n), a)| *s = n - a);
                atom.copy_from_slice(&next);
                widest(
                    #[inline(always)]
                    || {
                        for (i, rest) in rest[at + width..n * width].chunks_exact_mut(width).enumerate() {
                            let with = p[(j + 1 + i, j)];
                            if with != 0.0 {
                                rest.iter_mut().zip(&step).for_each(|(r, s)| *r -= with * s);
                            }
                        }
                    },
                );
            }
        }
    }
}

/// Euclidean norm of a vector; computed relative to its largest entry, so that squares neither overflow nor underflow.
pub(crate) fn norm(x: &[f64]) -> f64 {
    let most = x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if most == 0.0 || !most.is_finite() {
        return most;
    }
    most * x.iter().map(|x| (x / most) * (x / most)).sum::<f64>().sqrt()
}

/// The largest absolute cosine between two atoms, and the number of pairs above .99; `None` once `late`, which is checked before every
/// 64 atoms. Zero atoms are ignored. `O(m² p)`.
pub(crate) fn coherence(atoms: &Matrix<f64>, late: impl Fn() -> bool) -> Option<(f64, usize)> {
    let mut unit = atoms.clone();
    for i in 0..unit.rows() {
        let length = norm(unit.row(i));
        if length > 0.0 {
            unit.row_mut(i).iter_mut().for_each(|x| *x /= length);
        }
    }
    let (mut most, mut alike) = (0.0f64, 0);
    let (m, p, numbers) = (unit.rows(), unit.cols(), unit.as_slice());
    let mut cosines = vec![0.0; ATOMS_PER_PRODUCT * m];
    for first in (0..m).step_by(ATOMS_PER_PRODUCT) {
        if late() {
            return None;
        }
        let end = (first + ATOMS_PER_PRODUCT).min(m);
        let cosines = &mut cosines[..(end - first) * end];
        let part = &numbers[first * p..end * p];
        kernel::product_by_rows(cosines, part, &numbers[..end * p], end - first, end, p);
        for (i, cosines) in (first..end).zip(cosines.chunks_exact(end)) {
            for cosine in &cosines[..i] {
                let cosine = cosine.abs().min(1.0);
                most = most.max(cosine);
                alike += usize::from(cosine > 0.99);
            }
        }
    }
    Some((most, alike))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::factor;
    use crate::num::random::Stream;

    fn normal(rows: usize, cols: usize, seed: u64) -> Matrix<f64> {
        let draws = Stream::new(seed, 0);
        Matrix::from_fn(rows, cols, |i, j| draws.normal((i * cols + j) as u64))
    }

    /// One atom after the other, by the formula as written.
    fn plain(set: AtomSet, atoms: &mut Matrix<f64>, p: &Matrix<f64>, q: &Matrix<f64>) {
        for j in 0..atoms.rows() {
            let mut next: Vec<f64> = (0..atoms.cols())
                .map(|c| {
                    let fitted: f64 = (0..atoms.rows()).map(|i| p[(j, i)] * atoms[(i, c)]).sum();
                    atoms[(j, c)] + (q[(j, c)] - fitted) / p[(j, j)]
                })
                .collect();
            if set.project(&mut next) {
                atoms.row_mut(j).copy_from_slice(&next);
            }
        }
    }

    #[test]
    fn blocks_give_the_sweep_of_one_atom_after_the_other() {
        for (norm, positive) in [(AtomNorm::Ball, false), (AtomNorm::Sphere, false), (AtomNorm::Ball, true)] {
            let set = AtomSet { norm, positive };
            let (codes, x) = (normal(200, 70, 1), normal(200, 9, 2));
            let p = factor::multiply(&codes.transposed(), &codes);
            let q = factor::multiply(&codes.transposed(), &x);
            let mut atoms = normal(70, 9, 3);
            set.project_all(&mut atoms);
            let mut want = atoms.clone();
            for _ in 0..3 {
                set.sweep(&mut atoms, &p, &q);
                plain(set, &mut want, &p, &q);
            }
            let apart =
                atoms.as_slice().iter().zip(want.as_slice()).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
            assert!(apart < 1e-12, "{norm:?}: {apart:e}");
        }
    }

    #[test]
    fn a_sweep_lowers_the_objective_and_keeps_atoms_in_their_set() {
        let set = AtomSet { norm: AtomNorm::Ball, positive: false };
        let (codes, x) = (normal(100, 12, 4), normal(100, 5, 5));
        let value = |atoms: &Matrix<f64>| {
            let fitted = factor::multiply(&codes, atoms);
            fitted.as_slice().iter().zip(x.as_slice()).map(|(f, x)| (f - x).powi(2)).sum::<f64>()
        };
        let p = factor::multiply(&codes.transposed(), &codes);
        let q = factor::multiply(&codes.transposed(), &x);
        let mut atoms = normal(12, 5, 6);
        set.project_all(&mut atoms);
        let mut before = value(&atoms);
        for _ in 0..20 {
            set.sweep(&mut atoms, &p, &q);
            let after = value(&atoms);
            assert!(after <= before * (1.0 + 1e-12), "{after} after {before}");
            before = after;
            assert!((0..12).all(|i| norm(atoms.row(i)) <= 1.0 + 1e-12));
        }
    }

    #[test]
    fn cosines_of_many_atoms_are_compared_until_it_is_late() {
        let atoms = normal(200, 5, 4);
        let unit = |i: usize, j: usize| {
            let product: f64 = atoms.row(i).iter().zip(atoms.row(j)).map(|(a, b)| a * b).sum();
            (product / norm(atoms.row(i)) / norm(atoms.row(j))).abs()
        };
        let pairs: Vec<f64> = (0..200).flat_map(|i| (0..i).map(move |j| unit(i, j))).collect();
        let (most, alike) = coherence(&atoms, || false).unwrap();
        assert!((most - pairs.iter().fold(0.0f64, |m, c| m.max(*c))).abs() < 1e-12);
        assert_eq!(alike, pairs.iter().filter(|c| **c > 0.99).count());
        assert!(alike > 0);
        let blocks = std::cell::Cell::new(0);
        assert_eq!(coherence(&atoms, || blocks.replace(blocks.get() + 1) == 3), None);
        assert_eq!(blocks.get(), 4);
    }

    #[test]
    fn coherence_is_the_largest_cosine() {
        let atoms = Matrix::from_vec(4, 2, vec![1.0, 0.0, 0.0, 2.0, 3.0, 3.0, -5.0, 1e-3]);
        let (most, alike) = coherence(&atoms, || false).unwrap();
        assert!((most - 1.0 / (1.0 + 4e-8f64).sqrt()).abs() < 1e-12 && alike == 1, "{most}, {alike}");
    }
}
