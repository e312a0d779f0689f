//! Factor analysis of rows with missing cells: fit, codes, scores and imputation use the observed cells.

use super::{covariance, fit, inverse, likelihood, made};
use crate::made::{apart, encode, numbers, on_threads, scores, settings, try_fit};
use serde_json::{Value, json};
use unmix::data::VecSink;
use unmix::impute::{ImputeOptions, Imputer};
use unmix::internal::num::factor;
use unmix::internal::num::random::Stream;
use unmix::{AnyRows, Error, Matrix, Model, Rows, Run};

fn without(x: &[f64], share: f64, seed: u64) -> Vec<f64> {
    let draws = Stream::new(seed, 9);
    let cell = |(at, x): (usize, &f64)| if draws.uniform(at as u64) < share { f64::NAN } else { *x };
    x.iter().enumerate().map(cell).collect()
}

fn seen(row: &[f64]) -> Vec<usize> {
    (0..row.len()).filter(|&j| !row[j].is_nan()).collect()
}

/// `C_oo^-1` and `C_oo` of the observed cells of a row.
fn of_cells(c: &Matrix<f64>, o: &[usize]) -> (Matrix<f64>, Matrix<f64>) {
    let part = Matrix::from_fn(o.len(), o.len(), |a, b| c[(o[a], o[b])]);
    (inverse(&part), part)
}

/// Log density and codes of every row from the joint Gaussian of its observed cells.
fn by_joint_gaussian(model: &Model, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (c, mean, p) = (covariance(model), numbers(model, "mean"), model.n_features());
    let loadings = model.tensor("components").unwrap().to_matrix();
    let phi = model.tensor("factor_correlation").unwrap().to_matrix();
    let structure = factor::multiply(&phi, &loadings);
    let (mut densities, mut codes) = (Vec::new(), Vec::new());
    for row in x.chunks_exact(p) {
        let o = seen(row);
        if o.is_empty() {
            densities.push(0.0);
            codes.extend(vec![0.0; loadings.rows()]);
            continue;
        }
        let (precision, part) = of_cells(&c, &o);
        let rest: Vec<f64> = o.iter().map(|&j| row[j] - mean[j]).collect();
        let pull: Vec<f64> =
            (0..o.len()).map(|a| (0..o.len()).map(|b| precision[(a, b)] * rest[b]).sum()).collect();
        let form: f64 = pull.iter().zip(&rest).map(|(a, b)| a * b).sum();
        let log_det: f64 = factor::eigenvalues(&part).unwrap().iter().map(|v| v.ln()).sum();
        densities.push(-0.5 * (o.len() as f64 * (2.0 * std::f64::consts::PI).ln() + log_det + form));
        for f in 0..loadings.rows() {
            codes.push(o.iter().zip(&pull).map(|(&j, x)| structure[(f, j)] * x).sum());
        }
    }
    (densities, codes)
}

#[test]
fn densities_and_codes_are_those_of_the_joint_gaussian_of_the_cells() {
    let (n, p) = (120, 8);
    let mut x = without(&made(n, p, 2, 4), 0.3, 1);
    x[..p].fill(f64::NAN);
    for given in [
        json!({"n_components": 2}),
        json!({"n_components": 2, "rotation": "varimax"}),
        json!({"n_components": 2, "rotation": "oblimin"}),
        json!({"n_components": 2, "algorithm": "em", "tol": 1.0}),
        json!({"n_components": 0}),
    ] {
        let model = fit(given.clone(), &x, p);
        let (densities, codes) = by_joint_gaussian(&model, &x);
        let size = densities.iter().fold(1.0f64, |m, x| m.max(x.abs()));
        assert!(apart(&scores(&model, &x), &densities) < 1e-12 * size, "{given}");
        assert!(apart(&encode(&model, &x), &codes) < 1e-12, "{given}");
        // The last entry of the objective is the log-likelihood of the model, without the row that has no observed cell.
        let sum: f64 = densities.iter().sum();
        assert!((likelihood(&model) / sum - 1.0).abs() < 1e-12, "{given}");
        assert_eq!(model.report().n_samples, n as f64 - 1.0);
        assert!(model.report().warnings.join(" ").contains("1 row has no observed cell"));
        let k = model.n_components();
        let mut each = VecSink(Vec::new());
        model.posterior(&Rows::from_slice(&x, p).unwrap(), &Run::default(), &mut each).unwrap();
        let means: Vec<f64> =
            each.0.chunks_exact((k + k * k).max(1)).flat_map(|row| row[..k].to_vec()).collect();
        assert!(apart(&means, &codes) < 1e-12, "{given}");
        // The posterior of the row without observed cells is the prior.
        let phi = model.tensor("factor_correlation").unwrap().to_matrix();
        assert!(k == 0 || apart(&each.0[k..k + k * k], phi.as_slice()) < 1e-12, "{given}");
    }
}

#[test]
fn scores_of_weighted_least_squares_are_those_of_the_cells() {
    let p = 8;
    let whole = made(150, p, 2, 7);
    let mut x = without(&whole, 0.4, 2);
    x[21 * p + 1..22 * p].fill(f64::NAN);
    let few = x.chunks_exact(p).position(|row| seen(row).len() < 2);
    let rows: Vec<f64> = x.chunks_exact(p).filter(|row| seen(row).len() >= 2).flatten().copied().collect();
    for rotation in [Value::Null, "promax".into()] {
        let given = json!({"n_components": 2, "scores": "bartlett", "rotation": rotation});
        let model = fit(given.clone(), &rows, p);
        let (loadings, psi) =
            (model.tensor("components").unwrap().to_matrix(), numbers(&model, "noise_variance"));
        let mean = numbers(&model, "mean");
        let mut want = Vec::new();
        for row in rows.chunks_exact(p) {
            let o = seen(row);
            let weighted = |f: usize, j: usize| loadings[(f, j)] / psi[j];
            let table =
                Matrix::from_fn(2, 2, |a, b| o.iter().map(|&j| weighted(a, j) * loadings[(b, j)]).sum());
            let right: Vec<f64> =
                (0..2).map(|f| o.iter().map(|&j| weighted(f, j) * (row[j] - mean[j])).sum()).collect();
            let solved = factor::multiply(&Matrix::from_vec(1, 2, right), &inverse(&table));
            want.extend(solved.into_vec());
        }
        let found = encode(&model, &rows);
        // Two observed cells may determine a factor poorly, so errors are relative to the size of the code.
        let size = |i: usize| 1.0 + want[i].abs();
        let far = (0..want.len()).map(|i| (found[i] - want[i]).abs() / size(i)).fold(0.0, f64::max);
        assert!(far < 1e-7, "{rotation}: {far:e}");
        if let Some(row) = few {
            let mut sink = VecSink(Vec::<f64>::new());
            let e = model.encode(&Rows::from_slice(&x, p).unwrap(), &Run::default(), &mut sink).unwrap_err();
            assert!(e.to_string().contains(&format!("row {row} ")), "{e}");
        }
    }
    assert!(few.is_some());
}

#[test]
fn the_maximum_is_that_of_a_long_em_over_the_factors() {
    let (n, p) = (600, 15);
    let draws = Stream::new(1, 0);
    let whole = {
        let loading = |c: usize, j: usize| draws.normal(900_000 + (c * p + j) as u64);
        let size: Vec<f64> = (0..p).map(|j| (0.2 + 1.3 * draws.uniform(800_000 + j as u64)).sqrt()).collect();
        let row = |i: usize| {
            let f: Vec<f64> = (0..3).map(|c| draws.normal((i * 3 + c) as u64)).collect();
            let size = &size;
            (0..p).map(move |j| {
                let common: f64 = f.iter().enumerate().map(|(c, f)| f * loading(c, j)).sum();
                3.0 + common + size[j] * draws.normal((100_000 + i * p + j) as u64)
            })
        };
        (0..n).flat_map(row).collect::<Vec<f64>>()
    };
    // Iterations until the log-likelihood of all rows is within 1e-3 and 1e-6 nats of its maximum: twice those of a prototype.
    for (share, coarse, fine) in [(0.1, 8, 14), (0.3, 24, 40), (0.5, 64, 112)] {
        let x = without(&whole, share, 3);
        let model = fit(json!({"n_components": 3, "tol": 0.0, "max_iter": 150}), &x, p);
        let slow = fit(json!({"n_components": 3, "algorithm": "em", "tol": 1e-7, "max_iter": 3000}), &x, p);
        let objective = &model.report().objective;
        let top = objective.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        assert!((top - likelihood(&slow)).abs() < 1e-6 * n as f64, "{share}: {top} {}", likelihood(&slow));
        let rising = |objective: &[f64]| objective.windows(2).all(|v| v[1] >= v[0] - 1e-11 * v[0].abs());
        assert!(rising(objective) && rising(&slow.report().objective), "{share}");
        for (gap, bound) in [(1e-3, coarse), (1e-6, fine)] {
            let first = objective.iter().position(|v| top - v < gap).unwrap();
            assert!(first <= bound, "{share}: {first} iterations to {gap}");
        }
        // The residual estimates the distance to the maximum, not the increase in the last step.
        for tol in [1.0, 1e-2] {
            let stopped = fit(json!({"n_components": 3, "tol": tol}), &x, p);
            assert!(top - likelihood(&stopped) < 3.0 * tol, "{share} {tol}: {}", top - likelihood(&stopped));
            assert!(stopped.report().residual.unwrap() <= tol);
        }
    }
}

#[test]
fn few_missing_cells_change_little_and_no_missing_cells_nothing() {
    let (n, p) = (400, 9);
    let x = made(n, p, 2, 5);
    let all = fit(json!({"n_components": 2, "tol": 1e-8}), &x, p);
    let mut one = x.clone();
    one[4 * p + 3] = f64::NAN;
    let found = fit(json!({"n_components": 2, "tol": 1e-8}), &one, p);
    let ratio = |name: &str| {
        let (a, b) = (numbers(&all, name), numbers(&found, name));
        a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            / a.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
    };
    for name in ["components", "noise_variance", "mean"] {
        assert!((1e-12..0.02).contains(&ratio(name)), "{name}: {}", ratio(name));
    }
    assert_eq!((all.report().solver.as_str(), found.report().solver.as_str()), ("newton", "em"));
    assert_eq!(found.report().fit.as_ref().unwrap()["tests"], "none, because cells are missing");
    // Rows of weight 0 may have any cells missing.
    let mut more = x.clone();
    more.extend(vec![f64::NAN; p]);
    let weights: Vec<f64> = (0..=n).map(|i| f64::from(u8::from(i < n))).collect();
    let rows = Rows::from_slice(&more, p).unwrap().weighted(weights).unwrap();
    let weighted = unmix::fit(
        "factor-analysis",
        &settings(json!({"n_components": 2, "tol": 1e-8})),
        &mut AnyRows::from(rows),
        &on_threads(1),
    )
    .unwrap();
    assert!(apart(&numbers(&weighted, "components"), &numbers(&all, "components")) < 1e-8);
}

#[test]
fn constant_columns_weights_and_units_are_as_with_every_cell() {
    let (n, p) = (200, 7);
    let x = without(&made(n, p, 2, 6), 0.2, 4);
    let given = json!({"n_components": 2, "tol": 1e-9});
    let model = fit(given.clone(), &x, p);
    // A constant column with missing cells has no loadings.
    let with: Vec<f64> = x
        .chunks_exact(p)
        .enumerate()
        .flat_map(|(i, row)| [&row[..2], &[if i % 3 == 0 { f64::NAN } else { 7.0 }][..], &row[2..]].concat())
        .collect();
    let more = fit(given.clone(), &with, p + 1);
    assert!((likelihood(&more) - likelihood(&model)).abs() < 1e-6);
    assert!(apart(&scores(&more, &with), &scores(&model, &x)) < 1e-6);
    assert!(apart(&encode(&more, &with), &encode(&model, &x)) < 1e-5);
    assert_eq!((numbers(&more, "components")[2], numbers(&more, "noise_variance")[2]), (0.0, 0.0));
    // A weight of 2 equals the row repeated.
    let weights: Vec<f64> = (0..n).map(|i| f64::from(1 + u8::from(i < 50))).collect();
    let twice: Vec<f64> = x.iter().chain(&x[..50 * p]).copied().collect();
    let rows = Rows::from_slice(&x, p).unwrap().weighted(weights).unwrap();
    let weighted =
        unmix::fit("factor-analysis", &settings(given.clone()), &mut AnyRows::from(rows), &on_threads(2))
            .unwrap();
    let copied = fit(given.clone(), &twice, p);
    assert!(apart(&numbers(&weighted, "components"), &numbers(&copied, "components")) < 1e-6);
    assert!((likelihood(&weighted) / likelihood(&copied) - 1.0).abs() < 1e-10);
    // The communalities do not depend on the units of the columns.
    let scaled: Vec<f64> = x.iter().enumerate().map(|(i, x)| x * [1.0, 1e6, 1e-5][i % p % 3]).collect();
    let other = fit(given, &scaled, p);
    assert!(apart(&numbers(&other, "communalities"), &numbers(&model, "communalities")) < 1e-6);
    let standardized = fit(json!({"n_components": 2, "tol": 1e-9, "standardize": true}), &x, p);
    assert!((likelihood(&standardized) - likelihood(&model)).abs() < 1e-8);
    assert!(apart(&encode(&standardized, &x), &encode(&model, &x)) < 1e-8);
}

#[test]
fn rules_find_the_number_of_factors_with_gaps_and_by_held_out_cells() {
    for seed in 20..23 {
        let x = made(300, 9, 2, seed);
        let gaps = without(&x, 0.15, seed);
        for (rule, x) in [("bic", &gaps), ("cells", &gaps), ("cells", &x)] {
            let model = fit(json!({"n_components": rule}), x, 9);
            assert_eq!(model.n_components(), 2, "{rule} {seed}");
            assert_eq!(
                (&model.settings()["n_components"], &model.report().settings["n_components"]),
                (&json!(rule), &json!(2))
            );
        }
    }
    // Constant columns have no parameters, so the criterion selects the same number.
    let gaps = without(&made(300, 9, 2, 20), 0.15, 20);
    let wide: Vec<f64> = gaps.chunks_exact(9).flat_map(|row| row.iter().copied().chain([7.0; 200])).collect();
    assert_eq!(fit(json!({"n_components": "bic"}), &wide, 209).n_components(), 2);
    let draws = Stream::new(3, 3);
    let noise: Vec<f64> = (0..2000).map(|i| draws.normal(i)).collect();
    assert_eq!(fit(json!({"n_components": "cells"}), &noise, 5).n_components(), 0);
}

#[test]
fn cells_are_filled_with_conditional_means_and_their_errors() {
    let (n, p) = (150, 8);
    let x = without(&made(n, p, 2, 9), 0.25, 6);
    let model = fit(json!({"n_components": 2, "rotation": "oblimin"}), &x, p);
    let (c, mean) = (covariance(&model), numbers(&model, "mean"));
    let rows = AnyRows::F64(Rows::from_slice(&x, p).unwrap());
    let filled = |bootstrap: usize| {
        let wanted = ImputeOptions { std: true, draws: 0, bootstrap };
        let imputer = Imputer::new(&model, &rows, wanted, &on_threads(2)).unwrap();
        let mut sink = VecSink(Vec::new());
        unmix::with_rows!(&rows, rows => imputer.fill(rows, &on_threads(2), &mut sink)).unwrap();
        assert!(imputer.notes().is_empty(), "{:?}", imputer.notes());
        sink.0
    };
    let (known, refitted) = (filled(0), filled(6));
    for ((row, out), more) in
        x.chunks_exact(p).zip(known.chunks_exact(2 * p)).zip(refitted.chunks_exact(2 * p))
    {
        let o = seen(row);
        let (precision, _) = of_cells(&c, &o);
        for j in 0..p {
            assert_eq!(out[j].to_bits(), more[j].to_bits());
            if !row[j].is_nan() {
                assert_eq!((out[j].to_bits(), out[p + j]), (row[j].to_bits(), 0.0));
                continue;
            }
            let pull: Vec<f64> =
                (0..o.len()).map(|a| (0..o.len()).map(|b| c[(j, o[b])] * precision[(b, a)]).sum()).collect();
            let fill = mean[j] + pull.iter().zip(&o).map(|(w, &a)| w * (row[a] - mean[a])).sum::<f64>();
            let less: f64 = pull.iter().zip(&o).map(|(w, &a)| w * c[(a, j)]).sum();
            // Relative to the standard deviation of the column: columns have different units.
            let off = (out[j] - fill).abs() / c[(j, j)].sqrt();
            let of_square = (out[p + j].powi(2) - c[(j, j)] + less).abs() / c[(j, j)];
            assert!(off < 1e-12 && of_square < 1e-12, "{off:e}, {of_square:e}");
            assert!(more[p + j] > out[p + j]);
        }
    }
}

#[test]
fn invalid_rows_with_gaps_are_refused() {
    let (n, p) = (60, 6);
    let x = without(&made(n, p, 1, 2), 0.2, 6);
    let refused =
        |given: Value, x: &[f64]| try_fit("factor-analysis", &settings(given), x, p).map(|_| ()).unwrap_err();
    let mut none = x.clone();
    none.iter_mut().skip(4).step_by(p).for_each(|x| *x = f64::NAN);
    let e = refused(json!({"n_components": 1}), &none).to_string();
    assert!(e.contains("column 4 has no observed cell"), "{e}");
    let mut infinite = x.clone();
    infinite[5 * p + 1] = f64::INFINITY;
    let e = refused(json!({"n_components": 1}), &infinite);
    assert!(matches!(e, Error::NotFinite { .. }) && e.to_string().contains("row 5, column 1"), "{e}");
    let e = refused(json!({"n_components": "parallel"}), &x).to_string();
    assert!(e.contains("missing cells") && e.contains("'bic' or 'cells'"), "{e}");
    let mut few = vec![f64::NAN; n * p];
    few[..3 * p].copy_from_slice(&made(3, p, 1, 2));
    let e = refused(json!({"n_components": 4}), &few).to_string();
    assert!(e.contains("only 3 rows") && e.contains("from 0 to 3"), "{e}");
}

#[test]
fn initial_uniquenesses_are_used_with_gaps_by_both_iterations_and_in_both_units() {
    let (n, p) = (200, 8);
    let x = without(&made(n, p, 2, 12), 0.2, 5);
    // Of the observed cells of a column.
    let variance = |j: usize| {
        let cells: Vec<f64> = x.iter().skip(j).step_by(p).copied().filter(|x| !x.is_nan()).collect();
        let mean = cells.iter().sum::<f64>() / cells.len() as f64;
        cells.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / cells.len() as f64
    };
    let shares: Vec<f64> = (0..p).map(|j| 0.1 + 0.1 * j as f64).collect();
    let numbers: Vec<f64> = (0..p).map(|j| shares[j] * variance(j)).collect();
    for algorithm in ["newton", "em"] {
        let first = |mut given: Value| {
            let own = json!({"n_components": 2, "algorithm": algorithm, "tol": 0.0, "max_iter": 1});
            given.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
            fit(given, &x, p).report().objective[0]
        };
        let own = first(json!({"standardize": true}));
        let plain = first(json!({"noise_variance_init": numbers}));
        let standardized = first(json!({"noise_variance_init": shares, "standardize": true}));
        assert!((plain - own).abs() > 1e-4, "{algorithm}: {plain} {own}");
        assert!((standardized - plain).abs() < 1e-10 * plain.abs(), "{algorithm}: {standardized} {plain}");
    }
}
