//! Bad input, and the messages.

use super::{diagnostic, made};
use crate::made::{falling, settings, try_fit};
use serde_json::{Value, json};
use unmix::{Error, Model};

fn fit(given: Value, x: &[f64], p: usize) -> unmix::Result<Model> {
    try_fit("dictionary", &settings(given), x, p)
}

fn message(given: Value, x: &[f64], p: usize) -> String {
    fit(given, x, p).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn invalid_settings_and_rows_are_refused() {
    let x = falling(20, 5, 1);
    let more = message(json!({"n_components": 21}), &x, 5);
    assert!(
        more.starts_with("n_components") && more.contains("20 rows") && more.contains("from 1 to 20"),
        "{more}"
    );
    assert!(
        message(json!({"alpha": -0.5}), &x, 5).starts_with("alpha must be finite and positive, got -0.5")
    );
    assert!(message(json!({"alpha": 0.0}), &x, 5).starts_with("alpha must"));
    assert!(message(json!({"alpha": "cv"}), &x, 5).starts_with("alpha"));
    assert!(message(json!({"batch_size": 0}), &x, 5).starts_with("batch_size must be at least 1"));
    assert!(matches!(fit(json!({}), &x[..5], 5), Err(Error::TooFewRows { need: 2, got: 1, .. })));
    assert!(matches!(fit(json!({}), &[0.0; 100], 5), Err(Error::NoVariance { .. })));
    let mut gap = x.clone();
    gap[13] = f64::NAN;
    assert!(matches!(fit(json!({}), &gap, 5), Err(Error::NotFinite { row: 2, column: 3, .. })));
}

#[test]
fn as_many_atoms_as_columns_or_rows() {
    let x = falling(20, 5, 1);
    assert_eq!(fit(json!({}), &x, 5).unwrap().n_components(), 5);
    assert_eq!(fit(json!({}), &x, 50).unwrap().n_components(), 2);
    assert_eq!(fit(json!({"n_components": 20}), &x, 5).unwrap().n_components(), 20);
}

#[test]
fn rows_of_zeros_and_repeated_rows_are_fitted() {
    let (mut x, _) = made(200, 1);
    x[..100 * 20].fill(0.0);
    let model = fit(json!({"n_components": 15, "batch_size": 16}), &x, 20).unwrap();
    let codes = crate::made::encode(&model, &x);
    assert!(codes[..100 * 15].iter().all(|z| *z == 0.0) && codes[100 * 15..].iter().any(|z| *z != 0.0));
    let same: Vec<f64> = x[150 * 20..151 * 20].repeat(60);
    let model = fit(json!({"n_components": 3}), &same, 20).unwrap();
    assert_eq!(
        diagnostic(&model, "dead_units"),
        2,
        "one atom is all that there is: {:?}",
        model.report().warnings
    );
}

#[test]
fn an_alpha_above_all_products_leaves_the_atoms_unchanged_and_the_bound_is_reported() {
    let (x, _) = made(300, 2);
    let first = fit(json!({"n_components": 8, "alpha": 1e9, "max_epochs": 1}), &x, 20).unwrap();
    let more = fit(json!({"n_components": 8, "alpha": 1e9, "max_epochs": 4}), &x, 20).unwrap();
    assert_eq!(first.tensor("components"), more.tensor("components"));
    let warning = more.report().warnings.iter().find(|w| w.contains("alpha_max=")).unwrap();
    let most: f64 = warning.split("alpha_max=").nth(1).unwrap().parse().unwrap();
    let atoms = more.tensor("components").unwrap().to_matrix();
    let product = |row: &[f64], i: usize| row.iter().zip(atoms.row(i)).map(|(x, a)| x * a).sum::<f64>().abs();
    let want = x.chunks_exact(20).flat_map(|row| (0..8).map(move |i| (row, i)));
    let want = want.map(|(row, i)| product(row, i)).fold(0.0, f64::max);
    assert!((most / want - 1.0).abs() < 1e-4, "reported {most}, expected {want}");
    let below = fit(json!({"n_components": 8, "alpha": 0.99 * most, "max_epochs": 1}), &x, 20).unwrap();
    assert!(
        below.report().warnings.iter().all(|w| !w.contains("alpha_max")),
        "{:?}",
        below.report().warnings
    );
}

#[test]
fn layers_that_do_not_fit_in_memory_are_refused_before_the_fit() {
    let (x, _) = made(60, 1);
    let given = |algorithm: &str| json!({"algorithm": algorithm, "n_components": 30, "max_iter": 10_000_000_000u64, "tol": 1e-2});
    match fit(given("layerwise"), &x, 20) {
        Err(Error::Memory { what, need_bytes, .. }) => {
            assert!(what.contains("30 atoms of 20 numbers for max_iter=10000000000"), "{what}");
            assert_eq!(need_bytes, 4 * 8 * 30 * 20 * 10_000_000_000);
        }
        other => panic!("{:?}", other.map(|_| ())),
    }
    // The same fit without layers needs no memory for a step.
    assert!(fit(given("palm"), &x, 20).is_ok());
}
