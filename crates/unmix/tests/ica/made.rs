//! Mixtures of synthetic sources, fits of them, and error measures.

use crate::made::{cast, numbers, settings};
use serde_json::Value;
use unmix::internal::num::factor;
use unmix::internal::num::random::Stream;
use unmix::{AnyRows, Matrix, Model, Rows, Run};

/// Four kinds of source that are common in the literature, all of unit variance: Laplace, uniform, Bernoulli-Gaussian (not 0 with
/// probability 0.3), and Student's t with 6 degrees of freedom.
pub(super) fn mixed_kinds(n: usize, k: usize, seed: u64) -> Matrix<f64> {
    let streams: Vec<Stream> = (0..k).map(|j| Stream::new(seed, 100 + j as u64)).collect();
    Matrix::from_fn(n, k, |i, j| {
        let (s, i) = (&streams[j], 16 * i as u64);
        match j % 4 {
            0 => s.laplace(i),
            1 => (s.uniform(i) - 0.5) * 12f64.sqrt(),
            2 if s.uniform(i) < 0.3 => s.normal(i + 1) / 0.3f64.sqrt(),
            2 => 0.0,
            _ => {
                let chi: f64 = (1..4).map(|d| -2.0 * s.uniform(i + d).ln()).sum();
                s.normal(i + 4) / (chi / 6.0).sqrt() / 1.5f64.sqrt()
            }
        }
    })
}

/// Independent Laplace sources.
pub(super) fn laplace(n: usize, k: usize, seed: u64) -> Matrix<f64> {
    let s = Stream::new(seed, 100);
    Matrix::from_fn(n, k, |i, j| s.laplace((i * k + j) as u64))
}

/// A mixing matrix, `p x k`, of standard normal numbers.
pub(super) fn mixing(p: usize, k: usize, seed: u64) -> Matrix<f64> {
    let s = Stream::new(seed, 99);
    Matrix::from_fn(p, k, |i, j| s.normal((i * k + j) as u64))
}

/// The mixed rows `sources mixing'`.
pub(super) fn mix(sources: &Matrix<f64>, mixing: &Matrix<f64>) -> Vec<f64> {
    factor::multiply_transposed(sources, mixing).into_vec()
}

pub(super) fn fit(key: &str, given: Value, x: &[f64], p: usize) -> Model {
    fit_on(2, key, given, x, p)
}

pub(super) fn fit_on(threads: usize, key: &str, given: Value, x: &[f64], p: usize) -> Model {
    let run = Run { threads, ..Run::default() };
    unmix::fit(key, &settings(given), &mut AnyRows::F64(Rows::from_slice(x, p).unwrap()), &run)
        .unwrap_or_else(|e| panic!("{e}"))
}

pub(super) fn fit_f32(key: &str, given: Value, x: &[f64], p: usize) -> Model {
    let x = cast::<f32>(x);
    unmix::fit(key, &settings(given), &mut AnyRows::F32(Rows::from_slice(&x, p).unwrap()), &Run::default())
        .unwrap_or_else(|e| panic!("{e}"))
}

/// The gain matrix `components mixing`, which maps true sources to estimated ones.
pub(super) fn gain(model: &Model, mixing: &Matrix<f64>) -> Matrix<f64> {
    factor::multiply(&model.tensor("components").unwrap().to_matrix(), mixing)
}

/// Amari distance of a gain matrix from a scaled permutation, by its definition.
pub(super) fn amari(gain: &Matrix<f64>) -> f64 {
    let k = gain.rows();
    let entry = |i: usize, j: usize| gain[(i, j)].abs();
    let excess = |f: &dyn Fn(usize, usize) -> f64| {
        (0..k)
            .map(|i| {
                let most = (0..k).map(|j| f(i, j)).fold(0.0, f64::max);
                (0..k).map(|j| f(i, j)).sum::<f64>() / most - 1.0
            })
            .sum::<f64>()
    };
    (excess(&entry) + excess(&|i, j| entry(j, i))) / (2 * k * (k - 1)) as f64
}

/// Estimated sources of the rows, one per column.
pub(super) fn sources(model: &Model, x: &[f64]) -> Matrix<f64> {
    let codes = crate::made::encode(model, x);
    let k = model.n_codes();
    Matrix::from_vec(codes.len() / k, k, codes)
}

pub(super) fn residual(model: &Model) -> f64 {
    model.report().residual.unwrap()
}

pub(super) fn components(model: &Model) -> Vec<f64> {
    numbers(model, "components")
}
