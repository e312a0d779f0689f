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
mod key;
mod npy;
mod npz;
mod options;
mod safetensors;
mod selected;
mod selection;
mod stored;
mod text;

pub use describe::{Column, Description, describe};
pub use format::ENDINGS;
pub use options::Options;

use format::Kind;
use std::path::Path;
use unmix::{AnyRows, Error, Result, Run};

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
    options.suit(found.kind)?;
    let input = match found.kind {
        Kind::Text(by_ending) => text::open(&stored.bytes, found.gz, by_ending, options, run)?,
        kind => {
            let bytes = if found.gz { gz::unpack(&stored.bytes, run)? } else { stored.bytes };
            match kind {
                Kind::Npz => npz::open(bytes, options, run)?,
                Kind::Safetensors => safetensors::open(bytes, options, run)?,
                Kind::Idx => idx::open(bytes, options)?,
                _ => npy::open(bytes, options)?,
            }
        }
    };
    Ok(Input { format: format!("{}{}", found.kind.name(), if found.gz { ".gz" } else { "" }), ..input })
}

/// Tells the listener how far a file has been read, in rows; an error when the person has asked to stop.
fn progress(run: &Run<'_>, rows: u64) -> Result<()> {
    run.watch.event(unmix::Event::Sweep { stage: "reading", done: rows, total: None });
    if run.watch.interrupted() { Err(Error::Interrupted) } else { Ok(()) }
}
