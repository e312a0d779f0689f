//! The closed-form maximum of the likelihood.

use super::{Plain, score};
use crate::made::{apart, encode, falling, numbers, settings, try_fit, warned};
use serde_json::json;
use unmix::internal::num::random::Stream;
use unmix::internal::num::{Matrix, factor};
use unmix::{Model, datasets};

fn fitted(given: serde_json::Value, x: &[f64], p: usize) -> Model {
    try_fit("ppca", &settings(given), x, p).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn axes_are_those_of_pca_and_variances_have_divisor_n() {
    for (n, p, k) in [(300, 12, 3), (30, 60, 4), (700, 9, 0)] {
        let x = falling(n, p, 3);
        let (found, all) = (fitted(json!({"n_components": k}), &x, p), crate::made::pca(json!({}), &x, p));
        let shrink = (n as f64 - 1.0) / n as f64;
        let values: Vec<f64> = numbers(&all, "explained_variance").iter().map(|v| v * shrink).collect();
        let noise = values[k..].iter().sum::<f64>() / (p - k) as f64;
        assert!((numbers(&found, "noise_variance")[0] / noise - 1.0).abs() < 1e-12, "{n} x {p}");
        assert!(apart(&numbers(&found, "explained_variance"), &values[..k]) < 1e-12 * values[0]);
        assert!(apart(&numbers(&found, "components"), &numbers(&all, "components")[..k * p]) < 1e-9);
        let latent: Vec<f64> = values[..k].iter().map(|v| (v - noise).sqrt()).collect();
        assert!(apart(&numbers(&found, "latent_scale"), &latent) < 1e-9);
        // The maximum log-likelihood by its formula, and as the sum over all rows.
        let log: f64 = values[..k].iter().map(|v| v.ln()).sum::<f64>() + (p - k) as f64 * noise.ln();
        let want = -0.5 * n as f64 * (p as f64 * (2.0 * std::f64::consts::PI).ln() + log + p as f64);
        let (got, direct) = (score(&found, &x, p), Plain::of(&found).log_likelihood(&x));
        assert!(
            (got / want - 1.0).abs() < 1e-12 && (direct / want - 1.0).abs() < 1e-12,
            "{got} {direct} {want}"
        );
    }
}

#[test]
fn no_feasible_change_has_a_higher_likelihood() {
    let (n, p, k) = (200, 8, 3);
    let x = datasets::ppca(n, p, &[9.0, 5.0, 2.0], 0.5, 4).unwrap().x.into_vec();
    let model = fitted(json!({"n_components": k}), &x, p);
    let best = Plain::of(&model);
    let top = best.log_likelihood(&x);
    let draws = Stream::new(17, 0);
    for trial in 0..1000u64 {
        let normal = |i: usize| draws.normal(trial * 1000 + i as u64);
        for size in [1e-3, 1e-2, 0.1] {
            let mut other = best.clone();
            match trial % 4 {
                0 => other.mean.iter_mut().enumerate().for_each(|(j, m)| *m += size * normal(j)),
                1 => other.latent.iter_mut().enumerate().for_each(|(i, l)| *l *= (size * normal(i)).exp()),
                2 => other.noise *= (size * normal(0)).exp(),
                _ => {
                    let moved = Matrix::from_fn(k, p, |i, j| best.axes[(i, j)] + size * normal(i * p + j));
                    other.axes = factor::orthonormal_rows_signed(&moved);
                }
            }
            // The increase for a row, of a mean log-likelihood of about -13.
            let rise = (other.log_likelihood(&x) - top) / n as f64;
            assert!(rise <= 1e-12, "trial {trial}, {size}: {rise:e} above {top}");
        }
    }
}

/// Rows `+-a_i e_i` have the variances `a_i² / 4` along the columns. A tie between components alone leaves their subspace determined.
#[test]
fn equal_variances_of_the_last_component_and_the_noise_give_a_warning() {
    let sizes = [3.0, 2.0, 2.0, 1.0];
    let cell = |i: usize, j: usize| if i / 2 == j { sizes[j] * [1.0, -1.0][i % 2] } else { 0.0 };
    let x: Vec<f64> = (0..8 * 4).map(|at| cell(at / 4, at % 4)).collect();
    for key in ["ppca", "linear-eigengan"] {
        for k in 0..4 {
            let model = try_fit(key, &settings(json!({"n_components": k})), &x, 4).unwrap();
            let tied = warned(&model, "variances 1 and 2 are equal, so which directions are components");
            let warnings = &model.report().warnings;
            assert_eq!((tied, warnings.len()), (k == 2, usize::from(k == 2)), "{key}, {k}: {warnings:?}");
        }
    }
    // Variances that differ by more than rounding errors.
    let near: Vec<f64> =
        x.iter().enumerate().map(|(at, x)| if at % 4 == 1 { x * 1.001 } else { *x }).collect();
    let model = fitted(json!({"n_components": 2}), &near, 4);
    assert!(!warned(&model, "are equal"), "{:?}", model.report().warnings);
}

#[test]
fn codes_are_the_means_of_the_joint_gaussian() {
    let (n, p, k) = (60, 7, 2);
    let x = falling(n, p, 2);
    for given in [json!({"n_components": k}), json!({"n_components": k, "standardize": true})] {
        let model = fitted(given, &x, p);
        let plain = Plain::of(&model);
        let unit = model.tensor("noise_scale").map_or(vec![1.0; p], |t| t.f64s());
        let all: Vec<usize> = (0..p).collect();
        let (values, vectors) = factor::eigh(&plain.covariance(&all)).unwrap();
        let codes = encode(&model, &x);
        for (row, code) in x.chunks_exact(p).zip(codes.chunks_exact(k)) {
            let z: Vec<f64> = (0..p).map(|j| (row[j] - plain.mean[j]) / unit[j]).collect();
            let turned: Vec<f64> = (0..p)
                .map(|j| {
                    (0..p)
                        .map(|i| {
                            let y: f64 = (0..p).map(|l| vectors[(i, l)] * z[l]).sum();
                            vectors[(i, j)] * y / values[i]
                        })
                        .sum()
                })
                .collect();
            for i in 0..k {
                let want: f64 = (0..p).map(|j| plain.latent[i] * plain.axes[(i, j)] * turned[j]).sum();
                assert!((code[i] - want).abs() < 1e-12, "{} not {want}", code[i]);
            }
        }
    }
}

#[test]
fn iterations_reach_the_closed_form() {
    let (n, p, k) = (400, 10, 3);
    let x = datasets::ppca(n, p, &[25.0, 9.0, 4.0], 0.01, 6).unwrap().x.into_vec();
    let closed = fitted(json!({"n_components": k}), &x, p);
    let em = fitted(json!({"n_components": k, "algorithm": "em", "tol": 1e-13}), &x, p);
    assert!(em.report().n_iter < 40, "{} iterations", em.report().n_iter);
    assert!(em.report().objective.windows(2).all(|v| v[1] >= v[0] - 1e-11), "{:?}", em.report().objective);
    for name in ["components", "mean", "explained_variance", "noise_variance"] {
        let (a, b) = (numbers(&em, name), numbers(&closed, name));
        let size = b.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        assert!(apart(&a, &b) < 1e-7 * size, "{name}: {a:?} {b:?}");
    }
    assert!((score(&em, &x, p) - score(&closed, &x, p)).abs() < 1e-6);
}

/// Noise of .0036 of the first variance: EM without expanded parameters takes over 1000 iterations.
#[test]
fn twenty_iterations_reach_the_closed_form_where_noise_is_small() {
    let (n, p, k) = (2000, 10, 3);
    let x = datasets::ppca(n, p, &[25.0, 9.0, 4.0], 0.09, 6).unwrap().x.into_vec();
    let closed = fitted(json!({"n_components": k}), &x, p);
    let em = fitted(json!({"n_components": k, "algorithm": "em", "tol": 0.0, "max_iter": 20}), &x, p);
    assert!(em.report().n_iter <= 20);
    for name in ["latent_scale", "noise_variance"] {
        for (a, b) in numbers(&em, name).iter().zip(&numbers(&closed, name)) {
            assert!((a / b - 1.0).abs() <= 1e-8, "{name}: {a} {b}");
        }
    }
    let apart = score(&closed, &x, p) - score(&em, &x, p);
    assert!(apart.abs() <= 1e-9, "{apart:e}");
}

#[test]
fn sums_and_sparse_rows_give_the_model_of_the_rows() {
    let (n, p) = (300, 6);
    let x = falling(n, p, 5);
    let rows = unmix::AnyRows::F64(unmix::Rows::from_slice(&x, p).unwrap());
    let given = settings(json!({"n_components": 2}));
    let summed = unmix::method::fit_by_sums("ppca", &given, &rows, &unmix::Run::default()).unwrap();
    let whole = fitted(json!({"n_components": 2}), &x, p);
    for name in ["components", "explained_variance", "noise_variance"] {
        assert!(apart(&numbers(&summed, name), &numbers(&whole, name)) < 1e-9, "{name}");
    }
    let merged = summed.merge(&summed, &unmix::Run::default()).unwrap();
    assert_eq!(merged.report().n_samples, 600.0);
    let refused = unmix::method::fit_by_sums(
        "ppca",
        &settings(json!({"algorithm": "em"})),
        &rows,
        &unmix::Run::default(),
    );
    assert!(refused.unwrap_err().to_string().contains("iterations need the rows"));
}

#[test]
fn rows_without_noise_are_refused_unless_it_is_bounded() {
    let (n, p) = (50, 6);
    let codes = falling(n, 2, 1);
    let turn = falling(2, p, 2);
    let x = factor::multiply(&Matrix::from_vec(n, 2, codes), &Matrix::from_vec(2, p, turn)).into_vec();
    for given in [
        json!({"n_components": 2}),
        json!({"n_components": 3}),
        json!({"n_components": 2, "algorithm": "em"}),
    ] {
        let message = try_fit("ppca", &settings(given.clone()), &x, p).unwrap_err().to_string();
        assert!(message.contains("unbounded") && message.contains("noise_floor=1e-8"), "{given}: {message}");
    }
    let floored = fitted(json!({"n_components": 3, "noise_floor": 1e-8}), &x, p);
    assert!(floored.report().warnings.iter().any(|w| w.contains("lower bound")));
    assert_eq!(numbers(&floored, "latent_scale")[2], 0.0);
    assert!(score(&floored, &x, p).is_finite());
    // With as many components as columns, or as rows, no direction is left for the noise.
    for (n, k) in [(50, 6), (4, 4)] {
        let message = try_fit("ppca", &settings(json!({"n_components": k})), &falling(n, 6, 1), 6);
        assert!(message.unwrap_err().to_string().contains("components must be fewer than both"), "{n} {k}");
    }
    let one = try_fit("ppca", &settings(json!({})), &falling(9, 1, 1), 1).unwrap_err().to_string();
    assert!(one.contains("n_features=1"), "{one}");
    // Fewer rows than columns, but more than components.
    let wide = fitted(json!({"n_components": 5}), &falling(40, 100, 1), 100);
    assert!(numbers(&wide, "noise_variance")[0] > 0.0);
}

#[test]
fn the_number_of_components_is_that_of_bic() {
    let sample = datasets::ppca(500, 12, &[9.0, 7.0, 5.0, 3.0], 0.5, 8).unwrap();
    let model = fitted(json!({}), sample.x.as_slice(), 12);
    assert_eq!(model.n_components(), 4);
    // At least one component is fitted, also to noise alone.
    let noise = datasets::ppca(500, 6, &[], 1.0, 8).unwrap();
    assert_eq!(fitted(json!({}), noise.x.as_slice(), 6).n_components(), 1);
}

#[test]
fn rows_drawn_from_the_model_have_its_moments() {
    let x = falling(300, 5, 2);
    let model = fitted(json!({"n_components": 2, "standardize": true}), &x, 5);
    let density = model.density().unwrap();
    let n = 40_000;
    let drawn = density.sample(n, 3);
    let (mean, covariance) = (crate::naive::mean(&drawn, 5), crate::naive::covariance(&drawn, 5));
    let want = density.covariance().unwrap();
    for i in 0..5 {
        // The bound is five standard errors.
        let spread = want[(i, i)].sqrt();
        assert!((mean[i] - density.mean[i]).abs() < 5.0 * spread / (n as f64).sqrt(), "mean {i}");
        for j in 0..=i {
            let size = spread * want[(j, j)].sqrt() * (2.0 / n as f64).sqrt();
            assert!((covariance[i][j] - want[(i, j)]).abs() < 5.0 * size, "{i}, {j}");
        }
    }
    assert_eq!(drawn[..10], density.sample(2, 3)[..]);
}

#[test]
fn a_column_with_nearly_all_variance_gives_a_warning_where_the_number_is_selected() {
    let draws = Stream::new(11, 0);
    let units = [300.0, 10.0, 1.0];
    let whole: Vec<f64> = (0..150 * 3).map(|at| units[at % 3] * draws.normal(at as u64)).collect();
    let column = "column 0 has 99 %";
    let model = |x: &[f64], given: serde_json::Value| try_fit("ppca", &settings(given), x, 3).unwrap();
    for seed in 0..6 {
        // Without gaps first.
        let x = if seed == 0 { whole.clone() } else { super::with_gaps(&whole, 0.05, seed) };
        let found = model(&x, json!({}));
        let warnings = &found.report().warnings;
        assert!(warned(&found, column), "{seed}: {warnings:?}");
        let given = model(&x, json!({"n_components": 1}));
        assert!(!warned(&given, column), "{seed}");
        let scaled = model(&x, json!({"standardize": true}));
        assert_eq!((scaled.n_components(), warned(&scaled, column)), (1, false), "{seed}");
    }
}
