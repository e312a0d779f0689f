//! Every file format as a source of rows.
//!
//! [`open`] looks at a file's ending and first bytes and gives back its rows ([`AnyRows`]), with what is known of its columns;
//! [`describe`] says in one sweep what is in them. Readers never rescale. Text and compressed files are decoded once, into
//! memory or a temporary file; the others are read in place by positioned reads.
//!
//! ```
//! let path = std::env::temp_dir().join("unmix-io-example.csv");
//! std::fs::write(&path, "height,width,kind\n1.5,2,a\n1.25,3,b\n")?;
//! let options = unmix_io::Options { keep: Some("kind".into()), ..Default::default() };
//! let input = unmix_io::open(&path, &options)?;
//! assert_eq!((input.rows.n_rows(), input.rows.n_features()), (Some(2), 2));
//! assert_eq!(input.rows.features().names, Some(vec!["height".into(), "width".into()]));
//! assert_eq!(input.kept, [("kind".to_string(), vec!["a".to_string(), "b".to_string()])]);
//! # std::fs::remove_file(&path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod array;
mod describe;
mod format;
mod gz;
mod idx;
mod npy;
mod selected;
mod selection;
mod stored;
mod text;

pub use describe::{Column, Description, describe};
pub use format::ENDINGS;

use format::Kind;
use std::path::Path;
use unmix::{AnyRows, Error, Result, Run};

/// How a file is to be read; the default suits files that say all about themselves.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Rows are channels: samples become features.
    pub transpose: bool,
    /// The axis of an n-dimensional array that runs over samples (with `transpose`: over features); the first unless said.
    pub rows_axis: Option<usize>,
    /// Shape of one sample, when the file does not say.
    pub feature_shape: Option<Vec<usize>>,
    /// Columns to read, in this order, as in "a,b,5-9": names or numbers from 0, both ends included. A name wins over a number,
    /// and a name with a comma goes in double quotes. Columns of a text file are those of its lines; of an array, the
    /// features that the other options make of it.
    pub columns: Option<String>,
    /// Columns to leave out.
    pub drop: Option<String>,
    /// Columns that are not features but stay beside the codes, such as labels.
    pub keep: Option<String>,
    /// Whether the first line of a text file holds names; found out when not said.
    pub header: Option<bool>,
    /// Lines of a text file to pass over.
    pub skip_rows: usize,
    /// Names of the features that a model was fitted on. Where the file has names, these columns are the features, in this
    /// order, and others are ignored; where it has none, nothing changes.
    pub wanted: Option<Vec<String>>,
    /// Text in a feature is counted and read as NaN instead of being an error: for looking at a file, not for fitting.
    pub count_text: bool,
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
    /// Names of the columns that would be features, had `wanted` not left them out.
    pub ignored: Vec<String>,
    /// Cells of each feature that are text, where `count_text` asked for it; else empty.
    pub text_cells: Vec<u64>,
}

/// Opens the file at `path`; `-` is the standard input.
///
/// # Errors
///
/// A missing or empty file, a folder, an unknown type; a file that is not what it says, is cut short or promises more than it
/// holds; text in a column that was not left out, rows of unequal length, a first line that may or may not be a header; options
/// that the file cannot meet.
pub fn open(path: &Path, options: &Options) -> Result<Input> {
    open_with(path, options, &Run::default())
}

/// [`open`], with somebody who hears how decoding goes on and may end it.
///
/// # Errors
///
/// Those of [`open`], and [`Error::Interrupted`].
pub fn open_with(path: &Path, options: &Options, run: &Run<'_>) -> Result<Input> {
    let stored = stored::open(path, run)?;
    let found = format::recognise(&stored)?;
    let input = match found.kind {
        Kind::Text(by_ending) => {
            refuse_array_options(options)?;
            text::open(&stored.bytes, found.gz, by_ending, options, run)?
        }
        Kind::Npy | Kind::Idx => {
            refuse_text_options(options, found.kind)?;
            let bytes = if found.gz { gz::unpack(&stored.bytes, run)? } else { stored.bytes };
            match found.kind {
                Kind::Npy => npy::open(bytes, options)?,
                _ => idx::open(bytes, options)?,
            }
        }
    };
    Ok(Input { format: format!("{}{}", found.kind.name(), if found.gz { ".gz" } else { "" }), ..input })
}

fn refuse_array_options(options: &Options) -> Result<()> {
    match options.rows_axis {
        Some(axis) if axis > 0 => Err(Error::setting(
            "rows_axis",
            axis,
            "every line of a text file is a row",
            "to make columns the samples, transpose",
        )),
        _ => Ok(()),
    }
}

fn refuse_text_options(options: &Options, kind: Kind) -> Result<()> {
    let refused = |name: &str, got: String| {
        let why = format!("the input is of type {}, which has no lines", kind.name());
        Err(Error::setting(name, got, why, "leave it out: it is for text files"))
    };
    match (options.header, options.skip_rows) {
        (Some(header), _) => refused("header", header.to_string()),
        (None, n) if n > 0 => refused("skip_rows", n.to_string()),
        _ => Ok(()),
    }
}

/// Tells the listener how far a file has been read, in rows; an error when the person has asked to stop.
fn progress(run: &Run<'_>, rows: u64) -> Result<()> {
    run.watch.event(unmix::Event::Sweep { stage: "reading", done: rows, total: None });
    if run.watch.interrupted() { Err(Error::Interrupted) } else { Ok(()) }
}
