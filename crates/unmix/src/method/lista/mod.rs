//! LISTA: a network of a few layers, each of the form of a step of ISTA, trained so that its codes approximate those of many steps, or
//! known codes.
//!
//! **Finds** a network of few layers that computes sparse codes of rows by a given dictionary.
//! **Model** `z+ = S_theta(z + t (x - z D) E')` for every layer, starting at `z = 0`; the atoms are the rows of `A`, and
//! `P(z) = 1/2 ||x - z A||² + alpha ||z||_1`. The learned parameters are, depending on `cell`, `D = E` with `t` and `theta`; `E` and
//! `theta`, with `D = A`; `t` and `theta`, with `E` in closed form; `t`, with `theta = t alpha`; or two matrices and a threshold that all
//! layers share.
//! **Algorithm**
//!  1. one pass over the rows for `|A x|`, which gives the range and the default of `alpha`;
//!  2. initial values: every layer is a step of ISTA (`t = 1/||A||²`, `theta = alpha/||A||²`), so that the network is ISTA; for ALISTA,
//!     `t = 1` and the best common threshold;
//!  3. Adam on mini-batches: each new layer alone, then all layers so far, and all layers at the end; the loss is the mean squared error
//!     of the codes if known codes are given, otherwise the mean of `P`; gradients are computed by explicit backpropagation
//!     (`gradient.rs`);
//!  4. with `monotone`, parameters are kept only if the loss of fixed rows has not increased, and a network that is worse than its start
//!     is replaced by it.
//!
//! **Cost** `O(n_layers n_atoms n_features)` for each row to encode, three times that to train. **Equals**, with `max_epochs=0`, as many steps of
//! ISTA as layers, except for ALISTA. **Fails** on rows that differ from those of the fit: `refine` adds steps of FISTA, and the quality of
//! every row includes its duality gap.
//!
//! K. Gregor & Y. LeCun (2010), ICML. X. Chen, J. Liu, Z. Wang & W. Yin (2018), NeurIPS. J. Liu, X. Chen, Z. Wang & W. Yin (2019), ICLR. P. Ablin, T. Moreau,
//! M. Massias & A. Gramfort (2019), NeurIPS.

mod fit;
mod gradient;
mod layers;
mod learner;
mod model;
mod net;
mod packed;
mod settings;
mod stages;
mod start;
mod sums;

use super::{Accepts, Fit, Method, needs};
use crate::data::{RowValues, Rows};
use crate::error::{Error, Result, counted};
use crate::model::{Model, Tensors};
use crate::num::{Matrix, Real};
use crate::run::Run;
use serde_json::{Map, Value};
use settings::SETTINGS;
use std::borrow::Cow;

pub use settings::{LayerType, LearningRate, Lista, PenaltyWeight};

/// The registry entry.
pub(super) const METHOD: Method = Method {
    key: "lista",
    class: "LISTA",
    summary: "sparse codes by a few trained layers, each like a step of ISTA",
    settings: SETTINGS,
    variants: &[],
    accepts: Accepts { sparse: false, weights: false, stream: true, remote: false, missing: false },
    by_independence: false,
    of_signals: false,
    random_start: false,
    select_by_variances: false,
    to_compare: &[],
    equals: &["max_epochs=0, except for cell=alista: as many steps of ISTA as layers"],
    references: &[
        "Gregor & LeCun 2010",
        "Chen, Liu, Wang & Yin 2018",
        "Liu, Chen, Wang & Yin 2019",
        "Ablin, Moreau, Massias & Gramfort 2019",
    ],
    spec: |given| Ok(Box::new(Lista::from_settings(given)?)),
    code: model::code,
    density: None,
    memory: |n, p| vec![("lista", needs::of_fit(n, p, 8))],
};

impl Lista {
    /// From settings by name, without the dictionary, which is given separately.
    ///
    /// # Errors
    ///
    /// A name that is not one of LISTA's settings, an invalid value of a setting.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        super::from_settings(SETTINGS, given)
    }

    /// Trains the network on the rows: to reproduce `codes` if they are given, otherwise for the objective of the lasso.
    ///
    /// # Errors
    ///
    /// No dictionary, a dictionary of zeros, or one whose number of columns is not that of the rows; codes whose shape is not that of rows and
    /// atoms; numbers that are not finite, or whose squares underflow to 0; a loss that diverges; errors of the source.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        let tables = [("dictionary", self.dictionary.as_ref()), ("codes", self.codes.as_ref())];
        METHOD.begin_given(self, &tables, rows, run)?;
        if rows.n_counted() == 0 {
            let (method, what) = (METHOD.key.into(), rows.origin().into());
            return Err(Error::TooFewRows { method, need: 1, got: 0, what, remedy: "give rows".into() });
        }
        let (p, origin) = (rows.n_features(), rows.origin());
        let dictionary = super::sparse_coder::admitted(&METHOD, self.dictionary.as_ref(), p, origin)?;
        let codes = self.codes_of(rows, dictionary.rows())?;
        let (rows, codes) = (&*rows, codes.as_deref());
        rows.pooled(run.threads, || fit::fit(self, rows, (dictionary, codes), run))
    }

    /// The codes of the rows, of those given, which may be those of all rows of a file. Codes whose number of rows or columns is wrong, or that
    /// are not finite, are refused.
    fn codes_of<T: Real>(&self, rows: &Rows<'_, T>, m: usize) -> Result<Option<Cow<'_, Matrix<f64>>>> {
        let Some(given) = &self.codes else { return Ok(None) };
        // "codes must have" has a form for each caller.
        let refused = |got: String, why: String, remedy: &str| Err(Error::setting("codes", got, why, remedy));
        if given.cols() != m {
            let got = format!("{} x {}", given.rows(), given.cols());
            return refused(got, format!("must have {}, one for each atom", counted(m as u64, "column")), "");
        }
        let values = RowValues { name: "codes", one: "row", file: None };
        let codes = rows.used().rows_of(Cow::Borrowed(given), values)?;
        match codes.as_slice().iter().position(|x| !x.is_finite()) {
            None => Ok(Some(codes)),
            Some(at) => {
                let (row, column) = (rows.number_of((at / m) as u64), at % m);
                let got = format!("{} in row {row}, column {column}", codes.as_slice()[at]);
                let remedy = "leave out such rows of the codes and of the data";
                refused(got, "must have finite numbers only".into(), remedy)
            }
        }
    }
}

impl Fit for Lista {
    fn fit_f32(&self, rows: &mut Rows<'_, f32>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn fit_f64(&self, rows: &mut Rows<'_, f64>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn given(&mut self, mut tensors: Tensors) -> Result<()> {
        self.dictionary = tensors.remove("dictionary").map(|tensor| tensor.to_matrix());
        self.codes = tensors.remove("codes").map(|tensor| tensor.to_matrix());
        Ok(())
    }
}
