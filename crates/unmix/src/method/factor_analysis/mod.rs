//! Factor analysis: a few common factors of many columns, and a noise variance for each column.
//!
//! **Finds** the common factors of the columns, and the variance of each column that they do not explain (its
//! uniqueness).
//! **Model** `x = mean + L f + e`, `f ~ N(0, Phi)`, `e ~ N(0, diag(psi))`; covariance `L Phi L' + diag(psi)`.
//! **Algorithm** (Lawley & Maxwell 1971; Jöreskog 1967), for `n` rows of `p` columns and `q` factors:
//!  1. one sweep gathers the scatter of the rows; columns are divided by their standard deviations, which
//!     changes the likelihood by a constant only;
//!  2. the likelihood at given uniquenesses has its best loadings in closed form, from the first `q` eigenvectors of
//!     `Psi^(-1/2) R Psi^(-1/2)`; Newton's method on the logarithms of the uniquenesses, within bounds (`likelihood.rs`, `search.rs`);
//!     for no more rows than columns the same eigenvectors through an `n x n` table, and a monotone fixed point;
//!  3. rotation, order, signs (`rotation.rs`);
//!  4. rows with missing cells: expectation-maximisation over the cells, with a step of Newton's method in each iteration (`gaps.rs`);
//!  5. with `prior`, a lasso of the loadings (`lasso.rs`), or factors with a Laplace or a Jeffreys prior by a variational bound (`factors.rs`,
//!     `row_bound.rs`), both by expectation-maximisation.
//!
//! **Cost** the sums of PCA; an eigendecomposition and a Cholesky factor of `p x p` a step, of which there are 3 to 15; `O(p^2)` memory.
//! For no more rows than columns `n^2 p` a step and two copies of the rows.
//! **Equals** the maximum to which scikit-learn's iterations converge slowly, or a higher one; PPCA if all
//! uniquenesses are equal. **Fails** to identify the rotation of the factors, which does not change the
//! likelihood. The likelihood has no finite maximum if a column is a multiple of a factor (a Heywood case: its uniqueness
//! stays at `noise_floor`, and the report names the column).

mod factors;
mod gaps;
mod goodness;
mod l1_rotation;
mod lasso;
mod likelihood;
mod model;
mod posterior;
mod rotation;
mod row_bound;
mod row_moments;
mod search;
mod settings;
mod sparse;

use super::{Accepts, Fit, Method, needs};
use crate::data::{Features, Rows, check_n_rows, no_columns};
use crate::error::{Error, Result, counted};
use crate::model::{Model, Sums};
use crate::num::Real;
use crate::num::threads::on_pool;
use crate::run::Run;
use crate::select::{self, FittedRows};
use crate::spectrum::{Bounds, Components, Rule};
use model::Fitted;
use row_moments::RowMoments;
use search::{Problem, SearchResult};
use serde_json::{Map, Value};
use settings::SETTINGS;

pub use crate::choices::Automatic;
pub use settings::{FactorAlgorithm, FactorAnalysis, FactorPrior, NoiseFloor, Rotation, Scores};

/// Factor analysis' row of the registry.
pub(super) const METHOD: Method = Method {
    key: "factor-analysis",
    class: "FactorAnalysis",
    summary: "common factors of the columns, and a noise variance for each column",
    settings: SETTINGS,
    variants: &[],
    accepts: Accepts { sparse: true, weights: true, stream: true, remote: true, missing: true },
    by_independence: false,
    of_signals: false,
    random_start: false,
    select_by_variances: false,
    to_compare: &[],
    equals: &["algorithm=em: the same maximum by expectation-maximisation"],
    references: &[
        "Lawley & Maxwell 1971",
        "Jöreskog 1967",
        "Rubin & Thayer 1982",
        "Bernaards & Jennrich 2005",
        "Girolami 2001",
        "Palmer et al. 2005",
        "Hirose & Yamamoto 2015",
    ],
    spec: |given| Ok(Box::new(FactorAnalysis::from_settings(given)?)),
    code: model::code,
    density: Some(model::density),
    memory: |n, p| vec![("newton", needs::of_fit(n, p, 12))],
};

/// Whether the covariance of `p` columns determines `q` factors: the Ledermann bound.
fn determined(p: f64, q: f64) -> bool {
    q == 0.0 || (p > q && (p - q).powi(2) >= p + q)
}

impl Rotation {
    /// Whether factors become correlated.
    pub fn is_oblique(self) -> bool {
        matches!(self, Rotation::Promax | Rotation::Oblimin | Rotation::Geomin)
    }
}

impl FactorAnalysis {
    /// From settings by name.
    ///
    /// # Errors
    ///
    /// A name that is not one of factor analysis' settings, an invalid value of a setting.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        let resolved = Value::Object(super::resolve(SETTINGS, given)?);
        serde_json::from_value(resolved.clone()).map_err(|e| {
            let got = resolved.get("n_components").map(Value::to_string).unwrap_or_default();
            Error::setting(
                "n_components",
                got,
                e.to_string(),
                "give a number, 'aic', 'bic', 'cells', 'parallel', or null",
            )
        })
    }

    /// Fits. Rows from a one-pass source are first read into memory or a temporary file.
    ///
    /// # Errors
    ///
    /// Infinities, fewer than two rows, weights whose sum is at most 1, no column that varies, more factors than `min(n, p)`, initial
    /// uniquenesses whose number is not that of the columns, errors of the source. Constant columns and more factors than the
    /// covariance determines are not errors, but warnings in the report.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        METHOD.begin(self, rows, run)?;
        self.check_start(run)?;
        self.check(rows.n_counted(), rows.n_features(), rows.origin())?;
        let by_aic = match self.n_components {
            Components::Rule(rule @ Rule::Aic) => {
                let by = |settings: &Map<String, Value>, rows: &mut Rows<'_, T>, run: &Run<'_>| {
                    Self::from_settings(settings)?.fit(rows, run)
                };
                Some(select::size_by(&METHOD, rule, self, rows, &by, run)?)
            }
            _ => None,
        };
        let numbers = rows.n_rows().unwrap_or(0).saturating_mul(rows.n_features() as u64);
        // Small problems are solved on the calling thread, without a thread pool.
        let model = match numbers < 1 << 15 {
            true => self.fit_prepared(rows, by_aic, run),
            false => rows.pooled(run.threads, || self.fit_prepared(rows, by_aic, run)),
        };
        Ok(model?.of_weighted_rows(rows.weighted_rows()))
    }

    fn fit_prepared<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        by_aic: Option<usize>,
        run: &Run<'_>,
    ) -> Result<Model> {
        let by_rule = match self.n_components {
            Components::Rule(Rule::Cells) => Some(self.by_cells(rows, run)?),
            _ => by_aic,
        };
        match self.fit_whole(rows, by_rule, run) {
            // The fit of rows with missing cells also locates infinities.
            Err(found) if rows.is_about_missing(&found) => self.fit_gaps(rows, by_rule, run),
            found => found,
        }
    }

    /// The number of factors that predicts held-out cells best, up to the Ledermann bound.
    fn by_cells<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<usize> {
        let hidden = select::CellMask::new(rows, run)?;
        let p = rows.n_features();
        let most = rows.n_counted().min(p as u64) as usize;
        let allowed = (0..=most).take_while(|&q| determined(p as f64, q as f64)).last().unwrap_or(0);
        select::best_by_cells(allowed, |q| {
            run.stage(&counted(q as u64, "factor"))?;
            let max_iter = self.max_iter.min(select::MOST_ITERATIONS);
            // With a prior, algorithm and scores have no effect.
            let (algorithm, scores) = match self.prior {
                FactorPrior::None => (self.algorithm, self.scores),
                _ => (FactorAlgorithm::Newton, Scores::Regression),
            };
            let plain = Self { rotation: None, prior: FactorPrior::None, algorithm, scores, ..self.clone() };
            let spec = Self { n_components: q.into(), max_iter, ..plain };
            hidden.judge(rows, run, |mut left, run| spec.fit(&mut left, run))
        })
    }

    fn fit_whole<T: Real>(&self, rows: &Rows<'_, T>, by_rule: Option<usize>, run: &Run<'_>) -> Result<Model> {
        let row_moments = RowMoments::of(rows, run)?;
        run.stage("uniquenesses")?;
        let most = rows.n_counted().min(rows.n_features() as u64) as usize;
        let q = match self.n_components {
            Components::Rule(Rule::Parallel) => {
                let scale = row_moments.spread(&row_moments.scales, 1.0);
                let fitted = FittedRows { rows, mean: &row_moments.mean, scale: Some(&scale) };
                select::parallel(&fitted, run)?.min(most)
            }
            Components::Rule(Rule::Cells | Rule::Aic) => by_rule.unwrap_or(0),
            _ => self.count(&row_moments, most, run)?,
        };
        match self.prior {
            FactorPrior::None => self.fit_moments(&row_moments, q, rows.features(), run),
            _ => self.fit_prior(&row_moments, q, Some(rows), rows.features(), run),
        }
    }

    /// The model that sums over rows give (`partial_fit`, merged models), equal to a fit up to rounding.
    ///
    /// # Errors
    ///
    /// Those of [`fit`](Self::fit) that do not need rows; sums too large for their type.
    pub fn fit_sums(&self, sums: &Sums, features: &Features, run: &Run<'_>) -> Result<Model> {
        METHOD.begin_sums(self, sums)?;
        Fit::check_sums(self)?;
        self.check_start(run)?;
        let scatter = sums.total();
        let p = scatter.mean.len();
        let counted = sums.n_counted();
        self.check(counted, p, "the sums")?;
        let row_moments = RowMoments::of_sums(&scatter, sums.dtype())?;
        let solve = || {
            let q = self.count(&row_moments, counted.min(p as u64) as usize, run)?;
            if self.prior != FactorPrior::None {
                return self.fit_prior::<f64>(&row_moments, q, None, features, run);
            }
            self.fit_moments(&row_moments, q, features, run)
        };
        let model = if p < 200 { solve()? } else { on_pool(run.threads, solve)? };
        Ok(model.of_weighted_rows(sums.weighted_rows()).with_sums(sums.clone()))
    }

    fn check(&self, n: u64, p: usize, origin: &str) -> Result<()> {
        if p == 0 {
            return Err(no_columns("factor-analysis", origin));
        }
        check_n_rows("factor-analysis", n, origin, "give more rows")?;
        Bounds {
            n,
            p,
            origin,
            least: METHOD.least_components(),
            overcomplete: self.prior != FactorPrior::None,
        }
        .check(&self.n_components)?;
        match &self.noise_variance_init {
            Some(given) if given.len() != p => Err(Error::setting(
                "noise_variance_init",
                counted(given.len() as u64, "number"),
                format!("{origin} has {}", counted(p as u64, "column")),
                "give one number for each column",
            )),
            _ => Ok(()),
        }
    }

    /// Refuses initial uniquenesses in addition to those of a model; with a prior, such a model gives initial loadings alone.
    fn check_start(&self, run: &Run<'_>) -> Result<()> {
        if self.noise_variance_init.is_none() || run.init.is_none() || self.prior != FactorPrior::None {
            return Ok(());
        }
        let why = "a model to start from (init) is given, too";
        Err(Error::setting("noise_variance_init", "these numbers", why, "give one of the two"))
    }

    /// Number of factors, if it can be determined without the rows.
    fn count(&self, row_moments: &RowMoments, most: usize, run: &Run<'_>) -> Result<usize> {
        match self.n_components {
            Components::Count(k) => Ok(k),
            Components::Rule(_) => self.least_bic(row_moments, most, run),
            _ => Ok(most),
        }
    }

    /// The number of factors with the smallest BIC, without missing cells.
    fn least_bic(&self, row_moments: &RowMoments, most: usize, run: &Run<'_>) -> Result<usize> {
        self.least_bic_of(row_moments.n, row_moments.varying.len(), most, |q| {
            let (_, found) = self.searched(row_moments, q, run)?;
            Ok(found.log_likelihood.last().copied().unwrap_or(f64::NEG_INFINITY))
        })
    }

    /// The number of factors with the smallest BIC, `-2 log L + log n (p q - q (q - 1) / 2 + 2 p)`, up to the Ledermann bound; the search ends
    /// when five more factors have not lowered it.
    fn least_bic_of(
        &self,
        n: f64,
        p: usize,
        most: usize,
        likelihood: impl Fn(usize) -> Result<f64>,
    ) -> Result<usize> {
        let p = p as f64;
        let allowed = |q: usize| determined(p, q as f64);
        let mut best = (f64::INFINITY, 0);
        for q in (0..=most).take_while(|&q| allowed(q)).take_while(|q| n > *q as f64) {
            let bic = -2.0 * likelihood(q)? + n.ln() * goodness::parameters(p, q as f64);
            if bic < best.0 {
                best = (bic, q);
            } else if q >= best.1 + 5 {
                break;
            }
        }
        Ok(best.1)
    }

    /// The maximum of the likelihood for `q` factors.
    fn searched<'s>(
        &self,
        row_moments: &'s RowMoments,
        q: usize,
        run: &Run<'_>,
    ) -> Result<(Problem<'s>, SearchResult)> {
        let left = row_moments.moments.left_by_others(row_moments.dtype.eps());
        let v = row_moments.varying.len();
        let q = q.min(v);
        let problem =
            Problem::new(self, &row_moments.moments, left.as_deref(), row_moments.n, q, &row_moments.scales);
        let share = 1.0 - q as f64 / (2.0 * v as f64);
        let own = match (&left, q) {
            // Without factors the uniquenesses are the variances.
            (_, 0) => vec![1.0; v],
            (Some(left), _) => left.iter().map(|u| share * u).collect(),
            (None, _) => vec![0.5; v],
        };
        let in_units = |given: &[f64]| -> Vec<f64> {
            row_moments.varying.iter().zip(&row_moments.scales).map(|(&j, s)| given[j] / (s * s)).collect()
        };
        let start = match (&self.noise_variance_init, run.initial_components(row_moments.mean.len(), 0)?) {
            (_, _) if q == 0 => own,
            (Some(given), _) if self.standardize => row_moments.varying.iter().map(|&j| given[j]).collect(),
            (Some(given), _) => in_units(given),
            (None, Some(components)) => {
                let common =
                    |j: usize| (0..components.rows()).map(|i| components[(i, j)].powi(2)).sum::<f64>();
                let common: Vec<f64> = (0..row_moments.mean.len()).map(common).collect();
                in_units(&common).into_iter().map(|c| 1.0 - c).collect()
            }
            (None, None) => own,
        };
        let start: Vec<f64> = start.iter().map(|x| x.max(f64::MIN_POSITIVE).ln()).collect();
        let mut found = problem.search(self, start.clone(), run)?;
        for start in self.collinear_starts(row_moments, &problem, &start)? {
            let other = problem.search(self, start, run)?;
            if other.point.value < found.point.value {
                found = other;
            }
        }
        Ok((problem, found))
    }

    /// Further initial uniquenesses if columns are collinear: the smallest ones for all sets of them, and for each set alone. A factor that is
    /// such a set has an unbounded likelihood, and a local maximum with large uniquenesses. None if the user gave initial values.
    fn collinear_starts(
        &self,
        row_moments: &RowMoments,
        problem: &Problem<'_>,
        start: &[f64],
    ) -> Result<Vec<Vec<f64>>> {
        // Sets that are tried alone; each costs another search.
        const MOST_SETS: usize = 8;
        if problem.q == 0 || self.noise_variance_init.is_some() {
            return Ok(Vec::new());
        }
        let sets = row_moments.collinear()?;
        let lowered = |of: &[usize]| {
            let mut start = start.to_vec();
            of.iter().for_each(|&i| start[i] = problem.low[i]);
            start
        };
        let all: Vec<Vec<usize>> = if sets.len() > 1 { vec![sets.concat()] } else { Vec::new() };
        Ok(all.iter().chain(sets.iter().take(MOST_SETS)).map(|set| lowered(set)).collect())
    }

    fn fit_moments(
        &self,
        row_moments: &RowMoments,
        q: usize,
        features: &Features,
        run: &Run<'_>,
    ) -> Result<Model> {
        let (problem, found) = self.searched(row_moments, q, run)?;
        run.stage("rotation")?;
        self.model(&Fitted { row_moments, problem: &problem, found, q, features }, run)
    }
}

impl Fit for FactorAnalysis {
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
        sparse::needs_rows(self.prior)?;
        match self.n_components {
            Components::Rule(rule @ (Rule::Parallel | Rule::Cells | Rule::Aic)) => {
                let why = "this rule needs the rows, but the model holds only sums over them, as after incremental fits and merges";
                let rule = format!("'{}'", rule.name());
                Err(Error::setting("n_components", rule, why, "choose a number, or 'bic'"))
            }
            _ => Ok(()),
        }
    }
    fn fit_sums(&self, sums: &Sums, features: &Features, run: &Run<'_>) -> Result<Model> {
        Self::fit_sums(self, sums, features, run)
    }
}
