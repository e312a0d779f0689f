//! The options of each command.

#[cfg(test)]
mod tests;

use super::{Inputs, Reading, Running, Writing};
use clap::Args;
use std::path::{Path, PathBuf};
use unmix::biclusters::Refits;
use unmix::impute::ImputeOptions;
use unmix::model::ComponentSelection;
use unmix::stability::{DEFAULT_RESAMPLES, FEWEST_RESAMPLED, Trials};

#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// Output folder
    #[arg(short, long, value_name = "DIR", default_value = "unmix-demo")]
    pub(crate) output: PathBuf,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Args, Debug)]
pub(crate) struct Fit {
    /// The method: see 'unmix methods'
    pub(crate) method: String,
    #[command(flatten)]
    pub(crate) input: Inputs,
    /// Number of components: a number, a share of the variance such as 0.9, 'all', or a rule (see --help)
    ///
    /// Rules: 'minka' ('mle'), 'bic', 'gavish-donoho', 'gap', 'gap-difference', 'parallel', 'cv', or a share as 'share-0.9';
    /// 'unmix select' shows the result of each.
    #[arg(short = 'k', long = "components", value_name = "N", allow_hyphen_values = true)]
    pub(crate) k: Option<String>,
    /// The model file [default: <name of INPUT>.<method>.safetensors in this folder]
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
    /// A setting of the method, as in whiten=true; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, serde_json::Value)>,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Stop iterating after S seconds and keep the model of the last iteration
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) max_seconds: Option<f64>,
    /// On Ctrl-C end the iterations and keep their model (outcome 'interrupted'); a second Ctrl-C ends without a model
    #[arg(long)]
    pub(crate) keep_interrupted: bool,
    /// Write the state of the iterations to FILE, so that a killed fit can be resumed; removed once the model is written
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Write the checkpoint every S seconds
    #[arg(long, value_name = "S", value_parser = seconds, default_value_t = 60.0, requires = "checkpoint")]
    pub(crate) every: f64,
    /// Continue from the checkpoint, or start from the beginning if there is none
    #[arg(long, requires = "checkpoint")]
    pub(crate) resume: bool,
    /// Start from the parameters of MODEL instead of the method's initial values
    #[arg(long, value_name = "MODEL")]
    pub(crate) init: Option<PathBuf>,
    /// The dictionary, for methods that need one: a file with an atom in every row, or a model, whose components are used
    #[arg(long, value_name = "FILE|MODEL")]
    pub(crate) dictionary: Option<PathBuf>,
    /// The initial dictionary, for methods that learn one: a file with an atom in every row, or a model
    #[arg(long, value_name = "FILE|MODEL", conflicts_with = "init")]
    pub(crate) dict_init: Option<PathBuf>,
    /// Target codes of the rows of INPUT, for supervised training: a file with as many rows, and a number for each atom
    #[arg(long, value_name = "FILE")]
    pub(crate) codes: Option<PathBuf>,
    /// Title above the summary, and of pages of the model that have no other
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Exit with code 1 when the fit did not converge, and keep an existing model file
    #[arg(long)]
    pub(crate) strict: bool,
    /// Replace an existing file even if it is not an unmix model
    #[arg(long)]
    pub(crate) force: bool,
    /// Sample weights: a file with one number for each row; 2 counts a row twice
    #[arg(long, value_name = "FILE", conflicts_with = "weights_column")]
    pub(crate) weights: Option<PathBuf>,
    /// Sample weights: a column of INPUT, by name or number
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weights_column: Option<String>,
    #[arg(long, value_name = "N", num_args = 0..=1, value_parser = clap::value_parser!(u16).range(1..=1000), help = stability())]
    pub(crate) stability: Option<Option<u16>>,
    #[arg(long, value_name = "B", requires = "stability", value_parser = clap::value_parser!(u16).range(0..=1000), help = resamples())]
    pub(crate) bootstrap: Option<u16>,
    /// INPUT lists cells: row, column and value of each, rows and columns numbered from 0. All other cells are missing for
    /// matrix-completion, 0 for methods that accept sparse rows
    #[arg(long, conflicts_with_all = ["weights", "weights_column", "stability"])]
    pub(crate) triplets: bool,
    /// Keep the sums over the rows in the model, so that models can be merged and extended by partial_fit
    #[arg(long)]
    pub(crate) sums: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) running: Running,
}

impl Fit {
    /// The files that the fit reads, with `files` those of its rows. Not the model of `--init`, which its continuation may replace.
    pub(crate) fn files_read<'a>(&'a self, files: &'a [PathBuf]) -> Vec<&'a Path> {
        let side = [&self.dictionary, &self.dict_init, &self.codes, &self.weights];
        self.reading.files_read(files.iter().chain(side.into_iter().flatten()))
    }
}

#[derive(Args, Debug)]
pub(crate) struct Merge {
    /// Models that hold their sums: fitted with --sums, or extended by partial_fit
    #[arg(value_name = "MODEL", required = true, num_args = 2..)]
    pub(crate) models: Vec<PathBuf>,
    /// The model file
    #[arg(short, long, value_name = "MODEL", default_value = "merged.safetensors")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file even if it is not an unmix model
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Args, Debug)]
pub(crate) struct Export {
    /// A model that 'unmix fit' has written
    pub(crate) model: PathBuf,
    /// The folder, which is created if it does not exist
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// The program for which it is written
    #[arg(long, value_parser = ["saelens"])]
    pub(crate) to: String,
    /// Type of the numbers [default: that of the model]
    #[arg(long, value_name = "TYPE", value_parser = unmix::method::sae::saelens::Precision::NAMES)]
    pub(crate) dtype: Option<String>,
    /// Replace existing files in the folder
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Import {
    /// A folder with sae_weights.safetensors and cfg.json
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The model file
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: PathBuf,
    /// Replace an existing file even if it is not an unmix model
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Apply {
    /// A model that 'unmix fit' has written
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) input: Inputs,
    #[command(flatten)]
    pub(crate) writing: Writing,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) running: Running,
}

impl Apply {
    /// The files that the command reads, with `files` those of its rows.
    pub(crate) fn files_read<'a>(&'a self, files: &'a [PathBuf]) -> Vec<&'a Path> {
        self.reading.files_read(files.iter().chain([&self.model]))
    }
}

#[derive(Args, Debug)]
pub(crate) struct Encode {
    #[command(flatten)]
    pub(crate) apply: Apply,
    /// The cluster of each row instead of codes, for models of clusters
    #[arg(long)]
    pub(crate) labels: bool,
    /// INPUT lists cells, as for 'unmix fit --triplets': row, column and value of each
    #[arg(long, conflicts_with = "labels")]
    pub(crate) triplets: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Reconstruct {
    #[command(flatten)]
    pub(crate) apply: Apply,
    /// Subtract the contribution of these components from the rows and keep everything else, also what no component explains;
    /// by number from 0, range or name, as in 0,3-5,ica7; -1 is the last
    #[arg(long, value_name = "A,B", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) exclude: Vec<ComponentSelection>,
    /// Reconstruct from these components alone, named as for --exclude [default: from all]
    #[arg(
        long,
        value_name = "A,B",
        value_delimiter = ',',
        allow_hyphen_values = true,
        conflicts_with = "exclude"
    )]
    pub(crate) only: Vec<ComponentSelection>,
}

#[derive(Args, Debug)]
pub(crate) struct Impute {
    #[command(flatten)]
    pub(crate) apply: Apply,
    /// A file for the standard error of each filled cell, as the prediction of a new observation; 0 for observed cells
    #[arg(long, value_name = "FILE")]
    pub(crate) std: Option<PathBuf>,
    /// INPUT lists cells: row, column and value of each, and those without a value are filled; or row and column alone, of the rows of
    /// the fit. OUT lists row, column and value
    #[arg(long, conflicts_with_all = ["draws", "bootstrap"])]
    pub(crate) triplets: bool,
    /// Number of draws for multiple imputation, written next to OUT: full.1.csv, full.2.csv, ... for full.csv
    #[arg(long, value_name = "M", default_value_t = 0)]
    pub(crate) draws: usize,
    /// Number of bootstrap refits, for errors and draws of the rows of the fit; 0 treats the parameters as known
    #[arg(long, value_name = "B", default_value_t = ImputeOptions::default().bootstrap)]
    pub(crate) bootstrap: usize,
    /// End the refits after S seconds; errors and draws are from those that are complete by then
    #[arg(long, value_name = "S", value_parser = seconds, conflicts_with = "triplets")]
    pub(crate) max_seconds: Option<f64>,
}

#[derive(Args, Debug)]
pub(crate) struct Score {
    #[command(flatten)]
    pub(crate) apply: Apply,
    /// INPUT lists cells of the rows of a matrix completion: row, column and value of each. Write value minus predicted value of each cell;
    /// with --summary print the root mean square error, and the fraction of cells inside their 95 % intervals. Give cells that were not in the
    /// fit
    #[arg(long, conflicts_with_all = ["quality", "reference"])]
    pub(crate) triplets: bool,
    /// Print the mean and the range instead of one number per row; for sparse autoencoders also statistics of the units
    #[arg(long, conflicts_with_all = ["output", "format"])]
    pub(crate) summary: bool,
    /// Write Hotelling's T2 and Q (squared reconstruction error) of each row instead of its score; Q alone for methods other than pca,
    /// neural-pca and sigma-pca, and other measures for sparse codes
    #[arg(long, conflicts_with = "summary")]
    pub(crate) quality: bool,
    /// With --quality: also the contribution of each component and of each column
    #[arg(long, requires = "quality")]
    pub(crate) parts: bool,
    /// Write the correlation of each component with a file's columns, or with a column of INPUT, instead
    #[arg(long, value_name = "FILE|COLUMN", conflicts_with_all = ["summary", "quality"])]
    pub(crate) reference: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Modules {
    /// A model of non-negative codes that 'unmix fit' has written
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) input: Inputs,
    /// Number of fits whose units are pooled; 0 uses the units of MODEL alone
    #[arg(long, value_name = "N", default_value_t = Refits::default().starts)]
    pub(crate) starts: usize,
    #[arg(long, value_name = "N", help = permutations())]
    pub(crate) permutations: Option<usize>,
    /// End all fits after S seconds; keep the modules found so far
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) max_seconds: Option<f64>,
    /// A file for the members of all modules, a line each: module, row or column, number, name, sign of the loading
    #[arg(short, long, value_name = "CSV")]
    pub(crate) output: Option<PathBuf>,
    /// Random seed [default: that of the model]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Args, Debug)]
pub(crate) struct Show {
    /// A model, or data files or a folder of them, as for 'unmix fit'
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// A file for the loadings of a factor analysis, a line for each column: name, loadings in standard deviations of the column, uniqueness,
    /// communality
    #[arg(long, value_name = "CSV")]
    pub(crate) loadings: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Args, Debug)]
pub(crate) struct Select {
    #[command(flatten)]
    pub(crate) input: Inputs,
    /// The method; for those with a likelihood, such as ppca, a table with a line for each number of components
    #[arg(long, value_name = "KEY", default_value = "pca")]
    pub(crate) method: String,
    /// Rules, separated by commas; a number is a share of the variance [default: all but parallel and cv]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) rules: Vec<String>,
    /// The largest number of components [default: until three in a row improve neither BIC nor held-out cells]
    #[arg(long, value_name = "N")]
    pub(crate) max_components: Option<usize>,
    /// End the fits of the table after S seconds; it has a line for each number whose fits are complete by then
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) max_seconds: Option<f64>,
    /// A setting of a method with a likelihood, as in --method ppca --set standardize=true; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, serde_json::Value)>,
    /// Random seed of the rules parallel, cv and cells
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Args, Debug)]
pub(crate) struct Report {
    /// A model that 'unmix fit' has written
    pub(crate) model: PathBuf,
    /// Rows whose codes and reconstructions are shown
    #[arg(value_name = "INPUT")]
    pub(crate) input: Vec<PathBuf>,
    /// The page
    #[arg(short, long, value_name = "PAGE", default_value = "report.html")]
    pub(crate) output: PathBuf,
    /// INPUT lists cells, as for 'unmix fit --triplets': row, column and value of each
    #[arg(long, requires = "input")]
    pub(crate) triplets: bool,
    /// Sampling rate, in rows per second: draws time courses and spectra [default: that of .wav files]
    #[arg(long, value_name = "HZ", requires = "input", value_parser = rate)]
    pub(crate) rate: Option<f64>,
    /// Positions of the sensors, one per column: a table with columns x and y (and z), or theta_deg (from the nose) and radius
    #[arg(long, value_name = "FILE")]
    pub(crate) positions: Option<PathBuf>,
    /// Another model of the same columns, whose components are paired with this one's
    #[arg(long, value_name = "MODEL")]
    pub(crate) beside: Option<PathBuf>,
    /// Colour points by a column of INPUT (name or number), by a file with one value per row, or by a column of another table
    #[arg(long, value_name = "COLUMN|FILE|FILE:COLUMN", requires = "input")]
    pub(crate) color: Option<String>,
    /// Two components whose codes are the axes of a scatter plot, as in 0,3; may be given several times [default: 0,1 and 0,2]
    #[arg(long, value_name = "A,B", requires = "input", value_parser = pair)]
    pub(crate) pair: Vec<(usize, usize)>,
    /// Number of fits from different starts whose units are pooled into modules [default: the units of MODEL alone]
    #[arg(long, value_name = "N", requires = "input")]
    pub(crate) starts: Option<usize>,
    #[arg(long, value_name = "N", requires = "starts", help = permutations())]
    pub(crate) permutations: Option<usize>,
    /// End the fits of the modules after S seconds; keep the modules found so far
    #[arg(long, value_name = "S", requires = "starts", value_parser = seconds)]
    pub(crate) max_seconds: Option<f64>,
    /// Title of the page [default: that of the fit, or else the method and the data]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Args, Debug)]
pub(crate) struct Methods {
    /// One method
    pub(crate) method: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Help of `--stability`. Like the next two it is not a comment, because the defaults in it are those of the library.
fn stability() -> String {
    let Trials { splits, restarts, .. } = Trials::default();
    format!(
        "Test which components are reproducible: fit both halves of N random splits of the rows (default {splits}), and all rows from other \
         seeds ({restarts}, or N if that is fewer). Few splits give wide intervals and more undecided components. Components are assessed one \
         by one; for modules of rows and columns use 'unmix biclusters'"
    )
}

/// Help of `--bootstrap` of a fit.
fn resamples() -> String {
    format!(
        "With --stability: estimate the sampling error of the agreement of halves from B resamples of the rows, which costs 8 B fits of half \
         as many rows; 0 for a bound from simulations. Default: {DEFAULT_RESAMPLES}, with which there are about five times as many fits in \
         all; 0 with fewer than {FEWEST_RESAMPLED} rows, or blocks of autocorrelated rows, and for subspace clustering"
    )
}

/// Help of `--permutations`.
fn permutations() -> String {
    format!(
        "Number of copies of the rows with permuted columns, for q-values of pooled modules; each is fitted the same number of times \
         [default: {}]",
        Refits::default().permutations
    )
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s > 0.0 && s.is_finite() => Ok(s),
        _ => Err("give a number of seconds above 0".into()),
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(hz) if hz > 0.0 && hz.is_finite() => Ok(hz),
        _ => Err("give the number of rows per second, as in 250".into()),
    }
}

/// Parses two numbers, separated by a comma.
fn pair(text: &str) -> Result<(usize, usize), String> {
    let numbers =
        text.split_once(',').and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    numbers.ok_or_else(|| "give two numbers of components, as in 0,3".into())
}

/// Parses `key=value`; the value is JSON, or else a string.
fn key_value(text: &str) -> Result<(String, serde_json::Value), String> {
    let (key, value) = text.split_once('=').ok_or("write it as KEY=VALUE, as in whiten=true")?;
    if key.trim().is_empty() {
        return Err("write it as KEY=VALUE, as in whiten=true".into());
    }
    Ok((key.trim().into(), json_or_word(value.trim())))
}

/// Parses a value as JSON, or else as a string.
pub(crate) fn json_or_word(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}
