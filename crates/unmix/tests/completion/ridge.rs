//! A ridge of given weight: penalised least squares by its equations, and what is refused.

use super::{Design, cells_of_freedom, completed};
use crate::made::{apart, encode, numbers, settings, try_fit};
use serde_json::json;
use unmix::internal::num::Matrix;

/// `sum (y - m - b - c - a v)² + alpha (sum n_i |a_i|² + sum n_j |v_j|²) + 5 (sum b² + sum c²)` over the cells, in units of their
/// spread.
struct Cost<'a> {
    design: &'a Design,
    m: f64,
    unit: f64,
    alpha: f64,
}

/// Factors of rows and columns, and their offsets.
#[derive(Clone)]
struct Parts {
    rows: Matrix<f64>,
    columns: Matrix<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
}

impl Cost<'_> {
    fn of(&self, x: &Parts) -> f64 {
        let (p, mut cost) = (self.design.p, 0.0);
        for (at, y) in self.design.x.iter().enumerate().filter(|(_, y)| !y.is_nan()) {
            let (i, j) = (at / p, at % p);
            let k = x.rows.cols();
            let shared: f64 = (0..k).map(|a| x.rows[(i, a)] * x.columns[(j, a)]).sum();
            cost += ((y - self.m) / self.unit - x.b[i] - x.c[j] - shared).powi(2);
            let square = |of: &Matrix<f64>, i: usize| (0..k).map(|a| of[(i, a)].powi(2)).sum::<f64>();
            cost += self.alpha * (square(&x.rows, i) + square(&x.columns, j));
        }
        cost + 5.0 * x.b.iter().chain(&x.c).map(|x| x * x).sum::<f64>()
    }
}

#[test]
fn no_change_of_factors_or_offsets_costs_less_and_the_cost_never_rises() {
    let design = Design::new((40, 30, 2), 0.5, 0.4, 21).with_offsets(2.0, 0.7, 1.2, 8);
    let model = design.fit(json!({"n_components": 2, "alpha": 0.1, "tol": 1e-14, "max_iter": 5000}));
    let cost = &model.report().objective;
    assert!(cost.windows(2).all(|v| v[1] <= v[0] * (1.0 + 1e-12)), "{cost:?}");
    let seen: Vec<f64> = design.x.iter().copied().filter(|x| !x.is_nan()).collect();
    let n = seen.len() as f64;
    let m = seen.iter().sum::<f64>() / n;
    let unit = (seen.iter().map(|x| (x - m).powi(2)).sum::<f64>() / n).sqrt();
    let (codes, components) =
        (model.tensor("row_codes").unwrap().to_matrix(), model.tensor("components").unwrap().to_matrix());
    // The penalty determines how a factor is scaled on either side: `per_cell noise` is alpha times the square of the rows' scale.
    let (prior, noise) = (numbers(&model, "row_prior"), numbers(&model, "noise_variance")[0] / unit / unit);
    let scale: Vec<f64> = (0..2).map(|a| (prior[2 * a + 1] * noise / 0.1).sqrt()).collect();
    let best = Parts {
        rows: Matrix::from_fn(40, 2, |i, a| codes[(i, a)] * scale[a]),
        columns: Matrix::from_fn(30, 2, |j, a| components[(a, j)] / unit / scale[a]),
        b: numbers(&model, "row_offsets").iter().map(|b| b / unit).collect(),
        c: numbers(&model, "mean").iter().map(|c| (c - m) / unit).collect(),
    };
    let of = Cost { design: &design, m, unit, alpha: 0.1 };
    let top = of.of(&best);
    assert!((top / n * unit * unit / cost[cost.len() - 1] - 1.0).abs() < 1e-6, "{top}");
    let draws = unmix::internal::num::random::Stream::new(4, 0);
    for trial in 0..40u64 {
        let mut other = best.clone();
        let normal = |i: usize| 1e-3 * draws.normal(1000 * trial + i as u64);
        other.rows.as_mut_slice().iter_mut().enumerate().for_each(|(i, x)| *x += normal(i));
        other.columns.as_mut_slice().iter_mut().enumerate().for_each(|(i, x)| *x += normal(200 + i));
        other.b.iter_mut().chain(&mut other.c).enumerate().for_each(|(i, x)| *x += normal(400 + i));
        assert!(of.of(&other) > top - 1e-8, "trial {trial}");
    }
    // A row of the fit is encoded to its factors.
    assert!(apart(&encode(&model, &design.x), codes.as_slice()) < 1e-10);
}

#[test]
fn without_a_penalty_a_matrix_without_noise_is_recovered() {
    let design = Design::new((60, 50, 2), 0.5, 0.0, 3);
    let model =
        design.fit(json!({"n_components": 2, "alpha": 0, "offsets": false, "max_iter": 500, "tol": 1e-9}));
    assert!(design.error(&model) < 1e-8, "{:e}", design.error(&model));
    assert_eq!(model.n_components(), 2);
}

/// Of ten matrices without noise, at least so many are recovered from a start at the singular vectors of their cells.
#[test]
fn least_squares_recover_as_often_as_in_the_table() {
    for (r, c, least) in [(2, 3.0, 10), (2, 5.0, 10), (4, 2.0, 8), (4, 3.0, 10), (4, 5.0, 10)] {
        let given = json!({"n_components": r, "alpha": 0, "offsets": false, "tol": 1e-8, "max_iter": 500});
        let error = |seed: u64| {
            let design = cells_of_freedom(r, c, seed);
            design.error(&design.fit(given.clone()))
        };
        let errors: Vec<f64> = (0..10).map(error).collect();
        let found = errors.iter().filter(|error| **error < 1e-3).count();
        assert!(found >= least, "rank {r}, {c} cells for a degree of freedom: {found} of 10, {errors:?}");
    }
}

/// Noise of 0.1 in half of the cells: the others are known to .063, the median of five designs.
#[test]
fn least_squares_of_noisy_cells_have_the_error_of_their_degrees_of_freedom() {
    let given = json!({"n_components": 3, "alpha": 1e-3, "offsets": false, "tol": 1e-8, "max_iter": 500});
    let error = |seed: u64| {
        let design = Design::new((40, 50, 3), 0.5, 0.1, seed);
        let fitted = completed(&design.fit(given.clone()));
        let hidden: Vec<usize> = (0..fitted.len()).filter(|at| design.x[*at].is_nan()).collect();
        let squares: f64 = hidden.iter().map(|at| (fitted[*at] - design.truth[*at]).powi(2)).sum();
        (squares / hidden.len() as f64).sqrt()
    };
    let mut errors: Vec<f64> = (0..5).map(error).collect();
    errors.sort_by(f64::total_cmp);
    assert!((errors[2] - 0.063).abs() < 0.01, "{errors:?}");
}

/// Without a penalty, rows and columns with fewer cells than factors are not determined: their solution is the one of smallest norm, and they are named.
#[test]
fn rows_and_columns_with_fewer_cells_than_factors_are_named() {
    let mut design = Design::new((30, 20, 2), 0.6, 0.2, 1);
    (1..20).for_each(|j| design.x[5 * 20 + j] = f64::NAN);
    design.x[5 * 20] = 1.0;
    for (alpha, named) in [(json!(0), true), (json!(0.1), false), (json!("auto"), false)] {
        let model = design.fit(json!({"n_components": 2, "alpha": alpha, "offsets": false}));
        let message = model.report().warnings.join("; ");
        assert_eq!(
            message.contains("row 5 has fewer observed cells than the 2 factors:"),
            named,
            "{alpha}: {message}"
        );
    }
    // Two more rows, and a column.
    for i in [7, 9] {
        (0..20).for_each(|j| design.x[i * 20 + j] = if j == 3 { 1.0 } else { f64::NAN });
    }
    (1..30).for_each(|i| design.x[i * 20 + 11] = f64::NAN);
    design.x[11] = 1.0;
    let model = design.fit(json!({"n_components": 2, "alpha": 0, "offsets": false}));
    let message = model.report().warnings.join("; ");
    assert!(
        message.contains("3 rows have fewer observed cells than the 2 factors, the first of them row 5"),
        "{message}"
    );
    assert!(message.contains("column 11 has fewer observed cells"), "{message}");
}

/// First column and last row of a matrix of rank one: as many cells as degrees of freedom, which form a tree, so the matrix is exact.
#[test]
fn a_column_and_a_row_determine_a_matrix_of_rank_one() {
    for (n, p) in [(6, 9), (30, 40)] {
        let mut corner = Design::new((n, p, 1), 1.0, 0.0, 5);
        let known = |at: usize| at.is_multiple_of(p) || at / p == n - 1;
        (0..n * p).filter(|at| !known(*at)).for_each(|at| corner.x[at] = f64::NAN);
        let model = corner.fit(json!({"n_components": 1, "alpha": 0, "offsets": false}));
        assert!(corner.error(&model) < 1e-12, "{:e}: {:?}", corner.error(&model), completed(&model));
        assert!(model.report().n_iter <= 3, "{}", model.report().n_iter);
        // Where the only cell that links two parts is 0, the start is that of the singular vectors; the fit must not fail.
        corner.x[(n - 1) * p] = 0.0;
        corner.fit(json!({"n_components": 1, "alpha": 0, "offsets": false}));
    }
}

#[test]
fn disconnected_blocks_of_cells_are_listed() {
    let mut x = vec![f64::NAN; 40];
    // Rows 0 to 4 with columns 0 and 1, rows 5 to 9 with columns 2 and 3.
    for i in 0..10 {
        let first = if i < 5 { 0 } else { 2 };
        (x[4 * i + first], x[4 * i + first + 1]) = (i as f64, (i * i) as f64);
    }
    let fit = |given| try_fit("matrix-completion", &settings(given), &x, 4);
    let e = fit(json!({"n_components": 1, "alpha": 0})).unwrap_err().to_string();
    assert!(e.contains("2 blocks") && e.contains("5 x 2, 5 x 2") && e.contains("rows 0 and 5"), "{e}");
    assert!(fit(json!({"n_components": 1, "alpha": 0.1})).is_ok() && fit(json!({"n_components": 1})).is_ok());
}
