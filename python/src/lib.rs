//! The extension module `unmix._unmix`: arrays in, models and arrays out.
//!
//! It knows no method by name. What a class is called, which parameters it has and what scikit-learn would say is Python's;
//! what is computed is the library's; here the two meet.

mod call;
mod error;
mod input;
mod model;
mod progress;
mod quality;
mod read;
mod sums;
mod tools;

use call::{FactsTuple, call};
use error::raised;
use input::Input;
use model::Model;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use unmix::METHODS;
use unmix::select::{Criterion, select_components};

#[pymodule]
mod _unmix {
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::quality::quality;
    #[pymodule_export]
    use super::read::read;
    #[pymodule_export]
    use super::sums::Sums;
    #[pymodule_export]
