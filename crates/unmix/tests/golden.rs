//! Reference numbers of scikit-learn, written by `golden/make.py` (versions in the files).
//!
//! Tolerances: both are exact solvers in double precision, so variances agree to a few eps of the largest, and axes to that divided by
//! the gap between variances.

use crate::made::{apart, encode, numbers, pca, scores};
use serde_json::Value;

struct Golden<'a> {
    case: &'a Value,
    name: String,
}

impl Golden<'_> {
    fn list(&self, key: &str) -> Vec<f64> {
        match &self.case[key] {
            Value::Array(rows) => rows
                .iter()
                .flat_map(|r| r.as_array().cloned().unwrap_or_else(|| vec![r.clone()]))
                .map(|v| v.as_f64().unwrap())
                .collect(),
            one => vec![one.as_f64().unwrap()],
        }
    }

    fn near(&self, what: &str, found: &[f64], want: &[f64], tol: f64) {
        let distance = apart(found, want);
        assert!(distance <= tol, "{}: {what} is {distance:e} off, more than {tol:e}", self.name);
    }
}

/// Compares one case of rows `x` with `p` columns.
fn check(case: &Value, x: &[f64], p: usize) {
    let golden = Golden { case, name: case["settings"].to_string() };
    let n = x.len() / p;
    let model = pca(case["settings"].clone(), x, p);
    let k = case["n_components"].as_u64().unwrap() as usize;
    assert_eq!(model.n_components(), k, "{}: number of components", golden.name);

    let values = golden.list("explained_variance");
    let first = values[0];
    golden.near("explained_variance", &numbers(&model, "explained_variance"), &values, 1e-13 * first);
    golden.near(
        "ratio",
        &numbers(&model, "explained_variance_ratio"),
        &golden.list("explained_variance_ratio"),
        1e-13,
    );
    // The square root of a small variance has half the digits.
    let singular = (golden.list("singular_values"), numbers(&model, "singular_values"));
    for (a, b) in singular.1.iter().zip(&singular.0) {
        let tol = 1e-13 * first * (n as f64 - 1.0) / b.max(1e-6 * singular.0[0]);
        golden.near("singular value", &[*a], &[*b], tol);
    }
    golden.near("mean", &numbers(&model, "mean"), &golden.list("mean"), 1e-13 * 100.0);

    // scikit-learn has another convention for signs, so its axes and codes are multiplied by the sign of the inner product.
    let (axes, theirs) = (numbers(&model, "components"), golden.list("components"));
    let codes = (encode(&model, &x[..5 * p]), golden.list("first_codes"));
    let whitened = case["settings"]["whiten"] == Value::Bool(true);
    for (c, theirs) in theirs.chunks_exact(p).enumerate() {
        let ours = &axes[c * p..(c + 1) * p];
        let turn = ours.iter().zip(theirs).map(|(a, b)| a * b).sum::<f64>().signum();
        let gap = |d: usize| values.get(d).map_or(f64::INFINITY, |v| (v - values[c]).abs());
        let gap = if c == 0 { gap(1) } else { gap(c - 1).min(gap(c + 1)) }.min(values[c]);
        let tol = 1e-13 * first / gap;
        golden.near("axis", ours, &theirs.iter().map(|v| v * turn).collect::<Vec<_>>(), tol);
        let unit = if whitened { 1.0 } else { values[c].sqrt() };
        for i in 0..5 {
            golden.near(
                "code",
                &[codes.0[i * k + c]],
                &[turn * codes.1[i * k + c]],
                10.0 * tol * unit * (first / values[c]).sqrt(),
            );
        }
    }

    // For wide data scikit-learn divides the noise by min(n, p) - k, and unmix by p - k, by design; the likelihood follows from it.
    let noise = golden.list("noise_variance")[0];
    let share = if n < p { (n.min(p) - k) as f64 / (p - k) as f64 } else { 1.0 };
    golden.near("noise_variance", &numbers(&model, "noise_variance"), &[noise * share], 1e-13 * first);
    // With whiten=True scikit-learn's get_covariance multiplies the axes by the standard deviations once too often; in unmix whitening
    // does not change the likelihood. Without noise scikit-learn inverts the covariance, and unmix the variances: its rounding errors
    // grow with the condition number.
    let condition = first / noise.max(values[k - 1] * f64::from(u8::from(k == p))).max(1e-300);
    if n >= p && condition < 1e9 && !whitened {
        let found = scores(&model, x);
        let mean = found.iter().sum::<f64>() / n as f64;
        let tol = 1e-14 * condition * p as f64 + 1e-11;
        golden.near("score", &[mean], &golden.list("score"), tol * mean.abs());
        golden.near("score_samples", &found[..5], &golden.list("score_samples"), tol * 10.0 * mean.abs());
    }
}

#[test]
fn small_data_give_the_numbers_of_scikit_learn() {
    let x: Vec<f64> = include_str!("golden/small.csv")
        .split(['\n', ','])
        .filter(|s| !s.is_empty())
        .map(|s| s.parse().unwrap())
        .collect();
    let golden: Value = serde_json::from_str(include_str!("golden/small.json")).unwrap();
    let cases = golden["cases"].as_array().unwrap();
    assert_eq!((x.len(), cases.len()), (240, 7));
    for case in cases {
        // The last case is a fit of the first five rows only, fewer than columns.
        let rows = if std::ptr::eq(case, &cases[6]) { 5 } else { 40 };
        check(case, &x[..rows * 6], 6);
    }
}

#[test]
fn digits_give_the_numbers_of_scikit_learn() {
    let Some(folder) = std::env::var_os("UNMIX_DATA") else {
        crate::skipped::skipped(
            "digits_give_the_numbers_of_scikit_learn",
            "UNMIX_DATA names no folder with digits8x8/X_u8.npy",
        );
        return;
    };
    let path = std::path::Path::new(&folder).join("digits8x8").join("X_u8.npy");
    let (array, _) = unmix::data::open_npy(&path).unwrap();
    let rows: unmix::Rows<'_, f64> = unmix::Rows::new(array, Default::default(), "digits");
    let x = rows.read_range(0..1797).unwrap();
    let golden: Value = serde_json::from_str(include_str!("golden/digits.json")).unwrap();
    for case in golden["cases"].as_array().unwrap() {
        check(case, &x, 64);
    }
}
