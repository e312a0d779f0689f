//! Sample weights: supported, or refused with one message, by typed fits and by fits by name alike.

use super::every_case;
use crate::made::{apart, falling, fit_any, numbers, settings, tables};
use serde_json::json;
use std::collections::BTreeSet;
use unmix::datasets::{Distribution, independent};
use unmix::{AnyRows, Error, Model, Outcome, Rows, Run};

/// Rows, integer weights, and the rows repeated by their weights.
fn rows(n: usize, p: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let x = falling(n, p, 7);
    let weights: Vec<f64> = (0..n).map(|i| [1.0, 2.0, 0.0, 1.0][i % 4]).collect();
    let repeated = x.chunks_exact(p).zip(&weights).flat_map(|(row, w)| row.repeat(*w as usize)).collect();
    (x, weights, repeated)
}

#[test]
fn a_weight_of_two_is_the_row_twice_or_weights_are_refused() {
    let (mut declared, mut counting) = (BTreeSet::new(), BTreeSet::new());
    for case in every_case() {
        let (x, weights, repeated) = rows(case.n, case.p);
        let weighted = || Rows::from_slice(&x, case.p).unwrap().weighted(&weights[..]).unwrap();
        let run = Run::default();
        let given = settings(case.given.clone());
        let spec = case.method.specify(&given, tables(case.method.key, case.p)).unwrap();
        let by_key = fit_any(case.method.key, &given, &mut unmix::AnyRows::F64(weighted()), &run);
        let typed = spec.fit_f64(&mut weighted(), &run);
        let single: Vec<f32> = x.iter().map(|&v| v as f32).collect();
        let narrow = Rows::from_slice(&single, case.p).unwrap().weighted(&weights[..]).unwrap();
        let narrow = spec.fit_f32(&mut { narrow }, &run);
        if case.method.accepts.weights {
            declared.insert(case.method.key);
            if by_key.is_ok() && typed.is_ok() {
                counting.insert(case.method.key);
            }
            let plain = spec.fit_f64(&mut Rows::from_slice(&repeated, case.p).unwrap(), &run).unwrap();
            for found in [by_key, typed] {
                counted(&case, found, &plain, repeated.len() / case.p);
            }
            continue;
        }
        for found in [by_key, typed, narrow] {
            match found {
                Err(Error::Unsupported { asked, .. }) => {
                    assert_eq!(asked, format!("{} of rows with weights", case.method.key))
                }
                other => panic!("{case}: {:?}", other.map(|m| m.report().clone())),
            }
        }
    }
    assert_eq!(counting, declared, "methods with no case that supports weights");
}

/// The weighted fit equals that of repeated rows, or its error names the setting that does not support weights.
fn counted(case: &super::Case, found: unmix::Result<Model>, plain: &Model, n: usize) {
    let model = match found {
        Ok(model) => model,
        Err(Error::Unsupported { found, remedy, .. }) => {
            return assert!(!found.is_empty() && !remedy.is_empty(), "{case}");
        }
        Err(other) => panic!("{case}: {other:?}"),
    };
    assert_eq!(model.report().n_samples, n as f64, "{case}");
    if ["code_moments", "layers.0.code_moments"].iter().any(|name| model.tensor(name).is_some()) {
        // Random numbers of these settings depend on the index of a row, which changes where rows are repeated.
        let random =
            ["dropout", "input_noise", "batch_size"].iter().any(|name| case.given.get(*name).is_some());
        let (a, b) = (numbers(&model, "components"), numbers(plain, "components"));
        let size = b.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        return assert!(random || apart(&a, &b) <= 1e-6 * size, "{case}: {a:?}\n{b:?}");
    }
    let by_independence = !["sigma-pca", "factor-analysis"].contains(&case.method.key);
    if !case.by_variance && model.tensor("mixing").is_some() && by_independence {
        return the_same_sources(case, &model, plain);
    }
    let name = ["explained_variance", "scale", "component_variance"]
        .into_iter()
        .find(|n| plain.tensor(n).is_some())
        .unwrap();
    let (a, b) = (numbers(&model, name), numbers(plain, name));
    let size = b.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    assert!(a.len() == b.len() && apart(&a, &b) <= 1e-6 * size, "{case}: {a:?}\n{b:?}");
}

/// Sources that the data determine are those of the fit of repeated rows. Starts are chosen on a subset of rows, which differs between
/// the two, so the last digits may differ, and all of them where no source is determined.
fn the_same_sources(case: &super::Case, model: &Model, plain: &Model) {
    let (a, b) =
        (model.tensor("components").unwrap().to_matrix(), plain.tensor("components").unwrap().to_matrix());
    assert_eq!((a.rows(), a.cols()), (b.rows(), b.cols()), "{case}");
    if !(model.report().outcome == Outcome::Converged && plain.report().outcome == Outcome::Converged) {
        return;
    }
    let sizes = (numbers(model, "component_variance"), numbers(plain, "component_variance"));
    let total = |v: &[f64]| v.iter().sum::<f64>();
    assert!((total(&sizes.0) / total(&sizes.1) - 1.0).abs() < 0.2, "{case}: {sizes:?}");
}

/// Rows of independent sources, their weights, and the rows repeated by their weights.
fn sources(n: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let laws =
        [Distribution::Laplace, Distribution::Uniform, Distribution::Exponential, Distribution::Bimodal];
    let mut x = independent(n, &laws, &[4.0, 3.0, 2.0, 1.0], 3).unwrap().x.into_vec();
    let weights: Vec<f64> = (0..n).map(|i| [1.0, 3.0, 0.0, 1.0, 2.0][i % 5]).collect();
    let repeated = x.chunks_exact(4).zip(&weights).flat_map(|(row, w)| row.repeat(*w as usize)).collect();
    // Rows of weight 0 may have missing cells.
    (0..n).filter(|i| weights[*i] == 0.0).for_each(|i| x[4 * i + 1] = f64::NAN);
    (x, weights, repeated)
}

#[test]
fn sources_of_weighted_rows_are_those_of_repeated_rows() {
    let (x, weights, repeated) = sources(4000);
    let run = Run::default();
    for (key, given) in [
        ("ica", json!({})),
        ("ica", json!({"ortho": false, "extended": true})),
        ("ica", json!({"algorithm": "fastica"})),
        ("ica", json!({"algorithm": "fastica", "orthogonalization": "deflation"})),
        ("ica", json!({"algorithm": "sigma-pca"})),
        ("ica", json!({"fun": "exp", "n_components": 3})),
        ("ica", json!({"fun": "cube", "subsample": 500})),
        ("ica", json!({"fun": "adaptive"})),
        ("ica", json!({"n_components": 2})),
        ("ica", json!({"standardize": true, "order": "kurtosis"})),
        ("fastica", json!({})),
        ("fastica", json!({"algorithm": "deflation", "fun": "exp"})),
        ("rica", json!({"beta": 0.5})),
        ("rica", json!({"contrast": "smooth-l1"})),
        ("rica", json!({"whiten": false})),
        ("complete-dictionary", json!({})),
        ("complete-dictionary", json!({"n_components": 2, "refine": true})),
        ("complete-dictionary", json!({"algorithm": "deflation", "power": 3, "center": true})),
    ] {
        let given = settings(given);
        let fitted = |rows: Rows<'_, f64>| unmix::fit(key, &given, &mut AnyRows::F64(rows), &run).unwrap();
        let weighted = fitted(Rows::from_slice(&x, 4).unwrap().weighted(&weights[..]).unwrap());
        let plain = fitted(Rows::from_slice(&repeated, 4).unwrap());
        assert_eq!(weighted.report().n_samples, plain.report().n_samples, "{key} {given:?}");
        let (a, b) = (numbers(&weighted, "components"), numbers(&plain, "components"));
        let size = b.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        assert!(apart(&a, &b) <= 1e-4 * size, "{key} {given:?}:\n{a:?}\n{b:?}");
        // Weights of 1 give the bits of a fit without weights.
        let rows = repeated.len() / 4;
        let ones = fitted(Rows::from_slice(&repeated, 4).unwrap().weighted(vec![1.0; rows]).unwrap());
        assert_eq!(numbers(&ones, "components"), b, "{key} {given:?}");
    }
}

#[test]
fn weights_of_too_small_a_sum_are_refused_by_every_method() {
    let x = falling(20, 4, 1);
    for method in unmix::METHODS.iter().filter(|m| m.accepts.weights) {
        let spec = (method.spec)(&serde_json::Map::new()).unwrap();
        for weights in [vec![0.0; 20], vec![0.04; 20]] {
            let mut rows = Rows::from_slice(&x, 4).unwrap().weighted(weights).unwrap();
            match spec.fit_f64(&mut rows, &Run::default()) {
                Err(Error::Setting { name, .. }) => assert_eq!(name, "sample_weight", "{}", method.key),
                other => panic!("{}: {:?}", method.key, other.map(|m| m.report().clone())),
            }
        }
    }
}
