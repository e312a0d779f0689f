//! The layers of a trained network with its matrices in panels, for encoding many rows.
//!
//! Codes are updated in place, a few columns at a time: their products with the encoder stay in the first-level cache. The bits are those
//! of [`Net::codes`].

use super::net::{Buffers, Net, shrunk};
use super::settings::LayerType;
use crate::num::products::Weights;
use crate::num::{Real, widest};

/// Rows that are propagated through all layers together: their codes fit in the second-level cache, beside the matrices of a layer.
pub(super) const ROWS_PER_PIECE: usize = 128;
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
            if let Some(thresholds) = thresholds.first_chunk::<COLUMNS>() {
                // Of a length known to the compiler: short loops would take about as long to begin and to end as to run.
                for (z, u) in z.chunks_exact_mut(m).zip(u.as_chunks::<COLUMNS>().0) {
                    if let Some(z) = z[at..].first_chunk_mut::<COLUMNS>() {
                        for j in 0..COLUMNS {
                            z[j] = shrunk(t.times_plus(u[j], z[j]), thresholds[j], positive);
                        }
                    }
                }
                return;
            }
            for (z, u) in z.chunks_exact_mut(m).zip(u.chunks_exact(width)) {
                for ((z, u), theta) in z[at..at + width].iter_mut().zip(u).zip(thresholds) {
                    *z = shrunk(t.times_plus(*u, *z), *theta, positive);
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::super::net::Problem;
    use super::super::settings::Lista;
    use super::*;
    use crate::num::Matrix;
    use crate::num::random::Stream;
    use crate::sparse::Atoms;

    #[test]
    fn codes_have_the_bits_of_the_layers_one_after_the_other() {
        let (n, p, draws) = (133, 7, Stream::new(4, 0));
        for m in [5, COLUMNS, 2 * COLUMNS + 3] {
            let atoms = Atoms::new(&Matrix::from_fn(m, p, |j, c| draws.normal((j * p + c) as u64)));
            let x: Vec<f64> = (0..n * p).map(|i| Stream::new(4, 1).normal(i as u64)).collect();
            for cell in [LayerType::Lista, LayerType::Cp, LayerType::Alista, LayerType::Step] {
                for (positive_code, tied) in [(false, false), (true, false), (false, true)] {
                    let tied = tied && cell.by_layer();
                    let given = Lista { cell, n_layers: 4, positive_code, tied, ..Lista::default() };
                    let problem = Problem::new(&given, &atoms, 0.2).unwrap();
                    let mut params = problem.ista(tied, 0.3);
                    let layers = params.weights.iter_mut().enumerate();
                    layers.for_each(|(l, w)| w.iter_mut().for_each(|x| *x *= 1.0 + 0.01 * l as f64));
                    let across = params.across(&problem);
                    let net = Net { problem: &problem, params: &params, across: &across };
                    let (mut want, mut got) = (vec![0.0; n * m], vec![1.0; n * m]);
                    net.codes(&x, &mut want, 4, &mut Buffers::default(), |_, _| {});
                    Packed::of(net).unwrap().codes(net, &x, &mut got, &mut Buffers::default());
                    assert!(want.iter().any(|z| *z != 0.0));
                    assert_eq!(got, want, "{cell:?}, {m} codes, {positive_code}, {tied}");
                }
            }
        }
    }

    #[test]
    fn layers_that_need_whole_rows_are_left_to_the_network() {
        let atoms = Atoms::new(&Matrix::from_fn(12, 3, |j, c| ((3 * j + c) as f64).sin()));
        for given in [
            Lista { cell: LayerType::GregorLecun, ..Lista::default() },
            Lista { cell: LayerType::Cp, support_selection: 20.0, ..Lista::default() },
        ] {
            let problem = Problem::<f64>::new(&given, &atoms, 0.2).unwrap();
            let params = problem.ista(false, 0.3);
            let across = params.across(&problem);
            assert!(Packed::of(Net { problem: &problem, params: &params, across: &across }).is_none());
        }
    }
}
