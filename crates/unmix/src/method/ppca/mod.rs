//! Probabilistic PCA: a Gaussian with a few strong directions and noise of one variance in all others.
//!
//! **Finds** the linear-Gaussian model of `k` latent variables and equal noise in every column that makes the rows most likely, and
//! with it posterior means and variances of codes and of missing cells.
//! **Model** `x = mean + U L z + e`, `z ~ N(0, I)`, `e ~ N(0, s² I)`, `U` with orthonormal columns, `L` diagonal: the *linear EigenGAN*.
//! `W = U L` times any rotation of the latent variables is the PPCA of Tipping & Bishop: the same distribution.
//! **Algorithm**
//!  1. rows without gaps: the spectrum of their covariance (divisor `n`), as [PCA](super::pca) finds it;
//!     `s²` is the mean of the variances that are left out, `L² = variance - s²` (Tipping & Bishop 1999, equations 7 and 8);
//!  2. rows with gaps: expectation-maximisation over the observed cells, one factorisation per pattern of cells
//!     (`stats::gaps`). Every step ends with the parameters made free and reduced again (PX-EM, Liu, Rubin & Wu 1998):
//!     `mean += W a`, `W <- W chol(R)`, `a` and `R` mean and covariance of the factors over rows. Without it, the scales, and with gaps the
//!     mean, take thousands of iterations;
//!  3. `U` and `L` from the singular values of `W`; canonical order and sign.
//!
//! **Cost** that of PCA; with gaps `O(cells k² + patterns k³)` an iteration, memory `O(p k²)`.
//! **Equals** PCA's axes; its `variance` times `(n - 1) / n`. **Fails** where noise differs between columns (factor analysis), and where no
//! noise is left: the likelihood is then unbounded, and the fit is refused unless `noise_floor` bounds it.
//!
//! M. Tipping & C. Bishop (1999), J. R. Stat. Soc. B 61:611. C. Liu, D. Rubin & Y. N. Wu (1998), Biometrika 85:755. T. Szwagier & X.
//! Pennec (2024), The curse of isotropy, for blocks of equal variances.

mod blocks;
mod cells;
mod em;
mod model;
mod settings;
mod solution;
mod units;

use super::{Accepts, Fit, Method, needs};
use crate::data::{Features, Rows};
use crate::error::Result;
use crate::model::{Model, Sums};
use crate::num::Real;
use crate::run::Run;
pub(super) use cells::{cells_of, check_count_of_cells};
pub(super) use model::{code, density};
use serde_json::{Map, Value};
pub(super) use settings::SETTINGS;
pub(super) use solution::{Groups, Problem};

pub use blocks::bic_blocks;
pub use settings::{Algorithm, Ppca};

/// The registry entry.
pub(super) const METHOD: Method = Method {
    key: "ppca",
    class: "PPCA",
    summary: "a Gaussian model of few directions and isotropic noise, with standard errors for codes and missing cells",
    settings: SETTINGS,
    variants: &[],
    accepts: Accepts { sparse: true, weights: true, stream: true, remote: true, missing: true },
    by_independence: false,
    of_signals: false,
    random_start: false,
    select_by_variances: false,
    to_compare: &[],
    equals: &["algorithm=closed-form: pca, its variances times (n - 1) / n"],
    references: &["Tipping & Bishop 1999", "Liu, Rubin & Wu 1998"],
    spec: |given| Ok(Box::new(Ppca::from_settings(given)?)),
    code: model::code,
    density: Some(model::density),
    memory: |n, p| vec![("closed-form", needs::of_orthonormal(n, p, 11))],
};

impl Ppca {
    /// From settings by name.
    ///
    /// # Errors
    ///
    /// A name that is not one of PPCA's settings, an invalid value of a setting.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        super::from_settings(SETTINGS, given)
    }

    /// Fits. NaN is a missing cell of dense rows.
    ///
    /// # Errors
    ///
    /// Infinities, NaN in sparse rows, fewer than two rows, no column that varies, a column without an observed cell; as many components as columns or
    /// rows; no residual variance, unless `noise_floor` is given; errors of the source.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        let by = |settings: &Map<String, Value>, rows: &mut Rows<'_, T>, run: &Run<'_>| {
            Self::from_settings(settings)?.fit(rows, run)
        };
        self.problem().fit(self, &self.n_components, rows, &by, run)
    }

    /// Fits the sums over rows, which have no gaps.
    ///
    /// # Errors
    ///
    /// Those of [`fit`](Self::fit) that do not concern single rows; sums too large for their type; `algorithm='em'` and the rules for the number
    /// of components that need the rows.
    pub fn fit_sums(&self, sums: &Sums, features: &Features, run: &Run<'_>) -> Result<Model> {
        self.problem().fit_sums(self, &self.n_components, sums, features, run)
    }

    fn problem(&self) -> Problem {
        Problem {
            method: &METHOD,
            n_components: self.n_components.count(),
            groups: None,
            blocks: false,
            algorithm: self.algorithm,
            noise_floor: self.noise_floor,
            tol: self.tol,
            max_iter: self.max_iter,
            standardize: self.standardize,
        }
    }
}

impl Fit for Ppca {
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
        self.problem().check_sums(&self.n_components)
    }
    fn fit_sums(&self, sums: &Sums, features: &Features, run: &Run<'_>) -> Result<Model> {
        self.fit_sums(sums, features, run)
    }
}
