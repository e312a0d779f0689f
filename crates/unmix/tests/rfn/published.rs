//! The published tables of the biclustering benchmark, by their acceptance rule.

use crate::made::{cast, decode, encode, on_threads, settings, wide};
use crate::scope::in_all;
use serde_json::{Value, json};
use unmix::datasets::biclusters;
use unmix::internal::num::{Matrix, factor};
use unmix::{AnyRows, Model, Rows, Run};

/// Mean and standard deviation of zeros, errors and covariances.
type Cell = [(f64, f64); 3];

/// Data sets of table S5 of Clevert et al. (2015), set I, 50 units: with normalisation and without.
const PUBLISHED_50: [(&str, Cell, Cell); 3] = [
    ("D1", [(74.0, 0.0), (58.0, 1.0), (5.0, 0.0)], [(73.0, 0.0), (85.0, 3.0), (13.0, 2.0)]),
    ("D3", [(75.0, 0.0), (456.0, 5.0), (253.0, 6.0)], [(75.0, 0.0), (531.0, 6.0), (321.0, 7.0)]),
    ("D7", [(75.0, 0.0), (53.0, 1.0), (4.0, 1.0)], [(73.0, 0.0), (73.0, 3.0), (10.0, 2.0)]),
];

/// Those of table S7, set I, 150 units.
const PUBLISHED_150: [(&str, Cell, Cell); 3] = [
    ("D1", [(83.0, 1.0), (7.0, 2.0), (0.0, 1.0)], [(79.0, 0.0), (48.0, 3.0), (4.0, 1.0)]),
    ("D3", [(86.0, 2.0), (33.0, 20.0), (18.0, 23.0)], [(81.0, 0.0), (250.0, 7.0), (80.0, 4.0)]),
    ("D7", [(84.0, 2.0), (5.0, 3.0), (0.0, 1.0)], [(80.0, 0.0), (37.0, 3.0), (2.0, 0.0)]),
];

/// Errors that the public implementation makes on eight instances of set I, 50 units.
const PUBLIC: [(&str, f64); 3] = [("D1", 58.18), ("D3", 458.16), ("D7", 53.63)];

/// Instances of each data set.
const INSTANCES: u64 = 4;

/// Percentage of codes that are 0, norm of the residuals of the rows, norm of the residual of their covariance.
fn measured(model: &Model, x: &Matrix<f64>) -> [f64; 3] {
    let (n, p) = (x.rows(), x.cols());
    let single: Vec<f32> = cast(x.as_slice());
    let codes = encode(model, &single);
    let back = wide(&decode(model, &codes));
    let zeros = 100.0 * codes.iter().filter(|z| **z == 0.0).count() as f64 / codes.len() as f64;
    let left: f64 = x.as_slice().iter().zip(&back).map(|(x, b)| (x - b).powi(2)).sum();
    let w = model.tensor("components").unwrap().to_matrix().transposed();
    let s = model.tensor("code_moments").unwrap().to_matrix();
    let psi = model.tensor("noise_variance").unwrap().f64s();
    let wsw = factor::multiply_transposed(&factor::multiply(&w, &s), &w);
    let c = factor::multiply(&x.transposed(), x);
    let apart: f64 = (0..p * p)
        .map(|at| {
            let (i, j) = (at / p, at % p);
            let model = wsw[(i, j)] + if i == j { psi[i] } else { 0.0 };
            (c[(i, j)] / n as f64 - model).powi(2)
        })
        .sum();
    [zeros, left.sqrt(), apart.sqrt()]
}

/// Means over instances, in single precision.
fn cell(name: &str, set: u64, given: &Value) -> [f64; 3] {
    let mut total = [0.0; 3];
    for i in 0..INSTANCES {
        let x = biclusters(name, set, i).unwrap().x;
        let single: Vec<f32> = cast(x.as_slice());
        let mut rows = AnyRows::F32(Rows::from_slice(&single, 100).unwrap());
        let run = Run { seed: i, ..on_threads(1) };
        let model = unmix::fit("rfn", &settings(given.clone()), &mut rows, &run).unwrap();
        total.iter_mut().zip(measured(&model, &x)).for_each(|(t, v)| *t += v / INSTANCES as f64);
    }
    total
}

/// `|ours - v| <= a + 3 max(s, 0.5) / sqrt(N) + r v`.
fn accepted(ours: [f64; 3], published: Cell, what: &str) {
    let rule = [(1.0, 0.0), (0.5, 0.04), (1.0, 0.08)];
    for (at, name) in ["SP", "ER", "CO"].iter().enumerate() {
        let ((a, r), (v, s)) = (rule[at], published[at]);
        let bound = a + 3.0 * s.max(0.5) / (INSTANCES as f64).sqrt() + r * v;
        assert!(
            (ours[at] - v).abs() <= bound,
            "{what} {name}: {:.1}, published {v} +- {s}, bound {bound:.1}",
            ours[at]
        );
    }
}

/// Data sets of a table, under some normalisations.
fn table(units: u64, published: &[(&str, Cell, Cell)], normalisations: &[&str]) {
    for (name, rfn, free) in published {
        for normalize in normalisations {
            let want = if *normalize == "none" { free } else { rfn };
            let ours = cell(name, 1, &json!({"n_components": units, "normalize": normalize}));
            eprintln!("{name}, {units} units, {normalize}: {ours:.1?}, published {want:?}");
            accepted(ours, *want, &format!("{name} {units} {normalize}"));
        }
    }
}

#[test]
fn the_first_cell_of_the_published_tables_is_reproduced() {
    let (name, rfn, _) = PUBLISHED_50[0];
    accepted(cell(name, 1, &json!({"n_components": 50})), rfn, "D1 50 rms");
}

#[test]
fn the_published_tables_are_reproduced() {
    if in_all("published tables, 50 units") {
        table(50, &PUBLISHED_50, &["rms", "std", "none"]);
    }
}

#[test]
fn more_units_than_rows_come_near_the_published_tables() {
    if in_all("published tables, 150 units") {
        // Two data sets under every normalisation; the third, which takes as long, under the paper's own.
        table(150, &PUBLISHED_150[..2], &["rms", "std", "none"]);
        table(150, &PUBLISHED_150[2..], &["rms"]);
    }
}

#[test]
fn standard_deviations_and_an_absolute_floor_have_the_errors_of_the_public_implementation() {
    if !in_all("errors of the public implementation") {
        return;
    }
    for (name, er) in PUBLIC {
        let given = json!({"n_components": 50, "normalize": "std", "psi_min_unit": "absolute"});
        let ours = cell(name, 1, &given)[1];
        eprintln!("{name}, std, absolute: ER {ours:.2}, public implementation {er}");
        assert!((ours / er - 1.0).abs() < 0.06, "{name}: {ours} {er}");
    }
}
