//! Rows whose number type, `f32` or `f64`, is known only at run time.

use super::raw::RawArray;
use super::rows::{Features, Rows};
use crate::error::{Error, Result};
use crate::num::Dtype;
use crate::run::Run;
use std::borrow::Cow;

/// Rows whose type is known at run time only.
pub enum AnyRows<'a> {
    /// Single precision.
    F32(Rows<'a, f32>),
    /// Double precision.
    F64(Rows<'a, f64>),
}

/// Evaluates an expression for rows of either type.
#[macro_export]
macro_rules! with_rows {
    ($any:expr, $rows:ident => $body:expr) => {
        match $any {
            $crate::data::AnyRows::F32($rows) => $body,
            $crate::data::AnyRows::F64($rows) => $body,
        }
    };
}

impl<'a> From<Rows<'a, f32>> for AnyRows<'a> {
    fn from(rows: Rows<'a, f32>) -> Self {
        AnyRows::F32(rows)
    }
}

impl<'a> From<Rows<'a, f64>> for AnyRows<'a> {
    fn from(rows: Rows<'a, f64>) -> Self {
        AnyRows::F64(rows)
    }
}

impl<'a> AnyRows<'a> {
    /// Rows of an array of any number type, in the type in which they are computed.
    pub fn from_array(array: RawArray<'a>, features: Features, origin: impl Into<String>) -> Self {
        match array.number().computed_in() {
            Dtype::F32 => AnyRows::F32(Rows::new(array, features, origin)),
            Dtype::F64 => AnyRows::F64(Rows::new(array, features, origin)),
        }
    }

    /// The type of the numbers.
    pub fn dtype(&self) -> Dtype {
        match self {
            AnyRows::F32(_) => Dtype::F32,
            AnyRows::F64(_) => Dtype::F64,
        }
    }

    /// Number of columns.
    pub fn n_features(&self) -> usize {
        with_rows!(self, rows => rows.n_features())
    }

    /// Number of rows, when known.
    pub fn n_rows(&self) -> Option<u64> {
        with_rows!(self, rows => rows.n_rows())
    }

    /// Names and shape of the columns.
    pub fn features(&self) -> &Features {
        with_rows!(self, rows => rows.features())
    }

    /// Origin of the rows, for messages.
    pub fn origin(&self) -> &str {
        with_rows!(self, rows => rows.origin())
    }

    /// The same rows with these column names.
    ///
    /// # Errors
    ///
    /// A number of names that differs from the number of columns, duplicate names, columns that have names already.
    pub fn named(self, names: Vec<String>) -> Result<Self> {
        let refused = |why: String| {
            let remedy = "give one distinct name for each column, and only where the columns have no names";
            Err(Error::setting("names", format!("{} names", names.len()), why, remedy))
        };
        if self.features().names.is_some() {
            return refused(format!("the columns of {} have names", self.origin()));
        }
        if names.len() != self.n_features() {
            return refused(format!("there are {} columns", self.n_features()));
        }
        if let Some(twice) = (1..names.len()).find(|&j| names[..j].contains(&names[j])) {
            return refused(format!("'{}' is given twice", names[twice]));
        }
        Ok(match self {
            AnyRows::F32(rows) => AnyRows::F32(rows.with_names(names)),
            AnyRows::F64(rows) => AnyRows::F64(rows.with_names(names)),
        })
    }

    /// See [`Rows::weighted`].
    pub fn weighted(self, weights: impl Into<Cow<'a, [f64]>>) -> Result<Self> {
        Ok(match self {
            AnyRows::F32(rows) => AnyRows::F32(rows.weighted(weights)?),
            AnyRows::F64(rows) => AnyRows::F64(rows.weighted(weights)?),
        })
    }

    /// See [`Rows::with_notes`].
    pub fn with_notes(self, notes: Vec<String>) -> Self {
        match self {
            AnyRows::F32(rows) => AnyRows::F32(rows.with_notes(notes)),
            AnyRows::F64(rows) => AnyRows::F64(rows.with_notes(notes)),
        }
    }

    /// See [`Rows::notes`].
    pub fn notes(&self) -> &[String] {
        with_rows!(self, rows => rows.notes())
    }

    /// See [`Rows::settle`].
    pub fn settle(&mut self, run: &Run<'_>) -> Result<()> {
        with_rows!(self, rows => rows.settle(run))
    }
}
