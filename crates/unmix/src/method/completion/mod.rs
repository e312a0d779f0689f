//! Matrix completion: low-rank factorisation of a partially observed matrix.
//!
//! **Finds** factors of rows and of columns, an offset for each row and each column, and the noise, from the
//! observed cells, with standard errors for every missing cell. NaN is a missing cell; for sparse rows the
//! stored entries, including zeros, are the observed cells, and no dense copy is made.
//! **Model** `y_ij = m + b_i + c_j + a_i v_j + e`, `a_i ~ N(0, I)`, `v_j ~ N(0, diag g)`, `b_i ~ N(0, t_b)`, `c_j ~ N(0, t_c)`, `e ~ N(0, s²)`.
//! **Algorithm** variational alternating least squares (Lim & Teh 2007; Ilin & Raiko 2010): independent Gaussian posteriors of
//! `(a_i, b_i)` and of `(v_j, c_j)`. Starting from shrunken offsets and the leading singular vectors of their
//! residuals, each iteration
//!  1. computes the posterior of every row given the columns, then that of every column given the rows, by one factorisation each;
//!  2. estimates the noise `s²` from the expected squares of all residuals;
//!  3. rotates and scales the factors so that rows have second moment `I` and columns a diagonal one, which
//!     is `g`, and estimates the scales of the offsets. For factors that the cells do not support the posterior tends to
//!     the prior, of variance `g`.
//!
//! Then factors whose posterior is the prior are left out. Iterations continue without the weak ones, whose posterior means have a small mean square
//! relative to the posterior variances, and these are left out, too, if the bound is at least as large without them. In the iterations
//! with a given number of factors the lower bound of the evidence never decreases. The last step is that of the rows, so the codes of the fit
//! equal those of `transform`. With a number for `alpha` the alternation is that of penalised least squares (Zhou et al. 2008);
//! `soft-impute` penalises the nuclear norm, and `ppca-em` is probabilistic PCA fitted to the observed cells.
//! **Cost** `O(cells k² + (n + p) k³)` an iteration, memory `O((n + p) k² + cells)`.
//! **Fails** if whether a cell is missing depends on its value.
//!
//! Y. J. Lim & Y. W. Teh (2007), Variational Bayesian approach to movie rating prediction. A. Ilin & T. Raiko (2010), J. Mach. Learn. Res. 11:1957.
//! R. Mazumder, T. Hastie & R. Tibshirani (2010), J. Mach. Learn. Res. 11:2287. T. Hastie et al. (2015), J. Mach. Learn. Res. 16:3367.

mod cells;
mod em;
mod model;
mod nuclear_norm;
mod ridge;
mod settings;
mod soft;
mod start;
mod tree;
mod unseen;
mod variational;

use super::{Accepts, Fit, Method, needs};
use crate::data::Rows;
use crate::error::{Result, counted, there_are};
use crate::machine::check_memory;
use crate::model::{Model, Report};
use crate::num::Real;
use crate::run::Run;
use crate::solve::Limits;
use crate::spectrum::check_count;
use crate::stats::GatherChecksum;
use cells::Cells;
use serde_json::{Map, Value};
use settings::SETTINGS;
use soft::PathPoint;
use variational::VariationalResult;

pub use crate::choices::Automatic;
pub use settings::{Alpha, CompletionAlgorithm, MatrixCompletion};

/// Initial number of factors if none is given.
const INITIAL_FACTORS: usize = 10;

/// The row of the registry.
pub(super) const METHOD: Method = Method {
    key: "matrix-completion",
    class: "MatrixCompletion",
    summary: "low-rank factors of a partially observed matrix, with standard errors for the missing cells",
    settings: SETTINGS,
    variants: &[],
    accepts: Accepts { sparse: true, weights: false, stream: false, remote: false, missing: true },
    by_independence: false,
    of_signals: false,
    random_start: false,
    select_by_variances: false,
    to_compare: &[],
    equals: &[],
    references: &["Lim & Teh 2007", "Ilin & Raiko 2010", "Mazumder, Hastie & Tibshirani 2010"],
    spec: |given| Ok(Box::new(MatrixCompletion::from_settings(given)?)),
    code: model::code,
    density: None,
    memory: |n, p| {
        // A fit begins with fewer factors where there are few rows or columns.
        let most = n.min(p as u64).saturating_sub(1) as usize;
        vec![("als", needs::of_cells(n, p, INITIAL_FACTORS.min(most)))]
    },
};

/// Increase of the evidence lower bound per cell, in nats, that a doubled number of factors must reach to be kept.
const LEAST_RISE_OF_BOUND: f64 = 1e-3;

impl MatrixCompletion {
    /// From settings by name.
    ///
    /// # Errors
    ///
    /// A name that is not one of its settings, an invalid value of a setting.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        super::from_settings(SETTINGS, given)
    }

    /// Fits. NaN is a missing cell; for sparse rows, the stored entries are the observed cells.
    ///
    /// # Errors
    ///
    /// Infinities, fewer than two rows with a cell, cells that do not vary; more factors than rows or columns; weights.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        METHOD.begin(self, rows, run)?;
        if self.algorithm == CompletionAlgorithm::PpcaEm {
            self.check_likelihood()?;
        }
        let rows = &*rows;
        rows.pooled(run.threads, || {
            let shape = (rows.n_rows().unwrap_or(0), rows.n_features());
            check_lines(shape, self.first_count(shape))?;
            let cells = Cells::of(rows, self.offsets, run)?;
            let most = self.most(rows, &cells)?;
            let (mut path, mut warnings) = (None, Vec::new());
            let (ended, sweeps) = match self.algorithm {
                CompletionAlgorithm::Als => self.iterated(&cells, most, run)?,
                CompletionAlgorithm::SoftImpute => {
                    let (ended, found, sweeps) = self.softened(&cells, most, run)?;
                    path = found;
                    (ended, sweeps)
                }
                CompletionAlgorithm::PpcaEm => {
                    let (ended, notes, sweeps) = self.likeliest(rows, &cells, run)?;
                    warnings = notes;
                    (ended, sweeps)
                }
            };
            self.model(rows, &cells, Fitted { ended, path, warnings, sweeps }, run)
        })
    }

    /// Fits with the nuclear norm penalty, with at most the number of factors requested, or as many as the cells
    /// determine.
    fn softened(
        &self,
        cells: &Cells,
        most: usize,
        run: &Run<'_>,
    ) -> Result<(VariationalResult, Option<Vec<PathPoint>>, u64)> {
        let limits = Limits { tol: self.tol, max_iter: self.max_iter };
        let most = self.n_components.unwrap_or_else(|| cells.determined(most));
        match self.alpha {
            Alpha::Weight(alpha) => {
                let (ended, sweeps) = cells.soft((alpha, most, self.offsets), limits, run)?;
                Ok((ended, None, sweeps))
            }
            Alpha::Auto(_) => {
                let (ended, path, sweeps) = cells.soft_path((most, self.offsets), limits, run)?;
                Ok((ended, Some(path), sweeps))
            }
        }
    }

    /// Number of factors of the first iteration, for rows and columns that all have a cell.
    fn first_count(&self, (n, p): (u64, usize)) -> usize {
        let most = n.min(p as u64) as usize;
        let first = match self.algorithm {
            CompletionAlgorithm::Als => self.n_components.unwrap_or(INITIAL_FACTORS),
            CompletionAlgorithm::PpcaEm => self.n_components.unwrap_or(1),
            // Factors are added one after the other, up to the number requested.
            CompletionAlgorithm::SoftImpute => self.n_components.unwrap_or(1).min(1),
        };
        first.min(most)
    }

    /// The largest possible number of factors.
    fn most<T: Real>(&self, rows: &Rows<'_, T>, cells: &Cells) -> Result<usize> {
        let most = cells.n_rows_seen.min(rows.n_features());
        if let Some(k) = self.n_components {
            let (n, p, origin) = (cells.n_rows_seen, rows.n_features(), rows.origin());
            check_count(k, 0..=most, || {
                let (rows, columns) = (counted(n as u64, "row"), counted(p as u64, "column"));
                format!("{origin} has {rows} with observed cells and {columns}")
            })?;
        }
        Ok(most)
    }

    /// Alternating least squares with the number of factors requested, or with a number that is doubled until the cells do not
    /// support all factors.
    fn iterated(&self, cells: &Cells, most: usize, run: &Run<'_>) -> Result<(VariationalResult, u64)> {
        let limits = Limits { tol: self.tol, max_iter: self.max_iter };
        let mut sweeps = 1;
        let fewest =
            run.initial_components(cells.shape().1, 0)?.map_or(INITIAL_FACTORS, |start| start.rows());
        let mut k = self.n_components.unwrap_or(fewest.min(most.saturating_sub(1)));
        if let Alpha::Weight(alpha) = self.alpha {
            let ended = cells.ridge((alpha, k, self.offsets), limits, run)?;
            let sweeps = 1 + ended.n_iter;
            return Ok((ended, sweeps));
        }
        let mut before: Option<VariationalResult> = None;
        loop {
            let least = before.as_ref().map(|fewer| fewer.bound() + LEAST_RISE_OF_BOUND);
            let first = || cells.first(k, self.offsets, run);
            let mut ended = cells.selected(first, least, limits, run)?;
            sweeps += ended.n_iter;
            if let Some(mut fewer) =
                before.take_if(|fewer| ended.bound() <= fewer.bound() + LEAST_RISE_OF_BOUND)
            {
                // More factors were not shown to be no better if their fit was cut short.
                fewer.outcome = if ended.outcome.is_early() { ended.outcome } else { fewer.outcome };
                return Ok((fewer, sweeps));
            }
            let enough = self.n_components.is_some()
                || cells.supported(&ended.state).len() < k
                || k + 1 >= most
                || run.init.is_some();
            if enough {
                return Ok((ended, sweeps));
            }
            if run.ends_early() {
                ended.outcome = run.early_outcome();
                return Ok((ended, sweeps));
            }
            before = Some(ended);
            k = (2 * k).clamp(1, most - 1);
            let (n, p) = cells.shape();
            check_lines((n as u64, p), k)?;
        }
    }

    fn model<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        cells: &Cells,
        fitted: Fitted,
        run: &Run<'_>,
    ) -> Result<Model> {
        let Fitted { ended, path, warnings, sweeps } = fitted;
        let kept = cells.supported(&ended.state);
        let state = cells.reduced(&ended.state, &kept);
        let tensors = cells.tensors(&state, (path.as_deref(), self.is_penalised()), run)?;
        let mut report = Report::closed_form(
            self.algorithm.name(),
            rows.n_rows().unwrap_or(0) as f64,
            rows.n_features(),
            T::DTYPE,
            run.seed,
        );
        (report.outcome, report.n_iter, report.sweeps) = (ended.outcome, ended.n_iter, sweeps);
        report.residual = Some(ended.state.residual).filter(|r| r.is_finite());
        report.tol = Some(self.tol);
        report.objective = ended.objective;
        report.n_constant = cells.n_constant;
        let settings = super::as_map(self);
        report.settings = settings.clone();
        report.settings.insert("n_components".into(), kept.len().into());
        report.warnings = self.fit_warnings(rows, cells, kept.len());
        report.warnings.extend(warnings);
        // The errors of these parameters come from refits to the rows of this fit, which the checksum identifies.
        if state.ridge.is_some() {
            report.rows_checksum = Some(rows.sweep(run, "checksum", &GatherChecksum)?.checksum());
        }
        report.end(run);
        Model::fitted(&METHOD, settings, rows.features().clone(), 0, tensors, report)
    }

    /// Whether parameters are penalised by a given weight, instead of having a prior.
    fn is_penalised(&self) -> bool {
        self.algorithm != CompletionAlgorithm::PpcaEm && matches!(self.alpha, Alpha::Weight(_))
    }

    fn fit_warnings<T: Real>(&self, rows: &Rows<'_, T>, cells: &Cells, kept: usize) -> Vec<String> {
        let mut out: Vec<String> = nothing_missing(cells).into_iter().collect();
        let empty: Vec<usize> = (0..cells.of_column.len()).filter(|j| cells.of_column[*j] == 0).collect();
        if let Some(first) = empty.first() {
            let name = rows.name(*first).map_or(String::new(), |name| format!(" ('{name}')"));
            let more = match empty.len() {
                1 => format!("column {first}{name} has no observed cell"),
                m => format!("{m} columns have no observed cell, the first of them column {first}{name}"),
            };
            let errors = match self.is_penalised() {
                true => "which assume that such a column varies as those with cells do",
                false => "those of the prior",
            };
            out.push(format!(
                "{more}: imputed values there are the mean and the offset of the row, with standard errors {errors}"
            ));
        }
        let rows_without = rows.n_rows().unwrap_or(0) as usize - cells.n_rows_seen;
        if rows_without > 0 {
            let (have, are) = if rows_without == 1 { ("row has", "is") } else { ("rows have", "are") };
            out.push(format!("{rows_without} {have} no observed cell and {are} ignored"));
        }
        let free = cells.freedom(kept);
        if kept > 0 && cells.len() < free {
            out.push(format!(
                "{}, fewer than the {free} degrees of freedom of {}: imputed values depend in part on the penalty or the prior",
                there_are(cells.len() as u64, "observed cell"),
                counted(kept as u64, "factor")
            ));
        }
        if self.alpha == Alpha::Weight(0.0) && self.algorithm == CompletionAlgorithm::Als {
            let of_rows = (0..cells.by_row.n_rows()).map(|i| cells.by_row.row(i).0.len());
            out.extend(undetermined("row", of_rows, kept));
            out.extend(undetermined("column", cells.of_column.iter().copied(), kept));
        }
        if let Some(requested) =
            self.n_components.filter(|k| self.algorithm == CompletionAlgorithm::Als && kept < *k)
        {
            out.push(format!(
                "the observed cells support {kept} of {requested} factors; the estimated variance of the others is 0, so they are dropped"
            ));
        }
        out
    }
}

/// Refuses rows and columns for which `k` factors each do not fit in memory. A list of few cells can have any number of columns, so this comes
/// before anything is allocated for each of them.
fn check_lines((n, p): (u64, usize), k: usize) -> Result<()> {
    let factors = if k == 1 { "factor" } else { "factors" };
    check_memory(
        &format!("{} of {n} rows and {p} columns, with {k} {factors} for each,", METHOD.key),
        needs::of_lines(n, p, k),
        "choose fewer components or columns, or number only the rows and columns that have cells, from 0 on",
    )
}

/// The warning that every cell is observed; if most of them are 0, with the way to mark cells as missing.
fn nothing_missing(cells: &Cells) -> Option<String> {
    let (n, p) = cells.shape();
    let zero = (0.0 - cells.centre) / cells.unit;
    let zeros = |i: usize| cells.by_row.row(i).1.iter().filter(|x| **x == zero).count();
    (cells.len() == n * p).then(|| match 2 * (0..n).map(zeros).sum::<usize>() > n * p {
        true => "no cell is missing, and most cells are 0: if 0 means that a cell was not observed, give NaN for such cells, or a list of \
                 the observed ones"
            .into(),
        false => "no cell is missing: there is nothing to complete".into(),
    })
}

/// The warning of lines with cells, but fewer than factors: without a penalty these do not determine the factors of the line.
fn undetermined(line: &str, cells: impl Iterator<Item = usize>, k: usize) -> Option<String> {
    let few: Vec<usize> = cells.enumerate().filter(|(_, n)| (1..k).contains(n)).map(|(i, _)| i).collect();
    let first = few.first()?;
    let which = match few.len() {
        1 => format!("{line} {first} has fewer observed cells than the {k} factors"),
        m => format!(
            "{m} {line}s have fewer observed cells than the {k} factors, the first of them {line} {first}"
        ),
    };
    Some(format!(
        "{which}: without a penalty, imputed values there are those of the solution with the smallest norm"
    ))
}

/// Result of a fit.
struct Fitted {
    ended: VariationalResult,
    path: Option<Vec<PathPoint>>,
    warnings: Vec<String>,
    sweeps: u64,
}

impl Fit for MatrixCompletion {
    fn fit_f32(&self, rows: &mut Rows<'_, f32>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn fit_f64(&self, rows: &mut Rows<'_, f64>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
}
