//! Reproduction of published experiments with the methods of this library: figures as SVG, and numbers with the published ones as CSV.
//!
//! An experiment is an entry of [`EXPERIMENTS`]: a key, the figures and tables that it reproduces, and a function that fits,
//! measures and writes. [`reproduce`] runs some or all of them into a folder with an `index.html` that shows everything.
//!
//! Some signals and points are the published draws, others are drawn from a seed. Pictures are generated from a seed unless a path is
//! given: the published pictures (CIFAR-10, MNIST) cannot be distributed with the library.

mod experiments;
mod lab;
mod measure;
mod output;
mod pictures;

pub use experiments::EXPERIMENTS;
pub use output::{Grid, GridCell, Number, Results, Verdict};
pub use pictures::{PatchSet, PublishedPictures};

use lab::Lab;
use std::path::PathBuf;
use unmix::{Error, Result, Run};

/// One published experiment.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Experiment {
    /// Its name on the command line.
    pub key: &'static str,
    /// The figures and tables that it reproduces, and where they were published.
    pub source: &'static str,
    /// Summary in one sentence.
    pub summary: &'static str,
    run: fn(&mut Lab<'_>) -> Result<()>,
}

impl std::fmt::Debug for Experiment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Experiment").field("key", &self.key).finish_non_exhaustive()
    }
}

/// Options of the experiments.
#[derive(Clone, Debug)]
pub struct Options {
    /// Smaller data and fewer repetitions.
    pub quick: bool,
    /// Pictures to cut patches from: a CIFAR-10 batch (`.bin`, `.bin.gz`), MNIST's idx file, or a folder of images (for
    /// `rfn-filters` one that holds all of these, or folders of them). `None`: pictures generated from a seed.
    pub pictures: Option<PathBuf>,
    /// Activations for sparse autoencoders, a row for each token: a `.npy` file or any other table. `None`: not run.
    pub activations: Option<PathBuf>,
    /// Folder of tables whose rows have classes, for experiments that read such: a folder for each, with `X.npy` and `y.npy`. `None`: these parts
    /// of the experiments are left out.
    pub tables: Option<PathBuf>,
    /// Number of instances of synthetic data, for experiments that have instances. `None`: their own number.
    pub instances: Option<u64>,
    /// Output folder.
    pub output: PathBuf,
}

/// Runs the experiments `keys` in that order, all of them if it is empty, and returns the results by experiment. Patches and
/// reference filters are computed once for all. `announce` is called with the name of each before it begins.
///
/// # Errors
///
/// An unknown key, before anything runs; pictures that cannot be read; an output folder that cannot be written; an interruption.
pub fn reproduce(
    keys: &[impl AsRef<str>],
    options: &Options,
    run: &Run<'_>,
    mut announce: impl FnMut(&Experiment),
) -> Result<Vec<(&'static Experiment, Results)>> {
    let chosen = chosen(keys)?;
    let mut lab = Lab::new(options, run)?;
    let mut done = Vec::new();
    for experiment in chosen {
        announce(experiment);
        lab.begin(experiment)?;
        (experiment.run)(&mut lab)?;
        done.push((experiment, lab.end()?));
        output::write_index(&options.output, &done)?;
    }
    Ok(done)
}

/// The experiments named by `keys`, without duplicates; all if it is empty.
///
/// # Errors
///
/// An unknown key, with the nearest known one.
pub fn chosen(keys: &[impl AsRef<str>]) -> Result<Vec<&'static Experiment>> {
    if keys.is_empty() {
        return Ok(EXPERIMENTS.iter().collect());
    }
    let mut out: Vec<&'static Experiment> = Vec::new();
    for key in keys {
        let experiment = find(key.as_ref())?;
        if !out.iter().any(|e| e.key == experiment.key) {
            out.push(experiment);
        }
    }
    Ok(out)
}

fn find(key: &str) -> Result<&'static Experiment> {
    EXPERIMENTS
        .iter()
        .find(|e| e.key == key)
        .ok_or_else(|| Error::unknown("experiment", key, EXPERIMENTS.iter().map(|e| e.key)))
}
