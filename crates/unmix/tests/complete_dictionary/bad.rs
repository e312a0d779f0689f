//! Input that is refused, and warnings.

use super::*;
use crate::made::{try_fit, warned};
use serde_json::json;
use unmix::Run;
use unmix::datasets::{Distribution, independent};

fn refused(spec: &CompleteDictionary, x: &Matrix<f64>) -> String {
    let mut rows = Rows::from_slice(x.as_slice(), x.cols()).unwrap();
    spec.fit(&mut rows, &Run::default()).unwrap_err().to_string()
}

#[test]
fn settings_outside_their_ranges_are_refused() {
    let made = oblique((50, 4, 4), 0.5, 1);
    for (k, words) in [(0, "n_components must be at least 1, got 0"), (5, "min(50, 4) = 4 components")] {
        let message = refused(&CompleteDictionary { n_components: Some(k), ..Default::default() }, &made.x);
        assert!(message.contains("n_components") && message.contains(words), "{message}");
    }
    for (given, name) in [
        (json!({"power": 5}), "power"),
        (json!({"power": 2}), "power"),
        (json!({"algorithm": "l4"}), "algorithm"),
        (json!({"batch_size": 0}), "batch_size"),
        (json!({"n_init": 0}), "n_init"),
        (json!({"refine": "always"}), "refine"),
        (json!({"tol": -1.0}), "tol"),
    ] {
        let message = try_fit("complete-dictionary", given.as_object().unwrap(), made.x.as_slice(), 4);
        let message = message.unwrap_err().to_string();
        assert!(message.contains(name), "{message}");
    }
}

#[test]
fn rows_that_are_constant_or_not_finite_or_too_few_are_refused() {
    let zeros = Matrix::zeros(20, 3);
    let mut spoiled = oblique((20, 3, 3), 0.5, 1).x;
    spoiled[(7, 1)] = f64::NAN;
    for precondition in [true, false] {
        let spec = CompleteDictionary { precondition, ..Default::default() };
        assert!(refused(&spec, &zeros).contains("3 columns are constant"), "{}", refused(&spec, &zeros));
        let message = refused(&spec, &spoiled);
        assert!(message.contains("row 7") && message.contains("column 1"), "{message}");
        let message = refused(&spec, &Matrix::from_vec(1, 3, vec![1.0, 2.0, 3.0]));
        assert!(
            message.contains("complete-dictionary needs at least 2 rows, but the array has 1"),
            "{message}"
        );
    }
}

#[test]
fn without_preconditioning_rows_have_to_be_white_and_of_full_rank() {
    let made = oblique((3000, 6, 6), 0.3, 2);
    let spec = CompleteDictionary { precondition: false, ..Default::default() };
    assert!(warned(&fit(&spec, &made.x), "the rows are not white"));
    assert!(!warned(&fit(&spec, &orthogonal(6, 3000, 0.3, 0.0, 2).x), "not white"));
    let flat = oblique((300, 6, 4), 0.3, 2);
    let message = refused(&spec, &flat.x);
    assert!(
        message.contains("vary along 4 directions only") && message.contains("precondition"),
        "{message}"
    );
}

/// Fewer rows than columns are rows of fewer directions.
#[test]
fn wide_rows_have_as_many_atoms_as_rows_with_a_warning() {
    let made = oblique((20, 40, 40), 0.3, 3);
    let model = fit(&CompleteDictionary::default(), &made.x);
    assert_eq!(atoms(&model).rows(), 20);
    assert!(warned(
        &model,
        "vary along 20 directions only (20 rows of 40 columns), so 20 of 40 atoms are kept"
    ));
    assert!(warned(&model, "20 rows are few for 20 atoms"));
}

/// Codes that are not super-Gaussian determine no dictionary, which gives a warning; super-Gaussian ones give none.
#[test]
fn codes_that_are_not_sparse_are_reported() {
    let of = |kind: Distribution, seed: u64| {
        let variances = vec![1.0; 8];
        independent(4000, &[kind; 8], &variances, seed).unwrap().x
    };
    for seed in 0..3 {
        for kind in [Distribution::Uniform, Distribution::Gaussian] {
            let model = fit(&CompleteDictionary::default(), &of(kind, seed));
            assert!(
                warned(&model, "8 of 8 atoms have codes that are not super-Gaussian"),
                "{:?}",
                model.report().warnings
            );
        }
        for kind in [Distribution::Laplace, Distribution::BernoulliGaussian] {
            let model = fit(&CompleteDictionary::default(), &of(kind, seed));
            assert_eq!(model.report().warnings, Vec::<String>::new(), "{kind:?}");
        }
    }
}

#[test]
fn small_batches_are_reported() {
    let made = oblique((3000, 6, 6), 0.3, 2);
    let model =
        |batch_size| fit(&CompleteDictionary { batch_size: Some(batch_size), ..Default::default() }, &made.x);
    assert!(warned(&model(119), "batch_size=119 is small for 6 atoms: with batches of fewer than 120 rows"));
    // A batch of all rows is no batch.
    for enough in [120, 3000] {
        assert!(!warned(&model(enough), "batch_size"), "{enough}");
    }
}

#[test]
fn few_rows_are_reported() {
    let model = |n| fit(&CompleteDictionary::default(), &orthogonal(25, n, 0.3, 0.0, 4).x);
    assert!(warned(&model(500), "500 rows are few for 25 atoms"));
    assert!(!warned(&model(4000), "are few"));
}
