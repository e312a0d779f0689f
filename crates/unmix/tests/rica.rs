//! RICA: the objective and its exact properties, accuracy of fits, and what they refuse.

mod bad;
mod batches;
mod exact;
mod fits;
mod found;

use crate::made::{numbers, on_threads};
use unmix::internal::num::random::Stream;
use unmix::method::rica::{Beta, Penalty, UnitNorm};
use unmix::{Matrix, Model, Rica, Rows};

/// RICA without centring and whitening.
pub(crate) fn plain(beta: f64, contrast: Penalty, unit: bool) -> Rica {
    let unit_norm = UnitNorm::Always(unit);
    Rica { beta: Beta::Weight(beta), contrast, unit_norm, whiten: false, center: false, ..Rica::default() }
}

/// `k x d` standard normal numbers.
pub(crate) fn normal(k: usize, d: usize, seed: u64) -> Matrix<f64> {
    let s = Stream::new(seed, 9);
    Matrix::from_fn(k, d, |i, j| s.normal((i * d + j) as u64))
}

pub(crate) fn cost(spec: &Rica, x: &[f64], w: &Matrix<f64>) -> (f64, Matrix<f64>) {
    spec.cost(&mut Rows::from_slice(x, w.cols()).unwrap(), w, &on_threads(2)).unwrap()
}

pub(crate) fn fit(spec: &Rica, x: &[f64], p: usize) -> Model {
    spec.fit(&mut Rows::from_slice(x, p).unwrap(), &on_threads(2)).unwrap_or_else(|e| panic!("{spec:?}: {e}"))
}

/// `n` rows of `d` mixed independent Laplace sources of unit variance, and the mixing matrix, `d x d`.
pub(crate) fn laplace(n: usize, d: usize, seed: u64) -> (Vec<f64>, Matrix<f64>) {
    let mixing = normal(d, d, 100 + seed);
    let s = Stream::new(seed, 3);
    let mut x = Vec::with_capacity(n * d);
    for i in 0..n {
        let z: Vec<f64> = (0..d).map(|c| s.laplace((i * d + c) as u64)).collect();
        x.extend((0..d).map(|j| (0..d).map(|c| mixing[(j, c)] * z[c]).sum::<f64>()));
    }
    (x, mixing)
}

/// A parameter of the model as a matrix.
pub(crate) fn matrix(model: &Model, name: &str) -> Matrix<f64> {
    model.tensor(name).unwrap_or_else(|| panic!("no {name}")).to_matrix()
}

/// The largest absolute difference between `a` and the identity.
pub(crate) fn from_identity(a: &Matrix<f64>) -> f64 {
    let want = |i, j| f64::from(u8::from(i == j));
    (0..a.rows())
        .flat_map(|i| (0..a.cols()).map(move |j| (i, j)))
        .fold(0.0, |m, (i, j)| m.max((a[(i, j)] - want(i, j)).abs()))
}

/// The squared Frobenius norm `||a||²`.
pub(crate) fn squares(a: &Matrix<f64>) -> f64 {
    a.as_slice().iter().map(|x| x * x).sum()
}

/// Asserts that the objective in the report never increases.
pub(crate) fn never_rises(model: &Model) {
    let objective = &model.report().objective;
    assert!(objective.windows(2).all(|v| v[1] <= v[0]), "{objective:?}");
    assert_eq!(objective.len() as u64, model.report().n_iter + 1);
    assert!(numbers(model, "component_variance").windows(2).all(|v| v[0] >= v[1]));
}
