//! Numbers near the limits of their type, tables larger than memory, and single rows that outweigh all others: a correct result, or an
//! error or warning.

use super::{cases_by_variance, every_case};
use crate::made::{Known, apart, falling, fit_any, numbers, on_threads, pca, settings, try_fit};
use serde_json::{Value, json};
use unmix::data::{Features, Sparse};
use unmix::internal::num::random::Stream;
use unmix::{Error, METHODS, Outcome, Rows, Run};

/// Rows of independent Laplace numbers times `unit`.
fn laplace(n: usize, p: usize, unit: f64) -> Vec<f64> {
    let s = Stream::new(11, 0);
    (0..n * p).map(|i| unit * s.laplace(i as u64)).collect()
}

fn refused<T: Known>(key: &str, given: &Value, x: &[T], p: usize) -> Error {
    match try_fit(key, &settings(given.clone()), x, p) {
        Ok(model) => panic!("{key} {given} was accepted: {:?}", model.report()),
        Err(e) => e,
    }
}

#[test]
fn rows_whose_squares_underflow_are_refused_by_every_method() {
    for (key, given) in METHODS.iter().map(|m| (m.key, json!({}))).chain([
        ("ica", json!({"whiten": false})),
        ("fastica", json!({"whiten": false})),
        ("rica", json!({"whiten": false})),
        ("ica", json!({"algorithm": "sigma-pca"})),
        ("pca", json!({"svd_solver": "power", "n_components": 2})),
    ]) {
        for unit in [1e-161, 1e-170, 1e-300, 1e-310] {
            let e = refused(key, &given, &laplace(700, 4, unit), 4);
            assert!(
                e.to_string().contains("multiply the data by a large constant"),
                "{key} {given}, {unit:e}: {e}"
            );
        }
        let single: Vec<f32> = laplace(700, 4, 5e-23).iter().map(|&v| v as f32).collect();
        let e = refused(key, &given, &single, 4);
        assert!(e.to_string().contains("or use float64"), "{key} {given}: {e}");
    }
}

#[test]
fn standard_deviations_whose_squares_underflow_are_not_divided_by() {
    for key in ["pca", "sigma-pca", "ica", "rica"] {
        for unit in [1e-160, 1e-170] {
            let mut x = laplace(700, 4, 1.0);
            x.chunks_exact_mut(4).for_each(|row| row[2] *= unit);
            let e = refused(key, &json!({"standardize": true}), &x, 4);
            assert!(e.to_string().contains("column 2"), "{key}, {unit:e}: {e}");
        }
    }
}

#[test]
fn a_column_that_varies_by_very_little_is_not_called_constant() {
    let mut x = laplace(700, 4, 1.0);
    x.chunks_exact_mut(4).for_each(|row| row[2] *= 1e-200);
    for key in ["pca", "sigma-pca", "neural-pca"] {
        let model = try_fit(key, &settings(json!({})), &x, 4).unwrap();
        assert_eq!(model.report().n_constant, 0, "{key}");
    }
    x.chunks_exact_mut(4).for_each(|row| row[2] = 1e-200);
    assert_eq!(pca(json!({}), &x, 4).report().n_constant, 1);
}

#[test]
fn a_column_of_denormal_numbers_whose_mean_is_0_is_not_called_constant() {
    let mut x = laplace(700, 4, 1.0);
    for (i, row) in x.chunks_exact_mut(4).enumerate() {
        // Column 1 sums to 0 in any order of summation, and its squares underflow to 0; column 2 is 0.
        (row[1], row[2]) = (if i % 2 == 0 { 1e-310 } else { -1e-310 }, 0.0);
    }
    for (key, given) in [
        ("pca", json!({})),
        ("pca", json!({"center": false})),
        ("pca", json!({"svd_solver": "full"})),
        ("pca", json!({"svd_solver": "power", "n_components": 2})),
        ("sigma-pca", json!({})),
        ("neural-pca", json!({})),
        ("rica", json!({})),
        ("ica", json!({})),
        ("factor-analysis", json!({"n_components": 1})),
    ] {
        let model = try_fit(key, &settings(given.clone()), &x, 4).unwrap();
        assert_eq!(model.report().n_constant, 1, "{key} {given}: {:?}", model.report().warnings);
    }
    let model = try_fit("ica", &settings(json!({"whiten": false})), &x, 4).unwrap();
    assert_eq!(model.report().n_constant, 1, "{:?}", model.report().warnings);
    // The same rows in compressed sparse format, without the zeros of column 2.
    let starts: Vec<usize> = (0..=700).map(|i| 3 * i).collect();
    let columns: Vec<u32> = [0, 1, 3].repeat(700);
    let stored: Vec<f64> = x.chunks_exact(4).flat_map(|row| [row[0], row[1], row[3]]).collect();
    for given in [json!({}), json!({"svd_solver": "krylov", "n_components": 2})] {
        let sparse = Sparse::from_csr(&starts, &columns, &stored[..], 4).unwrap();
        let mut rows = unmix::AnyRows::F64(Rows::new(sparse, Features::default(), "sparse rows"));
        let model = unmix::fit("pca", &settings(given.clone()), &mut rows, &Run::default()).unwrap();
        assert_eq!(model.report().n_constant, 1, "{given}: {:?}", model.report().warnings);
    }
    // Fewer rows than columns.
    let wide: Vec<f64> = (0..6)
        .flat_map(|i| [x[4 * i..4 * i + 4].to_vec(), laplace(i + 4, 1, 1.0)[i..].to_vec()].concat())
        .collect();
    for solver in ["full", "covariance_eigh"] {
        assert_eq!(pca(json!({"svd_solver": solver}), &wide, 8).report().n_constant, 1, "{solver}");
    }
}

#[test]
fn iterations_do_not_depend_on_units() {
    let x = falling(300, 9, 5);
    for solver in ["power", "deflation", "krylov", "randomized"] {
        let given = json!({"n_components": 3, "svd_solver": solver});
        let plain = pca(given.clone(), &x, 9);
        for unit in [2f64.powi(498), 2f64.powi(-498)] {
            let scaled: Vec<f64> = x.iter().map(|v| v * unit).collect();
            let other = pca(given.clone(), &scaled, 9);
            assert_eq!(other.report().outcome, plain.report().outcome, "{solver}, {unit:e}");
            assert_ne!(other.report().outcome, Outcome::MaxIter, "{solver}, {unit:e}");
            assert_eq!(other.report().n_iter, plain.report().n_iter, "{solver}, {unit:e}");
            let back: Vec<f64> =
                numbers(&other, "explained_variance").iter().map(|v| v / unit / unit).collect();
            let want = numbers(&plain, "explained_variance");
            assert!(apart(&back, &want) < 1e-13 * want[0], "{solver}, {unit:e}");
        }
    }
}

#[test]
fn a_large_mean_costs_variances_no_digits() {
    let (n, p) = (3000, 8);
    let s = Stream::new(2, 0);
    // Multiples of the last digit of 1e9 in double precision, so that adding 1e9 is exact.
    let digit = 2f64.powi(-20);
    let small: Vec<f64> =
        (0..n * p).map(|i| ((1 + i % p) as f64 * s.normal(i as u64) / digit).round() * digit).collect();
    let far: Vec<f64> = small.iter().map(|v| v + 1e9).collect();
    for given in [
        json!({"svd_solver": "full"}),
        json!({"svd_solver": "covariance_eigh"}),
        json!({"svd_solver": "power", "n_components": 3}),
    ] {
        let (a, b) = (pca(given.clone(), &small, p), pca(given.clone(), &far, p));
        let (a, b) = (numbers(&a, "singular_values"), numbers(&b, "singular_values"));
        for (a, b) in a.iter().zip(&b) {
            assert!((b / a - 1.0).abs() < 7e-13, "{given}: {b} beside a large mean, {a} without");
        }
    }
    // Fewer rows than columns: a residual mean would add a direction to the rank of centred rows.
    let wide: Vec<f64> = far.iter().take(20 * 300).copied().collect();
    for solver in ["full", "covariance_eigh"] {
        let model = pca(json!({"svd_solver": solver}), &wide, 300);
        assert_eq!(model.report().rank, Some(19), "{solver}: {:?}", numbers(&model, "singular_values"));
    }
    let weights: Vec<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
    let weighted_fit = |x: &[f64]| {
        let mut rows = Rows::from_slice(x, p).unwrap().weighted(weights.clone()).unwrap();
        numbers(&unmix::Pca::default().fit(&mut rows, &on_threads(2)).unwrap(), "singular_values")
    };
    let (a, b) = (weighted_fit(&small), weighted_fit(&far));
    assert!(a.iter().zip(&b).all(|(a, b)| (b / a - 1.0).abs() < 7e-13), "{a:?}\n{b:?}");
}

#[test]
fn variances_of_few_digits_give_a_warning() {
    // Standard deviations from 1 to 10^-6.85: a variance of 2e-14 of the largest has two significant digits if computed from sums of
    // squares.
    let (n, p) = (2000, 8);
    let s = Stream::new(3, 0);
    let x: Vec<f64> =
        (0..n * p).map(|i| 10f64.powf(-6.85 * (i % p) as f64 / 6.0) * s.normal(i as u64)).collect();
    let warned = |given: Value| {
        let model = pca(given, &x, p);
        model.report().warnings.iter().any(|w| w.contains("fewer than about three digits"))
    };
    assert!(warned(json!({"svd_solver": "arpack", "n_components": 7})));
    assert!(!warned(json!({"svd_solver": "arpack", "n_components": 4})));
    assert!(!warned(json!({"svd_solver": "full"})));
}

#[test]
fn arrays_larger_than_memory_are_refused_before_allocation() {
    let p = 200_000;
    let s = Stream::new(1, 0);
    let x: Vec<f64> = (0..3 * p).map(|i| s.normal(i as u64)).collect();
    let no_memory = |result: unmix::Result<unmix::Model>, what: &str| match result {
        Err(Error::Memory { need_bytes, .. }) => {
            assert!(need_bytes > 1 << 38, "{what}: {need_bytes} bytes");
        }
        other => panic!("{what}: {:?}", other.map(|m| m.report().clone())),
    };
    for key in ["ica", "fastica", "rica"] {
        no_memory(try_fit(key, &settings(json!({"whiten": false})), &x, p), key);
    }
    no_memory(try_fit("pca", &settings(json!({"whiten": "zca"})), &x, p), "zca");
    let rows = unmix::AnyRows::F64(Rows::from_slice(&x, p).unwrap());
    no_memory(unmix::method::fit_by_sums("pca", &settings(json!({})), &rows, &Run::default()), "sums");
    let model = pca(json!({}), &x, p);
    let density = model.density().unwrap();
    assert!(matches!(density.covariance(), Err(Error::Memory { .. })));
    assert!(matches!(density.precision(), Err(Error::Memory { .. })));
}

#[test]
fn one_row_that_outweighs_all_others_is_no_panic() {
    for case in every_case() {
        for outlier in [1e9, 1e12, 1e100] {
            let mut x = case.data::<f64>();
            x[3 * case.p + 2] = outlier;
            match case.try_fit(&x) {
                Ok(model) => {
                    for (name, tensor) in model.tensors() {
                        let finite = tensor.f64s().iter().all(|v| v.is_finite());
                        assert!(finite, "{case}, {outlier:e}: {name}");
                    }
                }
                // One direction is left: too few for a model with noise, and for rows that must be white.
                Err(e) => {
                    let reasons =
                        ["the residual variance of the array", "the rows vary along 1 direction only"];
                    let message = e.to_string();
                    assert!(
                        reasons.iter().any(|reason| message.contains(reason)),
                        "{case}, {outlier:e}: {message}"
                    );
                }
            }
        }
    }
    // With `first_layer='sigma-pca'` the first layer found fewer directions than there are coordinates.
    let mut x = laplace(3000, 4, 1.0);
    x[3 * 4 + 2] = 1e12;
    let given = json!({"algorithm": "sigma-pca", "first_layer": "sigma-pca"});
    let model = try_fit("ica", &settings(given), &x, 4).unwrap();
    assert_eq!(model.n_components(), 4);
}

#[test]
fn variances_over_the_whole_range_of_the_type_are_right() {
    for case in cases_by_variance() {
        let x = case.data::<f64>();
        let want = numbers(&case.fit(&x), "explained_variance");
        for unit in [2f64.powi(498), 2f64.powi(-490)] {
            let scaled: Vec<f64> = x.iter().map(|v| v * unit).collect();
            let found: Vec<f64> =
                numbers(&case.fit(&scaled), "explained_variance").iter().map(|v| v / unit / unit).collect();
            let size = want.first().copied().unwrap_or(0.0);
            assert!(apart(&found, &want) <= 1e-12 * size, "{case}, {unit:e}");
        }
    }
}

#[test]
fn a_time_limit_that_is_no_number_of_seconds_is_refused() {
    for case in every_case() {
        for seconds in [f64::NAN, -1.0] {
            let run = Run { max_seconds: Some(seconds), ..on_threads(1) };
            let x = case.data::<f64>();
            let mut rows = unmix::AnyRows::F64(Rows::from_slice(&x, case.p).unwrap());
            let said =
                fit_any(case.method.key, &case.given_briefly(), &mut rows, &run).unwrap_err().to_string();
            assert!(said.contains("max_seconds") && said.contains("must be at least 0"), "{case}: {said}");
        }
    }
}
