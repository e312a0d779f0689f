//! First-order conditions at the solution, and consistency between the numbers of a model.

use super::{Case, cases_by_variance};
use crate::made::{encode, numbers};
use crate::naive;
use unmix::Model;

/// The number of components that the data determine: variance above 1e-9 of the first.
fn determined(model: &Model) -> usize {
    let values = numbers(model, "explained_variance");
    values.iter().filter(|v| **v > 1e-9 * values[0]).count()
}

fn axes<'a>(case: &Case, all: &'a [f64]) -> Vec<&'a [f64]> {
    all.chunks_exact(case.p).collect()
}

#[test]
fn components_are_orthonormal() {
    for case in cases_by_variance() {
        let model = case.fit(&case.data::<f64>());
        let all = numbers(&model, "components");
        let w = axes(&case, &all);
        for i in 0..w.len() {
            for j in 0..=i {
                let product = w[i].iter().zip(w[j]).map(|(a, b)| a * b).sum::<f64>();
                let error = (product - f64::from(u8::from(i == j))).abs();
                assert!(error < 1e-13, "{case}: components {i} and {j} are {error:e} from orthonormal");
            }
        }
    }
}

#[test]
fn every_component_is_an_eigenvector_of_the_covariance() {
    for case in cases_by_variance() {
        let x = case.data::<f64>();
        let model = case.fit(&x);
        let (mean, values, all) =
            (naive::mean(&x, case.p), numbers(&model, "explained_variance"), numbers(&model, "components"));
        assert!(crate::made::apart(&mean, &numbers(&model, "mean")) < 1e-13 * 10.0, "{case}: mean");
        for (c, w) in axes(&case, &all).into_iter().enumerate() {
            // C w = X' (X w) / (n - 1), without forming the p x p matrix.
            let mut image = vec![0.0; case.p];
            for row in x.chunks_exact(case.p) {
                let score: f64 = (0..case.p).map(|j| (row[j] - mean[j]) * w[j]).sum();
                (0..case.p).for_each(|j| image[j] += (row[j] - mean[j]) * score / (case.n as f64 - 1.0));
            }
            let residual = (0..case.p).map(|j| (image[j] - values[c] * w[j]).powi(2)).sum::<f64>().sqrt();
            // Backward stable solvers leave a residual of a few eps sqrt(p) times the largest variance.
            let bound = 40.0 * f64::EPSILON * (case.p as f64).sqrt() * values[0];
            assert!(residual <= bound, "{case}: component {c}: residual {residual:e} above {bound:e}");
        }
    }
}

#[test]
fn codes_are_uncorrelated_and_have_the_reported_variances() {
    for case in cases_by_variance() {
        let x = case.data::<f64>();
        let model = case.fit(&x);
        let (k, values) = (model.n_components(), numbers(&model, "explained_variance"));
        if k == 0 {
            continue;
        }
        let codes = encode(&model, &x);
        let c = naive::covariance(&codes, k);
        let rank = determined(&model);
        for i in 0..k {
            for j in 0..=i {
                let want = match (i == j, case.whitens()) {
                    (false, _) => 0.0,
                    (true, true) => f64::from(u8::from(i < rank)),
                    (true, false) => values[i],
                };
                // Whitening divides the rounding errors of codes along the first axes by the standard deviations of the last ones.
                let size = if case.whitens() { values[0] / values[rank - 1] } else { values[0] };
                assert!(
                    (c[i][j] - want).abs() < 1e-12 * size,
                    "{case}: codes {i}, {j}: {} not {want}",
                    c[i][j]
                );
            }
        }
        let totals = naive::mean(&codes, k);
        assert!(totals.iter().all(|m| m.abs() < 1e-12), "{case}: mean codes {totals:?}");
    }
}

#[test]
fn variance_ratio_scale_and_singular_values_are_consistent() {
    for case in cases_by_variance() {
        let x = case.data::<f64>();
        let model = case.fit(&x);
        let values = numbers(&model, "explained_variance");
        let mean = naive::mean(&x, case.p);
        let total = naive::sum(x.iter().enumerate().map(|(i, v)| (v - mean[i % case.p]).powi(2)))
            / (case.n as f64 - 1.0);
        let (ratio, scale) = (numbers(&model, "explained_variance_ratio"), numbers(&model, "scale"));
        let (singular, noise) = (numbers(&model, "singular_values"), numbers(&model, "noise_variance")[0]);
        for c in 0..values.len() {
            assert!((ratio[c] * total - values[c]).abs() < 1e-13 * total, "{case}: share {c}");
            assert!((scale[c] * scale[c] - values[c]).abs() <= 1e-14 * values[c], "{case}: scale {c}");
            let energy = singular[c] * singular[c] / (case.n as f64 - 1.0);
            assert!((energy - values[c]).abs() <= 1e-14 * values[c], "{case}: singular value {c}");
        }
        let k = values.len();
        if k < case.n.min(case.p) {
            let left = total - values.iter().sum::<f64>();
            assert!((noise * (case.p - k) as f64 - left).abs() < 1e-12 * total, "{case}: noise {noise}");
        } else {
            assert_eq!(noise, 0.0, "{case}");
        }
    }
}
