//! How a fit went: facts, never silence.

use crate::num::Dtype;
use crate::run::Outcome;
use serde::{Deserialize, Serialize};

/// How often, at most, components that are alike are distinguished: a model of Gaussian components by independence, or a tie of
/// variances by variances. The probability with which a verdict errs, over all components of a model together.
pub const LEVEL: f64 = 0.01;

/// The report of a fit. Everything except [`run`](Report::run) is the same to the bit for the same rows, settings and seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// Outcome.
    pub outcome: Outcome,
    /// Iterations; 1 for closed forms.
    pub n_iter: u64,
    /// Full passes over the data.
    pub sweeps: u64,
    /// The objective after each iteration, where there is one.
    pub objective: Vec<f64>,
    /// The quantity that was compared with `tol`.
    pub residual: Option<f64>,
    /// The tolerance.
    pub tol: Option<f64>,
    /// The solver that ran.
    pub solver: String,
    /// How far the axes are from orthonormal, `||W'W - I||_F`, for methods that leave them so nearly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orthonormality: Option<f64>,
    /// Cosines between what two disjoint halves of the rows give in place of each component, for methods that compute them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halves: Option<Vec<f64>>,
    /// Lengths of the columns as a rule without unit columns left them, before they were divided by these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub norms: Option<Vec<f64>>,
    /// Seed of random draws.
    pub seed: u64,
    /// Directions along which the rows vary, up to the accuracy of the solver.
    pub rank: Option<usize>,
    /// Rows, weighted: the sum of the sample weights, where there are weights.
    #[serde(serialize_with = "whole_where_it_is")]
    pub n_samples: f64,
    /// Rows that were read, where they had sample weights; `None` where each counted once and `n_samples` is their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_rows: Option<u64>,
    /// Checksum of the rows, where cells of them were missing: whether rows to be filled are those of the fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_checksum: Option<u32>,
    /// Columns.
    pub n_features: usize,
    /// Columns that do not vary.
    pub n_constant: usize,
    /// Type in which rows were computed.
    pub dtype: Dtype,
    /// Kind of processor and the instructions used: equal bits are promised for one kind.
    pub processor: String,
    /// Notes for the user, in sentences.
    pub warnings: Vec<String>,
    /// Settings as they were resolved, as in the solver that "auto" chose.
    pub settings: serde_json::Map<String, serde_json::Value>,
    /// Stability over halves of the rows and other seeds, where requested: [`Stability::to_json`].
    ///
    /// [`Stability::to_json`]: crate::stability::Stability::to_json
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stability: Option<serde_json::Value>,
    /// Tests and indices of fit by name, for methods that have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<serde_json::Value>,
    /// Facts that only some methods have, by name.
    #[serde(flatten)]
    pub facts: serde_json::Map<String, serde_json::Value>,
    /// Facts that differ between two runs of the same fit.
    #[serde(skip)]
    pub run: RunRecord,
}

/// Facts that differ between two runs of the same fit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunRecord {
    /// Wall time.
    pub seconds: f64,
    /// Threads that it ran on.
    pub threads: usize,
    /// When it ended: seconds since 1970, UTC.
    pub time: u64,
    /// The invocation, as it can be typed again: a complete command line, or a call in Python, whose arrays are names alone. Paths
    /// are as they were given, from the folder of that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocation: Option<String>,
}

/// A number of rows without a fraction is written without a point.
fn whole_where_it_is<S: serde::Serializer>(n: &f64, to: S) -> std::result::Result<S::Ok, S::Error> {
    match n.fract() == 0.0 && *n >= 0.0 && *n < 9e15 {
        true => to.serialize_u64(*n as u64),
        false => to.serialize_f64(*n),
    }
}

/// Kind of processor, with the instructions that kernels used, as recorded in reports.
pub(super) fn processor() -> String {
    use crate::num::simd::{Instructions, instructions};
    let arch = std::env::consts::ARCH;
    match instructions() {
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512 => format!("{arch} avx512"),
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 => format!("{arch} avx2"),
        Instructions::Other if cfg!(target_arch = "x86_64") => format!("{arch} sse2"),
        Instructions::Other => arch.to_string(),
    }
}

impl Report {
    /// The report of a closed form; the method fills in the rest.
    pub fn closed_form(solver: &str, n_samples: f64, n_features: usize, dtype: Dtype, seed: u64) -> Self {
        Self {
            outcome: Outcome::Completed,
            n_iter: 1,
            sweeps: 1,
            objective: Vec::new(),
            residual: None,
            tol: None,
            solver: solver.into(),
            orthonormality: None,
            halves: None,
            norms: None,
            seed,
            rank: None,
            n_samples,
            n_rows: None,
            rows_checksum: None,
            n_features,
            n_constant: 0,
            dtype,
            processor: processor(),
            warnings: Vec::new(),
            settings: Default::default(),
            stability: None,
            fit: None,
            facts: Default::default(),
            run: RunRecord::default(),
        }
    }

    /// With the run's record beside the rest: what `show --json` prints and `report_.to_dict()` returns.
    pub fn to_json(&self) -> serde_json::Value {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        if let Some(map) = value.as_object_mut() {
            map.entry("n_rows").or_insert(serde_json::Value::Null);
            map.insert("seconds".into(), self.run.seconds.into());
            map.insert("threads".into(), self.run.threads.into());
            map.insert("invocation".into(), self.run.invocation.clone().into());
        }
        value
    }

    /// Says where a fit converged above its tolerance because rounding keeps the residual from falling further.
    pub(crate) fn tell_rounding(&mut self) {
        if let (Outcome::Converged, Some(residual), Some(tol)) = (self.outcome, self.residual, self.tol)
            && residual > tol
        {
            self.warnings.push(format!(
                "the residual is {residual:.1e}, as small as rounding allows on rows of {}, and tol is {tol:e}",
                self.dtype.name()
            ));
        }
    }

    /// Notes time and threads of `run`, which ends now.
    pub(crate) fn end(&mut self, run: &crate::run::Run<'_>) {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        self.run = RunRecord {
            seconds: run.started.elapsed().as_secs_f64(),
            threads: run.threads,
            time: now.map_or(0, |d| d.as_secs()),
            invocation: run.invocation.map(Into::into),
        };
    }
}
