use super::*;
use crate::fit::{checkpoint, run_of};
use crate::progress::Progress;
use clap::{CommandFactory, Parser};
use std::collections::BTreeSet;
use unmix::Run;
use unmix::internal::run::{RUN_OPTIONS, RunOption};
use unmix_io::READING_OPTIONS;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    fit: Fit,
}

/// Options of `unmix fit` that are neither in the table of reading options nor in that of run options: its input, its output, tables in addition
/// to the settings, weights, a title, and what is computed in addition to the model.
const OWN: [&str; 15] = [
    "--bootstrap",
    "--codes",
    "--components",
    "--dict-init",
    "--dictionary",
    "--force",
    "--help",
    "--output",
    "--set",
    "--stability",
    "--strict",
    "--sums",
    "--title",
    "--weights",
    "--weights-column",
];

/// The options of a fit with these words added to the command.
fn fit(words: &[&str]) -> Fit {
    let line = Line::try_parse_from(["unmix", "pca", "d.npy"].iter().chain(words));
    line.unwrap_or_else(|e| panic!("{words:?}: {e}")).fit
}

#[test]
fn a_fit_has_the_run_options_of_the_table() {
    let command = Line::command();
    let mut own: BTreeSet<String> =
        command.get_arguments().filter_map(|a| a.get_long()).map(|long| format!("--{long}")).collect();
    let reading = READING_OPTIONS.iter().flat_map(|option| option.flags);
    let others: Vec<&str> = reading.chain(&OWN).copied().collect();
    own.retain(|flag| !others.contains(&flag.as_str()));
    let table = RUN_OPTIONS.iter().filter_map(|option| option.flag).map(String::from);
    assert_eq!(own, table.collect());
}

/// The options of a run, as text.
fn options_text(words: &[&str]) -> String {
    let fit = fit(words);
    let progress = Progress::new(&Running { threads: None, quiet: true });
    let run = run_of(&fit, &progress);
    let checkpoint = checkpoint(&fit);
    format!(
        "{} {} {:?} {checkpoint:?} {:?} {} {}",
        run.seed, run.threads, run.max_seconds, fit.init, fit.running.quiet, fit.keep_interrupted
    )
}

#[test]
fn every_run_option_changes_the_options_of_a_fit() {
    let value = |option: &RunOption| Some(option.example).filter(|value| !value.is_empty());
    for option in RUN_OPTIONS {
        let Some(flag) = option.flag else { continue };
        let before = if option.field.starts_with("checkpoint.") { &["--checkpoint", "c"][..] } else { &[] };
        let own: Vec<&str> = [flag].into_iter().chain(value(option)).collect();
        // The number of threads is that of the machine by default, which may be the one of the example.
        let before = if flag == "--threads" { &["--threads", "3"][..] } else { before };
        let with = if flag == "--threads" { own.clone() } else { [before, &own].concat() };
        assert_ne!(options_text(&with), options_text(before), "{flag}");
    }
}

#[test]
fn defaults_are_those_of_the_library() {
    let default = Run::default();
    let fit = fit(&[]);
    assert_eq!((fit.seed, fit.max_seconds, fit.resume), (default.seed, default.max_seconds, false));
    assert!(fit.checkpoint.is_none() && fit.init.is_none() && fit.running.threads.is_none());
    let every = RUN_OPTIONS.iter().find(|option| option.field == "checkpoint.every").unwrap().default;
    assert_eq!(fit.every, every.parse::<f64>().unwrap());
}
