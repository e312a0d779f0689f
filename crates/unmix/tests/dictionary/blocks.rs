//! Algorithms with rows and codes in memory.

use super::{diagnostic, made, recovered};
use crate::made::{dot, encode, falling, median, numbers, repetitions, settings, try_fit, warned};
use serde_json::{Value, json};
use unmix::internal::num::random::Stream;
use unmix::{DictionaryLearning, Matrix, Model, Outcome, Rows, Run};

fn fit(given: Value, x: &[f64], p: usize) -> Model {
    try_fit("dictionary", &settings(given), x, p).unwrap()
}

#[test]
fn the_objective_never_rises() {
    let (x, _) = made(400, 1);
    for given in [
        json!({"algorithm": "alternating", "max_iter": 40}),
        json!({"algorithm": "alternating", "max_iter": 40, "positive_code": true, "positive_dict": true}),
        json!({"algorithm": "palm", "max_iter": 150}),
        json!({"algorithm": "palm", "max_iter": 150, "atom_norm": "sphere"}),
        json!({"algorithm": "ipalm", "max_iter": 150}),
    ] {
        let mut given = given;
        given["n_components"] = json!(30);
        given["alpha"] = json!(0.1);
        let model = fit(given.clone(), &x, 20);
        let objective = &model.report().objective;
        assert!(objective.len() > 20 && objective.windows(2).all(|v| v[1] <= v[0]), "{given}: {objective:?}");
        assert_eq!(objective.len() as u64, model.report().n_iter);
    }
}

#[test]
fn inertia_needs_fewer_steps() {
    let (x, _) = made(500, 2);
    let after = |algorithm: &str| {
        let given =
            json!({"algorithm": algorithm, "n_components": 30, "alpha": 0.1, "max_iter": 100, "tol": 0.0});
        *fit(given, &x, 20).report().objective.last().unwrap()
    };
    assert!(after("ipalm") < after("palm"), "{} and {}", after("ipalm"), after("palm"));
}

#[test]
fn palm_is_alternating_with_one_step_each_and_layerwise_has_its_bits() {
    let (x, _) = made(300, 3);
    let with = |more: Value| {
        let mut given = json!({"n_components": 25, "alpha": 0.1, "max_iter": 60, "tol": 0.0});
        given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fit(given, &x, 20)
    };
    let palm = with(json!({"algorithm": "palm"}));
    let one = with(json!({"algorithm": "alternating", "code_steps": 1, "atom_steps": 1}));
    let layers = with(json!({"algorithm": "layerwise"}));
    for other in [&one, &layers] {
        assert_eq!(palm.tensor("components"), other.tensor("components"));
        assert_eq!(palm.report().objective, other.report().objective);
    }
    // The layers, applied from codes of 0, give the codes with which learning ended.
    let codes = encode(&layers, &x);
    assert_eq!(layers.tensor("layers").unwrap().shape(), [60, 25, 20]);
    let usage: f64 = numbers(&layers, "usage").iter().sum();
    let nonzero = codes.iter().filter(|z| **z != 0.0).count() as f64;
    assert!((nonzero - usage * 300.0).abs() <= 2.0, "{nonzero} and {}", usage * 300.0);
    assert!(layers.code().encoder().certificate().is_none());
}

/// A step on the codes, and one on the atoms, written out.
#[test]
fn one_block_is_the_step_of_the_formulas() {
    let p = 3;
    let x = falling(12, p, 4);
    let given = json!({"algorithm": "palm", "n_components": 2, "alpha": 0.3, "init": "dct", "max_iter": 1});
    let model = fit(given, &x, p);
    // Cosines of two frequencies along three numbers, of norm 1.
    let wave: Vec<f64> = (0..3).map(|i| ((f64::from(i) + 0.5) * std::f64::consts::PI / 3.0).cos()).collect();
    let length = dot(&wave, &wave).sqrt();
    let atoms = [vec![1.0 / 3f64.sqrt(); 3], wave.iter().map(|w| w / length).collect::<Vec<f64>>()];
    // These are orthonormal: ||A|| is 1, and codes are soft thresholds of products.
    let code = |row: &[f64], j: usize| {
        let b = dot(row, &atoms[j]);
        b.signum() * (b.abs() - 0.3).max(0.0)
    };
    let z: Vec<[f64; 2]> = x.chunks_exact(p).map(|row| [code(row, 0), code(row, 1)]).collect();
    let h = |i: usize, j: usize| z.iter().map(|z| z[i] * z[j]).sum::<f64>();
    let (trace, det) = (h(0, 0) + h(1, 1), h(0, 0) * h(1, 1) - h(0, 1) * h(0, 1));
    let s = 1.0 / (0.5 * (trace + (trace * trace - 4.0 * det).sqrt()));
    let next = |j: usize| {
        let step = |c: usize| {
            let fitted: f64 = (0..2).map(|i| h(j, i) * atoms[i][c]).sum();
            let with: f64 = x.chunks_exact(p).zip(&z).map(|(row, z)| z[j] * row[c]).sum();
            atoms[j][c] - s * (fitted - with)
        };
        let atom: Vec<f64> = (0..p).map(step).collect();
        let length = dot(&atom, &atom).sqrt().max(1.0);
        atom.iter().map(|a| a / length).collect::<Vec<f64>>()
    };
    let found = model.tensor("components").unwrap().to_matrix();
    for atom in [next(0), next(1)] {
        let near = (0..2).any(|i| {
            let sign = dot(&atom, found.row(i)).signum();
            atom.iter().zip(found.row(i)).all(|(a, b)| (a * sign - b).abs() < 1e-9)
        });
        assert!(near, "{atom:?} is not among {found:?}");
    }
}

/// Table 17.9: 4000 rows and medians of five seeds in the long tests, otherwise fewer of both.
#[test]
fn atoms_are_recovered_in_memory() {
    let (n, seeds) = repetitions((1500, 3), (4000, 5));
    let shares = |given: Value| -> Vec<f64> {
        let share = |seed: u64| {
            let (x, atoms) = made(n, seed);
            recovered(&fit(given.clone(), &x, 20), &atoms)
        };
        (0..seeds).map(share).collect()
    };
    for (algorithm, given, least) in [
        ("palm", json!({"max_iter": 1500}), 0.95),
        ("ipalm", json!({"max_iter": 500}), 0.95),
        ("alternating", json!({"max_iter": 100}), 0.95),
        ("ksvd", json!({"n_nonzero_coefs": 3, "max_iter": 40}), 0.75),
    ] {
        let mut given = given;
        given["algorithm"] = json!(algorithm);
        given["n_components"] = json!(30);
        given["alpha"] = json!(0.1);
        let found = shares(given);
        assert!(median(found.clone()) >= least, "{algorithm}: {found:?}");
    }
}

#[test]
fn pursuit_gives_atoms_of_norm_1_and_codes_of_at_most_n_nonzero_coefs() {
    let (x, _) = made(600, 5);
    let given = json!({"algorithm": "ksvd", "n_components": 30, "n_nonzero_coefs": 3, "max_iter": 15, "coder": "omp"});
    let model = fit(given, &x, 20);
    let atoms = model.tensor("components").unwrap().to_matrix();
    assert!((0..30).all(|i| (dot(atoms.row(i), atoms.row(i)) - 1.0).abs() < 1e-12));
    let codes = encode(&model, &x);
    assert!(codes.chunks_exact(30).all(|z| z.iter().filter(|z| **z != 0.0).count() <= 3));
    let objective = &model.report().objective;
    assert!(objective.last().unwrap() < &(0.5 * objective[0]), "{objective:?}");
}

#[test]
fn blocks_end_at_the_tolerance_or_at_max_iter() {
    let (x, _) = made(200, 6);
    let given =
        json!({"algorithm": "alternating", "n_components": 10, "alpha": 0.5, "tol": 1e-2, "max_iter": 400});
    let loose = fit(given, &x, 20);
    assert_eq!(loose.report().outcome, Outcome::Converged);
    assert!(loose.report().residual.unwrap() <= 1e-2 && loose.report().tol == Some(1e-2));
    let few = fit(json!({"algorithm": "palm", "n_components": 10, "alpha": 0.1, "max_iter": 15}), &x, 20);
    assert_eq!((few.report().outcome, few.report().n_iter), (Outcome::MaxIter, 15));
}

#[test]
fn replacing_unused_atoms_does_not_raise_the_objective() {
    // Rows of three columns of six: products with some random atoms are below alpha for all of them.
    let p = 6;
    let kept = |row: &[f64]| [row[0], row[1], row[2], 0.0, 0.0, 0.0];
    let x: Vec<f64> = falling(500, p, 1).chunks_exact(p).flat_map(kept).collect();
    let with = |how: &str| {
        let given = json!({
            "algorithm": "palm", "n_components": 40, "init": "random", "alpha": 3.0, "max_iter": 120,
            "dead_unit": how, "tol": 0.0,
        });
        fit(given, &x, p)
    };
    let (kept, replaced) = (with("keep"), with("residual"));
    assert_eq!(diagnostic(&kept, "replaced"), 0);
    assert!(
        diagnostic(&kept, "dead_units") > 0 && diagnostic(&replaced, "replaced") > 0,
        "{:?}",
        kept.report().diagnostics
    );
    assert!(replaced.report().objective.windows(2).all(|v| v[1] <= v[0]));
}

#[test]
fn settings_that_exclude_each_other_are_refused() {
    let x = falling(40, 5, 1);
    let message =
        |given: Value| try_fit("dictionary", &settings(given), &x, 5).map(|_| ()).unwrap_err().to_string();
    let cold = message(json!({"algorithm": "alternating", "warm_start_codes": false, "code_steps": 2}));
    assert!(cold.starts_with("code_steps") && cold.contains("warm_start_codes"), "{cold}");
    let rows = unmix::AnyRows::F64(Rows::from_slice(&x, 5).unwrap());
    let given = settings(json!({"algorithm": "palm"}));
    let refused = unmix::partial_fit("dictionary", &given, None, &rows, &Run::default());
    assert!(refused.map(|_| ()).unwrap_err().to_string().starts_with("algorithm"));
}

#[test]
fn codes_of_pursuit_have_either_sign_with_a_warning() {
    let x = falling(80, 5, 1);
    for given in
        [json!({"algorithm": "ksvd"}), json!({"coder": "omp"}), json!({"algorithm": "palm", "coder": "omp"})]
    {
        let mut given = given;
        (given["max_iter"], given["n_components"]) = (json!(20), json!(4));
        let plain = fit(given.clone(), &x, 5);
        given["positive_code"] = json!(true);
        let model = fit(given.clone(), &x, 5);
        assert!(
            warned(&model, "positive_code=true has no effect here"),
            "{given}: {:?}",
            model.report().warnings
        );
        assert_eq!(model.tensors(), plain.tensors(), "{given}");
        assert_eq!(encode(&model, &x), encode(&plain, &x), "{given}");
    }
}

#[test]
fn learning_begins_at_the_given_atoms() {
    let (x, atoms) = made(400, 8);
    let from = |atoms: &Matrix<f64>| {
        let spec = DictionaryLearning {
            dict_init: Some(atoms.clone()),
            alpha: unmix::method::dictionary::Alpha::Weight(0.1),
            max_epochs: 1,
            ..Default::default()
        };
        spec.fit(&mut Rows::from_slice(&x, 20).unwrap(), &Run::default())
    };
    let model = from(&atoms).unwrap();
    assert_eq!(model.n_components(), 30);
    assert!(recovered(&model, &atoms) > 0.9, "{}", recovered(&model, &atoms));
    let draws = Stream::new(1, 1);
    let narrow = Matrix::from_fn(3, 7, |i, j| draws.normal((7 * i + j) as u64));
    assert!(from(&narrow).map(|_| ()).unwrap_err().to_string().starts_with("dict_init"));
    let empty = Matrix::from_fn(2, 20, |i, _| i as f64);
    assert!(from(&empty).map(|_| ()).unwrap_err().to_string().contains("atom 0 is 0"));
}
