//! Tests of `checkpoint`, by loops inside of loops.

use super::identity::different_settings;
use super::*;
use crate::num::Dtype;
use crate::run::{Event, Observer};
use crate::solve::{Limits, Steps};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const FOREVER: Limits = Limits::NONE;

/// Counts iterations, and requests a stop at one of them.
#[derive(Default)]
struct Count {
    seen: AtomicU64,
    stop: u64,
}

impl Observer for Count {
    fn event(&self, event: Event<'_>) {
        if matches!(event, Event::Iteration { .. }) {
            self.seen.fetch_add(1, Relaxed);
        }
    }
    fn interrupted(&self) -> bool {
        self.stop > 0 && self.seen.load(Relaxed) >= self.stop
    }
}

fn identity() -> Identity {
    Identity {
        version: "1".into(),
        method: "toy".into(),
        settings: "{}".into(),
        seed: 0,
        dtype: Dtype::F64.name().into(),
        n_rows: 1,
        n_features: 6,
        feature_shape: vec![2, 3],
        rows: 7,
        init: None,
        tables: BTreeMap::from([("atoms".into(), 5)]),
    }
}

/// A number that a loop of `n` iterations makes of `x`.
fn inner(run: &Run<'_>, x: f64, n: u64) -> Result<f64> {
    let limits = Limits { max_iter: n, ..FOREVER };
    let (mut steps, mut x) = Steps::begin(run, "inner", limits, || Ok(x))?;
    while steps.spent().is_none() {
        x = (1.3 * x).sin() + 0.1;
        steps.ended(x, Some(x), &x)?;
    }
    Ok(x + steps.objective().iter().sum::<f64>())
}

/// Loops before, inside and after another one, as many inside as its number of iterations.
fn solve(run: &Run<'_>) -> Result<Vec<f64>> {
    let first = inner(run, 0.5, 4)?;
    let (mut outer, mut found) =
        Steps::begin(run, "outer", Limits { max_iter: 5, ..FOREVER }, || Ok(vec![first]))?;
    while outer.spent().is_none() {
        for _ in 0..outer.n_iter() {
            found.push(inner(run, found[found.len() - 1], 3 + outer.n_iter())?);
        }
        outer.ended(0.0, None, &found)?;
    }
    found.push(inner(run, found[found.len() - 1], 6)?);
    Ok(found)
}

fn on(path: &Path, every: f64, observer: &Count, max_seconds: Option<f64>) -> Result<Vec<f64>> {
    let checkpoint = Checkpoint::new(path).every(every).resume(true);
    checkpoint.bind(identity())?;
    solve(&Run { checkpoint: Some(&checkpoint), observer, max_seconds, ..Run::default() })
}

#[test]
fn nested_loops_are_resumed() {
    let whole = Count::default();
    let want = solve(&Run { observer: &whole, ..Run::default() }).unwrap();
    let all = whole.seen.load(Relaxed);
    assert!(all > 50);
    let folder = tempfile::tempdir().unwrap();
    // Every write waits for the disk, so only some of the moments are tested.
    for stop in (1..all).step_by(5) {
        let path = folder.path().join(stop.to_string());
        let first = Count { stop, ..Count::default() };
        assert!(matches!(on(&path, 0.0, &first, None), Err(Error::Interrupted)), "{stop}");
        let second = Count::default();
        assert_eq!(on(&path, 1e9, &second, None).unwrap(), want, "stopped after {stop}");
        // Nothing is done twice: the state of every loop that ended, and of the one that ran, was kept.
        assert_eq!(second.seen.load(Relaxed), all - stop, "stopped after {stop}");
    }
}

/// Lets the interval pass at iteration `write`, and copies the file to `left` at iteration `kill`: what a killed process leaves.
struct Killed<'a> {
    checkpoint: &'a Checkpoint,
    seen: AtomicU64,
    write: u64,
    kill: u64,
    left: &'a Path,
}

impl Observer for Killed<'_> {
    fn event(&self, event: Event<'_>) {
        if !matches!(event, Event::Iteration { .. }) {
            return;
        }
        let n = self.seen.fetch_add(1, Relaxed) + 1;
        if n == self.write {
            self.checkpoint.journal().written = None;
        }
        if n == self.kill {
            std::fs::copy(self.checkpoint.path(), self.left).unwrap();
        }
    }
}

#[test]
fn loops_shorter_than_the_interval_are_in_the_next_write() {
    let (whole, folder) = (Count::default(), tempfile::tempdir().unwrap());
    let want = solve(&Run { observer: &whole, ..Run::default() }).unwrap();
    let all = whole.seen.load(Relaxed);
    // The first time nothing is written before the kill.
    for write in (0..all - 3).step_by(7) {
        let (path, left) = (folder.path().join("a"), folder.path().join("left"));
        let checkpoint = Checkpoint::new(&path).every(1e9);
        checkpoint.bind(identity()).unwrap();
        let (seen, kill) = (AtomicU64::new(0), write + 3);
        let observer = Killed { checkpoint: &checkpoint, seen, write, kill, left: &left };
        let run = Run { checkpoint: Some(&checkpoint), observer: &observer, ..Run::default() };
        assert_eq!(solve(&run).unwrap(), want);
        let second = Count::default();
        assert_eq!(on(&left, 1e9, &second, None).unwrap(), want, "written at {write}");
        // Only the iterations after the write are repeated, although no loop lasted as long as the interval.
        assert_eq!(second.seen.load(Relaxed), all - write, "written at {write}");
    }
}

#[test]
fn a_requested_stop_keeps_the_loops_that_ended_before_it() {
    let (whole, folder) = (Count::default(), tempfile::tempdir().unwrap());
    let want = solve(&Run { observer: &whole, ..Run::default() }).unwrap();
    let path = folder.path().join("a");
    let observer = Count { stop: 20, ..Count::default() };
    // The only write is that of the stop.
    assert!(on(&path, 1e9, &observer, None).is_err());
    let second = Count::default();
    assert_eq!(on(&path, 1e9, &second, None).unwrap(), want);
    assert_eq!(second.seen.load(Relaxed), whole.seen.load(Relaxed) - 20);
}

#[test]
fn loops_after_the_time_limit_are_not_kept() {
    let (quiet, folder) = (Count::default(), tempfile::tempdir().unwrap());
    let want = solve(&Run::default()).unwrap();
    let path = folder.path().join("a");
    // No time at all: every loop ends before its first iteration, and the result is another one.
    assert_ne!(on(&path, 0.0, &quiet, Some(0.0)).unwrap(), want);
    assert_eq!(on(&path, 0.0, &quiet, None).unwrap(), want);
}

#[test]
fn a_loop_of_another_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let observer = Count { stop: 2, ..Count::default() };
    assert!(on(&path, 0.0, &observer, None).is_err());
    let checkpoint = Checkpoint::new(&path).resume(true);
    checkpoint.bind(identity()).unwrap();
    let run = Run { checkpoint: Some(&checkpoint), ..Run::default() };
    let refused = Steps::begin(&run, "another", FOREVER, || Ok(0.0)).err().unwrap().to_string();
    assert!(refused.contains("'inner'") && refused.contains("'another'"), "{refused}");
}

#[test]
fn a_failed_write_does_not_end_the_fit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("inside").join("a");
    std::fs::create_dir(folder.path().join("inside")).unwrap();
    let checkpoint = Checkpoint::new(&path).every(0.0);
    checkpoint.bind(identity()).unwrap();
    std::fs::remove_dir_all(folder.path().join("inside")).unwrap();
    let run = Run { checkpoint: Some(&checkpoint), ..Run::default() };
    assert_eq!(solve(&run).unwrap(), solve(&Run::default()).unwrap());
    assert!(checkpoint.write_error().unwrap().contains("cannot write"));
}

#[test]
fn everything_that_determines_the_bits_of_a_fit_is_compared() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    Checkpoint::new(&path).bind(identity()).unwrap();
    let again = |of| Checkpoint::new(&path).resume(true).bind(of);
    again(identity()).unwrap();
    let others = [
        ("version", Identity { version: "2".into(), ..identity() }),
        ("method", Identity { method: "other".into(), ..identity() }),
        ("settings", Identity { settings: "{\"k\":1}".into(), ..identity() }),
        ("seed", Identity { seed: 1, ..identity() }),
        ("type", Identity { dtype: Dtype::F32.name().into(), ..identity() }),
        ("shape", Identity { n_rows: 2, ..identity() }),
        ("shape", Identity { n_features: 2, ..identity() }),
        ("[3, 2]", Identity { feature_shape: vec![3, 2], ..identity() }),
        ("other rows", Identity { rows: 8, ..identity() }),
        ("another start", Identity { init: Some(1), ..identity() }),
        ("values of atoms", Identity { tables: BTreeMap::from([("atoms".into(), 6)]), ..identity() }),
        ("values of atoms", Identity { tables: BTreeMap::new(), ..identity() }),
    ];
    let (found, requested) = different_settings(r#"{"k":1,"tol":0.5,"center":true}"#, r#"{"k":2,"tol":0.5}"#);
    assert_eq!((found.as_str(), requested.as_str()), ("center=true, k=1", "center=null, k=2"));
    for (word, other) in others {
        let refused = again(other).expect_err(word).to_string();
        assert!(refused.contains(word) && !refused.contains('\n'), "{word}: {refused}");
    }
}
