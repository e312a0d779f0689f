//! PCA: the orthogonal directions along which rows vary most.
//!
//! **Finds** the flat subspace that the rows lie nearest to, and in it the axes ordered by variance.
//! **Model** `x = mean + y W' + e`, `W` with orthonormal columns, `y` uncorrelated.
//! **Algorithm** (Pearson 1901; Hotelling 1933), for `n` rows of `p` features, `m = min(n, p)`:
//!  1. one sweep gathers the scatter of the rows about their mean (`covariance_eigh`, [`Scatter`](crate::stats::Scatter)), or
//!     its triangular factor, which does not square the condition number (`full`, [`Triangle`](crate::stats::Triangle));
//!     for fewer rows than features the same is done for the transposed data, `n x n`;
//!  2. eigenvectors of the scatter, or right singular vectors of the triangle; only the first `k` where that is cheaper;
//!  3. for fewer rows than features one more sweep carries the `n`-vectors over to the `p` features;
//!  4. rank, canonical directions below it, canonical sign.
//!
//! **Cost** `n p m` multiplications (`full`: twice that) and about `9 m³` for the spectrum; `O(m²)` memory beside the rows,
//! none of them for the rows themselves.
//! **Equals** scikit-learn's `PCA` up to the canonical sign. **Fails** to order directions of equal variance: any rotation of
//! them fits as well. Outliers and differently scaled columns dominate it.
//!
//! K. Pearson (1901), Phil. Mag. 2:559. H. Hotelling (1933), J. Educ. Psychol. 24:417. M. Tipping & C. Bishop (1999), J. R.
//! Stat. Soc. B 61:611, for the likelihood.

mod iterate;
mod solve;

use super::settings::{Kind, Setting};
use super::{Fit, Method, Takes, Tensors, require};
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::model::{Code, Gaussian, Model, Report, Tensor, canonical_sign};
use crate::num::threads::on_pool;
use crate::num::{Matrix, Real};
use crate::run::Run;
use crate::select;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use solve::auto_solver;

/// Settings of [PCA](self): `Pca { n_components: 10.into(), ..Default::default() }.fit(&mut rows, &run)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pca {
    /// How many components to keep.
    pub n_components: Components,
    /// Divide codes by the standard deviation along each component.
    pub whiten: bool,
    /// How the spectrum is found.
    pub svd_solver: Solver,
    /// The largest residual `||C v - variance v||` that iterative solvers accept, as a share of the first variance; 0 for
    /// rounding level.
    pub tol: f64,
    /// Rounds of `randomized`; the most that `power` and `deflation` take for a component.
    pub iterated_power: Rounds,
    /// Directions that `randomized` and `power` carry beside those asked for.
    pub n_oversamples: usize,
}

impl Default for Pca {
    fn default() -> Self {
        Self {
            n_components: Components::All,
            whiten: false,
            svd_solver: Solver::Auto,
            tol: 0.0,
            iterated_power: Rounds::default(),
            n_oversamples: 10,
        }
    }
}

/// How many rounds an iteration takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Rounds {
    /// That many.
    Count(u64),
    /// `"auto"`: for `randomized` 7 where fewer than a tenth of the components are asked for, else 4; for `power` and
    /// `deflation` 1000 at most.
    Auto(Automatic),
}

/// The word `"auto"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Automatic {
    /// It.
    Auto,
}

impl Default for Rounds {
    fn default() -> Self {
        Rounds::Auto(Automatic::Auto)
    }
}

impl Rounds {
    fn rounds(&self) -> Option<u64> {
        match self {
            Rounds::Count(n) => Some(*n),
            Rounds::Auto(_) => None,
        }
    }
}

/// How many components to keep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Components {
    /// All, which is `min(n_samples, n_features)`.
    #[default]
    All,
    /// That many.
    Count(usize),
    /// The fewest whose share of the variance is greater than this, between 0 and 1.
    Share(f64),
    /// By a rule.
    Rule(Rule),
}

impl From<usize> for Components {
    fn from(k: usize) -> Self {
        Components::Count(k)
    }
}

/// A rule for the number of components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Laplace's approximation of the evidence (Minka 2000).
    Mle,
}

/// How the spectrum is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Solver {
    /// By the shape of the data; see [`auto_solver`].
    #[default]
    Auto,
    /// Singular values of the centred rows.
    Full,
    /// Eigenvalues of the scatter matrix, of features or of samples, whichever is smaller.
    CovarianceEigh,
    /// [`Krylov`](Solver::Krylov) behind the limits that scientists know it with: fewer components than `min(n, p)`.
    Arpack,
    /// A random block after a fixed number of rounds. Approximate; variances are those of the scores.
    Randomized,
    /// Block Lanczos, to `tol` or to rounding level.
    Krylov,
    /// Orthogonal iteration of a block, to `tol`.
    Power,
    /// Power iteration, one component after another, to `tol`.
    Deflation,
}

impl Solver {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Solver::Auto => "auto",
            Solver::Full => "full",
            Solver::CovarianceEigh => "covariance_eigh",
            Solver::Arpack => "arpack",
            Solver::Randomized => "randomized",
            Solver::Krylov => "krylov",
            Solver::Power => "power",
            Solver::Deflation => "deflation",
        }
    }

    /// Finds the first components only.
    fn is_truncated(self) -> bool {
        !matches!(self, Solver::Auto | Solver::Full | Solver::CovarianceEigh)
    }
}

const SETTINGS: &[Setting] = &[
    Setting {
        name: "n_components",
        kind: Kind::Components,
        choices: &["mle"],
        default: "null",
        doc: "How many components to keep: a number, a share of the variance between 0 and 1 (the fewest components that \
              explain more), 'mle' (Minka's rule), or null for all.",
        python_only: false,
    },
    Setting {
        name: "whiten",
        kind: Kind::Bool,
        choices: &[],
        default: "false",
        doc: "Divide codes by the standard deviation along each component.",
        python_only: false,
    },
    Setting {
        name: "svd_solver",
        kind: Kind::Choice,
        choices: &["auto", "full", "covariance_eigh", "arpack", "randomized", "krylov", "power", "deflation"],
        default: "\"auto\"",
        doc: "How the spectrum is found: 'full' by singular values (small ones accurate), 'covariance_eigh' by a scatter \
              matrix (fast), 'auto' by the shape of the data, one of these two. For the first components of very many \
              columns: 'krylov' (or 'arpack') to rounding level, 'randomized' approximately, 'power' and 'deflation' as \
              textbooks have it.",
        python_only: false,
    },
    Setting {
        name: "copy",
        kind: Kind::Bool,
        choices: &[],
        default: "true",
        doc: "Accepted for scikit-learn's sake; the input is never overwritten.",
        python_only: true,
    },
    Setting {
        name: "tol",
        kind: Kind::Number,
        choices: &[],
        default: "0.0",
        doc: "The largest residual that iterative solvers accept, as a share of the first variance; 0 for rounding level.",
        python_only: false,
    },
    Setting {
        name: "iterated_power",
        kind: Kind::IntegerOrChoice,
        choices: &["auto"],
        default: "\"auto\"",
        doc: "Rounds of 'randomized' (auto: 7 for few components, else 4); the most that 'power' and 'deflation' take for a \
              component (auto: 1000).",
        python_only: false,
    },
    Setting {
        name: "n_oversamples",
        kind: Kind::Integer,
        choices: &[],
        default: "10",
        doc: "Directions that 'randomized' and 'power' carry beside those asked for.",
        python_only: false,
    },
    Setting {
        name: "power_iteration_normalizer",
        kind: Kind::Choice,
        choices: &["auto", "QR", "LU", "none"],
        default: "\"auto\"",
        doc: "Accepted for scikit-learn's sake; directions are always kept apart by QR.",
        python_only: true,
    },
];

/// PCA's row of the registry.
pub(super) const METHOD: Method = Method {
    key: "pca",
    class: "PCA",
    summary: "orthogonal directions ordered by the variance along them",
    settings: SETTINGS,
    variants: &[],
    takes: Takes { sparse: false, weights: false, stream: true, missing: false },
    equals: &["svd_solver=full: the singular value decomposition of the centred rows"],
    references: &["Pearson 1901", "Hotelling 1933", "Tipping & Bishop 1999", "Minka 2000"],
    spec: |given| Ok(Box::new(Pca::from_settings(given)?)),
    code,
    density: Some(density),
    memory: |n, p| [Solver::Full, Solver::CovarianceEigh].map(|s| (s.name(), solve::memory(n, p))).to_vec(),
};

impl Pca {
    /// From settings by name.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        let resolved = Value::Object(super::resolve(SETTINGS, given)?);
        serde_json::from_value(resolved.clone()).map_err(|e| {
            let got = resolved.get("n_components").map(Value::to_string).unwrap_or_default();
            Error::setting(
                "n_components",
                got,
                e.to_string(),
                "give a number, a share between 0 and 1, 'mle' or null",
            )
        })
    }

    /// Fits. Rows that can only be read forward are read once into memory or a temporary file.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, fewer than two rows, no column that varies, more components than `min(n, p)`, what the
    /// source reports. Constant columns and more components than the rank are not errors; the report says so.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        rows.settle(run)?;
        let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
        self.check(n, p, rows.origin())?;
        // Small problems never leave this thread, and do not pay for a pool.
        match n.saturating_mul(p as u64) < 1 << 15 {
            true => self.fit_settled(rows, run),
            false => on_pool(run.threads, || self.fit_settled(rows, run)),
        }
    }

    fn fit_settled<T: Real>(&self, rows: &Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
        let solver = match self.svd_solver {
            Solver::Auto => auto_solver(n, p),
            named => named,
        };
        let found = match solver.is_truncated() {
            true => iterate::decompose(rows, run, self, self.wanted(n, p))?,
            false => {
                let top = match self.n_components {
                    Components::Count(k) => Some(k),
                    _ => None,
                };
                solve::decompose(rows, run, solver, top)?
            }
        };
        let k = self.count(&found, n, p)?;
        run.stage("components")?;
        self.model(rows, run, solver, found, k)
    }

    fn check(&self, n: u64, p: usize, origin: &str) -> Result<()> {
        if n < 2 {
            return Err(Error::TooFewRows {
                method: "pca".into(),
                need: 2,
                got: n,
                what: origin.into(),
                remedy: "variance is about differences between rows; if rows are channels, transpose".into(),
            });
        }
        let most = (p as u64).min(n);
        let outside = |got: &dyn std::fmt::Display, why: String, remedy: &str| {
            Err(Error::setting("n_components", got, why, remedy))
        };
        match self.n_components {
            Components::Count(k) if k as u64 > most => outside(
                &k,
                format!(
                    "{origin} has {n} rows and {p} columns, so there are at most min({n}, {p}) = {most} components"
                ),
                &format!("choose a number from 0 to {most}, or leave it out for all"),
            ),
            Components::Count(0) if self.svd_solver.is_truncated() => outside(
                &0,
                format!("svd_solver='{}' looks for the first components", self.svd_solver.name()),
                &format!("choose a number from 1 to {most}"),
            ),
            Components::Count(k) if k as u64 == most && self.svd_solver == Solver::Arpack => outside(
                &k,
                format!("svd_solver='arpack' finds fewer components than min({n}, {p}) = {most}"),
                "choose a smaller number, or svd_solver='krylov' or 'auto'",
            ),
            Components::Share(_) | Components::Rule(_) if self.svd_solver.is_truncated() => outside(
                &"a share or a rule",
                format!(
                    "it needs the whole spectrum, and svd_solver='{}' finds the first components only",
                    self.svd_solver.name()
                ),
                "choose a number, or svd_solver='full' or 'covariance_eigh'",
            ),
            Components::Share(f) if f < 0.0 && f.fract() == 0.0 => outside(
                &f,
                "there are no fewer than 0 components".into(),
                &format!("choose a number from 0 to {most}, or leave it out for all"),
            ),
            Components::Share(f) if !(f > 0.0 && f < 1.0) => outside(
                // As in 1.0, so that it is not taken for a whole number.
                &format!("{f:?}"),
                "a number that is not whole is a share of the variance".into(),
                "choose a share between 0 and 1, or a whole number of components",
            ),
            Components::Rule(Rule::Mle) if n < p as u64 => outside(
                &"'mle'",
                format!(
                    "Minka's rule needs at least as many rows as columns, and {origin} has {n} rows and {p} columns"
                ),
                "choose a number or a share",
            ),
            _ => Ok(()),
        }
    }

    /// Components asked of a solver that finds the first ones only.
    fn wanted(&self, n: u64, p: usize) -> usize {
        let most = (p as u64).min(n) as usize;
        match self.n_components {
            Components::Count(k) => k,
            _ if self.svd_solver == Solver::Arpack => most - 1,
            _ => most,
        }
    }

    fn count(&self, found: &solve::Decomposition, n: u64, p: usize) -> Result<usize> {
        let most = (p as u64).min(n) as usize;
        Ok(match self.n_components {
            Components::All if self.svd_solver.is_truncated() => self.wanted(n, p),
            Components::All => most,
            Components::Count(k) => k,
            Components::Share(share) => select::by_share(&found.values, found.total, share).clamp(1, most),
            Components::Rule(Rule::Mle) => select::minka(&found.values, n, p),
        })
    }

    fn model<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        run: &Run<'_>,
        solver: Solver,
        found: solve::Decomposition,
        k: usize,
    ) -> Result<Model> {
        let (n, p, dtype) = (found.n, rows.n_features(), T::DTYPE);
        if found.total < dtype.least() {
            return Err(Error::Unsupported {
                asked: "pca of these data".into(),
                found: format!(
                    "their variance, about {:.0e}, is below the smallest number that {} holds in full",
                    found.total,
                    dtype.name()
                ),
                remedy: match dtype {
                    crate::num::Dtype::F32 => "multiply the data by a large constant, or use float64".into(),
                    crate::num::Dtype::F64 => "multiply the data by a large constant".into(),
                },
            });
        }
        let mut report = Report::closed_form(solver.name(), n, p, dtype, run.seed);
        report.sweeps = found.sweeps;
        report.outcome = found.ending.outcome;
        report.n_iter = found.ending.n_iter;
        (report.residual, report.tol) = (found.ending.residual, found.ending.tol);
        report.rank = found.rank;
        report.n_constant = found.n_constant;
        report.warnings = warnings(&found, solver, k, p, dtype.eps());

        let noise = match k < p.min(n as usize) {
            true => found.discarded(k) / (p - k) as f64,
            false => 0.0,
        };
        let kept = found.axes.rows().min(k);
        let mut values: Vec<f64> = found.values[..kept].to_vec();
        values.resize(k, 0.0);
        let total = found.total;
        let mut axes = found.axes.top_rows(kept);
        if kept < k {
            let more = crate::num::null::null_directions(&axes, k - kept)?;
            let mut all = axes.into_vec();
            all.extend_from_slice(more.as_slice());
            axes = Matrix::from_vec(k, p, all);
        }
        canonical_sign(&mut axes, dtype.eps());

        let degrees = (n - 1) as f64;
        let each = |f: &dyn Fn(f64) -> f64| values.iter().map(|&v| f(v)).collect::<Vec<f64>>();
        let tensors = [
            ("components", Tensor::matrix(&axes, dtype)),
            ("mean", Tensor::vector(&found.mean, dtype)),
            ("explained_variance", Tensor::vector(&values, dtype)),
            ("explained_variance_ratio", Tensor::vector(&each(&|v| v / total), dtype)),
            ("singular_values", Tensor::vector(&each(&|v| (v * degrees).sqrt()), dtype)),
            ("scale", Tensor::vector(&each(&|v| v.sqrt()), dtype)),
            ("noise_variance", Tensor::scalar(noise, dtype)),
        ];
        let tensors = tensors.into_iter().map(|(name, t)| (name.to_string(), t)).collect();
        let settings = match serde_json::to_value(self) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        report.settings = settings.clone();
        report.settings.insert("svd_solver".into(), solver.name().into());
        report.settings.insert("n_components".into(), k.into());
        report.end(run);
        Model::new(&METHOD, settings, rows.features().clone(), 1, tensors, report)
    }
}

impl Fit for Pca {
    fn fit_f32(&self, rows: &mut Rows<'_, f32>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn fit_f64(&self, rows: &mut Rows<'_, f64>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
}

fn warnings(found: &solve::Decomposition, solver: Solver, k: usize, p: usize, eps: f64) -> Vec<String> {
    let mut out = Vec::new();
    if found.n_constant > 0 {
        let (c, columns) =
            (found.n_constant, if found.n_constant == 1 { "columns does" } else { "columns do" });
        out.push(format!("{c} of {p} {columns} not vary; their loadings are 0"));
    }
    if let Some(rank) = found.rank.filter(|&r| r < k) {
        let seen = match solver {
            Solver::Full => String::new(),
            _ => format!(
                " (through a scatter matrix nothing below about {:.0e} of the largest singular value can be seen; \
                 svd_solver='full' sees further)",
                found.floor.sqrt().max(eps)
            ),
        };
        let directions = if rank == 1 { "direction" } else { "directions" };
        out.push(format!(
            "the rows vary along {rank} {directions} only, fewer than the {k} components asked for{seen}; the others have \
             variance 0"
        ));
    }
    out
}

fn code(settings: &Map<String, Value>, tensors: &Tensors) -> Result<Code> {
    let components = require(tensors, "components", &[None, None])?;
    let (k, p) = (components.shape()[0], components.shape()[1]);
    if k > p {
        return Err(Error::Unsupported {
            asked: "using this model".into(),
            found: format!("it has {k} components of {p} features"),
            remedy: "the file is damaged: fit the model again".into(),
        });
    }
    let mean = require(tensors, "mean", &[Some(p)])?.clone();
    let scale = require(tensors, "scale", &[Some(k)])?.f64s();
    let whiten = settings.get("whiten").and_then(Value::as_bool).unwrap_or(false);
    let w = components.to_matrix();
    let inverse = |s: f64| if s > 0.0 { 1.0 / s } else { 0.0 };
    let (encoder, decoder) = match whiten {
        false => (w.transposed(), w),
        true => (
            Matrix::from_fn(p, k, |j, i| w[(i, j)] * inverse(scale[i])),
            Matrix::from_fn(k, p, |i, j| w[(i, j)] * scale[i]),
        ),
    };
    Ok(Code::Linear { mean, encoder, decoder })
}

/// The Gaussian of Tipping & Bishop (1999), with scikit-learn's estimate of the noise; where that is 0, with the share of
/// rounding errors in its place.
fn density(tensors: &Tensors) -> Result<Gaussian> {
    let components = require(tensors, "components", &[None, None])?;
    let (k, p) = (components.shape()[0], components.shape()[1]);
    let values = require(tensors, "explained_variance", &[Some(k)])?.f64s();
    let noise = require(tensors, "noise_variance", &[])?.f64s()[0];
    let total = values.iter().sum::<f64>() + noise * (p - k) as f64;
    let noise = noise.max(components.values().dtype().eps() * total / p as f64);
    Ok(Gaussian {
        mean: require(tensors, "mean", &[Some(p)])?.f64s(),
        axes: components.to_matrix(),
        variance: values.iter().map(|v| v.max(noise)).collect(),
        noise,
    })
}
