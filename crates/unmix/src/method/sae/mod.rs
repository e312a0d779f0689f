//! Sparse autoencoders: codes with few active units per row, learned by stochastic gradient descent.
//!
//! **Finds** atoms of norm 1 such that every row is approximately the mean plus a combination of few of them with positive codes, and a
//! single-layer encoder that computes these codes without iterations.
//! **Model** `z = activation((x - mean) W' + b_enc)`, `x ~ z D + mean`; loss `1/n sum_i [ 1/2 ||x_i - decode(z_i)||² + alpha penalty(z_i) ]`.
//! **Algorithm** (`crates/unmix/src/autoencoder`, steps by Adam of `learn`):
//!  1. mean and mean length of the rows in two sweeps; rows are divided by the latter over the root of the number of columns;
//!  2. initial values: `W` is the transpose of the atoms, which are random, rows of the data, or given; biases are 0;
//!  3. batches in random order: pre-activations by one dense product, codes, residuals and gradients from active units alone; the part of the
//!     gradient along an atom is removed, and atoms are divided by their norms after the step;
//!  4. without `alpha`, the weight of the penalty is controlled so that `l0` units are active per row; `Topk` and `BatchTopk` (Gao et al.
//!     2024, Bussmann et al. 2024) set this number directly;
//!  5. dead units reconstruct the residual of the others (Gao et al. 2024), or are resampled (Bricken et al. 2023);
//!  6. units are sorted by use, and parameters are returned to the units of the rows: `b`, `b_enc` and thresholds are divided by
//!     the scale, `W` and `D` are unchanged.
//!
//! **Cost** `2 m p` operations per row for pre-activations, and `10 p` for each active unit; memory: four numbers for each parameter.
//! **Equals** one step of non-negative LISTA if `W` is `2 eta` times the transposed atoms. **Fails** to find the same atoms with other
//! seeds after few steps: a small residual does not imply that atoms are identified. A penalty on the sum of codes shrinks them.
//!
//! T. Bricken et al. (2023), Towards monosemanticity. L. Gao et al. (2024), arXiv 2406.04093. S. Rajamanoharan et al. (2024a), arXiv
//! 2404.16014; (2024b), arXiv 2407.14435. B. Bussmann, P. Leask & N. Nanda (2024), arXiv 2412.06410.

mod evaluate;
mod fit;
mod measured;
mod model;
pub mod saelens;
mod settings;
mod start;
mod stream;

use super::{Accepts, Fit, Method};
use crate::data::{AnyRows, Rows};
use crate::error::Result;
use crate::model::{Model, Tensors};
use crate::run::Run;
use serde_json::{Map, Value};
use settings::SETTINGS;

#[doc(inline)]
pub use crate::autoencoder::{Activation, DeadUnit, TopRows};
pub(crate) use evaluate::GatherEvaluation;
pub use evaluate::{DEFAULT_TOP_ROWS, Evaluation, evaluate, is_autoencoder, top_rows};
pub(super) use measured::{Measured, measured};
pub use settings::{Init, L0, LearningRate, SparseAutoencoder};

/// The registry entry.
pub(super) const METHOD: Method = Method {
    key: "sae",
    class: "SparseAutoencoder",
    summary: "an overcomplete code of each row by one layer of units, few of which are active",
    settings: SETTINGS,
    variants: &[],
    accepts: Accepts { sparse: false, weights: false, stream: true, remote: false, missing: false },
    by_independence: false,
    of_signals: false,
    random_start: true,
    select_by_variances: false,
    to_compare: &[],
    equals: &[],
    references: &[
        "Bricken et al. 2023",
        "Gao et al. 2024",
        "Rajamanoharan et al. 2024",
        "Bussmann, Leask & Nanda 2024",
    ],
    spec: |given| Ok(Box::new(SparseAutoencoder::from_settings(given)?)),
    code: model::code,
    density: None,
    memory: |n, p| {
        // By default there are four units for each column.
        let of_units =
            |m: u64| start::memory_by_default((n, p), m).saturating_add(super::needs::PROGRAM_BYTES);
        let mut solvers = vec![("adam", of_units(4 * p as u64))];
        if p > WIDE_COLUMNS {
            solvers.push(("adam with 1024 units", of_units(1024)));
        }
        solvers
    },
};

/// Number of columns above which memory is also estimated for a fit of fewer units: the default number, four for each column, needs more memory
/// than most machines have, and rows as wide as whole pictures are fitted by fewer.
const WIDE_COLUMNS: usize = 8192;

impl SparseAutoencoder {
    /// From settings by name.
    ///
    /// # Errors
    ///
    /// A name that sparse autoencoders do not have, a value that the setting does not allow.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        super::from_settings(SETTINGS, given)
    }
}

impl Fit for SparseAutoencoder {
    fn fit_f32(&self, rows: &mut Rows<'_, f32>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn fit_f64(&self, rows: &mut Rows<'_, f64>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn given(&mut self, mut tensors: Tensors) -> Result<()> {
        self.dict_init = tensors.remove("dict_init").map(|tensor| tensor.to_matrix());
        Ok(())
    }
    fn continues(&self, before: &Model) -> bool {
        stream::is_in(before.tensors())
    }
    fn partial_fit(&self, before: Option<&Model>, rows: &AnyRows<'_>, run: &Run<'_>) -> Result<Model> {
        crate::with_rows!(rows, rows => SparseAutoencoder::partial_fit(self, before, rows, run))
    }
    fn takes_batches(&self) -> bool {
        true
    }
}
