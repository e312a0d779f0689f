//! The network: its parameters, and its layers applied to rows.
//!
//! ```text
//! r = x - z D,   v = z + t r E',   z+ = S(v, theta)          x: 1 x p,  z: 1 x m,  D, E: m x p
//! v = x E' + z S,   z+ = S(v, theta)                         of Gregor & LeCun
//! ```

use super::settings::LayerType;
use crate::num::{Real, kernel, widest};
use serde::{Deserialize, Serialize};

/// Quantities that are constant during training.
#[derive(Clone, Debug)]
pub(super) struct Problem<T> {
    pub(super) cell: LayerType,
    pub(super) n_layers: usize,
    /// Number of codes and number of columns.
    pub(super) m: usize,
    pub(super) p: usize,
    pub(super) alpha: f64,
    pub(super) positive: bool,
    /// Percentage of the entries that are not thresholded, per layer.
    pub(super) select: f64,
    /// The atoms, `m x p`, and their transpose. Duplicates of earlier atoms are replaced by zeros: their codes are 0.
    pub(super) atoms: Vec<T>,
    pub(super) across: Vec<T>,
    /// The encoder matrix of ALISTA, `m x p`, and its transpose.
    pub(super) analytic: Option<(Vec<T>, Vec<T>)>,
    /// Factor of the threshold of each entry, if these differ.
    pub(super) scale: Option<Vec<f64>>,
    /// Upper bound on the largest eigenvalue of the Gram matrix of the atoms.
    pub(super) lipschitz: f64,
}

/// The trained parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub(super) struct Params<T: Real> {
    /// `m x p` for each layer, or one for all of them; empty if the cell has none.
    pub(super) weights: Vec<Vec<T>>,
    /// `m x m`, for Gregor & LeCun.
    pub(super) recurrent: Vec<T>,
    /// One for each layer; empty if the cell has none.
    pub(super) steps: Vec<f64>,
    /// One for each layer, or one for all of them; empty if they are determined by the step lengths.
    pub(super) thresholds: Vec<f64>,
}

impl<T: Real> Params<T> {
    /// Transposed matrices, in the layout that layers need.
    pub(super) fn across(&self, problem: &Problem<T>) -> Vec<Vec<T>> {
        self.weights.iter().map(|w| transposed(w, problem.m, problem.p)).collect()
    }

    /// Whether every number is finite.
    pub(super) fn finite(&self) -> bool {
        let all = |values: &[T]| values.iter().all(|x| x.finite());
        let wide = |values: &[f64]| values.iter().all(|x| x.is_finite());
        self.weights.iter().all(|w| all(w))
            && all(&self.recurrent)
            && wide(&self.steps)
            && wide(&self.thresholds)
    }

    /// Copies the parameters of the layer before to layer `l`.
    pub(super) fn copy_layer(&mut self, l: usize) {
        if self.weights.len() > l {
            self.weights[l] = self.weights[l - 1].clone();
        }
        for values in [&mut self.steps, &mut self.thresholds] {
            if values.len() > l {
                values[l] = values[l - 1];
            }
        }
    }

    /// Makes layer `l` the identity, if it has parameters of its own.
    pub(super) fn make_identity(&mut self, l: usize, cell: LayerType) {
        if cell == LayerType::Cp && self.weights.len() > l {
            self.weights[l].fill(T::default());
        }
        for values in [&mut self.steps, &mut self.thresholds] {
            if values.len() > l {
                values[l] = 0.0;
            }
        }
    }
}

/// Transposes a row-major `rows x cols` matrix.
pub(super) fn transposed<T: Real>(a: &[T], rows: usize, cols: usize) -> Vec<T> {
    (0..cols).flat_map(|c| (0..rows).map(move |r| a[r * cols + c])).collect()
}

/// A network, prepared for encoding.
#[derive(Clone, Copy)]
pub(super) struct Net<'n, T: Real> {
    pub(super) problem: &'n Problem<T>,
    pub(super) params: &'n Params<T>,
    /// Transposed matrices.
    pub(super) across: &'n [Vec<T>],
}

/// Buffers of one block of rows.
#[derive(Default)]
pub(super) struct Buffers<T> {
    /// `x - z D`, `n x p`.
    pub(super) r: Vec<T>,
    /// `r E'`, or `x E'` of Gregor & LeCun, `n x m`.
    pub(super) u: Vec<T>,
    order: Vec<usize>,
    v: Vec<T>,
    /// The codes of every other layer, `n x m`.
    z: Vec<T>,
}

impl<'n, T: Real> Net<'n, T> {
    /// The matrix `E` of layer `l`, and its transpose.
    pub(super) fn encoder(&self, l: usize) -> (&'n [T], &'n [T]) {
        match (self.problem.cell, &self.problem.analytic) {
            (LayerType::Step, _) => (&self.problem.atoms, &self.problem.across),
            (LayerType::Alista, Some((w, across))) => (w, across),
            _ => {
                let at = l.min(self.params.weights.len().saturating_sub(1));
                (&self.params.weights[at], &self.across[at])
            }
        }
    }

    /// The matrix `D` of layer `l`, and its transpose.
    pub(super) fn decoder(&self, l: usize) -> (&'n [T], &'n [T]) {
        match self.problem.cell {
            LayerType::Lista => self.encoder(l),
            _ => (&self.problem.atoms, &self.problem.across),
        }
    }

    /// The step length of layer `l`.
    pub(super) fn step(&self, l: usize) -> f64 {
        if self.params.steps.is_empty() { 1.0 } else { self.params.steps[l] }
    }

    /// The threshold of layer `l`, before the factors of the entries.
    pub(super) fn threshold(&self, l: usize) -> f64 {
        match self.params.thresholds.last() {
            None => self.params.steps[l] * self.problem.alpha,
            Some(last) => *self.params.thresholds.get(l).unwrap_or(last),
        }
    }

    /// Number of entries that are not thresholded in layer `l`.
    pub(super) fn selected(&self, l: usize) -> usize {
        let percent = self.problem.select * (l + 1).min(10) as f64;
        (percent / 100.0 * self.problem.m as f64).floor() as usize
    }

    /// Applies layer `l` to the codes `z` of rows `x`, and writes the result into `out`. The first layer has codes of zeros. `passed`
    /// receives the mask of the entries that are not thresholded, if there are any.
    pub(super) fn layer(
        &self,
        l: usize,
        x: &[T],
        z: &[T],
        out: &mut [T],
        work: &mut Buffers<T>,
        passed: &mut Vec<bool>,
    ) {
        let (m, p) = (self.problem.m, self.problem.p);
        let n = x.len() / p;
        let (_, across) = self.encoder(l);
        if self.problem.cell == LayerType::GregorLecun {
            if l == 0 {
                work.u.resize(n * m, T::default());
                kernel::product(&mut work.u, x, across, n, p, m);
                out.copy_from_slice(&work.u);
            } else {
                kernel::product(out, z, &self.params.recurrent, n, m, m);
                widest(
                    #[inline(always)]
                    || out.iter_mut().zip(&work.u).for_each(|(v, u)| *v += *u),
                );
            }
            return self.shrink(l, out, work, passed);
        }
        work.r.resize(n * p, T::default());
        match l {
            0 => work.r.copy_from_slice(x),
            _ => {
                kernel::product(&mut work.r, z, self.decoder(l).0, n, m, p);
                widest(
                    #[inline(always)]
                    || work.r.iter_mut().zip(x).for_each(|(r, x)| *r = *x - *r),
                );
            }
        }
        work.u.resize(n * m, T::default());
        kernel::product(&mut work.u, &work.r, across, n, p, m);
        let t = T::from_f64(self.step(l));
        if self.selected(l) > 0 {
            widest(
                #[inline(always)]
                || {
                    for ((v, z), u) in out.iter_mut().zip(z).zip(&work.u) {
                        *v = t.times_plus(*u, *z);
                    }
                },
            );
            return self.shrink(l, out, work, passed);
        }
        passed.clear();
        let (thresholds, positive) = (self.thresholds(l), self.problem.positive);
        // One pass over the codes: they are in the second-level cache, where passes take as long as products.
        widest(
            #[inline(always)]
            || {
                let rows = out.chunks_exact_mut(m).zip(z.chunks_exact(m)).zip(work.u.chunks_exact(m));
                for ((out, z), u) in rows {
                    for (((v, z), u), theta) in out.iter_mut().zip(z).zip(u).zip(&thresholds) {
                        *v = shrunk(t.times_plus(*u, *z), *theta, positive);
                    }
                }
            },
        );
    }

    /// The threshold of every entry in layer `l`.
    pub(super) fn thresholds(&self, l: usize) -> Vec<T> {
        let theta = self.threshold(l);
        match &self.problem.scale {
            Some(scale) => scale.iter().map(|s| T::from_f64(theta * s)).collect(),
            None => vec![T::from_f64(theta); self.problem.m],
        }
    }

    /// Applies the thresholds of layer `l`.
    fn shrink(&self, l: usize, v: &mut [T], work: &mut Buffers<T>, passed: &mut Vec<bool>) {
        let (m, positive) = (self.problem.m, self.problem.positive);
        passed.clear();
        let each = self.thresholds(l);
        let k = self.selected(l).min(m);
        if k > 0 {
            work.v.clear();
            work.v.extend_from_slice(v);
        }
        let zero = T::default();
        widest(
            #[inline(always)]
            || {
                for row in v.chunks_exact_mut(m) {
                    for (v, theta) in row.iter_mut().zip(&each) {
                        *v = shrunk(*v, *theta, positive);
                    }
                }
            },
        );
        if k == 0 {
            return;
        }
        passed.resize(v.len(), false);
        let rows = v.chunks_exact_mut(m).zip(work.v.chunks_exact(m)).zip(passed.chunks_exact_mut(m));
        for ((row, before), passed) in rows {
            work.order.clear();
            work.order.extend(0..m);
            let size = |j: usize| if positive { before[j].to_f64() } else { before[j].to_f64().abs() };
            work.order.select_nth_unstable_by(k - 1, |&a, &b| size(b).total_cmp(&size(a)).then(a.cmp(&b)));
            // Those of the largest entries that exceed their threshold (Chen et al. 2018, eq. 14).
            for &j in &work.order[..k] {
                if row[j] != zero {
                    (row[j], passed[j]) = (before[j], true);
                }
            }
        }
    }

    /// Codes of rows `x`; `each` is called with them after every layer.
    pub(super) fn codes(
        &self,
        x: &[T],
        z: &mut [T],
        depth: usize,
        work: &mut Buffers<T>,
        mut each: impl FnMut(usize, &[T]),
    ) {
        let mut other = std::mem::take(&mut work.z);
        other.resize(z.len(), T::default());
        let mut passed = Vec::new();
        // The last layer writes to `z`.
        let (mut from, mut to) =
            if depth.is_multiple_of(2) { (z, &mut other[..]) } else { (&mut other[..], z) };
        from.fill(T::default());
        for l in 0..depth {
            self.layer(l, x, from, to, work, &mut passed);
            each(l, to);
            std::mem::swap(&mut from, &mut to);
        }
        work.z = other;
    }
}

/// Soft thresholding of one number.
#[inline(always)]
pub(super) fn shrunk<T: Real>(v: T, theta: T, positive: bool) -> T {
    let most = if v > theta { theta } else { v };
    let low = if positive { most } else { T::default() - theta };
    v - if most < low { low } else { most }
}
