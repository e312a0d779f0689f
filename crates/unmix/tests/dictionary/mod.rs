//! Dictionary learning.

mod accuracy;
mod bad;
mod blocks;
mod diagnostics;
mod stability;
mod stream;

use unmix::internal::num::random::Stream;
use unmix::{Matrix, Model};

/// Rows that are sums of three of 30 atoms of 20 numbers, with noise, and these atoms (table 17.9).
fn made(n: usize, seed: u64) -> (Vec<f64>, Matrix<f64>) {
    let (m, p, k) = (30, 20, 3);
    let (first, draws, noise) = (Stream::new(seed, 1), Stream::new(seed, 2), Stream::new(seed, 3));
    let mut atoms = Matrix::from_fn(m, p, |i, j| first.normal((i * p + j) as u64));
    for i in 0..m {
        let length = atoms.row(i).iter().map(|x| x * x).sum::<f64>().sqrt();
        atoms.row_mut(i).iter_mut().for_each(|x| *x /= length);
    }
    let mut x = Vec::with_capacity(n * p);
    for i in 0..n {
        let mut order: Vec<usize> = (0..m).collect();
        Stream::new(seed, 100 + i as u64).shuffle(0, &mut order);
        let mut row: Vec<f64> = (0..p).map(|j| 0.01 * noise.normal((i * p + j) as u64)).collect();
        for (c, &j) in order[..k].iter().enumerate() {
            let z = draws.normal((i * k + c) as u64);
            row.iter_mut().zip(atoms.row(j)).for_each(|(x, a)| *x += z * a);
        }
        x.extend(row);
    }
    (x, atoms)
}

/// The share of atoms for which some component has an absolute cosine above 0.99.
fn recovered(model: &Model, atoms: &Matrix<f64>) -> f64 {
    let found = model.tensor("components").unwrap().to_matrix();
    let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let near = |i: usize| {
        (0..found.rows()).any(|j| {
            let dot: f64 = atoms.row(i).iter().zip(found.row(j)).map(|(a, b)| a * b).sum();
            dot.abs() > 0.99 * length(found.row(j))
        })
    };
    (0..atoms.rows()).filter(|i| near(*i)).count() as f64 / atoms.rows() as f64
}

/// A count of the report, by its name.
fn diagnostic(model: &Model, name: &str) -> u64 {
    model.report().diagnostics[name].as_u64().unwrap()
}
