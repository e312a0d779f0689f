//! Rows whose number type, `f32` or `f64`, is known at run time only.

use super::raw::RawArray;
use super::rows::values::UsedRows;
use super::rows::{Features, Rows, SelectedRows};
use crate::error::{Error, Result, counted};
use crate::num::Dtype;
use crate::run::Run;
use std::borrow::Cow;
use std::collections::HashSet;

/// Rows whose type is known at run time only.
///
/// Exhaustive: computations are in one of the two types of [`Real`](crate::Real), and callers match both, as [`with_rows!`](crate::with_rows) does.
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

    /// Number of rows, if it is known without reading them.
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
        self.check_names(&names)?;
        Ok(match self {
            AnyRows::F32(rows) => AnyRows::F32(rows.with_names(names)),
            AnyRows::F64(rows) => AnyRows::F64(rows.with_names(names)),
        })
    }

    /// Whether the columns can be given these names.
    ///
    /// # Errors
    ///
    /// Those of [`named`](Self::named).
    pub fn check_names(&self, names: &[String]) -> Result<()> {
        let refused = |got: String, why: String, remedy: &str| Err(Error::setting("names", got, why, remedy));
        let (n, given) = (names.len(), counted(names.len() as u64, "name"));
        if self.features().names.is_some() {
            let why = format!("the columns of {} have names already", self.origin());
            return refused(given, why, "give names only for columns without names");
        }
        if n != self.n_features() {
            let why = match self.n_features() {
                1 => "must be one name, that of the only column".to_string(),
                p => format!("must have one name for each of the {p} columns"),
            };
            return refused(given, why, "");
        }
        let repeated = {
            let mut seen = HashSet::with_capacity(n);
            names.iter().find(|name| !seen.insert(name.as_str()))
        };
        match repeated {
            None => Ok(()),
            Some(repeated) => {
                let got = format!("'{repeated}' more than once");
                refused(got, "must be distinct".into(), "give every column a name of its own")
            }
        }
    }

    /// See [`Rows::weighted`].
    ///
    /// # Errors
    ///
    /// Those of [`Rows::weighted`].
    pub fn weighted(self, weights: impl Into<Cow<'a, [f64]>>) -> Result<Self> {
        Ok(match self {
            AnyRows::F32(rows) => AnyRows::F32(rows.weighted(weights)?),
            AnyRows::F64(rows) => AnyRows::F64(rows.weighted(weights)?),
        })
    }

    /// See [`Rows::selected`].
    pub fn selected(self, selected: SelectedRows) -> Self {
        match self {
            AnyRows::F32(rows) => AnyRows::F32(rows.selected(selected)),
            AnyRows::F64(rows) => AnyRows::F64(rows.selected(selected)),
        }
    }

    /// See [`Rows::selection`].
    pub fn selection(&self) -> Option<&SelectedRows> {
        with_rows!(self, rows => rows.selection())
    }

    /// See [`Rows::used`].
    #[doc(hidden)]
    pub fn used(&self) -> UsedRows<'_> {
        with_rows!(self, rows => rows.used())
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

    /// See [`Rows::prepare`].
    ///
    /// # Errors
    ///
    /// Those of [`Rows::prepare`].
    pub fn prepare(&mut self, run: &Run<'_>) -> Result<()> {
        with_rows!(self, rows => rows.prepare(run))
    }
}
