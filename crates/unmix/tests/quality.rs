//! T², Q and their parts against their formulas, and standard errors against the spread over samples.

use crate::made::falling;
use unmix::data::VecSink;
use unmix::internal::num::random::Stream;
use unmix::method::pca::{Solver, Whiten};
use unmix::model::{Parts, Quality};
use unmix::{Matrix, Model, Pca, Rows, Run};

const ALL: Parts = Parts { components: true, columns: true };

fn fitted(x: &[f64], p: usize, k: usize, whiten: bool) -> Model {
    let pca = Pca { n_components: k.into(), whiten: Whiten::Scaled(whiten), ..Default::default() };
    pca.fit(&mut Rows::from_slice(x, p).unwrap(), &Run::default()).unwrap()
}

fn measured(model: &Model, x: &[f64], p: usize, parts: Parts) -> Vec<f64> {
    let mut sink = VecSink(Vec::new());
    model.quality(&Rows::from_slice(x, p).unwrap(), parts, &Run::default(), &mut sink).unwrap();
    sink.0
}

#[test]
fn the_parts_are_their_formulas_and_add_up() {
    let (n, p, k) = (300, 9, 4);
    let x = falling(n, p, 3);
    let model = fitted(&x, p, k, false);
    let variance = model.tensor("explained_variance").unwrap().f64s();
    let mean = model.tensor("mean").unwrap().f64s();
    let rows = Rows::from_slice(&x, p).unwrap();
    let codes = model.encode_to_vec(&rows, &Run::default()).unwrap();
    let back = model.decode_to_vec(&Rows::from_slice(&codes, k).unwrap(), &Run::default()).unwrap();
    let width = 2 + 2 * k + p;
    let found = measured(&model, &x, p, ALL);
    assert_eq!(found.len(), n * width);
    let near =
        |a: f64, b: f64, what: &str| assert!((a - b).abs() <= 1e-11 * b.abs().max(1e-3), "{what}: {a} {b}");
    let mut t2_total = 0.0;
    let mut q_total = 0.0;
    for i in 0..n {
        let (row, y) = (&found[i * width..(i + 1) * width], &codes[i * k..(i + 1) * k]);
        let (shares, cosines, columns) = (&row[2..2 + k], &row[2 + k..2 + 2 * k], &row[2 + 2 * k..]);
        let centred: Vec<f64> = (0..p).map(|j| x[i * p + j] - mean[j]).collect();
        let square: f64 = centred.iter().map(|v| v * v).sum();
        for c in 0..k {
            near(shares[c], y[c] * y[c] / variance[c], "share of T2");
            near(cosines[c], y[c] * y[c] / square, "squared cosine");
        }
        for j in 0..p {
            near(columns[j], (x[i * p + j] - back[i * p + j]).powi(2), "share of Q");
        }
        near(shares.iter().sum(), row[0], "T2");
        near(columns.iter().sum(), row[1], "Q");
        // Pythagoras: squared cosines and the relative squared residual sum to 1.
        near(cosines.iter().sum::<f64>() + row[1] / square, 1.0, "cosines and residual");
        t2_total += row[0];
        q_total += row[1];
    }
    // Over the rows of the fit, T2 sums to k (n - 1), and Q to (n - 1) times the variance that is left out.
    near(t2_total, (k * (n - 1)) as f64, "sum of T2");
    let left_out = model.tensor("noise_variance").unwrap().f64s()[0] * (p - k) as f64;
    near(q_total, left_out * (n - 1) as f64, "sum of Q");
}

#[test]
fn whitening_changes_nothing_and_blocks_neither() {
    let (n, p, k) = (1100, 7, 3);
    let x = falling(n, p, 5);
    let (plain, white) = (fitted(&x, p, k, false), fitted(&x, p, k, true));
    let found = measured(&plain, &x, p, ALL);
    assert_eq!(found, measured(&white, &x, p, ALL));
    let width = found.len() / n;
    for i in [0, 1, 255, 256, 1099] {
        assert_eq!(
            measured(&plain, &x[i * p..(i + 1) * p], p, ALL),
            found[i * width..(i + 1) * width],
            "row {i} alone"
        );
    }
    let few = measured(&plain, &x, p, Parts::default());
    assert!((0..n).all(|i| few[2 * i..2 * i + 2] == found[i * width..i * width + 2]));
}

#[test]
fn directions_without_variance_count_in_q() {
    // Rows on a line in three dimensions; two of the three requested components have variance 0.
    let x: Vec<f64> = (0..10).flat_map(|i| [i as f64, 2.0 * i as f64, 0.0]).collect();
    let model = fitted(&x, 3, 3, false);
    let found = measured(&model, &[4.5, 9.0, 2.0], 3, ALL);
    // A row 2 above the centre of the line.
    assert!(found[0].abs() < 1e-25 && (found[1] - 4.0).abs() < 1e-12, "{found:?}");
    assert_eq!(found.len(), 2 + 6 + 3);
    let on = measured(&model, &x[..3], 3, ALL);
    assert!(on[1] < 1e-28, "{on:?}");
}

#[test]
fn the_mean_itself_and_a_model_of_every_direction_are_exactly_zero() {
    let x = falling(50, 4, 9);
    let all = fitted(&x, 4, 4, false);
    let found = measured(&all, &x, 4, Parts::default());
    assert!(found.chunks(2).all(|r| r[0] > 0.0 && r[1] == 0.0));
    let mean = all.tensor("mean").unwrap().f64s();
    assert_eq!(measured(&all, &mean, 4, ALL), vec![0.0; 2 + 8 + 4]);
    let none = fitted(&x, 4, 0, false);
    assert!(measured(&none, &x, 4, Parts::default()).chunks(2).all(|r| r[0] == 0.0 && r[1] > 0.0));
}

#[test]
fn small_rows_keep_their_cosines_and_too_large_ones_are_refused() {
    let x = falling(50, 4, 9);
    let model = fitted(&x, 4, 2, false);
    let mean = model.tensor("mean").unwrap().f64s();
    let tiny: Vec<f64> = mean.iter().zip([3e-9, 1e-9, 0.0, 2e-9]).map(|(m, d)| m + d).collect();
    let found = measured(&model, &tiny, 4, ALL);
    assert!(found[4] + found[5] <= 1.0 + 1e-12 && found[4] + found[5] > 0.0, "{found:?}");
    let refused = |row: &[f64]| {
        let mut sink = VecSink(Vec::new());
        let rows = Rows::from_slice(row, row.len()).unwrap();
        model.quality(&rows, ALL, &Run::default(), &mut sink).unwrap_err().to_string()
    };
    assert!(refused(&[1e200, 0.0, 0.0, 0.0]).contains("squares"));
    assert!(refused(&[f64::NAN, 0.0, 0.0, 0.0]).contains("row 0, column 0 is NaN"));
    assert!(refused(&[1.0, 0.0]).contains("4 columns are needed, but 2"));
    assert_eq!(Quality::of(&model, ALL).unwrap().width(), 2 + 4 + 4);
}

#[test]
fn standard_errors_are_those_of_repeated_samples() {
    // Repeated samples of Gaussian rows with variances 9, 4, 1 along fixed axes.
    let (n, p, trials) = (400, 3, 600);
    let truth = [9.0, 4.0, 1.0];
    let mut found = vec![Vec::new(); p];
    let mut reported = vec![0.0; p];
    for trial in 0..trials {
        let s = Stream::new(trial, 77);
        let x: Vec<f64> = (0..n * p).map(|i| [3.0, 2.0, 1.0][i % p] * s.normal(i as u64)).collect();
        let pca = Pca { svd_solver: Solver::CovarianceEigh, ..Default::default() };
        let model = pca.fit(&mut Rows::from_slice(&x, p).unwrap(), &Run::default()).unwrap();
        let variance = model.tensor("explained_variance").unwrap().f64s();
        let errors = model.explained_variance_std_error().unwrap();
        for c in 0..p {
            found[c].push(variance[c]);
            reported[c] += errors[c] / trials as f64;
            assert_eq!(errors[c], variance[c] * (2.0 / (n as f64 - 1.0)).sqrt());
        }
    }
    for c in 0..p {
        let mean = found[c].iter().sum::<f64>() / trials as f64;
        let spread = found[c].iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (trials - 1) as f64;
        // The relative standard error of a standard deviation over 600 samples is 3 %; the bound is four times that.
        let ratio = reported[c] / spread.sqrt();
        assert!((ratio - 1.0).abs() < 0.12, "component {c}: {ratio}, truth {}", truth[c]);
    }
}

#[test]
fn standardized_rows_are_measured_in_units_of_their_columns() {
    let (n, p, k) = (200, 5, 2);
    let x = falling(n, p, 4);
    let large: Vec<f64> = x.iter().enumerate().map(|(i, v)| if i % p == 3 { 1e4 * v } else { *v }).collect();
    let fit = |x: &[f64]| {
        let pca = Pca { n_components: k.into(), standardize: true, ..Default::default() };
        pca.fit(&mut Rows::from_slice(x, p).unwrap(), &Run::default()).unwrap()
    };
    let (one, other) = (measured(&fit(&x), &x, p, ALL), measured(&fit(&large), &large, p, ALL));
    assert!(one.iter().zip(&other).all(|(a, b)| (a - b).abs() <= 1e-9 * a.abs().max(1e-3)));
    // Measures of standardized rows under a model of standardized rows are the reference.
    let model = fit(&x);
    let (mean, scale) = (model.tensor("mean").unwrap().f64s(), model.tensor("noise_scale").unwrap().f64s());
    let z = Matrix::from_fn(n, p, |i, j| (x[i * p + j] - mean[j]) / scale[j]);
    let plain = fitted(z.as_slice(), p, k, false);
    let want = measured(&plain, z.as_slice(), p, ALL);
    assert!(one.iter().zip(&want).all(|(a, b)| (a - b).abs() <= 1e-9 * a.abs().max(1e-3)));
}
