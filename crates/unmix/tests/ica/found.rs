//! Accuracy of the sources that are found, and the number of iterations.

use super::made::{amari, fit, fit_f32, gain, mix, mixed_kinds, mixing};
use crate::made::{median, settings};
use serde_json::{Value, json};
use unmix::internal::num::random::Stream;
use unmix::{AnyRows, Matrix, Outcome, Rows, Run};

/// Median Amari distance over five mixtures, and the number of iterations of each.
fn over_seeds(given: &Value, k: usize, n: usize) -> (f64, Vec<u64>) {
    let fits = (0..5).map(|seed| {
        let a = mixing(k, k, seed);
        let model = fit("ica", given.clone(), &mix(&mixed_kinds(n, k, seed), &a), k);
        (amari(&gain(&model, &a)), model.report().n_iter)
    });
    let (distances, n_iter): (Vec<f64>, Vec<u64>) = fits.unzip();
    (median(distances), n_iter)
}

#[test]
fn distances_are_those_of_an_independent_implementation() {
    // Reference values: medians over fifteen mixtures of the same four kinds of sources, by an independent implementation in another
    // language.
    for (given, want) in [
        (json!({"algorithm": "fastica", "fun": "cube"}), 0.0289),
        (json!({"algorithm": "fastica"}), 0.0178),
        (json!({"algorithm": "fastica", "fun": "exp"}), 0.0170),
        (json!({"algorithm": "fastica", "orthogonalization": "deflation"}), 0.0225),
        (json!({}), 0.0178),
        (json!({"ortho": false, "extended": true}), 0.0187),
        (json!({"algorithm": "infomax", "extended": true}), 0.0187),
    ] {
        let (found, _) = over_seeds(&given, 8, 2000);
        assert!((found / want - 1.0).abs() < 0.3, "{given}: {found} instead of {want}");
    }
    for (given, want) in [(json!({"algorithm": "fastica", "fun": "cube"}), 0.0092), (json!({}), 0.0055)] {
        let (found, _) = over_seeds(&given, 8, 20_000);
        assert!((found / want - 1.0).abs() < 0.3, "{given}: {found} instead of {want}");
    }
    let (easi, _) = over_seeds(&json!({"algorithm": "easi"}), 4, 20_000);
    assert!(easi < 0.03, "easi: {easi}");
}

#[test]
fn twenty_sources_are_found_as_accurately_and_in_as_few_iterations() {
    let (k, n) = (20, 20_000);
    for (given, want, typical) in [
        (json!({"algorithm": "fastica", "fun": "cube"}), 0.0099, 20),
        (json!({"algorithm": "fastica"}), 0.0055, 20),
        (json!({"algorithm": "fastica", "fun": "exp"}), 0.0052, 20),
        (json!({}), 0.0055, 25),
        (json!({"ortho": false, "extended": true}), 0.0056, u64::MAX),
        (json!({"algorithm": "fastica", "orthogonalization": "deflation"}), 0.0075, u64::MAX),
    ] {
        let mut given = given;
        given["tol"] = json!(if typical == u64::MAX { 1e-6 } else { 1e-9 });
        let (found, mut n_iter) = over_seeds(&given, k, n);
        assert!((found / want - 1.0).abs() < 0.3, "{given}: {found} instead of {want}");
        n_iter.sort_unstable();
        assert!(typical == u64::MAX || n_iter[2] <= typical && n_iter[4] <= 30, "{given}: {n_iter:?}");
    }
}

#[test]
fn few_iterations_reach_a_small_gradient() {
    for (given, typical) in [(json!({"algorithm": "fastica"}), 20), (json!({}), 25)] {
        let mut given = given;
        given["tol"] = json!(1e-9);
        let (_, mut n_iter) = over_seeds(&given, 8, 2000);
        n_iter.sort_unstable();
        assert!(n_iter[2] <= typical && n_iter[4] <= 30, "{given}: {n_iter:?}");
    }
}

#[test]
fn single_precision_converges_too() {
    for (key, given) in [
        ("ica", json!({})),
        ("ica", json!({"algorithm": "fastica"})),
        ("ica", json!({"ortho": false, "extended": true})),
        ("fastica", json!({})),
        ("fastica", json!({"algorithm": "deflation"})),
    ] {
        let (k, a) = (8, mixing(8, 8, 1));
        let x = mix(&mixed_kinds(20_000, k, 1), &a);
        let (single, double) = (fit_f32(key, given.clone(), &x, k), fit(key, given.clone(), &x, k));
        assert_eq!(
            single.report().outcome,
            Outcome::Converged,
            "{key} {given}: {:?}",
            single.report().residual
        );
        let [s, d] = [&single, &double].map(|m| amari(&gain(m, &a)));
        assert!((s / d - 1.0).abs() < 0.02, "{key} {given}: {s} and {d}");
    }
}

#[test]
fn the_objective_never_rises() {
    let x = mix(&mixed_kinds(1000, 6, 3), &mixing(6, 6, 3));
    for given in [
        json!({"extended": false}),
        json!({"ortho": false}),
        json!({"algorithm": "infomax"}),
        json!({"extended": false, "fun": "exp"}),
        json!({"ortho": false, "whiten": false}),
        json!({"fun": "adaptive", "ortho": false}),
    ] {
        let model = fit("ica", given.clone(), &x, 6);
        let objective = &model.report().objective;
        assert!(objective.len() > 3, "{given}: {objective:?}");
        assert!(objective.windows(2).all(|o| o[1] <= o[0] + 1e-13 * o[0].abs()), "{given}: {objective:?}");
    }
}

#[test]
fn with_signs_that_are_right_from_the_start_the_objective_never_rises() {
    // All sources heavy-tailed, or all sub-Gaussian, and a start near the solution: the signs of the contrasts are right from the first
    // iteration on.
    let (n, k) = (4000, 5);
    let flat = |i: usize, j: usize| Stream::new(1, j as u64).uniform(i as u64) - 0.5;
    let [heavy, flat] = [super::made::laplace(n, k, 2), Matrix::from_fn(n, k, flat)]
        .map(|s| mix(&s, &Matrix::from_fn(k, k, |i, j| f64::from(u8::from(i == j)))));
    let near = Matrix::from_fn(k, k, |i, j| f64::from(u8::from(i == j)) + 0.15 * mixing(k, k, 5)[(i, j)]);
    let rows: Vec<&[f64]> = (0..k).map(|i| near.row(i)).collect();
    for x in [&heavy, &flat] {
        for given in [
            json!({}),
            json!({"algorithm": "fastica"}),
            json!({"ortho": false, "extended": true}),
            json!({"algorithm": "infomax", "extended": true, "whiten": false}),
        ] {
            let mut given = given;
            (given["w_init"], given["tol"]) = (json!(rows), json!(1e-9));
            let model = fit("ica", given.clone(), x, k);
            let objective = &model.report().objective;
            assert!(
                objective.len() > 2 && model.report().outcome == Outcome::Converged,
                "{given}: {objective:?}"
            );
            assert!(
                objective.windows(2).all(|o| o[1] <= o[0] + 1e-13 * o[0].abs()),
                "{given}: {objective:?}"
            );
        }
    }
}

#[test]
fn the_objective_rises_only_in_iterations_that_change_an_estimated_sign() {
    // Two sources are heavy-tailed and six are uniform. A search begins at a random rotation, whose mixtures of all sources have other signs
    // than the sources, so signs change on the way, in both directions; a change from - to + raises the objective.
    let (n, k) = (400, 8);
    for given in [
        json!({"whiten": false}),
        json!({"whiten": false, "algorithm": "fastica"}),
        json!({"whiten": false, "algorithm": "infomax", "extended": true}),
    ] {
        let (mut changes, mut rises, mut steps) = (0, 0, 0);
        for seed in 0..12 {
            let streams: Vec<Stream> = (0..k).map(|j| Stream::new(seed, 200 + j as u64)).collect();
            let x = Matrix::from_fn(n, k, |i, j| match j % 4 {
                0 => streams[j].laplace(i as u64),
                _ => (streams[j].uniform(i as u64) - 0.5) * 12f64.sqrt(),
            });
            let mut rows = AnyRows::F64(Rows::from_slice(x.as_slice(), k).unwrap());
            let run = Run { seed, ..Run::default() };
            let model = unmix::fit("ica", &settings(given.clone()), &mut rows, &run).unwrap();
            let report = model.report();
            let recorded = report.diagnostics.get("sign_changes").cloned().unwrap_or_else(|| json!([]));
            let changed: Vec<u64> = serde_json::from_value(recorded).unwrap();
            let last = report.objective.len() as u64;
            let in_order = changed.windows(2).all(|c| c[0] < c[1]);
            let within = changed.iter().all(|place| (1..=last).contains(place));
            assert!(in_order && within, "{given}, seed {seed}: {changed:?}");
            for (values, place) in report.objective.windows(2).zip(2u64..) {
                let rise = values[1] > values[0] + 1e-13;
                let change = changed.contains(&place);
                assert!(
                    change || !rise,
                    "{given}, seed {seed}, iteration {place}: {values:?}, changes {changed:?}"
                );
                (rises, steps) = (rises + u64::from(rise), steps + u64::from(!change));
            }
            changes += changed.len();
        }
        assert!(
            changes > 0 && rises > 0 && steps > 0,
            "{given}: {changes} changes, {rises} rises, {steps} steps"
        );
    }
}

#[test]
fn sources_have_unit_variance_and_are_ordered_by_explained_variance() {
    let (n, k, p) = (3000, 4, 7);
    let a = mixing(p, k, 6);
    let x = mix(&mixed_kinds(n, k, 6), &a);
    let model = fit("ica", json!({"n_components": k}), &x, p);
    let y = super::made::sources(&model, &x);
    let mixing = model.tensor("mixing").unwrap().to_matrix();
    let sizes = crate::made::numbers(&model, "component_variance");
    for i in 0..k {
        let variance = (0..n).map(|r| y[(r, i)] * y[(r, i)]).sum::<f64>() / n as f64;
        assert!((variance - 1.0).abs() < 1e-11);
        let size: f64 = (0..p).map(|j| mixing[(j, i)].powi(2)).sum();
        assert!((size / sizes[i] - 1.0).abs() < 1e-11);
    }
    assert!(sizes.windows(2).all(|s| s[0] >= s[1]));
    // `y = (x - mean) diag(1/noise) W diag(1/scale) V`, factor by factor.
    let [w, v] = ["rotation", "second_rotation"].map(|t| model.tensor(t).unwrap().to_matrix());
    let scale = crate::made::numbers(&model, "scale");
    let product =
        unmix::Matrix::from_fn(p, k, |j, c| (0..k).map(|i| w[(j, i)] / scale[i] * v[(i, c)]).sum::<f64>());
    let encoder = model.tensor("components").unwrap().to_matrix().transposed();
    assert!(crate::made::apart(product.as_slice(), encoder.as_slice()) < 1e-12);
    // Reconstruction is exact in the span of the directions that are kept.
    let mut sink = unmix::data::VecSink(Vec::new());
    let rows = unmix::Rows::from_slice(&x, p).unwrap();
    model.reconstruct(&rows, &unmix::Run::default(), &mut sink).unwrap();
    assert!(crate::made::apart(&sink.0, &x) < 1e-10);
    // Reconstruction without components 1 and 3 is the sum over the others.
    let mut without = unmix::data::VecSink(Vec::new());
    model.reconstruct_without(&[1, 3], &rows, &unmix::Run::default(), &mut without).unwrap();
    let mean = crate::made::numbers(&model, "mean");
    let want: Vec<f64> = (0..n * p)
        .map(|at| mean[at % p] + [0, 2].map(|i| y[(at / p, i)] * mixing[(at % p, i)]).iter().sum::<f64>())
        .collect();
    assert!(crate::made::apart(&without.0, &want) < 1e-10);
    let refused = model.reconstruct_without(&[4], &rows, &unmix::Run::default(), &mut without).unwrap_err();
    assert!(refused.to_string().contains("4 components"), "{refused}");
}

#[test]
fn sources_can_be_ordered_by_kurtosis_or_left_as_found() {
    let (k, a) = (4, mixing(4, 4, 8));
    let x = mix(&mixed_kinds(5000, k, 8), &a);
    let model = fit("ica", json!({"order": "kurtosis"}), &x, k);
    let y = super::made::sources(&model, &x);
    let fourth = |i: usize| (0..5000).map(|r| y[(r, i)].powi(4)).sum::<f64>();
    assert!((1..k).all(|i| fourth(i - 1) >= fourth(i)));
    let [found, sorted] = ["found", "variance"].map(|o| fit("ica", json!({"order": o}), &x, k));
    let pairs = unmix::metrics::match_rows(
        &found.tensor("components").unwrap().to_matrix(),
        &sorted.tensor("components").unwrap().to_matrix(),
    );
    assert!(pairs.cosine.iter().all(|c| *c == 1.0 || (c - 1.0).abs() < 1e-14));
}

#[test]
fn a_share_of_the_variance_is_as_many_sources_as_directions_explain_more() {
    let (n, p) = (2000, 7);
    let x = crate::made::falling(n, p, 4);
    for share in [0.3, 0.8, 0.95, 0.999] {
        let directions = crate::made::pca(json!({"n_components": share}), &x, p).n_components();
        for (key, given) in [
            ("ica", json!({"n_components": share})),
            ("ica", json!({"n_components": share, "algorithm": "easi", "max_iter": 20})),
            ("fastica", json!({"n_components": share})),
        ] {
            let model = fit(key, given.clone(), &x, p);
            assert_eq!(model.n_components(), directions, "{key} {given}");
            assert_eq!(model.report().settings["n_components"], json!(directions), "{key} {given}");
        }
    }
}
