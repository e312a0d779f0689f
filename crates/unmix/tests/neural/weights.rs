//! Settings of published rules: weights, units, standard deviations, and decoded rows, against formulas.

use super::recover::{Kind, mixed};
use crate::made::{apart, cast, decode, encode, numbers, settings, try_fit};
use serde_json::{Value, json};
use unmix::Model;
use unmix::datasets::Distribution::Laplace;

fn fit(x: &[f64], p: usize, given: Value) -> Model {
    try_fit("sigma-pca", &settings(given), x, p).unwrap_or_else(|e| panic!("{e}"))
}

/// Independent Laplace sources with these standard deviations, not rotated.
fn plain(n: usize, deviations: &[f64], seed: u64) -> Vec<f64> {
    let variances: Vec<f64> = deviations.iter().map(|s| s * s).collect();
    let made = unmix::datasets::independent(n, &vec![Laplace; variances.len()], &variances, seed).unwrap();
    unmix::internal::num::factor::multiply(&made.x, &made.mixing).into_vec()
}

/// Codes of the first component, standardized.
fn standard(model: &Model, x: &[f64], k: usize) -> Vec<f64> {
    let codes: Vec<f64> = encode(model, x).iter().step_by(k).copied().collect();
    let sigma = (codes.iter().map(|y| y * y).sum::<f64>() / codes.len() as f64).sqrt();
    codes.iter().map(|y| y / sigma).collect()
}

fn mean(z: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    z.iter().map(|z| f(*z)).sum::<f64>() / z.len() as f64
}

#[test]
fn free_columns_have_the_length_that_their_weight_of_orthogonality_gives_them() {
    // For one column of variant 14, h = 4 tanh(z/4), w.G = 0: m (m E[z h h'] - E[z² h'] + 2 b (m - 1)) = 0, where m is its squared
    // length and b the weight relative to the variance along it.
    let x = plain(4000, &[3.0, 0.5], 7);
    let on = |beta: f64, scale: &str| {
        let given = json!({"n_components": 1, "variant": 14, "beta": beta, "beta_scale": scale, "batch_size": 4000, "max_epochs": 600});
        let model = fit(&x, 2, given);
        let length = model.report().norms.as_ref().unwrap()[0];
        let z = standard(&model, &x, 1);
        let (h, d) = (|z: f64| 4.0 * (z / 4.0).tanh(), |z: f64| 1.0 - (z / 4.0).tanh().powi(2));
        let (own, other) = (mean(&z, |z| z * h(z) * d(z)), mean(&z, |z| z * z * d(z)));
        let variance = numbers(&model, "explained_variance")[0];
        (length * length, own, other, variance)
    };
    for beta in [0.0, 0.05, 1.0] {
        let (m, own, other, _) = on(beta, "variance");
        let want = (other + 2.0 * beta) / (own + 2.0 * beta);
        assert!((m - want).abs() < 2e-3, "{beta}: {m} and not {want}");
    }
    // An absolute weight is divided by the variance, here m times that along a column of unit length.
    let (m, own, other, variance) = on(1.0, "absolute");
    let beta = 1.0 / (variance * m);
    let want = (other + 2.0 * beta) / (own + 2.0 * beta);
    assert!((m - want).abs() < 2e-3 && want > 1.02, "{m} and not {want}");
}

#[test]
fn learned_deviations_converge_to_the_root_of_the_formula() {
    let x = plain(4000, &[2.0, 0.5], 8);
    let push = |t: f64| (t - t.tanh()) * (t.tanh() - t * (1.0 - t.tanh().powi(2)));
    // The root of E[(t - tanh t)(tanh t - t sech² t)] = l2, t = z / r: r = 2.50 for Laplace and l2 = 1e-2, 4.37 for 1e-3.
    for (given, cost, r) in [
        (json!({"variant": "trained-sigma", "sigma_l2": 1e-2}), 1e-2, 2.50),
        (json!({"variant": "ema-tanh", "sigma": "train", "sigma_l2": 1e-2}), 1e-2, 2.50),
        (json!({"variant": "ema-tanh", "sigma": "train"}), 1e-3, 4.37),
    ] {
        let mut given = settings(given);
        given.extend(settings(json!({"n_components": 1, "batch_size": 4000, "max_epochs": 8000})));
        let model = try_fit("sigma-pca", &given, &x, 2).unwrap();
        let ratio = numbers(&model, "trained_scale")[0] / numbers(&model, "scale")[0];
        let z = standard(&model, &x, 1);
        let cost_there = mean(&z, |z| push(z / ratio));
        assert!((cost_there / cost - 1.0).abs() < 0.02, "{given:?}: {cost_there}");
        assert!((ratio / r - 1.0).abs() < 0.06, "{given:?}: {ratio}");
    }
    assert!(fit(&x, 2, json!({"variant": 9, "max_epochs": 1})).tensor("trained_scale").is_none());
}

#[test]
fn axes_are_stable_up_to_a_bound_on_the_sparsity_in_either_unit() {
    // A column is stable at a source of standard deviation s while beta < 2 s / E|z|.
    let x = plain(8000, &[2.0, 1.0], 9);
    let (length, size) = {
        let lengths = x.chunks(2).map(|r| r[0].hypot(r[1]));
        (lengths.sum::<f64>() / 8000.0, x.chunks(2).map(|r| r[0].abs()).sum::<f64>() / 8000.0)
    };
    let bound = 2.0 * 4.0 / size;
    for (share, holds) in [(0.7, true), (1.4, false)] {
        for (scale, beta) in [("absolute", share * bound), ("variance", share * bound / length)] {
            let given = json!({"n_components": 1, "variant": "rica", "beta": beta, "beta_scale": scale, "max_epochs": 40});
            let along = numbers(&fit(&x, 2, given), "components")[0].abs();
            assert_eq!(along > 0.98, holds, "{share} of the bound, {scale}: {along}");
        }
    }
}

#[test]
fn weights_relative_to_the_variance_do_not_depend_on_units_and_absolute_ones_do() {
    let (x, axes) = mixed(Kind::Laplace, 6000, 1.0, 1);
    let small: Vec<f64> = x.iter().map(|v| v * 0.01).collect();
    let least = |x: &[f64], given: Value| {
        let w = numbers(&fit(x, 10, given), "components");
        let cosine =
            |row: &[f64], a: usize| row.iter().zip(axes.row(a)).map(|(x, y)| x * y).sum::<f64>().abs();
        w.chunks(10).map(|row| (0..5).map(|a| cosine(row, a)).fold(0.0, f64::max)).fold(1.0, f64::min)
    };
    for variant in [7, 14] {
        let given =
            |scale: &str| json!({"n_components": 5, "variant": variant, "beta": 1.0, "beta_scale": scale});
        assert!(least(&small, given("variance")) > 0.98, "row {variant}");
        assert!(least(&small, given("absolute")) < 0.9, "row {variant}");
        assert!(least(&x, given("absolute")) > 0.98, "row {variant}");
    }
    // With an absolute weight the triangular term rotates the axes more where variances are small, and less the smaller its weight is.
    let given =
        |beta: f64, scale: &str| json!({"n_components": 5, "variant": 24, "beta": beta, "beta_scale": scale});
    let own = |x: &[f64]| least(x, given(1.0, "variance"));
    assert!((own(&x) - own(&small)).abs() < 1e-6);
    assert!(least(&small, given(1.0, "absolute")) < 0.9);
    let [strong, plain, weak] = [4.0, 1.0, 0.1].map(|beta| least(&x, given(beta, "absolute")));
    assert!(own(&x) < plain && strong < plain && plain < weak && weak > 0.998, "{strong} {plain} {weak}");
    let size = (x.iter().map(|v| v * v).sum::<f64>() / x.len() as f64).sqrt();
    let same = least(&x, given(size, "absolute"));
    assert!((same - own(&x)).abs() < 1e-6, "{same} {}", own(&x));
}

#[test]
fn standardized_columns_are_trained_on_as_if_they_had_been_divided_first() {
    let units = [1.0, 1e3, 1e-3, 5.0];
    let x = plain(3000, &[2.0, 1.5, 1.0, 0.7], 10);
    let x: Vec<f64> = x.chunks(4).flat_map(|r| [r[0] + 0.8 * r[1], r[1], r[2] - r[0], r[3]]).collect();
    let odd: Vec<f64> = x.chunks(4).flat_map(|r| (0..4).map(|j| r[j] * units[j] + 3.0 * units[j])).collect();
    let model = |x: &[f64], given: Value, standardize: bool| {
        let mut given = settings(given);
        given.extend(settings(json!({"n_components": 2, "max_epochs": 3, "standardize": standardize})));
        try_fit("sigma-pca", &given, x, 4).unwrap()
    };
    for given in [json!({"variant": 9}), json!({"variant": "rica"}), json!({"variant": "rica", "beta": 0.02})]
    {
        let found = model(&odd, given.clone(), true);
        let divided: Vec<f64> = {
            let noise = numbers(&found, "noise_scale");
            odd.chunks(4).flat_map(|r| (0..4).map(|j| r[j] / noise[j]).collect::<Vec<_>>()).collect()
        };
        let want = model(&divided, given.clone(), false);
        for name in ["components", "scale"] {
            let off = apart(&numbers(&found, name), &numbers(&want, name));
            assert!(off < 1e-6, "{given}, {name}: {off:e}");
        }
        assert!(apart(&encode(&found, &odd), &encode(&want, &divided)) < 1e-5, "{given}");
    }
}

#[test]
fn codes_are_decoded_through_the_nonlinearity_where_that_is_requested() {
    let (x, _) = mixed(Kind::Laplace, 1500, 1.0, 3);
    let x: Vec<f64> = x.iter().enumerate().map(|(i, v)| v + (i % 10) as f64).collect();
    let all = [
        json!({}),
        json!({"a": 4.0, "constraint": "native", "whiten": true}),
        json!({"h": "hard", "a": 2.0, "whiten": true, "standardize": true}),
        json!({"variant": "trained-sigma", "max_epochs": 2, "whiten": true}),
        json!({"variant": "conventional", "max_epochs": 2}),
        json!({"variant": "ema-constant-tanh", "max_epochs": 2}),
    ];
    for given in all {
        let mut given = settings(given);
        given.insert("n_components".into(), 3.into());
        let plain = try_fit("sigma-pca", &given, &x, 10).unwrap();
        given.insert("reconstruct".into(), "nonlinear".into());
        let bent = try_fit("sigma-pca", &given, &x, 10).unwrap();
        let codes = encode(&bent, &x);
        assert_eq!(codes, encode(&plain, &x), "{given:?}");
        let [w, a, scale, center] = ["components", "a", "scale", "mean"].map(|name| numbers(&bent, name));
        let noise = bent.tensor("noise_scale").map_or(vec![1.0; 10], |t| t.f64s());
        let sigma = match given.get("variant").and_then(Value::as_str) {
            Some("trained-sigma") => numbers(&bent, "trained_scale"),
            Some("conventional") => vec![1.0; 3],
            _ => scale.clone(),
        };
        let h = |z: f64, a: f64| match given.get("h").or(given.get("variant")).and_then(Value::as_str) {
            Some("hard") => z.clamp(-a, a),
            Some("ema-constant-tanh") => a * z.tanh(),
            _ => a * (z / a).tanh(),
        };
        let whitened = given.contains_key("whiten");
        let want: Vec<f64> = codes
            .chunks(3)
            .flat_map(|y| {
                let u: Vec<f64> = (0..3)
                    .map(|j| y[j] * if whitened { scale[j] } else { 1.0 })
                    .enumerate()
                    .map(|(j, y)| sigma[j] * h(y / sigma[j], a[j]))
                    .collect();
                (0..10)
                    .map(|c| center[c] + noise[c] * (0..3).map(|j| u[j] * w[j * 10 + c]).sum::<f64>())
                    .collect::<Vec<f64>>()
            })
            .collect();
        assert!(apart(&decode(&bent, &codes), &want) < 1e-12, "{given:?}");
        assert!(apart(&decode(&plain, &codes), &want) > 1e-3, "{given:?}");
        // A single row has the same bits, and single precision agrees up to its rounding errors.
        assert_eq!(decode(&bent, &codes[..3]), decode(&bent, &codes)[..10]);
        let single: Vec<f32> = decode(&bent, &cast::<f32>(&codes));
        assert!(single.iter().zip(&want).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-4));
    }
}
