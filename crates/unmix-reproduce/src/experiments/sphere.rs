//! Sparsity on the sphere: the maximum of the sum of fourth powers and the minimum of the l1 norm are attained where all entries
//! but one are 0.

use super::CHAPTER;
use crate::Experiment;
use crate::lab::{Lab, filters};
use serde_json::json;
use unmix::datasets::bernoulli_gaussian;
use unmix::{Matrix, Result};
use unmix_report::{Content, Sheet, Stroke, StrokeKind};

pub(super) const EXPERIMENT: Experiment = Experiment {
    key: "sphere-norms",
    source: CHAPTER,
    summary: "Fig 2.5: on the sphere the largest l4 norm and the smallest l1 norm are those of sparse vectors, and of filters of sparse codes",
    run,
};

/// Number of directions on a half circle: four per degree.
const N_ANGLES: usize = 720;

type Curve = Vec<(f64, f64)>;

/// A function of the direction `(cos t, sin t)`, for t from 0 to 180 degrees.
fn around(f: impl Fn(f64, f64) -> f64) -> Curve {
    let degrees = (0..=N_ANGLES).map(|i| 180.0 * i as f64 / N_ANGLES as f64);
    degrees.map(|d| (d, f(d.to_radians().cos(), d.to_radians().sin()))).collect()
}

/// Local maxima of a periodic curve.
fn peaks(curve: &Curve) -> Vec<f64> {
    let n = curve.len() - 1;
    let at = |i: usize| curve[i % n].1;
    let top = |i: &usize| at(*i) > at(i + n - 1) && at(*i) > at(i + 1);
    (0..n).filter(top).map(|i| curve[i].0).collect()
}

fn negative(curve: &Curve) -> Curve {
    curve.iter().map(|(d, y)| (*d, -y)).collect()
}

/// Angle in degrees between directions, ignoring signs.
fn angle_between(a: f64, b: f64) -> f64 {
    let between = (a - b).rem_euclid(180.0);
    between.min(180.0 - between)
}

/// The largest distance of one of `found` from the nearest of `wanted`; a half circle if their numbers differ.
fn farthest(found: &[f64], wanted: &[f64]) -> f64 {
    if found.len() != wanted.len() {
        return 180.0;
    }
    let nearest = |a: &f64| wanted.iter().map(|b| angle_between(*a, *b)).fold(180.0, f64::min);
    found.iter().map(nearest).fold(0.0, f64::max)
}

fn lines(lines: Vec<(&str, Curve)>, names: (&str, &str)) -> Content {
    let lines = lines.into_iter().map(|(name, curve)| (name.to_string(), curve)).collect();
    Content::Lines { lines, names: (names.0.into(), names.1.into()), log_y: false, shaded: Vec::new() }
}

/// The boundary of the unit ball `|q|_p = 1`, a closed curve.
fn ball(p: f64) -> Curve {
    let turn = (0..=360).map(|d| f64::from(d).to_radians());
    let point = |t: f64| {
        let (x, y) = (t.cos(), t.sin());
        let size = (x.abs().powf(p) + y.abs().powf(p)).powf(1.0 / p);
        (x / size, y / size)
    };
    turn.map(point).collect()
}

fn run(lab: &mut Lab<'_>) -> Result<()> {
    let mut sheet = Sheet::new("Norms on the sphere, and sparse codes", 3);
    let balls = vec![("l1", ball(1.0)), ("l2", ball(2.0)), ("l4", ball(4.0))];
    sheet.add(
        "vectors of norm 1: the curves touch where one entry is 0",
        lines(balls, ("first entry", "second")),
    );
    let (fourth, size) = (around(|x, y| x.powi(4) + y.powi(4)), around(|x, y| x.abs() + y.abs()));
    let norms = vec![("sum of fourth powers", fourth.clone()), ("sum of absolute values", size.clone())];
    sheet.add("of vectors of length 1, by their direction", lines(norms, ("degrees", "")));
    let sparse = [0.0, 90.0];
    for (quantity, curve, end, published) in [
        ("largest sum of fourth powers", fourth.clone(), 1.0, "1, at sparse vectors"),
        ("smallest sum of absolute values", negative(&size), -1.0, "1, at sparse vectors"),
    ] {
        let largest = curve.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max);
        let holds = (largest - end).abs() < 1e-12 && farthest(&peaks(&curve), &sparse) < 1e-9;
        lab.check(quantity, largest.abs(), published, "1, and only where an entry is 0", holds)?;
    }
    let least = fourth.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    lab.check(
        "smallest sum of fourth powers",
        least,
        "1/2",
        "1/2, where entries are equal",
        (least - 0.5).abs() < 1e-12,
    )?;
    let most = size.iter().map(|p| p.1).fold(0.0, f64::max);
    lab.check(
        "largest sum of absolute values",
        most,
        "sqrt 2",
        "sqrt 2, where entries are equal",
        (most - std::f64::consts::SQRT_2).abs() < 1e-12,
    )?;
    of_rows(lab, &mut sheet)?;
    lab.figure("sphere-norms", &sheet)
}

/// The same for the codes of sparse rows: filters that equal atoms give sparse codes, and both searches find them.
fn of_rows(lab: &mut Lab<'_>, sheet: &mut Sheet) -> Result<()> {
    let n = if lab.options.quick { 4000 } else { 20_000 };
    let made = bernoulli_gaussian((n, 2, 2), 0.2, 0.0, true, 4)?;
    let mean = |f: fn(f64) -> f64| {
        around(|x, y| (0..n).map(|i| f(made.x[(i, 0)] * x + made.x[(i, 1)] * y)).sum::<f64>() / n as f64)
    };
    let (fourth, size) = (mean(|y| y.powi(4)), mean(f64::abs));
    let points = (0..n.min(1500)).map(|i| (made.x[(i, 0)], made.x[(i, 1)])).collect();
    let stroke = |i: usize| Stroke {
        name: format!("atom {i}"),
        from: (0.0, 0.0),
        to: (3.0 * made.atoms[(i, 0)], 3.0 * made.atoms[(i, 1)]),
        kind: StrokeKind::Line,
    };
    sheet.add(
        "rows of two orthogonal atoms, a fifth of the codes nonzero",
        Content::Plane { points, strokes: vec![stroke(0), stroke(1)] },
    );
    sheet.add(
        "mean fourth power of the codes of a filter",
        lines(vec![("", fourth.clone())], ("degrees", "")),
    );
    sheet.add(
        "mean absolute value of the codes of a filter",
        lines(vec![("", size.clone())], ("degrees", "")),
    );
    let directions = |rows: &Matrix<f64>| -> Vec<f64> {
        (0..rows.rows()).map(|i| rows[(i, 1)].atan2(rows[(i, 0)]).to_degrees().rem_euclid(180.0)).collect()
    };
    let truth = directions(&made.atoms);
    for (quantity, curve) in
        [("maxima of the mean fourth power", fourth), ("minima of the mean absolute value", negative(&size))]
    {
        let off = farthest(&peaks(&curve), &truth);
        lab.check(format!("{quantity}: degrees from the atoms"), off, "0", "at most 2", off <= 2.0)?;
    }
    for (name, settings, most) in [
        ("fourth powers (MSP)", json!({"precondition": false, "polish": false, "refine": false}), 2.0),
        ("absolute values (l1)", json!({"precondition": false, "algorithm": "l1"}), 1e-6),
    ] {
        let found = directions(&filters(&lab.fit("complete-dictionary", settings, &made.x)?));
        let off = farthest(&found, &truth);
        lab.check(
            format!("atoms by {name}: degrees from the true ones"),
            off,
            "0",
            &format!("at most {most}"),
            off <= most,
        )?;
    }
    Ok(())
}
