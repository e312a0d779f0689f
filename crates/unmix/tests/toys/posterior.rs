//! Codes by a posterior mean: `x = mean + W z + e`, `z ~ N(0, I)`, `e ~ N(0, noise I)`, and `z` given the observed cells of a row,
//! `(W_o' W_o + noise I)⁻¹ W_o' (x_o - mean_o)`.

use super::{Toy, by_row, components, numbers, toy};
use unmix::data::Workspace;
use unmix::method::Method;
use unmix::model::{Code, Codes, Encoder, Gaussian, LinearDecoder, RowMap, Tensors};
use unmix::{Matrix, Real, Result};

pub(crate) static METHOD: Method = toy(
    "toy-posterior",
    "ToyPosterior",
    &[super::N_COMPONENTS],
    |given| Toy::spec(&METHOD, given),
    |_, tensors| {
        let density = density(tensors)?;
        let loading =
            |i: usize, j: usize| density.axes[(i, j)] * (density.variance[i] - density.noise).max(0.0).sqrt();
        let w = Matrix::from_fn(density.axes.rows(), density.axes.cols(), loading);
        let posterior = Posterior { mean: density.mean.clone(), w: w.clone(), noise: density.noise };
        // A code decodes to the mean of the rows given that code.
        Code::new(posterior, LinearDecoder::new(super::tensor(tensors, "mean")?.clone(), w))
    },
    Some(density),
);

fn density(tensors: &Tensors) -> Result<Gaussian> {
    let noise = numbers(tensors, "noise_variance")?[0];
    let variance = numbers(tensors, "explained_variance")?;
    Ok(Gaussian::new(numbers(tensors, "mean")?, components(tensors)?, variance, noise))
}

#[derive(Clone, Debug)]
struct Posterior {
    mean: Vec<f64>,
    /// Loadings as rows, `k x p`.
    w: Matrix<f64>,
    noise: f64,
}

impl Encoder for Posterior {
    fn n_features(&self) -> usize {
        self.w.cols()
    }
    fn n_codes(&self) -> usize {
        self.w.rows()
    }
    fn codes(&self) -> Codes {
        Codes { sparse: false, non_negative: false, missing: true, stored: false, ..Codes::default() }
    }
    fn in_f32(&self) -> Box<dyn RowMap<f32>> {
        Box::new(self.clone())
    }
    fn in_f64(&self) -> Box<dyn RowMap<f64>> {
        Box::new(self.clone())
    }
}

impl<T: Real> RowMap<T> for Posterior {
    fn apply(&self, rows: &[T], out: &mut [T], _: &mut Workspace<T>) {
        let (k, p) = (self.w.rows(), self.w.cols());
        by_row(rows, out, p, k, |_, x| {
            let seen: Vec<usize> = (0..p).filter(|&j| !x[j].is_nan()).collect();
            let product = |a: usize, b: usize| -> f64 {
                let noise = if a == b { self.noise } else { 0.0 };
                seen.iter().map(|&j| self.w[(a, j)] * self.w[(b, j)]).sum::<f64>() + noise
            };
            let right =
                |a: usize| -> f64 { seen.iter().map(|&j| self.w[(a, j)] * (x[j] - self.mean[j])).sum() };
            solve(Matrix::from_fn(k, k, product), (0..k).map(right).collect())
        });
    }
}

/// Solves a small positive definite system by elimination.
fn solve(mut a: Matrix<f64>, mut b: Vec<f64>) -> Vec<f64> {
    let k = b.len();
    for i in 0..k {
        for r in i + 1..k {
            let factor = a[(r, i)] / a[(i, i)];
            for c in i..k {
                a[(r, c)] -= factor * a[(i, c)];
            }
            b[r] -= factor * b[i];
        }
    }
    for i in (0..k).rev() {
        let rest: f64 = (i + 1..k).map(|c| a[(i, c)] * b[c]).sum();
        b[i] = (b[i] - rest) / a[(i, i)];
    }
    b
}
