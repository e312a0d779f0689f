//! PCA: the orthogonal directions along which rows vary most.
//!
//! **Finds** the affine subspace nearest to the rows, and in it the axes ordered by variance.
//! **Model** `x = mean + y W' + e`, `W` with orthonormal columns, `y` uncorrelated.
//! **Algorithm** (Pearson 1901; Hotelling 1933), for `n` rows of `p` features, `m = min(n, p)`:
//!  1. one sweep gathers the scatter of the rows about their mean (`covariance_eigh`, [`Scatter`](crate::stats::Scatter)), or
//!     its triangular factor, which does not square the condition number (`full`, [`Triangle`](crate::stats::Triangle));
//!     for fewer rows than features the same is done for the transposed data, `n x n`;
//!  2. eigenvectors of the scatter, or right singular vectors of the triangle; only the first `k` where that is cheaper;
//!  3. for fewer rows than features one more sweep maps the `n`-vectors to the `p` features;
//!  4. rank, canonical directions below it, canonical sign.
//!
//! **Cost** `n p m` multiplications (`full`: twice that) and about `9 m³` for the spectrum; `O(m²)` memory in
//! addition to the rows, which are not copied.
//! **Equals** scikit-learn's `PCA` up to the canonical sign. **Fails** to order directions of equal variance: any rotation of
//! them fits as well. Outliers and differently scaled columns dominate it.
//!
//! K. Pearson (1901), Phil. Mag. 2:559. H. Hotelling (1933), J. Educ. Psychol. 24:417. M. Tipping & C. Bishop (1999), J. R.
//! Stat. Soc. B 61:611, for the likelihood.

mod model;
mod settings;

use super::{Accepts, Fit, Method, needs};
use crate::data::{Features, Rows, check_n_rows};
use crate::error::{Error, Result, counted};
use crate::model::{Model, Sums};
use crate::num::Real;
use crate::num::threads::on_pool;
use crate::run::Run;
use crate::select::{self, FittedRows};
use crate::spectrum::{self, Bounds, Covariance, Decomposition, Request};
use model::Fitted;
use serde::Deserialize;
use serde_json::{Map, Value};
use settings::SETTINGS;

pub use crate::choices::Automatic;
#[doc(inline)]
pub use crate::spectrum::{Components, Rule, Solver, auto_solver};
pub use settings::{Iterations, Pca, Whiten, Zca};

/// PCA's row of the registry.
pub(super) const METHOD: Method = Method {
    key: "pca",
    class: "PCA",
    summary: "orthogonal directions ordered by the variance along them",
    settings: SETTINGS,
    variants: &[],
    accepts: Accepts { sparse: true, weights: true, stream: true, remote: true, missing: false },
    by_independence: false,
    of_signals: false,
    random_start: false,
    select_by_variances: true,
    to_compare: &[],
    equals: &["svd_solver=full: the singular value decomposition of the centred rows"],
    references: &[
        "Pearson 1901",
        "Hotelling 1933",
        "Tipping & Bishop 1999",
        "Minka 2000",
        "Bell & Sejnowski 1997",
    ],
    spec: |given| Ok(Box::new(Pca::from_settings(given)?)),
    code: model::code,
    density: Some(model::density),
    memory: |n, p| {
        [Solver::Full, Solver::CovarianceEigh].map(|s| (s.name(), needs::of_orthonormal(n, p, 11))).to_vec()
    },
};

impl Pca {
    /// From settings by name.
    ///
    /// # Errors
    ///
    /// A name that is not one of PCA's settings, an invalid value of a setting.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        let resolved = Value::Object(super::resolve(SETTINGS, given)?);
        Self::deserialize(&resolved).map_err(|e| {
            let got = resolved.get("n_components").map(Value::to_string).unwrap_or_default();
            Error::setting(
                "n_components",
                got,
                e.to_string(),
                "give a number, a share between 0 and 1, a rule such as 'mle', or null",
            )
        })
    }

    /// Fits. Rows from a one-pass source are first read into memory or a temporary file.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, fewer than two rows, weights whose sum is at most 1, no column that varies, more components
    /// than `min(n, p)`, errors of the source. Constant columns and more components than the rank are not errors, but warnings in
    /// the report.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        METHOD.begin(self, rows, run)?;
        let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
        self.check(Size::of(rows), rows.origin())?;
        // Problems of one shard with sequential factorisations are solved on the calling thread, without a thread pool.
        let numbers = n.saturating_mul(p as u64);
        let model = match numbers < 1 << 15 || (numbers < 1 << 20 && n.min(p as u64) < 192) {
            true => self.fit_prepared(rows, run),
            false => rows.pooled(run.threads, || self.fit_prepared(rows, run)),
        };
        Ok(model?.of_weighted_rows(rows.weighted_rows()))
    }

    fn fit_prepared<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        let size = Size::of(rows);
        let solver = match self.svd_solver {
            Solver::Auto => auto_solver(rows.n_rows().unwrap_or(0), size.p, self.number(), rows.is_sparse()),
            named => named,
        };
        let top = match self.n_components {
            _ if solver.is_truncated() => Some(self.wanted(size)),
            _ => self.number(),
        };
        let start = match solver.is_truncated() {
            true => run.initial_components(rows.n_features(), 0)?,
            false => None,
        };
        let request = Request { start, ..self.request(solver, top) };
        let found = spectrum::decompose(rows, run, &request)?;
        let k = self.count(&found, size, Some(rows), run)?;
        run.stage("components")?;
        self.model(Fitted { found, solver, size, features: rows.features(), dtype: T::DTYPE }, run, k)
    }

    /// The model that sums over rows give (`partial_fit`, merged models): always by eigenvalues of the scatter matrix, so equal
    /// to a fit up to rounding.
    ///
    /// # Errors
    ///
    /// Those of [`fit`](Self::fit) that do not need rows; sums too large for their type.
    pub fn fit_sums(&self, sums: &Sums, features: &Features, run: &Run<'_>) -> Result<Model> {
        METHOD.begin_sums(self, sums)?;
        let scatter = sums.total();
        let size = Size { counted: sums.n_counted(), p: scatter.mean.len() };
        self.check(size, "the data")?;
        if !scatter.finite() {
            return Err(Error::Overflow { method: "pca".into(), dtype: sums.dtype().name() });
        }
        let top = match self.n_components {
            _ if self.svd_solver.is_truncated() => Some(self.wanted(size)),
            _ => self.number(),
        };
        let request = self.request(Solver::CovarianceEigh, top);
        let solve = || {
            let covariance = Covariance::new(scatter, self.center, self.standardize);
            covariance.spectrum(&request, sums.dtype(), size.counted)
        };
        let found = if size.p < 200 { solve()? } else { on_pool(run.threads, solve)? };
        let k = self.count::<f64>(&found, size, None, run)?;
        let fitted = Fitted { found, solver: Solver::CovarianceEigh, size, features, dtype: sums.dtype() };
        Ok(self.model(fitted, run, k)?.of_weighted_rows(sums.weighted_rows()).with_sums(sums.clone()))
    }

    fn request(&self, solver: Solver, top: Option<usize>) -> Request {
        Request {
            method: "pca",
            solver,
            top,
            center: self.center,
            standardize: self.standardize,
            tol: self.tol,
            rounds: self.iterated_power.count(),
            n_oversamples: self.n_oversamples,
            start: None,
        }
    }

    fn check(&self, size: Size, origin: &str) -> Result<()> {
        let (n, p) = (size.counted, size.p);
        check_n_rows("pca", n, origin, "give more rows")?;
        let bounds = Bounds { n, p, origin, least: METHOD.least_components(), overcomplete: false };
        bounds.check(&self.n_components)?;
        let most = bounds.most();
        let outside = |got: &dyn std::fmt::Display, why: String, remedy: &str| {
            Err(Error::setting("n_components", got, why, remedy))
        };
        match self.n_components {
            Components::Count(0) if self.svd_solver.is_truncated() => outside(
                &0,
                format!(
                    "svd_solver='{}' computes the first components only, at least one",
                    self.svd_solver.name()
                ),
                &format!("choose a number from 1 to {most}"),
            ),
            Components::Count(k) if k == most && self.svd_solver == Solver::Arpack => outside(
                &k,
                format!("svd_solver='arpack' finds fewer components than min({n}, {p}) = {most}"),
                "choose a smaller number, or svd_solver='krylov' or 'auto'",
            ),
            Components::Share(_) | Components::Rule(_) if self.svd_solver.is_truncated() => outside(
                &match self.n_components {
                    Components::Rule(rule) => format!("'{}'", rule.name()),
                    _ => "a share".into(),
                },
                format!(
                    "it needs the whole spectrum, but svd_solver='{}' computes the first components only",
                    self.svd_solver.name()
                ),
                "choose a number, or svd_solver='full' or 'covariance_eigh'",
            ),
            Components::Rule(Rule::Mle) if n < p as u64 => outside(
                &"'mle'",
                format!(
                    "Minka's rule needs at least as many rows as columns, and {origin} has {} and {}",
                    counted(n, "row"),
                    counted(p as u64, "column")
                ),
                "choose a number, a share, 'minka', or another rule such as 'bic'",
            ),
            Components::Rule(Rule::Parallel) if !self.center => outside(
                &"'parallel'",
                "parallel analysis permutes columns, which keeps their means: with center=false the first component is as strong \
                 in permuted rows"
                    .into(),
                "choose another rule such as 'bic', or center=true",
            ),
            _ => Ok(()),
        }
    }

    /// The number of components requested, if it is given as a number.
    fn number(&self) -> Option<usize> {
        match self.n_components {
            Components::Count(k) => Some(k),
            _ => None,
        }
    }

    /// Number of components for a solver that finds the first ones only.
    fn wanted(&self, size: Size) -> usize {
        let most = size.most();
        match self.n_components {
            Components::Count(k) => k,
            _ if self.svd_solver == Solver::Arpack => most - 1,
            _ => most,
        }
    }

    fn count<T: Real>(
        &self,
        found: &Decomposition,
        size: Size,
        rows: Option<&Rows<'_, T>>,
        run: &Run<'_>,
    ) -> Result<usize> {
        let spectrum = || select::Spectrum::of(found, size.p);
        let seen = || {
            let rows = rows.ok_or_else(|| self.needs_rows())?;
            Ok::<_, Error>(FittedRows { rows, mean: &found.mean, scale: found.noise_scale.as_deref() })
        };
        Ok(match self.n_components {
            Components::All if self.svd_solver.is_truncated() => self.wanted(size),
            Components::All => size.most(),
            Components::Count(k) => k,
            Components::Share(share) => spectrum().by_share(share),
            Components::Rule(Rule::Minka | Rule::Mle) => spectrum().minka(),
            Components::Rule(Rule::Bic) => spectrum().bic(),
            Components::Rule(Rule::GavishDonoho) => spectrum().gavish_donoho(),
            Components::Rule(Rule::Gap) => spectrum().gaps().0,
            Components::Rule(Rule::GapDifference) => spectrum().gaps().1,
            Components::Rule(Rule::Parallel) => select::parallel(&seen()?, run)?,
            Components::Rule(Rule::Cv) => select::cv(&seen()?, run)?,
            Components::Rule(rule @ (Rule::Cells | Rule::Aic)) => {
                let why = "this rule needs a method with a likelihood";
                let name = format!("'{}'", rule.name());
                return Err(Error::setting("n_components", name, why, "choose 'cv' or 'bic', or fit ppca"));
            }
        })
    }

    fn needs_rows(&self) -> Error {
        let rule = match self.n_components {
            Components::Rule(rule) => rule.name(),
            _ => "",
        };
        let why = "this rule needs the rows, and the model is computed from sums over them alone (incremental fits, merges, fits that keep \
                   sums)";
        let remedy = "choose a number, a share, 'mle', 'bic', 'gap', 'gap-difference' or 'gavish-donoho', or fit the rows without sums";
        Error::setting("n_components", format!("'{rule}'"), why, remedy)
    }
}

/// Numbers of rows and columns.
#[derive(Clone, Copy)]
struct Size {
    /// Upper bound of the number of directions along which the rows vary.
    counted: u64,
    p: usize,
}

impl Size {
    fn of<T: Real>(rows: &Rows<'_, T>) -> Self {
        Self { counted: rows.n_counted(), p: rows.n_features() }
    }

    /// The largest number of components.
    fn most(self) -> usize {
        self.counted.min(self.p as u64) as usize
    }
}

impl Fit for Pca {
    fn fit_f32(&self, rows: &mut Rows<'_, f32>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn fit_f64(&self, rows: &mut Rows<'_, f64>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn takes_sums(&self) -> bool {
        true
    }
    fn check_sums(&self) -> Result<()> {
        match self.n_components {
            Components::Rule(Rule::Parallel | Rule::Cv) => Err(self.needs_rows()),
            _ => Ok(()),
        }
    }
    fn fit_sums(&self, sums: &Sums, features: &Features, run: &Run<'_>) -> Result<Model> {
        self.fit_sums(sums, features, run)
    }
}
