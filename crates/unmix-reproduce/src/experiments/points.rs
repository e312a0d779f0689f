//! Two sources of equal variance, rotated by 45 degrees: dependence of the estimated axes on the width of the tanh.

use crate::Experiment;
use crate::lab::{Lab, filters};
use crate::measure;
use serde_json::json;
use unmix::datasets::{Distribution, points};
use unmix::internal::num::factor;
use unmix::{Matrix, Result};
use unmix_report::{Content, Sheet};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "points",
    source: "appendix G.6 of sigma-PCA, arXiv 2311.13580v3",
    summary: "points of two sources of equal variance: a narrow tanh finds the axes of uniform sources, a wide one those of Laplace sources; the default chooses",
    run,
};

/// Widths, and the smallest published cosine for each distribution.
const WIDTHS: [(f64, &str, &str); 5] = [
    (0.5, "1.000", ".73-.76"),
    (1.0, "1.000", ".73-.76"),
    (2.0, ".71", ".97-.996"),
    (3.0, ".71", ".999"),
    (4.0, ".71", ".997"),
];

fn run(lab: &mut Lab<'_>) -> Result<()> {
    for (name, law) in [("uniform", Distribution::Uniform), ("laplace", Distribution::Laplace)] {
        let data = points(law, 1000, None)?;
        let truth = data.mixing.transposed();
        let mut sheet = Sheet::new(format!("Points of two {name} sources"), 5);
        sheet.add("true", cloud(&data.sources));
        sheet.add("mixed", cloud(&data.x));
        let linear = filters(&lab.fit("pca", json!({"n_components": 2}), &data.x)?);
        let published = if law == Distribution::Uniform { ".816" } else { ".947" };
        add(lab, &mut sheet, &data.x, &truth, name, "linear PCA", &linear, published)?;
        for (a, uniform, laplace) in WIDTHS {
            let (published, works) = match law {
                Distribution::Uniform => (uniform, a <= 1.0),
                _ => (laplace, a >= 2.0),
            };
            let w = filters(&lab.fit("sigma-pca", json!({"n_components": 2, "a": a}), &data.x)?);
            let least = add(lab, &mut sheet, &data.x, &truth, name, &format!("a = {a}"), &w, published)?;
            let (condition, holds) =
                if works { ("at least .99", least >= 0.99) } else { ("below .9", least < 0.9) };
            lab.check(format!("{name}, a = {a}"), least, published, condition, holds)?;
            let settings = json!({
                "n_components": 2, "variant": "ema-scaled-tanh", "a": a, "solver": "sgd", "learning_rate": 0.01,
                "batch_size": 32, "tangent": false, "max_epochs": if lab.options.quick { 30 } else { 100 },
            });
            let w = filters(&lab.fit("sigma-pca", settings, &data.x)?);
            let least = measure::matched(&w, &truth).least;
            let quantity = format!("{name}: a = {a} trained as published");
            lab.beside(
                quantity,
                least,
                published,
                "training by random batches; the condition is about the solver",
            )?;
        }
        let w = filters(&lab.fit("sigma-pca", json!({"n_components": 2}), &data.x)?);
        let least = add(lab, &mut sheet, &data.x, &truth, name, "a chosen", &w, "")?;
        lab.check(
            format!("{name}, a chosen for each component"),
            least,
            "",
            "at least .996",
            least >= 0.996,
        )?;
        let w = filters(&lab.fit("fastica", json!({"n_components": 2}), &data.x)?);
        let published = if law == Distribution::Uniform { ".9998" } else { ".9975" };
        add(lab, &mut sheet, &data.x, &truth, name, "FastICA", &measure::unit_rows(&w), published)?;
        lab.figure(name, &sheet)?;
    }
    Ok(())
}

fn cloud(x: &Matrix<f64>) -> Content {
    Content::Points((0..x.rows()).map(|i| (x.row(i)[0], x.row(i)[1])).collect())
}

/// A panel of the points projected by `w`, and the smallest cosine with the true axes.
fn add(
    lab: &mut Lab<'_>,
    sheet: &mut Sheet,
    x: &Matrix<f64>,
    truth: &Matrix<f64>,
    law: &str,
    caption: &str,
    w: &Matrix<f64>,
    published: &str,
) -> Result<f64> {
    let least = measure::matched(w, truth).least;
    sheet.add(format!("{caption}: cosine {least:.4}"), cloud(&factor::multiply_transposed(x, w)));
    let quantity = format!("{law}: {caption}, smallest cosine with the true axes");
    lab.beside(quantity, least, published, "other draws of the points")?;
    Ok(least)
}
