//! Figures: modules found by shift, and panels of modules as in the published figure.

use super::compare::{Line, lines, name, results_of};
use super::fits::{Fitted, Starts, data, overlap, ranking};
use super::planted::{Done, JUDGED_FLOOR, JUDGED_UNITS, PLANTED, Plan};
use crate::lab::Lab;
use unmix::biclusters::Module;
use unmix::{Matrix, Result};
use unmix_report::{Content, Sheet};

/// Columns of a panel: those of largest loading.
const COLUMNS: usize = 6;
/// Panels of modules.
pub(super) const PANELS: usize = 3;

pub(super) fn planted(lab: &mut Lab<'_>, plan: &Plan, done: &[Done]) -> Result<()> {
    let mut sheet =
        Sheet::new("Share of planted modules found, by shift of their cells", plan.units.len() + 1);
    for &units in plan.units {
        let own = |(fitted, _): &Line| !matches!(fitted, Fitted::Rfn { floor, .. } if *floor != JUDGED_FLOOR);
        let some = lines(plan).into_iter().filter(own).collect();
        sheet.add(
            format!("{units} units, noise at least {JUDGED_FLOOR}"),
            by_shift(plan, done, units, some, false),
        );
    }
    let all = |(_, starts): &Line| *starts == Starts::All;
    let some = lines(plan).into_iter().filter(all).collect();
    sheet.add(
        format!("{JUDGED_UNITS} units, all starts pooled"),
        by_shift(plan, done, JUDGED_UNITS, some, true),
    );
    lab.figure("found", &sheet)?;
    panels_of_planted(lab)
}

fn by_shift(plan: &Plan, done: &[Done], units: usize, some: Vec<Line>, with_floor: bool) -> Content {
    let line = |line: Line| {
        let share = |shift: f64| {
            let own = results_of(done, line, units, shift);
            own.iter().map(|f| f.found).sum::<f64>() / (PLANTED * own.len().max(1) as f64)
        };
        let points = plan.shifts.iter().map(|&shift| (shift, share(shift))).collect();
        (name(line, with_floor), points)
    };
    let names = ("shift".into(), "share found".into());
    Content::Lines { lines: some.into_iter().map(line).collect(), names, log_y: false, shaded: Vec::new() }
}

/// Modules of the first data set as panels; classes are the rows of the planted module and the others.
fn panels_of_planted(lab: &mut Lab<'_>) -> Result<()> {
    let made = data(4.0, 0)?;
    let found = ranking(&made, JUDGED_UNITS, JUDGED_FLOOR, lab.run)?;
    let mut sheet =
        Sheet::new("The first modules of a data set of shift 4, RFN from independent components", PANELS);
    for m in found.modules.iter().take(PANELS) {
        let (share, module) = overlap(m, &made);
        let classes: Vec<usize> = made.rows[module].iter().map(|r| usize::from(*r)).collect();
        let caption = format!("{}; overlap with planted module {module}: {share:.2}", title(m));
        sheet.add(caption, panel(m, &made.x, &classes, |column| format!("column {column}")));
    }
    lab.figure("planted", &sheet)
}

/// Unit, sizes and information content of a module.
pub(super) fn title(m: &Module) -> String {
    let nats = m.information.map_or(String::new(), |nats| format!(", {nats:.2} nats a row"));
    format!("unit {}: {} rows, {} columns{nats}", m.units[0].1, m.rows.len(), m.columns.len())
}

/// The code of every row above, the columns of largest loading below it; rows by class, then by falling code, members large.
pub(super) fn panel(
    m: &Module,
    x: &Matrix<f64>,
    classes: &[usize],
    named: impl Fn(usize) -> String,
) -> Content {
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order.sort_by(|&a, &b| {
        classes[a].cmp(&classes[b]).then(m.codes[b].total_cmp(&m.codes[a])).then(a.cmp(&b))
    });
    let mut columns = m.columns.clone();
    let loading = |j: &u32| m.loadings[*j as usize].abs();
    columns.sort_by(|a, b| loading(b).total_cmp(&loading(a)).then(a.cmp(b)));
    columns.truncate(COLUMNS);
    let code = order.iter().map(|&i| f64::from(m.codes[i])).collect();
    let mut strips = vec![("code".to_string(), code)];
    for column in columns {
        let values = order.iter().map(|&i| x[(i, column as usize)]).collect();
        strips.push((named(column as usize), values));
    }
    let large = order.iter().map(|&i| m.rows.binary_search(&(i as u32)).is_ok()).collect();
    Content::Strips { strips, classes: order.iter().map(|&i| classes[i]).collect(), large }
}
