//! Stability of components over halves of the rows.

use crate::made;
use serde_json::{Map, json};
use unmix::datasets::{Distribution, independent};
use unmix::internal::num::random::Stream;
use unmix::stability::{MIN_AGREEMENT, SIGNIFICANCE_LEVEL, Stability, Trials, Verdict, stability};
use unmix::{AnyRows, Matrix, Model, Rows, Run};

fn tried(x: &Matrix<f64>, k: usize, trials: Trials, seed: u64) -> (Model, Stability) {
    tried_by("pca", x, k, trials, seed)
}

fn tried_by(key: &str, x: &Matrix<f64>, k: usize, trials: Trials, seed: u64) -> (Model, Stability) {
    tried_with(key, x, json!({"n_components": k}), trials, seed)
}

fn tried_with(
    key: &str,
    x: &Matrix<f64>,
    settings: serde_json::Value,
    trials: Trials,
    seed: u64,
) -> (Model, Stability) {
    let mut rows: AnyRows<'_> = Rows::from_slice(x.as_slice(), x.cols()).unwrap().into();
    let settings = settings.as_object().cloned().unwrap_or_else(Map::new);
    let run = Run { seed, ..made::on_threads(1) };
    let model = unmix::fit(key, &settings, &mut rows, &run).unwrap();
    let found = stability(&model, &rows, trials, &run).unwrap();
    verdicts_follow_intervals(&found, model.n_components() == x.cols());
    (model, found)
}

/// Asserts that all verdicts follow from the intervals.
fn verdicts_follow_intervals(found: &Stability, complete: bool) {
    let k = found.halves.len();
    for (j, (low, high)) in found.space_interval.iter().enumerate() {
        let at = format!("{j}: {low} to {high}, {:?}", found.verdicts[j]);
        assert!(0.0 <= *low && *low <= found.space[j] && found.space[j] <= *high && *high <= 1.0, "{at}");
        match &found.verdicts[j] {
            Verdict::Resolved | Verdict::Group(_) => assert!(*low >= MIN_AGREEMENT, "{at}"),
            Verdict::Undecided(_) => assert!(*low < MIN_AGREEMENT && *high >= MIN_AGREEMENT, "{at}"),
            // If the group has all components, its space is trivial and the interval is that of the single direction.
            Verdict::NotResolvable => assert!(*high < MIN_AGREEMENT || complete, "{at}"),
            _ => panic!("{at}"),
        }
        match &found.verdicts[j] {
            Verdict::Resolved => {
                assert_eq!((found.space[j], found.space_interval[j]), (found.halves[j], found.interval[j]));
            }
            Verdict::Group(others) | Verdict::Undecided(others) => {
                assert!(others.is_empty() || !complete || others.len() + 1 < k, "{at}");
            }
            _ => {}
        }
    }
}

#[test]
fn components_of_distinct_variances_are_stable_and_tied_ones_are_not() {
    let variances = [30.0, 8.0, 1.0, 1.0, 1.0, 1.0];
    let data = independent(2000, &[Distribution::Gaussian; 6], &variances, 2).unwrap();
    let (_, found) = tried(&data.x, 6, Trials { restarts: 2, ..Trials::default() }, 0);
    assert!(found.halves[..2].iter().all(|h| *h > 0.99), "{:?}", found.halves);
    // Within four equal variances the axes of two halves differ by an arbitrary rotation.
    assert!(found.halves[2..].iter().all(|h| *h < MIN_AGREEMENT), "{:?}", found.halves);
    assert_eq!((found.in_words(0), found.in_words(1)), ("resolved".to_string(), "resolved".to_string()));
    // All six directions are kept, so the space of the equal variances is the complement of the first two axes, on which the halves
    // agree.
    assert_eq!(found.in_words(2), "resolved as a group with 3, 4, 5");
    assert!(found.index[0] > 0.95 && found.index[4] < 0.8, "{:?}", found.index);
    assert!(found.restarts.is_none(), "an exact solver has the same result for every seed");
    assert!(found.interval.iter().zip(&found.halves).all(|((low, high), h)| low <= h && h <= high));
}

/// Three factors of five columns each, all of the same variance.
fn factors(n: usize, seed: u64) -> Matrix<f64> {
    let draws = Stream::new(seed, 0);
    Matrix::from_fn(n, 15, |i, j| {
        0.8 * draws.normal((i * 20 + j / 5) as u64) + 0.6 * draws.normal((i * 20 + 5 + j) as u64)
    })
}

#[test]
fn rotated_factors_of_equal_variance_are_resolved_and_unrotated_ones_are_a_group() {
    let x = factors(2000, 3);
    let trials = Trials { splits: 10, restarts: 0, ..Trials::default() };
    for (rotation, words) in
        [(json!("varimax"), "resolved"), (json!("oblimin"), "resolved"), (json!(null), "resolved as a group")]
    {
        let (_, found) =
            tried_with("factor-analysis", &x, json!({"n_components": 3, "rotation": rotation}), trials, 0);
        for j in 0..3 {
            let sentence = found.in_words(j);
            assert!(
                sentence.starts_with(words) && (sentence == words) != rotation.is_null(),
                "{rotation}: {sentence}"
            );
        }
    }
}

#[test]
fn separated_subspaces_of_clusters_are_each_resolved_and_form_no_group() {
    let x = unmix::datasets::union_of_subspaces(&[100; 3], 20, &[2, 3, 4], 0.05, 1).unwrap().x;
    let trials = Trials { splits: 4, restarts: 0, ..Trials::default() };
    let (_, found) = tried_with("subspace-clustering", &x, json!({"n_clusters": 3}), trials, 0);
    assert_eq!((0..3).map(|j| found.in_words(j)).collect::<Vec<_>>(), ["resolved"; 3]);
}

/// Without simple structure in the population, columns of noise, no rotated factor is resolved.
#[test]
fn rotated_factors_of_noise_are_hardly_ever_resolved() {
    let trials = Trials { restarts: 0, ..Trials::default() };
    let mut resolved = 0;
    for seed in 0..20 {
        let draws = Stream::new(seed, 1);
        let x = Matrix::from_fn(200, 8, |i, j| draws.normal((i * 8 + j) as u64));
        for rotation in ["varimax", "oblimin"] {
            let given = json!({"n_components": 2, "rotation": rotation});
            let (_, found) = tried_with("factor-analysis", &x, given, trials, seed);
            resolved += found.verdicts.iter().filter(|v| **v == Verdict::Resolved).count();
        }
    }
    assert!(resolved <= 1, "{resolved} of 80");
}

#[test]
fn too_few_rows_make_nothing_stable() {
    let data =
        independent(24, &[Distribution::Gaussian; 8], &[1.3, 1.2, 1.1, 1.0, 1.0, 0.9, 0.8, 0.7], 5).unwrap();
    let (_, found) = tried(&data.x, 3, Trials { restarts: 0, ..Trials::default() }, 1);
    assert!((0..3).all(|j| found.in_words(j) == "not resolvable from these data"), "{:?}", found.halves);
}

#[test]
fn the_same_seed_gives_the_same_numbers_for_any_number_of_threads() {
    let data = independent(500, &[Distribution::Laplace; 4], &[4.0, 3.0, 2.0, 1.0], 3).unwrap();
    let mut rows: AnyRows<'_> = Rows::from_slice(data.x.as_slice(), 4).unwrap().into();
    let model = unmix::fit("pca", &Map::new(), &mut rows, &made::on_threads(1)).unwrap();
    let trials = Trials { splits: 3, restarts: 1, bootstrap: Some(0) };
    let one = stability(&model, &rows, trials, &made::on_threads(1)).unwrap();
    assert_eq!(one, stability(&model, &rows, trials, &made::on_threads(3)).unwrap());
    // Additional restarts do not change the results of halves.
    let more = stability(&model, &rows, Trials { restarts: 3, ..trials }, &made::on_threads(2)).unwrap();
    assert_eq!((one.halves, one.interval, one.space), (more.halves, more.interval, more.space));
}

#[test]
fn rows_with_weights_are_refused() {
    let data = independent(50, &[Distribution::Laplace; 3], &[3.0, 2.0, 1.0], 3).unwrap();
    let mut rows: AnyRows<'_> = Rows::from_slice(data.x.as_slice(), 3).unwrap().into();
    let model = unmix::fit("pca", &Map::new(), &mut rows, &made::on_threads(1)).unwrap();
    let weighted: AnyRows<'_> =
        Rows::from_slice(data.x.as_slice(), 3).unwrap().weighted(vec![1.0; 50]).unwrap().into();
    let refused =
        stability(&model, &weighted, Trials::default(), &made::on_threads(1)).unwrap_err().to_string();
    assert!(refused.starts_with("stability of a decomposition is not possible"), "{refused}");
}

#[test]
fn components_that_are_given_are_refused_before_the_refits() {
    let data = independent(50, &[Distribution::Laplace; 3], &[3.0, 2.0, 1.0], 3).unwrap();
    let mut rows: AnyRows<'_> = Rows::from_slice(data.x.as_slice(), 3).unwrap().into();
    for method in unmix::METHODS.iter().filter(|m| m.tensors().any(|s| s.default != "null")) {
        let identity = Matrix::from_fn(3, 3, |i, j| f64::from(u8::from(i == j)));
        let atoms = unmix::model::Tensor::matrix(&identity, unmix::Dtype::F64);
        let given = [("dictionary".to_string(), atoms)].into();
        let run = made::on_threads(1);
        let model = unmix::fit_given(method.key, &Map::new(), given, &mut rows, &run).unwrap();
        let refused = stability(&model, &rows, Trials::default(), &run).unwrap_err().to_string();
        let beginning = format!(
            "stability of {} is not possible: its dictionary is given, not estimated; compute",
            method.key
        );
        assert!(refused.starts_with(&beginning), "{refused}");
    }
}

/// The number of repeats in which a source is significantly non-Gaussian, a condition for being resolved, and the number in which any
/// source is resolved.
fn false_positives(
    repeats: u64,
    p: usize,
    trials: Trials,
    rows_of: impl Fn(u64) -> Matrix<f64>,
) -> (u64, u64) {
    let (mut significant, mut resolved) = (0, 0);
    for seed in 0..repeats {
        let found = tried_by("ica", &rows_of(seed), p, trials, seed).1;
        significant +=
            u64::from(found.gaussian.iter().any(|p_value| *p_value < SIGNIFICANCE_LEVEL / p as f64));
        resolved += u64::from(found.verdicts.contains(&Verdict::Resolved));
    }
    assert!(resolved <= significant);
    (significant, resolved)
}

/// The expected number of false positives among `n` at rate `SIGNIFICANCE_LEVEL`, plus three standard errors.
fn allowed(n: u64) -> u64 {
    let mean = n as f64 * SIGNIFICANCE_LEVEL;
    (mean + 3.0 * (mean * (1.0 - SIGNIFICANCE_LEVEL)).sqrt()) as u64
}

const ONE: Trials = Trials { splits: 1, restarts: 0, bootstrap: Some(0) };
const TEN: Trials = Trials { splits: 10, restarts: 0, bootstrap: Some(0) };

#[test]
fn gaussian_sources_are_called_resolved_no_more_often_than_stated() {
    for (p, n) in [(2, 300), (3, 150)] {
        let rows =
            |seed| independent(n, &vec![Distribution::Gaussian; p], &vec![1.0; p], 1000 + seed).unwrap().x;
        // The test of Gaussianity uses one split.
        let (significant, _) = false_positives(500, p, ONE, rows);
        assert!(significant <= allowed(500), "{significant} of 500 with {p} columns");
        let (_, resolved) = false_positives(100, p, TEN, rows);
        assert!(resolved <= allowed(100), "{resolved} of 100 with {p} columns");
    }
}

#[test]
fn autocorrelated_gaussian_sources_are_no_more_often_resolved() {
    // Autocorrelated rows like those of a recording: the effective sample size of 1500 rows is about 80.
    let rows = |seed: u64| {
        let draws = Stream::new(seed, 11);
        let mut x = Matrix::zeros(1500, 2);
        for i in 0..1500 {
            for j in 0..2 {
                let before = if i == 0 { 0.0 } else { x[(i - 1, j)] };
                x[(i, j)] = 0.95 * before + draws.normal((2 * i + j) as u64);
            }
        }
        x
    };
    let (significant, _) = false_positives(200, 2, ONE, rows);
    assert!(significant <= allowed(200), "{significant} of 200");
    let (_, one) = tried_by("ica", &rows(0), 2, TEN, 0);
    assert!(one.block_length > 10, "{}", one.block_length);
}

#[test]
fn resolved_components_are_the_true_sources() {
    let cases: [(&[Distribution], usize); 4] = [
        (&[Distribution::Laplace, Distribution::Exponential, Distribution::Uniform], 2000),
        (&[Distribution::Laplace, Distribution::Gaussian, Distribution::Bimodal], 2000),
        (
            &[
                Distribution::Exponential,
                Distribution::Gaussian,
                Distribution::Gaussian,
                Distribution::Laplace,
            ],
            3000,
        ),
        (&[Distribution::Laplace; 5], 5000),
    ];
    for (laws, n) in cases {
        let p = laws.len();
        let data = independent(n, laws, &vec![1.0; p], 3).unwrap();
        let (model, found) =
            tried_by("ica", &data.x, p, Trials { splits: 10, restarts: 2, bootstrap: Some(0) }, 0);
        let components = model.tensor("components").unwrap().to_matrix();
        // For rows with equal variances the sources are orthogonal directions, the rows of the transposed mixing matrix.
        let paired = unmix::metrics::match_rows(&components, &data.mixing.transposed());
        for j in 0..p {
            let gaussian = laws[paired.order[j]] == Distribution::Gaussian;
            let several = laws.iter().filter(|l| **l == Distribution::Gaussian).count() > 1;
            let words = found.in_words(j);
            if gaussian && several {
                assert!(words.starts_with("resolved as a group with"), "{laws:?}: {j} is {words}");
            } else {
                assert_eq!(
                    words, "resolved",
                    "{laws:?}: {j}, halves {:?}, p {:?}",
                    found.halves, found.gaussian
                );
                assert!(paired.cosine[j] > 0.99, "{laws:?}: {j} is resolved and wrong, {}", paired.cosine[j]);
            }
        }
    }
}

#[test]
fn heavy_tails_alone_are_not_stable() {
    // One outlier among a thousand rows: components that separate it are no sources.
    let mut x = independent(1000, &[Distribution::Gaussian; 4], &[1.0; 4], 8).unwrap().x;
    for j in 0..4 {
        x[(500, j)] = 300.0 * [1.0, -0.5, 0.3, 0.7][j];
    }
    let (_, found) = tried_by("ica", &x, 4, TEN, 0);
    let words: Vec<String> = (0..4).map(|j| found.in_words(j)).collect();
    assert!(words.iter().all(|w| w != "resolved"), "{words:?} {:?} {:?}", found.halves, found.gaussian);
}

#[test]
fn too_few_rows_resolve_no_source() {
    for seed in 0..20 {
        let x = independent(30, &[Distribution::Laplace; 5], &[1.0; 5], seed).unwrap().x;
        let (_, found) = tried_by("ica", &x, 5, TEN, seed);
        assert!((0..5).all(|j| found.in_words(j) != "resolved"), "{seed}: {:?}", found.halves);
    }
}
