//! Reference numbers of scikit-learn, written by `golden/make_factor.py` (versions in the file).
//!
//! Its iterations stop where a step adds less than 1e-10 nats, which leaves an error of about the square root of that in the
//! parameters.

use super::{fit, likelihood};
use crate::made::{apart, encode, numbers, scores};
use serde_json::{Value, json};

fn list(case: &Value, key: &str) -> Vec<f64> {
    let flat = |v: &Value| match v {
        Value::Array(row) => row.iter().map(|x| x.as_f64().unwrap()).collect(),
        one => vec![one.as_f64().unwrap()],
    };
    case[key].as_array().unwrap().iter().flat_map(flat).collect()
}

#[test]
fn likelihood_and_parameters_are_those_of_scikit_learn() {
    let text = include_str!("../golden/factor.csv");
    let x: Vec<f64> = text.lines().flat_map(|line| line.split(',')).map(|x| x.parse().unwrap()).collect();
    let golden: Value = serde_json::from_str(include_str!("../golden/factor.json")).unwrap();
    for case in golden["cases"].as_array().unwrap() {
        let given = json!({"n_components": case["n_components"], "rotation": case["rotation"], "tol": 1e-10});
        let model = fit(given.clone(), &x, 8);
        let theirs = case["log_likelihood"].as_f64().unwrap();
        assert!(likelihood(&model) > theirs - 1e-9, "{given}: {} {theirs}", likelihood(&model));
        assert!(likelihood(&model) < theirs + 1e-6, "{given}: {} {theirs}", likelihood(&model));
        let psi = apart(&numbers(&model, "noise_variance"), &list(case, "noise_variance"));
        assert!(psi < 1e-4, "{given}: {psi:e}");
        assert!(apart(&scores(&model, &x[..40]), &list(case, "score_samples")) < 1e-3, "{given}");
        // Signs and, after a rotation, the order of factors differ by convention; scikit-learn's rotation stops at a tolerance of 1e-6.
        let (ours, theirs) = (numbers(&model, "components"), list(case, "components"));
        let codes = (encode(&model, &x[..24]), list(case, "codes"));
        let k = model.n_components();
        for row in ours.chunks_exact(8).enumerate() {
            let (i, row) = row;
            let near = |other: &[f64]| {
                let dot: f64 = row.iter().zip(other).map(|(a, b)| a * b).sum();
                let sign = dot.signum();
                (row.iter().zip(other).fold(0.0f64, |m, (a, b)| m.max((a - sign * b).abs())), sign)
            };
            let best = (0..k).map(|j| (near(&theirs[j * 8..j * 8 + 8]), j));
            let ((distance, sign), j) = best.min_by(|a, b| a.0.0.total_cmp(&b.0.0)).unwrap();
            assert!(distance < 2e-3, "{given}: factor {i} is {distance:e} off");
            for r in 0..3 {
                assert!(
                    (codes.0[r * k + i] - sign * codes.1[r * k + j]).abs() < 5e-3,
                    "{given}: code of row {r}"
                );
            }
        }
    }
}
