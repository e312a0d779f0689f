//! Units of the data, weights, sparse rows, batches: what a fit must not depend on.

use super::{diagnostic, fit, fit_seeded};
use crate::made::{apart, digest, encode, falling, numbers, on_threads, settings};
use serde_json::{Value, json};
use unmix::data::Sparse;
use unmix::datasets::biclusters;
use unmix::{AnyRows, Model, Rows, Run};

/// Largest difference relative to the largest number.
fn relative(a: &[f64], b: &[f64]) -> f64 {
    apart(a, b) / b.iter().fold(0.0f64, |m, x| m.max(x.abs()))
}

#[test]
fn scaled_rows_have_the_scaled_fit() {
    let x = biclusters("D2", 1, 1).unwrap().x.into_vec();
    for given in [
        json!({"n_components": 15, "max_iter": 100}),
        json!({"n_components": 120, "max_iter": 30}),
        json!({"n_components": 15, "max_iter": 60, "normalize": "std", "psi_min_unit": "mean", "l1": 0.001, "w_max": 3.0}),
        json!({"n_components": 15, "max_iter": 60, "normalize": "none", "m_step": "gradient"}),
        json!({"n_components": 12, "max_iter": 30, "e_step": "coordinate"}),
        json!({"n_components": 8, "max_iter": 15, "e_step": "cascade"}),
        json!({"n_components": 8, "max_iter": 30, "dropout": 0.3, "input_noise": 0.1, "input_noise_kind": "gaussian"}),
    ] {
        let plain = fit(&x, 100, given.clone());
        for (c, exact) in [(1024.0, true), (1.0 / 1024.0, true), (1e-3, false), (1e3, false)] {
            let scaled: Vec<f64> = x.iter().map(|v| v * c).collect();
            let moved = fit(&scaled, 100, given.clone());
            for (name, power) in [("components", 1), ("noise_variance", 2), ("code_moments", 0)] {
                let want: Vec<f64> = numbers(&plain, name).iter().map(|v| v * f64::powi(c, power)).collect();
                let found = numbers(&moved, name);
                if exact {
                    assert!(found == want, "{given} {c}: {name} is {:e} off", relative(&found, &want));
                } else {
                    assert!(
                        relative(&found, &want) < 1e-10,
                        "{given} {c}: {name} is {:e} off",
                        relative(&found, &want)
                    );
                }
            }
            if exact {
                assert!(encode(&moved, &scaled) == encode(&plain, &x), "{given} {c}");
            }
        }
    }
}

fn weighted(x: &[f64], p: usize, given: &Value, weights: Vec<f64>) -> Model {
    let mut rows = AnyRows::F64(Rows::from_slice(x, p).unwrap()).weighted(weights).unwrap();
    unmix::fit("rfn", &settings(given.clone()), &mut rows, &on_threads(1)).unwrap()
}

#[test]
fn a_weight_of_two_is_the_row_twice_in_every_mode() {
    let (n, p) = (60, 8);
    let mut x = falling(n, p, 7);
    let weights: Vec<f64> = (0..n).map(|i| [1.0, 2.0, 0.0, 3.0][i % 4]).collect();
    let repeated: Vec<f64> =
        x.chunks_exact(p).zip(&weights).flat_map(|(row, w)| row.repeat(*w as usize)).collect();
    x[2 * p + 1] = f64::NAN;
    for given in [
        json!({"n_components": 5, "max_iter": 40}),
        json!({"n_components": 5, "max_iter": 40, "normalize": "std", "center": false}),
        json!({"n_components": 5, "max_iter": 40, "prior_mean": -0.3, "noise": "full"}),
        json!({"n_components": 5, "max_iter": 15, "e_step": "coordinate", "prior_mean": -0.3}),
        json!({"n_components": 4, "max_iter": 15, "e_step": "cascade", "normalize": "none"}),
    ] {
        let (a, b) = (weighted(&x, p, &given, weights.clone()), fit(&repeated, p, given.clone()));
        assert_eq!(a.report().n_samples, b.report().n_samples);
        for name in ["components", "code_moments"] {
            assert!(relative(&numbers(&a, name), &numbers(&b, name)) < 1e-7, "{given}: {name}");
        }
        let values = [&a, &b].map(|m| diagnostic(m, "final_objective").as_f64().unwrap());
        assert!((values[0] - values[1]).abs() < 1e-7 * values[1].abs(), "{given}: {values:?}");
    }
}

#[test]
fn sparse_rows_are_dense_rows_less_the_center() {
    let (n, p) = (90, 12);
    let draws = unmix::internal::num::random::Stream::new(4, 0);
    let x: Vec<f64> = (0..n * p)
        .map(|i| if draws.uniform(i as u64) < 0.7 { 0.0 } else { 1.0 + draws.normal(10_000 + i as u64) })
        .collect();
    let (mut starts, mut columns, mut values) = (vec![0u64], Vec::new(), Vec::new());
    for row in x.chunks_exact(p) {
        for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            columns.push(j as u32);
            values.push(*v);
        }
        starts.push(columns.len() as u64);
    }
    for given in [
        json!({"n_components": 5, "max_iter": 40}),
        json!({"n_components": 5, "max_iter": 40, "normalize": "std"}),
        json!({"n_components": 20, "max_iter": 20, "prior_mean": -0.3, "dropout": 0.2}),
        json!({"n_components": 5, "max_iter": 20, "center": "median"}),
        json!({"n_components": 5, "max_iter": 10, "e_step": "coordinate"}),
    ] {
        let dense = fit(&x, p, given.clone());
        let sparse = Sparse::from_csr(
            &starts.iter().map(|s| *s as usize).collect::<Vec<_>>(),
            &columns,
            values.clone(),
            p,
        )
        .unwrap();
        let mut rows = AnyRows::F64(Rows::new(sparse, Default::default(), "the rows"));
        let found = unmix::fit("rfn", &settings(given.clone()), &mut rows, &on_threads(2)).unwrap();
        for name in ["components", "noise_variance", "code_moments"] {
            let apart = relative(&numbers(&found, name), &numbers(&dense, name));
            assert!(apart < 1e-8, "{given}: {name} is {apart:e} off");
        }
    }
}

#[test]
fn batches_reach_nearly_the_objective_of_full_passes() {
    let x = falling(2000, 12, 3);
    let value = |given: Value| {
        let model = fit(&x, 12, given);
        (diagnostic(&model, "final_objective").as_f64().unwrap(), model.report().n_iter)
    };
    let full = value(json!({"n_components": 6, "max_iter": 200}));
    let batches = value(json!({"n_components": 6, "max_iter": 50, "batch_size": 250}));
    assert_eq!((full.1, batches.1), (200, 50));
    assert!(batches.0 > full.0 - 0.05 * full.0.abs(), "{full:?} {batches:?}");
    // One batch of all rows is a full pass.
    let all = fit(&x, 12, json!({"n_components": 6, "max_iter": 5, "batch_size": 2000}));
    let plain = fit(&x, 12, json!({"n_components": 6, "max_iter": 5}));
    assert_eq!(numbers(&all, "components"), numbers(&plain, "components"));
}

#[test]
fn random_zeros_do_not_depend_on_threads_or_on_how_rows_come() {
    let x = falling(3000, 6, 3);
    for given in [
        json!({"n_components": 9, "max_iter": 4, "dropout": 0.4}),
        json!({"n_components": 9, "max_iter": 4, "dropout": 0.4, "dropout_place": "before", "input_noise": 0.2}),
        json!({"n_components": 9, "max_iter": 4, "input_noise": 0.2, "input_noise_kind": "salt-pepper"}),
    ] {
        let on = |threads| {
            let mut rows = AnyRows::F64(Rows::from_slice(&x, 6).unwrap());
            digest(&unmix::fit("rfn", &settings(given.clone()), &mut rows, &on_threads(threads)).unwrap())
        };
        assert_eq!(on(1), on(3), "{given}");
        let other = |seed| numbers(&fit_seeded(&x, 6, given.clone(), seed), "components");
        assert!(other(1) != other(2));
        let mut plain = settings(given.clone());
        ["dropout", "input_noise"].iter().for_each(|name| drop(plain.remove(*name)));
        assert!(numbers(&fit(&x, 6, Value::Object(plain)), "components") != other(0), "{given}");
    }
}

#[test]
fn dropout_after_scaling_lowers_second_moments_and_before_keeps_them() {
    use unmix::internal::rectified::corruption::{Dropout, DropoutPlace};
    use unmix::internal::rectified::{Corruption, GatherCodes, Normalisation, Statistics};
    let (n, m, l) = (4000, 5, 6);
    let x = super::normal(n, m, 3);
    let b = super::normal(m, l, 4);
    for (place, want) in [(DropoutPlace::After, 0.7), (DropoutPlace::Before, 1.0)] {
        let corruption =
            Corruption { seed: 1, iteration: 2, dropout: Some(Dropout { rate: 0.3, place }), noise: None };
        let gather = GatherCodes::<f64>::new(vec![0.0; m], &b, vec![0.0; l]).corrupted(corruption);
        let rows = Rows::from_slice(x.as_slice(), m).unwrap();
        let sums = rows.sweep(&Run::default(), "codes", &gather).unwrap();
        let stats = Statistics::new(&sums, Normalisation::Rms);
        for j in 0..l {
            assert!((stats.m[(j, j)] - want).abs() < 0.06, "{place:?} {}", stats.m[(j, j)]);
        }
    }
}

#[test]
fn a_fit_continues_from_a_model() {
    let x = falling(300, 8, 3);
    let first = fit(&x, 8, json!({"n_components": 5, "max_iter": 60}));
    let mut rows = AnyRows::F64(Rows::from_slice(&x, 8).unwrap());
    let run = Run { init: Some(&first), ..on_threads(1) };
    let more =
        unmix::fit("rfn", &settings(json!({"n_components": 5, "max_iter": 40})), &mut rows, &run).unwrap();
    let whole = fit(&x, 8, json!({"n_components": 5, "max_iter": 100}));
    // Units come in the order of their use, so the sums of their codes have other last digits.
    let values = [&more, &whole].map(|m| diagnostic(m, "final_objective").as_f64().unwrap());
    assert!((values[0] - values[1]).abs() < 1e-8 * values[1].abs(), "{values:?}");
    assert_eq!(more.report().objective.len(), 40);
    assert!(
        (more.report().objective[0] - diagnostic(&first, "final_objective").as_f64().unwrap()).abs() < 1e-9
    );
}

#[test]
fn several_starts_are_announced_as_unused_with_a_model_to_start_from() {
    let x = falling(80, 6, 3);
    let given = json!({"n_components": 3, "max_iter": 5});
    let first = fit(&x, 6, given.clone());
    let from = |n_init: u64| {
        let mut all = settings(given.clone());
        all.insert("n_init".into(), n_init.into());
        let run = Run { init: Some(&first), ..on_threads(1) };
        unmix::fit("rfn", &all, &mut AnyRows::F64(Rows::from_slice(&x, 6).unwrap()), &run).unwrap()
    };
    let (one, three) = (from(1), from(3));
    let words = "n_init=3 has no effect here: one start is made, from the given model";
    assert!(three.report().warnings.iter().any(|w| w == words), "{:?}", three.report().warnings);
    assert!(!one.report().warnings.iter().any(|w| w.contains("n_init")), "{:?}", one.report().warnings);
    assert_eq!(one.tensors(), three.tensors());
    // Without a model it has an effect.
    let cold = fit(&x, 6, json!({"n_components": 3, "max_iter": 5, "n_init": 3}));
    assert!(!cold.report().warnings.iter().any(|w| w.contains("n_init")), "{:?}", cold.report().warnings);
}

#[test]
fn of_several_starts_the_best_is_kept() {
    let x = biclusters("D1", 1, 2).unwrap().x.into_vec();
    let mut better = 0;
    for seed in 0..4 {
        let value = |starts: u64| {
            let given = json!({"n_components": 10, "max_iter": 60, "n_init": starts});
            diagnostic(&fit_seeded(&x, 100, given, seed), "final_objective").as_f64().unwrap()
        };
        let (one, three) = (value(1), value(3));
        assert!(three >= one, "{one} {three}");
        better += u32::from(three > one);
    }
    assert!(better > 0, "no start is better than the first, so the test compares nothing");
}
