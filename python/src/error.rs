//! Conversion of errors to Python exceptions.

use pyo3::exceptions::{
    PyBaseException, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;
use std::path::Path;
use unmix::method::with_methods;
use unmix::{Caller, Dtype, Error, ErrorDetails};

/// Converts `error` to the exception that numpy and scikit-learn raise in such a case.
///
/// Every class here is a scikit-learn estimator, so numbers that are not finite are reported with scikit-learn's sentence first,
/// followed by the one with row and column. `dtype` is the type of the rows.
///
/// The fields of the error are attributes of the exception, as docs/scikit-learn.md lists them.
pub(crate) fn raised(error: Error, dtype: Dtype) -> PyErr {
    let error = with_methods(error);
    let exception = exception(&error, dtype);
    // A failure to set an attribute is ignored: the message contains the same fact.
    Python::attach(|py| {
        let _ = Raised(exception.value(py)).set_facts(&error);
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

/// An exception whose attributes are set.
struct Raised<'a, 'py>(&'a Bound<'py, PyBaseException>);

impl Raised<'_, '_> {
    /// Sets a sentence or a part of one, in the syntax of Python; empty ones are left out.
    fn text(&self, attribute: &str, text: &str) -> PyResult<()> {
        if text.is_empty() { Ok(()) } else { self.0.setattr(attribute, in_python(text)) }
    }

    /// Sets the name of a method, a column or a setting, as it is.
    fn name(&self, attribute: &str, name: Option<&str>) -> PyResult<()> {
        name.map_or(Ok(()), |name| self.0.setattr(attribute, name))
    }

    fn path(&self, path: &Path) -> PyResult<()> {
        self.0.setattr("path", path.as_os_str())
    }

    fn number(&self, attribute: &str, number: Option<u64>) -> PyResult<()> {
        number.map_or(Ok(()), |number| self.0.setattr(attribute, number))
    }

    /// Sets the numbers that are required and found.
    fn need(&self, need: u64, got: u64) -> PyResult<()> {
        self.number("need", Some(need))?;
        self.number("got", Some(got))
    }

    /// Sets the fields of `error`; those that do not apply are left out.
    fn set_facts(&self, error: &Error) -> PyResult<()> {
        match error {
            Error::NotFinite { .. }
            | Error::Overflow { .. }
            | Error::TooFewRows { .. }
            | Error::NoVariance { .. }
            | Error::Width { .. } => self.about_rows(error),
            Error::Format { .. } | Error::Io { .. } | Error::Exists { .. } => self.about_file(error),
            _ => self.about_request(error),
        }
    }

    fn about_rows(&self, error: &Error) -> PyResult<()> {
        match error {
            Error::NotFinite { method, row, column, name, what } => {
                self.name("method", Some(method))?;
                self.number("row", Some(*row))?;
                self.number("column", Some(*column as u64))?;
                self.name("column_name", name.as_deref())?;
                self.name("what", Some(what))
            }
            Error::Overflow { method, dtype } => {
                self.name("method", Some(method))?;
                self.name("dtype", Some(dtype))
            }
            Error::TooFewRows { method, need, got, what, remedy } => {
                self.name("method", Some(method))?;
                self.need(*need, *got)?;
                self.text("what", what)?;
                self.text("remedy", remedy)
            }
            Error::NoVariance { method, n_features, n_samples } => {
                self.name("method", Some(method))?;
                self.number("n_features", Some(*n_features as u64))?;
                self.number("n_samples", Some(*n_samples))
            }
            Error::Width { what, need, got, remedy } => {
                self.need(*need as u64, *got as u64)?;
                self.text("what", what)?;
                self.text("remedy", remedy)
            }
            _ => Ok(()),
        }
    }

    fn about_request(&self, error: &Error) -> PyResult<()> {
        match error {
            Error::Setting { name, got, why, remedy } => {
                self.name("setting", Some(name))?;
                self.text("got", got)?;
                self.text("why", why)?;
                self.text("remedy", remedy)
            }
            Error::Unknown { kind, got, suggestion, known } => {
                self.name("kind", Some(kind))?;
                self.name("name", Some(got))?;
                self.name("suggestion", suggestion.as_deref())?;
                self.0.setattr("known", known.clone())
            }
            Error::Unsupported { asked, found, details, remedy } => {
                self.text("requested", asked)?;
                self.text("found", found)?;
                self.text("remedy", remedy)?;
                self.details(details)
            }
            Error::Memory { what, need_bytes, have_bytes, remedy } => {
                self.need(*need_bytes, *have_bytes)?;
                self.text("what", what)?;
                self.text("remedy", remedy)
            }
            Error::Factorisation { what } => self.text("what", what),
            _ => Ok(()),
        }
    }

    fn details(&self, details: &ErrorDetails) -> PyResult<()> {
        self.name("column_name", details.name.as_deref())?;
        self.name("cell", details.cell.as_deref())?;
        self.name("array", details.array.as_deref())?;
        self.name("version", details.version.as_deref())?;
        self.name("method", details.method.as_deref())?;
        if !details.works.is_empty() {
            self.0.setattr("works", details.works.clone())?;
        }
        self.number("line", details.line)?;
        self.number("row", details.row)?;
        self.number("column", details.column.map(|column| column as u64))?;
        self.number("byte", details.byte)?;
        self.number("need", details.need)?;
        self.number("got", details.got)?;
        details.other.as_ref().map_or(Ok(()), |other| self.0.setattr("other", other.as_os_str()))
    }

    fn about_file(&self, error: &Error) -> PyResult<()> {
        match error {
            Error::Format { path, found, details, remedy } => {
                self.path(path)?;
                self.text("found", found)?;
                self.text("remedy", remedy)?;
                self.details(details)
            }
            Error::Io { what, path, .. } => {
                self.path(path)?;
                self.name("what", Some(what))
            }
            Error::Exists { path } => self.path(path),
            _ => Ok(()),
        }
    }
}

fn exception(error: &Error, dtype: Dtype) -> PyErr {
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
