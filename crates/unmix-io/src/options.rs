//! Options for reading a file.

use crate::Wording;
use crate::format::{InputFormat, Kind};
use std::collections::HashSet;
use unmix::internal::error::counted;
use unmix::model::PictureRow;
use unmix::{AnyRows, Dtype, Error, Result};

/// Options for reading a file; the defaults suit files that describe themselves.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The format of all files, and of the standard input, whatever their names and first bytes are; detected by default. Whether they are
    /// compressed by gzip is detected from their first bytes. Of a folder all files are read, except hidden ones.
    pub input_format: Option<InputFormat>,
    /// Where the extension and the first bytes of a file disagree on its format, the first bytes decide. For additional files, such as
    /// labels or weights, to which `input_format` does not apply. By default such a file is refused.
    pub by_contents: bool,
    /// Rows are channels: samples become features. The features of a transposed table have the names in the column that is kept, in its
    /// index, or in its first column with text.
    pub transpose: bool,
    /// The axes of an n-dimensional array that run over samples (with `transpose`: over features), the last of them fastest; the first
    /// axis by default. The others run over features, in the order of the array.
    pub rows_axis: Vec<usize>,
    /// Shape of one sample, when the file does not have it.
    pub feature_shape: Option<Vec<usize>>,
    /// Columns to read, in this order, as in "a,b,5-9": names or numbers from 0, both ends included. A name takes precedence over a number;
    /// a name with a comma is given in double quotes. Columns of a text file are those of its lines; of an array, the
    /// features that the other options make of it.
    pub columns: Option<String>,
    /// Columns to leave out.
    pub drop: Option<String>,
    /// Columns that are not features but are copied to the output with the codes, such as labels. With `transpose` the names of the features.
    pub keep: Option<String>,
    /// Columns that are copied for another use of the caller, such as weights; these may also be among `drop` or `keep`. They are the last ones of
    /// the columns copied.
    #[doc(hidden)]
    pub copied: Option<String>,
    /// Whether the columns of `copied` stay among the features: for callers that need their cells alone.
    #[doc(hidden)]
    pub copied_stay: bool,
    /// Whether the first line of a text file holds names; detected by default.
    pub header: Option<bool>,
    /// Number of lines at the beginning of a text file to skip.
    pub skip_rows: usize,
    /// The delimiter of a text file, one byte; detected by default.
    pub delimiter: Option<u8>,
    /// Whether the decimal mark of a text file is a comma, as in `1,5`.
    pub decimal_comma: bool,
    /// Cells of a text file that are missing values, in addition to empty ones, NA, NaN and null; compared without surrounding spaces, and
    /// as numbers where they are numbers: `0` is also `0.0`.
    pub na: Vec<String>,
    /// Treatment of rows with a missing cell.
    pub missing: Missing,
    /// The range of rows to read: the first, and the end, which is excluded; to the last row where there is no end.
    pub rows: Option<(u64, Option<u64>)>,
    /// The type that numbers are computed in; that of the file by default.
    pub dtype: Option<Dtype>,
    /// Names of the features that a model was fitted on. Where the file has names, these columns are the features, in this
    /// order, and others are ignored; where it has none, nothing changes.
    pub wanted: Option<Vec<String>>,
    /// Refuse a name of `wanted` that occurs more than once in the file: by default the first of these columns is the feature, with a note.
    pub wanted_once: bool,
    /// Names of the columns of an input that has none, one for each column before `columns`, `drop` and `keep` select some of them, which
    /// then take these names. Another number of names is not used: the caller may have names of the selected columns, which [`crate::named`]
    /// gives them. [`Files`](crate::Files) does this itself.
    pub names: Option<Vec<String>>,
    /// Channels of sound files, and features of transposed tables, get no names from their files: the caller has other names for them.
    pub unnamed: bool,
    /// Each line of the input is a cell of a matrix: row, column, value, rows and columns numbered from 0. Its rows become sparse rows of that
    /// matrix. The other options choose columns and lines of the list; `wanted` and `row_names` have no effect.
    pub triplets: bool,
    /// Number of columns of the model that the rows are for: then no note advises to leave one of them out. With `triplets`, the number of columns
    /// of the matrix: by default up to the last one that has a cell.
    pub n_features: Option<usize>,
    /// Text in a feature is counted and read as NaN instead of being an error: for looking at a file, not for fitting.
    pub count_text: bool,
    /// Whether names of rows are read as well, from the index of a table: for figures in which the user looks for a row.
    pub row_names: bool,
    /// How messages name these options. Set by the program and the Python package.
    #[doc(hidden)]
    pub wording: Wording,
    /// Which array of a file that holds several, by its name.
    pub key: Option<String>,
    /// Images are cut into these instead of being rows themselves.
    pub patches: Option<Patches>,
    /// Whether images are read in grey or in colour; as the first of them is by default.
    pub pixels: Option<Pixels>,
}

/// Treatment of rows with a missing cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// They are read, with NaN for missing cells, which most methods refuse.
    #[default]
    Keep,
    /// They are left out, and a note gives their number.
    Drop,
}

/// How images are cut into patches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patches {
    /// Height of a patch, in pixels.
    pub height: usize,
    /// Width of a patch, in pixels.
    pub width: usize,
    /// Pixels from one patch to the next, down and across. By default: 1 where some are drawn, else patches lie side by side.
    pub stride: Option<usize>,
    /// Pixels by which an image is padded on every side, by reflection at its edge.
    pub padding: usize,
    /// Draw this many of all patches uniformly, without replacement; they stay in the order of the images.
    pub number: Option<usize>,
    /// Random seed of the draw.
    pub seed: u64,
    /// Standardise each patch to mean 0 and standard deviation 1; a constant patch becomes zeros.
    pub normalise: bool,
}

impl Patches {
    /// Patches of a size, side by side.
    pub fn of(height: usize, width: usize) -> Self {
        Self { height, width, stride: None, padding: 0, number: None, seed: 0, normalise: false }
    }
}

/// Colour model of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pixels {
    /// One number; of colours, 0.299 red + 0.587 green + 0.114 blue.
    Grey,
    /// Red, green and blue.
    Rgb,
}

impl Pixels {
    pub(crate) fn channels(self) -> usize {
        match self {
            Pixels::Grey => 1,
            Pixels::Rgb => 3,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Pixels::Grey => "grey",
            Pixels::Rgb => "in colour",
        }
    }
}

impl Options {
    /// A format as the user writes it: an extension such as `csv`, `.npy` or `parquet`; `.gz` after it has no effect.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`] for an unknown extension.
    pub fn input_format_of(text: &str) -> Result<InputFormat> {
        InputFormat::named(text)
    }

    /// A delimiter as the user writes it: one character, `tab`, or `space` for runs of spaces and tabs.
    ///
    /// # Errors
    ///
    /// Several characters, or one that is not of ASCII.
    pub fn delimiter_of(text: &str) -> Result<u8> {
        match text.as_bytes() {
            b"tab" | b"\\t" => Ok(b'\t'),
            b"space" | b"whitespace" => Ok(b' '),
            [one] if one.is_ascii() => Ok(*one),
            _ => {
                let why = "must be one ASCII character";
                Err(Error::setting("delimiter", text, why, "choose one such as ',' or ';', or tab, or space"))
            }
        }
    }

    /// Whether this decimal mark is a comma.
    ///
    /// # Errors
    ///
    /// Another mark than a point or a comma.
    pub fn decimal_of(text: &str) -> Result<bool> {
        match text {
            "." | "point" => Ok(false),
            "," | "comma" => Ok(true),
            _ => Err(Error::setting("decimal", text, "must be '.' or ','", "")),
        }
    }

    /// The treatment of rows with missing cells, by name.
    ///
    /// # Errors
    ///
    /// An unknown name.
    pub fn missing_of(text: &str) -> Result<Missing> {
        match text {
            "keep" => Ok(Missing::Keep),
            "drop" => Ok(Missing::Drop),
            _ => {
                let why = "must be 'keep' or 'drop'";
                Err(Error::setting("missing", text, why, ""))
            }
        }
    }

    /// A type of numbers, by name.
    ///
    /// # Errors
    ///
    /// Another name than `float32` or `float64`.
    pub fn dtype_of(text: &str) -> Result<Dtype> {
        match text {
            "float32" => Ok(Dtype::F32),
            "float64" => Ok(Dtype::F64),
            _ => {
                let why = "must be 'float32' or 'float64'";
                Err(Error::setting("dtype", text, why, ""))
            }
        }
    }

    /// Rows as the user writes them: `100:`, `:50` or `100:200`, the second of them not included.
    ///
    /// # Errors
    ///
    /// Anything else.
    pub fn rows_of(text: &str) -> Result<(u64, Option<u64>)> {
        let number = |text: &str, empty| {
            if text.is_empty() { Some(empty) } else { text.trim().parse().ok().map(Some) }
        };
        let range = text
            .split_once(':')
            .and_then(|(start, end)| Some((number(start, Some(0))??, number(end, None)?)));
        range.ok_or_else(|| {
            let why = "must be a range of row numbers from 0, the end excluded";
            Error::setting("rows", text, why, "give them as in 100:200, :50 or 100:")
        })
    }

    /// How pictures are read: where this differs, so does the meaning of the numbers. Not which patches are read, and no colours: the shape
    /// of a row has these.
    pub fn row_of_pictures(&self) -> PictureRow {
        let patch = self.patches.as_ref().map(|cut| (cut.height, cut.width));
        PictureRow { patch, standardised: self.patches.as_ref().is_some_and(|cut| cut.normalise) }
    }

    /// Refuses rows of pictures whose length is not that of a fit, `n_features`, because its pictures were read in another way, as `fitted`.
    ///
    /// # Errors
    ///
    /// Such rows; the error names the setting that reads pictures as the fit did.
    pub fn check_size(&self, rows: &AnyRows<'_>, n_features: usize, fitted: PictureRow) -> Result<()> {
        let (row, p) = (self.row_of_pictures(), rows.n_features());
        if p == n_features || row == fitted {
            return Ok(());
        }
        let verb = if self.wording == Wording::Shell { "add" } else { "use" };
        let origin = rows.origin();
        Err(Error::unsupported(
            format!("using {origin} with this model"),
            format!(
                "the model was fitted to {fitted} with {}, and {origin} is read as {row} with {p}",
                counted(n_features as u64, "number")
            ),
            match fitted.patch {
                Some((height, width)) => format!(
                    "{verb} {}, and the other options of the fit",
                    self.wording.size("patches", height, width)
                ),
                None => format!("leave out {}", self.wording.name("patches")),
            },
        )
        .with_numbers(n_features, p))
    }

    /// The error of a fit to a single picture that is not cut into patches.
    pub fn one_picture(&self) -> Error {
        Error::unsupported(
            "a fit to one picture",
            "a whole picture is one row, and a fit needs several",
            format!(
                "cut it into patches, each a row, as with {}, or give more pictures",
                self.wording.size("patches", 8, 8)
            ),
        )
    }

    /// What would work for a file that is of another format than the one that it was read as.
    pub(crate) fn other_format(&self) -> String {
        let option = self.wording.name("input_format");
        match self.input_format {
            _ if self.by_contents => "give a file of a format that can be read, such as .csv or .npy".into(),
            Some(_) => format!("give another {option}, or leave it out"),
            None => format!("name its format with {option}, or give the file the extension of its format"),
        }
    }

    /// The axes of the samples as a user writes them, unless it is the first axis.
    pub(crate) fn other_axes(&self) -> Option<String> {
        let argument = || self.wording.axes_value(&self.rows_axis);
        (!matches!(self.rows_axis[..], [] | [0])).then(argument)
    }

    /// The given names, where there is a distinct one for each of `n` columns.
    pub(crate) fn names_of(&self, n: usize) -> Option<Vec<String>> {
        let distinct = |names: &Vec<String>| names.iter().collect::<HashSet<_>>().len() == n;
        self.names.clone().filter(|names| names.len() == n && distinct(names))
    }

    /// Rejects options that do not apply to files of this kind.
    pub(crate) fn check_kind(&self, kind: Kind) -> Result<()> {
        let refused = |name: &str, got: String, what: &str, whose: &str| {
            let why = format!("the input is of type {}, which has no {what}", kind.name());
            Err(Error::setting(name, got, why, format!("leave it out: it is for {whose}")))
        };
        let text = matches!(kind, Kind::Text(_));
        match (self.header, self.skip_rows) {
            (Some(header), _) if !text => {
                return refused("header", header.to_string(), "lines", "text files");
            }
            (None, n) if n > 0 && !text => return refused("skip_rows", n.to_string(), "lines", "text files"),
            _ => {}
        }
        let marks = [
            ("delimiter", self.delimiter.map(|d| char::from(d).to_string())),
            ("decimal", self.decimal_comma.then(|| ",".to_string())),
            ("na", self.na.first().cloned()),
        ]
        .map(|(name, got)| (name, got.map(|got| self.wording.text_value(&got))));
        for (name, got) in marks {
            let Some(got) = got.filter(|_| !text) else { continue };
            if name == "na" {
                let why = format!("the input is of type {}, whose missing numbers are NaN", kind.name());
                let remedy = "it is for text files; write NaN in place of such numbers, as numpy.where(x == 255, numpy.nan, x) does for 255";
                return Err(Error::setting(name, got, why, remedy));
            }
            return refused(name, got, "cells of text", "text files");
        }
        match (self.other_axes(), kind) {
            (Some(axes), Kind::Text(_)) => {
                let (why, remedy) =
                    ("every line of a text file is a row", "to make columns the samples, transpose");
                return Err(Error::setting("rows_axis", axes, why, remedy));
            }
            (Some(axes), kind) if !kind.is_array() => {
                return refused("rows_axis", axes, "axes to choose from", "arrays");
            }
            _ => {}
        }
        if kind != Kind::Image {
            let (what, whose) = ("pixels", "images");
            if let Some(p) = &self.patches {
                return refused("patches", self.wording.size_value(p.height, p.width), what, whose);
            }
            if let Some(pixels) = self.pixels {
                let name = if pixels == Pixels::Grey { "grey" } else { "rgb" };
                return refused(name, "true".into(), what, whose);
            }
        }
        match &self.key {
            Some(key) if !kind.has_keys() => {
                refused("key", self.wording.text_value(key), "arrays with names", "files with several arrays")
            }
            _ => Ok(()),
        }
    }
}
