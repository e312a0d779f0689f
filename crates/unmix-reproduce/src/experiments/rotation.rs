//! The axes of linear PCA as combinations of those of sigma-PCA, and the distributions of the codes along both.

use super::published;
use crate::Experiment;
use crate::lab::{K, Lab, filters};
use crate::measure;
use crate::pictures::PublishedPictures;
use serde_json::json;
use unmix::internal::num::factor;
use unmix::{Matrix, Result};
use unmix_report::{Content, Sheet};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "rotation",
    source: "Fig 8 of sigma-PCA, arXiv 2311.13580v3",
    summary: "every filter of linear PCA is a mixture of a few sigma-PCA filters of similar variance",
    run,
};

pub(super) const OUTPUTS: Experiment = Experiment {
    key: "outputs",
    source: "Fig 12 of sigma-PCA, arXiv 2311.13580v3",
    summary: "histograms of the first codes: heavier tails along the filters of sigma-PCA than along those of linear PCA",
    run: outputs,
};

/// Weights below this are not shown.
const LEAST_SHOWN_WEIGHT: f64 = 0.2;

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let set = lab.patches()?;
    let nonlinear = lab.converged(&set)?;
    let linear = filters(&lab.fit_patches("pca", json!({"n_components": K}), &set)?);
    let r = rotation(&factor::multiply_transposed(&nonlinear, &linear))?;
    let mut sheet =
        Sheet::new("Filters of linear PCA (first), and the sigma-PCA filters that they are mixtures of", 2);
    let (mut distance, mut partners) = (0.0, 0usize);
    for i in 0..K {
        let mut parts: Vec<usize> = (0..K).filter(|&j| r.row(j)[i].abs() > LEAST_SHOWN_WEIGHT).collect();
        parts.sort_by(|a, b| r.row(*b)[i].abs().total_cmp(&r.row(*a)[i].abs()));
        let far: f64 = parts.iter().map(|&j| (i as f64 - j as f64).abs()).sum();
        (distance, partners) = (distance + far, partners + parts.len());
        if i < 16 {
            let chosen: Vec<&[f64]> = std::iter::once(linear.row(i))
                .chain(parts.iter().take(7).map(|&j| nonlinear.row(j)))
                .collect();
            let blank = vec![0.0; linear.cols()];
            let vectors = Matrix::from_fn(8, linear.cols(), |a, b| chosen.get(a).map_or(blank[b], |v| v[b]));
            let weights: Vec<String> = parts.iter().take(7).map(|&j| format!("{:.2}", r.row(j)[i])).collect();
            sheet.add(
                format!("PCA {i}: {}", weights.join(" ")),
                Content::Pictures { vectors, shape: set.shape.clone(), columns: 8 },
            );
        }
    }
    lab.figure("rotation", &sheet)?;
    let mean = partners as f64 / K as f64;
    lab.beside(
        "partners of a linear filter, mean",
        mean,
        "1-4",
        "a range for single filters, and this is their mean",
    )?;
    let mean = distance / partners.max(1) as f64;
    lab.check(
        "distance of partners in the order of variances, mean",
        mean,
        "1.5 (CIFAR-10)",
        "at most 4",
        mean <= 4.0,
    )
}

fn outputs(lab: &mut Lab<'_>) -> Result<()> {
    let set = lab.patches()?;
    let nonlinear = lab.converged(&set)?;
    let linear = filters(&lab.fit_patches("pca", json!({"n_components": K}), &set)?);
    let some = &set.x[..set.len().min(64_000) * set.n_features()];
    let (a, b) = (measure::scores(some, &nonlinear), measure::scores(some, &linear));
    let (ours, theirs) = (measure::moments(&a), measure::moments(&b));
    let mut sheet = Sheet::new(
        "Densities of the first 15 codes, in standard deviations, with the standard normal density",
        5,
    );
    for j in 0..15.min(K) {
        let mut normal: Vec<(f64, f64)> = (-50..=50)
            .map(|i| f64::from(i) / 10.0)
            .map(|z| (z, (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt()))
            .collect();
        normal.retain(|p| p.1 > 1e-5);
        let lines = vec![("sigma-PCA".into(), histogram(&a, j, ours[j].0)), ("normal".into(), normal)];
        let published = match set.known {
            PublishedPictures::Cifar10 => published::OUTPUTS[j].to_string(),
            _ => String::new(),
        };
        let quantity = format!("code {j}: excess kurtosis");
        lab.beside(quantity, ours[j].1, &published, "other patches; the condition is about their signs")?;
        sheet.add(
            format!("code {j}: kurtosis {:.1}", ours[j].1),
            Content::Lines { lines, names: ("z".into(), String::new()), log_y: true, shaded: Vec::new() },
        );
    }
    lab.figure("outputs", &sheet)?;
    let positive = ours.iter().take(15).filter(|m| m.1 > 0.0).count();
    lab.check(
        "of the first 15, codes of positive excess kurtosis",
        positive as f64,
        "14",
        "at least 12",
        positive >= 12,
    )?;
    let mut all: Vec<f64> = ours.iter().map(|m| m.1).collect();
    all.sort_by(f64::total_cmp);
    let median = (all[K / 2 - 1] + all[K / 2]) / 2.0;
    lab.beside(
        "median of the excess kurtosis",
        median,
        "6.1 (CIFAR-10)",
        "of other patches, or other pictures",
    )?;
    let mean = |m: &[(f64, f64)]| m.iter().map(|m| m.1).sum::<f64>() / m.len() as f64;
    let ratio = mean(&ours) / mean(&theirs);
    lab.check(
        "mean excess kurtosis, over that of linear PCA",
        ratio,
        "7.1 over 2.8 (CIFAR-10)",
        "above 1.3",
        ratio > 1.3,
    )
}

/// The rotation nearest to `a`: the orthogonal factor of its polar decomposition, `A (A'A)^-1/2`.
fn rotation(a: &Matrix<f64>) -> Result<Matrix<f64>> {
    let (values, v) = factor::eigh(&factor::multiply(&a.transposed(), a))?;
    let scaled =
        Matrix::from_fn(v.rows(), v.cols(), |i, j| v.row(i)[j] / values[i].max(f64::MIN_POSITIVE).sqrt());
    Ok(factor::multiply(a, &factor::multiply(&v.transposed(), &scaled)))
}

/// Density of column `j` in standard deviations, from -8 to 8.
fn histogram(y: &Matrix<f64>, j: usize, variance: f64) -> Vec<(f64, f64)> {
    const BINS: usize = 80;
    let (scale, n) = (1.0 / variance.sqrt(), y.rows() as f64);
    let mut counts = [0usize; BINS];
    for i in 0..y.rows() {
        let at = (y.row(i)[j] * scale + 8.0) * BINS as f64 / 16.0;
        if (0.0..BINS as f64).contains(&at) {
            counts[at as usize] += 1;
        }
    }
    let width = 16.0 / BINS as f64;
    counts
        .iter()
        .enumerate()
        .map(|(i, c)| ((i as f64 + 0.5) * width - 8.0, *c as f64 / (n * width)))
        .collect()
}
