//! Modules: sets of rows with sets of columns, found by models of sparse non-negative codes.
//!
//! A unit of such a model is a module if few rows have large codes and few columns large loadings. [`of_model`] lists those of one fit.
//! A single fit misses some modules and has units of noise, so [`biclusters`] fits the same settings from several starts, one of them from
//! independent components if the method has such a start, and groups the units of all fits; the fraction of fits with a unit in a group is
//! its *stability*. Modules are in the order of their *evidence*: the gain in log-likelihood by their rows and columns, minus what a search over
//! all sets of this size gains by chance, so that large and small modules are comparable. The same is done for rows whose columns are permuted
//! independently of each other: the *q-value* of a module is the number of modules of permuted rows that have at least as much evidence, plus one,
//! per permutation, divided by the number of modules of the rows that have. This null distribution has the marginal distribution of every
//! column and no correlations, so it does not account for correlated columns; the evidence does, as far as their correlation is dense in the rows.
//!
//! The rule for member columns is that of S. Hochreiter et al. (2010), FABIA,
//! Bioinformatics 26:1520; see also D.-A. Clevert et al. (2015), NIPS. Cost: `starts (1 + permutations) + 2` fits, which run concurrently,
//! one thread each.

mod evidence;
mod null;
mod refits;
mod units;

use crate::data::{AnyRows, RandomAccess, Rows};
use crate::error::{Error, Needed, Result};
use crate::method::with_methods;
use crate::model::Model;
use crate::num::Real;
use crate::run::Run;
#[doc(hidden)]
pub use evidence::{Columns, GatherModules, Members, ModuleMeans};
use null::permuted;
use refits::pooled;
use serde_json::{Value, json};
use units::{Activity, Unit, groups, units};

/// Numbers of repeated fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refits {
    /// Fits of the rows from different starts.
    pub starts: usize,
    /// Copies of the rows with permuted columns, each fitted from as many starts.
    pub permutations: usize,
}

impl Default for Refits {
    fn default() -> Self {
        // With ten permutations a single module can have a q-value of 0.1.
        Self { starts: 8, permutations: 10 }
    }
}

/// A module: member rows and member columns.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Module {
    /// Member rows, ascending.
    pub rows: Vec<u32>,
    /// Member columns, ascending.
    pub columns: Vec<u32>,
    /// For each member column, whether its loading is positive, so that its values are larger in member rows.
    pub positive: Vec<bool>,
    /// Gain in log-likelihood by the member rows and columns, minus the logarithm of the number of sets of this size, in nats; modules are ordered
    /// by it. Below 0 there is no more than chance.
    pub evidence: f64,
    /// `ln(n p / (effective rows x effective columns))`.
    pub concentration: f64,
    /// Mutual information of the unit's code and a row under the model, in nats, if the model has a noise variance.
    pub information: Option<f64>,
    /// Fraction of the fits that have a unit of this module; none for a single model.
    pub stability: Option<f64>,
    /// Estimated false discovery rate among the modules that have at least as much evidence: at most 1, and for the first `k` modules at least
    /// `1 / (permutations k)`.
    pub q_value: Option<f64>,
    /// The smaller of the two cosines with the nearest unit of a fit to either half of the rows.
    pub halves: Option<f64>,
    /// At most `max(3, 5 %)` of the rows.
    pub rare: bool,
    /// At most `max(3, 5 %)` of the columns.
    pub small: bool,
    /// The units of the module as (fit, unit); the first is the representative one, of the most evidence.
    pub units: Vec<(usize, usize)>,
    /// Code of every row for the representative unit.
    pub codes: Vec<f32>,
    /// Loading of every column in that unit, in standard deviations of the columns; normalised to length 1.
    pub loadings: Vec<f64>,
}

/// Modules, in the order of decreasing evidence.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Biclusters {
    /// Number of rows.
    pub n_rows: usize,
    /// Number of columns.
    pub n_features: usize,
    /// Number of fits whose units were grouped.
    pub starts: usize,
    /// Number of permuted copies of the rows whose fits have ended.
    pub permutations: usize,
    /// Whether a time limit was reached: modules are then those of the last iterations of the fits, q-values are from the permuted copies that were
    /// fitted before, and halves are not compared.
    pub incomplete: bool,
    /// Whether a model was fitted to rows with weights, which modules do not have.
    pub without_weights: bool,
    /// The modules.
    pub modules: Vec<Module>,
    /// Mean of [`Module::halves`] for loadings in random order: the value by chance.
    pub chance: Option<f64>,
}

impl Biclusters {
    /// The smallest q-value that the permutations support for a single module; for the first `k` modules it is `k` times smaller. None
    /// without permutations.
    pub fn least_q(&self) -> Option<f64> {
        (self.permutations > 0).then(|| 1.0 / self.permutations as f64)
    }

    /// A sentence if the time limit was reached.
    pub fn warning(&self) -> Option<String> {
        let q_values = match self.permutations {
            0 => "there are no q-values".into(),
            1 => "q-values are from 1 permuted copy of the rows".into(),
            many => format!("q-values are from {many} permuted copies of the rows"),
        };
        let text = "the fits ended early: modules are those that they had found by then";
        self.incomplete.then(|| format!("{text}, {q_values}, and halves are not compared"))
    }

    /// A sentence if a model was fitted to rows with weights.
    pub fn weights_left_out(&self) -> Option<String> {
        let text = "the model was fitted to rows with weights, which modules do not have: every row counts once in their evidence";
        let refits = if self.modules.iter().any(|m| m.q_value.is_some() || m.halves.is_some()) {
            ", and in the fits from other starts, of permuted rows and of halves"
        } else {
            ""
        };
        self.without_weights.then(|| format!("{text}{refits}"))
    }

    /// A sentence if no module has more evidence than those of permuted rows, although there are copies enough to show it.
    pub fn none_above_chance(&self) -> Option<String> {
        let enough = self.least_q().is_some_and(|least| least <= 0.1);
        let chance = |m: &Module| m.q_value.is_some_and(|q| q >= 1.0);
        let text = "no module is above chance: every q-value is 1; modules of many rows are found with fewer units, or as the clusters of a \
                    mixture model";
        (enough && !self.modules.is_empty() && self.modules.iter().all(chance)).then(|| text.into())
    }

    /// A sentence if there is no module, with what may find some.
    pub fn none_found(&self) -> Option<String> {
        let text = "no module was found: no unit has large codes in at least 2 rows and large loadings in at least 2 columns; fit \
                    another number of components or sparser codes, or pool more starts";
        self.modules.is_empty().then(|| text.into())
    }

    /// As JSON: the list of modules and the other numbers, without codes and loadings.
    pub fn to_json(&self) -> Value {
        let module = |m: &Module| {
            json!({
                "rows": m.rows,
                "columns": m.columns,
                "signs": m.positive.iter().map(|up| if *up { 1 } else { -1 }).collect::<Vec<i8>>(),
                "evidence": m.evidence,
                "concentration": m.concentration,
                "information": m.information,
                "stability": m.stability,
                "q_value": m.q_value,
                "halves": m.halves,
                "rare": m.rare,
                "small": m.small,
                "units": m.units.iter().map(|(fit, unit)| [*fit, *unit]).collect::<Vec<_>>(),
            })
        };
        let warnings = [self.warning(), self.weights_left_out(), self.none_above_chance(), self.none_found()];
        json!({
            "n_rows": self.n_rows,
            "n_features": self.n_features,
            "starts": self.starts,
            "permutations": self.permutations,
            "incomplete": self.incomplete,
            "warnings": warnings.into_iter().flatten().collect::<Vec<String>>(),
            "chance": self.chance,
            "modules": self.modules.iter().map(module).collect::<Vec<_>>(),
        })
    }
}

/// Modules of one fitted model, on `rows`: no stability, q-values or halves.
///
/// # Errors
///
/// [`Error::Unsupported`] for models whose codes may be negative or do not determine rows, and for rows that have weights or are held by
/// remote workers; errors of encoding; codes that do not fit into memory.
pub fn of_model(model: &Model, rows: &AnyRows<'_>, run: &Run<'_>) -> Result<Biclusters> {
    check(model)?;
    crate::with_rows!(rows, rows => {
        readable(rows)?;
        let (found, codes) = units(model, rows, 0, &Columns::of(rows, run)?, run)?;
        let modules = groups(found).iter().map(|g| module(g, rows, codes.column(g[0].at.1))).collect();
        Ok(Biclusters {
            n_rows: rows.n_rows().unwrap_or(0) as usize,
            n_features: rows.n_features(),
            starts: 1,
            permutations: 0,
            incomplete: false,
            without_weights: is_weighted(model),
            modules,
            chance: None,
        })
    })
}

/// Modules of several models of the same rows, whose units are grouped together: stability is the fraction of the models that have a unit of the
/// module. Each component of a model whose codes may be negative (PCA, ICA) is two units, one for each sign: number `j` and, for negative codes,
/// `n_codes + j`, so that such models can be compared with those of non-negative codes. No q-values or halves.
///
/// # Errors
///
/// [`Error::Unsupported`] for models whose codes do not determine rows, and for rows that have weights or are held by remote workers; errors of
/// encoding; codes that do not fit into memory.
pub fn of_models(models: &[Model], rows: &AnyRows<'_>, run: &Run<'_>) -> Result<Biclusters> {
    models.iter().try_for_each(check_decoder)?;
    crate::with_rows!(rows, rows => together(models, rows, run))
}

fn together<T: Real>(models: &[Model], rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Biclusters> {
    readable(rows)?;
    let scales = Columns::of(rows, run)?;
    let mut found = Vec::new();
    for (fit, model) in models.iter().enumerate() {
        found.extend(units(model, rows, fit, &scales, run)?.0);
    }
    let groups = groups(found);
    let codes = described(&groups, models, rows, run)?;
    let one = |(group, codes): (&Vec<Unit>, Vec<f32>)| Module {
        stability: Some(share_of_fits(group, models.len())),
        ..module(group, rows, codes)
    };
    Ok(Biclusters {
        n_rows: rows.n_rows().unwrap_or(0) as usize,
        n_features: rows.n_features(),
        starts: models.len(),
        permutations: 0,
        incomplete: false,
        without_weights: models.iter().any(is_weighted),
        modules: groups.iter().zip(codes).map(one).collect(),
        chance: None,
    })
}

/// Whether a model was fitted to rows with weights.
fn is_weighted(model: &Model) -> bool {
    model.report().n_rows.is_some()
}

/// Fraction of the fits that have a unit of the group.
fn share_of_fits(group: &[Unit], fits: usize) -> f64 {
    let mut own: Vec<usize> = group.iter().map(|u| u.at.0).collect();
    own.sort_unstable();
    own.dedup();
    own.len() as f64 / fits as f64
}

/// Modules of fits with the settings of `model` to `rows` from several starts, with stability, q-values and the agreement of halves. The seed of
/// `run` determines the starts, the permutations and the halves.
///
/// # Errors
///
/// Errors of [`of_model`] and of the fits; 0 starts; rows that can be read only once.
pub fn biclusters(model: &Model, rows: &AnyRows<'_>, refits: Refits, run: &Run<'_>) -> Result<Biclusters> {
    check(model)?;
    signed_biclusters(model, rows, refits, run)
}

/// [`biclusters`] for comparisons, also of models whose codes may be negative: each component is then two units, as in [`of_models`].
///
/// # Errors
///
/// Errors of [`of_models`] and of the fits; 0 starts; rows that can be read only once.
pub fn signed_biclusters(
    model: &Model,
    rows: &AnyRows<'_>,
    refits: Refits,
    run: &Run<'_>,
) -> Result<Biclusters> {
    check_decoder(model)?;
    crate::with_rows!(rows, rows => model.check_columns("biclusters", rows))?;
    if refits.starts == 0 {
        let remedy = format!("the default is {}", Refits::default().starts);
        return Err(Error::setting("starts", 0, "must be at least 1", remedy));
    }
    crate::with_rows!(rows, rows => pooled(model, rows, refits, run))
}

/// The rows, row-major, with each column permuted independently: copy number `permutation` for the null hypothesis of the q-values.
///
/// # Errors
///
/// Rows that have weights, are held by remote workers, or can be read only once; a copy that does not fit into memory; errors of the source.
pub fn permuted_rows<T: Real>(rows: &Rows<'_, T>, seed: u64, permutation: usize) -> Result<Vec<T>> {
    let source = readable(rows)?;
    permuted(source, source.n_rows(), rows.n_features(), seed, permutation)
}

/// The module of a group, with the quantities of its representative unit.
fn module<T: Real>(group: &[Unit], rows: &Rows<'_, T>, codes: Vec<f32>) -> Module {
    let few = |n: usize, of: usize| n as f64 <= f64::max(3.0, 0.05 * of as f64);
    let first = &group[0];
    Module {
        rare: few(first.rows.len(), rows.n_rows().unwrap_or(0) as usize),
        small: few(first.columns.len(), rows.n_features()),
        rows: first.rows.clone(),
        columns: first.columns.clone(),
        positive: first.positive.clone(),
        evidence: first.evidence,
        concentration: first.concentration,
        information: first.information,
        stability: None,
        q_value: None,
        halves: None,
        units: group.iter().map(|u| u.at).collect(),
        codes,
        loadings: first.loadings.clone(),
    }
}

/// Codes of every row for the representative unit of each group. Each fit with a representative unit encodes the rows again, so that codes of
/// all fits are never in memory at the same time.
fn described<T: Real>(
    groups: &[Vec<Unit>],
    fits: &[Model],
    rows: &Rows<'_, T>,
    run: &Run<'_>,
) -> Result<Vec<Vec<f32>>> {
    let mut out = vec![Vec::new(); groups.len()];
    for (fit, model) in fits.iter().enumerate() {
        let own: Vec<usize> = (0..groups.len()).filter(|&g| groups[g][0].at.0 == fit).collect();
        if own.is_empty() {
            continue;
        }
        let codes = Activity::of(model, rows, run)?;
        own.into_iter().for_each(|g| out[g] = codes.column(groups[g][0].at.1));
    }
    Ok(out)
}

fn check(model: &Model) -> Result<()> {
    if model.code().codes().non_negative && model.code().decodes() {
        return Ok(());
    }
    let refused = Error::unsupported(
        format!("finding modules by a model of {}", model.method().key),
        match model.code().decodes() {
            true => "its codes may be negative",
            false => "its codes do not determine rows",
        },
        "",
    )
    .of_method(model.method().key)
    .needing(Needed::NonNegative);
    Err(with_methods(refused))
}

fn check_decoder(model: &Model) -> Result<()> {
    if model.code().decodes() {
        return Ok(());
    }
    Err(Error::unsupported(
        format!("finding modules by a model of {}", model.method().key),
        "its codes do not determine rows",
        "fit a method whose codes can be decoded",
    )
    .of_method(model.method().key))
}

fn readable<'a, T: Real>(rows: &'a Rows<'_, T>) -> Result<&'a dyn RandomAccess<T>> {
    rows.here("modules")?;
    rows.source().random().filter(|_| rows.weights().is_none()).ok_or_else(|| {
        Error::unsupported(
            "modules",
            match rows.weights() {
                Some(_) => "the rows have weights",
                None => "the rows can be read only once, in order",
            },
            "give rows without weights, from memory or a file",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(at: (usize, usize), evidence: f64, loadings: Vec<f64>, rows: &[u32], columns: &[u32]) -> Unit {
        let positive = vec![true; columns.len()];
        let (rows, columns) = (rows.to_vec(), columns.to_vec());
        Unit { at, evidence, concentration: 0.0, information: None, loadings, rows, columns, positive }
    }

    #[test]
    fn a_unit_of_one_row_does_not_take_a_module_with_it() {
        let loadings = vec![1.0, 0.0, 0.0];
        let module = unit((0, 1), 2.0, loadings.clone(), &[0, 3, 4], &[0, 1]);
        let found = groups(vec![unit((0, 0), 3.0, loadings, &[0], &[0, 1]), module]);
        assert_eq!((found.len(), found[0][0].at), (1, (0, 1)));
    }

    #[test]
    fn similar_units_are_one_module_and_units_without_members_none() {
        let (x, y, z) = (vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0]);
        let all = vec![
            unit((0, 0), 1.0, x.clone(), &[0, 1], &[0, 1]),
            // The same loadings, more evidence: it describes the module.
            unit((1, 3), 2.0, vec![0.8, 0.6, 0.0], &[1, 2], &[0, 2]),
            // Other loadings, but the cells of (0, 0): not those of the module's first unit, so it is one of its own.
            unit((1, 0), 0.5, z.clone(), &[0, 1], &[0, 1]),
            // The cells of the unit before it.
            unit((2, 7), 0.4, y.clone(), &[0, 1], &[0, 1]),
            // The opposite direction is another module; one row alone is none.
            unit((2, 0), 0.3, vec![-1.0, 0.0, 0.0], &[5, 6], &[0, 1]),
            unit((2, 1), 3.0, vec![0.0, -1.0, 0.0], &[9], &[1, 2]),
        ];
        let found = groups(all);
        let at: Vec<Vec<(usize, usize)>> = found.iter().map(|g| g.iter().map(|u| u.at).collect()).collect();
        // (2, 7) has a cosine of 0.6 with the first module.
        assert_eq!(at, [vec![(1, 3), (0, 0), (2, 7)], vec![(1, 0)], vec![(2, 0)]]);
    }
}
