//! Rows distributed over workers that share no memory: the model has the bytes of a fit in one process.

mod distributed;
mod invalid;
mod law;
mod registered;
mod sparse;

use crate::made::{cast, falling, fit_any, settings, warned};
use distributed::{Distributed, bytes_but_run, the_same, the_same_of};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use unmix::method::Accepts;
use unmix::{AnyRows, METHODS, Rows, Run, shards};

/// Mixed non-Gaussian sources with decreasing variances.
fn mixed(n: usize, p: usize) -> Vec<f64> {
    use unmix::datasets::{Distribution, independent};
    let laws =
        [Distribution::Laplace, Distribution::Uniform, Distribution::Exponential].repeat(p.div_ceil(3));
    let variances: Vec<f64> = (0..p).map(|j| 4.0 / (j + 1) as f64).collect();
    let x = independent(n, &laws[..p], &variances, 5).unwrap().x;
    let turn =
        unmix::Matrix::from_fn(p, p, |i, j| f64::from(u8::from(i == j)) + 0.3 * ((i * 7 + j * 3) % 5) as f64);
    unmix::internal::num::factor::multiply(&x, &turn).into_vec()
}

/// Checks that every method that can be fitted to remote rows, and that takes what a test is about, is among its fits.
fn all_are_in(fits: &[(&str, Value)], takes: fn(&Accepts) -> bool) {
    for method in METHODS.iter().filter(|m| m.accepts.remote && takes(&m.accepts)) {
        let among = fits.iter().any(|(key, _)| *key == method.key);
        assert!(among, "{} is missing in the test", method.key);
    }
}

#[test]
fn three_processes_give_the_bytes_of_one() {
    let p = 6;
    let n = 4 * shards::shard_rows(p) as usize + 777;
    let x = mixed(n, p);
    let distributed = Distributed::new(&x, p, &[1, 3]);
    for (key, given) in [
        ("pca", json!({"svd_solver": "full"})),
        ("pca", json!({"svd_solver": "covariance_eigh", "n_components": 3, "whiten": true})),
        ("pca", json!({"n_components": 2, "svd_solver": "krylov", "standardize": true})),
        ("pca", json!({"n_components": "mle"})),
        ("neural-pca", json!({"n_components": 3, "variant": "oja"})),
        ("sigma-pca", json!({"n_components": 4})),
        ("sigma-pca", json!({"n_components": 1, "center": false, "max_iter": 30})),
        ("sigma-pca", json!({"n_components": 2, "constraint": "native", "max_iter": 30})),
        ("ica", json!({})),
        ("ica", json!({"ortho": false, "extended": true, "n_components": 3})),
        ("ica", json!({"algorithm": "infomax", "extended": true, "order": "kurtosis", "max_iter": 20})),
        ("ica", json!({"algorithm": "fastica", "orthogonalization": "deflation", "n_components": 3})),
        ("ica", json!({"fun": "adaptive", "n_components": 2})),
        ("fastica", json!({"n_components": 3})),
        ("rica", json!({"n_components": 4, "max_iter": 20})),
        ("rica", json!({"n_components": 8, "whiten": false, "max_iter": 10})),
        ("factor-analysis", json!({"n_components": 2})),
        ("sparse-coder", json!({"alpha": "cv", "center": true})),
    ] {
        the_same(&distributed, &x, key, given);
    }
    for first_layer in ["pca", "sigma-pca"] {
        let given = json!({"algorithm": "sigma-pca", "first_layer": first_layer, "n_components": 4});
        the_same(&distributed, &x, "ica", given);
    }
    let narrow: Vec<f32> = cast(&x);
    let distributed = Distributed::new(&narrow, p, &[2, 2]);
    let fits = [
        ("pca", json!({})),
        ("ppca", json!({"n_components": 2})),
        ("linear-eigengan", json!({"groups": [2, 1]})),
        ("neural-pca", json!({"n_components": 2})),
        ("sigma-pca", json!({"n_components": 2, "max_iter": 10})),
        ("ica", json!({"n_components": 3})),
        ("fastica", json!({"n_components": 3, "max_iter": 10})),
        ("rica", json!({"max_iter": 10})),
        ("factor-analysis", json!({"n_components": 2})),
        ("complete-dictionary", json!({"n_components": 3, "max_iter": 10})),
        ("rfn", json!({"n_components": 4, "max_iter": 3})),
        ("sparse-coder", json!({})),
    ];
    all_are_in(&fits, |_| true);
    for (key, given) in fits {
        the_same(&distributed, &narrow, key, given);
    }
}

#[test]
fn coordinates_are_cut_at_the_shards_of_their_rows() {
    // Shards of rows with three numbers are longer than those of rows with a hundred, so coordinates must be cut as their rows are.
    let p = 100;
    assert!(shards::shard_rows(3) > shards::shard_rows(p));
    let x = mixed(3 * shards::shard_rows(p) as usize + 77, p);
    let distributed = Distributed::new(&x, p, &[1, 2]);
    for (key, given) in [
        ("ica", json!({"algorithm": "sigma-pca", "n_components": 3, "max_iter": 20})),
        ("ica", json!({"n_components": 3, "max_iter": 20})),
        ("sigma-pca", json!({"n_components": 2, "max_iter": 10})),
    ] {
        the_same(&distributed, &x, key, given);
    }
}

#[test]
fn weights_of_workers_give_the_bytes_of_one_process() {
    let p = 6;
    let size = shards::shard_rows(p) as usize;
    let n = 4 * size + 777;
    let mut x = mixed(n, p);
    // The worker with the last rows has no weights: its rows have weight 1.
    let weights: Vec<f64> =
        (0..n).map(|i| if i < 3 * size { (i * 7 % 5) as f64 * 0.3 } else { 1.0 }).collect();
    // Rows of weight 0 may have missing cells.
    for (row, _) in x.chunks_exact_mut(p).zip(&weights).filter(|(_, w)| **w == 0.0) {
        row[2] = f64::NAN;
    }
    let distributed = Distributed::weighted(&x, p, &[1, 3], Some(&weights));
    let fits = [
        ("pca", json!({"svd_solver": "full"})),
        ("pca", json!({"svd_solver": "covariance_eigh", "n_components": 3, "whiten": true})),
        ("pca", json!({"n_components": 2, "svd_solver": "krylov", "standardize": true})),
        ("ppca", json!({"n_components": 3})),
        ("linear-eigengan", json!({"groups": [2, 1]})),
        ("neural-pca", json!({"n_components": 3})),
        ("sigma-pca", json!({"n_components": 4, "max_iter": 20})),
        ("ica", json!({"n_components": 4, "max_iter": 20})),
        ("ica", json!({"fun": "adaptive", "n_components": 2})),
        ("ica", json!({"algorithm": "sigma-pca", "n_components": 3})),
        ("fastica", json!({"n_components": 3})),
        ("rica", json!({"n_components": 4, "max_iter": 20})),
        ("factor-analysis", json!({"n_components": 2, "rotation": "varimax"})),
        ("complete-dictionary", json!({"n_components": 3, "max_iter": 10})),
        ("rfn", json!({"n_components": 4, "max_iter": 3})),
    ];
    all_are_in(&fits, |accepts| accepts.weights);
    for (key, given) in fits {
        let rows = Rows::from_slice(&x, p).unwrap().weighted(weights.as_slice()).unwrap();
        the_same_of(&distributed, rows, key, given);
    }
    // Fewer rows than columns.
    let (x, weights) = (falling(40, 90, 3), (0..40).map(|i| (i % 3) as f64).collect::<Vec<f64>>());
    let held = AnyRows::from(Rows::from_slice(&x, 90).unwrap().weighted(weights.as_slice()).unwrap());
    let everywhere = |job: &[u8]| Ok(vec![shards::gather(job, &held, 0, &Run::default())?]);
    let mut rows = AnyRows::F64(Rows::remote(40, 90, &everywhere));
    let there = unmix::fit("pca", &settings(json!({"n_components": 5})), &mut rows, &Run::default()).unwrap();
    let mut rows = AnyRows::F64(Rows::from_slice(&x, 90).unwrap().weighted(weights.as_slice()).unwrap());
    let here = unmix::fit("pca", &settings(json!({"n_components": 5})), &mut rows, &Run::default()).unwrap();
    assert_eq!(bytes_but_run(&there), bytes_but_run(&here));
}

#[test]
fn workers_in_the_process_of_the_driver_do_not_block_it() {
    let p = 4;
    let x = mixed(2 * shards::shard_rows(p) as usize + 9, p);
    let cut = shards::shard_rows(p) as usize;
    let everywhere = |job: &[u8]| {
        let answer = |from: usize, until: usize| {
            let rows = AnyRows::from(Rows::from_slice(&x[from * p..until * p], p)?);
            shards::gather(job, &rows, from as u64, &Run { threads: 2, ..Run::default() })
        };
        Ok(vec![answer(0, cut)?, answer(cut, x.len() / p)?])
    };
    for key in ["pca", "ica", "fastica", "rica", "sigma-pca", "neural-pca", "factor-analysis"] {
        let given = settings(json!({"n_components": 2}));
        let mut rows = AnyRows::F64(Rows::remote((x.len() / p) as u64, p, &everywhere));
        let there = unmix::fit(key, &given, &mut rows, &Run { threads: 2, ..Run::default() }).unwrap();
        let here =
            unmix::fit(key, &given, &mut AnyRows::F64(Rows::from_slice(&x, p).unwrap()), &Run::default());
        assert_eq!(bytes_but_run(&there), bytes_but_run(&here.unwrap()), "{key}");
    }
}

#[test]
fn rows_with_missing_cells_on_workers_give_the_bytes_of_one_process() {
    let p = 6;
    let cut = shards::shard_rows(p) as usize;
    let mut x = mixed(2 * cut + 9, p);
    x.iter_mut().skip(3).step_by(11).for_each(|x| *x = f64::NAN);
    let everywhere = |job: &[u8]| {
        let answer = |from: usize, until: usize| {
            let rows = AnyRows::from(Rows::from_slice(&x[from * p..until * p], p)?);
            shards::gather(job, &rows, from as u64, &Run::default())
        };
        Ok(vec![answer(0, cut)?, answer(cut, x.len() / p)?])
    };
    let fits = ["ppca", "linear-eigengan", "factor-analysis"];
    let mut fits = fits.map(|key| (key, json!({"n_components": 2, "max_iter": 5}))).to_vec();
    fits.push(("sparse-coder", json!({"center": true})));
    all_are_in(&fits, |accepts| accepts.missing);
    for (key, given) in fits {
        let given = settings(given);
        let mut rows = AnyRows::F64(Rows::remote((x.len() / p) as u64, p, &everywhere));
        let there = fit_any(key, &given, &mut rows, &Run::default()).unwrap();
        let mut rows = AnyRows::F64(Rows::from_slice(&x, p).unwrap());
        let here = fit_any(key, &given, &mut rows, &Run::default()).unwrap();
        assert_eq!(bytes_but_run(&there), bytes_but_run(&here), "{key}");
    }
}

#[test]
fn fewer_rows_than_columns_are_collected_on_the_driver() {
    let (n, p) = (40, 90);
    let x = falling(n, p, 3);
    let distributed = Distributed::new(&x, p, &[0]);
    the_same(&distributed, &x, "pca", json!({"n_components": 5}));
    the_same(&distributed, &x, "ica", json!({"n_components": 3, "max_iter": 10}));
}

#[test]
fn columns_by_iteration_and_numbers_that_are_not_finite() {
    let p = 2100;
    let n = 2 * shards::shard_rows(p) as usize + 5;
    let mut x = falling(n, 30, 4);
    x = x.chunks_exact(30).flat_map(|row| (0..p).map(|j| row[j % 30] * (1.0 + j as f64 / 100.0))).collect();
    let x: Vec<f32> = cast(&x);
    let distributed = Distributed::new(&x, p, &[1]);
    the_same(&distributed, &x, "pca", json!({"n_components": 2, "svd_solver": "krylov"}));
    let mut y = falling(50, 4, 4);
    y[4 * 30 + 2] = f64::NAN;
    let text = Distributed::new(&y, 4, &[]).fit::<f64>("pca", &json!({})).unwrap_err().to_string();
    assert!(text.contains("row 30, column 2 is NaN"), "{text}");
    // NaN is a missing cell of these, so that the infinite number after it is named.
    y[4 * 31 + 1] = f64::INFINITY;
    for center in [false, true] {
        let given = json!({"center": center});
        let text = Distributed::new(&y, 4, &[]).fit::<f64>("sparse-coder", &given).unwrap_err().to_string();
        assert!(text.contains("row 31, column 1 is infinity"), "{text}");
    }
}

#[test]
fn rows_after_the_end_of_a_run_are_not_coded_by_workers() {
    let (n, p) = (3000, 4);
    let x = falling(n, p, 7);
    let everywhere = |job: &[u8]| {
        let rows = AnyRows::from(Rows::from_slice(&x, p)?);
        Ok(vec![shards::gather(job, &rows, 0, &Run::default())?])
    };
    let mut rows = AnyRows::F64(Rows::remote(n as u64, p, &everywhere));
    let run = Run { max_seconds: Some(0.0), ..Run::default() };
    let model = fit_any("sparse-coder", &settings(json!({})), &mut rows, &run).unwrap();
    assert!(warned(&model, "3000 rows were not coded"));
}

#[test]
fn rows_of_halves_are_sent_unless_they_are_declined() {
    let (n, p) = (3000, 4);
    let x = falling(n, p, 7);
    let sent = |given: Value| {
        let bytes = AtomicUsize::new(0);
        let everywhere = |job: &[u8]| {
            let rows = AnyRows::from(Rows::from_slice(&x, p)?);
            let answer = shards::gather(job, &rows, 0, &Run::default())?;
            bytes.fetch_add(answer.len(), Ordering::Relaxed);
            Ok(vec![answer])
        };
        let mut rows = AnyRows::F64(Rows::remote(n as u64, p, &everywhere));
        unmix::fit("sigma-pca", &settings(given), &mut rows, &Run::default()).unwrap();
        bytes.load(Ordering::Relaxed)
    };
    // As docs/shards.md states: few rows are sent as a whole by default.
    let whole = sent(json!({"n_components": 2}));
    assert_eq!(whole, sent(json!({"n_components": 2, "halves": true})));
    assert!(whole >= sent(json!({"n_components": 2, "halves": false})) + 8 * n * p);
}
