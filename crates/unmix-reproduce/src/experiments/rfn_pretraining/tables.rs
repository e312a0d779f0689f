//! Errors compared with the published ones, every run, and learning curves.

use super::Plan;
use super::arms::{ARMS, Arm};
use super::data::SetSpec;
use super::published::{self, METHODS, half_interval};
use super::runs::{Errors, TunedNetwork, chosen};
use crate::lab::Lab;
use crate::output::{Grid, GridCell, shown};
use unmix::Result;
use unmix_report::{Content, Sheet};

type SetResults = [(SetSpec, Vec<TunedNetwork>)];

/// Why errors are not comparable with the published ones.
const OTHER: &str = "other pictures of the same kind, 4 settings instead of 144";

pub(super) fn tables(lab: &mut Lab<'_>, plan: &Plan, found: &SetResults) -> Result<()> {
    numbers(lab, plan, found)?;
    table_2(lab, plan, found)?;
    table_s11(lab)?;
    runs(lab, plan, found)?;
    curves(lab, found)
}

/// Errors of the chosen runs of one initial layer over the seeds.
struct Summary {
    mean: f64,
    /// Standard deviation over seeds, of more than one.
    spread: Option<f64>,
    half: f64,
    epochs: f64,
}

fn summary(plan: &Plan, (spec, all): &(SetSpec, Vec<TunedNetwork>), arm: Arm) -> Option<Summary> {
    let each: Vec<&Errors> = (0..plan.seeds).filter_map(|seed| Some(chosen(all, arm, seed)?.1)).collect();
    if each.is_empty() {
        return None;
    }
    let n = each.len() as f64;
    let mean = each.iter().map(|e| e.test).sum::<f64>() / n;
    let squares: f64 = each.iter().map(|e| (e.test - mean).powi(2)).sum();
    Some(Summary {
        mean,
        spread: (n > 1.0).then(|| (squares / (n - 1.0)).sqrt()),
        half: half_interval(mean, plan.sizes(spec.sizes)[2] as f64),
        epochs: each.iter().map(|e| e.epoch as f64).sum::<f64>() / n,
    })
}

fn numbers(lab: &mut Lab<'_>, plan: &Plan, found: &SetResults) -> Result<()> {
    let lines = published::table_2()?;
    for set in found {
        let name = set.0.name;
        for arm in ARMS {
            let Some(of) = summary(plan, set, arm) else {
                lab.note(format!("{name}, {}: every fine-tuning diverged.", arm.name()))?;
                continue;
            };
            let printed = lines.iter().find(|line| line.set == name && arm == Arm::Rfn);
            let printed = printed.and_then(|line| line.errors[5]).map_or(String::new(), |e| e.0.to_string());
            let (what, percent) = (format!("{name}, {}: test error in percent", arm.name()), 100.0 * of.mean);
            // The range expected of a network without pretraining.
            match name == "basic" && arm == Arm::Random && !plan.quick {
                true => lab.check(what, percent, "", "from 2.5 to 5", (2.5..=5.0).contains(&percent))?,
                false => lab.beside(what, percent, &printed, OTHER)?,
            }
            lab.number(
                format!("{name}, {}: half of the 95 % interval, percent", arm.name()),
                100.0 * of.half,
            )?;
            if let Some(spread) = of.spread {
                lab.number(
                    format!("{name}, {}: standard deviation over seeds, percent", arm.name()),
                    100.0 * spread,
                )?;
            }
            lab.number(format!("{name}, {}: epochs of fine-tuning, mean", arm.name()), of.epochs)?;
        }
    }
    Ok(())
}

/// Ours by initial layer, and the published table.
fn table_2(lab: &mut Lab<'_>, plan: &Plan, found: &SetResults) -> Result<()> {
    let lines = published::table_2()?;
    let title = "Table 2: test errors in percent, with half of their 95 % intervals; ours first, with the standard deviation over seeds";
    let mut grid = Grid::new(title.into());
    grid.header = std::iter::once(String::new())
        .chain(lines.iter().map(|line| format!("{} ({} test)", line.set, line.n_test)))
        .collect();
    let mut csv = Vec::new();
    for arm in ARMS {
        let mut row = vec![GridCell::of(vec![format!("ours, {}", arm.name())])];
        for line in &lines {
            let of = found.iter().find(|set| set.0.name == line.set).and_then(|set| summary(plan, set, arm));
            let cells = of.map_or_else(
                || vec!["-".into()],
                |of| {
                    let mut cells = vec![format!("{:.2} ± {:.2}", 100.0 * of.mean, 100.0 * of.half)];
                    cells.extend(of.spread.map(|s| format!("seeds {:.2}", 100.0 * s)));
                    cells
                },
            );
            csv.push(vec![format!("ours, {}", arm.name()), line.set.clone(), cells.join("; ")]);
            row.push(GridCell::of(cells));
        }
        grid.rows.push(row);
    }
    for (at, method) in METHODS.iter().enumerate() {
        let mut row = vec![GridCell::of(vec![format!("published, {method}")])];
        for line in &lines {
            let cells = line.errors[at].map_or("-".into(), |(error, half)| format!("{error:.2} ± {half:.2}"));
            csv.push(vec![format!("published, {method}"), line.set.clone(), cells.clone()]);
            row.push(GridCell::of(vec![cells]));
        }
        grid.rows.push(row);
    }
    lab.table("table_2", &["method", "set", "error"], &csv)?;
    lab.grid(grid)
}

/// The published table of convolutional networks, which are not run.
fn table_s11(lab: &mut Lab<'_>) -> Result<()> {
    let mut lines = published::table_s11()?;
    let mut grid = Grid::new(
        "Table S11 as published (not run): test errors of convolutional networks in percent".into(),
    );
    grid.header = lines.remove(0);
    let header: Vec<&str> = grid.header.iter().map(String::as_str).collect();
    lab.table("table_s11", &header, &lines)?;
    grid.rows = lines
        .into_iter()
        .map(|line| line.into_iter().map(|cell| GridCell::of(vec![cell])).collect())
        .collect();
    lab.grid(grid)
}

fn runs(lab: &mut Lab<'_>, plan: &Plan, found: &SetResults) -> Result<()> {
    let header = [
        "set",
        "initial layer",
        "seed",
        "learning rate",
        "masking",
        "epochs",
        "best epoch",
        "validation error",
        "test error",
        "chosen",
    ];
    let mut lines = Vec::new();
    for (spec, all) in found {
        for run in all {
            let best = chosen(all, run.arm, run.seed).is_some_and(|(other, _)| std::ptr::eq(other, run));
            let mut line = vec![spec.name.to_string(), run.arm.name().into(), run.seed.to_string()];
            line.extend([shown(run.learning_rate), shown(run.masking)]);
            match &run.result {
                Some(e) => line.extend([
                    e.curve.len().to_string(),
                    e.epoch.to_string(),
                    shown(e.validation),
                    shown(e.test),
                    if best { "yes" } else { "" }.into(),
                ]),
                None => line.extend(["diverged", "", "", "", ""].map(String::from)),
            }
            lines.push(line);
        }
    }
    lab.table("runs", &header, &lines)?;
    let diverged = found.iter().flat_map(|set| &set.1).filter(|run| run.result.is_none()).count();
    if diverged > 0 {
        lab.note(format!("{diverged} of {} fine-tunings diverged and are not chosen.", lines.len()))?;
    }
    lab.number("fine-tunings", lines.len() as f64)?;
    lab.number("seeds", plan.seeds as f64)
}

/// Validation errors of the chosen runs of the first seed.
fn curves(lab: &mut Lab<'_>, found: &SetResults) -> Result<()> {
    let mut sheet = Sheet::new(
        "Errors on the validation part, in percent, by epoch: the chosen setting of the first seed",
        3,
    );
    for (spec, all) in found {
        let line = |arm: Arm| {
            let (_, errors) = chosen(all, arm, 0)?;
            let points = errors.curve.iter().enumerate().map(|(i, e)| ((i + 1) as f64, 100.0 * e)).collect();
            Some((arm.name().to_string(), points))
        };
        let lines: Vec<(String, Vec<(f64, f64)>)> = ARMS.into_iter().filter_map(line).collect();
        let names = ("epoch".into(), "validation error, percent".into());
        sheet.add(spec.name, Content::Lines { lines, names, log_y: false, shaded: Vec::new() });
    }
    lab.figure("rfn-pretraining", &sheet)
}
