//! Probabilistic PCA and the linear EigenGAN against formulas, also for rows with gaps.

mod closed;
mod eigengan;
mod gaps;
mod impute;

use crate::made::numbers;
use unmix::internal::num::{Matrix, factor};
use unmix::{Model, Rows, Run};

/// Parameters of a model in the units of the columns.
#[derive(Clone)]
pub(crate) struct Plain {
    mean: Vec<f64>,
    /// Axes as rows, `k x p`.
    axes: Matrix<f64>,
    /// Scales along the axes, length `k`.
    latent: Vec<f64>,
    noise: f64,
}

impl Plain {
    pub(crate) fn of(model: &Model) -> Self {
        Self {
            mean: numbers(model, "mean"),
            axes: model.tensor("components").unwrap().to_matrix(),
            latent: numbers(model, "latent_scale"),
            noise: numbers(model, "noise_variance")[0],
        }
    }

    fn p(&self) -> usize {
        self.mean.len()
    }

    /// The covariance `U L² U' + s² I` of the columns `o`.
    fn covariance(&self, o: &[usize]) -> Matrix<f64> {
        Matrix::from_fn(o.len(), o.len(), |a, b| {
            let shared: f64 = (0..self.latent.len())
                .map(|i| self.axes[(i, o[a])] * self.latent[i].powi(2) * self.axes[(i, o[b])])
                .sum();
            shared + if a == b { self.noise } else { 0.0 }
        })
    }

    /// Log density of the observed cells of a row, from their dense covariance.
    pub(crate) fn log_density(&self, row: &[f64]) -> f64 {
        let o: Vec<usize> = (0..self.p()).filter(|&j| !row[j].is_nan()).collect();
        if o.is_empty() {
            return 0.0;
        }
        let (values, vectors) = factor::eigh(&self.covariance(&o)).unwrap();
        let terms = (0..o.len()).map(|i| {
            let y: f64 = o.iter().enumerate().map(|(a, &j)| vectors[(i, a)] * (row[j] - self.mean[j])).sum();
            (2.0 * std::f64::consts::PI).ln() + values[i].ln() + y * y / values[i]
        });
        -0.5 * terms.sum::<f64>()
    }

    fn log_likelihood(&self, x: &[f64]) -> f64 {
        x.chunks_exact(self.p()).map(|row| self.log_density(row)).sum()
    }
}

/// The total log-likelihood: the sum of `score_samples`.
fn score(model: &Model, x: &[f64], p: usize) -> f64 {
    let mut sink = unmix::data::VecSink(Vec::new());
    model.score_samples(&Rows::from_slice(x, p).unwrap(), &Run::default(), &mut sink).unwrap();
    sink.0.iter().sum()
}

/// The rows with a fraction `share` of their cells missing.
fn with_gaps(x: &[f64], share: f64, seed: u64) -> Vec<f64> {
    let draws = unmix::internal::num::random::Stream::new(seed, 9);
    let cell = |(at, x): (usize, &f64)| if draws.uniform(at as u64) < share { f64::NAN } else { *x };
    x.iter().enumerate().map(cell).collect()
}
