//! Loss and gradient of a batch, by explicit backpropagation.
//!
//! With `dV = dZ+` where `z+` is non-zero, and sums over rows:
//!
//! ```text
//! h = t dV E;   dZ = dV - h D';   dt = <dV, r E'>;   dtheta = -<dV, sign z+>
//! dA = t dV' r - z' h   of a dictionary (D = E = A);   dW = dV' r   of an encoder matrix (D fixed);   dt - alpha <dV, sign z+>   of a step alone
//! dW = dV' x,  dS = z' dV,  dZ = dV S'                      of Gregor & LeCun
//! ```
//!
//! *Same bits.* Rows are divided into slices of a fixed length; each slice is propagated forward and backward separately, and slices are
//! summed in order, in double precision.

use super::net::{Buffers, Net, transposed};
use super::settings::LayerType;
use crate::num::parallel;
use crate::num::{Real, kernel, widest};

/// Rows of a slice.
const ROWS_PER_SLICE: usize = 32;

/// The target of the codes.
#[derive(Clone, Copy)]
pub(super) enum Target<'t, T> {
    /// The objective of the lasso.
    Objective,
    /// Known codes, `m` numbers for each row.
    Codes(&'t [T]),
}

/// Sums over rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Gradient {
    pub(super) weights: Vec<Vec<f64>>,
    pub(super) recurrent: Vec<f64>,
    pub(super) steps: Vec<f64>,
    pub(super) thresholds: Vec<f64>,
}

/// A slice of rows with the intermediate results of all layers.
struct Slice<'x, T> {
    x: &'x [T],
    /// Codes before the first layer, and after each.
    z: Vec<Vec<T>>,
    /// For every layer: `x - z D`, `r E'`, the entries that were not thresholded, `dV`, `h`.
    r: Vec<Vec<T>>,
    u: Vec<Vec<T>>,
    passed: Vec<Vec<bool>>,
    dv: Vec<Vec<T>>,
    h: Vec<Vec<T>>,
    steps: Vec<f64>,
    thresholds: Vec<f64>,
    loss: f64,
}

impl<T: Real> Net<'_, T> {
    /// Sum over rows of the loss after `depth` layers, on the threads of the current pool.
    pub(super) fn loss(&self, x: &[T], target: Target<'_, T>, depth: usize) -> f64 {
        let (m, p) = (self.problem.m, self.problem.p);
        let slices = x.chunks(ROWS_PER_SLICE * p).enumerate();
        let slices: Vec<f64> = parallel::map_with(slices, Buffers::default, |work, (i, x)| {
            let mut z = vec![T::default(); x.len() / p * m];
            self.codes(x, &mut z, depth, work, |_, _| {});
            self.output(x, target.of_slice(i, z.len(), m), &z, None)
        });
        slices.into_iter().sum()
    }

    /// Sum over rows of the loss after `depth` layers, and its gradient with respect to the parameters of layers `from` and later
    /// ones.
    pub(super) fn gradient(
        &self,
        x: &[T],
        target: Target<'_, T>,
        (from, depth): (usize, usize),
    ) -> (f64, Gradient) {
        let (m, p) = (self.problem.m, self.problem.p);
        let root = if self.params.recurrent.is_empty() { 0 } else { m };
        // Used in the backward pass only.
        let back = transposed(&self.params.recurrent, root, root);
        let slices: Vec<Slice<'_, T>> = parallel::map(x.chunks(ROWS_PER_SLICE * p).enumerate(), |(i, x)| {
            let mut slice = self.forward(x, depth);
            let mut g = vec![T::default(); x.len() / p * m];
            let target = target.of_slice(i, g.len(), m);
            slice.loss = self.output(x, target, &slice.z[depth], Some(&mut g));
            self.backward(&mut slice, g, (from, depth), &back);
            slice
        });
        let loss = slices.iter().map(|s| s.loss).sum();
        let gradient = self.sums(&slices, (from, depth));
        (loss, gradient)
    }

    /// The forward pass, with everything that the backward pass needs.
    fn forward<'x>(&self, x: &'x [T], depth: usize) -> Slice<'x, T> {
        let (m, p) = (self.problem.m, self.problem.p);
        let n = x.len() / p;
        let none = || vec![Vec::new(); depth];
        let mut slice = Slice {
            x,
            z: vec![vec![T::default(); n * m]; depth + 1],
            r: none(),
            u: none(),
            passed: vec![Vec::new(); depth],
            dv: none(),
            h: none(),
            steps: vec![0.0; depth],
            thresholds: vec![0.0; depth],
            loss: 0.0,
        };
        let mut work = Buffers::default();
        for l in 0..depth {
            let (before, after) = slice.z.split_at_mut(l + 1);
            self.layer(l, x, &before[l], &mut after[0], &mut work, &mut slice.passed[l]);
            if self.problem.cell != LayerType::GregorLecun {
                slice.r[l] = std::mem::take(&mut work.r);
                slice.u[l] = std::mem::take(&mut work.u);
            }
        }
        slice
    }

    /// The loss of codes `z`, and its gradient with respect to them.
    fn output(&self, x: &[T], target: Target<'_, T>, z: &[T], g: Option<&mut Vec<T>>) -> f64 {
        let (m, p, zero) = (self.problem.m, self.problem.p, T::default());
        if let Target::Codes(codes) = target {
            let two = T::from_f64(2.0);
            if let Some(g) = g {
                g.iter_mut().zip(z).zip(codes).for_each(|((g, z), c)| *g = two * (*z - *c));
            }
            return z.iter().zip(codes).map(|(z, c)| (z.to_f64() - c.to_f64()).powi(2)).sum();
        }
        let n = x.len() / p;
        let mut r = vec![zero; n * p];
        kernel::product(&mut r, z, &self.problem.atoms, n, m, p);
        r.iter_mut().zip(x).for_each(|(r, x)| *r = *x - *r);
        let size: f64 = z.iter().map(|z| z.to_f64().abs()).sum();
        if let Some(g) = g {
            kernel::product(g, &r, &self.problem.across, n, p, m);
            let alpha = T::from_f64(self.problem.alpha);
            for (g, z) in g.iter_mut().zip(z) {
                let slope = if *z > zero { alpha } else { zero - alpha };
                *g = if *z == zero { zero - *g } else { slope - *g };
            }
        }
        0.5 * kernel::sum_of_squares(&r) + self.problem.alpha * size
    }

    /// The backward pass: from the gradient `g` with respect to the codes to those with respect to scalars, and to `dV` and `h` of
    /// every layer starting at `from`.
    fn backward(&self, slice: &mut Slice<'_, T>, mut g: Vec<T>, (from, depth): (usize, usize), back: &[T]) {
        let (m, p, zero) = (self.problem.m, self.problem.p, T::default());
        let n = slice.x.len() / p;
        let mut product = vec![zero; n * m];
        for l in (from..depth).rev() {
            let after = &slice.z[l + 1];
            g.iter_mut().zip(after).filter(|(_, z)| **z == zero).for_each(|(g, _)| *g = zero);
            slice.thresholds[l] = self.by_threshold(&g, after, &slice.passed[l]);
            if self.problem.cell == LayerType::GregorLecun {
                kernel::product(&mut product, &g, back, n, m, m);
                slice.dv[l] = std::mem::replace(&mut g, product.clone());
                continue;
            }
            if self.problem.cell.has_steps() {
                let pairs = g.iter().zip(&slice.u[l]);
                slice.steps[l] = pairs.map(|(g, u)| g.to_f64() * u.to_f64()).sum();
            }
            // Neither the signal for lower layers nor the gradient of a dictionary is needed.
            if l > from || (self.problem.cell == LayerType::Lista && l > 0) {
                let (mut h, t) = (vec![zero; n * p], T::from_f64(self.step(l)));
                kernel::product(&mut h, &g, self.encoder(l).0, n, m, p);
                h.iter_mut().for_each(|h| *h *= t);
                slice.h[l] = h;
            }
            if l == from {
                slice.dv[l] = std::mem::take(&mut g);
                break;
            }
            kernel::product(&mut product, &slice.h[l], self.decoder(l).1, n, p, m);
            let mut below = g.clone();
            widest(
                #[inline(always)]
                || below.iter_mut().zip(&product).for_each(|(g, h)| *g -= *h),
            );
            slice.dv[l] = std::mem::replace(&mut g, below);
        }
    }

    /// `-<dV, sign z+>` over thresholded entries, with the factors of their thresholds.
    fn by_threshold(&self, g: &[T], after: &[T], passed: &[bool]) -> f64 {
        let (m, zero) = (self.problem.m, T::default());
        let mut sum = 0.0;
        for (at, (g, z)) in g.iter().zip(after).enumerate() {
            if *g == zero || passed.get(at).is_some_and(|passed| *passed) {
                continue;
            }
            let scale = self.problem.scale.as_ref().map_or(1.0, |scale| scale[at % m]);
            sum += if *z > zero { -scale } else { scale } * g.to_f64();
        }
        sum
    }

    /// Sums slices in order; matrices of different layers on different threads.
    fn sums(&self, slices: &[Slice<'_, T>], (from, depth): (usize, usize)) -> Gradient {
        let params = self.params;
        let each = |value: &dyn Fn(&Slice<'_, T>, usize) -> f64| -> Vec<f64> {
            (0..depth).map(|l| slices.iter().map(|s| value(s, l)).sum()).collect()
        };
        let (mut steps, mut thresholds) = (each(&|s, l| s.steps[l]), each(&|s, l| s.thresholds[l]));
        if params.thresholds.is_empty() {
            steps.iter_mut().zip(&thresholds).for_each(|(s, theta)| *s += self.problem.alpha * theta);
            thresholds.clear();
        } else if params.thresholds.len() == 1 {
            thresholds = vec![thresholds.iter().sum()];
        }
        if params.steps.is_empty() {
            steps.clear();
        }
        let of_layer = |l: usize| self.matrix_of_layer(slices, l);
        let by_layer: Vec<Vec<f64>> = match params.weights.len() {
            0 => Vec::new(),
            _ => parallel::map(from..depth, of_layer),
        };
        let weights = match params.weights.len() {
            0 | 1 => by_layer.into_iter().reduce(added).into_iter().collect(),
            _ => (0..from).map(|_| Vec::new()).chain(by_layer).collect(),
        };
        let recurrent = match params.recurrent.is_empty() {
            true => Vec::new(),
            false => parallel::map(from.max(1)..depth, |l| self.recurrent_of_layer(slices, l))
                .into_iter()
                .reduce(added)
                .unwrap_or_else(|| vec![0.0; self.problem.m * self.problem.m]),
        };
        Gradient { weights, recurrent, steps, thresholds }
    }

    fn matrix_of_layer(&self, slices: &[Slice<'_, T>], l: usize) -> Vec<f64> {
        let (m, p) = (self.problem.m, self.problem.p);
        let mut total = vec![0.0; m * p];
        for slice in slices {
            let r = if self.problem.cell == LayerType::GregorLecun { slice.x } else { &slice.r[l] };
            kernel::add_cross(&mut total, &slice.dv[l], r, slice.x.len() / p, m, p);
        }
        if self.problem.cell == LayerType::Lista {
            let t = self.step(l);
            let mut by_code = vec![0.0; m * p];
            for slice in slices.iter().filter(|_| l > 0) {
                kernel::add_cross(&mut by_code, &slice.z[l], &slice.h[l], slice.x.len() / p, m, p);
            }
            total.iter_mut().zip(by_code).for_each(|(total, by_code)| *total = t * *total - by_code);
        }
        total
    }

    fn recurrent_of_layer(&self, slices: &[Slice<'_, T>], l: usize) -> Vec<f64> {
        let m = self.problem.m;
        let mut total = vec![0.0; m * m];
        for slice in slices {
            kernel::add_cross(&mut total, &slice.z[l], &slice.dv[l], slice.x.len() / self.problem.p, m, m);
        }
        total
    }
}

fn added(mut a: Vec<f64>, b: Vec<f64>) -> Vec<f64> {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
    a
}

impl<'t, T> Target<'t, T> {
    /// The target of slice `i`, whose codes are `len` numbers.
    fn of_slice(self, i: usize, len: usize, m: usize) -> Target<'t, T> {
        match self {
            Target::Objective => Target::Objective,
            Target::Codes(codes) => {
                Target::Codes(&codes[i * ROWS_PER_SLICE * m..i * ROWS_PER_SLICE * m + len])
            }
        }
    }
}

#[cfg(test)]
mod tests;
