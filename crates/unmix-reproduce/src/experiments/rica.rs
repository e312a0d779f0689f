//! Reconstruction with a sparsity term: effect of its weight, and of the units of the weight.

use crate::Experiment;
use crate::lab::{K, Lab, TrainingOptions, as_pictures, filters, train_rule};
use crate::measure;
use crate::pictures::PatchSet;
use serde_json::json;
use unmix::internal::neural::Spec;
use unmix::{Matrix, Result};
use unmix_report::Sheet;

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "rica",
    source: "Figs 18 and 19 of sigma-PCA, arXiv 2311.13580v3",
    summary: "reconstruction with a sparsity term: a fixed weight fails when the input is scaled, one in units of the input does not",
    run,
};

/// The weight, in units of the mean norm of a row, that keeps the subspace of the published patches.
const WEIGHT_THAT_WORKS: f64 = 0.01;

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let set = lab.patches()?;
    weights(lab, &set)?;
    scales(lab, &set)
}

/// Units of the weight and of the step length.
#[derive(Clone, Copy)]
enum Units {
    /// The units of the data, for both.
    Data,
    /// The weight is multiplied by the mean norm of a row; steps are in the units of the data, as published.
    Length,
    /// Rows are divided by their scale first, so that steps do not depend on units either.
    None,
}

/// Filters of the patches multiplied by `factor`.
fn learned_filters(
    lab: &Lab<'_>,
    set: &PatchSet,
    factor: f32,
    weight: f64,
    units: Units,
) -> Result<Matrix<f64>> {
    let how = TrainingOptions { absolute: !matches!(units, Units::None), ..TrainingOptions::usual(lab, set) };
    // The weight is given for rows divided by their mean length; a rule without units divides them by their scale instead.
    let weight = match units {
        Units::None => weight * length(set) / size(set),
        Units::Data | Units::Length => weight,
    };
    let by_length = matches!(units, Units::Length);
    let x: Vec<f32> = set.x.iter().map(|v| v * factor).collect();
    let change = |spec: &mut Spec| (spec.l1, spec.by_length) = (weight, by_length);
    let trained = train_rule(lab, &x, set.n_features(), "rica", how, change)?;
    Ok(measure::unit_rows(&trained.w.transposed()))
}

/// Mean norm of a row.
fn length(set: &PatchSet) -> f64 {
    let row = |r: &[f32]| r.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
    set.x.chunks(set.n_features()).map(row).sum::<f64>() / set.len() as f64
}

/// Root mean square of the entries, by which such a rule divides.
fn size(set: &PatchSet) -> f64 {
    (set.x.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>() / set.x.len() as f64).sqrt()
}

/// Fig 19: four weights with columns of unit norm.
fn weights(lab: &mut Lab<'_>, set: &PatchSet) -> Result<()> {
    let some = &set.x[..set.len().div_ceil(4) * set.n_features()];
    let variance =
        |w: &Matrix<f64>| measure::moments(&measure::scores(some, w)).iter().map(|m| m.0).sum::<f64>();
    let most = variance(&filters(&lab.fit_patches("pca", json!({"n_components": K}), set)?));
    let mut sheet = Sheet::new("Reconstruction with a sparsity term of weight beta", 4);
    for weight in [0.01, 0.1, 1.0, 2.0] {
        let w = learned_filters(lab, set, 1.0, weight, Units::Length)?;
        let share = variance(&w) / most;
        let caption = format!("beta = {weight} E|x|: retains {:.0} % of the variance", 100.0 * share);
        sheet.add(caption, as_pictures(&w, set));
        let name = format!("beta = {weight} E|x|: variance retained, relative to that of linear PCA");
        match weight {
            w if w <= 0.01 => {
                lab.check(name, share, "works from .01 to .03 (CIFAR-10)", "at least .9", share >= 0.9)?;
            }
            w if w >= 1.0 => {
                let published = "collapses to minor components (CIFAR-10)";
                lab.check(name, share, published, "below .5", share < 0.5)?;
            }
            _ => lab.beside(
                name,
                share,
                "collapses from .14 on (CIFAR-10)",
                "near the weight of the collapse, which depends on the pictures",
            )?,
        }
    }
    lab.figure("weights", &sheet)
}

/// Fig 18: three scales of the input, with a fixed weight (above) and a weight in units of the input (below).
fn scales(lab: &mut Lab<'_>, set: &PatchSet) -> Result<()> {
    let length = length(set);
    let fixed = WEIGHT_THAT_WORKS * length;
    lab.note(format!(
        "Mean length of a row: {length:.2}. The fixed weight is {fixed:.3}: what {WEIGHT_THAT_WORKS} E|x| is at scale 1."
    ))?;
    let mut sheet = Sheet::new("Input times a factor: beta fixed (above), and in units of E|x| (below)", 3);
    let rows = [
        ("beta fixed", fixed, Units::Data),
        ("beta in units of E|x|", WEIGHT_THAT_WORKS, Units::None),
        ("beta in units of E|x|, steps as published", WEIGHT_THAT_WORKS, Units::Length),
    ];
    for (name, weight, units) in rows {
        let reference = learned_filters(lab, set, 1.0, weight, units)?;
        for factor in [0.01f32, 100.0, 1000.0] {
            let w = learned_filters(lab, set, factor, weight, units)?;
            let agreement = measure::matched(&w, &reference).mean;
            let quantity = format!("input times {factor}, {name}: agreement with those of scale 1");
            match units {
                Units::Data => lab.check(quantity, agreement, "breaks", "below .95", agreement < 0.95)?,
                Units::None => {
                    lab.check(quantity, agreement, "same filters", "at least .99", agreement >= 0.99)?
                }
                Units::Length => {
                    let reason = "Adam adds 1e-7 to the magnitude of a gradient, which is not negligible for a small input";
                    lab.beside(quantity, agreement, "same filters", reason)?;
                    continue;
                }
            }
            sheet.add(format!("times {factor}, {name}: agreement {agreement:.2}"), as_pictures(&w, set));
        }
    }
    lab.figure("scales", &sheet)
}
