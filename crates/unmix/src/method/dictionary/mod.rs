//! Dictionary learning: rows as sparse combinations of atoms; there may be more atoms than columns.
//!
//! **Finds** atoms `a_1, ..., a_m` such that every row is approximately a linear combination of few of them.
//! **Model** the minimum over `A` and `Z` of `1/2 ||X - Z A||² + alpha ||Z||_1` with `||a_j|| <= 1`: without this bound the
//! penalty could be made arbitrarily small by scaling atoms up.
//! **Algorithm** by default online (Mairal et al. 2009, `sparse/online.rs`): codes of a batch by coordinate descent, sums over codes with
//! forgetting, one sweep of block coordinate descent over the atoms. With rows and codes in memory: alternating steps on codes and atoms,
//! PALM with inertia or without (`sparse/alternating.rs`, `sparse/palm.rs`), K-SVD (`sparse/ksvd.rs`). Unused atoms are replaced. New rows
//! are encoded by the lasso, each code with its duality gap; with `layerwise`, by repeating the steps of the fit as layers.
//!
//! **Cost** codes of every row in each epoch; `O(m² p)` for each batch; memory `m² + 2 m p` numbers and a batch, whatever the
//! number of rows.
//! **Equals** no other method here. **Fails** where `alpha` is at or above the largest product of a row and
//! an atom: every code is then 0. The problem is not convex: other seeds give other atoms, of nearly the same
//! objective.
//!
//! J. Mairal, F. Bach, J. Ponce & G. Sapiro (2009), Online dictionary learning for sparse coding, ICML. J. Bolte, S. Sabach & M. Teboulle
//! (2014), Math. Program. 146:459 (PALM). T. Pock & S. Sabach (2016), SIAM J. Imaging Sci. 9:1756 (inertia). M. Aharon, M. Elad &
//! A. Bruckstein (2006), IEEE Trans. Signal Process. 54:4311 (K-SVD).

mod epochs;
mod fit;
mod in_memory;
mod model;
mod settings;
mod stream;

use super::{Accepts, Fit, Method, needs};
use crate::data::{AnyRows, Rows};
use crate::error::Result;
use crate::model::{Model, Tensors};
use crate::run::Run;
use serde_json::{Map, Value};
use settings::SETTINGS;

#[doc(inline)]
pub use super::sparse_coder::{Algorithm as Coder, Alpha};
#[doc(inline)]
pub use crate::sparse::{AtomNorm, DeadUnit, Init};
pub use settings::{DictionaryAlgorithm, DictionaryLearning};

/// The registry entry.
pub(super) const METHOD: Method = Method {
    key: "dictionary",
    class: "DictionaryLearning",
    summary: "a dictionary of atoms in which rows have sparse codes, possibly overcomplete",
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
        "Mairal, Bach, Ponce & Sapiro 2009",
        "Bolte, Sabach & Teboulle 2014",
        "Pock & Sabach 2016",
        "Aharon, Elad & Bruckstein 2006",
    ],
    spec: |given| Ok(Box::new(DictionaryLearning::from_settings(given)?)),
    code: model::code,
    density: None,
    memory: |n, p| vec![("online", needs::of_fit(n, p, 16))],
};

impl DictionaryLearning {
    /// From settings by name.
    ///
    /// # Errors
    ///
    /// A name that is not one of dictionary learning's settings, an invalid value of a setting.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        super::from_settings(SETTINGS, given)
    }
}

impl Fit for DictionaryLearning {
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
        self.algorithm.streams() && stream::Stream::is_in(before.tensors())
    }
    fn partial_fit(&self, before: Option<&Model>, rows: &AnyRows<'_>, run: &Run<'_>) -> Result<Model> {
        crate::with_rows!(rows, rows => DictionaryLearning::partial_fit(self, before, rows, run))
    }
    fn takes_batches(&self) -> bool {
        self.algorithm.streams()
    }
    fn not_merged(&self) -> &'static str {
        "two dictionaries have different atoms, and sums over codes of different atoms cannot be added"
    }
}
