//! The laws of [`Batches`](super::Batches), on windows small enough for a test.

use super::order::Order;
use super::*;
use crate::data::source::{Forward, RandomAccess, Source, Stream};
use crate::data::{Features, OwnedRows};
use crate::error::Error;
use std::sync::Mutex;

fn sorted(rows: &[u64]) -> Vec<u64> {
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    rows
}

/// Three columns, of which the first identifies the row.
fn numbers(n: usize) -> Vec<f64> {
    (0..n * 3).map(|i| if i % 3 == 0 { (i / 3) as f64 } else { (i * 7 % 13) as f64 }).collect()
}

/// The contents of a batch, for comparison.
type BatchContents = (Position, Vec<u64>, Vec<f64>, Option<Vec<f64>>);

fn batches_of(
    batches: &Batches<'_, f64>,
    from: Position,
    epochs: u64,
    threads: usize,
    most: usize,
) -> Vec<BatchContents> {
    let mut seen = Vec::new();
    let note = |b: &Batch<'_, f64>| {
        seen.push((b.position, b.rows.to_vec(), b.x.to_vec(), b.weights.map(<[f64]>::to_vec)));
        Ok(seen.len() < most)
    };
    batches.each(from, epochs, threads, note).unwrap();
    seen
}

impl<T: Real> Batches<'_, T> {
    /// The same with shards of 8 rows and windows of 3 shards, handed over one by one.
    fn small(mut self, seed: u64) -> Self {
        self.together = 1;
        self.order = Order::cut(self.n, 8, 3, seed);
        self
    }
}

/// Rows that are read, never borrowed, each time noted.
struct CountedReads {
    held: OwnedRows<f64>,
    noted: Mutex<Vec<std::ops::Range<u64>>>,
    /// From this read on every read fails.
    fails: usize,
}

impl CountedReads {
    fn new(x: Vec<f64>, fails: usize) -> Self {
        Self { held: OwnedRows::new(x, 3).unwrap(), noted: Mutex::default(), fails }
    }
}

impl Source<f64> for &CountedReads {
    fn n_features(&self) -> usize {
        3
    }
    fn n_rows(&self) -> Option<u64> {
        Some(RandomAccess::n_rows(self))
    }
    fn stream(&self) -> Result<Box<dyn Stream<f64> + '_>> {
        Ok(Box::new(Forward::new(self, 3)))
    }
    fn random(&self) -> Option<&dyn RandomAccess<f64>> {
        Some(self)
    }
}

impl RandomAccess<f64> for &CountedReads {
    fn n_rows(&self) -> u64 {
        RandomAccess::n_rows(&self.held)
    }
    fn read(
        &self,
        rows: std::ops::Range<u64>,
        columns: std::ops::Range<usize>,
        out: &mut [f64],
        raw: &mut Vec<u8>,
    ) -> Result<()> {
        let mut noted = self.noted.lock().unwrap();
        noted.push(rows.clone());
        if noted.len() > self.fails {
            return Err(Error::format(std::path::Path::new("rows.bin"), "it ends here", "copy it again"));
        }
        self.held.read(rows, columns, out, raw)
    }
}

#[test]
fn batches_partition_the_rows_and_carry_their_numbers() {
    let x = numbers(101);
    let rows = Rows::from_slice(&x, 3).unwrap();
    for (size, per_epoch) in [(10, 11), (1, 101), (101, 1), (1000, 1), (7, 15)] {
        let batches = Batches::new(&rows, size, 7).unwrap().small(7);
        assert_eq!(batches.per_epoch(), per_epoch);
        let seen = batches_of(&batches, Position::default(), 3, 1, usize::MAX);
        assert_eq!(seen.len() as u64, 3 * per_epoch);
        for epoch in 0..3 {
            let of_epoch: Vec<&BatchContents> = seen.iter().filter(|s| s.0.epoch == epoch).collect();
            let sizes: Vec<usize> = of_epoch.iter().map(|s| s.1.len()).collect();
            let largest = *sizes.iter().max().unwrap();
            assert!(largest <= size && sizes.iter().all(|s| s + 1 >= largest), "{sizes:?}");
            let all: Vec<u64> = of_epoch.iter().flat_map(|s| s.1.clone()).collect();
            assert_eq!(sorted(&all), (0..101).collect::<Vec<u64>>());
        }
        for (_, which, x, weights) in &seen {
            let first: Vec<u64> = x.chunks_exact(3).map(|row| row[0] as u64).collect();
            assert_eq!((&first, weights), (which, &None));
        }
    }
}

#[test]
fn rows_of_a_batch_are_in_the_order_of_the_data_unless_mixed() {
    let x = numbers(101);
    let rows = Rows::from_slice(&x, 3).unwrap();
    let plain = batches_of(&Batches::new(&rows, 10, 7).unwrap(), Position::default(), 2, 1, usize::MAX);
    let mixed =
        batches_of(&Batches::new(&rows, 10, 7).unwrap().mixed(), Position::default(), 2, 2, usize::MAX);
    for (a, b) in plain.iter().zip(&mixed) {
        assert!(a.1.is_sorted() && a.1 == sorted(&b.1));
        let first: Vec<u64> = b.2.chunks_exact(3).map(|row| row[0] as u64).collect();
        assert_eq!(first, b.1);
    }
    assert!(mixed.iter().filter(|b| b.1.is_sorted()).count() < 2);
}

#[test]
fn positions_within_an_epoch_are_counted() {
    let x = numbers(50);
    let rows = Rows::from_slice(&x, 3).unwrap();
    let batches = Batches::new(&rows, 20, 1).unwrap();
    let mut seen = Vec::new();
    batches
        .each(Position::default(), 2, 1, |b| {
            seen.push((b.position.epoch, b.position.batch, b.done, b.ends_epoch()));
            assert!(b.next > b.position);
            Ok(true)
        })
        .unwrap();
    let want = |epoch| [(epoch, 0, 16, false), (epoch, 1, 33, false), (epoch, 2, 50, true)];
    assert_eq!(seen, [want(0), want(1)].concat());
}

#[test]
fn batches_are_the_same_from_memory_and_by_reading_on_any_number_of_threads() {
    for n in [20, 23, 200, 203] {
        let x = numbers(n);
        let lent = Rows::from_slice(&x, 3).unwrap();
        let want =
            batches_of(&Batches::new(&lent, 10, 2).unwrap().small(2), Position::default(), 3, 1, usize::MAX);
        for threads in [1, 2, 5] {
            let reads = CountedReads::new(x.clone(), usize::MAX);
            let read = Rows::new(&reads, Features::default(), "rows.bin");
            for rows in [&lent, &read] {
                let batches = Batches::new(rows, 10, 2).unwrap().small(2);
                assert!(
                    batches_of(&batches, Position::default(), 3, threads, usize::MAX) == want,
                    "{n}, {threads}"
                );
                assert!(batches_of(&batches, Position::default(), 3, threads, 5)[..] == want[..5]);
            }
        }
    }
}

#[test]
fn a_shard_is_read_by_one_call_once_an_epoch() {
    let reads = CountedReads::new(numbers(203), usize::MAX);
    let rows = Rows::new(&reads, Features::default(), "rows.bin");
    let shards: Vec<_> = (0..203).step_by(8).map(|i| i..(i + 8).min(203)).collect();
    for threads in [1, 2] {
        batches_of(
            &Batches::new(&rows, 10, 2).unwrap().small(2),
            Position::default(),
            3,
            threads,
            usize::MAX,
        );
        let mut noted = std::mem::take(&mut *reads.noted.lock().unwrap());
        noted.sort_by_key(|r| r.start);
        let want: Vec<_> = shards.iter().flat_map(|s| [s.clone(), s.clone(), s.clone()]).collect();
        assert_eq!(noted, want);
    }
    // What fits one window is read once, however many epochs there are.
    batches_of(&Batches::new(&rows, 10, 2).unwrap(), Position::default(), 5, 2, usize::MAX);
    assert_eq!(*reads.noted.lock().unwrap(), vec![0..203u64; 1]);
}

#[test]
fn the_next_window_is_read_in_parts_during_the_current_one() {
    let reads = CountedReads::new(numbers(208), usize::MAX);
    let rows = Rows::new(&reads, Features::default(), "rows.bin");
    let batches = Batches::new(&rows, 2, 2).unwrap().small(2);
    let (mut reader, mut group) =
        (BatchReader::new(&batches, Position::default(), 2, true), Group::default());
    let mut counts = Vec::new();
    while reader.gather(&mut group).unwrap() {
        reader.read_ahead();
        counts.push(reads.noted.lock().unwrap().len());
    }
    assert_eq!(counts.last(), Some(&52));
    // Never more than two windows of three shards beyond what was handed out.
    assert!(counts.windows(2).all(|w| w[1] >= w[0] && w[1] - w[0] <= 6), "{counts:?}");
}

#[test]
fn batches_from_a_position_are_the_remaining_ones() {
    let (x, n) = (numbers(203), 203);
    let (lent, reads) = (Rows::from_slice(&x, 3).unwrap(), CountedReads::new(x.clone(), usize::MAX));
    let read = Rows::new(&reads, Features::default(), "rows.bin");
    for rows in [&lent, &read] {
        let batches = Batches::new(rows, 10, 2).unwrap().small(2);
        let all = batches_of(&batches, Position::default(), 3, 1, usize::MAX);
        for (i, seen) in all.iter().enumerate() {
            let threads = 1 + i % 2;
            assert!(
                batches_of(&batches, seen.0, 3, threads, usize::MAX)[..] == all[i..],
                "{:?} of {n}",
                seen.0
            );
        }
        assert!(batches_of(&batches, Position { epoch: 3, batch: 0 }, 3, 2, usize::MAX).is_empty());
    }
    let text = serde_json::to_string(&Position { epoch: 2, batch: 5 }).unwrap();
    assert_eq!(serde_json::from_str::<Position>(&text).unwrap(), Position { epoch: 2, batch: 5 });
}

#[test]
fn weights_come_with_their_rows_and_those_of_weight_0_are_left_out() {
    let mut x = numbers(60);
    let weights: Vec<f64> = (0..60).map(|i| f64::from(i % 4)).collect();
    // What a row of weight 0 holds does not matter.
    x[4 * 3 + 1] = f64::NAN;
    let rows = Rows::from_slice(&x, 3).unwrap().weighted(weights).unwrap();
    let seen =
        batches_of(&Batches::new(&rows, 7, 1).unwrap().small(1), Position::default(), 2, 2, usize::MAX);
    assert_eq!(seen.len(), 18);
    for (_, which, x, weights) in &seen {
        let want: Vec<f64> = which.iter().map(|row| (row % 4) as f64).collect();
        assert_eq!(weights.as_ref(), Some(&want));
        assert!(want.iter().all(|w| *w > 0.0) && x.iter().all(|x| x.is_finite()));
    }
    let mut first: Vec<u64> = seen.iter().filter(|s| s.0.epoch == 0).flat_map(|s| s.1.clone()).collect();
    first.sort_unstable();
    assert_eq!(first, (0..60).filter(|i| i % 4 != 0).collect::<Vec<u64>>());
}

#[test]
fn rows_are_centred_and_divided() {
    let x = numbers(30);
    let rows = Rows::from_slice(&x, 3).unwrap();
    let (mean, units) = ([1.0, 2.0, 3.0], [1.0, 2.0, 4.0]);
    let raw = batches_of(&Batches::new(&rows, 7, 1).unwrap(), Position::default(), 1, 1, usize::MAX);
    let of = |batches: Batches<'_, f64>, want: &dyn Fn(usize, f64) -> f64| {
        for (a, b) in batches_of(&batches, Position::default(), 1, 1, usize::MAX).iter().zip(&raw) {
            assert!(a.2.iter().zip(&b.2).enumerate().all(|(i, (a, b))| *a == want(i % 3, *b)));
        }
    };
    let plain = || Batches::new(&rows, 7, 1).unwrap();
    of(plain().centred(&mean), &|j, x| x - mean[j]);
    of(plain().centred(&mean).divided(2.0, None), &|j, x| (x - mean[j]) / 2.0);
    of(plain().divided(2.0, Some(&units)), &|j, x| x / (2.0 * units[j]));
    of(plain().centred(&mean).divided(1.0, Some(&units)), &|j, x| (x - mean[j]) / units[j]);
}

#[test]
fn a_large_mean_costs_no_digits_in_single_precision() {
    let x: Vec<f32> = (0..64).map(|i| 1e4 + (i % 7) as f32 / 512.0).collect();
    let rows = Rows::from_slice(&x, 1).unwrap();
    let mean = x.iter().map(|x| f64::from(*x)).sum::<f64>() / 64.0;
    let batches = Batches::new(&rows, 64, 0).unwrap().centred(&[mean]);
    let check = |b: &Batch<'_, f32>| {
        for (y, row) in b.x.iter().zip(b.rows) {
            let want = f64::from(x[*row as usize]) - mean;
            assert!((f64::from(*y) - want).abs() <= 1e-7 * want.abs(), "{y} {want}");
        }
        Ok(true)
    };
    batches.each(Position::default(), 1, 1, check).unwrap();
}

#[test]
fn bad_batches_are_refused() {
    let x = numbers(30);
    let rows = Rows::from_slice(&x, 3).unwrap();
    let message = |found: Result<Batches<'_, f64>>| found.err().map(|e| e.to_string()).unwrap_or_default();
    assert!(message(Batches::new(&rows, 0, 0)).contains("batch_size must be at least 1, got 0"));
    let none = Rows::from_slice(&x[..0], 3).unwrap();
    assert!(matches!(Batches::new(&none, 10, 0), Err(Error::TooFewRows { .. })));
    let narrow = Rows::<f64>::from_slice(&x[..0], 0).unwrap();
    assert!(Batches::new(&narrow, 10, 0).is_err());
    let away = |_: &[u8]| Ok(Vec::new());
    let remote = Rows::<f64>::remote(100, 3, &away);
    assert!(message(Batches::new(&remote, 10, 0)).contains("remote workers"));
    let batches = Batches::new(&rows, 10, 0).unwrap();
    let beyond = batches.each(Position { epoch: 0, batch: 3 }, 5, 1, |_| Ok(true)).unwrap_err().to_string();
    assert!(beyond.contains("has 3 batches"), "{beyond}");
}

#[test]
fn batches_end_with_the_first_error() {
    let x = numbers(203);
    let lent = Rows::from_slice(&x, 3).unwrap();
    for threads in [1, 2] {
        let batches = Batches::new(&lent, 10, 0).unwrap();
        let failed = batches.each(Position::default(), 5, threads, |_| Err(Error::Interrupted));
        assert!(matches!(failed, Err(Error::Interrupted)));
        let reads = CountedReads::new(x.clone(), 12);
        let rows = Rows::new(&reads, Features::default(), "rows.bin");
        let (mut count, batches) = (0, Batches::new(&rows, 10, 0).unwrap().small(0));
        let failed = batches.each(Position::default(), 5, threads, |_| {
            count += 1;
            Ok(true)
        });
        assert!(failed.unwrap_err().to_string().contains("it ends here"));
        // Twelve shards of eight rows were read, not all of which make whole windows.
        assert!((6..=9).contains(&count), "{count}");
    }
}
