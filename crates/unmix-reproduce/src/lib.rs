//! The published experiments of the methods here: figures as SVG, numbers as CSV beside the published ones.
//!
//! An experiment is a row of [`EXPERIMENTS`]: a key, the figures and tables that it remakes, and a function that fits, measures
//! and writes. [`reproduce`] runs some or all of them into a folder with an `index.html` that shows everything.
//!
//! Signals and points are the published draws. Pictures are made by seeded code unless a path is given: the published pictures
//! (CIFAR-10, MNIST) cannot be shipped.

mod experiments;
mod lab;
mod measure;
mod output;
mod pictures;

pub use experiments::EXPERIMENTS;
pub use output::{Number, Results};
pub use pictures::{PatchSet, PublishedPictures};

use lab::Lab;
use std::path::PathBuf;
use unmix::{Error, Result, Run};

/// One published experiment.
#[derive(Clone, Copy)]
pub struct Experiment {
    /// Its name on the command line.
    pub key: &'static str,
    /// The figures and tables that it remakes, and where they were published.
    pub source: &'static str,
    /// What it shows, in a sentence.
    pub summary: &'static str,
    run: fn(&mut Lab<'_>) -> Result<()>,
}

impl std::fmt::Debug for Experiment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Experiment").field("key", &self.key).finish_non_exhaustive()
    }
}

/// How experiments are run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Smaller data and fewer repetitions: minutes instead of an hour.
    pub quick: bool,
    /// Pictures to cut patches from: a CIFAR-10 batch (`.bin`, `.bin.gz`), MNIST's idx file, or a folder of images. None: pictures
    /// made by seeded code.
    pub pictures: Option<PathBuf>,
    /// Where figures and tables go.
    pub output: PathBuf,
}

/// Runs the experiments called `keys` in that order, all of them where none is named, and returns what was measured, experiment by
/// experiment. Patches, and the filters that others are compared with, are made once for all. `announce` is called with the name of
/// each before it begins.
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

/// What `keys` name, each once; everything where there is none.
///
/// # Errors
///
/// An unknown key, with the nearest of those that there are.
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
