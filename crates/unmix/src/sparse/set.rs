//! The working set: the few atoms over which a code is optimised at a time.

use super::gap::dual_scale;
use crate::num::Real;
use crate::num::simd::{SIMD_WIDTH, add_multiple};

/// Some atoms, the code of a row on them, the correlations `c = A (x - z A)` of its residual with them, and their inner products.
#[derive(Default)]
pub(super) struct Set<T> {
    pub(super) atoms: Vec<usize>,
    pub(super) z: Vec<T>,
    /// Correlations with the residual; padded with zeros to `stride`.
    pub(super) c: Vec<T>,
    /// Correlations with the row.
    b: Vec<T>,
    square: Vec<T>,
    inverse: Vec<T>,
    /// Gram matrix, `stride` numbers for each atom, padded with zeros.
    gram: Vec<T>,
    stride: usize,
}

/// Weight of the penalty in the form of a coordinate step: `t - clamp(t, low, alpha)` is soft thresholding, where `low` is `-alpha`,
/// or minus infinity for non-negative codes.
#[derive(Clone, Copy)]
pub(super) struct Threshold<T> {
    pub(super) low: T,
    pub(super) alpha: T,
}

impl<T: Real> Threshold<T> {
    pub(super) fn new(alpha: f64, positive: bool) -> Self {
        let low = if positive { f64::NEG_INFINITY } else { -alpha };
        Self { low: T::from_f64(low), alpha: T::from_f64(alpha) }
    }

    #[inline(always)]
    pub(super) fn soft(self, t: T) -> T {
        let most = if t > self.alpha { self.alpha } else { t };
        t - if most < self.low { self.low } else { most }
    }
}

impl<T: Real> Set<T> {
    pub(super) fn clear(&mut self) {
        self.atoms.clear();
        self.z.clear();
        self.c.clear();
        self.b.clear();
        self.square.clear();
        self.inverse.clear();
        self.stride = self.stride.max(SIMD_WIDTH);
        self.gram.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.atoms.len()
    }

    /// Adds atom `j`, of squared norm `square`, with this code and these correlations with the row; `gram(i)` is its inner product with
    /// atom `i`.
    #[inline(always)]
    pub(super) fn insert(
        &mut self,
        j: usize,
        (z, b): (T, T),
        (square, inverse): (T, T),
        gram: impl Fn(usize) -> T,
    ) {
        let n = self.atoms.len();
        if n == self.stride {
            self.widen();
        }
        let stride = self.stride;
        self.gram.resize((n + 1) * stride, T::default());
        for (i, &atom) in self.atoms.iter().enumerate() {
            let g = gram(atom);
            self.gram[n * stride + i] = g;
            self.gram[i * stride + n] = g;
        }
        self.gram[n * stride + n] = square;
        self.atoms.push(j);
        self.z.push(z);
        self.b.push(b);
        self.square.push(square);
        self.inverse.push(inverse);
    }

    fn widen(&mut self) {
        let (old, new) = (self.stride, self.stride * 2);
        let mut gram = vec![T::default(); self.atoms.len() * new];
        for (to, from) in gram.chunks_exact_mut(new).zip(self.gram.chunks_exact(old)) {
            to[..old].copy_from_slice(from);
        }
        (self.gram, self.stride) = (gram, new);
    }

    /// Removes the atoms whose code is 0, calling `left_out` for each.
    pub(super) fn prune(&mut self, mut left_out: impl FnMut(usize)) {
        let zero = T::default();
        let kept: Vec<usize> = (0..self.len()).filter(|&i| self.z[i] != zero).collect();
        (0..self.len()).filter(|&i| self.z[i] == zero).for_each(|i| left_out(self.atoms[i]));
        let stride = self.stride;
        for (to, &from) in kept.iter().enumerate() {
            for (column, &source) in kept.iter().enumerate() {
                self.gram[to * stride + column] = self.gram[from * stride + source];
            }
            self.gram[to * stride + kept.len()..(to + 1) * stride].fill(zero);
            self.atoms[to] = self.atoms[from];
            for of in [&mut self.z, &mut self.b, &mut self.square, &mut self.inverse] {
                of[to] = of[from];
            }
        }
        self.gram.truncate(kept.len() * stride);
        self.atoms.truncate(kept.len());
        [&mut self.z, &mut self.b, &mut self.square, &mut self.inverse]
            .into_iter()
            .for_each(|of| of.truncate(kept.len()));
    }

    /// Copies the correlations with the residual from those of all atoms.
    #[inline(always)]
    pub(super) fn read(&mut self, all: &[T]) {
        self.c.clear();
        self.c.resize(self.stride, T::default());
        self.c.iter_mut().zip(&self.atoms).for_each(|(c, &j)| *c = all[j]);
    }

    /// Inner products of the atom at `i` with those of the set; padded with zeros.
    #[inline(always)]
    pub(super) fn gram_row(&self, i: usize) -> &[T] {
        &self.gram[i * self.stride..(i + 1) * self.stride]
    }

    /// Correlation with the row of the atom at `i`.
    #[inline(always)]
    pub(super) fn b(&self, i: usize) -> T {
        self.b[i]
    }

    /// `||a||²` of the atom at `i`.
    #[inline(always)]
    pub(super) fn square(&self, i: usize) -> T {
        self.square[i]
    }

    /// Recomputes the correlations with the residual from the code.
    #[inline(always)]
    pub(super) fn refresh(&mut self) {
        let zero = T::default();
        let (b, rest) = self.c.split_at_mut(self.b.len());
        b.copy_from_slice(&self.b);
        rest.fill(zero);
        for (z, gram) in self.z.iter().zip(self.gram.chunks_exact(self.stride)).filter(|(z, _)| **z != zero) {
            add_multiple(&mut self.c, zero - *z, gram);
        }
    }

    /// One pass of coordinate descent. `O(n²)`, less if codes do not change.
    #[inline(always)]
    pub(super) fn pass(&mut self, threshold: Threshold<T>) {
        let zero = T::default();
        let stride = self.stride;
        for (i, gram) in self.gram.chunks_exact(stride).enumerate() {
            let old = self.z[i];
            let t = old.times_plus(self.square[i], self.c[i]);
            let new = threshold.soft(t) * self.inverse[i];
            let change = old - new;
            if change != zero {
                self.z[i] = new;
                add_multiple(&mut self.c, change, gram);
            }
        }
    }

    /// `(z·b, z·c)` in double precision.
    #[inline(always)]
    fn products(&self) -> (f64, f64) {
        let (mut zb, mut zc) = (0.0, 0.0);
        for ((z, b), c) in self.z.iter().zip(&self.b).zip(&self.c) {
            let z = z.to_f64();
            zb += z * b.to_f64();
            zc += z * c.to_f64();
        }
        (zb, zc)
    }

    /// The largest correlation; in absolute value unless codes are positive.
    #[inline(always)]
    pub(super) fn most(&self, positive: bool) -> f64 {
        let size = |c: &T| if positive { c.to_f64() } else { c.to_f64().abs() };
        self.c[..self.len()].iter().map(size).fold(0.0, |a, b| if b > a { b } else { a })
    }

    /// Duality gap of the code for a dictionary whose largest correlation is `most`; `norm` is `||x||²`. The squared residual is
    /// computed from correlations: `||r||² = ||x||² - z·b - z·c`. Its error through cancellation is multiplied by `(1 - s)²`.
    #[inline(always)]
    pub(super) fn gap(&self, alpha: f64, norm: f64, most: f64) -> f64 {
        let (zb, zc) = self.products();
        let r = norm - zb - zc;
        let exact = r > 1e-3 * T::DTYPE.eps().sqrt() * norm;
        let s = dual_scale(alpha, most, if exact { (norm - zb) / r } else { 1.0 }).max(0.0);
        let z: f64 = self.z.iter().map(|z| z.to_f64().abs()).sum();
        0.5 * (1.0 - s) * (1.0 - s) * r.max(0.0) + (alpha * z - s * zc)
    }
}
