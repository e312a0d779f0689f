//! Rectified factor networks: identities, a naive implementation, solutions of the modes that never fall, and the published tables.

mod bad;
mod candidates;
mod defects;
mod derivatives;
mod exact;
mod found;
mod identities;
mod naive;
mod projection;
mod published;
mod scale;

use crate::made::settings;
use serde_json::Value;
use unmix::internal::num::random::Stream;
use unmix::{AnyRows, Matrix, Model, Rows, Run};

/// Normal numbers.
pub(crate) fn normal(rows: usize, cols: usize, seed: u64) -> Matrix<f64> {
    let draws = Stream::new(seed, 5);
    Matrix::from_fn(rows, cols, |i, j| draws.normal((i * cols + j) as u64))
}

/// A fit of rows in double precision.
pub(crate) fn fit(x: &[f64], p: usize, given: Value) -> Model {
    fit_seeded(x, p, given, 0)
}

pub(crate) fn fit_seeded(x: &[f64], p: usize, given: Value, seed: u64) -> Model {
    let mut rows = AnyRows::F64(Rows::from_slice(x, p).unwrap());
    let run = Run { seed, threads: 1, ..Run::default() };
    unmix::fit("rfn", &settings(given), &mut rows, &run).unwrap_or_else(|e| panic!("{e}"))
}

/// A diagnostic of the report.
pub(crate) fn diagnostic(model: &Model, name: &str) -> Value {
    model.report().diagnostics[name].clone()
}

/// The trace of `a' b`.
pub(crate) fn inner(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| a * b).sum()
}

/// `x` with columns of mean 0.
pub(crate) fn centred(mut x: Matrix<f64>) -> Matrix<f64> {
    let n = x.rows();
    for j in 0..x.cols() {
        let mean = (0..n).map(|i| x[(i, j)]).sum::<f64>() / n as f64;
        (0..n).for_each(|i| x[(i, j)] -= mean);
    }
    x
}
