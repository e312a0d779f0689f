//! Sparse coding: rows as linear combinations of few atoms of a given dictionary, with a duality gap for every code.
//!
//! **Finds** for every row the code that minimises squared error plus an l1 penalty.
//! **Model** `min 1/2 ||x - z A||² + alpha ||z||_1`, with the atoms in the rows of `A`; or, by orthogonal matching pursuit, a small squared
//! error with a limited number of atoms.
//! **Algorithm** (`crate::sparse`)
//!  1. one pass over the rows for the largest `|A x|`, from which `alpha` is resolved;
//!  2. coordinate descent on working sets with the Gram matrix of the atoms, or ISTA, FISTA, LARS, orthogonal matching pursuit;
//!  3. the gap of every code from a fresh residual in double precision: a row has converged where it is at most `tol ||x||² / 2`.
//!
//! A row with missing cells (NaN) is coded with the columns of `A` that are observed in it, and the same `alpha`. **Cost**
//! `O(n_atoms² n_features)` once, and `O(n_atoms (n_features + n_nonzero))` for each row and pass. **Equals** scikit-learn's `SparseCoder`
//! and `sparse_encode` with the same alpha. **Fails** to be unique if atoms coincide: only the first of them has a non-zero code.
//!
//! R. Tibshirani (1996), J. R. Stat. Soc. B 58:267. M. Massias, A. Gramfort & J. Salmon (2018), Celer, ICML. E. Ndiaye et al. (2017), J. Mach. Learn.
//! Res. 18:128. A. Beck & M. Teboulle (2009), SIAM J. Imaging Sci. 2:183. R. Rubinstein, M. Zibulevsky & M. Elad (2008), Technion CS-2008-08.

mod cv;
mod model;
mod path;
mod settings;
mod solver;
mod sums;

use super::{Accepts, Fit, Method, as_map, needs};
use crate::data::Rows;
use crate::error::{Error, Result, counted};
use crate::model::{Model, Outcome, Report, Tensors};
use crate::num::{Matrix, Real};
use crate::run::Run;
use crate::spectrum::no_variance_of;
use crate::stats::Correlations;
use cv::Curve;
use serde_json::{Map, Value};
use settings::SETTINGS;
use solver::Solver;

pub(super) use model::code_of;
pub use settings::{Algorithm, Alpha, Cv, SparseCoder};
#[doc(hidden)]
pub use sums::{Convergence, GatherConvergence};

/// The registry entry.
pub(super) const METHOD: Method = Method {
    key: "sparse-coder",
    class: "SparseCoder",
    summary: "sparse codes of rows in a given dictionary, each with a duality gap",
    settings: SETTINGS,
    variants: &[],
    accepts: Accepts { sparse: false, weights: false, stream: true, remote: true, missing: true },
    by_independence: false,
    of_signals: false,
    random_start: false,
    select_by_variances: false,
    to_compare: &[],
    equals: &["orthonormal atoms: the soft threshold of the coordinates in them"],
    references: &["Tibshirani 1996", "Massias, Gramfort & Salmon 2018", "Rubinstein, Zibulevsky & Elad 2008"],
    spec: |given| Ok(Box::new(SparseCoder::from_settings(given)?)),
    code: model::code,
    density: None,
    memory: |n, p| vec![("cd", needs::of_fit(n, p, 3))],
};

/// The dictionary of `method`, if it matches rows of `p` numbers.
pub(in crate::method) fn admitted<'d>(
    method: &Method,
    dictionary: Option<&'d Matrix<f64>>,
    p: usize,
    origin: &str,
) -> Result<&'d Matrix<f64>> {
    let Some(dictionary) = dictionary else {
        return method.check_tensors(&Tensors::new()).and(Err(Error::unsupported(
            format!("a fit of {}", method.key),
            "no dictionary was given",
            "give a matrix with the atoms as rows",
        )
        .of_method(method.key)));
    };
    let shape = format!("{} x {}", dictionary.rows(), dictionary.cols());
    if dictionary.cols() != p {
        let why =
            format!("{origin} has {}, and the atoms have {}", counted(p as u64, "column"), dictionary.cols());
        return Err(Error::setting(
            "dictionary",
            shape,
            why,
            "give atoms as rows, with as many columns as the data",
        ));
    }
    if let Some(at) = dictionary.as_slice().iter().position(|x| !x.is_finite()) {
        let got = format!("{} in atom {}, column {}", dictionary.as_slice()[at], at / p, at % p);
        let why = "must contain finite numbers only";
        return Err(Error::setting("dictionary", got, why, "leave out such atoms, or replace these numbers"));
    }
    if dictionary.as_slice().iter().all(|x| *x == 0.0) {
        return Err(Error::setting("dictionary", shape, "all atoms are zero", "give nonzero atoms"));
    }
    Ok(dictionary)
}

impl SparseCoder {
    /// From settings by name, without the dictionary, which is given separately.
    ///
    /// # Errors
    ///
    /// A name that sparse coding does not have, a value that the setting does not allow.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        super::from_settings(SETTINGS, given)
    }

    /// Resolves `alpha` on the rows and codes them, so that the report includes the convergence of each. NaN is a missing cell. Two passes
    /// over the rows, three with `center`.
    ///
    /// # Errors
    ///
    /// No dictionary, one of zeros or of another width; infinities; numbers whose squares underflow to 0; errors of the source. Rows that
    /// do not converge are not an error: the report states their number.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        METHOD.begin_given(self, &[("dictionary", self.dictionary.as_ref())], rows, run)?;
        if rows.n_counted() == 0 {
            let (method, what) = (METHOD.key.into(), rows.origin().into());
            return Err(Error::TooFewRows { method, need: 1, got: 0, what, remedy: "give rows".into() });
        }
        let dictionary = admitted(&METHOD, self.dictionary.as_ref(), rows.n_features(), rows.origin())?;
        let rows = &*rows;
        rows.pooled(run.threads, || {
            let mean = if self.center { sums::mean(rows, run)? } else { vec![0.0; rows.n_features()] };
            let mut solver: Solver<T> = self.solver(dictionary, mean);
            let found = sums::correlations(rows, &solver, run)?;
            if self.center && found.entry == 0.0 {
                return Err(no_variance_of(rows, METHOD.key));
            }
            let curve = self.curve(rows, &solver, found.largest, run)?;
            solver.rules.alpha = self.weight(&found, curve.as_ref(), rows.origin())?;
            let coded = sums::coded(rows, &solver, run)?;
            // Rows are coded independently, so that the only common iteration is that over all of them.
            if self.algorithm != Algorithm::Omp && coded.n > 0.0 {
                let objective = coded.objective / coded.n;
                let residual = (coded.worst_gap, solver.rules.tol);
                run.iteration_of((coded.most.max(1), u64::MAX), residual, Some(objective));
            }
            self.model(rows, &solver, (&found, &coded, curve), run)
        })
    }

    /// `alpha`, resolved.
    fn weight(&self, found: &Correlations, curve: Option<&Curve>, origin: &str) -> Result<f64> {
        match self.alpha {
            // Matching pursuit has no penalty; the objective of its codes is evaluated with the alpha of "auto".
            _ if self.algorithm == Algorithm::Omp => Ok(0.1 * found.sum / found.n.max(1.0)),
            Alpha::Weight(alpha) => Ok(alpha),
            _ if found.n == 0.0 => Err(Error::unsupported(
                "choosing alpha from the data",
                format!("no row of {origin} has an observed cell"),
                "give rows with observed cells",
            )),
            _ if found.largest == 0.0 => Err(Error::unsupported(
                "choosing alpha from the data",
                match self.positive_code {
                    true => format!("no row of {origin} has a positive inner product with an atom"),
                    false => format!("every row of {origin} is orthogonal to every atom"),
                },
                "give alpha as a number",
            )),
            Alpha::Auto(_) => Ok(0.1 * found.sum / found.n),
            Alpha::HeldOut(_) => Ok(curve.map_or(0.1 * found.largest, Curve::best)),
        }
    }

    /// The prediction error of held-out entries as a function of alpha, if it is used to choose alpha.
    fn curve<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        solver: &Solver<T>,
        largest: f64,
        run: &Run<'_>,
    ) -> Result<Option<Curve>> {
        let by_curve = matches!(self.alpha, Alpha::HeldOut(_)) && self.algorithm != Algorithm::Omp;
        match by_curve && largest > 0.0 {
            true => cv::curve(rows, solver, largest, run).map(Some),
            false => Ok(None),
        }
    }

    fn model<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        solver: &Solver<T>,
        (found, coded, curve): (&Correlations, &Convergence, Option<Curve>),
        run: &Run<'_>,
    ) -> Result<Model> {
        let (p, dtype) = (rows.n_features(), T::DTYPE);
        let rules = &solver.rules;
        let lasso = self.algorithm != Algorithm::Omp;
        let n = found.n + found.empty;
        let name = serde_json::to_value(self.algorithm).ok().and_then(|v| v.as_str().map(String::from));
        let mut report = Report::closed_form(&name.unwrap_or_default(), n, p, dtype, run.seed);
        report.sweeps = 2 + u64::from(self.center);
        if lasso {
            report.outcome = if coded.not_converged > 0.0 { Outcome::MaxIter } else { Outcome::Converged };
            report.n_iter = coded.most;
            report.tol = Some(rules.tol);
            if coded.n > 0.0 {
                report.residual = Some(coded.worst_gap);
                report.objective = vec![coded.objective / coded.n];
            }
        }
        if coded.left_out > 0.0 || curve.as_ref().is_some_and(|curve| curve.cut) {
            report.outcome = run.early_outcome();
        }
        report.warnings = self.fit_warnings(solver, found, coded);
        let settings = as_map(self);
        report.settings = settings.clone();
        report.settings.insert("alpha".into(), rules.alpha.into());
        report.settings.insert("tol".into(), rules.tol.into());
        if !lasso {
            let atoms = rules.omp.n_nonzero.min(solver.atoms.n_atoms());
            report.settings.insert("n_nonzero_coefs".into(), atoms.into());
        }
        report.diagnostics = coded.diagnostics(found, lasso);
        if let Some(curve) = curve {
            report.diagnostics.insert("cv".into(), curve.to_json());
        }
        report.end(run);
        let tensors = model::parameters(solver.atoms.matrix(), &solver.mean, rules.alpha, dtype);
        Model::fitted(&METHOD, settings, rows.features().clone(), 0, tensors, report)
    }

    fn fit_warnings<T: Real>(
        &self,
        solver: &Solver<T>,
        found: &Correlations,
        coded: &Convergence,
    ) -> Vec<String> {
        let mut out = Vec::new();
        let many = |n: u64, one: &str, more: &str| format!("{n} {}", if n == 1 { one } else { more });
        let (alpha, zero) = (solver.rules.alpha, solver.atoms.n_zero() as u64);
        if zero > 0 {
            let atoms =
                many(zero, "atom is zero, and its code is 0", "atoms are zero, and their codes are 0");
            out.push(atoms);
        }
        let duplicates = solver.atoms.n_duplicates() as u64;
        if duplicates > 0 {
            out.push(format!(
                "{}: only the first of equal atoms has non-zero codes",
                many(
                    duplicates,
                    "atom is a duplicate of an earlier one",
                    "atoms are duplicates of earlier ones"
                )
            ));
        }
        if found.empty > 0.0 {
            let rows = many(
                found.empty as u64,
                "row has no observed cell, and its code is 0",
                "rows have no observed cell, and their codes are 0",
            );
            out.push(rows);
        }
        if self.algorithm != Algorithm::Omp && alpha >= found.largest {
            out.push(format!(
                "alpha is {alpha:.6e}, but every code is zero for alpha of at least alpha_max = {:.6e}: choose a smaller value",
                found.largest
            ));
        }
        if coded.left_out > 0.0 {
            let rows = many(coded.left_out as u64, "row was", "rows were");
            out.push(format!(
                "{rows} not coded, because the fit was ended early: the report describes the other rows"
            ));
        }
        if self.algorithm != Algorithm::Omp && coded.not_converged > 0.0 {
            out.push(format!(
                "{} not reach a relative duality gap of {:e} in {}: the worst is {:.3e}",
                many(coded.not_converged as u64, "row did", "rows did"),
                solver.rules.tol,
                counted(self.max_iter, "iteration"),
                coded.worst_gap
            ));
        }
        out
    }
}

impl Fit for SparseCoder {
    fn fit_f32(&self, rows: &mut Rows<'_, f32>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn fit_f64(&self, rows: &mut Rows<'_, f64>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn given(&mut self, mut tensors: Tensors) -> Result<()> {
        self.dictionary = tensors.remove("dictionary").map(|tensor| tensor.to_matrix());
        Ok(())
    }
}
