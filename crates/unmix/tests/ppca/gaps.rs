//! PPCA of rows with missing cells: fit, codes and scores use the observed cells.

use super::{Plain, score, with_gaps};
use crate::made::{encode, numbers, settings, try_fit};
use serde_json::json;
use unmix::internal::num::random::Stream;
use unmix::internal::num::{Matrix, factor};
use unmix::{Error, Model, Rows, Run, datasets};

fn fitted(given: serde_json::Value, x: &[f64], p: usize) -> Model {
    try_fit("ppca", &settings(given), x, p).unwrap_or_else(|e| panic!("{e}"))
}

/// The design of the acceptance tests: 12 columns, scales 3, 2 and 1.5, mean 1.
fn design(n: usize, noise: f64, share: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let squares = [9.0, 4.0, 2.25].map(|v| v + noise * noise);
    let x = datasets::ppca(n, 12, &squares, noise * noise, seed).unwrap().x.into_vec();
    let gaps = with_gaps(&x, share, seed);
    (x, gaps)
}

#[test]
fn the_maximum_is_reached_in_few_iterations_and_the_likelihood_never_decreases() {
    for (share, bound) in [(0.1, 40), (0.3, 40), (0.5, 40)] {
        let (_, x) = design(400, 0.1, share, 100);
        let best = fitted(json!({"n_components": 3, "tol": 0.0, "max_iter": 400}), &x, 12);
        let objective = &best.report().objective;
        assert!(objective.windows(2).all(|v| v[1] >= v[0] - 1e-10 * v[0].abs()), "{share}");
        // Within 1e-6 nats of the maximum, summed over all rows.
        let top = objective.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        let first = objective.iter().position(|v| (top - v) * 400.0 < 1e-6).unwrap();
        assert!(first <= bound, "{share}: {first} iterations");
        let counted: f64 = score(&best, &x, 12);
        assert!((counted / Plain::of(&best).log_likelihood(&x) - 1.0).abs() < 1e-12, "{share}");
        assert!(counted / 400.0 >= top - 1e-9, "{share}: {counted}");
    }
}

/// Components of about the variance of the noise, beyond three large ones: a larger model has a higher likelihood, and that of a fit that starts
/// from the closed form of all cells.
#[test]
fn small_components_are_not_lost_with_gaps() {
    let (whole, x) = design(200, 0.5, 0.1, 7);
    let mut before = f64::NEG_INFINITY;
    for k in 3..8 {
        let given = settings(json!({"n_components": k, "tol": 1e-10, "max_iter": 5000}));
        let model = try_fit("ppca", &given, &x, 12).unwrap();
        let found = score(&model, &x, 12) / 200.0;
        assert!(found > before + 1e-3, "{k}: {found} after {before}");
        before = found;
        let all = try_fit("ppca", &settings(json!({"n_components": k})), &whole, 12).unwrap();
        let run = Run { init: Some(&all), ..Run::default() };
        let mut rows = unmix::AnyRows::from(Rows::from_slice(&x, 12).unwrap());
        let other = score(&unmix::fit("ppca", &given, &mut rows, &run).unwrap(), &x, 12) / 200.0;
        assert!((found - other).abs() < 2e-3, "{k}: {found}, and {other} from the model of all cells");
        let noise = numbers(&model, "noise_variance")[0];
        let variances = numbers(&model, "explained_variance");
        assert!(variances.iter().all(|v| *v > 1.02 * noise), "{k}: {variances:?} {noise}");
    }
}

#[test]
fn no_feasible_change_has_a_higher_likelihood_with_gaps() {
    let (_, x) = design(120, 0.5, 0.3, 3);
    let model = fitted(json!({"n_components": 3, "tol": 1e-13}), &x, 12);
    let best = Plain::of(&model);
    let top = best.log_likelihood(&x);
    let draws = Stream::new(19, 0);
    for trial in 0..60u64 {
        let normal = |i: usize| draws.normal(trial * 1000 + i as u64);
        for size in [1e-3, 3e-2] {
            let mut other = best.clone();
            match trial % 4 {
                0 => other.mean.iter_mut().enumerate().for_each(|(j, m)| *m += size * normal(j)),
                1 => other.latent.iter_mut().enumerate().for_each(|(i, l)| *l *= (size * normal(i)).exp()),
                2 => other.noise *= (size * normal(0)).exp(),
                _ => {
                    let moved = Matrix::from_fn(3, 12, |i, j| best.axes[(i, j)] + size * normal(12 * i + j));
                    other.axes = factor::orthonormal_rows_signed(&moved);
                }
            }
            assert!(other.log_likelihood(&x) <= top + 1e-6, "trial {trial}, {size}");
        }
    }
}

#[test]
fn noise_and_subspace_are_near_those_of_all_cells() {
    // Relative change of the noise variance, and sine of the largest angle: bounds of the medians of 12 samples, and of each of them.
    for (share, medians, bounds) in [
        (0.1, (0.02, 0.05), (0.042, 0.082)),
        (0.3, (0.05, 0.09), (0.112, 0.146)),
        (0.5, (0.07, 0.2), (0.10, 0.202)),
    ] {
        let (mut noise, mut sines) = (Vec::new(), Vec::new());
        for seed in 100..112 {
            let (whole, x) = design(400, 0.5, share, seed);
            let (all, found) =
                (fitted(json!({"n_components": 3}), &whole, 12), fitted(json!({"n_components": 3}), &x, 12));
            let ratio = numbers(&found, "noise_variance")[0] / numbers(&all, "noise_variance")[0];
            let axes = |m: &Model| m.tensor("components").unwrap().to_matrix();
            let cosines = factor::multiply_transposed(&axes(&all), &axes(&found));
            let least = *factor::svd_right(&cosines).unwrap().0.last().unwrap();
            noise.push((ratio - 1.0).abs());
            sines.push((1.0 - (least * least).min(1.0)).sqrt());
        }
        for (name, mut of, median, bound) in
            [("noise", noise, medians.0, bounds.0), ("sine", sines, medians.1, bounds.1)]
        {
            of.sort_by(f64::total_cmp);
            assert!(0.5 * (of[5] + of[6]) <= median && of[11] <= bound, "{share}, {name}: {of:?}");
        }
    }
}

#[test]
fn rows_are_encoded_by_the_cells_that_they_have() {
    let (whole, x) = design(60, 0.5, 0.4, 5);
    let model = fitted(json!({"n_components": 3}), &whole, 12);
    let plain = Plain::of(&model);
    let mut sink = unmix::data::VecSink(Vec::new());
    model.posterior(&Rows::from_slice(&x, 12).unwrap(), &Run::default(), &mut sink).unwrap();
    let codes = encode(&model, &x);
    for (i, row) in x.chunks_exact(12).enumerate() {
        let o: Vec<usize> = (0..12).filter(|&j| !row[j].is_nan()).collect();
        let (values, vectors) = factor::eigh(&plain.covariance(&o)).unwrap();
        let m = o.len();
        let inverse = Matrix::from_fn(m, m, |a, b| {
            (0..m).map(|l| vectors[(l, a)] * vectors[(l, b)] / values[l]).sum::<f64>()
        });
        let cross = |c: usize, a: usize| plain.latent[c] * plain.axes[(c, o[a])];
        for c in 0..3 {
            let pull = |a: usize| (0..m).map(|b| cross(c, b) * inverse[(b, a)]).sum::<f64>();
            let want: f64 = (0..m).map(|a| pull(a) * (row[o[a]] - plain.mean[o[a]])).sum();
            // Codes are of about 1, and covariances have a condition number of 50.
            assert!((codes[3 * i + c] - want).abs() < 1e-12, "row {i}");
            assert!((sink.0[12 * i + c] - want).abs() < 1e-12, "row {i}");
            for d in 0..3 {
                let less: f64 = (0..m).map(|a| pull(a) * cross(d, a)).sum();
                let want = f64::from(u8::from(c == d)) - less;
                assert!((sink.0[12 * i + 3 + 3 * c + d] - want).abs() < 1e-12, "row {i}: {c}, {d}");
            }
        }
    }
    // A row without observed cells has the prior, and a complete row has the same bits among rows with gaps.
    let nothing = vec![f64::NAN; 12];
    assert_eq!(encode(&model, &nothing), [0.0; 3]);
    assert_eq!(score(&model, &nothing, 12), 0.0);
    let mut mixed = x.clone();
    mixed[24..36].copy_from_slice(&whole[24..36]);
    assert_eq!(encode(&model, &mixed)[6..9], encode(&model, &whole)[6..9]);
}

#[test]
fn rows_without_cells_have_no_influence_and_complete_rows_use_the_closed_form() {
    let (whole, x) = design(80, 0.5, 0.2, 7);
    let model = fitted(json!({"n_components": 2}), &x, 12);
    let mut longer = x.clone();
    longer.extend([f64::NAN; 24]);
    let other = fitted(json!({"n_components": 2}), &longer, 12);
    for name in ["components", "mean", "noise_variance"] {
        assert!(crate::made::apart(&numbers(&model, name), &numbers(&other, name)) < 1e-9, "{name}");
    }
    assert_eq!(other.report().n_samples, 80.0);
    assert!(other.report().warnings.iter().any(|w| w.contains("2 rows have no observed cell")));
    assert_eq!((model.report().solver.as_str(), model.report().outcome.name()), ("em", "converged"));
    assert_eq!(fitted(json!({}), &whole, 12).report().solver, "closed-form");
}

#[test]
fn settings_and_rows_that_gaps_exclude_are_refused() {
    let (_, x) = design(40, 0.5, 0.2, 8);
    let refused =
        |given: serde_json::Value, x: &[f64], p: usize| try_fit("ppca", &settings(given), x, p).unwrap_err();
    let e = refused(json!({"algorithm": "closed-form"}), &x, 12).to_string();
    assert!(e.contains("algorithm='closed-form' is not possible") && e.contains("missing cells"), "{e}");
    let mut spoiled = x.clone();
    spoiled[30 * 12 + 5] = f64::INFINITY;
    match refused(json!({}), &spoiled, 12) {
        Error::NotFinite { row, column, what, .. } => assert_eq!((row, column, what), (30, 5, "infinity")),
        other => panic!("{other}"),
    }
    let mut empty = x.clone();
    empty.chunks_exact_mut(12).for_each(|row| row[4] = f64::NAN);
    let e = refused(json!({}), &empty, 12).to_string();
    assert!(e.contains("column 4 has no observed cell"), "{e}");
    let one: Vec<f64> = [&x[..12], &[f64::NAN; 36]].concat();
    let e = refused(json!({}), &one, 12);
    assert!(matches!(e, Error::TooFewRows { need: 2, got: 1, .. }), "{e}");
    let still: Vec<f64> = x.iter().map(|x| if x.is_nan() { *x } else { 3.5 }).collect();
    assert!(matches!(refused(json!({}), &still, 12), Error::NoVariance { .. }));
    // Other methods refuse missing cells and name the command that fills them.
    let e = try_fit("pca", &settings(json!({})), &x, 12).unwrap_err().to_string();
    assert!(e.contains("is NaN") && e.ends_with("as unmix::impute::Imputer does"), "{e}");
}

#[test]
fn the_number_of_components_is_that_of_bic_with_gaps() {
    let (_, x) = design(400, 0.5, 0.3, 9);
    let model = fitted(json!({}), &x, 12);
    assert_eq!(model.n_components(), 3);
}

#[test]
fn units_of_columns_do_not_matter_where_they_are_standardized() {
    let (_, x) = design(150, 0.5, 0.25, 11);
    let scale = |at: usize| [1.0, 1e3, 1e-2, 7.0][at % 4];
    let y: Vec<f64> = x.iter().enumerate().map(|(at, x)| x * scale(at % 12)).collect();
    let given = json!({"n_components": 3, "standardize": true, "tol": 1e-12});
    let (a, b) = (fitted(given.clone(), &x, 12), fitted(given, &y, 12));
    assert!(
        crate::made::apart(&numbers(&a, "explained_variance"), &numbers(&b, "explained_variance")) < 1e-5
    );
    let more: f64 = (0..x.len()).filter(|at| !x[*at].is_nan()).map(|at| scale(at % 12).ln()).sum();
    assert!((score(&a, &x, 12) - score(&b, &y, 12) - more).abs() < 1e-4);
}

#[test]
fn single_precision_is_near_double_with_gaps() {
    let (_, x) = design(200, 0.5, 0.3, 12);
    let single: Vec<f32> = x.iter().map(|x| *x as f32).collect();
    let a = fitted(json!({"n_components": 3}), &x, 12);
    let b = try_fit("ppca", &settings(json!({"n_components": 3})), &single, 12).unwrap();
    assert!(
        crate::made::apart(&numbers(&a, "explained_variance"), &numbers(&b, "explained_variance")) < 1e-4
    );
}

#[test]
fn the_number_of_components_has_the_smallest_criterion_of_the_report_with_constant_columns_too() {
    for seed in 0..12 {
        let made = datasets::ppca(60, 10, &[10.0, 2.2], 1.0, seed).unwrap().x;
        let x: Vec<f64> =
            (0..60).flat_map(|i| made.row(i).iter().copied().chain([5.0; 8]).collect::<Vec<f64>>()).collect();
        let x = with_gaps(&x, 0.05, seed);
        let of = |k: Option<usize>| {
            let mut given = json!({"noise_floor": 0.8});
            k.iter().for_each(|k| given["n_components"] = json!(k));
            fitted(given, &x, 18)
        };
        let bic = |model: &Model| model.report().fit.as_ref().unwrap()["bic"].as_f64().unwrap();
        // As the search: until two in succession are no better.
        let all: Vec<f64> = (1..6).map(|k| bic(&of(Some(k)))).collect();
        let last = (2..5).find(|&i| all[i] >= all[i - 2] && all[i - 1] >= all[i - 2]).unwrap_or(4);
        let best = (0..=last).min_by(|a, b| all[*a].total_cmp(&all[*b])).unwrap();
        assert_eq!(of(None).n_components(), best + 1, "{seed}: {all:?}");
    }
}

#[test]
fn a_noise_that_tends_to_0_is_refused_and_no_iteration_lowers_the_likelihood() {
    let (n, p) = (200, 6);
    let draws = Stream::new(23, 0);
    let mut whole: Vec<f64> = (0..n * p).map(|at| draws.normal(at as u64)).collect();
    whole.chunks_exact_mut(p).for_each(|row| row[5] = row[0] + row[1]);
    let x = with_gaps(&whole, 0.08, 3);
    for key in ["ppca", "linear-eigengan"] {
        let tried = |given: serde_json::Value| try_fit(key, &settings(given), &x, p);
        let e =
            tried(json!({"n_components": 5})).map(|model| model.report().residual).unwrap_err().to_string();
        assert!(e.contains("the residual variance of") && e.contains("noise_floor=1e-8"), "{key}: {e}");
        for given in [json!({"n_components": 5, "noise_floor": 1e-8}), json!({"n_components": 3})] {
            let model = tried(given.clone()).unwrap_or_else(|e| panic!("{key}, {given}: {e}"));
            let objective = &model.report().objective;
            assert!(objective.windows(2).all(|v| v[1] >= v[0]), "{key}, {given}: {objective:?}");
        }
    }
}
