//! Denoising autoencoders: codes of corrupted rows from which the rows are reconstructed.
//!
//! **Finds** rectified codes of one dense layer, and a linear decoder, trained to reconstruct rows from corrupted copies.
//! **Model** `h = max(0, W x~ + b)`, `x ~ V' h + c`, for standardised rows `x` and corrupted copies `x~`; loss `1/n sum_i ||x_i - V' h_i - c||²`.
//! **Algorithm** (`crates/unmix/src/shallow`, steps by the optimisers of `learn`):
//!  1. mean and standard deviation of the columns in one sweep; rows are standardised, or divided by one number;
//!  2. initial values: `W` uniform between `± sqrt(6 / (n_features + n_components))`, `V = W`, biases 0;
//!  3. batches in random order: corruption, codes, residuals and gradients by dense products;
//!  4. units are sorted by use, and parameters are returned to the units of the rows; codes have no unit, so rows of any scale have the
//!     same codes.
//!
//! **Cost** `5 m p` multiplications per row and epoch; memory: six numbers for each parameter. **Equals** the subspace of PCA, without
//! corruption and if all codes are positive. **Fails** to find the same units with other seeds, and with more units than columns and little
//! corruption it may learn to copy the columns.
//!
//! P. Vincent, H. Larochelle, Y. Bengio & P.-A. Manzagol (2008), Extracting and composing robust features with denoising autoencoders, ICML.

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

pub use crate::shallow::Noise;
pub use settings::{DenoisingAutoencoder, Solver};

/// The registry entry.
pub(super) const METHOD: Method = Method {
    key: "dae",
    class: "DenoisingAutoencoder",
    summary: "non-negative codes of one dense layer, trained to reconstruct rows from corrupted copies",
    settings: SETTINGS,
    variants: &[],
    accepts: Accepts { sparse: false, weights: false, stream: true, remote: false, missing: false },
    by_independence: false,
    of_signals: false,
    random_start: true,
    select_by_variances: false,
    to_compare: &[],
    equals: &[],
    references: &["Vincent, Larochelle, Bengio & Manzagol 2008"],
    spec: |given| Ok(Box::new(DenoisingAutoencoder::from_settings(given)?)),
    code: model::code,
    density: None,
    memory: |_, p| {
        let units = DenoisingAutoencoder::default().n_components as u64;
        vec![("adam", (p as u64).saturating_mul(units * 8 * 16).saturating_add(super::needs::PROGRAM_BYTES))]
    },
};

impl DenoisingAutoencoder {
    /// From settings by name.
    ///
    /// # Errors
    ///
    /// A name that denoising autoencoders do not have, a value that the setting does not allow.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        super::from_settings(SETTINGS, given)
    }
}

impl Fit for DenoisingAutoencoder {
    fn fit_f32(&self, rows: &mut Rows<'_, f32>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn fit_f64(&self, rows: &mut Rows<'_, f64>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
}
