//! Sample weights: supported, or refused with one message, by typed fits and by fits by name alike.

use super::{Case, every_case};
use crate::made::{apart, cast, falling, fit_any, numbers, settings, tables};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use unmix::datasets::{Distribution, independent};
use unmix::model::Tensor;
use unmix::{AnyRows, Error, Model, Outcome, Rows, Run};

/// Fits that refuse weights, of methods that take them otherwise: method, settings, and the operation that the error names.
fn refused() -> Vec<(&'static str, Value, &'static str)> {
    let by_batches = "neural-pca with solver='sgd' or 'adam' of weighted or sparse rows";
    vec![
        // One step for each row, in their order: a row that counts twice would be a longer step, not two.
        ("ica", json!({"algorithm": "easi"}), "ica with algorithm='easi' of rows with weights"),
        // Batches are of equal numbers of rows, with equal steps.
        ("neural-pca", json!({"solver": "adam"}), by_batches),
        ("neural-pca", json!({"solver": "sgd"}), by_batches),
        ("sigma-pca", json!({"variant": "ema-tanh"}), "training on weighted rows"),
        ("sigma-pca", json!({"solver": "adam"}), "training on weighted rows"),
        ("sigma-pca", json!({"solver": "sgd"}), "training on weighted rows"),
    ]
}

/// Whether a case has the settings of an entry of [`refused`].
fn is(entry: &(&str, Value, &str), case: &Case) -> bool {
    let (key, want, _) = entry;
    let mut want = want.as_object().unwrap().iter();
    *key == case.method.key && want.all(|(name, value)| case.given.get(name) == Some(value))
}

/// The rows of a case, with its missing cells, integer weights, and the rows repeated by their weights.
fn rows(case: &Case) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let x = case.data::<f64>();
    let weights: Vec<f64> = (0..case.n).map(|i| [1.0, 2.0, 0.0, 1.0][i % 4]).collect();
    let repeated =
        x.chunks_exact(case.p).zip(&weights).flat_map(|(row, w)| row.repeat(*w as usize)).collect();
    (x, weights, repeated)
}

#[test]
fn a_weight_of_two_is_the_row_twice_or_weights_are_refused() {
    let (mut declared, mut counting) = (BTreeSet::new(), BTreeSet::new());
    let (mut left, refused) = (refused(), refused());
    for case in every_case() {
        let (x, weights, repeated) = rows(&case);
        let weighted = || Rows::from_slice(&x, case.p).unwrap().weighted(&weights[..]).unwrap();
        let run = Run::default();
        let given = settings(case.given.clone());
        let spec = case.method.specify(&given, tables(case.method.key, case.p)).unwrap();
        let by_key = fit_any(case.method.key, &given, &mut AnyRows::F64(weighted()), &run);
        let typed = spec.fit_f64(&mut weighted(), &run);
        let single: Vec<f32> = cast(&x);
        let mut narrow = Rows::from_slice(&single, case.p).unwrap().weighted(&weights[..]).unwrap();
        let narrow = spec.fit_f32(&mut narrow, &run);
        let in_general = format!("{} of rows with weights", case.method.key);
        let listed = refused.iter().find(|entry| is(entry, &case)).map(|entry| entry.2);
        if case.method.accepts.weights {
            declared.insert(case.method.key);
        }
        let requested = if case.method.accepts.weights { listed } else { Some(&in_general[..]) };
        if let Some(requested) = requested {
            left.retain(|entry| !is(entry, &case));
            [by_key, typed, narrow].into_iter().for_each(|found| refuses(&case, found, requested));
            continue;
        }
        counting.insert(case.method.key);
        let plain = spec.fit_f64(&mut Rows::from_slice(&repeated, case.p).unwrap(), &run).unwrap();
        let accepted = |found: unmix::Result<Model>| found.unwrap_or_else(|e| panic!("{case}: {e}"));
        let (by_key, typed, narrow) = (accepted(by_key), accepted(typed), accepted(narrow));
        for found in [&by_key, &typed, &narrow] {
            assert_eq!(found.report().n_samples, (repeated.len() / case.p) as f64, "{case}");
        }
        counted(&case, &by_key, &plain);
        counted(&case, &typed, &plain);
    }
    assert_eq!(counting, declared, "methods with no case that supports weights");
    left.retain(|(key, ..)| declared.contains(key));
    assert!(left.is_empty(), "listed as refused, without a case: {left:?}");
}

/// Asserts that a fit is refused, with the operation that the error must name and what would work instead.
fn refuses(case: &Case, found: unmix::Result<Model>, operation: &str) {
    match found {
        Err(Error::Unsupported { asked, found, remedy, .. }) => {
            assert_eq!(asked, operation, "{case}");
            assert!(!found.is_empty() && !remedy.is_empty(), "{case}");
        }
        other => panic!("{case}: {:?}", other.map(|m| m.report().clone())),
    }
}

/// Tensors that two fits of the same rows need not share: verdicts use halves of the rows, into which weighted rows are not divided, and
/// `heywood` lists columns at a bound of their noise variance, which is compared itself.
const OTHERWISE: [&str; 4] = ["separation", "seeking", "resolved", "heywood"];

/// The relative tolerance of numbers that are computed from sums over rows. The sums of the two fits differ by rounding errors of about
/// 1e-14 of the largest variance, and the square root of a variance near 0 by 1e-7; directions differ by this divided by the gaps between
/// variances, of which those below a thousandth of the largest are excluded. Iterations that start from such sums take the same steps.
const NEAR: f64 = 1e-6;

/// The weighted fit equals that of repeated rows, in every tensor that the rows determine.
fn counted(case: &Case, model: &Model, plain: &Model) {
    if ["code_moments", "layers.0.code_moments"].iter().any(|name| plain.tensor(name).is_some()) {
        // Random numbers of these settings depend on the index of a row, which changes where rows are repeated.
        let random =
            ["dropout", "input_noise", "batch_size"].iter().any(|name| case.given.get(*name).is_some());
        let compared = |_: &str, _: &Tensor| !random;
        return near(case, model, plain, &compared);
    }
    match case.method.key {
        "ica" | "fastica" | "rica" | "complete-dictionary" => the_same_sources(case, model, plain),
        // Rotations that increase independence are not determined by Gaussian rows: variances are compared here, and components with rows
        // of independent sources below.
        "sigma-pca" => near(case, model, plain, &|_, tensor| tensor.shape().len() < 2),
        _ => the_same_variances(case, model, plain),
    }
}

/// Asserts that both models have the same tensors, and that those for which `compared` holds agree.
fn near(case: &Case, model: &Model, plain: &Model, compared: &dyn Fn(&str, &Tensor) -> bool) {
    assert!(model.tensors().keys().eq(plain.tensors().keys()), "{case}");
    for (name, tensor) in plain.tensors() {
        if OTHERWISE.contains(&name.as_str()) {
            continue;
        }
        let found = model.tensor(name).unwrap();
        assert_eq!(found.shape(), tensor.shape(), "{case}: {name}");
        if compared(name, tensor) {
            let (a, b) = (found.f64s(), tensor.f64s());
            assert!(apart(&a, &b) <= NEAR * size(&b), "{case}: {name}\n{a:?}\n{b:?}");
        }
    }
}

/// The largest of the numbers, but at least a thousandth: the rows have entries of about 1 to 10.
fn size(numbers: &[f64]) -> f64 {
    numbers.iter().fold(1e-3f64, |m, v| m.max(v.abs()))
}

/// Components that are ordered by variances: those of which the variance is not near that of another one are determined by the rows.
fn the_same_variances(case: &Case, model: &Model, plain: &Model) {
    let name = ["explained_variance", "scale", "component_variance"]
        .into_iter()
        .find(|n| plain.tensor(n).is_some())
        .unwrap();
    let values = numbers(plain, name);
    let first = values.iter().copied().fold(0.0, f64::max);
    let is_near = |c: usize, d: usize| c != d && (values[c] - values[d]).abs() < 1e-3 * first;
    let is_alone = |c: &usize| values[*c] > 1e-9 * first && (0..values.len()).all(|d| !is_near(*c, d));
    let all = (0..values.len()).all(|c| is_alone(&c));
    near(case, model, plain, &|_, tensor| all || tensor.shape().len() < 2);
    // Each rotated factor depends on all of them.
    if plain.tensor("second_rotation").is_some() {
        return;
    }
    let (a, b) = (numbers(model, "components"), numbers(plain, "components"));
    for c in (0..values.len()).filter(is_alone) {
        let row = c * case.p..(c + 1) * case.p;
        let distance = apart(&a[row.clone()], &b[row]);
        assert!(distance <= NEAR * size(&b), "{case}: component {c} is {distance:e} off");
    }
}

/// Sources that the data determine are those of the fit of repeated rows. Starts are chosen on a subset of rows, which differs between
/// the two, so the last digits may differ, and all of them where no source is determined. Mean and whitening depend on sums alone.
fn the_same_sources(case: &Case, model: &Model, plain: &Model) {
    let of_sums = ["mean", "noise_scale", "scale", "data_scale"];
    near(case, model, plain, &|name, _| of_sums.contains(&name));
    let both = model.report().outcome == Outcome::Converged && plain.report().outcome == Outcome::Converged;
    if !both || plain.tensor("component_variance").is_none() {
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
        ("sigma-pca", json!({"n_components": 2, "halves": false})),
    ] {
        let given = settings(given);
        let fitted = |rows: Rows<'_, f64>| unmix::fit(key, &given, &mut AnyRows::F64(rows), &run).unwrap();
        let weighted = fitted(Rows::from_slice(&x, 4).unwrap().weighted(&weights[..]).unwrap());
        let plain = fitted(Rows::from_slice(&repeated, 4).unwrap());
        assert_eq!(weighted.report().n_samples, plain.report().n_samples, "{key} {given:?}");
        // Searches end within their tolerance of the solution: the largest entry of the relative gradient is at most 1e-6, and the
        // curvature of these sources is above 0.1.
        for (name, tensor) in plain.tensors().iter().filter(|(name, _)| !OTHERWISE.contains(&name.as_str())) {
            let (a, b) = (numbers(&weighted, name), tensor.f64s());
            // A cosine between features, near 0.
            let size = if name == "coherence" { 1.0 } else { size(&b) };
            assert!(apart(&a, &b) <= 1e-4 * size, "{key} {given:?}, {name}:\n{a:?}\n{b:?}");
        }
        // Weights of 1 give the bits of a fit without weights.
        let rows = repeated.len() / 4;
        let ones = fitted(Rows::from_slice(&repeated, 4).unwrap().weighted(vec![1.0; rows]).unwrap());
        assert_eq!(numbers(&ones, "components"), numbers(&plain, "components"), "{key} {given:?}");
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
