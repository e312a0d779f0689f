//! Modules of a model with non-negative codes, and the cells of some rows that their figures show.

use crate::description;
use std::collections::BTreeMap;
use unmix::biclusters::{Biclusters, Module, of_model};
use unmix::data::RandomAccess;
use unmix::{AnyRows, Model, Real, Result, Rows, Run};

/// Modules with a panel.
pub(crate) const PANELS: usize = 12;
/// Columns of a module that its panel shows: those of largest loading.
pub(crate) const PANEL_COLUMNS: usize = 12;
/// Rows that a panel shows: members of largest code, and others at a fixed stride.
const PANEL_MEMBERS: usize = 100;
const PANEL_OTHERS: usize = 140;
/// Rows and columns of the heat map.
const HEAT_MAP_SHAPE: (usize, usize) = (300, 400);
/// Maximum number of bytes of the codes of all rows; with more, the page has no modules.
const MOST_BYTES: u64 = 1 << 30;

/// Modules, and standardised cells of the rows that are drawn.
pub(crate) struct ShownModules {
    pub(crate) found: Biclusters,
    /// Rows and columns of the first modules, those of each after those of the modules before it.
    pub(crate) heat: (Vec<u32>, Vec<u32>),
    /// For each module with a panel its rows.
    pub(crate) rows: Vec<Vec<u32>>,
    /// For each module with a panel its columns, that of largest loading first.
    pub(crate) columns: Vec<Vec<u32>>,
    /// Standardised cells of the rows that are drawn, in the order of `kept`.
    cells: BTreeMap<u32, Vec<f64>>,
    kept: Vec<u32>,
}

impl ShownModules {
    /// The cell of a row and a column that are drawn, in standard deviations of the column from its mean.
    pub(crate) fn cell(&self, row: u32, column: u32) -> f64 {
        let at = self.kept.binary_search(&column);
        at.ok().and_then(|at| self.cells.get(&row).map(|cells| cells[at])).unwrap_or(0.0)
    }
}

/// The modules of the page: those of `pooled`, or of the model alone. None for models or rows without modules, for pictures, whose units are
/// shown as pictures, and where the codes of all rows would be too large.
pub(crate) fn shown(
    model: &Model,
    rows: &AnyRows<'_>,
    pooled: Option<&Biclusters>,
    spread: &[f64],
    run: &Run<'_>,
) -> Result<Option<ShownModules>> {
    let codes = model.code().codes();
    let units = codes.non_negative && model.code().decodes() && model.n_codes() > 0;
    if !units || model.features().shape.is_some() {
        return Ok(None);
    }
    let found = match pooled {
        Some(found) => found.clone(),
        None if unmix::with_rows!(rows, rows => affordable(model, rows)) => of_model(model, rows, run)?,
        None => return Ok(None),
    };
    unmix::with_rows!(rows, rows => read(model, rows, found, spread).map(Some))
}

/// Whether codes of all rows may be held, of rows that can be read by number and count once each.
fn affordable<T: Real>(model: &Model, rows: &Rows<'_, T>) -> bool {
    let Some(source) = rows.source().random() else { return false };
    let bytes = source.n_rows().saturating_mul((model.n_codes() * size_of::<T>()) as u64);
    rows.weights().is_none() && bytes <= MOST_BYTES
}

/// Reads the rows that are drawn, by their numbers: a sample at a fixed stride would miss the members of a rare module.
fn read<T: Real>(
    model: &Model,
    rows: &Rows<'_, T>,
    found: Biclusters,
    spread: &[f64],
) -> Result<ShownModules> {
    let n = found.n_rows;
    let panels = || found.modules.iter().take(PANELS);
    let heat = (
        in_order(
            panels().map(|m| strongest(&m.rows, |i| f64::from(m.codes[i as usize]), 40)),
            HEAT_MAP_SHAPE.0,
        ),
        in_order(
            panels().map(|m| strongest(&m.columns, |j| m.loadings[j as usize].abs(), 40)),
            HEAT_MAP_SHAPE.1,
        ),
    );
    let drawn: Vec<Vec<u32>> = panels().map(|m| of_panel(m, n)).collect();
    let columns: Vec<Vec<u32>> =
        panels().map(|m| strongest(&m.columns, |j| m.loadings[j as usize].abs(), PANEL_COLUMNS)).collect();
    let mut kept: Vec<u32> = heat.1.iter().chain(columns.iter().flatten()).copied().collect();
    kept.sort_unstable();
    kept.dedup();
    let mut wanted: Vec<u32> = heat.0.iter().chain(drawn.iter().flatten()).copied().collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut cells = BTreeMap::new();
    if let Some(source) = rows.source().random() {
        let mean = description::mean(model).unwrap_or_else(|| vec![0.0; model.n_features()]);
        for row in wanted {
            cells.insert(row, standardised(source, row, &kept, &mean, spread)?);
        }
    }
    Ok(ShownModules { found, heat, rows: drawn, columns, cells, kept })
}

fn standardised<T: Real>(
    source: &dyn RandomAccess<T>,
    row: u32,
    kept: &[u32],
    mean: &[f64],
    spread: &[f64],
) -> Result<Vec<f64>> {
    let mut numbers = vec![T::default(); mean.len()];
    source.read(u64::from(row)..u64::from(row) + 1, 0..mean.len(), &mut numbers, &mut Vec::new())?;
    let one = |j: usize| if spread[j] > 0.0 { (numbers[j].to_f64() - mean[j]) / spread[j] } else { 0.0 };
    Ok(kept.iter().map(|j| one(*j as usize)).collect())
}

/// Indices of the largest of `size`, in decreasing order; of equal ones the first.
pub(crate) fn strongest(of: &[u32], size: impl Fn(u32) -> f64, most: usize) -> Vec<u32> {
    let mut order = of.to_vec();
    order.sort_by(|a, b| size(*b).total_cmp(&size(*a)).then(a.cmp(b)));
    order.truncate(most);
    order
}

/// The members of each list that are in none before it, list by list.
fn in_order(each: impl Iterator<Item = Vec<u32>>, most: usize) -> Vec<u32> {
    let mut out: Vec<u32> = Vec::new();
    for i in each.flatten() {
        if out.len() < most && !out.contains(&i) {
            out.push(i);
        }
    }
    out
}

/// Members with the largest codes, and other rows at a fixed stride, in rising order.
fn of_panel(module: &Module, n: usize) -> Vec<u32> {
    let mut out = strongest(&module.rows, |i| f64::from(module.codes[i as usize]), PANEL_MEMBERS);
    let others: Vec<u32> = (0..n as u32).filter(|i| module.rows.binary_search(i).is_err()).collect();
    out.extend(others.iter().step_by(others.len().div_ceil(PANEL_OTHERS).max(1)));
    out.sort_unstable();
    out
}
