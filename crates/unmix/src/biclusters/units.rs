//! Units of a model with non-negative codes, and the member rows and columns of each.

use super::evidence::{Columns, set_evidence};
use super::readable;
use crate::data::Rows;
use crate::error::Result;
use crate::machine::check_memory;
use crate::metrics::jaccard;
use crate::model::Model;
use crate::num::Real;
use crate::run::Run;

/// A unit of one fit.
pub(super) struct Unit {
    /// Index of the fit, and of the unit in it.
    pub(super) at: (usize, usize),
    /// `ln(n p / (effective rows x effective columns))`: large if codes and loadings are concentrated on few rows and few columns.
    pub(super) concentration: f64,
    /// Evidence of the member rows and columns, in nats, by which units are ordered.
    pub(super) evidence: f64,
    /// `ln(1 + q w' noise⁻¹ w) / 2` nats for each row, `q` the mean square of the codes, if the model has a noise variance.
    pub(super) information: Option<f64>,
    /// Loadings relative to the columns' standard deviations, normalised to length 1.
    pub(super) loadings: Vec<f64>,
    /// Member rows, ascending.
    pub(super) rows: Vec<u32>,
    /// Member columns, ascending.
    pub(super) columns: Vec<u32>,
    /// For each member column, whether its loading is positive.
    pub(super) positive: Vec<bool>,
}

impl Unit {
    /// Cosine of the relative loadings.
    pub(super) fn cosine(&self, other: &Self) -> f64 {
        self.loadings.iter().zip(&other.loadings).map(|(a, b)| a * b).sum()
    }

    /// Jaccard index of the member cells.
    pub(super) fn jaccard(&self, other: &Self) -> f64 {
        jaccard((&self.rows, &self.columns), (&other.rows, &other.columns))
    }
}

/// Codes of rows by the units of one fit. A component of a model whose codes may be negative is two units, one for each sign: `k` units of
/// positive codes, then `k` of negative ones.
pub(super) struct Activity<T> {
    codes: Vec<T>,
    k: usize,
    signed: bool,
}

impl<T: Real> Activity<T> {
    pub(super) fn of(model: &Model, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Self> {
        let (n, k) = (rows.n_rows().unwrap_or(0) as usize, model.n_codes());
        check_memory(
            &format!("codes of {n} rows and {k} units"),
            (n * k * size_of::<T>()) as u64,
            "look for modules in a random subset of the rows",
        )?;
        Ok(Self { codes: model.encode_to_vec(rows, run)?, k, signed: signed(model) })
    }

    fn n_units(&self) -> usize {
        if self.signed { 2 * self.k } else { self.k }
    }

    /// The component of a unit, and the sign of its codes.
    fn origin(&self, unit: usize) -> (usize, f64) {
        if unit < self.k { (unit, 1.0) } else { (unit - self.k, -1.0) }
    }

    /// The code of every row; 0 where the component has the other sign.
    fn unit(&self, unit: usize) -> impl Iterator<Item = f64> + '_ {
        let (component, sign) = self.origin(unit);
        self.codes.iter().skip(component).step_by(self.k).map(move |y| (sign * y.to_f64()).max(0.0))
    }

    /// The same in single precision.
    pub(super) fn column(&self, unit: usize) -> Vec<f32> {
        self.unit(unit).map(|y| y as f32).collect()
    }
}

/// Whether codes may be negative.
pub(super) fn signed(model: &Model) -> bool {
    !model.code().codes().non_negative
}

/// Sums of second and fourth powers.
fn powers(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.map(|x| x * x).fold((0.0, 0.0), |(two, four), square| (two + square, four + square * square))
}

/// The units of `model`, fit number `fit`, that are not 0 on all of `rows`. `scales` are the means and standard deviations of the columns, which
/// need not be computed for every fit.
///
/// With `q` the mean square of a unit's codes, its relative loadings are `w sqrt(q) / deviation`. Member rows are those whose code is above half
/// of `sqrt(sum y⁴ / sum y²)`, and member columns those whose absolute relative loading is above `2 sqrt(sum of all squared relative loadings /
/// (p k))` (Hochreiter et al. 2010). `O(n k + p k)` in addition to encoding and to [`set_evidence`]; the codes are returned,
/// too.
pub(super) fn units<T: Real>(
    model: &Model,
    rows: &Rows<'_, T>,
    fit: usize,
    scales: &Columns,
    run: &Run<'_>,
) -> Result<(Vec<Unit>, Activity<T>)> {
    let (n, p) = (rows.n_rows().unwrap_or(0) as usize, model.n_features());
    let activity = Activity::of(model, rows, run)?;
    let Some(mixing) = model.code().mixing() else { return Ok((Vec::new(), activity)) };
    let k = activity.n_units();
    let noise = model.tensor("noise_variance").map(|t| t.f64s()).filter(|psi| psi.len() == p);
    let sums: Vec<(f64, f64)> = (0..k).map(|j| powers(activity.unit(j))).collect();
    let relative = |j: usize| -> Vec<f64> {
        let (component, sign) = activity.origin(j);
        let root = sign * (sums[j].0 / n as f64).sqrt();
        let one = |(i, d): (usize, &f64)| if *d > 0.0 { mixing[(i, component)] * root / d } else { 0.0 };
        scales.deviations.iter().enumerate().map(one).collect()
    };
    let all: Vec<Vec<f64>> = (0..k).map(relative).collect();
    let total: f64 = all.iter().flatten().map(|w| w * w).sum();
    let least = 2.0 * (total / (p * k).max(1) as f64).sqrt();
    let unit = |(j, mut loadings): (usize, Vec<f64>)| -> Option<Unit> {
        let ((y2, y4), (w2, w4)) = (sums[j], powers(loadings.iter().copied()));
        if !(y2 > 0.0 && w2 > 0.0) {
            return None;
        }
        let (level, component) = (0.5 * (y4 / y2).sqrt(), activity.origin(j).0);
        let information = noise.as_ref().map(|psi| {
            let signal =
                |(i, v): (usize, &f64)| if *v > 0.0 { mixing[(i, component)].powi(2) / v } else { 0.0 };
            0.5 * (psi.iter().enumerate().map(signal).sum::<f64>() * y2 / n as f64).ln_1p()
        });
        let columns: Vec<u32> = (0..p as u32).filter(|i| loadings[*i as usize].abs() > least).collect();
        let positive = columns.iter().map(|i| loadings[*i as usize] > 0.0).collect();
        loadings.iter_mut().for_each(|w| *w /= w2.sqrt());
        Some(Unit {
            at: (fit, j),
            evidence: 0.0,
            concentration: (p as f64 * w4 / (w2 * w2)).ln() + (n as f64 * y4 / (y2 * y2)).ln(),
            information,
            loadings,
            rows: activity.unit(j).enumerate().filter(|(_, y)| *y > level).map(|(i, _)| i as u32).collect(),
            columns,
            positive,
        })
    };
    let mut found: Vec<Unit> = all.into_iter().enumerate().filter_map(unit).collect();
    readable(rows)?;
    set_evidence(&mut found, rows, scales, run)?;
    Ok((found, activity))
}

/// Groups of similar units, in the order of decreasing evidence: a unit is added to the first group with whose first unit it has a cosine
/// above 0.5, or a Jaccard index of the cells above 0.3. A unit of fewer than two rows or columns is no module, and begins no group.
pub(super) fn groups(mut units: Vec<Unit>) -> Vec<Vec<Unit>> {
    units.sort_by(|a, b| b.evidence.total_cmp(&a.evidence).then(a.at.cmp(&b.at)));
    let mut groups: Vec<Vec<Unit>> = Vec::new();
    for unit in units {
        match groups.iter_mut().find(|g| g[0].cosine(&unit) > 0.5 || g[0].jaccard(&unit) > 0.3) {
            Some(group) => group.push(unit),
            None if unit.rows.len() > 1 && unit.columns.len() > 1 => groups.push(vec![unit]),
            None => {}
        }
    }
    groups
}
