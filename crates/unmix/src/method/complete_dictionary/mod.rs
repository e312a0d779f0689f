//! Complete dictionary learning: as many atoms as dimensions, in which rows have sparse codes.
//!
//! **Finds** the atoms of rows that are sparse combinations of linearly independent atoms, up to order and sign.
//! **Model** `x = mean + z A`, rows of `A` of length 1, `z` sparse: each code is 0 in many rows. PCA cannot
//! find such atoms, because rows may have the same variance along all directions.
//! **Algorithm**
//!  1. white coordinates, in which the atoms are nearly orthogonal (`precondition`);
//!  2. matching, stretching, projection (Zhai et al. 2020): `W <- polar(E[y³ x'])`, `y = W x`, which
//!     increases `E |y|⁴` in every step; near the end `W <- polar(E[y³ x'] - 3 W)`, the cubically convergent
//!     fixed-point iteration of FastICA, unless it decreases `E |y|⁴` (`search.rs`);
//!  3. polish: minimisation of `Σ E log cosh y` from there, by the search of ICA;
//!  4. refinement: minimisation of `E |y|` of each atom separately, by reweighted least squares
//!     (`refine.rs`). If codes are 0 in many rows and there is no noise, this gives the atom up to rounding
//!     errors; with noise it is biased, and kept only if many codes are near 0.
//!
//! Rows of `W` are filters in white coordinates; atoms are the columns of its pseudo-inverse there, mapped back to the
//! columns of the rows.
//! **Cost** `O(n p k)` a step, 10 to 40 steps; step 4 `O(200 p³)` for each of 15 steps of each atom.
//! **Equals** with `power=4` and `polish=False`, `refine=False`: symmetric FastICA with contrast "cube" about 0.
//! **Fails** for codes that are not super-Gaussian (a warning), and with fewer than about
//! `27 k / (1 - share)²` rows, `share` the fraction of nonzero codes (a warning).
//!
//! Y. Zhai, Z. Yang, Z. Liao, J. Wright & Y. Ma (2020), Complete dictionary learning via l4-norm maximization over the orthogonal group, JMLR
//! 21:165. J. Sun, Q. Qu & J. Wright (2017), Complete dictionary recovery over the sphere, IEEE Trans. Inf. Theory 63. Y. Bai, Q. Jiang &
//! J. Sun (2019), Subgradient descent learns orthogonal dictionaries, ICLR.

mod l1;
mod model;
mod refine;
mod search;
mod settings;
mod start;

use super::ica::pooled;
use super::{Accepts, Fit, Method, from_settings, needs};
use crate::data::Rows;
use crate::error::Result;
use crate::model::{Code, ComponentRole, Model};
use crate::num::{Dtype, Real};
use crate::run::Run;
use crate::solve::Limits;
use search::Atoms;
use serde_json::{Map, Value};
use settings::SETTINGS;

pub use settings::{Algorithm, CompleteDictionary, Refine};

/// The row of the registry.
pub(super) const METHOD: Method = Method {
    key: "complete-dictionary",
    class: "CompleteDictionary",
    summary: "a complete dictionary, as many atoms as dimensions, in which rows have sparse codes",
    settings: SETTINGS,
    variants: &[],
    accepts: Accepts { sparse: false, weights: true, stream: true, remote: true, missing: false },
    by_independence: true,
    of_signals: false,
    random_start: false,
    select_by_variances: false,
    to_compare: &[],
    equals: &[
        "polish=false, refine=false: ica with algorithm=fastica, fun=cube and center=false, up to scale and order",
    ],
    references: &["Zhai, Yang, Liao, Wright & Ma 2020", "Sun, Qu & Wright 2017", "Bai, Jiang & Sun 2019"],
    spec: |given| Ok(Box::new(CompleteDictionary::from_settings(given)?)),
    code: |settings, tensors| Code::of_linear(settings, tensors, ComponentRole::Atoms),
    density: None,
    memory: |n, p| vec![("default", needs::of_fit(n, p, 28).saturating_add(needs::of_coordinates(n, p)))],
};

impl CompleteDictionary {
    /// From settings by name.
    ///
    /// # Errors
    ///
    /// A name that is not one of this method's settings, an invalid value of a setting.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        from_settings(SETTINGS, given)
    }

    /// Fits. Rows from a one-pass source are first read into memory or a temporary file.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, fewer than two rows, no column that varies; without preconditioning rows that vary along fewer
    /// directions than there are columns; mini-batches of remote rows; errors of the source. With preconditioning a rank below the
    /// number of atoms requested is not an error: as many are kept as there are directions, with a warning.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        METHOD.begin(self, rows, run)?;
        pooled(rows, run, |rows| {
            let task = self.task(rows, run)?;
            let found = start::with_view(rows, &task, run, |view| {
                let found = Atoms { spec: self, task: &task, view, run }.search()?;
                self.chosen(view, &task, found, run)
            })?;
            self.model(rows, &task, found, run)
        })
    }

    /// Stopping rule of a search.
    fn limits(&self, dtype: Dtype) -> Limits {
        let default = if dtype == Dtype::F32 { 1e-4 } else { 1e-6 };
        Limits { tol: self.tol.unwrap_or(default), max_iter: self.max_iter }
    }
}

impl Fit for CompleteDictionary {
    fn fit_f32(&self, rows: &mut Rows<'_, f32>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn fit_f64(&self, rows: &mut Rows<'_, f64>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
}
