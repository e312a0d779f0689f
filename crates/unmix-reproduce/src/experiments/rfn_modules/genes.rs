//! Modules of gene expression: agreement with classes of the samples, and reproducibility in halves of the samples.

use super::fits::LEVEL;
use super::{fits, summaries};
use crate::lab::{Lab, map, side_by_side};
use crate::pictures::{numbers, reading};
use serde_json::{Value, json};
use std::path::Path;
use unmix::biclusters::{Biclusters, Module, Refits, permuted_rows, signed_biclusters};
use unmix::method::subspace_clustering::kmeans;
use unmix::metrics::{adjusted_rand_index, consensus_score};
use unmix::{AnyRows, Error, Matrix, Model, Result, Rows, Run};

/// Folders, and what they hold.
pub(super) const SETS: [(&str, &str); 6] = [
    ("gene_fabia_breast_a", "breast tumours (van 't Veer 2002, FABIA's set)"),
    ("gene_fabia_multi_a", "tissues (Su 2002, FABIA's set)"),
    ("gene_fabia_dlbcl_b", "lymphomas (Rosenwald 2002, FABIA's set)"),
    ("gene_golub", "leukaemias (Golub 1999)"),
    ("gene_khan_srbct", "small round blue cell tumours (Khan 2001)"),
    ("gene_alon_colon", "colon tumours (Alon 1999)"),
];

/// Units of every method.
const UNITS: usize = 10;
/// Minimum cosine at which a module counts as reproduced, the same as that at which units are one module.
const REPRODUCED_COSINE: f64 = 0.5;
/// Starts of k-means.
const K_MEANS_STARTS: u64 = 20;

/// The methods: name, key, settings by the number of iterations of plain RFN, and whether starts differ.
pub(super) struct Method {
    pub(super) name: &'static str,
    key: &'static str,
    settings: fn(u64) -> Value,
    random: bool,
}

pub(super) const METHODS: [Method; 4] = [
    Method { name: "PCA", key: "pca", settings: |_| json!({"n_components": UNITS}), random: false },
    Method { name: "ICA", key: "ica", settings: |_| json!({"n_components": UNITS}), random: true },
    Method {
        name: "RFN plain",
        key: "rfn",
        settings: |iterations| json!({"n_components": UNITS, "max_iter": iterations}),
        random: true,
    },
    Method {
        name: "RFN coordinate",
        key: "rfn",
        settings: |_| json!({"n_components": UNITS, "e_step": "coordinate", "max_iter": 100}),
        random: true,
    },
];

/// Samples, standardised gene by gene.
pub(super) struct Table {
    pub(super) set: usize,
    pub(super) x: Matrix<f64>,
    single: Vec<f32>,
    pub(super) classes: Vec<usize>,
    pub(super) names: Option<Vec<String>>,
}

impl Table {
    fn read(folder: &Path, set: usize, run: &Run<'_>) -> Result<Option<Self>> {
        let own = folder.join(SETS[set].0);
        if !own.join("X.npy").is_file() {
            return Ok(None);
        }
        let open = |name: &str| unmix_io::open_with(&own.join(name), &reading(), run);
        let rows = open("X.npy")?.rows;
        let p = rows.n_features();
        let values = numbers(rows, u64::MAX, run)?;
        let classes: Vec<usize> =
            numbers(open("y.npy")?.rows, u64::MAX, run)?.iter().map(|y| *y as usize).collect();
        let x = standardised(Matrix::from_vec(values.len() / p.max(1), p, values));
        if classes.len() != x.rows() {
            let found = format!("it has {} classes, but X.npy {} rows", classes.len(), x.rows());
            return Err(Error::format(own.join("y.npy"), found, "give one class for each row"));
        }
        let names = std::fs::read_to_string(own.join("genes.txt")).ok();
        let names =
            names.map(|text| text.lines().map(String::from).collect::<Vec<_>>()).filter(|n| n.len() == p);
        Ok(Some(Self { set, single: fits::single(&x), x, classes, names }))
    }

    fn rows(&self) -> Result<Rows<'_, f32>> {
        Rows::from_slice(&self.single, self.x.cols())
    }

    pub(super) fn n_classes(&self) -> usize {
        let mut own = self.classes.clone();
        own.sort_unstable();
        own.dedup();
        own.len()
    }
}

/// Every column of mean 0 and standard deviation 1; a constant one of zeros.
fn standardised(mut x: Matrix<f64>) -> Matrix<f64> {
    let n = x.rows() as f64;
    for j in 0..x.cols() {
        let mean = (0..x.rows()).map(|i| x[(i, j)]).sum::<f64>() / n;
        let deviation = ((0..x.rows()).map(|i| (x[(i, j)] - mean).powi(2)).sum::<f64>() / n).sqrt();
        let scale = if deviation > 0.0 { 1.0 / deviation } else { 0.0 };
        (0..x.rows()).for_each(|i| x[(i, j)] = (x[(i, j)] - mean) * scale);
    }
    x
}

/// The result of a method on a table.
pub(super) struct TableResult {
    pub(super) table: usize,
    pub(super) method: usize,
    /// Adjusted Rand indices of clusters of the codes with the classes, one for each seed.
    pub(super) rand: Vec<f64>,
    pub(super) found: Biclusters,
    pub(super) declared: usize,
    /// Consensus of the rows of all modules with the classes, and the mean Jaccard index of a class with the module that it is paired with.
    pub(super) consensus: (f64, f64),
    /// Shares of the modules that are reproduced in halves of the rows, for the rows and for rows with permuted columns.
    pub(super) again: (f64, f64),
}

struct Sizes {
    seeds: u64,
    starts: usize,
    permutations: usize,
    iterations: u64,
}

/// The tables in the folder that the options name: none without it.
pub(super) fn tables(lab: &Lab<'_>) -> Result<Vec<Table>> {
    let Some(folder) = &lab.options.tables else { return Ok(Vec::new()) };
    let read: Vec<Option<Table>> =
        (0..SETS.len()).map(|set| Table::read(folder, set, lab.run)).collect::<Result<_>>()?;
    let tables: Vec<Table> = read.into_iter().flatten().collect();
    if tables.is_empty() {
        let found = format!("none of {} is there with X.npy", SETS.map(|set| set.0).join(", "));
        return Err(Error::format(folder, found, "give the folder that holds one of them"));
    }
    Ok(tables)
}

/// Fits, compares and writes the tables; a note lists what is not run.
pub(super) fn genes(lab: &mut Lab<'_>, tables: &[Table]) -> Result<()> {
    let there = |at: usize| tables.iter().any(|t| t.set == at);
    let missing: Vec<&str> = (0..SETS.len()).filter(|at| !there(*at)).map(|at| SETS[at].0).collect();
    if !missing.is_empty() {
        lab.note(format!(
            "Not run: modules of gene expression in {}. They need `--tables FOLDER` with folders of these names, each with X.npy (samples in rows, genes in columns) \
             and y.npy (a class for each sample).",
            missing.join(", ")
        ))?;
    }
    if tables.is_empty() {
        return Ok(());
    }
    let sizes = match lab.options.quick {
        true => Sizes { seeds: 2, starts: 2, permutations: 1, iterations: 200 },
        false => Sizes { seeds: 5, starts: 4, permutations: 2, iterations: 1000 },
    };
    let results = side_by_side(lab.run, tables.len() * METHODS.len(), |at, run| {
        table_result(tables, at / METHODS.len(), at % METHODS.len(), &sizes, run)
    })?;
    notes(lab, &sizes)?;
    summaries::genes(lab, tables, &results)?;
    summaries::figures(lab, tables, &results)
}

fn table_result(
    tables: &[Table],
    table: usize,
    method: usize,
    sizes: &Sizes,
    run: &Run<'_>,
) -> Result<TableResult> {
    let (own, Method { key, settings, random, .. }) = (&tables[table], &METHODS[method]);
    let settings = map(settings(sizes.iterations));
    let with_seed = |seed: u64| Run { seed, threads: 1, observer: run.observer, ..Run::default() };
    let fit = |seed: u64| unmix::fit(key, &settings, &mut AnyRows::F32(own.rows()?), &with_seed(seed));
    let mut rand = Vec::new();
    for seed in 0..sizes.seeds {
        rand.push(agreement(&fit(seed)?, own, seed, run)?);
    }
    let (model, rows) = (fit(0)?, AnyRows::F32(own.rows()?));
    let starts = if *random { sizes.starts } else { 1 };
    let refits = Refits { starts, permutations: sizes.permutations };
    let found = signed_biclusters(&model, &rows, refits, &with_seed(0))?;
    // A copy that is none of those of the q-values.
    let numbers = permuted_rows(&own.rows()?, 0, sizes.permutations)?;
    let mixed = AnyRows::F32(Rows::from_slice(&numbers, own.x.cols())?);
    let null = signed_biclusters(&model, &mixed, Refits { starts, permutations: 0 }, &with_seed(0))?;
    Ok(TableResult {
        table,
        method,
        rand,
        declared: found.modules.iter().filter(|m| m.q_value.is_some_and(|q| q <= LEVEL)).count(),
        consensus: of_classes(&found.modules, own),
        again: (share_found_again(&found), share_found_again(&null)),
        found,
    })
}

/// Agreement of the classes with clusters of the codes by k-means.
fn agreement(model: &Model, table: &Table, seed: u64, run: &Run<'_>) -> Result<f64> {
    let codes =
        model.encode_to_vec(&table.rows()?, &Run { threads: 1, observer: run.observer, ..Run::default() })?;
    let codes =
        Matrix::from_vec(table.x.rows(), model.n_codes(), codes.iter().map(|y| f64::from(*y)).collect());
    let labels = kmeans(&codes, table.n_classes(), K_MEANS_STARTS, seed);
    Ok(adjusted_rand_index(&table.classes, &labels))
}

/// Consensus of the rows of modules with the classes, columns left out; and the sum of the paired Jaccard indices over the number of classes.
fn of_classes(modules: &[Module], table: &Table) -> (f64, f64) {
    const SAME: &[u32] = &[0];
    let mut kinds = table.classes.clone();
    kinds.sort_unstable();
    kinds.dedup();
    let rows_of = |kind: &usize| -> Vec<u32> {
        (0..table.classes.len() as u32).filter(|i| table.classes[*i as usize] == *kind).collect()
    };
    let classes: Vec<Vec<u32>> = kinds.iter().map(rows_of).collect();
    let truth: Vec<(&[u32], &[u32])> = classes.iter().map(|rows| (rows.as_slice(), SAME)).collect();
    let own: Vec<(&[u32], &[u32])> = modules.iter().map(|m| (m.rows.as_slice(), SAME)).collect();
    let score = consensus_score(&own, &truth);
    (score, score * own.len().max(truth.len()) as f64 / truth.len().max(1) as f64)
}

fn share_found_again(found: &Biclusters) -> f64 {
    let again = found.modules.iter().filter(|m| m.halves.is_some_and(|h| h >= REPRODUCED_COSINE)).count();
    again as f64 / found.modules.len().max(1) as f64
}

fn notes(lab: &mut Lab<'_>, sizes: &Sizes) -> Result<()> {
    lab.note(format!(
        "Gene expression: samples in rows, genes in columns, as shipped (the publication summarised its data by FARMS), every gene standardised; {UNITS} units \
         or components. Adjusted Rand index: k-means of the codes, as many clusters as classes, mean (least to largest) over {} seeds. Modules: units of {} \
         starts pooled (PCA: one); of PCA and ICA each component is two units, one for each sign. Declared: q of at most {LEVEL} by {} copies with permuted columns. \
         Consensus: of the rows of all modules with the classes, and the mean Jaccard index of a class with the module that it is paired with. Found again: share of the \
         modules with a cosine of at least {REPRODUCED_COSINE} with units of fits to either half of the samples, and the same of a copy with permuted columns.",
        sizes.seeds, sizes.starts, sizes.permutations
    ))?;
    lab.note(
        "Plain RFN is the algorithm of the publication, coordinate the exact E-step. Dense classes are recovered better from exact codes than from plain ones: plain codes are \
         zero for most samples.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_standardised_and_constant_ones_are_zero() {
        let x = standardised(Matrix::from_vec(4, 2, vec![1.0, 5.0, 2.0, 5.0, 3.0, 5.0, 4.0, 5.0]));
        let column: Vec<f64> = (0..4).map(|i| x[(i, 0)]).collect();
        assert!(
            (column.iter().map(|v| v * v).sum::<f64>() - 4.0).abs() < 1e-12
                && column.iter().sum::<f64>().abs() < 1e-12
        );
        assert!((0..4).all(|i| x[(i, 1)] == 0.0));
    }
}
