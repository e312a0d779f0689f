//! Weights that stay in panels during training, and their products with the rows of a batch.
//!
//! Weights that exceed the second-level cache are read once a step for the products and once for the update: packing them for each product,
//! and a gradient of the same size, would be further passes over memory. Work is divided into consecutive panels, one part for each thread,
//! so that a thread finds its part in its cache; every entry is one sum, and its bits do not depend on the parts.

use super::{Panels, Real, Terms, pack, parallel, products::multiplies_on_two};

/// A matrix of weights, `p` rows of `k` columns, in panels.
#[derive(Clone, Debug)]
pub(crate) struct PackedWeights<T: Real> {
    panels: Panels<T>,
    p: usize,
    k: usize,
}

impl<T: Real> PackedWeights<T> {
    /// The matrix `w`, row-major with `k` columns.
    pub(crate) fn of(w: &[T], k: usize) -> Self {
        let p = w.len() / k;
        let mut panels = Panels::default();
        panels.resize(p, k);
        pack(panels.numbers_mut(), w, k, 0, T::from_f64(1.0));
        Self { panels, p, k }
    }

    /// The matrix, row-major.
    pub(crate) fn to_rows(&self) -> Vec<T> {
        let (p, lanes, numbers) = (self.p, T::lanes(), self.panels.numbers());
        let entry = |i: usize, j: usize| numbers[(j / lanes * p + i) * lanes + j % lanes];
        (0..p).flat_map(|i| (0..self.k).map(move |j| (i, j))).map(|(i, j)| entry(i, j)).collect()
    }

    /// `out = x W` in panels, for the rows `x`, row-major; `then` gets each panel of the result with its number.
    pub(crate) fn multiply(&self, out: &mut Panels<T>, x: &[T], then: impl Fn(usize, &mut [T]) + Sync) {
        let (n, p, lanes) = (x.len() / self.p, self.p, T::lanes());
        out.resize(n, self.k);
        let (parallel, some) = self.part(n);
        let parts = out
            .numbers_mut()
            .chunks_mut((some * n * lanes).max(1))
            .zip(self.panels.numbers().chunks(some * p * lanes));
        parallel::each_if(parallel, parts.enumerate(), |(part, (out, w))| {
            let terms = Terms { a: x, step: [p, 1], b: w, count: p };
            T::multiply_to_panels(out, None, &[terms], n, w.len() / p);
            out.chunks_exact_mut((n * lanes).max(1))
                .enumerate()
                .for_each(|(at, panel)| then(part * some + at, panel));
        });
    }

    /// `W -= rate * x' b`: `x` has the rows of a batch, row-major, and `b` those of the columns of `W`, in panels.
    pub(crate) fn descend(&mut self, rate: T, x: &[T], b: &Panels<T>) {
        let (n, p, lanes) = (x.len() / self.p, self.p, T::lanes());
        let (parallel, some) = self.part(n);
        let parts = self
            .panels
            .numbers_mut()
            .chunks_mut(some * p * lanes)
            .zip(b.numbers().chunks((some * n * lanes).max(1)));
        parallel::each_if(parallel, parts, |(w, b)| {
            let terms = Terms { a: x, step: [1, p], b, count: n };
            T::multiply_to_panels(w, Some(rate), &[terms], p, w.len() / p);
        });
    }

    /// Whether products with `n` rows are worth waking a thread, and the number of panels of a part.
    fn part(&self, n: usize) -> (bool, usize) {
        let panels = self.k.div_ceil(T::lanes());
        match multiplies_on_two(n * self.p * self.k) {
            true => (true, panels.div_ceil(parallel::n_threads()).max(1)),
            false => (false, panels.max(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::Stream;
    use crate::num::threads::on_pool;

    /// Sums of small whole numbers are exact, whatever their order.
    fn whole<T: Real>(n: usize, stream: u64) -> Vec<T> {
        let draws = Stream::new(4, stream);
        (0..n).map(|i| T::from_f64((draws.uniform(i as u64) * 15.0).floor() - 7.0)).collect()
    }

    fn are_those_of_row_major_matrices<T: Real>(threads: usize, [n, p, k]: [usize; 3]) {
        let (x, w, b) = (whole::<T>(n * p, 0), whole::<T>(p * k, 1), whole::<T>(n * k, 2));
        let (at, lanes) = (|a: &[T], i: usize, j: usize, k: usize| a[i * k + j].to_f64(), T::lanes());
        on_pool(threads, || {
            let mut weights = PackedWeights::of(&w, k);
            assert_eq!(weights.to_rows(), w);
            let mut out = Panels::default();
            weights.multiply(&mut out, &x, |panel, codes| {
                codes.iter_mut().for_each(|u| *u += T::from_f64(panel as f64));
            });
            for (i, j) in (0..n).flat_map(|i| (0..k).map(move |j| (i, j))) {
                let want: f64 = (0..p).map(|c| at(&x, i, c, p) * at(&w, c, j, k)).sum();
                let found = out.numbers()[(j / lanes * n + i) * lanes + j % lanes].to_f64();
                assert_eq!(found, want + (j / lanes) as f64, "{n} {p} {k}: {i} {j}");
            }
            let mut packed = Panels::default();
            packed.resize(n, k);
            pack(packed.numbers_mut(), &b, k, 0, T::from_f64(1.0));
            weights.descend(T::from_f64(0.5), &x, &packed);
            let found = weights.clone().to_rows();
            for (c, j) in (0..p).flat_map(|c| (0..k).map(move |j| (c, j))) {
                let gradient: f64 = (0..n).map(|i| at(&x, i, c, p) * at(&b, i, j, k)).sum();
                assert_eq!(
                    found[c * k + j].to_f64(),
                    at(&w, c, j, k) - 0.5 * gradient,
                    "{n} {p} {k}: {c} {j}"
                );
            }
        });
    }

    #[test]
    fn products_and_steps_are_those_of_row_major_matrices() {
        for sizes in [[1, 1, 1], [3, 5, 17], [13, 9, 40], [100, 37, 100]] {
            for threads in [1, 3] {
                are_those_of_row_major_matrices::<f32>(threads, sizes);
                are_those_of_row_major_matrices::<f64>(threads, sizes);
            }
        }
    }
}
