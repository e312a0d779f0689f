//! Constant columns, and more components than the rank: no errors, and the documented canonical completion.

use crate::made::{apart, cast, encode, falling, numbers, pca};
use serde_json::json;
use unmix::Matrix;
use unmix::internal::num::factor;

/// `n` rows of `p` columns of rank `rank`.
fn deficient(n: usize, p: usize, rank: usize) -> Vec<f64> {
    let (a, b) = (falling(n, rank, 3), falling(rank, p, 4));
    let x = factor::multiply(&Matrix::from_vec(n, rank, a), &Matrix::from_vec(rank, p, b));
    x.into_vec()
}

/// Eigenvectors of diag(0, 1, ..., p-1) restricted to the orthogonal complement of `axes`, in ascending order of eigenvalues, by Jacobi
/// rotations.
fn canonical(axes: &Matrix<f64>, p: usize) -> Vec<Vec<f64>> {
    // Directions of the row space get the eigenvalue p + 10, which puts them last.
    let q = Matrix::from_fn(p, p, |i, j| {
        f64::from(u8::from(i == j)) - (0..axes.rows()).map(|c| axes[(c, i)] * axes[(c, j)]).sum::<f64>()
    });
    let d = Matrix::from_fn(p, p, |i, j| q[(i, j)] * j as f64);
    let a = factor::multiply(&d, &q);
    let (_, vectors) = crate::naive::jacobi(
        (0..p)
            .map(|i| {
                (0..p)
                    .map(|j| {
                        0.5 * (a[(i, j)] + a[(j, i)])
                            + (p as f64 + 10.0) * (f64::from(u8::from(i == j)) - q[(i, j)])
                    })
                    .collect()
            })
            .collect(),
    );
    vectors.into_iter().rev().collect()
}

#[test]
fn components_above_the_rank_have_variance_zero_and_canonical_directions() {
    for (n, p, rank) in [(60, 10, 4), (8, 14, 3), (12, 12, 5), (6, 30, 5)] {
        for solver in ["full", "covariance_eigh"] {
            let x = deficient(n, p, rank);
            let k = n.min(p);
            let model = pca(json!({"svd_solver": solver, "n_components": k, "whiten": true}), &x, p);
            let name = format!("{n} x {p} of rank {rank}, {solver}");
            let values = numbers(&model, "explained_variance");
            assert!(
                values[..rank].iter().all(|v| *v > 0.0) && values[rank..].iter().all(|v| *v == 0.0),
                "{name}: {values:?}"
            );
            assert_eq!(model.report().rank, Some(rank), "{name}");
            let warned = model.report().warnings.iter().any(|w| w.contains(&format!("{rank} directions")));
            assert!(warned, "{name}: {:?}", model.report().warnings);
            for code in encode(&model, &x).chunks_exact(k) {
                assert!(code[rank..].iter().all(|y| *y == 0.0), "{name}: whitened code {code:?}");
            }
            let all = Matrix::from_vec(k, p, numbers(&model, "components"));
            let want = canonical(&all.clone().top_rows(rank), p);
            for c in rank..k {
                let cosine: f64 = all.row(c).iter().zip(&want[c - rank]).map(|(a, b)| a * b).sum();
                assert!(
                    (cosine.abs() - 1.0).abs() < 1e-9,
                    "{name}: null direction {}: cosine {cosine}",
                    c - rank
                );
            }
        }
    }
}

#[test]
fn null_directions_do_not_depend_on_the_solver_or_the_order_of_rows() {
    let (n, p, rank) = (9, 20, 4);
    let x = deficient(n, p, rank);
    let mut turned: Vec<f64> = x.clone();
    turned.chunks_exact_mut(p).rev().zip(x.chunks_exact(p)).for_each(|(to, from)| to.copy_from_slice(from));
    let a = numbers(&pca(json!({"svd_solver": "full"}), &x, p), "components");
    for (solver, y) in [("covariance_eigh", &x), ("full", &turned), ("covariance_eigh", &turned)] {
        let b = numbers(&pca(json!({ "svd_solver": solver }), y, p), "components");
        assert!(apart(&a[rank * p..], &b[rank * p..]) < 1e-9, "{solver}");
    }
}

#[test]
fn constant_columns_have_loadings_that_are_exactly_zero_and_are_counted() {
    for (n, p) in [(80, 9), (7, 30), (700, 9), (9, 600)] {
        for solver in ["full", "covariance_eigh"] {
            for (constant, large) in [(0.1, 1e6), (0.0, -1e-3)] {
                let mut x = falling(n, p, 5);
                for row in x.chunks_exact_mut(p) {
                    (row[2], row[p - 1]) = (constant, large);
                }
                let k = 3;
                let check = |model: &unmix::Model, x0: f64, x1: f64| {
                    let name = format!("{n} x {p}, {solver}, {:?}", model.dtype());
                    let (axes, mean) = (numbers(model, "components"), numbers(model, "mean"));
                    for row in axes.chunks_exact(p) {
                        assert!(row[2] == 0.0 && row[p - 1] == 0.0, "{name}: {} and {}", row[2], row[p - 1]);
                    }
                    assert_eq!(
                        (mean[2], mean[p - 1]),
                        (x0, x1),
                        "{name}: the mean of a constant is the constant"
                    );
                    assert_eq!(model.report().n_constant, 2, "{name}");
                    assert!(model.report().warnings.iter().any(|w| w.contains("2 of")), "{name}");
                };
                let given = json!({"n_components": k, "svd_solver": solver});
                check(&pca(given.clone(), &x, p), constant, large);
                check(&pca(given, &cast::<f32>(&x), p), constant as f32 as f64, large as f32 as f64);
            }
        }
    }
}
