//! Settings that are names of one method: to the bit, or up to the tolerance.

use super::made::{components, fit, fit_on, laplace, mix, mixed_kinds, mixing};
use crate::made::apart;
use serde_json::{Value, json};

fn same_bits(a: (&str, Value), b: (&str, Value), x: &[f64], p: usize) {
    let [first, second] = [a, b].map(|(key, given)| components(&fit(key, given, x, p)));
    assert!(first.iter().zip(&second).all(|(a, b)| a.to_bits() == b.to_bits()));
}

fn near(a: Value, b: Value, x: &[f64], p: usize, tol: f64) {
    let distance =
        apart(&components(&fit("ica", a.clone(), x, p)), &components(&fit("ica", b.clone(), x, p)));
    assert!(distance < tol, "{a} and {b} are {distance:e} apart");
}

#[test]
fn the_drop_in_takes_the_same_steps() {
    let x = mix(&mixed_kinds(3000, 5, 1), &mixing(5, 5, 1));
    for steps in [1, 4, 6] {
        let ours = json!({"algorithm": "fastica", "tol": 0.0, "max_iter": steps});
        same_bits(("ica", ours), ("fastica", json!({"tol": 0.0, "max_iter": steps})), &x, 5);
    }
}

#[test]
fn extended_infomax_is_pickards_density_with_both_signs() {
    let x = mix(&mixed_kinds(3000, 5, 1), &mixing(5, 5, 1));
    let infomax = json!({"algorithm": "infomax", "extended": true});
    same_bits(("ica", infomax), ("ica", json!({"ortho": false, "extended": true})), &x, 5);
    same_bits(("ica", json!({"fun": "tanh"})), ("ica", json!({})), &x, 5);
    // Without white coordinates there is no best rotation to begin with, and yet it is the same solution.
    near(
        json!({"ortho": false, "extended": true, "tol": 1e-9}),
        json!({"ortho": false, "extended": true, "tol": 1e-9, "w_init": [
            [1, 0.1, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0.2], [0, 0, 0, 1, 0], [0, 0.1, 0, 0, 1]]}),
        &x,
        5,
        1e-6,
    );
}

#[test]
fn the_fixed_point_and_the_quasi_newton_steps_have_one_solution() {
    let (k, a) = (6, mixing(6, 6, 3));
    let x = mix(&mixed_kinds(8000, k, 3), &a);
    for fun in ["logcosh", "exp", "cube"] {
        near(
            json!({"fun": fun, "tol": 1e-9}),
            json!({"fun": fun, "tol": 1e-9, "algorithm": "fastica"}),
            &x,
            k,
            1e-6,
        );
    }
}

#[test]
fn skewness_finds_what_is_skewed() {
    let s = unmix::num::random::Stream::new(4, 0);
    let sources = unmix::Matrix::from_fn(6000, 4, |i, j| -s.uniform((4 * i + j) as u64).ln() - 1.0);
    let a = mixing(4, 4, 4);
    let x = mix(&sources, &a);
    near(json!({"fun": "skew"}), json!({"fun": "skew", "algorithm": "fastica"}), &x, 4, 1e-4);
    assert!(super::made::amari(&super::made::gain(&fit("ica", json!({"fun": "skew"}), &x, 4), &a)) < 0.02);
}

#[test]
fn with_heavy_tails_only_signs_have_nothing_to_do_and_the_densities_differ() {
    let (k, a) = (4, mixing(4, 4, 5));
    let x = mix(&laplace(6000, k, 5), &a);
    near(json!({"extended": false, "tol": 1e-10}), json!({"tol": 1e-10}), &x, k, 1e-8);
    // The logistic density is not the other one on another scale.
    let [tanh, logistic] = [json!({"ortho": false}), json!({"algorithm": "infomax"})]
        .map(|given| components(&fit("ica", given, &x, k)));
    assert!(apart(&tanh, &logistic) > 1e-4);
}

#[test]
fn threads_change_no_bit() {
    let x = mix(&mixed_kinds(80_000, 4, 1), &mixing(4, 4, 1));
    let wide = mix(&mixed_kinds(20_000, 3, 1), &mixing(12, 3, 1));
    for given in [
        json!({}),
        json!({"algorithm": "fastica", "orthogonalization": "deflation"}),
        json!({"ortho": false, "extended": true}),
        json!({"fun": "adaptive", "ortho": false}),
    ] {
        for (x, p) in [(&x, 4), (&wide, 12)] {
            let one = fit_on(1, "ica", given.clone(), x, p);
            for threads in [2, 3] {
                let more = fit_on(threads, "ica", given.clone(), x, p);
                assert_eq!(crate::made::bits(&one), crate::made::bits(&more), "{given}, {threads} threads");
            }
        }
    }
}

#[test]
fn more_starts_are_never_worse() {
    let (k, a) = (5, mixing(5, 5, 9));
    let x = mix(&mixed_kinds(600, k, 9), &a);
    let last = |n_init: u64| *fit("ica", json!({"n_init": n_init}), &x, k).report().objective.last().unwrap();
    let sweeps = |n_init: u64| fit("ica", json!({"n_init": n_init}), &x, k).report().sweeps;
    assert!(last(4).is_finite() && sweeps(4) > 2 * sweeps(1));
}

#[test]
fn a_search_that_begins_on_some_rows_ends_where_one_on_all_does() {
    let (k, a) = (4, mixing(4, 4, 11));
    let x = mix(&mixed_kinds(60_000, k, 11), &a);
    let (all, some) = (json!({"tol": 1e-9, "subsample": 0}), json!({"tol": 1e-9}));
    near(all.clone(), some.clone(), &x, k, 1e-7);
    near(all.clone(), json!({"tol": 1e-9, "subsample": 3000, "algorithm": "fastica"}), &x, k, 1e-7);
    near(
        json!({"ortho": false, "extended": true, "tol": 1e-9, "subsample": 0}),
        json!({"ortho": false, "extended": true, "tol": 1e-9}),
        &x,
        k,
        1e-7,
    );
    let [all, some] = [all, some].map(|given| fit("ica", given, &x, k));
    assert_eq!(some.report().outcome, unmix::Outcome::Converged);
    let (few, many) = (some.report().sweeps, all.report().sweeps);
    assert!(few < many, "{few} passes and {many}");
    // A start that is given is not left for one that some rows like better, and steps that are counted are all of them.
    let turn = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
    let objective = |given: Value| fit("ica", given, &x, k).report().objective.len();
    assert_eq!(objective(json!({"max_iter": 3, "w_init": turn})), 3);
    assert_eq!(fit("ica", json!({"max_iter": 2}), &x, k).report().n_iter, 2);
}

#[test]
fn both_orders_of_two_layers_are_one_solution_and_near_that_of_the_fixed_point() {
    // The mixing is far from orthogonal: one layer would fail.
    let (k, a) = (4, mixing(4, 4, 12));
    let x = mix(&laplace(20_000, k, 12), &a);
    let first = json!({"algorithm": "sigma-pca", "tol": 1e-8});
    let both = json!({"algorithm": "sigma-pca", "tol": 1e-8, "first_layer": "sigma-pca"});
    near(first.clone(), both, &x, k, 1e-4);
    let model = fit("ica", first, &x, k);
    let found = super::made::amari(&super::made::gain(&model, &a));
    let fixed = super::made::amari(&super::made::gain(&fit("ica", json!({}), &x, k), &a));
    assert!(found < 1.5 * fixed, "{found} and {fixed}");
    assert_eq!(
        (model.report().solver.as_str(), model.report().outcome),
        ("sigma-pca", unmix::Outcome::Converged)
    );
}

#[test]
fn both_orders_agree_on_sources_of_all_kinds() {
    // Widths are chosen on the way, and sources next to Gaussian (Student's) by little: at rest the choice must be the same one.
    for seed in 0..4 {
        let (k, a) = (8, mixing(8, 8, seed));
        let x = mix(&mixed_kinds(5000, k, seed), &a);
        let of = |first: &str| json!({"algorithm": "sigma-pca", "tol": 1e-8, "max_iter": 2000, "first_layer": first});
        near(of("pca"), of("sigma-pca"), &x, k, 1e-5);
        let far = super::made::amari(&super::made::gain(&fit("ica", of("pca"), &x, k), &a));
        assert!(far < 0.015, "seed {seed}: {far}");
    }
}
