//! Properties of every published variant of a method, and of words that only variants have; covered.rs counts these cases.

use super::bits::{Turns, Visited, check};
use super::{Case, chosen_methods};
use crate::made::bits;
use serde_json::{Value, json};
use unmix::{Error, Method, Model};

const COLUMNS: usize = 4;

/// One pass by batches is enough to see a different bit; the deterministic solvers of some variants have no batches.
fn variant(method: &'static Method, name: &'static str, mut given: Value) -> Case {
    let all = given.as_object_mut().unwrap();
    all.insert("n_components".into(), json!(2));
    let trained = method.variants.iter().any(|v| v.key == name) || all.contains_key("solver");
    if trained {
        all.insert("max_epochs".into(), json!(1));
        all.insert("batch_size".into(), json!(60));
    }
    Case { method, name, given, n: 240, p: COLUMNS, by_variance: false }
}

/// One case for each published variant, and for the words that no other case has.
pub(super) fn every_variant() -> Vec<Case> {
    let mut cases = Vec::new();
    for method in chosen_methods().filter(|method| !method.variants.is_empty()) {
        cases.extend(method.variants.iter().map(|v| variant(method, v.key, json!({"variant": v.key}))));
        if method.settings.iter().any(|s| s.name == "sigma") {
            cases.extend([
                variant(
                    method,
                    "steep, moving averages",
                    json!({"solver": "adam", "h": "steep", "a": 2.0, "sigma": "ema"}),
                ),
                variant(
                    method,
                    "signs, learned deviations",
                    json!({"solver": "adam", "h": "sign", "sigma": "train"}),
                ),
                variant(method, "deviations of 1", json!({"solver": "sgd", "sigma": "one"})),
                variant(method, "the model's own decoder", json!({"reconstruct": "nonlinear"})),
                variant(
                    method,
                    "an absolute weight",
                    json!({"variant": "rica", "solver": "adam", "beta_scale": "absolute"}),
                ),
                variant(
                    method,
                    "a weight in units of the rows",
                    json!({"variant": "rica", "solver": "adam", "beta_scale": "variance"}),
                ),
            ]);
        }
    }
    cases
}

#[test]
fn every_variant_gives_the_same_bits_from_every_storage() {
    let mut visited = Visited::default();
    for (number, case) in every_variant().iter().enumerate() {
        check::<f64>(case, Turns::single(number, 4), &mut visited);
    }
}

#[test]
fn every_variant_is_restored_from_its_file_and_refuses_numbers_that_are_not_finite() {
    for case in every_variant() {
        let mut x = case.data::<f32>();
        let model = case.fit(&x);
        assert_eq!(bits(&case.fit(&x)), bits(&model), "{case}");
        let back = Model::from_bytes(&model.to_bytes().unwrap(), "the model".as_ref()).unwrap();
        assert_eq!(bits(&back), bits(&model), "{case}");
        for bad in [f32::NAN, f32::INFINITY] {
            x[7 * COLUMNS + 2] = bad;
            match case.try_fit(&x).map(|_| ()) {
                Err(Error::NotFinite { row: 7, column: 2, .. }) => {}
                other => panic!("{case}, {bad}: {other:?}"),
            }
        }
    }
}
