//! The linear EigenGAN: probabilistic PCA with latent variables along its principal axes.
//!
//! **Finds** the maximum of the likelihood of `x = mean + U L z + e`, `U` with orthonormal columns, `L` diagonal: the deterministic
//! optimum of a linear [EigenGAN](https://arxiv.org/abs/2104.12476). Every latent variable moves a row along one axis: its traversal is
//! `mean + t l_i u_i` for `t` from -3 to 3.
//! **Model and algorithm** those of [PPCA](super::ppca), with the arbitrary rotation of its latent variables fixed at the identity; with
//! `groups`, the axes of a block share one scale, whose square is the mean of the variances of the block minus the noise variance.
//! **Cost** that of PPCA. **Equals** PPCA, with the same likelihood; with groups it has fewer
//! parameters. **Fails** to
//! identify axes of equal variance, like PCA: inside a block of several (`blocks`), any rotation is as
//! likely.
//!
//! Z. He, M. Kan & S. Shan (2021), EigenGAN: layer-wise eigen-learning for GANs. T. Szwagier & X. Pennec (2024), The curse of isotropy.

use super::ppca::{Algorithm, Groups, Problem};
use super::{Accepts, Fit, Kind, Method, needs, ppca};
use crate::choices::choices;
use crate::data::{Features, Rows};
use crate::error::Result;
use crate::model::{FitKind, Model, Sums, settings};
use crate::num::Real;
use crate::run::Run;
use crate::spectrum::Components;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

settings! {
    /// Settings of the [linear EigenGAN](self).
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct LinearEigenGan {
        /// That of [PPCA](super::Ppca::n_components).
        pub n_components: Components, as in ppca::SETTINGS;
        /// Blocks of components that share one scale: their sizes, in decreasing order of variance, whose sum is the number of components; 'bic' for
        /// the blocks with the smallest Bayesian information criterion, and their number where `n_components` is null; null for a separate scale
        /// for every component, which missing cells require.
        pub groups: Option<Blocks> = null, Kind::AnyOf(&[Kind::per_component(&Kind::at_least(1)), Kind::Words(BlockRule::NAMES), Kind::Null]);
        /// That of [PPCA](super::Ppca::noise_floor).
        pub noise_floor: f64, as in ppca::SETTINGS;
        /// That of [PPCA](super::Ppca::tol), for the iterations that only missing cells require.
        pub tol: f64, as in ppca::SETTINGS, only(&[]), unless(FitKind::Complete, ITERATED);
        /// That of [PPCA](super::Ppca::max_iter), for the iterations that only missing cells require.
        pub max_iter: u64, as in ppca::SETTINGS, only(&[]), unless(FitKind::Complete, ITERATED);
        /// That of [PPCA](super::Ppca::standardize).
        pub standardize: bool, as in ppca::SETTINGS;
    }
    const SETTINGS;
}

/// Why settings of the iterations have no effect on rows without missing cells.
const ITERATED: &str = "only missing cells require iterations";

/// Blocks of components that share one scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Blocks {
    /// Blocks of these sizes, in decreasing order of variance.
    Sizes(Vec<usize>),
    /// By a rule.
    Rule(BlockRule),
}

choices! {
    /// The string `"bic"`.
    pub enum BlockRule {
        /// The blocks with the smallest Bayesian information criterion.
        Bic = "bic",
    }
}

/// The row of the registry.
pub(super) const METHOD: Method = Method {
    key: "linear-eigengan",
    class: "LinearEigenGAN",
    summary: "probabilistic PCA with latent variables along the principal axes, optionally in blocks of equal scale",
    settings: SETTINGS,
    variants: &[],
    accepts: Accepts { sparse: true, weights: true, stream: true, remote: true, missing: true },
    by_independence: false,
    of_signals: false,
    random_start: false,
    select_by_variances: false,
    to_compare: &[],
    equals: &["groups=null: ppca"],
    references: &["He, Kan & Shan 2021", "Tipping & Bishop 1999", "Szwagier & Pennec 2024"],
    spec: |given| Ok(Box::new(LinearEigenGan::from_settings(given)?)),
    code: ppca::code,
    density: Some(ppca::density),
    memory: |n, p| vec![("closed-form", needs::of_orthonormal(n, p, 11))],
};

impl LinearEigenGan {
    /// From settings by name.
    ///
    /// # Errors
    ///
    /// A name that is not one of its settings, an invalid value of a setting.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        super::from_settings(SETTINGS, given)
    }

    /// Fits. NaN is a missing cell.
    ///
    /// # Errors
    ///
    /// Those of [`Ppca::fit`](super::Ppca::fit); blocks of more components than there are; missing cells with `groups`.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        let by = |settings: &Map<String, Value>, rows: &mut Rows<'_, T>, run: &Run<'_>| {
            Self::from_settings(settings)?.fit(rows, run)
        };
        self.problem().fit(self, &self.n_components, rows, &by, run)
    }

    fn problem(&self) -> Problem {
        let groups = self.groups.as_ref().map(|groups| match groups {
            Blocks::Sizes(sizes) => Groups::Sizes(sizes.clone()),
            Blocks::Rule(BlockRule::Bic) => Groups::Bic,
        });
        Problem {
            method: &METHOD,
            n_components: self.n_components.count(),
            groups,
            blocks: true,
            algorithm: Algorithm::Auto,
            noise_floor: self.noise_floor,
            tol: self.tol,
            max_iter: self.max_iter,
            standardize: self.standardize,
        }
    }
}

impl Fit for LinearEigenGan {
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
        self.problem().fit_sums(self, &self.n_components, sums, features, run)
    }
}
