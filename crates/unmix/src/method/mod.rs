//! The methods, and the list of them from which everything else is derived: command line, Python, docs and law tests.

pub mod fastica;
pub mod ica;
mod needs;
pub mod neural_pca;
pub mod pca;
pub mod rica;
pub mod sigma_pca;

pub use crate::model::{
    Condition, Fit, Kind, MakeSpec, Method, Setting, Takes, Variant, resolve, without_effect,
};
pub use fastica::FastIca;
pub use ica::Ica;
pub use neural_pca::NeuralPca;
pub use pca::Pca;
pub use rica::Rica;
pub use sigma_pca::SigmaPca;

use crate::error::{Error, Result};

/// Every method there is.
pub const METHODS: &[Method] =
    &[pca::METHOD, neural_pca::METHOD, sigma_pca::METHOD, ica::METHOD, fastica::METHOD, rica::METHOD];

/// The method named `key`.
pub fn find(key: &str) -> Result<&'static Method> {
    METHODS
        .iter()
        .find(|m| m.key == key)
        .ok_or_else(|| Error::unknown("method", key, METHODS.iter().map(|m| m.key)))
}
