//! Learned standard deviations: without a penalty they grow without bound.

use super::PAPER;
use super::panels::by_variance;
use crate::Experiment;
use crate::lab::{K, Lab, TrainingOptions, as_pictures, train_rule};
use crate::measure::{self, MatchedCosines};
use crate::pictures::{PatchSet, PublishedPictures};
use std::rc::Rc;
use unmix::datasets::{Distribution, independent};
use unmix::{Matrix, Result};
use unmix_report::{Content, Sheet};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "trained-sigma",
    source: "Fig 9 of sigma-PCA, arXiv 2311.13580v3",
    summary: "learned standard deviations grow at every epoch unless their squares are penalised",
    run,
};

/// Result of a rule with learned deviations, after some epochs.
struct LearnedDeviations {
    /// Unit rows.
    w: Matrix<f64>,
    /// Learned over true deviation of each component, the smallest first.
    ratio: Vec<f64>,
    /// Median over the components of the learned over the true deviation, by epoch; the true one is that at the end.
    course: Vec<f64>,
    /// Mean over the components of the learned deviation, by epoch.
    mean: Vec<f64>,
    /// Number of components whose learned deviation grew in every epoch.
    growing: usize,
}

impl LearnedDeviations {
    fn of(lab: &Lab<'_>, x: &[f32], p: usize, how: TrainingOptions, l2: f64) -> Result<Self> {
        let trained = train_rule(lab, x, p, "trained-sigma", how, |spec| spec.sigma_l2 = l2)?;
        let w = measure::unit_rows(&trained.w.transposed());
        let truth: Vec<f64> = measure::moments(&measure::scores(x, &w)).iter().map(|m| m.0.sqrt()).collect();
        let ratios = |sigma: &Vec<f64>| {
            let mut out: Vec<f64> = sigma.iter().zip(&truth).map(|(s, t)| s / t).collect();
            out.sort_by(f64::total_cmp);
            out
        };
        let grows = |j: usize| trained.sigma.windows(2).all(|pair| pair[1][j] > pair[0][j]);
        Ok(Self {
            ratio: trained.sigma.last().map(ratios).unwrap_or_default(),
            course: trained.sigma.iter().map(|s| middle(&ratios(s))).collect(),
            mean: trained.sigma.iter().map(|s| s.iter().sum::<f64>() / s.len() as f64).collect(),
            growing: (0..truth.len()).filter(|&j| grows(j)).count(),
            w,
        })
    }

    fn least(&self) -> f64 {
        self.ratio.first().copied().unwrap_or(f64::NAN)
    }

    fn most(&self) -> f64 {
        self.ratio.last().copied().unwrap_or(f64::NAN)
    }
}

/// The median of sorted numbers.
fn middle(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

fn run(lab: &mut Lab<'_>) -> Result<()> {
    made_up(lab)?;
    patches(lab)
}

/// Five of ten sources, three of equal variance: axes are stable, only deviations grow. By epoch over 60 epochs.
fn made_up(lab: &mut Lab<'_>) -> Result<()> {
    let variances = [16.0, 4.0, 4.0, 4.0, 2.0, 0.5, 0.4, 0.3, 0.2, 0.1];
    let data = independent(
        if lab.options.quick { 10_000 } else { 20_000 },
        &[Distribution::Laplace; 10],
        &variances,
        1,
    )?;
    let x: Vec<f32> = data.x.as_slice().iter().map(|&v| v as f32).collect();
    let how = TrainingOptions {
        k: 5,
        learning_rate: 0.01,
        epochs: if lab.options.quick { 120 } else { 60 },
        decay: false,
        absolute: true,
    };
    let free = LearnedDeviations::of(lab, &x, 10, how, 0.0)?;
    let held = LearnedDeviations::of(lab, &x, 10, how, 1e-3)?;
    let name = "synthetic sources";
    lab.check(
        format!("{name}, no penalty: of 5, standard deviations that grow at every epoch"),
        free.growing as f64,
        "all",
        "all",
        free.growing == 5,
    )?;
    let (least, most) = (free.least(), free.most());
    let quantity =
        format!("{name}, no penalty: smallest ratio of learned to true standard deviation at the end");
    lab.check(quantity, least, "7.6-9.6", "above 7", least > 7.0)?;
    lab.beside(format!("{name}, no penalty: largest ratio"), most, "7.6-9.6", "other draws of the sources")?;
    let (least, most) = (held.least(), held.most());
    let holds = (least / 4.37 - 1.0).abs() <= 0.02 && (most / 4.37 - 1.0).abs() <= 0.02;
    lab.beside(
        format!("{name}, penalty 0.001: smallest ratio at the end"),
        least,
        "4.37",
        "see the condition of the largest ratio, which includes it",
    )?;
    let quantity = format!("{name}, penalty 0.001: largest ratio");
    lab.check(quantity, most, "4.37", "both within 2 % of 4.37", holds)?;
    let truth = data.mixing.transposed().top_rows(5);
    for (penalty, learned, published) in [("no penalty", &free, ".9990"), ("penalty 0.001", &held, ".9992")] {
        let cosine = measure::matched(&learned.w, &truth).least;
        let quantity = format!("{name}, {penalty}: smallest cosine with the axes");
        lab.check(quantity, cosine, published, "at least .99", cosine >= 0.99)?;
    }
    let mut sheet = Sheet::new("Learned over true standard deviation, median of the components", 2);
    sheet.add(
        "synthetic sources, by epoch",
        courses(&[("no penalty", &free.course), ("penalty 0.001", &held.course)]),
    );
    lab.figure("made-up", &sheet)
}

fn courses(all: &[(&str, &Vec<f64>)]) -> Content {
    let line = |course: &[f64]| course.iter().enumerate().map(|(i, v)| (i as f64 + 1.0, *v)).collect();
    let lines = all.iter().map(|(name, course)| ((*name).to_string(), line(course))).collect();
    Content::Lines { lines, names: ("epochs".into(), "ratio".into()), log_y: false, shaded: Vec::new() }
}

/// Fig 9: the published constant rate after 3 and 10 epochs with and without a penalty, and a rate that decreases to zero for
/// comparison.
fn patches(lab: &mut Lab<'_>) -> Result<()> {
    let set = lab.patches()?;
    let reference = lab.converged(&set)?;
    let mut sheet = Sheet::new("Filters with learned standard deviations", 3);
    let (few, many) = if lab.options.quick { (1, 4) } else { (3, 10) };
    let mut lines = Vec::new();
    let mut train = |lab: &mut Lab<'_>,
                     l2: f64,
                     epochs: u64,
                     decay: bool|
     -> Result<(LearnedDeviations, MatchedCosines)> {
        let how = TrainingOptions { k: K, learning_rate: 0.01, epochs, decay, absolute: !decay };
        let learned = LearnedDeviations::of(lab, &set.x, set.n_features(), how, l2)?;
        let matched = report_training(lab, &set, &reference, &learned, (l2, epochs, decay), &mut sheet)?;
        if epochs == many {
            lines.push((name(l2, decay), learned.course.clone()));
        }
        Ok((learned, matched))
    };
    let early = train(lab, 0.0, few, false)?;
    let late = train(lab, 0.0, many, false)?;
    let held = train(lab, 1e-3, many, false)?;
    train(lab, 0.0, many, true)?;
    train(lab, 1e-3, many, true)?;
    lab.figure("trained-sigma", &sheet)?;
    let mut sheet = Sheet::new("Learned over true standard deviation, median of the components", 1);
    let named: Vec<(&str, &Vec<f64>)> = lines.iter().map(|(name, course)| (name.as_str(), course)).collect();
    sheet.add("patches, by epoch", courses(&named));
    lab.figure("ratio", &sheet)?;
    lab.note(format!("Constant rate: 0.01 in the units of the data, standard deviations 1 at first, as in {PAPER}. Falling rate: rows divided by their size, the rate to zero over the epochs."))?;
    check_both(lab, &set, &early, &late, &held)
}

/// Name of a training configuration.
fn name(l2: f64, decay: bool) -> String {
    let penalty = if l2 == 0.0 { "no penalty" } else { "penalty 0.001" };
    format!("{penalty}, {} rate", if decay { "falling" } else { "constant" })
}

/// Numbers and a panel of a training configuration; returns the agreement with the filters of estimated deviations.
fn report_training(
    lab: &mut Lab<'_>,
    set: &PatchSet,
    reference: &Rc<Matrix<f64>>,
    learned: &LearnedDeviations,
    (l2, epochs, decay): (f64, u64, bool),
    sheet: &mut Sheet,
) -> Result<MatchedCosines> {
    let published = match (set.known == PublishedPictures::Cifar10 && !decay, l2 == 0.0, epochs) {
        (true, true, 3) => ["5", "22", ".87", "13"],
        (true, true, 10) => ["8.5", "160", ".76", "5"],
        (true, false, 10) => ["3.4", "6.8", ".91", "18"],
        _ => [""; 4],
    };
    let matched = measure::matched(&learned.w, reference);
    let name = format!("{}, {epochs} epochs", name(l2, decay));
    for (what, ours, published) in [
        ("smallest ratio of learned to true standard deviation", learned.least(), published[0]),
        ("largest ratio", learned.most(), published[1]),
        ("agreement with the converged filters", matched.mean, published[2]),
        ("components with a cosine above .95", matched.close as f64, published[3]),
    ] {
        lab.beside(
            format!("{name}: {what}"),
            ours,
            published,
            "training by other batches, which are random",
        )?;
    }
    let (least, most) = (learned.least(), learned.most());
    let caption = format!(
        "{name}: {least:.1} to {most:.1} times the standard deviation, agreement {:.2}",
        matched.mean
    );
    sheet.add(caption, as_pictures(&by_variance(&learned.w, set), set));
    Ok(matched)
}

/// The conditions that characterise Fig 9.
fn check_both(
    lab: &mut Lab<'_>,
    set: &PatchSet,
    early: &(LearnedDeviations, MatchedCosines),
    late: &(LearnedDeviations, MatchedCosines),
    held: &(LearnedDeviations, MatchedCosines),
) -> Result<()> {
    // Not all of them: the deviation of a filter that turns towards smaller variance decreases with it.
    let quantity = format!("no penalty: of {K}, standard deviations that grow at every epoch");
    lab.number(quantity, late.0.growing as f64)?;
    let mean = &late.0.mean;
    let (first, last) = (mean[0], mean[mean.len() - 1]);
    let quantity = "no penalty: mean learned standard deviation after the first epoch";
    lab.beside(quantity, first, "10", "training by other batches, which are random")?;
    let rises = mean.windows(2).all(|pair| pair[1] > pair[0]);
    lab.check(
        "no penalty: mean learned standard deviation at the end",
        last,
        "90",
        "grows at every epoch",
        rises,
    )?;
    let growth = middle(&late.0.ratio) / middle(&early.0.ratio);
    lab.check("no penalty: median ratio, late over early", growth, "grows", "above 1.2", growth > 1.2)?;
    if set.known != PublishedPictures::Cifar10 {
        return Ok(());
    }
    let agreement = late.1.mean;
    lab.check("no penalty: agreement at the end", agreement, ".756", "at most .80", agreement <= 0.8)?;
    let most = held.0.most();
    lab.check("penalty 0.001: largest ratio at the end", most, "6.8", "at most 8", most <= 8.0)?;
    let agreement = held.1.mean;
    lab.check("penalty 0.001: agreement at the end", agreement, ".91", "at least .85", agreement >= 0.85)
}
