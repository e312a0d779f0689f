//! Activations from a file: reconstruction of held-out rows, dead units, and atoms that another seed reproduces.

use super::{chance, cosines, diagnostic, fit, found_again, mean, median, sorted};
use crate::lab::{Lab, filters};
use crate::output::shown;
use crate::pictures::reading;
use serde_json::{Value, json};
use std::path::Path;
use unmix::method::sae::{Evaluation, evaluate};
use unmix::{Error, Model, Real, Result, Rows, Run};
use unmix_report::{Content, Sheet};

/// Rows of a file, the last fifth of them held out.
struct Activations {
    train: Vec<f32>,
    held: Vec<f32>,
    p: usize,
    /// Whether they are those of the reference values.
    known: bool,
}

impl Activations {
    fn read(path: &Path, quick: bool, run: &Run<'_>) -> Result<Self> {
        let mut rows = unmix_io::open_with(path, &reading(), run)?.rows;
        rows.prepare(run)?;
        let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
        if n < 20 || p < 2 {
            let found = format!("it has {n} rows of {p} numbers");
            return Err(Error::format(path, found, "give a row for each token, at least 20 rows"));
        }
        let used = if quick { n.min(2000) } else { n };
        let x: Vec<f32> = unmix::with_rows!(&rows, rows => rows.read_range(0..used)?.iter().map(|x| x.to_f64() as f32).collect());
        let first: f64 = x[..p].iter().map(|x| f64::from(*x)).sum();
        let known = !quick && (n, p) == (15_000, 384) && (first - 8.6267).abs() < 1e-3;
        let held = x[(used as usize * 4 / 5) * p..].to_vec();
        let mut train = x;
        train.truncate(train.len() - held.len());
        Ok(Self { train, held, p, known })
    }
}

/// One kind of fit, and its reference values: FVU of training rows, of rows held out, active units of a training row.
struct FitKind {
    name: &'static str,
    settings: Value,
    seeds: u64,
    known: [&'static str; 3],
}

/// The fits: those with default settings first, which have conditions.
fn kinds(quick: bool, p: usize) -> Vec<FitKind> {
    let kind = |name, settings, seeds, known| FitKind { name, settings, seeds, known };
    if quick {
        let of = |init: &str| json!({"n_components": p, "max_epochs": 3, "init": init});
        return vec![kind(TOPK, of("random"), 2, [""; 3]), kind(FROM_DATA, of("data"), 2, [""; 3])];
    }
    let relu = json!({"activation": "relu", "max_epochs": 12});
    let jumprelu = json!({"activation": "jumprelu", "max_epochs": 12});
    let slow_jumprelu = json!({"activation": "jumprelu", "max_epochs": 10, "learning_rate": 1e-3});
    let slow_relu = json!({"activation": "relu", "max_epochs": 12, "learning_rate": 1e-3});
    vec![
        kind(TOPK, json!({"max_epochs": 12}), 3, [".112", ".196", "32"]),
        kind(RELU, relu, 3, ["", "", ""]),
        kind(JUMPRELU, jumprelu, 3, ["", "", ""]),
        kind(FROM_DATA, json!({"max_epochs": 12, "init": "data"}), 2, [".183", ".248", "32"]),
        kind("topk, rate .001", json!({"max_epochs": 12, "learning_rate": 1e-3}), 2, [".159", ".241", "32"]),
        kind("relu, rate .001", slow_relu, 1, [".478", ".494", "29"]),
        kind("jumprelu, rate .001, 10 epochs", slow_jumprelu, 1, [".163", ".228", "33.1"]),
    ]
}

const TOPK: &str = "topk";
const RELU: &str = "relu";
const JUMPRELU: &str = "jumprelu";
const FROM_DATA: &str = "topk from rows";

/// Why values without a condition are not comparable.
const OTHER: &str = "other random starts and batches; the conditions are about those of default settings";

/// One fit: of training rows FVU and active units; of rows held out everything.
struct FitMeasures {
    fvu: f64,
    l0: f64,
    held: Evaluation,
}

pub(super) fn run(lab: &mut Lab<'_>, path: &Path, sheet: &mut Sheet) -> Result<()> {
    let quick = lab.options.quick;
    let data = Activations::read(path, quick, lab.run)?;
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let (n, held) = (data.train.len() / data.p, data.held.len() / data.p);
    lab.note(format!(
        "Activations: {n} rows of {} numbers of {name} for training, and {held} held out.",
        data.p
    ))?;
    if !data.known {
        lab.note("The reference values are of other activations, or of all of them, and are not shown next to these numbers.")?;
    }
    let (mut lines, mut curves, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
    for kind in kinds(quick, data.p) {
        let mut models: Vec<Model> = Vec::new();
        let mut found = Vec::new();
        for seed in 0..kind.seeds {
            let model = fit(lab, &kind.settings, &data.train, data.p, seed)?;
            let mut rows = Rows::from_slice(&data.held, data.p)?;
            let held = evaluate(&model, &mut rows, &lab.run_of(seed, None))?;
            let one = FitMeasures { fvu: diagnostic(&model, "fvu"), l0: diagnostic(&model, "l0"), held };
            lines.push(line(kind.name, seed, &one));
            found.push(one);
            models.push(model);
        }
        let points = models[0].report().objective.iter().enumerate();
        curves.push((kind.name.to_string(), points.map(|(i, y)| ((i + 1) as f64, *y)).collect()));
        recorded(lab, &kind, &found, data.known)?;
        if [TOPK, FROM_DATA].contains(&kind.name) {
            pairs.push((kind.name.to_string(), cosines(&filters(&models[0]), &filters(&models[1]))));
        }
    }
    let header = [
        "fit",
        "seed",
        "fvu",
        "fvu_held_out",
        "l0",
        "l0_held_out",
        "dead",
        "shrinkage",
        "near_duplicates",
        "fvu_pca",
        "fvu_omp",
    ];
    lab.table("activations", &header, &lines)?;
    let names = ("epoch".into(), "loss".into());
    let content = Content::Lines { lines: curves, names, log_y: true, shaded: Vec::new() };
    sheet.add("activations: loss of training", content);
    two_seeds(lab, &data, pairs, sheet)
}

fn line(name: &str, seed: u64, measures: &FitMeasures) -> Vec<String> {
    let held = &measures.held;
    let numbers = [
        measures.fvu,
        held.fvu,
        measures.l0,
        held.l0,
        held.dead,
        held.shrinkage,
        held.near_duplicates,
        held.fvu_pca,
        held.fvu_omp,
    ];
    [name.to_string(), seed.to_string()].into_iter().chain(numbers.map(shown)).collect()
}

/// Medians over seeds, with the conditions on default settings.
fn recorded(lab: &mut Lab<'_>, kind: &FitKind, found: &[FitMeasures], known: bool) -> Result<()> {
    let middle = |of: &dyn Fn(&FitMeasures) -> f64| median(found.iter().map(of));
    let (fvu, l0) = (middle(&|f| f.fvu), middle(&|f| f.l0));
    let (held, dead) = (middle(&|f| f.held.fvu), middle(&|f| f.held.dead));
    let what = |of: &str| format!("{}: {of}, median of {}", kind.name, found.len());
    let published = |at: usize| if known { kind.known[at] } else { "" };
    lab.beside(what("FVU of the training rows"), fvu, published(0), OTHER)?;
    let most = match kind.name {
        TOPK => Some(0.22),
        JUMPRELU => Some(0.26),
        _ => None,
    };
    match most.filter(|_| known) {
        Some(most) => {
            let condition = format!("at most {most}");
            lab.check(what("FVU of held-out rows"), held, published(1), &condition, held <= most)?;
        }
        None => lab.beside(what("FVU of held-out rows"), held, published(1), OTHER)?,
    }
    let steered = known && [RELU, JUMPRELU].contains(&kind.name);
    match steered {
        true => {
            let near = (l0 / 32.0 - 1.0).abs() <= 0.25;
            lab.check(what("active units of a training row"), l0, "", "within 25 % of 32", near)?;
        }
        false => lab.beside(what("active units of a training row"), l0, published(2), OTHER)?,
    }
    match known && kind.name == TOPK {
        true => lab.check(what("unused units on held-out rows"), dead, "0", "at most .01", dead <= 0.01)?,
        false => lab.number(what("unused units on held-out rows"), dead)?,
    }
    let k = found.first().map_or(0, |f| f.held.n_components_pca);
    let pca = if known && kind.name == TOPK { ".52" } else { "" };
    lab.beside(
        format!("{}: FVU of PCA with {k} components, of the same rows", kind.name),
        middle(&|f| f.held.fvu_pca),
        pca,
        "components computed from the held-out rows",
    )?;
    lab.number(what("FVU of matching pursuit with as many of the same atoms"), middle(&|f| f.held.fvu_omp))
}

/// Atoms that two seeds have in common.
fn two_seeds(
    lab: &mut Lab<'_>,
    data: &Activations,
    pairs: Vec<(String, Vec<f64>)>,
    sheet: &mut Sheet,
) -> Result<()> {
    let shares: Vec<f64> = pairs.iter().map(|(_, alike)| found_again(alike)).collect();
    for (name, alike) in &pairs {
        let known = match (data.known, name.as_str()) {
            (false, _) => "",
            (_, TOPK) => ".345",
            _ => ".458",
        };
        lab.beside(format!("{name}: mean cosine of the atoms of two seeds"), mean(alike), known, OTHER)?;
    }
    if let [random, from_rows] = shares[..] {
        let what = |name: &str| format!("{name}: share of atoms that two seeds share (cosine at least .7)");
        match data.known {
            true => {
                lab.check(what(TOPK), random, ".013", "at most .05: almost none", random <= 0.05)?;
                lab.check(
                    what(FROM_DATA),
                    from_rows,
                    ".175",
                    "more than from random atoms",
                    from_rows > random,
                )?;
            }
            false => {
                lab.number(what(TOPK), random)?;
                lab.number(what(FROM_DATA), from_rows)?;
            }
        }
    }
    let m = pairs.first().map_or(0, |(_, alike)| alike.len());
    let (alike, largest) = chance(m, data.p);
    let what = "mean over random directions of the largest cosine with one of as many others";
    lab.beside(what, largest, if data.known { ".17" } else { "" }, "other random directions")?;
    let mut lines = pairs;
    lines.push(("random directions".into(), alike));
    sheet.add("activations: units of two seeds, paired", sorted(lines));
    Ok(())
}
