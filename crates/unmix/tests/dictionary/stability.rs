//! Atoms compared: over halves of the rows, over seeds, with the truth.

use super::made;
use crate::made::{falling, settings, try_fit};
use serde_json::json;
use unmix::internal::num::random::Stream;
use unmix::metrics::match_rows;
use unmix::stability::{Trials, Verdict, stability};
use unmix::{AnyRows, Matrix, Rows, Run};

#[test]
fn atoms_of_the_rows_agree_over_halves_and_seeds_and_those_of_noise_do_not() {
    let given =
        json!({"n_components": 30, "alpha": 0.1, "batch_size": 100, "max_epochs": 8, "forgetting": 20.0});
    let trials = Trials { splits: 3, restarts: 2, bootstrap: Some(0) };
    let run = Run { threads: 2, ..Run::default() };
    let of = |x: &[f64]| {
        let model = try_fit("dictionary", &settings(given.clone()), x, 20).unwrap();
        stability(&model, &AnyRows::F64(Rows::from_slice(x, 20).unwrap()), trials, &run).unwrap()
    };
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let found = of(&made(4000, 1).0);
    assert!(mean(&found.halves) > 0.9, "{:?}", found.halves);
    assert!(mean(found.restarts.as_ref().unwrap()) > 0.9, "{:?}", found.restarts);
    // Atoms are judged alone, and codes that are mostly 0 are not tested for Gaussianity.
    assert!(found.gaussian.is_empty());
    assert!(found.verdicts.iter().all(|v| !matches!(v, Verdict::Group(_))), "{:?}", found.verdicts);
    let chance = found.chance.unwrap();
    assert!((0.35..0.6).contains(&chance), "30 random directions of 20 columns match 30 others by {chance}");
    assert_eq!(found.to_json()["chance"], json!(chance));
    let draws = Stream::new(3, 0);
    let noise: Vec<f64> = (0..2000 * 20).map(|i| draws.normal(i as u64)).collect();
    let lost = of(&noise);
    assert!(mean(&lost.halves) < 0.75, "{:?}", lost.halves);
    // Complete models have no chance level.
    let x = falling(300, 5, 1);
    let pca = crate::made::pca(json!({}), &x, 5);
    let rows = AnyRows::F64(Rows::from_slice(&x, 5).unwrap());
    assert_eq!(stability(&pca, &rows, trials, &run).unwrap().chance, None);
}

#[test]
fn overcomplete_dictionaries_are_matched() {
    let (_, atoms) = made(2, 5);
    let turned =
        Matrix::from_fn(30, 20, |i, j| if i % 2 == 0 { -3.0 } else { 0.5 } * atoms[((7 * i) % 30, j)]);
    let found = match_rows(&atoms, &turned);
    assert!(found.cosine.iter().all(|c| (c - 1.0).abs() < 1e-12));
    assert!((0..30).all(|i| (7 * found.order[i]) % 30 == i), "{:?}", found.order);
    assert!((0..30).all(|i| found.sign[i] == if found.order[i].is_multiple_of(2) { -1.0 } else { 1.0 }));
}

#[test]
fn intervals_of_atoms_without_resamples_are_from_0_to_1_unless_the_bound_is_requested() {
    // Halves of 16 rows are too small for resamples, so that there are no resamples by default.
    let (x, run) = (falling(16, 4, 3), Run { threads: 1, ..Run::default() });
    let model = try_fit("dictionary", &settings(json!({"n_components": 2, "max_epochs": 2})), &x, 4).unwrap();
    let of = |bootstrap: Option<usize>| {
        let rows = AnyRows::F64(Rows::from_slice(&x, 4).unwrap());
        stability(&model, &rows, Trials { splits: 3, restarts: 0, bootstrap }, &run).unwrap()
    };
    let (default, bound) = (of(None), of(Some(0)));
    assert_eq!((default.bootstrap, bound.bootstrap), (0, 0));
    assert!(default.interval.iter().all(|interval| *interval == (0.0, 1.0)), "{:?}", default.interval);
    assert!(default.verdicts.iter().all(|v| matches!(v, Verdict::Undecided(_))), "{:?}", default.verdicts);
    assert!(bound.interval.iter().all(|interval| *interval != (0.0, 1.0)), "{:?}", bound.interval);
}
