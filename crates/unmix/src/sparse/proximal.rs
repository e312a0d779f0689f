//! The lasso by proximal gradient steps: ISTA, and FISTA (Beck & Teboulle 2009) with adaptive restart (O'Donoghue & Candès 2015).
//!
//! ```text
//! z+ = S(y + A (x - y A) / L),    y = z, or z+ + (t - 1)/t+ (z+ - z)        L >= ||A||²
//! t = 1, y = z+   where   (y - z+)·(z+ - z) > 0
//! ```

use super::Atoms;
use super::gap::dual_scale;
use super::lasso::{Correlations, Lasso, Row, StoppingRule, WithGram, WithoutGram};
use super::rows::{self, RowWork, Work};
use super::set::Threshold;
use crate::num::Real;

/// Proximal gradient steps for the problem of [`Lasso`]; [`StoppingRule::Passes`] is a number of steps.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Proximal {
    /// The problem and the stopping rule.
    pub lasso: Lasso,
    /// Whether steps have momentum, which is restarted when it opposes the step.
    pub accelerated: bool,
}

/// Steps of FISTA between two evaluations of the gap: each needs its own correlations.
const STEPS_BETWEEN_GAPS: usize = 10;

/// Buffers of one row.
#[derive(Default)]
pub(super) struct Steps<T> {
    y: Vec<T>,
    used: Vec<usize>,
    values: Vec<T>,
}

impl Proximal {
    /// ISTA.
    pub fn ista(lasso: Lasso) -> Self {
        Self { lasso, accelerated: false }
    }

    /// FISTA.
    pub fn fista(lasso: Lasso) -> Self {
        Self { lasso, accelerated: true }
    }

    /// Codes `rows` from the start in `codes`, as [`Lasso::code`] does. Returns the maximum number of steps of a row. A step of
    /// ISTA never increases the objective. `O(n_atoms n_nonzero)` for each step, or `O(n_atoms n_features)` without the Gram
    /// matrix.
    pub fn code<T: Real>(&self, atoms: &Atoms<T>, rows: &[T], codes: &mut [T], work: &mut Work<T>) -> u64 {
        let step = T::from_f64(1.0 / atoms.lipschitz().max(T::DTYPE.least()));
        rows::blocks(
            atoms,
            rows,
            codes,
            work,
            #[inline(always)]
            |row, code, work| {
                let n = match &atoms.gram {
                    Some(gram) => {
                        self.solve(atoms, &mut WithGram { atoms, gram, b: row.b }, row, code, step, work)
                    }
                    None => self.solve(atoms, &mut WithoutGram::new(atoms, row), row, code, step, work),
                };
                // With the Gram matrix, equal atoms have equal steps.
                atoms.move_to_first_copies(code);
                n
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
        of: &mut impl Correlations<T>,
        row: Row<'_, T>,
        z: &mut [T],
        step: T,
        work: &mut RowWork<T>,
    ) -> u64 {
        let zero = T::default();
        let Lasso { alpha, positive, stop } = self.lasso;
        let threshold = Threshold::<T>::new(alpha * step.to_f64(), positive);
        let (tol, most) = match stop {
            StoppingRule::UpTo { tol, max_passes } => (Some(tol), max_passes),
            StoppingRule::Passes(n) => (None, n),
        };
        for (z, square) in z.iter_mut().zip(&atoms.square) {
            *z = if *square == zero || (positive && *z < zero) { zero } else { *z };
        }
        let RowWork { c, steps, .. } = work;
        c.clear();
        c.resize(atoms.stride, zero);
        steps.y.clear();
        steps.y.extend_from_slice(z);
        let mut t = 1.0f64;
        for n in 0..=most {
            let check = tol.filter(|_| !self.accelerated || n % STEPS_BETWEEN_GAPS == 0 || n == most);
            if let Some(tol) = check {
                steps.correlations(of, z, c);
                if gap_of(row, (alpha, positive), z, c) <= 0.9 * tol * 0.5 * row.norm {
                    return n as u64;
                }
            }
            if n == most {
                break;
            }
            if check.is_none() || self.accelerated {
                let y = std::mem::take(&mut steps.y);
                steps.correlations(of, &y, c);
                steps.y = y;
            }
            let mut uphill = zero;
            for ((z, y), c) in z.iter_mut().zip(&mut steps.y).zip(c.iter()) {
                let new = threshold.soft(step.times_plus(*c, *y));
                uphill = (*y - new).times_plus(new - *z, uphill);
                // The change is kept in `y` until the momentum is known.
                (*y, *z) = (new - *z, new);
            }
            let momentum = match self.accelerated && uphill <= zero {
                true => T::from_f64(momentum(&mut t)),
                false => {
                    t = 1.0;
                    zero
                }
            };
            steps.y.iter_mut().zip(z.iter()).for_each(|(y, z)| *y = momentum.times_plus(*y, *z));
        }
        most as u64
    }
}

impl<T: Real> Steps<T> {
    #[inline(always)]
    fn correlations(&mut self, of: &mut impl Correlations<T>, z: &[T], c: &mut [T]) {
        self.used.clear();
        self.values.clear();
        for (j, z) in z.iter().enumerate().filter(|(_, z)| **z != T::default()) {
            self.used.push(j);
            self.values.push(*z);
        }
        of.correlations(&self.used, &self.values, c);
    }
}

/// Replaces `t` by the next of its sequence, and returns the momentum `(t - 1) / t+`.
#[inline(always)]
fn momentum(t: &mut f64) -> f64 {
    let before = *t;
    *t = (1.0 + (1.0 + 4.0 * before * before).sqrt()) / 2.0;
    (before - 1.0) / *t
}

/// Duality gap from correlations.
#[inline(always)]
fn gap_of<T: Real>(row: Row<'_, T>, (alpha, positive): (f64, bool), z: &[T], c: &[T]) -> f64 {
    let size = |c: &T| if positive { c.to_f64() } else { c.to_f64().abs() };
    let most = c.iter().map(size).fold(0.0, f64::max);
    let (mut zb, mut zc, mut sum) = (0.0, 0.0, 0.0);
    for ((z, b), c) in z.iter().zip(row.b).zip(c) {
        let z = z.to_f64();
        zb += z * b.to_f64();
        zc += z * c.to_f64();
        sum += z.abs();
    }
    let r = row.norm - zb - zc;
    let wanted = if r > 1e-3 * T::DTYPE.eps().sqrt() * row.norm { (row.norm - zb) / r } else { 1.0 };
    let s = dual_scale(alpha, most, wanted).max(0.0);
    0.5 * (1.0 - s) * (1.0 - s) * r.max(0.0) + (alpha * sum - s * zc)
}
