//! Conversion of errors to Python exceptions.

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use unmix::{Caller, Dtype, Error};

/// Converts `error` to the exception that numpy and scikit-learn raise in such a case.
///
/// Every class here is a scikit-learn estimator, so numbers that are not finite are reported with scikit-learn's sentence first,
/// followed by the one with row and column. `dtype` is the type of the rows.
///
/// The fields of the error are attributes of the exception: `row` and `column` of a number that is not finite, `line` of a text file, `need`
/// and `got`, the name of a `setting`.
pub(crate) fn raised(error: Error, dtype: Dtype) -> PyErr {
    let known = numbers(&error);
    let names = [("column_name", name(&error)), ("setting", setting(&error))];
    let names = names.map(|(attribute, name)| (attribute, name.map(str::to_owned)));
    let exception = exception(error, dtype);
    Python::attach(|py| {
        let value = exception.value(py);
        // A failure to set an attribute is ignored: the message contains the same number.
        for (attribute, number) in known {
            let _ = value.setattr(attribute, number);
        }
        for (attribute, name) in names {
            if let Some(name) = name {
                let _ = value.setattr(attribute, name);
            }
        }
    });
    exception
}

/// A message in the syntax of Python.
pub(crate) fn in_python(message: &str) -> String {
    Caller::Python.message(message)
}

/// A report as JSON, with its warnings in the syntax of Python.
pub(crate) fn report(mut report: serde_json::Value) -> serde_json::Value {
    if let Some(warnings) = report.get_mut("warnings").and_then(|w| w.as_array_mut()) {
        for warning in warnings {
            if let Some(text) = warning.as_str() {
                *warning = in_python(text).into();
            }
        }
    }
    report
}

/// The numbers in an error, by name.
fn numbers(error: &Error) -> Vec<(&'static str, u64)> {
    let all = match error {
        Error::NotFinite { row, column, .. } => vec![("row", Some(*row)), ("column", Some(*column as u64))],
        Error::TooFewRows { need, got, .. } => vec![("need", Some(*need)), ("got", Some(*got))],
        Error::Width { need, got, .. } => vec![("need", Some(*need as u64)), ("got", Some(*got as u64))],
        Error::Memory { need_bytes, have_bytes, .. } => {
            vec![("need", Some(*need_bytes)), ("got", Some(*have_bytes))]
        }
        Error::Format { details, .. } => vec![
            ("line", details.line),
            ("row", details.row),
            ("column", details.column.map(|column| column as u64)),
            ("byte", details.byte),
            ("need", details.need),
            ("got", details.got),
        ],
        _ => vec![],
    };
    all.into_iter().filter_map(|(attribute, number)| Some((attribute, number?))).collect()
}

/// The name of the column that an error is about.
fn name(error: &Error) -> Option<&str> {
    match error {
        Error::NotFinite { name, .. } => name.as_deref(),
        Error::Format { details, .. } => details.name.as_deref(),
        _ => None,
    }
}

/// The setting that an error is about.
fn setting(error: &Error) -> Option<&str> {
    match error {
        Error::Setting { name, .. } => Some(name),
        _ => None,
    }
}

fn exception(error: Error, dtype: Dtype) -> PyErr {
    let sentence = in_python(&error.to_string());
    match error {
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Memory { .. } => PyMemoryError::new_err(sentence),
        Error::Io { source, .. } => match source.raw_os_error() {
            // Python chooses the subclass, as in FileNotFoundError, by the error number.
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

/// The exception for a panic, which is a bug in this library.
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
