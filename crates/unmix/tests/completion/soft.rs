//! Soft-impute: the first-order conditions of the convex problem, the path of penalties, and recovery.

use super::{Design, completed};
use crate::made::{apart, encode, numbers};
use serde_json::json;
use unmix::internal::num::{Matrix, factor};
use unmix::{Model, Outcome};

/// Residuals of the observed cells; 0 for missing ones.
fn residuals(design: &Design, model: &Model) -> Matrix<f64> {
    let fitted = completed(model);
    Matrix::from_fn(design.n, design.p, |i, j| {
        let at = i * design.p + j;
        if design.x[at].is_nan() { 0.0 } else { design.x[at] - fitted[at] }
    })
}

/// Singular values, from `a' a`.
fn singular(a: &Matrix<f64>) -> (Vec<f64>, Matrix<f64>) {
    let (values, vectors) = factor::eigh(&factor::multiply(&a.transposed(), a)).unwrap();
    (values.iter().map(|v| v.max(0.0).sqrt()).collect(), vectors)
}

#[test]
fn the_solution_satisfies_the_conditions_of_the_convex_problem() {
    let design = Design::new((40, 50, 3), 0.5, 0.1, 1);
    for alpha in [2.0, 6.0, 12.0] {
        let given = json!({"algorithm": "soft-impute", "alpha": alpha, "offsets": false, "tol": 1e-13, "max_iter": 5000});
        let model = design.fit(given);
        assert_eq!(model.report().outcome, Outcome::Converged, "{alpha}");
        let left = residuals(&design, &model);
        // The spectral norm of the residuals is alpha.
        let (values, _) = singular(&left);
        assert!((values[0] / alpha - 1.0).abs() < 1e-4, "alpha {alpha}: {}", values[0]);
        // On the directions of the solution it is alpha times the identity: R V = alpha U.
        let k = model.n_components();
        assert!((1..30).contains(&k), "alpha {alpha}: {k}");
        let (codes, components) =
            (model.tensor("row_codes").unwrap().to_matrix(), model.tensor("components").unwrap().to_matrix());
        let z = factor::multiply(&codes, &components);
        let (s, v) = singular(&z);
        for a in 0..k {
            let u = Matrix::from_fn(design.n, 1, |i, _| {
                (0..design.p).map(|j| z[(i, j)] * v[(a, j)]).sum::<f64>() / s[a]
            });
            let pulled =
                Matrix::from_fn(design.n, 1, |i, _| (0..design.p).map(|j| left[(i, j)] * v[(a, j)]).sum());
            let off =
                u.as_slice().iter().zip(pulled.as_slice()).map(|(u, r): (&f64, &f64)| (r / alpha - u).abs());
            assert!(off.fold(0.0, f64::max) < 1e-3, "alpha {alpha}, direction {a}");
        }
        // The cost: half the squares and the nuclear norm. It never rises, and the last one is that of the solution.
        let squares: f64 = left.as_slice().iter().map(|x| x * x).sum();
        let nuclear: f64 = s[..k].iter().sum();
        let cells = design.x.iter().filter(|x| !x.is_nan()).count() as f64;
        let objective = &model.report().objective;
        let last = objective[objective.len() - 1] * cells;
        assert!(((0.5 * squares + alpha * nuclear) / last - 1.0).abs() < 1e-12, "alpha {alpha}: {last}");
        assert!(objective.windows(2).all(|v| v[1] <= v[0] * (1.0 + 1e-9)), "alpha {alpha}: {objective:?}");
        // Rows of the fit are encoded as they are in it.
        assert!(apart(&encode(&model, &design.x), codes.as_slice()) < 1e-8, "alpha {alpha}");
    }
}

/// Half the sum of the squared residuals of the observed cells, and `alpha` times the nuclear norm, of a fitted matrix with more rows than
/// columns.
fn objective(design: &Design, alpha: f64, fitted: &Matrix<f64>) -> f64 {
    let left = design.x.iter().zip(fitted.as_slice()).filter(|(x, _)| !x.is_nan());
    let squares: f64 = left.map(|(x, z)| (x - z).powi(2)).sum();
    0.5 * squares + alpha * factor::svd_right(fitted).unwrap().0.iter().sum::<f64>()
}

/// Filling and thresholding converge linearly: after 500 steps they change the last digits only.
#[test]
fn soft_impute_is_the_fixed_point_of_filling_and_thresholding() {
    let design = Design::new((30, 20, 2), 0.6, 0.2, 4);
    let alpha = 3.0;
    // Z <- D(seen cells, Z elsewhere).
    let (n, p) = (design.n, design.p);
    let mut z = Matrix::zeros(n, p);
    for _ in 0..500 {
        let full = Matrix::from_fn(n, p, |i, j| {
            let x = design.x[i * p + j];
            if x.is_nan() { z[(i, j)] } else { x }
        });
        let (s, v) = factor::svd_right(&full).unwrap();
        let shrunk = Matrix::from_fn(p, p, |a, b| {
            (0..p)
                .map(|c| if s[c] > alpha { v[(c, a)] * v[(c, b)] * (1.0 - alpha / s[c]) } else { 0.0 })
                .sum()
        });
        z = factor::multiply(&full, &shrunk);
    }
    let given =
        json!({"algorithm": "soft-impute", "alpha": alpha, "offsets": false, "tol": 1e-14, "max_iter": 5000});
    let model = design.fit(given);
    let fitted = completed(&model);
    assert!(apart(&fitted, z.as_slice()) < 1e-10, "{:e}", apart(&fitted, z.as_slice()));
    // At the minimum the objective depends on errors of the cells in second order.
    let want = objective(&design, alpha, &z);
    let own = objective(&design, alpha, &Matrix::from_vec(n, p, fitted));
    let cells = design.x.iter().filter(|x| !x.is_nan()).count() as f64;
    let reported = model.report().objective.last().unwrap() * cells;
    for found in [own, reported] {
        assert!((found / want - 1.0).abs() < 1e-12, "{found} instead of {want}: {:e}", found / want - 1.0);
    }
}

#[test]
fn held_out_cells_select_the_penalty_and_variational_steps_remove_its_bias() {
    // With noise: as accurate as 'als' with the true number of factors.
    let design = Design::new((120, 90, 4), 0.4, 0.3, 3).with_offsets(5.0, 2.0, 3.0, 1);
    let model = design.fit(json!({"algorithm": "soft-impute"}));
    assert_eq!(model.n_components(), 4);
    assert!(design.error(&model) < 0.03, "{}", design.error(&model));
    let path = model.tensor("path").unwrap().to_matrix();
    assert!((5..=20).contains(&path.rows()) && path.cols() == 3);
    // The path begins without factors, and the penalty decreases geometrically.
    assert_eq!(path[(0, 1)], 0.0);
    for t in 1..path.rows() {
        assert!((path[(t, 0)] / path[(t - 1, 0)] - 1000f64.powf(-1.0 / 19.0)).abs() < 1e-9, "value {t}");
    }
    let best = (0..path.rows()).min_by(|a, b| path[(*a, 2)].total_cmp(&path[(*b, 2)])).unwrap();
    assert!(path[(best, 2)] < 0.5 * path[(0, 2)] && path[(best, 1)] >= 4.0, "{best}");
    // Three values without improvement end it.
    assert!(best + 4 >= path.rows(), "{best} of {}", path.rows());
    // Errors come with it, as with 'als'.
    assert!(model.tensor("column_errors").is_some() && model.tensor("row_prior").is_none());
    // Without noise, exactly.
    let exact = Design::new((60, 60, 4), 0.5, 0.0, 8);
    let model = exact.fit(json!({"algorithm": "soft-impute", "offsets": false, "max_iter": 300}));
    assert_eq!(model.n_components(), 4);
    assert!(exact.error(&model) < 1e-6, "{:e}", exact.error(&model));
}

#[test]
fn penalties_above_the_first_value_of_the_path_leave_no_factor() {
    let design = Design::new((40, 30, 2), 0.5, 0.2, 6).with_offsets(1.0, 1.0, 1.0, 2);
    let path = design.fit(json!({"algorithm": "soft-impute"})).tensor("path").unwrap().to_matrix();
    let top = path[(0, 0)];
    // The first value is computed from nine tenths of the cells.
    for (share, some) in [(1.25, false), (0.8, true)] {
        let given = json!({"algorithm": "soft-impute", "alpha": share * top, "tol": 1e-10, "max_iter": 2000});
        let model = design.fit(given);
        assert_eq!(model.n_components() > 0, some, "{share}");
        assert!(numbers(&model, "row_offsets").iter().any(|b| b.abs() > 0.1), "{share}");
    }
}
