//! Readers of the supported file formats, as sources of rows.
//!
//! [`open`] detects the format from a file's extension and first bytes, unless [`Options::input_format`] names it, and returns its rows
//! ([`AnyRows`]), with information on its columns; [`describe`] computes statistics of every column in one sweep. Pixels are read as
//! 0 to 1 and samples of sound as -1 to 1; other numbers are not rescaled. Text and compressed files are decoded
//! once, into memory or a temporary file; the others are read in place by positioned reads.
//!
//! Readers with large libraries are behind features, both of them on by default: `tables` (Parquet, Arrow) and `images`.
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

// Used only by readers that are not built in.
#![cfg_attr(not(all(feature = "tables", feature = "images")), allow(dead_code))]

mod array;
#[cfg(feature = "tables")]
mod arrow;
mod assembly;
#[cfg(feature = "tables")]
mod cells;
#[cfg(feature = "tables")]
mod columns;
#[cfg(feature = "tables")]
mod declared_lengths;
mod describe;
mod files;
mod foreign;
mod format;
mod guard;
mod gz;
mod idx;
#[cfg(feature = "images")]
mod image;
mod index;
#[cfg(feature = "images")]
mod jpeg;
mod key;
mod labels;
#[cfg(feature = "tables")]
mod lists;
mod names;
mod npy;
mod npz;
mod options;
#[cfg(feature = "tables")]
mod pages;
#[cfg(feature = "tables")]
mod parquet;
mod patches;
mod paths;
mod reading_options;
mod row_selection;
mod safetensors;
mod selected;
mod selection;
mod sparse;
mod sparse_writer;
mod stack;
mod stored;
#[cfg(feature = "tables")]
mod table;
mod text;
mod transposed;
mod triplets;
mod wav;
mod wording;

// Notes on inputs, labels of rows, names, compressed text and the wording of messages, for the program and the Python package, which show them.
#[doc(hidden)]
pub use array::note_on_axes;
#[doc(hidden)]
pub use format::text;
#[doc(hidden)]
pub use labels::{LabelFile, Labels, labels_in_column, labels_of};
#[doc(hidden)]
pub use names::{have_names, named};
#[doc(hidden)]
pub use text::check_quotations;
#[doc(hidden)]
pub use triplets::note_on_requested_cells;
#[doc(hidden)]
pub use wording::{Wording, path_argument};
// For the tests of the program and the Python package, which compare the options that they take with this table.
#[doc(hidden)]
pub use reading_options::{READING_OPTIONS, ReadingOption};
// For their hooks on panics, which must not report one that a reader turns into an error.
#[doc(hidden)]
pub use guard::panic_is_caught;

pub use assembly::{Assembly, CutImages, Picture};
pub use describe::{Column, Description, describe};
pub use files::{About, Files, first_rows, is_read_once};
pub use format::{ENDINGS, InputFormat};
#[cfg(feature = "images")]
pub use image::write_png;
pub use options::{Missing, Options, Patches, Pixels};
pub use paths::expand;
pub use paths::is_image;
pub use sparse_writer::SparseWriter;
pub use triplets::open_triplets;
pub use wav::{sample_rate, write_wav};

use format::{Kind, Recognised};
use std::path::{Path, PathBuf};
use stored::{Opener, Stored};
use text::Among;
use unmix::data::Bytes;
use unmix::{AnyRows, Error, Result, Run};

/// An opened file.
#[non_exhaustive]
pub struct Input {
    /// Its rows.
    pub rows: AnyRows<'static>,
    /// Format, as in "npy" or "csv.gz".
    pub format: String,
    /// How numbers are stored, as in "uint8" or "text".
    pub stored: String,
    /// Length of every axis as stored, before transposing and flattening; the first is `None` while it is not known.
    pub shape: Vec<Option<u64>>,
    /// Columns requested by `keep`, as text, cell by cell: name, and one value a row. Of a transposed table, whose kept column names the
    /// features, the names of its rows.
    pub kept: Vec<(String, Vec<String>)>,
    /// Names of the rows, from the index of a table, or of a transposed one from its header, where `row_names` requested them and there
    /// are any.
    pub row_names: Option<Vec<String>>,
    /// Names of the columns that would be features, had `wanted` not left them out.
    pub ignored: Vec<String>,
    /// Cells of each feature that are text, where `count_text` requested it; else empty.
    pub text_cells: Vec<u64>,
    /// Those of them that are numbers with a decimal comma.
    pub comma_cells: u64,
    /// Whether commas separate the cells of the text, so that those within cells cannot be read as decimal marks.
    pub commas_separate: bool,
    /// The pictures that the rows are patches of, where they are all patches and all pixels of each.
    pub patches: Option<CutImages>,
    /// Of each text file that was read in part, what counts its rows after the last one that was requested.
    pub(crate) unread: Vec<CountRows>,
}

/// Counts rows of a file that were not read.
pub(crate) type CountRows = Box<dyn Fn() -> Result<u64> + Send + Sync>;

/// Opens the file at `path`; `-` is the standard input.
///
/// # Errors
///
/// A missing or empty file, a folder, an unknown type; a corrupt or truncated file, or one that declares more than it holds; text
/// in a column that was not left out, rows of unequal length, a first line that may or may not be a header; options that the file
/// cannot meet.
pub fn open(path: &Path, options: &Options) -> Result<Input> {
    open_with(path, options, &Run::default())
}

/// [`open`] with a progress observer, which may interrupt it.
///
/// # Errors
///
/// Those of [`open`], and [`Error::Interrupted`].
pub fn open_with(path: &Path, options: &Options, run: &Run<'_>) -> Result<Input> {
    open_many(&[path], options, run)
}

/// Opens several files as one: their rows one file after the other, in the order given; channels of `.wav` files side by side.
/// A folder means the images in it, or its tables of one format; a pattern such as `part-*.npy` the matching files; both sorted by name.
///
/// # Errors
///
/// Those of [`open_with`]; no file at all; files whose columns differ in number, name or shape; recordings that differ in rate
/// or length; images that differ in size or colours.
pub fn open_many(paths: &[impl AsRef<Path>], options: &Options, run: &Run<'_>) -> Result<Input> {
    open_files(&paths::expand(paths, options.input_format)?, &stored::open, options, run)
}

/// [`open_many`] of files that `open` opens.
fn open_files(files: &[PathBuf], open: Opener<'_>, options: &Options, run: &Run<'_>) -> Result<Input> {
    match options.triplets {
        true => triplets::rows(triplets::lines(files, open, options, run)?, options.n_features),
        false => chosen(files, open, options, run),
    }
}

/// The rows of these files that `options` select.
fn chosen(files: &[PathBuf], open: Opener<'_>, options: &Options, run: &Run<'_>) -> Result<Input> {
    let mut input = row_selection::choose(all_rows(files, open, options, run)?, options, run)?;
    let what = match options.triplets {
        true => "lines",
        false if input.format == "wav" => "channels",
        false => "rows",
    };
    if let Some(note) = paths::note_on_repeated(files, what) {
        let notes = input.rows.notes().iter().cloned().chain([note]).collect();
        input.rows = input.rows.with_notes(notes);
    }
    Ok(input)
}

/// The rows of these files, all of them, in the type of the files.
fn all_rows(files: &[PathBuf], open: Opener<'_>, options: &Options, run: &Run<'_>) -> Result<Input> {
    let Some(first) = files.first() else {
        return Err(Error::format("the input", "no file was given", "give at least one"));
    };
    let stored = open(first, run)?;
    let found = format::recognise(&stored, options)?;
    if found.kind == Kind::Image {
        options.check_kind(Kind::Image)?;
        #[cfg(not(feature = "images"))]
        return Err(left_out(&stored, Kind::Image, "images", "convert the images to .npy"));
        #[cfg(feature = "images")]
        {
            let first = if stored.nameless { Some(stored.bytes) } else { None };
            return Ok(Input { format: "image".into(), ..image::open(first, files, options, run)? });
        }
    }
    let mut opened = vec![(stored, found)];
    for file in &files[1..] {
        let stored = open(file, run)?;
        let found = format::recognise(&stored, options)?;
        opened.push((stored, found));
    }
    if let Some((other, found)) =
        opened.iter().find(|(_, f)| (f.kind == Kind::Wav) != (opened[0].1.kind == Kind::Wav))
    {
        let (own, first) = (found.kind.name(), opened[0].1.kind.name());
        let found = format!("it is of type {own}, but {} is of type {first}", files[0].display());
        return Err(Error::format(other.bytes.path(), found, "give files of one type")
            .with(|details| details.other = Some(files[0].clone())));
    }
    if opened[0].1.kind == Kind::Wav {
        options.check_kind(Kind::Wav)?;
        let nameless = opened.iter().any(|(stored, _)| stored.nameless);
        let bytes = opened
            .into_iter()
            .map(|(stored, found)| plain(stored, &found, run))
            .collect::<Result<Vec<_>>>()?;
        return Ok(Input { format: "wav".into(), ..wav::open(&bytes, nameless, options, run)? });
    }
    let among = among(&opened, options, run)?;
    let mut inputs = Vec::new();
    for (stored, found) in opened {
        inputs.push(one(stored, found, among, options, run)?);
    }
    match inputs.pop() {
        Some(input) if inputs.is_empty() => Ok(input),
        last => stack::stack(inputs.into_iter().chain(last).collect()),
    }
}

/// What each text file among these needs to know of the others.
fn among(files: &[(Stored, Recognised)], options: &Options, run: &Run<'_>) -> Result<Among> {
    if files.len() < 2 {
        return Ok(Among::Alone);
    }
    for (stored, found) in files {
        if let Kind::Text(by_ending) = found.kind
            && !text::ends_in_delimiter(&stored.bytes, found.gz, by_ending, options, run)?
        {
            return Ok(Among::Several { end_in_delimiter: false });
        }
    }
    Ok(Among::Several { end_in_delimiter: true })
}

/// Opens a file of a kind that needs no other file to be read, except what `among` has of the others.
fn one(stored: Stored, found: Recognised, among: Among, options: &Options, run: &Run<'_>) -> Result<Input> {
    options.check_kind(found.kind)?;
    let format = format!("{}{}", found.kind.name(), if found.gz { ".gz" } else { "" });
    let input = match found.kind {
        Kind::Text(by_ending) => text::open(&stored.bytes, found.gz, by_ending, among, (options, run))?,
        #[cfg(feature = "tables")]
        Kind::Parquet => parquet::open(plain(stored, &found, run)?, options, run)?,
        #[cfg(feature = "tables")]
        Kind::Arrow => arrow::open(plain(stored, &found, run)?, options, run)?,
        #[cfg(not(feature = "tables"))]
        kind @ (Kind::Parquet | Kind::Arrow) => {
            return Err(left_out(&stored, kind, "tables", "convert the table to .csv or .npy"));
        }
        Kind::Npz => npz::open(plain(stored, &found, run)?, options, run)?,
        Kind::Safetensors => safetensors::open(plain(stored, &found, run)?, options, run)?,
        Kind::Idx => idx::open(plain(stored, &found, run)?, options)?,
        Kind::Npy => npy::open(plain(stored, &found, run)?, options)?,
        Kind::Wav | Kind::Image => {
            let found = format!("it is of type {}, and the first file is not", found.kind.name());
            return Err(Error::format(stored.bytes.path(), found, "give files of one type"));
        }
    };
    Ok(Input { format, ..input })
}

/// A type whose reader was not built in.
#[cfg(not(all(feature = "tables", feature = "images")))]
fn left_out(stored: &Stored, kind: Kind, feature: &str, otherwise: &str) -> Error {
    let found = format!("it is of type {}, whose reader is not part of this build", kind.name());
    Error::format(stored.bytes.path(), found, format!("build with the feature '{feature}', or {otherwise}"))
}

/// The bytes, decompressed if necessary.
fn plain(stored: Stored, found: &Recognised, run: &Run<'_>) -> Result<Bytes<'static>> {
    if found.gz { gz::unpack(&stored.bytes, run) } else { Ok(stored.bytes) }
}

/// Reports how many rows of a file have been read; an error when the user requested a stop.
fn progress(run: &Run<'_>, rows: u64) -> Result<()> {
    progress_of(run, "reading", rows)
}

/// [`progress`] of a stage that counts something else, as "reading files" does.
fn progress_of(run: &Run<'_>, stage: &str, done: u64) -> Result<()> {
    run.observer.event(unmix::Event::Sweep { stage, done, total: None });
    if run.observer.interrupted() { Err(Error::Interrupted) } else { Ok(()) }
}
