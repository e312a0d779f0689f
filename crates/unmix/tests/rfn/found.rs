//! Recovery of planted structure in synthetic data.

use super::{diagnostic, fit};
use crate::made::encode;
use serde_json::json;
use unmix::internal::num::random::Stream;

/// Rows in which three groups of columns rise together, each in some of the rows.
fn modules(n: usize) -> (Vec<f64>, Vec<Vec<usize>>) {
    let (p, draws) = (30, Stream::new(5, 0));
    let groups: Vec<Vec<usize>> = (0..3).map(|g| (10 * g..10 * g + 8).collect()).collect();
    let mut x: Vec<f64> = (0..n * p).map(|i| 0.5 * draws.normal(i as u64)).collect();
    for (g, columns) in groups.iter().enumerate() {
        for i in 0..n {
            let draw = draws.uniform(1_000_000 + (g * n + i) as u64);
            if draw < 0.2 {
                let size = 2.0 + draws.uniform(2_000_000 + (g * n + i) as u64);
                columns.iter().for_each(|&k| x[i * p + k] += size);
            }
        }
    }
    (x, groups)
}

#[test]
fn planted_modules_are_units() {
    let (x, groups) = modules(400);
    for mode in ["plain", "coordinate", "cascade"] {
        let model = fit(&x, 30, json!({"n_components": 3, "e_step": mode, "init": "ica", "max_iter": 60}));
        let w = model.tensor("components").unwrap().to_matrix();
        for columns in &groups {
            // The largest loadings of some unit are those of the planted columns, all of one sign.
            let members = |j: usize| {
                let mut order: Vec<usize> = (0..30).collect();
                order.sort_by(|&a, &b| w[(j, b)].total_cmp(&w[(j, a)]));
                let mut first = order[..columns.len()].to_vec();
                first.sort_unstable();
                first
            };
            let found: Vec<Vec<usize>> = (0..3).map(members).collect();
            assert!(found.contains(columns), "{mode}: {columns:?} {found:?}");
        }
        let codes = encode(&model, &x);
        let zeros = codes.iter().filter(|z| **z == 0.0).count() as f64 / codes.len() as f64;
        assert!(zeros > 0.3, "{mode}: {zeros}");
        assert_eq!(diagnostic(&model, "dead_units"), json!(0));
    }
}

#[test]
fn a_lower_prior_makes_codes_sparser() {
    let x = unmix::datasets::biclusters("D1", 1, 0).unwrap().x.into_vec();
    let zeros = |mean: f64| {
        let model = fit(&x, 100, json!({"n_components": 20, "max_iter": 200, "prior_mean": mean}));
        let codes = encode(&model, &x);
        codes.iter().filter(|z| **z == 0.0).count() as f64 / codes.len() as f64
    };
    let (plain, half, one) = (zeros(0.0), zeros(-0.5), zeros(-1.0));
    assert!(plain < half && half < one, "{plain} {half} {one}");
}
