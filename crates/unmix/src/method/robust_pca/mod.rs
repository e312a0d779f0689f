//! Robust PCA: rows as a matrix of low rank and a sparse one, with noise or without.
//!
//! **Finds** the common structure of the rows (a background, a common trend), and cells with errors of any
//! size.
//! **Model** `X = L + S`, `L` of low rank, `S` with few entries that are not 0:
//! `min ||L||_* + alpha ||S||_1`, which recovers both exactly if `L` is not itself sparse and the nonzero
//! positions of `S` are random. With noise of standard deviation `s` in every cell:
//! `min ||L||_* + alpha ||S||_1 + 1/(2m) ||X - L - S||²`, `m = 1.5 (sqrt n + sqrt p) s`, and then `L` of that
//! rank by least squares over the cells within 4.5 `s` of it.
//! **Algorithm**
//!  1. principal component pursuit (Candès et al. 2011) by the augmented Lagrangian: singular values of `L` and entries of `S` shrunk in
//!     turn; the penalty parameter is increased by a factor of 1.5 while the primal residual is large
//!     relative to the dual one (`pursuit.rs`). Singular values above the threshold by subspace iteration from
//!     the last vectors (`svd.rs`);
//!  2. with `noise="auto"`: if most cells have a nonzero residual, which is detected after 15 to 60
//!     iterations, the stable form by accelerated proximal gradients with restarts, a refit without shrinkage,
//!     and the noise estimated from its residuals, repeated until the estimate changes by less than 2 %
//!     (`stable.rs`);
//!  3. codes of rows: least absolute deviations in the row space of `L` (`l1.rs`); with noise, followed by least squares over the
//!     cells within 4.5 standard deviations of that fit. The rows of the fit are encoded in the same way, and singular values, the axes in
//!     the row space and the share of the sparse part are those of the low-rank part that the model gives back for them.
//!
//! With `standardize`, columns are divided by their median absolute deviations before and multiplied by them after.
//! A missing cell (NaN) is in neither term. **Cost** `O(n p r)` an iteration; eight tables of the size of the rows in memory.
//! **Equals** PCA about 0 if no cell has a gross error. **Fails** if whole columns or rows are wrong, if `L`
//! is sparse (for example a direction that only one row has), and if the rank is a large fraction of
//! `min(n, p)`.
//!
//! E. Candès, X. Li, Y. Ma & J. Wright (2011), J. ACM 58:11. Z. Zhou et al. (2010), Stable principal component pursuit, ISIT. Z. Lin, M. Chen
//! & Y. Ma (2010), arXiv:1009.5055. I. Barrodale & F. Roberts (1973), SIAM J. Numer. Anal. 10:839.

mod cells;
mod interior;
mod l1;
mod model;
mod pursuit;
mod settings;
mod simplex;
mod stable;
mod svd;

use super::{Accepts, Fit, Method, as_map, needs};
use crate::data::{Features, Rows, check_n_rows, no_columns};
use crate::error::Result;
use crate::model::{Model, Outcome, Report, canonical_sign, constant_columns};
use crate::num::{Matrix, Real};
use crate::run::Run;
use crate::solve::Limits;
use cells::Cells;
use pursuit::{NOISELESS_RESIDUAL_SHARE, Pursuit};
use serde_json::{Map, Value};
use settings::SETTINGS;
use stable::{MOST_ROUNDS, NOISE_CHANGE_TOL, Stable};
use svd::Low;

pub use settings::{Noise, RobustPca};

/// The registry entry.
pub(super) const METHOD: Method = Method {
    key: "robust-pca",
    class: "RobustPCA",
    summary: "rows as a low-rank matrix plus sparse errors of any size",
    settings: SETTINGS,
    variants: &[],
    accepts: Accepts { sparse: false, weights: false, stream: false, remote: false, missing: true },
    by_independence: false,
    of_signals: false,
    random_start: false,
    select_by_variances: false,
    to_compare: &[],
    equals: &["rows without large errors: pca with center=false, of the rank that is found"],
    references: &["Candès, Li, Ma & Wright 2011", "Zhou, Li, Wright, Candès & Ma 2010"],
    spec: |given| Ok(Box::new(RobustPca::from_settings(given)?)),
    code: model::code,
    density: None,
    memory: |n, p| vec![("alm", cells::memory(n, p).saturating_add(needs::PROGRAM_BYTES))],
};

/// Number of iterations of the exact form, after which rows with nonzero residuals in most cells are treated as noisy.
const TRIAL_ITERATIONS: u64 = 60;
/// Factor of the tolerance for iterations with noise.
const NOISY_TOL_FACTOR: f64 = 1e3;

/// Result of a fit.
struct FitResult {
    low: Low,
    noise: f64,
    solver: &'static str,
    outcome: Outcome,
    n_iter: u64,
    residual: f64,
    tol: f64,
    objective: Vec<f64>,
}

impl RobustPca {
    /// From settings by name.
    ///
    /// # Errors
    ///
    /// A name that is not one of robust PCA's settings, an invalid value of a setting.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        super::from_settings(SETTINGS, given)
    }

    /// Fits. NaN is a missing cell. All rows are held in memory.
    ///
    /// # Errors
    ///
    /// Infinities, fewer than two rows, a column without observed cells, rows that are all zero, rows that do not fit in memory, errors
    /// of the source. Rows without a common direction are not an error: the rank is then 0.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        METHOD.begin(self, rows, run)?;
        let (n, p) = (rows.n_counted(), rows.n_features());
        check_n_rows(METHOD.key, n, rows.origin(), "give more rows")?;
        if p == 0 {
            return Err(no_columns(METHOD.key, rows.origin()));
        }
        let rows = &*rows;
        rows.pooled(run.threads, || {
            let cells = Cells::read(METHOD.key, rows, self, run)?;
            let found = self.parts(&cells, run)?;
            self.model(&cells, found, rows, run)
        })
    }

    /// The weight of the sparse part.
    fn weight(&self, cells: &Cells) -> f64 {
        let long = cells.x.rows().max(cells.x.cols()) as f64;
        self.alpha.unwrap_or(1.0 / (long * cells.share()).sqrt())
    }

    fn parts(&self, cells: &Cells, run: &Run<'_>) -> Result<FitResult> {
        let p = cells.x.cols();
        let least = cells.x.rows().min(p);
        let basis = match run.initial_components(p, 0)? {
            Some(components) => {
                let rows = components.rows().min(least / 4);
                cells.in_units(components.top_rows(rows), false)
            }
            None => Matrix::zeros(0, p),
        };
        let alpha = self.weight(cells);
        let stable = Stable {
            cells,
            alpha,
            limits: Limits { tol: NOISY_TOL_FACTOR * self.tol, max_iter: self.max_iter },
        };
        let trial = match self.noise {
            Noise::Std(std) if std > 0.0 => {
                run.stage("low-rank and sparse part")?;
                let found = noisy(stable.fit(std, basis, run)?, stable.limits.tol);
                // The estimate from the residuals is not used: a given noise is known.
                return Ok(FitResult { noise: std, ..found });
            }
            Noise::Std(_) => None,
            // Without an estimate of the noise there is no form to change to: iterations continue until convergence.
            Noise::Auto(_) => (stable.first_guess() > 0.0).then_some(TRIAL_ITERATIONS),
        };
        run.stage("low-rank and sparse part")?;
        let exact_below = NOISELESS_RESIDUAL_SHARE * cells.scale();
        let pursuit = |trial| Pursuit {
            cells,
            alpha,
            limits: Limits { tol: self.tol, max_iter: self.max_iter },
            trial,
            exact_below,
        };
        let found = pursuit(trial).solve(basis.clone(), run)?;
        if found.exact || found.outcome.is_early() {
            return Ok(exact(found, self.tol));
        }
        let before = found.n_iter;
        drop(found);
        let (rounds, moved, outcome) = stable.with_unknown_noise(&basis, run)?;
        if rounds.std <= exact_below {
            // Rows without noise that need many iterations.
            let found = pursuit(None).solve(basis, run)?;
            let n_iter = found.n_iter + before + rounds.n_iter;
            return Ok(FitResult { n_iter, ..exact(found, self.tol) });
        }
        let n_iter = before + rounds.n_iter;
        Ok(FitResult {
            n_iter,
            residual: moved,
            tol: NOISE_CHANGE_TOL,
            outcome,
            ..noisy(rounds, NOISE_CHANGE_TOL)
        })
    }

    /// The low-rank part that the model gives back for the rows of the fit, in the row space of that of the fit. The two differ where cells
    /// near the threshold of the sparse part are counted otherwise, and the row space was found without shrinkage only afterwards.
    fn given_back<T: Real>(
        &self,
        cells: &Cells,
        found: &FitResult,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
    ) -> Result<Low> {
        let (n, p) = (cells.x.rows(), cells.x.cols());
        let (values, right) = axes(cells, &found.low)?;
        if values.is_empty() {
            return Ok(Low::none(n, p));
        }
        run.stage("codes of the rows")?;
        let components = cells.in_units(right.clone(), true);
        let tensors = model::parameters(&components, &values, cells, found.noise, T::DTYPE);
        let report = Report::closed_form(found.solver, n as f64, p, T::DTYPE, run.seed);
        let model = Model::fitted(&METHOD, as_map(self), rows.features().clone(), 0, tensors, report)?;
        let codes = model.encode_to_vec(rows, &Run { checkpoint: None, ..*run })?;
        let codes = codes.iter().map(|x| x.to_f64()).collect();
        Ok(Low { left: Matrix::from_vec(n, values.len(), codes), right, values })
    }

    fn model<T: Real>(
        &self,
        cells: &Cells,
        found: FitResult,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
    ) -> Result<Model> {
        let (n, p, dtype, features) = (cells.x.rows(), cells.x.cols(), T::DTYPE, rows.features());
        let low = self.given_back(cells, &found, rows, run)?;
        let (singular, components) = axes(cells, &low)?;
        let mut components = cells.in_units(components, true);
        canonical_sign(&mut components, dtype.eps());
        let mut report = Report::closed_form(found.solver, (n - cells.empty) as f64, p, dtype, run.seed);
        report.outcome = found.outcome;
        report.n_iter = found.n_iter;
        report.objective = found.objective;
        report.residual = Some(found.residual).filter(|r| r.is_finite());
        report.tol = Some(found.tol);
        report.rank = Some(singular.len());
        report.n_constant = cells.n_constant;
        // The rows are read again to be encoded.
        report.sweeps += u64::from(!singular.is_empty());
        let share = cells.sparse_share(&low.full(), found.noise);
        report.diagnostics.insert("sparse_share".into(), share.into());
        report.warnings = self.fit_warnings(cells, singular.len(), found.noise);
        report.warnings.extend(self.warnings_of_units(cells, features));
        if found.outcome == Outcome::Stalled {
            let units =
                if self.standardize { "" } else { ", or standardize=true for columns in different units" };
            report.warnings.push(format!(
                "the noise estimate did not converge in {MOST_ROUNDS} rounds, and changed by {:.0} % in the last one: give noise{units}",
                100.0 * found.residual
            ));
        }
        let settings = as_map(self);
        report.settings = settings.clone();
        report.settings.insert("alpha".into(), self.weight(cells).into());
        report.settings.insert("noise".into(), found.noise.into());
        report.end(run);
        let tensors = model::parameters(&components, &singular, cells, found.noise, dtype);
        Model::fitted(&METHOD, settings, features.clone(), 0, tensors, report)
    }

    /// The warning that columns are in different units, unless they are standardized.
    fn warnings_of_units(&self, cells: &Cells, features: &Features) -> Option<String> {
        if self.standardize { None } else { different_units(&cells.deviations(), features) }
    }

    fn fit_warnings(&self, cells: &Cells, rank: usize, noise: f64) -> Vec<String> {
        let (n, p) = (cells.x.rows(), cells.x.cols());
        let mut out = Vec::new();
        if self.center {
            out.extend(constant_columns(cells.n_constant, p, "entries in every component"));
        }
        if cells.empty > 0 {
            let have = if cells.empty == 1 {
                "row has no observed cell and is"
            } else {
                "rows have no observed cell and are"
            };
            out.push(format!("{} {have} ignored", cells.empty));
        }
        let (size, deviation) = (cells.size, cells.deviation);
        if !self.center && deviation > 0.0 && size > LARGE_OFFSET_RATIO * deviation {
            out.push(format!(
                "cells are about {size:.3e}, and deviate from the medians of their columns by about {deviation:.3e}: tol is relative to the \
                 cells, so that parts of the size of the deviations are inaccurate; choose center=true"
            ));
        }
        if rank == 0 && noise > 0.0 && matches!(self.noise, Noise::Auto(_)) {
            out.push(format!(
                "the low-rank part is 0, and the estimate of the noise, {noise:.3e}, includes all variation: it is uncertain where columns are few \
                 or the rank is a large fraction of them; give noise if it is known"
            ));
        }
        if 2 * rank > n.min(p) {
            out.push(format!(
                "the low-rank part has rank {rank} of at most {}: the rows are not a low-rank matrix with sparse errors",
                n.min(p)
            ));
        }
        out
    }
}

/// Ratio of the cells to their deviations from the medians of columns above which there is a warning: with the default tolerance the error of the
/// parts is then a thousandth of the deviations.
const LARGE_OFFSET_RATIO: f64 = 1e4;

/// Singular values and right singular vectors of a low-rank part, in the units of the scaled cells.
fn axes(cells: &Cells, low: &Low) -> Result<(Vec<f64>, Matrix<f64>)> {
    let (n, p) = (cells.x.rows(), cells.x.cols());
    let (singular, mut components) = low.axes()?;
    // In columns that are 0 in all rows, components have only rounding errors.
    let zero = |j: usize| (0..n).all(|i| cells.x[(i, j)] == 0.0);
    for j in (0..p).filter(|&j| cells.n_constant > 0 && zero(j)) {
        (0..components.rows()).for_each(|i| components[(i, j)] = 0.0);
    }
    Ok((singular, components))
}

/// Ratio of the largest to the median spread of a column above which columns are taken to be in different units.
const DIFFERENT_UNITS_RATIO: f64 = 100.0;

/// The warning that columns are in different units, from their median absolute deviations.
fn different_units(deviations: &[f64], features: &Features) -> Option<String> {
    // Pixels of a picture have one unit, even where most of them hardly change.
    if features.shape.as_ref().is_some_and(|shape| shape.len() > 1) {
        return None;
    }
    // The deviation of a column without spread is 0, or a rounding error.
    let largest = deviations.iter().fold(0.0f64, |m, d| m.max(*d));
    let mut order = crate::num::order::ascending(deviations);
    order.retain(|j| deviations[*j] > f64::EPSILON * largest);
    let (most, middle) = (*order.last()?, order[order.len() / 2]);
    let ratio = deviations[most] / deviations[middle];
    (ratio > DIFFERENT_UNITS_RATIO).then(|| {
        format!(
            "the median absolute deviation of column {} is {ratio:.0} times that of half of the columns, but errors and noise have one \
             unit in all columns: choose standardize=true, which divides each column by its spread",
            features.listed(&[most])
        )
    })
}

fn exact(found: pursuit::PursuitResult, tol: f64) -> FitResult {
    let pursuit::PursuitResult { at, outcome, n_iter, objective, .. } = found;
    FitResult {
        low: at.low,
        noise: 0.0,
        solver: "alm",
        outcome,
        n_iter,
        residual: at.residual,
        tol,
        objective,
    }
}

fn noisy(found: stable::StableResult, tol: f64) -> FitResult {
    let stable::StableResult { low, std, outcome, n_iter, residual, objective, .. } = found;
    FitResult { low, noise: std, solver: "stable", outcome, n_iter, residual, tol, objective }
}

impl Fit for RobustPca {
    fn fit_f32(&self, rows: &mut Rows<'_, f32>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn fit_f64(&self, rows: &mut Rows<'_, f64>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
}
