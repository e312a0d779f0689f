//! Fitted models: stationary by definition, independent of the start, with verdicts.

use super::problems::tied;
use crate::made::{Known, apart, bits, cast, encode, numbers, on_threads, settings, try_fit};
use crate::naive;
use serde_json::{Value, json};
use unmix::datasets::Distribution::{Laplace, Uniform};
use unmix::internal::neural::gpm::GpmOptions;
use unmix::internal::neural::start::{Principal, PrincipalOptions};
use unmix::metrics::match_rows;
use unmix::{AnyRows, Features, Matrix, Model, Outcome, Rows, Run, SigmaPca};

fn fit<T: Known>(given: Value, x: &[T], p: usize) -> Model {
    try_fit("sigma-pca", &settings(given), x, p).unwrap_or_else(|e| panic!("{e}"))
}

fn axes(model: &Model) -> Matrix<f64> {
    model.tensor("components").unwrap().to_matrix()
}

fn least(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    match_rows(a, b).cosine.iter().fold(1.0, |m, c| m.min(*c))
}

/// Ten sources of two kinds, three of them with equal variances, and columns with means other than 0.
fn mixed(n: usize) -> (Vec<f64>, Matrix<f64>) {
    let problem = tied("mixed", n, [Laplace, Uniform, Laplace, Uniform, Uniform], 21);
    let x = problem.x.as_slice().iter().enumerate().map(|(i, v)| v + (i % 10) as f64).collect();
    (x, problem.truth)
}

/// `H_j = -s_j^3 E[x phi(z_j)]` by loops, with the standard deviations `s_j` of the codes.
fn gradients(x: &[f64], w: &Matrix<f64>, a: &[f64], mean: &[f64], raw: bool) -> Vec<Vec<f64>> {
    let (p, k) = (w.cols(), w.rows());
    let n = (x.len() / p) as f64;
    let code = |row: &[f64], j: usize| (0..p).map(|i| (row[i] - mean[i]) * w[(j, i)]).sum::<f64>();
    (0..k)
        .map(|j| {
            let s = (x.chunks_exact(p).map(|row| code(row, j).powi(2)).sum::<f64>() / n).sqrt();
            let mut pull = vec![0.0; p];
            for row in x.chunks_exact(p) {
                let z = code(row, j) / s;
                let t = (z / a[j]).tanh();
                let phi = (a[j] * t - z) * (1.0 - t * t);
                (0..p).for_each(|i| {
                    pull[i] -= s.powi(3) * phi * (row[i] - if raw { 0.0 } else { mean[i] }) / n
                });
            }
            pull
        })
        .collect()
}

#[test]
fn the_first_order_condition_holds_by_naive_loops() {
    let (x, truth) = mixed(3000);
    for center in [true, false] {
        let model = fit(json!({"n_components": 5, "center": center}), &x, 10);
        let report = model.report();
        assert_eq!(report.outcome, Outcome::Converged);
        assert!(report.residual.unwrap() <= 1e-8 && report.tol == Some(1e-8));
        assert!(report.orthonormality.unwrap() < 1e-13);
        let w = axes(&model);
        let h = gradients(&x, &w, &numbers(&model, "a"), &naive::mean(&x, 10), !center);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let length = h.iter().map(|h| dot(h, h)).sum::<f64>().sqrt();
        for j in 0..5 {
            for i in 0..j {
                let odd = dot(w.row(i), &h[j]) - dot(w.row(j), &h[i]);
                assert!(odd.abs() < 1e-7 * length, "center {center}, pair {i} {j}: {odd:e}");
            }
            let outside: Vec<f64> = (0..10)
                .map(|c| h[j][c] - (0..5).map(|i| dot(w.row(i), &h[j]) * w[(i, c)]).sum::<f64>())
                .collect();
            assert!(dot(&outside, &outside).sqrt() < 1e-7 * length, "center {center}, component {j}");
        }
        if center {
            assert!(least(&w, &truth) > 0.997);
            assert!(numbers(&model, "resolved").iter().all(|r| *r == 1.0), "{:?}", report.warnings);
            assert!(report.warnings.is_empty(), "{:?}", report.warnings);
            assert!(numbers(&model, "separation").iter().all(|l| *l > 0.0));
            assert!(numbers(&model, "seeking").iter().all(|b| *b < 0.0));
        }
    }
}

#[test]
fn without_centring_variances_and_their_total_are_second_moments_about_0() {
    let (x, _) = mixed(2000);
    for given in [json!({"center": false}), json!({"center": false, "variant": 9, "max_epochs": 2})] {
        let model = fit(given.clone(), &x, 10);
        let w = axes(&model);
        let variances = numbers(&model, "explained_variance");
        for (j, variance) in variances.iter().enumerate() {
            let code = |row: &[f64]| row.iter().zip(w.row(j)).map(|(x, w)| x * w).sum::<f64>();
            let square = x.chunks_exact(10).map(|row| code(row).powi(2)).sum::<f64>() / 2000.0;
            assert!(
                (square / variance - 1.0).abs() < 1e-9,
                "{given}: component {j}: {square}, not {variance}"
            );
        }
        assert!(variances.is_sorted_by(|a, b| a >= b), "{given}: {variances:?}");
        let total = x.iter().map(|x| x * x).sum::<f64>() / 2000.0;
        for (share, variance) in numbers(&model, "explained_variance_ratio").iter().zip(&variances) {
            assert!((share * total / variance - 1.0).abs() < 1e-9, "{given}: {share} of {total}");
        }
    }
}

#[test]
fn variances_are_those_of_the_codes() {
    let (x, _) = mixed(2000);
    for given in [json!({"n_components": 4}), json!({"n_components": 4, "standardize": true})] {
        let model = fit(given, &x, 10);
        let codes = encode(&model, &x);
        let variance = numbers(&model, "explained_variance");
        for j in 0..4 {
            let along = codes.iter().skip(j).step_by(4).map(|y| y * y).sum::<f64>() / 2000.0;
            assert!((along - variance[j]).abs() < 1e-12 * variance[0], "component {j}");
        }
        assert!(variance.windows(2).all(|v| v[0] >= v[1]));
    }
}

#[test]
fn rows_times_a_number_have_the_same_axes() {
    let (x, _) = mixed(2000);
    let model = fit(json!({"n_components": 5}), &x, 10);
    for scale in [0.01, 100.0, 1000.0, 1e-120, 1e120] {
        let scaled: Vec<f64> = x.iter().map(|v| v * scale).collect();
        let moved = fit(json!({"n_components": 5}), &scaled, 10);
        assert!(apart(&numbers(&moved, "components"), &numbers(&model, "components")) < 1e-9, "{scale}");
        assert_eq!(moved.report().n_iter, model.report().n_iter, "{scale}");
        assert!(apart(&numbers(&moved, "separation"), &numbers(&model, "separation")) < 1e-9, "{scale}");
    }
}

#[test]
fn bits_do_not_depend_on_threads_or_on_where_rows_are() {
    let (x, _) = mixed(30_000);
    let spec = SigmaPca { n_components: Some(5), ..Default::default() };
    let here = |threads| spec.fit(&mut Rows::from_slice(&x, 10).unwrap(), &on_threads(threads)).unwrap();
    let one = here(1);
    assert_eq!(bits(&one), bits(&here(2)));
    assert_eq!(bits(&one), bits(&here(5)));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    unmix::data::write_npy(&path, &x, &[10]).unwrap();
    let (array, _) = unmix::data::open_npy(&path).unwrap();
    let mut filed = AnyRows::from_array(array, Features::default(), "the array");
    let from_file =
        unmix::fit("sigma-pca", &settings(json!({"n_components": 5})), &mut filed, &on_threads(2)).unwrap();
    assert_eq!(bits(&one), bits(&from_file));
}

#[test]
fn coordinates_that_are_not_kept_change_nothing_but_rounding() {
    let (x, _) = mixed(2000);
    let rows = Rows::from_slice(&x, 10).unwrap();
    let run = Run::default();
    let solved = [None, Some(0)].map(|kept| {
        let options = PrincipalOptions { method: "sigma-pca", k: 2, center: true, standardize: true, kept };
        let rows = Principal::new(&rows, &options, &run).unwrap();
        let solved = GpmOptions::auto(2, 1e-8, 300).solve(&rows, rows.first(2), &run, |_, _| ()).unwrap();
        (rows.directions(&solved.w), solved.n_iter, rows.sweeps())
    });
    assert!(apart(solved[0].0.as_slice(), solved[1].0.as_slice()) < 1e-9);
    assert_eq!((solved[0].1, solved[0].2), (solved[1].1, solved[1].2 + 1));
}

#[test]
fn a_weight_of_two_is_the_row_twice_and_of_zero_no_row() {
    let (mut x, _) = mixed(900);
    let weights: Vec<f64> = (0..900).map(|i| (i % 3) as f64).collect();
    let repeated: Vec<f64> =
        x.chunks_exact(10).zip(&weights).flat_map(|(row, &w)| row.repeat(w as usize)).collect();
    x[5] = f64::NAN; // Row 0 has weight 0.
    let spec = SigmaPca { n_components: Some(3), ..Default::default() };
    let weighed =
        spec.fit(&mut Rows::from_slice(&x, 10).unwrap().weighted(&weights[..]).unwrap(), &Run::default());
    let plain = spec.fit(&mut Rows::from_slice(&repeated, 10).unwrap(), &Run::default()).unwrap();
    let weighed = weighed.unwrap();
    for name in ["components", "explained_variance", "a", "separation"] {
        assert!(apart(&numbers(&weighed, name), &numbers(&plain, name)) < 1e-8, "{name}");
    }
    assert_eq!(weighed.report().n_samples, 900.0);
}

#[test]
fn single_precision_finds_what_double_precision_finds() {
    let (x, _) = mixed(4000);
    let double = fit(json!({"n_components": 5}), &x, 10);
    let single = fit(json!({"n_components": 5}), &cast::<f32>(&x), 10);
    assert_eq!(single.report().outcome, Outcome::Converged, "{:?}", single.report().residual);
    assert!(apart(&numbers(&double, "components"), &numbers(&single, "components")) < 2e-3);
    assert!(single.report().orthonormality.unwrap() < 1e-5);
}

#[test]
fn variances_of_very_different_size_are_no_obstacle() {
    let problem = tied("scales", 3000, [Laplace, Uniform, Laplace, Uniform, Uniform], 5);
    let turn = problem.truth.clone();
    // In the coordinates of the sources, with columns multiplied by 1 to 1e-4.
    let mut x = unmix::internal::num::factor::multiply_transposed(&problem.x, &turn).into_vec();
    for row in x.chunks_exact_mut(5) {
        row.iter_mut().enumerate().for_each(|(j, v)| *v *= 0.1f64.powi(j as i32));
    }
    let model = fit(json!({}), &x, 5);
    assert_eq!(model.report().outcome, Outcome::Converged, "{:?}", model.report().residual);
    let w = axes(&model);
    assert!(least(&w, &Matrix::from_fn(5, 5, |i, j| f64::from(u8::from(i == j)))) > 0.999, "{w:?}");
}

#[test]
fn more_components_than_the_rank_and_fixed_widths_for_each() {
    let (x, _) = mixed(500);
    // Column 10 equals column 0, and column 11 is constant.
    let wide: Vec<f64> = x.chunks_exact(10).flat_map(|row| [row, &[row[0], 3.0]].concat()).collect();
    let model = fit(json!({"a": 0.8}), &wide, 12);
    assert_eq!(model.report().rank, Some(10));
    let variance = numbers(&model, "explained_variance");
    assert!(variance[..10].iter().all(|v| *v > 0.0) && variance[10..] == [0.0, 0.0]);
    assert_eq!(numbers(&model, "resolved")[10..], [0.0, 0.0]);
    assert!(
        model.report().warnings.iter().any(|w| w.contains("10 directions")),
        "{:?}",
        model.report().warnings
    );
    let each = fit(json!({"a": [4.0, 0.8], "n_components": 2}), &x, 10);
    let mut a = numbers(&each, "a");
    a.sort_by(f64::total_cmp);
    assert_eq!(a, [0.8, 4.0]);
}

#[test]
fn every_variant_fits_with_every_sigma_and_those_that_standardise_nothing_give_a_warning() {
    let (x, _) = mixed(60);
    for variant in unmix::internal::neural::NONLINEAR {
        let of = |sigma: Option<&str>| {
            fit(json!({"variant": variant.key, "sigma": sigma, "max_epochs": 1, "n_components": 3}), &x, 10)
        };
        let plain = of(None);
        for sigma in ["batch", "ema", "train", "one"] {
            let model = of(Some(sigma));
            let without = model.report().warnings.iter().any(|w| w.contains("has no effect here"));
            assert_eq!(without, !variant.spec.unwrap().reconstructs(), "{} {sigma}", variant.key);
            if without {
                let tensors = |model: &Model| format!("{:?}", model.tensors());
                assert_eq!(tensors(&model), tensors(&plain), "{} {sigma}", variant.key);
            }
        }
    }
}

#[test]
fn settings_that_exclude_each_other_are_refused_with_what_would_work() {
    let (x, _) = mixed(100);
    for (given, message) in [
        (json!({"a": -1.0}), "a must be finite and positive, got -1.0"),
        (json!({"a": [1.0, 2.0], "n_components": 3}), "there are 3 components"),
        (json!({"h": "hard"}), "give a number"),
        (json!({"n_components": 11}), "from 1 to 10"),
        (json!({"max_iter": 0}), "at least 1"),
        (json!({"tol": -1.0}), "1e-8"),
        (json!({"constraint": "nativ"}), "did you mean 'native'"),
    ] {
        let e = try_fit("sigma-pca", &settings(given.clone()), &x, 10).unwrap_err().to_string();
        assert!(e.contains(message), "{given}: {e}");
    }
}

#[test]
fn a_tolerance_below_rounding_converges_with_a_warning() {
    let x = mixed(1000).0;
    let ends = [
        fit(json!({"n_components": 5, "tol": 0.0, "halves": false}), &x, 10),
        fit(json!({"n_components": 5, "tol": 0.0, "halves": false}), &cast::<f32>(&x), 10),
    ];
    for (model, least) in ends.iter().zip([4e-15, 4e-6]) {
        let report = model.report();
        assert_eq!(report.outcome, Outcome::Converged, "{:?} after {}", report.residual, report.n_iter);
        assert!(report.residual.unwrap() < least && report.n_iter < 400, "{:?}", report.residual);
        let message = report.warnings.join("; ");
        assert!(message.contains("as small as rounding allows"), "{message}");
    }
}
