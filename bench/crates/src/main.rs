//! Times PCA and ICA of other crates, one engine on one data set, and writes the answers to files, where they are checked:
//!
//! ```text
//! bench-crates TASK ENGINE ROWS.npy FOLDER K LEAST MOST SECONDS LIMIT
//! ```
//!
//! It loads, fits once to warm up, and repeats the fit as `harness/worker.py` does: `SECONDS` of fits, at least `LEAST` of them
//! where that takes less than `LIMIT`, at most `MOST`. Times and memory are printed as JSON, arrays of the answer are
//! written into `FOLDER`. A fit of over `LIMIT` seconds ends it with 124.

mod job;
mod lapack;
mod linfas;
mod npy;
mod petal;
mod smart;

use job::{Job, Outcome};
use npy::{Rows, Table};

fn main() {
    // One line, which is stored in the record.
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("it panics: {}", panic.payload_as_str().unwrap_or("without a message"))
    }));
    if let Err(why) = run() {
        eprintln!("{why}");
        std::process::exit(1);
    }
}

fn run() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [task, engine, data, rest @ ..] = words.as_slice() else {
        return Err("it takes nine arguments".into());
    };
    let job = Job::new(rest)?;
    let table = npy::read(data.as_ref())?;
    match (task.as_str(), engine.as_str(), table) {
        ("pca" | "fit_transform", "linfa", Table::F64(x)) => linfas::pca(x, task == "fit_transform", &job),
        ("ica", "linfa", Table::F64(x)) => linfas::ica(x, &job),
        ("ica", "linfa", Table::F32(x)) => linfas::ica(x, &job),
        ("pca" | "fit_transform", "smartcore", Table::F64(x)) => smart::pca(x, task == "fit_transform", &job),
        ("pca", "smartcore", Table::F32(x)) => smart::pca(x, false, &job),
        (task, engine, Table::F64(x)) => petal::of_f64(task, engine, x, &job),
        (task, engine, Table::F32(x)) => petal::of_f32(task, engine, x, &job),
    }
}

/// Rows of the identity and one row of zeros: their codes determine the matrix of a model that does not return it.
fn probes<T: npy::Real>(p: usize) -> Rows<T> {
    let mut values = vec![T::from(0u8); (p + 1) * p];
    for j in 0..p {
        values[j * p + j] = T::from(1u8);
    }
    Rows { n: p + 1, p, values }
}

/// The matrix of a linear map, one row an output, from the codes of [`probes`]: `k` numbers for each.
fn probed<T: npy::Real>(outputs: &[T], p: usize, k: usize) -> Rows<f64> {
    let at = |i: usize, j: usize| -> f64 { outputs[i * k + j].into() };
    let values = (0..k).flat_map(|c| (0..p).map(move |j| at(j, c) - at(p, c))).collect();
    Rows { n: k, p, values }
}
