//! `a="auto"` finds at least as many sources as the better of its two values of `a` alone, for sources of one kind and of several.

use crate::made::{numbers, settings, try_fit};
use serde_json::{Value, json};
use unmix::datasets::Distribution::{self, Arcsine, Exponential, Laplace, Uniform};
use unmix::datasets::{MixedSources, independent};
use unmix::{Matrix, Model, Outcome};

/// `k` sources of equal variance, with the given distributions in turn.
fn tied(n: usize, k: usize, distributions: &[Distribution], seed: u64) -> MixedSources {
    let distributions: Vec<Distribution> = (0..k).map(|j| distributions[j % distributions.len()]).collect();
    independent(n, &distributions, &vec![1.0; k], seed).unwrap()
}

fn fit(key: &str, given: Value, x: &Matrix<f64>) -> Model {
    try_fit(key, &settings(given), x.as_slice(), x.cols()).unwrap_or_else(|e| panic!("{e}"))
}

/// The number of true axes for which some component has a cosine of at least 0.95.
fn found(model: &Model, truth: &Matrix<f64>) -> usize {
    let w = model.tensor("components").unwrap().to_matrix();
    let length = |j: usize| w.row(j).iter().map(|x| x * x).sum::<f64>().sqrt();
    let cosine =
        |j: usize, a: usize| (0..w.cols()).map(|i| w[(j, i)] * truth[(i, a)]).sum::<f64>().abs() / length(j);
    (0..truth.cols()).filter(|&a| (0..w.rows()).any(|j| cosine(j, a) > 0.95)).count()
}

/// Asserts that `a="auto"` finds all sources, in both classes, without a warning that components are Gaussian.
fn all_found(n: usize, k: usize, distributions: &[Distribution], seed: u64) {
    let data = tied(n, k, distributions, seed);
    for (key, given) in [("sigma-pca", json!({"halves": false})), ("ica", json!({"algorithm": "sigma-pca"}))]
    {
        let model = fit(key, given, &data.x);
        let (report, message) = (model.report(), format!("{key}: {n} rows of {k}, {distributions:?}"));
        assert_eq!(found(&model, &data.mixing), k, "{message}");
        assert_eq!(report.outcome, Outcome::Converged, "{message}: {:?}", report.residual);
        let warnings = report.warnings.join("; ");
        assert!(!warnings.contains("nothing beyond PCA"), "{message}: {warnings}");
        assert!(!warnings.contains("cannot be distinguished from Gaussian"), "{message}: {warnings}");
    }
}

#[test]
fn many_tied_sources_of_one_kind_are_all_found() {
    for distribution in [Uniform, Arcsine, Laplace] {
        all_found(8000, 20, &[distribution], 1);
    }
    all_found(8000, 30, &[Uniform], 2);
    all_found(2000, 10, &[Uniform], 3);
}

#[test]
fn many_tied_sources_of_several_kinds_are_all_found() {
    all_found(8000, 20, &[Laplace, Uniform], 1);
    all_found(8000, 30, &[Laplace, Uniform], 2);
    all_found(4000, 18, &[Uniform, Laplace, Laplace, Laplace, Laplace, Laplace], 3);
    all_found(8000, 21, &[Uniform, Arcsine, Exponential], 4);
}

#[test]
fn no_fixed_width_finds_more() {
    // Few rows for the number of columns: during the first sweeps the kind of no component is significant.
    for (n, k, distribution) in
        [(1000, 20, Uniform), (500, 10, Uniform), (1000, 10, Arcsine), (2000, 20, Laplace)]
    {
        for seed in 0..2 {
            let data = tied(n, k, &[distribution], 20 + seed);
            let of = |given: Value| found(&fit("sigma-pca", given, &data.x), &data.mixing);
            let auto = of(json!({"halves": false}));
            let fixed = [0.8, 4.0].map(|a| of(json!({"a": a, "halves": false})));
            assert!(
                auto >= fixed[0].max(fixed[1]),
                "{n} rows of {k}, {distribution:?}: {auto}, and {fixed:?}"
            );
        }
    }
}

#[test]
fn sources_found_in_one_half_and_significant_in_the_other_are_kept() {
    // The test statistic `t` of each source is about 6, not more than the maximum found by a search among as many Gaussian columns.
    let data = tied(3000, 60, &[Laplace], 3);
    let model = fit("sigma-pca", json!({"halves": false}), &data.x);
    assert_eq!(model.report().outcome, Outcome::Converged);
    assert!(found(&model, &data.mixing) >= 59, "{}", found(&model, &data.mixing));
    assert!(numbers(&model, "a").iter().all(|a| *a == 4.0));
}

#[test]
fn the_published_fixed_point_finds_them_too() {
    let data = tied(8000, 20, &[Uniform], 1);
    assert_eq!(found(&fit("sigma-pca", json!({"constraint": "native"}), &data.x), &data.mixing), 20);
}

#[test]
fn few_rows_give_as_many_sources_as_the_better_width() {
    // So few that a test on held-out rows misses some: the least Gaussian rotation of tied axes is returned, without a verdict.
    for (n, k, distribution, most) in [(300, 2, Laplace, 0), (300, 4, Laplace, 2), (250, 3, Uniform, 2)] {
        let mut right = [0usize; 3];
        for seed in 0..30 {
            let data = tied(n, k, &[distribution], seed);
            let settings = [json!({}), json!({"a": 4.0}), json!({"a": 0.8})];
            for (right, mut given) in right.iter_mut().zip(settings) {
                given["halves"] = json!(false);
                *right += found(&fit("sigma-pca", given, &data.x), &data.mixing);
            }
        }
        let [auto, wide, narrow] = right;
        assert!(auto + most >= wide.max(narrow), "{distribution:?} {n} x {k}: {auto} of {wide} and {narrow}");
    }
}

#[test]
fn few_gaussian_rows_keep_the_principal_axes_of_different_variances() {
    // Rotating axes to be as non-Gaussian as possible would move these far away.
    for (n, variances) in [(300, &[4.0, 2.0, 1.0, 0.5][..]), (1000, &[2.0, 1.5, 1.1, 0.8, 0.6])] {
        for seed in 0..5 {
            let distributions = vec![Distribution::Gaussian; variances.len()];
            let data = independent(n, &distributions, variances, seed).unwrap();
            let (model, pca) = (fit("sigma-pca", json!({}), &data.x), fit("pca", json!({}), &data.x));
            let axes = pca.tensor("components").unwrap().to_matrix().transposed();
            assert_eq!(found(&model, &axes), variances.len(), "{n} rows, {variances:?}, seed {seed}");
        }
    }
}

#[test]
fn many_gaussian_columns_keep_their_principal_axes() {
    // A search in so many dimensions finds components that would be significant if tested alone: four standard errors do not suffice.
    for (n, k) in [(8000, 20), (1000, 20), (2000, 30), (3000, 60)] {
        let data = tied(n, k, &[Distribution::Gaussian], 5);
        let model = fit("sigma-pca", json!({"halves": false}), &data.x);
        let pca = fit("pca", json!({}), &data.x);
        assert_eq!(model.report().outcome, Outcome::Completed, "{n} x {k}: {:?}", model.report().residual);
        assert_eq!(found(&model, &pca.tensor("components").unwrap().to_matrix().transposed()), k);
        let warnings = model.report().warnings.join("; ");
        assert!(warnings.contains("nothing beyond PCA"), "{n} x {k}: {warnings}");
    }
}

#[test]
fn a_search_that_ends_at_a_limit_has_not_shown_that_there_is_nothing() {
    for seed in 0..3 {
        let data = tied(600, 6, &[Laplace], seed);
        for (key, given) in [
            ("sigma-pca", json!({})),
            ("sigma-pca", json!({"n_components": 2})),
            ("sigma-pca", json!({"constraint": "native"})),
            ("ica", json!({"algorithm": "sigma-pca"})),
        ] {
            for most in [1, 2, 5] {
                let mut limited = given.clone();
                limited["max_iter"] = json!(most);
                let model = fit(key, limited, &data.x);
                let report = model.report();
                let message = format!("{key} {given}, max_iter={most}, seed {seed}: {:?}", report.warnings);
                assert_eq!(report.outcome, Outcome::MaxIter, "{message}");
                assert!(report.residual.is_some_and(|r| r > report.tol.unwrap()), "{message}");
                assert!(report.n_iter <= most, "{message}");
            }
        }
    }
}
