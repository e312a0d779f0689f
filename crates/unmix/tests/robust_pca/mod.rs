//! Robust PCA: exact recovery, first-order conditions, noise, gaps, new rows, and invalid input.

mod exact;
mod gaps;
mod noise;
mod rows;
mod units;

use crate::made::on_threads;
use unmix::internal::num::factor;
use unmix::internal::num::random::Stream;
use unmix::method::robust_pca::{Noise, RobustPca};
use unmix::{Matrix, Model, Rows};

/// Rows that are the sum of a low-rank part, a sparse part and noise.
pub(crate) struct Made {
    pub(crate) low: Matrix<f64>,
    pub(crate) sparse: Matrix<f64>,
    pub(crate) noise: Matrix<f64>,
}

impl Made {
    /// `low` is `n x p` of rank `r` with entries of about `sqrt(r) / unit`; errors of `+-size` in a fraction `share` of the cells;
    /// noise of standard deviation `std`.
    pub(crate) fn new(
        (n, p, r): (usize, usize, usize),
        unit: f64,
        (share, size): (f64, f64),
        std: f64,
        seed: u64,
    ) -> Self {
        let draws = |stream: u64| Stream::new(seed, stream);
        let normal = |a: usize, b: usize, stream: u64| {
            let s = draws(stream);
            Matrix::from_fn(a, b, |i, j| s.normal((i * b + j) as u64))
        };
        let low = factor::multiply(&normal(n, r, 1), &normal(r, p, 2));
        let (place, sign) = (draws(3), draws(4));
        let sparse = Matrix::from_fn(n, p, |i, j| match place.uniform((i * p + j) as u64) < share {
            true => size * if sign.uniform((i * p + j) as u64) < 0.5 { -1.0 } else { 1.0 },
            false => 0.0,
        });
        let noise = normal(n, p, 5);
        let low = Matrix::from_fn(n, p, |i, j| low[(i, j)] / unit);
        Self { low, sparse, noise: Matrix::from_fn(n, p, |i, j| std * noise[(i, j)]) }
    }

    /// The design of the published experiments: `n x n`, rank `rank n`, errors of `+-1` in a fraction `share` of the cells.
    pub(crate) fn square(n: usize, rank: f64, share: f64, seed: u64) -> Self {
        Self::new((n, n, (rank * n as f64) as usize), n as f64, (share, 1.0), 0.0, seed)
    }

    pub(crate) fn x(&self) -> Vec<f64> {
        let parts = self.low.as_slice().iter().zip(self.sparse.as_slice()).zip(self.noise.as_slice());
        parts.map(|((l, s), e)| l + s + e).collect()
    }

    pub(crate) fn p(&self) -> usize {
        self.low.cols()
    }

    /// Relative error of `found` in Frobenius norm against the low-rank part.
    pub(crate) fn error(&self, found: &[f64]) -> f64 {
        distance(found, self.low.as_slice()) / distance(&vec![0.0; found.len()], self.low.as_slice())
    }
}

pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
}

pub(crate) fn fit(spec: &RobustPca, x: &[f64], p: usize) -> Model {
    spec.fit(&mut Rows::from_slice(x, p).unwrap(), &on_threads(2)).unwrap()
}

/// The low-rank part of rows, which is their reconstruction.
pub(crate) fn low_rank(model: &Model, x: &[f64]) -> Vec<f64> {
    let mut sink = unmix::data::VecSink(Vec::new());
    let done =
        model.reconstruct(&Rows::from_slice(x, model.n_features()).unwrap(), &on_threads(2), &mut sink);
    assert!(done.unwrap().unsolved.is_none(), "every row is solved");
    sink.0
}

pub(crate) fn without_noise() -> RobustPca {
    RobustPca { noise: Noise::Std(0.0), ..RobustPca::default() }
}

pub(crate) fn rank(model: &Model) -> usize {
    assert_eq!(model.report().rank, Some(model.n_components()));
    model.n_components()
}
