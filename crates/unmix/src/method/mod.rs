//! The methods, and their registry, from which the command line, the Python parameters, the documentation and
//! generic tests are derived.

mod begin;
mod by_key;
pub mod complete_dictionary;
pub mod completion;
pub mod dae;
pub mod dictionary;
pub mod factor_analysis;
pub mod fastica;
pub mod ica;
mod layer;
pub mod linear_eigengan;
pub mod lista;
mod model_file;
mod needs;
pub mod neural_pca;
pub mod pca;
pub mod ppca;
pub mod rbm;
pub mod rfn;
pub mod rica;
pub mod robust_pca;
pub mod sae;
pub mod sigma_pca;
pub mod sparse_coder;
pub mod stacked_rfn;
pub mod subspace_clustering;
mod works;

pub use crate::model::{
    Accepts, Axis, Condition, Fit, Kind, MakeSpec, Method, NumberForm, PythonType, Setting, Variant, resolve,
    without_effect,
};
pub use by_key::{continued, fit, fit_by_sums, fit_given, partial_fit, partial_fit_given};
pub use complete_dictionary::CompleteDictionary;
pub use completion::MatrixCompletion;
pub use dae::DenoisingAutoencoder;
pub use dictionary::DictionaryLearning;
pub use factor_analysis::FactorAnalysis;
pub use fastica::FastIca;
pub use ica::Ica;
pub use linear_eigengan::LinearEigenGan;
pub use lista::Lista;
pub use neural_pca::NeuralPca;
pub use pca::Pca;
pub use ppca::Ppca;
pub use rbm::GaussianRbm;
pub use rfn::Rfn;
pub use rica::Rica;
pub use robust_pca::RobustPca;
pub use sae::SparseAutoencoder;
pub use sigma_pca::SigmaPca;
pub use sparse_coder::SparseCoder;
pub use stacked_rfn::StackedRfn;
pub use subspace_clustering::SubspaceClustering;
pub use works::with_methods;

use crate::error::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::sync::RwLock;

/// The registry of built-in methods.
pub const METHODS: &[Method] = &[
    pca::METHOD,
    ppca::METHOD,
    linear_eigengan::METHOD,
    neural_pca::METHOD,
    sigma_pca::METHOD,
    ica::METHOD,
    fastica::METHOD,
    rica::METHOD,
    factor_analysis::METHOD,
    completion::METHOD,
    robust_pca::METHOD,
    sparse_coder::METHOD,
    lista::METHOD,
    dictionary::METHOD,
    subspace_clustering::METHOD,
    complete_dictionary::METHOD,
    rfn::METHOD,
    stacked_rfn::METHOD,
    sae::METHOD,
    dae::METHOD,
    rbm::METHOD,
];

/// A specification from settings by name, for methods whose settings need no checks beyond their entries in
/// the list.
fn from_settings<S: DeserializeOwned>(list: &'static [Setting], given: &Map<String, Value>) -> Result<S> {
    let resolved = Value::Object(resolve(list, given)?);
    serde_json::from_value(resolved).map_err(|e| {
        Error::setting("settings", Value::Object(given.clone()), e.to_string(), "give other values")
    })
}

/// The settings of a specification by name, as models and reports record them.
fn as_map(spec: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(spec) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// Methods that were registered at run time.
static ADDED: RwLock<Vec<&'static Method>> = RwLock::new(Vec::new());

/// Registers a custom method in this process: [`fit`](crate::fit()), files, the command line and Python then find it by its key, like
/// those of [`METHODS`]. Registering the same method again has no effect.
///
/// # Errors
///
/// A key that another method has.
pub fn register(method: &'static Method) -> Result<()> {
    let mut added = ADDED.write().unwrap_or_else(|e| e.into_inner());
    let known = METHODS.iter().chain(added.iter().copied()).find(|m| m.key == method.key);
    match known {
        None => added.push(method),
        Some(same) if std::ptr::eq(same, method) => {}
        Some(other) => {
            let why = format!("{} already has this key", other.class);
            return Err(Error::setting("key", format!("'{}'", method.key), why, "choose another key"));
        }
    }
    Ok(())
}

/// All built-in methods, then those that were [registered](register).
pub fn all() -> Vec<&'static Method> {
    METHODS.iter().chain(ADDED.read().unwrap_or_else(|e| e.into_inner()).iter().copied()).collect()
}

/// The method named `key`.
///
/// # Errors
///
/// An unknown key; the error names the most similar one.
pub fn find(key: &str) -> Result<&'static Method> {
    let all = all();
    let known = all.iter().find(|m| m.key == key).copied();
    known.ok_or_else(|| Error::unknown("method", key, all.iter().map(|m| m.key)))
}
