//! The report of a fit.

use crate::num::Dtype;
use crate::run::Outcome;
use serde::{Deserialize, Serialize};

/// Error rate of verdicts: an upper bound of the probability that any component of a model that is not identifiable is reported as
/// distinguished (a Gaussian component by independence, or components of equal variance by variance).
pub const SIGNIFICANCE_LEVEL: f64 = 0.01;

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
    /// The objective after each iteration, if there is one.
    pub objective: Vec<f64>,
    /// The quantity that is compared with `tol`.
    pub residual: Option<f64>,
    /// The tolerance.
    pub tol: Option<f64>,
    /// The solver that ran.
    pub solver: String,
    /// Deviation of the axes from orthonormality, `||W'W - I||_F`, for methods whose axes are only approximately orthonormal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orthonormality: Option<f64>,
    /// Cosines between the estimates of each component from two disjoint halves of the rows, for methods that compute them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halves: Option<Vec<f64>>,
    /// Norms of the columns of the weight matrix before normalisation, for learning rules without a unit-norm constraint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub norms: Option<Vec<f64>>,
    /// Seed of random draws.
    pub seed: u64,
    /// Number of directions along which the rows vary, up to the accuracy of the solver.
    pub rank: Option<usize>,
    /// Number of rows, weighted: the sum of the sample weights.
    #[serde(serialize_with = "integer_if_whole")]
    pub n_samples: f64,
    /// Number of rows read, if they had sample weights; `None` without weights, where it is `n_samples`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_rows: Option<u64>,
    /// Checksum of the rows, if cells were missing, by which rows to be imputed are compared with those of the fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_checksum: Option<u32>,
    /// Number of columns.
    pub n_features: usize,
    /// Number of constant columns.
    pub n_constant: usize,
    /// Number type of the rows in the computation.
    pub dtype: Dtype,
    /// Kind of processor and the instruction set used: results have equal bits only on processors of one kind.
    pub processor: String,
    /// Notes for the user, in sentences.
    pub warnings: Vec<String>,
    /// Settings as resolved, such as the solver for "auto".
    pub settings: serde_json::Map<String, serde_json::Value>,
    /// Stability over halves of the rows and other seeds, where requested: [`Stability::to_json`].
    ///
    /// [`Stability::to_json`]: crate::stability::Stability::to_json
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stability: Option<serde_json::Value>,
    /// Tests and indices of fit by name, for methods that have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<serde_json::Value>,
    /// Diagnostics that only some methods have, by name.
    #[serde(flatten)]
    pub diagnostics: serde_json::Map<String, serde_json::Value>,
    /// Why no rule may select the number of components of this fit by its likelihood, if so; a warning of the report has the same reason. Not
    /// stored in files.
    #[serde(skip)]
    pub(crate) not_comparable: Option<&'static str>,
    /// What differs between two runs of the same fit.
    #[serde(skip)]
    pub run: RunRecord,
}

/// What differs between two runs of the same fit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunRecord {
    /// Wall time in seconds.
    pub seconds: f64,
    /// Number of threads.
    pub threads: usize,
    /// End of the run: seconds since 1970, UTC.
    pub time: u64,
    /// The invocation, in a form that can be run again: a complete command line, or a call in Python, whose arrays are given by
    /// name. Relative paths are relative to the folder of that run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocation: Option<String>,
    /// How pictures were read, if the rows were pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pictures: Option<super::PictureRow>,
    /// Whether the fit started from a given model ([`Run::init`](crate::Run::init)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub initial_model: bool,
}

/// Writes a number without a fraction as an integer.
fn integer_if_whole<S: serde::Serializer>(n: &f64, to: S) -> std::result::Result<S::Ok, S::Error> {
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
        #[cfg(target_arch = "aarch64")]
        Instructions::Neon => format!("{arch} neon"),
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
            diagnostics: Default::default(),
            not_comparable: None,
            run: RunRecord::default(),
        }
    }

    /// As JSON, with the record of the run: printed by `show --json` and returned by `report_.to_dict()`.
    pub fn to_json(&self) -> serde_json::Value {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        if let Some(map) = value.as_object_mut() {
            map.entry("n_rows").or_insert(serde_json::Value::Null);
            map.insert("seconds".into(), self.run.seconds.into());
            map.insert("threads".into(), self.run.threads.into());
            map.insert("invocation".into(), self.run.invocation.clone().into());
            if let Some(row) = &self.run.pictures {
                map.insert("pictures".into(), row.to_string().into());
            }
        }
        value
    }

    /// The warnings that concern the validity of the result: all except exact statements about the rows, or about the accuracy of a fit that has converged.
    pub fn doubts(&self) -> impl Iterator<Item = &str> {
        let is_exact = |text: &str| EXACT_STATEMENTS.iter().any(|words| text.contains(words));
        self.warnings.iter().map(String::as_str).filter(move |text| !is_exact(text))
    }

    /// Adds a note if a fit stopped above its tolerance because rounding errors keep the residual from decreasing further.
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

    /// Records time and threads of `run`, which ends now.
    pub(crate) fn end(&mut self, run: &crate::run::Run<'_>) {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        self.run = RunRecord {
            seconds: run.started.elapsed().as_secs_f64(),
            threads: run.threads,
            time: now.map_or(0, |d| d.as_secs()),
            invocation: run.invocation.map(Into::into),
            pictures: None,
            initial_model: run.init.is_some(),
        };
    }
}

/// Words of the warnings that are exact statements: of [`constant_columns`], of [`Report::tell_rounding`], and of noise variances at a bound.
const EXACT_STATEMENTS: [&str; 4] =
    ["columns do not vary", "columns does not vary", "as small as rounding allows", "at its lower bound"];

/// The warning that `c` of `p` columns are constant, so that their `what`, as in "loadings", are 0; `None` if there are none.
pub(crate) fn constant_columns(c: usize, p: usize, what: &str) -> Option<String> {
    let (does, their) = if c == 1 { ("does", "its") } else { ("do", "their") };
    (c > 0).then(|| format!("{c} of {p} columns {does} not vary; {their} {what} are 0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_statements_do_not_concern_the_validity() {
        let mut report = Report::closed_form("x", 10.0, 4, Dtype::F64, 0);
        report.warnings.extend((1..3).filter_map(|c| constant_columns(c, 4, "loadings")));
        (report.outcome, report.residual, report.tol) = (Outcome::Converged, Some(1e-9), Some(0.0));
        report.tell_rounding();
        assert_eq!((report.warnings.len(), report.doubts().count()), (3, 0));
        let doubt = "halves=true has no effect: half of the rows do not vary";
        report.warnings.insert(1, doubt.into());
        assert_eq!(report.doubts().collect::<Vec<_>>(), [doubt]);
    }
}
