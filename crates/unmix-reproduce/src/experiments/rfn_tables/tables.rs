//! The tables compared with the published ones, and every number of them.

use super::compare::{CriterionComparison, averaged, compared};
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

/// Columns of the table of averages.
const AVERAGE_COLUMNS: [&str; 10] =
    ["method", "set", "units", "criterion", "ours", "instances", "published", "bound", "mark", "why"];

/// The position of ER among the criteria.
const ER: usize = 1;

/// ER of independent components may differ from that of the principal components whose space they span by this share of it: rounding.
const SAME_ERROR: f64 = 1e-3;

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
    for table in tables {
        let (set, units) = table;
        let mut grid = Grid::new(format!("Set {}, {units} units", roman(set)));
        grid.header.push("method".into());
        grid.header.extend(plan.data.iter().map(|&d| BICLUSTERS[d].0.to_string()));
        grid.header.push("average".into());
        let of = |method: usize| TableRow::of(method, table, &plan.data, done, published);
        let rows: Vec<TableRow> = (0..METHODS.len()).map(of).collect();
        for row in &rows {
            lines.extend(row.records());
            averages.extend(row.average_records());
            grid.rows.push(row.shown());
            row.judge(lab)?;
        }
        if let Some(difference) = difference_of_errors(&rows) {
            let what =
                format!("{}, ICA: largest difference of ER from that of PCA, as a share", title(table));
            let condition = format!("at most {SAME_ERROR}, the same space");
            lab.check(what, difference, "", &condition, difference <= SAME_ERROR)?;
        }
        lab.grid(grid)?;
    }
    lab.table("cells", &CELL_COLUMNS, &lines)?;
    lab.table("averages", &AVERAGE_COLUMNS, &averages)
}

fn title((set, units): (u64, usize)) -> String {
    format!("set {}, {units} units", roman(set))
}

/// A row of a table: a method on every data set, and its averages.
struct TableRow {
    /// Its position in [`METHODS`].
    method: usize,
    set: u64,
    units: usize,
    cells: Vec<(TableColumn, Vec<CriterionComparison>)>,
    /// Why a cell is not available, for each cell.
    missing: Vec<Option<String>>,
    averages: Vec<CriterionComparison>,
}

impl TableRow {
    fn of(
        method: usize,
        (set, units): (u64, usize),
        data: &[usize],
        done: &[(Job, Outcome)],
        published: &[Cell],
    ) -> Self {
        let (mut cells, mut missing) = (Vec::new(), Vec::new());
        for &data in data {
            let place = TableColumn { set, units, data };
            let (criteria, why) = compared(method, place, done, published);
            cells.push((place, criteria));
            missing.push(why);
        }
        let averages = (0..CRITERIA.len()).map(|at| averaged(method, (set, units), &cells, at)).collect();
        Self { method, set, units, cells, missing, averages }
    }

    fn name(&self) -> &'static str {
        METHODS[self.method].name
    }

    /// The cells of the page.
    fn shown(&self) -> Vec<GridCell> {
        let mut out = vec![GridCell::of(vec![self.name().into()])];
        let each = self.cells.iter().zip(&self.missing);
        out.extend(each.map(|((_, criteria), why)| cell(criteria, why.clone())));
        let lines: Vec<String> = self.averages.iter().zip(CRITERIA).filter_map(average_line).collect();
        out.push(marked(lines, &self.averages));
        out
    }

    fn records(&self) -> Vec<Vec<String>> {
        let mut out = Vec::new();
        for ((place, criteria), why) in self.cells.iter().zip(&self.missing) {
            for (c, name) in criteria.iter().zip(CRITERIA) {
                out.push(record(self.name(), *place, name, c, why.as_deref()));
            }
        }
        out
    }

    fn average_records(&self) -> Vec<Vec<String>> {
        let number = |v: Option<f64>| v.map_or(String::new(), |v| format!("{v:.6}"));
        let known = self.averages.iter().zip(CRITERIA).filter(|(c, _)| is_known(c));
        let record = |(c, name): (&CriterionComparison, &str)| {
            let (mark, why) = c.mark();
            vec![
                self.name().into(),
                roman(self.set).into(),
                self.units.to_string(),
                name.into(),
                number(c.ours.map(|v| v.0)),
                c.n.to_string(),
                number(c.published.map(|v| v.0)),
                number(c.bound()),
                mark.into(),
                why.into(),
            ]
        };
        known.map(record).collect()
    }

    /// Records how many of the judged criteria differ. Those of cells are a condition where their rule allows for the number of instances: the mean of
    /// few instances of the others differs from the published one by more than the bound by chance, and published cells are rounded.
    fn judge(&self, lab: &mut Lab<'_>) -> Result<()> {
        let of_cells: Vec<&CriterionComparison> = self.cells.iter().flat_map(|(_, all)| all).collect();
        let of_averages: Vec<&CriterionComparison> = self.averages.iter().collect();
        let are_conditions = METHODS[self.method].average.is_some();
        for (what, criteria, is_condition) in
            [("criteria", of_cells, are_conditions), ("averages", of_averages, true)]
        {
            let judged = criteria.iter().filter(|c| c.holds().is_some()).count();
            let differing = criteria.iter().filter(|c| c.holds() == Some(false)).count();
            if judged == 0 {
                continue;
            }
            let table = title((self.set, self.units));
            let quantity =
                format!("{table}, {}: {what} of {judged} that differ from the published ones", self.name());
            match is_condition {
                true => lab.check(quantity, differing as f64, "", "none", differing == 0)?,
                false => lab.number(quantity, differing as f64)?,
            }
        }
        Ok(())
    }
}

/// The largest difference between ER of ICA and of PCA on the same instances, as a share of the latter, with 50 units: independent components of the
/// principal subspace reconstruct rows as it does. With more units the error is 0.
fn difference_of_errors(rows: &[TableRow]) -> Option<f64> {
    let errors = |name: &str| -> Option<Vec<f64>> {
        let row = rows.iter().find(|row| row.name() == name && row.units == 50)?;
        row.cells.iter().map(|(_, criteria)| Some(criteria[ER].ours?.0)).collect()
    };
    let pairs = errors("ICA")?.into_iter().zip(errors("PCA")?);
    Some(pairs.map(|(ica, pca)| (ica - pca).abs() / pca).fold(0.0, f64::max))
}

/// Whether a criterion is defined: measured here, or published.
fn is_known(c: &CriterionComparison) -> bool {
    c.ours.is_some() || c.published.is_some()
}

fn average_line((c, name): (&CriterionComparison, &str)) -> Option<String> {
    let text = |v: Option<f64>| v.map_or("-".into(), |v| format!("{v:.1}"));
    let (ours, published) = (text(c.ours.map(|v| v.0)), text(c.published.map(|v| v.0)));
    is_known(c).then(|| format!("{name} {ours} ({published})"))
}

/// A cell of the page with the verdict on its criteria as the last line.
fn marked(mut lines: Vec<String>, criteria: &[CriterionComparison]) -> GridCell {
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
    let known = criteria.iter().zip(CRITERIA).filter(|(c, _)| is_known(c));
    marked(known.map(|(c, name)| c.line(name)).collect(), criteria)
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

#[cfg(test)]
mod tests {
    use super::super::FittedMethod;
    use super::super::published::cells;
    use super::*;

    /// The row of a method whose values are the published ones times a factor for each data set, in eight instances.
    fn row(
        name: &str,
        (set, units): (u64, usize),
        data: &[usize],
        factor: impl Fn(usize) -> f64,
    ) -> TableRow {
        let published = cells().unwrap();
        let method = METHODS.iter().position(|m| m.name == name).unwrap();
        let mut done: Vec<(Job, Outcome)> = Vec::new();
        for &data in data {
            let place = TableColumn { set, units, data };
            let is_own = |c: &&Cell| {
                c.method == METHODS[method].published
                    && (c.dataset.as_str(), c.set, c.units) == (place.name(), set, units)
            };
            let cell = published.iter().find(is_own).unwrap();
            let [sp, er, co] = cell.values.map(|v| v.map(|v| v.0 * factor(data)));
            for instance in 0..8 {
                let job = Job { what: FittedMethod::Method(method), place, instance };
                done.push((job, Ok([sp, er, co, None])));
            }
        }
        TableRow::of(method, (set, units), data, &done, &published)
    }

    const ALL: [usize; 9] = [0, 1, 2, 3, 4, 5, 6, 7, 8];

    fn marks(row: &TableRow) -> Vec<&'static str> {
        row.averages.iter().map(|c| c.mark().0).collect()
    }

    #[test]
    fn averages_are_marked_by_their_own_rule_in_the_table_and_on_the_page() {
        let right = row("RFN rms", (1, 50), &ALL, |_| 1.0);
        assert_eq!(marks(&right), ["holds"; 3]);
        assert_eq!(right.shown().last().unwrap().lines.last().unwrap(), "holds");
        // 6 % are more than 1 of SP and 4 % of ER, and less than 8 % of CO.
        let wrong = row("RFN rms", (1, 50), &ALL, |_| 1.06);
        assert_eq!(marks(&wrong), ["differs", "differs", "holds"]);
        let shown = wrong.shown().pop().unwrap();
        assert!(shown.missed && shown.lines.last().unwrap() == "differs: SP, ER", "{shown:?}");
        let records = wrong.average_records();
        assert!(records.iter().all(|record| record.len() == AVERAGE_COLUMNS.len()));
        assert_eq!(records.iter().map(|record| record[8].as_str()).collect::<Vec<_>>(), marks(&wrong));
        // With 100 units 8 % of ER and 20 % of CO.
        let more = row("RFN std", (2, 100), &ALL, |_| 1.06);
        assert_eq!(marks(&more), ["differs", "holds", "holds"]);
    }

    #[test]
    fn the_suspect_cell_is_not_part_of_its_average() {
        let of = |name: &str, set: u64| row(name, (set, 150), &ALL, |data| if data == 3 { 9.0 } else { 1.0 });
        assert_eq!(marks(&of("RFNn", 2)), ["holds"; 3]);
        assert_eq!(marks(&of("RFNn", 1)), ["differs"; 3]);
    }

    #[test]
    fn averages_of_some_data_sets_and_of_methods_without_a_rule_are_not_comparable() {
        let some = row("RFN rms", (1, 50), &[0, 2, 6], |_| 1.0);
        assert_eq!(marks(&some), ["not comparable"; 3]);
        assert!(some.averages[0].mark().1.contains("all data sets"));
        let dae = row("DAE", (1, 50), &ALL, |_| 1.0);
        assert_eq!(marks(&dae)[..2], ["not comparable"; 2]);
        // Of factor analysis the errors are judged, of PCA sparseness and errors.
        assert_eq!(
            marks(&row("FA", (1, 100), &ALL, |_| 1.02)),
            ["not comparable", "holds", "not comparable"]
        );
        assert_eq!(marks(&row("FA", (1, 50), &ALL, |_| 1.05)), ["not comparable", "differs", "holds"]);
        assert_eq!(marks(&row("PCA", (1, 50), &ALL, |_| 1.02))[1], "differs");
    }

    #[test]
    fn independent_components_have_the_error_of_the_principal_ones() {
        let rows = |by: f64| [row("ICA", (1, 50), &ALL, |_| by), row("PCA", (1, 50), &ALL, |_| 1.0)];
        assert_eq!(difference_of_errors(&rows(1.0)), Some(0.0));
        assert!(difference_of_errors(&rows(1.01)).unwrap() > SAME_ERROR);
    }
}
