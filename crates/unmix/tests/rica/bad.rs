//! Input that fits refuse, and input that they accept with a warning.

use super::fit;
use crate::made::{Known, encode, falling, numbers, settings, try_fit};
use serde_json::json;
use unmix::method::rica::Beta;
use unmix::{Error, Rica};

fn refused(given: serde_json::Value, x: &[f64], p: usize) -> Error {
    match try_fit("rica", &settings(given.clone()), x, p) {
        Ok(_) => panic!("{given} was accepted"),
        Err(e) => e,
    }
}

#[test]
fn settings_outside_their_domain_are_refused_with_what_would_work() {
    let x = falling(50, 5, 1);
    for (given, word) in [
        (
            json!({"n_components": 0}),
            "n_components must be at least 1, got 0; choose at least 1, or leave it out for min(50, 5) = 5",
        ),
        (json!({"n_components": 2.5}), "a positive integer"),
        (json!({"n_components": "all"}), "n_components"),
        (
            json!({"beta": -1.0}),
            "beta must be finite and non-negative, got -1.0; choose a number such as 0.2, or 'auto'",
        ),
        (json!({"beta": "aut"}), "did you mean 'auto'?"),
        (json!({"contrast": "logcos"}), "did you mean 'logcosh'?"),
        (json!({"unit_norm": "yes"}), "unit_norm"),
        (json!({"whiten": "zca"}), "whiten"),
        (json!({"tol": -1e-3}), "tol must be finite and non-negative"),
        (json!({"max_iter": -1}), "max_iter must be non-negative, got -1"),
        (json!({"w_init": [[1.0, 2.0]]}), "w_init=1 x 2 numbers"),
        (json!({"w_init": [[1.0, 2.0], [3.0]]}), "w_init"),
        (json!({"w_init": [[1, 0, 0, 0, 0]], "n_components": 2}), "2 x 5 are needed"),
        (json!({"w_init": [[1, 0, 0, 0, 0], [0, 0, 0, 0, 0]], "unit_norm": true}), "row 1 of it is 0"),
    ] {
        let e = refused(given.clone(), &x, 5);
        assert!(matches!(e, Error::Setting { .. }), "{given}: {e:?}");
        assert!(e.to_string().contains(word), "{given}: {e}");
    }
    let e = refused(json!({"lambda": 1.0}), &x, 5);
    assert!(matches!(e, Error::Unknown { .. }), "{e:?}");
}

#[test]
fn too_few_rows_and_rows_that_do_not_vary_are_refused() {
    let x = falling(50, 5, 1);
    for n in [0, 1] {
        assert!(matches!(refused(json!({}), &x[..5 * n], 5), Error::TooFewRows { need: 2, .. }));
    }
    for value in [0.0, 0.1, -1e300, 5e-324] {
        assert!(matches!(refused(json!({}), &[value; 100], 5), Error::NoVariance { .. }), "{value}");
    }
    let huge: Vec<f64> = x.iter().map(|v| v * 1e200).collect();
    assert!(matches!(refused(json!({}), &huge, 5), Error::Overflow { .. }));
    let tiny: Vec<f64> = x.iter().map(|v| v * 1e-170).collect();
    assert!(refused(json!({}), &tiny, 5).to_string().contains("multiply the data"));
}

#[test]
fn missing_rank_gives_a_warning_and_bounded_parameters() {
    // Seven columns: two of them equal, one the sum of two others, one constant.
    let mut x = falling(300, 7, 2);
    for row in x.chunks_exact_mut(7) {
        (row[4], row[5], row[6]) = (row[0], row[0] + row[1], 3.0);
    }
    for (given, k) in [
        (json!({}), 4),
        (json!({"n_components": 6}), 4),
        (json!({"n_components": 2}), 2),
        (json!({"n_components": 9}), 9),
    ] {
        for f32 in [false, true] {
            let model = match f32 {
                false => try_fit("rica", &settings(given.clone()), &x, 7),
                true => try_fit("rica", &settings(given.clone()), &crate::made::cast::<f32>(&x), 7),
            };
            let model = model.unwrap_or_else(|e| panic!("{given}: {e}"));
            let report = model.report();
            assert_eq!(
                (report.rank, report.n_constant, model.n_components()),
                (Some(4), 1, k),
                "{given}, {f32}"
            );
            assert!(
                report.warnings.iter().any(|w| w.starts_with(
                    "1 of 7 columns does not vary (column 6); its entries in every feature are 0"
                )),
                "{:?}",
                report.warnings
            );
            let few = report.warnings.iter().any(|w| w.starts_with("the rows vary along 4 directions only"));
            assert_eq!(few, k == 4, "{given}: {:?}", report.warnings);
            for name in ["components", "mixing"] {
                assert!(numbers(&model, name).iter().all(|v| v.abs() < 1e3), "{given}: {name}");
            }
            // The constant column has loadings of 0.
            assert!(numbers(&model, "components").chunks_exact(7).all(|row| row[6].abs() < 1e-6), "{given}");
        }
    }
}

#[test]
fn duplicate_columns_and_wide_rows_are_fitted_with_and_without_whitening() {
    fn check<T: Known>(x: &[T], p: usize, given: serde_json::Value) {
        let model =
            try_fit("rica", &settings(given.clone()), x, p).unwrap_or_else(|e| panic!("{given}: {e}"));
        for name in ["components", "mixing", "component_variance"] {
            assert!(numbers(&model, name).iter().all(|v| v.abs() < 1e4), "{given}: {name}");
        }
        assert!(encode(&model, x).iter().all(|y| y.finite()));
    }
    let mut x = falling(200, 6, 3);
    x.chunks_exact_mut(6).for_each(|row| row[5] = row[0]);
    let wide = falling(12, 40, 3);
    for whiten in [true, false] {
        for k in [4, 6, 10] {
            let given = json!({"whiten": whiten, "n_components": k, "max_iter": 100});
            check(&x, 6, given.clone());
            check(&crate::made::cast::<f32>(&x), 6, given.clone());
            check(&wide, 40, given);
        }
    }
    // Clipped rows that have two values only.
    let flat: Vec<f64> = falling(300, 3, 4).iter().map(|v| if *v > 1.0 { 1.0 } else { -1.0 }).collect();
    check(&flat, 3, json!({}));
}

#[test]
fn sparse_rows_are_refused_by_name() {
    let sparse =
        unmix::data::Sparse::from_csr(&[0u32, 1, 2, 3], &[0u32, 1, 2], vec![1.0, 2.0, 3.0], 3).unwrap();
    let mut rows = unmix::AnyRows::F64(unmix::Rows::new(sparse, Default::default(), "the array"));
    let e = unmix::fit("rica", &settings(json!({})), &mut rows, &unmix::Run::default()).unwrap_err();
    assert!(e.to_string().contains("rica of sparse rows"), "{e}");
}

#[test]
fn batches_of_weighted_rows_count_them() {
    let x = falling(400, 3, 1);
    let given = settings(json!({"batch_size": 50, "max_epochs": 2}));
    let fitted = |weights: Vec<f64>| {
        let rows = unmix::Rows::from_slice(&x, 3).unwrap().weighted(weights).unwrap();
        unmix::fit("rica", &given, &mut unmix::AnyRows::F64(rows), &unmix::Run::default()).unwrap()
    };
    // The objective depends on ratios of weights alone, and rows of weight 0 do not contribute.
    let weights: Vec<f64> = (0..400).map(|i| if i < 150 { 0.0 } else { 1.0 + (i % 2) as f64 }).collect();
    let (one, three) = (fitted(weights.clone()), fitted(weights.iter().map(|w| 3.0 * w).collect()));
    let (a, b) = (numbers(&one, "components"), numbers(&three, "components"));
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-6 * (1.0 + b.abs())), "{a:?} {b:?}");
    assert_eq!(one.report().n_samples, 375.0);
}

#[test]
fn one_column_has_one_feature() {
    let x = falling(200, 1, 5);
    let model = fit(&Rica { beta: Beta::Weight(0.0), tol: Some(1e-10), ..Rica::default() }, &x, 1);
    let variance = crate::naive::covariance(&x, 1)[0][0] * 199.0 / 200.0;
    assert!((numbers(&model, "components")[0] - 1.0 / variance.sqrt()).abs() < 1e-8);
    assert!((numbers(&model, "component_variance")[0] / variance - 1.0).abs() < 1e-8);
}
