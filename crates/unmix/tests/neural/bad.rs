//! Degenerate rows for the linear and the nonlinear learning rules, by solvers and by training.

use crate::made::{falling, settings, try_fit};
use serde_json::{Value, json};
use unmix::{Error, Model, Result};

/// Every solver of both classes.
const SOLVERS: [(&str, &str, &str); 8] = [
    ("neural-pca", "variant", "gha"),
    ("neural-pca", "variant", "svd"),
    ("neural-pca", "solver", "sgd"),
    ("sigma-pca", "solver", "auto"),
    ("sigma-pca", "constraint", "native"),
    ("sigma-pca", "solver", "adam"),
    ("sigma-pca", "variant", "conventional"),
    ("sigma-pca", "variant", "rica"),
];

fn every(x: &[f64], p: usize, check: impl Fn(&str, Result<Model>)) {
    for (key, name, value) in SOLVERS {
        let given = settings(json!({name: value}));
        check(&format!("{key}, {name}={value}"), try_fit(key, &given, x, p));
    }
    let given: Value = json!({"a": 4.0});
    check("sigma-pca, a=4", try_fit("sigma-pca", &settings(given), x, p));
}

#[test]
fn no_rows_and_one_row_are_refused() {
    for n in [0, 1] {
        every(&falling(n, 4, 1), 4, |name, made| match made {
            Err(Error::TooFewRows { need: 2, got, .. }) => assert_eq!(got, n as u64, "{name}"),
            other => panic!("{name}, {n} rows: {:?}", other.err()),
        });
    }
}

#[test]
fn rows_that_do_not_vary_are_refused() {
    for value in [0.0, 0.1, -1e300] {
        every(&[value; 80], 4, |name, made| {
            let refused = matches!(made, Err(Error::NoVariance { n_features: 4, n_samples: 20, .. }));
            assert!(refused, "{name}, {value}: {:?}", made.err());
        });
    }
}

#[test]
fn a_constant_column_is_left_out_and_counted() {
    let mut x = falling(300, 4, 1);
    x.chunks_exact_mut(4).for_each(|row| row[2] = 7.5);
    every(&x, 4, |name, made| {
        let model = made.unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(model.report().n_constant, 1, "{name}");
        let finite = model.tensor("components").unwrap().f64s().iter().all(|c| c.is_finite());
        assert!(finite, "{name}");
    });
}

#[test]
fn squares_that_overflow_are_refused() {
    let x: Vec<f64> = falling(60, 4, 1).iter().map(|v| v * 1e200).collect();
    every(&x, 4, |name, made| {
        assert!(matches!(made, Err(Error::Overflow { .. })), "{name}: {:?}", made.err());
    });
}
