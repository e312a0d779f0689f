//! Curves of the text: densities, the family of tanh, and the maps whose fixed points explain what works.

use crate::Experiment;
use crate::lab::Lab;
use unmix::Result;
use unmix_report::{Content, Sheet};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "shapes",
    source: "Figs 1 and 3, appendices B.1, F.2 and F.4 of sigma-PCA, arXiv 2311.13580v3",
    summary: "densities of unit variance, a tanh(z/a), the map of orthonormalisation, and forces at a code of unit variance",
    run,
};

/// Points of a function from `low` to `high`.
fn curve(low: f64, high: f64, f: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    (0..=240).map(|i| low + (high - low) * f64::from(i) / 240.0).map(|x| (x, f(x))).collect()
}

fn lines(lines: Vec<(String, Vec<(f64, f64)>)>, x: &str, y: &str) -> Content {
    Content::Lines { lines, names: (x.into(), y.into()), log_y: false }
}

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let mut sheet = Sheet::new("Densities, nonlinearities, and forces", 3);
    let root3 = 3.0f64.sqrt();
    let root2 = 2.0f64.sqrt();
    let uniform = curve(-4.0, 4.0, |x| if x.abs() <= root3 { 0.5 / root3 } else { 0.0 });
    let gaussian = curve(-4.0, 4.0, |x| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt());
    let laplace = curve(-4.0, 4.0, |x| (-root2 * x.abs()).exp() / root2);
    let densities =
        vec![("uniform".into(), uniform), ("Gaussian".into(), gaussian), ("Laplace".into(), laplace)];
    sheet.add("densities of unit variance", lines(densities, "z", ""));
    let widths = [0.5, 1.0, 2.0, 4.0].map(|a| (format!("a = {a}"), curve(-4.0, 4.0, |z| a * (z / a).tanh())));
    sheet.add("a tanh(z/a)", lines(widths.to_vec(), "z", "h"));
    let maps = [0.0, 0.125, 0.25, 0.5, 1.0].map(|beta| {
        let f = move |l: f64| {
            (1.0 + beta) * (1.0 + beta) * l - 2.0 * (1.0 + beta) * beta * l * l + beta * beta * l * l * l
        };
        (format!("beta = {beta}"), curve(0.0, 1.0, f))
    });
    sheet.add(
        "one step of orthonormalisation: eigenvalues before and after",
        lines(maps.to_vec(), "before", "after"),
    );
    let h = f64::tanh;
    let forces = vec![
        ("z tanh z".into(), curve(-3.0, 3.0, |z| z * h(z))),
        ("z²".into(), curve(-3.0, 3.0, |z| z * z)),
        ("z tanh z − z²".into(), curve(-3.0, 3.0, |z| z * h(z) - z * z)),
    ];
    sheet.add("h(z) z and z²", lines(forces, "z", ""));
    let pulls = [0.1, 0.5, 1.0, 1.5, 2.0];
    let sign = pulls.map(|b| (format!("beta = {b}"), curve(-3.0, 3.0, move |y| b * y.signum() - y)));
    sheet.add("beta sign(y) − y", lines(sign.to_vec(), "y", ""));
    let tanh = pulls.map(|b| (format!("beta = {b}"), curve(-3.0, 3.0, move |y| b * y.tanh() - y)));
    sheet.add("beta tanh(y) − y", lines(tanh.to_vec(), "y", ""));
    lab.figure("shapes", &sheet)?;
    // beta tanh(y) = y has one solution up to beta = 1 and three beyond.
    for beta in pulls {
        let f = |y: f64| beta * y.tanh() - y;
        let sides = curve(1e-3, 3.0, f).windows(2).filter(|w| (w[0].1 > 0.0) != (w[1].1 > 0.0)).count();
        let zeros = 1 + 2 * sides;
        let wanted = if beta <= 1.0 { 1 } else { 3 };
        lab.check(
            format!("zeros of beta tanh(y) − y at beta = {beta}"),
            zeros as f64,
            &wanted.to_string(),
            "one up to beta = 1, three beyond",
            zeros == wanted,
        )?;
    }
    Ok(())
}
