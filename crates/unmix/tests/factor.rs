//! Factor analysis against formulas, scikit-learn's numbers, and a naive implementation.

use crate::made::{apart, decode, encode, falling, numbers, on_threads, scores, settings, try_fit};
use crate::naive;
use serde_json::{Value, json};
use unmix::internal::num::factor;
use unmix::internal::num::random::Stream;
use unmix::{AnyRows, Matrix, Model, Outcome, Rows};

mod gaps;
mod golden;
mod prior;
mod rotations;
mod start;
mod steps;

/// `n` rows of `p` columns with `q` factors, noise of standard deviation 0.4 to 1.5, and different units of the columns.
fn made(n: usize, p: usize, q: usize, seed: u64) -> Vec<f64> {
    let (f, e, l) = (Stream::new(seed, 0), Stream::new(seed, 1), Stream::new(seed, 2));
    let size = |j: usize| 0.4 + 1.1 * l.uniform((1000 + j) as u64);
    let entry = |i: usize, j: usize| {
        let common: f64 = (0..q).map(|c| f.normal((i * q + c) as u64) * l.normal((c * p + j) as u64)).sum();
        (common + size(j) * e.normal((i * p + j) as u64)) * [1.0, 3.0, 0.2][j % 3] + j as f64
    };
    (0..n).flat_map(|i| (0..p).map(move |j| (i, j))).map(|(i, j)| entry(i, j)).collect()
}

fn fit(given: Value, x: &[f64], p: usize) -> Model {
    try_fit("factor-analysis", &settings(given), x, p).unwrap_or_else(|e| panic!("{e}"))
}

/// The model covariance `L' Phi L + diag(psi)` of loadings `L` and factor correlations `Phi`, in the units of the model.
fn covariance(model: &Model) -> Matrix<f64> {
    let (l, psi) = (model.tensor("components").unwrap().to_matrix(), numbers(model, "noise_variance"));
    let phi = model.tensor("factor_correlation").unwrap().to_matrix();
    let mut c = factor::multiply(&l.transposed(), &factor::multiply(&phi, &l));
    psi.iter().enumerate().for_each(|(i, psi)| c[(i, i)] += psi);
    c
}

fn inverse(c: &Matrix<f64>) -> Matrix<f64> {
    let p = c.rows();
    let identity = Matrix::from_fn(p, p, |i, j| f64::from(u8::from(i == j)));
    factor::Cholesky::new(c).expect("positive definite").solve_rows(&identity)
}

/// `log p(x)` of every row under `N(mean, C)`, from the dense covariance.
fn dense_log_density(model: &Model, x: &[f64]) -> Vec<f64> {
    let (c, mean, p) = (covariance(model), numbers(model, "mean"), model.n_features());
    let log_det: f64 = factor::eigenvalues(&c).unwrap().iter().map(|v| v.ln()).sum();
    let precision = inverse(&c);
    x.chunks_exact(p)
        .map(|row| {
            let z: Vec<f64> = row.iter().zip(&mean).map(|(x, m)| x - m).collect();
            let form: f64 =
                (0..p).map(|i| (0..p).map(|j| z[i] * precision[(i, j)] * z[j]).sum::<f64>()).sum();
            -0.5 * (p as f64 * (2.0 * std::f64::consts::PI).ln() + log_det + form)
        })
        .collect()
}

fn likelihood(model: &Model) -> f64 {
    *model.report().objective.last().unwrap()
}

#[test]
fn the_likelihood_is_that_of_the_covariance_and_codes_are_posterior_means() {
    let (n, p) = (200, 7);
    let x = made(n, p, 2, 1);
    for given in [
        json!({"n_components": 2}),
        json!({"n_components": 2, "rotation": "varimax"}),
        json!({"n_components": 2, "rotation": "promax"}),
        json!({"n_components": 3, "rotation": "geomin", "rotation_normalize": true}),
        json!({"n_components": 2, "algorithm": "em"}),
        json!({"n_components": 0}),
        json!({"n_components": p}),
    ] {
        let model = fit(given.clone(), &x, p);
        let (want, found) = (dense_log_density(&model, &x), scores(&model, &x));
        let size = want.iter().fold(1.0f64, |m, x| m.max(x.abs()));
        assert!(apart(&want, &found) < 1e-12 * size, "{given}: {:e}", apart(&want, &found));
        // The likelihood that was maximised, a function of the uniquenesses alone, is that of all parameters.
        let total: f64 = found.iter().sum();
        assert!((total / likelihood(&model) - 1.0).abs() < 1e-12, "{given}: {total}");
        // Reference: posterior means Phi L C^-1 (x - mean).
        let (l, phi) = (
            model.tensor("components").unwrap().to_matrix(),
            model.tensor("factor_correlation").unwrap().to_matrix(),
        );
        let k = l.rows();
        if k == 0 {
            continue;
        }
        let map = factor::multiply(&factor::multiply(&phi, &l), &inverse(&covariance(&model)));
        let mean = numbers(&model, "mean");
        let centred = Matrix::from_fn(n, p, |i, j| x[i * p + j] - mean[j]);
        let want = factor::multiply_transposed(&centred, &map);
        assert!(apart(want.as_slice(), &encode(&model, &x)) < 1e-12, "{given}");
        let back = factor::multiply(&want, &l);
        let back: Vec<f64> = (0..n * p).map(|at| back.as_slice()[at] + mean[at % p]).collect();
        assert!(apart(&back, &decode(&model, want.as_slice())) < 1e-9, "{given}");
    }
}

#[test]
fn newton_finds_the_maximum_of_a_long_em_from_another_start() {
    for (n, p, q, seed) in [(300, 9, 2, 2), (100, 12, 3, 3), (60, 8, 1, 4)] {
        let x = made(n, p, q, seed);
        let newton = fit(json!({"n_components": q, "tol": 1e-9}), &x, p);
        let variance = naive::covariance(&x, p);
        let start: Vec<f64> = (0..p).map(|j| 0.9 * variance[j][j]).collect();
        let em = fit(
            json!({"n_components": q, "tol": 1e-7, "algorithm": "em", "max_iter": 100_000, "noise_variance_init": start}),
            &x,
            p,
        );
        assert_eq!((newton.report().outcome, em.report().outcome), (Outcome::Converged, Outcome::Converged));
        assert!(
            (likelihood(&newton) - likelihood(&em)).abs() < 1e-5,
            "{} {}",
            likelihood(&newton),
            likelihood(&em)
        );
        let (a, b) = (numbers(&newton, "noise_variance"), numbers(&em, "noise_variance"));
        assert!(a.iter().zip(&b).all(|(a, b)| (a / b - 1.0).abs() < 1e-2), "{a:?} {b:?}");
        assert!(newton.report().n_iter <= 20 && newton.report().n_iter < em.report().n_iter);
        // The likelihood never decreases with either algorithm.
        for model in [&newton, &em] {
            let objective = &model.report().objective;
            assert!(objective.windows(2).all(|w| w[1] >= w[0] - 1e-9 * w[0].abs()), "{objective:?}");
        }
    }
}

#[test]
fn at_the_maximum_variances_are_those_of_the_columns_and_perturbations_lower_the_likelihood() {
    let (n, p) = (250, 8);
    let x = made(n, p, 2, 5);
    let model = fit(json!({"n_components": 2, "tol": 1e-12}), &x, p);
    let (c, s) = (covariance(&model), naive::covariance(&x, p));
    for j in 0..p {
        let want = s[j][j] * (n as f64 - 1.0) / n as f64;
        assert!((c[(j, j)] / want - 1.0).abs() < 1e-6, "{j}: {} {want}", c[(j, j)]);
    }
    // -2 log L / n = log |C| + tr(C^-1 S) at slightly changed loadings and uniquenesses.
    let s = Matrix::from_fn(p, p, |i, j| s[i][j] * (n as f64 - 1.0) / n as f64);
    let value = |l: &Matrix<f64>, psi: &[f64]| {
        let mut c = factor::multiply(&l.transposed(), l);
        psi.iter().enumerate().for_each(|(i, psi)| c[(i, i)] += psi);
        let trace = factor::multiply(&inverse(&c), &s);
        factor::eigenvalues(&c).unwrap().iter().map(|v| v.ln()).sum::<f64>()
            + (0..p).map(|i| trace[(i, i)]).sum::<f64>()
    };
    let (l, psi) = (model.tensor("components").unwrap().to_matrix(), numbers(&model, "noise_variance"));
    let best = value(&l, &psi);
    let constant = p as f64 * (2.0 * std::f64::consts::PI).ln();
    assert!((-0.5 * n as f64 * (best + constant) - likelihood(&model)).abs() < 1e-7);
    let draws = Stream::new(17, 0);
    for trial in 0..200u64 {
        let draw = |i: usize| draws.normal(trial * 1000 + i as u64);
        let size = [1e-1, 1e-2, 1e-3][trial as usize % 3];
        let moved = Matrix::from_fn(2, p, |i, j| l[(i, j)] * (1.0 + size * draw(i * p + j)));
        let psi: Vec<f64> = psi.iter().enumerate().map(|(j, x)| x * (size * draw(500 + j)).exp()).collect();
        assert!(value(&moved, &psi) > best - 1e-9, "{trial}");
    }
}

#[test]
fn columns_that_repeat_others_are_heywood_cases_and_named() {
    let (n, p) = (200, 6);
    let mut x = made(n, p, 2, 6);
    for row in x.chunks_exact_mut(p) {
        row[4] = -2.0 * row[1];
    }
    let model = fit(json!({"n_components": 2}), &x, p);
    assert_eq!(numbers(&model, "heywood"), [1.0, 4.0]);
    let message = model.report().warnings.join(" ");
    assert!(message.contains("Heywood cases: the uniqueness of columns 1, 4 is at noise_floor"), "{message}");
    let floored = fit(json!({"n_components": 2, "noise_floor": 0.05}), &x, p);
    let (psi, share) = (numbers(&floored, "noise_variance"), naive::covariance(&x, p));
    let variance = share[1][1] * (n as f64 - 1.0) / n as f64;
    assert!((psi[1] / variance - 0.05).abs() < 1e-9, "{}", psi[1] / variance);
    // Data with two factors give no Heywood case with a model of two factors.
    let clean = fit(json!({"n_components": 2}), &made(400, 8, 2, 7), 8);
    assert!(
        numbers(&clean, "heywood").is_empty() && clean.report().warnings.is_empty(),
        "{:?}",
        clean.report().warnings
    );
}

/// With large uniquenesses of both copies there is a local maximum, at which iterations from the middle end.
#[test]
fn a_column_and_its_copy_are_found_from_the_correlations_and_the_likelier_maximum_is_taken() {
    let (n, p, draws) = (800, 25, Stream::new(7, 0));
    let mut x = vec![0.0; n * p];
    for (i, row) in x.chunks_exact_mut(p).enumerate() {
        for (j, x) in row.iter_mut().enumerate().take(24) {
            let size = 0.5 + 0.35 * ((j * 7) % 8) as f64 / 7.0;
            let own = (1.0 - size * size).sqrt();
            *x = size * draws.normal((i * 40 + j / 8) as u64) + own * draws.normal((i * 40 + 10 + j) as u64);
        }
        row[24] = row[0];
    }
    for given in [json!({"n_components": 3}), json!({"n_components": 3, "standardize": true, "tol": 1e-6})] {
        let model = fit(given, &x, p);
        assert_eq!(numbers(&model, "heywood"), [0.0, 24.0]);
        let message = model.report().warnings.join("; ");
        assert!(
            message.contains("columns 0, 24 are collinear: each is a linear combination of the others"),
            "{message}"
        );
        assert!(
            message.contains("Heywood cases: the uniqueness of columns 0, 24 is at noise_floor"),
            "{message}"
        );
        let psi: Vec<f64> = (0..p).map(|j| if j % 24 == 0 { 1e-4 } else { 0.5 }).collect();
        let other = fit(json!({"n_components": 3, "tol": 1e-6, "noise_variance_init": psi}), &x, p);
        assert!(
            likelihood(&model) > likelihood(&other) - 1.0,
            "{} {}",
            likelihood(&model),
            likelihood(&other)
        );
    }
    // A column that is the sum of eight others: all nine are named, but three factors cannot span them.
    for row in x.chunks_exact_mut(p) {
        row[24] = row[..8].iter().sum();
    }
    let model = fit(json!({"n_components": 3}), &x, p);
    let message = model.report().warnings.join("; ");
    assert!(message.contains("columns 0, 1, 2, 3, 4, 5, 6, 7, ... (9 in all) are collinear"), "{message}");
    // Two copies, and one factor: one of the pairs is the factor.
    for row in x.chunks_exact_mut(p) {
        (row[24], row[23]) = (3.0 * row[0], 1.0 - row[9]);
    }
    let model = fit(json!({"n_components": 1}), &x, p);
    let message = model.report().warnings.join("; ");
    assert!(
        message.contains("columns 0, 24 are collinear") && message.contains("columns 9, 23 are collinear"),
        "{message}"
    );
    assert_eq!(numbers(&model, "heywood").len(), 2, "{message}");
}

/// Formulas of the indices, with the covariance of the model and the correlations of the columns.
#[test]
fn indices_of_fit_are_those_of_their_definitions() {
    let (n, p, q) = (300, 8, 2);
    // A third, weak factor, so that the fit is not perfect.
    let mut x = made(n, p, 2, 21);
    let draws = Stream::new(22, 0);
    for (i, row) in x.chunks_exact_mut(p).enumerate() {
        let third = draws.normal(i as u64);
        row.iter_mut().enumerate().take(3).for_each(|(j, x)| *x += 0.8 * third * [1.0, 3.0, 0.2][j]);
    }
    let model = fit(json!({"n_components": q, "tol": 1e-9}), &x, p);
    let found = model.report().fit.clone().unwrap();
    let get = |name: &str| found[name].as_f64().unwrap_or_else(|| panic!("{name}: {found}"));
    let (c, s) = (covariance(&model), naive::covariance(&x, p));
    let share = (n as f64 - 1.0) / n as f64;
    let mut squares = 0.0;
    for i in 0..p {
        for j in 0..=i {
            squares += ((s[i][j] * share - c[(i, j)]) / (s[i][i] * s[j][j]).sqrt() / share).powi(2);
        }
    }
    assert!((get("srmr") - (squares / 36.0).sqrt()).abs() < 1e-9, "{found}");
    let (t, df) = (get("chi_square"), get("degrees_of_freedom"));
    let (t0, df0) = (get("bartlett_chi_square"), get("bartlett_degrees_of_freedom"));
    assert!(t > df && df == 13.0 && df0 == 28.0, "{found}");
    assert!((get("cfi") - (1.0 - (t - df) / (t0 - df0))).abs() < 1e-12, "{found}");
    assert!((get("rmsea") - ((t / df - 1.0) / 299.0).sqrt()).abs() < 1e-12, "{found}");
    assert!(get("rmsea_lower") < get("rmsea") && get("rmsea") < get("rmsea_upper"), "{found}");
    // A model that fits.
    let model = fit(json!({"n_components": 3, "tol": 1e-9}), &x, p);
    let found = model.report().fit.clone().unwrap();
    assert!(found["srmr"].as_f64().unwrap() < 0.03 && found["cfi"].as_f64().unwrap() > 0.99, "{found}");
}

#[test]
fn fewer_rows_than_columns_by_rows_or_by_sums_have_one_maximum() {
    for (n, p, q, seed) in [(30, 60, 2, 8), (12, 40, 3, 9), (25, 25, 2, 10)] {
        let x = made(n, p, q, seed);
        let given = json!({"n_components": q, "tol": 1e-6, "max_iter": 20_000});
        let rows = fit(given.clone(), &x, p);
        assert_eq!(rows.report().solver, "gram");
        let any = AnyRows::from(Rows::from_slice(&x, p).unwrap());
        let sums =
            unmix::method::fit_by_sums("factor-analysis", &settings(given), &any, &on_threads(2)).unwrap();
        assert_eq!((sums.report().solver.as_str(), sums.report().outcome), ("newton", Outcome::Converged));
        assert!(
            (likelihood(&rows) - likelihood(&sums)).abs() < 1e-3,
            "{n} x {p}: {} {}",
            likelihood(&rows),
            likelihood(&sums)
        );
        let total: f64 = scores(&rows, &x).iter().sum();
        assert!((total - likelihood(&rows)).abs() < 1e-7 * total.abs());
    }
}

#[test]
fn units_and_standardisation_do_not_change_the_likelihood_of_the_model() {
    let p = 6;
    let x = made(150, p, 2, 11);
    let (plain, scaled) = (
        fit(json!({"n_components": 2, "tol": 1e-8}), &x, p),
        fit(json!({"n_components": 2, "tol": 1e-8, "standardize": true}), &x, p),
    );
    assert_eq!(likelihood(&plain), likelihood(&scaled));
    assert!(apart(&scores(&plain, &x), &scores(&scaled, &x)) < 1e-10);
    assert!(apart(&encode(&plain, &x), &encode(&scaled, &x)) < 1e-10);
    let (a, b) = (numbers(&plain, "components"), numbers(&scaled, "components"));
    let s = naive::covariance(&x, p);
    for (at, (a, b)) in a.iter().zip(&b).enumerate() {
        let sd = (s[at % p][at % p] * 149.0 / 150.0).sqrt();
        assert!((a - b * sd).abs() < 1e-10);
    }
    // For columns of variance 1 communality and uniqueness sum to 1.
    let psi = numbers(&scaled, "noise_variance");
    let common: Vec<f64> = (0..p).map(|j| (0..2).map(|i| b[i * p + j].powi(2)).sum()).collect();
    assert!(common.iter().zip(&psi).all(|(c, psi)| (c + psi - 1.0).abs() < 1e-3), "{common:?} {psi:?}");
    let decoder = scaled.code().mixing().unwrap();
    assert!(apart(decoder.transposed().as_slice(), &a) < 1e-10);
}

#[test]
fn bartlett_scores_are_weighted_least_squares() {
    let p = 7;
    let x = made(120, p, 2, 12);
    let model = fit(json!({"n_components": 2, "scores": "bartlett"}), &x, p);
    let (l, psi, mean) = (
        model.tensor("components").unwrap().to_matrix(),
        numbers(&model, "noise_variance"),
        numbers(&model, "mean"),
    );
    let y = encode(&model, &x);
    for (row, y) in x.chunks_exact(p).zip(y.chunks_exact(2)) {
        // The gradient of sum_j (x_j - l_j y)^2 / psi_j is 0.
        for k in 0..2 {
            let slope: f64 = (0..p)
                .map(|j| {
                    let fitted: f64 = (0..2).map(|i| l[(i, j)] * y[i]).sum();
                    (row[j] - mean[j] - fitted) * l[(k, j)] / psi[j]
                })
                .sum();
            assert!(slope.abs() < 1e-8, "{slope}");
        }
    }
}

#[test]
fn constant_columns_have_no_loadings_and_no_influence() {
    let (n, p) = (100, 5);
    let x = made(n, p, 1, 13);
    let with: Vec<f64> =
        x.chunks_exact(p).flat_map(|row| [&row[..2], &[7.0][..], &row[2..]].concat()).collect();
    let (without, model) =
        (fit(json!({"n_components": 1}), &x, p), fit(json!({"n_components": 1}), &with, p + 1));
    assert!((likelihood(&without) - likelihood(&model)).abs() < 1e-9);
    assert!(apart(&scores(&without, &x), &scores(&model, &with)) < 1e-12);
    assert_eq!((numbers(&model, "components")[2], numbers(&model, "noise_variance")[2]), (0.0, 0.0));
    assert!(apart(&encode(&without, &x), &encode(&model, &with)) < 1e-12);
}

#[test]
fn rules_find_the_number_of_factors() {
    for seed in 20..25 {
        let x = made(400, 10, 2, seed);
        for rule in ["bic", "parallel"] {
            assert_eq!(fit(json!({"n_components": rule}), &x, 10).n_components(), 2, "{rule} {seed}");
        }
    }
    let draws = Stream::new(3, 3);
    let noise: Vec<f64> = (0..2000).map(|i| draws.normal(i)).collect();
    assert_eq!(fit(json!({"n_components": "bic"}), &noise, 5).n_components(), 0);
}

#[test]
fn models_that_are_not_identified_give_a_warning() {
    let x = falling(100, 6, 1);
    let model = fit(json!({"n_components": 4}), &x, 6);
    let message = model.report().warnings.join(" ");
    assert!(
        message.contains("4 factors of 6 columns that vary are more than the Ledermann bound allows"),
        "{message}"
    );
    let err = |given: Value| {
        try_fit("factor-analysis", &settings(given), &x, 6).map(|_| ()).unwrap_err().to_string()
    };
    assert!(err(json!({"n_components": 7})).starts_with("n_components=7 is not possible"));
    let message = err(json!({"noise_variance_init": [1.0, 1.0]}));
    assert!(message.contains("6 columns; give one number for each column"), "{message}");
    let message = err(json!({"noise_floor": 1.5}));
    assert!(message.contains("noise_floor") && message.contains("1.5"), "{message}");
}

#[test]
fn the_tests_of_fit_state_where_they_were_computed() {
    let about = |given: Value, x: &[f64], p: usize| {
        let model = fit(given, x, p);
        model.report().fit.as_ref().unwrap()["tests"].as_str().unwrap().to_string()
    };
    let x = made(400, 10, 2, 20);
    assert_eq!(about(json!({"n_components": 2, "tol": 1e-6}), &x, 10), "at the maximum of the likelihood");
    let early = about(json!({"n_components": 2, "max_iter": 1, "tol": 1e-9}), &x, 10);
    assert!(
        early.starts_with("below the maximum of the likelihood") && early.contains("'max_iter'"),
        "{early}"
    );
    // The first two columns are equal up to a noise below the floor.
    let near: Vec<f64> = x
        .chunks_exact(10)
        .enumerate()
        .flat_map(|(i, row)| {
            let first = row[0] + if i % 2 == 0 { 0.01 } else { -0.01 };
            std::iter::once(first).chain(row.iter().copied()).collect::<Vec<f64>>()
        })
        .collect();
    let floor = about(json!({"n_components": 2, "noise_floor": 0.01}), &near, 11);
    assert!(floor.contains("within noise_floor") && floor.contains("Heywood"), "{floor}");
}

/// Both by a fit and in the table: up to the Ledermann bound, which allows 3 of 6 columns.
#[test]
fn no_rule_selects_more_factors_than_the_covariance_determines() {
    // Five factors of six columns: AIC falls with every factor.
    let x = made(4000, 6, 5, 31);
    let run = on_threads(2);
    for rule in ["aic", "bic"] {
        let chosen = fit(json!({"n_components": rule}), &x, 6).n_components();
        let rules = [match rule {
            "aic" => unmix::select::SizeRule::Aic,
            _ => unmix::select::SizeRule::Bic,
        }];
        let none = serde_json::Map::new();
        let request = unmix::select::SizeRequest::new(&none, &rules, Some(6));
        let mut rows = unmix::AnyRows::from(unmix::Rows::from_slice(&x, 6).unwrap());
        let method = unmix::method::find("factor-analysis").unwrap();
        let table = unmix::select::compare_sizes(method, &mut rows, &request, &run).unwrap();
        assert_eq!(table.get(rules[0]), Some(chosen), "{rule}");
        assert!(chosen <= 3, "{rule}: {chosen}");
        let marked: Vec<usize> = table.lines.iter().filter(|l| l.excluded.is_some()).map(|l| l.k).collect();
        assert_eq!(marked, [4, 5, 6], "{rule}");
        let warned = |w: &String| w.contains("no rule selects 4, 5, 6 components") && w.contains("Ledermann");
        assert!(table.warnings.iter().any(warned), "{:?}", table.warnings);
    }
}
