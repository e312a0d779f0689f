//! Which mixings each of the three transformations can invert: correlations of its codes with the sources.

use crate::Experiment;
use crate::lab::Lab;
use serde_json::json;
use unmix::internal::num::random::Stream;
use unmix::{Matrix, Result, Run};
use unmix_report::{Content, Sheet};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "transforms",
    source: "Figs 1 and 2 of sigma-PCA, arXiv 2311.13580v3",
    summary: "linear PCA recovers rotations of sources of distinct variances, sigma-PCA of any variances, independent component analysis any mixing",
    run,
};

/// Standard deviations of the two sources, and their axes as rows.
type Mixing = ([f64; 2], [[f64; 2]; 2]);

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let (sin, cos) = 0.6f64.sin_cos();
    let turned = [[cos, sin], [-sin, cos]];
    let cases: [(&str, Mixing, [bool; 3]); 3] = [
        ("orthogonal axes, distinct variances", ([1.5, 0.6], turned), [true, true, true]),
        ("orthogonal axes, equal variances", ([1.0, 1.0], turned), [false, true, true]),
        ("axes that are not orthogonal", ([1.0, 1.0], [[cos, sin], [0.6, 0.8]]), [false, false, true]),
    ];
    let mut sheet = Sheet::new("Correlation of codes with sources", 4);
    for (name, (deviations, axes), works) in cases {
        let n = if lab.options.quick { 1000 } else { 4000 };
        let draws = Stream::new(2, 0);
        let sources =
            Matrix::from_fn(n, 2, |i, j| (12f64).sqrt() * (draws.uniform((2 * i + j) as u64) - 0.5));
        let x = Matrix::from_fn(n, 2, |i, c| {
            (0..2).map(|j| sources[(i, j)] * deviations[j] * axes[j][c]).sum::<f64>()
        });
        sheet.add(format!("{name}: rows"), points(&x));
        let methods = [
            ("linear PCA", "pca", json!({"whiten": true})),
            ("sigma-PCA", "sigma-pca", json!({"whiten": true})),
            ("independent components", "ica", json!({})),
        ];
        for ((title, method, settings), works) in methods.into_iter().zip(works) {
            let model = lab.fit(method, settings, &x)?;
            let rows = unmix::Rows::from_slice(x.as_slice(), 2)?;
            let codes = Matrix::from_vec(n, 2, model.encode_to_vec(&rows, &Run::default())?);
            let aligned = alignment(&codes, &sources);
            let condition = if works { "at least 0.99" } else { "below 0.95" };
            let holds = if works { aligned >= 0.99 } else { aligned < 0.95 };
            sheet.add(format!("{title}: {aligned:.3}"), points(&codes));
            lab.check(
                format!("{name}: {title}, smallest correlation with a source"),
                aligned,
                "",
                condition,
                holds,
            )?;
        }
    }
    lab.figure("transforms", &sheet)?;
    clouds(lab)
}

/// Fig 1: information in variance and in independence for four distributions. A rotationally invariant one has no preferred
/// directions, and the estimated axes are those of the sample, so the worst of five draws is reported and drawn.
fn clouds(lab: &mut Lab<'_>) -> Result<()> {
    let shapes = [
        ("rectangle", [1.5, 0.6], true),
        ("ellipse", [1.5, 0.6], false),
        ("square", [1.0, 1.0], true),
        ("circle", [1.0, 1.0], false),
    ];
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (name, deviations, flat) in shapes {
        let draws = (1..=5).map(|seed| cloud(lab, deviations, flat, seed)).collect::<Result<Vec<_>>>()?;
        let Some((x, codes, aligned)) = draws.into_iter().min_by(|a, b| a.2.total_cmp(&b.2)) else {
            continue;
        };
        before.push((format!("{name}, rotated"), points(&x)));
        after.push((format!("{name} along the axes found: {aligned:.3}"), points(&codes)));
        let quantity = format!("{name}: sigma-PCA, smallest correlation with a source in five draws");
        let (published, condition, holds) = match name {
            "circle" => ("not identifiable", "below 0.95", aligned < 0.95),
            _ => ("aligned", "at least 0.99", aligned >= 0.99),
        };
        lab.check(quantity, aligned, published, condition, holds)?;
    }
    let mut sheet = Sheet::new("Which rotations can be identified", 4);
    before.into_iter().chain(after).for_each(|(caption, content)| sheet.add(caption, content));
    lab.figure("clouds", &sheet)
}

/// Two sources, uniform or Gaussian, rotated: rows, codes, and the correlation of these with the sources.
fn cloud(
    lab: &Lab<'_>,
    deviations: [f64; 2],
    flat: bool,
    seed: u64,
) -> Result<(Matrix<f64>, Matrix<f64>, f64)> {
    let (sin, cos) = 0.6f64.sin_cos();
    let n = if lab.options.quick { 1000 } else { 4000 };
    let draws = Stream::new(seed, 1);
    let draw = |at: u64| if flat { 12f64.sqrt() * (draws.uniform(at) - 0.5) } else { draws.normal(at) };
    let sources = Matrix::from_fn(n, 2, |i, j| deviations[j] * draw((2 * i + j) as u64));
    let x = Matrix::from_fn(n, 2, |i, c| {
        let (a, b) = (sources[(i, 0)], sources[(i, 1)]);
        if c == 0 { cos * a - sin * b } else { sin * a + cos * b }
    });
    let model = lab.fit("sigma-pca", json!({}), &x)?;
    let codes = model.encode_to_vec(&unmix::Rows::from_slice(x.as_slice(), 2)?, lab.run)?;
    let codes = Matrix::from_vec(n, 2, codes);
    let aligned = alignment(&codes, &sources);
    Ok((x, codes, aligned))
}

/// At most a thousand of the points.
fn points(x: &Matrix<f64>) -> Content {
    Content::Points((0..x.rows().min(1000)).map(|i| (x[(i, 0)], x[(i, 1)])).collect())
}

/// The smaller of the two correlations of codes with their nearest sources.
fn alignment(codes: &Matrix<f64>, sources: &Matrix<f64>) -> f64 {
    let of = |a: &Matrix<f64>, j: usize| -> Vec<f64> {
        let mean = (0..a.rows()).map(|i| a[(i, j)]).sum::<f64>() / a.rows() as f64;
        (0..a.rows()).map(|i| a[(i, j)] - mean).collect()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let correlation = |i: usize, j: usize| {
        let (a, b) = (of(codes, i), of(sources, j));
        (dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()).abs()
    };
    let pair = |j: usize| correlation(0, j).min(correlation(1, 1 - j));
    pair(0).max(pair(1))
}
