//! Accuracy on synthetic data.

use super::{made, recovered};
use crate::made::{median, settings, try_fit};
use serde_json::json;

/// Table 17.9: 4000 rows of three of 30 atoms, ten epochs of batches of 100, forgetting 20.
#[test]
fn atoms_are_recovered_online() {
    let share = |seed: u64| {
        let (x, atoms) = made(4000, seed);
        let given = json!({
            "n_components": 30, "alpha": 0.1, "batch_size": 100, "max_epochs": 10, "forgetting": 20.0,
        });
        let model = try_fit("dictionary", &settings(given), &x, 20).unwrap();
        recovered(&model, &atoms)
    };
    let shares: Vec<f64> = (0..5).map(share).collect();
    assert!(median(shares.clone()) >= 0.9, "{shares:?}");
}
