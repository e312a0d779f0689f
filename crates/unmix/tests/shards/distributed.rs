//! Rows in files, each of which is held by a worker process.

use crate::made::{Known, fit_any, settings};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use unmix::data::{Features, open_npy, write_npy};
use unmix::{AnyRows, Model, Rows, Run, shards};

/// Environment variable that makes this test program a worker, and gives its first row and its file.
const HELD: &str = "UNMIX_TEST_WORKER";

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

/// A worker process: each line of its input is a job, and a line of its output that begins with "answer" is the answer. Without the
/// environment variable the test does nothing.
#[test]
fn worker() {
    let Ok(held) = std::env::var(HELD) else { return };
    super::registered::register();
    let (first_row, path) = held.split_once(' ').unwrap();
    let (array, _) = open_npy(Path::new(path)).unwrap();
    let mut rows = AnyRows::from_array(array, Features::default(), "the file");
    if let Ok(weights) = std::fs::read_to_string(format!("{path}.weights")) {
        rows = rows.weighted(weights.lines().map(|w| w.parse().unwrap()).collect::<Vec<f64>>()).unwrap();
    }
    let run = Run { threads: 2, ..Run::default() };
    for job in std::io::stdin().lock().lines() {
        let answer = shards::gather(&from_hex(&job.unwrap()), &rows, first_row.parse().unwrap(), &run);
        println!("\nanswer {}", to_hex(&answer.unwrap()));
    }
}

/// A process that holds a part of the rows.
struct Worker {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Worker {
    fn new(first_row: usize, path: &Path) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "shards::distributed::worker", "--nocapture"])
            .env(HELD, format!("{first_row} {}", path.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        Self { process, to, from }
    }

    fn send(&mut self, job: &[u8]) {
        writeln!(self.to, "{}", to_hex(job)).unwrap();
        self.to.flush().unwrap();
    }

    fn answer(&mut self) -> Vec<u8> {
        let mut line = String::new();
        while self.from.read_line(&mut line).unwrap() > 0 {
            if let Some(answer) = line.trim_end().strip_prefix("answer ") {
                return from_hex(answer);
            }
            line.clear();
        }
        panic!("the worker ended");
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Rows distributed unevenly over files and workers.
pub(super) struct Distributed {
    n: usize,
    pub(super) p: usize,
    workers: Mutex<Vec<Worker>>,
    _folder: tempfile::TempDir,
}

impl Distributed {
    /// Splits `x` at these multiples of the length of a shard.
    pub(super) fn new<T: Known>(x: &[T], p: usize, cuts: &[usize]) -> Self {
        Self::weighted(x, p, cuts, None)
    }

    /// The same with weights, except for the rows of the last worker.
    pub(super) fn weighted<T: Known>(x: &[T], p: usize, cuts: &[usize], weights: Option<&[f64]>) -> Self {
        let (folder, n, size) = (tempfile::tempdir().unwrap(), x.len() / p, shards::shard_rows(p) as usize);
        let ends: Vec<usize> = cuts.iter().map(|cut| cut * size).chain([n]).collect();
        let begins: Vec<usize> = [0].into_iter().chain(ends.iter().copied()).collect();
        let worker = |(i, (begin, end)): (usize, (&usize, &usize))| {
            let path: PathBuf = folder.path().join(format!("{i}.npy"));
            write_npy(&path, &x[begin * p..end * p], &[p]).unwrap();
            if let Some(weights) = weights.filter(|_| *end < n) {
                let lines: Vec<String> = weights[*begin..*end].iter().map(f64::to_string).collect();
                std::fs::write(folder.path().join(format!("{i}.npy.weights")), lines.join("\n")).unwrap();
            }
            Worker::new(*begin, &path)
        };
        let workers = begins.iter().zip(&ends).enumerate().map(worker).collect();
        Self { n, p, workers: Mutex::new(workers), _folder: folder }
    }

    pub(super) fn gather_all(&self, job: &[u8]) -> unmix::Result<Vec<Vec<u8>>> {
        let mut workers = self.workers.lock().unwrap();
        workers.iter_mut().for_each(|worker| worker.send(job));
        // Answers may come in any order.
        Ok(workers.iter_mut().rev().map(Worker::answer).collect())
    }

    pub(super) fn fit<T: Known>(&self, key: &str, given: &Value) -> unmix::Result<Model> {
        let all = |job: &[u8]| self.gather_all(job);
        let mut rows = T::any(Rows::remote(self.n as u64, self.p, &all));
        fit_any(key, &settings(given.clone()), &mut rows, &Run::default())
    }
}

/// The bytes of a model file without its entry `run`.
pub(super) fn bytes_but_run(model: &Model) -> (String, Vec<u8>) {
    let bytes = model.to_bytes().unwrap();
    let n = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut header: Value = serde_json::from_slice(&bytes[8..8 + n]).unwrap();
    header["__metadata__"].as_object_mut().unwrap().shift_remove("run").unwrap();
    (header.to_string(), bytes[8 + n..].to_vec())
}

pub(super) fn the_same<T: Known>(distributed: &Distributed, x: &[T], key: &str, given: Value) {
    the_same_of(distributed, Rows::from_slice(x, distributed.p).unwrap(), key, given);
}

pub(super) fn the_same_of<T: Known>(distributed: &Distributed, rows: Rows<'_, T>, key: &str, given: Value) {
    let here = fit_any(key, &settings(given.clone()), &mut T::any(rows), &Run::default());
    let (here, there) =
        (here.unwrap(), distributed.fit::<T>(key, &given).unwrap_or_else(|e| panic!("{key} {given}: {e}")));
    let (want, found) = (bytes_but_run(&here), bytes_but_run(&there));
    assert_eq!(want.0, found.0, "{key} {given}");
    assert!(want.1 == found.1, "{key} {given}: numbers differ");
}
