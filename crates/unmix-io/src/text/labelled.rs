//! The numbers of a table as rows, and the cells and names that belong to them.

use super::Table;
use super::plain::Numbers;
use crate::transposed::{self, TransposedFeatures};
use crate::{Options, array};
use std::path::Path;
use unmix::data::OwnedRows;
use unmix::{AnyRows, Features, Result, Rows};

/// Rows, and what belongs to them: as in [`Input`](crate::Input).
pub(super) struct Labelled {
    pub(super) rows: AnyRows<'static>,
    pub(super) kept: Vec<(String, Vec<String>)>,
    pub(super) row_names: Option<Vec<String>>,
    pub(super) ignored: Vec<String>,
}

impl Table<'_> {
    /// The name of column `j`, or its number.
    pub(super) fn name(&self, j: usize) -> String {
        self.names.as_ref().map_or_else(|| j.to_string(), |names| names[j].clone())
    }

    /// The names of the columns of features, where columns have names.
    fn feature_names(&self) -> Option<Vec<String>> {
        let chosen = |names: &Vec<String>| match &self.selection.features {
            None => names.clone(),
            Some(features) => features.iter().map(|&j| names[j].clone()).collect(),
        };
        self.names.as_ref().map(chosen)
    }

    /// Lines as rows; `kept` are the cells of the columns that are kept, `levels` the names of the rows.
    pub(super) fn along(
        &self,
        numbers: Numbers,
        kept: Vec<Vec<String>>,
        levels: Option<Vec<String>>,
        options: &Options,
    ) -> Result<Labelled> {
        let width = self.n_features();
        let shape = array::feature_shape(options, None, width)?;
        let own = Features { names: self.feature_names(), shape };
        Ok(Labelled {
            rows: rows_of(numbers, width, own, self.bytes.path())?,
            kept: self.selection.kept.iter().map(|&j| self.name(j)).zip(kept).collect(),
            row_names: levels,
            ignored: self.selection.ignored.iter().map(|&j| self.name(j)).collect(),
        })
    }

    /// Lines as columns; `levels` are their names.
    pub(super) fn across(
        &self,
        numbers: Numbers,
        levels: Option<Vec<String>>,
        options: &Options,
    ) -> Result<Labelled> {
        let (path, names) = (self.bytes.path(), self.feature_names());
        let array = numbers.spooled(path)?.into_rows::<f64>(self.n_features())?.transposed();
        let across = TransposedFeatures::new(levels, options)?;
        let n_features = across.columns.as_ref().map_or(array.features().len() as usize, Vec::len);
        let shape = array::feature_shape(options, None, n_features)?;
        Ok(Labelled {
            rows: array::rows(array, across.columns, Features { names: across.names, shape }, path),
            kept: transposed::kept(options, names.as_deref()),
            row_names: names.filter(|_| options.row_names),
            ignored: across.ignored,
        })
    }
}

/// Numbers as rows of `width` columns.
fn rows_of(numbers: Numbers, width: usize, own: Features, path: &Path) -> Result<AnyRows<'static>> {
    match numbers {
        Numbers::Held(numbers) => {
            let rows = OwnedRows::new(numbers, width)?;
            Ok(AnyRows::F64(Rows::new(rows, own, path.display().to_string())))
        }
        spooled => Ok(array::rows(spooled.spooled(path)?.into_rows::<f64>(width)?, None, own, path)),
    }
}
