//! Equivariance: rows reordered, columns shifted, scaled and permuted change the result accordingly.

use super::{Case, cases_by_variance, every_case};
use crate::made::{apart, encode, numbers};
use unmix::Model;

/// A fixed pseudo-random permutation of `n` items.
fn shuffled(n: usize) -> Vec<usize> {
    let s = unmix::internal::num::random::Stream::new(99, n as u64);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| s.bits(i as u64));
    order
}

/// Compares the variances, and the components that the data determine: entry `j` of component `c` must be `of(c, j)`.
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
        // An error of size e in a symmetric matrix rotates its eigenvectors by about e / gap; gaps between the variances of pure noise
        // vanish.
        // A single component: the next variance is unknown, and at least 0.
        let gap = if gap.is_finite() { gap } else { b[c] };
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
        // The shift itself rounds the data, which costs some 2000 eps.
        same(&case, &moved, &model, 1.0, 1e-12, |c, j| axes[c * case.p + j]);
        let want: Vec<f64> = numbers(&model, "mean").iter().enumerate().map(|(j, m)| m + by(j)).collect();
        assert!(apart(&numbers(&moved, "mean"), &want) < 1e-11, "{case}");
    }
}

#[test]
fn a_scale_multiplies_variances_and_codes() {
    for case in cases_by_variance() {
        let x = case.data::<f64>();
        let model = case.fit(&x);
        let axes = numbers(&model, "components");
        // The canonical sign is that of the axis, so a negative factor changes the signs of the codes.
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

/// Rows with independent non-Gaussian sources, which the data determine by more than their variances.
fn determined() -> (usize, Vec<f64>) {
    use unmix::datasets::{Distribution, independent};
    let (n, laws) = (
        3000,
        [Distribution::Laplace, Distribution::Uniform, Distribution::Exponential, Distribution::Laplace],
    );
    let z = independent(n, &laws, &[9.0, 5.0, 2.0, 1.0], 11).unwrap().x;
    let turn = unmix::Matrix::from_fn(4, 4, |i, j| {
        [2.0, -0.5, 0.3, 0.9, 0.4, 1.5, -0.7, 0.2, -1.1, 0.6, 1.8, 0.1, 0.3, -0.2, 0.5, 1.3][4 * i + j]
    });
    (n, unmix::internal::num::factor::multiply(&z, &turn).into_vec())
}

/// Columns of the decoder, one per row of the result.
fn decoders(model: &Model) -> unmix::Matrix<f64> {
    match model.tensor("mixing") {
        Some(mixing) => mixing.to_matrix().transposed(),
        None => model.tensor("components").unwrap().to_matrix(),
    }
}

#[test]
fn decoders_are_equivariant() {
    let (n, x) = determined();
    let p = 4;
    let order = shuffled(n);
    let columns = [2usize, 0, 3, 1];
    type Move = (&'static str, f64, Vec<f64>, [usize; 4]);
    let still = [0usize, 1, 2, 3];
    let moves: Vec<Move> = vec![
        ("shifted", 1.0, x.iter().enumerate().map(|(i, v)| v + 100.0 * (i % p) as f64).collect(), still),
        ("by -3.7", -3.7, x.iter().map(|v| v * -3.7).collect(), still),
        ("by 1e-9", 1e-9, x.iter().map(|v| v * 1e-9).collect(), still),
        ("by 1e9", 1e9, x.iter().map(|v| v * 1e9).collect(), still),
        (
            "in another order",
            1.0,
            order.iter().flat_map(|&i| x[i * p..(i + 1) * p].to_vec()).collect(),
            still,
        ),
        (
            "with columns exchanged",
            1.0,
            x.chunks_exact(p).flat_map(|row| columns.map(|j| row[j])).collect(),
            columns,
        ),
    ];
    for (key, given) in [
        ("ica", serde_json::json!({"tol": 1e-10})),
        ("ica", serde_json::json!({"ortho": false, "extended": true, "tol": 1e-10})),
        ("ica", serde_json::json!({"algorithm": "fastica", "tol": 1e-10})),
        ("ica", serde_json::json!({"algorithm": "sigma-pca", "tol": 1e-10})),
        ("fastica", serde_json::json!({"tol": 1e-14, "max_iter": 500})),
        ("sigma-pca", serde_json::json!({"tol": 1e-10, "n_components": 2})),
        ("neural-pca", serde_json::json!({"tol": 1e-10})),
        ("rica", serde_json::json!({"tol": 1e-10})),
        ("factor-analysis", serde_json::json!({"n_components": 1, "tol": 1e-10})),
        ("factor-analysis", serde_json::json!({"n_components": 1, "tol": 1e-10, "standardize": true})),
        ("ppca", serde_json::json!({"n_components": 2})),
        ("linear-eigengan", serde_json::json!({"n_components": 3})),
        // Its atoms have length 1; without the mean a shift would be a part of the rows.
        ("complete-dictionary", serde_json::json!({"center": true, "tol": 1e-10})),
    ] {
        let fit = |x: &[f64]| crate::made::try_fit(key, &crate::made::settings(given.clone()), x, p).unwrap();
        let before = decoders(&fit(&x));
        for (what, scale, y, columns) in &moves {
            let after = decoders(&fit(y));
            let scale =
                if ["ica", "fastica", "rica", "factor-analysis"].contains(&key) { scale.abs() } else { 1.0 };
            let want = unmix::Matrix::from_fn(before.rows(), p, |i, j| scale * before[(i, columns[j])]);
            // Signs follow the largest entries, which a permutation of columns may change where two are nearly equal.
            for i in 0..want.rows() {
                let sign = want.row(i).iter().zip(after.row(i)).map(|(a, b)| a * b).sum::<f64>().signum();
                let length = |row: &[f64]| row.iter().map(|a| a * a).sum::<f64>().sqrt();
                let moved: Vec<f64> =
                    want.row(i).iter().zip(after.row(i)).map(|(a, b)| a - sign * b).collect();
                let error = length(&moved) / length(want.row(i));
                assert!(error < 1e-5, "{key} {given} {what}, component {i}: {error:e}");
            }
        }
    }
}

/// Matrix completion begins with the leading singular vectors of all cells, so that it takes the same steps for rows in other units or in
/// another order. Not for shifted columns: the prior of their offsets has mean 0.
#[test]
fn completion_is_equivariant_in_the_units_and_the_order_of_rows_and_columns() {
    let by_least_squares = |case: &Case| {
        case.method.key == "matrix-completion"
            && ["algorithm", "alpha"].iter().all(|name| case.given.get(*name).is_none())
            // The decomposition at the start is exact only if it has as many directions as there are columns.
            && case.p <= 12
    };
    let mut moved = 0;
    for case in every_case().into_iter().filter(by_least_squares) {
        let (n, p, x) = (case.n, case.p, case.data::<f64>());
        let (rows, columns) = (shuffled(n), shuffled(p));
        let in_order = |rows: &[usize], columns: &[usize]| -> Vec<f64> {
            rows.iter().flat_map(|&i| columns.iter().map(|&j| x[i * p + j]).collect::<Vec<f64>>()).collect()
        };
        let (first, still): (Vec<usize>, Vec<usize>) = ((0..n).collect(), (0..p).collect());
        let model = case.fit(&x);
        let (axes, mean) = (model.tensor("components").unwrap().to_matrix(), numbers(&model, "mean"));
        let noise = numbers(&model, "noise_variance")[0];
        let scaled = |s: f64| x.iter().map(|v| v * s).collect::<Vec<f64>>();
        for (what, s, y, order) in [
            ("by -3.7", -3.7f64, scaled(-3.7), &still),
            ("by 1e-9", 1e-9, scaled(1e-9), &still),
            ("by 1e9", 1e9, scaled(1e9), &still),
            ("rows in another order", 1.0, in_order(&rows, &still), &still),
            ("columns in another order", 1.0, in_order(&first, &columns), &columns),
        ] {
            let after = case.fit(&y);
            let want: Vec<f64> = order.iter().map(|&j| s * mean[j]).collect();
            let size = |values: &[f64]| values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            assert!(apart(&numbers(&after, "mean"), &want) <= 1e-6 * size(&want), "{case} {what}: mean");
            let ratio = numbers(&after, "noise_variance")[0] / (noise * s * s);
            assert!((ratio - 1.0).abs() < 1e-6, "{case} {what}: noise {ratio}");
            let found = after.tensor("components").unwrap().to_matrix();
            assert_eq!((found.rows(), found.cols()), (axes.rows(), p), "{case} {what}");
            for i in 0..axes.rows() {
                let want: Vec<f64> = order.iter().map(|&j| s.abs() * axes[(i, j)]).collect();
                // Signs follow the largest entries, of which two may be nearly equal.
                let turned: Vec<f64> = want.iter().map(|v| -v).collect();
                let distance = apart(found.row(i), &want).min(apart(found.row(i), &turned));
                assert!(distance <= 1e-5 * size(&want), "{case} {what}: factor {i} is {distance:e} off");
            }
        }
        moved += 1;
    }
    assert!(moved > 1 || std::env::var_os("UNMIX_LAWS").is_some(), "{moved} cases");
}
