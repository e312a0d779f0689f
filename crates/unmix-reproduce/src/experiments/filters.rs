//! Filters of picture patches: what linear PCA, the published losses, and FastICA see in them.

use crate::Experiment;
use crate::lab::{K, Lab, SLOW, Seen, as_pictures, filters, rule, trained};
use crate::measure;
use crate::pictures::PatchSet;
use serde_json::{Value, json};
use unmix::{Matrix, Result};
use unmix_report::Sheet;

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "filters",
    source: "Fig 4 of sigma-PCA, arXiv 2311.13580v3, section 4.2",
    summary: "32 filters of picture patches: mixtures of waves by linear PCA, single bars by the main loss, neither by its rivals",
    run,
};

pub(super) const MORE: Experiment = Experiment {
    key: "more-filters",
    source: "Figs 7 and 17 of sigma-PCA, arXiv 2311.13580v3",
    summary: "64 filters: linear, nonlinear, and with an adaptive, asymmetric nonlinearity",
    run: more,
};

/// Eigenvalues of the published patches, and the loss that rank 32 leaves.
const EIGENVALUES: [f64; 5] = [127.4, 54.5, 44.9, 18.5, 13.5];
const RANK_32: f64 = 19.518;

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let set = lab.patches()?;
    let reference = lab.converged(&set)?;
    let mut sheet = Sheet::new("32 filters of picture patches, by variance", 4);
    let pca = lab.fit_patches("pca", json!({"n_components": K}), &set)?;
    let linear = add(lab, &mut sheet, "linear PCA", &filters(&pca), &set, &reference)?;
    spectrum(lab, &pca, &set)?;
    let settings = json!({"n_components": K, "variant": "weighted-unit-loss"});
    let w = filters(&lab.fit_patches("neural-pca", settings, &set)?);
    add(lab, &mut sheet, "linear, weighted unit-norm loss", &w, &set, &reference)?;
    let narrow = trained_panel(lab, &mut sheet, "nonlinear, a = 1", "ema-tanh", json!({}), &set, &reference)?;
    let main =
        trained_panel(lab, &mut sheet, "nonlinear, a = 4", "ema-scaled-tanh", json!({}), &set, &reference)?;
    trained_panel(lab, &mut sheet, "no stop-gradient", "trained-sigma-full", json!({}), &set, &reference)?;
    let kept = rule(lab, &set, "decoder-kept")?;
    let kept = add(lab, &mut sheet, "decoder contribution kept, a = 4", &kept, &set, &reference)?;
    let old = trained_panel(
        lab,
        &mut sheet,
        "conventional nonlinear PCA",
        "conventional",
        json!({}),
        &set,
        &reference,
    )?;
    let solved =
        add(lab, &mut sheet, "sigma-PCA's default solver, a = 4", &reference.clone(), &set, &reference)?;
    if unmix::method::find("fastica").is_ok() {
        let model = lab.fit_patches("fastica", json!({"n_components": K, "tol": 1e-3}), &set)?;
        let w = measure::unit_rows(&filters(&model));
        add(lab, &mut sheet, "FastICA, unit rows", &w, &set, &reference)?;
    }
    lab.figure("filters", &sheet)?;
    lab.check(
        "a = 4: kurtosis over that of linear PCA",
        main.kurtosis / linear.kurtosis,
        "2.3-3.1",
        "above 1.3",
        main.kurtosis > 1.3 * linear.kurtosis,
    )?;
    of_published(
        lab,
        &set,
        "a = 4: effective pixels over those of linear PCA",
        main.pixels / linear.pixels,
        ".71-.79",
        0.9,
    )?;
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
    if set.published {
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

/// A panel, its measures, and its loss.
pub(super) fn add(
    lab: &mut Lab<'_>,
    sheet: &mut Sheet,
    caption: &str,
    w: &Matrix<f64>,
    set: &PatchSet,
    reference: &Matrix<f64>,
) -> Result<Seen> {
    let w = by_variance(w, set);
    let seen = lab.measured(caption, &w, set, reference)?;
    let a = (!caption.starts_with("linear")).then_some(4.0);
    let some = &set.x[..set.len().min(32_000) * set.n_features()];
    let loss = measure::loss(some, &w, a)?;
    lab.number(format!("{caption}: loss (printed, never judged)"), loss, "")?;
    sheet.add(
        format!("{caption}: kurtosis {:.1}, {:.0} pixels", seen.kurtosis, seen.pixels),
        as_pictures(&w, set),
    );
    Ok(seen)
}

fn trained_panel(
    lab: &mut Lab<'_>,
    sheet: &mut Sheet,
    caption: &str,
    variant: &str,
    more: Value,
    set: &PatchSet,
    reference: &Matrix<f64>,
) -> Result<Seen> {
    let settings = trained(lab, variant, K, more);
    let w = filters(&lab.fit_patches("sigma-pca", settings, set)?);
    add(lab, sheet, caption, &w, set, reference)
}

/// Rows in the order of falling variance of the unit filters.
fn by_variance(w: &Matrix<f64>, set: &PatchSet) -> Matrix<f64> {
    let some = &set.x[..set.len().div_ceil(8) * set.n_features()];
    let variances: Vec<f64> =
        measure::moments(&measure::scores(some, &measure::unit_rows(w))).iter().map(|m| m.0).collect();
    let mut order: Vec<usize> = (0..w.rows()).collect();
    order.sort_by(|a, b| variances[*b].total_cmp(&variances[*a]));
    Matrix::from_fn(w.rows(), w.cols(), |i, j| w.row(order[i])[j])
}

/// The spectrum beside the published one, which belongs to the published pictures alone.
fn spectrum(lab: &mut Lab<'_>, pca: &unmix::Model, set: &PatchSet) -> Result<()> {
    let variances = pca.tensor("explained_variance").map(|t| t.f64s()).unwrap_or_default();
    let total: f64 = set.x.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>() / set.len() as f64;
    let left = total - variances.iter().sum::<f64>();
    for (i, (ours, published)) in variances.iter().zip(EIGENVALUES).enumerate() {
        let quantity = format!("eigenvalue {i} of the patches");
        if set.published {
            let holds = (ours - published).abs() < 0.06;
            lab.check(quantity, *ours, &published.to_string(), "equal to the digits printed", holds)?;
        } else {
            lab.number(quantity, *ours, &format!("{published} (CIFAR-10)"))?;
        }
    }
    if set.published {
        lab.check("loss of rank 32", left, "19.518", "within .01", (left - RANK_32).abs() < 0.01)
    } else {
        lab.number("loss of rank 32", left, "19.518 (CIFAR-10)")
    }
}

/// A number that must stay below `most` on the published pictures; on others, whose filters have other sizes, it is told.
pub(super) fn of_published(
    lab: &mut Lab<'_>,
    set: &PatchSet,
    quantity: &str,
    ours: f64,
    published: &str,
    most: f64,
) -> Result<()> {
    if set.published || set.channels() == 1 {
        return lab.check(quantity, ours, published, &format!("below {most}"), ours < most);
    }
    lab.number(quantity, ours, published)
}

fn more(lab: &mut Lab<'_>) -> Result<()> {
    let set = lab.patches()?;
    let k = 64.min(set.n_features());
    let mut sheet = Sheet::new("64 filters of picture patches, by variance", 3);
    let solved = filters(&lab.fit_patches(
        "sigma-pca",
        json!({"n_components": k, "a": 4.0, "max_iter": 80, "tol": 1e-3}),
        &set,
    )?);
    let linear = filters(&lab.fit_patches("pca", json!({"n_components": k}), &set)?);
    let pca = add(lab, &mut sheet, "linear PCA", &linear, &set, &solved)?;
    let a4 = add(lab, &mut sheet, "nonlinear, a = 4", &solved, &set, &solved)?;
    let settings = trained(lab, "ema-adaptive-tanh", k, json!({"learning_rate": SLOW}));
    let w = filters(&lab.fit_patches("sigma-pca", settings, &set)?);
    let adaptive = add(lab, &mut sheet, "adaptive, asymmetric", &w, &set, &solved)?;
    lab.figure("filters-64", &sheet)?;
    lab.check(
        "nonlinear over linear: effective pixels",
        a4.pixels / pca.pixels,
        "below 1",
        "below 1",
        a4.pixels < pca.pixels,
    )?;
    of_published(
        lab,
        &set,
        "adaptive over a = 4: effective pixels",
        adaptive.pixels / a4.pixels,
        ".4 (MNIST), .9 (CIFAR-10)",
        1.0,
    )?;
    let first = lab.converged(&set)?;
    let agreement = measure::matched(&first, &solved);
    lab.number("the 32 axes found among these 64", agreement.mean, ".990 (CIFAR-10)")
}
