//! The fit of probabilistic PCA and related methods: checks, choice of the algorithm, report.

use super::blocks::{bic_blocks, bic_blocks_of_any};
use super::model::Estimate;
use super::settings::Algorithm;
use crate::data::{Features, Rows, check_n_rows};
use crate::error::{Error, Result, counted};
use crate::method::as_map;
use crate::model::{FitKind, Method, Model, Report, Sums, Tensor, constant_columns, without_effect_in};
use crate::num::{Dtype, Real};
use crate::run::Run;
use crate::select::{FitBy, Spectrum, size_by};
use crate::spectrum::{
    self, Components, Covariance, Decomposition, Request, Solver, auto_solver, check_count, check_total,
};
use serde::Serialize;
use serde_json::{Value, json};

/// Components of equal variance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Groups {
    /// Blocks of these sizes.
    Sizes(Vec<usize>),
    /// The blocks that are best by the Bayesian information criterion.
    Bic,
}

/// A fit of the model `x = mean + U L z + e`.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) method: &'static Method,
    pub(crate) n_components: Option<usize>,
    pub(crate) groups: Option<Groups>,
    /// Whether the model has a tensor with the sizes of the blocks of equal variances.
    pub(crate) blocks: bool,
    pub(crate) algorithm: Algorithm,
    pub(crate) noise_floor: f64,
    pub(crate) tol: f64,
    pub(crate) max_iter: u64,
    pub(crate) standardize: bool,
}

/// Refuses selection rules that need the rows, where only sums over them are given.
fn needs_no_rows(requested: &Components) -> Result<()> {
    let Components::Rule(rule) = requested else { return Ok(()) };
    let why = "this rule needs the rows, but the model holds only sums over them, as after incremental fits and merges";
    let rule = format!("'{}'", rule.name());
    Err(Error::setting(
        "n_components",
        rule,
        why,
        "choose a number, or leave it out to select it by the Bayesian information criterion",
    ))
}

/// Numbers of rows and columns, and the name of their source.
#[derive(Clone, Copy)]
pub(super) struct Size<'a> {
    pub(super) counted: u64,
    pub(super) p: usize,
    pub(super) origin: &'a str,
}

impl Size<'_> {
    /// Maximum number of components: at least one direction is left to the noise.
    fn most(self) -> usize {
        (self.counted.min(self.p as u64) as usize).saturating_sub(1)
    }
}

/// Results of a fit besides the parameters.
pub(super) struct FitDetails {
    pub(super) report: Report,
    pub(super) blocks: Vec<usize>,
    /// The variances of the columns, if the Bayesian information criterion selected the number of components.
    pub(super) by_bic: Option<Vec<f64>>,
}

impl Problem {
    /// Fits rows with the settings `spec`; if `requested` is a rule, the number of components is determined first, by fits with `by`.
    pub(crate) fn fit<T: Real>(
        mut self,
        spec: &impl Serialize,
        requested: &Components,
        rows: &mut Rows<'_, T>,
        by: &FitBy<'_, T>,
        run: &Run<'_>,
    ) -> Result<Model> {
        self.method.begin(spec, rows, run)?;
        if let Components::Rule(rule) = requested {
            self.n_components = Some(size_by(self.method, *rule, spec, rows, by, run)?);
        }
        let size = Size { counted: rows.n_counted(), p: rows.n_features(), origin: rows.origin() };
        self.check(size)?;
        let rows = &*rows;
        let found = rows.pooled(run.threads, || self.fitted(rows, size, run))?;
        let (estimate, details) = found;
        let model = self.model(spec, estimate, details, rows.features(), T::DTYPE, run)?;
        Ok(model.of_weighted_rows(rows.weighted_rows()))
    }

    fn fitted<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        size: Size<'_>,
        run: &Run<'_>,
    ) -> Result<(Estimate, FitDetails)> {
        if self.algorithm == Algorithm::Em {
            return self.by_em(rows, size, run);
        }
        match self.closed_form(rows, size, run) {
            // The iterations report infinities, too.
            Err(found) if rows.is_about_missing(&found) => match self.algorithm {
                Algorithm::ClosedForm => Err(Error::setting(
                    "algorithm",
                    "'closed-form'",
                    format!("{} has missing cells, and the closed form needs every cell", size.origin),
                    "choose 'auto' or 'em'",
                )),
                _ => self.by_em(rows, size, run),
            },
            found => found,
        }
    }

    /// Refuses settings that need the rows themselves.
    pub(crate) fn check_sums(&self, requested: &Components) -> Result<()> {
        needs_no_rows(requested)?;
        if self.algorithm == Algorithm::Em {
            let why = "iterations need the rows, but the model holds only sums over them, as after incremental fits and merges";
            return Err(Error::setting("algorithm", "'em'", why, "choose 'auto' or 'closed-form'"));
        }
        Ok(())
    }

    /// Fits the sums over rows.
    pub(crate) fn fit_sums(
        &self,
        spec: &impl Serialize,
        requested: &Components,
        sums: &Sums,
        features: &Features,
        run: &Run<'_>,
    ) -> Result<Model> {
        self.check_sums(requested)?;
        self.method.begin_sums(spec, sums)?;
        let scatter = sums.total();
        let (p, dtype) = (scatter.mean.len(), sums.dtype());
        let size = Size { counted: sums.n_counted(), p, origin: "the sums" };
        self.check(size)?;
        if !scatter.finite() {
            return Err(Error::Overflow { method: self.method.key.into(), dtype: dtype.name() });
        }
        let request = self.request(Solver::CovarianceEigh, None);
        let found =
            Covariance::new(scatter, true, self.standardize).spectrum(&request, dtype, size.counted)?;
        let (estimate, details) = self.of_spectrum(found, Solver::CovarianceEigh, size, dtype, run)?;
        let model = self.model(spec, estimate, details, features, dtype, run)?;
        Ok(model.of_weighted_rows(sums.weighted_rows()).with_sums(sums.clone()))
    }

    pub(super) fn check(&self, size: Size<'_>) -> Result<()> {
        let Size { counted: n, p, origin, .. } = size;
        let key = self.method.key;
        check_n_rows(key, n, origin, "give more rows")?;
        let most = size.most();
        let limit = || {
            format!(
                "{origin} has {} and {} (n_features={p}), and components must be fewer than both, since at least one \
                 direction is left to the noise",
                counted(n, "row"),
                counted(p as u64, "column")
            )
        };
        match (&self.groups, self.n_components) {
            (Some(Groups::Sizes(sizes)), requested) => {
                let sum = sizes.iter().fold(0usize, |sum, d| sum.saturating_add(*d));
                if let Some(k) = requested.filter(|k| *k != sum) {
                    let sum = counted(sum as u64, "component");
                    let why = format!("the blocks of groups={sizes:?} have {sum}");
                    return Err(Error::setting(
                        "n_components",
                        k,
                        why,
                        "leave one of the two out, or make them agree",
                    ));
                }
                match sum > most {
                    true => {
                        let most = counted(most as u64, "component");
                        let remedy = format!("choose blocks of at most {most} together");
                        Err(Error::setting("groups", format!("{sizes:?}"), limit(), remedy))
                    }
                    false => Ok(()),
                }
            }
            (_, Some(k)) => check_count(k, self.method.least_components()..=most, limit),
            (_, None) if most == 0 && p > 0 => Err(Error::unsupported(
                format!("{key} of n_features={p} column"),
                "a component and the noise need at least two columns",
                "choose more columns",
            )
            .of_method(key)),
            _ => Ok(()),
        }
    }

    fn request(&self, solver: Solver, top: Option<usize>) -> Request {
        Request {
            method: self.method.key,
            solver,
            top,
            center: true,
            standardize: self.standardize,
            tol: 0.0,
            rounds: None,
            n_oversamples: 10,
            start: None,
        }
    }

    fn closed_form<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        size: Size<'_>,
        run: &Run<'_>,
    ) -> Result<(Estimate, FitDetails)> {
        let known = if self.groups.is_none() { self.n_components } else { None };
        let solver = auto_solver(rows.n_rows().unwrap_or(0), size.p, known, rows.is_sparse());
        let found = spectrum::decompose(rows, run, &self.request(solver, known))?;
        self.of_spectrum(found, solver, size, T::DTYPE, run)
    }

    /// The estimate of maximum likelihood, from the variances (divisor `n - 1`) along the axes.
    fn of_spectrum(
        &self,
        found: Decomposition,
        solver: Solver,
        size: Size<'_>,
        dtype: Dtype,
        run: &Run<'_>,
    ) -> Result<(Estimate, FitDetails)> {
        check_total(self.method.key, found.total, dtype)?;
        // Columns divided by their standard deviations have the same covariance for either divisor.
        let shrink = if self.standardize { 1.0 } else { (found.n - 1.0) / found.n };
        let (k, blocks) = self.count(&found, size);
        let floor = self.noise_floor * found.total * shrink / size.p as f64;
        let noise = found.discarded(k) * shrink / (size.p - k) as f64;
        let first = found.values.first().copied().unwrap_or(0.0) * shrink;
        let singular =
            found.rank.is_some_and(|rank| k >= rank) || noise <= size.p as f64 * dtype.eps() * first;
        if singular && floor <= 0.0 {
            return Err(self.no_noise(k, size, found.rank));
        }
        let noise = noise.max(floor);
        let mut variance: Vec<f64> = found.values.iter().take(k).map(|v| v * shrink).collect();
        variance.resize(k, 0.0);
        let blocks = match blocks {
            Some(sizes) => sizes,
            None if self.groups == Some(Groups::Bic) || self.blocks => bic_blocks(&variance, k, found.n),
            None => Vec::new(),
        };
        if self.groups.is_some() {
            averaged(&mut variance, &blocks);
        }
        variance.iter_mut().for_each(|v| *v = v.max(noise));
        let kept = variance.iter().take_while(|v| **v > noise).count().min(found.axes.rows());
        let mut report = Report::closed_form("closed-form", found.n, size.p, dtype, run.seed);
        report.sweeps = found.sweeps;
        report.rank = found.rank;
        report.n_constant = found.n_constant;
        report.warnings = self.fit_warnings(&found, k, noise <= floor, size.p);
        if self.groups.is_none() && self.n_components.is_none() {
            report.warnings.extend(Spectrum::of(&found, size.p).warning_of_bic());
        }
        report.settings.insert("svd_solver".into(), solver.name().into());
        let by_bic = (self.groups.is_none() && self.n_components.is_none())
            .then(|| variances_of_columns(&found, size.p));
        let along: f64 =
            variance.iter().enumerate().map(|(i, v)| v.ln() + sample_variance(&found, i) * shrink / v).sum();
        let rest = (size.p - k) as f64 * noise.ln() + found.discarded(k) * shrink / noise;
        let sizes = if self.groups.is_some() { blocks.clone() } else { vec![1; k] };
        let unit = units_of_columns(&found);
        let units: f64 = unit.iter().flatten().map(|u: &f64| u.ln()).sum();
        let mean = -0.5 * (size.p as f64 * (2.0 * std::f64::consts::PI).ln() + along + rest) - units;
        report.fit = Some(criteria(found.n * mean, found.n, parameters((size.p, found.n_constant), &sizes)));
        let axes = found.axes.top_rows(kept);
        Ok((
            Estimate { mean: found.mean, unit, axes, variance, noise },
            FitDetails { report, blocks, by_bic },
        ))
    }

    /// The number of components, and the blocks if they are known before the variances are estimated.
    fn count(&self, found: &Decomposition, size: Size<'_>) -> (usize, Option<Vec<usize>>) {
        let most = size.most();
        match (&self.groups, self.n_components) {
            (Some(Groups::Sizes(sizes)), _) => (sizes.iter().sum(), Some(sizes.clone())),
            (_, Some(k)) => (k, None),
            (Some(Groups::Bic), None) => {
                let rank = found.rank.unwrap_or(found.values.len()).min(found.values.len());
                let most = most.min(rank.saturating_sub(1)).max(1);
                let p = (size.p - found.n_constant).max(most + 1);
                let blocks = bic_blocks_of_any(&found.values, found.total, p, most, found.n);
                (blocks.iter().sum(), Some(blocks))
            }
            (None, None) => (Spectrum::of(found, size.p).bic().clamp(1, most.max(1)), None),
        }
    }

    fn fit_warnings(&self, found: &Decomposition, k: usize, at_floor: bool, p: usize) -> Vec<String> {
        let mut out: Vec<String> = constant_columns(found.n_constant, p, "loadings").into_iter().collect();
        let values = &found.values;
        if k > 0 && values.len() > k && values[k - 1] - values[k] <= found.floor * values[0] {
            out.push(format!(
                "variances {} and {k} are equal, so which directions are components and which are noise is arbitrary",
                k - 1
            ));
        }
        if at_floor {
            out.push("the noise variance is at its lower bound, noise_floor: the residual variance of the rows is no larger".into());
        }
        out
    }

    pub(super) fn no_noise(&self, k: usize, size: Size<'_>, rank: Option<usize>) -> Error {
        let vary = rank.map_or(String::new(), |rank| format!(", of rank {rank},"));
        Error::unsupported(
            format!("{} with {}", self.method.key, counted(k as u64, "component")),
            format!(
                "the residual variance of {}{vary} would be 0, and the likelihood unbounded",
                size.origin
            ),
            format!("choose fewer components{}", self.bounded_remedy()),
        )
        .of_method(self.method.key)
    }

    /// What bounds a likelihood besides fewer components, as the end of a remedy. The method without a lower bound of the noise is matrix
    /// completion, which has another algorithm for cells without noise.
    pub(super) fn bounded_remedy(&self) -> &'static str {
        match self.method.settings.iter().any(|setting| setting.name == "noise_floor") {
            true => ", or set noise_floor, as in noise_floor=1e-8",
            false => ", or algorithm='als', which also recovers cells without noise",
        }
    }

    /// The model of an estimate.
    fn model(
        &self,
        spec: &impl Serialize,
        estimate: Estimate,
        details: FitDetails,
        features: &Features,
        dtype: Dtype,
        run: &Run<'_>,
    ) -> Result<Model> {
        let FitDetails { mut report, blocks, by_bic } = details;
        let k = estimate.variance.len();
        report.warnings.extend(by_bic.and_then(|variances| self.dominant_column(&variances, features)));
        let settings = as_map(spec);
        let found = std::mem::replace(&mut report.settings, settings.clone());
        report.settings.extend(found);
        report.settings.insert("n_components".into(), k.into());
        if report.settings.contains_key("algorithm") {
            report.settings.insert("algorithm".into(), report.solver.clone().into());
        } else if report.solver == "closed-form" {
            report.warnings.extend(without_effect_in(FitKind::Complete, self.method.settings, &settings));
        }
        report.end(run);
        let sizes: Vec<f64> = blocks.iter().map(|d| *d as f64).collect();
        let more = self.blocks.then(|| ("blocks", Tensor::vector(&sizes, dtype)));
        let tensors = estimate.tensors(dtype, more)?;
        Model::fitted(self.method, settings, features.clone(), 0, tensors, report)
    }
}

/// The variance of the rows along component `i`; 0 beyond their rank.
fn sample_variance(found: &Decomposition, i: usize) -> f64 {
    found.values.get(i).copied().unwrap_or(0.0)
}

/// The variances of the `p` columns.
fn variances_of_columns(found: &Decomposition, p: usize) -> Vec<f64> {
    let mut variances = vec![0.0; p];
    for (i, value) in found.values.iter().enumerate().take(found.axes.rows()) {
        variances.iter_mut().zip(found.axes.row(i)).for_each(|(v, x)| *v += value * x * x);
    }
    variances
}

/// Standard deviations with divisor `n` that columns were divided by; 1 for a constant column.
fn units_of_columns(found: &Decomposition) -> Option<Vec<f64>> {
    let scale = found.noise_scale.as_ref()?;
    let root = ((found.n - 1.0) / found.n).sqrt();
    let constant = |j: usize| (0..found.axes.rows()).all(|i| found.axes[(i, j)] == 0.0);
    let each = scale.iter().enumerate();
    Some(each.map(|(j, s)| if *s == 1.0 && constant(j) { 1.0 } else { s * root }).collect())
}

/// Number of free parameters of blocks of these sizes, each with one variance, in `p` columns, of which `n_constant` are constant: axes up to
/// rotations within a block, variances, mean. Constant columns have no parameters, unless there are more components than the others allow.
pub(super) fn parameters((p, n_constant): (usize, usize), sizes: &[usize]) -> f64 {
    let rotations = |d: usize| 0.5 * d as f64 * (d as f64 - 1.0);
    let k: usize = sizes.iter().sum();
    let p = (p - n_constant).max(k + 1);
    let kept: f64 = sizes.iter().map(|d| rotations(*d)).sum();
    rotations(p) - kept - rotations(p - k) + sizes.len() as f64 + 1.0 + p as f64
}

/// The log-likelihood of all rows and the information criteria, by name; smaller criteria are better.
pub(super) fn criteria(log_likelihood: f64, n: f64, parameters: f64) -> Value {
    json!({
        "log_likelihood": log_likelihood,
        "aic": -2.0 * log_likelihood + 2.0 * parameters,
        "bic": -2.0 * log_likelihood + n.ln() * parameters,
    })
}

/// Replaces every variance by the mean of its block.
fn averaged(variance: &mut [f64], blocks: &[usize]) {
    let mut rest = variance;
    for &d in blocks {
        let (block, others) = rest.split_at_mut(d);
        let mean = block.iter().sum::<f64>() / d as f64;
        block.fill(mean);
        rest = others;
    }
}
