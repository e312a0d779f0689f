//! Rows that are sums of few known atoms with positive codes.

use super::{chance, cosines, diagnostic, fit, found_again, mean, median, sorted};
use crate::lab::{Lab, filters};
use crate::measure::unit_rows;
use crate::output::shown;
use serde_json::{Value, json};
use unmix::internal::num::factor;
use unmix::internal::num::random::Stream;
use unmix::method::sae::evaluate;
use unmix::{Matrix, Result, Rows};
use unmix_report::Sheet;

/// Columns and atoms.
const P: usize = 32;
const M: usize = 64;
/// Share of the codes that are not 0, and the noise in every column.
const SHARE: f64 = 0.05;
const NOISE: f64 = 0.02;

/// `n` rows, and the atoms.
pub(super) fn rows(n: usize, seed: u64) -> (Matrix<f64>, Matrix<f64>) {
    let (first, offset) = (Stream::new(17, 1), Stream::new(17, 2));
    let atoms = unit_rows(&Matrix::from_fn(M, P, |i, j| first.normal((i * P + j) as u64)));
    let (on, size, noise) = (Stream::new(seed, 3), Stream::new(seed, 4), Stream::new(seed, 5));
    let codes = Matrix::from_fn(n, M, |i, j| {
        let at = (i * M + j) as u64;
        if on.uniform(at) < SHARE { (size.normal(at) + 1.0).abs() } else { 0.0 }
    });
    let sums = factor::multiply(&codes, &atoms);
    let x = Matrix::from_fn(n, P, |i, c| {
        0.5 * offset.normal(c as u64) + sums[(i, c)] + NOISE * noise.normal((i * P + c) as u64)
    });
    (x, atoms)
}

/// An autoencoder, the reference values of [`ToyMeasures`], and its conditions.
struct AutoencoderCase {
    name: &'static str,
    settings: Value,
    known: [&'static str; 4],
    /// Minimum mean cosine with the true atoms.
    least: Option<f64>,
    /// Whether codes must not be shrunk.
    exact: bool,
}

/// Mean cosine with the true atoms, active units of a row, fraction of variance unexplained, shrinkage.
type ToyMeasures = [f64; 4];

const MEASURES: [&str; 4] =
    ["mean cosine with the true atoms", "active units of a row", "FVU", "shrinkage of the codes"];

fn kinds(quick: bool) -> Vec<AutoencoderCase> {
    let kind = |name, settings, known, least, exact| AutoencoderCase { name, settings, known, least, exact };
    let topk = json!({"n_components": 128, "l0": 4});
    if quick {
        return vec![kind("topk, 4 of 128", topk, [""; 4], Some(0.95), true)];
    }
    let of =
        |activation: &str, alpha: f64| json!({"n_components": 128, "activation": activation, "alpha": alpha});
    vec![
        kind("relu, alpha .25", of("relu", 0.25), [".992", "7.2", ".103", "1.16"], None, false),
        kind("relu, alpha .5", of("relu", 0.5), [".9986", "4.0", ".174", "1.34"], Some(0.95), false),
        kind("topk, 4 of 128", topk, [".998", "4.0", ".080", "1.00"], Some(0.95), true),
        kind("topk, 4 of 64", json!({"n_components": 64, "l0": 4}), [".870", "", "", ""], None, false),
        kind("jumprelu, alpha .1", of("jumprelu", 0.1), [".998", "2.2", ".097", "1.00"], Some(0.95), true),
        kind("jumprelu, alpha .25", of("jumprelu", 0.25), [".999", "1.8", ".121", "1.00"], Some(0.95), true),
        kind("gated, alpha .5", of("gated", 0.5), [".970", "4.1", ".078", "1.00"], Some(0.92), true),
    ]
}

/// Why single values are not comparable.
const OTHER: &str =
    "other draws, each row in many batches; thresholds and dead units are initialised differently";

/// Settings with those that all have: rows as they are, 3000 steps, fewer in the quick form, which has the default rate.
fn completed(settings: &Value, quick: bool) -> Value {
    let mut out = settings.clone();
    if quick {
        out["max_epochs"] = 20.into();
    } else {
        out["normalize"] = false.into();
        out["learning_rate"] = 2e-3.into();
        out["max_epochs"] = 38.into();
    }
    out
}

pub(super) fn run(lab: &mut Lab<'_>, sheet: &mut Sheet) -> Result<()> {
    let quick = lab.options.quick;
    let (n, held, seeds) = if quick { (6000, 1000, 1) } else { (20_000, 4000, 3) };
    lab.note(format!(
        "Toy: {n} rows of {P} numbers, sums of {M} atoms with codes |N(0, 1) + 1| where they are not 0 ({SHARE} of them), a mean and noise of standard deviation {NOISE}; \
         measured on {held} other rows, medians of {seeds} seeds. The penalty of the reference values has twice the weight alpha, relative to the whole squared error."
    ))?;
    let (x, atoms) = rows(n, 1);
    let (other, _) = rows(held, 77);
    let (mut lines, mut pairs) = (Vec::new(), Vec::new());
    for kind in kinds(quick) {
        let settings = completed(&kind.settings, quick);
        let mut found: Vec<ToyMeasures> = Vec::new();
        for seed in 0..seeds {
            let model = fit(lab, &settings, x.as_slice(), P, seed)?;
            let mut rows = Rows::from_slice(other.as_slice(), P)?;
            let seen = evaluate(&model, &mut rows, &lab.run_of(seed, None))?;
            let alike = cosines(&atoms, &filters(&model));
            let measures = [mean(&alike), seen.l0, seen.fvu, seen.shrinkage];
            let mut line = vec![kind.name.to_string(), seed.to_string()];
            line.extend(measures.map(shown));
            line.extend([
                shown(seen.dead),
                shown(seen.fvu_pca),
                shown(seen.fvu_omp),
                shown(diagnostic(&model, "fvu")),
            ]);
            lines.push(line);
            found.push(measures);
            if seed == 0 {
                pairs.push((kind.name.to_string(), alike));
            }
        }
        recorded(lab, &kind, &found)?;
    }
    let header = [
        "fit",
        "seed",
        "cosine",
        "l0",
        "fvu",
        "shrinkage",
        "dead",
        "fvu_pca",
        "fvu_omp",
        "fvu_training_rows",
    ];
    lab.table("toy", &header, &lines)?;
    sheet.add("toy: true atoms and units, paired", sorted(pairs));
    two_seeds(lab, &x, sheet)
}

fn recorded(lab: &mut Lab<'_>, kind: &AutoencoderCase, found: &[ToyMeasures]) -> Result<()> {
    for (at, measure) in MEASURES.iter().enumerate() {
        let ours = median(found.iter().map(|f| f[at]));
        let (what, known) = (format!("toy, {}: {measure}", kind.name), kind.known[at]);
        match (at, kind.least) {
            (0, Some(least)) => lab.check(what, ours, known, &format!("at least {least}"), ours >= least)?,
            (3, _) if kind.exact => {
                lab.check(what, ours, known, ".98 to 1.02", (0.98..=1.02).contains(&ours))?;
            }
            _ => lab.beside(what, ours, known, OTHER)?,
        }
    }
    Ok(())
}

/// Atoms of two seeds, from random directions and from rows.
fn two_seeds(lab: &mut Lab<'_>, x: &Matrix<f64>, sheet: &mut Sheet) -> Result<()> {
    let mut lines = Vec::new();
    for init in ["random", "data"] {
        let quick = lab.options.quick;
        let settings = completed(&json!({"n_components": 128, "l0": 4, "init": init}), quick);
        let [a, b] = [0, 1].map(|seed| fit(lab, &settings, x.as_slice(), P, seed));
        let alike = cosines(&filters(&a?), &filters(&b?));
        lab.number(
            format!("toy, topk from {init} atoms: mean cosine of the atoms of two seeds"),
            mean(&alike),
        )?;
        let what = format!("toy, topk from {init} atoms: share of them with a cosine of at least .7");
        lab.number(what, found_again(&alike))?;
        lines.push((format!("from {init} atoms"), alike));
    }
    let (alike, _) = chance(128, P);
    lab.number("toy: mean cosine of two sets of random directions", mean(&alike))?;
    lines.push(("random directions".into(), alike));
    sheet.add("toy: units of two seeds, paired", sorted(lines));
    Ok(())
}
