//! What an error found, as values.

use std::path::PathBuf;

/// What the message of an error about a file or about a request names, as values: its position, what was expected and found, and what would
/// work. `None`, or empty, where it does not apply. Lines count from 1, as in messages, all else from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorDetails {
    /// Line of a text file.
    pub line: Option<u64>,
    /// Row.
    pub row: Option<u64>,
    /// Column.
    pub column: Option<usize>,
    /// The column's name, where it has one.
    pub name: Option<String>,
    /// The text in the cell, as in the message.
    pub cell: Option<String>,
    /// Name of the array or tensor in the file.
    pub array: Option<String>,
    /// Byte.
    pub byte: Option<u64>,
    /// Expected number of what the message counts: cells, rows, columns, components, bytes.
    pub need: Option<u64>,
    /// The number found.
    pub got: Option<u64>,
    /// The other file, with which this one does not agree.
    pub other: Option<PathBuf>,
    /// The version of unmix that wrote the file, where this one cannot read it.
    pub version: Option<String>,
    /// Key of the method of which the request was made, or of whose model.
    pub method: Option<String>,
    /// Keys of the methods with which the request works. Fits fill it where the registry of methods answers which these are; for errors of a model,
    /// [`with_methods`](crate::method::with_methods) does.
    pub works: Vec<String>,
    /// What these methods have in common, until `with_methods` has replaced it by their keys.
    pub(crate) needed: Option<Needed>,
}

/// What a method needs so that a refused request works, as its entry in the registry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needed {
    /// It takes sparse rows.
    Sparse,
    /// It takes rows with weights.
    Weights,
    /// It takes rows held by remote workers.
    Remote,
    /// It has a likelihood.
    Likelihood,
    /// It has a likelihood and takes missing cells.
    LikelihoodOfCells,
    /// It is computed from sums over the rows.
    Sums,
    /// It is fitted incrementally.
    Batches,
    /// Its codes are posterior means of a Gaussian model.
    Posteriors,
    /// It fills missing cells.
    Fills,
    /// Its codes have an l1 penalty with a weight.
    Path,
    /// It has variances along orthonormal axes.
    Axes,
    /// Its codes are non-negative and determine rows.
    NonNegative,
}
