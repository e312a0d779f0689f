//! The fitted model, common to all methods: `encode` and `decode`, and the file format.

mod affine;
mod apply;
mod begin;
mod canonical;
mod chosen;
mod code;
mod file;
mod gate;
mod gaussian;
mod likelihood;
mod linear;
mod merge;
mod mixture;
mod nonnegative;
mod path;
mod pictures;
mod posterior;
mod quality;
mod registry;
mod report;
mod settings;
mod sparse;
mod start;
mod sums;
mod tensor;
mod unencoded;

#[doc(inline)]
pub use crate::num::Values;
pub use crate::run::Outcome;
pub use affine::{LinearDecoder, LinearEncoder};
pub(crate) use affine::{NonlinearDecoder, Nonlinearity};
pub(crate) use canonical::{Arrangement, completed_axes};
pub use canonical::{SIGN_RULE, canonical_sign, sign_of};
pub use chosen::ComponentSelection;
pub use code::{Certificate, Code, Codes, Decoder, Encoded, Encoder, RowMap, Unsolved};
pub(crate) use code::{map_of, note_on_unseen};
pub(crate) use file::read_model;
pub use file::{FORMAT, is_model_file};
pub use gate::Gate;
pub use gaussian::Gaussian;
pub use linear::ComponentRole;
pub(crate) use linear::{Linear, LinearParameters, StoredAxes, axes_of, noise_scale_of, whitens};
pub use mixture::Mixture;
pub use nonnegative::NonNegative;
pub use path::{ALONG_ALPHA, AlongAlpha, DEFAULT_ALPHAS};
pub use pictures::PictureRow;
pub use posterior::PosteriorMean;
pub use quality::{Measures, Parts, Quality, Residual};
pub use registry::{Accepts, Fit, MakeSpec, Method, Variant};
pub(crate) use report::constant_columns;
pub use report::{Report, RunRecord, SIGNIFICANCE_LEVEL};
pub use settings::{
    Axis, Condition, Counted, Kind, NumberForm, PythonType, Setting, resolve, without_effect,
};
pub(crate) use settings::{
    FitKind, NEVER, default_of, entry, init_without_effect, named_share, replaced_by_table, settings,
    share_name, without_effect_in,
};
pub use sums::Sums;
pub(crate) use tensor::require;
pub use tensor::{Tensor, Tensors};

use crate::data::Features;
use crate::error::{Error, Result};
use crate::num::Dtype;
use crate::run::Run;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A fitted model: parameters, encoder and decoder, and the report of the fit.
///
/// Immutable. Parameters are tensors with the names of scikit-learn's attributes without the underscore; [`Code`] is the encoder
/// and decoder.
#[derive(Clone, Debug)]
pub struct Model {
    method: &'static Method,
    settings: Map<String, Value>,
    features: Features,
    n_features: usize,
    dtype: Dtype,
    ddof: u64,
    tensors: BTreeMap<String, Tensor>,
    report: Report,
    code: Code,
    sums: Option<Arc<Sums>>,
}

impl Model {
    /// [`new`](Self::new) at the end of a fit: adds a warning that names settings that had no effect in combination with the
    /// others.
    ///
    /// # Errors
    ///
    /// As for `new`.
    pub(crate) fn fitted(
        method: &'static Method,
        settings: Map<String, Value>,
        features: Features,
        ddof: u64,
        tensors: BTreeMap<String, Tensor>,
        mut report: Report,
    ) -> Result<Self> {
        let unused = without_effect(method.settings, &settings, &report.settings);
        report.warnings.extend(unused);
        if report.run.initial_model {
            report.warnings.extend(without_effect_in(FitKind::FromModel, method.settings, &settings));
        }
        Ok(Self::new(method, settings, features, ddof, tensors, report)?.naming_constant_columns())
    }

    /// Constructs a model and validates it: shapes agree, every number is finite.
    ///
    /// # Errors
    ///
    /// Parameters that are missing, of wrong shape, or not finite; names or a shape of the features that do not fit their number.
    pub fn new(
        method: &'static Method,
        settings: Map<String, Value>,
        features: Features,
        ddof: u64,
        tensors: BTreeMap<String, Tensor>,
        report: Report,
    ) -> Result<Self> {
        for (name, tensor) in &tensors {
            if let Some(i) = tensor.values().first_not_finite() {
                return Err(Error::unsupported(
                    format!("the {} model of these data", method.key),
                    format!("entry {i} of its {name} is not a finite number"),
                    "divide the data by a large constant, or use float64",
                )
                .of_method(method.key)
                .with(|d| d.array = Some(name.to_string())));
            }
        }
        let code = (method.code)(&settings, &tensors)?;
        let n_features = code.n_features();
        let named = features.names.as_ref().is_none_or(|n| n.len() == n_features);
        let shaped = features.shape.as_ref().is_none_or(|s| tensor::volume(s) == Some(n_features));
        let width = |what: &str, got: usize, remedy: &str| Error::Width {
            what: what.into(),
            need: n_features,
            got,
            remedy: remedy.into(),
        };
        if let Some(names) = features.names.as_ref().filter(|_| !named) {
            return Err(width("a model with named features", names.len(), "give one name for each column"));
        }
        if let Some(shape) = features.shape.as_ref().filter(|_| !shaped) {
            let got = tensor::volume(shape).unwrap_or(usize::MAX);
            return Err(width(
                &format!("a model with features of shape {shape:?}"),
                got,
                "give another shape",
            ));
        }
        let dtype = report.dtype;
        Ok(Self { method, settings, features, n_features, dtype, ddof, tensors, report, code, sums: None })
    }

    /// The same model with the sums from which it was computed.
    pub(crate) fn with_sums(mut self, sums: Sums) -> Self {
        self.sums = Some(Arc::new(sums));
        self
    }

    /// The sums over rows from which the model was computed, if it stores them: more rows, or another model's sums, can be added.
    pub fn sums(&self) -> Option<&Sums> {
        self.sums.as_deref()
    }

    /// The method of the fit.
    pub fn method(&self) -> &'static Method {
        self.method
    }

    /// The settings as given, completed by the defaults.
    pub fn settings(&self) -> &Map<String, Value> {
        &self.settings
    }

    /// Names and shape of the features.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Number of columns.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Number of components.
    pub fn n_components(&self) -> usize {
        self.tensor("components").map_or_else(|| self.n_codes(), |t| t.shape()[0])
    }

    /// Length of a code: the number of components, unless codes are rotated back to the columns.
    pub fn n_codes(&self) -> usize {
        self.code.n_codes()
    }

    /// Type of the parameters.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Delta degrees of freedom: variances are divided by `n_samples - ddof`.
    pub fn ddof(&self) -> u64 {
        self.ddof
    }

    /// All parameters, by name.
    pub fn tensors(&self) -> &BTreeMap<String, Tensor> {
        &self.tensors
    }

    /// One parameter.
    pub fn tensor(&self, name: &str) -> Option<&Tensor> {
        self.tensors.get(name)
    }

    /// The same model, with the agreement of halves of the rows from `run`, which ends now, in the report.
    pub(crate) fn with_halves(mut self, halves: Option<Vec<f64>>, run: &Run<'_>) -> Self {
        if halves.is_some() {
            self.report.halves = halves;
            self.report.end(run);
        }
        self
    }

    /// The same model, with the number of rows in the report if they had sample weights.
    pub(crate) fn of_weighted_rows(mut self, n_rows: Option<u64>) -> Self {
        self.report.n_rows = n_rows;
        self
    }

    /// The same model, with outcome, iterations and residual of a search by a function of the caller in the report: the fit started from
    /// the result of that search and took no steps. `settings` replace those of the report that have the same names.
    pub fn with_search(
        mut self,
        (outcome, n_iter, residual): (crate::Outcome, u64, Option<f64>),
        settings: Map<String, Value>,
    ) -> Self {
        (self.report.outcome, self.report.n_iter, self.report.residual) = (outcome, n_iter, residual);
        self.report.objective.clear();
        self.report.settings.extend(settings);
        self
    }

    /// The same model, with the results of `stability` in the report.
    pub(crate) fn with_stability_found(mut self, found: Value) -> Self {
        self.report.stability = Some(found);
        self
    }

    /// The same model, with notes about how the rows were read placed before the warnings of the report.
    pub(crate) fn with_notes(mut self, notes: &[String]) -> Self {
        self.report.warnings.splice(..0, notes.iter().cloned());
        self
    }

    /// Notes on the rows that were added to a stream, and on those that were left out because the pass over them ended early.
    pub(crate) fn of_stream(self, notes: &[String]) -> Self {
        let n = self.report.n_samples;
        let early = self.report.outcome.is_early().then(|| {
            let rows = if n == 1.0 { "1 row".into() } else { format!("{n} rows") };
            format!("the pass over the rows ended early: the model contains {rows}, and the others can be added to it")
        });
        self.with_notes(&notes.iter().cloned().chain(early).collect::<Vec<_>>())
    }

    /// Names the constant columns in the warning about them. They are known by their coefficients, which are 0 and nowhere else all of them.
    fn naming_constant_columns(mut self) -> Self {
        let (n, p) = (self.report.n_constant, self.n_features);
        let about = format!("{n} of {p} columns ");
        let Some(at) = self.report.warnings.iter().position(|w| n > 0 && w.starts_with(&about)) else {
            return self;
        };
        let is_across = |tensor: &&Tensor| matches!(tensor.shape(), [k, columns] if *k > 0 && *columns == p);
        let Some(atoms) = self.tensor("components").filter(is_across).map(Tensor::to_matrix) else {
            return self;
        };
        let is_zero = |&j: &usize| (0..atoms.rows()).all(|i| atoms[(i, j)] == 0.0);
        let zero: Vec<usize> = (0..p).filter(is_zero).collect();
        if zero.len() != n {
            return self;
        }
        let kind = match (&self.features.names, n) {
            (Some(_), _) => "",
            (None, 1) => "column ",
            (None, _) => "columns ",
        };
        let names = format!("{kind}{}", self.features.listed(&zero));
        let warning = &mut self.report.warnings[at];
        *warning = warning.replacen(" not vary;", &format!(" not vary ({names});"), 1);
        self
    }

    /// The report of the fit.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// What `n_iter` of the report counts.
    pub fn counted(&self) -> Counted {
        settings::counted(self.method.settings, &self.settings_seen())
    }

    /// Over what the objective of the report is listed: epochs, if the fit has these.
    pub fn objective_over(&self) -> Counted {
        let seen = self.settings_seen();
        let has_epochs = self.method.settings.iter().any(|s| s.name == "max_epochs" && s.has_effect(&seen));
        // Some fits list the objective of all rows at the end, and some list it at steps of other kinds.
        let most =
            seen.get("max_epochs").and_then(Value::as_u64).map_or(u64::MAX, |most| most.saturating_add(1));
        if has_epochs && self.report.objective.len() as u64 > most {
            return Counted::Iterations;
        }
        if has_epochs { Counted::Epochs } else { self.counted() }
    }

    /// The settings as given, and as resolved.
    fn settings_seen(&self) -> Map<String, Value> {
        self.settings
            .iter()
            .chain(&self.report.settings)
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// The encoder and decoder.
    pub fn code(&self) -> &Code {
        &self.code
    }
}
