//! Models updated batch by batch: the same bits however the stream is split, with and without a file between two batches, and equal to
//! a single fit up to rounding.

use crate::made::{apart, bits, cast, falling, numbers, on_threads, pca, settings};
use proptest::prelude::*;
use serde_json::json;
use std::path::Path;
use unmix::data::Plan;
use unmix::internal::num::random::Stream;
use unmix::model::Sums;
use unmix::{AnyRows, Features, Model, Pca, Real, Rows};

/// PCA of a stream that is split at `cuts`.
fn streamed<T: Real>(x: &[T], p: usize, weights: Option<&[f64]>, cuts: &[usize], threads: usize) -> Model {
    let mut sums = Sums::new(p, T::DTYPE).unwrap();
    let n = x.len() / p;
    let mut ends: Vec<usize> = cuts.iter().map(|c| c % n).filter(|c| *c > 0).collect();
    ends.push(n);
    ends.sort_unstable();
    ends.dedup();
    let mut start = 0;
    for end in ends {
        let rows = Rows::from_slice(&x[start * p..end * p], p).unwrap();
        let rows = match weights {
            None => rows,
            Some(w) => rows.weighted(&w[start..end]).unwrap(),
        };
        sums.add("pca", &rows, &on_threads(threads)).unwrap();
        start = end;
    }
    Pca::default().fit_sums(&sums, &Features::default(), &on_threads(threads)).unwrap()
}

proptest! {
    #![proptest_config(crate::made::cases(24))]

    #[test]
    fn the_bits_do_not_depend_on_the_cuts_of_a_stream(
        n in 2usize..1500,
        p in 1usize..7,
        cuts in prop::collection::vec(0usize..1500, 0..9),
        weighted in any::<bool>(),
        threads in 1usize..3,
    ) {
        let x = falling(n, p, 11);
        let stream = Stream::new(n as u64, 0);
        let weights: Vec<f64> = (0..n).map(|i| (3.0 * stream.uniform(i as u64)).round() + 0.5).collect();
        let weights = weighted.then_some(&weights[..]);
        let whole = streamed(&x, p, weights, &[], 1);
        let parts = streamed(&x, p, weights, &cuts, threads);
        prop_assert_eq!(bits(&whole), bits(&parts));
        let singles: Vec<f32> = cast(&x);
        prop_assert_eq!(bits(&streamed(&singles, p, weights, &[], 2)), bits(&streamed(&singles, p, weights, &cuts, 1)));
    }
}

/// Before any row is read: a cell of the rows that cannot be added is not mentioned.
#[test]
fn settings_that_need_the_rows_are_refused_before_rows_are_read() {
    let mut x = falling(60, 4, 3);
    x[9] = f64::INFINITY;
    for (key, given, words) in [
        (
            "pca",
            json!({"n_components": "parallel"}),
            "'mle', 'bic', 'gap', 'gap-difference' or 'gavish-donoho'",
        ),
        ("pca", json!({"n_components": "cv"}), "n_components='cv' is not possible: this rule needs the rows"),
        ("ppca", json!({"n_components": "cells"}), "choose a number, or leave it out"),
        ("ppca", json!({"algorithm": "em"}), "choose 'auto' or 'closed-form'"),
        ("linear-eigengan", json!({"n_components": "cells"}), "choose a number, or leave it out"),
        ("factor-analysis", json!({"n_components": "aic"}), "choose a number, or 'bic'"),
    ] {
        let given = settings(given);
        let rows = AnyRows::F64(Rows::from_slice(&x, 4).unwrap());
        let summed = unmix::method::fit_by_sums(key, &given, &rows, &on_threads(1));
        let batch = unmix::partial_fit(key, &given, None, &rows, &on_threads(1));
        for message in [summed, batch].map(|found| found.err().unwrap().to_string()) {
            assert!(message.contains(words), "{key}: {message}");
        }
    }
}

#[test]
fn many_shards_one_row_at_a_time_and_at_once() {
    let p = 3;
    let n = 2 * Plan::for_width(p).shard_rows + 700;
    let x = falling(n, p, 1);
    let by_row: Vec<usize> = (0..n).step_by(97).collect();
    let (a, b) = (streamed(&x, p, None, &[], 2), streamed(&x, p, None, &by_row, 1));
    assert_eq!(bits(&a), bits(&b));
    let fit = pca(json!({"svd_solver": "covariance_eigh"}), &x, p);
    for name in ["explained_variance", "components", "mean", "noise_variance"] {
        assert!(apart(&numbers(&a, name), &numbers(&fit, name)) < 1e-12 * 20.0, "{name}");
    }
}

#[test]
fn sums_are_restored_from_a_file_in_the_middle_of_a_block() {
    let (p, n) = (5, 1000);
    let x = falling(n, p, 2);
    for cut in [1, 255, 256, 300, 999] {
        let run = on_threads(1);
        let mut sums = Sums::new(p, f64::DTYPE).unwrap();
        sums.add("pca", &Rows::from_slice(&x[..cut * p], p).unwrap(), &run).unwrap();
        let first = match cut {
            // One row is too few for a model, but not for sums.
            1 => None,
            _ => Some(Pca::default().fit_sums(&sums, &Features::default(), &run).unwrap()),
        };
        if let Some(first) = first {
            let path = Path::new("a model");
            let back = Model::from_bytes(&first.to_bytes().unwrap(), path).unwrap();
            assert_eq!(back.sums(), Some(&sums));
            assert!(back.tensors().keys().all(|name| !name.starts_with("sums")));
            sums = back.sums().unwrap().clone();
        }
        let bytes = sums.to_bytes();
        assert_eq!(Sums::from_bytes(&bytes).unwrap(), sums);
        assert!((0..bytes.len()).step_by(41).all(|end| Sums::from_bytes(&bytes[..end]).is_err()));
        sums.add("pca", &Rows::from_slice(&x[cut * p..], p).unwrap(), &run).unwrap();
        let model = Pca::default().fit_sums(&sums, &Features::default(), &run).unwrap();
        assert_eq!(bits(&model), bits(&streamed(&x, p, None, &[], 1)), "cut at {cut}");
    }
}

#[test]
fn merged_models_are_models_of_all_rows() {
    // The mean is about 1e6 standard deviations from 0; this must not cost digits of the variances.
    let p = 6;
    let x: Vec<f64> = falling(2000, p, 3).iter().map(|v| v + 1e6).collect();
    let (a, b) = (streamed(&x[..700 * p], p, None, &[9], 2), streamed(&x[700 * p..], p, None, &[], 1));
    let merged = a.merge(&b, &on_threads(2)).unwrap();
    let fit = pca(json!({"svd_solver": "covariance_eigh"}), &x, p);
    assert_eq!(merged.report().n_samples, 2000.0);
    let (v, w) = (numbers(&merged, "explained_variance"), numbers(&fit, "explained_variance"));
    assert!(apart(&v, &w) < 1e-10 * w[0], "{:e}", apart(&v, &w));
    assert!(apart(&numbers(&merged, "components"), &numbers(&fit, "components")) < 1e-8);
    // A merged model can be merged again.
    assert_eq!(merged.merge(&a, &on_threads(1)).unwrap().report().n_samples, 2700.0);
}

#[test]
fn models_that_cannot_be_merged_are_refused() {
    let x = falling(100, 4, 0);
    let (sums, plain) = (streamed(&x, 4, None, &[], 1), pca(json!({}), &x, 4));
    let narrow = streamed(&x, 5, None, &[], 1);
    let message = |a: &Model, b: &Model| a.merge(b, &on_threads(1)).unwrap_err().to_string();
    assert!(message(&sums, &plain).contains("the second holds no sums"));
    assert!(message(&plain, &sums).contains("the first holds no sums"));
    assert!(message(&sums, &narrow).contains("merging sums"), "{}", message(&sums, &narrow));
    // Columns of the same names, in other places: which of two of one name is which is not known.
    let named = |names: [&str; 4]| {
        let features = Features { names: Some(names.map(String::from).to_vec()), shape: None };
        Pca::default().fit_sums(sums.sums().unwrap(), &features, &on_threads(1)).unwrap()
    };
    let (plain, twice) = (named(["a", "b", "c", "d"]), named(["a", "b", "c", "b"]));
    assert!(
        message(&plain, &twice).contains("two of the second are named 'b'"),
        "{}",
        message(&plain, &twice)
    );
    assert!(message(&twice, &plain).contains("two of the first are named 'b'"));
    assert!(message(&named(["b", "a", "c", "b"]), &twice).contains("named 'b'"));
    assert!(twice.merge(&twice, &on_threads(1)).is_ok());
}

#[test]
fn a_batch_that_fails_adds_nothing() {
    let (p, run) = (2, on_threads(1));
    let n = 3 * Plan::for_width(p).shard_rows;
    let mut x = falling(n, p, 0);
    let mut sums = Sums::new(p, f64::DTYPE).unwrap();
    sums.add("pca", &Rows::from_slice(&x[..20], p).unwrap(), &run).unwrap();
    let before = sums.clone();
    x[(n - 5) * p + 1] = f64::NAN;
    let message = sums.add("pca", &Rows::from_slice(&x, p).unwrap(), &run).unwrap_err().to_string();
    assert!(message.contains(&format!("row {}, column 1", n - 5)) && message.contains("NaN"), "{message}");
    assert!(sums.add("pca", &Rows::from_slice(&x[..21], 3).unwrap(), &run).is_err());
    assert_eq!(sums, before);
    let one = Sums::new(p, f64::DTYPE).unwrap();
    let message = Pca::default().fit_sums(&one, &Features::default(), &run).unwrap_err().to_string();
    assert!(message.contains("at least 2 rows"), "{message}");
}

#[test]
fn corrupt_sums_are_refused() {
    let model = streamed(&falling(300, 3, 0), 3, None, &[], 1);
    let bytes = model.to_bytes().unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert!(["sums_n", "sums_mean", "sums_scatter", "sums_rows"].iter().all(|name| text.contains(name)));
    let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize + 8;
    let mut accepted = 0;
    for at in 0..bytes.len() {
        for flip in [0x01, 0x80] {
            let mut corrupt = bytes.clone();
            corrupt[at] ^= flip;
            match Model::from_bytes(&corrupt, Path::new("a model")) {
                // The bytes after the header hold numbers only, and are covered by a checksum.
                Err(e) if at >= header => assert!(e.to_string().contains("checksum"), "byte {at}: {e}"),
                Err(e) => {
                    let said = e.to_string();
                    let remedies = ["fit the model again", "give a model file", "install version"];
                    assert!(
                        said.starts_with("a model cannot be read: it")
                            && remedies.iter().any(|remedy| said.contains(remedy)),
                        "byte {at} ^ {flip}: {said}"
                    );
                }
                // The entry `run` (time and duration of the fit) is not covered by the checksum.
                Ok(found) => {
                    accepted += 1;
                    assert!(
                        at < header && bits(&found) == bits(&model),
                        "byte {at} ^ {flip} was not detected"
                    );
                }
            }
        }
    }
    assert!(accepted < 200, "{accepted} changed files are accepted");
}

#[test]
fn a_model_of_sums_is_extended_by_the_key_of_its_method() {
    let (x, p) = (falling(300, 6, 2), 6);
    let rows = |from: usize, to: usize| AnyRows::F64(Rows::from_slice(&x[from * p..to * p], p).unwrap());
    for (key, given) in [
        ("pca", json!({"n_components": 3, "whiten": true})),
        ("ppca", json!({"n_components": 2})),
        ("linear-eigengan", json!({"n_components": 2})),
        ("factor-analysis", json!({"n_components": 2})),
    ] {
        let (given, run) = (settings(given), on_threads(2));
        let add =
            |before: Option<&Model>, rows: &AnyRows<'_>| unmix::partial_fit(key, &given, before, rows, &run);
        let whole = unmix::method::fit_by_sums(key, &given, &rows(0, 300), &run).unwrap();
        let mut model = add(None, &rows(0, 7)).unwrap_or_else(|e| panic!("{key}: {e}"));
        for (from, to) in [(7, 8), (8, 211), (211, 300)] {
            model = add(Some(&model), &rows(from, to)).unwrap();
        }
        assert_eq!(bits(&model), bits(&whole), "{key}");
        // A fit does not keep its sums.
        let fitted = unmix::fit(key, &given, &mut rows(0, 300), &run).unwrap();
        let said = add(Some(&fitted), &rows(0, 9)).unwrap_err().to_string();
        assert!(said.contains("does not hold the sums"), "{said}");
        assert!(add(Some(&model), &AnyRows::F64(Rows::from_slice(&x[..10], 5).unwrap())).is_err());
    }
}
