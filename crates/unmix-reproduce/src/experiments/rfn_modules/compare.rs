//! Modules found by each method, differences between methods on the same data, and the conditions.

use super::fits::{Fitted, Job, ModuleRecovery, Starts};
use super::planted::{Done, JUDGED_FLOOR, JUDGED_UNITS, PLANTED, Plan};
use crate::lab::Lab;
use crate::output::{Grid, GridCell};
use unmix::Result;
use unmix::stats::mean_interval;

/// A line of the comparison: a method, and the fits that are ranked together.
pub(super) type Line = (Fitted, Starts);

const OF_STARTS: [Starts; 5] =
    [Starts::One, Starts::Random, Starts::Independent, Starts::IndependentBriefly, Starts::All];

/// The lines of a table, in its order.
pub(super) fn lines(plan: &Plan) -> Vec<Line> {
    let mut out = vec![(Fitted::Pca, Starts::Only), (Fitted::Ica, Starts::Only)];
    for &floor in plan.floors {
        for normalize in ["rms", "none"] {
            out.extend(OF_STARTS.map(|starts| (Fitted::Rfn { floor, normalize }, starts)));
        }
    }
    out
}

fn rfn(normalize: &'static str, starts: Starts) -> Line {
    (Fitted::Rfn { floor: JUDGED_FLOOR, normalize }, starts)
}

/// Name of a line; with the bound on the noise where several are compared.
pub(super) fn name((fitted, starts): Line, with_floor: bool) -> String {
    let floor = match fitted {
        Fitted::Rfn { floor, .. } if with_floor => format!(", noise ≥ {floor}"),
        _ => String::new(),
    };
    format!("{}, {}{floor}", fitted.name(), starts.words())
}

/// Results of a line on every data set of a shift, in the order of the instances.
pub(super) fn results_of(
    done: &[Done],
    (fitted, starts): Line,
    units: usize,
    shift: f64,
) -> Vec<&ModuleRecovery> {
    let own = |job: &Job| job.fitted == fitted && job.units == units && job.shift == shift;
    let mut own: Vec<&Done> = done.iter().filter(|(job, _)| own(job)).collect();
    own.sort_by_key(|(job, _)| job.instance);
    own.iter().flat_map(|(_, found)| found.iter().filter(move |f| f.starts == starts)).collect()
}

fn sum(of: &[&ModuleRecovery], get: impl Fn(&ModuleRecovery) -> f64) -> f64 {
    of.iter().map(|f| get(f)).sum()
}

/// Modules of a reference measurement that are found, of 25, at the shifts 5, 4 and 3.
fn reference(line: Line, shift: f64) -> &'static str {
    let at = (5.0 - shift) as usize;
    let known = match line {
        (Fitted::Ica, _) => ["25 of 25", "25 of 25", "19 of 25"],
        l if l == rfn("rms", Starts::One) => ["21.8 of 25", "17.3 of 25", "2.8 of 25"],
        l if l == rfn("rms", Starts::Random) => ["25 of 25", "25 of 25", "15 of 25"],
        l if l == rfn("rms", Starts::IndependentBriefly) => ["25 of 25", "25 of 25", "20 of 25"],
        l if l == rfn("rms", Starts::All) => ["25 of 25", "25 of 25", "22 of 25"],
        _ => [""; 3],
    };
    known[at.min(2)]
}

/// Numbers of the judged setting, with the conditions.
pub(super) fn judged(lab: &mut Lab<'_>, plan: &Plan, done: &[Done]) -> Result<()> {
    let planted = PLANTED * plan.instances as f64;
    for &shift in plan.shifts {
        for line in lines(plan).into_iter().filter(|(fitted, _)| is_judged(*fitted)) {
            let found = sum(&results_of(done, line, JUDGED_UNITS, shift), |f| f.found);
            let what =
                format!("shift {shift}, {JUDGED_UNITS} units, {}: found of {planted}", name(line, false));
            lab.beside(
                what,
                found,
                reference(line, shift),
                "of five other data sets; the conditions are about the pooled starts",
            )?;
        }
        conditions(lab, shift, &results_of(done, rfn("rms", Starts::All), JUDGED_UNITS, shift), planted)?;
    }
    Ok(())
}

fn is_judged(fitted: Fitted) -> bool {
    !matches!(fitted, Fitted::Rfn { floor, .. } if floor != JUDGED_FLOOR)
}

/// Of all starts pooled: 96 % found and 90 % among the first ten at shifts 5 and 4, 72 % declared at 4, at most 15 % of the declared false.
fn conditions(lab: &mut Lab<'_>, shift: f64, all: &[&ModuleRecovery], planted: f64) -> Result<()> {
    let what = |quantity: &str| format!("shift {shift}, {JUDGED_UNITS} units, all starts pooled: {quantity}");
    let (found, first) = (sum(all, |f| f.found), sum(all, |f| f.first));
    let declared =
        |get: fn(&super::fits::SignificantModules) -> f64| sum(all, |f| f.declared.as_ref().map_or(0.0, get));
    let (count, modules, wrong) = (declared(|d| d.all), declared(|d| d.modules), declared(|d| d.wrong));
    if shift < 4.0 {
        lab.number(what("found among the first ten"), first)?;
        lab.number(what("modules among the declared"), modules)?;
        return lab.number(what("share of the declared that is false"), wrong / count.max(1.0));
    }
    let share = |part: f64| (part * planted).floor();
    let part = share(0.96);
    lab.check(what("found"), found, "", &format!("at least {part} of {planted}"), found >= part)?;
    let part = share(0.9);
    lab.check(
        what("found among the first ten"),
        first,
        "",
        &format!("at least {part} of {planted}"),
        first >= part,
    )?;
    let part = share(0.72);
    match shift < 5.0 {
        true => lab.check(
            what("modules among the declared"),
            modules,
            "",
            &format!("at least {part} of {planted}"),
            modules >= part,
        )?,
        false => lab.number(what("modules among the declared"), modules)?,
    }
    let wrong = wrong / count.max(1.0);
    lab.check(what("share of the declared that is false"), wrong, "", "at most 0.15", wrong <= 0.15)
}

/// Tables of the page by number of units, and every number of them.
pub(super) fn tables(lab: &mut Lab<'_>, plan: &Plan, done: &[Done]) -> Result<()> {
    let (mut all, mut each) = (Vec::new(), Vec::new());
    let planted = PLANTED * plan.instances as f64;
    for &units in plan.units {
        let mut grid = Grid::new(format!("Planted modules found of {planted}, {units} units"));
        grid.header.push("method".into());
        grid.header.extend(plan.shifts.iter().map(|shift| format!("shift {shift}")));
        for line in lines(plan) {
            let mut row = vec![GridCell::of(vec![name(line, true)])];
            for &shift in plan.shifts {
                let own = results_of(done, line, units, shift);
                row.push(cell(&own));
                all.push(record(line, units, shift, &own));
                each.extend(
                    own.iter().enumerate().map(|(instance, f)| of_instance(line, units, shift, instance, f)),
                );
            }
            grid.rows.push(row);
        }
        lab.grid(grid)?;
    }
    let key = ["method", "starts", "psi_min", "units", "shift"];
    let more = [
        "instances",
        "planted",
        "found",
        "first_ten",
        "consensus",
        "declared",
        "declared_modules",
        "declared_false",
    ];
    lab.table("modules", &[&key[..], &more].concat(), &all)?;
    let more =
        ["instance", "found", "first_ten", "consensus", "declared", "declared_modules", "declared_false"];
    lab.table("data-sets", &[&key[..], &more].concat(), &each)
}

fn key((fitted, starts): Line, units: usize, shift: f64) -> Vec<String> {
    let floor = if let Fitted::Rfn { floor, .. } = fitted { floor.to_string() } else { String::new() };
    vec![fitted.name().into(), starts.words().into(), floor, units.to_string(), shift.to_string()]
}

/// Numbers of declared modules, of planted ones among them, and of false ones; empty where there are no q-values.
fn declared(of: &[&ModuleRecovery]) -> [String; 3] {
    if of.iter().any(|f| f.declared.is_none()) || of.is_empty() {
        return Default::default();
    }
    let total = |get: fn(&super::fits::SignificantModules) -> f64| {
        sum(of, |f| f.declared.as_ref().map_or(0.0, get)).to_string()
    };
    [total(|d| d.all), total(|d| d.modules), total(|d| d.wrong)]
}

fn record(line: Line, units: usize, shift: f64, own: &[&ModuleRecovery]) -> Vec<String> {
    let n = own.len() as f64;
    let numbers = [
        n,
        PLANTED * n,
        sum(own, |f| f.found),
        sum(own, |f| f.first),
        sum(own, |f| f.consensus) / n.max(1.0),
    ];
    let numbers = numbers.iter().map(|v| format!("{v:.6}"));
    key(line, units, shift).into_iter().chain(numbers).chain(declared(own)).collect()
}

fn of_instance(line: Line, units: usize, shift: f64, instance: usize, f: &ModuleRecovery) -> Vec<String> {
    let numbers = [f.found, f.first, f.consensus].map(|v| format!("{v:.6}"));
    let at = std::iter::once(instance.to_string());
    key(line, units, shift).into_iter().chain(at).chain(numbers).chain(declared(&[f])).collect()
}

fn tenths(x: f64) -> String {
    ((10.0 * x).round() / 10.0).to_string()
}

fn cell(own: &[&ModuleRecovery]) -> GridCell {
    let n = own.len().max(1) as f64;
    let mut text = vec![
        format!("found {}, first ten {}", tenths(sum(own, |f| f.found)), tenths(sum(own, |f| f.first))),
        format!("consensus {:.2}", sum(own, |f| f.consensus) / n),
    ];
    let [all, modules, wrong] = declared(own);
    if !all.is_empty() {
        text.push(format!("declared {all}: {modules} modules, {wrong} false"));
    }
    GridCell::of(text)
}

/// The fits that are compared: the second is subtracted from the first.
fn pairs() -> [(Line, Line); 7] {
    let all = rfn("rms", Starts::All);
    let (ica, pca) = ((Fitted::Ica, Starts::Only), (Fitted::Pca, Starts::Only));
    [
        (all, ica),
        (rfn("rms", Starts::IndependentBriefly), ica),
        (rfn("rms", Starts::Random), ica),
        (rfn("rms", Starts::One), ica),
        (all, pca),
        (all, rfn("rms", Starts::One)),
        (all, rfn("none", Starts::All)),
    ]
}

/// Differences of modules found on the same data, with 95 % intervals over the data sets.
pub(super) fn differences(lab: &mut Lab<'_>, plan: &Plan, done: &[Done]) -> Result<()> {
    let pairs = pairs();
    let (mut records, mut more): (Vec<Vec<String>>, Vec<String>) = Default::default();
    for &units in plan.units {
        let mut grid = Grid::new(format!(
            "Differences of modules found in a data set of five, {units} units, 95 % intervals"
        ));
        grid.header.push("first minus second".into());
        grid.header.extend(plan.shifts.iter().map(|shift| format!("shift {shift}")));
        for (at, (a, b)) in pairs.iter().enumerate() {
            let mut row = vec![GridCell::of(vec![name(*a, false), format!("minus {}", name(*b, false))])];
            for &shift in plan.shifts {
                let (x, y) = (results_of(done, *a, units, shift), results_of(done, *b, units, shift));
                let apart: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x.found - y.found).collect();
                let Some((mean, low, high)) = mean_interval(&apart) else {
                    row.push(GridCell::of(vec!["one data set has no interval".into()]));
                    continue;
                };
                row.push(GridCell::of(vec![format!("{mean:.2} ({low:.2} to {high:.2})")]));
                records.push(
                    [
                        units.to_string(),
                        shift.to_string(),
                        name(*a, false),
                        name(*b, false),
                        apart.len().to_string(),
                    ]
                    .into_iter()
                    .chain([mean, low, high].map(|v| format!("{v:.6}")))
                    .collect(),
                );
                if at == 0 && low > 0.0 {
                    more.push(format!("{shift} ({units} units)"));
                }
            }
            grid.rows.push(row);
        }
        lab.grid(grid)?;
    }
    if records.is_empty() {
        return lab.note("Differences: one data set has no interval.");
    }
    lab.note(match more.is_empty() {
        true => "The 95 % interval of the difference between all starts of RFN pooled and ICA includes 0, or less, at every shift: these data do not show that RFN finds more modules than ICA.".to_string(),
        false => format!("The 95 % interval of the difference between all starts of RFN pooled and ICA is above 0 at shift {} only.", more.join(", ")),
    })?;
    lab.table(
        "differences",
        &["units", "shift", "first", "second", "data_sets", "mean", "low", "high"],
        &records,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(found: f64) -> ModuleRecovery {
        ModuleRecovery { starts: Starts::Only, found, first: found, consensus: 0.5, declared: None }
    }

    #[test]
    fn results_of_a_line_are_in_the_order_of_the_instances() {
        let job = |instance| Job {
            shift: 4.0,
            units: 50,
            fitted: Fitted::Ica,
            instance,
            starts: 1,
            permutations: 0,
        };
        let done: Vec<Done> = [2, 0, 1].map(|i| (job(i), vec![found(i as f64)])).into();
        let own = results_of(&done, (Fitted::Ica, Starts::Only), 50, 4.0);
        assert_eq!(own.iter().map(|f| f.found).collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
        assert!(results_of(&done, (Fitted::Pca, Starts::Only), 50, 4.0).is_empty());
        assert_eq!(cell(&own).lines[0], "found 3, first ten 3");
    }
}
