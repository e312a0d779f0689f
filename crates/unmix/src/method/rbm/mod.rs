//! Restricted Boltzmann machines with normal visible and binary hidden units: a layer of binary latent variables, trained by contrastive divergence.
//!
//! **Finds** weights between columns and binary units; the code of a row is the probability of each unit.
//! **Model** `E(x, h) = ||x - c||² / 2 - b' h - h' W x` for standardised rows `x` and `h` in `{0, 1}^m`: `P(h_j = 1 | x) = s((W x + b)_j)`,
//! `x | h ~ N(W' h + c, I)`, a mixture of `2^m` normal distributions.
//! **Algorithm** (`crates/unmix/src/shallow`):
//!  1. mean and standard deviation of the columns in one sweep; rows are standardised;
//!  2. initial values: `W` normal with standard deviation 0.01, biases 0;
//!  3. batches in random order: `n_steps` steps of Gibbs sampling from every row; weights move by the difference of the products of rows and
//!     probabilities at both ends of the chain, without momentum;
//!  4. units are sorted by use, and parameters are returned to the units of the rows; codes have no unit, so rows of any scale have the
//!     same codes.
//!
//! **Cost** `(3 + 2 n_steps) m p` multiplications per row and epoch; memory: four numbers for each parameter. The likelihood is not computed,
//! because its normalisation is a sum over `2^m` states: the reported objective is the squared error of the first step of the chains,
//! which training does not minimise. **Fails** where noise is much smaller than the spread of the columns: the model's noise has the variance of
//! the column.
//!
//! G. E. Hinton (2002), Training products of experts by minimizing contrastive divergence, Neural Computation 14:1771-1800.
//! G. E. Hinton & R. R. Salakhutdinov (2006), Reducing the dimensionality of data with neural networks, Science 313:504-507.

mod fit;
mod model;
mod settings;

use super::{Accepts, Fit, Method};
use crate::data::Rows;
use crate::error::Result;
use crate::model::Model;
use crate::run::Run;
use serde_json::{Map, Value};
use settings::SETTINGS;

pub use settings::GaussianRbm;

/// The registry entry.
pub(super) const METHOD: Method = Method {
    key: "rbm",
    class: "GaussianRBM",
    summary: "activation probabilities of binary hidden units, learned by contrastive divergence",
    settings: SETTINGS,
    variants: &[],
    accepts: Accepts { sparse: false, weights: false, stream: true, remote: false, missing: false },
    by_independence: false,
    of_signals: false,
    random_start: true,
    select_by_variances: false,
    to_compare: &[],
    equals: &[],
    references: &["Hinton 2002", "Hinton & Salakhutdinov 2006"],
    spec: |given| Ok(Box::new(GaussianRbm::from_settings(given)?)),
    code: model::code,
    density: None,
    memory: |_, p| {
        let units = GaussianRbm::default().n_components as u64;
        vec![("cd", (p as u64).saturating_mul(units * 8 * 8).saturating_add(super::needs::PROGRAM_BYTES))]
    },
};

impl GaussianRbm {
    /// From settings by name.
    ///
    /// # Errors
    ///
    /// A name that the method does not have, a value that the setting does not allow.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        super::from_settings(SETTINGS, given)
    }
}

impl Fit for GaussianRbm {
    fn fit_f32(&self, rows: &mut Rows<'_, f32>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn fit_f64(&self, rows: &mut Rows<'_, f64>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
}
