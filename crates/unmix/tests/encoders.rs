//! Encoders of every kind are supported by all commands and keep the guarantees of linear ones.

#[path = "toys/mod.rs"]
mod toys;

use serde_json::{Map, Value, json};
use unmix::data::VecSink;
use unmix::model::{Code, LinearDecoder, LinearEncoder, Parts, Tensor};
use unmix::{AnyRows, Dtype, Features, Matrix, Model, Real, Rows, Run};

const P: usize = 5;

/// Rows with two strong directions, a column far from 0, and noise.
fn made<T: Real>(n: usize) -> Vec<T> {
    let draws = unmix::internal::num::random::Stream::new(4, 0);
    let loading = |j: usize, c: usize| draws.normal((1_000_000 + 10 * j + c) as u64);
    let mut out = Vec::with_capacity(n * P);
    for i in 0..n {
        let z = [3.0 * draws.normal(10 * i as u64), 2.0 * draws.normal(10 * i as u64 + 1)];
        for j in 0..P {
            let noise = 0.3 * draws.normal((10 * i + 2 + j) as u64);
            let offset = if j == 1 { 100.0 } else { 0.0 };
            out.push(T::from_f64(offset + z[0] * loading(j, 0) + z[1] * loading(j, 1) + noise));
        }
    }
    out
}

fn settings(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn rows<T: Real>(x: &[T]) -> Rows<'_, T> {
    Rows::from_slice(x, P).unwrap()
}

fn fitted(key: &str, given: Value, x: &[f64]) -> Model {
    toys::register();
    unmix::fit(key, &settings(given), &mut AnyRows::from(rows(x)), &Run::default()).unwrap()
}

fn encoded<T: Real>(model: &Model, x: &[T], threads: usize) -> Vec<T> {
    model.encode_to_vec(&rows(x), &Run { threads, ..Run::default() }).unwrap()
}

#[test]
fn encoders_of_every_kind_keep_their_guarantees() {
    let x = made::<f64>(700);
    let folder = tempfile::tempdir().unwrap();
    for toy in ["toy-posterior", "toy-gate", "toy-solver", "toy-network"] {
        let model = fitted(toy, json!({}), &x);
        // Saved and loaded.
        let path = folder.path().join(toy);
        model.save(&path).unwrap();
        let model = Model::load(&path).unwrap();
        assert_eq!(model.method().key, toy);
        let all = encoded(&model, &x, 1);
        assert_eq!(all.len(), 700 * 2, "{toy}");
        assert_eq!(all, encoded(&model, &x, 3), "{toy}");
        for i in [0, 17, 699] {
            assert_eq!(all[2 * i..2 * i + 2], encoded(&model, &x[P * i..P * i + P], 1), "{toy} row {i}");
        }
        // Decoding the codes equals reconstruction in one step.
        let codes = Rows::from_slice(&all, 2).unwrap();
        let back = model.decode_to_vec(&codes, &Run::default()).unwrap();
        let mut both = VecSink(Vec::new());
        model.reconstruct(&rows(&x), &Run::default(), &mut both).unwrap();
        assert_eq!(back, both.0, "{toy}");
        // Q is the squared distance between a row and its reconstruction, and its parts sum to it.
        let mut quality = VecSink(Vec::new());
        let parts = Parts { components: false, columns: true };
        model.quality(&rows(&x), parts, &Run::default(), &mut quality).unwrap();
        let width = unmix::model::Measures::of(&model, parts).width();
        let q_at = width - P - if toy == "toy-solver" { 2 } else { 1 };
        for (i, row) in quality.0.chunks_exact(width).enumerate() {
            let want: f64 = (0..P).map(|j| (x[i * P + j] - back[i * P + j]).powi(2)).sum();
            let sum: f64 = row[width - P..].iter().sum();
            assert!((row[q_at] - want).abs() <= 1e-9 * (1.0 + want), "{toy} row {i}: {} {want}", row[q_at]);
            assert!((row[q_at] - sum).abs() <= 1e-9 * (1.0 + sum), "{toy} row {i}");
        }
        // Single precision.
        let narrow = encoded(&model, &made::<f32>(700), 2);
        let apart = all.iter().zip(&narrow).map(|(a, b)| (a - f64::from(*b)).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-3, "{toy}: {apart}");
    }
}

#[test]
fn sparse_rows_are_encoded_as_dense_ones_are() {
    let mut x = made::<f64>(300);
    x.iter_mut().enumerate().filter(|(at, _)| at % 3 == 0).for_each(|(_, x)| *x = 0.0);
    let (mut starts, mut columns, mut values) = (vec![0usize], Vec::new(), Vec::new());
    for row in x.chunks_exact(P) {
        for (j, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            columns.push(j);
            values.push(*x);
        }
        starts.push(values.len());
    }
    for toy in ["toy-posterior", "toy-gate", "toy-solver", "toy-network"] {
        let model = fitted(toy, json!({}), &x);
        let sparse = unmix::data::Sparse::from_csr(&starts, &columns, values.clone(), P).unwrap();
        let sparse = Rows::new(sparse, Features::default(), "sparse rows");
        assert_eq!(model.encode_to_vec(&sparse, &Run::default()).unwrap(), encoded(&model, &x, 1), "{toy}");
    }
}

#[test]
fn a_posterior_mean_is_that_of_the_cells_that_a_row_has() {
    let x = made::<f64>(500);
    let model = fitted("toy-posterior", json!({}), &x);
    let mut row = x[..P].to_vec();
    (row[1], row[3]) = (f64::NAN, f64::NAN);
    let found = encoded(&model, &row, 1);
    // E[z | x_o] = W_o (W_o' W_o + noise I)⁻¹ (x_o - mean_o): the equivalent form of the formula, with the 3 x 3 covariance of the
    // observed cells.
    let density = model.density().unwrap();
    let seen = [0, 2, 4];
    let w = |i: usize, j: usize| density.axes[(i, j)] * (density.variance[i] - density.noise).sqrt();
    let covariance = Matrix::from_fn(3, 3, |a, b| {
        let noise = if a == b { density.noise } else { 0.0 };
        (0..2).map(|i| w(i, seen[a]) * w(i, seen[b])).sum::<f64>() + noise
    });
    let c = |a: usize, b: usize| covariance[(a, b)];
    let det = |m: [[f64; 3]; 3]| -> f64 {
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    };
    let full = [0, 1, 2].map(|a| [0, 1, 2].map(|b| c(a, b)));
    let right = seen.map(|j| row[j] - density.mean[j]);
    let solved = [0, 1, 2].map(|at| {
        let mut m = full;
        (0..3).for_each(|a| m[a][at] = right[a]);
        det(m) / det(full)
    });
    for i in 0..2 {
        let want: f64 = (0..3).map(|a| w(i, seen[a]) * solved[a]).sum();
        assert!((found[i] - want).abs() < 1e-9 * want.abs().max(1.0), "{found:?} {want}");
    }
    // A row without observed cells has code 0; infinity is not a missing cell; other encoders refuse missing cells.
    assert_eq!(encoded(&model, &[f64::NAN; P], 1), [0.0, 0.0]);
    row[0] = f64::INFINITY;
    let refused = model.encode_to_vec(&rows(&row), &Run::default()).unwrap_err().to_string();
    assert!(refused.contains("infinity") && refused.contains("row 0, column 0"), "{refused}");
    let gate = fitted("toy-gate", json!({}), &x);
    row[0] = 1.0;
    let refused = gate.encode_to_vec(&rows(&row), &Run::default()).unwrap_err().to_string();
    assert!(refused.contains("NaN"), "{refused}");
}

#[test]
fn unsolved_rows_are_counted_and_the_worst_is_reported() {
    let x = made::<f64>(900);
    let model = fitted("toy-solver", json!({}), &x);
    let run = Run::default();
    let encode = |model: &Model| {
        let mut sink = VecSink(Vec::new());
        (model.encode(&rows(&x), &run, &mut sink).unwrap(), sink.0)
    };
    let (done, codes) = encode(&model);
    assert_eq!((done.n_rows, done.unsolved), (900, None));
    assert!(codes.contains(&0.0) && codes.iter().any(|y| *y != 0.0));
    // First-order conditions: |<atom, residual>| is alpha where a code is not 0, and at most alpha where it is 0.
    let (mixing, mean) = (model.code().mixing().unwrap(), model.tensor("mean").unwrap().f64s());
    for (x, y) in x.chunks_exact(P).zip(codes.chunks_exact(2)) {
        let rest: Vec<f64> =
            (0..P).map(|j| x[j] - mean[j] - y[0] * mixing[(j, 0)] - y[1] * mixing[(j, 1)]).collect();
        for i in 0..2 {
            let along: f64 = (0..P).map(|j| mixing[(j, i)] * rest[j]).sum();
            match y[i] {
                0.0 => assert!(along.abs() <= 0.5 + 1e-3),
                _ => assert!((along - 0.5 * y[i].signum()).abs() < 1e-2, "{along}"),
            }
        }
    }
    let hasty = fitted("toy-solver", json!({"max_iter": 1}), &x);
    let (left, _) = encode(&hasty);
    let left = left.unsolved.unwrap();
    let mut gaps = VecSink(Vec::new());
    hasty.certificates(&rows(&x), &run, &mut gaps).unwrap();
    let worst = gaps.0.iter().copied().fold(0.0, f64::max);
    assert_eq!(left.n_rows, gaps.0.iter().filter(|gap| **gap > 1e-9).count() as u64);
    assert_eq!((left.worst, gaps.0[left.worst_row as usize]), (worst, worst));
    let message = left.to_string();
    assert!(message.contains("rows were not encoded to a relative duality gap of 1e-9"), "{message}");
    for threads in [2, 5] {
        let mut sink = VecSink(Vec::new());
        let again = hasty.encode(&rows(&x), &Run { threads, ..Run::default() }, &mut sink).unwrap();
        assert_eq!(again.unsolved.as_ref(), Some(&left));
    }
    let refused = fitted("toy-gate", json!({}), &x).certificates(&rows(&x), &run, &mut gaps).unwrap_err();
    assert!(refused.to_string().contains("closed form, without iterations"), "{refused}");
}

#[test]
fn codes_of_a_gate_are_not_negative_and_its_rows_are_those_of_its_formula() {
    let x = made::<f64>(400);
    let model = fitted("toy-gate", json!({"threshold": 0.25}), &x);
    let codes = encoded(&model, &x, 1);
    assert!(model.code().codes().non_negative && codes.iter().all(|y| *y >= 0.0));
    let (w, mean) = (model.tensor("components").unwrap().to_matrix(), model.tensor("mean").unwrap().f64s());
    let variance = model.tensor("explained_variance").unwrap().f64s();
    for (x, y) in x.chunks_exact(P).zip(codes.chunks_exact(2)) {
        for i in 0..2 {
            let along: f64 = (0..P).map(|j| w[(i, j)] * (x[j] - mean[j])).sum();
            let want = (along / variance[i].sqrt() - 0.25).max(0.0);
            assert!((y[i] - want).abs() < 1e-9 * (1.0 + want), "{} {want}", y[i]);
        }
    }
}

#[test]
fn loadings_of_a_nonlinear_decoder_are_its_differences_at_0() {
    let model = fitted("toy-network", json!({}), &made::<f64>(400));
    let decode =
        |code: [f64; 2]| model.decode_to_vec(&Rows::from_slice(&code, 2).unwrap(), &Run::default()).unwrap();
    let (zero, mixing) = (decode([0.0, 0.0]), model.code().mixing().unwrap());
    for (i, unit) in [[1.0, 0.0], [0.0, 1.0]].into_iter().enumerate() {
        for (j, x) in decode(unit).into_iter().enumerate() {
            assert_eq!(mixing[(j, i)], x - zero[j]);
        }
    }
}

#[test]
fn maps_of_different_shapes_and_duplicate_keys_are_refused() {
    let mean = Tensor::vector(&[0.0; 3], Dtype::F64);
    let encoder = LinearEncoder::new(mean.clone(), Matrix::zeros(3, 2));
    let refused = Code::new(encoder, LinearDecoder::new(mean, Matrix::zeros(1, 3))).unwrap_err().to_string();
    assert!(
        refused.contains("the encoder maps 3 columns to 2 codes, the decoder 1 code to 3 columns"),
        "{refused}"
    );
    toys::register();
    static TAKEN: std::sync::LazyLock<unmix::Method> =
        std::sync::LazyLock::new(|| unmix::Method { key: "pca", ..toys::gate() });
    let refused = unmix::method::register(&TAKEN).unwrap_err().to_string();
    assert!(refused.contains("'pca'") && refused.contains("PCA already has this key"), "{refused}");
    assert!(unmix::method::find("toy-gates").unwrap_err().to_string().contains("toy-gate"));
}

#[test]
fn every_row_of_every_width_is_mapped() {
    // A shard may hold more numbers than a single read returns.
    for p in (1..=140).chain([255, 360, 361, 724, 1449, 2050, 5793]) {
        let n = unmix::data::Plan::for_width(p).shard_rows + 3;
        let x: Vec<f32> = (0..n * p).map(|at| (at / p) as f32).collect();
        let rows = Rows::from_slice(&x, p).unwrap();
        let mut sink = VecSink(Vec::new());
        let first = |block: unmix::internal::num::Block<'_, f32>,
                     out: &mut [f32],
                     _: &mut unmix::data::Workspace<f32>| {
            block.data.chunks_exact(p).zip(out).for_each(|(row, out)| *out = row[0]);
            Ok(())
        };
        assert_eq!(rows.map(&Run::default(), "mapping", 1, first, &mut sink).unwrap(), n as u64);
        assert!(sink.0.iter().enumerate().all(|(i, x)| *x == i as f32) && sink.0.len() == n, "{p} columns");
    }
}
