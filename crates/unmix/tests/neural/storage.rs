//! Training uses the same batches for every kind of storage and any number of threads.

use crate::made::{bits, cast, falling, settings};
use serde_json::json;
use unmix::data::{Features, RawArray, open_npy, write_npy};
use unmix::internal::neural::{NONLINEAR, Training, TrainingStart, train};
use unmix::{NeuralPca, Rows, Run};

#[test]
fn trained_weights_have_the_same_bits_from_memory_and_from_a_file_for_any_number_of_threads() {
    let (n, p) = (3001, 20);
    let x: Vec<f32> = cast(&falling(n, p, 3));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    write_npy(&path, &x, &[p]).unwrap();
    let given = json!({"n_components": 4, "solver": "adam", "max_epochs": 2});
    let rule = NeuralPca::from_settings(&settings(given)).unwrap();
    let fit = |mut rows: Rows<'_, f32>, threads: usize| {
        bits(&rule.fit(&mut rows, &Run { threads, seed: 5, ..Run::default() }).unwrap())
    };
    let want = fit(Rows::from_slice(&x, p).unwrap(), 1);
    for threads in [1, 2, 5] {
        assert_eq!(fit(Rows::from_slice(&x, p).unwrap(), threads), want, "{threads} threads");
        let stored = Rows::new(open_npy(&path).unwrap().0, Features::default(), "x.npy");
        assert_eq!(fit(stored, threads), want, "from a file, {threads} threads");
    }
}

#[test]
fn rows_of_several_windows_are_read_ahead_and_give_the_same_bits() {
    // Two windows of four million numbers, each shuffled separately.
    let (n, p) = (70_001, 64);
    let x: Vec<f32> = cast(&falling(n, p, 3));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    write_npy(&path, &x, &[p]).unwrap();
    // In column-major order, so that rows are copied instead of borrowed.
    let by_columns: Vec<f32> = (0..n * p).map(|i| x[i % n * p + i / n]).collect();
    let given = json!({"n_components": 2, "solver": "adam", "max_epochs": 2, "batch_size": 500});
    let rule = NeuralPca::from_settings(&settings(given)).unwrap();
    let fit = |mut rows: Rows<'_, f32>, threads: usize| {
        bits(&rule.fit(&mut rows, &Run { threads, seed: 5, ..Run::default() }).unwrap())
    };
    let want = fit(Rows::from_slice(&x, p).unwrap(), 2);
    for threads in [1, 2] {
        let stored = Rows::new(open_npy(&path).unwrap().0, Features::default(), "x.npy");
        assert!(fit(stored, threads) == want, "from a file, {threads} threads");
    }
    let columns = RawArray::borrowed(&by_columns, n).unwrap().transposed();
    assert!(fit(Rows::new(columns, Features::default(), "columns"), 2) == want);
}

#[test]
fn another_seed_is_another_order_of_the_rows() {
    let (n, p) = (500, 8);
    let x = falling(n, p, 3);
    let rows = Rows::from_slice(&x, p).unwrap();
    let (spec, how) = (NONLINEAR[8].spec.unwrap(), Training { max_epochs: 1, ..Training::default() });
    let weights = |seed: u64| {
        let run = Run { seed, ..Run::default() };
        let begin =
            TrainingStart::at_axes(&rows, &super::recover::decomposed(&rows), &spec, 3, &run).unwrap();
        let trained = train(&rows, &spec, &begin, &how, &run).unwrap();
        assert_eq!((trained.steps, trained.epochs, trained.sigma.len()), (4, 1, 1));
        trained.w
    };
    assert_eq!(weights(1), weights(1));
    assert_ne!(weights(1), weights(2));
}

#[test]
fn a_learning_rate_that_diverges_is_refused() {
    let x = falling(400, 8, 3);
    let given = json!({"n_components": 2, "solver": "sgd", "learning_rate": 1e30});
    let rule = NeuralPca::from_settings(&settings(given)).unwrap();
    let message = rule.fit(&mut Rows::from_slice(&x, 8).unwrap(), &Run::default()).unwrap_err().to_string();
    assert!(message.contains("the weights diverged in epoch 1; choose a smaller value"), "{message}");
}
