//! Sparse autoencoders on rows whose atoms are known, and on activations of a language model.

mod activations;
mod toy;

use crate::Experiment;
use crate::lab::Lab;
use crate::measure::unit_rows;
use serde_json::Value;
use unmix::internal::autoencoder::random_atoms;
use unmix::internal::num::factor;
use unmix::metrics::assignment;
use unmix::{AnyRows, Matrix, Model, Real, Result, Rows};
use unmix_report::{Content, Sheet};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "sae-activations",
    source: "ReLU (Bricken et al. 2023), top-k (Gao et al. 2024), JumpReLU and gated units (Rajamanoharan et al. 2024), measured for comparison",
    summary: "sparse autoencoders on rows whose atoms are known, and with --activations FILE on activations of a language model: variance explained, dead units, and agreement between seeds",
    run,
};

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let mut sheet = Sheet::new("Sparse autoencoders", 2);
    toy::run(lab, &mut sheet)?;
    match lab.options.activations.clone() {
        Some(path) => activations::run(lab, &path, &mut sheet)?,
        None => lab.note("Activations of a language model: not run without --activations FILE.")?,
    }
    lab.figure("sae-activations", &sheet)
}

/// Fits one autoencoder.
fn fit<T: Real>(lab: &Lab<'_>, settings: &Value, x: &[T], p: usize, seed: u64) -> Result<Model>
where
    for<'r> AnyRows<'r>: From<Rows<'r, T>>,
{
    let mut rows = AnyRows::from(Rows::from_slice(x, p)?);
    Lab::fit_given("sae", settings.clone(), &[], &mut rows, &lab.run_of(seed, None))
}

/// A number of the report of a fit.
fn diagnostic(model: &Model, name: &str) -> f64 {
    model.report().diagnostics.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

/// Cosines of the rows of `a` with rows of `b` (unit rows, at least as many), paired so that their sum is largest; descending. Codes are
/// positive: the opposite of an atom is another atom.
fn cosines(a: &Matrix<f64>, b: &Matrix<f64>) -> Vec<f64> {
    let alike = factor::multiply_transposed(a, b);
    let order = assignment(&Matrix::from_fn(a.rows(), b.rows(), |i, j| 1.0 - alike[(i, j)]));
    let mut out: Vec<f64> = order.into_iter().enumerate().map(|(i, j)| alike[(i, j)]).collect();
    out.sort_by(|a, b| b.total_cmp(a));
    out
}

/// [`cosines`] of two sets of random directions, and the mean over one of them of the largest cosine with the other.
fn chance(m: usize, p: usize) -> (Vec<f64>, f64) {
    let (a, b) = (unit_rows(&random_atoms(m, p, &[], 100)), unit_rows(&random_atoms(m, p, &[], 101)));
    let alike = factor::multiply_transposed(&a, &b);
    let largest = |i: usize| alike.row(i).iter().copied().fold(-1.0, f64::max);
    let mean = (0..m).map(largest).sum::<f64>() / m as f64;
    (cosines(&a, &b), mean)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The share of cosines of at least .7.
fn found_again(cosines: &[f64]) -> f64 {
    cosines.iter().filter(|c| **c >= 0.7).count() as f64 / cosines.len().max(1) as f64
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    0.5 * (values[(values.len() - 1) / 2] + values[values.len() / 2])
}

/// Sorted cosines as lines over the share of the atoms.
fn sorted(lines: Vec<(String, Vec<f64>)>) -> Content {
    let line = |(name, cosines): (String, Vec<f64>)| {
        let n = cosines.len().max(1) as f64;
        (name, cosines.into_iter().enumerate().map(|(i, c)| ((i as f64 + 0.5) / n, c)).collect())
    };
    let names = ("share of the atoms".into(), "cosine of the pair".into());
    let lines = lines.into_iter().map(line).collect();
    Content::Lines { lines, names, log_y: false, shaded: Vec::new() }
}
