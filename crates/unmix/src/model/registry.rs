//! The registry entry of a method, from which command line, Python, docs and law tests are derived.
//!
//! The entries are in [`METHODS`](crate::METHODS).

use super::{Code, Gaussian, Model, Setting, Sums, Tensors};
use crate::data::{AnyRows, Features, Rows};
use crate::error::{Error, Needed, Result};
use crate::run::Run;
use serde::Serialize;
use serde_json::{Map, Value};

/// A specification that can be fitted to rows of either type.
pub trait Fit: Send + Sync {
    /// Fits rows of single precision.
    ///
    /// # Errors
    ///
    /// Settings and rows that the method does not accept; numbers that are not finite, unless they are missing cells; errors of the source;
    /// [`Error::Interrupted`].
    fn fit_f32(&self, rows: &mut Rows<'_, f32>, run: &Run<'_>) -> Result<Model>;
    /// Fits rows of double precision.
    ///
    /// # Errors
    ///
    /// As for [`fit_f32`](Self::fit_f32).
    fn fit_f64(&self, rows: &mut Rows<'_, f64>, run: &Run<'_>) -> Result<Model>;
    /// Takes the tables that are given in addition to the settings, by name, validated by [`Method::check_tensors`].
    ///
    /// # Errors
    ///
    /// A table that the method does not take.
    fn given(&mut self, tensors: Tensors) -> Result<()> {
        tensors
            .into_keys()
            .next()
            .map_or(Ok(()), |name| Err(Error::unknown("tensor", &name, std::iter::empty())))
    }
    /// The model computed from sums over rows, which it stores; for methods that need only these.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] by a method that needs the rows; errors of [`check_sums`](Self::check_sums) and of the fit.
    fn fit_sums(&self, sums: &Sums, features: &Features, run: &Run<'_>) -> Result<Model> {
        let _ = (sums, features, run);
        Err(Error::unsupported(
            "a model of sums over rows",
            "this method needs the rows themselves",
            "fit all rows at once",
        )
        .needing(Needed::Sums))
    }
    /// Refuses settings with which [`fit_sums`](Self::fit_sums) is not possible whatever the sums, before any row is read.
    ///
    /// # Errors
    ///
    /// Such a setting.
    fn check_sums(&self) -> Result<()> {
        Ok(())
    }
    /// Whether [`fit_sums`](Self::fit_sums) is possible, so that [`partial_fit`](crate::partial_fit) adds to the sums.
    fn takes_sums(&self) -> bool {
        false
    }
    /// Why two models cannot be merged, for methods that do not [take sums](Self::takes_sums).
    fn not_merged(&self) -> &'static str {
        "models of this method are not computed from sums over rows, which could be added"
    }
    /// Whether `before` stores the state of a stream, which [`partial_fit`](Self::partial_fit) continues.
    fn continues(&self, before: &Model) -> bool {
        let _ = before;
        false
    }
    /// The model of the rows of `before` followed by these; for methods that learn incrementally.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] by a method that does not; errors of the fit.
    fn partial_fit(&self, before: Option<&Model>, rows: &AnyRows<'_>, run: &Run<'_>) -> Result<Model> {
        let _ = (before, rows, run);
        Err(Error::unsupported(
            "an incremental fit",
            "this method does not update a model with further rows",
            "fit all rows at once",
        )
        .needing(Needed::Batches))
    }
    /// Whether [`partial_fit`](crate::partial_fit) is possible.
    fn takes_batches(&self) -> bool {
        self.takes_sums()
    }
}

/// One published variant of a method.
#[derive(Debug)]
#[non_exhaustive]
pub struct Variant {
    /// Value of the setting `variant`.
    pub key: &'static str,
    /// Reference.
    pub reference: &'static str,
    /// The model or the quantity that it recovers.
    pub recovers: &'static str,
}

/// What a method accepts besides plain rows; [`Method::begin`] and [`Method::begin_batch`] refuse the rest.
///
/// Exhaustive, as it is part of a [`Method`].
#[derive(Debug)]
pub struct Accepts {
    /// Sparse matrices.
    pub sparse: bool,
    /// A weight for each row.
    pub weights: bool,
    /// Rows that do not fit in memory: a fit of a few components with the default settings holds a part of the rows whose size is limited,
    /// or coordinates of all of them up to 1 GiB, and reads them from their source in every pass. Settings with which all rows or
    /// all codes are held state it in their description. Without it a fit holds all rows.
    pub stream: bool,
    /// Rows held by remote workers ([`Rows::remote`]): a fit with the default settings needs only sums over them. Settings that need the rows
    /// themselves are refused when they are used. Without it every fit is refused.
    pub remote: bool,
    /// Missing cells, which are NaN. Without it NaN is an error.
    pub missing: bool,
}

/// Makes a specification from settings.
pub type MakeSpec = fn(&Map<String, Value>) -> Result<Box<dyn Fit>>;

/// An entry of the registry.
///
/// Exhaustive: an entry is written as a literal in a `const`, where `..Default::default()` cannot be used, also by a program that registers a
/// method of its own. A further property would have to be stated for every method.
pub struct Method {
    /// Its name on the command line, in files and here.
    pub key: &'static str,
    /// Its Python class.
    pub class: &'static str,
    /// Summary in one sentence.
    pub summary: &'static str,
    /// Its settings.
    pub settings: &'static [Setting],
    /// Its published variants.
    pub variants: &'static [Variant],
    /// What it accepts.
    pub accepts: Accepts,
    /// Whether components are distinguished by independence too, and not by variances alone.
    pub by_independence: bool,
    /// Whether components are usually the sources of signals: a report then shows their codes from row to row, unless columns are
    /// the pixels of a picture.
    pub of_signals: bool,
    /// Whether a fit without an initial value starts at random numbers on which its local optimum depends: components of two fits with
    /// the same seed may then agree without being identified by the rows.
    pub random_start: bool,
    /// Whether `unmix select` compares rules based on variances; for other methods, it compares fits of each number of components.
    pub select_by_variances: bool,
    /// Settings, as JSON, of a fit whose components are compared with those of another one: other quantities of its model are not
    /// needed.
    pub to_compare: &'static [(&'static str, &'static str)],
    /// Equivalences between settings of this method and other methods.
    pub equals: &'static [&'static str],
    /// References.
    pub references: &'static [&'static str],
    /// Constructs a specification from settings.
    pub spec: MakeSpec,
    /// Constructs the encoder and decoder from parameters.
    pub code: fn(&Map<String, Value>, &Tensors) -> Result<Code>,
    /// The Gaussian density given by the parameters, for methods that have a likelihood.
    pub density: Option<fn(&Tensors) -> Result<Gaussian>>,
    /// Upper bound on the memory in bytes of a fit of all components by each solver, by name, for this number of rows and columns,
    /// the program included: within a factor of 2 of measured peaks. Where that is more than machines have, also of a fit of fewer components, under a
    /// name that states their number.
    pub memory: fn(n_rows: u64, n_features: usize) -> Vec<(&'static str, u64)>,
}

impl std::fmt::Debug for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Method").field("key", &self.key).finish_non_exhaustive()
    }
}

impl Method {
    /// Validates settings, given by name or as a specification, against the list of settings.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] for a value outside its range and for a number that is not finite; ranges that depend on the rows, as that
    /// of `n_components`, are checked by the fit.
    pub fn check(&self, spec: &impl Serialize) -> Result<()> {
        super::settings::check(self.settings, spec)
    }

    /// The settings that are given as tensors.
    pub fn tensors(&self) -> impl Iterator<Item = &'static Setting> {
        self.settings.iter().filter(|s| s.tensor)
    }

    /// The tensors without which there is no fit, such as a dictionary: it does not estimate them.
    pub(crate) fn required_tensors(&self) -> impl Iterator<Item = &'static Setting> {
        self.tensors().filter(|s| s.default != "null")
    }

    /// Validates the tables that are given in addition to the settings.
    ///
    /// # Errors
    ///
    /// A name that the method does not have, a tensor that is not a table, numbers that are not finite, a missing table.
    pub fn check_tensors(&self, given: &Tensors) -> Result<()> {
        for (name, tensor) in given {
            if !self.tensors().any(|s| s.name == name) {
                return Err(Error::unknown("tensor", name, self.tensors().map(|s| s.name)));
            }
            let shape = tensor.shape();
            if shape.len() != 2 || shape[0] == 0 || shape[1] == 0 {
                let (why, remedy) = ("must be a table of numbers", "give one row for each component");
                return Err(Error::setting(name.clone(), format!("shape {shape:?}"), why, remedy));
            }
            if let Some(at) = tensor.values().first_not_finite() {
                let (row, column) = (at / shape[1], at % shape[1]);
                let got = format!("{} in row {row}, column {column}", tensor.f64s()[at]);
                let why = "must contain finite numbers only";
                return Err(Error::setting(name.clone(), got, why, "leave out or replace such rows"));
            }
        }
        let missing = self.required_tensors().find(|s| !given.contains_key(s.name));
        missing.map_or(Ok(()), |s| {
            Err(Error::unsupported(
                format!("a fit of {}", self.key),
                format!("no {} was given", s.name),
                format!("give one: unmix::fit_given({}, {})", self.class, s.name),
            )
            .of_method(self.key)
            .with(|d| d.array = Some(s.name.into())))
        })
    }

    /// Constructs a specification from settings and the tables given with them.
    ///
    /// # Errors
    ///
    /// Errors of both validations.
    pub fn specify(&self, settings: &Map<String, Value>, tensors: Tensors) -> Result<Box<dyn Fit>> {
        self.check_tensors(&tensors)?;
        let mut spec = (self.spec)(settings)?;
        if !tensors.is_empty() {
            spec.given(tensors)?;
        }
        Ok(spec)
    }

    /// Minimum number of components.
    pub(crate) fn least_components(&self) -> usize {
        self.settings.iter().find(|s| s.name == "n_components").map_or(0, Setting::least)
    }

    /// The settings of refits that are compared with a model of `k` components or clusters. Their number is fixed, because a rule might
    /// select another one for half of the rows.
    pub(crate) fn settings_to_compare(&self, settings: &Map<String, Value>, k: usize) -> Map<String, Value> {
        let mut settings = settings.clone();
        let fixed = self.to_compare.iter().map(|(name, text)| (*name, Setting::parsed(text)));
        let number = if settings.contains_key("n_clusters") { "n_clusters" } else { "n_components" };
        // A list of the numbers of units of several layers is not changed.
        let of_layers = settings.get(number).is_some_and(Value::is_array);
        for (name, value) in fixed.chain([(number, k.into())].into_iter().filter(|_| !of_layers)) {
            if settings.contains_key(name) {
                settings.insert(name.into(), value);
            }
        }
        settings
    }

    /// The entry as JSON, in the form that `unmix methods --json` prints.
    pub fn to_json(&self) -> Value {
        serde_json::json!({
            "key": self.key,
            "class": self.class,
            "summary": self.summary,
            "settings": self.settings.iter().map(Setting::as_json).collect::<Vec<_>>(),
            "variants": self.variants.iter().map(|v| serde_json::json!({
                "key": v.key, "reference": v.reference, "recovers": v.recovers,
            })).collect::<Vec<_>>(),
            "takes": {
                "sparse": self.accepts.sparse, "weights": self.accepts.weights,
                "stream": self.accepts.stream, "remote": self.accepts.remote, "missing": self.accepts.missing,
            },
            "select_by_variances": self.select_by_variances,
            "equals": self.equals,
            "references": self.references,
        })
    }
}
