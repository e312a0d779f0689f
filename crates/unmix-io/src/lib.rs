//! Every file format as a source of rows.
//!
//! [`open`] looks at a file's ending and first bytes and gives back its rows ([`AnyRows`]), with what is known of its columns.
//! Readers never rescale. Text and compressed files are decoded once, into memory or a temporary file; the others are read in
//! place by positioned reads.

use std::path::Path;
use unmix::{AnyRows, Result};

/// How a file is to be read; the default suits files that say all about themselves.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Rows are channels: samples become features.
    pub transpose: bool,
    /// The axis of an n-dimensional array that runs over samples.
    pub rows_axis: Option<usize>,
    /// Shape of one sample, when the file does not say.
    pub feature_shape: Option<Vec<usize>>,
    /// Columns to read, as in "a,b,5-9": names or numbers from 0, both ends included.
    pub columns: Option<String>,
    /// Columns to leave out.
    pub drop: Option<String>,
    /// Columns that are not features but stay beside the codes, such as labels.
    pub keep: Option<String>,
    /// Whether the first line of a text file holds names; found out when not said.
    pub header: Option<bool>,
    /// Lines of a text file to pass over.
    pub skip_rows: usize,
}

/// An opened file.
pub struct Input {
    /// Its rows.
    pub rows: AnyRows<'static>,
    /// Format, as in "npy" or "csv.gz".
    pub format: String,
    /// How numbers are stored, as in "uint8" or "text".
    pub stored: String,
    /// Length of every axis as stored, before transposing and flattening; the first is `None` while it is not known.
    pub shape: Vec<Option<u64>>,
    /// Columns asked for by `keep`, as text, cell by cell: name, and one value a row.
    pub kept: Vec<(String, Vec<String>)>,
}

/// Opens the file at `path`.
pub fn open(_path: &Path, _options: &Options) -> Result<Input> {
    todo!()
}
