//! Filters of picture patches by linear PCA, the published losses, and FastICA.

use super::panels::{Panels, pixels};
use super::published;
use crate::Experiment;
use crate::lab::{K, Lab, SMALLER_PUBLISHED_RATE, filters, rule, rule_of, trained, trained_linear};
use crate::measure::{self, Decoder};
use crate::pictures::{PatchSet, PublishedPictures};
use serde_json::json;
use unmix::internal::num::factor;
use unmix::{Matrix, Model, Result};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "filters",
    source: "Fig 4 of sigma-PCA, arXiv 2311.13580v3, section 4.2",
    summary: "32 filters of picture patches: mixtures of waves by linear PCA, single bars by the main loss, neither by the other \
        losses",
    run,
};

pub(super) const MORE: Experiment = Experiment {
    key: "more-filters",
    source: "Figs 7 and 17 of sigma-PCA, arXiv 2311.13580v3",
    summary: "64 filters: linear, nonlinear, and with an adaptive, asymmetric nonlinearity",
    run: more,
};

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let mut panels = Panels::new(lab, "32 filters of picture patches, by variance", 4)?;
    let set = panels.set.clone();
    let pca = lab.fit_patches("pca", json!({"n_components": K}), &set)?;
    let linear = panels.add(lab, "linear PCA", &filters(&pca), Some(Decoder::Linear))?;
    spectrum(lab, &pca, &set)?;
    let settings = trained_linear(lab, "weighted-unit-loss");
    let w = filters(&lab.fit_patches("neural-pca", settings, &set)?);
    panels.add(lab, "linear, weighted unit-norm loss", &w, Some(Decoder::Linear))?;
    let narrow = panels.train(lab, "nonlinear, a = 1", "ema-tanh", json!({}))?;
    let main = panels.train(lab, "nonlinear, a = 4", "ema-scaled-tanh", json!({}))?;
    panels.train(lab, "no stop-gradient", "trained-sigma-full", json!({}))?;
    let w = rule(lab, &set, "decoder-kept")?;
    let decoder = Decoder::of(&rule_of("decoder-kept")?);
    let kept = panels.add(lab, "decoder contribution kept, a = 4", &w, decoder)?;
    let old = panels.train(lab, "conventional nonlinear PCA", "conventional", json!({}))?;
    let w = panels.others.filters.clone();
    let solved = panels.add(lab, "sigma-PCA's default solver, a = 4", &w, Some(Decoder::tanh(4.0)))?;
    let ica = filters(&lab.fit_patches("fastica", json!({"n_components": K, "tol": 1e-3}), &set)?);
    panels.add(lab, "FastICA, unit rows", &measure::unit_rows(&ica), None)?;
    lab.figure("filters", &panels.sheet)?;
    whitened(lab, &pca, &ica, &set)?;
    lab.check(
        "a = 4: kurtosis over that of linear PCA",
        main.kurtosis / linear.kurtosis,
        "2.3-3.1",
        "above 1.3",
        main.kurtosis > 1.3 * linear.kurtosis,
    )?;
    let ratio = main.pixels / linear.pixels;
    pixels(lab, &set, "a = 4: effective pixels over those of linear PCA", ratio, ".71-.79", 0.9)?;
    for (name, seen) in [("a = 1", narrow), ("conventional", old), ("decoder kept", kept)] {
        let (ours, main) = (seen.agreement, main.agreement);
        lab.check(
            format!("{name}: agreement with the converged filters, less that of a = 4"),
            ours - main,
            "-.4 to -.7",
            "below -.1",
            ours < main - 0.1,
        )?;
    }
    if set.known == PublishedPictures::Cifar10 {
        let kurtosis = solved.kurtosis;
        let holds = (6.5..=8.5).contains(&kurtosis);
        lab.check("the solver: mean excess kurtosis", kurtosis, "6.5-8.5", "from 6.5 to 8.5", holds)?;
    }
    lab.check(
        "the solver: orthonormality",
        solved.orthonormality,
        "",
        "at most 1e-6",
        solved.orthonormality <= 1e-6,
    )
}

/// On white patches sigma-PCA is nearly FastICA: on all rows, and on the number of rows of the published measurement.
fn whitened(lab: &mut Lab<'_>, pca: &Model, ica: &Matrix<f64>, set: &PatchSet) -> Result<()> {
    let axes = filters(pca);
    let all = agreement(lab, &set.x, &axes, ica)?;
    lab.number("sigma-PCA of white patches, all rows: mean cosine with FastICA", all.mean)?;
    let p = set.n_features();
    let few = PatchSet { x: set.x[..set.len().min(16_000) * p].to_vec(), ..(*set).clone() };
    let ica = filters(&lab.fit_patches("fastica", json!({"n_components": K, "tol": 1e-3}), &few)?);
    let matched = agreement(lab, &set.x[..set.len().min(32_000) * p], &axes, &ica)?;
    let (mean, close) = (matched.mean, matched.close);
    let mean_of = "sigma-PCA of 32000 white patches: mean cosine with FastICA of 16000";
    let close_of = "sigma-PCA of 32000 white patches: cosines above .95 with FastICA of 16000";
    if set.known == PublishedPictures::Cifar10 {
        lab.check(mean_of, mean, ".877", "from .82 to .93", (0.82..=0.93).contains(&mean))?;
        return lab.check(close_of, close as f64, "15", "at least 10", close >= 10);
    }
    lab.beside(mean_of, mean, ".877 (CIFAR-10)", "published for other pictures")?;
    lab.beside(close_of, close as f64, "15 (CIFAR-10)", "published for other pictures")
}

/// Agreement of the components of sigma-PCA on the whitened codes of linear PCA with FastICA in these coordinates.
fn agreement(
    lab: &Lab<'_>,
    x: &[f32],
    axes: &Matrix<f64>,
    ica: &Matrix<f64>,
) -> Result<measure::MatchedCosines> {
    let y = measure::scores(x, axes);
    let deviations: Vec<f64> = measure::moments(&y).iter().map(|m| m.0.sqrt()).collect();
    let white = Matrix::from_fn(y.rows(), K, |i, j| y.row(i)[j] / deviations[j]);
    drop(y);
    let settings = json!({"n_components": K, "a": 4.0, "max_iter": 60, "tol": 1e-4});
    let ours = filters(&lab.fit("sigma-pca", settings, &white)?);
    let inside = factor::multiply_transposed(ica, axes);
    let theirs = Matrix::from_fn(K, K, |i, j| inside.row(i)[j] * deviations[j]);
    Ok(measure::matched(&ours, &measure::unit_rows(&theirs)))
}

/// Compares the spectrum with the published one, if it is known for these pictures.
fn spectrum(lab: &mut Lab<'_>, pca: &Model, set: &PatchSet) -> Result<()> {
    let variances = pca.tensor("explained_variance").map(|t| t.f64s()).unwrap_or_default();
    let Some(published) = published::spectrum(set.known) else {
        for (i, ours) in variances.iter().take(5).enumerate() {
            lab.number(format!("eigenvalue {i} of the patches"), *ours)?;
        }
        return left(lab, &variances, set);
    };
    for (i, (ours, published_one)) in variances.iter().zip(published.eigenvalues).enumerate() {
        let holds = (published.holds)(*ours, published_one);
        let quantity = format!("eigenvalue {i} of the patches");
        lab.check(quantity, *ours, &published_one.to_string(), published.condition, holds)?;
    }
    if let Some(published_one) = published.total {
        let ours = total(set);
        let holds = (published.holds)(ours, published_one);
        lab.check("sum of all eigenvalues", ours, &published_one.to_string(), published.condition, holds)?;
    }
    left(lab, &variances, set)
}

/// Mean square of the patches.
fn total(set: &PatchSet) -> f64 {
    set.x.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>() / set.len() as f64
}

/// Loss of the reconstruction from the leading axes, compared with the published loss of that rank.
fn left(lab: &mut Lab<'_>, variances: &[f64], set: &PatchSet) -> Result<()> {
    let ours = total(set) - variances.iter().sum::<f64>();
    let quantity = format!("loss of rank {}", variances.len());
    let at = variances.len() / K - 1;
    match published::spectrum(set.known).and_then(|s| s.losses.get(at).copied().flatten()) {
        Some(loss) => lab.check(quantity, ours, &loss.to_string(), "within .01", (ours - loss).abs() < 0.01),
        None => lab.number(quantity, ours),
    }
}

fn more(lab: &mut Lab<'_>) -> Result<()> {
    let mut panels = Panels::new(lab, "64 filters of picture patches, by variance", 3)?;
    let set = panels.set.clone();
    let first = panels.others.filters.clone();
    let k = 64.min(set.n_features());
    let settings = json!({"n_components": k, "a": 4.0, "max_iter": 80, "tol": 1e-3});
    let solved = std::rc::Rc::new(filters(&lab.fit_patches("sigma-pca", settings, &set)?));
    panels.others.filters = solved.clone();
    let pca = lab.fit_patches("pca", json!({"n_components": k}), &set)?;
    let linear = panels.add(lab, "linear PCA", &filters(&pca), Some(Decoder::Linear))?;
    left(lab, &pca.tensor("explained_variance").map(|t| t.f64s()).unwrap_or_default(), &set)?;
    let a4 = panels.add(lab, "nonlinear, a = 4", &solved, Some(Decoder::tanh(4.0)))?;
    let settings = trained(lab, "ema-adaptive-tanh", k, json!({"learning_rate": SMALLER_PUBLISHED_RATE}));
    let w = filters(&lab.fit_patches("sigma-pca", settings, &set)?);
    let decoder = Decoder::of(&rule_of("ema-adaptive-tanh")?);
    let adaptive = panels.add(lab, "adaptive, asymmetric", &w, decoder)?;
    lab.figure("filters-64", &panels.sheet)?;
    lab.check(
        "nonlinear over linear: effective pixels",
        a4.pixels / linear.pixels,
        "below 1",
        "below 1",
        a4.pixels < linear.pixels,
    )?;
    let ratio = adaptive.pixels / a4.pixels;
    let published = ".4 (MNIST), .9 (CIFAR-10)";
    pixels(lab, &set, "adaptive over a = 4: effective pixels", ratio, published, asymmetric_bar(&set))?;
    let agreement = measure::matched(&first, &solved);
    let quantity = "the 32 axes found among these 64";
    lab.beside(quantity, agreement.mean, ".990 (CIFAR-10)", "of other patches, or other pictures")
}

/// Upper bound on the effective pixels of filters of an asymmetric nonlinearity relative to symmetric ones: measured on digits,
/// which are grey; for colour pictures it is only known that the filters are smaller.
pub(super) fn asymmetric_bar(set: &PatchSet) -> f64 {
    if set.channels() == 1 { 0.75 } else { 1.0 }
}
