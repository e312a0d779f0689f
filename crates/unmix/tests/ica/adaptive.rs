//! Contrasts that are fitted to the densities of the sources.

use super::made::{amari, components, fit, gain, mix, mixing};
use crate::made::{apart, median, settings};
use serde_json::{Value, json};
use unmix::datasets::{Distribution, independent};
use unmix::internal::num::random::Stream;
use unmix::{AnyRows, Matrix, Outcome, Rows, Run};

fn made(distributions: &[Distribution], n: usize, seed: u64) -> Matrix<f64> {
    independent(n, distributions, &vec![1.0; distributions.len()], seed).unwrap().sources
}

/// Mean over pairs of sources of the squared entries of the gain matrix beside the largest of each row, times the number of rows.
fn error(given: &serde_json::Value, distribution: Distribution) -> f64 {
    let (n, k, seeds) = (8000, 5, 20);
    let mut sum = 0.0;
    for seed in 0..seeds {
        let a = mixing(k, k, seed);
        let gain = gain(&fit("ica", given.clone(), &mix(&made(&[distribution; 5], n, seed), &a), k), &a);
        for i in 0..k {
            let most = gain.row(i).iter().fold(0.0f64, |m, x| m.max(x.abs()));
            sum += gain.row(i).iter().map(|x| (x / most).powi(2)).sum::<f64>() - 1.0;
        }
    }
    sum * n as f64 / (seeds as usize * k * (k - 1)) as f64
}

#[test]
fn errors_are_near_the_bound_of_cramer_and_rao() {
    // Fisher information of location of a source of variance 1: the mean square of its score function. That of the Laplace distribution
    // is sqrt(2) or -sqrt(2), so its mean square is 2.
    let mode = |y: f64, m: f64, s: f64| (-0.5 * ((y - m) / s).powi(2)).exp() / s / 5.013_256_549_262_001;
    let size = (0.95f64 * 0.95 + 0.31 * 0.31).sqrt();
    let (m, s) = (0.95 / size, 0.31 / size);
    let step = 1e-3;
    let of_bimodal: f64 = (-4000..4000)
        .map(|i| f64::from(i) * step)
        .map(|y| {
            let (a, b) = (mode(y, -m, s), mode(y, m, s));
            let slope = -((y + m) * a + (y - m) * b) / (s * s);
            step * slope * slope / (a + b)
        })
        .sum();
    for (distribution, kappa) in [(Distribution::Laplace, 2.0), (Distribution::Bimodal, of_bimodal)] {
        // Asymptotic bounds by Tichavský, Koldovský & Oja 2006, for arbitrary unmixing matrices and for rotations of whitened rows.
        let bound = kappa / (kappa * kappa - 1.0);
        let rotations = 0.5 / (kappa - 1.0) + 0.25;
        let free = error(&json!({"fun": "adaptive", "ortho": false}), distribution);
        let turned = error(&json!({"fun": "adaptive"}), distribution);
        assert!(free > 0.8 * bound && free < 1.3 * bound, "{distribution:?}: {free}, bound {bound}");
        assert!((turned / rotations - 1.0).abs() < 0.25, "{distribution:?}: {turned} instead of {rotations}");
    }
}

#[test]
fn sources_of_all_kinds_are_nearer_to_the_truth_than_by_any_fixed_contrast() {
    let kinds = [
        Distribution::Laplace,
        Distribution::Uniform,
        Distribution::BernoulliGaussian,
        Distribution::Student(6),
        Distribution::Exponential,
        Distribution::Bimodal,
        Distribution::GaussianMixture(7),
        Distribution::GaussianMixture(4),
    ];
    let far = |given: serde_json::Value| {
        let of = |seed| {
            let a = mixing(8, 8, seed);
            amari(&gain(&fit("ica", given.clone(), &mix(&made(&kinds, 5000, seed), &a), 8), &a))
        };
        median((0..3).map(of).collect())
    };
    let fixed =
        ["logcosh", "exp", "cube"].map(|fun| far(json!({"fun": fun}))).into_iter().fold(1.0, f64::min);
    let loose = far(json!({"ortho": false, "extended": true}));
    let (turned, free) = (far(json!({"fun": "adaptive"})), far(json!({"fun": "adaptive", "ortho": false})));
    assert!(turned < 0.9 * fixed, "{turned}, by a fixed contrast {fixed}");
    assert!(free < 0.75 * fixed.min(loose), "{free}, by a fixed contrast {fixed}, and {loose}");
}

#[test]
fn adaptive_contrasts_converge_in_both_precisions() {
    let a = mixing(5, 5, 3);
    let x = mix(&super::made::mixed_kinds(4000, 5, 3), &a);
    for ortho in [true, false] {
        let given = json!({"fun": "adaptive", "ortho": ortho});
        let model = fit("ica", given.clone(), &x, 5);
        let report = model.report();
        assert_eq!((report.outcome, report.settings["fun"].as_str()), (Outcome::Converged, Some("adaptive")));
        assert_eq!(report.solver, if ortho { "picard-o" } else { "picard" });
        assert!(report.residual.unwrap() <= 1e-6);
        assert!(report.objective.windows(2).all(|v| v[1] <= v[0]), "{:?}", report.objective);
        let single = super::made::fit_f32("ica", given, &x, 5);
        assert_eq!(single.report().outcome, Outcome::Converged);
        let size = components(&model).iter().fold(0.0f64, |m, v| m.max(v.abs()));
        assert!(apart(&components(&single), &components(&model)) < 3e-3 * size);
    }
}

#[test]
fn where_no_score_function_can_be_fitted_the_fixed_contrast_is_used() {
    // The score function of Gaussian sources is linear, which separates nothing; with 40 rows a fitted contrast would overfit.
    let s = Stream::new(1, 0);
    let gaussian = Matrix::from_fn(2000, 3, |i, j| s.normal((3 * i + j) as u64));
    for x in [
        gaussian,
        made(&[Distribution::Laplace; 3], 40, 2),
        made(&[Distribution::Gaussian, Distribution::Gaussian, Distribution::Laplace], 3000, 4),
    ] {
        for ortho in [true, false] {
            let model = fit("ica", json!({"fun": "adaptive", "ortho": ortho}), x.as_slice(), 3);
            let sources = super::made::sources(&model, x.as_slice());
            for j in 0..3 {
                let n = sources.rows() as f64;
                let variance = (0..sources.rows()).map(|i| sources[(i, j)].powi(2)).sum::<f64>() / n;
                assert!((variance - 1.0).abs() < 1e-8, "{variance}");
            }
            let mixing = model.tensor("mixing").unwrap().f64s();
            assert!(mixing.iter().all(|m| m.abs() < 3.0), "{mixing:?}");
        }
    }
}

#[test]
fn fastica_refuses_adaptive_contrasts_and_algorithms_with_fixed_nonlinearities_ignore_them_with_a_warning() {
    let x = made(&[Distribution::Laplace; 2], 500, 1);
    let on = |given: Value| {
        let mut rows: AnyRows<'_> = Rows::from_slice(x.as_slice(), 2).unwrap().into();
        unmix::fit("ica", &settings(given), &mut rows, &Run::default())
    };
    let said = on(json!({"fun": "adaptive", "algorithm": "fastica"})).unwrap_err().to_string();
    assert!(said.contains("only algorithm='picard' fits contrasts"), "{said}");
    for algorithm in ["infomax", "easi", "sigma-pca"] {
        for extended in [Value::Null, json!(true)] {
            let plain = on(json!({"algorithm": algorithm, "extended": extended})).unwrap();
            for fun in ["adaptive", "exp", "cube", "skew"] {
                let given = json!({"fun": fun, "algorithm": algorithm, "extended": extended});
                let model = on(given.clone()).unwrap();
                let words = format!(
                    "fun='{fun}' has no effect here: fun is used only with algorithm='picard' or 'fastica'"
                );
                assert!(crate::made::warned(&model, &words), "{given}: {:?}", model.report().warnings);
                assert_eq!(model.tensors(), plain.tensors(), "{given}");
            }
        }
    }
}

#[test]
fn an_incremental_fit_ignores_contrast_and_units_with_a_warning() {
    let x = made(&[Distribution::Laplace; 2], 500, 1);
    let rows: AnyRows<'_> = Rows::from_slice(x.as_slice(), 2).unwrap().into();
    let on =
        |given: Value| unmix::partial_fit("ica", &settings(given), None, &rows, &Run::default()).unwrap();
    let plain = on(json!({"algorithm": "easi"}));
    for (name, value) in [("fun", json!("exp")), ("standardize", json!(true))] {
        let model = on(json!({"algorithm": "easi", name: value}));
        let shown = value.as_str().map_or("true".into(), |text| format!("'{text}'"));
        let words = format!("{name}={shown} has no effect here");
        assert!(crate::made::warned(&model, &words), "{:?}", model.report().warnings);
        assert_eq!(model.tensors(), plain.tensors(), "{name}");
    }
}
