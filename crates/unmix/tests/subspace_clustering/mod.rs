//! Subspace clustering: accuracy on the published designs, and properties that follow from the definitions.

mod accuracy;
mod bad;
mod exact;
mod mixture;

use crate::made::{numbers, on_threads};
use unmix::datasets::{UnionOfSubspaces, union_of_subspaces};
use unmix::{Matrix, Model, Rows, SubspaceClustering};

/// `each` rows of every subspace.
fn union(p: usize, dimensions: &[usize], each: usize, noise: f64, seed: u64) -> UnionOfSubspaces {
    union_of_subspaces(&vec![each; dimensions.len()], p, dimensions, noise, seed).unwrap()
}

fn fit(spec: &SubspaceClustering, x: &Matrix<f64>) -> Model {
    let mut rows = Rows::from_slice(x.as_slice(), x.cols()).unwrap();
    spec.fit(&mut rows, &on_threads(2)).unwrap_or_else(|e| panic!("{e}"))
}

fn labels(model: &Model) -> Vec<usize> {
    numbers(model, "labels").into_iter().map(|l| l as usize).collect()
}

/// The subspaces, by their orthonormal rows.
fn bases(model: &Model) -> Vec<Matrix<f64>> {
    let (all, mut first) = (model.tensor("bases").unwrap().to_matrix(), 0);
    let each = numbers(model, "dimensions").into_iter().map(|d| {
        let basis = all.rows_from(first).top_rows(d as usize);
        first += d as usize;
        basis
    });
    each.collect()
}
