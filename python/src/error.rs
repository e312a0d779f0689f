//! Errors as Python raises them.

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use unmix::{Dtype, Error};

/// `error` as the exception that numpy and scikit-learn raise in its place.
///
/// Every class here is a scikit-learn estimator, so numbers that are not finite are reported in scikit-learn's sentence first;
/// ours, with row and column, follows. `dtype` is the type of the rows.
pub(crate) fn raised(error: Error, dtype: Dtype) -> PyErr {
    let sentence = error.to_string();
    match error {
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Memory { .. } => PyMemoryError::new_err(sentence),
        Error::Io { source, .. } => match source.raw_os_error() {
            // Python chooses the subclass, as in FileNotFoundError, by the number.
            Some(number) => PyOSError::new_err((number, sentence)),
            None => PyOSError::new_err(sentence),
        },
        Error::NotFinite { what: "NaN", .. } => {
            PyValueError::new_err(format!("Input X contains NaN.\n{sentence}"))
        }
        Error::NotFinite { .. } => PyValueError::new_err(format!(
            "Input X contains infinity or a value too large for dtype('{}').\n{sentence}",
            dtype.name()
        )),
        _ => PyValueError::new_err(sentence),
    }
}

/// The exception for a mistake of ours, which is never the person's.
pub(crate) fn broken(panic: &(dyn std::any::Any + Send)) -> PyErr {
    let said = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no reason given");
    PyRuntimeError::new_err(format!(
        "this is a bug in unmix ({said}); please report it with the shape and type of the data"
    ))
}
