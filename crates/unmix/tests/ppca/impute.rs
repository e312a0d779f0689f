//! Imputation: conditional Gaussian distributions of missing cells, and the coverage of their intervals.

use super::{Plain, with_gaps};
use crate::made::{on_threads, repetitions, settings, try_fit};
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering};
use unmix::data::VecSink;
use unmix::impute::{ImputeOptions, Imputer};
use unmix::internal::num::{Matrix, factor};
use unmix::{AnyRows, Model, Observer, Rows, Run, datasets};

fn design(n: usize, share: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let squares = [9.0, 4.0, 2.25].map(|v| v + 0.25);
    let x = datasets::ppca(n, 12, &squares, 0.25, seed).unwrap().x.into_vec();
    let gaps = with_gaps(&x, share, seed);
    (x, gaps)
}

fn filled(model: &Model, x: &[f64], wanted: ImputeOptions, threads: usize) -> (Vec<f64>, Vec<String>) {
    filled_by(model, x, wanted, &on_threads(threads))
}

fn filled_by(model: &Model, x: &[f64], wanted: ImputeOptions, run: &Run<'_>) -> (Vec<f64>, Vec<String>) {
    let rows = AnyRows::F64(Rows::from_slice(x, 12).unwrap());
    let imputer = Imputer::new(model, &rows, wanted, run).unwrap();
    let mut sink = VecSink(Vec::new());
    unmix::with_rows!(&rows, rows => imputer.fill(rows, run, &mut sink)).unwrap();
    (sink.0, imputer.notes().to_vec())
}

/// Ends a run early, as a time limit does, after a given number of checks of the limit.
struct Patience {
    asked: AtomicU64,
    most: u64,
}

impl Observer for Patience {
    fn ends_early(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.most
    }
}

#[test]
fn refits_end_at_the_time_limit_and_those_that_were_complete_count() {
    let (_, x) = design(60, 0.3, 4);
    let model = try_fit("ppca", &settings(json!({"n_components": 3})), &x, 12).unwrap();
    let wanted = ImputeOptions { std: true, draws: 1, bootstrap: 8 };
    let known = filled(&model, &x, ImputeOptions { bootstrap: 0, ..wanted }, 1).0;
    let (late, notes) = filled_by(&model, &x, wanted, &Run { max_seconds: Some(0.0), ..on_threads(1) });
    let bits = |out: &[f64]| out.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
    assert_eq!(bits(&late), bits(&known));
    let said = "refits ended early at the time limit, so the model parameters are treated as known";
    assert!(notes.len() == 1 && notes[0].starts_with(said), "{notes:?}");

    let within = |most| {
        let patience = Patience { asked: AtomicU64::new(0), most };
        let found = filled_by(&model, &x, wanted, &Run { observer: &patience, ..on_threads(1) });
        (found, patience.asked.into_inner())
    };
    let ((whole, notes), asked) = within(u64::MAX);
    assert!(notes.is_empty(), "{notes:?}");
    let ((half, notes), _) = within(asked / 2);
    let said = "refits to resampled rows ended early at the time limit: standard errors and draws are from ";
    let count =
        notes[0].strip_prefix(said).and_then(|rest| rest.strip_suffix(" of 8")?.parse::<usize>().ok());
    let count = count.unwrap_or_else(|| panic!("{notes:?}"));
    assert!((2..8).contains(&count), "{count}");
    // The refits that were complete are those of fewer resamples.
    let fewer = filled(&model, &x, ImputeOptions { bootstrap: count, ..wanted }, 1).0;
    assert_eq!(bits(&half), bits(&fewer));
    assert_ne!(bits(&half), bits(&whole));
}

#[test]
fn cells_are_filled_with_their_conditional_means_and_errors() {
    let (_, x) = design(60, 0.4, 3);
    let model = try_fit("ppca", &settings(json!({"n_components": 3})), &x, 12).unwrap();
    let plain = Plain::of(&model);
    let known = ImputeOptions { std: true, draws: 0, bootstrap: 0 };
    let (out, notes) = filled(&model, &x, known, 2);
    assert!(notes.is_empty());
    for (row, out) in x.chunks_exact(12).zip(out.chunks_exact(24)) {
        let (o, m): (Vec<usize>, Vec<usize>) = (0..12).partition(|&j| !row[j].is_nan());
        let (values, vectors) = factor::eigh(&plain.covariance(&o)).unwrap();
        let all: Vec<usize> = (0..12).collect();
        let covariance = plain.covariance(&all);
        let inverse = Matrix::from_fn(o.len(), o.len(), |a, b| {
            (0..o.len()).map(|l| vectors[(l, a)] * vectors[(l, b)] / values[l]).sum::<f64>()
        });
        for &j in &o {
            assert_eq!((out[j].to_bits(), out[12 + j]), (row[j].to_bits(), 0.0));
        }
        for &j in &m {
            let pull: Vec<f64> = (0..o.len())
                .map(|a| (0..o.len()).map(|b| covariance[(j, o[b])] * inverse[(b, a)]).sum())
                .collect();
            let mean: f64 =
                plain.mean[j] + pull.iter().zip(&o).map(|(p, &a)| p * (row[a] - plain.mean[a])).sum::<f64>();
            let less: f64 = pull.iter().zip(&o).map(|(p, &a)| p * covariance[(a, j)]).sum();
            // The numbers are of about 10, and covariances have a condition number of 40.
            let (fill, square) = (out[j] - mean, out[12 + j].powi(2) - covariance[(j, j)] + less);
            assert!(fill.abs() < 1e-12 && square.abs() < 1e-12, "{fill:e}, {square:e}");
        }
    }
}

#[test]
fn intervals_have_their_nominal_coverage() {
    for n in [50, 100, 400] {
        for share in [0.1, 0.3, 0.5] {
            // Six samples of 400 rows have enough cells to distinguish a coverage of .94 from .96.
            let seeds = if n == 400 { repetitions(6, 20) } else { 20 };
            let (mut inside, mut cells) = (0.0, 0.0);
            for seed in 0..seeds {
                let (whole, x) = design(n, share, seed);
                let model = try_fit("ppca", &settings(json!({"n_components": 3})), &x, 12).unwrap();
                let (out, notes) =
                    filled(&model, &x, ImputeOptions { std: true, ..ImputeOptions::default() }, 2);
                assert!(notes.is_empty(), "{notes:?}");
                for (i, row) in x.chunks_exact(12).enumerate() {
                    for j in (0..12).filter(|&j| row[j].is_nan()) {
                        let z = (whole[12 * i + j] - out[24 * i + j]) / out[24 * i + 12 + j];
                        cells += 1.0;
                        inside += f64::from(u8::from(z.abs() < 1.959964));
                    }
                }
            }
            let covered = inside / cells;
            println!("n = {n}, {share} missing: {covered:.4} of {cells}");
            assert!((0.93..=0.97).contains(&covered), "n = {n}, {share} missing: {covered}");
        }
    }
}

#[test]
fn draws_have_the_mean_of_the_fill_and_the_spread_of_its_error() {
    let (_, x) = design(100, 0.3, 5);
    let model = try_fit("ppca", &settings(json!({"n_components": 3})), &x, 12).unwrap();
    let draws = 400;
    let (out, _) = filled(&model, &x, ImputeOptions { std: true, draws, bootstrap: 20 }, 2);
    let width = 12 * (2 + draws);
    let (mut ratios, mut shifts) = (Vec::new(), Vec::new());
    for (i, row) in x.chunks_exact(12).enumerate() {
        let out = &out[i * width..(i + 1) * width];
        for j in 0..12 {
            let drawn: Vec<f64> = (0..draws).map(|m| out[12 * (2 + m) + j]).collect();
            if !row[j].is_nan() {
                assert!(drawn.iter().all(|x| x.to_bits() == row[j].to_bits()));
                continue;
            }
            let mean = drawn.iter().sum::<f64>() / draws as f64;
            let square = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (draws - 1) as f64;
            ratios.push(square / out[12 + j].powi(2));
            shifts.push((mean - out[j]) / out[12 + j]);
        }
    }
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    // The variance over 20 refits has divisor 19 in the standard error, and 20 in the distribution of the draws.
    assert!((mean(&ratios) - 1.0).abs() < 0.03, "{}", mean(&ratios));
    assert!(mean(&shifts).abs() < 0.02 && shifts.iter().all(|s| s.abs() < 6.0 / (draws as f64).sqrt()));
}

#[test]
fn results_have_the_same_bits_on_any_threads_and_rows_outside_the_fit_are_reported() {
    let (_, x) = design(80, 0.3, 6);
    let model = try_fit("ppca", &settings(json!({"n_components": 2})), &x, 12).unwrap();
    let wanted = ImputeOptions { std: true, draws: 2, bootstrap: 4 };
    let (a, b) = (filled(&model, &x, wanted, 1).0, filled(&model, &x, wanted, 3).0);
    assert!(a.iter().zip(&b).all(|(a, b)| a.to_bits() == b.to_bits()));
    let (some, notes) = filled(&model, &x[..40 * 12], wanted, 1);
    assert!(notes.len() == 1 && notes[0].contains("treated as known"), "{notes:?}");
    // With parameters taken as known standard errors are smaller, and fills are the same.
    let width = 12 * 4;
    for i in 0..40 {
        for j in 0..12 {
            assert_eq!(some[i * width + j].to_bits(), a[i * width + j].to_bits());
            assert!(some[i * width + 12 + j] <= a[i * width + 12 + j]);
        }
    }
    // Fills alone need no refits; models without a distribution of codes cannot impute.
    assert!(filled(&model, &x[..120], ImputeOptions::default(), 1).1.is_empty());
    let pca = try_fit("pca", &settings(json!({})), &[1.0, 2.0, 3.0, 5.0, 4.0, 2.0], 3).unwrap();
    let rows = AnyRows::F64(Rows::from_slice(&x[..30], 3).unwrap());
    let message =
        Imputer::new(&pca, &rows, ImputeOptions::default(), &on_threads(1)).err().unwrap().to_string();
    assert!(message.contains("choose a method that fills them (ppca, "), "{message}");
}
