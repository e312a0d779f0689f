//! The same rows give the same bits: for any number of threads, any storage and layout, and all at once or one at a time.

use crate::made::{Known, bits, cast, digest, falling, on_threads, settings};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use unmix::data::{
    Axes, Bytes, Features, NumberType, Plan, RawArray, Source, Stream, VecSink, open_npy, write_npy,
};
use unmix::internal::num::random;
use unmix::{Model, Real, Rows};

/// A stream: rows that can be read once, sequentially, in blocks whose sizes are drawn from a seed; `None`: one row at a time.
struct Forward<T> {
    data: Vec<T>,
    p: usize,
    seed: Option<u64>,
    counted: bool,
}

struct Reader<'a, T> {
    of: &'a Forward<T>,
    row: usize,
    call: u64,
}

impl<T: Real> Source<T> for Forward<T> {
    fn n_features(&self) -> usize {
        self.p
    }
    fn n_rows(&self) -> Option<u64> {
        self.counted.then(|| (self.data.len() / self.p) as u64)
    }
    fn stream(&self) -> unmix::Result<Box<dyn Stream<T> + '_>> {
        Ok(Box::new(Reader { of: self, row: 0, call: 0 }))
    }
}

impl<T: Real> Stream<T> for Reader<'_, T> {
    fn read(&mut self, max_rows: usize, out: &mut Vec<T>) -> unmix::Result<usize> {
        let left = self.of.data.len() / self.of.p - self.row;
        let requested = match self.of.seed {
            None => 1,
            Some(seed) => 1 + (random::Stream::new(seed, 0).bits(self.call) % 700) as usize,
        };
        let n = requested.min(max_rows).min(left);
        out.extend_from_slice(&self.of.data[self.row * self.of.p..(self.row + n) * self.of.p]);
        (self.row, self.call) = (self.row + n, self.call + 1);
        Ok(n)
    }
}

/// A source of two rows that declares ten.
struct Cut;

impl Source<f64> for Cut {
    fn n_features(&self) -> usize {
        2
    }
    fn n_rows(&self) -> Option<u64> {
        Some(10)
    }
    fn stream(&self) -> unmix::Result<Box<dyn Stream<f64> + '_>> {
        Ok(Box::new(OneBlock(false)))
    }
}

struct OneBlock(bool);

impl Stream<f64> for OneBlock {
    fn read(&mut self, _: usize, out: &mut Vec<f64>) -> unmix::Result<usize> {
        if std::mem::replace(&mut self.0, true) {
            return Ok(0);
        }
        out.extend([1.0, 2.0, 3.0, 5.0]);
        Ok(2)
    }
}

#[test]
fn a_stream_that_ends_before_the_declared_number_of_rows_is_refused() {
    let mut rows = unmix::AnyRows::from(Rows::new(Cut, Default::default(), "cut rows"));
    let said =
        unmix::fit("pca", &Default::default(), &mut rows, &unmix::Run::default()).unwrap_err().to_string();
    assert!(said.contains("declares 10 rows, but its stream ended after 2"), "{said}");
}

/// The numbers in column-major order.
fn by_columns<T: Real>(x: &[T], p: usize) -> Vec<T> {
    let n = x.len() / p;
    (0..p * n).map(|i| x[(i % n) * p + i / n]).collect()
}

fn bytes_of<T: Real>(x: &[T]) -> Vec<u8> {
    let mut out = Vec::new();
    x.iter().for_each(|v| v.write_le(&mut out));
    out
}

/// Writes a `.npy` file in Fortran order, which the library reads but never writes.
fn write_fortran<T: Real>(path: &Path, x: &[T], p: usize) {
    let mut header = format!(
        "{{'descr': '<f{}', 'fortran_order': True, 'shape': ({}, {p}), }}",
        T::DTYPE.size(),
        x.len() / p
    );
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = std::fs::File::create(path).unwrap();
    file.write_all(b"\x93NUMPY\x01\x00").unwrap();
    file.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
    file.write_all(header.as_bytes()).unwrap();
    file.write_all(&bytes_of(&by_columns(x, p))).unwrap();
}

/// Calls `visit` with the same rows in every kind of storage.
pub(crate) fn everywhere<T: Known>(x: &[T], p: usize, mut visit: impl FnMut(&str, Rows<'_, T>)) {
    let (n, size, number) = (x.len() / p, T::DTYPE.size(), NumberType::little(b'f', T::DTYPE.size()));
    let array = |data, origin, rows, features| RawArray::new(data, origin, number, rows, features).unwrap();
    fn of<'a, T: Real>(a: RawArray<'a>) -> Rows<'a, T> {
        Rows::new(a, Features::default(), "the array")
    }
    visit("a borrowed slice", Rows::from_slice(x, p).unwrap());

    let columns = bytes_of(&by_columns(x, p));
    let one = |len: usize, stride: i64| Axes::one(len as u64, stride);
    visit(
        "columns one after the other",
        of(array(Bytes::Lent(&columns), 0, one(n, size as i64), one(p, (n * size) as i64))),
    );

    // A view of a larger array whose other entries are NaN: every third row, in reverse order, and every second column.
    let (row, step) = ((2 * p * size) as i64, 2 * size as i64);
    let mut spaced = vec![T::from_f64(f64::NAN); 3 * n * 2 * p];
    for (i, values) in x.chunks_exact(p).enumerate() {
        (0..p).for_each(|j| spaced[3 * (n - 1 - i) * 2 * p + 2 * j] = values[j]);
    }
    let spaced = bytes_of(&spaced);
    visit(
        "strided",
        of(array(Bytes::Lent(&spaced), 3 * (n as i64 - 1) * row, one(n, -3 * row), one(p, step))),
    );

    // Offset by one byte, so that no number is aligned.
    let shifted = [vec![0u8], bytes_of(x)].concat();
    visit("unaligned", of(array(Bytes::Lent(&shifted), 1, one(n, (p * size) as i64), one(p, size as i64))));

    let folder = tempfile::tempdir().unwrap();
    let (c, f) = (folder.path().join("c.npy"), folder.path().join("f.npy"));
    write_npy(&c, x, &[p]).unwrap();
    write_fortran(&f, x, p);
    visit("a .npy file", of(open_npy(&c).unwrap().0));
    visit("a .npy file in Fortran order", of(open_npy(&f).unwrap().0));

    let forward = |seed, counted| {
        let source = Forward { data: x.to_vec(), p, seed, counted };
        Rows::new(source, Features::default(), "the array")
    };
    visit("a stream of single rows", forward(None, false));
    visit("a stream of random blocks", forward(Some(1), true));
}

fn fit<T: Known>(rows: Rows<'_, T>, given: &Value, threads: usize) -> Model {
    unmix::fit("pca", &settings(given.clone()), &mut T::any(rows), &on_threads(threads)).unwrap()
}

/// Fits on 1, 2, 3 and 7 threads, and fits and codes from every kind of storage.
fn check<T: Known>(n: usize, p: usize, given: Value) {
    let x: Vec<T> = cast(&falling(n, p, 21));
    let first = fit(Rows::from_slice(&x, p).unwrap(), &given, 1);
    let want = (digest(&first), codes(&first, &Rows::from_slice(&x, p).unwrap(), 1));
    for threads in [1, 2, 3, 7] {
        let model = fit(Rows::from_slice(&x, p).unwrap(), &given, threads);
        assert!(
            digest(&model) == want.0,
            "{given}, {n} x {p}, {threads} threads:\n{}",
            differences(&first, &model)
        );
    }
    let mut turn = 0;
    everywhere(&x, p, |storage, rows| {
        // The number of threads alternates over the kinds of storage; over the cases all combinations occur.
        let threads = [1, 2, 3, 7][turn % 4];
        turn += 1;
        let found = codes(&first, &rows, threads);
        assert!(
            found == want.1,
            "{given}, {n} x {p} {}, {storage}, {threads} threads: codes differ",
            T::DTYPE
        );
        let model = fit(rows, &given, threads);
        let same = digest(&model) == want.0;
        assert!(
            same,
            "{given}, {n} x {p} {}, {storage}, {threads} threads:\n{}",
            T::DTYPE,
            differences(&first, &model)
        );
    });
}

/// The lines in which two models differ, shortened for the terminal.
fn differences(a: &Model, b: &Model) -> String {
    let (a, b) = (bits(a), bits(b));
    let pairs = a.lines().zip(b.lines()).filter(|(a, b)| a != b);
    pairs
        .map(|(a, b)| format!("{}\n{}", &a[..a.len().min(300)], &b[..b.len().min(300)]))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Checksums of codes, reconstructions and log-likelihoods.
fn codes<T: Real>(model: &Model, rows: &Rows<'_, T>, threads: usize) -> [u32; 3] {
    let run = on_threads(threads);
    let (mut y, mut x, mut l) = (VecSink(Vec::new()), VecSink(Vec::new()), VecSink(Vec::new()));
    model.encode(rows, &run, &mut y).unwrap();
    model.reconstruct(rows, &run, &mut x).unwrap();
    model.score_samples(rows, &run, &mut l).unwrap();
    [bytes_of(&y.0), bytes_of(&x.0), bytes_of(&l.0)].map(|b| crc32fast::hash(&b))
}

#[test]
fn tall_data_around_the_edges_of_blocks_and_shards() {
    let p = 200;
    let Plan { block_rows, shard_rows, .. } = Plan::for_width(p);
    for n in [block_rows + 51, shard_rows - 1, shard_rows, shard_rows + 1] {
        check::<f64>(n, p, json!({"n_components": 7, "svd_solver": "covariance_eigh"}));
    }
    check::<f32>(shard_rows + 1, p, json!({"n_components": 7, "whiten": true}));
    check::<f32>(2 * shard_rows + 300, p, json!({}));
}

#[test]
fn tall_data_by_singular_values() {
    let p = 40;
    let Plan { shard_rows, .. } = Plan::for_width(p);
    check::<f64>(shard_rows + 1, p, json!({"svd_solver": "full"}));
    check::<f32>(2 * shard_rows, p, json!({"svd_solver": "full", "n_components": 5, "whiten": true}));
    check::<f64>(255, p, json!({"svd_solver": "full"}));
}

#[test]
fn narrow_data_of_many_shards() {
    let p = 3;
    let Plan { shard_rows, .. } = Plan::for_width(p);
    for n in [shard_rows - 1, 3 * shard_rows + 1] {
        check::<f64>(n, p, json!({}));
        check::<f32>(n, p, json!({"svd_solver": "full"}));
    }
}

#[test]
fn wide_data_around_the_edges_of_shards_of_features() {
    let n = 200;
    let Plan { shard_rows, .. } = Plan::for_width(n);
    for p in [shard_rows - 1, shard_rows, shard_rows + 1] {
        check::<f64>(n, p, json!({"n_components": 4}));
    }
    check::<f32>(n, shard_rows + 1, json!({"n_components": 4, "whiten": true}));
    check::<f64>(30, 500, json!({"svd_solver": "full"}));
    check::<f32>(2, 1001, json!({"n_components": 1}));
}

#[test]
fn the_first_few_of_many_by_krylov() {
    check::<f64>(1300, 800, json!({"n_components": 4, "svd_solver": "covariance_eigh"}));
}

#[test]
fn one_row_at_a_time_is_all_at_once() {
    fn each<T: Known>(n: usize, p: usize, given: Value) {
        let x: Vec<T> = cast(&falling(n, p, 5));
        let model = fit(Rows::from_slice(&x, p).unwrap(), &given, 2);
        let (k, run) = (model.n_components(), on_threads(1));
        let all = Rows::from_slice(&x, p).unwrap();
        let (mut y, mut l) = (VecSink(Vec::new()), VecSink(Vec::new()));
        model.encode(&all, &run, &mut y).unwrap();
        model.score_samples(&all, &run, &mut l).unwrap();
        let decoded = model.decode_to_vec(&Rows::from_slice(&y.0, k).unwrap(), &run).unwrap();
        for i in (0..n).step_by(n / 40 + 1) {
            let one = Rows::from_slice(&x[i * p..(i + 1) * p], p).unwrap();
            let (mut y1, mut l1) = (VecSink(Vec::new()), VecSink(Vec::new()));
            model.encode(&one, &run, &mut y1).unwrap();
            model.score_samples(&one, &run, &mut l1).unwrap();
            let d1 = model.decode_to_vec(&Rows::from_slice(&y1.0, k).unwrap(), &run).unwrap();
            let name = format!("{given}, {n} x {p} {}, row {i}", T::DTYPE);
            assert_eq!(bytes_of(&y1.0), bytes_of(&y.0[i * k..(i + 1) * k]), "{name}: code");
            assert_eq!(bytes_of(&d1), bytes_of(&decoded[i * p..(i + 1) * p]), "{name}: decoded");
            assert_eq!(l1.0[0].to_bits(), l.0[i].to_bits(), "{name}: likelihood");
        }
    }
    for (n, p, given) in [
        (1000, 5, json!({"n_components": 2})),
        (1000, 5, json!({})),
        (700, 64, json!({"n_components": 50, "whiten": true})),
        (60, 900, json!({"n_components": 7})),
        (300, 1, json!({})),
        (9, 33, json!({})),
    ] {
        each::<f64>(n, p, given.clone());
        each::<f32>(n, p, given);
    }
}

#[test]
fn rows_spooled_to_a_temporary_file_give_the_bits_of_rows_in_memory() {
    // A stream of more than 64 MiB is not kept in memory.
    let p = 40;
    let n = (65 << 20) / (8 * p) + 1;
    let x = falling(n / 8, p, 2).repeat(8);
    let want = fit(Rows::from_slice(&x, p).unwrap(), &json!({"n_components": 3}), 2);
    let source = Forward { data: x, p, seed: Some(3), counted: false };
    let found = fit(Rows::new(source, Features::default(), "the array"), &json!({"n_components": 3}), 3);
    assert!(digest(&found) == digest(&want), "{}", differences(&want, &found));
}

#[test]
fn the_file_of_a_fit_has_the_same_bytes_but_for_its_run() {
    let x = falling(500, 20, 1);
    let made = |threads| {
        fit(Rows::from_slice(&x, 20).unwrap(), &json!({"n_components": 4}), threads).to_bytes().unwrap()
    };
    let parts = |bytes: &[u8]| {
        let n = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let mut header: Value = serde_json::from_slice(&bytes[8..8 + n]).unwrap();
        let run = header["__metadata__"].as_object_mut().unwrap().shift_remove("run").unwrap();
        (header.to_string(), bytes[8 + n..].to_vec(), run)
    };
    let (a, b) = (parts(&made(1)), parts(&made(2)));
    assert_eq!((a.0, a.1), (b.0, b.1));
    assert_ne!(a.2, b.2, "the number of threads is recorded with the run");
}

#[test]
fn ranges_of_rows_are_the_same_in_every_storage() {
    let (n, p) = (900u64, 3usize);
    let x = falling(n as usize, p, 2);
    everywhere(&x, p, |storage, rows| {
        let ranges = [
            (0, 900),
            (5, 9),
            (899, 900),
            (899, 905),
            (900, 901),
            (0, 0),
            (9, 5),
            (u64::MAX - 1, u64::MAX),
            (250, u64::MAX),
        ];
        for (start, end) in ranges {
            let want =
                &x[(start.min(n) as usize * p)..(end.clamp(start.min(n), n.max(start.min(n))) as usize * p)];
            assert_eq!(rows.read_range(start..end).unwrap(), want, "{storage}, {start} to {end}");
        }
    });
}
