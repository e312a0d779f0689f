//! Tables and figures of the modules of gene expression.

use super::figures::{PANELS, panel, title};
use super::genes::{METHODS, SETS, Table, TableResult};
use crate::lab::Lab;
use crate::output::{Grid, GridCell};
use unmix::Result;
use unmix_report::Sheet;

/// Adjusted Rand indices of a reference measurement on the breast tumours, in the order of the methods.
const REFERENCE: [&str; 4] = [".46", ".28", "0", ".48"];

/// Columns of the table of data sets and methods.
const GENE_COLUMNS: [&str; 15] = [
    "data",
    "method",
    "samples",
    "genes",
    "classes",
    "ari",
    "ari_min",
    "ari_max",
    "modules",
    "declared",
    "consensus",
    "jaccard_of_a_class",
    "found_again",
    "found_again_permuted",
    "halves_by_chance",
];

/// Columns of the table of modules.
const MODULE_COLUMNS: [&str; 11] = [
    "data",
    "method",
    "module",
    "samples",
    "genes",
    "evidence",
    "concentration",
    "information",
    "stability",
    "q_value",
    "halves",
];

/// Tables of the page, and every number of them.
pub(super) fn genes(lab: &mut Lab<'_>, tables: &[Table], results: &[TableResult]) -> Result<()> {
    let mut grid = Grid::new("Modules of gene expression".into());
    grid.header.push("data".into());
    grid.header.extend(METHODS.iter().map(|m| m.name.to_string()));
    let (mut records, mut modules) = (Vec::new(), Vec::new());
    for (at, table) in tables.iter().enumerate() {
        let (n, p, classes) = (table.x.rows(), table.x.cols(), table.n_classes());
        let cells = vec![SETS[table.set].1.into(), format!("{n} samples, {p} genes, {classes} classes")];
        let mut row = vec![GridCell::of(cells)];
        for s in results.iter().filter(|s| s.table == at) {
            row.push(cell(s));
            records.push(record(table, s));
            modules.extend(each(table, s));
            if SETS[table.set].0 == "gene_fabia_breast_a" {
                let what = format!(
                    "{}, {}: adjusted Rand index of the classes",
                    SETS[table.set].1, METHODS[s.method].name
                );
                lab.beside(what, mean(&s.rand), REFERENCE[s.method], "of one start, by another k-means")?;
            }
        }
        grid.rows.push(row);
    }
    lab.grid(grid)?;
    lab.table("genes", &GENE_COLUMNS, &records)?;
    lab.table("gene-modules", &MODULE_COLUMNS, &modules)
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len().max(1) as f64
}

fn ends(of: &[f64]) -> (f64, f64) {
    of.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)))
}

fn cell(s: &TableResult) -> GridCell {
    let (low, high) = ends(&s.rand);
    GridCell::of(vec![
        format!("Rand {:.2} ({low:.2} to {high:.2})", mean(&s.rand)),
        format!("{} modules, {} declared", s.found.modules.len(), s.declared),
        format!("consensus {:.2}, of a class {:.2}", s.consensus.0, s.consensus.1),
        format!("reproduced {:.2}, permuted {:.2}", s.again.0, s.again.1),
    ])
}

fn record(table: &Table, s: &TableResult) -> Vec<String> {
    let (low, high) = ends(&s.rand);
    let number = |v: f64| format!("{v:.6}");
    let counts = [table.x.rows(), table.x.cols(), table.n_classes()].map(|v| v.to_string());
    [SETS[table.set].0.to_string(), METHODS[s.method].name.into()]
        .into_iter()
        .chain(counts)
        .chain([mean(&s.rand), low, high].map(number))
        .chain([s.found.modules.len(), s.declared].map(|v| v.to_string()))
        .chain([s.consensus.0, s.consensus.1, s.again.0, s.again.1].map(number))
        .chain([s.found.chance.map_or(String::new(), number)])
        .collect()
}

fn each(table: &Table, s: &TableResult) -> Vec<Vec<String>> {
    let number = |v: f64| format!("{v:.6}");
    let some = |v: Option<f64>| v.map_or(String::new(), number);
    let one = |(i, m): (usize, &unmix::biclusters::Module)| {
        vec![
            SETS[table.set].0.to_string(),
            METHODS[s.method].name.into(),
            i.to_string(),
            m.rows.len().to_string(),
            m.columns.len().to_string(),
            number(m.evidence),
            number(m.concentration),
            some(m.information),
            some(m.stability),
            some(m.q_value),
            some(m.halves),
        ]
    };
    s.found.modules.iter().enumerate().map(one).collect()
}

/// Modules of each table by plain RFN, as in the published figure.
pub(super) fn figures(lab: &mut Lab<'_>, tables: &[Table], results: &[TableResult]) -> Result<()> {
    for s in results.iter().filter(|s| METHODS[s.method].name == "RFN plain") {
        let table = &tables[s.table];
        let (folder, about) = SETS[table.set];
        let mut sheet = Sheet::new(format!("The first modules of RFN (plain): {about}"), PANELS);
        for m in s.found.modules.iter().take(PANELS) {
            let gene = |column: usize| match &table.names {
                Some(names) => names[column].chars().take(10).collect(),
                None => format!("gene {column}"),
            };
            sheet.add(title(m), panel(m, &table.x, &table.classes, gene));
        }
        if !sheet.panels.is_empty() {
            lab.figure(folder, &sheet)?;
        }
    }
    Ok(())
}
