//! Bad input: units, columns and rows at their ends, and settings that exclude each other.

use super::{diagnostic, fit, normal};
use crate::made::{encode, falling, numbers, scores, settings, try_fit, warned};
use serde_json::{Value, json};

#[test]
fn constant_columns_are_left_out() {
    let (n, p) = (80, 6);
    let x = falling(n, p, 3);
    let mut still = x.clone();
    still.chunks_exact_mut(p).for_each(|row| row[2] = 7.0);
    let without: Vec<f64> = x.chunks_exact(p).flat_map(|r| [r[0], r[1], r[3], r[4], r[5]]).collect();
    for given in [
        json!({"n_components": 4, "max_iter": 30}),
        json!({"n_components": 4, "max_iter": 30, "noise": "full"}),
        json!({"n_components": 9, "max_iter": 30, "psi_min_unit": "mean"}),
        json!({"n_components": 4, "max_iter": 10, "e_step": "coordinate"}),
    ] {
        let model = fit(&still, p, given.clone());
        assert_eq!(model.report().n_constant, 1);
        assert!(
            warned(&model, "1 of 6 columns does not vary (column 2); its loadings are 0"),
            "{:?}",
            model.report().warnings
        );
        let w = model.tensor("components").unwrap().to_matrix();
        assert!((0..w.rows()).all(|j| w[(j, 2)] == 0.0));
        let other = scores(&model, &still);
        assert!(other.iter().all(|x| x.is_finite()));
        assert!(encode(&model, &still).iter().all(|x| x.is_finite()));
        // The objective is that of the other columns from the same start: as the last of the columns, a constant one does not change the
        // draws of the others.
        let mut last = without.chunks_exact(5).flat_map(|row| [row, &[7.0]].concat()).collect::<Vec<f64>>();
        last.truncate(n * p);
        let pair = [fit(&last, p, given.clone()), fit(&without, 5, given.clone())];
        let values = pair.each_ref().map(|m| diagnostic(m, "final_objective").as_f64().unwrap());
        assert!((values[0] - values[1]).abs() < 1e-9 * values[1].abs(), "{given}: {values:?}");
        let psi = model.tensor("noise_variance").map(|t| t.f64s()[2]);
        assert!(psi.is_none_or(|psi| psi == 0.0));
    }
}

#[test]
fn units_without_a_positive_code_are_dead_or_at_one_row() {
    let x = falling(60, 6, 3);
    // So low a prior that posterior means are negative everywhere.
    let given = |dead: &str| json!({"n_components": 4, "max_iter": 3, "prior_mean": -50.0, "prior_cov": 0.01, "dead_unit": dead});
    let zero = fit(&x, 6, given("zero"));
    assert_eq!(diagnostic(&zero, "dead_units"), json!(4));
    assert!(warned(&zero, "4 of 4 units are 0 in every row"));
    assert!(encode(&zero, &x).iter().all(|z| *z == 0.0));
    let hot = fit(&x, 6, given("onehot"));
    assert!(diagnostic(&hot, "one_hot").as_u64().unwrap() > 0, "{:?}", hot.report().diagnostics);
    let s = hot.tensor("code_moments").unwrap().to_matrix();
    assert!(s.as_slice().iter().all(|x| x.is_finite()));
}

#[test]
fn noise_at_its_floor_and_more_units_than_rows_give_warnings() {
    let x = falling(12, 6, 3);
    let model = fit(&x, 6, json!({"n_components": 20, "max_iter": 400, "psi_min": 0.3}));
    assert!(warned(&model, "there are at least as many units as rows"), "{:?}", model.report().warnings);
    assert!(warned(&model, "at its lower bound, psi_min"), "{:?}", model.report().warnings);
    for (k, psi) in numbers(&model, "noise_variance").iter().enumerate() {
        let mean = x.iter().skip(k).step_by(6).sum::<f64>() / 12.0;
        let c = x.iter().skip(k).step_by(6).map(|v| (v - mean).powi(2)).sum::<f64>() / 12.0;
        assert!(*psi >= 0.3 * c * (1.0 - 1e-12) && *psi <= c * (1.0 + 1e-12), "{k}: {psi} {c}");
    }
}

#[test]
fn one_unit_and_many_units_are_fits() {
    let x = normal(40, 5, 2).into_vec();
    for l in [1, 5, 6, 40, 90] {
        for mode in ["plain", "coordinate", "cascade"] {
            let model = fit(&x, 5, json!({"n_components": l, "max_iter": 5, "e_step": mode}));
            assert_eq!((model.n_codes(), encode(&model, &x).len()), (l, 40 * l));
        }
    }
}

#[test]
fn settings_that_exclude_each_other_are_refused_with_what_would_work() {
    let x = falling(40, 5, 1);
    let message = |given: Value| try_fit("rfn", &settings(given), &x, 5).map(|_| ()).unwrap_err().to_string();
    for (given, words) in [
        (json!({"e_step": "coordinate", "normalize": "std"}), "choose normalize='rms' or 'none'"),
        (json!({"e_step": "coordinate", "dead_unit": "zero"}), "choose normalize='none'"),
        (json!({"n_components": 10, "batch_size": 15}), "at least twice n_components, here 20"),
        (json!({"e_step": "plane"}), "did you mean 'plain'?"),
        (json!({"learning_rate": 1.5}), "learning_rate must"),
        (json!({"psi_min": 0.0}), "psi_min must"),
        (json!({"dropout": 1.0}), "dropout must"),
        (json!({"prior_cov": -1.0}), "prior_cov must"),
        (json!({"n_components": 0}), "n_components"),
    ] {
        let text = message(given.clone());
        assert!(text.contains(words) && !text.contains('\n'), "{given}: {text}");
    }
}

/// What only the plain mode has is refused by the others, and its defaults are not.
#[test]
fn guaranteed_modes_refuse_batches_dropout_and_noise() {
    let x = falling(40, 5, 1);
    for mode in ["cascade", "coordinate"] {
        for (name, value) in
            [("batch_size", json!(20)), ("dropout", json!(0.25)), ("input_noise", json!(0.25))]
        {
            let given = json!({"n_components": 3, "max_iter": 3, "e_step": mode, name: value});
            let text = try_fit("rfn", &settings(given), &x, 5).map(|_| ()).unwrap_err().to_string();
            let begins = format!("{name}={value} is not possible: e_step='{mode}' guarantees");
            assert!(text.starts_with(&begins), "{text}");
            assert!(text.ends_with(&format!("leave {name} out, or choose e_step='plain'")), "{text}");
        }
        let defaults = json!({
            "n_components": 3, "max_iter": 3, "e_step": mode, "batch_size": null, "dropout": 0, "input_noise": 0.0
        });
        let model = fit(&x, 5, defaults);
        assert!(!warned(&model, "has no effect"), "{:?}", model.report().warnings);
    }
}

#[test]
fn codes_beyond_memory_are_refused_before_anything_is_read() {
    let x = falling(1000, 4, 1);
    let text =
        try_fit("rfn", &settings(json!({"n_components": 3_000_000_000u64, "e_step": "coordinate"})), &x, 4)
            .map(|_| ())
            .unwrap_err()
            .to_string();
    assert!(text.contains("choose e_step='plain', or fewer components"), "{text}");
    let text = try_fit("rfn", &settings(json!({"n_components": 3_000_000_000u64})), &x, 4)
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(text.contains("choose fewer components"), "{text}");
}

#[test]
fn one_row_and_numbers_that_are_not_finite_are_refused() {
    let x = falling(40, 5, 1);
    let message =
        |x: &[f64], given: Value| try_fit("rfn", &settings(given), x, 5).map(|_| ()).unwrap_err().to_string();
    let mut broken = x.clone();
    broken[5 * 17 + 2] = f64::NAN;
    for given in [
        json!({"n_components": 3, "max_iter": 5}),
        json!({"n_components": 3, "max_iter": 5, "batch_size": 10}),
        json!({"n_components": 3, "max_iter": 5, "e_step": "coordinate"}),
        json!({"n_components": 3, "max_iter": 5, "e_step": "cascade", "center": "median"}),
    ] {
        let text = message(&x[..5], given.clone());
        assert!(text.contains("2 rows") || text.contains("at least 2"), "{given}: {text}");
        let text = message(&broken, given.clone());
        assert!(text.contains("row 17, column 2 is NaN"), "{given}: {text}");
        // Rows without any variation have nothing that units could explain.
        let text = message(&[3.0; 50], given.clone());
        assert!(text.contains("all 5 columns are constant"), "{given}: {text}");
    }
    // Two rows are enough, and so is one column.
    for mode in ["plain", "coordinate", "cascade"] {
        let given = json!({"n_components": 2, "max_iter": 5, "e_step": mode});
        assert!(encode(&fit(&x[..10], 5, given.clone()), &x[..10]).iter().all(|z| z.is_finite()));
        assert!(encode(&fit(&x[..40], 1, given), &x[..40]).iter().all(|z| z.is_finite()));
    }
}
