//! Rows without independent sources, and fewer sources than columns: the fit keeps the directions that exist and warns of the rest.

use super::made::{fit, laplace, mix, mixed_kinds, mixing};
use crate::made::{falling, settings, try_fit, warned};
use serde_json::{Value, json};
use unmix::{Error, Matrix, Model};

pub(super) fn every_algorithm() -> Vec<(&'static str, Value)> {
    vec![
        ("ica", json!({})),
        ("ica", json!({"algorithm": "fastica"})),
        ("ica", json!({"algorithm": "fastica", "orthogonalization": "deflation"})),
        ("ica", json!({"ortho": false, "extended": true})),
        ("ica", json!({"algorithm": "infomax", "max_iter": 100})),
        ("ica", json!({"algorithm": "easi"})),
        ("ica", json!({"algorithm": "sigma-pca"})),
        ("fastica", json!({})),
        ("fastica", json!({"algorithm": "deflation"})),
    ]
}

fn largest(model: &Model, name: &str) -> f64 {
    crate::made::numbers(model, name).iter().fold(0.0, |m, x| m.max(x.abs()))
}

#[test]
fn the_rank_is_found_and_as_many_sources_are_kept() {
    let (n, k, p) = (2000, 3, 8);
    let a = mixing(p, k, 1);
    let x = mix(&laplace(n, k, 1), &a);
    for (key, given) in every_algorithm() {
        let model = fit(key, given.clone(), &x, p);
        assert_eq!(model.n_components(), k, "{key} {given}");
        assert!(warned(&model, "3 of 8 sources"), "{key} {given}: {:?}", model.report().warnings);
        assert!(largest(&model, "components") < 100.0, "{key} {given}");
        assert!(super::made::amari(&super::made::gain(&model, &a)) < 0.05, "{key} {given}");
    }
}

#[test]
fn single_precision_warns_of_directions_that_only_double_precision_resolves() {
    let (n, k) = (3000, 4);
    // The column of the mixing matrix for the last source is multiplied by 1e-4.
    let mut a = mixing(k, k, 2);
    (0..k).for_each(|i| a.row_mut(i)[3] *= 1e-4);
    let x = mix(&laplace(n, k, 2), &a);
    let model = super::made::fit_f32("ica", json!({}), &x, k);
    assert_eq!(model.n_components(), 3);
    assert!(
        warned(&model, "3 of 4 sources") && warned(&model, "double precision"),
        "{:?}",
        model.report().warnings
    );
    let model = fit("ica", json!({}), &x, k);
    assert_eq!(model.n_components(), 4);
    assert!(model.report().warnings.is_empty(), "{:?}", model.report().warnings);
}

#[test]
fn a_duplicated_channel_removes_one_source_and_a_constant_one_has_no_loadings() {
    let (n, p) = (1500, 5);
    let mut x = mix(&mixed_kinds(n, p, 2), &mixing(p, p, 2));
    x.chunks_exact_mut(p).for_each(|row| row[4] = row[1]);
    for (key, given) in every_algorithm() {
        let model = fit(key, given.clone(), &x, p);
        assert_eq!(model.n_components(), 4, "{key} {given}");
        let m = model.tensor("mixing").unwrap().to_matrix();
        assert!((0..4).all(|i| (m[(1, i)] - m[(4, i)]).abs() < 1e-9), "{key} {given}");
    }
    x.chunks_exact_mut(p).for_each(|row| row[4] = 7.5);
    for (key, given) in every_algorithm() {
        let model = fit(key, given.clone(), &x, p);
        let (m, e) =
            (model.tensor("mixing").unwrap().to_matrix(), model.tensor("components").unwrap().to_matrix());
        assert!((0..4).all(|i| m[(4, i)] == 0.0 && e[(i, 4)] == 0.0), "{key} {given}");
        assert_eq!((model.report().n_constant, model.n_components()), (1, 4), "{key} {given}");
        assert!(
            warned(&model, "1 of 5 columns does not vary (column 4); its"),
            "{:?}",
            model.report().warnings
        );
    }
}

#[test]
fn fewer_samples_than_channels_leave_one_source_fewer_than_samples() {
    let x = falling(12, 40, 3);
    for (key, given) in every_algorithm() {
        let model = fit(key, given.clone(), &x, 40);
        assert_eq!(model.n_components(), 11, "{key} {given}");
        assert!(largest(&model, "components") < 1e3, "{key} {given}: {}", largest(&model, "components"));
        assert!(warned(&model, "are few for"), "{key} {given}");
    }
}

#[test]
fn gaussian_sources_give_a_warning() {
    let s = unmix::internal::num::random::Stream::new(3, 0);
    let (n, k) = (4000, 5);
    let white = Matrix::from_fn(n, k, |i, j| s.normal((i * k + j) as u64));
    let two = {
        let mut all = laplace(n, k, 3);
        (0..n).for_each(|i| (all[(i, 1)], all[(i, 3)]) = (white[(i, 1)], white[(i, 3)]));
        all
    };
    let one = {
        let mut all = laplace(n, k, 3);
        (0..n).for_each(|i| all[(i, 1)] = white[(i, 1)]);
        all
    };
    for (key, given) in every_algorithm() {
        let model = |sources: &Matrix<f64>| fit(key, given.clone(), &mix(sources, &mixing(k, k, 3)), k);
        assert!(
            warned(&model(&white), "5 of 5 sources cannot be distinguished"),
            "{key} {given}: {:?}",
            model(&white).report()
        );
        assert!(
            warned(&model(&two), "2 of 5 sources cannot be distinguished"),
            "{key} {given}: {:?}",
            model(&two).report().warnings
        );
        let consequence =
            "ICA does not separate Gaussian sources, so these are defined only up to a rotation among them";
        assert!(warned(&model(&two), consequence), "{key} {given}");
        assert!(!warned(&model(&one), "cannot be distinguished"), "{key} {given}");
    }
}

#[test]
fn clipped_and_flat_recordings_are_fitted() {
    let (n, p) = (3000, 4);
    let mut x = mix(&laplace(n, p, 4), &mixing(p, p, 4));
    x.iter_mut().for_each(|v| *v = v.clamp(-0.8, 0.8));
    // One channel was off during the first half of the recording.
    x.chunks_exact_mut(p).take(n / 2).for_each(|row| row[2] = 0.0);
    for (key, given) in every_algorithm() {
        let model = fit(key, given.clone(), &x, p);
        assert!(largest(&model, "components") < 100.0 && model.n_components() == 4, "{key} {given}");
    }
}

#[test]
fn large_means_and_small_units_change_nothing() {
    let (n, p) = (2000, 4);
    let x = mix(&laplace(n, p, 5), &mixing(p, p, 5));
    let plain = fit("ica", json!({}), &x, p);
    let moved: Vec<f64> = x.iter().map(|v| 1e6 + v).collect();
    let small: Vec<f64> = x.iter().map(|v| 1e-9 * v).collect();
    let own = super::made::components(&plain);
    let shifted = super::made::components(&fit("ica", json!({}), &moved, p));
    assert!(crate::made::apart(&own, &shifted) < 1e-4);
    let scaled = super::made::components(&fit("ica", json!({}), &small, p));
    assert!(own.iter().zip(&scaled).all(|(a, b)| (a - 1e-9 * b).abs() < 1e-6));
}

#[test]
fn settings_that_exclude_each_other_are_refused_with_what_would_work() {
    let x = falling(50, 5, 1);
    let refused = |key: &str, given: Value| try_fit(key, &settings(given), &x, 5).unwrap_err();
    for (key, given, words) in [
        ("ica", json!({"n_components": 6}), "choose a number from 1 to 5"),
        ("ica", json!({"n_components": 0}), "choose a number from 1 to 5"),
        ("ica", json!({"n_components": 1.5}), "share"),
        ("ica", json!({"n_components": "mle"}), "rules are available in pca only"),
        (
            "fastica",
            json!({"n_components": "mle"}),
            "n_components must be a positive integer, a share of the variance between 0 and 1, or null, got 'mle'",
        ),
        ("ica", json!({"ortho": false, "fun": "cube"}), "choose fun='logcosh'"),
        ("ica", json!({"algorithm": "sigma-pca", "whiten": false}), "whitens the data"),
        ("ica", json!({"algorithm": "picrd"}), "did you mean 'picard'?"),
        (
            "ica",
            json!({"w_init": [[1, 0], [0, 1]]}),
            "must be a 5 x 5 matrix, with one row for each of 5 sources, got 2 x 2",
        ),
        ("ica", json!({"w_init": [[1, 0, 2], [0, 1, 3]]}), "as many rows as columns"),
        ("ica", json!({"w_init": "no"}), "rows of numbers"),
        ("ica", json!({"whiten": true}), "unit-variance"),
        ("ica", json!({"extended": 3}), "true, false, or null"),
        ("ica", json!({"tol": "small"}), "a number, or null"),
        ("ica", json!({"n_init": 0}), "n_init must be at least 1, got 0"),
        (
            "ica",
            json!({"subsample": 5}),
            "subsample must be 0 or more than n_components, which is 5 for these rows, got 5; choose at least 6, or 0 for all rows",
        ),
        ("ica", json!({"subsample": 1, "algorithm": "fastica", "n_components": 2}), "choose at least 3,"),
        ("ica", json!({"subsample": 4, "algorithm": "infomax"}), "choose at least 6,"),
        ("fastica", json!({"fun_args": {"alpha": 0.5}}), "alpha must be in [1,2]"),
        ("fastica", json!({"whiten": true}), "arbitrary-variance"),
    ] {
        let e = refused(key, given.clone());
        assert!(matches!(e, Error::Setting { .. }), "{given}: {e:?}");
        assert!(e.to_string().contains(words), "{given}: {e}");
    }
    let clipped = fit("fastica", json!({"n_components": 9}), &x, 5);
    assert!(
        clipped.n_components() == 5 && warned(&clipped, "n_components is too large: it will be set to 5")
    );
}

#[test]
fn a_subsample_of_all_rows_is_none_and_one_that_is_not_used_gives_a_warning() {
    let x = mix(&laplace(400, 3, 5), &mixing(3, 3, 5));
    let found = |given: Value| fit("ica", given, &x, 3);
    let all = super::made::components(&found(json!({"subsample": 0})));
    for m in [400, 1000] {
        assert_eq!(super::made::components(&found(json!({"subsample": m}))), all, "{m}");
    }
    let unused = "subsample=100 has no effect here";
    for given in [
        json!({"algorithm": "easi", "subsample": 100}),
        json!({"ortho": false, "whiten": false, "subsample": 100}),
        json!({"algorithm": "infomax", "w_init": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "subsample": 100}),
    ] {
        let model = found(given.clone());
        assert!(warned(&model, unused), "{given}: {:?}", model.report().warnings);
    }
    for given in [json!({"subsample": 100}), json!({"ortho": false, "subsample": 100})] {
        assert!(!warned(&found(given.clone()), unused), "{given}");
    }
}

#[test]
fn a_time_limit_ends_a_search_with_a_message() {
    let x = mix(&mixed_kinds(5000, 6, 1), &mixing(6, 6, 1));
    let run = unmix::Run { max_seconds: Some(0.0), ..unmix::Run::default() };
    for (key, given) in [("ica", json!({})), ("ica", json!({"ortho": false})), ("fastica", json!({}))] {
        let mut rows = unmix::AnyRows::F64(unmix::Rows::from_slice(&x, 6).unwrap());
        let model = unmix::fit(key, &settings(given), &mut rows, &run).unwrap();
        assert_eq!((model.report().outcome, model.report().n_iter), (unmix::Outcome::Time, 0));
    }
}
