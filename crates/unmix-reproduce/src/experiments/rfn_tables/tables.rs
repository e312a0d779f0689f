//! The tables compared with the published ones, and every number of them.

use super::compare::{CriterionComparison, compared, summary};
use super::fits::Outcome;
use super::methods::METHODS;
use super::published::{CRITERIA, Cell};
use super::{Job, Plan, TableColumn, roman};
use crate::lab::Lab;
use crate::output::{Grid, GridCell};
use unmix::Result;
use unmix::datasets::BICLUSTERS;

/// Columns of the table of all numbers.
const CELL_COLUMNS: [&str; 13] = [
    "method",
    "set",
    "units",
    "data",
    "criterion",
    "ours",
    "ours_sd",
    "instances",
    "published",
    "published_sd",
    "bound",
    "mark",
    "why",
];

/// The tables, every number as CSV, and how many judged criteria differ.
pub(super) fn tables(
    lab: &mut Lab<'_>,
    plan: &Plan,
    done: &[(Job, Outcome)],
    published: &[Cell],
) -> Result<()> {
    let (mut lines, mut averages) = (Vec::new(), Vec::new());
    let mut tables: Vec<(u64, usize)> = plan.places.iter().map(|p| (p.set, p.units)).collect();
    tables.dedup();
    for (set, units) in tables {
        let mut grid = Grid::new(format!("Set {}, {units} units", roman(set)));
        grid.header.push("method".into());
        grid.header.extend(plan.data.iter().map(|&d| BICLUSTERS[d].0.to_string()));
        grid.header.push("average".into());
        for (at, method) in METHODS.iter().enumerate() {
            let mut row = vec![GridCell::of(vec![method.name.into()])];
            let (mut judged, mut differing, mut all) = (0, 0, Vec::new());
            for &data in &plan.data {
                let place = TableColumn { set, units, data };
                let (criteria, why) = compared(at, place, done, published);
                judged += criteria.iter().filter(|c| c.holds().is_some()).count();
                differing += criteria.iter().filter(|c| c.holds() == Some(false)).count();
                for (c, name) in criteria.iter().zip(CRITERIA) {
                    lines.push(record(method.name, place, name, c, why.as_deref()));
                }
                row.push(cell(&criteria, why));
                all.push(criteria);
            }
            let (cell, records) = average(method.name, set, units, &all);
            row.push(cell);
            averages.extend(records);
            grid.rows.push(row);
            if judged > 0 {
                let what = format!(
                    "set {}, {units} units, {}: criteria of {judged} that differ from the published ones",
                    roman(set),
                    method.name
                );
                // The iterations of the published FA are not given, those here end at the maximum of the likelihood.
                match method.name {
                    "FA" => lab.number(what, differing as f64)?,
                    _ => lab.check(what, differing as f64, "", "none", differing == 0)?,
                }
            }
        }
        lab.grid(grid)?;
    }
    lab.table("cells", &CELL_COLUMNS, &lines)?;
    lab.table("averages", &["method", "set", "units", "criterion", "ours", "published"], &averages)
}

fn cell(criteria: &[CriterionComparison], why: Option<String>) -> GridCell {
    if let Some(why) = why {
        let mut lines: Vec<String> = criteria
            .iter()
            .zip(CRITERIA)
            .filter(|(c, _)| c.published.is_some())
            .map(|(c, name)| c.line(name))
            .collect();
        // The reason is in the table of all numbers.
        lines.push(why.split(':').next().unwrap_or_default().into());
        return GridCell::of(lines);
    }
    let own = |(c, _): &(&CriterionComparison, &str)| c.ours.is_some() || c.published.is_some();
    let mut lines: Vec<String> =
        criteria.iter().zip(CRITERIA).filter(own).map(|(c, name)| c.line(name)).collect();
    let differ: Vec<&str> =
        criteria.iter().zip(CRITERIA).filter(|(c, _)| c.holds() == Some(false)).map(|c| c.1).collect();
    let judged = criteria.iter().any(|c| c.holds().is_some());
    lines.push(match (differ.is_empty(), judged) {
        (false, _) => format!("differs: {}", differ.join(", ")),
        (true, true) => "holds".into(),
        (true, false) => "not comparable".into(),
    });
    GridCell { lines, missed: !differ.is_empty() }
}

fn record(
    method: &str,
    place: TableColumn,
    criterion: &str,
    c: &CriterionComparison,
    why: Option<&str>,
) -> Vec<String> {
    let number = |v: Option<f64>| v.map_or(String::new(), |v| format!("{v:.6}"));
    let (mark, reason) = match why {
        Some(why) => ("not available", why),
        None => c.mark(),
    };
    vec![
        method.into(),
        roman(place.set).into(),
        place.units.to_string(),
        place.name().into(),
        criterion.into(),
        number(c.ours.map(|v| v.0)),
        number(c.ours.and_then(|v| v.1)),
        c.n.to_string(),
        number(c.published.map(|v| v.0)),
        number(c.published.map(|v| v.1)),
        number(c.bound()),
        mark.into(),
        reason.into(),
    ]
}

/// Averages over the data sets that were run, of the published values over the same ones.
fn average(
    method: &str,
    set: u64,
    units: usize,
    all: &[Vec<CriterionComparison>],
) -> (GridCell, Vec<Vec<String>>) {
    let (mut lines, mut records) = (Vec::new(), Vec::new());
    for (at, name) in CRITERIA.iter().enumerate() {
        let mean = |of: &dyn Fn(&CriterionComparison) -> Option<f64>| {
            let values: Option<Vec<f64>> = all.iter().map(|c| of(&c[at])).collect();
            summary(&values?).map(|v| v.0)
        };
        let ours = mean(&|c| c.ours.map(|v| v.0));
        let published = mean(&|c| c.published.map(|v| v.0));
        if ours.is_none() && published.is_none() {
            continue;
        }
        let text = |v: Option<f64>| v.map_or("-".into(), |v| format!("{v:.1}"));
        lines.push(format!("{name} {} ({})", text(ours), text(published)));
        let number = |v: Option<f64>| v.map_or(String::new(), |v| format!("{v:.6}"));
        records.push(vec![
            method.into(),
            roman(set).into(),
            units.to_string(),
            (*name).into(),
            number(ours),
            number(published),
        ]);
    }
    (GridCell::of(lines), records)
}
