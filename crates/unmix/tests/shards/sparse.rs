//! Sparse rows distributed over workers: the model has the bytes of a fit in one process.

use super::distributed::bytes_but_run;
use crate::made::{fit_any, settings};
use serde_json::{Value, json};
use unmix::data::{Features, Sparse};
use unmix::internal::num::random::Stream;
use unmix::{AnyRows, METHODS, Model, Rows, Run, shards};

/// Compressed sparse rows.
struct Entries {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    weights: Option<Vec<f64>>,
    p: usize,
}

impl Entries {
    /// `each` entries in a row, in columns of decreasing variances; column 0 is in every row and has a mean far from 0; every seventh
    /// stored entry is 0.
    fn made(n: usize, p: usize, each: usize) -> Self {
        let (which, what) = (Stream::new(9, 0), Stream::new(9, 1));
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..n {
            let mut row = vec![0];
            row.extend(
                (1..each).map(|e| 1 + (which.uniform((i * each + e) as u64).powi(2) * (p - 1) as f64) as u32),
            );
            row.sort_unstable();
            row.dedup();
            for j in row {
                let at = columns.len() as u64;
                let x = what.normal(at) * 3.0 / f64::from(1 + j) + f64::from(u8::from(j == 0)) * 50.0;
                values.push(if at.is_multiple_of(7) { 0.0 } else { x });
                columns.push(j);
            }
            starts.push(columns.len());
        }
        Self { starts, columns, values, weights: None, p }
    }

    fn n(&self) -> usize {
        self.starts.len() - 1
    }

    /// A range of the rows.
    fn rows(&self, rows: std::ops::Range<usize>) -> AnyRows<'_> {
        let (first, last) = (self.starts[rows.start], self.starts[rows.end]);
        let starts: Vec<usize> = self.starts[rows.start..=rows.end].iter().map(|s| s - first).collect();
        let (columns, values) = (&self.columns[first..last], &self.values[first..last]);
        let sparse = Sparse::from_csr(&starts, columns, values, self.p).unwrap();
        let made = AnyRows::F64(Rows::new(sparse, Features::default(), "sparse rows"));
        match &self.weights {
            Some(weights) => made.weighted(weights[rows].to_vec()).unwrap(),
            None => made,
        }
    }

    fn here(&self, key: &str, given: &Value) -> Model {
        unmix::fit(key, &settings(given.clone()), &mut self.rows(0..self.n()), &Run::default()).unwrap()
    }

    /// The fit on workers that hold the rows up to each of these ends.
    fn there(&self, key: &str, given: &Value, ends: &[usize]) -> unmix::Result<Model> {
        let everywhere = |job: &[u8]| {
            let begins = [0].into_iter().chain(ends.iter().copied());
            let answer = |(from, until): (usize, &usize)| {
                shards::gather(
                    job,
                    &self.rows(from..*until),
                    from as u64,
                    &Run { threads: 2, ..Run::default() },
                )
            };
            begins.zip(ends).map(answer).collect()
        };
        let mut rows = AnyRows::F64(Rows::remote_sparse(self.n() as u64, self.p, &everywhere));
        fit_any(key, &settings(given.clone()), &mut rows, &Run::default())
    }

    fn the_same(&self, key: &str, given: Value, ends: &[usize]) {
        let there = self.there(key, &given, ends).unwrap_or_else(|e| panic!("{key} {given}: {e}"));
        let (want, found) = (bytes_but_run(&self.here(key, &given)), bytes_but_run(&there));
        assert_eq!(want.0, found.0, "{key} {given}");
        assert!(want.1 == found.1, "{key} {given}: numbers differ");
    }
}

#[test]
fn three_workers_give_the_bytes_of_one_process() {
    let p = 12;
    let step = shards::sparse_shard_rows(p) as usize;
    assert!(step.is_multiple_of(shards::shard_rows(p) as usize));
    let mut made = Entries::made(3 * step + 777, p, 3);
    let ends = [step, 3 * step, 3 * step + 777];
    let few = |solver: &str| json!({"svd_solver": solver, "n_components": 3});
    let cases = [
        ("pca", json!({})),
        ("pca", json!({"standardize": true, "whiten": true})),
        ("pca", json!({"center": false})),
        ("pca", few("krylov")),
        ("pca", few("power")),
        ("pca", few("deflation")),
        ("pca", few("randomized")),
        ("pca", few("arpack")),
        ("neural-pca", json!({"n_components": 3})),
        ("ppca", json!({"n_components": 3})),
        ("linear-eigengan", json!({"groups": [2, 1]})),
        ("factor-analysis", json!({"n_components": 2})),
        ("rfn", json!({"n_components": 3, "max_iter": 2})),
    ];
    super::all_are_in(&cases, |accepts| accepts.sparse);
    for (key, given) in cases {
        made.the_same(key, given, &ends);
    }
    made.weights = Some((0..made.n()).map(|i| (i % 4) as f64 * 0.5).collect());
    for (key, given) in [
        ("pca", json!({})),
        ("pca", json!({"standardize": true, "whiten": true})),
        ("linear-eigengan", json!({"n_components": 3})),
        ("rfn", json!({"n_components": 3, "max_iter": 2})),
    ] {
        made.the_same(key, given, &ends);
    }
}

#[test]
fn many_columns_are_iterated_over_and_few_rows_collected_on_the_driver() {
    let p = 2100;
    let step = shards::sparse_shard_rows(p) as usize;
    let made = Entries::made(step + 99, p, 2);
    made.the_same("pca", json!({"svd_solver": "krylov", "n_components": 2}), &[step, step + 99]);
    let mut made = Entries::made(40, 90, 9);
    made.the_same("pca", json!({"n_components": 5}), &[40]);
    made.weights = Some((0..40).map(|i| (i % 3) as f64).collect());
    made.the_same("pca", json!({"n_components": 5}), &[0, 0, 40]);
}

#[test]
fn rows_that_differ_from_the_declared_ones_are_refused() {
    let made = Entries::made(200, 5, 3);
    for method in METHODS.iter().filter(|method| !method.accepts.sparse) {
        let message = made.there(method.key, &json!({}), &[200]).map(|_| ()).unwrap_err().to_string();
        assert!(message.contains("sparse rows"), "{message}");
    }
    let message =
        made.there("pca", &json!({"svd_solver": "full"}), &[200]).map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("svd_solver='full' of sparse rows"), "{message}");
    let message = made.there("pca", &json!({}), &[100, 200]).map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("cut sparse rows of 5 columns at multiples of 131072"), "{message}");
    let x = vec![1.0; 200 * 5];
    let dense = |job: &[u8]| {
        let rows = AnyRows::F64(Rows::from_slice(&x, 5).unwrap());
        Ok(vec![shards::gather(job, &rows, 0, &Run::default())?])
    };
    let mut rows = AnyRows::F64(Rows::remote_sparse(200, 5, &dense));
    let message = unmix::fit("pca", &settings(json!({})), &mut rows, &Run::default())
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(message.contains("they are dense, but the fit is of sparse rows; give sparse rows"), "{message}");
}
