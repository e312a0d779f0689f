//! A given number of passes over all atoms, in their order, from a given code: each coordinate is minimised exactly, so that no pass
//! increases the objective.

use super::Atoms;
use super::lasso::{Lasso, Row, dot};
use super::rows::RowWork;
use super::set::Threshold;
use crate::num::Real;
use crate::num::simd::{SIMD_WIDTH, add_multiple};

/// `n` passes. With the Gram matrix, a coordinate that does not change costs `O(1)` and one that changes `O(n_atoms)`; without it
/// each costs `O(n_features)`.
#[inline(always)]
pub(super) fn passes<T: Real>(
    lasso: &Lasso,
    atoms: &Atoms<T>,
    row: Row<'_, T>,
    code: &mut [T],
    n: usize,
    work: &mut RowWork<T>,
) -> u64 {
    let (zero, stride) = (T::default(), atoms.stride);
    let threshold = Threshold::<T>::new(lasso.alpha, lasso.positive);
    for (z, square) in code.iter_mut().zip(&atoms.square) {
        // A zero atom has code 0.
        *z = if *square == zero || (lasso.positive && *z < zero) { zero } else { *z };
    }
    let Some(gram) = &atoms.gram else { return on_residual(threshold, atoms, row, code, n, work) };
    let c = &mut work.c;
    c.clear();
    c.extend_from_slice(row.b);
    for (j, z) in code.iter().enumerate().filter(|(_, z)| **z != zero) {
        add_multiple(c, zero - *z, &gram[j * stride..(j + 1) * stride]);
    }
    for _ in 0..n {
        for at in (0..code.len()).step_by(SIMD_WIDTH) {
            let end = code.len().min(at + SIMD_WIDTH);
            let unchanged = c[at..end]
                .iter()
                .zip(&code[at..end])
                .fold(true, |all, (c, z)| all & (*z == zero) & (threshold.soft(*c) == zero));
            if unchanged {
                continue;
            }
            for j in at..end {
                let old = code[j];
                let new = threshold.soft(old.times_plus(atoms.square[j], c[j])) * atoms.inverse[j];
                if new != old {
                    code[j] = new;
                    add_multiple(c, old - new, &gram[j * stride..(j + 1) * stride]);
                }
            }
        }
    }
    n as u64
}

#[inline(always)]
fn on_residual<T: Real>(
    threshold: Threshold<T>,
    atoms: &Atoms<T>,
    row: Row<'_, T>,
    code: &mut [T],
    n: usize,
    work: &mut RowWork<T>,
) -> u64 {
    let (zero, residual) = (T::default(), &mut work.residual);
    residual.clear();
    residual.extend_from_slice(row.x);
    for (j, z) in code.iter().enumerate().filter(|(_, z)| **z != zero) {
        add_multiple(residual, zero - *z, atoms.narrow.row(j));
    }
    for _ in 0..n {
        for (j, z) in code.iter_mut().enumerate() {
            let (old, atom) = (*z, atoms.narrow.row(j));
            let c = dot(atom, residual);
            *z = threshold.soft(old.times_plus(atoms.square[j], c)) * atoms.inverse[j];
            if *z != old {
                add_multiple(residual, old - *z, atom);
            }
        }
    }
    n as u64
}
