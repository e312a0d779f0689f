//! Function graphs: densities, the tanh family, and the maps whose fixed points explain the behaviour of the rules.

use crate::Experiment;
use crate::lab::Lab;
use unmix::Result;
use unmix_report::{Content, Sheet};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "shapes",
    source: "Fig 3, appendices B.1, F.2 and F.4 of sigma-PCA, arXiv 2311.13580v3",
    summary: "densities of unit variance, a tanh(z/a), the map of orthonormalisation, and terms of the learning rules at a code of unit variance",
    run,
};

/// Points of a function from `low` to `high`.
fn curve(low: f64, high: f64, f: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    (0..=240).map(|i| low + (high - low) * f64::from(i) / 240.0).map(|x| (x, f(x))).collect()
}

fn lines(lines: Vec<(String, Vec<(f64, f64)>)>, x: &str, y: &str) -> Content {
    Content::Lines { lines, names: (x.into(), y.into()), log_y: false, shaded: Vec::new() }
}

/// Weights of a step of orthonormalisation.
const STEPS: [f64; 6] = [0.0, 0.125, 0.25, 0.5, 0.75, 1.0];

/// The eigenvalue of the Gram matrix after a step of weight `beta`, from an eigenvalue `l` (B.1).
fn step(beta: f64, l: f64) -> f64 {
    (1.0 + beta).powi(2) * l - 2.0 * (1.0 + beta) * beta * l * l + beta * beta * l * l * l
}

/// The term that is compared with the square of a code in the gradient of a learned deviation (F.2).
fn force(z: f64) -> f64 {
    let h = z.tanh();
    z * h * h + h
}

/// An eigenvalue of 1 is a fixed point for every weight; near it errors are multiplied by `1 - 2 beta`: quadratic convergence for
/// 1/2, oscillation for larger weights.
fn maps_of_steps(lab: &mut Lab<'_>) -> Result<()> {
    for beta in STEPS {
        let slope = (step(beta, 1.0) - step(beta, 1.0 - 1e-6)) / 1e-6;
        let holds = (step(beta, 1.0) - 1.0).abs() < 1e-12 && (slope - (1.0 - 2.0 * beta)).abs() < 1e-4;
        let quantity = format!("one step of orthonormalisation, beta = {beta}: slope at 1");
        lab.check(quantity, slope, &(1.0 - 2.0 * beta).to_string(), "1 - 2 beta, and 1 stays 1", holds)?;
    }
    Ok(())
}

/// `f(z) z` is at least `z²` everywhere: the gradient of a learned deviation has one sign, and the deviation grows without bound.
fn one_sign(lab: &mut Lab<'_>) -> Result<()> {
    let least = curve(-6.0, 6.0, |z| force(z) * z - z * z).iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    lab.check("minimum of f(z) z − z²", least, "0", "non-negative", least >= 0.0)
}

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let mut sheet = Sheet::new("Densities, nonlinearities, and terms of the learning rules", 3);
    let root3 = 3.0f64.sqrt();
    let root2 = 2.0f64.sqrt();
    let uniform = curve(-4.0, 4.0, |x| if x.abs() <= root3 { 0.5 / root3 } else { 0.0 });
    let gaussian = curve(-4.0, 4.0, |x| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt());
    let laplace = curve(-4.0, 4.0, |x| (-root2 * x.abs()).exp() / root2);
    let densities =
        vec![("uniform".into(), uniform), ("Gaussian".into(), gaussian), ("Laplace".into(), laplace)];
    let mut drawn = lines(densities, "z", "");
    if let Content::Lines { shaded, .. } = &mut drawn {
        *shaded = vec![(f64::NEG_INFINITY, -2.0), (2.0, f64::INFINITY)];
    }
    sheet.add("densities of unit variance; grey: beyond two standard deviations", drawn);
    let widths = [0.5, 1.0, 2.0, 4.0].map(|a| (format!("a = {a}"), curve(-4.0, 4.0, |z| a * (z / a).tanh())));
    sheet.add("a tanh(z/a)", lines(widths.to_vec(), "z", "h"));
    let maps = STEPS.map(|beta| (format!("beta = {beta}"), curve(0.0, 1.0, move |l| step(beta, l))));
    sheet.add(
        "one step of orthonormalisation: eigenvalues before and after",
        lines(maps.to_vec(), "before", "after"),
    );
    let forces = vec![
        ("f(z) z".into(), curve(-3.0, 3.0, |z| force(z) * z)),
        ("z²".into(), curve(-3.0, 3.0, |z| z * z)),
        ("f(z) z − z²".into(), curve(-3.0, 3.0, |z| force(z) * z - z * z)),
    ];
    sheet.add("f(z) z and z², f = z h² + h, h = tanh", lines(forces, "z", ""));
    let pulls = [0.1, 0.5, 1.0, 1.5, 2.0];
    let sign = pulls.map(|b| (format!("beta = {b}"), curve(-3.0, 3.0, move |y| b * y.signum() - y)));
    sheet.add("beta sign(y) − y", lines(sign.to_vec(), "y", ""));
    let tanh = pulls.map(|b| (format!("beta = {b}"), curve(-3.0, 3.0, move |y| b * y.tanh() - y)));
    sheet.add("beta tanh(y) − y", lines(tanh.to_vec(), "y", ""));
    lab.figure("shapes", &sheet)?;
    maps_of_steps(lab)?;
    one_sign(lab)?;
    // beta tanh(y) = y has one solution for beta up to 1 and three for larger beta.
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
