//! Sparse rows give the results of the same rows in dense form.

use crate::made::{Known, apart, bits, encode, fit_any, little, numbers, on_threads, settings, wide};
use serde_json::{Value, json};
use unmix::data::{Sparse, VecSink};
use unmix::internal::num::random::Stream;
use unmix::method::pca::{Solver, auto_solver};
use unmix::{Error, Features, METHODS, Model, Result, Rows};

/// The same matrix in dense and in compressed sparse form.
struct DenseAndSparse<T> {
    dense: Vec<T>,
    starts: Vec<i64>,
    columns: Vec<i32>,
    values: Vec<T>,
    p: usize,
}

impl<T: Known> DenseAndSparse<T> {
    /// About a tenth of the entries differ from 0, and the scales of columns decay, so that the first variances are distinct; every
    /// tenth column is dense and has mean `far`.
    fn made(n: usize, p: usize, far: f64) -> Self {
        let (which, what, group) = (Stream::new(5, 0), Stream::new(5, 1), Stream::new(5, 2));
        let number = |i: usize, j: usize| {
            let at = (i * p + j) as u64;
            let size = 3.0 / (1.0 + j as f64).sqrt();
            let common = group.normal(i as u64) * f64::from(u8::from(j.is_multiple_of(3)));
            match j % 10 {
                9 => far + size * what.normal(at),
                _ if which.uniform(at) < 0.1 => size * (what.normal(at) + common + 1.0),
                _ => 0.0,
            }
        };
        let dense: Vec<T> = (0..n * p).map(|at| T::from_f64(number(at / p, at % p))).collect();
        Self::of(dense, p)
    }

    fn of(dense: Vec<T>, p: usize) -> Self {
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in dense.chunks_exact(p) {
            for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != T::default()) {
                columns.push(j as i32);
                values.push(*v);
            }
            starts.push(columns.len() as i64);
        }
        Self { dense, starts, columns, values, p }
    }

    fn rows(&self) -> Rows<'_, T> {
        let sparse = Sparse::from_csr(&self.starts, &self.columns, &self.values, self.p).unwrap();
        Rows::new(sparse, Features::default(), "the sparse rows")
    }

    fn fit(&self, key: &str, given: &Value, threads: usize) -> Result<Model> {
        fit_any(key, &settings(given.clone()), &mut T::any(self.rows()), &on_threads(threads))
    }

    fn fit_dense(&self, given: &Value) -> Model {
        let mut rows = T::any(Rows::from_slice(&self.dense, self.p).unwrap());
        unmix::fit("pca", &settings(given.clone()), &mut rows, &on_threads(2)).unwrap()
    }
}

fn agrees<T: Known>(both: &DenseAndSparse<T>, given: Value, tol: f64) {
    let (sparse, dense) = (both.fit("pca", &given, 2).unwrap(), both.fit_dense(&given));
    let first = numbers(&dense, "explained_variance")[0];
    for (name, size) in [("mean", 1.0), ("explained_variance", first), ("noise_variance", first)] {
        let off = apart(&numbers(&sparse, name), &numbers(&dense, name)) / size;
        let size = numbers(&dense, name).iter().fold(1.0f64, |m, x| m.max(x.abs()));
        assert!(off < tol * size, "{given}: {name} is off by {off:e}");
    }
    let (a, b) = (numbers(&sparse, "components"), numbers(&dense, "components"));
    let off = apart(&a, &b);
    assert!(off < 1e3 * tol, "{given}: components are off by {off:e}");
    assert_eq!(sparse.report().warnings, dense.report().warnings, "{given}");
    assert_eq!(sparse.report().n_constant, dense.report().n_constant);
}

#[test]
fn every_solver_gives_the_same_result_for_sparse_and_dense_rows() {
    for (n, p) in [(400, 30), (40, 130)] {
        let both = DenseAndSparse::<f64>::made(n, p, 0.0);
        for solver in ["auto", "covariance_eigh", "krylov", "arpack"] {
            agrees(&both, json!({"n_components": 4, "svd_solver": solver}), 1e-12);
        }
        agrees(&both, json!({"n_components": 4, "svd_solver": "randomized", "iterated_power": 60}), 1e-11);
        agrees(&both, json!({"n_components": 0.5}), 1e-12);
        agrees(&DenseAndSparse::<f64>::made(n, p, 1e4), json!({"n_components": 3, "whiten": true}), 1e-11);
        agrees(&DenseAndSparse::<f32>::made(n, p, 0.0), json!({"n_components": 3}), 2e-6);
    }
    // Too many columns for a covariance matrix: every iteration multiplies by the stored entries.
    let both = DenseAndSparse::<f64>::made(300, 2500, 0.0);
    for solver in ["auto", "krylov", "power"] {
        agrees(&both, json!({"n_components": 3, "svd_solver": solver}), 1e-11);
    }
}

/// Where products of the stored entries with a few directions are fewer than those of the covariance, this is not formed.
#[test]
fn a_randomized_fit_of_long_sparse_rows_forms_no_covariance_and_gives_that_of_dense_rows() {
    let given = json!({"n_components": 4, "svd_solver": "randomized"});
    let both = DenseAndSparse::<f64>::made(300, 900, 0.0);
    agrees(&both, given.clone(), 1e-11);
    assert!(both.fit("pca", &given, 2).unwrap().report().sweeps > 1);
    let short = DenseAndSparse::<f64>::made(400, 30, 0.0);
    assert_eq!(short.fit("pca", &given, 2).unwrap().report().sweeps, 1);
}

#[test]
fn weights_standardization_and_no_centring_are_as_for_dense_rows() {
    for (n, p, solver) in [(300, 30, "auto"), (40, 130, "auto"), (40, 2500, "krylov")] {
        let mut both = DenseAndSparse::<f64>::made(n, p, 20.0);
        let weights: Vec<f64> = (0..n).map(|i| (i % 4) as f64 / 2.0).collect();
        // Rows of weight 0 may have missing cells.
        for i in (0..n).step_by(4) {
            both.dense[i * p + 9] = f64::NAN;
            let at = both.starts[i] as usize..both.starts[i + 1] as usize;
            let at = at.clone().find(|&at| both.columns[at] == 9).unwrap();
            both.values[at] = f64::NAN;
        }
        for given in [
            json!({}),
            json!({"standardize": true}),
            json!({"center": false}),
            json!({"center": false, "standardize": true}),
        ] {
            let mut given = settings(given);
            given.insert("n_components".into(), json!(3));
            given.insert("svd_solver".into(), json!(solver));
            let fit = |rows: Rows<'_, f64>| {
                let mut rows = f64::any(rows.weighted(weights.as_slice()).unwrap());
                unmix::fit("pca", &given, &mut rows, &on_threads(2)).unwrap()
            };
            let (sparse, dense) = (fit(both.rows()), fit(Rows::from_slice(&both.dense, p).unwrap()));
            for name in ["mean", "explained_variance", "components", "noise_variance", "noise_scale"] {
                let (Some(a), Some(b)) = (sparse.tensor(name), dense.tensor(name)) else {
                    assert!(sparse.tensor(name).is_none() && dense.tensor(name).is_none(), "{name}");
                    continue;
                };
                let size = b.f64s().iter().fold(1.0f64, |m, x| m.max(x.abs()));
                let off = apart(&a.f64s(), &b.f64s());
                assert!(off < 1e-9 * size, "{n} x {p}, {given:?}: {name} is off by {off:e}");
            }
            // Codes of rows without NaN.
            let rows = DenseAndSparse::of(both.dense[p..4 * p].to_vec(), p);
            let (a, b) =
                (sparse.encode_to_vec(&rows.rows(), &on_threads(1)).unwrap(), encode(&sparse, &rows.dense));
            let size = b.iter().fold(1.0f64, |m, x| m.max(x.abs()));
            assert!(apart(&a, &b) < 1e-13 * size, "{given:?}: codes are off by {:e}", apart(&a, &b));
        }
    }
}

#[test]
fn auto_never_makes_rows_dense_and_avoids_a_covariance_that_is_too_large() {
    for (n, p, k, chosen) in [
        (100, 20, None, Solver::CovarianceEigh),
        (100_000, 2048, Some(5), Solver::CovarianceEigh),
        (100_000, 2049, Some(5), Solver::Krylov),
        (2049, 100_000, Some(204), Solver::Krylov),
        (2049, 100_000, Some(205), Solver::CovarianceEigh),
        (100_000, 2049, Some(0), Solver::CovarianceEigh),
        (100_000, 2049, None, Solver::CovarianceEigh),
    ] {
        assert_eq!(auto_solver(n, p, k, true), chosen, "{n} x {p}, {k:?}");
        assert_ne!(auto_solver(n, p, k, false), Solver::Krylov);
    }
}

#[test]
fn codes_are_those_of_the_dense_rows_alone_and_together_for_any_threads() {
    for far in [0.0, 1e6] {
        let both = DenseAndSparse::<f64>::made(300, 40, far);
        for whiten in [false, true] {
            let model = both.fit("pca", &json!({"n_components": 5, "whiten": whiten}), 2).unwrap();
            let together = model.encode_to_vec(&both.rows(), &on_threads(1)).unwrap();
            assert_eq!(together, model.encode_to_vec(&both.rows(), &on_threads(3)).unwrap());
            let dense = encode(&model, &both.dense);
            let size = dense.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            // Rows and mean share leading digits far from 0; codes must not lose accuracy by their cancellation.
            assert!(apart(&together, &dense) < 1e-13 * size, "far {far}: {:e}", apart(&together, &dense));
            for i in [0, 17, 299] {
                let one = DenseAndSparse::of(both.dense[i * 40..(i + 1) * 40].to_vec(), 40);
                let alone = model.encode_to_vec(&one.rows(), &on_threads(2)).unwrap();
                assert_eq!(alone, together[i * 5..(i + 1) * 5], "row {i}");
            }
        }
    }
    let both = DenseAndSparse::<f32>::made(300, 40, 100.0);
    let model = both.fit("pca", &json!({"n_components": 5}), 2).unwrap();
    let codes = model.encode_to_vec(&both.rows(), &on_threads(2)).unwrap();
    assert!(apart(&wide(&codes), &wide(&encode(&model, &both.dense))) < 1e-5);
}

#[test]
fn scores_and_reconstructions_are_those_of_the_dense_rows() {
    let both = DenseAndSparse::<f64>::made(60, 20, 0.0);
    let model = both.fit("pca", &json!({"n_components": 3}), 2).unwrap();
    let dense = Rows::from_slice(&both.dense, 20).unwrap();
    let (run, mut a, mut b) = (on_threads(2), VecSink(Vec::new()), VecSink(Vec::new()));
    model.score_samples(&both.rows(), &run, &mut a).unwrap();
    model.score_samples(&dense, &run, &mut b).unwrap();
    model.reconstruct(&both.rows(), &run, &mut a).unwrap();
    model.reconstruct(&dense, &run, &mut b).unwrap();
    assert_eq!(a.0, b.0);
}

#[test]
fn the_number_of_threads_changes_no_bit_of_a_fit() {
    for (n, p) in [(3000, 120), (60, 900)] {
        let both = DenseAndSparse::<f64>::made(n, p, 5.0);
        for given in [json!({"n_components": 4}), json!({"n_components": 4, "svd_solver": "krylov"})] {
            let one = bits(&both.fit("pca", &given, 1).unwrap());
            assert_eq!(one, bits(&both.fit("pca", &given, 2).unwrap()), "{given}");
            assert_eq!(one, bits(&both.fit("pca", &given, 7).unwrap()), "{given}");
        }
    }
}

#[test]
fn sparse_rows_that_cannot_be_fitted_are_refused() {
    let mut both = DenseAndSparse::<f64>::made(50, 20, 0.0);
    let fails =
        |both: &DenseAndSparse<f64>, given: Value| both.fit("pca", &given, 2).unwrap_err().to_string();
    let full = fails(&both, json!({"svd_solver": "full"}));
    assert!(full.contains("svd_solver='full' of sparse rows is not possible"), "{full}");
    let model = both.fit("pca", &json!({"n_components": 2}), 1).unwrap();

    let at = both.values.len() / 2;
    both.values[at] = f64::NAN;
    let row = both.starts.partition_point(|&s| s as usize <= at) - 1;
    let expected = format!("row {row}, column {} is NaN", both.columns[at]);
    for solver in ["auto", "krylov", "covariance_eigh"] {
        let message = fails(&both, json!({"n_components": 2, "svd_solver": solver}));
        assert!(message.contains(&expected), "{message}");
    }
    let message = model.encode_to_vec(&both.rows(), &on_threads(2)).unwrap_err().to_string();
    assert!(message.contains(&expected), "{message}");

    let none = DenseAndSparse::of(vec![0.0; 40], 4);
    assert!(fails(&none, json!({})).contains("all 4 columns are constant"));
    let empty = DenseAndSparse { starts: vec![0; 5], columns: vec![], values: vec![], dense: vec![], p: 0 };
    assert!(
        fails(&empty, json!({})).contains("1 column is needed, but 0 were given"),
        "{}",
        fails(&empty, json!({}))
    );
}

#[test]
fn missing_cells_of_sparse_rows_are_refused_and_what_the_message_advises_works() {
    let mut both = DenseAndSparse::<f64>::made(50, 20, 0.0);
    let (given, p, at) = (json!({"n_components": 1}), both.p, both.values.len() / 2);
    let model = both.fit("ppca", &given, 2).unwrap();
    let row = both.starts.partition_point(|&s| s as usize <= at) - 1;
    let column = both.columns[at] as usize;
    both.values[at] = f64::INFINITY;
    let infinite = both.fit("ppca", &given, 2).unwrap_err();
    assert!(matches!(infinite, Error::NotFinite { what: "infinity", .. }), "{infinite}");

    both.values[at] = f64::NAN;
    both.dense[row * p + column] = f64::NAN;
    let found = format!("row {row}, column {column} is NaN, which is a missing cell of dense rows only");
    for key in ["ppca", "linear-eigengan", "factor-analysis"] {
        let error = both.fit(key, &given, 2).unwrap_err();
        let message = error.to_string();
        let refused = format!("{key} of sparse rows with missing cells is not possible: {found}");
        assert!(message.starts_with(&refused), "{message}");
        match error {
            Error::Unsupported { details, .. } => {
                assert_eq!((details.row, details.column), (Some(row as u64), Some(column)), "{message}");
                assert_eq!(details.method.as_deref(), Some(key), "{message}");
            }
            other => panic!("{other:?}"),
        }
        let mut dense = f64::any(Rows::from_slice(&both.dense, p).unwrap());
        unmix::fit(key, &settings(given.clone()), &mut dense, &on_threads(2)).unwrap();
    }
    both.fit("matrix-completion", &given, 2).unwrap();

    let message = model.encode_to_vec(&both.rows(), &on_threads(2)).unwrap_err().to_string();
    assert!(message.starts_with("encoding of sparse rows with missing cells is not possible"), "{message}");
    assert!(message.contains(&found), "{message}");
    assert!(encode(&model, &both.dense).iter().all(|z| z.is_finite()));
}

#[test]
fn every_method_supports_what_it_declares_about_sparse_rows() {
    let both = DenseAndSparse::<f64>::made(200, 12, 0.0);
    for method in METHODS {
        let fitted = both.fit(method.key, &Value::Object(little(method.key)), 2);
        assert_eq!(fitted.is_ok(), method.accepts.sparse, "{}: {:?}", method.key, fitted.err());
    }
}

#[test]
fn sparse_rows_far_too_many_to_be_dense_are_fitted() {
    // 200000 x 100000 with a million stored entries, 160 GB in dense form, with most of the variance along five directions.
    let (n, p, each) = (200_000usize, 100_000usize, 5usize);
    let stream = Stream::new(11, 0);
    let (mut starts, mut columns, mut values) = (vec![0i64], Vec::new(), Vec::new());
    for i in 0..n {
        let group = i % 7;
        for e in 0..each {
            let at = (i * each + e) as u64;
            // One entry in a column of the row's group, the others in random columns.
            let column = if e == 0 { group * 1000 } else { (stream.uniform(2 * at) * p as f64) as usize };
            columns.push(column.min(p - 1) as i32);
            values.push(if e == 0 { 60.0 / (1.0 + group as f64) } else { stream.normal(2 * at + 1) });
        }
        starts.push(columns.len() as i64);
    }
    let both = DenseAndSparse { dense: Vec::<f64>::new(), starts, columns, values, p };
    let model = both.fit("pca", &json!({"n_components": 5}), 2).unwrap();
    assert_eq!(model.report().settings["svd_solver"], "krylov");
    assert!(model.report().outcome.is_success(), "{:?}", model.report().outcome);
    let codes = model.encode_to_vec(&both.rows(), &on_threads(2)).unwrap();
    // The explained variance of a component is the variance of its codes.
    for (c, &want) in numbers(&model, "explained_variance").iter().enumerate() {
        let code = || codes.iter().skip(c).step_by(5);
        let mean = code().sum::<f64>() / n as f64;
        let variance = code().map(|y| (y - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
        assert!((variance - want).abs() < 1e-9 * want, "component {c}: {variance} instead of {want}");
    }
}
