//! Rectified factor networks: factor analysis with non-negative, sparse codes, typically with many more units than there are
//! factors.
//!
//! **Finds** units that are active in part of the rows, their loadings, and the noise variance of every column.
//! **Model** `x = center + W h + e`, `h ~ N(xi, T I)`, `e ~ N(0, diag(psi))`, with a constrained posterior: the mean of every row's `h`
//! is non-negative, and that of every unit has second moment 1 over the rows.
//! **Algorithm** (Clevert et al. 2015), an iteration:
//!  1. `B = Psi^-1 W Sigma`, `Sigma = (I / T + W' Psi^-1 W)^-1`, by inverting an `l x l` or an `m x m` matrix, whichever is smaller;
//!  2. *plain*: codes `max(0, (X - center) B)`, and their cross products with each other and with the rows, in one pass; the scales of
//!     the units are applied to the sums.
//!     *coordinate*: the codes of one unit after the other, exactly, given the others. *cascade*: the published sequence of candidates;
//!  3. `W` and `psi` move by the fraction `eta` towards `U S^-1` and the expected squared residuals (Newton's direction), within bounds.
//!
//! Initial values and the minimum noise variance are fractions of the columns' variances, so that the units of the columns do not
//! matter.
//! **Cost** `O(n l (2 m + l) + l² (m + l))` an iteration, `O(l (m + l))` memory in plain mode; two tables of all codes (coordinate) or four (cascade).
//! **Equals** factor analysis if no code is rectified. **Fails**: convergence of the plain mode is not proved; the convergence theorem of
//! the paper covers the other two.
//!
//! D.-A. Clevert, A. Mayr, T. Unterthiner & S. Hochreiter (2015), Rectified factor networks, NIPS.

mod batches;
mod guaranteed;
mod model;
mod plain;
mod row_moments;
mod settings;
mod start;

use super::{Accepts, Fit, Method, needs};
use crate::data::{Features, Rows, check_n_rows, no_columns};
use crate::error::{Error, Result};
use crate::machine::check_memory;
use crate::model::{Model, Outcome, Report, Tensors};
use crate::num::Real;
use crate::rectified::corruption::{self, Dropout, InputNoise};
use crate::rectified::{self, Normalisation, Parameters, Posterior, Prior, Statistics, Step};
use crate::run::Run;
use crate::solve::{Limits, best_of_starts};
use crate::spectrum::check_count;
use row_moments::RowMoments;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
pub(crate) use settings::SETTINGS;

pub use settings::{
    Accept, Center, DeadUnit, DropoutPlace, EStep, Init, InputNoiseKind, LearningRate, MStep, Median,
    NoiseForm, Normalize, PsiMinUnit, Rfn,
};

/// The registry entry.
pub(super) const METHOD: Method = Method {
    key: "rfn",
    class: "RFN",
    summary: "non-negative sparse codes of a factor model, each unit active in some of the rows",
    settings: SETTINGS,
    variants: &[],
    accepts: Accepts { sparse: true, weights: true, stream: true, remote: true, missing: false },
    by_independence: true,
    of_signals: false,
    random_start: true,
    select_by_variances: false,
    to_compare: &[],
    equals: &[],
    references: &["Clevert, Mayr, Unterthiner & Hochreiter 2015"],
    spec: |given| Ok(Box::new(Rfn::from_settings(given)?)),
    code: model::code,
    density: Some(model::density),
    memory: |_, p| {
        let l = 50u64;
        vec![(
            "plain",
            (p as u64).saturating_add(l).saturating_mul(l * 8 * 24).saturating_add(needs::PROGRAM_BYTES),
        )]
    },
};

/// Number of successive iterations with a residual below the tolerance, after which the fit ends.
const CALM_ITERATIONS: u32 = 5;

/// Decreases of the objective so far.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Decreases {
    count: u64,
    largest: f64,
    last: Option<f64>,
}

impl Decreases {
    fn note(&mut self, value: f64) {
        if let Some(decrease) = self.last.map(|last| last - value).filter(|decrease| *decrease > 0.0) {
            self.count += 1;
            self.largest = self.largest.max(decrease);
        }
        self.last = Some(value);
    }
}

/// Result of the iterations, with final codes.
struct FitResult {
    parameters: Parameters,
    posterior: Posterior,
    stats: Statistics,
    /// Factors of the codes; 0 for dead units.
    scale: Vec<f64>,
    objective: Vec<f64>,
    /// The objective of the final codes.
    value: f64,
    outcome: Outcome,
    n_iter: u64,
    sweeps: u64,
    residual: f64,
    falls: Decreases,
    jittered: u64,
    one_hot: u64,
    /// Diagnostics of the algorithms that keep codes.
    more: Map<String, Value>,
}

/// A fit, after the first pass over the rows.
struct Task<'a> {
    spec: &'a Rfn,
    row_moments: RowMoments,
    prior: Prior,
    rate: f64,
    how: Normalisation,
    one_hot: bool,
    step: Step,
}

impl Rfn {
    /// From settings by name.
    ///
    /// # Errors
    ///
    /// A name that RFN does not have, a value that the setting does not allow.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        super::from_settings(SETTINGS, given)
    }

    /// Fits.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, fewer than two rows, no column that varies, incompatible settings, codes or tables that do not
    /// fit in memory, errors of the source. Constant columns and units that are 0 in every row are not errors; the report mentions them.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        METHOD.begin(self, rows, run)?;
        self.fit_within(rows, run)
    }

    /// [`fit`](Self::fit) as part of another fit, which has admitted the rows.
    pub(crate) fn fit_within<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        self.check(rows)?;
        let width = rows.n_features().max(self.n_components) as u64;
        let model = match rows.n_rows().unwrap_or(0).saturating_mul(width) < 1 << 15 {
            true => self.fit_prepared(rows, run),
            false => rows.pooled(run.threads, || self.fit_prepared(rows, run)),
        };
        Ok(model?.of_weighted_rows(rows.weighted_rows()))
    }

    /// A model from the tensors and the report of a fit.
    pub(crate) fn of_layer(
        settings: Map<String, Value>,
        features: Features,
        tensors: Tensors,
        report: Report,
    ) -> Result<Model> {
        Model::new(&METHOD, settings, features, 0, tensors, report)
    }

    fn guaranteed(&self) -> bool {
        self.e_step != EStep::Plain
    }

    fn check<T: Real>(&self, rows: &Rows<'_, T>) -> Result<()> {
        let (p, l) = (rows.n_features(), self.n_components);
        if p == 0 {
            return Err(no_columns(METHOD.key, rows.origin()));
        }
        check_n_rows(METHOD.key, rows.n_counted(), rows.origin(), "give more rows")?;
        if self.guaranteed() && l > 0 {
            self.check_guaranteed(rows)?;
        }
        self.check_units(p, rows.n_rows(), METHOD.key)
    }

    /// Checks that depend on the numbers of units and of columns alone, for the fit called `what`.
    pub(crate) fn check_units(&self, p: usize, n_rows: Option<u64>, what: &str) -> Result<()> {
        let l = self.n_components;
        check_count(l, 1..=usize::MAX, String::new)?;
        let few = |size: &usize| {
            !self.guaranteed() && *size < l.saturating_mul(2) && n_rows.is_some_and(|n| n > *size as u64)
        };
        if let Some(size) = self.batch_size.filter(few) {
            let why = format!("must be at least twice n_components, here {}", l.saturating_mul(2));
            return Err(Error::setting(
                "batch_size",
                size,
                why,
                "choose a larger batch_size, or fewer components",
            ));
        }
        check_memory(
            &format!("{what} of {p} columns and {l} components"),
            (l as u64).saturating_mul((p as u64).saturating_add(l as u64)).saturating_mul(8 * 12),
            "choose fewer components, or fewer columns",
        )
    }

    /// Rejects settings with which the objective could decrease, and codes that do not fit in memory.
    fn check_guaranteed<T: Real>(&self, rows: &Rows<'_, T>) -> Result<()> {
        let mode = if self.e_step == EStep::Cascade { "cascade" } else { "coordinate" };
        let refused = |name: &str, got: String, why: &str, remedy: &str| {
            let why = format!("e_step='{mode}' guarantees a monotone objective, and {why}");
            Err(Error::setting(name, got, why, remedy))
        };
        if let Some((name, got, why)) = self.of_plain_mode() {
            return refused(name, got, why, &format!("leave {name} out, or choose e_step='plain'"));
        }
        if self.normalize == Normalize::Std {
            let remedy = "choose normalize='rms' or 'none', or e_step='plain'";
            return refused("normalize", "'std'".into(), "this normalisation is not a projection", remedy);
        }
        if self.dead_unit == DeadUnit::Zero && self.normalize == Normalize::Rms {
            let remedy = "leave it out, or choose normalize='none'";
            return refused(
                "dead_unit",
                "'zero'".into(),
                "a unit that is 0 in every row cannot be normalised",
                remedy,
            );
        }
        rows.here(&format!("rfn with e_step='{mode}'"))?;
        let tables = if self.e_step == EStep::Cascade { 4 } else { 2 };
        let codes = rows.n_rows().unwrap_or(0).saturating_mul(self.n_components as u64);
        check_memory(
            &format!(
                "e_step='{mode}', which holds {tables} tables of {} codes of all rows,",
                self.n_components
            ),
            codes.saturating_mul(tables * T::DTYPE.size() as u64),
            "choose e_step='plain', or fewer components",
        )
    }

    /// A setting of `e_step='plain'` alone that requests something: its name, its value, and why no guaranteed mode has it.
    fn of_plain_mode(&self) -> Option<(&'static str, String, &'static str)> {
        const RANDOM: &str = "random changes of codes and rows can decrease it";
        const BATCHES: &str = "a step on a mini-batch can decrease the objective of all rows";
        if let Some(size) = self.batch_size {
            return Some(("batch_size", size.to_string(), BATCHES));
        }
        let rates = [("dropout", self.dropout), ("input_noise", self.input_noise)];
        let (name, rate) = rates.into_iter().find(|(_, rate)| *rate > 0.0)?;
        Some((name, rate.to_string(), RANDOM))
    }

    fn fit_prepared<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        let task = Task::new(self, rows, run)?;
        let starts = if run.init.is_some() { 1 } else { self.n_init };
        let one = |start: u64| {
            if starts > 1 {
                run.stage(&format!("start {} of {starts}", start + 1))?;
            }
            task.iterate(rows, start, run)
        };
        let found = best_of_starts(starts, run, one, |found| &mut found.outcome, |a, b| a.value > b.value)?;
        task.model(rows, found, run)
    }
}

impl<'a> Task<'a> {
    fn new<T: Real>(spec: &'a Rfn, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Self> {
        let row_moments = RowMoments::of(rows, spec.center, spec.noise, run)?;
        let rate = match spec.learning_rate {
            LearningRate::Rate(rate) => rate,
            LearningRate::Auto(_) => {
                if spec.guaranteed() {
                    1.0
                } else {
                    0.1
                }
            }
        };
        let how = match spec.normalize {
            Normalize::Rms => Normalisation::Rms,
            Normalize::Std => Normalisation::Std,
            Normalize::None => Normalisation::None,
        };
        let one_hot = match spec.dead_unit {
            DeadUnit::Auto => spec.guaranteed() && how == Normalisation::Rms,
            DeadUnit::Zero => false,
            DeadUnit::Onehot => how != Normalisation::None,
        };
        let step = Step {
            rate,
            how: match spec.m_step {
                MStep::Newton => rectified::MStep::Newton,
                MStep::InversePsi => rectified::MStep::InversePsi,
                MStep::Gradient => rectified::MStep::Gradient,
            },
            sd: row_moments.variance.iter().map(|v| v.sqrt()).collect(),
            bounds: Vec::new(),
            relative: spec.psi_min_unit == PsiMinUnit::Variance,
            spectrum: (spec.psi_min, f64::INFINITY),
            l1: spec.l1,
            l2: spec.l2,
            w_max: spec.w_max,
        };
        let prior = Prior { mean: spec.prior_mean, variance: spec.prior_cov };
        let mut task = Self { spec, row_moments, prior, rate, how, one_hot, step };
        task.step.bounds = (0..task.row_moments.center.len()).map(|k| task.sizes(k).2).collect();
        task.step.spectrum = task.spectrum()?;
        Ok(task)
    }

    /// Bounds on the eigenvalues of full noise, in the units of the M-step.
    fn spectrum(&self) -> Result<(f64, f64)> {
        let rectified::statistics::Moments::Full(c) = &self.row_moments.c else {
            return Ok((0.0, f64::INFINITY));
        };
        let sd = &self.step.sd;
        let varying: Vec<usize> = (0..sd.len()).filter(|&k| sd[k] > 0.0).collect();
        let unit = |k: usize| if self.step.relative { sd[k] } else { 1.0 };
        let scaled = crate::num::Matrix::from_fn(varying.len(), varying.len(), |i, j| {
            let (k, q) = (varying[i], varying[j]);
            c[(k, q)] / unit(k) / unit(q)
        });
        let largest = crate::num::factor::eigenvalues(&scaled)?[0];
        let least = match self.spec.psi_min_unit {
            PsiMinUnit::Mean => self.spec.psi_min * self.row_moments.mean_variance(),
            _ => self.spec.psi_min,
        };
        Ok((least, largest.max(least)))
    }

    fn iterate<T: Real>(&self, rows: &Rows<'_, T>, start: u64, run: &Run<'_>) -> Result<FitResult> {
        match self.spec.e_step {
            EStep::Plain => self.iterate_plain(rows, start, run),
            _ => self.iterate_guaranteed(rows, start, run),
        }
    }

    fn limits(&self) -> Limits {
        Limits { tol: self.spec.tol.unwrap_or(f64::NEG_INFINITY), max_iter: self.spec.max_iter }
    }

    /// The outcome for the report: without a tolerance, a fixed number of iterations was requested.
    fn outcome(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::MaxIter if self.spec.tol.is_none() => Outcome::Completed,
            other => other,
        }
    }

    /// Dropout and input noise of an iteration.
    fn corruption(&self, seed: u64, iteration: u64) -> rectified::Corruption {
        let spec = self.spec;
        let dropout = (spec.dropout > 0.0).then_some(Dropout {
            rate: spec.dropout,
            place: match spec.dropout_place {
                DropoutPlace::After => corruption::DropoutPlace::After,
                DropoutPlace::Before => corruption::DropoutPlace::Before,
            },
        });
        let noise = (spec.input_noise > 0.0).then(|| match spec.input_noise_kind {
            InputNoiseKind::Mask => InputNoise::Mask(spec.input_noise),
            InputNoiseKind::SaltPepper => InputNoise::SaltPepper(spec.input_noise),
            InputNoiseKind::Gaussian => {
                InputNoise::Gaussian(self.step.sd.iter().map(|sd| spec.input_noise * sd).collect())
            }
        });
        rectified::Corruption { seed, iteration, dropout, noise }
    }
}

/// Adds the iteration to the error.
fn in_iteration<V>(result: Result<V>, iteration: u64) -> Result<V> {
    result.map_err(|e| match e {
        Error::Factorisation { what } => Error::unsupported(
            format!("iteration {iteration} of rfn"),
            format!("{what} failed: a matrix is not positive definite to rounding"),
            "raise psi_min, choose fewer components, or use float64",
        )
        .of_method(METHOD.key),
        other => other,
    })
}

impl Fit for Rfn {
    fn fit_f32(&self, rows: &mut Rows<'_, f32>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn fit_f64(&self, rows: &mut Rows<'_, f64>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
}

#[cfg(test)]
mod tests {
    use super::Decreases;

    #[test]
    fn decreases_are_counted_and_the_largest_is_kept() {
        let mut found = Decreases::default();
        [1.0, 3.0, 2.5, 2.5, 4.0, 2.0, 5.0].into_iter().for_each(|value| found.note(value));
        assert_eq!((found.count, found.largest), (2, 2.0));
    }
}
