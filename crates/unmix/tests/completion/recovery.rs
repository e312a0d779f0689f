//! Recovery of matrices of low rank, and of the number of factors.

use super::{Design, cells_of_freedom, completed};
use crate::made::{numbers, repetitions};
use serde_json::json;
use unmix::Outcome;

#[test]
fn a_matrix_without_noise_is_recovered_whatever_number_of_factors_is_requested() {
    let design = Design::new((100, 80, 4), 0.4, 0.0, 3);
    for (k, offsets) in [(json!(4), true), (json!(7), true), (json!(4), false), (json!(null), true)] {
        let model = design.fit(json!({"n_components": k, "offsets": offsets}));
        let report = model.report();
        assert_eq!((report.outcome, model.n_components()), (Outcome::Converged, 4), "{k}, {offsets}");
        assert!(design.error(&model) < 1e-10, "{k}, {offsets}: {:e}", design.error(&model));
        let warned = report.warnings.iter().any(|w| w.contains("the observed cells support 4 of 7 factors"));
        assert_eq!(warned, k == json!(7), "{k}, {offsets}: {:?}", report.warnings);
    }
}

/// Noise as large as each factor and as half of it; the iterations end when the noise has settled, while superfluous factors still shrink.
#[test]
fn superfluous_factors_of_noisy_cells_are_left_out() {
    for (noise, share) in [(1.0, 0.92), (1.0, 0.25), (1.5, 0.9), (0.3, 0.9)] {
        let design = Design::new((200, 150, 3), share, noise, 3);
        for given in [
            json!({}),
            json!({"n_components": 5}),
            json!({"n_components": 10}),
            json!({"n_components": 10, "tol": 1e-5, "max_iter": 1000}),
            json!({"algorithm": "soft-impute"}),
            json!({"algorithm": "ppca-em", "tol": 1e-6, "max_iter": 1000}),
        ] {
            let model = design.fit(given.clone());
            assert_eq!(model.n_components(), 3, "{noise}, {share}, {given}");
            let size = numbers(&model, "component_variance");
            assert!(size.iter().all(|s| *s > 0.2 * size[0]), "{noise}, {share}, {given}: {size:?}");
            let found = numbers(&model, "noise_variance")[0];
            // Maximum likelihood does not correct for the parameters of the columns, four for the 50 cells of each in the second design.
            let slack = if given.get("algorithm") == Some(&json!("ppca-em")) { 0.15 } else { 0.05 };
            assert!((found / (noise * noise) - 1.0).abs() < slack, "{noise}, {share}, {given}: {found}");
            let warned =
                model.report().warnings.iter().any(|w| w.contains("the observed cells support 3 of"));
            assert_eq!(warned, given.get("n_components").is_some(), "{given}: {:?}", model.report().warnings);
        }
    }
    // A number is a maximum.
    let design = Design::new((200, 150, 3), 0.9, 1.0, 4);
    assert_eq!(design.fit(json!({"n_components": 2})).n_components(), 2);
}

#[test]
fn offsets_noise_and_number_of_factors_come_from_the_cells() {
    let design = Design::new((120, 90, 4), 0.4, 0.3, 3).with_offsets(5.0, 2.0, 3.0, 1);
    for k in [json!(4), json!(7), json!(null)] {
        let model = design.fit(json!({"n_components": k}));
        assert_eq!(model.n_components(), 4, "{k}");
        // A cell's error beside the noise's: the factors of both sides are known to some 10 %.
        assert!(design.error(&model) < 0.03, "{k}: {}", design.error(&model));
        let noise = numbers(&model, "noise_variance")[0];
        assert!((noise / 0.09 - 1.0).abs() < 0.05, "{k}: {noise}");
        assert!((numbers(&model, "row_offset_scale")[0] / 2.0 - 1.0).abs() < 0.25, "{k}");
    }
    // Without offsets, they take two factors more.
    let model = design.fit(json!({"n_components": 8, "offsets": false}));
    assert_eq!(model.n_components(), 6);
    assert!(numbers(&model, "row_offsets").iter().all(|b| *b == 0.0));
}

#[test]
fn the_bound_on_the_evidence_never_decreases() {
    let noisy = Design::new((60, 50, 3), 0.3, 0.5, 11).with_offsets(-2.0, 1.0, 0.5, 4);
    for (given, most) in [
        (json!({"n_components": 3, "tol": 1e-9, "max_iter": 300}), 300),
        (json!({"n_components": 8, "tol": 1e-9, "max_iter": 300}), 300),
        (json!({"n_components": 5, "offsets": false, "tol": 1e-9, "max_iter": 300}), 300),
        (json!({"n_components": 0, "tol": 1e-12}), 100),
    ] {
        let model = noisy.fit(given.clone());
        let bound = &model.report().objective;
        assert!(bound.windows(2).all(|v| v[1] >= v[0] - 1e-12 * v[0].abs()), "{given}: {bound:?}");
        assert!(bound.len() <= most && bound.len() > 3, "{given}: {}", bound.len());
    }
    // As long as there is noise above its floor, a matrix without any, too.
    let exact = Design::new((60, 50, 3), 0.4, 0.0, 11).fit(json!({"n_components": 5}));
    let bound = &exact.report().objective;
    assert!(bound[..20].windows(2).all(|v| v[1] >= v[0] - 1e-12 * v[0].abs()), "{bound:?}");
}

/// All matrices are recovered, whether `n_components` is the number of factors, twice that number or not given; but one in twenty of rank 4
/// with two cells for each degree of freedom and four factors: with seed 0 the iterations end at a local maximum of the bound.
#[test]
fn recovery_by_the_number_of_cells_is_that_of_the_table() {
    // Ten seeds, and their double.
    let (seeds, ways) = (repetitions(10, 20), repetitions(2, 3));
    for (r, c) in [(2, 3.0), (2, 5.0), (4, 2.0), (4, 3.0), (4, 5.0)] {
        for k in &[json!(r), json!(2 * r), json!(null)][..ways] {
            let given = json!({"n_components": k, "offsets": false, "tol": 1e-9, "max_iter": 500});
            let error = |seed: u64| {
                let design = cells_of_freedom(r, c, seed);
                design.error(&design.fit(given.clone()))
            };
            let errors: Vec<f64> = (0..seeds).map(error).collect();
            let lost = errors.iter().filter(|error| error.is_nan() || **error >= 1e-3).count();
            let allowed = usize::from((r, c) == (4, 2.0) && *k == json!(r));
            assert!(
                lost <= allowed,
                "rank {r}, {c} cells for a degree of freedom, n_components={k}: {lost} of {seeds} lost, {errors:?}"
            );
        }
    }
}

#[test]
fn rank_zero_is_a_model() {
    let design = Design::new((80, 40, 0), 0.5, 0.5, 2).with_offsets(3.0, 1.0, 2.0, 9);
    let model = design.fit(json!({"n_components": 0}));
    assert_eq!((model.n_components(), model.tensor("components").unwrap().shape()), (0, &[0, 40][..]));
    assert!((numbers(&model, "noise_variance")[0] / 0.25 - 1.0).abs() < 0.1);
    assert!(design.error(&model) < 0.05, "{}", design.error(&model));
    assert!(completed(&model).iter().all(|x| x.is_finite()));
    // Requested factors that the cells do not support are dropped.
    assert_eq!(design.fit(json!({"n_components": 3, "tol": 1e-5})).n_components(), 0);
}

#[test]
fn factors_are_ordered_by_size_with_canonical_signs_in_any_units() {
    let design = Design::new((90, 60, 3), 0.5, 0.2, 5).with_offsets(1.0, 1.0, 1.0, 6);
    let model = design.fit(json!({"n_components": 3}));
    let size = numbers(&model, "component_variance");
    assert!(size.windows(2).all(|v| v[0] >= v[1]), "{size:?}");
    let components = model.tensor("components").unwrap().to_matrix();
    for a in 0..3 {
        assert_eq!(unmix::model::sign_of(components.row(a), f64::EPSILON), 1.0);
        let sum: f64 = components.row(a).iter().map(|v| v * v).sum();
        assert!((sum / size[a] - 1.0).abs() < 1e-12);
    }
    let mut far = Design { x: design.x.iter().map(|x| 1e9 * x).collect(), ..design };
    far.truth.iter_mut().for_each(|x| *x *= 1e9);
    let scaled = far.fit(json!({"n_components": 3}));
    let apart = components.as_slice().iter().zip(numbers(&scaled, "components"));
    assert!(apart.fold(0.0f64, |m, (a, b)| m.max((a - b / 1e9).abs())) < 1e-9);
    assert_eq!(scaled.report().n_iter, model.report().n_iter);
}
