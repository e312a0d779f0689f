//! Properties of a fit: norms, usage, the objective, duality gaps of codes, first-order conditions.

use super::{diagnostic, made};
use crate::made::{dot, encode, falling, numbers, on_threads, settings, try_fit, warned};
use serde_json::{Value, json};
use unmix::data::VecSink;
use unmix::model::Tensor;
use unmix::{AnyRows, Dtype, Matrix, Model, Rows};

fn fit(given: Value, x: &[f64], p: usize) -> Model {
    try_fit("dictionary", &settings(given), x, p).unwrap()
}

/// `1/2 ||x - z A||² + alpha ||z||_1`, and the residual.
fn objective(x: &[f64], z: &[f64], atoms: &Matrix<f64>, alpha: f64) -> (f64, Vec<f64>) {
    let fitted = |j: usize| (0..atoms.rows()).map(|i| z[i] * atoms[(i, j)]).sum::<f64>();
    let r: Vec<f64> = x.iter().enumerate().map(|(j, x)| x - fitted(j)).collect();
    (0.5 * dot(&r, &r) + alpha * z.iter().map(|z| z.abs()).sum::<f64>(), r)
}

#[test]
fn atoms_have_norm_1_and_are_ordered_by_use() {
    let (x, _) = made(1500, 1);
    for (norm, positive) in [("ball", false), ("sphere", false), ("ball", true)] {
        let given = json!({"n_components": 30, "alpha": 0.1, "atom_norm": norm, "positive_code": positive});
        let model = fit(given, &x, 20);
        let atoms = model.tensor("components").unwrap().to_matrix();
        for i in 0..30 {
            let length = dot(atoms.row(i), atoms.row(i)).sqrt();
            assert!((length - 1.0).abs() < 1e-9, "{norm}: atom {i} has norm {length}");
        }
        let codes = encode(&model, &x);
        let size = |i: usize| codes.iter().skip(i).step_by(30).map(|z| z.abs()).sum::<f64>();
        // Atoms are ordered by usage in the last batches, which is about that in all rows.
        let (first, last) = ((0..10).map(size).sum::<f64>(), (20..30).map(size).sum::<f64>());
        assert!(first > last, "{first} of the first atoms, {last} of the last");
        let usage = numbers(&model, "usage");
        assert!(usage.iter().all(|u| (0.0..=1.0).contains(u)), "{usage:?}");
        let share = codes.iter().filter(|z| **z != 0.0).count() as f64 / 1500.0;
        assert!((usage.iter().sum::<f64>() / share - 1.0).abs() < 0.1, "{share} and {usage:?}");
        assert!(!positive || codes.iter().all(|z| *z >= 0.0));
        assert_eq!(diagnostic(&model, "dead_units"), 0);
        assert!(model.report().diagnostics["coherence"].as_f64().unwrap() < 1.0);
    }
}

#[test]
fn every_code_has_a_duality_gap_below_the_tolerance_and_fulfils_the_conditions() {
    let (x, _) = made(400, 2);
    let model = fit(json!({"n_components": 30}), &x, 20);
    let (atoms, alpha) = (model.tensor("components").unwrap().to_matrix(), numbers(&model, "alpha")[0]);
    let rows = Rows::from_slice(&x, 20).unwrap();
    let mut gaps = VecSink(Vec::new());
    model.certificates(&rows, &on_threads(2), &mut gaps).unwrap();
    let codes = encode(&model, &x);
    let mut worst = 0.0f64;
    for ((x, z), gap) in x.chunks_exact(20).zip(codes.chunks_exact(30)).zip(&gaps.0) {
        assert!(*gap <= 1e-6, "{gap}");
        let (value, r) = objective(x, z, &atoms, alpha);
        // A dual point of this residual bounds the objective from below.
        let most = (0..30).map(|i| dot(atoms.row(i), &r).abs()).fold(0.0, f64::max);
        let s = (alpha / most).min(1.0);
        let dual = s * dot(x, &r) - 0.5 * s * s * dot(&r, &r);
        worst = worst.max((value - dual) / (0.5 * dot(x, x)));
    }
    assert!(worst <= 2e-6, "{worst:e}");
}

#[test]
fn the_objective_of_an_epoch_is_that_of_the_lasso() {
    let (x, _) = made(700, 3);
    let model = fit(json!({"n_components": 30, "alpha": 0.1, "max_epochs": 3}), &x, 20);
    let atoms = model.tensor("components").unwrap().to_matrix();
    let history = &model.report().objective;
    assert_eq!((history.len(), model.report().n_iter), (3, 3 * 3));
    let codes = encode(&model, &x);
    let each = x.chunks_exact(20).zip(codes.chunks_exact(30));
    let mean = each.map(|(x, z)| objective(x, z, &atoms, 0.1).0).sum::<f64>() / 700.0;
    assert!((history[2] / mean - 1.0).abs() < 1e-3, "{history:?}, and {mean}");
    assert!(history[2] < history[0], "{history:?}");
}

#[test]
fn scaled_rows_have_scaled_codes() {
    let (x, _) = made(400, 4);
    let given = json!({"n_components": 25, "max_epochs": 2});
    let (plain, scaled) = (fit(given.clone(), &x, 20), {
        let x: Vec<f64> = x.iter().map(|x| x * 1024.0).collect();
        fit(given, &x, 20)
    });
    assert_eq!(plain.tensor("components"), scaled.tensor("components"));
    assert_eq!(numbers(&plain, "alpha")[0] * 1024.0, numbers(&scaled, "alpha")[0]);
}

#[test]
fn unused_atoms_are_replaced_except_in_the_last_epochs() {
    // Rows of three columns of six: many random atoms are nearer to none of them than others are.
    let p = 6;
    let x: Vec<f64> =
        falling(500, p, 1).chunks_exact(p).flat_map(|r| [r[0], r[1], r[2], 0.0, 0.0, 0.0]).collect();
    let fitted =
        |how: &str| fit(json!({"n_components": 40, "init": "random", "dead_unit": how, "alpha": 3.0}), &x, p);
    let (kept, replaced) = (fitted("keep"), fitted("residual"));
    assert_eq!(diagnostic(&kept, "replaced"), 0);
    assert!(diagnostic(&replaced, "replaced") > 0, "{:?}", replaced.report());
    assert!(
        diagnostic(&replaced, "dead_units") < diagnostic(&kept, "dead_units"),
        "{:?}",
        kept.report().diagnostics
    );
    assert!(diagnostic(&fitted("data"), "replaced") > 0);
    // One epoch is the last one.
    let one = fit(json!({"n_components": 40, "init": "random", "alpha": 3.0, "max_epochs": 1}), &x, p);
    assert_eq!(diagnostic(&one, "replaced"), 0);
    let warned = one.report().warnings.iter().any(|w| w.contains("used by no code in the last epoch"));
    assert_eq!(warned, diagnostic(&one, "dead_units") > 0);
}

#[test]
fn pairs_of_nearly_parallel_atoms_are_counted() {
    let (x, atoms) = made(300, 7);
    // The first two are equal, the last two opposite; with this alpha every code is 0, and the atoms stay.
    let (from, sign) = ([0, 0, 1, 2, 3, 3], [1.0, 1.0, 1.0, 1.0, 1.0, -1.0]);
    let twice = Matrix::from_fn(6, 20, |i, c| sign[i] * atoms[(from[i], c)]);
    let given = [("dict_init".to_string(), Tensor::matrix(&twice, Dtype::F64))].into_iter().collect();
    let settings = settings(json!({"alpha": 1000.0, "max_epochs": 1}));
    let mut rows = AnyRows::F64(Rows::from_slice(&x, 20).unwrap());
    let model = unmix::fit_given("dictionary", &settings, given, &mut rows, &on_threads(1)).unwrap();
    assert_eq!(diagnostic(&model, "similar_pairs"), 2);
    assert!(warned(&model, "2 pairs of atoms have a cosine above 0.99"), "{:?}", model.report().warnings);
    let learned = fit(json!({"n_components": 30, "alpha": 0.1}), &x, 20);
    let atoms = learned.tensor("components").unwrap().to_matrix();
    let cosine = |i: usize, j: usize| dot(atoms.row(i), atoms.row(j)).abs();
    let pairs = (0..30).flat_map(|i| (0..i).map(move |j| (i, j))).filter(|&(i, j)| cosine(i, j) > 0.99);
    assert_eq!(diagnostic(&learned, "similar_pairs"), pairs.count() as u64);
}

#[test]
fn non_negative_atoms_have_no_negative_entry() {
    let (x, _) = made(400, 6);
    let x: Vec<f64> = x.iter().map(|x| x.abs()).collect();
    let given =
        json!({"n_components": 10, "positive_dict": true, "positive_code": true, "atom_norm": "sphere"});
    let model = fit(given, &x, 20);
    assert!(numbers(&model, "components").iter().all(|a| *a >= 0.0));
}
