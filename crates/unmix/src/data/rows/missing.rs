//! The meaning of NaN: a missing cell, or an error. A fit sets it from the registry when it begins; without a fit NaN is an error.
//!
//! No pass is made to look for NaN: it is noticed in the sums of a fit, or where the rows are read.

use super::Rows;
use crate::error::{Error, Result};
use crate::num::Real;
use crate::run::{Run, Silent};
use crate::stats::gaps::GatherObserved;

impl<T: Real> Rows<'_, T> {
    /// Sets whether NaN is a missing cell of these rows, or an error.
    pub(crate) fn accept_missing(&mut self, accepted: bool) {
        self.missing = accepted;
    }

    /// Whether `x` is a missing cell of these rows.
    pub(crate) fn is_missing(&self, x: f64) -> bool {
        self.missing && x.is_nan()
    }

    /// Whether `found` is the error about a NaN that is a missing cell of these rows, so that the fit continues with the observed cells.
    /// Sparse rows have no missing cells.
    pub(crate) fn is_about_missing(&self, found: &Error) -> bool {
        self.missing && !self.is_sparse() && matches!(found, Error::NotFinite { what: "NaN", .. })
    }

    /// Refuses rows of which a sum over the observed cells found fewer than all, unless NaN is a missing cell of them.
    pub(crate) fn check_missing(&self, method: &str, found: bool) -> Result<()> {
        if found && !self.missing { Err(self.not_finite(method)) } else { Ok(()) }
    }

    /// The error that names the first number that a fit does not accept: an infinite one, or NaN, unless it is a missing cell. If there is none,
    /// squares overflow.
    pub(crate) fn not_accepted(&self, method: &str) -> Error {
        if self.missing { self.infinite(method) } else { self.not_finite(method) }
    }

    /// The error that names the first infinite number; if there is none, squares overflow. NaN is a missing cell. A pass over the rows.
    pub(crate) fn infinite(&self, method: &str) -> Error {
        let run = Run { observer: &Silent, threads: 1, ..Run::default() };
        match self.sweep(&run, "range", &GatherObserved).map(|observed| observed.infinite) {
            Err(e) => e,
            Ok(None) => Error::Overflow { method: method.into(), dtype: T::DTYPE.name() },
            Ok(Some((row, column, x))) => self.not_finite_at(method, row, column as usize, x),
        }
    }
}
