//! The layers of a trained network with its matrices in panels, for encoding many rows.
//!
//! Codes are updated in place, a few columns at a time: their products with the encoder stay in the first-level cache. The bits are those
//! of [`Net::codes`].

use super::net::{Buffers, Net, shrunk};
use super::settings::LayerType;
use crate::num::products::Weights;
use crate::num::{Real, widest};

/// Rows that are propagated through all layers together: their codes fit in the second-level cache, beside the matrices of a layer.
pub(super) const TOGETHER: usize = 128;
/// Columns of the codes that are updated at a time, a multiple of the columns of every tile.
const COLUMNS: usize = 48;

/// The matrices in panels: one of each, or one for each layer.
#[derive(Debug)]
pub(super) struct Packed<T> {
    /// `D`, `m x p`.
    decoders: Vec<Weights<T>>,
    /// `E'`, `p x m`.
    encoders: Vec<Weights<T>>,
}

impl<T: Real> Packed<T> {
    /// The matrices of a network; none if its layers need whole rows of codes before they apply a threshold.
    pub(super) fn of(net: Net<'_, T>) -> Option<Self> {
        let (m, p, layers) = (net.problem.m, net.problem.p, net.problem.n_layers);
        let whole = (0..layers).any(|l| net.selected(l).min(m) > 0);
        if whole || net.problem.cell == LayerType::GregorLecun {
            return None;
        }
        let n_matrices = net.params.weights.len().max(1);
        let encoders = (0..n_matrices).map(|l| {
            let mut packed = Weights::new();
            packed.pack_transposed(net.encoder(l).0, p);
            packed
        });
        let n_decoders = if net.problem.cell == LayerType::Lista { n_matrices } else { 1 };
        let decoders = (0..n_decoders).map(|l| {
            let mut packed = Weights::new();
            packed.pack(net.decoder(l).0, p);
            packed
        });
        Some(Self { decoders: decoders.collect(), encoders: encoders.collect() })
    }

    /// Codes of rows `x`.
    pub(super) fn codes(&self, net: Net<'_, T>, x: &[T], z: &mut [T], work: &mut Buffers<T>) {
        let (m, p) = (net.problem.m, net.problem.p);
        let n = x.len() / p;
        let Buffers { r, u, .. } = work;
        r.resize(n * p, T::default());
        u.resize(n * COLUMNS.min(m), T::default());
        z.fill(T::default());
        for l in 0..net.problem.n_layers {
            if l > 0 {
                self.decoders[l.min(self.decoders.len() - 1)].product(r, z, p);
                widest(
                    #[inline(always)]
                    || r.iter_mut().zip(x).for_each(|(r, x)| *r = *x - *r),
                );
            }
            let (r, encoder) =
                (if l > 0 { &r[..] } else { x }, &self.encoders[l.min(self.encoders.len() - 1)]);
            let (t, thresholds) = (T::from_f64(net.step(l)), net.thresholds(l));
            for at in (0..m).step_by(COLUMNS) {
                let columns = at..m.min(at + COLUMNS);
                let u = &mut u[..n * columns.len()];
                encoder.product_of_columns(u, r, [n, p], columns.clone());
                step(z, u, (m, at), t, &thresholds[columns], net.problem.positive);
            }
        }
    }
}

/// `z = S(z + t u, theta)`, for as many columns of `z` as there are thresholds, from column `at` of `m` on.
fn step<T: Real>(z: &mut [T], u: &[T], (m, at): (usize, usize), t: T, thresholds: &[T], positive: bool) {
    let width = thresholds.len();
    widest(
        #[inline(always)]
        || {
            for (z, u) in z.chunks_exact_mut(m).zip(u.chunks_exact(width)) {
                for ((z, u), theta) in z[at..at + width].iter_mut().zip(u).zip(thresholds) {
                    *z = shrunk(t.times_plus(*u, *z), *theta, positive);
                }
            }
        },
    );
}
