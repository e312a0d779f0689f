//! Faults that an implementation of this method is known to have had: corrupted rows of other rows, rows that are left out, codes that need the
//! training rows, seeds that are cut off, factorisations whose failure goes unnoticed.

use super::{centred, diagnostic, fit, fit_seeded, normal};
use crate::made::{apart, cast, decode, encode, falling, numbers, on_threads, settings, try_fit};
use serde_json::{Value, json};
use unmix::data::Sparse;
use unmix::internal::num::Matrix;
use unmix::{AnyRows, Model, Rows};

const KINDS: [&str; 3] = ["mask", "salt-pepper", "gaussian"];

#[test]
fn one_corrupted_batch_of_all_rows_is_a_corrupted_pass() {
    let x = falling(300, 6, 3);
    for kind in KINDS {
        let given = |batch: Option<u64>| json!({"n_components": 4, "max_iter": 1, "input_noise": 0.3, "input_noise_kind": kind, "batch_size": batch});
        let (whole, batch) = (fit(&x, 6, given(None)), fit(&x, 6, given(Some(300))));
        let (a, b) = (numbers(&whole, "components"), numbers(&batch, "components"));
        assert!(apart(&a, &b) < 1e-12, "{kind}: {:e}", apart(&a, &b));
    }
}

#[test]
fn zeros_of_sparse_rows_are_corrupted_at_the_same_rate() {
    let (n, p) = (80, 10);
    let draws = unmix::internal::num::random::Stream::new(4, 0);
    let x: Vec<f64> = (0..n * p)
        .map(|i| if draws.uniform(i as u64) < 0.8 { 0.0 } else { 1.0 + draws.normal(10_000 + i as u64) })
        .collect();
    let (mut starts, mut columns, mut values) = (vec![0usize], Vec::new(), Vec::new());
    for row in x.chunks_exact(p) {
        for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            columns.push(j as u32);
            values.push(*v);
        }
        starts.push(columns.len());
    }
    for kind in KINDS {
        let given = json!({"n_components": 4, "max_iter": 20, "input_noise": 0.3, "input_noise_kind": kind});
        let sparse = Sparse::from_csr(&starts, &columns, values.clone(), p).unwrap();
        let mut rows = AnyRows::F64(Rows::new(sparse, Default::default(), "the rows"));
        let found = unmix::fit("rfn", &settings(given.clone()), &mut rows, &on_threads(1)).unwrap();
        let dense = fit(&x, p, given);
        let off = apart(&numbers(&found, "components"), &numbers(&dense, "components"));
        assert!(off < 1e-8, "{kind}: {off:e}");
    }
}

#[test]
fn rows_after_the_last_whole_batch_count() {
    let mut x = falling(130, 6, 3);
    let given = json!({"n_components": 4, "max_iter": 1, "batch_size": 50, "center": false});
    let whole = numbers(&fit(&x, 6, given.clone()), "components");
    for i in 0..130 {
        // The second moments of the columns, which begin the fit and enter the noise, are the same; only codes differ.
        let negate = |x: &mut [f64]| x[6 * i..6 * i + 6].iter_mut().for_each(|v| *v = -*v);
        negate(&mut x);
        assert!(numbers(&fit(&x, 6, given.clone()), "components") != whole, "row {i}");
        negate(&mut x);
    }
}

#[test]
fn rows_are_encoded_one_by_one_by_a_model_from_a_file_as_all_together_in_the_fit() {
    let x: Vec<f64> = falling(90, 7, 3).iter().enumerate().map(|(i, v)| v + (i % 7) as f64).collect();
    let file = tempfile::tempdir().unwrap();
    for given in [
        json!({"n_components": 4, "max_iter": 40}),
        json!({"n_components": 9, "max_iter": 40, "normalize": "std", "prior_mean": -0.4}),
        json!({"n_components": 4, "max_iter": 20, "e_step": "coordinate"}),
    ] {
        let model = fit(&x, 7, given.clone());
        let path = file.path().join("a.safetensors");
        model.save(&path).unwrap();
        let model = Model::load(&path).unwrap();
        let l = model.n_codes();
        let all = encode(&model, &x);
        for (i, row) in x.chunks_exact(7).enumerate() {
            assert!(apart(&encode(&model, row), &all[l * i..l * (i + 1)]) < 1e-6, "{given}: {i}");
        }
        // Codes are decoded with the loadings of their scale.
        let (w, mean) = (model.tensor("components").unwrap().to_matrix(), numbers(&model, "mean"));
        let back = decode(&model, &all);
        for (i, z) in all.chunks_exact(l).enumerate() {
            for k in 0..7 {
                let want = mean[k] + (0..l).map(|j| z[j] * w[(j, k)]).sum::<f64>();
                assert!((back[7 * i + k] - want).abs() < 1e-10 * (1.0 + want.abs()));
            }
        }
    }
}

#[test]
fn codes_of_the_training_rows_are_those_of_the_last_pass_in_single_precision() {
    let wide = falling(400, 9, 3);
    let x: Vec<f32> = cast(&wide);
    for normalize in ["rms", "std", "none"] {
        let given = settings(json!({"n_components": 6, "max_iter": 60, "normalize": normalize}));
        let model = try_fit("rfn", &given, &x, 9).unwrap();
        let (w, psi) = (model.tensor("components").unwrap().to_matrix(), numbers(&model, "noise_variance"));
        let (mean, scale) = (numbers(&model, "mean"), numbers(&model, "code_scale"));
        // The last pass: posterior means under the stored parameters, clamped, times the stored scales.
        let a = Matrix::from_fn(9, 6, |k, j| w[(j, k)] / psi[k]);
        let mut g = unmix::internal::num::factor::multiply(&w, &a);
        (0..6).for_each(|j| g[(j, j)] += 1.0);
        let b =
            unmix::internal::num::factor::multiply(&a, &unmix::internal::num::pseudo_inverse(&g).unwrap());
        let found = encode(&model, &x);
        let largest = found.iter().fold(0.0f64, |m, y| m.max(f64::from(*y)));
        for i in 0..400 {
            for j in 0..6 {
                let p: f64 = (0..9).map(|k| (f64::from(x[9 * i + k]) - mean[k]) * b[(k, j)]).sum();
                let want = p.max(0.0) * scale[j];
                let off = (f64::from(found[6 * i + j]) - want).abs() / largest;
                assert!(off < 1e-6, "{normalize}: {i} {j}: {off:e}");
            }
        }
    }
}

#[test]
fn seeds_beyond_32_bits_are_seeds_of_their_own() {
    let x = falling(60, 5, 1);
    let w = |seed: u64| {
        numbers(&fit_seeded(&x, 5, json!({"n_components": 3, "max_iter": 3}), seed), "components")
    };
    assert!(w(5) == w(5) && w(5) != w(5 + (1 << 32)) && w(5) != w(5 + (1 << 63)));
}

#[test]
fn noise_is_that_of_centred_rows_wherever_their_means_are() {
    let (x, given) = (normal(80, 6, 4), json!({"n_components": 3, "max_iter": 100}));
    let moved: Vec<f64> =
        x.as_slice().iter().enumerate().map(|(i, v)| v + 1e3 * (1 + i % 6) as f64).collect();
    let (a, b) = (fit(centred(x).as_slice(), 6, given.clone()), fit(&moved, 6, given));
    for name in ["components", "noise_variance", "code_moments"] {
        assert!(apart(&numbers(&a, name), &numbers(&b, name)) < 1e-7, "{name}");
    }
}

/// Fits at the end of what a factorisation can do: an error that names the iteration, or finite numbers.
#[test]
fn a_factorisation_that_fails_is_an_error_with_its_iteration_or_the_fit_is_finite() {
    let (n, p) = (30, 6);
    let mut x = falling(n, p, 2);
    // Three columns are equal, up to their units, and one is nearly a sum of others.
    for row in x.chunks_exact_mut(p) {
        (row[1], row[2]) = (1e6 * row[0], 1e-6 * row[0]);
        row[5] = row[3] + row[4] + 1e-13 * row[0];
    }
    for given in [
        json!({"n_components": 40, "psi_min": 1e-300, "learning_rate": 1.0}),
        json!({"n_components": 40, "psi_min": 1e-15, "learning_rate": 1.0, "normalize": "none"}),
        json!({"n_components": 5, "psi_min": 1e-300, "learning_rate": 1.0, "noise": "full"}),
        json!({"n_components": 9, "psi_min": 1e-14, "e_step": "coordinate"}),
        json!({"n_components": 9, "psi_min": 1e-14, "e_step": "cascade"}),
        json!({"n_components": 12, "psi_min": 1e-12, "prior_cov": 1e12, "learning_rate": 1.0}),
    ] {
        let mut all = settings(given.clone());
        all.insert("max_iter".into(), json!(60));
        match try_fit("rfn", &all, &x, p) {
            Err(e) => {
                let text = e.to_string();
                assert!(text.contains("iteration") && text.contains("raise psi_min"), "{given}: {text}");
            }
            Ok(model) => {
                for name in ["components", "code_moments", "code_scale"] {
                    assert!(numbers(&model, name).iter().all(|v| v.is_finite()), "{given}: {name}");
                }
                assert!(encode(&model, &x).iter().all(|v| v.is_finite()), "{given}");
                assert!(
                    diagnostic(&model, "final_objective").as_f64().is_some_and(f64::is_finite),
                    "{given}"
                );
            }
        }
    }
}

#[test]
fn unknown_settings_are_refused() {
    let x = falling(20, 4, 1);
    let message = |given: Value| try_fit("rfn", &settings(given), &x, 4).map(|_| ()).unwrap_err().to_string();
    for name in ["activation", "h_threshold", "momentum", "apply_scaling"] {
        assert!(message(json!({name: 0})).contains(name));
    }
}
