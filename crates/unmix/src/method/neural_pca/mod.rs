//! Neural PCA: principal components by learning rules of a single linear layer.
//!
//! **Finds** the principal axes, or the principal subspace, depending on the rule.
//! **Model** `y = (x - mean) W`, `W` the weights at the end of the iterations, with columns divided by their
//! lengths.
//! **Algorithm** for rows of covariance `C = E diag(v) E'`, by the rule's half-gradient `G(W)`, a row of
//! `LINEAR`:
//!  1. second moments in one sweep, and their spectrum;
//!  2. `solver="auto"`: from random orthonormal directions (or `E`), `W <- W - lr G(W)`, `lr` a quarter of the inverse of the largest
//!     variance, until `||G|| <= tol ||CW||` (the first-order condition); in the coordinates of `E`, in which
//!     every rule has the same form; `solver="sgd"` or `"adam"`: the same gradient on mini-batches, as
//!     published (`train`);
//!  3. columns divided by their lengths, sorted by the variance along them, signed.
//!
//! **Cost** that of PCA, and `O(r k²)` for each step, `r` the rank: steps use second moments only.
//! **Equals** PCA up to the divisor of variances, for every rule that finds axes; `variant="svd"` computes
//! them directly. **Fails** to distinguish axes of equal variance; converges slowly, or stops at `max_iter`, if
//! variances are close or span many orders of magnitude.
//!
//! E. Oja (1982), J. Math. Biol. 15:267; (1989), Int. J. Neural Syst. 1:61. T. Sanger (1989), Neural Networks 2:459. E. Oja, H.
//! Ogawa & J. Wangviwattana (1992), IEICE Trans. E75-D:366. O. Rippel, M. Gelbart & R. Adams (2014), ICML. The weighted rules
//! with unit columns: arXiv 2311.13580, section 2.3 and appendix A, with corrected triangular parts.

pub(crate) mod model;
mod settings;

use super::{Accepts, Fit, Method, Variant, needs};
use crate::data::{Rows, check_n_rows};
use crate::error::{Error, Result};
use crate::learn::Optimiser;
use crate::model::{Code, ComponentRole, Model, Outcome, canonical_sign};
use crate::neural::flow::{FlowOptions, FlowResult, flow};
use crate::neural::{LINEAR, Mean, Spec, TableEntry, Training, TrainingStart, find_row, train};
use crate::num::{Matrix, Real, factor};
use crate::run::Run;
use crate::spectrum::{self, Bounds, Decomposition, Request, auto_solver};
use serde_json::{Map, Value};
use settings::SETTINGS;

pub use settings::{Init, NeuralPca, Solver, VariantName};

/// NeuralPCA's row of the registry.
pub(super) const METHOD: Method = Method {
    key: "neural-pca",
    class: "NeuralPCA",
    summary: "principal components by learning rules of a single linear layer",
    settings: SETTINGS,
    variants: &VARIANTS,
    accepts: Accepts { sparse: true, weights: true, stream: true, remote: true, missing: false },
    by_independence: false,
    of_signals: false,
    random_start: false,
    select_by_variances: false,
    to_compare: &[],
    equals: &["variant=svd: pca, with variances divided by n"],
    references: &[
        "Oja 1982, 1989",
        "Sanger 1989",
        "Oja, Ogawa & Wangviwattana 1992",
        "Rippel, Gelbart & Adams 2014",
        "sigma-PCA, arXiv 2311.13580",
    ],
    spec: |given| Ok(Box::new(NeuralPca::from_settings(given)?)),
    code: |settings, tensors| Code::of_linear(settings, tensors, ComponentRole::UnitVectors),
    density: None,
    memory: |n, p| vec![("auto", needs::of_orthonormal(n, p, 16))],
};

const VARIANTS: [Variant; 14] = variants(&LINEAR);

/// The registry's entry for each variant.
pub(crate) const fn variants<const N: usize>(rows: &'static [TableEntry; N]) -> [Variant; N] {
    let mut out = [const { Variant { key: "", reference: "", recovers: "" } }; N];
    let mut i = 0;
    while i < N {
        out[i] = Variant { key: rows[i].key, reference: rows[i].reference, recovers: rows[i].recovers };
        i += 1;
    }
    out
}

/// The stationary point of a rule.
struct RuleResult<'a> {
    row: &'static TableEntry,
    axes: Decomposition,
    flowed: FlowResult,
    /// `p x k`, `k` at most the rank.
    weights: Matrix<f64>,
    features: &'a crate::data::Features,
    dtype: crate::num::Dtype,
    k: usize,
    /// Number of epochs of the training on mini-batches.
    epochs: u64,
}

impl NeuralPca {
    /// From settings by name.
    ///
    /// # Errors
    ///
    /// A name that is not one of NeuralPCA's settings, an invalid value of a setting.
    pub fn from_settings(given: &Map<String, Value>) -> Result<Self> {
        super::from_settings(SETTINGS, given)
    }

    /// Fits. Rows from a one-pass source are first read into memory or a temporary file.
    ///
    /// # Errors
    ///
    /// Numbers that are not finite, fewer than two rows, weights whose sum is at most 1, no column that varies, more components than
    /// `min(n, p)`, an unknown variant, errors of the source. More components than the rank are not an error: those beyond it have
    /// variance 0 and depend on the others alone.
    pub fn fit<T: Real>(&self, rows: &mut Rows<'_, T>, run: &Run<'_>) -> Result<Model> {
        METHOD.begin(self, rows, run)?;
        let (_, row) = find_row(&LINEAR, &self.variant.key())?;
        let trains = self.optimiser(row).is_some();
        if trains {
            rows.here("training by batches")?;
        }
        let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
        let k = self.count(rows)?;
        if trains && (rows.weights().is_some() || rows.is_sparse()) {
            return Err(Error::unsupported(
                "neural-pca with solver='sgd' or 'adam' of weighted or sparse rows",
                "mini-batches need dense rows without weights",
                "choose solver='auto'",
            )
            .of_method(METHOD.key));
        }
        // Small problems are solved on the calling thread, without a thread pool.
        let model = match n.saturating_mul(p as u64) < 1 << 15 {
            true => self.fit_prepared(rows, row, k, run),
            false => rows.pooled(run.threads, || self.fit_prepared(rows, row, k, run)),
        };
        Ok(model?.of_weighted_rows(rows.weighted_rows()))
    }

    fn fit_prepared<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        row: &'static TableEntry,
        k: usize,
        run: &Run<'_>,
    ) -> Result<Model> {
        let (n, p) = (rows.n_rows().unwrap_or(0), rows.n_features());
        let request = Request {
            method: "neural-pca",
            solver: auto_solver(n, p, None, rows.is_sparse()),
            top: None,
            center: self.center,
            standardize: false,
            tol: 0.0,
            rounds: None,
            n_oversamples: 0,
            start: None,
        };
        let mut axes = spectrum::decompose(rows, run, &request)?;
        // Random initial weights are drawn in their coordinates, so that they do not depend on the signs
        // chosen by the eigensolver.
        canonical_sign(&mut axes.axes, T::DTYPE.eps());
        run.stage("learning rule")?;
        let (flowed, weights, epochs) = match (self.optimiser(row), &row.spec) {
            (Some(optimiser), Some(spec)) => self.trained(rows, spec, &axes, k, optimiser, run)?,
            _ => {
                let flowed = self.stationary(row, &axes, k, run)?;
                let weights = factor::multiply(&axes.axes.transposed(), &flowed.w);
                (flowed, weights, 0)
            }
        };
        let (features, dtype) = (rows.features(), T::DTYPE);
        let found = RuleResult { row, axes, flowed, weights, features, dtype, k, epochs };
        self.model(found, run)
    }

    /// The optimiser of mini-batches, if the fit uses them; a closed form has no solver.
    fn optimiser(&self, row: &TableEntry) -> Option<Optimiser> {
        match self.solver {
            _ if row.spec.is_none() => None,
            Solver::Auto => None,
            Solver::Sgd => Some(Optimiser::Sgd),
            Solver::Adam => Some(Optimiser::Adam),
        }
    }

    /// The weights after training on mini-batches, in the coordinates of the principal axes and in those of
    /// the columns; and the number of epochs.
    fn trained<T: Real>(
        &self,
        rows: &Rows<'_, T>,
        spec: &Spec,
        axes: &Decomposition,
        k: usize,
        optimiser: Optimiser,
        run: &Run<'_>,
    ) -> Result<(FlowResult, Matrix<f64>, u64)> {
        let spec = Spec { mean: if self.center { Mean::Batch } else { Mean::Rows }, ..*spec };
        let mut begin = TrainingStart::at_axes(rows, axes, &spec, k, run)?;
        match run.initial_components(rows.n_features(), k)? {
            Some(axes) => begin.w = axes.top_rows(begin.w.cols()).transposed(),
            None if self.init == Init::Random => begin = begin.at_random(run.seed),
            None => {}
        }
        let how = Training {
            optimiser,
            learning_rate: self.learning_rate,
            batch_size: self.batch_size,
            max_epochs: self.max_epochs,
            ..Training::default()
        };
        let trained = train(rows, &spec, &begin, &how, run)?;
        let ends_early = trained.epochs < self.max_epochs;
        let flowed = FlowResult {
            w: factor::multiply(&axes.axes, &trained.w),
            n_iter: trained.steps,
            residual: f64::NAN,
            outcome: if ends_early { run.early_outcome() } else { Outcome::Completed },
        };
        Ok((flowed, trained.w, trained.epochs))
    }

    /// The weights at the stationary point of the rule, in the coordinates of the principal axes.
    fn stationary(
        &self,
        row: &TableEntry,
        axes: &Decomposition,
        k: usize,
        run: &Run<'_>,
    ) -> Result<FlowResult> {
        let variances = &axes.values[..axes.axes.rows()];
        let k = k.min(variances.len());
        let given = run.initial_components(axes.mean.len(), k)?;
        let how = FlowOptions {
            k,
            from: given.map(|given| factor::multiply_transposed(&axes.axes, &given.top_rows(k))),
            from_axes: self.init == Init::Pca || row.spec.is_none(),
            max_iter: self.max_iter,
            tol: self.tol,
        };
        match &row.spec {
            Some(spec) => flow(row, spec, variances, &how, run),
            None => Ok(FlowResult::closed_form(variances.len(), how.k)),
        }
    }

    fn count<T: Real>(&self, rows: &Rows<'_, T>) -> Result<usize> {
        let (n, p, origin) = (rows.n_counted(), rows.n_features(), rows.origin());
        check_n_rows("neural-pca", n, origin, "give more rows")?;
        Bounds { n, p, origin, least: METHOD.least_components(), overcomplete: false }
            .count(self.n_components)
    }
}

impl Fit for NeuralPca {
    fn fit_f32(&self, rows: &mut Rows<'_, f32>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
    fn fit_f64(&self, rows: &mut Rows<'_, f64>, run: &Run<'_>) -> Result<Model> {
        self.fit(rows, run)
    }
}
