//! Sparse autoencoders.

mod accuracy;
mod bad;
mod diagnostics;
mod evaluate;
mod saelens;
mod stream;

use crate::made::dot;
use unmix::internal::num::random::Stream;
use unmix::{Matrix, Model, Rows, Run, SparseAutoencoder};

/// Table 17.11: sums of 64 atoms of 32 numbers with positive codes, 5 % of which are not 0, a mean and noise; and the atoms.
fn toy(n: usize, seed: u64) -> (Vec<f64>, Matrix<f64>) {
    let (m, p) = (64, 32);
    let first = Stream::new(17, 1);
    let mut atoms = Matrix::from_fn(m, p, |i, j| first.normal((i * p + j) as u64));
    for i in 0..m {
        let length = atoms.row(i).iter().map(|x| x * x).sum::<f64>().sqrt();
        atoms.row_mut(i).iter_mut().for_each(|x| *x /= length);
    }
    let mean: Vec<f64> = (0..p).map(|j| 0.5 * Stream::new(17, 2).normal(j as u64)).collect();
    let (on, size, noise) = (Stream::new(seed, 3), Stream::new(seed, 4), Stream::new(seed, 5));
    let mut x = Vec::with_capacity(n * p);
    for i in 0..n {
        let mut row: Vec<f64> = (0..p).map(|j| mean[j] + 0.02 * noise.normal((i * p + j) as u64)).collect();
        for j in 0..m {
            let at = (i * m + j) as u64;
            if on.uniform(at) < 0.05 {
                let z = (size.normal(at) + 1.0).abs();
                row.iter_mut().zip(atoms.row(j)).for_each(|(x, a)| *x += z * a);
            }
        }
        x.extend(row);
    }
    (x, atoms)
}

fn fit(spec: &SparseAutoencoder, x: &[f64], p: usize, seed: u64) -> Model {
    let mut rows = Rows::from_slice(x, p).unwrap();
    spec.fit(&mut rows, &Run { seed, ..crate::made::on_threads(2) }).unwrap()
}

/// A number of the report.
fn diagnostic(model: &Model, name: &str) -> f64 {
    model.report().diagnostics[name].as_f64().unwrap()
}

/// The rows of `found` that match `atoms`.
fn places(atoms: &Matrix<f64>, found: &Matrix<f64>) -> Vec<usize> {
    let cost = Matrix::from_fn(atoms.rows(), found.rows(), |i, j| -dot(atoms.row(i), found.row(j)));
    unmix::metrics::assignment(&cost)
}

/// The mean cosine of `atoms` with the components that match them.
fn matched(model: &Model, atoms: &Matrix<f64>) -> f64 {
    let found = model.tensor("components").unwrap().to_matrix();
    let order = places(atoms, &found);
    (0..atoms.rows()).map(|i| dot(atoms.row(i), found.row(order[i]))).sum::<f64>() / atoms.rows() as f64
}
