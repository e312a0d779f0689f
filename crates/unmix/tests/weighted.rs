//! Sample weights, PCA about 0, and standardized columns: every solver agrees with plain PCA of rows that were repeated, mirrored or
//! divided beforehand.

use crate::made::{
    Known, apart, bits, cast, decode, encode, falling, fit_any, little, numbers, on_threads, pca, scores,
    settings, try_fit, wide,
};
use serde_json::{Value, json};
use unmix::internal::num::random::Stream;
use unmix::{METHODS, Model, Real, Rows};

/// Settings and shapes for every path to a spectrum.
fn paths() -> Vec<(Value, usize, usize)> {
    vec![
        (json!({"svd_solver": "full"}), 90, 7),
        (json!({"svd_solver": "covariance_eigh"}), 90, 7),
        (json!({"svd_solver": "covariance_eigh", "n_components": 3}), 900, 8),
        (json!({"svd_solver": "full"}), 14, 40),
        (json!({"svd_solver": "covariance_eigh"}), 14, 40),
        (json!({"svd_solver": "krylov", "n_components": 3}), 90, 7),
        (json!({"svd_solver": "power", "n_components": 2}), 90, 7),
        (json!({"svd_solver": "deflation", "n_components": 2}), 90, 7),
        (json!({"svd_solver": "krylov", "n_components": 2}), 25, 2100),
    ]
}

fn fit_weighted<T: Known>(given: &Value, x: &[T], p: usize, weights: &[f64]) -> unmix::Result<Model> {
    let rows = Rows::from_slice(x, p)?.weighted(weights)?;
    unmix::fit("pca", &settings(given.clone()), &mut T::any(rows), &on_threads(2))
}

fn with(given: &Value, name: &str, value: Value) -> Value {
    let mut given = settings(given.clone());
    given.insert(name.into(), value);
    Value::Object(given)
}

/// Asserts that parameters agree to `tol`, relative to the first variance.
fn agree(a: &Model, b: &Model, tol: f64, what: &str) {
    let first = numbers(b, "explained_variance")[0];
    for name in ["explained_variance", "noise_variance", "components", "mean", "scale"] {
        let (x, y) = (numbers(a, name), numbers(b, name));
        let unit = if name == "components" { 1.0 } else { first };
        assert!(apart(&x, &y) < tol * unit, "{what}: {name} differs by {:e}", apart(&x, &y));
    }
}

#[test]
fn a_weight_is_a_number_of_repetitions() {
    for (given, n, p) in paths() {
        let mut x = falling(n, p, 3);
        let weights: Vec<f64> = (0..n).map(|i| [1.0, 2.0, 0.0, 1.0, 3.0][i % 5]).collect();
        let repeated: Vec<f64> =
            (0..n).flat_map(|i| x[i * p..(i + 1) * p].repeat(weights[i] as usize)).collect();
        // Rows of weight 0 may have missing cells.
        x[2 * p + 1] = f64::NAN;
        let (a, b) = (fit_weighted(&given, &x, p, &weights).unwrap(), pca(given.clone(), &repeated, p));
        agree(&a, &b, 1e-9, &format!("{given} {n} x {p}"));
        assert_eq!(a.report().n_samples, weights.iter().sum::<f64>());
        assert_eq!(a.n_components(), b.n_components(), "{given} {n} x {p}");
        let singular = apart(&numbers(&a, "singular_values"), &numbers(&b, "singular_values"));
        assert!(singular < 1e-7 * numbers(&b, "singular_values")[0], "{given}: {singular:e}");
    }
}

#[test]
fn long_runs_of_rows_of_weight_zero_have_no_effect() {
    // More rows of weight 0 than a block has rows, so that some blocks have no other rows. Iterative solvers sweep the wide rows
    // repeatedly.
    for (n, p, none) in [(300, 24, 1100), (60, 2060, 600)] {
        let x = falling(n, p, 3);
        let (nothing, half) = (vec![f64::NAN; none * p], n / 2 * p);
        let rows = [&nothing[..], &x[..half], &nothing, &x[half..], &nothing].concat();
        let (none, one) = (vec![0.0; none], vec![1.0; n / 2]);
        let weights = [&none[..], &one, &none, &one, &none].concat();
        for solver in
            ["auto", "full", "covariance_eigh", "arpack", "krylov", "power", "deflation", "randomized"]
        {
            for k in [2, 9] {
                let mut given = json!({"svd_solver": solver, "n_components": k});
                if solver == "randomized" {
                    // Enough iterations to converge.
                    given["iterated_power"] = json!(100);
                }
                let model =
                    fit_weighted(&given, &rows, p, &weights).unwrap_or_else(|e| panic!("{solver}: {e}"));
                agree(&model, &pca(given.clone(), &x, p), 1e-6, &format!("{given} {n} x {p}"));
            }
        }
        for method in METHODS.iter().filter(|method| method.accepts.weights && p < 100) {
            let rows = Rows::from_slice(&rows, p).unwrap().weighted(&weights[..]).unwrap();
            let model = unmix::fit(method.key, &little(method.key), &mut f64::any(rows), &on_threads(2));
            let model = model.unwrap_or_else(|e| panic!("{}: {e}", method.key));
            assert_eq!(model.report().n_samples, n as f64, "{}", method.key);
        }
    }
}

#[test]
fn fractional_weights_are_frequencies() {
    let x = falling(60, 5, 1);
    let weights: Vec<f64> = (0..60).map(|i| 0.25 + f64::from(i % 3)).collect();
    let model = fit_weighted(&json!({}), &x, 5, &weights).unwrap();
    let total: f64 = weights.iter().sum();
    let mean = |j: usize| (0..60).map(|i| weights[i] * x[i * 5 + j]).sum::<f64>() / total;
    let variance = |j: usize| {
        (0..60).map(|i| weights[i] * (x[i * 5 + j] - mean(j)).powi(2)).sum::<f64>() / (total - 1.0)
    };
    let sum: f64 = (0..5).map(variance).sum();
    assert!((numbers(&model, "explained_variance").iter().sum::<f64>() / sum - 1.0).abs() < 1e-12);
    assert!(apart(&numbers(&model, "mean"), &(0..5).map(mean).collect::<Vec<_>>()) < 1e-12);
    assert_eq!(model.report().n_samples, total);
}

/// The number of rows, not the sum of their weights, bounds the number of components.
#[test]
fn sums_of_many_rows_of_small_weights_are_fitted_as_the_rows_are() {
    let (x, p) = (falling(60, 5, 1), 5);
    let weights: Vec<f64> = (0..60).map(|i| 0.02 + 0.01 * f64::from(i % 3)).collect();
    let rows = || f64::any(Rows::from_slice(&x, p).unwrap().weighted(&weights[..]).unwrap());
    for (key, given) in [
        ("pca", json!({})),
        ("pca", json!({"n_components": 4, "whiten": true})),
        ("ppca", json!({"n_components": 2})),
        ("factor-analysis", json!({"n_components": 2})),
    ] {
        let given = settings(given);
        let whole = unmix::fit(key, &given, &mut rows(), &on_threads(2)).unwrap();
        let sums = unmix::method::fit_by_sums(key, &given, &rows(), &on_threads(2))
            .unwrap_or_else(|e| panic!("{key}: {e}"));
        assert_eq!(sums.n_components(), whole.n_components(), "{key}");
        let name = if key == "factor-analysis" { "noise_variance" } else { "explained_variance" };
        let (a, b) = (numbers(&sums, name), numbers(&whole, name));
        assert!(apart(&a, &b) < 1e-6 * b.iter().sum::<f64>(), "{key}: {a:?} {b:?}");
        // The number of rows is kept in files and by merges.
        let loaded = Model::from_bytes(&sums.to_bytes().unwrap(), "m".as_ref()).unwrap();
        let both = loaded.sums().unwrap().merged(sums.sums().unwrap()).unwrap();
        let spec = (unmix::method::find(key).unwrap().spec)(&given).unwrap();
        let merged = spec.fit_sums(&both, loaded.features(), &on_threads(1)).unwrap();
        assert_eq!((merged.n_components(), merged.report().n_rows), (whole.n_components(), Some(120)));
    }
    // A sum of weights of at most 1 has no variance, whatever the number of rows.
    let small = f64::any(Rows::from_slice(&x, p).unwrap().weighted(vec![0.01; 60]).unwrap());
    let said = unmix::method::fit_by_sums("pca", &settings(json!({})), &small, &on_threads(1)).unwrap_err();
    assert!(said.to_string().contains("must sum to more than 1"), "{said}");
}

/// Weights that were divided by their sum: rounding makes it 1 or a little more.
#[test]
fn weights_that_sum_to_1_up_to_rounding_are_refused() {
    for n in [49usize, 700, 1000, 1499, 1500] {
        let x = falling(n, 3, 1);
        let weights = vec![1.0 / n as f64; n];
        for key in ["pca", "ica", "ppca", "factor-analysis", "rica"] {
            let mut rows = f64::any(Rows::from_slice(&x, 3).unwrap().weighted(weights.clone()).unwrap());
            let said = fit_any(key, &settings(json!({})), &mut rows, &on_threads(1)).unwrap_err().to_string();
            assert!(
                said.contains("must sum to more than 1") && said.contains("multiply"),
                "{key} of {n}: {said}"
            );
        }
    }
}

#[test]
fn every_method_supports_what_it_declares_about_weights() {
    let x = falling(60, 5, 1);
    let weights: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
    for method in METHODS {
        let rows = Rows::from_slice(&x, 5).unwrap().weighted(&weights[..]).unwrap();
        let fitted = fit_any(method.key, &little(method.key), &mut f64::any(rows), &on_threads(1));
        assert_eq!(fitted.as_ref().is_ok(), method.accepts.weights, "{}: {:?}", method.key, fitted.err());
        if let Ok(model) = fitted {
            assert_eq!(model.report().n_samples, 60.0, "{}", method.key);
        }
    }
}

#[test]
fn weights_of_one_change_no_bit() {
    for (given, n, p) in paths() {
        let x = falling(n, p, 5);
        let plain = try_fit("pca", &settings(given.clone()), &x, p).unwrap();
        assert_eq!(bits(&fit_weighted(&given, &x, p, &vec![1.0; n]).unwrap()), bits(&plain), "{given}");
    }
}

#[test]
fn invalid_weights_are_refused() {
    let x = falling(6, 3, 0);
    let refused = |weights: &[f64], words: &[&str]| {
        let message = fit_weighted(&json!({}), &x, 3, weights).unwrap_err().to_string();
        assert!(words.iter().all(|w| message.contains(w)), "{message}");
    };
    refused(&[1.0, 1.0, -2.0, 1.0, 1.0, 1.0], &["sample_weight", "row 2", "-2"]);
    refused(&[1.0, f64::NAN, 1.0, 1.0, 1.0, 1.0], &["row 1", "NaN"]);
    refused(&[1.0; 5], &["5 weights", "6 rows"]);
    refused(&[0.1; 6], &["sample_weight", "0.6", "more than 1"]);
    refused(&[0.0, 0.0, 7.0, 0.0, 0.0, 0.0], &["varies"]);
    refused(&[0.0; 6], &["sample_weight", "all zero"]);
    // A number that is not finite is reported at its own position, counting rows of weight 0.
    let mut holes = x.clone();
    (holes[1], holes[13]) = (f64::NAN, f64::INFINITY);
    let message =
        fit_weighted(&json!({}), &holes, 3, &[0.0, 1.0, 1.0, 1.0, 1.0, 1.0]).unwrap_err().to_string();
    assert!(message.contains("row 4") && message.contains("column 1"), "{message}");
}

fn standardized(x: &[f64], p: usize) -> (Vec<f64>, Vec<f64>) {
    let n = x.len() / p;
    let mean = |j: usize| (0..n).map(|i| x[i * p + j]).sum::<f64>() / n as f64;
    let means: Vec<f64> = (0..p).map(mean).collect();
    let square = |j: usize| (0..n).map(|i| (x[i * p + j] - means[j]).powi(2)).sum::<f64>();
    let scale: Vec<f64> = (0..p).map(|j| (square(j) / (n - 1) as f64).sqrt()).collect();
    let z = (0..n * p).map(|i| (x[i] - means[i % p]) / scale[i % p]).collect();
    (z, scale)
}

#[test]
fn standardized_pca_is_pca_of_standardized_columns() {
    for (given, n, p) in paths() {
        let mut x = falling(n, p, 9);
        // Units of the columns differ by powers of ten.
        x.iter_mut().enumerate().for_each(|(i, v)| *v *= 10f64.powi((i % p % 5) as i32 - 2));
        let (z, scale) = standardized(&x, p);
        let a = pca(with(&given, "standardize", json!(true)), &x, p);
        let b = pca(given.clone(), &z, p);
        let what = format!("{given} {n} x {p}");
        for name in ["explained_variance", "noise_variance", "explained_variance_ratio"] {
            assert!(apart(&numbers(&a, name), &numbers(&b, name)) < 1e-8 * p as f64, "{what}: {name}");
        }
        assert!(numbers(&a, "noise_scale").iter().zip(&scale).all(|(a, b)| (a / b - 1.0).abs() < 1e-12));
        // Signs are canonical for the decoder in the units of the columns, so they may differ.
        let (y, w) = (encode(&a, &x), encode(&b, &z));
        let k = a.n_components().min(3);
        for c in 0..k {
            let column =
                |v: &[f64]| -> Vec<f64> { v.iter().skip(c).step_by(a.n_components()).copied().collect() };
            let (y, w) = (column(&y), column(&w));
            let turned: Vec<f64> = w.iter().map(|v| -v).collect();
            assert!(apart(&y, &w).min(apart(&y, &turned)) < 1e-6, "{what}: codes {c}");
        }
        let back = decode(&a, &y);
        if a.n_components() == n.min(p) {
            let worst = back.iter().zip(&x).enumerate().map(|(i, (b, x))| (b - x).abs() / scale[i % p]);
            assert!(worst.fold(0.0, f64::max) < 1e-9, "{what}: back");
        }
        if n > p {
            let units: f64 = scale.iter().map(|s| s.ln()).sum();
            let moved: Vec<f64> = scores(&b, &z).iter().map(|s| s - units).collect();
            assert!(apart(&scores(&a, &x), &moved) < 1e-6, "{what}: likelihood");
        }
    }
}

#[test]
fn a_constant_column_keeps_its_unit() {
    let mut x = falling(50, 4, 2);
    x.iter_mut().skip(1).step_by(4).for_each(|v| *v = 0.1);
    for solver in ["full", "covariance_eigh"] {
        let model = pca(json!({"standardize": true, "svd_solver": solver}), &x, 4);
        assert_eq!(numbers(&model, "noise_scale")[1], 1.0);
        assert_eq!(model.report().n_constant, 1);
        let total: f64 = numbers(&model, "explained_variance").iter().sum();
        assert!((total - 3.0).abs() < 1e-12, "three columns of variance 1: {total}");
    }
}

#[test]
fn uncentred_pca_is_pca_of_rows_and_their_mirror_images() {
    for (given, n, p) in paths() {
        let x = falling(n, p, 4);
        let mirrored: Vec<f64> = x.iter().copied().chain(x.iter().map(|v| -v)).collect();
        let a = pca(with(&given, "center", json!(false)), &x, p);
        let b = pca(given.clone(), &mirrored, p);
        let what = format!("{given} {n} x {p}");
        assert!(numbers(&a, "mean").iter().all(|m| *m == 0.0), "{what}");
        let k = a.n_components();
        // The variances are x'x / (n - 1) and 2 x'x / (2 n - 1).
        let ratio = 2.0 * (n - 1) as f64 / (2 * n - 1) as f64;
        let values: Vec<f64> = numbers(&a, "explained_variance").iter().map(|v| v * ratio).collect();
        let reference = &numbers(&b, "explained_variance")[..k];
        assert!(apart(&values, reference) < 1e-9 * reference[0], "{what}: {:e}", apart(&values, reference));
        let few = k.min(3) * p;
        let axes = apart(&numbers(&a, "components")[..few], &numbers(&b, "components")[..few]);
        assert!(axes < 1e-7, "{what}: axes {axes:e}");
    }
}

#[test]
fn zca_gives_white_numbers_nearest_to_the_columns() {
    fn check<T: Known>(tol: f64) {
        let (n, p) = (400, 6);
        let x: Vec<T> = cast(&falling(n, p, 8));
        let model = pca(json!({"whiten": "zca", "svd_solver": "full"}), &x, p);
        assert_eq!(model.n_components(), p);
        let y = wide(&encode(&model, &x));
        let gram = |a: &[f64], b: &[f64], i: usize, j: usize| {
            (0..n).map(|r| a[r * p + i] * b[r * p + j]).sum::<f64>() / (n - 1) as f64
        };
        let (mean, x64) = (numbers(&model, "mean"), wide(&x));
        let centred: Vec<f64> = x64.iter().enumerate().map(|(i, v)| v - mean[i % p]).collect();
        for i in 0..p {
            for j in 0..p {
                let white = gram(&y, &y, i, j) - f64::from(u8::from(i == j));
                assert!(white.abs() < tol, "covariance of codes ({i}, {j}): {white:e}");
                // Whitened rows are nearest to the centred ones if their cross-covariance is symmetric and positive definite.
                let skew = gram(&y, &centred, i, j) - gram(&y, &centred, j, i);
                assert!(skew.abs() < 10.0 * tol, "({i}, {j}): {skew:e}");
            }
        }
        assert!(apart(&wide(&decode(&model, &encode(&model, &x))), &x64) < 30.0 * tol);
    }
    check::<f64>(1e-12);
    check::<f32>(1e-4);
    // With fewer components codes still have one number for each column, but rank k.
    let x = falling(200, 7, 1);
    let model = pca(json!({"whiten": "zca", "n_components": 2}), &x, 7);
    assert_eq!((model.n_components(), model.n_codes()), (2, 7));
    let again = encode(&model, &decode(&model, &encode(&model, &x)));
    assert!(apart(&again, &encode(&model, &x)) < 1e-9);
}

#[test]
fn single_precision_weights_and_standardizes_as_double_does() {
    fn of<T: Known + Real>() -> Vec<f64> {
        let x: Vec<T> = cast(&falling(300, 6, 6));
        let weights: Vec<f64> = (0..300).map(|i| Stream::new(1, 2).uniform(i) * 3.0).collect();
        let given = json!({"standardize": true, "svd_solver": "covariance_eigh"});
        numbers(&fit_weighted(&given, &x, 6, &weights).unwrap(), "explained_variance")
    }
    assert!(apart(&of::<f32>(), &of::<f64>()) < 1e-4);
}
