//! Complete dictionary learning: what is recovered exactly, the first-order conditions, the published designs, and what is refused.

mod accuracy;
mod bad;
mod exact;
mod maps;
mod overcomplete;
mod weights;

use crate::made::on_threads;
use unmix::datasets::{SparseCombinations, bernoulli_gaussian};
use unmix::internal::num::factor;
use unmix::method::complete_dictionary::{CompleteDictionary, Refine};
use unmix::{Matrix, Model, Rows};

/// Rows of `p` orthogonal atoms in as many columns.
pub(crate) fn orthogonal(p: usize, n: usize, share: f64, noise: f64, seed: u64) -> SparseCombinations {
    bernoulli_gaussian((n, p, p), share, noise, true, seed).unwrap()
}

/// Rows of `k` atoms in `p` columns that are not orthogonal.
pub(crate) fn oblique((n, p, k): (usize, usize, usize), share: f64, seed: u64) -> SparseCombinations {
    bernoulli_gaussian((n, p, k), share, 0.0, false, seed).unwrap()
}

/// The search alone, without preconditioning, as in the published experiments.
pub(crate) fn plain() -> CompleteDictionary {
    CompleteDictionary {
        precondition: false,
        polish: false,
        refine: Refine::Always(false),
        ..Default::default()
    }
}

pub(crate) fn fit(spec: &CompleteDictionary, x: &Matrix<f64>) -> Model {
    let mut rows = Rows::from_slice(x.as_slice(), x.cols()).unwrap();
    spec.fit(&mut rows, &on_threads(2)).unwrap_or_else(|e| panic!("{e}"))
}

pub(crate) fn atoms(model: &Model) -> Matrix<f64> {
    model.tensor("components").unwrap().to_matrix()
}

/// For each row of `found`: the nearest atom, the absolute cosine with it, and the distance from it up to sign.
pub(crate) fn nearest(found: &Matrix<f64>, truth: &Matrix<f64>) -> Vec<(usize, f64, f64)> {
    let cosines = factor::multiply_transposed(found, truth);
    let of = |i: usize| {
        let j = (0..truth.rows()).max_by(|a, b| cosines[(i, *a)].abs().total_cmp(&cosines[(i, *b)].abs()));
        let (j, sign) = (j.unwrap(), cosines[(i, j.unwrap())].signum());
        let apart = found.row(i).iter().zip(truth.row(j)).map(|(a, b)| (a - sign * b).powi(2));
        (j, cosines[(i, j)].abs(), apart.sum::<f64>().sqrt())
    };
    (0..found.rows()).map(of).collect()
}

/// Whether every row has a cosine above `least` with an atom of its own.
pub(crate) fn all_found(found: &Matrix<f64>, truth: &Matrix<f64>, least: f64) -> bool {
    let near = nearest(found, truth);
    let mut taken: Vec<usize> = near.iter().map(|(j, _, _)| *j).collect();
    taken.sort_unstable();
    taken.dedup();
    taken.len() == near.len() && near.iter().all(|(_, cosine, _)| *cosine > least)
}

/// The largest distance of a row from its atom.
pub(crate) fn worst(found: &Matrix<f64>, truth: &Matrix<f64>) -> f64 {
    nearest(found, truth).iter().fold(0.0, |m, (_, _, apart)| m.max(*apart))
}
