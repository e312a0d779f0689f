//! Fits that start from a model: its number of factors, and initial uniquenesses beside it.

use super::{fit, made};
use crate::made::{fit_any, on_threads, settings};
use serde_json::{Value, json};
use unmix::{AnyRows, Model, Result, Rows, Run};

fn started(given: Value, x: &[f64], p: usize, init: &Model) -> Result<Model> {
    let run = Run { init: Some(init), ..on_threads(2) };
    fit_any("factor-analysis", &settings(given), &mut AnyRows::F64(Rows::from_slice(x, p)?), &run)
}

/// Rows, and the same with a missing cell in every seventh row.
fn complete_and_not() -> [Vec<f64>; 2] {
    let whole = made(300, 9, 3, 4);
    let mut gaps = whole.clone();
    (0..300).step_by(7).for_each(|i| gaps[9 * i + i % 9] = f64::NAN);
    [whole, gaps]
}

#[test]
fn a_model_of_fewer_factors_is_refused_and_one_of_more_is_cut() {
    let [whole, gaps] = complete_and_not();
    let of = |k: usize| fit(json!({"n_components": k}), &whole, 9);
    let (fewer, more) = (of(2), of(4));
    for (given, x) in [
        (json!({"n_components": 3, "prior": "laplace"}), &whole),
        (json!({"n_components": 3, "prior": "laplace-loadings"}), &whole),
        (json!({"n_components": 3}), &gaps),
    ] {
        let refused = started(given.clone(), x, 9, &fewer).unwrap_err().to_string();
        assert!(refused.contains("it has 2 components, and this fit has 3"), "{given}: {refused}");
        // A number that a rule chooses is not the caller's: a start that is too small is then not used.
        let by_rule =
            json!({"n_components": "bic", "prior": given.get("prior").cloned().unwrap_or("none".into())});
        assert!(started(by_rule, x, 9, &of(1)).unwrap().n_components() > 1, "{given}");
        let (warm, cold) = (started(given.clone(), x, 9, &more).unwrap(), fit(given.clone(), x, 9));
        assert_ne!(warm.report().objective[0], cold.report().objective[0], "{given}");
    }
}

#[test]
fn initial_uniquenesses_beside_a_model_are_refused_unless_both_are_used() {
    let [whole, gaps] = complete_and_not();
    let model = fit(json!({"n_components": 3}), &whole, 9);
    let given = json!({"n_components": 3, "noise_variance_init": vec![0.5; 9]});
    for x in [&whole, &gaps] {
        let refused = started(given.clone(), x, 9, &model).unwrap_err().to_string();
        assert!(refused.contains("noise_variance_init") && refused.contains("(init)"), "{refused}");
    }
    // With a prior, the model gives the loadings and the setting the uniquenesses.
    let both = json!({"n_components": 3, "noise_variance_init": vec![0.5; 9], "prior": "laplace"});
    started(both, &whole, 9, &model).unwrap();
}
