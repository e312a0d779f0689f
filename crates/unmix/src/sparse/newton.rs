//! The minimum over the active atoms of a code with its signs fixed (the step of feature-sign search, Lee, Battle, Raina & Ng 2007).
//!
//! ```text
//! G_SS y = b_S - alpha sign(z_S)
//! z <- z + t (y - z),  t = 1, or where the first code reaches 0, which then leaves S; until t = 1
//! ```
//!
//! The objective decreases along each step, because it is quadratic while no sign changes. If atoms are linearly dependent, so that a
//! pivot vanishes, no step is made, and coordinate descent continues.

use super::set::{Set, Threshold};
use crate::num::Real;
use crate::num::simd::{SIMD_WIDTH, add_multiple};

/// Buffers of the step.
#[derive(Default)]
pub(super) struct Newton<T> {
    /// Indices in the set of the active atoms.
    support: Vec<usize>,
    /// `G_SS` during elimination, with the right-hand side as the last column; padded with zeros.
    rows: Vec<T>,
    y: Vec<T>,
}

impl<T: Real> Newton<T> {
    /// The step on `set`; false if it was not possible.
    #[inline(always)]
    pub(super) fn step(&mut self, set: &mut Set<T>, threshold: Threshold<T>) -> bool {
        let zero = T::default();
        self.support.clear();
        self.support.extend((0..set.len()).filter(|&i| set.z[i] != zero));
        while !self.support.is_empty() {
            if !self.solve(set, threshold) {
                return false;
            }
            let crossed = self.first_crossing(&set.z);
            let Some((t, leaves)) = crossed else {
                self.support.iter().zip(&self.y).for_each(|(&i, y)| set.z[i] = *y);
                break;
            };
            for (&i, y) in self.support.iter().zip(&self.y) {
                let (before, next) = (set.z[i], t.times_plus(*y - set.z[i], set.z[i]));
                // Codes that change sign through rounding are set to 0, too.
                set.z[i] = if (next > zero) == (before > zero) { next } else { zero };
            }
            set.z[leaves] = zero;
            self.support.retain(|&i| set.z[i] != zero);
        }
        set.refresh();
        true
    }

    /// The step length at which the first code becomes 0, and its index.
    #[inline(always)]
    fn first_crossing(&self, z: &[T]) -> Option<(T, usize)> {
        let zero = T::default();
        let mut first: Option<(T, usize)> = None;
        for (&i, y) in self.support.iter().zip(&self.y) {
            let z = z[i];
            if (z > zero) == (*y > zero) && *y != zero {
                continue;
            }
            let t = T::from_f64(z.to_f64() / (z.to_f64() - y.to_f64()));
            if first.is_none_or(|(least, _)| t < least) {
                first = Some((t, i));
            }
        }
        first
    }

    /// `G_SS y = b_S - alpha sign(z_S)`, by elimination in the order of the set.
    #[inline(always)]
    fn solve(&mut self, set: &Set<T>, threshold: Threshold<T>) -> bool {
        let (n, zero) = (self.support.len(), T::default());
        let width = (n + 1).next_multiple_of(SIMD_WIDTH);
        // A pivot is treated as 0 if less than this fraction of the atom's square is outside the span of the atoms before it.
        let least = T::from_f64(100.0 * T::DTYPE.eps());
        self.rows.clear();
        self.rows.resize(n * width, zero);
        for (&i, row) in self.support.iter().zip(self.rows.chunks_exact_mut(width)) {
            let gram = set.gram_row(i);
            row.iter_mut().zip(&self.support).for_each(|(to, &j)| *to = gram[j]);
            row[n] = set.b(i) - if set.z[i] > zero { threshold.alpha } else { zero - threshold.alpha };
        }
        for k in 0..n {
            let (done, rest) = self.rows.split_at_mut((k + 1) * width);
            let row = &done[k * width..];
            let pivot = row[k];
            if pivot.partial_cmp(&(least * set.square(self.support[k]))) != Some(std::cmp::Ordering::Greater)
            {
                return false;
            }
            let inverse = T::from_f64(1.0 / pivot.to_f64());
            for (below, to) in rest.chunks_exact_mut(width).enumerate() {
                let i = k + 1 + below;
                let by = zero - row[i] * inverse;
                let from = i / SIMD_WIDTH * SIMD_WIDTH;
                add_multiple(&mut to[from..], by, &row[from..]);
            }
        }
        self.y.clear();
        self.y.resize(n, zero);
        for k in (0..n).rev() {
            let row = &self.rows[k * width..(k + 1) * width];
            let known = row[k + 1..n]
                .iter()
                .zip(&self.y[k + 1..])
                .fold(row[n], |s, (u, y)| (zero - *u).times_plus(*y, s));
            self.y[k] = known * T::from_f64(1.0 / row[k].to_f64());
        }
        true
    }
}
