//! A fit that is interrupted and resumed from its checkpoint has the bits of an uninterrupted one, on every path of every solver.

use super::{Case, every_case};
use crate::made::{bits, digest, falling, fit_any, on_threads, settings};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use unmix::{AnyRows, Checkpoint, Error, Event, Model, Observer, Result, Rows, Run};

/// An observer that interrupts a fit after a number of iterations.
struct StopAfter {
    left: AtomicU64,
}

impl StopAfter {
    fn new(iterations: u64) -> Self {
        Self { left: AtomicU64::new(iterations) }
    }
}

impl Observer for StopAfter {
    fn event(&self, event: Event<'_>) {
        if matches!(event, Event::Iteration { .. }) {
            let _ = self.left.fetch_update(Relaxed, Relaxed, |left| Some(left.saturating_sub(1)));
        }
    }
    fn interrupted(&self) -> bool {
        self.left.load(Relaxed) == 0
    }
}

/// A fit that saves a checkpoint at `path` after every iteration, and resumes from it where there is one.
fn fit(case: &Case, x: &[f64], given: &Value, path: &Path, run: &Run<'_>) -> Result<Model> {
    let checkpoint = Checkpoint::new(path).every(0.0).resume(true);
    let mut rows = AnyRows::F64(Rows::from_slice(x, case.p).unwrap());
    let run = Run { checkpoint: Some(&checkpoint), seed: run.seed, threads: run.threads, ..*run };
    fit_any(case.method.key, &settings(given.clone()), &mut rows, &run)
}

/// A folder in memory (`/dev/shm`) where the system has one, because thousands of files are written.
fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// How often the fit was interrupted, each time after at least `every` iterations, a number that increases slowly so that every fit
/// ends: the iterations of a report do not include those of searches within an iteration, on half of the rows or on others.
fn interrupted(case: &Case, every: u64, want: &Model) -> u64 {
    let folder = in_memory();
    let (x, path) = (case.data::<f64>(), folder.path().join("a.checkpoint"));
    for times in 0..200 {
        let stop = StopAfter::new(every + times / 4);
        let run = Run { observer: &stop, ..on_threads(1 + (times % 3) as usize) };
        match fit(case, &x, &case.given, &path, &run) {
            Ok(model) => {
                assert!(
                    digest(&model) == digest(want),
                    "{case}, interrupted {times} times, every {every} iterations:\n{}\n{}",
                    bits(want),
                    bits(&model)
                );
                return times;
            }
            Err(Error::Interrupted) => {}
            Err(e) => panic!("{case}: {e}"),
        }
    }
    panic!("{case}: interrupted every {every} iterations, it does not end");
}

#[test]
fn an_interrupted_fit_continues_to_the_same_bits() {
    let mut never = Vec::new();
    for case in every_case() {
        let want = case.fit(&case.data::<f64>());
        let n = want.report().n_iter;
        let times: u64 =
            [n / 9 + 2, n / 4 + 1, n / 30 + 7].iter().map(|every| interrupted(&case, *every, &want)).sum();
        // Iterations of an encoder, for each row from its own start, have no state between rows.
        let of_rows = case.method.tensors().any(|s| s.default != "null");
        if times == 0 && want.report().n_iter > 40 && !of_rows {
            never.push(case.to_string());
        }
    }
    assert!(never.is_empty(), "these iterate and were never interrupted: {never:?}");
}

#[test]
fn a_fit_whose_time_ran_out_continues_to_the_same_bits() {
    for case in every_case() {
        let x = case.data::<f64>();
        let want = case.fit(&x);
        let folder = in_memory();
        let path = folder.path().join("a.checkpoint");
        for seconds in [0.0, 2e-4, 1e-3, 5e-3] {
            let run = Run { max_seconds: Some(seconds), ..on_threads(2) };
            fit(&case, &x, &case.given, &path, &run).unwrap_or_else(|e| panic!("{case}: {e}"));
        }
        let model = fit(&case, &x, &case.given, &path, &on_threads(2)).unwrap();
        assert!(digest(&model) == digest(&want), "{case}:\n{}\n{}", bits(&want), bits(&model));
    }
}

/// An observer that ends a fit early after a number of iterations, and counts them.
struct EndAfter {
    done: AtomicU64,
    most: u64,
}

impl Observer for EndAfter {
    fn event(&self, event: Event<'_>) {
        if matches!(event, Event::Iteration { .. }) {
            self.done.fetch_add(1, Relaxed);
        }
    }
    fn ends_early(&self) -> bool {
        self.done.load(Relaxed) >= self.most
    }
}

/// Methods whose fits consist of several searches, of which any may be cut short.
const SEVERAL: [&str; 6] =
    ["ica", "rfn", "complete-dictionary", "subspace-clustering", "sigma-pca", "matrix-completion"];

#[test]
fn a_fit_of_several_searches_that_ends_in_any_of_them_reports_it_and_continues_to_the_same_bits() {
    for case in every_case().into_iter().filter(|case| SEVERAL.contains(&case.method.key)) {
        let (x, folder) = (case.data::<f64>(), in_memory());
        let within = |most: u64, path: &Path| {
            let end = EndAfter { done: AtomicU64::new(0), most };
            let run = Run { observer: &end, ..on_threads(2) };
            let model = fit(&case, &x, &case.given, path, &run).unwrap_or_else(|e| panic!("{case}: {e}"));
            (model, end.done.into_inner())
        };
        let (want, all) = within(u64::MAX, &folder.path().join("whole.checkpoint"));
        for part in 1..8 {
            let (most, path) = (all * part / 8, folder.path().join(format!("{part}.checkpoint")));
            let cut = within(most, &path).0;
            let early = cut.report().outcome.is_early();
            assert!(early || digest(&cut) == digest(&want), "{case}, after {most} of {all} iterations");
            let model = fit(&case, &x, &case.given, &path, &on_threads(2)).unwrap();
            assert!(digest(&model) == digest(&want), "{case}, resumed after {most} of {all} iterations");
        }
    }
}

fn ica() -> Case {
    every_case().into_iter().find(|case| case.method.key == "ica" && case.name == "by rotations").unwrap()
}

/// Writes the checkpoint of an interrupted fit; returns its case, rows and path.
fn begun(folder: &Path) -> (Case, Vec<f64>, std::path::PathBuf) {
    let (case, path) = (ica(), folder.join("a.checkpoint"));
    let x = case.data::<f64>();
    let stop = StopAfter::new(3);
    let ended = fit(&case, &x, &case.given, &path, &Run { observer: &stop, ..Run::default() });
    assert!(matches!(ended, Err(Error::Interrupted)));
    (case, x, path)
}

#[test]
fn a_checkpoint_of_another_fit_is_refused_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (case, x, path) = begun(folder.path());
    let before = std::fs::read(&path).unwrap();
    let refused = |found: Result<Model>, word: &str| {
        let message = found.expect_err(word).to_string();
        assert!(message.contains(word) && message.contains("a.checkpoint"), "{message}");
        assert!(!message.contains('\n') && std::fs::read(&path).unwrap() == before, "{message}");
    };
    let run = Run::default();
    let other = falling(700, 9, 8);
    refused(fit(&case, &other, &case.given, &path, &run), "other rows");
    refused(fit(&case, &x[9..], &case.given, &path, &run), "700 x 9");
    refused(fit(&case, &x, &json!({"fun": "cube"}), &path, &run), "settings");
    refused(fit(&case, &x, &case.given, &path, &Run { seed: 1, ..Run::default() }), "seed");
    let rica = every_case().into_iter().find(|c| c.method.key == "rica" && c.name == "complete").unwrap();
    refused(fit(&rica, &x, &rica.given, &path, &run), "method");
    let single: Vec<f32> = x.iter().map(|x| *x as f32).collect();
    let checkpoint = Checkpoint::new(&path).resume(true);
    let mut rows = AnyRows::F32(Rows::from_slice(&single, case.p).unwrap());
    let run = Run { checkpoint: Some(&checkpoint), ..Run::default() };
    refused(unmix::fit("ica", &settings(case.given.clone()), &mut rows, &run), "float64");
    // The weights belong to the rows that a checkpoint must match.
    let mut rows = AnyRows::F64(Rows::from_slice(&x, case.p).unwrap());
    rows = rows.weighted(vec![2.0; 700]).unwrap();
    refused(unmix::fit("ica", &settings(case.given.clone()), &mut rows, &run), "other rows");
}

#[test]
fn a_corrupt_checkpoint_is_refused_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (case, x, path) = begun(folder.path());
    let whole = std::fs::read(&path).unwrap();
    let refused = |bytes: &[u8], word: &str| {
        std::fs::write(&path, bytes).unwrap();
        let message = fit(&case, &x, &case.given, &path, &Run::default()).expect_err(word).to_string();
        assert!(message.contains(word) && !message.contains('\n'), "{message}");
        assert!(std::fs::read(&path).unwrap() == bytes, "the file was changed");
    };
    for len in [0, 3, 15] {
        refused(&whole[..len], "not a checkpoint");
    }
    for len in [20, 24, 60, whole.len() / 2, whole.len() - 1] {
        refused(&whole[..len], "truncated or corrupt");
    }
    for at in (20..whole.len()).step_by(whole.len() / 23) {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        refused(&bytes, "truncated or corrupt");
    }
    let mut newer = whole.clone();
    newer[18] = b'9';
    refused(&newer, "another version");
    refused(b"# a file of somebody's", "not a checkpoint");
}

#[test]
fn a_fit_that_does_not_resume_restarts_and_replaces_a_checkpoint_but_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let (case, _, path) = begun(folder.path());
    let other = falling(700, 9, 8);
    let anew = |path: &Path| {
        let checkpoint = Checkpoint::new(path).every(0.0);
        let mut rows = AnyRows::F64(Rows::from_slice(&other, case.p).unwrap());
        let run = Run { checkpoint: Some(&checkpoint), ..Run::default() };
        let model = unmix::fit("ica", &settings(case.given.clone()), &mut rows, &run)?;
        checkpoint.remove()?;
        Ok::<Model, Error>(model)
    };
    assert_eq!(digest(&anew(&path).unwrap()), digest(&case.fit(&other)));
    assert!(!path.exists(), "the checkpoint is removed after the fit");
    // One of another version, too: it is not read.
    std::fs::write(&path, b"unmix checkpoint  1\nother content").unwrap();
    assert_eq!(digest(&anew(&path).unwrap()), digest(&case.fit(&other)));
    let notes = folder.path().join("notes.txt");
    std::fs::write(&notes, "mine").unwrap();
    assert!(anew(&notes).unwrap_err().to_string().contains("not a checkpoint"));
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "mine");
    let nowhere = anew(&folder.path().join("no folder").join("a")).unwrap_err().to_string();
    assert!(nowhere.contains("cannot write"), "before the fit begins: {nowhere}");
}
