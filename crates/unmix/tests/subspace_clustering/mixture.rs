//! The mixture of probabilistic PCA: the likelihood, its maximum, and the assignment of rows.

use super::{bases, fit, labels, union};
use crate::made::{apart, median, numbers, on_threads, scores, settings, try_fit};
use serde_json::json;
use unmix::data::VecSink;
use unmix::internal::num::factor;
use unmix::method::subspace_clustering::{Algorithm, Dimensions};
use unmix::metrics::clustering_accuracy;
use unmix::{Matrix, Model, Outcome, Rows, Run, SubspaceClustering};

fn spec(k: usize, d: usize) -> SubspaceClustering {
    SubspaceClustering {
        n_clusters: Some(k),
        n_components: Some(Dimensions::Same(d)),
        algorithm: Algorithm::PpcaMixture,
        ..Default::default()
    }
}

fn probabilities(model: &Model, x: &[f64]) -> Vec<f64> {
    let (rows, mut sink) = (Rows::from_slice(x, model.n_features()).unwrap(), VecSink(Vec::new()));
    model.probabilities(&rows, &on_threads(2), &mut sink).unwrap();
    sink.0
}

fn assigned(model: &Model, x: &[f64]) -> Vec<usize> {
    let (rows, mut sink) = (Rows::from_slice(x, model.n_features()).unwrap(), VecSink(Vec::new()));
    model.labels(&rows, &on_threads(2), &mut sink).unwrap();
    sink.0.into_iter().map(|l: f64| l as usize).collect()
}

/// `U' diag(v - s) U + s I` of every part.
fn covariances(model: &Model) -> Vec<Matrix<f64>> {
    let (variances, noises, mut first) = (numbers(model, "variances"), numbers(model, "noise_variance"), 0);
    let each = bases(model).into_iter().zip(noises).map(|(axes, noise)| {
        let own = variances[first..first + axes.rows()].to_vec();
        first += axes.rows();
        Matrix::from_fn(axes.cols(), axes.cols(), |i, j| {
            let along: f64 = (0..axes.rows()).map(|a| axes[(a, i)] * axes[(a, j)] * (own[a] - noise)).sum();
            along + if i == j { noise } else { 0.0 }
        })
    });
    each.collect()
}

/// `log N(x; m, C)` by the inverse and the eigenvalues of `C`.
fn log_normal(x: &[f64], m: &[f64], c: &Matrix<f64>) -> f64 {
    let (values, vectors) = factor::eigh(c).unwrap();
    let p = x.len() as f64;
    let square = |a: usize| {
        let y: f64 = vectors.row(a).iter().zip(x.iter().zip(m)).map(|(v, (x, m))| v * (x - m)).sum();
        y * y / values[a]
    };
    let log_determinant: f64 = values.iter().map(|v| v.ln()).sum();
    -0.5 * (p * std::f64::consts::TAU.ln() + log_determinant + (0..x.len()).map(square).sum::<f64>())
}

#[test]
fn likelihood_and_probabilities_are_those_of_the_definition() {
    let made = union(7, &[1, 3], 60, 0.3, 2);
    for center in [false, true] {
        let model = fit(&SubspaceClustering { center, ..spec(2, 2) }, &made.x);
        let (weights, means) = (numbers(&model, "weights"), model.tensor("means").unwrap().to_matrix());
        assert_eq!(means.as_slice().iter().all(|m| *m == 0.0), !center);
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let covariances = covariances(&model);
        let (found, log_likelihoods) =
            (probabilities(&model, made.x.as_slice()), scores(&model, made.x.as_slice()));
        let assigned = assigned(&model, made.x.as_slice());
        for i in 0..made.x.rows() {
            let joint: Vec<f64> = (0..2)
                .map(|c| weights[c].ln() + log_normal(made.x.row(i), means.row(c), &covariances[c]))
                .collect();
            let likelihood: f64 = joint.iter().map(|l| l.exp()).sum();
            assert!((log_likelihoods[i] - likelihood.ln()).abs() < 1e-9, "row {i}");
            for c in 0..2 {
                assert!((found[2 * i + c] - joint[c].exp() / likelihood).abs() < 1e-9, "row {i}");
            }
            assert_eq!(assigned[i], usize::from(joint[1] > joint[0]), "row {i}");
        }
        assert_eq!(assigned, labels(&model), "rows of the fit");
        let mean = log_likelihoods.iter().sum::<f64>() / log_likelihoods.len() as f64;
        assert!((mean - model.report().objective.last().unwrap()).abs() < 1e-12);
    }
}

#[test]
fn rows_whose_squares_overflow_are_in_the_cluster_of_their_direction() {
    let made = union(7, &[1, 3], 60, 0.3, 2);
    for center in [false, true] {
        let model = fit(&SubspaceClustering { center, ..spec(2, 2) }, &made.x);
        let times = |scale: f64| -> Vec<f64> { made.x.as_slice().iter().map(|x| scale * x).collect() };
        // So far away probabilities are 0 or 1, by the direction alone.
        let (near, want) = (probabilities(&model, &times(1e9)), assigned(&model, &times(1e9)));
        assert!(near.iter().all(|p| *p == 0.0 || *p == 1.0), "center={center}");
        for scale in [1e160, 1e300] {
            let far = times(scale);
            assert_eq!(probabilities(&model, &far), near, "center={center} {scale:e}");
            assert_eq!(assigned(&model, &far), want, "center={center} {scale:e}");
            assert!(
                scores(&model, &far).iter().all(|s| *s == f64::NEG_INFINITY),
                "center={center} {scale:e}"
            );
        }
    }
}

#[test]
fn a_fit_starts_from_all_parameters_of_a_mixture() {
    let made = union(8, &[2, 2, 2], 80, 0.4, 3);
    for center in [false, true] {
        let of = SubspaceClustering { tol: 1e-8, max_iter: 5000, center, ..spec(3, 2) };
        let first = fit(&of, &made.x);
        let mut rows = Rows::from_slice(made.x.as_slice(), 8).unwrap();
        let again = of.fit(&mut rows, &Run { init: Some(&first), ..on_threads(2) }).unwrap();
        // From the axes alone, the first iteration would be less likely than the last one of the model.
        let last = *first.report().objective.last().unwrap();
        assert!(again.report().objective[0] >= last - 1e-9 * last.abs(), "center={center}");
        let (n, n_again) = (first.report().n_iter, again.report().n_iter);
        assert!(n > 3 && n_again <= 1, "center={center}: {n_again} iterations after {n}");
    }
}

#[test]
fn the_likelihood_never_decreases_and_the_first_order_conditions_hold() {
    let made = union(8, &[2, 2, 2], 80, 0.4, 3);
    let model = fit(&SubspaceClustering { tol: 1e-13, max_iter: 5000, center: true, ..spec(3, 2) }, &made.x);
    let objective = &model.report().objective;
    assert!(objective.len() > 3 && objective.windows(2).all(|w| w[1] >= w[0]), "{objective:?}");
    // First-order conditions: weights, means and noise are those of the rows by their probabilities.
    let (p, n) = (probabilities(&model, made.x.as_slice()), made.x.rows());
    let (weights, means) = (numbers(&model, "weights"), model.tensor("means").unwrap().to_matrix());
    for (c, covariance) in covariances(&model).iter().enumerate() {
        let of = |i: usize| p[3 * i + c];
        let count: f64 = (0..n).map(of).sum();
        assert!((count / n as f64 - weights[c]).abs() < 1e-5);
        let mean = |j: usize| (0..n).map(|i| of(i) * made.x[(i, j)]).sum::<f64>() / count;
        let want: Vec<f64> = (0..8).map(mean).collect();
        assert!(apart(means.row(c), &want) < 1e-4, "{c}");
        let square = |i: usize| (0..8).map(|j| (made.x[(i, j)] - want[j]).powi(2)).sum::<f64>();
        let total = (0..n).map(|i| of(i) * square(i)).sum::<f64>() / count;
        let trace: f64 = (0..8).map(|j| covariance[(j, j)]).sum();
        assert!((trace / total - 1.0).abs() < 1e-4, "{c}: {trace} {total}");
    }
}

#[test]
fn one_part_is_probabilistic_pca() {
    let made = union(9, &[3], 200, 0.5, 6);
    let model = fit(&SubspaceClustering { center: true, ..spec(1, 3) }, &made.x);
    let given = settings(json!({"n_components": 3}));
    let ppca = try_fit("ppca", &given, made.x.as_slice(), 9).unwrap();
    assert!((numbers(&model, "noise_variance")[0] / numbers(&ppca, "noise_variance")[0] - 1.0).abs() < 1e-12);
    assert!(apart(&numbers(&model, "bases"), &numbers(&ppca, "components")) < 1e-9);
    assert!(apart(&scores(&model, made.x.as_slice()), &scores(&ppca, made.x.as_slice())) < 1e-9);
}

#[test]
fn clusters_are_found_and_noise_too() {
    for (p, dimensions, each, noise) in
        [(30, &[3, 3, 3][..], 60, 0.1), (9, &[3, 3, 3, 3], 80, 0.02), (30, &[2, 4, 6], 50, 0.05)]
    {
        let made = union(p, dimensions, each, noise, 1);
        let spec = SubspaceClustering {
            n_clusters: Some(dimensions.len()),
            n_components: Some(Dimensions::Each(dimensions.to_vec())),
            ..spec(1, 1)
        };
        let model = fit(&spec, &made.x);
        // Two wrong rows of 180 are .989.
        let found = clustering_accuracy(&made.labels, &labels(&model));
        assert!(found >= 0.985, "{dimensions:?}: {found}");
        for found in numbers(&model, "noise_variance") {
            // Of each * (p - d) squares, at least 240: a standard error of 9 %.
            assert!((found / (noise * noise) - 1.0).abs() < 0.35, "{dimensions:?}: {found}");
        }
    }
}

/// From the clusters of sparse subspace clustering, and with more rows from those of k-subspaces. Rows near the intersection of two planes,
/// which is the origin, are in either.
#[test]
fn three_planes_in_ten_dimensions_are_found_and_the_likelihood_never_decreases() {
    for each in [60, 100, 700] {
        let accuracy = |seed: u64| {
            let made = union(10, &[2, 2, 2], each, 0.1, seed);
            let model = fit(&spec(3, 2), &made.x);
            let report = model.report();
            assert_eq!(report.outcome, Outcome::Converged, "{each} rows of each, seed {seed}");
            let objective = &report.objective;
            assert!(objective.len() > 1, "{each} rows of each, seed {seed}");
            assert!(objective.windows(2).all(|w| w[1] >= w[0]), "{each} rows, seed {seed}: {objective:?}");
            clustering_accuracy(&made.labels, &labels(&model))
        };
        let found: Vec<f64> = (0..5).map(accuracy).collect();
        assert!(median(found.clone()) >= 0.95, "{each} rows of each: {found:?}");
    }
}

#[test]
fn rows_without_noise_and_models_without_probabilities() {
    let made = union(12, &[2, 3], 40, 0.0, 4);
    let model = fit(&spec(2, 3), &made.x);
    assert!(numbers(&model, "noise_variance").iter().all(|v| *v > 0.0));
    assert_eq!(clustering_accuracy(&made.labels, &labels(&model)), 1.0);
    let other = fit(&SubspaceClustering { algorithm: Algorithm::Ssc, ..spec(2, 3) }, &made.x);
    let (rows, mut sink) = (Rows::from_slice(made.x.as_slice(), 12).unwrap(), VecSink(Vec::new()));
    let message = other.probabilities(&rows, &on_threads(1), &mut sink).unwrap_err().to_string();
    assert!(message.contains("algorithm='ppca-mixture'"), "{message}");
    assert!(other.check_scores().is_err() && model.check_scores().is_ok());
    assert_eq!(assigned(&other, made.x.as_slice()), labels(&other));
}
