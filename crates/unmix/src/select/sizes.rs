//! One table over the number of components, for methods that have a likelihood: log-likelihood, AIC, BIC, held-out cells.

use super::cells::{CellMask, HeldOut, MOST_ITERATIONS, PATIENCE};
use crate::data::{AnyRows, Rows};
use crate::error::{Error, Needed, Result, counted};
use crate::model::{Method, Model, Setting};
use crate::num::Real;
use crate::run::Run;
use crate::spectrum::Rule;
use serde_json::{Map, Value, json};
use std::fmt;

/// A criterion that selects a number of components from the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SizeRule {
    /// The smallest Akaike information criterion.
    Aic,
    /// The smallest Bayesian information criterion.
    Bic,
    /// The largest mean log density of held-out cells.
    Cells,
    /// Parallel analysis of the columns; for factor analysis.
    Parallel,
}

impl SizeRule {
    /// The criteria that a table over the number of components has, in its order.
    pub const ALL: [SizeRule; 3] = [SizeRule::Aic, SizeRule::Bic, SizeRule::Cells];

    /// The rules that `n_components` of the method accepts by name, and that a table for the method can have.
    pub fn of(method: &Method) -> Vec<SizeRule> {
        let taken = method.settings.iter().find(|s| s.name == "n_components").map(Setting::choices);
        let taken = taken.unwrap_or_default();
        let all = Self::ALL.into_iter().chain([SizeRule::Parallel]);
        all.filter(|rule| taken.iter().any(|name| rule.to_string() == *name)).collect()
    }

    /// From a list of names; an empty list means [`ALL`](Self::ALL).
    ///
    /// # Errors
    ///
    /// A name that the method does not take, with the nearest one that it takes; a name that is given twice.
    pub fn parse<S: AsRef<str>>(method: &Method, names: &[S]) -> Result<Vec<SizeRule>> {
        let known = match Self::of(method) {
            none if none.is_empty() => Self::ALL.to_vec(),
            known => known,
        };
        super::check_distinct(names)?;
        let mut out = Vec::new();
        for name in names.iter().map(|name| name.as_ref().trim()) {
            let rule = known.iter().find(|rule| rule.to_string() == name);
            let words: Vec<String> = known.iter().map(ToString::to_string).collect();
            let rule = rule.ok_or_else(|| Error::unknown("rule", name, words.iter().map(String::as_str)))?;
            out.push(*rule);
        }
        Ok(if out.is_empty() { Self::ALL.to_vec() } else { out })
    }

    /// The quantity that the number estimates, in a few words.
    pub fn estimates(self) -> &'static str {
        match self {
            SizeRule::Aic => "smallest expected deviance of new rows, for large n",
            SizeRule::Bic => "number of components of the model, for large n",
            SizeRule::Cells => "best prediction of cells that were held out",
            SizeRule::Parallel => "number of factors above those of permuted columns",
        }
    }
}

impl fmt::Display for SizeRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SizeRule::Aic => "aic",
            SizeRule::Bic => "bic",
            SizeRule::Cells => "cells",
            SizeRule::Parallel => "parallel",
        })
    }
}

/// A line of the table: results of the fit with `k` components.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Size {
    /// Number of components.
    pub k: usize,
    /// Log-likelihood of all rows.
    pub log_likelihood: f64,
    /// Akaike's information criterion.
    pub aic: f64,
    /// The Bayesian information criterion.
    pub bic: f64,
    /// Log density of held-out cells, if requested.
    pub cells: Option<HeldOut>,
    /// Why no rule selects this number, if so: the likelihood has no maximum, or the parameters are not determined by the rows.
    pub excluded: Option<&'static str>,
}

impl Size {
    /// BIC and the negative density of held-out cells, of which a decrease continues the table.
    fn costs(&self) -> [f64; 2] {
        match self.excluded {
            Some(_) => [f64::INFINITY; 2],
            None => [self.bic, self.cells.map_or(f64::INFINITY, |cells| -cells.mean)],
        }
    }
}

/// Options of the table.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SizeRequest<'a> {
    /// Settings of the method, without `n_components`.
    pub settings: &'a Map<String, Value>,
    /// Criteria; cells are held out only if [`SizeRule::Cells`] is one of them.
    pub rules: &'a [SizeRule],
    /// The largest number of components; with `None`, the table ends after three successive numbers that improve neither BIC nor
    /// held-out cells.
    pub most: Option<usize>,
    /// Whether the time limit of the run ends the table. Within a fit it does not: there a number of components is needed, also by fits that have
    /// ended early.
    ends_early: bool,
}

impl<'a> SizeRequest<'a> {
    /// A table by these criteria up to `most` components; with `None`, until no criterion improves.
    pub fn new(settings: &'a Map<String, Value>, rules: &'a [SizeRule], most: Option<usize>) -> Self {
        Self { settings, rules, most, ends_early: true }
    }
}

/// The table.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sizes {
    /// Key of the method.
    pub method: &'static str,
    /// Number of samples with at least one observed cell.
    pub n: f64,
    /// Number of features.
    pub p: usize,
    /// A line for each number of components, in ascending order.
    pub lines: Vec<Size>,
    /// The criteria, in the order requested.
    pub rules: Vec<SizeRule>,
    /// The number of components by parallel analysis, if requested.
    pub parallel: Option<usize>,
    /// Notes for the user on how to interpret the table.
    pub warnings: Vec<String>,
    /// Seed of the folds of cells.
    pub seed: u64,
}

impl Sizes {
    fn without_lines(method: &Method, p: usize, request: &SizeRequest<'_>, run: &Run<'_>) -> Self {
        Self {
            method: method.key,
            n: 0.0,
            p,
            lines: Vec::new(),
            rules: request.rules.to_vec(),
            parallel: None,
            warnings: Vec::new(),
            seed: run.seed,
        }
    }

    /// The lines that rules select from: those that are not excluded, or all if every line is.
    fn candidates(&self) -> impl Iterator<Item = &Size> {
        let none_left = self.lines.iter().all(|line| line.excluded.is_some());
        self.lines.iter().filter(move |line| none_left || line.excluded.is_none())
    }

    /// The number of components by `rule`: the smallest if several are equal; `None` if the rule was not requested.
    pub fn get(&self, rule: SizeRule) -> Option<usize> {
        if !self.rules.contains(&rule) {
            return None;
        }
        if rule == SizeRule::Parallel {
            return self.parallel;
        }
        if rule == SizeRule::Cells {
            let each = self.candidates().filter_map(|line| Some((line.cells?, line.k)));
            let best = each.reduce(|best, line| if line.0.improves_on(&best.0) { line } else { best });
            return best.map(|(_, k)| k);
        }
        let cost = |line: &Size| match rule {
            SizeRule::Aic => Some(line.aic),
            SizeRule::Bic => Some(line.bic),
            SizeRule::Cells | SizeRule::Parallel => None,
        };
        let each = self.candidates().filter_map(|line| Some((cost(line)?, line.k)));
        each.fold(None, |best: Option<(f64, usize)>, (cost, k)| match best {
            Some((least, _)) if cost >= least => best,
            _ => Some((cost, k)),
        })
        .map(|(_, k)| k)
    }

    /// The suggested number: that of the held-out cells if requested, else that of the first criterion.
    pub fn suggested(&self) -> Option<usize> {
        self.get(SizeRule::Cells).or(self.rules.first().and_then(|rule| self.get(*rule)))
    }

    /// Ends the table before `k` components, whose fits ended early: their likelihood is below its maximum, and so not comparable. A table has
    /// at least one line.
    fn end_early(&mut self, k: usize, size: Size) {
        let why = "the fits ended early at the time limit";
        if !self.lines.is_empty() {
            let components = counted(k as u64, "component");
            self.warnings.push(format!("the table ends before {components}: {why}"));
            return;
        }
        self.lines.push(size);
        self.warnings.push(format!(
            "the table has no other number of components than {k}, whose fit may not have converged: {why}"
        ));
    }

    /// As JSON, in the form that the command line prints for scripts.
    pub fn to_json(&self) -> Value {
        let line = |line: &Size| {
            json!({
                "k": line.k,
                "log_likelihood": line.log_likelihood,
                "aic": line.aic,
                "bic": line.bic,
                "cells": line.cells.map(|cells| cells.mean),
                "cells_standard_error": line.cells.map(|cells| cells.standard_error),
                "excluded": line.excluded,
            })
        };
        let rule = |rule: &SizeRule| json!({"rule": rule.to_string(), "k": self.get(*rule), "estimates": rule.estimates()});
        json!({
            "method": self.method,
            "n_samples": self.n,
            "n_features": self.p,
            "table": self.lines.iter().map(line).collect::<Value>(),
            "rules": self.rules.iter().map(rule).collect::<Value>(),
            "suggested": self.suggested(),
            "warnings": self.warnings,
            "seed": self.seed,
        })
    }
}

/// Fits `method` with 0 (or its minimum), 1, 2, ... components, and compares the fits. Rows may have missing cells if the method accepts
/// them. For `cells`, there are two more fits for every number, each to rows without a fifth of their cells, of at most 60 iterations.
///
/// # Errors
///
/// A method without a likelihood, or that does not accept missing cells if cells are to be held out; `n_components` among the settings;
/// errors of the first fit. A number of components that cannot be fitted, that does not fit in memory, or whose fits end at the time limit of `run`
/// ends the table, with a warning.
pub fn compare_sizes(
    method: &'static Method,
    rows: &mut AnyRows<'_>,
    request: &SizeRequest<'_>,
    run: &Run<'_>,
) -> Result<Sizes> {
    match rows {
        AnyRows::F32(rows) => table_of(
            method,
            rows,
            request,
            &|settings, rows, run| (method.spec)(settings)?.fit_f32(rows, run),
            run,
        ),
        AnyRows::F64(rows) => table_of(
            method,
            rows,
            request,
            &|settings, rows, run| (method.spec)(settings)?.fit_f64(rows, run),
            run,
        ),
    }
}

/// A fit of a method with these settings.
pub(crate) type FitBy<'f, T> = dyn Fn(&Map<String, Value>, &mut Rows<'_, T>, &Run<'_>) -> Result<Model> + 'f;

/// The number of components by `rule`, for a typed fit whose settings, `n_components` among them, are `settings`.
///
/// # Errors
///
/// Those of [`compare_sizes`].
pub(crate) fn size_by<T: Real>(
    method: &'static Method,
    rule: Rule,
    settings: &impl serde::Serialize,
    rows: &mut Rows<'_, T>,
    fit: &FitBy<'_, T>,
    run: &Run<'_>,
) -> Result<usize> {
    let Ok(Value::Object(mut settings)) = serde_json::to_value(settings) else {
        unreachable!("settings are a table of names and values")
    };
    settings.remove("n_components");
    let rules = SizeRule::parse(method, &[rule.name()])?;
    // These fits must not use the checkpoint or the initial values of the fit itself.
    let run = Run { checkpoint: None, init: None, ..*run };
    let request = SizeRequest { settings: &settings, rules: &rules, most: None, ends_early: false };
    let table = table_of(method, rows, &request, fit, &run)?;
    Ok(table.suggested().unwrap_or(method.least_components()))
}

fn table_of<T: Real>(
    method: &'static Method,
    rows: &mut Rows<'_, T>,
    request: &SizeRequest<'_>,
    fit: &FitBy<'_, T>,
    run: &Run<'_>,
) -> Result<Sizes> {
    check_sizes(method, request)?;
    method.check_rows(rows, run)?;
    let hidden = match request.rules.contains(&SizeRule::Cells) {
        true => Some(CellMask::new(rows, run)?),
        false => None,
    };
    let all = rows.n_counted().min(rows.n_features() as u64) as usize;
    let most = request.most.map_or(all, |most| most.min(all));
    let mut table = Sizes::without_lines(method, rows.n_features(), request, run);
    if request.rules.contains(&SizeRule::Parallel) {
        let mut settings = request.settings.clone();
        settings.insert("n_components".into(), SizeRule::Parallel.to_string().into());
        table.parallel = Some(fit(&settings, rows, run)?.n_components());
    }
    let (mut best, mut worse) = ([f64::INFINITY; 2], 0);
    for k in method.least_components()..=most {
        let size = match line(method, k, rows, request, hidden.as_ref(), fit, run) {
            Ok((size, n)) => {
                table.n = n;
                size
            }
            Err(e @ (Error::Setting { .. } | Error::Unsupported { .. })) if !table.lines.is_empty() => {
                if request.most.is_some() || matches!(e, Error::Unsupported { .. }) {
                    let components = counted(k as u64, "component");
                    table.warnings.push(format!("the table ends before {components}: {e}"));
                }
                break;
            }
            // More components need more memory still.
            Err(e @ Error::Memory { .. }) if !table.lines.is_empty() => {
                table.warnings.push(match k {
                    1 => format!("the table ends before 1 component, which does not fit in memory: {e}"),
                    k => format!("the table ends before {k} components, which do not fit in memory: {e}"),
                });
                break;
            }
            Err(e) => return Err(e),
        };
        if request.ends_early && run.ends_early() {
            table.end_early(k, size);
            break;
        }
        let costs = size.costs();
        worse = if costs.iter().zip(&best).any(|(cost, best)| cost < best) { 0 } else { worse + 1 };
        best.iter_mut().zip(costs).for_each(|(best, cost)| *best = best.min(cost));
        table.lines.push(size);
        if worse == PATIENCE && request.most.is_none() {
            break;
        }
    }
    table.warnings.extend(excluded(&table));
    table.warnings.extend(ambiguous(&table));
    Ok(table)
}

/// The checks of [`compare_sizes`] that do not depend on the rows.
///
/// # Errors
///
/// A method without a likelihood, or that does not accept missing cells if cells are to be held out; settings that the method
/// refuses, `n_components` among them.
pub fn check_sizes(method: &Method, request: &SizeRequest<'_>) -> Result<()> {
    if request.settings.contains_key("n_components") {
        return Err(Error::setting(
            "n_components",
            &request.settings["n_components"],
            "it must not be given, because the table has a line for each number of components",
            "leave it out, or bound the numbers by max_components",
        ));
    }
    if method.density.is_none() {
        return Err(no_likelihood(method));
    }
    if request.rules.contains(&SizeRule::Cells) && !method.accepts.missing {
        return Err(Error::unsupported(
            format!("the rule 'cells' with {}", method.key),
            "it holds cells out, and the method does not support missing cells",
            "choose other rules",
        )
        .of_method(method.key)
        .needing(Needed::LikelihoodOfCells));
    }
    (method.spec)(request.settings).map(|_| ())
}

/// The line of the fit with `k` components, and the number of rows in its likelihood.
fn line<T: Real>(
    method: &'static Method,
    k: usize,
    rows: &mut Rows<'_, T>,
    request: &SizeRequest<'_>,
    hidden: Option<&CellMask>,
    fit: &FitBy<'_, T>,
    run: &Run<'_>,
) -> Result<(Size, f64)> {
    run.stage(&counted(k as u64, "component"))?;
    let mut settings = request.settings.clone();
    settings.insert("n_components".into(), k.into());
    let model = fit(&settings, rows, run)?;
    let number = |name: &str| {
        let value = model.report().fit.as_ref().and_then(|fit| fit.get(name)).and_then(Value::as_f64);
        // A fit that ended before its first iteration has no likelihood yet.
        let none_yet = model.report().outcome.is_early().then_some(f64::NAN);
        value.or(none_yet).ok_or_else(|| no_likelihood(method))
    };
    let (log_likelihood, aic, bic) = (number("log_likelihood")?, number("aic")?, number("bic")?);
    if let Some(bound) = method.settings.iter().find(|s| s.name == "max_iter") {
        let requested = settings.get(bound.name).and_then(Value::as_u64).unwrap_or(MOST_ITERATIONS);
        settings.insert(bound.name.into(), requested.min(MOST_ITERATIONS).into());
    }
    let cells = match hidden {
        None => None,
        Some(hidden) => Some(hidden.judge(rows, run, |mut left, run| fit(&settings, &mut left, run))?),
    };
    let excluded = model.report().not_comparable;
    Ok((Size { k, log_likelihood, aic, bic, cells, excluded }, model.report().n_samples))
}

fn no_likelihood(method: &Method) -> Error {
    Error::unsupported(
        format!("a table of numbers of components of {}", method.key),
        "its fits report no log-likelihood",
        "choose a method that has one, such as ppca or factor-analysis",
    )
    .of_method(method.key)
}

/// A sentence for each reason for which numbers of components are not selected.
fn excluded(table: &Sizes) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for line in &table.lines {
        let Some(why) = line.excluded else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, numbers)) => numbers.push(line.k.to_string()),
            None => reasons.push((why, vec![line.k.to_string()])),
        }
    }
    let none_left = table.lines.iter().all(|line| line.excluded.is_some());
    let what = if none_left { "rules have no choice but" } else { "no rule selects" };
    let sentence = |(why, numbers): (&str, Vec<String>)| match numbers.as_slice() {
        [one] if one == "1" => format!("{what} 1 component: {why}"),
        numbers => format!("{what} {} components: {why}", numbers.join(", ")),
    };
    reasons.into_iter().map(sentence).collect()
}

/// A sentence if BIC and held-out cells differ much.
fn ambiguous(table: &Sizes) -> Option<String> {
    let (bic, cells) = (table.get(SizeRule::Bic)?, table.get(SizeRule::Cells)?);
    (bic.abs_diff(cells) > 1).then(|| {
        format!(
            "BIC selects {} and held-out cells {cells}, so the data do not determine the number clearly; look at \
             the table and its standard errors",
            counted(bic as u64, "component")
        )
    })
}

#[cfg(test)]
mod tests;
