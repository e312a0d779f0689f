//! Rows with missing cells.

use super::{Made, fit, low_rank, rank, without_noise};
use crate::made::{on_threads, settings};
use serde_json::json;
use unmix::data::VecSink;
use unmix::impute::{ImputeOptions, Imputer};
use unmix::internal::num::random::Stream;
use unmix::method::robust_pca::Noise;
use unmix::{AnyRows, Error, Outcome, RobustPca, Rows};

/// The rows with a fraction `share` of their cells missing.
fn with_gaps(made: &Made, share: f64) -> Vec<f64> {
    let draws = Stream::new(77, 0);
    let gap = |at: usize| draws.uniform(at as u64) < share;
    made.x().iter().enumerate().map(|(at, x)| if gap(at) { f64::NAN } else { *x }).collect()
}

#[test]
fn rows_are_recovered_from_the_cells_that_they_have() {
    let made = Made::square(100, 0.05, 0.05, 0);
    for (share, most) in [(0.1, 60), (0.3, 120)] {
        let x = with_gaps(&made, share);
        let model = fit(&without_noise(), &x, 100);
        assert_eq!(rank(&model), 5, "{share} missing");
        assert!(model.report().n_iter <= most, "{share} missing: {} iterations", model.report().n_iter);
        let error = made.error(&low_rank(&model, &x));
        assert!(error < 1e-5, "{share} missing: {error:e}");
    }
    let noisy = Made::new((100, 100, 5), 100.0, (0.05, 0.3), 0.005, 2);
    assert_eq!(rank(&fit(&RobustPca::default(), &with_gaps(&noisy, 0.2), 100)), 5);
}

#[test]
fn the_weight_is_that_of_the_observed_cells() {
    let made = Made::square(100, 0.05, 0.05, 0);
    let x = with_gaps(&made, 0.4);
    let model = fit(&without_noise(), &x, 100);
    assert_eq!((rank(&model), model.report().outcome), (5, Outcome::Converged));
    assert!(made.error(&low_rank(&model, &x)) < 1e-4);
    let seen = x.iter().filter(|x| !x.is_nan()).count() as f64 / 1e4;
    let alpha = model.report().settings["alpha"].as_f64().unwrap();
    assert!((alpha - 1.0 / (100.0 * seen).sqrt()).abs() < 1e-12);
}

#[test]
fn empty_columns_are_named_and_empty_rows_are_coded_0() {
    let made = Made::new((40, 12, 2), 1.0, (0.05, 5.0), 0.0, 3);
    let mut x = made.x();
    x.chunks_exact_mut(12).for_each(|row| row[7] = f64::NAN);
    let said = RobustPca::default().fit(&mut Rows::from_slice(&x, 12).unwrap(), &on_threads(1)).unwrap_err();
    assert!(matches!(said, Error::Unsupported { .. }) && said.to_string().contains("column 7"), "{said}");
    let mut x = made.x();
    x[12..24].fill(f64::NAN);
    let model = fit(&RobustPca::default(), &x, 12);
    assert_eq!(model.report().n_samples, 39.0);
    assert!(model.report().warnings.iter().any(|w| w.contains("1 row has no observed cell")));
    let low = low_rank(&model, &x);
    assert!(low[12..24].iter().all(|l| *l == 0.0));
    // Infinity is not a missing cell.
    x[30] = f64::INFINITY;
    let given = settings(json!({}));
    let said = crate::made::try_fit("robust-pca", &given, &x, 12).unwrap_err();
    assert!(matches!(said, Error::NotFinite { row: 2, column: 6, .. }), "{said}");
}

#[test]
fn missing_cells_are_filled_with_the_low_rank_part_and_observed_cells_keep_their_bits() {
    let made = Made::square(100, 0.05, 0.05, 0);
    let x = with_gaps(&made, 0.1);
    let model = fit(&without_noise(), &x, 100);
    let rows = AnyRows::F64(Rows::from_slice(&x, 100).unwrap());
    let imputer = |wanted: ImputeOptions| Imputer::new(&model, &rows, wanted, &on_threads(2));
    let found = imputer(ImputeOptions::default()).map_err(|e| e.to_string()).unwrap();
    let mut sink = VecSink(Vec::new());
    unmix::with_rows!(&rows, rows => found.fill(rows, &on_threads(2), &mut sink)).unwrap();
    let (low, mut missing) = (low_rank(&model, &x), 0);
    for (at, x) in x.iter().enumerate() {
        let want = if x.is_nan() { low[at] } else { *x };
        assert_eq!(sink.0[at].to_bits(), want.to_bits(), "cell {at}");
        if x.is_nan() {
            missing += 1;
            assert!((want - made.low.as_slice()[at]).abs() < 1e-5, "cell {at}");
        }
    }
    assert!(missing > 800 && found.n_filled() == missing && found.notes().is_empty());
    // Codes by least absolute deviations have no distribution.
    for wanted in [
        ImputeOptions { std: true, ..ImputeOptions::default() },
        ImputeOptions { draws: 2, ..ImputeOptions::default() },
    ] {
        let e = imputer(wanted).err().unwrap().to_string();
        assert!(e.contains("the codes of this model have no distribution"), "{e}");
    }
}

#[test]
fn without_a_low_rank_part_missing_cells_are_filled_with_the_mean() {
    let draws = Stream::new(5, 0);
    let gap = |at: usize| draws.uniform(at as u64) < 0.1;
    let x: Vec<f64> =
        (0..60 * 30).map(|at| if gap(at) { f64::NAN } else { draws.normal(5000 + at as u64) }).collect();
    let model = fit(&RobustPca { noise: Noise::Std(1.0), center: true, ..RobustPca::default() }, &x, 30);
    assert_eq!(rank(&model), 0);
    let rows = AnyRows::F64(Rows::from_slice(&x, 30).unwrap());
    let imputer =
        Imputer::new(&model, &rows, ImputeOptions::default(), &on_threads(1)).map_err(|e| e.to_string());
    let mut sink = VecSink(Vec::new());
    unmix::with_rows!(&rows, rows => imputer.unwrap().fill(rows, &on_threads(1), &mut sink)).unwrap();
    let mean = crate::made::numbers(&model, "mean");
    let want = |at: usize| if x[at].is_nan() { mean[at % 30] } else { x[at] };
    assert!((0..x.len()).all(|at| sink.0[at] == want(at)));
}
