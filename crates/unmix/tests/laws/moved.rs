//! Rows reordered, columns shifted, scaled and permuted: the answer moves with them.

use super::{Case, cases_by_variance};
use crate::made::{apart, encode, numbers};
use unmix::Model;

/// A fixed permutation of `n` things that leaves no neighbour beside its neighbour.
fn shuffled(n: usize) -> Vec<usize> {
    let s = unmix::num::random::Stream::new(99, n as u64);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| s.bits(i as u64));
    order
}

/// Compares variances, and those components that the data determine: `of(c, j)` is what entry `j` of component `c` should be.
fn same(case: &Case, moved: &Model, model: &Model, scale: f64, tol: f64, of: impl Fn(usize, usize) -> f64) {
    let (a, b) = (numbers(moved, "explained_variance"), numbers(model, "explained_variance"));
    assert_eq!(a.len(), b.len(), "{case}: as many components");
    let b: Vec<f64> = b.iter().map(|v| v * scale * scale).collect();
    let first = b.first().copied().unwrap_or(0.0);
    assert!(apart(&a, &b) <= tol * first, "{case}: {a:?} instead of {b:?}");
    let axes = numbers(moved, "components");
    for c in 0..b.len() {
        let before = if c == 0 { f64::INFINITY } else { b[c - 1] - b[c] };
        let gap = before.min(b.get(c + 1).map_or(f64::INFINITY, |v| b[c] - v));
        // An error of size e in a symmetric matrix turns its vectors by e / gap; among variances of pure noise gaps vanish.
        if b[c] < 1e-9 * first || gap < 1e-3 * first {
            continue;
        }
        let distance = (0..case.p).fold(0.0f64, |m, j| m.max((axes[c * case.p + j] - of(c, j)).abs()));
        assert!(distance < 10.0 * tol * first / gap, "{case}: component {c} is {distance:e} off");
    }
}

#[test]
fn the_order_of_rows_does_not_matter() {
    for case in cases_by_variance() {
        let x = case.data::<f64>();
        let model = case.fit(&x);
        let order = shuffled(case.n);
        let y: Vec<f64> = order.iter().flat_map(|&i| x[i * case.p..(i + 1) * case.p].to_vec()).collect();
        let axes = numbers(&model, "components");
        same(&case, &case.fit(&y), &model, 1.0, 1e-13, |c, j| axes[c * case.p + j]);
    }
}

#[test]
fn a_shift_moves_the_mean_and_nothing_else() {
    for case in cases_by_variance() {
        let x = case.data::<f64>();
        let model = case.fit(&x);
        let by = |j: usize| 1000.0 * ((j % 5) as f64 - 2.0);
        let y: Vec<f64> = x.iter().enumerate().map(|(i, v)| v + by(i % case.p)).collect();
        let moved = case.fit(&y);
        let axes = numbers(&model, "components");
        // The shift itself rounds the data: 2000 eps.
        same(&case, &moved, &model, 1.0, 1e-12, |c, j| axes[c * case.p + j]);
        let want: Vec<f64> = numbers(&model, "mean").iter().enumerate().map(|(j, m)| m + by(j)).collect();
        assert!(apart(&numbers(&moved, "mean"), &want) < 1e-11, "{case}");
    }
}

#[test]
fn a_scale_multiplies_what_it_should() {
    for case in cases_by_variance() {
        let x = case.data::<f64>();
        let model = case.fit(&x);
        let axes = numbers(&model, "components");
        // By a negative number too: the canonical sign is that of the axis, so the codes turn round.
        for s in [-3.7, 1e-9, 1e9] {
            let moved = case.fit(&x.iter().map(|v| v * s).collect::<Vec<f64>>());
            same(&case, &moved, &model, s, 1e-12, |c, j| axes[c * case.p + j]);
        }
        if model.n_components() > 0 && !case.whitens() {
            let y: Vec<f64> = x.iter().map(|v| -2.0 * v).collect();
            let codes = (encode(&case.fit(&y), &y), encode(&model, &x));
            let k = model.n_codes();
            for i in 0..case.n {
                assert!(
                    (codes.0[i * k] + 2.0 * codes.1[i * k]).abs() < 1e-9,
                    "{case}: first code of row {i}"
                );
            }
        }
    }
}

#[test]
fn permuted_columns_permute_the_loadings() {
    for case in cases_by_variance() {
        let x = case.data::<f64>();
        let model = case.fit(&x);
        let order = shuffled(case.p);
        let y: Vec<f64> = x
            .chunks_exact(case.p)
            .flat_map(|row| order.iter().map(|&j| row[j]).collect::<Vec<_>>())
            .collect();
        let axes = numbers(&model, "components");
        same(&case, &case.fit(&y), &model, 1.0, 1e-13, |c, j| axes[c * case.p + order[j]]);
    }
}
