//! Seeded synthetic data, and functions that many tests share.

use serde_json::{Map, Value};
use unmix::internal::num::random::Stream;
use unmix::model::{Tensor, Tensors};
use unmix::{AnyRows, Dtype, Matrix, Model, Real, Result, Rows, Run};

/// A configuration of property tests with this number of cases, the same in every run.
pub(crate) fn cases(cases: u32) -> proptest::test_runner::Config {
    let rng_seed = proptest::test_runner::RngSeed::Fixed(7);
    proptest::test_runner::Config { cases, rng_seed, failure_persistence: None, ..Default::default() }
}

/// `n` rows of `p` columns with decreasing variances: standard deviation `4 * 0.8^c`, at least 0.1, along axis `c` of a random
/// orthonormal basis, and a mean other than 0.
pub(crate) fn falling(n: usize, p: usize, seed: u64) -> Vec<f64> {
    let (codes, axes, noise) = (Stream::new(seed, 0), Stream::new(seed, 1), Stream::new(seed, 2));
    let k = p.min(n).min(12);
    let turn = Matrix::from_fn(k, p, |c, j| axes.normal((c * p + j) as u64));
    let turn = unmix::internal::num::factor::orthonormal_rows(&turn);
    let mut x = Vec::with_capacity(n * p);
    for i in 0..n {
        let z: Vec<f64> =
            (0..k).map(|c| 4.0 * 0.8f64.powi(c as i32) * codes.normal((i * k + c) as u64)).collect();
        for j in 0..p {
            let signal: f64 = (0..k).map(|c| z[c] * turn[(c, j)]).sum();
            x.push(signal + 0.1 * noise.normal((i * p + j) as u64) + (j % 7) as f64 - 2.0);
        }
    }
    x
}

/// Converts to another floating-point type.
pub(crate) fn cast<T: Real>(x: &[f64]) -> Vec<T> {
    x.iter().map(|&v| T::from_f64(v)).collect()
}

/// Converts to double precision.
pub(crate) fn wide<T: Real>(x: &[T]) -> Vec<f64> {
    x.iter().map(|v| v.to_f64()).collect()
}

/// Settings from JSON.
pub(crate) fn settings(json: Value) -> Map<String, Value> {
    match json {
        Value::Object(map) => map,
        other => panic!("settings are an object, not {other}"),
    }
}

/// Run options with this number of threads.
pub(crate) fn on_threads(threads: usize) -> Run<'static> {
    Run { threads, ..Run::default() }
}

/// Rows of a statically known type as rows of a dynamic one.
pub(crate) trait Known: Real {
    fn any(rows: Rows<'_, Self>) -> AnyRows<'_>;
}
impl Known for f32 {
    fn any(rows: Rows<'_, f32>) -> AnyRows<'_> {
        AnyRows::F32(rows)
    }
}
impl Known for f64 {
    fn any(rows: Rows<'_, f64>) -> AnyRows<'_> {
        AnyRows::F64(rows)
    }
}

/// Fits by key and JSON settings, as the command line and Python do.
pub(crate) fn try_fit<T: Known>(key: &str, given: &Map<String, Value>, x: &[T], p: usize) -> Result<Model> {
    fit_any(key, given, &mut T::any(Rows::from_slice(x, p)?), &on_threads(2))
}

/// Fits by any method, with the arrays that it requires.
pub(crate) fn fit_any(
    key: &str,
    given: &Map<String, Value>,
    rows: &mut AnyRows<'_>,
    run: &Run<'_>,
) -> Result<Model> {
    unmix::fit_given(key, given, tables(key, rows.n_features()), rows, run)
}

/// The arrays that a method requires in addition to its settings, for rows of `p` numbers: seeded atoms, one and a half times as many as columns.
pub(crate) fn tables(key: &str, p: usize) -> Tensors {
    let Ok(method) = unmix::method::find(key) else { return Tensors::new() };
    let required: Vec<_> = method.tensors().filter(|s| s.default != "null").collect();
    if required.is_empty() {
        return Tensors::new();
    }
    let draws = Stream::new(17, 0);
    let scale = 1.0 / (p.max(1) as f64).sqrt();
    let mut atoms = Matrix::from_fn(3 * p / 2, p, |j, c| draws.normal((j * p + c) as u64) * scale);
    unmix::model::canonical_sign(&mut atoms, f32::EPSILON.into());
    required.into_iter().map(|s| (s.name.to_string(), Tensor::matrix(&atoms, Dtype::F64))).collect()
}

/// The defaults of a method, or fewer components where the defaults need many rows.
pub(crate) fn little(key: &str) -> Map<String, Value> {
    match key {
        "stacked-rfn" => settings(serde_json::json!({"n_components": [4, 3], "max_iter": 20})),
        _ => Map::new(),
    }
}

/// A PCA that must succeed.
pub(crate) fn pca<T: Known>(given: Value, x: &[T], p: usize) -> Model {
    try_fit("pca", &settings(given), x, p).unwrap_or_else(|e| panic!("{e}"))
}

/// Whether a warning of the report contains these words.
pub(crate) fn warned(model: &Model, words: &str) -> bool {
    model.report().warnings.iter().any(|w| w.contains(words))
}

/// Inner product.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The median; of an even number, the mean of the two in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let m = values.len();
    0.5 * (values[(m - 1) / 2] + values[m / 2])
}

/// The numbers of a parameter.
pub(crate) fn numbers(model: &Model, name: &str) -> Vec<f64> {
    model.tensor(name).unwrap_or_else(|| panic!("no {name}")).f64s()
}

/// All parameters as bits, and the report without its run record.
pub(crate) fn bits(model: &Model) -> String {
    let tensors: Vec<String> = model
        .tensors()
        .iter()
        .map(|(name, t)| {
            let bits: Vec<u64> = t.f64s().iter().map(|x| x.to_bits()).collect();
            format!("{name} {:?} {:x?}", t.shape(), bits)
        })
        .collect();
    format!("{}\n{}", tensors.join("\n"), serde_json::to_string(model.report()).unwrap())
}

/// A checksum of `bits`, short enough for a message.
pub(crate) fn digest(model: &Model) -> u32 {
    crc32fast::hash(bits(model).as_bytes())
}

/// Codes of rows in memory.
pub(crate) fn encode<T: Real>(model: &Model, x: &[T]) -> Vec<T> {
    model.encode_to_vec(&Rows::from_slice(x, model.n_features()).unwrap(), &on_threads(2)).unwrap()
}

/// Rows of codes in memory.
pub(crate) fn decode<T: Real>(model: &Model, y: &[T]) -> Vec<T> {
    model.decode_to_vec(&Rows::from_slice(y, model.n_codes()).unwrap(), &on_threads(2)).unwrap()
}

/// Log-likelihoods of rows in memory.
pub(crate) fn scores<T: Real>(model: &Model, x: &[T]) -> Vec<f64> {
    let mut sink = unmix::data::VecSink(Vec::new());
    model
        .score_samples(&Rows::from_slice(x, model.n_features()).unwrap(), &on_threads(2), &mut sink)
        .unwrap();
    sink.0
}

/// The largest absolute difference; NaN if one of the differences is NaN.
pub(crate) fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "lengths");
    // `f64::max` ignores NaN.
    let larger = |m: f64, d: f64| if m.is_nan() || d.is_nan() { f64::NAN } else { m.max(d) };
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, larger)
}

/// A number of repetitions: `all` with the heavy tests, else `everyday`.
pub(crate) fn repetitions<N>(everyday: N, all: N) -> N {
    if crate::scope::all() { all } else { everyday }
}
